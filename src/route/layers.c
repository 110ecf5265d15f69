/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The layers of pairs of switches; see layers.h. */
#include <stdlib.h>

#include "base/alloc.h"
#include "route/layers.h"

void layers_free(struct route_layers *y)
{
	if (!y)
		return;
	free(y->place);
	free(y->of);
	free(y);
}
