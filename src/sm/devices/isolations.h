/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cuts the links of isolated ports and nodes (withdrawals.h) out of a fabric.
 *
 * Pure, without a clock.  An isolated link is cut where a sweep takes a discovered fabric or a probe's
 * copy, so that everything after it (routes, trees, paths, the subnet administrator) sees no link, and no
 * port of it counts as one that should become Active.  What only the link leads to is not in the fabric.
 *
 * The link of the manager's own port is never cut, whatever the list says: a standby whose port the
 * master has isolated manages the subnet over that port if it takes over.
 */
#ifndef QOSD_SM_DEVICES_ISOLATIONS_H
#define QOSD_SM_DEVICES_ISOLATIONS_H

#include "sm/devices/withdrawals.h"

/* A link that was cut, or was not taken up, because an end of it is isolated. */
struct isolation_cut {
	uint64_t guid[2];	/* nodes at its ends, of which the fabric may have one or none, */
	uint8_t num[2];		/* and their ports */
	int64_t down_us;	/* when it was taken down last; 0: not since it was noted */
	uint32_t next[2];	/* private: for each end, the next end of the same hash */
};

/* A port has at most one.  Zeroed: none. */
struct isolation_cuts {
	VEC(struct isolation_cut) v;	/* in no order */
	uint32_t *heads, n_heads;	/* private: the first end of each hash; a power of two, or 0 */
};

/* The port is isolated, by itself or with its node. */
bool isolation_covers(const struct withdrawals *w, uint64_t guid, unsigned num);
/* The entry that isolates a link, by one of its ends or the node there; NULL: none does. */
const struct withdrawal *isolation_of_cut(const struct withdrawals *w, const struct isolation_cut *cut);
/* The link is isolated by one of its ends. */
bool isolation_covers_cut(const struct withdrawals *w, const struct isolation_cut *cut);
/*
 * A link between a port of f and a port (guid, num) that may not be in f is isolated.  w may be NULL,
 * which is an empty list.
 */
bool isolation_forbids(const struct withdrawals *w, const struct fabric *f, uint32_t port, uint64_t guid,
		       unsigned num);

void isolation_cuts_free(struct isolation_cuts *c);	/* leaves none */
/* Copies src into dst, which has none. */
void isolation_cuts_copy(struct isolation_cuts *dst, const struct isolation_cuts *src);
/* Notes a link, instead of others of its ends. */
void isolation_cuts_put(struct isolation_cuts *c, const struct isolation_cut *x);
/* Forgets the link that has this end, if there is one. */
void isolation_cuts_drop(struct isolation_cuts *c, uint64_t guid, unsigned num);
/* The link that has this end; NULL: none. */
const struct isolation_cut *isolation_cuts_find(const struct isolation_cuts *c, uint64_t guid, unsigned num);
/* Notes when the link that has this end, if there is one, was taken down. */
void isolation_cuts_taken_down(struct isolation_cuts *c, uint64_t guid, unsigned num, int64_t now_us);
/*
 * The next link with an end in the place of x: *num is 0 at first, then the port of that end.  NULL: no more.
 * Takes time proportional to the ports of a node, whatever else is cut.
 */
const struct isolation_cut *isolation_cuts_of(const struct isolation_cuts *c, const struct withdrawal *x,
					      unsigned *num);
/* Forgets the links that are not isolated any more, and calls fn for each before that. */
void isolation_cuts_prune(struct isolation_cuts *c, const struct withdrawals *w,
			  void (*fn)(void *arg, const struct isolation_cut *x), void *arg);

/*
 * Cuts the links of f that are isolated, notes them, and sets `isolated` of all ports of f anew.  Calls
 * fn (NULL: nothing) with one end of each link before it is cut.  Returns the number of links that were
 * cut: routes and hops of f must be made anew then, and nodes may be out of reach (fabric/edit.h).
 */
uint32_t isolations_cut(const struct withdrawals *w, struct fabric *f, struct isolation_cuts *c,
			void (*fn)(void *arg, uint32_t port), void *arg);
/* f has a link that is isolated. */
bool isolations_pending(const struct withdrawals *w, const struct fabric *f);
/* The same of one entry. */
bool isolation_pending(const struct withdrawal *x, const struct fabric *f);

/* The port is an end of the manager's own link. */
bool link_is_own(const struct fabric *f, uint32_t port);
/*
 * The entry is for the manager's own port or node, or for the far end of its own link, which is not cut.  A list may
 * have one: the former master isolated us before we took over.
 */
bool isolation_is_own(const struct withdrawal *x, const struct fabric *f);

#endif
