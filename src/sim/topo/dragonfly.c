/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generates dragonflies: g groups of `a` switches, each with p hosts and h links to other groups.
 *
 * The switches of a group are all linked to each other.  Each pair of groups has the same number of
 * links; surplus ports of the h stay free.
 *
 * Ports of a switch: 1 .. p to hosts, then a - 1 within the group, then h.
 */
#include "sim/topo/generate.h"

struct dragonfly {
	uint32_t a, h, p, g;
	uint32_t first;		/* index of the first node */
};

static uint32_t dragonfly_switch(const struct dragonfly *df, uint32_t group, uint32_t i)
{
	return df->first + group * df->a + i;
}

static void link_group(struct gen *g, const struct dragonfly *df, uint32_t group)
{
	/* a switch has no port to itself, so the ports to later switches are one lower */
	for (uint32_t i = 0; i < df->a; i++)
		for (uint32_t j = i + 1; j < df->a; j++)
			gen_link(g, dragonfly_switch(df, group, i), df->p + j,
				 dragonfly_switch(df, group, j), df->p + i + 1);
}

/* Makes the n-th of a group's links to other groups. */
static void link_groups(struct gen *g, const struct dragonfly *df, uint32_t group, uint32_t n)
{
	uint32_t others = df->g - 1, round = n / others, step = n % others;
	uint32_t peer = (group + 1 + step) % df->g;
	uint32_t back = round * others + (others - 1 - step);
	unsigned port0 = df->p + df->a - 1 + 1;

	if (group < peer)
		gen_link(g, dragonfly_switch(df, group, n / df->h), port0 + n % df->h,
			 dragonfly_switch(df, peer, back / df->h), port0 + back % df->h);
}

static void make_switches(struct gen *g, struct dragonfly *df)
{
	df->first = g->f->n_nodes;
	for (uint32_t group = 0; group < df->g; group++)
		for (uint32_t i = 0; i < df->a; i++)
			gen_switch(g, df->p + df->a - 1 + df->h, "group-%0*u-switch-%0*u",
				   gen_digits(df->g + 1, 2), group + 1, gen_digits(df->a + 1, 2),
				   i + 1);
}

void gen_dragonfly(struct gen *g)
{
	struct dragonfly df = { 0 };
	uint32_t links;

	df.a = gen_number(g, "a", GEN_NEEDED, 1, SIM_PORTS_MAX);
	df.h = gen_number(g, "h", GEN_NEEDED, 1, SIM_PORTS_MAX);
	if (g->bad)
		return;
	df.p = gen_number(g, "p", df.h, 0, SIM_PORTS_MAX);
	df.g = gen_number(g, "g", df.a * df.h + 1, 2, df.a * df.h + 1);
	if (!gen_ready(g, (uint64_t)df.g * df.a, (uint64_t)df.p + df.a - 1 + df.h,
		       (uint64_t)df.g * df.a * df.p))
		return;
	make_switches(g, &df);
	links = df.a * df.h / (df.g - 1) * (df.g - 1);
	for (uint32_t group = 0; group < df.g; group++) {
		link_group(g, &df, group);
		for (uint32_t n = 0; n < links; n++)
			link_groups(g, &df, group, n);
	}
	gen_hosts_evenly(g, df.first, df.g * df.a, df.p);
}
