/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program's parts: main.c chooses what to do, options.c reads the words.
 * world.c makes the fabric; server.c, client.c, question.c and outq.c have it on a
 * socket, for serve.c and run.c, and passing.c has its time.  attach.c and ask.c are on the other side of it.
 */
#ifndef QOSD_SIM_MAIN_PROGRAM_H
#define QOSD_SIM_MAIN_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "qosd/sim.h"
#include "sim/net/engine.h"

enum { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_CANNOT_START = 126, EXIT_NO_COMMAND = 127 };

/* --- options.c --- */

struct options {
	const char *kind;		/* "run", "serve" … */
	const char *socket;		/* NULL: the environment's, or the usual one */
	const char *topology;		/* run, serve */
	const char *ibnl;		/* a directory of IBNL files, or NULL */
	const char *profiles, *preset, *script;
	const char *nodes;		/* run, attach: "A;B", "" if not said */
	uint64_t seed;
	bool keep_lids, stands, verbose, json;
	char **words;			/* the command, NULL-terminated */
	int n_words;
};

/* -1, or the exit status at once. */
int options_parse(struct options *o, int argc, char **argv);
/* The socket that is meant, in full; malloc'ed. */
char *socket_path(const struct options *o);

/* --- world.c --- */

struct world {
	struct sim *sim;
	struct script *script;		/* NULL: none */
};

/* The fabric, powered on. False: it was said why. */
bool world_start(struct world *w, const struct options *o);
void world_stop(struct world *w);

/* --- what the program can do: each returns the exit status --- */

int serve(const struct options *o);	/* serve.c */
int run(const struct options *o);	/* run.c */
int attach(const struct options *o);	/* attach.c */
int ctl(const struct options *o);	/* ask.c */

/* --- attach.c --- */

/*
 * For a program that is to run on the nodes, by the machine's time or the simulator's.  False: no
 * library; it was said.
 */
bool set_environment(const char *socket, const char *nodes, bool simulated_time);
/* Becomes the command; returns only with the status that a shell gives if it cannot. */
int become(char **command);

/* --- ask.c --- */

/* A connection for the purpose; -1: it was said why not. */
int dial(const char *socket, enum sim_purpose purpose, const char *nodes);

#endif
