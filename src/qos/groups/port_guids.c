/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds and searches the index of end ports by GUID; see port_guids.h. */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "qos/groups/port_guids.h"

static int compare(const void *pa, const void *pb)
{
	const struct guid_port *a = pa, *b = pb;

	return a->guid < b->guid ? -1 : a->guid > b->guid;
}

void guids_build(struct guid_index *x, const struct fabric *f)
{
	*x = (struct guid_index){ 0 };
	for (uint32_t port = 0; port < f->n_ports; port++)
		if (port_is_end(f, port))
			*vec_push(x) = (struct guid_port){
				fabric_owns_guid(f, port) ? f->ports[port].guid : 0, port,
			};
	if (x->n)
		qsort(x->v, x->n, sizeof(*x->v), compare);
}

void guids_free(struct guid_index *x)
{
	vec_free(x);
}

/* The index of the first GUID that is at least lo. */
static size_t lower_bound(const struct guid_index *x, uint64_t lo)
{
	size_t a;

	LOWER_BOUND(a, 0, x->n, x->v[a].guid < lo);
	return a;
}

size_t guids_count(const struct guid_index *x, const struct u64_range *r)
{
	size_t end = r->hi == UINT64_MAX ? x->n : lower_bound(x, r->hi + 1);

	return end - lower_bound(x, r->lo);
}

bool guids_add_range(const struct guid_index *x, const struct u64_range *r, uint64_t *set)
{
	size_t first = lower_bound(x, r->lo), i = first;

	for (; i < x->n && x->v[i].guid <= r->hi; i++)
		set[x->v[i].port >> 6] |= 1ull << (x->v[i].port & 63);
	return i > first;
}
