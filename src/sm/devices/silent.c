/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See silent.h. */
#include "sm/devices/silent.h"

#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/backoff.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "plan/routes/base_routes.h"
#include "sm/keys/mkey.h"
#include "sm/sm_internal.h"
#include "sm/write/fixed_routes.h"

#define ASK_FIRST_US	500000ll	/* from the sweep without an answer to the first question */
#define ASK_MAX_US	300000000ll
/* questions under way: if half of the fabric is silent, the others are served, too */
#define AT_ONCE		16

struct silent_device {
	uint64_t guid;
	bool is_switch;
	bool table_known;
	bool told;			/* silent_told() */
	bool back;			/* it has answered, and the next sweep asks it */
	bool gone;			/* the entry must be dropped */
	int64_t wait_us, due_us;	/* wait between its last two returns; when the next one counts */
};

struct silent_devices {
	VEC(struct silent_device) list;
	struct map64 by_guid;		/* indexes in list */
	struct map64 tables_known;	/* switches not on the list that the last sweep did not reach */
	struct timer *timer;
	int64_t wait_us;
	struct subnet_state *state;	/* the state that questions are about, while any are under way */
	VEC(uint64_t) to_ask;
	size_t asked;
	unsigned under_way;
	struct question {
		struct sm *sm;
		uint64_t guid;
		bool busy;
	} questions[AT_ONCE];
	bool any_back;
	bool tables_kept;		/* the last plan kept their tables (silent_keep_tables()) */
	uint32_t n, fresh;			/* in the last sweep: all, and those not known before */
};

static struct silent_device *find(const struct silent_devices *m, uint64_t guid)
{
	uint32_t at = m->list.n ? map64_get(&m->by_guid, guid) : MAP64_NONE;

	return at == MAP64_NONE ? NULL : &m->list.v[at];
}

/* The table that a switch holds is known; x: its entry, or NULL. */
static bool table_is_known(const struct sm *sm, uint64_t guid, const struct silent_device *x)
{
	return x ? x->table_known : map64_get(&sm->known.doubtful, guid) == MAP64_NONE ||
		   map64_get(&sm->devices.silent->tables_known, guid) != MAP64_NONE;
}

static bool is_silent(const struct silent_device *x)
{
	return x && !x->back && !x->gone;
}

bool silent_table_is_known(const struct sm *sm, uint64_t guid)
{
	const struct silent_device *x = find(sm->devices.silent, guid);

	return x && x->table_known;
}

bool silent_keep_tables(struct sm *sm)
{
	struct silent_devices *m = sm->devices.silent;
	uint32_t n = 0;

	for (size_t i = 0; i < m->list.n; i++)
		n += m->list.v[i].is_switch && is_silent(&m->list.v[i]);
	return m->tables_kept = n <= SILENT_KEPT_MAX;
}

bool silent_mark(const struct sm *sm, struct fabric *f)
{
	bool news = false;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		bool silent = i != f->ports[f->self].node && is_silent(find(sm->devices.silent, f->nodes[i].guid));

		news |= silent != f->nodes[i].silent;
		f->nodes[i].silent = silent;
	}
	return news;
}

bool silent_has_answered(const struct sm *sm, uint64_t guid)
{
	const struct silent_device *x = find(sm->devices.silent, guid);

	return x && x->back;
}

bool silent_is_back(const struct sm *sm, uint64_t guid)
{
	const struct silent_device *x = find(sm->devices.silent, guid);

	return x && x->back && x->table_known;
}

bool silent_told(struct sm *sm, uint64_t guid)
{
	struct silent_device *x = find(sm->devices.silent, guid);

	if (!is_silent(x) || x->told)
		return false;
	return x->told = true;
}

bool silent_has_told(const struct sm *sm, uint64_t guid)
{
	const struct silent_device *x = find(sm->devices.silent, guid);

	return is_silent(x) && x->told;
}

/* --- asking silent devices --- */

static void arm(struct sm *sm)
{
	struct silent_devices *m = sm->devices.silent;
	int64_t light_us = sm->settings->sweep_interval_s * 1000000ll;
	bool any = false;

	for (size_t i = 0; i < m->list.n; i++)
		any |= is_silent(&m->list.v[i]);
	if (!any) {
		m->wait_us = 0;
		timer_stop(m->timer);
		return;
	}
	if (timer_active(m->timer))
		return;
	m->wait_us = backoff_next(m->wait_us, ASK_FIRST_US, light_us ? light_us : ASK_MAX_US);
	timer_set(m->timer, m->wait_us, 0);
}

static void asked_all(struct sm *sm)
{
	struct silent_devices *m = sm->devices.silent;

	state_unref(m->state);
	m->state = NULL;
	if (m->any_back)
		sm_want_sweep(sm, SWEEP_LOCAL, "a device answers again");
	arm(sm);
}

static void ask_next(struct sm *sm);

bool silent_heard(struct sm *sm, uint64_t guid)
{
	struct silent_device *x = find(sm->devices.silent, guid);
	int64_t now = clock_mono_us();

	if (!is_silent(x) || !sm->published || now < x->due_us)
		return false;
	x->back = true;
	x->wait_us = backoff_next(x->wait_us, 1000000, ASK_MAX_US);
	x->due_us = now + x->wait_us;
	map64_put(&sm->known.doubtful, guid, 1);
	sm_suspect(sm, &(struct suspect){ .guid = guid, .changed = true, .renamed = true,
					  .unasked = true });
	return true;
}

static void answered(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;
	struct sm *sm = q->sm;
	struct silent_devices *m = sm->devices.silent;

	(void)s;
	if (status >= 0)
		m->any_back |= silent_heard(sm, q->guid);
	q->busy = false;
	m->under_way--;
	ask_next(sm);
}

static void ask_next(struct sm *sm)
{
	struct silent_devices *m = sm->devices.silent;
	const struct fabric *f = m->state->f;

	while (m->under_way < AT_ONCE && m->asked < m->to_ask.n) {
		uint64_t guid = m->to_ask.v[m->asked++];
		uint32_t node = map64_get(&f->node_by_guid, guid);
		struct smp s = { .method = SMP_GET, .attr = UMAD_SM_ATTR_NODE_INFO, .once = true };
		struct question *q;

		if (node == MAP64_NONE || !mkey_route(sm, f, node, 0, &s))
			continue;
		for (q = m->questions; q->busy; q++)
			;
		*q = (struct question){ sm, guid, true };
		m->under_way++;
		smp_send(sm->mad, &s, answered, q);
	}
	if (!m->under_way)
		asked_all(sm);
}

void silent_ask(struct sm *sm)
{
	struct silent_devices *m = sm->devices.silent;

	if (m->state || !m->list.n || !sm->published)
		return;
	m->to_ask.n = m->asked = 0;
	m->any_back = false;
	for (size_t i = 0; i < m->list.n; i++)
		if (is_silent(&m->list.v[i]))
			*vec_push(&m->to_ask) = m->list.v[i].guid;
	m->state = state_ref(sm->published);
	ask_next(sm);
}

static void on_time(void *arg)
{
	silent_ask(arg);
}

/* --- which devices are silent --- */

static struct silent_device *add(struct sm *sm, const struct fabric_node *n, bool table_known)
{
	struct silent_devices *m = sm->devices.silent;

	map64_put(&m->by_guid, n->guid, (uint32_t)m->list.n);
	*vec_push(&m->list) = (struct silent_device){ .guid = n->guid, .is_switch = n->sw != FABRIC_NONE,
					     .table_known = table_known };
	m->wait_us = 0;
	timer_stop(m->timer);
	return &m->list.v[m->list.n - 1];
}

bool silent_found(struct sm *sm, const struct fabric *f, uint32_t node)
{
	uint64_t guid = f->nodes[node].guid;
	struct silent_device *x = find(sm->devices.silent, guid);

	if (is_silent(x) || node == f->ports[f->self].node)
		return false;
	if (x)
		x->back = false;
	else
		add(sm, &f->nodes[node], table_is_known(sm, guid, NULL));
	arm(sm);
	return true;
}

static void keep_the_rest(struct silent_devices *m)
{
	size_t kept = 0;

	map64_clear(&m->by_guid);
	for (size_t i = 0; i < m->list.n; i++) {
		if (m->list.v[i].gone)
			continue;
		map64_put(&m->by_guid, m->list.v[i].guid, (uint32_t)kept);
		m->list.v[kept++] = m->list.v[i];
	}
	m->list.n = kept;
}

/* The forwarding table was known before the sweep, and the switch has not lost it. */
static bool was_known(const struct sm *sm, uint32_t node, const struct silent_device *x)
{
	const struct plan *old = sm->sweep.replaced ? sm->sweep.replaced->plan : NULL;

	if (sm->sweep.was_owed || sm->known.another_was)
		return false;
	return table_is_known(sm, sm->sweep.f->nodes[node].guid, x) &&
	       fixed_routes_survived(sm, old, node);
}

static bool is_stale(const struct sm *sm, uint32_t node)
{
	const struct routes_now *x = sm->sweep.plan->now;

	for (size_t i = 0; i < x->stale.n; i++)
		if (x->switches[x->stale.v[i].sw] == sm->sweep.f->nodes[node].sw)
			return true;
	return false;
}

/*
 * The table of a switch was to be written out of order: its blocks are as before or, if Sets were
 * sent (`either`), as before or as planned.  Records what differs from the plan as stale; entries
 * that may be either must not be used by routes.
 */
static bool note_difference(struct sm *sm, uint32_t node, bool either)
{
	const struct plan *old = sm->sweep.replaced->plan, *now = sm->sweep.plan;
	const struct fabric_node *n = &sm->sweep.f->nodes[node];
	uint32_t before = fabric_same_node(old->f, n);
	uint32_t of_base = map64_get(&now->now->base->f->node_by_guid, n->guid);
	const uint8_t *planned = now->lfts->entries + (size_t)n->sw * now->lfts->stride;
	uint8_t *held;

	if (before == FABRIC_NONE || of_base == MAP64_NONE)
		return false;
	held = xmalloc(old->lfts->stride + (size_t)now->lfts->stride);
	memset(held, LFT_DROP, old->lfts->stride + (size_t)now->lfts->stride);
	fixed_routes_in_force(old, old->f->nodes[before].sw, held);
	for (uint32_t first = 0; first < now->lfts->stride; first += LFT_BLOCK) {
		struct lft_write *w;

		if (!memcmp(held + first, planned + first, LFT_BLOCK))
			continue;
		w = vec_push(&sm->sweep.plan->now->stale);
		*w = (struct lft_write){ .sw = now->now->base->f->nodes[of_base].sw,
					 .block = (uint16_t)(first / LFT_BLOCK) };
		for (uint32_t i = 0; i < LFT_BLOCK; i++)
			w->entries[i] = !either || held[first + i] == planned[first + i] ?
					held[first + i] : LFT_DROP;
	}
	free(held);
	return true;
}

/*
 * The table of a switch that stopped answering in this sweep is known: it is the planned one,
 * except for blocks that were recorded as not written (stale), as far as the table was written in
 * rounds.
 */
static bool knows_table(struct sm *sm, uint32_t node, const struct silent_device *x)
{
	const struct node_work *w = &sm->sweep.work[node];

	if (sm->sweep.f->nodes[node].sw == FABRIC_NONE)
		return false;
	if (sm->sweep.reroute && (w->lft_known || (w->collected && !w->unknown)))
		return true;
	if (w->lft_as_planned && !is_stale(sm, node))
		return true;
	return was_known(sm, node, x) && note_difference(sm, node, w->lft_sent);
}

static bool is_suspected(const struct sm *sm, uint64_t guid)
{
	for (size_t i = 0; i < sm->wishes.suspects.n; i++)
		if (sm->wishes.suspects.v[i].guid == guid)
			return true;
	return false;
}

/* Updates a device that was silent before the sweep, whose plan avoided it. */
static void stays_silent(const struct sm *sm, struct silent_device *x)
{
	/* without these the plan has what the switch should hold, not what it holds */
	x->table_known &= sm->sweep.reroute || sm->devices.silent->tables_kept;
	/* it may have answered since; it stays `back` only if the next sweep asks it */
	x->back &= is_suspected(sm, x->guid);
}

static bool gave_no_answer(const struct sm *sm, uint32_t node)
{
	const struct node_work *w = &sm->sweep.work[node];

	return w->failed && !w->key_mismatch && node != sm->sweep.f->ports[sm->sweep.f->self].node;
}

static bool stopped_answering(const struct sm *sm, uint32_t node)
{
	return gave_no_answer(sm, node) && !sm->sweep.work[node].outdated;
}

/*
 * The route to the device may have been broken, and the next sweep asks it again.  If it does not
 * answer that one either, its table is still what this sweep leaves it with.
 */
static void note_unreached(struct sm *sm, uint32_t node, struct silent_device *x,
			   struct map64 *unreached)
{
	bool known = knows_table(sm, node, x);

	if (x)
		x->table_known = known;
	else if (known)
		map64_put(unreached, sm->sweep.f->nodes[node].guid, 1);
}

/*
 * Records a device that stopped answering in this sweep.  That is news even if it was known: a
 * discovery found it, and the plan was made as if it answered.
 */
static void note_stopped(struct sm *sm, uint32_t node, struct silent_device *x)
{
	bool known = knows_table(sm, node, x);

	sm->devices.silent->fresh++;
	if (!x) {
		add(sm, &sm->sweep.f->nodes[node], known);
		return;
	}
	x->back = false;
	x->table_known = known;
}

/* True: the plan relies on the node and it failed, or the other way round: another plan must follow. */
static bool node_swept(struct sm *sm, uint32_t node, struct map64 *unreached)
{
	struct silent_device *x = find(sm->devices.silent, sm->sweep.f->nodes[node].guid);
	struct node_work *w = &sm->sweep.work[node];
	bool was_silent = x && sm->sweep.f->nodes[node].silent;

	if (was_silent && !w->heard && !w->failed) {
		w->failed = true;	/* there was nothing to ask it */
		sm->last.failed_devices++;
	}
	if (!w->failed) {
		if (x)
			x->gone = true;
		return was_silent;	/* routes avoid it, and need not any more */
	}
	if (stopped_answering(sm, node)) {
		sm->devices.silent->n++;
		if (was_silent)
			stays_silent(sm, x);
		else
			note_stopped(sm, node, x);
		return !was_silent;
	}
	if (was_silent || !gave_no_answer(sm, node))
		return false;
	note_unreached(sm, node, x, unreached);
	return true;
}

void silent_swept(struct sm *sm)
{
	struct silent_devices *m = sm->devices.silent;
	struct map64 unreached;
	bool news = false;

	if (sweep_is(sm)->by_copy)		/* it asks only once, and a sweep follows */
		return;
	m->n = m->fresh = 0;
	map64_init(&unreached, 4);
	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++)
		news |= node_swept(sm, i, &unreached);
	map64_free(&m->tables_known);
	m->tables_known = unreached;
	for (size_t i = 0; i < m->list.n; i++)
		m->list.v[i].gone |= map64_get(&sm->sweep.f->node_by_guid, m->list.v[i].guid) == MAP64_NONE;
	keep_the_rest(m);
	sm->wishes.replan |= news;
	arm(sm);
}

bool silent_is_all(const struct sm *sm)
{
	return sm->devices.silent->n && sm->devices.silent->n == sm->last.failed_devices;
}

bool silent_is_known(const struct sm *sm)
{
	return silent_is_all(sm) && !sm->devices.silent->fresh;
}

void silent_stop(struct sm *sm)
{
	struct silent_devices *m = sm->devices.silent;

	timer_stop(m->timer);
	m->list.n = 0;
	map64_clear(&m->by_guid);
	map64_clear(&m->tables_known);
	m->to_ask.n = m->asked = 0;
	m->n = m->fresh = 0;
	m->wait_us = 0;
	m->any_back = false;
	sm->wishes.replan = false;
}

void silent_new(struct sm *sm)
{
	sm->devices.silent = xcalloc(1, sizeof(*sm->devices.silent));
	map64_init(&sm->devices.silent->by_guid, 16);
	map64_init(&sm->devices.silent->tables_known, 16);
	sm->devices.silent->timer = timer_new(sm->loop, on_time, sm);
}

void silent_free(struct sm *sm)
{
	struct silent_devices *m = sm->devices.silent;

	timer_free(m->timer);
	state_unref(m->state);
	vec_free(&m->list);
	vec_free(&m->to_ask);
	map64_free(&m->by_guid);
	map64_free(&m->tables_known);
	free(m);
}
