/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to the probe: what is asked, what is known so far, and who does which part.
 *
 *   probe.c            what is asked of whom in which round; the beginning and the end
 *   probe_answer.c     what answers say
 *   probe_spare.c      which ports of a switch need not be read
 *   probe_wait.c       for how long a round waits, and who is asked last
 */
#ifndef QOSD_SM_PROBE_PROBE_H
#define QOSD_SM_PROBE_PROBE_H

#include "sm/sm_internal.h"

/* In the order in which they are asked of one node. */
enum ask_kind { ASK_SWITCH, ASK_OTHER_END, ASK_CLEAR, ASK_DESC, ASK_PORT, ASK_BEHIND };

/* Of a switch some of whose ports may be spared. */
enum {
	SPARE_NOT = 1 << 0,		/* all that is known of it may be wrong */
	SPARE_EXPLAINED = 1 << 1,	/* what it complains of was found */
	SPARE_WAITING = 1 << 2,		/* ports are spared for now, */
	SPARE_ASKED = 1 << 3,		/* … and the switches that they lead to were asked */
	SPARE_QUIET = 1 << 4,		/* it did not complain, and knows of no change */
};

enum hearsay { HEARSAY_NOT, HEARSAY, HEARSAY_ASKED };

struct ask {
	uint32_t node;
	uint8_t num, kind, tries;
	uint8_t key;		/* ASK_BEHIND: how many M_Keys were tried (probe_key_behind()) */
	uint8_t looks;		/* ASK_BEHIND: how often the place was checked where the device was before */
	bool sent, lost;
	bool done;		/* answered, or lost after all tries */
	uint8_t cuts;		/* rounds that did not wait for it */
	bool plain;		/* ASK_PORT: without SMSupportExtendedSpeeds */
	uint16_t status;
	uint8_t data[64];	/* the answer */
};

/* The questions to one node, of a round. */
struct batch {
	uint32_t first, n, cursor;
	bool silent;		/* one had no answer: the way may be no more */
};

struct probe {
	struct sm *sm;
	struct fabric *f;		/* a copy, which is changed */
	VEC(struct ask) asks, later;	/* of this round, and to come */
	VEC(struct ask) moved;		/* see probe_ask_last() */
	VEC(struct batch) batches;
	struct map64 asked;		/* each question, by a key of its own */
	/* per node: see probe_mark(); it answered; it may be gone; it is there and says nothing */
	VEC(uint8_t) touched, heard, shady, silent;
	VEC(uint8_t) complained;	/* per node: it is a reason for the probe */
	VEC(uint8_t) spare;		/* per node: the bits above */
	/*
	 * Links between switches that are known, by port: what an answer says is at its other end.
	 * There is a link when both ends say so, or the other one says nothing.
	 */
	struct map64 claims;
	struct map64 said;		/* likewise: the digest of that answer (implausible_digest()) */
	/* Ports of switches that were said to be down by the other end only, and have not said so: enum hearsay. */
	struct map64 hearsay;
	struct map64 key_of_port;	/* by index: place of the M_Key that its agent answered to */
	struct fabric *found;		/* by a discovery, of which this is the end; else NULL */
	uint32_t n_before;		/* nodes */
	unsigned rounds;
	/* the current round: is it of end nodes, was it cut short, when did it begin? */
	bool of_ends, cut_short;
	int64_t begun_us;
	struct timer *wait_timer;	/* when it is to end */
	VEC(struct suspect) left_over;	/* end nodes, to the next sweep */
	bool told;			/* somebody complained */
	struct work *work;		/* in a worker: f is made, or what comes of it */
	struct subnet_state *of;	/* whose fabric is copied meanwhile; else NULL */
	/* at the end: what came of f, and what is wrong with it */
	struct fabric *settled;
	uint8_t *settled_touched;
	bool misfit;
	bool changed, doubt, cut;
	const char *why;		/* of the doubt */
};

/* probe.c */
/* A question, unless it was asked already. */
void probe_ask(struct probe *p, uint32_t node, unsigned num, enum ask_kind kind);
/* It was not answered, and may be asked once more. */
void probe_unask(struct probe *p, const struct ask *a);
bool probe_was_asked(const struct probe *p, uint32_t node, unsigned num, enum ask_kind kind);
/* A question that was answered before: once more, when nothing else is left to be asked. */
void probe_ask_last(struct probe *p, const struct ask *a);
/* All ports that there are. */
void probe_ask_ports(struct probe *p, uint32_t node);
/* All of the node; of a switch its ports when it has answered. */
void probe_ask_node(struct probe *p, uint32_t node, bool renamed);
/*
 * The place of the key to ask with who is behind a port: that of the near end first, as
 * most have the same.
 */
unsigned probe_key_behind(const struct probe *p, const struct ask *a);
/* Something of the node is not as the last sweep left it. */
void probe_mark(struct probe *p, uint32_t node);
/* All is to be discovered instead; why: a string that stays. */
void probe_doubt(struct probe *p, const char *why);
/* Of one more node. */
void probe_add_flags(struct probe *p);

/* The round is over: its answers are evaluated, and the next one begins. */
void probe_round_over(struct probe *p);

/* probe_answer.c */
void probe_evaluate(struct probe *p, const struct ask *a);
/* The switch may be gone: routes go round it, and all who have a link to it are asked for that port. */
void probe_suspect_gone(struct probe *p, uint32_t node);
/* All was asked: claims that the other end does not confirm are noted. */
void probe_judge_claims(struct probe *p);
/* At the end, of a switch that does not answer: links of it may have trained anew. */
void probe_forget_states(struct probe *p, uint32_t node);

/* probe_spare.c */
bool probe_may_spare(const struct probe *p, uint32_t node);
/* The ports of a switch, but for those that may be spared. */
void probe_ask_some_ports(struct probe *p, uint32_t node);
/* False: no ports are spared that may still have to be read. */
bool probe_ask_spared(struct probe *p);

/* probe_wait.c */
/* The questions of the least turn go into one round. */
unsigned probe_turn(const struct probe *p, const struct ask *a);
/* All that is left to be asked, if anything is, is for end nodes or was asked in vain before. */
bool probe_has_slow_only(const struct probe *p);
/* A round begins, or is over. */
void probe_wait_begin(struct probe *p);
void probe_wait_over(struct probe *p);
/* The probe is over: what was left to the next sweep is suspected. */
void probe_wait_free(struct probe *p);

#endif
