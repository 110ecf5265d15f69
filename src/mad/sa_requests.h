/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to mad/: the SA class in the loop's thread.  sa_requests.c has the requests
 * that wait, rmpp_transfers.c the RMPP transfers under way, which it serves in turn, too.
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
/* An RMPP MAD.  message(), for a request that is complete, takes over its memory. */
void transfers_take(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad);
/* Whether transfers_stream() would take an answer that keeps nothing in memory. */
bool transfers_may_stream(struct transfers *ts, const struct ib_user_mad *to, const uint8_t *request);
bool transfers_stream(struct transfers *ts, const struct ib_user_mad *to, const uint8_t *request,
		      struct mad_source *source);
void transfers_reply(struct transfers *ts, const struct ib_user_mad *to, const uint8_t *mad);
/* Sends a few segments of the transfer whose turn it is; false: none has anything to send. */
bool transfers_visit(struct transfers *ts);
/* Ends those that the holder answers for. */
void transfers_end_of(struct transfers *ts, uint64_t holder);
bool transfers_ready(const struct transfers *ts);

#endif
