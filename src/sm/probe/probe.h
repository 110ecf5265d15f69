/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds out what changed around suspects, as the first step of a local sweep (private to the
 * probe).
 *
 *   probe.c            rounds: which questions go to which node; begin and end
 *   probe_answer.c     evaluates answers
 *   probe_spare.c      decides which ports of a switch need not be read
 *   probe_wait.c       decides how long a round waits, and whom to ask last
 */
#ifndef QOSD_SM_PROBE_PROBE_H
#define QOSD_SM_PROBE_PROBE_H

#include "sm/sm_internal.h"

/* In the order in which one node is asked. */
enum ask_kind { ASK_SWITCH, ASK_OTHER_END, ASK_CLEAR, ASK_DESC, ASK_PORT, ASK_BEHIND };

/* Flags of a switch that may let the probe skip some of its ports. */
enum {
	SPARE_NOT = 1 << 0,		/* everything known of the switch may be wrong */
	SPARE_EXPLAINED = 1 << 1,	/* the change that it reports was found */
	SPARE_WAITING = 1 << 2,		/* ports are skipped for now, */
	SPARE_ASKED = 1 << 3,		/* and the switches that they lead to were asked */
	SPARE_QUIET = 1 << 4,		/* it reported nothing, and has no PortStateChange */
	SPARE_CUT = 1 << 5,		/* of any node: nothing of it has changed but that links were isolated */
};

enum hearsay { HEARSAY_NOT, HEARSAY, HEARSAY_ASKED };

struct ask {
	uint32_t node;
	uint8_t num, kind, tries;
	uint8_t key;		/* ASK_BEHIND: M_Keys tried so far (probe_key_behind()) */
	uint8_t looks;		/* ASK_BEHIND: how often the device's previous place was checked */
	bool sent, lost;
	bool done;		/* answered, or lost after all tries */
	uint8_t cuts;		/* rounds that did not wait for its answer */
	bool plain;		/* ASK_PORT: without SMSupportExtendedSpeeds */
	uint16_t status;
	uint8_t data[64];	/* the answer */
};

/* The questions of a round to one node. */
struct batch {
	uint32_t first, n, cursor;
	bool silent;		/* a question had no answer: the route may be broken */
};

struct probe {
	struct sm *sm;
	struct fabric *f;		/* a copy of the published fabric, updated by answers */
	VEC(struct ask) asks, later;	/* of this round, and of later ones */
	VEC(struct ask) moved;		/* questions that were moved to the end: see probe_ask_last() */
	VEC(struct batch) batches;
	struct map64 asked;		/* questions asked so far, each by a key of its own */
	/*
	 * per node: see probe_mark(); it answered; routes avoid it, as it may be gone; it is there but
	 * does not answer
	 */
	VEC(uint8_t) touched, heard, avoided, silent;
	VEC(uint8_t) complained;	/* per node: its trap or PortStateChange caused the probe */
	VEC(uint8_t) spare;		/* per node: the SPARE_… flags */
	/*
	 * Links between switches, by port: the far end that an answer named.  A link exists when
	 * both ends name each other, or one end does and the other does not answer.
	 */
	struct map64 claims;
	struct map64 said;		/* by port: the digest of that answer (implausible_digest()) */
	/* Ports of switches that only the far end reported down, not the port itself: enum hearsay. */
	struct map64 hearsay;
	struct map64 key_of_port;	/* by port index: number of the M_Key that its agent answered to */
	struct fabric *found;		/* the fabric of the discovery that this probe completes; else NULL */
	uint32_t n_before;		/* number of nodes at the start */
	unsigned rounds;
	/* The current round: whether it asks end nodes, whether it was cut short, when it began. */
	bool of_ends, cut_short;
	int64_t begun_us;
	struct timer *wait_timer;	/* ends the wait of the round */
	VEC(struct suspect) left_over;	/* end nodes left to the next sweep */
	bool told;			/* some device reported a change */
	bool settles;			/* a change that is no news explains a report: isolated_settles() */
	struct work *work;		/* in a worker: makes f, or the result from it */
	struct subnet_state *of;	/* the state whose fabric is copied meanwhile; else NULL */
	/* at the end: the result of f, and what is wrong with it */
	struct fabric *settled;
	uint8_t *settled_touched;
	struct node_work *settled_work;
	bool misfit;
	bool changed, doubt, cut;
	const char *why;		/* reason for doubt */
};

/* probe.c */
/* Adds a question, unless it was asked before. */
void probe_ask(struct probe *p, uint32_t node, unsigned num, enum ask_kind kind);
/* Allows a question that had no answer to be asked once more. */
void probe_unask(struct probe *p, const struct ask *a);
bool probe_was_asked(const struct probe *p, uint32_t node, unsigned num, enum ask_kind kind);
/* Asks a question that was answered before once more, when no other questions are left. */
void probe_ask_last(struct probe *p, const struct ask *a);
/* Asks for all ports of the node. */
void probe_ask_ports(struct probe *p, uint32_t node);
/* Asks for everything of the node; of a switch, its ports once the switch has answered. */
void probe_ask_node(struct probe *p, uint32_t node, bool renamed);
/*
 * The number of the M_Key to try on the device behind a port: the near end's first, as most devices
 * have the same.
 */
unsigned probe_key_behind(const struct probe *p, const struct ask *a);
/* Marks the node as changed since the last sweep. */
void probe_mark(struct probe *p, uint32_t node);
/* Demands a full discovery instead.  why: a string that outlives the probe. */
void probe_doubt(struct probe *p, const char *why);
/* Extends the per-node flags by one node. */
void probe_add_flags(struct probe *p);

/* Ends the round: evaluates its answers and begins the next round. */
void probe_round_over(struct probe *p);

/* probe_answer.c */
void probe_evaluate(struct probe *p, const struct ask *a);
/*
 * Assumes that the switch may be gone: routes avoid it, and all nodes linked to it are asked for
 * the port of that link.
 */
void probe_suspect_gone(struct probe *p, uint32_t node);
/* After the last question: notes claims that the far end does not confirm. */
void probe_judge_claims(struct probe *p);
/* At the end, for a switch that does not answer: its links may have trained anew. */
void probe_forget_states(struct probe *p, uint32_t node);

/* probe_spare.c */
bool probe_may_spare(const struct probe *p, uint32_t node);
/* Asks for the ports of a switch, except for those that may be skipped. */
void probe_ask_some_ports(struct probe *p, uint32_t node);
/* A report of the switch is explained by a port that isolated_settles(). */
void probe_settles(struct probe *p, uint32_t node);
/* Asks for skipped ports that must be read after all.  False: there are none. */
bool probe_ask_spared(struct probe *p);

/* probe_wait.c */
/* The turn of a question; the questions with the lowest turn make up a round. */
unsigned probe_turn(const struct probe *p, const struct ask *a);
/* Any questions left are for end nodes, or were asked in vain before. */
bool probe_has_slow_only(const struct probe *p);
/* The waiting of a round begins, or is over. */
void probe_wait_begin(struct probe *p);
void probe_wait_over(struct probe *p);
/* At the end of the probe: suspects the nodes that were left to the next sweep. */
void probe_wait_free(struct probe *p);

#endif
