/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Built-in kinds of devices, and a guess at the kind of each device of a topology. */
#ifndef QOSD_SIM_DEV_PRESETS_H
#define QOSD_SIM_DEV_PRESETS_H

#include "sim/net/fields.h"

/* Link speeds in order, for links of a topology and for the abilities of devices. */
enum link_speed {
	LINK_UNKNOWN, LINK_SDR, LINK_DDR, LINK_QDR, LINK_FDR10, LINK_FDR, LINK_EDR, LINK_HDR, LINK_NDR,
	LINK_XDR, LINK_SPEEDS
};
/* Their names, and their bits in LinkSpeed or LinkSpeedExt, both groups; FDR10 has a bit in neither. */
extern const struct link_speed_bits {
	const char *name;
	uint8_t speed, ext;
} link_speeds[LINK_SPEEDS];
/* Whether the device's ports support the speed; true for LINK_UNKNOWN. */
bool profile_runs(const struct sim_profile *p, enum link_speed speed);

#define PRESET_AUTO "auto"

/* NULL if there is no such preset for nodes of that type, and for PRESET_AUTO. */
const struct sim_profile *preset_find(const char *name, uint8_t type);
/*
 * The likely preset: the one that the device id denotes, if it supports the node's fastest link in
 * the topology; else the oldest generation that does; a modern one if nothing is known.
 */
const struct sim_profile *preset_guess(uint8_t type, uint16_t device_id, enum link_speed fastest);

#endif
