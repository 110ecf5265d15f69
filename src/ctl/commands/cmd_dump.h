/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subnet in the dump formats of OpenSM 3.3.23, which ibdmchk and other
 * tools read: opensm-subnet.lst, opensm.fdbs, opensm.mcfdbs and
 * opensm-sl2vl.dump, in small pieces; and, if the routes have several layers, which SL each path
 * has, as ibdmchk reads it (opensm-path-sls.dump).
 *
 * Pure: state to text.  Nodes come in OpenSM's order, and what OpenSM prints
 * oddly (the far side's DevID) is printed so, since its readers expect that.
 */
#ifndef QOSD_CTL_COMMANDS_CMD_DUMP_H
#define QOSD_CTL_COMMANDS_CMD_DUMP_H

#include "ctl/ctl.h"

struct dump;

/* s and env must outlive it; of env, mft_next and sm are used. */
struct dump *dump_new(const struct subnet_state *s, const struct ctl_env *env);
/*
 * Appends the next piece (a few KiB at most, but for a line of a very large
 * switch) to out and sets *file to the name of the file that it belongs to.
 * Each file comes at least once, if only with an empty piece, and its pieces
 * one after the other.  False at the end.
 */
bool dump_next(struct dump *d, const char **file, struct buf *out);
void dump_free(struct dump *d);

#endif
