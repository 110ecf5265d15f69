/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the pairs of end ports that each SL does not connect: those of levels, and those that no level
 * has.
 *
 * Aggregation nodes are left out, as no level is made for what they send.
 *
 * There are too many pairs to look at each.  paths covers the route from a switch on; before that
 * come the SL2VL table of the source itself and that of its switch.  Sources on one switch for
 * which these agree form a group.  Destinations that are reached equally well from everywhere (a
 * single row in paths) form a run.  A group is compared with a whole run where all out ports of the
 * switch are alike, else with each destination of the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "plan/feasible/feasible_parts.h"

#define ROW_SIZE (LFT_DROP + 1)
#define VL_CODES 8
#define SL_SETS 65536

/*
 * By out port of their switch: the SLs that reach the port from these sources, without those that
 * the sources drop.
 */
struct source_group {
	uint16_t row[ROW_SIZE];
	bool known[ROW_SIZE];		/* false for a member's own port until another member shows it */
	bool even;			/* all out ports with a link lose the same SLs, those of row[0] */
	uint32_t members[ROW_SIZE];	/* port slots */
	unsigned n;
};

/* Destinations that are reached equally well. */
struct run {
	const uint16_t *row;		/* class by switch; NULL: the same class everywhere */
	uint16_t class;
	uint32_t first, n;		/* range in dst */
};

struct destination {
	const uint16_t *row;
	uint16_t class, lid;
};

/* Pairs that lose exactly this set of SLs, and one such pair. */
struct loss {
	uint64_t pairs;
	uint32_t from, to;		/* port slots */
	bool known;			/* from and to are set */
	bool listed;			/* in sets of struct reach */
};

struct reach {
	struct judge *j;
	const struct plan *p;
	uint16_t all;			/* the SLs that pairs are counted for */
	uint16_t *map_sls;		/* [map * VL_CODES + OperationalVLs] */
	struct destination *dst;
	uint32_t n_dst;
	VEC(struct run) runs;
	struct loss *losses;		/* [SL_SETS], by set; only subsets of `all` occur */
	VEC(uint16_t) sets;		/* those that occur */
	uint32_t sw;			/* the switch being worked on */
	VEC(struct source_group) groups;	/* groups of that switch */
};

/* --- sources of a switch --- */

/* paths_hop_sls() from prepared masks. */
static uint16_t hop_sls(const struct reach *r, uint32_t node, unsigned in, unsigned out)
{
	const struct qos_tables *t = r->p->tables;

	if (!t->managed)
		return 1;
	uint16_t id = qos_sl2vl_id(t, r->p->f, node, in, out);
	unsigned code = t->op_vls[r->p->f->nodes[node].port0 + out];

	return id == TABLE_NONE ? UINT16_MAX : r->map_sls[id * VL_CODES + code % VL_CODES];
}

/* Adds a source that enters by `in` to the group if it fits; fills entries that the group did not know. */
static bool join_group(struct source_group *g, const uint16_t row[ROW_SIZE], unsigned in,
		       unsigned nports, uint32_t src)
{
	for (unsigned out = 0; out <= nports; out++)
		if (out != in && g->known[out] && g->row[out] != row[out])
			return false;
	for (unsigned out = 0; out <= nports; out++)
		if (out != in) {
			g->row[out] = row[out];
			g->known[out] = true;
		}
	g->members[g->n++] = src;
	return true;
}

static void add_source(struct reach *r, uint32_t src, unsigned in)
{
	unsigned nports = r->p->f->nodes[r->p->f->switches[r->sw].node].nports;
	uint16_t row[ROW_SIZE];
	const struct fabric *f = r->p->f;
	uint32_t node = f->switches[r->sw].node;
	uint16_t first = UINT16_MAX;

	if (in)
		first = hop_sls(r, f->ports[src].node, 0, f->ports[src].num);
	for (unsigned out = 0; out <= f->nodes[node].nports; out++)
		row[out] = first & hop_sls(r, node, in, out);
	for (size_t i = 0; i < r->groups.n; i++)
		if (join_group(&r->groups.v[i], row, in, nports, src))
			return;
	struct source_group *g = vec_push(&r->groups);

	memset(g, 0, sizeof(*g));
	/* includes its own port until another member shows that one */
	memcpy(g->row, row, (nports + 1) * sizeof(*row));
	join_group(g, row, in, nports, src);
}

static uint16_t lost_of(const struct reach *r, uint16_t sls)
{
	return r->all & (uint16_t)~sls;
}

static bool is_even(const struct reach *r, const struct source_group *g,
		    const struct fabric_node *n)
{
	for (unsigned out = 1; out <= n->nports; out++)
		if (r->p->f->ports[n->port0 + out].peer != FABRIC_NONE &&
		    lost_of(r, g->row[out]) != lost_of(r, g->row[0]))
			return false;
	return true;
}

static void find_sources(struct reach *r)
{
	const struct fabric *f = r->p->f;
	const struct fabric_node *n = &f->nodes[f->switches[r->sw].node];

	r->groups.n = 0;
	if (r->p->lid[n->port0])
		add_source(r, n->port0, 0);
	for (unsigned num = 1; num <= n->nports; num++) {
		uint32_t peer = f->ports[n->port0 + num].peer;

		if (peer != FABRIC_NONE && port_is_host(f, peer) && r->p->lid[peer])
			add_source(r, peer, num);
	}
	for (size_t i = 0; i < r->groups.n; i++)
		r->groups.v[i].even = is_even(r, &r->groups.v[i], n);
}

/* --- counting --- */

/* n pairs lose these SLs; one of them is from a member of the group to the LID. */
static inline void lose(struct reach *r, const struct source_group *g, uint16_t lid, uint16_t lost,
			uint64_t n)
{
	struct loss *l = &r->losses[lost];

	if (!l->listed) {
		l->listed = true;
		*vec_push(&r->sets) = lost;
	}
	l->pairs += n;
	if (!lost || l->known)
		return;
	uint32_t to = r->p->port_by_lid[lid];
	uint32_t from = g->members[g->n > 1 && g->members[0] == to];

	if (from == to)
		return;
	l->known = true;
	l->from = from;
	l->to = to;
}

static void count_run(struct reach *r, const struct source_group *g, const struct run *run)
{
	const struct destination *d = &r->dst[run->first], *end = d + run->n;
	uint16_t c = run->row ? run->row[r->sw] : run->class;

	if (!c)
		return;		/* no route, no pair */
	uint16_t sls = r->p->paths->classes[c].sl_mask;

	if (g->even) {
		uint16_t lost = lost_of(r, sls & g->row[0]);

		lose(r, g, d->lid, lost, (uint64_t)g->n * run->n);
		if (run->n > 1)		/* the first may be the source itself */
			lose(r, g, d[1].lid, lost, 0);
		return;
	}
	for (; d < end; d++)
		lose(r, g, d->lid, lost_of(r, sls & g->row[lft_get(r->p->lfts, r->sw, d->lid)]),
		     g->n);
}

/* Subtracts pairs of a port with itself, which were counted. */
static void uncount_self(struct reach *r, const struct source_group *g)
{
	const struct paths *paths = r->p->paths;

	for (unsigned i = 0; i < g->n; i++) {
		uint16_t lid = r->p->lid[g->members[i]];
		uint16_t c = paths->by_lid[lid] == PATH_ROW ? paths->rows[lid][r->sw] :
			     paths->by_lid[lid];

		if (c)
			r->losses[lost_of(r, paths->classes[c].sl_mask &
					  g->row[lft_get(r->p->lfts, r->sw, lid)])].pairs--;
	}
}

/* Hosts that are linked directly, without a switch. */
static void count_direct(struct reach *r)
{
	const struct fabric *f = r->p->f;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		uint32_t peer = f->ports[i].peer;

		if (peer == FABRIC_NONE || node_is_switch(port_node(f, i)) ||
		    node_is_switch(port_node(f, peer)) || !r->p->lid[i] || !r->p->lid[peer])
			continue;
		struct source_group g = { .members = { i }, .n = 1 };

		lose(r, &g, r->p->lid[peer],
		     lost_of(r, hop_sls(r, f->ports[i].node, 0, f->ports[i].num)), 1);
	}
}

/* --- destinations --- */

static int by_row(const void *pa, const void *pb)
{
	const struct destination *a = pa, *b = pb;

	if (a->row != b->row)
		return (uintptr_t)a->row < (uintptr_t)b->row ? -1 : 1;
	return ORDER(a->class, b->class) ?: ORDER(a->lid, b->lid);
}

static int by_first_lid(const void *pa, const void *pb, void *arg)
{
	const struct run *a = pa, *b = pb;
	const struct reach *r = arg;

	return r->dst[a->first].lid - r->dst[b->first].lid;
}

/* The order of runs does not depend on memory addresses. */
static void find_runs(struct reach *r)
{
	const struct plan *p = r->p;

	r->dst = xcalloc(p->f->n_ports, sizeof(*r->dst));
	for (uint32_t i = 0; i < p->f->n_ports; i++) {
		uint16_t lid = p->lid[i], class = lid ? p->paths->by_lid[lid] : 0;

		if (lid && !port_node(p->f, i)->aggregation)
			r->dst[r->n_dst++] = (struct destination){
				class == PATH_ROW ? p->paths->rows[lid] : NULL, class, lid,
			};
	}
	qsort(r->dst, r->n_dst, sizeof(*r->dst), by_row);
	for (uint32_t i = 0; i < r->n_dst; i++) {
		const struct destination *d = &r->dst[i];

		if (!i || !(d->row == (d - 1)->row && d->class == (d - 1)->class))
			*vec_push(&r->runs) = (struct run){ d->row, d->class, i, 0 };
		r->runs.v[r->runs.n - 1].n++;
	}
	if (r->runs.n)
		qsort_r(r->runs.v, r->runs.n, sizeof(*r->runs.v), by_first_lid, r);
}

static int by_set(const void *pa, const void *pb)
{
	const uint16_t *a = pa, *b = pb;

	return *a - *b;
}

/* Adds a loss to the verdicts of the SLs, of which its set loses some. */
static void sum_loss(const struct reach *r, uint16_t set, struct level_verdict by_sl[IB_SL_COUNT])
{
	const struct loss *l = &r->losses[set];

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		struct level_verdict *v = &by_sl[sl];

		if (!(r->all >> sl & 1))
			continue;
		v->pairs += l->pairs;
		if (!l->pairs || !(set >> sl & 1))
			continue;
		v->unreachable += l->pairs;
		if (v->from == FABRIC_NONE && l->known) {
			v->from = l->from;
			v->to = l->to;
		}
	}
}

/* In the order of the sets, so that the examples do not depend on that of the switches. */
static void sum_up(struct reach *r, struct level_verdict by_sl[IB_SL_COUNT])
{
	if (r->sets.n)
		qsort(r->sets.v, r->sets.n, sizeof(*r->sets.v), by_set);
	for (size_t i = 0; i < r->sets.n; i++)
		sum_loss(r, r->sets.v[i], by_sl);
}

/* --- findings --- */

/* Names the hop of the example's route at which the SL ends. */
void name_lost_hop(const struct judge *j, const struct level_verdict *v, unsigned sl, char *out,
		   size_t size)
{
	const struct plan *p = j->p;
	struct path_hop hops[PATH_HOPS_MAX];
	unsigned n = paths_walk(p->f, p->lfts, p->tables, v->from, p->lid[v->to], v->to, hops,
				PATH_HOPS_MAX);

	snprintf(out, size, "is not offered there");
	for (unsigned i = 0; i < n; i++) {
		const struct path_hop *h = &hops[i];

		if (i && !node_is_switch(&p->f->nodes[h->node]))
			break;		/* arrived */
		if (paths_hop_sls(p->f, p->tables, h->node, h->in, h->out) >> sl & 1)
			continue;
		if (h->in || node_is_switch(&p->f->nodes[h->node]))
			snprintf(out, size, "is dropped in %s from port %u to port %u",
				 NODE_NAME(p->f, h->node), h->in, h->out);
		else
			snprintf(out, size, "is dropped by %s at its port %u",
				 NODE_NAME(p->f, h->node), h->out);
		return;
	}
}

static void report(struct judge *j, size_t level)
{
	const struct policy *pol = j->p->policy;
	const struct policy_level *l = &pol->levels[level];
	const struct level_verdict *v = &j->v->levels[level];
	char where[FABRIC_NAME_MAX + 64];
	bool all = v->unreachable == v->pairs;

	if (!v->unreachable || v->from == FABRIC_NONE)
		return;
	name_lost_hop(j, v, l->sl, where, sizeof(where));
	findings_add(&j->v->findings, all ? SEV_ERROR : SEV_WARNING, policy_level_file(pol, l), l->pos,
		     "level %s: SL %u does not connect %s%llu of %llu pairs of ports; from %s to "
		     "%s it %s", l->name, l->sl, all ? "any: " : "",
		     (unsigned long long)v->unreachable, (unsigned long long)v->pairs,
		     PORT_NAME(j->p->f, v->from), PORT_NAME(j->p->f, v->to), where);
}

void judge_reach(struct judge *j)
{
	const struct policy *pol = j->p->policy;
	struct level_verdict *by_sl = j->v->sls;
	struct reach r = { .j = j, .p = j->p, .all = j->sls | j->v->unnamed };
	const struct qos_tables *t = r.p->tables;

	r.map_sls = xcalloc((size_t)t->n_maps * VL_CODES + 1, sizeof(*r.map_sls));
	for (uint32_t m = 0; m < t->n_maps; m++)
		for (unsigned code = 0; code < VL_CODES; code++)
			r.map_sls[m * VL_CODES + code] = qos_map_sls(&t->maps[m], code);
	r.losses = xcalloc(SL_SETS, sizeof(*r.losses));
	find_runs(&r);
	for (r.sw = 0; r.sw < j->p->f->n_switches; r.sw++) {
		find_sources(&r);
		for (size_t i = 0; i < r.groups.n; i++) {
			for (size_t k = 0; k < r.runs.n; k++)
				count_run(&r, &r.groups.v[i], &r.runs.v[k]);
			uncount_self(&r, &r.groups.v[i]);
		}
	}
	count_direct(&r);
	sum_up(&r, by_sl);
	for (size_t i = 0; i < pol->n_levels; i++) {
		uint32_t worst = j->v->levels[i].worst;

		j->v->levels[i] = by_sl[pol->levels[i].sl];
		j->v->levels[i].worst = worst;
		report(j, i);
	}
	vec_free(&r.groups);
	vec_free(&r.sets);
	vec_free(&r.runs);
	free(r.dst);
	free(r.map_sls);
	free(r.losses);
}
