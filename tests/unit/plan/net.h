/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds hand-made fabrics for the tests of plan/.  The first node must be a CA; the
 * SM is on its port 1.
 */
#ifndef TEST_PLAN_NET_H
#define TEST_PLAN_NET_H

#include "fabric/fabric.h"

/* All ports of the node answer: 4xQDR, MTU 2048, 8 VLs, no LID.  Port GUIDs of CAs: guid + num. */
uint32_t net_ca(struct fabric *f, uint64_t guid, unsigned nports);
uint32_t net_switch(struct fabric *f, uint64_t guid, unsigned nports, bool enhanced_port0);
void net_finish(struct fabric *f);
/*
 * A finished fabric of two leaves, two spines with a link to each, and three hosts: one at port 1 of each
 * leaf, and one at port 4 of the second spine.  GUIDs: host + 0x10 * i, leaf + i, spine + i.
 */
struct fabric *net_leaves_and_spines(uint64_t host, uint64_t leaf, uint64_t spine);

/* An xorshift generator, which gives the same numbers on every machine. */
uint32_t net_random(uint64_t *state);

#endif
