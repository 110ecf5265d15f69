/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements the container of forwarding tables and lists the engines. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/route.h"

const struct route_engine *const route_engines[] = { &route_updn, &route_grid, &route_dragonfly,
						    &route_layered, &route_minhop, NULL };

const struct route_engine *route_engine_find(const char *name)
{
	for (const struct route_engine *const *e = route_engines; *e; e++)
		if (!strcmp((*e)->name, name))
			return *e;
	return NULL;
}

struct lfts *lfts_new(uint32_t n_switches, uint16_t top)
{
	struct lfts *l = xmalloc(sizeof(*l));
	uint32_t stride = (top / LFT_BLOCK + 1u) * LFT_BLOCK;

	*l = (struct lfts){ .n_switches = n_switches, .top = top, .stride = stride };
	l->entries = xmalloc((size_t)n_switches * stride);
	memset(l->entries, LFT_DROP, (size_t)n_switches * stride);
	return l;
}

struct lfts *lfts_copy(const struct lfts *l)
{
	struct lfts *copy = xmemdup(l, sizeof(*l));

	copy->entries = xmemdup(l->entries, (size_t)l->n_switches * l->stride);
	return copy;
}

void lfts_free(struct lfts *l)
{
	if (!l)
		return;
	free(l->entries);
	free(l);
}
