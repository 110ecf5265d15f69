/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of the policy's reader, for each other; conf.h is for everybody else. */
#ifndef QOSD_CONFIG_CONF_PARTS_H
#define QOSD_CONFIG_CONF_PARTS_H

#include "config/conf_read.h"
#include "qos/policy.h"

/* Readers of sections; `at` is the struct policy. */
read_fn read_partitions;	/* read_partitions.c */
read_fn read_fabric_setup;	/* read_fabric_setup.c */
read_fn read_traffic_classes;	/* read_traffic_classes.c */

/*
 * read_ulp.c: turns a rule's `ulp` and `tcp-port` into service_ids and refuses
 * combinations that contradict each other.  n is the rule's map.
 */
void ulp_expand(struct reader *r, const struct node *n, struct policy_rule *rule);
/* read_ulp.c: the P_Keys of rules for IPoIB that name none, once the partitions are known. */
void ulp_expand_ipoib(struct reader *r, struct policy *p);

/* --- check_policy.c: what can only be told of the whole --- */

/* The names of groups, levels or partitions, sorted. */
struct index {
	const char *kind;	/* "group", ... for errors */
	struct entry { const char *name; uint32_t i; } *v;
	const char **words;	/* the names alone, for hints */
	size_t n;
};
/* first: the name of item 0; the others follow at a distance of `stride` bytes. */
struct index index_new(const char *kind, char *const *first, size_t n, size_t stride);
#define INDEX(kind, items, n) \
	index_new(kind, (n) ? &(items)[0].name : NULL, n, sizeof((items)[0]))
void index_free(struct index *x);
uint32_t index_find(const struct index *x, const char *name);	/* UINT32_MAX if not there */

/*
 * Resolves the names of groups, levels and partitions (errors where there are
 * none), refuses cycles of groups; p has its implied parts.
 */
void check_names(struct reader *r, struct policy *p);

/*
 * read_traffic_classes.c: after check_names().  Gives an SL to every level and a class to
 * every SL; errors where that can't be done, and where traffic-classes and
 * fabric-setup contradict each other.
 */
void check_classes(struct reader *r, struct policy *p);
/* read_traffic_classes.c: the class of each level, UINT32_MAX if it has none.  The caller frees. */
uint32_t *classes_of_levels(const struct policy *p);

/* --- of a policy without errors --- */

/* check_unused.c: warnings on what is never used, or says nothing. */
void check_use(struct reader *r, const struct policy *p);
/* check_reachable.c: warnings on rules that can never match. */
void check_reach(struct reader *r, const struct policy *p);

#endif
