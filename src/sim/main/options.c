/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program qosd-sim, and its command line; see qosd-sim(1). */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "program.h"
#include "sim/dev/device.h"
#include "sim/topo/topo.h"

#define DATE_END	INT64_C(253402300800)	/* the year 10000 */

static const char usage[] =
"usage: qosd-sim run TOPOLOGY [OPTION]... -- COMMAND [ARGUMENT]...\n"
"       qosd-sim serve TOPOLOGY [OPTION]...\n"
"       qosd-sim attach [-s SOCKET] [-T] NODE[;NODE]... -- COMMAND [ARGUMENT]...\n"
"       qosd-sim ctl [-s SOCKET] [-j] COMMAND...\n"
"       qosd-sim check [-s SOCKET] [-j] [OPTION]...\n"
"       qosd-sim vm [-s SOCKET] NODE[;NODE]... -- QEMU [ARGUMENT]...\n";

static const char help[] =
"\n"
"A simulated InfiniBand fabric, for programs that use libibumad, and for virtual machines.\n"
"  run      a fabric, and a command on one of its nodes; ends with the command\n"
"  serve    a fabric until SIGTERM, for attach and ctl\n"
"  attach   run a command on nodes of a fabric that `serve' or `run' keeps\n"
"  ctl      inspect, break and repair the fabric; `qosd-sim ctl help' lists the commands\n"
"  check    the same as ctl check: audit all tables\n"
"  vm       run QEMU with nodes of a fabric as its InfiniBand adapters\n"
"\n"
"options of run and serve:\n"
"  -I, --ibnl DIR       where ibdm's IBNL files are, for a .topo file\n"
"  -p, --profiles FILE  what the devices are capable of (YAML)\n"
"  -P, --preset NAME    the profile of devices for which FILE has no rule\n"
"  -S, --seed N         seed of random numbers: the same N gives the same results (default 1)\n"
"  -l, --keep-lids      devices have the LIDs of the dump at the start\n"
"  -T, --time-stands    time passes with `ctl pass' only; attach: the command uses the fabric's clock\n"
"  -D, --date SECONDS   with -T: time of day at the start, in seconds since 1970 (default: now)\n"
"  -x, --script FILE    commands of ctl and the times at which to run them\n"
"  -n, --node NODES     run: where the command runs (default: the first CA)\n"
"  -s, --socket PATH    serve: where it listens (default $QOSD_SIM_SOCKET,\n"
"                       $XDG_RUNTIME_DIR/qosd-sim.sock or ./qosd-sim.sock)\n"
"  -v, --verbose        log more\n"
"  -h, --help           print this, and with `qosd-sim --help' all kinds of\n"
"                       TOPOLOGY and presets\n"
"  -V, --version        print the version\n"
"\n"
"TOPOLOGY is a file, such as the output of ibnetdiscover, or one of these, which generate a fabric:\n";

static int print_help(void)
{
	printf("%s%s%s\npresets:", usage, help, topo_generators_help);
	for (unsigned i = 0; preset_name(i); i++)
		printf(" %s", preset_name(i));
	printf("\n");
	return EXIT_DONE;
}

static int usage_error(const char *what, const char *word)
{
	if (what)
		fprintf(stderr, "qosd-sim: %s%s\n", what, word);
	fputs("See `qosd-sim --help'.\n", stderr);
	return EXIT_USAGE;
}

/* Accepts dates up to the year 9999, because logs have room for four digits. */
static bool parse_date(const char *s, int64_t *date_s)
{
	char *end;

	errno = 0;
	*date_s = strtoll(s, &end, 10);
	return !errno && end != s && !*end && *date_s > 0 && *date_s < DATE_END;
}

static bool parse_seed(const char *s, uint64_t *seed)
{
	char *end;

	errno = 0;
	*seed = strtoull(s, &end, 0);
	return !errno && end != s && !*end && *s != '-';
}

/* Subcommands, their options, and their first other word, which options may also follow. */
static const struct kind {
	const char *name;
	int (*start)(const struct options *o);
	const char *letters, *first_word;
	bool command;		/* takes a command */
} kinds[] = {
	{ "run", run, "+I:p:P:S:lTD:x:n:vhV", "topology", true },
	{ "serve", serve, "+I:p:P:S:lTD:x:s:vhV", "topology", false },
	{ "attach", attach, "+s:ThV", "node", true },
	{ "ctl", ctl, "+s:jhV", NULL, true },
	{ "check", ctl, NULL, NULL, true },	/* see parse_check() */
	{ "vm", vm, "+s:hV", "node", true },
};

static const struct option longs[] = {
	{ "ibnl", required_argument, NULL, 'I' },
	{ "profiles", required_argument, NULL, 'p' },
	{ "preset", required_argument, NULL, 'P' },
	{ "seed", required_argument, NULL, 'S' },
	{ "keep-lids", no_argument, NULL, 'l' },
	{ "time-stands", no_argument, NULL, 'T' },
	{ "date", required_argument, NULL, 'D' },
	{ "script", required_argument, NULL, 'x' },
	{ "node", required_argument, NULL, 'n' },
	{ "socket", required_argument, NULL, 's' },
	{ "json", no_argument, NULL, 'j' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(name, kinds[i].name))
			return &kinds[i];
	return NULL;
}

/* Returns -1 to go on, or the exit status. */
static int take_option(struct options *o, int letter)
{
	switch (letter) {
	case 'I': o->ibnl = optarg; break;
	case 'p': o->profiles = optarg; break;
	case 'P': o->preset = optarg; break;
	case 'S':
		if (!parse_seed(optarg, &o->seed))
			return usage_error("not a number: ", optarg);
		break;
	case 'l': o->keep_lids = true; break;
	case 'T': o->stands = true; break;
	case 'D':
		if (!parse_date(optarg, &o->date_s))
			return usage_error("not a date: ", optarg);
		break;
	case 'x': o->script = optarg; break;
	case 'n': o->nodes = optarg; break;
	case 's': o->socket = optarg; break;
	case 'j': o->json = true; break;
	case 'v': o->verbose = true; break;
	case 'h': return print_help();
	case 'V':
		puts("qosd-sim " QOSD_VERSION);
		return EXIT_DONE;
	default:
		return usage_error(NULL, NULL);
	}
	return -1;
}

/*
 * Splits "check" and its options: "check" is itself the first word of a ctl command, and the first
 * option that is not qosd-sim's begins the command's options.
 */
static int parse_check(struct options *o, int argc, char **argv)
{
	int first = 1;

	for (; first < argc; first++) {
		const char *w = argv[first];

		if (!strcmp(w, "-j") || !strcmp(w, "--json"))
			o->json = true;
		else if ((!strcmp(w, "-s") || !strcmp(w, "--socket")) && first + 1 < argc)
			o->socket = argv[++first];
		else if (!strncmp(w, "--socket=", 9))
			o->socket = w + 9;
		else if (!strcmp(w, "-h") || !strcmp(w, "--help"))
			return print_help();
		else
			break;
	}
	argv[first - 1] = argv[0];
	o->words = argv + first - 1;
	o->n_words = argc - first + 1;
	return -1;
}

static int parse_options(struct options *o, const struct kind *k, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, k->letters, longs, NULL)) != -1) {
		int status;

		if (c != '?' && !strchr(k->letters, c))
			return usage_error(k->name, " has no such option");
		status = take_option(o, c);
		if (status >= 0)
			return status;
	}
	return -1;
}

static const char **first_word(struct options *o, const struct kind *k)
{
	return !strcmp(k->first_word, "node") ? &o->nodes : &o->topology;
}

static int parse_kind(struct options *o, const struct kind *k, int argc, char **argv)
{
	static char name[] = "qosd-sim";
	int status;

	if (!k->letters)
		return parse_check(o, argc, argv);
	argv[0] = name;			/* for getopt's messages */
	status = parse_options(o, k, argc, argv);
	if (status >= 0)
		return status;
	if (k->first_word) {
		if (optind == argc)
			return usage_error("missing: a ", k->first_word);
		*first_word(o, k) = argv[optind++];
		status = parse_options(o, k, argc, argv);
		if (status >= 0)
			return status;
	}
	o->words = argv + optind;
	o->n_words = argc - optind;
	if (k->command && !o->n_words)
		return usage_error("missing: a command", "");
	return k->command || !o->n_words ? -1 : usage_error("too many arguments: ", o->words[0]);
}

int main(int argc, char **argv)
{
	struct options o = { .nodes = "", .seed = 1 };
	int c = getopt_long(argc, argv, "+hV", longs, NULL), status;
	const struct kind *k;

	if (c != -1)
		return c == 'h' || c == 'V' ? take_option(&o, c) : usage_error(NULL, NULL);
	if (optind == argc) {
		fputs(usage, stderr);
		return usage_error(NULL, NULL);
	}
	argv += optind;
	argc -= optind;
	optind = 0;			/* makes getopt start anew */
	k = find_kind(argv[0]);
	if (!k)
		return usage_error("no such command: ", argv[0]);
	status = parse_kind(&o, k, argc, argv);
	return status < 0 ? k->start(&o) : status;
}

char *socket_path(const struct options *o)
{
	const char *path = o->socket, *dir = getenv("XDG_RUNTIME_DIR");
	char *here, *full;

	if (!path)
		path = getenv(SIM_SOCKET_VAR);
	if (!path && dir && *dir)
		return xasprintf("%s/qosd-sim.sock", dir);
	if (!path)
		path = "qosd-sim.sock";
	here = *path == '/' ? NULL : getcwd(NULL, 0);
	full = here ? xasprintf("%s/%s", here, path) : xstrdup(path);
	free(here);
	return full;
}
