/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests every command, and malformed requests, without a socket. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "ctl/command.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "qosd/ctl.h"
#include "sa/registry/services.h"
#include "sa/registry/subscriptions.h"
#include "sm/devices/withdrawals.h"
#include "subnet.h"
#include "unit/run.h"

/* --- what the daemon would provide --- */

static struct subnet_state *state;
static struct ctl_env env;
static struct ctl_view view;
static struct sa_stats sa_stats;
static struct mad_counts counts;
static const struct sa_stats *sums(void *arg)
{
	(void)arg;
	return &sa_stats;
}

static struct loop *loop;
static struct jobs *jobs;
static struct gauges *gauges;
static bool accept_policy;
static unsigned reloads, sweeps, priority, released_port;
static uint64_t released_guid;

static struct shared_policy *reload_read(void *arg, struct settings *live, struct findings *out)
{
	(void)live;
	struct policy *p;

	(void)arg;
	findings_add(out, accept_policy ? SEV_WARNING : SEV_ERROR, "/etc/qosd/policy.yaml",
		     (struct src_pos){ 7, 3 }, "something about it");
	if (!accept_policy)
		return NULL;
	p = policy_builtin();
	p->levels[0].path_bits = 1;	/* more than an LMC of 0 has */
	return shared_policy_new(p);
}

static bool reload_apply(void *arg, struct shared_policy *p, struct findings *found, struct asker who)
{
	(void)arg;
	(void)who;
	ck_assert(accept_policy == (p != NULL));
	ck_assert_uint_eq(found->n, 1);
	reloads++;
	return p != NULL;
}

static void set_priority(struct sm *sm, uint8_t p)
{
	(void)sm;
	priority = p;
}

static bool retrain_link(struct sm *sm, uint64_t guid, unsigned port, struct buf *err)
{
	(void)sm;
	if (port == 1)
		return true;
	buf_printf(err, "port %u of 0x%llx has no link", port, (unsigned long long)guid);
	return false;
}

static unsigned release_links(struct sm *sm, uint64_t guid, unsigned port)
{
	(void)sm;
	released_guid = guid;
	released_port = port;
	return 2;
}

static void sweep(struct sm *sm, const char *reason)
{
	(void)sm;
	(void)reason;
	sweeps++;
}

static void setup(void)
{
	json_set_alloc_funcs(xmalloc, free);
	state = test_subnet();
	memset(&view, 0, sizeof(view));
	memset(&counts, 0, sizeof(counts));
	memset(&sa_stats, 0, sizeof(sa_stats));
	loop = loop_new();
	asking_in(loop);
	env = (struct ctl_env){ .version = "1.2.3", .reload_read = reload_read,
				.reload_apply = reload_apply, .request_sweep = sweep,
				.set_priority = set_priority, .release_links = release_links,
				.retrain_link = retrain_link,
				.sa_stats = sums };
	jobs = jobs_new(loop);
	gauges = gauges_new(loop);
	view = (struct ctl_view){ .peer.right = CTL_ADMIN, .state = state, .mad = &counts,
				  .jobs = jobs, .gauges = gauges };
	view.sm.state = SM_MASTER;
	reloads = sweeps = priority = 0;
}

static void teardown(void)
{
	jobs_free(jobs);
	gauges_free(gauges);
	loop_free(loop);
	test_subnet_free(state);
}

/* --- asking --- */

static char *ask_text(enum ctl_right right, const char *line)
{
	return answer_text(&env, &view, right, line);
}

/* rows may be NULL. */
static json_t *ask(const char *line, json_t **rows)
{
	json_t *all, *head = answer_parts(&env, &view, line, &all);

	if (rows)
		*rows = all;
	else
		json_decref(all);
	return head;
}

static json_t *result_of(json_t *head)
{
	json_t *result = json_object_get(head, "result");

	ck_assert_msg(json_is_true(json_object_get(head, "ok")), "%s",
		      json_string_value(json_object_get(head, "error")));
	ck_assert(json_is_object(result));
	return result;
}

static void refused(const char *line, const char *why)
{
	json_t *head = ask(line, NULL);

	ck_assert_msg(json_is_false(json_object_get(head, "ok")), "accepted: %s", line);
	ck_assert_msg(strstr(str(head, "error"), why) != NULL, "%s: %s", line, str(head, "error"));
	json_decref(head);
}

/* --- malformed requests --- */

START_TEST(garbage_is_refused)
{
	refused("", "not JSON");
	refused("status", "not JSON");
	refused("{\"command\": \"status\"} x", "not JSON");
	refused("\xff\xfe{}", "not JSON");
	refused("{\"command\": \"sta\\u0000tus\"}", "not JSON");
	refused("{\"command\": \"status\", \"command\": \"nodes\"}", "not JSON");
	refused("[]", "has no command");
	refused("{}", "has no command");
	refused("{\"command\": 5}", "has no command");
	refused("{\"command\": \"format\"}", "no such command: format");
	refused("{\"command\": \"status\", \"args\": []}", "must be an object");
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
	char *line = xmalloc(60001);

	memset(line, '[', 60000);
	line[60000] = '\0';
	refused(line, "not JSON");
	free(line);
}
END_TEST

START_TEST(arguments_are_checked)
{
	refused("{\"command\": \"status\", \"args\": {\"x\": \"y\"}}", "no such argument: x");
	refused("{\"command\": \"route\", \"args\": {\"src\": \"1\"}}", "dst is missing");
	refused("{\"command\": \"route\"}", "src is missing");
	refused("{\"command\": \"route\", \"args\": {\"src\": 1, \"dst\": \"4\"}}",
		"src: must be a string");
	refused("{\"command\": \"route\", \"args\": {\"src\": \"1\", \"dst\": \"4\", \"sl\": 16}}",
		"sl: must be a number from 0 to 15");
	refused("{\"command\": \"route\", \"args\": {\"src\": \"1\", \"dst\": \"4\", \"sl\": -1}}",
		"sl: must be a number");
	refused("{\"command\": \"explain\", \"args\": {\"src\": \"1\", \"dst\": \"4\", "
		"\"service-id\": \"0x10000000000000000\"}}", "service-id: must be a number");
	refused("{\"command\": \"explain\", \"args\": {\"src\": \"1\", \"dst\": \"4\", "
		"\"service-id\": \"12 \"}}", "service-id: must be a number");
	refused("{\"command\": \"explain\", \"args\": {\"src\": \"1\", \"dst\": \"4\", "
		"\"service-id\": \"-1\"}}", "service-id: must be a number");
	refused("{\"command\": \"explain\", \"args\": {\"src\": \"1\", \"dst\": \"4\", "
		"\"numb-path\": 0}}", "numb-path: must be a number from 1 to 127");
	refused("{\"command\": \"route\", \"args\": {\"src\": \"1\", \"dst\": \"4\", "
		"\"sl\": \"0x\"}}", "sl: must be a number");
}
END_TEST

/* A leading 0 does not make a number octal. */
START_TEST(numbers_are_decimal_or_hexadecimal)
{
	static const struct { const char *text; long long value; } forms[] = {
		{ "10", 10 }, { "010", 10 }, { "0", 0 }, { "0xa", 10 }, { "0X0A", 10 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		char *line = xasprintf("{\"command\": \"route\", \"args\": {\"src\": \"1\", "
				       "\"dst\": \"4\", \"sl\": \"%s\"}}", forms[i].text);
		json_t *head = ask(line, NULL);

		ck_assert_int_eq(num(result_of(head), "sl"), forms[i].value);
		json_decref(head);
		free(line);
	}
}
END_TEST

START_TEST(ports_are_checked)
{
	refused("{\"command\": \"sl2vl\", \"args\": {\"port\": \"nowhere/P1\"}}",
		"nowhere/P1: no such port");
	refused("{\"command\": \"vlarb\", \"args\": {\"port\": \"\"}}", "no such port");
	refused("{\"command\": \"route\", \"args\": {\"src\": \"0x0008f10400410017/P3\", "
		"\"dst\": \"4\"}}", "external port");
	refused("{\"command\": \"route\", \"args\": {\"src\": \"1\", \"dst\": \"999\"}}",
		"999: no such port");
}
END_TEST

START_TEST(no_subnet_says_so)
{
	json_t *head;

	view.state = NULL;
	view.sm.state = SM_STANDBY;
	refused("{\"command\": \"nodes\"}", "standby");
	refused("{\"command\": \"dump\"}", "the subnet is not up");
	head = ask("{\"command\": \"status\"}", NULL);
	ck_assert_str_eq(str(result_of(head), "state"), "standby");
	json_decref(head);
}
END_TEST

/* --- commands that change something --- */

START_TEST(writers_need_privilege)
{
	static const char *const lines[] = {
		"{\"command\": \"reload\"}", "{\"command\": \"sweep\"}",
		"{\"command\": \"priority\", \"args\": {\"priority\": 3}}",
		"{\"command\": \"links release\"}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char *text = ask_text(CTL_READ, lines[i]);

		ck_assert_ptr_nonnull(strstr(text, "\"ok\":false"));
		ck_assert_ptr_nonnull(strstr(text, "not permitted"));
		free(text);
	}
	ck_assert_uint_eq(reloads + sweeps + priority, 0);
	free(ask_text(CTL_READ, "{\"command\": \"status\"}"));
}
END_TEST

static void body(enum ctl_right right, const char *line, enum body wanted, const char *why)
{
	struct ctl_peer peer = { .right = right, .gid = 1002, .who.uid = 1001 };
	struct reply r;
	size_t bytes = 12345;

	ck_assert_msg(command_body(&env, &peer, line, strlen(line), &bytes, &r) == wanted, "%s",
		      line);
	if (wanted == BODY_REFUSED)
		ck_assert_msg(strstr(str(r.head, "error"), why) != NULL, "%s",
			      str(r.head, "error"));
	if (wanted == BODY_FOLLOWS)
		ck_assert_uint_eq(bytes, 7);
	reply_free(&r);
}

/*
 * Two switches with two cables between them, two hosts on one and one on the other: six pairs, four of which
 * cross between the switches.
 */
/* promise: B5 */
START_TEST(routes_are_measured_once)
{
	json_t *rows, *head, *g;
	uint64_t generation = state->generation;

	head = answer_parts(&env, &view, "{\"command\": \"routes\"}", &rows);
	ck_assert_ptr_null(json_object_get(json_object_get(head, "result"), "gauge"));
	ck_assert_str_eq(str(json_object_get(head, "result"), "engine"), "updn");
	ck_assert_ptr_null(gauges_last(gauges));
	g = json_object_get(json_object_get(head, "result"), "shape");
	ck_assert(json_is_true(json_object_get(g, "tree")));
	ck_assert_str_eq(str(g, "state"), "tree");
	ck_assert_ptr_nonnull(strstr(str(g, "text"), "the switches form a tree"));
	g = json_object_get(json_object_get(head, "result"), "lost");
	ck_assert_int_eq(num(g, "hosts") + num(g, "switches") + num(g, "switches-and-sm"), 0);
	json_decref(head);
	json_decref(rows);
	for (int i = 0; i < 2; i++) {
		head = answer_parts(&env, &view,
				    "{\"command\": \"routes\", \"args\": {\"gauge\": true}}", &rows);
		g = json_object_get(json_object_get(head, "result"), "gauge");
		ck_assert_int_eq(num(g, "end-ports"), 3);
		ck_assert_int_eq(num(g, "pairs"), 6);
		ck_assert_int_eq(num(g, "connected"), 6);
		ck_assert_int_eq(num(g, "cable-directions"), 4);
		ck_assert_int_eq(num(g, "hops-max"), 2);
		ck_assert(json_is_null(json_object_get(g, "longest-detour-from")));
		ck_assert(json_is_string(json_object_get(g, "hottest")));
		ck_assert_int_eq(num(g, "layers"), 1);
		ck_assert(json_is_null(json_object_get(g, "plain")));
		json_decref(head);
		json_decref(rows);
		/* the second answer takes no thread, so it comes even without a loop */
		asking_in(NULL);
	}
	/* the routes of another state are not measured */
	ck_assert_uint_eq(gauges_last(gauges)->generation, generation);
	state->generation++;
	asking_in(loop);
	head = answer_parts(&env, &view, "{\"command\": \"routes\", \"args\": {\"gauge\": true}}",
			    &rows);
	ck_assert_uint_eq(gauges_last(gauges)->generation, generation + 1);
	json_decref(head);
	json_decref(rows);
}
END_TEST

/* The texts of all rows of a `dump`, file by file. */
static char *dumped_text(void)
{
	struct buf all = { 0 };
	json_t *rows, *row, *head = answer_parts(&env, &view, "{\"command\": \"dump\"}", &rows);
	size_t i;

	json_array_foreach(rows, i, row) {
		ck_assert_double_ge(real(row, "done"), 0);
		buf_printf(&all, "%s %s", str(row, "file"), str(row, "text"));
	}
	json_decref(rows);
	json_decref(head);
	return all.s;
}

/* promise: L20 */
START_TEST(raw_files_are_the_same)
{
	char *text = dumped_text();
	char *answer = answer_text(&env, &view, CTL_READ, "{\"command\": \"dump\", \"args\": {\"raw\": true}}");
	struct buf all = { 0 };
	const char *at = strchr(answer, '\n') + 1;	/* behind the head */
	bool ended = false;

	while (!ended) {
		json_t *row = json_loads(at, JSON_DISABLE_EOF_CHECK, NULL);

		ck_assert_ptr_nonnull(row);
		ended = json_object_get(row, "end") != NULL;
		at = strchr(at, '\n') + 1;
		if (!ended) {
			ck_assert_ptr_null(json_object_get(row, "text"));
			buf_printf(&all, "%s %.*s", str(row, "file"), (int)num(row, "bytes"), at);
			at += num(row, "bytes");
		}
		json_decref(row);
	}
	ck_assert_int_eq(*at, '\0');
	ck_assert_uint_gt(all.n, 1000);
	ck_assert_str_eq(all.s, text);
	buf_free(&all);
	free(answer);
	free(text);
}
END_TEST

static const struct ctl_command commands[] = {
#define COMMAND(id, ...) CTL_COMMAND(__VA_ARGS__),
#define DAEMON_COMMAND COMMAND
#include "qosd/commands.def"
};

/* What goes through all tables of a large fabric must not be done in a turn of the loop. */
/* promise: M7 */
START_TEST(withdrawn_is_counted_in_a_job)
{
	static const char line[] = "{\"command\": \"withdrawn\"}";
	json_t *places;
	struct reply r;

	command_start(&env, &view, line, strlen(line), &r);
	ck_assert_int_eq(r.stage, REPLY_WAITING);
	reply_free(&r);
	json_decref(ask(line, &places));
	ck_assert_uint_eq(json_array_size(places), 0);
	json_decref(places);
}
END_TEST

static const struct withdrawals *get_withdrawals(void *arg)
{
	return arg;
}

static uint64_t set_withdrawals(void *arg, struct withdrawals *w, struct asker who, struct buf *err)
{
	(void)arg;
	(void)who;
	(void)err;
	withdrawals_free(w);
	return 1;
}

static bool topology_accept(void *arg, struct expected *x, struct buf *lines, struct asker who, struct buf *err)
{
	(void)arg;
	(void)lines;
	(void)who;
	(void)err;
	expected_unref(x);
	return true;
}

static void is_ready(void *arg)
{
	++*(int *)arg;
	loop_stop(loop);
}

/* The same for changes: they are neither refused while other requests are worked on, nor for each other. */
/* promise: M7 */
START_TEST(changes_are_made_in_jobs)
{
	static const char *const lines[] = {
		"{\"command\": \"drain\", \"args\": {\"what\": [\"0x8f10400410017\"]}}", "{\"command\": \"accept\"}",
		"{\"command\": \"isolate\", \"args\": {\"what\": [\"0x8f10400410017\"], \"force\": true}}", "{\"command\": \"accept\"}",
	};
	static const char busy[] = "{\"command\": \"withdrawn\"}";
	struct withdrawals *w = withdrawals_new();
	struct reply r[ARRAY_SIZE(lines)], others[CTL_JOBS_MAX];
	int ready = 0;

	env.arg = w;
	env.withdrawals = get_withdrawals;
	env.withdrawals_set = set_withdrawals;
	env.topology_accept = topology_accept;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		command_start(&env, &view, busy, strlen(busy), &others[i]);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		command_start(&env, &view, lines[i], strlen(lines[i]), &r[i]);
		ck_assert_msg(r[i].stage == REPLY_WAITING, "%s", lines[i]);
		r[i].ready = is_ready;
		r[i].ready_arg = &ready;
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		reply_free(&others[i]);
	reply_free(&r[3]);	/* this client does not wait */
	while (ready < 3)
		loop_run(loop);
	ck_assert(json_is_true(json_object_get(r[1].head, "ok")));
	for (size_t i = 0; i < 3; i++)
		reply_free(&r[i]);
	withdrawals_free(w);
}
END_TEST

/* A new command must be added here with the right that it takes. */
/* promise: L2 */
START_TEST(every_command_has_its_right)
{
	static const char *const admin[] = {
		"sa-trace", "plan", "policy check", "policy load", "policy confirm", "policy revert",
		"partition change", "reload", "sweep", "priority", "links release", "links retrain",
		"drain", "isolate", "release", "counters", "errors clear", "holdings remove", "mcast remove", "forget",
		"accept", "optics read",
	}, *const reads[] = {
		"status", "sweep steps", "withdrawn", "nodes", "ports", "route", "sl2vl", "vlarb", "explain", "bandwidth",
		"mcast", "services", "subscriptions", "dump", "report", "export ibacm", "export slurm", "health", "metrics",
		"events", "sa-stats", "policy show", "policy history", "partition show",
		"partitions", "holdings", "routes", "sls", "who", "missing", "standbys", "topology", "errors",
		"hosts", "matrix", "export node-name-map", "optics",
	};
	for (size_t n = 0; n < ARRAY_SIZE(commands); n++) {
		enum ctl_right takes = commands[n].takes;
		const char *name = commands[n].name;
		const char *const *list = takes == CTL_ADMIN ? admin : reads;
		size_t size = takes == CTL_ADMIN ? ARRAY_SIZE(admin) : ARRAY_SIZE(reads), i = 0;

		ck_assert_msg(takes == CTL_ADMIN || takes == CTL_READ, "%s", name);
		while (i < size && strcmp(list[i], name) != 0)
			i++;
		ck_assert_msg(i < size, "%s is of another class, or of none here", name);
	}
	ck_assert_uint_eq(ARRAY_SIZE(commands), ARRAY_SIZE(admin) + ARRAY_SIZE(reads));
}
END_TEST

/* Each command, with every lesser right: the error names the client and the right that it takes. */
/* promise: L2 */
START_TEST(who_may_not_is_told_why)
{
	env.read_group = (struct ctl_group){ .name = (char[]){ "noc" }, .gid = 7 };
	env.admin_group = (struct ctl_group){ .name = (char[]){ "fabric" }, .gid = 8 };
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		for (enum ctl_right right = CTL_NOTHING; right < commands[i].takes; right++) {
			enum ctl_right takes = commands[i].takes;
			const char *name = commands[i].name;
			char *line = xasprintf("{\"command\": \"%s\"}", name);
			char *why = xasprintf("\"%s: not permitted to uid 1001, gid 1002: this needs "
					      "the group %s, root or the daemon's user\"", name,
					      takes == CTL_READ ? "noc or fabric" : "fabric");
			char *text = ask_text(right, line);

			ck_assert_msg(strstr(text, why) != NULL, "%s, but %s", text, why);
			free(text);
			free(why);
			free(line);
		}
	env.admin_group.name = NULL;
	body(CTL_READ, "{\"command\": \"plan\", \"body\": 7}", BODY_REFUSED,
	     "gid 1002: this needs root or the daemon's user");
	env.read_group.name = NULL;
	body(CTL_READ, "{\"command\": \"plan\", \"body\": 7}", BODY_REFUSED,
	     "gid 1002: this needs the socket's group, root or the daemon's user");
}
END_TEST

START_TEST(reload_tells_findings)
{
	json_t *head, *finding;

	accept_policy = true;
	head = ask("{\"command\": \"reload\"}", NULL);
	finding = json_array_get(json_object_get(result_of(head), "findings"), 0);
	ck_assert_str_eq(str(finding, "severity"), "warning");
	ck_assert_int_eq(num(finding, "line"), 7);
	finding = json_array_get(json_object_get(result_of(head), "fabric-findings"), 0);
	ck_assert_ptr_nonnull(strstr(str(finding, "text"), "path-bits 1 need more LIDs"));
	ck_assert(json_is_null(json_object_get(result_of(head), "in-force-when")));
	json_decref(head);

	accept_policy = false;
	head = ask("{\"command\": \"reload\"}", NULL);
	ck_assert(json_is_false(json_object_get(head, "ok")));
	finding = json_array_get(json_object_get(head, "findings"), 0);
	ck_assert_str_eq(str(finding, "severity"), "error");
	ck_assert_str_eq(str(finding, "text"), "something about it");
	json_decref(head);
	ck_assert_uint_eq(reloads, 2);
}
END_TEST

START_TEST(sweep_is_passed_on)
{
	json_t *head = ask("{\"command\": \"sweep\"}", NULL);

	ck_assert(json_is_true(json_object_get(head, "ok")));
	ck_assert_uint_eq(sweeps, 1);
	json_decref(head);
}
END_TEST

/* Without a subnet manager, the answer has the order of steps but no times. */
START_TEST(steps_of_sweeps)
{
	static const char *const kinds[] = { "standby", "takeover", "policy", "local", "change", "full" };
	json_t *head = ask("{\"command\": \"sweep steps\"}", NULL);
	const json_t *list = json_object_get(json_object_get(head, "result"), "sweeps");

	ck_assert_uint_eq(json_array_size(list), ARRAY_SIZE(kinds));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const json_t *sweep = json_array_get(list, i);
		const json_t *steps = json_object_get(sweep, "steps");

		ck_assert_str_eq(json_string_value(json_object_get(sweep, "sweep")), kinds[i]);
		ck_assert(json_is_false(json_object_get(sweep, "current")));
		ck_assert_uint_gt(json_array_size(steps), 5);
		ck_assert(json_is_null(json_object_get(json_array_get(steps, 0), "seconds")));
	}
	ck_assert_uint_eq(sweeps, 0);	/* none is asked for */
	json_decref(head);
}
END_TEST

START_TEST(priority_is_passed_on)
{
	json_t *head = ask("{\"command\": \"priority\", \"args\": {\"priority\": 15}}", NULL);

	ck_assert(json_is_true(json_object_get(head, "ok")));
	ck_assert_uint_eq(priority, 15);
	json_decref(head);
	refused("{\"command\": \"priority\"}", "missing");
	refused("{\"command\": \"priority\", \"args\": {\"priority\": 16}}", "from 0 to 15");
	ck_assert_uint_eq(priority, 15);
}
END_TEST

START_TEST(links_are_released)
{
	json_t *head = ask("{\"command\": \"links release\", \"args\": {\"port\": \"leaf one/P1\"}}", NULL);

	ck_assert_int_eq(num(result_of(head), "released"), 2);
	ck_assert_uint_eq(released_guid, 0x8f10400410017);
	ck_assert_uint_eq(released_port, 1);
	json_decref(head);
	refused("{\"command\": \"links release\", \"args\": {\"port\": \"nobody\"}}", "no such port");
	json_decref(ask("{\"command\": \"links release\"}", NULL));
	refused("{\"command\": \"links retrain\"}", "port is missing");
	refused("{\"command\": \"links retrain\", \"args\": {\"port\": \"nobody\"}}", "no such port");
	refused("{\"command\": \"links retrain\", \"args\": {\"port\": \"leaf one/P2\"}}",
		"port 2 of");
	json_decref(ask("{\"command\": \"links retrain\", \"args\": {\"port\": \"leaf one/P1\"}}",
			NULL));
	ck_assert_uint_eq(released_guid, 0);	/* all */
}
END_TEST

/* --- status --- */

START_TEST(status_has_what_is_promised)
{
	struct findings findings = { .max = 0 }, rejected = { .max = 0 };
	json_t *head, *s, *smps, *policy;

	findings_add(&findings, SEV_WARNING, "p.yaml", (struct src_pos){ 3, 9 },
		     "not in the fabric");
	findings_add(&rejected, SEV_ERROR, "p.yaml", (struct src_pos){ 4, 1 }, "unknown key");
	counts.smps = 30;
	counts.sets_total = 12;
	counts.gets[0x15] = 18;
	counts.sets[0x15] = 12;
	counts.timeouts = 2;
	counts.lost = 4;
	counts.window = 24;
	counts.window_most = 64;
	counts.window_cut_to = 9;
	sa_stats.requests = 5;
	sa_stats.by_attr[0x35].requests = 5;
	state->policy->loaded_us = 1780315445000000;	/* 2026-06-01T12:04:05Z */
	view.sm = (struct sm_status){
		.state = SM_MASTER, .subnet_up = true, .phase = "idle", .guid = 0x2c90300000011,
		.lid = 1, .nodes = 5, .switches = 2, .ports_active = 10, .sweeps = 3,
		.last_sweep_seconds = 0.25, .engine = "updn", .discovery_smps = 12, .discovery_lost = 3,
		.trees = 40, .trees_pending = true, .trees_remade = 7, .trees_kept = 33, .trees_made = 90,
		.policy = state->policy,
		.findings = &findings, .rejected = &rejected,
	};
	log_error("test", "a line for the log");

	head = ask("{\"command\": \"status\"}", NULL);
	s = result_of(head);
	ck_assert_str_eq(str(s, "state"), "master");
	ck_assert(json_is_true(json_object_get(s, "subnet-up")));
	ck_assert_str_eq(str(s, "guid"), "0x0002c90300000011");
	ck_assert_int_eq(num(s, "lid"), 1);
	ck_assert_int_eq(num(s, "nodes"), 5);
	ck_assert_int_eq(num(s, "switches"), 2);
	ck_assert_int_eq(num(s, "ports-active"), 10);
	ck_assert_int_eq(num(s, "sweeps"), 3);
	ck_assert(json_real_value(json_object_get(s, "last-sweep-seconds")) == 0.25);
	smps = json_object_get(s, "smps");
	ck_assert_int_eq(num(smps, "sent"), 30 + 12);
	ck_assert_int_eq(num(smps, "discovery"), 12);
	ck_assert_int_eq(num(smps, "sets"), 12);
	ck_assert_int_eq(num(smps, "timeouts"), 2);
	ck_assert_int_eq(num(smps, "lost"), 4 + 3);
	ck_assert_int_eq(num(json_object_get(smps, "window"), "now"), 24);
	ck_assert_int_eq(num(json_object_get(smps, "window"), "most"), 64);
	ck_assert_int_eq(num(json_object_get(smps, "window"), "cut-to"), 9);
	ck_assert_uint_eq(json_array_size(json_object_get(s, "lossy-devices")), 0);
	ck_assert(json_is_true(json_object_get(json_object_get(s, "multicast-trees"), "pending")));
	ck_assert_int_eq(num(json_object_get(s, "multicast-trees"), "last-sweep-made"), 7);
	ck_assert_int_eq(num(json_object_get(s, "multicast-trees"), "last-sweep-kept"), 33);
	smps = json_object_get(json_object_get(smps, "by-attribute"), "PortInfo");
	ck_assert_int_eq(num(smps, "get"), 18);
	ck_assert_int_eq(num(smps, "set"), 12);
	ck_assert_int_eq(num(json_object_get(json_object_get(s, "sa"), "by-attribute"),
			     "PathRecord"), 5);
	policy = json_object_get(s, "policy");
	str(policy, "file");
	ck_assert_uint_eq(strlen(str(policy, "checksum")), 16);
	ck_assert_str_eq(str(policy, "loaded"), "2026-06-01T12:04:05Z");
	ck_assert_str_eq(str(json_array_get(json_object_get(policy, "findings"), 0), "text"),
			 "not in the fabric");
	ck_assert_int_eq(num(json_array_get(json_object_get(policy, "rejected"), 0), "line"), 4);
	ck_assert_ptr_nonnull(strstr(str(json_array_get(json_object_get(s, "log"), 0), "text"),
				     "a line for the log"));
	json_decref(head);
	findings_free(&findings);
	findings_free(&rejected);
}
END_TEST

START_TEST(status_works_before_anything)
{
	json_t *head;

	view = (struct ctl_view){ .jobs = view.jobs };
	head = ask("{\"command\": \"status\"}", NULL);
	ck_assert_str_eq(str(result_of(head), "state"), "not-active");
	ck_assert(json_is_false(json_object_get(result_of(head), "subnet-up")));
	ck_assert_int_eq(num(json_object_get(result_of(head), "smps"), "sent"), 0);
	json_decref(head);
}
END_TEST

START_TEST(status_has_the_state_folder)
{
	struct buf err = { 0 };
	json_t *head = ask("{\"command\": \"status\"}", NULL), *problems, *p;

	ck_assert(json_is_null(json_object_get(result_of(head), "state-folder")));
	json_decref(head);
	env.store = store_open("/proc/nowhere/qosd", NULL, &err);
	ck_assert_ptr_nonnull(env.store);
	head = ask("{\"command\": \"status\"}", NULL);
	problems = json_object_get(json_object_get(result_of(head), "state-folder"), "problems");
	ck_assert_uint_eq(json_array_size(problems), 1);
	p = json_array_get(problems, 0);
	ck_assert_str_eq(str(p, "file"), "");
	ck_assert_ptr_nonnull(strstr(str(p, "problem"), "No such file or directory"));
	ck_assert_ptr_nonnull(strstr(str(p, "since"), "T"));
	json_decref(head);
	store_close(env.store);
}
END_TEST

/* --- nodes and ports --- */

static const json_t *row_with(const json_t *rows, const char *key, const char *value)
{
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
		if (strstr(str(row, key), value))
			return row;
	ck_abort_msg("no row with %s %s", key, value);
	return NULL;
}

START_TEST(services_are_listed)
{
	struct sa sa = { .services = services_new(NULL, NULL) };
	struct service s = { .key = { .id = 0x77, .gid = { 0xfe, 0x80, [15] = 9 }, .pkey = 0x8001 },
			     .source = state->f->ports[state->f->self].guid,
			     .ends_us = SERVICE_NEVER, .secret = { 1 }, .data = { 0, 0xab } };
	json_t *rows, *head, *row;

	memset(s.name, 'x', sizeof(s.name));	/* no NUL at its end */
	services_put(sa.services, &s);
	s.key.id = 0x78;
	s.source = 0x1234;
	s.ends_us = 1;
	memset(s.secret, 0, sizeof(s.secret));
	services_put(sa.services, &s);
	head = ask("{\"command\": \"services\"}", &rows);
	ck_assert_uint_eq(json_array_size(rows), 0);	/* no SA */
	json_decref(head);
	json_decref(rows);
	env.sa = &sa;
	head = ask("{\"command\": \"services\"}", &rows);
	ck_assert_uint_eq(json_array_size(rows), 2);
	row = json_array_get(rows, 0);
	ck_assert_str_eq(str(row, "service-id"), "0x0000000000000077");
	ck_assert_str_eq(str(row, "gid"), "fe80::9");
	ck_assert_int_eq(num(row, "pkey"), 0x8001);
	ck_assert(json_is_null(json_object_get(row, "lease")));
	ck_assert_uint_eq(strlen(str(row, "name")), 64);
	ck_assert_str_eq(str(row, "data"), "00ab");
	ck_assert(json_is_true(json_object_get(row, "keyed")));
	row = json_array_get(rows, 1);
	ck_assert_int_eq(num(row, "lease"), 0);
	ck_assert_str_eq(str(row, "registered-by"), "0x0000000000001234");
	ck_assert(json_is_false(json_object_get(row, "keyed")));
	json_decref(head);
	json_decref(rows);
	services_free(sa.services);
}
END_TEST

START_TEST(subscriptions_are_listed)
{
	struct sa sa = { .subscriptions = subscriptions_new(NULL, NULL) };
	struct subscription all = {
		.what = { .lid_first = INFORM_ALL_LIDS, .generic = true, .type = INFORM_ALL_TYPES,
			  .number = INFORM_ALL_TRAPS, .producer = INFORM_ALL_PRODUCERS },
		.number = SUBSCRIPTION_ANY,
	}, vendor = { .what = { .lid_first = 3, .lid_last = 7, .number = 5, .type = 1,
				.producer = 2 },
		      .number = SUBSCRIPTION_ANY, .trusted = true };
	json_t *rows, *head, *row;

	subscriptions_add(sa.subscriptions, state->f->ports[state->f->self].guid, 1, &all);
	subscriptions_add(sa.subscriptions, state->f->ports[state->f->self].guid, 1, &vendor);
	subscriptions_add(sa.subscriptions, UINT64_MAX, UINT32_MAX >> 8, &vendor);
	env.sa = &sa;
	head = ask("{\"command\": \"subscriptions\"}", &rows);
	ck_assert_uint_eq(json_array_size(rows), 3);
	row = json_array_get(rows, 0);
	ck_assert_int_eq(num(row, "qpn"), 1);
	ck_assert_int_eq(num(row, "enum"), 0);
	ck_assert(json_is_null(json_object_get(row, "trap")));
	ck_assert(json_is_null(json_object_get(row, "lids")));
	ck_assert(json_is_null(json_object_get(row, "gid")));
	row = json_array_get(rows, 1);
	ck_assert_int_eq(num(row, "enum"), 1);
	ck_assert_int_eq(num(row, "device"), 5);
	ck_assert_int_eq(num(row, "vendor"), 2);
	ck_assert(json_is_true(json_object_get(row, "trusted")));
	ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(row, "lids"), 1)), 7);
	row = json_array_get(rows, 2);
	ck_assert_int_eq(num(row, "qpn"), 0xffffff);
	ck_assert_int_eq(num(row, "device"), 5);
	json_decref(head);
	json_decref(rows);
	subscriptions_free(sa.subscriptions);
}
END_TEST

START_TEST(nodes_are_listed)
{
	json_t *rows, *head = ask("{\"command\": \"nodes\", \"args\": {}}", &rows);
	const json_t *n;

	ck_assert_str_eq(str(head, "rows"), "");
	ck_assert_uint_eq(json_array_size(rows), 5);
	n = row_with(rows, "description", "leaf one");
	ck_assert_str_eq(str(n, "type"), "switch");
	ck_assert_str_eq(str(n, "guid"), "0x0008f10400410017");
	ck_assert_int_eq(num(n, "lid"), 3);
	ck_assert_int_eq(num(n, "ports-linked"), 4);
	n = row_with(rows, "description", "storage1");
	ck_assert_str_eq(str(n, "type"), "ca");
	ck_assert_int_eq(num(n, "hops"), 3);
	json_decref(head);
	json_decref(rows);
}
END_TEST

START_TEST(ports_are_listed)
{
	json_t *rows, *head = ask("{\"command\": \"ports\"}", &rows);
	const json_t *p = row_with(rows, "name", "node2 HCA-1/P1");

	ck_assert_uint_eq(json_array_size(rows), 2 * 5 + 3);
	ck_assert_str_eq(str(p, "state"), "active");
	ck_assert_int_eq(num(p, "lid"), 4);
	ck_assert_str_eq(str(p, "link"), "4xQDR");
	ck_assert_int_eq(num(p, "mtu"), 2048);
	ck_assert(json_number_value(json_object_get(p, "rate")) == 40);
	ck_assert_ptr_nonnull(strstr(str(p, "peer"), "leaf one/P2"));
	p = row_with(rows, "name", "leaf two/P2");
	ck_assert_ptr_null(json_object_get(p, "peer"));
	ck_assert_ptr_null(json_object_get(p, "lid"));
	json_decref(head);
	json_decref(rows);
}
END_TEST

/* The names of the listed nodes or ports, up to the GUIDs behind names of ports, with commas between. */
static const char *listed(const char *request)
{
	static char names[512];
	json_t *rows, *head = ask(request, &rows), *row;
	size_t i, n = 0;

	json_array_foreach(rows, i, row) {
		const char *name = json_object_get(row, "name") ? str(row, "name") : str(row, "description");

		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%.*s", i ? "," : "",
				      (int)strcspn(name, "("), name);
	}
	names[n] = '\0';
	json_decref(head);
	json_decref(rows);
	return names;
}

static long long counted(const char *request)
{
	json_t *rows, *head = ask(request, &rows);
	long long n = num(json_object_get(head, "result"), "count");

	json_decref(head);
	json_decref(rows);
	return n;
}

/* promise: O15 */
START_TEST(nodes_and_ports_are_selected)
{
	static const char ports[] = "ports", nodes[] = "nodes";
	static const struct { const char *command, *args, *wanted; } cases[] = {
		{ nodes, "\"node\": \"node2\"", "node2 HCA-1" },
		{ nodes, "\"node\": \"node2 HCA-1\"", "node2 HCA-1" },
		{ nodes, "\"node\": \"node?\", \"sort\": \"name\"", "node1 HCA-1,node2 HCA-1" },
		{ nodes, "\"node\": \"leaf*\", \"sort\": \"name\"", "leaf one,leaf two" },
		{ nodes, "\"node\": \"nobody*\"", "" },
		{ nodes, "\"node\": \"3\"", "leaf one" },
		{ nodes, "\"node\": \"0x0008f10400410017\"", "leaf one" },
		{ nodes, "\"type\": \"switch\", \"sort\": \"name\"", "leaf one,leaf two" },
		{ nodes, "\"type\": \"router\"", "" },
		{ ports, "\"node\": \"node2\"", "node2 HCA-1/P1 " },
		{ ports, "\"node\": \"node*\", \"sort\": \"name\"", "node1 HCA-1/P1 ,node2 HCA-1/P1 " },
		{ ports, "\"node\": \"node*\", \"state\": \"down\"", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char request[256];

		snprintf(request, sizeof(request), "{\"command\": \"%s\", \"args\": {%s}}", cases[i].command,
			 cases[i].args);
		ck_assert_str_eq(listed(request), cases[i].wanted);
	}
	ck_assert_int_eq(counted("{\"command\": \"nodes\", \"args\": {\"count\": true}}"), 5);
	ck_assert_int_eq(counted("{\"command\": \"ports\", \"args\": {\"count\": true, \"type\": \"ca\"}}"), 3);
	refused("{\"command\": \"ports\", \"args\": {\"node\": \"node9\"}}", "node9: no such node");
	refused("{\"command\": \"ports\", \"args\": {\"state\": \"up\"}}",
		"state: 'up' is none of: down init armed active");
	refused("{\"command\": \"nodes\", \"args\": {\"sort\": \"hop\"}}", "sort: 'hop' is none of: name guid");
}
END_TEST

START_TEST(hostile_names_stay_json)
{
	json_t *rows, *head;

	strcpy(state->f->nodes[0].desc, "a\xff\x1b[2J\"\n\\b");
	head = ask("{\"command\": \"nodes\"}", &rows);
	ck_assert_str_eq(str(json_array_get(rows, 0), "description"), "a?\x1b[2J\"\n\\b");
	json_decref(head);
	json_decref(rows);
}
END_TEST

START_TEST(rows_outlive_the_published_state)
{
	static const char line[] = "{\"command\": \"ports\"}";
	struct buf out = { 0 };
	struct reply r;

	command_start(&env, &view, line, strlen(line), &r);
	ck_assert(reply_pull(&r, &out) && reply_pull(&r, &out));
	ck_assert_uint_eq(state->refs, 2);
	state_unref(state);	/* another one is published */
	while (reply_pull(&r, &out))
		continue;
	ck_assert_ptr_nonnull(strstr(out.s, "{\"end\":true}\n"));
	buf_free(&out);
	reply_free(&r);
	state = test_subnet();
}
END_TEST

/* --- paths --- */

START_TEST(route_shows_hops)
{
	json_t *head = ask("{\"command\": \"route\", \"args\": {\"src\": \"node1 HCA-1/P1\", "
			   "\"dst\": \"0x0002c90300000037\", \"sl\": 3}}", NULL);
	json_t *hops = json_object_get(result_of(head), "hops"), *hop;

	ck_assert_int_eq(num(result_of(head), "sl"), 3);
	ck_assert_int_eq(num(result_of(head), "dlid"), 5);
	ck_assert_uint_eq(json_array_size(hops), 4);
	hop = json_array_get(hops, 0);
	ck_assert_str_eq(str(hop, "node"), "node1 HCA-1");
	ck_assert_int_eq(num(hop, "out"), 1);
	ck_assert_int_eq(num(hop, "vl"), 3);
	hop = json_array_get(hops, 1);
	ck_assert_str_eq(str(hop, "node"), "leaf one");
	ck_assert_int_eq(num(hop, "in"), 1);
	ck_assert(num(hop, "out") == 3 || num(hop, "out") == 4);
	ck_assert_uint_eq(json_array_size(json_object_get(hop, "sl2vl")), 16);
	ck_assert_str_eq(str(json_array_get(hops, 3), "node"), "storage1 HCA-1");
	json_decref(head);
}
END_TEST

START_TEST(route_takes_the_levels_sl)
{
	json_t *head = ask("{\"command\": \"route\", \"args\": {\"src\": \"1\", \"dst\": \"5\"}}",
			   NULL);

	ck_assert_int_eq(num(result_of(head), "sl"), 0);
	json_decref(head);
}
END_TEST

START_TEST(route_without_way_says_so)
{
	memset(state->plan->lfts->entries, LFT_DROP,
	       (size_t)state->plan->lfts->n_switches * state->plan->lfts->stride);
	refused("{\"command\": \"route\", \"args\": {\"src\": \"1\", \"dst\": \"5\"}}",
		"there is no route");
}
END_TEST

START_TEST(explain_names_the_rule)
{
	json_t *tried, *head = ask("{\"command\": \"explain\", \"args\": {\"src\": \"1\", "
				   "\"dst\": \"5\", \"qos-class\": \"7\"}}", &tried);
	json_t *e = result_of(head), *path = json_object_get(e, "path");

	ck_assert_str_eq(str(head, "rows"), "tried");
	ck_assert_int_eq(num(json_object_get(e, "rule"), "rule"), 2);
	ck_assert_int_eq(num(json_object_get(e, "rule"), "line"), 11);
	ck_assert_str_eq(str(e, "level"), "fast");
	ck_assert_int_eq(num(path, "sl"), 3);
	ck_assert_int_eq(num(path, "mtu"), 2048);
	ck_assert_int_eq(num(path, "slid"), 1);
	ck_assert_int_eq(num(path, "dlid"), 5);
	ck_assert_uint_eq(json_array_size(json_object_get(path, "hops")), 4);
	ck_assert_int_eq(num(json_array_get(json_object_get(path, "hops"), 2), "vl"), 3);
	ck_assert_uint_eq(json_array_size(tried), 2);
	ck_assert_str_eq(str(json_array_get(tried, 0), "fails"), "service-id");
	ck_assert(json_is_null(json_object_get(json_array_get(tried, 1), "fails")));
	json_decref(head);
	json_decref(tried);
}
END_TEST

START_TEST(explain_takes_each_field)
{
	json_t *tried, *head = ask("{\"command\": \"explain\", \"args\": {\"src\": \"1\", "
				   "\"dst\": \"5\", \"service-id\": \"0x1234\", "
				   "\"pkey\": \"0xffff\", \"tclass\": 5, \"qos-class\": 7}}",
				   &tried);
	json_t *path = json_object_get(result_of(head), "path");

	ck_assert_str_eq(str(json_object_get(result_of(head), "rule"), "description"), "targets");
	ck_assert_int_eq(num(path, "sl"), 2);
	ck_assert_int_eq(num(path, "mtu"), 1024);
	ck_assert_uint_eq(json_array_size(tried), 1);
	json_decref(head);
	json_decref(tried);
}
END_TEST

START_TEST(explain_says_why_there_is_no_path)
{
	json_t *tried, *head = ask("{\"command\": \"explain\", \"args\": {\"src\": \"1\", "
				   "\"dst\": \"5\", \"sl\": 9}}", &tried);

	ck_assert(json_is_null(json_object_get(result_of(head), "rule")));
	ck_assert_str_eq(str(result_of(head), "level"), "default");
	ck_assert(json_is_null(json_object_get(result_of(head), "path")));
	ck_assert_ptr_nonnull(strstr(str(result_of(head), "no-path"), "SL"));
	ck_assert_uint_eq(json_array_size(tried), 2);
	json_decref(head);
	json_decref(tried);
}
END_TEST

/* --- tables --- */

START_TEST(sl2vl_of_a_switch_port)
{
	json_t *head = ask("{\"command\": \"sl2vl\", \"args\": {\"port\": \"leaf one/P3\"}}",
			   NULL);
	json_t *tables = json_object_get(result_of(head), "tables"), *first;

	ck_assert(json_is_true(json_object_get(result_of(head), "managed")));
	ck_assert_int_eq(num(result_of(head), "vls"), 8);
	ck_assert_uint_eq(json_array_size(tables), 4);	/* in ports 0 to 4, but not 3 itself */
	first = json_array_get(tables, 0);
	ck_assert_int_eq(num(first, "in"), 0);
	ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(first, "vl"), 9)), 1);
	json_decref(head);
}
END_TEST

START_TEST(sl2vl_of_a_host)
{
	json_t *head = ask("{\"command\": \"sl2vl\", \"args\": {\"port\": \"node1 HCA-1/P1\"}}",
			   NULL);

	ck_assert_uint_eq(json_array_size(json_object_get(result_of(head), "tables")), 1);
	json_decref(head);
}
END_TEST

START_TEST(vlarb_shows_both_tables)
{
	json_t *head = ask("{\"command\": \"vlarb\", \"args\": {\"port\": \"node1 HCA-1/P1\"}}",
			   NULL);
	const struct vlarb *arb =
		&state->plan->tables->arbs[state->plan->tables->arb[state->f->self]];
	json_t *r = result_of(head);

	ck_assert_int_eq(num(r, "high-limit"), arb->high_limit);
	ck_assert_uint_eq(json_array_size(json_object_get(r, "high")), arb->n_high);
	ck_assert_uint_eq(json_array_size(json_object_get(r, "low")), arb->n_low);
	ck_assert_uint_gt(arb->n_low, 0);
	ck_assert_int_eq(num(json_array_get(json_object_get(r, "low"), 0), "weight"),
			 arb->low[0].weight);
	json_decref(head);
}
END_TEST

START_TEST(who_may_send_a_file)
{
	char *text;

	body(CTL_ADMIN, "{\"command\": \"policy load\", \"body\": 7}", BODY_FOLLOWS, NULL);
	body(CTL_ADMIN, "{\"command\": \"plan\", \"body\": 7}", BODY_FOLLOWS, NULL);
	body(CTL_READ, "{\"command\": \"policy load\", \"body\": 7}", BODY_REFUSED, "not permitted");
	body(CTL_READ, "{\"command\": \"plan\", \"body\": 7}", BODY_REFUSED, "not permitted");
	body(CTL_ADMIN, "{\"command\": \"status\", \"body\": 7}", BODY_REFUSED, "takes no file");
	body(CTL_ADMIN, "{\"body\": 7}", BODY_REFUSED, "takes no file");
	body(CTL_ADMIN, "{\"command\": \"plan\", \"body\": -7}", BODY_REFUSED, "from 0 to 16777216");
	body(CTL_ADMIN, "{\"command\": \"plan\"}", BODY_NONE, NULL);
	body(CTL_ADMIN, "nonsense", BODY_NONE, NULL);	/* said by command_start() */
	text = ask_text(CTL_READ, "{\"command\": \"policy revert\"}");
	ck_assert_ptr_nonnull(strstr(text, "not permitted"));
	free(text);
	refused("{\"command\": \"policy show\", \"args\": {\"normal\": 1}}", "true or false");
}
END_TEST

static Suite *commands_suite(void)
{
	Suite *s = suite_create("ctl commands");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, who_may_send_a_file);
	tcase_add_test(t, garbage_is_refused);
	tcase_add_test(t, deep_nesting_is_refused);
	tcase_add_test(t, arguments_are_checked);
	tcase_add_test(t, numbers_are_decimal_or_hexadecimal);
	tcase_add_test(t, ports_are_checked);
	tcase_add_test(t, no_subnet_says_so);
	tcase_add_test(t, writers_need_privilege);
	tcase_add_test(t, raw_files_are_the_same);
	tcase_add_test(t, every_command_has_its_right);
	tcase_add_test(t, withdrawn_is_counted_in_a_job);
	tcase_add_test(t, changes_are_made_in_jobs);
	tcase_add_test(t, routes_are_measured_once);
	tcase_add_test(t, who_may_not_is_told_why);
	tcase_add_test(t, reload_tells_findings);
	tcase_add_test(t, sweep_is_passed_on);
	tcase_add_test(t, steps_of_sweeps);
	tcase_add_test(t, priority_is_passed_on);
	tcase_add_test(t, links_are_released);
	tcase_add_test(t, status_has_what_is_promised);
	tcase_add_test(t, status_works_before_anything);
	tcase_add_test(t, status_has_the_state_folder);
	tcase_add_test(t, services_are_listed);
	tcase_add_test(t, subscriptions_are_listed);
	tcase_add_test(t, nodes_are_listed);
	tcase_add_test(t, ports_are_listed);
	tcase_add_test(t, nodes_and_ports_are_selected);
	tcase_add_test(t, hostile_names_stay_json);
	tcase_add_test(t, rows_outlive_the_published_state);
	tcase_add_test(t, route_shows_hops);
	tcase_add_test(t, route_takes_the_levels_sl);
	tcase_add_test(t, route_without_way_says_so);
	tcase_add_test(t, explain_names_the_rule);
	tcase_add_test(t, explain_takes_each_field);
	tcase_add_test(t, explain_says_why_there_is_no_path);
	tcase_add_test(t, sl2vl_of_a_switch_port);
	tcase_add_test(t, sl2vl_of_a_host);
	tcase_add_test(t, vlarb_shows_both_tables);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(commands_suite());
}
