/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks forwarding tables for unreachable LIDs and credit loops, whichever engine made them.
 *
 * For each LID the tables make every switch point to the next, so the walk visits each switch once per
 * LID.  A channel is one direction of a link between switches.  A packet that holds one channel and waits
 * for the next makes the first depend on the second (Dally and Seitz), and a cycle of such dependencies is
 * a credit loop.  Dependencies are bits (in port, out port) of each switch.
 *
 * Where layers share VL sets (layers.h), each VL set of a direction is a channel, and the bits are (VL set of in
 * port, VL set of out port).
 *
 * The proof keeps what the walks of each LID found.  When tables change a little, only the LIDs whose
 * routes changed are walked again.  Dependencies can then be added, but not removed: if the larger set has
 * no cycle, neither has the real one; if it has a cycle, all LIDs are walked anew.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/layers.h"
#include "routing/verify.h"

/* State of a switch during the walks of one LID; 1 .. DEAD_END - 1: switches left to the destination. */
enum { UNSEEN = 0, ON_WALK = UINT16_MAX, COMES_BACK = UINT16_MAX - 1, DEAD_END = UINT16_MAX - 2 };

/* The walks over one fabric's tables.  A port number here is first[sw] + port. */
struct walker {
	const struct fabric *f;
	const struct lfts *l;
	uint32_t n;
	uint32_t *first;	/* [switch]: number of its port 0 */
	uint32_t *next;		/* [port]: switch at the far end, FABRIC_NONE if there is none */
	uint8_t *far_num;	/* [port]: port number of the far end */
	/* VL sets per port that have dependencies of their own; 1 if layers share no VL sets */
	unsigned n_vl_sets;
	uint64_t *deps;
	size_t *deps_at;	/* [switch]: index of its first word in `deps` */
	size_t deps_words;
	uint32_t *sources;	/* switches from which hosts send, or all switches */
	uint32_t n_sources;
	uint32_t *inner;	/* the other switches */
	uint32_t n_inner;
	uint32_t home;		/* switch that the SM is on or behind, or FABRIC_NONE */
	uint16_t *togo;		/* [switch]: state in the walks of the current LID */
	uint32_t *stack;
};

static unsigned n_ports(const struct walker *w, uint32_t sw)
{
	return w->first[sw + 1] - w->first[sw];
}

/* Number of VL sets of all ports of a switch; VL set l of port p has the number p * n_vl_sets + l. */
static unsigned n_port_vl_sets(const struct walker *w, uint32_t sw)
{
	return n_ports(w, sw) * w->n_vl_sets;
}

/* Words in a row: one bit per VL set of the out ports, for one VL set of an in port. */
static size_t row_words(const struct walker *w, uint32_t sw)
{
	return (n_port_vl_sets(w, sw) + 63u) / 64;
}

static uint64_t *deps_row(const struct walker *w, uint32_t sw, unsigned in)
{
	return w->deps + w->deps_at[sw] + in * row_words(w, sw);
}

static void add_ports(struct walker *w, uint32_t sw, uint32_t at)
{
	const struct fabric_node *node = &w->f->nodes[w->f->switches[sw].node];

	for (unsigned num = 0; num <= node->nports; num++) {
		uint32_t peer = w->f->ports[node->port0 + num].peer;

		w->next[at + num] = FABRIC_NONE;
		if (num == 0 || peer == FABRIC_NONE)
			continue;
		w->next[at + num] = port_node(w->f, peer)->sw;
		w->far_num[at + num] = w->f->ports[peer].num;
	}
}

bool route_is_source(const struct fabric *f, uint32_t sw)
{
	const struct fabric_node *node = &f->nodes[f->switches[sw].node];

	if (f->self != FABRIC_NONE && f->ports[f->self].node == f->switches[sw].node)
		return true;
	for (unsigned num = 1; num <= node->nports; num++) {
		uint32_t peer = f->ports[node->port0 + num].peer;

		if (peer != FABRIC_NONE && port_is_host(f, peer))
			return true;
	}
	return false;
}

/* n_vl_sets: as in struct walker. */
static void walker_init(struct walker *w, const struct fabric *f, const struct lfts *l,
			unsigned n_vl_sets, bool from_all)
{
	uint32_t n = f->n_switches;
	size_t words = 0;

	*w = (struct walker){ .f = f, .l = l, .n = n, .n_vl_sets = n_vl_sets };
	w->first = xcalloc(n + 1, sizeof(*w->first));
	w->deps_at = xcalloc(n, sizeof(*w->deps_at));
	w->sources = xcalloc(n, sizeof(*w->sources));
	w->inner = xcalloc(n, sizeof(*w->inner));
	w->home = f->self == FABRIC_NONE ? FABRIC_NONE : fabric_switch_of(f, f->self);
	w->togo = xcalloc(n, sizeof(*w->togo));
	w->stack = xcalloc(n, sizeof(*w->stack));
	for (uint32_t sw = 0; sw < n; sw++) {
		unsigned slots = f->nodes[f->switches[sw].node].nports + 1u;

		w->first[sw + 1] = w->first[sw] + slots;
		w->deps_at[sw] = words;
		words += n_port_vl_sets(w, sw) * row_words(w, sw);
		if (from_all || route_is_source(f, sw))
			w->sources[w->n_sources++] = sw;
		else
			w->inner[w->n_inner++] = sw;
	}
	w->deps = xcalloc(words, sizeof(*w->deps));
	w->deps_words = words;
	w->next = xcalloc(w->first[n], sizeof(*w->next));
	w->far_num = xcalloc(w->first[n], sizeof(*w->far_num));
	for (uint32_t sw = 0; sw < n; sw++)
		add_ports(w, sw, w->first[sw]);
}

static void walker_free(struct walker *w)
{
	free(w->first);
	free(w->next);
	free(w->far_num);
	free(w->deps);
	free(w->deps_at);
	free(w->sources);
	free(w->inner);
	free(w->togo);
	free(w->stack);
}

/* The port by which sw sends lid, or FABRIC_NONE if the entry is not one of its ports. */
static uint32_t out_port(const struct walker *w, uint32_t sw, uint16_t lid)
{
	uint8_t num = lft_get(w->l, sw, lid);

	return num < n_ports(w, sw) ? w->first[sw] + num : FABRIC_NONE;
}

/* How packets arrived at a switch, where layers share VL sets; `somehow` where they do not. */
struct coming {
	const struct route_layers *layers;
	unsigned layer;
	uint8_t by;		/* kind of the link by which they arrived */
};

static const struct coming somehow = { .by = ROUTE_LINK_FIRST };

static uint8_t kind_of(const struct walker *w, const struct coming *c, uint32_t sw, uint32_t port)
{
	return w->n_vl_sets > 1 ? route_link(c->layers, sw, port - w->first[sw]) : ROUTE_LINK_FIRST;
}

/*
 * Packets to lid leave switch `from` by port `out`: notes which channel they wait for next.  c: how they
 * arrived at `from`.
 */
static void depend(struct walker *w, const struct coming *c, uint32_t from, uint32_t out, uint16_t lid)
{
	uint32_t sw = w->next[out], then = out_port(w, sw, lid);
	uint8_t by = kind_of(w, c, from, out);
	unsigned in, bit;

	if (then == FABRIC_NONE || w->next[then] == FABRIC_NONE)
		return;
	in = w->far_num[out] * w->n_vl_sets + route_vl_set_on(by, c->by, c->layer);
	bit = (then - w->first[sw]) * w->n_vl_sets + route_vl_set_on(kind_of(w, c, sw, then), by, c->layer);
	deps_row(w, sw, in)[bit / 64] |= 1ULL << bit % 64;
}

/* Follows lid from sw until the end of the walk is known, and notes it for all switches on the way. */
static void walk(struct walker *w, uint32_t sw, uint16_t lid, bool count)
{
	uint32_t depth = 0;
	uint16_t end;

	while (w->togo[sw] == UNSEEN) {
		uint32_t out = out_port(w, sw, lid);

		w->togo[sw] = ON_WALK;
		w->stack[depth++] = sw;
		if (out == FABRIC_NONE || w->next[out] == FABRIC_NONE) {
			w->togo[sw] = DEAD_END;
			depth--;
			break;
		}
		sw = w->next[out];
	}
	end = w->togo[sw] == ON_WALK ? COMES_BACK : w->togo[sw];
	while (depth > 0) {
		uint32_t at = w->stack[--depth];

		if (end < DEAD_END) {
			end++;
			if (count)
				depend(w, &somehow, at, out_port(w, at, lid), lid);
		}
		w->togo[at] = end;
	}
}

/* Resets the state for a LID: only the switch where `port`, its owner, is attached is known. */
static void begin_lid(struct walker *w, uint32_t port, uint16_t lid)
{
	const struct fabric *f = w->f;
	uint32_t home = fabric_switch_of(f, port);
	bool is_switch = node_is_switch(port_node(f, port));

	memset(w->togo, 0, w->n * sizeof(*w->togo));
	if (home != FABRIC_NONE) {
		unsigned num = is_switch ? 0 : f->ports[f->ports[port].peer].num;

		w->togo[home] = lft_get(w->l, home, lid) == num ? 1 : DEAD_END;
	}
}

/* Walks one LID from all sources; `port` has the LID. */
static void walk_lid(struct walker *w, uint32_t port, uint16_t lid, bool count)
{
	begin_lid(w, port, lid);
	for (uint32_t i = 0; i < w->n_sources; i++)
		walk(w, w->sources[i], lid, count);
}

/* --- cycles --- */

enum { WHITE, GREY, BLACK };

/* Ports with their VL sets: see n_port_vl_sets(). */
struct step {
	uint32_t sw;
	uint16_t in, out;	/* out: the next to look at */
};

/* Advances s->out to the next out port that packets from s->in wait for; false: there is none. */
static bool next_out(const struct walker *w, struct step *s)
{
	const uint64_t *row = deps_row(w, s->sw, s->in);

	for (; s->out < n_port_vl_sets(w, s->sw); s->out++)
		if (row[s->out / 64] >> s->out % 64 & 1)
			return true;
	return false;
}

static void print_cycle(const struct walker *w, const struct step *steps, uint32_t n,
			struct buf *text)
{
	for (uint32_t i = 0; i <= n; i++) {
		const struct step *s = &steps[i % n];
		uint32_t port0 = w->f->nodes[w->f->switches[s->sw].node].port0;

		buf_printf(text, "%s%s", i ? " -> " : "",
			   PORT_NAME(w->f, w->f->ports[port0 + s->in / w->n_vl_sets].peer));
	}
}

/* Searches depth first from channel (sw, in); a channel is identified by the port where it ends. */
static bool cycle_from(const struct walker *w, uint32_t sw, unsigned in, uint8_t *colour,
		       struct step *steps, struct buf *text)
{
	uint32_t n = 1;

	steps[0] = (struct step){ sw, (uint16_t)in, 0 };
	colour[w->first[sw] * w->n_vl_sets + in] = GREY;
	while (n > 0) {
		struct step *s = &steps[n - 1];

		if (!next_out(w, s)) {
			colour[w->first[s->sw] * w->n_vl_sets + s->in] = BLACK;
			n--;
			continue;
		}
		uint32_t out = w->first[s->sw] + s->out / w->n_vl_sets;
		struct step to = { w->next[out],
				   (uint16_t)(w->far_num[out] * w->n_vl_sets + s->out % w->n_vl_sets), 0 };
		uint8_t *seen = &colour[w->first[to.sw] * w->n_vl_sets + to.in];

		s->out++;

		if (*seen == GREY) {
			uint32_t start = n - 1;

			while (steps[start].sw != to.sw || steps[start].in != to.in)
				start--;
			if (text)
				print_cycle(w, steps + start, n - start, text);
			return true;
		}
		if (*seen == WHITE) {
			*seen = GREY;
			steps[n++] = to;
		}
	}
	return false;
}

static bool find_cycle(const struct walker *w, struct buf *text)
{
	size_t channels = (size_t)w->first[w->n] * w->n_vl_sets;
	uint8_t *colour = xcalloc(channels, 1);
	struct step *steps = xcalloc(channels, sizeof(*steps));
	bool found = false;

	for (uint32_t sw = 0; sw < w->n && !found; sw++)
		for (unsigned in = w->n_vl_sets; in < n_port_vl_sets(w, sw) && !found; in++)
			if (colour[w->first[sw] * w->n_vl_sets + in] == WHITE)
				found = cycle_from(w, sw, in, colour, steps, text);
	free(steps);
	free(colour);
	return found;
}

/* --- all LIDs, in layers --- */

/* Calls fn for each LID in rising order, because neighbouring LIDs share cache lines of the tables. */
static void each_lid(const struct route_request *r, const struct lfts *l,
		     void (*fn)(void *arg, uint32_t port, uint16_t lid), void *arg)
{
	const struct fabric *f = r->f;
	uint32_t top = r->lid_top < l->top ? r->lid_top : l->top;
	uint32_t *owner = xmalloc((top + 1u) * sizeof(*owner));

	for (uint32_t lid = 0; lid <= top; lid++)
		owner[lid] = FABRIC_NONE;
	for (uint32_t p = 0; p < f->n_ports; p++)
		for (uint32_t k = 0; r->lid[p] && k < 1u << (r->lmc[p] & 7); k++)
			if (r->lid[p] + k <= top)
				owner[r->lid[p] + k] = p;
	for (uint32_t lid = 1; lid <= top; lid++)
		if (owner[lid] != FABRIC_NONE)
			fn(arg, owner[lid], (uint16_t)lid);
	free(owner);
}

/* Collects the dependencies of all layers in one walk of each LID. */
struct layer_check {
	struct walker *w;
	const struct route_layers *layers;
	unsigned n;		/* layers with dependencies of their own; 1 if layers share VL sets */
	uint64_t *deps;		/* [layer * w->deps_words]; one set if layers share VL sets */
	/*
	 * [(2 * layer + whether packets arrive by a far link) * switches + switch]: equals `mark` if the
	 * route from there to the LID was followed
	 */
	uint32_t *seen;
	uint32_t mark;
};

/*
 * Notes the dependencies of a layer's packets on the route from sw to a LID, up to the first switch
 * already followed.
 */
static void depend_on_way(struct layer_check *c, unsigned layer, uint32_t sw, uint16_t lid)
{
	struct walker *w = c->w;
	struct coming coming = { c->layers, layer, ROUTE_LINK_FIRST };

	w->deps = c->deps + (c->n > 1 ? layer * w->deps_words : 0);
	while (w->togo[sw] > 1) {
		bool far = coming.by == ROUTE_LINK_FAR;
		uint32_t out = out_port(w, sw, lid), *seen = &c->seen[(2 * (size_t)layer + far) * w->n + sw];

		if (*seen == c->mark)
			return;
		*seen = c->mark;
		depend(w, &coming, sw, out, lid);
		coming.by = kind_of(w, &coming, sw, out);
		sw = w->next[out];
	}
}

static void check_lid_in_layers(void *arg, uint32_t port, uint16_t lid)
{
	struct layer_check *c = arg;
	uint32_t home = fabric_switch_of(c->w->f, port);

	if (home == FABRIC_NONE || node_is_switch(port_node(c->w->f, port)))
		return;
	c->mark++;
	walk_lid(c->w, port, lid, false);
	for (uint32_t i = 0; i < c->w->n_sources; i++) {
		uint32_t sw = c->w->sources[i];

		if (c->w->togo[sw] < DEAD_END)
			depend_on_way(c, route_layer(c->layers, sw, home), sw, lid);
	}
}

/* As find_cycle(), among the routes of each layer, or of all layers if they share VL sets. */
static bool find_cycle_in_layers(struct walker *w, const struct route_request *r, struct buf *text)
{
	struct layer_check c = { .w = w, .layers = r->layers, .n = w->n_vl_sets > 1 ? 1 : r->layers->n };
	uint64_t *own = w->deps;
	bool found = false;

	c.deps = xcalloc(c.n * w->deps_words, sizeof(*c.deps));
	c.seen = xcalloc((size_t)r->layers->n * 2 * w->n, sizeof(*c.seen));
	each_lid(r, w->l, check_lid_in_layers, &c);
	for (unsigned layer = 0; layer < c.n && !found; layer++) {
		w->deps = c.deps + layer * w->deps_words;
		found = find_cycle(w, text);
		if (found && c.n > 1)
			buf_printf(text, " (in layer %u)", layer);
	}
	w->deps = own;
	free(c.deps);
	free(c.seen);
	return found;
}

/* --- reachability and credit loops --- */

/* Kind of port that has a LID. */
enum owner { OWNER_HOST, OWNER_SM, OWNER_AGGREGATION, OWNER_SWITCH };

/* What the walks found about a LID. */
struct lid_proof {
	uint32_t home;		/* switch where it is delivered, or FABRIC_NONE */
	uint8_t num;		/* port of that switch that delivers it */
	uint8_t owner;
	bool from_sm;		/* LID of a switch that the SM's switch has no route to */
	uint16_t max_hops;
	uint32_t unreachable, loops;	/* sources without a route; of these, those whose walk comes back */
	uint32_t example;	/* switch: the first source without a route */
	/* other switches without a route; counted for LIDs of switches and of the SM */
	uint32_t inner;
	uint32_t inner_example;
};

struct route_proof {
	uint32_t n_switches;
	uint16_t top;
	uint32_t home;			/* switch that the SM is on or behind */
	bool *source;			/* [switch] */
	struct lid_proof *lids;		/* [LID] */
	/* `deps` does not hold the dependencies: the layers' were found separately */
	bool in_layers;
	uint64_t *deps;			/* as the walker's; may include dependencies that are gone */
	size_t *deps_at;
};

void route_proof_free(struct route_proof *p)
{
	if (!p)
		return;
	free(p->source);
	free(p->lids);
	free(p->deps);
	free(p->deps_at);
	free(p);
}

void route_changes_free(struct route_changes *c)
{
	if (!c)
		return;
	free(c->sw_before);
	free(c->new_switches);
	free(c->lids);
	free(c);
}

struct check {
	struct walker w;
	struct route_report *out;
	struct route_proof *proof;
	bool in_layers;		/* find_cycle_in_layers() finds the dependencies, in walks of its own */
	/* NULL: all LIDs are walked */
	const struct route_changes *changes;
	const struct route_proof *before;
};

/* A host's port that sends by way of switch sw; its port 0 if there is none. */
static uint32_t some_source(const struct fabric *f, uint32_t sw)
{
	const struct fabric_node *node = &f->nodes[f->switches[sw].node];

	for (unsigned num = 1; num <= node->nports; num++) {
		uint32_t peer = f->ports[node->port0 + num].peer;

		if (peer != FABRIC_NONE && port_is_host(f, peer))
			return peer;
	}
	return node->port0;
}

static enum owner owner_of(const struct fabric *f, uint32_t port)
{
	if (port == f->self)
		return OWNER_SM;
	if (node_is_switch(port_node(f, port)))
		return OWNER_SWITCH;
	return port_is_host(f, port) ? OWNER_HOST : OWNER_AGGREGATION;
}

/* Whether switches without hosts send to the LID: they send to each other and to the SM. */
static bool inner_counts(const struct lid_proof *x)
{
	return x->owner == OWNER_SM || x->owner == OWNER_SWITCH;
}

/* Walks from switches without hosts; the walks of the sources are done already. */
static void prove_inner(struct check *c, const uint32_t *from, uint32_t n, uint16_t lid,
			struct lid_proof *x)
{
	for (uint32_t i = 0; i < n; i++) {
		walk(&c->w, from[i], lid, false);
		if (c->w.togo[from[i]] >= DEAD_END && x->inner++ == 0)
			x->inner_example = from[i];
	}
}

static void prove_lid(struct check *c, uint32_t port, uint16_t lid, struct lid_proof *x)
{
	walk_lid(&c->w, port, lid, !c->in_layers && !node_is_switch(port_node(c->w.f, port)));
	for (uint32_t i = 0; i < c->w.n_sources; i++) {
		uint16_t togo = c->w.togo[c->w.sources[i]];

		if (togo < DEAD_END) {
			if (togo > x->max_hops)
				x->max_hops = togo;
			continue;
		}
		if (x->unreachable++ == 0)
			x->example = c->w.sources[i];
		x->loops += togo == COMES_BACK;
	}
	x->from_sm = x->owner == OWNER_SWITCH && c->w.home != FABRIC_NONE &&
		     c->w.togo[c->w.home] >= DEAD_END;
	if (inner_counts(x))
		prove_inner(c, c->w.inner, c->w.n_inner, lid, x);
}

/* Takes over the results for a LID that did not change; false: the LID has to be walked. */
static bool take_proof(struct check *c, uint32_t port, uint16_t lid, struct lid_proof *x)
{
	const struct lid_proof *was = &c->before->lids[lid];
	uint32_t n_new = c->changes->n_new;

	if (route_changed(c->changes, lid) || was->num != x->num || was->owner != x->owner ||
	    was->home != (x->home == FABRIC_NONE ? FABRIC_NONE : c->changes->sw_before[x->home]))
		return false;
	/* A switch without a route may be gone, which would change the count and the example. */
	if (was->inner)
		return false;
	x->max_hops = was->max_hops;
	x->unreachable = was->unreachable;
	x->loops = was->loops;
	x->from_sm = was->from_sm;
	if (inner_counts(x) && n_new) {
		begin_lid(&c->w, port, lid);
		prove_inner(c, c->changes->new_switches, n_new, lid, x);
	}
	/* same_sources() made sure that the sources are the same, in the same order. */
	for (uint32_t i = 0; x->unreachable && i < c->w.n_sources; i++)
		if (c->changes->sw_before[c->w.sources[i]] == was->example)
			x->example = c->w.sources[i];
	return true;
}

static void add_lost(struct route_lost *l, uint32_t n, uint32_t src, uint32_t dst)
{
	if (n && !l->n) {
		l->src = src;
		l->dst = dst;
	}
	l->n += n;
}

static void count_lost(struct check *c, uint32_t port, const struct lid_proof *x)
{
	const struct fabric *f = c->w.f;
	struct route_report *out = c->out;
	struct route_lost *to = x->owner == OWNER_SWITCH ? &out->to_switches :
				x->owner == OWNER_AGGREGATION ? &out->to_aggregation : &out->to_hosts;

	if (x->unreachable)
		add_lost(to, x->unreachable, some_source(f, x->example), port);
	if (x->from_sm)
		add_lost(&out->of_sm, 1, f->self, port);
	if (x->owner == OWNER_SWITCH)
		out->inner_pairs += c->w.n_inner;
	if (x->inner)
		add_lost(x->owner == OWNER_SM ? &out->of_sm : &out->inner, x->inner,
			 f->nodes[f->switches[x->inner_example].node].port0, port);
}

static void check_lid(void *arg, uint32_t port, uint16_t lid)
{
	struct check *c = arg;
	struct route_report *out = c->out;
	struct lid_proof *x = &c->proof->lids[lid];
	const struct fabric *f = c->w.f;

	x->owner = owner_of(f, port);
	x->home = fabric_switch_of(f, port);
	if (x->home != FABRIC_NONE && !node_is_switch(port_node(f, port)))
		x->num = f->ports[f->ports[port].peer].num;
	if (!c->before || !take_proof(c, port, lid, x))
		prove_lid(c, port, lid, x);
	out->pairs += c->w.n_sources;
	if (x->max_hops > out->max_hops)
		out->max_hops = x->max_hops;
	if (x->max_hops > out->host_hops && (x->owner == OWNER_HOST || x->owner == OWNER_SM))
		out->host_hops = x->max_hops;
	if (!out->unreachable && x->unreachable) {
		out->unreachable_src = some_source(c->w.f, x->example);
		out->unreachable_dst = port;
	}
	out->unreachable += x->unreachable;
	out->loops += x->loops;
	count_lost(c, port, x);
}

/*
 * Whether the sources, their order and the SM's switch are unchanged; otherwise no count of `before`
 * holds.
 */
static bool same_sources(const struct walker *w, const struct route_changes *c,
			 const struct route_proof *before)
{
	uint32_t n = 0, last = 0;

	for (uint32_t sw = 0; sw < before->n_switches; sw++)
		n += before->source[sw];
	if (n != w->n_sources ||
	    before->home != (w->home == FABRIC_NONE ? FABRIC_NONE : c->sw_before[w->home]))
		return false;
	for (uint32_t i = 0; i < w->n_sources; i++) {
		uint32_t was = c->sw_before[w->sources[i]];

		if (was == FABRIC_NONE || !before->source[was] || (i && was < last))
			return false;
		last = was;
	}
	return true;
}

/* Takes over the dependencies of channels that still exist. */
static void take_deps_of(struct walker *w, uint32_t sw, const uint64_t *deps)
{
	size_t words = row_words(w, sw);
	uint64_t alive[4] = { 0 };	/* for at most 256 ports */

	for (unsigned num = 0; num < n_ports(w, sw); num++)
		if (w->next[w->first[sw] + num] != FABRIC_NONE)
			alive[num / 64] |= 1ULL << num % 64;
	for (unsigned in = 0; in < n_ports(w, sw); in++)
		for (size_t i = 0; i < words && alive[in / 64] >> in % 64 & 1; i++)
			deps_row(w, sw, in)[i] = deps[in * words + i] & alive[i];
}

static struct route_proof *proof_new(const struct walker *w, uint16_t top)
{
	struct route_proof *p = xcalloc(1, sizeof(*p));

	p->n_switches = w->n;
	p->top = top;
	p->home = w->home;
	p->source = xcalloc(w->n, sizeof(*p->source));
	p->lids = xcalloc(top + 1u, sizeof(*p->lids));
	for (uint32_t i = 0; i < w->n_sources; i++)
		p->source[w->sources[i]] = true;
	return p;
}

/* Returns false if what `before` found does not suffice. */
static bool verify(const struct route_request *r, const struct lfts *l,
		   const struct route_changes *changes, const struct route_proof *before,
		   struct route_report *out, struct route_proof **proof)
{
	struct check c = { .out = out, .in_layers = r->layers, .changes = changes, .before = before };
	static const struct route_lost none = { 0, FABRIC_NONE, FABRIC_NONE };
	bool done = true;

	*out = (struct route_report){ .unreachable_src = FABRIC_NONE,
				      .unreachable_dst = FABRIC_NONE, .to_hosts = none,
				      .to_aggregation = none, .to_switches = none, .of_sm = none,
				      .inner = none };
	walker_init(&c.w, r->f, l, r->layers && r->layers->link ? r->layers->n_vl_sets : 1, false);
	*proof = c.proof = proof_new(&c.w, r->lid_top < l->top ? r->lid_top : l->top);
	if (before)
		done = before->top == c.proof->top && same_sources(&c.w, changes, before);
	if (done) {
		if (before)
			for (uint32_t sw = 0; sw < c.w.n; sw++)
				if (changes->sw_before[sw] != FABRIC_NONE)
					take_deps_of(&c.w, sw, before->deps +
						     before->deps_at[changes->sw_before[sw]]);
		each_lid(r, l, check_lid, &c);
		out->credit_loop = r->layers ?
			find_cycle_in_layers(&c.w, r, &out->credit_loop_text) :
			find_cycle(&c.w, before ? NULL : &out->credit_loop_text);
		/* the cycle may include routes that are gone */
		done = !before || !out->credit_loop;
	}
	c.proof->in_layers = r->layers;
	c.proof->deps = c.w.deps;
	c.proof->deps_at = c.w.deps_at;
	c.w.deps = NULL;
	c.w.deps_at = NULL;
	walker_free(&c.w);
	return done;
}

void route_verify_next(const struct route_request *r, const struct lfts *l,
		       const struct route_changes *changes, const struct route_proof *before,
		       struct route_report *out, struct route_proof **proof)
{
	if (changes && before && !before->in_layers && !r->layers) {
		if (verify(r, l, changes, before, out, proof))
			return;
		route_proof_free(*proof);
	}
	verify(r, l, NULL, NULL, out, proof);
}

void route_verify(const struct route_request *r, const struct lfts *l, struct route_report *out)
{
	struct route_proof *proof;

	verify(r, l, NULL, NULL, out, &proof);
	route_proof_free(proof);
}

void route_report_free(struct route_report *r)
{
	buf_free(&r->credit_loop_text);
}

static void count_lid(void *arg, uint32_t port, uint16_t lid)
{
	walk_lid(arg, port, lid, true);
}

bool route_has_cycle(const struct route_request *r, const struct lfts *l)
{
	struct walker w;
	bool found;

	walker_init(&w, r->f, l, 1, true);
	each_lid(r, l, count_lid, &w);
	found = find_cycle(&w, NULL);
	walker_free(&w);
	return found;
}
