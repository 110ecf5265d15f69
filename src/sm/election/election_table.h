/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is to be master, in thought: the SM state machine (14.4.1) as a table, and
 * what another SM's SMInfo means to us.  Pure; election.c does what comes of it.
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
/* "HANDOVER", …; NULL: there is no such. */
const char *sm_control_name(uint32_t control);

/* What the state machine is told. */
enum sm_input {
	IN_WON,			/* discovery is over, and nobody goes before us */
	IN_LOST,		/* … and another is master, or is to be */
	IN_MASTER_GONE,		/* the master does not answer the standby's polls */
	IN_HANDOVER,		/* controls that others send */
	IN_ACKNOWLEDGE,
	IN_DISABLE,
	IN_STANDBY,
	IN_DISCOVER,
	IN_HANDED_OVER,		/* the other took our HANDOVER */
	IN_DEPOSED,		/* another became master while we did not run */
	IN_REJOIN,		/* an operator wants a manager back that was told to be inactive */
	IN_COUNT,
};

/* What is to be done; the new state holds when all of it is done. */
enum {
	DO_CONFIGURE = 1 << 0,		/* the sweep goes on, as master */
	DO_POLL = 1 << 1,		/* ask the master again and again */
	DO_STOP_POLLING = 1 << 2,
	DO_SWEEP = 1 << 3,		/* discover the fabric from the beginning */
	DO_ACKNOWLEDGE = 1 << 4,	/* to who handed over, still as standby */
	DO_ABANDON = 1 << 5,		/* what a sweep is about to write is not written */
};

struct sm_transition {
	bool legal;			/* else nothing happens; a control is refused */
	enum sm_state next;
	unsigned actions;
};
struct sm_transition sm_transition(enum sm_state state, enum sm_input input);

/* The input that a control is, by the state that its sender says it has; IN_COUNT: it may not. */
enum sm_input sm_control_input(uint32_t control, unsigned sender);

/* SMInfo (14.2.5.13), or as much of ours as counts. */
struct sm_info {
	uint64_t guid, key;
	uint32_t act_count;
	uint8_t priority, state;
};

/*
 * Whether we obey a control of ours and this input, in this state, from the SM of that GUID, which
 * has shown the SM_Key and sits where its GUID is.  master: GUID of the one we stand by for; successor:
 * of the one that we handed over to.  state: what the sender says when it is asked.
 */
bool sm_obeys(enum sm_state us, enum sm_input input, uint64_t sender, enum sm_state state,
	      uint64_t master, uint64_t successor);

/* Higher priority, then lower GUID. */
bool sm_outranks(const struct sm_info *a, const struct sm_info *b);
/* A wrong SM_Key; one of ours that is 0 takes all. */
bool sm_has_other_key(const struct sm_info *us, const struct sm_info *other);

/* What one SM means to one that discovers or is master; of two SMs the later word counts. */
enum sm_verdict {
	SM_NO_MATTER,		/* not active, or less than us */
	SM_OTHER_KEY,		/* of another administration: reported, never obeyed */
	SM_AWAIT,		/* master as we are, and less: it is to hand over to us */
	SM_HAND_OVER,		/* master as we are, or standing by, and more than us */
	SM_STAND_BY,		/* we discover; it is master, or is to be */
};
enum sm_verdict sm_judge(const struct sm_info *us, const struct sm_info *other);
/* Of two with the same verdict: whether a is who to turn to rather than b. */
bool sm_comes_first(enum sm_verdict v, const struct sm_info *a, const struct sm_info *b);

#endif
