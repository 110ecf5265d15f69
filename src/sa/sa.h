/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declares the subnet administrator (SA), which turns the bytes of a request into those of its answer.
 *
 * sa_answer() does no I/O: it reads the published state and the registries, and changes
 * only the registries (Set and Delete).  Every request gets an answer with the status that
 * IBA defines, except those that IBA wants dropped: a response, a MAD of another class or
 * base version, a request with an SM_Key that is neither 0 nor ours (C15-0.1.5).
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
 * What the SM knows besides the published state.  The SA calls these hooks in the thread
 * of its caller; a hook that is NULL knows nothing.
 */
struct sa_sm_info {
	uint64_t guid;			/* GUID of the SM's port */
	uint32_t act_count;
	uint8_t priority, state;
};
struct sa_sm_hooks {
	/* The i-th SM of the subnet; 0 is our own.  False: there are no more. */
	bool (*sm_info)(void *arg, uint32_t i, struct sa_sm_info *out);
	/* The number of multicast forwarding table blocks that may be known. */
	uint32_t (*mft_blocks)(void *arg);
	/* A multicast forwarding table block of the switch with a GUID.  False: its content is not known. */
	bool (*mft_block)(void *arg, uint64_t guid, unsigned block, unsigned position,
			  uint8_t entries[64]);
	void *arg;
};

struct sa_replica;		/* lib/iba/sa_records.h */

struct sa {
	struct subnet_state *state;	/* NULL: not master, or no sweep done yet */
	struct mcast_db *mcast;		/* never NULL */
	struct sa_sm_hooks sm;
	struct alias_db *alias;		/* NULL: aliases are not supported */
	struct services *services;	/* NULL: the SA refuses all services */
	struct subscriptions *subscriptions;	/* NULL: the SA refuses all subscriptions */
	/*
	 * Answers a standby's query of SA_ATTR_REPLICA, which came from the port with GUID `from`,
	 * or returns the status of a refusal; it decides which ports may ask.  NULL: the SA
	 * refuses all such queries.
	 */
	uint16_t (*replicate)(void *arg, uint64_t from, const struct sa_replica *query,
			      struct sa_replica *answer);
	void *replicate_arg;
	const struct sa_coming *coming;	/* NULL: nothing is coming */
	struct holdings *holdings;	/* of the registries; NULL: nothing is bounded */
	uint64_t sm_key;
	struct sa_trace *trace;		/* may be NULL */
	struct sa_stats *stats;		/* may be NULL */
	unsigned timer;			/* counter that selects the requests to be timed */
};

/*
 * What the SM is writing to devices that is not in the published state yet.  lids: LIDs that are
 * new or move to another port; pkeys: P_Keys (without membership bit) that ports get; members: LIDs
 * of those ports.  Requests about other LIDs and P_Keys are answered from the published state.
 */
struct sa_coming {
	uint64_t lids[0x10000 / 64];
	uint64_t pkeys[0x8000 / 64], members[0x10000 / 64];
};

struct sa_request {
	const uint8_t *mad;
	size_t len;			/* bytes received; may be anything */
	uint16_t slid;			/* SLID of the requester */
	int64_t arrived_us;		/* monotonic; 0: not known, leases then have no end */
	uint32_t qpn;			/* QP of the requester */
	uint16_t pkey_index;		/* index of the packet's P_Key in our port's P_Key table */
};

/*
 * Empties out and fills it with the whole answer MAD: 56 bytes of headers and
 * the records.  The answer to GetTable, GetTraceTable and GetMulti has its RMPP header
 * set and ends with its last record; any other is 256 bytes.  False: send no answer.
 */
bool sa_answer(struct sa *sa, const struct sa_request *req, struct buf *out);

/*
 * Whether a valid request cannot be answered yet: there is no published state, or the requester's
 * LID or a P_Key that the request names is coming (struct sa_coming).  sa_begin() drops such a
 * request without an answer; a caller that can hold it should do so and try again.
 */
bool sa_waits(const struct sa *sa, const struct sa_request *req);

/*
 * Like sa_answer(), but does not build a long answer at once.  SA_WHOLE: out has the answer, which
 * is one MAD and cost little.  SA_LATER: *job is an answer in the making, with a reference to
 * the published state.  Only the thread that uses sa may read it.  SA_DROP: send no answer.
 */
struct sa_job;
enum sa_outcome { SA_DROP, SA_WHOLE, SA_LATER };
enum sa_outcome sa_begin(struct sa *sa, const struct sa_request *req, struct buf *out,
			 struct sa_job **job);
/*
 * Makes records in at most `steps` steps.  True: the answer is complete, is one MAD, and is in out.
 * ahead: makes more records than one MAD holds, so that the first segment of a short table can
 * contain its length.
 */
bool sa_job_try(struct sa_job *j, unsigned steps, bool ahead, struct buf *out);
/*
 * Reads the next SA_SEGMENT bytes of records.  SA_READ_LAST: these *n bytes are the last;
 * SA_READ_LATER: `steps` steps did not make enough records, call again.
 */
#define SA_SEGMENT 200
enum sa_read { SA_READ_MORE, SA_READ_LAST, SA_READ_LATER };
enum sa_read sa_job_read(struct sa_job *j, unsigned steps, uint8_t data[SA_SEGMENT], size_t *n);
/* After the first read: the 56 bytes of headers; returns whether the answer is sent by RMPP. */
bool sa_job_head(const struct sa_job *j, uint8_t head[56]);
size_t sa_job_held(const struct sa_job *j);	/* bytes of memory */
size_t sa_job_total(const struct sa_job *j);	/* bytes of all records; 0: not all are made yet */
/* Replaces a job that was not read yet by an answer of BUSY in out; out NULL: by no answer. */
void sa_job_refuse(struct sa_job *j, struct buf *out);
void sa_job_free(struct sa_job *j);	/* counts a job not read to its end as abandoned */

/*
 * Whether a MAD is a Get of a PathRecord: the most frequent request, which changes
 * nothing but sa->stats if mcast_sync() was called for the state.
 */
bool sa_is_path_get(const uint8_t *mad, size_t len);

/* Fills out with an answer of BUSY to req, for overload.  False: send no answer. */
bool sa_answer_busy(struct sa *sa, const struct sa_request *req, struct buf *out);

/* --- paths, and the reasons for them, which `qosd-ctl explain` shows (sa/path.c) --- */

/* A path query in host byte order.  `has` is a mask of PR_* bits (lib/iba/sa_records.h). */
struct path_query {
	uint64_t has;
	uint32_t src, dst;		/* port indexes */
	uint16_t slid, dlid;		/* 0: any LID of the port */
	uint64_t service_id;
	uint16_t qos_class, pkey;
	uint8_t tclass, sl, num_path;
	bool reversible;
	uint8_t mtu_sel, mtu, rate_sel, rate, life_sel, life;
	uint8_t raw, hop_limit;
	uint32_t flow_label;
	uint64_t src_guid, dst_guid;	/* GUIDs in the requested GIDs; 0: the port's own */
	uint64_t dst_prefix;		/* prefix of another subnet: dst is a router; 0: this subnet */
};

struct path_answer {
	uint16_t slid, dlid, pkey;
	uint8_t sl, mtu, rate, life, tclass;
	bool reversible;
	uint8_t preference;		/* Preference of the record, set by a search; 0: best */
	uint32_t rule;			/* MATCH_NO_RULE: none matched */
	uint32_t level;
};

/* Why a pair of LIDs has no path: bits, the most important fault first. */
enum {
	FAULT_LID = 1 << 0,		/* no other fault is known then */
	FAULT_PKEY = 1 << 1,		/* the ends do not share the P_Key asked for */
	FAULT_NO_PKEY = 1 << 2,		/* the ends share no P_Key */
	FAULT_LEVEL_PKEY = 1 << 3,
	FAULT_PATH_BITS = 1 << 4,
	FAULT_SL_ASKED = 1 << 5,	/* the level's SL is not the one asked for */
	FAULT_ROUTE = 1 << 6,		/* no later fault is known then */
	FAULT_SL_DROPPED = 1 << 7,
	FAULT_MTU = 1 << 8,		/* MTU, and next two: the selector cannot be met */
	FAULT_RATE = 1 << 9,
	FAULT_LIFETIME = 1 << 10,
	FAULT_REVERSIBLE = 1 << 11,
	FAULT_HOP_LIMIT = 1 << 12,
};
/* The text of the first fault; NULL if there is none. */
const char *path_fault_text(unsigned faults);

/*
 * The level that the query gets.  *rule is the match rule that gave it; MATCH_NO_RULE: it is
 * the partition's level, or the policy's default level.  LIDs do not matter.
 */
uint32_t path_level(const struct subnet_state *s, const struct path_query *q, uint32_t *rule);
/*
 * The path from q->slid to q->dlid, which must be set.  Returns NULL if there is one,
 * else the text of the reason why not.
 */
const char *path_resolve(const struct subnet_state *s, const struct path_query *q,
			 struct path_answer *a);

/* The LID of a port with these path bits, modulo the number of the port's LIDs. */
uint16_t path_lid_by_bits(const struct plan *p, uint32_t port, unsigned path_bits);
/* The part of a query that match rules look at. */
struct match_query path_match_query(const struct path_query *q);

/* Returns 0, or the status if components are incomplete or have invalid values. */
uint16_t sa_query_check(const struct path_query *q);

#define PATHS_PER_PAIR 127	/* largest NumbPath */
#define SA_SEARCH_MAX (1u << 17)	/* most pairs of LIDs that one request may try */

struct lid_range {
	uint16_t first;
	unsigned n;
};

/*
 * Searches for the paths of a query from any source port to any destination port, one by one in
 * the order of the answer: for each pair of ports the pairs of their LIDs, or of the LIDs that
 * the query or the level's path bits choose.
 */
struct path_search {
	struct path_query q;		/* the query; src and dst: ports of the last try */
	uint32_t left, budget;		/* most paths and tries of LID pairs still to come */
	/* private to the search */
	const struct subnet_state *s;
	const uint32_t *srcs, *dsts;
	unsigned n_srcs, n_dsts, n_ends;	/* n_ends: number of pairs of ports begun */
	struct path_answer common;	/* rule, level and P_Key of the present pair of ports */
	unsigned common_faults;		/* faults of that pair */
	struct lid_range from, to;	/* LIDs of that pair to try */
	unsigned pair, n_pairs;		/* LID pairs tried, and all, of that pair */
};
/*
 * The ports srcs and dsts must have LIDs, and the arrays must outlive the search; q->src and
 * q->dst are ignored.  The search returns at most max paths and tries at most budget pairs
 * of LIDs.
 */
void path_search_begin(struct path_search *x, const struct subnet_state *s,
		       const struct path_query *q, const uint32_t *srcs, unsigned n_srcs,
		       const uint32_t *dsts, unsigned n_dsts, uint32_t max, uint32_t budget);
/* The same for q->src and q->dst only. */
void path_search_begin_pair(struct path_search *x, const struct subnet_state *s,
			    const struct path_query *q, uint32_t max, uint32_t budget);
/* The next path; false: there are no more, or the budget is used up. */
bool path_search_next(struct path_search *x, struct path_answer *a);
/* Tries the next pair of LIDs; it has a path if *faults is 0.  False: no more, or no budget. */
bool path_search_try(struct path_search *x, struct path_answer *a, unsigned *faults);
/* Skips the other LID pairs of the present two ports if these cannot have a path with any LIDs. */
void path_search_pass(struct path_search *x);

/* --- independent paths (sa/independent_paths.c) --- */

struct path_found {
	struct path_query q;		/* the query; src and dst are the ends of the path */
	struct path_answer a;		/* preference: parts shared with the paths before it */
};
/* Begins the search between the pair of ports with an index; false: the pair has no paths. */
typedef bool path_begin_pair(const void *pairs, unsigned pair, uint32_t max, uint32_t budget,
			     struct path_search *x);
/*
 * Fills out with at most max paths between n pairs of ports, which share as few switches and
 * links as possible; returns their number.  Subtracts the tried pairs of LIDs from *budget.
 */
uint32_t path_find_independent(const struct subnet_state *s, const void *pairs, unsigned n,
			       path_begin_pair *begin, uint32_t max, uint32_t *budget,
			       struct path_found *out);
/*
 * Whether the form of a query alone asks for independent paths: for Automatic Path Migration,
 * a client asks for two paths, a path and its alternate, between two ports and two others.
 */
bool path_is_for_migration(const struct path_query *q, unsigned n_srcs, unsigned n_dsts);

#endif
