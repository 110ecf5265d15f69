/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `missing`, `health` and `status` share: texts and numbers about what is missing. */
#ifndef QOSD_CTL_CMD_MISSING_H
#define QOSD_CTL_CMD_MISSING_H

#include "ctl/command.h"
#include "events/missing.h"

/* {"switch": n, …, "dropped": n}: how many of each kind are missing; null if nobody keeps that. */
json_t *json_missing_counts(const struct missing *m);
/*
 * The port that an end of a missing link is linked to in f now: somebody has put a cable there, perhaps
 * the one that is missing.  FABRIC_NONE: the item is no missing link, or the port has no link.
 */
uint32_t missing_linked_to(const struct missing_item *x, const struct missing_end *e, const struct fabric *f);

#endif
