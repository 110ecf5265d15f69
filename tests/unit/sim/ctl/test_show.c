/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests commands that show something, as text and as JSON.
 *
 * promise: V6
 */
#include "fabric.h"

#include <stdlib.h>

#include "lib/base/bytes.h"
#include "sim/check/check.h"
#include "unit/run.h"
#include "unit/temp.h"

/* A packet of the SA class from node1 to a LID. */
static void send_sa(uint16_t dlid, uint8_t sl)
{
	struct packet p = {
		.from = port_named("node1"), .client = 5, .slid = 11, .dlid = dlid, .sl = sl,
		.sqpn = 1, .dqpn = 1, .qkey = 0x80010000, .pkey = 0xffff,
	};

	p.mad[MAD_BASE_VERSION] = 1;
	p.mad[MAD_CLASS] = CLASS_SA;
	p.mad[MAD_CLASS_VERSION] = 2;
	p.mad[MAD_METHOD] = METHOD_GET;
	put_be16(p.mad + MAD_ATTR, 0x35);
	put_be32(p.mad + MAD_MOD, 0x1234);
	wire_send(sim, p.from, &p);
	after(1000);
}

START_TEST(nodes)
{
	json_t *row = row_with(ASK("show", "nodes"), "description", "leaf1");

	ck_assert_str_eq(str(row, "type"), "switch");
	ck_assert_str_eq(str(row, "guid"), "0x0000000000000100");
	ck_assert_int_eq(num(row, "lid"), 1);
	ck_assert_int_eq(num(row, "ports"), 8);
	ck_assert_int_eq(num(row, "links-up"), 4);
	ck_assert_str_eq(str(row, "power"), "on");
	GOOD("show", "nodes");
	ck_assert_int_eq(strncmp(said, "type    guid ", 13), 0);
	HAS("\nca      0x0000000000001100   11      1         1  on ");
}
END_TEST

/* Its table is the widest of all. */
START_TEST(end_ports)
{
	json_t *row = row_with(ASK("show", "end-ports"), "port", "node1/P1");

	ck_assert_str_eq(str(row, "peer-state"), "active");
	GOOD("show", "end-ports");
	HAS("peer-state\n");
	HAS("  active\n");
}
END_TEST

/* Longer in words than libibmad's own buffers: it does not look at the size that it is given. */
START_TEST(every_capability)
{
	uint8_t *info = sim->f->ports[port_named("node1")].info;
	json_t *row;

	put_be32(info + 20, 0xffffffff);
	put_be16(info + 60, 0xffff);
	row = row_with(ASK("show", "portinfo", "node1"), "field", "CapMask");
	ck_assert_str_eq(str(row, "raw"), "0xffffffff");
	ck_assert_ptr_null(strchr(str(row, "value"), '\n'));
	GOOD("show", "portinfo", "node1");
}
END_TEST

START_TEST(links)
{
	json_t *rows = ASK("show", "links"), *row;

	ck_assert_uint_eq(json_array_size(rows), 6);
	rows = ASK("show", "links", "leaf2");
	ck_assert_uint_eq(json_array_size(rows), 4);
	row = row_with(rows, "port", "leaf2/P1");
	ck_assert_str_eq(str(row, "peer"), "node3/P1");
	ck_assert_str_eq(str(row, "state"), "active");
	ck_assert_str_eq(str(row, "cable"), "plugged");
	GOOD("link", "down", "leaf2/P1");
	row = row_with(ASK("show", "links"), "cable", "unplugged");
	ck_assert(json_is_null(json_object_get(row, "link")));
	ck_assert_str_eq(str(row, "state"), "down");
	REFUSED("show links: there is no node 'x'", "show", "links", "x");
}
END_TEST

START_TEST(port)
{
	json_t *o = ASK("show", "port", "leaf1/P7");

	ck_assert_str_eq(str(o, "port"), "leaf1/P7");
	ck_assert_str_eq(str(o, "peer"), "leaf2/P7");
	ck_assert_str_eq(str(o, "state"), "active");
	ck_assert_str_eq(str(o, "physical-state"), "LinkUp");
	ck_assert_int_eq(num(o, "vls"), 4);
	o = ASK("show", "port", "leaf1/P5");
	ck_assert_str_eq(str(o, "cable"), "none");
	ck_assert(json_is_null(json_object_get(o, "peer")));
	GOOD("show", "port", "node3/P2");
	HAS("\nlid               32\n");
	REFUSED("show port: 'node1' has no port 0", "show", "port", "node1/P0");
}
END_TEST

START_TEST(forwarding)
{
	json_t *row;

	row = row_with(ASK("show", "lft", "leaf1"), "to", "node2/P1");
	ck_assert_int_eq(num(row, "lid"), 12);
	ck_assert_int_eq(num(row, "port"), 2);
	ck_assert_uint_eq(json_array_size(ASK("show", "lft", "leaf2")), 6);
	GOOD("lft", "leaf1", "12", "200");
	GOOD("show", "lft", "leaf1");
	HAS(" 12   200  -\n");
	GOOD("mft", "leaf2", "0xc000", "1,2,7");
	row = json_array_get(ASK("show", "mft", "leaf2"), 0);
	ck_assert_str_eq(str(row, "mlid"), "0xc000");
	ck_assert_int_eq((int)json_integer_value(
				 json_array_get(json_object_get(row, "ports"), 2)), 7);
	GOOD("show", "mft", "leaf1");
	ck_assert_str_eq(said, "none\n");
	REFUSED("show lft: 'node1' is not a switch", "show", "lft", "node1");
}
END_TEST

START_TEST(sl2vl)
{
	ck_assert_uint_eq(json_array_size(ASK("show", "sl2vl", "leaf1")), 81);
	ck_assert_uint_eq(json_array_size(ASK("show", "sl2vl", "leaf1/P7")), 9);
	GOOD("show", "sl2vl", "leaf1", "1", "7");
	ck_assert_str_eq(said, "in  out  vls\n"
			       " 1    7  0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3\n");
	GOOD("show", "sl2vl", "node3/P2");
	HAS(" 0    2  0,1,2,3,");
	REFUSED("show sl2vl: IN without OUT", "show", "sl2vl", "leaf1", "1");
	REFUSED("show sl2vl: OUT must be a number from 0 to 8, not '12'", "show", "sl2vl",
		"leaf1", "1", "12");
}
END_TEST

START_TEST(pkeys)
{
	json_t *rows;

	GOOD("pkey", "node1", "4", "0x0abc");
	rows = ASK("show", "pkeys", "node1");
	ck_assert_uint_eq(json_array_size(rows), 2);
	ck_assert_str_eq(str(json_array_get(rows, 0), "pkey"), "0xffff");
	ck_assert_str_eq(str(json_array_get(rows, 1), "member"), "limited");
}
END_TEST

START_TEST(counters)
{
	json_t *o;

	send_sa(31, 2);
	o = ASK("show", "counters", "leaf1/P7");
	ck_assert_int_eq(num(o, "xmit-packets"), 1);
	ck_assert_int_eq(num(json_array_get(json_object_get(o, "by-vl"), 0), "vl"), 2);
	GOOD("show", "counters", "leaf1/P5");
	HAS("xmit-discards               0\n");
}
END_TEST

START_TEST(lost_packets)
{
	json_t *o, *last;

	GOOD("lft", "leaf1", "31", "drop");
	send_sa(31, 0);
	GOOD("sl2vl", "node1", "all", "all", "15,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3");
	send_sa(32, 0);
	o = ASK("drops");
	ck_assert_int_eq(num(o, "total"), 2);
	ck_assert_int_eq(num(row_with(json_object_get(o, "reasons"), "reason", "no-route"),
			     "count"), 1);
	last = json_array_get(json_object_get(o, "last"), 0);
	ck_assert_str_eq(str(last, "reason"), "no-route");
	ck_assert_str_eq(str(last, "class"), "sa");
	ck_assert_str_eq(str(last, "attribute"), "PathRecord");
	ck_assert_str_eq(str(last, "method"), "get");
	ck_assert_str_eq(str(last, "modifier"), "0x00001234");
	ck_assert_str_eq(str(last, "from"), "node1/P1");
	ck_assert_int_eq(num(last, "dlid"), 31);
	last = json_array_get(json_object_get(ASK("drops", "--last", "1"), "last"), 0);
	ck_assert_str_eq(str(last, "reason"), "vl15");
	wire_drop(sim, 1, &(struct packet){ .from = 1 }, DROP_MTU);	/* no MAD */
	last = json_array_get(json_object_get(ASK("drops", "--last", "1"), "last"), 0);
	ck_assert(json_is_null(json_object_get(last, "class")));
	ck_assert(json_is_null(json_object_get(last, "modifier")));
	o = ASK("drops", "--reason", "vl15", "--reset");
	ck_assert_uint_eq(json_array_size(json_object_get(o, "last")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(o, "reasons")), 1);
	GOOD("drops");
	HAS("total    0\n");
	REFUSED("drops: no reason 'no-rout': did you mean 'no-route'?", "drops", "--reason",
		"no-rout");
}
END_TEST

/* More than are kept: the ring has the newest, oldest first. */
START_TEST(more_lost_than_kept)
{
	struct packet p = { .from = port_named("node1") };
	json_t *last;

	p.mad[MAD_CLASS] = CLASS_SA;
	for (unsigned i = 0; i < DROPS_KEPT + 100; i++) {
		put_be32(p.mad + MAD_MOD, i);
		wire_drop(sim, p.from, &p, DROP_QUEUE);
	}
	last = json_object_get(ASK("drops", "--last", "1024"), "last");
	ck_assert_uint_eq(json_array_size(last), DROPS_KEPT);
	ck_assert_str_eq(str(json_array_get(last, 0), "modifier"), "0x00000064");
	ck_assert_str_eq(str(json_array_get(last, DROPS_KEPT - 1), "modifier"), "0x00000463");
	wire_drop(sim, p.from, &p, DROP_FAULT);
	last = json_object_get(ASK("drops", "--reason", "fault"), "last");
	ck_assert_uint_eq(json_array_size(last), 1);
}
END_TEST

START_TEST(statistics)
{
	uint8_t set[SIM_MAD_SIZE] = { 1, CLASS_SM_DR, 1, METHOD_SET };
	uint8_t get[SIM_MAD_SIZE] = { 1, CLASS_SA, 2, METHOD_GET };
	json_t *o, *row;

	put_be16(set + MAD_ATTR, 0x15);
	put_be16(get + MAD_ATTR, 0x35);
	GOOD("stats", "--reset");
	stats_client(sim->stats, 5, "qosd[77] at node1");
	stats_sent(sim->stats, 5, set, 1500000);
	stats_idle_set(sim->stats, 5, set);
	stats_sent(sim->stats, 5, get, 2500000);
	stats_sent(sim->stats, 5, get, 2750000);
	o = ASK("stats");
	ck_assert_int_eq(num(o, "total"), 3);
	row = row_with(json_object_get(o, "mads"), "attribute", "PortInfo");
	ck_assert_str_eq(str(row, "class"), "smp");
	ck_assert_str_eq(str(row, "method"), "set");
	ck_assert_int_eq(num(row, "unchanged"), 1);
	o = ASK("stats", "--client");
	row = row_with(json_object_get(o, "mads"), "attribute", "PathRecord");
	ck_assert_str_eq(str(row, "client"), "qosd[77] at node1");
	ck_assert_int_eq(num(row, "count"), 2);
	GOOD("stats");
	HAS("2.500000  2.750000\n");
	ck_assert_str_eq(str(json_array_get(json_object_get(ASK("status"), "clients"), 0),
			     "client"), "qosd[77] at node1");
	GOOD("stats", "--reset");
	ck_assert_int_eq(num(ASK("stats"), "total"), 0);
}
END_TEST

START_TEST(status)
{
	json_t *o = ASK("status");

	ck_assert_int_eq(num(json_object_get(o, "nodes"), "switches"), 2);
	ck_assert_int_eq(num(json_object_get(o, "nodes"), "cas"), 3);
	ck_assert_int_eq(num(json_object_get(o, "ports"), "active"), 12);
	ck_assert_int_eq(num(o, "time"), 2);
	GOOD("link", "down", "leaf1/P7");
	GOOD("status");
	HAS("ports   active 10, armed 0, init 0, down 2, unplugged 2, taken-down 0\n");
}
END_TEST

START_TEST(path)
{
	json_t *o = ASK("path", "node1", "node3/P2", "6"), *hop;

	ck_assert_int_eq(num(o, "dlid"), 32);
	ck_assert_uint_eq(json_array_size(json_object_get(o, "hops")), 3);
	hop = json_array_get(json_object_get(o, "hops"), 1);
	ck_assert_str_eq(str(hop, "from"), "leaf1/P7");
	ck_assert_str_eq(str(hop, "to"), "leaf2/P7");
	ck_assert_int_eq(num(hop, "vl"), 2);
	ck_assert(json_is_null(json_object_get(o, "lost")));
	GOOD("path", "node1", "node3/P2", "6");
	HAS("leaf1/P7 -> leaf2/P7 VL 2\n");
	GOOD("lft", "leaf2", "32", "drop");
	GOOD("path", "node1", "node3/P2");
	HAS("no LFT entry");
	ck_assert_str_eq(str(ASK("path", "node1", "node3/P2"), "lost"), "leaf2/P0: no LFT entry");
	REFUSED("path: 'leaf1/P7' is a switch's external port: no path ends there", "path",
		"leaf1/P7", "node1");
	REFUSED("path: SL must be a number from 0 to 15, not '16'", "path", "node1", "node2", "16");
	GOOD("node", "reboot", "node2");
	REFUSED("path: 'node2' has no LID", "path", "node1", "node2");
}
END_TEST

START_TEST(check)
{
	json_t *o;

	ck_assert_msg(RUN("check", "--sl", "0,1,2,3") == 0, "%s", said);
	o = ASK("check", "--sl", "0,1,2,3");
	ck_assert(json_is_true(json_object_get(o, "clean")));
	ck_assert_int_eq(num(o, "end-ports"), 4);
	ck_assert_int_eq(num(o, "links-active"), 6);
	GOOD("lft", "leaf2", "31", "2");
	ck_assert_int_eq(RUN("check"), 1);
	HAS("leaf2");
	ck_assert_int_eq(RUN("check", "--max", "0"), 1);
	REFUSED("check: --sl must be a number from 0 to 15, not '16'", "check", "--sl", "3,16");
}
END_TEST

START_TEST(check_by_pair)
{
	struct buf text = { 0 }, why = { 0 };
	char *file;
	json_t *o;

	buf_printf(&text, "Channel Adapter 0x%016jx, base LID 11, \"node1\"\n0x000c : 2\n",
		   (uintmax_t)port_at("node1")->guid);
	file = temp_file(text.s, text.n);
	o = ASK("check", "--path-sls", file);
	ck_assert(json_is_true(json_object_get(o, "clean")));
	ck_assert(json_is_true(json_object_get(o, "sls-by-pair")));
	ck_assert_int_eq(num(o, "pairs"), 1);
	ck_assert_int_eq(num(o, "connected"), 1);
	ck_assert_int_eq(num(o, "pairs-without-sl"), 11);
	ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(o, "sls"), 0)), 2);
	GOOD("sl2vl", "leaf1", "1", "2", "0,1,15,3,0,1,2,3,0,1,2,3,0,1,2,3");
	ck_assert_int_eq(RUN("check", "--path-sls", file), 1);
	HAS("leaf1/P2 from P1: SL 2 dropped by VL15");
	unlink(file);
	buf_printf(&why, "check: %s: cannot be opened: No such file or directory", file);
	REFUSED(why.s, "check", "--path-sls", file);
	free(file);
	file = temp_file("0x000c : 2\n", 11);
	buf_free(&why);
	buf_printf(&why, "check: %s:1: no source is named before this line", file);
	REFUSED(why.s, "check", "--path-sls", file);
	unlink(file);
	free(file);
	buf_free(&text);
	buf_free(&why);
}
END_TEST

START_TEST(check_as_json)
{
	char *argv[] = { (char[]){ "check" } };
	struct buf out = { 0 };
	json_t *o;

	GOOD("lft", "leaf2", "31", "drop");
	ck_assert_int_eq(ctl_run(sim, 1, argv, true, &out), 1);
	o = json_loads(out.s, 0, NULL);
	ck_assert(json_is_false(json_object_get(o, "clean")));
	ck_assert_int_gt(num(json_object_get(o, "count"), audit_kind_name(AUDIT_UNREACHABLE)), 0);
	ck_assert_uint_gt(json_array_size(json_object_get(o, "findings")), 0);
	ck_assert_str_eq(str(json_array_get(json_object_get(o, "findings"), 0), "severity"),
			 "fault");
	ck_assert_int_eq(num(o, "notes"), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(o, "sls")), 16);
	ck_assert_uint_eq(json_array_size(json_object_get(o, "sls-partial")), 0);
	json_decref(o);
	buf_free(&out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim/ctl show");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, fabric_up, fabric_down);
	tcase_add_test(t, nodes);
	tcase_add_test(t, end_ports);
	tcase_add_test(t, every_capability);
	tcase_add_test(t, links);
	tcase_add_test(t, port);
	tcase_add_test(t, forwarding);
	tcase_add_test(t, sl2vl);
	tcase_add_test(t, pkeys);
	tcase_add_test(t, counters);
	tcase_add_test(t, lost_packets);
	tcase_add_test(t, more_lost_than_kept);
	tcase_add_test(t, statistics);
	tcase_add_test(t, status);
	tcase_add_test(t, path);
	tcase_add_test(t, check);
	tcase_add_test(t, check_by_pair);
	tcase_add_test(t, check_as_json);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
