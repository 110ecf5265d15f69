/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lets each standby qosd keep a copy of what it needs to take over from the master.
 *
 * The primary, which is the master, provides LIDs and P_Key indexes, dynamic partitions,
 * clients' registrations, departure times of ports, what is missing or withdrawn from service, and
 * the topology that was accepted.
 *
 *   replica_parts.c    the primary's side: prints the parts and answers; replaces parts by another's
 *   replica.c          the standby's side: asks after each poll of the master, copies what differs
 *   standbys.c         the primary's list of standbys, and of callers that wait for them
 *
 * The protocol is a Get of SA_ATTR_REPLICA, a vendor's attribute of the SA class, in single
 * MADs:
 *
 *   LIST                    -> version, length and format of each part; version of the rest
 *   MORE                    -> the rest of that list, if a standby has another version of it
 *   part, version, offset   -> a piece of the part's text
 *
 * A part is the text that is also kept on disk (store/store.h).  Its version is a digest of the
 * text, so that two daemons with the same version of a part have the same part.  Groups change
 * all the time where hosts come and go, and their text is long.  So the text stays as printed,
 * and PART_GROUP_CHANGES is a change log, of which a standby requests the lines that it lacks.
 *
 * Each side proves to the other that it has the SM_Key by a keyed hash of each MAD, and never
 * sends the key.  A well-known key proves nothing: with such a key a primary answers only ports
 * at which a subnet manager has answered (sm_is_manager()).  A primary of another version may
 * have parts, or formats of parts, that this one does not know: the others are copied.
 *
 * With LIST a standby states which dynamic partitions it has.  A client that asks the primary
 * to change them gets its answer when the standbys have the change.
 *
 * Policies are not replicated, but with LIST and its answer the two state which policy they have,
 * so that both can report a difference.  A standby states, too, how old its copy is.
 *
 * Everything is for the loop's thread only.  The structs are members of struct qosd, initially
 * zero.
 */
#ifndef QOSD_DAEMON_REPLICATION_REPLICATION_H
#define QOSD_DAEMON_REPLICATION_REPLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/ctl.h"
#include "lib/base/alloc.h"
#include "mad/mad.h"

struct qosd;
struct sa_replica;

enum replica_part {
	PART_LIDS, PART_PKEYS, PART_PARTITIONS, PART_GROUPS, PART_SERVICES,
	PART_SUBSCRIPTIONS, PART_ALIASES, PART_GROUP_CHANGES, PART_GONE,
	PART_LISTED,	/* the parts from here on are told by MORE, as one MAD has no room for them */
	PART_MISSING = PART_LISTED, PART_WITHDRAWN, PART_ACCEPTED, PART_COUNT,
};

/* --- replica_parts.c --- */

/* A part as the primary last printed it. */
struct replica_text {
	struct buf text;
	uint64_t version, change;
	int64_t printed_us, next_us;
	bool printed;
};

struct replica_parts {
	struct qosd *q;
	struct replica_text parts[PART_COUNT];
	/*
	 * change log of groups: its number, the position of its first byte, and that of the
	 * printed groups
	 */
	uint32_t log, log_begin, printed_at;
};

/*
 * The name of a part, and the format of its text: the one printed, and the latest one that can
 * be read.
 */
struct replica_part_kind {
	const char *name;
	uint32_t format;
};
extern const struct replica_part_kind replica_part_kinds[PART_COUNT];

void replica_parts_init(struct qosd *q);
void replica_parts_free(struct qosd *q);
/* The SA's replicate() hook; arg is the struct qosd. */
uint16_t replica_parts_answer(void *arg, uint64_t from, const struct sa_replica *query,
			      struct sa_replica *answer);
/*
 * The checksum of the policy in force here, without dynamic partitions: of its file, or
 * CTL_POLICY_BUILTIN.
 */
uint64_t replica_policy(const struct qosd *q);
uint64_t replica_part_digest(const char *text, size_t n);
/* The version of a part as it is here now. */
uint64_t replica_part_version(const struct qosd *q, enum replica_part part);
/* The same for the dynamic partitions, at no cost if they have not changed. */
uint64_t replica_parts_partitions(struct qosd *q);
/*
 * Replaces our parts by these texts, one for each part, and modifies the texts.  NULL leaves a
 * part as it is; LIDs and P_Keys must come together.  False: some are invalid, and nothing of
 * those is taken.
 */
bool replication_take(struct qosd *q, char *text[PART_COUNT]);

/* --- replica.c --- */

#define REPLICA_WINDOW 16

/* An outstanding question. */
struct replica_question {
	struct replica *h;
	bool busy;
	uint32_t offset;
	uint64_t nonce;
};

struct replica {
	struct qosd *q;
	bool complete;			/* we have all that the master had in the last round */
	bool busy;			/* a round is in progress */
	bool dropped;			/* the answers of this round are of no use */
	bool skipping;			/* those about the part being copied are not */
	unsigned deaf;			/* rounds in a row in which our own port did not answer */
	int64_t next_us;
	bool met;			/* this master has sent a list */
	bool silent;			/* a question of this round was not answered */
	int64_t followed_us;		/* since when we follow this master */
	int64_t copied_us;		/* end of the last round that left nothing out; 0: none yet */
	/* version of the rest of the list that we have (0: none), and that this round asked for */
	uint64_t rest, rest_next;
	unsigned failed;		/* rounds in a row without an answer */
	int64_t failed_us;		/* end of the first of these rounds */
	uint64_t master_guid;
	uint64_t master_policy;		/* checksum; 0: the master has not stated it */
	struct mad_address master;
	uint64_t nonce;			/* of the last question */
	struct {
		uint64_t version;	/* the version that we have */
		bool known;		/* version is valid */
		uint64_t next;		/* the version that the master has */
		uint32_t total;
		char *text;		/* buffer for the text to copy; NULL: we have it */
		bool unreadable;		/* the master's format is too new for us */
	} parts[PART_COUNT];
	bool said_unreadable;
	/* change log of groups: its number, and the position up to which we have it */
	uint32_t log, log_at;
	bool log_known;
	/* in this round: where the lines to copy begin; whether we lack only these */
	uint32_t log_from;
	bool only_changes;
	/* the part being copied: its beginning and length; bytes requested and received */
	unsigned part;
	uint32_t begin, size, sent, came;
	unsigned outstanding;
	struct replica_question asked[REPLICA_WINDOW], list;
};

void replica_init(struct qosd *q);
/* Must be called after mad_close(). */
void replica_free(struct replica *h);
/*
 * To be called in a standby after the master has answered a poll: begins a round, unless one is
 * in progress.
 */
void replica_ask(struct replica *h);
/*
 * To be called when we become master: drops the round in progress, and our copy of the last
 * master's state.
 */
void replica_stop(struct replica *h);

/*
 * --- standbys.c ---
 *
 * A standby is known by its port, for as long as it keeps asking.  Only a daemon with the SM_Key is
 * answered and gets into the list.  The number of standbys and the time that a caller waits are
 * bounded; without standbys no caller waits.
 *
 * A daemon that was frozen may no longer be master without knowing it.  So no caller gets its
 * answer while the election asks who is master.
 *
 * A change is a value of qosd's dynamic_changes.  A standby has a change, or a caller waits for
 * one, if it is that change or a later one.
 */

#define STANDBYS_MAX 16

struct standby {
	uint64_t guid;
	int64_t seen_us;
	bool has;		/* it has the partitions as of this change */
	uint64_t change;
	uint64_t policy;	/* checksum; 0: it does not state it */
	uint32_t age;		/* of its copy when it asked, as in the request (SA_REPLICA_AGE) */
};

struct waiter {
	void (*told)(void *who, const struct ctl_standbys *s);
	void *who;
	uint64_t change;
	int64_t since_us, until_us;
};

struct standbys {
	struct qosd *q;
	struct standby v[STANDBYS_MAX];
	unsigned n;
	VEC(struct waiter) waiters;
	struct timer *tick;
	int64_t ticked_us;
};

void standbys_init(struct qosd *q);
void standbys_free(struct standbys *x);
/* A standby has asked; states: what it states of itself, without seen_us. */
void standbys_heard(struct standbys *x, const struct standby *states);
/* A hook of ctl/ (ctl_env); arg is the struct qosd. */
bool replication_policy_peer(void *arg, unsigned i, struct ctl_policy_peer *peer);
/* A hook of sm/ (sm_hooks); arg is the struct qosd. */
bool replication_has_ours(void *arg, uint64_t guid);
/* To be called when we are no longer master. */
void standbys_deposed(struct standbys *x);
/* Hooks of ctl/; arg is the struct qosd. */
void standbys_await(void *arg, void (*told)(void *who, const struct ctl_standbys *s), void *who);
void standbys_forget(void *arg, void *who);

#endif
