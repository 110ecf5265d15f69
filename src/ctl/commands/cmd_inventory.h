/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `nodes`, `ports` and `who` share: which nodes a text selects, and the row of a port. */
#ifndef QOSD_CTL_CMD_INVENTORY_H
#define QOSD_CTL_CMD_INVENTORY_H

#include "ctl/command.h"

/*
 * The nodes that the arguments `node` and `type` select, as an array [node] that the caller frees;
 * NULL with an error in the reply if no node has that name, GUID or LID.
 */
bool *select_nodes(const struct ctl_call *c, struct reply *r);
/*
 * The external ports of these nodes, or the one that `node` names, as an array [port] that the caller frees; NULL with
 * an error in the reply.
 */
bool *select_ports(const struct ctl_call *c, struct reply *r);
/* "down", "init", "armed", "active"; "none": not known; "unknown". */
const char *port_state_name(unsigned state);
/* A row of `ports`, for a slot that is present. */
json_t *json_port_row(const struct subnet_state *s, uint32_t slot);

#endif
