/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers queries for PathRecords to a multicast group.
 *
 * Such a record has the parameters of the group, whatever level the policy gives the source: the
 * policy already determined the group's parameters.  The source is a member with any JoinState,
 * because switches need not forward packets of other ports.  So it is a GID that joined; a port
 * that joined with several GIDs is several sources.  All components of the query are criteria,
 * also MTU, rate and lifetime.  The requester must have the group's P_Key and share one with the source.
 */
#include <infiniband/umad_types.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "sa/handler.h"
#include "sa/registry/groups.h"

static const struct sa_field fields[] = {
	{ 4, false, 320, 16 },	/* DLID */
	{ 6, false, 352, 1 },	/* RawTraffic */
	{ 8, false, 356, 20 },	/* FlowLabel */
	{ 9, false, 376, 8 },	/* HopLimit */
	{ 10, false, 384, 8 },	/* TClass */
	{ 15, false, 428, 4 },	/* SL */
};

/* Whether the group meets the components that records cannot be compared by: P_Key and selectors. */
static bool selected(const struct path_query *q, const struct mcast_group *g)
{
	return (!sa_has(q, PR_PKEY) || !((q->pkey ^ g->pkey) & IB_PKEY_DEFAULT)) &&
	       (!sa_has(q, PR_MTU_SEL | PR_MTU) ||
		sa_code_meets(SCALE_MTU, q->mtu_sel, q->mtu, g->mtu)) &&
	       (!sa_has(q, PR_RATE_SEL | PR_RATE) ||
		sa_code_meets(SCALE_RATE, q->rate_sel, q->rate, g->rate)) &&
	       (!sa_has(q, PR_LIFE_SEL | PR_LIFE) ||
		sa_code_meets(SCALE_LIFE, q->life_sel, q->life, g->life));
}

/* Makes the record of a member's path; false if it does not match or the requester may not see it. */
static bool fill(const struct subnet_state *s, uint32_t requester, const struct path_query *asked,
		 const struct sa_path_record *want, const struct mcast_group *g, uint32_t port,
		 const struct mcast_member *member, struct sa_path_record *r)
{
	const struct partitions *parts = s->plan->partitions;
	struct path_query q = *asked;
	struct path_answer a = {
		.slid = q.slid ? q.slid : s->plan->lid[port], .dlid = g->mlid, .sl = g->sl,
		.pkey = sa_has(&q, PR_PKEY) ? q.pkey : g->pkey, .mtu = g->mtu, .rate = g->rate,
		.life = g->life, .tclass = g->tclass, .reversible = q.reversible,
	};

	if (!port_is_member(parts, port, g->pkey) || !port_is_member(parts, requester, g->pkey) ||
	    !sa_may_see(s, requester, port) || !selected(&q, g))
		return false;
	q.src = q.dst = port;
	q.src_guid = member->gid.guid;
	q.raw = 0;
	q.num_path = 1;
	q.has |= PR_NUMB_PATH | PR_FLOW | PR_HOP;
	q.flow_label = g->flow_label;
	q.hop_limit = g->hop_limit;
	sa_fill_path(s, &q, &a, r);
	memcpy(r->dgid, g->mgid, sizeof(r->dgid));
	return sa_fields_match(fields, ARRAY_SIZE(fields), q.has & asked->has, want, r, false);
}

/* --- from any member: the group may change or vanish between two steps --- */

struct group_rows {
	struct sa_rows rows;
	const struct subnet_state *s;
	struct mcast_db *mcast;
	struct path_query q;
	struct sa_path_record want;
	uint32_t requester;
	size_t at;		/* index of the next member */
};

static enum sa_step step(struct sa_rows *rows, void *record)
{
	struct group_rows *x = (struct group_rows *)(void *)rows;
	const struct mcast_group *g = mcast_find(x->mcast, x->want.dgid);
	const struct mcast_member *member;
	uint32_t port;

	if (!g || x->at >= g->members.n)
		return SA_END;
	member = &g->members.v[x->at++];
	port = fabric_find_port(x->s->f, member->gid.port);
	return port != FABRIC_NONE && x->s->plan->lid[port] &&
	       fill(x->s, x->requester, &x->q, &x->want, g, port, member, record) ? SA_ROW :
										    SA_SKIP;
}

/* Adds paths from the members at the source port: the GID in the query, or all GIDs of the port. */
static void add_of_port(struct sa_msg *m, const struct path_query *q,
			const struct sa_path_record *want, const struct mcast_group *g)
{
	struct sa_path_record r;
	size_t n;
	const struct mcast_member *members =
		mcast_members_of_port(g, m->s->f->ports[q->src].guid, &n);

	for (size_t i = 0; i < n; i++) {
		if ((q->src_guid && members[i].gid.guid != q->src_guid) ||
		    !fill(m->s, m->requester, q, want, g, q->src, &members[i], &r))
			continue;
		sa_add(m, &r, sizeof(r));
		if (m->method == UMAD_METHOD_GET)
			return;
	}
}

uint16_t sa_group_paths(struct sa_msg *m, const struct path_query *q)
{
	const struct sa_path_record *want = (const void *)m->data;
	const struct mcast_group *g = mcast_find(m->sa->mcast, want->dgid);

	if (!g || (sa_has(q, PR_NUMB_PATH) && !q->num_path && m->method != UMAD_METHOD_GET))
		return IB_SA_NO_RECORDS;
	if (q->src != FABRIC_NONE) {
		add_of_port(m, q, want, g);
		return IB_STATUS_OK;
	}
	struct group_rows *x = xmalloc(sizeof(*x));

	*x = (struct group_rows){
		.rows = { .size = sizeof(x->want), .step = step },
		.s = m->s, .mcast = m->sa->mcast, .q = *q, .want = *want,
		.requester = m->requester,
	};
	m->rows = &x->rows;
	return IB_STATUS_OK;
}
