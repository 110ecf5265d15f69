/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See difference.h.  Pure functions.
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "plan/sm_attributes.h"
#include "sm/sweep/difference.h"

/* --- tables --- */

/* We have configured the port, and it has not restarted since. */
static bool port_kept_state(const struct plan *old, const struct refusals *refused,
			    uint32_t old_port, const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port], *q = &old->f->ports[old_port];

	if (!p->present || !q->present)
		return p->present == q->present;
	/* refused values stay as they were left */
	if (port_is_end(f, port) && p->lid == q->lid && p->sm_lid == q->sm_lid &&
	    p->state == q->state &&
	    refusals_kind(refused, port_node(f, port)->guid, UMAD_SM_ATTR_PORT_INFO))
		return true;
	if (port_is_end(f, port) && (p->lid != old->lid[old_port] || p->sm_lid != q->sm_lid))
		return false;
	return node_is_switch(port_node(f, port)) || p->state >= IB_PORT_ARMED_S;
}

bool node_is_as_planned(const struct plan *old, const struct map64 *doubtful,
			const struct refusals *refused, const struct fabric *f, uint32_t node,
			uint32_t *old_node)
{
	const struct fabric_node *n = &f->nodes[node];

	if (!old || map64_get(doubtful, n->guid) != MAP64_NONE)
		return false;
	*old_node = fabric_same_node(old->f, n);
	if (*old_node == FABRIC_NONE)
		return false;
	/* it may have kept another LinearFDBTop: the tables were written nevertheless */
	if (node_is_switch(n) &&
	    f->switches[n->sw].lft_top != plan_lft_top(old, old->f->nodes[*old_node].sw) &&
	    f->switches[n->sw].lft_top != old->f->switches[old->f->nodes[*old_node].sw].lft_top)
		return false;
	for (unsigned num = 0; num <= n->nports; num++)
		if (!port_kept_state(old, refused, old->f->nodes[*old_node].port0 + num, f, n->port0 + num))
			return false;
	return true;
}

bool item_is_planned(const struct plan *p, uint32_t node, item_t item)
{
	uint32_t port0 = p->f->nodes[node].port0;

	switch (ITEM_KIND(item)) {
	case ITEM_LFT:
		return plan_lft_entries(p, p->f->nodes[node].sw, ITEM_B(item)) != 0;
	case ITEM_PKEY:
		return !node_is_switch(&p->f->nodes[node]) || !ITEM_A(item) ||
		       p->partitions->enforce[port0 + ITEM_A(item)];
	case ITEM_SL2VL:
		return p->tables->managed &&
		       qos_sl2vl_id(p->tables, p->f, node, ITEM_A(item), ITEM_B(item)) != TABLE_NONE;
	case ITEM_VLARB:
		return p->tables->managed &&
		       p->tables->arb[port0 + ITEM_A(item)] != TABLE_NONE;
	default:
		return true;
	}
}

enum item_change item_change(const struct plan *old, uint32_t old_node,
			     const struct plan *p, uint32_t node, item_t item)
{
	struct item_want now, before;

	/* a port that has a link again may still hold its earlier tables */
	if (!item_is_planned(old, old_node, item))
		return ITEM_KIND(item) == ITEM_LFT ? ITEM_DIFFERS : ITEM_UNKNOWN;
	want_item(p, node, item, &now);
	want_item(old, old_node, item, &before);
	return now.len == before.len && !memcmp(now.data, before.data, now.len) ?
	       ITEM_SAME : ITEM_DIFFERS;
}

/* --- all items of a node --- */

static bool same_bytes(const void *a, const void *b, size_t n)
{
	return n == 0 || !memcmp(a, b, n);
}

void plan_pair_init(struct plan_pair *x, const struct plan *old, const struct plan *p)
{
	*x = (struct plan_pair){ .old = old, .p = p };
	if (!old)
		return;
	const struct qos_tables *a = old->tables, *b = p->tables;

	x->tables_alike = a->managed == b->managed && a->n_maps == b->n_maps &&
			  a->n_arbs == b->n_arbs &&
			  same_bytes(a->maps, b->maps, a->n_maps * sizeof(*a->maps)) &&
			  same_bytes(a->arbs, b->arbs, a->n_arbs * sizeof(*a->arbs));
}

static bool same_pkeys(struct plan_pair *x, uint32_t old_port, uint32_t port)
{
	uint32_t i = x->old->partitions->table[old_port], k = x->p->partitions->table[port];
	const struct pkey_table *a = &x->old->partitions->tables[i];
	const struct pkey_table *b = &x->p->partitions->tables[k];

	if (i == x->pkeys_old && k == x->pkeys)		/* initially both are "none" */
		return true;
	if (a->n != b->n || !same_bytes(a->keys, b->keys, a->n * sizeof(*a->keys)))
		return false;
	x->pkeys_old = i;
	x->pkeys = k;
	return true;
}

/* Compares all inputs of a port's items except for its SL2VL tables. */
static bool same_port_items(struct plan_pair *x, uint32_t old_port, uint32_t port)
{
	const struct fabric_port *a = &x->old->f->ports[old_port], *b = &x->p->f->ports[port];
	const struct qos_tables *s = x->old->tables, *t = x->p->tables;

	return a->present == b->present &&
	       (a->peer == FABRIC_NONE) == (b->peer == FABRIC_NONE) &&
	       x->old->partitions->enforce[old_port] == x->p->partitions->enforce[port] &&
	       same_pkeys(x, old_port, port) &&
	       (!t->managed || (s->arb[old_port] == t->arb[port] &&
				s->ca_map[old_port] == t->ca_map[port] &&
				a->vlarb_low_cap == b->vlarb_low_cap &&
				a->vlarb_high_cap == b->vlarb_high_cap));
}

static bool same_maps(const struct plan_pair *x, uint32_t old_sw, uint32_t sw, size_t pairs)
{
	const struct switch_maps *a = &x->old->tables->sw[old_sw], *b = &x->p->tables->sw[sw];

	if (!a->ids || !b->ids)
		return !a->ids && !b->ids && a->uniform == b->uniform;
	return same_bytes(a->ids, b->ids, pairs * sizeof(*a->ids));
}

static bool same_routes(const struct plan_pair *x, uint32_t old_sw, uint32_t sw)
{
	const struct lfts *a = x->old->lfts, *b = x->p->lfts;

	return x->old->lid_top == x->p->lid_top && a->stride == b->stride &&
	       same_bytes(a->entries + (size_t)old_sw * a->stride,
			  b->entries + (size_t)sw * b->stride, a->stride);
}

static bool same_switch_items(const struct plan_pair *x, const struct fabric_node *old,
			      const struct fabric_node *n, bool no_routes)
{
	const struct fabric_switch *a = &x->old->f->switches[old->sw];
	const struct fabric_switch *b = &x->p->f->switches[n->sw];

	return a->enforce_cap == b->enforce_cap && a->lft_cap == b->lft_cap &&
	       a->enhanced_port0 == b->enhanced_port0 &&
	       (!x->p->tables->managed ||
		same_maps(x, old->sw, n->sw, (n->nports + 1u) * (n->nports + 1u))) &&
	       (no_routes || same_routes(x, old->sw, n->sw));
}

bool node_items_same(struct plan_pair *x, uint32_t old_node, uint32_t node, bool no_routes)
{
	const struct fabric_node *old = &x->old->f->nodes[old_node], *n = &x->p->f->nodes[node];

	if (!x->tables_alike || old->nports != n->nports ||
	    old->partition_cap != n->partition_cap || node_is_switch(old) != node_is_switch(n))
		return false;
	for (unsigned num = 0; num <= n->nports; num++)
		if (!same_port_items(x, old->port0 + num, n->port0 + num))
			return false;
	return !node_is_switch(n) || same_switch_items(x, old, n, no_routes);
}

/* --- PortInfo and SwitchInfo --- */

unsigned port_next_state(const struct fabric *f, uint32_t port)
{
	return port_is_linked(f, port) && f->ports[port].state == IB_PORT_INIT_S ?
	       IB_PORT_ARMED_S : IB_PORT_NOP;
}

bool port_info_differs(const struct want_env *e, const struct refusals *refused, uint32_t port,
		       const uint8_t info[64])
{
	const struct fabric *f = e->plan->f;
	uint64_t want, got;
	uint8_t data[64];

	/* mostly nothing differs, and then no digests are needed */
	memcpy(data, info, sizeof(data));
	want_port_fields(e, port, data);
	if (!memcmp(data, info, sizeof(data)))
		return false;
	want = port_info_digest(e, port, data);
	got = port_info_digest(e, port, info);
	return want != got &&
	       !refusals_have(refused, port_node(f, port)->guid, UMAD_SM_ATTR_PORT_INFO,
			      f->ports[port].num, want, got);
}

uint32_t port_set_modifier(unsigned num, unsigned state)
{
	return num | state << 8;
}

static bool state_is_refused(const struct refusals *refused, const struct fabric *f, uint32_t port,
			     unsigned state)
{
	return refusals_have_status(refused, port_node(f, port)->guid, UMAD_SM_ATTR_PORT_INFO,
				    port_set_modifier(f->ports[port].num, state), state);
}

bool port_state_is_refused(const struct refusals *refused, const struct fabric *f, uint32_t port)
{
	return state_is_refused(refused, f, port, IB_PORT_ARMED_S) ||
	       state_is_refused(refused, f, port, IB_PORT_ACTIVE_S);
}

unsigned port_set_state(const struct want_env *e, const struct refusals *refused, uint32_t port)
{
	unsigned state = port_next_state(e->plan->f, port);

	return state != IB_PORT_NOP && state_is_refused(refused, e->plan->f, port, state) ?
	       IB_PORT_NOP : state;
}

/* PortInfo of the port: its latest answer, if that differs from the published one. */
static const uint8_t *info_of(const struct want_env *e, uint32_t port)
{
	size_t i;

	LOWER_BOUND(i, 0, e->n_answers, e->answers[i].port < port);
	return i < e->n_answers && e->answers[i].port == port ? e->answers[i].info :
	       e->plan->f->ports[port].info;
}

bool port_fields_need_set(const struct want_env *e, const struct refusals *refused, uint32_t port)
{
	return port_lost_registrations(e, port) ||
	       port_info_differs(e, refused, port, info_of(e, port));
}

bool port_needs_set(const struct want_env *e, const struct refusals *refused, uint32_t port)
{
	return port_set_state(e, refused, port) != IB_PORT_NOP ||
	       port_fields_need_set(e, refused, port);
}

uint64_t switch_info_digest(unsigned lft_top, unsigned lifetime)
{
	return hash64((uint64_t)lft_top << 8 | lifetime);
}

bool switch_info_is_fixed(const struct fabric_switch *says, const struct refused_set *r)
{
	return refusal_by_status(r) ||
	       r->got == switch_info_digest(says->lft_top, says->lifetime);
}

/*
 * Fields other than MulticastFDBTop differ.  A switch that did not answer SwitchInfo is left alone:
 * LinearFDBTop of a plan that does not know the size of its table would make it drop everything.
 */
static bool rest_differs(const struct plan *p, const struct refusals *refused, uint32_t sw,
			 const struct fabric_switch *is)
{
	unsigned wanted = p->settings->packet_lifetime, top = plan_lft_top(p, sw);

	return !is->unread && (is->lft_top != top || is->lifetime != wanted) &&
	       !refusals_have(refused, p->f->nodes[p->f->switches[sw].node].guid,
			      UMAD_SM_ATTR_SWITCH_INFO, 0,
			      switch_info_digest(top, wanted),
			      switch_info_digest(is->lft_top, is->lifetime));
}

bool switch_info_differs(const struct plan *p, const struct refusals *refused, uint32_t sw,
			 const struct fabric_switch *is)
{
	return is->mcast_top != want_mcast_top(p, refused, sw, is->mcast_top) ||
	       rest_differs(p, refused, sw, is);
}

bool switch_info_rest_needs_set(const struct want_env *e, const struct refusals *refused,
				uint32_t sw)
{
	const struct plan *p = e->plan;
	const struct fabric_switch *s = &p->f->switches[sw];

	/* PortStateChange of a change before we looked must be cleared */
	return (s->port_change &&
		!refusals_have_status(refused, p->f->nodes[s->node].guid, UMAD_SM_ATTR_SWITCH_INFO, 0,
				      switch_info_digest(plan_lft_top(p, sw),
							 p->settings->packet_lifetime))) ||
	       rest_differs(p, refused, sw, s);
}

bool switch_info_needs_set(const struct want_env *e, const struct refusals *refused, uint32_t sw)
{
	const struct fabric_switch *s = &e->plan->f->switches[sw];

	return s->mcast_top != want_mcast_top(e->plan, refused, sw, s->mcast_top) ||
	       switch_info_rest_needs_set(e, refused, sw);
}

/* --- tables that were read --- */

/*
 * The device keeps another table for a pair of ports, and paths already follow that table
 * (fixed_table_log.c).
 */
static bool is_kept(const struct plan *p, uint32_t node, item_t item, const uint8_t *got)
{
	uint16_t kept;
	uint8_t data[8];

	if (ITEM_KIND(item) != ITEM_SL2VL || !p->tables->fixed)
		return false;
	kept = qos_sl2vl_in_force(p->tables, p->f, node, ITEM_A(item), ITEM_B(item));
	if (kept == TABLE_NONE)
		return false;
	attribute_sl2vl(&p->tables->maps[kept], data);
	return !memcmp(data, got, sizeof(data));
}

bool item_differs(const struct plan *p, const struct refusals *refused, uint32_t node, item_t item,
		  const struct item_want *want, const uint8_t got[64])
{
	return memcmp(got, want->data, want->len) &&
	       !refusals_have(refused, p->f->nodes[node].guid, want->attr, want->mod,
			      hash_bytes(want->data, want->len, 0), hash_bytes(got, want->len, 0)) &&
	       !is_kept(p, node, item, got);
}

/* --- the third pass --- */

struct want_env active_env(const struct want_env *e)
{
	struct want_env then = *e;

	then.reregister = false;	/* requested with the step to Armed */
	then.tables_written = true;
	return then;
}

bool port_may_enforce(const struct want_env *e, const struct refusals *refused, uint32_t port)
{
	return port_is_linked(e->plan->f, port) && port_is_to_enforce(e->plan, port) &&
	       port_needs_set(e, refused, port);
}

/* --- at publishing --- */

bool port_is_announced(const struct want_env *e, const struct refusals *refused, uint32_t port,
		       struct announced *out)
{
	const struct fabric_port *p = &e->plan->f->ports[port];
	uint64_t guid = port_node(e->plan->f, port)->guid, want, got;

	if (p->unsure || !port_awaits_publishing(e, port) || !port_is_managed(e->plan->f, port))
		return false;
	memcpy(out->info, p->info, sizeof(out->info));
	want_announced_fields(e, port, out->info);
	want = port_info_digest(e, port, out->info);
	got = port_info_digest(e, port, p->info);
	out->reregister = port_owes_registrations(e, port);
	/*
	 * A Set that is sent anyway also carries fields that the port ignored before: perhaps only
	 * its answer was wrong, and without these fields the Set would write the answer's values to
	 * the port.
	 */
	out->changes = want != got &&
		       (out->reregister ||
			!refusals_have(refused, guid, UMAD_SM_ATTR_PORT_INFO, p->num, want, got)) &&
		       !refusals_have_status(refused, guid, UMAD_SM_ATTR_PORT_INFO, p->num, want);
	if (!out->changes)
		memcpy(out->info, p->info, sizeof(out->info));
	return out->changes || out->reregister;
}

/* --- the whole difference --- */

struct tally {
	const struct plan *old, *next;
	uint32_t node, old_node;
	bool known;		/* the node's tables are those of the old plan */
	VEC(item_t) sure, perhaps;	/* items that are certainly written, and those that may be */
	struct difference *out;
	item_t counted;		/* item of the node that was counted last, or 0 */
};

/* Counts SL2VL tables by pair of ports; VLArb and P_Key tables by port, however many blocks differ. */
static void count_table(struct tally *t, item_t item)
{
	uint32_t port = t->next->f->nodes[t->node].port0 + item_port(item);
	struct tables_changed *c = &t->out->tables[port_class_of(t->next->f, port)];
	bool again = ITEM_KIND(t->counted) == ITEM_KIND(item) &&
		     ITEM_A(t->counted) == ITEM_A(item);

	if (ITEM_KIND(item) == ITEM_SL2VL)
		c->sl2vl++;
	else if (ITEM_KIND(item) == ITEM_VLARB && !again)
		c->vlarb++;
	else if (ITEM_KIND(item) == ITEM_PKEY && !again)
		c->pkey++;
	t->counted = item;
}

static void tally_item(void *arg, item_t item)
{
	struct tally *t = arg;
	enum item_change change = item_change(t->old, t->old_node, t->next, t->node, item);
	struct smp s;

	if (change != ITEM_SAME && ITEM_KIND(item) != ITEM_LFT)
		count_table(t, item);
	if ((t->known && change == ITEM_SAME) || !want_route(t->next->f, t->node,
							     item_port(item), &s))
		return;
	*vec_push(&t->perhaps) = item;
	if (t->known && change == ITEM_DIFFERS)
		*vec_push(&t->sure) = item;
}

static void count_items(const struct tally *t, item_t *items, size_t n, uint32_t *sets)
{
	struct item_want want;

	n = optimized_sl2vl_join(t->next, t->node, items, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		want_item(t->next, t->node, items[i], &want);
		sets[want.attr]++;
	}
}

static void count_sets(struct difference *out, unsigned attr, uint32_t n)
{
	out->least[attr] += n;
	out->most[attr] += n;
}

/* PortState after the first pass of writing. */
static unsigned state_then(const struct want_env *e, const struct refusals *refused, uint32_t port)
{
	unsigned next = port_set_state(e, refused, port);

	return next != IB_PORT_NOP ? next : e->plan->f->ports[port].state;
}

static bool will_activate(const struct want_env *e, const struct refusals *refused, uint32_t port)
{
	const struct fabric *f = e->plan->f;

	return port_is_linked(f, port) && !port_state_is_refused(refused, f, port) &&
	       state_then(e, refused, port) == IB_PORT_ARMED_S &&
	       state_then(e, refused, f->ports[port].peer) >= IB_PORT_ARMED_S;
}

/* live_vls.c sends a Set that changes OperationalVLs or NeighborMTU of an Active link. */
static bool link_fields_change(const struct plan *p, uint32_t port)
{
	uint8_t vls = port_new_vls(p, port), mtu = port_new_mtu(p, port);

	return (vls && vls != p->f->ports[port].op_vls) ||
	       (mtu && mtu != p->f->ports[port].neighbor_mtu);
}

static void tally_port(const struct tally *t, const struct want_env *e,
		       const struct refusals *refused, unsigned num)
{
	const struct fabric *f = t->next->f;
	uint32_t port = f->nodes[t->node].port0 + num;
	struct want_env then = active_env(e);
	struct announced announced;
	struct smp s;

	if (!want_route(f, t->node, num, &s))
		return;
	if (port_is_managed(f, port) && f->ports[port].unsure)
		t->out->most[UMAD_SM_ATTR_PORT_INFO]++;		/* it is read first */
	else if (port_is_managed(f, port) && port_needs_set(e, refused, port))
		count_sets(t->out, UMAD_SM_ATTR_PORT_INFO, 1);
	if (port_is_announced(e, refused, port, &announced))
		count_sets(t->out, UMAD_SM_ATTR_PORT_INFO, 1);
	if (link_fields_change(t->next, port) && !f->ports[port].unsure)
		count_sets(t->out, UMAD_SM_ATTR_PORT_INFO, 1);
	if (will_activate(e, refused, port) || port_may_enforce(&then, refused, port))
		count_sets(t->out, UMAD_SM_ATTR_PORT_INFO, 1);
}

static unsigned high_limit(const struct plan *p, uint32_t port)
{
	return p->tables->managed && p->tables->arb[port] != TABLE_NONE ?
	       p->tables->arbs[p->tables->arb[port]].high_limit : UINT16_MAX;
}

/* Compares a port in two plans of the same fabric. */
static void compare_port(const struct plan *old, const struct plan *next, uint32_t port,
			 struct difference *out)
{
	struct tables_changed *c;

	if (!next->f->ports[port].present)
		return;
	c = &out->tables[port_class_of(next->f, port)];
	c->op_vls += old->tables->op_vls[port] != next->tables->op_vls[port];
	c->high_limit += high_limit(next, port) != UINT16_MAX &&
			 high_limit(old, port) != high_limit(next, port);
}

static void tally_node(struct tally *t, const struct want_env *e, const struct sm_knowledge *k)
{
	const struct fabric *f = t->next->f;
	const struct fabric_node *n = &f->nodes[t->node];
	struct smp s;

	t->old_node = t->node;
	t->known = node_is_as_planned(t->old, &k->doubtful, k->refused, f, t->node, &t->old_node);
	t->sure.n = t->perhaps.n = 0;
	t->counted = 0;
	want_items(t->next, t->node, tally_item, t);
	count_items(t, t->sure.v, t->sure.n, t->out->least);
	count_items(t, t->perhaps.v, t->perhaps.n, t->out->most);
	if (n->sw != FABRIC_NONE && switch_info_needs_set(e, k->refused, n->sw) &&
	    want_route(f, t->node, 0, &s))
		count_sets(t->out, UMAD_SM_ATTR_SWITCH_INFO, 1);
	for (unsigned num = 0; num <= n->nports; num++) {
		tally_port(t, e, k->refused, num);
		compare_port(t->old, t->next, n->port0 + num, t->out);
	}
}

void sm_difference(const struct plan *old, const struct plan *next,
		   const struct sm_knowledge *k, struct difference *out)
{
	struct tally t = { .old = old, .next = next, .out = out };
	struct want_env e = { .plan = next, .sm_lid = next->lid[next->f->self],
			      .m_key = k->m_key, .reregister = k->reregister,
			      .asked = &k->asked, .refused = k->refused,
			      .answers = k->answers, .n_answers = k->n_answers };

	memset(out, 0, sizeof(*out));
	for (t.node = 0; t.node < next->f->n_nodes; t.node++)
		tally_node(&t, &e, k);
	vec_free(&t.sure);
	vec_free(&t.perhaps);
}
