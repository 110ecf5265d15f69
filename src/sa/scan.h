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
	uint8_t to_bit, to_offset;	/* bit and byte of a second LID; 0: there is none */
	bool trusted_only;		/* REQ_DENIED without the SM_Key */
	/*
	 * Sets at and end: all candidates, or those only that an end port has
	 * (FABRIC_NONE: none was asked for by its LID).
	 */
	void (*range)(struct sa_scan *x, uint32_t port);
	/*
	 * The candidate `at`, into a record of zeros, and the one or two end ports
	 * that it is of: whoever may see it shares a partition with each of them.
	 * False: there is none; x->at may then be set to where the next can be.
	 */
	bool (*make)(struct sa_scan *x, uint64_t at, void *record, uint32_t owner[2]);
};

#define SA_FIELDS(table) .fields = table, .n_fields = ARRAY_SIZE(table)

extern const struct sa_kind sa_node_kind, sa_portinfo_kind;	/* node_records.c */
extern const struct sa_kind sa_link_kind, sa_sminfo_kind;	/* link_records.c */
extern const struct sa_kind sa_sl2vl_kind, sa_vlarb_kind, sa_pkey_kind;	/* table_records.c */
extern const struct sa_kind sa_switchinfo_kind, sa_lft_kind, sa_rft_kind, sa_mft_kind;
extern const struct sa_kind sa_guidinfo_kind;

struct sa_scan {
	struct sa_rows rows;
	const struct sa_kind *kind;
	const struct subnet_state *s;
	const struct sa_sm_hooks *sm;
	const struct alias_db *alias;	/* may be NULL */
	uint64_t mask;
	bool privileged, subset;	/* as of the request */
	uint32_t requester;		/* port index */
	uint32_t to;			/* end port asked for by the second LID, or FABRIC_NONE */
	uint64_t at, end;		/* candidates still to come */
	uint32_t n;			/* for the kind's own use */
	uint8_t want[SA_RECORD_MAX];	/* the query's record; its LIDs are base LIDs */
};

/* In place of a handler: the answer will come from a scan; or a status. */
uint16_t sa_scan_for(struct sa_msg *m, const struct sa_kind *kind);

static inline bool sa_asks(const struct sa_scan *x, unsigned bit)
{
	return x->mask >> bit & 1;
}
/*
 * Candidates are numbered (row * n + k) * unit + …, and only those of one k are
 * asked for: whether `at` is one; else x->at is where the next begin.
 */
bool sa_seek(struct sa_scan *x, uint64_t at, unsigned unit, unsigned n, unsigned k);

/* The LID of a port, or for a port of a switch that of port 0; 0: it has none. */
uint16_t sa_endport_lid(const struct subnet_state *s, uint32_t port);
/* The end port that a port belongs to: itself, or port 0 of its switch. */
uint32_t sa_endport(const struct subnet_state *s, uint32_t port);
/* For range(): all slots of ports, or those of the end port's node (switch) or its own (CA). */
void sa_range_ports(struct sa_scan *x, uint32_t port);
/* The same, `each` candidates for a slot. */
void sa_range_slots(struct sa_scan *x, uint32_t port, unsigned each);
/* For range(): `each` candidates for all switches, or for the end port's, if it is one's. */
void sa_range_switches(struct sa_scan *x, uint32_t port, uint64_t each);
/* For range(): nothing. */
void sa_range_none(struct sa_scan *x, uint32_t port);

#endif
