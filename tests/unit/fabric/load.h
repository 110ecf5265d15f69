/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads a fabric from a text by way of a file, for the tests of topology files. */
#ifndef TESTS_FABRIC_LOAD_H
#define TESTS_FABRIC_LOAD_H

#include "fabric/fabric.h"

/* Replaces the name of the file in err by "F". */
struct fabric *load_bytes(const void *text, size_t n, uint64_t sm, bool keep_lids,
			  struct buf *err);
struct fabric *load(const char *text, uint64_t sm, bool keep_lids, struct buf *err);

#endif
