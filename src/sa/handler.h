/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of sa/ share: a request on its way to an answer. */
#ifndef QOSD_SA_HANDLER_H
#define QOSD_SA_HANDLER_H

#include "ib/sa.h"
#include "sa/sa.h"

/*
 * The records of an answer, one by one: step() is asked again and again, and does
 * a little each time.  They refer to the published state of the request and to
 * what is their own, so that they may be asked long after it.
 */
enum sa_step { SA_ROW, SA_SKIP, SA_END };
struct sa_rows {
	size_t size;			/* of a record */
	enum sa_step (*step)(struct sa_rows *rows, void *record);	/* SA_ROW: it is filled */
	void (*release)(struct sa_rows *rows);
};

struct sa_msg {
	struct sa *sa;
	const struct subnet_state *s;
	uint8_t method;
	uint16_t attr;
	uint32_t mod;
	uint64_t mask;			/* ComponentMask */
	bool trusted;			/* came with the SM_Key */
	uint32_t requester;		/* port index */
	const struct sa_request *req;
	const uint8_t *data;		/* the record; at least what the dispatch table asks for */
	size_t n;
	struct sa_rows *rows;		/* of the answer, from a handler that has them so */
	struct buf *out;		/* headers, then the records so far */
	uint32_t records;
	uint32_t budget;		/* steps of search left; 0: give up, NO_RESOURCES */
};

/*
 * A handler returns a MAD status.  With status OK it has either added the answer's
 * records, or left them in rows.
 */
typedef uint16_t sa_handler(struct sa_msg *m);
sa_handler sa_path_record, sa_multipath_record, sa_node_record, sa_portinfo_record,
	   sa_mcmember_get, sa_mcmember_set, sa_mcmember_delete,
	   sa_service_get, sa_service_set, sa_service_delete,
	   sa_inform_set, sa_inform_record;

/* --- attributes.c --- */

struct sa_handler_entry {
	uint16_t attr;
	uint8_t method;
	uint8_t min_len;		/* bytes of the record that must be there */
	sa_handler *fn;
};
/* Who handles it; or a MAD status. */
uint16_t sa_find_handler(uint16_t attr, uint8_t method, const struct sa_handler_entry **h);

/*
 * Adds a record to the answer, padded to a multiple of 8 bytes.  False: that
 * was enough (a Get that has more than one record is an error already, or the
 * answer is larger than we are willing to send), the handler may return.
 */
bool sa_add(struct sa_msg *m, const void *record, size_t size);

/* One field of a record, for component masks. */
struct sa_field {
	uint8_t bit;		/* of the ComponentMask */
	bool subset;		/* a mask of capabilities: see sa_fields_match() */
	uint16_t offset, width;	/* in bits, from the record's start; big-endian */
};
/*
 * Whether `have` has the values of `want` in every field of the table whose bit
 * is in the mask.  With subset_match, `subset` fields need only have the bits
 * that `want` has.
 */
bool sa_fields_match(const struct sa_field *fields, size_t n, uint64_t mask,
		     const void *want, const void *have, bool subset_match);

/* Whether the requester, a port, may know of an end port: they share a partition. */
bool sa_may_see(const struct subnet_state *s, uint32_t requester, uint32_t port);

/* --- path.c --- */

/* The end port that a GID of this subnet means, or a status. */
uint16_t sa_gid_port(const struct subnet_state *s, const uint8_t gid[16], uint32_t *port);
/* The end port that has a LID, or FABRIC_NONE. */
uint32_t sa_lid_port(const struct subnet_state *s, uint16_t lid);
/* Adds a record for each path, at most max, from any of some ports to any of others. */
void sa_add_paths(struct sa_msg *m, const struct path_query *q, const uint32_t *srcs,
		  unsigned n_srcs, const uint32_t *dsts, unsigned n_dsts, uint32_t max);

/* How MTU, rate and lifetime compare, and what a selector makes of one (15.2.5.16). */
enum sa_scale { SCALE_MTU, SCALE_RATE, SCALE_LIFE };
bool sa_code_valid(enum sa_scale scale, unsigned code);
/*
 * *code is the most that is to be had; it is lowered to what the selector wants
 * if that is less.  False if it can't be had.
 */
bool sa_select(enum sa_scale scale, unsigned selector, unsigned wanted, uint8_t *code);
/* Whether a code that can't be changed is what the selector wants. */
bool sa_code_meets(enum sa_scale scale, unsigned selector, unsigned wanted, unsigned code);

#endif
