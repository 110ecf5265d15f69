/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What happened between two published states, as events.  Pure, and in the time of
 * one look at each port; where the later state says what changed since the other, of
 * each node.  What came and went again in between nobody sees.
 *
 * A node that comes or goes is one event, and its links are none of their own; a node
 * that is linked to another port than before moved; of all other links it is told that
 * they are up, down, or run at another width or speed.
 */
#ifndef QOSD_EVENTS_TOPOLOGY_EVENTS_H
#define QOSD_EVENTS_TOPOLOGY_EVENTS_H

#include "events/event.h"
#include "plan/published_state.h"

/* Of nodes and links, in one comparison; of more it is told how many they are. */
#define TOPOLOGY_EVENTS_MAX 500

/* old may be NULL: what was before is not known, and only what is wrong is told. */
void topology_events(const struct subnet_state *old, const struct subnet_state *now,
		     void (*fn)(void *arg, const struct event *e), void *arg);

/* "4xQDR" of a port that has a link. */
#define LINK_TEXT 32
char *port_link_text(const struct fabric_port *p, char text[LINK_TEXT]);

/* An end port that has the GUID of another one, which is *first. */
bool port_is_duplicate(const struct fabric *f, uint32_t port, uint32_t *first);

#endif
