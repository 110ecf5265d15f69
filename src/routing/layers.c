/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frees the layers of pairs of switches and translates them to another fabric; see layers.h. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/grid/grid.h"
#include "routing/layers.h"

static uint32_t *no_switches(uint32_t n)
{
	uint32_t *a = xmalloc((n + 1u) * sizeof(*a));

	for (uint32_t i = 0; i < n; i++)
		a[i] = FABRIC_NONE;
	return a;
}

struct route_layers *route_layers_on(const struct route_layers *y, uint32_t n, const uint32_t *to)
{
	struct route_layers *x = xmemdup(y, sizeof(*y));
	size_t row = y->link_ports;

	x->n_switches = n;
	x->of = xmemdup(y->of, route_layers_pair(y->n_places, 0));
	x->place = no_switches(n);
	x->tree = y->tree ? no_switches(n) : NULL;
	x->link = y->link ? xmalloc(n * row + 1) : NULL;
	if (x->link)
		memset(x->link, ROUTE_LINK_FIRST, n * row);
	x->grid = y->grid ? grid_renumbered(y->grid, y->n_switches, n, to) : NULL;
	for (uint32_t sw = 0; sw < y->n_switches; sw++) {
		if (to[sw] == FABRIC_NONE)
			continue;
		x->place[to[sw]] = y->place[sw];
		if (x->link)
			memcpy(route_links(x, to[sw]), route_links(y, sw), row);
		if (x->tree && y->tree[sw] != FABRIC_NONE)
			x->tree[to[sw]] = to[y->tree[sw]];
	}
	return x;
}

void route_layers_free(struct route_layers *y)
{
	if (!y)
		return;
	free(y->place);
	free(y->of);
	free(y->link);
	free(y->tree);
	grid_free(y->grid);
	free(y);
}
