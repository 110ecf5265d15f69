/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is on its way to one client: messages in order, sent as far as the socket
 * takes them.
 */
#ifndef QOSD_SIM_MAIN_OUTQ_H
#define QOSD_SIM_MAIN_OUTQ_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes; with this much queued it is full, but what belongs together is not parted. */
#define OUTQ_MAX (16u << 20)

struct outq {
	char *data;			/* records, each with its length before it */
	size_t cap, head, tail;
};

static inline bool outq_full(const struct outq *q)
{
	return q->tail - q->head >= OUTQ_MAX;
}

/* The copy in the queue, which may be changed until the next call. */
void *outq_add(struct outq *q, const void *message, size_t n);
enum outq_state { OUTQ_EMPTY, OUTQ_BLOCKED, OUTQ_BROKEN };
/* Sends messages; large ones by memory file, see qosd/sim.h. */
enum outq_state outq_send(struct outq *q, int fd);
void outq_free(struct outq *q);

#endif
