/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds phases by adding one LID's possible turns after another to the dependencies; see update_phases.h. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/change/update_phases.h"
#include "routing/deps.h"
#include "routing/layers.h"
#include "routing/updn/turns.h"
#include "routing/walks.h"

/* Which tables a route follows: see follow(), follow_both(). */
enum which { BY_OLD, BY_NEW, BY_BOTH };

enum state {
	SAME,		/* the entries of all switches that count are the same in both tables */
	OLD,
	DROPPED,	/* like OLD, but entries that differ drop */
	NEW,
};

struct layer_dep {
	unsigned layer;
	struct dep dep;
};

struct phases {
	const struct channels *c;
	const struct graph *g;
	const struct living *l;
	const struct lfts *was, *next;
	const struct rounds_layers *y;
	unsigned n_layers;
	uint32_t n_lids;		/* entries of a table */
	uint32_t *home;		/* [LID]: vertex of the CA or router port that has it, or FABRIC_NONE */
	uint8_t *state;		/* [LID]: enum state */
	VEC(uint16_t) left;	/* LIDs still to change */
	/*
	 * Turns of all LIDs in the current phase; marked: turns of routes that do not change
	 * (add_still()).
	 */
	struct deps *deps;
	VEC(struct layer_dep) fixed;	/* turns of multicast that close no cycle with the old tables */
	struct walks walks;	/* routes by the old tables */
	/* Vertices whose routes to a LID change: moving.v[moving0[lid]] .. moving.v[moving0[lid + 1] - 1]. */
	uint32_t *moving0;
	VEC(uint32_t) moving;
	/* of the current LID */
	VEC(struct dep) *turns;	/* [layer]; may contain duplicates */
	/*
	 * [which][(2 * layer + whether packets arrive by a far link) * vertices + vertex]: equals `mark`
	 * if the route from there is in `turns`
	 */
	uint32_t *seen[3];
	uint32_t mark;
};

/* --- pairs --- */

static unsigned layer_of(const struct phases *p, const struct route_layers *y, uint32_t from, uint16_t lid)
{
	return y ? route_layer(y, p->g->sw[from], p->g->sw[p->home[lid]]) : 0;
}

static bool is_source(const struct phases *p, uint32_t v)
{
	return p->g->end0[v] != p->g->end0[v + 1] && p->l->here[v];
}

static bool differs(void *arg, uint32_t v, uint16_t lid)
{
	const struct phases *p = arg;
	uint32_t sw = p->g->sw[v];

	return p->l->here[v] && lft_get(p->was, sw, lid) != lft_get(p->next, sw, lid);
}

/* --- turns of packets to a LID --- */

/* The trunk that v's entry leads to, or FABRIC_NONE if its link is dead or there is none. */
static uint32_t trunk_of(const struct phases *p, const struct lfts *t, uint32_t v, uint16_t lid)
{
	struct channel ch = channel_by_lid(p->c, t, v, lid);

	return ch.link == FABRIC_NONE || p->l->dead[ch.link] ? FABRIC_NONE : p->c->trunk[ch.link];
}

/* How a packet arrives at a vertex. */
struct arrival {
	uint32_t by;		/* trunk; FABRIC_NONE: from a host */
	bool far;		/* it reached the start of that trunk by a far link: see struct dep */
};

static const struct arrival from_host = { .by = FABRIC_NONE };

/* Notes that a packet leaves by trunk `out`; returns how it arrives at the end of that trunk. */
static struct arrival use(struct phases *p, unsigned layer, struct arrival at, uint32_t out)
{
	if (at.by != FABRIC_NONE)
		*vec_push(&p->turns[layer]) = (struct dep){ at.by, out, at.far };
	return (struct arrival){ out, deps_is_far(p->deps, at.by) };
}

/*
 * Whether the route from v was followed in this layer before; marks it as followed.  on: how the packet
 * leaves v.
 */
static bool was_seen(struct phases *p, enum which which, unsigned layer, uint32_t v, struct arrival on)
{
	uint32_t *mark = &p->seen[which][(2 * (size_t)layer + on.far) * p->g->n + v];
	bool seen = *mark == p->mark;

	*mark = p->mark;
	return seen;
}

/* Follows the route from v by one of the tables. */
static void follow(struct phases *p, const struct lfts *t, unsigned layer, uint32_t v, struct arrival at, uint16_t lid)
{
	for (;;) {
		uint32_t out = trunk_of(p, t, v, lid);

		if (out == FABRIC_NONE)
			return;
		at = use(p, layer, at, out);
		if (was_seen(p, t == p->next ? BY_NEW : BY_OLD, layer, v, at))
			return;
		v = p->g->trunks[out].v;
	}
}

/* Follows the old route, and from each switch on it that changes, the new route. */
static void follow_both(struct phases *p, unsigned layer, uint32_t v, uint16_t lid)
{
	struct arrival at = from_host;

	for (;;) {
		uint32_t out = trunk_of(p, p->was, v, lid);

		if (differs(p, v, lid))
			follow(p, p->next, layer, v, at, lid);
		if (out == FABRIC_NONE)
			return;
		at = use(p, layer, at, out);
		if (was_seen(p, BY_BOTH, layer, v, at))
			return;
		v = p->g->trunks[out].v;
	}
}

/* Follows the old route up to the first entry that differs. */
static void follow_common(struct phases *p, unsigned layer, uint32_t v, uint16_t lid)
{
	struct arrival at = from_host;

	while (!differs(p, v, lid)) {
		uint32_t out = trunk_of(p, p->was, v, lid);

		if (out == FABRIC_NONE)
			return;
		at = use(p, layer, at, out);
		if (was_seen(p, BY_OLD, layer, v, at))
			return;
		v = p->g->trunks[out].v;
	}
}

/*
 * Collects all turns that changing routes use while the LID stays in a state (from == to) or passes from
 * one into the other.
 */
static void collect(struct phases *p, uint16_t lid, enum state from, enum state to)
{
	p->mark++;
	for (unsigned layer = 0; layer < p->n_layers; layer++)
		p->turns[layer].n = 0;
	for (uint32_t i = p->moving0[lid]; i < p->moving0[lid + 1u]; i++) {
		uint32_t v = p->moving.v[i];
		unsigned was = layer_of(p, p->y->was, v, lid), next = layer_of(p, p->y->next, v, lid);

		if (from == DROPPED) {
			follow_common(p, was, v, lid);
		} else if (from != NEW) {
			if (to == NEW && was == next)
				follow_both(p, was, v, lid);
			else
				follow(p, p->was, was, v, from_host, lid);
		}
		if (to == NEW)
			follow(p, p->next, next, v, from_host, lid);
	}
}

/* --- all LIDs --- */

/* Adds the collected turns; false: they close a cycle, and some of them may have been added. */
static bool add(struct phases *p)
{
	for (unsigned layer = 0; layer < p->n_layers; layer++)
		if (!deps_add(p->deps, layer, p->turns[layer].v, (uint32_t)p->turns[layer].n, NULL))
			return false;
	return true;
}

/*
 * Adds those collected turns that close no cycle.  That is all of them, unless the old tables have cycles,
 * or VL set 0 waits for VL set 1 in them (deps_add()).
 */
static void add_each(struct phases *p)
{
	for (unsigned layer = 0; layer < p->n_layers; layer++)
		for (size_t i = 0; i < p->turns[layer].n; i++)
			deps_add(p->deps, layer, &p->turns[layer].v[i], 1, NULL);
}

/* Adds a turn to all phases if it closes no cycle. */
static void add_fixed(struct phases *p, unsigned layer, struct dep x)
{
	if (!deps_has(p->deps, layer, x) && deps_add(p->deps, layer, &x, 1, NULL))
		*vec_push(&p->fixed) = (struct layer_dep){ layer, x };
}

static void add_if_alive(void *arg, struct dep turn)
{
	struct phases *p = arg;

	if (graph_trunk_lives(p->g, turn.in, p->l->dead) && graph_trunk_lives(p->g, turn.out, p->l->dead))
		add_fixed(p, 0, turn);
}

static void add_tree(struct phases *p, const struct route_layers *y)
{
	if (y && y->tree)
		deps_each_on_tree(p->c, y->tree, add_if_alive, p);
}

/*
 * Adds the turns that multicast may use, if they close no cycle with the old tables.  They close none
 * unless links have come back.
 */
static void add_legal(struct phases *p)
{
	struct turns *legal;

	add_tree(p, p->y->was);
	add_tree(p, p->y->next);
	if (!p->y->legal)
		return;
	legal = turns_new(p->y->legal);
	deps_each_legal(p->c, legal, add_if_alive, p);
	turns_free(legal);
}

/* Adds the turns of changing routes in the present states of their LIDs. */
static void add_changing(struct phases *p)
{
	for (uint32_t lid = 0; lid < p->n_lids; lid++)
		if (p->state[lid] != SAME) {
			collect(p, (uint16_t)lid, p->state[lid], p->state[lid]);
			add_each(p);
		}
}

/* --- phases --- */

static void find_homes(struct phases *p)
{
	const struct graph *g = p->g;

	for (uint32_t lid = 0; lid < p->n_lids; lid++)
		p->home[lid] = FABRIC_NONE;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->end0[v]; i < g->end0[v + 1]; i++) {
			uint32_t port = g->ends[i], lid = p->y->lid[port];

			for (uint32_t k = 0; lid && k < 1u << p->y->lmc[port] && lid + k < p->n_lids; k++)
				p->home[lid + k] = v;
		}
}

/* Finds the LIDs with entries that differ on switches that count. */
static void find_changes(struct phases *p)
{
	for (uint32_t v = 0; v < p->g->n; v++) {
		const uint8_t *was = graph_row_of(p->g, p->was, v), *next = graph_row_of(p->g, p->next, v);

		for (uint32_t first = 0; first < p->n_lids && p->l->here[v]; first += LFT_BLOCK)
			if (memcmp(was + first, next + first, LFT_BLOCK))
				for (uint32_t lid = first; lid < first + LFT_BLOCK; lid++)
					if (was[lid] != next[lid])
						p->state[lid] = OLD;
	}
	for (uint32_t lid = 0; lid < p->n_lids; lid++)
		if (p->state[lid] == OLD)
			*vec_push(&p->left) = (uint16_t)lid;
}

/* --- routes that do not change --- */

/* False: the routes are the same as those of the LID before, whose turns are added already. */
static bool recall(struct phases *p, uint16_t lid)
{
	return walks_recall(&p->walks, p->was, lid) || !lid || p->home[lid] != p->home[lid - 1] ||
	       p->state[lid] != SAME || p->state[lid - 1] != SAME;
}

static void add_still_of(struct phases *p, uint16_t lid, bool search)
{
	if (p->home[lid] == FABRIC_NONE || !recall(p, lid))
		return;
	walks_begin(&p->walks);
	walks_begin_moves(&p->walks);
	for (uint32_t v = 0; v < p->g->n; v++) {
		unsigned layer;

		if (!is_source(p, v))
			continue;
		layer = layer_of(p, p->y->was, v, lid);
		if (p->state[lid] == OLD &&
		    (walks_moves(&p->walks, v, lid, differs, p) || layer != layer_of(p, p->y->next, v, lid)))
			*vec_push(&p->moving) = v;
		else
			walks_note(&p->walks, p->deps, layer, v, search);
	}
}

static void add_still_of_all(struct phases *p, bool search)
{
	p->moving.n = 0;
	for (uint32_t lid = 0; lid < p->n_lids; lid++) {
		p->moving0[lid] = (uint32_t)p->moving.n;
		add_still_of(p, (uint16_t)lid, search);
	}
	p->moving0[p->n_lids] = (uint32_t)p->moving.n;
}

/*
 * Adds the turns of routes that stay, before and after the change of their LID.  When a link fails most
 * routes stay; later phases do not look at them again.  A search for cycles is needed only if the old
 * tables have some.
 */
static void add_still(struct phases *p)
{
	add_still_of_all(p, false);
	if (!deps_settle(p->deps))
		add_still_of_all(p, true);
	deps_mark(p->deps);
}

struct phases *phases_new(const struct channels *c, const struct living *l, const struct lfts *was,
			  const struct lfts *next, const struct rounds_layers *y)
{
	struct phases *p = xcalloc(1, sizeof(*p));
	unsigned n_was = y->was ? y->was->n : 1, n_next = y->next ? y->next->n : 1;

	*p = (struct phases){ .c = c, .g = c->g, .l = l, .was = was, .next = next, .y = y,
			      .n_lids = was->stride };
	p->n_layers = n_was > n_next ? n_was : n_next;
	p->home = xcalloc(p->n_lids, sizeof(*p->home));
	p->state = xcalloc(p->n_lids, sizeof(*p->state));
	p->turns = xcalloc(p->n_layers, sizeof(*p->turns));
	p->moving0 = xcalloc(p->n_lids + 1u, sizeof(*p->moving0));
	walks_init(&p->walks, c, l->dead, p->n_layers);
	for (unsigned i = 0; i < ARRAY_SIZE(p->seen); i++)
		p->seen[i] = xcalloc((size_t)p->n_layers * 2 * c->g->n, sizeof(*p->seen[i]));
	p->deps = y->shared ? deps_new_sharing(c, y->shared) : deps_new(c, p->n_layers);
	find_homes(p);
	find_changes(p);
	if (p->left.n) {
		add_still(p);
		add_changing(p);
		add_legal(p);
	}
	return p;
}

void phases_free(struct phases *p)
{
	if (!p)
		return;
	free(p->home);
	free(p->state);
	for (unsigned layer = 0; layer < p->n_layers; layer++)
		vec_free(&p->turns[layer]);
	free(p->turns);
	for (unsigned i = 0; i < ARRAY_SIZE(p->seen); i++)
		free(p->seen[i]);
	deps_free(p->deps);
	vec_free(&p->fixed);
	vec_free(&p->moving);
	free(p->moving0);
	walks_free(&p->walks);
	vec_free(&p->left);
	free(p);
}

uint32_t phases_ways(const struct phases *p)
{
	return (uint32_t)p->moving.n;
}

/*
 * Sets the LID's entries to those of `next`, or drops those that differ; returns the number of changed
 * entries.
 */
static uint32_t change(struct phases *p, struct lfts *now, uint16_t lid, enum state to)
{
	uint32_t n = 0;

	p->state[lid] = (uint8_t)to;
	for (uint32_t v = 0; v < p->g->n; v++) {
		uint8_t *entry = graph_row(p->g, now, v) + lid;
		uint8_t want = to == NEW ? lft_get(p->next, p->g->sw[v], lid) :
			       differs(p, v, lid) ? LFT_DROP : *entry;

		n += *entry != want;
		*entry = want;
	}
	return n;
}

/* Changes the LIDs whose turns close no cycle with those of all others. */
static bool move_some(struct phases *p, struct lfts *now)
{
	size_t kept = 0;

	deps_return(p->deps);
	for (size_t i = 0; i < p->fixed.n; i++)
		deps_add(p->deps, p->fixed.v[i].layer, &p->fixed.v[i].dep, 1, NULL);
	add_changing(p);
	for (size_t i = 0; i < p->left.n; i++) {
		uint16_t lid = p->left.v[i];

		collect(p, lid, p->state[lid], NEW);
		if (add(p))
			change(p, now, lid, NEW);
		else
			p->left.v[kept++] = lid;
	}
	if (kept == p->left.n)
		return false;
	p->left.n = kept;
	return true;
}

static uint32_t drop_left(struct phases *p, struct lfts *now)
{
	uint32_t n = 0;

	for (size_t i = 0; i < p->left.n; i++)
		if (p->state[p->left.v[i]] == OLD)
			n += change(p, now, p->left.v[i], DROPPED);
	return n;
}

bool phases_next(struct phases *p, struct lfts *now, uint32_t *dropped)
{
	uint32_t n;

	if (!p->left.n)
		return false;
	if (move_some(p, now))
		return true;
	n = drop_left(p, now);
	*dropped += n;
	/* nothing of the old tables is left: all routes are the engine's */
	for (size_t i = 0; i < p->left.n && !n; i++)
		change(p, now, p->left.v[i], NEW);
	if (!n)
		p->left.n = 0;
	return true;
}
