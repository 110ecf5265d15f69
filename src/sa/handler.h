/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of sa/ share: a request on its way to an answer. */
#ifndef QOSD_SA_HANDLER_H
#define QOSD_SA_HANDLER_H

#include "lib/iba/sa_records.h"
#include "sa/sa.h"

/*
 * The records of an answer, one by one: step() is asked again and again, and does
 * a little each time.  They refer to the published state of the request and to
 * what is their own, so that they may be asked long after it.
 */
#define SA_ROW_MAX 256
enum sa_step { SA_ROW, SA_SKIP, SA_END };
struct sa_rows {
	size_t size;			/* of a record, at most SA_ROW_MAX */
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
	/*
	 * ... which is a secret: only then it is told keys, and changes what is others'.  The
	 * SM_Key that everybody knows opens no more than what OpenSM's tools read by it.
	 */
	bool privileged;
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
sa_handler sa_path_record, sa_multipath_record, sa_trace_record, sa_guidinfo_set,
	   sa_guidinfo_delete, sa_mcmember_get, sa_mcmember_set, sa_mcmember_delete,
	   sa_service_get, sa_service_set, sa_service_delete, sa_inform_set, sa_inform_record,
	   sa_replica_get;

/* --- sa_attributes.c --- */

struct sa_handler_entry {
	uint16_t attr;
	uint8_t method;
	uint8_t min_len;		/* bytes of the record that must be there */
	sa_handler *fn;
	const struct sa_kind *kind;	/* in place of fn: see sa/scan.h; or NULL */
};
/* Who handles it; or a MAD status. */
uint16_t sa_find_handler(uint16_t attr, uint8_t method, const struct sa_handler_entry **h);
/* Where a record has its P_Key, and the ComponentMask its bit; mgid: it begins with an MGID. */
struct sa_pkey_place {
	uint16_t attr;
	uint8_t bit, offset;
	bool mgid;
};
const struct sa_pkey_place *sa_pkey_place(uint16_t attr);	/* NULL: it has none */
/* The one bit of an AttributeModifier that means something, that of PortInfoRecord's. */
#define SA_SUBSET_MATCH (1u << 31)	/* see sa_fields_match() */

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

/* --- path_ends.c --- */

/* The end port that has a LID, or FABRIC_NONE. */
uint32_t sa_lid_port(const struct subnet_state *s, uint16_t lid);
/*
 * The same for the SLID of a request: the node itself may ask with SLID 0, when its port has no LID yet
 * or packets loop back.
 */
uint32_t sa_requester(const struct subnet_state *s, uint16_t slid);
/*
 * Who answers for what is under way with a LID, or with a port (sa/registry/holdings.h): the port GUID if
 * it is the port's own, else the LID.  s may be NULL: then no port is known.
 */
uint64_t sa_lid_holder(const struct subnet_state *s, uint16_t lid);
uint64_t sa_port_holder(const struct subnet_state *s, uint32_t port);
/*
 * The end port that a GID of this subnet means, by its own GUID or an alias; or a
 * status.
 */
uint16_t sa_gid_port(const struct sa_msg *m, const uint8_t gid[16], uint32_t *port);
/*
 * The source and the destination of a path, into q: port and GUID; NO_RECORDS if
 * nobody has the LID.  What is not given stays FABRIC_NONE.  A destination of
 * another subnet has dst_prefix instead of a port: which router it is depends on
 * the source (sa_choose_router).
 */
uint16_t sa_find_source(const struct sa_msg *m, const uint8_t *gid, struct path_query *q);
uint16_t sa_find_destination(const struct sa_msg *m, const uint8_t *gid, struct path_query *q);
/* The router on the way from q->src to a GID of another subnet; or FABRIC_NONE. */
uint32_t sa_choose_router(const struct subnet_state *s, const struct path_query *q);
/*
 * Whether a requester may know of paths between two ports (15.4.1.1): it shares a
 * P_Key with each of them, as they do with each other, which is the search's to see.
 */
bool sa_may_see_path(const struct subnet_state *s, uint32_t requester, const struct path_query *q);

/* --- path_record.c --- */

/*
 * The components that PathRecord and MultiPathRecord have alike, one behind the
 * other, into q: from RawTraffic to PacketLifeTime, where hop_flow_raw begins.
 */
void sa_read_terms(const uint8_t *hop_flow_raw, struct path_query *q);

/* The record of a path; what was asked for is said again, so that it matches the query. */
void sa_fill_path(const struct subnet_state *s, const struct path_query *q,
		  const struct path_answer *a, struct sa_path_record *r);

/*
 * The path that a Get of the request's PathRecord has, and the query with its ends; or
 * the status of that Get.  To a group: NO_RECORDS.
 */
uint16_t sa_the_path(const struct sa_msg *m, struct path_query *q, struct path_answer *a);

/* --- path_group.c --- */

/* Paths to a multicast group; of the query's ends only the source is looked at. */
uint16_t sa_group_paths(struct sa_msg *m, const struct path_query *q);

/* --- path.c --- */

/* MTU, rate or lifetime as a record tells it: this one. */
static inline uint8_t sa_exactly(unsigned code)
{
	return (uint8_t)(SEL_EXACT << 6 | code);
}
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
