/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to discovery/: memory that the daemon and the discovery process share.  The daemon says
 * there what is to be excluded; the process, which device's answer it works on, so that
 * its death or its silence has a name.  A record on the pipe would cost a system call for each answer,
 * and what is still in a buffer is lost with the process.
 *
 * The process may be in somebody else's hands: the daemon reads no more than numbers there,
 * each within bounds whatever it is, once the process is gone.  Only `beats` is read before.
 */
#ifndef QOSD_DISCOVERY_BOARD_H
#define QOSD_DISCOVERY_BOARD_H

#include <stdatomic.h>

#include "discovery/excluded.h"

#define BOARD_FD	3	/* in the process */
#define BOARD_MEMORY	(2ull << 30)	/* bytes of address space that the process may have */

/* Exit statuses of the process. */
enum {
	BOARD_EXIT_OWN_PORT = 3,	/* our own port does not answer */
	BOARD_EXIT_FULL = 4,		/* more is there than can be; the stream says where */
};

struct board {
	/* by the daemon, before the process starts */
	uint32_t n_out, ports_max;
	/* by the process */
	atomic_uint beats;		/* it has waited for an answer so often */
	atomic_uint feeding;		/* the library has `fed`, and has not asked for more yet */
	struct disco_excluded fed;
	/* by the daemon */
	struct disco_excluded out[EXCLUDED_MAX];
};

#endif
