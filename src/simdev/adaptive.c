/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adaptive routing as far as it is public: AdaptiveRoutingInfo, a vendor-specific attribute of
 * switches.  While it is on, a switch forwards by a table of its own.  The groups of ports in
 * that table are not modelled: one port of each group stands for it, which is that of the
 * linear table at the time when it was switched on, or is given by `qosd-sim ctl adaptive`.
 */
#include <stdlib.h>

#include "simdev/internal.h"

#define ENABLED 1u
#define NO_FALLBACK (1u << 24)
#define GROUPS 1024u	/* AdaptiveRoutingGroupCap */

static void begin(const struct smp *q, struct sim_switch *sw)
{
	if (!sw->adaptive_lft)
		sw->adaptive_lft = xmemdup(sw->lft, (q->node->profile->lft_cap + 63u) & ~63u);
}

void adaptive_end(struct sim_switch *sw)
{
	free(sw->adaptive_lft);
	sw->adaptive_lft = NULL;
}

unsigned sma_adaptive_routing_info(struct smp *q)
{
	struct sim_switch *sw = switch_of(q->s->f, q->node);
	uint32_t word = get_be32(q->data);

	if (q->set) {
		q->changed = !sw->adaptive_lft != !(word & ENABLED) ||
			     sw->no_fallback != !!(word & NO_FALLBACK);
		sw->no_fallback = word & NO_FALLBACK;
		if (word & ENABLED)
			begin(q, sw);
		else
			adaptive_end(sw);
	}
	memset(q->data, 0, SMP_DATA_SIZE);
	put_be32(q->data, (sw->no_fallback ? NO_FALLBACK : 0) | (sw->adaptive_lft ? ENABLED : 0));
	put_be32(q->data + 4, GROUPS);
	return STATUS_OK;
}
