/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `standbys` and `status` share: the list of other subnet managers. */
#ifndef QOSD_CTL_CMD_STANDBYS_H
#define QOSD_CTL_CMD_STANDBYS_H

#include "ctl/command.h"

/* The other subnet managers that a master sees, as an array; empty if this one is not master. */
json_t *json_standbys(const struct ctl_env *env, const struct ctl_view *v);

#endif
