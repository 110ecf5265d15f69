/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MCMemberRecord (15.2.5.17): a Set joins a group, or makes it; a Delete
 * leaves; Get and GetTable look.  The groups themselves are registry/mcast.h's.
 *
 * Who asks without the SM_Key sees groups, not their members.
 */
#include <infiniband/umad_sa_mcm.h>

#include "base/bytes.h"
#include "ib/units.h"
#include "registry/mcast.h"
#include "sa/handler.h"

#define MCM(name) UMAD_SA_MCM_COMP_MASK_##name
/* 52 bytes on the wire; the struct is padded to what a record takes in a table. */
#define MCMEMBER_LEN 52

#define SCOPE_RESERVED_LOW 0	/* 4.1.1: multicast scopes that nobody may use */
#define SCOPE_RESERVED_HIGH 15

/* What must be the group's own when a client states it. */
static const struct sa_field group_fields[] = {
	{ 2, false, 256, 32 },		/* Q_Key */
	{ 3, false, 288, 16 },		/* MLID */
	{ 6, false, 312, 8 },		/* TClass */
	{ 7, false, 321, 15 },		/* P_Key without the membership bit */
	{ 12, false, 352, 4 },		/* SL */
	{ 13, false, 356, 20 },		/* FlowLabel */
	{ 14, false, 376, 8 },		/* HopLimit */
	{ 15, false, 384, 4 },		/* Scope */
};

static const struct sa_field member_fields[] = {
	{ 1, false, 128, 128 },		/* PortGID */
	{ 16, true, 388, 4 },		/* JoinState: all that is asked for */
	{ 17, false, 392, 1 },		/* ProxyJoin */
};

static uint8_t exactly(unsigned code)
{
	return umad_sa_set_rate_mtu_or_life(UMAD_SA_SELECTOR_EXACTLY, (uint8_t)code);
}

static bool code_meets(uint64_t mask, uint64_t bits, enum sa_scale scale, uint8_t asked,
		       unsigned code)
{
	return (mask & bits) != bits ||
	       sa_code_meets(scale, asked >> UMAD_SA_SELECTOR_SHIFT,
			     umad_sa_get_rate_mtu_or_life(asked), code);
}

/* mem: NULL for the group alone. */
static void make_record(const struct subnet_state *s, const struct mcast_group *g,
			const struct mcast_member *mem, struct umad_sa_mcmember_record *r)
{
	*r = (struct umad_sa_mcmember_record){
		.qkey = htobe32(g->qkey), .mlid = htobe16(g->mlid), .pkey = htobe16(g->pkey),
		.mtu = exactly(g->mtu), .rate = exactly(g->rate), .pkt_life = exactly(g->life),
		.tclass = g->tclass,
		.sl_flow_hop = umad_sa_mcm_set_sl_flow_hop(g->sl, g->flow_label, g->hop_limit),
		.scope_state = umad_sa_mcm_set_scope_state(g->mgid[1] & 0xf,
							   mem ? mem->join_state : 0),
		.proxy_join = mem && mem->proxy ? 0x80 : 0,
	};
	memcpy(r->mgid, g->mgid, sizeof(r->mgid));
	if (mem) {
		put_be64(r->portgid, s->plan->settings->subnet_prefix);
		put_be64(r->portgid + 8, mem->guid);
	}
}

/* --- Get, GetTable --- */

static bool group_matches(const struct sa_msg *m, const struct umad_sa_mcmember_record *want,
			  const struct mcast_group *g, const struct umad_sa_mcmember_record *r)
{
	return sa_fields_match(group_fields, ARRAY_SIZE(group_fields), m->mask, want, r, false) &&
	       code_meets(m->mask, MCM(MTU_SEL) | MCM(MTU), SCALE_MTU, want->mtu, g->mtu) &&
	       code_meets(m->mask, MCM(RATE_SEL) | MCM(RATE), SCALE_RATE, want->rate, g->rate) &&
	       code_meets(m->mask, MCM(LIFE_TIME_SEL) | MCM(LIFE_TIME), SCALE_LIFE,
			  want->pkt_life, g->life);
}

static bool add_members(struct sa_msg *m, const struct umad_sa_mcmember_record *want,
			const struct mcast_group *g)
{
	struct umad_sa_mcmember_record r;

	for (size_t i = 0; i < g->members.n; i++) {
		make_record(m->s, g, &g->members.v[i], &r);
		if (sa_fields_match(member_fields, ARRAY_SIZE(member_fields), m->mask, want, &r,
				    true) && !sa_add(m, &r, MCMEMBER_LEN))
			return false;
	}
	return true;
}

/* False: no more records are wanted. */
static bool add_group(struct sa_msg *m, const struct umad_sa_mcmember_record *want,
		      const struct mcast_group *g)
{
	uint64_t of_member = MCM(PORT_GID) | MCM(JOIN_STATE) | MCM(PROXY_JOIN);
	struct umad_sa_mcmember_record r;

	make_record(m->s, g, NULL, &r);
	if (!group_matches(m, want, g, &r))
		return true;
	if (m->trusted && (g->members.n || m->mask & of_member))
		return add_members(m, want, g);
	if (m->mask & MCM(PORT_GID) && !mcast_member(g, get_be64(want->portgid + 8)))
		return true;
	return sa_add(m, &r, MCMEMBER_LEN);
}

uint16_t sa_mcmember_get(struct sa_msg *m)
{
	const struct mcast_db *db = m->sa->mcast;
	struct umad_sa_mcmember_record want = { 0 };

	memcpy(&want, m->data, MCMEMBER_LEN);
	if (m->mask & MCM(MGID)) {
		const struct mcast_group *g = mcast_find(db, want.mgid);

		if (g)
			add_group(m, &want, g);
		return IB_STATUS_OK;
	}
	for (size_t i = 0; i < mcast_count(db); i++)
		if (!add_group(m, &want, mcast_at(db, i)))
			break;
	return IB_STATUS_OK;
}

/* --- Set, Delete --- */

struct join {
	struct umad_sa_mcmember_record r;
	uint32_t port;
	uint64_t guid;
	uint8_t state;
	bool proxy;			/* one port asks for another */
};

/* What joining and leaving have in common. */
static uint16_t read_join(const struct sa_msg *m, struct join *j)
{
	uint64_t needed = MCM(MGID) | MCM(PORT_GID) | MCM(JOIN_STATE);
	uint16_t status;

	if ((m->mask & needed) != needed)
		return IB_SA_INSUFFICIENT_COMPONENTS;
	memset(j, 0, sizeof(*j));
	memcpy(&j->r, m->data, MCMEMBER_LEN);
	if ((status = sa_gid_port(m, j->r.portgid, &j->port)))
		return status;
	j->guid = m->s->f->ports[j->port].guid;
	j->state = j->r.scope_state & 0xf;
	j->proxy = j->port != m->requester;
	return j->state ? IB_STATUS_OK : IB_SA_REQ_INVALID;
}

/* A membership that a port holds itself is nobody else's to change. */
static bool may_change(const struct join *j, const struct mcast_member *mem)
{
	return !mem || mem->proxy || !j->proxy;
}

/* Limited members take part, too: what they send reaches the full ones (10.9.3). */
static bool port_has_pkey(const struct sa_msg *m, uint32_t port, uint16_t pkey)
{
	return port_membership(m->s->plan->partitions, port, pkey) != MEMBER_NONE;
}

static bool port_can(const struct sa_msg *m, uint32_t port, const struct mcast_group *g)
{
	struct path_info own = paths_of_port(m->s->f, port);

	return own.mtu >= g->mtu && rate_compare(own.rate, g->rate) >= 0;
}

static uint16_t check_group(const struct sa_msg *m, const struct join *j,
			    const struct mcast_group *g)
{
	struct umad_sa_mcmember_record r;

	make_record(m->s, g, NULL, &r);
	return sa_fields_match(group_fields, ARRAY_SIZE(group_fields), m->mask, &j->r, &r, false) &&
	       code_meets(m->mask, MCM(MTU_SEL) | MCM(MTU), SCALE_MTU, j->r.mtu, g->mtu) &&
	       code_meets(m->mask, MCM(RATE_SEL) | MCM(RATE), SCALE_RATE, j->r.rate, g->rate) &&
	       port_has_pkey(m, j->port, g->pkey) && port_can(m, j->port, g) &&
	       may_change(j, mcast_member(g, j->guid)) ? IB_STATUS_OK : IB_SA_REQ_INVALID;
}

/* --- making a group --- */

static bool mgid_is_null(const uint8_t mgid[16])
{
	return !get_be64(mgid) && !get_be64(mgid + 8);
}

/* Multicast, permanent or transient, of a scope that may be used (4.1.1). */
static bool mgid_valid(const uint8_t mgid[16])
{
	unsigned flags = mgid[1] >> 4, scope = mgid[1] & 0xf;

	return mgid[0] == 0xff && flags <= 1 && scope != SCOPE_RESERVED_LOW &&
	       scope != SCOPE_RESERVED_HIGH;
}

/* For a client that leaves the choice to us: in the form that 15.2.5.17 has for that. */
static void make_mgid(const struct sa_msg *m, const struct join *j, uint8_t mgid[16])
{
	unsigned scope = m->mask & MCM(SCOPE) ? j->r.scope_state >> 4 :
		UMAD_SA_MCM_ADDR_SCOPE_LINK_LOCAL;

	memset(mgid, 0, 16);
	mgid[0] = 0xff;
	mgid[1] = (uint8_t)(0x10 | scope);
	put_be16(mgid + 2, 0xa01b);
	put_be64(mgid + 4, m->s->plan->settings->subnet_prefix);
	for (uint32_t n = 1; n == 1 || mcast_find(m->sa->mcast, mgid); n++)
		put_be32(mgid + 12, n);
}

/* MTU or rate of a new group: the creator's own unless it wants less. */
static bool choose_code(const struct sa_msg *m, uint64_t bits, enum sa_scale scale,
			uint8_t asked, uint8_t *code)
{
	unsigned wanted = umad_sa_get_rate_mtu_or_life(asked);

	return (m->mask & bits) != bits ||
	       (sa_code_valid(scale, wanted) &&
		sa_select(scale, asked >> UMAD_SA_SELECTOR_SHIFT, wanted, code));
}

/* A lifetime is only a number: any that the selector allows will do. */
static bool choose_life(const struct sa_msg *m, uint8_t asked, uint8_t *life)
{
	unsigned selector = asked >> UMAD_SA_SELECTOR_SHIFT;
	unsigned wanted = umad_sa_get_rate_mtu_or_life(asked);
	uint64_t bits = MCM(LIFE_TIME_SEL) | MCM(LIFE_TIME);

	if ((m->mask & bits) != bits || sa_code_meets(SCALE_LIFE, selector, wanted, *life))
		return true;
	*life = (uint8_t)(selector == SEL_GREATER ? wanted + 1 :
			  selector == SEL_LESS ? wanted - 1 : wanted);
	return sa_code_valid(SCALE_LIFE, *life);
}

static uint16_t describe_group(const struct sa_msg *m, const struct join *j, struct mcast_group *g)
{
	struct path_info own = paths_of_port(m->s->f, j->port);
	uint8_t sl, hop_limit;
	uint32_t flow_label;

	umad_sa_mcm_get_sl_flow_hop(j->r.sl_flow_hop, &sl, &flow_label, &hop_limit);
	*g = (struct mcast_group){
		.qkey = be32toh(j->r.qkey), .pkey = be16toh(j->r.pkey),
		.mlid = m->mask & MCM(MLID) ? be16toh(j->r.mlid) : 0,
		.mtu = own.mtu, .rate = own.rate, .life = m->s->plan->settings->subnet_timeout,
		.sl = sl, .flow_label = flow_label, .tclass = j->r.tclass,
	};
	if (mgid_is_null(j->r.mgid))
		make_mgid(m, j, g->mgid);
	else
		memcpy(g->mgid, j->r.mgid, sizeof(g->mgid));
	if (!mgid_valid(g->mgid))
		return IB_SA_INVALID_GID;
	/* beyond the subnet a packet needs hops to live */
	if (m->mask & MCM(HOP_LIMIT))
		g->hop_limit = hop_limit;
	else if ((g->mgid[1] & 0xf) != UMAD_SA_MCM_ADDR_SCOPE_LINK_LOCAL)
		g->hop_limit = UINT8_MAX;
	if (!port_has_pkey(m, j->port, g->pkey) ||
	    !choose_code(m, MCM(MTU_SEL) | MCM(MTU), SCALE_MTU, j->r.mtu, &g->mtu) ||
	    !choose_code(m, MCM(RATE_SEL) | MCM(RATE), SCALE_RATE, j->r.rate, &g->rate) ||
	    !choose_life(m, j->r.pkt_life, &g->life))
		return IB_SA_REQ_INVALID;
	return IB_STATUS_OK;
}

static uint16_t create_group(struct sa_msg *m, const struct join *j, struct mcast_group **g)
{
	uint64_t needed = MCM(QKEY) | MCM(TCLASS) | MCM(PKEY) | MCM(SL) | MCM(FLOW_LABEL);
	struct mcast_group wanted;
	uint16_t status;

	if ((m->mask & needed) != needed)
		return IB_SA_INSUFFICIENT_COMPONENTS;
	if (!(j->state & JOIN_ANY_FULL))
		return IB_SA_REQ_INVALID;	/* a group lives by its full members */
	if ((status = describe_group(m, j, &wanted)))
		return status;
	*g = mcast_create(m->sa->mcast, &wanted, mcast_mlids(m->s));
	return *g ? IB_STATUS_OK : IB_SA_NO_RESOURCES;
}

uint16_t sa_mcmember_set(struct sa_msg *m)
{
	struct umad_sa_mcmember_record r;
	struct mcast_group *g;
	struct join j;
	uint16_t status = read_join(m, &j);

	if (status)
		return status;
	g = mcast_find(m->sa->mcast, j.r.mgid);
	status = g ? check_group(m, &j, g) : create_group(m, &j, &g);
	if (status)
		return status;
	mcast_join(m->sa->mcast, g, j.guid, j.state, j.proxy);
	make_record(m->s, g, mcast_member(g, j.guid), &r);
	sa_add(m, &r, MCMEMBER_LEN);
	return IB_STATUS_OK;
}

/* The answer says what is left of the membership. */
uint16_t sa_mcmember_delete(struct sa_msg *m)
{
	struct umad_sa_mcmember_record r;
	struct join j;
	uint16_t status = read_join(m, &j);

	if (status)
		return status;
	struct mcast_group *g = mcast_find(m->sa->mcast, j.r.mgid);
	const struct mcast_member *mem = g ? mcast_member(g, j.guid) : NULL;

	if (!mem || (mem->join_state & j.state) != j.state || !may_change(&j, mem))
		return IB_SA_REQ_INVALID;
	make_record(m->s, g, mem, &r);
	umad_sa_mcm_set_join_state(&r, mcast_leave(m->sa->mcast, g, j.guid, j.state));
	sa_add(m, &r, MCMEMBER_LEN);
	return IB_STATUS_OK;
}
