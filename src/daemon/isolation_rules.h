/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Isolates links between switches by rule, `isolate-when` of qosd.yaml: those with too many errors, or that go
 * down too often, within an hour.
 *
 * A rule never cuts anything off, and never isolates more than the settings allow: it sees only numbers, and a
 * wrong one must not cost the subnet.  So links of hosts are left to people.  What a rule isolated stays so until
 * it is released, or its term is over (isolation_terms.h), and its errors and outages count anew from then on.
 */
#ifndef QOSD_DAEMON_ISOLATION_RULES_H
#define QOSD_DAEMON_ISOLATION_RULES_H

#include <stdint.h>

struct qosd;
struct withdrawal;
struct isolation_rules;

struct isolation_rules *isolation_rules_new(struct qosd *q);
void isolation_rules_free(struct isolation_rules *x);	/* NULL is fine */
/* Takes isolate-when of the settings, after it changed. */
void isolation_rules_changed(struct isolation_rules *x);
/* When the isolation of an entry of the list ends, in seconds since 1970; 0: when somebody ends it. */
int64_t isolation_rules_until(const struct isolation_rules *x, const struct withdrawal *w);
/* A place is being released: while the subnet manager still has its link among those that are cut. */
void isolation_rules_released(struct isolation_rules *x, const struct withdrawal *w);

#endif
