/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps state on disk that outlives the daemon, such as LIDs, registrations and policy history.
 *
 * The state folder has the known fabric, LIDs and P_Key indexes by GUID, multicast groups with
 * their members, services, event subscriptions, alias GUIDs, values that devices refuse,
 * M_Keys, dynamic partitions, what is withdrawn, departed ports, what is missing, the accepted
 * topology, the history of policies, and the last good policy.
 *
 * Each file is text with a title line and a last line that has a digest of everything before
 * it.  It is written beside its place, synced and renamed, so that a crash at any moment leaves
 * the old or the new file.  A damaged file is set aside (".damaged") and reported; the service
 * goes on without it.  Groups have a journal beside their file (group_journal.c).
 *
 * The title line ends with the number of the file's format.  The number rises with each new
 * kind of line or field that the preceding qosd would not understand.  All formats from 1 on
 * are read (tests/golden/state has a sample of each).  A line that is not in its format is
 * damage, since no qosd has written it.  The untitled text in answers to a standby has the same
 * formats (daemon/replication/replica_parts.c).
 *
 * store_save_…() hands over a text and returns.  A thread writes the texts in the order in
 * which they were handed over, and retries until they are on disk.  Partitions and M_Keys are
 * the exception: the caller waits for the disk, because it needs the result.
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

/* The format that this qosd writes, for each file. */
enum {
	STORE_LIDS_FORMAT = 1,
	STORE_PKEYS_FORMAT = 1,
	STORE_REFUSED_FORMAT = 1,
	STORE_KNOWN_FORMAT = 1,
	STORE_GROUPS_FORMAT = 2,	/* also of the journal */
	STORE_SERVICES_FORMAT = 1,
	STORE_SUBSCRIPTIONS_FORMAT = 1,
	STORE_ALIASES_FORMAT = 1,
	STORE_PARTITIONS_FORMAT = 2,
	STORE_M_KEYS_FORMAT = 1,
	STORE_HISTORY_FORMAT = 2,
	STORE_GONE_FORMAT = 1,
	STORE_MISSING_FORMAT = 2,
	STORE_ACCEPTED_FORMAT = 2,
	STORE_POLICY_FORMAT = 1,
	STORE_WITHDRAWN_FORMAT = 2,
};

/*
 * Opens the folder, creates it if missing (0700), and locks it: two daemons on one folder would
 * undo each other's changes.  NULL, with the reason in err, if another daemon has it, or if dir
 * is not a folder, which is a mistake in the command line.  An unusable folder is only a problem
 * (store_problems()), because a subnet without an SM is worse; the folder is used as soon as it
 * can be.  dir NULL: nothing is kept.
 *
 * NULL also if a newer qosd has written any of the files: nothing is read or changed then.
 * *newer (newer may be NULL) tells this reason from the others.
 */
struct store *store_open(const char *dir, bool *newer, struct buf *err);
void store_close(struct store *s);

#define STORE_CHECK_US	1000000

/*
 * Checks the writer and retries failed writes; to be called every STORE_CHECK_US by the loop's
 * thread.
 */
void store_check(struct store *s);
/*
 * A mark after everything handed over so far, and whether all of that is on disk or was at
 * least tried once: a disk that accepts nothing keeps no port from the network.
 */
uint64_t store_mark(const struct store *s);
bool store_is_past(const struct store *s, uint64_t mark);
/* Waits for that, one second at most; false: it is not done. */
bool store_wait(struct store *s);
/* Another thread calls fn after each attempt to write; NULL stops the calls. */
void store_on_written(struct store *s, void (*fn)(void *arg), void *arg);
/* A problem with the folder or with one of its files, or a file set aside since the start. */
struct store_problem {
	const char *file;	/* file name; "": the folder itself */
	const char *text;
	int64_t since_us;	/* real time */
};
/* Calls fn for each problem; fn must not call the store. */
void store_problems(struct store *s, void (*fn)(void *arg, const struct store_problem *p),
		    void *arg);

/* Number of failed writes; number of present problems (store_problems()), and the file of one, or "". */
struct store_failures {
	uint64_t all;
	size_t now;
	char file[64];
};
/* Callable from any thread. */
struct store_failures store_failures(struct store *s);

/* Loads the LIDs or starts empty; problems are logged.  The store owns the map and changes it. */
struct lid_map *store_lids(struct store *s);
/*
 * Records the LIDs of a plan, and saves them if any changed.  Departed ports keep theirs.  Beyond
 * STORE_LIDS_MAX entries, departed ports whose LIDs another port has are forgotten with their
 * P_Keys.
 */
#define STORE_LIDS_MAX	65536
void store_save_lids(struct store *s, const struct plan *p);
/* The same for the P_Key indexes, which are in that map, too. */
void store_save_pkeys(struct store *s, const struct plan *p);
/*
 * Records the P_Key table found on a device (pkey_places_found()); saved with those of the next
 * plan.
 */
void store_found_pkeys(struct store *s, uint64_t guid, const uint16_t *keys, uint32_t n);
/*
 * Loads the known fabric (plan/routes/base_routes.h): only nodes, end ports and links.  NULL if
 * there is no good file; otherwise the caller owns it.
 */
struct fabric *store_load_known(struct store *s);
void store_save_known(struct store *s, const struct fabric *f);
/*
 * The dynamic partitions (sa/registry/dynamic_partitions.h) as lines, like the history of
 * policies below.  Saving waits for the disk, one second at most.  False: the file is
 * unchanged and stays so.
 */
bool store_load_partitions(struct store *s, bool (*line)(void *arg, const char *text), void *arg);
bool store_save_partitions(struct store *s, const char *lines);
/* The same for what is withdrawn from service (sm/devices/withdrawals.h). */
bool store_load_withdrawn(struct store *s, bool (*line)(void *arg, const char *text), void *arg);
bool store_save_withdrawn(struct store *s, const char *lines);

/*
 * Records Sets that devices refuse (store/refused_values.h): confirmed while the device keeps
 * another value, or answered with an error each time.  want and got are digests of the value set
 * and of the value that the device has.  Not thread-safe.
 */
void store_refused(struct store *s, uint64_t node_guid, uint16_t attr, uint32_t mod,
		   uint64_t want, uint64_t got);
void store_refused_by_status(struct store *s, uint64_t node_guid, uint16_t attr, uint32_t mod,
			     uint64_t want, uint16_t status);
/* The device accepted such a Set, or has its value. */
void store_taken(struct store *s, uint64_t node_guid, uint16_t attr, uint32_t mod);
/* The device restarted: what it answered with an error before is tried again. */
void store_forget_refused(struct store *s, uint64_t node_guid);
/* See refusals_prune(). */
void store_prune_refused(struct store *s, bool (*is_there)(void *arg, uint64_t guid), void *arg);
/* While on, values refused by status count as not refused. */
void store_probe_refused(struct store *s, bool on);
/* All refusals; the store owns them and changes them. */
const struct refusals *store_refusals(const struct store *s);
/* Writes the file if anything changed. */
void store_save_refused(struct store *s);

/*
 * Multicast groups and members, as clients joined them.  Loading adds to db, and records its
 * changes from then on (mcast_keep()): db must not change after the store is closed.  False if
 * there is no good file: clients must be asked to join again.  Saving costs what changed since
 * the last time, not what there is.
 */
struct mcast_db;
bool store_load_groups(struct store *s, struct mcast_db *db);
void store_save_groups(struct store *s, const struct mcast_db *db);
/* Saves for the last time in a run, including changes whose append failed. */
void store_end_groups(struct store *s, const struct mcast_db *db);

/*
 * The other registrations of clients.  A lease runs on while no daemon runs, by a clock that
 * cannot be set, but not while the machine is down.  Loading adds to db; false if there is no
 * good file.
 */
struct services;
struct subscriptions;
bool store_load_services(struct store *s, struct services *db);
void store_save_services(struct store *s, const struct services *db);
bool store_load_subscriptions(struct store *s, struct subscriptions *db);
void store_save_subscriptions(struct store *s, const struct subscriptions *db);
/*
 * Saving piece by piece.  store_begin_…() begins the text.  store_print_some_…() adds the lines
 * of the next services or subscribers, at least n lines if there are so many.
 * store_save_printed_…() takes over the text.  `at` begins as zeros.  False: there are no more.
 * The lines of one subscriber are consistent, the whole file is not.
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
/* Alias GUIDs of ports (sa/registry/alias.h), in the same way. */
struct alias_db;
bool store_load_aliases(struct store *s, struct alias_db *db);
void store_save_aliases(struct store *s, const struct alias_db *db);

/*
 * The departure times of absent ports with registrations (sa/registry/holdings.h), by
 * clock_boot_us().  Loading only sets those of ports that h has.
 */
struct holdings;
bool store_load_gone(struct store *s, struct holdings *h);
void store_save_gone(struct store *s, const struct holdings *h);

/*
 * The same as text, for another daemon (daemon/replication/replica_parts.c).  store_take_…()
 * reads the output of store_print_…() into a database and modifies the text.  False: the text is
 * invalid, and part of it may be in the database.  LIDs and P_Key indexes replace those of the
 * store, or nothing changes; they are on disk with the next plan.  Leases go on from the moment
 * of taking.
 */
/* Calls line() for each line of text, which it modifies; false: a line is invalid or not ended. */
bool store_each_line(char *text, bool (*line)(void *arg, const char *text), void *arg);
void store_print_lids(const struct store *s, struct buf *b);
void store_print_pkeys(const struct store *s, struct buf *b);
bool store_take_lids(struct store *s, char *lids, char *pkeys);
void store_print_groups(const struct mcast_db *db, struct buf *b);
bool store_take_groups(struct mcast_db *db, char *text);
/* One change of the groups as a line, and its application.  False: it is invalid or does not fit. */
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
 * The history of policies (ctl/policy_trials.h): lines of text without control characters, each
 * ended by a newline.  Loading calls line() for each; a line for which it returns false damages
 * the file.  False if there is no good file.
 */
bool store_load_history(struct store *s, bool (*line)(void *arg, const char *text), void *arg);
void store_save_history(struct store *s, const char *lines);
/* What the subnet had and lacks now (daemon/missing_state.c), as lines in the same way. */
bool store_load_missing(struct store *s, bool (*line)(void *arg, const char *text), void *arg);
void store_save_missing(struct store *s, const char *lines);
/* The accepted topology (daemon/expected_topology.c), in the same way. */
bool store_load_accepted(struct store *s, bool (*line)(void *arg, const char *text), void *arg);
void store_save_accepted(struct store *s, const char *lines);
/*
 * The last good policy: the text of its file, and when it went into force.  The owner of a struct
 * that was filled ends it with store_policy_free().
 */
struct store_policy {
	int64_t when_us;	/* realtime */
	uint64_t checksum;	/* of the text (struct policy) */
	char *name;		/* of the file, without control characters */
	struct buf text;
};
void store_policy_free(struct store_policy *p);
/* False if there is no good file; a damaged one is set aside. */
bool store_load_policy(struct store *s, struct store_policy *p);
/*
 * The same without opening the folder, which another daemon may have; it changes nothing.  False:
 * errno is that of reading the file (ENOENT: there is none), or EBADMSG if it is damaged.
 */
bool store_peek_policy(const char *dir, struct store_policy *p);
/*
 * Copies what p has.  A text with a NUL byte is not kept, because files of lines have none; false
 * then.
 */
bool store_save_policy(struct store *s, const struct store_policy *p);
/*
 * The M_Keys that devices may have (sm/keys/mkey.c), as lines, the latest first.  False: the
 * file is not on disk, and the store does not retry.
 */
bool store_load_m_keys(struct store *s, bool (*line)(void *arg, const char *text), void *arg);
bool store_save_m_keys(struct store *s, const char *lines);

#endif
