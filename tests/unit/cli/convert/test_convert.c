/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the conversion of single constructs of each source format to a policy, and the
 * messages.  Whole files are in tests/golden/convert.
 *
 * promise: O8
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "unit/cli/convert/converting.h"
#include "unit/run.h"

/* This line of qos-ulps must become this rule. */
static void check_ulp(const char *line, const char *rule)
{
	char text[200];

	snprintf(text, sizeof(text), "qos-ulps\ndefault: 0\n%s\nend-qos-ulps\n", line);
	convert(FORMAT_QOS_POLICY, text);
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, rule);
}

START_TEST(ulps)
{
	check_ulp("sdp: 3", "  - level: sl-3\n    ulp: sdp\n");
	check_ulp("SDP, port-num 1-5 ,\n 7 : 3", "    ulp: sdp\n    tcp-port: [1-5, 7]\n");
	check_ulp("rds:15", "  - level: sl-15\n    ulp: rds\n    tcp-port: [18634]\n");
	check_ulp("rds, port-num 16385: 1", "    ulp: rds\n    tcp-port: [16385]\n");
	check_ulp("iser: 1", "  - level: sl-1\n    ulp: iser\n");
	check_ulp("ipoib: 1", "  - level: sl-1\n    ulp: ipoib\n    pkey: [0x7fff]\n");
	check_ulp("iser, port-num 0x384: 0", "    ulp: iser\n    tcp-port: [900]\n");
	check_ulp("srp, target-port-guid 0x12: 1",
		  "    ulp: srp\n    target-guid: [0x0000000000000012]\n");
	check_ulp("ipoib, pkey 0x8001: 1", "    ulp: ipoib\n    pkey: [0x0001]\n");
	check_ulp("any, service-id 0x10000-0x1ffff: 1", "    service-id: [0x10000-0x1ffff]\n");
	check_ulp("any, pkey 2: 1", "  - level: sl-1\n    pkey: [0x0002]\n");
	check_ulp("any, target-port-guid 5: 1", "  - level: sl-1\n    target-guid: [0x");
	check_ulp("any, source-port-guid 5: 1", "    source: [sources-of-line-3]\n");
	ck_has(yaml, "  sources-of-line-3:\n");
	ck_has(said, "f:3:1: same: any, source-port-guid 5: 1\n");
	check_ulp("any, source-target-port-guid 5: 1", "    either: [ends-of-line-3]\n");
	ck_has(said, "f:3:1: otherwise: source-target-port-guid: OpenSM's manual says source or");
}
END_TEST

/* A level, and OpenSM's default level. */
START_TEST(default_level)
{
	static const char *const level =
		"qos-levels\nqos-level\nname: DeFault\nsl: 4\nend-qos-level\nend-qos-levels\n";
	struct buf both = { 0 };

	convert(FORMAT_QOS_POLICY, level);
	ck_has(yaml, "  default:\n    sl: 4\n");
	convert(FORMAT_QOS_POLICY, "qos-ulps\nDEFAULT : 7\nend-qos-ulps\n");
	ck_has(yaml, "  default:\n    sl: 7\n");
	buf_printf(&both, "%sqos-ulps\ndefault : 7\nend-qos-ulps\n", level);
	convert(FORMAT_QOS_POLICY, both.s);
	ck_has(yaml, "  default:\n    sl: 4\n");
	ck_has(said, "not needed: OpenSM ignores 'default'");
	buf_free(&both);
	convert(FORMAT_QOS_POLICY, "qos-levels\nend-qos-levels\n");
	ck_assert(ok);
	ck_has(said, "otherwise: there is neither a level DEFAULT nor");
}
END_TEST

static void check_level(const char *item, const char *line)
{
	char text[200];

	snprintf(text, sizeof(text), "qos-levels\nqos-level\nname: DEFAULT\nsl: 0\n%s\n"
		 "end-qos-level\nend-qos-levels\n", item);
	convert(FORMAT_QOS_POLICY, text);
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, line);
}

START_TEST(levels)
{
	check_level("mtu-limit: 1", "    mtu-limit: 256\n");
	check_level("mtu-limit: 5", "    mtu-limit: 4096\n");
	check_level("rate-limit: 2", "    rate-limit: 2.5\t");
	check_level("rate-limit: 0x18", "    rate-limit: 1200\t");
	check_level("packet-life: 022", "    packet-lifetime: iba:18\t");
	check_level("pkey: 0x8003-0x8001", "    pkey: [0x0001-0x0003]\n");
	check_level("path-bits: 3", "    path-bits: 3\n");
	ck_has(said, "f:5:1: otherwise: OpenSM reads path-bits but does not use them");
	check_level("use: a \"b, #\" c # d", "    description: \"a b, # c\"\n");
}
END_TEST

/* Rules keep their order, simple rules follow; names are compared without case and blanks. */
START_TEST(rules)
{
	convert(FORMAT_QOS_POLICY,
		"qos-ulps\nsdp: 1\nend-qos-ulps\n"
		"port-groups\nport-group\nname: My Group\nnode-type: self, hca\nend-port-group\n"
		"end-port-groups\n"
		"qos-match-rules\nqos-match-rule\nsource: MYGROUP\ndestination: my group\n"
		"qos-class: 1,\n 5-3\nqos-level-name: dEFAULT\nend-qos-match-rule\n"
		"end-qos-match-rules\nqos-levels\nqos-level\nname: default\nsl: 2\nend-qos-level\n"
		"end-qos-levels\n");
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, "  \"My Group\":\n    node-types: [ca, aggregation, self]\n");
	ck_has(yaml, "  - level: default\n    source: [\"My Group\"]\n"
		     "    destination: [\"My Group\"]\n    qos-class: [1, 3-5]\n");
	ck_assert(strstr(yaml.s, "- level: default") < strstr(yaml.s, "- level: sl-1"));
	ck_has(said, "f:15:2: same: the range 5-3 is reversed");
}
END_TEST

START_TEST(scopes)
{
	convert(FORMAT_QOS_POLICY,
		"port-groups\nport-group\nname: a\nend-port-group\nport-group\nname: b\n"
		"end-port-group\nend-port-groups\nqos-setup\nsl2vl-tables\nsl2vl-scope\n"
		"group: a, b\nacross: b\nfrom: *\nto: 1, # c\n2-3\n"
		"sl2vl-table: 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,0xf\nend-sl2vl-scope\n"
		"end-sl2vl-tables\nvlarb-tables\nvlarb-scope\nacross: a\nvlarb-high: 0:1,\n1:2\n"
		"vl-high-limit: 255\nend-vlarb-scope\nend-vlarb-tables\nend-qos-setup\n");
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, "    - group: a\n      from: \"*\"\n      to: [1, 2-3]\n"
		     "      table: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]\n"
		     "    - group: b\n");
	ck_has(yaml, "    - across: b\n      from: \"*\"\n");
	ck_has(yaml, "    - across: a\n      high: [\"0:1\", \"1:2\"]\n      high-limit: 255\n");
	ck_has(yaml, "  unsupported-vl: fold\n");
	ck_has(said, "f:11:1: otherwise: OpenSM reads qos-setup but does not apply it");
}
END_TEST

/* Sections that are not closed, or closed at a wrong place, hide nothing that follows. */
START_TEST(recovery)
{
	convert(FORMAT_QOS_POLICY,
		"qos-levels\nqos-level\nname: a\nsl: 16\n"
		"qos-match-rules\nqos-match-rule\nqos-level-name: b\nend-qos-level\n"
		"sl2vl-scope\nend-port-groups\nfrob: 1\nfrob\n");
	ck_assert(!ok);
	ck_has(said, "f:1:1: error: 'qos-levels' has no 'end-qos-levels' before 'qos-match-rules' "
		     "in line 5\n");
	ck_has(said, "f:2:1: error: 'qos-level' has no 'end-qos-level'");
	ck_has(said, "f:4:5: error: sl: 16 is out of range");
	ck_has(said, "f:7:17: error: there is no qos-level 'b'");
	ck_has(said, "f:8:1: error: 'end-qos-level', but no 'qos-level' is open");
	ck_has(said, "f:9:1: error: 'sl2vl-scope' outside of 'sl2vl-tables'");
	ck_has(said, "f:10:1: error: 'end-port-groups', but");
	ck_has(said, "f:11:1: error: 'sl2vl-scope' has no 'frob'");
	ck_has(said, "f:12:1: error: 'frob' is not a keyword");
}
END_TEST

static void check_members(const char *body, const char *members)
{
	char text[200];

	snprintf(text, sizeof(text), "P=1 : %s;", body);
	convert(FORMAT_PARTITIONS, text);
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, members);
}

START_TEST(members)
{
	check_members("0x5", "    members:\n      0x0000000000000005: limited\n    ipoib");
	check_members("ALL, 0x5=full", "      all: limited\n      0x0000000000000005: full\n");
	/* the last one holds, in qosd as in OpenSM */
	check_members("0x5=full, ALL, 0x5", "    members:\n      all: limited\n"
		      "      0x0000000000000005: limited\n    ipoib");
	check_members("0x5=limited, ALL=full", "    members:\n"
		      "      0x0000000000000005: limited\n      all: full\n    ipoib");
	check_members("ALL_ROUTERS=full", "      all-routers: full\n");
	ck_has(yaml, "  all-routers:\n    node-types: [router]\n");
	check_members("SELF=f, 7=unknown", "      self: full\n      0x0000000000000007: limited\n");
	ck_has(said, "same: 'unknown' is not a membership");
	check_members("ALL=full, 0x8000000000000100", "      all: full\n      0x8000000000000100: ");
	check_members("", "    pkey: 0x0001\n    # no members\n");
	/* the same with allow_both_pkeys */
	const struct convert_input in[] = {
		{ "o", "allow_both_pkeys TRUE", 21, FORMAT_OPENSM_CONF },
		{ "f", "P=1: 5=both, ALL;", 17, FORMAT_PARTITIONS },
	};
	convert_inputs(in, 2);
	ck_has(yaml, "      0x0000000000000005: both\n      all: limited\n");
	ck_has_not(said, "members are");
}
END_TEST

START_TEST(partition_definitions)
{
	convert(FORMAT_PARTITIONS,
		"A: ALL;\n\nB = 0x8002, ipoib, sl=3, mtu=5, rate=16, defmember=full:\n 0x1;"
		"C:;A:0x2;");
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, "  A:\n    pkey: 0x0001\n    members:\n      all: limited\n"
		     "      0x0000000000000002: limited\n    ipoib: false\n");
	ck_has(yaml, "  B:\n    pkey: 0x0002\n    members:\n      0x0000000000000001: full\n"
		     "    level: sl-3\n    ipoib: {level: ipoib-sl-3-mtu-4096-rate-100}\n");
	ck_has(yaml, "  ipoib-sl-3-mtu-4096-rate-100:\n    sl: 3\n    mtu-limit: 4096\n"
		     "    rate-limit: 100\t");
	/* P_Key 2 belongs to B */
	ck_has(yaml, "  C:\n    pkey: 0x0003\n");
	ck_has(said, "f:1:1: otherwise: P_Key 0x0001, as OpenSM generates it");
	/* OpenSM adds this partition */
	ck_has(yaml, "  Default:\n    pkey: 0x7fff\n    members:\n      all: limited\n"
		     "      self: full\n    ipoib: false\n");
	ck_has(said, "f: same: no rule for the default partition");
	convert(FORMAT_PARTITIONS, "X=0x7fff, ipoib: ALL=full;");
	ck_has(yaml, "    members:\n      self: full\n      all: full\n"
		     "    ipoib: {level: ipoib-sl-0-mtu-2048-rate-10}\n");
	ck_has_not(said, "no rule");
	convert(FORMAT_PARTITIONS, "A=1,\n ipoib : ALL;");
	ck_assert(!ok);
	ck_has(said, "f:1:1: error: OpenSM wants 'name = P_Key, flags :' on one line");
}
END_TEST

/* Flags by OpenSM's order of keywords, each with a verdict. */
START_TEST(partition_flags)
{
	convert(FORMAT_PARTITIONS,
		"A=1, ipo, r=7, m=5, s=4, T=300, Q=9, F=1, sl=2, defm=b, indx0, sl=77, =4, x: ALL;");
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, "      all: both\n    level: sl-2\n"
		     "    ipoib: {level: ipoib-sl-2-mtu-2048-rate-40, q-key: 0x9, flow-label: 0x1}\n");
	ck_has(yaml, "    tclass: 44\n");
	ck_has(said, "f:1:6: same: ipo: OpenSM reads it as ipoib: ");
	ck_has(said, "f:1:11: same: r=7: OpenSM reads it as rate: 40 Gb/s\n");
	ck_has(said, "f:1:21: same: s=4: OpenSM reads it as scope: ");
	ck_has(said, "f:1:26: same: T=300: OpenSM takes it modulo 256, 44\n");
	ck_has(said, "f:1:49: same: defm=b: OpenSM reads it as defmember: ");
	ck_has(said, "f:1:57: not possible: indx0: ports keep");
	ck_has(said, "f:1:64: not needed: sl=77: OpenSM skips");
	ck_has(said, "f:1:71: same: =4: OpenSM reads it as mtu: 2048 bytes\n");
	ck_has(said, "f:1:75: not needed: x: no flag");
	convert(FORMAT_PARTITIONS, "A=1, scope=15: ALL;");
	ck_has(said, "f:1:6: not possible: scope=15: IBA reserves");
	convert(FORMAT_PARTITIONS, "A=1, ipoib: NONE;");
	ck_has(yaml, "    # no members\n    ipoib: false\n");
}
END_TEST

/* What OpenSM makes of each line was seen with OpenSM (tests/e2e/sim-opensm-files.sh). */
START_TEST(multicast_groups)
{
	convert(FORMAT_PARTITIONS,
		"A=1, ipoib, sl=2, TClass=4, scope=3, FlowLabel=5 : ALL\n"
		"mgid=ff12:401b::16, scope=2, Q_Key=7\nmgid=ff12:401b:8009::17, sl=1\n"
		"mgid=ff12:401b::18, mtu=1\nmgid=ff15:77::1, mtu=1, rate=2, TClass=1, FlowLabel=0\n"
		"mgid=ff12:77::2, scope=2, x=1, sl=3\nmgid=ff12:77::2, scope=2\nmgid=ff32:77::4, sl=1\n"
		"mgid=77::5, sl=1\nmgid=ff12:401b::19, sl=1\nmgid=ff13:88::1;");
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, "    ipoib: {level: ipoib-sl-2-mtu-2048-rate-10, flow-label: 0x5}\n    groups:\n"
		"      - {mgid: \"ff12:401b:8001::16\", level: ipoib-sl-2-mtu-2048-rate-10-2, q-key: 0x7, "
		"flow-label: 0x5}\n      - {mgid: \"ff13:77::1\", level: \"group-sl-2-mtu-256-rate-2.5\"}\n"
		"      - {mgid: \"ff12:77::2\", level: group-sl-3-mtu-2048-rate-10, flow-label: 0x5}\n"
		"      - {mgid: \"ff13:77::2\", level: group-sl-3-mtu-2048-rate-10, flow-label: 0x5}\n");
	ck_has(said, "f:2:1: not needed: ff13:401b:8001::16: OpenSM does not make");
}
END_TEST

START_TEST(merged)
{
	static const char policy[] =
		"port-groups\nport-group\nname: g\npartition: P, Q\nend-port-group\n"
		"end-port-groups\nqos-ulps\ndefault: 0\nend-qos-ulps\n";
	struct convert_input in[] = {
		{ "q", policy, sizeof(policy) - 1, FORMAT_UNKNOWN },
		{ "p", "P=1: ALL;", 9, FORMAT_UNKNOWN },
		{ "r", "* 0x1", 5, FORMAT_UNKNOWN },
	};

	convert_inputs(in, 3);
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, "    partitions: [P]\n");
	ck_has(said, "q:4:15: not needed: omitted the partition 'Q'");
	ck_has(said, "r:1:1: same: prefix-routes in qosd.yaml: {prefix: any");
	convert_inputs(in, 1);
	ck_has(yaml, "  g: {}\n");
	/* one of each */
	in[1] = in[0];
	convert_inputs(in, 2);
	ck_assert(!ok);
	ck_has(said, "a second file of format qos-policy");
}
END_TEST

START_TEST(xml_words)
{
	convert(FORMAT_XML,
		"<qos-policy><qos_levels><qos-level><sn>low</sn><sl>1</sl><tclass>8</tclass>"
		"<rate_limit>3</rate_limit></qos-level></qos_levels><qos-match-rules>"
		"<qos_match_rule><tclass>7-9,11</tclass><service>22,\n 5-6</service>"
		"<match_level>LOW</match_level></qos_match_rule></qos-match-rules></qos-policy>");
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, "  low:\n    sl: 1\n    rate-limit: 10\t# Gb/s\n    tclass: 8\n");
	ck_has(yaml, "  - level: low\n    service-id: [22, 5-6]\n    tclass: [7-9, 11]\n");
	/* only words of the other format */
	convert(FORMAT_XML, "<qos-policy><qos-ulps>x</qos-ulps></qos-policy>");
	ck_assert(!ok);
	convert(FORMAT_QOS_POLICY,
		"qos-levels\nqos-level\nsn: 1\nsl: 0\nend-qos-level\nend-qos-levels");
	ck_has(said, "f:3:1: error: 'qos-level' has no 'sn'");
}
END_TEST

/* The two words before the port are the beginning of the NodeDescription. */
START_TEST(xml_port_names_and_sl)
{
	static const char *const names[] = { "vs1/HCA-1/P2", "vs1 HCA-1 P2", "vs1 HCA-1 port 2" };
	char text[500];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(text, sizeof(text), "<qos-policy><port-groups><port-group><name>g</name>\n"
			 "<port-name>%s</port-name></port-group></port-groups></qos-policy>", names[i]);
		convert(FORMAT_XML, text);
		ck_assert_msg(ok, "%s", said.s);
		ck_has(yaml, "    port-names: [\"vs1 HCA-1/P2\", \"vs1 HCA-1 */P2\"]\n");
		ck_has(said, "f:2:12: same: 'vs1");
	}
	convert(FORMAT_XML, "<qos-policy><port-groups><port-group><name>g</name>"
		"<port-name>leaf/P7</port-name><port-name>a/b/c</port-name></port-group></port-groups></qos-policy>");
	ck_has(said, "error: 'a/b/c' is not a port name");
	convert(FORMAT_XML, "<qos-policy><qos-levels><qos-level><sn>1</sn><sl>0</sl></qos-level></qos-levels>"
		"<qos-match-rules><qos-match-rule><sl>3-4,9</sl><match-level>1</match-level></qos-match-rule>"
		"</qos-match-rules></qos-policy>");
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, "    sl: [3-4, 9]\n");
	ck_has(said, "same: sl: 3-4,9\n");
}
END_TEST

START_TEST(templates)
{
	static const struct { enum convert_format format; const char *text, *error; } cases[] = {
		{ FORMAT_PARTITIONS, "Default=0x7fff : ALL=full ;\n{% for p in parts %}\nP : ALL;",
		  "f:2:1: error: '{% for p in parts %}' is a place holder" },
		{ FORMAT_PARTITIONS, "Default=0x7fff : ${MEMBERS} ;", "f:1:18: error: '${MEMBERS}' is" },
		{ FORMAT_QOS_POLICY, "qos-ulps\ndefault: @DEFAULT_SL@\nend-qos-ulps", "f:2:10: error: '@DEFAULT_SL@'" },
		{ FORMAT_XML, "<qos-policy><!-- {{ no }} --><% if x %></qos-policy>", "f:1:30: error: '<% if x %>'" },
		{ FORMAT_UNKNOWN, "# ${no}\n{{ all }}", "f:2:1: error: '{{ all }}'" },
		{ FORMAT_OPENSM_CONF, "qos {{ qos }}\n", "f:1:5: error: '{{ qos }}'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		convert(cases[i].format, cases[i].text);
		ck_has(said, cases[i].error);
		ck_assert_ptr_null(strstr(strstr(said.s, "error: ") + 1, "error: "));
	}
	convert(FORMAT_QOS_POLICY, "port-groups\nport-group\nname: a@b@c $x {y}\nend-port-group\n"
		"end-port-groups # ${c}\nqos-ulps\ndefault: 0\nend-qos-ulps");
	ck_assert_msg(ok, "%s", said.s);
}
END_TEST

/* One run reports all structural defects, each at its place. */
START_TEST(xml_structure)
{
	convert(FORMAT_XML,
		"<qos-policy>\n <!\xe2\x80\x94- a -->\n <qos-setup>\n"
		"  <sl2vl-tables>\n  <sl2vl-tables>\n"
		" </qos-setup>\n <qos-levels>\n  <qos-level><sn>1</sn><sl>0</sl>"
		"<mtu_limit>1</mtl_limit></qos-level>\n  <qos-level><sn>2</sn><sl>x</sl>\n"
		" </qos-levels>\n</qos-policy>\n");
	ck_assert(!ok);
	ck_has(said, "f:2:2: error: a comment begins with '<!--' (two hyphens), "
		     "not with '<!\xe2\x80\x94-'\n");
	ck_has(said, "f:5:3: error: <sl2vl-tables> within the <sl2vl-tables> of line 4");
	ck_has(said, "f:8:46: error: </mtl_limit> does not end the <mtu_limit> of line 8");
	ck_has(said, "f:9:3: error: <qos-level> has no end before the </qos-levels> of line 10");
	ck_has(said, "f:9:28: error: sl: 'x' is not a number");
	ck_has_not(said, "XML:");
}
END_TEST

START_TEST(xml_hostile)
{
	struct buf deep = { 0 };

	convert(FORMAT_XML, "<!DOCTYPE a [<!ENTITY b SYSTEM '/etc/passwd'>]>"
		"<qos-policy>&b;</qos-policy>");
	ck_assert(!ok);
	ck_has(said, "f:1:1: error: a policy cannot have a document type");
	convert(FORMAT_XML, "<qos-policy>&b;</qos-policy>");
	ck_assert(!ok);
	ck_has(said, "Entity 'b' not defined");
	for (int i = 0; i < 10000; i++)
		buf_printf(&deep, "<a%d>", i);
	convert(FORMAT_XML, deep.s);
	ck_assert(!ok);
	ck_has(said, "nested more than 32 deep");
	buf_free(&deep);
	/* a section within elements with long names */
	deep = (struct buf){ 0 };
	for (int i = 0; i < 30; i++)
		buf_printf(&deep, "<a%d%020000d>", i, 0);
	for (int i = 0; i < 10000; i++)
		buf_puts(&deep, "<port-group/>");
	convert(FORMAT_XML, deep.s);
	ck_assert(!ok);
	buf_free(&deep);
	convert(FORMAT_XML, "");
	ck_assert(!ok);
	convert(FORMAT_XML, "<other/>");
	ck_has(said, "f:1:1: error: the document is <other>, not <qos-policy>");
}
END_TEST

START_TEST(names)
{
	convert(FORMAT_QOS_POLICY,
		"port-groups\nport-group\nname: all\nend-port-group\nport-group\nname: all-2\n"
		"end-port-group\nport-group\nname: 0x1\nend-port-group\nport-group\n"
		"name: \"x\\\xff\x01\"\nend-port-group\nport-group\nname: ALL\nend-port-group\n"
		"end-port-groups\nqos-ulps\ndefault: 0\nend-qos-ulps\n");
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, "  all-2: {}\n");
	ck_has(yaml, "  all-2-2: {}\n");
	ck_has(yaml, "  name-0x1: {}\n");
	ck_has(yaml, "  \"x\\\\\xc3\xbf?\": {}\n");
	ck_has(said, "f:2:1: otherwise: renamed the port-group 'all' to 'all-2'");
	ck_has(said, "f:14:1: not needed: omitted: there is another port-group 'ALL' before it");
}
END_TEST

/* Truncated names end in a whole character and are no longer than qosd accepts. */
START_TEST(long_names)
{
	struct buf text = { 0 };
	char many[116];

	memset(many, 'x', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	for (int i = 1; i <= 2; i++)
		buf_printf(&text, "%s\xc3\xa4yyyyyyyyyy=%d: ALL;", many, i);
	convert(FORMAT_PARTITIONS, text.s);
	buf_free(&text);
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, "x\xc3\xa4yyyyyyyyyy\":");
	ck_has(yaml, "xx-2:");
}
END_TEST

/* A list whose next item is far away. */
START_TEST(far_apart)
{
	struct buf text = { 0 };

	buf_puts(&text, "port-groups\nport-group\nname: a\nport-guid: 1,");
	for (int i = 0; i < 300000; i++)
		buf_puts(&text, i % 2 ? "\n" : "# no keyword: 3\n");
	buf_puts(&text, "2,\n\n# end\nend-port-group\nend-port-groups\nqos-ulps\ndefault: 0\n"
		 "end-qos-ulps\n");
	convert(FORMAT_QOS_POLICY, text.s);
	buf_free(&text);
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, "[0x0000000000000001, 0x0000000000000002]");
}
END_TEST

START_TEST(guesses)
{
	static const struct { const char *text; enum convert_format format; } cases[] = {
		{ "", FORMAT_UNKNOWN }, { "# nothing\n", FORMAT_UNKNOWN },
		{ "words", FORMAT_UNKNOWN },
		{ "\n# c\n  qos-ulps\n", FORMAT_QOS_POLICY },
		{ "port-groups # x", FORMAT_QOS_POLICY },
		{ "lmc 0\n", FORMAT_OPENSM_CONF }, { "qos_ca_vlarb_high 0:4", FORMAT_OPENSM_CONF },
		{ "Default=0x7fff : ALL=full ;", FORMAT_PARTITIONS },
		{ "part , ipoib\n:", FORMAT_UNKNOWN }, { "part , ipoib : ALL;", FORMAT_PARTITIONS },
		{ "part = 1, ipoib", FORMAT_PARTITIONS },
		{ "fec0000000000000 *", FORMAT_PREFIX_ROUTES }, { "* * # x", FORMAT_PREFIX_ROUTES },
		{ "<?xml", FORMAT_XML }, { "\xef\xbb\xbf\n<a", FORMAT_XML },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_msg(convert_guess(cases[i].text, strlen(cases[i].text)) ==
			      cases[i].format, "'%s'", cases[i].text);
	for (enum convert_format f = FORMAT_QOS_POLICY; f <= FORMAT_XML; f++)
		ck_assert_int_eq(convert_format_parse(convert_format_name(f)), f);
	ck_assert_int_eq(convert_format_parse("unknown"), FORMAT_UNKNOWN);
	convert(FORMAT_UNKNOWN, "words");
	ck_has(said, "f: error: the format is not one that can be converted");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("convert");
	TCase *tc = tcase_create("convert");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, ulps);
	tcase_add_test(tc, default_level);
	tcase_add_test(tc, levels);
	tcase_add_test(tc, rules);
	tcase_add_test(tc, scopes);
	tcase_add_test(tc, recovery);
	tcase_add_test(tc, members);
	tcase_add_test(tc, partition_definitions);
	tcase_add_test(tc, partition_flags);
	tcase_add_test(tc, multicast_groups);
	tcase_add_test(tc, merged);
	tcase_add_test(tc, xml_words);
	tcase_add_test(tc, xml_port_names_and_sl);
	tcase_add_test(tc, templates);
	tcase_add_test(tc, xml_structure);
	tcase_add_test(tc, xml_hostile);
	tcase_add_test(tc, names);
	tcase_add_test(tc, long_names);
	tcase_add_test(tc, far_apart);
	tcase_add_test(tc, guesses);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
