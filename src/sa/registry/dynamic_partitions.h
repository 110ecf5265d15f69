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
 * and keep their properties; behind their members come those of run time, and
 * behind them the partitions of run time in the order in which they were added.
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


#define RUN_TIME_NAME_MAX	255	/* bytes of a name or a who */
#define RUN_TIME_MEMBERS_MAX	262144	/* lines in all */

/*
 * Who: "0xGUID" or "0xGUID-0xGUID", "NodeDescription/Pn" with globs, "type:ca",
 * "type:switch", "type:router", "all", "self", or a group's name, which "group:"
 * may precede (and must, where the name looks like one of the others).
 */
struct run_time_member {
	char *who;		/* in normal form; no two lines of an entry have the same */
	enum membership membership;
};

struct run_time_partition {
	char *name, *level, *ipoib_level;	/* levels: "" if not given */
	uint16_t pkey;				/* 15 bits */
	bool whole;		/* else members for the policy's partition of that name */
	bool ipoib;
	VEC(struct run_time_member) members;
	struct map64 by_who;	/* hash -> index, while changes are being applied */
};

struct run_time {
	VEC(struct run_time_partition) v;
	struct map64 by_name;	/* hash -> index */
	size_t n_members;
	uint64_t change;	/* 0: nothing was ever added; more with each request; the owner's */
};

struct run_time *run_time_new(void);
struct run_time *run_time_copy(const struct run_time *x);
void run_time_free(struct run_time *x);		/* NULL is fine */
const struct run_time_partition *run_time_find(const struct run_time *x, const char *name);

/* "limited", "full", "both"; MEMBER_NONE if it is no such word */
const char *membership_word(enum membership m);
enum membership membership_parse(const char *word);

/* --- what is kept --- */

void run_time_print(const struct run_time *x, struct buf *out);
/* Adds what a line says; false if it makes no sense.  arg: struct run_time. */
bool run_time_line(void *arg, const char *text);

/* --- requests --- */

struct run_time_change {
	bool remove;
	const char *name;		/* NULL: missing */
	uint16_t pkey;			/* 0: not given; either form */
	enum { IPOIB_NOT_SAID, IPOIB_NO, IPOIB_YES } ipoib;
	const char *level, *ipoib_level;	/* NULL: not given */
	/* added: full unless said; removed: whatever they are; none: the whole entry */
	struct run_time_who {
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
size_t run_time_apply(struct run_time *x, const struct policy *base, uint16_t lo, uint16_t hi,
		      const struct run_time_change *changes, size_t n, struct findings *out);

/* --- with a policy --- */

/* Something that is not as it was asked for. */
struct run_time_trouble {
	uint32_t entry;
	uint32_t member;	/* UINT32_MAX: the entry as a whole */
	bool out;		/* it is not in force */
	char *text;
};
struct run_time_troubles {
	struct run_time_trouble *v;
	size_t n, cap;
};
void run_time_troubles_free(struct run_time_troubles *t);

/* The partitions of both, as an overlay of base (policy_overlay()).  Pure.  troubles may be NULL. */
struct policy *run_time_merge(const struct run_time *x, const struct policy *base,
			      struct run_time_troubles *troubles);
/*
 * The same of a policy that is shared: an overlay whose findings have the troubles,
 * too, or a reference to base if nothing was ever added.
 */
struct shared_policy *run_time_policy(const struct run_time *x, struct shared_policy *base);

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
void run_time_leavers(const struct mcast_db *db, const struct subnet_state *s,
		      struct leavers *list);
void run_time_leave(struct mcast_db *db, const struct leavers *list);

#endif
