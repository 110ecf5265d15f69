/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arbitrary bytes as a map of nodes' names (libFuzzer's interface). */
#include <stdlib.h>
#include <string.h>

#include "fabric/name_map.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct findings found = { 0 };
	struct name_map *m = name_map_parse((const char *)data, size, "map", &found);
	const char *name = name_map_get(m, 0x10);

	if (found.count[SEV_ERROR] || (name && (!*name || strlen(name) > NODE_NAME_MAX || strchr(name, '\x1b'))))
		abort();
	name_map_unref(m);
	findings_free(&found);
	return 0;
}
