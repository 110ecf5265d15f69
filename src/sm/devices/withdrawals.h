/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists the nodes and links that an operator, or a rule, has withdrawn from service.
 *
 * Pure: a sorted list without a clock.  The daemon keeps it on disk and replicates it to standbys;
 * sm/devices/withdrawn.c makes the subnet follow it.
 *
 * Drained: routes use the link, or lead over the switch, only where there is no other way.  Hosts at a
 * drained switch have no other way.  The ports stay Active, so that a drain and its end lose no packet.
 *
 * Isolated: a port or node that does harm has no link at all, as far as the subnet goes (isolations.h).
 *
 * A place is a node's GUID and a port number; 0 stands for the whole node.  A place is in the list
 * at most once.
 */
#ifndef QOSD_SM_DEVICES_WITHDRAWALS_H
#define QOSD_SM_DEVICES_WITHDRAWALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "lib/base/buf.h"

#define WITHDRAWALS_MAX		1024
#define WITHDRAWN_BY_RULE	(-2)
#define WITHDRAWAL_TEXT_MAX	128	/* bytes of a reason or name, with the NUL */
#define WITHDRAWAL_BEHALF_MAX	65	/* bytes of whom a user asked for, with the NUL */

enum withdrawal_kind { WITHDRAWAL_DRAINED, WITHDRAWAL_ISOLATED, WITHDRAWAL_KINDS };

struct withdrawal {
	uint64_t guid;		/* of the node, not 0 */
	uint8_t port;		/* 0: the whole node */
	uint8_t kind;		/* enum withdrawal_kind */
	int64_t uid;		/* the user who withdrew it; -1: unknown; or WITHDRAWN_BY_RULE */
	int64_t since_s;	/* when, in seconds since 1970 */
	/* as the place was named then, and why; without control characters, the reason may be "" */
	char name[WITHDRAWAL_TEXT_MAX], reason[WITHDRAWAL_TEXT_MAX];
	char behalf[WITHDRAWAL_BEHALF_MAX];	/* whom the user asked for; "": nobody else; cleaned, too */
};

struct withdrawals {
	VEC(struct withdrawal) v;	/* by guid, then port */
};

/* x may be NULL: no. */
static inline bool withdrawal_isolates(const struct withdrawal *x)
{
	return x && x->kind == WITHDRAWAL_ISOLATED;
}

#define WITHDRAWAL_ID_MAX 24
/* "0x0002c90300000011" or "0x0002c90300000011/P4", by which `release` finds the entry wherever it is.  Returns out. */
const char *withdrawal_id(const struct withdrawal *x, char out[WITHDRAWAL_ID_MAX]);

const char *withdrawal_kind_name(enum withdrawal_kind k);	/* "drained", "isolated" */

struct withdrawals *withdrawals_new(void);
struct withdrawals *withdrawals_copy(const struct withdrawals *w);
void withdrawals_free(struct withdrawals *w);	/* NULL is fine */
/* The entry of exactly this place, or NULL. */
const struct withdrawal *withdrawals_find(const struct withdrawals *w, uint64_t guid, unsigned port);
/* Adds an entry, or replaces that of the same place; texts are cleaned.  False: the list is full. */
bool withdrawals_put(struct withdrawals *w, const struct withdrawal *x);
/* False: the place is not in the list. */
bool withdrawals_remove(struct withdrawals *w, uint64_t guid, unsigned port);
size_t withdrawals_count(const struct withdrawals *w, enum withdrawal_kind k);

/* As lines, which is how it is on disk and how standbys get it. */
void withdrawals_print(const struct withdrawals *w, struct buf *out);
/* Adds the entry of one line; arg is the struct withdrawals.  False: the line is invalid. */
bool withdrawals_line(void *arg, const char *line);

/* --- on a fabric --- */

/* Where an entry is in a fabric. */
struct withdrawal_place {
	uint32_t node;			/* FABRIC_NONE: not in the fabric */
	uint32_t first, last;		/* the port slots that it covers */
};
struct withdrawal_place withdrawal_place(const struct withdrawal *x, const struct fabric *f);
/* A link between switches that a drain covers. */
struct drained {
	uint32_t port;		/* its end that the entry covers */
	bool whole;		/* because the switch of that port is drained, */
	bool has_hosts;		/* which has hosts, who have no other way */
};
/* The next one; *entry and *next start at 0.  False: no more.  A link may come several times. */
bool withdrawals_next_drained(const struct withdrawals *w, const struct fabric *f, size_t *entry,
			      uint32_t *next, struct drained *out);
/* What a drained place still carries, as the marks `held` and `drained` of f say. */
struct drain_left {
	uint32_t links;		/* links between switches that the entry covers */
	uint32_t used;		/* those of them that routes of others use, as there is no other way */
	uint32_t hosts;		/* end ports of hosts at the drained switch */
	bool done;		/* nothing is routed over it but packets to and from the switch itself */
};
struct drain_left withdrawal_left(const struct withdrawal *x, const struct fabric *f);

#endif
