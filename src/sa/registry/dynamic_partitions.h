/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Partitions and members that were added at run time, by a scheduler or an
 * orchestrator: what is asked for, how it is put together with a policy, and the
 * lines that it is kept as.
 *
 * An entry is either a partition of its own (whole) or members for one of the
 * policy's.  All of it is plain data: a request is applied to a copy, which then
 * takes the place of the original or is thrown away, so that several changes hold
 * together or not at all.
 *
 * Putting together never changes what the policy says.  Its partitions come first
 * and keep their properties; behind their members come the dynamic ones, and
 * behind them the dynamic partitions in the order in which they were added.
 * Where the two contradict each other the policy wins, a finding names both, and
 * the entry stays in the registry: it is in force again when the policy lets it.
 *
 *  - same name and same P_Key: the members are added to the policy's partition;
 *  - same name or same P_Key, and not both: the entry is not in force;
 *  - members of a partition that the policy no longer has: not in force;
 *  - a level that is gone: the partition stays, with the policy's default level;
 *  - a group that is gone, or that would contain itself by way of the partition:
 *    that line is not in force.
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


#define DYNAMIC_NAME_MAX	255	/* bytes of a name or a who */
#define DYNAMIC_MEMBERS_MAX	262144	/* lines in all */

/*
 * Who: "0xGUID" or "0xGUID-0xGUID", "NodeDescription/Pn" with globs, "type:ca",
 * "type:switch", "type:router", "all", "self", or a group's name, which "group:"
 * may precede (and must, where the name looks like one of the others).
 */
struct dynamic_member {
	char *who;		/* in normal form; no two lines of an entry have the same */
	enum membership membership;
};

struct dynamic_partition {
	char *name, *level, *ipoib_level;	/* levels: "" if not given */
	uint16_t pkey;				/* 15 bits */
	bool whole;		/* else members for the policy's partition of that name */
	bool ipoib;
	VEC(struct dynamic_member) members;
	struct map64 by_who;	/* hash -> index, while changes are being applied */
};

struct dynamic_partitions {
	VEC(struct dynamic_partition) v;
	struct map64 by_name;	/* hash -> index */
	size_t n_members;
	uint64_t change;	/* 0: nothing was ever added; more with each request; the owner's */
};

struct dynamic_partitions *dynamic_new(void);
struct dynamic_partitions *dynamic_copy(const struct dynamic_partitions *x);
void dynamic_free(struct dynamic_partitions *x);		/* NULL is fine */
const struct dynamic_partition *dynamic_find(const struct dynamic_partitions *x, const char *name);

/* "limited", "full", "both"; MEMBER_NONE if it is no such word */
const char *membership_word(enum membership m);
enum membership membership_parse(const char *word);

/* --- what is kept --- */

void dynamic_print(const struct dynamic_partitions *x, struct buf *out);
/* Adds what a line says; false if it makes no sense.  arg: struct dynamic_partitions. */
bool dynamic_line(void *arg, const char *text);

/* --- requests --- */

struct dynamic_change {
	bool remove;
	const char *name;		/* NULL: missing */
	uint16_t pkey;			/* 0: not given; either form */
	enum { IPOIB_NOT_SAID, IPOIB_NO, IPOIB_YES } ipoib;
	const char *level, *ipoib_level;	/* NULL: not given */
	/* added: full unless said; removed: whatever they are; none: the whole entry */
	struct dynamic_who {
		const char *who;
		enum membership membership;
	} *members;
	size_t n_members;
};

/*
 * Does n changes one after the other, of which `pkey` 0 in a new partition is the
 * lowest in lo..hi that is free.  Returns how many lines and properties differ
 * now.  Errors are findings, all of them; x is then good for nothing.  What was as
 * asked for already, or was not there to be removed, is no error (info).
 */
size_t dynamic_apply(struct dynamic_partitions *x, const struct policy *base, uint16_t lo, uint16_t hi,
		     const struct dynamic_change *changes, size_t n, struct findings *out);

/* --- with a policy --- */

/* Something that is not as it was asked for. */
struct dynamic_trouble {
	uint32_t entry;
	uint32_t member;	/* UINT32_MAX: the entry as a whole */
	bool out;		/* it is not in force */
	char *text;
};
struct dynamic_troubles {
	struct dynamic_trouble *v;
	size_t n, cap;
};
void dynamic_troubles_free(struct dynamic_troubles *t);

/* The partitions of both, as an overlay of base (policy_overlay()).  Pure.  troubles may be NULL. */
struct policy *dynamic_merge(const struct dynamic_partitions *x, const struct policy *base,
			     struct dynamic_troubles *troubles);
/*
 * The same of a policy that is shared: an overlay whose findings have the troubles,
 * too, or a reference to base if nothing was ever added.
 */
struct shared_policy *dynamic_policy(const struct dynamic_partitions *x, struct shared_policy *base);

/* --- multicast --- */

/* Who is to leave which group. */
struct leaver {
	uint8_t mgid[16];
	struct mcast_gid gid;
};
struct leavers {
	struct leaver *v;
	size_t n, cap;
};

/*
 * The ports that are there and are no members of a group's partition any more, with all
 * their GIDs; and aliases that a port which is there has as its own GUID, for GIDs mean
 * that one.  The caller frees them with vec_free().  It looks at every member, hence apart from
 * the second, which is of the leavers only.
 */
void dynamic_leavers(const struct mcast_db *db, const struct subnet_state *s,
		     struct leavers *list);
void dynamic_leave(struct mcast_db *db, const struct leavers *list);

#endif
