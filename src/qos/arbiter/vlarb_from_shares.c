/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fits arbitration tables and the limit to what classes ask; see vlarb_from_shares.h.
 *
 * intent.c computes what is asked and which classes share a VL.  Shares are calculated with packets of the
 * link's MTU on every VL, payload only: headers are the same for all of them, and cancel out.
 */
#include <limits.h>
#include <stdlib.h>

#include "lib/iba/units.h"
#include "qos/arbiter/intent.h"

#define TOLERANCE (CLASSES_EXACT * PARTS_PER_SHARE)

/* --- tables --- */

struct fitting {
	unsigned n;
	const struct class_link *link;
	struct intent in;
	struct groups g;
};

/* What a group is to get of the link; it is open, or it promises something. */
struct ask {
	uint32_t part, own;	/* as in struct intent */
	bool open;		/* high priority without a share */
};

static struct ask ask_of(const struct fitting *f, unsigned group)
{
	const struct group *g = &f->g.v[group];
	struct ask a = { .open = g->high && !g->low && !g->promised };

	for (unsigned i = 0; i < f->n; i++) {
		if (!(g->members >> i & 1))
			continue;
		/* An open class has no part of its own on a VL with a promised share. */
		a.part += a.open ? f->in.part[i] : f->in.promised[i];
		a.own += f->in.own[i];
	}
	return a;
}

static unsigned packet_units(const struct class_link *link)
{
	return mtu_bytes(link->mtu) / ARB_WEIGHT_UNIT;
}

static struct apportion_table table_for(const struct fitting *f, bool high)
{
	return (struct apportion_table){
		.cap = high ? f->link->high_cap : f->link->low_cap,
		.unit = packet_units(f->link), .tolerance = TOLERANCE,
	};
}

static void set_within(struct apportion_goal *g, uint64_t centre, uint32_t divisor)
{
	if (!divisor)
		return;
	g->within[g->n_within].centre = centre < UINT32_MAX ? (uint32_t)centre : UINT32_MAX;
	g->within[g->n_within].divisor = divisor;
	g->n_within++;
}

/* Scales the targets so that they add up to PARTS. */
static void set_targets(struct apportion_goal *g, unsigned n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += g[i].target;
	for (unsigned i = 0; i < n; i++) {
		g[i].target = sum ? (uint32_t)(g[i].target * (uint64_t)PARTS / sum) : PARTS / n;
		if (!g[i].target)
			g[i].target = 1;
	}
}

/* One of the two tables, before it is laid; times: how often its packets are sent in one turn of it. */
struct part {
	struct apportion_goal g[CLASSES_MAX];
	uint16_t packets[CLASSES_MAX];
	struct apportion_table t;
	unsigned n, times;
};

static void lay(struct vlarb *arb, bool high, const struct part *p)
{
	uint16_t packets[CLASSES_MAX];

	for (unsigned i = 0; i < p->n; i++)
		packets[i] = (uint16_t)(p->packets[i] * p->times);
	if (high)
		arb->n_high = apportion_lay(p->g, p->n, &p->t, packets, arb->high);
	else
		arb->n_low = apportion_lay(p->g, p->n, &p->t, packets, arb->low);
}

/* --- both priorities, one table each --- */

/* Packets of high priority for each one of low; 0: unlimited. */
static unsigned packets_of_limit(const struct class_link *link, unsigned limit)
{
	unsigned packets = limit * ARB_LIMIT_UNIT / mtu_bytes(link->mtu);

	return limit == ARB_LIMIT_UNBOUNDED ? 0 : packets ? packets : 1;
}

/* The part of the link that high priority gets by a limit. */
static uint32_t part_of_limit(const struct class_link *link, unsigned limit)
{
	uint64_t k = packets_of_limit(link, limit);

	return k ? (uint32_t)(k * PARTS / (k + 1)) : PARTS;
}

/* Collects the goals of the groups of one priority.  high_part: what the limit gives to high priority. */
static unsigned goals_of(const struct fitting *f, bool high, uint32_t high_part, bool by_link,
			 struct apportion_goal *g)
{
	uint32_t part = high ? high_part : PARTS - high_part;
	unsigned n = 0;

	for (unsigned i = 0; i < f->g.n; i++) {
		struct ask a = ask_of(f, i);

		if (f->g.v[i].high != high)
			continue;
		g[n] = (struct apportion_goal){ .vl = (uint8_t)i, .target = high ? a.part : a.own };
		if (by_link && part && f->in.high_shares && !a.open)
			set_within(&g[n], (uint64_t)a.part * PARTS / part, part);
		n++;
	}
	set_targets(g, n);
	for (unsigned i = 0; i < n; i++)
		if (!high || !by_link)
			set_within(&g[i], g[i].target, PARTS);
	return n;
}

/* Packets that the table sends in a turn which has those of its goals once. */
static unsigned turn_of(const struct part *p)
{
	unsigned packets = 0;

	for (unsigned i = 0; i < p->n; i++)
		packets += p->packets[i];
	return packets;
}

static bool fits_times(const struct part *p, unsigned times)
{
	unsigned per_entry = ARB_WEIGHT_MAX / p->t.unit, entries = 0;

	for (unsigned i = 0; i < p->n; i++)
		entries += (p->packets[i] * times + per_entry - 1) / per_entry;
	return entries <= p->t.cap;
}

/*
 * Whether high priority gets the same part by both models of the arbiter, with turns of so many packets.
 * IBA's sends k packets of high priority for each one of low; the measured one sends whole turns of the
 * high table within what the limit allows for a turn of the low one, and at least one
 * (arbiter_measured_ratio(), here for any MTU).
 */
static bool models_agree(unsigned k, unsigned limit, unsigned high, unsigned low)
{
	unsigned turns = limit ? k * low / high : 0;
	double measured = (double)high / low * (turns ? turns : 1);

	return !arbiter_shares_differ(1.0 / (1 + k), 1 / (1 + measured)) &&
	       !arbiter_shares_differ(k / (1.0 + k), measured / (1 + measured));
}

/*
 * Lengthens the turns of the tables, as little as possible, until both models of the arbiter give the
 * same part to high priority.  The proportions within each table, and all shares by IBA's model, stay.
 * Leaves the tables as they are where none that are long enough fit.
 */
static void match_turns(const struct class_link *link, unsigned limit, struct part table[2])
{
	unsigned low = turn_of(&table[0]), high = turn_of(&table[1]), best = UINT_MAX;
	unsigned k = packets_of_limit(link, limit);

	table[0].times = table[1].times = 1;
	for (unsigned i = 1; k && low * i < best && fits_times(&table[0], i); i++) {
		for (unsigned j = 1; low * i + high * j < best && fits_times(&table[1], j); j++) {
			if (!models_agree(k, limit, high * j, low * i))
				continue;
			best = low * i + high * j;
			table[0].times = i;
			table[1].times = j;
		}
	}
}

static void lay_both(const struct fitting *f, unsigned limit, struct part table[2],
		     struct vlarb *arb)
{
	match_turns(f->link, limit, table);
	for (int high = 0; high < 2; high++)
		lay(arb, high, &table[high]);
	arb->high_limit = (uint8_t)limit;
}

/* Makes both tables with everything within the tolerance; false if that is impossible. */
static bool split_exactly(const struct fitting *f, unsigned limit, struct vlarb *arb)
{
	struct part table[2];

	for (int high = 0; high < 2; high++) {
		struct part *p = &table[high];

		p->n = goals_of(f, high, part_of_limit(f->link, limit), true, p->g);
		p->t = table_for(f, high);
		if (!apportion(p->g, p->n, &p->t, p->packets))
			return false;
	}
	lay_both(f, limit, table, arb);
	return true;
}

/* Apportions one table in the proportions of its priority, as nearly as possible. */
static void apportion_in_proportion(const struct fitting *f, bool high, struct part *p)
{
	p->n = goals_of(f, high, PARTS, false, p->g);
	p->t = table_for(f, high);
	apportion_best(p->g, p->n, &p->t, p->packets);
}

static void split_in_proportion(const struct fitting *f, unsigned limit, struct vlarb *arb)
{
	struct part table[2];

	for (int high = 0; high < 2; high++)
		apportion_in_proportion(f, high, &table[high]);
	lay_both(f, limit, table, arb);
}

/* The untried limit that comes nearest to the part of high priority. */
static unsigned nearest_limit(const struct fitting *f, const bool *tried)
{
	unsigned best = ARB_LIMIT_UNBOUNDED;
	uint32_t distance = UINT32_MAX;

	for (unsigned l = 0; l < ARB_LIMIT_UNBOUNDED; l++) {
		uint32_t d = apart(part_of_limit(f->link, l), f->in.high);

		if (!tried[l] && d < distance) {
			best = l;
			distance = d;
		}
	}
	return best;
}

/* Limits tried, because the tables may be too short for the nearest one. */
#define LIMITS_TRIED 16

static bool find_limit(const struct fitting *f, struct vlarb *arb)
{
	bool tried[ARB_LIMIT_UNBOUNDED] = { false };

	for (unsigned i = 0; i < LIMITS_TRIED; i++) {
		unsigned limit = nearest_limit(f, tried);

		if (split_exactly(f, limit, arb))
			return true;
		tried[limit] = true;
	}
	return false;
}

/*
 * Limits are coarse: with an MTU of 2048 high priority has 50 %, 67 % or 80 % of the link.  For a part
 * between two of them, high priority gets the lesser one by the limit and the rest by entries in the low
 * table.  False if that does not help.
 */
static bool share_low_table(const struct fitting *f, struct vlarb *arb)
{
	struct part table[2] = { { .n = f->g.n, .t = table_for(f, false) } };
	struct apportion_goal *g = table[0].g;
	unsigned limit = 0;

	if (f->in.limit >= 0)
		limit = (unsigned)f->in.limit;
	else
		while (limit + 1 < ARB_LIMIT_UNBOUNDED &&
		       part_of_limit(f->link, limit + 1) <= f->in.high)
			limit++;
	uint32_t by_limit = part_of_limit(f->link, limit);

	if (by_limit >= f->in.high || f->g.n > table[0].t.cap)
		return false;
	/*
	 * The part of the low table: (k + 1) * high - k, where k is the packets of high priority per
	 * packet of low.
	 */
	uint32_t rest = (uint32_t)((uint64_t)(f->in.high - by_limit) * PARTS / (PARTS - by_limit));

	for (unsigned i = 0; i < f->g.n; i++) {
		struct ask a = ask_of(f, i);
		uint64_t own = f->g.v[i].high ? (uint64_t)a.part * rest / f->in.high
					      : (uint64_t)a.own * (PARTS - rest) / PARTS;

		g[i] = (struct apportion_goal){ .vl = (uint8_t)i, .target = (uint32_t)own };
	}
	set_targets(g, f->g.n);
	for (unsigned i = 0; i < f->g.n; i++)
		set_within(&g[i], g[i].target, f->g.v[i].high ? PARTS - by_limit : PARTS);
	apportion_best(g, f->g.n, &table[0].t, table[0].packets);
	apportion_in_proportion(f, true, &table[1]);
	lay_both(f, limit, table, arb);
	return true;
}

/* --- one table for all --- */

static void fill_one_table(const struct fitting *f, bool high, struct vlarb *arb)
{
	struct part p = { .t = table_for(f, high), .n = f->g.n, .times = 1 };

	for (unsigned i = 0; i < p.n; i++)
		p.g[i] = (struct apportion_goal){ .vl = (uint8_t)i, .target = ask_of(f, i).part };
	set_targets(p.g, p.n);
	for (unsigned i = 0; i < p.n; i++) {
		/* Low priority has to be right among itself as well, in its part of the table. */
		uint64_t scale = f->g.v[i].high ? PARTS : PARTS - f->in.high;
		uint64_t divisor = (uint64_t)PARTS * PARTS / scale;

		set_within(&p.g[i], p.g[i].target,
			   divisor < UINT32_MAX ? (uint32_t)divisor : UINT32_MAX);
	}
	apportion_best(p.g, p.n, &p.t, p.packets);
	lay(arb, high, &p);
}

/* --- evaluation --- */

static int32_t in_shares(double part)
{
	return (int32_t)(part * CLASSES_SHARE_ALL + 0.5);
}

static void run(const struct fitting *f, const struct vlarb *arb, bool only_low, double *share)
{
	struct arb_load load = arbiter_load(0, (uint16_t)mtu_bytes(f->link->mtu));
	struct arb_cycle cycle;

	for (unsigned i = 0; i < f->g.n; i++)
		if (!only_low || f->g.v[i].low)
			load.active |= (uint16_t)(1u << i);
	if (f->g.n > 1)
		arbiter_run(arb, &load, &cycle);
	for (unsigned i = 0; i < f->g.n; i++)
		share[i] = f->g.n > 1 ? cycle.share[i] : 1;
}

/* What open groups take reduces the parts of all others except high ones with a share. */
static double asked_of_link(const struct fitting *f, const struct ask *a, bool high, double taken)
{
	double promised = (double)f->in.high_promised / PARTS;

	if (f->g.n == 1)
		return 1;
	if (high)
		return (double)a->part / PARTS / (f->in.has_low ? 1 : promised) *
		       (f->in.has_low ? 1 : 1 - taken);
	double left = 1 - promised - taken;

	return left > 0 ? left * a->own / PARTS : 0;
}

struct outcome {
	int32_t asked, achieved, asked_low, achieved_low;
};

static int32_t off_by(const struct outcome *o)
{
	int32_t link = o->asked < 0 ? 0 : abs(o->achieved - o->asked);
	int32_t low = abs(o->achieved_low - o->asked_low);

	return link > low ? link : low;
}

/* Computes what each group gets with such tables; returns the greatest deviation. */
static int32_t evaluate(const struct fitting *f, const struct vlarb *arb, struct outcome *out)
{
	double all[CLASSES_MAX], low[CLASSES_MAX], taken = 0;
	struct ask ask[CLASSES_MAX];
	int32_t worst = 0;

	run(f, arb, false, all);
	run(f, arb, true, low);
	for (unsigned i = 0; i < f->g.n; i++) {
		ask[i] = ask_of(f, i);
		if (ask[i].open)
			taken += all[i];
	}
	for (unsigned i = 0; i < f->g.n; i++) {
		const struct group *g = &f->g.v[i];
		struct outcome o = { -1, in_shares(all[i]), -1, -1 };

		if (!ask[i].open || f->g.n == 1)
			o.asked = in_shares(asked_of_link(f, &ask[i], g->high, taken));
		if (g->low) {
			o.asked_low = in_shares((double)ask[i].own / PARTS);
			o.achieved_low = in_shares(low[i]);
		}
		if (off_by(&o) > worst)
			worst = off_by(&o);
		out[i] = o;
	}
	return worst;
}

static unsigned default_limit(const struct fitting *f)
{
	if (f->in.limit >= 0)
		return (unsigned)f->in.limit;
	return f->in.has_high && !f->in.high_shares ? CLASSES_DEFAULT_LIMIT : 0;
}

static void split(const struct fitting *f, struct vlarb *arb)
{
	struct outcome ignored[CLASSES_MAX];
	bool given = f->in.limit >= 0 || !f->in.high_shares;
	bool tried[ARB_LIMIT_UNBOUNDED] = { false };
	unsigned limit = given ? default_limit(f) : nearest_limit(f, tried);
	struct vlarb other = { 0 };

	if (given ? split_exactly(f, limit, arb) : find_limit(f, arb))
		return;
	split_in_proportion(f, limit, arb);
	if (f->in.high_shares && share_low_table(f, &other) &&
	    evaluate(f, &other, ignored) < evaluate(f, arb, ignored))
		*arb = other;
}

/*
 * No table and no limit holds high priority below this: whenever a packet of low priority was sent, the
 * high table is served again, with at least one packet.
 */
static int32_t least_high(const struct fitting *f)
{
	uint32_t least = part_of_limit(f->link, f->in.limit >= 0 ? (unsigned)f->in.limit : 0);

	if (f->g.n < 2 || !f->in.high_shares || !intent_two_tables(&f->in, f->link) ||
	    f->in.high + TOLERANCE >= least)
		return -1;
	return (int32_t)((least + PARTS_PER_SHARE / 2) / PARTS_PER_SHARE);
}

static void make_tables(const struct fitting *f, struct vlarb *arb)
{
	if (f->link->vls < 2 || (!f->link->high_cap && !f->link->low_cap))
		return;
	if (f->g.n > 1 && intent_two_tables(&f->in, f->link)) {
		split(f, arb);
		return;
	}
	arb->high_limit = (uint8_t)default_limit(f);
	fill_one_table(f, intent_only_high(&f->in, f->link), arb);
}

void classes_fit(const struct traffic_class *c, unsigned n, const struct class_link *link,
		 struct class_fit *out)
{
	struct fitting f = { .n = n, .link = link, .in = intent_of(c, n) };
	struct outcome o[CLASSES_MAX];

	f.g = intent_groups(c, n, &f.in, link);
	*out = (struct class_fit){ .link = *link, .n = (uint8_t)n, .vls_used = (uint8_t)f.g.n };
	make_tables(&f, &out->arb);
	out->least_high = least_high(&f);
	out->inexact = evaluate(&f, &out->arb, o) > CLASSES_EXACT;
	for (unsigned vl = 0; vl < f.g.n; vl++) {
		uint16_t members = f.g.v[vl].members;

		if (members & (members - 1))
			out->merged |= members;
		for (unsigned i = 0; i < n; i++) {
			if (!(members >> i & 1))
				continue;
			out->vl[i] = (uint8_t)vl;
			out->asked[i] = o[vl].asked;
			out->achieved[i] = o[vl].achieved;
			out->asked_low[i] = c[i].high ? -1 : o[vl].asked_low;
			out->achieved_low[i] = c[i].high ? -1 : o[vl].achieved_low;
		}
	}
}
