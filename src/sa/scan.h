/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records that are made of the published state alone: a kind of record says which
 * candidates there are and how one is made; a scan goes over them one by one and
 * gives those that match the query's component mask and that the requester may
 * see.  Nothing is built whole, and each step is short.
 */
#ifndef QOSD_SA_SCAN_H
#define QOSD_SA_SCAN_H

#include "sa/handler.h"

#define SA_RECORD_MAX 176	/* bytes of the largest record that is made row by row */

struct sa_scan;

struct sa_kind {
	uint16_t size;			/* of the record, at most SA_RECORD_MAX */
	/* Bit 0 of the mask is the LID, the record's first two bytes, in all of them. */
	const struct sa_field *fields;
	size_t n_fields;
	uint32_t subset_modifier;	/* bit of the AttributeModifier: see sa_fields_match() */
	/*
	 * Sets at and end: all candidates, or those only that an end port has
	 * (FABRIC_NONE: none was asked for by its LID).
	 */
	void (*range)(struct sa_scan *x, uint32_t port);
	/*
	 * The candidate `at`, into a record of zeros, and the end port that it is
	 * of.  False: there is none; at may then be set to where the next can be.
	 */
	bool (*make)(struct sa_scan *x, uint64_t at, void *record, uint32_t *owner);
};

struct sa_scan {
	struct sa_rows rows;
	const struct sa_kind *kind;
	const struct subnet_state *s;
	uint64_t mask;
	bool trusted, subset;
	uint32_t requester;		/* port index */
	uint64_t at, end;		/* candidates still to come */
	uint8_t want[SA_RECORD_MAX];	/* the query's record; its LID is a base LID */
};

/* A handler's work: the answer will come from a scan. */
uint16_t sa_scan_for(struct sa_msg *m, const struct sa_kind *kind);

/* The LID of a port, or for a port of a switch that of port 0; 0: it has none. */
uint16_t sa_endport_lid(const struct subnet_state *s, uint32_t port);
/* The end port that a port belongs to: itself, or port 0 of its switch. */
uint32_t sa_endport(const struct subnet_state *s, uint32_t port);
/* For range(): all slots of ports, or those of the end port's node (switch) or its own (CA). */
void sa_range_ports(struct sa_scan *x, uint32_t port);

#endif
