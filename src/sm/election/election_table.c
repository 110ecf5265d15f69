/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See election_table.h.  Two masters of one administration become one, whoever notices first: the
 * lesser hands over, the better waits for that, and rank is a total order.  A better master that the
 * lesser replaced for a while first becomes a standby, which copies what the lesser has.
 */
#include "sm/election/election_table.h"

#include <stddef.h>

#include "lib/base/alloc.h"

const char *sm_control_name(uint32_t control)
{
	static const char *const names[] = {
		[CTRL_HANDOVER] = "HANDOVER", [CTRL_ACKNOWLEDGE] = "ACKNOWLEDGE",
		[CTRL_DISABLE] = "DISABLE", [CTRL_STANDBY] = "STANDBY",
		[CTRL_DISCOVER] = "DISCOVER",
	};

	return control < ARRAY_SIZE(names) ? names[control] : NULL;
}

#define TO(state, actions) { true, SM_ ## state, actions }

static const struct sm_transition table[][IN_COUNT] = {
	[SM_NOT_ACTIVE] = {
		[IN_STANDBY] = TO(STANDBY, DO_POLL),
		[IN_REJOIN] = TO(DISCOVERING, DO_STOP_POLLING | DO_SWEEP),
	},
	[SM_DISCOVERING] = {
		[IN_WON] = TO(MASTER, DO_CONFIGURE),
		[IN_LOST] = TO(STANDBY, DO_ABANDON | DO_POLL),
		/* from a master that discovery has passed, or will reach */
		[IN_HANDOVER] = TO(DISCOVERING, DO_SWEEP),
	},
	[SM_STANDBY] = {
		[IN_MASTER_GONE] = TO(DISCOVERING, DO_STOP_POLLING | DO_SWEEP),
		[IN_HANDOVER] = TO(MASTER, DO_ACKNOWLEDGE | DO_STOP_POLLING | DO_SWEEP),
		[IN_ACKNOWLEDGE] = TO(STANDBY, 0),
		/* the master is still watched, so that an operator is told if no SM is left */
		[IN_DISABLE] = TO(NOT_ACTIVE, DO_POLL),
		[IN_DISCOVER] = TO(DISCOVERING, DO_STOP_POLLING | DO_SWEEP),
	},
	[SM_MASTER] = {
		[IN_WON] = TO(MASTER, DO_CONFIGURE),
		/* a lesser master gives way; its part of the subnet is new to us */
		[IN_HANDOVER] = TO(MASTER, DO_SWEEP),
		/* its answer to our HANDOVER may still be on its way */
		[IN_ACKNOWLEDGE] = TO(MASTER, 0),
		[IN_HANDED_OVER] = TO(STANDBY, DO_ABANDON | DO_POLL),
		[IN_DEPOSED] = TO(STANDBY, DO_ABANDON | DO_POLL),
	},
};

struct sm_transition sm_transition(enum sm_state state, enum sm_input input)
{
	struct sm_transition t = { .next = state };

	if ((unsigned)state < ARRAY_SIZE(table) && (unsigned)input < IN_COUNT &&
	    table[state][input].legal)
		t = table[state][input];
	return t;
}

enum sm_input sm_control_input(uint32_t control, unsigned sender)
{
	static const enum sm_input inputs[] = {
		[CTRL_HANDOVER] = IN_HANDOVER, [CTRL_ACKNOWLEDGE] = IN_ACKNOWLEDGE,
		[CTRL_DISABLE] = IN_DISABLE, [CTRL_STANDBY] = IN_STANDBY,
		[CTRL_DISCOVER] = IN_DISCOVER,
	};

	if (!sm_control_name(control))
		return IN_COUNT;
	/* the sender of ACKNOWLEDGE was a standby, and may be master by now */
	if (sender != SM_MASTER && !(control == CTRL_ACKNOWLEDGE && sender == SM_STANDBY))
		return IN_COUNT;
	return inputs[control];
}

bool sm_obeys(enum sm_state us, enum sm_input input, uint64_t sender, enum sm_state state,
	      uint64_t master, uint64_t successor)
{
	if (!sender)
		return false;
	switch (us) {
	case SM_STANDBY:
		return sender == master;
	case SM_NOT_ACTIVE:	/* another SM may be master by now */
		return state == SM_MASTER;
	case SM_MASTER:
		return input == IN_HANDOVER || sender == successor;
	case SM_DISCOVERING:
		return input == IN_HANDOVER;
	}
	return false;
}

bool sm_outranks(const struct sm_info *a, const struct sm_info *b)
{
	return a->priority != b->priority ? a->priority > b->priority : a->guid < b->guid;
}

bool sm_has_other_key(const struct sm_info *us, const struct sm_info *other)
{
	return us->key && other->key != us->key;
}

enum sm_verdict sm_judge(const struct sm_info *us, const struct sm_info *other)
{
	bool better = sm_outranks(other, us);

	if (other->guid == us->guid || other->state == SM_NOT_ACTIVE || other->state > SM_MASTER)
		return SM_NO_MATTER;
	if (sm_has_other_key(us, other))
		return SM_OTHER_KEY;
	if (us->state == SM_DISCOVERING)
		return better || other->state == SM_MASTER ? SM_STAND_BY : SM_NO_MATTER;
	if (us->state != SM_MASTER)
		return SM_NO_MATTER;
	if (other->state == SM_MASTER)
		return better ? SM_HAND_OVER : other->newer ? SM_YIELD : SM_AWAIT;
	/* one that discovers finds us and stands by; then we hand over to it */
	return better && other->state == SM_STANDBY ? SM_HAND_OVER : SM_NO_MATTER;
}

bool sm_comes_first(enum sm_verdict v, const struct sm_info *a, const struct sm_info *b)
{
	if (v == SM_STAND_BY && (a->state == SM_MASTER) != (b->state == SM_MASTER))
		return a->state == SM_MASTER;
	return sm_outranks(a, b);
}
