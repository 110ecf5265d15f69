/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts link speeds to bits of PortInfo (14.2.5.6). */
#include "sim/topo/speed.h"

static void bound_port(struct sim_port *p, struct cable_speed s)
{
	/* bits of LinkSpeedExt*, both groups; 0: not an extended speed */
	static const uint8_t ext[CABLE_RATES] = {
		[RATE_FDR] = SIM_EXT_FDR, [RATE_EDR] = SIM_EXT_EDR, [RATE_HDR] = SIM_EXT_HDR,
		[RATE_NDR] = SIM_EXT_NDR, [RATE_XDR] = SIM_EXT_XDR,
	};

	if (s.lanes)
		p->cable_width = cable_width_bit(s.lanes);
	if (!s.rate)
		return;
	p->cable_speed = s.rate <= RATE_QDR ? 1u << (s.rate - RATE_SDR) : SIM_SPEED_QDR;
	p->cable_fdr10 = s.rate == RATE_FDR10;
	p->cable_ext = ext[s.rate];
}

void cable_speed_apply(struct sim_fabric *f, uint32_t port, struct cable_speed s)
{
	struct sim_port *p = &f->ports[port];

	bound_port(p, s);
	if (p->peer != SIM_NONE)
		bound_port(&f->ports[p->peer], s);
}
