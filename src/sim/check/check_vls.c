/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks each hop in use for dropped SLs, and collects the VLs that the other SLs take. */
#include "sim/check/check_net.h"

/* Says why a row drops these SLs: "SL 3-5 dropped by VL15; SL 6 on VL 6, operational are 4". */
static void say_lost(uint64_t row, uint16_t lost, unsigned vls, struct buf *text)
{
	uint16_t dropped = 0;

	for (unsigned sl = 0; sl < 16; sl++)
		if (row_vl(row, sl) == SIM_VL_DROP)
			dropped |= lost & 1u << sl;
	if (dropped)
		buf_printf(text, "SL %s dropped by VL15", set_text(dropped).s);
	for (unsigned sl = 0; sl < 16; sl++)
		if ((lost & ~dropped) >> sl & 1)
			buf_printf(text, "%sSL %u on VL %u, operational are %u",
				   text->n ? "; " : "", sl, row_vl(row, sl), vls);
}

/* Checks one row; `sls` are the SLs that take the hop. */
static void check_row(struct run *r, uint64_t row, uint16_t sls, uint16_t pass, uint32_t in,
		      uint32_t out)
{
	const struct sim_fabric *f = r->f;
	uint16_t lost = r->sls & sls & ~pass;
	struct buf text = { 0 };

	r->port_vls[out] |= row_vls(row, r->sls & sls & pass);
	if (!lost)
		return;
	say_lost(row, lost, link_vls(f, out), &text);
	if (in == out)
		report(r, AUDIT_VL15, "%s: %s", port_text(f, out).s, text.s);
	else
		report(r, AUDIT_VL15, "%s from P%u: %s", port_text(f, out).s, f->ports[in].num,
		       text.s);
	buf_free(&text);
}

static void check_switch(struct run *r, struct net *n, uint32_t sw)
{
	const struct stage *s = &n->stages[sw];

	for (unsigned out = 1; out <= s->nports; out++) {
		for (unsigned in = 0; in <= s->nports; in++) {
			struct hop *h = hop_at(n, sw, in, out);

			if (n->gates[s->port0 + out].used && n->gates[s->port0 + in].sender &&
			    in != out)
				h->sls = ALL_SLS;
			if (h->sls)
				check_row(r, h->row, h->sls, h->pass, s->port0 + in,
					  s->port0 + out);
		}
	}
}

/* Checks the SL2VL table that an end uses for its own packets. */
static void check_sender(struct run *r, uint32_t port)
{
	const struct sim_port *p = &r->f->ports[port];
	uint64_t row = sl2vl_row(r->f, p->node, 0, p->num);
	uint16_t sls = r->o->path_sls ? r->sent[port] : ALL_SLS;

	check_row(r, row, sls, row_passes(row, link_vls(r->f, port)), port, port);
}

void check_vls(struct run *r, struct net *n)
{
	const struct sim_fabric *f = r->f;

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		check_switch(r, n, sw);
	for (uint32_t port = 0; port < f->n_ports; port++)
		if (f->ports[port].num != 0 && is_end(r, port) && link_carries(f, port))
			check_sender(r, port);
	for (uint32_t port = 0; port < f->n_ports; port++)
		r->out->vls_used |= r->port_vls[port];
}
