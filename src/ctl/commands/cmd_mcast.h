/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `mcast` and `who` share: multicast groups as JSON. */
#ifndef QOSD_CTL_COMMANDS_CMD_MCAST_H
#define QOSD_CTL_COMMANDS_CMD_MCAST_H

#include "ctl/command.h"
#include "sa/registry/groups.h"

/* The members of a group that `mcast` shows in its list. */
json_t *json_group(const struct mcast_db *db, const struct mcast_group *g);
json_t *json_member(const struct subnet_state *s, const struct mcast_group *g, const struct mcast_member *m);
/* The MFT entry of each switch that has one, as devices hold it. */
json_t *json_tree(const struct ctl_call *c, uint16_t mlid);

/* --- who_address.c --- */

/*
 * Answers `who` for an MGID, an MLID, or the address of a multicast group or host of IPoIB, and returns true, with an
 * error in the reply if it is nobody's.  False: the text is no address, or *port is a port that it stands for.
 */
bool answer_who_address(const struct ctl_call *c, const char *text, uint32_t *port, struct reply *r);

#endif
