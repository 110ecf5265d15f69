/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs qosd-rest(8): options, start, reload on SIGHUP, end. */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/rest/api/rest_gate.h"
#include "cli/rest/rest_server.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/net.h"
#include "lib/base/sandbox.h"

#ifndef QOSD_REST_CONFIG
#define QOSD_REST_CONFIG "/etc/qosd/qosd-rest.yaml"
#endif

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char usage[] =
"usage: qosd-rest [options]\n"
"  -c, --config FILE      settings (default " QOSD_REST_CONFIG ")\n"
"  -s, --socket PATH      control socket of qosd, instead of that in the settings\n"
"  -n, --check            check the settings, the certificate and its key, and exit\n"
"  -H, --hash-password    read a password or token from standard input, print its hash\n"
"  -t, --new-token USER   print a new token of this user, and its hash\n"
"  -v, --verbose          log more\n"
"  -V, --version          print the version\n"
"  -h, --help             print this\n";

struct options {
	const char *config, *socket, *token_user;
	bool check, hash;
};

/* --- settings --- */

static const struct src_pos nowhere;

/* Hashes can be tried at leisure by whoever can read them. */
static void warn_of_mode(const char *path, struct findings *out)
{
	struct stat st;

	if (!stat(path, &st) && (st.st_mode & S_IROTH))
		findings_add(out, SEV_WARNING, path, nowhere, "everybody can read the hashes of passwords: chmod o-r");
}

static struct rest_settings *load(const struct options *o, struct findings *found)
{
	struct buf text = { 0 }, why = { 0 };
	struct rest_settings *s = NULL;

	if (file_read(o->config, REST_FILE_MAX, &text, &why)) {
		s = rest_settings_read(o->config, text.n ? text.s : "", text.n, found);
		warn_of_mode(o->config, found);
	} else {
		findings_add(found, SEV_ERROR, o->config, nowhere, "%s", why.s);
	}
	if (s && o->socket) {
		free(s->socket);
		s->socket = xstrdup(o->socket);
	}
	buf_free(&text);
	buf_free(&why);
	return s;
}

/* --- without serving --- */

static int check(const struct options *o)
{
	struct findings found = { 0 };
	struct rest_settings *s = load(o, &found);
	struct rest_server *x = NULL;
	struct buf text = { 0 };

	if (s) {
		x = rest_server_new(s, -1, &text);
		if (!x) {
			rest_settings_free(s);
			findings_add(&found, SEV_ERROR, o->config, nowhere, "%s", text.s);
		}
	}
	rest_server_free(x);
	buf_free(&text);
	for (size_t i = 0; i < found.n; i++) {
		findings_format(&found.v[i], &text);
		fprintf(stderr, "%s\n", text.s);
		buf_free(&text);
	}
	findings_free(&found);
	return x ? EXIT_OK : EXIT_FAILED;
}

static int print_hash(const char *secret)
{
	struct buf hash = { 0 };
	bool made = rest_hash_secret(secret, &hash);

	if (made)
		puts(hash.s);
	else
		fputs("qosd-rest: the system has no yescrypt\n", stderr);
	buf_free(&hash);
	return made ? EXIT_OK : EXIT_FAILED;
}

static int hash_input(void)
{
	char secret[REST_PASSWORD_MAX + 2];
	size_t n;

	if (!fgets(secret, sizeof(secret), stdin))
		secret[0] = '\0';
	n = strcspn(secret, "\n");
	secret[n] = '\0';
	if (!n || n > REST_PASSWORD_MAX) {
		fprintf(stderr, "qosd-rest: a password has 1 to %d bytes\n", REST_PASSWORD_MAX);
		return EXIT_FAILED;
	}
	return print_hash(secret);
}

static int new_token(const char *user)
{
	struct buf token = { 0 };
	int status;

	if (!rest_new_token(user, &token)) {
		fputs("qosd-rest: the system has no random numbers\n", stderr);
		return EXIT_FAILED;
	}
	puts(token.s);
	status = print_hash(token.s);
	explicit_bzero(token.s, token.n);
	buf_free(&token);
	return status;
}

/* --- serving --- */

static bool is_done(bool done, struct buf *err)
{
	if (!done)
		log_warn("sandbox", "%s", err->s);
	buf_free(err);
	return done;
}

/*
 * Drops what is not needed once the socket listens.  One thread runs.  As with the daemon, what the
 * system refuses is a warning; the other steps are made nevertheless.
 */
static void enter_sandbox(void)
{
	struct buf err = { 0 };
	bool done = is_done(sandbox_drop_privileges(&err), &err);

	done &= is_done(sandbox_hide_memory(&err), &err);
	done &= !sandbox_filters() || is_done(sandbox_daemon(&err), &err);
	if (done)
		log_info("sandbox", "no capabilities; system calls are %sfiltered", sandbox_filters() ? "" : "not ");
}

static struct rest_server *begin(const struct options *o)
{
	struct findings found = { 0 };
	struct rest_settings *s = load(o, &found);
	struct rest_server *x = NULL;
	struct buf err = { 0 };
	uint16_t port;
	int fd;

	findings_log(&found, "rest");
	findings_free(&found);
	if (!s)
		return NULL;
	fd = net_listen(s->listen, &port, &err);
	if (fd >= 0) {
		enter_sandbox();
		log_begin();
		x = rest_server_new(s, fd, &err);
	}
	if (x) {
		log_info("rest", "serving at %s (port %u), %s, for %zu users", s->listen, port,
			 s->certificate ? "with TLS" : "without TLS", s->users.n);
	} else {
		log_error("rest", "%s", err.s);
		if (fd >= 0)
			close(fd);
		rest_settings_free(s);
	}
	buf_free(&err);
	return x;
}

/* A new server on the old one's socket.  If anything is wrong, the old one goes on. */
static struct rest_server *reload(struct rest_server *old, const struct options *o)
{
	struct findings found = { 0 };
	struct rest_settings *s = load(o, &found);
	struct rest_server *x = NULL, *probe = NULL;
	struct buf err = { 0 };
	int fd;

	findings_log(&found, "rest");
	findings_free(&found);
	if (s && strcmp(s->listen, rest_server_settings(old)->listen))
		log_warn("rest", "listen: a change needs a restart");
	/* tried first without a socket: a server that has left its socket cannot take it back */
	probe = s ? rest_server_new(s, -1, &err) : NULL;
	if (!probe) {
		log_error("rest", "%s%sthe former settings stay in force", err.n ? err.s : "", err.n ? "; " : "");
		rest_settings_free(s);
		buf_free(&err);
		return old;
	}
	rest_server_free(probe);
	s = load(o, &found);
	fd = rest_server_leave(old);
	x = s && fd >= 0 ? rest_server_new(s, fd, &err) : NULL;
	rest_server_free(old);
	findings_free(&found);
	if (x)
		log_info("rest", "the settings were read again: %zu users", s->users.n);
	else
		log_error("rest", "%s", err.n ? err.s : "the settings have changed meanwhile");
	buf_free(&err);
	return x;
}

static int serve(const struct options *o)
{
	struct rest_server *x;
	sigset_t signals;
	int which, status;

	/* all threads inherit the mask, so that the signals come here */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	x = begin(o);
	while (x && !sigwait(&signals, &which) && which == SIGHUP)
		x = reload(x, o);
	status = x ? EXIT_OK : EXIT_FAILED;
	rest_server_free(x);
	log_end(1000000);
	return status;
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "socket", required_argument, NULL, 's' },
		{ "check", no_argument, NULL, 'n' },
		{ "hash-password", no_argument, NULL, 'H' },
		{ "new-token", required_argument, NULL, 't' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "c:s:nHt:vVh", longs, NULL)) != -1) {
		switch (c) {
		case 'c': o->config = optarg; break;
		case 's': o->socket = optarg; break;
		case 'n': o->check = true; break;
		case 'H': o->hash = true; break;
		case 't': o->token_user = optarg; break;
		case 'v': log_set_level(LOG_LEVEL_DEBUG); break;
		case 'V':
			puts("qosd-rest " QOSD_VERSION);
			return EXIT_OK;
		case 'h':
			fputs(usage, stdout);
			return EXIT_OK;
		default:
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "qosd-rest: unexpected argument \"%s\"\n", argv[optind]);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct options o = { .config = QOSD_REST_CONFIG };
	int status = parse(&o, argc, argv);

	if (status >= 0)
		return status;
	json_set_alloc_funcs(xmalloc, free);
	/* the hash table's seed: made once, before there are threads */
	json_object_seed(0);
	if (o.hash)
		return hash_input();
	if (o.token_user)
		return new_token(o.token_user);
	return o.check ? check(&o) : serve(&o);
}
