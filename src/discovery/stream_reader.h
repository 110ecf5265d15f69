/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to discovery/: the stream of the discovery process (stream.h), read into a fabric.
 *
 * What the process writes is made of what devices answer, and a device may have taken hold of
 * the process: every number is held against the others before it counts.  A record that our own
 * program cannot have written ends the scan (`broken`).  What devices can bring about, as two that
 * claim one cable, costs these devices only: they are excluded, and named in the log.
 *
 * When the stream is whole each node of the fabric has a way to it by the links of the fabric,
 * and a directed route.
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
	struct fabric *f;	/* finished when the stream is whole; the owner takes or frees it */
	const struct fabric *known;	/* set by the owner: see struct disco_request; NULL */
	uint32_t node;		/* whose ports come now, or FABRIC_NONE */
	bool links;		/* have begun: no node or port follows */
	bool whole;		/* the end was read */
	bool broken;		/* of no use; nothing more is read */
	bool too_many;		/* ... since there are more nodes, ports or records than can be */
	uint32_t ports_max;	/* of all nodes; set by the owner, and GUARD_PORTS_MAX at the start */
	uint32_t n_links, n_left;	/* records that were read */
	VEC(struct disco_excluded) left;	/* what discovery excluded, EXCLUDED_MAX at most */
	uint32_t mads;
	struct smp_window_learned learned;
	struct log_ratelimit complaints;
};

void reader_start(struct stream_reader *r);
/* Takes the records that are complete; returns how many of the n bytes these are. */
size_t reader_take(struct stream_reader *r, const char *p, size_t n);
/*
 * A device is excluded.  The process may be in the hands of what it read: only a reason that there
 * is counts, and no more than can be.
 */
void reader_take_left(struct stream_reader *r, const struct disco_excluded *x);
void reader_free(struct stream_reader *r);

#endif
