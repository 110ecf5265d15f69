/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths: what the policy and the routes say of a pair of LIDs (path_resolve),
 * and PathRecord queries, which look for such pairs (15.2.5.16).
 *
 * MultiPathRecord and `explain` ask here too, so that they cannot disagree.
 * A Get allocates nothing and walks nothing: routes were judged when the plan
 * was made (plan/paths.h), match rules were compiled then (qos/match.h).
 */
#include <infiniband/umad_types.h>

#include "base/bytes.h"
#include "ib/units.h"
#include "registry/mcast.h"
#include "sa/handler.h"

#define PORT_INFO_CAPMASK2 60	/* its place in PortInfo */
#define PR_SERVICE_ID (PR_SERVICE_ID_MSB | PR_SERVICE_ID_LSB)

/* --- MTU, rate, lifetime --- */

bool sa_code_valid(enum sa_scale scale, unsigned code)
{
	switch (scale) {
	case SCALE_MTU:
		return mtu_bytes(code) != 0;
	case SCALE_RATE:
		return rate_tenths(code) != 0;
	default:
		return code <= 31;
	}
}

static int compare_codes(enum sa_scale scale, unsigned a, unsigned b)
{
	return scale == SCALE_RATE ? rate_compare(a, b) : (int)a - (int)b;
}

/* The next lower code; false if there is none. */
static bool code_below(enum sa_scale scale, unsigned code, uint8_t *below)
{
	if (scale != SCALE_RATE && code == 0)
		return false;
	*below = (uint8_t)(scale == SCALE_RATE ? rate_slower(code) : code - 1);
	return sa_code_valid(scale, *below);
}

bool sa_select(enum sa_scale scale, unsigned selector, unsigned wanted, uint8_t *code)
{
	int c = compare_codes(scale, *code, wanted);

	switch (selector) {
	case SEL_GREATER:
		return c > 0;
	case SEL_LESS:
		return c < 0 || code_below(scale, wanted, code);
	case SEL_EXACT:
		if (c < 0)
			return false;
		*code = (uint8_t)wanted;
		return true;
	default:	/* SEL_BEST: the most there is */
		return true;
	}
}

bool sa_code_meets(enum sa_scale scale, unsigned selector, unsigned wanted, unsigned code)
{
	int c = compare_codes(scale, code, wanted);

	return selector == SEL_GREATER ? c > 0 : selector == SEL_LESS ? c < 0 :
	       selector == SEL_EXACT ? c == 0 : true;
}

/* --- the path for one pair of LIDs --- */

static bool has(const struct path_query *q, uint64_t bits)
{
	return (q->has & bits) == bits;
}

static bool is_raw(const struct path_query *q)
{
	return has(q, PR_RAW) && q->raw;
}

struct match_query path_match_query(const struct path_query *q)
{
	static const struct { uint64_t query; unsigned match; } same[] = {
		{ PR_SERVICE_ID, MATCH_SERVICE_ID }, { PR_QOS_CLASS, MATCH_QOS_CLASS },
		{ PR_TCLASS, MATCH_TCLASS }, { PR_PKEY, MATCH_PKEY }, { PR_SL, MATCH_SL },
	};
	struct match_query mq = {
		.src = q->src, .dst = q->dst, .service_id = q->service_id,
		.qos_class = q->qos_class, .pkey = q->pkey, .tclass = q->tclass, .sl = q->sl,
	};

	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		if (has(q, same[i].query))
			mq.has |= same[i].match;
	return mq;
}

/* By rules, else by the partition: by its P_Key, asked for or chosen. */
uint32_t path_level(const struct subnet_state *s, const struct path_query *q, uint32_t *rule)
{
	struct match_query mq = path_match_query(q);
	uint32_t level = matcher_level(s->plan->matcher, &mq, rule);
	const struct partitions *parts = s->plan->partitions;

	if (*rule != MATCH_NO_RULE || is_raw(q))	/* raw packets have no P_Key */
		return level;
	uint16_t pkey = has(q, PR_PKEY) ? q->pkey : shared_pkey_of_own_level(parts, q->src, q->dst);
	uint32_t k = partition_of_pkey(parts, pkey);

	return k == UINT32_MAX ? level : s->policy->p->partitions[k].level_index;
}

uint16_t path_lid_by_bits(const struct plan *p, uint32_t port, unsigned path_bits)
{
	return p->lid[port] + (path_bits & ((1u << p->lmc[port]) - 1));
}

/* The one asked for, else the first that both ends and the level have. */
static unsigned choose_pkey(const struct subnet_state *s, const struct path_query *q,
			    const struct path_answer *a, uint16_t *pkey)
{
	const struct partitions *parts = s->plan->partitions;
	uint16_t asked = has(q, PR_PKEY) ? q->pkey : 0;

	*pkey = 0;
	if (is_raw(q))
		return 0;
	if (has(q, PR_PKEY) && (!asked || !shared_pkey(parts, q->src, q->dst, asked)))
		return FAULT_PKEY;
	if (!asked && a->rule == MATCH_NO_RULE)
		*pkey = shared_pkey_of_own_level(parts, q->src, q->dst);
	else
		*pkey = shared_pkey_of_level(parts, a->level, q->src, q->dst, asked);
	if (*pkey) {
		if (asked)	/* a record has what its query asks for, the membership bit too */
			*pkey = asked;
		return 0;
	}
	return asked || shared_pkey(parts, q->src, q->dst, 0) ? FAULT_LEVEL_PKEY : FAULT_NO_PKEY;
}

static unsigned check_path_bits(const struct plan *p, const struct path_query *q,
				const struct policy_level *l, const struct path_answer *a)
{
	bool good = l->path_bits < 0 ||
		    (a->slid == path_lid_by_bits(p, q->src, (unsigned)l->path_bits) &&
		     a->dlid == path_lid_by_bits(p, q->dst, (unsigned)l->path_bits));

	return good ? 0 : FAULT_PATH_BITS;
}

/*
 * Codes of PathRecord.Rate came with the speeds and widths that need them: a port
 * that has none of those may not know what they mean.
 */
static bool port_knows_rate(const struct fabric *f, uint32_t port, unsigned code)
{
	const struct fabric_port *p = &f->ports[port];
	unsigned more = p->capmask & IB_CAP_MASK2 ? get_be16(p->info + PORT_INFO_CAPMASK2) : 0;

	if (code <= IB_RATE_LAST_PLAIN || !p->capmask)	/* nothing is known of its capabilities */
		return true;
	if (code <= IB_RATE_LAST_EXTENDED)
		return p->capmask & IB_CAP_EXT_SPEEDS;
	return more & (code <= IB_RATE_LAST_2X ? IB_CAP2_2X :
		       code <= IB_RATE_LAST_HDR ? IB_CAP2_HDR : IB_CAP2_NDR);
}

/* The greatest rate, at most this one, that both ends know. */
static uint8_t known_rate(const struct subnet_state *s, const struct path_query *q, uint8_t rate)
{
	while (rate && !(port_knows_rate(s->f, q->src, rate) && port_knows_rate(s->f, q->dst, rate)))
		rate = (uint8_t)rate_slower(rate);
	return rate;
}

/* The least of route and level, then the selectors. */
static unsigned choose_limits(const struct subnet_state *s, const struct path_query *q,
			      const struct policy_level *l, struct path_answer *a)
{
	unsigned faults = 0;

	if (l->mtu_limit && l->mtu_limit < a->mtu)
		a->mtu = l->mtu_limit;
	if (l->rate_limit && rate_compare(l->rate_limit, a->rate) < 0)
		a->rate = l->rate_limit;
	a->rate = known_rate(s, q, a->rate);
	if (q->src == q->dst)
		a->life = 0;	/* never leaves the port */
	else if (l->packet_lifetime >= 0)
		a->life = (uint8_t)l->packet_lifetime;
	else
		a->life = s->plan->settings->subnet_timeout;

	if (has(q, PR_MTU_SEL | PR_MTU) && !sa_select(SCALE_MTU, q->mtu_sel, q->mtu, &a->mtu))
		faults |= FAULT_MTU;
	if (has(q, PR_RATE_SEL | PR_RATE) &&
	    !sa_select(SCALE_RATE, q->rate_sel, q->rate, &a->rate))
		faults |= FAULT_RATE;
	else if (q->rate_sel == SEL_LESS)
		a->rate = known_rate(s, q, a->rate);
	if (has(q, PR_LIFE_SEL | PR_LIFE) &&
	    !sa_select(SCALE_LIFE, q->life_sel, q->life, &a->life))
		faults |= FAULT_LIFETIME;
	return faults;
}

/* The way back takes the same SL (13.5.4: a responder just swaps the addresses). */
static unsigned check_reverse(const struct subnet_state *s, const struct path_query *q,
			      struct path_answer *a)
{
	const struct plan *p = s->plan;
	struct path_info back = paths_between(p->paths, s->f, p->lfts, p->tables,
					      q->dst, q->src, a->slid);

	a->reversible = back.mtu && back.sl_mask >> a->sl & 1;
	return has(q, PR_REVERSIBLE) && q->reversible && !a->reversible ? FAULT_REVERSIBLE : 0;
}

/* Rule, level and P_Key: what two ports have in common for all of their LIDs. */
static unsigned resolve_ends(const struct subnet_state *s, const struct path_query *q,
			     struct path_answer *a)
{
	a->level = path_level(s, q, &a->rule);
	return choose_pkey(s, q, a, &a->pkey);
}

/*
 * With what resolve_ends() fills in already, and the faults that it found.  All that
 * is wrong, and not just the first, is found: a query that has a path needs every
 * check anyway.
 */
static unsigned resolve(const struct subnet_state *s, const struct path_query *q,
			struct path_answer *a, unsigned faults)
{
	const struct plan *p = s->plan;
	const struct policy_level *l = &s->policy->p->levels[a->level];

	if (sa_lid_port(s, a->slid) != q->src || sa_lid_port(s, a->dlid) != q->dst)
		return FAULT_LID;
	faults |= check_path_bits(p, q, l, a);
	a->sl = l->sl;
	a->tclass = l->tclass >= 0 ? (uint8_t)l->tclass : has(q, PR_TCLASS) ? q->tclass : 0;
	if (has(q, PR_SL) && q->sl != l->sl)
		faults |= FAULT_SL_ASKED;
	struct path_info way = paths_between(p->paths, s->f, p->lfts, p->tables,
					     q->src, q->dst, a->dlid);
	if (!way.mtu)
		return faults | FAULT_ROUTE;
	if (!(way.sl_mask >> l->sl & 1))
		faults |= FAULT_SL_DROPPED;
	a->mtu = way.mtu;
	a->rate = way.rate;
	return faults | choose_limits(s, q, l, a) | check_reverse(s, q, a);
}

const char *path_fault_text(unsigned faults)
{
	static const char *const texts[] = {
		"the LID is not the port's",
		"the two ends don't share the P_Key asked for",
		"the two ends share no P_Key",
		"the level is not for a P_Key that the two ends share",
		"the level's path bits choose other LIDs",
		"the SL asked for is not the level's",
		"there is no route",
		"the level's SL is dropped on the route",
		"no such MTU on the route and in the level",
		"no such rate on the route and in the level",
		"no such packet lifetime",
		"the route back does not carry the SL",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (faults >> i & 1)
			return texts[i];
	return NULL;
}

const char *path_resolve(const struct subnet_state *s, const struct path_query *q,
			 struct path_answer *a)
{
	*a = (struct path_answer){ .slid = q->slid, .dlid = q->dlid };
	return path_fault_text(resolve(s, q, a, resolve_ends(s, q, a)));
}

/* --- the paths of a query --- */

/* The LIDs of a port that may be tried: all of them, or the one asked for. */
static struct lid_range lids_to_try(const struct plan *p, uint32_t port, uint16_t asked)
{
	if (asked)
		return (struct lid_range){ asked, 1 };
	return (struct lid_range){ p->lid[port], 1u << p->lmc[port] };
}

static struct lid_range narrowed_by_bits(const struct plan *p, uint32_t port,
					 struct lid_range r, int path_bits)
{
	if (path_bits < 0 || r.n == 1)
		return r;
	return (struct lid_range){ path_lid_by_bits(p, port, (unsigned)path_bits), 1 };
}

void path_search_begin(struct path_search *x, const struct subnet_state *s,
		       const struct path_query *q, const uint32_t *srcs, unsigned n_srcs,
		       const uint32_t *dsts, unsigned n_dsts, uint32_t max, uint32_t budget)
{
	*x = (struct path_search){
		.s = s, .q = *q, .srcs = srcs, .dsts = dsts, .n_srcs = n_srcs, .n_dsts = n_dsts,
		.left = max, .budget = budget,
	};
}

/* The next two ports: what they have in common, and the LIDs that come into question. */
static bool next_ends(struct path_search *x)
{
	const struct plan *p = x->s->plan;
	unsigned k = x->n_ends;
	int bits;

	if (k == x->n_srcs * x->n_dsts)
		return false;
	x->n_ends++;
	x->q.src = x->srcs[k / x->n_dsts];
	x->q.dst = x->dsts[k % x->n_dsts];
	x->common = (struct path_answer){ 0 };
	x->common_faults = resolve_ends(x->s, &x->q, &x->common);
	bits = x->s->policy->p->levels[x->common.level].path_bits;
	x->from = narrowed_by_bits(p, x->q.src, lids_to_try(p, x->q.src, x->q.slid), bits);
	x->to = narrowed_by_bits(p, x->q.dst, lids_to_try(p, x->q.dst, x->q.dlid), bits);
	x->pair = 0;
	x->n_pairs = x->from.n * x->to.n;
	return true;
}

/*
 * Pairs of LIDs with equal path bits come first, since those paths share no
 * link more than they must; round after round the destination's bits are
 * shifted by one.  Ranges are powers of two, so that each pair comes once.
 */
bool path_search_try(struct path_search *x, struct path_answer *a, unsigned *faults)
{
	if (!x->left || !x->budget)
		return false;
	while (x->pair == x->n_pairs)
		if (!next_ends(x))
			return false;
	unsigned round_length = x->from.n > x->to.n ? x->from.n : x->to.n;
	unsigned round = x->pair / round_length, k = x->pair % round_length;

	x->pair++;
	x->budget--;
	*a = x->common;
	a->slid = (uint16_t)(x->from.first + k % x->from.n);
	a->dlid = (uint16_t)(x->to.first + (k + round) % x->to.n);
	a->preference = round > UINT8_MAX ? UINT8_MAX : (uint8_t)round;
	*faults = resolve(x->s, &x->q, a, x->common_faults);
	if (!*faults)
		x->left--;
	return true;
}

bool path_search_next(struct path_search *x, struct path_answer *a)
{
	unsigned faults;

	while (path_search_try(x, a, &faults))
		if (!faults)
			return true;
	return false;
}

/* --- records --- */

uint32_t sa_lid_port(const struct subnet_state *s, uint16_t lid)
{
	return lid <= IB_LID_UCAST_MAX ? s->plan->port_by_lid[lid] : FABRIC_NONE;
}

uint16_t sa_gid_port(const struct subnet_state *s, const uint8_t gid[16], uint32_t *port)
{
	uint64_t prefix = get_be64(gid);

	if (prefix != s->plan->settings->subnet_prefix && prefix != IB_DEFAULT_PREFIX)
		return IB_SA_INVALID_GID;
	*port = fabric_find_port(s->f, get_be64(gid + 8));
	return *port != FABRIC_NONE && s->plan->lid[*port] ? IB_STATUS_OK : IB_SA_INVALID_GID;
}

static void port_gid(const struct subnet_state *s, uint32_t port, uint8_t gid[16])
{
	put_be64(gid, s->plan->settings->subnet_prefix);
	put_be64(gid + 8, s->f->ports[port].guid);
}

static uint8_t exactly(unsigned code)
{
	return (uint8_t)(SEL_EXACT << 6 | code);
}

/* What was asked for is said again, so that the record matches the query. */
static bool add_path(struct sa_msg *m, const struct path_query *q, const struct path_answer *a)
{
	unsigned num_path = has(q, PR_NUMB_PATH) ? q->num_path : 0;
	unsigned qos_class = has(q, PR_QOS_CLASS) ? q->qos_class : 0;
	struct sa_path_record r = {
		.tclass = a->tclass, .num_path = (uint8_t)(a->reversible << 7 | num_path),
		.mtu = exactly(a->mtu), .rate = exactly(a->rate), .life = exactly(a->life),
		.preference = a->preference,
	};

	if (has(q, PR_SERVICE_ID))
		put_be64(r.service_id, q->service_id);
	port_gid(m->s, q->dst, r.dgid);
	port_gid(m->s, q->src, r.sgid);
	put_be16(r.dlid, a->dlid);
	put_be16(r.slid, a->slid);
	r.hop_flow_raw[0] = has(q, PR_RAW) && q->raw ? 0x80 : 0;
	put_be16(r.pkey, a->pkey);
	put_be16(r.qos_class_sl, (uint16_t)(qos_class << 4 | a->sl));
	return sa_add(m, &r, sizeof(r));
}

void sa_add_paths(struct sa_msg *m, const struct path_query *q, const uint32_t *srcs,
		  unsigned n_srcs, const uint32_t *dsts, unsigned n_dsts, uint32_t max)
{
	struct path_search search;
	struct path_answer a;

	path_search_begin(&search, m->s, q, srcs, n_srcs, dsts, n_dsts, max, m->budget);
	while (path_search_next(&search, &a))
		if (!add_path(m, &search.q, &a))
			break;
	/* an answer that is too large has no budget left, whatever the search has */
	m->budget = m->budget ? search.budget : 0;
}

/* --- PathRecord queries --- */

static bool selector_valid(const struct path_query *q, uint64_t bits, enum sa_scale scale,
			   unsigned code)
{
	return !has(q, bits) || sa_code_valid(scale, code);
}

uint16_t sa_query_check(const struct path_query *q)
{
	if (q->has & PR_SERVICE_ID && !has(q, PR_SERVICE_ID))
		return IB_SA_INSUFFICIENT_COMPONENTS;
	if (!selector_valid(q, PR_MTU_SEL | PR_MTU, SCALE_MTU, q->mtu) ||
	    !selector_valid(q, PR_RATE_SEL | PR_RATE, SCALE_RATE, q->rate) ||
	    !selector_valid(q, PR_LIFE_SEL | PR_LIFE, SCALE_LIFE, q->life))
		return IB_SA_REQ_INVALID;
	return IB_STATUS_OK;
}

static void query_from_record(const struct sa_path_record *r, uint64_t mask, struct path_query *q)
{
	uint32_t hop_flow_raw = get_be32(r->hop_flow_raw);
	uint16_t qos_class_sl = get_be16(r->qos_class_sl);

	*q = (struct path_query){
		.has = mask, .src = FABRIC_NONE, .dst = FABRIC_NONE,
		.slid = mask & PR_SLID ? get_be16(r->slid) : 0,
		.dlid = mask & PR_DLID ? get_be16(r->dlid) : 0,
		.service_id = get_be64(r->service_id),
		.qos_class = qos_class_sl >> 4, .sl = qos_class_sl & 0xf,
		.pkey = get_be16(r->pkey), .tclass = r->tclass,
		.num_path = r->num_path & 0x7f, .reversible = r->num_path >> 7,
		.mtu_sel = r->mtu >> 6, .mtu = r->mtu & 0x3f,
		.rate_sel = r->rate >> 6, .rate = r->rate & 0x3f,
		.life_sel = r->life >> 6, .life = r->life & 0x3f,
		.raw = hop_flow_raw >> 31, .flow_label = hop_flow_raw >> 8 & 0xfffff,
		.hop_limit = hop_flow_raw & 0xff,
	};
}

/*
 * The port that GID and LID mean, as far as they are given.  FABRIC_NONE with
 * status OK when neither is; NO_RECORDS when nobody has the LID.
 */
static uint16_t find_end(const struct subnet_state *s, bool has_gid, const uint8_t gid[16],
			 bool has_lid, uint16_t lid, uint32_t *port)
{
	uint32_t by_lid = has_lid ? sa_lid_port(s, lid) : FABRIC_NONE;

	*port = by_lid;
	if (has_gid) {
		uint16_t status = sa_gid_port(s, gid, port);

		if (status)
			return status;
	}
	if (has_lid && by_lid == FABRIC_NONE)
		return IB_SA_NO_RECORDS;
	return has_lid && by_lid != *port ? IB_SA_REQ_INVALID : IB_STATUS_OK;
}

/* From or to one port, to or from all: one end is FABRIC_NONE. */
static void add_paths_of_port(struct sa_msg *m, struct path_query *q, uint32_t per_pair)
{
	uint32_t *open_end = q->src == FABRIC_NONE ? &q->src : &q->dst;

	for (uint32_t port = 0; port < m->s->f->n_ports && m->budget; port++) {
		if (!m->s->plan->lid[port])
			continue;
		*open_end = port;
		sa_add_paths(m, q, &q->src, 1, &q->dst, 1, per_pair);
	}
}

/*
 * A path to a multicast group has the group's parameters; the query may say
 * which it expects.
 */
static uint16_t multicast_path(struct sa_msg *m, const struct sa_path_record *asked,
			       const struct path_query *q)
{
	static const struct sa_field fields[] = {
		{ 4, false, 320, 16 },	/* DLID */
		{ 6, false, 352, 1 },	/* RawTraffic */
		{ 8, false, 356, 20 },	/* FlowLabel */
		{ 9, false, 376, 8 },	/* HopLimit */
		{ 10, false, 384, 8 },	/* TClass */
		{ 13, false, 401, 15 },	/* P_Key without the membership bit */
		{ 15, false, 428, 4 },	/* SL */
	};
	const struct mcast_group *g = mcast_find(m->sa->mcast, asked->dgid);

	/* nobody sends to a group whose P_Key he does not have */
	if (!g || port_membership(m->s->plan->partitions, q->src, g->pkey) == MEMBER_NONE)
		return IB_STATUS_OK;
	struct sa_path_record r = {
		.tclass = g->tclass, .num_path = (asked->num_path & 0x80) | 1,
		.mtu = exactly(g->mtu), .rate = exactly(g->rate), .life = exactly(g->life),
	};

	memcpy(r.dgid, g->mgid, sizeof(r.dgid));
	port_gid(m->s, q->src, r.sgid);
	put_be16(r.dlid, g->mlid);
	put_be16(r.slid, q->slid ? q->slid : m->s->plan->lid[q->src]);
	put_be32(r.hop_flow_raw, g->flow_label << 8 | g->hop_limit);
	put_be16(r.pkey, g->pkey);
	put_be16(r.qos_class_sl, g->sl);
	if (sa_fields_match(fields, ARRAY_SIZE(fields), m->mask, asked, &r, false) &&
	    (!has(q, PR_MTU_SEL | PR_MTU) ||
	     sa_code_meets(SCALE_MTU, q->mtu_sel, q->mtu, g->mtu)) &&
	    (!has(q, PR_RATE_SEL | PR_RATE) ||
	     sa_code_meets(SCALE_RATE, q->rate_sel, q->rate, g->rate)) &&
	    (!has(q, PR_LIFE_SEL | PR_LIFE) ||
	     sa_code_meets(SCALE_LIFE, q->life_sel, q->life, g->life)))
		sa_add(m, &r, sizeof(r));
	return IB_STATUS_OK;
}

/*
 * Which components a query must have: 15.2.5.16 wants SGID and NumbPath.  The
 * usual tools ask by LIDs and leave NumbPath out, so that either end will do for
 * a table and both for a Get, by GID or LID.  NumbPath is per pair of ports; a
 * Get is answered with the first path.
 */
uint16_t sa_path_record(struct sa_msg *m)
{
	const struct sa_path_record *r = (const void *)m->data;
	bool to_group = m->mask & PR_DGID && r->dgid[0] == 0xff;
	bool one = m->method == UMAD_METHOD_GET;
	struct path_query q;
	uint16_t status;

	query_from_record(r, m->mask, &q);
	if ((status = sa_query_check(&q)))
		return status;
	if ((status = find_end(m->s, m->mask & PR_SGID, r->sgid,
			       m->mask & PR_SLID, q.slid, &q.src)))
		return status;
	if (to_group)
		return q.src == FABRIC_NONE ? IB_SA_INSUFFICIENT_COMPONENTS :
			multicast_path(m, r, &q);
	if ((status = find_end(m->s, m->mask & PR_DGID, r->dgid,
			       m->mask & PR_DLID, q.dlid, &q.dst)))
		return status;
	unsigned ends = (q.src != FABRIC_NONE) + (q.dst != FABRIC_NONE);
	uint32_t max = one ? 1 : has(&q, PR_NUMB_PATH) ? q.num_path : PATHS_PER_PAIR;

	if (ends < (one ? 2 : 1))
		return IB_SA_INSUFFICIENT_COMPONENTS;
	if (ends == 2)
		sa_add_paths(m, &q, &q.src, 1, &q.dst, 1, max);
	else
		add_paths_of_port(m, &q, max);
	return IB_STATUS_OK;
}
