/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests how a standby copies registrations from its master (daemon/replication/replica.c).  The master is a
 * fake that gives the test's texts and may end at any point of a round; the clock is the test's.
 */
#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "daemon/daemon.h"
#include "lib/base/bytes.h"
#include "lib/base/map64.h"
#include "lib/iba/sa_records.h"
#include "sm/keys/proof.h"
#include "unit/run.h"

#define KEY		77
#define OURS		0x10		/* port GUIDs */
#define MASTERS		0x20
#define KERNELS_ANSWER	0x000c		/* to a Get that no program has registered for */
#define UNKNOWN_PORT	0x0200		/* of a qosd that has not published the asker's LID */

enum { OFF_STATUS = 4, OFF_SM_KEY = 36 };

static struct qosd q;
static struct settings settings;
static struct replica *const h = &q.replica;
static int64_t now_us;

/* what replica.c reports to sm/ */
static bool held, coming, not_to_be_had;
static char taken[PART_COUNT][64];	/* the last received text of each part */

/* the master: its parts, and its log of changes */
static const char *text[PART_COUNT];
static char changes[512];
static uint32_t log_number, log_first, printed_at;
static uint64_t masters_policy;
static bool knows_more;			/* false: it is of a version that has no rest of the list */
static unsigned asked_for_rest;
static uint32_t stated_age;		/* of the standby's copy, in its last question */
static unsigned pieces_of[PART_COUNT];	/* that were asked for */

/* the request in flight */
static struct {
	void (*fn)(void *arg, const uint8_t *mad, size_t len);
	void *arg;
	uint8_t mad[MAD_LEN];
} asked[32];
static unsigned n_asked;

/* --- what replica.c calls --- */

int64_t __wrap_clock_mono_us(void);
int64_t __wrap_clock_mono_us(void)
{
	return now_us;
}

const struct mad_port_info *mad_info(const struct mad_port *m)
{
	static const struct mad_port_info info = { .guid = OURS };

	(void)m;
	return &info;
}

bool mad_request(struct mad_port *m, const struct mad_address *to, const uint8_t mad[256],
		 unsigned timeout_ms, unsigned tries,
		 void (*fn)(void *arg, const uint8_t *mad, size_t len), void *arg)
{
	(void)m;
	(void)timeout_ms;
	(void)tries;
	ck_assert_uint_eq(to->lid, 5);
	ck_assert_uint_eq(get_be64(mad + OFF_SM_KEY), 0);	/* told to nobody */
	asked[n_asked].fn = fn;
	asked[n_asked].arg = arg;
	memcpy(asked[n_asked++].mad, mad, MAD_LEN);
	return true;
}

void smp_send(struct mad_port *m, const struct smp *s,
	      void (*fn)(void *arg, const struct smp *s, int status), void *arg)
{
	struct smp answer = *s;

	(void)m;
	mad_set_field(answer.data, 0, IB_PORT_SMLID_F, 5);
	fn(arg, &answer, 0);
}

uint64_t replica_policy(const struct qosd *x)
{
	(void)x;
	return 0xabc;
}

void sm_registrations_lost(struct sm *sm)
{
	(void)sm;
	held = false;
}

void sm_registrations_coming(struct sm *sm)
{
	(void)sm;
	held = false;
	coming = true;
}

void sm_registrations_not_to_be_had(struct sm *sm)
{
	(void)sm;
	held = coming = false;
	not_to_be_had = true;
}

void sm_registrations_held(struct sm *sm, uint16_t master_lid)
{
	(void)sm;
	ck_assert_uint_eq(master_lid, 5);
	held = true;
	coming = false;
}

bool sm_registrations_unknown(const struct sm *sm)
{
	(void)sm;
	return false;
}

bool sm_is_planning(const struct sm *sm)
{
	(void)sm;
	return false;
}

void sm_standby_copy_is_old(struct sm *sm)
{
	(void)sm;
}

uint64_t sm_own_m_key(const struct sm *sm)
{
	(void)sm;
	return 0;
}

uint64_t sm_master(const struct sm *sm)
{
	(void)sm;
	return MASTERS;
}

const struct replica_part_kind replica_part_kinds[PART_COUNT] = {
	[0 ... PART_COUNT - 1] = { "", 1 },
};

uint64_t replica_part_digest(const char *s, size_t n)
{
	return hash_bytes(s, n, 0);
}

uint64_t replica_part_version(const struct qosd *qosd, enum replica_part part)
{
	(void)qosd;
	(void)part;
	return replica_part_digest("", 0);
}

uint64_t replica_parts_partitions(struct qosd *qosd)
{
	(void)qosd;
	return 0;
}

bool replication_take(struct qosd *qosd, char *parts[PART_COUNT])
{
	(void)qosd;
	for (unsigned i = 0; i < PART_COUNT; i++)
		if (parts[i])
			snprintf(taken[i], sizeof(taken[i]), "%s", parts[i]);
	return true;
}

/* --- the master --- */

static void put_rows(struct sa_replica *x, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++) {
		struct sa_replica_row row = { 0 };

		put_be64(row.version, replica_part_digest(text[i], strlen(text[i])));
		put_be32(row.total, (uint32_t)strlen(text[i]));
		if (i == PART_GROUP_CHANGES) {
			put_be64(row.version, (uint64_t)log_number << 32 | printed_at);
			put_be32(row.total, log_first + (uint32_t)strlen(changes));
		}
		put_be32(row.format, 1);
		memcpy(x->data + (i - first) * sizeof(row), &row, sizeof(row));
	}
	put_be32(x->n, (end - first) * (uint32_t)sizeof(struct sa_replica_row));
}

static void put_list(struct sa_replica *x)
{
	stated_age = get_be32(x->data + SA_REPLICA_AGE);
	put_rows(x, 0, PART_LISTED);
	put_be64(x->data + SA_REPLICA_REST, knows_more ? replica_part_digest(text[PART_MISSING],
									    strlen(text[PART_MISSING])) : 0);
	ck_assert_uint_eq(get_be64(x->data + SA_REPLICA_POLICY), 0xabc);	/* what the standby has */
	put_be64(x->data + SA_REPLICA_POLICY, masters_policy);
}

static void put_rest(struct sa_replica *x)
{
	ck_assert(knows_more);
	asked_for_rest++;
	put_rows(x, PART_LISTED, PART_COUNT);
}

static void put_piece(struct sa_replica *x)
{
	uint32_t part = get_be32(x->part), offset = get_be32(x->offset), n;
	const char *from = part == PART_GROUP_CHANGES ? changes : text[part];
	uint64_t version = replica_part_digest(from, strlen(from));

	pieces_of[part]++;
	if (part == PART_GROUP_CHANGES) {
		offset -= log_first;
		version = get_be64(x->version) >> 32 == log_number ? get_be64(x->version) : 0;
	}
	if (get_be64(x->version) != version || offset >= strlen(from)) {
		memset(x->version, 0, sizeof(x->version));
		return;
	}
	n = (uint32_t)strlen(from + offset);
	n = n < SA_REPLICA_DATA ? n : SA_REPLICA_DATA;
	memcpy(x->data, from + offset, n);
	put_be32(x->n, n);
}

/*
 * Answers the oldest request: as the master, as the kernel of its host, as a forger, as a master that does
 * not know our port yet, or not at all.
 */
enum by { MASTER, KERNEL, FORGER, NOBODY, TOO_EARLY };
static void answer(enum by by)
{
	void (*fn)(void *arg, const uint8_t *mad, size_t len) = asked[0].fn;
	void *arg = asked[0].arg;
	uint8_t mad[MAD_LEN];
	struct sa_replica x;

	ck_assert_uint_gt(n_asked, 0);
	memcpy(mad, asked[0].mad, MAD_LEN);
	memmove(asked, asked + 1, --n_asked * sizeof(*asked));
	memcpy(&x, mad + SA_HDR_LEN, sizeof(x));
	ck_assert(proof_seal_holds(&x, KEY, PROOF_REPLICA_GET, OURS, MASTERS));
	if (get_be32(x.part) == SA_REPLICA_LIST)
		put_list(&x);
	else if (get_be32(x.part) == SA_REPLICA_MORE)
		put_rest(&x);
	else
		put_piece(&x);
	if (by == KERNEL)
		put_be16(mad + OFF_STATUS, KERNELS_ANSWER);
	if (by == TOO_EARLY)
		put_be16(mad + OFF_STATUS, UNKNOWN_PORT);
	if (by == FORGER)
		put_be64(x.proof, 1);
	else
		proof_seal(&x, KEY, PROOF_REPLICA_ANSWER, MASTERS, OURS);
	memcpy(mad + SA_HDR_LEN, &x, sizeof(x));
	fn(arg, by == NOBODY ? NULL : mad, MAD_LEN);
}

/* The master answers a poll, and then each request of the round. */
static void a_round(void)
{
	now_us += 200000;
	replica_ask(h);
	while (n_asked)
		answer(MASTER);
}

/* A poll and its round, all answered by `by`. */
static void a_round_of(enum by by)
{
	now_us += 200000;
	replica_ask(h);
	while (n_asked)
		answer(by);
}

static void setup(void)
{
	settings.sm_key = KEY;
	q = (struct qosd){ .settings = &settings };
	now_us = 1000000000;
	n_asked = 0;
	held = coming = not_to_be_had = false;
	memset(taken, 0, sizeof(taken));
	memset(pieces_of, 0, sizeof(pieces_of));
	for (unsigned i = 0; i < PART_COUNT; i++)
		text[i] = "";
	knows_more = true;
	asked_for_rest = 0;
	text[PART_GROUPS] = "groups\n";
	text[PART_SERVICES] = "services\n";
	log_number = 3;
	log_first = UINT32_MAX - 10;	/* positions run over */
	printed_at = log_first;
	changes[0] = 0;
	replica_init(&q);
}

static void teardown(void)
{
	replica_free(h);
}

/* --- tests --- */

/* promise: M4 */
START_TEST(all_of_it_is_copied)
{
	a_round();
	ck_assert(held);
	ck_assert_str_eq(taken[PART_GROUPS], "groups\n");
	ck_assert_str_eq(taken[PART_SERVICES], "services\n");
	text[PART_SERVICES] = "other services\n";
	a_round();
	ck_assert(held);
	ck_assert_str_eq(taken[PART_SERVICES], "other services\n");
	ck_assert_uint_eq(pieces_of[PART_GROUPS], 1);
}
END_TEST

/* promise: H4 */
START_TEST(the_rest_of_the_list_is_asked_for_when_it_changes)
{
	text[PART_MISSING] = "a switch\n";
	a_round();
	ck_assert(held);
	ck_assert_str_eq(taken[PART_MISSING], "a switch\n");
	a_round();
	ck_assert_uint_eq(asked_for_rest, 1);
	text[PART_MISSING] = "a host\n";
	a_round();
	ck_assert_str_eq(taken[PART_MISSING], "a host\n");
	ck_assert_uint_eq(asked_for_rest, 2);
	ck_assert_uint_eq(pieces_of[PART_MISSING], 2);
}
END_TEST

/* A part that changes between the list and its pieces comes with the next round, and the others with this one. */
/* promise: H4 */
START_TEST(a_part_of_the_rest_that_changes_meanwhile)
{
	char many[40 * SA_REPLICA_DATA];	/* more pieces than the window has room for */

	memset(many, 'x', sizeof(many));
	many[sizeof(many) - 1] = 0;
	text[PART_MISSING] = many;
	text[PART_WITHDRAWN] = "a drain\n";
	now_us += 200000;
	replica_ask(h);
	while (pieces_of[PART_MISSING] < (_i ? 20 : 1))
		answer(MASTER);
	text[PART_MISSING] = "a host\n";
	while (n_asked)
		answer(MASTER);
	ck_assert(held);
	ck_assert_str_eq(taken[PART_SERVICES], "services\n");
	ck_assert_str_eq(taken[PART_WITHDRAWN], "a drain\n");
	ck_assert_str_eq(taken[PART_MISSING], "");
	a_round();
	ck_assert(held);
	ck_assert_str_eq(taken[PART_MISSING], "a host\n");
	ck_assert_uint_eq(pieces_of[PART_WITHDRAWN], 1);
}
END_TEST

/* promise: H4 */
START_TEST(a_master_of_an_earlier_version_has_no_rest)
{
	knows_more = false;
	text[PART_MISSING] = "a switch\n";
	a_round();
	ck_assert(held);
	ck_assert_uint_eq(asked_for_rest, 0);
	ck_assert_str_eq(taken[PART_MISSING], "");
}
END_TEST

/* promise: H7 */
START_TEST(a_standby_states_the_age_of_its_copy)
{
	a_round();
	ck_assert_uint_eq(stated_age, SA_REPLICA_NEVER);
	a_round();
	ck_assert_uint_eq(stated_age, 200 + 1);
	a_round_of(NOBODY);
	a_round();
	ck_assert_uint_eq(stated_age, 2 * 200 + 1);
	replica_stop(h);
	a_round();
	ck_assert_uint_eq(stated_age, SA_REPLICA_NEVER);
}
END_TEST

/* The standby takes over with everything that it had, whichever node answers the last request. */
/* promise: M4 A76 */
START_TEST(a_master_that_dies_amid_a_round_leaves_what_it_had)
{
	static const enum by last[] = { KERNEL, NOBODY, FORGER };

	a_round();
	strcpy(changes, "one line\n");
	replica_ask(h);
	if (_i % 2)
		answer(MASTER);		/* the list; new lines of the log are in flight */
	while (n_asked)
		answer(last[_i / 2]);
	ck_assert(held && !not_to_be_had);
	/* one poll was still in flight */
	now_us += 200000;
	replica_ask(h);
	while (n_asked)
		answer(last[_i / 2]);
	ck_assert(held && !not_to_be_had);
}
END_TEST

START_TEST(what_is_on_its_way_when_the_master_dies_is_lost)
{
	a_round();
	text[PART_SERVICES] = "other services\n";
	replica_ask(h);
	answer(MASTER);
	answer(KERNEL);
	ck_assert(!held && coming);
}
END_TEST

/* promise: A76 */
START_TEST(a_master_that_lives_and_tells_nothing_is_not_waited_for)
{
	a_round();
	for (int i = 0; i < 15; i++)
		a_round_of(NOBODY);
	ck_assert(held);
	for (int i = 0; i < 3; i++)
		a_round_of(KERNEL);
	ck_assert(!held);
	a_round();
	ck_assert(held);
	/* if polls are rare, one round without an answer does not suffice */
	a_round_of(NOBODY);
	now_us += 10000000;
	replica_ask(h);
	ck_assert(held);
}
END_TEST

/* Lets the polls of n seconds pass; `by` answers their rounds. */
static void seconds_of(enum by by, unsigned n)
{
	for (unsigned i = 0; i < n * 5; i++)
		a_round_of(by);
}

START_TEST(a_master_that_is_no_qosd)
{
	seconds_of(KERNEL, 8);
	ck_assert(not_to_be_had && !held);
	a_round();
	ck_assert(!held);		/* it is not asked again so soon */
	now_us += 10000000;
	a_round();
	ck_assert(held);		/* it was not ready */
}
END_TEST

/*
 * The former master's host answers until the new master has written MasterSMLID, or the new master has
 * not published our port yet.  The standby copies from the new master as soon as that answers.
 */
/* promise: M4 */
START_TEST(a_refusal_is_not_the_last_word)
{
	seconds_of(_i ? TOO_EARLY : KERNEL, _i ? 20 : 4);
	ck_assert(!not_to_be_had && !held);
	now_us += 1000000;
	a_round();
	ck_assert(held);
}
END_TEST

/* A master counts as a new one if this daemon was master meanwhile, however long it followed it before. */
START_TEST(refusals_count_anew_for_each_master)
{
	seconds_of(NOBODY, 20);
	replica_stop(h);
	seconds_of(KERNEL, 4);
	ck_assert(!not_to_be_had);
}
END_TEST

/* promise: M4 A77 */
START_TEST(a_forger_is_not_believed)
{
	seconds_of(FORGER, 8);
	ck_assert(not_to_be_had && !held);
	now_us += 10000000;
	replica_ask(h);
	answer(MASTER);
	while (n_asked)
		answer(FORGER);
	ck_assert(!held);
	ck_assert_str_eq(taken[PART_SERVICES], "");
}
END_TEST

/* promise: A78 */
START_TEST(changes_of_groups_are_a_log)
{
	a_round();
	strcpy(changes, "the first line, which is longer than what is left of 32 bits\n");
	a_round();
	ck_assert_str_eq(taken[PART_GROUP_CHANGES], changes);
	strcat(changes, "the second\n");
	a_round();
	ck_assert_str_eq(taken[PART_GROUP_CHANGES], "the second\n");
	/* the master prints the text anew, but the standby does not need it */
	text[PART_GROUPS] = "more groups\n";
	printed_at = log_first + (uint32_t)strlen(changes);
	a_round();
	ck_assert(held);
	strcat(changes, "the third\n");
	a_round();
	ck_assert(held);
	ck_assert_str_eq(taken[PART_GROUP_CHANGES], "the third\n");
	ck_assert_uint_eq(pieces_of[PART_GROUPS], 1);
}
END_TEST

/* The master has dropped lines that the standby lacks, or has another log: the standby copies text and log. */
/* promise: A78 */
START_TEST(a_log_that_does_not_go_on)
{
	a_round();
	text[PART_GROUPS] = "more groups\n";
	if (_i) {
		log_number++;
		log_first = 7;
	} else {
		log_first += 100;
	}
	printed_at = log_first;
	strcpy(changes, "a line\n");
	a_round();
	a_round();
	ck_assert(held);
	ck_assert_str_eq(taken[PART_GROUPS], "more groups\n");
	ck_assert_str_eq(taken[PART_GROUP_CHANGES], "a line\n");
}
END_TEST

START_TEST(ports_that_are_gone_are_no_registrations)
{
	a_round();
	text[PART_GONE] = "gone\n";
	replica_ask(h);
	answer(MASTER);
	ck_assert(held);
	answer(MASTER);
	ck_assert(held);
	ck_assert_str_eq(taken[PART_GONE], "gone\n");
}
END_TEST

/* promise: P10 */
START_TEST(the_policy_of_the_master_is_known)
{
	masters_policy = 0xdef;
	a_round();
	ck_assert_uint_eq(h->master_policy, 0xdef);
	masters_policy = 0;		/* of an earlier version */
	a_round();
	ck_assert_uint_eq(h->master_policy, 0);
	masters_policy = 0xdef;
	a_round();
	a_round_of(FORGER);
	ck_assert_uint_eq(h->master_policy, 0xdef);
	replica_stop(h);
	ck_assert_uint_eq(h->master_policy, 0);
	masters_policy = 0;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("replication");
	TCase *t = tcase_create("replication");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, all_of_it_is_copied);
	tcase_add_test(t, the_rest_of_the_list_is_asked_for_when_it_changes);
	tcase_add_loop_test(t, a_part_of_the_rest_that_changes_meanwhile, 0, 2);
	tcase_add_test(t, a_master_of_an_earlier_version_has_no_rest);
	tcase_add_test(t, a_standby_states_the_age_of_its_copy);
	tcase_add_loop_test(t, a_master_that_dies_amid_a_round_leaves_what_it_had, 0, 6);
	tcase_add_test(t, what_is_on_its_way_when_the_master_dies_is_lost);
	tcase_add_test(t, a_master_that_lives_and_tells_nothing_is_not_waited_for);
	tcase_add_test(t, a_master_that_is_no_qosd);
	tcase_add_loop_test(t, a_refusal_is_not_the_last_word, 0, 2);
	tcase_add_test(t, refusals_count_anew_for_each_master);
	tcase_add_test(t, a_forger_is_not_believed);
	tcase_add_test(t, changes_of_groups_are_a_log);
	tcase_add_loop_test(t, a_log_that_does_not_go_on, 0, 2);
	tcase_add_test(t, ports_that_are_gone_are_no_registrations);
	tcase_add_test(t, the_policy_of_the_master_is_known);
	suite_add_tcase(s, t);
	return run_suite(s);
}
