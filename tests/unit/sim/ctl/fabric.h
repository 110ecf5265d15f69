/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Brings up a small fabric and runs commands on it.
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
/* Lets us microseconds pass. */
void after(int64_t us);

int run_words(const char *const *words);
/* Runs a command and returns its exit status; its output is in said. */
#define RUN(...) run_words((const char *const[]){ __VA_ARGS__, NULL })
json_t *ask_words(const char *const *words);
/* Runs a command, which must succeed, and returns the answer as JSON, valid until the next call. */
#define ASK(...) ask_words((const char *const[]){ __VA_ARGS__, NULL })

#define GOOD(...) ck_assert_msg(RUN(__VA_ARGS__) == 0, "%s", said)
/* The command must be refused with exactly this text, and the same in JSON. */
void refused(const char *text, const char *const *words);
#define REFUSED(text, ...) refused(text, (const char *const[]){ __VA_ARGS__, NULL })
#define HAS(text) ck_assert_msg(strstr(said, text), "no '%s' in: %s", text, said)

uint32_t port_named(const char *name);
struct sim_port *port_at(const char *name);
struct sim_node *node_named(const char *name);

/* Return members of an answer. */
long long num(const json_t *o, const char *key);
const char *str(const json_t *o, const char *key);
/* Returns the first row whose member has this text, or NULL. */
json_t *row_with(const json_t *rows, const char *key, const char *value);

#endif
