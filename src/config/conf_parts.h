/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the files of the policy's reader; others include conf.h. */
#ifndef QOSD_CONFIG_CONF_PARTS_H
#define QOSD_CONFIG_CONF_PARTS_H

#include "config/conf_read.h"
#include "qos/policy.h"

/* Readers of sections; `at` is the struct policy. */
read_fn read_partitions;	/* read_partitions.c */
read_fn read_fabric_setup;	/* read_fabric_setup.c */
read_fn read_traffic_classes;	/* read_traffic_classes.c */

/*
 * read_ulp.c: converts a rule's `ulp` and `tcp-port` into service_ids, and refuses contradictory
 * combinations.  n is the rule's map.
 */
void ulp_expand(struct reader *r, const struct node *n, struct policy_rule *rule);
/* read_ulp.c: sets the P_Keys of IPoIB rules that name none, once the partitions are known. */
void ulp_expand_ipoib(struct reader *r, struct policy *p);

/* --- check_policy.c: checks of the whole policy --- */

/* The names of groups, levels or partitions, sorted. */
struct index {
	const char *kind;	/* "group", ... for errors */
	struct entry { const char *name; uint32_t i; } *v;
	const char **words;	/* names only, for hints */
	size_t n;
};
/* Makes an index; first: the name of item 0; later names are `stride` bytes apart. */
struct index index_new(const char *kind, char *const *first, size_t n, size_t stride);
#define INDEX(kind, items, n) \
	index_new(kind, (n) ? &(items)[0].name : NULL, n, sizeof((items)[0]))
void index_free(struct index *x);
uint32_t index_find(const struct index *x, const char *name);	/* UINT32_MAX if unknown */

/*
 * Resolves the names of groups, levels and partitions (an error if undefined), and refuses cycles
 * of groups.  p already has its implied parts.
 */
void check_names(struct reader *r, struct policy *p);

/*
 * read_traffic_classes.c: called after check_names().  Gives every level an SL and every SL a
 * class; reports errors where that is impossible, and where traffic-classes and fabric-setup
 * contradict each other.
 */
void check_classes(struct reader *r, struct policy *p);
/*
 * read_traffic_classes.c: the class of each level, UINT32_MAX for none.  The caller frees the
 * array.
 */
uint32_t *classes_of_levels(const struct policy *p);

/* --- for policies without errors --- */

/* check_unused.c: warns of definitions that are never used or have no effect. */
void check_use(struct reader *r, const struct policy *p);
/* check_rules.c: warns of rules that contradict their level. */
void check_rules(struct reader *r, const struct policy *p);
/* check_reachable.c: warns of rules that can never match. */
void check_reach(struct reader *r, const struct policy *p);

#endif
