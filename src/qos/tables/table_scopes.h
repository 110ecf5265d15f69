/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds which fabric-setup scopes name which out port.
 *
 * Every port slot has a stack of scopes, the last one on top.  Stacks are lists that share their tails,
 * and equal stacks have one number, so ports to which the same scopes apply have the same stack.
 */
#ifndef QOSD_QOS_TABLES_TABLE_SCOPES_H
#define QOSD_QOS_TABLES_TABLE_SCOPES_H

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "qos/groups/port_groups.h"
#include "qos/policy.h"

struct scope {
	enum scope_kind kind;
	uint32_t group;			/* set number */
	const struct port_list *from;	/* NULL: any in port (VL arbitration) */
	const struct port_list *to;
};

/* The devices that lack a port number of a list: their number, an example, and the port number. */
struct lacking {
	uint32_t nodes, node;
	unsigned port;
};

/* Ports and devices that a scope reached. */
struct scope_reach {
	uint32_t ports;			/* number of out ports named */
	struct lacking from, to;
};

#define STACK_EMPTY 0
struct stack_node {
	uint32_t scope, below;
};

struct stacks {
	const struct fabric *f;
	VEC(struct stack_node) node;	/* [0] is the empty stack */
	struct map64 known;		/* scope and stack below -> node */
	uint32_t *of_port;		/* [port slot]: its stack */
	uint32_t *node_seen;		/* [fabric node]: number of the last scope that named it, plus 1 */
};

void stacks_init(struct stacks *s, const struct fabric *f);
void stacks_free(struct stacks *s);
/* Puts scope number n, greater than any before, on the stack of each port that it names. */
struct scope_reach stacks_add(struct stacks *s, const struct group_sets *g,
			      const struct scope *scope, uint32_t n);

#endif
