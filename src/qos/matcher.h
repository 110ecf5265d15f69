/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The compiled match rules.
 *
 * A row is a bitmap of all rules: those which one value of one criterion
 * satisfies.  Rows share their content: a row is a list of chunks of 512
 * rules, and equal chunks and equal rows are stored once, so that the memory
 * follows what the rules say rather than rules times values.  A row's summary
 * has a bit for each of its words that is not zero.
 *
 * A rule without a criterion has its bit in every row of that criterion.  In
 * the rows for `either` also, so that a query's two rows are or-ed.
 */
#ifndef QOSD_QOS_MATCHER_H
#define QOSD_QOS_MATCHER_H

#include "qos/match.h"
#include "qos/steps.h"

/* target-guid is part of the destination here. */
enum criterion {
	CRIT_SOURCE, CRIT_DESTINATION, CRIT_EITHER, CRIT_SERVICE_ID,
	CRIT_QOS_CLASS, CRIT_TCLASS, CRIT_PKEY, CRIT_SL, CRITERION_COUNT
};

#define CHUNK_WORDS 8
#define CHUNK_RULES (CHUNK_WORDS * 64)

struct chunk {
	uint64_t word[CHUNK_WORDS];
};

struct port_rows {
	uint32_t source, destination, either;
};

struct matcher {
	const struct policy *p;
	unsigned used;			/* bit per criterion that any rule has */
	size_t n_chunks, n_summaries;	/* per row */
	struct chunk *chunks;
	uint32_t *rows;			/* [row * n_chunks + i]: chunk */
	uint64_t *summaries;		/* [row * n_summaries + i] */
	struct port_rows *ports;	/* per port slot */
	struct steps service_ids;
	uint32_t *by_value[CRITERION_COUNT];	/* the row of each value; NULL where not used */
	uint32_t absent[CRITERION_COUNT];	/* the row of a query without the field */
};

#endif
