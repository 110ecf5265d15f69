/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests `explain` and `bandwidth` on hand-made states: every reason why there is no
 * path, selectors, several ends, and shares that were computed by hand.
 *
 * promise: O5
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "subnet.h"
#include "unit/run.h"

static struct subnet_state *state;
static struct ctl_env env;
static struct ctl_view view;
static struct mad_counts counts;
static json_t *head, *rows;

static void use(struct subnet_state *s)
{
	state = s;
	env = (struct ctl_env){ .version = "1" };
	view = (struct ctl_view){ .state = s, .mad = &counts };
	view.sm.state = SM_MASTER;
}

static void setup(void)
{
	json_set_alloc_funcs(xmalloc, free);
	use(test_subnet());
	head = rows = NULL;
}

static void forget_answer(void)
{
	json_decref(head);
	json_decref(rows);
	head = rows = NULL;
}

static void teardown(void)
{
	forget_answer();
	test_subnet_free(state);
}

/* --- asking --- */

/* Sends a command and sets head and rows; args is the inside of an object, with ' for ". */
static void ask(const char *command, const char *args)
{
	char *line = xasprintf("{'command': '%s', 'args': {%s}}", command, args);

	forget_answer();
	for (char *c = line; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	head = answer_parts(&env, &view, line, &rows);
	free(line);
}

static void refused(const char *command, const char *args, const char *why)
{
	ask(command, args);
	ck_assert_msg(json_is_false(json_object_get(head, "ok")), "accepted: %s", args);
	const char *error = json_string_value(json_object_get(head, "error"));
	ck_assert_msg(strstr(error, why) != NULL, "%s: %s", args, error);
}

static json_t *result(void)
{
	ck_assert_msg(json_is_true(json_object_get(head, "ok")), "%s",
		      json_string_value(json_object_get(head, "error")));
	return json_object_get(head, "result");
}

static json_t *at(const json_t *o, const char *key, size_t i)
{
	json_t *v = json_array_get(json_object_get(o, key), i);

	ck_assert_msg(v != NULL, "no %s[%zu]", key, i);
	return v;
}

/* Returns the result of explain from node1 to storage1 with further arguments. */
static json_t *explain(const char *more)
{
	char *args = xasprintf("'src': '1', 'dst': '5'%s%s", *more ? ", " : "", more);

	ask("explain", args);
	free(args);
	return result();
}

static json_t *path(const char *more)
{
	json_t *p = json_object_get(explain(more), "path");

	ck_assert_msg(json_is_object(p), "no path: %s", more);
	return p;
}

/* The names of the reasons of explain --why-not must be `names`. */
static void reasons(const char *more, const char *names)
{
	struct buf b = { 0 };
	char *args = xasprintf("'why-not': true%s%s", *more ? ", " : "", more);
	json_t *list = json_object_get(explain(args), "reasons");

	buf_puts(&b, "");
	for (size_t i = 0; i < json_array_size(list); i++)
		buf_printf(&b, "%s%s", i ? " " : "", str(json_array_get(list, i), "reason"));
	ck_assert_str_eq(b.s, names);
	ck_assert(json_is_null(json_object_get(result(), "path")) == (*names != '\0'));
	buf_free(&b);
	free(args);
}

/* The text of reason i must have these words. */
static void says(size_t i, const char *words)
{
	const char *text = str(at(result(), "reasons", i), "text");

	ck_assert_msg(strstr(text, words) != NULL, "'%s' is not in '%s'", words, text);
}

/* Suggestion i must be to leave out these fields, separated by blanks. */
static void helps(size_t i, const char *fields)
{
	const json_t *without = json_object_get(at(result(), "helps", i), "without");
	struct buf b = { 0 };

	for (size_t k = 0; k < json_array_size(without); k++)
		buf_printf(&b, "%s%s", k ? " " : "",
			   json_string_value(json_array_get(without, k)));
	ck_assert_str_eq(b.s, fields);
	buf_free(&b);
}

static size_t n_helps(void)
{
	return json_array_size(json_object_get(result(), "helps"));
}

/* --- the state, changed --- */

static struct sl2vl *map_between(const char *node, unsigned in, unsigned out)
{
	const struct fabric *f = state->f;

	for (uint32_t n = 0; n < f->n_nodes; n++)
		if (strcmp(f->nodes[n].desc, node) == 0) {
			uint16_t id = qos_sl2vl_id(state->plan->tables, f, n, in, out);

			ck_assert_uint_ne(id, TABLE_NONE);
			return &state->plan->tables->maps[id];
		}
	ck_abort_msg("no node %s", node);
}

static void compute_paths_again(void)
{
	struct plan *p = state->plan;

	paths_free(p->paths);
	p->paths = paths_compute(state->f, p->lfts, p->lid_top, p->port_by_lid, p->tables);
}

static void build_partitions_again(void)
{
	struct plan *p = state->plan;
	struct findings f = { .max = 0 };

	partitions_free(p->partitions);
	p->partitions = partitions_build(state->policy->p, state->f, p->groups, NULL, ENFORCE_BOTH, &f);
	findings_free(&f);
}

/* Maps an SL to a VL; all ports of this subnet share one map. */
static void map_sl(unsigned sl, uint8_t vl)
{
	map_between("leaf two", 3, 1)->vl[sl] = vl;
	compute_paths_again();
}

static uint8_t *lft_entry(const char *node, uint16_t lid)
{
	for (uint32_t i = 0; i < state->f->n_switches; i++)
		if (strcmp(state->f->nodes[state->f->switches[i].node].desc, node) == 0)
			return &state->plan->lfts->entries[(size_t)i * state->plan->lfts->stride +
							   lid];
	ck_abort_msg("no switch %s", node);
}

static void route_by(const char *node, uint16_t lid, uint8_t port)
{
	*lft_entry(node, lid) = port;
	compute_paths_again();
}

static struct policy_level *level(const char *name)
{
	return &state->policy->p->levels[policy_find_level(state->policy->p, name)];
}

/* --- explain --- */

START_TEST(every_field_has_a_reason)
{
	json_t *p = path("'service-id': '0x1000'"), *why = json_object_get(p, "why");

	ck_assert_str_eq(str(result(), "level-by"), "rule");
	ck_assert_str_eq(str(why, "mtu"), "limit of level storage");
	ck_assert_ptr_nonnull(strstr(str(why, "rate"), "hop 0, node1"));
	ck_assert_str_eq(str(why, "lifetime"), "subnet-timeout of qosd.yaml");
	ck_assert_str_eq(str(why, "pkey"), "the first that both ends have");
	ck_assert(json_is_true(json_object_get(p, "reversible")));
	ck_assert_str_eq(str(explain(""), "level-by"), "default");
	why = json_object_get(path("'pkey': '0xffff', 'mtu': '<2048', 'tclass': 9"), "why");
	ck_assert_str_eq(str(why, "mtu"), "chosen by the query");
	ck_assert_ptr_nonnull(strstr(str(why, "pkey"), "requested"));
	ck_assert_str_eq(str(why, "tclass"), "as asked");
	level("default")->packet_lifetime = 12;
	ck_assert_str_eq(str(json_object_get(path(""), "why"), "lifetime"), "of the level");
}
END_TEST

START_TEST(the_slowest_hop_is_named)
{
	uint32_t port = fabric_find_port(state->f, 0x2c90300000037);

	state->f->ports[port].rate = state->f->ports[state->f->ports[port].peer].rate =
		(uint8_t)rate_parse_gbps("10");
	compute_paths_again();
	json_t *p = path("");
	ck_assert(real(p, "rate") == 10);
	ck_assert_ptr_nonnull(strstr(str(json_object_get(p, "why"), "rate"), "hop 2, leaf two/P1"));
	ck_assert(real(at(p, "hops", 2), "rate") == 10);
	ck_assert(real(at(p, "hops", 1), "rate") == 40);
}
END_TEST

START_TEST(selectors_as_people_write_them)
{
	static const struct { const char *args; int mtu; double rate; } cases[] = {
		{ "'mtu': '2048'", 2048, 40 }, { "'mtu': '=1024'", 1024, 40 },
		{ "'mtu': '>1024'", 2048, 40 }, { "'mtu': '>=2048'", 2048, 40 },
		{ "'mtu': '<2048'", 1024, 40 }, { "'mtu': '<=512'", 512, 40 },
		{ "'mtu': '<=4096'", 2048, 40 }, { "'mtu': '>=256'", 2048, 40 },
		{ "'mtu': 'best'", 2048, 40 }, { "'mtu': '2:1'", 256, 40 },
		{ "'mtu': '<iba:3'", 512, 40 }, { "'rate': '10'", 2048, 10 },
		{ "'rate': '4xSDR'", 2048, 10 }, { "'rate': '<=20'", 2048, 20 },
		{ "'rate': '>=40'", 2048, 40 }, { "'rate': '<40'", 2048, 30 },
		{ "'rate': '1:7'", 2048, 30 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *p = path(cases[i].args);

		ck_assert_msg(num(p, "mtu") == cases[i].mtu, "%s: %lld", cases[i].args,
			      num(p, "mtu"));
		ck_assert_msg(real(p, "rate") == cases[i].rate, "%s: %g", cases[i].args,
			      real(p, "rate"));
	}
	/* 1 s is between 2^17 and 2^18, and the subnet's lifetime is 2^18 units */
	ck_assert(real(path("'lifetime': '<=1s'"), "lifetime") < 1);
	ck_assert(real(path("'lifetime': '<1s'"), "lifetime") < 1);
	ck_assert(real(path("'lifetime': '>1s'"), "lifetime") > 1);
	ck_assert(real(path("'lifetime': '<=18'"), "lifetime") > 1);
	ck_assert(real(path("'lifetime': '<=iba:17'"), "lifetime") < 1);
	ck_assert(real(path("'lifetime': '500us'"), "lifetime") >= 0.0005);
	ck_assert(real(path("'lifetime': '3'"), "lifetime") < 0.00004);
}
END_TEST

START_TEST(selectors_that_are_none)
{
	static const char *const args[] = {
		"'mtu': '1000'", "'mtu': ''", "'mtu': '>'", "'mtu': '2048 '", "'mtu': '>>2048'",
		"'mtu': '4:4'", "'mtu': '1:64'", "'mtu': 'iba:64'", "'mtu': '-1'",
		"'rate': '41'", "'rate': '4xFOO'", "'lifetime': '1y'", "'lifetime': '-1s'",
		"'lifetime': '32'", "'lifetime': '99999s'",
	};

	for (size_t i = 0; i < ARRAY_SIZE(args); i++) {
		char *all = xasprintf("'src': '1', 'dst': '5', %s", args[i]);

		refused("explain", all, "is invalid: give a value such as");
		free(all);
	}
	refused("explain", "'src': '1', 'dst': '5', 'mtu': '2:0'", "no such code");
	refused("explain", "'src': '1', 'dst': '5', 'numb-path': 0", "from 1 to 127");
	refused("explain", "'src': '1', 'dst': '5', 'reversible': 1", "true or false");
}
END_TEST

START_TEST(several_ends)
{
	ask("explain", "'src': '1,4', 'dst': '5,1', 'multipath': true, 'qos-class': 7");
	ck_assert_str_eq(str(head, "rows"), "answers");
	ck_assert_uint_eq(json_array_size(json_object_get(result(), "sources")), 2);
	ck_assert_uint_eq(json_array_size(rows), 4);
	ck_assert_ptr_nonnull(strstr(str(json_array_get(rows, 1), "destination"), "node1"));
	ck_assert_ptr_nonnull(strstr(str(json_array_get(rows, 2), "source"), "node2"));
	ck_assert_str_eq(str(json_array_get(rows, 2), "level"), "fast");
	ck_assert_int_eq(num(json_object_get(json_array_get(rows, 2), "path"), "sl"), 3);
	ask("explain", "'src': '1,4', 'dst': '5,1', 'multipath': true, 'numb-path': 3");
	ck_assert_uint_eq(json_array_size(rows), 3);
	refused("explain", "'src': '1,4', 'dst': '5,', 'multipath': true", "a name is missing");
	refused("explain", "'src': '1', 'dst': '5', 'multipath': true, 'slid': 1", "no LIDs");
	refused("explain", "'src': '1', 'dst': '5', 'multipath': true, 'why-not': true", "two ends");
}
END_TEST

/* Of four pairs, those to storage1 have no route; the reasons of the last one are at the end. */
START_TEST(several_ends_of_which_some_have_no_path)
{
	route_by("leaf two", 5, LFT_DROP);
	ask("explain", "'src': '1,4', 'dst': '1,5', 'multipath': true");
	ck_assert_uint_eq(json_array_size(rows), 4);
	for (size_t i = 0; i < 4; i++) {
		json_t *row = json_array_get(rows, i);

		ck_assert(json_is_null(json_object_get(row, "path")) == (i % 2 == 1));
		ck_assert_ptr_nonnull(strstr(str(row, "destination"), i % 2 ? "storage1" : "node1"));
		if (i % 2)
			ck_assert_str_eq(str(row, "no-path"), "there is no route");
	}
}
END_TEST

/* --- why not --- */

/* The path between two ends must be that between the ports with LIDs 1 and 5. */
static void same_ends(const char *args)
{
	ask("explain", args);
	ck_assert_ptr_nonnull(strstr(str(result(), "source"), "node1 HCA-1/P1"));
	ck_assert_ptr_nonnull(strstr(str(result(), "destination"), "storage1 HCA-1/P1"));
}

START_TEST(ends_by_name)
{
	same_ends("'src': '1', 'dst': '5'");
	same_ends("'src': 'node1', 'dst': 'storage1'");
	same_ends("'src': 'node1 HCA-1', 'dst': 'storage1 HCA-1/P1'");
	ask("explain", "'src': 'node1', 'dst': 'leaf two'");
	ck_assert_ptr_nonnull(strstr(str(result(), "destination"), "leaf two/P0"));
	ask("explain", "'src': 'node[1-2]', 'dst': 'storage1', 'multipath': true");
	ck_assert_uint_eq(json_array_size(json_object_get(result(), "sources")), 2);
	refused("explain", "'src': 'nodee1', 'dst': '5'", "no such port (did you mean \"node1\"?)");
	refused("explain", "'src': 'node1 HCA1/P1', 'dst': '5'", "did you mean \"node1 HCA-1/P1\"?");
	refused("explain", "'src': 'node9', 'dst': '5'", "no such port: give NodeDescription/Pn");
	refused("explain", "'src': 'leaf', 'dst': '5'", "no such port");
	refused("explain", "'src': 'node[1-', 'dst': '5', 'multipath': true", "a bracket is not closed");
	strcpy(state->f->nodes[state->f->ports[state->plan->port_by_lid[1]].node].desc, "storage1 HCA-2");
	refused("explain", "'src': 'storage1', 'dst': '5'", "several ports have this name");
}
END_TEST

static void service_id(const char *args, const char *id)
{
	char *all = xasprintf("'src': '1', 'dst': '5', %s", args);

	ask("explain", all);
	ck_assert_str_eq(str(result(), "service-id"), id);
	free(all);
}

START_TEST(protocols_by_name)
{
	service_id("'ulp': 'lustre'", "0x00000000010603db");
	service_id("'ulp': 'sdp'", "0x0000000000010000");
	service_id("'ulp': 'rds'", "0x00000000010648ca");
	service_id("'ulp': 'iser'", "0x0000000001060cbc");
	service_id("'ulp': 'nfs-rdma'", "0x0000000001064e51");
	service_id("'ulp': 'nvme-of'", "0x0000000001061144");
	service_id("'ulp': 'smb-direct'", "0x00000000010601bd");
	service_id("'ulp': 'srp', 'service-id': 4096", "0x0000000000001000");
	service_id("'ulp': 'iser', 'tcp-port': 3261", "0x0000000001060cbd");
	service_id("'tcp-port': 7", "0x0000000001060007");
	ask("explain", "'src': '1', 'dst': '5', 'ulp': 'ipoib'");
	ck_assert(json_is_null(json_object_get(result(), "service-id")));
	ck_assert_int_eq(num(json_object_get(result(), "path"), "pkey"), 0xffff);
	refused("explain", "'src': '1', 'dst': '5', 'ulp': 'nfs'", "ulp: it must be ipoib, sdp, rds");
	refused("explain", "'src': '1', 'dst': '5', 'ulp': 'srp'", "srp needs the service-id");
	refused("explain", "'src': '1', 'dst': '5', 'ulp': 'ipoib', 'tcp-port': 3", "have no tcp-port");
	refused("explain", "'src': '1', 'dst': '5', 'ulp': 'iser', 'service-id': 3", "excludes ulp");
}
END_TEST

static json_t *own_sl(const char *sl)
{
	char *args = xasprintf("'src': '1', 'dst': '5', 'sl': %s", sl);

	ask("explain", args);
	free(args);
	return json_object_get(result(), "own-sl");
}

START_TEST(an_sl_that_a_program_chose)
{
	json_t *x = own_sl("3");

	ck_assert_int_eq(num(x, "sl"), 3);
	ck_assert_str_eq(json_string_value(at(x, "levels", 0)), "fast");
	ck_assert(json_is_false(json_object_get(x, "dropped")));
	ck_assert_int_eq(num(at(x, "hops", 0), "vl"), 3);
	ck_assert_ptr_nonnull(strstr(str(at(x, "hops", 0), "why"), "SL2VL maps it to VL 3"));
	ck_assert_ptr_nonnull(strstr(str(at(x, "hops", 0), "why"), "of the levels fast"));
	x = own_sl("5");
	ck_assert_uint_eq(json_array_size(json_object_get(x, "levels")), 0);
	ck_assert_ptr_nonnull(strstr(str(at(x, "hops", 0), "why"), "SL2VL maps it to VL"));
	ask("explain", "'src': '1', 'dst': '5'");
	ck_assert(json_is_null(json_object_get(result(), "own-sl")));
}
END_TEST

/* The row of an SL on the first group of links from one type of node to another. */
static const json_t *sl_on(const char *from, const char *to, unsigned sl)
{
	const json_t *links = json_object_get(result(), "links"), *g;
	size_t i;

	json_array_foreach(links, i, g)
		if (!strcmp(str(g, "from"), from) && !strcmp(str(g, "to"), to))
			return at(g, "sls", sl);
	ck_abort_msg("no links from %s to %s", from, to);
}

/* promise: B8 */
START_TEST(every_sl_and_who_gets_it)
{
	const json_t *x;

	ask("sls", "");
	ck_assert_uint_eq(json_array_size(json_object_get(result(), "sls")), IB_SL_COUNT);
	x = sl_on("ca", "switch", 3);
	ck_assert_int_eq(num(x, "vl"), 3);
	ck_assert_str_eq(json_string_value(at(x, "levels", 0)), "fast");
	x = sl_on("switch", "ca", 5);
	ck_assert_uint_eq(json_array_size(json_object_get(x, "levels")), 0);
	ck_assert(real(x, "share") > 0);
	x = at(result(), "sls", 0);
	ck_assert(json_is_true(json_object_get(x, "default")));
	x = at(result(), "sls", 3);
	ck_assert(json_is_false(json_object_get(x, "default")));
	ck_assert_int_gt(num(x, "rules-total"), 0);
	ck_assert_str_eq(str(at(x, "rules", 0), "level"), "fast");
	ck_assert_int_eq(num(x, "unreachable"), 0);
	ck_assert_str_eq(str(at(result(), "settings", 0), "setting"), "NCCL_IB_SL=N");
	x = at(result(), "sls", 5);
	ck_assert_uint_eq(json_array_size(json_object_get(x, "rules")), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(x, "partitions")), 0);
}
END_TEST

/* promise: B8 */
START_TEST(one_sl)
{
	ask("sls", "'sl': '05'");
	ck_assert_uint_eq(json_array_size(json_object_get(result(), "sls")), 1);
	ck_assert_int_eq(num(at(result(), "sls", 0), "sl"), 5);
	ck_assert_int_eq(num(at(at(result(), "links", 0), "sls", 0), "sl"), 5);
	ck_assert_str_eq(str(at(result(), "settings", 0), "setting"), "NCCL_IB_SL=5");
	ck_assert_str_eq(str(at(result(), "settings", 1), "setting"), "UCX_IB_SL=5");
	refused("sls", "'sl': '16'", "an SL is a number from 0 to 15");
	refused("sls", "'sl': '-1'", "an SL is a number from 0 to 15");
	refused("sls", "'sl': '3x'", "an SL is a number from 0 to 15");
	refused("sls", "'sl': ''", "an SL is a number from 0 to 15");
}
END_TEST

START_TEST(nothing_in_the_way)
{
	reasons("", "");
	ck_assert_int_eq(num(json_object_get(result(), "path"), "dlid"), 5);
	ck_assert_uint_eq(n_helps(), 0);
}
END_TEST

START_TEST(ends_that_are_none)
{
	ask("explain", "'src': 'nobody', 'dst': '0x0008f10400410017/P3', 'why-not': true");
	ck_assert_str_eq(str(at(result(), "reasons", 0), "reason"), "source");
	says(0, "nobody: no such port");
	says(1, "external port");
	state->plan->lid[fabric_find_port(state->f, 0x2c90300000037)] = 0;
	ask("explain", "'src': '1', 'dst': '0x2c90300000037', 'why-not': true");
	ck_assert_str_eq(str(at(result(), "reasons", 0), "reason"), "destination");
	says(0, "the port has no LID");
}
END_TEST

START_TEST(lids_of_others)
{
	reasons("'slid': 4, 'dlid': 77", "lid");
	says(0, "has LID 1, not 4");
	says(0, "has LID 5, not 77");
	helps(0, "slid dlid");
}
END_TEST

START_TEST(pkeys)
{
	reasons("'pkey': '0x8001', 'qos-class': 3", "pkey");
	says(0, "0x8001");
	helps(0, "pkey");
	ck_assert_uint_eq(n_helps(), 1);
	*vec_push(&level("default")->pkeys) = (struct u64_range){ 0x12, 0x14, { 0, 0 } };
	build_partitions_again();
	reasons("", "level-pkey");
	says(0, "0x0012-0x0014");
	ck_assert_uint_eq(n_helps(), 0);
	reasons("'sl': 0", "level-pkey");
	ck_assert_uint_eq(n_helps(), 0);
	state->plan->partitions->table[fabric_find_port(state->f, 0x2c90300000037)] = 0;
	reasons("", "no-pkey");
	says(0, "has 0xffff");
	says(0, "has none");
}
END_TEST

START_TEST(level_of_a_partition)
{
	struct policy_partition *p = &state->policy->p->partitions[0];

	free(p->level.s);
	p->level = (struct policy_name){ xstrdup("fast"), { 0, 0 } };
	p->level_index = policy_find_level(state->policy->p, "fast");
	build_partitions_again();
	ck_assert_int_eq(num(path(""), "sl"), 3);
	ck_assert_str_eq(str(result(), "level-by"), "partition");
	ck_assert_str_eq(str(result(), "partition"), p->name);
	path("'service-id': '0x1000'");
	ck_assert_str_eq(str(result(), "level-by"), "rule");
}
END_TEST

START_TEST(level_of_an_ipoib_group)
{
	struct policy_partition *p = &state->policy->p->partitions[0];

	p->ipoib_level_index = policy_find_level(state->policy->p, "fast");
	build_partitions_again();
	ck_assert_str_eq(str(explain("'pkey': '0x7fff'"), "level-by"), "default");
	ck_assert_int_eq(num(path("'pkey': '0x7fff', 'sl': '3'"), "sl"), 3);
	ck_assert_str_eq(str(result(), "level-by"), "ipoib");
	ck_assert_str_eq(str(result(), "level"), "fast");
	ck_assert_str_eq(str(result(), "partition"), p->name);
}
END_TEST

START_TEST(path_bits_and_lids)
{
	uint32_t dst = fabric_find_port(state->f, 0x2c90300000037);

	state->plan->lmc[dst] = 1;
	state->plan->port_by_lid[6] = dst;
	level("default")->path_bits = 0;
	compute_paths_again();
	reasons("'dlid': 6", "path-bits no-route");
	says(0, "path bits 0");
	helps(0, "dlid");
}
END_TEST

START_TEST(sl_asked)
{
	reasons("'sl': 9", "sl-asked");
	says(0, "the query requests SL 9, but level default has SL 0");
	helps(0, "sl");
	ck_assert_int_eq(num(json_object_get(at(result(), "helps", 0), "path"), "sl"), 0);
}
END_TEST

START_TEST(no_route)
{
	route_by("leaf two", 5, LFT_DROP);
	reasons("'sl': 9", "sl-asked no-route");
	says(1, "the forwarding table of leaf two");
	says(1, "(hop 2)");
	ck_assert_uint_eq(n_helps(), 0);
	route_by("leaf two", 5, 2);
	reasons("", "no-route");
	says(0, "leads to port 2, which has no link");
	route_by("leaf two", 5, 3);
	route_by("leaf one", 5, 3);
	reasons("", "no-route");
	says(0, "in a cycle");
	route_by("leaf one", 5, 2);
	reasons("", "no-route");
	says(0, "another host, node2");
	route_by("leaf one", 5, 0);
	reasons("", "no-route");
	says(0, "has it as its own");
}
END_TEST

START_TEST(sl_dropped)
{
	map_sl(3, 15);
	reasons("'qos-class': 7", "sl-dropped");
	says(0, "SL 3 is dropped at hop 0");
	says(0, "VL 15");
	says(0, "level fast");
	helps(0, "qos-class");
	map_sl(3, 9);	/* the links have 8 VLs */
	reasons("'qos-class': 7", "sl-dropped");
	says(0, "maps it to VL 9, but the link has 8 VLs");
}
END_TEST

START_TEST(tables_not_managed)
{
	state->plan->tables->managed = false;
	compute_paths_again();
	reasons("'qos-class': 7", "sl-dropped");
	says(0, "does not manage the tables");
	ck_assert(json_is_null(json_object_get(at(path(""), "hops", 0), "share")));
	ask("bandwidth", "'port': '1'");
	ck_assert(json_is_false(json_object_get(result(), "managed")));
	ask("bandwidth", "");
	ck_assert(json_is_null(json_object_get(at(at(result(), "kinds", 0), "levels", 0), "share")));
}
END_TEST

START_TEST(selectors_not_met)
{
	reasons("'mtu': '>2048', 'rate': '100', 'lifetime': '>2s'", "mtu rate lifetime");
	says(0, "more than 2048 bytes, but the maximum is 2048: hop 0, node1");
	says(1, "exactly 100 Gb/s, but the maximum is 40 Gb/s");
	says(2, "subnet-timeout");
	helps(0, "mtu rate lifetime");
	reasons("'mtu': '2048', 'service-id': '0x1000'", "mtu");
	says(0, "limit of level storage");
	ck_assert_uint_eq(n_helps(), 2);
	helps(0, "mtu");
	helps(1, "service-id");
	level("storage")->rate_limit = (uint8_t)rate_parse_gbps("10");
	reasons("'rate': '>10', 'service-id': '0x1000'", "rate");
	says(0, "the maximum is 10 Gb/s: limit of level storage");
	reasons("'mtu': '1:1'", "mtu");
	says(0, "less than 256");
}
END_TEST

START_TEST(not_reversible)
{
	route_by("leaf one", 1, LFT_DROP);
	reasons("'reversible': true", "reversible");
	says(0, "there is no route to LID 1");
	helps(0, "reversible");
	reasons("", "");
}
END_TEST

/* --- bandwidth --- */

static void arbitrate(uint8_t limit, const struct vlarb_entry *high, unsigned n_high,
		      const struct vlarb_entry *low, unsigned n_low)
{
	for (uint32_t i = 0; i < state->plan->tables->n_arbs; i++) {
		struct vlarb *a = &state->plan->tables->arbs[i];

		*a = (struct vlarb){ .n_high = (uint8_t)n_high, .n_low = (uint8_t)n_low,
				     .high_limit = limit };
		memcpy(a->high, high, n_high * sizeof(*high));
		memcpy(a->low, low, n_low * sizeof(*low));
	}
}

static bool near(double a, double b)
{
	return fabs(a - b) < 0.0005;
}

/*
 * SL 3 is on VL 3, of high priority with limit 0: one high packet for each low one.
 * SL 0 is on VL 0 with weight 96 (3 packets of 2048 bytes), SL 2 on VL 2 with weight
 * 32 (2 packets of 1024 bytes): 6144 and 2048 low bytes.  In a cycle of 5 low packets:
 * 5 high packets of 2048 bytes, 10240 bytes in all, and 8192 low bytes.
 */
static void hand_made_tables(void)
{
	static const struct vlarb_entry high[] = { { 3, 255 } }, low[] = { { 0, 96 }, { 2, 32 } };

	arbitrate(0, high, 1, low, 2);
}

START_TEST(shares_of_a_port)
{
	json_t *v;

	hand_made_tables();
	ask("bandwidth", "'port': 'node1 HCA-1/P1'");
	ck_assert_uint_eq(json_array_size(json_object_get(result(), "shares")), 3);
	ck_assert(near(real(result(), "data-rate"), 32));
	v = at(result(), "shares", 0);
	ck_assert_int_eq(num(v, "vl"), 0);
	ck_assert(near(real(v, "share"), 6144 / 18432.0));
	ck_assert(near(real(v, "gbps"), 32 * 6144 / 18432.0));
	ck_assert_int_eq(num(v, "low-weight"), 96);
	/* 3 packets of 2048 bytes and 2 of 1024, while VL 3 is idle */
	ck_assert(near(real(v, "share-idle"), 0.75));
	v = at(result(), "shares", 1);
	ck_assert(near(real(v, "share-idle"), 0.25));
	ck_assert_str_eq(json_string_value(at(v, "levels", 0)), "storage");
	ck_assert(near(real(v, "share"), 2048 / 18432.0));
	v = at(result(), "shares", 2);
	ck_assert(json_is_true(json_object_get(v, "high")));
	ck_assert(json_is_null(json_object_get(v, "share-idle")));
	ck_assert(near(real(v, "share"), 10240 / 18432.0));
	/* the wait includes the packet in transmission and one low packet between two high ones */
	ck_assert(real(v, "wait-us") > 0 && real(v, "wait-us") < 2);
	/* SL 1 has no level, and its VL no weight */
	ck_assert_int_eq(json_integer_value(at(result(), "sls-never-sent", 0)), 1);
	map_sl(3, 15);
	ask("bandwidth", "'port': 'node1 HCA-1/P1'");
	ck_assert_str_eq(json_string_value(at(result(), "dropped", 0)), "fast");
	refused("bandwidth", "'port': 'leaf two/P2'", "no link");
}
END_TEST

/* Both models' shares of VL 3 in an answer, where the study puts it above IBA's arbiter. */
static void check_models(const json_t *v, bool measured)
{
	ck_assert(near(real(v, "share-iba"), 2. / 3));
	ck_assert(near(real(v, "share-measured"), 0.8));
	ck_assert(near(real(v, "share"), measured ? 0.8 : 2. / 3));
	ck_assert(json_is_true(json_object_get(v, "models-differ")));
}

/*
 * VL 3 has weight 16 in the high table and VL 0 weight 4 in the low one, with limit 1: measured 4 to 1, and
 * 2 to 1 by IBA's arbiter.  No level has packets of another size than the study's.
 */
/* promise: B2 */
START_TEST(both_models_in_every_answer)
{
	static const struct vlarb_entry high[] = { { 3, 16 } }, low[] = { { 0, 4 } };
	struct settings by = *state->plan->settings;

	state->plan->settings = &by;
	for (size_t i = 0; i < state->policy->p->n_levels; i++)
		state->policy->p->levels[i].mtu_limit = 0;
	arbitrate(1, high, 1, low, 1);
	for (int measured = 0; measured < 2; measured++) {
		const char *name = measured ? "measured" : "iba";

		by.arbiter_model = measured ? ARB_MODEL_MEASURED : ARB_MODEL_IBA;
		check_models(at(path("'qos-class': 7"), "hops", 1), measured);
		ask("bandwidth", "'port': 'node1 HCA-1/P1'");
		check_models(at(result(), "shares", 2), measured);
		ck_assert_str_eq(str(result(), "arbiter-model"), name);
		ask("bandwidth", "");
		check_models(at(at(result(), "kinds", 0), "levels", 2), measured);
		ck_assert_str_eq(str(result(), "arbiter-model"), name);
		ask("bandwidth", "'port': '1', 'dst': '5'");
		ck_assert_str_eq(str(result(), "arbiter-model"), name);
	}
}
END_TEST

START_TEST(shares_of_hops_are_those_of_ports_and_kinds)
{
	json_t *hop;

	hand_made_tables();
	hop = at(path("'qos-class': 7"), "hops", 1);
	ck_assert_int_eq(num(hop, "vl"), 3);
	ck_assert(near(real(hop, "share"), 10240 / 18432.0));
	ask("bandwidth", "");
	for (size_t i = 0; i < json_array_size(json_object_get(result(), "kinds")); i++) {
		json_t *kind = at(result(), "kinds", i);

		ck_assert(near(real(at(kind, "levels", 0), "share"), 6144 / 18432.0));
		ck_assert(near(real(at(kind, "levels", 1), "share"), 2048 / 18432.0));
		ck_assert(near(real(at(kind, "levels", 2), "share"), 10240 / 18432.0));
	}
	ask("bandwidth", "'level': 'fast'");
	ck_assert_uint_eq(json_array_size(json_object_get(at(result(), "kinds", 0), "levels")), 1);
	refused("bandwidth", "'level': 'nil'", "no such level");
}
END_TEST

/* A device that keeps its own SL-to-VL table and has fewer VLs than planned. */
START_TEST(shares_are_of_the_tables_in_force)
{
	struct fabric *f = state->f;
	uint32_t port = fabric_find_port(f, 0x2c90300000011);
	struct fixed_map seen = { .node = f->ports[port].node, .in = 0, .out = 1 };
	struct findings found = { .max = 0 };

	hand_made_tables();
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		seen.map.vl[sl] = sl == 2 ? 2 : 0;
	f->ports[port].op_vls = 2;	/* two VLs */
	qos_tables_keep(state->plan->tables, f, &(struct fixed_seen){ .maps = &seen, .n_maps = 1 },
			&found);
	findings_free(&found);
	compute_paths_again();
	ask("bandwidth", "'port': 'node1 HCA-1/P1'");
	ck_assert_int_eq(num(result(), "vls"), 2);
	ck_assert_uint_eq(json_array_size(json_object_get(at(result(), "shares", 0), "levels")), 2);
	ck_assert_str_eq(json_string_value(at(at(result(), "shares", 0), "levels", 1)), "fast");
	ck_assert_str_eq(json_string_value(at(result(), "dropped", 0)), "storage");
	explain("'qos-class': 7");
	ck_assert(near(real(at(json_object_get(result(), "path"), "hops", 0), "share"), 1));
	reasons("'service-id': 4096", "sl-dropped");
	says(0, "hop 0");
	says(0, "maps it to VL 2, but the link has 2 VLs");
}
END_TEST

START_TEST(bandwidth_of_a_route)
{
	uint32_t port = fabric_find_port(state->f, 0x2c90300000037);
	json_t *r;

	hand_made_tables();
	state->f->ports[port].rate = state->f->ports[state->f->ports[port].peer].rate =
		(uint8_t)rate_parse_gbps("10");
	compute_paths_again();
	level("storage")->rate_limit = (uint8_t)rate_parse_gbps("2.5");
	ask("bandwidth", "'port': '1', 'dst': '5'");
	ck_assert_str_eq(str(head, "rows"), "routes");
	ck_assert_uint_eq(json_array_size(rows), 3);
	r = json_array_get(rows, 0);
	ck_assert_str_eq(str(r, "level"), "default");
	ck_assert_int_eq(num(r, "bottleneck"), 2);
	ck_assert(near(real(r, "gbps"), 8 * 6144 / 18432.0));
	r = json_array_get(rows, 1);
	ck_assert(near(real(r, "gbps"), 8 * 2048 / 18432.0));	/* less than the limit's 2 Gb/s */
	ask("bandwidth", "'port': '1', 'dst': '4', 'level': 'storage'");
	ck_assert_uint_eq(json_array_size(rows), 1);
	ck_assert(near(real(json_array_get(rows, 0), "gbps"), 2));
	refused("bandwidth", "'dst': '4'", "has no source");
	refused("bandwidth", "'port': '1', 'links': true", "whole fabric");
	refused("bandwidth", "'port': '1', 'level': 'fast'", "level");
}
END_TEST

START_TEST(links_for_a_drawing)
{
	json_t *sw;

	ask("bandwidth", "'links': true");
	ck_assert_str_eq(str(head, "rows"), "switches");
	ck_assert_uint_eq(json_array_size(rows), 2);
	sw = json_array_get(rows, 0);
	ck_assert_int_eq(num(sw, "rank"), 0);
	ck_assert_int_eq(num(json_array_get(rows, 0), "hosts") +
			 num(json_array_get(rows, 1), "hosts"), 3);
	ck_assert_int_eq(num(at(sw, "links", 0), "links"), 2);
	ck_assert_int_eq(num(at(sw, "links", 0), "to"), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(rows, 1), "links")), 0);
	ck_assert(json_is_null(json_object_get(at(sw, "links", 0), "below")));
}
END_TEST

static Suite *explain_suite(void)
{
	Suite *s = suite_create("ctl explain");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, every_field_has_a_reason);
	tcase_add_test(t, the_slowest_hop_is_named);
	tcase_add_test(t, selectors_as_people_write_them);
	tcase_add_test(t, selectors_that_are_none);
	tcase_add_test(t, several_ends);
	tcase_add_test(t, several_ends_of_which_some_have_no_path);
	tcase_add_test(t, ends_by_name);
	tcase_add_test(t, protocols_by_name);
	tcase_add_test(t, an_sl_that_a_program_chose);
	tcase_add_test(t, every_sl_and_who_gets_it);
	tcase_add_test(t, one_sl);
	tcase_add_test(t, nothing_in_the_way);
	tcase_add_test(t, ends_that_are_none);
	tcase_add_test(t, lids_of_others);
	tcase_add_test(t, pkeys);
	tcase_add_test(t, level_of_a_partition);
	tcase_add_test(t, level_of_an_ipoib_group);
	tcase_add_test(t, path_bits_and_lids);
	tcase_add_test(t, sl_asked);
	tcase_add_test(t, no_route);
	tcase_add_test(t, sl_dropped);
	tcase_add_test(t, tables_not_managed);
	tcase_add_test(t, selectors_not_met);
	tcase_add_test(t, not_reversible);
	tcase_add_test(t, shares_of_a_port);
	tcase_add_test(t, both_models_in_every_answer);
	tcase_add_test(t, shares_of_hops_are_those_of_ports_and_kinds);
	tcase_add_test(t, shares_are_of_the_tables_in_force);
	tcase_add_test(t, bandwidth_of_a_route);
	tcase_add_test(t, links_for_a_drawing);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(explain_suite());
}
