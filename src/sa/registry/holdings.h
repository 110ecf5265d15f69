/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts and bounds how many entries of each registry every port holds.
 *
 * The registries (multicast groups, services, subscriptions, alias GUIDs) report each entry that
 * comes or goes, with the port that it counts for.  So do transfers, long requests and Reports under
 * way.  Every kind of entry has a bound for all ports together and one for each port.  These rules
 * decide whether a port gets one more entry:
 *
 *   a port that holds as many as a single port may gets no more;
 *   when all ports together hold as many as they may, a port that holds some gets no more;
 *   the last eighth of that is for newcomers, ports that hold less than a sixteenth of what a single
 *   port may, so that a few greedy ports cannot keep the others from their first entries;
 *   a port that holds none gets its first entry however many the others hold, unless the bound of all
 *   ports is 0.  So a registry has at most HOLD_FIRSTS_MAX entries more than the bound says.
 *
 * The last rule is for registries that can grow.  The numbers of multicast LIDs and of slots for
 * transfers, long requests and Reports are fixed: of these, the last sixteenth is reserved for ports
 * that hold none.
 *
 * Counting is separate from refusing: entries that are read from disk, or taken over from another
 * subnet manager, count whatever the bounds say.
 *
 * A holdings that is NULL counts nothing and refuses nothing.  Not thread-safe.
 */
#ifndef QOSD_SA_REGISTRY_HOLDINGS_H
#define QOSD_SA_REGISTRY_HOLDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hold_kind {
	HOLD_GROUPS,		/* multicast groups whose holder the port is */
	HOLD_MLIDS,		/* MLIDs of those groups, unless an older group has the MLID */
	HOLD_MEMBERSHIPS,	/* the port's, and those it requested for other ports */
	HOLD_SERVICES,
	HOLD_SUBSCRIPTIONS,
	HOLD_ALIASES,
	/* these are under way with a port and end within seconds */
	HOLD_TRANSFERS,		/* answers of several MADs to the port */
	HOLD_LONG_REQUESTS,	/* requests of several MADs from the port */
	HOLD_REPORTS,		/* Reports that the port has not answered */
	HOLD_KINDS
};

/* The most ports that a subnet can have: the number of unicast LIDs. */
#define HOLD_FIRSTS_MAX 49151u

static inline bool hold_is_under_way(enum hold_kind kind)
{
	return kind >= HOLD_TRANSFERS;
}

/* A kind's name in commands, metrics and log ("groups"), and its text for people ("multicast groups"). */
const char *hold_kind_name(enum hold_kind kind);
const char *hold_kind_text(enum hold_kind kind);

struct hold_bound {
	uint32_t max;		/* for all ports together */
	uint32_t each;		/* for each port */
};

/*
 * Stands for a port GUID where the requester is known by its LID only.  It cannot be a port's GUID:
 * no EUI-64 that is assigned begins with 48 ones.
 */
uint64_t holder_of_lid(uint16_t lid);
bool holder_is_lid(uint64_t holder);
/* Writes "0x…" for a GUID, or "LID 7"; returns out. */
#define HOLDER_NAME_MAX 20
char *holder_name(uint64_t holder, char out[HOLDER_NAME_MAX]);

struct holding {
	uint64_t port;			/* port GUID, or holder_of_lid() */
	uint32_t n[HOLD_KINDS];
	uint64_t refused[HOLD_KINDS];	/* refused requests while the port held anything */
	int64_t gone_us;		/* when the port departed; 0: it is in the fabric */
};

struct holdings;

/* There are no bounds until holdings_set_bound(). */
struct holdings *holdings_new(void);
void holdings_free(struct holdings *h);		/* NULL is fine */

void holdings_set_bound(struct holdings *h, enum hold_kind kind, struct hold_bound bound);
struct hold_bound holdings_bound(const struct holdings *h, enum hold_kind kind);
/* Entries and refusals of all ports; entries of one port. */
uint32_t holdings_total(const struct holdings *h, enum hold_kind kind);
uint64_t holdings_refused(const struct holdings *h, enum hold_kind kind);
uint32_t holdings_of(const struct holdings *h, enum hold_kind kind, uint64_t port);

/* Whether the port may have one more entry. */
bool holdings_room(const struct holdings *h, enum hold_kind kind, uint64_t port);
/* The same for a request; counts a refusal. */
bool holdings_ask(struct holdings *h, enum hold_kind kind, uint64_t port);
/* Adds to the entries of a port; more < 0: subtracts. */
void holdings_add(struct holdings *h, enum hold_kind kind, uint64_t port, int more);

/*
 * The i-th port that holds anything, in no order: 0 <= i < holdings_count().  Ports that hold
 * nothing any more may be among them.  The pointer is valid until the next change.
 */
size_t holdings_count(const struct holdings *h);
const struct holding *holdings_at(const struct holdings *h, size_t i);
const struct holding *holdings_find(const struct holdings *h, uint64_t port);	/* or NULL */
bool holding_is_empty(const struct holding *x);
/* Sets when a port departed (caller's clock; 0: it is in the fabric), if the port holds anything. */
void holdings_set_gone(struct holdings *h, uint64_t port, int64_t since_us);

#endif
