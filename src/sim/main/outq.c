/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the queue of messages; see outq.h.
 *
 * Records are in one piece of memory between head and tail, 8-byte aligned: a size_t with the
 * length, and then the message.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "outq.h"
#include "sim/preload/socket.h"

#define BATCH		64
#define KEEP		(256u << 10)	/* bytes of memory that an empty queue keeps */

static size_t record_size(size_t n)
{
	return (sizeof(size_t) + n + 7) & ~(size_t)7;
}

static size_t message_at(const struct outq *q, size_t at, char **message)
{
	size_t n;

	memcpy(&n, q->data + at, sizeof(n));
	*message = q->data + at + sizeof(n);
	return n;
}

static void make_room(struct outq *q, size_t n)
{
	if (q->head && q->cap - (q->tail - q->head) >= n && q->head >= q->cap / 2) {
		memmove(q->data, q->data + q->head, q->tail - q->head);
		q->tail -= q->head;
		q->head = 0;
	}
	if (q->cap - q->tail >= n)
		return;
	q->cap = 2 * (q->tail + n);
	q->data = xrealloc(q->data, q->cap, 1);
}

void *outq_add(struct outq *q, const void *message, size_t n)
{
	char *copy;

	make_room(q, record_size(n));
	memcpy(q->data + q->tail, &n, sizeof(n));
	copy = q->data + q->tail + sizeof(n);
	memcpy(copy, message, n);
	q->tail += record_size(n);
	return copy;
}

static void consumed(struct outq *q, size_t n)
{
	q->head += n;
	if (q->head < q->tail)
		return;
	q->head = q->tail = 0;
	if (q->cap > KEEP)
		outq_free(q);
}

/*
 * Collects the messages from head on that can be sent directly.  Returns how many, and their record
 * sizes.
 */
static int gather(const struct outq *q, struct mmsghdr *m, struct iovec *v, size_t *sizes)
{
	int count = 0;

	for (size_t at = q->head; at < q->tail && count < BATCH; count++) {
		char *message;
		size_t n = message_at(q, at, &message);

		if (n > SIM_INLINE_MAX)
			break;
		v[count] = (struct iovec){ .iov_base = message, .iov_len = n };
		m[count] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &v[count], .msg_iovlen = 1 } };
		sizes[count] = record_size(n);
		at += sizes[count];
	}
	return count;
}

/* True if at least one message was sent. */
static bool send_plain(struct outq *q, int fd)
{
	struct mmsghdr m[BATCH];
	struct iovec v[BATCH];
	size_t sizes[BATCH], done = 0;
	int n = gather(q, m, v, sizes), sent;

	sent = sendmmsg(fd, m, (unsigned)n, MSG_DONTWAIT | MSG_NOSIGNAL);
	for (int i = 0; i < sent; i++)
		done += sizes[i];
	if (done)
		consumed(q, done);
	return sent > 0;
}

static bool send_large(struct outq *q, int fd, const char *message, size_t n)
{
	int memory = sock_memory_file(message, n);
	bool sent = memory >= 0 && sock_send_file(fd, memory, n, MSG_DONTWAIT) == 0;
	int error = errno;

	if (memory >= 0)
		close(memory);
	if (sent)
		consumed(q, record_size(n));
	errno = error;
	return sent;
}

enum outq_state outq_send(struct outq *q, int fd)
{
	while (q->head < q->tail) {
		char *message;
		size_t n = message_at(q, q->head, &message);
		bool sent = n > SIM_INLINE_MAX ? send_large(q, fd, message, n) : send_plain(q, fd);

		/* without a descriptor or memory for it, try again later */
		if (!sent)
			return errno == EPIPE || errno == ECONNRESET ? OUTQ_BROKEN : OUTQ_BLOCKED;
	}
	return OUTQ_EMPTY;
}

void outq_free(struct outq *q)
{
	free(q->data);
	*q = (struct outq){ 0 };
}
