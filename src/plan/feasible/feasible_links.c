/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Groups links by kind, and computes what each level gets on each kind when the VLs of all levels
 * always have packets waiting.
 *
 * What each SL gets while programs use all SLs is computed in the same way, with the VLs of all SLs
 * backlogged.
 *
 * Where VLs contend and the port has no tables, the device decides, and the shares are reported as
 * unknown.  Where there is one VL, all levels are in one queue, and the share is that of all
 * together.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "lib/iba/units.h"
#include "plan/feasible/feasible_parts.h"

#define NO_KIND UINT16_MAX

/* --- kinds --- */

/*
 * The SL2VL table that most in ports of a switch have towards `out`; if two are equally common, the
 * lower id.
 */
static uint16_t usual_id(const struct plan *p, uint32_t node, unsigned out)
{
	const struct fabric_node *n = &p->f->nodes[node];
	struct { uint16_t id, count; } seen[IB_PORT_NUM_MAX + 1] = { 0 };
	unsigned n_seen = 0, best = 0;

	for (unsigned in = 0; in <= n->nports; in++) {
		uint16_t id = qos_sl2vl_id(p->tables, p->f, node, in, out);
		unsigned i = 0;

		if (in == out || id == TABLE_NONE)
			continue;
		while (i < n_seen && seen[i].id != id)
			i++;
		if (i == n_seen) {
			seen[n_seen].id = id;
			seen[n_seen++].count = 0;
		}
		seen[i].count++;
		if (seen[i].count > seen[best].count ||
		    (seen[i].count == seen[best].count && id < seen[best].id))
			best = i;
	}
	return n_seen ? seen[best].id : TABLE_NONE;
}

static uint16_t map_of(const struct plan *p, uint32_t port)
{
	const struct fabric_node *n = port_node(p->f, port);

	if (!p->tables->managed)
		return TABLE_NONE;
	if (!node_is_switch(n))
		return p->tables->ca_map[port];
	const struct switch_maps *s = &p->tables->sw[n->sw];

	return s->ids ? usual_id(p, p->f->ports[port].node, p->f->ports[port].num) : s->uniform;
}

static struct link_kind kind_of(const struct plan *p, uint32_t port)
{
	struct path_info i = paths_of_port(p->f, port);

	return (struct link_kind){
		.class = port_class_of(p->f, port), .rate = i.rate, .mtu = i.mtu,
		.fdr10 = p->f->ports[port].fdr10,
		.vls = (uint8_t)ib_vls_from_code(p->tables->op_vls[port]),
		.arb = p->tables->managed ? p->tables->arb[port] : TABLE_NONE,
		.map = map_of(p, port), .example = port,
	};
}

static uint64_t kind_key(const struct link_kind *k)
{
	return (uint64_t)k->arb << 48 | (uint64_t)k->map << 32 | (uint64_t)k->rate << 24 |
	       (uint64_t)k->mtu << 16 | (uint64_t)k->vls << 8 | (uint64_t)k->class << 4 | k->fdr10;
}

static int by_number(const void *pa, const void *pb)
{
	const struct link_kind *a = pa, *b = pb;

	if (a->n_ports != b->n_ports)
		return a->n_ports < b->n_ports ? 1 : -1;
	return a->example < b->example ? -1 : a->example > b->example;
}

static void find_kinds(struct judge *j)
{
	const struct fabric *f = j->p->f;
	VEC(struct link_kind) kinds = { 0 };
	struct map64 known;
	uint16_t *place, *of;

	map64_init(&known, 64);
	j->v->kind_of_port = xcalloc(f->n_ports, sizeof(*j->v->kind_of_port));
	for (uint32_t i = 0; i < f->n_ports; i++) {
		j->v->kind_of_port[i] = NO_KIND;
		if (f->ports[i].peer == FABRIC_NONE || link_is_inner(f, i))
			continue;
		struct link_kind kind = kind_of(j->p, i);
		uint32_t k = map64_get(&known, kind_key(&kind));

		if (k == MAP64_NONE) {
			if (kinds.n == NO_KIND)
				continue;	/* out of numbers: not judged */
			k = (uint32_t)kinds.n;
			*vec_push(&kinds) = kind;
			map64_put(&known, kind_key(&kind), k);
		}
		kinds.v[k].n_ports++;
		j->v->kind_of_port[i] = (uint16_t)k;
	}
	map64_free(&known);
	j->v->kinds = kinds.v;
	j->v->n_kinds = (uint32_t)kinds.n;
	/* The most common first; `example` tells where each kind was. */
	place = xcalloc(j->v->n_kinds, sizeof(*place));
	of = j->v->kind_of_port;
	if (j->v->n_kinds)
		qsort(j->v->kinds, j->v->n_kinds, sizeof(*j->v->kinds), by_number);
	for (uint32_t k = 0; k < j->v->n_kinds; k++)
		place[of[j->v->kinds[k].example]] = (uint16_t)k;
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (of[i] != NO_KIND)
			of[i] = place[of[i]];
	free(place);
}

/* --- shares of a level --- */

/* The VL on which a kind of link sends an SL; IB_VL_DROP: it drops the SL. */
static unsigned kind_vl(const struct plan *p, const struct link_kind *k, unsigned sl)
{
	if (k->map == TABLE_NONE)	/* all SLs on the only VL, or tables that are not ours */
		return p->tables->managed || sl == 0 ? 0 : IB_VL_DROP;
	unsigned vl = p->tables->maps[k->map].vl[sl];

	return vl < k->vls ? vl : IB_VL_DROP;
}

/* The greatest packet of a level on a kind of link. */
static uint16_t packet_of(const struct link_kind *k, const struct policy_level *l)
{
	return (uint16_t)mtu_bytes(l->mtu_limit && l->mtu_limit < k->mtu ? l->mtu_limit : k->mtu);
}

struct contest {
	struct arb_load load;
	struct arb_cycle cycle;
	struct arb_cycle idle;		/* while the VLs of the high table have nothing to send */
	bool by_study;			/* `measured` is set */
	double measured[ARB_VLS];
	const struct vlarb *arb;	/* NULL: no tables */
	uint16_t high, served;		/* VLs in the high table; in either table */
	uint16_t sls[ARB_VLS];		/* by VL: SLs of the levels on it */
	uint16_t twice;			/* SLs of several levels */
	unsigned n_vls;			/* active VLs */
};

/* Adds packets of an SL. */
static void contend(const struct judge *j, const struct link_kind *k, unsigned sl, uint16_t bytes,
		    struct contest *c)
{
	unsigned vl = kind_vl(j->p, k, sl);

	if (vl == IB_VL_DROP || !bytes)
		return;
	c->n_vls += !(c->load.active >> vl & 1);
	c->load.active |= (uint16_t)(1u << vl);
	c->sls[vl] |= (uint16_t)(1u << sl);
	if (bytes > c->load.packet[vl])
		c->load.packet[vl] = bytes;
}

/* others: SLs that no level has, which contend, too. */
static void fill_contest(const struct judge *j, const struct link_kind *k, uint16_t others,
			 struct contest *c)
{
	const struct policy *pol = j->p->policy;
	uint16_t seen = 0;

	*c = (struct contest){ 0 };
	for (size_t i = 0; i < pol->n_levels; i++) {
		const struct policy_level *l = &pol->levels[i];
		uint16_t bit = (uint16_t)(1u << l->sl);

		c->twice |= seen & bit;
		seen |= bit;
		contend(j, k, l->sl, packet_of(k, l), c);
	}
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (others >> sl & 1)
			contend(j, k, sl, (uint16_t)mtu_bytes(k->mtu), c);
	if (k->arb == TABLE_NONE)
		return;
	c->arb = &j->p->tables->arbs[k->arb];
	c->high = arbiter_high_vls(c->arb);
	c->served = c->high | arbiter_low_vls(c->arb);
	arbiter_run(c->arb, &c->load, &c->cycle);
	c->idle = c->cycle;
	if (c->load.active & c->high) {
		struct arb_load low = c->load;

		low.active &= (uint16_t)~c->high;
		arbiter_run(c->arb, &low, &c->idle);
	}
	c->by_study = arbiter_measured(c->arb, &c->load, c->measured);
}

static double wait_of(const struct contest *c, unsigned vl, double gbps)
{
	uint64_t bytes;

	if (!c->arb || gbps <= 0)
		return -1;
	bytes = arbiter_wait_bytes(c->arb, &c->load, vl);
	if (bytes == UINT64_MAX)
		return -1;
	return (double)bytes * 8 / (gbps * 1000);
}

/* The share in the policy. */
static double asked_of(const struct plan *p, const struct link_kind *k,
		       const struct policy_level *l)
{
	const struct policy *pol = p->policy;

	if (!p->tables->fit || p->tables->fit[k->example] == TABLE_NONE ||
	    pol->classes[pol->class_of_sl[l->sl]].share < 0)
		return -1;
	return (double)pol->classes[pol->class_of_sl[l->sl]].share / CLASSES_SHARE_ALL;
}

/* What the class of a level is to get on such links; if its VL is shared, the whole VL. */
static double due_of(const struct plan *p, const struct link_kind *k,
		       const struct policy_level *l)
{
	const struct qos_tables *t = p->tables;
	uint16_t fit = t->fit ? t->fit[k->example] : TABLE_NONE;

	if (fit == TABLE_NONE || t->fits[fit].asked[p->policy->class_of_sl[l->sl]] < 0)
		return -1;
	return (double)t->fits[fit].asked[p->policy->class_of_sl[l->sl]] / CLASSES_SHARE_ALL;
}

static double lesser(double a, double b)
{
	return a < b ? a : b;
}

/* The share that counts by the settings. */
static double share_by_setting(const struct judge *j, double iba, double measured)
{
	return j->p->settings->arbiter_model == ARB_MODEL_MEASURED && measured >= 0 ? measured : iba;
}

static struct level_link judge_level(const struct judge *j, const struct link_kind *k,
				     const struct contest *c, const struct policy_level *l)
{
	unsigned vl = kind_vl(j->p, k, l->sl);
	struct level_link r = {
		.vl = (uint8_t)vl, .wait_us = -1, .asked = asked_of(j->p, k, l),
		.due = due_of(j->p, k, l), .share_measured = -1, .share_idle = -1,
	};
	double gbps = feasible_link_gbps(k), most = gbps;
	uint16_t own = (uint16_t)(1u << l->sl);

	if (vl == IB_VL_DROP)
		return r;
	if (l->rate_limit)
		most = lesser(most, data_rate_gbps(l->rate_limit));
	r.shared_with = c->sls[vl] & (uint16_t)~(own & ~c->twice);
	if (!c->arb) {
		r.unknown = c->n_vls > 1;
		r.share = r.share_iba = r.unknown ? 0 : 1;
		r.share_measured = r.unknown ? -1 : 1;
		r.share_idle = r.unknown ? -1 : 1;
		r.ceiling = most;
	} else {
		r.high = c->high >> vl & 1;
		r.starved = c->cycle.starved >> vl & 1;
		r.share_iba = c->cycle.share[vl];
		r.share_measured = c->by_study ? c->measured[vl] : -1;
		r.share = share_by_setting(j, r.share_iba, r.share_measured);
		r.share_idle = r.high ? -1 : c->idle.share[vl];
		r.ceiling = c->served >> vl & 1 ? most : 0;
		r.wait_us = wait_of(c, vl, gbps);
	}
	r.guaranteed = lesser(r.share * gbps, most);
	return r;
}

uint16_t kind_sls_on(const struct link_kind *k, uint16_t sls, unsigned vl)
{
	uint16_t on = 0;

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (sls >> sl & 1 && k->sls[sl].vl == vl)
			on |= (uint16_t)(1u << sl);
	return on;
}

/* c: the contest of all SLs. */
static struct sl_link judge_sl(const struct judge *j, const struct link_kind *k,
			       const struct contest *c, unsigned sl)
{
	unsigned vl = kind_vl(j->p, k, sl);
	struct sl_link r = { .vl = (uint8_t)vl, .share_measured = -1 };

	if (vl == IB_VL_DROP)
		return r;
	if (!c->arb) {
		r.unknown = c->n_vls > 1;
		r.served = true;
		r.share = r.share_iba = r.unknown ? 0 : 1;
		r.share_measured = r.unknown ? -1 : 1;
		return r;
	}
	r.high = c->high >> vl & 1;
	r.served = c->served >> vl & 1;
	r.starved = c->cycle.starved >> vl & 1;
	r.share_iba = c->cycle.share[vl];
	r.share_measured = c->by_study ? c->measured[vl] : -1;
	r.share = share_by_setting(j, r.share_iba, r.share_measured);
	return r;
}

static void judge_kind(const struct judge *j, struct link_kind *k)
{
	const struct policy *pol = j->p->policy;
	struct contest c;

	fill_contest(j, k, 0, &c);
	k->levels = xcalloc(pol->n_levels, sizeof(*k->levels));
	for (size_t i = 0; i < pol->n_levels; i++)
		k->levels[i] = judge_level(j, k, &c, &pol->levels[i]);
	fill_contest(j, k, j->v->unnamed, &c);
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		k->sls[sl] = judge_sl(j, k, &c, sl);
}

/* The kind of link where an SL has the least share; UINT32_MAX: none is known. */
static uint32_t worst_of_sl(const struct feasibility *v, unsigned sl)
{
	uint32_t worst = UINT32_MAX;

	for (uint32_t k = 0; k < v->n_kinds; k++)
		if (!v->kinds[k].sls[sl].unknown &&
		    (worst == UINT32_MAX || v->kinds[k].sls[sl].share < v->kinds[worst].sls[sl].share))
			worst = k;
	return worst;
}

void judge_links(struct judge *j)
{
	find_kinds(j);
	for (uint32_t k = 0; k < j->v->n_kinds; k++)
		judge_kind(j, &j->v->kinds[k]);
	for (size_t i = 0; i < j->p->policy->n_levels; i++) {
		uint32_t worst = UINT32_MAX;

		for (uint32_t k = 0; k < j->v->n_kinds; k++) {
			const struct level_link *l = &j->v->kinds[k].levels[i];

			if (l->unknown)
				continue;
			if (worst == UINT32_MAX ||
			    l->guaranteed < j->v->kinds[worst].levels[i].guaranteed)
				worst = k;
		}
		j->v->levels[i].worst = worst;
	}
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		j->v->sls[sl].worst = worst_of_sl(j->v, sl);
}
