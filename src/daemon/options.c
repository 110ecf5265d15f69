/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses the command line of qosd(8). */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/qosd.h"

static const char usage[] =
"usage: qosd [options]\n"
"  -c, --config FILE     settings (default " DEFAULT_CONFIG ")\n"
"  -p, --policy FILE     policy (default " DEFAULT_POLICY ")\n"
"  -F, --foreground      do not detach from the terminal\n"
"  -s, --socket PATH     control socket (default " DEFAULT_SOCKET ")\n"
"  -d, --state-dir DIR   folder for state that outlives qosd (default " DEFAULT_STATE ")\n"
"  -g, --guid PORTGUID   the port to manage (default: the settings', else the first connected)\n"
"  -1, --once            bring the subnet up, print a summary and exit\n"
"  -n, --check           check the files and exit; with -v print the policy in normal form\n"
"  -T, --topology FILE   with --check: report what the policy achieves on the fabric in this file,\n"
"                        such as the output of ibnetdiscover, and how good its routes are\n"
"  -D, --devices FILE    with --topology: VLs, MTU and table sizes of the devices\n"
"  -I, --ibnl DIR        with --topology and a .topo file: where ibdm's IBNL files are\n"
"  -L, --lfts FILE       with --topology: also report how good the forwarding tables in this file are,\n"
"                        which OpenSM (opensm-lfts.dump) or dump_fts wrote\n"
"  -v, --verbose         log more\n"
"  -V, --version         print the version\n"
"  -h, --help            print this\n";

static bool parse_guid(const char *s, uint64_t *guid)
{
	char *end;

	errno = 0;
	*guid = strtoull(s, &end, 16);
	return !errno && end != s && !*end && *guid && *s != '-';
}

int options_parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "policy", required_argument, NULL, 'p' },
		{ "foreground", no_argument, NULL, 'F' },
		{ "socket", required_argument, NULL, 's' },
		{ "state-dir", required_argument, NULL, 'd' },
		{ "guid", required_argument, NULL, 'g' },
		{ "once", no_argument, NULL, '1' },
		{ "check", no_argument, NULL, 'n' },
		{ "topology", required_argument, NULL, 'T' },
		{ "devices", required_argument, NULL, 'D' },
		{ "ibnl", required_argument, NULL, 'I' },
		{ "lfts", required_argument, NULL, 'L' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	*o = (struct options){
		.config = DEFAULT_CONFIG, .policy = DEFAULT_POLICY,
		.socket = DEFAULT_SOCKET, .state_dir = DEFAULT_STATE,
	};
	while ((c = getopt_long(argc, argv, "c:p:Fs:d:g:1nT:D:I:L:vVh", longs, NULL)) != -1) {
		switch (c) {
		case 'c': o->config = optarg; o->config_named = true; break;
		case 'p': o->policy = optarg; o->policy_named = true; break;
		case 'F': o->foreground = true; break;
		case 's': o->socket = optarg; break;
		case 'd': o->state_dir = optarg; break;
		case 'g':
			if (parse_guid(optarg, &o->guid))
				break;
			fprintf(stderr, "qosd: \"%s\" is not a port GUID\n", optarg);
			return EXIT_USAGE;
		case '1': o->once = true; break;
		case 'n': o->check = true; break;
		case 'T': o->topology = optarg; break;
		case 'D': o->devices = optarg; break;
		case 'I': o->ibnl = optarg; break;
		case 'L': o->lfts = optarg; break;
		case 'v': o->verbose = true; break;
		case 'V':
			puts("qosd " QOSD_VERSION);
			return EXIT_OK;
		case 'h':
			fputs(usage, stdout);
			return EXIT_OK;
		default:
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "qosd: unexpected argument \"%s\"\n", argv[optind]);
		return EXIT_USAGE;
	}
	if (o->topology && !o->check) {
		fputs("qosd: --topology needs --check\n", stderr);
		return EXIT_USAGE;
	}
	if (o->devices && !o->topology) {
		fputs("qosd: --devices needs --topology\n", stderr);
		return EXIT_USAGE;
	}
	if (o->ibnl && !o->topology) {
		fputs("qosd: --ibnl needs --topology\n", stderr);
		return EXIT_USAGE;
	}
	if (o->lfts && !o->topology) {
		fputs("qosd: --lfts needs --topology\n", stderr);
		return EXIT_USAGE;
	}
	return -1;
}
