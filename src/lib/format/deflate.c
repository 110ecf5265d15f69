/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See deflate.h. */
#include "lib/format/deflate.h"

#include <stdint.h>
#include <stdlib.h>

#include <zlib.h>

#include "lib/base/alloc.h"

static void put_base64(const uint8_t *in, size_t n, struct buf *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char four[4];

	buf_reserve(out, (n + 2) / 3 * 4);
	for (size_t i = 0; i < n; i += 3) {
		size_t have = n - i < 3 ? n - i : 3;
		uint32_t bits = (uint32_t)in[i] << 16 | (have > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
				(have > 2 ? in[i + 2] : 0u);

		for (unsigned k = 0; k < 4; k++)
			four[k] = k <= have ? digits[bits >> (18 - 6 * k) & 63] : '=';
		buf_add(out, four, sizeof(four));
	}
}

void deflate_base64(const void *data, size_t n, struct buf *out)
{
	uLongf size = compressBound((uLong)n);
	uint8_t *packed = xmalloc(size);

	/* fails only for want of memory, which xmalloc() does not survive either */
	if (compress2(packed, &size, data, (uLong)n, 6) != Z_OK)
		abort();
	put_base64(packed, size, out);
	free(packed);
}
