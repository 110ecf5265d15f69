/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * IBA constants that the simulator needs and that the libraries' headers lack.
 *
 * They are deliberately not the daemon's: the simulator judges the daemon, so both share only
 * generic helpers (base, loop, yaml) and libraries.
 */
#ifndef QOSD_SIM_NET_IBA_H
#define QOSD_SIM_NET_IBA_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_LID_MCAST		0xc000	/* first multicast LID (4.1.1) */
#define SIM_LMC_MAX		7
#define SIM_LID_PERMISSIVE	0xffff
#define SIM_LFT_DROP		255	/* LFT entry: no route */
#define SIM_VL_DROP		15	/* SL2VL entry 15: dropped (7.6.6) */
#define SIM_MAD_SIZE		256
#define SIM_PORTS_MAX		254	/* external ports of a switch */
#define SIM_HOPS_MAX		63
#define SIM_SMP_VL		15
#define SIM_GSI_QKEY		0x80010000u

#define SIM_AGGREGATION_NODE	0xcf09	/* DeviceID of SHARP aggregation nodes, which run no programs */

enum sim_node_type { SIM_CA = 1, SIM_SWITCH = 2, SIM_ROUTER = 3 };

/* PortInfo.PortState (14.2.5.6) */
enum { SIM_PORT_NOP, SIM_PORT_DOWN, SIM_PORT_INIT, SIM_PORT_ARMED, SIM_PORT_ACTIVE };
/* PortInfo.PortPhysicalState */
enum {
	SIM_PHYS_NOP, SIM_PHYS_SLEEP, SIM_PHYS_POLLING, SIM_PHYS_DISABLED, SIM_PHYS_TRAINING,
	SIM_PHYS_LINK_UP, SIM_PHYS_RECOVERY,
};

/* LinkWidth bits; LinkSpeed bits; LinkSpeedExt bits */
enum { SIM_WIDTH_1X = 1, SIM_WIDTH_4X = 2, SIM_WIDTH_8X = 4, SIM_WIDTH_12X = 8, SIM_WIDTH_2X = 16 };
enum { SIM_SPEED_SDR = 1, SIM_SPEED_DDR = 2, SIM_SPEED_QDR = 4 };
/* The second group of extended speeds, LinkSpeedExt*2, is shifted by SIM_EXT_GROUP_2. */
enum {
	SIM_EXT_FDR = 1, SIM_EXT_EDR = 2, SIM_EXT_HDR = 4, SIM_EXT_NDR = 8, SIM_EXT_XDR = 32,
	SIM_EXT_LATER = 64,	/* stands for a speed that has no name yet */
};
#define SIM_EXT_GROUP_2	5

/* MAD common header: offsets (13.4.2) */
enum {
	MAD_BASE_VERSION = 0, MAD_CLASS = 1, MAD_CLASS_VERSION = 2, MAD_METHOD = 3, MAD_STATUS = 4,
	MAD_DR_HOP_PTR = 6, MAD_DR_HOP_CNT = 7, MAD_TID = 8, MAD_ATTR = 16, MAD_MOD = 20,
	SMP_MKEY = 24, SMP_DR_SLID = 32, SMP_DR_DLID = 34, SMP_DATA = 64, SMP_INIT_PATH = 128,
	SMP_RET_PATH = 192,
};
#define MAD_METHOD_RESPONSE	0x80
#define MAD_STATUS_DR_D		0x8000	/* directed route SMP that is on its way back (14.2.1.2) */

enum {
	METHOD_GET = 0x01, METHOD_SET = 0x02, METHOD_SEND = 0x03, METHOD_TRAP = 0x05,
	METHOD_REPORT = 0x06, METHOD_TRAP_REPRESS = 0x07, METHOD_GET_RESP = 0x81,
};

enum {
	CLASS_SM_LID = 0x01, CLASS_SM_DR = 0x81, CLASS_SA = 0x03, CLASS_PM = 0x04, CLASS_BM = 0x05,
	CLASS_DM = 0x06, CLASS_CM = 0x07, CLASS_VENDOR_A = 0x0a, CLASS_DEVICE_ADM = 0x10,
	CLASS_BIS = 0x12, CLASS_CC = 0x21, CLASS_VENDOR2 = 0x30, CLASS_VENDOR2_END = 0x4f,
};

/* RMPP header, in classes that have one (13.6.2) */
enum {
	RMPP_VERSION = 24, RMPP_TYPE = 25, RMPP_FLAGS = 26, RMPP_STATUS = 27, RMPP_SEGMENT = 28,
	RMPP_LENGTH = 32,	/* PayloadLength; of an ACK: NewWindowLast */
	RMPP_HEAD = 36,		/* size of MAD and RMPP header */
};
enum { RMPP_DATA = 1, RMPP_ACK, RMPP_STOP, RMPP_ABORT };
#define RMPP_ACTIVE		0x01	/* flag: the MAD uses RMPP */

static inline bool class_is_smp(uint8_t mgmt_class)
{
	return mgmt_class == CLASS_SM_LID || mgmt_class == CLASS_SM_DR;
}

/* Vendors' classes that have an OUI. */
static inline bool class_is_vendor2(uint8_t mgmt_class)
{
	return mgmt_class >= CLASS_VENDOR2 && mgmt_class <= CLASS_VENDOR2_END;
}

static inline bool class_has_rmpp(uint8_t mgmt_class)
{
	return mgmt_class == CLASS_SA || mgmt_class == CLASS_DM || mgmt_class == CLASS_DEVICE_ADM ||
	       mgmt_class == CLASS_BIS || class_is_vendor2(mgmt_class);
}

static inline bool rmpp_is_active(const uint8_t *mad)
{
	return class_has_rmpp(mad[MAD_CLASS]) && mad[RMPP_FLAGS] & RMPP_ACTIVE;
}

/* MAD status codes (13.4.7) */
enum {
	STATUS_OK = 0, STATUS_BUSY = 0x01, STATUS_REDIRECT = 0x02, STATUS_BAD_VERSION = 0x04,
	STATUS_BAD_METHOD = 0x08, STATUS_BAD_METHOD_ATTR = 0x0c, STATUS_BAD_VALUE = 0x1c,
};

#endif
