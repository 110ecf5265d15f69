/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tries cycle lengths and apportions packets within bounds; see apportion.h.
 *
 * For a cycle of N packets each VL has a least and a greatest number of packets within its bounds.  The
 * nearest apportionment between them is tried first; if that needs too many entries, the one that needs
 * the fewest.  So a cycle length is skipped only if none of its apportionments fits.
 */
#include <limits.h>

#include "qos/arbiter/apportion.h"

/*
 * Cost of one more packet in the cycle, in PARTS of relative error of the VL that is off most: 100 packets
 * for 1 %.
 */
#define PACKET_COST 100u

struct cycle {
	const struct apportion_goal *g;
	unsigned n, per_entry, cap;
	uint32_t packets;			/* N */
	uint32_t least[ARB_VLS], most[ARB_VLS];
};

static uint32_t table_parts(const struct apportion_goal *g, unsigned tolerance, bool upper)
{
	uint64_t bound = upper ? PARTS : 0;

	for (unsigned i = 0; i < g->n_within; i++) {
		uint64_t c = g->within[i].centre;
		uint64_t d = (uint64_t)tolerance * PARTS / g->within[i].divisor;

		if (upper && c + d < bound)
			bound = c + d;
		if (!upper && c > d && c - d > bound)
			bound = c - d;
	}
	return (uint32_t)bound;
}

static unsigned entries_for(const struct cycle *c, uint32_t packets)
{
	return (packets + c->per_entry - 1) / c->per_entry;
}

/* The VL that is farthest behind with one packet more (or ahead, with one less). */
static unsigned pick(const struct cycle *c, const uint32_t *v, bool add)
{
	unsigned best = c->n;

	for (unsigned i = 0; i < c->n; i++) {
		if (add ? v[i] >= c->most[i] : v[i] <= c->least[i])
			continue;
		if (best == c->n) {
			best = i;
			continue;
		}
		uint64_t mine = (uint64_t)(add ? v[i] + 1 : v[i] - 1) * c->g[best].target;
		uint64_t its = (uint64_t)(add ? v[best] + 1 : v[best] - 1) * c->g[i].target;

		if (add ? mine < its : mine > its)
			best = i;
	}
	return best;
}

/*
 * The apportionment nearest to the targets.  One must exist: the sum of `least` is at most N, that of
 * `most` at least N.
 */
static void nearest(const struct cycle *c, uint32_t *v)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < c->n; i++) {
		v[i] = (uint32_t)((uint64_t)c->g[i].target * c->packets / PARTS);
		v[i] = v[i] < c->least[i] ? c->least[i] : v[i] > c->most[i] ? c->most[i] : v[i];
		sum += v[i];
	}
	for (; sum < c->packets; sum++)
		v[pick(c, v, true)]++;
	for (; sum > c->packets; sum--)
		v[pick(c, v, false)]--;
}

static uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * The apportionment with the fewest entries.  Starts from the least of each VL, fills entries already
 * begun, then adds new entries, the fullest first: further entries of a VL never hold more than earlier
 * ones.
 */
static void fewest_entries(const struct cycle *c, uint32_t *v)
{
	uint32_t left = c->packets;

	for (unsigned i = 0; i < c->n; i++)
		left -= v[i] = c->least[i];
	for (unsigned i = 0; i < c->n; i++) {
		uint32_t room = entries_for(c, v[i]) * c->per_entry - v[i];

		room = min32(left, min32(room, c->most[i] - v[i]));
		v[i] += room;
		left -= room;
	}
	while (left) {
		unsigned best = 0;

		for (unsigned i = 1; i < c->n; i++)
			if (c->most[i] - v[i] > c->most[best] - v[best])
				best = i;
		uint32_t more = min32(left, min32(c->per_entry, c->most[best] - v[best]));

		v[best] += more;
		left -= more;
	}
}

static bool set_bounds(struct cycle *c, const uint32_t *lo, const uint32_t *hi)
{
	uint32_t least = 0, most = 0;

	for (unsigned i = 0; i < c->n; i++) {
		c->least[i] = (uint32_t)(((uint64_t)lo[i] * c->packets + PARTS - 1) / PARTS);
		if (!c->least[i])
			c->least[i] = 1;
		c->most[i] = (uint32_t)((uint64_t)hi[i] * c->packets / PARTS);
		if (c->least[i] > c->most[i])
			return false;
		least += c->least[i];
		most += c->most[i];
	}
	return least <= c->packets && c->packets <= most;
}

static bool fits(const struct cycle *c, const uint32_t *v)
{
	unsigned entries = 0;

	for (unsigned i = 0; i < c->n; i++)
		entries += entries_for(c, v[i]);
	return entries <= c->cap;
}

/* The largest relative error plus the cost of the cycle's length. */
static uint64_t cost_of(const struct cycle *c, const uint32_t *v)
{
	uint64_t worst = 0;

	for (unsigned i = 0; i < c->n; i++) {
		uint64_t want = (uint64_t)c->g[i].target * c->packets;
		uint64_t have = (uint64_t)v[i] * PARTS;
		uint64_t off = (have > want ? have - want : want - have) * PARTS / want;

		if (off > worst)
			worst = off;
	}
	return worst + (uint64_t)c->packets * PACKET_COST;
}

bool apportion(const struct apportion_goal *g, unsigned n, const struct apportion_table *t,
	       uint16_t *packets)
{
	struct cycle c = { .g = g, .n = n, .per_entry = ARB_WEIGHT_MAX / t->unit, .cap = t->cap };
	uint32_t lo[ARB_VLS], hi[ARB_VLS], v[ARB_VLS];
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < n; i++) {
		lo[i] = table_parts(&g[i], t->tolerance, false);
		hi[i] = table_parts(&g[i], t->tolerance, true);
	}
	for (c.packets = n; c.packets <= c.cap * c.per_entry; c.packets++) {
		if ((uint64_t)c.packets * PACKET_COST >= best)
			break;
		if (!set_bounds(&c, lo, hi))
			continue;
		nearest(&c, v);
		if (!fits(&c, v)) {
			fewest_entries(&c, v);
			if (!fits(&c, v))
				continue;
		}
		uint64_t cost = cost_of(&c, v);

		if (cost >= best)
			continue;
		best = cost;
		for (unsigned i = 0; i < n; i++)
			packets[i] = (uint16_t)v[i];
	}
	return best != UINT64_MAX;
}

#define TOLERANCE_STEP (PARTS / 10000)

void apportion_best(const struct apportion_goal *g, unsigned n, const struct apportion_table *t,
		    uint16_t *packets)
{
	struct apportion_table raised = *t;
	unsigned low = t->tolerance, high = PARTS;

	if (apportion(g, n, t, packets))
		return;
	while (high - low > TOLERANCE_STEP) {
		raised.tolerance = low + (high - low) / 2;
		if (apportion(g, n, &raised, packets))
			high = raised.tolerance;
		else
			low = raised.tolerance;
	}
	raised.tolerance = high;
	apportion(g, n, &raised, packets);
}

/*
 * Finds the fewest packets per entry with which all packets fit into cap entries.  Sets the entries of
 * each VL; returns their sum.
 */
static unsigned entries_of_each(unsigned n, unsigned cap, const uint16_t *packets, uint8_t *entries)
{
	unsigned total;
	unsigned each = 0;

	do {
		each++;
		total = 0;
		for (unsigned i = 0; i < n; i++)
			total += (packets[i] + each - 1) / each;
	} while (total > cap);
	for (unsigned i = 0; i < n; i++)
		entries[i] = (uint8_t)((packets[i] + each - 1) / each);
	return total;
}

/*
 * Chooses the VL of the next entry.  The j-th of a VL's k entries belongs into the j-th of k equal pieces
 * of the table, give or take the slots that two pieces share.  Of the VLs whose piece has begun, the one
 * whose piece ends first goes first.  Then every entry is in its piece, as with earliest-deadline
 * scheduling of jobs of equal length.
 */
static unsigned next_entry(unsigned n, unsigned slot, unsigned total, const uint8_t *entries,
			   const uint8_t *done)
{
	unsigned next = n, first_end = UINT_MAX;

	for (unsigned i = 0; i < n; i++) {
		if (done[i] == entries[i] || done[i] * total >= (slot + 1) * entries[i])
			continue;
		unsigned end = ((done[i] + 1) * total + entries[i] - 1) / entries[i];

		if (end < first_end) {
			next = i;
			first_end = end;
		}
	}
	return next;
}

uint8_t apportion_lay(const struct apportion_goal *g, unsigned n, const struct apportion_table *t,
		      const uint16_t *packets, struct vlarb_entry *out)
{
	uint8_t entries[ARB_VLS], done[ARB_VLS] = { 0 };
	unsigned total = entries_of_each(n, t->cap, packets, entries);

	for (unsigned e = 0; e < total; e++) {
		unsigned next = next_entry(n, e, total, entries, done);
		unsigned from = (unsigned)packets[next] * done[next] / entries[next];
		unsigned to = (unsigned)packets[next] * (done[next] + 1u) / entries[next];

		out[e] = (struct vlarb_entry){ g[next].vl, (uint8_t)((to - from) * t->unit) };
		done[next]++;
	}
	return (uint8_t)total;
}
