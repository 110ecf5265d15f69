/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads and writes frames; see rings.h for what the guest may do meanwhile. */
#include <assert.h>
#include <endian.h>
#include <string.h>

#include "sim/hca/rings.h"

#define FRAME_HEAD	((uint32_t)sizeof(struct simhca_frame))
#define ALIGNMENT	8u

static_assert(SIMHCA_TO_DRIVER + sizeof(struct simhca_ring) <= SIMHCA_MEMORY, "both rings fit");
static_assert(sizeof(struct simhca_header) <= SIMHCA_TO_HCA, "the header fits before them");
static_assert(sizeof(struct simhca_ring) == SIMHCA_TO_DRIVER - SIMHCA_TO_HCA, "they do not overlap");
static_assert(sizeof(struct simhca_frame) == 16, "a frame's header is two words of 64 bits");

static uint32_t padded(uint32_t length)
{
	return (length + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

void rings_open(void *memory, struct ring_reader *r, struct ring_writer *w)
{
	char *base = memory;

	*r = (struct ring_reader){ .ring = (void *)(base + SIMHCA_TO_HCA) };
	*w = (struct ring_writer){ .ring = (void *)(base + SIMHCA_TO_DRIVER) };
}

static uint32_t load(const __u32 *count)
{
	return le32toh(__atomic_load_n(count, __ATOMIC_ACQUIRE));
}

static void store(__u32 *count, uint32_t value)
{
	__atomic_store_n(count, htole32(value), __ATOMIC_RELEASE);
}

/* --- reading --- */

uint32_t ring_look(struct ring_reader *r, const char **wrong)
{
	uint32_t written = load(&r->ring->written), n = written - r->read;

	*wrong = NULL;
	if (n > SIMHCA_RING_SIZE || n % ALIGNMENT) {
		*wrong = "the count of written bytes is impossible";
		return 0;
	}
	r->end = written;
	return n;
}

/* A word of the ring, read once. */
static uint64_t word_at(const struct simhca_ring *ring, uint32_t at)
{
	const uint64_t *word = (const void *)&ring->data[at % SIMHCA_RING_SIZE];

	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void copy_from(const struct simhca_ring *ring, uint32_t at, void *to, uint32_t n)
{
	uint32_t from = at % SIMHCA_RING_SIZE, room = SIMHCA_RING_SIZE - from;
	uint32_t first = n < room ? n : room;

	memcpy(to, ring->data + from, first);
	memcpy((char *)to + first, ring->data, n - first);
}

static void take_head(const struct ring_reader *r, struct frame *f)
{
	uint64_t words[2] = { word_at(r->ring, r->read), word_at(r->ring, r->read + ALIGNMENT) };
	struct simhca_frame head;

	memcpy(&head, words, sizeof(head));
	f->length = le32toh(head.length);
	f->kind = head.kind;
	f->port = head.port;
	f->flags = le16toh(head.flags);
	f->id = le64toh(head.id);
}

bool ring_take(struct ring_reader *r, struct frame *f, const char **wrong)
{
	uint32_t left = r->end - r->read;

	*wrong = NULL;
	if (!left)
		return false;
	take_head(r, f);	/* one that is not all there says too long a length, whatever it says */
	if (f->length > FRAME_MAX || FRAME_HEAD + padded(f->length) > left) {
		*wrong = "a frame is longer than it can be";
		return false;
	}
	copy_from(r->ring, r->read + FRAME_HEAD, f->data, f->length);
	r->read += FRAME_HEAD + padded(f->length);
	store(&r->ring->read, r->read);
	return true;
}

void ring_skip(struct ring_reader *r)
{
	r->read = r->end = load(&r->ring->written) & ~(ALIGNMENT - 1);
	store(&r->ring->read, r->read);
}

/* --- writing --- */

static void copy_to(struct simhca_ring *ring, uint32_t at, const void *from, uint32_t n)
{
	uint32_t to = at % SIMHCA_RING_SIZE, room = SIMHCA_RING_SIZE - to;
	uint32_t first = n < room ? n : room;

	memcpy(ring->data + to, from, first);
	memcpy(ring->data, (const char *)from + first, n - first);
}

enum ring_put ring_put(struct ring_writer *w, const struct frame *f)
{
	const struct simhca_frame head = {
		.length = htole32(f->length), .kind = f->kind, .port = f->port,
		.flags = htole16(f->flags), .id = htole64(f->id),
	};
	uint32_t used = w->written - load(&w->ring->read), need = FRAME_HEAD + padded(f->length);

	if (used > SIMHCA_RING_SIZE || used % ALIGNMENT)
		return RING_WRONG;
	if (need > SIMHCA_RING_SIZE - used)
		return RING_FULL;
	copy_to(w->ring, w->written, &head, FRAME_HEAD);
	copy_to(w->ring, w->written + FRAME_HEAD, f->data, f->length);
	w->written += need;
	store(&w->ring->written, w->written);
	return RING_PUT;
}
