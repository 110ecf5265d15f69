/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the shares of VLs against values computed by hand, and against a port simulated packet by packet. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "by_hand.h"
#include "lib/base/alloc.h"
#include "port_sim.h"
#include "qos/arbiter/arbiter.h"
#include "random_port.h"
#include "unit/run.h"

/* --- by hand ----------------------------------------------------------------- */

#define ENTRIES 4
#define VLS 4

/* Tables end with the first (0, 0); packets are of VLs 0..3. */
static const struct by_hand {
	const char *what;
	struct vlarb_entry high[ENTRIES], low[ENTRIES];
	uint8_t limit;
	uint16_t active;
	uint16_t size[VLS];
	uint64_t packets[VLS];
	uint16_t starved;
} by_hand[] = {
	{ "nothing at all", {{0}}, {{0}}, 0, 0, {0}, {0}, 0 },
	{ "VLs in no table", {{0}}, {{0}}, 0, 0x3, {64, 64}, {0}, 0x3 },
	{ "tables for others only", {{2, 1}}, {{3, 1}}, 0, 0x3, {64, 64}, {0}, 0x3 },
	{ "low alone: as the weights", {{0}}, {{0, 2}, {1, 3}}, 0, 0x3, {64, 64}, {2, 3}, 0 },
	{ "high alone: no limit counts", {{0, 2}, {1, 3}}, {{0}}, 1, 0x3, {64, 64}, {2, 3}, 0 },
	{ "high has nothing active: low runs alone", {{2, 9}}, {{0, 2}, {1, 3}}, 0, 0x3,
	  {64, 64}, {2, 3}, 0 },
	{ "low has nothing active", {{0, 2}, {1, 3}}, {{2, 7}}, 0, 0x3, {64, 64}, {2, 3}, 0 },
	{ "limit 0: a packet of each", {{0, 255}}, {{1, 1}}, 0, 0x3, {64, 64}, {255, 255}, 0 },
	{ "limit 0: whatever the size", {{0, 1}}, {{1, 1}}, 0, 0x3, {4096, 64}, {1, 1}, 0 },
	{ "limit 1: 4096 bytes", {{0, 255}}, {{1, 1}}, 1, 0x3, {2048, 2048}, {8, 4}, 0 },
	/* 3000, 6000 > 4096: two packets, and the excess is not carried over; 16320 takes 6 */
	{ "limit 1: what is too much", {{0, 255}}, {{1, 1}}, 1, 0x3, {3000, 64}, {6, 3}, 0 },
	{ "limit 1: one byte is left", {{0, 64}}, {{1, 1}}, 1, 0x3, {4095, 64}, {2, 1}, 0 },
	{ "limit 254", {{0, 64}}, {{1, 1}}, 254, 0x3, {4096, 64}, {254, 1}, 0 },
	{ "limit 255: low starves", {{0, 2}, {2, 1}}, {{1, 1}, {3, 1}}, 255, 0xf,
	  {64, 64, 64, 64}, {2, 0, 1, 0}, 0xa },
	{ "limit 255: but not without high", {{2, 1}}, {{0, 1}, {1, 2}}, 255, 0x3, {64, 64},
	  {1, 2}, 0 },
	{ "limit 255: a VL of both does not", {{0, 1}}, {{0, 1}, {1, 1}}, 255, 0x3, {64, 64},
	  {1, 0}, 0x2 },
	{ "VL of both tables", {{0, 1}}, {{0, 1}, {1, 1}}, 0, 0x3, {64, 64}, {3, 1}, 0 },
	{ "VL several times", {{0}}, {{0, 1}, {1, 1}, {0, 2}}, 0, 0x3, {64, 64}, {3, 1}, 0 },
	{ "weight 0 is passed by", {{0, 0}, {1, 1}}, {{0, 0}, {2, 1}}, 0, 0x7, {64, 64, 64},
	  {0, 1, 1}, 0x1 },
	{ "weights of 0 only", {{0, 0}, {1, 0}}, {{0, 1}, {1, 1}}, 0, 0x3, {64, 64}, {1, 1}, 0 },
	{ "VLs that do not exist", {{15, 9}, {255, 9}}, {{0, 1}, {15, 9}, {1, 1}, {16, 1}}, 3,
	  0x8003, {64, 64}, {1, 1}, 0 },
	{ "no active bit: passed by", {{0}}, {{0, 1}, {1, 5}, {2, 1}}, 0, 0x5, {64, 64, 64},
	  {1, 0, 1}, 0 },
	{ "packets without bytes", {{0}}, {{0, 1}, {1, 5}}, 0, 0x3, {64, 0}, {1, 0}, 0x2 },
	{ "packets above the weight", {{0}}, {{0, 1}, {1, 2}}, 0, 0x3, {2048, 2048}, {1, 1}, 0 },
	/* 128 / 65 and 192 / 100, each rounded up */
	{ "packets of odd size", {{0}}, {{0, 2}, {1, 3}}, 0, 0x3, {65, 100}, {2, 2}, 0 },
	{ "packets of one byte", {{0}}, {{0, 1}, {1, 1}}, 0, 0x3, {1, 64}, {64, 1}, 0 },
	{ "greatest packets", {{0, 255}}, {{1, 255}}, 1, 0x3, {65535, 65535}, {1, 1}, 0 },
	/*
	 * Rounds of 4096 bytes in turns of 3 * 2048 + 3 * 1024 bytes: 0 0, 0 1 1, 1 0 0 (of
	 * 5120 bytes), 0 1 1, …; the rounds repeat from the second on.
	 */
	{ "rounds out of step with the turn", {{0, 96}, {1, 48}}, {{2, 1}}, 1, 0x7,
	  {2048, 1024, 64}, {3, 3, 2}, 0 },
	/* 2 rounds a turn of high, 3 packets a turn of low: 6 rounds */
	{ "joint cycle", {{0, 2}}, {{1, 1}, {2, 2}}, 0, 0x7, {64, 64, 64}, {6, 2, 4}, 0 },
};

/* promise: B1 */
START_TEST(values_by_hand)
{
	const struct by_hand *c = &by_hand[_i];
	struct vlarb arb = tables_of(c->high, c->low, ENTRIES, c->limit);
	struct arb_load load = { .active = c->active };
	struct arb_cycle got;
	uint64_t packets = 0, bytes = 0;
	double shares = 0;

	memcpy(load.packet, c->size, sizeof(c->size));
	memset(&got, 0xff, sizeof(got));
	arbiter_run(&arb, &load, &got);
	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		uint64_t expected = vl < VLS ? c->packets[vl] : 0;

		ck_assert_msg(got.packets[vl] == expected, "%s: VL%u has %llu packets", c->what, vl,
			      (unsigned long long)got.packets[vl]);
		ck_assert_uint_eq(got.bytes[vl], expected * load.packet[vl]);
		packets += expected;
		bytes += expected * load.packet[vl];
		shares += got.share[vl];
	}
	ck_assert_uint_eq(got.total_packets, packets);
	ck_assert_uint_eq(got.total_bytes, bytes);
	ck_assert_double_eq_tol(shares, bytes ? 1 : 0, 1e-12);
	ck_assert_msg(got.starved == c->starved, "%s: starved %#x", c->what, got.starved);
}
END_TEST

START_TEST(vls_of_tables)
{
	struct vlarb arb = {
		.n_high = 4, .n_low = 3,
		.high = { { 3, 1 }, { 14, 255 }, { 5, 0 }, { 15, 7 }, { 6, 1 } },
		.low = { { 0, 1 }, { 0, 2 }, { 200, 1 }, { 2, 2 } },
	};

	ck_assert_uint_eq(arbiter_high_vls(&arb), 1 << 3 | 1 << 14);
	ck_assert_uint_eq(arbiter_low_vls(&arb), 1 << 0);
	arb = (struct vlarb){ .n_high = 0 };
	ck_assert_uint_eq(arbiter_high_vls(&arb), 0);
	ck_assert_uint_eq(arbiter_low_vls(&arb), 0);
}
END_TEST

START_TEST(load_of_one_size)
{
	struct arb_load load = arbiter_load(0x4001, 2048);

	ck_assert_uint_eq(load.active, 0x4001);
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		ck_assert_uint_eq(load.packet[vl], 2048);
}
END_TEST

/* --- against the simulated port ------------------------------------------------ */

#define CASES 10000
#define LONG_RUN 30000	/* packets after which a port whose cycle did not show is given up */

struct sim_counts {
	uint64_t packets[SIM_VLS], total;
};

static void backlog(struct port_sim *p, const struct vlarb *arb, const struct arb_load *load)
{
	port_sim_init(p, arb, load->packet);
	for (unsigned vl = 0; vl < SIM_VLS; vl++)
		p->queue[vl] = load->active >> vl & 1 ? SIM_BACKLOG : 0;
}

/*
 * Simulates one cycle of the port, after its transient.  Returns false if there was none
 * in LONG_RUN packets.  The state to find again is stored at each power of two.
 */
static bool simulate_cycle(struct port_sim *p, struct sim_counts *out)
{
	struct port_sim then = *p;
	uint64_t patience = 1;

	memset(out, 0, sizeof(*out));
	for (unsigned sent = 0; sent < LONG_RUN; sent++) {
		int vl = port_sim_send(p);

		if (vl < 0)
			return true;
		out->packets[vl]++;
		out->total++;
		if (port_sim_same_state(p, &then))
			return true;
		if (out->total == patience) {
			memset(out, 0, sizeof(*out));
			then = *p;
			patience *= 2;
		}
	}
	return false;
}

static unsigned per_turn(const struct vlarb_entry *entries, unsigned n, unsigned vl, unsigned size)
{
	unsigned packets = 0;

	for (unsigned i = 0; i < n; i++)
		if (entries[i].vl == vl)
			packets += (entries[i].weight * 64 + size - 1) / size;
	return packets;
}

static bool both_send(const struct vlarb *arb, const struct arb_load *load)
{
	return arbiter_high_vls(arb) & load->active && arbiter_low_vls(arb) & load->active &&
	       arb->high_limit != 255;
}

/*
 * Checks a run of any length from the start.  If both tables send, it ends with a low
 * packet, which resets the counter.  The high table is then within one turn of the
 * position that its mean rate gives, and a VL's packets may all lie before or all after
 * that: the error is within the packets of two turns.  For a VL of the low table, it is
 * within those of one turn.  E of a VL is that sum.  Relative to the length of the run,
 * the errors of all VLs add to it.
 */
static void check_long_run(const struct vlarb *arb, const struct arb_load *load,
			   const struct arb_cycle *got, unsigned seed)
{
	struct port_sim p;
	struct sim_counts run = { .total = 0 };
	double error[SIM_VLS] = { 0 }, errors = 0;

	backlog(&p, arb, load);
	do {
		run.packets[port_sim_send(&p)]++;
		run.total++;
	} while (run.total < LONG_RUN || (both_send(arb, load) && p.high_packets));

	for (unsigned vl = 0; vl < SIM_VLS; vl++) {
		if (!(load->active >> vl & 1))
			continue;
		error[vl] = 2.0 * per_turn(arb->high, arb->n_high, vl, load->packet[vl]) +
			    per_turn(arb->low, arb->n_low, vl, load->packet[vl]);
		errors += error[vl];
	}
	for (unsigned vl = 0; vl < SIM_VLS; vl++) {
		double part = (double)got->packets[vl] / (double)got->total_packets;
		double off = fabs((double)run.packets[vl] - part * (double)run.total);

		ck_assert_msg(off <= error[vl] + part * errors + 1e-3,
			      "seed %u: VL%u is off by %g packets of %llu", seed, vl, off,
			      (unsigned long long)run.total);
	}
}

static void check_cycle(const struct vlarb *arb, const struct arb_load *load,
			const struct arb_cycle *got, const struct sim_counts *seen, unsigned seed)
{
	uint64_t times = 1, bytes = 0;

	/* A single table has turns, but the port's limit counter goes on. */
	if (!both_send(arb, load) && got->total_packets)
		times = seen->total / got->total_packets;
	for (unsigned vl = 0; vl < SIM_VLS; vl++) {
		ck_assert_msg(seen->packets[vl] == times * got->packets[vl],
			      "seed %u: VL%u sent %llu packets, not %llu * %llu", seed, vl,
			      (unsigned long long)seen->packets[vl], (unsigned long long)times,
			      (unsigned long long)got->packets[vl]);
		bytes += seen->packets[vl] * load->packet[vl];
	}
	ck_assert_uint_eq(seen->total, times * got->total_packets);
	ck_assert_uint_eq(bytes, times * got->total_bytes);
	for (unsigned vl = 0; bytes && vl < SIM_VLS; vl++)
		ck_assert_double_eq_tol(got->share[vl], (double)seen->packets[vl] * load->packet[vl] /
				    (double)bytes, 1e-12);
}

static void check_sums(const struct arb_load *load, const struct arb_cycle *got)
{
	uint64_t packets = 0, bytes = 0;

	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		bool active = load->active >> vl & 1;

		packets += got->packets[vl];
		bytes += got->bytes[vl];
		ck_assert_uint_eq(got->bytes[vl], got->packets[vl] * load->packet[vl]);
		ck_assert(active || !got->packets[vl]);
		ck_assert_uint_eq(got->starved >> vl & 1, active && !got->packets[vl]);
	}
	ck_assert_uint_eq(got->total_packets, packets);
	ck_assert_uint_eq(got->total_bytes, bytes);
}

/* promise: B1 */
START_TEST(as_simulated)
{
	unsigned exact = 0;

	for (unsigned seed = 0; seed < CASES; seed++) {
		struct rng r = { seed };
		struct vlarb arb;
		struct arb_load load;
		struct arb_cycle got;
		struct port_sim p;
		struct sim_counts seen;

		random_port(&r, &arb, &load);
		arbiter_run(&arb, &load, &got);
		check_sums(&load, &got);
		backlog(&p, &arb, &load);
		if (simulate_cycle(&p, &seen)) {
			check_cycle(&arb, &load, &got, &seen, seed);
			exact++;
		} else {
			check_long_run(&arb, &load, &got, seed);
		}
	}
	/* The cycles of the others are longer than LONG_RUN packets. */
	ck_assert_uint_gt(exact, CASES * 4 / 5);
}
END_TEST

/* --- the measured model ---------------------------------------------------------- */

/* promise: B2 */
START_TEST(measured_points)
{
	static const struct {
		unsigned q, h, l;
		double ratio;
	} points[] = {
		{ 0, 2, 2, 1 }, { 1, 16, 4, 4 }, { 2, 3, 2, 3 }, { 5, 10, 90, 10 },
		{ 6, 8, 40, 12 }, { 8, 25, 100, 16 },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(points); i++)
		ck_assert_double_eq_tol(
			arbiter_measured_ratio(points[i].q, points[i].h, points[i].l),
			points[i].ratio, 1e-12);
}
END_TEST

/* A port with VL 1 in the high and VL 0 in the low table. */
static struct vlarb one_of_each(unsigned q, unsigned h, unsigned l)
{
	return (struct vlarb){
		.n_high = 1, .n_low = 1, .high_limit = (uint8_t)q,
		.high = { { 1, (uint8_t)h } }, .low = { { 0, (uint8_t)l } },
	};
}

/* The shares that IBA's arbiter gives at the measured points: two of six are elsewhere. */
/* promise: B2 */
START_TEST(models_side_by_side)
{
	static const struct {
		unsigned q, h, l;
		double iba, measured;	/* ratios */
		bool differ;
	} points[] = {
		{ 0, 2, 2, 1, 1, false }, { 1, 16, 4, 2, 4, true }, { 2, 3, 2, 4, 3, true },
		{ 5, 10, 90, 10, 10, false }, { 6, 8, 40, 12, 12, false },
		{ 8, 25, 100, 16, 16, false },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(points); i++) {
		struct vlarb arb = one_of_each(points[i].q, points[i].h, points[i].l);
		struct arb_load load = arbiter_load(3, 2048);
		struct arb_cycle iba;
		double share[ARB_VLS];

		arbiter_run(&arb, &load, &iba);
		ck_assert(arbiter_measured(&arb, &load, share));
		ck_assert_double_eq_tol(iba.share[1] / iba.share[0], points[i].iba, 1e-9);
		ck_assert_double_eq_tol(share[1] / share[0], points[i].measured, 1e-9);
		ck_assert_double_eq_tol(share[0] + share[1], 1, 1e-9);
		ck_assert_int_eq(arbiter_shares_differ(iba.share[0], share[0]), points[i].differ);
	}
}
END_TEST

/* Sums of weights count, of active VLs only, and the VLs of a table divide its part by weight. */
/* promise: B2 */
START_TEST(measured_sums_of_weights)
{
	struct vlarb arb = {
		.n_high = 3, .n_low = 3, .high_limit = 6,
		.high = { { 1, 2 }, { 2, 6 }, { 9, 200 } }, .low = { { 0, 10 }, { 3, 20 }, { 0, 10 } },
	};
	struct arb_load load = arbiter_load(0xf, 2048);
	double share[ARB_VLS];

	ck_assert(arbiter_measured(&arb, &load, share));	/* as (6, 8, 40): 12 to 1 */
	ck_assert_double_eq_tol(share[1], 12. / 13 / 4, 1e-9);
	ck_assert_double_eq_tol(share[2], 12. / 13 * 3 / 4, 1e-9);
	ck_assert_double_eq_tol(share[0], 1. / 13 / 2, 1e-9);
	ck_assert_double_eq_tol(share[3], 1. / 13 / 2, 1e-9);
	ck_assert_double_eq_tol(share[9], 0, 1e-9);
}
END_TEST

/* promise: B2 */
START_TEST(measured_says_nothing)
{
	struct vlarb arb = one_of_each(1, 16, 4), unlimited = one_of_each(255, 16, 4);
	struct arb_load load = arbiter_load(3, 2048), other = arbiter_load(3, 4096);
	struct arb_load high = arbiter_load(2, 2048), low = arbiter_load(1, 2048);
	double share[ARB_VLS];

	ck_assert(arbiter_measured(&arb, &load, share));
	ck_assert(!arbiter_measured(&arb, &other, share));
	ck_assert(!arbiter_measured(&arb, &high, share));
	ck_assert(!arbiter_measured(&arb, &low, share));
	ck_assert(!arbiter_measured(&unlimited, &load, share));
}
END_TEST

/* promise: B2 */
START_TEST(a_tenth_of_the_greater)
{
	ck_assert(!arbiter_shares_differ(0, 0));
	ck_assert(!arbiter_shares_differ(0.5, 0.46));
	ck_assert(!arbiter_shares_differ(0.46, 0.5));
	ck_assert(arbiter_shares_differ(0.5, 0.44));
	ck_assert(arbiter_shares_differ(0.44, 0.5));
	ck_assert(arbiter_shares_differ(0, 0.01));
}
END_TEST

static unsigned gcd(unsigned a, unsigned b)
{
	return b ? gcd(b, a % b) : a;
}

/* While the limit is below the weight, 2QL < H, the ratio is that of the weights. */
START_TEST(measured_below_the_limit)
{
	for (unsigned q = 0; q < 255; q += 1 + q / 4)
		for (unsigned h = 1; h <= 255; h++)
			for (unsigned l = 1; l <= 255 && 2 * q * l < h; l++) {
				double ratio = arbiter_measured_ratio(q, h, l);

				ck_assert_double_eq_tol(ratio, (double)h / l, 1e-9);
				ck_assert_double_gt(ratio, 2 * q);
			}
}
END_TEST

/* Above that, the ratio is at most 2Q, and exactly 2Q only at multiples of T. */
/* promise: B2 */
START_TEST(measured_reaches_2q)
{
	for (unsigned q = 1; q < 255; q += 1 + q / 4)
		for (unsigned h = 1; h <= 255; h++) {
			unsigned t = h / gcd(h, 2 * q);

			for (unsigned l = h / (2 * q) + 1; l <= 255; l++) {
				double ratio = arbiter_measured_ratio(q, h, l);

				if (l % t == 0)
					ck_assert_double_eq_tol(ratio, 2 * q, 1e-9);
				else
					ck_assert_double_lt(ratio, 2 * q - 1e-9);
			}
		}
}
END_TEST

/*
 * A period lasts until one more weight H fits: H/2Q, which is T if that is whole.
 * Within a period, the ratio falls from one L to the next.
 */
/* promise: B2 */
START_TEST(measured_falls_in_a_period)
{
	unsigned steps = 0;

	for (unsigned q = 1; q < 255; q += 1 + q / 4)
		for (unsigned h = 1; h <= 255; h++)
			for (unsigned l = h / (2 * q) + 1; l < 255; l++) {
				if (2 * q * l / h != 2 * q * (l + 1) / h)
					continue;
				ck_assert_double_lt(arbiter_measured_ratio(q, h, l + 1),
						    arbiter_measured_ratio(q, h, l));
				steps++;
			}
	ck_assert_uint_gt(steps, 10000);
}
END_TEST

static double least_between(unsigned q, unsigned h, unsigned from, unsigned to)
{
	double least = INFINITY;

	for (unsigned l = from; l < to; l++)
		least = fmin(least, arbiter_measured_ratio(q, h, l));
	return least;
}

/* From one multiple of T to the next, the minimum rises, unless the ratio is always 2Q (T = 1). */
/* promise: B2 */
START_TEST(measured_minimum_rises)
{
	unsigned periods = 0;

	for (unsigned q = 1; q < 255; q += 1 + q / 4)
		for (unsigned h = 1; h <= 255; h++) {
			unsigned t = h / gcd(h, 2 * q);

			for (unsigned l = t; t > 1 && l + 2 * t <= 255; l += t, periods++)
				ck_assert_double_gt(least_between(q, h, l + t, l + 2 * t),
						    least_between(q, h, l, l + t));
		}
	ck_assert_uint_gt(periods, 10000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("arbiter");
	TCase *tc = tcase_create("arbiter");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, values_by_hand, 0, ARRAY_SIZE(by_hand));
	tcase_add_test(tc, vls_of_tables);
	tcase_add_test(tc, load_of_one_size);
	tcase_add_test(tc, as_simulated);
	tcase_add_test(tc, measured_points);
	tcase_add_test(tc, models_side_by_side);
	tcase_add_test(tc, measured_sums_of_weights);
	tcase_add_test(tc, measured_says_nothing);
	tcase_add_test(tc, a_tenth_of_the_greater);
	tcase_add_test(tc, measured_below_the_limit);
	tcase_add_test(tc, measured_reaches_2q);
	tcase_add_test(tc, measured_falls_in_a_period);
	tcase_add_test(tc, measured_minimum_rises);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
