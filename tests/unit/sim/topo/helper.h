/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads topologies from text and prints fabrics as dumps, for the tests of topologies. */
#ifndef TESTS_SIMTOPO_HELPER_H
#define TESTS_SIMTOPO_HELPER_H

#include "sim/topo/topo.h"

/* The outcome of loading or generating; free it with outcome_free(). */
struct outcome {
	bool ok;
	struct sim_fabric *f;
	struct buf err, warn;
	char path[64];		/* of the file that was loaded */
};

struct outcome load_bytes(const char *bytes, size_t n);
struct outcome load(const char *text);
struct outcome load_file(const char *path);
struct outcome generate(const char *spec);
void outcome_free(struct outcome *o);

/* Fails the test, with the messages, if there are errors or warnings. */
struct outcome good(struct outcome o);
/* Fails unless it was refused, the fabric is empty, and err has each of these texts; a NULL ends them. */
void refused(struct outcome o, ...) __attribute__((sentinel));

/* Prints the fabric in ibnetdiscover's format, without the header. */
void print_dump(const struct sim_fabric *f, struct buf *out);

uint32_t count_nodes(const struct sim_fabric *f, int type);
uint32_t count_links(const struct sim_fabric *f);
/* Checks that peers are mutual, ports are in their places, and GUIDs of end ports are distinct. */
void check_sound(const struct sim_fabric *f);
/* Whether all nodes that are on reach each other over cables between nodes that are on. */
bool is_connected(const struct sim_fabric *f);
/* Finds a port by its node's description. */
const struct sim_port *port_of(const struct sim_fabric *f, const char *desc, unsigned num);

#endif
