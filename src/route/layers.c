/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The layers of pairs of switches; see layers.h. */
#include <stdlib.h>

#include "base/alloc.h"
#include "route/layers.h"

struct route_layers *route_layers_copy(const struct route_layers *y)
{
	struct route_layers *copy = xmemdup(y, sizeof(*y));

	copy->place = xmemdup(y->place, y->n_switches * sizeof(*y->place));
	copy->of = xmemdup(y->of, route_layers_pair(y->n_places, 0));
	return copy;
}

void route_layers_free(struct route_layers *y)
{
	if (!y)
		return;
	free(y->place);
	free(y->of);
	free(y);
}
