/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to the daemon: what it is put together of, and who does which part.
 *
 *   daemon.c       opens and closes all of it, the loop, the end of a sweep
 *   sa_service.c        requests to the SA, of the state that is published
 *   reload.c       the policy file, read again
 *   partition_changes.c     partitions that were added at run time
 *   replication/   what a standby has of what its master knows
 *   departed_ports.c    what ports hold of the registries, and what becomes of it when they are gone
 *
 * All of it is of the loop's thread but what says otherwise.
 */
#ifndef QOSD_DAEMON_DAEMON_H
#define QOSD_DAEMON_DAEMON_H

#include "ctl/ctl.h"
#include "ctl/policy_trials.h"
#include "daemon/client_leases.h"
#include "daemon/departed_ports.h"
#include "daemon/operator_events.h"
#include "daemon/qosd.h"
#include "daemon/replication/replication.h"
#include "lib/base/prilock.h"
#include "lib/loop/http.h"
#include "lib/loop/loop.h"
#include "mad/mad.h"
#include "perf/perf.h"
#include "sa/registry/dynamic_partitions.h"
#include "sa/sa.h"
#include "sm/sm.h"
#include "store/store.h"

/* A SIGHUP: the file is read in a thread of its own. */
struct hup {
	struct work *work;	/* NULL: none is on its way */
	bool again;		/* one came meanwhile */
	struct findings found;
	struct shared_policy *policy;
};

struct qosd {
	const struct options *o;
	struct settings *settings;
	char *policy_path;	/* absolute, or NULL: no file is read */
	struct loop *loop;
	struct store *store;
	struct timer *check;	/* of the store */
	struct mad_port *mad;
	struct perf *perf;
	struct sm *sm;
	struct policies *policies;
	struct clients *clients;
	struct operator_events *operator_events;
	struct ctl *ctl;
	struct http *http;
	struct sig *hup, *term, *intr;
	struct {		/* --once: waiting for what devices say of congestion control */
		struct timer *timer;
		unsigned ticks, silent;
		uint64_t answers;
	} once;
	int ready_fd;		/* where the process that started us waits, or -1 */
	int status;

	/*
	 * sa_service.c.  Two faces of one SA: `sa` in the loop's thread, `quick` in the receiver's
	 * for PathRecord Gets.  They share the state, the groups and the aliases,
	 * which only the loop's thread changes, under the lock; `quick` reads under it.
	 */
	struct sa sa, quick;
	struct sa_coming *coming;	/* of both; NULL: nothing */
	struct buf answer, quick_answer;
	struct prilock sa_lock;
	struct sa_stats *sa_stats;	/* the sum, when it is asked for */

	/* reload.c */
	struct hup reload;
	pthread_mutex_t reading;	/* of the policy file */
	uint64_t reads, applied;	/* the last one's number; that of the one in force */

	struct dynamic_partitions *dynamic;	/* partition_changes.c */
	uint64_t dynamic_changes;

	struct replica_parts replica_parts;	/* for the standbys */
	struct standbys standbys;
	struct replica replica;		/* while this is a standby itself */
	struct departed_ports *departed;
};

/* sa_service.c: the hooks of what they are named after; arg is the struct qosd. */
/* The SA's two faces, before there is a port. */
void serve_init(struct qosd *q);
/* After mad_close(): with the port its thread ends, which reads what is freed here. */
void serve_free(struct qosd *q);
/* A MAD that came in at the port: of the SA, or for the SM. */
void serve_request(void *arg, const struct mad_in *in);
/* … a Get of a PathRecord, in the receiver's thread. */
bool serve_quick_request(void *arg, struct mad_port *m, const struct mad_in *in);
bool serve_holds(void *arg, const struct mad_in *in);
/* Answers are of this state from now on; NULL: there is none. */
void serve_published(void *arg, struct subnet_state *s);
void serve_settled(void *arg, const struct subnet_state *before, const struct subnet_state *now);
void serve_coming(void *arg, const struct plan *p);
/* Both faces' sums, valid until the next call. */
const struct sa_stats *serve_stats(void *arg);

/* reload.c */
/* In any thread.  NULL: out says why.  The caller has the reference. */
struct shared_policy *reload_read(void *arg, struct findings *out);
/*
 * What reload_read() gave, which may be NULL, for the user uid (-1: SIGHUP).  False: it is refused,
 * and found has an error.
 */
bool reload_apply(void *arg, struct shared_policy *p, struct findings *found, int64_t uid);
/* SIGHUP */
void reload_on_hup(void *arg);
/* Waits for a thread that reads, which after bounded_cancel() is not for long. */
void reload_end(struct qosd *q);

/* partition_changes.c */
/* From the state folder; none if it can't be read. */
void load_dynamic(struct qosd *q);
/* With what was added at run time, a new reference; what of that is not in force is said. */
struct shared_policy *effective_policy(const struct qosd *q, struct shared_policy *p);
/* Puts the policy in force, together with what was added. */
void apply_policy(void *arg, struct shared_policy *p);
const struct dynamic_partitions *get_dynamic(void *arg);
/* Takes over x.  False: err says why, and what was in force stays. */
bool set_dynamic(void *arg, struct dynamic_partitions *x, int64_t uid, struct buf *err);
/* The master's in place of ours, which it takes over: in memory, if it can't be kept. */
void take_dynamic(struct qosd *q, struct dynamic_partitions *x);

#endif
