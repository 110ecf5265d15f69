/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records SL2VL and arbitration tables that devices keep instead of the plan's.
 *
 * A device keeps a table by ignoring a Set or by refusing it with a status.  Its table is recorded
 * when it is seen, so that paths can follow it (plan_follow()).
 *
 * A device may confirm a Set with the very table that it then ignores.  So one confirmed table of
 * each kind is read back; if it is not as confirmed, all of them are.
 *
 * node_work.fixed is a log of one sweep: of several entries for a pair the last one counts, and it
 * may say that the table is as planned after all.  A node with an entry is doubtful, so the next
 * sweep reads it again; except if it refuses such Sets for good by a status (refused_sets.c): its
 * entries hold until it is read.
 *
 * node_work.arbs is a similar log of blocks of arbitration tables.  Only the set of VLs with weight
 * in any block matters, as a VL without weight is never sent.  Kept arbitration tables are not read
 * again in each sweep: their entries hold until the device is read for another reason.
 *
 * A pair that a device is known to keep is not written.  To end that some day, one pair of each out
 * port is tried again: in a full sweep, and in any sweep if the pair was kept by a status that is
 * not known to be for good.  If the device takes it, the other pairs of the port are written, too.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "plan/sm_attributes.h"
#include "sm/sm_internal.h"
#include "sm/sweep/reading.h"
#include "sm/write/write.h"

static struct sl2vl decode(const uint8_t *data)
{
	struct sl2vl m;

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl += 2) {
		m.vl[sl] = data[sl / 2] >> 4;
		m.vl[sl + 1] = data[sl / 2] & 0xf;
	}
	return m;
}

static bool is_pair(item_t item)
{
	return ITEM_KIND(item) == ITEM_SL2VL && ITEM_A(item) != ITEM_ALL;
}

static bool is_arb(item_t item)
{
	return ITEM_KIND(item) == ITEM_VLARB;
}

/* VLs with weight in the entries of an arbitration table. */
static uint16_t vls_sent(const uint8_t *data, unsigned len)
{
	uint16_t vls = 0;

	for (unsigned i = 0; i + 1 < len; i += 2)
		if (data[i + 1])
			vls |= (uint16_t)(1u << (data[i] & 0xf));
	return vls;
}

void fixed_see_arb(struct sm *sm, uint32_t node, item_t item, const uint8_t *data, unsigned len)
{
	*vec_push(&sm->sweep.work[node].arbs) = (struct seen_arb){
		.num = (uint8_t)ITEM_A(item), .block = (uint8_t)ITEM_B(item),
		.sends = vls_sent(data, len),
	};
}

/* A block is as planned; that is worth an entry if it, or another block of the port, was not. */
static bool arbs_matter(const struct sm *sm, uint32_t node)
{
	return sm->sweep.work[node].arbs.n || sm->seen.arbs.n;
}

void fixed_see(struct sm *sm, uint32_t node, item_t item, const struct item_want *want,
	      const uint8_t *got)
{
	struct node_work *w = &sm->sweep.work[node];
	bool differs = memcmp(got, want->data, want->len);

	if (is_arb(item) && (differs || arbs_matter(sm, node)))
		fixed_see_arb(sm, node, item, got, want->len);
	if (!is_pair(item) || (!differs && !w->fixed.n))
		return;
	w->fixed_doubt |= differs;
	*vec_push(&w->fixed) = (struct fixed_map){
		.node = node, .in = (uint8_t)ITEM_A(item), .out = (uint8_t)ITEM_B(item),
		.map = decode(got),
	};
}

/*
 * Whether to read back a table that the device confirmed.  Always on a switch, which many paths
 * depend on.  An adapter has one table per port, and reading it back would cost as much as writing
 * it: that is done when the table differs again.
 */
static bool may_be_untrue(const struct sm *sm, uint32_t node)
{
	return node_is_switch(&sm->sweep.f->nodes[node]) ||
		(sm->published && sweep_is(sm)->reads_tables);
}

/* The published plan has the pair as kept, with the same planned and actual tables. */
static bool was_kept(const struct sm *sm, uint32_t node, item_t item, const struct item_want *want,
		     const uint8_t *got)
{
	const struct plan *old = sm->published ? sm->published->plan : NULL;
	unsigned in = ITEM_A(item), out = ITEM_B(item);
	struct sl2vl wanted = decode(want->data), is = decode(got);
	uint32_t i;
	uint16_t before, kept;

	if (!old || !old->tables->fixed || !old->tables->managed)
		return false;
	i = fabric_same_node(old->f, &sm->sweep.f->nodes[node]);
	if (i == FABRIC_NONE)
		return false;
	before = qos_sl2vl_id(old->tables, old->f, i, in, out);
	kept = qos_sl2vl_in_force(old->tables, old->f, i, in, out);
	return before != kept && !memcmp(&old->tables->maps[before], &wanted, sizeof(wanted)) &&
	       !memcmp(&old->tables->maps[kept], &is, sizeof(is));
}

bool fixed_known(struct sm *sm, uint32_t node, item_t *item, const struct item_want *want,
		const uint8_t *got)
{
	struct node_work *w = &sm->sweep.work[node];
	unsigned out = ITEM_B(*item);
	bool refused =
		refusals_have(store_refusals(sm->store), sm->sweep.f->nodes[node].guid, want->attr,
				     want->mod, hash_bytes(want->data, want->len, 0),
				     hash_bytes(got, want->len, 0));
	bool try = !refused || sweep_is(sm)->reads_tables;

	if (!refused && !(is_pair(*item) && was_kept(sm, node, *item, want, got)))
		return false;
	fixed_see(sm, node, *item, want, got);
	/* a table that starves a VL is worth a try, as paths depend on it */
	if (is_arb(*item) && try && vls_sent(want->data, want->len) & ~vls_sent(got, want->len))
		return true;
	if (!is_pair(*item) || !try || w->probing[out / 64] >> (out % 64) & 1) {
		*item = 0;
		return true;
	}
	w->probing[out / 64] |= 1ull << (out % 64);
	*item |= ITEM_PROBE;
	return true;
}

/* Queues the pairs that an item stands for to be read back. */
static void look_at(struct sm *sm, uint32_t node, item_t item)
{
	struct node_work *w = &sm->sweep.work[node];
	uint32_t from = w->n;

	if (!optimized_sl2vl_split(sm->sweep.plan, node, w, item))
		observe_add(w, ITEM_PLAIN(item));
	for (uint32_t i = from; i < w->n; i++)
		w->items[i] |= ITEM_LOOK | ITEM_CONFIRMED;
}

/* Queues all confirmed tables to be read back, as the device confirms falsely. */
static void look_at_all(struct sm *sm, uint32_t node)
{
	struct node_work *w = &sm->sweep.work[node];
	uint32_t n = w->cursor;

	for (uint32_t i = 0; i < n; i++)
		if ((ITEM_KIND(w->items[i]) == ITEM_SL2VL || is_arb(w->items[i])) &&
		    !(w->items[i] & ITEM_LOOK))
			look_at(sm, node, w->items[i]);
}

/* Another manager's tables are written only where they are bad: all of those are read back. */
static void arb_confirmed(struct sm *sm, uint32_t node, item_t item)
{
	struct node_work *w = &sm->sweep.work[node];
	struct item_want want;

	if (arbs_matter(sm, node)) {
		want_item(sm->sweep.plan, node, item, &want);
		fixed_see_arb(sm, node, item, want.data, want.len);
	}
	if (!w->untrue && sm->sweep.plan->tables->managed &&
	    (w->arb_sampled || !may_be_untrue(sm, node)))
		return;
	w->arb_sampled = true;
	look_at(sm, node, item);
}

void fixed_confirmed(struct sm *sm, uint32_t node, item_t item)
{
	struct node_work *w = &sm->sweep.work[node];
	item_t pair;

	if (is_arb(item))
		arb_confirmed(sm, node, item);
	if (ITEM_KIND(item) != ITEM_SL2VL)
		return;
	if (item & ITEM_PROBE) {
		observe_add(w, item | ITEM_LOOK | ITEM_CONFIRMED);
	} else if (w->untrue || w->fixed.n) {
		look_at(sm, node, item);
	} else if (!w->sampled && may_be_untrue(sm, node)) {
		w->sampled = true;
		pair = want_first_pair(sm->sweep.plan, node, ITEM_PLAIN(item));
		if (pair)
			observe_add(w, pair | ITEM_LOOK | ITEM_CONFIRMED);
	}
}

/* The device took one pair after all: queues the other pairs with the same out port to be written. */
static void write_rest(struct sm *sm, uint32_t node, item_t item)
{
	struct node_work *w = &sm->sweep.work[node];

	for (size_t i = 0; i < w->fixed.n; i++)
		if (w->fixed.v[i].out == ITEM_B(item) && w->fixed.v[i].in != ITEM_A(item))
			observe_add(w, ITEM(ITEM_SL2VL, w->fixed.v[i].in, w->fixed.v[i].out));
}

void fixed_looked(struct sm *sm, uint32_t node, item_t item, const struct item_want *want,
		 const uint8_t *got)
{
	struct node_work *w = &sm->sweep.work[node];
	bool differs = memcmp(got, want->data, want->len);

	fixed_see(sm, node, item, want, got);
	if (!differs) {
		if (item & ITEM_PROBE)
			write_rest(sm, node, item);
		return;
	}
	if (!(item & ITEM_CONFIRMED))
		return;
	store_refused(sm->store, sm->sweep.f->nodes[node].guid, want->attr, want->mod,
		      hash_bytes(want->data, want->len, 0), hash_bytes(got, want->len, 0));
	if (!w->untrue && !(item & ITEM_PROBE)) {
		w->untrue = true;
		look_at_all(sm, node);
	}
}

/* The pair of an entry and its planned table; false: nothing is planned for the pair. */
static bool want_kept(const struct sm *sm, const struct fixed_map *m, struct item_want *want)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[m->node];

	if (m->in > n->nports || m->out > n->nports)
		return false;
	/* inherited.c plans tables even without a policy for them */
	if (sm->sweep.plan->tables->managed ?
	    !item_is_planned(sm->sweep.plan, m->node, ITEM(ITEM_SL2VL, m->in, m->out)) :
	    !port_is_linked(sm->sweep.f, n->port0 + m->out))
		return false;
	want_item(sm->sweep.plan, m->node, ITEM(ITEM_SL2VL, m->in, m->out), want);
	return true;
}

/* Remembers what was seen of a node that refuses such Sets for good: it refuses the rest, too. */
static void remember_refused(struct sm *sm, uint32_t node, const struct refused_kind *kind)
{
	const struct node_work *w = &sm->sweep.work[node];
	uint16_t status = kind->status;
	struct item_want want;
	struct sl2vl wanted;

	for (size_t i = 0; i < w->fixed.n; i++) {
		if (!want_kept(sm, &w->fixed.v[i], &want))
			continue;
		wanted = decode(want.data);
		if (memcmp(&wanted, &w->fixed.v[i].map, sizeof(wanted)))
			store_refused_by_status(sm->store, sm->sweep.f->nodes[node].guid, want.attr, want.mod,
						hash_bytes(want.data, want.len, 0), status);
	}
}

/* Takes over what an earlier sweep saw of a node that this one has not read. */
static void carry_over(struct sm *sm, uint32_t node)
{
	uint64_t guid = sm->sweep.f->nodes[node].guid;
	uint32_t i = map64_get(&sm->seen.maps_by_guid, guid);
	struct item_want want;

	for (; i < sm->seen.maps.n && sm->seen.maps.v[i].guid == guid; i++) {
		struct fixed_map m = sm->seen.maps.v[i].map;

		m.node = node;
		if (want_kept(sm, &m, &want) &&
		    refusals_know_status(store_refusals(sm->store), guid, want.attr, want.mod,
					 hash_bytes(want.data, want.len, 0)))
			*vec_push(&sm->sweep.fixed) = m;
	}
}

/* Keeps entries of nodes whose tables need not be read again. */
static void keep_for_next(struct sm *sm)
{
	uint64_t last = 0;

	vec_free(&sm->seen.maps);
	map64_clear(&sm->seen.maps_by_guid);
	for (size_t i = 0; i < sm->sweep.fixed.n; i++) {
		uint64_t guid = sm->sweep.f->nodes[sm->sweep.fixed.v[i].node].guid;

		if (!refusals_kind(store_refusals(sm->store), guid, UMAD_SM_ATTR_SLVL_TABLE))
			continue;
		if (!sm->seen.maps.n || guid != last)
			map64_put(&sm->seen.maps_by_guid, guid, (uint32_t)sm->seen.maps.n);
		*vec_push(&sm->seen.maps) = (struct fixed_before){ guid, sm->sweep.fixed.v[i] };
		last = guid;
	}
}

/* --- arbitration --- */

/* What is known of a port's blocks, [0] unused; later entries override earlier ones. */
struct port_arb {
	bool known[VLARB_BLOCKS + 1];
	uint16_t sends[VLARB_BLOCKS + 1];
};

static void note_arb(struct port_arb *ports, const struct fabric_node *n, const struct seen_arb *x)
{
	if (x->num > n->nports || !x->block || x->block > VLARB_BLOCKS)
		return;
	ports[x->num].known[x->block] = true;
	ports[x->num].sends[x->block] = x->sends;
}

/* The VLs that should be sent and are not; *sends: the VLs that are. */
static uint16_t starved_vls(const struct sm *sm, uint32_t node, unsigned num,
			    const struct port_arb *is, uint16_t *sends)
{
	uint32_t port = sm->sweep.f->nodes[node].port0 + num;
	bool managed = sm->sweep.plan->tables->managed;
	uint16_t wanted = 0, uses;
	struct item_want want;

	*sends = 0;
	if (!port_is_linked(sm->sweep.f, port) ||
	    (managed && sm->sweep.plan->tables->arb[port] == TABLE_NONE))
		return 0;
	for (unsigned block = 1; block <= VLARB_BLOCKS; block++) {
		uint16_t here;

		want_item(sm->sweep.plan, node, ITEM(ITEM_VLARB, num, block), &want);
		here = vls_sent(want.data, want.len);
		wanted |= here;
		*sends |= is->known[block] ? is->sends[block] : here;
	}
	uses = managed ? 0 : inherited_uses(sm, node, num);
	return (uint16_t)((uses ? uses : wanted) & ~*sends);
}

static void carry_arbs(struct sm *sm, uint64_t guid, unsigned num, const struct port_arb *is)
{
	for (unsigned block = 1; block <= VLARB_BLOCKS; block++)
		if (is->known[block])
			*vec_push(&sm->seen.arbs) = (struct arb_before){
				guid, { (uint8_t)num, (uint8_t)block, is->sends[block] } };
}

/* before: entries of earlier sweeps, in order of nodes; by_guid: index of each node's first entry. */
static void gather_arbs(struct sm *sm, uint32_t node, const struct arb_before *before, size_t n,
			const struct map64 *by_guid)
{
	const struct fabric_node *at = &sm->sweep.f->nodes[node];
	const struct node_work *w = &sm->sweep.work[node];
	uint32_t first = w->unknown || !n ? MAP64_NONE : map64_get(by_guid, at->guid);
	struct port_arb *ports;
	size_t begin = sm->seen.arbs.n;
	uint16_t sends;

	if (!w->arbs.n && first == MAP64_NONE)
		return;
	ports = xcalloc(at->nports + 1u, sizeof(*ports));
	for (size_t i = first; i < n && before[i].guid == at->guid; i++)
		note_arb(ports, at, &before[i].seen);
	for (size_t i = 0; i < w->arbs.n; i++)
		note_arb(ports, at, &w->arbs.v[i]);
	for (unsigned num = 0; num <= at->nports; num++) {
		uint16_t starved = starved_vls(sm, node, num, &ports[num], &sends);

		if (starved)
			*vec_push(&sm->sweep.fixed_arbs) =
				(struct fixed_arb){ node, (uint8_t)num, sends };
		if (starved || sm->sweep.plan->tables->managed)
			carry_arbs(sm, at->guid, num, &ports[num]);
	}
	free(ports);
	if (sm->seen.arbs.n > begin)
		map64_put(&sm->seen.arbs_by_guid, at->guid, (uint32_t)begin);
}

void fixed_gather(struct sm *sm)
{
	struct arb_before *before = sm->seen.arbs.v;
	size_t n = sm->seen.arbs.n;
	struct map64 by_guid = sm->seen.arbs_by_guid;
	const struct refused_kind *kind;

	sm->seen.arbs.v = NULL;
	sm->seen.arbs.n = sm->seen.arbs.cap = 0;
	map64_init(&sm->seen.arbs_by_guid, 16);
	vec_free(&sm->sweep.fixed_arbs);
	vec_free(&sm->sweep.fixed);
	for (uint32_t node = 0; node < sm->sweep.f->n_nodes; node++) {
		struct node_work *w = &sm->sweep.work[node];

		gather_arbs(sm, node, before, n, &by_guid);
		vec_free(&w->arbs);
		if (!w->unknown && sm->seen.maps.n)
			carry_over(sm, node);
		for (size_t i = 0; i < w->fixed.n; i++)
			*vec_push(&sm->sweep.fixed) = w->fixed.v[i];
		kind = w->fixed_doubt ? refusals_kind(store_refusals(sm->store),
						     sm->sweep.f->nodes[node].guid,
						     UMAD_SM_ATTR_SLVL_TABLE) : NULL;
		if (kind && kind->firm)
			remember_refused(sm, node, kind);
		else
			w->doubtful |= w->fixed_doubt;
		vec_free(&w->fixed);
	}
	free(before);
	map64_free(&by_guid);
	keep_for_next(sm);
}
