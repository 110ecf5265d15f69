/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What devices do: their management agents (SMA, PMA, and a Device Management
 * agent on SRP targets), port states, and the traps that they send.
 */
#ifndef QOSD_SIM_DEV_DEVICE_H
#define QOSD_SIM_DEV_DEVICE_H

#include "lib/base/findings.h"
#include "sim/net/engine.h"
#include "sim/net/wire.h"

/* --- profiles (profile.c) --- */

struct profile_set;
/*
 * Reads a profile file (YAML): presets are built in, rules say which node gets
 * which, by glob of NodeDescription, GUID or type; the last one that matches.
 * path NULL: presets and defaults only.  NULL with errors in out if the file is
 * no good: unknown keys, values out of range, unknown presets, each with its place.
 */
struct profile_set *profiles_load(const char *path, const char *text, size_t n,
				  struct findings *out);
void profiles_free(struct profile_set *ps);
/* Names of the presets, NULL-terminated. */
const char *const *profile_presets(void);
/* Everything that matches no rule gets this preset. False if there is none of the name. */
bool profiles_set_default(struct profile_set *ps, const char *preset);
/* Gives every node its profile; the fabric owns copies. */
void profiles_apply(const struct profile_set *ps, struct sim_fabric *f);

/* --- devices from start to end (device.c, link.c, traps.c, mkey.c) --- */

/*
 * Makes what agents need and powers everything on: attributes as after reset,
 * links trained.  keep_lids: port 0 and CA ports keep the LIDs of the dump, as
 * those with ibsim's values do in any case.
 */
void devices_start(struct sim *s, bool keep_lids);
void devices_stop(struct sim *s);
/* Reset of a node: tables lost, PortInfo at its defaults, links retrained. No traps of its own. */
void device_reset(struct sim *s, uint32_t node);
void device_power(struct sim *s, uint32_t node, bool on);
/* It forwards, but its agents answer nothing, nor send traps. */
void device_set_silent(struct sim *s, uint32_t node, bool silent, bool hangs);
/* It lies (enum sim_lie bits), beside what its profile has it do; 0 ends that. */
void device_set_lies(struct sim *s, uint32_t node, unsigned lies);
/*
 * It refuses Sets (enum sim_refuses bits) with the status (0: that of its profile), beside what
 * its profile has it refuse; 0 ends that, and so do so many refusals, if times is not 0.
 */
void device_set_refuses(struct sim *s, uint32_t node, unsigned refuses, uint16_t status,
			uint32_t times);
unsigned refusal_by_name(const char *name);
const char *const *refusal_names(void);
/* A lie's bit by its name in profiles; 0: there is none. */
unsigned lie_by_name(const char *name);
const char *const *lie_names(void);
/*
 * Pulls or plugs the cable at both its ends.  Degrading it: speed and width bounds
 * (one bit, 0: none); the link goes down, and is trained within them.
 */
void cable_plug(struct sim *s, uint32_t port, bool plugged);
void cable_degrade(struct sim *s, uint32_t port, uint8_t width, uint8_t speed, uint8_t ext);
/*
 * A cable between two ports that have none, or whose cables are unplugged; those go.
 * False with the reason in err.
 */
bool cable_move(struct sim *s, uint32_t port_a, uint32_t port_b, struct buf *err);
/* Renames it, and sends trap 144 as a device does whose NodeDescription changed. */
void device_rename(struct sim *s, uint32_t node, const char *desc);
/* Sets the M_Key as another manager would (lease in seconds, protection bits 0..3). */
void device_set_mkey(struct sim *s, uint32_t port, uint64_t m_key, unsigned protect,
		     unsigned lease_s);
/*
 * The P_Key or Q_Key of a packet did not match: counted, and traps 257 and 258; at an
 * external port of a switch, which checks P_Keys only, 259.  For sim_hooks.bad_pkey.
 */
void device_bad_pkey(struct sim *s, uint32_t port, const struct packet *p);
void device_bad_qkey(struct sim *s, uint32_t port, const struct packet *p);
/* An Armed port has seen a data packet, and is Active (7.2.7). For sim_hooks.activate. */
void device_activate(struct sim *s, uint32_t port);
/*
 * A threshold of a port was passed, as trap says: 129 local link integrity, 130 buffer
 * overrun, 131 flow control.  Counted, and the trap sent.  False: no such trap.
 */
bool device_threshold(struct sim *s, uint32_t port, unsigned trap);
/* Another SystemImageGUID: trap 145. */
void device_set_system_guid(struct sim *s, uint32_t node, uint64_t guid);
/* IsSM of an end port: somebody holds its issm device. Trap 144. */
void device_set_issm(struct sim *s, uint32_t port, bool on);

/*
 * What an answer can tell falsely: the names, NULL behind the last one; the attribute that
 * it is about, 0: any.
 */
const char *falsehood_name(unsigned i);
uint16_t falsehood_attr(unsigned i);
/* An answer of the end port tells that.  For sim_hooks.falsify. */
void device_falsify(struct sim *s, uint32_t port, unsigned falsehood, struct packet *p);

/* For sim_hooks.arrive: SMA, PMA, DM; what none of them takes goes to hooks.host. */
void devices_receive(struct sim *s, uint32_t port, struct packet *p);

/*
 * As an SMP would, but behind everybody's back, with no M_Key and no counting:
 * method METHOD_GET or METHOD_SET, data 64 bytes in and out.  Returns the MAD status.
 */
unsigned device_smp(struct sim *s, uint32_t port, uint8_t method, uint16_t attr, uint32_t mod,
		    uint8_t data[64]);

#endif
