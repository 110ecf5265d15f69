/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Edits a copy of a fabric when it is known what changed.  The caller clones a fabric
 * (fabric_clone), and cuts, links and adds to the clone; fabric_settle() makes a finished fabric of
 * it.
 *
 * Until then indexes stay the same; by_guid, routes and hops describe the fabric before the edits,
 * and an added node has the route it was added with.
 */
#ifndef QOSD_FABRIC_EDIT_H
#define QOSD_FABRIC_EDIT_H

#include "fabric/fabric.h"

/* Removes the link between a port and its peer, if it has one. */
void fabric_cut(struct fabric *f, uint32_t port);

/*
 * Gives each node a shortest directed route over the present links (14.2.2), and the local port at
 * which that route arrives.  avoid, if not NULL, says of each node whether routes should avoid it
 * where possible, as they do held links and silent nodes.  A node that is out of reach gets hops
 * FABRIC_UNREACHED and no route.  The caller ensures that no SMP is using a route of f.
 */
#define FABRIC_UNREACHED UINT8_MAX
void fabric_reroute(struct fabric *f, const uint8_t *avoid);

/*
 * Like fabric_reroute() with nothing to avoid, but returns false and leaves all routes unchanged if
 * a node is out of reach.  A finished fabric may have such a node: fabric_finish() cuts links with
 * an end that did not answer.
 */
bool fabric_reroute_all(struct fabric *f);

/*
 * Returns a finished fabric of everything in reach of the SM's port, with shortest routes and in
 * the same order.  Links with an end that is not present are cut and counted (unanswered).
 * Complaints are appended to err, as by fabric_finish(); NULL if the fabric is unusable.  Changes
 * only the routes of f.
 */
struct fabric *fabric_settle(struct fabric *f, struct buf *err);

#endif
