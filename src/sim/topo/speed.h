/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Speeds of cables as the bounds that they put on their two ports. */
#ifndef QOSD_SIM_TOPO_SPEED_H
#define QOSD_SIM_TOPO_SPEED_H

#include "fabric/dump/cable_speed.h"
#include "sim/net/model.h"

/* Bounds the port and its peer; what is not said stays as it is. */
void cable_speed_apply(struct sim_fabric *f, uint32_t port, struct cable_speed s);

#endif
