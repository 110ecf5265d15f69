/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the discovery process's stream (stream.h) into a fabric (private to discovery/).
 *
 * The process writes what it makes of devices' answers, and a device may have compromised the
 * process: the reader checks every number before it uses it.  A record that our own program cannot
 * have written ends the scan (`broken`).  What devices can cause, such as two that claim one cable,
 * costs only these devices: the reader excludes them, and names them in the log.
 *
 * When the stream is complete, each node of the fabric is reachable over links of the fabric, and
 * has a directed route.
 */
#ifndef QOSD_DISCOVERY_STREAM_READER_H
#define QOSD_DISCOVERY_STREAM_READER_H

#include <stddef.h>
#include <stdlib.h>

#include "discovery/stream.h"
#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"

struct stream_reader {
	struct fabric *f;	/* finished once the stream is complete; the owner takes or frees it */
	const struct fabric *known;	/* set by the owner, see struct disco_request; may be NULL */
	uint32_t node;		/* node whose ports come next, or FABRIC_NONE */
	bool links;		/* links have begun: no node or port may follow */
	bool whole;		/* the end record was read */
	bool broken;		/* invalid; nothing more is read */
	bool too_many;		/* broken, as there are more nodes, ports or records than the limit */
	/* limit of all nodes' ports together; GUARD_PORTS_MAX unless the owner sets another */
	uint32_t ports_max;
	uint32_t n_links, n_left;	/* records read */
	VEC(struct disco_excluded) left;	/* excluded devices, at most EXCLUDED_MAX */
	uint32_t mads;
	struct smp_window_learned learned;
	struct log_ratelimit complaints;
};

void reader_start(struct stream_reader *r);
/* Takes the complete records in p; returns how many of the n bytes they occupy. */
size_t reader_take(struct stream_reader *r, const char *p, size_t n);
/*
 * Adds an excluded device.  The process may be compromised by what it read: only defined reasons
 * are accepted, up to EXCLUDED_MAX entries.
 */
void reader_take_left(struct stream_reader *r, const struct disco_excluded *x);
void reader_free(struct stream_reader *r);

#endif
