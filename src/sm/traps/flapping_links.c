/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detects links that flap (flap_table.h) in sweeps, reports them, and lets routes use them again.
 *
 * Before a sweep makes routes it finds the links that went down.  Flapping links are reported; when
 * one has been quiet long enough, a local sweep has routes use it again.
 *
 * A link went down if an end that is still in the fabric says so: its port is down or leads
 * elsewhere, or was Armed or Active and is not any more, as the link was down in between.  Nothing
 * is known of a link whose ends are both out of reach.  A link counts once per look, however often
 * it went down.
 *
 * Links that sweeps leave short of Active are held, too.  The local sweep after the one that made
 * them Active lets routes use them again.
 */
#include <inttypes.h>

#include "fabric/edit.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/sm_internal.h"

static struct log_ratelimit flap_log = LOG_RATELIMIT;

/* --- reports --- */

static void put_end(const struct fabric *f, const struct flap_link *l, unsigned end, struct buf *out)
{
	uint32_t node = f ? map64_get(&f->node_by_guid, l->guid[end]) : MAP64_NONE;

	if (node != MAP64_NONE && l->port[end] <= f->nodes[node].nports)
		buf_puts(out, PORT_NAME(f, f->nodes[node].port0 + l->port[end]));
	else
		buf_printf(out, "0x%016" PRIx64 "/P%u", l->guid[end], l->port[end]);
}

/* How routes treat the link in a fabric, which may be NULL. */
static struct sm_flap flap_on(const struct fabric *f, const struct flap *flap, int64_t now_us)
{
	uint32_t port = f ? flap_port(f, &flap->link, 0) : FABRIC_NONE;
	int64_t left = flap->until_us - now_us;

	return (struct sm_flap){
		.flap = *flap, .left_us = left > 0 ? left : 0,
		.is = port == FABRIC_NONE ? FLAP_DOWN : f->ports[port].held ? FLAP_HELD : FLAP_USED,
	};
}

static void put_link(const struct fabric *f, const struct flap_link *l, struct buf *out)
{
	buf_puts(out, "link ");
	put_end(f, l, 0, out);
	buf_puts(out, " to ");
	put_end(f, l, 1, out);
}

void sm_flap_text(const struct fabric *f, const struct sm_flap *x, struct buf *out)
{
	static const char *const is[] = {
		[FLAP_DOWN] = "it is down", [FLAP_HELD] = "no route uses it",
		[FLAP_USED] = "it is in use because there is no other route",
	};

	put_link(f, &x->flap.link, out);
	buf_printf(out, " went down %u times; %s; it counts as stable after %.0f s without a change",
		   x->flap.downs, is[x->is], (double)x->left_us * 1e-6);
}

static void tell(struct sm *sm, const struct fabric *f, enum event_kind kind, const struct sm_flap *x,
		 const char *text)
{
	static const char *const names[2][3] = { { "node", "port", "name" },
						 { "far-node", "far-port", "far-name" } };
	struct buf name = { 0 };
	struct event e;

	event_make(&e, kind, "%s", text);
	for (unsigned i = 0; i < 2; i++) {
		name.n = 0;
		put_end(f, &x->flap.link, i, &name);
		event_guid(&e, names[i][0], x->flap.link.guid[i]);
		event_number(&e, names[i][1], x->flap.link.port[i]);
		event_text(&e, names[i][2], "%s", name.s);
	}
	event_number(&e, "downs", x->flap.downs);
	log_limited(&flap_log, LOG_LEVEL_WARNING, "links", "%s", e.text);
	sm_tell(sm, &e);
	buf_free(&name);
}

/* names: a fabric that has both ends. */
static void tell_begun(struct sm *sm, const struct fabric *names, const struct sm_flap *x)
{
	struct buf text = { 0 };

	sm_flap_text(names, x, &text);
	tell(sm, names, EVENT_LINK_FLAPPING, x, text.s);
	buf_free(&text);
}

static void tell_ended(struct sm *sm, const struct flap *flap, const char *why)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;
	struct sm_flap x = flap_on(f, flap, flap->until_us);
	struct buf text = { 0 };

	put_link(f, &flap->link, &text);
	buf_printf(&text, " %s: it counts as stable", why);
	tell(sm, f, EVENT_LINK_STEADY, &x, text.s);
	buf_free(&text);
}

/* --- when a link flaps no more --- */

static void arm(struct sm *sm)
{
	int64_t next = flaps_next(sm->traps.flaps), now = clock_mono_us();

	if (next == INT64_MAX)
		timer_stop(sm->traps.flap_timer);
	else
		timer_set(sm->traps.flap_timer, next > now ? next - now : 0, 0);
}

/* Has the next local sweep look at the ends of the link as if they had changed. */
static void suspect_ends(struct sm *sm, const struct flap_link *l)
{
	for (unsigned i = 0; i < 2; i++)
		sm_suspect(sm, &(struct suspect){ .guid = l->guid[i], .changed = true });
}

/* Lets routes use the link.  True: that needs a sweep. */
static bool give_back(struct sm *sm, const struct flap *flap)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;

	/* a running sweep may have held it, or may not hold it any more */
	if (!sweep_runs(sm) && flap_on(f, flap, 0).is != FLAP_HELD)
		return false;
	suspect_ends(sm, &flap->link);
	return true;
}

static void on_timer(void *arg)
{
	struct sm *sm = arg;
	bool sweep = false;
	struct flap flap;

	while (flaps_ended(sm->traps.flaps, clock_mono_us(), &flap)) {
		tell_ended(sm, &flap, "was quiet");
		sweep |= give_back(sm, &flap);
	}
	arm(sm);
	if (sweep)
		sm_want_sweep(sm, SWEEP_LOCAL, "a flapping link is stable");
}

unsigned sm_release_links(struct sm *sm, uint64_t guid, unsigned port)
{
	bool sweep = false;
	struct flap flap;
	unsigned n = 0;

	for (; flaps_release(sm->traps.flaps, guid, port, &flap); n++) {
		tell_ended(sm, &flap, "is released");
		sweep |= give_back(sm, &flap);
	}
	arm(sm);
	if (sweep)
		sm_want_sweep(sm, SWEEP_LOCAL, "a flapping link was released");
	return n;
}

bool sm_flap_at(const struct sm *sm, uint32_t i, struct sm_flap *out)
{
	struct flap flap;

	if (!flaps_at(sm->traps.flaps, i, &flap))
		return false;
	*out = flap_on(sm->published ? sm->published->f : NULL, &flap, clock_mono_us());
	return true;
}

/* --- what a sweep sees --- */

static bool was_up(const struct fabric *f, uint32_t port)
{
	return f->ports[port].peer != FABRIC_NONE && f->ports[port].state >= IB_PORT_ARMED_S &&
	       f->ports[f->ports[port].peer].state >= IB_PORT_ARMED_S;
}

/* Judged by the ends that are in reach. */
static bool went_down(const struct fabric *f, const struct flap_link *l)
{
	uint32_t port = flap_port(f, l, 0);

	if (port != FABRIC_NONE)
		return !was_up(f, port);
	for (unsigned i = 0; i < 2; i++) {
		uint32_t node = map64_get(&f->node_by_guid, l->guid[i]);
		const struct fabric_port *p;

		if (node == MAP64_NONE || l->port[i] > f->nodes[node].nports)
			continue;
		p = fabric_port(f, node, l->port[i]);
		if (p->present && (p->state < IB_PORT_ARMED_S || p->peer != FABRIC_NONE))
			return true;
	}
	return false;
}

/* The sweep has found that the node changed or is gone. */
static bool is_touched(const struct sm *sm, uint64_t guid)
{
	uint32_t node;

	if (!sm->sweep.touched)
		return true;
	node = map64_get(&sm->sweep.f->node_by_guid, guid);
	return node == MAP64_NONE || sm->sweep.touched[node];
}

void flapping_look(struct sm *sm)
{
	const struct fabric *old = sm->published ? sm->published->f : NULL;
	int64_t now = clock_mono_us();
	VEC(struct flap) begun = { 0 };
	struct flap flap;

	for (uint32_t node = 0; old && node < old->n_nodes; node++) {
		const struct fabric_node *n = &old->nodes[node];

		/* a node without findings has not changed */
		if (!is_touched(sm, n->guid))
			continue;
		for (uint32_t i = n->port0; i <= n->port0 + n->nports; i++) {
			struct flap_link l;

			if (!was_up(old, i))
				continue;
			l = flap_link_of(old, i);
			/* once for each link */
			if (old->ports[i].peer < i && is_touched(sm, l.guid[l.guid[0] == n->guid]))
				continue;
			if (went_down(sm->sweep.f, &l) &&
			    flaps_down(sm->traps.flaps, &l, now, &flap))
				*vec_push(&begun) = flap;
		}
	}
	for (size_t i = 0; old && flaps_at(sm->traps.flaps, i, &flap); i++)
		if (flap_port(old, &flap.link, 0) == FABRIC_NONE &&
		    flap_port(sm->sweep.f, &flap.link, 0) != FABRIC_NONE)
			flaps_up(sm->traps.flaps, &flap.link, now);
	/* SMPs avoid it, too: a lost one would hold up the sweep */
	if (flaps_hold(sm->traps.flaps, sm->sweep.f))
		fabric_reroute_all(sm->sweep.f);
	for (size_t i = 0; i < begun.n; i++) {
		struct sm_flap x = flap_on(sm->sweep.f, &begun.v[i], now);

		tell_begun(sm, old, &x);
	}
	vec_free(&begun);
	arm(sm);
}

void flapping_swept(struct sm *sm)
{
	struct flap_link l;
	bool sweep = false;
	size_t i = 0;

	while (flaps_come_up(sm->traps.flaps, sm->sweep.f, &i, &l)) {
		suspect_ends(sm, &l);
		sweep = true;
	}
	/* a sweep that sets no ports cannot tell which ports can be set */
	flaps_left_short(sm->traps.flaps, sweep_is(sm)->by_copy ? NULL : sm->sweep.f);
	if (sweep)
		sm_want_sweep(sm, SWEEP_LOCAL, "links came up late");
}

static struct flap_rules rules_of(const struct settings *s)
{
	return (struct flap_rules){ s->flap_limit, s->flap_window_s * 1000000ll, s->flap_hold_s * 1000000ll };
}

void sm_flap_settings_changed(struct sm *sm)
{
	struct flap_rules rules = rules_of(sm->settings);

	flaps_set_rules(sm->traps.flaps, &rules);
	if (!rules.limit)
		sm_release_links(sm, 0, 0);
	arm(sm);
}

void flapping_new(struct sm *sm)
{
	struct flap_rules rules = rules_of(sm->settings);

	sm->traps.flaps = flaps_new(&rules);
	sm->traps.flap_timer = timer_new(sm->loop, on_timer, sm);
}

void flapping_free(struct sm *sm)
{
	flaps_free(sm->traps.flaps);
	timer_free(sm->traps.flap_timer);
}
