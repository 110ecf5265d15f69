/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * InfiniBand constants and small types that the headers of other libraries lack or scatter.
 *
 * Section numbers are those of the IBA specification, volume 1.
 */
#ifndef QOSD_LIB_IBA_IBA_H
#define QOSD_LIB_IBA_IBA_H

#include <stdbool.h>
#include <stdint.h>

#define IB_LID_UCAST_MAX	0xbfff	/* 4.1.1: unicast LIDs 0x0001..0xbfff */
#define IB_LID_MCAST_FIRST	0xc000
#define IB_LID_MCAST_LAST	0xfffe
#define IB_MLIDS		(IB_LID_MCAST_LAST - IB_LID_MCAST_FIRST + 1)
#define IB_LID_PERMISSIVE	0xffff
#define IB_LMC_MAX		7
#define IB_SL_COUNT		16
#define IB_VL_DROP		15	/* SL2VL entry 15: the packet is dropped (7.6.6) */
#define IB_PORT_NUM_MAX		254
#define IB_PKEY_DEFAULT		0x7fff	/* without the membership bit */
#define IB_PKEY_FULL		0x8000	/* membership bit */
#define IB_DEFAULT_PREFIX	0xfe80000000000000ULL
#define IB_DR_HOPS_MAX		63

/* VendorID and DeviceID of NodeInfo (14.2.5.3). */
#define IB_VENDOR_MELLANOX	0x2c9
#define IB_ATTR_PRIVATE_LFT	0xff10	/* PrivateLFTInfo, a Mellanox attribute */
#define IB_ATTR_ADAPTIVE_ROUTING 0xff20	/* AdaptiveRoutingInfo, a Mellanox attribute */
#define IB_DEVICE_AGGREGATION	0xcf09	/* SHARP aggregation node, of any generation */

enum ib_node_type { IB_NODE_CA_T = 1, IB_NODE_SWITCH_T = 2, IB_NODE_ROUTER_T = 3 };

enum ib_port_state {
	IB_PORT_NOP = 0, IB_PORT_DOWN_S = 1, IB_PORT_INIT_S = 2,
	IB_PORT_ARMED_S = 3, IB_PORT_ACTIVE_S = 4,
};
#define IB_PHYS_LINK_UP 5

/* PortInfo.CapabilityMask (14.2.5.6) */
#define IB_CAP_IS_SM		(1u << 1)
#define IB_CAP_SL_MAP		(1u << 6)
#define IB_CAP_SYSTEM_IMAGE	(1u << 11)	/* IsSystemImageGUIDSupported */
#define IB_CAP_EXT_SPEEDS	(1u << 14)
#define IB_CAP_MASK2		(1u << 15)
#define IB_CAP_CLIENT_REREG	(1u << 25)
#define IB_CAP_MCAST_FDB_TOP	(1u << 30)

/*
 * PortInfo.CapabilityMask2, valid with IB_CAP_MASK2: link width 2x, speeds HDR and NDR, the second
 * group of extended speeds, and XDR, so far the only speed in that group.
 */
#define IB_CAP2_2X		(1u << 4)
#define IB_CAP2_HDR		(1u << 5)
#define IB_CAP2_NDR		(1u << 10)
#define IB_CAP2_EXT_SPEEDS_2	(1u << 11)
#define IB_CAP2_XDR		(1u << 12)

/* PortInfo.AttributeModifier: SMSupportExtendedSpeeds, in addition to the port number (14.2.5.6) */
#define IB_PORT_INFO_EXT_SPEEDS	(1u << 31)

/*
 * Extended link speeds.  PortInfo has two groups: LinkSpeedExt* (byte 62, and the lower five bits
 * of byte 63) and LinkSpeedExt*2 (byte 56).  Here both form one mask, as in rdma-core's tools: the
 * second group is shifted by 5.
 */
#define IB_EXT_FDR		1u
#define IB_EXT_EDR		2u
#define IB_EXT_HDR		4u
#define IB_EXT_NDR		8u
#define IB_EXT_XDR		32u
#define IB_EXT_GROUP_2		5	/* shift of the second group */
#define IB_EXT_DISABLED		30	/* LinkSpeedExtEnabled: no speed of the first group */

/* LinkSpeedExtActive2 if it is not 0, else LinkSpeedExtActive. */
static inline unsigned ib_ext_active(const uint8_t info[64])
{
	unsigned second = info[56] >> 5 & 3;

	return second ? second << IB_EXT_GROUP_2 : info[62] >> 4;
}

static inline unsigned ib_ext_supported(const uint8_t info[64])
{
	return (info[62] & 0xfu) | (info[56] >> 3 & 3u) << IB_EXT_GROUP_2;
}

static inline unsigned ib_ext_enabled(const uint8_t info[64])
{
	unsigned first = info[63] & 0x1f;

	return (first == IB_EXT_DISABLED ? 0 : first & 0xf) | (info[56] & 7u) << IB_EXT_GROUP_2;
}

/*
 * PathRecord.Rate (15.2.5.16): the last code for SDR to QDR, for FDR and EDR, for width 2x, for
 * HDR, and for NDR.
 */
#define IB_RATE_LAST_PLAIN	10
#define IB_RATE_LAST_EXTENDED	18
#define IB_RATE_LAST_2X		20
#define IB_RATE_LAST_HDR	22
#define IB_RATE_LAST_NDR	24

/* MAD header status (13.4.7) and the SA's own codes, shifted into place (15.2.2) */
enum {
	IB_STATUS_OK			= 0x0000,
	IB_STATUS_BUSY			= 0x0001,
	IB_STATUS_BAD_VERSION		= 0x0004,
	IB_STATUS_BAD_METHOD		= 0x0008,
	IB_STATUS_BAD_METHOD_ATTR	= 0x000c,
	IB_STATUS_BAD_VALUE		= 0x001c,
	IB_SA_NO_RESOURCES		= 0x0100,
	IB_SA_REQ_INVALID		= 0x0200,
	IB_SA_NO_RECORDS		= 0x0300,
	IB_SA_TOO_MANY_RECORDS		= 0x0400,
	IB_SA_INVALID_GID		= 0x0500,
	IB_SA_INSUFFICIENT_COMPONENTS	= 0x0600,
	IB_SA_REQ_DENIED		= 0x0700,
	IB_SA_PRIORITY_SUGGESTED	= 0x0800,
};

/* Number of data VLs for a code 1..5 of OperationalVLs or VLCap (14.2.5.6) */
static inline unsigned ib_vls_from_code(unsigned code)
{
	static const uint8_t n[] = { 0, 1, 2, 4, 8, 15 };
	return code < sizeof(n) ? n[code] : 0;
}

/* The smallest such code for at least n data VLs (n 0..15). */
static inline unsigned ib_vls_to_code(unsigned n)
{
	return n <= 1 ? 1 : n <= 2 ? 2 : n <= 4 ? 3 : n <= 8 ? 4 : 5;
}

/* SL2VL table of one pair (in port, out port): vl[sl], 15 = drop (7.6.6). */
struct sl2vl {
	uint8_t vl[IB_SL_COUNT];
};

/* One entry of an arbitration table; weight in units of 64 bytes, 0 = skipped (7.6.9). */
struct vlarb_entry {
	uint8_t vl, weight;
};
#define VLARB_ENTRIES_MAX 64
#define VLARB_BLOCK 32		/* entries in one VLArbitrationTable attribute */

struct vlarb {
	uint8_t n_high, n_low;	/* entries in use; a device's further entries are (0, 0) */
	uint8_t high_limit;	/* PortInfo.VLHighLimit: units of 4096 bytes, 0 = 1 packet, 255 = unbounded */
	struct vlarb_entry high[VLARB_ENTRIES_MAX], low[VLARB_ENTRIES_MAX];
};

#endif
