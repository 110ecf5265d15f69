/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of the policy's reader, for each other; conf.h is for everybody else. */
#ifndef QOSD_CONF_PARTS_H
#define QOSD_CONF_PARTS_H

#include "conf/read.h"
#include "qos/policy.h"

/* setup.c: the section fabric-setup; `at` is the struct policy. */
read_fn read_fabric_setup;

/*
 * ulp.c: turns a rule's `ulp` and `tcp-port` into service_ids and pkeys, and
 * refuses combinations that contradict each other.  n is the rule's map.
 */
void ulp_expand(struct reader *r, const struct node *n, struct policy_rule *rule);

/*
 * check.c: what can only be told of the whole.  Resolves the names of groups,
 * levels and partitions (errors where there are none), refuses cycles of
 * groups; p has its implied parts.
 */
void check_names(struct reader *r, struct policy *p);
/* check.c: warnings on a policy without errors: what is never used or never matches. */
void check_use(struct reader *r, const struct policy *p);

/* print.c: a rule's criteria as they are in normal form, "source: a, sl: 1". */
void print_criteria(const struct policy_rule *rule, struct buf *out);

#endif
