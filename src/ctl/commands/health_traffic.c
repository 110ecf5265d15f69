/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges what port counters tell about shares and SLs; see health_judges.h. */
#include "ctl/commands/health_judges.h"

#include <inttypes.h>

void health_shares(const struct health_input *in, struct health *h)
{
	struct health_list missed = { h, FOUND_SHARE_MISSED, 0 };

	for (size_t i = 0; i < in->n_shorts; i++) {
		const struct perf_finding *x = &in->shorts[i];
		int64_t age_us = in->now_us - x->when_us;

		health_list_add(&missed, "%s: level %s got %.0f %% of %.0f %% promised while waiting, %"
				PRId64 " s ago", x->port, x->levels, x->got * 100, x->promised * 100, age_us >
				0 ? age_us / 1000000 : 0);
	}
	health_list_end(&missed);
}

/* One entry for all ports of an SL or VL, of which the first ten are named. */
void health_strays(const struct health_input *in, struct health *h)
{
	for (size_t i = 0, end; i < in->n_strays; i = end) {
		const struct perf_stray *x = &in->strays[i];
		struct buf ports = { 0 };
		uint64_t bytes = 0;

		for (end = i; end < in->n_strays && in->strays[end].by_vl == x->by_vl &&
			      in->strays[end].lane == x->lane; end++) {
			bytes += in->strays[end].bytes;
			if (end - i < HEALTH_EACH)
				buf_printf(&ports, "%s%s", end > i ? ", " : "", in->strays[end].port);
		}
		if (end - i > HEALTH_EACH)
			buf_printf(&ports, " and %zu more", end - i - HEALTH_EACH);
		health_add(h, FOUND_SL_WITHOUT_LEVEL, "%s %u carries data, but no level has it: %" PRIu64
			   " bytes when last measured, sent by %s", x->by_vl ? "VL" : "SL", x->lane, bytes,
			   ports.s);
		buf_free(&ports);
	}
}
