/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes rates of counters between two reads; see port_rates.h. */
#include "perf/port_rates.h"

#define WORD 4	/* bytes */

void port_rate_restart(struct port_rates *x, enum port_rate r, uint64_t value, int64_t now_us)
{
	if (!x->read_us[r])
		x->per_s[r] = RATE_UNKNOWN;
	x->last[r] = value;
	x->read_us[r] = now_us;
}

void port_rate_take(struct port_rates *x, enum port_rate r, uint64_t value, unsigned bits, int64_t now_us)
{
	struct pma_growth g = pma_growth(x->last[r], value, bits);
	int64_t before_us = x->read_us[r];
	double seconds = (double)(now_us - before_us) * 1e-6;

	port_rate_restart(x, r, value, now_us);
	x->per_s[r] = RATE_UNKNOWN;
	if (!before_us || now_us <= before_us || g.is != GROWTH_KNOWN)
		return;
	x->per_s[r] = (float)((double)g.n * (r == RATE_WAITED ? 1 : WORD) / seconds);
}

float port_rate(const struct port_rates *x, enum port_rate r, int64_t since_us)
{
	return x && x->read_us[r] && x->read_us[r] >= since_us ? x->per_s[r] : RATE_UNKNOWN;
}
