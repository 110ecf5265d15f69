/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the state of a subnet without devices, for the tests of ctl. */
#ifndef QOSD_TEST_CTL_SUBNET_H
#define QOSD_TEST_CTL_SUBNET_H

#include "plan/published_state.h"

/*
 * Two switches with two links between them and three hosts, LIDs 1 to 5, all
 * links active.  The policy has levels default (SL 0), storage (SL 2, MTU 1024) and
 * fast (SL 3), and two rules: service IDs 0x1000-0x1fff get storage, QoS class
 * 7 gets fast.
 */
struct subnet_state *test_subnet(void);
/* Returns the state of a dump in ibnetdiscover's format; takes over the policy. */
struct subnet_state *test_subnet_load(const char *path, bool keep_lids, struct policy *policy);
/* A ring of switches (3 or more), each with n - 1 hosts: sw0, host0-1 … */
struct subnet_state *test_subnet_large(unsigned switches, unsigned n);
struct policy *test_policy(void);
void test_subnet_free(struct subnet_state *s);

#endif
