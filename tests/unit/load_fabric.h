/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads a fabric from a topology file, for tests and benchmarks. */
#ifndef TESTS_UNIT_LOAD_FABRIC_H
#define TESTS_UNIT_LOAD_FABRIC_H

#include "fabric/dump/dump.h"
#include "fabric/fabric.h"

/* Returns NULL on failure; appends findings to err, one a line. */
static inline struct fabric *fabric_load(const char *path, uint64_t sm_guid, bool keep_lids,
					 struct buf *err)
{
	struct findings found = { 0 };
	struct dump *d = dump_read(&(struct dump_source){ .path = path }, &found);
	struct fabric *f = d ? fabric_of_dump(d, sm_guid, keep_lids, NULL, &found) : NULL;

	for (size_t i = 0; !f && i < found.n; i++) {
		findings_format(&found.v[i], err);
		buf_puts(err, "\n");
	}
	findings_free(&found);
	dump_release(d);
	return f;
}

#endif
