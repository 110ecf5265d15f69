/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by dump.c and dump_play.c only: the records of nodes and ports that a dump's
 * text becomes.
 */
#ifndef QOSD_FABRIC_DUMP_H
#define QOSD_FABRIC_DUMP_H

#include "base/alloc.h"
#include "fabric/fabric.h"
#include "ib/units.h"

struct dump_port {
	char *remote_id;	/* owned */
	uint64_t guid, remote_guid;	/* 0: not given */
	uint32_t node, line;
	uint32_t peer;		/* index of the record of the other end */
	uint16_t lid;
	uint8_t num, remote_num, lmc;
	struct link_speed speed;
};

struct dump_node {
	char *id;		/* owned: what stands in quotes, "S-0008f10400410015" */
	char desc[65];
	uint64_t guid, sysimg_guid;
	uint32_t vendor, device, line;
	uint32_t port, n_ports;	/* its port records: ports.v[port .. port + n_ports - 1] */
	uint32_t index;		/* in the fabric, FABRIC_NONE: not (yet) reached */
	uint16_t lid;		/* of port 0 */
	uint8_t type, nports, lmc;
	bool enhanced_port0;
};

/* What the lines before a node's say about it. */
struct preamble {
	uint64_t guid, sysimg_guid;
	uint32_t vendor, device;
};

struct dump {
	const char *path;
	uint32_t line;
	struct buf *err;
	struct preamble next;
	VEC(struct dump_node) nodes;
	VEC(struct dump_port) ports;
	struct map64 by_id;	/* hash of the id -> node record */
	struct map64 by_guid;	/* node GUID -> node record */
	struct map64 by_port_guid;	/* of those given -> line */
	bool in_node;		/* port lines may follow */
};

/* "PATH:LINE: …" to d->err; returns false. */
__attribute__((format(printf, 3, 4)))
bool dump_fail_at(struct dump *d, uint32_t line, const char *fmt, ...);
#define fail(d, ...) dump_fail_at(d, (d)->line, __VA_ARGS__)
/* Index of the record of a node's port; FABRIC_NONE: there is none. */
uint32_t dump_find_port(const struct dump *d, const struct dump_node *n, unsigned num);

/*
 * dump_play.c: the fabric that a discovery would find from the SM's node: the one with
 * that GUID, or the first channel adapter of a host if it is 0.  The records are sound, their links
 * resolved.  NULL: d->err says why.
 */
struct fabric *dump_play(struct dump *d, uint64_t sm_guid, bool keep_lids);

#endif
