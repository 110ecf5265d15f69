/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Declares what match_order.c, match_ports.c and match_build.c share while they build a matcher. */
#ifndef QOSD_QOS_MATCH_MATCH_BUILD_H
#define QOSD_QOS_MATCH_MATCH_BUILD_H

#include "lib/base/alloc.h"
#include "qos/groups/port_guids.h"
#include "qos/intern.h"
#include "qos/match/matcher.h"

struct build {
	struct matcher *m;
	const struct policy *p;
	uint32_t n_rules;		/* rules before the first one without criteria */
	const struct fabric *f;
	const struct group_sets *g;
	struct guid_index guids;
	struct intern chunks;
};

/* The rows of one criterion while they are built. */
struct row_build {
	struct build *b;
	enum criterion criterion;
	uint32_t *place;		/* [rule]: its bit in a row, or NO_PLACE */
	uint32_t *rule_at;		/* [bit]: its rule, or NO_PLACE */
	struct intern rows;		/* each a list of chunk numbers */
	VEC(uint64_t) summaries;
};
#define NO_PLACE UINT32_MAX

bool has_criterion(const struct policy_rule *r, enum criterion c);
/* The ranges of a criterion on a value; the group names of a criterion on ports. */
const struct u64_ranges *ranges_of(const struct policy_rule *r, enum criterion c);
const struct policy_names *names_of(const struct policy_rule *r, enum criterion c);
/* The number of values that a criterion can have; 0: it is on ports, or has all 64 bits. */
uint32_t value_count(enum criterion c);

/* Returns the number of the row with these chunks; adds it if it is new. */
uint32_t put_row(struct row_build *r, const uint32_t *chunks);

/* Sorts the rules into groups and sets the shape of the rows. */
void order_rules(struct build *b);
/* Fills the ports' rows of the criterion source, destination or either. */
void build_ports(struct row_build *r);

#endif
