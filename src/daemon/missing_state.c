/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Feeds and keeps the table of what is missing; see missing_state.h.
 *
 * The file has a line "of master" or "of standby", which says whose table it is, and the lines of
 * missing_print().
 */
#include "daemon/missing_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"
#include "events/missing.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "plan/routes/base_routes.h"

#define MANAGERS_MAX	32	/* as many as sm/ knows */
#define SAVE_SHARE	20	/* printing takes at most one part in this many of the loop's time */

struct manager {
	uint64_t guid;
	char name[65];
	bool seen;
};

struct missing_state {
	struct qosd *q;
	struct missing *table;
	/*
	 * LOADED: the table is that of an earlier run as master; NONE: there was none, so nobody could
	 * say what is gone for good; OURS: it follows the published states, or a master's
	 */
	enum table_origin { ORIGIN_NONE, ORIGIN_LOADED, ORIGIN_OURS } origin;
	bool standby;			/* the table is a master's */
	bool line_seen;			/* while loading: the first line was read */
	uint64_t saved;			/* missing_changes() of the file */
	int64_t save_next_us;		/* not before, unless a user waits */
	struct manager managers[MANAGERS_MAX];
	unsigned n_managers;
};

/* --- the file --- */

static bool load_line(void *arg, const char *line)
{
	struct missing_state *x = arg;

	if (x->line_seen)
		return missing_line(x->table, line);
	x->line_seen = true;
	x->standby = strcmp(line, "of standby") == 0;
	return x->standby || strcmp(line, "of master") == 0;
}

static void save(struct missing_state *x)
{
	int64_t began_us = clock_mono_us();
	struct buf b = { 0 };

	if (x->saved == missing_changes(x->table) || x->origin == ORIGIN_NONE)
		return;
	x->saved = missing_changes(x->table);
	buf_puts(&b, x->standby ? "of standby\n" : "of master\n");
	missing_print(x->table, &b);
	store_save_missing(x->q->store, b.s);
	buf_free(&b);
	x->save_next_us = clock_mono_us() + (clock_mono_us() - began_us) * SAVE_SHARE;
}

struct missing_state *missing_state_new(struct qosd *q)
{
	struct missing_state *x = xcalloc(1, sizeof(*x));

	x->q = q;
	x->table = missing_new();
	if (!store_load_missing(q->store, load_line, x))
		missing_clear(x->table);
	else
		x->origin = x->standby ? ORIGIN_OURS : ORIGIN_LOADED;
	x->saved = missing_changes(x->table);
	return x;
}

void missing_state_free(struct missing_state *x)
{
	if (!x)
		return;
	save(x);
	missing_free(x->table);
	free(x);
}

struct missing *missing_state_table(const struct missing_state *x)
{
	return x ? x->table : NULL;
}

/* --- subnet managers --- */

/* The NodeDescription of the port's node, as far as one of the states has it. */
static void name_manager(struct manager *y, const struct subnet_state *s)
{
	uint32_t port = s ? fabric_find_port(s->f, y->guid) : FABRIC_NONE;

	if (port != FABRIC_NONE)
		snprintf(y->name, sizeof(y->name), "%s", fabric_node_desc(s->f, port_node(s->f, port)));
}

static void note_manager(struct missing_state *x, uint64_t guid)
{
	struct manager *y = x->managers;

	while (y < x->managers + x->n_managers && y->guid != guid)
		y++;
	if (y == x->managers + MANAGERS_MAX)
		return;
	if (y == x->managers + x->n_managers) {
		*y = (struct manager){ .guid = guid };
		x->n_managers++;
	}
	y->seen = true;
	name_manager(y, x->q->sa.state);
}

/* Only a master looks for the others; a standby knows its master. */
static void look_at_managers(struct missing_state *x)
{
	struct sm_status sm;
	struct sm_seen other;

	sm_get_status(x->q->sm, &sm);
	if (sm.state != SM_MASTER || !x->q->sa.state) {
		if (sm.state == SM_STANDBY && sm.master_guid)
			note_manager(x, sm.master_guid);
		return;
	}
	for (unsigned i = 0; i < x->n_managers; i++)
		x->managers[i].seen = false;
	for (uint32_t i = 1; sm_seen_at(x->q->sm, i, &other); i++) {
		note_manager(x, other.guid);
		missing_manager(x->table, other.guid, "", false);
	}
	for (unsigned i = x->n_managers; i-- > 0;) {
		struct manager *y = &x->managers[i];

		if (y->seen)
			continue;
		name_manager(y, x->q->sa.state);
		missing_manager(x->table, y->guid, y->name, true);
		*y = x->managers[--x->n_managers];
	}
}

/* --- states --- */

void missing_state_settled(struct missing_state *x, const struct subnet_state *before,
			   const struct subnet_state *now)
{
	const struct routes_now *routes = now->plan->now;
	const struct fabric *known = routes && x->origin != ORIGIN_OURS ? routes->base->f : NULL;

	missing_set_time(x->table, clock_real_us());
	if (!before)
		missing_review(x->table, now->f, known, x->origin == ORIGIN_NONE);
	if (x->origin == ORIGIN_NONE || x->standby)	/* the file is to say that the table is ours */
		x->saved = ~missing_changes(x->table);
	x->standby = false;
	x->origin = ORIGIN_OURS;
	look_at_managers(x);
}

void missing_state_check(struct missing_state *x)
{
	missing_set_time(x->table, clock_real_us());
	look_at_managers(x);
	if (clock_mono_us() >= x->save_next_us)
		save(x);
}

size_t missing_state_forget(void *arg, const char *text, struct asker who)
{
	struct qosd *q = arg;
	size_t n = missing_forget(q->missing->table, text);
	struct event e;

	if (!n)
		return 0;
	event_make(&e, EVENT_MISSING_FORGOTTEN, "%zu missing thing%s will not be missed any more: %s", n,
		   n == 1 ? "" : "s", text ? text : "all");
	event_text(&e, "what", "%s", text ? text : "all");
	event_number(&e, "items", (int64_t)n);
	operator_events_add_asked(q->operator_events, "missing", &e, who);
	save(q->missing);
	return n;
}

/* --- replication --- */

uint64_t missing_state_changes(const struct missing_state *x)
{
	return missing_changes(x->table);
}

void missing_state_print(const struct missing_state *x, struct buf *b)
{
	missing_print(x->table, b);
}

uint32_t missing_state_format(const struct missing_state *x)
{
	return missing_has_new(x->table) ? STORE_MISSING_FORMAT : 1;
}

bool missing_state_inherit(struct missing_state *x, char *text)
{
	struct missing *try = missing_new();
	char *again = xstrdup(text);
	bool good = store_each_line(text, missing_line, try);

	missing_free(try);
	if (good) {
		missing_clear(x->table);
		store_each_line(again, missing_line, x->table);
		x->standby = true;
		x->origin = ORIGIN_OURS;
	}
	free(again);
	return good;
}
