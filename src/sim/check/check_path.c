/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Follows one path hop by hop, and says why a path ends where it does. */
#include <stdlib.h>

#include "sim/check/check_internal.h"

/* Says what is wrong with the link behind a port, or with the end that it leads to. */
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
		buf_printf(out, "%s leads to %s, which does not have LID %u", port_text(f, port).s,
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

/* --- one path --- */

struct way {
	const struct sim_fabric *f;
	uint32_t lid;
	unsigned sl, bytes;
	struct audit_path *path;
	struct buf lost;
};

/*
 * Whether the packet exceeds the port's NeighborMTU; sender and receiver both drop it then
 * (14.2.5.6).
 */
static bool is_too_long(struct way *w, uint32_t port)
{
	unsigned mtu = mtu_of_code(w->f->ports[port].mtu);

	if (w->bytes <= mtu)
		return false;
	buf_printf(&w->lost, "%s: NeighborMTU is %u: dropped", port_text(w->f, port).s, mtu);
	return true;
}

/*
 * Crosses the link behind `port`.  Returns the port where the packet comes in; SIM_NONE if the SL
 * does not pass.
 */
static uint32_t cross(struct way *w, uint32_t port, unsigned in)
{
	const struct sim_port *p = &w->f->ports[port];
	unsigned vl = sl2vl_get(w->f, p->node, in, p->num, w->sl);

	if (is_too_long(w, port) || is_too_long(w, p->peer))
		return SIM_NONE;
	if (vl < link_vls(w->f, port)) {
		*vec_push(&w->path->hops) = (struct audit_hop){ port, p->peer, (uint8_t)vl };
		return p->peer;
	}
	buf_printf(&w->lost, "%s: SL %u is mapped to VL %u", port_text(w->f, port).s, w->sl, vl);
	if (vl == SIM_VL_DROP)
		buf_puts(&w->lost, ": dropped");
	else if (vl < p->op_vls)
		buf_printf(&w->lost, ", which %s does not have: no-credit", port_text(w->f, p->peer).s);
	else
		buf_printf(&w->lost, ", but %u are operational: dropped", link_vls(w->f, port));
	return SIM_NONE;
}

static uint32_t leave_source(struct way *w, uint32_t src)
{
	if (link_carries(w->f, src))
		return cross(w, src, 0);
	say_bad_exit(w->f, src, w->lid, &w->lost);
	return SIM_NONE;
}

/* Passes the switch, from its port `in` on. */
static uint32_t pass_switch(struct way *w, uint32_t in)
{
	const struct sim_node *n = node_of(w->f, in);
	unsigned num = lft_port(w->f, n->sw, w->lid);

	if (num != 0 && num <= n->nports && link_carries(w->f, n->port0 + num))
		return cross(w, n->port0 + num, w->f->ports[in].num);
	say_dead_end(w->f, n->sw, w->lid, &w->lost);
	return SIM_NONE;
}

/* Whether the packet has reached its destination: this port, or the switch that the port belongs to. */
static bool is_there(const struct way *w, uint32_t port)
{
	const struct sim_node *n = node_of(w->f, port);

	return port_has_lid(&w->f->ports[sma_port(w->f, port)], w->lid) &&
	       (!is_switch(n) || lft_port(w->f, n->sw, w->lid) == 0);
}

static void follow(struct way *w, uint32_t src)
{
	uint32_t at = src;

	if (!is_switch(node_of(w->f, src)) && !is_there(w, src))
		at = leave_source(w, src);
	while (at != SIM_NONE && !is_there(w, at)) {
		if (!is_switch(node_of(w->f, at))) {
			say_bad_exit(w->f, w->f->ports[at].peer, w->lid, &w->lost);
			return;
		}
		if (w->path->hops.n > w->f->n_switches + 1u) {
			buf_puts(&w->lost, "the path returns to a switch: a loop");
			return;
		}
		at = pass_switch(w, at);
	}
}

void audit_path(const struct sim_fabric *f, uint32_t src, uint32_t dst_lid, unsigned sl,
		unsigned bytes, struct audit_path *out)
{
	struct way w = { .f = f, .lid = dst_lid, .sl = sl, .bytes = bytes, .path = out };

	*out = (struct audit_path){ 0 };
	if (!is_end_port(f, src) || sl > 15 || dst_lid == 0 || dst_lid >= SIM_LID_MCAST)
		buf_printf(&w.lost, "no path: SL %u, LID %u from %s", sl, dst_lid,
			   port_text(f, src).s);
	else
		follow(&w, src);
	out->lost = w.lost.s;
}

void audit_path_free(struct audit_path *p)
{
	vec_free(&p->hops);
	free(p->lost);
}

void audit_path_print(const struct sim_fabric *f, const struct audit_path *p, struct buf *out)
{
	for (size_t i = 0; i < p->hops.n; i++)
		buf_printf(out, "%s -> %s VL %u\n", port_text(f, p->hops.v[i].from).s,
			   port_text(f, p->hops.v[i].to).s, p->hops.v[i].vl);
	if (p->lost)
		buf_printf(out, "%s\n", p->lost);
}
