/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generates fat trees of two levels with any number of leaves and spines.
 *
 * Each leaf has `parallel` links to each spine.  A leaf's ports are those to its hosts, then those
 * to the spines in turn; a spine's are those to the leaves in turn.
 */
#include <stdio.h>

#include "sim/topo/generate.h"

#define SWITCHES_MAX 100000

struct clos {
	unsigned leaves, spines, hosts, parallel;
};

static void read_options(struct gen *g, struct clos *c)
{
	const char *size = gen_text(g, "");
	unsigned spare = 0;
	char rest;

	if (!size || sscanf(size, "%5ux%3u%c", &c->leaves, &c->spines, &rest) != 2 ||
	    !c->leaves || !c->spines || c->leaves > SWITCHES_MAX)
		gen_refuse(g, "%s: expected LEAVESxSPINES, such as 40x20", size ? size : "");
	c->parallel = gen_number(g, "parallel", 1, 1, SIM_PORTS_MAX);
	if (c->spines * c->parallel < SIM_PORTS_MAX)
		spare = SIM_PORTS_MAX - c->spines * c->parallel;
	c->hosts = gen_number(g, "hosts", c->spines * c->parallel, 0, SIM_PORTS_MAX);
	if (!g->bad && c->hosts > spare)
		gen_refuse(g, "hosts=%u: a leaf has %u ports left", c->hosts, spare);
}

void gen_clos(struct gen *g)
{
	struct clos c = { 0 };
	unsigned up, down;
	uint32_t leaf = g->f->n_nodes, spine;

	read_options(g, &c);
	up = c.spines * c.parallel;
	down = c.leaves * c.parallel;
	if (!gen_ready(g, (uint64_t)c.leaves + c.spines,
		       c.hosts + up > down ? c.hosts + up : down, (uint64_t)c.leaves * c.hosts))
		return;
	for (unsigned i = 0; i < c.leaves; i++)
		gen_switch(g, c.hosts + up, "leaf-%0*u", gen_digits(c.leaves + 1, 3), i + 1);
	spine = g->f->n_nodes;
	for (unsigned i = 0; i < c.spines; i++)
		gen_switch(g, down, "spine-%0*u", gen_digits(c.spines + 1, 3), i + 1);
	for (unsigned i = 0; i < c.leaves; i++)
		for (unsigned k = 0; k < up; k++)
			gen_link(g, leaf + i, c.hosts + k + 1, spine + k % c.spines,
				 i * c.parallel + k / c.spines + 1);
	gen_hosts_evenly(g, leaf, c.leaves, c.hosts);
}
