/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Assigns LIDs to end ports (4.1.3, 14.2.5.6).
 *
 * Stability comes first: other hosts' caches hold the LID of a running port.  Claims are settled in
 * this order, each kind in order of GUIDs, so that the outcome does not depend on the order of
 * discovery:
 *  1. the LID that a port has, and had in earlier runs;
 *  2. the LID that this manager gave to the port before, which is in the forwarding tables: if the
 *     port reports another one, somebody else set it, or the port lies;
 *  3. the LID that a port has;
 *  4. the LID that a port had in earlier runs;
 *  5. new LIDs.
 * A claim holds if the whole range is unicast, aligned for the LMC and not taken by an earlier
 * claim, and if it is within two bounds:
 *  - the forwarding tables of the switches.  The least LinearFDBCap bounds all LIDs, except that of
 *    a switch that is too small even for the LIDs that the subnet needs: only the ports on that
 *    switch get LIDs that it holds, while there are any.
 *  - density.  Tables of all switches reach up to the highest LID.  If a gap below a LID of
 *    kind 3 is wider than GAP_FREE, and wider than GAP_PER_PORT for each port with a LID above the
 *    gap, the port gets another LID.  LIDs that we gave or remember are exempt: the loss of one
 *    port must not renumber its neighbours.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "plan/plan.h"

#define LIDS (IB_LID_UCAST_MAX + 1)
#define GAP_FREE	1024	/* 16 blocks of each forwarding table */
#define GAP_PER_PORT	LFT_BLOCK

struct allocator {
	struct plan *p;
	const struct lid_map *known;
	const struct plan *before;	/* the plan in force until now, or NULL */
	uint32_t *by_guid;		/* end ports that need LIDs, in order of GUIDs */
	uint32_t *by_place;		/* the same ports, each switch followed by its hosts */
	uint32_t n;
	uint32_t limit;			/* highest LID within the bound by forwarding tables */
	uint32_t dense;			/* highest LID that a port may keep if only another manager gave it */
	uint8_t reserved[LIDS / 8];	/* LIDs remembered for absent ports */
	/* No aligned free range of 1 << lmc LIDs is below; [1]: reserved LIDs count as free. */
	uint32_t cursor[2][IB_LMC_MAX + 1];
};

/* Nobody can reach an end port without a link, except the SM's own port. */
static bool wants_lid(const struct fabric *f, uint32_t port)
{
	return port_is_end(f, port) &&
	       (f->ports[port].peer != FABRIC_NONE || port == f->self ||
		node_is_switch(port_node(f, port)));
}

static uint8_t wanted_lmc(const struct plan *p, uint32_t port)
{
	const struct fabric_node *n = port_node(p->f, port);

	if (!node_is_switch(n))
		return p->settings->lmc;
	return p->f->switches[n->sw].enhanced_port0 && p->settings->lmc_enhanced_port0 ?
		p->settings->lmc : 0;
}

static bool range_is_free(const struct plan *p, uint32_t lid, unsigned count)
{
	for (uint32_t i = lid; i < lid + count; i++)
		if (p->port_by_lid[i] != FABRIC_NONE)
			return false;
	return true;
}

/* The highest LID that can be forwarded to a port, by the tables of the switches. */
static uint32_t limit_of(const struct allocator *a, uint32_t port)
{
	const struct fabric *f = a->p->f;
	uint32_t sw = fabric_switch_of(f, port), cap;

	if (sw == FABRIC_NONE)
		return a->limit;
	cap = f->switches[sw].lft_cap;
	return cap && cap - 1 < a->limit ? cap - 1 : a->limit;
}

/* Takes a range of LIDs if all of it is free and at most max. */
static bool claim(struct plan *p, uint32_t port, uint32_t lid, uint32_t max)
{
	unsigned count = 1u << p->lmc[port];
	uint32_t last;

	if (lid == 0 || lid % count || lid > LIDS - count || lid + count - 1 > max ||
	    !range_is_free(p, lid, count))
		return false;
	last = lid + (1u << p->lmc[port]) - 1;
	for (uint32_t i = lid; i <= last; i++)
		p->port_by_lid[i] = port;
	p->lid[port] = (uint16_t)lid;
	if (last > p->lid_top)
		p->lid_top = (uint16_t)last;
	return true;
}

/*
 * The LID that earlier runs remember for a port, 0: none.  If two ports have one GUID, only the
 * first counts.
 */
static uint32_t known_lid(const struct allocator *a, uint32_t port)
{
	uint64_t guid = a->p->f->ports[port].guid;

	if (!a->known || fabric_find_port(a->p->f, guid) != port)
		return 0;
	uint32_t lid = map64_get(&a->known->by_guid, guid);
	return lid == MAP64_NONE ? 0 : lid;
}

/* The LID that the plan in force gives to the port; 0: none. */
static uint32_t given_lid(const struct allocator *a, uint32_t port)
{
	uint64_t guid = a->p->f->ports[port].guid;
	uint32_t was;

	if (!a->before || fabric_find_port(a->p->f, guid) != port)
		return 0;
	was = fabric_find_port(a->before->f, guid);
	return was == FABRIC_NONE ? 0 : a->before->lid[was];
}

/* --- bounds --- */

static void count_lid(uint32_t *ports_at, uint32_t lid)
{
	if (lid && lid < LIDS)
		ports_at[lid]++;
}

/* Counts ports by LID: the LID that they have or, for absent ports, had. */
static uint32_t count_claims(const struct allocator *a, uint32_t *ports_at)
{
	const struct map64 *m = a->known ? &a->known->by_guid : NULL;
	uint32_t total = 0;

	for (uint32_t i = 0; i < a->n; i++)
		count_lid(ports_at, a->p->f->ports[a->by_guid[i]].lid);
	for (uint32_t i = 0; m && m->slots && i <= m->mask; i++)
		if (m->slots[i].value != MAP64_NONE &&
		    fabric_find_port(a->p->f, m->slots[i].key) == FABRIC_NONE)
			count_lid(ports_at, m->slots[i].value);
	for (uint32_t lid = 1; lid < LIDS; lid++)
		total += ports_at[lid];
	return total;
}

/* See the top of this file. */
static uint32_t end_of_dense(const struct allocator *a)
{
	uint32_t *ports_at = xcalloc(LIDS, sizeof(*ports_at));
	uint32_t above = count_claims(a, ports_at), last = 0, gap;

	for (uint32_t lid = 1; above; lid++) {
		if (!ports_at[lid])
			continue;
		gap = lid - last - 1;
		if (gap > GAP_FREE && gap > GAP_PER_PORT * above)
			break;
		above -= ports_at[lid];
		last = lid;
	}
	free(ports_at);
	/* including the range of the last one */
	return above ? last + (1u << IB_LMC_MAX) - 1 : LIDS - 1;
}

/* The LIDs that all ports need, including what alignment of ranges may cost. */
static uint32_t lids_needed(const struct allocator *a)
{
	uint32_t sum = 1, widest = 1;

	for (uint32_t i = 0; i < a->n; i++) {
		uint32_t count = 1u << a->p->lmc[a->by_guid[i]];

		sum += count;
		if (count > widest)
			widest = count;
	}
	return widest > 1 ? sum + 2 * widest : sum;
}

static uint32_t limit_by_switches(const struct allocator *a)
{
	const struct fabric *f = a->p->f;
	uint32_t needed = lids_needed(a), limit = LIDS;

	for (uint32_t i = 0; i < f->n_switches; i++)
		if (f->switches[i].lft_cap >= needed && f->switches[i].lft_cap < limit)
			limit = f->switches[i].lft_cap;
	return limit - 1;
}

/* --- claims --- */

/* The LID that a port claims in a pass (see the top of this file); 0: none. */
static uint32_t claimed_in(const struct allocator *a, uint32_t port, int pass)
{
	uint32_t has = a->p->f->ports[port].lid;

	switch (pass) {
	case 1:
		return has == known_lid(a, port) ? has : 0;
	case 2:
		return given_lid(a, port);
	case 3:
		return has;
	default:
		return known_lid(a, port);
	}
}

static void settle_claims(struct allocator *a)
{
	for (int pass = 1; pass <= 4; pass++)
		for (uint32_t i = 0; i < a->n; i++) {
			uint32_t port = a->by_guid[i], max = limit_of(a, port);

			if (a->p->lid[port])
				continue;
			if (pass == 3 && max > a->dense)
				max = a->dense;
			claim(a->p, port, claimed_in(a, port, pass), max);
		}
}

/* Marks the LIDs of absent ports, so that they are free when the ports return. */
static void reserve_absent(struct allocator *a)
{
	const struct map64 *m = &a->known->by_guid;

	for (uint32_t i = 0; m->slots && i <= m->mask; i++) {
		const struct map64_slot *s = &m->slots[i];

		uint32_t port = fabric_find_port(a->p->f, s->key);

		if (s->value == MAP64_NONE || (port != FABRIC_NONE && wants_lid(a->p->f, port)))
			continue;
		uint32_t lmc = map64_get(&a->known->lmc_by_guid, s->key);
		uint32_t count = lmc <= IB_LMC_MAX ? 1u << lmc : 1;

		for (uint32_t lid = s->value; lid < LIDS && lid - s->value < count; lid++)
			a->reserved[lid >> 3] |= (uint8_t)(1u << (lid & 7));
	}
}

static bool range_is_reserved(const struct allocator *a, uint32_t lid, unsigned count)
{
	for (uint32_t i = lid; i < lid + count; i++)
		if (a->reserved[i >> 3] >> (i & 7) & 1)
			return true;
	return false;
}

/*
 * Takes the lowest free aligned range up to max.  LIDs are only ever taken, so a cursor never goes
 * back.
 */
static bool take_up_to(struct allocator *a, uint32_t port, uint32_t max)
{
	unsigned lmc = a->p->lmc[port], count = 1u << lmc;

	for (int use_reserved = 0; use_reserved <= 1; use_reserved++) {
		uint32_t *lid = &a->cursor[use_reserved][lmc];

		if (*lid == 0)
			*lid = count;
		for (; *lid + count - 1 <= max; *lid += count) {
			if (!use_reserved && range_is_reserved(a, *lid, count))
				continue;
			if (claim(a->p, port, *lid, max))
				return true;
		}
	}
	return false;
}

/* Takes a new LID.  One that some switch does not hold is better than none. */
static bool take_new(struct allocator *a, uint32_t port)
{
	return take_up_to(a, port, limit_of(a, port)) || take_up_to(a, port, a->limit) ||
	       take_up_to(a, port, LIDS - 1);
}

static int compare_keys(const void *pa, const void *pb)
{
	const struct map64_slot *a = pa, *b = pb;

	return ORDER(a->key, b->key) ?: ORDER(a->value, b->value);
}

static void order_by_guid(struct allocator *a)
{
	struct map64_slot *keys = xcalloc(a->n, sizeof(*keys));

	for (uint32_t i = 0; i < a->n; i++) {
		uint32_t port = a->by_place[i];

		keys[i] = (struct map64_slot){ a->p->f->ports[port].guid, port };
	}
	qsort(keys, a->n, sizeof(*keys), compare_keys);
	for (uint32_t i = 0; i < a->n; i++)
		a->by_guid[i] = keys[i].value;
	free(keys);
}

static void add_port(struct allocator *a, uint8_t *listed, uint32_t port)
{
	if (!listed[port] && wants_lid(a->p->f, port)) {
		listed[port] = 1;
		a->by_place[a->n++] = port;
	}
}

/*
 * The order for new LIDs: first the SM, so that it has a LID even in a subnet that is too large;
 * then switch by switch, so that LIDs behind one switch are adjacent in every forwarding table;
 * then ports on no switch.
 */
static void order_by_place(struct allocator *a)
{
	const struct fabric *f = a->p->f;
	uint8_t *listed = xcalloc(f->n_ports, 1);

	add_port(a, listed, f->self);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		const struct fabric_node *n = &f->nodes[f->switches[s].node];

		add_port(a, listed, n->port0);
		for (unsigned num = 1; num <= n->nports; num++) {
			uint32_t peer = f->ports[n->port0 + num].peer;

			if (peer != FABRIC_NONE)
				add_port(a, listed, peer);
		}
	}
	for (uint32_t port = 0; port < f->n_ports; port++)
		add_port(a, listed, port);
	free(listed);
}

static void report_missing(struct plan *p, uint32_t missing, uint32_t example)
{
	findings_add(&p->findings, SEV_ERROR, "", (struct src_pos){ 0 },
		     "out of LIDs: %u ports get none, among them %s", missing,
		     PORT_NAME(p->f, example));
}

bool plan_assign_lids(struct plan *p, const struct lid_map *known, const struct plan *before)
{
	const struct fabric *f = p->f;
	struct allocator *a = xcalloc(1, sizeof(*a));
	uint32_t missing = 0, example = 0;

	p->lid = xcalloc(f->n_ports, sizeof(*p->lid));
	p->lmc = xcalloc(f->n_ports, sizeof(*p->lmc));
	p->port_by_lid = xmalloc(LIDS * sizeof(*p->port_by_lid));
	for (uint32_t i = 0; i < LIDS; i++)
		p->port_by_lid[i] = FABRIC_NONE;
	p->lid_top = 0;

	a->p = p;
	a->known = known;
	a->before = before;
	a->by_place = xcalloc(f->n_ports, sizeof(*a->by_place));
	a->by_guid = xcalloc(f->n_ports, sizeof(*a->by_guid));
	order_by_place(a);
	order_by_guid(a);
	for (uint32_t i = 0; i < a->n; i++)
		p->lmc[a->by_guid[i]] = wanted_lmc(p, a->by_guid[i]);
	a->limit = limit_by_switches(a);
	a->dense = end_of_dense(a);
	settle_claims(a);
	if (known)
		reserve_absent(a);
	/* first ports on switches that hold fewer than the others */
	for (int rest = 0; rest <= 1; rest++)
		for (uint32_t i = 0; i < a->n; i++) {
			uint32_t port = a->by_place[i];

			if (p->lid[port] || (i && limit_of(a, port) == a->limit) != rest)
				continue;
			if (!take_new(a, port) && missing++ == 0)
				example = port;
		}
	if (missing)
		report_missing(p, missing, example);
	p->lid_limit = (uint16_t)a->limit;
	free(a->by_guid);
	free(a->by_place);
	free(a);
	return missing == 0;
}
