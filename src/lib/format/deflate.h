/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compresses text for programs that read pages, such as browsers; the only user of zlib. */
#ifndef QOSD_LIB_FORMAT_DEFLATE_H
#define QOSD_LIB_FORMAT_DEFLATE_H

#include <stddef.h>

#include "lib/base/buf.h"

/* Appends n bytes in the format of zlib (RFC 1950), as base64 (RFC 4648) with padding and without line ends. */
void deflate_base64(const void *data, size_t n, struct buf *out);

#endif
