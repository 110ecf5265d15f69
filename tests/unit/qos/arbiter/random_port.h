/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes random arbitration tables and loads of all kinds from a seed. */
#ifndef TESTS_BANDWIDTH_RANDOM_PORT_H
#define TESTS_BANDWIDTH_RANDOM_PORT_H

#include "qos/arbiter/arbiter.h"

struct rng {
	uint64_t state;
};

/* A random number in 0 … below-1, by splitmix64. */
uint32_t rng_below(struct rng *r, uint32_t below);
static inline uint32_t rng_range(struct rng *r, uint32_t least, uint32_t most)
{
	return least + rng_below(r, most - least + 1);
}

/*
 * Makes any tables that a device could hold: 0..64 entries, VLs several times, in both
 * tables or nonexistent, weights of 0, any limit, any VLs active.
 */
void random_port(struct rng *r, struct vlarb *arb, struct arb_load *load);

/* Makes few entries of small weight, so that every moment of the cycle can be tested. */
void random_small_port(struct rng *r, struct vlarb *arb, struct arb_load *load);

/*
 * Makes tables as people write them: each VL once and in one table, weights of whole
 * packets, packets of one size, all VLs active, and two VLs or more in each table.
 */
void random_plain_port(struct rng *r, struct vlarb *arb, struct arb_load *load);

#endif
