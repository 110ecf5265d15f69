/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The primary's list of standbys, and of callers waiting for them; see replication.h. */
#include "daemon/replication/replication.h"

#include "daemon/daemon.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/iba/sa_records.h"

#define WAIT_US		1000000		/* longest wait for a standby that does not take a change */
#define TICK_US		20000
#define PAUSE_US	300000		/* between two ticks: this process did not run */
#define THERE_MIN_US	2000000		/* a standby that has not asked for longer is gone */

/* How long a standby with our settings takes to notice that its master is gone. */
static int64_t there_us(const struct standbys *x)
{
	const struct settings *s = x->q->settings;
	int64_t us = s->poll_interval_ms * 1000ll * (s->poll_retries + 1);

	return us < THERE_MIN_US ? THERE_MIN_US : us;
}

/* Which of the standbys that were there at a time, or came since, have a change. */
static struct ctl_standbys look(const struct standbys *x, uint64_t change, int64_t when)
{
	struct ctl_standbys s = { 0 };

	for (unsigned i = 0; i < x->n; i++) {
		const struct standby *y = &x->v[i];

		if (y->seen_us < when - there_us(x))
			continue;
		s.there++;
		if (y->has && y->change >= change)
			s.have_it++;
		else
			s.without = y->guid;
	}
	return s;
}

/* Answers callers that have waited long enough; told() may make them wait again. */
static void tell(struct standbys *x)
{
	int64_t now = clock_mono_us();
	size_t i = 0;

	while (!sm_is_asking(x->q->sm) && i < x->waiters.n) {
		struct waiter w = x->waiters.v[i];
		struct ctl_standbys s = look(x, w.change, w.since_us);

		if (s.without && now < w.until_us) {
			i++;
			continue;
		}
		x->waiters.v[i] = x->waiters.v[--x->waiters.n];
		w.told(w.who, &s);
	}
	if (!x->waiters.n)
		timer_stop(x->tick);
}

static void on_tick(void *arg)
{
	struct standbys *x = arg;
	int64_t now = clock_mono_us();

	/* no standby could reach us, and the election has yet to ask */
	if (now - x->ticked_us > PAUSE_US)
		for (size_t i = 0; i < x->waiters.n; i++)
			x->waiters.v[i].until_us = now + WAIT_US;
	x->ticked_us = now;
	tell(x);
}

void standbys_heard(struct standbys *x, const struct standby *states)
{
	struct standby *y = x->v;

	while (y < x->v + x->n && y->guid != states->guid)
		y++;
	if (y == x->v + x->n && x->n < STANDBYS_MAX) {
		x->n++;
	} else if (y == x->v + x->n) {
		y = x->v;
		for (unsigned i = 1; i < x->n; i++)
			if (x->v[i].seen_us < y->seen_us)
				y = &x->v[i];
	}
	*y = *states;
	y->seen_us = clock_mono_us();
	if (x->waiters.n)
		tell(x);
}

bool replication_has_ours(void *arg, uint64_t guid)
{
	const struct qosd *q = arg;
	const struct standbys *x = &q->standbys;

	for (unsigned i = 0; i < x->n; i++)
		if (x->v[i].guid == guid)
			return x->v[i].has && x->v[i].change >= q->dynamic_changes;
	return false;
}

void standbys_deposed(struct standbys *x)
{
	static const struct ctl_standbys s = { .deposed = true };

	x->n = 0;
	while (x->waiters.n) {
		struct waiter w = x->waiters.v[--x->waiters.n];

		w.told(w.who, &s);
	}
	timer_stop(x->tick);
}

void standbys_await(void *arg, void (*told)(void *who, const struct ctl_standbys *s), void *who)
{
	struct qosd *q = arg;
	struct standbys *x = &q->standbys;
	int64_t now = clock_mono_us();
	/* no standby could be heard during a pause, or while we waited for the disk */
	int64_t since = sm_ran_us(q->sm);

	*vec_push(&x->waiters) = (struct waiter){
		.told = told, .who = who, .change = q->dynamic_changes,
		.since_us = since, .until_us = now + WAIT_US,
	};
	if (look(x, q->dynamic_changes, since).without)
		sm_nudge(q->sm);
	if (!timer_active(x->tick)) {
		x->ticked_us = now;
		timer_set(x->tick, TICK_US, TICK_US);
	}
	tell(x);
}

void standbys_forget(void *arg, void *who)
{
	struct qosd *q = arg;
	struct standbys *x = &q->standbys;

	for (size_t i = 0; i < x->waiters.n; i++)
		if (x->waiters.v[i].who == who) {
			x->waiters.v[i] = x->waiters.v[--x->waiters.n];
			return;
		}
}

bool replication_policy_peer(void *arg, unsigned i, struct ctl_policy_peer *peer)
{
	const struct qosd *q = arg;
	const struct standbys *x = &q->standbys;
	struct sm_status sm;

	*peer = (struct ctl_policy_peer){ 0 };
	sm_get_status(q->sm, &sm);
	if (sm.state == SM_STANDBY && i == 0) {
		*peer = (struct ctl_policy_peer){ q->replica.master_guid, q->replica.master_policy, true,
						  CTL_AGE_UNKNOWN, CTL_AGE_UNKNOWN };
		if (sm.master_guid != peer->guid)	/* another master, not asked yet */
			peer->checksum = 0;
		return true;
	}
	if (sm.state != SM_MASTER || i >= x->n)
		return false;
	*peer = (struct ctl_policy_peer){ x->v[i].guid, x->v[i].policy, false,
					  clock_mono_us() - x->v[i].seen_us, CTL_AGE_UNKNOWN };
	if (x->v[i].age && x->v[i].age != SA_REPLICA_NEVER)
		peer->copied_us = peer->heard_us + (x->v[i].age - 1) * 1000ll;
	if (peer->heard_us > there_us(x))
		peer->checksum = 0;
	return true;
}

void standbys_init(struct qosd *q)
{
	q->standbys.q = q;
	q->standbys.tick = timer_new(q->loop, on_tick, &q->standbys);
}

void standbys_free(struct standbys *x)
{
	timer_free(x->tick);
	vec_free(&x->waiters);
}
