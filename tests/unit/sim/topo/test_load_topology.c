/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* promise: V4 B7 */
/* From the records of a topology file to nodes and cables of the simulator. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "helper.h"
#include "unit/fabric/dump/small_dump.h"
#include "unit/run.h"

START_TEST(all_that_a_dump_says_is_kept)
{
	struct outcome o = good(load(SMALL("4xQDR", "4xQDR")));
	const struct sim_node *sw = &o.f->nodes[0], *ca = &o.f->nodes[1];
	const struct sim_port *p = port_of(o.f, "the host", 1);

	ck_assert_uint_eq(o.f->n_nodes, 2);
	ck_assert(is_switch(sw) && ca->type == SIM_CA);
	ck_assert_uint_eq(sw->nports, 4);
	ck_assert_uint_eq(sw->vendor_id, 0x2c9);
	ck_assert_uint_eq(sw->device_id, 0xbd36);
	ck_assert_uint_eq(sw->sysimg_guid, 0x2003);
	ck_assert_uint_eq(sw->guid, 0x2000);
	ck_assert_str_eq(sw->id, "S-0000000000002000");
	ck_assert_str_eq(sw->desc, "the switch");
	ck_assert(sw->base_port0 && !sw->enhanced_port0);
	ck_assert_uint_eq(o.f->ports[sw->port0].lid, 7);
	ck_assert_uint_eq(ca->vendor_id, 0x8f1);
	ck_assert_uint_eq(ca->nports, 2);
	ck_assert_uint_eq(p->guid, 0x1001);
	ck_assert_uint_eq(p->lid, 9);
	ck_assert_uint_eq(p->lmc, 2);
	ck_assert_uint_eq(o.f->ports[p->peer].num, 3);
	ck_assert_uint_eq(o.f->ports[p->peer].node, 0);
	ck_assert_uint_eq(p[1].guid, 0x1002);	/* not in the dump: follows the node's */
	ck_assert_uint_eq(p[1].peer, SIM_NONE);
	outcome_free(&o);
}
END_TEST

static const struct {
	const char *word;
	uint8_t width, speed, ext;
	bool fdr10;
} speed_words[] = {
	{ "1xSDR", SIM_WIDTH_1X, SIM_SPEED_SDR, 0, false },
	{ "4xDDR", SIM_WIDTH_4X, SIM_SPEED_DDR, 0, false },
	{ "8xQDR", SIM_WIDTH_8X, SIM_SPEED_QDR, 0, false },
	{ "12xQDR s=4 w=8 v=4", SIM_WIDTH_12X, SIM_SPEED_QDR, 0, false },
	{ "4xFDR10", SIM_WIDTH_4X, SIM_SPEED_QDR, 0, true },
	{ "4xFDR", SIM_WIDTH_4X, SIM_SPEED_QDR, SIM_EXT_FDR, false },
	{ "4xEDR slot 3", SIM_WIDTH_4X, SIM_SPEED_QDR, SIM_EXT_EDR, false },
	{ "2xHDR", SIM_WIDTH_2X, SIM_SPEED_QDR, SIM_EXT_HDR, false },
	{ "4xNDR", SIM_WIDTH_4X, SIM_SPEED_QDR, SIM_EXT_NDR, false },
	{ "4xXDR", SIM_WIDTH_4X, SIM_SPEED_QDR, SIM_EXT_XDR, false },
	{ "4x???", SIM_WIDTH_4X, 0, 0, false },
	{ "?????", 0, 0, 0, false },
	{ "", 0, 0, 0, false },
};

START_TEST(speeds_bound_both_ends)
{
	const char *word = speed_words[_i].word;
	struct buf b = { 0 };
	struct outcome o;
	const struct sim_port *p;

	buf_printf(&b, SMALL("%s", "%s"), word, word);
	o = good(load(b.s));
	buf_free(&b);
	p = port_of(o.f, "the switch", 3);
	ck_assert_uint_eq(p->cable_width, speed_words[_i].width);
	ck_assert_uint_eq(p->cable_speed, speed_words[_i].speed);
	ck_assert_uint_eq(p->cable_ext, speed_words[_i].ext);
	ck_assert_uint_eq(p->cable_fdr10, speed_words[_i].fdr10);
	outcome_free(&o);
}
END_TEST

/* What the reader refuses leaves no node behind; what it warns of is handed on. */
START_TEST(findings_are_handed_on)
{
	struct outcome o = load("Switch 4 \"s\"\n[1] \"s\"[1]\n");

	refused(o, ":2:1: error: port 1 of \"s\" is connected to itself", NULL);
	o = load("Switch 4 \"s\"\n[1] \"t\"[1]\nSwitch 4 \"t\"\n");
	ck_assert(o.ok);
	ck_assert_uint_eq(count_links(o.f), 1);
	ck_assert_ptr_nonnull(strstr(o.warn.s, ":2:1: warning: only this end lists the link"));
	outcome_free(&o);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim/topo/load_topology");
	TCase *tc = tcase_create("load");

	tcase_add_test(tc, all_that_a_dump_says_is_kept);
	tcase_add_loop_test(tc, speeds_bound_both_ends, 0, ARRAY_SIZE(speed_words));
	tcase_add_test(tc, findings_are_handed_on);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
