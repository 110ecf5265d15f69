/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remembers what the subnet had and lacks now: switches, hosts, subnet managers, links, and the
 * width or speed of links.
 *
 * An item stays until what it stands for is back, or until an operator says that it is gone for
 * good (missing_forget()).  A node that goes away takes its links along: these have items of their
 * own, which are not shown while either of their nodes is missing, so that a switch that returns
 * without one of its links does not return unnoticed.
 *
 * A link between switches is known by both of its ends, any other link by the host's port: a host
 * that comes back elsewhere is back.  A link that went down and came up slower is an item with the
 * rate that it had first.
 *
 * A forgotten item is kept, unseen by everyone, until the thing is back: it tells a later start
 * that nobody misses this part of the known fabric.
 *
 * A link that comes, and was not missed, may be the cable of a missing link between the same two switches, or of the
 * same host.  So where one is missing, a new link is kept, too, as an item that nobody sees, as long as the link stays
 * (missing_move.h).
 *
 * The table has MISSING_MAX items at most; what is lost beyond that is only counted.  No clock, no
 * disk: the text that missing_print() makes is kept and sent to standbys by the daemon
 * (daemon/missing_state.c).  For one thread only.
 */
#ifndef QOSD_EVENTS_MISSING_H
#define QOSD_EVENTS_MISSING_H

#include "events/topology_events.h"

#define MISSING_MAX 65536
#define MISSING_NEW_MAX 1024	/* of these: new links */

enum missing_kind {
	MISSING_SWITCH, MISSING_HOST,	/* a host is any node that is no switch */
	MISSING_MANAGER,		/* another subnet manager */
	MISSING_LINK,			/* between switches */
	MISSING_HOST_LINK,
	MISSING_RATE,			/* the link is there, but slower than it was */
	MISSING_KINDS
};
/* "switch", "host", "manager", "link", "host-link", "rate" */
const char *missing_kind_name(enum missing_kind k);

/* A node, or an end of a link. */
struct missing_end {
	uint64_t guid;			/* of the node; of a manager: of its port.  0: unknown */
	uint64_t port_guid;		/* of the end port; 0: none or unknown */
	uint8_t num;			/* port number; 0: none */
	char name[65];			/* NodeDescription without control characters, or "" */
};

struct missing_item {
	unsigned refs;
	enum missing_kind kind;
	bool forgotten;
	bool unwatched;			/* no qosd was watching when it went: since_us is when that was seen */
	bool trunk;			/* of a link: it is one between switches */
	bool is_new;			/* of a link that is there: it came at since_us; it is forgotten, too */
	int64_t since_us;		/* realtime */
	struct missing_end a, b;	/* of a node: b is the switch port that a.num was linked to, if any */
	char was[LINK_TEXT], is[LINK_TEXT];	/* width and speed; "": unknown, or there is no link */
	uint8_t rate;			/* rate code that belongs to `was`; 0: unknown */
};

/* Whether it is a link: gone, slower, or new. */
bool missing_is_link(const struct missing_item *x);
/* A digest of what a link connects: two switches, or a host and others. */
uint64_t missing_between(const struct missing_item *x);
/* The port of the fabric that an end names, or FABRIC_NONE; of a node that has no number, its port 0. */
uint32_t missing_port(const struct fabric *f, const struct missing_end *e);
/* Whether the fabric has the link, be it a host's to another port; *port: its end a. */
bool missing_link_is_there(const struct fabric *f, const struct missing_item *x, uint32_t *port);

struct missing;

struct missing *missing_new(void);
void missing_free(struct missing *m);		/* NULL is fine */

/* A number that changes whenever the table does. */
uint64_t missing_changes(const struct missing *m);
/* The i-th item, from 0 on, of those that are shown or not; NULL: there are no more. */
const struct missing_item *missing_at(const struct missing *m, size_t i);
/* Whether any item is a new link. */
bool missing_has_new(const struct missing *m);
/* How many of each kind are shown; returns the sum. */
size_t missing_count(const struct missing *m, size_t n[MISSING_KINDS]);
/* How many items did not fit since the table was made. */
uint64_t missing_dropped(const struct missing *m);
/* The items that are shown, worst kind first, then by name: n pointers; see missing_list_free(). */
struct missing_item **missing_list(const struct missing *m, size_t *n);
void missing_list_free(struct missing_item **list, size_t n);
void missing_item_free(struct missing_item *x);		/* ends the reference to one of the list */

/* The time (realtime, µs) that the following calls take for now. */
void missing_set_time(struct missing *m, int64_t now_us);
/* Learns of a difference between two published states; arg is the struct missing. */
void missing_differs(void *arg, const struct topology_difference *d);
/*
 * Learns of a state that follows no other: removes what is back.  known (or NULL): what the subnet
 * had when it was watched before; what the state lacks of that is missing, too, or, if `forget`,
 * counts as forgotten already.
 */
void missing_review(struct missing *m, const struct fabric *now, const struct fabric *known,
		    bool forget);
/* A subnet manager, by its port's GUID, is gone, or is back.  name: of its port's node, or "". */
void missing_manager(struct missing *m, uint64_t guid, const char *name, bool gone);

/*
 * Forgets what the text names, and all links of a node that it names: a NodeDescription, a host (its
 * first word), a pattern of either with * and ?, each with or without "/Pn", or the GUID of a node
 * or port, as well with "/Pn".  NULL: everything.  Returns the number of items.
 */
size_t missing_forget(struct missing *m, const char *text);

/* Appends one line for each item, forgotten ones included. */
void missing_print(const struct missing *m, struct buf *b);
/* Takes a line of that; arg is the struct missing.  False: it is invalid. */
bool missing_line(void *arg, const char *line);
/* Adds an item as it is, unless the table has it. */
void missing_put(struct missing *m, const struct missing_item *x);
/* Removes everything. */
void missing_clear(struct missing *m);

/* "node001 HCA-1 (0x…)", "leaf1/P3 (0x…)"; only the GUID if there is no name.  Returns out. */
char *missing_end_text(const struct missing_end *e, char *out, size_t n);
#define MISSING_END_TEXT 112

#endif
