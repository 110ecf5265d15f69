/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The simulated fabric as data, with nodes, ports, cables and the state of each device.
 *
 * All parts may read it; only sim/dev changes a device's state (sim/ctl calls sim/dev's functions
 * to inject faults).
 *
 * Attributes are kept in wire form (info[]), so that a Get is a copy.  Fields that every packet
 * needs are kept decoded as well, and port_sync() (sim/dev) keeps both in step.
 *
 * Invariants: a node with n ports owns n + 1 consecutive port slots, port0 .. port0 + n; slot 0 is
 * a switch's port 0, and unused for other nodes. peer is symmetric: it says where the cable goes,
 * whether or not it is plugged in.
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
 * Abilities and behaviour of a kind of device.  Codes are those of PortInfo unless stated.  Filled
 * in by sim/dev/profile.c; immutable once in use.
 */
struct sim_profile {
	char *name;
	uint32_t vendor_id;		/* 24 bits */
	uint16_t device_id;
	uint32_t revision;
	uint8_t vl_cap;			/* VLCap code 1..5 */
	uint8_t vlarb_high, vlarb_low;	/* entries of the tables: 0, 8, 32, 64 … */
	uint8_t mtu_cap;		/* code 1..5 */
	uint8_t widths, speeds, ext_speeds;	/* …Supported bits; ext_speeds covers both groups */
	bool fdr10;			/* supports the vendor's ExtendedPortInfo (0xff90) */
	bool hides_speeds;		/* shows extended speeds only to requests with
					 * SMSupportExtendedSpeeds */
	bool extended_active;		/* LinkSpeedActive is 0 at an extended speed, not QDR */
	uint16_t pkey_cap;		/* P_Key table entries of an end port */
	uint16_t enforce_cap;		/* switch: P_Key entries per external port; 0: no enforcement */
	uint8_t guid_cap;		/* GUIDInfo entries */
	uint8_t lmc_cap;		/* highest LMC that an end port accepts */
	bool refuses_lmc;		/* refuses a Set with a higher LMC instead of ignoring that LMC */
	bool registers;			/* has the vendor's registers (sim/dev/registers.c) */
	uint8_t module;			/* enum module_kind: what is in its ports */
	bool congestion_control;	/* has a congestion control agent (sim/dev/cc.c) */
	bool adaptive;			/* switch: has AdaptiveRoutingInfo (sim/dev/adaptive.c) */
	uint16_t lft_cap;		/* LinearFDBCap, entries */
	uint16_t mft_cap;		/* MulticastFDBCap, entries */
	uint32_t capmask;		/* PortInfo.CapabilityMask without IsSM */
	uint16_t capmask2;
	bool enhanced_port0, optimized_sl2vl;
	uint8_t resp_time;		/* RespTimeValue code */
	uint32_t response_us, jitter_us;	/* delay of each answer: uniform in response ± jitter */
	uint32_t smp_time_us, smp_forward_us;	/* time that its SMI takes for an SMP for itself, and for
						 * one that it forwards */
	uint16_t smp_queue;		/* SMPs that may wait at a port; 0: no limit */
	bool silent;			/* answers nothing */
	unsigned lies;			/* enum sim_lie bits */
	unsigned refuses;		/* enum sim_refuses bits: Sets that it refuses */
	uint16_t refuses_status;	/* status of refusals; 0: STATUS_BAD_VALUE */
	bool plain_pma;			/* lacks the counters by VL and by SL */
	bool narrow_pma;		/* has error counters of 4 to 32 bits only */
	bool smi_apart;			/* hosts see a device with its SMI and another with its GSI */
	bool smi_disabled;		/* hosts see no SMI, as for an SR-IOV function */
	bool ethernet;			/* hosts see an Ethernet port, which has no SMI either */
	bool no_lid_smps;		/* does not answer LID-routed SMPs */
	bool srp_target;		/* has a Device Management agent that offers an SRP service */
	bool ibsim;			/* power-on values of stock ibsim */
	bool true_scale;		/* uses the agent of sim/dev/true_scale.c */
};

enum sim_lie {
	LIE_KEEPS_TABLES = 1,	/* confirms Sets of LFT, SL2VL, VLArb, P_Key, but keeps the old values */
	LIE_KEEPS_PORTINFO = 2,	/* does the same for PortInfo fields other than PortState and LID */
	LIE_WRONG_STATUS = 4,	/* now and then answers good requests with STATUS_BAD_VALUE */
	LIE_STALE_GET = 8,	/* answers a Get with the value before the last Set */
	LIE_OPTIMIZED = 16,	/* announces optimized SL2VL programming, but refuses it */
	LIE_REFUSES_TABLES = 32,	/* refuses Sets of those tables with STATUS_BAD_VALUE */
	LIE_KEEPS_MCAST_TOP = 64,	/* confirms another MulticastFDBTop, but keeps the old one */
	LIE_REFUSES_MCAST_TOP = 128,	/* refuses such Sets of SwitchInfo with STATUS_BAD_VALUE */
	LIE_LOCAL_PORT = 256,		/* NodeInfo has a LocalPortNum greater than NumPorts */
	LIE_SILENT_PORT_0 = 512,		/* a switch does not answer PortInfo of its port 0 */
	LIE_SILENT_PKEYS = 1024,		/* a switch does not answer P_Key tables of its external
						 * ports */
};

/* Sets that a device refuses: it answers with an error and changes nothing. */
enum sim_refuses {
	REFUSES_PORT_INFO = 1 << 0,
	REFUSES_PORT_STATE = 1 << 1,	/* PortInfo that requests a state */
	REFUSES_MIXED_PORT_INFO = 1 << 2,	/* PortInfo that requests a state and changes fields */
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
/* Counters of a port as 64-bit numbers; attributes saturate when they are read. */
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
	/* Parts of counters that single attributes no longer show after a reset (sim/dev/pma.c). */
	uint64_t taken[SIM_COUNTER_VIEWS];
};

struct sim_port {
	uint64_t guid;			/* PortGUID of an end port; an external port of a switch has the
					 * node's */
	uint32_t node;
	uint32_t peer;			/* port at the other end of the cable, or SIM_NONE */
	uint8_t num;
	bool unplugged;			/* set by a fault: the cable does not connect */
	bool disabled;			/* PortPhysicalState was set to Disabled */
	/*
	 * Speed of the cable.  The link runs at what both ends and the (perhaps degraded) cable
	 * allow.
	 */
	uint8_t cable_width, cable_speed, cable_ext;	/* one bit each; 0: no bound */
	bool cable_fdr10;
	/* decoded from info by port_sync() */
	uint8_t state;			/* SIM_PORT_… */
	uint8_t phys_state;
	uint8_t lmc;
	uint8_t op_vls;			/* OperationalVLs as a number of data VLs: 1, 2, 4, 8, 15 */
	uint8_t mtu;			/* NeighborMTU code */
	bool pkey_in, pkey_out;		/* whether an external port of a switch enforces partitions */
	uint16_t lid;			/* base LID of an end port; external ports: port 0's */
	uint16_t sm_lid;
	uint16_t mkey_violations, pkey_violations, qkey_violations;
	int64_t mkey_lease_end;		/* in sim_now()'s time; 0: no lease runs */
	uint32_t reregisters;		/* number of Sets with ClientReregister */
	uint32_t taken_down;		/* number of Sets that took the port down while it was Active */
	uint8_t info[64];		/* PortInfo; external ports have one, too */
	uint16_t n_pkeys;
	uint16_t *pkeys;		/* host byte order, membership in bit 15; NULL if the port has none */
	uint8_t n_guids;
	uint64_t *guids;		/* GUIDInfo of an end port; [0] equals guid */
	uint8_t arb_low[128], arb_high[128];	/* (VL, weight) x 64, wire form */
	uint8_t *sl2vl;			/* CA and router ports: 8 bytes, wire form */
	struct sim_counters *counters;	/* NULL: all zero */
	uint16_t smps_waiting;		/* number of SMPs that wait for the node's SMI (vl15.c) */
};

struct sim_switch {
	uint32_t node;
	uint8_t info[20];		/* SwitchInfo */
	uint16_t lft_top;		/* decoded LinearFDBTop; below lft_cap once lft is allocated */
	uint8_t *lft;			/* [lft_cap rounded up to 64] */
	uint8_t *adaptive_lft;		/* same size; used instead while adaptive routing is on, else NULL */
	bool no_fallback;		/* a Set of the linear table does not end adaptive routing */
	uint8_t *private_lft;		/* same size; used instead while private linear tables are on */
	uint8_t private_mode;		/* ActiveMode of the private linear tables */
	uint8_t *sl2vl;			/* [(in * (nports + 1) + out) * 8], wire form; both 0..nports */
	/* [mft_cap], by MLID - 0xc000: bit n = port n; NULL until an entry is set */
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
	uint32_t sw;			/* index among the switches, or SIM_NONE */
	uint8_t type;			/* enum sim_node_type */
	uint8_t nports;
	bool off;			/* no power, all links down (device_power(), device_drive()) */
	bool switched_off;		/* set by a fault, or because its virtual machine has ended */
	bool driven;			/* belongs to a driver in a virtual machine (sim/hca) */
	bool started;			/* by that driver; it has no power before that */
	bool silent;			/* set by a fault: forwards, but its agents answer nothing */
	bool hangs;			/* also forwards no directed route SMP (only if silent) */
	unsigned lies;			/* set by a fault: enum sim_lie bits, in addition to the profile's */
	unsigned refuses;		/* set by a fault: enum sim_refuses bits, in addition to the
					 * profile's */
	uint16_t refuses_status;	/* status of these refusals; 0: the profile's */
	uint32_t refuses_times;		/* number of refusals left; 0: no limit */
	uint32_t register_denials;	/* set by a fault: requests for registers that get a status instead, */
	uint8_t register_status;	/* that of the operation TLV */
	bool enhanced_port0, base_port0;	/* as the topology states; neither: as the profile states */
	uint32_t vendor_id;		/* from the profile or the topology */
	uint16_t device_id;
	char id[24];			/* name in the topology: "S-0002c9…", "H-…" */
	char desc[65];			/* NodeDescription */
	char given_desc[65];		/* NodeDescription at power-on */
	uint8_t info[40];		/* NodeInfo, except LocalPortNum and PortGUID */
	int64_t smi_free_us;		/* time at which its SMI has finished all that waits (vl15.c) */
};

struct sim_fabric {
	struct sim_node *nodes;
	struct sim_port *ports;
	struct sim_switch *switches;
	uint32_t n_nodes, n_ports, n_switches;
	struct map64 node_by_guid, port_by_guid;	/* port_by_guid: end ports only */
	VEC(struct sim_profile *) profiles;	/* owned */
	uint32_t cap_nodes, cap_ports, cap_switches;	/* allocated sizes, for building */
};

/* --- building: new, add nodes, connect, then sim/dev's devices_start() --- */

struct sim_fabric *simfab_new(void);
void simfab_free(struct sim_fabric *f);

struct sim_node_spec {
	uint8_t type, nports;
	uint64_t guid, sysimg_guid;
	uint64_t port_guid[16];		/* of CA and router ports 1..15; 0: guid + number */
	uint32_t vendor_id;		/* 0: the profile's */
	uint16_t device_id;
	const char *id, *desc;
	bool enhanced_port0, base_port0;	/* as a dump states; neither: as the profile states */
};
/*
 * Adds a node.  Returns its index, or SIM_NONE with the reason in err (GUID taken, no ports, too
 * many).  Invalidates pointers into nodes, ports and switches.
 */
uint32_t simfab_add_node(struct sim_fabric *f, const struct sim_node_spec *s, struct buf *err);
/* Puts a cable between two ports.  False, with the reason, if either is taken or does not exist. */
bool simfab_connect(struct sim_fabric *f, uint32_t port_a, uint32_t port_b, struct buf *err);
/*
 * The same for ports that may have unplugged cables, which are removed; the new cable has no speed
 * limit. (sim/dev's cable_move() does the devices' part.)
 */
bool simfab_reconnect(struct sim_fabric *f, uint32_t port_a, uint32_t port_b, struct buf *err);

/* --- queries --- */

static inline struct sim_node *node_of(const struct sim_fabric *f, uint32_t port)
{
	return &f->nodes[f->ports[port].node];
}

static inline bool is_switch(const struct sim_node *n)
{
	return n->type == SIM_SWITCH;
}

/* The first port that a node has: port 0 of a switch, port 1 of another node. */
static inline uint32_t first_port(const struct sim_node *n)
{
	return n->port0 + !is_switch(n);
}

/* A port with a LID of its own: CA or router port, or port 0 of a switch. */
static inline bool is_end_port(const struct sim_fabric *f, uint32_t port)
{
	const struct sim_port *p = &f->ports[port];
	return is_switch(&f->nodes[p->node]) ? p->num == 0 : p->num != 0;
}

/* Whether the LID is one of the port's, path bits included (3.5.10). */
static inline bool port_has_lid(const struct sim_port *p, uint32_t lid)
{
	return p->lid && lid >= p->lid && (lid - p->lid) >> p->lmc == 0;
}

/* The port whose SMA answers for `port`: port 0 of its switch, or the port itself. */
static inline uint32_t sma_port(const struct sim_fabric *f, uint32_t port)
{
	const struct sim_node *n = node_of(f, port);
	return is_switch(n) ? n->port0 : port;
}

/* Whether the link is physically up: cable plugged in, both ends powered, not disabled. */
bool link_is_up(const struct sim_fabric *f, uint32_t port);

/*
 * Finds a node by NodeDescription, GUID in hex (0x…), or id ("S-…", "H-…"); a port by node and
 * "/Pn" or "[n]", or by the GUID of an end port.  A CA without a port means its first connected
 * port, a switch its port 0.  SIM_NONE, with the reason in err, if the name is unknown or
 * ambiguous.
 */
uint32_t find_node_by_text(const struct sim_fabric *f, const char *text, struct buf *err);
uint32_t find_port_by_text(const struct sim_fabric *f, const char *text, struct buf *err);
#define SIM_NAME_MAX 112
/* Writes "NodeDescription/Pn" to out; returns out. */
char *sim_port_name(const struct sim_fabric *f, uint32_t port, char *out, unsigned n);

struct sim_counters *port_counters(struct sim_port *p);	/* allocated on first use */
/* Packets of one kind, and their size in all, in units of 4 bytes. */
struct sim_traffic {
	uint64_t packets, words;
	uint8_t vl, sl;
	bool multicast;
};
/* Counts packets that a port sends or (xmit false) receives. */
void port_count(struct sim_port *p, bool xmit, const struct sim_traffic *t);

#endif
