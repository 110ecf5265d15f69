/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy file, read again: for SIGHUP, in a thread of its own, and for clients.
 *
 * Of several that read at a time the last to begin is the one that counts, in whatever
 * order they come to an end: each has its number (nth_read), and none goes into force
 * over a later one.
 *
 * A disk or server that does not answer costs one that reads FILE_SECONDS, and those that come
 * meanwhile as much again each, as only one reads at a time.  When the daemon ends nobody waits:
 * see bounded_cancel().
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
		return true;		/* the file was read again since, and that is in force */
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
