/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares the fabric with its expected topology (fabric/expected.h), in a thread, whenever a sweep
 * has published a state.
 *
 * The expected topology is that of a file (expected-topology in qosd.yaml), which is read again when
 * it has changed, or else the fabric as a user accepted it, which is in the state folder.  Standbys
 * copy the latter, unless they have a file.
 */
#ifndef QOSD_DAEMON_EXPECTED_TOPOLOGY_H
#define QOSD_DAEMON_EXPECTED_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "events/event.h"
#include "fabric/expected.h"
#include "lib/base/buf.h"

struct qosd;
struct ctl_topology;
struct expected_topology;
struct subnet_state;

struct expected_topology *expected_topology_new(struct qosd *q);
/* Waits for the thread; NULL is fine. */
void expected_topology_free(struct expected_topology *t);
/* What ctl/ shows of it; valid as long as t. */
const struct ctl_topology *expected_topology_shown(const struct expected_topology *t);
/* Sets the state to compare with, once its sweep has ended; NULL: this daemon is not master. */
void expected_topology_settled(struct expected_topology *t, struct subnet_state *now);
/*
 * `expected-topology` of the settings has changed: the file is read and compared with now, or else what a user
 * accepted counts again.
 */
void expected_topology_other_file(struct expected_topology *t);
/*
 * A hook of ctl/; arg is the struct qosd.  Makes the published fabric the expected one or, if `none`
 * is set, expects none any more.  False: err says why not.
 */
bool expected_topology_accept(void *arg, struct expected *x, struct buf *lines, struct asker who, struct buf *err);

/* A number that changes with what is accepted; its text for standbys, which is empty if nothing is. */
uint64_t expected_topology_changes(const struct expected_topology *t);
void expected_topology_print(const struct expected_topology *t, struct buf *b);
/* Takes the master's text, and stores it; modifies text.  False: it is invalid, and nothing is taken. */
bool expected_topology_inherit(struct expected_topology *t, char *text);

#endif
