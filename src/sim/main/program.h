/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of the program qosd-sim and their interfaces.
 *
 * options.c parses the words and starts the subcommand. world.c makes the fabric.
 * server.c, client.c, question.c and outq.c serve it over a socket, for serve.c and run.c;
 * passing.c controls its time, and ivshmem.c connects virtual machines. attach.c, ask.c and vm.c are
 * the clients' side of the socket.
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
	const char *socket;		/* NULL: that of the environment, or the default */
	const char *topology;		/* for run and serve */
	const char *ibnl;		/* directory of IBNL files, or NULL */
	const char *profiles, *preset, *script;
	const char *nodes;		/* for run, attach and vm: "A;B"; "" if not given */
	uint64_t seed;
	int64_t date_s;			/* time of day at the start of stopped time, since 1970; 0: now */
	bool keep_lids, stands, verbose, json;
	char **words;			/* the command, NULL-terminated */
	int n_words;
};

/* The full path of the socket; the caller frees it with free(). */
char *socket_path(const struct options *o);

/* --- world.c --- */

struct world {
	struct sim *sim;
	struct script *script;		/* NULL if there is none */
};

/* Makes the fabric and powers it on.  False: the error was printed. */
bool world_start(struct world *w, const struct options *o);
void world_stop(struct world *w);

/* --- subcommands: each returns the exit status --- */

int serve(const struct options *o);	/* serve.c */
int run(const struct options *o);	/* run.c */
int attach(const struct options *o);	/* attach.c */
int ctl(const struct options *o);	/* ask.c */
int vm(const struct options *o);	/* vm.c */

/* --- attach.c --- */

/*
 * Sets the environment of a program that is to run on the nodes, by the machine's time or the
 * simulator's.  False: there is no library; the error was printed.
 */
bool set_environment(const char *socket, const char *nodes, bool simulated_time);
/* Executes the command.  Returns only if that fails, with the status that a shell would give. */
int become(char **command);

/* --- ask.c --- */

/* Opens a connection for the purpose.  file: for SIM_HCA, else -1. -1: the error was printed. */
int dial(const char *socket, enum sim_purpose purpose, const char *nodes, int file);

#endif
