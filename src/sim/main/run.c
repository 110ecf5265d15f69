/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements `qosd-sim run`, a fabric for as long as one command runs.
 *
 * Processes that the command leaves running become children of this subreaper, and are ended after
 * it.  The fabric stays until the last has exited, so that each can shut down properly.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "server.h"

#define CHECK_US	20000		/* interval of the checks whether all have exited */
#define PATIENCE	100		/* checks until SIGKILL */

struct job {
	struct server sv;
	struct loop *loop;
	const struct options *o;
	char *dir, *socket;
	int pid;
	struct child *child;
	struct timer *ending;		/* runs once the command has exited */
	unsigned checks;
	int status;
};

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };

/* Sends the signal to all children; returns their number. */
static unsigned signal_children(int signum)
{
	char path[64];
	unsigned n = 0;
	FILE *f;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "r");
	while (f && fscanf(f, "%d", &pid) == 1) {
		kill(pid, signum);
		n++;
	}
	if (f)
		fclose(f);
	return n;
}

static void check_children(void *arg)
{
	struct job *j = arg;
	unsigned n = j->checks++ < PATIENCE ? signal_children(0) : signal_children(SIGKILL);

	if (!n)
		loop_stop(j->loop);
}

static void on_end(void *arg, int status)
{
	struct job *j = arg;

	j->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	j->pid = 0;
	signal_children(SIGTERM);
	timer_set(j->ending, 0, CHECK_US);
}

/* Passes a signal on to the command; a terminal has sent SIGINT to the whole foreground itself. */
static void pass_on(struct job *j, int signum)
{
	if (j->pid && !(signum == SIGINT && isatty(STDIN_FILENO)))
		kill(j->pid, signum);
}

static void on_interrupt(void *arg) { pass_on(arg, SIGINT); }
static void on_terminate(void *arg) { pass_on(arg, SIGTERM); }
static void on_hangup(void *arg) { pass_on(arg, SIGHUP); }

/* Runs in the child; mask: the signal mask before the fork. */
static void become_command(const struct job *j, const sigset_t *mask)
{
	/* from here on signals are for the command; no handler of this program may swallow them */
	for (unsigned i = 0; i < SIGNALS; i++)
		signal(signals[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	/* if the simulator is killed, nothing else would end the command */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setrlimit(RLIMIT_NOFILE, &j->sv.files_before);
	_exit(set_environment(j->socket, j->o->nodes, j->o->stands) ? become(j->o->words) : EXIT_FAILED);
}

static bool start_command(struct job *j)
{
	sigset_t ours, before;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&ours);
	for (unsigned i = 0; i < SIGNALS; i++)
		sigaddset(&ours, signals[i]);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	j->pid = fork();
	if (j->pid == 0)
		become_command(j, &before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (j->pid < 0) {
		perror("qosd-sim: fork");
		return false;
	}
	j->child = child_new(j->loop, j->pid, on_end, j);
	return true;
}

static void run_loop(struct job *j)
{
	static void (*const on_signal[SIGNALS])(void *arg) = {
		on_interrupt, on_terminate, on_hangup,
	};
	struct sig *sigs[SIGNALS];

	j->ending = timer_new(j->loop, check_children, j);
	for (unsigned i = 0; i < SIGNALS; i++)
		sigs[i] = sig_new(j->loop, signals[i], on_signal[i], j);
	if (start_command(j))
		loop_run(j->loop);
	for (unsigned i = 0; i < SIGNALS; i++)
		sig_free(sigs[i]);
	child_free(j->child);
	timer_free(j->ending);
}

/* Makes a private directory for the socket, which is removed at the end. */
static bool make_socket_path(struct job *j)
{
	const char *base = getenv("XDG_RUNTIME_DIR");

	if (!base || access(base, W_OK) < 0)
		base = getenv("TMPDIR");
	j->dir = xasprintf("%s/qosd-sim.XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(j->dir)) {
		perror(j->dir);
		return false;
	}
	j->socket = xasprintf("%s/socket", j->dir);
	return true;
}

static bool node_exists(const struct sim_fabric *f, const char *nodes)
{
	char *copy = xstrdup(nodes), *save;
	struct buf err = { 0 };
	bool ok = true;

	for (char *n = strtok_r(copy, ";", &save); n && ok; n = strtok_r(NULL, ";", &save))
		ok = find_node_by_text(f, n, &err) != SIM_NONE;
	if (!ok)
		fprintf(stderr, "qosd-sim: %s\n", err.s ? err.s : nodes);
	buf_free(&err);
	free(copy);
	return ok;
}

int run(const struct options *o)
{
	struct job j = { .o = o, .status = EXIT_FAILED };
	struct world w;

	log_set_level(o->verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARNING);
	if (!world_start(&w, o))
		return EXIT_FAILED;
	j.loop = loop_new();
	if (node_exists(w.sim->f, o->nodes) && make_socket_path(&j)) {
		if (server_start(&j.sv, j.loop, w.sim, j.socket, o)) {
			run_loop(&j);
			server_stop(&j.sv);
		}
		rmdir(j.dir);
	}
	free(j.socket);
	free(j.dir);
	loop_free(j.loop);
	world_stop(&w);
	return j.status;
}
