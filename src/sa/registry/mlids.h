/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which MLID a new group gets: a free one, or, when there is none, the one whose groups have the
 * fewest members of those that it may share.  MLIDs are numbers from 0 (0xc000) to MLIDS - 1.
 *
 * Each answer and each change costs the logarithm of the number of MLIDs at most, however many
 * there are in use.
 */
#ifndef QOSD_SA_REGISTRY_MLIDS_H
#define QOSD_SA_REGISTRY_MLIDS_H

#include <stdint.h>

#include "lib/iba/iba.h"

#define MLIDS		IB_MLIDS
#define MLID_NONE	IB_MLIDS
/* An MLID that was given back is used again when so many others were given back after it. */
#define MLID_REUSE_AFTER 64

struct mlids;

struct mlids *mlids_new(void);
void mlids_free(struct mlids *m);

/*
 * The lowest below `limit` that may be used; if there is none, of those that were given back
 * lately the one that was first.  MLID_NONE: all are in use.
 */
unsigned mlids_unused(const struct mlids *m, unsigned limit);
/* Puts one into use, or back out of it. */
void mlids_take(struct mlids *m, unsigned mlid);
void mlids_give_back(struct mlids *m, unsigned mlid);
/* Of one in use: which groups may share it, by a number that they have in common, and its load. */
void mlids_describe(struct mlids *m, unsigned mlid, uint64_t signature, uint32_t members);
/* The one below `limit` with that signature and the fewest members, the lowest of several. */
unsigned mlids_to_share(const struct mlids *m, uint64_t signature, unsigned limit);

#endif
