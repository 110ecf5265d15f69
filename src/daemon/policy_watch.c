/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reloads the policy file when it changes (`policy-watch` of qosd.yaml).
 *
 * A thread looks at the file's stamp each second, rather than inotify: that notices an edit, a file
 * that is renamed into place, a symbolic link that leads elsewhere and a file that vanishes alike, on
 * network file systems, too, and a disk that hangs delays that thread alone.  A change is acted on when
 * the stamp has stayed the same for QUIET_US, as editors write a file in steps.
 */
#include <inttypes.h>

#include "daemon/daemon.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

#define QUIET_US	1000000
#define HANGING_US	60000000	/* until the next look at a disk that did not answer */

static void look(void *arg)
{
	struct qosd *q = arg;

	q->policy_watch.answered = file_stamp(q->o->policy, &q->policy_watch.found);
}

/* Whether the file that the first look finds may be another than the one that the start read. */
static bool changed_since_start(const struct qosd *q)
{
	const struct shared_policy *now = policies_in_force(q->policies);
	const struct file_stamp *found = &q->policy_watch.found;

	return found->there && now->source == POLICY_FILE &&
	       (found->mtime_us > now->loaded_us || found->ctime_us > now->loaded_us);
}

static void looked(void *arg)
{
	struct qosd *q = arg;
	struct policy_watch *w = &q->policy_watch;
	int64_t now_us = clock_mono_us();

	work_end(w->work);
	w->work = NULL;
	if (!w->answered) {
		w->next_us = now_us + HANGING_US;
		return;
	}
	if (!w->known || !file_stamp_same(&w->last, &w->found)) {
		w->pending = w->known || changed_since_start(q);
		w->last = w->found;
		w->known = true;
		w->since_us = now_us;
	} else if (w->pending && now_us - w->since_us >= QUIET_US) {
		w->pending = false;
		log_info("policy", "%s has %s", q->o->policy, w->found.there ? "changed" : "vanished");
		reload_changed(q);
	}
}

void policy_watch_check(struct qosd *q)
{
	struct policy_watch *w = &q->policy_watch;

	if (!q->settings->policy_watch || !q->policy_path || !q->policies || w->work ||
	    clock_mono_us() < w->next_us)
		return;
	w->work = work_start(q->loop, look, looked, q);	/* NULL: as many threads as there may be; later */
}

void policy_watch_end(struct qosd *q)
{
	work_end(q->policy_watch.work);
	q->policy_watch.work = NULL;
}
