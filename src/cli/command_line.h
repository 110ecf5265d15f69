/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the command line of qosd-ctl: finds the command, tells its options and operands and those
 * of qosd-ctl apart, in whatever order they come, and applies the latter.
 */
#ifndef QOSD_CLI_COMMAND_LINE_H
#define QOSD_CLI_COMMAND_LINE_H

#include <stdbool.h>

#include "lib/base/alloc.h"
#include "qosd/commands.h"

#define LIMIT_SECONDS 5		/* time limit for a daemon that shows no sign of life */
#define WATCH_SECONDS 2

/* The options of qosd-ctl itself. */
struct options {
	const char *socket;
	unsigned limit_seconds;	/* 0: no limit */
	bool json;
	bool no_pager;
	bool color_always, color_never;
	double watch_seconds;	/* 0: once */
	bool help, version;
};
extern struct options options;

/* An argument as it was given; value is NULL if it is a flag. */
struct given {
	const struct ctl_arg *arg;
	const char *value;
};

struct command_line {
	const struct ctl_command *command;	/* NULL: there is none */
	const char *first, *second;		/* first words that are no options; NULL: none */
	VEC(struct given) given;		/* arguments of the command, in their order */
};

/*
 * Reads the words behind the program's name, up to NULL, into an empty line.  With --help and
 * --version, the command and its arguments are not looked at.  Returns false, with a message on
 * standard error, if something is wrong.  The words must stay.
 */
bool command_line_read(char **words, struct command_line *line);
void command_line_free(struct command_line *line);

/* --- one word after the other --- */

struct word_reader {
	char **words;		/* what is left */
	const char *letters;	/* what is left of short options in one word, or NULL */
	bool operands_only;	/* -- was read */
	const struct ctl_command *command;	/* whose options there are; NULL: not known yet */
	bool silent;		/* no messages */
	const struct ctl_arg *without_value;	/* set if the value of the last option is missing */
};

enum word_kind { WORD_NONE, WORD_OPERAND, WORD_OPTION, WORD_WRONG };

/*
 * Reads the next argument.  WORD_OPERAND: given->value is it.  WORD_OPTION: given->arg and value.
 * WORD_WRONG: with a message unless silent; the reader can go on.
 */
enum word_kind next_word(struct word_reader *r, struct given *given);
/* Applies an option of qosd-ctl; false with a message if its value is wrong. */
bool apply_option(const struct given *given);
/* True if the argument is one of ctl_options. */
bool is_own_option(const struct ctl_arg *a);

#endif
