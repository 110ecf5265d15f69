/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands that show the tables that devices forward by.
 *
 * A device may answer a manager differently; these show what it does with packets.
 */
#include "sim/ctl/command.h"

#include <string.h>

#include "sim/net/wire.h"

/* The name of the port at the far end of port `num` of a node; null if there is none. */
static json_t *behind(const struct sim_fabric *f, const struct sim_node *n, unsigned num)
{
	return num <= n->nports ? json_port(f, f->ports[n->port0 + num].peer) : json_null();
}

bool cmd_show_lft(struct call *c)
{
	const struct sim_node *n = &c->f->nodes[c->node];
	const struct sim_switch *sw = &c->f->switches[n->sw];

	c->result = json_array();
	for (unsigned lid = 1; sw->lft && lid <= sw->lft_top && lid < n->profile->lft_cap; lid++)
		if (sw->lft[lid] != SIM_LFT_DROP)
			json_array_append_new(c->result, json_pack(
				"{s:i, s:i, s:o}", "lid", lid, "port", sw->lft[lid], "to",
				behind(c->f, n, sw->lft[lid])));
	return true;
}

static json_t *ports_of(const uint64_t bits[4])
{
	json_t *ports = json_array();

	for (int i = 0; i < 256; i++)
		if (bits[i / 64] >> i % 64 & 1)
			json_array_append_new(ports, json_integer(i));
	return ports;
}

bool cmd_show_mft(struct call *c)
{
	static const uint64_t none[4];
	const struct sim_node *n = &c->f->nodes[c->node];
	const struct sim_switch *sw = &c->f->switches[n->sw];

	c->result = json_array();
	for (unsigned i = 0; sw->mft && i < n->profile->mft_cap; i++)
		if (memcmp(sw->mft[i], none, sizeof(none)) != 0)
			json_array_append_new(c->result, json_pack(
				"{s:o, s:o}", "mlid", json_hex(SIM_LID_MCAST + i), "ports",
				ports_of(sw->mft[i])));
	return true;
}

/* --- SL to VL --- */

static json_t *sl2vl_row(const struct sim_fabric *f, uint32_t node, unsigned in, unsigned out)
{
	json_t *vls = json_array();

	for (unsigned sl = 0; sl < 16; sl++)
		json_array_append_new(vls, json_integer(sl2vl_get(f, node, in, out, sl)));
	return json_pack("{s:i, s:i, s:o}", "in", in, "out", out, "vls", vls);
}

/* Shows all SL2VL tables of a switch, those of one out port, or a single one. */
bool cmd_show_sl2vl(struct call *c)
{
	const struct sim_node *n = &c->f->nodes[c->node];
	uint64_t in_first = 0, in_last, out_first, out_last;

	in_last = is_switch(n) ? n->nports : 0;
	out_first = out_last = c->f->ports[c->port].num;
	if (is_switch(n) && out_first == 0)
		out_last = n->nports;
	if (c->n == 2)
		return refuse(c, "IN without OUT");
	if (c->n == 3) {
		if (!get_number(c, "IN", c->word[1], 0, n->nports, &in_first) ||
		    !get_number(c, "OUT", c->word[2], 0, n->nports, &out_first))
			return false;
		in_last = in_first;
		out_last = out_first;
	}
	c->result = json_array();
	for (uint64_t out = out_first; out <= out_last; out++)
		for (uint64_t in = in_first; in <= in_last; in++)
			json_array_append_new(c->result,
					      sl2vl_row(c->f, c->node, (unsigned)in, (unsigned)out));
	return true;
}

/* --- VL arbitration, P_Keys --- */

/* Adds the entries; those without weight have no effect and are left out. */
static void add_arbitration(json_t *rows, const char *table, const uint8_t entries[128])
{
	for (int i = 0; i < 64; i++)
		if (entries[2 * i + 1])
			json_array_append_new(rows, json_pack(
				"{s:s, s:i, s:i, s:i}", "table", table, "index", i, "vl",
				entries[2 * i] & 0x0f, "weight", entries[2 * i + 1]));
}

bool cmd_show_vlarb(struct call *c)
{
	const struct sim_port *p = &c->f->ports[c->port];

	c->result = json_array();
	add_arbitration(c->result, "high", p->arb_high);
	add_arbitration(c->result, "low", p->arb_low);
	return true;
}

bool cmd_show_pkeys(struct call *c)
{
	const struct sim_port *p = &c->f->ports[c->port];

	c->result = json_array();
	for (int i = 0; i < p->n_pkeys; i++)
		if (p->pkeys[i] & 0x7fff)
			json_array_append_new(c->result, json_pack(
				"{s:i, s:o, s:s}", "index", i, "pkey", json_hex(p->pkeys[i]),
				"member", p->pkeys[i] & 0x8000 ? "full" : "limited"));
	return true;
}
