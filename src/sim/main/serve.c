/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements `qosd-sim serve`, a fabric on a socket until a signal ends it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "server.h"

static void on_signal(void *arg)
{
	loop_stop(arg);
}

static bool serve_until_signal(struct world *w, struct loop *l, const char *path,
			       const struct options *o)
{
	const struct sim_fabric *f = w->sim->f;
	struct server sv;
	struct sig *term, *intr;

	if (!server_start(&sv, l, w->sim, path, o))
		return false;
	term = sig_new(l, SIGTERM, on_signal, l);
	intr = sig_new(l, SIGINT, on_signal, l);
	printf("ready: %s: %u switches, %u other nodes\n", path, f->n_switches,
	       f->n_nodes - f->n_switches);
	fflush(stdout);
	loop_run(l);
	sig_free(intr);
	sig_free(term);
	server_stop(&sv);
	return true;
}

int serve(const struct options *o)
{
	struct world w;
	struct loop *l;
	char *path;
	bool ok;

	log_set_level(o->verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
	if (!world_start(&w, o))
		return EXIT_FAILED;
	l = loop_new();
	path = socket_path(o);
	ok = serve_until_signal(&w, l, path, o);
	free(path);
	loop_free(l);
	world_stop(&w);
	return ok ? EXIT_DONE : EXIT_FAILED;
}
