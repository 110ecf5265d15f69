/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Links that go down and up again and again: which they are, and which of them routes are
 * kept off.  Pure: a table of links that went down, and time as a parameter.
 *
 * A link flaps when it went down more than `limit` times within `window`.  It flaps until
 * it was quiet for its hold time, which begins anew whenever it goes down, is doubled each
 * time that it begins to flap once more, 32 times as long at most, and what it was at first
 * when it was quiet for as long as that.
 *
 * A link between switches that flaps is held: no route uses it, though its ports are Active and
 * programmed, so that it may be used again at once.  Where it is the only way between two
 * parts of the fabric it is used nevertheless; of several such the one that flaps least.
 * The only link of a host is never held.
 *
 * A link that stays short of Active after a sweep, as where a switch answers Sets with errors, drops what is
 * sent over it.  The next sweep holds it if it is short of Active still, and so do those after it until it
 * is not.  At first such a link is used: nearly all links of a fabric that comes up are short of Active.
 */
#ifndef QOSD_SM_TRAPS_FLAP_TABLE_H
#define QOSD_SM_TRAPS_FLAP_TABLE_H

#include <stddef.h>

#include "fabric/fabric.h"

#define FLAP_LIMIT_MAX	32
#define FLAP_LINKS_MAX	4096		/* beyond it the one that was quiet longest is forgotten */

struct flap_rules {
	unsigned limit;			/* 0: no link flaps, whatever it does; at most FLAP_LIMIT_MAX */
	int64_t window_us, hold_us;	/* more than 0 */
};

/* Both ends, that of the lower GUID and port first. */
struct flap_link {
	uint64_t guid[2];		/* of the nodes */
	uint8_t port[2];
};
/* The link of a port that has a peer. */
struct flap_link flap_link_of(const struct fabric *f, uint32_t port);

/* A link that flaps. */
struct flap {
	struct flap_link link;
	unsigned downs;			/* since it was seen first */
	int64_t since_us, until_us;	/* it flaps; until_us if it stays quiet */
};

struct flaps;
struct flaps *flaps_new(const struct flap_rules *rules);
void flaps_free(struct flaps *t);	/* NULL is fine */
/* A link went down.  True: from now on it flaps, and *out is what is known of it. */
bool flaps_down(struct flaps *t, const struct flap_link *l, int64_t now_us, struct flap *out);
/* A link came up: if it flaps it was not quiet. */
void flaps_up(struct flaps *t, const struct flap_link *l, int64_t now_us);
/* Those that flap, i from 0; false: there are no more. */
bool flaps_at(const struct flaps *t, size_t i, struct flap *out);
/* One that flaps and was quiet long enough: it does no more; false: there is none. */
bool flaps_ended(struct flaps *t, int64_t now_us, struct flap *out);
/* When the next one may end; INT64_MAX: none. */
int64_t flaps_next(const struct flaps *t);
/*
 * The links of a node's port (0: of all its ports; GUID 0: all links) are forgotten, and with
 * them how often they flapped.  Those that flapped are told, in as many calls; false: no more.
 */
bool flaps_release(struct flaps *t, uint64_t guid, unsigned port, struct flap *out);

/* The port of f that is an end of the link, if it is there; else FABRIC_NONE. */
uint32_t flap_port(const struct fabric *f, const struct flap_link *l, unsigned end);
/*
 * Says of each port of f whether its link is held: those that flap, those that no sweep can bring
 * up as one end says Down, or a PortState that there is not, and those that a sweep has left short of
 * Active and that are so still; but for those that are the only way.  True: some are.
 */
bool flaps_hold(const struct flaps *t, struct fabric *f);
/*
 * A sweep has set the ports of f, and those of its links between switches that are short of Active are
 * remembered, instead of those before.  f NULL: none are.
 */
void flaps_left_short(struct flaps *t, const struct fabric *f);
/* The next of those remembered that is held in f and not short of Active any more, *i from 0; false: there are no more. */
bool flaps_come_up(const struct flaps *t, const struct fabric *f, size_t *i, struct flap_link *out);

#endif
