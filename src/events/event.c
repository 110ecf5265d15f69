/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kinds of events, and the ring that holds the last ones; see event.h. */
#include "events/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/clean.h"

static const struct {
	const char *name;
	enum severity severity;
} kinds[EVENT_KINDS] = {
	[EVENT_STARTED] = { "started", SEV_INFO },
	[EVENT_SM_STATE] = { "sm-state", SEV_INFO },
	[EVENT_SM_SEEN] = { "sm-seen", SEV_INFO },
	[EVENT_SM_GONE] = { "sm-gone", SEV_WARNING },
	[EVENT_NODE_CAME] = { "node-came", SEV_INFO },
	[EVENT_NODE_WENT] = { "node-went", SEV_WARNING },
	[EVENT_NODE_MOVED] = { "node-moved", SEV_INFO },
	[EVENT_SWITCH_CAME] = { "switch-came", SEV_INFO },
	[EVENT_SWITCH_WENT] = { "switch-went", SEV_ERROR },
	[EVENT_LINK_UP] = { "link-up", SEV_INFO },
	[EVENT_LINK_DOWN] = { "link-down", SEV_WARNING },
	[EVENT_LINK_CHANGED] = { "link-changed", SEV_WARNING },
	[EVENT_LINK_FLAPPING] = { "link-flapping", SEV_WARNING },
	[EVENT_LINK_STEADY] = { "link-steady", SEV_INFO },
	[EVENT_LINK_ERRORS] = { "link-errors", SEV_WARNING },
	[EVENT_LINK_CLEAN] = { "link-clean", SEV_INFO },
	[EVENT_OPTICS_ALARM] = { "optics-alarm", SEV_WARNING },
	[EVENT_OPTICS_CLEAR] = { "optics-clear", SEV_INFO },
	[EVENT_MORE_CHANGES] = { "more-changes", SEV_WARNING },
	[EVENT_DUPLICATE_GUID] = { "duplicate-guid", SEV_ERROR },
	[EVENT_TRAP_FLOOD] = { "trap-flood", SEV_WARNING },
	[EVENT_MAD_FLOOD] = { "mad-flood", SEV_WARNING },
	[EVENT_TABLE_OVERWRITTEN] = { "table-overwritten", SEV_WARNING },
	[EVENT_DEVICE_SILENT] = { "device-silent", SEV_ERROR },
	[EVENT_DEVICE_REFUSES] = { "device-refuses", SEV_ERROR },
	[EVENT_DEVICE_KEEPS] = { "device-keeps", SEV_WARNING },
	[EVENT_DEVICE_KEY_MISMATCH] = { "device-key-mismatch", SEV_ERROR },
	[EVENT_DEVICE_RECOVERED] = { "device-recovered", SEV_INFO },
	[EVENT_M_KEY_VIOLATION] = { "m-key-violation", SEV_WARNING },
	[EVENT_ROUTING] = { "routing", SEV_INFO },
	[EVENT_SUBNET_UP] = { "subnet-up", SEV_INFO },
	[EVENT_SWEEP_INCOMPLETE] = { "sweep-incomplete", SEV_WARNING },
	[EVENT_POLICY_LOADED] = { "policy-loaded", SEV_INFO },
	[EVENT_POLICY_TRIAL] = { "policy-trial", SEV_INFO },
	[EVENT_POLICY_CONFIRMED] = { "policy-confirmed", SEV_INFO },
	[EVENT_POLICY_REVERTED] = { "policy-reverted", SEV_WARNING },
	[EVENT_POLICY_REFUSED] = { "policy-refused", SEV_ERROR },
	[EVENT_POLICY_IN_FORCE] = { "policy-in-force", SEV_INFO },
	[EVENT_PARTITIONS_CHANGED] = { "partitions-changed", SEV_INFO },
	[EVENT_SUBSCRIBER_DROPPED] = { "subscriber-dropped", SEV_WARNING },
	[EVENT_SHARE_MISSED] = { "share-missed", SEV_WARNING },
	[EVENT_SHARE_MET] = { "share-met", SEV_INFO },
	[EVENT_REGISTRATIONS_REMOVED] = { "registrations-removed", SEV_WARNING },
	[EVENT_REGISTRATIONS_FORGOTTEN] = { "registrations-forgotten", SEV_INFO },
	[EVENT_MISSING_FORGOTTEN] = { "missing-forgotten", SEV_INFO },
	[EVENT_DRAINED] = { "drained", SEV_INFO },
	[EVENT_ISOLATED] = { "isolated", SEV_WARNING },
	[EVENT_RELEASED] = { "released", SEV_INFO },
	[EVENT_OPERATOR_COMMAND] = { "operator-command", SEV_INFO },
	[EVENT_SWEEP_DONE] = { "sweep-done", SEV_INFO },
	[EVENT_LOADS] = { "loads", SEV_INFO },
	[EVENT_PAGE_FAILED] = { "page-failed", SEV_WARNING },
	[EVENT_PAGE_SERVED] = { "page-served", SEV_INFO },
	[EVENT_TOPOLOGY_DIFFERS] = { "topology-differs", SEV_WARNING },
	[EVENT_TOPOLOGY_ACCEPTED] = { "topology-accepted", SEV_INFO },
};

struct watcher {
	void (*fn)(void *arg);
	void *arg;
};

struct events {
	uint64_t boot;
	uint64_t end;			/* id of the next event */
	struct watcher watchers[EVENT_WATCHERS];
	struct event ring[EVENTS_MAX];	/* event `id` is at id % EVENTS_MAX */
};

const char *event_kind_name(enum event_kind k)
{
	return kinds[k].name;
}

bool event_kinds_add(uint64_t *wanted, const char *word)
{
	size_t n = strlen(word);
	uint64_t found = strcmp(word, "all") ? 0 : EVENT_ALL_KINDS;

	for (unsigned k = 0; k < EVENT_KINDS; k++)
		if (n && strncmp(kinds[k].name, word, n) == 0 &&
		    (kinds[k].name[n] == '\0' || kinds[k].name[n] == '-'))
			found |= 1ull << k;
	*wanted |= found;
	return found;
}

/* --- making --- */

static void vput(char *to, size_t size, const char *fmt, va_list ap)
{
	vsnprintf(to, size, fmt, ap);
	clean_text(to);
}

void event_make(struct event *e, enum event_kind kind, const char *fmt, ...)
{
	va_list ap;

	e->id = 0;
	e->when_us = 0;
	e->kind = kind;
	e->severity = kinds[kind].severity;
	e->n_members = 0;
	va_start(ap, fmt);
	vput(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
}

static struct event_member *add_member(struct event *e, const char *name)
{
	static struct event_member spare;
	struct event_member *m = e->n_members < EVENT_MEMBERS ? &e->members[e->n_members++] : &spare;

	m->name = name;
	return m;
}

void event_text(struct event *e, const char *name, const char *fmt, ...)
{
	struct event_member *m = add_member(e, name);
	va_list ap;

	m->is_text = true;
	va_start(ap, fmt);
	vput(m->text, sizeof(m->text), fmt, ap);
	va_end(ap);
}

void event_number(struct event *e, const char *name, int64_t number)
{
	struct event_member *m = add_member(e, name);

	m->is_text = false;
	m->number = number;
}

void event_guid(struct event *e, const char *name, uint64_t guid)
{
	event_text(e, name, "0x%016" PRIx64, guid);
}

struct kept_asker asker_keep(struct asker who)
{
	return (struct kept_asker){ who.uid, xstrdup_or_null(who.behalf) };
}

struct asker asker_kept(const struct kept_asker *k)
{
	return (struct asker){ k->uid, k->behalf };
}

void kept_asker_free(struct kept_asker *k)
{
	free(k->behalf);
	k->behalf = NULL;
}

void event_asker(struct event *e, struct asker who)
{
	if (who.uid >= 0)
		event_number(e, "uid", who.uid);
	if (who.behalf)
		event_text(e, "on-behalf-of", "%s", who.behalf);
}

void asker_text(struct asker who, struct buf *out)
{
	char *name = xstrdup_or_null(who.behalf);

	buf_printf(out, "; user %" PRId64, who.uid);
	if (name) {
		clean_text(name);
		buf_printf(out, ", on behalf of %s", name);
	}
	free(name);
}

/* --- the ring --- */

struct events *events_new(uint64_t boot)
{
	struct events *es = xcalloc(1, sizeof(*es));

	es->boot = boot;
	es->end = 1;
	return es;
}

void events_free(struct events *es)
{
	free(es);
}

uint64_t events_boot(const struct events *es)
{
	return es->boot;
}

uint64_t events_next_id(const struct events *es)
{
	return es->end;
}

uint64_t events_oldest_id(const struct events *es)
{
	return es->end > EVENTS_MAX ? es->end - EVENTS_MAX : 1;
}

void events_watch(struct events *es, void (*fn)(void *arg), void *arg)
{
	for (unsigned i = 0; i < EVENT_WATCHERS; i++)
		if (!es->watchers[i].fn) {
			es->watchers[i] = (struct watcher){ fn, arg };
			return;
		}
	abort();	/* more watchers than EVENT_WATCHERS: a programming error */
}

void events_unwatch(struct events *es, void (*fn)(void *arg), void *arg)
{
	for (unsigned i = 0; i < EVENT_WATCHERS; i++)
		if (es->watchers[i].fn == fn && es->watchers[i].arg == arg)
			es->watchers[i].fn = NULL;
}

void events_add(struct events *es, const struct event *e, int64_t now_us)
{
	struct event *to = &es->ring[es->end % EVENTS_MAX];

	*to = *e;
	to->id = es->end++;
	to->when_us = now_us;
	for (unsigned i = 0; i < EVENT_WATCHERS; i++)
		if (es->watchers[i].fn)
			es->watchers[i].fn(es->watchers[i].arg);
}

const struct event *events_get(const struct events *es, uint64_t *next, uint64_t wanted,
			       uint64_t *lost)
{
	if (*next < events_oldest_id(es)) {
		*lost += events_oldest_id(es) - *next;
		*next = events_oldest_id(es);
	}
	while (*next < es->end) {
		const struct event *e = &es->ring[(*next)++ % EVENTS_MAX];

		if (wanted >> e->kind & 1)
			return e;
	}
	return NULL;
}

static bool parse(const char *s, int base, char stop, uint64_t *v, const char **rest)
{
	char *end;

	if (!strchr("0123456789abcdefABCDEF", *s) || !*s)	/* no sign, no space */
		return false;
	errno = 0;
	*v = strtoull(s, &end, base);
	*rest = end + 1;
	return !errno && *end == stop;
}

bool events_since(const struct events *es, const char *text, uint64_t *next)
{
	const char *id = text;
	uint64_t boot = es->boot, v;

	if (strchr(text, ':') && !parse(text, 16, ':', &boot, &id))
		return false;
	if (!parse(id, 10, '\0', &v, &id))
		return false;
	*next = boot == es->boot && v < es->end ? v + 1 : boot == es->boot ? es->end : 1;
	return true;
}
