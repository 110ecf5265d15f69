/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Evaluates the answers to a probe: updates the fabric, and asks what they leave open.
 */
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "fabric/edit.h"
#include "sm/devices/exclusions.h"
#include "sm/devices/implausible.h"
#include "sm/devices/silent.h"
#include "sm/keys/mkey.h"
#include "sm/probe/probe.h"
#include "sm/write/refused_sets.h"

#define TRIES_MAX	3	/* rounds in which a question is asked */
#define NODES_MORE	4096	/* new nodes, beyond doubling the fabric; more must be invented by a device */

/*
 * Asks again for ports that were read before the switch's PortStateChange was cleared (or perhaps
 * cleared): they may have changed since without another report.
 */
static void ask_ports_again(struct probe *p, uint32_t node)
{
	for (unsigned num = 0; num <= p->f->nodes[node].nports; num++)
		if (probe_was_asked(p, node, num, ASK_PORT))
			*vec_push(&p->later) = (struct ask){ .node = node, .num = (uint8_t)num,
							     .kind = ASK_PORT };
}

void probe_suspect_gone(struct probe *p, uint32_t node)
{
	const struct fabric_node *n = &p->f->nodes[node];

	if (!node_is_switch(n) || p->heard.v[node] || p->avoided.v[node])
		return;
	p->avoided.v[node] = 1;
	for (unsigned num = 1; num <= n->nports; num++) {
		uint32_t peer = p->f->ports[n->port0 + num].peer;

		if (peer != FABRIC_NONE && node_is_switch(port_node(p->f, peer)))
			probe_ask(p, p->f->ports[peer].node, p->f->ports[peer].num, ASK_PORT);
	}
}

static void set_down(struct fabric_port *p)
{
	uint8_t info[64];
	bool plain = p->plain;

	memcpy(info, p->info, sizeof(info));
	mad_set_field(info, 0, IB_PORT_STATE_F, IB_PORT_DOWN_S);
	fabric_port_store(p, info);
	p->plain = plain;
	p->fdr10 = p->fdr10_enabled = false;
}

/* The link of a port is down, or leads elsewhere now. */
static void cut(struct probe *p, uint32_t port)
{
	uint32_t peer = p->f->ports[port].peer, far;

	if (peer == FABRIC_NONE)
		return;
	far = p->f->ports[peer].node;
	set_down(&p->f->ports[peer]);
	if (node_is_switch(&p->f->nodes[far]) && map64_get(&p->hearsay, peer) != HEARSAY_ASKED)
		map64_put(&p->hearsay, peer, HEARSAY);
	fabric_cut(p->f, port);
	p->spare.v[far] |= SPARE_EXPLAINED;
	probe_mark(p, p->f->ports[port].node);
	probe_mark(p, far);
	p->cut = true;
	/* a switch that is itself asked will report it */
	if (!probe_was_asked(p, far, 0, ASK_SWITCH))
		probe_suspect_gone(p, far);
}

/* Compares all that is decoded from PortInfo. */
static bool same_port(const struct fabric_port *a, const struct fabric_port *b)
{
	return a->capmask == b->capmask && a->lid == b->lid && a->sm_lid == b->sm_lid &&
	       a->lmc == b->lmc && a->state == b->state && a->mtu_cap == b->mtu_cap &&
	       a->neighbor_mtu == b->neighbor_mtu && a->vl_cap == b->vl_cap &&
	       a->op_vls == b->op_vls && a->vlarb_high_cap == b->vlarb_high_cap &&
	       a->vlarb_low_cap == b->vlarb_low_cap && a->rate == b->rate &&
	       !mkey_differs(a->info, b->info);
}

/*
 * A port that reports an undefined PortState keeps the known state, until the far end shows that
 * the link has trained anew.  Then the state is unknown (IB_PORT_NOP), and neither end is made
 * Active.
 */
static void forget_state(struct probe *p, uint32_t port)
{
	struct fabric_port *unsure = &p->f->ports[port];

	if (unsure->peer == FABRIC_NONE || unsure->state <= p->f->ports[unsure->peer].state)
		return;
	unsure->state = IB_PORT_NOP;
	probe_mark(p, unsure->node);
}

/* Neither end of the link answers, and one of them has sent a trap about a change. */
static bool both_unsure(const struct probe *p, uint32_t port)
{
	const struct fabric_port *end = &p->f->ports[port], *far = &p->f->ports[end->peer];

	return p->silent.v[far->node] && !p->heard.v[far->node] &&
	       (end->state != IB_PORT_NOP || far->state != IB_PORT_NOP) &&
	       (silent_has_told(p->sm, p->f->nodes[end->node].guid) ||
		silent_has_told(p->sm, p->f->nodes[far->node].guid));
}

/*
 * A silent switch cannot report that one of its links has trained anew.  Without a report qosd does not
 * set the switch's end of the link, which stays in Init and drops packets.
 */
void probe_forget_states(struct probe *p, uint32_t node)
{
	const struct fabric_node *n = &p->f->nodes[node];

	for (uint32_t i = n->port0 + 1; i <= n->port0 + n->nports && node_is_switch(n); i++) {
		uint32_t peer = p->f->ports[i].peer;

		if (peer == FABRIC_NONE || !node_is_switch(port_node(p->f, peer)))
			continue;
		if (both_unsure(p, i)) {
			p->f->ports[i].state = p->f->ports[peer].state = IB_PORT_NOP;
			probe_mark(p, node);
			probe_mark(p, p->f->ports[peer].node);
		} else {
			forget_state(p, i);
		}
	}
}

/* The answer has crossed the very link that it is about.  A switch may have sent it by another. */
static bool answered_by(const struct fabric *f, const struct ask *a)
{
	const struct fabric_node *n = &f->nodes[a->node];

	return !node_is_switch(n) && n->hops && a->num == n->local_port;
}

/*
 * Handles PortInfo that cannot be true.  A known port keeps its values.  A new port takes the
 * answer nevertheless: without it the node, which a discovery would have found, would be missing.
 */
static void doubt_port(struct probe *p, const struct ask *a, uint32_t port)
{
	if (!p->f->ports[port].present) {
		fabric_port_store(&p->f->ports[port], a->data);
		p->f->ports[port].plain = a->plain;
		probe_mark(p, a->node);
	}
	forget_state(p, port);
}

static void port_answered(struct probe *p, const struct ask *a)
{
	uint32_t port = p->f->nodes[a->node].port0 + a->num;
	struct fabric_port *now = &p->f->ports[port], before = *now;
	uint32_t peer = before.peer;
	unsigned state = mad_get_field((uint8_t *)(uintptr_t)a->data, 0, IB_PORT_STATE_F);

	if (state < IB_PORT_DOWN_S || state > IB_PORT_ACTIVE_S) {
		implausible_note(p->sm, p->f, port, false, implausible_digest(UMAD_SM_ATTR_PORT_INFO, a->data),
				 "reports PortState %u, which does not exist", state);
		doubt_port(p, a, port);
		return;		/* the rest of such an answer is worth nothing */
	}
	if (state == IB_PORT_DOWN_S && answered_by(p->f, a)) {
		implausible_note(p->sm, p->f, port, false, implausible_digest(UMAD_SM_ATTR_PORT_INFO, a->data),
				 "reports that the link over which it answers is down");
		doubt_port(p, a, port);
		return;
	}
	implausible_clear(p->sm, p->f, port, false);
	if (map64_get(&p->hearsay, port) == HEARSAY)
		map64_put(&p->hearsay, port, HEARSAY_NOT);
	if (state <= IB_PORT_INIT_S && isolated_settles(p->sm, p->f, port)) {
		probe_settles(p, a->node);
		return;
	}
	fabric_port_store(now, a->data);
	now->plain = a->plain;
	/* if the port is implausible, any difference counts */
	if (!before.present || !same_port(&before, now) ||
	    (implausible_know(p->sm, p->f, port, false) && memcmp(before.info, now->info, sizeof(now->info))))
		probe_mark(p, a->node);
	if (now->state < before.state ||
	    (before.state < IB_PORT_INIT_S && now->state >= IB_PORT_INIT_S))
		p->spare.v[a->node] |= SPARE_EXPLAINED;
	if (a->num == 0)
		return;
	if (now->state < IB_PORT_ARMED_S)
		/* asked again, if the port is of a kind that has FDR10 */
		now->fdr10 = now->fdr10_enabled = false;
	if (now->state < IB_PORT_INIT_S) {
		cut(p, port);
		return;
	}
	if (peer == FABRIC_NONE) {
		probe_ask(p, a->node, a->num, ASK_BEHIND);
		return;
	}
	if (same_port(&before, now)) {
		/* it may have gone down once more after the far end was made Active */
		if (now->state < p->f->ports[peer].state)
			probe_ask(p, p->f->ports[peer].node, p->f->ports[peer].num, ASK_PORT);
		return;
	}
	/*
	 * the link was down for a while, so another device may be there; or the port's capabilities
	 * changed
	 */
	probe_mark(p, p->f->ports[peer].node);
	if (probe_was_asked(p, p->f->ports[peer].node, p->f->ports[peer].num, ASK_PORT) &&
	    implausible_know(p->sm, p->f, peer, false))
		forget_state(p, peer);
	if (now->state < before.state) {
		probe_ask(p, a->node, a->num, ASK_BEHIND);
		if (node_is_switch(port_node(p->f, peer)))	/* it may have lost its tables */
			probe_ask(p, p->f->ports[peer].node, 0, ASK_SWITCH);
	}
	probe_ask(p, p->f->ports[peer].node, p->f->ports[peer].num, ASK_PORT);
}

static void switch_answered(struct probe *p, const struct ask *a)
{
	struct fabric_switch *s = &p->f->switches[p->f->nodes[a->node].sw], before = *s;

	fabric_switch_store(s, a->data);
	if (before.lft_top != s->lft_top || before.lifetime != s->lifetime ||
	    before.lft_cap != s->lft_cap || before.mcast_cap != s->mcast_cap ||
	    before.mcast_top != s->mcast_top) {
		probe_mark(p, a->node);
		p->spare.v[a->node] |= SPARE_NOT;
	}
	if (s->port_change && a->kind != ASK_CLEAR && !mkey_is_mismatched(p->sm, p->f, a->node) &&
	    !refused_clearing(p->sm, p->f->nodes[a->node].guid)) {
		probe_ask(p, a->node, 0, ASK_CLEAR);
		return;
	}
	if (s->port_change)	/* still set, or set again: the change found may be another one */
		p->spare.v[a->node] |= SPARE_NOT;
	else if (a->kind == ASK_SWITCH)	/* clearing it has shown all changes */
		p->spare.v[a->node] |= SPARE_EXPLAINED;
	else if (a->kind == ASK_OTHER_END)
		p->spare.v[a->node] |= SPARE_QUIET;
	if (a->kind == ASK_CLEAR)
		ask_ports_again(p, a->node);
	if (a->kind != ASK_OTHER_END || !probe_may_spare(p, a->node))
		probe_ask_some_ports(p, a->node);
}

static void desc_answered(struct probe *p, const struct ask *a)
{
	struct fabric_node *n = &p->f->nodes[a->node];
	char desc[sizeof(n->desc)] = { 0 };

	memcpy(desc, a->data, sizeof(desc) - 1);
	if (!memcmp(desc, n->desc, sizeof(desc)))
		return;
	memcpy(n->desc, desc, sizeof(desc));
	probe_mark(p, a->node);
}

/* The device is a switch with the port GUID of a node that is there, reached by another link. */
static bool is_copy(struct probe *p, const struct ask *a)
{
	uint8_t *info = (uint8_t *)(uintptr_t)a->data;		/* libibmad only reads it */
	uint32_t port = p->f->nodes[a->node].port0 + a->num, near;
	uint32_t other = fabric_find_port(p->f, mad_get_field64(info, 0, IB_NODE_PORT_GUID_F));

	if (mad_get_field(info, 0, IB_NODE_TYPE_F) != IB_NODE_SWITCH_T || other == FABRIC_NONE)
		return false;
	for (unsigned num = 1; num <= port_node(p->f, other)->nports; num++) {
		near = p->f->ports[port_node(p->f, other)->port0 + num].peer;
		if (near == FABRIC_NONE || near == port)
			continue;
		if (implausible_note(p->sm, p->f, port, true, implausible_digest(UMAD_SM_ATTR_NODE_INFO, info),
				     "reports the port GUID of %s, which is elsewhere",
				     NODE_NAME(p->f, p->f->ports[other].node)))
			probe_doubt(p, "two switches have the same port GUID");
		return true;
	}
	return false;
}

/*
 * A known switch reports the port GUID of another node.  It keeps its old port GUID, as all of its
 * links are known by its node GUID; the answer is listed as implausible.
 */
static bool takes_a_port_guid(struct probe *p, uint32_t port, uint32_t node, uint8_t *info)
{
	uint64_t guid = mad_get_field64(info, 0, IB_NODE_PORT_GUID_F);
	uint32_t owner = fabric_find_port(p->f, guid);

	if (!node_is_switch(&p->f->nodes[node]) || owner == FABRIC_NONE ||
	    p->f->ports[owner].node == node)
		return false;
	implausible_note(p->sm, p->f, port, true, implausible_digest(UMAD_SM_ATTR_NODE_INFO, info),
			 "reports the port GUID of %s", PORT_NAME(p->f, owner));
	return true;
}

/* Adds a new node, which the port of a->node leads to. */
static uint32_t add_node(struct probe *p, const struct ask *a)
{
	static const uint8_t no_switch_info[20];
	const struct fabric_node *from = &p->f->nodes[a->node];
	uint8_t route[IB_DR_HOPS_MAX + 1];
	uint32_t node;

	if (p->f->n_nodes > 2 * p->n_before + NODES_MORE) {
		probe_doubt(p, "there are more nodes than a subnet can have");
		return FABRIC_NONE;
	}
	memcpy(route, p->f->routes + from->route, from->hops);
	route[from->hops] = a->num;
	node = fabric_add_node(p->f, a->data, "", no_switch_info, route, from->hops + 1u);
	if (node == FABRIC_NONE)
		return node;
	probe_add_flags(p);
	p->heard.v[node] = 1;
	p->spare.v[node] = SPARE_NOT;
	probe_mark(p, node);
	probe_ask_node(p, node, true);
	return node;
}

/* The device's NodeInfo is useless, or is still what the device was excluded for. */
static bool is_excluded(struct probe *p, const struct ask *a)
{
	const struct fabric_node *near = &p->f->nodes[a->node];
	struct disco_excluded x = { .near_guid = near->guid, .near_port = a->num,
				.why = (uint8_t)excluded_judge(a->data) };

	if (exclusions_holds(p->sm, near->guid, a->num, a->data))
		return true;
	if (!x.why)
		return false;
	excluded_describe(&x, a->data);
	exclusions_put(p->sm, p->f, &x);
	return true;
}

/*
 * Handles NodeInfo that no node can have.  If the link has not been down since the node behind it
 * gave a good answer, that answer stands; else the link gets no far end.
 */
static void makes_no_sense(struct probe *p, uint32_t port, uint8_t *info)
{
	unsigned num = mad_get_field(info, 0, IB_NODE_LOCAL_PORT_F);
	unsigned nports = mad_get_field(info, 0, IB_NODE_NPORTS_F);

	implausible_note(p->sm, p->f, port, true, implausible_digest(UMAD_SM_ATTR_NODE_INFO, info),
			 "reports NodeType %u, NumPorts %u, LocalPortNum %u, node GUID 0x%016llx, which is "
			 "implausible: it is excluded",
			 mad_get_field(info, 0, IB_NODE_TYPE_F), nports, num,
			 (unsigned long long)mad_get_field64(info, 0, IB_NODE_GUID_F));
	if (p->f->ports[port].state < IB_PORT_ACTIVE_S)
		cut(p, port);
}

/*
 * NodeInfo from behind a port contradicts that of another device.  It is unknown which is wrong:
 * everything is discovered, but only once for the same answer.
 */
static void contradicts(struct probe *p, uint32_t port, uint32_t node, unsigned num, uint8_t *info,
			const char *why)
{
	if (implausible_note(p->sm, p->f, port, true, implausible_digest(UMAD_SM_ATTR_NODE_INFO, info),
			     "claims to be port %u of %u of %s, which is elsewhere or another device", num,
			     mad_get_field(info, 0, IB_NODE_NPORTS_F), NODE_NAME(p->f, node)))
		probe_doubt(p, why);
}

/* --- both ends of a link between known switches --- */

/*
 * The port was found not to be this port's far end.  As the former far end is up, it is asked who
 * is there.
 */
static void part(struct probe *p, uint32_t port)
{
	uint32_t peer = p->f->ports[port].peer;

	if (peer == FABRIC_NONE)
		return;
	fabric_cut(p->f, port);
	probe_mark(p, p->f->ports[peer].node);
	probe_ask(p, p->f->ports[peer].node, p->f->ports[peer].num, ASK_BEHIND);
}

/* Both ends name each other. */
static void link_up(struct probe *p, uint32_t a, uint32_t b)
{
	part(p, a);
	part(p, b);
	fabric_link(p->f, p->f->ports[a].node, p->f->ports[a].num, p->f->ports[b].node,
		    p->f->ports[b].num);
	implausible_clear(p->sm, p->f, a, true);
	implausible_clear(p->sm, p->f, b, true);
	probe_mark(p, p->f->ports[a].node);
	probe_mark(p, p->f->ports[b].node);
	p->cut = true;		/* there may be a better route now */
	/* it may have lost its tables */
	probe_ask(p, p->f->ports[b].node, 0, ASK_SWITCH);
	probe_ask(p, p->f->ports[b].node, p->f->ports[b].num, ASK_PORT);
}

/*
 * An answer from behind `port` names `peer`, a port of a known switch.  A device that falsely
 * claims another's port would take that port from its real link, so the far end is asked, too.
 * True: it confirms.
 */
static bool both_say_so(struct probe *p, uint32_t port, uint32_t peer)
{
	map64_put(&p->claims, port, peer);
	if (map64_get(&p->claims, peer) == port)
		return true;
	probe_ask(p, p->f->ports[peer].node, p->f->ports[peer].num, ASK_BEHIND);
	return false;
}

/*
 * Nothing answers behind a port: a port that claims to be linked there is believed if this port has
 * a link.
 */
static void nobody_behind(struct probe *p, uint32_t port)
{
	const struct map64 *m = &p->claims;

	if (p->f->ports[port].state == IB_PORT_DOWN_S)
		return;
	for (uint32_t i = 0; m->n && i <= m->mask; i++)
		if (m->slots[i].value == port && p->f->ports[port].peer == FABRIC_NONE &&
		    p->f->ports[m->slots[i].key].peer == FABRIC_NONE) {
			link_up(p, (uint32_t)m->slots[i].key, port);
			return;
		}
}

void probe_judge_claims(struct probe *p)
{
	const struct map64 *m = &p->claims;

	for (uint32_t i = 0; m->n && i <= m->mask; i++) {
		uint32_t port = (uint32_t)m->slots[i].key, peer = m->slots[i].value;
		uint32_t said = peer == MAP64_NONE ? 0 : map64_get(&p->said, port);

		if (peer != MAP64_NONE && p->f->ports[port].peer != peer)
			implausible_note(p->sm, p->f, port, true, said == MAP64_NONE ? 0 : said,
					 "claims to be %s, whose answers differ",
					 PORT_NAME(p->f, peer));
	}
}

/* The port of the published fabric that is the port of p->f; FABRIC_NONE: it is not there. */
static uint32_t published_port(const struct probe *p, uint32_t port)
{
	const struct fabric *f = p->sm->published ? p->sm->published->f : NULL;
	uint32_t node = f ? fabric_same_node(f, port_node(p->f, port)) : FABRIC_NONE;

	return node == FABRIC_NONE ? FABRIC_NONE : f->nodes[node].port0 + p->f->ports[port].num;
}

static bool was_linked(const struct probe *p, uint32_t port, uint32_t peer)
{
	uint32_t a = published_port(p, port), b = published_port(p, peer);

	return a != FABRIC_NONE && b != FABRIC_NONE && p->sm->published->f->ports[a].peer == b;
}

#define LOOKS_MAX 2

/*
 * A device answers from behind another port than before.  If it was moved, its old port reports
 * that the link is down, or another device answers there.  Asks that port, then this one again.
 * False: that was done, and the device still answers from the old port as well.
 */
static bool ask_where_it_was(struct probe *p, const struct ask *a, uint32_t was)
{
	struct ask again = *a;

	if (a->looks == LOOKS_MAX)
		return false;
	probe_ask(p, p->f->ports[was].node, p->f->ports[was].num,
		  again.looks++ ? ASK_BEHIND : ASK_PORT);
	probe_ask_last(p, &again);
	return true;
}

/* Evaluates NodeInfo from the device behind a port. */
static void behind_answered(struct probe *p, const struct ask *answered)
{
	struct ask renamed = *answered;
	const struct ask *a = &renamed;
	uint8_t *info = renamed.data;
	unsigned num = mad_get_field(info, 0, IB_NODE_LOCAL_PORT_F);
	uint32_t port = p->f->nodes[a->node].port0 + a->num, peer, node;
	uint64_t guid, port_guid;
	bool known;

	exclusions_rename(p->sm, p->f, port, info);
	guid = mad_get_field64(info, 0, IB_NODE_GUID_F);
	port_guid = mad_get_field64(info, 0, IB_NODE_PORT_GUID_F);
	node = map64_get(&p->f->node_by_guid, guid);
	known = node != MAP64_NONE;
	/* the link gets no far end, whatever was there */
	if (is_excluded(p, a)) {
		if (p->f->ports[port].state < IB_PORT_ACTIVE_S)
			cut(p, port);
		return;
	}
	if (node == MAP64_NONE && is_copy(p, a))
		return;
	if (num < 1 || num > mad_get_field(info, 0, IB_NODE_NPORTS_F)) {
		makes_no_sense(p, port, info);
		return;
	}
	/* whatever is there, neither it nor what it leads to is looked at */
	if (isolated_forbids(p->sm, p->f, port, guid, num)) {
		part(p, port);
		return;
	}
	if (node == MAP64_NONE)
		node = add_node(p, a);
	if (node == MAP64_NONE) {
		makes_no_sense(p, port, info);
		return;
	}
	if (p->f->nodes[node].nports != mad_get_field(info, 0, IB_NODE_NPORTS_F) ||
	    p->f->nodes[node].type != mad_get_field(info, 0, IB_NODE_TYPE_F)) {
		contradicts(p, port, node, num, info, "two nodes have the same GUID, or a node was "
				"replaced");
		return;
	}
	map64_put(&p->key_of_port, agent_port(p->f, node, num), probe_key_behind(p, a));
	p->heard.v[node] = 1;
	if (p->f->nodes[node].silent)	/* the other questions to it are left to the next sweep */
		silent_heard(p->sm, guid);
	peer = p->f->nodes[node].port0 + num;
	if (p->f->ports[port].peer == peer) {
		if (takes_a_port_guid(p, port, node, info))
			return;
		implausible_clear(p->sm, p->f, port, true);
		/* the stored NodeInfo has the port GUID of LocalPortNum */
		if (num == p->f->nodes[node].local_port && fabric_node_store(p->f, node, info))
			probe_mark(p, node);
		if (!node_is_switch(&p->f->nodes[node]) && p->f->ports[peer].guid != port_guid) {
			p->f->ports[peer].guid = port_guid;
			probe_mark(p, node);
		}
		return;
	}
	if (known && node_is_switch(&p->f->nodes[node]) && node_is_switch(&p->f->nodes[a->node])) {
		map64_put(&p->said, port, implausible_digest(UMAD_SM_ATTR_NODE_INFO, info));
		if (both_say_so(p, port, peer))
			link_up(p, port, peer);
		return;
	}
	if (p->f->ports[peer].peer != FABRIC_NONE && was_linked(p, port, peer)) {
		/* another device, behind the other port, took its place */
		part(p, peer);
	}
	if (p->f->ports[peer].peer != FABRIC_NONE) {
		if (!ask_where_it_was(p, a, p->f->ports[peer].peer))
			contradicts(p, port, node, num, info, "a port appears in two places");
		return;
	}
	implausible_clear(p->sm, p->f, port, true);
	cut(p, port);
	fabric_link(p->f, a->node, a->num, node, num);
	if (!node_is_switch(&p->f->nodes[node]))
		p->f->ports[peer].guid = port_guid;
	else
		for (unsigned i = 0; i <= p->f->nodes[node].nports; i++)
			p->f->ports[p->f->nodes[node].port0 + i].guid = port_guid;
	probe_mark(p, a->node);
	probe_mark(p, node);
	p->cut = true;		/* there may be a better route now */
	if (node_is_switch(&p->f->nodes[node]))	/* it may have lost its tables */
		probe_ask(p, node, 0, ASK_SWITCH);
	probe_ask(p, node, num, ASK_PORT);
	if (known)	/* the known name may be that of a device which claimed this one's GUIDs elsewhere */
		probe_ask(p, node, 0, ASK_DESC);
}

/*
 * Asks the switches on the route to a node: one may have fallen silent and pass nothing on.
 * Routes avoid switches that do not answer.
 */
static void ask_on_the_way(struct probe *p, uint32_t node)
{
	const struct fabric_node *n = &p->f->nodes[node];
	uint32_t at = p->f->ports[p->f->self].node;

	for (unsigned i = 0; i + 1u < n->hops && n->hops != FABRIC_UNREACHED; i++) {
		uint32_t peer = p->f->ports[p->f->nodes[at].port0 + p->f->routes[n->route + i]].peer;

		if (peer == FABRIC_NONE)
			return;
		at = p->f->ports[peer].node;
		if (!node_is_switch(&p->f->nodes[at]))
			return;
		if (!p->heard.v[at] && !probe_was_asked(p, at, 0, ASK_SWITCH))
			probe_ask(p, at, 0, ASK_OTHER_END);
	}
}

/* A question had no answer, perhaps because of its route, which may change in a later round. */
static void unanswered(struct probe *p, const struct ask *a)
{
	const struct fabric_port *self = &p->f->ports[p->f->self];

	if (a->kind == ASK_BEHIND && !a->sent) {
		if (a->tries < TRIES_MAX)
			*vec_push(&p->later) = *a;
		return;
	}
	if (a->kind == ASK_BEHIND) {
		/* counted at the end as a link that is up without a far end */
		if (a->key + 1u < mkey_count(p->sm)) {
			*vec_push(&p->later) = *a;
			p->later.v[p->later.n - 1].key++;
		} else {
			nobody_behind(p, p->f->nodes[a->node].port0 + a->num);
		}
		return;
	}
	if (a->kind == ASK_CLEAR) {
		/*
		 * it answered a moment ago, and may have another's M_Key now; if not, it still
		 * reports the change
		 */
		ask_ports_again(p, a->node);
		probe_ask_ports(p, a->node);
		return;
	}
	probe_ask(p, self->node, self->num, ASK_PORT);	/* our own link may be down */
	probe_suspect_gone(p, a->node);
	ask_on_the_way(p, a->node);
	if (a->tries < TRIES_MAX) {
		*vec_push(&p->later) = *a;
		/* asked after the switches on its route, or by another route if one of them is lost */
		p->later.v[p->later.n - 1].cuts++;
		p->cut = true;
	} else {
		p->silent.v[a->node] = 1;
	}
}

/*
 * Handles an error status where none is possible.  A single one tells nothing; light sweeps ask a
 * device that repeats it.  If its link was down since the last good answer, another device may be
 * there, so a good answer must come first: its port is no longer Active, whatever is known of it.
 */
static void answered_with_error(struct probe *p, const struct ask *a)
{
	uint32_t port = p->f->nodes[a->node].port0 + a->num;
	bool behind = a->kind == ASK_BEHIND;

	if (a->kind == ASK_SWITCH || a->kind == ASK_CLEAR)
		probe_ask_ports(p, a->node);
	if (a->kind != ASK_PORT && !behind)
		return;
	if (a->tries < TRIES_MAX) {
		*vec_push(&p->later) = *a;
		return;
	}
	implausible_note(p->sm, p->f, port, behind, implausible_digest_error(a->status),
			 "answers Gets of %s with an error", behind ? "NodeInfo" : "PortInfo");
	if (!behind)
		forget_state(p, port);
	else if (p->f->ports[port].state < IB_PORT_ACTIVE_S)
		cut(p, port);
}

void probe_evaluate(struct probe *p, const struct ask *a)
{
	if (a->lost) {
		unanswered(p, a);
		return;
	}
	p->heard.v[a->node] = 1;
	p->avoided.v[a->node] = 0;
	if (a->status) {
		answered_with_error(p, a);
		return;
	}
	switch ((enum ask_kind)a->kind) {
	case ASK_SWITCH:
	case ASK_OTHER_END:
	case ASK_CLEAR:
		switch_answered(p, a);
		break;
	case ASK_DESC:
		desc_answered(p, a);
		break;
	case ASK_PORT:
		port_answered(p, a);
		break;
	case ASK_BEHIND:
		behind_answered(p, a);
		break;
	}
}
