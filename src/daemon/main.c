/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The main program of qosd(8); daemon.c puts the parts together. */
#include <string.h>

#include "daemon/event_command.h"
#include "daemon/qosd.h"
#include "discovery/discovery.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"

int main(int argc, char **argv)
{
	struct options o;
	int status;

	/* processes that the daemon starts: discovery, event command */
	if (argc && !strcmp(argv[0], DISCO_ARGV0))
		return disco_helper_main(argc, argv);
	if (argc && !strcmp(argv[0], HOOK_ARGV0))
		return hook_helper_main(argc, argv);

	status = options_parse(&o, argc, argv);
	if (status >= 0)
		return status;
	if (o.check) {
		log_set_level(LOG_LEVEL_WARNING);
		return check_files(&o);
	}
	alloc_give_back();
	return daemon_run(&o);
}
