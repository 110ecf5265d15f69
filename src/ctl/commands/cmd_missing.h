/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `missing`, `health` and `status` share: texts and numbers about what is missing. */
#ifndef QOSD_CTL_CMD_MISSING_H
#define QOSD_CTL_CMD_MISSING_H

#include "ctl/command.h"
#include "events/missing.h"

/* {"switch": n, …, "dropped": n}: how many of each kind are missing; null if nobody keeps that. */
json_t *json_missing_counts(const struct missing *m);

#endif
