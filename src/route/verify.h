/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the engines themselves ask of the verdict (internal to route/). */
#ifndef QOSD_ROUTE_VERIFY_H
#define QOSD_ROUTE_VERIFY_H

#include "route/route.h"

/* Is there a circle of channels when paths from and to switches count too? */
bool route_has_circle(const struct route_request *r, const struct lfts *l);

#endif
