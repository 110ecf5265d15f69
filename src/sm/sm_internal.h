/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to sm/: what outlives a sweep.  What belongs to one is struct sweep (sweep/sweep.h).
 */
#ifndef QOSD_SM_SM_INTERNAL_H
#define QOSD_SM_SM_INTERNAL_H

#include "sm/sm.h"
#include "sm/sweep/light_sweep.h"
#include "sm/sweep/sweep.h"
#include "sm/sweep/wishes.h"
#include "sm/traps/traps.h"
#include "store/store.h"

/* What is said of the policy, and what was logged of it last. */
struct sm_said {
	struct findings findings;	/* of the policy in force */
	struct findings rejected;	/* of the last file that was refused … */
	bool has_rejected;		/* … since one was taken */
	/* digests: of findings, of the shape of the fabric, of why which engine was chosen (0: nothing) */
	uint64_t findings_seen, shape_seen, choice_seen;
	uint64_t fixed_seen;		/* … of devices that keep tables */
};

/* What came of sweeps: of the last one, unless it says otherwise. */
struct sm_counts {
	uint64_t sweeps, discovery_smps, discovery_lost;	/* of all */
	double seconds;
	uint64_t smps, sets;
	uint32_t failed_devices, sets_failed, ports_active, ports_linked;
	uint32_t overrides_ended[OVERRIDES], overrides_stay[OVERRIDES];	/* switches, since the last full one */
	uint32_t inherited;		/* … sweep.inherited_nodes */
};

/* What is known of devices beside what is published, by GUID. */
struct sm_known {
	struct map64 guids;		/* of ports that had a LID of ours when this daemon started */
	struct map64 no_ext_port_info;	/* devices without ExtendedPortInfo */
	struct map64 not_adaptive;	/* switches: bit n: they do not have override n */
	struct map64 doubtful;		/* nodes whose tables are not known for sure */
	/*
	 * Switches whose PortStateChange was cleared while ports were Active that were not read since; or
	 * of all it may be so.
	 */
	struct map64 blind;
	bool blind_all;
	struct map64 spared;		/* … some of whose ports were not read: light sweeps make up for it */
	struct stale_tables *stale_tables;	/* what switches hold for ports without a link */
	bool another_was;		/* another subnet manager was at work since our last sweep */
};

/* Tables unlike the plan's as earlier sweeps saw them, node by node (fixed_table_log.c). */
struct sm_fixed_log {
	VEC(struct fixed_before) maps;
	struct map64 maps_by_guid;	/* node GUID: where those of a node begin */
	VEC(struct arb_before) arbs;	/* the same of arbitration tables */
	struct map64 arbs_by_guid;
};

/* Whether clients have to register again (14.4.11). */
struct sm_clients {
	bool lost;		/* their registrations: they must be asked */
	/* they were lost at some time: every port is asked that was not since, also those that come later */
	bool reregister;
	struct map64 asked;	/* port GUIDs */
	bool coming;		/* lost, unless what is on its way comes */
	bool unknown;		/* the master has not said yet whether it has them */
	uint16_t successor_of;	/* LID of an SM whose clients need not be asked; 0: of none */
	VEC(uint64_t) to_register;	/* reregister.c */
};

/* Standing by (takeover.c). */
struct sm_standby {
	uint64_t master_guid;		/* the other SM that we stand by for; 0: none */
	uint8_t master_priority;
	struct timer *poll;		/* when it is asked whether it is there */
	struct standby_copy *copy;	/* NULL: none */
	int64_t due_us, min_us;		/* when the next is made, and not before */
};

/* What is known of devices that do not do what others do, by the file that owns it. */
struct sm_devices {
	struct exclusions *exclusions;
	struct scrub *scrub, *own_scrub;
	struct implausible_answers *implausible;
	struct names *names;		/* NodeDescriptions that are asked again */
	struct silent_devices *silent;
};

struct sm {
	struct loop *loop;
	struct mad_port *mad;
	const struct settings *settings;
	struct sm_hooks hooks;
	struct store *store;

	enum sm_state state;
	uint32_t act_count;		/* SMInfo.ActCount */
	uint8_t priority;		/* as set last */
	bool own_port_checked;		/* that no other SM runs on it */
	struct election *election;
	struct callers *callers;

	struct shared_policy *policy;	/* to be in force after the sweep that uses it */
	struct shared_policy *in_force;	/* of the last sweep that came to its end, or NULL */
	struct sm_said said;

	struct sweep sweep;
	struct timer *turn_timer;	/* STEP_TURN */
	struct sweep_progress progress;	/* of the sweep that runs, or the last one */
	struct wishes wishes;
	struct light_sweep light;
	struct sm_counts last;

	struct subnet_state *published;
	VEC(struct port_answer) answers;	/* that differ from what is published (announce.c) */
	bool subnet_up;
	uint64_t generation;

	struct sm_known known;
	struct sm_fixed_log seen;
	struct sm_clients clients;
	struct sm_standby standby;
	struct sm_devices devices;
	struct traps traps;
	struct mkeys *mkeys;
	struct refused *refused;
	struct fixed_routes *fixed_routes;
	struct congestion *congestion;
	struct mcast_db *mcast;
	struct mcast_work *mcast_work;
	const struct alias_db *aliases;
	struct guidinfo_work *guidinfo;
};

/* For operators: in the loop's thread. */
void sm_tell(struct sm *sm, const struct event *e);
void sm_set_state(struct sm *sm, enum sm_state s);

static inline const struct sweep_traits *sweep_is(const struct sm *sm)
{
	return &sweep_kinds[sm->sweep.kind];
}

static inline bool sweep_runs(const struct sm *sm)
{
	return sm->sweep.kind != SWEEP_NONE;
}

/* The node answered. */
static inline void sweep_heard(struct sm *sm, uint32_t node)
{
	sm->sweep.work[node].silent = 0;
	sm->sweep.work[node].heard = true;
}

/* Whether the sweep has found something of the node itself to be other than before. */
static inline bool sweep_touches(const struct sm *sm, uint32_t node)
{
	return !sm->sweep.touched || sm->sweep.touched[node];
}

#endif
