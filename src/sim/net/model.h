/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The simulated fabric as data: nodes, ports, cables, and what each device
 * holds.  Everybody reads it; a device's state is changed by sim/dev only
 * (and, as faults, by sim/ctl through sim/dev's functions).
 *
 * Attributes are kept in wire form (info[]), so that a Get is a copy; fields on
 * the way of every packet are kept decoded beside it, and port_sync() (sim/dev)
 * keeps both in step.
 *
 * Invariants: a node with n ports owns n + 1 consecutive port slots, port0 ..
 * port0 + n; slot 0 is a switch's port 0, unused on others.  peer is symmetric:
 * it says where the cable goes, whether or not it is plugged in.
 */
#ifndef QOSD_SIM_NET_MODEL_H
#define QOSD_SIM_NET_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/map64.h"
#include "sim/net/iba.h"

#define SIM_NONE UINT32_MAX

/*
 * What a kind of device can do, and how it behaves.  Codes as PortInfo has them
 * unless said.  Filled by sim/dev/profile.c; immutable once in use.
 */
struct sim_profile {
	char *name;
	uint32_t vendor_id;		/* 24 bits */
	uint16_t device_id;
	uint32_t revision;
	uint8_t vl_cap;			/* VLCap code 1..5 */
	uint8_t vlarb_high, vlarb_low;	/* entries: 0, 8, 32, 64 … */
	uint8_t mtu_cap;		/* code 1..5 */
	uint8_t widths, speeds, ext_speeds;	/* …Supported bits; ext_speeds of both groups */
	bool fdr10;			/* knows the vendor's ExtendedPortInfo (0xff90) */
	bool hides_speeds;		/* tells extended speeds only to SMSupportExtendedSpeeds */
	bool extended_active;		/* LinkSpeedActive is 0 at an extended speed, not QDR */
	uint16_t pkey_cap;		/* P_Key table entries of an end port */
	uint16_t enforce_cap;		/* switch: entries per external port, 0: no enforcement */
	uint8_t guid_cap;		/* GUIDInfo entries */
	uint8_t lmc_cap;		/* the highest LMC that an end port takes */
	bool refuses_lmc;		/* … and refuses a Set with a higher one, which it ignores else */
	bool congestion_control;	/* has an agent for it (sim/dev/cc.c) */
	bool adaptive;			/* switch: has AdaptiveRoutingInfo (sim/dev/adaptive.c) */
	uint16_t lft_cap;		/* LinearFDBCap, entries */
	uint16_t mft_cap;		/* MulticastFDBCap, entries */
	uint32_t capmask;		/* PortInfo.CapabilityMask without IsSM */
	uint16_t capmask2;
	bool enhanced_port0, optimized_sl2vl;
	uint8_t resp_time;		/* RespTimeValue and the like: code */
	uint32_t response_us, jitter_us;	/* delay of each answer, uniform within ± jitter */
	uint32_t smp_time_us, smp_forward_us;	/* its SMI takes for one for itself, one handed on */
	uint16_t smp_queue;		/* SMPs that may wait at a port, 0: any number */
	bool silent;			/* answers nothing */
	unsigned lies;			/* enum sim_lie bits */
	unsigned refuses;		/* enum sim_refuses bits: Sets that it answers … */
	uint16_t refuses_status;	/* … with this status; 0: STATUS_BAD_VALUE */
	bool plain_pma;			/* without the counters by VL and by SL */
	bool smi_apart;			/* hosts have a device with its SMI and one with its GSI */
	bool smi_disabled;		/* hosts have no SMI: a function of SR-IOV */
	bool ethernet;			/* hosts see a port of Ethernet, which has no SMI either */
	bool no_lid_smps;		/* LID-routed SMPs are not answered */
	bool srp_target;		/* a Device Management agent that offers an SRP service */
	bool ibsim;			/* values at power-on as stock ibsim has them */
	bool true_scale;		/* an adapter whose agent is that of sim/dev/true_scale.c */
};

enum sim_lie {
	LIE_KEEPS_TABLES = 1,	/* says good to Sets of LFT, SL2VL, VLArb, P_Key; keeps the old */
	LIE_KEEPS_PORTINFO = 2,	/* the same for PortInfo fields other than PortState and LID */
	LIE_WRONG_STATUS = 4,	/* answers good requests with STATUS_BAD_VALUE now and then */
	LIE_STALE_GET = 8,	/* a Get tells what was before the last Set */
	LIE_OPTIMIZED = 16,	/* says that it has optimized SL2VL programming, and refuses it */
	LIE_REFUSES_TABLES = 32,	/* answers Sets of those tables with STATUS_BAD_VALUE */
	LIE_KEEPS_MCAST_TOP = 64,	/* says good to another MulticastFDBTop; keeps the old */
	LIE_REFUSES_MCAST_TOP = 128,	/* answers such Sets of SwitchInfo with STATUS_BAD_VALUE */
	LIE_LOCAL_PORT = 256,		/* NodeInfo has a LocalPortNum beyond NumPorts */
	LIE_SILENT_PORT_0 = 512,		/* a switch does not answer PortInfo of its port 0 */
	LIE_SILENT_PKEYS = 1024,		/* … nor P_Key tables of its external ports */
};

/* Sets that a device answers with an error, and does not follow. */
enum sim_refuses {
	REFUSES_PORT_INFO = 1 << 0,
	REFUSES_PORT_STATE = 1 << 1,	/* PortInfo that asks for a state */
	REFUSES_MIXED_PORT_INFO = 1 << 2,	/* PortInfo that asks for a state and changes fields */
	REFUSES_SWITCH_INFO = 1 << 3,
	REFUSES_GUID_INFO = 1 << 4,
	REFUSES_PKEY_TABLE = 1 << 5,
	REFUSES_SL2VL = 1 << 6,
	REFUSES_VLARB = 1 << 7,
	REFUSES_LFT = 1 << 8,
	REFUSES_MFT = 1 << 9,
	REFUSES_ADAPTIVE = 1 << 10,	/* AdaptiveRoutingInfo and PrivateLFTInfo */
	REFUSES_PKEY_TABLE_0 = 1 << 11,	/* the P_Key table of a switch's port 0 */
};

#define SIM_COUNTER_VIEWS 21
/* Counters of a port, as wide as they can get; attributes saturate when they are read. */
struct sim_counters {
	uint64_t xmit_data, rcv_data;			/* units of 4 bytes */
	uint64_t xmit_pkts, rcv_pkts;
	uint64_t ucast_xmit, ucast_rcv, mcast_xmit, mcast_rcv;
	uint64_t symbol_errors, link_recovers, link_downed, rcv_errors, rcv_remote_physical;
	uint64_t rcv_switch_relay, xmit_discards, xmit_constraint, rcv_constraint;
	uint64_t local_integrity, buffer_overrun, vl15_dropped, xmit_wait, qp1_dropped;
	uint64_t vl_xmit_data[16], vl_rcv_data[16], vl_xmit_pkts[16], vl_rcv_pkts[16];
	uint64_t vl_xmit_wait[16];			/* ticks: packet times (full_load.c) */
	uint64_t sl_xmit_data[16], sl_rcv_data[16];	/* without VL15 */
	/* What resets through one attribute took off its own view of a counter (sim/dev/pma.c). */
	uint64_t taken[SIM_COUNTER_VIEWS];
};

struct sim_port {
	uint64_t guid;			/* of end ports; external ports of a switch: the node's */
	uint32_t node;
	uint32_t peer;			/* port at the other end of the cable, or SIM_NONE */
	uint8_t num;
	bool unplugged;			/* by a fault: the cable does not connect */
	bool disabled;			/* PortPhysicalState set to Disabled */
	/* The link as the cable can: the lower of what both ends and the cable (degraded) allow. */
	uint8_t cable_width, cable_speed, cable_ext;	/* one bit each; 0: no bound */
	bool cable_fdr10;
	/* Decoded from info by port_sync(). */
	uint8_t state;			/* SIM_PORT_… */
	uint8_t phys_state;
	uint8_t lmc;
	uint8_t op_vls;			/* OperationalVLs as a number of data VLs: 1, 2, 4, 8, 15 */
	uint8_t mtu;			/* NeighborMTU code */
	bool pkey_in, pkey_out;		/* partition enforcement of a switch's external port */
	uint16_t lid;			/* base LID of an end port; external ports: port 0's */
	uint16_t sm_lid;
	uint16_t mkey_violations, pkey_violations, qkey_violations;
	int64_t mkey_lease_end;		/* sim_now(); 0: no lease runs */
	uint32_t reregisters;		/* Sets that had ClientReregister */
	uint32_t taken_down;		/* Sets that took the port down when it was Active */
	uint8_t info[64];		/* PortInfo; of external ports, too */
	uint16_t n_pkeys;
	uint16_t *pkeys;		/* host byte order, membership in bit 15; NULL if there are none */
	uint8_t n_guids;
	uint64_t *guids;		/* GUIDInfo, [0] is guid; end ports */
	uint8_t arb_low[128], arb_high[128];	/* (VL, weight) x 64, wire form */
	uint8_t *sl2vl;			/* CA and router ports: 8 bytes, wire form */
	struct sim_counters *counters;	/* NULL: all zero */
	uint16_t smps_waiting;		/* for the SMI of the node (vl15.c) */
};

struct sim_switch {
	uint32_t node;
	uint8_t info[20];		/* SwitchInfo */
	uint16_t lft_top;		/* decoded LinearFDBTop; below lft_cap once lft is there */
	uint8_t *lft;			/* [lft_cap rounded up to 64] */
	uint8_t *adaptive_lft;		/* likewise; in force instead while adaptive routing is on, else NULL */
	bool no_fallback;		/* … which a Set of the linear table does not end */
	uint8_t *private_lft;		/* likewise, while private linear tables are on … */
	uint8_t private_mode;		/* … by this ActiveMode */
	uint8_t *sl2vl;			/* [(in * (nports + 1) + out) * 8], wire form; both 0..nports */
	/* [mft_cap], by MLID - 0xc000: bit n = port n; NULL until one is set */
	uint64_t (*mft)[4];
};

/* The table that a switch forwards by. */
static inline const uint8_t *switch_lft(const struct sim_switch *sw)
{
	return sw->private_lft ? sw->private_lft : sw->adaptive_lft ? sw->adaptive_lft : sw->lft;
}

struct sim_node {
	uint64_t guid, sysimg_guid;
	const struct sim_profile *profile;
	uint32_t port0;
	uint32_t sw;			/* place among the switches, or SIM_NONE */
	uint8_t type;			/* enum sim_node_type */
	uint8_t nports;
	bool off;			/* by a fault: no power, all its links down */
	bool silent;			/* by a fault: forwards, but its agents answer nothing */
	bool hangs;			/* … nor is any directed route passed on (only if silent) */
	unsigned lies;			/* by a fault: enum sim_lie bits, beside the profile's */
	unsigned refuses;		/* by a fault: enum sim_refuses bits, beside the profile's */
	uint16_t refuses_status;	/* … and the status; 0: the profile's */
	uint32_t refuses_times;		/* … only so often from now on; 0: always */
	bool enhanced_port0, base_port0;	/* as the topology says; neither: the profile's */
	uint32_t vendor_id;		/* profile's, or the topology's */
	uint16_t device_id;
	char id[24];			/* as the topology names it: "S-0002c9…", "H-…" */
	char desc[65];			/* NodeDescription */
	char given_desc[65];		/* … as at power-on */
	uint8_t info[40];		/* NodeInfo, but for LocalPortNum and PortGUID */
	int64_t smi_free_us;		/* when its SMI is through with what waits (vl15.c) */
};

struct sim_fabric {
	struct sim_node *nodes;
	struct sim_port *ports;
	struct sim_switch *switches;
	uint32_t n_nodes, n_ports, n_switches;
	struct map64 node_by_guid, port_by_guid;	/* end ports */
	VEC(struct sim_profile *) profiles;	/* owned */
	uint32_t cap_nodes, cap_ports, cap_switches;	/* building only */
};

/* --- building: new, add nodes, connect, then sim/dev's devices_power_on() --- */

struct sim_fabric *simfab_new(void);
void simfab_free(struct sim_fabric *f);

struct sim_node_spec {
	uint8_t type, nports;
	uint64_t guid, sysimg_guid;
	uint64_t port_guid[16];		/* CA and router ports 1..15; 0: guid + number */
	uint32_t vendor_id;		/* 0: the profile's */
	uint16_t device_id;
	const char *id, *desc;
	bool enhanced_port0, base_port0;	/* as a dump says; neither: the profile's */
};
/*
 * The node's index, or SIM_NONE with the reason in err (GUID taken, no ports, too
 * many).  Pointers into nodes, ports and switches die.
 */
uint32_t simfab_add_node(struct sim_fabric *f, const struct sim_node_spec *s, struct buf *err);
/* Puts a cable between two ports. False with the reason if either is taken, or there is none. */
bool simfab_connect(struct sim_fabric *f, uint32_t port_a, uint32_t port_b, struct buf *err);
/*
 * The same where cables may hang that are unplugged at the moment: they go, and the
 * new one knows no bounds of speed.  (A device's part of it: cable_move() of simdev.)
 */
bool simfab_reconnect(struct sim_fabric *f, uint32_t port_a, uint32_t port_b, struct buf *err);

/* --- looking --- */

static inline struct sim_node *node_of(const struct sim_fabric *f, uint32_t port)
{
	return &f->nodes[f->ports[port].node];
}

static inline bool is_switch(const struct sim_node *n)
{
	return n->type == SIM_SWITCH;
}

/* A port with a LID of its own: CA or router port, or port 0 of a switch. */
static inline bool is_end_port(const struct sim_fabric *f, uint32_t port)
{
	const struct sim_port *p = &f->ports[port];
	return is_switch(&f->nodes[p->node]) ? p->num == 0 : p->num != 0;
}

/* The port whose SMA answers for `port`: port 0 of its switch, or itself. */
static inline uint32_t sma_port(const struct sim_fabric *f, uint32_t port)
{
	const struct sim_node *n = node_of(f, port);
	return is_switch(n) ? n->port0 : port;
}

/* Cable in, both ends powered, not disabled: the link is up, physically. */
bool link_is_up(const struct sim_fabric *f, uint32_t port);

/*
 * A node by NodeDescription, GUID in hex (0x…), or id ("S-…", "H-…"); a port by
 * node and "/Pn" or "[n]", or the GUID of an end port.  A CA named without a port
 * means its first connected port; a switch, port 0.  SIM_NONE, with the reason in
 * err (unknown, or ambiguous).
 */
uint32_t find_node_by_text(const struct sim_fabric *f, const char *text, struct buf *err);
uint32_t find_port_by_text(const struct sim_fabric *f, const char *text, struct buf *err);
#define SIM_NAME_MAX 112
/* "NodeDescription/Pn"; returns out. */
char *sim_port_name(const struct sim_fabric *f, uint32_t port, char *out, unsigned n);

struct sim_counters *port_counters(struct sim_port *p);	/* made when first needed */

#endif
