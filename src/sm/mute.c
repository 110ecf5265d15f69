/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See mute.h. */
#include "sm/mute.h"

#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "base/alloc.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "sm/internal.h"

#define ASK_FIRST_US	500000ll	/* from the sweep that had no answer to the first question */
#define ASK_MAX_US	300000000ll
#define AT_ONCE		16		/* questions: if half of the fabric is silent the others are served, too */

struct mute {
	uint64_t guid;
	bool table_known;
	bool back;			/* it has answered, and the next sweep asks it */
	bool gone;			/* of no interest any more */
	int64_t wait_us, due_us;	/* between its last two returns, and when the next is heeded */
};

struct mutes {
	VEC(struct mute) list;
	struct map64 by_guid;		/* places in it */
	struct timer *timer;
	int64_t wait_us;
	struct subnet_state *state;	/* while questions are under way */
	VEC(uint64_t) to_ask;
	size_t asked;
	unsigned under_way;
	struct question {
		struct sm *sm;
		uint64_t guid;
		bool busy;
	} questions[AT_ONCE];
	bool any_back;
	uint32_t silent, fresh;		/* in the last sweep; … which nobody knew before */
};

static struct mute *find(const struct mutes *m, uint64_t guid)
{
	uint32_t at = m->list.n ? map64_get(&m->by_guid, guid) : MAP64_NONE;

	return at == MAP64_NONE ? NULL : &m->list.v[at];
}

static bool is_mute(const struct mute *x)
{
	return x && !x->back && !x->gone;
}

bool mute_table_is_known(const struct sm *sm, uint64_t guid)
{
	const struct mute *x = find(sm->mutes, guid);

	return x && x->table_known;
}

bool mute_are_few(const struct sm *sm)
{
	return sm->mutes->list.n <= MUTE_KEPT_MAX;
}

bool mute_mark(const struct sm *sm, struct fabric *f)
{
	bool news = false;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		bool mute = i != f->ports[f->self].node && is_mute(find(sm->mutes, f->nodes[i].guid));

		news |= mute != f->nodes[i].mute;
		f->nodes[i].mute = mute;
	}
	return news;
}

bool mute_has_answered(const struct sm *sm, uint64_t guid)
{
	const struct mute *x = find(sm->mutes, guid);

	return x && x->back;
}

bool mute_is_back(const struct sm *sm, uint64_t guid)
{
	const struct mute *x = find(sm->mutes, guid);

	return x && x->back && x->table_known;
}

/* --- asking them --- */

static void arm(struct sm *sm)
{
	struct mutes *m = sm->mutes;
	int64_t light_us = sm->settings->sweep_interval_s * 1000000ll;
	bool any = false;

	for (size_t i = 0; i < m->list.n; i++)
		any |= is_mute(&m->list.v[i]);
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
	struct mutes *m = sm->mutes;

	state_unref(m->state);
	m->state = NULL;
	if (m->any_back)
		sm_want_sweep(sm, SWEEP_LOCAL, "a device answers again");
	arm(sm);
}

static void ask_next(struct sm *sm);

static void answered(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;
	struct sm *sm = q->sm;
	struct mutes *m = sm->mutes;
	struct mute *x = find(m, q->guid);
	int64_t now = clock_mono_us();

	(void)s;
	if (status >= 0 && is_mute(x) && sm->published && now >= x->due_us) {
		x->back = m->any_back = true;
		x->wait_us = backoff_next(x->wait_us, 1000000, ASK_MAX_US);
		x->due_us = now + x->wait_us;
		map64_put(&sm->doubtful, q->guid, 1);
		sm_suspect(sm, &(struct suspect){ .guid = q->guid, .changed = true, .renamed = true,
						  .unasked = true });
	}
	q->busy = false;
	m->under_way--;
	ask_next(sm);
}

static void ask_next(struct sm *sm)
{
	struct mutes *m = sm->mutes;
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

void mute_ask(struct sm *sm)
{
	struct mutes *m = sm->mutes;

	if (m->state || !m->list.n || !sm->published)
		return;
	m->to_ask.n = m->asked = 0;
	m->any_back = false;
	for (size_t i = 0; i < m->list.n; i++)
		if (is_mute(&m->list.v[i]))
			*vec_push(&m->to_ask) = m->list.v[i].guid;
	m->state = state_ref(sm->published);
	ask_next(sm);
}

static void on_time(void *arg)
{
	mute_ask(arg);
}

/* --- who is, and who is not any more --- */

static struct mute *add(struct sm *sm, uint64_t guid, bool table_known)
{
	struct mutes *m = sm->mutes;

	map64_put(&m->by_guid, guid, (uint32_t)m->list.n);
	*vec_push(&m->list) = (struct mute){ .guid = guid, .table_known = table_known };
	m->wait_us = 0;
	timer_stop(m->timer);
	return &m->list.v[m->list.n - 1];
}

bool mute_found(struct sm *sm, const struct fabric *f, uint32_t node)
{
	uint64_t guid = f->nodes[node].guid;
	struct mute *x = find(sm->mutes, guid);

	if (is_mute(x) || node == f->ports[f->self].node)
		return false;
	if (x)
		x->back = false;
	else
		add(sm, guid, map64_get(&sm->doubtful, guid) == MAP64_NONE);
	arm(sm);
	return true;
}

static void keep_the_rest(struct mutes *m)
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

/* Whether it is known what a switch that did not answer holds: what was not written is noted (stale). */
static bool knows_table(const struct sm *sm, uint32_t node)
{
	return sm->reroute && (!sm->work[node].unknown || sm->work[node].lft_known);
}

static bool stopped_answering(const struct sm *sm, uint32_t node)
{
	const struct node_work *w = &sm->work[node];

	return w->failed && !w->foreign && !w->outdated && node != sm->f->ports[sm->f->self].node;
}

void mute_swept(struct sm *sm)
{
	struct mutes *m = sm->mutes;
	bool news = false;

	if (sm->kind == SWEEP_TAKEOVER)		/* it asks only once, and a sweep follows */
		return;
	m->silent = m->fresh = 0;
	for (uint32_t i = 0; i < sm->f->n_nodes; i++) {
		struct mute *x = find(m, sm->f->nodes[i].guid);
		bool was_mute = x && sm->f->nodes[i].mute;

		if (was_mute && !sm->work[i].heard && !sm->work[i].failed) {
			sm->work[i].failed = true;	/* there was nothing to ask it for */
			sm->failed_devices++;
		}
		if (!stopped_answering(sm, i)) {
			if (x && !sm->work[i].failed) {
				x->gone = true;
				news |= was_mute;	/* routes go round it, and need not */
			}
			continue;
		}
		m->silent++;
		/* it may have answered since the sweep began, which did not ask it */
		if (is_mute(x) || was_mute)
			continue;
		news = true;
		m->fresh++;
		if (x) {
			x->back = false;
			x->table_known |= knows_table(sm, i);
		} else {
			add(sm, sm->f->nodes[i].guid, knows_table(sm, i));
		}
	}
	for (size_t i = 0; i < m->list.n; i++)
		m->list.v[i].gone |= map64_get(&sm->f->node_by_guid, m->list.v[i].guid) == MAP64_NONE;
	keep_the_rest(m);
	sm->replan |= news;
	arm(sm);
}

bool mute_is_all(const struct sm *sm)
{
	return sm->mutes->silent && sm->mutes->silent == sm->failed_devices;
}

bool mute_is_known(const struct sm *sm)
{
	return mute_is_all(sm) && !sm->mutes->fresh;
}

void mute_stop(struct sm *sm)
{
	struct mutes *m = sm->mutes;

	timer_stop(m->timer);
	m->list.n = 0;
	map64_clear(&m->by_guid);
	m->to_ask.n = m->asked = 0;
}

void mute_new(struct sm *sm)
{
	sm->mutes = xcalloc(1, sizeof(*sm->mutes));
	map64_init(&sm->mutes->by_guid, 16);
	sm->mutes->timer = timer_new(sm->loop, on_time, sm);
}

void mute_free(struct sm *sm)
{
	struct mutes *m = sm->mutes;

	timer_free(m->timer);
	state_unref(m->state);
	vec_free(&m->list);
	vec_free(&m->to_ask);
	map64_free(&m->by_guid);
	free(m);
}
