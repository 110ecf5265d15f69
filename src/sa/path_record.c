/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers PathRecord queries (15.2.5.16), by Get for one path and by GetTable for all.
 *
 * Ends: a Get must give both ends, by GID or LID, because its one record would be arbitrary
 * otherwise.  In a GetTable, which the usual tools use to ask for less, either end or both
 * may be open.  An open end is each end port in turn, including a port's paths to
 * itself: IBA asks for them (PacketLifeTime of a loopback path is 0)
 * and OpenSM returns them.  NumbPath counts per pair of ports; without it a table has
 * all of their paths.  A Get returns one path whatever NumbPath says.
 *
 * Criteria: MTU, rate and lifetime are criteria if both selector and value are
 * given.  Preference, which ranks the answers, and reserved bits never are.
 * FlowLabel and HopLimit do not affect the route within the subnet, so that the
 * record repeats the query's values.  TClass is a criterion of match rules only; the
 * record has the level's TClass, if the level sets one.
 *
 * The query for a TraceRecord (trace_record.c) has a PathRecord, too, and traces the path
 * that a Get would return.
 */
#include <infiniband/umad_types.h>

#include <stddef.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "sa/handler.h"

#define PR_SERVICE_ID (PR_SERVICE_ID_MSB | PR_SERVICE_ID_LSB)
#define HOP_LIMIT_MAX 255	/* of a path to another subnet, if the query has none */

/* --- the record --- */

static void put_gid(uint8_t gid[16], uint64_t prefix, uint64_t guid)
{
	put_be64(gid, prefix);
	put_be64(gid + 8, guid);
}

static uint32_t hop_flow_raw(const struct path_query *q)
{
	uint32_t hop = sa_has(q, PR_HOP) ? q->hop_limit : q->dst_prefix ? HOP_LIMIT_MAX : 0;
	uint32_t flow = sa_has(q, PR_FLOW) ? q->flow_label : 0;

	return (uint32_t)(sa_has(q, PR_RAW) && q->raw) << 31 | flow << 8 | hop;
}

void sa_fill_path(const struct subnet_state *s, const struct path_query *q,
		  const struct path_answer *a, struct sa_path_record *r)
{
	uint64_t prefix = s->plan->settings->subnet_prefix;
	unsigned num_path = sa_has(q, PR_NUMB_PATH) ? q->num_path : 0;
	unsigned qos_class = sa_has(q, PR_QOS_CLASS) ? q->qos_class : 0;

	*r = (struct sa_path_record){
		.tclass = a->tclass, .num_path = (uint8_t)(a->reversible << 7 | num_path),
		.mtu = sa_exactly(a->mtu), .rate = sa_exactly(a->rate), .life = sa_exactly(a->life),
		.preference = a->preference,
	};
	if (sa_has(q, PR_SERVICE_ID))
		put_be64(r->service_id, q->service_id);
	put_gid(r->dgid, q->dst_prefix ? q->dst_prefix : prefix,
		q->dst_guid ? q->dst_guid : s->f->ports[q->dst].guid);
	put_gid(r->sgid, prefix, q->src_guid ? q->src_guid : s->f->ports[q->src].guid);
	put_be16(r->dlid, a->dlid);
	put_be16(r->slid, a->slid);
	put_be32(r->hop_flow_raw, hop_flow_raw(q));
	put_be16(r->pkey, a->pkey);
	put_be16(r->qos_class_sl, (uint16_t)(qos_class << 4 | a->sl));
}

/* --- the query --- */

static bool selector_valid(const struct path_query *q, uint64_t bits, enum sa_scale scale,
			   unsigned selector, unsigned code)
{
	/* "largest available" needs no value */
	return !sa_has(q, bits) || selector == SEL_BEST || sa_code_valid(scale, code);
}

uint16_t sa_query_check(const struct path_query *q)
{
	if (q->has & PR_SERVICE_ID && !sa_has(q, PR_SERVICE_ID))
		return IB_SA_INSUFFICIENT_COMPONENTS;
	if (!selector_valid(q, PR_MTU_SEL | PR_MTU, SCALE_MTU, q->mtu_sel, q->mtu) ||
	    !selector_valid(q, PR_RATE_SEL | PR_RATE, SCALE_RATE, q->rate_sel, q->rate) ||
	    !selector_valid(q, PR_LIFE_SEL | PR_LIFE, SCALE_LIFE, q->life_sel, q->life))
		return IB_SA_REQ_INVALID;
	return IB_STATUS_OK;
}

/* The components that both records have in the same layout; see sa_read_terms(). */
struct terms {
	uint8_t hop_flow_raw[4], tclass, num_path, pkey[2], qos_class_sl[2], mtu, rate, life;
};
#define SAME_TERMS(record) \
	_Static_assert(offsetof(record, life) - offsetof(record, hop_flow_raw) == \
		       offsetof(struct terms, life), "what both records have alike")
SAME_TERMS(struct sa_path_record);
SAME_TERMS(struct sa_multipath_record);

void sa_read_terms(const uint8_t *hop_flow_raw, struct path_query *q)
{
	const struct terms *t = (const void *)hop_flow_raw;
	uint32_t hop_flow = get_be32(t->hop_flow_raw);
	uint16_t qos_class_sl = get_be16(t->qos_class_sl);

	q->raw = hop_flow >> 31;
	q->flow_label = hop_flow >> 8 & 0xfffff;
	q->hop_limit = hop_flow & 0xff;
	q->tclass = t->tclass;
	q->reversible = t->num_path >> 7;
	q->num_path = t->num_path & 0x7f;
	q->pkey = get_be16(t->pkey);
	q->qos_class = qos_class_sl >> 4;
	q->sl = qos_class_sl & 0xf;
	q->mtu_sel = t->mtu >> 6;
	q->mtu = t->mtu & 0x3f;
	q->rate_sel = t->rate >> 6;
	q->rate = t->rate & 0x3f;
	q->life_sel = t->life >> 6;
	q->life = t->life & 0x3f;
}

static void query_from_record(const struct sa_path_record *r, uint64_t mask, struct path_query *q)
{
	*q = (struct path_query){
		.has = mask, .src = FABRIC_NONE, .dst = FABRIC_NONE,
		.slid = mask & PR_SLID ? get_be16(r->slid) : 0,
		.dlid = mask & PR_DLID ? get_be16(r->dlid) : 0,
		.service_id = get_be64(r->service_id),
	};
	sa_read_terms(r->hop_flow_raw, q);
}

static bool is_to_group(const struct sa_msg *m)
{
	const struct sa_path_record *r = (const void *)m->data;

	return m->mask & PR_DGID && r->dgid[0] == 0xff;
}

/* Reads the query and finds its ends, except a multicast group as destination. */
static uint16_t read_query(const struct sa_msg *m, bool needs_both, struct path_query *q)
{
	const struct sa_path_record *r = (const void *)m->data;
	uint16_t status;

	query_from_record(r, m->mask, q);
	if ((status = sa_query_check(q)))
		return status;
	if ((status = sa_find_source(m, m->mask & PR_SGID ? r->sgid : NULL, q)))
		return status;
	if (needs_both && q->src == FABRIC_NONE)
		return IB_SA_INSUFFICIENT_COMPONENTS;
	if (is_to_group(m))
		return IB_STATUS_OK;
	if ((status = sa_find_destination(m, m->mask & PR_DGID ? r->dgid : NULL, q)))
		return status;
	return needs_both && q->dst == FABRIC_NONE && !q->dst_prefix ?
	       IB_SA_INSUFFICIENT_COMPONENTS : IB_STATUS_OK;
}

/* --- Get: the first path between two ports --- */

static uint16_t first_path(const struct sa_msg *m, struct path_query *q, struct path_answer *a)
{
	struct path_search search;

	if (q->dst_prefix && (q->dst = sa_choose_router(m->s, q)) == FABRIC_NONE)
		return IB_SA_NO_RECORDS;
	if (!sa_may_see_path(m->s, m->requester, q))
		return IB_SA_NO_RECORDS;
	path_search_begin_pair(&search, m->s, q, 1, UINT32_MAX);
	return path_search_next(&search, a) ? IB_STATUS_OK : IB_SA_NO_RECORDS;
}

uint16_t sa_the_path(const struct sa_msg *m, struct path_query *q, struct path_answer *a)
{
	uint16_t status = read_query(m, true, q);

	if (status)
		return status;
	return is_to_group(m) ? IB_SA_NO_RECORDS : first_path(m, q, a);
}

static uint16_t get_path(struct sa_msg *m, struct path_query *q)
{
	struct path_answer a;
	struct sa_path_record r;
	uint16_t status = first_path(m, q, &a);

	if (status)
		return status;
	sa_fill_path(m->s, q, &a, &r);
	sa_add(m, &r, sizeof(r));
	return IB_STATUS_OK;
}

/* --- GetTable: all pairs of ports that the query is about, one pair of LIDs at a time --- */

#define GAP_MAX 64	/* most unassigned LIDs that one step skips */

/* One end: a given port, or all ports in the order of their LIDs. */
struct end_walk {
	bool open;
	uint32_t given;
	uint32_t lid;		/* next LID to look at */
};

struct path_rows {
	struct sa_rows rows;
	const struct subnet_state *s;
	struct path_query q;
	uint32_t requester, max;	/* max: paths for each pair */
	struct end_walk from, to;
	bool has_src, searching;
	struct path_search search;
};

/* The next port; FABRIC_NONE: not found yet, call again; false: there are no more. */
static bool walk(const struct subnet_state *s, struct end_walk *w, uint32_t *port)
{
	const struct plan *p = s->plan;

	*port = FABRIC_NONE;
	if (!w->open) {
		*port = w->given;
		return w->lid++ == 0;
	}
	if (w->lid > p->lid_top)
		return false;
	for (unsigned gap = 0; gap < GAP_MAX && w->lid <= p->lid_top; gap++) {
		*port = p->port_by_lid[w->lid];
		if (*port == FABRIC_NONE) {
			w->lid++;
			continue;
		}
		w->lid += 1u << p->lmc[*port];
		break;
	}
	return true;
}

static void begin_pair(struct path_rows *x)
{
	struct path_query *q = &x->q;

	if (q->dst_prefix)
		q->dst = sa_choose_router(x->s, q);
	x->searching = q->dst != FABRIC_NONE && sa_may_see_path(x->s, x->requester, q);
	if (x->searching)
		path_search_begin_pair(&x->search, x->s, q, x->max, UINT32_MAX);
}

/* Goes on towards the next pair of ports, one walk at a time; false: there are no more. */
static bool next_pair(struct path_rows *x)
{
	if (!x->has_src) {
		if (!walk(x->s, &x->from, &x->q.src))
			return false;
		/* skip the paths of a source that the requester may not see */
		x->has_src = x->q.src != FABRIC_NONE &&
			     (x->requester == x->q.src ||
			      sa_may_see(x->s, x->requester, x->q.src));
		x->to.lid = 0;		/* begins again */
		return true;
	}
	if (walk(x->s, &x->to, &x->q.dst))
		begin_pair(x);
	else
		x->has_src = false;
	return true;
}

static enum sa_step step(struct sa_rows *rows, void *record)
{
	struct path_rows *x = (struct path_rows *)(void *)rows;
	struct path_answer a;
	unsigned faults;

	if (!x->searching)
		return next_pair(x) ? SA_SKIP : SA_END;
	if (!path_search_try(&x->search, &a, &faults)) {
		x->searching = false;
		return SA_SKIP;
	}
	if (faults) {
		path_search_pass(&x->search);
		return SA_SKIP;
	}
	sa_fill_path(x->s, &x->search.q, &a, record);
	return SA_ROW;
}

static uint16_t table(struct sa_msg *m, const struct path_query *q)
{
	uint32_t max = sa_has(q, PR_NUMB_PATH) ? q->num_path : UINT32_MAX;
	struct path_rows *x;

	if (!max)
		return IB_STATUS_OK;
	x = xmalloc(sizeof(*x));
	*x = (struct path_rows){
		.rows = { .size = sizeof(struct sa_path_record), .step = step },
		.s = m->s, .q = *q, .requester = m->requester, .max = max,
		.from = { .open = q->src == FABRIC_NONE, .given = q->src },
		.to = { .open = q->dst == FABRIC_NONE && !q->dst_prefix, .given = q->dst },
	};
	m->rows = &x->rows;
	return IB_STATUS_OK;
}

uint16_t sa_path_record(struct sa_msg *m)
{
	bool one = m->method == UMAD_METHOD_GET;
	struct path_query q;
	uint16_t status = read_query(m, one, &q);

	if (status)
		return status;
	if (is_to_group(m))
		return sa_group_paths(m, &q);
	return one ? get_path(m, &q) : table(m, &q);
}
