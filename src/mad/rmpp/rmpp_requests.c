/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Receives RMPP requests, acknowledging segments and assembling the message.
 *
 * A complete request goes to its server and is remembered for a while: a client that missed the
 * last ACK repeats a segment, which must not be taken for a new request.
 */
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "mad/rmpp/rmpp_transfers.h"

static void keep(struct transfers *ts, struct transfer *t, const struct ib_user_mad *u)
{
	bool kept = transfer_room(ts, u, KEPT);

	if (kept)
		transfer_turns(ts, t, KEPT);
	else
		transfer_end(ts, t);
}

void transfer_take_data(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad)
{
	struct transfer *t = transfer_find(ts, u, mad, false);
	uint8_t back[RMPP_MAD], status = rmpp_data_check(mad), *message;
	int64_t now_us = clock_mono_us();
	size_t len;

	if (status) {
		transfers_send_back(ts, u, mad, RMPP_ABORT, status);
		if (t && t->kind == RECEIVE)
			transfer_end(ts, t);
		return;
	}
	if (!t) {
		if (get_be32(mad + RMPP_OFF_SEGMENT) != 1)
			return;
		if (!transfer_may_begin(ts, u, RECEIVE) || !transfer_room(ts, u, RECEIVE)) {
			transfers_send_back(ts, u, mad, RMPP_STOP, RMPP_NO_RESOURCES);
			return;
		}
		t = transfer_add(ts, u, mad, RECEIVE);
		rmpp_recv_begin(&t->recv, now_us);
	}
	switch (rmpp_recv_take(&t->recv, mad, now_us, &status)) {
	case RMPP_TOOK:
		break;
	case RMPP_TOOK_ACK:
		rmpp_recv_ack(&t->recv, back, mad);
		transfers_transmit(ts, u, back);
		break;
	case RMPP_TOOK_ALL:
		rmpp_recv_ack(&t->recv, back, mad);
		transfers_transmit(ts, u, back);
		message = t->recv.message;
		len = t->recv.len;
		t->recv.message = NULL;
		transfers_wake_at(ts, t->recv.due_us);
		keep(ts, t, u);
		ts->message(ts->arg, u, message, len);
		return;
	case RMPP_TOOK_STOP:
		transfers_send_back(ts, u, mad, RMPP_STOP, status);
		transfer_end(ts, t);
		return;
	case RMPP_TOOK_ABORT:
		transfers_send_back(ts, u, mad, RMPP_ABORT, status);
		transfer_end(ts, t);
		return;
	}
	transfers_wake_at(ts, t->recv.due_us);
}
