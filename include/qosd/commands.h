/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines the rights, arguments and words of a command of the control socket.  The commands are
 * in commands.def.
 *
 * The daemon checks requests against the rights and arguments.  qosd-ctl makes options, usage
 * and help of the words.
 */
#ifndef QOSD_COMMANDS_H
#define QOSD_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

/* The rights of a client; each includes the ones before it. */
enum ctl_right {
	CTL_NOTHING,
	CTL_READ,		/* see the fabric and its events */
	CTL_ADMIN,		/* everything */
};

enum ctl_arg_type {
	ARG_TEXT, ARG_NUMBER,
	ARG_SECONDS,		/* a whole number of seconds, or a text with a unit (lib/base/time_parse.h) */
	ARG_FLAG,
};
/* What a text names: what help says of it, and what a shell can complete it to. */
enum ctl_names {
	NAMES_NOTHING, NAMES_FILE, NAMES_OUTPUT, NAMES_DIR, NAMES_PORT, NAMES_PARTITION, NAMES_LEVEL,
	NAMES_GROUP, NAMES_COMMAND,
};
/* Which program knows the argument; `html`, for example, is handled by qosd-ctl alone. */
enum ctl_arg_of { ARG_OF_BOTH, ARG_OF_DAEMON, ARG_OF_CLIENT };

struct ctl_arg {
	const char *name;
	enum ctl_arg_type type;
	uint64_t min, max;	/* of a number, or of seconds */
	const char *value;	/* name of an option's value in the usage; NULL: N */
	bool operand;		/* a positional word on the command line, not an option */
	bool required;
	enum ctl_arg_of of;
	bool repeats;			/* an operand that takes all further words, as an array of texts */

	/* used by qosd-ctl only */
	const char *help;		/* one line */
	char letter;			/* short name of an option; 0: none */
	bool value_optional;		/* a number that follows an option, or none */
	enum ctl_names names;
	const char *choices;		/* its values, separated by blanks, for help and completion */
};

/* Values of options that the daemon checks, separated by blanks. */
#define NODE_TYPES	"ca switch router aggregation"
#define NODE_ORDERS	"name guid"
/* Kinds of differences from the expected topology (fabric/expected.h). */
#define TOPOLOGY_KINDS "node-missing node-unknown miscabled link-missing link-surplus"
/* Kinds of what is missing (events/missing.h). */
#define MISSING_KIND_WORDS "switch host manager link host-link rate"
#define PORT_STATES	"down init armed active"
#define PORT_ORDERS	"name lid rate"
#define ERROR_ORDERS	"worst total name"
/* Error counters, as lib/iba/port_errors.h names them. */
#define ERROR_COUNTERS	"symbol-errors link-error-recoveries link-downed rcv-errors rcv-remote-physical-errors " \
			"rcv-switch-relay-errors xmit-discards xmit-constraint-errors rcv-constraint-errors " \
			"local-link-integrity-errors buffer-overrun-errors vl15-dropped xmit-wait qp1-dropped"
#define EVENT_SEVERITIES "error warning info"

/* What a command is about: a heading of the list of commands. */
enum ctl_subject {
	ABOUT_SUBNET, ABOUT_PORTS, ABOUT_POLICY, ABOUT_PARTITIONS, ABOUT_SA, ABOUT_FILES, ABOUT_CLIENT,
	N_CTL_SUBJECTS,
};

#define POLICY_TRIAL_MAX	86400	/* seconds */
#define CTL_ARGS_MAX 18

struct ctl_command {
	const char *name;		/* one or two words */
	const char *help;		/* NULL: no command for people */
	enum ctl_right takes;		/* the right required; CTL_NOTHING: handled by qosd-ctl itself */
	bool needs_state;		/* fails without a published state */
	bool takes_file;		/* a body follows the request */
	/* On the command line operands come first; required operands precede optional ones. */
	struct ctl_arg args[CTL_ARGS_MAX + 1];

	/* used by qosd-ctl only */
	bool follows;			/* its answer has no end: no time limit */
	bool lines;			/* each row is printed at once, with -j on a line of its own */
	bool installs;			/* the file replaces the daemon's own */
	bool judges;			/* the exit status is the result's verdict */
	bool shows;			/* changes nothing, and ends: can be repeated and paged */
	bool withdraws;			/* what --wait waits for is the list of `withdrawn` */
	bool makes_file;		/* qosd-ctl makes the request's body of the arguments */
	enum ctl_subject subject;
	const char *request;		/* the daemon's command, if its name differs */
};

#define CTL_COMMAND(word, text, right, ...) \
	{ .name = word, .help = text, .takes = right, __VA_ARGS__ }

#endif
