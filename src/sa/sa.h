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

#include "lib/base/buf.h"
#include "plan/published_state.h"
#include "sa/sa_stats.h"

struct mcast_db;		/* sa/registry/groups.h */
struct sa_trace;		/* sa/request_trace.h */
struct alias_db;		/* sa/registry/alias.h */
struct services;		/* sa/registry/services.h */
struct subscriptions;		/* sa/registry/subscriptions.h */

/*
 * What the SM knows beside the published state, asked in the thread that asks the
 * SA; a function that is NULL knows nothing.
 */
struct sa_sm_info {
	uint64_t guid;			/* of its port */
	uint32_t act_count;
	uint8_t priority, state;
};
struct sa_sm_hooks {
	/* The i-th SM of the subnet, 0 is our own.  False: there are no more. */
	bool (*sm_info)(void *arg, uint32_t i, struct sa_sm_info *out);
	/* The multicast forwarding tables that are known begin with so many blocks. */
	uint32_t (*mft_blocks)(void *arg);
	/* A block of a switch, by its GUID.  False: what it holds is not known. */
	bool (*mft_block)(void *arg, uint64_t guid, unsigned block, unsigned position,
			  uint8_t entries[64]);
	void *arg;
};

struct sa_replica;		/* lib/iba/sa_records.h */

struct sa {
	struct subnet_state *state;	/* NULL: not master, or no sweep done yet */
	struct mcast_db *mcast;		/* never NULL */
	struct sa_sm_hooks sm;
	struct alias_db *alias;		/* NULL: there are none, and takes none */
	struct services *services;	/* these two: NULL takes none */
	struct subscriptions *subscriptions;
	/*
	 * What another SM that stands by takes over: answers a query of SA_ATTR_REPLICA from the
	 * port of that GUID, or returns the status of a refusal; who may ask is for it to
	 * decide.  May be NULL: nothing is told.
	 */
	uint16_t (*replicate)(void *arg, uint64_t from, const struct sa_replica *query,
			      struct sa_replica *answer);
	void *replicate_arg;
	const struct sa_coming *coming;	/* NULL: nothing */
	struct holdings *holdings;	/* of the registries; may be NULL: nothing is bounded */
	uint64_t sm_key;
	struct sa_trace *trace;		/* may be NULL */
	struct sa_stats *stats;		/* may be NULL */
	unsigned timer;			/* which requests are timed */
};

/*
 * What is on its way to the devices and not in the published state yet: LIDs that another port
 * has than before, or nobody had; P_Keys (without membership bit) that ports get, and the LIDs of
 * those ports: all others are answered by what is published.
 */
struct sa_coming {
	uint64_t lids[0x10000 / 64];
	uint64_t pkeys[0x8000 / 64], members[0x10000 / 64];
};

struct sa_request {
	const uint8_t *mad;
	size_t len;			/* as received; may be anything */
	uint16_t slid;			/* of the requester */
	int64_t arrived_us;		/* monotonic; 0: not known, leases then have no end */
	uint32_t qpn;			/* its QP */
	uint16_t pkey_index;		/* in our port's table, of the packet's P_Key */
};

/*
 * Fills out (emptied first) with the whole answer MAD: 56 bytes of headers and
 * the records.  The answer to GetTable and GetMulti has its RMPP header set and
 * ends with its last record; any other is 256 bytes.  False: nothing is to be
 * sent.
 */
bool sa_answer(struct sa *sa, const struct sa_request *req, struct buf *out);

/*
 * Whether a valid request can't be answered yet: there is no published state, or the requester,
 * or a P_Key that it names, is about to be part of it.  sa_begin() drops it without a
 * word; whoever can keeps it and asks again.
 */
bool sa_waits(const struct sa *sa, const struct sa_request *req);

/*
 * sa_answer() without building it whole: SA_WHOLE as above, where the answer is one MAD
 * and cost little; SA_LATER with an answer in the making, which holds what it needs of the
 * published state.  Reading it is for the thread that has sa.
 */
struct sa_job;
enum sa_outcome { SA_DROP, SA_WHOLE, SA_LATER };
enum sa_outcome sa_begin(struct sa *sa, const struct sa_request *req, struct buf *out,
			 struct sa_job **job);
/*
 * True if so many steps of search are enough for all of it and it is one MAD: then that is in out.
 * ahead: if it is not, records are made ahead, so that the first segment of a table that is not long
 * can tell its length.
 */
bool sa_job_try(struct sa_job *j, unsigned steps, bool ahead, struct buf *out);
/*
 * The next SA_SEGMENT bytes of records; _LAST: *n of them, and no more to come;
 * _LATER: there were not enough within so many steps, to be asked again.
 */
#define SA_SEGMENT 200
enum sa_read { SA_READ_MORE, SA_READ_LAST, SA_READ_LATER };
enum sa_read sa_job_read(struct sa_job *j, unsigned steps, uint8_t data[SA_SEGMENT], size_t *n);
/* When something was read: the headers, 56 bytes, and whether it goes by RMPP. */
bool sa_job_head(const struct sa_job *j, uint8_t head[56]);
size_t sa_job_held(const struct sa_job *j);	/* bytes of memory */
size_t sa_job_total(const struct sa_job *j);	/* bytes of records, 0: not all are made yet */
/* In its place, before anything was read of it: an answer of BUSY; NULL: nothing is sent. */
void sa_job_refuse(struct sa_job *j, struct buf *out);
void sa_job_free(struct sa_job *j);	/* one that was not read to its end counts as abandoned */

/*
 * A Get of a PathRecord in one MAD: most of what an SA is asked, and answered
 * without changing anything but sa->stats, if mcast_sync() saw the state before.
 */
bool sa_is_path_get(const uint8_t *mad, size_t len);

/* An answer of the MAD status BUSY to req, for overload.  False: drop. */
bool sa_answer_busy(struct sa *sa, const struct sa_request *req, struct buf *out);

/* --- why a path is what it is, for `qosd-ctl explain` (sa/path.c) --- */

/* A query in host terms. `has` uses the PR_* bits of lib/iba/sa_records.h. */
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
	uint64_t src_guid, dst_guid;	/* of the GIDs asked for; 0: the port's own */
	uint64_t dst_prefix;		/* of another subnet's GID: dst is a router; 0: this one */
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
	FAULT_HOP_LIMIT = 1 << 12,
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

#define PATHS_PER_PAIR 127	/* what NumbPath can count to */
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
/* The same between the two ports of q. */
void path_search_begin_pair(struct path_search *x, const struct subnet_state *s,
			    const struct path_query *q, uint32_t max, uint32_t budget);
/* The next path; false if there is none, or the budget is used up. */
bool path_search_next(struct path_search *x, struct path_answer *a);
/* The next pair of LIDs, whether it makes a path (no faults) or not. */
bool path_search_try(struct path_search *x, struct path_answer *a, unsigned *faults);
/* Leaves out the other LIDs of two ports that can have no path whatever the LIDs. */
void path_search_pass(struct path_search *x);

/* --- paths that have little in common (sa/independent_paths.c) --- */

struct path_found {
	struct path_query q;		/* its src and dst are the path's */
	struct path_answer a;		/* preference: what it shares with those before it */
};
/* Begins the search between a pair of ports; false: there is nothing to find. */
typedef bool path_begin_pair(const void *pairs, unsigned pair, uint32_t max, uint32_t budget,
			     struct path_search *x);
/*
 * Fills out with at most max paths of those between n pairs, as independent of each
 * other as can be; returns their number.  Takes what it looks at from the budget.
 */
uint32_t path_find_independent(const struct subnet_state *s, const void *pairs, unsigned n,
			       path_begin_pair *begin, uint32_t max, uint32_t *budget,
			       struct path_found *out);
/*
 * Whether that is wanted by the shape of the query alone: two ports at either end and
 * two paths is how Automatic Path Migration asks for a path and its alternate.
 */
bool path_is_for_migration(const struct path_query *q, unsigned n_srcs, unsigned n_dsts);

#endif
