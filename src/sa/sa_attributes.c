/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps each attribute and method (15.2.5, table 192) to its handler, and answers ClassPortInfo (13.4.8.1).
 *
 * SA_ATTR_REPLICA is qosd's own attribute.
 */
#include <string.h>

#include <infiniband/umad_sa.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "sa/handler.h"
#include "sa/registry/groups.h"
#include "sa/scan.h"

/* --- ClassPortInfo (13.4.8.1) --- */

#define RESP_TIME 16		/* 4.096 us * 2^16 = 0.27 s */

/* CapabilityMask2 beyond umad_sa.h */
#define CAP2_SEND_ONLY_FULL	(1u << 12)
#define CAP2_WIDTH_2X		(1u << 13)
#define CAP2_SPEED_HDR		(1u << 15)
#define CAP2_SPEED_NDR		(1u << 17)
#define CAP2_EXT_SPEEDS_2	(1u << 19)
#define CAP2_SPEED_XDR		(1u << 20)

/*
 * IsMultiPathRecordSupported also covers TraceRecord, which has no bit of its own.
 *
 * Bits that are not set, because they would promise more than qosd supports:
 * IsSubnetOptionalRecordsSupported, which covers all other optional attributes (qosd lacks
 * ServiceAssociationRecord); IsReinit and UnPath/RePath; GID scoped MultiPathRecords;
 * HierarchyInfo, LinkSpeedWidthPairs-, CableInfo- and PortInfoExtendedRecord.
 */

static uint16_t class_port_info(struct sa_msg *m)
{
	uint32_t cap2 = UMAD_SA_CAP_MASK2_IS_QOS_SUP | UMAD_SA_CAP_MASK2_IS_MCAST_TOP_SUP |
			UMAD_SA_CAP_MASK2_IS_FULL_PORTINFO_REC_SUP |
			UMAD_SA_CAP_MASK2_IS_EXT_SPEEDS_SUP |
			UMAD_SA_CAP_MASK2_IS_MCAST_SERVICE_REC_SUP |
			UMAD_SA_CAP_MASK2_IS_PORT_INFO_CAPMASK2_MATCH_SUP |
			CAP2_SEND_ONLY_FULL | CAP2_WIDTH_2X | CAP2_SPEED_HDR |
			CAP2_SPEED_NDR | CAP2_EXT_SPEEDS_2 | CAP2_SPEED_XDR;
	if (m->sa->alias)
		cap2 |= UMAD_SA_CAP_MASK2_IS_ADDITIONAL_GUID_SUP;
	unsigned mcast = mcast_usage(m->sa->mcast).limit ? UMAD_SA_CAP_MASK_IS_UD_MCAST_SUP : 0;
	struct umad_class_port_info c = {
		.base_ver = UMAD_BASE_VERSION, .class_ver = UMAD_SA_CLASS_VERSION,
		.cap_mask = htobe16((uint16_t)mcast |
				    UMAD_SA_CAP_MASK_IS_MULTIPATH_SUP |
				    UMAD_SA_CAP_MASK_IS_PORTINFO_CAP_MASK_MATCH_SUP),
		.cap_mask2_resp_time = htobe32(cap2 << 5 | RESP_TIME),
		.redir_qp = htobe32(1), .redir_qkey = htobe32(UMAD_QKEY),
	};

	sa_add(m, &c, sizeof(c));
	return IB_STATUS_OK;
}

/* --- replication, for another qosd --- */

uint16_t sa_replica_get(struct sa_msg *m)
{
	struct sa_replica query, answer;
	uint16_t status;

	if (!m->sa->replicate)
		return IB_STATUS_BAD_METHOD_ATTR;
	/* a port with a duplicate GUID must not pass for the manager at the other port */
	if (!fabric_owns_guid(m->s->f, m->requester))
		return IB_SA_REQ_INVALID;
	memcpy(&query, m->data, sizeof(query));
	status = m->sa->replicate(m->sa->replicate_arg, m->s->f->ports[m->requester].guid, &query, &answer);
	if (!status)
		sa_add(m, &answer, sizeof(answer));
	return status;
}

/* --- handlers --- */

/* Get and GetTable have one handler; they differ only in the number of records. */
#define READ(attr, len, fn) \
	{ attr, UMAD_METHOD_GET, len, fn, NULL }, { attr, UMAD_SA_METHOD_GET_TABLE, len, fn, NULL }
#define SCAN(attr, len, kind) \
	{ attr, UMAD_METHOD_GET, len, NULL, &kind }, \
	{ attr, UMAD_SA_METHOD_GET_TABLE, len, NULL, &kind }

static const struct sa_handler_entry handlers[] = {
	READ(UMAD_SA_ATTR_PATH_REC, 64, sa_path_record),
	{ UMAD_SA_ATTR_MULTI_PATH_REC, UMAD_SA_METHOD_GET_MULTI, 24, sa_multipath_record, NULL },
	/* the request has a PathRecord */
	{ UMAD_SA_ATTR_TRACE_REC, UMAD_SA_METHOD_GET_TRACE_TABLE, 64, sa_trace_record, NULL },
	READ(UMAD_SA_ATTR_MCMEMBER_REC, 52, sa_mcmember_get),
	{ UMAD_SA_ATTR_MCMEMBER_REC, UMAD_METHOD_SET, 52, sa_mcmember_set, NULL },
	{ UMAD_SA_ATTR_MCMEMBER_REC, UMAD_SA_METHOD_DELETE, 52, sa_mcmember_delete, NULL },
	READ(UMAD_SA_ATTR_SERVICE_REC, 176, sa_service_get),
	{ UMAD_SA_ATTR_SERVICE_REC, UMAD_METHOD_SET, 176, sa_service_set, NULL },
	{ UMAD_SA_ATTR_SERVICE_REC, UMAD_SA_METHOD_DELETE, 176, sa_service_delete, NULL },
	{ UMAD_ATTR_INFORM_INFO, UMAD_METHOD_SET, 36, sa_inform_set, NULL },
	READ(UMAD_SA_ATTR_INFORM_INFO_REC, 60, sa_inform_record),
	SCAN(UMAD_SA_ATTR_NODE_REC, 108, sa_node_kind),
	SCAN(UMAD_SA_ATTR_PORT_INFO_REC, 68, sa_portinfo_kind),
	SCAN(UMAD_SA_ATTR_SLVL_REC, 16, sa_sl2vl_kind),
	SCAN(UMAD_SA_ATTR_SWITCH_INFO_REC, 24, sa_switchinfo_kind),
	SCAN(UMAD_SA_ATTR_LINEAR_FT_REC, 72, sa_lft_kind),
	SCAN(UMAD_SA_ATTR_RANDOM_FT_REC, 72, sa_rft_kind),
	SCAN(UMAD_SA_ATTR_MCAST_FT_REC, 72, sa_mft_kind),
	SCAN(UMAD_SA_ATTR_SM_INFO_REC, 25, sa_sminfo_kind),
	SCAN(UMAD_SA_ATTR_LINK_REC, 6, sa_link_kind),
	SCAN(UMAD_SA_ATTR_GUID_INFO_REC, 72, sa_guidinfo_kind),
	{ UMAD_SA_ATTR_GUID_INFO_REC, UMAD_METHOD_SET, 72, sa_guidinfo_set, NULL },
	{ UMAD_SA_ATTR_GUID_INFO_REC, UMAD_SA_METHOD_DELETE, 72, sa_guidinfo_delete, NULL },
	SCAN(UMAD_SA_ATTR_PKEY_TABLE_REC, 72, sa_pkey_kind),
	SCAN(UMAD_SA_ATTR_VL_ARB_REC, 72, sa_vlarb_kind),
	{ UMAD_ATTR_CLASS_PORT_INFO, UMAD_METHOD_GET, 0, class_port_info, NULL },
	{ SA_ATTR_REPLICA, UMAD_METHOD_GET, sizeof(struct sa_replica), sa_replica_get, NULL },
};

static bool method_known(uint8_t method)
{
	switch (method) {
	case UMAD_METHOD_GET:
	case UMAD_METHOD_SET:
	case UMAD_METHOD_REPORT:
	case UMAD_SA_METHOD_GET_TABLE:
	case UMAD_SA_METHOD_GET_TRACE_TABLE:
	case UMAD_SA_METHOD_GET_MULTI:
	case UMAD_SA_METHOD_DELETE:
		return true;
	default:
		return false;
	}
}

uint16_t sa_find_handler(uint16_t attr, uint8_t method, const struct sa_handler_entry **h)
{
	if (!method_known(method))
		return IB_STATUS_BAD_METHOD;
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++)
		if (handlers[i].attr == attr && handlers[i].method == method) {
			*h = &handlers[i];
			return IB_STATUS_OK;
		}
	return IB_STATUS_BAD_METHOD_ATTR;
}

const struct sa_pkey_place *sa_pkey_place(uint16_t attr)
{
	static const struct sa_pkey_place places[] = {
		{ UMAD_SA_ATTR_MCMEMBER_REC, 7, 40, true },
		{ UMAD_SA_ATTR_PATH_REC, 13, 50, false },
		{ UMAD_SA_ATTR_MULTI_PATH_REC, 7, 6, false },
		{ UMAD_SA_ATTR_SERVICE_REC, 2, 24, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i].attr == attr)
			return &places[i];
	return NULL;
}
