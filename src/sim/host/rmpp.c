/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Passes RMPP packets (13.6) to the right end of a transfer, and makes replies.
 *
 * The type of a packet tells which end it is for: DATA for the receiver, ACK for the sender, STOP
 * and ABORT for whichever end is here.
 */
#include "sim/host/parts.h"

unsigned class_data_offset(uint8_t mgmt_class)
{
	if (mgmt_class == CLASS_SA)
		return 56;
	if (mgmt_class == CLASS_DM || mgmt_class == CLASS_DEVICE_ADM || mgmt_class == CLASS_BIS)
		return 64;
	return class_has_rmpp(mgmt_class) ? 40 : MAD_HEAD;
}

void rmpp_reply(struct host_file *h, const struct packet *p, uint8_t type, uint8_t status,
		uint32_t segment, uint32_t window)
{
	unsigned head = class_data_offset(p->mad[MAD_CLASS]);
	struct packet reply = *p;

	wire_turn_round(h->hosts->s, h->port->port, &reply);
	memset(reply.mad + head, 0, SIM_MAD_SIZE - head);
	reply.mad[MAD_METHOD] = p->mad[MAD_METHOD] ^ MAD_METHOD_RESPONSE;
	reply.mad[RMPP_VERSION] = 1;
	reply.mad[RMPP_TYPE] = type;
	reply.mad[RMPP_FLAGS] = (uint8_t)((p->mad[RMPP_FLAGS] >> RMPP_RTIME_SHIFT
					   << RMPP_RTIME_SHIFT) | RMPP_ACTIVE);
	reply.mad[RMPP_STATUS] = status;
	put_be32(reply.mad + RMPP_SEGMENT, segment);
	put_be32(reply.mad + RMPP_LENGTH, window);
	file_send(h, &reply);
}

static void stopped(struct host_agent *a, const struct packet *p)
{
	uint8_t type = p->mad[RMPP_TYPE], status = p->mad[RMPP_STATUS];
	bool valid = type == RMPP_STOP ? status == RMPP_RESX :
					 status >= RMPP_ABORT_MIN && status <= RMPP_ABORT_MAX;

	rmpp_send_abort(a, p);
	rmpp_recv_abort(a, p);
	if (!valid)
		rmpp_reply(a->file, p, RMPP_ABORT, RMPP_BAD_STATUS, 0, 0);
}

void rmpp_refuse(struct host_agent *a, const struct packet *p, uint8_t status)
{
	rmpp_send_abort(a, p);
	rmpp_reply(a->file, p, RMPP_ABORT, status, 0, 0);
}

void rmpp_packet(struct host_agent *a, const struct packet *p)
{
	if (p->mad[RMPP_VERSION] != 1) {
		rmpp_refuse(a, p, RMPP_BAD_VERSION);
		return;
	}
	switch (p->mad[RMPP_TYPE]) {
	case RMPP_DATA:
		rmpp_recv_data(a, p);
		break;
	case RMPP_ACK:
		rmpp_send_ack(a, p);
		break;
	case RMPP_STOP:
	case RMPP_ABORT:
		stopped(a, p);
		break;
	default:
		rmpp_refuse(a, p, RMPP_BAD_TYPE);
	}
}
