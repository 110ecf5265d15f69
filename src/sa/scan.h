/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers queries for records that are made from the published state alone.
 *
 * A kind of record defines its candidates and how to make a record of one.  A scan goes over
 * the candidates one by one and returns those that match the query's ComponentMask and that the
 * requester may see.  No table is built as a whole, and each step is short.
 */
#ifndef QOSD_SA_SCAN_H
#define QOSD_SA_SCAN_H

#include "sa/handler.h"

#define SA_RECORD_MAX 176	/* bytes of the largest record of a kind */

struct sa_scan;

struct sa_kind {
	uint16_t size;			/* bytes of the record, at most SA_RECORD_MAX */
	/* In every kind, mask bit 0 is the LID and the LID is the first two bytes of the record. */
	const struct sa_field *fields;
	size_t n_fields;
	uint8_t to_bit, to_offset;	/* mask bit and byte offset of a second LID; 0: none */
	bool trusted_only;		/* REQ_DENIED without the SM_Key */
	uint16_t each;			/* candidates for each port (sa_range_ports()) */
	/*
	 * Sets x->at and x->end to the candidates of an end port, or to all candidates if the
	 * query has no LID (port is FABRIC_NONE).
	 */
	void (*range)(struct sa_scan *x, uint32_t port);
	/*
	 * Makes the record of candidate `at` in a record of zeros, and sets the one or two end
	 * ports that own it: only a requester that shares a partition with each of them may see
	 * it.  False: there is no record; make() may then advance x->at to the next candidate.
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
	const struct alias_db *alias;	/* or NULL */
	uint64_t mask;
	bool privileged, subset;	/* privileged as in struct sa_msg; subset: SA_SUBSET_MATCH is set */
	uint32_t requester;		/* port index */
	uint32_t to;			/* end port asked for by the second LID, or FABRIC_NONE */
	uint64_t at, end;		/* candidates left: at <= c < end */
	uint32_t n;			/* for the kind's own use */
	uint8_t want[SA_RECORD_MAX];	/* the query's record; its LIDs are base LIDs */
};

/* Starts a scan in place of a handler, in m->rows; or returns the status of a refusal. */
uint16_t sa_scan_for(struct sa_msg *m, const struct sa_kind *kind);

static inline bool sa_asks(const struct sa_scan *x, unsigned bit)
{
	return x->mask >> bit & 1;
}
/*
 * For candidates numbered (row * n + k) * unit + i, i < unit, of which the query asks for one k:
 * whether `at` has that k.  If not, advances x->at to the next candidate that has, or the next row.
 */
bool sa_seek(struct sa_scan *x, uint64_t at, unsigned unit, unsigned n, unsigned k);

/* The LID of a port, for a switch port that of port 0; 0: it has none. */
uint16_t sa_endport_lid(const struct subnet_state *s, uint32_t port);
/* The end port of a port: the port itself, or port 0 of its switch. */
uint32_t sa_endport(const struct subnet_state *s, uint32_t port);
/*
 * For range(): kind->each candidates for each port: of the fabric, of the end port's switch, or
 * only the CA port.
 */
void sa_range_ports(struct sa_scan *x, uint32_t port);
/* For range(): `each` candidates for each switch, or only for the end port's switch, if any. */
void sa_range_switches(struct sa_scan *x, uint32_t port, uint64_t each);
/* For make() with sa_range_ports(): leaves out the other candidates of the port; returns false. */
bool sa_leave_port(struct sa_scan *x, uint64_t at);
/* For range(): no candidates. */
void sa_range_none(struct sa_scan *x, uint32_t port);

#endif
