/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See base_routes.h. */
#include <stdlib.h>
#include <string.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "plan/routes/base_routes.h"
#include "plan/routes/choose_engine.h"
#include "plan/routes/lft_caps.h"
#include "routing/tree.h"
#include "routing/updn/order.h"

static const struct src_pos nowhere;

/* --- the known fabric --- */

/* [node of `from`]: the node of `to` with the same GUID and type, or FABRIC_NONE. */
static uint32_t *match_nodes(const struct fabric *from, const struct fabric *to)
{
	uint32_t *map = xmalloc(from->n_nodes * sizeof(*map));

	for (uint32_t i = 0; i < from->n_nodes; i++)
		map[i] = fabric_same_node(to, &from->nodes[i]);
	return map;
}

static bool link_is_known(const struct fabric *f, const struct fabric *known, const uint32_t *map,
			  uint32_t port)
{
	return known->ports[fabric_port_by_map(f, known, map, port)].peer ==
	       fabric_port_by_map(f, known, map, f->ports[port].peer);
}

/* The known fabric contains all of f as it is. */
static bool all_is_known(const struct fabric *f, const struct fabric *known, const uint32_t *map)
{
	if (fabric_port_by_map(f, known, map, f->self) != known->self)
		return false;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (map[i] == FABRIC_NONE)
			return false;
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].peer != FABRIC_NONE && !link_is_known(f, known, map, i))
			return false;
	return true;
}

static bool add_nodes(const struct fabric *f, struct fabric *known)
{
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct fabric_node *n = &f->nodes[i];
		uint32_t k = map64_get(&known->node_by_guid, n->guid);

		if (k == MAP64_NONE)
			k = fabric_add_node(known, n->info, n->desc,
					    n->sw == FABRIC_NONE ? NULL : f->switches[n->sw].info,
					    NULL, 0);
		if (k == FABRIC_NONE || known->nodes[k].nports != n->nports ||
		    known->nodes[k].type != n->type)
			return false;
		for (unsigned num = 0; num <= n->nports; num++) {
			const struct fabric_port *p = fabric_port(f, i, num);

			if (p->present)
				fabric_set_port(known, k, num, p->guid, p->info);
		}
	}
	return true;
}

/* The known fabric contains all of f, link by link, and possibly more. */
static bool holds_all(const struct fabric *known, const struct fabric *f)
{
	uint32_t *map = match_nodes(f, known);
	bool all = all_is_known(f, known, map);

	free(map);
	return all;
}

/*
 * The known fabric with f laid over it; a copy of f if the two contradict each other.  The result
 * contains all of f: the base needs tables at least for f's switches and LIDs.
 */
static struct fabric *learn(const struct fabric *before, const struct fabric *f)
{
	struct fabric *known = fabric_clone(before), *settled = NULL;
	struct buf err = { 0 };
	uint32_t *map;

	known->self = FABRIC_NONE;
	if (add_nodes(f, known)) {
		map = match_nodes(f, known);
		known->self = fabric_port_by_map(f, known, map, f->self);
		for (uint32_t i = 0; i < f->n_ports; i++) {
			uint32_t a = fabric_port_by_map(f, known, map, i), b;

			if (f->ports[i].peer == FABRIC_NONE || link_is_known(f, known, map, i))
				continue;
			b = fabric_port_by_map(f, known, map, f->ports[i].peer);
			fabric_cut(known, a);
			fabric_cut(known, b);
			fabric_link(known, known->ports[a].node, known->ports[a].num,
				    known->ports[b].node, known->ports[b].num);
		}
		free(map);
		/* node 0 is the SM's in every fabric */
		if (known->ports[known->self].node == 0)
			settled = fabric_settle(known, &err);
		/* settling drops nodes that no link leads to */
		if (settled && !holds_all(settled, f)) {
			fabric_free(settled);
			settled = NULL;
		}
	}
	fabric_free(known);
	buf_free(&err);
	return settled ? settled : fabric_clone(f);
}

/* --- the base --- */

static void base_unref(struct base_routes *b)
{
	if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
		return;
	repair_free(b->repair);
	channels_free(b->channels);
	lfts_free(b->lfts);
	route_layers_free(b->layers);
	updn_order_free(b->order);
	engine_choice_free(b->choice);
	findings_free(&b->findings);
	free(b->lid);
	free(b->lmc);
	fabric_free(b->f);
	free(b);
}

/*
 * Runs the named engines, in order of preference, until one can route; NULL: none can, and *out
 * drops everything.
 */
static const struct route_engine *run_engines(const char *const *names, const char *file,
					      const struct route_request *r, struct lfts **out,
					      struct route_layers **layers,
					      struct findings *findings)
{
	const struct route_engine *did = NULL;
	struct buf why = { 0 };

	*layers = NULL;
	*out = lfts_new(r->f->n_switches, r->lid_top);
	for (const char *const *name = names; *name && !did; name++) {
		const struct route_engine *e = route_engine_find(*name);

		why.n = 0;
		if (e && e->run(r, *out, layers, &why)) {
			did = e;
			continue;
		}
		findings_add(findings, SEV_WARNING, file, nowhere,
			     "routing engine %s is skipped: %s", *name,
			     !e ? "there is no such engine" :
			     why.n ? why.s : "it cannot route this fabric");
		if (e) {
			lfts_free(*out);
			*out = lfts_new(r->f->n_switches, r->lid_top);
		}
	}
	buf_free(&why);
	return did;
}

static struct route_request request_of_base(const struct base_routes *b)
{
	return (struct route_request){ .f = b->f, .lid = b->lid, .lmc = b->lmc,
				       .lid_top = b->lid_top, .order = b->order,
				       .most_layers = b->most_layers,
				       .most_shared = b->most_shared };
}

/* Takes the LIDs of present ports, and the remembered LIDs of absent ones if nobody else has them. */
static void take_lids(struct base_routes *b, const struct plan *p, const struct lid_map *known)
{
	uint32_t *to_now = match_nodes(b->f, p->f);
	uint8_t *taken = xcalloc(IB_LID_MCAST_FIRST, 1);

	b->lid = xcalloc(b->f->n_ports, sizeof(*b->lid));
	b->lmc = xcalloc(b->f->n_ports, sizeof(*b->lmc));
	for (uint32_t i = 0; i < b->f->n_ports; i++) {
		uint32_t now = fabric_port_by_map(b->f, p->f, to_now, i), lid, lmc, n;

		if (now != FABRIC_NONE && p->lid[now]) {
			b->lid[i] = p->lid[now];
			b->lmc[i] = p->lmc[now];
			continue;
		}
		if (!known || !port_is_end(b->f, i))
			continue;
		lid = map64_get(&known->by_guid, b->f->ports[i].guid);
		lmc = map64_get(&known->lmc_by_guid, b->f->ports[i].guid);
		if (lid == MAP64_NONE || lmc > IB_LMC_MAX)
			continue;
		n = 1u << lmc;
		if (lid + n - 1 > p->lid_limit)
			continue;
		while (n && lid + n <= IB_LID_MCAST_FIRST && !taken[lid + n - 1] &&
		       p->port_by_lid[lid + n - 1] == FABRIC_NONE)
			n--;
		if (n)
			continue;
		memset(taken + lid, 1, 1u << lmc);
		b->lid[i] = (uint16_t)lid;
		b->lmc[i] = (uint8_t)lmc;
	}
	free(taken);
	free(to_now);
	for (uint32_t i = 0; i < b->f->n_ports; i++)
		if (b->lid[i] && b->lid[i] + (1u << b->lmc[i]) - 1 > b->lid_top)
			b->lid_top = (uint16_t)(b->lid[i] + (1u << b->lmc[i]) - 1);
}

static unsigned most_layers(const struct plan *p, const struct fabric *f, struct buf *why)
{
	return sl_plan_most(p->policy, f, p->settings->max_op_vls, why);
}

/* Makes the base's routes, by the engines in the settings or by the best one. */
static void route_base(struct base_routes *b, const struct settings *s, const char *room)
{
	struct route_request r = request_of_base(b);

	if (routing_is_auto(s)) {
		b->choice = choose_engine(&r, &b->shape, room, &b->lfts, &b->layers);
		b->engine = b->choice->engine;
	} else {
		b->engine = run_engines((const char *const *)s->engines, s->file, &r, &b->lfts, &b->layers,
					&b->findings);
	}
}

static struct base_routes *base_make(const struct plan *p, const struct fabric *before,
				     const struct lid_map *known)
{
	struct base_routes *b = xcalloc(1, sizeof(*b));
	struct buf room = { 0 };
	struct route_request r;

	atomic_init(&b->refs, 1);
	b->f = before ? learn(before, p->f) : fabric_clone(p->f);
	for (uint32_t i = 0; i < b->f->n_ports; i++)
		b->f->ports[i].held = false;	/* a link is held only for the moment */
	fabric_keep_blocks(b->f, NULL, 0);	/* and so are kept blocks */
	take_lids(b, p, known);
	b->order = updn_order_new(b->f);
	route_shape(b->order, &b->shape);
	b->most_layers = most_layers(p, b->f, &room);
	b->most_shared = sl_plan_most_shared(p->policy, b->f, p->settings->max_op_vls);
	route_base(b, p->settings, room.s);
	buf_free(&room);
	r = request_of_base(b);
	b->channels = channels_new(b->f, b->order);
	b->repair = repair_new(&r, b->channels, base_order(b), b->lfts, true);
	return b;
}

/* The policy leaves room for another number of layers than before, which the base's routes depend on. */
static bool room_changed(const struct base_routes *b, const struct plan *p)
{
	struct buf why = { 0 };
	bool changed = (b->layers || (b->choice && !b->choice->tree)) &&
		       (most_layers(p, b->f, &why) != b->most_layers ||
			sl_plan_most_shared(p->policy, b->f, p->settings->max_op_vls) != b->most_shared);

	buf_free(&why);
	return changed;
}

/* The base has all of p's fabric, with the same LIDs. */
static bool base_serves(const struct base_routes *b, const struct plan *p, const uint32_t *map)
{
	if (!all_is_known(p->f, b->f, map))
		return false;
	if (room_changed(b, p))
		return false;
	for (uint32_t i = 0; i < p->f->n_ports; i++) {
		uint32_t k = fabric_port_by_map(p->f, b->f, map, i);

		/* a port without a link has no LID for now */
		if (p->lid[i] && (b->lid[k] != p->lid[i] || b->lmc[k] != p->lmc[i]))
			return false;
	}
	return true;
}

/* --- the routes of the moment --- */

/* Lists one end of a link that is there, if it is held or a drained switch is behind it. */
static void find_drained(struct routes_now *x, const struct fabric *f, uint32_t port,
			 const struct link_end *end)
{
	const struct fabric_port *p = &f->ports[port];
	bool away = p->drained == DRAINED_AWAY;

	/* a link is held for a drained switch in both directions, but its own routes use it */
	if (away || (p->held && f->ports[p->peer].drained != DRAINED_AWAY))
		*vec_push(&x->dead) = (struct link_end){
			end->sw, end->port, away || p->drained == DRAINED_LINK, away };
}

/* Lists the ends of isolated links, first of all dead ones. */
static void list_isolated(struct routes_now *x, const bool *isolated)
{
	const struct fabric *known = x->base->f;

	for (uint32_t i = 0; isolated && i < known->n_ports; i++)
		if (isolated[i])
			*vec_push(&x->dead) = (struct link_end){ .sw = port_node(known, i)->sw,
								 .port = known->ports[i].num };
	x->n_isolated = x->dead.n;
}

/* Links between switches that are in the base, and in f missing or held. */
static void find_dead(struct routes_now *x, const struct fabric *f, const uint32_t *map)
{
	const struct fabric *known = x->base->f;
	bool *isolated = isolated_links(known, f, map);

	list_isolated(x, isolated);
	for (uint32_t sw = 0; sw < known->n_switches; sw++) {
		const struct fabric_node *n = &known->nodes[known->switches[sw].node];

		for (unsigned num = 1; num <= n->nports; num++) {
			uint32_t port = n->port0 + num, peer = known->ports[port].peer, now;

			if (!link_joins_switches(known, port) || (isolated && isolated[port]))
				continue;
			now = fabric_port_by_map(known, f, map, port);
			if (now == FABRIC_NONE || f->ports[now].peer == FABRIC_NONE ||
			    f->ports[now].peer != fabric_port_by_map(known, f, map, peer))
				*vec_push(&x->dead) = (struct link_end){ .sw = sw, .port = (uint8_t)num };
			else
				find_drained(x, f, now, &(struct link_end){ .sw = sw, .port = (uint8_t)num });
		}
	}
	free(isolated);
}

static void map_switches(struct routes_now *x, const struct fabric *f, const uint32_t *map)
{
	const struct fabric *known = x->base->f;

	x->switches = xmalloc(known->n_switches * sizeof(*x->switches));
	for (uint32_t sw = 0; sw < known->n_switches; sw++) {
		uint32_t node = map[known->switches[sw].node];

		x->switches[sw] = node == FABRIC_NONE ? FABRIC_NONE : f->nodes[node].sw;
	}
}

/* Reorders tables from the base's switches to those of p's fabric. */
static struct lfts *rows_of(const struct plan *p, const struct lfts *from)
{
	struct lfts *l = lfts_new(p->f->n_switches, from->top);

	for (uint32_t sw = 0; sw < from->n_switches; sw++)
		if (p->now->switches[sw] != FABRIC_NONE)
			memcpy(l->entries + (size_t)p->now->switches[sw] * l->stride,
			       from->entries + (size_t)sw * from->stride, from->stride);
	return l;
}

/* The base's layers for the switches that are present; NULL: it has none. */
static struct route_layers *base_layers(const struct plan *p)
{
	const struct route_layers *from = p->now->base->layers;

	return from ? route_layers_on(from, p->f->n_switches, p->now->switches) : NULL;
}

struct route_layers *routes_layers(const struct plan *p)
{
	uint32_t *known, n = p->now->base->f->n_switches;
	struct route_layers *y;

	if (!p->layers)
		return NULL;
	known = xmalloc((p->f->n_switches + 1u) * sizeof(*known));
	for (uint32_t sw = 0; sw < p->f->n_switches; sw++)
		known[sw] = FABRIC_NONE;
	for (uint32_t sw = 0; sw < n; sw++)
		if (p->now->switches[sw] != FABRIC_NONE)
			known[p->now->switches[sw]] = sw;
	y = route_layers_on(p->layers, n, known);
	free(known);
	return y;
}

/* The reverse of rows_of(), for tables that do not come from the repair. */
static struct lfts *rows_in_base(const struct plan *p)
{
	struct lfts *l = lfts_copy(p->now->repaired.next);

	for (uint32_t sw = 0; sw < l->n_switches; sw++)
		if (p->now->switches[sw] != FABRIC_NONE)
			memcpy(l->entries + (size_t)sw * l->stride,
			       p->lfts->entries + (size_t)p->now->switches[sw] * p->lfts->stride,
			       l->stride);
	return l;
}

/* An engine does not keep its repaired tables free of credit loops, and these have one. */
static bool repair_loops(const struct plan *p)
{
	const struct base_routes *b = p->now->base;
	struct route_request r = { .f = p->f, .lid = p->lid, .lmc = p->lmc, .lid_top = p->lid_top };
	struct route_report report;
	struct lfts *l;
	bool loops;

	if (!b->choice || !b->engine || engine_stays_free(b->engine))
		return false;
	l = rows_of(p, p->now->repaired.next);
	route_verify(&r, l, &report);
	loops = report.credit_loop;
	route_report_free(&report);
	lfts_free(l);
	return loops;
}

/* The repair as it was made, but known to be free of credit loops. */
static bool is_repaired(const struct plan *p)
{
	return p->now->repaired.ok && !repair_loops(p);
}

/* Repairs the routes for x->dead; was: the previous moment, if it has the same base, or NULL. */
static void repair(struct plan *p, const struct routes_now *was)
{
	struct routes_now *x = p->now;
	const struct isolated_base *i = x->isolated && x->isolated->repair ? x->isolated : NULL;
	size_t done = i ? x->n_isolated : 0;	/* of x->dead, and of was->dead if both begin alike */

	x->follows = was && was->isolated == x->isolated;
	if (!x->follows)
		was = NULL;
	repaired_free(&x->repaired);
	repair_run(i ? i->repair : x->base->repair, was ? was->repaired.next : i ? i->repaired.next : x->base->lfts,
		   was ? was->dead.v + done : NULL, was ? (uint32_t)(was->dead.n - done) : 0,
		   x->dead.v + done, (uint32_t)(x->dead.n - done), &x->repaired);
}

/* Moves the links that are held for a drain from x->dead to the list of drained ones. */
static void take_drained(struct plan *p)
{
	struct routes_now *x = p->now;
	const struct fabric *known = x->base->f;
	size_t kept = 0;

	for (const struct link_end *e = x->dead.v; e < vec_end(&x->dead); e++) {
		uint32_t port = known->nodes[known->switches[e->sw].node].port0 + e->port;
		uint32_t peer = known->ports[port].peer;
		struct link_end far = { port_node(known, peer)->sw, known->ports[peer].num, true, false };

		if (!e->open)
			x->dead.v[kept++] = *e;
		else if (e->away)
			*vec_push(&x->drained.v) = (struct drained_link){ .ends = { *e, *e } };
		else if (port < peer)		/* the link is in the list by both ends */
			*vec_push(&x->drained.v) = (struct drained_link){ .ends = { *e, far } };
	}
	x->dead.n = kept;
}

/* Adds the drained links that are not used to the `missing` dead ones. */
static void bury_drained(struct routes_now *x, const struct drained_links *l, size_t missing)
{
	x->dead.n = missing;
	for (size_t i = 0; i < l->v.n; i++)
		for (unsigned end = 0; end < 2 && !l->v.v[i].used; end++)
			*vec_push(&x->dead) = l->v.v[i].ends[end];
}

struct drain_trial {
	struct plan *p;
	size_t missing;
};

static bool repairs_without(void *arg, const struct drained_links *l)
{
	const struct drain_trial *t = arg;

	bury_drained(t->p->now, l, t->missing);
	repair(t->p, NULL);
	return is_repaired(t->p);
}

/*
 * The repair fails.  If it succeeds with fewer drained links dead, these links are used; else the
 * drains are not to blame, and an engine goes round all of them.
 */
static void use_drained(struct plan *p, const struct routes_now *was)
{
	struct routes_now *x = p->now;
	struct drain_trial t = { .p = p };

	take_drained(p);
	if (!x->drained.v.n)
		return;
	t.missing = x->dead.n;
	if (!drained_choose(&x->drained, repairs_without, &t))
		for (size_t i = 0; i < x->drained.v.n; i++)
			x->drained.v.v[i].used = false;
	bury_drained(x, &x->drained, t.missing);
	repair(p, was);
}

bool routes_give_back_drained(const struct plan *p, struct fabric *f)
{
	const struct routes_now *x = p->now;
	bool any = false;

	for (size_t i = 0; x && i < x->drained.v.n; i++) {
		const struct link_end *e = &x->drained.v.v[i].ends[0];
		struct fabric_port *port;

		if (!x->drained.v.v[i].used)
			continue;
		port = fabric_port(f, f->switches[x->switches[e->sw]].node, e->port);
		port->held = f->ports[port->peer].held = false;
		port->drained = DRAINED_NOT;
		if (!e->away)
			f->ports[port->peer].drained = DRAINED_NOT;
		any = true;
	}
	return any;
}

/*
 * The engines for a fabric that the base's routes do not serve: those of the settings or, with
 * `auto`, the engine that was chosen for the base.  Keeping that one changes as few routes as
 * possible after a fault; up/down takes over where it cannot route.
 */
static void engines_now(const struct plan *p, const char *names[ENGINES_MAX + 1])
{
	const struct base_routes *b = p->now->base;
	int n = 0;

	if (!b->choice) {
		memcpy(names, p->settings->engines, sizeof(p->settings->engines));
		return;
	}
	if (b->engine && engine_stays_free(b->engine))
		names[n++] = b->engine->name;
	if (b->engine != &route_updn)
		names[n++] = route_updn.name;
	names[n] = NULL;
}

/*
 * Routes f, which is p's fabric or that without some links, by an order of f.  If the base has
 * layers, stays near to it: connections keep the SLs that they were given.
 */
static void route_on(struct plan *p, const struct fabric *f, struct updn_order *order,
		     struct findings *findings)
{
	const char *names[ENGINES_MAX + 1];
	const struct route_engine *e;
	struct route_layers *near_layers = base_layers(p);
	struct lfts *near = near_layers ? rows_of(p, p->now->base->lfts) : NULL;
	struct route_request r = { .f = f, .lid = p->lid, .lmc = p->lmc, .lid_top = p->lid_top,
				   .order = order, .most_layers = p->now->base->most_layers,
				   .most_shared = p->now->base->most_shared,
				   .near = near, .near_layers = near_layers };

	if (!near) {
		repaired_free(&p->now->repaired);
		p->now->repaired = (struct repaired){ 0 };
	}
	p->now->other_order = true;
	route_layers_free(p->layers);
	engines_now(p, names);
	e = run_engines(names, p->settings->file, &r, &p->lfts, &p->layers, findings);
	/* an SL given to hosts must remain a layer's, and VLs must suffice for as many layers */
	if (near && p->layers && !p->layers->link && !near_layers->link && p->layers->n < near_layers->n)
		p->layers->n = p->layers->n_vl_sets = near_layers->n;
	lfts_free(near);
	route_layers_free(near_layers);
	p->engine = e ? e->name : "none";
}

/* Routes the present fabric without the base. */
static void route_anew(struct plan *p)
{
	p->order = updn_order_new(p->f);
	route_shape(p->order, &p->shape);
	route_on(p, p->f, p->order, &p->findings);
}

/*
 * A repair cannot handle layers: the engine itself stays near to the base, by the base's order or,
 * if that does not connect all switches any more, by a similar one.  False: there is none.  map:
 * match_nodes() of the base's and p's fabric.
 */
static bool route_layers_near(struct plan *p, const uint32_t *map)
{
	struct updn_order *o = updn_order_on(p->now->base->order, p->f, p->now->switches);
	bool other = !p->now->base->layers->tree && !updn_order_connects(o);

	if (other) {
		struct updn_order *mended = updn_order_mend(o);

		updn_order_free(o);
		o = mended;
	}
	if (!o)
		return false;
	p->order = o;
	route_shape_on(o, &p->now->base->shape, map, &p->shape);
	route_on(p, p->f, o, &p->findings);
	p->now->other_order = other;
	return true;
}

/* Replaces p's routes by routes for f, its fabric with more links held. */
static void route_without(struct plan *p, const struct fabric *f)
{
	struct updn_order *order = updn_order_new(f);
	uint32_t *same = xmalloc((f->n_switches + 1u) * sizeof(*same));
	struct findings known = { 0 };		/* failing engines were reported before */

	lfts_free(p->lfts);
	updn_order_free(p->order);
	route_on(p, f, order, &known);
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		same[sw] = sw;
	p->order = updn_order_on(order, p->f, same);
	route_shape(order, &p->shape);
	findings_free(&known);
	updn_order_free(order);
	free(same);
}

/*
 * The fabric known in the previous run; NULL if most of it is absent: then it was another fabric,
 * or one that is gone for good.
 */
static const struct fabric *known_before(const struct fabric *f, const struct lid_map *known)
{
	uint32_t *map, n = 0;

	if (!known || !known->fabric)
		return NULL;
	map = match_nodes(known->fabric, f);
	for (uint32_t i = 0; i < known->fabric->n_nodes; i++)
		n += map[i] != FABRIC_NONE;
	free(map);
	return 2 * n >= known->fabric->n_nodes ? known->fabric : NULL;
}

bool routes_follow(const struct plan *p, const struct plan *before)
{
	return before && before->now && before->now->base == p->now->base &&
	       !before->short_switches && !p->short_switches &&
	       !before->fixed_switches && !p->fixed_switches &&
	       before->now->repaired.next;
}

void routes_make(struct plan *p, const struct plan *before, const struct lid_map *known)
{
	struct base_routes *old = before && before->now ? before->now->base : NULL;
	struct routes_now *x = p->now = xcalloc(1, sizeof(*x));
	uint32_t *map = old ? match_nodes(p->f, old->f) : NULL;
	const struct routes_now *was = NULL;

	if (old && base_serves(old, p, map)) {
		x->base = old;
		atomic_fetch_add(&old->refs, 1);
	} else {
		x->base = base_make(p, old ? old->f : known_before(p->f, known), known);
	}
	free(map);
	map = match_nodes(x->base->f, p->f);
	find_dead(x, p->f, map);
	map_switches(x, p->f, map);
	p->lid_top = x->base->lid_top;
	if (before && before->now && before->now->base == x->base)
		was = before->now;
	if (!x->base->layers)
		x->isolated = isolated_base_get(x->base->repair, x->base->lfts, x->dead.v, (uint32_t)x->n_isolated,
						was ? was->isolated : NULL);
	if (was && !was->repaired.next)
		was = NULL;
	repair(p, was);
	if (x->dead.n && !x->base->layers && !is_repaired(p))
		use_drained(p, was);
	if (x->dead.n && x->base->layers) {
		if (!route_layers_near(p, map))
			route_anew(p);
	} else if (x->dead.n && !is_repaired(p)) {
		route_anew(p);
	} else {
		p->order = updn_order_on(x->base->order, p->f, x->switches);
		route_shape_on(p->order, &x->base->shape, map, &p->shape);
		p->engine = x->base->engine ? x->base->engine->name : "none";
		findings_copy(&p->findings, &x->base->findings);
		p->lfts = rows_of(p, x->repaired.next);
		p->layers = base_layers(p);
	}
	free(map);
	routes_fit(p, route_without);
	if (x->repaired.next && (p->silent_switches || (x->dead.n && x->base->layers)))
		x->round = rows_in_base(p);
	if (p->layers && p->layers->tree)
		p->tree = tree_order(p->f, p->layers->tree);
	if (!strcmp(p->engine, "none"))
		findings_add(&p->findings, SEV_ERROR, p->settings->file, nowhere,
			     "none of the routing engines can route this fabric");
}

void routes_free(struct plan *p)
{
	if (!p->now)
		return;
	repaired_free(&p->now->repaired);
	vec_free(&p->now->dead);
	vec_free(&p->now->drained.v);
	vec_free(&p->now->stale);
	lfts_free(p->now->round);
	free(p->now->switches);
	isolated_base_unref(p->now->isolated);
	base_unref(p->now->base);
	free(p->now);
}
