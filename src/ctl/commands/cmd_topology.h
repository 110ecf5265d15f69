/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `topology`, `health` and `status` share: how the fabric differs from what is expected. */
#ifndef QOSD_CTL_CMD_TOPOLOGY_H
#define QOSD_CTL_CMD_TOPOLOGY_H

#include "ctl/command.h"

/* What is expected, since when, and the numbers of differences by kind; null: nothing is expected. */
json_t *json_topology(const struct ctl_topology *t);
/* A difference as a sentence; the caller frees it. */
char *topology_finding_text(const struct topology_check *c, const struct expected_finding *y);

#endif
