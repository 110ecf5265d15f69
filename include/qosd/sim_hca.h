/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory that the simulator's HCA (src/sim/hca) shares with its Linux driver (kernel/simhca).
 *
 * An HCA of a virtual machine is a PCI device: QEMU's ivshmem-doorbell, whose BAR 2 is this memory.
 * The memory begins with a struct simhca_header; two rings of bytes follow, one in each direction.
 * Each side rings the other's doorbell, vector 0, after it has written frames or, where the other
 * side may wait for room, read some.  All numbers are little-endian except those inside MADs and
 * packets.
 *
 * The HCA is the hardware and its firmware: port states, tables, counters, management agents, traps.
 * The driver owns queue pairs, completions and memory.  It powers the HCA by SIMHCA_START and asks
 * the agents by SIMHCA_MAD.  Packets are those of the link without their CRCs: LRH [GRH] BTH …
 *
 * Both sides check every frame that they read: a driver must survive a broken HCA, and the
 * simulator a hostile guest.
 */
#ifndef QOSD_SIM_HCA_H
#define QOSD_SIM_HCA_H

#include <linux/types.h>

#define SIMHCA_MAGIC	0x3141434853444f51ULL	/* "QODSHCA1" in memory */
#define SIMHCA_VERSION	1
#define SIMHCA_PORTS_MAX 15
#define SIMHCA_MEMORY	(1u << 20)	/* bytes: header page and both rings */
#define SIMHCA_RING_SIZE (256u << 10)	/* bytes of a ring's data; a power of two */
#define SIMHCA_TO_HCA	4096u		/* offset of the struct simhca_ring that the driver writes to */
#define SIMHCA_TO_DRIVER (SIMHCA_TO_HCA + 128u + SIMHCA_RING_SIZE)	/* of the other one */

struct simhca_header {			/* written by the HCA before the driver can see it */
	__u64 magic;
	__u32 version;
	__u32 hca;			/* the HCA's number as an ivshmem peer, for the doorbell */
	__u32 n_ports;			/* 1 .. SIMHCA_PORTS_MAX */
	__u32 reserved;
	__u64 node_guid, system_guid;
	__u64 port_guid[SIMHCA_PORTS_MAX];	/* of port n at n - 1 */
};

/*
 * A ring: `written` and `read` count bytes for ever, modulo 2^32; each is written by one side only.
 * The bytes in [read, written) are whole frames, each at a multiple of eight; a frame that meets the
 * end of data[] goes on at its beginning.
 */
struct simhca_ring {
	__u32 written;
	__u32 reserved[15];
	__u32 read;
	__u32 reserved2[15];
	__u8 data[SIMHCA_RING_SIZE];
};

struct simhca_frame {
	__u32 length;			/* bytes after this header; padded to a multiple of eight */
	__u8 kind;			/* enum simhca_kind */
	__u8 port;			/* 1 .. n_ports, unless the kind says otherwise */
	__u16 flags;
	__u64 id;			/* SIMHCA_MAD, SIMHCA_ANSWER: chosen by the driver */
};

enum simhca_kind {
	/* both directions: a packet as above */
	SIMHCA_PACKET = 1,
	/* driver to HCA */
	SIMHCA_START,		/* port 0: resets the HCA and powers it; it forgets all that was under way */
	SIMHCA_STOP,		/* port 0: powers the HCA off: its links go down */
	SIMHCA_MAD,		/* a struct simhca_mad for the port's agents, answered by SIMHCA_ANSWER */
	SIMHCA_CAPABILITIES,	/* a struct simhca_capabilities: bits of CapabilityMask to change */
	SIMHCA_DESCRIPTION,	/* port 0: 64 bytes, the node's new NodeDescription */
	SIMHCA_BAD_QKEY,	/* the start of a packet with a wrong Q_Key, as it came: counted, trap 258 */
	/* HCA to driver */
	SIMHCA_ANSWER,		/* to the SIMHCA_MAD of that id; flags: enum simhca_answer */
	SIMHCA_EVENT,		/* flags: enum simhca_event bits, what has changed at the port */
};

#define SIMHCA_MAD_SIZE	256

/* flags of SIMHCA_MAD */
#define SIMHCA_TRUSTED	1	/* from the driver or its host: the agent asks for no M_Key */

struct simhca_mad {
	__u32 source_qp;		/* where it came from; 0 and LID 0: from this host */
	__u16 source_lid;
	__u16 pkey;			/* QP1: its P_Key */
	__u8 sl;
	__u8 by_cable;			/* it came over the link */
	__u8 reserved[6];
	__u8 mad[SIMHCA_MAD_SIZE];
};

/* flags of SIMHCA_ANSWER */
enum simhca_answer {
	SIMHCA_NOT_MINE,	/* no agent of the HCA takes it: it is for the host's agents */
	SIMHCA_REPLY,		/* the answer, SIMHCA_MAD_SIZE bytes, follows */
	SIMHCA_CONSUMED,	/* an agent took it and does not answer */
};

struct simhca_capabilities {
	__u32 set, clear;
};

enum simhca_event {
	SIMHCA_STATE_CHANGED = 1,	/* PortState; the frame's data is one byte, the new state */
	SIMHCA_LID_CHANGED = 2,		/* LID or LMC */
	SIMHCA_SM_CHANGED = 4,		/* MasterSMLID or MasterSMSL */
	SIMHCA_PKEYS_CHANGED = 8,
	SIMHCA_GIDS_CHANGED = 16,	/* GUIDInfo or GidPrefix */
	SIMHCA_REREGISTER = 32,		/* ClientReregister was set */
};

#endif
