/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the SM state machine with every state and input, the comparison of every pair of
 * SMs, and that of any few SMs exactly one becomes master, in every order of their queries.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "sm/election/election_table.h"
#include "unit/run.h"

#define STATES 4

/* 14.4.1, by hand: state, input, next, actions.  All others are illegal. */
static const struct {
	enum sm_state state;
	enum sm_input input;
	enum sm_state next;
	unsigned actions;
} legal[] = {
	{ SM_NOT_ACTIVE, IN_STANDBY, SM_STANDBY, DO_POLL },
	{ SM_NOT_ACTIVE, IN_REJOIN, SM_DISCOVERING, DO_STOP_POLLING | DO_SWEEP },
	{ SM_DISCOVERING, IN_WON, SM_MASTER, DO_CONFIGURE },
	{ SM_DISCOVERING, IN_LOST, SM_STANDBY, DO_ABANDON | DO_POLL },
	{ SM_DISCOVERING, IN_HANDOVER, SM_DISCOVERING, DO_SWEEP },
	{ SM_STANDBY, IN_MASTER_GONE, SM_DISCOVERING, DO_STOP_POLLING | DO_SWEEP },
	{ SM_STANDBY, IN_HANDOVER, SM_MASTER, DO_ACKNOWLEDGE | DO_STOP_POLLING | DO_SWEEP },
	{ SM_STANDBY, IN_ACKNOWLEDGE, SM_STANDBY, 0 },
	{ SM_STANDBY, IN_DISABLE, SM_NOT_ACTIVE, DO_POLL },
	{ SM_STANDBY, IN_DISCOVER, SM_DISCOVERING, DO_STOP_POLLING | DO_SWEEP },
	{ SM_MASTER, IN_WON, SM_MASTER, DO_CONFIGURE },
	{ SM_MASTER, IN_HANDOVER, SM_MASTER, DO_SWEEP },
	{ SM_MASTER, IN_ACKNOWLEDGE, SM_MASTER, 0 },
	{ SM_MASTER, IN_HANDED_OVER, SM_STANDBY, DO_ABANDON | DO_POLL },
	{ SM_MASTER, IN_DEPOSED, SM_STANDBY, DO_ABANDON | DO_POLL },
};

/* promise: M1 */
START_TEST(every_state_with_every_input)
{
	unsigned n = 0;

	for (unsigned s = 0; s < STATES; s++)
		for (unsigned in = 0; in < IN_COUNT; in++) {
			struct sm_transition t = sm_transition((enum sm_state)s, (enum sm_input)in);
			size_t i = 0;

			while (i < ARRAY_SIZE(legal) &&
			       (legal[i].state != s || legal[i].input != in))
				i++;
			ck_assert_msg(t.legal == (i < ARRAY_SIZE(legal)), "state %u input %u", s, in);
			ck_assert_msg(t.next == (t.legal ? legal[i].next : s), "state %u input %u", s,
				      in);
			ck_assert_msg(t.actions == (t.legal ? legal[i].actions : 0),
				      "state %u input %u", s, in);
			n += t.legal;
		}
	ck_assert_uint_eq(n, ARRAY_SIZE(legal));
}
END_TEST

START_TEST(nonsense_changes_nothing)
{
	struct sm_transition t = sm_transition(SM_MASTER, IN_COUNT);

	ck_assert(!t.legal && t.next == SM_MASTER && !t.actions);
	t = sm_transition((enum sm_state)7, IN_WON);
	ck_assert(!t.legal && t.next == 7 && !t.actions);
}
END_TEST

/* Only a master controls others; a standby acknowledges. */
START_TEST(every_control_of_every_sender)
{
	static const enum sm_input inputs[] = {
		IN_COUNT, IN_HANDOVER, IN_ACKNOWLEDGE, IN_DISABLE, IN_STANDBY, IN_DISCOVER, IN_COUNT,
	};

	for (uint32_t c = 0; c < ARRAY_SIZE(inputs); c++) {
		ck_assert((sm_control_name(c) != NULL) == (inputs[c] != IN_COUNT));
		for (unsigned sender = 0; sender < 16; sender++) {
			bool may = sender == SM_MASTER || (sender == SM_STANDBY && c == CTRL_ACKNOWLEDGE);

			ck_assert_uint_eq(sm_control_input(c, sender), may ? inputs[c] : IN_COUNT);
		}
	}
	ck_assert_uint_eq(sm_control_input(UINT32_MAX, SM_MASTER), IN_COUNT);
}
END_TEST

/* Each control in each state where it is legal, from each sender, and whether it is obeyed. */
/* promise: A41 */
START_TEST(every_control_of_every_manager)
{
	enum { MASTER = 1, SUCCESSOR, OTHER, SENDERS };
	static const struct {
		enum sm_state state;
		enum sm_input input;
		const char *obeyed;	/* of master, successor, another: by its own state, if it is master; not */
	} cells[] = {
		{ SM_NOT_ACTIVE, IN_STANDBY, "+- +- +-" },
		{ SM_DISCOVERING, IN_HANDOVER, "++ ++ ++" },
		{ SM_STANDBY, IN_HANDOVER, "++ -- --" },
		{ SM_STANDBY, IN_ACKNOWLEDGE, "++ -- --" },
		{ SM_STANDBY, IN_DISABLE, "++ -- --" },
		{ SM_STANDBY, IN_DISCOVER, "++ -- --" },
		{ SM_MASTER, IN_HANDOVER, "++ ++ ++" },
		{ SM_MASTER, IN_ACKNOWLEDGE, "-- ++ --" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		ck_assert(sm_transition(cells[i].state, cells[i].input).legal);
		for (uint64_t sender = MASTER; sender < SENDERS; sender++)
			for (unsigned is_not = 0; is_not < 2; is_not++)
				ck_assert_msg(sm_obeys(cells[i].state, cells[i].input, sender,
						       is_not ? SM_STANDBY : SM_MASTER, MASTER, SUCCESSOR) ==
					      (cells[i].obeyed[(sender - 1) * 3 + is_not] == '+'),
					      "cell %zu, sender %u, %u", i, (unsigned)sender, is_not);
		/* an SM without a GUID is never our master, even if none is known */
		ck_assert(!sm_obeys(cells[i].state, cells[i].input, 0, SM_MASTER, 0, 0));
	}
}
END_TEST

START_TEST(priority_counts_before_the_lower_guid)
{
	struct sm_info a = { .guid = 1, .priority = 3 }, b = { .guid = 2, .priority = 3 };

	ck_assert(sm_outranks(&a, &b) && !sm_outranks(&b, &a));
	b.priority = 4;
	ck_assert(!sm_outranks(&a, &b) && sm_outranks(&b, &a));
	ck_assert(!sm_outranks(&a, &a));
	/* GUIDs are compared as numbers of 64 bits */
	a = (struct sm_info){ .guid = 0x8000000000000000 };
	b = (struct sm_info){ .guid = 0x7fffffffffffffff };
	ck_assert(sm_outranks(&b, &a) && !sm_outranks(&a, &b));
}
END_TEST

/* Our state, the other's state, whether the other takes precedence, and the verdict. */
/* promise: M1 */
START_TEST(every_state_of_every_other)
{
	static const enum sm_verdict want[STATES][STATES][2] = {
		[SM_DISCOVERING] = {
			[SM_DISCOVERING] = { SM_NO_MATTER, SM_STAND_BY },
			[SM_STANDBY] = { SM_NO_MATTER, SM_STAND_BY },
			[SM_MASTER] = { SM_STAND_BY, SM_STAND_BY },
		},
		[SM_MASTER] = {
			[SM_STANDBY] = { SM_NO_MATTER, SM_HAND_OVER },
			[SM_MASTER] = { SM_AWAIT, SM_HAND_OVER },
		},
	};

	for (unsigned s = 0; s < STATES; s++)
		for (unsigned o = 0; o < 16; o++)
			for (unsigned better = 0; better < 2; better++) {
				struct sm_info us = { .guid = 10, .key = 5, .state = (uint8_t)s };
				struct sm_info other = { .guid = better ? 9 : 11, .key = 5,
							 .state = (uint8_t)o };

				ck_assert_msg(sm_judge(&us, &other) ==
					      (o < STATES ? want[s][o][better] : SM_NO_MATTER),
					      "%u %u %u", s, o, better);
				other.newer = true;
				ck_assert_msg(sm_judge(&us, &other) ==
					      (s == SM_MASTER && o == SM_MASTER && !better ? SM_YIELD :
					       o < STATES ? want[s][o][better] : SM_NO_MATTER),
					      "newer: %u %u %u", s, o, better);
				other.guid = us.guid;
				ck_assert_uint_eq(sm_judge(&us, &other), SM_NO_MATTER);
			}
}
END_TEST

/* promise: M2 */
START_TEST(another_sm_key_is_never_obeyed)
{
	struct sm_info us = { .guid = 10, .key = 5 };
	struct sm_info other = { .guid = 1, .key = 6, .priority = 15, .state = SM_MASTER };

	for (unsigned s = 0; s < STATES; s++) {
		us.state = (uint8_t)s;
		us.key = 5;
		other.key = 6;
		ck_assert_uint_eq(sm_judge(&us, &other), SM_OTHER_KEY);
		other.key = 0;		/* it does not send our key: no proof */
		ck_assert_uint_eq(sm_judge(&us, &other), SM_OTHER_KEY);
		us.key = 0;		/* no key is required */
		other.key = 6;
		ck_assert_uint_ne(sm_judge(&us, &other), SM_OTHER_KEY);
	}
	other.state = SM_NOT_ACTIVE;
	us.key = 5;
	ck_assert_uint_eq(sm_judge(&us, &other), SM_NO_MATTER);
}
END_TEST

START_TEST(a_master_is_polled_rather_than_one_to_be)
{
	struct sm_info master = { .guid = 9, .state = SM_MASTER };
	struct sm_info better = { .guid = 1, .priority = 9, .state = SM_STANDBY };

	ck_assert(sm_comes_first(SM_STAND_BY, &master, &better));
	ck_assert(!sm_comes_first(SM_STAND_BY, &better, &master));
	/* but a subnet is handed over to the SM with the highest precedence */
	ck_assert(sm_comes_first(SM_HAND_OVER, &better, &master));
	ck_assert(!sm_comes_first(SM_HAND_OVER, &master, &better));
}
END_TEST

/* --- several of them --- */

#define SMS_MAX 4

/* SM i queries all others and acts on the verdicts. */
static void look(struct sm_info *sms, unsigned n, unsigned i)
{
	enum sm_verdict verdict = SM_NO_MATTER;
	struct sm_info *best = NULL;
	struct sm_transition t;

	if (sms[i].state == SM_STANDBY) {	/* it polls; some SM is always master or becomes master */
		for (unsigned k = 0; k < n; k++)
			if (sms[k].state == SM_MASTER || (k != i && sms[k].state == SM_DISCOVERING))
				return;
		sms[i].state = (uint8_t)sm_transition(SM_STANDBY, IN_MASTER_GONE).next;
		return;
	}
	for (unsigned k = 0; k < n; k++) {
		enum sm_verdict v = sm_judge(&sms[i], &sms[k]);

		if (v > verdict || (v == verdict && best && sm_comes_first(v, &sms[k], best))) {
			verdict = v;
			best = &sms[k];
		}
	}
	if (verdict == SM_AWAIT)
		return;
	if (verdict == SM_HAND_OVER) {
		bool yields = best->state == SM_MASTER && sms[i].newer;	/* and the handover is put off */

		t = sm_transition((enum sm_state)best->state, yields ? IN_DEPOSED : IN_HANDOVER);
		ck_assert(t.legal);
		best->state = (uint8_t)t.next;
		if (yields)
			return;
		sms[i].newer = false;
	}
	t = sm_transition((enum sm_state)sms[i].state, verdict == SM_HAND_OVER ? IN_HANDED_OVER :
			  verdict == SM_STAND_BY ? IN_LOST : verdict == SM_YIELD ? IN_DEPOSED : IN_WON);
	ck_assert(t.legal);
	sms[i].state = (uint8_t)t.next;
}

/* Tries all orders of n SMs, each order for several rounds. */
static void permute(const struct sm_info *from, unsigned n, unsigned *order, unsigned k)
{
	struct sm_info sms[SMS_MAX];
	unsigned masters = 0, best = 0;

	for (unsigned i = k; i < n; i++) {
		unsigned x = order[k];

		order[k] = order[i];
		order[i] = x;
		permute(from, n, order, k + 1);
		order[i] = order[k];
		order[k] = x;
	}
	if (k < n)
		return;
	memcpy(sms, from, n * sizeof(*sms));
	for (unsigned round = 0; round < 5 * n; round++)
		for (unsigned i = 0; i < n; i++)
			look(sms, n, order[i]);
	for (unsigned i = 0; i < n; i++) {
		masters += sms[i].state == SM_MASTER;
		if (sm_outranks(&sms[i], &sms[best]))
			best = i;
	}
	ck_assert_uint_eq(masters, 1);
	ck_assert_uint_eq(sms[best].state, SM_MASTER);
}

/*
 * Begins with all combinations of states, and of whose state is newer than that of masters which rank above it:
 * starts and merges of subnets.
 */
/* promise: M1 */
START_TEST(exactly_one_stays_and_it_is_the_best)
{
	for (unsigned n = 1; n <= SMS_MAX; n++)
		for (unsigned mix = 0; mix < 1u << 3 * n; mix++) {
			struct sm_info sms[SMS_MAX];
			unsigned order[SMS_MAX];
			bool valid = true;

			for (unsigned i = 0; i < n; i++) {
				sms[i] = (struct sm_info){
					.guid = 10 + i, .priority = (uint8_t)(i % 2),
					.state = (uint8_t)(mix >> 3 * i & 3),
					.newer = mix >> 3 * i & 4,
				};
				order[i] = i;
				valid &= sms[i].state != SM_NOT_ACTIVE;
			}
			if (valid)
				permute(sms, n, order, 0);
		}
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("election table");
	TCase *t = tcase_create("election table");

	tcase_add_test(t, every_state_with_every_input);
	tcase_add_test(t, nonsense_changes_nothing);
	tcase_add_test(t, every_control_of_every_sender);
	tcase_add_test(t, every_control_of_every_manager);
	tcase_add_test(t, priority_counts_before_the_lower_guid);
	tcase_add_test(t, every_state_of_every_other);
	tcase_add_test(t, another_sm_key_is_never_obeyed);
	tcase_add_test(t, a_master_is_polled_rather_than_one_to_be);
	tcase_add_test(t, exactly_one_stays_and_it_is_the_best);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
