/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds ports by what people call their machines: a NodeDescription, or a host name, which is the
 * first word of the NodeDescriptions of a host's adapters ("node001" of "node001 HCA-1").
 */
#ifndef QOSD_FABRIC_HOST_NAMES_H
#define QOSD_FABRIC_HOST_NAMES_H

#include "fabric/fabric.h"
#include "lib/base/buf.h"
#include "lib/base/map64.h"

/*
 * The one end port of the nodes with this NodeDescription or, if there are none, of the host with
 * this name.  FABRIC_NONE: there is none, or *ambiguous is set as there are several.
 */
uint32_t fabric_find_port_by_host(const struct fabric *f, const char *name, bool *ambiguous);

/*
 * Appends the name in the fabric that may be meant by one that is not there, in the same form: with
 * or without "/Pn", a NodeDescription or a host name.  Returns false if no name is close.
 */
bool fabric_put_meant(const struct fabric *f, const char *name, struct buf *out);

/*
 * The adapters and routers of each host, by NodeDescription alone.  Refers to the fabric; freed with
 * fabric_hosts_free().
 */
struct fabric_hosts {
	const struct fabric *f;
	struct map64 first;	/* hash of the host's name -> node */
	uint32_t *next;		/* [node]: another node with that hash, or FABRIC_NONE */
};
void fabric_hosts_init(struct fabric_hosts *h, const struct fabric *f);
void fabric_hosts_free(struct fabric_hosts *h);
/* The next node of a host after `node` (FABRIC_NONE: the first); FABRIC_NONE: no more. */
uint32_t fabric_hosts_next(const struct fabric_hosts *h, const char *host, uint32_t node);

/* The length of the host's name at the beginning of "NodeDescription/Pn" or of a NodeDescription. */
size_t fabric_host_length(const char *name);

#endif
