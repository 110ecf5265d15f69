/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the first match rule that matches a query, by compiled bitmaps.
 *
 * The cost of a query hardly grows with the number of rules.  Each field of the query is turned into a
 * class (those of ports are precomputed), each class has a bitmap of the rules that it satisfies, with a
 * summary bit per 64 rules, and the bitmaps are and-ed.  Similar rules are neighbours in the bitmaps, so a
 * query looks at few words.
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
	uint32_t src, dst;	/* port indexes of the fabric; always set */
	unsigned has;
	uint64_t service_id;
	uint16_t qos_class;	/* 0..4095 */
	uint16_t pkey;		/* the membership bit is ignored */
	uint8_t tclass, sl;
};

#define MATCH_NO_RULE UINT32_MAX

struct matcher;

/*
 * Compiles the rules.  Policy, fabric and groups must outlive the matcher.  Any number of threads may
 * query it at the same time.
 */
struct matcher *matcher_build(const struct policy *p, const struct fabric *f,
			      const struct group_sets *g);
void matcher_free(struct matcher *m);
/* Returns the index of the first matching rule, or MATCH_NO_RULE. */
uint32_t matcher_first(const struct matcher *m, const struct match_query *q);
/*
 * Returns the index of the level of the first matching rule, or the policy's default level.  *rule: as by
 * matcher_first().
 */
uint32_t matcher_level(const struct matcher *m, const struct match_query *q, uint32_t *rule);

/*
 * Tests one rule criterion by criterion, without bitmaps, for `explain` and as the reference for tests.
 * NULL if it matches, else the word of the first criterion that fails ("source", "destination", "either",
 * "service-id", "qos-class", "tclass", "pkey", "sl", "target-guid").
 */
const char *match_rule_fails(const struct policy *p, const struct fabric *f,
			     const struct group_sets *g, uint32_t rule,
			     const struct match_query *q);

#endif
