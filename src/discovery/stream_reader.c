/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the stream of the discovery process into a fabric; stream_reader.h has the contracts. */
#include <stddef.h>
#include <string.h>

#include "discovery/answer_guard.h"
#include "discovery/stream_reader.h"
#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "lib/base/map64.h"

void reader_start(struct stream_reader *r)
{
	*r = (struct stream_reader){ .f = fabric_new(), .node = FABRIC_NONE,
				     .ports_max = GUARD_PORTS_MAX, .complaints = LOG_RATELIMIT };
}

void reader_free(struct stream_reader *r)
{
	fabric_free(r->f);
	r->f = NULL;
	vec_free(&r->left);
}

/* Only the SM's own node, which comes first, has a route without hops. */
static bool route_makes_sense(const struct stream_reader *r, const struct stream_node *n)
{
	if (n->hops > IB_DR_HOPS_MAX || !n->hops != !r->f->n_nodes)
		return false;
	for (unsigned i = 0; i < n->hops; i++)
		if (n->route[i] < 1 || n->route[i] > IB_PORT_NUM_MAX)
			return false;
	return true;
}

/* Stops a compromised process, which could go on until memory runs out, or for ever. */
static bool is_too_many(struct stream_reader *r, bool too_many)
{
	r->broken |= too_many;
	r->too_many |= too_many;
	return too_many;
}

static void take_node(struct stream_reader *r, const struct stream_node *n)
{
	/* each node needs a LID; the guard applies the same limit of ports in the process */
	if (is_too_many(r, r->f->n_nodes >= IB_LID_UCAST_MAX ||
			   r->f->n_ports + n->node_info[NI_PORTS] >= r->ports_max))
		return;
	r->node = FABRIC_NONE;
	if (!r->links && route_makes_sense(r, n))
		r->node = fabric_add_node(r->f, n->node_info, n->desc,
					  n->is_switch ? n->switch_info : NULL, n->route, n->hops);
	r->broken = r->node == FABRIC_NONE ||
		    node_is_switch(&r->f->nodes[r->node]) != !!n->is_switch;
}

static void take_port(struct stream_reader *r, const struct stream_port *p)
{
	uint64_t guid = p->guid;

	/* all ports of a switch have its GUID, which is that of port 0 */
	if (p->num && r->node != FABRIC_NONE && node_is_switch(&r->f->nodes[r->node]) &&
	    fabric_port(r->f, r->node, 0)->present)
		guid = fabric_port(r->f, r->node, 0)->guid;
	r->broken = r->links || r->node == FABRIC_NONE || p->num > r->f->nodes[r->node].nports ||
		    fabric_port(r->f, r->node, p->num)->present ||
		    !fabric_set_port(r->f, r->node, p->num, guid, p->port_info);
}

/*
 * True for a switch without PortInfo of port 0: it has no LID, and its ports cannot be configured.
 */
static bool is_headless(const struct fabric *f, uint32_t node)
{
	return node_is_switch(&f->nodes[node]) && !f->ports[f->nodes[node].port0].present;
}

static bool has_port(const struct fabric *f, uint32_t node, unsigned num)
{
	return node < f->n_nodes && num >= 1 && num <= f->nodes[node].nports;
}

/*
 * Cuts a switch port that two links claim; the probe asks later which link is true
 * (sm/probe/probe.c).
 */
static void part(struct fabric *f, uint32_t port)
{
	if (node_is_switch(port_node(f, port)))
		fabric_cut(f, port);
}

/* Handles a second link for a port. */
static void two_links(struct stream_reader *r, const struct stream_link *l)
{
	uint32_t from = r->f->nodes[l->node_a].port0 + l->num_a;
	uint32_t to = r->f->nodes[l->node_b].port0 + l->num_b;

	log_limited(&r->complaints, LOG_LEVEL_WARNING, "discovery",
		    "%s and %s are reported as linked, but one of them also as linked elsewhere",
		    PORT_NAME(r->f, from), PORT_NAME(r->f, to));
	part(r->f, from);
	part(r->f, to);
}

static void take_link(struct stream_reader *r, const struct stream_link *l)
{
	const struct fabric *f = r->f;
	uint32_t headless;

	r->links = true;
	/* the process writes each link once, from one of its ends */
	if (is_too_many(r, r->n_links++ >= f->n_ports))
		return;
	if (!has_port(f, l->node_a, l->num_a) || !has_port(f, l->node_b, l->num_b)) {
		r->broken = true;
		return;
	}
	headless = is_headless(f, l->node_a) ? l->node_a :
		   is_headless(f, l->node_b) ? l->node_b : FABRIC_NONE;
	/* no route may use the link; leaving it out makes its far end look silent */
	if (headless != FABRIC_NONE)
		log_limited(&r->complaints, LOG_LEVEL_WARNING, "discovery",
			    "%s does not answer PortInfo of its port 0: its links are excluded",
			    NODE_NAME(f, headless));
	else if (!fabric_link(r->f, l->node_a, l->num_a, l->node_b, l->num_b))
		two_links(r, l);
}

static uint64_t route_key(const struct fabric *f, uint32_t route, unsigned hops)
{
	/* a fabric without links has no routes at all */
	return hops ? hash_bytes(f->routes + route, hops, hops) : 0;
}

/* The last node that the route passes before n, or FABRIC_NONE if none was found there. */
static uint32_t node_before(const struct fabric *f, const struct map64 *by_route,
			    const struct fabric_node *n)
{
	uint32_t i = map64_get(by_route, route_key(f, n->route, n->hops - 1u));

	return i != MAP64_NONE && f->nodes[i].hops == n->hops - 1u &&
	       !memcmp(f->routes + f->nodes[i].route, f->routes + n->route, n->hops - 1u) ?
	       i : FABRIC_NONE;
}

/*
 * Restores the link that is the last hop of each node's route: it led to an answer.  A device that
 * later claims to be another node takes over an end of that link; each node gets its link back, our
 * own port first.
 */
static void link_routes(struct stream_reader *r)
{
	struct fabric *f = r->f;
	struct map64 by_route;

	map64_init(&by_route, f->n_nodes);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		map64_put(&by_route, route_key(f, f->nodes[i].route, f->nodes[i].hops), i);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct fabric_node *n = &f->nodes[i];
		uint32_t near = n->hops ? node_before(f, &by_route, n) : FABRIC_NONE;
		unsigned num = near == FABRIC_NONE ? 0 : f->routes[n->route + n->hops - 1u];

		if (!num || !has_port(f, near, num) || !n->local_port || is_headless(f, near) ||
		    is_headless(f, i) ||
		    fabric_port(f, near, num)->peer == n->port0 + n->local_port)
			continue;
		fabric_cut(f, f->nodes[near].port0 + num);
		fabric_cut(f, n->port0 + n->local_port);
		fabric_link(f, near, num, i, n->local_port);
	}
	map64_free(&by_route);
}

/* True if the known subnet gave the switch's port GUID to this node. */
static bool had_its_guid(const struct stream_reader *r, uint32_t node)
{
	const struct fabric_node *n = &r->f->nodes[node];
	uint32_t owner = r->known ? fabric_find_port(r->known, r->f->ports[n->port0].guid) : FABRIC_NONE;

	return owner != FABRIC_NONE && port_node(r->known, owner)->guid == n->guid;
}

static void leave_copy_out(struct stream_reader *r, uint32_t copy, uint32_t original)
{
	struct fabric *f = r->f;

	log_limited(&r->complaints, LOG_LEVEL_WARNING, "discovery",
		    "%s has the port GUID of %s: it is excluded", NODE_NAME(f, copy),
		    NODE_NAME(f, original));
	for (unsigned num = 1; num <= f->nodes[copy].nports; num++)
		fabric_cut(f, f->nodes[copy].port0 + num);
}

/* True for the only switch at our own port, behind which all others are. */
static bool is_our_leaf(const struct fabric *f, uint32_t node)
{
	return f->nodes[node].hops == 1 && !node_is_switch(&f->nodes[0]);
}

/* True if the port GUID more likely belongs to the second switch, and the first may be excluded. */
static bool is_rather(const struct stream_reader *r, uint32_t first, uint32_t second)
{
	const struct fabric *f = r->f;
	uint64_t guid = f->ports[f->nodes[first].port0].guid;
	bool was_first = had_its_guid(r, first), was_second = had_its_guid(r, second);

	if (is_our_leaf(f, first) || is_our_leaf(f, second))
		return is_our_leaf(f, second);
	if (was_first || was_second)
		return was_second;
	return excluded_distance(f->nodes[second].guid, guid) < EXCLUDED_NEAR &&
	       excluded_distance(f->nodes[second].guid, guid) < excluded_distance(f->nodes[first].guid, guid);
}

/*
 * A switch with the port GUID of another is the same switch again, with a changing node GUID: if
 * both were programmed, their tables would overwrite each other.  The one at our own port stays;
 * else the one that was known, else the one whose node GUID is nearer to that port GUID, else the
 * one found first.
 */
static void part_copies(struct stream_reader *r)
{
	struct fabric *f = r->f;
	struct map64 first = { 0 };

	for (uint32_t i = 0; i < f->n_switches; i++) {
		uint32_t node = f->switches[i].node;
		uint64_t guid = f->ports[f->nodes[node].port0].guid;
		uint32_t before = guid ? map64_get(&first, guid) : MAP64_NONE;

		if (before == 0 || (before != MAP64_NONE && !is_rather(r, before, node))) {
			leave_copy_out(r, node, before);
			continue;
		}
		if (before != MAP64_NONE)
			leave_copy_out(r, before, node);
		map64_put(&first, guid, node);
	}
	map64_free(&first);
}

/*
 * Keeps only nodes that links lead to; nodes that contradictory answers concern may have no link.
 */
static bool keep_reached(struct stream_reader *r, struct buf *err)
{
	struct fabric *reached = fabric_clone(r->f), *settled;
	bool all = true;

	fabric_reroute(reached, NULL);
	for (uint32_t i = 0; i < reached->n_nodes; i++) {
		if (reached->nodes[i].hops != FABRIC_UNREACHED)
			continue;
		all = false;
		log_limited(&r->complaints, LOG_LEVEL_WARNING, "discovery",
			    "%s is excluded: no link to it is reported alike by both ends",
			    NODE_NAME(reached, i));
	}
	settled = all ? NULL : fabric_settle(reached, err);
	fabric_free(reached);
	if (all)
		return true;
	fabric_free(r->f);
	r->f = settled ? settled : fabric_new();
	return settled;
}

static void take_end(struct stream_reader *r, const struct stream_end *e)
{
	struct buf err = { 0 };
	uint8_t lossy;

	memcpy(&lossy, (const char *)e + offsetof(struct stream_end, learned) +
	       offsetof(struct smp_window_learned, lossy), 1);
	r->mads = e->mads;
	r->learned = (struct smp_window_learned){
		.window = e->learned.window, .lossy = lossy,	/* any byte but 1 reads as false */
		.lost = e->learned.lost, .slowest_us = e->learned.slowest_us,
	};
	link_routes(r);
	part_copies(r);
	r->whole = fabric_finish(r->f, e->self_node, e->self_num, &err) && keep_reached(r, &err);
	r->broken = !r->whole;
	if (err.n)
		log_warn("discovery", "%s", err.s);
	buf_free(&err);
}

void reader_take_left(struct stream_reader *r, const struct disco_excluded *x)
{
	if (is_too_many(r, r->n_left++ >= r->ports_max))
		return;
	if (x->why && x->why < EXCLUDED_WHYS && x->near_guid && r->left.n < EXCLUDED_MAX)
		*vec_push(&r->left) = *x;
}

/* Takes one record from p; returns its size, or 0 if it is incomplete. */
static size_t take_record(struct stream_reader *r, const char *p, size_t n)
{
	union {
		struct stream_node node;
		struct stream_port port;
		struct stream_link link;
		struct stream_left left;
		struct stream_end end;
	} x;
	size_t size;

	if (r->whole) {		/* the fabric is finished: nothing may follow the end */
		r->broken = true;
		return n;
	}
	switch (*p) {
	case STREAM_NODE: size = sizeof(x.node); break;
	case STREAM_PORT: size = sizeof(x.port); break;
	case STREAM_LINK: size = sizeof(x.link); break;
	case STREAM_LEFT: size = sizeof(x.left); break;
	case STREAM_END:  size = sizeof(x.end); break;
	default:
		r->broken = true;
		return n;
	}
	if (n < size)
		return 0;
	memcpy(&x, p, size);
	switch (*p) {
	case STREAM_NODE: take_node(r, &x.node); break;
	case STREAM_PORT: take_port(r, &x.port); break;
	case STREAM_LINK: take_link(r, &x.link); break;
	case STREAM_LEFT: reader_take_left(r, &x.left.left); break;
	default:          take_end(r, &x.end); break;
	}
	return size;
}

size_t reader_take(struct stream_reader *r, const char *p, size_t n)
{
	size_t at = 0, size;

	while (at < n && !r->broken) {
		size = take_record(r, p + at, n - at);
		if (!size)
			break;
		at += size;
	}
	return at;
}
