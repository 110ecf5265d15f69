/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subnet administrator: request bytes in, answer bytes out.
 *
 * sa_answer() does no I/O: it reads the published state and what clients
 * registered, and changes only the latter (Set and Delete).  Every
 * request gets an answer with the status that IBA defines, but for what
 * IBA says to drop: a response, a MAD of another class or base version, an
 * SM_Key that is neither 0 nor ours (C15-0.1.5).
 */
#ifndef QOSD_SA_SA_H
#define QOSD_SA_SA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "plan/state.h"

struct mcast_db;		/* registry/mcast.h */
struct services;		/* registry/services.h */
struct subscriptions;		/* registry/subscriptions.h */

struct sa_stats {
	uint64_t requests, answered, dropped, busy;
	uint64_t by_attr[256];	/* index: attribute id & 0xff */
	uint64_t errors[8];	/* by SA status code 1..7, [0]: MAD status */
};

/* Adds b to a. */
void sa_stats_add(struct sa_stats *a, const struct sa_stats *b);

struct sa {
	struct subnet_state *state;	/* NULL: not master, or no sweep done yet */
	struct mcast_db *mcast;		/* never NULL */
	struct services *services;	/* these two: NULL takes none */
	struct subscriptions *subscriptions;
	uint64_t sm_key;
	struct sa_stats stats;
};

struct sa_request {
	const uint8_t *mad;
	size_t len;			/* as received; may be anything */
	uint16_t slid;			/* of the requester */
	uint32_t qpn;			/* its QP */
	uint16_t pkey_index;		/* in our port's table, of the packet's P_Key */
	int64_t now_us;			/* of a monotonic clock, for leases */
};

/*
 * Fills out (emptied first) with the whole answer MAD: 56 bytes of headers and
 * the records.  The answer to GetTable and GetMulti has its RMPP header set and
 * ends with its last record; any other is 256 bytes.  False: nothing is to be
 * sent.
 */
bool sa_answer(struct sa *sa, const struct sa_request *req, struct buf *out);

/*
 * A Get of a PathRecord in one MAD: most of what an SA is asked, and answered
 * without changing anything but sa->stats, if mcast_sync() saw the state before.
 */
bool sa_is_path_get(const uint8_t *mad, size_t len);

/* An answer of the MAD status BUSY to req, for overload.  False: drop. */
bool sa_answer_busy(struct sa *sa, const struct sa_request *req, struct buf *out);

/* --- why a path is what it is, for `qosd-ctl explain` (sa/path.c) --- */

/* A query in host terms. `has` uses the PR_* bits of ib/sa.h. */
struct path_query {
	uint64_t has;
	uint32_t src, dst;		/* port indexes */
	uint16_t slid, dlid;		/* 0: any of the port's */
	uint64_t service_id;
	uint16_t qos_class, pkey;
	uint8_t tclass, sl, num_path;
	bool reversible;
	uint8_t mtu_sel, mtu, rate_sel, rate, life_sel, life;
	uint8_t raw, hop_limit;
	uint32_t flow_label;
};

struct path_answer {
	uint16_t slid, dlid, pkey;
	uint8_t sl, mtu, rate, life, tclass;
	bool reversible;
	uint8_t preference;		/* of a search: the record's, 0 is best */
	uint32_t rule;			/* MATCH_NO_RULE: none matched */
	uint32_t level;
};

/* What stands in the way of a path: bits, in the order in which it is said. */
enum {
	FAULT_LID = 1 << 0,		/* nothing else is known then */
	FAULT_PKEY = 1 << 1,		/* asked for, and not shared */
	FAULT_NO_PKEY = 1 << 2,		/* none is shared */
	FAULT_LEVEL_PKEY = 1 << 3,
	FAULT_PATH_BITS = 1 << 4,
	FAULT_SL_ASKED = 1 << 5,	/* by the query, and it is not the level's */
	FAULT_ROUTE = 1 << 6,		/* none of the later ones is known then */
	FAULT_SL_DROPPED = 1 << 7,
	FAULT_MTU = 1 << 8,		/* what the query's selector wants can't be had */
	FAULT_RATE = 1 << 9,
	FAULT_LIFETIME = 1 << 10,
	FAULT_REVERSIBLE = 1 << 11,
};
/* The first of them in words; NULL if there is none. */
const char *path_fault_text(unsigned faults);

/*
 * The level that the query gets, and the rule or MATCH_NO_RULE: then it is that of
 * the partition, else the policy's default level.  LIDs do not matter.
 */
uint32_t path_level(const struct subnet_state *s, const struct path_query *q, uint32_t *rule);
/*
 * The path for one (slid, dlid); both must be set.  NULL when there is one,
 * else why there is none, in words.
 */
const char *path_resolve(const struct subnet_state *s, const struct path_query *q,
			 struct path_answer *a);

/* The LID of a port that path bits choose; they wrap round where the LMC is less. */
uint16_t path_lid_by_bits(const struct plan *p, uint32_t port, unsigned path_bits);
/* What the match rules see of a query. */
struct match_query path_match_query(const struct path_query *q);

/* 0, or the status if components contradict each other or make no sense. */
uint16_t sa_query_check(const struct path_query *q);

#define PATHS_PER_PAIR 127	/* paths of one answer: what NumbPath can count to */
#define SA_SEARCH_MAX (1u << 17)	/* pairs of LIDs looked at for one request */

struct lid_range {
	uint16_t first;
	unsigned n;
};

/*
 * The paths that a query gets, from any of some ports to any of others, one by
 * one in the order of the answer: for each pair of ports the pairs of their
 * LIDs, or of the LIDs that the query or the level's path bits choose.
 */
struct path_search {
	struct path_query q;		/* src and dst: of what was tried last */
	uint32_t left, budget;		/* paths and pairs of LIDs still to come */
	/* the rest is the search's own */
	const struct subnet_state *s;
	const uint32_t *srcs, *dsts;
	unsigned n_srcs, n_dsts, n_ends;	/* n_ends: pairs of ports begun */
	struct path_answer common;	/* rule, level and P_Key of these two, */
	unsigned common_faults;		/* … and what is wrong with them */
	struct lid_range from, to;
	unsigned pair, n_pairs;
};
/*
 * srcs and dsts, ports with LIDs, must outlive the search.  Those of q are not
 * looked at.  At most max paths, and budget pairs of LIDs looked at.
 */
void path_search_begin(struct path_search *x, const struct subnet_state *s,
		       const struct path_query *q, const uint32_t *srcs, unsigned n_srcs,
		       const uint32_t *dsts, unsigned n_dsts, uint32_t max, uint32_t budget);
/* The next path; false if there is none, or the budget is used up. */
bool path_search_next(struct path_search *x, struct path_answer *a);
/* The next pair of LIDs, whether it makes a path (no faults) or not. */
bool path_search_try(struct path_search *x, struct path_answer *a, unsigned *faults);

#endif
