/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs qosd-ctl: one command of a command line, which may be repeated or paged.  What each command
 * is called and takes is in include/qosd/commands.def.
 */
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "command_line.h"
#include "command_table.h"
#include "help.h"
#include "local_commands.h"
#include "run_request.h"
#include "terminal.h"

#ifndef QOSD_VERSION
#define QOSD_VERSION "unknown"
#endif

/* The functions of the commands that need no daemon; NULL: it answers the command. */
static int (*const functions[])(const struct command_line *) = {
#define COMMAND(...) NULL,
#define CLIENT_COMMAND COMMAND
#define LOCAL_COMMAND(id, ...) local_##id,
#include "qosd/commands.def"
};

static int run(const void *arg)
{
	const struct command_line *line = arg;
	int (*function)(const struct command_line *) = functions[line->command - ctl_commands];

	return function ? function(line) : run_request(line);
}

/* first: NULL for all commands; second: NULL for all with this first word */
static int show_help(const char *first, const char *second)
{
	if (first)
		return put_help_of(first, second) ? EXIT_DONE : EXIT_REFUSED;
	put_help();
	return EXIT_DONE;
}

int local_help(const struct command_line *line)
{
	return show_help(line->given.n > 0 ? line->given.v[0].value : NULL,
			 line->given.n > 1 ? line->given.v[1].value : NULL);
}

/* --help: of the command, if there is one. */
static int run_help(const void *arg)
{
	const struct command_line *line = arg;

	return show_help(line->first, line->second);
}

/* True if the answer of this command line has an end, and only shows something. */
static bool shows(const struct command_line *line)
{
	if (!line->command->shows)
		return false;
	for (size_t i = 0; i < line->given.n; i++) {
		const struct ctl_arg *a = line->given.v[i].arg;

		if (!strcmp(a->name, "follow") || a->names == NAMES_OUTPUT)
			return false;
	}
	return true;
}

static int run_line(const struct command_line *line)
{
	if (options.version) {
		printf("qosd-ctl %s\n", QOSD_VERSION);
		return EXIT_DONE;
	}
	if (options.help)
		return paged(run_help, line);
	if (options.watch_seconds > 0 && !shows(line)) {
		fprintf(stderr, "qosd-ctl: %s: --watch works only with commands that show something\n",
			line->command->name);
		return line->command->judges ? EXIT_BAD : EXIT_REFUSED;
	}
	if (options.watch_seconds > 0)
		return watched(run, line, options.watch_seconds);
	return shows(line) ? paged(run, line) : run(line);
}

int main(int argc, char **argv)
{
	struct command_line line = { 0 };
	int status = EXIT_REFUSED;

	(void)argc;
	if (command_line_read(argv + 1, &line)) {
		terminal_begin();
		status = run_line(&line);
	} else if (line.command && line.command->judges) {
		status = EXIT_BAD;
	}
	command_line_free(&line);
	return status;
}
