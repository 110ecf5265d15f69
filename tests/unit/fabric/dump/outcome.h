/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a text by way of a file and checks the outcome, for the tests of topology files. */
#ifndef TESTS_FABRIC_DUMP_OUTCOME_H
#define TESTS_FABRIC_DUMP_OUTCOME_H

#include "fabric/dump/dump.h"

/* Free it with outcome_free(). */
struct outcome {
	struct dump *d;		/* NULL: it was refused */
	struct buf err, warn;	/* "path:line: text" lines */
	char path[64];		/* of the file that was read, if it was the test's */
};

struct outcome load_bytes(const char *bytes, size_t n);
struct outcome load(const char *text);
struct outcome load_file(const char *path);
void outcome_free(struct outcome *o);

/* Fails the test, with the messages, if there are errors or warnings. */
struct outcome good(struct outcome o);
/* Fails unless the text was refused and err has each of these texts; a NULL ends them. */
void refused(struct outcome o, ...) __attribute__((sentinel));
/* Fails unless the first error is the path followed by `want`, which begins with ":line: ". */
void refused_at(const char *text, const char *want);

uint32_t count_links(const struct dump *d);
/* Checks the invariants of dump.h. */
void check_sound(const struct dump *d);
/* Finds a port by its node's description. */
const struct dump_port *port_of(const struct dump *d, const char *desc, unsigned num);
const struct dump_node *node_of(const struct dump *d, const char *desc);
/* The test fails unless both ports are there and connected. */
void connected(const struct dump *d, const char *a, unsigned num_a, const char *b, unsigned num_b);
/* The test fails unless the link of the port has the width and speed in `word`. */
void runs_at(const struct dump_port *p, const char *word);

#endif
