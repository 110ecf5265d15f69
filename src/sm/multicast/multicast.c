/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides when multicast forwarding is updated: the trees (multicast_trees.c) and their MFT blocks
 * (multicast_tables.c).
 *
 * Changes of membership are gathered for a moment: a restart makes all hosts join at once, and one
 * pass serves them all.  After a sweep the affected trees are made anew.  Tables are written only
 * after all trees are made and the groups are on disk; if the disk does not work, they are written
 * without.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/backoff.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/multicast/multicast.h"
#include "sm/multicast/multicast_sweeps.h"

#define GATHER_US	20000
#define PATIENCE_US	2000000		/* how long to wait for the disk */
#define RETRY_US	2000000ll
#define RETRY_MAX_US	60000000ll

static struct log_ratelimit mlids_log = LOG_RATELIMIT;

/* --- when to update --- */

static void say_usage(struct mcast_work *w)
{
	struct mcast_usage u = mcast_usage(w->sm->mcast);

	if (u.sharing > w->sharing_seen)
		log_limited(&mlids_log, LOG_LEVEL_WARNING, "multicast",
			    "all %u MLIDs that the switches can forward are in use: %u groups share the "
			    "MLID of another group, and their members receive each other's packets",
			    u.limit, u.sharing);
	if (u.refused > w->refused_seen)
		log_limited(&mlids_log, LOG_LEVEL_WARNING, "multicast",
			    "%" PRIu64 " groups refused: no MLID is free, or can be shared at the same "
			    "P_Key, MTU, rate and SL", u.refused - w->refused_seen);
	w->sharing_seen = u.sharing;
	w->refused_seen = u.refused;
}

static void save(struct sm *sm)
{
	if (!mcast_dirty(sm->mcast))
		return;
	store_save_groups(sm->store, sm->mcast);
	mcast_clean(sm->mcast);
}

static void write_at_last(struct mcast_work *w)
{
	w->waiting = false;
	w->write_by_us = 0;
	timer_stop(w->patience);
	/* else the end of the sweep begins all of this again */
	if (!sweep_runs(w->sm) && w->sm->published && w->state == w->sm->published)
		tables_write(w);
}

/* The store has written something. */
static void on_disk(void *arg)
{
	struct mcast_work *w = arg;

	if (w->waiting && store_is_past(w->sm->store, w->mark))
		write_at_last(w);
}

static void patience_ends(void *arg)
{
	write_at_last(arg);
}

/* All trees are made: waits for the disk.  Changes that come meanwhile do not extend the deadline. */
static void wait_for_disk(struct mcast_work *w)
{
	int64_t now = clock_mono_us();

	w->mark = store_mark(w->sm->store);
	if (!w->write_by_us)
		w->write_by_us = now + PATIENCE_US;
	timer_set(w->patience, w->write_by_us > now ? w->write_by_us - now : 0, 0);
	w->waiting = true;
	on_disk(w);
}

static void start(void *arg)
{
	struct mcast_work *w = arg;
	struct sm *sm = w->sm;

	/* clients have their answers already, and a sweep may take long */
	save(sm);
	/* a running sweep starts this at its end */
	w->again = w->job != NULL;
	if (w->again || !sm->published || sweep_runs(sm))
		return;
	/* a write that ends meanwhile must not start the writing of half of the trees */
	w->waiting = false;
	timer_stop(w->patience);
	if (w->state != sm->published)
		trees_adopt_state(w, sm->published);
	if (tables_read_frozen(w))
		return;
	if (w->frozen_changed)
		trees_refused(w);
	w->frozen_changed = false;
	trees_take_changes(w);
	if (!trees_remake_some(w)) {
		timer_set(w->gather, 0, 0);
		return;
	}
	say_usage(w);
	/* before any device is told: after a crash the groups must be the same */
	save(sm);
	wait_for_disk(w);
}

static void retry(void *arg)
{
	struct mcast_work *w = arg;

	w->try_again = true;
	sm_mcast_changed(w->sm);
}

void multicast_written(struct mcast_work *w, bool all)
{
	if (all) {
		w->retry_us = 0;
		timer_stop(w->retry);
	} else if (!timer_active(w->retry)) {	/* a write that ended because of other changes is no retry */
		w->retry_us = backoff_next(w->retry_us, RETRY_US, RETRY_MAX_US);
		timer_set(w->retry, w->retry_us, 0);
	}
	if (w->frozen_changed) {
		mad_hold(w->sm->mad);
		store_save_refused(w->sm->store);
		mad_release(w->sm->mad);
	}
	if (w->again || w->frozen_changed)
		sm_mcast_changed(w->sm);
}

/* --- from outside --- */

static void wake_up(void *arg)
{
	loop_wake(arg);
}

static struct mcast_work *get_work(struct sm *sm)
{
	struct mcast_work *w = sm->mcast_work;

	if (w)
		return w;
	w = sm->mcast_work = xcalloc(1, sizeof(*w));
	w->sm = sm;
	tables_init(w);
	w->gather = timer_new(sm->loop, start, w);
	w->retry = timer_new(sm->loop, retry, w);
	w->patience = timer_new(sm->loop, patience_ends, w);
	w->on_disk = wake_new(sm->loop, on_disk, w);
	store_on_written(sm->store, wake_up, w->on_disk);
	return w;
}

void sm_mcast_changed(struct sm *sm)
{
	struct mcast_work *w = get_work(sm);

	if (!timer_active(w->gather))
		timer_set(w->gather, GATHER_US, 0);
}

void multicast_after_sweep(struct sm *sm)
{
	if (sm->mcast)
		sm_mcast_changed(sm);
}

void multicast_observed(struct sm *sm)
{
	if (sm->mcast)
		tables_observed(get_work(sm));
}

bool multicast_is_busy(const struct sm *sm)
{
	const struct mcast_work *w = sm->mcast_work;

	return w && (w->job || w->again || w->waiting || timer_active(w->gather));
}

void multicast_status(const struct sm *sm, struct sm_status *out)
{
	const struct mcast_work *w = sm->mcast_work;

	if (!w)
		return;
	out->trees_pending = multicast_is_busy(sm);
	out->trees = w->n_trees;
	out->trees_remade = w->sweep_made;
	out->trees_kept = w->sweep_moved;
	out->trees_made = w->all_made;
}

void multicast_stop(struct sm *sm)
{
	struct mcast_work *w = sm->mcast_work;

	if (!w)
		return;
	tables_free(w);
	trees_free(w);
	timer_free(w->gather);
	timer_free(w->retry);
	timer_free(w->patience);
	store_on_written(sm->store, NULL, NULL);
	wake_free(w->on_disk);
	free(w);
	sm->mcast_work = NULL;
}
