/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A matcher in the making: what match_order.c, match_ports.c and match_build.c share. */
#ifndef QOSD_QOS_MATCH_MATCH_BUILD_H
#define QOSD_QOS_MATCH_MATCH_BUILD_H

#include "lib/base/alloc.h"
#include "qos/groups/port_guids.h"
#include "qos/intern.h"
#include "qos/match/matcher.h"

struct build {
	struct matcher *m;
	const struct policy *p;
	uint32_t n_rules;		/* those before the first without criteria */
	const struct fabric *f;
	const struct group_sets *g;
	struct guid_index guids;
	struct intern chunks;
};

/* The rows of one criterion in the making. */
struct row_build {
	struct build *b;
	enum criterion criterion;
	uint32_t *place;		/* per rule: its bit in a row, or NO_PLACE */
	uint32_t *rule_at;		/* per bit: the rule, or NO_PLACE */
	struct intern rows;		/* lists of chunks */
	VEC(uint64_t) summaries;
};
#define NO_PLACE UINT32_MAX

bool has_criterion(const struct policy_rule *r, enum criterion c);
/* The ranges of a criterion by value, the groups of one by port. */
const struct u64_ranges *ranges_of(const struct policy_rule *r, enum criterion c);
const struct policy_names *names_of(const struct policy_rule *r, enum criterion c);
/* How many values a criterion has; 0: ports, or all 64 bits. */
uint32_t value_count(enum criterion c);

/* The number of the row with these chunks. */
uint32_t put_row(struct row_build *r, const uint32_t *chunks);

/* Fills groups and the shape of the rows. */
void order_rules(struct build *b);
/* Fills the ports' rows of a criterion on source, destination or either. */
void build_ports(struct row_build *r);

#endif
