/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks SL2VL and arbitration tables that the policy does not manage, and replaces those that
 * block SL 0.
 *
 * Without a policy for tables, SL 0 is the only SL that clients are told, so it must get through.
 * The tables are those of power-on, or what another subnet manager wrote: SL 0 may be mapped to
 * VL15 or to a VL that the link lacks, or its VL may have no weight in any arbitration table, so
 * that it never sends.  Such tables are replaced by built-in ones (attribute_default_sl2vl(),
 * attribute_default_vlarb()); all others stay.
 *
 * A device is sampled if nobody has managed it, if it is back from isolation, or if it was ours when this
 * daemon was last started and shows no sign of another manager since.  Samples are up to SAMPLES pairs of ports and the
 * arbitration of one port of a switch, or the SL2VL table of a CA port.  If a sample is bad, and on
 * all other devices, and on devices known to keep tables, the tables of all pairs with a link and
 * the arbitration tables of all ports with a link are read.
 *
 * If a device keeps a table that drops SL 0 or starves it, fixed_table_log.c records that, and no
 * path is given out over it.
 */
#include <inttypes.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "plan/sm_attributes.h"
#include "sm/sm_internal.h"
#include "sm/sweep/reading.h"
#include "sm/write/write.h"

#define SAMPLES 2

struct inherited {
	uint32_t waiting;	/* answers to come */
	bool whole;		/* all tables are read; false: samples */
	bool bad;		/* a table that was read drops SL 0 and must be replaced */
	uint16_t uses[256];	/* by port, bit v: SL 0 leaves on VL v */
	uint16_t serves[256];	/* by port, bit v: VL v has weight in an arbitration table */
	uint64_t arbitrates[4];	/* bit n: the arbitration of port n is read */
};

static bool has_tables(const struct sm *sm, uint32_t node, unsigned num)
{
	const struct fabric *f = sm->sweep.f;
	const struct fabric_node *n = &f->nodes[node];
	uint32_t port = n->port0 + num;

	/* on a switch, port 0 has the capability bit */
	return port_is_linked(f, port) &&
		ib_vls_from_code(sm->sweep.plan->tables->op_vls[port]) > 1 &&
	       (f->ports[node_is_switch(n) ? n->port0 : port].capmask & IB_CAP_SL_MAP);
}

static void ask(struct node_work *w, item_t item)
{
	observe_add(w, item | ITEM_READ);
	w->inherited->waiting++;
}

static void ask_arbitration(const struct sm *sm, uint32_t node, unsigned num)
{
	struct node_work *w = &sm->sweep.work[node];
	struct inherited *h = w->inherited;

	if (h->arbitrates[num / 64] >> num % 64 & 1)
		return;
	for (unsigned block = 1; block <= VLARB_BLOCKS; block++)
		if (vlarb_block_entries(fabric_port(sm->sweep.f, node, num), block)) {
			h->arbitrates[num / 64] |= 1ull << num % 64;
			ask(w, ITEM(ITEM_VLARB, num, block));
		}
}

static void ask_all(struct sm *sm, uint32_t node, const uint8_t *nums, unsigned n)
{
	struct node_work *w = &sm->sweep.work[node];

	w->inherited->whole = true;
	for (unsigned out = 0; out < n; out++) {
		ask(w, ITEM(ITEM_SL2VL, 0, nums[out]));
		for (unsigned in = 0; node_is_switch(&sm->sweep.f->nodes[node]) && in < n; in++)
			if (in != out)
				ask(w, ITEM(ITEM_SL2VL, nums[in], nums[out]));
		ask_arbitration(sm, node, nums[out]);
	}
}

static void ask_samples(struct sm *sm, uint32_t node, const uint8_t *nums, unsigned n)
{
	struct node_work *w = &sm->sweep.work[node];

	if (!node_is_switch(&sm->sweep.f->nodes[node])) {
		for (unsigned i = 0; i < n; i++)
			ask(w, ITEM(ITEM_SL2VL, 0, nums[i]));
		return;
	}
	for (unsigned k = 0; k < SAMPLES && k < n; k++) {
		unsigned out = k * n / SAMPLES, in = (out + 1) % n;

		if (n < SAMPLES) {
			out = k;
			in = (k + 1) % n;
		}
		ask(w, ITEM(ITEM_SL2VL, in == out ? 0 : nums[in], nums[out]));
	}
	ask_arbitration(sm, node, nums[0]);
}

/* Lists ports with a link and tables; returns their number. */
static unsigned list_ports(const struct sm *sm, uint32_t node, uint8_t *nums)
{
	unsigned n = 0;

	for (unsigned num = 1; num <= sm->sweep.f->nodes[node].nports; num++)
		if (has_tables(sm, node, num))
			nums[n++] = (uint8_t)num;
	return n;
}

/* An end port of the node has a LID, or a port has a link in use. */
static bool was_used(const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];
	bool used = n->sw != FABRIC_NONE && f->switches[n->sw].lft_top;

	for (unsigned num = 0; num <= n->nports; num++) {
		const struct fabric_port *p = &f->ports[n->port0 + num];

		used |= p->present && (p->lid || (num && p->state >= IB_PORT_ARMED_S));
	}
	return used;
}

/* A port had a LID from us when this daemon started. */
static bool was_ours(const struct sm *sm, uint32_t node)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[node];

	for (unsigned num = 0; num <= n->nports; num++)
		if (port_is_end(sm->sweep.f, n->port0 + num) &&
		    map64_get(&sm->known.guids,
			      sm->sweep.f->ports[n->port0 + num].guid) != MAP64_NONE)
			return true;
	return false;
}

/* An end port has a MasterSMLID other than our LID. */
static bool has_another_master(const struct sm *sm, uint32_t node)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[node];
	uint16_t own = sm->sweep.plan ? sm->sweep.plan->lid[sm->sweep.f->self] :
		sm->sweep.f->ports[sm->sweep.f->self].lid;

	for (unsigned num = 0; num <= n->nports; num++) {
		const struct fabric_port *p = &sm->sweep.f->ports[n->port0 + num];

		if (port_is_end(sm->sweep.f, n->port0 + num) && p->sm_lid && p->sm_lid != own)
			return true;
	}
	return false;
}

/*
 * A field that we always write has another value, at a port in use or in SwitchInfo, so another
 * manager wrote it.  Discovery has read all of them, so this check costs nothing.
 */
static bool has_other_fields(const struct sm *sm, uint32_t node)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[node];
	struct want_env env = sweep_env(sm);

	env.reregister = false;		/* a request of ours, whatever devices hold */
	if (n->sw != FABRIC_NONE &&
	    switch_info_differs(sm->sweep.plan, env.refused, n->sw, &sm->sweep.f->switches[n->sw]))
		return true;
	for (unsigned num = 0; num <= n->nports; num++) {
		const struct fabric_port *p = &sm->sweep.f->ports[n->port0 + num];

		if (p->present && p->state >= IB_PORT_ARMED_S &&
		    port_is_managed(sm->sweep.f, n->port0 + num) &&
		    port_fields_need_set(&env, env.refused, n->port0 + num))
			return true;
	}
	return false;
}

/* The switch has a MulticastFDBTop other than the highest value, which we always write. */
static bool has_other_mcast_top(const struct fabric *f, uint32_t sw)
{
	const struct fabric_switch *s = &f->switches[sw];

	return fabric_has_mcast_top(f, sw) && s->mcast_top != IB_LID_MCAST_FIRST + s->mcast_cap - 1u;
}

bool inherited_is_possible(const struct sm *sm, uint32_t node)
{
	uint32_t sw = sm->sweep.f->nodes[node].sw;

	if (sm->known.another_was)
		return true;
	if (sm->clients.successor_of || (sm->published &&
			    fabric_same_node(sm->published->f,
					     &sm->sweep.f->nodes[node]) != FABRIC_NONE))
		return false;
	return was_used(sm->sweep.f, node) &&
	       (!was_ours(sm, node) || has_another_master(sm, node) ||
		(sw != FABRIC_NONE && has_other_mcast_top(sm->sweep.f, sw)));
}

/* Another manager has managed the device, as far as it shows. */
static bool was_anothers(const struct sm *sm, uint32_t node)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[node];

	if (sm->known.another_was)
		return true;
	if (sm->clients.successor_of)	/* the previous master was a qosd */
		return false;
	/* under the previous policy the tables could be anything, too */
	if (sm->published && fabric_same_node(sm->published->f, n) != FABRIC_NONE)
		return sm->published->plan->tables->managed;
	if (sm->sweep.work[node].sl2vl.as_left)	/* it was isolated, and nobody managed its tables before */
		return false;
	return was_used(sm->sweep.f, node) &&
	       (!was_ours(sm, node) || has_another_master(sm, node) || has_other_fields(sm, node));
}

/* The device did not take some table before; samples may miss that table. */
static bool keeps_tables(const struct sm *sm, uint32_t node)
{
	static const uint16_t tables[] = { UMAD_SM_ATTR_SLVL_TABLE, UMAD_SM_ATTR_VL_ARB_TABLE };
	uint64_t guid = sm->sweep.f->nodes[node].guid;

	if (map64_get(&sm->known.doubtful, guid) != MAP64_NONE)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		const struct refused_kind *k = refusals_kind(store_refusals(sm->store), guid, tables[i]);

		if (k && (k->by_status || k->by_value))
			return true;
	}
	return false;
}

void inherited_collect(struct sm *sm, uint32_t node)
{
	struct node_work *w = &sm->sweep.work[node];
	uint8_t nums[256];
	unsigned n;

	if (sm->sweep.plan->tables->managed)
		return;
	n = list_ports(sm, node, nums);
	if (!n)
		return;
	w->inherited = xcalloc(1, sizeof(*w->inherited));
	if (was_anothers(sm, node) || keeps_tables(sm, node))
		ask_all(sm, node, nums, n);
	else
		ask_samples(sm, node, nums, n);
}

/* --- answers --- */

static void take_arbitration(struct inherited *h, struct sm *sm, uint32_t node, item_t item,
			     const uint8_t *data)
{
	const struct fabric_port *p = fabric_port(sm->sweep.f, node, ITEM_A(item));
	unsigned n = vlarb_block_entries(p, ITEM_B(item));

	fixed_see_arb(sm, node, item, data, 2 * n);
	for (unsigned i = 0; i < n; i++)
		if (data[2 * i + 1])
			h->serves[p->num] |= (uint16_t)(1u << (data[2 * i] & 0xf));
}

/* Takes an SL2VL table; returns the item to write, or 0. */
static item_t take_map(struct sm *sm, uint32_t node, item_t item, const uint8_t *data)
{
	struct inherited *h = sm->sweep.work[node].inherited;
	unsigned out = ITEM_B(item), vl = data[0] >> 4;
	struct item_want want;
	item_t left = item;

	if (vl < ib_vls_from_code(sm->sweep.plan->tables->op_vls[sm->sweep.f->nodes[node].port0 + out])) {
		h->uses[out] |= (uint16_t)(1u << vl);
		return 0;
	}
	if (!h->whole) {
		h->bad = true;	/* all pairs are about to be read */
		return 0;
	}
	h->uses[out] |= 1;	/* through the built-in table */
	want_item(sm->sweep.plan, node, item, &want);
	if (!fixed_known(sm, node, &left, &want, data))
		left = item;
	h->bad |= left != 0;
	return left;
}

/* A port's arbitration does not serve the VLs of SL 0.  write: queues the built-in tables. */
static bool starves(struct sm *sm, uint32_t node, bool write)
{
	struct node_work *w = &sm->sweep.work[node];
	struct inherited *h = w->inherited;
	bool any = false;

	for (unsigned num = 1; num <= sm->sweep.f->nodes[node].nports; num++) {
		if (!(h->arbitrates[num / 64] >> num % 64 & 1) || !(h->uses[num] & ~h->serves[num]))
			continue;
		any = true;
		for (unsigned block = 1; write && block <= VLARB_BLOCKS; block++)
			if (vlarb_block_entries(fabric_port(sm->sweep.f, node, num), block))
				observe_add(w, ITEM(ITEM_VLARB, num, block));
	}
	return any;
}

static void all_answered(struct sm *sm, uint32_t node)
{
	struct node_work *w = &sm->sweep.work[node];
	struct inherited *h = w->inherited;
	bool starved = starves(sm, node, h->whole);
	uint8_t nums[256];
	unsigned n;

	if (h->whole) {
		sm->sweep.inherited_nodes += h->bad || starved;
	} else if (h->bad || starved) {
		*h = (struct inherited){ 0 };
		n = list_ports(sm, node, nums);
		ask_all(sm, node, nums, n);
	}
}

item_t inherited_take(struct sm *sm, uint32_t node, item_t item, const uint8_t *data, int status)
{
	struct inherited *h = sm->sweep.work[node].inherited;
	item_t left = 0;

	/* a table that cannot be read is left alone */
	if (!status && ITEM_KIND(item) == ITEM_VLARB)
		take_arbitration(h, sm, node, item, data);
	else if (!status)
		left = take_map(sm, node, item, data);
	if (--h->waiting == 0)
		all_answered(sm, node);
	return left;
}

uint16_t inherited_uses(const struct sm *sm, uint32_t node, unsigned num)
{
	const struct inherited *h = sm->sweep.work[node].inherited;

	return h ? h->uses[num] : 0;
}

void inherited_tell(struct sm *sm)
{
	if (sm->sweep.inherited_nodes)
		log_warn("sweep", "tables of another subnet manager dropped or starved SL 0, the only SL "
			 "in use, on %" PRIu32 " device%s: replaced them",
			 sm->sweep.inherited_nodes, sm->sweep.inherited_nodes == 1 ? "" : "s");
}
