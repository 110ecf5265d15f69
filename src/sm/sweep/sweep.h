/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Begins and ends a sweep, and holds its state and what its steps share.
 */
#ifndef QOSD_SM_SWEEP_SWEEP_H
#define QOSD_SM_SWEEP_SWEEP_H

#include "mad/mad.h"
#include "plan/published_state.h"
#include "sm/sweep/difference.h"
#include "sm/sweep/steps.h"
#include "sm/sweep/want.h"

/* A run of items of one kind on a switch, first judged by samples (observe.c). */
struct item_family {
	uint32_t first, n;
	uint32_t waiting;	/* samples not yet answered */
	uint64_t seen[2];	/* per item_column(): contents of the first sample */
	bool any[2];		/* per item_column(): there was a sample */
	bool mixed, right, wrong;	/* samples of a column differ; a sample equals the plan, or does not */
	bool as_left;		/* the plan wants what the switch held when it was isolated */
};

/* Forwarding that another manager set up on a switch, beside the linear table (adaptive.c). */
enum { OVERRIDE_ADAPTIVE, OVERRIDE_PRIVATE, OVERRIDES };
enum override_state {
	OVERRIDE_OFF, OVERRIDE_ON, OVERRIDE_ASKED, OVERRIDE_REFUSED, OVERRIDE_ENDED, OVERRIDE_STAYS,
};
struct override {
	enum override_state state;
	uint16_t status;	/* of the Set that was meant to switch it off */
	uint8_t info[20];	/* the attribute's data while it was on */
};

/* A block of a port's arbitration tables as read: the VLs to which it gives weight. */
struct seen_arb {
	uint8_t num, block;
	uint16_t sends;
};

/* A port whose ExtendedPortInfo must be set, and its present contents. */
struct speed_set {
	uint8_t num;
	uint8_t info[64];
};

#define LOST_MANY 8	/* SMPs lost, after which a device is not awaited for long */

/* Work on one node in this sweep. */
struct node_work {
	item_t *items;		/* items to read, then items to write; 0: settled */
	uint32_t n, cap, cursor;
	struct item_family sl2vl, vlarb, lft;	/* lft: only if it is as_left */
	uint8_t *ports;		/* numbers of ports whose PortInfo must be set */
	uint32_t n_ports;
	uint8_t *look;		/* numbers of ports to read again first, after a failed Set */
	uint32_t n_look;
	uint64_t lmc_stays[4];	/* bit n: port n refuses the planned LMC and is set without it */
	uint64_t looked[4];	/* bit n: port n was read again in this pass, after an error status */
	bool switch_info;	/* SwitchInfo must be set first */
	bool mcast_top_stays;	/* SwitchInfo is set without MulticastFDBTop, which the switch may refuse */
	bool collected;		/* items is filled */
	bool settled;		/* items holds exactly what must be written */
	bool ports_collected;	/* ports and switch_info are filled */
	bool stored;		/* a PortInfo of the node was stored, or became unsure */
	bool trained;		/* the far end of one of its links was found below the known state */
	bool failed;		/* it does not answer: nothing more is asked of it */
	bool heard;		/* it answered in this sweep */
	bool outdated;		/* it failed, perhaps because the route to it is broken */
	bool lft_as_planned;	/* its forwarding table is written only in rounds (write_routes.c) */
	bool lft_known;		/* its forwarding table was read before planning (fixed_routes.c) */
	bool lft_sent;		/* a Set of its forwarding table was sent, other than in rounds */
	bool false_adapter;	/* its NodeType says adapter, but it answers SwitchInfo */
	uint8_t speed_samples, speed_same;	/* ports read first by speeds.c; those without news */
	bool key_mismatch;		/* it failed as its M_Key is unknown */
	uint8_t silent;		/* consecutive SMPs without an answer */
	uint8_t lost;		/* all SMPs without an answer; from LOST_MANY on Gets are tried once */
	uint8_t sets_lost;	/* Sets without an answer since one was answered */
	bool doubtful;		/* its contents are not known for certain */
	bool joined;		/* it was sent Sets that stand for several SL2VL tables */
	bool refused;			/* it answered Sets with an error */
	uint32_t keeps;			/* values that it keeps, other than SL2VL tables */
	VEC(item_t) late;		/* items to be written when the plan is published (announce.c) */
	bool port0_is_new;		/* a switch whose port 0 gets a new LID in this sweep */
	uint64_t split[4];		/* bit n: fields and state of port n are set separately */
	uint64_t halved[4];		/* bit n: the first of those two Sets was sent in this pass */
	uint64_t told[4];		/* bit n: that Set asked for client reregistration */
	uint16_t status;		/* of the last PortInfo Set that was answered with an error */
	bool unknown;		/* nothing is known of its contents from before */
	bool mft_unknown;	/* a switch whose MFTs may be anything (multicast_tables.c) */
	bool used_before;	/* a switch that had links in use when it was discovered */
	bool pkeys_differ;	/* a switch: an external port's P_Key table differs from the plan */
	uint8_t hidden;			/* number of ports whose speeds are being read (speeds.c) */
	VEC(struct speed_set) speeds;	/* ports that must have FDR10 enabled */
	struct pkey_blocks *pkeys;	/* P_Key tables read before planning (pkey_places.c) */
	struct override overrides[OVERRIDES];
	struct inherited *inherited;	/* tables that the policy does not manage (inherited.c) */
	VEC(struct fixed_map) fixed;	/* SL2VL tables read that differ from the plan (fixed_table_log.c) */
	VEC(struct seen_arb) arbs;	/* blocks of arbitration tables read (fixed_table_log.c) */
	uint64_t probing[4];		/* bit n: a pair with out port n is tried again */
	bool fixed_doubt;		/* tables differ, perhaps not for good */
	bool sampled, arb_sampled;	/* one confirmed table is read back */
	bool untrue;			/* a table that was read back differed */
};

/* Flag in the unused bits of an item: it must be read before it may be written (observe.c). */
#define ITEM_READ	(1u << 27)
/* Flags of an item that must be written. */
#define ITEM_LOOK	(1u << 24)	/* read it: the result of its Set is unknown */
#define ITEM_PROBE	(1u << 23)	/* the device kept another value: try again (fixed_table_log.c) */
#define ITEM_CONFIRMED	(1u << 22)	/* read it back although the device confirmed it */
#define ITEM_PLAIN(i)	((i) & ~(ITEM_LOOK | ITEM_PROBE | ITEM_CONFIRMED))

/* An SL2VL table of a pair of ports, as read; map.node is not used. */
struct fixed_before {
	uint64_t guid;
	struct fixed_map map;
};

struct arb_before {
	uint64_t guid;
	struct seen_arb seen;
};

/* A block of a switch's forwarding table, read before planning. */
struct lft_read {
	uint64_t guid;
	uint32_t block;
	uint8_t entries[64];
};
struct lft_reads {
	struct lft_read *v;
	size_t n, cap;
};

struct sweep {
	enum sweep_kind kind;		/* SWEEP_NONE: none runs */
	enum phase phase;
	char *reason;
	char *failure;			/* see sweep_fails() */
	int64_t started_us;
	uint64_t smps_before, sets_before;

	struct disco *disco;
	/* the state that discovery compares with while it runs; else NULL */
	struct subnet_state *disco_known;
	unsigned discovery_tries;
	struct fabric *found;		/* the result of a discovery, not taken yet */
	struct probe *probe;
	bool unasked;			/* no device had reported a change: the probe may find nothing */
	bool only_election;		/* nothing has changed except the SMs */
	bool was_up;			/* the subnet was up before this sweep was over */
	bool was_owed;			/* wishes.full before: devices may differ from what is published */

	struct fabric *f;		/* the fabric being worked on; published->f once published */
	struct node_work *work;		/* per node of f */
	uint8_t *touched;		/* per node of f: a probe found it changed; NULL: unknown */
	struct smp_job *job;
	struct shared_policy *policy;
	struct plan *plan;
	struct plan_task *planning;	/* while a worker computes a part of it */
	struct fabric *spare;		/* a copy of f from the end of planning (copy_fabric()), or NULL */
	struct plan_pair pair;		/* the plan in force and this sweep's, if they are compared */
	bool told_coming;		/* hooks.coming() was given the plan */

	struct reroute *reroute;	/* the last part of writing forwarding tables, or NULL */
	struct lft_reads lft_reads;
	struct vls_step *vls;		/* changes to links at work, during the step that makes them */
	VEC(struct fixed_map) fixed;	/* tables known to differ from the plan */
	VEC(struct fixed_arb) fixed_arbs;	/* the same for arbitration tables */
	uint32_t inherited_nodes;	/* nodes on which tables of another manager were replaced */
	struct announce *announce;	/* what ports are told at publishing, or NULL */
	struct subnet_state *replaced;	/* the state published before, until the sweep ends; or NULL */
};

/* sweep.c */
void sweep_start(struct sm *sm, enum sweep_kind kind, const char *reason);
/* Prepares a sweep without taking a step; sweep_run() follows. */
void sweep_begin(struct sm *sm, enum sweep_kind kind, const char *reason);
/* Drops everything that a sweep holds, at its end or at shutdown. */
void sweep_cleanup(struct sm *sm, bool keep_fabric);
void sweep_free_work(struct sm *sm);
/* Ends what sweep_coming() told the SA: the plan was published or given up. */
void sweep_nothing_is_coming(struct sm *sm);

/* planning.c: waits for the worker's computation and drops its result. */
void planning_join(struct sm *sm);

/* discover.c */
void sweep_discovery_stop(struct sm *sm);
/* Counts links that are up but whose far end does not answer, and ports of switches that do not. */
uint32_t sweep_count_unanswered(const struct fabric *f);
/* The sweep goes on with this fabric, of which it takes ownership, and of work, which sweep_new_work() made of it. */
void sweep_take_fabric(struct sm *sm, struct fabric *f, struct node_work *work);
/* What a sweep notes of the nodes of f: nothing yet.  Its memory is in place, which takes some ms on a large fabric. */
struct node_work *sweep_new_work(const struct fabric *f);
/* Drops everything found so far; returns RESULT_DISCOVER. */
enum step_result sweep_discover_again(struct sm *sm);
/* Among the changes that the probe found is a port that says IsSM, or said so before. */
bool sweep_sms_changed(const struct sm *sm);
/*
 * Takes the probe's result: f is the new fabric, and touched marks its changed nodes (takes
 * ownership of both, and of work, which sweep_new_work() made of f).  f NULL: nothing has changed or, with `all`,
 * everything must be discovered.
 */
enum step_result sweep_probed(struct sm *sm, struct fabric *f, uint8_t *touched, struct node_work *work, bool all);

/* sweep.c */
struct want_env sweep_env(const struct sm *sm);
/* Fills all of an SMP except its route; no data. */
void sweep_fill_smp(const struct sm *sm, struct smp *s, unsigned method, uint16_t attr,
		    uint32_t mod);
/*
 * The same for a Set.  A device may take much longer to write than to read, so a device that has
 * answered in this sweep gets the full timeout.
 */
void sweep_fill_set(const struct sm *sm, uint32_t node, struct smp *s, uint16_t attr, uint32_t mod);
/*
 * An SMP to the node was lost in all tries.  True: the node answers others, so this one is worth
 * asking again.  False: the sweep asks the node nothing more; a takeover decides that at the first
 * loss.
 */
bool sweep_smp_lost(struct sm *sm, uint32_t node, const char *what);
/*
 * The same for a Set.  A device may answer Gets and no Set, as one whose hidden M_Key does not
 * match does.  After a Set that was lost in all tries the next Set is tried once, and then the
 * device is given up.
 */
bool sweep_set_lost(struct sm *sm, uint32_t node, const char *what);
/* Stores a PortInfo that a device answered; marks a port whose PortInfo Set had no answer. */
void sweep_store_port(struct sm *sm, uint32_t port, const uint8_t info[64]);
void sweep_port_unsure(struct sm *sm, uint32_t port);

#endif
