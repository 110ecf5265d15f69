/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts how often nodes and links went away within an hour; see outages.h. */
#include "events/outages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

#define TIMES (OUTAGE_LIMIT_MAX + 1)

struct end {
	uint64_t guid;			/* of the node */
	unsigned port;			/* 0: the node itself */
	char name[EVENT_VALUE];
};

struct entry {
	enum outage_kind kind;
	struct end end[2];		/* of a link: in order, as events may name either end first */
	int64_t at_us[TIMES];		/* of the n-th time at n % TIMES */
	unsigned n;
};

struct outages {
	unsigned limit;
	VEC(struct entry) list;
};

struct outages *outages_new(void)
{
	return xcalloc(1, sizeof(struct outages));
}

void outages_free(struct outages *o)
{
	if (!o)
		return;
	vec_free(&o->list);
	free(o);
}

void outages_set_limit(struct outages *o, unsigned limit)
{
	o->limit = limit;
}

static const struct event_member *member(const struct event *e, const char *name)
{
	static const struct event_member none;

	for (unsigned i = 0; i < e->n_members; i++)
		if (strcmp(e->members[i].name, name) == 0)
			return &e->members[i];
	return &none;
}

static struct end end_of(const struct event *e, const char *guid, const char *port, const char *name)
{
	const char *id = member(e, guid)->text, *text = member(e, name)->text;
	struct end x = {
		.guid = strtoull(id, NULL, 0), .port = (unsigned)member(e, port)->number,
	};

	snprintf(x.name, sizeof(x.name), "%s", *text ? text : id);	/* some nodes have no description */
	return x;
}

static bool is_same(const struct end *x, const struct end *y)
{
	return x->guid == y->guid && x->port == y->port;
}

static bool is_before(const struct end *x, const struct end *y)
{
	return x->guid != y->guid ? x->guid < y->guid : x->port < y->port;
}

static int64_t last(const struct entry *x)
{
	return x->at_us[(x->n - 1) % TIMES];
}

/* The entry of the same node or link; a new one, perhaps in the place of the oldest. */
static struct entry *entry_of(struct outages *o, const struct entry *wanted)
{
	struct entry *x = NULL;

	for (struct entry *y = o->list.v; y < vec_end(&o->list); y++) {
		if (is_same(&y->end[0], &wanted->end[0]) && is_same(&y->end[1], &wanted->end[1]))
			return y;
		if (!x || last(y) < last(x))
			x = y;
	}
	if (o->list.n < OUTAGES_MAX)
		x = vec_push(&o->list);
	*x = (struct entry){ 0 };
	return x;
}

static void count(struct outages *o, const struct entry *went, int64_t now_us)
{
	struct entry *x = entry_of(o, went);

	x->kind = went->kind;
	memcpy(x->end, went->end, sizeof(x->end));	/* names may have changed */
	x->at_us[x->n++ % TIMES] = now_us;
}

static bool covers(const struct end *place, const struct end *x)
{
	return x->guid == place->guid && (!place->port || x->port == place->port);
}

static void forget(struct outages *o, const struct end *place)
{
	size_t kept = 0;

	for (const struct entry *x = o->list.v; x < vec_end(&o->list); x++)
		if (!covers(place, &x->end[0]) && !covers(place, &x->end[1]))
			o->list.v[kept++] = *x;
	o->list.n = kept;
}

void outages_note(struct outages *o, const struct event *e, int64_t now_us)
{
	struct entry went = { .kind = OUTAGE_LINK };
	struct end near;

	switch (e->kind) {
	case EVENT_LINK_DOWN:
		near = end_of(e, "node", "port", "name");
		went.end[0] = end_of(e, "far-node", "far-port", "far-name");
		went.end[1] = near;
		if (is_before(&near, &went.end[0])) {
			went.end[1] = went.end[0];
			went.end[0] = near;
		}
		count(o, &went, now_us);
		break;
	case EVENT_NODE_WENT:
	case EVENT_SWITCH_WENT:
		went.kind = e->kind == EVENT_SWITCH_WENT ? OUTAGE_SWITCH : OUTAGE_NODE;
		went.end[0] = end_of(e, "node", "", "description");
		count(o, &went, now_us);
		break;
	case EVENT_RELEASED:
		near = end_of(e, "node", "port", "name");
		forget(o, &near);
		break;
	default:
		break;
	}
}

static unsigned recent(const struct entry *x, int64_t now_us)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TIMES && i < x->n; i++)
		n += x->at_us[i] > now_us - OUTAGE_HOUR_US;
	return n;
}

bool outages_next(const struct outages *o, size_t *i, int64_t now_us, struct outage *out)
{
	while (o->limit && *i < o->list.n) {
		const struct entry *x = &o->list.v[(*i)++];

		*out = (struct outage){
			.kind = x->kind, .times = recent(x, now_us),
			.guid = x->end[0].guid, .port = x->end[0].port, .name = x->end[0].name,
			.far_guid = x->end[1].guid, .far_port = x->end[1].port, .far_name = x->end[1].name,
		};
		if (out->times > o->limit)
			return true;
	}
	return false;
}
