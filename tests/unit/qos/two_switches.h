/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds a fabric of two switches and two hosts, and all inputs of tables, for one test
 * at a time:
 *
 *   host0/P1 -- leaf/P1   leaf/P5 -- spine/P1
 *   host1/P1 -- leaf/P2   leaf/P6 -- spine/P2
 */
#ifndef TESTS_QOS_TWO_SWITCHES_H
#define TESTS_QOS_TWO_SWITCHES_H

#include "helper.h"
#include "qos/tables/qos_tables.h"

enum { HOST0, HOST1, LEAF, SPINE, ROUTER, NODES };	/* ROUTER: if a test adds one */

#define HOSTS	0x0002c90300000000ULL
#define LEAF_G	0x0002c90200000001ULL
#define SPINE_G	0x0002c90200000002ULL

extern struct port_caps node_caps[NODES];
extern struct fabric *f;
extern struct policy *p;
extern struct findings findings;
extern struct group_sets *g;
extern struct qos_tables *t;

/* Begins with a policy with the groups hosts, host0, leaf and leaf-p5. */
void two_switches_begin(void);
void two_switches_end(void);
/* Adds a node to f with the capabilities in node_caps. */
void node(int i, enum ib_node_type type, unsigned nports, uint64_t guid, const char *desc);
/* Builds the fabric f, without finishing it. */
void two_switches(void);
unsigned op_vls(uint32_t n, unsigned num);

#endif
