/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands `status` and `pass`, which summarize the fabric and let simulated time pass. */
#include "sim/ctl/command.h"

#include "sim/net/fault.h"
#include "sim/net/wire.h"

static json_t *count_nodes(const struct sim_fabric *f)
{
	int by_type[SIM_ROUTER + 1] = { 0 }, off = 0, silent = 0, driven = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		by_type[f->nodes[i].type]++;
		off += f->nodes[i].off;
		silent += f->nodes[i].silent;
		driven += f->nodes[i].driven;
	}
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "switches", by_type[SIM_SWITCH], "cas",
			 by_type[SIM_CA], "routers", by_type[SIM_ROUTER], "off", off, "silent",
			 silent, "virtual-machines", driven);
}

/* Counts external ports with a cable. */
static json_t *count_ports(const struct sim_fabric *f)
{
	int by_state[SIM_PORT_ACTIVE + 1] = { 0 }, unplugged = 0;
	json_int_t taken_down = 0;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct sim_port *p = &f->ports[i];

		if (p->peer == SIM_NONE)
			continue;
		by_state[p->state <= SIM_PORT_ACTIVE ? p->state : SIM_PORT_NOP]++;
		unplugged += p->unplugged;
		taken_down += p->taken_down;
	}
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:I}", "active", by_state[SIM_PORT_ACTIVE], "armed",
			 by_state[SIM_PORT_ARMED], "init", by_state[SIM_PORT_INIT], "down",
			 by_state[SIM_PORT_DOWN], "unplugged", unplugged, "taken-down", taken_down);
}

static json_t *clients(const struct sim_stats *st)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < st->clients.n; i++) {
		const struct stat_table *t = st->clients.v[i];

		json_array_append_new(rows, json_pack("{s:I, s:o}", "mads", (json_int_t)t->n,
						      "client", json_client(t)));
	}
	return rows;
}

bool cmd_status(struct call *c)
{
	const struct sim *s = c->s;

	c->result = json_pack("{s:o, s:b, s:o, s:o, s:I, s:I, s:I, s:o}",
			      "time", json_seconds(sim_now(s)),
			      "frozen", s->frozen,
			      "nodes", count_nodes(s->f),
			      "ports", count_ports(s->f),
			      "mads", (json_int_t)s->stats->all.n,
			      "drops", (json_int_t)s->drops->n,
			      "faults", (json_int_t)s->faults->rules.n,
			      "clients", clients(s->stats));
	return true;
}

bool cmd_pass(struct call *c)
{
	const char *why = "nobody here lets time pass";
	int64_t us;

	if (!get_time(c, "a time", c->word[0], &us))
		return false;
	if (c->s->hooks.pass)
		why = c->s->hooks.pass(c->s, us);
	return !why || refuse(c, "%s", why);
}
