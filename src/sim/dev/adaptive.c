/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Models adaptive routing and private linear tables of switches, as far as they are public.
 *
 * AdaptiveRoutingInfo and PrivateLFTInfo are vendor-specific attributes.  While either feature is
 * on, a switch forwards by a table of its own.  Groups of ports, and tables for each port and SL,
 * are not modelled.  One table stands for all: a copy of the linear one at the time when the
 * feature was switched on, with the entries that `qosd-sim ctl adaptive` and `private` change.
 *
 * Private tables take precedence over adaptive routing.  A Set of the linear table ends adaptive
 * routing only.
 */
#include <stdlib.h>

#include "sim/dev/dev_internal.h"

#define ENABLED 1u
#define NO_FALLBACK (1u << 24)
#define GROUPS 1024u	/* AdaptiveRoutingGroupCap */
#define PRIVATE_TABLES	4	/* PrivateLFTInfo: NumPLFTs, ModeCap */
#define PRIVATE_MODES	1

static void begin(const struct smp *q, struct sim_switch *sw, uint8_t **table)
{
	if (!*table)
		*table = xmemdup(sw->lft, (q->node->profile->lft_cap + 63u) & ~63u);
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
			begin(q, sw, &sw->adaptive_lft);
		else
			adaptive_end(sw);
	}
	memset(q->data, 0, SMP_DATA_SIZE);
	put_be32(q->data, (sw->no_fallback ? NO_FALLBACK : 0) | (sw->adaptive_lft ? ENABLED : 0));
	put_be32(q->data + 4, GROUPS);
	return STATUS_OK;
}

unsigned sma_private_lft_info(struct smp *q)
{
	struct sim_switch *sw = switch_of(q->s->f, q->node);
	uint8_t mode = q->data[3];

	if (q->set && mode > PRIVATE_MODES)
		return STATUS_BAD_VALUE;
	if (q->set) {
		q->changed = mode != sw->private_mode;
		sw->private_mode = mode;
		if (mode) {
			begin(q, sw, &sw->private_lft);
		} else {
			free(sw->private_lft);
			sw->private_lft = NULL;
		}
	}
	memset(q->data, 0, SMP_DATA_SIZE);
	q->data[1] = PRIVATE_TABLES;
	q->data[2] = PRIVATE_MODES;
	q->data[3] = sw->private_mode;
	return STATUS_OK;
}
