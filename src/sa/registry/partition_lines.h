/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions on entries and members that the files about dynamic partitions share (private to them). */
#ifndef QOSD_SA_REGISTRY_PARTITION_LINES_H
#define QOSD_SA_REGISTRY_PARTITION_LINES_H

#include <stdarg.h>

#include "sa/registry/dynamic_partitions.h"

/*
 * Parses a `who` into a policy's member line without membership.  NULL: the caller frees m with
 * policy_member_free().  Else what is wrong with `who`; there is nothing to free.
 */
const char *dynamic_parse_who(const char *who, struct policy_member *m);
/* The normal form, which is equal for equal members (m is `who`, parsed); the caller frees it. */
char *dynamic_normal_who(const struct policy_member *m, const char *who);
/* NULL if a file of lines can hold the text and a terminal can show it, else what is wrong with it. */
const char *dynamic_bad_text(const char *s);

uint64_t dynamic_name_hash(const char *name);
/* The index of an entry; MAP64_NONE: none.  Compares names, as two may have the same hash. */
uint32_t dynamic_find_entry(const struct dynamic_partitions *x, const char *name);
struct dynamic_partition *dynamic_add_entry(struct dynamic_partitions *x, const char *name);

/* NULL: the entry has no such member. */
struct dynamic_member *dynamic_find_member(struct dynamic_partition *e, const char *who);
/* Takes ownership of `who`. */
void dynamic_push_member(struct dynamic_partitions *x, struct dynamic_partition *e, char *who,
			 enum membership membership, bool index0);
void dynamic_drop_member(struct dynamic_partitions *x, struct dynamic_member *m);
/* Removes dropped members, dropped entries (without a name) and memberless entries that are not whole. */
void dynamic_tidy(struct dynamic_partitions *x);

/* Adds a finding on a change of a request, which begins with the number and the name of the change. */
void dynamic_say(struct findings *out, enum severity severity, const struct dynamic_change *c,
		 size_t number, const char *fmt, va_list ap) __attribute__((format(printf, 5, 0)));

#endif
