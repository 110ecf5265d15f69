/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What belongs to one run of a sweep, and what its steps have in common.
 */
#ifndef QOSD_SM_SWEEP_SWEEP_H
#define QOSD_SM_SWEEP_SWEEP_H

#include "mad/mad.h"
#include "plan/published_state.h"
#include "sm/sweep/difference.h"
#include "sm/sweep/steps.h"
#include "sm/sweep/want.h"

/* A run of items of one kind on a switch, judged by samples first (observe.c). */
struct item_family {
	uint32_t first, n;
	uint32_t waiting;	/* samples that have not come back */
	uint64_t seen[2];	/* what the first sample held, by item_column() */
	bool any[2];		/* there was one */
	bool mixed, right;	/* samples of a column differ; one is as wanted */
};

/* Forwarding of a switch that another manager set up, beside the linear table (adaptive.c). */
enum { OVERRIDE_ADAPTIVE, OVERRIDE_PRIVATE, OVERRIDES };
enum override_state {
	OVERRIDE_OFF, OVERRIDE_ON, OVERRIDE_ASKED, OVERRIDE_REFUSED, OVERRIDE_ENDED, OVERRIDE_STAYS,
};
struct override {
	enum override_state state;
	uint16_t status;	/* of the Set that was to switch it off */
	uint8_t info[20];	/* what the attribute said while it was on */
};

/* What a device holds in a block of a port's arbitration tables: the VLs that have weight there. */
struct seen_arb {
	uint8_t num, block;
	uint16_t sends;
};

/* A port whose ExtendedPortInfo is to be set, and what it holds. */
struct speed_set {
	uint8_t num;
	uint8_t info[64];
};

#define LOST_MANY 8	/* SMPs; a device that loses so many is not waited for long */

/* What is to be done on one node in this sweep. */
struct node_work {
	item_t *items;		/* to read, then to write; 0: settled */
	uint32_t n, cap, cursor;
	struct item_family sl2vl, vlarb;
	uint8_t *ports;		/* port numbers whose PortInfo is to be set */
	uint32_t n_ports;
	uint8_t *look;		/* … to be read first, after a Set that went wrong */
	uint32_t n_look;
	uint64_t lmc_stays[4];	/* bit n: port n refuses the LMC that is wanted, and is set without it */
	uint64_t looked[4];	/* bit n: port n was, after an error of value in this pass */
	bool switch_info;	/* SwitchInfo is to be set first */
	bool mcast_top_stays;	/* … but for MulticastFDBTop, which it may refuse */
	bool collected;		/* items is filled */
	bool settled;		/* items holds what is to be written, and only that */
	bool ports_collected;	/* ports and switch_info are filled */
	bool stored;		/* a PortInfo of it was stored, or became unsure */
	bool trained;		/* the port at the other end of a link was found below the state that was known */
	bool failed;		/* does not answer: nothing more is asked of it */
	bool heard;		/* it answered in this sweep */
	bool outdated;		/* it failed as the way to it may be no more */
	bool lft_as_planned;	/* nothing of its forwarding table is written but in rounds (write_routes.c) */
	bool lft_known;		/* its forwarding table was read before planning (fixed_routes.c) */
	bool false_adapter;	/* its NodeType says adapter, but it answers SwitchInfo */
	uint8_t speed_samples, speed_same;	/* ports read by speeds.c first; … that showed no more */
	bool key_mismatch;		/* … as it has another's M_Key */
	uint8_t silent;		/* SMPs without an answer, in a row */
	uint8_t lost;		/* the same in all; from LOST_MANY on no Get has a second try */
	uint8_t sets_lost;	/* Sets without an answer, since one was answered */
	bool doubtful;		/* what it holds is not known for sure */
	bool joined;		/* Sets were sent to it that stand for several SL2VL tables */
	bool refused;			/* it answered Sets with an error */
	uint32_t keeps;			/* values kept instead, but for SL2VL tables */
	VEC(item_t) late;		/* items to be written when the plan is published (announce.c) */
	bool port0_is_new;		/* a switch whose own port gets another LID in this sweep, or its first */
	uint64_t split[4];		/* bit n: fields and state of port n are set one after the other */
	uint64_t halved[4];		/* … and the first half was sent, in this pass */
	uint64_t told[4];		/* … and had clients register again */
	uint16_t status;		/* of the PortInfo Set that was answered with an error last */
	bool unknown;		/* what it holds is not known from before */
	bool mft_unknown;	/* a switch whose MFTs may be anything (multicast_tables.c) */
	bool used_before;	/* … that had links in use when it was discovered */
	bool pkeys_differ;	/* … which left the P_Key table of an external port unlike the plan's */
	uint8_t hidden;			/* ports whose speeds are being read (speeds.c) */
	VEC(struct speed_set) speeds;	/* … that are to have FDR10 enabled */
	struct pkey_blocks *pkeys;	/* P_Key tables that were read before the plan (pkey_places.c) */
	struct override overrides[OVERRIDES];
	struct inherited *inherited;	/* tables that the policy does not manage (inherited.c) */
	VEC(struct fixed_map) fixed;	/* SL2VL tables unlike the plan's, as seen (fixed_table_log.c) */
	VEC(struct seen_arb) arbs;	/* blocks of arbitration tables, as seen (fixed_table_log.c) */
	uint64_t probing[4];		/* bit n: a pair that leaves by port n is tried again */
	bool fixed_doubt;		/* … and nobody knows whether that is for good */
	bool sampled, arb_sampled;	/* one table that the device confirmed is read back */
	bool untrue;			/* … and was not so */
};

/* Flags in the unused bits of an item: it must be read before it may be written (observe.c) … */
#define ITEM_READ	(1u << 27)
/* … and of one that is to be written. */
#define ITEM_LOOK	(1u << 24)	/* it is to be read, as nobody knows what became of it */
#define ITEM_PROBE	(1u << 23)	/* the device kept another value: try again (fixed_table_log.c) */
#define ITEM_CONFIRMED	(1u << 22)	/* to be read, although the device said that it took it */
#define ITEM_PLAIN(i)	((i) & ~(ITEM_LOOK | ITEM_PROBE | ITEM_CONFIRMED))

/* What was seen of the SL2VL table of a pair of ports; map.node counts for nothing. */
struct fixed_before {
	uint64_t guid;
	struct fixed_map map;
};

struct arb_before {
	uint64_t guid;
	struct seen_arb seen;
};

/* What a switch was found to hold in a block of its forwarding table, before planning. */
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
	struct subnet_state *disco_known;	/* what it compares with, while it runs; NULL */
	unsigned discovery_tries;
	struct fabric *found;		/* by a discovery; not taken yet */
	struct probe *probe;
	bool unasked;			/* of the probe: it looked for nothing that somebody told of */
	bool only_election;		/* nothing else has changed */
	bool was_owed;			/* wishes.full, before it: what devices hold is not as published */

	struct fabric *f;		/* being worked on; published->f once published */
	struct node_work *work;		/* per node of f */
	uint8_t *touched;		/* per node of f: a probe found it changed; NULL: nobody knows */
	struct smp_job *job;
	struct shared_policy *policy;
	struct plan *plan;
	struct plan_task *planning;	/* while a part of it is computed */
	struct fabric *spare;		/* f as it was when planning ended (copy_fabric()), or NULL */
	struct plan_pair pair;		/* if it compares: the plan in force, and its own */
	bool told_coming;		/* hooks.coming() knows the plan */

	struct reroute *reroute;	/* what of the forwarding tables is written last, or NULL */
	struct lft_reads lft_reads;
	struct vls_step *vls;		/* of links at work, in the step that changes them */
	VEC(struct fixed_map) fixed;	/* tables that are known to be others than the plan's */
	VEC(struct fixed_arb) fixed_arbs;	/* the same of arbitration tables */
	uint32_t inherited_nodes;	/* whose tables of another manager were replaced */
	struct announce *announce;	/* what ports are told when the plan is published, or NULL */
	struct subnet_state *replaced;	/* what was published before, until the sweep ends; or NULL */
};

/* sweep.c */
void sweep_start(struct sm *sm, enum sweep_kind kind, const char *reason);
/* The part of it before anything is looked at; sweep_run() follows. */
void sweep_begin(struct sm *sm, enum sweep_kind kind, const char *reason);
/* Drops whatever a sweep holds; for its end and for shutting down. */
void sweep_cleanup(struct sm *sm, bool keep_fabric);
void sweep_free_work(struct sm *sm);
/* Of turn_timer: the end of STEP_TURN; arg: the struct sm. */
void sweep_turned(void *arg);
/* What sweep_coming() told the SA is published, or given up. */
void sweep_nothing_is_coming(struct sm *sm);

/* planning.c: what a worker computes is waited for, and dropped. */
void planning_join(struct sm *sm);

/* discover.c */
void sweep_discovery_stop(struct sm *sm);
/* Links that are up and nobody answered at the other end, and ports of switches that did not. */
uint32_t sweep_count_unanswered(const struct fabric *f);
/* The sweep goes on with this fabric, which it takes over. */
void sweep_take_fabric(struct sm *sm, struct fabric *f);
/* RESULT_DISCOVER, with nothing left of what was found so far. */
enum step_result sweep_discover_again(struct sm *sm);
/* Among what the probe found to have changed is a port that says IsSM, or did. */
bool sweep_sms_changed(const struct sm *sm);
/*
 * The probe is over: f is the fabric now, and touched says which nodes of it are not as
 * they were (both are taken over); NULL: nothing has changed, or, with `all`,
 * everything is to be discovered.
 */
enum step_result sweep_probed(struct sm *sm, struct fabric *f, uint8_t *touched, bool all);

/* sweep.c */
struct want_env sweep_env(const struct sm *sm);
/* All of an SMP but its route; no data. */
void sweep_fill_smp(const struct sm *sm, struct smp *s, unsigned method, uint16_t attr,
		    uint32_t mod);
/*
 * Of a Set.  A device may take much longer to write than to read: who has answered in this sweep is
 * there, and waited for as long as ever.
 */
void sweep_fill_set(const struct sm *sm, uint32_t node, struct smp *s, uint16_t attr, uint32_t mod);
/*
 * An SMP to the node got no answer to any of its tries.  True: the node answers
 * others, so that this one is worth asking again.  False: nothing more is asked
 * of it in this sweep; that is so at once where the sweep is a takeover.
 */
bool sweep_smp_lost(struct sm *sm, uint32_t node, const char *what);
/*
 * The same of a Set.  A device may answer Gets and no Set, as one that checks an M_Key which
 * nobody sees: after one that was tried as often as SMPs are, the next is tried once, and then the
 * device is given up.
 */
bool sweep_set_lost(struct sm *sm, uint32_t node, const char *what);
/* What a device answered to a PortInfo; that a Set of one had no answer. */
void sweep_store_port(struct sm *sm, uint32_t port, const uint8_t info[64]);
void sweep_port_unsure(struct sm *sm, uint32_t port);

#endif
