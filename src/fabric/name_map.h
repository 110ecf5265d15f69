/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that an administrator gives to nodes by GUID, in place of their NodeDescriptions.
 *
 * The format is that of infiniband-diags and OpenSM: a line has a GUID and a name in double quotes; # begins a
 * comment.  A map never changes once it is read; any thread may read it, and take and drop references.
 */
#ifndef QOSD_FABRIC_NAME_MAP_H
#define QOSD_FABRIC_NAME_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/findings.h"

#define NODE_NAME_MAX 64	/* bytes of a name, as of a NodeDescription */

struct name_map;
/*
 * Parses n bytes of any content.  What is no line of a map, a GUID's second name and a name that is too long have a
 * warning at their place in the file, and are left out.
 */
struct name_map *name_map_parse(const char *text, size_t n, const char *file, struct findings *out);
struct name_map *name_map_ref(struct name_map *m);	/* NULL is fine, here and below */
void name_map_unref(struct name_map *m);
size_t name_map_count(const struct name_map *m);
/* The name of a node, without control characters; NULL if the map has none. */
const char *name_map_get(const struct name_map *m, uint64_t guid);

#endif
