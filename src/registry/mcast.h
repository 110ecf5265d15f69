/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The multicast groups of the subnet and their members: what clients joined
 * (sa/ writes it) and what multicast routes are made of (sm/ reads it).
 *
 * Members are port GUIDs, so that the database outlives any fabric object; a
 * member that is not there now keeps its membership.  Groups are held in order
 * of MGIDs, members in order of GUIDs.
 *
 * As all of registry/ it changes in place: by the loop's thread only.  A worker
 * gets what it needs copied.
 */
#ifndef QOSD_REGISTRY_MCAST_H
#define QOSD_REGISTRY_MCAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct subnet_state;
struct policy_level;

/* MCMemberRecord.JoinState (15.2.5.17) */
enum {
	JOIN_FULL = 1, JOIN_NON = 2, JOIN_SEND_ONLY_NON = 4, JOIN_SEND_ONLY_FULL = 8,
	JOIN_ANY_FULL = JOIN_FULL | JOIN_SEND_ONLY_FULL,
};

struct mcast_member {
	uint64_t guid;		/* port GUID */
	uint8_t join_state;	/* never 0 */
	bool proxy;		/* joined by another port on its behalf */
};

struct mcast_group {
	uint8_t mgid[16];
	uint32_t qkey, flow_label;
	uint16_t mlid, pkey;
	uint8_t mtu, rate, life;	/* codes */
	uint8_t sl, tclass, hop_limit;
	bool permanent;			/* of the policy: stays without members */
	VEC(struct mcast_member) members;
};

struct mcast_db;

/* changed() is called after each change of a group's members or of the set of groups. */
struct mcast_db *mcast_new(void (*changed)(void *arg), void *arg);
void mcast_free(struct mcast_db *db);
/* fn() is called for each group that is made from now on, or is about to be deleted. */
void mcast_watch(struct mcast_db *db, void (*fn)(void *arg, const struct mcast_group *g, bool made),
		 void *arg);

/* Any member joined or left, or group came or went, since mcast_clean(). */
bool mcast_dirty(const struct mcast_db *db);
void mcast_clean(struct mcast_db *db);

/* All groups: 0 <= i < mcast_count(). */
size_t mcast_count(const struct mcast_db *db);
const struct mcast_group *mcast_at(const struct mcast_db *db, size_t i);
/* NULL if there is none. */
struct mcast_group *mcast_find(const struct mcast_db *db, const uint8_t mgid[16]);
const struct mcast_member *mcast_member(const struct mcast_group *g, uint64_t guid);

/*
 * A new group like g (whose members are ignored), with the lowest free MLID, or
 * g->mlid if that is not 0.  At most `mlids` MLIDs are used, from 0xc000 on.
 * NULL if there is no free MLID, or the one asked for is not free, or the MGID
 * is taken.
 */
struct mcast_group *mcast_create(struct mcast_db *db, const struct mcast_group *g,
				 unsigned mlids);
/* Adds to the join state of a member, new or old.  join_state must not be 0. */
void mcast_join(struct mcast_db *db, struct mcast_group *g, uint64_t guid,
		uint8_t join_state, bool proxy);
/*
 * Takes from the join state of a member; without any it is none any more.
 * Returns what is left.  A group whose last full member left is deleted, unless
 * it is permanent: g is then gone.
 */
uint8_t mcast_leave(struct mcast_db *db, struct mcast_group *g, uint64_t guid,
		    uint8_t join_state);

/*
 * Makes the policy's own groups: the IPoIB broadcast group of each partition
 * that has one (RFC 4391, section 4), with the parameters of its level.  Those
 * of an earlier policy that are no longer wanted become ordinary groups.
 * Cheap when s is the state that it saw last.
 */
void mcast_sync(struct mcast_db *db, const struct subnet_state *s);
/* How many MLIDs every switch of the fabric can forward. */
unsigned mcast_mlids(const struct subnet_state *s);

#endif
