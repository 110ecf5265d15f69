/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to sm/: the state that its files share, and who calls whom.
 *
 * A sweep is a sequence of steps (sweep/steps.h), which sweep/steps.c has in a table.  One sweep runs at a time;
 * wishes that come meanwhile are remembered (sm->again_*) and served after it.
 */
#ifndef QOSD_SM_SM_INTERNAL_H
#define QOSD_SM_SM_INTERNAL_H

#include "discovery/discovery.h"
#include "sm/sm.h"
#include "sm/sweep/difference.h"
#include "sm/sweep/steps.h"
#include "sm/sweep/want.h"
#include "sm/write/remnants.h"
#include "store/store.h"

#define FRUITLESS_FIRST 4	/* local sweeps that may find nothing before all is discovered */

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
	bool lft_as_planned;	/* nothing of its forwarding table is written but in rounds (reroute.c) */
	bool lft_known;		/* its forwarding table was read before planning (kept_routes.c) */
	bool false_adapter;	/* its NodeType says adapter, but it answers SwitchInfo */
	uint8_t speed_samples, speed_same;	/* ports read by speeds.c first; … that showed no more */
	bool foreign;		/* … as it has another's M_Key */
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
	VEC(struct kept_map) kept;	/* SL2VL tables unlike the plan's, as seen (kept_table_log.c) */
	VEC(struct seen_arb) arbs;	/* blocks of arbitration tables, as seen (kept_table_log.c) */
	uint64_t probing[4];		/* bit n: a pair that leaves by port n is tried again */
	bool kept_doubt;		/* … and nobody knows whether that is for good */
	bool sampled, arb_sampled;	/* one table that the device confirmed is read back */
	bool untrue;			/* … and was not so */
};

/* Flags in the unused bits of an item: it must be read before it may be written (observe.c) … */
#define ITEM_READ	(1u << 27)
/* … and of one that is to be written. */
#define ITEM_LOOK	(1u << 24)	/* it is to be read, as nobody knows what became of it */
#define ITEM_PROBE	(1u << 23)	/* the device kept another value: try again (kept_table_log.c) */
#define ITEM_CONFIRMED	(1u << 22)	/* to be read, although the device said that it took it */
#define ITEM_PLAIN(i)	((i) & ~(ITEM_LOOK | ITEM_PROBE | ITEM_CONFIRMED))

/* What was seen of the SL2VL table of a pair of ports; map.node counts for nothing. */
struct kept_before {
	uint64_t guid;
	struct kept_map map;
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

struct announce;

struct mutes;
struct plan_task;
struct probe;
struct represses;
struct reroute;
struct vls_step;
struct watch;

/*
 * A node of which something may have changed; renamed: perhaps its description, too; changed: it
 * has, whatever its ports say; whole: all of its ports are read (of others probe_spare.c may leave
 * some out); unasked: nobody said so, and there need be nothing to find; ends: nothing of the node is
 * suspected (but perhaps its description) except that somebody answers behind its links that have no far
 * end; left: the sweep before did not wait for it.
 */
struct suspect {
	uint64_t guid;
	bool renamed, changed, whole, unasked, ends, left;
};

struct sm {
	struct loop *loop;
	struct mad_port *mad;
	const struct settings *settings;
	struct sm_hooks hooks;
	struct store *store;

	enum sm_state state;
	uint32_t act_count;	/* SMInfo.ActCount */
	uint8_t priority;	/* as set last */
	uint64_t master_guid;	/* the other SM that we stand by for */
	uint8_t master_priority;
	bool own_port_checked;	/* that no other SM runs on it */
	struct election *election;
	struct callers *callers;

	struct shared_policy *policy;	/* to be in force after the sweep that uses it */
	struct findings findings;	/* of the policy in force */
	struct findings rejected;
	bool has_rejected;

	/* the sweep */
	enum sweep_kind kind, again_kind;
	enum phase phase;
	struct sweep_progress progress;		/* of the sweep that runs, or the last one */
	char *failure;				/* see sweep_fails() */
	char *reason, *again_reason;
	bool again_replan;			/* one of the wishes is SWEEP_POLICY, and again_kind may be more */
	int64_t started_us;
	struct disco *disco;
	struct fabric *found;			/* by it; not taken yet */
	struct subnet_state *disco_known;	/* what it compares with, while it runs; NULL */
	unsigned discovery_tries;
	struct left_list *left_out;
	bool full_owed;			/* a sweep that was to read everything did not come to its end */
	bool was_owed;			/* … before this one: what devices hold is not as published */
	struct fabric *f;		/* being worked on; published->f once published */
	struct shared_policy *sweep_policy;
	struct plan *plan;
	struct reroute *reroute;	/* what of the forwarding tables is written last, or NULL */
	struct plan_task *planning;	/* while a part of it is computed */
	struct fabric *spare;		/* f as it was when planning ended (copy_fabric()), or NULL */
	bool told_coming;		/* hooks.coming() knows the plan */
	VEC(struct kept_map) kept;	/* tables that are known to be others than the plan's */
	VEC(struct kept_before) kept_before;	/* seen by earlier sweeps, node by node (kept_table_log.c) */
	struct map64 kept_by_guid;	/* node GUID: where those of a node begin */
	VEC(struct kept_arb) kept_arbs;	/* the same of arbitration tables … */
	VEC(struct arb_before) arbs_before;
	struct map64 arbs_by_guid;
	struct node_work *work;		/* per node of f */
	struct plan_pair pair;		/* of a sweep that compares: the plan in force, and its own */
	uint8_t *touched;		/* per node of f: a probe found it changed; NULL: nobody knows */
	struct probe *probe;
	VEC(uint64_t) to_register;	/* reregister.c */
	VEC(struct suspect) suspects;	/* of the next local sweep, or the one that begins */
	struct smp_job *job;
	uint64_t smps_before, sets_before;

	struct subnet_state *published;
	struct subnet_state *replaced;	/* what was published before, until the sweep ends; or NULL */
	struct announce *announce;	/* what ports are told when the plan is published, or NULL */
	VEC(struct port_answer) answers;	/* that differ from what is published (announce.c) */
	struct shared_policy *in_force;	/* of the last sweep that came to its end, or NULL */
	bool subnet_up;
	uint64_t generation;
	struct map64 known_guids;	/* of ports that had a LID of ours when this daemon started */
	struct map64 no_ext_port_info;	/* node GUIDs of devices without ExtendedPortInfo */
	struct map64 not_adaptive;	/* by node GUID of switches: bit n: they do not have override n */
	uint32_t overrides_ended[OVERRIDES], overrides_stay[OVERRIDES];	/* switches, at the last full sweep */
	uint32_t inherited_total;	/* … inherited_nodes */
	bool another_was;		/* another subnet manager was at work since our last sweep */
	uint32_t inherited_nodes;	/* whose tables of another manager were replaced in this sweep */
	struct map64 doubtful;		/* node GUIDs whose tables are not known for sure */
	/*
	 * Node GUIDs of switches whose PortStateChange was cleared while ports were Active that
	 * were not read since; or of all it may be so.
	 */
	struct map64 blind;
	bool blind_all;
	struct map64 spared;		/* … some of whose ports were not read: light sweeps make up for it */
	bool unasked;			/* of the probe: it looked for nothing that somebody told of */
	struct remnants *remnants;	/* what switches hold for ports without a link */

	uint64_t sweeps, discovery_smps, discovery_lost;
	double last_seconds;
	uint64_t last_smps, last_sets;
	uint32_t failed_devices, sets_failed, ports_active, ports_linked;

	struct timer *poll_timer, *light_timer, *soon_timer, *retry_timer;
	struct vls_step *vls;		/* of links at work, in the step that changes them */
	struct timer *vls_timer;	/* until packets on VLs that go are sent */
	struct timer *publish_timer;	/* STEP_TURN */
	struct smp_job *light_job;
	size_t light_left;			/* of left_out.c: which is asked next */
	struct subnet_state *light_state;	/* what the light sweep goes over */
	uint8_t *light_asked;			/* per switch: LIGHT_... of sm.c */
	bool light_told;		/* one of them has */
	bool light_master_asked;	/* a switch was asked whom it has for its master … */
	bool light_claimed;		/* … and that is not us any more */
	bool look_owed;			/* a light sweep, when what is under way has ended */
	int64_t claim_next_us, claim_wait_us;	/* when light sweeps heed the next claim; the wait for it */
	struct represses *represses;	/* which ports are answered by directed route (repress.c) */
	struct trap_gate *trap_gate;	/* how many traps of one source are heard */
	struct timer *trap_timer;	/* … it has something to do then */
	struct watch *watch;		/* what is asked because a trap may have been lost (flood_watch.c) */
	struct scrub *scrub, *own_scrub;
	struct liars *liars;		/* what cannot be, and is asked again (liars.c) */
	struct names *names;		/* NodeDescriptions that are asked again */
	struct flaps *flaps;		/* links that go down again and again (flapping.c) */
	struct timer *flap_timer;
	bool trap_from_stranger;
	bool soon_is_trap;		/* what soon_timer runs for */
	bool election_due;		/* another SM has something to say */
	bool psc_seen;			/* a light sweep met PortStateChange: there must be something */
	unsigned others_awaited;	/* how often one was asked again that is discovering */
	unsigned fruitless, fruitless_max;	/* local sweeps in a row that found nothing, and … */
	bool only_election;		/* of the sweep: nothing else has changed */
	unsigned retry_wait_s;
	bool only_silent;		/* … is far ends of links that do not answer */
	bool only_refused;		/* all that the last sweep lacks is what refused_sets.c tries again */

	struct picture *picture;	/* standing by (takeover.c); NULL: none */
	int64_t picture_due_us, picture_min_us;
	bool registrations_lost;	/* clients must be asked to register again */
	/*
	 * They were lost at some time: every port is asked that was not since (port GUIDs), also those
	 * that come later.
	 */
	bool reregister;
	struct map64 asked;
	bool registrations_coming;	/* … unless what is on its way comes */
	bool registrations_unknown;	/* the master has not said yet whether it has them */
	uint16_t heir_of;	/* LID of an SM whose clients need not be; 0: of none */
	uint64_t findings_seen;		/* digest of those that were logged last */
	uint64_t shape_seen;		/* … of what was said of the shape of the fabric; 0: nothing */
	uint64_t choice_seen;		/* … of why which engine was chosen; 0: nothing */
	uint64_t kept_seen;		/* … of devices that keep tables */
	struct mcast_db *mcast;
	struct mcast_work *mcast_work;
	const struct alias_db *aliases;
	struct guidinfo_work *guidinfo;
	struct mkeys *mkeys;
	struct refused *refused;
	struct congestion *congestion;
	struct kept_routes *kept_routes;
	struct mutes *mutes;		/* devices that do not answer (mute.h) */
	struct lft_reads lft_reads;	/* of the sweep */
	bool replan;			/* routes are to be made anew though the fabric is the same */
	bool only_mute;			/* all that the last sweep lacks is what such devices do not do */
};

/* left_out.c: devices that discovery goes round */
struct left_list;
struct left_list *left_out_new(void);
void left_out_free(struct left_list *l);
/* A sweep begins. */
void left_out_sweep(struct sm *sm);
/* What a scan has left out.  True: it is to be repeated, since more is to be left out. */
bool left_out_scanned(struct sm *sm, const struct disco_result *res);
/*
 * Adds a device next to a node of f that the scan itself had no reason to leave out or to correct.
 * False: it is on the list already.
 */
bool left_out_put(struct sm *sm, const struct fabric *f, const struct disco_left *x);
/*
 * Adds a device next to a node of f whose NodeInfo scans are to correct.  True: the scan is to be repeated
 * with that, which a sweep does once for each place: a device that says something else each time is taken
 * for what it says.
 */
bool left_out_correct(struct sm *sm, const struct fabric *f, const struct disco_left *x);
/* Counts a scan that is repeated for their sake; false: there were too many in this sweep. */
bool left_out_may_repeat(struct sm *sm);
/* What the next scan is to leave out, into an array of LEFT_MAX; how many. */
size_t left_out_list(const struct sm *sm, struct disco_left *out);
/* How many ports all nodes together can have; 0: nobody knows. */
unsigned left_out_ports_max(const struct sm *sm);
/* All are tried again. */
void left_out_forget(struct sm *sm);
/* The i-th, in no order; NULL: there are fewer. */
const struct disco_left *left_out_at(const struct sm *sm, size_t i);
/*
 * The device behind the port is left out, so that light sweeps take it back.  They do not find one again that
 * is corrected: it says then what it is known to say.
 */
bool left_out_is_behind(const struct sm *sm, uint64_t near_guid, unsigned near_port);
/* The device behind the port is left out, and stays so with this NodeInfo. */
bool left_out_holds(const struct sm *sm, uint64_t near_guid, unsigned near_port,
		    const uint8_t *node_info);
/*
 * Corrects the NodeInfo that the device behind a port of f answered with: a LEFT_TWIN gets the GUIDs that
 * it is known by, a LEFT_SWITCH the NodeType of a switch.
 */
void left_out_rename(const struct sm *sm, const struct fabric *f, uint32_t port, uint8_t *node_info);
/* "the device at leaf-1/P3 says ...".  f, which may be NULL, has its neighbour. */
void left_out_text(const struct sm *sm, const struct fabric *f, const struct disco_left *x,
		   struct buf *out);
/* The node GUID of the device that is to blame; 0: that cannot be told. */
uint64_t left_out_culprit(const struct sm *sm, const struct disco_left *x);
/*
 * A light sweep asks them: begin() is false if there are none; ask() fills an SMP for each of the
 * left_out_asked(), by routes of f, or is false; end() says what came of it: any is taken back, and
 * suspected; or one that is known by the GUID of another has it no more, and all is to be discovered.
 */
enum left_out_end { LEFT_OUT_SAME, LEFT_OUT_BACK, LEFT_OUT_RENAMED };
bool left_out_begin(struct sm *sm);
size_t left_out_asked(const struct sm *sm);
bool left_out_ask(struct sm *sm, const struct fabric *f, size_t i, struct smp *s);
void left_out_answered(struct sm *sm, size_t i, const struct smp *s, int status);
enum left_out_end left_out_end(struct sm *sm);

/* sm.c */
/* For operators: in the loop's thread. */
void sm_tell(struct sm *sm, const struct event *e);
void sm_set_state(struct sm *sm, enum sm_state s);
void sm_sweep_ended(struct sm *sm, bool complete);
/* Of the next local sweep, which somebody has to wish. */
void sm_suspect(struct sm *sm, const struct suspect *s);
/* Wishes a sweep; starts it at once if none runs. */
void sm_want_sweep(struct sm *sm, enum sweep_kind kind, const char *reason);
/*
 * By the MasterSMLID that an end port of the state had, and the one that it has now: was another
 * SM master without our knowledge?
 */
bool state_was_claimed(const struct subnet_state *s, uint16_t before, uint16_t now);
/* A light sweep, as soon as nothing else is under way. */
void sm_look(struct sm *sm);

/* mkey.c: the M_Keys that devices may have: 0 is ours, then those of before */
void mkey_new(struct sm *sm);
void mkey_stop(struct sm *sm);
void mkey_free(struct sm *sm);
/* Before a sweep: our key is that of the settings, if the one of before is on disk. */
void mkey_settle(struct sm *sm);
/* It is not: to be tried again. */
bool mkey_is_late(const struct sm *sm);
uint64_t mkey_ours(const struct sm *sm);
unsigned mkey_count(const struct sm *sm);
uint64_t mkey_nth(const struct sm *sm, unsigned i);
bool mkey_is_known(const struct sm *sm, uint64_t key);
/* The one that discovery asks with; when our own port did not answer it is the next. */
uint64_t mkey_of_discovery(const struct sm *sm);
void mkey_scan_failed(struct sm *sm);
void mkey_scan_given_up(struct sm *sm);		/* with any of them */
/* What an SMP carries whose way is want_route()'s; from any thread that may read f. */
uint64_t mkey_of(const struct sm *sm, const struct fabric *f, uint32_t node, unsigned num);
/* want_route() for who does not use sweep_fill_smp(). */
bool mkey_route(const struct sm *sm, const struct fabric *f, uint32_t node, unsigned num,
		struct smp *s);
/* … to a port of the published fabric. */
uint64_t mkey_of_port(const struct sm *sm, uint32_t port);
/* Two PortInfos have another key, protection or lease. */
bool mkey_differs(const uint8_t *a, const uint8_t *b);
/* Steps of a sweep: which keys ports have; ours for those that have another. */
enum step_result mkey_identify(struct sm *sm);
enum step_result mkey_change(struct sm *sm);
/* All is written. */
void mkey_swept(struct sm *sm);
/* Devices with another's key, and whether a node is one, by the last sweep. */
uint32_t mkey_foreign(const struct sm *sm);
bool mkey_is_foreign(const struct sm *sm, const struct fabric *f, uint32_t node);
/*
 * Whether the key that a port of the published fabric (or FABRIC_NONE) has right now is known.  It
 * is not if earlier keys are in use and the port is unknown, or a sweep is changing keys.
 */
bool mkey_is_certain(const struct sm *sm, uint32_t port);
/* Trap 256 came from a port of the published fabric, or FABRIC_NONE. */
void mkey_violated(struct sm *sm, uint32_t port, uint16_t lid, const uint8_t *notice);
uint64_t mkey_violations(const struct sm *sm);

/* sweep.c */
static inline const struct sweep_traits *sweep_is(const struct sm *sm)
{
	return &sweep_kinds[sm->kind];
}
static inline bool sweep_runs(const struct sm *sm)
{
	return sm->kind != SWEEP_NONE;
}
void sweep_start(struct sm *sm, enum sweep_kind kind, const char *reason);
/* The part of it before anything is looked at; sweep_run() follows. */
void sweep_begin(struct sm *sm, enum sweep_kind kind, const char *reason);
/* Drops whatever a sweep holds; for its end and for shutting down. */
void sweep_cleanup(struct sm *sm, bool keep_fabric);
void sweep_free_work(struct sm *sm);
/* By publish_timer, at the end of STEP_TURN; arg: the struct sm. */
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
static inline void sweep_heard(struct sm *sm, uint32_t node)
{
	sm->work[node].silent = 0;
	sm->work[node].heard = true;
}
/* What a device answered to a PortInfo; that a Set of one had no answer. */
void sweep_store_port(struct sm *sm, uint32_t port, const uint8_t info[64]);
void sweep_port_unsure(struct sm *sm, uint32_t port);

/* Whether the sweep has found something of the node itself to be other than before. */
static inline bool sweep_touches(const struct sm *sm, uint32_t node)
{
	return !sm->touched || sm->touched[node];
}

/* probe.c: steps of a sweep: from sm->suspects; what did not answer a discovery, with the other M_Keys, into sm->found */
enum step_result probe_start(struct sm *sm);
enum step_result probe_hidden(struct sm *sm);
/* Something new is suspected: if it is a switch, others are not waited for (probe_wait.c). */
void probe_hurry(struct sm *sm);
void probe_free(struct sm *sm);

/* flood_watch.c */
void watch_new(struct sm *sm);
void watch_free(struct sm *sm);
/* An SMP of others has come: switches are asked for their changes if there are very many. */
void watch_smp(struct sm *sm);
/* The published fabric goes. */
void watch_stop(struct sm *sm);

/* election.c */
void election_new(struct sm *sm);
void election_free(struct sm *sm);
enum step_result election_start(struct sm *sm);
/* Master, published: those that say IsSM and did not answer the last election are asked again. */
void election_ask_mute(struct sm *sm);
void election_on_poll(void *arg);
/* How many SMs of another SM_Key there are. */
uint32_t election_foreign(const struct sm *sm);
/* Not active: take part again, from the beginning.  For who operates this host. */
void election_rejoin(struct sm *sm);
struct sm_info;
void sm_info_get(const uint8_t data[64], struct sm_info *i);
/* Who we are, into the data of an SMInfo, but for the SM_Key. */
void sm_info_say(struct sm *sm, uint8_t data[64]);
void election_receive(struct sm *sm, const struct mad_in *in);

/* takeover.c */
/* Standing by: makes the picture, if it is time. */
void takeover_look(struct sm *sm);
/* The sweep for it is over. */
enum step_result takeover_keep_picture(struct sm *sm);
void takeover_forget(struct sm *sm);
/* A sweep by the picture, from its election on.  False: there is none that is good enough. */
bool takeover_start(struct sm *sm, const char *why);
/* A step of it: the picture becomes what the sweep works on. */
enum step_result takeover_take_picture(struct sm *sm);
/* It is one, and too many do not answer for the rest to be told by it. */
bool takeover_is_hopeless(const struct sm *sm);

/* live_vls.c: steps of a sweep */
void vls_new(struct sm *sm);
void vls_free(struct sm *sm);
/* What refused_set.got is for a PortInfo, if mod is one of those that live_vls.c remembers; false: it is not. */
bool vls_kept_digest(uint32_t mod, const uint8_t info[64], uint64_t *out);
enum step_result vls_add(struct sm *sm);
enum step_result vls_take_away(struct sm *sm);
/* speeds.c: a step of a sweep */
enum step_result speeds_start(struct sm *sm);

/* false_adapters.c: a step of a sweep */
enum step_result false_adapters_start(struct sm *sm);

/* pkey_places.c: a step of a sweep */
enum step_result places_start(struct sm *sm);
/* The block that an item stands for, if that step read it, or NULL. */
const uint8_t *places_read(const struct sm *sm, uint32_t node, item_t item);
void places_free(struct node_work *w);

/* observe.c: a step of a sweep */
enum step_result observe_start(struct sm *sm);
/* The plan that is surely on the node, and the node's index there, or NULL. */
const struct plan *sweep_known_plan(const struct sm *sm, uint32_t node, uint32_t *old_node);
/* Leaves in items what is to be written. */
void observe_settle(struct node_work *w);
/* Adds an item behind the others. */
void observe_add(struct node_work *w, item_t item);
/* inherited.c: asks for tables of a node that the policy does not manage, as far as is needed. */
void inherited_collect(struct sm *sm, uint32_t node);
/* What came of it; the item that is to be written, or 0. */
item_t inherited_take(struct sm *sm, uint32_t node, item_t item, const uint8_t *data, int status);
/* Another manager may have been at work on the device since it was ours, by what discovery saw. */
bool inherited_is_possible(const struct sm *sm, uint32_t node);
/* The VLs that SL 0 is on when it leaves by a port, as far as that was read in this sweep. */
uint16_t inherited_uses(const struct sm *sm, uint32_t node, unsigned num);
/*
 * adaptive.c: a step of a sweep, which asks switches for it.  Then, where it is on, an SMP that
 * is to be answered before any table is written: adaptive_next() fills it, or returns false.
 */
enum step_result adaptive_start(struct sm *sm);
bool adaptive_next(struct sm *sm, uint32_t node, struct smp *s);
/* Behind the linear table, the same for a switch that refused it: was it ended by the table? */
bool adaptive_again(struct sm *sm, uint32_t node, struct smp *s);
/* Any of the two is in that state. */
bool adaptive_is(const struct node_work *w, enum override_state state);
void adaptive_done(struct sm *sm, uint32_t node, const struct smp *s, int status);
/* DeviceIDs of Mellanox. */
struct device_range {
	uint16_t first, last;
};
bool node_is_one_of(const struct fabric_node *n, const struct device_range *ranges, size_t count);
/* A switch of a kind that is known to have it. */
bool adaptive_is_known(const struct fabric_node *n);
/* Says in the log what was replaced. */
void inherited_tell(struct sm *sm);

/* slmap.c */
/*
 * The switch did not take such an item, or not as it is: adds its pairs one by
 * one.  False if the item is no such.
 */
bool slmap_split(const struct plan *p, uint32_t node, struct node_work *w, item_t item);

/* kept_table_log.c */
/* What an answer says of the table of a pair, or of arbitration (others are no matter here). */
void kept_see(struct sm *sm, uint32_t node, item_t item, const struct item_want *want,
	      const uint8_t *got);
/* A block of arbitration that the policy does not manage was read. */
void kept_see_arb(struct sm *sm, uint32_t node, item_t item, const uint8_t *data, unsigned len);
/*
 * A pair was read and differs.  True if the device is known to keep it so; then
 * item is the pair if it is to be tried again nonetheless, or 0.
 */
bool kept_known(struct sm *sm, uint32_t node, item_t *item, const struct item_want *want,
		const uint8_t *got);
/* The device confirmed a Set: it may have to be read back. */
void kept_confirmed(struct sm *sm, uint32_t node, item_t item);
/* … and an item with ITEM_LOOK was. */
void kept_looked(struct sm *sm, uint32_t node, item_t item, const struct item_want *want,
		 const uint8_t *got);
/* All tables are written: what was seen, of all nodes, into sm->kept. */
void kept_gather(struct sm *sm);

/*
 * announce.c: after the last pass of writing.  announce_prepare() finds the ports that are to be
 * told, and makes the fabric, which is not published yet, say what they will hold; announce_start(),
 * after publishing, is a step.  announce_free() drops all of it; a job of
 * the step has ended before.
 */
void announce_prepare(struct sm *sm);
enum step_result announce_start(struct sm *sm);
void announce_free(struct sm *sm);
/* f is a copy of the published fabric: makes it say what ports answered after publishing. */
void announce_correct(const struct sm *sm, struct fabric *f);
/* The sweep's fabric and plan belong to a published state. */
bool announce_has_begun(const struct sm *sm);
/* From a job that writes tables: whether the item is to be written after publishing; then it is kept. */
bool announce_takes(struct sm *sm, uint32_t node, item_t item);

/* write.c: three passes, each of which is a step */
enum step_result write_ports(struct sm *sm);
enum step_result write_tables(struct sm *sm);
enum step_result write_active(struct sm *sm);
/* Fills the SMP that writes or reads the item; false: there is nothing to send. */
bool write_item(struct sm *sm, uint32_t node, item_t item, struct smp *s);
/* The SMP was answered. */
void write_item_done(struct sm *sm, uint32_t node, item_t item, const struct smp *s, int status);
/* reroute.c: NULL if p's routes do not follow from those before; may run in a worker. */
struct reroute *reroute_new(const struct plan *p, const struct plan *before,
			    const struct lft_reads *reads);
void reroute_free(struct reroute *r);
enum step_result reroute_start(struct sm *sm);
/*
 * The device does not take the item.  If that is the P_Key table of a switch's
 * external port, it is nothing to enforce partitions by: that does not begin on
 * this node, and the next sweep looks again.
 */
void write_pkeys_differ(struct sm *sm, uint32_t node, item_t item);

/* repress.c: the answer to a trap; port: where it came from, of the published fabric, or FABRIC_NONE */
void repress_new(struct sm *sm);
void repress_free(struct sm *sm);
void repress(struct sm *sm, const struct mad_in *in, uint32_t port);

/* multicast.c */
void multicast_after_sweep(struct sm *sm);
/* Before it publishes: what MFTs it leaves in doubt. */
void multicast_observed(struct sm *sm);
void multicast_stop(struct sm *sm);
/* Of out, the members that tell of trees. */
void multicast_status(const struct sm *sm, struct sm_status *out);
/* Blocks are being written, or will be in a moment. */
bool multicast_is_busy(const struct sm *sm);
/* What a block holds, if nothing is to be written to it; false: nobody knows. */
bool multicast_block_is(const struct sm *sm, uint64_t guid, unsigned block, unsigned position,
			uint8_t entries[64]);

/* congestion.c: what another manager set up of congestion control */
void congestion_new(struct sm *sm);
void congestion_free(struct sm *sm);
/* A state is published, whose devices are asked in the background. */
void congestion_after_sweep(struct sm *sm);
struct sm_congestion congestion_sum(const struct sm *sm);

/* flapping.c */
void flapping_new(struct sm *sm);
void flapping_free(struct sm *sm);
/* A sweep knows the fabric, and makes its routes next: what went down since the last one. */
void flapping_look(struct sm *sm);
/* A sweep has ended, and knows which links it has left short of Active. */
void flapping_swept(struct sm *sm);

/* refused_sets.c: Sets that are answered with an error */
void refused_new(struct sm *sm);
void refused_free(struct sm *sm);
/*
 * A Set was answered with an error: is that for good?  want: a digest of what was to be set.  From a
 * job of a sweep, or between mad_hold() and mad_release().
 */
bool refused_for_good(struct sm *sm, uint64_t guid, uint16_t attr, uint32_t mod, uint64_t want,
		      unsigned status);
/* The same in a sweep: if it is not, the sweep is incomplete, and the node is tried again soon. */
void refused_note(struct sm *sm, uint32_t node, uint16_t attr, uint32_t mod, uint64_t want,
		  unsigned status);
/*
 * The same for one field of an attribute, which the caller leaves out then; mod: bits that IBA leaves
 * free tell it from others.  True: that is for good, and the caller remembers it.
 */
bool refused_field(struct sm *sm, uint32_t node, uint16_t attr, uint32_t mod);
/* The device took a Set, or has what it was to have. */
void refused_taken(struct sm *sm, uint64_t guid, uint16_t attr, uint32_t mod);
/* A sweep knows the fabric, and writes next; it is over, or given up; it has published. */
void refused_begin(struct sm *sm);
/*
 * Whether a node of f, which has just been discovered, is to be tried again: it has started anew since
 * old was published, or another device may have answered in its name.
 */
bool refused_starts_anew(const struct fabric *old, const struct fabric *f, uint32_t node);
void refused_end(struct sm *sm);
/* The switch refuses SwitchInfo for good: its PortStateChange can't be cleared. */
bool refused_clearing(const struct sm *sm, uint64_t guid);
void refused_swept(struct sm *sm);

/* kept_routes.c: forwarding tables that switches do not let the subnet manager change */
void kept_routes_new(struct sm *sm);
void kept_routes_free(struct sm *sm);
/* The step before planning: what such switches hold, into sm->f. */
enum step_result kept_routes_start(struct sm *sm);
/* What a switch of the plan holds, by all that is known; row: as many entries as a row of its tables. */
void kept_routes_in_force(const struct plan *p, uint32_t sw, uint8_t *row);
/* A node of the sweep's fabric holds what the old plan gave it: it has not started anew, nor is it another. */
bool kept_routes_survived(const struct sm *sm, const struct plan *old, uint32_t node);
/* The item is such a block, of which the plan wants what it holds. */
bool kept_routes_holds(const struct sm *sm, uint32_t node, item_t item);
/* In a full sweep: adds the Sets, with ITEM_PROBE, that show whether the node takes blocks again. */
void kept_routes_try(struct sm *sm, uint32_t node);
/*
 * A Set of a node was refused for good, or ignored; or, if not `refused`, taken against what was
 * remembered.  From a job of a sweep.
 */
void kept_routes_changed(struct sm *sm, uint64_t guid, uint16_t attr, uint32_t mod, bool refused);
/* The sweep publishes: another follows if its plan does not know what switches keep. */
void kept_routes_swept(struct sm *sm);

/* scrub.c: reads devices again, slowly; NULL if that is not wished */
struct scrub *scrub_new(struct sm *sm);
/* Of our own port alone, each time that scrub_look() says so. */
struct scrub *scrub_new_own(struct sm *sm);
void scrub_look(struct scrub *s);
void scrub_free(struct scrub *s);	/* NULL is fine */
/* A sweep begins. */
void scrub_give_way(struct scrub *s);
struct sm_scrub scrub_counts(const struct scrub *s);

/* reregister.c: asks the ports that wait for the end of a sweep */
void reregister_after_sweep(struct sm *sm);

/* alias_guids.c: the same for the aliases of ports; the work is kept from one stop to the next */
void guidinfo_after_sweep(struct sm *sm);
void guidinfo_observed(struct sm *sm);
void guidinfo_stop(struct sm *sm);
void guidinfo_free(struct sm *sm);

#endif
