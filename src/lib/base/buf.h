/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A growable, always NUL-terminated text buffer. */
#ifndef QOSD_LIB_BASE_BUF_H
#define QOSD_LIB_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *s;	/* NULL until something is added */
	size_t n;	/* length without the final NUL */
	size_t cap;
};

/* Makes room for n more bytes, so that adding them does not move the text. */
void buf_reserve(struct buf *b, size_t n);
void buf_add(struct buf *b, const void *data, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* Appends the numbers of the bits that are set, as in "1, 4-7"; nothing if there are none. */
void buf_put_bits(struct buf *b, unsigned bits);
/*
 * Appends everything that can be read from fd.  False with errno if a read fails, or if there are
 * more than max bytes (EFBIG).
 */
bool buf_read(struct buf *b, int fd, size_t max);
/* Drops the first n bytes. */
void buf_consume(struct buf *b, size_t n);
void buf_free(struct buf *b);

#endif
