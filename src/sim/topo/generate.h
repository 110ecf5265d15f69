/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options, and making of switches, cables and hosts, for the generators of fabrics.
 *
 * Each generator reads its options, calls gen_ready(), and builds only if that returns true.  By
 * then all sizes are known to fit, so building cannot fail.
 */
#ifndef QOSD_SIM_TOPO_GENERATE_H
#define QOSD_SIM_TOPO_GENERATE_H

#include "sim/topo/topo.h"

#define GEN_OPTIONS_MAX 24

struct gen_option {
	const char *key, *value;	/* key is "" for the parameter without a name */
	bool used;
};

/* A share of the cables between switches, chosen at random by the seed. */
struct gen_flaw {
	uint32_t percent, seed;
	struct cable_speed speed;	/* speed of slow cables */
};

struct gen {
	const struct gen_family *family;
	struct sim_fabric *f;
	struct buf *err;
	bool bad;			/* err holds the reason */
	struct gen_option options[GEN_OPTIONS_MAX];
	unsigned n_options;
	/* options of all generators */
	unsigned host_ports, routers, dangling;
	bool aggregation;		/* a SHARP aggregation node inside each switch */
	struct cable_speed speed;
	struct gen_flaw lose, slow;
	uint32_t made[SIM_ROUTER + 1];	/* number of nodes of each type so far */
};

struct gen_family {
	const char *name;
	void (*make)(struct gen *g);
	const char *help;
};

/* Generators of the families, each in a file of its own or of its kind. */
void gen_fat_tree(struct gen *g);
void gen_clos(struct gen *g);
void gen_torus(struct gen *g);
void gen_mesh(struct gen *g);
void gen_hyperx(struct gen *g);
void gen_ring(struct gen *g);
void gen_hypercube(struct gen *g);
void gen_dragonfly(struct gen *g);
void gen_random(struct gen *g);
void gen_single_switch(struct gen *g);

/* --- options --- */

/* Reports why the fabric cannot be made, on a line of its own. */
void gen_refuse(struct gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The text of an option, or NULL; key "" is the parameter without a name. */
const char *gen_text(struct gen *g, const char *key);
#define GEN_NEEDED UINT32_MAX
/*
 * A number from min to max; refuses others.  `otherwise` is the default; with GEN_NEEDED a missing
 * option is refused.
 */
uint32_t gen_number(struct gen *g, const char *key, uint32_t otherwise, uint32_t min, uint32_t max);
/*
 * Whether nothing was refused, all options were known, and the sizes fit: the number of switches,
 * the ports of each, and the cables to hosts.
 */
bool gen_ready(struct gen *g, uint64_t switches, uint64_t ports, uint64_t host_cables);

/* flaws.c: reads the options of flaws; adds the flaws to a complete fabric. */
void gen_read_flaws(struct gen *g);
void gen_add_flaws(struct gen *g);

/* --- building --- */

/*
 * Return node indexes; the first switch is 0 if the fabric was empty. nports: ports that links and
 * hosts may use; an aggregation node adds one.
 */
uint32_t gen_switch(struct gen *g, unsigned nports, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void gen_link(struct gen *g, uint32_t node_a, unsigned port_a, uint32_t node_b, unsigned port_b);

/* A switch port for a host. */
struct gen_place {
	uint32_t node;
	uint8_t port;
};
/* Puts hosts at these places; a host with several ports takes as many consecutive places. */
void gen_hosts(struct gen *g, const struct gen_place *places, uint32_t n);
/*
 * Puts hosts at ports 1 .. per_switch of n consecutive switches.  The ports of a host are at
 * different switches if there are enough.
 */
void gen_hosts_evenly(struct gen *g, uint32_t first_switch, uint32_t n, unsigned per_switch);

/* A random number below n; *state is initially the seed. */
uint32_t gen_chance(uint64_t *state, uint32_t n);
/* Number of digits that numbers below n need, at least min. */
int gen_digits(uint32_t n, int min);

#endif
