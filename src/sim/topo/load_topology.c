/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the simulator's nodes and cables from the records of a topology file. */
#include "fabric/dump/dump.h"
#include "sim/topo/topo.h"

/* --- speeds of cables as bits of PortInfo (14.2.5.6) --- */

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

/* --- nodes and cables --- */

/* Makes a node.  The fabric had none before, so that node indexes equal those of the records. */
static bool make_node(const struct dump *d, uint32_t i, struct sim_fabric *f, struct findings *out)
{
	const struct dump_node *n = &d->nodes.v[i];
	struct sim_node_spec s = {
		.type = n->type, .nports = n->nports, .guid = n->guid,
		.sysimg_guid = n->sysimg_guid, .vendor_id = n->vendor, .device_id = n->device,
		.id = n->name, .desc = n->desc, .enhanced_port0 = n->enhanced_port0,
		.base_port0 = n->base_port0,
	};
	struct buf why = { 0 };
	bool ok;

	for (unsigned num = 0; num <= n->nports && num < ARRAY_SIZE(s.port_guid); num++)
		s.port_guid[num] = d->ports[n->port0 + num].guid;
	ok = simfab_add_node(f, &s, &why) != SIM_NONE;
	if (!ok)
		findings_add(out, SEV_ERROR, d->files.v[n->pos.file],
			     (struct src_pos){ n->pos.line, 1 }, "%s", why.s);
	buf_free(&why);
	return ok;
}

static void make_port(const struct dump *d, uint32_t i, struct sim_fabric *f)
{
	const struct dump_port *p = &d->ports[i];
	const struct dump_node *n = &d->nodes.v[p->node];
	struct buf why = { 0 };

	f->ports[i].lid = i == n->port0 ? n->lid : p->lid;
	f->ports[i].lmc = i == n->port0 ? n->lmc : p->lmc;
	if (p->peer == DUMP_NONE || p->peer < i)
		return;
	simfab_connect(f, i, p->peer, &why);	/* cannot fail: see dump.h's invariants */
	buf_free(&why);
	cable_speed_apply(f, i, p->speed);
}

bool topo_load(const char *path, const char *ibnl, struct sim_fabric *f, struct findings *out)
{
	struct dump_source from = { .path = path, .ibnl = ibnl, .pipes = true };
	struct dump *d = dump_read(&from, out);
	bool ok = d;

	for (uint32_t i = 0; ok && i < d->nodes.n; i++)
		ok = make_node(d, i, f, out);
	for (uint32_t i = 0; ok && i < d->n_ports; i++)
		make_port(d, i, f);
	dump_release(d);
	return ok;
}
