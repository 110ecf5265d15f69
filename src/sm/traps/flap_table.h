/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds links that go down and up again and again, and decides which of them routes avoid.
 *
 * Pure: a table of links that went down, and time as a parameter.
 *
 * A link flaps when it has gone down more than `limit` times within `window`.  It flaps until it
 * has been quiet for its hold time, which restarts whenever the link goes down.  The hold time
 * doubles each time the link begins to flap again, up to 32 times the first one, and returns to the
 * first one after the link has been quiet for as long as that.
 *
 * A link between switches that flaps is held: no route uses it, though its ports stay Active and
 * programmed, so that it can be used again at once.  If flapping links are the only connection
 * between two parts of the fabric, the one that flaps least is used nevertheless.  The only link of
 * a host is never held.
 *
 * A link that stays short of Active after a sweep, for example where a switch answers Sets with
 * errors, drops what is sent over it.  The next sweep holds it if it is still short of Active, and
 * later sweeps do so until it is Active.  At first such a link is used: nearly all links of a
 * fabric that comes up are short of Active.
 */
#ifndef QOSD_SM_TRAPS_FLAP_TABLE_H
#define QOSD_SM_TRAPS_FLAP_TABLE_H

#include <stddef.h>

#include "fabric/fabric.h"

struct withdrawals;

#define FLAP_LIMIT_MAX	32
#define FLAP_LINKS_MAX	4096		/* if there are more, the link that was quiet longest is forgotten */

struct flap_rules {
	unsigned limit;			/* 0: links never count as flapping; at most FLAP_LIMIT_MAX */
	int64_t window_us, hold_us;	/* more than 0 */
};

/* Both ends of a link, the end with the lower GUID and port first. */
struct flap_link {
	uint64_t guid[2];		/* node GUIDs */
	uint8_t port[2];
};
/* The link of a port, which must have a peer. */
struct flap_link flap_link_of(const struct fabric *f, uint32_t port);

/* A link that flaps. */
struct flap {
	struct flap_link link;
	unsigned downs;			/* how often it went down since it was first seen */
	int64_t since_us, until_us;	/* when it began to flap, and when it ends if the link stays quiet */
};

struct flaps;
struct flaps *flaps_new(const struct flap_rules *rules);
void flaps_free(struct flaps *t);	/* NULL is fine */
/*
 * Judges by other rules from now on, and by what is known of links: one that flaps keeps its count of doublings of
 * the hold time.  With limit 0 links that flap go on to do so; see flaps_release().
 */
void flaps_set_rules(struct flaps *t, const struct flap_rules *rules);
/* Drained links (sm/devices/withdrawals.h) are held, too.  w outlives its use here; NULL: none. */
void flaps_set_withdrawals(struct flaps *t, const struct withdrawals *w);
/* Records that a link went down.  True: it begins to flap, and *out describes it. */
bool flaps_down(struct flaps *t, const struct flap_link *l, int64_t now_us, struct flap *out);
/* Records that a link came up: if it flaps, its quiet time restarts. */
void flaps_up(struct flaps *t, const struct flap_link *l, int64_t now_us);
/* The flapping links, i from 0; false: i is beyond the end. */
bool flaps_at(const struct flaps *t, size_t i, struct flap *out);
/* Ends the flapping of a link that was quiet long enough; false: there is none. */
bool flaps_ended(struct flaps *t, int64_t now_us, struct flap *out);
/* When the next link may stop flapping; INT64_MAX: none flaps. */
int64_t flaps_next(const struct flaps *t);
/*
 * Forgets the links of a node's port (0: of all its ports; GUID 0: all links) and how often they
 * flapped. Each call returns one that flapped in *out; false: no more.
 */
bool flaps_release(struct flaps *t, uint64_t guid, unsigned port, struct flap *out);

/* The port of f at that end of the link; FABRIC_NONE: f does not have it. */
uint32_t flap_port(const struct fabric *f, const struct flap_link *l, unsigned end);
/*
 * Marks in each port of f whether its link is held.  Held are links that flap, drained links, links
 * that no sweep can bring up as one end reports Down or an undefined PortState, and links that a
 * sweep left short of Active and that still are; but not links that are the only way.  Where one of
 * several must be used, a flapping link comes first and a drained one next.  Also marks what is
 * drained (fabric_port.drained).  True: some are held.
 */
bool flaps_hold(const struct flaps *t, struct fabric *f);
/*
 * Remembers the links between switches that a sweep, having set the ports of f, left short of
 * Active; replaces those remembered before.  f NULL: remembers none.
 */
void flaps_left_short(struct flaps *t, const struct fabric *f);
/*
 * The next remembered link that is held in f and not short of Active any more, *i from 0; false: no
 * more.
 */
bool flaps_come_up(const struct flaps *t, const struct fabric *f, size_t *i, struct flap_link *out);

#endif
