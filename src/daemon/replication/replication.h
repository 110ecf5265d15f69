/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replication: the primary, which is the master, lets each standby qosd have a replica of what it
 * would need to take over: LIDs and places of P_Keys, dynamic partitions, what clients
 * registered, and for how long ports are gone.
 *
 *   replica_parts.c    the primary's side: prints the parts and answers; puts another's in their place
 *   replica.c     the standby's side: asks after each poll of the master, and takes over what differs
 *   standbys.c    the primary's book of the standbys, and of who waits until they have a change
 *
 * The protocol is a Get of SA_ATTR_REPLICA, a vendor's attribute of the SA class, in single MADs:
 *
 *   LIST                    -> of each part its version, length and format
 *   part, version, offset   -> a piece of the part's text
 *
 * A part is the text that is also kept on disk (store/store.h).  A part's version is a digest of
 * its text, so that two daemons with the same version of a part have the same.  Groups change all
 * the time where hosts come and go, and their text is long: it stays as it was printed, and
 * PART_GROUP_CHANGES is a change log, of which a standby asks for the lines that it lacks.
 *
 * Either side proves to the other that it has the SM_Key, by a keyed hash of each MAD, and tells
 * it to nobody.  The key that everybody knows proves nothing: with it a primary answers only ports
 * at which a subnet manager has answered as one (sm_is_manager()).  A primary of another version may
 * have parts, and formats of parts, that this one does not know: the others are taken.
 *
 * With LIST a standby tells which dynamic partitions it has: a client that asked the primary for
 * a change of them is answered when the standbys have it.
 *
 * All of it belongs to the loop's thread.  The structs are part of struct qosd, zeroed at first.
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
	PART_SUBSCRIPTIONS, PART_ALIASES, PART_GROUP_CHANGES, PART_GONE, PART_COUNT,
};

/* --- replica_parts.c --- */

/* One part, as the primary printed it last. */
struct replica_text {
	struct buf text;
	uint64_t version, change;
	int64_t printed_us, next_us;
	bool printed;
};

struct replica_parts {
	struct qosd *q;
	struct replica_text parts[PART_COUNT];
	/* of the changes of groups: the log, the position of its first byte, and that of the groups */
	uint32_t log, log_begin, printed_at;
};

/* What a part is called, and the format of its text: that which is printed, and the last one read. */
struct replica_part_kind {
	const char *name;
	uint32_t format;
};
extern const struct replica_part_kind replica_part_kinds[PART_COUNT];

void replica_parts_init(struct qosd *q);
void replica_parts_free(struct qosd *q);
/* The SA's hook; arg is the struct qosd. */
uint16_t replica_parts_answer(void *arg, uint64_t from, const struct sa_replica *query,
			      struct sa_replica *answer);
uint64_t replica_part_digest(const char *text, size_t n);
/* Of a part as it is here now. */
uint64_t replica_part_version(const struct qosd *q, enum replica_part part);
/* The same of the partitions, which costs nothing where nothing has changed. */
uint64_t replica_parts_partitions(struct qosd *q);
/*
 * Puts these texts, one for each part, which are cut up, in place of what is here: NULL
 * stays as it is; LIDs and P_Keys come together.  False: some are no good, and of those
 * nothing is taken.
 */
bool replication_take(struct qosd *q, char *text[PART_COUNT]);

/* --- replica.c --- */

#define REPLICA_WINDOW 16

/* A question that is under way. */
struct replica_question {
	struct replica *h;
	bool busy;
	uint32_t offset;
	uint64_t nonce;
};

struct replica {
	struct qosd *q;
	bool complete;			/* all that the master has, as of the last round */
	bool busy;			/* a round is under way */
	bool dropped;			/* and its answers are of no use */
	unsigned deaf;			/* rounds in a row in which our own port did not answer */
	int64_t next_us;
	bool met;			/* this master has told us a list */
	bool silent;			/* a question of this round was not answered */
	int64_t followed_us;		/* since when it is the master */
	unsigned failed;		/* rounds in a row without an answer, */
	int64_t failed_us;		/* and when the first of them was over */
	uint64_t master_guid;
	struct mad_address master;
	uint64_t nonce;			/* of the last question */
	struct {
		uint64_t version;	/* that we have, */
		bool known;		/* … if that is so */
		uint64_t next;		/* that the master has */
		uint32_t total;
		char *text;		/* … and what came of it; NULL: we have it */
		bool unreadable;		/* the master has it in a format that we don't read */
	} parts[PART_COUNT];
	bool said_unreadable;
	/* of the log of changes of groups: its number, and the position up to which we have it */
	uint32_t log, log_at;
	bool log_known;
	/* in this round: where what we lack of it begins; and we lack nothing but that */
	uint32_t log_from;
	bool only_changes;
	/* the part that comes: where it begins, its length, and how much of it was asked for, and came */
	unsigned part;
	uint32_t begin, size, sent, came;
	unsigned outstanding;
	struct replica_question asked[REPLICA_WINDOW], list;
};

void replica_init(struct qosd *q);
/* After mad_close(). */
void replica_free(struct replica *h);
/* Standing by, and the master is well: asks it, if nothing is under way. */
void replica_ask(struct replica *h);
/* We are master: what was under way is dropped, and what we had of another counts no more. */
void replica_stop(struct replica *h);

/*
 * --- standbys.c ---
 *
 * A standby is known by its port, and for as long as it asks: only who has the SM_Key is
 * answered, and comes to be here.  There is a bound to how many are kept, to how long
 * anybody waits, and none waits where nobody stands by.
 *
 * A daemon that was frozen may be master no more without knowing it.  So nobody is told anything
 * while the election asks who is.
 *
 * A change is a value of qosd's dynamic_changes; what a standby has, or somebody waits for, is that
 * change or a later one.
 */

#define STANDBYS_MAX 16

struct standby {
	uint64_t guid;
	int64_t seen_us;
	bool has;		/* the partitions, as of … */
	uint64_t change;
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
/* The standby at the port of that GUID asks: it has the partitions as of this change, or others. */
void standbys_heard(struct standbys *x, uint64_t guid, bool has, uint64_t change);
/* We are master no more. */
void standbys_deposed(struct standbys *x);
/* ctl's hooks; arg is the struct qosd. */
void standbys_await(void *arg, void (*told)(void *who, const struct ctl_standbys *s), void *who);
void standbys_forget(void *arg, void *who);

#endif
