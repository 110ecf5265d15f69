/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Partitions that were added at run time: kept in the state folder, and put together
 * with whatever policy is in force.  What can't be kept does not go into force, unless it is
 * the master's, which kept it.
 */
#include <inttypes.h>

#include "daemon/daemon.h"
#include "lib/base/log.h"

struct shared_policy *effective_policy(const struct qosd *q, struct shared_policy *p)
{
	struct shared_policy *s = run_time_policy(q->run_time, p);

	for (size_t i = p->findings.n; i < s->findings.n; i++)
		log_warn("partitions", "%s", s->findings.v[i].text);
	return s;
}

void apply_policy(void *arg, struct shared_policy *p)
{
	struct qosd *q = arg;
	struct shared_policy *effective = effective_policy(q, p);

	sm_set_policy(q->sm, effective);
	shared_policy_unref(effective);
}

const struct run_time *get_run_time(void *arg)
{
	struct qosd *q = arg;

	return q->run_time;
}

static bool save_run_time(struct qosd *q, const struct run_time *x)
{
	struct buf lines = { 0 };
	bool saved;

	run_time_print(x, &lines);
	saved = store_save_partitions(q->store, lines.n ? lines.s : "");
	buf_free(&lines);
	return saved;
}

static void put_run_time(struct qosd *q, struct run_time *x, int64_t uid)
{
	log_info("partitions", "changed by user %" PRId64 ": %zu entries, %zu members", uid, x->v.n,
		 x->n_members);
	run_time_free(q->run_time);
	q->run_time = x;
	operator_events_partitions(q->operator_events, x, uid);
	q->run_time_changes++;
	apply_policy(q, policies_in_force(q->policies));
}

bool set_run_time(void *arg, struct run_time *x, int64_t uid, struct buf *err)
{
	struct qosd *q = arg;

	if (!save_run_time(q, x)) {
		buf_puts(err, "it can't be kept in the state folder");
		run_time_free(x);
		return false;
	}
	put_run_time(q, x, uid);
	return true;
}

void take_run_time(struct qosd *q, struct run_time *x)
{
	x->change = q->run_time->change + 1;
	if (!save_run_time(q, x))
		log_error("partitions", "the master's can't be kept in the state folder");
	put_run_time(q, x, -1);
}

void load_run_time(struct qosd *q)
{
	q->run_time = run_time_new();
	if (!store_load_partitions(q->store, run_time_line, q->run_time)) {
		run_time_free(q->run_time);	/* all of it or nothing */
		q->run_time = run_time_new();
	}
	q->run_time->change = q->run_time->v.n > 0;
}
