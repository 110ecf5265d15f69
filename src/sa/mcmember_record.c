/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins, creates, leaves and lists multicast groups for MCMemberRecord requests (15.2.5.17).
 *
 * A Set joins a group or creates it; a Delete leaves it; Get and GetTable list groups.
 * sa/registry/groups.h stores them.  A requester without the SM_Key sees the groups of its
 * partitions, but of their members only itself.
 *
 * A member is a PortGID: a port with aliases can join with several GIDs and then is as many
 * members, each with its own JoinState, and leaves with each separately.  A port that joins
 * with its own alias makes no proxy join.
 *
 * The answer to a Set does not wait for the multicast forwarding tables of switches: IBA promises
 * the membership, not when packets arrive; a client asks again after a second or less; and in a
 * storm of joins one pass over the trees serves all.  The tables follow within a moment
 * (sm/multicast/multicast.c).
 *
 * The policy sets SL and TClass of a group, whatever its creator asks for: clients must state
 * an SL, cannot know the right one, and use the one in the answer.  So the SL in a Set is
 * advisory, both for the creator and for a client that joins later with the same SL; otherwise
 * the order of arrival would decide whether a client is refused.  The same holds for TClass if
 * the level sets one.  MTU, rate and lifetime are binding with their selectors: the SA refuses
 * what the level does not allow.  Scope is advisory beside an MGID, which contains the scope of the
 * group itself; OpenSM takes any, too.
 */
#include <infiniband/umad_sa_mcm.h>

#include "lib/base/bytes.h"
#include "lib/iba/units.h"
#include "sa/handler.h"
#include "sa/registry/groups.h"

#define MCM(name) UMAD_SA_MCM_COMP_MASK_##name
/* Bytes on the wire; the struct has the padded size of a record in a table. */
#define MCMEMBER_LEN 52

#define SCOPE_RESERVED_LOW 0	/* 4.1.1: reserved multicast scopes */
#define SCOPE_RESERVED_HIGH 15

/* Numbers of the MGIDs that the SA generates; no registry holds as many groups. */
#define GENERATED_MAX 0xffffff

/* Criteria of a query; in a join, those that it states must be the group's. */
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
	{ 16, false, 388, 4 },		/* JoinState */
	{ 17, false, 392, 1 },		/* ProxyJoin */
};

static bool code_meets(uint64_t mask, uint64_t bits, enum sa_scale scale, uint8_t asked,
		       unsigned code)
{
	return (mask & bits) != bits ||
	       sa_code_meets(scale, asked >> UMAD_SA_SELECTOR_SHIFT,
			     umad_sa_get_rate_mtu_or_life(asked), code);
}

/* mem: a member, or NULL for a record of the group only. */
static void make_record(const struct subnet_state *s, const struct mcast_group *g,
			const struct mcast_member *mem, struct umad_sa_mcmember_record *r)
{
	*r = (struct umad_sa_mcmember_record){
		.qkey = htobe32(g->qkey), .mlid = htobe16(g->mlid), .pkey = htobe16(g->pkey),
		.mtu = sa_exactly(g->mtu), .rate = sa_exactly(g->rate),
		.pkt_life = sa_exactly(g->life), .tclass = g->tclass,
		.sl_flow_hop = umad_sa_mcm_set_sl_flow_hop(g->sl, g->flow_label, g->hop_limit),
		.scope_state = umad_sa_mcm_set_scope_state(g->mgid[1] & 0xf,
							   mem ? mem->join_state : 0),
		.proxy_join = mem && mem->proxy ? 0x80 : 0,
	};
	memcpy(r->mgid, g->mgid, sizeof(r->mgid));
	if (mem) {
		put_be64(r->portgid, s->plan->settings->subnet_prefix);
		put_be64(r->portgid + 8, mem->gid.guid);
	}
}

/*
 * Whether a port may be in a group of a P_Key.  In a group of the full P_Key, limited members may
 * be, too: full members get what they send (10.9.3).  In a group of the limited P_Key, limited
 * members could not communicate with each other, so they may not be.
 */
static bool port_has_pkey(const struct sa_msg *m, uint32_t port, uint16_t pkey)
{
	enum membership is = port_membership(m->s->plan->partitions, port, pkey);

	return is != MEMBER_NONE && (pkey & IB_PKEY_FULL || is != MEMBER_LIMITED);
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

/* The port that has a GID now, and the GID as a member. */
static uint16_t find_gid(const struct sa_msg *m, const uint8_t portgid[16], uint32_t *port,
			 struct mcast_gid *gid)
{
	uint16_t status = sa_gid_port(m, portgid, port);

	if (!status)
		*gid = (struct mcast_gid){ m->s->f->ports[*port].guid, get_be64(portgid + 8) };
	return status;
}

/* Whether the query's PortGID is one of the requester, and a member of the group. */
static bool asks_for_own(const struct sa_msg *m, const struct umad_sa_mcmember_record *want,
			 const struct mcast_group *g)
{
	struct mcast_gid gid;
	uint32_t port;

	return !find_gid(m, want->portgid, &port, &gid) && port == m->requester &&
	       mcast_member(g, gid);
}

static bool add_members(struct sa_msg *m, const struct umad_sa_mcmember_record *want,
			const struct mcast_group *g)
{
	struct umad_sa_mcmember_record r;

	for (size_t i = 0; i < g->members.n; i++) {
		make_record(m->s, g, &g->members.v[i], &r);
		if (sa_fields_match(member_fields, ARRAY_SIZE(member_fields), m->mask, want, &r,
				    false) && !sa_add(m, &r, MCMEMBER_LEN))
			return false;
	}
	return true;
}

/* False: add no more records. */
static bool add_group(struct sa_msg *m, const struct umad_sa_mcmember_record *want,
		      const struct mcast_group *g)
{
	uint64_t of_member = MCM(PORT_GID) | MCM(JOIN_STATE) | MCM(PROXY_JOIN);
	struct umad_sa_mcmember_record r;

	make_record(m->s, g, NULL, &r);
	if (!group_matches(m, want, g, &r) ||
	    (!m->trusted && !port_has_pkey(m, m->requester, g->pkey)))
		return true;
	if (m->trusted && (g->members.n || m->mask & of_member))
		return add_members(m, want, g);
	if (m->mask & MCM(PORT_GID) && !asks_for_own(m, want, g))
		return true;
	return sa_add(m, &r, MCMEMBER_LEN);
}

uint16_t sa_mcmember_get(struct sa_msg *m)
{
	const struct mcast_db *db = m->sa->mcast;
	struct umad_sa_mcmember_record want = { 0 };

	if (!mcast_usage(db).limit)
		return IB_STATUS_BAD_METHOD_ATTR;
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
	struct mcast_gid gid;
	uint8_t state;
	bool proxy;			/* the requester is another port than the member */
};

/* Reads and checks what joins and leaves have in common. */
static uint16_t read_join(const struct sa_msg *m, struct join *j)
{
	uint64_t needed = MCM(MGID) | MCM(PORT_GID) | MCM(JOIN_STATE);
	uint16_t status;

	if (!mcast_usage(m->sa->mcast).limit)
		return IB_STATUS_BAD_METHOD_ATTR;	/* no switch forwards multicast */
	if ((m->mask & needed) != needed)
		return IB_SA_INSUFFICIENT_COMPONENTS;
	memset(j, 0, sizeof(*j));
	memcpy(&j->r, m->data, MCMEMBER_LEN);
	if ((status = find_gid(m, j->r.portgid, &j->port, &j->gid)))
		return status;
	j->state = j->r.scope_state & 0xf;
	j->proxy = j->port != m->requester;
	/* a stated ProxyJoin must be true */
	if (m->mask & MCM(PROXY_JOIN) && j->r.proxy_join >> 7 != j->proxy)
		return IB_SA_REQ_INVALID;
	return j->state ? IB_STATUS_OK : IB_SA_REQ_INVALID;
}

/*
 * No port may change a membership that another port requested for itself.  A requester may make
 * a proxy join only if it is in the group's partition or has a secret SM_Key.
 */
static bool may_change(const struct sa_msg *m, const struct join *j, const struct mcast_group *g,
		       const struct mcast_member *mem)
{
	return !j->proxy || ((!mem || mem->proxy) &&
			     (m->privileged || port_has_pkey(m, m->requester, g->pkey)));
}

/* Whether the port's link has MTU and rate of the group, and the port can send on the group's SL. */
static bool port_can(const struct sa_msg *m, uint32_t port, const struct mcast_group *g)
{
	const struct fabric_port *p = &m->s->f->ports[port];
	const struct qos_tables *t = m->s->plan->tables;
	struct path_info own = paths_of_port(m->s->f, port);

	return own.mtu >= g->mtu && rate_compare(own.rate, g->rate) >= 0 &&
	       (p->num == 0 || paths_hop_sls(m->s->f, t, p->node, 0, p->num) >> g->sl & 1);
}

static bool selectors_met(const struct sa_msg *m, const struct umad_sa_mcmember_record *r,
			  const struct mcast_group *g)
{
	return code_meets(m->mask, MCM(MTU_SEL) | MCM(MTU), SCALE_MTU, r->mtu, g->mtu) &&
	       code_meets(m->mask, MCM(RATE_SEL) | MCM(RATE), SCALE_RATE, r->rate, g->rate) &&
	       code_meets(m->mask, MCM(LIFE_TIME_SEL) | MCM(LIFE_TIME), SCALE_LIFE,
			  r->pkt_life, g->life);
}

/* The Set's mask without the components that the policy or the MGID decides: they are no reason to refuse it. */
static uint64_t components_that_count(const struct sa_msg *m, const struct mcast_group *g)
{
	bool policy_tclass = mcast_level(m->s, g->pkey)->tclass >= 0;

	return m->mask & ~(uint64_t)(MCM(SL) | MCM(SCOPE) | (policy_tclass ? MCM(TCLASS) : 0));
}

static uint16_t check_group(const struct sa_msg *m, const struct join *j,
			    const struct mcast_group *g)
{
	struct umad_sa_mcmember_record r;

	make_record(m->s, g, NULL, &r);
	return sa_fields_match(group_fields, ARRAY_SIZE(group_fields), components_that_count(m, g),
			       &j->r, &r, false) &&
	       selectors_met(m, &j->r, g) &&
	       port_has_pkey(m, j->port, g->pkey) && port_can(m, j->port, g) &&
	       may_change(m, j, g, mcast_member(g, j->gid)) ? IB_STATUS_OK : IB_SA_REQ_INVALID;
}

/* --- creating a group --- */

/* Signature (bytes 2 and 3) of MGIDs that an SM generates. */
enum { SIGNATURE_OURS = 0xa01b };

/*
 * A multicast GID, permanent or transient (4.1.1).  Its scope may be one that IBA reserves: nothing
 * in the subnet depends on it, and OpenSM takes any.  The SA generates MGIDs with our signature; a
 * client may ask for one if it was in such a group and the SA lost it.  It must be one that the SA
 * can have generated: transient, with our prefix and a number that make_mgid() gets to.
 */
static bool mgid_valid(const struct sa_msg *m, const uint8_t mgid[16])
{
	unsigned flags = mgid[1] >> 4;
	uint32_t number = get_be32(mgid + 12);

	if (mgid[0] != 0xff || flags > 1)
		return false;
	return get_be16(mgid + 2) != SIGNATURE_OURS ||
	       (flags == 1 && get_be64(mgid + 4) == m->s->plan->settings->subnet_prefix &&
		number && number <= GENERATED_MAX);
}

/* The scope of an MGID that the SA generates, which is not a reserved one. */
static uint16_t generated_scope(const struct sa_msg *m, const struct join *j, unsigned *scope)
{
	*scope = m->mask & MCM(SCOPE) ? j->r.scope_state >> 4 :
					UMAD_SA_MCM_ADDR_SCOPE_LINK_LOCAL;
	return *scope == SCOPE_RESERVED_LOW || *scope == SCOPE_RESERVED_HIGH ?
	       IB_SA_REQ_INVALID : IB_STATUS_OK;
}

/* Generates an MGID, in the form of 15.2.5.17, for a client that names none. */
static void make_mgid(const struct sa_msg *m, unsigned scope, uint8_t mgid[16])
{
	memset(mgid, 0, 16);
	mgid[0] = 0xff;
	mgid[1] = (uint8_t)(0x10 | scope);
	put_be16(mgid + 2, SIGNATURE_OURS);
	put_be64(mgid + 4, m->s->plan->settings->subnet_prefix);
	for (uint32_t n = 1; n == 1 || mcast_find(m->sa->mcast, mgid); n++)
		put_be32(mgid + 12, n);
}

/* Lowers MTU or rate of a new group to what the creator's selector asks for; false: that is too much. */
static bool choose_code(const struct sa_msg *m, uint64_t bits, enum sa_scale scale,
			uint8_t asked, uint8_t *code)
{
	unsigned wanted = umad_sa_get_rate_mtu_or_life(asked);

	return (m->mask & bits) != bits ||
	       (sa_code_valid(scale, wanted) &&
		sa_select(scale, asked >> UMAD_SA_SELECTOR_SHIFT, wanted, code));
}

/* Chooses any lifetime that the selector allows; nothing else limits it. */
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

/*
 * A group of an IPoIB subnet has the parameters of that subnet's broadcast group (RFC 4391,
 * section 5), which must exist.  The components that the creator states must agree with it,
 * and the P_Key in the MGID with the group's.
 */
static uint16_t follow_broadcast(const struct sa_msg *m, const struct join *j,
				 const uint8_t broadcast[16], struct mcast_group *g)
{
	const struct mcast_group *b = mcast_find(m->sa->mcast, broadcast);
	uint64_t mask = components_that_count(m, g) & ~(uint64_t)MCM(MLID);
	struct umad_sa_mcmember_record r;

	if (get_be16(g->mgid + 4) != (g->pkey | IB_PKEY_FULL))
		return IB_SA_REQ_INVALID;
	if (!memcmp(g->mgid, broadcast, sizeof(g->mgid)))
		return IB_STATUS_OK;
	if (!b)
		return IB_SA_REQ_INVALID;
	make_record(m->s, b, NULL, &r);
	if (!sa_fields_match(group_fields, ARRAY_SIZE(group_fields), mask, &j->r, &r, false) ||
	    !selectors_met(m, &j->r, b))
		return IB_SA_REQ_INVALID;
	g->mtu = b->mtu;
	g->rate = b->rate;
	g->life = b->life;
	g->hop_limit = b->hop_limit;
	/* the TClass counts as the creator's, for a level that sets none */
	g->tclass_asked = b->tclass_asked;
	return IB_STATUS_OK;
}

/* Sets the greatest MTU and rate that the member's port and the level allow, and the lifetime. */
static void limit_group(const struct sa_msg *m, uint32_t port, struct mcast_group *g)
{
	const struct policy_level *l = mcast_level(m->s, g->pkey);
	struct path_info own = paths_of_port(m->s->f, port);

	g->mtu = l->mtu_limit && l->mtu_limit < own.mtu ? l->mtu_limit : own.mtu;
	g->rate = l->rate_limit && rate_compare(l->rate_limit, own.rate) < 0 ? l->rate_limit :
									       own.rate;
	g->life = l->packet_lifetime >= 0 ? (uint8_t)l->packet_lifetime :
					    m->s->plan->settings->subnet_timeout;
}

/* Applies the creator's selectors of MTU, rate and lifetime; false: they cannot be met. */
static bool choose_codes(const struct sa_msg *m, const struct join *j, struct mcast_group *g)
{
	bool life_fixed = mcast_level(m->s, g->pkey)->packet_lifetime >= 0;

	return choose_code(m, MCM(MTU_SEL) | MCM(MTU), SCALE_MTU, j->r.mtu, &g->mtu) &&
	       choose_code(m, MCM(RATE_SEL) | MCM(RATE), SCALE_RATE, j->r.rate, &g->rate) &&
	       (life_fixed ? code_meets(m->mask, MCM(LIFE_TIME_SEL) | MCM(LIFE_TIME), SCALE_LIFE,
					j->r.pkt_life, g->life) :
			     choose_life(m, j->r.pkt_life, &g->life));
}

/* Chooses MGID and HopLimit, which is the greatest by default if the scope exceeds the subnet. */
static uint16_t choose_scope(const struct sa_msg *m, const struct join *j, uint8_t hop_limit,
			     struct mcast_group *g)
{
	unsigned scope;
	uint16_t status;

	if (!sa_gid_is_null(j->r.mgid)) {
		if (!mgid_valid(m, j->r.mgid))
			return IB_SA_REQ_INVALID;	/* o15-0.1.6 */
		memcpy(g->mgid, j->r.mgid, sizeof(g->mgid));
		scope = g->mgid[1] & 0xf;
	} else {
		if ((status = generated_scope(m, j, &scope)))
			return status;
		make_mgid(m, scope, g->mgid);
	}
	if (m->mask & MCM(HOP_LIMIT))
		g->hop_limit = hop_limit;
	else if (scope != UMAD_SA_MCM_ADDR_SCOPE_LINK_LOCAL)
		g->hop_limit = UINT8_MAX;
	return IB_STATUS_OK;
}

/* GUID of the requester's port, which the group or membership counts for. */
static uint64_t asker(const struct sa_msg *m)
{
	return m->s->f->ports[m->requester].guid;
}

static uint16_t describe_group(const struct sa_msg *m, const struct join *j, struct mcast_group *g)
{
	uint8_t sl, hop_limit, broadcast[16];
	uint32_t flow_label;
	uint16_t status;

	umad_sa_mcm_get_sl_flow_hop(j->r.sl_flow_hop, &sl, &flow_label, &hop_limit);
	*g = (struct mcast_group){
		.qkey = be32toh(j->r.qkey), .pkey = be16toh(j->r.pkey), .sl = sl,
		.mlid = m->mask & MCM(MLID) ? be16toh(j->r.mlid) : 0,
		.flow_label = flow_label, .tclass_asked = j->r.tclass, .holder = asker(m),
	};
	if ((status = choose_scope(m, j, hop_limit, g)))
		return status;
	if (!port_has_pkey(m, j->port, g->pkey))
		return IB_SA_REQ_INVALID;
	limit_group(m, j->port, g);
	if (mcast_ipoib_broadcast(g->mgid, broadcast) &&
	    (status = follow_broadcast(m, j, broadcast, g)))
		return status;
	mcast_apply_level(m->s, g);
	return choose_codes(m, j, g) && port_can(m, j->port, g) && may_change(m, j, g, NULL) ?
		IB_STATUS_OK : IB_SA_REQ_INVALID;
}

static uint16_t create_group(struct sa_msg *m, const struct join *j, struct mcast_group **g)
{
	uint64_t needed = MCM(QKEY) | MCM(TCLASS) | MCM(PKEY) | MCM(SL) | MCM(FLOW_LABEL);
	struct mcast_group wanted;
	uint16_t status;

	if ((m->mask & needed) != needed)
		return IB_SA_INSUFFICIENT_COMPONENTS;
	if (!(j->state & JOIN_ANY_FULL))
		return IB_SA_REQ_INVALID;	/* a group needs a full member */
	if ((status = describe_group(m, j, &wanted)))
		return status;
	*g = mcast_create(m->sa->mcast, &wanted, mcast_usage(m->sa->mcast).limit);
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
	if (g && (status = check_group(m, &j, g)))
		return status;
	if (!(g && mcast_member(g, j.gid)) && !mcast_room(m->sa->mcast, asker(m)))
		return IB_SA_NO_RESOURCES;
	if (!g && (status = create_group(m, &j, &g)))
		return status;
	mcast_join_by(m->sa->mcast, g, j.gid, j.state, asker(m));
	make_record(m->s, g, mcast_member(g, j.gid), &r);
	sa_add(m, &r, MCMEMBER_LEN);
	return IB_STATUS_OK;
}

/* The answer has the JoinState that is left. */
uint16_t sa_mcmember_delete(struct sa_msg *m)
{
	struct umad_sa_mcmember_record r;
	struct join j;
	uint16_t status = read_join(m, &j);

	if (status)
		return status;
	struct mcast_group *g = mcast_find(m->sa->mcast, j.r.mgid);
	const struct mcast_member *mem = g ? mcast_member(g, j.gid) : NULL;

	if (!mem || (mem->join_state & j.state) != j.state ||
	    !may_change(m, &j, g, mem))
		return IB_SA_REQ_INVALID;
	make_record(m->s, g, mem, &r);
	umad_sa_mcm_set_join_state(&r, mcast_leave(m->sa->mcast, g, j.gid, j.state));
	sa_add(m, &r, MCMEMBER_LEN);
	return IB_STATUS_OK;
}
