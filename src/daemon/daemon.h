/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The internal interface of the daemon, and struct qosd, which connects its parts.
 *
 *   daemon.c                 opens and closes all parts; the loop, the end of a sweep
 *   sa_service.c             requests to the SA, answered from the published state
 *   reload.c                 reading the policy file again
 *   settings_reload.c        reading the settings again
 *   policy_watch.c           noticing that the policy file has changed
 *   partition_changes.c      dynamic partitions
 *   withdrawal_changes.c     what is withdrawn from service
 *   replication/             a standby's copy of its master's state
 *   departed_ports.c         holdings of ports, and forgetting departed ports
 *   missing_state.c          what the subnet had and lacks now
 *   http_pages.c             pages by HTTP
 *   expected_topology.c      how the fabric differs from what is expected
 *
 * Everything is for the loop's thread only, unless stated otherwise.
 */
#ifndef QOSD_DAEMON_DAEMON_H
#define QOSD_DAEMON_DAEMON_H

#include "ctl/ctl.h"
#include "ctl/foresight.h"
#include "ctl/policy_trials.h"
#include "daemon/client_leases.h"
#include "daemon/departed_ports.h"
#include "daemon/expected_topology.h"
#include "daemon/http_pages.h"
#include "daemon/isolation_rules.h"
#include "daemon/missing_state.h"
#include "daemon/operator_events.h"
#include "daemon/qosd.h"
#include "daemon/replication/replication.h"
#include "lib/base/file.h"
#include "lib/base/prilock.h"
#include "lib/loop/http.h"
#include "lib/loop/loop.h"
#include "mad/mad.h"
#include "perf/error_watch.h"
#include "perf/optics_watch.h"
#include "perf/perf.h"
#include "sa/registry/dynamic_partitions.h"
#include "sm/devices/withdrawals.h"
#include "sa/sa.h"
#include "sm/sm.h"
#include "store/store.h"

/* Handling of a SIGHUP: a thread reads the file. */
struct hup {
	struct work *work;	/* NULL: no thread is reading */
	bool again;		/* another SIGHUP arrived meanwhile */
	bool watched;		/* no SIGHUP: the file was seen to change */
	struct findings found;
	struct shared_policy *policy;
	struct foresight foresight;
};

/* Looks at the policy file from time to time, in a thread, while a client's policy is in force. */
struct file_watch {
	struct work *work;	/* NULL: no thread is reading */
	int64_t next_us;
	bool missing;		/* what the thread has found */
	uint64_t checksum;
	const struct shared_policy *of;	/* in force when the thread began; only compared */
	struct ctl_policy_file found;
};

/* Looks at the stamp of the policy file each second, in a thread, to reload the file when it changes. */
struct policy_watch {
	struct work *work;	/* NULL: no thread is looking */
	int64_t next_us;	/* not before */
	bool answered;		/* what the thread has found */
	struct file_stamp found;
	struct file_stamp last;
	bool known;		/* last is set */
	bool pending;		/* last differs from what was read, */
	int64_t since_us;	/* and is so since then */
};

struct qosd {
	const struct options *o;
	struct settings *settings;
	char *policy_path;	/* absolute, or NULL: no file is read */
	struct findings refused_at_start;	/* on the policy file, if the start could not use it */
	struct loop *loop;
	struct store *store;
	struct timer *check;	/* runs check() each second */
	struct mad_port *mad;
	struct perf *perf;
	struct error_watch *errors;
	struct optics_watch *optics;
	struct sm *sm;
	struct policies *policies;
	struct clients *clients;
	struct operator_events *operator_events;
	struct ctl *ctl;
	struct http_pages *pages;
	struct sig *hup, *term, *intr;
	struct {		/* --once: wait for answers about congestion control */
		struct timer *timer;
		unsigned ticks, silent;
		uint64_t answers;
	} once;
	int ready_fd;		/* pipe to the process that started the daemon, or -1 */
	int status;

	/*
	 * sa_service.c.  Two struct sa of one SA: the loop's thread uses `sa`, and the
	 * receiver's thread uses `quick` for PathRecord Gets.  They share the state, the groups
	 * and the aliases.  Only the loop's thread changes these, and it holds the lock; the
	 * receiver's thread reads them under the lock.
	 */
	struct sa sa, quick;
	struct sa_coming *coming;	/* of both; NULL: no changes */
	struct buf answer, quick_answer;
	struct prilock sa_lock;
	struct sa_stats *sa_stats;	/* sum, computed on request */

	/* reload.c */
	struct hup reload;
	struct file_watch watch;
	struct policy_watch policy_watch;	/* policy_watch.c */
	struct {		/* settings_reload.c */
		bool from_file;		/* of the settings at the start */
		pthread_mutex_t lock;	/* for what was read; held for moments only */
		struct settings *read;	/* by the last read; NULL: refused, or applied */
		struct name_map *names;	/* read with it, */
		bool names_read;	/* if this is set */
		struct ctl_settings_reload found;
	} settings_reload;
	pthread_mutex_t reading;	/* held while the files are read */
	uint64_t reads, applied;	/* number of the last read; number of the one in force */

	struct dynamic_partitions *dynamic;	/* partition_changes.c */
	uint64_t dynamic_changes;

	struct isolation_rules *isolation_rules;
	struct withdrawals *withdrawals;	/* withdrawal_changes.c */
	uint64_t withdrawal_changes;

	struct replica_parts replica_parts;	/* for the standbys */
	struct standbys standbys;
	struct replica replica;		/* used while this daemon is a standby */
	struct departed_ports *departed;
	struct missing_state *missing;
	struct expected_topology *topology;
};

/* daemon.c */
/* What the settings say of error counters. */
struct error_settings error_watch_settings(const struct settings *s);

/* sa_service.c.  serve_…() with arg are hooks; arg is the struct qosd. */
/* Initializes both struct sa, before the port is opened. */
void serve_init(struct qosd *q);
/* Must be called after mad_close(), which ends the thread that reads what is freed here. */
void serve_free(struct qosd *q);
/* Handles a MAD received at the port, for the SA or the SM. */
void serve_request(void *arg, const struct mad_in *in);
/* Answers a Get of a PathRecord in the receiver's thread; false: the request must wait. */
bool serve_quick_request(void *arg, struct mad_port *m, const struct mad_in *in);
bool serve_holds(void *arg, const struct mad_in *in);
/* Sets the state that answers are made from; NULL: there is none. */
void serve_published(void *arg, struct subnet_state *s);
void serve_settled(void *arg, const struct subnet_state *before, const struct subnet_state *now);
void serve_coming(void *arg, const struct plan *p);
/* The sum of both struct sa's statistics, valid until the next call. */
const struct sa_stats *serve_stats(void *arg);

/* reload.c */
/* Reads the files; callable from any thread.  NULL: see out.  The caller gets the reference.  live: see ctl/ctl.h. */
struct shared_policy *reload_read(void *arg, struct settings *live, struct findings *out);
/*
 * Applies the result of reload_read(), which may be NULL, for a user (-1: SIGHUP).  False:
 * it is refused, and found has an error.
 */
bool reload_apply(void *arg, struct shared_policy *p, struct findings *found, struct asker who);
/* SIGHUP */
void reload_on_hup(void *arg);
/* The file was seen to change: as SIGHUP, unless its policy is in force already. */
void reload_changed(struct qosd *q);
/* Called each second: looks at the file if it is time. */
void reload_check(struct qosd *q);
/* What the file had at the last look; a hook of ctl/, whose arg is the struct qosd. */
struct ctl_policy_file reload_on_disk(void *arg);
/* Waits for threads that read; after bounded_cancel() that takes only a moment. */
void reload_end(struct qosd *q);

/*
 * settings_reload.c.  settings_read_again() is for the thread that reads, with q->reading held; false:
 * see out.  settings_apply() puts what was read last in force, as far as that needs no restart, for plans with the
 * policy that the caller applies next;
 * settings_refused() tells whether findings refuse the settings, and remembers it.  settings_end_marker()
 * is `policy-end-marker` as settings_apply() would put it in force.
 */
bool settings_read_again(struct qosd *q, struct settings *live, struct findings *out);
void settings_apply(struct qosd *q);
bool settings_end_marker(struct qosd *q);
bool settings_refused(struct qosd *q, const struct findings *found);
/* A hook of ctl/, whose arg is the struct qosd. */
const struct ctl_settings_reload *settings_reloaded(void *arg);
void settings_reload_free(struct qosd *q);

/* policy_watch.c: called each second; the end waits for a thread, as reload_end() does. */
void policy_watch_check(struct qosd *q);
void policy_watch_end(struct qosd *q);

/* partition_changes.c */
/* Loads the dynamic partitions from the state folder; none if that fails. */
void load_dynamic(struct qosd *q);
/* The policy with the dynamic partitions, as a new reference; logs those that are not in force. */
struct shared_policy *effective_policy(const struct qosd *q, struct shared_policy *p);
/* Puts the policy into force, with the dynamic partitions. */
void apply_policy(void *arg, struct shared_policy *p);
const struct dynamic_partitions *get_dynamic(void *arg);
/* Takes ownership of x.  False: see err; the partitions in force stay. */
bool set_dynamic(void *arg, struct dynamic_partitions *x, struct asker who, struct buf *err);
/*
 * Replaces our dynamic partitions with the master's; takes ownership of x.  If x cannot be
 * saved, it is kept in memory.
 */
void take_dynamic(struct qosd *q, struct dynamic_partitions *x);

/* withdrawal_changes.c */
/* Loads what is withdrawn from the state folder, for the subnet manager; nothing if that fails. */
void load_withdrawals(struct qosd *q);
const struct withdrawals *get_withdrawals(void *arg);
int64_t isolated_until(void *arg, const struct withdrawal *x);
/*
 * Replaces the list for a user; takes ownership of w.  Returns the number of the change
 * (sm_set_withdrawals()), or 0: see err; the list in force stays.
 */
uint64_t set_withdrawals(void *arg, struct withdrawals *w, struct asker who, struct buf *err);
/* Replaces our list with the master's; takes ownership of w.  If w cannot be saved, it is kept in memory. */
void take_withdrawals(struct qosd *q, struct withdrawals *w);

#endif
