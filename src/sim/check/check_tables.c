/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks VL arbitration, P_Key and SL2VL tables of single ports.
 *
 * VL arbitration matters only where more than one VL is operational.  A VL that routes take but
 * that has a turn in neither table (7.6.9) is never sent, which is a fault.  A device may interpret
 * the weight of a VL that is not operational in its own way; this is a note, unless all VLs of the
 * device share evenly as at power-on, because the operational ones do so, too.  An SL in use that
 * is mapped to a VL which does not exist is AUDIT_VL15 on hops in use; here it is a note on hops
 * that no route takes now.
 */
#include "sim/check/check_net.h"

#define DEFAULT_PKEY 0xffff	/* full member: matches limited ones, too (10.9.3) */

/* The VLs with a weight in the first `entries` entries of a table. */
static uint16_t arb_vls(const uint8_t arb[128], unsigned entries)
{
	uint16_t vls = 0;

	for (unsigned i = 0; i < entries && i < 64; i++)
		if (arb[2 * i + 1])
			vls |= 1u << (arb[2 * i] & 15);
	return vls;
}

/* Whether all VLs that the device supports have equal weights, however many are operational. */
static bool shares_evenly(const struct sim_port *p, const uint8_t arb[128], unsigned entries)
{
	unsigned vls = vls_of_code(high4(p->info + PI_VL_CAP_INIT_TYPE)), share[16] = { 0 };

	for (unsigned i = 0; i < entries && i < 64; i++)
		share[arb[2 * i] & 15] += arb[2 * i + 1];
	for (unsigned vl = 0; vl < 16; vl++)
		if (share[vl] != (vl < vls ? share[0] : 0))
			return false;
	return true;
}

static void check_weights(struct run *r, uint32_t port, const char *table,
			  const uint8_t arb[128], unsigned entries)
{
	unsigned n = r->f->ports[port].op_vls;
	uint16_t missing = arb_vls(arb, entries) & ~((1u << n) - 1);

	if (missing && !shares_evenly(&r->f->ports[port], arb, entries))
		remark(r, AUDIT_TABLE, "%s: VLArb %s gives weight to VL %s, operational are %u",
		       port_text(r->f, port).s, table, set_text(missing).s, n);
}

static void check_vlarb(struct run *r, uint32_t port)
{
	const struct sim_port *p = &r->f->ports[port];
	unsigned high_cap = p->info[PI_VLARB_HIGH_CAP], low_cap = p->info[PI_VLARB_LOW_CAP];
	uint16_t high = arb_vls(p->arb_high, high_cap), low = arb_vls(p->arb_low, low_cap);
	uint16_t starved = r->port_vls[port] & ~(high | low);

	if (p->op_vls < 2 || (high_cap == 0 && low_cap == 0))
		return;
	check_weights(r, port, "high", p->arb_high, high_cap);
	check_weights(r, port, "low", p->arb_low, low_cap);
	if (starved)
		report(r, AUDIT_TABLE, "%s: VL %s is used, but VLArb never lets it send",
		       port_text(r->f, port).s, set_text(starved).s);
}

/* Checks for the default P_Key, without which no management traffic passes. */
static void check_pkeys(struct run *r, uint32_t port)
{
	const struct sim_port *p = &r->f->ports[port];

	if ((is_end_port(r->f, port) || p->pkey_in || p->pkey_out) &&
	    !pkey_matches(p, DEFAULT_PKEY))
		report(r, AUDIT_TABLE, "%s: the default P_Key is missing%s",
		       port_text(r->f, port).s,
		       is_end_port(r->f, port) ? "" : ", and is enforced");
}

/* The SLs in use that do not take this hop, but that it would map to a VL which does not exist. */
static uint16_t mapped_to_nothing(const struct run *r, const struct hop *h)
{
	uint16_t lost = r->sls & ~h->sls & ~h->pass;

	for (unsigned sl = 0; sl < 16; sl++)
		if (row_vl(h->row, sl) == SIM_VL_DROP)
			lost &= ~(1u << sl);
	return lost;
}

static void check_sl2vl(struct run *r, const struct net *n, uint32_t sw, unsigned out)
{
	const struct stage *s = &n->stages[sw];
	uint16_t sls = 0;
	unsigned ins = 0;

	for (unsigned in = 0; in <= s->nports; in++) {
		uint16_t lost;

		if (in == out || (in != 0 && !link_is_up(r->f, s->port0 + in)))
			continue;
		lost = mapped_to_nothing(r, hop_at(n, sw, in, out));
		sls |= lost;
		ins += lost != 0;
	}
	if (sls)
		remark(r, AUDIT_TABLE,
		       "%s: SL2VL maps SL %s beyond the %u operational VLs from %u port%s",
		       port_text(r->f, s->port0 + out).s, set_text(sls).s,
		       link_vls(r->f, s->port0 + out), ins, ins == 1 ? "" : "s");
}

void check_tables(struct run *r, struct net *n)
{
	const struct sim_fabric *f = r->f;

	for (uint32_t port = 0; port < f->n_ports; port++) {
		bool up = link_is_up(f, port);

		if (up || end_port_is_up(f, port))
			check_pkeys(r, port);
		if (up)
			check_vlarb(r, port);
	}
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		for (unsigned out = 1; out <= n->stages[sw].nports; out++)
			if (link_is_up(f, n->stages[sw].port0 + out))
				check_sl2vl(r, n, sw, out);
}
