/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by partitions.c and merge.c only. */
#ifndef QOSD_REGISTRY_RUN_TIME_H
#define QOSD_REGISTRY_RUN_TIME_H

#include "registry/partitions.h"

/*
 * A who as a line of members, without membership; free it with
 * policy_member_free().  Else what is wrong with it, and there is nothing to free.
 */
const char *run_time_parse_who(const char *who, struct policy_member *m);

#endif
