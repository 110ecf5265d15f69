/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks answers of devices before libibnetdisc sees them; answer_guard.h has the contracts.
 *
 * An end is a port of a node: the node's index times 256 plus the port number.  `walks` maps the
 * end that an SMP left by to the end that answered; `arrivals` is the inverse.  A node's near end
 * is the end that the first walk to it came from, which is how the library reaches it.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "discovery/answer_guard.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/map64.h"
#include "lib/iba/iba.h"

#define NONE MAP64_NONE
/* suspected pairs, beyond which no suspected node is followed */
#define DOUBTS_MAX 32u

enum {
	BASE_VERSION = 0, CLASS = 1, CLASS_VERSION = 2, METHOD = 3, STATUS = 4, HOP_COUNT = 7,
	ATTR = 16, MODIFIER = 20, DATA = 64, PATH = 128, RETURN_PATH = 192, SIZE = 256
};

struct seen {
	uint64_t guid;		/* that discovery knows it by */
	uint64_t said;		/* that it reports; differs from guid if guid is a stand-in */
	uint32_t near;		/* end that it was reached from; NONE: our own node */
	uint32_t confirmed;	/* number of its links that were walked from both ends with the same result */
	/* end of the device that its node GUID more likely belongs to; NONE: uncontested */
	uint32_t rightful;
	uint32_t rival_near;	/* node next to the last switch refused because of it; NONE */
	unsigned rivals;	/* number of nodes next to switches refused because of it */
	uint8_t type, ports;
	bool nearer;		/* its port GUID is nearer to its node GUID than another claimant's */
	bool told;		/* reported: it answered something it was not asked */
	bool doubtful;		/* it may be the same device as another node */
	/* port that its first answer left by, if its adapter has no such port; else 0 */
	uint8_t back;
	/* end of another device with its NodeInfo whose answer left by a possible port; NONE */
	uint32_t fitting;
	bool has_twin;		/* find_twins() found places of its twin */
	/*
	 * its GUID is a stand-in, but SMPs show that it is the device with the GUID that it reports
	 */
	bool is_same;
	bool contested;		/* a walk disproved a claim to be one of its ports */
	uint8_t node_info[40];	/* as first received */
};

/*
 * Two answers that seem to come from one device: node a, and node b or whatever answered behind
 * `from`.
 */
struct pair {
	uint32_t a, b;		/* b: NONE if only `from` is known */
	uint32_t from;
	uint64_t guid;		/* reported by the device behind `from` */
};

/*
 * The device behind `from` claimed to be port `to`, but an SMP that left by `to` arrived elsewhere.
 */
struct false_claim {
	uint32_t from, to;
};

struct guard {
	VEC(struct seen) nodes;		/* node 0: our own */
	struct map64 by_guid;
	struct map64 by_port_guid;	/* switches' port GUID -> the first node with it */
	struct map64 child;		/* end -> the node whose near end it is */
	struct map64 walks, arrivals;	/* end -> end */
	struct map64 answered;		/* ends behind which anything answered, believed or not -> 1 */
	struct map64 out;		/* digest of a place, or GUID -> index of left */
	struct map64 steady;		/* GUIDs reported in two scans -> 1 */
	struct disco_excluded *left;
	/* node GUIDs of switches that claim another NodeType -> index of left */
	struct map64 as_switch;
	bool *met;			/* [index of left]: the device answered, and this scan corrected it */
	unsigned n_left;
	unsigned ports, ports_max;
	bool blind;			/* some switch did not say which port its answer left by */
	VEC(struct pair) one;		/* devices that seem to report two GUIDs */
	VEC(struct false_claim) false_claims;
	/* Claims by devices whose NodeInfo is identical to that of the node they claim to be. */
	VEC(struct false_claim) twins;
};

/* Key of a device that claims a node GUID, independent of the link it is reached by. */
static uint64_t claim_key(const uint8_t *info)
{
	return hash64(get_be64(info + NI_GUID) ^ hash64(get_be64(info + NI_PORT_GUID)));
}

struct guard *guard_new(const struct disco_excluded *out, unsigned n_out, unsigned ports_max)
{
	struct guard *g = xcalloc(1, sizeof(*g));

	g->ports_max = ports_max;
	g->left = n_out ? xmemdup(out, n_out * sizeof(*out)) : NULL;
	g->n_left = n_out;
	g->met = xcalloc(n_out + 1, sizeof(*g->met));
	for (unsigned i = 0; i < n_out; i++) {
		if (out[i].why == EXCLUDED_NOT) {
			map64_put(&g->steady, out[i].guid, 1);
			continue;
		}
		if (out[i].why == EXCLUDED_SWITCH) {
			map64_put(&g->as_switch, out[i].guid, i);
			continue;
		}
		map64_put(&g->out, excluded_place_key(out[i].near_guid, out[i].near_port), i);
		/* by any link: a switch that kills the process has many */
		if (out[i].guid && (out[i].why == EXCLUDED_KILLS || out[i].why == EXCLUDED_HANGS))
			map64_put(&g->out, out[i].guid, i);
		else if (out[i].why == EXCLUDED_CLAIMS || out[i].why == EXCLUDED_NO_ADAPTER)
			map64_put(&g->out, claim_key(out[i].data), i);
	}
	return g;
}

void guard_free(struct guard *g)
{
	if (!g)
		return;
	vec_free(&g->nodes);
	vec_free(&g->one);
	vec_free(&g->false_claims);
	vec_free(&g->twins);
	map64_free(&g->by_guid);
	map64_free(&g->by_port_guid);
	map64_free(&g->child);
	map64_free(&g->walks);
	map64_free(&g->arrivals);
	map64_free(&g->answered);
	map64_free(&g->out);
	map64_free(&g->steady);
	map64_free(&g->as_switch);
	free(g->left);
	free(g->met);
	free(g);
}

static uint32_t end_of(uint32_t node, unsigned port)
{
	return node << 8 | port;
}

/* The node at the end of a path that was walked before, or NONE. */
static uint32_t node_at(const struct guard *g, const uint8_t *path, unsigned hops)
{
	uint32_t node = g->nodes.n ? 0 : NONE;

	for (unsigned i = 0; i < hops && node != NONE; i++)
		node = map64_get(&g->child, end_of(node, path[i]));
	return node;
}

static void set_near(const struct guard *g, struct disco_excluded *x, uint32_t end)
{
	x->near_guid = end == NONE ? 0 : g->nodes.v[end >> 8].guid;
	x->near_port = (uint8_t)(end == NONE ? 0 : end);
}

static void set_other(const struct guard *g, struct disco_excluded *x, uint32_t end)
{
	x->other_guid = end == NONE ? 0 : g->nodes.v[end >> 8].guid;
	x->other_port = (uint8_t)(end == NONE ? 0 : end);
}

static bool is_answer(const uint8_t *asked, const uint8_t *answer, unsigned n)
{
	return n >= SIZE && answer[BASE_VERSION] == asked[BASE_VERSION] &&
	       answer[CLASS] == asked[CLASS] && answer[CLASS_VERSION] == asked[CLASS_VERSION] &&
	       answer[METHOD] == UMAD_METHOD_GET_RESP && !memcmp(answer + ATTR, asked + ATTR, 2) &&
	       !memcmp(answer + MODIFIER, asked + MODIFIER, 4);
}

static bool same_kind(const struct guard *g, uint32_t a, uint32_t b)
{
	return g->nodes.v[a].type == g->nodes.v[b].type && g->nodes.v[a].ports == g->nodes.v[b].ports;
}

/* --- NodeInfo --- */

static uint64_t distance(const uint8_t *info)
{
	return excluded_distance(get_be64(info + NI_GUID), get_be64(info + NI_PORT_GUID));
}

static bool is_near(const uint8_t *info)
{
	return distance(info) < EXCLUDED_NEAR;
}

static bool same_port_guid(const uint8_t *a, const uint8_t *b)
{
	return !memcmp(a + NI_PORT_GUID, b + NI_PORT_GUID, 8);
}

/* True if the GUID was reported in two scans, and so is not made up per answer. */
static bool is_steady(const struct guard *g, uint64_t guid)
{
	return map64_get(&g->steady, guid) != NONE;
}

/*
 * Two nodes claim to be the far end of one link.  If they are the same port of devices of the same
 * kind, the two may be one device that reports a different GUID each time.
 */
static bool suspect_one(struct guard *g, uint32_t a, uint32_t b)
{
	if ((a & 0xff) != (b & 0xff) || a >> 8 == b >> 8 || !same_kind(g, a >> 8, b >> 8) ||
	    is_steady(g, g->nodes.v[a >> 8].said) || is_steady(g, g->nodes.v[b >> 8].said))
		return false;
	g->nodes.v[a >> 8].doubtful = g->nodes.v[b >> 8].doubtful = true;
	*vec_push(&g->one) = (struct pair){ a >> 8, b >> 8, NONE, 0 };
	return true;
}

/* Records that a known node seems to have answered behind `from` with another GUID. */
static void suspect_again(struct guard *g, uint32_t node, uint32_t from, const uint8_t *info)
{
	g->nodes.v[node].doubtful = true;
	*vec_push(&g->one) = (struct pair){ node, NONE, from, get_be64(info + NI_GUID) };
}

/* Like suspect_one(), for a node that is not known yet and answered behind `from`. */
static bool suspect_new(struct guard *g, uint32_t a, uint32_t from, const uint8_t *info)
{
	struct seen *n = &g->nodes.v[a >> 8];

	if ((a & 0xff) != info[NI_LOCAL_PORT] || n->type != info[NI_TYPE] ||
	    n->ports != info[NI_PORTS] || is_steady(g, n->said) || is_steady(g, get_be64(info + NI_GUID)))
		return false;
	suspect_again(g, a >> 8, from, info);
	return true;
}

/*
 * True if the claim that `from` leads to `to` contradicts earlier ones; *other: the end that they
 * say `to` is linked to.
 */
static bool contradicts(struct guard *g, uint32_t from, uint32_t to, uint32_t *other)
{
	uint32_t walked = map64_get(&g->walks, to), arrived = map64_get(&g->arrivals, to);
	uint32_t came = map64_get(&g->arrivals, from);

	if (walked != NONE && walked != from) {
		/*
		 * Not so in two cases.  Our own port's link is known, so the device behind `from`
		 * falsely claims to be us.  And a device that claims to be the very node that it is
		 * linked to is not the one that `to` is linked to.
		 */
		if (to >> 8 && from >> 8 != to >> 8)
			suspect_one(g, walked, from);
		*other = walked;
		return true;
	}
	/* an earlier arrival prevails, unless an SMP that left by `to` itself reached `from` */
	if (arrived != NONE && arrived != from && walked != from) {
		*other = arrived;
		return true;
	}
	/* a device claimed to be `from`, but an SMP that left by `from` arrived elsewhere */
	if (came != NONE && came != to) {
		g->nodes.v[from >> 8].contested = true;
		*vec_push(&g->false_claims) = (struct false_claim){ came, from };
	}
	return false;
}

static uint32_t add_node(struct guard *g, const uint8_t *info, uint64_t guid, uint32_t near)
{
	uint32_t node = (uint32_t)g->nodes.n;
	struct seen *n = vec_push(&g->nodes);

	*n = (struct seen){ .guid = guid, .said = get_be64(info + NI_GUID), .near = near,
			    .type = info[NI_TYPE], .ports = info[NI_PORTS], .rightful = NONE, .rival_near = NONE,
			    .fitting = NONE };
	memcpy(n->node_info, info, sizeof(n->node_info));
	map64_put(&g->by_guid, n->guid, node);
	if (n->type == IB_NODE_SWITCH_T &&
	    map64_get(&g->by_port_guid, get_be64(info + NI_PORT_GUID)) == NONE)
		map64_put(&g->by_port_guid, get_be64(info + NI_PORT_GUID), node);
	if (near != NONE)
		map64_put(&g->child, near, node);
	g->ports += n->ports + 1u;
	return node;
}

static void link_up(struct guard *g, uint32_t from, uint32_t to)
{
	struct seen *a = &g->nodes.v[from >> 8], *b = &g->nodes.v[to >> 8];

	map64_put(&g->walks, from, to);
	map64_put(&g->arrivals, to, from);
	if (map64_get(&g->walks, to) == from) {
		a->confirmed++;
		b->confirmed++;
	}
}

/* The outermost node behind whose near end more than half of all ports are. */
static uint32_t heaviest(const struct guard *g)
{
	uint32_t *mass = xcalloc(g->nodes.n + 1, sizeof(*mass));
	uint32_t node = 0;

	/* a node follows the node that it was reached from */
	for (uint32_t i = (uint32_t)g->nodes.n; i-- > 0;) {
		mass[i] += g->nodes.v[i].ports + 1u;
		if (g->nodes.v[i].near != NONE)
			mass[g->nodes.v[i].near >> 8] += mass[i];
	}
	for (uint32_t i = 1; i < g->nodes.n; i++)
		if (g->nodes.v[i].near >> 8 == node && mass[i] > mass[0] / 2)
			node = i;
	free(mass);
	return node;
}

static enum guard_verdict full(const struct guard *g, struct disco_excluded *x)
{
	uint32_t node = heaviest(g);

	excluded_describe(x, g->nodes.v[node].node_info);
	set_near(g, x, g->nodes.v[node].near);
	x->why = EXCLUDED_TOO_MANY;
	return GUARD_FULL;
}

static enum guard_verdict refuse(struct disco_excluded *x, enum excluded_why why)
{
	x->why = (uint8_t)why;
	return GUARD_REFUSE;
}

/* Judges our own device, which is asked over no link. */
static enum guard_verdict own_node(struct guard *g, const uint8_t *info, struct disco_excluded *x)
{
	uint8_t copy[40];
	enum excluded_why why;

	memcpy(copy, info, sizeof(copy));
	if (copy[NI_TYPE] == IB_NODE_SWITCH_T && !copy[NI_LOCAL_PORT])
		copy[NI_LOCAL_PORT] = 1;	/* the SM may run on port 0 of a switch */
	why = excluded_judge(copy);
	if (why)
		return refuse(x, why);
	if (!g->nodes.n)
		add_node(g, info, get_be64(info + NI_GUID), NONE);
	return get_be64(info + NI_GUID) == g->nodes.v[0].guid &&
	       info[NI_PORTS] == g->nodes.v[0].ports ? GUARD_FEED : refuse(x, EXCLUDED_TWO_KINDS);
}

static bool is_doubted(const struct guard *g, uint32_t node)
{
	return g->nodes.v[node].doubtful && !g->nodes.v[node].confirmed;
}

/*
 * Two neighbouring devices that each report a new GUID in every answer multiply: each new GUID of
 * one leads to new GUIDs of the other.  So nothing behind two suspected neighbours is followed, and
 * beyond DOUBTS_MAX suspected pairs nothing behind any suspected node; the next scan excludes them.
 */
static bool multiplies(const struct guard *g, uint32_t node)
{
	uint32_t near = g->nodes.v[node].near;

	if (g->one.n <= DOUBTS_MAX)
		return is_doubted(g, node) && near != NONE && is_doubted(g, near >> 8);
	for (; near != NONE; node = near >> 8, near = g->nodes.v[node].near)
		if (is_doubted(g, node))
			return true;
	return false;
}

/* Counts the nodes next to switches that are refused because `node` has their GUID. */
static void note_rival(struct guard *g, uint32_t node, uint32_t near, const uint8_t *info)
{
	struct seen *n = &g->nodes.v[node];

	if (info[NI_TYPE] != IB_NODE_SWITCH_T || n->rival_near == near)
		return;
	n->rival_near = near;
	n->rivals++;
}

/*
 * Two devices claim one node GUID: it more likely belongs to the one whose port GUID is nearer to
 * it (excluded_distance()).
 */
static void note_claim(struct guard *g, uint32_t node, uint32_t from, const uint8_t *info)
{
	struct seen *n = &g->nodes.v[node];
	bool of_switch = n->type == IB_NODE_SWITCH_T || info[NI_TYPE] == IB_NODE_SWITCH_T;

	/* ports of one adapter differ in their port GUIDs */
	if (same_port_guid(info, n->node_info) ||
	    (!of_switch && info[NI_LOCAL_PORT] != n->node_info[NI_LOCAL_PORT]))
		return;
	/* if neither port GUID is near, as when it changes each time, the distance says nothing */
	if (is_near(info) && distance(info) < distance(n->node_info))
		n->rightful = from;
	else if (distance(info) > distance(n->node_info))
		n->nearer = true;
}

/*
 * The device at our own port is the only way to all others: retrying an answer there that killed a
 * process can lose nothing.  Once such a device is let in, its other links are followed, too.
 */
static bool must_try(const struct guard *g, uint32_t near, uint32_t out, uint64_t guid)
{
	const struct disco_excluded *x = &g->left[out];

	if (x->why == EXCLUDED_CLAIMS || x->why == EXCLUDED_NO_ADAPTER)
		return !near;
	if (x->why != EXCLUDED_KILLS && x->why != EXCLUDED_HANGS)
		return false;
	return !near || map64_get(&g->by_guid, guid) != NONE;
}

/*
 * The switch that was seen before with another node GUID: the port GUID is the same, and the new
 * node GUID is not near it.  NONE if there is none.  Without this check, neighbouring switches that
 * report a new node GUID in each answer would be new nodes without end.
 */
static uint32_t seen_before(const struct guard *g, const uint8_t *info)
{
	uint64_t guid = get_be64(info + NI_PORT_GUID);
	uint32_t node = info[NI_TYPE] == IB_NODE_SWITCH_T && guid && !is_near(info) ?
			map64_get(&g->by_port_guid, guid) : NONE;

	return node != NONE && g->nodes.v[node].ports == info[NI_PORTS] ? node : NONE;
}

/* True if a NodeInfo with the node's GUID may be that node's.  A switch has only one port GUID. */
static bool is_as(const struct seen *n, const uint8_t *info)
{
	return n->type == info[NI_TYPE] && n->ports == info[NI_PORTS] &&
	       (n->type != IB_NODE_SWITCH_T || same_port_guid(n->node_info, info));
}

/* True if the answer left by a port that an adapter with this NodeInfo does not have. */
static bool is_no_adapter(const uint8_t *info, uint8_t back)
{
	return info[NI_TYPE] != IB_NODE_SWITCH_T && back > info[NI_PORTS];
}

/*
 * Two devices send one adapter's NodeInfo.  If the first, `node`, answered by a port that the
 * adapter lacks and the second did not, the adapter is the second.
 */
static void note_fitting(struct guard *g, uint32_t node, uint32_t from, const uint8_t *info,
			 uint8_t back)
{
	struct seen *n = &g->nodes.v[node];

	if (n->back && back && !is_no_adapter(info, back) && same_port_guid(n->node_info, info))
		n->fitting = from;
}

/*
 * A device that is on the list for claiming GUIDs now claims others.  It may also be another
 * device: if the near end's node had a false GUID, the rightful node has that GUID now.
 */
static bool claims_others(const struct disco_excluded *x, const uint8_t *info)
{
	if (x->why == EXCLUDED_IMPOSTOR)	/* data may not hold its NodeInfo */
		return x->guid != get_be64(info + NI_GUID);
	/* the port GUID follows the node GUID */
	return excluded_claims(x) && memcmp(x->data + NI_GUID, info + NI_GUID, 16) != 0;
}

static uint32_t out_by_place(const struct guard *g, const struct disco_excluded *x, const uint8_t *info)
{
	uint32_t out = map64_get(&g->out, excluded_place_key(x->near_guid, x->near_port));

	return out != NONE && claims_others(&g->left[out], info) ? NONE : out;
}

/* The list entry of a device that claims another's GUID, by whatever link it is reached. */
static uint32_t out_by_claim(const struct guard *g, const uint8_t *info, uint8_t back)
{
	uint32_t out = map64_get(&g->out, claim_key(info));

	/* the genuine adapter sends the same NodeInfo */
	if (out != NONE && g->left[out].why == EXCLUDED_NO_ADAPTER && !is_no_adapter(info, back))
		return NONE;
	return out;
}

/*
 * The GUID that the device behind `from` is known by: the one that it reports, or its stand-in.
 * *out: the entry of the place; set to NONE unless it is this twin's.
 */
static uint64_t name_of(const struct guard *g, uint32_t from, const uint8_t *info, uint32_t *out)
{
	uint32_t came = map64_get(&g->arrivals, from);
	const struct seen *n = came == NONE ? NULL : &g->nodes.v[came >> 8];

	if (*out != NONE && (g->left[*out].why != EXCLUDED_TWIN || !excluded_says_the_same(&g->left[*out], info)))
		*out = NONE;
	/* an SMP left a node with that stand-in by that port, and arrived here */
	if (n && n->said == get_be64(info + NI_GUID) && (came & 0xff) == info[NI_LOCAL_PORT]) {
		if (*out != NONE && g->left[*out].known_as != n->guid)
			*out = NONE;
		return n->guid;
	}
	return *out == NONE ? get_be64(info + NI_GUID) : g->left[*out].known_as;
}

/*
 * Two devices claim to be `to` with identical NodeInfo; guard_finish() decides which of them is
 * behind `from`.
 */
static void note_twin(struct guard *g, uint32_t from, uint32_t to, const uint8_t *info, uint8_t back)
{
	struct seen *n = &g->nodes.v[to >> 8];

	if (!(to >> 8) || !same_port_guid(info, n->node_info) || (back && back != info[NI_LOCAL_PORT]))
		return;
	n->contested = true;
	*vec_push(&g->twins) = (struct false_claim){ from, to };
}

static void put_type(struct guard *g, uint8_t *info)
{
	uint32_t i = g->as_switch.n ? map64_get(&g->as_switch, get_be64(info + NI_GUID)) : NONE;

	if (i != NONE && excluded_put_type(&g->left[i], info))
		g->met[i] = true;
}

/* back: the port by which the answer left, 0: unknown.  Puts stand-in GUIDs into info. */
static enum guard_verdict node_info(struct guard *g, const uint8_t *asked, uint8_t *info,
				    uint8_t back, struct disco_excluded *x)
{
	unsigned hops = asked[HOP_COUNT];
	uint64_t guid;
	uint32_t near, from, to, node, other, out, twin;
	enum excluded_why why = excluded_judge(info);

	excluded_describe(x, info);
	if (!hops)
		return own_node(g, info, x);
	near = hops < IB_DR_HOPS_MAX + 1 ? node_at(g, asked + PATH + 1, hops - 1) : NONE;
	if (near == NONE)
		return refuse(x, EXCLUDED_ANSWER);
	from = end_of(near, asked[PATH + hops]);
	set_near(g, x, from);
	map64_put(&g->answered, from, 1);
	if (why)
		return refuse(x, why);
	put_type(g, info);
	/*
	 * A switch returns an answer by the port that it has written into the return path (C14-9,
	 * C14-13), which is the port that the request arrived at.
	 */
	if (info[NI_TYPE] == IB_NODE_SWITCH_T && back && back != info[NI_LOCAL_PORT]) {
		x->b = back;
		return refuse(x, EXCLUDED_FALSE_PORT);
	}
	g->blind |= info[NI_TYPE] == IB_NODE_SWITCH_T && !back;
	out = twin = out_by_place(g, x, info);
	guid = name_of(g, from, info, &twin);
	if (twin != NONE)
		g->met[twin] = true;
	if (out != NONE && g->left[out].why == EXCLUDED_TWIN)
		out = NONE;
	if (out == NONE)
		out = map64_get(&g->out, x->guid);
	if (out == NONE)
		out = out_by_claim(g, info, back);
	if (out != NONE && !must_try(g, near, out, x->guid)) {
		x->other_guid = g->left[out].other_guid;
		x->other_port = g->left[out].other_port;
		return refuse(x, g->left[out].why);
	}
	node = map64_get(&g->by_guid, guid);
	if (node != NONE && !is_as(&g->nodes.v[node], info)) {
		set_other(g, x, g->nodes.v[node].near);
		note_rival(g, node, near, info);
		note_claim(g, node, from, info);
		return refuse(x, EXCLUDED_TWO_KINDS);
	}
	if (node == NONE) {
		other = map64_get(&g->arrivals, from);
		if (other != NONE && other >> 8 != near && suspect_new(g, other, from, info)) {
			set_other(g, x, other);
			return refuse(x, EXCLUDED_TWO_PLACES);
		}
		node = guid == x->guid ? seen_before(g, info) : NONE;
		if (node != NONE) {
			if (!is_near(g->nodes.v[node].node_info))
				suspect_again(g, node, from, info);
			set_other(g, x, g->nodes.v[node].near);
			return refuse(x, EXCLUDED_PORT_GUID);
		}
		/* adapters are exempt: nothing is behind them */
		if (info[NI_TYPE] == IB_NODE_SWITCH_T && multiplies(g, near))
			return GUARD_REPEATED;
		if (g->nodes.n >= GUARD_NODES_MAX || g->ports + info[NI_PORTS] >= g->ports_max)
			return full(g, x);
		node = add_node(g, info, guid, from);
		if (is_no_adapter(info, back))
			g->nodes.v[node].back = back;
	}
	to = end_of(node, info[NI_LOCAL_PORT]);
	if (contradicts(g, from, to, &other)) {
		set_other(g, x, other);
		note_claim(g, node, from, info);
		note_fitting(g, node, from, info, back);
		note_twin(g, from, to, info, back);
		return refuse(x, !node && map64_get(&g->walks, to) != NONE ? EXCLUDED_OUR_PORT :
			      EXCLUDED_TWO_PLACES);
	}
	link_up(g, from, to);
	if (guid != x->guid)
		excluded_rename(guid, info);
	return GUARD_FEED;
}

enum guard_verdict guard_answer(struct guard *g, const uint8_t *asked, uint8_t *answer,
				unsigned n, struct disco_excluded *x)
{
	unsigned hops = asked[HOP_COUNT];
	uint16_t attr = get_be16(asked + ATTR);
	bool of_node = attr == UMAD_SM_ATTR_NODE_INFO;
	uint32_t node;

	memset(x, 0, sizeof(*x));
	x->attr = attr;
	x->mod = get_be32(asked + MODIFIER);
	memcpy(x->data, answer + DATA, sizeof(x->data));
	if (is_answer(asked, answer, n) && of_node && !(get_be16(answer + STATUS) & 0x7fff))
		return node_info(g, asked, answer + DATA,
				 hops <= IB_DR_HOPS_MAX ? answer[RETURN_PATH + hops] : 0, x);
	node = hops <= IB_DR_HOPS_MAX ? node_at(g, asked + PATH + 1, hops) : NONE;
	if (of_node && hops && hops <= IB_DR_HOPS_MAX) {
		node = node_at(g, asked + PATH + 1, hops - 1);
		set_near(g, x, node == NONE ? NONE : end_of(node, asked[PATH + hops]));
	} else if (node != NONE) {
		x->guid = g->nodes.v[node].guid;
		set_near(g, x, g->nodes.v[node].near);
	}
	if (is_answer(asked, answer, n))
		return GUARD_FEED;
	refuse(x, EXCLUDED_ANSWER);
	if (of_node || node == NONE)
		return GUARD_REFUSE;
	if (g->nodes.v[node].told)
		return GUARD_REPEATED;
	g->nodes.v[node].told = true;
	return GUARD_REFUSE;
}

/* Reports one of the GUIDs of a device behind `near` that has another GUID each time. */
static void tell_changes(const struct guard *g, uint32_t near, uint64_t guid,
			 void (*found)(void *arg, const struct disco_excluded *x), void *arg)
{
	struct disco_excluded x = { .attr = UMAD_SM_ATTR_NODE_INFO, .why = EXCLUDED_GUID_CHANGES, .guid = guid };

	set_near(g, &x, near);
	found(arg, &x);
}

/*
 * Reports a node.  other: the end behind which the device is that the node was taken for; NONE:
 * unknown.
 */
static void tell(const struct guard *g, uint32_t node, uint32_t near, enum excluded_why why,
		 uint32_t other, void (*found)(void *arg, const struct disco_excluded *x), void *arg)
{
	struct disco_excluded x = { .attr = UMAD_SM_ATTR_NODE_INFO, .why = (uint8_t)why };

	if (near == NONE)
		return;		/* our own device */
	excluded_describe(&x, g->nodes.v[node].node_info);
	if (why == EXCLUDED_NO_ADAPTER)
		x.b = g->nodes.v[node].back;
	set_near(g, &x, near);
	set_other(g, &x, other);
	found(arg, &x);
}

/* Reports a device that claimed to be a port whose SMPs arrive elsewhere. */
static void tell_false_claim(const struct guard *g, const struct false_claim *c,
			     void (*found)(void *arg, const struct disco_excluded *x), void *arg)
{
	uint32_t to = map64_get(&g->walks, c->to);
	struct disco_excluded x = { 0 };

	if (to == NONE || to == c->from)
		return;
	excluded_describe(&x, g->nodes.v[c->to >> 8].node_info);
	x.a = x.data[NI_LOCAL_PORT] = (uint8_t)c->to;
	x.why = EXCLUDED_TWO_PLACES;
	set_near(g, &x, c->from);
	set_other(g, &x, to);
	found(arg, &x);
}

static bool is_confirmed(const struct guard *g, uint32_t node)
{
	return node != NONE && g->nodes.v[node].confirmed;
}

/*
 * Number of ends that lead to the node, not counting ends of doubtful nodes; *other: one that is
 * not its near end.  *silent: one of these other ends leads to a port of the node behind which
 * nothing answered.
 */
static unsigned claims(const struct guard *g, uint32_t node, uint32_t *other, bool *silent)
{
	unsigned n = 0;

	*other = NONE;
	*silent = false;
	for (unsigned num = 1; num <= g->nodes.v[node].ports; num++) {
		uint32_t from = map64_get(&g->arrivals, end_of(node, num));

		if (from == NONE || g->nodes.v[from >> 8].doubtful)
			continue;
		n++;
		if (from == g->nodes.v[node].near)
			continue;
		*other = from;
		*silent |= map64_get(&g->answered, end_of(node, num)) == NONE;
	}
	return n;
}

/*
 * True if the node has another device's GUID, judging by its neighbours.  A genuine switch forwards
 * SMPs through each port that its neighbours say is linked, whatever those neighbours answer.  An
 * adapter forwards nothing: if more nodes are next to a switch with that GUID than the adapter has
 * links, the GUID is the switch's.
 */
static bool is_impostor(const struct guard *g, uint32_t node, uint32_t *other)
{
	const struct seen *n = &g->nodes.v[node];
	bool silent;
	unsigned places = claims(g, node, other, &silent);

	if (n->nearer)
		return false;
	if (n->type == IB_NODE_SWITCH_T)
		return !n->confirmed && !n->doubtful && places > 1 && silent;
	return n->rivals > 1 && n->rivals > places;
}

/*
 * The reason to exclude a node, or EXCLUDED_NOT; *other: an end behind which the genuine device is,
 * or NONE.
 */
static enum excluded_why judge(const struct guard *g, uint32_t node, uint32_t *other)
{
	const struct seen *n = &g->nodes.v[node];

	*other = NONE;
	/* the device at our own port is the only way to all others */
	if (n->near == NONE || !(n->near >> 8))
		return EXCLUDED_NOT;
	if (n->rightful != NONE) {
		*other = n->rightful;
		return EXCLUDED_CLAIMS;
	}
	if (n->fitting != NONE) {
		*other = n->fitting;
		return EXCLUDED_NO_ADAPTER;
	}
	return !n->has_twin && is_impostor(g, node, other) ? EXCLUDED_IMPOSTOR : EXCLUDED_NOT;
}

/* --- twins: two devices with identical NodeInfo --- */

/*
 * The end linked to port `to` according to SMPs sent through the node.  No SMP walks the port that
 * the node was reached by: its end is the near end.  NONE: unknown.
 */
static uint32_t true_end(const struct guard *g, uint32_t to)
{
	const struct seen *n = &g->nodes.v[to >> 8];
	uint32_t walked = map64_get(&g->walks, to);

	return walked == NONE && n->node_info[NI_LOCAL_PORT] == (to & 0xff) ? n->near : walked;
}

/* True if SMPs have passed through the node: it is a switch, whatever it claims. */
static bool passes_on(const struct guard *g, uint32_t node)
{
	for (unsigned num = 1; num <= g->nodes.v[node].ports; num++)
		if (map64_get(&g->walks, end_of(node, num)) != NONE)
			return true;
	return false;
}

/* True if discovery knows the node by another GUID than the node reports. */
static bool stands_in(const struct guard *g, uint32_t node)
{
	return g->nodes.v[node].guid != g->nodes.v[node].said;
}

/* True if nothing speaks against the node except that another device reports the same. */
static bool may_have_a_twin(const struct guard *g, uint32_t node)
{
	const struct seen *n = &g->nodes.v[node];
	uint32_t other;

	if (!n->contested || n->near == NONE || n->rightful != NONE || n->fitting != NONE ||
	    is_doubted(g, node))
		return false;
	if (n->type != IB_NODE_SWITCH_T)
		return !is_impostor(g, node, &other);
	return !g->blind && passes_on(g, node);
}

/* True if the claim is not that of the node which SMPs to `to` passed through. */
static bool is_of_twin(const struct guard *g, const struct false_claim *c)
{
	uint32_t end = true_end(g, c->to), by = c->from >> 8;

	return end != NONE && end != c->from && !is_doubted(g, by) && !stands_in(g, by) &&
	       may_have_a_twin(g, c->to >> 8);
}

/*
 * The places of twins.  to: a port of the node known by the reported GUID, or of the stand-in if
 * that is known.
 */
struct twins {
	VEC(struct false_claim) v;
	/*
	 * end -> end of a stand-in that an SMP left by to get there, although that link was refused
	 */
	struct map64 walked;
};

/*
 * True if an SMP that left a stand-in by that port arrived at the place: then the claim is the
 * stand-in's, and c->to is set to its end.
 */
static bool is_stand_ins(const struct guard *g, const struct twins *t, struct false_claim *c)
{
	const uint32_t came[] = { map64_get(&g->arrivals, c->from), map64_get(&t->walked, c->from) };

	for (size_t i = 0; i < ARRAY_SIZE(came); i++)
		if (came[i] != NONE && stands_in(g, came[i] >> 8) && !g->nodes.v[came[i] >> 8].is_same &&
		    (came[i] & 0xff) == (c->to & 0xff) &&
		    g->nodes.v[came[i] >> 8].said == g->nodes.v[c->to >> 8].said) {
			c->to = came[i];
			return true;
		}
	return false;
}

static void add_twin(const struct guard *g, struct twins *t, struct false_claim c)
{
	if (is_stand_ins(g, t, &c) || is_of_twin(g, &c))
		*vec_push(&t->v) = c;
}

static int by_node_and_place(const void *a, const void *b)
{
	const struct false_claim *x = a, *y = b;

	if (x->to >> 8 != y->to >> 8)
		return x->to < y->to ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/*
 * Sets is_same of a stand-in if SMPs that left it and the node with the reported GUID by the same
 * port arrived at the same end.
 */
static void find_same(struct guard *g)
{
	for (size_t i = 0; i < g->twins.n; i++) {
		uint32_t from = g->twins.v[i].from, to = g->twins.v[i].to, came = map64_get(&g->arrivals, to);

		if (!stands_in(g, from >> 8) || came == NONE || came >> 8 == from >> 8 ||
		    (came & 0xff) != (from & 0xff) || map64_get(&g->walks, came) != to ||
		    g->nodes.v[came >> 8].said != g->nodes.v[from >> 8].said)
			continue;
		if (stands_in(g, came >> 8) && came > from)
			from = came;
		g->nodes.v[from >> 8].is_same = true;
	}
}

/* Gives a twin those ports of the node that no SMP proves to be the node's. */
static void add_unproven(const struct guard *g, struct twins *t, uint32_t node)
{
	for (unsigned num = 1; num <= g->nodes.v[node].ports; num++) {
		struct false_claim c = { map64_get(&g->arrivals, end_of(node, num)), end_of(node, num) };

		if (c.from == NONE || true_end(g, c.to) != NONE || is_doubted(g, c.from >> 8) ||
		    stands_in(g, c.from >> 8))
			continue;
		is_stand_ins(g, t, &c);
		*vec_push(&t->v) = c;
	}
}

/*
 * Drops places of a twin that are behind ports of the node itself, if the twin has other places:
 * should the next scan take the twin for the node, such a place would be the twin's.
 */
static void drop_own_places(const struct guard *g, struct twins *t)
{
	size_t kept = 0;
	bool elsewhere;

	for (size_t i = 0, next; i < t->v.n; i = next) {
		uint32_t node = t->v.v[i].to >> 8;

		elsewhere = false;
		for (next = i; next < t->v.n && t->v.v[next].to >> 8 == node; next++)
			elsewhere |= t->v.v[next].from >> 8 != node;
		for (size_t k = i; k < next; k++)
			if (!elsewhere || t->v.v[k].from >> 8 != node || stands_in(g, node))
				t->v.v[kept++] = t->v.v[k];
	}
	t->v.n = kept;
}

static void find_twins(struct guard *g, struct twins *t)
{
	find_same(g);
	for (size_t i = 0; i < g->twins.n; i++)
		if (stands_in(g, g->twins.v[i].from >> 8))
			map64_put(&t->walked, g->twins.v[i].to, g->twins.v[i].from);
	for (size_t i = 0; i < g->twins.n; i++) {
		uint32_t to = g->twins.v[i].to, taken = map64_get(&g->walks, to);

		add_twin(g, t, g->twins.v[i]);
		/* that link was accepted, but may be the stand-in's */
		if (stands_in(g, g->twins.v[i].from >> 8) && taken != NONE)
			add_twin(g, t, (struct false_claim){ to, taken });
	}
	for (size_t i = 0; i < g->false_claims.n; i++)
		add_twin(g, t, g->false_claims.v[i]);
	for (size_t i = 0, n = t->v.n; i < n; i++) {
		struct seen *twin = &g->nodes.v[t->v.v[i].to >> 8];

		if (!twin->has_twin && twin->guid == twin->said)
			add_unproven(g, t, t->v.v[i].to >> 8);
		twin->has_twin = true;
	}
	if (t->v.n)
		qsort(t->v.v, t->v.n, sizeof(t->v.v[0]), by_node_and_place);
	drop_own_places(g, t);
}

/* Depends on the set of places only, not on the order in which the scan met them. */
static uint64_t new_stand_in(const struct guard *g, const struct false_claim *c, size_t n)
{
	uint64_t guid = 0, said = g->nodes.v[c->to >> 8].guid, one;

	for (size_t i = 0; i < n; i++) {
		one = excluded_stand_in(said, g->nodes.v[c[i].from >> 8].guid, c[i].from & 0xff);
		if (!i || one < guid)
			guid = one;
	}
	while (map64_get(&g->by_guid, guid) != NONE)
		guid = excluded_stand_in(guid, guid, 0);
	return guid;
}

static void tell_twin(const struct guard *g, const struct false_claim *c, uint64_t known_as,
		      void (*found)(void *arg, const struct disco_excluded *x), void *arg)
{
	const struct seen *n = &g->nodes.v[c->to >> 8];
	uint32_t first = map64_get(&g->by_guid, n->said);
	struct disco_excluded x = { 0 };

	excluded_describe(&x, n->node_info);
	x.a = x.data[NI_LOCAL_PORT] = (uint8_t)c->to;
	x.why = EXCLUDED_TWIN;
	x.known_as = known_as;
	set_near(g, &x, c->from);
	set_other(g, &x, first == NONE ? NONE : g->nodes.v[first].near);
	found(arg, &x);
}

static void tell_twins(const struct guard *g, const struct twins *t,
		       void (*found)(void *arg, const struct disco_excluded *x), void *arg)
{
	for (size_t i = 0, next; i < t->v.n; i = next) {
		const struct false_claim *c = &t->v.v[i];
		uint64_t known_as = g->nodes.v[c->to >> 8].guid;

		for (next = i + 1; next < t->v.n && t->v.v[next].to >> 8 == c->to >> 8; next++)
			;
		if (!stands_in(g, c->to >> 8))
			known_as = new_stand_in(g, c, next - i);
		for (size_t k = i; k < next; k++)
			tell_twin(g, &t->v.v[k], known_as, found, arg);
	}
}

/* Reports the devices whose GUIDs or NodeType this scan corrected. */
static void tell_met(const struct guard *g, void (*found)(void *arg, const struct disco_excluded *x), void *arg)
{
	for (size_t i = 0; i < g->n_left; i++) {
		struct disco_excluded x = g->left[i];
		uint32_t first = map64_get(&g->by_guid, x.guid), node = map64_get(&g->by_guid, x.known_as);

		if (!g->met[i])
			continue;
		if (x.why == EXCLUDED_SWITCH) {
			found(arg, &x);
			continue;
		}
		if (node != NONE && g->nodes.v[node].is_same)
			x.known_as = 0;
		if (first != NONE)
			set_other(g, &x, g->nodes.v[first].near);
		found(arg, &x);
	}
}

/* True if SMPs that left the two nodes by the same port arrived at different undoubted devices. */
static bool lead_elsewhere(const struct guard *g, uint32_t a, uint32_t b)
{
	unsigned ports = g->nodes.v[a].ports;

	for (unsigned num = 1; num <= ports && num <= g->nodes.v[b].ports; num++) {
		uint32_t x = map64_get(&g->walks, end_of(a, num));
		uint32_t y = map64_get(&g->walks, end_of(b, num));

		if (x != NONE && y != NONE && x != y && !is_doubted(g, x >> 8) && !is_doubted(g, y >> 8))
			return true;
	}
	return false;
}

/*
 * True if the pair may be one device: no link of either is confirmed from both ends, and the two
 * are not linked to different devices.
 */
static bool are_one(const struct guard *g, const struct pair *p)
{
	return !is_confirmed(g, p->a) && !is_confirmed(g, p->b) &&
	       (p->b == NONE || !lead_elsewhere(g, p->a, p->b));
}

/* Sets `doubtful` anew for suspected pairs, now that all answers are in. */
static void judge_doubts(struct guard *g)
{
	for (const struct pair *p = g->one.v; p < vec_end(&g->one); p++) {
		g->nodes.v[p->a].doubtful = false;
		if (p->b != NONE)
			g->nodes.v[p->b].doubtful = false;
	}
	for (const struct pair *p = g->one.v; p < vec_end(&g->one); p++) {
		if (!are_one(g, p))
			continue;
		g->nodes.v[p->a].doubtful = true;
		if (p->b != NONE)
			g->nodes.v[p->b].doubtful = true;
	}
}

/* Sets false_name for each node that is to be excluded. */
static void find_false_names(const struct guard *g, bool *false_name)
{
	uint32_t other;

	for (const struct pair *p = g->one.v; p < vec_end(&g->one); p++) {
		if (!are_one(g, p))
			continue;
		false_name[p->a] = true;
		if (p->b != NONE)
			false_name[p->b] = true;
	}
	for (uint32_t i = 1; i < g->nodes.n; i++)
		false_name[i] |= judge(g, i, &other) != EXCLUDED_NOT;
	false_name[0] = false;		/* our own device */
}

void guard_finish(struct guard *g, void (*found)(void *arg, const struct disco_excluded *x), void *arg)
{
	/*
	 * what is behind an excluded node is reported later: in the next scan that GUID is another
	 * device's
	 */
	bool *false_name = xcalloc(g->nodes.n + 1, sizeof(*false_name));
	struct twins twins = { 0 };
	enum excluded_why why;
	uint32_t other;

	judge_doubts(g);
	find_twins(g, &twins);
	find_false_names(g, false_name);
	for (const struct pair *p = g->one.v; p < vec_end(&g->one); p++) {
		uint32_t near_b = p->b == NONE ? p->from : g->nodes.v[p->b].near;

		if (!are_one(g, p))
			continue;
		if (g->nodes.v[p->a].near != NONE && !false_name[g->nodes.v[p->a].near >> 8])
			tell(g, p->a, g->nodes.v[p->a].near, EXCLUDED_GUID_CHANGES, NONE, found, arg);
		if (near_b == NONE || false_name[near_b >> 8])
			continue;
		if (p->b == NONE)
			tell_changes(g, near_b, p->guid, found, arg);
		else
			tell(g, p->b, near_b, EXCLUDED_GUID_CHANGES, NONE, found, arg);
	}
	for (size_t i = 0; i < g->false_claims.n; i++)
		tell_false_claim(g, &g->false_claims.v[i], found, arg);
	for (uint32_t i = 1; i < g->nodes.n; i++) {
		why = judge(g, i, &other);
		if (why != EXCLUDED_NOT && !false_name[g->nodes.v[i].near >> 8])
			tell(g, i, g->nodes.v[i].near, why, other, found, arg);
	}
	tell_met(g, found, arg);
	tell_twins(g, &twins, found, arg);
	vec_free(&twins.v);
	map64_free(&twins.walked);
	free(false_name);
}
