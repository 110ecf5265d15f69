/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests repaired tables, and the rounds in which tables are written.
 *
 * Random faults come and go.  After each, this file's own walks and searches check
 * the guarantees of the tables.  The test then writes them to imitated switches,
 * in random order within each round, and checks every LID that a write concerns
 * after each write.
 */
#include <check.h>

#include "routing/change/update_rounds.h"
#include "routing/channel.h"
#include "routing/verify.h"
#include "topo.h"
#include "unit/run.h"

struct world {
	struct topo t;
	bool ordered, keep_lost;
	struct updn_order *o;	/* NULL for an engine without */
	struct channels *c;
	struct lfts *base;
	bool *may_turn;		/* [vertex] */
	struct repair *rp;
	bool *dead;		/* [port]: dead ends of links, both of them */
	/* set apart(): [port]: dead for ever, and repaired once; base and rp start from that */
	bool *gone;
	VEC(struct link_end) gone_ends;
	struct repair *whole_rp;
	struct repaired first;
	struct lfts *whole_base;
	bool *here;		/* [switch]: connected with the SM */
	VEC(struct link_end) before;
	struct lfts *was;
	uint64_t x;		/* random numbers */
	unsigned refused, moves, again, dropped;
};

static unsigned chance(struct world *w, unsigned m)
{
	return (unsigned)(hash64(w->x += 0x9e3779b97f4a7c15ULL) % m);
}

static bool is_channel(const struct fabric *f, uint32_t p)
{
	uint32_t peer = f->ports[p].peer;

	return peer != FABRIC_NONE && node_is_switch(port_node(f, p)) && f->ports[p].num &&
	       node_is_switch(port_node(f, peer)) && f->ports[peer].node != f->ports[p].node;
}

static void set_order(struct world *w, struct updn_order *o)
{
	w->o = o;
	w->c = channels_new(w->t.f, o);
	w->may_turn = xcalloc(w->t.f->n_switches, sizeof(*w->may_turn));
	if (o && o->layered && o->hub_safe) {
		uint16_t *down = xcalloc(o->g->n, sizeof(*down));

		updn_down(o->g, o->hub, down);
		for (uint32_t v = 0; v < o->g->n; v++)
			w->may_turn[v] = down[v] != FAR;
		free(down);
	}
	w->rp = repair_new(&w->t.r, w->c, o, w->base, w->keep_lost);
}

static void unset_order(struct world *w)
{
	free(w->may_turn);
	repair_free(w->rp);
	channels_free(w->c);
	updn_order_free(w->o);
}

static void world_make(struct world *w, bool ordered, bool keep_lost, uint64_t seed)
{
	w->ordered = ordered;
	w->keep_lost = keep_lost;
	w->x = seed;
	w->base = topo_route(&w->t, ordered ? &route_updn : &route_minhop);
	set_order(w, ordered ? updn_order_new(w->t.f) : NULL);
	/* the engine may have given the layers up */
	if (!repair_fits(w->rp)) {
		unset_order(w);
		set_order(w, updn_order_by_root(w->t.f));
	}
	w->dead = xcalloc(w->t.f->n_ports, sizeof(*w->dead));
	w->here = xcalloc(w->t.f->n_switches, sizeof(*w->here));
	w->was = lfts_copy(w->base);
}

static void world_free(struct world *w)
{
	if (w->gone) {
		repair_free(w->rp);
		repaired_free(&w->first);
		w->rp = w->whole_rp;
		w->base = w->whole_base;
	}
	unset_order(w);
	lfts_free(w->base);
	lfts_free(w->was);
	free(w->dead);
	free(w->gone);
	vec_free(&w->gone_ends);
	free(w->here);
	vec_free(&w->before);
	topo_free(&w->t);
}

/* --- the fabric as it is --- */

/* The switch that sw's port leads to by a living link, or FABRIC_NONE. */
static uint32_t beyond(const struct world *w, uint32_t sw, unsigned num)
{
	const struct fabric *f = w->t.f;
	const struct fabric_node *n = &f->nodes[f->switches[sw].node];
	uint32_t p = n->port0 + num;

	if (num > n->nports || !is_channel(f, p) || w->dead[p])
		return FABRIC_NONE;
	return port_node(f, f->ports[p].peer)->sw;
}

static bool leads_to_dead(const struct world *w, uint32_t sw, unsigned num)
{
	const struct fabric_node *n = &w->t.f->nodes[w->t.f->switches[sw].node];

	return num <= n->nports && w->dead[n->port0 + num];
}

static void find_here(struct world *w)
{
	const struct fabric *f = w->t.f;
	uint32_t home = fabric_switch_of(f, f->self);
	bool more = true;

	memset(w->here, 0, f->n_switches * sizeof(*w->here));
	w->here[home] = true;
	while (more) {
		more = false;
		for (uint32_t sw = 0; sw < f->n_switches; sw++)
			for (unsigned num = 1; w->here[sw] && num < 256; num++) {
				uint32_t to = beyond(w, sw, num);

				more |= to != FABRIC_NONE && !w->here[to];
				if (to != FABRIC_NONE)
					w->here[to] = true;
			}
	}
}

/* The same fabric without the dead links, for the verdict. */
static struct fabric *cut_fabric(const struct world *w)
{
	struct fabric *f = fabric_clone(w->t.f);

	for (uint32_t p = 0; p < f->n_ports; p++)
		if (w->dead[p])
			f->ports[p].peer = FABRIC_NONE;
	return f;
}

/* --- a route --- */

enum end { ARRIVES, DEAD_LINK, DROPS, LOOPS };

/* How the route from sw ends; *hops gets the switches on it. */
static enum end follow(const struct world *w, const struct lfts *l, uint32_t sw, uint32_t port,
		       uint16_t lid, unsigned *hops)
{
	const struct fabric *f = w->t.f;
	uint32_t home = fabric_switch_of(f, port);
	unsigned deliver = f->ports[port].peer != FABRIC_NONE && f->ports[port].num ?
			   f->ports[f->ports[port].peer].num : 0;

	for (*hops = 1; *hops <= f->n_switches; ++*hops) {
		uint8_t num = lft_get(l, sw, lid);

		if (sw == home)
			return num == deliver ? ARRIVES : DROPS;
		if (num == LFT_DROP)
			return DROPS;
		if (leads_to_dead(w, sw, num))
			return DEAD_LINK;
		sw = beyond(w, sw, num);
		if (sw == FABRIC_NONE)
			return DROPS;
	}
	return LOOPS;
}

/* Whether there is any path, legal by the order if there is one.  Searches states (switch, came down). */
static bool can_be_had(const struct world *w, uint32_t sw, uint32_t home)
{
	uint32_t n = w->t.f->n_switches, *queue = xcalloc(2 * n, sizeof(*queue));
	uint32_t head = 0, tail = 0;
	bool *seen = xcalloc(2 * n, sizeof(*seen)), found = false;

	seen[2 * sw] = true;
	queue[tail++] = 2 * sw;
	while (head < tail && !found) {
		uint32_t at = queue[head] / 2, down = queue[head] % 2;

		head++;
		found = at == home;
		for (unsigned num = 1; num < 256; num++) {
			uint32_t to = beyond(w, at, num), then = down;

			if (to == FABRIC_NONE)
				continue;
			if (w->o && w->c->vertex[to] > w->c->vertex[at] && down)
				continue;
			if (w->o)
				then = w->c->vertex[to] < w->c->vertex[at];
			if (seen[2 * to + then])
				continue;
			seen[2 * to + then] = true;
			queue[tail++] = 2 * to + then;
		}
	}
	free(seen);
	free(queue);
	return found;
}

static bool counts(const struct world *w, uint32_t sw)
{
	const struct fabric *f = w->t.f;
	const struct fabric_node *n = &f->nodes[f->switches[sw].node];

	for (unsigned i = 1; i <= n->nports; i++) {
		uint32_t peer = f->ports[n->port0 + i].peer;

		if (peer != FABRIC_NONE && port_is_host(f, peer))
			return true;
	}
	return fabric_switch_of(f, f->self) == sw;
}

/* --- guarantees of the tables --- */

struct lengths {
	struct graph *g;	/* of the living links, with the order's vertices */
	uint16_t *down, *total;
	uint32_t *queue;
};

/* A way between hosts, or from one to the SM. */
static bool is_for_hosts(const struct world *w, uint32_t sw, uint32_t port)
{
	return counts(w, sw) &&
	       (!node_is_switch(port_node(w->t.f, port)) || port == w->t.f->self);
}

/*
 * Turns are allowed for routes through the hub, at it or above it, if that is safe, or if the base
 * has them. Others lead to a switch's own port 0; every check makes sure that they close no cycle.
 */
static void check_turns(const struct world *w, const struct lfts *l, uint32_t sw, uint16_t lid,
			unsigned hops)
{
	const uint32_t *vertex = w->c->vertex;
	bool down = false, as_base = false;

	while (--hops > 0) {
		uint32_t to = beyond(w, sw, lft_get(l, sw, lid));
		bool same = lft_get(l, sw, lid) == lft_get(w->base, sw, lid);

		if (vertex[to] > vertex[sw] && down)
			ck_assert_msg(w->may_turn[vertex[sw]] || (same && as_base),
				      "LID %u turns up in switch %u", lid, sw);
		down = vertex[to] < vertex[sw];
		as_base = same;
		sw = to;
	}
}

static bool had_by_hub(const struct world *w, uint32_t sw, uint32_t home)
{
	if (!w->o || !w->o->layered || !w->o->hub_safe)
		return false;
	uint32_t hub = w->c->g->sw[w->o->hub];

	return can_be_had(w, sw, hub) && can_be_had(w, hub, home);
}

/* Ways that are new are the shortest of their kind, unless those of the base may be longer (weigh.h). */
static void check_length(const struct world *w, const struct lengths *s, uint32_t sw, unsigned hops)
{
	uint32_t v = w->c->vertex[sw];
	uint16_t least = s->down[v] != FAR ? s->down[v] : s->total[v];

	if (!repair_fits(w->rp) || (w->ordered && w->o->method.hop))
		return;
	if (!w->ordered)
		ck_assert_uint_eq(hops - 1, s->total[v]);
	else if (s->down[v] != FAR)
		ck_assert_uint_eq(hops - 1, s->down[v]);
	else if (least != FAR)
		ck_assert_uint_ge(hops - 1, least);
}

static void check_entry(struct world *w, const struct lengths *s, const struct lfts *next,
			uint32_t sw, uint32_t port, uint16_t lid, bool *lost)
{
	uint8_t base = lft_get(w->base, sw, lid), is = lft_get(next, sw, lid);
	uint32_t home = fabric_switch_of(w->t.f, port);
	unsigned hops;
	enum end by_base = follow(w, w->base, sw, port, lid, &hops);

	if (!w->here[sw] || by_base != DEAD_LINK) {
		ck_assert_msg(base == is, "LID %u of switch %u: %u is %u, not touched by any fault",
			      lid, sw, base, is);
		return;
	}
	w->moves++;
	enum end ends = follow(w, next, sw, port, lid, &hops);

	ck_assert_msg(ends != LOOPS && (ends != DEAD_LINK || w->keep_lost),
		      "LID %u of switch %u: end %d", lid, sw, ends);
	if (ends == ARRIVES) {
		check_length(w, s, sw, hops);
		if (w->ordered && repair_fits(w->rp) && is_for_hosts(w, sw, port))
			check_turns(w, next, sw, lid, hops);
		return;
	}
	ck_assert(is == LFT_DROP || (w->keep_lost && is == base));
	/* switches without a link need no writes */
	ck_assert(!w->keep_lost || w->here[home] || is == base);
	ck_assert_msg(!repair_fits(w->rp) || !w->here[home] ||
		      !(can_be_had(w, sw, home) || had_by_hub(w, sw, home)),
		      "LID %u could be had from switch %u", lid, sw);
	*lost |= w->here[home] && is_for_hosts(w, sw, port);
}

static void check_tables(struct world *w, const struct repaired *out)
{
	struct fabric *cut = cut_fabric(w);
	uint32_t n = cut->n_switches;
	struct lengths s = { .g = graph_new(cut, xmemdup(w->c->g->sw, n * sizeof(uint32_t))) };
	struct route_request r = w->t.r;
	struct route_report report;
	bool lost = false;

	s.down = xcalloc(n, sizeof(*s.down));
	s.total = xcalloc(n, sizeof(*s.total));
	s.queue = xcalloc(n, sizeof(*s.queue));
	for (uint32_t p = 0; p < cut->n_ports; p++) {
		uint32_t home = w->t.lid[p] ? fabric_switch_of(cut, p) : FABRIC_NONE;

		if (home == FABRIC_NONE)
			continue;
		memset(s.down, 0xff, n * sizeof(*s.down));
		if (w->ordered)
			updn_distances(s.g, w->c->vertex[home], s.down, s.total);
		else
			graph_bfs(s.g, w->c->vertex[home], s.total, s.queue);
		for (uint32_t k = 0; k < 1u << w->t.lmc[p]; k++)
			for (uint32_t sw = 0; sw < n; sw++)
				check_entry(w, &s, out->next, sw, p, (uint16_t)(w->t.lid[p] + k),
					    &lost);
	}
	r.f = cut;
	r.order = NULL;
	route_verify(&r, out->next, &report);
	ck_assert_uint_eq(report.loops, 0);
	if (w->ordered && repair_fits(w->rp)) {
		bool safe = !w->o->layered || w->o->hub_safe;
		bool cycle = route_has_cycle(&r, out->next);

		ck_assert(!cycle || (!safe && !out->ok));
		ck_assert(cycle || !report.credit_loop);
		lost |= !safe && route_has_cycle(&w->t.r, out->next);
	}
	/* refused are routes that hosts lost, or that may deadlock */
	ck_assert_int_eq(out->ok, !lost && repair_fits(w->rp));
	route_report_free(&report);
	graph_free(s.g);
	free(s.down);
	free(s.total);
	free(s.queue);
	fabric_free(cut);
}

/* The lists must have all differences and nothing else. */
static void check_lists(const struct world *w, const struct repaired *out)
{
	const struct lfts *a = w->was, *b = out->next;
	bool *looked = xcalloc(a->stride, sizeof(*looked));
	uint32_t at = 0;

	for (uint32_t i = 0; i < out->n_lids; i++) {
		ck_assert(i == 0 || out->lids[i] > out->lids[i - 1]);
		looked[out->lids[i]] = true;
	}
	for (uint32_t sw = 0; sw < a->n_switches; sw++)
		for (uint16_t block = 0; block < a->stride / LFT_BLOCK; block++) {
			bool differs = false;

			for (unsigned i = 0; i < LFT_BLOCK; i++) {
				uint16_t lid = (uint16_t)(block * LFT_BLOCK + i);

				if (lft_get(a, sw, lid) == lft_get(b, sw, lid))
					continue;
				differs = true;
				ck_assert(looked[lid]);
			}
			if (!differs || !w->here[sw])
				continue;
			ck_assert_uint_lt(at, out->n_blocks);
			ck_assert_uint_eq(out->blocks[at].sw, sw);
			ck_assert_uint_eq(out->blocks[at].block, block);
			at++;
		}
	ck_assert_uint_eq(at, out->n_blocks);
	free(looked);
}

/* --- the imitation of the update --- */

struct update {
	struct world *w;
	const struct updn_order *o;	/* NULL: turns are not looked at */
	const struct lfts *was, *next;
	struct lfts *is;
	uint8_t *seen;
};

static bool turns(const struct update *u, const struct lfts *l, uint32_t sw, uint32_t to,
		  uint16_t lid)
{
	const uint32_t *vertex = u->w->c->vertex;

	if (beyond(u->w, sw, lft_get(l, sw, lid)) != to || vertex[to] > vertex[sw])
		return false;
	uint32_t then = beyond(u->w, to, lft_get(l, to, lid));

	return then != FABRIC_NONE && vertex[then] > vertex[to];
}

/* The route of a LID must not loop, nor turn up where neither the old nor the new tables do. */
static void check_lid(struct update *u, uint16_t lid)
{
	uint32_t n = u->is->n_switches;

	memset(u->seen, 0, n);
	for (uint32_t from = 0; from < n; from++) {
		uint32_t sw = from;

		/* 1: on this walk, 2: known to end */
		while (sw != FABRIC_NONE && u->seen[sw] == 0) {
			u->seen[sw] = 1;
			uint32_t to = beyond(u->w, sw, lft_get(u->is, sw, lid));

			if (u->o && to != FABRIC_NONE && turns(u, u->is, sw, to, lid))
				ck_assert_msg(turns(u, u->was, sw, to, lid) ||
					      turns(u, u->next, sw, to, lid),
					      "LID %u turns up in switch %u from %u", lid, to, sw);
			sw = to;
		}
		ck_assert_msg(sw == FABRIC_NONE || u->seen[sw] == 2, "LID %u goes in a cycle",
			      lid);
		for (sw = from; sw != FABRIC_NONE && u->seen[sw] == 1;) {
			u->seen[sw] = 2;
			sw = beyond(u->w, sw, lft_get(u->is, sw, lid));
		}
	}
}

static void do_write(struct update *u, const struct lft_write *x)
{
	uint8_t *at = u->is->entries + (size_t)x->sw * u->is->stride + (size_t)x->block * LFT_BLOCK;
	uint8_t old[LFT_BLOCK];

	ck_assert_msg(memcmp(at, x->entries, LFT_BLOCK) != 0, "a write that changes nothing");
	memcpy(old, at, LFT_BLOCK);
	memcpy(at, x->entries, LFT_BLOCK);
	for (unsigned i = 0; i < LFT_BLOCK; i++)
		if (old[i] != at[i])
			check_lid(u, (uint16_t)(x->block * LFT_BLOCK + i));
}

static void check_rounds(struct world *w, const struct rounds *r, const struct updn_order *o,
			 const struct lfts *was, const struct lfts *next)
{
	struct update u = { .w = w, .o = o, .was = was, .next = next, .is = lfts_copy(was) };

	u.seen = xcalloc(was->n_switches, 1);
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t first = r->first[i], n = r->first[i + 1] - first;
		uint32_t *turn = xcalloc(n, sizeof(*turn));

		ck_assert_uint_gt(n, 0);
		for (uint32_t j = 0; j < n; j++) {
			uint32_t other = chance(w, j + 1);

			turn[j] = turn[other];
			turn[other] = first + j;
		}
		for (uint32_t j = 0; j < n; j++)
			do_write(&u, &r->writes[turn[j]]);
		free(turn);
	}
	for (uint32_t sw = 0; sw < was->n_switches; sw++)
		if (w->here[sw])
			ck_assert_int_eq(memcmp(u.is->entries + (size_t)sw * u.is->stride,
						next->entries + (size_t)sw * next->stride,
						next->stride), 0);
	lfts_free(u.is);
	free(u.seen);
}

/* --- faults --- */

static void set_link(struct world *w, uint32_t p, bool dead)
{
	if (w->gone && w->gone[p])
		return;
	w->dead[p] = w->dead[w->t.f->ports[p].peer] = dead;
}

static void set_switch(struct world *w, uint32_t sw, bool dead)
{
	const struct fabric_node *n = &w->t.f->nodes[w->t.f->switches[sw].node];

	for (uint32_t p = n->port0; p <= n->port0 + n->nports; p++)
		if (is_channel(w->t.f, p))
			set_link(w, p, dead);
}

/* The dead ends in an order by chance; sometimes one end only, or what is no channel, too. */
static struct link_end *list_dead(struct world *w, uint32_t *n)
{
	VEC(struct link_end) ends = { 0 };

	for (uint32_t p = 0; p < w->t.f->n_ports; p++) {
		const struct fabric_port *port = &w->t.f->ports[p];

		if (!w->dead[p] || (w->gone && w->gone[p]) || (p > port->peer && chance(w, 2)))
			continue;
		*vec_push(&ends) = (struct link_end){ port_node(w->t.f, p)->sw, port->num, false, false };
		size_t other = chance(w, (unsigned)ends.n);
		struct link_end last = ends.v[ends.n - 1];

		ends.v[ends.n - 1] = ends.v[other];
		ends.v[other] = last;
	}
	if (chance(w, 2))
		*vec_push(&ends) = (struct link_end){ 0, 0, false, false };
	if (chance(w, 2))
		*vec_push(&ends) = (struct link_end){ w->t.f->n_switches, 1, false, false };
	*n = (uint32_t)ends.n;
	return ends.v;
}

/* Those, and the ones that are dead for ever. */
static struct link_end *and_gone(const struct world *w, const struct link_end *ends, uint32_t *n)
{
	VEC(struct link_end) all = { 0 };

	for (uint32_t i = 0; i < *n; i++)
		*vec_push(&all) = ends[i];
	for (size_t i = 0; i < w->gone_ends.n; i++)
		*vec_push(&all) = w->gone_ends.v[i];
	*n = (uint32_t)all.n;
	return all.v;
}

static bool same(const struct lfts *a, const struct lfts *b)
{
	return !memcmp(a->entries, b->entries, (size_t)a->n_switches * a->stride);
}

/* Repairs the tables after a fault, and checks all guarantees. */
static void step(struct world *w)
{
	struct repaired out, alone;
	struct rounds rounds, all;
	uint32_t n, n_all;
	struct link_end *ends = list_dead(w, &n), *every;

	n_all = n;
	every = and_gone(w, ends, &n_all);
	find_here(w);
	repair_run(w->rp, w->was, w->before.v, (uint32_t)w->before.n, ends, n, &out);
	check_tables(w, &out);
	check_lists(w, &out);
	repair_run(w->rp, w->base, NULL, 0, ends, n, &alone);
	ck_assert_msg(same(out.next, alone.next), "the tables depend on what was before");
	ck_assert_int_eq(out.ok, alone.ok);
	repaired_free(&alone);
	if (repair_fits(w->rp)) {
		rounds_make(&rounds, w->c, w->o, NULL, every, n_all, w->was, out.next, out.blocks,
			    out.n_blocks);
		ck_assert_uint_eq(rounds.dropped, 0);
		ck_assert_uint_eq(rounds.n ? rounds.first[rounds.n] : 0,
				  out.n_blocks + rounds.again);
		check_rounds(w, &rounds, w->o, w->was, out.next);
		rounds_make(&all, w->c, w->o, NULL, every, n_all, w->was, out.next, NULL, 0);
		ck_assert_uint_eq(all.n, rounds.n);
		ck_assert_int_eq(memcmp(all.writes, rounds.writes,
					(out.n_blocks + rounds.again) * sizeof(*all.writes)), 0);
		rounds_free(&all);
		w->again += rounds.again;
		rounds_free(&rounds);
	}
	w->refused += !out.ok;
	free(every);
	lfts_free(w->was);
	w->was = out.next;
	out.next = NULL;
	repaired_free(&out);
	vec_free(&w->before);
	w->before.v = ends;
	w->before.n = w->before.cap = n;
}

static void random_faults(struct world *w, unsigned steps)
{
	const struct fabric *f = w->t.f;

	for (unsigned i = 0; i < steps; i++) {
		for (unsigned k = 1 + chance(w, 2); k > 0; k--) {
			uint32_t p = chance(w, f->n_ports);

			/* more come than go, as long as there are few */
			if (chance(w, 6) == 0)
				set_switch(w, chance(w, f->n_switches), chance(w, 2));
			else if (is_channel(f, p))
				set_link(w, p, !w->dead[p]);
		}
		step(w);
	}
	/* back to all, in a few steps */
	for (unsigned left = 1; left > 0;) {
		left = 0;
		for (uint32_t p = 0; p < f->n_ports; p++)
			if (w->dead[p] && chance(w, 3))
				set_link(w, p, false);
		for (uint32_t p = 0; p < f->n_ports; p++)
			left += w->dead[p] && !(w->gone && w->gone[p]);
		step(w);
	}
	ck_assert_msg(same(w->was, w->base), "all is as it was, but not the tables");
}

/*
 * Takes what is dead now for dead for ever: repairs it once, and goes on from the result.  False: that repair is not
 * ok.
 */
static bool set_apart(struct world *w)
{
	w->gone = xmemdup(w->dead, w->t.f->n_ports * sizeof(*w->gone));
	for (uint32_t p = 0; p < w->t.f->n_ports; p++)
		if (w->gone[p])
			*vec_push(&w->gone_ends) = (struct link_end){ port_node(w->t.f, p)->sw, w->t.f->ports[p].num,
								     false, false };
	w->whole_rp = w->rp;
	w->whole_base = w->base;
	repair_run(w->rp, w->base, NULL, 0, w->gone_ends.v, (uint32_t)w->gone_ends.n, &w->first);
	w->rp = repair_of(w->whole_rp, &w->first, w->gone_ends.v, (uint32_t)w->gone_ends.n);
	w->base = w->first.next;
	lfts_free(w->was);
	w->was = lfts_copy(w->base);
	w->before.n = 0;
	return w->first.ok;
}

/* --- fabrics --- */

/* By an engine with or without an order, and both kinds of lost entries. */
static void run_world(struct world *w, int i, unsigned steps)
{
	world_make(w, i % 2 == 0, i / 2 % 2, (uint64_t)i * 1000003 + 1);
	random_faults(w, sanitized() ? steps / 5 : steps);
	world_free(w);
}

static const struct fat trees[] = {
	{ .pods = 1, .leaves = 6, .hosts = 4, .aggs = 4, .width = 1 },
	{ .pods = 1, .leaves = 4, .hosts = 6, .aggs = 2, .width = 3 },
	{ .pods = 1, .leaves = 9, .hosts = 8, .aggs = 4, .width = 2 },
	{ .pods = 4, .leaves = 2, .hosts = 2, .aggs = 2, .width = 1, .spines = 2 },
	{ .pods = 4, .leaves = 4, .hosts = 3, .aggs = 4, .width = 1, .spines = 4 },
	{ .pods = 3, .leaves = 3, .hosts = 4, .aggs = 3, .width = 2, .spines = 5 },
};

/*
 * Each by 2 engines and 3 LMCs; of these, some with hosts on spines, without all links, or
 * with aggregation nodes.
 */
/* promise: F2 F3 */
START_TEST(fat_trees)
{
	struct fat p = trees[_i / 6 % (int)ARRAY_SIZE(trees)];
	unsigned lmc = (unsigned)_i / 2 % 3, kind = (unsigned)_i / (6 * ARRAY_SIZE(trees));
	struct world w = { 0 };

	p.scatter = (uint64_t)_i;
	p.aggregation = kind == 3;
	struct fabric *f = fat_build(&p);

	fat_hosts(&p, f);
	if (kind == 1)
		remove_links(f, 3, (uint64_t)_i);
	for (unsigned i = 0; kind == 2 && i < 2; i++) {
		uint32_t sw = i && p.spines ? p.spine[0] : p.agg[i];
		struct fabric_port *port = fabric_port(f, sw, 1 + i);

		f->ports[port->peer].peer = FABRIC_NONE;
		port->peer = FABRIC_NONE;
		topo_host(f, sw, 1 + i);
	}
	topo_finish(&w.t, f, lmc);
	run_world(&w, _i, 25);
	fat_free(&p);
}
END_TEST

/* promise: F2 */
START_TEST(random_fabrics)
{
	struct world w = { 0 };

	random_topo(&w.t, (uint64_t)_i / 2);
	run_world(&w, _i, 15);
}
END_TEST

/* promise: F2 */
START_TEST(tori)
{
	static const unsigned dims[][3] = { { 4, 4, 1 }, { 5, 3, 1 }, { 3, 3, 3 } };
	struct world w = { 0 };

	torus_topo(&w.t, dims[_i / 2]);
	run_world(&w, _i, 20);
}
END_TEST

/* promise: F2 */
START_TEST(recorded_fabrics)
{
	struct world w = { 0 };

	if (recorded_topo(&w.t, _i / 2))
		run_world(&w, _i, 40);
}
END_TEST

/* Some switches and links are dead for ever, before faults come and go. */
static void run_apart(struct world *w, int i)
{
	world_make(w, i % 2 == 0, i / 2 % 2, (uint64_t)i * 1000003 + 7);
	for (unsigned k = 1 + chance(w, 3); k > 0; k--)
		set_switch(w, 1 + chance(w, w->t.f->n_switches - 1), true);
	for (unsigned k = chance(w, 6); k > 0; k--) {
		uint32_t p = chance(w, w->t.f->n_ports);

		if (is_channel(w->t.f, p))
			set_link(w, p, true);
	}
	if (set_apart(w))
		random_faults(w, sanitized() ? 4 : 20);
	world_free(w);
}

/* promise: F2 F3 */
START_TEST(faults_beside_what_is_isolated)
{
	struct fat p = trees[_i / 4 % (int)ARRAY_SIZE(trees)];
	struct world w = { 0 };

	p.scatter = (uint64_t)_i;
	if (_i < 4 * (int)ARRAY_SIZE(trees))
		fat_topo(&w.t, &p, (unsigned)_i / 2 % 2);
	else
		random_topo(&w.t, (uint64_t)_i / 2);
	run_apart(&w, _i);
	if (_i < 4 * (int)ARRAY_SIZE(trees))
		fat_free(&p);
}
END_TEST

/* What is isolated costs nothing again: a fault elsewhere is a matter of the LIDs that it concerns. */
/* promise: F2 F22 */
START_TEST(what_is_isolated_is_not_repaired_again)
{
	struct fat p = { .pods = 6, .leaves = 4, .hosts = 4, .aggs = 4, .width = 1, .spines = 4 };
	struct world w = { 0 };
	struct repaired out;
	struct link_end link;
	uint32_t n;

	fat_topo(&w.t, &p, 0);
	world_make(&w, true, true, 1);
	for (unsigned i = 0; i < p.aggs * p.spines; i += 2)
		set_switch(&w, w.t.f->nodes[p.spine[i]].sw, true);
	ck_assert(set_apart(&w));
	ck_assert_uint_gt(w.first.n_lids, w.t.r.lid_top / 3);
	repair_run(w.rp, w.base, NULL, 0, NULL, 0, &out);
	ck_assert_uint_eq(out.n_lids, 0);
	ck_assert(same(out.next, w.base));
	repaired_free(&out);
	/* from a leaf up: about as many as if nothing were isolated, and the LIDs of isolated switches */
	link = (struct link_end){ w.t.f->nodes[p.leaf[0]].sw, (uint8_t)(p.hosts + 1), false, false };
	repair_run(w.whole_rp, w.whole_base, NULL, 0, &link, 1, &out);
	n = out.n_lids;
	repaired_free(&out);
	repair_run(w.rp, w.base, NULL, 0, &link, 1, &out);
	ck_assert_uint_gt(out.n_lids, 0);
	ck_assert_uint_le(out.n_lids, n + 16);
	ck_assert_uint_lt(out.n_lids, w.first.n_lids);
	repaired_free(&out);
	world_free(&w);
	fat_free(&p);
}
END_TEST

/* --- single things --- */

/* Counts the routes from switches to switches' own ports, or to hosts, that do not arrive. */
static unsigned count_lost(const struct world *w, bool of_switches)
{
	unsigned n = 0, hops;

	for (uint32_t p = 0; p < w->t.f->n_ports; p++)
		for (uint32_t sw = 0; sw < w->t.f->n_switches && w->t.lid[p]; sw++)
			n += node_is_switch(port_node(w->t.f, p)) == of_switches &&
			     follow(w, w->was, sw, p, w->t.lid[p], &hops) != ARRIVES;
	return n;
}

/*
 * Any link between a middle switch and the top of a tree goes down: the top switch and the leaves below the
 * other end have no legal way to each other, nor one by the hub if that is below it, too.
 */
/* promise: F13 */
START_TEST(any_link_to_the_top)
{
	struct fat p = { .pods = 4, .leaves = 2, .hosts = 2, .aggs = 2, .width = 1, .spines = 2 };
	struct world w = { 0 };

	fat_topo(&w.t, &p, 0);
	world_make(&w, true, _i, 1);
	for (unsigned i = 0; i < p.aggs * p.spines; i++)
		for (unsigned pod = 0; pod < p.pods; pod++) {
			uint32_t link = (uint32_t)(fabric_port(w.t.f, p.spine[i], 1 + pod) - w.t.f->ports);

			set_link(&w, link, true);
			step(&w);
			ck_assert_uint_eq(w.refused, 0);
			ck_assert_uint_eq(count_lost(&w, true), 0);
			ck_assert_uint_eq(count_lost(&w, false), 0);
			set_link(&w, link, false);
			step(&w);
		}
	world_free(&w);
	fat_free(&p);
}
END_TEST

/* All of a switch's links go at once. */
static void lose_switch(struct world *w, uint32_t node)
{
	set_switch(w, w->t.f->nodes[node].sw, true);
	step(w);
	ck_assert_uint_eq(w->refused, 0);
}

/* Up to a sixth of the links go down, one after the other: switches rarely fail to reach each other. */
/* promise: F13 */
START_TEST(many_links)
{
	struct fat p = { .pods = 6, .leaves = 4, .hosts = 2, .aggs = 4, .width = 1, .spines = 4 };
	unsigned lost = 0, gone = 0, n;
	struct world w = { 0 };

	fat_topo(&w.t, &p, 0);
	world_make(&w, true, true, (uint64_t)_i + 1);
	for (unsigned i = 0; i < 32; i++) {
		uint32_t link;

		do
			link = chance(&w, w.t.f->n_ports);
		while (!is_channel(w.t.f, link) || w.dead[link]);
		set_link(&w, link, true);
		step(&w);
		if (w.refused)
			break;
		gone++;
		lost += count_lost(&w, true);
	}
	n = w.t.f->n_switches;
	ck_assert_uint_ge(gone, 8);
	ck_assert_msg(lost * 50 <= gone * n * n, "%u of %u pairs of switches in all", lost, gone * n * n);
	world_free(&w);
	fat_free(&p);
}
END_TEST

/* The LIDs of a host go by different neighbours as far as there are any. */
START_TEST(lmc_is_kept_apart)
{
	struct fat p = { .pods = 1, .leaves = 6, .hosts = 4, .aggs = 6, .width = 2 };
	struct world w = { 0 };

	fat_topo(&w.t, &p, 2);
	world_make(&w, _i, true, 1);
	lose_switch(&w, p.agg[1]);
	lose_switch(&w, p.agg[4]);
	for (unsigned i = 0; i < p.leaves; i++)
		for (unsigned h = 0; h < p.hosts; h++) {
			uint32_t sw = w.t.f->nodes[p.leaf[(i + 1) % p.leaves]].sw;
			uint16_t lid = w.t.lid[fabric_port(w.t.f, p.leaf[i], 1 + h)->peer];
			uint64_t by = 0;

			for (unsigned k = 0; k < 4; k++)
				by |= 1ULL << beyond(&w, sw, w.was->entries[sw * w.was->stride +
									   lid + k]);
			ck_assert_int_eq(__builtin_popcountll(by), 4);
		}
	world_free(&w);
	fat_free(&p);
}
END_TEST

/* Every leaf distributes the routes of a lost spine evenly. */
START_TEST(load_is_shared)
{
	struct fat p = { .pods = 1, .leaves = 20, .hosts = 18, .aggs = 18, .width = 1 };
	struct world w = { 0 };

	fat_topo(&w.t, &p, 0);
	world_make(&w, _i, true, 1);
	lose_switch(&w, p.agg[7]);
	for (unsigned i = 0; i < p.leaves; i++) {
		unsigned load[256] = { 0 }, least = UINT32_MAX, most = 0;
		uint32_t sw = w.t.f->nodes[p.leaf[i]].sw;

		for (uint32_t port = 0; port < w.t.f->n_ports; port++)
			if (w.t.lid[port] && !node_is_switch(port_node(w.t.f, port)))
				load[lft_get(w.was, sw, w.t.lid[port])]++;
		for (unsigned num = p.hosts + 1; num <= p.hosts + p.aggs; num++) {
			if (beyond(&w, sw, num) == FABRIC_NONE)
				continue;
			least = load[num] < least ? load[num] : least;
			most = load[num] > most ? load[num] : most;
		}
		ck_assert_msg(most - least <= 1, "%u to %u", least, most);
	}
	world_free(&w);
	fat_free(&p);
}
END_TEST

/* Tables with turns that the order doesn't know are not mixed with legal ways. */
START_TEST(tables_of_another_order_are_refused)
{
	static const unsigned dims[] = { 4, 4, 1 };
	struct world w = { 0 };
	struct repaired out;

	torus_topo(&w.t, dims);
	w.base = topo_route(&w.t, &route_minhop);
	set_order(&w, updn_order_new(w.t.f));
	ck_assert(!repair_fits(w.rp));
	repair_run(w.rp, w.base, NULL, 0, NULL, 0, &out);
	ck_assert(!out.ok);
	ck_assert(same(out.next, w.base));
	repaired_free(&out);
	unset_order(&w);
	lfts_free(w.base);
	topo_free(&w.t);
}
END_TEST

/* --- rounds of any tables --- */

static void rounds_between(struct world *w, const struct lfts *was, const struct lfts *next,
			   struct rounds *r)
{
	rounds_make(r, w->c, NULL, NULL, NULL, 0, was, next, NULL, 0);
	check_rounds(w, r, NULL, was, next);
}

/* From one engine's tables to the other's, and from nothing. */
/* promise: F3 */
START_TEST(whole_routings)
{
	struct world w = { 0 };
	struct fat p = { 0 };
	struct rounds r;

	if (_i < (int)ARRAY_SIZE(trees)) {
		p = trees[_i];
		p.scatter = 1;
		fat_topo(&w.t, &p, 1);
	} else {
		random_topo(&w.t, (uint64_t)_i);
	}
	world_make(&w, false, false, (uint64_t)_i);
	find_here(&w);
	struct lfts *other = topo_route(&w.t, &route_updn);
	struct lfts *nothing = lfts_new(other->n_switches, other->top);

	rounds_between(&w, w.base, other, &r);
	ck_assert_uint_eq(r.dropped, 0);
	rounds_free(&r);
	rounds_between(&w, other, w.base, &r);
	rounds_free(&r);
	rounds_between(&w, nothing, other, &r);
	rounds_free(&r);
	rounds_between(&w, other, other, &r);
	ck_assert_uint_eq(r.n, 0);
	rounds_free(&r);
	lfts_free(other);
	lfts_free(nothing);
	world_free(&w);
	fat_free(&p);
}
END_TEST

/* A long ring whose routes are reversed: each switch waits for all before it, and the cost stays bounded. */
START_TEST(ring_turned_round)
{
	struct fabric *f = topo_begin();
	uint32_t sw[60], n = ARRAY_SIZE(sw);
	struct world w = { 0 };
	struct rounds r;

	for (unsigned i = 0; i < n; i++)
		sw[i] = topo_switch(f, 1 + i, 3);
	for (unsigned i = 0; i < n; i++) {
		fabric_link(f, sw[i], 1, sw[(i + 1) % n], 2);
		topo_host(f, sw[i], 3);
	}
	topo_finish(&w.t, f, 0);
	world_make(&w, false, false, 1);
	find_here(&w);
	struct lfts *a = lfts_copy(w.base), *b = lfts_copy(w.base);

	for (uint32_t i = 0; i < n; i++)
		for (uint16_t lid = 1; lid <= a->top; lid++) {
			uint8_t base = lft_get(w.base, i, lid);

			a->entries[i * a->stride + lid] = base == 2 ? 1 : base;
			b->entries[i * a->stride + lid] = base == 1 ? 2 : base;
		}
	rounds_between(&w, a, b, &r);
	ck_assert_uint_gt(r.dropped, 0);
	ck_assert_uint_le(r.n, 20);
	rounds_free(&r);
	lfts_free(a);
	lfts_free(b);
	world_free(&w);
}
END_TEST

/*
 * Of two LIDs of one block, one can be switched on a only after b, the other on b
 * only after a: one of the blocks is written twice, and that is all.
 */
/* promise: F3 */
START_TEST(two_blocks_wait_for_each_other)
{
	struct fabric *f = topo_begin();
	uint32_t a = topo_switch(f, 1, 6), b = topo_switch(f, 2, 6), c = topo_switch(f, 3, 6);
	struct world w = { 0 };
	struct rounds r;

	for (unsigned i = 1; i <= 2; i++) {
		fabric_link(f, a, i, c, i);
		fabric_link(f, b, i, c, 2 + i);
		topo_host(f, c, 4 + i);
	}
	fabric_link(f, a, 3, b, 3);
	topo_finish(&w.t, f, 0);
	world_make(&w, false, false, 1);
	find_here(&w);
	uint16_t x = w.t.lid[fabric_port(f, c, 5)->peer], y = w.t.lid[fabric_port(f, c, 6)->peer];
	uint32_t at_a = f->nodes[a].sw, at_b = f->nodes[b].sw;
	struct lfts *was = lfts_copy(w.base), *next = lfts_copy(w.base);

	was->entries[at_a * was->stride + x] = was->entries[at_a * was->stride + y] = 1;
	was->entries[at_b * was->stride + x] = was->entries[at_b * was->stride + y] = 1;
	next->entries[at_a * was->stride + x] = next->entries[at_b * was->stride + y] = 3;
	next->entries[at_a * was->stride + y] = next->entries[at_b * was->stride + x] = 2;
	rounds_between(&w, was, next, &r);
	ck_assert_uint_eq(r.n, 3);
	ck_assert_uint_eq(r.first[3], 3);
	ck_assert_uint_eq(r.again, 1);
	ck_assert_uint_eq(r.dropped, 0);
	rounds_free(&r);
	lfts_free(was);
	lfts_free(next);
	world_free(&w);
}
END_TEST

/*
 * The switch to be written on v's new path is not next to v but one hop further: v must wait for
 * it, because its old path leads to v.
 */
START_TEST(far_on_the_way)
{
	struct fabric *f = topo_begin();
	uint32_t d = topo_switch(f, 1, 6), v = topo_switch(f, 2, 6);
	uint32_t x = topo_switch(f, 3, 6), y = topo_switch(f, 4, 6);
	struct world w = { 0 };
	struct rounds r;

	topo_host(f, d, 5);
	fabric_link(f, v, 1, d, 1);
	fabric_link(f, v, 2, x, 2);
	fabric_link(f, v, 3, y, 3);
	fabric_link(f, x, 1, y, 2);
	fabric_link(f, y, 1, d, 2);
	topo_finish(&w.t, f, 0);
	world_make(&w, false, false, 1);
	find_here(&w);
	uint16_t lid = w.t.lid[f->self];
	size_t at_v = f->nodes[v].sw * w.base->stride + lid;
	size_t at_y = f->nodes[y].sw * w.base->stride + lid;
	struct lfts *was = lfts_copy(w.base), *next = lfts_copy(w.base);

	was->entries[f->nodes[x].sw * was->stride + lid] = 1;
	next->entries[f->nodes[x].sw * was->stride + lid] = 1;
	was->entries[at_y] = 3;
	was->entries[at_v] = 1;
	next->entries[at_v] = 2;
	next->entries[at_y] = 1;
	rounds_between(&w, was, next, &r);
	ck_assert_uint_eq(r.n, 2);
	ck_assert_uint_eq(r.first[2], 2);
	ck_assert_uint_eq(r.writes[0].sw, f->nodes[y].sw);
	rounds_free(&r);
	lfts_free(was);
	lfts_free(next);
	world_free(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("repair");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, fat_trees, 0, (sanitized() ? 1 : 4) * 6 * ARRAY_SIZE(trees));
	tcase_add_loop_test(tc, random_fabrics, 0, cases(100));
	/* where the engine gave up layers without a turn that tells */
	tcase_add_loop_test(tc, random_fabrics, 150, 151);
	/* these include turns at an unsafe hub that close a cycle later */
	tcase_add_loop_test(tc, random_fabrics, 1024, 1037);
	tcase_add_loop_test(tc, tori, 0, 6);
	tcase_add_loop_test(tc, recorded_fabrics, 0, 2 * RECORDED);
	tcase_add_loop_test(tc, faults_beside_what_is_isolated, 0, 4 * ARRAY_SIZE(trees) + cases(60));
	tcase_add_test(tc, what_is_isolated_is_not_repaired_again);
	tcase_add_loop_test(tc, any_link_to_the_top, 0, 2);
	tcase_add_loop_test(tc, many_links, 0, cases(20));
	tcase_add_loop_test(tc, lmc_is_kept_apart, 0, 2);
	tcase_add_loop_test(tc, load_is_shared, 0, 2);
	tcase_add_test(tc, tables_of_another_order_are_refused);
	tcase_add_loop_test(tc, whole_routings, 0, ARRAY_SIZE(trees) + 40);
	tcase_add_test(tc, ring_turned_round);
	tcase_add_test(tc, two_blocks_wait_for_each_other);
	tcase_add_test(tc, far_on_the_way);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
