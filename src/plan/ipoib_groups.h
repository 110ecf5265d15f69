/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes MTU and rate of each partition's IPoIB broadcast group (RFC 4391, section 4) from the
 * policy and the present hosts.
 *
 * A port can join only a group whose MTU and rate its link carries.  So a group is made with the
 * values of its level as far as all hosts of the partition support them, but never below 2048 bytes
 * and 10 Gb/s because of a host: one bad cable must not slow everybody down.
 */
#ifndef QOSD_PLAN_IPOIB_GROUPS_H
#define QOSD_PLAN_IPOIB_GROUPS_H

#include <stdint.h>

#include "qos/policy.h"

struct fabric;
struct partitions;

struct ipoib_limits {
	uint8_t mtu, rate;	/* codes */
};

struct ipoib_group {
	struct ipoib_limits named;	/* by the level; default mtu-limit 2048, rate-limit 10 Gb/s */
	struct ipoib_limits made;	/* of a group made with the present hosts */
	/* Ports of hosts that do not support the named limits; that cannot join a group as made. */
	uint32_t lesser, excluded;
	uint32_t first_lesser, first_excluded;	/* one such port each */
};

/* The limits that a level names for the group. */
struct ipoib_limits level_ipoib_limits(const struct policy_level *l);
/* Fills p->ipoib, one per partition of the policy; p must have its tables. */
void ipoib_groups(struct partitions *p, const struct policy *policy, const struct fabric *f);

#endif
