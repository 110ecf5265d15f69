/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the MLID of a new multicast group, a free one or the least loaded one that it may share.
 *
 * The load of an MLID is the number of members of its groups.  MLIDs are numbers from 0 (LID 0xc000)
 * to MLIDS - 1.  Each call costs at most the logarithm of the number of MLIDs.
 */
#ifndef QOSD_SA_REGISTRY_MLIDS_H
#define QOSD_SA_REGISTRY_MLIDS_H

#include <stdint.h>

#include "lib/iba/iba.h"

#define MLIDS		IB_MLIDS
#define MLID_NONE	IB_MLIDS
/* An MLID given back is used again after so many more were given back, or if no other is free. */
#define MLID_REUSE_AFTER 64

struct mlids;

struct mlids *mlids_new(void);
void mlids_free(struct mlids *m);

/*
 * The lowest free MLID below `limit` that was not given back lately; if there is none, the one
 * that was given back first.  MLID_NONE: all are in use.
 */
unsigned mlids_unused(const struct mlids *m, unsigned limit);
/* Marks an MLID as used, or as free again. */
void mlids_take(struct mlids *m, unsigned mlid);
void mlids_give_back(struct mlids *m, unsigned mlid);
/* Sets the signature of an MLID in use, which groups that may share it have in common, and its load. */
void mlids_describe(struct mlids *m, unsigned mlid, uint64_t signature, uint32_t members);
/* The MLID below `limit` with that signature and the fewest members; of several the lowest. */
unsigned mlids_to_share(const struct mlids *m, uint64_t signature, unsigned limit);

#endif
