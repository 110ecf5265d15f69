/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests commands that change something: links, nodes, faults, keys, tables.
 *
 * promise: V6
 */
#include "fabric.h"
#include "unit/run.h"

#include <stdlib.h>

#define VLS "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,15"

/* --- words --- */

START_TEST(unknown_words_are_named)
{
	REFUSED("no such command: 'lnik': did you mean 'link'?", "lnik");
	REFUSED("no such command: 'xyzzy'", "xyzzy", "link");
	REFUSED("link: expected one of down up connect flap degrade", "link");
	REFUSED("link: 'dwon' is not one of down up connect flap degrade", "link", "dwon",
		"leaf1/P1");
	REFUSED("link down: an argument is missing; usage: link down PORT|NODE", "link", "down");
	REFUSED("link up: too many words; usage: link up PORT|NODE", "link", "up", "a", "b");
	REFUSED("drops: no option '--lats': did you mean '--last='?", "drops", "--lats", "3");
	REFUSED("drops: --last needs a value", "drops", "--last");
	REFUSED("drops: --reset takes no value", "drops", "--reset=1");
	REFUSED("drops: --reset is given twice", "drops", "--reset", "--reset");
}
END_TEST

START_TEST(no_words_at_all)
{
	struct buf out = { 0 };

	ck_assert_int_eq(ctl_run(sim, 0, NULL, false, &out), 1);
	ck_assert_str_eq(out.s, "no command; 'help' lists them\n");
	buf_free(&out);
}
END_TEST

START_TEST(help_lists_all)
{
	GOOD("help");
	ck_assert_str_eq(said, ctl_help);
	HAS("  link flap PORT [--count N] [--interval S]\n");
	ck_assert_str_eq(str(row_with(ASK("help"), "command", "node off"), "usage"),
			 "node off NODE");
}
END_TEST

START_TEST(names_with_control_characters)
{
	strcpy(sim->f->nodes[0].desc, "evil\x1b[31m\n\xff");
	GOOD("show", "nodes");
	HAS("evil?[31m??");
	ck_assert_ptr_nonnull(row_with(ASK("show", "nodes"), "description", "evil\x1b[31m\n?"));
	ck_assert_int_eq(RUN("show", "lft", "no\x1b[31m"), 1);
	ck_assert_str_eq(said, "show lft: there is no node 'no?[31m'\n");
}
END_TEST

/* --- links --- */

START_TEST(link_down_and_up)
{
	GOOD("link", "down", "leaf1/P7");
	ck_assert_str_eq(said, "");
	ck_assert(!link_is_up(sim->f, port_named("leaf1/P7")));
	ck_assert(!link_is_up(sim->f, port_named("leaf2/P7")));
	ck_assert_int_eq(port_at("leaf2/P7")->state, SIM_PORT_DOWN);
	GOOD("link", "up", "leaf2[7]");
	after(5000000);
	ck_assert(link_is_up(sim->f, port_named("leaf1/P7")));
	ck_assert_int_eq(port_at("leaf1/P7")->state, SIM_PORT_INIT);
}
END_TEST

/* How many of the fabric's ports have their cables unplugged. */
static unsigned loose_ends(void)
{
	unsigned n = 0;

	for (uint32_t port = 0; port < sim->f->n_ports; port++)
		n += sim->f->ports[port].unplugged;
	return n;
}

START_TEST(all_links_of_a_node)
{
	GOOD("link", "down", "leaf2");
	ck_assert_uint_eq(loose_ends(), 2 * 4);
	ck_assert(link_is_up(sim->f, port_named("leaf1/P1")));
	GOOD("link", "up", "0x200");
	ck_assert_uint_eq(loose_ends(), 0);
	GOOD("link", "down", "node3");
	ck_assert_uint_eq(loose_ends(), 2 * 2);
	GOOD("link", "up", "node3/P2");
	ck_assert_uint_eq(loose_ends(), 2);
	GOOD("link", "up", "node3");
	GOOD("link", "down", "0x1302");		/* a port's GUID */
	ck_assert_uint_eq(loose_ends(), 2);
	ck_assert(port_at("node3/P2")->unplugged);
}
END_TEST

START_TEST(host_at_another_port)
{
	GOOD("link", "down", "node2");
	after(100000);
	traps = 0;
	GOOD("link", "connect", "node2/P1", "leaf2/P5");
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(port_at("leaf1/P2")->peer, SIM_NONE);
	ck_assert(!port_at("leaf1/P2")->unplugged);
	ck_assert_uint_eq(port_at("leaf2/P5")->peer, port_named("node2/P1"));
	ck_assert_int_eq(port_at("leaf2/P5")->state, SIM_PORT_DOWN);
	after(100000);
	ck_assert_int_eq(port_at("leaf2/P5")->state, SIM_PORT_INIT);
	ck_assert_int_eq(port_at("node2")->state, SIM_PORT_INIT);
	ck_assert_uint_gt(traps, 0);
	ck_assert_uint_eq(last_trap, 128);
	/* A second host where the first one was. */
	GOOD("link", "down", "node1");
	GOOD("link", "connect", "leaf1/P2", "node1");
	after(100000);
	ck_assert(link_is_up(sim->f, port_named("leaf1/P2")));
	REFUSED("link down: no cable at 'leaf1/P1'", "link", "down", "leaf1/P1");
}
END_TEST

START_TEST(bounds_go_with_the_cable)
{
	const char *before = strdup(str(ASK("show", "port", "node1"), "link"));

	GOOD("link", "degrade", "node1", "1xSDR");
	GOOD("link", "down", "node1");
	GOOD("link", "connect", "node1", "leaf1/P1");
	after(100000);
	ck_assert_str_eq(str(ASK("show", "port", "node1"), "link"), before);
	free((void *)(uintptr_t)before);
}
END_TEST

START_TEST(cables_that_cannot_be)
{
	REFUSED("link connect: node1/P1 has a cable that is plugged in", "link", "connect",
		"node1", "leaf1/P5");
	REFUSED("link connect: leaf1/P1 has a cable that is plugged in", "link", "connect",
		"leaf1/P5", "leaf1/P1");
	REFUSED("link connect: leaf1/P0 takes no cable", "link", "connect", "leaf1", "leaf1/P5");
	REFUSED("link connect: a cable needs two ends", "link", "connect", "leaf1/P5", "leaf1/P5");
	REFUSED("link connect: there is no node 'leaf9'", "link", "connect", "leaf1/P5",
		"leaf9/P5");
	ck_assert_uint_eq(port_at("leaf1/P5")->peer, SIM_NONE);
}
END_TEST

START_TEST(link_errors_say_where)
{
	REFUSED("link down: 'leaf1' has no port 40", "link", "down", "leaf1/P40");
	REFUSED("link down: there is no node 'leaf9'", "link", "down", "leaf9/P1");
	REFUSED("link down: no cable at 'leaf1/P5'", "link", "down", "leaf1/P5");
	REFUSED("link flap: 'leaf1' does not name a port of the switch: give for example 'leaf1/P1'", "link",
		"flap", "leaf1");
	REFUSED("link flap: --count must be a number from 1 to 1000, not '0'", "link", "flap",
		"leaf1/P7", "--count=0");
	REFUSED("link flap: --interval must be seconds, or a time with a unit (us, ms, s, m, h, d or w), not '-1'", "link",
		"flap", "leaf1/P7", "--interval", "-1");
}
END_TEST

START_TEST(link_flaps_as_often_as_told)
{
	bool up = true;
	int changes = 0;

	GOOD("link", "flap", "leaf1/P7", "--count", "3", "--interval", "2");
	for (int tenths = 0; tenths < 300; tenths++) {
		bool plugged = !port_at("leaf1/P7")->unplugged;

		changes += plugged != up;
		up = plugged;
		after(100000);
	}
	ck_assert(up);
	ck_assert_int_eq(changes, 6);
}
END_TEST

START_TEST(link_degraded)
{
	const char *before = strdup(str(ASK("show", "port", "leaf1/P7"), "link"));

	GOOD("link", "degrade", "leaf1/P7", "1xSDR");
	after(5000000);
	ck_assert_str_eq(str(ASK("show", "port", "leaf1/P7"), "link"), "1xSDR");
	ck_assert_str_eq(str(ASK("show", "port", "leaf2/P7"), "link"), "1xSDR");
	GOOD("link", "degrade", "leaf1/P7", "full");
	after(5000000);
	ck_assert_str_eq(str(ASK("show", "port", "leaf1/P7"), "link"), before);
	REFUSED("link degrade: '5xFDR' is neither a width or speed, such as 1x, SDR or 4xFDR, nor 'full'",
		"link", "degrade", "leaf1/P7", "5xFDR");
	free((void *)(uintptr_t)before);
}
END_TEST

/* --- nodes --- */

START_TEST(node_without_power)
{
	GOOD("node", "off", "leaf2");
	ck_assert(!link_is_up(sim->f, port_named("leaf1/P7")));
	ck_assert_str_eq(str(row_with(ASK("show", "nodes"), "description", "leaf2"), "power"),
			 "off");
	GOOD("node", "on", "0x200");
	after(5000000);
	ck_assert(link_is_up(sim->f, port_named("leaf1/P7")));
	REFUSED("node off: there is no node 'leaf3'", "node", "off", "leaf3");
	GOOD("node", "rename", "node3", "gpu1 HCA-1");
	REFUSED("node off: there is no node 'gpu1': did you mean 'gpu1 HCA-1'?", "node", "off", "gpu1");
}
END_TEST

START_TEST(reboot_loses_tables)
{
	ck_assert_int_gt((int)json_array_size(ASK("show", "lft", "leaf1")), 0);
	GOOD("node", "reboot", "leaf1");
	ck_assert_int_eq((int)json_array_size(ASK("show", "lft", "leaf1")), 0);
	GOOD("node", "reboot", "leaf2", "--for", "10");
	after(9000000);
	ck_assert(node_named("leaf2")->off);
	after(2000000);
	ck_assert(!node_named("leaf2")->off);
}
END_TEST

START_TEST(node_silent)
{
	GOOD("node", "silent", "leaf1");
	ck_assert(node_named("leaf1")->silent);
	ck_assert(link_is_up(sim->f, port_named("leaf1/P7")));
	GOOD("node", "answer", "leaf1");
	ck_assert(!node_named("leaf1")->silent);
}
END_TEST

START_TEST(node_renamed)
{
	char name[66];

	GOOD("node", "rename", "node2", "gpu 2");
	ck_assert_str_eq(node_named("gpu 2")->desc, "gpu 2");
	after(100000);
	ck_assert_int_eq(last_trap, 144);
	device_rename(sim, port_at("gpu 2")->node, node_named("gpu 2")->desc);
	ck_assert_str_eq(node_named("gpu 2")->desc, "gpu 2");
	memset(name, 'x', 65);
	name[65] = '\0';
	REFUSED("node rename: a NodeDescription has at most 64 bytes, this one has 65", "node",
		"rename", "node1", name);
}
END_TEST

START_TEST(node_lies)
{
	GOOD("node", "lie", "node2", "keeps-tables,refuses-tables");
	ck_assert_uint_eq(node_named("node2")->lies, LIE_KEEPS_TABLES | LIE_REFUSES_TABLES);
	REFUSED("node lie: no lie 'keeps-table': did you mean 'keeps-tables'?", "node", "lie",
		"node2", "stale-get,keeps-table");
	ck_assert_uint_eq(node_named("node2")->lies, LIE_KEEPS_TABLES | LIE_REFUSES_TABLES);
	GOOD("node", "lie", "node2", "none");
	ck_assert_uint_eq(node_named("node2")->lies, 0);
}
END_TEST

START_TEST(keys_and_traps)
{
	GOOD("mkey", "leaf2", "0xbad", "--protect", "2", "--lease", "30");
	ck_assert_str_eq(str(ASK("show", "port", "leaf2"), "m-key"), "0x0000000000000bad");
	ck_assert_int_eq(num(ASK("show", "port", "leaf2"), "m-key-protection"), 2);
	REFUSED("mkey: --protect must be a number from 0 to 3, not '4'", "mkey", "leaf2", "1",
		"--protect=4");
	REFUSED("mkey: KEY must be a number, not 'secret'", "mkey", "leaf2", "secret");

	for (unsigned trap = 129; trap <= 131; trap++) {
		char number[8];

		snprintf(number, sizeof(number), "%u", trap);
		GOOD("trap", "leaf1/P7", number);
		after(100000);
		ck_assert_int_eq(last_trap, trap);
	}
	GOOD("trap", "node2", "145");
	after(100000);
	ck_assert_int_eq(last_trap, 145);
	GOOD("trap", "leaf2", "144");
	after(100000);
	ck_assert_int_eq(last_trap, 144);
	ck_assert_str_eq(node_named("leaf2")->desc, "leaf2");
	REFUSED("trap: NUMBER must be 129, 130, 131, 144 or 145, not '7'", "trap", "node2", "7");
}
END_TEST

/* --- faults --- */

START_TEST(fault_as_told)
{
	const struct fault_rule *r;

	ck_assert_int_eq(num(ASK("fault", "add", "delay", "--class", "smp", "--method", "get",
				 "--attr", "PortInfo", "--at", "leaf1/P7", "--chance", "12.5%",
				 "--count", "3", "--for", "2ms"), "id"), 1);
	ck_assert_uint_eq(sim->faults->rules.n, 1);
	r = &sim->faults->rules.v[0];
	ck_assert_int_eq(r->effect, FAULT_DELAY);
	ck_assert(r->chance == 0.125 && r->left == 3 && r->delay_us == 2000);
	ck_assert(r->mgmt_class == 1 && r->method == 1 && r->attr == 0x15);
	ck_assert(r->node == SIM_NONE && r->port == port_named("leaf1/P7"));
}
END_TEST

START_TEST(fault_defaults_and_inference)
{
	const struct fault_rule *r;

	GOOD("fault", "add", "drop", "--at", "leaf1");
	r = &sim->faults->rules.v[0];
	ck_assert(r->chance == 1 && r->left == UINT32_MAX && !r->mgmt_class && !r->attr);
	ck_assert(r->node == port_at("leaf1")->node && r->port == SIM_NONE);
	GOOD("fault", "add", "corrupt", "--attr", "pathrecord");	/* the class follows */
	r = &sim->faults->rules.v[1];
	ck_assert(r->mgmt_class == CLASS_SA && r->attr == 0x35);
	GOOD("fault", "add", "duplicate", "--attr", "0x35", "--class", "0x81");
	r = &sim->faults->rules.v[2];
	ck_assert(r->mgmt_class == CLASS_SM_LID && r->attr == 0x35);
}
END_TEST

START_TEST(count)
{
	GOOD("count", "leaf1/P7", "symbol-errors", "5");
	GOOD("count", "leaf1/P7", "symbol-errors", "6");
	ck_assert_uint_eq(port_at("leaf1/P7")->counters->symbol_errors, 11);
	REFUSED("count: no counter 'symbol-error': did you mean 'symbol-errors'?", "count", "leaf1/P7",
		"symbol-error", "5");
	REFUSED("count: N must be a number from 1 to 4294967295, not '0'", "count", "leaf1/P7", "rcv-errors", "0");
	GOOD("fault", "add", "damage", "--at", "leaf1/P7");
}
END_TEST

START_TEST(fault_errors)
{
	REFUSED("fault add: no effect 'dorp': did you mean 'drop'?", "fault", "add", "dorp");
	REFUSED("fault add: no attribute 'PortInof': did you mean 'PortInfo'?", "fault", "add",
		"drop", "--attr", "PortInof");
	REFUSED("fault add: no attribute 'PathRecord'", "fault", "add", "drop", "--class", "pm",
		"--attr", "PathRecord");
	REFUSED("fault add: no management class '0x100'", "fault", "add", "drop", "--class",
		"0x100");
	REFUSED("fault add: no method 'gett': did you mean 'get'?", "fault", "add", "drop",
		"--method", "gett");
	REFUSED("fault add: --chance must be from 0% to 100%, not '101%'", "fault", "add", "drop",
		"--chance", "101%");
	REFUSED("fault add: --chance must be from 0% to 100%, not 'nan'", "fault", "add", "drop",
		"--chance", "nan");
	REFUSED("fault add: --for applies to delay and reorder only", "fault", "add", "drop", "--for", "1");
	REFUSED("fault add: there is no node 'leaf7'", "fault", "add", "drop", "--at", "leaf7/P1");
	ck_assert_uint_eq(sim->faults->rules.n, 0);
}
END_TEST

START_TEST(fault_list_and_remove)
{
	json_t *rows;

	GOOD("fault", "list");
	ck_assert_str_eq(said, "none\n");
	GOOD("fault", "add", "drop", "--at", "node1/P1", "--count", "7");
	GOOD("fault", "add", "reorder", "--class", "sa");
	rows = ASK("fault", "list");
	ck_assert_uint_eq(json_array_size(rows), 2);
	ck_assert_str_eq(str(json_array_get(rows, 0), "effect"), "drop");
	ck_assert_str_eq(str(json_array_get(rows, 0), "at"), "node1/P1");
	ck_assert_int_eq(num(json_array_get(rows, 0), "left"), 7);
	ck_assert_str_eq(str(json_array_get(rows, 1), "class"), "sa");
	ck_assert(json_is_null(json_object_get(json_array_get(rows, 1), "at")));
	REFUSED("fault remove: no fault 9", "fault", "remove", "9");
	REFUSED("fault remove: ID must be a number from 1 to 4294967295, not 'al'", "fault",
		"remove", "al");
	GOOD("fault", "remove", "1");
	ck_assert_uint_eq(sim->faults->rules.n, 1);
	GOOD("fault", "remove", "all");
	GOOD("fault", "remove", "all");
	ck_assert_uint_eq(sim->faults->rules.n, 0);
}
END_TEST

START_TEST(falsehoods)
{
	const struct fault_rule *r;
	json_t *rows;

	GOOD("fault", "falsify", "ports-0", "--at", "leaf1", "--chance", "50", "--count", "3");
	r = &sim->faults->rules.v[0];
	ck_assert_int_eq(r->effect, FAULT_FALSIFY);
	ck_assert(r->mgmt_class == CLASS_SM_LID && r->method == METHOD_GET_RESP && r->attr == 0x11);
	ck_assert(r->node == port_at("leaf1")->node && r->left == 3 && r->chance == 0.5);
	GOOD("fault", "falsify", "garbage", "--share", "40%", "--spare", "node1", "--pick", "7");
	r = &sim->faults->rules.v[1];
	ck_assert(r->attr == 0 && r->node == SIM_NONE);
	rows = ASK("fault", "list");
	ck_assert_str_eq(str(json_array_get(rows, 0), "effect"), "ports-0");
	ck_assert(json_is_null(json_object_get(json_array_get(rows, 0), "nodes")));
	ck_assert_str_eq(str(json_array_get(rows, 1), "effect"), "garbage");
	/* of five nodes without node1 */
	ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(rows, 1), "nodes")), 2);
	rows = ASK("fault", "kinds");
	ck_assert_uint_ge(json_array_size(rows), 34);
	ck_assert_str_eq(str(row_with(rows, "falsehood", "ports-0"), "attribute"), "NodeInfo");
	REFUSED("fault falsify: no falsehood 'port-0': did you mean 'ports-0'?", "fault", "falsify",
		"port-0");
	REFUSED("fault falsify: --spare and --pick need --share", "fault", "falsify", "ports-0",
		"--pick", "1");
	REFUSED("fault add: --share and --at exclude each other", "fault", "add", "drop", "--share",
		"1", "--at", "leaf1");
}
END_TEST

START_TEST(shares_of_nodes)
{
	struct fault_rule few = { .effect = FAULT_DROP }, all = few;
	uint32_t node1 = port_at("node1")->node, others = 0;

	fault_share(sim->f, &few, 0.01, 1, node1);
	fault_share(sim->f, &all, 1, 1, node1);
	ck_assert(!fault_is_of(sim->f, &all, node1));
	for (uint32_t i = 0; i < sim->f->n_nodes; i++) {
		others += fault_is_of(sim->f, &few, i);
		ck_assert(i == node1 || fault_is_of(sim->f, &all, i));
	}
	ck_assert_uint_eq(others, 1);
}
END_TEST

START_TEST(loss_replaces_itself)
{
	GOOD("fault", "add", "drop", "--class", "smp", "--at", "leaf1");
	GOOD("loss", "5");
	GOOD("loss", "10%");
	ck_assert_uint_eq(sim->faults->rules.n, 2);
	ck_assert(sim->faults->rules.v[1].chance == 0.1);
	GOOD("loss", "0");
	ck_assert_uint_eq(sim->faults->rules.n, 1);
	REFUSED("loss: PERCENT must be from 0% to 100%, not '5%%'", "loss", "5%%");
}
END_TEST

START_TEST(standstill)
{
	GOOD("freeze");
	ck_assert(sim->frozen);
	ck_assert(json_is_true(json_object_get(ASK("status"), "frozen")));
	GOOD("thaw");
	ck_assert(!sim->frozen);
}
END_TEST

/* --- tables --- */

START_TEST(tables_forwarding)
{
	GOOD("lft", "leaf1", "31", "8");
	ck_assert_int_eq(sim->f->switches[0].lft[31], 8);
	GOOD("lft", "leaf1", "31", "drop");
	ck_assert_int_eq(sim->f->switches[0].lft[31], SIM_LFT_DROP);
	ck_assert_int_eq(sim->f->switches[0].lft[12], 2);
	REFUSED("lft: 'node1' is not a switch", "lft", "node1", "1", "1");
	REFUSED("lft: LID must be a number from 1 to 49151, not '49152'", "lft", "leaf1", "49152",
		"1");

	GOOD("mft", "leaf1", "0xc001", "1,7");
	ck_assert_uint_eq(sim->f->switches[0].mft[1][0], 1 << 1 | 1 << 7);
	GOOD("mft", "leaf1", "0xc001", "none");
	ck_assert_uint_eq(sim->f->switches[0].mft[1][0], 0);
	GOOD("mft", "leaf2", "0xc021", "2,17,40");
	ck_assert_uint_eq(sim->f->switches[1].mft[0x21][0], 1 << 2 | 1 << 17 | 1ULL << 40);
	REFUSED("mft: PORT must be a number from 0 to 8, not '9'", "mft", "leaf1", "0xc001", "9");
	REFUSED("mft: MLID must be a number from 49152 to 65534, not '5'", "mft", "leaf1", "5",
		"1");
}
END_TEST

START_TEST(tables_sl2vl)
{
	GOOD("sl2vl", "leaf1", "1", "7", VLS);
	ck_assert_int_eq(sl2vl_get(sim->f, 0, 1, 7, 15), 15);
	ck_assert_int_eq(sl2vl_get(sim->f, 0, 2, 7, 15), 3);
	GOOD("sl2vl", "leaf1", "all", "7", VLS);
	ck_assert_int_eq(sl2vl_get(sim->f, 0, 2, 7, 15), 15);
	ck_assert_int_eq(sl2vl_get(sim->f, 0, 2, 8, 15), 3);
	GOOD("sl2vl", "node3/P2", "all", "all", VLS);
	ck_assert_int_eq(sl2vl_get(sim->f, port_at("node3/P2")->node, 0, 2, 15), 15);
	REFUSED("sl2vl: there must be 16 VLs, not '0,1'", "sl2vl", "leaf1", "1", "7", "0,1");
	REFUSED("sl2vl: there must be 16 VLs, not '" VLS ",1'", "sl2vl", "leaf1", "1", "7",
		VLS ",1");
	REFUSED("sl2vl: a VL must be a number from 0 to 15, not '16'", "sl2vl", "leaf1", "1", "7",
		"16,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3");
	REFUSED("sl2vl: IN must be a number from 0 to 8, not '9'", "sl2vl", "leaf1", "9", "7", VLS);
}
END_TEST

START_TEST(tables_vlarb)
{
	json_t *rows;

	GOOD("vlarb", "leaf1/P7", "high", "3:64,1:0,2:4");
	GOOD("vlarb", "leaf1/P7", "low", "0:10");
	rows = ASK("show", "vlarb", "leaf1/P7");
	ck_assert_uint_eq(json_array_size(rows), 3);
	ck_assert_str_eq(str(json_array_get(rows, 1), "table"), "high");
	ck_assert_int_eq(num(json_array_get(rows, 1), "index"), 2);
	ck_assert_int_eq(num(json_array_get(rows, 1), "vl"), 2);
	ck_assert_int_eq(num(json_array_get(rows, 1), "weight"), 4);
	ck_assert_str_eq(str(json_array_get(rows, 2), "table"), "low");
	REFUSED("vlarb: 'middle' is neither high nor low", "vlarb", "leaf1/P7", "middle", "1:1");
	REFUSED("vlarb: '3' is not VL:WEIGHT", "vlarb", "leaf1/P7", "high", "3");
	REFUSED("vlarb: a weight must be a number from 0 to 255, not '256'", "vlarb", "leaf1/P7",
		"high", "3:256");
}
END_TEST

START_TEST(tables_pkey)
{
	GOOD("pkey", "node1", "3", "0x8001");
	ck_assert_int_eq(port_at("node1")->pkeys[3], 0x8001);
	ck_assert_int_eq(port_at("node1")->pkeys[0], 0xffff);
	GOOD("pkey", "leaf1/P1", "2", "0x7001");
	ck_assert_int_eq(port_at("leaf1/P1")->pkeys[2], 0x7001);
	REFUSED("pkey: P_KEY must be a number from 0 to 65535, not '0x10000'", "pkey", "node1",
		"3", "0x10000");
}
END_TEST

START_TEST(tables_portinfo)
{
	GOOD("portinfo", "leaf1/P7", "vlhighlimit", "7");
	ck_assert_str_eq(str(row_with(ASK("show", "portinfo", "leaf1/P7"), "field", "VLHighLimit"),
			     "raw"), "0x7");
	ck_assert_int_eq(port_at("leaf1/P7")->state, SIM_PORT_ACTIVE);
	REFUSED("portinfo: no field of PortInfo 'VLHighLimits': did you mean 'VLHighLimit'?",
		"portinfo", "leaf1/P7", "VLHighLimits", "7");
	REFUSED("portinfo: 256 does not fit into VLHighLimit", "portinfo", "leaf1/P7",
		"VLHighLimit", "256");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim/ctl commands");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, fabric_up, fabric_down);
	tcase_add_test(t, unknown_words_are_named);
	tcase_add_test(t, no_words_at_all);
	tcase_add_test(t, help_lists_all);
	tcase_add_test(t, names_with_control_characters);
	tcase_add_test(t, link_down_and_up);
	tcase_add_test(t, all_links_of_a_node);
	tcase_add_test(t, host_at_another_port);
	tcase_add_test(t, bounds_go_with_the_cable);
	tcase_add_test(t, cables_that_cannot_be);
	tcase_add_test(t, link_errors_say_where);
	tcase_add_test(t, link_flaps_as_often_as_told);
	tcase_add_test(t, link_degraded);
	tcase_add_test(t, node_without_power);
	tcase_add_test(t, reboot_loses_tables);
	tcase_add_test(t, node_silent);
	tcase_add_test(t, node_renamed);
	tcase_add_test(t, node_lies);
	tcase_add_test(t, keys_and_traps);
	tcase_add_test(t, fault_as_told);
	tcase_add_test(t, fault_defaults_and_inference);
	tcase_add_test(t, count);
	tcase_add_test(t, fault_errors);
	tcase_add_test(t, fault_list_and_remove);
	tcase_add_test(t, falsehoods);
	tcase_add_test(t, shares_of_nodes);
	tcase_add_test(t, loss_replaces_itself);
	tcase_add_test(t, standstill);
	tcase_add_test(t, tables_forwarding);
	tcase_add_test(t, tables_sl2vl);
	tcase_add_test(t, tables_vlarb);
	tcase_add_test(t, tables_pkey);
	tcase_add_test(t, tables_portinfo);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
