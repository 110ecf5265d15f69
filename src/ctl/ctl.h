/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control socket, which qosd-ctl connects to by the protocol of include/qosd/ctl.h.
 *
 * A client costs the daemon a bounded amount of memory and bounded pieces of the loop's time,
 * whatever it does: requests have a maximum length and a deadline, and answers are produced only as
 * fast as the client takes them.
 */
#ifndef QOSD_CTL_CTL_H
#define QOSD_CTL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/policy_trials.h"
#include "events/event.h"
#include "events/missing.h"
#include "fabric/expected.h"
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

/* How far the standbys have a change. */
struct ctl_standbys {
	unsigned there, have_it;	/* number of standbys; how many have the change */
	uint64_t without;		/* GUID of one that lacks it; 0: all have it */
	bool deposed;			/* another subnet manager has become master */
};

/* Stands for the checksum of the built-in policy, which has no file. */
#define CTL_POLICY_BUILTIN 1

/* Another subnet manager, and its policy. */
struct ctl_policy_peer {
	uint64_t guid;
	uint64_t checksum;	/* of its file, or CTL_POLICY_BUILTIN; 0: unknown */
	bool is_master;		/* our master; otherwise one of our standbys */
	int64_t heard_us;	/* of a standby: how long ago it asked for changes, */
	int64_t copied_us;	/* and how old its copy of what we have is; or CTL_AGE_UNKNOWN */
};
#define CTL_AGE_UNKNOWN INT64_MAX

/* The policy file, as it is on disk while a policy of a client is in force. */
struct ctl_policy_file {
	bool known;		/* it was read since that policy went into force */
	bool missing;		/* it cannot be read */
	uint64_t checksum;	/* of the file, if it can be read */
};

/* What came of a comparison with the expected topology. */
struct topology_check {
	unsigned refs;
	struct expected *expected;	/* references to what was compared */
	struct subnet_state *state;
	struct expected_findings findings;
};
void topology_check_unref(struct topology_check *c);	/* NULL is fine */

/* The topology that the fabric is expected to have. */
struct ctl_topology {
	const char *file;		/* the file that has it; NULL: it was accepted by a user */
	struct expected *expected;	/* NULL: none, or the file could not be read */
	int64_t since_us;		/* realtime: when it was read or accepted */
	int64_t uid;			/* of the user; -1: unknown */
	const char *behalf;		/* whom that user accepted it for; NULL: nobody else */
	struct findings errors;		/* on the file */
	struct topology_check *check;	/* NULL: nothing was compared yet */
};

/* What the last reload found in the settings file; names are those of qosd.yaml. */
struct ctl_settings_reload {
	VEC(const char *) applied;	/* by that reload */
	VEC(const char *) restart;	/* differ from what is in force, and need a restart */
	char *refused;			/* the first error, with its place; NULL: the file is good */
};

/* Where a page is served by HTTP, or should be. */
struct ctl_listening {
	const char *setting;	/* of qosd.yaml */
	const char *address;	/* NULL: the settings want none */
	uint16_t port;		/* 0: it is not served */
	const char *why;	/* why not, although the settings want it; NULL: it is, or they do not */
	int64_t since_us;	/* realtime: since when not */
};
#define CTL_LISTENING_MAX 4

struct withdrawal;

/* What the commands show and act on.  All that it points to outlives the ctl. */
struct ctl_env {
	const char *version;
	struct sm *sm;		/* these three may be NULL until they exist */
	struct sa *sa;		/* commands show its state */
	struct mad_port *mad;
	struct perf *perf;	/* NULL: counters are not read */
	struct error_watch *errors;	/* NULL: error counters are not read */
	struct optics_watch *optics;	/* NULL: transceivers are not read */
	void *arg;		/* passed to the callbacks */
	/* The SA's counters.  NULL: use those of sa. */
	const struct sa_stats *(*sa_stats)(void *arg);
	struct sa_trace *trace;		/* may be NULL */
	struct events *events;		/* may be NULL */
	const struct outages *outages;	/* may be NULL */
	struct history *history;	/* NULL: events are not kept on disk */
	struct store *store;		/* may be NULL */
	struct policies *policies;	/* NULL: the policy cannot be changed */
	/* Absolute path of the configured policy file; NULL: none. */
	const char *policy_path;
	/*
	 * The policies of the other subnet managers: that of the i-th, from 0 on; false: there are no
	 * more.  NULL: not known.
	 */
	bool (*policy_peer)(void *arg, unsigned i, struct ctl_policy_peer *peer);
	/* What is in the configured file; NULL: not known. */
	struct ctl_policy_file (*policy_on_disk)(void *arg);
	/* What the last reload found of the settings; NULL: not known. */
	const struct ctl_settings_reload *(*settings_reloaded)(void *arg);
	/* The i-th page, from 0 on, of at most CTL_LISTENING_MAX; false: there are no more.  NULL: not known. */
	bool (*listening)(void *arg, unsigned i, struct ctl_listening *out);
	/*
	 * Reload the configured policy file, and the settings.  reload_read() parses them, in any thread, with findings
	 * in either case; returns NULL if it is invalid.  live, a copy for a plan, or NULL, gets the values that
	 * reload_apply() will put in force.  reload_apply(), in the loop's thread,
	 * puts the result in force for a user, or records the refusal and returns false with an
	 * error in found.
	 */
	struct shared_policy *(*reload_read)(void *arg, struct settings *live, struct findings *out);
	bool (*reload_apply)(void *arg, struct shared_policy *p, struct findings *found,
			     struct asker who);
	/*
	 * Dynamic partitions.  dynamic_set() replaces them once they are on disk, and takes ownership; on
	 * failure it frees them, changes nothing and returns false.  NULL: they cannot be changed.  P_Keys are
	 * assigned from pkey_lo .. pkey_hi.
	 */
	const struct dynamic_partitions *(*dynamic)(void *arg);
	bool (*dynamic_set)(void *arg, struct dynamic_partitions *x, struct asker who, struct buf *err);
	uint16_t pkey_lo, pkey_hi;	/* ctl_set_pkeys() changes them */
	/*
	 * What is withdrawn (sm/devices/withdrawals.h).  withdrawals_set() replaces the list for a user
	 * once it is on disk, takes ownership, and returns the number of the change; 0: err says why the
	 * list stays as it was.  NULL: it cannot be changed.
	 */
	const struct withdrawals *(*withdrawals)(void *arg);
	uint64_t (*withdrawals_set)(void *arg, struct withdrawals *w, struct asker who, struct buf *err);
	/* When the isolation of an entry ends, in seconds since 1970; 0: not by itself.  May be NULL: none does. */
	int64_t (*isolated_until)(void *arg, const struct withdrawal *x);
	/*
	 * dynamic_await() calls told(who), at once or later, when our standbys have the present
	 * dynamic partitions, or do not get them in time.  dynamic_forget() cancels that call.
	 * Both may be NULL: no standbys.
	 */
	void (*dynamic_await)(void *arg, void (*told)(void *who, const struct ctl_standbys *s),
			      void *who);
	void (*dynamic_forget)(void *arg, void *who);
	/*
	 * Remove for a user all that a port registered (false: nothing was), or a multicast group
	 * (false: err says why not).  NULL: not possible.
	 */
	bool (*holdings_remove)(void *arg, uint64_t guid, struct asker who);
	bool (*group_remove)(void *arg, const uint8_t mgid[16], struct asker who, struct buf *err);
	/* An event of what an operator asked for; e is valid during the call.  NULL: nobody is told. */
	void (*event)(void *arg, const struct event *e);
	struct missing *missing;	/* what the subnet had and lacks now; may be NULL */
	/* missing_forget() for a user.  NULL: not possible. */
	size_t (*missing_forget)(void *arg, const char *text, struct asker who);
	const struct ctl_topology *topology;	/* may be NULL */
	/*
	 * Makes x the expected topology (NULL: none), of which `lines` is what expected_print() makes; takes both over.
	 * False: err says why not, and they are freed.
	 */
	bool (*topology_accept)(void *arg, struct expected *x, struct buf *lines, struct asker who, struct buf *err);
	/*
	 * Groups whose members may view, and may do everything; see ctl_new().  The names outlive
	 * the ctl.
	 */
	struct ctl_group read_group, admin_group;
	struct ctl_group gateway_group;	/* the same: its members may ask for others */
	/*
	 * The functions of sm/sm.h with these names, called with sm; tests replace them.  mft_next,
	 * mft_entry and mft_trees may be NULL: no multicast.
	 */
	void (*request_sweep)(struct sm *sm, const char *reason);
	void (*set_priority)(struct sm *sm, uint8_t priority);
	unsigned (*release_links)(struct sm *sm, uint64_t guid, unsigned port);
	bool (*retrain_link)(struct sm *sm, uint64_t guid, unsigned port, struct buf *err);
	bool (*mft_next)(const struct sm *sm, const struct subnet_state *s, uint32_t sw,
			 uint32_t *cursor, uint16_t *mlid, uint64_t ports[4]);
	bool (*mft_entry)(const struct sm *sm, const struct subnet_state *s, uint32_t sw,
			  uint16_t mlid, uint64_t ports[4]);
	uint32_t (*mft_trees)(const struct sm *sm, const struct subnet_state *s, uint32_t sw,
			      unsigned port);
};

struct ctl;

/*
 * Listens on path.  Replaces a socket file that nobody listens on; returns NULL with the reason in
 * err if another daemon answers, or if the socket cannot be made.  env is copied.
 *
 * Root and the daemon's user may do everything.  If env names neither group, so may members of the
 * socket file's group; everyone else who can connect may view, and the file's mode is 0660.  If env
 * names one or both groups, only their members have what the group grants.  A file has one group
 * only, and changing it takes a capability: so in this case anybody may connect (mode 0666), and
 * the peer's credentials decide.  A peer without rights gets one answer within a short time, and
 * few such peers are let in at a time.
 *
 * Root, the daemon's user and members of the gateway group may say whom they ask for; all administrators
 * may if env names no such group.  What they may ask is another matter.
 */
struct ctl *ctl_new(struct loop *l, const char *path, const struct ctl_env *env, struct buf *err);
/* Replace members of env, for requests that come from now on. */
void ctl_set_pkeys(struct ctl *c, uint16_t lo, uint16_t hi);
void ctl_set_history(struct ctl *c, struct history *h);
/* Appends what `metrics` prints, as of now. */
void ctl_metrics(struct ctl *c, struct buf *out);
/*
 * The live report (ctl/report/): its page, without data, and that page's Content-Security-Policy.
 * ctl_report_data() appends the newest data; false: there is none yet, or nothing is published.  Data that is
 * older than a few seconds is made anew in a thread, which is busy at most a tenth of the time.
 */
void ctl_report_page(struct buf *out);
const char *ctl_report_policy(void);
bool ctl_report_data(struct ctl *c, struct buf *out);
#define REPORT_CLIENTS 8	/* most connections for it, as each may hold a copy of the data */
/* Drops all clients and removes the socket file if it is still this one's. */
void ctl_free(struct ctl *c);

#endif
