/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arbitration tables and loads of all kinds, by a seed. */
#ifndef TESTS_BANDWIDTH_RANDOM_PORT_H
#define TESTS_BANDWIDTH_RANDOM_PORT_H

#include "qos/arbiter/arbiter.h"

struct rng {
	uint64_t state;
};

/* 0 … below-1; splitmix64 */
uint32_t rng_below(struct rng *r, uint32_t below);
static inline uint32_t rng_range(struct rng *r, uint32_t least, uint32_t most)
{
	return least + rng_below(r, most - least + 1);
}

/*
 * Tables as a device could hold them: 0..64 entries, VLs several times, in both,
 * or of none that exists, weights of 0, any limit, any VLs active.
 */
void random_port(struct rng *r, struct vlarb *arb, struct arb_load *load);

/* Few entries of small weight: every moment of its cycle can be looked at. */
void random_small_port(struct rng *r, struct vlarb *arb, struct arb_load *load);

/*
 * As people write them: each VL once and in one table, weights of whole packets,
 * all packets alike, and all VLs active; two VLs or more in either table.
 */
void random_plain_port(struct rng *r, struct vlarb *arb, struct arb_load *load);

#endif
