/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory that the daemon and the discovery process share (private to discovery/).  The daemon writes
 * there what to exclude; the process writes which device's answer it is working on, so that the
 * daemon can attribute its death or hang to a device.  A record on the pipe would cost a system
 * call per answer, and a buffered record would be lost with the process.
 *
 * The process may be compromised by what it reads: the daemon reads only numbers here,
 * bounds-checks each, and does so once the process is gone.  It reads only `beats` and `feeding`
 * before.
 */
#ifndef QOSD_DISCOVERY_BOARD_H
#define QOSD_DISCOVERY_BOARD_H

#include <stdatomic.h>

#include "discovery/excluded.h"

#define BOARD_FD	3	/* descriptor number in the process */
#define BOARD_MEMORY	(2ull << 30)	/* bytes of address space that the process may use */

/* Exit statuses of the process. */
enum {
	BOARD_EXIT_OWN_PORT = 3,	/* our own port did not answer */
	BOARD_EXIT_FULL = 4,		/* more nodes or ports than the limit; the stream says where */
};

struct board {
	/* written by the daemon before the process starts */
	uint32_t n_out, ports_max;
	/* written by the process: */
	atomic_uint beats;		/* how often it has waited for an answer */
	atomic_uint feeding;		/* the library is working on `fed`, and has not asked for more yet */
	struct disco_excluded fed;
	/* written by the daemon: */
	struct disco_excluded out[EXCLUDED_MAX];
};

#endif
