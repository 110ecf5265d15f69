/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subnet manager: election, sweeps, bring-up.  The
 * one face that main and ctl/ see.
 */
#ifndef QOSD_SM_SM_H
#define QOSD_SM_SM_H

#include <stdbool.h>
#include <stdint.h>

#include "discovery/discovery.h"
#include "events/event.h"
#include "lib/base/findings.h"
#include "lib/loop/loop.h"
#include "mad/mad.h"
#include "plan/published_state.h"
#include "sm/traps/flap_table.h"
#include "sm/traps/trap_gate.h"
#include "store/refused_values.h"

enum sm_state { SM_NOT_ACTIVE, SM_DISCOVERING, SM_STANDBY, SM_MASTER };

struct sm;
struct store;

struct sm_hooks {
	/* A new published state (the receiver takes its own reference), or NULL: none any more. */
	void (*published)(void *arg, struct subnet_state *s);
	/*
	 * The sweep that published now has ended: the ports at work were told, and now->faults is
	 * complete.  before: what was published before it, or NULL.  Both are good during the call.
	 */
	void (*settled)(void *arg, const struct subnet_state *before,
			const struct subnet_state *now);
	/*
	 * Devices are about to be told of this plan, which is not published yet: so clients may ask
	 * by what only it knows.  NULL: it is published, or was given up.
	 */
	void (*coming)(void *arg, const struct plan *p);
	/* The first bring-up, or any sweep, has ended. */
	void (*sweep_done)(void *arg, bool complete);
	/* Something happened that operators are told of; e is good during the call. */
	void (*event)(void *arg, const struct event *e);
	/* Standing by: the master has said that it is well, or nudges us.  May be NULL. */
	void (*master_alive)(void *arg);
	/* It cannot go on (another SM runs on this port …): the process is to end. */
	void (*fatal)(void *arg, const char *why);
	void *arg;
};

/* What was read again between sweeps. */
struct sm_scrub {
	uint64_t passes;	/* over all devices, whole ones */
	uint64_t reads;		/* attributes */
	uint64_t repaired;	/* … that another had overwritten */
};

/* Congestion control that another manager set up, as far as devices tell of it (congestion.c). */
struct sm_congestion {
	bool reading;			/* devices are being asked … */
	uint64_t answers;		/* … and so many answers have come since the start */
	uint32_t switches, marking;	/* that tell; of those, that mark packets */
	uint32_t adapters, slowing;	/* ports that tell; that send more slowly when told to */
	uint16_t sls, same_sls;		/* on these SLs some of them do, and all that do at all */
	uint32_t hidden;		/* of kinds that have it, without an answer: a CC_Key, perhaps */
};
/* "congestion control of another manager is on: …"; false, and nothing: it is off. */
bool sm_congestion_text(const struct sm_congestion *c, struct buf *out);
/* "SLs 0, 3" of a bit mask that is not 0. */
void sm_congestion_sls(unsigned sls, struct buf *out);

/* Everything that `status` tells, as plain values. */
struct sm_status {
	enum sm_state state;
	bool subnet_up;			/* every reachable port is Active and programmed */
	bool sweeping;
	const char *phase;		/* "idle", "discovery", "planning", "reading", "ports", "tables", … */
	uint64_t guid;			/* own port */
	uint16_t lid;
	uint64_t master_guid;		/* 0: none known */
	uint8_t master_priority, priority;
	bool registrations_held;	/* standing by: what clients registered is here, too */
	uint32_t other_managers;		/* SMs of another SM_Key, at the last election */
	/* devices with an M_Key that we don't know, master: at the last sweep; else as seen last */
	uint32_t key_mismatches;
	bool no_m_key;			/* by the settings: any host can set up any device, */
	bool m_key_readable;		/* ... or can read the M_Key, with m-key-protect 0 */
	bool sm_key_known;		/* the SM_Key is none, or the one that everybody knows */
	uint64_t m_key_violations;	/* traps 256 that came */
	uint32_t nodes, switches, ports_active, ports_linked;
	uint64_t sweeps;
	double last_sweep_seconds;
	/* of the last sweep */
	uint64_t last_smps, last_sets;
	uint32_t failed_devices;	/* did not answer or refused */
	uint32_t sets_failed;
	uint32_t unanswered;	/* links that are up and whose far end does not answer */
	uint64_t discovery_smps;	/* by the discovery process, all sweeps */
	uint64_t discovery_lost;	/* … of which so many were lost */
	/*
	 * Multicast trees: whether changes still have to be written to devices; how many there are, were
	 * made anew and kept after the last sweep, and were made since the start.
	 */
	bool trees_pending;
	uint32_t trees, trees_remade, trees_kept;
	uint64_t trees_made;
	size_t refused;			/* values that devices keep unlike what was wanted, remembered */
	/* of another manager, at the last full sweep: switches whose adaptive routing ended, stays on */
	uint32_t adaptive_ended, adaptive_stays;
	uint32_t private_ended, private_stays;	/* … and private linear tables */
	uint32_t tables_replaced;	/* … devices whose SL2VL or arbitration tables were bad for SL 0 */
	struct sm_congestion congestion;
	enum disco_filter discovery_filter;
	const char *discovery_call;	/* that it refused */
	uint64_t traps_dropped;	/* of sources that send too many */
	struct sm_scrub scrub;
	const char *engine;
	const struct shared_policy *policy;	/* in force or to be applied next */
	/* of the last sweep that came to its end, P_Keys and all; NULL: none */
	const struct shared_policy *in_force;
	const struct findings *findings;	/* file's and fabric's, of the policy in force */
	const struct findings *rejected;	/* of the last file that was refused; NULL if none since */
};

struct sm *sm_new(struct loop *l, struct mad_port *m, const struct settings *settings,
		  struct shared_policy *policy, struct store *store, const struct sm_hooks *hooks);
void sm_free(struct sm *sm);
void sm_start(struct sm *sm);
/* A device that is excluded from the subnet. */
struct sm_exclusion {
	uint32_t near;		/* port of the published fabric that its link comes from, or FABRIC_NONE */
	uint64_t guid;		/* of the device, at whichever link; 0: which one it is is not sure */
	bool is_switch;		/* a switch that claims to be an adapter; it takes part as a switch */
	uint64_t known_as;	/* it is not excluded, but known by this GUID, since another says the same; 0 */
	struct buf text;	/* which, and why; the caller frees it */
};
/* The i-th, in no order; false: there are fewer.  text is added to. */
bool sm_excluded(const struct sm *sm, size_t i, struct sm_exclusion *out);
/* A step of a kind of sweep, as steps.c has it. */
struct sm_sweep_step {
	const char *kind, *name, *phase, *what;	/* constant */
	bool current;		/* it is of the sweep that runs, or, if none does, the last one */
	bool runs;		/* right now */
	unsigned runs_so_far;	/* of that sweep: how often it was begun, 255 at most … */
	int64_t took_us;	/* … and how long that took, all together; of one that runs, so far */
};
/* The i-th step of the kind-th kind, in order; false: there are fewer.  sm may be NULL: none has run. */
bool sm_sweep_step(const struct sm *sm, unsigned kind, unsigned i, struct sm_sweep_step *out);
/* A full sweep as soon as the running one is over. */
void sm_request_sweep(struct sm *sm, const char *reason);
/*
 * Applies a new policy: no discovery, the plan is computed anew and only what
 * differs is written.  Takes its own reference.
 */
void sm_set_policy(struct sm *sm, struct shared_policy *p);
/* The priority of SMInfo, 0..15: who is master is decided anew if it changes that. */
void sm_set_priority(struct sm *sm, uint8_t priority);
/* Master: those who stand by are to ask at once what there is, rather than with their next poll. */
void sm_nudge(struct sm *sm);
/*
 * We did not run for a while, and others are being asked, or are yet to be, whether one of them
 * is master now.
 */
bool sm_is_asking(const struct sm *sm);
/* Master: since then we may not have run. */
int64_t sm_ran_us(const struct sm *sm);
/* Remembers why a policy file was refused. Takes over the findings. */
void sm_policy_rejected(struct sm *sm, struct findings *f);
/* The M_Key for an SMP to our own port. */
uint64_t sm_own_m_key(const struct sm *sm);
/*
 * A MAD of the SMI classes that is no answer to ours.  False: a trap of a source that sends
 * too many, of which nobody else need hear.
 */
bool sm_receive(struct sm *sm, const struct mad_in *in);
void sm_get_status(const struct sm *sm, struct sm_status *out);
/* The published state or NULL; take a reference to keep it. */
struct subnet_state *sm_published(const struct sm *sm);
const char *sm_state_name(enum sm_state s);

/* An SM of the subnet, as its SMInfo says. */
struct sm_seen {
	uint64_t guid;
	uint32_t act_count;
	uint8_t priority;
	enum sm_state state;
};
/* 0 is this one; the others are as they were at the last election.  False: no more. */
bool sm_seen_at(const struct sm *sm, uint32_t i, struct sm_seen *out);

/* The floods of traps that go on, i from 0.  False: no more. */
bool sm_flood_at(const struct sm *sm, uint32_t i, struct trap_flood *out);
/* "switch X port 3: 1200 traps in 10 s, …"; f: the published fabric, or NULL. */
void sm_flood_text(const struct fabric *f, const struct trap_flood *flood, struct buf *out);

/* An attribute of which a device refuses Sets for good; node: in the published fabric. */
struct sm_refused {
	uint32_t node;
	struct refused_kind kind;
};
/* *i from 0; f: the published fabric.  False: no more. */
bool sm_refused_at(const struct sm *sm, const struct fabric *f, size_t *i, struct sm_refused *out);
/* "switch X refuses Sets of P_KeyTable with status 0x001c (invalid value): …" */
void sm_refused_text(const struct fabric *f, const struct sm_refused *x, struct buf *out);

/* An end port of the published fabric that SMPs were lost to, on its present way. */
struct sm_lossy {
	uint32_t port;
	uint32_t lost;		/* SMPs, since this daemon started, without those of discovery */
	unsigned window;	/* SMPs that it may have outstanding now */
};
/* Those that lost most, the most first, `max` of them at most: returns how many are in out. */
unsigned sm_lossy(const struct sm *sm, struct sm_lossy *out, unsigned max);

/* A link that goes down and up again and again, and what becomes of it. */
struct sm_flap {
	struct flap flap;
	int64_t left_us;	/* until it flaps no more, if it stays quiet */
	/* it is not there; no route uses it; it is used, since there is no other way */
	enum { FLAP_DOWN, FLAP_HELD, FLAP_USED } is;
};
/* i from 0.  False: no more. */
bool sm_flap_at(const struct sm *sm, uint32_t i, struct sm_flap *out);
/* "link A to B went down 6 times; …"; f: the published fabric, or NULL. */
void sm_flap_text(const struct fabric *f, const struct sm_flap *x, struct buf *out);
/*
 * Routes may use links at once that flapped: that of a node's port, all of a node (port 0) or
 * all there are (guid 0).  How many there were.
 */
unsigned sm_release_links(struct sm *sm, uint64_t guid, unsigned port);
/*
 * Takes the link of a node's port down once, so that it is trained with the widths and speeds
 * that are enabled by now, and brought up anew.  Traffic on it is lost meanwhile.  False: there
 * is no such link, says err.
 */
bool sm_retrain_link(struct sm *sm, uint64_t guid, unsigned port, struct buf *err);
/*
 * What the port with that GUID had registered is gone: asks it, once no sweep runs, to have its
 * clients register again (14.4.11).  No effect on a port that is not Active or cannot do that.
 */
void sm_have_register(struct sm *sm, uint64_t guid);

/* --- what another policy would change --- */

/* Tables that two plans have different, of the ports of one class. */
struct tables_changed {
	uint32_t sl2vl;		/* tables, one for each pair of ports */
	uint32_t vlarb, pkey;	/* ports whose table differs */
	uint32_t op_vls, high_limit;	/* ports; both are in PortInfo */
};

/*
 * What applying a plan would send: Sets by attribute id.  The two numbers
 * differ where devices may hold anything, so that they are read first: tables
 * that the old plan left alone, and devices that refused something.
 */
struct difference {
	uint32_t least[0x40], most[0x40];
	struct tables_changed tables[PORT_CLASS_COUNT];
};

/* PortInfo that a port of the published fabric answered, and that is not what is published. */
struct port_answer {
	uint32_t port;
	uint8_t info[64];
};

/* What is known of the devices at a moment beyond their plan. */
struct sm_knowledge {
	struct port_answer *answers;	/* in order of ports */
	size_t n_answers;
	struct map64 doubtful;		/* node GUIDs whose tables may not be as planned */
	struct refusals *refused;
	uint64_t m_key;			/* that devices are to have */
	bool reregister;
	struct map64 asked;		/* … but for these port GUIDs */
};
/* A copy, from the loop's thread; sm_difference() may then run in any. */
void sm_knowledge_take(const struct sm *sm, struct sm_knowledge *out);
void sm_knowledge_free(struct sm_knowledge *k);
/* Both plans are of one fabric, whose devices hold `old`.  No I/O. */
void sm_difference(const struct plan *old, const struct plan *next,
		   const struct sm_knowledge *k, struct difference *out);

/*
 * What clients registered is lost: all are asked to do it again, when we are master.  Standing by
 * it may come yet, if the master has it.
 */
void sm_registrations_lost(struct sm *sm);
/* … and will not come from this master: one that hands over need not wait for it. */
void sm_registrations_not_to_be_had(struct sm *sm);
/* The master that we follow since a moment ago has not said yet what it has. */
bool sm_registrations_unknown(const struct sm *sm);
/*
 * Standing by: what clients registered with the master, whose LID this is, is ours, too.
 * Ports that have that LID for their SM's are not asked to register again.
 */
void sm_registrations_held(struct sm *sm, uint16_t master_lid);
/* Standing by: the port GUID of the master; 0: none is known. */
uint64_t sm_master(const struct sm *sm);
/*
 * We are master: a subnet manager at the port of that GUID has shown our SM_Key when it was asked
 * there for its SMInfo, in the last election or within a minute.  One of which that is not known is
 * asked, so that a later call may know.
 */
bool sm_is_manager(struct sm *sm, uint64_t guid);
/* LIDs that the master gave out are new to us: the copy of the fabric is to be made anew. */
void sm_standby_copy_is_old(struct sm *sm);
/* A thread reads what the store has: it must not change. */
bool sm_is_planning(const struct sm *sm);
/* … is on its way to us: a master that hands over is to be patient. */
void sm_registrations_coming(struct sm *sm);

/* --- aliases of ports, which sa/ gives them, go to the devices --- */
struct alias_db;
/* Once, before sm_start(). */
void sm_set_aliases(struct sm *sm, const struct alias_db *db);
/* A place of a port's table, by its GUID, changed: it is written within a moment. */
void sm_alias_changed(struct sm *sm, uint64_t port, unsigned place);

/* --- multicast routes follow the groups of a database that sa/ writes --- */
struct mcast_db;
/* Once, before sm_start(): the groups of earlier runs are loaded into db. */
void sm_set_mcast(struct sm *sm, struct mcast_db *db);
/* Membership changed: trees and MFTs follow within a moment. */
void sm_mcast_changed(struct sm *sm);
/*
 * The multicast entries of a switch (index among the switches), in order of
 * MLID, as the device holds them.  *cursor is 0 at first.  False: no more.
 */
bool sm_mft_next(const struct sm *sm, const struct subnet_state *s, uint32_t sw,
		 uint32_t *cursor, uint16_t *mlid, uint64_t ports[4]);
/*
 * How many blocks of multicast forwarding tables are known, from the first on; and one of
 * a switch, as the device holds it or held it when it was asked last.  False: it never was.
 */
uint32_t sm_mft_blocks(const struct sm *sm);
bool sm_mft_block(const struct sm *sm, uint64_t guid, unsigned block, unsigned position,
		  uint8_t entries[64]);
/* One of them; false: it is empty. */
bool sm_mft_entry(const struct sm *sm, const struct subnet_state *s, uint32_t sw, uint16_t mlid,
		  uint64_t ports[4]);

#endif
