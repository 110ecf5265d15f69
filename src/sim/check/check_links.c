/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares PortInfo at both ends of each link (14.2.5.6). */
#include "sim/check/check_internal.h"

static void differ(struct buf *text, const char *what, unsigned a, unsigned b)
{
	if (a != b)
		buf_printf(text, "; %s %u and %u", what, a, b);
}

static bool limits_high(const struct sim_port *p)
{
	return p->op_vls > 1 && p->info[PI_VLARB_HIGH_CAP] != 0;
}

/*
 * Between switches, both directions mostly carry the same mix of traffic.  An end port's high limit
 * concerns only what that host sends, and may well differ from the switch's.
 */
static void compare_high_limit(struct run *r, uint32_t a, uint32_t b)
{
	const struct sim_fabric *f = r->f;
	const struct sim_port *p = &f->ports[a], *q = &f->ports[b];

	if (is_switch(node_of(f, a)) && is_switch(node_of(f, b)) && limits_high(p) &&
	    limits_high(q) && p->info[PI_VL_HIGH_LIMIT] != q->info[PI_VL_HIGH_LIMIT])
		remark(r, AUDIT_LINK, "%s and %s: VLHighLimit %u and %u", port_text(f, a).s,
		       port_text(f, b).s, p->info[PI_VL_HIGH_LIMIT],
		       q->info[PI_VL_HIGH_LIMIT]);
}

static void check_link(struct run *r, uint32_t a, uint32_t b)
{
	const struct sim_fabric *f = r->f;
	const struct sim_port *p = &f->ports[a], *q = &f->ports[b];
	struct buf text = { 0 };

	r->out->links++;
	if (p->state == SIM_PORT_ACTIVE && q->state == SIM_PORT_ACTIVE)
		r->out->links_active++;
	else
		buf_printf(&text, "; %s and %s", state_text(p->state), state_text(q->state));
	differ(&text, "OperationalVLs", p->op_vls, q->op_vls);
	differ(&text, "NeighborMTU", mtu_of_code(p->mtu), mtu_of_code(q->mtu));
	differ(&text, "LinkWidthActive", p->info[PI_WIDTH_ACTIVE], q->info[PI_WIDTH_ACTIVE]);
	differ(&text, "LinkSpeedActive", p->info[PI_SPEED_ACTIVE_ENABLED] >> 4,
	       q->info[PI_SPEED_ACTIVE_ENABLED] >> 4);
	differ(&text, "LinkSpeedExtActive", p->info[PI_EXT_ACTIVE_SUP] >> 4,
	       q->info[PI_EXT_ACTIVE_SUP] >> 4);
	differ(&text, "LinkSpeedExtActive2", p->info[PI_EXT_2] >> 5 & 3,
	       q->info[PI_EXT_2] >> 5 & 3);
	if (text.n)
		report(r, AUDIT_LINK, "%s and %s: %s", port_text(f, a).s, port_text(f, b).s,
		       text.s + 2);
	buf_free(&text);
	compare_high_limit(r, a, b);
}

void check_links(struct run *r)
{
	for (uint32_t port = 0; port < r->f->n_ports; port++)
		if (link_is_up(r->f, port) && port < r->f->ports[port].peer)
			check_link(r, port, r->f->ports[port].peer);
}
