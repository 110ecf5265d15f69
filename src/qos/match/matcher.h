/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines the compiled match rules: groups, slots, rows and chunks.
 *
 * Rules that have the same criteria form a group, in which each rule has a slot.  Slots are not in the
 * order of the rules: rules that agree in the most selective criterion are neighbours.  So the rules that
 * a query can match are in few words of the bitmaps, however many rules there are.  The first matching
 * rule is the one with the lowest index.
 *
 * A row is a bitmap of the rules that one value of one criterion satisfies.  It covers the slots of all
 * groups that have the criterion, one part for each.  Rows share content: a row is a list of chunks of 512
 * slots, and equal chunks and equal rows are stored once.  A row's summary has a bit for each of its words
 * that is not zero, and starts anew with each part.
 *
 * For `either`, the rows of a query's two ends are or-ed.
 */
#ifndef QOSD_QOS_MATCH_MATCHER_H
#define QOSD_QOS_MATCH_MATCHER_H

#include "qos/match/match.h"
#include "qos/match/match_steps.h"

/* CRIT_DESTINATION includes target-guid. */
enum criterion {
	CRIT_SOURCE, CRIT_DESTINATION, CRIT_EITHER, CRIT_SERVICE_ID,
	CRIT_QOS_CLASS, CRIT_TCLASS, CRIT_PKEY, CRIT_SL, CRITERION_COUNT
};

#define CHUNK_WORDS 8
#define CHUNK_SLOTS (CHUNK_WORDS * 64)

struct chunk {
	uint64_t word[CHUNK_WORDS];
};

/* Where a group's part begins in the rows of a criterion. */
struct row_part {
	enum criterion criterion;
	uint32_t summary, chunk;
};

/* 64 slots of a group. */
struct slot_word {
	uint32_t lowest;	/* lowest rule in it */
	bool ascending;		/* its rules are in rising order */
};

/*
 * Rules with the same criteria.  The last group collects rules with rare combinations; there, a criterion
 * that a rule lacks is always satisfied.
 */
struct rule_group {
	struct row_part part[CRITERION_COUNT];
	unsigned n_parts;	/* of criteria other than `either` */
	bool has_either;
	struct row_part either;
	uint32_t n_summaries, n_chunks;
	uint32_t lowest;	/* lowest rule in it */
	uint32_t n_rules;
	uint32_t *rules;	/* [slot] */
	struct slot_word *words;
};
/* The limit on groups; each costs every query a little time. */
#define RULE_GROUPS_MAX 16

struct rows {
	uint32_t n_summaries, n_chunks;	/* of one row */
	uint64_t *summaries;		/* [row * n_summaries + i] */
	uint32_t *chunks;		/* [row * n_chunks + i] */
};

struct port_rows {
	uint32_t source, destination, either;
};

struct matcher {
	const struct policy *p;
	uint32_t otherwise;		/* first rule without criteria, or MATCH_NO_RULE */
	unsigned used;			/* bit per criterion: some rule before `otherwise` has it */
	struct rule_group *groups;	/* in order of their lowest rule */
	uint32_t n_groups;
	struct chunk *chunks;
	struct rows rows[CRITERION_COUNT];
	struct port_rows *ports;	/* [port slot] */
	struct steps service_ids;
	uint32_t *by_value[CRITERION_COUNT];	/* [criterion]: [value]: its row; NULL if not used */
	uint32_t absent[CRITERION_COUNT];	/* [criterion]: row of a query without the field */
};

#endif
