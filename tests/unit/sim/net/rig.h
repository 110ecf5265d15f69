/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds a small fabric without sim/dev: a row of switches, S0 - S1 - … , each
 * with one host.  All links are Active, LFTs follow the shortest paths, SL n is on
 * VL n, all P_Key tables hold 0xffff.  Packets that arrive are stored.
 */
#ifndef SIMNET_RIG_H
#define SIMNET_RIG_H

#include "sim/net/fault.h"
#include "sim/net/wire.h"

#define RIG_MAX		16
#define RIG_PORTS	8
#define PORT_HOST	1	/* of each switch: to its host */
#define PORT_PREV	7	/* … to the switch before */
#define PORT_NEXT	8	/* … to the one behind */
#define SW_LID(i)	((uint16_t)(1 + (i)))
#define HOST_LID(i)	((uint16_t)(0x20 + 4 * (i)))
#define LFT_CAP		256
#define MFT_CAP		8

struct rig {
	struct sim *s;
	struct sim_fabric *f;
	unsigned n;
	uint32_t sw[RIG_MAX];		/* nodes */
	uint32_t host[RIG_MAX];		/* end ports */
	bool answers;			/* an end port turns requests round and sends them back */
	VEC(struct arrival { uint32_t port; struct packet p; int64_t when_us; }) arrived;
	VEC(uint32_t) bad_pkeys;	/* ports for which the hook was called */
	VEC(uint32_t) activated;
};

/* Makes the fabric; there may be only one at a time. */
struct rig *rig_line(unsigned n);
void rig_free(struct rig *r);
/* Returns port num of switch i, and gives it a P_Key table if partitions are to be enforced. */
uint32_t rig_port(const struct rig *r, unsigned i, unsigned num);
struct sim_switch *rig_switch(struct rig *r, unsigned i);
/* Sets an entry of a switch's SL-to-VL table. */
void rig_sl2vl(struct rig *r, unsigned i, unsigned in, unsigned out, unsigned sl, unsigned vl);
void rig_pkey(struct rig *r, uint32_t port, uint16_t pkey);
/* Sets the ports of a multicast LID at switch i. */
void rig_mft(struct rig *r, unsigned i, uint16_t mlid, uint64_t ports);
/* Adds a cable, Active at both ends. */
void rig_cable(struct rig *r, uint32_t a, uint32_t b);

struct packet rig_smp(uint16_t dlid);	/* Get, LID-routed */
struct packet rig_gsi(uint16_t dlid, uint8_t sl);
/* Returns a Get by directed route along `count` ports. */
struct packet rig_dr(unsigned count, const uint8_t *path);
#define DR(...) rig_dr(sizeof((uint8_t[]){ __VA_ARGS__ }), (uint8_t[]){ __VA_ARGS__ })

/* Sends a packet from a port and runs the simulation. */
void rig_send(struct rig *r, uint32_t from, struct packet p);
uint64_t rig_dropped(const struct rig *r, enum drop_reason why);
uint64_t rig_dropped_all(const struct rig *r);

#endif
