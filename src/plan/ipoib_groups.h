/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MTU and rate of the IPoIB broadcast group of a partition (RFC 4391, section 4): what the policy
 * names, and what the hosts that are there can do.
 *
 * A port can join only a group whose MTU and rate its link carries.  So a group that is made gets
 * the values of its level as far as all hosts of the partition can have them, yet never less than
 * 2048 bytes and 10 Gb/s because of a host: one bad cable is not to slow everybody down.
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
	struct ipoib_limits named;	/* by the level; without mtu-limit 2048, rate-limit 10 Gb/s */
	struct ipoib_limits made;	/* of a group that is made with the hosts that are there */
	/* Hosts' ports that can't have what is named; that can't join a group as made. */
	uint32_t lesser, excluded;
	uint32_t first_lesser, first_excluded;	/* one of these ports */
};

/* The limits that a level names for the group. */
struct ipoib_limits level_ipoib_limits(const struct policy_level *l);
/* Fills p->ipoib, one per partition of the policy; p has its tables already. */
void ipoib_groups(struct partitions *p, const struct policy *policy, const struct fabric *f);

#endif
