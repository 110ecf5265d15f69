/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices that do not answer SMPs any more, though their links are up: they are to cost only themselves.
 *
 * A device gets here when a sweep, or a probe, had no answer of it, and leaves when it answers. While it is
 * here
 *
 *  - probes and local sweeps ask nothing of it, and so wait for nothing;
 *  - directed routes go round it where they can (fabric_node.silent): many a switch that hangs passes none
 *    on;
 *  - its forwarding table is what it was, and the routes of others go round what is wrong there
 *    (fixed_routes.c);
 *  - a link between it and another switch that trains anew is not used, unless there is no other way
 *    (probe_forget_states()): nobody can make its end Active.  Nor are its links to others that are here
 *    used once it has sent a trap: one of them may have trained anew, and neither end tells;
 *  - it is no reason for a discovery.
 *
 * It is asked one question, once, with each light sweep and a few times more at first.  When it
 * answers, a local sweep reads and writes it as any node that is doubtful; if that has no
 * answer again, as where a device answers Gets and no Set, the next is begun later and later.
 *
 * It all belongs to the loop's thread; what callbacks of jobs have to know is in the fabric that they are
 * about.
 */
#ifndef QOSD_SM_DEVICES_SILENT_H
#define QOSD_SM_DEVICES_SILENT_H

#include "fabric/fabric.h"

struct sm;

#define SILENT_KEPT_MAX 64	/* switches whose tables are kept; with more of them nobody goes round them */

void silent_new(struct sm *sm);
void silent_free(struct sm *sm);
/* Nothing is published any more. */
void silent_stop(struct sm *sm);

/* Says of each node of f whether it is silent.  True: that was said otherwise of any before. */
bool silent_mark(const struct sm *sm, struct fabric *f);
/* A probe had no answer of a node of f, whose links are up.  True: that is new. */
bool silent_found(struct sm *sm, const struct fabric *f, uint32_t node);
/* The sweep is over: who did not answer in it, and who did. */
void silent_swept(struct sm *sm);
/* All that the sweep lacks is what such devices would have answered. */
bool silent_is_all(const struct sm *sm);
/* … which were known to be silent before it. */
bool silent_is_known(const struct sm *sm);
/* One has answered a question that was about another: if that is heeded, a local sweep is to ask it. */
bool silent_heard(struct sm *sm, uint64_t guid);
/* It told by a trap that something changed, or had told so when it stopped answering.  True: that is new. */
bool silent_told(struct sm *sm, uint64_t guid);
bool silent_has_told(const struct sm *sm, uint64_t guid);
/* With a light sweep, or as somebody said something: asks them. */
void silent_ask(struct sm *sm);

/* What the forwarding table of a switch holds is known: it is that of the plan in force. */
bool silent_table_is_known(const struct sm *sm, uint64_t guid);
/* … and it answers again. */
bool silent_is_back(const struct sm *sm, uint64_t guid);
/* It does, and the next sweep asks it. */
bool silent_has_answered(const struct sm *sm, uint64_t guid);
/* Of the plan that is made now: they are so few switches that it is worth going round them. */
bool silent_keep_tables(struct sm *sm);

#endif
