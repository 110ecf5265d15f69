/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs qosd-ctl: sends one request to the daemon, and prints the answer.  The protocol is in
 * include/qosd/ctl.h; the daemon checks the values of arguments.  qosd-ctl itself reads a file that
 * belongs to a request: the daemon need not have access to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cmd_convert.h"
#include "install_file.h"
#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "members.h"
#include "output.h"
#include "qosd/commands.h"
#include "qosd/ctl.h"
#include "text.h"
#include "text_partition.h"

#ifndef QOSD_VERSION
#define QOSD_VERSION "unknown"
#endif
#define LIMIT_SECONDS 5		/* time limit for a daemon that shows no sign of life */
#define LIMIT_MAX_SECONDS 86400u
#define PATIENCE_SECONDS 30	/* for a daemon that responds, but has not answered the request, */
#define PATIENCE_FILE_SECONDS 600	/* longer for a request with a file, */
#define PATIENCE_ENDLESS 0		/* and none for an endless answer */
#define FOLLOW_LIMITS 6		/* silence before probing during an endless answer, in time limits */

#define WAIT_SECONDS 60u	/* limit for a change to come into force */

enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_NO_DAEMON = 2 };
/* Exit statuses of commands that judge; EXIT_BAD also if nobody could judge. */
enum { EXIT_GOOD = 0, EXIT_SO_SO = 1, EXIT_BAD = 2 };

static const struct ctl_command commands[] = {
#define COMMAND(id, ...) CTL_COMMAND(__VA_ARGS__),
#define CLIENT_COMMAND COMMAND
#include "qosd/commands.def"
};

static const struct output *const texts[] = {
#define COMMAND(id, ...) &text_##id,
#define CLIENT_COMMAND COMMAND
#include "qosd/commands.def"
};

static const char *socket_path = QOSD_SOCKET;
static unsigned limit_seconds = LIMIT_SECONDS;	/* 0: no limit */
static bool as_json;
bool awaits_change;

/* --- usage --- */

static void put_operand(const struct ctl_arg *a, FILE *out)
{
	for (const char *s = a->name; *s; s++)
		fputc(*s - 'a' + 'A', out);
}

/* The operand after a, or NULL. */
static const struct ctl_arg *next_operand(const struct ctl_arg *a)
{
	return a[1].name && a[1].operand ? a + 1 : NULL;
}

static const struct ctl_arg *first_operand(const struct ctl_command *c)
{
	return c->args[0].name && c->args[0].operand ? c->args : NULL;
}

static void put_synopsis(const struct ctl_command *c, FILE *out)
{
	unsigned optional = 0;

	fprintf(out, "%s%s%s", c->name, c->words ? " " : "", c->words ? c->words : "");
	for (const struct ctl_arg *a = first_operand(c); a; a = next_operand(a)) {
		fputs(a->required ? " " : " [", out);
		put_operand(a, out);
		optional += !a->required;
	}
	while (optional--)
		fputc(']', out);
	for (const struct ctl_arg *a = c->args; a->name; a++)
		if (!a->operand && a->of != ARG_OF_DAEMON)
			fprintf(out, a->type == ARG_FLAG ? " [--%s]" : " [--%s %s]", a->name,
				a->value ? a->value : "N");
	fputc('\n', out);
}

static void put_help(void)
{
	printf("usage: qosd-ctl [-s|--socket PATH] [-t|--timeout SECONDS] [-j|--json] COMMAND [ARGUMENT ...]\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		printf("  ");
		put_synopsis(&commands[i], stdout);
		printf("      %s\n", commands[i].help);
	}
	printf("  convert [--with-qos] [--verdicts] [--from FORMAT] FILE ... [-o FILE|DIR]\n"
	       "      OpenSM's files to a policy and settings; needs no daemon\n");
	printf("\nA port is NodeDescription/Pn, a node or host with one end port, a GUID or a LID.  A file may be -, the standard "
	       "input.\nThe socket is %s.\n", QOSD_SOCKET);
}

static int usage_error(const struct ctl_command *c)
{
	fprintf(stderr, "usage: qosd-ctl [-s PATH] [-t SECONDS] [-j] ");
	if (c)
		put_synopsis(c, stderr);
	else
		fprintf(stderr, "COMMAND [ARGUMENT ...]   (see qosd-ctl --help)\n");
	return EXIT_REFUSED;
}

/* --- the request --- */

/* Finds a command by its first or first two words; *words: how many. */
static const struct ctl_command *find_command(char **argv, int *words)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *space = strchr(commands[i].name, ' ');
		size_t n = space ? (size_t)(space - commands[i].name) : strlen(commands[i].name);

		if (strlen(argv[0]) != n || memcmp(argv[0], commands[i].name, n) != 0)
			continue;
		if (space && !(argv[1] && strcmp(argv[1], space + 1) == 0))
			continue;
		*words = space ? 2 : 1;
		return &commands[i];
	}
	return NULL;
}

/* The option with that name of n bytes, or NULL. */
static const struct ctl_arg *find_option(const struct ctl_command *c, const char *name, size_t n)
{
	for (const struct ctl_arg *a = c->args; a->name; a++)
		if (!a->operand && a->of != ARG_OF_DAEMON && strlen(a->name) == n &&
		    memcmp(a->name, name, n) == 0)
			return a;
	return NULL;
}

/* Prints the two-word commands with this first word, as the second word is wrong. */
static int no_such_command(char **argv)
{
	size_t n = strlen(argv[0]);
	bool first = false;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		first |= strncmp(commands[i].name, argv[0], n) == 0 && commands[i].name[n] == ' ';
	fprintf(stderr, "qosd-ctl: no such command: %s%s%s\n", argv[0],
		first && argv[1] ? " " : "", first && argv[1] ? argv[1] : "");
	if (!first)
		return usage_error(NULL);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strncmp(commands[i].name, argv[0], n) == 0)
			usage_error(&commands[i]);
	return EXIT_REFUSED;
}

/* Reports what is wrong with the command line; returns NULL. */
static void *wrong(const struct ctl_command *c, const char *what, const char *word)
{
	fprintf(stderr, "qosd-ctl: %s: %s: %s\n", c->name, what, word);
	return NULL;
}

/* json_string() refuses text that is not UTF-8. */
static bool set_text(const struct ctl_command *c, json_t *args, const struct ctl_arg *a,
		     const char *value)
{
	return json_object_set_new(args, a->name, json_string(value)) == 0 ||
	       wrong(c, "not UTF-8", value);
}

/*
 * Takes one word, or two: an option and its value.  Returns NULL with a message if they are wrong.
 */
static char **parse_option(const struct ctl_command *c, json_t *args, char **argv)
{
	const char *name = *argv + 2, *value;
	size_t n = strcspn(name, "=");
	const struct ctl_arg *a = find_option(c, name, n);

	if (!a || (a->type == ARG_FLAG && name[n]))
		return wrong(c, "no such option", *argv);
	if (a->type == ARG_FLAG) {
		json_object_set_new(args, a->name, json_true());
		return argv + 1;
	}
	value = name[n] ? name + n + 1 : *++argv;
	if (!value)
		return wrong(c, "the option needs a value", name - 2);
	return set_text(c, args, a, value) ? argv + 1 : NULL;
}

/* Converts the command line to arguments; returns NULL with a message if it is wrong. */
static json_t *parse_args(const struct ctl_command *c, char **argv)
{
	const struct ctl_arg *operand = first_operand(c);
	json_t *args = json_object();

	while (argv && *argv) {
		if (strncmp(*argv, "--", 2) == 0) {
			argv = parse_option(c, args, argv);
		} else if (!operand) {
			argv = wrong(c, "too many arguments", *argv);
		} else {
			argv = set_text(c, args, operand, *argv) ? argv + 1 : NULL;
			operand = next_operand(operand);
		}
	}
	if (argv && (!operand || !operand->required))
		return args;
	if (argv) {
		fprintf(stderr, "qosd-ctl: %s: missing: ", c->name);
		put_operand(operand, stderr);
		fputc('\n', stderr);
	}
	json_decref(args);
	return NULL;
}

/* --- the file of a request --- */

/* Replaces "-" by the name that findings show; returns false with a message on errors. */
static bool read_file(json_t *args, struct buf *file)
{
	const char *path = json_string_value(json_object_get(args, "file"));
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	bool done = fd >= 0 && buf_read(file, fd, CTL_BODY_MAX);

	if (!done && errno == EFBIG)
		fprintf(stderr, "qosd-ctl: %s: larger than %u bytes\n", path, CTL_BODY_MAX);
	else if (!done)
		fprintf(stderr, "qosd-ctl: %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (is_stdin)
		json_object_set_new(args, "file", json_string("(standard input)"));
	return done;
}

/* --- the connection --- */

/*
 * A connection to the daemon.  After half of the time limit without data the client asks on a
 * second connection whether the daemon responds at all: a request may take long for good reasons,
 * but a stopped daemon responds to nobody.  Silence means little in an endless answer, so there the
 * client asks only after FOLLOW_LIMITS time limits.
 */
struct connection {
	FILE *in;
	int fd;
	int64_t patience_ms;	/* silence allowed to a daemon that responds; 0: unlimited */
	bool answered;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/*
 * Returns a connected socket, on which no send blocks longer than ms (0: no limit); -1 with errno.
 */
static int connect_socket(int64_t ms)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
	int fd, failed;

	if (strlen(socket_path) >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(addr.sun_path, socket_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	/* the limit applies to connect(), too, which blocks while the daemon's backlog is full */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0 &&
	    connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	failed = errno;
	close(fd);
	errno = failed;
	return -1;
}

/* Waits for input on fd or, unless it is -1, on other. */
static bool readable_within(int fd, int other, int64_t ms)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN }, { .fd = other, .events = POLLIN } };
	int64_t end = now_ms() + ms;
	int r;

	do {
		int64_t left = end - now_ms();

		r = poll(p, ARRAY_SIZE(p), left > 0 ? (int)left : 0);
	} while (r < 0 && errno == EINTR);
	return r != 0;
}

/* True if the daemon says anything within the time, even that it has too many connections. */
static bool daemon_lives(int fd, int64_t ms)
{
	static const char request[] = "{\"command\": \"status\"}\n";
	int64_t end = now_ms() + ms;
	int probe = connect_socket(ms);
	bool lives;

	if (probe < 0 && errno != EAGAIN)
		return true;	/* the daemon has gone: so the end of the answer can be read */
	if (probe >= 0)
		send(probe, request, sizeof(request) - 1, MSG_NOSIGNAL);
	lives = readable_within(fd, probe, end - now_ms());
	if (probe >= 0)
		close(probe);
	return lives;
}

/* Read function for stdio.  ETIME: the daemon is silent; ETIMEDOUT: only this request is. */
static ssize_t connection_read(void *cookie, char *to, size_t n)
{
	struct connection *c = cookie;
	int64_t half_ms = limit_seconds * INT64_C(500), begun_ms = now_ms();
	bool follows = !c->patience_ms && c->answered;
	ssize_t got;

	while (limit_seconds &&
	       !readable_within(c->fd, -1, follows ? 2 * FOLLOW_LIMITS * half_ms : half_ms)) {
		errno = 0;
		if (!daemon_lives(c->fd, half_ms))
			errno = ETIME;
		else if (c->patience_ms && now_ms() - begun_ms >= c->patience_ms)
			errno = ETIMEDOUT;
		if (errno == ETIME || errno == ETIMEDOUT)
			return -1;
	}
	do
		got = read(c->fd, to, n);
	while (got < 0 && errno == EINTR);
	c->answered |= got > 0;
	return got;
}

static int connection_close(void *cookie)
{
	struct connection *c = cookie;
	int r = close(c->fd);

	free(c);
	return r;
}

static void say_no_connection(void)
{
	if (errno == EACCES)
		fprintf(stderr, "qosd-ctl: %s: not permitted to uid %ld, gid %ld: this needs root, the "
			"daemon's user or a member of the group of the socket or its folder "
			"(ctl-read-group and ctl-admin-group of qosd.yaml admit others)\n",
			socket_path, (long)geteuid(), (long)getegid());
	else if (errno == EAGAIN)
		fprintf(stderr, "qosd-ctl: the daemon on %s does not answer: it has accepted no connection "
			"for %u s (is it stopped? see --timeout)\n", socket_path, limit_seconds);
	else
		fprintf(stderr, "qosd-ctl: no daemon answers on %s: %s\n", socket_path,
			strerror(errno));
}

/* Returns NULL with a message on errors; fclose() of ->in ends the connection. */
static struct connection *connect_daemon(unsigned patience_seconds)
{
	static const cookie_io_functions_t functions = {
		.read = connection_read, .close = connection_close,
	};
	int fd = connect_socket(limit_seconds * INT64_C(1000));
	struct connection *c;

	if (fd < 0) {
		say_no_connection();
		return NULL;
	}
	c = xmalloc(sizeof(*c));
	*c = (struct connection){ .fd = fd, .patience_ms = patience_seconds * INT64_C(1000) };
	c->in = fopencookie(c, "r", functions);
	if (c->in)
		return c;
	connection_close(c);
	fprintf(stderr, "qosd-ctl: out of memory\n");
	return NULL;
}

/*
 * Ignores send errors: a daemon that turns us away closes before it has read anything, but its
 * reason can still be read.
 */
static void send_all(int fd, const char *data, size_t n)
{
	size_t sent = 0;

	while (sent < n) {
		ssize_t k = send(fd, data + sent, n - sent, MSG_NOSIGNAL);

		if (k < 0 && errno != EINTR)
			break;
		sent += k > 0 ? (size_t)k : 0;
	}
}

/* file: NULL if the request has none. */
static void send_request(int fd, const char *command, json_t *args, const struct buf *file)
{
	json_t *request = json_pack("{s:s, s:O}", "command", command, "args", args);
	char *line;
	size_t n;

	if (file)
		json_object_set_new(request, "body", json_integer((json_int_t)file->n));
	line = json_dumps(request, JSON_COMPACT);
	n = strlen(line);
	line[n++] = '\n';	/* in place of the NUL */
	send_all(fd, line, n);
	if (file && file->n)
		send_all(fd, file->s, file->n);
	free(line);
	json_decref(request);
}

static void say_incomplete(int error)
{
	if (error == ETIME)
		fprintf(stderr, "qosd-ctl: the daemon on %s does not answer: it has sent nothing for %u s "
			"(is it stopped? see --timeout)\n", socket_path, limit_seconds);
	else if (error == ETIMEDOUT)
		fprintf(stderr, "qosd-ctl: the daemon is running, but does not answer this request\n");
	else
		fprintf(stderr, "qosd-ctl: the answer is incomplete\n");
}

/* Reads the next line's object; returns NULL with a message on errors. */
static json_t *read_object(FILE *daemon)
{
	char *line = NULL;
	size_t size = 0;
	json_t *object = NULL;

	errno = 0;
	if (getline(&line, &size, daemon) > 0) {
		errno = 0;
		object = json_loads(line, 0, NULL);
	}
	if (!object)
		say_incomplete(errno);
	free(line);
	return object;
}

/* --- the answer --- */

static int refused(const json_t *answer)
{
	const char *why = json_string_value(json_object_get(answer, "error"));

	if (as_json) {
		put_json(answer, JSON_INDENT(2));
		printf("\n");
	} else {
		text_findings_of_error(answer);
	}
	fprintf(stderr, "qosd-ctl: %s\n", why ? why : "the daemon refused the request");
	return EXIT_REFUSED;
}

static int print_rows(FILE *daemon, const struct output *out)
{
	json_t *row;

	while ((row = read_object(daemon))) {
		bool end = json_is_true(json_object_get(row, "end"));
		bool ok;

		if (!as_json && !out->raw_rows)
			clean_strings(row);
		ok = end || !out->row || out->row(row);
		json_decref(row);
		if (!ok)
			return EXIT_REFUSED;
		if (end)
			return EXIT_DONE;
	}
	return EXIT_NO_DAEMON;
}

static int print_answer(FILE *daemon, json_t *answer, const struct output *out)
{
	bool ok = json_is_true(json_object_get(answer, "ok"));
	int status = EXIT_DONE;

	if (!as_json && !(ok && out->raw_head))
		clean_strings(answer);
	if (!ok)
		return refused(answer);
	if (out->says)
		puts(out->says);
	if (out->head)
		out->head(answer);
	if (json_object_get(answer, "rows"))
		status = print_rows(daemon, out);
	if (out->end && !out->end(status == EXIT_DONE) && status == EXIT_DONE)
		status = EXIT_REFUSED;
	return status;
}

static int verdict_status(const json_t *answer)
{
	const char *verdict = str(json_object_get(answer, "result"), "verdict");

	return !strcmp(verdict, "ok") ? EXIT_GOOD : !strcmp(verdict, "warning") ? EXIT_SO_SO : EXIT_BAD;
}

/* result, if not NULL: gets a reference to the result of a request that was done. */
static int ask(const struct ctl_command *c, json_t *args, const struct buf *file,
	       const struct output *out, json_t **result)
{
	bool follows = c->follows || json_is_true(json_object_get(args, "follow"));
	struct connection *daemon = connect_daemon(follows ? PATIENCE_ENDLESS :
						   file ? PATIENCE_FILE_SECONDS : PATIENCE_SECONDS);
	int status = EXIT_NO_DAEMON;
	json_t *answer;

	if (!daemon)
		return status;
	send_request(daemon->fd, c->request ? c->request : c->name, args, file);
	answer = read_object(daemon->in);
	if (answer)
		status = print_answer(daemon->in, answer, out);
	if (c->judges)
		status = verdict_status(answer);
	if (result && status == EXIT_DONE)
		*result = json_incref(json_object_get(answer, "result"));
	json_decref(answer);
	fclose(daemon->in);
	return status;
}

/*
 * Removes the arguments that say where the output goes, and returns that output; NULL with a
 * message if it cannot be opened.
 */
static const struct output *choose_output(const struct ctl_command *c, json_t *args)
{
	const char *html = json_string_value(json_object_get(args, "html"));
	const char *dir = json_string_value(json_object_get(args, "dir"));
	const struct output *text = texts[c - commands];
	bool made;

	if (html) {
		html_output_begin(html);
		json_object_del(args, "html");
		json_object_set_new(args, "links", json_true());
		return &html_output;
	}
	if (!dir)
		return !as_json ? text : c->lines ? &json_lines_output : &json_output;
	made = file_output_begin(dir);
	json_object_del(args, "dir");
	return made ? text : NULL;
}

/* Returns the answer's first object, which may be a refusal, or NULL with a message. */
static json_t *ask_once(const char *request, json_t *args, const struct buf *file)
{
	struct connection *daemon = connect_daemon(file ? PATIENCE_FILE_SECONDS : PATIENCE_SECONDS);
	json_t *answer = NULL;

	if (!daemon)
		return NULL;
	send_request(daemon->fd, request, args, file);
	answer = read_object(daemon->in);
	fclose(daemon->in);
	return answer;
}

static bool is_ok(const json_t *answer)
{
	return json_is_true(json_object_get(answer, "ok"));
}

/* reloaded: the result of the reload */
static void put_installed(json_t *reloaded, const struct install *x)
{
	json_t *result;

	if (as_json) {
		result = json_pack("{s:s, s:s?}", "file", x->path, "before", x->before);
		json_object_update(result, reloaded);
		put_json(result, JSON_INDENT(2));
		printf("\n");
		json_decref(result);
		return;
	}
	put_accepted(reloaded);
	printf("installed %s; the policy was accepted\n", x->path);
	if (x->before)
		printf("the previous file is kept as %s\n", x->before);
	put_in_force_when(reloaded);
}

/*
 * Makes the daemon reload the installed file; undoes the installation if the daemon refuses it.
 * *result gets a reference to the result of the reload.
 */
static int apply_installed(const struct install *x, const json_t *args, json_t **result)
{
	json_t *force = json_object_get(args, "force");
	json_t *reload = force ? json_pack("{s:O}", "force", force) : json_object();
	json_t *answer = ask_once("reload", reload, NULL);
	int status = EXIT_NO_DAEMON;

	if (answer && is_ok(answer)) {
		clean_strings(answer);
		*result = json_incref(json_object_get(answer, "result"));
		put_installed(*result, x);
		status = EXIT_DONE;
	} else if (answer) {
		clean_strings(answer);
		status = refused(answer);
		if (install_undo(x))
			fprintf(stderr, "qosd-ctl: %s is unchanged\n", x->path);
	} else {
		fprintf(stderr, "qosd-ctl: installed %s, but the daemon may not have read it\n", x->path);
	}
	json_decref(answer);
	json_decref(reload);
	return status;
}

/*
 * Replaces the configured policy file.  The daemon checks the policy and says which file to
 * replace; the calling user must have permission to write it, which the daemon should not have.
 */
static int install(json_t *args, const struct buf *file, json_t **result)
{
	json_t *answer = ask_once("policy check", args, file);
	struct install x = { NULL, NULL };
	int status = EXIT_NO_DAEMON;

	if (answer && !is_ok(answer)) {
		clean_strings(answer);
		status = refused(answer);
	} else if (answer) {
		status = EXIT_REFUSED;
		if (install_file(&x, str(json_object_get(answer, "result"), "path"), file))
			status = apply_installed(&x, args, result);
		install_free(&x);
	}
	json_decref(answer);
	return status;
}

/* --- waiting for a change --- */

enum progress { IN_FORCE, NOT_YET, NEVER };

/* The subnet before a request: what was wrong then is not the fault of the change. */
struct before {
	bool up;
	long long failed_devices;
};

static enum progress never(const char *why, const char *more)
{
	fprintf(stderr, "qosd-ctl: the change is not in force: %s%s\n", why, more);
	return NEVER;
}

/*
 * What the result of `status` says of a change with this number.  Dynamic partitions add up, so that
 * a later change of them includes it; a later policy replaces it.
 */
static enum progress progress_of(const json_t *status, bool dynamic, long long change,
				 const struct before *before)
{
	const json_t *policy = json_object_get(status, "policy");
	const json_t *x = dynamic ? json_object_get(policy, "dynamic") : policy;
	const char *state = str(status, "state");
	bool up = json_is_true(json_object_get(status, "subnet-up"));

	if (!strcmp(state, "standby") || !strcmp(state, "not-active"))
		return never("the subnet manager is ", state);
	if (!dynamic && num(x, "change") != change)
		return never("another policy has replaced it", "");
	if (num(x, "change-in-force") < change)
		return NOT_YET;
	if (num(status, "failed-sets") || (before->up && !up) ||
	    num(status, "failed-devices") > before->failed_devices)
		return never("devices did not take their settings, see 'qosd-ctl health'", "");
	return IN_FORCE;
}

/* Returns false, with a message, if no daemon answers. */
static bool look_before(struct before *before)
{
	json_t *args = json_object(), *answer = ask_once("status", args, NULL);
	const json_t *status = json_object_get(answer, "result");
	bool answered = answer != NULL;

	before->up = json_is_true(json_object_get(status, "subnet-up"));
	before->failed_devices = num(status, "failed-devices");
	json_decref(args);
	json_decref(answer);
	return answered;
}

/* Polls `status` until the change that a request's result names is on the devices. */
static int wait_in_force(const struct ctl_command *c, const json_t *result,
			 const struct before *before)
{
	bool dynamic = c->request != NULL;
	enum progress x = NOT_YET;

	for (unsigned i = 0; x == NOT_YET && i < WAIT_SECONDS * 50; i++) {
		json_t *args = json_object(), *answer = ask_once("status", args, NULL);

		if (answer)
			x = progress_of(json_object_get(answer, "result"), dynamic,
					num(result, "change"), before);
		json_decref(args);
		json_decref(answer);
		if (!answer)
			return EXIT_NO_DAEMON;
		if (x == NOT_YET)
			usleep(20000);
	}
	if (x == NOT_YET)
		fprintf(stderr, "qosd-ctl: the change is not in force after %u s\n", WAIT_SECONDS);
	else if (x == IN_FORCE && !as_json)
		printf("it is in force\n");
	return x == IN_FORCE ? EXIT_DONE : EXIT_REFUSED;
}

static int run(const struct ctl_command *c, char **argv)
{
	struct buf file = { 0 };
	json_t *args = c->words ? json_object() : parse_args(c, argv);
	bool sends_file = c->words || c->takes_file;
	const struct output *out;
	json_t *result = NULL;
	int status = EXIT_REFUSED;
	struct before before = { 0 };

	if (!args || (c->words && !partition_change(c->name, argv, args, &file))) {
		json_decref(args);
		buf_free(&file);
		usage_error(c);
		return c->judges ? EXIT_BAD : EXIT_REFUSED;
	}
	awaits_change = json_is_true(json_object_get(args, "wait"));
	json_object_del(args, "wait");
	out = choose_output(c, args);
	if (out && awaits_change && !look_before(&before))
		status = EXIT_NO_DAEMON;
	else if (out && c->installs)
		status = read_file(args, &file) ? install(args, &file, &result) : EXIT_REFUSED;
	else if (out && (!sends_file || c->words || read_file(args, &file)))
		status = ask(c, args, sends_file ? &file : NULL, out,
			     awaits_change ? &result : NULL);
	if (awaits_change && status == EXIT_DONE) {
		fflush(stdout);		/* what was accepted, before the wait */
		status = wait_in_force(c, result, &before);
	}
	json_decref(result);
	buf_free(&file);
	json_decref(args);
	if (fflush(stdout) != 0 && status == EXIT_DONE)
		status = EXIT_REFUSED;
	return status;
}

static bool parse_limit(const char *text)
{
	char *end;
	unsigned long seconds = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || seconds > LIMIT_MAX_SECONDS) {
		fprintf(stderr, "qosd-ctl: --timeout takes seconds, 0 (no limit) to %u, not %s\n",
			LIMIT_MAX_SECONDS, text);
		return false;
	}
	limit_seconds = (unsigned)seconds;
	return true;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "timeout", required_argument, NULL, 't' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const struct ctl_command *c;
	int opt, words;

	while ((opt = getopt_long(argc, argv, "+s:t:jhV", options, NULL)) != -1)
		switch (opt) {
		case 's':
			socket_path = optarg;
			break;
		case 't':
			if (!parse_limit(optarg))
				return usage_error(NULL);
			break;
		case 'j':
			as_json = true;
			break;
		case 'h':
			put_help();
			return EXIT_DONE;
		case 'V':
			printf("qosd-ctl %s\n", QOSD_VERSION);
			return EXIT_DONE;
		default:
			return usage_error(NULL);
		}
	if (optind == argc)
		return usage_error(NULL);
	if (!strcmp(argv[optind], "convert"))
		return convert_command(argc - optind, argv + optind, as_json);
	c = find_command(argv + optind, &words);
	return c ? run(c, argv + optind + words) : no_such_command(argv + optind);
}
