/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which attributes and methods there are (15.2.5, table 192), who handles each,
 * and what ClassPortInfo says of it (13.4.8.1).
 */
#include <infiniband/umad_sa.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "sa/handler.h"

/* --- ClassPortInfo (13.4.8.1) --- */

#define RESP_TIME 16		/* 4.096 us * 2^16 = 0.27 s */

static uint16_t class_port_info(struct sa_msg *m)
{
	uint32_t cap2 = UMAD_SA_CAP_MASK2_IS_QOS_SUP |
			UMAD_SA_CAP_MASK2_IS_FULL_PORTINFO_REC_SUP |
			UMAD_SA_CAP_MASK2_IS_MCAST_SERVICE_REC_SUP |
			UMAD_SA_CAP_MASK2_IS_PORT_INFO_CAPMASK2_MATCH_SUP |
			1u << 12;	/* send-only full members */
	struct umad_class_port_info c = {
		.base_ver = UMAD_BASE_VERSION, .class_ver = UMAD_SA_CLASS_VERSION,
		.cap_mask = htobe16(UMAD_SA_CAP_MASK_IS_UD_MCAST_SUP |
				    UMAD_SA_CAP_MASK_IS_MULTIPATH_SUP |
				    UMAD_SA_CAP_MASK_IS_PORTINFO_CAP_MASK_MATCH_SUP),
		.cap_mask2_resp_time = htobe32(cap2 << 5 | RESP_TIME),
		.redir_qp = htobe32(1), .redir_qkey = htobe32(UMAD_QKEY),
	};

	sa_add(m, &c, sizeof(c));
	return IB_STATUS_OK;
}

/* --- who does what --- */

static const struct sa_handler_entry handlers[] = {
	{ UMAD_SA_ATTR_PATH_REC, UMAD_METHOD_GET, 64, sa_path_record },
	{ UMAD_SA_ATTR_PATH_REC, UMAD_SA_METHOD_GET_TABLE, 64, sa_path_record },
	{ UMAD_SA_ATTR_MULTI_PATH_REC, UMAD_SA_METHOD_GET_MULTI, 24, sa_multipath_record },
	{ UMAD_SA_ATTR_MCMEMBER_REC, UMAD_METHOD_GET, 52, sa_mcmember_get },
	{ UMAD_SA_ATTR_MCMEMBER_REC, UMAD_SA_METHOD_GET_TABLE, 52, sa_mcmember_get },
	{ UMAD_SA_ATTR_MCMEMBER_REC, UMAD_METHOD_SET, 52, sa_mcmember_set },
	{ UMAD_SA_ATTR_MCMEMBER_REC, UMAD_SA_METHOD_DELETE, 52, sa_mcmember_delete },
	{ UMAD_SA_ATTR_SERVICE_REC, UMAD_METHOD_GET, 176, sa_service_get },
	{ UMAD_SA_ATTR_SERVICE_REC, UMAD_SA_METHOD_GET_TABLE, 176, sa_service_get },
	{ UMAD_SA_ATTR_SERVICE_REC, UMAD_METHOD_SET, 176, sa_service_set },
	{ UMAD_SA_ATTR_SERVICE_REC, UMAD_SA_METHOD_DELETE, 176, sa_service_delete },
	{ UMAD_ATTR_INFORM_INFO, UMAD_METHOD_SET, 36, sa_inform_set },
	{ UMAD_SA_ATTR_INFORM_INFO_REC, UMAD_METHOD_GET, 60, sa_inform_record },
	{ UMAD_SA_ATTR_INFORM_INFO_REC, UMAD_SA_METHOD_GET_TABLE, 60, sa_inform_record },
	{ UMAD_SA_ATTR_NODE_REC, UMAD_METHOD_GET, 108, sa_node_record },
	{ UMAD_SA_ATTR_NODE_REC, UMAD_SA_METHOD_GET_TABLE, 108, sa_node_record },
	{ UMAD_SA_ATTR_PORT_INFO_REC, UMAD_METHOD_GET, 68, sa_portinfo_record },
	{ UMAD_SA_ATTR_PORT_INFO_REC, UMAD_SA_METHOD_GET_TABLE, 68, sa_portinfo_record },
	{ UMAD_ATTR_CLASS_PORT_INFO, UMAD_METHOD_GET, 0, class_port_info },
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
