/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices with their management agents, port states and traps.
 *
 * The agents are the SMA, the PMA, a Device Management agent on SRP targets, and a congestion
 * control agent if the profile has one.
 */
#ifndef QOSD_SIM_DEV_DEVICE_H
#define QOSD_SIM_DEV_DEVICE_H

#include "lib/base/findings.h"
#include "sim/net/engine.h"
#include "sim/net/wire.h"

/* --- profiles (profile.c) --- */

struct profile_set;
/*
 * Reads a profile file (YAML).  Presets are built in; rules give them to nodes by glob of
 * NodeDescription, by GUID or by type, and the last rule that matches counts. path NULL: presets
 * and defaults only.  NULL with errors in out if the file is invalid (unknown keys, values out of
 * range, unknown presets), each with its place.
 */
struct profile_set *profiles_load(const char *path, const char *text, size_t n,
				  struct findings *out);
void profiles_free(struct profile_set *ps);
/* Names of the presets, "auto" first; NULL after the last. */
const char *preset_name(unsigned i);
/* Sets the preset of all nodes that match no rule.  False if there is no preset of that name. */
bool profiles_set_default(struct profile_set *ps, const char *preset);
/* Gives every node its profile; the fabric owns copies. */
void profiles_apply(const struct profile_set *ps, struct sim_fabric *f);

/* --- devices from start to end (device.c, link.c, traps.c, mkey.c) --- */

/*
 * Allocates what agents need and powers everything on: attributes as after a reset, links trained.
 * keep_lids: port 0 and CA ports keep the LIDs of the dump; nodes with ibsim's values keep them in
 * any case.
 */
void devices_start(struct sim *s, bool keep_lids);
void devices_stop(struct sim *s);
/*
 * Resets a node: clears its tables, sets PortInfo to its defaults, and retrains its links.  The
 * reset itself sends no traps.  IsSM stays as a host has set it.  If the node has a driver, so do the
 * NodeDescription and all other capabilities that are the host's: a real driver notices the reset, starts the
 * adapter anew, and the host says the same of itself again.
 */
void device_reset(struct sim *s, uint32_t node);
/* Switches a node on or off.  On, it has no power as long as it waits for its driver's start. */
void device_power(struct sim *s, uint32_t node, bool on);
/*
 * Gives a CA to a driver: it loses power until device_start().  Or takes it back: it stays switched
 * off until device_power().
 */
void device_drive(struct sim *s, uint32_t node, bool driven);
/*
 * The driver of a CA resets and powers it (a switched-off CA later), or powers it off.  A reset by the driver
 * also ends what the host has said of itself.
 */
void device_start(struct sim *s, uint32_t node, bool on);
/* Makes the device silent: it forwards, but its agents answer nothing and send no traps. */
void device_set_silent(struct sim *s, uint32_t node, bool silent, bool hangs);
/* Makes the device lie (enum sim_lie bits), in addition to its profile; 0 ends that. */
void device_set_lies(struct sim *s, uint32_t node, unsigned lies);
/*
 * Makes the device refuse Sets (enum sim_refuses bits) with the status (0: that of its profile), in
 * addition to its profile. 0 ends that, and so do `times` refusals if times is not 0.
 */
void device_set_refuses(struct sim *s, uint32_t node, unsigned refuses, uint16_t status,
			uint32_t times);
/* Names of these bits in profiles, from bit 0 on; NULL after the last. */
const char *refusal_name(unsigned i);
const char *lie_name(unsigned i);
/*
 * Unplugs or plugs the cable at both its ends.  Degrading bounds its speed and width (one bit each;
 * 0: no bound): the link goes down and retrains within the bounds.
 */
void cable_plug(struct sim *s, uint32_t port, bool plugged);
void cable_degrade(struct sim *s, uint32_t port, uint8_t width, uint8_t speed, uint8_t ext);
/*
 * Connects two ports that have no cable, or unplugged ones, which are removed.  False with the
 * reason in err.
 */
bool cable_move(struct sim *s, uint32_t port_a, uint32_t port_b, struct buf *err);
/* Changes the NodeDescription, and sends trap 144 as a real device does. */
void device_rename(struct sim *s, uint32_t node, const char *desc);
/* Sets the M_Key as another manager would (lease in seconds, protection bits 0..3). */
void device_set_mkey(struct sim *s, uint32_t port, uint64_t m_key, unsigned protect,
		     unsigned lease_s);
/*
 * The P_Key or Q_Key of a packet did not match: counts it and sends trap 257 or 258, or 259 at an
 * external port of a switch, which checks only P_Keys.  For sim_hooks.bad_pkey.
 */
void device_bad_pkey(struct sim *s, uint32_t port, const struct packet *p);
void device_bad_qkey(struct sim *s, uint32_t port, const struct packet *p);
/* An Armed port received a data packet and becomes Active (7.2.7).  For sim_hooks.activate. */
void device_activate(struct sim *s, uint32_t port);
/*
 * A port exceeded the threshold that `trap` reports: 129 local link integrity, 130 buffer overrun,
 * 131 flow control.  Counts it and sends the trap.  False if trap is none of these.
 */
bool device_threshold(struct sim *s, uint32_t port, unsigned trap);
/* Changes the SystemImageGUID and sends trap 145. */
void device_set_system_guid(struct sim *s, uint32_t node, uint64_t guid);
/* Sets IsSM of an end port, as when a program holds its issm device, and sends trap 144. */
void device_set_issm(struct sim *s, uint32_t port, bool on);
/*
 * Sets, then clears bits of an end port's CapabilityMask (14.2.5.6), and sends trap 144.  Ignores
 * bits other than those that hosts may change.
 */
void device_set_capabilities(struct sim *s, uint32_t port, uint32_t set, uint32_t clear);

/*
 * Ways to falsify an answer: their names, NULL after the last, and the attribute that each applies
 * to; 0: any.
 */
const char *falsehood_name(unsigned i);
uint16_t falsehood_attr(unsigned i);
/* Falsifies an answer of the end port in that way.  For sim_hooks.falsify. */
void device_falsify(struct sim *s, uint32_t port, unsigned falsehood, struct packet *p);

/*
 * Passes a packet to the SMA, PMA, Device Management or congestion control agent; one that none of
 * them takes goes to hooks.host.  For sim_hooks.arrive.
 */
void devices_receive(struct sim *s, uint32_t port, struct packet *p);

enum device_verdict {
	DEVICE_NOT_MINE,	/* no agent of the device takes it */
	DEVICE_ANSWERED,	/* the packet is the answer now, headers included */
	DEVICE_CONSUMED,	/* an agent took it, and does not answer */
};
/*
 * Has the agents perform a request that arrived at the port, but leaves it to the caller to send the
 * answer.  trusted: the SMA asks for no M_Key.
 */
enum device_verdict device_ask(struct sim *s, uint32_t port, struct packet *p, bool trusted);

/*
 * Performs a Get or Set (METHOD_GET, METHOD_SET) like an SMP, but without network, M_Key or
 * counting; data is 64 bytes in and out.  Returns the MAD status.
 */
unsigned device_smp(struct sim *s, uint32_t port, uint8_t method, uint16_t attr, uint32_t mod,
		    uint8_t data[64]);

#endif
