/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Formats events as JSON; see event_json.h. */
#include "events/event_json.h"

#include <inttypes.h>

#include "lib/format/json.h"

json_t *event_json(const struct events *es, const struct event *e)
{
	json_t *data = json_object();

	for (unsigned i = 0; i < e->n_members; i++) {
		const struct event_member *m = &e->members[i];

		json_object_set_new(data, m->name,
				    m->is_text ? json_text(m->text) : json_integer(m->number));
	}
	return json_pack("{s:I, s:o, s:o, s:o, s:s, s:s, s:o, s:o}",
			 "id", (json_int_t)e->id,
			 "boot", json_sprintf("%016" PRIx64, events_boot(es)),
			 "since", json_sprintf("%016" PRIx64 ":%" PRIu64, events_boot(es), e->id),
			 "time", json_time_us(e->when_us),
			 "kind", event_kind_name(e->kind), "severity", severity_name(e->severity),
			 "text", json_text(e->text), "data", data);
}
