/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See flood.h. */
#include "mad/flood.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"

struct place {
	uint64_t source;
	struct mad_flood flood;		/* lid and kind; the counts once it is a flood */
	uint32_t n;			/* MADs in this window */
	int64_t window_us;		/* start of this window */
	bool used, is_flood, told;
};

struct flood_table {
	unsigned floods;		/* places with a flood, current or past */
	struct place places[FLOOD_PLACES];
};

/* MADs a second that make a flood.  Of SA requests only those that are turned away count. */
static const uint32_t limits[MAD_KINDS] = {
	[MAD_KIND_TRAP] = 200, [MAD_KIND_SMINFO_GET] = 2000, [MAD_KIND_SMINFO_SET] = 200,
	[MAD_KIND_SMP] = 1000, [MAD_KIND_SA] = 200, [MAD_KIND_RMPP] = 200,
	[MAD_KIND_ANSWER] = 1000, [MAD_KIND_UNKNOWN] = 1000,
};

struct flood_table *flood_table_new(void)
{
	return xcalloc(1, sizeof(struct flood_table));
}

void flood_table_free(struct flood_table *t)
{
	free(t);
}

static bool is_over(const struct place *p, int64_t now_us)
{
	return !p->is_flood || now_us - p->flood.last_us > FLOOD_OVER_US;
}

static void take_place(struct flood_table *t, struct place *p, uint64_t source, uint16_t lid,
		       enum mad_kind kind, int64_t now_us)
{
	t->floods -= p->is_flood;
	*p = (struct place){ .used = true, .source = source, .window_us = now_us,
			     .flood = { .lid = lid, .kind = kind } };
}

void flood_note(struct flood_table *t, uint64_t source, uint16_t lid, enum mad_kind kind,
		bool dropped, int64_t now_us)
{
	struct place *p = &t->places[hash64(source << 4 | kind) % FLOOD_PLACES];

	if (p->used && (p->source != source || p->flood.kind != kind)) {
		if (!is_over(p, now_us) || (p->n && --p->n))
			return;
		p->used = false;
	}
	if (!p->used)
		take_place(t, p, source, lid, kind, now_us);
	if (now_us - p->window_us >= FLOOD_WINDOW_US) {
		p->window_us = now_us;
		p->n = 0;
	}
	p->n++;
	if (p->n >= limits[kind]) {
		if (is_over(p, now_us)) {
			t->floods += !p->is_flood;
			p->is_flood = true;
			p->told = false;
			p->flood.since_us = p->window_us;
			p->flood.received = p->n - 1;
			p->flood.dropped = 0;
		}
		p->flood.last_us = now_us;
	}
	if (p->is_flood) {
		p->flood.received++;
		p->flood.dropped += dropped;
	}
}

bool flood_tell(struct flood_table *t, int64_t now_us, struct mad_flood *out)
{
	for (unsigned i = 0; t->floods && i < FLOOD_PLACES; i++) {
		struct place *p = &t->places[i];

		if (is_over(p, now_us) || p->told)
			continue;
		p->told = true;
		*out = p->flood;
		return true;
	}
	return false;
}

bool flood_at(const struct flood_table *t, unsigned i, int64_t now_us, struct mad_flood *out)
{
	for (unsigned k = 0; t->floods && k < FLOOD_PLACES; k++) {
		if (is_over(&t->places[k], now_us) || i--)
			continue;
		*out = t->places[k].flood;
		return true;
	}
	return false;
}
