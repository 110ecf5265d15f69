/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests that the subnet manager's memory is bounded: switches and hosts that come with a new GUID
 * each time and go again, and ports that send traps without end.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "mad/umad_port.h"
#include "plan/sm_attributes.h"
#include "sm/multicast/multicast.h"
#include "sm/multicast/multicast_sweeps.h"
#include "sm/sweep/forget.h"
#include "unit/run.h"

/* promise: D111 */
START_TEST(guids_of_nodes_that_are_gone)
{
	struct map64 remembered, present;
	uint32_t most = 0;

	map64_init(&remembered, 16);
	map64_init(&present, 16);
	for (uint64_t guid = 1; guid <= 100; guid++)
		map64_put(&present, guid, (uint32_t)guid);
	map64_put(&remembered, 7, 42);
	/* a switch that is gone briefly is kept */
	map64_put(&remembered, 1000, 1);
	ck_assert(!forget_gone(&remembered, &present));
	for (uint64_t guid = 1000; guid < 1000000; guid++) {
		map64_put(&remembered, guid, 1);
		forget_gone(&remembered, &present);
		most = remembered.n > most ? remembered.n : most;
	}
	ck_assert_uint_eq(most, present.n + FORGET_SPARE);
	ck_assert_uint_eq(map64_get(&remembered, 7), 42);
	map64_free(&remembered);
	map64_free(&present);
}
END_TEST

/* promise: D111 */
START_TEST(suspects)
{
	struct sm sm = { .state = SM_MASTER, .own_port_checked = true, .sweep.kind = SWEEP_LOCAL };

	for (uint64_t guid = 1; guid <= 4096; guid++)
		sm_suspect(&sm, &(struct suspect){ .guid = guid, .ends = true });
	ck_assert_uint_eq(sm.wishes.suspects.n, 4096);
	ck_assert_int_eq(sm.wishes.kind, SWEEP_NONE);
	/* another report about a suspect switch takes no further entry */
	sm_suspect(&sm, &(struct suspect){ .guid = 4000, .renamed = true });
	ck_assert(sm.wishes.suspects.v[3999].renamed && !sm.wishes.suspects.v[3999].ends);
	ck_assert_int_eq(sm.wishes.kind, SWEEP_NONE);
	/* beyond the limit, qosd discovers the whole fabric instead */
	for (uint64_t guid = 5000; guid <= 20000; guid++)
		sm_suspect(&sm, &(struct suspect){ .guid = guid });
	ck_assert_uint_eq(sm.wishes.suspects.n, 4096);
	ck_assert_int_eq(sm.wishes.kind, SWEEP_CHANGE);
	vec_free(&sm.wishes.suspects);
	free(sm.wishes.reason);
}
END_TEST

/* --- multicast forwarding tables --- */

#define STEADY	10u	/* switches that stay */
#define VISITORS 90u	/* … with other GUIDs each time */
#define PORTS	36u

static struct mad_port port = { .engine = PTHREAD_MUTEX_INITIALIZER };
static struct fabric_node nodes[STEADY + VISITORS];
static struct fabric_switch switches[STEADY + VISITORS];
static struct node_work work[STEADY + VISITORS];

/* All switches had entries before qosd started, so qosd must read them. */
static void make_fabric(struct fabric *f, unsigned round)
{
	map64_clear(&f->node_by_guid);
	for (uint32_t i = 0; i < STEADY + VISITORS; i++) {
		uint64_t guid = i < STEADY ? 1 + i : 1000 + (uint64_t)round * VISITORS + i;

		nodes[i] = (struct fabric_node){ .guid = guid, .sw = i, .nports = PORTS };
		switches[i].node = i;
		work[i] = (struct node_work){ .mft_unknown = !round || i >= STEADY, .used_before = true };
		map64_put(&f->node_by_guid, guid, i);
	}
}

/* promise: D111 */
START_TEST(multicast_tables_of_switches_that_are_gone)
{
	struct fabric f = { .nodes = nodes, .switches = switches, .n_switches = STEADY + VISITORS,
			    .n_nodes = STEADY + VISITORS };
	struct subnet_state state = { .f = &f };
	struct buf err = { 0 };
	struct sm sm = { .mad = &port, .sweep.f = &f, .sweep.work = work,
			 .store = store_open(NULL, NULL, &err) };
	struct mcast_work *w = calloc(1, sizeof(*w));
	uint8_t entries[64] = { 1 };

	ck_assert_ptr_nonnull(w);
	map64_init(&f.node_by_guid, 16);
	w->sm = &sm;
	w->state = &state;
	sm.mcast_work = w;
	tables_init(w);
	for (unsigned round = 0; round < 50; round++) {
		make_fabric(&f, round);
		tables_observed(w);
		tables_keep_wanted(w);
		if (!round) {		/* a permanent switch was read and holds this value */
			w->blocks.v[0].known = true;
			w->blocks.v[0].listed = false;
			memcpy(w->blocks.v[0].is, entries, sizeof(entries));
		}
		/* 256 removed switches are remembered, besides those that came after the count */
		ck_assert_uint_le(w->switches.n, STEADY + VISITORS + 256 + VISITORS);
		ck_assert_uint_le(w->blocks.n, w->switches.n * (PORTS / PORTS_PER_POSITION + 1));
		ck_assert_uint_le(w->pending.n, w->blocks.n);
	}
	memset(entries, 0, sizeof(entries));
	ck_assert(multicast_block_is(&sm, 1, 0, 0, entries));
	ck_assert_uint_eq(entries[0], 1);
	tables_free(w);
	store_close(sm.store);
	map64_free(&f.node_by_guid);
	free(w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("bounds");
	TCase *c = tcase_create("all");

	tcase_add_test(c, guids_of_nodes_that_are_gone);
	tcase_add_test(c, suspects);
	tcase_add_test(c, multicast_tables_of_switches_that_are_gone);
	suite_add_tcase(s, c);
	return run_suite(s);
}
