/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changing a fabric where it is known what changed: a copy (fabric_clone) is cut,
 * linked and added to, and fabric_settle() makes a finished one of it.
 *
 * In between indexes stay what they are; by_guid, routes and hops are those of
 * before, and a node that was added has the route it was added with.
 */
#ifndef QOSD_FABRIC_EDIT_H
#define QOSD_FABRIC_EDIT_H

#include "fabric/fabric.h"

/* Parts a port and its peer, if it has one. */
void fabric_cut(struct fabric *f, uint32_t port);

/*
 * Gives each node a shortest directed route by the links that there are (14.2.2), and
 * the port by which that reaches it.  avoid, if not NULL, says of each node whether
 * routes are to go round it as far as they can, as they do round links that are held.
 * A node that is out of reach has the hops FABRIC_UNREACHED and no route.  Nobody may be
 * using a route of f.
 */
#define FABRIC_UNREACHED UINT8_MAX
void fabric_reroute(struct fabric *f, const uint8_t *avoid);

/*
 * The same, without anything to avoid, unless a node is out of reach by the links that there are: then
 * all routes stay.  A finished fabric may have such a node, as links that one end did not answer for
 * are left out of it.
 */
bool fabric_reroute_all(struct fabric *f);

/*
 * A finished fabric of all that is in reach of the SM's port, with shortest routes and
 * in the same order.  Links with an end that is not present are left out and
 * counted (unanswered).  Complaints are appended to err, as by fabric_finish(); NULL
 * if it is of no use.  f stays as it is, but for its routes.
 */
struct fabric *fabric_settle(struct fabric *f, struct buf *err);

#endif
