/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes events of the differences between two published states.
 *
 * The comparison has no side effects.  It takes the time of one look at each port or, if the
 * later state says what changed since the earlier one, at each node.  What appeared and
 * disappeared in between is not seen.
 *
 * A node that appears or disappears makes one event, and its links make none.  A node that is
 * linked to another port than before has moved.  All other links make events when they come up,
 * go down, or change width or speed.
 */
#ifndef QOSD_EVENTS_TOPOLOGY_EVENTS_H
#define QOSD_EVENTS_TOPOLOGY_EVENTS_H

#include "events/event.h"
#include "plan/published_state.h"

/*
 * Most events about nodes and links in one comparison; a further event tells how many were left
 * out.
 */
#define TOPOLOGY_EVENTS_MAX 500

/*
 * One difference.  f is the fabric that has the node or the link: the later one, but the earlier one
 * of what went away.
 */
struct topology_difference {
	enum topology_change {
		NODE_WENT, NODE_CAME,
		LINK_WENT, LINK_CAME,	/* of two nodes that both fabrics have */
		LINK_CHANGED,		/* its width or speed */
		LINK_MOVED,		/* a port of a CA or router has its link to another port */
	} change;
	const struct fabric *f;
	uint32_t node;			/* NODE_…: in f */
	uint32_t port;			/* LINK_…: one end, in f */
	const struct fabric *before;	/* LINK_CHANGED: the earlier fabric, and that end in it */
	uint32_t was;
};

/* Who is told.  differs may be NULL; it is told all differences of nodes and links, however many. */
struct topology_listener {
	void (*event)(void *arg, const struct event *e);
	void *arg;
	void (*differs)(void *arg, const struct topology_difference *d);
	void *differs_arg;
};

/* old may be NULL: the state before is unknown, and only faults are reported. */
void topology_events(const struct subnet_state *old, const struct subnet_state *now,
		     const struct topology_listener *to);

/* Tells only what `now` lacks of the nodes and links of `known`: NODE_WENT and LINK_WENT. */
void topology_lacks(const struct fabric *known, const struct fabric *now,
		    void (*differs)(void *arg, const struct topology_difference *d), void *arg);

/* The width and speed of a port that has a link, such as "4xQDR". */
#define LINK_TEXT 32
char *port_link_text(const struct fabric_port *p, char text[LINK_TEXT]);

/* Whether an end port has the GUID of another one, which is *first. */
bool port_is_duplicate(const struct fabric *f, uint32_t port, uint32_t *first);

#endif
