/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Indexes a fabric's end ports by GUID, so that the cost of a range grows with its ports only. */
#ifndef QOSD_QOS_GROUPS_PORT_GUIDS_H
#define QOSD_QOS_GROUPS_PORT_GUIDS_H

#include "fabric/fabric.h"
#include "qos/policy.h"

struct guid_port {
	uint64_t guid;
	uint32_t port;
};

struct guid_index {
	struct guid_port *v;
	size_t n, cap;
};

void guids_build(struct guid_index *x, const struct fabric *f);
void guids_free(struct guid_index *x);
/* The number of end ports with a GUID in the range. */
size_t guids_count(const struct guid_index *x, const struct u64_range *r);
/* Adds the end ports with a GUID in the range to a set; false if there are none. */
bool guids_add_range(const struct guid_index *x, const struct u64_range *r, uint64_t *set);

#endif
