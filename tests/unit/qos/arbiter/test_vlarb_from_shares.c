/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the tables for traffic classes on links of all kinds.  Unlike classes_fit(), the
 * test finds the best possible table by trying all apportionments.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "qos/arbiter/vlarb_from_shares.h"
#include "unit/run.h"

#define OPEN (-1)
#define LOW(s) { false, (s), -1 }
#define HIGH(s) { true, (s), -1 }
#define HIGH_LIMIT(s, l) { true, (s), (l) }

static const uint8_t vl_counts[] = { 2, 4, 8, 15 };
static const uint8_t caps[] = { 8, 32, 64 };

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)((seed >> 33) % n);
}

/* Gives up to n classes random shares of at most 100 % in all; the others have none. */
static void random_shares(struct traffic_class *c, unsigned n, bool high, unsigned open_one_in,
			  int all)
{
	unsigned weight[CLASSES_MAX], sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += weight[i] = 1 + below(below(2) ? 10 : 100);
	for (unsigned i = 0; i < n; i++) {
		if (c[i].high != high)
			continue;
		c[i].share = (int32_t)((uint64_t)weight[i] * (unsigned)all / sum);
		if (c[i].share < 1)
			c[i].share = 1;
		if (open_one_in && !below(open_one_in))
			c[i].share = OPEN;
	}
}

#define SETS 150	/* of each kind, per link and MTU */
enum kind { ALL_LOW, OPEN_HIGH, SHARED_HIGH, MIXED_HIGH, KINDS };

static unsigned random_classes(struct traffic_class *c, enum kind kind)
{
	unsigned n = 1 + below(CLASSES_MAX), at;

	do {
		memset(c, 0, n * sizeof(*c));
		for (unsigned i = 0; i < n; i++) {
			c[i].high = kind != ALL_LOW && !below(3);
			c[i].high_limit = -1;
		}
		random_shares(c, n, false, below(2) ? 4 : 0, 10000);
		random_shares(c, n, true, kind == OPEN_HIGH ? 1 : kind == MIXED_HIGH ? 2 : 0,
			      1000 + (int)below(8900));
		if (!below(4))
			for (unsigned i = 0; i < n; i++)
				c[i].high_limit = c[i].high ? (int16_t)below(20) : -1;
	} while (classes_check(c, n, &at));
	return n;
}

/* --- the wanted share of each VL, computed independently --- */

struct want {
	unsigned n;			/* VLs */
	bool high[ARB_VLS], low[ARB_VLS];
	bool open[ARB_VLS];		/* nobody on it has a share, and it is of high priority */
	double link[ARB_VLS];		/* of the link, when nothing is open */
	double own[ARB_VLS];		/* of low priority */
	double sum_high;
	bool any_open, any_shared, any_low;
};

static struct want want_of(const struct traffic_class *c, const struct class_fit *f)
{
	double given = 0, sum_low = 0;
	struct want w = { .n = f->vls_used };
	unsigned open_low = 0;

	for (unsigned i = 0; i < f->n; i++) {
		if (c[i].high && c[i].share >= 0)
			w.sum_high += c[i].share / 1e4;
		if (!c[i].high && c[i].share >= 0)
			given += c[i].share / 1e4;
		open_low += !c[i].high && c[i].share < 0;
		w.any_low |= !c[i].high;
	}
	for (unsigned v = 0; v < w.n; v++)
		w.open[v] = true;
	sum_low = open_low ? 1 : given;
	for (unsigned i = 0; i < f->n; i++) {
		unsigned v = f->vl[i];
		double share = c[i].share >= 0 ? c[i].share / 1e4 : 0;

		if (c[i].high) {
			w.high[v] = true;
			w.link[v] += w.any_low ? share : w.sum_high ? share / w.sum_high : 0;
		} else {
			if (c[i].share < 0)
				share = (1 - given) / open_low;
			w.low[v] = true;
			w.own[v] += share / sum_low;
			w.link[v] += share / sum_low * (1 - w.sum_high);
		}
		w.open[v] &= c[i].high && c[i].share < 0;
	}
	for (unsigned v = 0; v < w.n; v++) {
		w.any_open |= w.high[v] && w.open[v];
		w.any_shared |= w.high[v] && !w.open[v];
	}
	return w;
}

/* --- can a table do it? --- */

struct bounds {
	unsigned n;
	double lo[ARB_VLS], hi[ARB_VLS];	/* of the table */
};

/* The fewest entries for `packets` packets within the bounds lo and hi, by dynamic programming. */
static unsigned fewest(unsigned n, const int *lo, const int *hi, int packets, int per_entry)
{
	static unsigned best[2][4096];
	unsigned *from = best[0], *to = best[1];

	for (int s = 0; s <= packets; s++)
		from[s] = s ? 9999 : 0;
	for (unsigned v = 0; v < n; v++) {
		for (int s = 0; s <= packets; s++) {
			to[s] = 9999;
			for (int k = lo[v]; k <= hi[v] && k <= s; k++) {
				unsigned e = from[s - k] + (unsigned)((k + per_entry - 1) / per_entry);

				if (e < to[s])
					to[s] = e;
			}
		}
		unsigned *t = from;

		from = to;
		to = t;
	}
	return from[packets];
}

static bool some_table_can(const struct bounds *b, unsigned cap, unsigned mtu)
{
	int per_entry = 255 / (int)(mtu / 64);

	for (int packets = (int)b->n; packets <= (int)cap * per_entry; packets++) {
		int lo[ARB_VLS], hi[ARB_VLS], least = 0, most = 0;
		unsigned entries = 0;
		bool empty = false;

		for (unsigned v = 0; v < b->n; v++) {
			lo[v] = (int)ceil(b->lo[v] * packets);
			lo[v] = lo[v] < 1 ? 1 : lo[v];
			hi[v] = (int)floor(b->hi[v] * packets);
			empty |= lo[v] > hi[v];
			least += lo[v];
			most += hi[v];
			entries += (unsigned)((lo[v] + per_entry - 1) / per_entry);
		}
		if (!empty && entries <= cap && least <= packets && packets <= most &&
		    fewest(b->n, lo, hi, packets, per_entry) <= cap)
			return true;
	}
	return false;
}

/* Slightly less than CLASSES_EXACT, because rounding may go either way. */
#define NEARLY_EXACT 0.0198

static void narrow(struct bounds *b, unsigned i, double centre, double width)
{
	b->lo[i] = fmax(b->lo[i], centre - width);
	b->hi[i] = fmin(b->hi[i], centre + width);
}

/* Bounds in the table of one priority if high priority has `part` of the link. */
static struct bounds bounds_of(const struct want *w, bool high, double part)
{
	struct bounds b = { .n = 0 };
	double mine = high ? part : 1 - part;

	for (unsigned v = 0; v < w->n; v++) {
		if (w->high[v] != high)
			continue;
		b.lo[b.n] = 0;
		b.hi[b.n] = 1;
		if (!high)
			narrow(&b, b.n, w->own[v], NEARLY_EXACT);
		if (mine > 0 && !w->any_open && w->any_shared)
			narrow(&b, b.n, w->link[v] / mine, NEARLY_EXACT / mine);
		b.n++;
	}
	return b;
}

static bool limit_can(const struct want *w, const struct class_link *l, unsigned limit)
{
	unsigned mtu = mtu_bytes(l->mtu), k = limit * 4096 / mtu;
	double part = limit == 255 ? 1 : (k ? k : 1) / ((k ? k : 1) + 1.0);
	struct bounds high = bounds_of(w, true, part), low = bounds_of(w, false, part);

	/* high priority as a whole is too far off, whatever the tables */
	if (!w->any_open && fabs(part - w->sum_high) > NEARLY_EXACT * high.n)
		return false;
	return some_table_can(&high, l->high_cap, mtu) && some_table_can(&low, l->low_cap, mtu);
}

/* Whether any tables, with any limit if it is free, give all classes their shares exactly. */
static bool can_be_exact(const struct traffic_class *c, const struct class_fit *f,
			 const struct want *w)
{
	bool any_high = w->any_open || w->any_shared;
	int limit = -1;

	if (w->n == 1)
		return true;
	if (!any_high || !w->any_low) {
		struct bounds b = { .n = w->n };

		for (unsigned v = 0; v < w->n; v++) {
			b.hi[v] = 1;
			if (any_high && w->open[v])
				continue;
			narrow(&b, v, w->link[v], NEARLY_EXACT);
		}
		return some_table_can(&b, any_high ? f->link.high_cap : f->link.low_cap,
				      mtu_bytes(f->link.mtu));
	}
	for (unsigned i = 0; i < f->n; i++)
		if (c[i].high_limit >= 0)
			limit = c[i].high_limit;
	if (limit < 0 && !w->any_shared)
		limit = CLASSES_DEFAULT_LIMIT;
	if (limit >= 0)
		return limit_can(w, &f->link, (unsigned)limit);
	for (unsigned l = 0; l < 255; l++)
		if (limit_can(w, &f->link, l))
			return true;
	return false;
}

/* --- requirements of a fit --- */

/* Replaces ck_assert(), which is too slow for so many assertions. */
#define must(what) do { if (!(what)) ck_abort_msg("%s", #what); } while (0)

static void check_table(const struct vlarb_entry *e, unsigned n, unsigned cap,
			const struct class_fit *f)
{
	unsigned unit = mtu_bytes(f->link.mtu) / 64;

	must(n <= cap);
	for (unsigned i = 0; i < n; i++) {
		must(e[i].vl < f->vls_used);
		must(e[i].weight > 0);
		must(e[i].weight % unit == 0);
	}
}

/* The entries of a VL must be spread as evenly as the others permit. */
static void check_spread(const struct vlarb_entry *e, unsigned n)
{
	for (unsigned v = 0; v < ARB_VLS; v++) {
		unsigned count = 0, last = 0, first = n;

		for (unsigned i = 0; i < n; i++)
			count += e[i].vl == v;
		for (unsigned i = 0; i < n; i++) {
			if (e[i].vl != v)
				continue;
			if (first < n)
				must((i - last) * count <= 2 * n + count);
			else
				first = i;
			last = i;
		}
		if (first < n)
			must((first + n - last) * count <= 2 * n + count);
	}
}

static struct arb_cycle run(const struct class_fit *f, uint16_t active)
{
	struct arb_load load = { .active = active };
	struct arb_cycle cycle;

	for (unsigned v = 0; v < ARB_VLS; v++)
		load.packet[v] = (uint16_t)mtu_bytes(f->link.mtu);
	arbiter_run(&f->arb, &load, &cycle);
	return cycle;
}

static bool is_near(int32_t a, double b)
{
	return fabs(a - b * 1e4) < 1.5;
}

static bool is_off(int32_t asked, int32_t achieved)
{
	return asked >= 0 && abs(asked - achieved) > CLASSES_EXACT;
}

static void check_shares(const struct traffic_class *c, const struct class_fit *f,
			 const struct want *w)
{
	uint16_t lows = 0, all = (uint16_t)((1u << f->vls_used) - 1);
	double taken = 0;
	bool tables = f->link.vls > 1 && (f->link.high_cap || f->link.low_cap), off = false;

	for (unsigned v = 0; v < w->n; v++)
		lows |= (uint16_t)((unsigned)w->low[v] << v);
	struct arb_cycle full = run(f, all), low = run(f, lows);

	for (unsigned v = 0; v < w->n; v++) {
		if (!tables)
			full.share[v] = low.share[v] = 1;
		if (w->open[v])
			taken += full.share[v];
	}
	for (unsigned i = 0; i < f->n; i++) {
		unsigned v = f->vl[i];
		double left = 1 - w->sum_high - taken, asked = w->link[v];

		if (w->any_open && !w->any_low)
			asked *= 1 - taken;
		else if (w->any_open && !w->high[v])
			asked = left > 0 ? left * w->own[v] : 0;
		if (w->n == 1)
			asked = 1;
		must(is_near(f->achieved[i], full.share[v]));
		must(w->open[v] && w->n > 1 ? f->asked[i] == -1 : is_near(f->asked[i], asked));
		if (c[i].high) {
			must(f->asked_low[i] == -1);
		} else {
			must(is_near(f->asked_low[i], w->own[v]));
			must(is_near(f->achieved_low[i], low.share[v]));
		}
		off |= is_off(f->asked[i], f->achieved[i]) ||
		       is_off(f->asked_low[i], f->achieved_low[i]);
	}
	must(f->inexact == off);
	if (tables) {
		must(!(full.starved & (f->arb.high_limit == 255 ? ~lows : all)));
		must(low.starved == 0);
	}
}

static void check_merged(const struct traffic_class *c, const struct class_fit *f)
{
	uint16_t members[ARB_VLS] = { 0 }, merged = 0;

	for (unsigned i = 0; i < f->n; i++) {
		must(f->vl[i] < f->vls_used);
		members[f->vl[i]] |= (uint16_t)(1u << i);
		for (unsigned j = 0; j < f->n; j++)
			if (f->vl[i] == f->vl[j] && f->vls_used > 1)
				must(c[i].high == c[j].high);
	}
	for (unsigned v = 0; v < f->vls_used; v++) {
		must(members[v] != 0);
		if (members[v] & (members[v] - 1))
			merged |= members[v];
	}
	must(f->merged == merged);
}

static struct class_fit fit(const struct traffic_class *c, unsigned n, struct class_link link)
{
	struct class_fit f, again;
	struct want w;

	classes_fit(c, n, &link, &f);
	memset(&again, 0xff, sizeof(again));
	classes_fit(c, n, &link, &again);
	must(!memcmp(&f.arb, &again.arb, sizeof(f.arb)));
	must(!memcmp(f.vl, again.vl, n));
	must(f.n == n);
	must(f.vls_used <= link.vls);
	check_table(f.arb.high, f.arb.n_high, link.vls > 1 ? link.high_cap : 0, &f);
	check_table(f.arb.low, f.arb.n_low, link.vls > 1 ? link.low_cap : 0, &f);
	check_merged(c, &f);
	w = want_of(c, &f);
	check_shares(c, &f, &w);
	return f;
}

/* Fits sets of one kind on all links: the fit must be exact if any table could be. */
static void random_sets(enum kind kind, unsigned sets, uint8_t mtu)
{
	unsigned exact = 0;

	seed = kind * 1000 + mtu;
	for (unsigned combo = 0; combo < 4 * 3 * 3; combo++) {
		struct class_link l = { vl_counts[combo % 4], caps[combo / 4 % 3],
					caps[combo / 12], mtu };

		for (unsigned s = 0; s < sets; s++) {
			struct traffic_class c[CLASSES_MAX];
			unsigned n = random_classes(c, kind);
			struct class_fit f = fit(c, n, l);
			struct want w = want_of(c, &f);

			check_spread(f.arb.high, f.arb.n_high);
			check_spread(f.arb.low, f.arb.n_low);
			if (f.inexact && kind != MIXED_HIGH)
				must(!can_be_exact(c, &f, &w));
			exact += !f.inexact;
		}
	}
	/* otherwise the test says little */
	ck_assert_uint_gt(exact, SETS * 36 / 5);
}

START_TEST(all_low)
{
	random_sets(ALL_LOW, SETS, (uint8_t)_i);
}
END_TEST

START_TEST(open_high)
{
	random_sets(OPEN_HIGH, SETS, (uint8_t)_i);
}
END_TEST

START_TEST(shared_high)
{
	random_sets(SHARED_HIGH, SETS, (uint8_t)_i);
}
END_TEST

START_TEST(mixed_high)
{
	random_sets(MIXED_HIGH, SETS, (uint8_t)_i);
}
END_TEST

/* --- by hand --- */

static const struct class_link eight_vls = { 8, 8, 8, 4 };	/* MTU 2048: 32 units */

/* Whether the entries are these, "0:32 1:64". */
static bool table_is(const struct vlarb_entry *e, unsigned n, const char *text)
{
	char out[1024] = "";
	size_t at = 0;

	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%u:%u", i ? " " : "", e[i].vl,
				       e[i].weight);
	return !strcmp(out, text);
}

START_TEST(the_example)
{
	static const struct traffic_class c[] = {
		HIGH_LIMIT(OPEN, 10), LOW(5000), LOW(3000), LOW(2000)
	};
	struct class_fit f = fit(c, 4, eight_vls);

	ck_assert(!f.inexact);
	ck_assert_uint_eq(f.vls_used, 4);
	ck_assert_uint_eq(f.arb.high_limit, 10);
	ck_assert(table_is(f.arb.high, f.arb.n_high, "0:32"));
	/* 5, 3 and 2 packets in 8 entries */
	ck_assert_uint_le(f.arb.n_low, 8);
	ck_assert_int_eq(f.asked[0], -1);
	ck_assert_int_eq(f.achieved[0], 9524);		/* 20 packets for one */
	ck_assert_int_eq(f.achieved_low[1], 5000);
	ck_assert_int_eq(f.achieved_low[2], 3000);
	ck_assert_int_eq(f.achieved_low[3], 2000);
	ck_assert_int_eq(f.asked[1], 238);
	ck_assert_int_eq(f.achieved[1], 238);
}
END_TEST

START_TEST(default_limit)
{
	static const struct traffic_class c[] = { HIGH(OPEN), LOW(OPEN) };
	struct class_fit f = fit(c, 2, eight_vls);

	ck_assert_uint_eq(f.arb.high_limit, CLASSES_DEFAULT_LIMIT);
	ck_assert(table_is(f.arb.high, f.arb.n_high, "0:32"));
	ck_assert(table_is(f.arb.low, f.arb.n_low, "1:32"));
}
END_TEST

START_TEST(limit_from_a_share)
{
	static const struct traffic_class c[] = { HIGH(8000), LOW(OPEN) };
	struct class_fit f = fit(c, 2, eight_vls);

	ck_assert_uint_eq(f.arb.high_limit, 2);		/* 4 packets of 2048 for one */
	ck_assert(table_is(f.arb.low, f.arb.n_low, "1:32"));
	ck_assert_int_eq(f.achieved[0], 8000);
	ck_assert(!f.inexact);
}
END_TEST

/* No limit gives 60 %: high priority has half by priority, and a fifth of the low table. */
START_TEST(share_between_two_limits)
{
	static const struct traffic_class c[] = { HIGH(6000), LOW(OPEN) };
	struct class_fit f = fit(c, 2, eight_vls);

	ck_assert_uint_eq(f.arb.high_limit, 0);
	ck_assert_int_eq(f.achieved[0], 6000);
	ck_assert_int_eq(f.achieved[1], 4000);
	ck_assert_uint_eq(arbiter_low_vls(&f.arb), 3);
	ck_assert_uint_eq(arbiter_high_vls(&f.arb), 1);
	ck_assert(!f.inexact);
}
END_TEST

/* The arbiter sends a packet of high priority for each of low. */
START_TEST(share_below_what_can_be)
{
	static const struct traffic_class c[] = { HIGH(1000), LOW(6000), LOW(4000) };
	struct class_fit f = fit(c, 3, eight_vls);

	ck_assert(f.inexact);
	ck_assert_uint_eq(f.arb.high_limit, 0);
	ck_assert_int_eq(f.asked[0], 1000);
	ck_assert_int_eq(f.achieved[0], 5000);
	ck_assert_int_eq(f.asked[1], 5400);
	ck_assert_int_eq(f.achieved[1], 3000);
	ck_assert_int_eq(f.achieved_low[1], 6000);
}
END_TEST

/* High priority without a share is expected to send little: it gets the weight of the least share. */
START_TEST(high_without_a_share_among_shares)
{
	static const struct traffic_class c[] = {
		HIGH(6000), HIGH(1000), HIGH(OPEN), LOW(OPEN)
	};
	struct class_fit f = fit(c, 4, (struct class_link){ 8, 64, 64, 4 });

	ck_assert(!f.inexact);
	ck_assert_int_eq(f.achieved[0], 6000);
	ck_assert_int_eq(f.achieved[1], 1000);
	ck_assert_int_eq(f.asked[2], -1);
	ck_assert_int_eq(f.achieved[2], 1000);
	ck_assert_int_eq(f.achieved[3], 2000);
}
END_TEST

/* Among the limits near the wanted share, the fit takes one that suits the short tables. */
START_TEST(limit_that_suits_the_tables)
{
	static const struct traffic_class c[] = {
		HIGH(1746), HIGH(1358), LOW(3843), HIGH(776), HIGH(4460), LOW(6148)
	};

	ck_assert(!fit(c, 6, (struct class_link){ 15, 4, 4, 4 }).inexact);
}
END_TEST

/* With three packets in an entry and four entries, 6 and 5 are nearest; 5 and 4 are within 2 %. */
START_TEST(nearest_of_what_would_do)
{
	static const struct traffic_class c[] = { LOW(5500), LOW(4500) };
	struct class_fit f = fit(c, 2, (struct class_link){ 8, 4, 4, 5 });

	ck_assert_int_eq(f.achieved[0], 5455);
	ck_assert_int_eq(f.achieved[1], 4545);
}
END_TEST

/* The fit does not take a cycle of thousands of packets to gain a hundredth of a per cent. */
START_TEST(short_cycles)
{
	static const struct traffic_class c[] = { LOW(5001), LOW(4999) };
	struct class_fit f = fit(c, 2, (struct class_link){ 8, 64, 64, 1 });

	ck_assert(table_is(f.arb.low, f.arb.n_low, "0:4 1:4"));
}
END_TEST

START_TEST(low_starves_only_by_255)
{
	static const struct traffic_class c[] = { HIGH_LIMIT(OPEN, 255), LOW(OPEN), LOW(OPEN) };
	struct class_fit f = fit(c, 3, eight_vls);

	ck_assert_uint_eq(f.arb.high_limit, 255);
	ck_assert_int_eq(f.achieved[0], 10000);
	ck_assert_int_eq(f.achieved[1], 0);
	ck_assert_int_eq(f.achieved_low[1], 5000);
}
END_TEST

/* How many VLs have shares that differ between the models; 0, too, if the study does not cover them. */
static unsigned in_dispute(const struct class_fit *f)
{
	uint16_t all = (uint16_t)((1u << f->vls_used) - 1);
	struct arb_load load = arbiter_load(all, (uint16_t)mtu_bytes(f->link.mtu));
	struct arb_cycle cycle = run(f, all);
	double measured[ARB_VLS];
	unsigned n = 0;

	if (!arbiter_measured(&f->arb, &load, measured))
		return 0;
	for (unsigned v = 0; v < f->vls_used; v++)
		n += arbiter_shares_differ(cycle.share[v], measured[v]);
	return n;
}

/*
 * Both models of the arbiter give the same shares wherever tables that long fit.  Tables as short as the
 * proportions permit would make the models differ in more than a quarter of these sets.
 *
 * promise: B2
 */
START_TEST(models_agree)
{
	unsigned disputed = 0, covered = 0;

	seed = 1;
	for (unsigned s = 0; s < 4000; s++) {
		struct class_link l = { vl_counts[s % 4], 64, 64, 4 };
		struct traffic_class c[CLASSES_MAX];
		unsigned n = random_classes(c, s & 4 ? SHARED_HIGH : OPEN_HIGH);
		struct class_fit f = fit(c, n, l);

		covered += f.arb.n_high && f.arb.n_low && f.arb.high_limit != 255;
		disputed += in_dispute(&f) > 0;
	}
	ck_assert_uint_gt(covered, 3000);
	ck_assert_uint_lt(disputed, covered / 50);
}
END_TEST

START_TEST(one_vl)
{
	static const struct traffic_class c[] = { HIGH(OPEN), LOW(7000), LOW(3000) };
	struct class_fit f = fit(c, 3, (struct class_link){ 1, 8, 8, 4 });

	ck_assert_uint_eq(f.arb.n_high + f.arb.n_low, 0);
	ck_assert_uint_eq(f.vls_used, 1);
	ck_assert_uint_eq(f.merged, 7);
	ck_assert_int_eq(f.achieved[0], 10000);
	ck_assert(!f.inexact);
	/* a link whose tables have no entries does the same */
	f = fit(c, 3, (struct class_link){ 8, 0, 0, 4 });
	ck_assert_uint_eq(f.vls_used, 1);
	ck_assert_uint_eq(f.arb.n_high + f.arb.n_low, 0);
}
END_TEST

START_TEST(one_class)
{
	static const struct traffic_class low = LOW(OPEN), high = HIGH(2000);
	struct class_fit f = fit(&low, 1, eight_vls);

	ck_assert(table_is(f.arb.low, f.arb.n_low, "0:32"));
	ck_assert_uint_eq(f.arb.n_high, 0);
	f = fit(&high, 1, eight_vls);
	ck_assert(table_is(f.arb.high, f.arb.n_high, "0:32"));
	ck_assert_uint_eq(f.arb.n_low, 0);
	ck_assert_uint_eq(f.merged, 0);
}
END_TEST

/* With one table, there are shares but no priority. */
START_TEST(one_table)
{
	static const struct traffic_class c[] = { HIGH(2000), LOW(5000), LOW(5000) };
	static const struct traffic_class open[] = { HIGH(OPEN), LOW(5000), LOW(5000) };
	struct class_fit f = fit(c, 3, (struct class_link){ 8, 0, 8, 4 });

	ck_assert_uint_eq(f.arb.n_high, 0);
	ck_assert_int_eq(f.achieved[0], 2000);
	ck_assert_int_eq(f.achieved[1], 4000);
	f = fit(c, 3, (struct class_link){ 8, 8, 0, 4 });
	ck_assert_uint_eq(f.arb.n_low, 0);
	ck_assert_int_eq(f.achieved[0], 2000);
	f = fit(open, 3, (struct class_link){ 8, 0, 8, 4 });
	ck_assert_int_eq(f.achieved[0], 5000);
	ck_assert_int_eq(f.achieved[1], 2500);
	f = fit(c, 3, (struct class_link){ 8, 0, 2, 4 });
	ck_assert_uint_eq(f.vls_used, 2);
}
END_TEST

/* Tables of one or few entries, which no device should have. */
/* promise: B3 */
START_TEST(short_tables)
{
	for (uint8_t high = 0; high < 8; high++) {
		for (uint8_t low = 0; low < 8; low++) {
			for (unsigned s = 0; s < 100; s++) {
				struct traffic_class c[CLASSES_MAX];
				unsigned n = random_classes(c, (enum kind)(s % KINDS));

				fit(c, n, (struct class_link){ vl_counts[s % 4], high, low,
							       (uint8_t)(1 + s % 5) });
			}
		}
	}
}
END_TEST

START_TEST(least_hurt_share)
{
	static const struct traffic_class c[] = {
		LOW(4000), LOW(500), HIGH(OPEN), LOW(2500), HIGH(OPEN), LOW(3000)
	};
	struct class_link l = { 15, 64, 64, 4 };
	struct class_fit f;

	static const struct {
		uint8_t vls, vl[6];
	} expected[] = {
		{ 15, { 0, 1, 2, 3, 4, 5 } },
		{ 5, { 0, 1, 2, 3, 2, 4 } },	/* the high ones, which were promised nothing */
		{ 4, { 0, 1, 2, 1, 2, 3 } },	/* 5 % and 25 % */
		{ 3, { 0, 1, 2, 1, 2, 1 } },	/* these and 30 % */
		{ 2, { 0, 0, 1, 0, 1, 0 } },
		{ 1, { 0, 0, 0, 0, 0, 0 } },
	};
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		l.vls = expected[i].vls;
		f = fit(c, 6, l);
		ck_assert_mem_eq(f.vl, expected[i].vl, 6);
	}
}
END_TEST

/* Among high and low classes with 20 % each, classes of the same priority share a VL. */
START_TEST(of_equals_the_alike_share)
{
	static const struct traffic_class c[] = {
		HIGH(500), HIGH(1500), LOW(1250), LOW(1250), LOW(7500)
	};
	static const uint8_t expected[] = { 0, 1, 2, 2, 3 };
	struct class_fit f = fit(c, 5, (struct class_link){ 4, 64, 64, 4 });

	ck_assert_mem_eq(f.vl, expected, 5);
}
END_TEST

/* Classes that share a VL on a link share it on every link with fewer VLs, or another MTU or tables. */
/* promise: B3 */
START_TEST(sharing_is_nested)
{
	for (unsigned s = 0; s < 2000; s++) {
		struct traffic_class c[CLASSES_MAX];
		unsigned n = random_classes(c, (enum kind)(s % KINDS));
		struct class_fit wide, narrower;

		classes_fit(c, n, &(struct class_link){ 15, 64, 64, 4 }, &wide);
		for (uint8_t vls = 15; vls; vls--) {
			struct class_link l = { vls, caps[1 + s % 2], caps[1 + s / 2 % 2],
						(uint8_t)(1 + s % 5) };

			classes_fit(c, n, &l, &narrower);
			ck_assert_uint_eq(narrower.vls_used, vls < n ? vls : n);
			for (unsigned i = 0; i < n; i++)
				for (unsigned j = 0; j < n; j++)
					must(wide.vl[i] != wide.vl[j] ||
					     narrower.vl[i] == narrower.vl[j]);
			wide = narrower;
		}
	}
}
END_TEST

START_TEST(sense)
{
	static const struct {
		struct traffic_class c[3];
		unsigned at;
		const char *why;	/* NULL: they make sense */
	} cases[] = {
		{ { LOW(5000), LOW(5000), HIGH(9999) }, 0, NULL },
		{ { LOW(5000), LOW(4999), LOW(OPEN) }, 0, NULL },
		{ { HIGH(10000), HIGH_LIMIT(OPEN, 4), HIGH(1) }, 2, "exceed 100 %" },
		{ { LOW(5000), HIGH(6000), LOW(5001) }, 2, "exceed 100 %" },
		{ { LOW(5000), LOW(OPEN), LOW(5000) }, 1, "nothing is left for this class" },
		{ { LOW(5000), HIGH(10000), LOW(100) }, 1, "nothing is left for low priority" },
		{ { HIGH_LIMIT(1, 3), LOW(OPEN), HIGH_LIMIT(1, 4) }, 2, "different limit" },
		{ { LOW(OPEN), { false, OPEN, 3 }, LOW(OPEN) }, 1, "class of low priority" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned at = 99;
		const char *why = classes_check(cases[i].c, 3, &at);

		if (!cases[i].why) {
			ck_assert_ptr_null(why);
			continue;
		}
		ck_assert_ptr_nonnull(why);
		ck_assert_ptr_nonnull(strstr(why, cases[i].why));
		ck_assert_uint_eq(at, cases[i].at);
	}
}
END_TEST

int main(void)
{
	const TTest *const by_hand[] = {
		the_example, default_limit, limit_from_a_share, share_between_two_limits,
		share_below_what_can_be, high_without_a_share_among_shares,
		limit_that_suits_the_tables, nearest_of_what_would_do, short_cycles,
		of_equals_the_alike_share, low_starves_only_by_255, one_vl, one_class, one_table,
		short_tables, least_hurt_share, sharing_is_nested, models_agree, sense,
	};
	Suite *s = suite_create("classes");
	TCase *sets = tcase_create("random sets"), *hand = tcase_create("by hand");

	for (size_t i = 0; i < ARRAY_SIZE(by_hand); i++)
		tcase_add_test(hand, by_hand[i]);
	tcase_set_timeout(hand, 60);
	suite_add_tcase(s, hand);
	tcase_set_timeout(sets, 120);
	tcase_add_loop_test(sets, all_low, 1, 6);
	tcase_add_loop_test(sets, open_high, 1, 6);
	tcase_add_loop_test(sets, shared_high, 1, 6);
	tcase_add_loop_test(sets, mixed_high, 1, 6);
	suite_add_tcase(s, sets);
	return run_suite(s);
}
