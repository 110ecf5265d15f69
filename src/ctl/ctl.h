/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control socket: what qosd-ctl talks to (protocol: include/qosd/ctl.h).
 *
 * Whatever a client does costs the daemon a bounded amount of memory and
 * bounded pieces of the loop's time: requests have a greatest length and
 * a deadline, answers are produced as fast as the client takes them.
 */
#ifndef QOSD_CTL_CTL_H
#define QOSD_CTL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/policy_trials.h"
#include "events/event.h"
#include "lib/base/buf.h"
#include "lib/base/findings.h"
#include "lib/loop/loop.h"
#include "mad/mad.h"
#include "perf/perf.h"
#include "plan/published_state.h"
#include "plan/settings.h"
#include "sa/registry/dynamic_partitions.h"
#include "sa/request_trace.h"
#include "sa/sa.h"
#include "sm/sm.h"
#include "store/store.h"

/* What those who stand by have of something that was changed. */
struct ctl_standbys {
	unsigned there, have_it;	/* how many; of those */
	uint64_t without;		/* GUID of one that has not; 0: all have it */
	bool deposed;			/* another subnet manager is master by now */
};

/* What the commands show and set off.  All that is pointed to outlives the ctl. */
struct ctl_env {
	const char *version;
	struct sm *sm;		/* these three may be NULL as long as there are none */
	struct sa *sa;		/* its state is the one shown */
	struct mad_port *mad;
	struct perf *perf;	/* may be NULL: no counters are read */
	void *arg;		/* for the callbacks */
	/* What the SA did so far.  May be NULL: then what sa counts. */
	const struct sa_stats *(*sa_stats)(void *arg);
	struct sa_trace *trace;		/* may be NULL */
	struct events *events;		/* may be NULL */
	struct store *store;		/* may be NULL */
	struct policies *policies;	/* may be NULL: then nobody can change the policy */
	/* The configured policy file, absolute; NULL: none is read. */
	const char *policy_path;
	/*
	 * The configured policy file once more.  reload_read() reads it, in any thread,
	 * with findings in either case; NULL if it is no good.  reload_apply(), in the
	 * loop's, puts that in force for a user, or takes note that it is refused, and says so
	 * by false and an error in found.
	 */
	struct shared_policy *(*reload_read)(void *arg, struct findings *out);
	bool (*reload_apply)(void *arg, struct shared_policy *p, struct findings *found,
			     int64_t uid);
	/*
	 * Partitions that were added at run time.  dynamic_set() has others in their
	 * place, for a user, once they are on disk, and takes them over; false: they are
	 * freed and nothing has changed.  May be NULL: then nobody can.  P_Keys that are
	 * chosen are in pkey_lo .. pkey_hi.
	 */
	const struct dynamic_partitions *(*dynamic)(void *arg);
	bool (*dynamic_set)(void *arg, struct dynamic_partitions *x, int64_t uid, struct buf *err);
	uint16_t pkey_lo, pkey_hi;
	/*
	 * Calls told(who), at once or later, when those who stand by for us have them as they are
	 * now, or will not in time.  forget(): told(who) is called no more.  Both may be
	 * NULL: nobody stands by.
	 */
	void (*dynamic_await)(void *arg, void (*told)(void *who, const struct ctl_standbys *s),
			      void *who);
	void (*dynamic_forget)(void *arg, void *who);
	/*
	 * Take away all that a port registered (false: nothing), or a multicast group (false: err
	 * says why not), for a user.  May be NULL: nobody can.
	 */
	bool (*holdings_remove)(void *arg, uint64_t guid, int64_t uid);
	bool (*group_remove)(void *arg, const uint8_t mgid[16], int64_t uid, struct buf *err);
	/*
	 * Whose members may be shown things, and whose may do all; see ctl_new().  The
	 * names outlive the ctl.
	 */
	struct ctl_group read_group, admin_group;
	/*
	 * The functions of sm/sm.h that are called so, with sm: a test has others.  mft_next and
	 * mft_entry may be NULL: no multicast.
	 */
	void (*request_sweep)(struct sm *sm, const char *reason);
	void (*set_priority)(struct sm *sm, uint8_t priority);
	unsigned (*release_links)(struct sm *sm, uint64_t guid, unsigned port);
	bool (*retrain_link)(struct sm *sm, uint64_t guid, unsigned port, struct buf *err);
	bool (*mft_next)(const struct sm *sm, const struct subnet_state *s, uint32_t sw,
			 uint32_t *cursor, uint16_t *mlid, uint64_t ports[4]);
	bool (*mft_entry)(const struct sm *sm, const struct subnet_state *s, uint32_t sw,
			  uint16_t mlid, uint64_t ports[4]);
};

struct ctl;

/*
 * Listens on path.  A socket file on which nobody answers is replaced; NULL with the
 * reason in err if another daemon answers, or the socket can't be made.  env is copied.
 *
 * Root and the daemon's user may do all.  With neither of env's groups so may the
 * members of the group that the socket file has, whoever else gets in may look, and the
 * file's mode is 0660.  With one of them or both, their members and nobody else may what
 * the group is for.  A file has one group only, and to give it another takes a
 * capability: so anybody may connect then (mode 0666), and it is for the peer's
 * credentials to say no.  Who may nothing gets one answer, soon, and few such
 * are let in at a time.
 */
struct ctl *ctl_new(struct loop *l, const char *path, const struct ctl_env *env, struct buf *err);
/* What `metrics` prints, as of now. */
void ctl_metrics(struct ctl *c, struct buf *out);
/* Drops all clients and removes the socket file if it is still this one's. */
void ctl_free(struct ctl *c);

#endif
