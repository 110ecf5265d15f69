/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the policy file and the settings again, on SIGHUP, for a client of the control socket, or when it has changed.
 *
 * For SIGHUP and after a change a thread reads the file.  If several reads overlap, the one that began last counts,
 * in whatever order they end: each has a number (nth_read), and none goes into force after a
 * later one.
 *
 * A disk or server that does not answer delays a read for FILE_SECONDS, and each read that
 * comes meanwhile by as much again, because only one runs at a time.  When the daemon ends,
 * bounded_cancel() cuts the wait short.
 *
 * While a client's policy is in force, another thread looks at the file from time to time: a restart
 * would begin with what it has, so health compares the two.
 */
#include <errno.h>
#include <string.h>

#include "config/conf.h"
#include "daemon/daemon.h"
#include "daemon/systemd_notify.h"
#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/log.h"

#define WATCH_US	5000000		/* between two looks at the file */

struct shared_policy *reload_read(void *arg, struct settings *live, struct findings *out)
{
	struct qosd *q = arg;
	struct shared_policy *p;
	bool good;

	pthread_mutex_lock(&q->reading);
	good = settings_read_again(q, live, out);
	p = load_policy(q->o, q->settings, out);
	if (!good) {
		shared_policy_unref(p);
		p = NULL;
	}
	if (p)
		p->nth_read = ++q->reads;
	pthread_mutex_unlock(&q->reading);
	return p;
}

bool reload_apply(void *arg, struct shared_policy *p, struct findings *found, struct asker who)
{
	struct qosd *q = arg;
	struct findings copy = { 0 };

	if (p && !policies_accept_by(q->policies, settings_end_marker(q), p, q->o->policy, found))
		p = NULL;
	findings_log(found, "policy");
	if (!p && settings_refused(q, found))
		return false;
	if (!p) {
		log_error("policy", "%s: refused; the policy in force stays", q->o->policy);
		policies_refused(q->policies, CHANGE_RELOAD, q->o->policy, who,
				 found->count[SEV_ERROR]);
		findings_copy(&copy, found);
		sm_policy_rejected(q->sm, &copy);
		return false;
	}
	if (p->nth_read < q->applied)
		return true;		/* a later read is in force already */
	q->applied = p->nth_read;
	p->uid = who.uid;
	p->behalf = xstrdup_or_null(who.behalf);
	settings_apply(q);
	policies_reload(q->policies, p);
	return true;
}

static void hup_read(void *arg)
{
	struct qosd *q = arg;

	q->reload.policy = reload_read(q, foresight_settings(&q->reload.foresight), &q->reload.found);
	if (q->reload.policy)
		foresight_judge(&q->reload.foresight, q->reload.policy->p);
}

static void hup_end(struct hup *h)
{
	work_end(h->work);
	shared_policy_unref(h->policy);
	findings_free(&h->found);
	foresight_free(&h->foresight);
	*h = (struct hup){ 0 };
}

void reload_end(struct qosd *q)
{
	hup_end(&q->reload);
	work_end(q->watch.work);
	q->watch.work = NULL;
}

/* A file that a client has had read, or that is as it was, unless what it had meanwhile was refused. */
static bool is_in_force(const struct qosd *q, const struct shared_policy *p)
{
	const struct shared_policy *now = policies_in_force(q->policies);
	struct sm_status s;

	sm_get_status(q->sm, &s);
	return p && now->source == POLICY_FILE && now->p->checksum == p->p->checksum && !s.rejected;
}

static void reload_begin(struct qosd *q, bool watched);

static void hup_done(void *arg)
{
	struct qosd *q = arg;
	bool again = q->reload.again;

	if (q->reload.watched && is_in_force(q, q->reload.policy)) {
		hup_end(&q->reload);
		notify("READY=1");
		if (again)
			reload_begin(q, false);
		return;
	}
	if (foresight_refuses(&q->reload.foresight, false, &q->reload.found)) {
		shared_policy_unref(q->reload.policy);
		q->reload.policy = NULL;
	}
	reload_apply(q, q->reload.policy, &q->reload.found, (struct asker){ .uid = -1 });
	hup_end(&q->reload);
	notify("READY=1");
	if (again)
		reload_begin(q, false);
}

static void reload_begin(struct qosd *q, bool watched)
{
	if (q->reload.work) {
		q->reload.again = true;
		return;
	}
	notify("RELOADING=1");
	q->reload.watched = watched;
	foresight_take(&q->reload.foresight, q->sa.state, q->dynamic);
	q->reload.work = work_start(q->loop, hup_read, hup_done, q);
	if (!q->reload.work) {
		log_error("policy", "not reloaded: %s", strerror(errno));
		hup_end(&q->reload);
		notify("READY=1");
	}
}

void reload_on_hup(void *arg)
{
	reload_begin(arg, false);
}

void reload_changed(struct qosd *q)
{
	reload_begin(q, true);
}

/* --- the file while another policy is in force --- */

static void watch_read(void *arg)
{
	struct qosd *q = arg;
	struct buf text = { 0 }, why = { 0 };

	q->watch.missing = !file_read(q->o->policy, CONF_FILE_MAX, &text, &why);
	q->watch.checksum = conf_checksum(text.n ? text.s : "", text.n);
	buf_free(&text);
	buf_free(&why);
}

static void watch_done(void *arg)
{
	struct qosd *q = arg;
	struct file_watch *w = &q->watch;

	work_end(w->work);
	w->work = NULL;
	w->next_us = clock_mono_us() + WATCH_US;
	w->found = (struct ctl_policy_file){ true, w->missing, w->checksum };
}

static bool is_watched(const struct qosd *q)
{
	return q->policy_path && policies_in_force(q->policies)->source == POLICY_CLIENT;
}

void reload_check(struct qosd *q)
{
	struct file_watch *w = &q->watch;
	const struct shared_policy *now;

	if (w->work || !q->policies)
		return;
	now = policies_in_force(q->policies);
	if (w->of != now) {		/* what was found may be old */
		w->found.known = false;
		w->next_us = 0;
	}
	w->of = now;
	if (!is_watched(q) || clock_mono_us() < w->next_us)
		return;
	w->work = work_start(q->loop, watch_read, watch_done, q);
	if (!w->work)		/* as many threads as there may be: later */
		w->next_us = clock_mono_us() + WATCH_US;
}

struct ctl_policy_file reload_on_disk(void *arg)
{
	const struct qosd *q = arg;

	return is_watched(q) ? q->watch.found : (struct ctl_policy_file){ 0 };
}
