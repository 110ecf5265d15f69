/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Transceivers and cables in ports, with the memory that they show to their device.
 *
 * A port has a module while a cable is plugged in.  Its kind is the profile's until a command sets another; its serial
 * number tells it from all others.  Values and flags are kept in the units and positions of the maps (SFF-8636, CMIS).
 * Flags are latched: reading clears those whose value is within the thresholds again.
 */
#ifndef QOSD_SIM_DEV_MODULE_H
#define QOSD_SIM_DEV_MODULE_H

#include "sim/net/engine.h"

#define MODULE_LANES 8

enum module_kind {
	MODULE_AUTO,		/* optics of the port's greatest speed */
	MODULE_NONE,		/* an empty cage */
	MODULE_COPPER,		/* a passive cable, which measures nothing */
	MODULE_QSFP28,		/* optics with the map of SFF-8636 */
	MODULE_OSFP,		/* optics with the map of CMIS */
	MODULE_KINDS
};

enum module_value { MODULE_TEMPERATURE, MODULE_VOLTAGE, MODULE_RX_POWER, MODULE_TX_POWER, MODULE_BIAS, MODULE_VALUES };

struct module;

/* "auto", "none" …; NULL after the last. */
const char *module_kind_name(unsigned i);
/* "temperature", "voltage", "rx-power", "tx-power", "bias"; NULL after the last. */
const char *module_value_name(unsigned i);

/* The kind of the module that is in the port now; MODULE_NONE if no cable is. */
enum module_kind module_in(const struct sim *s, uint32_t port);
/* Lanes of its map: 4 or 8. */
unsigned module_lanes(enum module_kind kind);
/* Puts another module into the port; MODULE_AUTO: of the profile's kind. */
void module_replace(struct sim *s, uint32_t port, enum module_kind kind);
/*
 * Sets a value of the module: degrees Celsius, volts, milliwatts or milliamperes; of a lane, or of all lanes
 * (MODULE_LANES).  False if the map cannot show it.
 */
bool module_set(struct sim *s, uint32_t port, enum module_value v, unsigned lane, double value);
double module_get(struct sim *s, uint32_t port, enum module_value v, unsigned lane);
/*
 * Reads n bytes of the module's memory, from offset (0..255) of a page on, and clears the flags among them.  False if
 * there is no such page.
 */
bool module_read(struct sim *s, uint32_t port, unsigned page, unsigned offset, unsigned n, uint8_t *out);
/* Frees what is kept of the port's module. */
void module_forget(struct sim *s, uint32_t port);

#endif
