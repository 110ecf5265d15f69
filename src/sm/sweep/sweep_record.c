/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the event of a sweep that has ended; see sweep_record.h. */
#include "sm/sweep/sweep_record.h"

#include <inttypes.h>

#include "lib/base/clock.h"
#include "sm/sm_internal.h"

#define AT_LEAST_EVERY_US (3600 * INT64_C(1000000))

static bool is_alike(const struct sweep_records *r, uint64_t sets, bool complete, int64_t now_us)
{
	return r->told_us && !sets && complete == r->complete && now_us - r->told_us < AT_LEAST_EVERY_US;
}

void sweep_record(struct sm *sm, const char *result)
{
	struct sweep_records *r = &sm->last.records;
	const struct mad_counts *c = mad_counts(sm->mad);
	uint64_t smps = c->smps - sm->sweep.smps_before, sets = c->sets_total - sm->sweep.sets_before;
	int64_t now_us = clock_mono_us(), ms = (now_us - sm->sweep.started_us + 500) / 1000;
	const char *kind = sweep_kinds[sm->sweep.kind].name;
	struct event e;

	if (is_alike(r, sets, !result, now_us)) {
		r->alike++;
		return;
	}
	event_make(&e, EVENT_SWEEP_DONE, "sweep (%s): %s: %.3f s, %" PRIu64 " SMPs (%" PRIu64 " Sets)%s%s", kind,
		   sm->sweep.reason, (double)ms * 1e-3, smps, sets, result ? "; incomplete: " : "",
		   result ? result : "");
	event_text(&e, "kind", "%s", kind);
	event_text(&e, "reason", "%s", sm->sweep.reason);
	event_text(&e, "result", "%s", result ? result : "complete");
	event_number(&e, "milliseconds", ms);
	event_number(&e, "smps", (int64_t)smps);
	event_number(&e, "sets", (int64_t)sets);
	event_number(&e, "alike", r->alike);
	*r = (struct sweep_records){ .told_us = now_us, .complete = !result };
	sm_tell(sm, &e);
}
