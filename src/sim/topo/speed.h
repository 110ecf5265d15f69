/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Applies the speed of a cable as a bound to its two ports. */
#ifndef QOSD_SIM_TOPO_SPEED_H
#define QOSD_SIM_TOPO_SPEED_H

#include "fabric/dump/cable_speed.h"
#include "sim/net/model.h"

/* Bounds the port and its peer; leaves what s does not state unchanged. */
void cable_speed_apply(struct sim_fabric *f, uint32_t port, struct cable_speed s);

#endif
