/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The multicast groups of the subnet and their members: what clients joined
 * (sa/ writes it) and what multicast routes are made of (sm/ reads it).
 *
 * Members are GIDs: a port's own or an alias of it, each with a membership of its own,
 * so that several may live behind one port and know nothing of each other.  Packets go
 * to ports: a port is what its memberships are together.  Both are known by GUID, so that
 * the database outlives any fabric object; a member that is not there now keeps its
 * membership.  Groups are held in order of MGIDs, members in order of ports, of a port
 * its own GID first, then its aliases in order.
 *
 * An MLID is one group's alone while there are enough.  Then groups share one
 * whose packets can't tell them apart: equal P_Key (else switches would drop, and
 * ports count violations), MTU, rate and SL.  Q_Key, TClass and FlowLabel may differ:
 * they are looked at by who receives, and he has the MGID to tell the groups by.
 * Whoever shares stays where he is, as members hold the MLID in their tables.
 *
 * Each group of clients has a holder, the port that made it and is a member, or asked for a member;
 * when the last membership that it answers for ends, the port of another member is the holder.
 * What ports hold is bounded (sa/registry/holdings.h).  The groups of the policy have no holder: for
 * their sake an eighth of the MLIDs is kept free of clients' groups.
 *
 * As all of sa/registry/ it changes in place: by the loop's thread only.  A worker
 * gets what it needs copied.
 */
#ifndef QOSD_SA_REGISTRY_GROUPS_H
#define QOSD_SA_REGISTRY_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/alloc.h"
#include "sa/registry/holdings.h"

struct subnet_state;
struct policy_level;
struct alias_db;

/* MCMemberRecord.JoinState (15.2.5.17) */
enum {
	JOIN_FULL = 1, JOIN_NON = 2, JOIN_SEND_ONLY_NON = 4, JOIN_SEND_ONLY_FULL = 8,
	JOIN_ANY_FULL = JOIN_FULL | JOIN_SEND_ONLY_FULL,
};

/* Who is a member, by GUIDs: a port, and which of its GIDs; guid == port: its own. */
struct mcast_gid {
	uint64_t port, guid;
};
static inline struct mcast_gid mcast_own_gid(uint64_t port)
{
	return (struct mcast_gid){ port, port };
}

struct mcast_member {
	struct mcast_gid gid;
	uint64_t asked_by;	/* the port that asked for a proxy's membership; 0: not known */
	uint8_t join_state;	/* never 0 */
	bool proxy;		/* joined by another port on its behalf */
};

struct mcast_group {
	uint8_t mgid[16];
	uint32_t qkey, flow_label;
	uint16_t mlid, pkey;
	uint8_t mtu, rate, life;	/* codes */
	uint8_t sl, tclass, hop_limit;
	uint8_t tclass_asked;		/* by its creator: what it has where the level has none */
	bool permanent;			/* of the policy: stays without members */
	bool has_mlid;			/* its holder answers for the MLID, not only for the group */
	uint64_t holder;		/* port GUID; 0: the policy's, or not known yet */
	struct mcast_group *sharer;	/* the next with the same MLID, or NULL */
	VEC(struct mcast_member) members;
};

struct mcast_db;
struct holdings;

/* changed() is called after each change of a group's members or of the set of groups. */
struct mcast_db *mcast_new(void (*changed)(void *arg), void *arg);
void mcast_free(struct mcast_db *db);
/* Ports hold what is there, and what comes from now on, by h, which must outlive db. */
void mcast_hold(struct mcast_db *db, struct holdings *h);
/* fn() is called for each group that is made from now on, or is about to be deleted. */
void mcast_watch(struct mcast_db *db, void (*fn)(void *arg, const struct mcast_group *g, bool made),
		 void *arg);

/*
 * What changes, one thing after the other, for who keeps it (store/): done again in this
 * order by mcast_redo() on what was there before, it leads to the same database, except
 * for `permanent`.  The group's members are not to be looked at.
 */
struct mcast_event {
	enum mcast_event_kind {
		MCAST_GROUP,		/* made, or with other parameters */
		MCAST_GONE,
		MCAST_MEMBER,		/* what it is now; without a join state it left */
		MCAST_ROOT,		/* of group.mlid: guid */
	} kind;
	const struct mcast_group *group;
	struct mcast_member member;
	uint64_t root;
};
/* fn() is called from now on; it must not change db. */
void mcast_keep(struct mcast_db *db, void (*fn)(void *arg, const struct mcast_event *e),
		void *arg);
/* The same for one listener more: what a standby is told (daemon/replication/replica_parts.c). */
void mcast_follow(struct mcast_db *db, void (*fn)(void *arg, const struct mcast_event *e),
		  void *arg);
/* Of e->group only what names it counts, but for MCAST_GROUP.  False: that cannot be. */
bool mcast_redo(struct mcast_db *db, const struct mcast_event *e);

/* Any member joined or left, or group came or went, since mcast_clean(). */
bool mcast_dirty(const struct mcast_db *db);
void mcast_clean(struct mcast_db *db);

/* All groups: 0 <= i < mcast_count(). */
size_t mcast_count(const struct mcast_db *db);
const struct mcast_group *mcast_at(const struct mcast_db *db, size_t i);
/* How many groups come before an MGID, whether that is there or not. */
size_t mcast_place(const struct mcast_db *db, const uint8_t mgid[16]);
/* NULL if there is none. */
struct mcast_group *mcast_find(const struct mcast_db *db, const uint8_t mgid[16]);
const struct mcast_member *mcast_member(const struct mcast_group *g, struct mcast_gid gid);
/* The first behind it, whether that one is there or not; {0}: the first of all. */
const struct mcast_member *mcast_member_after(const struct mcast_group *g, struct mcast_gid gid);
/* Those of a port, one behind the other: the first of *n. */
const struct mcast_member *mcast_members_of_port(const struct mcast_group *g, uint64_t port,
						 size_t *n);

/* The groups that have an MLID, by `sharer`; NULL if there is none. */
const struct mcast_group *mcast_of_mlid(const struct mcast_db *db, uint16_t mlid);
/*
 * What a port is in all groups of an MLID together, by all its GIDs: join states, 0: no
 * member.
 */
uint8_t mcast_role(const struct mcast_db *db, uint16_t mlid, uint64_t port);

struct mcast_usage {
	uint32_t mlids, limit;	/* in use, and that all switches can forward */
	uint32_t sharing;	/* groups beyond one for each MLID */
	uint64_t refused;	/* groups not made for want of an MLID */
};
struct mcast_usage mcast_usage(const struct mcast_db *db);
/* How many MLIDs hosts' groups may have at most; 0: as many as the switches' tables allow. */
void mcast_bound_mlids(struct mcast_db *db, struct hold_bound most);

/*
 * What is to be routed anew since the last look, one by one: the port is what
 * mcast_role() says now; guid 0: any of the MLID's members may have changed; MLID
 * 0: all.  False: no more.
 */
struct mcast_change {
	uint16_t mlid;
	uint64_t guid;		/* of the port */
};
bool mcast_next_change(struct mcast_db *db, struct mcast_change *c);

/*
 * The GUID of the switch from which an MLID's tree hangs, 0: none is chosen.  It is
 * here, and on disk, so that trees stay where they are over sweeps and restarts.
 */
uint64_t mcast_root(const struct mcast_db *db, uint16_t mlid);
void mcast_set_root(struct mcast_db *db, uint16_t mlid, uint64_t guid);

/*
 * A new group like g (whose members are ignored), with g->mlid if that is not 0,
 * or the lowest free MLID.  One that was given back is used again late: who left
 * may still send to it, and tables may still lead there.  At most `mlids` MLIDs are
 * used, from 0xc000 on; if all are, or g->holder may have no more of them, it shares one.  NULL if
 * there is none to share, or the one asked for is not free, or the MGID is taken, or g->holder
 * may have no more groups.
 */
struct mcast_group *mcast_create(struct mcast_db *db, const struct mcast_group *g,
				 unsigned mlids);
/* A group as it was in an earlier run: its MLID may be shared. */
struct mcast_group *mcast_restore(struct mcast_db *db, const struct mcast_group *g);
/* Whether a port may have one more membership, of its own or of one that it asks for. */
bool mcast_room(struct mcast_db *db, uint64_t port);
/*
 * Adds to the join state of a member, new or old, whatever mcast_room() says.  join_state must not
 * be 0.  asked_by: the port that asked; another than the member's makes it a proxy.
 */
void mcast_join_by(struct mcast_db *db, struct mcast_group *g, struct mcast_gid gid,
		   uint8_t join_state, uint64_t asked_by);
/* The same where it is not known which port asked on a proxy's behalf. */
void mcast_join(struct mcast_db *db, struct mcast_group *g, struct mcast_gid gid,
		uint8_t join_state, bool proxy);
/* The port that answers for a membership. */
uint64_t mcast_answers_for(const struct mcast_member *m);
/*
 * Takes from the join state of a member; without any it is none any more.
 * Returns what is left.  A group whose last full member left is deleted, unless
 * it is permanent: g is then gone.
 */
uint8_t mcast_leave(struct mcast_db *db, struct mcast_group *g, struct mcast_gid gid,
		    uint8_t join_state);
/* Deletes a group with all its members; it must not be permanent. */
void mcast_delete(struct mcast_db *db, struct mcast_group *g);
/* A GID that is no more: it leaves all groups. */
void mcast_gid_gone(struct mcast_db *db, struct mcast_gid gid);
/* So does every alias that its port does not have; for what was read from disk. */
void mcast_check_aliases(struct mcast_db *db, const struct alias_db *aliases);

/*
 * Makes the policy's own groups: the IPoIB broadcast group of each partition
 * that has one (RFC 4391, section 4), with the parameters of its level.  Those
 * of an earlier policy that are no longer wanted become ordinary groups.  The
 * others get what the policy says of their partition, too (mcast_apply_level()).
 * Cheap when s is the state that it saw last.
 *
 * MTU and rate are those of plan/ipoib_groups.h when the group is made, while it has no members, and
 * when a policy is loaded; in between they stay as long as the level allows them.
 */
void mcast_sync(struct mcast_db *db, const struct subnet_state *s);
/*
 * The same in two parts, for who shares db with a thread that reads it.  With many groups most of the
 * second part is looking for those that change: it needs no lock, and hold(arg, true) and
 * hold(arg, false) stand around each change.
 *
 * The first part is to be called with the lock, together with whatever makes s the state in
 * force.  False: it saw s before, and there is no second part.
 */
bool mcast_sync_begin(struct mcast_db *db, const struct subnet_state *s);
void mcast_sync_rest(struct mcast_db *db, const struct subnet_state *s,
		     void (*hold)(void *arg, bool on), void *arg);
/*
 * The IPoIB group of a partition of the policy, which keeps less for its members than it could have
 * if the policy was loaded now; NULL: it has what it can have.
 */
const struct mcast_group *mcast_kept_low(const struct mcast_db *db, const struct subnet_state *s,
					 size_t partition);
/* The policy wants IPoIB in the partition, and its broadcast group could not be made. */
bool mcast_lacks_broadcast(const struct mcast_db *db, const struct subnet_state *s,
			   size_t partition);
/* Whether there is an IPoIB broadcast group of a P_Key, whose membership bit does not count. */
bool mcast_has_broadcast(const struct mcast_db *db, uint16_t pkey);
/* Makes such groups, where there are MLIDs again; s is the state that mcast_sync() saw last. */
void mcast_make_missing(struct mcast_db *db, const struct subnet_state *s);
/*
 * Whether MTU or rate of a group with members changed since the last call: they learn of it only
 * when they join again.
 */
bool mcast_take_misled(struct mcast_db *db);
/*
 * The level that the groups of a P_Key have: that of the partition's IPoIB group,
 * else the partition's, else the default one.
 */
const struct policy_level *mcast_level(const struct subnet_state *s, uint16_t pkey);
/*
 * SL and TClass of a group as the policy wants them; TClass as its creator asked if the
 * level has none.  MTU, rate and lifetime it leaves alone: members rely on them.
 * False: as it was.
 */
bool mcast_apply_level(const struct subnet_state *s, struct mcast_group *g);
/*
 * The broadcast MGID (RFC 4391, section 4) of the subnet that an IPoIB MGID is of,
 * IPv4 or IPv6.  False: it is none.
 */
bool mcast_ipoib_broadcast(const uint8_t mgid[16], uint8_t broadcast[16]);
/*
 * How many MLIDs every switch that forwards multicast at all can; 0 if none does.
 * Trees go round switches that do not.
 */
unsigned mcast_mlids(const struct subnet_state *s);

#endif
