/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Handles requests and answers of the general services (13.4, 13.5.3). */
#include "sim/dev/gs.h"

#define GSI_QP 1

bool gs_is_request(const struct packet *p, uint8_t mgmt_class)
{
	uint8_t method = p->mad[MAD_METHOD];

	if (p->mad[MAD_CLASS] != mgmt_class || (method & MAD_METHOD_RESPONSE) ||
	    method == METHOD_SEND || method == METHOD_TRAP || method == METHOD_REPORT ||
	    method == METHOD_TRAP_REPRESS)
		return false;
	return p->dqpn == GSI_QP && p->qkey == SIM_GSI_QKEY && p->mad[MAD_BASE_VERSION] == 1;
}

void gs_answer(struct sim *s, uint32_t port, struct packet *p, gs_handler *handler)
{
	uint8_t *mad = p->mad, method = mad[MAD_METHOD];
	unsigned status;

	if (mad[MAD_CLASS_VERSION] != 1)
		status = STATUS_BAD_VERSION;
	else if (method != METHOD_GET && method != METHOD_SET)
		status = STATUS_BAD_METHOD;
	else
		status = handler(s->f, port, get_be16(mad + MAD_ATTR), get_be32(mad + MAD_MOD),
				 method == METHOD_SET, mad + GS_DATA);
	wire_answer(s, port, p, status);
}

void gs_class_port_info(const struct sim_fabric *f, uint32_t port, uint16_t capmask,
			uint32_t capmask2, uint8_t *data)
{
	memset(data, 0, GS_DATA_SIZE);
	data[0] = 1;	/* BaseVersion */
	data[1] = 1;	/* ClassVersion */
	put_be16(data + 2, capmask);
	put_be32(data + 4, capmask2 << 5 | node_of(f, port)->profile->resp_time);
}
