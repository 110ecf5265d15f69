/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Applies the start values in which stock ibsim (0.10) differs from a device after a reset.
 *
 * With them, a manager produces the same configuration on both simulators.
 *
 * Links support exactly what the topology file says of them; a file that says nothing gives 4x SDR.
 * LIDs come from the file, too (device.c).
 */
#include "sim/dev/dev_internal.h"

#define IBSIM_MKEY_LEASE	0x0ff9	/* of a port whose M_Key is 0, where it has no effect */
#define IBSIM_SUBNET_TIMEOUT	31
#define VL_STALL_COUNT		7
#define ERRORS_WITHOUT_CABLE	0x40	/* LocalPhyErrors 4 at a switch port */

static const uint8_t sl2vl_row[SL2VL_SIZE] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xe7 };

/* The widths that ibsim derives from "4x" and the like. */
static uint8_t widths_up_to(uint8_t width)
{
	switch (width) {
	case 0:
		return SIM_WIDTH_4X;
	case SIM_WIDTH_4X:
		return SIM_WIDTH_1X | SIM_WIDTH_4X;
	case SIM_WIDTH_12X:
		return SIM_WIDTH_1X | SIM_WIDTH_4X | SIM_WIDTH_12X;
	default:
		return width;
	}
}

/* Routers get only what "w=" and "s=" of ibsim's own format say. */
static void router_link_values(const struct sim_port *p, uint8_t *info)
{
	info[PI_WIDTH_ENABLED] = p->cable_width ? p->cable_width : SIM_WIDTH_4X;
	set_low4(info + PI_SPEED_ACTIVE_ENABLED, p->cable_speed ? p->cable_speed : SIM_SPEED_SDR);
}

static void link_values(struct sim *s, uint32_t port)
{
	const struct sim_port *p = &s->f->ports[port];
	const struct sim_node *n = node_of(s->f, port);
	struct device_port *d = device_port(s, port);
	uint8_t *info = s->f->ports[port].info;
	bool qdr = p->cable_ext || p->cable_fdr10 || p->cable_speed == SIM_SPEED_QDR;
	unsigned ext = p->cable_ext ? (2u * p->cable_ext - 1) & 0x0f : 0;	/* ibsim does not know XDR */
	unsigned speeds = qdr ? 7 : p->cable_speed == SIM_SPEED_DDR ? 3 : 1;

	info[PI_WIDTH_ENABLED] = widths_up_to(p->cable_width);
	set_low4(info + PI_SPEED_ACTIVE_ENABLED, speeds);
	if (n->type == SIM_ROUTER)
		router_link_values(p, info);
	info[PI_EXT_ENABLED] = (uint8_t)ext;
	if (!ext)
		set_low4(info + PI_EXT_ACTIVE_SUP, 0);
	d->fdr10_supported = d->fdr10_enabled = p->cable_fdr10 ? XPI_FDR10 : 0;
	info[PI_PHY_OVERRUN_ERRORS] = is_switch(n) && p->num && p->peer == SIM_NONE ?
				      ERRORS_WITHOUT_CABLE : 0;
}

static void end_port_values(struct sim_port *p)
{
	put_be64(p->info + PI_GID_PREFIX, 0);
	put_be16(p->info + PI_MKEY_LEASE, IBSIM_MKEY_LEASE);
	p->info[PI_REREG_SUBNET_TIMEOUT] = IBSIM_SUBNET_TIMEOUT;
	p->info[PI_RESP_TIME] = 0;
	if (p->num && p->peer == SIM_NONE)
		put_be32(p->info + PI_CAPMASK,
			 get_be32(p->info + PI_CAPMASK) & ~(uint32_t)CAP_MASK_NOTICE);
}

/* Port 0 shows the smallest MTUs. */
static void port0_values(struct sim_port *p)
{
	p->info[PI_MTU_SM_SL] = 1 << 4;
	set_low4(p->info + PI_INIT_REPLY_MTU_CAP, 3);
	p->info[PI_VL_STALL_HOQ_LIFE] = 0;
	p->info[PI_RESP_TIME] = 8;
	p->info[PI_VLARB_HIGH_CAP] = p->info[PI_VLARB_LOW_CAP] = 8;
}

/* In the high table, only VL 0 has a weight; in the low table, all others have. */
static void vlarb_values(struct sim_port *p)
{
	for (unsigned vl = 0; vl < 15; vl++) {
		p->arb_high[2 * vl] = p->arb_low[2 * vl] = (uint8_t)vl;
		p->arb_high[2 * vl + 1] = vl ? 0 : 4;
		p->arb_low[2 * vl + 1] = vl ? 4 : 0;
	}
}

static void port_values(struct sim *s, uint32_t port)
{
	struct sim_port *p = &s->f->ports[port];

	if (is_end_port(s->f, port))
		end_port_values(p);
	link_values(s, port);
	if (p->num == 0)
		port0_values(p);
	else
		p->info[PI_VL_STALL_HOQ_LIFE] = VL_STALL_COUNT << 5;
	vlarb_values(p);
	if (p->sl2vl)
		memcpy(p->sl2vl, sl2vl_row, sizeof(sl2vl_row));
}

static void switch_values(const struct sim_node *n, struct sim_switch *sw)
{
	size_t pairs = (n->nports + 1u) * (n->nports + 1u);

	sw->info[SI_DEFAULT_MCAST_PRIMARY] = sw->info[SI_DEFAULT_MCAST_NOT_PRIMARY] = 0;
	sw->info[SI_LIFE_TIME_STATE_OPT] = 0;
	sw->info[SI_FLAGS] &= (uint8_t)~SI_FLAG_ENFORCE;
	for (size_t i = 0; i < pairs; i++)
		memcpy(sw->sl2vl + i * SL2VL_SIZE, sl2vl_row, sizeof(sl2vl_row));
}

void ibsim_node_values(struct sim *s, uint32_t node)
{
	struct sim_node *n = &s->f->nodes[node];
	struct sim_switch *sw = switch_of(s->f, n);

	if (!n->sysimg_guid)
		put_be64(n->info + NI_SYSTEM_GUID, n->guid);
	if (sw)
		switch_values(n, sw);
	for (uint32_t port = first_port(n); port <= n->port0 + n->nports; port++)
		port_values(s, port);
}
