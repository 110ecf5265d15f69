/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Built-in kinds of devices, and a guess at the kind of each device of a topology. */
#ifndef QOSD_SIM_DEV_PRESETS_H
#define QOSD_SIM_DEV_PRESETS_H

#include "sim/net/model.h"

/* PortInfo.CapabilityMask (14.2.5.6): bits that a profile determines. */
enum {
	CAP_TRAP = 1 << 3, CAP_AUTO_MIGRATION = 1 << 5, CAP_SL_MAPPING = 1 << 6, CAP_LED = 1 << 9,
	CAP_SYSTEM_GUID = 1 << 11, CAP_EXT_SPEEDS = 1 << 14, CAP_MASK2 = 1 << 15,
	CAP_COMM_MGMT = 1 << 16, CAP_DEVICE_MGMT = 1 << 19, CAP_VENDOR_CLASS = 1 << 20,
	CAP_MASK_NOTICE = 1 << 22, CAP_CLIENT_REREGISTER = 1 << 25, CAP_LOCAL_CHANGES = 1 << 26,
	CAP_MCAST_FDB_TOP = 1 << 30,
};
/* PortInfo.CapabilityMask2 */
enum {
	CAP2_WIDTH_2X = 1 << 4, CAP2_HDR = 1 << 5, CAP2_NDR = 1 << 10, CAP2_EXT_SPEEDS_2 = 1 << 11,
	CAP2_XDR = 1 << 12,
};

/* Link speeds in order, for links of a topology and for the abilities of devices. */
enum link_speed {
	LINK_UNKNOWN, LINK_SDR, LINK_DDR, LINK_QDR, LINK_FDR10, LINK_FDR, LINK_EDR, LINK_HDR, LINK_NDR,
	LINK_XDR, LINK_SPEEDS
};
extern const char *const link_speed_names[LINK_SPEEDS];
/* Whether the device's ports support the speed; true for LINK_UNKNOWN. */
bool profile_runs(const struct sim_profile *p, enum link_speed speed);

#define PRESET_AUTO "auto"

/* NULL-terminated, PRESET_AUTO first. */
extern const char *const preset_names[];
/* NULL if there is no such preset for nodes of that type, and for PRESET_AUTO. */
const struct sim_profile *preset_find(const char *name, uint8_t type);
/*
 * The likely preset: the one that the device id denotes, if it supports the node's fastest link in
 * the topology; else the oldest generation that does; a modern one if nothing is known.
 */
const struct sim_profile *preset_guess(uint8_t type, uint16_t device_id, enum link_speed fastest);

#endif
