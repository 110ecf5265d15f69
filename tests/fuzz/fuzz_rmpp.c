/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Feeds both ends of RMPP with arbitrary headers (libFuzzer's interface).  Each
 * 12 bytes are a step: which end, flags, status, time that passes (8 ms each), SegmentNumber
 * and PayloadLength or NewWindowLast, big-endian.
 *
 * With -DFUZZ_REPLAY the program takes the files that are named and runs each
 * of them once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "mad/rmpp/rmpp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEP = 12, MESSAGE_SEGMENTS = 600 };
enum { TO_SENDER = 0, TO_RECEIVER = 1, NOTHING = 2 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_sender(const struct rmpp_send *r)
{
	must(r->acked <= r->sent && r->sent <= r->made);
	must(r->made - r->acked < RMPP_SEND_KEEP && r->cap <= RMPP_SEND_KEEP);
	must(!r->last || r->made == r->last);
	must(r->sent <= r->window || r->window == 1);
}

static void send_all(struct rmpp_send *r, int64_t now)
{
	uint8_t mad[RMPP_MAD] = { 0 }, piece[RMPP_DATA_LEN] = { 0 };
	unsigned n = 0;

	while (rmpp_send_wants(r))
		rmpp_send_add(r, piece, sizeof(piece), r->made + 1 == MESSAGE_SEGMENTS);
	for (; rmpp_send_next(r, mad, now); n++)
		must(get_be32(mad + RMPP_OFF_SEGMENT) <= r->window && !mad[RMPP_OFF_STATUS]);
	must(n <= 2 * RMPP_SEND_KEEP);		/* all of a window, and once more */
	check_sender(r);
}

static void check_receiver(const struct rmpp_recv *r)
{
	must(r->acked <= r->have && r->have <= r->window && r->window - r->have <= 65);
	must(r->cap <= RMPP_MESSAGE_MAX && r->len <= RMPP_MESSAGE_MAX);
	must(!r->complete || r->have == r->last);
}

/* Zero: it goes on. */
static uint8_t receive(struct rmpp_recv *r, const uint8_t *mad, int64_t now)
{
	uint8_t status = rmpp_data_check(mad), reply[RMPP_MAD];

	if (status)
		return status;
	switch (rmpp_recv_take(r, mad, now, &status)) {
	case RMPP_TOOK:
		return 0;
	case RMPP_TOOK_ACK:
	case RMPP_TOOK_ALL:
		rmpp_recv_ack(r, reply, mad);
		must(get_be32(reply + RMPP_OFF_LENGTH) >= get_be32(reply + RMPP_OFF_SEGMENT));
		if (r->complete)
			rmpp_recv_end(r);
		return 0;
	default:
		must(status != 0);
		return status;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rmpp_send tx;
	struct rmpp_recv rx;
	int64_t now = 1000000;

	rmpp_send_begin(&tx, size ? data[0] * INT64_C(100) : 0, now);
	rmpp_recv_begin(&rx, now);
	for (; size >= STEP; data += STEP, size -= STEP) {
		uint8_t mad[RMPP_MAD] = { 0 };

		mad[RMPP_OFF_FLAGS] = data[1] | RMPP_ACTIVE;
		mad[RMPP_OFF_STATUS] = data[2];
		memcpy(mad + RMPP_OFF_SEGMENT, data + 4, 8);
		now += data[3] * 8000;
		if (data[0] == TO_RECEIVER && receive(&rx, mad, now))
			break;
		if (data[0] == TO_SENDER && rmpp_send_acked(&tx, mad, now))
			break;
		if (rmpp_send_done(&tx) || rmpp_send_late(&tx, now))
			break;
		send_all(&tx, now);
		check_receiver(&rx);
	}
	rmpp_send_end(&tx);
	rmpp_recv_end(&rx);
	return 0;
}
