/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See want.h.  Puts the plan into the form of attributes.
 */
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/iba/units.h"
#include "plan/sm_attributes.h"
#include "sm/sweep/want.h"

#define LINK_DOWN_DEFAULT_POLLING 2
#define EXT_2 56		/* byte of PortInfo: LinkSpeedExtActive2, -Supported2, -Enabled2 */
#define EXT_2_ENABLED 7u	/* bits of it that are LinkSpeedExtEnabled2 */

static void set(uint8_t *info, enum MAD_FIELDS field, uint32_t v)
{
	mad_set_field(info, 0, field, v);
}

static uint32_t get(const uint8_t *info, enum MAD_FIELDS field)
{
	/* libibmad takes its buffer without const, and only reads */
	return mad_get_field((void *)(uintptr_t)info, 0, field);
}

bool port_is_linked(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	return p->present && p->num && p->peer != FABRIC_NONE && f->ports[p->peer].present &&
	       p->state >= IB_PORT_INIT_S;
}

bool port_is_managed(const struct fabric *f, uint32_t port)
{
	return f->ports[port].present && (port_is_end(f, port) || port_is_linked(f, port));
}

uint32_t link_near_end(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return port_node(f, peer)->hops < port_node(f, port)->hops ? peer : port;
}

uint32_t agent_port(const struct fabric *f, uint32_t node, unsigned num)
{
	const struct fabric_node *n = &f->nodes[node];

	return n->port0 + (node_is_switch(n) ? 0u : num ? num : n->local_port);
}

uint64_t port_m_key(const struct fabric *f, uint32_t node, unsigned num)
{
	const struct fabric_port *p = &f->ports[agent_port(f, node, num)];

	return p->present ? get_be64(p->info) : 0;
}

uint32_t port_info_modifier(const struct fabric *f, uint32_t node, unsigned num)
{
	bool extended = f->ports[agent_port(f, node, num)].capmask & IB_CAP_EXT_SPEEDS;

	return num | (extended ? IB_PORT_INFO_EXT_SPEEDS : 0);
}

bool want_route(const struct fabric *f, uint32_t node, unsigned num, struct smp *s)
{
	const struct fabric_node *n = &f->nodes[node];
	uint32_t peer;

	s->last_hop = 0;
	if (!node_is_switch(n) && num && num != n->local_port) {
		peer = fabric_port(f, node, num)->peer;
		if (peer == FABRIC_NONE)
			return false;
		n = port_node(f, peer);
		s->last_hop = f->ports[peer].num;
		if (!node_is_switch(n) || n->hops >= IB_DR_HOPS_MAX)
			return false;
	}
	if (n->hops == FABRIC_UNREACHED)
		return false;
	s->route = f->routes + n->route;
	s->hops = n->hops;
	s->m_key = port_m_key(f, node, num);
	return true;
}

static bool is_end(const struct want_env *e, uint32_t port)
{
	return port_is_end(e->plan->f, port);
}

/* --- PortInfo --- */

/* Fields of ports that have LIDs. */
static void want_end_port(const struct want_env *e, uint32_t port, uint8_t *d)
{
	const struct settings *s = e->plan->settings;

	set(d, IB_PORT_LID_F, e->plan->lid[port]);
	set(d, IB_PORT_LMC_F, e->plan->lmc[port]);
	/* all in one Set: without a key the others mean nothing */
	mad_set_field64(d, 0, IB_PORT_MKEY_F, e->m_key);
	set(d, IB_PORT_MKEY_LEASE_F, e->m_key ? s->m_key_lease : 0);
	set(d, IB_PORT_MKEY_PROT_BITS_F, e->m_key ? s->m_key_protect : 0);
	mad_set_field64(d, 0, IB_PORT_GID_PREFIX_F, s->subnet_prefix);
}

/*
 * The extended speeds that both ends of a port's link know, supported or not, as a mask of both
 * groups.  It is best not to offer any to an end that knows none.
 */
static unsigned known_ext_speeds(const struct fabric *f, uint32_t port)
{
	const uint32_t ends[] = { port, f->ports[port].peer };
	unsigned known = UINT8_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const struct fabric_port *p = &f->ports[ends[i]];
		const struct fabric_port *a = &f->ports[agent_port(f, p->node, p->num)];

		if (!(a->capmask & IB_CAP_EXT_SPEEDS))
			return 0;
		if (!(a->capmask & IB_CAP_MASK2) ||
		    !(get(a->info, IB_PORT_CAPMASK2_F) & IB_CAP2_EXT_SPEEDS_2))
			known &= (1u << IB_EXT_GROUP_2) - 1;
	}
	return known;
}

/* LinkSpeedExtEnabled contains a speed that the port does not support. */
static bool enables_too_much(const uint8_t *info)
{
	unsigned enabled = get(info, IB_PORT_LINK_SPEED_EXT_ENABLED_F);

	return enabled != IB_EXT_DISABLED && enabled & ~ib_ext_supported(info) & 0xf;
}

/*
 * With `supported` a port should have all supported speeds enabled; else the enabled ones stay. An
 * extended speed that is enabled but not supported is always removed, as a device may refuse each
 * Set that contains it.
 */
static void want_speeds(const struct want_env *e, uint32_t port, uint8_t *d)
{
	const struct settings *s = e->plan->settings;
	unsigned supported = ib_ext_supported(d), known = known_ext_speeds(e->plan->f, port);

	if (s->link_width == LINK_SUPPORTED && get(d, IB_PORT_LINK_WIDTH_SUPPORTED_F))
		set(d, IB_PORT_LINK_WIDTH_ENABLED_F, get(d, IB_PORT_LINK_WIDTH_SUPPORTED_F));
	if (s->link_speed == LINK_SUPPORTED && get(d, IB_PORT_LINK_SPEED_SUPPORTED_F))
		set(d, IB_PORT_LINK_SPEED_ENABLED_F, get(d, IB_PORT_LINK_SPEED_SUPPORTED_F));
	if (s->link_speed == LINK_SUPPORTED && supported & known & 0xf)
		set(d, IB_PORT_LINK_SPEED_EXT_ENABLED_F, supported & 0xf);
	else if (supported & 0xf && enables_too_much(d))
		set(d, IB_PORT_LINK_SPEED_EXT_ENABLED_F,
		    get(d, IB_PORT_LINK_SPEED_EXT_ENABLED_F) & supported ?
		    get(d, IB_PORT_LINK_SPEED_EXT_ENABLED_F) & supported : IB_EXT_DISABLED);
	if (s->link_speed == LINK_SUPPORTED && (supported & known) >> IB_EXT_GROUP_2)
		d[EXT_2] = (uint8_t)((d[EXT_2] & ~EXT_2_ENABLED) | supported >> IB_EXT_GROUP_2);
}

/* The link may carry data: one Active end is enough. */
static bool link_is_at_work(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	return p->state == IB_PORT_ACTIVE_S ||
	       (p->peer != FABRIC_NONE && f->ports[p->peer].state == IB_PORT_ACTIVE_S);
}

uint8_t port_new_vls(const struct plan *pl, uint32_t port)
{
	const struct fabric *f = pl->f;
	const struct fabric_port *p = &f->ports[port], *q;
	uint8_t code, now;

	if (!port_is_linked(f, port) || !port_is_linked(f, p->peer) ||
	    !link_is_at_work(f, port) || pl->settings->active_vls == ACTIVE_VLS_WAIT)
		return 0;
	q = &f->ports[p->peer];
	code = pl->tables->op_vls[port];
	if (pl->tables->op_vls[p->peer] < code)
		code = pl->tables->op_vls[p->peer];
	now = p->op_vls < q->op_vls ? p->op_vls : q->op_vls;
	/* tables that are not ours may use any VL */
	if (code < now && !pl->tables->managed)
		code = now;
	return code && (p->op_vls != code || q->op_vls != code) ? code : 0;
}

static uint8_t link_mtu_cap(const struct fabric *f, uint32_t port)
{
	uint8_t mtu = port_link_mtu(f, port);

	return mtu ? mtu : 1;
}

uint8_t port_new_mtu(const struct plan *pl, uint32_t port)
{
	const struct fabric *f = pl->f;
	const struct fabric_port *p = &f->ports[port];
	uint8_t code;

	if (!port_is_linked(f, port) || !port_is_linked(f, p->peer) || !link_is_at_work(f, port))
		return 0;
	code = link_mtu_cap(f, port);
	return p->neighbor_mtu != code || f->ports[p->peer].neighbor_mtu != code ? code : 0;
}

static unsigned mtu_of(const struct want_env *e, uint32_t port)
{
	const struct fabric_port *p = &e->plan->f->ports[port];

	return p->neighbor_mtu && link_is_at_work(e->plan->f, port) ? p->neighbor_mtu :
								      link_mtu_cap(e->plan->f, port);
}

/*
 * The OperationalVLs to write.  The two ends of a link at work change together, not in this Set
 * (live_vls.c).
 */
static unsigned vls_of(const struct want_env *e, uint32_t port)
{
	const struct fabric_port *p = &e->plan->f->ports[port];

	return p->op_vls && link_is_at_work(e->plan->f, port) ? p->op_vls :
								 e->plan->tables->op_vls[port];
}

static bool enforces_now(const uint8_t *info)
{
	return get(info, IB_PORT_PART_EN_INB_F) || get(info, IB_PORT_PART_EN_OUTB_F);
}

/*
 * Partition enforcement of a switch port.  Where it should end, it ends at once.  On a port that
 * carries traffic it begins when the P_Key table is in place; on others it may begin earlier, as
 * their table is written before they become Active.  So no packet ever passes unchecked.
 */
static void want_enforcement(const struct want_env *e, uint32_t port, uint8_t *d)
{
	const struct plan *pl = e->plan;
	const struct fabric_port *p = &pl->f->ports[port];
	const struct fabric_switch *s = &pl->f->switches[port_node(pl->f, port)->sw];
	const struct refused_kind *k = refusals_kind(e->refused, port_node(pl->f, port)->guid,
						     UMAD_SM_ATTR_PKEY_TABLE);
	/*
	 * with a table that it did not take it would drop packets that must pass; port 0 drops only
	 * its own
	 */
	bool on = pl->partitions->enforce[port] && !(k && k->of_ports) &&
		  (e->tables_written || p->state < IB_PORT_ACTIVE_S || enforces_now(p->info));

	set(d, IB_PORT_PART_EN_INB_F,
	    on && s->enforces_in && (pl->settings->partition_enforcement & ENFORCE_IN));
	set(d, IB_PORT_PART_EN_OUTB_F,
	    on && s->enforces_out && (pl->settings->partition_enforcement & ENFORCE_OUT));
}

bool port_is_to_enforce(const struct plan *p, uint32_t port)
{
	const struct fabric_port *fp = &p->f->ports[port];

	return p->partitions->enforce[port] && fp->state == IB_PORT_ACTIVE_S &&
	       !enforces_now(fp->info);
}

/* Fields of ports that have a link. */
static void want_linked_port(const struct want_env *e, uint32_t port, uint8_t *d)
{
	const struct plan *pl = e->plan;
	const struct settings *s = pl->settings;
	bool on_switch = node_is_switch(port_node(pl->f, port));
	bool to_switch = node_is_switch(port_node(pl->f, pl->f->ports[port].peer));
	unsigned vls = vls_of(e, port);

	want_speeds(e, port, d);
	set(d, IB_PORT_NEIGHBOR_MTU_F, mtu_of(e, port));
	if (vls)
		set(d, IB_PORT_OPER_VLS_F, vls);
	if (on_switch) {
		set(d, IB_PORT_HOQ_LIFE_F, to_switch ? s->hoq_lifetime : s->hoq_lifetime_end);
		set(d, IB_PORT_VL_STALL_COUNT_F, to_switch ? s->vl_stall_count : s->vl_stall_count_end);
		want_enforcement(e, port, d);
	}
}

void want_announced_fields(const struct want_env *e, uint32_t port, uint8_t d[64])
{
	const struct settings *s = e->plan->settings;
	const struct policy *pol = e->plan->policy;
	const struct qos_tables *t = e->plan->tables;

	if (is_end(e, port)) {
		set(d, IB_PORT_SMLID_F, e->sm_lid);
		set(d, IB_PORT_SMSL_F, pol->levels[pol->default_level].sl);
		set(d, IB_PORT_SUBN_TIMEOUT_F, s->subnet_timeout);
	}
	if (port_is_linked(e->plan->f, port)) {
		set(d, IB_PORT_LINK_DOWN_DEF_F, LINK_DOWN_DEFAULT_POLLING);
		set(d, IB_PORT_LOCAL_PHYS_ERR_F, s->local_phy_errors);
		set(d, IB_PORT_OVERRUN_ERR_F, s->overrun_errors);
	}
	/* ports with arbitration tables: those with a link, and enhanced port 0 of a switch */
	if (t->managed && t->arb[port] != TABLE_NONE)
		set(d, IB_PORT_VL_HIGH_LIMIT_F, t->arbs[t->arb[port]].high_limit);
}

void want_port_fields(const struct want_env *e, uint32_t port, uint8_t d[64])
{
	if (is_end(e, port))
		want_end_port(e, port, d);
	if (port_is_linked(e->plan->f, port))
		want_linked_port(e, port, d);
	if (!port_awaits_publishing(e, port))
		want_announced_fields(e, port, d);
}

static bool lost_registrations(const struct want_env *e, uint32_t port)
{
	const struct fabric_port *p = &e->plan->f->ports[port];

	return e->reregister && is_end(e, port) && (p->capmask & IB_CAP_CLIENT_REREG) &&
	       (!e->asked || map64_get(e->asked, p->guid) == MAP64_NONE);
}

bool port_owes_registrations(const struct want_env *e, uint32_t port)
{
	const struct fabric_port *p = &e->plan->f->ports[port];

	return is_end(e, port) && (p->capmask & IB_CAP_CLIENT_REREG) &&
	       (lost_registrations(e, port) || p->state < IB_PORT_ARMED_S ||
		(p->sm_lid != e->sm_lid && (!p->sm_lid || p->sm_lid != e->successor_of)));
}

bool port_awaits_publishing(const struct want_env *e, uint32_t port)
{
	const struct fabric_port *p = &e->plan->f->ports[port];

	return is_end(e, port) && (p->state == IB_PORT_ACTIVE_S || !p->num) && p->lid &&
	       p->lid == e->plan->lid[port] &&
	       (p->sm_lid != e->sm_lid || port_owes_registrations(e, port));
}

bool port_lost_registrations(const struct want_env *e, uint32_t port)
{
	return lost_registrations(e, port) && !port_awaits_publishing(e, port);
}

bool port_is_to_reregister(const struct want_env *e, uint32_t port)
{
	return port_owes_registrations(e, port) && !port_awaits_publishing(e, port);
}

/* In LinkWidthEnabled and all LinkSpeed…Enabled, 0 means "no change". */
static void keep_same_speeds(const uint8_t *now, uint8_t *data)
{
	static const enum MAD_FIELDS fields[] = {
		IB_PORT_LINK_WIDTH_ENABLED_F, IB_PORT_LINK_SPEED_ENABLED_F,
		IB_PORT_LINK_SPEED_EXT_ENABLED_F,
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (get(data, fields[i]) == get(now, fields[i]))
			set(data, fields[i], 0);
	if ((data[EXT_2] & EXT_2_ENABLED) == (now[EXT_2] & EXT_2_ENABLED))
		data[EXT_2] &= (uint8_t)~EXT_2_ENABLED;
}

/* Completes a Set of the fields in data, which are wanted or as found. */
static void complete_set(const struct fabric_port *p, unsigned state, uint8_t data[64])
{
	/* the whole Set would be refused for an undefined code, whoever set it */
	if (get(data, IB_PORT_NEIGHBOR_MTU_F) && !mtu_bytes(get(data, IB_PORT_NEIGHBOR_MTU_F)))
		set(data, IB_PORT_NEIGHBOR_MTU_F, p->mtu_cap);
	set(data, IB_PORT_STATE_F, state);
	set(data, IB_PORT_PHYS_STATE_F, 0);		/* no change */
	keep_same_speeds(p->info, data);
	/* any value but 0 is undefined for the violation counters */
	set(data, IB_PORT_MKEY_VIOL_F, 0);
	set(data, IB_PORT_PKEY_VIOL_F, 0);
	set(data, IB_PORT_QKEY_VIOL_F, 0);
}

void want_port_info(const struct want_env *e, uint32_t port, unsigned state, uint8_t data[64])
{
	const struct fabric_port *p = &e->plan->f->ports[port];

	memcpy(data, p->info, 64);
	if (!e->as_found)
		want_port_fields(e, port, data);
	complete_set(p, state, data);
	set(data, IB_PORT_CLIENT_REREG_F, port_is_to_reregister(e, port));
}

void want_port_state(const struct fabric_port *p, unsigned state, uint8_t data[64])
{
	memcpy(data, p->info, 64);
	complete_set(p, state, data);
	set(data, IB_PORT_CLIENT_REREG_F, 0);
}

/* A digest of enabled widths and speeds, as far as want_speeds() sets them. */
static uint64_t speeds_digest(const struct want_env *e, const uint8_t *info)
{
	const struct settings *s = e->plan->settings;
	uint64_t h = enables_too_much(info);

	if (s->link_width == LINK_SUPPORTED)
		h = hash64(h + get(info, IB_PORT_LINK_WIDTH_ENABLED_F) + 1);
	if (s->link_speed == LINK_SUPPORTED)
		h = hash64(h + (get(info, IB_PORT_LINK_SPEED_ENABLED_F) << 16 |
				ib_ext_enabled(info)) + 1);
	return h;
}

/* A digest of exactly the fields that want_port_fields() writes. */
uint64_t port_info_digest(const struct want_env *e, uint32_t port, const uint8_t info[64])
{
	static const enum MAD_FIELDS end_fields[] = {
		IB_PORT_LID_F, IB_PORT_LMC_F, IB_PORT_SMLID_F, IB_PORT_SMSL_F,
		IB_PORT_MKEY_LEASE_F, IB_PORT_MKEY_PROT_BITS_F, IB_PORT_SUBN_TIMEOUT_F,
	};
	static const enum MAD_FIELDS link_fields[] = {
		IB_PORT_NEIGHBOR_MTU_F, IB_PORT_OPER_VLS_F, IB_PORT_LINK_DOWN_DEF_F,
		IB_PORT_LOCAL_PHYS_ERR_F, IB_PORT_OVERRUN_ERR_F,
	};
	static const enum MAD_FIELDS switch_fields[] = {
		IB_PORT_HOQ_LIFE_F, IB_PORT_VL_STALL_COUNT_F, IB_PORT_PART_EN_INB_F,
		IB_PORT_PART_EN_OUTB_F,
	};
	uint64_t h = 0;

	if (is_end(e, port)) {
		for (size_t i = 0; i < ARRAY_SIZE(end_fields); i++)
			h = hash64(h + get(info, end_fields[i]) + i);
		h = hash64(h ^ get_be64(info));		/* M_Key */
		h = hash64(h ^ get_be64(info + 8));	/* GidPrefix */
	}
	if (port_is_linked(e->plan->f, port)) {
		for (size_t i = 0; i < ARRAY_SIZE(link_fields); i++)
			h = hash64(h + get(info, link_fields[i]) + 16 + i);
		for (size_t i = 0; node_is_switch(port_node(e->plan->f, port)) &&
				   i < ARRAY_SIZE(switch_fields); i++)
			h = hash64(h + get(info, switch_fields[i]) + 32 + i);
		h += speeds_digest(e, info);
	}
	/* of any port: where it is not ours, the found value stays and makes no difference */
	return hash64(h + get(info, IB_PORT_VL_HIGH_LIMIT_F) + 64);
}

/* --- SwitchInfo --- */

unsigned want_mcast_top(const struct plan *p, const struct refusals *refused, uint32_t sw,
			unsigned held)
{
	const struct fabric_switch *s = &p->f->switches[sw];
	unsigned highest = IB_LID_MCAST_FIRST + s->mcast_cap - 1u;

	if (!fabric_has_mcast_top(p->f, sw) ||
	    refusals_have(refused, p->f->nodes[s->node].guid, UMAD_SM_ATTR_SWITCH_INFO,
			  REFUSED_MCAST_TOP, highest, held))
		return held;
	return highest;
}

bool want_switch_info(const struct want_env *e, const struct refusals *refused, uint32_t sw,
		      uint8_t data[64])
{
	const struct plan *p = e->plan;
	const struct fabric_switch *s = &p->f->switches[sw];
	unsigned mcast_top = want_mcast_top(p, refused, sw, s->mcast_top);

	memset(data, 0, 64);
	memcpy(data, s->info, sizeof(s->info));
	set(data, IB_SW_LINEAR_FDB_TOP_F, plan_lft_top(p, sw));
	set(data, IB_SW_LIFE_TIME_F, p->settings->packet_lifetime);
	set(data, IB_SW_MCAST_FDB_TOP_F, mcast_top);
	/* writing 1 clears it; it says that a port changed before we looked */
	set(data, IB_SW_STATE_CHANGE_F, s->port_change);
	return s->port_change || s->lft_top != plan_lft_top(p, sw) ||
	       s->lifetime != p->settings->packet_lifetime || s->mcast_top != mcast_top;
}

/* --- tables --- */

static void want_lft(const struct plan *p, uint32_t node, unsigned block, struct item_want *w)
{
	w->attr = UMAD_SM_ATTR_LINEAR_FT;
	w->mod = block;
	w->len = plan_lft_entries(p, p->f->nodes[node].sw, block);
	memcpy(w->data, attribute_lft(p, p->f->nodes[node].sw, block), LFT_BLOCK);
}

static void want_pkey(const struct plan *p, uint32_t node, unsigned num, unsigned block,
		      struct item_want *w)
{
	uint32_t port = p->f->nodes[node].port0 + num;

	w->attr = UMAD_SM_ATTR_PKEY_TABLE;
	/* only a switch looks at the port number */
	w->mod = (node_is_switch(&p->f->nodes[node]) ? num << 16 : 0) | block;
	w->len = 2 * pkey_block_entries(p->f, port, block);
	attribute_pkeys(p, port, block, w->data);
}

item_t want_first_pair(const struct plan *p, uint32_t node, item_t item)
{
	unsigned nports = p->f->nodes[node].nports;
	bool all = ITEM_B(item) == ITEM_ALL;
	unsigned first = all ? 0 : ITEM_B(item), last = all ? nports : first;

	if (ITEM_A(item) != ITEM_ALL)
		return item;
	for (unsigned out = first; out <= last; out++)
		for (unsigned in = 0; in <= nports; in++)
			if (qos_sl2vl_id(p->tables, p->f, node, in, out) != TABLE_NONE)
				return ITEM(ITEM_SL2VL, in, out);
	return 0;
}

/* AttributeModifier (14.2.5.8): bit 17: all in ports, bit 16: all out ports; else in, out. */
static uint32_t sl2vl_modifier(unsigned in, unsigned out)
{
	if (in != ITEM_ALL)
		return in << 8 | out;
	return 1u << 17 | (out == ITEM_ALL ? 1u << 16 : out);
}

/* The table that all pairs of the item should get. */
static void want_sl2vl(const struct plan *p, uint32_t node, item_t item, struct item_want *w)
{
	item_t pair = want_first_pair(p, node, item);
	uint16_t id = qos_sl2vl_id(p->tables, p->f, node, ITEM_A(pair), ITEM_B(pair));

	w->attr = UMAD_SM_ATTR_SLVL_TABLE;
	w->mod = node_is_switch(&p->f->nodes[node]) ?
		 sl2vl_modifier(ITEM_A(item), ITEM_B(item)) : 0;
	w->len = IB_SL_COUNT / 2;
	if (p->tables->managed)
		attribute_sl2vl(&p->tables->maps[id], w->data);
	else
		attribute_default_sl2vl(p, p->f->nodes[node].port0 + ITEM_B(item), w->data);
}

static void want_vlarb(const struct plan *p, uint32_t node, unsigned num, unsigned block,
		       struct item_want *w)
{
	uint32_t port = p->f->nodes[node].port0 + num;

	w->attr = UMAD_SM_ATTR_VL_ARB_TABLE;
	w->mod = block << 16 | (node_is_switch(&p->f->nodes[node]) ? num : 0);
	w->len = 2 * vlarb_block_entries(&p->f->ports[port], block);
	if (p->tables->managed)
		attribute_vlarb(p, port, block, w->data);
	else
		attribute_default_vlarb(p, port, block, w->data);
}

void want_item(const struct plan *p, uint32_t node, item_t item, struct item_want *w)
{
	unsigned a = ITEM_A(item), b = ITEM_B(item);

	memset(w, 0, sizeof(*w));
	switch (ITEM_KIND(item)) {
	case ITEM_LFT:
		want_lft(p, node, b, w);
		break;
	case ITEM_PKEY:
		want_pkey(p, node, a, b, w);
		break;
	case ITEM_SL2VL:
		want_sl2vl(p, node, item, w);
		break;
	case ITEM_VLARB:
		want_vlarb(p, node, a, b, w);
		break;
	case ITEM_NONE:
		break;
	}
}

static void vlarb_items(const struct plan *p, uint32_t port, void (*fn)(void *, item_t), void *arg)
{
	const struct fabric_port *fp = &p->f->ports[port];

	if (p->tables->arb[port] == TABLE_NONE)
		return;
	for (unsigned block = 1; block <= VLARB_BLOCKS; block++)
		if (vlarb_block_entries(fp, block))
			fn(arg, ITEM(ITEM_VLARB, fp->num, block));
}

static void pkey_items(const struct plan *p, uint32_t node, unsigned num,
		       void (*fn)(void *, item_t), void *arg)
{
	unsigned cap = port_pkey_cap(p->f, p->f->nodes[node].port0 + num);

	for (unsigned b = 0; b * PKEYS_PER_BLOCK < cap && b < 1024; b++)
		fn(arg, ITEM(ITEM_PKEY, num, b));
}

static void switch_items(const struct plan *p, uint32_t node, void (*fn)(void *, item_t), void *arg)
{
	const struct fabric_node *n = &p->f->nodes[node];

	for (unsigned b = 0; plan_lft_entries(p, n->sw, b); b++)
		fn(arg, ITEM(ITEM_LFT, 0, b));
	for (unsigned num = 0; num <= n->nports; num++)
		if (num == 0 || p->partitions->enforce[n->port0 + num])
			pkey_items(p, node, num, fn, arg);
	if (!p->tables->managed)
		return;
	for (unsigned out = 0; out <= n->nports; out++)
		for (unsigned in = 0; in <= n->nports; in++)
			if (qos_sl2vl_id(p->tables, p->f, node, in, out) != TABLE_NONE)
				fn(arg, ITEM(ITEM_SL2VL, in, out));
	for (unsigned num = 0; num <= n->nports; num++)
		vlarb_items(p, n->port0 + num, fn, arg);
}

static void end_node_items(const struct plan *p, uint32_t node, void (*fn)(void *, item_t),
			   void *arg)
{
	const struct fabric_node *n = &p->f->nodes[node];

	for (unsigned num = 1; num <= n->nports; num++) {
		uint32_t port = n->port0 + num;

		if (!p->f->ports[port].present)
			continue;
		pkey_items(p, node, num, fn, arg);
		if (!p->tables->managed)
			continue;
		if (qos_sl2vl_id(p->tables, p->f, node, 0, num) != TABLE_NONE)
			fn(arg, ITEM(ITEM_SL2VL, 0, num));
		vlarb_items(p, port, fn, arg);
	}
}

void want_items(const struct plan *p, uint32_t node, void (*fn)(void *arg, item_t item), void *arg)
{
	if (node_is_switch(&p->f->nodes[node]))
		switch_items(p, node, fn, arg);
	else
		end_node_items(p, node, fn, arg);
}
