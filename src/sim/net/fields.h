/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Byte offsets of fields in the attributes of subnet management (14.2.5).
 *
 * The name of fields that share a byte has the names of both.
 */
#ifndef QOSD_SIM_NET_FIELDS_H
#define QOSD_SIM_NET_FIELDS_H

#include "lib/base/bytes.h"
#include "sim/net/model.h"

#define SMP_DATA_SIZE 64
#define SL2VL_SIZE 8

enum {
	ATTR_NOTICE = 0x02, ATTR_NODE_DESCRIPTION = 0x10, ATTR_NODE_INFO = 0x11,
	ATTR_SWITCH_INFO = 0x12, ATTR_GUID_INFO = 0x14, ATTR_PORT_INFO = 0x15,
	ATTR_PKEY_TABLE = 0x16, ATTR_SL_TO_VL = 0x17, ATTR_VL_ARBITRATION = 0x18,
	ATTR_LINEAR_FORWARDING = 0x19, ATTR_RANDOM_FORWARDING = 0x1a,
	ATTR_MULTICAST_FORWARDING = 0x1b, ATTR_SM_INFO = 0x20, ATTR_LED_INFO = 0x31,
	ATTR_PRIVATE_LFT_INFO = 0xff10,		/* vendor-specific, like the next ones */
	ATTR_ADAPTIVE_ROUTING_INFO = 0xff20,
	ATTR_CONFIG_SPACE = 0xff50, ATTR_ACCESS_REGISTER = 0xff52,
	ATTR_EXTENDED_PORT_INFO = 0xff90,	/* vendor-specific: FDR10 */
};

/* PortInfo */
enum {
	PI_MKEY = 0, PI_GID_PREFIX = 8, PI_LID = 16, PI_SM_LID = 18, PI_CAPMASK = 20,
	PI_DIAG_CODE = 24, PI_MKEY_LEASE = 26, PI_LOCAL_PORT = 28, PI_WIDTH_ENABLED = 29,
	PI_WIDTH_SUPPORTED = 30, PI_WIDTH_ACTIVE = 31, PI_SPEED_SUP_STATE = 32,
	PI_PHYS_STATE_DOWN_DEFAULT = 33, PI_MKEY_PROTECT_LMC = 34, PI_SPEED_ACTIVE_ENABLED = 35,
	PI_MTU_SM_SL = 36, PI_VL_CAP_INIT_TYPE = 37, PI_VL_HIGH_LIMIT = 38,
	PI_VLARB_HIGH_CAP = 39, PI_VLARB_LOW_CAP = 40, PI_INIT_REPLY_MTU_CAP = 41,
	PI_VL_STALL_HOQ_LIFE = 42, PI_OP_VLS_ENFORCE = 43, PI_MKEY_VIOLATIONS = 44,
	PI_PKEY_VIOLATIONS = 46, PI_QKEY_VIOLATIONS = 48, PI_GUID_CAP = 50,
	PI_REREG_SUBNET_TIMEOUT = 51, PI_RESP_TIME = 52, PI_PHY_OVERRUN_ERRORS = 53,
	PI_MAX_CREDIT_HINT = 54, PI_EXT_2 = 56, PI_LATENCY = 57, PI_CAPMASK2 = 60, PI_EXT_ACTIVE_SUP = 62,
	PI_EXT_ENABLED = 63,
};
#define PI_CLIENT_REREGISTER	0x80	/* of PI_REREG_SUBNET_TIMEOUT */
#define PI_SUBNET_TIMEOUT	0x1f
#define PI_ENFORCE_IN		0x08	/* of PI_OP_VLS_ENFORCE */
#define PI_ENFORCE_OUT		0x04
#define PI_EXT_SPEEDS_OFF	30	/* LinkSpeedExtEnabled: no extended speed */
#define PI_EXT_2_ENABLED	0x07	/* of PI_EXT_2: LinkSpeedExtEnabled2 */
#define PI_EXT_2_ALL		7	/* value for all supported speeds */
#define PI_MOD_EXT_SPEEDS	0x80000000u	/* attribute modifier: SMSupportExtendedSpeeds */

/* PortInfo.CapabilityMask */
enum {
	CAP_IS_SM = 1 << 1, CAP_NOTICE = 1 << 2, CAP_TRAP = 1 << 3, CAP_AUTO_MIGRATION = 1 << 5,
	CAP_SL_MAPPING = 1 << 6, CAP_LED = 1 << 9, CAP_SM_DISABLED = 1 << 10,
	CAP_SYSTEM_GUID = 1 << 11, CAP_PKEY_SWITCH_TRAP = 1 << 12, CAP_EXT_SPEEDS = 1 << 14,
	CAP_MASK2 = 1 << 15, CAP_COMM_MGMT = 1 << 16, CAP_DEVICE_MGMT = 1 << 19,
	CAP_VENDOR_CLASS = 1 << 20, CAP_MASK_NOTICE = 1 << 22, CAP_CLIENT_REREGISTER = 1 << 25,
	CAP_LOCAL_CHANGES = 1 << 26, CAP_MCAST_PKEY_SUPPRESSION = 1 << 29, CAP_MCAST_FDB_TOP = 1 << 30,
};
/* Bits for what the host does: IsSM, and IsCommunicationManagement … IsVendorClassSupported */
#define CAP_OF_HOST	(CAP_IS_SM | 1u << 16 | 1u << 17 | 1u << 19 | 1u << 20)
/* PortInfo.CapabilityMask2 */
enum {
	CAP2_SET_NODE_DESCRIPTION = 1 << 0, CAP2_WIDTH_2X = 1 << 4, CAP2_HDR = 1 << 5,
	CAP2_NDR = 1 << 10, CAP2_EXT_SPEEDS_2 = 1 << 11, CAP2_XDR = 1 << 12,
};

/* NodeInfo */
enum {
	NI_BASE_VERSION = 0, NI_CLASS_VERSION = 1, NI_TYPE = 2, NI_PORTS = 3, NI_SYSTEM_GUID = 4,
	NI_GUID = 12, NI_PORT_GUID = 20, NI_PARTITION_CAP = 28, NI_DEVICE_ID = 30,
	NI_REVISION = 32, NI_LOCAL_PORT_VENDOR = 36,
};

/* SwitchInfo */
enum {
	SI_LINEAR_CAP = 0, SI_RANDOM_CAP = 2, SI_MULTICAST_CAP = 4, SI_LINEAR_TOP = 6,
	SI_DEFAULT_PORT = 8, SI_DEFAULT_MCAST_PRIMARY = 9, SI_DEFAULT_MCAST_NOT_PRIMARY = 10,
	SI_LIFE_TIME_STATE_OPT = 11, SI_LIDS_PER_PORT = 12, SI_ENFORCE_CAP = 14, SI_FLAGS = 16,
	SI_MULTICAST_TOP = 18, SI_SIZE = 20,
};
#define SI_STATE_CHANGE		0x04	/* of SI_LIFE_TIME_STATE_OPT: PortStateChange */
#define SI_OPTIMIZED_SL2VL	0x01
#define SI_LIFE_TIME		0xf8
#define SI_FLAG_ENFORCE		0xc0	/* of SI_FLAGS: partition enforcement, both ways */
#define SI_FLAG_FILTER_RAW	0x30
#define SI_FLAG_ENHANCED_PORT0	0x08

/* Notice (13.4.8.2), the part that an SMP carries */
enum {
	NOTICE_GENERIC_TYPE = 0, NOTICE_PRODUCER = 1, NOTICE_TRAP = 4, NOTICE_ISSUER_LID = 6,
	NOTICE_TOGGLE_COUNT = 8, NOTICE_DETAILS = 10, NOTICE_DETAILS_SIZE = 54,
};
#define NOTICE_GENERIC		0x80
#define NOTICE_EMPTY		0x7f

/* trap 144: flags of other changes */
enum { CHANGE_NODE_DESCRIPTION = 0x01 };

/* ExtendedPortInfo */
enum {
	XPI_STATE_CHANGE = 3, XPI_SPEED_SUPPORTED = 7, XPI_SPEED_ENABLED = 11,
	XPI_SPEED_ACTIVE = 15,
};
#define XPI_FDR10 1

/* LinkSpeedExt* of PortInfo, both groups as one mask, as in struct sim_profile. */
static inline unsigned ext_supported(const uint8_t *info)
{
	return (info[PI_EXT_ACTIVE_SUP] & 0x0fu) | (info[PI_EXT_2] >> 3 & 3u) << SIM_EXT_GROUP_2;
}

static inline unsigned ext_enabled(const uint8_t *info)
{
	unsigned first = info[PI_EXT_ENABLED] & 0x1f;

	return (first == PI_EXT_SPEEDS_OFF ? 0 : first) |
	       (info[PI_EXT_2] & PI_EXT_2_ENABLED) << SIM_EXT_GROUP_2;
}

static inline unsigned ext_active(const uint8_t *info)
{
	unsigned second = info[PI_EXT_2] >> 5 & 3u;

	return second ? second << SIM_EXT_GROUP_2 : info[PI_EXT_ACTIVE_SUP] >> 4;
}

/* ext: one speed, or 0. */
static inline void set_ext_active(uint8_t *info, unsigned ext)
{
	info[PI_EXT_ACTIVE_SUP] = (uint8_t)((info[PI_EXT_ACTIVE_SUP] & 0x0f) | (ext & 0x0f) << 4);
	info[PI_EXT_2] = (uint8_t)((info[PI_EXT_2] & 0x1f) | (ext >> SIM_EXT_GROUP_2) << 5);
}

static inline unsigned high4(const uint8_t *byte)
{
	return *byte >> 4;
}

static inline unsigned low4(const uint8_t *byte)
{
	return *byte & 0x0f;
}

static inline void set_high4(uint8_t *byte, unsigned v)
{
	*byte = (uint8_t)((*byte & 0x0f) | v << 4);
}

static inline void set_low4(uint8_t *byte, unsigned v)
{
	*byte = (uint8_t)((*byte & 0xf0) | (v & 0x0f));
}

/* Number of data VLs by code of OperationalVLs and VLCap; 0 for an unknown one. */
static inline unsigned vls_of_code(unsigned code)
{
	return code == 5 ? 15 : code && code < 5 ? 1u << (code - 1) : 0;
}

/* Number of bytes by code of an MTU; 0 for an unknown one. */
static inline unsigned mtu_of_code(unsigned code)
{
	return code && code < 6 ? 128u << code : 0;
}

#endif
