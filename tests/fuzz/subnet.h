/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What fuzzers share.  A small subnet to ask about: three hosts, one of them with two ports, and a
 * router on two switches, with groups, services, subscriptions and aliases; and plans.
 */
#ifndef QOSD_FUZZ_SUBNET_H
#define QOSD_FUZZ_SUBNET_H

#include "sa/sa.h"

/* Made once; it is whoever asks's to leave it as it is. */
struct subnet_state *subnet_state(void);
/* Fills in what clients registered with it; the rest of sa stays. */
void subnet_register(struct sa *sa);
void subnet_forget(struct sa *sa);

/* Plans a fabric by the built-in policy; aborts if LIDs of the plan contradict each other. */
void check_plan(const struct fabric *f, uint8_t lmc);

#endif
