/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the subnet in the dump formats of OpenSM 3.3.23, which ibdmchk and other tools read.  The
 * files are opensm-subnet.lst, opensm.fdbs, opensm.mcfdbs and opensm-sl2vl.dump, in small pieces;
 * and, if the routes have several layers, opensm-path-sls.dump, the SL of each path as ibdmchk
 * reads it.  qosd-devices.yaml is qosd's own: what the devices have, for --devices of qosd.
 *
 * Pure: state to text.  Nodes come in OpenSM's order, and OpenSM's oddities (the far end's DevID)
 * are reproduced, as readers expect them.
 */
#ifndef QOSD_CTL_COMMANDS_CMD_DUMP_H
#define QOSD_CTL_COMMANDS_CMD_DUMP_H

#include "ctl/ctl.h"

struct dump;

/* s and env must outlive the dump; it uses mft_next and sm of env. */
struct dump *dump_new(const struct subnet_state *s, const struct ctl_env *env);
/*
 * Appends the next piece (less than 64 KiB, except of a very large switch) to out and sets
 * *file to the name of its file.  Each file appears at least once, if only with an empty piece, and
 * its pieces are consecutive.  Returns false at the end.
 */
bool dump_next(struct dump *d, const char **file, struct buf *out);
/* The fraction of the present file that is done, 0 to 1. */
double dump_done(const struct dump *d);
void dump_free(struct dump *d);

#endif
