/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements allocation, text buffers, the GUID hash map and the clocks.
 *
 * The headers state the contracts.  Nothing here knows of InfiniBand.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/map64.h"

static void out_of_memory(void)
{
	static const char msg[] = "qosd: out of memory\n";
	fwrite(msg, 1, sizeof(msg) - 1, stderr);
	abort();
}

#define MAPPED_FROM (256 * 1024)	/* bytes; free() unmaps allocations of at least this size */

void alloc_give_back(void)
{
#ifdef __GLIBC__
	/* unless it is set, glibc raises the threshold up to 32 MiB as large blocks are freed */
	mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
	/* with an arena per worker, one block that outlives the worker pins its whole arena */
	mallopt(M_ARENA_MAX, 1);
#endif
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);
	if (!p)
		out_of_memory();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);
	if (!p)
		out_of_memory();
	return p;
}

void *xrealloc(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n ? n : 1, size ? size : 1);
	if (!p)
		out_of_memory();
	return p;
}

void *xmemdup(const void *p, size_t size)
{
	void *copy = xmalloc(size);
	memcpy(copy, p, size);
	return copy;
}

char *xstrndup(const char *s, size_t n)
{
	n = strnlen(s, n);
	char *p = xmalloc(n + 1);
	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *xstrdup(const char *s)
{
	return xmemdup(s, strlen(s) + 1);
}

char *xstrdup_or_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

char *xasprintf(const char *fmt, ...)
{
	struct buf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	return b.s;
}

void vec_grow(void **v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return;
	*cap = *cap ? *cap * 2 : 8;
	*v = xrealloc(*v, *cap, size);
}

/* Makes room for n more bytes and the NUL. */
void buf_reserve(struct buf *b, size_t n)
{
	size_t need = b->n + n + 1;

	if (need <= b->cap)
		return;
	if (b->cap == 0)
		b->cap = 64;
	while (b->cap < need)
		b->cap *= 2;
	b->s = xrealloc(b->s, b->cap, 1);
}

void buf_add(struct buf *b, const void *data, size_t n)
{
	buf_reserve(b, n);
	if (n)
		memcpy(b->s + b->n, data, n);
	b->n += n;
	b->s[b->n] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_put_bits(struct buf *b, unsigned bits)
{
	const char *between = "";

	for (unsigned first = 0; first < 32 && bits >> first; first++) {
		unsigned last = first;

		if (!(bits >> first & 1))
			continue;
		while (last < 31 && bits >> (last + 1) & 1)
			last++;
		buf_printf(b, "%s%u", between, first);
		if (last > first)
			buf_printf(b, last == first + 1 ? ", %u" : "-%u", last);
		between = ", ";
		first = last;
	}
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n >= 0) {
		buf_reserve(b, (size_t)n);
		vsnprintf(b->s + b->n, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

bool buf_read(struct buf *b, int fd, size_t max)
{
	char chunk[65536];
	size_t got = 0;
	ssize_t n;

	while (got <= max) {
		n = read(fd, chunk, sizeof(chunk));
		if (n == 0)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			buf_add(b, chunk, (size_t)n);
			got += (size_t)n;
		}
	}
	errno = EFBIG;
	return false;
}

void buf_consume(struct buf *b, size_t n)
{
	if (n >= b->n)
		b->n = 0;
	else {
		memmove(b->s, b->s + n, b->n - n);
		b->n -= n;
	}
	if (b->s)
		b->s[b->n] = '\0';
}

void buf_free(struct buf *b)
{
	free(b->s);
	*b = (struct buf){ 0 };
}

static void map64_alloc(struct map64 *m, uint32_t slots)
{
	m->slots = xmalloc(slots * sizeof(*m->slots));
	m->mask = slots - 1;
	m->n = 0;
	for (uint32_t i = 0; i < slots; i++)
		m->slots[i].value = MAP64_NONE;
}

void map64_init(struct map64 *m, uint32_t expected)
{
	uint32_t slots = 8;

	while (slots < expected * 2ull && slots < 1u << 31)
		slots *= 2;
	map64_alloc(m, slots);
}

void map64_free(struct map64 *m)
{
	free(m->slots);
	*m = (struct map64){ 0 };
}

void map64_clear(struct map64 *m)
{
	map64_free(m);
	map64_init(m, 16);
}

void map64_clone(struct map64 *dst, const struct map64 *src)
{
	*dst = *src;
	if (src->slots)
		dst->slots = xmemdup(src->slots, ((size_t)src->mask + 1) * sizeof(*src->slots));
}

static struct map64_slot *map64_find(const struct map64 *m, uint64_t key)
{
	uint32_t i = (uint32_t)hash64(key) & m->mask;

	while (m->slots[i].value != MAP64_NONE && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return &m->slots[i];
}

uint32_t map64_get(const struct map64 *m, uint64_t key)
{
	return m->slots ? map64_find(m, key)->value : MAP64_NONE;
}

uint32_t map64_put(struct map64 *m, uint64_t key, uint32_t value)
{
	if (!m->slots)
		map64_init(m, 4);
	if (m->n >= m->mask / 2) {
		struct map64 old = *m;

		map64_alloc(m, (old.mask + 1) * 2);
		for (uint32_t i = 0; i <= old.mask; i++) {
			if (old.slots[i].value == MAP64_NONE)
				continue;
			*map64_find(m, old.slots[i].key) = old.slots[i];
			m->n++;
		}
		free(old.slots);
	}
	struct map64_slot *s = map64_find(m, key);
	uint32_t former = s->value;

	if (former == MAP64_NONE)
		m->n++;
	s->key = key;
	s->value = value;
	return former;
}

uint64_t hash_bytes(const void *data, size_t n, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t h = hash64(seed ^ (n * 0x9e3779b97f4a7c15ULL));

	while (n) {
		uint64_t w = 0;
		size_t k = n < 8 ? n : 8;

		memcpy(&w, p, k);
		h = hash64(h ^ w) + 0x9e3779b97f4a7c15ULL;
		p += k;
		n -= k;
	}
	return h;
}

static int64_t clock_us(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_mono_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

int64_t clock_boot_us(void)
{
	return clock_us(CLOCK_BOOTTIME);
}

int64_t clock_real_us(void)
{
	return clock_us(CLOCK_REALTIME);
}

void clock_cond_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

void clock_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t end_us)
{
	const struct timespec t = { .tv_sec = (time_t)(end_us / 1000000),
				    .tv_nsec = (long)(end_us % 1000000) * 1000 };

	pthread_cond_timedwait(c, lock, &t);
}
