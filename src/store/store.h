/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What outlives the daemon, in the state folder: the fabric that is known, LIDs and places of P_Keys by GUID,
 * multicast groups with their members, services, subscriptions to events, alias GUIDs,
 * values that devices do not take, M_Keys, partitions that were added at run time, and the
 * history of policies.
 *
 * Each file is text with a title line and a last line that holds a digest of
 * all before it.  It is written beside its place, synced and renamed, so that
 * a crash at any moment leaves the old or the new one.  A file that is
 * damaged is set aside (".damaged") and reported; the service goes on without.
 * Groups have a journal beside theirs (group_journal.c).
 *
 * The title line ends with the number of the file's format.  A kind of line, or a field of
 * one, that the qosd before would not understand raises it; all formats from 1 on are read
 * (tests/golden/state has a sample of each).  A line that its format does not have is damage, since
 * no qosd has written it.  What stands without a title in answers to a standby has the same
 * formats (daemon/replication/replica_parts.c).
 *
 * store_save_…() hands over what is to be written and returns: a thread writes it, in the
 * order in which it was handed over, and tries again until it is on disk.  Partitions and
 * M_Keys are the exception: somebody waits for an answer.
 */
#ifndef QOSD_STORE_STORE_H
#define QOSD_STORE_STORE_H

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/base/map64.h"
#include "plan/plan.h"
#include "sa/registry/services.h"
#include "store/refused_values.h"

struct store;

/* The format of each file that this qosd writes. */
enum {
	STORE_LIDS_FORMAT = 1,
	STORE_PKEYS_FORMAT = 1,
	STORE_REFUSED_FORMAT = 1,
	STORE_KNOWN_FORMAT = 1,
	STORE_GROUPS_FORMAT = 2,	/* also of the journal */
	STORE_SERVICES_FORMAT = 1,
	STORE_SUBSCRIPTIONS_FORMAT = 1,
	STORE_ALIASES_FORMAT = 1,
	STORE_PARTITIONS_FORMAT = 1,
	STORE_M_KEYS_FORMAT = 1,
	STORE_HISTORY_FORMAT = 1,
	STORE_GONE_FORMAT = 1,
};

/*
 * Opens the folder, made if missing (0700), and locks it: two daemons on one
 * folder would undo each other, so NULL, with the reason in err, if another one has it, or
 * if it is no folder, which is a mistake in the command line.
 * A folder that can't be used is no reason not to run, since a subnet without an SM is
 * worse: it is a problem (store_problems()), and used as soon as it can be.
 * dir NULL: nothing is kept.
 *
 * NULL also where a newer qosd has written any of the files: nothing is read then, and nothing
 * changed.  *newer (newer may be NULL) tells this from the other reasons.
 */
struct store *store_open(const char *dir, bool *newer, struct buf *err);
void store_close(struct store *s);

#define STORE_CHECK_US	1000000

/* Looks after what is late: to be called each STORE_CHECK_US, by the loop's thread. */
void store_check(struct store *s);
/*
 * A mark behind all that was handed over so far; whether all of that is on disk, or at least
 * was tried once: a disk that takes nothing keeps nobody from the network.
 */
uint64_t store_mark(const struct store *s);
bool store_is_past(const struct store *s, uint64_t mark);
/* Waits for it, for a few seconds at most; false: in vain. */
bool store_wait(struct store *s);
/* fn is called by another thread whenever something was tried; NULL: no more. */
void store_on_written(struct store *s, void (*fn)(void *arg), void *arg);
/* What is wrong with the folder, and files that were set aside since the start. */
struct store_problem {
	const char *file;	/* its name; "": the folder itself */
	const char *text;
	int64_t since_us;	/* real time */
};
/* fn must not call the store. */
void store_problems(struct store *s, void (*fn)(void *arg, const struct store_problem *p),
		    void *arg);

/* Writes that failed, in all; files that are late now, and the name of one, or "". */
struct store_failures {
	uint64_t all;
	size_t now;
	char file[64];
};
/* From any thread. */
struct store_failures store_failures(struct store *s);

/* Loads or starts empty; problems are logged. The map is the store's, and changes with it. */
struct lid_map *store_lids(struct store *s);
/*
 * Remembers the LIDs of a plan, and saves them if anything changed.  Ports that are gone keep
 * theirs; when there are more than STORE_LIDS_MAX, those are forgotten, with their P_Keys, whose
 * LIDs somebody else has.
 */
#define STORE_LIDS_MAX	65536
void store_save_lids(struct store *s, const struct plan *p);
/* The same of the places of P_Keys, which are in that map, too. */
void store_save_pkeys(struct store *s, const struct plan *p);
/* The P_Key table that a device has (pkey_places_found()); saved with those of the next plan. */
void store_found_pkeys(struct store *s, uint64_t guid, const uint16_t *keys, uint32_t n);
/*
 * The fabric with all that is known (plan/routes/base_routes.h): nodes, end ports and links, and
 * nothing else of them.  NULL if there is no good file; else it is the caller's.
 */
struct fabric *store_load_known(struct store *s);
void store_save_known(struct store *s, const struct fabric *f);
/*
 * The partitions that were added at run time (sa/registry/dynamic_partitions.h), as lines:
 * like the history of policies below.  Saving waits for the disk, for a few seconds at most.
 * False: the file is as it was, and stays so.
 */
bool store_load_partitions(struct store *s, bool (*line)(void *arg, const char *text), void *arg);
bool store_save_partitions(struct store *s, const char *lines);

/*
 * Sets that devices do not follow (store/refused_values.h): confirmed, while the device keeps another value;
 * or answered with an error each time.  want and got are digests of what was asked and what the
 * device has.  For one thread at a time.
 */
void store_refused(struct store *s, uint64_t node_guid, uint16_t attr, uint32_t mod,
		   uint64_t want, uint64_t got);
void store_refused_by_status(struct store *s, uint64_t node_guid, uint16_t attr, uint32_t mod,
			     uint64_t want, uint16_t status);
/* The device took such a Set, or has what it was to set. */
void store_taken(struct store *s, uint64_t node_guid, uint16_t attr, uint32_t mod);
/* The device started anew: what it answered with an error before is worth another try. */
void store_forget_refused(struct store *s, uint64_t node_guid);
/* See refusals_prune(). */
void store_prune_refused(struct store *s, bool (*is_there)(void *arg, uint64_t guid), void *arg);
/* While it is on, what was answered with an error counts as not refused. */
void store_probe_refused(struct store *s, bool on);
/* All of them: the store's own, which change with it. */
const struct refusals *store_refusals(const struct store *s);
/* Writes the file if there is anything new. */
void store_save_refused(struct store *s);

/*
 * Multicast groups and members, as clients joined them.  Loading adds to db, and takes note
 * of what changes from then on (mcast_keep(): db must not change after the store is closed);
 * false if there is no good file: the clients must be asked to join again.
 * Saving costs what changed since the last time, not what there is.
 */
struct mcast_db;
bool store_load_groups(struct store *s, struct mcast_db *db);
void store_save_groups(struct store *s, const struct mcast_db *db);
/* The last time in a run: also what could not be written. */
void store_end_groups(struct store *s, const struct mcast_db *db);

/*
 * What else clients registered.  A lease goes on while no daemon runs, by a clock that
 * nobody sets; while the machine is down it does not.  Loading adds to db; false if
 * there is no good file.
 */
struct services;
struct subscriptions;
bool store_load_services(struct store *s, struct services *db);
void store_save_services(struct store *s, const struct services *db);
bool store_load_subscriptions(struct store *s, struct subscriptions *db);
void store_save_subscriptions(struct store *s, const struct subscriptions *db);
/*
 * The same piece by piece.  store_begin_…() begins the text, store_print_some_…() adds the lines of the next
 * services, or of the next subscribers, at least n lines if there are so many, and
 * store_save_printed_…() takes the text over.  `at` begins as zeros.  False: the last ones were among them.
 * Lines of the same subscriber are of one moment, the whole is not.
 */
struct service_place {
	struct service_key key;
	bool begun;
	int64_t now_us;		/* when the first line was printed */
};
void store_begin_services(const struct services *db, struct buf *text);
bool store_print_some_services(const struct services *db, struct service_place *at, size_t n,
			       struct buf *b);
void store_save_printed_services(struct store *s, struct buf *text);
struct subscriber_place {
	uint64_t guid;
	uint32_t qpn;
	bool begun;
};
void store_begin_subscriptions(const struct subscriptions *db, struct buf *text);
bool store_print_some_subscriptions(const struct subscriptions *db, struct subscriber_place *at,
				    size_t n, struct buf *b);
void store_save_printed_subscriptions(struct store *s, struct buf *text);
/* Alias GUIDs of ports (sa/registry/alias.h), likewise. */
struct alias_db;
bool store_load_aliases(struct store *s, struct alias_db *db);
void store_save_aliases(struct store *s, const struct alias_db *db);

/*
 * Since when ports that hold anything are not in the fabric (sa/registry/holdings.h), by
 * clock_boot_us().  Loading is of ports that h has.
 */
struct holdings;
bool store_load_gone(struct store *s, struct holdings *h);
void store_save_gone(struct store *s, const struct holdings *h);

/*
 * The same as text, which another daemon takes over (daemon/replication/replica_parts.c): what print gives,
 * take reads into a database, which it cuts up.  False: the text is no good, and part of
 * it may be in the database.  LIDs and places of P_Keys take the place of those that the
 * store has, or nothing changes; they are on disk with the next plan.  Leases go on from
 * the moment that they are taken.
 */
void store_print_lids(const struct store *s, struct buf *b);
void store_print_pkeys(const struct store *s, struct buf *b);
bool store_take_lids(struct store *s, char *lids, char *pkeys);
void store_print_groups(const struct mcast_db *db, struct buf *b);
bool store_take_groups(struct mcast_db *db, char *text);
/* One change of them as a line; done again.  False: it is no good, or cannot be. */
struct mcast_event;
void store_print_group_change(const struct mcast_event *e, struct buf *b);
bool store_take_group_change(struct mcast_db *db, const char *line);
void store_print_services(const struct services *db, struct buf *b);
bool store_take_services(struct services *db, char *text);
void store_print_subscriptions(const struct subscriptions *db, struct buf *b);
bool store_take_subscriptions(struct subscriptions *db, char *text);
void store_print_aliases(const struct alias_db *db, struct buf *b);
bool store_take_aliases(struct alias_db *db, char *text);

/*
 * The history of policies (ctl/policy_trials.h): lines of text without control
 * characters, each ended by a newline.  Loading calls line() for each; one for which
 * it returns false damages the file.  False if there is no good file.
 */
bool store_load_history(struct store *s, bool (*line)(void *arg, const char *text), void *arg);
void store_save_history(struct store *s, const char *lines);
/*
 * The M_Keys that devices may have (sm/keys/mkey.c), as lines, the latest first.  False: the file
 * is not there; it is not tried again.
 */
bool store_load_m_keys(struct store *s, bool (*line)(void *arg, const char *text), void *arg);
bool store_save_m_keys(struct store *s, const char *lines);

#endif
