/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests qosd-ctl against a server in a child process: its output and exit status.
 * The program is in $QOSD_BUILD.
 *
 * promise: O3
 */
#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "lib/base/alloc.h"
#include "store/store.h"
#include "subnet.h"
#include "unit/run.h"
#include "unit/temp.h"

static char *directory, *path, *program;
static pid_t server;

/* --- the server --- */

/* A file "refuse" beside the socket makes a policy bad. */
static struct shared_policy *reload_read(void *arg, struct settings *live, struct findings *out)
{
	(void)live;
	bool good = access(arg, F_OK) != 0;

	findings_add(out, good ? SEV_WARNING : SEV_ERROR, "policy.yaml",
		     (struct src_pos){ 7, 3 }, good ? "a doubt" : "a mistake");
	return good ? shared_policy_new(policy_builtin()) : NULL;
}

static bool reload_apply(void *arg, struct shared_policy *p, struct findings *found, struct asker who)
{
	(void)arg;
	(void)found;
	(void)who;
	return p != NULL;
}

static void set_priority(struct sm *sm, uint8_t priority)
{
	(void)sm;
	(void)priority;
}

static void sweep(struct sm *sm, const char *reason)
{
	(void)sm;
	(void)reason;
}

static void apply(void *arg, struct shared_policy *p)
{
	(void)arg;
	(void)p;
}

/* The server writes here when clients can connect. */
static int listens[2];

static void say_listens(void)
{
	if (write(listens[1], "", 1) != 1)
		_exit(1);
}

static void serve(void)
{
	struct policies_hooks hooks = { .apply = apply };
	struct loop *loop = loop_new();
	struct sa sa = { .state = test_subnet() };
	char *refuse = xasprintf("%s/refuse", directory);
	struct ctl_env env = { .version = "1", .sa = &sa, .reload_read = reload_read,
			       .reload_apply = reload_apply, .request_sweep = sweep,
			       .set_priority = set_priority, .arg = refuse };
	struct buf err = { 0 };

	env.policies = policies_new(loop, store_open(NULL, NULL, &err), sa.state->policy,
				&(struct policies_rules){ 0 }, &hooks);
	strcpy(sa.state->f->nodes[1].desc, "evil\x1b[31m\nname");
	if (ctl_new(loop, path, &env, &err)) {
		say_listens();
		loop_run(loop);
	}
	_exit(1);
}

/* A server that sends part of an answer and exits. */
static void serve_half(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), client;
	static const char answer[] = "{\"ok\":true,\"rows\":\"\"}\n"
				     "{\"file\":\"opensm.fdbs\",\"bytes\":2}\nx\n"
				     "{\"file\":\"opensm.fdbs\",\"bytes\":3}\nx";
	char request[1000];

	strcpy(addr.sun_path, path);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fd, 1) < 0)
		_exit(1);
	say_listens();
	client = accept(fd, NULL, NULL);
	if (recv(client, request, sizeof(request), 0) > 0 &&
	    send(client, answer, sizeof(answer) - 1, 0) > 0)
		close(client);
	_exit(0);
}

static void start(void (*serve_it)(void))
{
	char said;

	ck_assert_int_eq(pipe(listens), 0);
	server = fork();
	ck_assert_int_ge(server, 0);
	if (server == 0)
		serve_it();
	close(listens[1]);
	ck_assert_int_eq(read(listens[0], &said, 1), 1);
	close(listens[0]);
}

static void setup(void)
{
	directory = temp_directory();
	path = xasprintf("%s/sock", directory);
	server = 0;
}

static void teardown(void)
{
	if (server) {
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
	}
	temp_directory_remove(directory);
	free(path);
}

/* --- the client --- */

struct outcome {
	int status;
	char text[65536];	/* stdout and stderr */
};

static struct outcome run(const char *arguments)
{
	char *command = xasprintf("%s -s %s %s 2>&1", program, path, arguments);
	FILE *f = popen(command, "r");
	static struct outcome o;
	size_t n = fread(o.text, 1, sizeof(o.text) - 1, f);

	o.text[n] = '\0';
	o.status = WEXITSTATUS(pclose(f));
	free(command);
	return o;
}

static void expect(const char *arguments, int status, const char *text)
{
	struct outcome o = run(arguments);

	ck_assert_msg(o.status == status && strstr(o.text, text), "%s: %d, %s", arguments,
		      o.status, o.text);
}

static json_t *run_json(const char *arguments)
{
	struct outcome o = run(arguments);
	json_error_t why;
	json_t *value = json_loads(o.text, 0, &why);

	ck_assert_msg(value != NULL, "%s: %s in %s", arguments, why.text, o.text);
	ck_assert_int_eq(o.status, 0);
	return value;
}

START_TEST(usage)
{
	expect("", 1, "usage: qosd-ctl");
	expect("fly", 1, "no such command: fly");
	expect("--help", 0, "route SRC DST ");
	expect("help route", 0, "usage: qosd-ctl route SRC DST [--sl N]");
	expect("--version", 0, "qosd-ctl ");
	expect("-x", 1, "usage:");
	expect("route 1", 1, "usage: qosd-ctl route SRC DST");
	expect("route 1", 1, "missing: DST");
	expect("route 1 2 3", 1, "too many arguments: 3\nusage:");
	expect("route 1 2 --sl", 1, "the option needs a value: --sl\nusage:");
	expect("route 1 2 --pkey 3", 1, "no such option: --pkey\nusage:");
	expect("status -- --x", 1, "too many arguments: --x\nusage:");
	expect("policy", 1, "policy: a second word is missing\nusage: qosd-ctl policy load");
	expect("policy drop", 1, "no such command: policy drop\n");
}
END_TEST

START_TEST(no_daemon)
{
	expect("status", 2, "no daemon answers on");
	start(serve);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	server = 0;
	expect("status", 2, "Connection refused");
}
END_TEST

START_TEST(text_of_each_command)
{
	start(serve);
	expect("status", 0, "not-active, subnet not up");
	expect("nodes", 0, "switch  0x0008f10400410017      3     4/4");
	expect("ports", 0, "active       4  4xQDR     2048    8  node2 HCA-1/P1");
	expect("route 1 5 --sl=2", 0, "storage1 HCA-1");
	expect("sl2vl 'leaf two/P1'", 0, "\n3-4        0  1  2  3  4  5  6  7");
	expect("vlarb 1", 0, "high-limit");
	expect("explain 1 5 --service-id 0x1234", 0, "1 (line 10) targets: matches");
	expect("explain 1 5 --qos-class 9", 0, "none matches");
	expect("explain 1 5 --sl 5", 0, "path         none: ");
	expect("reload", 0, "policy.yaml:7:3: warning: a doubt");
	expect("sweep", 0, "sweep requested");
	expect("sweep steps", 0, "local\n  probe                    probing     reads the ports");
	expect("priority 3", 0, "priority set");
}
END_TEST

/* Writes a file in the directory; the caller frees the name. */
static char *write_file(const char *name, const char *text)
{
	char *file = xasprintf("%s/%s", directory, name);
	FILE *f = fopen(file, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	return file;
}

static void expect_with(const char *words, const char *file, int status, const char *text)
{
	char *arguments = xasprintf("%s %s", words, file);

	expect(arguments, status, text);
	free(arguments);
}

START_TEST(policies)
{
	char *good = write_file("good.yaml",
				"# mine\nqos-levels:\n  default: {sl: 0}\n  x: {sl: 4, path-bits: 1}\n");
	char *bad = write_file("bad.yaml", "qos-levels:\n  default: {sl: 99}\n");
	json_t *v;

	expect("policy fly", 1, "no such command: policy");
	expect("policy load", 1, "usage: qosd-ctl policy load FILE [--confirm SECONDS]");
	expect("policy show --normal=1", 1, "policy show [--normal]");
	expect("policy show x", 1, "usage:");
	expect("partition add", 1, "[--absent-ok] [--force] [--wait]");
	expect("partition remove a --absent-ok", 1, "partition remove NAME [MEMBER ...] [--force] [--wait]");
	start(serve);
	expect("policy show", 0, "qos-levels:");	/* the built-in one, in normal form */
	expect_with("policy load", "/nonexistent", 1, "/nonexistent: No such file");
	expect_with("policy load", directory, 1, ": Is a directory");
	expect_with("policy load", bad, 1, "bad.yaml:2:17: error: ");
	expect_with("policy load --confirm 0", good, 1, "confirm: must be 1 to 86400 seconds, or a time with a unit (us, ms, s, m, h, d or w)");
	expect_with("policy load --confirm 86401", good, 1, "confirm: must be 1 to 86400 seconds");
	expect_with("policy load --confirm 1500ms", good, 1, "confirm: must be 1 to 86400 seconds");
	expect_with("policy load --confirm 2d", good, 1, "confirm: must be 1 to 86400 seconds");
	expect_with("policy load", good, 0, "the policy was accepted\n");
	expect_with("policy load", good, 0, "level x: path-bits 1 need more LIDs");
	expect_with("policy load --wait", good, 1, "not in force: the subnet manager is not-active");
	expect("policy show", 0, "# mine\nqos-levels:\n  default: {sl: 0}\n  x: {sl: 4, path-bits: 1}\n");
	ck_assert_ptr_null(strstr(run("policy show --normal").text, "mine"));
	expect_with("policy load - <", good, 0, "the policy was accepted\n");
	expect_with("policy load --confirm=50", good, 0, "reverted in 50 s unless confirmed");
	expect("policy confirm", 0, "good.yaml stays");
	expect("policy confirm", 1, "no policy is on trial");
	expect("policy revert", 0, "back to (standard input), loaded 20");
	expect("policy revert", 0, "back to (built-in)\n");
	expect("policy revert", 1, "no earlier policy");
	expect("policy history", 0, "refused");
	v = run_json("-j policy history");
	ck_assert_uint_eq(json_array_size(json_object_get(v, "history")), 9);
	json_decref(v);
	v = run_json("-j policy show");
	ck_assert(json_is_true(json_object_get(v, "normal")));
	ck_assert_uint_gt(json_array_size(json_object_get(v, "text")), 1);
	json_decref(v);
	free(good);
	free(bad);
}
END_TEST

START_TEST(the_daemon_says_no)
{
	char *refuse = xasprintf("%s/refuse", directory);

	start(serve);
	expect("route 1 nowhere", 1, "qosd-ctl: nowhere: no such port");
	expect("explain 1 5 --sl 16", 1, "sl: must be a number from 0 to 15");
	fclose(fopen(refuse, "w"));
	expect("reload", 1, "policy.yaml:7:3: error: a mistake\nqosd-ctl: the policy");
	expect("-j reload", 1, "\"text\": \"a mistake\"");
	free(refuse);
}
END_TEST

START_TEST(json_of_each_command)
{
	static const char *const objects[] = {
		"-j status", "--json route 1 5", "-j sl2vl 1", "-j vlarb 1", "-j reload",
		"-j sweep",
	};
	json_t *v;

	start(serve);
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		v = run_json(objects[i]);
		ck_assert(json_is_object(v));
		json_decref(v);
	}
	v = run_json("-j nodes");
	ck_assert_uint_eq(json_array_size(v), 5);
	json_decref(v);
	v = run_json("-j ports");
	ck_assert_uint_eq(json_array_size(v), 13);
	json_decref(v);
	v = run_json("-j explain 1 5");
	ck_assert_uint_eq(json_array_size(json_object_get(v, "tried")), 2);
	ck_assert_str_eq(json_string_value(json_object_get(v, "level")), "default");
	json_decref(v);
}
END_TEST

START_TEST(names_cannot_drive_the_terminal)
{
	start(serve);
	expect("nodes", 0, "evil?[31m?name");
	ck_assert_ptr_null(strchr(run("nodes").text, '\x1b'));
}
END_TEST

static long size_of(const char *dir, const char *name)
{
	char *file = xasprintf("%s/%s/%s", directory, dir, name);
	struct stat st;
	long size = stat(file, &st) == 0 ? (long)st.st_size : -1;

	free(file);
	return size;
}

START_TEST(dump_writes_files)
{
	char *arguments = xasprintf("dump %s/out", directory);

	start(serve);
	for (int i = 0; i < 2; i++) {	/* the second time over the first's */
		expect(arguments, 0, "");
		ck_assert_int_gt(size_of("out", "opensm-subnet.lst"), 1000);
		ck_assert_int_gt(size_of("out", "opensm.fdbs"), 100);
		ck_assert_int_eq(size_of("out", "opensm.mcfdbs"), 0);
		ck_assert_int_gt(size_of("out", "opensm-sl2vl.dump"), 1000);
		ck_assert_int_eq(size_of("out", "opensm.fdbs.new"), -1);
	}
	free(arguments);
	expect("dump /nonexistent/directory", 1, "/nonexistent/directory: No such file");
}
END_TEST

static void shell(const char *what)
{
	char *command = xasprintf("cd %s && { %s; }", directory, what);

	ck_assert_msg(system(command) == 0, "%s", command);
	free(command);
}

/* The former file stays until the new one is complete, and its mode is kept; a symbolic link is followed. */
START_TEST(convert_writes_a_file_at_once)
{
	char *good = xasprintf("convert --from partitions %s/in -o %s/out", directory, directory);
	char *bad = xasprintf("convert --from xml %s/in -o %s/out", directory, directory);
	char *link = xasprintf("convert --from partitions %s/in -o %s/link", directory, directory);

	shell("echo 'Default=0x7fff, ipoib : ALL=full ;' >in && echo old >out && chmod 640 out");
	expect(bad, 1, "error");
	shell("grep -qx old out");
	expect(good, 0, "");
	shell("grep -q partitions: out && [ $(stat -c %a out) = 640 ] && [ ! -e out.new ]");
	shell("ln -s target link");
	expect(link, 0, "");
	shell("[ -h link ] && grep -q partitions: target");
	free(good);
	free(bad);
	free(link);
	expect("convert /dev/null -o /nonexistent/x", 1, "");
}
END_TEST

/* promise: L20 */
START_TEST(half_a_dump_leaves_no_file)
{
	char *arguments = xasprintf("dump %s/out", directory);

	start(serve_half);
	expect(arguments, 2, "the answer is incomplete");
	ck_assert_int_eq(size_of("out", "opensm.fdbs"), -1);
	ck_assert_int_eq(size_of("out", "opensm.fdbs.new"), -1);
	free(arguments);
}
END_TEST

static Suite *client_suite(void)
{
	Suite *s = suite_create("qosd-ctl");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, usage);
	tcase_add_test(t, no_daemon);
	tcase_add_test(t, text_of_each_command);
	tcase_add_test(t, policies);
	tcase_add_test(t, the_daemon_says_no);
	tcase_add_test(t, json_of_each_command);
	tcase_add_test(t, names_cannot_drive_the_terminal);
	tcase_add_test(t, dump_writes_files);
	tcase_add_test(t, convert_writes_a_file_at_once);
	tcase_add_test(t, half_a_dump_leaves_no_file);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	const char *build = getenv("QOSD_BUILD");
	int failed;

	program = xasprintf("%s/qosd-ctl", build ? build : "build");
	if (access(program, X_OK) != 0) {
		printf("there is no %s (QOSD_BUILD)\n", program);
		return 77;
	}
	failed = run_suite(client_suite());
	free(program);
	return failed;
}
