/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the policy file again, on SIGHUP or for a client of the control socket.
 *
 * For SIGHUP a thread reads the file.  If several reads overlap, the one that began last counts,
 * in whatever order they end: each has a number (nth_read), and none goes into force after a
 * later one.
 *
 * A disk or server that does not answer delays a read for FILE_SECONDS, and each read that
 * comes meanwhile by as much again, because only one runs at a time.  When the daemon ends,
 * bounded_cancel() cuts the wait short.
 */
#include <errno.h>
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/systemd_notify.h"
#include "lib/base/log.h"

struct shared_policy *reload_read(void *arg, struct findings *out)
{
	struct qosd *q = arg;
	struct shared_policy *p;

	pthread_mutex_lock(&q->reading);
	p = load_policy(q->o, q->settings, out);
	if (p)
		p->nth_read = ++q->reads;
	pthread_mutex_unlock(&q->reading);
	return p;
}

bool reload_apply(void *arg, struct shared_policy *p, struct findings *found, int64_t uid)
{
	struct qosd *q = arg;
	struct findings copy = { 0 };

	if (p && !policies_accept(q->policies, p, q->o->policy, found))
		p = NULL;
	findings_log(found, "policy");
	if (!p) {
		log_error("policy", "%s: refused; the policy in force stays", q->o->policy);
		policies_refused(q->policies, CHANGE_RELOAD, q->o->policy, uid,
				 found->count[SEV_ERROR]);
		findings_copy(&copy, found);
		sm_policy_rejected(q->sm, &copy);
		return false;
	}
	if (p->nth_read < q->applied)
		return true;		/* a later read is in force already */
	q->applied = p->nth_read;
	p->uid = uid;
	policies_reload(q->policies, p);
	return true;
}

static void hup_read(void *arg)
{
	struct qosd *q = arg;

	q->reload.policy = reload_read(q, &q->reload.found);
}

void reload_end(struct qosd *q)
{
	struct hup *h = &q->reload;

	work_end(h->work);
	shared_policy_unref(h->policy);
	findings_free(&h->found);
	*h = (struct hup){ 0 };
}

static void hup_done(void *arg)
{
	struct qosd *q = arg;
	bool again = q->reload.again;

	reload_apply(q, q->reload.policy, &q->reload.found, -1);
	reload_end(q);
	notify("READY=1");
	if (again)
		reload_on_hup(q);
}

void reload_on_hup(void *arg)
{
	struct qosd *q = arg;

	if (q->reload.work) {
		q->reload.again = true;
		return;
	}
	notify("RELOADING=1");
	q->reload.work = work_start(q->loop, hup_read, hup_done, q);
	if (!q->reload.work) {
		log_error("policy", "not reloaded: %s", strerror(errno));
		notify("READY=1");
	}
}
