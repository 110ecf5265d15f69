/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Holds what outlives a sweep (private to sm/).  What belongs to one sweep is struct sweep
 * (sweep/sweep.h).
 */
#ifndef QOSD_SM_SM_INTERNAL_H
#define QOSD_SM_SM_INTERNAL_H

#include "sm/devices/withdrawn.h"
#include "sm/sm.h"
#include "sm/sweep/light_sweep.h"
#include "sm/sweep/sweep.h"
#include "sm/sweep/sweep_record.h"
#include "sm/sweep/wishes.h"
#include "sm/traps/traps.h"
#include "store/store.h"

/* Findings on the policy, and what was logged of them last. */
struct sm_said {
	struct findings findings;	/* on the policy in force */
	struct findings rejected;	/* on the last file that was refused */
	bool has_rejected;		/* a file was refused since one was accepted */
	/*
	 * Digests of what was logged last: findings, shape of the fabric, why an engine was chosen;
	 * 0: nothing.
	 */
	uint64_t findings_seen, shape_seen, choice_seen;
	uint64_t fixed_seen;		/* digest of the devices that keep their tables */
};

/* Results of sweeps: of the last sweep, unless noted otherwise. */
struct sm_counts {
	uint64_t sweeps, discovery_smps, discovery_lost;	/* of all sweeps */
	double seconds;
	uint64_t smps, sets;
	uint32_t failed_devices, sets_failed, ports_active, ports_linked;
	/* switches, since the last full sweep */
	uint32_t overrides_ended[OVERRIDES], overrides_stay[OVERRIDES];
	uint32_t inherited;		/* likewise: sweep.inherited_nodes */
	struct sweep_records records;
};

/* What is known of devices by GUID, beyond the published state. */
struct sm_known {
	struct map64 guids;		/* ports that had a LID of ours when this daemon started */
	struct map64 no_ext_port_info;	/* devices without ExtendedPortInfo */
	struct map64 not_adaptive;	/* switches; bit n: without override n */
	struct map64 doubtful;		/* nodes whose tables are not known for certain */
	/*
	 * Switches whose PortStateChange was cleared while Active ports were left unread;
	 * blind_all: assume every switch.
	 */
	struct map64 blind;
	bool blind_all;
	struct map64 spared;		/* switches with ports left unread until a light sweep */
	struct stale_tables *stale_tables;	/* tables that switches still hold for ports without a link */
	bool another_was;		/* another subnet manager was active since our last sweep */
};

/* Tables that differ from the plan, as earlier sweeps saw them, node by node (fixed_table_log.c). */
struct sm_fixed_log {
	VEC(struct fixed_before) maps;
	struct map64 maps_by_guid;	/* node GUID: index of the node's first entry in maps */
	VEC(struct arb_before) arbs;	/* the same for arbitration tables */
	struct map64 arbs_by_guid;
};

/* Which clients have to register again (14.4.11). */
struct sm_clients {
	bool lost;		/* their registrations are lost: they must be asked */
	/*
	 * Registrations were lost at some time: every port that was not asked since is asked, later
	 * ones included.
	 */
	bool reregister;
	struct map64 asked;	/* GUIDs of the ports that were asked */
	bool coming;		/* registrations count as lost unless the copy on its way arrives */
	bool unknown;		/* the master has not said yet whether it has registrations */
	uint16_t successor_of;	/* LID of an SM whose clients need not be asked; 0: none */
	/* when we stood by for a master that had been master beside us; 0: never */
	int64_t forked_us;
	VEC(uint64_t) to_register;	/* GUIDs of ports to be asked (reregister.c) */
};

/* Standing by (takeover.c). */
struct sm_standby {
	uint64_t master_guid;		/* the SM that we stand by for; 0: none */
	uint8_t master_priority;
	struct timer *poll;		/* of the next Get(SMInfo) to the master */
	struct standby_copy *copy;	/* NULL: none */
	int64_t due_us, min_us;		/* when the next copy is due, and the earliest time for it */
};

/* Devices that deviate from the norm, by the file that deals with them. */
struct sm_devices {
	struct exclusions *exclusions;
	struct scrub *scrub, *own_scrub;
	struct implausible_answers *implausible;
	struct names *names;		/* NodeDescriptions that are read again */
	struct silent_devices *silent;
};

struct sm {
	struct loop *loop;
	struct mad_port *mad;
	const struct settings *settings;
	struct sm_hooks hooks;
	struct store *store;

	enum sm_state state;
	bool own_port_checked;		/* no other SM runs on our own port */
	struct election *election;
	struct callers *callers;

	struct shared_policy *policy;	/* in force after the sweep that uses it */
	struct shared_policy *in_force;	/* policy of the last sweep that completed, or NULL */
	uint64_t change_in_force;	/* a copy: a revert gives a policy a new number before its sweep */
	struct sm_said said;

	struct sweep sweep;
	struct timer *turn_timer;	/* runs out between two steps, after the event loop has run */
	struct sweep_progress progress;	/* of the running sweep, or of the last one */
	struct wishes wishes;
	struct light_sweep light;
	struct sm_counts last;

	struct name_map *names;		/* of nodes, for the fabrics of later sweeps; or NULL */
	struct subnet_state *published;
	VEC(struct port_answer) answers;	/* that differ from the published state (announce.c) */
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
	struct withdrawn withdrawn;
	struct congestion *congestion;
	struct mcast_db *mcast;
	struct mcast_work *mcast_work;
	const struct alias_db *aliases;
	struct guidinfo_work *guidinfo;
};

/* Reports an event to operators; in the loop's thread only. */
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

/* Notes that the node answered. */
static inline void sweep_heard(struct sm *sm, uint32_t node)
{
	sm->sweep.work[node].silent = 0;
	sm->sweep.work[node].heard = true;
}

/* The node itself differs from before, as far as the sweep knows. */
static inline bool sweep_touches(const struct sm *sm, uint32_t node)
{
	return !sm->sweep.touched || sm->sweep.touched[node];
}

#endif
