/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores dynamic partitions, applies requests to them and merges them with a policy.
 *
 * A scheduler or an orchestrator adds dynamic partitions and members while qosd runs.
 * An entry is either a partition of its own (whole) or members for one of the
 * policy's partitions.  The registry is plain data: the caller applies a request to a
 * copy, which then replaces the original or is thrown away, so that either all changes
 * of a request take effect or none.
 *
 * The merge never changes what the policy says.  The policy's partitions come first
 * and keep their properties; dynamic members follow the policy's members, and dynamic
 * partitions follow the policy's partitions in the order in which they were added.
 * Where an entry contradicts the policy, the policy wins and a finding names both.
 * The entry stays in the registry and is in force again once the policy allows it.
 *
 *  - same name and same P_Key: the members are added to the policy's partition;
 *  - same name or same P_Key, but not both: the entry is not in force;
 *  - members of a partition that the policy no longer has: not in force;
 *  - a level that the policy no longer has: the partition gets the default level;
 *  - own SL, MTU or rate: the partition has a level of its own, which is like the one that it names
 *    but has these values (policy_own_level()); also in place of its IPoIB level;
 *  - a group that the policy no longer has, or that would contain itself through
 *    the partition: that member line is not in force.
 */
#ifndef QOSD_SA_REGISTRY_DYNAMIC_PARTITIONS_H
#define QOSD_SA_REGISTRY_DYNAMIC_PARTITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/findings.h"
#include "lib/base/map64.h"
#include "plan/published_state.h"
#include "qos/policy.h"
#include "sa/registry/groups.h"

#define DYNAMIC_NAME_MAX	255	/* bytes in a name or a `who` */
#define DYNAMIC_MEMBERS_MAX	262144	/* member lines of all entries */

/*
 * A member line.  `who` is "0xGUID" or "0xGUID-0xGUID", "NodeDescription/Pn" with globs,
 * "type:ca", "type:switch", "type:router", "type:aggregation", "all", "self", or the name of a
 * group.  "group:" may precede a group's name, and must if the name looks like one of the other forms.
 */
struct dynamic_member {
	char *who;		/* in normal form, unique within the entry */
	enum membership membership;
	bool index0;		/* the ports have the P_Key at index 0 of their tables */
};

struct dynamic_partition {
	char *name, *level, *ipoib_level;	/* level names; "": not given */
	uint16_t pkey;				/* 15 bits */
	bool whole;		/* false: members for the policy's partition of that name */
	bool ipoib;
	struct policy_own own;			/* only if whole */
	VEC(struct dynamic_member) members;
	struct map64 by_who;	/* hash of `who` -> index; from the first look-up to dynamic_tidy() */
};

struct dynamic_partitions {
	VEC(struct dynamic_partition) v;
	struct map64 by_name;	/* hash of name -> index */
	size_t n_members;
	uint64_t change;	/* version: grows with each request, 0: no request yet; set by the owner */
};

struct dynamic_partitions *dynamic_new(void);
struct dynamic_partitions *dynamic_copy(const struct dynamic_partitions *x);
void dynamic_free(struct dynamic_partitions *x);		/* NULL is fine */
const struct dynamic_partition *dynamic_find(const struct dynamic_partitions *x, const char *name);

/*
 * Appends the names of the entries in which two registries differ, at most `most` of them: "a, b and 3
 * more".  Returns how many differ.
 */
size_t dynamic_differences(const struct dynamic_partitions *before, const struct dynamic_partitions *now,
			   size_t most, struct buf *out);

/* The words "limited", "full" and "both". */
const char *membership_word(enum membership m);
/* The same for the words of requests, to which "@0" may be added: *index0 tells whether it is. */
enum membership dynamic_membership(const char *word, bool *index0);

/*
 * Parse a value of its own for a partition; NULL, or what is wrong with the word, which a message ends
 * with.  MTU in bytes, rate in Gb/s.
 */
const char *dynamic_own_sl(struct policy_own *own, const char *word);
const char *dynamic_own_mtu(struct policy_own *own, const char *word);
const char *dynamic_own_rate(struct policy_own *own, const char *word);

/* --- lines of the file --- */

/*
 * The least format in which the lines can be written: 1, or 2 if a partition has values of its own, or a
 * member index 0.  An older qosd understands format 1.
 */
uint32_t dynamic_format(const struct dynamic_partitions *x);

void dynamic_print(const struct dynamic_partitions *x, struct buf *out);
/* Adds the partition or member of a line; false: the line is invalid.  arg: struct dynamic_partitions. */
bool dynamic_line(void *arg, const char *text);

/* --- requests --- */

/* A value that is given may be none: the level's, then. */
enum dynamic_own { OWN_SL = 1, OWN_MTU = 2, OWN_RATE = 4 };

struct dynamic_change {
	enum { DYNAMIC_ADD, DYNAMIC_REMOVE, DYNAMIC_SET } kind;
	const char *name;		/* NULL: missing */
	uint16_t pkey;			/* 0: not given; with or without the membership bit */
	enum { IPOIB_NOT_SAID, IPOIB_NO, IPOIB_YES } ipoib;
	const char *level, *ipoib_level;	/* NULL: not given */
	struct policy_own own;
	unsigned own_given;		/* enum dynamic_own, or-ed: the values in `own` that are given */
	/*
	 * In an addition, a member without a membership is full.  A removal ignores memberships; one
	 * without members removes the whole entry.
	 */
	struct dynamic_who {
		const char *who;
		enum membership membership;
		bool index0;
	} *members;
	size_t n_members;
};

/*
 * Applies n changes in order.  A new partition with `pkey` 0 gets the lowest free P_Key in
 * lo..hi.  Returns how many entries and member lines changed.  Adds a finding for every
 * error; after an error the caller must discard x.  Adding what is there already is no
 * error, nor is removing what is not there (a finding of severity info).  DYNAMIC_SET changes levels and
 * values of a dynamic partition; an addition must agree with those of the existing partition.
 */
size_t dynamic_apply(struct dynamic_partitions *x, const struct policy *base, uint16_t lo, uint16_t hi,
		     const struct dynamic_change *changes, size_t n, struct findings *out);

/* --- with a policy --- */

/* An entry or a member line that is not in force as requested. */
struct dynamic_trouble {
	uint32_t entry;
	uint32_t member;	/* index; UINT32_MAX: the whole entry */
	bool out;		/* not in force at all */
	bool own;		/* it lacks its own SL, MTU and rate */
	char *text;
};
struct dynamic_troubles {
	struct dynamic_trouble *v;
	size_t n, cap;
};
void dynamic_troubles_free(struct dynamic_troubles *t);

/* Merges x with base into an overlay (policy_overlay()).  Pure.  troubles may be NULL. */
struct policy *dynamic_merge(const struct dynamic_partitions *x, const struct policy *base,
			     struct dynamic_troubles *troubles);
/*
 * The same for a shared policy: returns an overlay with a finding for each trouble, or
 * a reference to base if there was no request yet.
 */
struct shared_policy *dynamic_policy(const struct dynamic_partitions *x, struct shared_policy *base);

/* --- multicast --- */

/* A member that has to leave a multicast group. */
struct leaver {
	uint8_t mgid[16];
	struct mcast_gid gid;
};
struct leavers {
	struct leaver *v;
	size_t n, cap;
};

/*
 * Lists the memberships of ports in the fabric that are no longer members of the group's
 * partition, and the memberships of aliases that a port in the fabric has as its own GUID: a GID
 * with that GUID means the port.  The caller frees the list with vec_free().  This function looks
 * at every member; dynamic_leave() is separate because it looks at the leavers only.
 */
void dynamic_leavers(const struct mcast_db *db, const struct subnet_state *s,
		     struct leavers *list);
void dynamic_leave(struct mcast_db *db, const struct leavers *list);

#endif
