/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small fabric that is up, and commands to it.
 *
 *   node1 -- leaf1/P1    leaf1/P7 == leaf2/P7    leaf2/P1 -- node3/P1
 *   node2 -- leaf1/P2    leaf1/P8 == leaf2/P8    leaf2/P2 -- node3/P2
 *
 * LIDs: leaf1 1, leaf2 2, node1 11, node2 12, node3 31 and 32.  All routes between
 * the leaves go by port 7, SL n is on VL n % 4.
 * leaf1 has 8 ports, leaf2 40.
 */
#ifndef TESTS_SIMCTL_FABRIC_H
#define TESTS_SIMCTL_FABRIC_H

#include <check.h>
#include <jansson.h>
#include <string.h>

#include "sim/ctl/ctl.h"
#include "sim/dev/device.h"
#include "sim/net/fault.h"

extern struct sim *sim;
extern char *said;		/* text of the last command */
/* Traps that arrived at node1, the SM's port: the last one's number, and how many. */
extern unsigned last_trap, traps;

void fabric_up(void);
void fabric_down(void);
/* Lets time pass. */
void after(int64_t us);

int run_words(const char *const *words);
/* Exit status; what it says is in said. */
#define RUN(...) run_words((const char *const[]){ __VA_ARGS__, NULL })
json_t *ask_words(const char *const *words);
/* The answer as JSON, until the next call; the command must succeed. */
#define ASK(...) ask_words((const char *const[]){ __VA_ARGS__, NULL })

#define GOOD(...) ck_assert_msg(RUN(__VA_ARGS__) == 0, "%s", said)
/* It must say no, with this text and nothing behind it, and the same as JSON. */
void refused(const char *text, const char *const *words);
#define REFUSED(text, ...) refused(text, (const char *const[]){ __VA_ARGS__, NULL })
#define HAS(text) ck_assert_msg(strstr(said, text), "no '%s' in: %s", text, said)

uint32_t port_named(const char *name);
struct sim_port *port_at(const char *name);
struct sim_node *node_named(const char *name);

/* Members of an answer. */
long long num(const json_t *o, const char *key);
const char *str(const json_t *o, const char *key);
/* The first row whose member is that text, or NULL. */
json_t *row_with(const json_t *rows, const char *key, const char *value);

#endif
