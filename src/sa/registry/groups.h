/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores the subnet's multicast groups and their members, and assigns their MLIDs.
 *
 * sa/ writes it when clients join; sm/ reads it to compute multicast routes.
 *
 * A member is a GID: a port's own or one with an alias of the port.  Each GID has a
 * membership of its own, so that several clients behind one port are independent of each
 * other.  A port gets the packets that any of its memberships calls for.  Ports and GIDs are
 * stored by GUID, so that the database outlives any fabric object; a departed port keeps its
 * memberships.  Groups are sorted by MGID, members by port GUID; the port's own GID precedes
 * its aliases, which are sorted.
 *
 * Each group has an MLID of its own while there are enough.  After that, groups share an
 * MLID if they have the same P_Key (else switches would drop packets, and ports count
 * violations), MTU, rate and SL.  Q_Key, TClass and FlowLabel may differ: only the receiver
 * looks at them, and it knows the group by the MGID.  Groups go on sharing when an MLID
 * becomes free, because members hold the MLID in their tables.
 *
 * Each group of clients has a holder: the port that created it, as long as the port answers
 * for one of its memberships.  Then the port that answers for another member is the holder.
 * The number of groups, MLIDs and memberships that a port holds is bounded (sa/registry/holdings.h).
 * The policy's groups have no holder; an eighth of the MLIDs is reserved for them.
 *
 * Like everything in sa/registry/, only the loop's thread changes the database, and in place.
 * A worker gets a copy of what it needs.
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

/* A member's GID: the port's GUID and the GUID in the GID; guid == port: the port's own GID. */
struct mcast_gid {
	uint64_t port, guid;
};
static inline struct mcast_gid mcast_own_gid(uint64_t port)
{
	return (struct mcast_gid){ port, port };
}

struct mcast_member {
	struct mcast_gid gid;
	uint64_t asked_by;	/* GUID of the port that sent a proxy join; 0: not known, or no proxy join */
	uint8_t join_state;	/* never 0 */
	bool proxy;		/* another port joined on behalf of this one */
};

struct mcast_group {
	uint8_t mgid[16];
	uint32_t qkey, flow_label;
	uint16_t mlid, pkey;
	uint8_t mtu, rate, life;	/* IBA codes */
	uint8_t sl, tclass, hop_limit;
	uint8_t tclass_asked;		/* TClass that the creator asked for: used if the level sets none */
	/* of a broadcast group: what its level named at the last mcast_sync(); 0: there was none yet */
	uint8_t named_mtu, named_rate;
	bool permanent;			/* a group of the policy, which stays without members */
	bool has_mlid;			/* the MLID counts for this group's holder */
	uint64_t holder;		/* port GUID; 0: a group of the policy, or not known yet */
	struct mcast_group *sharer;	/* next group with the same MLID, or NULL */
	VEC(struct mcast_member) members;
};

struct mcast_db;
struct holdings;

/* The database calls changed() after each change of a group's members or of the set of groups. */
struct mcast_db *mcast_new(void (*changed)(void *arg), void *arg);
void mcast_free(struct mcast_db *db);
/* Counts present and future groups, MLIDs and memberships of each port in h, which must outlive db. */
void mcast_hold(struct mcast_db *db, struct holdings *h);
/* The database calls fn() after it made a group and before it deletes one. */
void mcast_watch(struct mcast_db *db, void (*fn)(void *arg, const struct mcast_group *g, bool made),
		 void *arg);

/*
 * One change, for the journal (store/).  mcast_redo() of all events in order on the earlier
 * database leads to the same database, except for `permanent`.  The listener must not look at
 * the members of `group`.
 */
struct mcast_event {
	enum mcast_event_kind {
		MCAST_GROUP,		/* group made, or its parameters or holder changed */
		MCAST_GONE,		/* group about to be deleted */
		MCAST_MEMBER,		/* `member` as it is now; join_state 0: it left */
		MCAST_ROOT,		/* `root` is the new root of group->mlid */
	} kind;
	const struct mcast_group *group;
	struct mcast_member member;
	uint64_t root;
};
/* Sets the listener fn(), which must not change db. */
void mcast_keep(struct mcast_db *db, void (*fn)(void *arg, const struct mcast_event *e),
		void *arg);
/* Sets the listener for standbys (daemon/replication/replica_parts.c). */
void mcast_follow(struct mcast_db *db, void (*fn)(void *arg, const struct mcast_event *e),
		  void *arg);
/* Applies an event.  Only MCAST_GROUP uses more of e->group than MGID and MLID.  False: not possible. */
bool mcast_redo(struct mcast_db *db, const struct mcast_event *e);

/* Whether a membership, a group or a root changed since mcast_clean(). */
bool mcast_dirty(const struct mcast_db *db);
void mcast_clean(struct mcast_db *db);

/* All groups: 0 <= i < mcast_count(). */
size_t mcast_count(const struct mcast_db *db);
const struct mcast_group *mcast_at(const struct mcast_db *db, size_t i);
/* The number of groups with a lower MGID; mgid need not be there. */
size_t mcast_place(const struct mcast_db *db, const uint8_t mgid[16]);
/* NULL if there is none. */
struct mcast_group *mcast_find(const struct mcast_db *db, const uint8_t mgid[16]);
const struct mcast_member *mcast_member(const struct mcast_group *g, struct mcast_gid gid);
/* The first member after gid, which need not be there; {0}: the first of all.  NULL: none. */
const struct mcast_member *mcast_member_after(const struct mcast_group *g, struct mcast_gid gid);
/* The members of a port, as an array of *n; NULL if there are none. */
const struct mcast_member *mcast_members_of_port(const struct mcast_group *g, uint64_t port,
						 size_t *n);

/* The groups of an MLID, linked by `sharer`; NULL if there is none. */
const struct mcast_group *mcast_of_mlid(const struct mcast_db *db, uint16_t mlid);
/*
 * The join states of all GIDs of a port in all groups of an MLID, ORed; 0: the port is no
 * member.
 */
uint8_t mcast_role(const struct mcast_db *db, uint16_t mlid, uint64_t port);

struct mcast_usage {
	uint32_t mlids, limit;	/* MLIDs in use, and how many all switches can forward */
	uint32_t sharing;	/* groups beyond the first of each MLID */
	uint64_t refused;	/* groups not created for lack of an MLID */
};
struct mcast_usage mcast_usage(const struct mcast_db *db);
/* Bounds the MLIDs of clients' groups; 0: as many as the switches' tables allow. */
void mcast_bound_mlids(struct mcast_db *db, struct hold_bound most);

/*
 * The next change that multicast routing has not seen yet.  mcast_role() tells what the port
 * is now; guid 0: any member of the MLID may have changed; MLID 0: any member of any MLID.
 * False: no more.
 */
struct mcast_change {
	uint16_t mlid;
	uint64_t guid;		/* of the port */
};
bool mcast_next_change(struct mcast_db *db, struct mcast_change *c);

/*
 * The GUID of the switch that is the root of an MLID's tree; 0: none is chosen.  The
 * database and the disk have it so that trees do not move with a sweep or a restart.
 */
uint64_t mcast_root(const struct mcast_db *db, uint16_t mlid);
void mcast_set_root(struct mcast_db *db, uint16_t mlid, uint64_t guid);

/*
 * Creates a group like g, without g's members, with g->mlid if that is not 0, else the
 * lowest free MLID.  MLIDs that were given back lately come last: ports that left may still
 * send to them, and tables may still lead there.  The first `mlids` MLIDs from 0xc000 on may be
 * used.  If all are in use, or g->holder may have no more MLIDs, the group shares one.  NULL if
 * there is none to share, g->mlid is not free, the MGID is taken, or g->holder may have no more
 * groups.
 */
struct mcast_group *mcast_create(struct mcast_db *db, const struct mcast_group *g,
				 unsigned mlids);
/* Adds a group of an earlier run, with g->mlid even if others have it.  NULL: not possible. */
struct mcast_group *mcast_restore(struct mcast_db *db, const struct mcast_group *g);
/* Whether one more membership may count for a port: its own, or a proxy join of its.  Counts a refusal. */
bool mcast_room(struct mcast_db *db, uint64_t port);
/*
 * Adds to the join state of a member, new or old, whatever mcast_room() says.  join_state must not
 * be 0.  asked_by is the GUID of the port that sent the request; if it is not gid.port, the join is
 * a proxy join.
 */
void mcast_join_by(struct mcast_db *db, struct mcast_group *g, struct mcast_gid gid,
		   uint8_t join_state, uint64_t asked_by);
/* The same if it is not known which port sent the request of a proxy join. */
void mcast_join(struct mcast_db *db, struct mcast_group *g, struct mcast_gid gid,
		uint8_t join_state, bool proxy);
/* The GUID of the port that a membership counts for. */
uint64_t mcast_answers_for(const struct mcast_member *m);
/*
 * Clears bits of the join state of a member and returns what is left; with none left it is
 * no member.  Deletes the group, and frees g, if no full member is left and the group is
 * not permanent.
 */
uint8_t mcast_leave(struct mcast_db *db, struct mcast_group *g, struct mcast_gid gid,
		    uint8_t join_state);
/* Deletes a group with all its members; it must not be permanent. */
void mcast_delete(struct mcast_db *db, struct mcast_group *g);
/* Removes a GID that does not exist any more from all groups. */
void mcast_gid_gone(struct mcast_db *db, struct mcast_gid gid);
/* Removes aliases that their ports do not have from all groups, after memberships were read from disk. */
void mcast_check_aliases(struct mcast_db *db, const struct alias_db *aliases);

/*
 * Makes the policy's groups: the IPoIB broadcast groups (RFC 4391, section 4) of each
 * partition with IPoIB and its other groups, with the parameters of their levels.  Groups of
 * an earlier policy that this one does not have become ordinary groups.  All other groups get SL and TClass
 * of the level of their P_Key (mcast_apply_level()).  Cheap if s is the state of the last call.
 *
 * A broadcast group gets MTU and rate of plan/ipoib_groups.h when it is made, while it has no members,
 * when a policy is loaded, and when its partition gets another level or other limits.  At other times it
 * keeps them as long as the level allows them.
 */
void mcast_sync(struct mcast_db *db, const struct subnet_state *s);
/*
 * The same in two parts, for a caller that shares db with a reading thread.  The second part
 * mostly searches for groups to change, which needs no lock; it calls hold(arg, true) before and
 * hold(arg, false) after each change.
 *
 * The caller holds the lock while it calls the first part and publishes s.  False: s is the state
 * of the last call, and there is no second part.
 */
bool mcast_sync_begin(struct mcast_db *db, const struct subnet_state *s);
void mcast_sync_rest(struct mcast_db *db, const struct subnet_state *s,
		     void (*hold)(void *arg, bool on), void *arg);
/*
 * The IPoIB broadcast group of a partition if, for its members' sake, it keeps a lower MTU or rate
 * than it would get if the policy was loaded now; else NULL.
 */
const struct mcast_group *mcast_kept_low(const struct mcast_db *db, const struct subnet_state *s,
					 size_t partition);
/* Whether the policy wants IPoIB in the partition, but a broadcast group is missing. */
bool mcast_lacks_broadcast(const struct mcast_db *db, const struct subnet_state *s,
			   size_t partition);
/* How many broadcast groups of a P_Key do not exist, of some scopes (bit n: scope n). */
unsigned mcast_missing_broadcasts(const struct mcast_db *db, uint16_t pkey, uint16_t scopes);
/* Makes missing groups of the policy if MLIDs are free again; s is the state of the last mcast_sync(). */
void mcast_make_missing(struct mcast_db *db, const struct subnet_state *s);
/*
 * Whether MTU or rate of a broadcast group with members changed since the last call.  Members learn
 * of it only when they join again.
 */
bool mcast_take_misled(struct mcast_db *db);
/*
 * Moves the GUIDs of ports to *ports, sorted and each once: the members of broadcast groups whose
 * partitions got other levels or values since the last call.  Only these ports need join again.  The
 * caller frees ports->v.
 */
struct mcast_ports {
	uint64_t *v;
	size_t n, cap;
};
void mcast_take_changed(struct mcast_db *db, struct mcast_ports *ports);
/*
 * The level of the groups of a P_Key: the partition's IPoIB level if it has IPoIB, else the
 * partition's level; the default level if no partition has the P_Key.
 */
const struct policy_level *mcast_level(const struct subnet_state *s, uint16_t pkey);
/*
 * Sets SL and TClass of a group to those of its level; TClass to what the creator asked for if
 * the level has none.  Leaves MTU, rate and lifetime alone because members rely on them.
 * False: nothing changed.
 */
bool mcast_apply_level(const struct subnet_state *s, struct mcast_group *g);
/*
 * The broadcast MGID (RFC 4391, section 4) of the IPoIB subnet that an IPv4 or IPv6 MGID
 * belongs to.  False: mgid is no IPoIB MGID.
 */
bool mcast_ipoib_broadcast(const uint8_t mgid[16], uint8_t broadcast[16]);
/*
 * How many MLIDs every switch that forwards multicast at all can forward; 0 if none does.
 * Trees go round switches that forward none.
 */
unsigned mcast_mlids(const struct subnet_state *s);

#endif
