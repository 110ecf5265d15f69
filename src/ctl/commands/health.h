/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Judges what an operator should look at now, worst first: each problem with its reason and an
 * action.  Pure: depends only on its input.
 */
#ifndef QOSD_CTL_COMMANDS_HEALTH_H
#define QOSD_CTL_COMMANDS_HEALTH_H

#include "ctl/command.h"
#include "ctl/commands/cmd_routes.h"
#include "events/history/history.h"
#include "lib/base/alloc.h"
#include "lib/base/findings.h"
#include "sm/devices/implausible.h"
#include "store/store.h"

struct health_input {
	const struct sm_status *sm;
	const struct sm_seen *others;	/* other subnet managers */
	size_t n_others;
	const struct sm_flap *flaps;	/* flapping links */
	size_t n_flaps;
	const struct sm_refused *refused;	/* refused Sets, unordered */
	size_t n_refused;
	const struct sm_exclusion *left;	/* excluded devices */
	size_t n_left;
	const struct trap_flood *floods;	/* ongoing trap floods */
	size_t n_floods;
	const struct mad_flood *mad_floods;	/* ongoing floods of any MADs */
	size_t n_mad_floods;
	const struct implausible_answer *implausible;	/* implausible answers (sm/devices/implausible.h) */
	size_t n_implausible;
	const struct subnet_state *state;	/* NULL: nothing published */
	const struct gauged *gauged;	/* measurement of the state's routes; NULL: none */
	const struct mcast_db *mcast;	/* NULL: there is no SA */
	const struct sa_stats *sa;	/* NULL: there is no SA */
	const struct sa *registered;	/* registries of the SA; NULL: there is no SA */
	struct store_failures store;
	struct history_state history;	/* zeroed: events are not kept on disk */
	int64_t trial_left_us;		/* < 0: no policy on trial */
	const struct shared_policy *in_force;	/* NULL: unknown */
	struct ctl_policy_file on_disk;
	const struct ctl_settings_reload *settings;	/* NULL: unknown */
	const struct ctl_policy_peer *peers;	/* other subnet managers, by policy */
	size_t n_peers;
	bool policy_wanted;		/* the settings do not say 'policy: none' */
	const struct perf_finding *shorts;	/* shares that were missed */
	size_t n_shorts;
	const struct perf_stray *strays;	/* data on SLs that no level has; sorted (perf/perf.h) */
	size_t n_strays;
	const struct outages *outages;	/* NULL: not counted */
	const struct error_watch *errors;	/* NULL: error counters are not read */
	const struct optics_watch *optics;	/* NULL: transceivers are not read */
	const struct ctl_topology *topology;	/* the expected topology; or NULL */
	const struct missing *missing;	/* what the subnet had and lacks now; or NULL */
	const struct ctl_listening *pages;	/* served by HTTP */
	size_t n_pages;
	int64_t now_us, now_mono_us;	/* realtime, and monotonic */
};

struct problem {
	enum severity severity;		/* SEV_INFO: worth knowing, but not a problem */
	const char *kind;		/* static: a-z and '-' */
	const char *action;		/* static: what to do about it */
	char *text;			/* owned */
};

struct health {
	VEC(struct problem) v;
};

/* Says who sends too many MADs, of which kind and how many.  s: the published state, or NULL. */
void health_flood_text(const struct subnet_state *s, const struct mad_flood *flood,
		       struct buf *out);

void health_judge(const struct health_input *in, struct health *out);
void health_free(struct health *h);

#endif
