/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generates fat trees of switches with k ports.
 *
 * Half of the ports go down and half up; those of the top level all go down.  In a tapered tree,
 * leaves have `taper` times as many ports down as up.
 *
 * A switch is a row of digits, 1 .. levels - 1; the last digit is the pod.  A switch of level l is
 * linked to those of level l + 1 that differ from it at most in digit l.  That digit of the upper
 * switch is the lower one's port up, and that of the lower switch is the upper one's port down.  So
 * digit i has two ranges: down[i] in switches up to level i, up[i] above that.
 */
#include "sim/topo/generate.h"

#define LEVELS_MAX 4

struct fat_tree {
	unsigned k, levels, hosts;
	unsigned leaf_down;		/* ports of a leaf that may have hosts */
	unsigned down[LEVELS_MAX + 1], up[LEVELS_MAX + 1];
	uint32_t first[LEVELS_MAX + 2];	/* index of each level's first switch */
};

static unsigned range_of(const struct fat_tree *t, unsigned digit, unsigned level)
{
	return digit < level ? t->up[digit] : t->down[digit];
}

static uint64_t switches_at(const struct fat_tree *t, unsigned level)
{
	uint64_t n = 1;

	for (unsigned digit = 1; digit < t->levels; digit++)
		n *= range_of(t, digit, level);
	return n;
}

static void read_options(struct gen *g, struct fat_tree *t)
{
	unsigned taper, pods;

	t->k = gen_number(g, "k", GEN_NEEDED, 2, SIM_PORTS_MAX);
	t->levels = gen_number(g, "levels", 3, 2, LEVELS_MAX);
	taper = gen_number(g, "taper", 1, 1, SIM_PORTS_MAX - 1);
	if (t->k % 2)
		gen_refuse(g, "k=%u: half of the ports go up, so it must be even", t->k);
	else if (t->k % (taper + 1))
		gen_refuse(g, "taper=%u: one port in %u goes up, so k must be a multiple of %u",
			   taper, taper + 1, taper + 1);
	if (g->bad)
		return;
	pods = gen_number(g, "pods", t->k, 1, t->k);
	t->leaf_down = t->k / (taper + 1) * taper;
	t->hosts = gen_number(g, "hosts", t->leaf_down, 0, t->leaf_down);
	for (unsigned digit = 1; digit < t->levels; digit++) {
		t->down[digit] = digit == t->levels - 1 ? pods : t->k / 2;
		t->up[digit] = digit == 1 ? t->k / (taper + 1) : t->k / 2;
	}
}

static void make_switches(struct gen *g, struct fat_tree *t)
{
	static const char *const names[LEVELS_MAX + 1][LEVELS_MAX + 1] = {
		[2] = { "", "leaf", "spine" },
		[3] = { "", "leaf", "spine", "core" },
		[4] = { "", "leaf", "aggregation", "spine", "core" },
	};

	for (unsigned level = 1; level <= t->levels; level++) {
		uint32_t n = (uint32_t)switches_at(t, level);

		t->first[level] = g->f->n_nodes;
		for (uint32_t i = 0; i < n; i++)
			gen_switch(g, t->k, "%s-%0*u", names[t->levels][level],
				   gen_digits(n + 1, 3), i + 1);
	}
}

/* Splits a switch's number into its digits; digit 1 is the lowest. */
static void digits_of(const struct fat_tree *t, unsigned level, uint32_t i, unsigned *digits)
{
	for (unsigned digit = 1; digit < t->levels; digit++) {
		digits[digit] = i % range_of(t, digit, level);
		i /= range_of(t, digit, level);
	}
}

static uint32_t number_of(const struct fat_tree *t, unsigned level, const unsigned *digits)
{
	uint32_t i = 0;

	for (unsigned digit = t->levels - 1; digit >= 1; digit--)
		i = i * range_of(t, digit, level) + digits[digit];
	return i;
}

static void link_up(struct gen *g, const struct fat_tree *t, unsigned level, uint32_t i)
{
	unsigned digits[LEVELS_MAX + 1], below;
	unsigned ports_down = level == 1 ? t->leaf_down : t->k / 2;

	digits_of(t, level, i, digits);
	below = digits[level];
	for (unsigned up = 0; up < t->up[level]; up++) {
		digits[level] = up;
		gen_link(g, t->first[level] + i, ports_down + up + 1,
			 t->first[level + 1] + number_of(t, level + 1, digits), below + 1);
	}
}

void gen_fat_tree(struct gen *g)
{
	struct fat_tree t = { 0 };
	uint64_t switches = 0, leaves;

	read_options(g, &t);
	leaves = switches_at(&t, 1);
	for (unsigned level = 1; level <= t.levels; level++)
		switches += switches_at(&t, level);
	if (!gen_ready(g, switches, t.k, leaves * t.hosts))
		return;
	make_switches(g, &t);
	for (unsigned level = 1; level < t.levels; level++)
		for (uint32_t i = 0; i < switches_at(&t, level); i++)
			link_up(g, &t, level, i);
	gen_hosts_evenly(g, t.first[1], (uint32_t)leaves, t.hosts);
}
