/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the generators share: options, and making switches, cables and hosts.
 * Each reads its options, says gen_ready(), and builds only if that is true: by
 * then everything is known to fit, so that building cannot fail.
 */
#ifndef QOSD_SIM_TOPO_GENERATE_H
#define QOSD_SIM_TOPO_GENERATE_H

#include "sim/topo/speed.h"
#include "sim/topo/topo.h"

#define GEN_OPTIONS_MAX 24

struct gen_option {
	const char *key, *value;	/* key is "" for a parameter without a name */
	bool used;
};

/* Of the cables between switches so many per cent, by chance with that seed. */
struct gen_flaw {
	uint32_t percent, seed;
	struct cable_speed speed;	/* of those that are slow */
};

struct gen {
	const struct gen_family *family;
	struct sim_fabric *f;
	struct buf *err;
	bool bad;			/* err says why */
	struct gen_option options[GEN_OPTIONS_MAX];
	unsigned n_options;
	/* Options of all. */
	unsigned host_ports, routers, dangling;
	bool aggregation;		/* a SHARP aggregation node inside each switch */
	struct cable_speed speed;
	struct gen_flaw lose, slow;
	uint32_t made[SIM_ROUTER + 1];	/* nodes of each type so far */
};

struct gen_family {
	const char *name;
	void (*make)(struct gen *g);
	const char *help;
};

/* Families, each in a file of its own kind. */
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

/* Why it cannot be done; a line of its own. */
void gen_refuse(struct gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The text of an option, or NULL; key "": the parameter without a name. */
const char *gen_text(struct gen *g, const char *key);
#define GEN_NEEDED UINT32_MAX
/* From min to max, else it is refused; `otherwise` if it is not said (GEN_NEEDED: refused). */
uint32_t gen_number(struct gen *g, const char *key, uint32_t otherwise, uint32_t min, uint32_t max);
/*
 * Nothing was refused, and all options were known; the sizes fit: so many
 * switches of so many ports each, so many cables to hosts.
 */
bool gen_ready(struct gen *g, uint64_t switches, uint64_t ports, uint64_t host_cables);

/* flaws.c: their options; and what they do to the fabric, which is complete otherwise. */
void gen_read_flaws(struct gen *g);
void gen_add_flaws(struct gen *g);

/* --- building --- */

/*
 * Node indexes; the first switch made is 0 if the fabric was empty.  nports: those that
 * links and hosts may take; an aggregation node has one more.
 */
uint32_t gen_switch(struct gen *g, unsigned nports, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void gen_link(struct gen *g, uint32_t node_a, unsigned port_a, uint32_t node_b, unsigned port_b);

/* A switch port that is for a host. */
struct gen_place {
	uint32_t node;
	uint8_t port;
};
/* Hosts at these places; one of several ports takes so many places in a row. */
void gen_hosts(struct gen *g, const struct gen_place *places, uint32_t n);
/*
 * Hosts at ports 1 .. per_switch of each of n switches that were made one after
 * the other; the ports of a host are at different switches where there are enough.
 */
void gen_hosts_evenly(struct gen *g, uint32_t first_switch, uint32_t n, unsigned per_switch);

/* A number below n, by chance: *state is the seed at first. */
uint32_t gen_chance(uint64_t *state, uint32_t n);
/* Digits that numbers below n need, at least min. */
int gen_digits(uint32_t n, int min);

#endif
