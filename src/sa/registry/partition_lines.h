/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by dynamic_partitions.c, partition_requests.c and partition_overlay.c only. */
#ifndef QOSD_SA_REGISTRY_PARTITION_LINES_H
#define QOSD_SA_REGISTRY_PARTITION_LINES_H

#include "sa/registry/dynamic_partitions.h"

/*
 * A who as a line of members, without membership; free it with
 * policy_member_free().  Else what is wrong with it, and there is nothing to free.
 */
const char *dynamic_parse_who(const char *who, struct policy_member *m);
/* What two ways of saying the same have in common; the caller frees. */
char *dynamic_normal_who(const struct policy_member *m, const char *who);
/* NULL for text that a file of lines can hold and a terminal can show, else what is wrong. */
const char *dynamic_bad_text(const char *s);

uint64_t dynamic_name_hash(const char *name);
/* A hash that two names share is no reason to take one for the other.  MAP64_NONE: none. */
uint32_t dynamic_find_entry(const struct dynamic_partitions *x, const char *name);
struct dynamic_partition *dynamic_add_entry(struct dynamic_partitions *x, const char *name);

/* NULL: it has none. */
struct dynamic_member *dynamic_find_member(struct dynamic_partition *e, const char *who);
/* Takes over who. */
void dynamic_push_member(struct dynamic_partitions *x, struct dynamic_partition *e, char *who,
			 enum membership membership);
void dynamic_drop_member(struct dynamic_partitions *x, struct dynamic_member *m);
/* Entries that were dropped have no name; members of the policy's go when none is left. */
void dynamic_tidy(struct dynamic_partitions *x);

#endif
