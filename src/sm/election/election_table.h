/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides who should be master: the SM state machine (14.4.1) as a table, and how to judge another
 * SM's SMInfo.
 *
 * Pure; election.c and its neighbours act on the results.
 */
#ifndef QOSD_SM_ELECTION_ELECTION_TABLE_H
#define QOSD_SM_ELECTION_ELECTION_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "sm/sm.h"

/* AttributeModifiers of a SubnSet(SMInfo) (14.4.1.2) */
enum sm_control {
	CTRL_HANDOVER = 1, CTRL_ACKNOWLEDGE, CTRL_DISABLE, CTRL_STANDBY, CTRL_DISCOVER,
};
/* "HANDOVER", …; NULL: no such control. */
const char *sm_control_name(uint32_t control);

/* The inputs of the state machine. */
enum sm_input {
	IN_WON,			/* discovery is over, and no other SM outranks us */
	IN_LOST,		/* discovery is over, and another SM is master or should be */
	IN_MASTER_GONE,		/* the master does not answer the standby's polls */
	IN_HANDOVER,		/* a control that another SM sent, as are the next four */
	IN_ACKNOWLEDGE,
	IN_DISABLE,
	IN_STANDBY,
	IN_DISCOVER,
	IN_HANDED_OVER,		/* the other SM took our HANDOVER */
	IN_DEPOSED,		/* another became master while we did not run */
	IN_REJOIN,		/* an operator ended our NOT-ACTIVE state */
	IN_COUNT,
};

/* What the caller must do; the new state holds when all of it is done. */
enum {
	DO_CONFIGURE = 1 << 0,		/* let the sweep go on, as master */
	DO_POLL = 1 << 1,		/* ask the master again and again */
	DO_STOP_POLLING = 1 << 2,
	DO_SWEEP = 1 << 3,		/* discover the fabric from the beginning */
	DO_ACKNOWLEDGE = 1 << 4,	/* send ACKNOWLEDGE to the SM that handed over, still as standby */
	DO_ABANDON = 1 << 5,		/* give up the running sweep before it writes */
};

struct sm_transition {
	bool legal;			/* false: nothing happens, and a control is refused */
	enum sm_state next;
	unsigned actions;
};
struct sm_transition sm_transition(enum sm_state state, enum sm_input input);

/*
 * The input that a control stands for, given the state that its sender reports; IN_COUNT: the
 * sender may not send it.
 */
enum sm_input sm_control_input(uint32_t control, unsigned sender);

/* SMInfo (14.2.5.13); for our own, only the fields that elections need. */
struct sm_info {
	uint64_t guid, key;
	uint32_t act_count;
	uint8_t priority, state;
	bool changed;			/* operators have changed something since it became master */
	/*
	 * Our judgement: it took over from us, has all that operators changed here, and `changed`. So
	 * what it has is newer than what we have.
	 */
	bool newer;
};

/*
 * Whether we, in state `us`, obey a control (as an input) from the SM with GUID `sender`, which has
 * shown the SM_Key and sits where its GUID is.  state: what the sender reports when asked.  master:
 * GUID of the SM that we stand by for.  successor: GUID of the SM that we handed over to.
 */
bool sm_obeys(enum sm_state us, enum sm_input input, uint64_t sender, enum sm_state state,
	      uint64_t master, uint64_t successor);

/* a has the higher priority, or the same and the lower GUID. */
bool sm_outranks(const struct sm_info *a, const struct sm_info *b);
/* The other SM has a different SM_Key; ours matches any key if it is 0. */
bool sm_has_other_key(const struct sm_info *us, const struct sm_info *other);

/*
 * What another SM means to us while we discover or are master; of two SMs the later verdict in this
 * list counts.
 */
enum sm_verdict {
	SM_NO_MATTER,		/* not active, or ranks below us */
	SM_OTHER_KEY,		/* another administration's: reported, never obeyed */
	SM_AWAIT,		/* master like us, but ranks below us: it should hand over to us */
	SM_HAND_OVER,		/* master or standby, and ranks above us as master */
	SM_YIELD,		/* master like us; ranks below us, but what it has is newer */
	SM_STAND_BY,		/* we discover; it is master, or should be */
};
enum sm_verdict sm_judge(const struct sm_info *us, const struct sm_info *other);
/* Of two SMs with the same verdict: whether to turn to a rather than to b. */
bool sm_comes_first(enum sm_verdict v, const struct sm_info *a, const struct sm_info *b);

#endif
