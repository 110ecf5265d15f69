/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subnet administrator: request bytes in, answer bytes out.
 *
 * sa_answer() does no I/O: it reads the published state and the multicast
 * database, and changes only the latter (MCMemberRecord Set and Delete).  Every
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

struct mcast_db;		/* plan/mcast.h */

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
	uint64_t sm_key;
	struct sa_stats stats;
};

struct sa_request {
	const uint8_t *mad;
	size_t len;			/* as received; may be anything */
	uint16_t slid;			/* of the requester */
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
	uint32_t rule;			/* MATCH_NO_RULE: none matched */
	uint32_t level;
};

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

#endif
