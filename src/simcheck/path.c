/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One path in words, and why a path ends where it does.
 */
#include "simcheck/internal.h"

/* What is wrong with the link behind a port, or with the end that it leads to. */
static void say_bad_exit(const struct sim_fabric *f, uint32_t port, uint32_t lid, struct buf *out)
{
	uint32_t peer = f->ports[port].peer;

	if (!link_is_up(f, port))
		buf_printf(out, "%s has no link", port_text(f, port).s);
	else if (!link_carries(f, port))
		buf_printf(out, "%s is %s, %s is %s", port_text(f, port).s,
			   state_text(f->ports[port].state), port_text(f, peer).s,
			   state_text(f->ports[peer].state));
	else
		buf_printf(out, "%s leads to %s, which has not LID %u", port_text(f, port).s,
			   port_text(f, peer).s, lid);
}

void say_dead_end(const struct sim_fabric *f, uint32_t sw, uint32_t lid, struct buf *out)
{
	const struct sim_node *n = &f->nodes[f->switches[sw].node];
	unsigned num = lft_port(f, sw, lid);

	if (lid > f->switches[sw].lft_top)
		buf_printf(out, "%s: LinearFDBTop is %u", port_text(f, n->port0).s,
			   f->switches[sw].lft_top);
	else if (num == SIM_LFT_DROP)
		buf_printf(out, "%s: no LFT entry", port_text(f, n->port0).s);
	else if (num > n->nports)
		buf_printf(out, "%s: LFT entry is %u, beyond its %u ports",
			   port_text(f, n->port0).s, num, n->nports);
	else if (num == 0)
		buf_printf(out, "%s: LFT entry is 0, but LID %u is not the switch's",
			   port_text(f, n->port0).s, lid);
	else
		say_bad_exit(f, n->port0 + num, lid, out);
}

/* One link of the path; false if the packet does not come out at its far end. */
static bool say_link(const struct sim_fabric *f, unsigned in, uint32_t port, unsigned sl,
		     struct buf *out)
{
	const struct sim_port *p = &f->ports[port];
	unsigned vl = sl2vl_get(f, p->node, in, p->num, sl);

	if (vl < link_vls(f, port)) {
		buf_printf(out, "%s -> %s VL %u\n", port_text(f, port).s,
			   port_text(f, p->peer).s, vl);
		return true;
	}
	buf_printf(out, "%s: SL %u is mapped to VL %u", port_text(f, port).s, sl, vl);
	if (vl == SIM_VL_DROP)
		buf_puts(out, ": dropped\n");
	else
		buf_printf(out, ", but %u are operational: dropped\n", link_vls(f, port));
	return false;
}

/* From switch port `in` on: the port by which it leaves, SIM_NONE if it does not (said). */
static uint32_t way_out(const struct sim_fabric *f, uint32_t in, uint32_t lid, struct buf *out)
{
	const struct sim_node *n = node_of(f, in);
	unsigned num = lft_port(f, n->sw, lid);

	if (num != 0 && num <= n->nports && link_carries(f, n->port0 + num))
		return n->port0 + num;
	say_dead_end(f, n->sw, lid, out);
	buf_puts(out, "\n");
	return SIM_NONE;
}

/* Over the link behind `port`, by which it leaves: where it comes in, or SIM_NONE (said). */
static uint32_t cross(const struct sim_fabric *f, uint32_t port, uint32_t lid, unsigned in,
		      unsigned sl, struct buf *out)
{
	if (!say_link(f, in, port, sl, out))
		return SIM_NONE;
	uint32_t peer = f->ports[port].peer;

	if (is_switch(node_of(f, peer)) || has_lid(&f->ports[peer], lid))
		return peer;
	say_bad_exit(f, port, lid, out);
	buf_puts(out, "\n");
	return SIM_NONE;
}

/* Is port, where the packet came in, or the switch that it belongs to, its destination? */
static bool is_there(const struct sim_fabric *f, uint32_t port, uint32_t lid)
{
	uint32_t end = sma_port(f, port);
	const struct sim_node *n = node_of(f, port);

	if (!is_switch(n))
		return has_lid(&f->ports[end], lid);
	return has_lid(&f->ports[end], lid) && lft_port(f, n->sw, lid) == 0;
}

void audit_path(const struct sim_fabric *f, uint32_t src, uint32_t dst_lid, unsigned sl,
		struct buf *out)
{
	uint32_t at = src, hops = 0;

	if (!is_end_port(f, src) || sl > 15 || dst_lid == 0 || dst_lid >= SIM_LID_MCAST) {
		buf_printf(out, "no path: SL %u, LID %u from %s\n", sl, dst_lid,
			   port_text(f, src).s);
		return;
	}
	if (!is_switch(node_of(f, src))) {
		if (has_lid(&f->ports[src], dst_lid))
			return;
		if (!link_carries(f, src)) {
			say_bad_exit(f, src, dst_lid, out);
			buf_puts(out, "\n");
			return;
		}
		at = cross(f, src, dst_lid, 0, sl, out);
	}
	while (at != SIM_NONE && !is_there(f, at, dst_lid)) {
		uint32_t port = way_out(f, at, dst_lid, out);

		if (port == SIM_NONE)
			return;
		at = cross(f, port, dst_lid, f->ports[at].num, sl, out);
		if (++hops > f->n_switches) {
			buf_puts(out, "the path comes back: a loop\n");
			return;
		}
	}
}
