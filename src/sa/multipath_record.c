/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers MultiPathRecord queries (15.2.5.20) for paths from any of some ports to any of others.
 *
 * The answer has PathRecords, at most NumbPath in all.  The SA accepts as many GIDs as the
 * counts can express, if the request contains them.  The status of the whole query is
 * INVALID_GID if a GID, e.g. a multicast GID, does not belong to a port or, for a
 * destination, to a subnet behind a router.  A GID that is there twice counts once.
 * independent_paths.c serves IndependenceSelector 2; the other values are reserved and ignored.
 */
#include "lib/base/bytes.h"
#include "sa/handler.h"

/* Converts the query's ComponentMask to the bits that the same components have in PathRecord. */
static uint64_t path_mask(uint64_t mask)
{
	static const struct { uint64_t multi, path; } same[] = {
		{ MPR_RAW, PR_RAW }, { MPR_FLOW, PR_FLOW }, { MPR_HOP, PR_HOP },
		{ MPR_TCLASS, PR_TCLASS }, { MPR_REVERSIBLE, PR_REVERSIBLE },
		{ MPR_NUMB_PATH, PR_NUMB_PATH }, { MPR_PKEY, PR_PKEY },
		{ MPR_QOS_CLASS, PR_QOS_CLASS }, { MPR_SL, PR_SL },
		{ MPR_MTU_SEL, PR_MTU_SEL }, { MPR_MTU, PR_MTU },
		{ MPR_RATE_SEL, PR_RATE_SEL }, { MPR_RATE, PR_RATE },
		{ MPR_LIFE_SEL, PR_LIFE_SEL }, { MPR_LIFE, PR_LIFE },
		{ MPR_SERVICE_ID_MSB, PR_SERVICE_ID_MSB },
		{ MPR_SERVICE_ID_LSB, PR_SERVICE_ID_LSB },
	};
	uint64_t out = 0;

	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		if (mask & same[i].multi)
			out |= same[i].path;
	return out;
}

static uint64_t service_id(const struct sa_multipath_record *r)
{
	uint8_t id[8];

	id[0] = r->service_id_msb;
	memcpy(id + 1, r->service_id_lsb, 7);
	return get_be64(id);
}

static void query_from_record(const struct sa_multipath_record *r, uint64_t mask,
			      struct path_query *q)
{
	*q = (struct path_query){ .has = path_mask(mask), .service_id = service_id(r) };
	sa_read_terms(r->hop_flow_raw, q);
}

/* --- the ends --- */

/* A source or a destination: a port, or a GID of another subnet. */
struct path_end {
	uint32_t port;
	uint64_t guid, prefix;		/* as in struct path_query */
};

struct path_pairs {
	const struct sa_msg *m;
	struct path_query q;		/* the query, which is the same for all pairs */
	struct path_end src[UINT8_MAX], dst[UINT8_MAX];
	unsigned n_src, n_dst;
};

/* Adds an end unless it is there already. */
static void add_end(struct path_end *ends, unsigned *n, const struct path_end *e)
{
	for (unsigned i = 0; i < *n; i++)
		if (ends[i].port == e->port && ends[i].guid == e->guid &&
		    ends[i].prefix == e->prefix)
			return;
	ends[(*n)++] = *e;
}

/* Finds all ends before any path search: one bad GID makes the whole query fail. */
static uint16_t find_ends(const struct sa_msg *m, const struct sa_multipath_record *r,
			  struct path_pairs *x)
{
	for (unsigned i = 0; i < r->sgid_count + (unsigned)r->dgid_count; i++) {
		bool is_src = i < r->sgid_count;
		struct path_query q = { .src = FABRIC_NONE, .dst = FABRIC_NONE };
		uint16_t status = is_src ? sa_find_source(m, r->gids[i], &q) :
					   sa_find_destination(m, r->gids[i], &q);

		if (status)
			return status;
		if (is_src)
			add_end(x->src, &x->n_src, &(struct path_end){ q.src, q.src_guid, 0 });
		else
			add_end(x->dst, &x->n_dst,
				&(struct path_end){ q.dst, q.dst_guid, q.dst_prefix });
	}
	return IB_STATUS_OK;
}

static bool begin_pair(const void *arg, unsigned pair, uint32_t max, uint32_t budget,
		       struct path_search *x)
{
	const struct path_pairs *pairs = arg;
	const struct sa_msg *m = pairs->m;
	const struct path_end *src = &pairs->src[pair / pairs->n_dst];
	const struct path_end *dst = &pairs->dst[pair % pairs->n_dst];
	struct path_query q = pairs->q;

	q.src = src->port;
	q.src_guid = src->guid;
	q.dst = dst->port;
	q.dst_guid = dst->guid;
	q.dst_prefix = dst->prefix;
	if (q.dst_prefix)
		q.dst = sa_choose_router(m->s, &q);
	if (q.dst == FABRIC_NONE || !sa_may_see_path(m->s, m->requester, &q))
		return false;
	path_search_begin_pair(x, m->s, &q, max, budget);
	return true;
}

/* Adds paths in the order of the search, at most max in all. */
static void add_paths(struct sa_msg *m, const struct path_pairs *pairs, uint32_t max)
{
	unsigned n = pairs->n_src * pairs->n_dst;
	struct sa_path_record r;
	struct path_search x;
	struct path_answer a;

	for (unsigned i = 0; i < n && max && m->budget; i++) {
		if (!begin_pair(pairs, i, max, m->budget, &x))
			continue;
		for (; path_search_next(&x, &a); max--) {
			sa_fill_path(m->s, &x.q, &a, &r);
			sa_add(m, &r, sizeof(r));
		}
		m->budget = x.budget;
	}
	if (!max)	/* enough paths: a used-up budget is no error */
		m->budget = m->budget ? m->budget : 1;
}

static void add_independent(struct sa_msg *m, const struct path_pairs *pairs, uint32_t max)
{
	struct path_found found[PATHS_PER_PAIR];
	uint32_t n = path_find_independent(m->s, pairs, pairs->n_src * pairs->n_dst, begin_pair,
					   max, &m->budget, found);
	struct sa_path_record r;

	for (uint32_t i = 0; i < n; i++) {
		sa_fill_path(m->s, &found[i].q, &found[i].a, &r);
		sa_add(m, &r, sizeof(r));
	}
}

uint16_t sa_multipath_record(struct sa_msg *m)
{
	const struct sa_multipath_record *r = (const void *)m->data;
	uint64_t counts = MPR_SGID_COUNT | MPR_DGID_COUNT;
	struct path_pairs x = { .m = m };
	bool independent;
	uint32_t max;
	uint16_t status;

	if ((m->mask & counts) != counts)
		return IB_SA_INSUFFICIENT_COMPONENTS;
	if (!r->sgid_count || !r->dgid_count ||
	    m->n < sizeof(*r) + (r->sgid_count + (size_t)r->dgid_count) * sizeof(r->gids[0]))
		return IB_SA_REQ_INVALID;
	query_from_record(r, m->mask, &x.q);
	if ((status = sa_query_check(&x.q)) || (status = find_ends(m, r, &x)))
		return status;
	max = x.q.has & PR_NUMB_PATH ? x.q.num_path : PATHS_PER_PAIR;
	independent = (m->mask & MPR_INDEPENDENCE && r->independence >> 6 == INDEPENDENT) ||
		      path_is_for_migration(&x.q, x.n_src, x.n_dst);
	if (max > 1 && independent)
		add_independent(m, &x, max);
	else
		add_paths(m, &x, max);
	return IB_STATUS_OK;
}
