/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the bound of a packet's wait against values computed by hand and a simulated port.
 *
 * promise: C1
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "by_hand.h"
#include "lib/base/alloc.h"
#include "port_sim.h"
#include "qos/arbiter/arbiter.h"
#include "random_port.h"
#include "unit/run.h"

/* --- by hand ----------------------------------------------------------------- */

#define ENTRIES 5

/* Tables end with the first (0, 0).  VLs 0..2 have packets of 64 bytes, 3 and 4 of 1000. */
static const struct by_hand {
	const char *what;
	struct vlarb_entry high[ENTRIES], low[ENTRIES];
	uint8_t limit;
	uint16_t active;
	unsigned vl;
	uint64_t wait;
} by_hand[] = {
	{ "in no table", {{1, 1}}, {{2, 1}}, 0, 0x6, 0, UINT64_MAX },
	{ "weight 0 is no entry", {{0, 0}}, {{0, 0}, {1, 1}}, 0, 0x6, 0, UINT64_MAX },
	{ "no data VL", {{15, 1}}, {{15, 1}}, 0, 0x6, 15, UINT64_MAX },
	{ "nobody else, high", {{0, 1}}, {{1, 1}}, 0, 0x1, 0, 0 },
	{ "nobody else, low", {{1, 1}}, {{0, 1}}, 0, 0x1, 0, 0 },
	{ "low may starve", {{1, 1}}, {{0, 1}}, 255, 0x2, 0, UINT64_MAX },
	{ "low can't starve if high is idle", {{1, 1}}, {{0, 1}, {2, 3}}, 255, 0x5, 0, 192 },
	{ "one high, one low packet in transmission", {{0, 1}}, {{3, 200}}, 0, 0x8, 0, 1000 },
	{ "so with no limit", {{0, 1}}, {{3, 200}}, 255, 0x8, 0, 1000 },
	{ "high: the other entries once", {{0, 1}, {1, 2}, {3, 32}}, {{0}}, 0, 0xa, 0, 128 + 3000 },
	{ "high: the greatest gap", {{0, 1}, {1, 2}, {0, 1}, {3, 16}, {1, 1}}, {{0}}, 4, 0xa, 0,
	  2000 + 64 },
	{ "high: the gap over the end", {{3, 16}, {0, 1}, {1, 2}, {0, 1}, {1, 1}}, {{0}}, 4, 0xa, 0,
	  2000 + 64 },
	/* a low packet before the first and after each of the two high ones */
	{ "limit 0: a low packet each", {{0, 1}, {1, 2}}, {{3, 1}}, 0, 0xa, 0, 128 + 3000 },
	/* rounds of 5000 bytes: low packets before, after 5000 and after 10000 bytes, and 2000 more */
	{ "limit 1", {{0, 1}, {3, 187}}, {{4, 1}}, 1, 0x18, 0, 12000 + 3000 },
	{ "limit 255: no low packet", {{0, 1}, {3, 187}}, {{4, 1}}, 255, 0x18, 0, 12000 },
	/* at most one of three low packets is large */
	{ "low packets that differ", {{0, 1}, {1, 2}}, {{3, 1}, {2, 20}}, 0, 0xe, 0,
	  128 + 1000 + 1280 },
	/* a round of 5000 bytes before each of the two other packets and before this one */
	{ "low: a round before each", {{3, 9}}, {{0, 1}, {1, 2}}, 1, 0xa, 0, 128 + 15000 },
	{ "low alone, high active", {{3, 9}}, {{0, 1}}, 1, 0xa, 0, 5000 },
	{ "low, limit 0", {{3, 9}}, {{0, 1}, {1, 2}}, 0, 0xa, 0, 128 + 3000 },
	/* high sends 1000, 64, 1000, … bytes: ten times the mean, and a turn */
	{ "low, rounds that differ", {{3, 15}, {1, 1}}, {{0, 1}, {2, 9}}, 0, 0xe, 0,
	  576 + 5320 + 1064 },
	{ "low, high idle", {{3, 9}}, {{0, 1}, {1, 2}}, 0, 0x2, 0, 128 },
	{ "both tables: the better one", {{0, 1}, {3, 255}}, {{0, 1}, {1, 1}}, 0, 0xa, 0,
	  64 + 2000 },
	{ "itself active or not", {{0, 1}, {1, 2}}, {{3, 1}}, 0, 0xb, 0, 128 + 3000 },
};

START_TEST(values_by_hand)
{
	const struct by_hand *c = &by_hand[_i];
	struct vlarb arb = tables_of(c->high, c->low, ENTRIES, c->limit);
	struct arb_load load = { c->active, { 64, 64, 64, 1000, 1000 } };
	uint64_t wait = arbiter_wait_bytes(&arb, &load, c->vl);

	ck_assert_msg(wait == c->wait, "%s: %llu bytes", c->what, (unsigned long long)wait);
}
END_TEST

/* --- against the simulated port ------------------------------------------------ */

static void others_backlogged(struct port_sim *p, const struct vlarb *arb,
			      const struct arb_load *load, unsigned vl)
{
	port_sim_init(p, arb, load->packet);
	for (unsigned v = 0; v < SIM_VLS; v++)
		if (v != vl && load->active >> v & 1)
			p->queue[v] = SIM_BACKLOG;
}

/*
 * Counts the bytes sent before the one packet in the queue of vl.  Returns false if
 * that was not among the first `packets` packets.
 */
static bool wait_of_one(struct port_sim p, unsigned vl, unsigned packets, uint64_t *wait)
{
	*wait = 0;
	for (p.queue[vl] = 1; packets; packets--) {
		int sent = port_sim_send(&p);

		if (sent < 0 || sent == (int)vl)
			return sent >= 0;
		*wait += p.size[sent];
	}
	return false;
}

/* A packet arrives at the beginning of each of the first 300 packets, in ports of short cycles. */
START_TEST(at_every_moment)
{
	unsigned served = 0, bounded = 0;

	for (unsigned seed = 0; seed < 2000; seed++) {
		struct rng r = { seed };
		struct vlarb arb;
		struct arb_load load;
		struct port_sim p;

		random_small_port(&r, &arb, &load);

		unsigned vl = rng_below(&r, 6);
		uint64_t bound = arbiter_wait_bytes(&arb, &load, vl);

		others_backlogged(&p, &arb, &load, vl);
		for (unsigned moment = 0; moment < 300; moment++) {
			int sent = port_sim_send(&p);
			uint64_t wait;
			bool done = wait_of_one(p, vl, 500, &wait);

			if (sent >= 0)
				wait += p.size[sent];
			ck_assert_msg(wait <= bound, "seed %u: %llu bytes, not %llu", seed,
				      (unsigned long long)wait, (unsigned long long)bound);
			ck_assert_msg(!done || bound != UINT64_MAX, "seed %u: served", seed);
			served += done;
			bounded += bound != UINT64_MAX;
		}
	}
	/* some packets wait for more than 500 others */
	ck_assert_uint_gt(bounded, 300000);
	ck_assert_uint_gt(served, bounded * 9 / 10);
}
END_TEST

/* The bytes that a random entry of vl sends in a visit. */
static unsigned visit_of(const struct vlarb *arb, unsigned vl, unsigned size, struct rng *r)
{
	unsigned start = rng_below(r, 128), at;

	for (unsigned i = 0; i < 128; i++) {
		struct vlarb_entry e = { .weight = 0 };

		at = (start + i) % 128;
		if (at < arb->n_high)
			e = arb->high[at];
		else if (at >= 64 && at - 64 < arb->n_low)
			e = arb->low[at - 64];
		if (e.vl == vl && e.weight)
			return (e.weight * 64 + size - 1) / size;
	}
	ck_abort_msg("a VL in no table was served");
}

/*
 * The longest wait among occasional packets.  Each arrives at an empty queue while a
 * packet of another VL is in transmission, which counts as a whole.  Some are followed
 * by others that use up the weight of vl, or a part of it, so that the next packet meets
 * the worst case.
 */
static uint64_t longest_wait(const struct vlarb *arb, const struct arb_load *load, unsigned vl,
			     struct rng *r, unsigned packets)
{
	uint64_t wait = 0, longest = 0;
	unsigned pause = 0;
	bool waiting = false;
	struct port_sim p;

	others_backlogged(&p, arb, load, vl);
	while (packets--) {
		int sent = port_sim_send(&p);

		if (sent < 0)
			break;
		if (sent == (int)vl && waiting) {
			unsigned visit = visit_of(arb, vl, p.size[vl], r);

			waiting = false;
			pause = rng_below(r, 4) ? 0 : rng_below(r, 50);
			p.queue[vl] += rng_below(r, 2) ? visit - 1 : rng_below(r, 2 * visit);
		} else if (waiting) {
			wait += p.size[sent];
		} else if (sent != (int)vl && !p.queue[vl] && (!pause || !--pause)) {
			waiting = true;
			wait = p.size[sent];
			p.queue[vl] = 1;
		}
		if (waiting && wait > longest)
			longest = wait;
	}
	return longest;
}

START_TEST(never_longer)
{
	unsigned bounded = 0, near = 0;

	for (unsigned seed = 0; seed < 10000; seed++) {
		struct rng r = { seed };
		struct vlarb arb;
		struct arb_load load;

		random_port(&r, &arb, &load);

		unsigned vl = rng_below(&r, ARB_VLS);
		uint64_t bound = arbiter_wait_bytes(&arb, &load, vl);
		uint64_t seen = longest_wait(&arb, &load, vl, &r, 5000);

		if (bound != UINT64_MAX && seen) {
			bounded++;
			near += seen >= bound - bound / 10;
		}
		ck_assert_msg(seen <= bound, "seed %u: %llu bytes, not %llu", seed,
			      (unsigned long long)seen, (unsigned long long)bound);
	}
	ck_assert_uint_gt(bounded, 3000);
	ck_assert_uint_gt(near, bounded * 3 / 4);
}
END_TEST

/* If all packets have one size, the bound is reached. */
START_TEST(as_long_as_that)
{
	for (unsigned seed = 0; seed < 500; seed++) {
		struct rng r = { seed };
		struct vlarb arb;
		struct arb_load load;

		random_plain_port(&r, &arb, &load);

		unsigned vl = rng_below(&r, arb.n_high + arb.n_low);
		uint64_t bound = arbiter_wait_bytes(&arb, &load, vl);
		uint64_t seen = longest_wait(&arb, &load, vl, &r, 50000);

		ck_assert_msg(seen == bound, "seed %u: %llu bytes, not %llu", seed,
			      (unsigned long long)seen, (unsigned long long)bound);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wait");
	TCase *tc = tcase_create("wait");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, values_by_hand, 0, ARRAY_SIZE(by_hand));
	tcase_add_test(tc, at_every_moment);
	tcase_add_test(tc, never_longer);
	tcase_add_test(tc, as_long_as_that);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
