/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of topologies share: loading text, and printing a fabric as a dump. */
#ifndef TESTS_SIMTOPO_HELPER_H
#define TESTS_SIMTOPO_HELPER_H

#include "sim/topo/topo.h"

/* What came of loading or generating; free it with outcome_free(). */
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

/* Fails the test, with what was said, unless it came out well and without warnings. */
struct outcome good(struct outcome o);
/* Fails unless it was refused, the fabric is empty, and err has each of the texts (NULL ends). */
void refused(struct outcome o, ...) __attribute__((sentinel));

/* As ibnetdiscover prints it, without its header. */
void print_dump(const struct sim_fabric *f, struct buf *out);

uint32_t count_nodes(const struct sim_fabric *f, int type);
uint32_t count_links(const struct sim_fabric *f);
/* Peers are mutual, each port is where it should be, end ports' GUIDs are distinct. */
void check_sound(const struct sim_fabric *f);
/* Each node that is on reaches each other over cables between nodes that are on. */
bool is_connected(const struct sim_fabric *f);
/* A port by the node's description. */
const struct sim_port *port_of(const struct sim_fabric *f, const char *desc, unsigned num);

#endif
