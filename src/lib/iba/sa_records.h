/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SA records and component masks that the headers of libibmad and libibumad lack (15.2.5).
 *
 * All fields are in network byte order, as on the wire.  The structs hold byte arrays only, so that
 * they have no padding and need no alignment.
 */
#ifndef QOSD_LIB_IBA_SA_RECORDS_H
#define QOSD_LIB_IBA_SA_RECORDS_H

#include <stdint.h>

#define SA_HDR_LEN	56	/* bytes: MAD 24, RMPP 12, SM_Key 8, AttributeOffset 2, reserved 2,
				 * ComponentMask 8 */
#define SA_DATA_LEN	200
#define MAD_LEN		256

/* --- PathRecord, 64 bytes --- */
struct sa_path_record {
	uint8_t service_id[8];
	uint8_t dgid[16];
	uint8_t sgid[16];
	uint8_t dlid[2];
	uint8_t slid[2];
	uint8_t hop_flow_raw[4];	/* RawTraffic 1, 3 reserved, FlowLabel 20, HopLimit 8 */
	uint8_t tclass;
	uint8_t num_path;		/* Reversible 1, NumbPath 7 */
	uint8_t pkey[2];
	uint8_t qos_class_sl[2];	/* QoSClass 12, SL 4 */
	uint8_t mtu;			/* selector 2, value 6 */
	uint8_t rate;
	uint8_t life;
	uint8_t preference;
	uint8_t reserved[6];
};
_Static_assert(sizeof(struct sa_path_record) == 64, "PathRecord");

enum {
	PR_SERVICE_ID_MSB = 1 << 0, PR_SERVICE_ID_LSB = 1 << 1,
	PR_DGID = 1 << 2, PR_SGID = 1 << 3, PR_DLID = 1 << 4, PR_SLID = 1 << 5,
	PR_RAW = 1 << 6, PR_FLOW = 1 << 8, PR_HOP = 1 << 9, PR_TCLASS = 1 << 10,
	PR_REVERSIBLE = 1 << 11, PR_NUMB_PATH = 1 << 12, PR_PKEY = 1 << 13,
	PR_QOS_CLASS = 1 << 14, PR_SL = 1 << 15,
	PR_MTU_SEL = 1 << 16, PR_MTU = 1 << 17, PR_RATE_SEL = 1 << 18,
	PR_RATE = 1 << 19, PR_LIFE_SEL = 1 << 20, PR_LIFE = 1 << 21,
};

/* --- MultiPathRecord: 24 bytes, then SGIDs and DGIDs --- */
struct sa_multipath_record {
	uint8_t hop_flow_raw[4];
	uint8_t tclass;
	uint8_t num_path;
	uint8_t pkey[2];
	uint8_t qos_class_sl[2];
	uint8_t mtu;
	uint8_t rate;
	uint8_t life;
	uint8_t service_id_msb;		/* 8 most significant bits of ServiceID */
	uint8_t independence;		/* IndependenceSelector 2, reserved 6 */
	uint8_t sgid_count;
	uint8_t dgid_count;
	uint8_t service_id_lsb[7];	/* the other 56 bits */
	uint8_t gids[][16];		/* sgid_count, then dgid_count */
};
_Static_assert(sizeof(struct sa_multipath_record) == 24, "MultiPathRecord");

enum {
	MPR_RAW = 1 << 0, MPR_FLOW = 1 << 2, MPR_HOP = 1 << 3, MPR_TCLASS = 1 << 4,
	MPR_REVERSIBLE = 1 << 5, MPR_NUMB_PATH = 1 << 6, MPR_PKEY = 1 << 7,
	MPR_QOS_CLASS = 1 << 8, MPR_SL = 1 << 9, MPR_MTU_SEL = 1 << 10,
	MPR_MTU = 1 << 11, MPR_RATE_SEL = 1 << 12, MPR_RATE = 1 << 13,
	MPR_LIFE_SEL = 1 << 14, MPR_LIFE = 1 << 15, MPR_SERVICE_ID_MSB = 1 << 16,
	MPR_INDEPENDENCE = 1 << 17, MPR_SGID_COUNT = 1 << 19,
	MPR_DGID_COUNT = 1 << 20, MPR_SERVICE_ID_LSB = 1 << 21,
};

/* IndependenceSelector: paths as independent of each other as possible; other values are reserved */
enum { INDEPENDENT = 2 };

/* Selector of MTU, rate and lifetime (15.2.5.16) */
enum { SEL_GREATER = 0, SEL_LESS = 1, SEL_EXACT = 2, SEL_BEST = 3 };

/* --- TraceRecord, 46 bytes --- */
struct sa_trace_record {
	uint8_t gid_prefix[8];
	uint8_t id_generation[2];
	uint8_t reserved;
	uint8_t node_type;		/* as in NodeInfo */
	uint8_t node_id[8];
	uint8_t chassis_id[8];
	uint8_t entry_port_id[8], exit_port_id[8];
	uint8_t entry_port, exit_port;
};
_Static_assert(sizeof(struct sa_trace_record) == 46, "TraceRecord");

/* --- NodeRecord, 108 bytes: LID, reserved, NodeInfo 40, NodeDescription 64 --- */
struct sa_node_record {
	uint8_t lid[2];
	uint8_t reserved[2];
	uint8_t node_info[40];
	uint8_t node_desc[64];
};
_Static_assert(sizeof(struct sa_node_record) == 108, "NodeRecord");

/* --- PortInfoRecord, 68 bytes: EndportLID, PortNum, Options, PortInfo 64 --- */
struct sa_portinfo_record {
	uint8_t lid[2];
	uint8_t port_num;
	uint8_t options;
	uint8_t port_info[64];
};
_Static_assert(sizeof(struct sa_portinfo_record) == 68, "PortInfoRecord");

/* --- records of a port's or switch's tables: RID, then the attribute of section 14.2.5 --- */

struct sa_switchinfo_record {
	uint8_t lid[2];
	uint8_t reserved[2];
	uint8_t switch_info[20];
};
_Static_assert(sizeof(struct sa_switchinfo_record) == 24, "SwitchInfoRecord");

/* LinearForwardingTableRecord and RandomForwardingTableRecord */
struct sa_ft_record {
	uint8_t lid[2];
	uint8_t block[2];
	uint8_t reserved[4];
	uint8_t entries[64];
};
_Static_assert(sizeof(struct sa_ft_record) == 72, "LinearForwardingTableRecord");

struct sa_mft_record {
	uint8_t lid[2];
	uint8_t position_block[2];	/* Position 4, reserved 3, BlockNum 9 */
	uint8_t reserved[4];
	uint8_t entries[64];
};
_Static_assert(sizeof(struct sa_mft_record) == 72, "MulticastForwardingTableRecord");

struct sa_sl2vl_record {
	uint8_t lid[2];
	uint8_t in, out;		/* port numbers of a switch, else 0 */
	uint8_t reserved[4];
	uint8_t table[8];		/* 4 bits for each SL */
};
_Static_assert(sizeof(struct sa_sl2vl_record) == 16, "SLtoVLMappingTableRecord");

struct sa_vlarb_record {
	uint8_t lid[2];
	uint8_t out;
	uint8_t block;			/* 1..4: low, low, high, high */
	uint8_t reserved[4];
	uint8_t table[64];
};
_Static_assert(sizeof(struct sa_vlarb_record) == 72, "VLArbitrationTableRecord");

struct sa_pkey_record {
	uint8_t lid[2];
	uint8_t block[2];
	uint8_t port_num;
	uint8_t reserved[3];
	uint8_t table[64];
};
_Static_assert(sizeof(struct sa_pkey_record) == 72, "P_KeyTableRecord");

struct sa_guidinfo_record {
	uint8_t lid[2];
	uint8_t block;
	uint8_t reserved[5];
	uint8_t guids[8][8];
};
_Static_assert(sizeof(struct sa_guidinfo_record) == 72, "GuidInfoRecord");

struct sa_sminfo_record {
	uint8_t lid[2];
	uint8_t reserved[2];
	uint8_t guid[8];
	uint8_t sm_key[8];
	uint8_t act_count[4];
	uint8_t priority_state;		/* 4 bits each */
};
_Static_assert(sizeof(struct sa_sminfo_record) == 25, "SMInfoRecord");

struct sa_link_record {
	uint8_t from_lid[2];
	uint8_t from_port, to_port;
	uint8_t to_lid[2];
};
_Static_assert(sizeof(struct sa_link_record) == 6, "LinkRecord");
/* --- ServiceRecord, 176 bytes --- */
struct sa_service_record {
	uint8_t id[8];
	uint8_t gid[16];
	uint8_t pkey[2];
	uint8_t reserved[2];
	uint8_t lease[4];
	uint8_t key[16];
	uint8_t name[64];
	uint8_t data[64];		/* 16 x 8, 8 x 16, 4 x 32, 2 x 64 bits */
};
_Static_assert(sizeof(struct sa_service_record) == 176, "ServiceRecord");

enum { SR_ID = 1 << 0, SR_GID = 1 << 1, SR_PKEY = 1 << 2, SR_LEASE = 1 << 4, SR_KEY = 1 << 5,
       SR_NAME = 1 << 6 };
#define SR_DATA_FIRST 7			/* bit of ServiceData8.1; the 30 ServiceData components use
					 * consecutive bits */

/* --- InformInfo (13.4.8.3) and InformInfoRecord --- */
struct sa_inform_info {
	uint8_t gid[16];
	uint8_t lid_first[2];
	uint8_t lid_last[2];
	uint8_t reserved[2];
	uint8_t generic;
	uint8_t subscribe;
	uint8_t type[2];
	uint8_t number[2];		/* TrapNumber or DeviceID */
	uint8_t qpn_resp_time[4];	/* QPN 24, 3 reserved, RespTimeValue 5 */
	uint8_t producer[4];		/* 8 reserved, ProducerType or VendorID 24 */
};
_Static_assert(sizeof(struct sa_inform_info) == 36, "InformInfo");

struct sa_inform_info_record {
	uint8_t gid[16];
	uint8_t number[2];		/* SubscriberEnum */
	uint8_t reserved[6];
	struct sa_inform_info info;
};
_Static_assert(sizeof(struct sa_inform_info_record) == 60, "InformInfoRecord");

/* --- Notice (13.4.8.2) --- */
struct sa_notice {
	uint8_t type;			/* IsGeneric 1, Type 7 */
	uint8_t producer[3];		/* ProducerType or VendorID */
	uint8_t number[2];		/* TrapNumber or DeviceID */
	uint8_t issuer_lid[2];
	uint8_t count[2];		/* NoticeToggle 1, NoticeCount 15 */
	uint8_t details[54];
	uint8_t issuer_gid[16];
};
_Static_assert(sizeof(struct sa_notice) == 80, "Notice");
#define NOTICE_GENERIC 0x80
#define NOTICE_SMP_LEN 64		/* the part of a Notice that fits in an SMP: all but IssuerGID */
#define NOTICE_GID 6			/* offset of the GID in the details of traps 64 to 67 (14.2.5.1) */

/*
 * --- qosd's own: a standby's request to its master (daemon/replication/replication.h), 200 bytes
 * ---
 */
#define SA_ATTR_REPLICA 0xff71	/* vendor-specific */
#define SA_REPLICA_LIST 0xffffffff	/* value of `part` that asks for the list of parts */
#define SA_REPLICA_MORE 0xfffffffe	/* for the rest of that list; an earlier qosd has no such part */
#define SA_REPLICA_DATA 160
struct sa_replica {
	uint8_t part[4];
	uint8_t offset[4];		/* offset in the text of the part */
	uint8_t version[8];		/* version asked for; in the answer: the current version */
	uint8_t total[4];		/* bytes of the text */
	uint8_t n[4];			/* bytes of data; 0: the version differs */
	uint8_t nonce[8];		/* chosen by the request, repeated in its answer */
	uint8_t proof[8];		/* digest of the whole record under the SM_Key (sm/keys/proof.h) */
	uint8_t data[SA_REPLICA_DATA];	/* for a list: a struct sa_replica_row for each part */
};
_Static_assert(sizeof(struct sa_replica) == SA_DATA_LEN, "replica");
/*
 * In the data of a request for the list, and of its answer, behind the rows: 8 bytes with the
 * checksum of the sender's policy; 0 from a qosd that does not state it.
 */
#define SA_REPLICA_POLICY (SA_REPLICA_DATA - 8)
/*
 * Before that, in the answer: 8 bytes with the version of the rest of the list, which changes when a
 * row of it does; 0: there is none.  In the request: 4 bytes with the age of what the standby last
 * copied in full, in milliseconds, plus 1; SA_REPLICA_NEVER: it has not yet; 0: it does not state it.
 */
#define SA_REPLICA_REST (SA_REPLICA_POLICY - 8)
#define SA_REPLICA_AGE SA_REPLICA_REST
#define SA_REPLICA_NEVER 0xffffffff
/* A later qosd may append parts or use other formats: a standby skips the ones it does not know. */
struct sa_replica_row {
	uint8_t version[8];
	uint8_t total[4];
	uint8_t format[4];		/* format of the text (store/store.h); 0 means 1 */
};

#endif
