/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps what the VLs of each port got when it was last measured.
 *
 * A measurement of all ports drops the ports that it did not cover.  Others add to the list, which is begun anew
 * should it ever be full.
 */
#include <stdlib.h>

#include "lib/base/map64.h"
#include "perf/perf_internal.h"

struct port_gots {
	VEC(struct perf_got) v;
	struct map64 by_port;	/* key_of() -> index into v; ports of one key displace each other */
	int64_t begun_us;	/* realtime, of this measurement */
};

static uint64_t key_of(uint64_t guid, unsigned num)
{
	return guid ^ (uint64_t)num << 56;
}

struct port_gots *gots_new(void)
{
	struct port_gots *x = xcalloc(1, sizeof(*x));

	map64_init(&x->by_port, 0);
	return x;
}

void gots_clear(struct port_gots *x)
{
	vec_free(&x->v);
	map64_clear(&x->by_port);
}

void gots_free(struct port_gots *x)
{
	gots_clear(x);
	map64_free(&x->by_port);
	free(x);
}

const struct perf_got *gots_find(const struct port_gots *x, uint64_t guid, unsigned num)
{
	uint32_t i = map64_get(&x->by_port, key_of(guid, num));
	const struct perf_got *g = i == MAP64_NONE ? NULL : &x->v.v[i];

	return g && g->when_us && g->guid == guid && g->num == num ? g : NULL;
}

static void forget(struct port_gots *x, uint64_t guid, unsigned num)
{
	uint32_t i = map64_get(&x->by_port, key_of(guid, num));

	if (i != MAP64_NONE)
		x->v.v[i].when_us = 0;
}

void gots_begin(struct port_gots *x, int64_t now_us)
{
	x->begun_us = now_us;
}

static struct perf_got *place_for(struct port_gots *x, uint64_t guid, unsigned num)
{
	uint64_t key = key_of(guid, num);
	uint32_t i = map64_get(&x->by_port, key);

	if (i != MAP64_NONE)
		return &x->v.v[i];
	if (x->v.n >= PERF_GOT_MAX)
		gots_clear(x);
	map64_put(&x->by_port, key, (uint32_t)x->v.n);
	return vec_push(&x->v);
}

static bool is_known(const struct perf_port *p)
{
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		if (p->vls[vl].got >= 0)
			return true;
	return false;
}

void gots_take(struct port_gots *x, const struct subnet_state *s, const struct perf_port *p, int64_t now_us)
{
	const struct fabric_port *at = &s->f->ports[p->port];
	uint64_t guid = s->f->nodes[at->node].guid;
	struct perf_got *g;

	if (p->us <= 0 || !is_known(p)) {
		forget(x, guid, at->num);
		return;
	}
	g = place_for(x, guid, at->num);
	*g = (struct perf_got){ .guid = guid, .num = at->num, .when_us = now_us, .full = (float)p->full };
	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		g->got[vl] = (float)p->vls[vl].got;
		g->verdict[vl] = (uint8_t)p->vls[vl].verdict;
	}
}

void gots_end(struct port_gots *x)
{
	size_t n = 0;

	map64_clear(&x->by_port);
	for (size_t i = 0; i < x->v.n; i++) {
		if (x->v.v[i].when_us < x->begun_us)
			continue;
		x->v.v[n] = x->v.v[i];
		map64_put(&x->by_port, key_of(x->v.v[n].guid, x->v.v[n].num), (uint32_t)n);
		n++;
	}
	x->v.n = n;
}
