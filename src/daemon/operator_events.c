/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes events of what happens in the daemon; see operator_events.h. */
#include "daemon/operator_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad_sm.h>

#include "ctl/commands/health.h"
#include "daemon/event_command.h"
#include "events/event_json.h"
#include "events/missing.h"
#include "events/topology_events.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/map64.h"

struct operator_events {
	struct events *events;
	struct hook *hook;		/* NULL: no command is configured */
	struct history *history;	/* NULL: events are not kept on disk */
	uint64_t unkept;		/* the first event that no history has got */
	uint64_t smps, blocks;		/* counts at the last published state */
	struct outages *outages;
	struct outages *rule_outages;	/* counted by the limit of isolate-when */
	const char *engine;		/* routing engine of that state; NULL: none */
};

/* By default nobody needs to be called because of a record. */
static uint64_t kinds_for_command(const struct settings *s)
{
	return s->event_kinds == UINT64_MAX ? EVENT_ALL_KINDS & ~EVENT_RECORDS : s->event_kinds;
}

struct operator_events *operator_events_new(struct loop *l, const struct settings *s, bool runs)
{
	struct operator_events *x = xcalloc(1, sizeof(*x));
	struct event e;

	x->events = events_new(hash64((uint64_t)clock_real_us() ^ (uint64_t)getpid() << 44));
	x->outages = outages_new();
	x->rule_outages = outages_new();
	operator_events_set_limit(x, s);
	event_make(&e, EVENT_STARTED, "qosd %s started", QOSD_VERSION);
	event_text(&e, "version", "%s", QOSD_VERSION);
	operator_events_add(x, &e);
	if (s->event_command && runs)
		x->hook = hook_new(l, x->events, s->event_command, kinds_for_command(s));
	return x;
}

void operator_events_set_command(struct operator_events *x, struct loop *l, const struct settings *s)
{
	static char *const nothing[] = { (char *)"(none)", NULL };	/* named by messages on the former command */
	char *const *command = s->event_command ? s->event_command : nothing;

	if (!x->hook && s->event_command) {
		x->hook = hook_new(l, x->events, command, 0);
		hook_skip(x->hook);
	}
	if (x->hook)
		hook_change(x->hook, command, s->event_command ? kinds_for_command(s) : 0);
}

void operator_events_free(struct operator_events *x)
{
	if (!x)
		return;
	hook_free(x->hook);
	history_free(x->history);
	outages_free(x->outages);
	outages_free(x->rule_outages);
	events_free(x->events);
	free(x);
}

struct events *operator_events_ring(struct operator_events *x)
{
	return x->events;
}

const struct outages *operator_events_outages(const struct operator_events *x)
{
	return x->outages;
}

const struct outages *operator_events_rule_outages(const struct operator_events *x)
{
	return x->rule_outages;
}

void operator_events_set_limit(struct operator_events *x, const struct settings *s)
{
	outages_set_limit(x->outages, s->outage_limit);
	outages_set_limit(x->rule_outages, s->isolate_when.link_downs);
}

/* Hands the event with id `next` to the history. */
static void keep(struct operator_events *x, uint64_t next)
{
	uint64_t id = next;
	uint64_t lost = 0;
	const struct event *e = events_get(x->events, &next, EVENT_ALL_KINDS, &lost);
	json_t *o = e ? event_json(x->events, e) : NULL;
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

	if (text)
		history_add(x->history, e->when_us, event_kind_name(e->kind), text);
	json_decref(o);
	x->unkept = id + 1;
}

void operator_events_keep(struct operator_events *x, const struct settings *s)
{
	uint64_t max = (uint64_t)s->history_max_mib << 20, id = events_oldest_id(x->events);

	if (x->history && s->history && strcmp(history_path(x->history), s->history) == 0) {
		history_set_max(x->history, max);
		return;
	}
	history_leave(x->history);
	x->history = s->history ? history_new(s->history, max) : NULL;
	for (id = id < x->unkept ? x->unkept : id; x->history && id < events_next_id(x->events); id++)
		keep(x, id);
}

struct history *operator_events_history(const struct operator_events *x)
{
	return x->history;
}

void operator_events_add(void *arg, const struct event *e)
{
	struct operator_events *x = arg;

	events_add(x->events, e, clock_real_us());
	outages_note(x->outages, e, clock_mono_us());
	outages_note(x->rule_outages, e, clock_mono_us());
	if (x->history)
		keep(x, events_next_id(x->events) - 1);
}

void operator_events_add_asked(struct operator_events *x, const char *area, struct event *e, struct asker who)
{
	struct buf by = { 0 };

	asker_text(who, &by);
	log_info(area, "%s%s", e->text, by.s);
	buf_free(&by);
	event_asker(e, who);
	operator_events_add(x, e);
}

/* --- the published state --- */

static void tell_routing(struct operator_events *x, const struct plan *p, const struct mad_counts *c)
{
	uint64_t blocks = c->sets[UMAD_SM_ATTR_LINEAR_FT];
	bool same = x->engine && p->engine && strcmp(x->engine, p->engine) == 0;
	struct event e;

	if (!same || blocks != x->blocks) {
		event_make(&e, EVENT_ROUTING, "computed routes with %s in %.1f ms; sent %" PRIu64 " blocks "
			   "of forwarding tables, %" PRIu64 " SMPs in all", p->engine ? p->engine : "nobody",
			   (double)p->us_routes * 1e-3, blocks - x->blocks, c->smps - x->smps);
		event_text(&e, "engine", "%s", p->engine ? p->engine : "");
		event_number(&e, "blocks", (int64_t)(blocks - x->blocks));
		event_number(&e, "smps", (int64_t)(c->smps - x->smps));
		event_number(&e, "microseconds", p->us_routes);
		operator_events_add(x, &e);
	}
	x->blocks = blocks;
	x->smps = c->smps;
	x->engine = p->engine;
}

void operator_events_published(struct operator_events *x, const struct subnet_state *old,
			       const struct subnet_state *now, const struct mad_counts *c,
			       struct missing *missing)
{
	const struct topology_listener to = {
		.event = operator_events_add, .arg = x,
		.differs = missing ? missing_differs : NULL, .differs_arg = missing,
	};

	if (!now) {
		x->engine = NULL;
		return;
	}
	topology_events(old, now, &to);
	tell_routing(x, now->plan, c);
}

/* --- policies and partitions --- */

static enum event_kind kind_of(enum change_outcome o)
{
	switch (o) {
	case CHANGE_APPLIED:
		return EVENT_POLICY_LOADED;
	case CHANGE_ON_TRIAL:
		return EVENT_POLICY_TRIAL;
	case CHANGE_CONFIRMED:
		return EVENT_POLICY_CONFIRMED;
	case CHANGE_REFUSED:
		return EVENT_POLICY_REFUSED;
	default:
		return EVENT_POLICY_REVERTED;
	}
}

void operator_events_policy(struct operator_events *x, const struct policy_change *c)
{
	struct event e;

	if (c->kind == CHANGE_START && c->outcome == CHANGE_APPLIED)
		return;		/* the event of the daemon's start covers it */
	event_make(&e, kind_of(c->outcome), "policy %s: %s, %s", c->name, change_kind_name(c->kind),
		   change_outcome_name(c->outcome));
	event_text(&e, "file", "%s", c->name);
	event_text(&e, "change", "%s", change_kind_name(c->kind));
	event_text(&e, "outcome", "%s", change_outcome_name(c->outcome));
	if (c->outcome == CHANGE_REFUSED)
		event_number(&e, "errors", c->errors);
	else
		event_text(&e, "checksum", "%016" PRIx64, c->checksum);
	event_asker(&e, (struct asker){ c->uid, c->behalf });
	operator_events_add(x, &e);
}

#define PARTITIONS_NAMED 4	/* in one event */

void operator_events_partitions(struct operator_events *x, const struct dynamic_partitions *before,
				const struct dynamic_partitions *r, struct asker who)
{
	struct buf names = { 0 };
	struct event e;

	dynamic_differences(before, r, PARTITIONS_NAMED, &names);
	event_make(&e, EVENT_PARTITIONS_CHANGED, "dynamic partitions were changed: %s; now %zu entries, "
		   "%zu members", names.n ? names.s : "none", r->v.n, r->n_members);
	event_text(&e, "partitions", "%s", names.n ? names.s : "");
	event_number(&e, "entries", (int64_t)r->v.n);
	event_number(&e, "members", (int64_t)r->n_members);
	event_asker(&e, who);
	operator_events_add(x, &e);
	buf_free(&names);
}

void operator_events_withdrawal(struct operator_events *x, const struct withdrawal *w, bool released,
				struct asker who)
{
	char id[WITHDRAWAL_ID_MAX];
	struct event e;

	if (released)
		event_make(&e, EVENT_RELEASED, "%s is in service again", w->name);
	else
		event_make(&e, w->kind == WITHDRAWAL_ISOLATED ? EVENT_ISOLATED : EVENT_DRAINED,
			   "%s is %s%s%s; 'qosd-ctl release %s' gives it back", w->name, withdrawal_kind_name(w->kind),
			   *w->reason ? ": " : "", w->reason, withdrawal_id(w, id));
	event_guid(&e, "node", w->guid);
	event_number(&e, "port", w->port);
	event_text(&e, "name", "%s", w->name);
	if (!released && *w->reason)
		event_text(&e, "reason", "%s", w->reason);
	event_asker(&e, who);
	operator_events_add(x, &e);
}

void operator_events_flood(struct operator_events *x, struct mad_port *m, const struct subnet_state *s)
{
	struct buf text = { 0 };
	struct mad_flood flood;
	struct event e;

	if (!mad_flood_tell(m, &flood))
		return;
	health_flood_text(s, &flood, &text);
	log_warn("mad", "%s", text.s);
	event_make(&e, EVENT_MAD_FLOOD, "%s", text.s);
	event_number(&e, "lid", flood.lid);
	event_text(&e, "kind", "%s", mad_kind_name(flood.kind));
	event_number(&e, "received", (int64_t)flood.received);
	event_number(&e, "dropped", (int64_t)flood.dropped);
	operator_events_add(x, &e);
	buf_free(&text);
}

void operator_events_dropped(void *arg, uint64_t guid, uint32_t qpn)
{
	struct event e;

	event_make(&e, EVENT_SUBSCRIBER_DROPPED, "0x%016" PRIx64 " QP %" PRIu32 " does not answer Reports "
		   "and was unsubscribed", guid, qpn);
	event_guid(&e, "guid", guid);
	event_number(&e, "qpn", qpn);
	operator_events_add(arg, &e);
}
