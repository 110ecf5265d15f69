/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See isolations.h. */
#include "sm/devices/isolations.h"

#include <stdlib.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"

static const struct withdrawal *isolation_of(const struct withdrawals *w, uint64_t guid, unsigned num)
{
	const struct withdrawal *x = w ? withdrawals_find(w, guid, num) : NULL;

	if (!withdrawal_isolates(x))
		x = w ? withdrawals_find(w, guid, 0) : NULL;
	return withdrawal_isolates(x) ? x : NULL;
}

bool isolation_covers(const struct withdrawals *w, uint64_t guid, unsigned num)
{
	return isolation_of(w, guid, num) != NULL;
}

const struct withdrawal *isolation_of_cut(const struct withdrawals *w, const struct isolation_cut *cut)
{
	const struct withdrawal *x = isolation_of(w, cut->guid[0], cut->num[0]);

	return x ? x : isolation_of(w, cut->guid[1], cut->num[1]);
}

bool isolation_covers_cut(const struct withdrawals *w, const struct isolation_cut *cut)
{
	return isolation_of_cut(w, cut) != NULL;
}

bool link_is_own(const struct fabric *f, uint32_t port)
{
	return port == f->self || f->ports[port].peer == f->self;
}

bool isolation_forbids(const struct withdrawals *w, const struct fabric *f, uint32_t port, uint64_t guid,
		       unsigned num)
{
	const struct fabric_port *self = &f->ports[f->self];

	if (port == f->self || (guid == f->nodes[self->node].guid && num == self->num))
		return false;
	return isolation_covers(w, port_node(f, port)->guid, f->ports[port].num) ||
	       isolation_covers(w, guid, num);
}

/* --- cut links --- */

/*
 * A link is found by either end: its ends are in lists of ends with the same hash.  An end is 1 + 2 times the
 * index of its link, + 1 for the second one; 0 ends a list.
 */
#define HEADS_MIN 64

static uint32_t end_of(size_t i, unsigned end)
{
	return (uint32_t)(2 * i + end + 1);
}

static uint32_t *head_of(const struct isolation_cuts *c, uint64_t guid, unsigned num)
{
	return &c->heads[hash64(guid ^ (uint64_t)num << 56) & (c->n_heads - 1)];
}

static void link_ends(struct isolation_cuts *c, size_t i)
{
	struct isolation_cut *x = &c->v.v[i];

	for (unsigned end = 0; end < 2; end++) {
		uint32_t *head = head_of(c, x->guid[end], x->num[end]);

		x->next[end] = *head;
		*head = end_of(i, end);
	}
}

static void unlink_ends(struct isolation_cuts *c, size_t i)
{
	const struct isolation_cut *x = &c->v.v[i];

	for (unsigned end = 0; end < 2; end++) {
		uint32_t *at = head_of(c, x->guid[end], x->num[end]);

		while (*at != end_of(i, end))
			at = &c->v.v[(*at - 1) / 2].next[(*at - 1) % 2];
		*at = x->next[end];
	}
}

/* Makes the lists anew, long enough for one more link. */
static void hash_all(struct isolation_cuts *c)
{
	uint32_t n = HEADS_MIN;

	while (n < 4 * (c->v.n + 1))
		n *= 2;
	free(c->heads);
	c->heads = xcalloc(n, sizeof(*c->heads));
	c->n_heads = n;
	for (size_t i = 0; i < c->v.n; i++)
		link_ends(c, i);
}

static size_t index_of(const struct isolation_cuts *c, uint64_t guid, unsigned num)
{
	uint32_t at = c->n_heads ? *head_of(c, guid, num) : 0;

	while (at) {
		const struct isolation_cut *x = &c->v.v[(at - 1) / 2];
		unsigned end = (at - 1) % 2;

		if (x->guid[end] == guid && x->num[end] == num)
			return (at - 1) / 2;
		at = x->next[end];
	}
	return SIZE_MAX;
}

const struct isolation_cut *isolation_cuts_find(const struct isolation_cuts *c, uint64_t guid, unsigned num)
{
	size_t i = index_of(c, guid, num);

	return i == SIZE_MAX ? NULL : &c->v.v[i];
}

void isolation_cuts_taken_down(struct isolation_cuts *c, uint64_t guid, unsigned num, int64_t now_us)
{
	size_t i = index_of(c, guid, num);

	if (i != SIZE_MAX)
		c->v.v[i].down_us = now_us;
}

const struct isolation_cut *isolation_cuts_of(const struct isolation_cuts *c, const struct withdrawal *x,
					      unsigned *num)
{
	while (*num < (x->port ? x->port : UINT8_MAX - 1)) {
		const struct isolation_cut *cut;

		*num = x->port ? x->port : *num + 1;
		cut = isolation_cuts_find(c, x->guid, *num);
		/* a cable between two ports of the node comes once */
		if (cut && (x->port || cut->guid[0] != cut->guid[1] || cut->num[0] == *num))
			return cut;
	}
	return NULL;
}

void isolation_cuts_drop(struct isolation_cuts *c, uint64_t guid, unsigned num)
{
	size_t i = index_of(c, guid, num), last = c->v.n - 1;

	if (i == SIZE_MAX)
		return;
	unlink_ends(c, i);
	if (i != last) {
		unlink_ends(c, last);
		c->v.v[i] = c->v.v[last];
		link_ends(c, i);
	}
	c->v.n = last;
}

void isolation_cuts_put(struct isolation_cuts *c, const struct isolation_cut *x)
{
	isolation_cuts_drop(c, x->guid[0], x->num[0]);
	isolation_cuts_drop(c, x->guid[1], x->num[1]);
	*vec_push(&c->v) = *x;
	if (2 * c->v.n > c->n_heads)
		hash_all(c);
	else
		link_ends(c, c->v.n - 1);
}

void isolation_cuts_prune(struct isolation_cuts *c, const struct withdrawals *w,
			  void (*fn)(void *arg, const struct isolation_cut *x), void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->v.n; i++) {
		const struct isolation_cut *x = &c->v.v[i];

		if (isolation_covers_cut(w, x))
			c->v.v[kept++] = *x;
		else
			fn(arg, x);
	}
	c->v.n = kept;
	hash_all(c);
}

void isolation_cuts_copy(struct isolation_cuts *dst, const struct isolation_cuts *src)
{
	for (size_t i = 0; i < src->v.n; i++)
		*vec_push(&dst->v) = src->v.v[i];
	hash_all(dst);
}

void isolation_cuts_free(struct isolation_cuts *c)
{
	vec_free(&c->v);
	free(c->heads);
	*c = (struct isolation_cuts){ 0 };
}

/* --- cutting --- */

bool isolation_pending(const struct withdrawal *x, const struct fabric *f)
{
	struct withdrawal_place at = withdrawal_place(x, f);

	for (uint32_t i = at.first; withdrawal_isolates(x) && at.node != FABRIC_NONE && i <= at.last; i++)
		if (f->ports[i].peer != FABRIC_NONE && !link_is_own(f, i))
			return true;
	return false;
}

bool isolations_pending(const struct withdrawals *w, const struct fabric *f)
{
	for (size_t i = 0; w && i < w->v.n; i++)
		if (isolation_pending(&w->v.v[i], f))
			return true;
	return false;
}

static void note(struct isolation_cuts *c, const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	isolation_cuts_put(c, &(struct isolation_cut){
		.guid = { port_node(f, port)->guid, port_node(f, peer)->guid },
		.num = { f->ports[port].num, f->ports[peer].num } });
}

static void mark_cut(struct fabric *f, const struct isolation_cut *x)
{
	for (unsigned end = 0; end < 2; end++) {
		uint32_t node = map64_get(&f->node_by_guid, x->guid[end]);

		if (node != MAP64_NONE && x->num[end] <= f->nodes[node].nports)
			fabric_port(f, node, x->num[end])->isolated = true;
	}
}

uint32_t isolations_cut(const struct withdrawals *w, struct fabric *f, struct isolation_cuts *c,
			void (*fn)(void *arg, uint32_t port), void *arg)
{
	uint32_t cut = 0;

	for (uint32_t i = 0; i < f->n_ports; i++)
		f->ports[i].isolated = false;
	for (size_t k = 0; w && k < w->v.n; k++) {
		struct withdrawal_place at = withdrawal_place(&w->v.v[k], f);

		for (uint32_t i = at.first;
		     withdrawal_isolates(&w->v.v[k]) && at.node != FABRIC_NONE && i <= at.last; i++) {
			if (link_is_own(f, i))
				continue;
			f->ports[i].isolated = true;
			if (f->ports[i].peer == FABRIC_NONE)
				continue;
			if (fn)
				fn(arg, i);
			note(c, f, i);
			fabric_cut(f, i);
			cut++;
		}
	}
	for (size_t i = 0; i < c->v.n; i++)
		mark_cut(f, &c->v.v[i]);
	return cut;
}

bool isolation_is_own(const struct withdrawal *x, const struct fabric *f)
{
	struct withdrawal_place at = withdrawal_place(x, f);

	for (uint32_t i = at.first; withdrawal_isolates(x) && at.node != FABRIC_NONE && i <= at.last; i++)
		if (i == f->self || (x->port && link_is_own(f, i)))
			return true;
	return false;
}
