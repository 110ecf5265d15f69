/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps track of devices that stop answering SMPs though their links are up.
 *
 * Such a device should cost nobody else anything.  It is recorded here when a sweep or a probe gets
 * no answer from it, and removed when it answers.  While it is recorded:
 *
 *  - probes and local sweeps ask it nothing, and so wait for nothing;
 *  - directed routes avoid it where they can (fabric_node.silent): many a switch that hangs passes no
 *    SMPs on;
 *  - its forwarding table counts as unchanged, and the routes of others avoid what is wrong in it
 *    (fixed_routes.c);
 *  - a link between it and another switch that trains anew is not used, unless there is no other way
 *    (probe_forget_states()): nobody can make its end Active.  Once it has sent a trap, its links to
 *    other devices recorded here are not used either: one of them may have trained anew, and neither
 *    end tells;
 *  - it is no reason for a discovery.
 *
 * The device is asked one question, once, with each light sweep and a few times more at first.
 * When it answers, a local sweep reads and writes it like any doubtful node.  If that sweep gets no
 * answer again, as from a device that answers Gets but no Set, the next one begins later and later.
 *
 * All of it belongs to the loop's thread; callbacks of jobs find what they need in their fabric.
 */
#ifndef QOSD_SM_DEVICES_SILENT_H
#define QOSD_SM_DEVICES_SILENT_H

#include "fabric/fabric.h"

struct sm;

#define SILENT_KEPT_MAX 64 /* switches whose tables are kept; if there are more, routes do not avoid them */

void silent_new(struct sm *sm);
void silent_free(struct sm *sm);
/* Called when nothing is published any more. */
void silent_stop(struct sm *sm);

/* Sets fabric_node.silent of each node of f.  True: the mark of at least one node has changed. */
bool silent_mark(const struct sm *sm, struct fabric *f);
/* A probe got no answer from a node of f whose links are up.  True: that is new. */
bool silent_found(struct sm *sm, const struct fabric *f, uint32_t node);
/* Called when a sweep is over: records which nodes answered in it and which did not. */
void silent_swept(struct sm *sm);
/* The sweep is incomplete only for want of answers from silent devices. */
bool silent_is_all(const struct sm *sm);
/* The same, and all of those devices were known to be silent before the sweep. */
bool silent_is_known(const struct sm *sm);
/* A silent device has answered some other question.  True: that counts, and a local sweep must ask it. */
bool silent_heard(struct sm *sm, uint64_t guid);
/* The device reported a change by a trap, now or before it fell silent.  True: that is new. */
bool silent_told(struct sm *sm, uint64_t guid);
bool silent_has_told(const struct sm *sm, uint64_t guid);
/* Asks the silent devices, as part of a light sweep or because a device was heard. */
void silent_ask(struct sm *sm);

/* The forwarding table that the switch holds is known to be that of the plan in force. */
bool silent_table_is_known(const struct sm *sm, uint64_t guid);
/* The same, and the switch answers again. */
bool silent_is_back(const struct sm *sm, uint64_t guid);
/* The switch has answered, and the next sweep asks it. */
bool silent_has_answered(const struct sm *sm, uint64_t guid);
/* For the plan that is being made: there are so few silent switches that routes should avoid them. */
bool silent_keep_tables(struct sm *sm);

#endif
