/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Serves the SA class in the loop's thread (private to mad/).
 *
 * sa_requests.c has the waiting requests.  It also gives turns to the RMPP transfers
 * (rmpp/rmpp_transfers.c).
 */
#ifndef QOSD_MAD_SA_REQUESTS_H
#define QOSD_MAD_SA_REQUESTS_H

#include "mad/fair_queue.h"
#include "mad/rmpp/rmpp.h"
#include "mad/umad_port.h"

struct transfers;

struct transfers *transfers_new(struct mad_port *m, const struct mad_settings *s,
				void (*message)(void *arg, const struct ib_user_mad *u,
						uint8_t *mad, size_t len), void *arg);
void transfers_free(struct transfers *ts);
/* Takes an RMPP MAD.  When a request is complete, message() takes over its memory. */
void transfers_take(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad);
/* Whether transfers_stream() would accept an answer that keeps nothing in memory. */
bool transfers_may_stream(struct transfers *ts, const struct ib_user_mad *to, const uint8_t *request);
bool transfers_stream(struct transfers *ts, const struct ib_user_mad *to, const uint8_t *request,
		      struct mad_source *source);
void transfers_reply(struct transfers *ts, const struct ib_user_mad *to, const uint8_t *mad);
/* Sends a few segments of the next transfer in turn; false if none has anything to send. */
bool transfers_visit(struct transfers *ts);
/* Ends all transfers of the holder. */
void transfers_end_of(struct transfers *ts, uint64_t holder);
bool transfers_ready(const struct transfers *ts);

#endif
