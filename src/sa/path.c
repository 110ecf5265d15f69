/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes the path of a pair of LIDs from policy and routes, and searches for paths between ports.
 *
 * PathRecord, MultiPathRecord and `explain` all use this code, so that they cannot
 * disagree.  It allocates nothing and walks no route: routes were checked when the
 * plan was made (plan/paths.h), and match rules were compiled then (qos/match/match.h).
 */
#include "lib/base/bytes.h"
#include "lib/iba/units.h"
#include "sa/handler.h"

#define PORT_INFO_CAPMASK2 60	/* byte offset in PortInfo */
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
	default:	/* SEL_BEST: the greatest code */
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

static bool is_raw(const struct path_query *q)
{
	return sa_has(q, PR_RAW) && q->raw;
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
		if (sa_has(q, same[i].query))
			mq.has |= same[i].match;
	return mq;
}

/*
 * Whether a query that no rule matches is for IP beside the partition's broadcast group: it names the
 * group's P_Key and SL, which are all that tells a client of IPoIB its level, and no service.  Linux names
 * the group's TClass instead of the SL, and gets the partition's level.
 */
static bool is_beside_group(const struct subnet_state *s, const struct path_query *q,
			    const struct policy_partition *part)
{
	const struct policy_level *levels = s->policy->p->levels;

	return part->ipoib && sa_has(q, PR_PKEY | PR_SL) &&
	       !(q->has & (PR_SERVICE_ID | PR_QOS_CLASS)) &&
	       q->sl == levels[part->ipoib_level_index].sl && q->sl != levels[part->level_index].sl;
}

/*
 * The level of a matching rule, else that of the partition or of its IPoIB group.  In the latter cases
 * *pkey is the P_Key that decided, asked for or chosen; it is the path's P_Key.
 */
static uint32_t find_level(const struct subnet_state *s, const struct path_query *q,
			   uint32_t *rule, uint16_t *pkey)
{
	struct match_query mq = path_match_query(q);
	uint32_t level = matcher_level(s->plan->matcher, &mq, rule);
	const struct partitions *parts = s->plan->partitions;

	if (*rule != MATCH_NO_RULE || is_raw(q))	/* raw packets have no P_Key */
		return level;
	*pkey = sa_has(q, PR_PKEY) ? q->pkey : shared_pkey_of_own_level(parts, q->src, q->dst);
	uint32_t k = partition_of_pkey(parts, *pkey);

	if (k == UINT32_MAX)
		return level;
	const struct policy_partition *part = &s->policy->p->partitions[k];

	return is_beside_group(s, q, part) ? part->ipoib_level_index : part->level_index;
}

uint32_t path_level(const struct subnet_state *s, const struct path_query *q, uint32_t *rule)
{
	uint16_t pkey;

	return find_level(s, q, rule, &pkey);
}

uint16_t path_lid_by_bits(const struct plan *p, uint32_t port, unsigned path_bits)
{
	return p->lid[port] + (path_bits & (plan_lids_of(p, port) - 1));
}

/*
 * Chooses the P_Key: the one asked for; else, if a rule chose the level, the first that both ends
 * and the level have; else the one that find_level() left in *pkey.  Returns faults.
 */
static unsigned choose_pkey(const struct subnet_state *s, const struct path_query *q,
			    const struct path_answer *a, uint16_t *pkey)
{
	const struct partitions *parts = s->plan->partitions;
	uint16_t asked = sa_has(q, PR_PKEY) ? q->pkey : 0;

	if (is_raw(q)) {
		*pkey = 0;
		return 0;
	}
	if (sa_has(q, PR_PKEY) && (!asked || !shared_pkey(parts, q->src, q->dst, asked))) {
		*pkey = 0;
		return FAULT_PKEY;
	}
	if (asked || a->rule != MATCH_NO_RULE)
		*pkey = shared_pkey_of_level(parts, a->level, q->src, q->dst, asked);
	if (*pkey) {
		if (asked)	/* the record repeats the query's P_Key with its membership bit */
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
 * Newer codes of PathRecord.Rate came with new speeds and widths: a port that supports
 * none of those may not know the codes.
 */
static bool port_knows_rate(const struct fabric *f, uint32_t port, unsigned code)
{
	const struct fabric_port *p = &f->ports[port];
	unsigned more = p->capmask & IB_CAP_MASK2 ? get_be16(p->info + PORT_INFO_CAPMASK2) : 0;

	if (code <= IB_RATE_LAST_PLAIN || !p->capmask)	/* capmask 0: capabilities are not known */
		return true;
	if (code <= IB_RATE_LAST_EXTENDED)
		return p->capmask & IB_CAP_EXT_SPEEDS;
	return more & (code <= IB_RATE_LAST_2X ? IB_CAP2_2X :
		       code <= IB_RATE_LAST_HDR ? IB_CAP2_HDR :
		       code <= IB_RATE_LAST_NDR ? IB_CAP2_NDR : IB_CAP2_XDR);
}

/* The greatest rate up to `rate` whose code both ends know. */
static uint8_t known_rate(const struct subnet_state *s, const struct path_query *q, uint8_t rate)
{
	while (rate && !(port_knows_rate(s->f, q->src, rate) && port_knows_rate(s->f, q->dst, rate)))
		rate = (uint8_t)rate_slower(rate);
	return rate;
}

/* Limits MTU, rate and lifetime to those of route and level, then applies the selectors. */
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
		a->life = 0;	/* the packet never leaves the port */
	else if (l->packet_lifetime >= 0)
		a->life = (uint8_t)l->packet_lifetime;
	else
		a->life = s->plan->settings->subnet_timeout;

	if (sa_has(q, PR_MTU_SEL | PR_MTU) && !sa_select(SCALE_MTU, q->mtu_sel, q->mtu, &a->mtu))
		faults |= FAULT_MTU;
	if (sa_has(q, PR_RATE_SEL | PR_RATE) &&
	    !sa_select(SCALE_RATE, q->rate_sel, q->rate, &a->rate))
		faults |= FAULT_RATE;
	else if (q->rate_sel == SEL_LESS)
		a->rate = known_rate(s, q, a->rate);
	if (sa_has(q, PR_LIFE_SEL | PR_LIFE) &&
	    !sa_select(SCALE_LIFE, q->life_sel, q->life, &a->life))
		faults |= FAULT_LIFETIME;
	return faults;
}

/* Checks that the route back carries the same SL: a responder only swaps the addresses (13.5.4). */
static unsigned check_reverse(const struct subnet_state *s, const struct path_query *q,
			      struct path_answer *a)
{
	const struct plan *p = s->plan;
	struct path_info back = paths_between(p->paths, s->f, p->lfts, p->tables,
					      q->dst, q->src, a->slid);

	a->reversible = back.mtu && back.sl_mask >> a->sl & 1;
	return sa_has(q, PR_REVERSIBLE) && q->reversible && !a->reversible ? FAULT_REVERSIBLE : 0;
}

/* Sets rule, level and P_Key, which are the same for all LIDs of two ports; returns faults. */
static unsigned resolve_ends(const struct subnet_state *s, const struct path_query *q,
			     struct path_answer *a)
{
	a->pkey = 0;
	a->level = find_level(s, q, &a->rule, &a->pkey);
	return choose_pkey(s, q, a, &a->pkey);
}

/*
 * Completes the path after resolve_ends(), whose faults the caller passes.  Finds all
 * faults, not only the first: a query that has a path needs every check anyway.
 */
static unsigned resolve(const struct subnet_state *s, const struct path_query *q,
			struct path_answer *a, unsigned faults)
{
	const struct plan *p = s->plan;
	const struct policy_level *l = &s->policy->p->levels[a->level];

	if (sa_lid_port(s, a->slid) != q->src || sa_lid_port(s, a->dlid) != q->dst)
		return FAULT_LID;
	faults |= check_path_bits(p, q, l, a);
	/* a router decrements the hop limit and drops the packet at 0 (8.3.6) */
	if (q->dst_prefix && sa_has(q, PR_HOP) && q->hop_limit < 2)
		faults |= FAULT_HOP_LIMIT;
	a->sl = plan_sl(p, l->sl, q->src, q->dst);
	a->tclass = l->tclass >= 0 ? (uint8_t)l->tclass : sa_has(q, PR_TCLASS) ? q->tclass : 0;
	if (sa_has(q, PR_SL) && q->sl != a->sl)
		faults |= FAULT_SL_ASKED;
	struct path_info way = paths_between(p->paths, s->f, p->lfts, p->tables,
					     q->src, q->dst, a->dlid);
	if (!way.mtu)
		return faults | FAULT_ROUTE;
	if (!(way.sl_mask >> a->sl & 1))
		faults |= FAULT_SL_DROPPED;
	a->mtu = way.mtu;
	a->rate = way.rate;
	return faults | choose_limits(s, q, l, a) | check_reverse(s, q, a);
}

const char *path_fault_text(unsigned faults)
{
	static const char *const texts[] = {
		"the port does not have the LID",
		"the two ends do not share the requested P_Key",
		"the two ends share no P_Key",
		"the level is restricted to P_Keys that the two ends do not share",
		"the level's path bits select other LIDs",
		"the level has another SL than requested",
		"there is no route",
		"the level's SL is dropped on the route",
		"the route and the level do not have the requested MTU",
		"the route and the level do not have the requested rate",
		"the packet lifetime is not as requested",
		"the route back does not carry the SL",
		"the requested hop limit does not reach beyond a router",
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

/* The LIDs of a port to try: all of them, or the one asked for. */
static struct lid_range lids_to_try(const struct plan *p, uint32_t port, uint16_t asked)
{
	if (asked)
		return (struct lid_range){ asked, 1 };
	return (struct lid_range){ p->lid[port], plan_lids_of(p, port) };
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

void path_search_begin_pair(struct path_search *x, const struct subnet_state *s,
			    const struct path_query *q, uint32_t max, uint32_t budget)
{
	path_search_begin(x, s, q, NULL, 1, NULL, 1, max, budget);
}

/* Goes on to the next pair of ports: resolves it and sets the LIDs to try. */
static bool next_ends(struct path_search *x)
{
	const struct plan *p = x->s->plan;
	unsigned k = x->n_ends;
	int bits;

	if (k == x->n_srcs * x->n_dsts)
		return false;
	x->n_ends++;
	if (x->srcs) {
		x->q.src = x->srcs[k / x->n_dsts];
		x->q.dst = x->dsts[k % x->n_dsts];
	}
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
 * Pairs of LIDs with equal path bits come first, since those paths share as few links
 * as possible.  Each further round shifts the destination's path bits by one.  The
 * ranges are powers of two, so that each pair comes once.
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

	while (path_search_try(x, a, &faults)) {
		if (!faults)
			return true;
		path_search_pass(x);
	}
	return false;
}

void path_search_pass(struct path_search *x)
{
	if (x->common_faults)
		x->pair = x->n_pairs;
}
