/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of topology files share: reading a text by way of a file, and what came of it. */
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

/* Fails the test, with what was said, unless it came out well and without warnings. */
struct outcome good(struct outcome o);
/* Fails unless it was refused, and err has each of the texts (NULL ends). */
void refused(struct outcome o, ...) __attribute__((sentinel));
/* Fails unless the first error is there, "path" and this, a text that begins with ":line: ". */
void refused_at(const char *text, const char *want);

uint32_t count_links(const struct dump *d);
/* The invariants of dump.h. */
void check_sound(const struct dump *d);
/* A port by the node's description. */
const struct dump_port *port_of(const struct dump *d, const char *desc, unsigned num);
const struct dump_node *node_of(const struct dump *d, const char *desc);
/* The test fails unless both ports are there and connected. */
void connected(const struct dump *d, const char *a, unsigned num_a, const char *b, unsigned num_b);
/* The test fails unless the cable of the port is as fast as the word says. */
void runs_at(const struct dump_port *p, const char *word);

#endif
