/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repairs base tables LID by LID; see route_repair.h.
 *
 * LIDs are taken in rising order.  For each, the vertices whose base route crosses a dead link are
 * *moved*: they get a new next hop, and the others keep theirs.  The two fit together because a live route
 * is as short and as legal as before, and never leads to a moved vertex.
 *
 * By an order, a vertex that can go down goes down, and the rest go up to a vertex with a route: the rule
 * of updn_distances(), so that no mixture has an illegal turn.  A vertex without a legal route sends to
 * the hub as in updn.c if the hub is safe.  If it is not, turns that the base has stay nevertheless, and
 * the result is searched for cycles.  Routes from or to a switch's own port 0 that are still lost get
 * turns that close no cycle with those of the base (stranded.h).  Lost routes of hosts need a run of the
 * engine instead.  Without an order, routes are the shortest to vertices whose own are still right.
 *
 * The choice among equal next hops depends on loads.  These start from the base's each time and follow the
 * LIDs, so that they do not depend on earlier repairs either.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "lib/base/search.h"
#include "routing/channel.h"
#include "routing/updn/stranded.h"
#include "routing/verify.h"

/* The port that has a LID. */
struct owner {
	uint32_t v;		/* vertex that delivers it; FABRIC_NONE: no port has the LID */
	uint16_t first;		/* first of the port's LIDs */
	uint8_t n;		/* number of the port's LIDs */
	uint8_t port;		/* out port by which v delivers */
	bool end;		/* a device behind a port, or the SM: hosts need a route to it */
	bool host;		/* it counts as load */
};

/* A turn from down to up in the base, by trunks. */
struct base_turn {
	uint32_t in, out;
};

struct repair {
	const struct channels *c;
	const struct graph *g;
	const struct updn_order *o;
	const struct lfts *base;
	/* links that are dead besides those of a run: the base's routes do without them */
	const struct link_end *gone;
	uint32_t n_gone;
	bool keep_lost;
	struct owner *owners;	/* [LID], up to base->top */
	uint32_t *load;		/* [link]: LIDs of hosts that the base sends by it */
	struct route_request r;
	bool fits;
	bool risky;		/* the base has turns that close no cycle only by luck */
	VEC(struct base_turn) turns;	/* the base's turns, if risky */
};

/* What is known of a vertex's route to the current LID. */
enum kind {
	UNKNOWN,
	MOVED,			/* needs a new route */
	ON_WALK,		/* being followed */
	DOWN,			/* its route leads down only; without an order: any route */
	UP,			/* legal, starts upwards */
	TURN,			/* leads over the hub */
	NONE,
};
#define BIT(kind) (1u << (kind))

struct run {
	const struct repair *rp;
	const struct channels *c;
	const struct graph *g;
	const struct living *l;
	struct lfts *next;
	/* [vertex]: link towards the hub, FABRIC_NONE if there is none; NULL: no safe hub */
	uint32_t *to_hub;
	uint32_t *load;		/* [link] */
	uint64_t *touched;	/* [switch * blocks + block]: bit, block changed */
	/* of the current LID */
	uint16_t lid;
	uint8_t *kind;		/* [vertex] */
	uint16_t *len;		/* [vertex]: hops, if it has a route; FAR if that is still to be found */
	uint32_t *seen;		/* vertices that are not UNKNOWN */
	uint32_t n_seen;
	uint32_t *moved;
	uint32_t n_moved;
	uint64_t *sorter;	/* [vertex]: bit, all 0 between uses */
	uint32_t *stack, *chain;
	uint32_t *todo;		/* vertices without a route that may get a turn */
	struct stranded *stranded;	/* NULL until needed */
	struct repaired *out;
};

/* --- data derived from the base --- */

static void find_owners(struct repair *rp, const struct route_request *r)
{
	const struct graph *g = rp->g;
	uint16_t top = rp->base->top;
	struct dest dests[DESTS_MAX];

	rp->owners = xcalloc(top + 1u, sizeof(*rp->owners));
	for (uint32_t lid = 0; lid <= top; lid++)
		rp->owners[lid].v = FABRIC_NONE;
	for (uint32_t v = 0; v < g->n; v++) {
		unsigned n = graph_dests(g, r, top, v, dests);
		uint32_t own = (uint32_t)(graph_port(g, v, 0) - g->f->ports);

		for (unsigned i = 0; i < n; i++)
			for (unsigned k = 0; k < dests[i].n_lids; k++)
				rp->owners[dests[i].lid + k] = (struct owner){
					v, dests[i].lid, (uint8_t)dests[i].n_lids, dests[i].port,
					dests[i].port != 0 || own == g->f->self,
					dests[i].weight != 0 || own == g->f->self,
				};
	}
}

static const uint8_t *base_row(const struct repair *rp, uint32_t v)
{
	return rp->base->entries + (size_t)rp->g->sw[v] * rp->base->stride;
}

/* Collects the turns of the base. */
struct turn_list {
	bool *may_turn;		/* [vertex]: a turn there is safe, because routes to the hub take it */
	uint32_t *trunk;	/* [link]: its trunk */
	struct map64 known;	/* in << 32 | out */
};

static void turn_list_init(struct turn_list *l, const struct repair *rp)
{
	const struct graph *g = rp->g;
	uint16_t *down;

	*l = (struct turn_list){ .may_turn = xcalloc(g->n, sizeof(*l->may_turn)),
				 .trunk = xcalloc(g->n_links, sizeof(*l->trunk)) };
	map64_init(&l->known, 16);
	for (uint32_t t = 0; t < g->trunk0[g->n]; t++)
		for (uint32_t i = 0; i < g->trunks[t].n_links; i++)
			l->trunk[g->trunks[t].link0 + i] = t;
	if (!rp->o->layered || rp->o->hub == FABRIC_NONE || !rp->o->hub_safe)
		return;
	down = xcalloc(g->n, sizeof(*down));
	updn_down(g, rp->o->hub, down);
	for (uint32_t v = 0; v < g->n; v++)
		l->may_turn[v] = down[v] != FAR;
	free(down);
}

static void note_turn(struct repair *rp, struct turn_list *l, uint32_t link, uint32_t then)
{
	struct base_turn t = { l->trunk[link], l->trunk[then] };

	rp->risky = true;
	if (map64_put(&l->known, (uint64_t)t.in << 32 | t.out, 0) == MAP64_NONE)
		*vec_push(&rp->turns) = t;
}

/*
 * Looks for routes that lead down from v and then up.  dead[link]: no route crosses the link; NULL: an engine
 * made the base.  False if it did and the order has no such turn, for example one below a root: the engine did
 * not use this order.
 */
static bool check_turns_from(struct repair *rp, uint32_t v, struct turn_list *l, const bool *dead)
{
	const uint8_t *row = base_row(rp, v);

	for (uint32_t lid = 1; lid <= rp->base->top; lid++) {
		struct channel to = channel_by_port(rp->c, v, row[lid]);

		if (to.to >= v || l->may_turn[to.to] || rp->owners[lid].v == FABRIC_NONE || (dead && dead[to.link]))
			continue;
		struct channel then = channel_by_port(rp->c, to.to, base_row(rp, to.to)[lid]);

		if (then.to == FABRIC_NONE || then.to < to.to || (dead && dead[then.link]))
			continue;
		if (!rp->o->layered && !dead)
			return false;
		note_turn(rp, l, to.link, then.link);
	}
	return true;
}

static bool check_turns(struct repair *rp, const bool *dead)
{
	struct turn_list l;
	bool fits = true;

	turn_list_init(&l, rp);
	for (uint32_t v = 0; v < rp->g->n && fits; v++)
		fits = check_turns_from(rp, v, &l, dead);
	free(l.may_turn);
	free(l.trunk);
	map64_free(&l.known);
	return fits;
}

/*
 * Whether the routes from v to LIDs lid .. end - 1, all on one vertex at these distances, follow the
 * order.
 */
static bool keeps_from(const struct repair *rp, uint32_t v, uint32_t lid, uint32_t end, const uint16_t *down,
		       const uint16_t *total)
{
	const uint8_t *row = base_row(rp, v);
	bool descends = down[v] != FAR;
	const uint16_t *dist = descends ? down : total;

	for (; lid < end; lid++) {
		uint32_t w = channel_by_port(rp->c, v, row[lid]).to;

		if (w == FABRIC_NONE || (w < v) != descends || dist[w] == FAR)
			return false;
	}
	return true;
}

/*
 * Whether every route that can be legal keeps to the order.  LIDs in a row on one vertex are checked
 * together, because their entries are adjacent in each table.
 */
static bool keeps_order(const struct repair *rp)
{
	const struct graph *g = rp->g;
	uint16_t *down = xcalloc(g->n, sizeof(*down)), *total = xcalloc(g->n, sizeof(*total));
	uint32_t end;
	bool keeps = true;

	for (uint32_t lid = 1; lid <= rp->base->top && keeps; lid = end) {
		uint32_t home = rp->owners[lid].v;

		for (end = lid + 1; end <= rp->base->top && rp->owners[end].v == home;)
			end++;
		if (home == FABRIC_NONE)
			continue;
		updn_distances(g, home, down, total);
		for (uint32_t v = 0; v < g->n && keeps; v++)
			keeps = v == home || total[v] == FAR || keeps_from(rp, v, lid, end, down, total);
	}
	free(down);
	free(total);
	return keeps;
}

static bool check_order(struct repair *rp)
{
	const struct updn_order *o = rp->o;

	if (!check_turns(rp, NULL))
		return false;
	/* where single turns had to help, updn may have used another order */
	return !o->layered || (o->hub_safe && o->hub_reach == rp->g->n && !rp->risky) ||
	       keeps_order(rp);
}

static void find_load(struct repair *rp)
{
	rp->load = xcalloc(rp->g->n_links, sizeof(*rp->load));
	for (uint32_t v = 0; v < rp->g->n; v++) {
		const uint8_t *row = base_row(rp, v);
		uint32_t seen[256] = { 0 };

		for (uint32_t lid = 1; lid <= rp->base->top; lid++)
			seen[row[lid]] += rp->owners[lid].v != FABRIC_NONE && rp->owners[lid].host;
		for (unsigned port = 0; port < 256; port++) {
			uint32_t link = channel_by_port(rp->c, v, (uint8_t)port).link;

			if (link != FABRIC_NONE)
				rp->load[link] = seen[port];
		}
	}
}

struct repair *repair_new(const struct route_request *r, const struct channels *c,
			  const struct updn_order *o, const struct lfts *base, bool keep_lost)
{
	struct repair *rp = xcalloc(1, sizeof(*rp));

	*rp = (struct repair){ .c = c, .g = c->g, .o = o, .base = base, .r = *r };
	rp->keep_lost = keep_lost;
	find_owners(rp, r);
	find_load(rp);
	rp->fits = !o || check_order(rp);
	return rp;
}

/* A repair turns nowhere else than the base, unless it says so; its turns close no cycle. */
static void take_turns(struct repair *rp, const struct repair *from, bool turned)
{
	struct living l;

	if (!turned) {
		for (const struct base_turn *t = from->turns.v; t < vec_end(&from->turns); t++)
			*vec_push(&rp->turns) = *t;
		return;
	}
	living_init(&l, rp->c, rp->gone, rp->n_gone);
	check_turns(rp, l.dead);
	living_free(&l);
	rp->risky = from->risky;
}

struct repair *repair_of(const struct repair *from, const struct repaired *by, const struct link_end *gone,
			 uint32_t n_gone)
{
	struct repair *rp = xcalloc(1, sizeof(*rp));

	*rp = (struct repair){ .c = from->c, .g = from->g, .o = from->o, .base = by->next, .gone = gone,
			       .n_gone = n_gone, .keep_lost = from->keep_lost, .r = from->r,
			       .fits = from->fits, .risky = from->risky };
	rp->owners = xmemdup(from->owners, (rp->base->top + 1u) * sizeof(*rp->owners));
	find_load(rp);
	take_turns(rp, from, by->turned);
	return rp;
}

void repair_free(struct repair *rp)
{
	if (!rp)
		return;
	free(rp->owners);
	free(rp->load);
	vec_free(&rp->turns);
	free(rp);
}

bool repair_fits(const struct repair *rp)
{
	return rp->fits;
}

/* --- moved vertices --- */

static void learn(struct run *u, uint32_t v, enum kind kind)
{
	if (u->kind[v] == UNKNOWN)
		u->seen[u->n_seen++] = v;
	u->kind[v] = (uint8_t)kind;
}

static void forget(struct run *u)
{
	while (u->n_seen > 0)
		u->kind[u->seen[--u->n_seen]] = UNKNOWN;
	u->n_moved = 0;
}

static struct channel base_step(const struct run *u, uint32_t v)
{
	return channel_by_port(u->c, v, base_row(u->rp, v)[u->lid]);
}

static void move(struct run *u, uint32_t v)
{
	learn(u, v, MOVED);
	u->len[v] = FAR;
	u->moved[u->n_moved++] = v;
}

static void sort_moved(struct run *u)
{
	uint32_t n = 0;

	if (u->n_moved < 2)
		return;
	for (uint32_t i = 0; i < u->n_moved; i++)
		u->sorter[u->moved[i] / 64] |= 1ULL << u->moved[i] % 64;
	for (uint32_t word = 0; n < u->n_moved; word++)
		for (; u->sorter[word]; u->sorter[word] &= u->sorter[word] - 1)
			u->moved[n++] = word * 64 + (uint32_t)__builtin_ctzll(u->sorter[word]);
}

/* Finds the vertices whose route crosses a dead link, and those whose route leads over such vertices. */
static void find_moved(struct run *u)
{
	const struct graph *g = u->g;

	for (uint32_t i = 0; i < u->l->n_cut; i++) {
		struct channel ch = base_step(u, u->l->cut[i]);

		if (ch.link != FABRIC_NONE && u->l->dead[ch.link])
			move(u, u->l->cut[i]);
	}
	for (uint32_t i = 0; i < u->n_moved; i++) {
		uint32_t v = u->moved[i];

		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			uint32_t from = g->trunks[t].v;
			struct channel ch = base_step(u, from);

			if (ch.to == v && !u->l->dead[ch.link] && u->kind[from] == UNKNOWN)
				move(u, from);
		}
	}
	sort_moved(u);
}

/* --- routes of vertices that are not moved, when needed --- */

static enum kind lead(const struct run *u, uint32_t v, uint32_t to)
{
	enum kind on = u->kind[to];

	if (on != DOWN && on != UP && on != TURN)
		return NONE;
	if (!u->rp->o)
		return DOWN;
	if (on == DOWN)
		return v > to ? DOWN : UP;
	return on == UP && v < to ? UP : TURN;
}

/* Follows the base from v, which is not moved, until the kind of its route is known. */
static void walk(struct run *u, uint32_t v)
{
	uint32_t depth = 0;

	while (u->kind[v] == UNKNOWN) {
		struct channel ch = base_step(u, v);

		if (ch.to == FABRIC_NONE || u->l->dead[ch.link]) {
			learn(u, v, NONE);
			break;
		}
		learn(u, v, ON_WALK);
		u->stack[depth++] = v;
		v = ch.to;
	}
	while (depth > 0) {
		uint32_t from = u->stack[--depth];

		u->len[from] = (uint16_t)(u->len[v] + 1);
		learn(u, from, lead(u, from, v));
		v = from;
	}
}

/* --- new routes --- */

/* The trunks of v by which a kind of route may begin, and the kinds of route that may follow. */
struct ways {
	uint32_t first, end;	/* trunks first .. end - 1 */
	unsigned kinds;		/* BIT()s of enum kind */
};

static struct ways ways_of(const struct run *u, uint32_t v, enum kind kind)
{
	const struct graph *g = u->g;

	if (!u->rp->o)
		return (struct ways){ g->trunk0[v], g->trunk0[v + 1], BIT(DOWN) };
	if (kind == DOWN)
		return (struct ways){ g->trunk0[v], g->up0[v], BIT(DOWN) };
	return (struct ways){ g->up0[v], g->trunk0[v + 1], BIT(DOWN) | BIT(UP) };
}

/* Gives v the shortest route of a kind, if there is one. */
static void find_way(struct run *u, uint32_t v, enum kind kind)
{
	struct ways w = ways_of(u, v, kind);
	uint16_t least = FAR;

	for (uint32_t t = w.first; t < w.end; t++) {
		uint32_t to = u->g->trunks[t].v;

		if (u->kind[to] == UNKNOWN)
			walk(u, to);
		if (w.kinds & BIT(u->kind[to]) && u->len[to] < least &&
		    graph_trunk_lives(u->g, t, u->l->dead))
			least = u->len[to];
	}
	if (least == FAR)
		return;
	u->len[v] = (uint16_t)(least + 1);
	learn(u, v, kind);
}

static void find_legal_ways(struct run *u)
{
	for (uint32_t i = 0; i < u->n_moved; i++)
		find_way(u, u->moved[i], DOWN);
	for (uint32_t i = u->n_moved; i-- > 0;)
		if (u->kind[u->moved[i]] == MOVED)
			find_way(u, u->moved[i], UP);
}

/*
 * Leads the remaining moved vertices towards the hub until a vertex has a route.  All of them use the same
 * next hops to the hub, so they form no loop.
 */
static void find_ways_by_hub(struct run *u)
{
	for (uint32_t i = 0; i < u->n_moved; i++) {
		uint32_t v = u->moved[i], depth = 0;

		while (u->kind[v] == MOVED && u->to_hub && u->to_hub[v] != FABRIC_NONE) {
			learn(u, v, ON_WALK);
			u->chain[depth++] = v;
			v = u->c->to[u->to_hub[v]];
			if (u->kind[v] == UNKNOWN)
				walk(u, v);
		}
		if (u->kind[v] == MOVED)
			learn(u, v, NONE);
		bool there = BIT(u->kind[v]) & (BIT(DOWN) | BIT(UP) | BIT(TURN));

		while (depth > 0)
			learn(u, u->chain[--depth], there ? TURN : NONE);
	}
}

struct reach {
	uint32_t v;
	uint16_t len;
};

static int by_length(const void *a, const void *b)
{
	const struct reach *x = a, *y = b;

	return ORDER(x->len, y->len) ?: ORDER(x->v, y->v);
}

/* Collects the moved vertices next to a vertex with a route, nearest to the destination first. */
static uint32_t find_border(struct run *u, struct reach *border)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < u->n_moved; i++) {
		uint32_t v = u->moved[i];

		find_way(u, v, DOWN);
		if (u->kind[v] == DOWN)
			border[n++] = (struct reach){ v, u->len[v] };
		learn(u, v, MOVED);	/* for now: its neighbours must not build on it yet */
	}
	qsort(border, n, sizeof(*border), by_length);
	return n;
}

/* v has its route: queues its neighbours that may go through it. */
static uint32_t spread(struct run *u, uint32_t v, struct reach *queue, uint32_t tail)
{
	const struct graph *g = u->g;
	uint16_t len = (uint16_t)(u->len[v] + 1);

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
		uint32_t to = g->trunks[t].v;

		if (u->kind[to] != MOVED || u->len[to] <= len ||
		    !graph_trunk_lives(g, graph_trunk(g, to, v), u->l->dead))
			continue;
		u->len[to] = len;
		queue[tail++] = (struct reach){ to, len };
	}
	return tail;
}

/* Breadth first from the border; `border` and `queue` are each in order of length. */
static void find_shortest_ways(struct run *u)
{
	struct reach *border = xcalloc(u->n_moved, sizeof(*border));
	struct reach *queue = xcalloc(u->n_moved, sizeof(*queue));
	uint32_t n = find_border(u, border), i = 0, head = 0, tail = 0;

	while (i < n || head < tail) {
		bool found = i == n || (head < tail && queue[head].len < border[i].len);
		uint32_t v = found ? queue[head++].v : border[i++].v;

		if (u->kind[v] == DOWN)
			continue;
		learn(u, v, DOWN);
		tail = spread(u, v, queue, tail);
	}
	free(queue);
	free(border);
}

static void find_ways(struct run *u)
{
	if (!u->rp->o) {
		find_shortest_ways(u);
		return;
	}
	find_legal_ways(u);
	find_ways_by_hub(u);
}

/* --- choice of links --- */

static void find_links(const struct run *u, uint32_t v, struct choice *c)
{
	struct ways w = ways_of(u, v, u->kind[v]);

	c->n = 0;
	for (uint32_t t = w.first; t < w.end; t++) {
		const struct trunk *trunk = &u->g->trunks[t];

		if (!(w.kinds & BIT(u->kind[trunk->v])) || u->len[trunk->v] + 1 != u->len[v])
			continue;
		for (uint32_t i = trunk->link0; i < trunk->link0 + trunk->n_links; i++) {
			if (u->l->dead[i])
				continue;
			c->link[c->n] = i;
			c->v[c->n++] = trunk->v;
		}
	}
}

/* Counts, for each link of c, the port's other LIDs that go to the same neighbour at present. */
static void find_used(const struct run *u, uint32_t v, const struct owner *owner,
		      const struct choice *c, uint8_t *used)
{
	memset(used, 0, c->n);
	for (uint32_t lid = owner->first; lid < owner->first + owner->n; lid++) {
		const struct lfts *l = lid < u->lid ? u->next : u->rp->base;
		uint32_t to = living_step(u->l, u->c, l, v, (uint16_t)lid);

		for (unsigned i = 0; i < c->n && lid != u->lid; i++)
			used[i] += c->v[i] == to;
	}
}

static bool is_lost(const struct run *u, uint32_t v)
{
	return u->kind[v] == NONE || u->kind[v] == MOVED;
}

static uint32_t choose_link(const struct run *u, uint32_t v)
{
	const struct owner *owner = &u->rp->owners[u->lid];
	struct choice c;
	uint8_t used[256];

	if (u->kind[v] == TURN)
		return u->to_hub[v];
	if (is_lost(u, v))
		return FABRIC_NONE;
	find_links(u, v, &c);
	if (owner->n > 1)
		find_used(u, v, owner, &c, used);
	return c.link[choice_least(&c, u->load, owner->n > 1 ? used : NULL)];
}

static void set_entry(struct run *u, uint32_t v, uint8_t port)
{
	size_t at = (size_t)u->g->sw[v] * u->next->stride + u->lid;

	u->next->entries[at] = port;
	u->touched[at / LFT_BLOCK / 64] |= 1ULL << at / LFT_BLOCK % 64;
}

static void lose(struct run *u, uint32_t v)
{
	const struct owner *owner = &u->rp->owners[u->lid];

	if (!owner->end || !u->l->here[owner->v] || (!graph_hosts(u->g, v) && v != u->c->home))
		return;
	u->out->ok = false;
}

/*
 * The entry of a vertex without a route.  The base's entry may stay if it ends at a dead link or leads to
 * other lost vertices.  If it led to a vertex with a route, packets would arrive, but perhaps by a turn
 * from down to up.
 */
static uint8_t lost_entry(const struct run *u, uint32_t v)
{
	struct channel by = base_step(u, v);

	if (!u->rp->keep_lost || !(u->l->dead[by.link] || is_lost(u, by.to)))
		return LFT_DROP;
	return u->g->links[by.link];
}

/* Whether hosts or the SM use the route from v.  Single turns are only for the other routes. */
static bool is_for_hosts(const struct run *u, uint32_t v)
{
	return u->rp->owners[u->lid].end && (graph_hosts(u->g, v) || v == u->c->home);
}

/* Gives each route to or from a switch's own port 0 that is still lost a single turn. */
static void find_ways_by_turns(struct run *u)
{
	const struct owner *owner = &u->rp->owners[u->lid];
	uint32_t n = 0, left;

	if (!u->rp->o || !u->rp->fits || !u->l->here[owner->v] || is_lost(u, owner->v))
		return;
	for (uint32_t i = 0; i < u->n_moved; i++) {
		uint32_t v = u->moved[i];

		if (is_lost(u, v) && !is_for_hosts(u, v))
			u->todo[n++] = v;
	}
	if (!n)
		return;
	if (!u->stranded) {
		/*
		 * Starts from the turns of the base, so that no added turn closes a cycle with them.  If
		 * the base has any, dead links count as links here, as they do when the result is searched
		 * for cycles.
		 */
		u->stranded = stranded_new(u->rp->o, u->c, u->l->dead, u->rp->risky ? NULL : u->l->gone);
		for (size_t i = 0; i < u->rp->turns.n; i++)
			stranded_take(u->stranded, u->rp->turns.v[i].in, u->rp->turns.v[i].out);
	}
	/*
	 * A kept lost entry may lead to a vertex that now gets a route by a turn; lost_entry() then drops
	 * it after all.  All lost entries are dropped first, so that stranded_route() builds no route on
	 * them.
	 */
	for (uint32_t i = 0; i < u->n_moved && u->rp->keep_lost; i++)
		if (is_lost(u, u->moved[i]))
			set_entry(u, u->moved[i], LFT_DROP);
	for (uint32_t i = 0; i < n; i++)
		learn(u, u->todo[i], TURN);
	left = stranded_route(u->stranded, u->next, owner->v, u->lid, u->todo, n, true, u->load,
			      owner->host);
	for (uint32_t i = 0; i < left; i++)
		learn(u, u->todo[i], NONE);
	for (uint32_t i = 0; i < u->n_moved; i++) {
		uint32_t v = u->moved[i];

		set_entry(u, v, is_lost(u, v) ? lost_entry(u, v) :
			  lft_get(u->next, u->g->sw[v], u->lid));
	}
}

static void give_ways(struct run *u)
{
	bool host = u->rp->owners[u->lid].host;

	for (uint32_t i = 0; i < u->n_moved; i++) {
		uint32_t v = u->moved[i], link = choose_link(u, v);

		u->load[base_step(u, v).link] -= host;
		if (link == FABRIC_NONE) {
			set_entry(u, v, lost_entry(u, v));
			lose(u, v);
			continue;
		}
		set_entry(u, v, u->g->links[link]);
		u->load[link] += host;
	}
}

/* --- one LID --- */

/* Sets the entries that an earlier repair changed back to the base's. */
static void restore_lid(struct run *u)
{
	find_moved(u);
	for (uint32_t i = 0; i < u->n_moved; i++)
		set_entry(u, u->moved[i], base_row(u->rp, u->moved[i])[u->lid]);
	forget(u);
}

static void repair_lid(struct run *u)
{
	const struct owner *owner = &u->rp->owners[u->lid];

	find_moved(u);
	if (u->kind[owner->v] == UNKNOWN) {
		u->len[owner->v] = 0;
		learn(u, owner->v,
		      base_row(u->rp, owner->v)[u->lid] == owner->port ? DOWN : NONE);
	}
	/* no live link leads there: no vertex has a route */
	if (u->l->here[owner->v])
		find_ways(u);
	give_ways(u);
	find_ways_by_turns(u);
	forget(u);
}

/* --- all --- */

/* Finds the live routes to the hub, as if the hub were a destination and all vertices were moved. */
static void find_hub_links(struct run *u)
{
	const struct updn_order *o = u->rp->o;
	struct choice c;

	if (!o || !o->layered || !o->hub_safe || !u->l->here[o->hub])
		return;
	u->to_hub = xcalloc(u->g->n, sizeof(*u->to_hub));
	for (uint32_t v = 0; v < u->g->n; v++) {
		if (v != o->hub)
			move(u, v);
		else
			learn(u, v, DOWN);
	}
	u->len[o->hub] = 0;
	find_legal_ways(u);
	for (uint32_t v = 0; v < u->g->n; v++) {
		u->to_hub[v] = FABRIC_NONE;
		if (v == o->hub || u->kind[v] == MOVED)
			continue;
		find_links(u, v, &c);
		u->to_hub[v] = c.link[0];
	}
	forget(u);
}

/* Marks the LIDs that the base sends into dead links. */
static void mark_lids(const struct repair *rp, const struct living *l, uint64_t *lids)
{
	for (uint32_t i = 0; i < l->n_cut; i++) {
		uint32_t v = l->cut[i];
		const uint8_t *row = base_row(rp, v);
		bool dead[256];

		for (unsigned port = 0; port < 256; port++) {
			uint32_t link = channel_by_port(rp->c, v, (uint8_t)port).link;

			dead[port] = link != FABRIC_NONE && l->dead[link];
		}
		for (uint32_t lid = 1; lid <= rp->base->top; lid++)
			if (dead[row[lid]] && rp->owners[lid].v != FABRIC_NONE)
				lids[lid / 64] |= 1ULL << lid % 64;
	}
}

/* Does something for the LID, of whose switch links are living that are dead for the LIDs of others. */
static void with_living(struct run *u, struct living *l, void (*act)(struct run *u))
{
	uint32_t v = u->rp->owners[u->lid].v;

	living_open(l, u->c, v, true);
	u->l = l;
	act(u);
	living_open(l, u->c, v, false);
}

static void run_lids(struct run *u, struct living *before, struct living *now)
{
	uint32_t words = u->next->top / 64 + 1u;
	uint64_t *old = xcalloc(words, sizeof(*old)), *new = xcalloc(words, sizeof(*new));
	uint32_t n = 0;

	mark_lids(u->rp, before, old);
	mark_lids(u->rp, now, new);
	for (uint32_t i = 0; i < words; i++)
		n += (uint32_t)__builtin_popcountll(old[i] | new[i]);
	u->out->lids = xcalloc(n, sizeof(*u->out->lids));
	for (uint32_t i = 0; i < words; i++)
		for (uint64_t left = old[i] | new[i]; left; left &= left - 1) {
			uint64_t bit = left & -left;

			u->lid = (uint16_t)(i * 64 + (uint32_t)__builtin_ctzll(left));
			u->out->lids[u->out->n_lids++] = u->lid;
			if (old[i] & bit)
				with_living(u, before, restore_lid);
			u->l = now;
			if (new[i] & bit)
				with_living(u, now, repair_lid);
		}
	free(old);
	free(new);
}

static void list_blocks(const struct run *u, const struct lfts *was, uint64_t words)
{
	uint32_t per_switch = was->stride / LFT_BLOCK;
	VEC(struct lft_block) blocks = { 0 };

	for (uint64_t i = 0; i < words; i++)
		for (uint64_t left = u->touched[i]; left; left &= left - 1) {
			uint64_t at = i * 64 + (uint32_t)__builtin_ctzll(left);
			uint32_t sw = (uint32_t)(at / per_switch);

			if (!u->l->here[u->c->vertex[sw]] ||
			    !memcmp(was->entries + at * LFT_BLOCK,
				    u->next->entries + at * LFT_BLOCK, LFT_BLOCK))
				continue;
			*vec_push(&blocks) =
				(struct lft_block){ sw, (uint16_t)(at % per_switch) };
		}
	u->out->blocks = blocks.v ? blocks.v : xmalloc(0);
	u->out->n_blocks = (uint32_t)blocks.n;
}

void repair_run(const struct repair *rp, const struct lfts *was, const struct link_end *before,
		uint32_t n_before, const struct link_end *now, uint32_t n_now,
		struct repaired *out)
{
	uint32_t n = rp->g->n;
	uint64_t words = ((uint64_t)n * (was->stride / LFT_BLOCK) + 63) / 64;
	struct living then, l;
	struct run u = { .rp = rp, .c = rp->c, .g = rp->g, .l = &l, .out = out };

	*out = (struct repaired){ .ok = rp->fits };
	out->next = u.next = lfts_copy(was);
	living_init_without(&then, rp->c, rp->gone, rp->n_gone, before, n_before);
	living_init_without(&l, rp->c, rp->gone, rp->n_gone, now, n_now);
	u.load = xmemdup(rp->load, rp->g->n_links * sizeof(*u.load));
	u.touched = xcalloc(words, sizeof(*u.touched));
	u.kind = xcalloc(n, sizeof(*u.kind));
	u.len = xcalloc(n, sizeof(*u.len));
	u.seen = xcalloc(n, sizeof(*u.seen));
	u.moved = xcalloc(n, sizeof(*u.moved));
	u.sorter = xcalloc(n / 64 + 1u, sizeof(*u.sorter));
	u.stack = xcalloc(n, sizeof(*u.stack));
	u.chain = xcalloc(n, sizeof(*u.chain));
	u.todo = xcalloc(n, sizeof(*u.todo));
	find_hub_links(&u);
	run_lids(&u, &then, &l);
	list_blocks(&u, was, words);
	/*
	 * The search counts dead links too: they may be back before a kept entry is changed.  With no link
	 * dead the tables are the base's, whose turns an up/down engine chose to close no cycle.
	 */
	out->ok = out->ok && !(rp->risky && l.n_cut && route_has_cycle(&rp->r, out->next));
	out->turned = u.stranded != NULL;
	stranded_free(u.stranded);
	free(u.todo);
	free(u.chain);
	free(u.stack);
	free(u.sorter);
	free(u.moved);
	free(u.seen);
	free(u.len);
	free(u.kind);
	free(u.touched);
	free(u.load);
	free(u.to_hub);
	living_free(&l);
	living_free(&then);
}

void repaired_free(struct repaired *r)
{
	lfts_free(r->next);
	free(r->lids);
	free(r->blocks);
}
