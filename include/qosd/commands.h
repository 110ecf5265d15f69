/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a command of the control socket is: its rights and arguments, by which the daemon checks
 * requests, and its words, of which qosd-ctl makes options, usage and help.  The commands
 * themselves are in commands.def.
 */
#ifndef QOSD_COMMANDS_H
#define QOSD_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

/* What a client may: each what the ones before it may, too. */
enum ctl_right {
	CTL_NOTHING,
	CTL_READ,		/* be shown the fabric and what happens in it */
	CTL_ADMIN,		/* all */
};

enum ctl_arg_type { ARG_TEXT, ARG_NUMBER, ARG_FLAG };
/* Who knows the argument: `html`, for one, qosd-ctl keeps to itself. */
enum ctl_arg_of { ARG_OF_BOTH, ARG_OF_DAEMON, ARG_OF_CLIENT };

struct ctl_arg {
	const char *name;
	enum ctl_arg_type type;
	uint64_t min, max;	/* of a number */
	const char *value;	/* what the usage calls the value of an option; NULL: N */
	bool operand;		/* on the command line a word by its place, not an option */
	bool required;
	enum ctl_arg_of of;
};

#define POLICY_TRIAL_MAX	86400	/* seconds */
#define CTL_ARGS_MAX 17

struct ctl_command {
	const char *name;		/* one or two words */
	const char *help;
	enum ctl_right takes;		/* of a client; CTL_NOTHING: a command of qosd-ctl's own */
	bool needs_state;		/* a published subnet */
	bool takes_file;		/* a body follows the request */
	/* On the command line operands come first, and those that are required before the others. */
	struct ctl_arg args[CTL_ARGS_MAX + 1];

	/* qosd-ctl alone */
	bool follows;			/* its answer has no end: no patience is lost */
	bool lines;			/* each row is printed at once, with -j in a line of its own */
	bool installs;			/* the file takes the place of the daemon's own */
	bool judges;			/* the exit status is that of the result's verdict */
	const char *words;		/* all that follows its name, parsed by its own function */
	const char *request;		/* the daemon's command, if it is not called by its name */
};

#define CTL_COMMAND(word, text, right, ...) \
	{ .name = word, .help = text, .takes = right, __VA_ARGS__ }

#endif
