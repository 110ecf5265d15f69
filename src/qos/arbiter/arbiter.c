/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes the arbiter's shares and worst waits in closed form.
 *
 * A visit of an entry that starts with its full weight always sends the same packets, so a whole turn of a
 * table is a fixed sequence of packets.  The state of a table is a place in that sequence: the number of
 * bytes sent.  Places count on over the turns, and all are ends of packets.
 *
 * A round of the high table takes it from its place to the first end of a packet at least one credit
 * further on (round_end).  That map is monotonic and commutes with whole turns, so from any starting place
 * it ends in a cycle of the same number of rounds and of turns.  Neither the transient nor the initial
 * state of the tables affects any result here.
 *
 * Sizes.  A turn has at most 64 visits, of weight 255 * 64 = 16320 bytes, of which the last packet may be
 * 65534 bytes too large: less than 2^23 bytes and 2^20 packets.  A cycle of rounds is not longer than
 * there are places, so the joint cycle has less than 2^20 * 2^20 rounds.  A round has less than 254 * 4096
 * + 2 * 65535 < 2^21 bytes with its low packet.  Hence a joint cycle has less than 2^61 bytes, and not
 * more packets: all fits in 64 bits.
 */
#include "qos/arbiter/arbiter.h"

/* The packets that an entry sends whenever it is visited. */
struct visit {
	uint32_t start;		/* its place in the turn */
	uint32_t packets;
	uint16_t size;		/* bytes of each packet */
	uint8_t vl;
};

/* The packets that a table sends from its first entry to its last. */
struct turn {
	struct visit visits[VLARB_ENTRIES_MAX];
	unsigned n;
	uint32_t bytes, packets;
	uint16_t largest;	/* largest packet, bytes */
	uint16_t grain;		/* greatest common divisor of the packets' sizes, bytes */
};

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint16_t vls_of(const struct vlarb_entry *entries, unsigned n)
{
	uint16_t vls = 0;

	for (unsigned i = 0; i < n; i++)
		if (entries[i].vl < ARB_VLS && entries[i].weight)
			vls |= (uint16_t)(1u << entries[i].vl);
	return vls;
}

uint16_t arbiter_high_vls(const struct vlarb *arb)
{
	return vls_of(arb->high, arb->n_high);
}

uint16_t arbiter_low_vls(const struct vlarb *arb)
{
	return vls_of(arb->low, arb->n_low);
}

struct arb_load arbiter_load(uint16_t active, uint16_t packet)
{
	struct arb_load load = { .active = active };

	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		load.packet[vl] = packet;
	return load;
}

static bool sends(const struct arb_load *load, unsigned vl)
{
	return vl < ARB_VLS && load->active >> vl & 1 && load->packet[vl];
}

/* Appends an entry to the turn. */
static void turn_add(struct turn *t, struct vlarb_entry e, const struct arb_load *load)
{
	if (!e.weight || !sends(load, e.vl))
		return;

	uint16_t size = load->packet[e.vl];
	uint32_t packets = (e.weight * ARB_WEIGHT_UNIT + size - 1u) / size;

	t->visits[t->n++] = (struct visit){ t->bytes, packets, size, e.vl };
	t->packets += packets;
	t->bytes += packets * size;
	if (size > t->largest)
		t->largest = size;
	t->grain = (uint16_t)gcd(t->grain, size);
}

static void turn_make(struct turn *t, const struct vlarb_entry *entries, unsigned n,
		      const struct arb_load *load)
{
	*t = (struct turn){ .n = 0 };
	for (unsigned i = 0; i < n; i++)
		turn_add(t, entries[i], load);
}

/*
 * Bytes of high priority after which a packet of low priority is due.  Limit 0, one packet, is the same as
 * one byte.  Not for ARB_LIMIT_UNBOUNDED.
 */
static uint32_t limit_bytes(const struct vlarb *arb)
{
	return arb->high_limit ? (uint32_t)arb->high_limit * ARB_LIMIT_UNIT : 1;
}

/* The place where a round that starts at a place ends. */
static uint64_t round_end(const struct turn *t, uint32_t credit, uint64_t start)
{
	uint64_t least = start + credit;
	uint32_t in_turn = (uint32_t)(least % t->bytes);
	unsigned lo = 0, hi = t->n;

	while (hi - lo > 1) {
		unsigned mid = (lo + hi) / 2;

		if (t->visits[mid].start <= in_turn)
			lo = mid;
		else
			hi = mid;
	}

	uint32_t size = t->visits[lo].size;
	uint32_t over = (in_turn - t->visits[lo].start) % size;

	return over ? least + size - over : least;
}

/* The cycle that the rounds of a high table end in. */
struct rotation {
	uint64_t rounds, turns;
};

/*
 * Finds the cycle by Brent's algorithm: keeps a place to compare with, and replaces it at doubling
 * intervals.
 */
static struct rotation rotation_of(const struct turn *t, uint32_t credit)
{
	uint64_t kept = 0, now = 0, rounds = 0, patience = 1;

	if (credit == 1)	/* one packet per round: the longest cycle, but known without a search */
		return (struct rotation){ t->packets, 1 };
	do {
		if (rounds == patience) {
			kept = now;
			rounds = 0;
			patience *= 2;
		}
		now = round_end(t, credit, now);
		rounds++;
	} while ((now - kept) % t->bytes);
	return (struct rotation){ rounds, (now - kept) / t->bytes };
}

static void count_turns(struct arb_cycle *out, const struct turn *t, uint64_t turns)
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct visit *v = &t->visits[i];

		out->packets[v->vl] += turns * v->packets;
		out->bytes[v->vl] += turns * v->packets * v->size;
	}
	out->total_packets += turns * t->packets;
	out->total_bytes += turns * t->bytes;
}

/* Each round has one packet of the low table, so lo->packets rounds are a turn of that table. */
static void count_joint_cycle(struct arb_cycle *out, const struct turn *hi, const struct turn *lo,
			      uint32_t credit)
{
	struct rotation r = rotation_of(hi, credit);
	uint64_t common = gcd(r.rounds, lo->packets);

	count_turns(out, hi, r.turns * (lo->packets / common));
	count_turns(out, lo, r.rounds / common);
}

void arbiter_run(const struct vlarb *arb, const struct arb_load *load, struct arb_cycle *out)
{
	struct turn hi, lo;

	*out = (struct arb_cycle){ .total_packets = 0 };
	turn_make(&hi, arb->high, arb->n_high, load);
	turn_make(&lo, arb->low, arb->n_low, load);
	if (!hi.n)
		count_turns(out, &lo, 1);
	else if (!lo.n || arb->high_limit == ARB_LIMIT_UNBOUNDED)
		count_turns(out, &hi, 1);
	else
		count_joint_cycle(out, &hi, &lo, limit_bytes(arb));

	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		if (out->total_bytes)
			out->share[vl] = (double)out->bytes[vl] / (double)out->total_bytes;
		if (load->active >> vl & 1 && !out->packets[vl])
			out->starved |= (uint16_t)(1u << vl);
	}
}

/* --- how long a packet waits ------------------------------------------------ */

/* The stretch between two entries of the waiting VL, in the turn of all other VLs. */
struct gap {
	uint64_t start, end;	/* places */
	uint32_t packets;
};

/*
 * Makes the turn of the others and the gaps in it.  Returns the number of gaps, which is that of vl's
 * entries.
 */
static unsigned gaps_make(struct turn *t, struct gap gaps[VLARB_ENTRIES_MAX],
			  const struct vlarb_entry *entries, unsigned n_entries,
			  const struct arb_load *others, unsigned vl)
{
	unsigned n = 0;

	*t = (struct turn){ .n = 0 };
	for (unsigned i = 0; i < n_entries; i++) {
		turn_add(t, entries[i], others);
		if (entries[i].vl == vl && entries[i].weight)
			gaps[n++] = (struct gap){ .start = t->bytes, .packets = t->packets };
	}
	if (!n)
		return 0;

	/* The last gap ends where the first begins, a turn later. */
	struct gap first = gaps[0];

	first.start += t->bytes;
	first.packets += t->packets;
	for (unsigned i = 0; i < n; i++) {
		const struct gap *next = i + 1 < n ? &gaps[i + 1] : &first;

		gaps[i].end = next->start;
		gaps[i].packets = next->packets - gaps[i].packets;
	}
	return n;
}

/* The greatest number of bytes in n consecutive packets of a table. */
static uint64_t most_in_packets(const struct turn *t, uint64_t n)
{
	if (!t->n)
		return 0;
	return n / t->packets * t->bytes +
	       min_u64(n % t->packets * t->largest, t->bytes);
}

/*
 * The greatest number of bytes in n consecutive rounds.  A round ends with the packet that uses its credit
 * up.  By Poincaré, n rounds from any place differ by less than a turn from n times the mean.
 */
static uint64_t most_in_rounds(const struct turn *t, uint32_t credit, uint64_t n)
{
	if (!t->n)
		return 0;

	struct rotation r = rotation_of(t, credit);
	uint64_t round = (credit - 1) / t->grain * t->grain + t->largest;

	return min_u64(n * round, n * r.turns * t->bytes / r.rounds + t->bytes);
}

/* The number of rounds that end within a gap or at its end, if the first begins with the gap. */
static uint64_t rounds_in(const struct turn *t, uint32_t credit, const struct gap *g)
{
	uint64_t rounds = 0, at = g->start;

	if (credit == 1)
		return g->packets;
	while ((at = round_end(t, credit, at)) <= g->end)
		rounds++;
	return rounds;
}

/*
 * The worst case: vl has just sent the last packet that its entry allowed, and the round ended with it;
 * vl's new packet comes while a low one is sent.  Then it waits for the whole gap, with a low packet after
 * each round that ends within the gap or at its end.  Any later place, or a round already begun, has fewer
 * of them.
 */
static uint64_t wait_high(const struct vlarb *arb, const struct arb_load *others, unsigned vl)
{
	struct gap gaps[VLARB_ENTRIES_MAX];
	struct turn hi, lo;
	uint64_t longest = 0;
	unsigned n = gaps_make(&hi, gaps, arb->high, arb->n_high, others, vl);

	turn_make(&lo, arb->low, arb->n_low, others);
	if (!n)
		return UINT64_MAX;
	if (!hi.n)
		return lo.largest;
	for (unsigned i = 0; i < n; i++) {
		uint64_t wait = gaps[i].end - gaps[i].start;

		if (arb->high_limit != ARB_LIMIT_UNBOUNDED)
			wait += most_in_packets(&lo, 1 + rounds_in(&hi, limit_bytes(arb), &gaps[i]));
		if (wait > longest)
			longest = wait;
	}
	return longest;
}

/*
 * The worst case: vl has just sent the last packet that its entry allowed, and vl's new packet comes at
 * the beginning of the round after it.  Then it waits for all packets of the gap, a round before each of
 * them, and one before itself.
 */
static uint64_t wait_low(const struct vlarb *arb, const struct arb_load *others, unsigned vl)
{
	struct gap gaps[VLARB_ENTRIES_MAX];
	struct turn hi, lo;
	uint64_t gap = 0, packets = 0;
	unsigned n = gaps_make(&lo, gaps, arb->low, arb->n_low, others, vl);

	turn_make(&hi, arb->high, arb->n_high, others);
	if (!n || (hi.n && arb->high_limit == ARB_LIMIT_UNBOUNDED))
		return UINT64_MAX;
	/* One gap may have the most bytes and another the most packets. */
	for (unsigned i = 0; i < n; i++) {
		if (gaps[i].end - gaps[i].start > gap)
			gap = gaps[i].end - gaps[i].start;
		if (gaps[i].packets > packets)
			packets = gaps[i].packets;
	}
	return gap + most_in_rounds(&hi, limit_bytes(arb), packets + 1);
}

uint64_t arbiter_wait_bytes(const struct vlarb *arb, const struct arb_load *load, unsigned vl)
{
	struct arb_load others = *load;

	if (vl >= ARB_VLS)
		return UINT64_MAX;
	others.active &= (uint16_t)~(1u << vl);
	/* A VL in both tables is served by whichever comes first. */
	return min_u64(wait_high(arb, &others, vl), wait_low(arb, &others, vl));
}

double arbiter_measured_ratio(unsigned q, unsigned h, unsigned l)
{
	unsigned times = 2 * q * l / h;

	return (double)h / l * (times ? times : 1);
}

/* Adds each active VL's weights to `of`; returns their sum. */
static unsigned add_weights(const struct vlarb_entry *entries, unsigned n, const struct arb_load *load,
			    unsigned of[ARB_VLS])
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!sends(load, entries[i].vl))
			continue;
		of[entries[i].vl] += entries[i].weight;
		sum += entries[i].weight;
	}
	return sum;
}

bool arbiter_measured(const struct vlarb *arb, const struct arb_load *load, double share[ARB_VLS])
{
	unsigned high[ARB_VLS] = { 0 }, low[ARB_VLS] = { 0 };
	unsigned h = add_weights(arb->high, arb->n_high, load, high);
	unsigned l = add_weights(arb->low, arb->n_low, load, low);

	if (!h || !l || arb->high_limit == ARB_LIMIT_UNBOUNDED)
		return false;
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		if (load->active >> vl & 1 && load->packet[vl] != ARB_MEASURED_MTU)
			return false;

	double ratio = arbiter_measured_ratio(arb->high_limit, h, l);

	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		share[vl] = (ratio * high[vl] / h + (double)low[vl] / l) / (ratio + 1);
	return true;
}

bool arbiter_shares_differ(double a, double b)
{
	double most = a > b ? a : b, least = a > b ? b : a;

	return most - least > most / 10;
}
