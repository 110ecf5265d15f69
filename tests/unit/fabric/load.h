/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of topology files share: loading a text by way of a file. */
#ifndef TESTS_FABRIC_LOAD_H
#define TESTS_FABRIC_LOAD_H

#include "fabric/fabric.h"

/*
 * The file's name in err and warn becomes "F".  warn may be NULL: the test fails if there is
 * any warning.
 */
struct fabric *load_warned(const void *text, size_t n, uint64_t sm, bool keep_lids,
			   struct buf *err, struct buf *warn);
struct fabric *load_bytes(const void *text, size_t n, uint64_t sm, bool keep_lids,
			  struct buf *err);
struct fabric *load(const char *text, uint64_t sm, bool keep_lids, struct buf *err);

#endif
