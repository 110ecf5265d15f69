/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests which answers the guard keeps from libibnetdisc: those with which it would overrun its
 * arrays, or give links and nodes to the wrong device.
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "discovery/answer_guard.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "unit/run.h"

enum { CA = 1, SWITCH = 2, ROUTER = 3 };
enum { METHOD = 3, STATUS = 4, HOPS = 7, ATTR = 16, MODIFIER = 20, DATA = 64, PATH = 128, BACK = 192 };

static struct guard *g;
static struct disco_excluded x;
static uint8_t asked[256], answer[256];

static void begin(void)
{
	g = guard_new(NULL, 0, GUARD_PORTS_MAX);
}

static void end(void)
{
	guard_free(g);
	g = NULL;
}

/* Makes a request along the path, a string of ports ("\1\2"), and a correct answer. */
static void ask(unsigned attr, unsigned mod, const char *path)
{
	memset(asked, 0, sizeof(asked));
	asked[0] = asked[2] = 1;
	asked[1] = UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	asked[METHOD] = UMAD_METHOD_GET;
	asked[HOPS] = (uint8_t)strlen(path);
	put_be16(asked + ATTR, (uint16_t)attr);
	put_be32(asked + MODIFIER, mod);
	memcpy(asked + PATH + 1, path, strlen(path));
	memcpy(answer, asked, sizeof(answer));
	answer[METHOD] = UMAD_METHOD_GET_RESP;
	answer[STATUS] = 0x80;
}

static enum guard_verdict judge(void)
{
	return guard_answer(g, asked, answer, sizeof(answer), &x);
}

/* Makes a node's answer, without giving it to the guard. */
static void says(const char *path, uint64_t guid, unsigned type, unsigned ports, unsigned local)
{
	ask(UMAD_SM_ATTR_NODE_INFO, 0, path);
	answer[DATA] = answer[DATA + 1] = 1;
	answer[DATA + NI_TYPE] = (uint8_t)type;
	answer[DATA + NI_PORTS] = (uint8_t)ports;
	answer[DATA + NI_LOCAL_PORT] = (uint8_t)local;
	put_be64(answer + DATA + NI_GUID, guid);
	put_be64(answer + DATA + NI_PORT_GUID, guid + 1);
}

static enum guard_verdict node(const char *path, uint64_t guid, unsigned type, unsigned ports,
			       unsigned local)
{
	says(path, guid, type, ports, local);
	return judge();
}

/* The manager's adapter 0x10, and the switch 0x20 with 8 ports behind its port 1. */
static void first_two(void)
{
	ck_assert_int_eq(node("", 0x10, CA, 1, 1), GUARD_FEED);
	ck_assert_uint_eq(x.near_guid, 0);
	ck_assert_int_eq(node("\1", 0x20, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_uint_eq(x.near_guid, 0x10);
	ck_assert_uint_eq(x.near_port, 1);
}

/* promise: A10 */
START_TEST(honest_devices)
{
	first_two();
	ck_assert_int_eq(node("\1\2", 0x30, CA, 2, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\3", 0x30, CA, 2, 2), GUARD_FEED);
	/* two switches with two cables; the walk goes from both ends of each, but not of the first */
	ck_assert_int_eq(node("\1\4", 0x40, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\5", 0x40, SWITCH, 8, 2), GUARD_FEED);
	ck_assert_int_eq(node("\1\4\2", 0x20, SWITCH, 8, 5), GUARD_FEED);
	/* a cable from a switch to itself */
	ck_assert_int_eq(node("\1\6", 0x20, SWITCH, 8, 7), GUARD_FEED);
	ck_assert_int_eq(node("\1\7", 0x20, SWITCH, 8, 6), GUARD_FEED);
	/* and a link from a port to itself */
	ck_assert_int_eq(node("\1\10", 0x20, SWITCH, 8, 8), GUARD_FEED);
}
END_TEST

static const struct { unsigned type, ports, local; uint64_t guid; enum excluded_why why; } broken[] = {
	{ 0, 8, 1, 0x30, EXCLUDED_TYPE }, { 4, 8, 1, 0x30, EXCLUDED_TYPE }, { 255, 8, 1, 0x30, EXCLUDED_TYPE },
	{ SWITCH, 0, 1, 0x30, EXCLUDED_PORTS }, { SWITCH, 255, 1, 0x30, EXCLUDED_PORTS },
	{ SWITCH, 8, 9, 0x30, EXCLUDED_LOCAL_PORT }, { CA, 1, 254, 0x30, EXCLUDED_LOCAL_PORT },
	{ CA, 1, 0, 0x30, EXCLUDED_LOCAL_PORT }, { SWITCH, 8, 0, 0x30, EXCLUDED_LOCAL_PORT },
	{ ROUTER, 1, 1, 0, EXCLUDED_NO_GUID },
	/* answers that contradict a known node */
	{ SWITCH, 9, 2, 0x20, EXCLUDED_TWO_KINDS }, { SWITCH, 7, 2, 0x20, EXCLUDED_TWO_KINDS },
	{ CA, 8, 2, 0x20, EXCLUDED_TWO_KINDS },
	{ CA, 1, 1, 0x10, EXCLUDED_OUR_PORT },
};

/* promise: A10 */
START_TEST(a_node_info_that_breaks_the_rules)
{
	first_two();
	ck_assert_int_eq(node("\1\3", broken[_i].guid, broken[_i].type, broken[_i].ports,
			      broken[_i].local), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, broken[_i].why);
	ck_assert_uint_eq(x.near_guid, 0x20);
	ck_assert_uint_eq(x.near_port, 3);
	/* the other devices are still there, and so is this one when it answers correctly */
	ck_assert_int_eq(node("\1\4", 0x50, CA, 1, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\3", 0x30, CA, 1, 1), GUARD_FEED);
}
END_TEST

/* Wrong bytes in the header, from which the library takes the function and the index. */
static const struct { unsigned at; uint8_t with; bool node_info; } headers[] = {
	{ 0, 3, false }, { 1, 1, false }, { 2, 3, false }, { METHOD, 0x03, false },
	{ METHOD, 1, false }, { ATTR, 3, false }, { ATTR + 1, 3, false },
	{ MODIFIER + 3, 200, false }, { MODIFIER + 3, 0, false }, { MODIFIER, 0x40, false },
	{ ATTR + 1, 0x15, true }, { MODIFIER + 3, 254, true },
};

/* promise: A10 */
START_TEST(an_answer_to_something_else)
{
	first_two();
	if (headers[_i].node_info)
		node("\1\3", 0x30, CA, 1, 1);
	else
		ask(UMAD_SM_ATTR_PORT_INFO, 3, "\1");
	answer[headers[_i].at] = answer[headers[_i].at] ^ (headers[_i].at == MODIFIER + 3 ? 0 :
							   headers[_i].with);
	if (headers[_i].at == MODIFIER + 3)
		answer[MODIFIER + 3] = headers[_i].with;
	ck_assert_int_eq(judge(), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_ANSWER);
	ck_assert_uint_eq(x.near_guid, headers[_i].node_info ? 0x20 : 0x10);
	/* reported once for each node */
	if (!headers[_i].node_info)
		ck_assert_int_eq(judge(), GUARD_REPEATED);
}
END_TEST

/* promise: A10 */
START_TEST(an_answer_that_is_too_short)
{
	first_two();
	ask(UMAD_SM_ATTR_PORT_INFO, 3, "\1");
	ck_assert_int_eq(guard_answer(g, asked, answer, 255, &x), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_ANSWER);
	ck_assert_int_eq(judge(), GUARD_FEED);
}
END_TEST

/* An error status is a valid answer, which the library handles. */
START_TEST(an_error)
{
	first_two();
	ask(UMAD_SM_ATTR_NODE_INFO, 0, "\1\3");
	answer[STATUS + 1] = 0x1c;
	ck_assert_int_eq(judge(), GUARD_FEED);
}
END_TEST

static struct disco_excluded told[16];
static unsigned n_told;

static void found(void *arg, const struct disco_excluded *y)
{
	(void)arg;
	ck_assert_uint_lt(n_told, 16);
	told[n_told++] = *y;
}

static bool tells(uint64_t near_guid, unsigned port, enum excluded_why why)
{
	for (unsigned i = 0; i < n_told; i++)
		if (told[i].near_guid == near_guid && told[i].near_port == port && told[i].why == why)
			return true;
	return false;
}

/*
 * Walks leaf 0x20, spines 0x30 and 0x40, and leaf 0x50 behind both, like the library.  The caller
 * gives the identity that spine 0x40 claims.
 */
static void walk_tree(const uint64_t fourth[3])
{
	first_two();
	ck_assert_int_eq(node("\1\2", 0x30, SWITCH, 8, 1), GUARD_FEED);
	node("\1\3", fourth[0], SWITCH, 8, 1);
	ck_assert_int_eq(node("\1\2\2", 0x50, SWITCH, 8, 1), GUARD_FEED);
	node("\1\3\2", 0x50, SWITCH, 8, 2);
	node("\1\2\2\2", fourth[1], SWITCH, 8, 2);
}

/* promise: A13 */
START_TEST(an_honest_tree)
{
	static const uint64_t fourth[] = { 0x40, 0x40, 0x40 };

	n_told = 0;
	walk_tree(fourth);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

/* promise: A13 */
START_TEST(a_guid_that_changes)
{
	static const uint64_t fourth[] = { 0x40, 0x41, 0x42 };

	n_told = 0;
	walk_tree(fourth);
	/* if the guard fed the spine as seen behind leaf 0x50, the walk goes on to leaf 0x20 */
	node("\1\2\2\2\1", 0x20, SWITCH, 8, 3);
	guard_finish(g, found, NULL);
	ck_assert(tells(0x20, 3, EXCLUDED_GUID_CHANGES));
	ck_assert(tells(0x50, 2, EXCLUDED_GUID_CHANGES));
	ck_assert_uint_eq(n_told, 2);
}
END_TEST

/* promise: A10 */
START_TEST(a_guid_of_another)
{
	/* leaf 0x50's spine claims to be spine 0x30: its port 1 has a link already */
	static const uint64_t fourth[] = { 0x30, 0x30, 0x30 };

	n_told = 0;
	walk_tree(fourth);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);	/* refused when it came */
}
END_TEST

/* A nearer host claims to be switch 0x60, which has three neighbors. */
/* promise: A13 */
START_TEST(an_impostor_who_comes_first)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(node("\1\4", 0x60, SWITCH, 8, 8), GUARD_FEED);
	ck_assert_int_eq(node("\1\2", 0x30, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\2\2", 0x60, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\2\3", 0x60, SWITCH, 8, 2), GUARD_FEED);
	guard_finish(g, found, NULL);
	ck_assert(tells(0x20, 4, EXCLUDED_IMPOSTOR));
	ck_assert_uint_eq(n_told, 1);
	ck_assert_uint_eq(told[0].other_guid, 0x30);
	/* the next scan excludes the host, and finds the switch at its place */
	guard_free(g);
	g = guard_new(told, 1, GUARD_PORTS_MAX);
	n_told = 0;
	first_two();
	ck_assert_int_eq(node("\1\4", 0x60, SWITCH, 8, 8), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_IMPOSTOR);
	node("\1\2", 0x30, SWITCH, 8, 1);
	ck_assert_int_eq(node("\1\2\2", 0x60, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\2\3", 0x60, SWITCH, 8, 2), GUARD_FEED);
	ck_assert_int_eq(node("\1\2\2\2", 0x30, SWITCH, 8, 3), GUARD_FEED);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

/* A nearer host claims the GUID of leaf 0x60, whose neighbors are spines 0x30 and 0x40. */
/* promise: A66 */
START_TEST(a_host_with_the_guid_of_a_switch)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(node("\1\4", 0x60, CA, 1, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\2", 0x30, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\3", 0x40, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\2\2", 0x60, SWITCH, 8, 1), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_TWO_KINDS);
	ck_assert_uint_eq(x.other_guid, 0x20);
	ck_assert_uint_eq(x.other_port, 4);
	/* a single neighbor could be the implausible device itself */
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
	ck_assert_int_eq(node("\1\2\3", 0x60, SWITCH, 8, 2), GUARD_REFUSE);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
	ck_assert_int_eq(node("\1\3\2", 0x60, SWITCH, 8, 3), GUARD_REFUSE);
	guard_finish(g, found, NULL);
	ck_assert(tells(0x20, 4, EXCLUDED_IMPOSTOR));
	ck_assert_uint_eq(n_told, 1);
}
END_TEST

/* A switch with the node GUID of 0x30 and its own port GUID. */
static enum guard_verdict copy_of_0x30(const char *path, unsigned local)
{
	says(path, 0x30, SWITCH, 8, local);
	put_be64(answer + DATA + NI_PORT_GUID, 0x70);
	return judge();
}

/* The copy is found first; its port GUID shows that the node GUID is another switch's. */
/* promise: A64 */
START_TEST(a_copy_whose_port_guid_is_far)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(copy_of_0x30("\1\2", 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\3", 0x30, SWITCH, 8, 1), GUARD_REFUSE);	/* the right one */
	guard_finish(g, found, NULL);
	ck_assert(tells(0x20, 2, EXCLUDED_CLAIMS));
	ck_assert_uint_eq(n_told, 1);
	ck_assert_uint_eq(told[0].other_guid, 0x20);
	ck_assert_uint_eq(told[0].other_port, 3);
	/* the next scan excludes the copy by each of its links, and finds the right switch */
	guard_free(g);
	g = guard_new(told, 1, GUARD_PORTS_MAX);
	n_told = 0;
	first_two();
	ck_assert_int_eq(copy_of_0x30("\1\5", 2), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_CLAIMS);
	ck_assert_int_eq(node("\1\3", 0x30, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(copy_of_0x30("\1\2", 1), GUARD_REFUSE);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

/*
 * Two adjacent switches have the same node GUID but different port GUIDs: the guard takes no link of one
 * for a link of the other, whose ports have the same numbers.
 */
/* promise: A64 */
START_TEST(a_copy_next_to_the_right_one)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(copy_of_0x30("\1\2", 3), GUARD_FEED);
	ck_assert_int_eq(node("\1\3", 0x40, SWITCH, 8, 3), GUARD_FEED);
	ck_assert_int_eq(node("\1\2\4", 0x30, SWITCH, 8, 5), GUARD_REFUSE);	/* the right one */
	ck_assert_uint_eq(x.why, EXCLUDED_TWO_KINDS);
	ck_assert_int_eq(node("\1\3\4", 0x30, SWITCH, 8, 6), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_TWO_KINDS);
	guard_finish(g, found, NULL);
	ck_assert(tells(0x20, 2, EXCLUDED_CLAIMS));
	ck_assert_uint_eq(n_told, 1);
}
END_TEST

static enum guard_verdict name_of_0x70000000(const char *path, uint64_t guid, unsigned local)
{
	says(path, guid, SWITCH, 8, local);
	put_be64(answer + DATA + NI_PORT_GUID, 0x70000000);
	return judge();
}

/* Behind each new GUID there could be a neighbour with another new GUID, without end. */
START_TEST(new_names_of_one_switch)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(name_of_0x70000000("\1\2", 0x1234567800, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\3", 0x50, SWITCH, 8, 3), GUARD_FEED);
	ck_assert_int_eq(name_of_0x70000000("\1\3\4", 0x8765432100, 2), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_PORT_GUID);
	ck_assert_uint_eq(x.other_guid, 0x20);
	ck_assert_uint_eq(x.other_port, 2);
	guard_finish(g, found, NULL);
	ck_assert(tells(0x20, 2, EXCLUDED_GUID_CHANGES));
	ck_assert(tells(0x50, 4, EXCLUDED_GUID_CHANGES));
	ck_assert_uint_eq(n_told, 2);
}
END_TEST

/* The right switch has a node GUID that fits the port GUID, and is found in any order. */
START_TEST(a_name_with_the_port_guid_of_another_switch)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(name_of_0x70000000("\1\2", 0x70000000, 1), GUARD_FEED);
	ck_assert_int_eq(name_of_0x70000000("\1\3", 0x1234567800, 1), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_PORT_GUID);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
	end();
	begin();
	first_two();
	ck_assert_int_eq(name_of_0x70000000("\1\3", 0x1234567800, 1), GUARD_FEED);
	ck_assert_int_eq(name_of_0x70000000("\1\2", 0x70000000, 1), GUARD_FEED);
}
END_TEST

/*
 * A host claims to be port 1 of switch 0x30.  An SMP that leaves by that port reaches another host, which
 * is believed; the switch is genuine because it forwards SMPs.
 */
START_TEST(a_claim_that_an_smp_disproves)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(node("\1\2", 0x30, SWITCH, 8, 2), GUARD_FEED);
	ck_assert_int_eq(node("\1\3", 0x30, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\2\1", 0x60, CA, 1, 1), GUARD_FEED);
	guard_finish(g, found, NULL);
	ck_assert(tells(0x20, 3, EXCLUDED_TWO_PLACES));
	ck_assert_uint_eq(n_told, 1);
	ck_assert_uint_eq(told[0].guid, 0x30);
	ck_assert_uint_eq(told[0].a, 1);
	ck_assert_uint_eq(told[0].other_guid, 0x60);
}
END_TEST

static enum guard_verdict adapter_0x60(const char *path, unsigned back)
{
	says(path, 0x60, CA, 1, 1);
	answer[BACK + strlen(path)] = (uint8_t)back;
	return judge();
}

/* A switch has the NodeInfo of an adapter, but answers by ports that the adapter lacks. */
START_TEST(an_adapter_with_the_ports_of_a_switch)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(adapter_0x60("\1\2", 3), GUARD_FEED);
	ck_assert_int_eq(adapter_0x60("\1\3", 1), GUARD_REFUSE);	/* the adapter */
	guard_finish(g, found, NULL);
	ck_assert(tells(0x20, 2, EXCLUDED_NO_ADAPTER));
	ck_assert_uint_eq(n_told, 1);
	ck_assert_uint_eq(told[0].b, 3);
	ck_assert_uint_eq(told[0].other_port, 3);
	guard_free(g);
	g = guard_new(told, 1, GUARD_PORTS_MAX);
	n_told = 0;
	first_two();
	ck_assert_int_eq(adapter_0x60("\1\5", 2), GUARD_REFUSE);	/* another link of the switch */
	ck_assert_uint_eq(x.why, EXCLUDED_NO_ADAPTER);
	ck_assert_int_eq(adapter_0x60("\1\3", 1), GUARD_FEED);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

/* A single such adapter stays: it may number its ports otherwise than its NodeInfo says. */
START_TEST(an_adapter_that_answers_by_an_odd_port)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(adapter_0x60("\1\2", 2), GUARD_FEED);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

/*
 * Behind a switch with a false GUID is another switch with a false GUID.  The place of the second is given
 * relative to the first, and would be an honest device's place once the first is excluded.
 */
START_TEST(a_place_behind_a_false_name)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(copy_of_0x30("\1\2", 1), GUARD_FEED);
	says("\1\2\2", 0x60, SWITCH, 8, 1);
	put_be64(answer + DATA + NI_PORT_GUID, 0x90);
	ck_assert_int_eq(judge(), GUARD_FEED);
	ck_assert_int_eq(node("\1\3", 0x30, SWITCH, 8, 1), GUARD_REFUSE);	/* the right ones */
	ck_assert_int_eq(node("\1\4", 0x60, SWITCH, 8, 1), GUARD_REFUSE);
	guard_finish(g, found, NULL);
	ck_assert(tells(0x20, 2, EXCLUDED_CLAIMS));
	ck_assert_uint_eq(n_told, 1);
}
END_TEST

/* The right device is now at the place of an excluded copy. */
START_TEST(a_place_of_another_device)
{
	struct disco_excluded out = { .near_guid = 0x20, .near_port = 3, .why = EXCLUDED_CLAIMS };

	says("\1\3", 0x30, SWITCH, 8, 1);
	put_be64(answer + DATA + NI_PORT_GUID, 0x70);
	excluded_describe(&out, answer + DATA);
	guard_free(g);
	g = guard_new(&out, 1, GUARD_PORTS_MAX);
	first_two();
	ck_assert_int_eq(node("\1\3", 0x30, SWITCH, 8, 1), GUARD_FEED);
}
END_TEST

/* The right device is known already; the ports of an adapter have different port GUIDs. */
START_TEST(port_guids_that_say_nothing)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(node("\1\3", 0x30, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(copy_of_0x30("\1\2", 1), GUARD_REFUSE);
	ck_assert_int_eq(node("\1\4", 0x50, CA, 2, 2), GUARD_FEED);
	says("\1\5", 0x50, CA, 2, 1);
	put_be64(answer + DATA + NI_PORT_GUID, 0x50);
	ck_assert_int_eq(judge(), GUARD_FEED);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

/* The switch has more neighbors than the host, although the host's port GUID is nearer. */
/* promise: A64 */
START_TEST(a_switch_with_the_guid_of_a_host)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(node("\1\4", 0x30, CA, 1, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\2", 0x40, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\3", 0x50, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(copy_of_0x30("\1\2\2", 1), GUARD_REFUSE);
	ck_assert_int_eq(copy_of_0x30("\1\2\3", 2), GUARD_REFUSE);
	ck_assert_int_eq(copy_of_0x30("\1\3\2", 3), GUARD_REFUSE);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

/* promise: A64 */
START_TEST(a_switch_that_answers_by_another_port_than_it_says)
{
	first_two();
	says("\1\2", 0x30, SWITCH, 8, 4);
	answer[BACK + 2] = 4;
	ck_assert_int_eq(judge(), GUARD_FEED);
	says("\1\3", 0x40, SWITCH, 8, 4);
	answer[BACK + 2] = 3;
	ck_assert_int_eq(judge(), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_FALSE_PORT);
	ck_assert_uint_eq(x.a, 4);
	ck_assert_uint_eq(x.b, 3);
	ck_assert_uint_eq(x.guid, 0x40);
}
END_TEST

/* Hosts at ports of other switches that have the same number as our leaf's port to us. */
START_TEST(hosts_that_say_that_they_are_us)
{
	n_told = 0;
	first_two();
	ck_assert_int_eq(node("\1\2", 0x30, SWITCH, 8, 3), GUARD_FEED);
	ck_assert_int_eq(node("\1\3", 0x40, SWITCH, 8, 2), GUARD_FEED);
	ck_assert_int_eq(node("\1\2\1", 0x10, CA, 1, 1), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_OUR_PORT);
	ck_assert_int_eq(node("\1\3\1", 0x10, CA, 1, 1), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_OUR_PORT);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

/* promise: A10 */
START_TEST(a_port_in_two_places)
{
	first_two();
	ck_assert_int_eq(node("\1\2", 0x30, CA, 1, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\3", 0x30, CA, 1, 1), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_TWO_PLACES);
	ck_assert_uint_eq(x.near_port, 3);
	ck_assert_uint_eq(x.other_guid, 0x20);
	ck_assert_uint_eq(x.other_port, 2);
}
END_TEST

/* A device that crashed the process is excluded by its GUID wherever it appears. */
/* promise: A11 */
START_TEST(what_kills_is_excluded)
{
	const struct disco_excluded out = { .near_guid = 0x20, .near_port = 3, .guid = 0x30,
					.why = EXCLUDED_KILLS };

	guard_free(g);
	g = guard_new(&out, 1, GUARD_PORTS_MAX);
	first_two();
	ck_assert_int_eq(node("\1\3", 0x77, SWITCH, 8, 1), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_KILLS);
	ck_assert_int_eq(node("\1\4", 0x30, SWITCH, 8, 2), GUARD_REFUSE);
	ck_assert_int_eq(node("\1\5", 0x31, SWITCH, 8, 2), GUARD_FEED);
}
END_TEST

/* Such a device is not excluded where it is the path to all others. */
/* promise: A67 */
START_TEST(what_kills_at_our_own_port_is_tried)
{
	const struct disco_excluded out = { .near_guid = 0x10, .near_port = 1, .guid = 0x20,
					.why = EXCLUDED_HANGS };

	guard_free(g);
	g = guard_new(&out, 1, GUARD_PORTS_MAX);
	first_two();
	ck_assert_int_eq(node("\1\4", 0x40, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\4\2", 0x20, SWITCH, 8, 5), GUARD_FEED);
}
END_TEST

/* If a switch invents others behind each of its ports, it is named, not the switches before it. */
/* promise: A12 */
START_TEST(a_fabric_without_end)
{
	uint64_t guid = 0x1000;
	enum guard_verdict v = GUARD_FEED;
	char path[] = "\1\2\2\1\1";

	first_two();
	ck_assert_int_eq(node("\1\3", 0x40, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\2", 0x30, SWITCH, 254, 1), GUARD_FEED);
	for (unsigned i = 2; i < 255; i++) {
		path[2] = (char)i;
		path[3] = '\0';
		ck_assert_int_eq(node(path, guid++, SWITCH, 254, 1), GUARD_FEED);
	}
	for (unsigned i = 2; i < 255 && v == GUARD_FEED; i++)
		for (unsigned k = 2; k < 255 && v == GUARD_FEED; k++) {
			path[2] = (char)i;
			path[3] = (char)k;
			path[4] = '\0';
			v = node(path, guid++, SWITCH, 254, 1);
		}
	ck_assert_int_eq(v, GUARD_FULL);
	ck_assert_uint_eq(x.why, EXCLUDED_TOO_MANY);
	ck_assert_uint_lt(guid, 0x1000 + GUARD_PORTS_MAX / 254 + 1);
	ck_assert_uint_eq(x.near_guid, 0x20);
	ck_assert_uint_eq(x.near_port, 2);
}
END_TEST

/* The guard corrects the NodeType on each link of the device, which then has one port GUID. */
/* promise: A110 */
START_TEST(a_switch_that_claims_to_be_an_adapter)
{
	struct disco_excluded list = { .near_guid = 0x10, .near_port = 1, .why = EXCLUDED_SWITCH };

	says("\1", 0x20, CA, 8, 1);
	excluded_describe(&list, answer + DATA);
	guard_free(g);
	g = guard_new(&list, 1, GUARD_PORTS_MAX);
	n_told = 0;
	ck_assert_int_eq(node("", 0x10, CA, 1, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1", 0x20, CA, 8, 1), GUARD_FEED);
	ck_assert_uint_eq(answer[DATA + NI_TYPE], SWITCH);
	ck_assert_int_eq(node("\1\2", 0x30, CA, 8, 1), GUARD_FEED);
	ck_assert_uint_eq(answer[DATA + NI_TYPE], CA);
	ck_assert_int_eq(node("\1\3", 0x40, SWITCH, 8, 1), GUARD_FEED);
	says("\1\3\1", 0x20, CA, 8, 3);
	put_be64(answer + DATA + NI_PORT_GUID, 0x23);
	ck_assert_int_eq(judge(), GUARD_FEED);
	ck_assert_uint_eq(answer[DATA + NI_TYPE], SWITCH);
	ck_assert(!memcmp(answer + DATA + NI_PORT_GUID, list.data + NI_PORT_GUID, 8));
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 1);
	ck_assert(tells(0x10, 1, EXCLUDED_SWITCH));
	guard_free(g);
	/* a device that tells the truth is not reported again */
	g = guard_new(&list, 1, GUARD_PORTS_MAX);
	n_told = 0;
	first_two();
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

/* Two hosts with the same NodeInfo: each has its own GUID in the next scan. */
START_TEST(two_hosts_that_are_one)
{
	first_two();
	n_told = 0;
	ck_assert_int_eq(node("\1\2", 0x30, CA, 1, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\3", 0x30, CA, 1, 1), GUARD_REFUSE);
	ck_assert_uint_eq(x.why, EXCLUDED_TWO_PLACES);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 1);
	ck_assert(tells(0x20, 3, EXCLUDED_TWIN));
	ck_assert_uint_eq(told[0].guid, 0x30);
	ck_assert_uint_eq(told[0].other_port, 2);
	ck_assert_uint_eq(told[0].known_as, excluded_stand_in(0x30, 0x20, 3));
	guard_free(g);
	/* in either order */
	g = guard_new(told, 1, GUARD_PORTS_MAX);
	n_told = 0;
	first_two();
	ck_assert_int_eq(node("\1\3", 0x30, CA, 1, 1), GUARD_FEED);
	ck_assert_uint_eq(get_be64(answer + DATA + NI_GUID), excluded_stand_in(0x30, 0x20, 3));
	ck_assert_uint_eq(get_be64(answer + DATA + NI_PORT_GUID), excluded_stand_in(0x30, 0x20, 3) + 1);
	ck_assert_int_eq(node("\1\2", 0x30, CA, 1, 1), GUARD_FEED);
	ck_assert_uint_eq(get_be64(answer + DATA + NI_GUID), 0x30);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 1);
	ck_assert(tells(0x20, 3, EXCLUDED_TWIN));
	guard_free(g);
	/* a host that has its own GUID again keeps it */
	g = guard_new(told, 1, GUARD_PORTS_MAX);
	n_told = 0;
	first_two();
	ck_assert_int_eq(node("\1\3", 0x40, CA, 1, 1), GUARD_FEED);
	ck_assert_uint_eq(get_be64(answer + DATA + NI_GUID), 0x40);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

/*
 * Spine 0x40 claims to be spine 0x30.  SMPs through the spine that is found first show which links are its
 * own: the place behind leaf 0x50 belongs to the other spine.
 */
START_TEST(two_switches_that_are_one)
{
	n_told = 0;
	ck_assert_int_eq(node("", 0x10, CA, 1, 1), GUARD_FEED);
	says("\1", 0x20, SWITCH, 8, 1);
	answer[BACK + 1] = 1;
	ck_assert_int_eq(judge(), GUARD_FEED);
	says("\1\3", 0x30, SWITCH, 8, 1);
	answer[BACK + 2] = 1;
	ck_assert_int_eq(judge(), GUARD_FEED);
	says("\1\3\2", 0x50, SWITCH, 8, 1);
	answer[BACK + 3] = 1;
	ck_assert_int_eq(judge(), GUARD_FEED);
	says("\1\3\2\2", 0x30, SWITCH, 8, 2);
	answer[BACK + 4] = 2;
	ck_assert_int_eq(judge(), GUARD_REFUSE);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 1);
	ck_assert(tells(0x50, 2, EXCLUDED_TWIN));
	ck_assert_uint_eq(told[0].other_guid, 0x20);
	ck_assert_uint_eq(told[0].other_port, 3);
	/* not if the port by which it answered is unknown */
	guard_free(g);
	g = guard_new(NULL, 0, GUARD_PORTS_MAX);
	n_told = 0;
	first_two();
	ck_assert_int_eq(node("\1\3", 0x30, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\3\2", 0x50, SWITCH, 8, 1), GUARD_FEED);
	ck_assert_int_eq(node("\1\3\2\2", 0x30, SWITCH, 8, 2), GUARD_REFUSE);
	guard_finish(g, found, NULL);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

START_TEST(text)
{
	struct buf b = { 0 };

	for (unsigned why = 1; why < EXCLUDED_WHYS; why++) {
		const struct disco_excluded y = { .why = (uint8_t)why };

		excluded_text(&y, &b);
		ck_assert_uint_gt(b.n, 0);
		b.n = 0;
	}
	buf_free(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard");
	TCase *t = tcase_create("guard");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, honest_devices);
	tcase_add_loop_test(t, a_node_info_that_breaks_the_rules, 0, ARRAY_SIZE(broken));
	tcase_add_loop_test(t, an_answer_to_something_else, 0, ARRAY_SIZE(headers));
	tcase_add_test(t, an_answer_that_is_too_short);
	tcase_add_test(t, an_error);
	tcase_add_test(t, an_honest_tree);
	tcase_add_test(t, a_guid_that_changes);
	tcase_add_test(t, a_guid_of_another);
	tcase_add_test(t, an_impostor_who_comes_first);
	tcase_add_test(t, a_host_with_the_guid_of_a_switch);
	tcase_add_test(t, a_copy_whose_port_guid_is_far);
	tcase_add_test(t, a_copy_next_to_the_right_one);
	tcase_add_test(t, new_names_of_one_switch);
	tcase_add_test(t, a_name_with_the_port_guid_of_another_switch);
	tcase_add_test(t, a_claim_that_an_smp_disproves);
	tcase_add_test(t, an_adapter_with_the_ports_of_a_switch);
	tcase_add_test(t, an_adapter_that_answers_by_an_odd_port);
	tcase_add_test(t, a_place_behind_a_false_name);
	tcase_add_test(t, a_place_of_another_device);
	tcase_add_test(t, port_guids_that_say_nothing);
	tcase_add_test(t, a_switch_with_the_guid_of_a_host);
	tcase_add_test(t, a_switch_that_answers_by_another_port_than_it_says);
	tcase_add_test(t, hosts_that_say_that_they_are_us);
	tcase_add_test(t, a_port_in_two_places);
	tcase_add_test(t, what_kills_is_excluded);
	tcase_add_test(t, what_kills_at_our_own_port_is_tried);
	tcase_add_test(t, a_fabric_without_end);
	tcase_add_test(t, a_switch_that_claims_to_be_an_adapter);
	tcase_add_test(t, two_hosts_that_are_one);
	tcase_add_test(t, two_switches_that_are_one);
	tcase_add_test(t, text);
	suite_add_tcase(s, t);
	return run_suite(s);
}
