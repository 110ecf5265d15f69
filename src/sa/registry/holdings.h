/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much of each registry every port holds, and how much it may hold.
 *
 * The registries (multicast groups, services, subscriptions, alias GUIDs) report each entry that
 * comes or goes, with the port that has to answer for it, and so does whoever has something under
 * way with a port.  Every kind of entry has a bound for all
 * ports together and one for each port.  These rules decide about a further entry:
 *
 *   a port that holds as many as a single port may gets no more;
 *   when all ports together hold as many as they may, a port that holds some gets no more;
 *   the last eighth of that is for newcomers, ports that hold less than a sixteenth of what a single
 *   port may, so that a few greedy ports cannot keep the others from their first entries;
 *   a port that holds none gets its first entry however many the others hold, unless the bound of all
 *   ports is 0.  So a registry has at most HOLD_FIRSTS_MAX entries more than the bound says.
 *
 * The last rule is for registries that can grow.  There are only so many multicast LIDs, and so many
 * slots for what is under way: of these the last sixteenth is kept for ports that hold none.
 *
 * Counting and refusing are apart: what was read from disk, or taken over from another subnet
 * manager, is counted whatever the bounds say.
 *
 * A holdings that is NULL counts nothing and refuses nothing.  One thread at a time.
 */
#ifndef QOSD_SA_REGISTRY_HOLDINGS_H
#define QOSD_SA_REGISTRY_HOLDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hold_kind {
	HOLD_GROUPS,		/* multicast groups that are there for the port's sake */
	HOLD_MLIDS,		/* … of which each has an MLID that no older group shares with it */
	HOLD_MEMBERSHIPS,	/* of the port, or asked for by it on behalf of another port */
	HOLD_SERVICES,
	HOLD_SUBSCRIPTIONS,
	HOLD_ALIASES,
	/* what is under way with a port, and over in seconds */
	HOLD_TRANSFERS,		/* answers of several MADs to it */
	HOLD_LONG_REQUESTS,	/* requests of several MADs by it */
	HOLD_REPORTS,		/* Reports that it has not answered */
	HOLD_KINDS
};

/* Ports that can be in a subnet: unicast LIDs. */
#define HOLD_FIRSTS_MAX 49151u

static inline bool hold_is_under_way(enum hold_kind kind)
{
	return kind >= HOLD_TRANSFERS;
}

/* "groups" …: as in commands, metrics and log; "multicast groups" …: for people. */
const char *hold_kind_name(enum hold_kind kind);
const char *hold_kind_text(enum hold_kind kind);

struct hold_bound {
	uint32_t max;		/* of all ports together */
	uint32_t each;		/* of one port */
};

/*
 * What is under way with a LID counts for its port, by GUID, if that is the port's own; else for the
 * LID.  Then this stands for a port GUID: no EUI-64 that is given out begins with 48 ones.
 */
uint64_t holder_of_lid(uint16_t lid);
bool holder_is_lid(uint64_t holder);
/* "0x…", or "LID 7"; returns out. */
#define HOLDER_NAME_MAX 20
char *holder_name(uint64_t holder, char out[HOLDER_NAME_MAX]);

struct holding {
	uint64_t port;			/* port GUID, or holder_of_lid() */
	uint32_t n[HOLD_KINDS];
	uint64_t refused[HOLD_KINDS];	/* requests, while the port held anything */
	int64_t gone_us;		/* since when it is not in the fabric; 0: it is */
};

struct holdings;

/* Without bounds, until they are set. */
struct holdings *holdings_new(void);
void holdings_free(struct holdings *h);		/* NULL is fine */

void holdings_set_bound(struct holdings *h, enum hold_kind kind, struct hold_bound bound);
struct hold_bound holdings_bound(const struct holdings *h, enum hold_kind kind);
/* Of all ports. */
uint32_t holdings_total(const struct holdings *h, enum hold_kind kind);
uint64_t holdings_refused(const struct holdings *h, enum hold_kind kind);
uint32_t holdings_of(const struct holdings *h, enum hold_kind kind, uint64_t port);

/* Whether the port may have one more. */
bool holdings_room(const struct holdings *h, enum hold_kind kind, uint64_t port);
/* The same for a request: a refusal is counted. */
bool holdings_ask(struct holdings *h, enum hold_kind kind, uint64_t port);
/* The port has so many more, or fewer. */
void holdings_add(struct holdings *h, enum hold_kind kind, uint64_t port, int more);

/*
 * Ports that hold anything, in no order: 0 <= i < holdings_count().  A port that holds nothing
 * any more may still be among them.  Good until the next change.
 */
size_t holdings_count(const struct holdings *h);
const struct holding *holdings_at(const struct holdings *h, size_t i);
const struct holding *holdings_find(const struct holdings *h, uint64_t port);	/* or NULL */
bool holding_is_empty(const struct holding *x);
/* Since when a port is not in the fabric, by the caller's clock; 0: it is.  No effect on a port without holdings. */
void holdings_set_gone(struct holdings *h, uint64_t port, int64_t since_us);

#endif
