/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides which ports of a switch that reports a change need not be read.
 *
 * Ports are skipped at first if they are Active and lead to a switch that reports nothing: a link
 * changes at both ends, and both ends report it.  Once a changed port was found, or the report came
 * late (PortStateChange is clear), the switch at the far end of each skipped port is asked for its
 * SwitchInfo, once per switch.  If that shows no change either, the port was rightly skipped; in
 * any other case it is read, too.  So are ports of switches whose PortStateChange may have been
 * cleared without the ports being read since (sm->known.blind).
 *
 * Ports whose links isolation took down a moment ago are not read at all: they explain the report.
 *
 * This misses a link that one end was told to take down, or has not missed yet; hence skipped ports
 * are read after the next light sweep.
 */

#include "fabric/edit.h"
#include "sm/keys/mkey.h"
#include "sm/probe/probe.h"

bool probe_may_spare(const struct probe *p, uint32_t node)
{
	return !p->found && !p->sm->known.blind_all && !(p->spare.v[node] & SPARE_NOT) &&
	       !mkey_is_mismatched(p->sm, p->f, node) &&
	       map64_get(&p->sm->known.blind, p->f->nodes[node].guid) == MAP64_NONE;
}

/* The far end's node, of a port with a link. */
static uint32_t far_node(const struct probe *p, uint32_t port)
{
	return p->f->ports[p->f->ports[port].peer].node;
}

/* If something happened to the port's link, the switch at the far end will report it. */
static bool other_end_tells(const struct probe *p, uint32_t port)
{
	const struct fabric_port *a = &p->f->ports[port], *b;

	if (!a->num || a->peer == FABRIC_NONE || a->state != IB_PORT_ACTIVE_S)
		return false;
	b = &p->f->ports[a->peer];
	return b->num && b->state == IB_PORT_ACTIVE_S && node_is_switch(&p->f->nodes[b->node]) &&
	       p->f->nodes[b->node].hops != FABRIC_UNREACHED && probe_may_spare(p, b->node) &&
	       !p->avoided.v[b->node] && !p->silent.v[b->node] &&
	       !probe_was_asked(p, b->node, 0, ASK_SWITCH);
}

void probe_settles(struct probe *p, uint32_t node)
{
	p->spare.v[node] |= SPARE_EXPLAINED;
	p->settles = true;
}

void probe_ask_some_ports(struct probe *p, uint32_t node)
{
	const struct fabric_node *n = &p->f->nodes[node];

	if (!probe_may_spare(p, node)) {
		probe_ask_ports(p, node);
		return;
	}
	for (unsigned num = 0; num <= n->nports; num++) {
		uint32_t port = n->port0 + num;

		if (isolated_settles(p->sm, p->f, port)) {
			probe_settles(p, node);
			continue;
		}
		/* what the far end has said so far may be older than the report */
		if (!other_end_tells(p, port) || probe_was_asked(p, far_node(p, port), 0, ASK_OTHER_END))
			probe_ask(p, node, num, ASK_PORT);
		else if (!probe_was_asked(p, node, num, ASK_PORT))
			p->spare.v[node] |= SPARE_WAITING;
	}
}

/*
 * Of the skipped ports, handles those whose far end does not confirm that nothing has changed: asks
 * the far end or (`read`) the port itself.
 */
static void spare_fewer(struct probe *p, uint32_t node, bool read)
{
	const struct fabric_node *n = &p->f->nodes[node];

	for (unsigned num = 1; num <= n->nports; num++) {
		uint32_t port = n->port0 + num, far;

		if (probe_was_asked(p, node, num, ASK_PORT) || isolated_settles(p->sm, p->f, port))
			continue;
		if (!other_end_tells(p, port)) {
			probe_ask(p, node, num, ASK_PORT);
			continue;
		}
		far = far_node(p, port);
		if (p->spare.v[far] & SPARE_QUIET)
			continue;
		if (read)
			probe_ask(p, node, num, ASK_PORT);
		else
			probe_ask(p, far, 0, ASK_OTHER_END);
	}
}

/* Takes the next step for a switch with skipped ports. */
static void spare_on(struct probe *p, uint32_t node)
{
	uint8_t *spare = &p->spare.v[node];

	if (!(*spare & SPARE_EXPLAINED)) {
		*spare &= ~SPARE_WAITING;
		probe_ask_ports(p, node);
	} else if (*spare & SPARE_ASKED) {
		*spare &= ~SPARE_WAITING;
		spare_fewer(p, node, true);
	} else {
		*spare |= SPARE_ASKED;
		spare_fewer(p, node, false);
	}
}

bool probe_ask_spared(struct probe *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->f->n_nodes; i++)
		if (p->spare.v[i] & SPARE_WAITING) {
			spare_on(p, i);
			any = true;
		}
	return any;
}
