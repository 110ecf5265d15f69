/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Saves dynamic partitions in the state folder, and merges them with the policy in force.
 *
 * Partitions that cannot be saved do not go into force, unless they come from the master, which
 * has saved them.
 */
#include <inttypes.h>

#include "daemon/daemon.h"
#include "lib/base/alloc.h"
#include "lib/base/clean.h"
#include "lib/base/log.h"

struct shared_policy *effective_policy(const struct qosd *q, struct shared_policy *p)
{
	struct shared_policy *s = dynamic_policy(q->dynamic, p);

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

const struct dynamic_partitions *get_dynamic(void *arg)
{
	struct qosd *q = arg;

	return q->dynamic;
}

static bool save_dynamic(struct qosd *q, const struct dynamic_partitions *x)
{
	struct buf lines = { 0 };
	bool saved;

	dynamic_print(x, &lines);
	saved = store_save_partitions(q->store, lines.n ? lines.s : "");
	buf_free(&lines);
	return saved;
}

static void put_dynamic(struct qosd *q, struct dynamic_partitions *x, struct asker who)
{
	struct buf named = { 0 };

	asker_text(who, &named);
	log_info("partitions", "changed: now %zu dynamic partition%s, %zu member%s%s", x->v.n, x->v.n == 1 ? "" : "s",
		 x->n_members, x->n_members == 1 ? "" : "s", named.s);
	buf_free(&named);
	operator_events_partitions(q->operator_events, q->dynamic, x, who);
	dynamic_free(q->dynamic);
	q->dynamic = x;
	q->dynamic_changes++;
	apply_policy(q, policies_in_force(q->policies));
}

bool set_dynamic(void *arg, struct dynamic_partitions *x, struct asker who, struct buf *err)
{
	struct qosd *q = arg;

	if (!save_dynamic(q, x)) {
		buf_puts(err, "cannot store it in the state folder");
		dynamic_free(x);
		return false;
	}
	put_dynamic(q, x, who);
	sm_operator_changed(q->sm);
	return true;
}

void take_dynamic(struct qosd *q, struct dynamic_partitions *x)
{
	x->change = q->dynamic->change + 1;
	if (!save_dynamic(q, x))
		log_error("partitions", "cannot store the master's in the state folder");
	put_dynamic(q, x, (struct asker){ -1, NULL });
}

void load_dynamic(struct qosd *q)
{
	q->dynamic = dynamic_new();
	if (!store_load_partitions(q->store, dynamic_line, q->dynamic)) {
		dynamic_free(q->dynamic);	/* all partitions or none */
		q->dynamic = dynamic_new();
	}
	q->dynamic->change = q->dynamic->v.n > 0;
}
