/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declares the subnet manager (election, sweeps, bring-up): the only interface that main and ctl/
 * use.
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
	/*
	 * A new published state (the receiver takes its own reference), or NULL: nothing is
	 * published any more.
	 */
	void (*published)(void *arg, struct subnet_state *s);
	/*
	 * The sweep that published `now` has ended: it has told the ports, and now->faults is
	 * complete.  before: the state published before, or NULL.  Both are valid during the call.
	 */
	void (*settled)(void *arg, const struct subnet_state *before,
			const struct subnet_state *now);
	/*
	 * Devices are about to be told of this plan, which is not published yet, so clients may
	 * send queries that only this plan can answer.  NULL: the plan was published or given up.
	 */
	void (*coming)(void *arg, const struct plan *p);
	/* The first bring-up, or any later sweep, has ended. */
	void (*sweep_done)(void *arg, bool complete);
	/* An event for operators; e is valid during the call. */
	void (*event)(void *arg, const struct event *e);
	/* Standing by: the master has reported that it is well, or nudged us.  May be NULL. */
	void (*master_alive)(void *arg);
	/*
	 * As master: the standby with that GUID had all that operators changed here when it was last
	 * heard.  May be NULL.
	 */
	bool (*has_ours)(void *arg, uint64_t guid);
	/* The subnet manager cannot go on (another SM runs on this port …): the process must end. */
	void (*fatal)(void *arg, const char *why);
	void *arg;
};

/* What the scrub has done between sweeps. */
struct sm_scrub {
	uint64_t passes;	/* complete passes over all devices */
	uint64_t reads;		/* attributes read */
	uint64_t repaired;	/* values that another manager had overwritten, written again */
};

/* Congestion control that another manager set up, as far as devices report it (congestion.c). */
struct sm_congestion {
	bool reading;			/* devices are being asked */
	uint64_t answers;		/* answers since the start */
	uint32_t switches, marking;	/* switches that report, and those of them that mark packets */
	/* adapter ports that report, and those of them that slow down on notification */
	uint32_t adapters, slowing;
	/* SLs on which some of those ports slow down, and on which all do that slow down at all */
	uint16_t sls, same_sls;
	uint32_t hidden;		/* of kinds that have it, without an answer: perhaps a CC_Key */
};
/* "congestion control of another manager is on: …"; false, and no text: it is off. */
bool sm_congestion_text(const struct sm_congestion *c, struct buf *out);
/* "SLs 0, 3" from a bit mask that is not 0. */
void sm_congestion_sls(unsigned sls, struct buf *out);

/* Everything that `status` shows, as plain values. */
struct sm_status {
	enum sm_state state;
	bool subnet_up;			/* every reachable port is Active and programmed */
	bool sweeping;
	const char *phase;		/* "idle", "discovery", "planning", "reading", "ports", "tables", … */
	uint64_t guid;			/* of our own port */
	uint16_t lid;
	uint64_t master_guid;		/* 0: unknown */
	uint8_t master_priority, priority;
	bool registrations_held;	/* standing by: we have the registrations of the master's clients */
	uint32_t other_managers;		/* SMs with another SM_Key, at the last election */
	/* devices whose M_Key we do not know; master: at the last sweep, else: as seen last */
	uint32_t key_mismatches;
	bool no_m_key;			/* the settings let any host set up any device, */
	bool m_key_readable;		/* or, with m-key-protect 0, any host read the M_Key */
	bool sm_key_known;		/* the SM_Key is 0 or a well-known one */
	uint64_t m_key_violations;	/* traps 256 received */
	uint32_t nodes, switches, ports_active, ports_linked;
	uint64_t sweeps;
	double last_sweep_seconds;
	/* of the last sweep */
	uint64_t last_smps, last_sets;
	uint32_t failed_devices;	/* did not answer or refused */
	uint32_t sets_failed;
	uint32_t unanswered;	/* links that are up but whose far end does not answer */
	uint64_t discovery_smps;	/* sent by the discovery process in all sweeps */
	uint64_t discovery_lost;	/* those of them that were lost */
	/*
	 * Multicast trees: whether changes must still be written to devices; the number of trees,
	 * of those remade and kept after the last sweep, and of all made since the start.
	 */
	bool trees_pending;
	uint32_t trees, trees_remade, trees_kept;
	uint64_t trees_made;
	size_t refused;			/* remembered values that devices keep instead of the planned ones */
	/*
	 * switches whose adaptive routing, set up by another manager, was ended or stays on; last
	 * full sweep
	 */
	uint32_t adaptive_ended, adaptive_stays;
	uint32_t private_ended, private_stays;	/* the same for private linear tables */
	/* devices whose inherited SL2VL or arbitration tables blocked SL 0 and were replaced */
	uint32_t tables_replaced;
	struct sm_congestion congestion;
	enum disco_filter discovery_filter;
	const char *discovery_call;	/* the system call that the filter refused */
	/*
	 * What is withdrawn; NULL: nothing yet.  Numbers of the last change of that list and of the one
	 * that the last sweep put in force.
	 */
	const struct withdrawals *withdrawals;
	const struct isolation_cuts *cuts;	/* links that are isolated (sm/devices/isolations.h) */
	uint64_t withdrawals_change, withdrawals_in_force;
	bool withdrawals_unverified;	/* no sweep has compared them with devices since a takeover */
	uint64_t traps_dropped;	/* traps from sources that send too many */
	struct sm_scrub scrub;
	const char *engine;
	const struct shared_policy *policy;	/* in force, or to be applied next */
	/* policy of the last sweep that completed, P_Keys included; NULL: none */
	const struct shared_policy *in_force;
	uint64_t change_in_force;	/* its change when that sweep completed; 0: none */
	const struct findings *findings;	/* of the file and of the fabric, for the policy in force */
	/* those of the last file that was refused; NULL: none since a file was accepted */
	const struct findings *rejected;
};

struct sm *sm_new(struct loop *l, struct mad_port *m, const struct settings *settings,
		  struct shared_policy *policy, struct store *store, const struct sm_hooks *hooks);
void sm_free(struct sm *sm);
void sm_start(struct sm *sm);
/* A device that is excluded from the subnet, or whose NodeInfo is corrected. */
struct sm_exclusion {
	uint32_t near;		/* port of the published fabric at the near end of its link, or FABRIC_NONE */
	uint64_t guid;		/* the device's GUID, whatever link it is at; 0: the culprit is not certain */
	bool is_switch;		/* a switch that claims to be an adapter; it takes part as a switch */
	/* the substitute GUID of a device that takes part though another has its GUID; else 0 */
	uint64_t known_as;
	struct buf text;	/* names the device and the reason; the caller frees it */
};
/* Entry i, in no particular order; false: i is beyond the end.  Appends to out->text. */
bool sm_excluded(const struct sm *sm, size_t i, struct sm_exclusion *out);
/* A step of a kind of sweep, as listed in steps.c. */
struct sm_sweep_step {
	const char *kind, *name, *phase, *what;	/* constant strings */
	bool current;		/* belongs to the running sweep, or to the last one if none runs */
	bool runs;		/* is running now */
	unsigned runs_so_far;	/* how often that sweep has begun it, at most 255 */
	int64_t took_us;	/* total time of those runs, including the running one so far */
};
/* Step i of the given kind, in order; false: i is beyond the end.  sm may be NULL: no sweep has run. */
bool sm_sweep_step(const struct sm *sm, unsigned kind, unsigned i, struct sm_sweep_step *out);
/* Requests a full sweep, to begin as soon as the running one ends. */
void sm_request_sweep(struct sm *sm, const char *reason);
/*
 * Applies a new policy without discovery: computes the plan anew, by the settings as they are now, and writes only
 * what differs.
 * Takes its own reference.
 */
void sm_set_policy(struct sm *sm, struct shared_policy *p);
/* Sets the priority of SMInfo, 0..15; holds a new election if that may change the master. */
void sm_set_priority(struct sm *sm, uint8_t priority);
/* Gives nodes the names of a map from the next sweep on; NULL: none.  Takes ownership of the reference. */
void sm_set_names(struct sm *sm, struct name_map *names);
/* These settings have changed: `sweep-interval`, `scrub-interval`, or one of `flap-*`. */
void sm_sweep_interval_changed(struct sm *sm);
void sm_scrub_interval_changed(struct sm *sm);
void sm_flap_settings_changed(struct sm *sm);
/*
 * As master: an operator has changed something that standbys copy.  Of two masters, the one at which
 * this happened after it took over from the other keeps what it has.
 */
void sm_operator_changed(struct sm *sm);
/* As master: has standbys poll at once, rather than at their next poll. */
void sm_nudge(struct sm *sm);
/*
 * We did not run for a while, and other SMs are being asked, or must be, whether one of them is
 * master now.
 */
bool sm_is_asking(const struct sm *sm);
/* As master: the last time when we are known to have been running. */
int64_t sm_ran_us(const struct sm *sm);
/* Remembers why a policy file was refused.  Takes over the findings. */
void sm_policy_rejected(struct sm *sm, struct findings *f);
/* The M_Key for an SMP to our own port. */
uint64_t sm_own_m_key(const struct sm *sm);
/*
 * Fills in the directed route and the M_Key of an SMP to port num of a node (0: to the node) of a published fabric.
 * False: there is no route.
 */
bool sm_route(const struct sm *sm, const struct fabric *f, uint32_t node, unsigned num, struct smp *s);
/*
 * Takes a MAD of the SMI classes that answers no request of ours.  False: a trap of a source that
 * sends too many; nobody else need see it.
 */
bool sm_receive(struct sm *sm, const struct mad_in *in);
void sm_get_status(const struct sm *sm, struct sm_status *out);
const char *sm_state_name(enum sm_state s);

/* An SM of the subnet, as its SMInfo describes it. */
struct sm_seen {
	uint64_t guid;
	uint32_t act_count;
	uint8_t priority;
	enum sm_state state;
};
/* SM 0 is this one; the others are as they were at the last election.  False: i is beyond the end. */
bool sm_seen_at(const struct sm *sm, uint32_t i, struct sm_seen *out);

/* The trap floods in progress, i from 0.  False: i is beyond the end. */
bool sm_flood_at(const struct sm *sm, uint32_t i, struct trap_flood *out);
/* "switch X port 3: 1200 traps in 10 s, …"; f: the published fabric, or NULL. */
void sm_flood_text(const struct fabric *f, const struct trap_flood *flood, struct buf *out);

/* An attribute whose Sets a device refuses for good; node: in the published fabric. */
struct sm_refused {
	uint32_t node;
	struct refused_kind kind;
};
/* *i starts at 0; f: the published fabric.  False: no more. */
bool sm_refused_at(const struct sm *sm, const struct fabric *f, size_t *i, struct sm_refused *out);
/* "switch X refuses Sets of P_KeyTable with status 0x001c (invalid value): …" */
void sm_refused_text(const struct fabric *f, const struct sm_refused *x, struct buf *out);

/* An end port of the published fabric to which SMPs were lost on its present route. */
struct sm_lossy {
	uint32_t port;
	uint32_t lost;		/* SMPs since this daemon started, without those of discovery */
	unsigned window;	/* SMPs that may be outstanding to it now */
};
/* The ports that lost most, in falling order, at most `max`; returns their number. */
unsigned sm_lossy(const struct sm *sm, struct sm_lossy *out, unsigned max);

/* A link that goes down and up again and again, and how routes treat it. */
struct sm_flap {
	struct flap flap;
	int64_t left_us;	/* until it stops flapping, if it stays quiet */
	/* down; held: no route uses it; used, as there is no other way */
	enum { FLAP_DOWN, FLAP_HELD, FLAP_USED } is;
};
/* i from 0.  False: no more. */
bool sm_flap_at(const struct sm *sm, uint32_t i, struct sm_flap *out);
/* "link A to B went down 6 times; …"; f: the published fabric, or NULL. */
void sm_flap_text(const struct fabric *f, const struct sm_flap *x, struct buf *out);
/*
 * Lets routes use links at once that have flapped: the link of a node's port, all of a node (port
 * 0) or all (guid 0).  Returns their number.
 */
unsigned sm_release_links(struct sm *sm, uint64_t guid, unsigned port);
/*
 * Makes routes follow the list of what is withdrawn (sm/devices/withdrawals.h), which must stay
 * unchanged until the next call.  Returns the number of this change.
 */
uint64_t sm_set_withdrawals(struct sm *sm, const struct withdrawals *w);
/*
 * Takes the link of a node's port down once, so that it trains with the widths and speeds that are
 * enabled now and is brought up anew.  Traffic on it is lost meanwhile.  False: there is no such
 * link; err says why.
 */
bool sm_retrain_link(struct sm *sm, uint64_t guid, unsigned port, struct buf *err);
/*
 * The registrations of the port with that GUID are lost: once no sweep runs, asks the port to have
 * its clients register again (14.4.11).  No effect on a port that is not Active or lacks that
 * capability.
 */
void sm_have_register(struct sm *sm, uint64_t guid);

/* --- what another policy would change --- */

/* Tables that differ between two plans, for the ports of one class. */
struct tables_changed {
	uint32_t sl2vl;		/* tables, one for each pair of ports */
	uint32_t vlarb, pkey;	/* ports whose table differs */
	uint32_t op_vls, high_limit;	/* ports; both are in PortInfo */
};

/*
 * The Sets that applying a plan would send, by attribute id.  `least` and `most` differ where
 * devices may hold anything and are read first: tables that the old plan did not manage, and
 * devices that refused something.
 */
struct difference {
	uint32_t least[0x40], most[0x40];
	struct tables_changed tables[PORT_CLASS_COUNT];
};

/* PortInfo that a port of the published fabric answered and that differs from the published one. */
struct port_answer {
	uint32_t port;
	uint8_t info[64];
};

/* What is known of devices at a moment, beyond the plan. */
struct sm_knowledge {
	struct port_answer *answers;	/* in order of ports */
	size_t n_answers;
	struct map64 doubtful;		/* node GUIDs of nodes whose tables may differ from the plan */
	struct refusals *refused;
	uint64_t m_key;			/* the key that devices should have */
	bool reregister;
	struct map64 asked;		/* port GUIDs that are exempt from `reregister` */
};
/* Copies the knowledge, in the loop's thread; sm_difference() may then run in any thread. */
void sm_knowledge_take(const struct sm *sm, struct sm_knowledge *out);
void sm_knowledge_free(struct sm_knowledge *k);
/* Both plans are for the same fabric, whose devices hold `old`.  No I/O. */
void sm_difference(const struct plan *old, const struct plan *next,
		   const struct sm_knowledge *k, struct difference *out);

/*
 * The registrations of clients are lost.  A master asks all clients to register again; a standby
 * may still get the registrations from the master.
 */
void sm_registrations_lost(struct sm *sm);
/* The master does not supply registrations; one that hands over need not wait for us to copy them. */
void sm_registrations_not_to_be_had(struct sm *sm);
/* We follow this master since a moment ago, and it has not said yet what registrations it has. */
bool sm_registrations_unknown(const struct sm *sm);
/*
 * Standing by: we have the registrations of the master's clients; master_lid is its LID.  Ports
 * that know that LID as their SM's are not asked to register again.
 */
void sm_registrations_held(struct sm *sm, uint16_t master_lid);
/* Standing by: the port GUID of the master; 0: unknown. */
uint64_t sm_master(const struct sm *sm);
/*
 * As master: the SM at the port with that GUID has shown our SM_Key in answer to a Get(SMInfo), in
 * the last election or within a minute.  If that is not known, the SM is asked, so that a later
 * call may return true.
 */
bool sm_is_manager(struct sm *sm, uint64_t guid);
/* The master has given out LIDs that we did not know: the copy of the fabric must be made anew. */
void sm_standby_copy_is_old(struct sm *sm);
/* A thread is reading the store's values, which must not change. */
bool sm_is_planning(const struct sm *sm);
/* Registrations are on their way to us: a master that hands over must wait. */
void sm_registrations_coming(struct sm *sm);

/* --- alias GUIDs of ports: sa/ assigns them, devices are told --- */
struct alias_db;
/* Once, before sm_start(). */
void sm_set_aliases(struct sm *sm, const struct alias_db *db);
/*
 * The entry `place` in the GUID table of the port with that GUID changed: it is written within a
 * moment.
 */
void sm_alias_changed(struct sm *sm, uint64_t port, unsigned place);

/* --- multicast routes follow the groups of a database that sa/ writes --- */
struct mcast_db;
/* Called once, before sm_start(): loads the groups of earlier runs into db. */
void sm_set_mcast(struct sm *sm, struct mcast_db *db);
/* Membership changed: trees and MFTs are updated within a moment. */
void sm_mcast_changed(struct sm *sm);
/*
 * The next multicast entry of a switch (sw: index among the switches), in order of MLID, as the
 * device holds it.  *cursor starts at 0.  False: no more.
 */
bool sm_mft_next(const struct sm *sm, const struct subnet_state *s, uint32_t sw,
		 uint32_t *cursor, uint16_t *mlid, uint64_t ports[4]);
/*
 * sm_mft_blocks(): the number of blocks of multicast forwarding tables that are known, counted from
 * the first.  sm_mft_block(): a block of a switch as the device holds it, or held it when it was
 * read last; false: it never was.
 */
uint32_t sm_mft_blocks(const struct sm *sm);
/* How many of the entries that sm_mft_next() returns have this port of the switch. */
uint32_t sm_mft_trees(const struct sm *sm, const struct subnet_state *s, uint32_t sw, unsigned port);
bool sm_mft_block(const struct sm *sm, uint64_t guid, unsigned block, unsigned position,
		  uint8_t entries[64]);
/* The entry of one MLID; false: it is empty. */
bool sm_mft_entry(const struct sm *sm, const struct subnet_state *s, uint32_t sw, uint16_t mlid,
		  uint64_t ports[4]);

#endif
