/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Removes ("lose") or slows ("slow") cables of a generated fabric at random.
 *
 * It chooses cables between switches at random, by a seed.  It never removes so many that connected
 * switches become disconnected.  Ports and nodes stay the same, so that the fabric otherwise equals
 * the one without flaws.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/disjoint.h"
#include "sim/topo/generate.h"

/* The cables between switches, each given by one of its ports. */
struct cables {
	uint32_t *port, n;
};

static bool is_between_switches(const struct sim_fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return peer != SIM_NONE && is_switch(node_of(f, port)) && is_switch(node_of(f, peer));
}

/* All cables, in a random order. */
static struct cables cables_of(const struct sim_fabric *f, uint32_t seed)
{
	struct cables c = { .port = xcalloc(f->n_ports / 2 + 1, sizeof(*c.port)) };
	uint64_t state = seed;

	for (uint32_t i = 0; i < f->n_ports; i++)
		if (is_between_switches(f, i) && i < f->ports[i].peer)
			c.port[c.n++] = i;
	for (uint32_t i = c.n; i > 1; i--) {
		uint32_t other = gen_chance(&state, i), port = c.port[other];

		c.port[other] = c.port[i - 1];
		c.port[i - 1] = port;
	}
	return c;
}

static uint32_t part_of(const struct cables *c, uint32_t percent)
{
	return (uint32_t)(((uint64_t)c->n * percent + 50) / 100);
}

/*
 * Removes cables among the first ones, except those that connect parts which all other cables leave
 * apart.
 */
static void lose(struct sim_fabric *f, const struct gen_flaw *flaw)
{
	struct cables c = cables_of(f, flaw->seed);
	uint32_t *parts = xcalloc(f->n_nodes + 1, sizeof(*parts)), going = part_of(&c, flaw->percent);

	for (uint32_t i = 0; i < f->n_nodes; i++)
		parts[i] = i;
	for (uint32_t i = c.n; i-- > 0; ) {
		struct sim_port *a = &f->ports[c.port[i]], *b = &f->ports[a->peer];
		bool joins = disjoint_join(parts, a->node, b->node);

		if (i < going && !joins)
			a->peer = b->peer = SIM_NONE;
	}
	free(c.port);
	free(parts);
}

static void slow_down(struct sim_fabric *f, const struct gen_flaw *flaw)
{
	struct cables c = cables_of(f, flaw->seed);
	uint32_t n = part_of(&c, flaw->percent);

	for (uint32_t i = 0; i < n; i++)
		cable_speed_apply(f, c.port[i], flaw->speed);
	free(c.port);
}

/* Parses "PERCENT[@SEED]".  Returns the rest of the text; NULL if it has another form. */
static const char *read_share(const char *text, struct gen_flaw *out)
{
	int end = 0;

	out->seed = 1;
	if (sscanf(text, "%3" SCNu32 "%n", &out->percent, &end) != 1 || out->percent > 100)
		return NULL;
	text += end;
	end = 0;
	if (*text != '@')
		return text;
	return sscanf(text, "@%" SCNu32 "%n", &out->seed, &end) == 1 && end ? text + end : NULL;
}

void gen_read_flaws(struct gen *g)
{
	const char *text = gen_text(g, "lose"), *rest;

	if (text) {
		rest = read_share(text, &g->lose);
		if (!rest || *rest)
			gen_refuse(g, "lose=%s: expected PERCENT or PERCENT@SEED, such as 5@7", text);
	}
	text = gen_text(g, "slow");
	if (text) {
		rest = read_share(text, &g->slow);
		if (!rest || *rest != ':' || !cable_speed_parse(rest + 1, &g->slow.speed))
			gen_refuse(g, "slow=%s: expected PERCENT:SPEED or PERCENT@SEED:SPEED, such as "
				   "20@7:4xQDR", text);
	}
}

void gen_add_flaws(struct gen *g)
{
	if (g->slow.percent)
		slow_down(g->f, &g->slow);
	if (g->lose.percent)
		lose(g->f, &g->lose);
}
