/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Match rules, compiled: which rule is the first to match a query.
 *
 * The cost of a query does not grow with the number of rules in any way that
 * shows: each field of the query is turned into a class (ports have theirs
 * ready), each class has a bitmap of the rules that it satisfies, with a
 * summary bit per 64 rules, and the bitmaps are and-ed.  Rules that are alike
 * lie together in the bitmaps, so that few words are ever looked at.
 */
#ifndef QOSD_QOS_MATCH_MATCH_H
#define QOSD_QOS_MATCH_MATCH_H

#include "fabric/fabric.h"
#include "qos/groups/port_groups.h"
#include "qos/policy.h"

/* Fields that a query carries: bits of match_query.has. */
enum {
	MATCH_SERVICE_ID = 1, MATCH_QOS_CLASS = 2, MATCH_TCLASS = 4,
	MATCH_PKEY = 8, MATCH_SL = 16,
};

struct match_query {
	uint32_t src, dst;	/* port indexes of the fabric; always known */
	unsigned has;
	uint64_t service_id;
	uint16_t qos_class;	/* 0..4095 */
	uint16_t pkey;		/* the membership bit is ignored */
	uint8_t tclass, sl;
};

#define MATCH_NO_RULE UINT32_MAX

struct matcher;

/*
 * Policy, fabric and groups must outlive it.  Any number of threads may ask
 * at the same time.
 */
struct matcher *matcher_build(const struct policy *p, const struct fabric *f,
			      const struct group_sets *g);
void matcher_free(struct matcher *m);
/* Rule index or MATCH_NO_RULE. */
uint32_t matcher_first(const struct matcher *m, const struct match_query *q);
/* The level: of the rule, else the policy's default level. */
uint32_t matcher_level(const struct matcher *m, const struct match_query *q, uint32_t *rule);

/*
 * One rule tried the slow way, criterion by criterion, for `explain` and as
 * the reference that tests compare with.  NULL if it matches, else the word of
 * the first criterion that fails ("source", "destination", "either",
 * "service-id", "qos-class", "tclass", "pkey", "sl", "target-guid").
 */
const char *match_rule_fails(const struct policy *p, const struct fabric *f,
			     const struct group_sets *g, uint32_t rule,
			     const struct match_query *q);

#endif
