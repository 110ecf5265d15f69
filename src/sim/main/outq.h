/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queue of messages to one client, sent in order as far as the socket takes them. */
#ifndef QOSD_SIM_MAIN_OUTQ_H
#define QOSD_SIM_MAIN_OUTQ_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes at which the queue counts as full; messages that belong together may exceed it. */
#define OUTQ_MAX (16u << 20)

struct outq {
	char *data;			/* records, each preceded by its length */
	size_t cap, head, tail;
};

static inline bool outq_full(const struct outq *q)
{
	return q->tail - q->head >= OUTQ_MAX;
}

/* Returns the copy in the queue, which may be changed until the next call. */
void *outq_add(struct outq *q, const void *message, size_t n);
enum outq_state { OUTQ_EMPTY, OUTQ_BLOCKED, OUTQ_BROKEN };
/* Sends queued messages; large ones go as memory files, see qosd/sim.h. */
enum outq_state outq_send(struct outq *q, int fd);
void outq_free(struct outq *q);

#endif
