/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Defines the request being answered, and functions that the SA's request handlers share. */
#ifndef QOSD_SA_HANDLER_H
#define QOSD_SA_HANDLER_H

#include "lib/iba/sa_records.h"
#include "sa/sa.h"

/*
 * Makes the records of an answer one by one: each call of step() does a little work.  Rows begin
 * a struct of the handler's own, which the SA frees.  They refer to the published state of the
 * request, to their struct and to registries, in which step() looks up its place by key each
 * time; so step() can be called long after the request.
 */
#define SA_ROW_MAX 256
enum sa_step { SA_ROW, SA_SKIP, SA_END };
struct sa_rows {
	size_t size;			/* bytes of a record, at most SA_ROW_MAX */
	enum sa_step (*step)(struct sa_rows *rows, void *record);	/* SA_ROW: it filled record */
};

struct sa_msg {
	struct sa *sa;
	const struct subnet_state *s;
	uint8_t method;
	uint16_t attr;
	uint32_t mod;
	uint64_t mask;			/* ComponentMask */
	bool trusted;			/* the request has an SM_Key */
	/*
	 * The request has an SM_Key that is a secret: only then may it read keys and change what
	 * belongs to others.  With the well-known SM_Key a client can only do what OpenSM's tools
	 * need to read.
	 */
	bool privileged;
	uint32_t requester;		/* port index */
	const struct sa_request *req;
	const uint8_t *data;		/* the record, of at least min_len bytes */
	size_t n;			/* bytes in data */
	struct sa_rows *rows;		/* set by a handler whose records are made row by row */
	struct buf *out;		/* the answer: headers, then the records so far */
	uint32_t records;
	uint32_t budget;		/* steps of path search left; 0: answer NO_RESOURCES */
};

/*
 * A handler returns a MAD status.  If that is OK, it has either added the answer's
 * records or set rows.
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
	uint8_t min_len;		/* least bytes of the request's record */
	sa_handler *fn;
	const struct sa_kind *kind;	/* a scan (sa/scan.h) in place of fn; or NULL */
};
/* Finds the handler of an attribute and method; or returns the MAD status of the refusal. */
uint16_t sa_find_handler(uint16_t attr, uint8_t method, const struct sa_handler_entry **h);
/* The P_Key of a record: its ComponentMask bit and byte offset; mgid: the record begins with an MGID. */
struct sa_pkey_place {
	uint16_t attr;
	uint8_t bit, offset;
	bool mgid;
};
const struct sa_pkey_place *sa_pkey_place(uint16_t attr);	/* NULL: the record has none */
/* The only AttributeModifier bit with a meaning, in requests for PortInfoRecords. */
#define SA_SUBSET_MATCH (1u << 31)	/* see sa_fields_match() */

/*
 * Adds a record to the answer, padded to a multiple of 8 bytes.  False: the handler need
 * not add more, because a second record already makes a Get fail, or the answer would be
 * larger than the SA's limit (then budget is 0).
 */
bool sa_add(struct sa_msg *m, const void *record, size_t size);

/* One field of a record, for matching by ComponentMask. */
struct sa_field {
	uint8_t bit;		/* ComponentMask bit */
	bool subset;		/* a capability mask: see sa_fields_match() */
	uint16_t offset, width;	/* bits; offset from the start of the record, big-endian */
};
/*
 * Whether `have` equals `want` in every field whose bit is in the mask.  With
 * subset_match, a `subset` field matches if it has all bits that `want` has.
 */
bool sa_fields_match(const struct sa_field *fields, size_t n, uint64_t mask,
		     const void *want, const void *have, bool subset_match);

/* Whether the requester (a port) may know of an end port: same port, or a partition in common. */
bool sa_may_see(const struct subnet_state *s, uint32_t requester, uint32_t port);

/* --- path_ends.c --- */

/* The end port that has a LID, or FABRIC_NONE. */
uint32_t sa_lid_port(const struct subnet_state *s, uint16_t lid);
/*
 * The same for the SLID of a request.  SLID 0 is our own node, while its port has no LID or if
 * its packets loop back.
 */
uint32_t sa_requester(const struct subnet_state *s, uint16_t slid);
/*
 * The holder (sa/registry/holdings.h) that a transfer with a LID or a port counts for: the port's GUID
 * if no other port claims that GUID, else the LID.  s may be NULL: then no port is known.
 */
uint64_t sa_lid_holder(const struct subnet_state *s, uint16_t lid);
uint64_t sa_port_holder(const struct subnet_state *s, uint32_t port);
/* Whether ports of this subnet have GIDs with the prefix: the subnet's, or the default prefix (4.1.1). */
bool sa_is_our_prefix(const struct subnet_state *s, uint64_t prefix);
bool sa_gid_is_null(const uint8_t gid[16]);
/*
 * The end port that has a GID of this subnet, by its own GUID or an alias; or the status
 * of the refusal.
 */
uint16_t sa_gid_port(const struct sa_msg *m, const uint8_t gid[16], uint32_t *port);
/*
 * Sets source or destination of a path in q: port and GUID.  NO_RECORDS if no port has
 * the LID.  An end that the request does not give stays FABRIC_NONE.  For a destination in
 * another subnet they set dst_prefix instead of the port: the router depends on the source
 * (sa_choose_router).
 */
uint16_t sa_find_source(const struct sa_msg *m, const uint8_t *gid, struct path_query *q);
uint16_t sa_find_destination(const struct sa_msg *m, const uint8_t *gid, struct path_query *q);
/* The router from q->src to a GID of another subnet; or FABRIC_NONE. */
uint32_t sa_choose_router(const struct subnet_state *s, const struct path_query *q);
/*
 * Whether a requester may know of paths between two ports (15.4.1.1): it must share a
 * P_Key with each of them.  The path search checks that the two share one with each other.
 */
bool sa_may_see_path(const struct subnet_state *s, uint32_t requester, const struct path_query *q);

/* --- path_record.c --- */

/*
 * Reads the components that PathRecord and MultiPathRecord have in the same layout, from
 * RawTraffic (at hop_flow_raw) to PacketLifeTime, into q.
 */
void sa_read_terms(const uint8_t *hop_flow_raw, struct path_query *q);

/* Fills the record of a path; repeats the query's components, so that the record matches the query. */
void sa_fill_path(const struct subnet_state *s, const struct path_query *q,
		  const struct path_answer *a, struct sa_path_record *r);

/*
 * The path that a Get of the request's PathRecord would return, and the query with its ends; or
 * the status of that Get.  NO_RECORDS for a path to a multicast group.
 */
uint16_t sa_the_path(const struct sa_msg *m, struct path_query *q, struct path_answer *a);

/* --- path_group.c --- */

/* Answers with paths to a multicast group; uses only the source of q's ends. */
uint16_t sa_group_paths(struct sa_msg *m, const struct path_query *q);

/* --- path.c --- */

/* Whether the query has all of the components. */
static inline bool sa_has(const struct path_query *q, uint64_t bits)
{
	return (q->has & bits) == bits;
}

/* MTU, rate or lifetime with the selector "exactly", as records have it. */
static inline uint8_t sa_exactly(unsigned code)
{
	return (uint8_t)(SEL_EXACT << 6 | code);
}
/* Which scale a code of MTU, rate or lifetime is on; scales differ in order and selectors (15.2.5.16). */
enum sa_scale { SCALE_MTU, SCALE_RATE, SCALE_LIFE };
bool sa_code_valid(enum sa_scale scale, unsigned code);
/*
 * *code is the greatest available code.  Lowers it to what the selector asks for if that
 * is less.  False: the selector asks for more.
 */
bool sa_select(enum sa_scale scale, unsigned selector, unsigned wanted, uint8_t *code);
/* Whether a fixed code meets the selector. */
bool sa_code_meets(enum sa_scale scale, unsigned selector, unsigned wanted, unsigned code);

#endif
