/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lets engines check their own tables for cycles of channels (internal to routing/). */
#ifndef QOSD_ROUTING_VERIFY_H
#define QOSD_ROUTING_VERIFY_H

#include "routing/route.h"

/* Is there a cycle of channel dependencies when paths from and to switches count too? */
bool route_has_cycle(const struct route_request *r, const struct lfts *l);

#endif
