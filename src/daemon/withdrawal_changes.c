/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Saves the list of what is withdrawn in the state folder, and passes it on to the subnet manager.
 *
 * A change that cannot be saved does not go into force, unless it comes from the master, which has
 * saved it.
 */

#include "daemon/daemon.h"
#include "lib/base/log.h"

const struct withdrawals *get_withdrawals(void *arg)
{
	struct qosd *q = arg;

	return q->withdrawals;
}

int64_t isolated_until(void *arg, const struct withdrawal *x)
{
	struct qosd *q = arg;

	return isolation_rules_until(q->isolation_rules, x);
}

static bool save_withdrawals(struct qosd *q, const struct withdrawals *w)
{
	struct buf lines = { 0 };
	bool saved;

	withdrawals_print(w, &lines);
	saved = store_save_withdrawn(q->store, lines.n ? lines.s : "");
	buf_free(&lines);
	return saved;
}

/* Makes events of the entries of `a` that `b` has not, or has differently. */
static void tell_difference(struct qosd *q, const struct withdrawals *a, const struct withdrawals *b,
			    bool released, struct asker who)
{
	for (const struct withdrawal *x = a->v.v; x < vec_end(&a->v); x++) {
		const struct withdrawal *y = withdrawals_find(b, x->guid, x->port);

		if (!y || (!released && y->kind != x->kind))
			operator_events_withdrawal(q->operator_events, x, released, who);
	}
}

static uint64_t put_withdrawals(struct qosd *q, struct withdrawals *w, struct asker who)
{
	struct withdrawals *old = q->withdrawals;
	uint64_t change;

	for (size_t i = 0; i < old->v.n; i++)
		if (!withdrawals_find(w, old->v.v[i].guid, old->v.v[i].port))
			isolation_rules_released(q->isolation_rules, &old->v.v[i]);
	change = sm_set_withdrawals(q->sm, w);
	q->withdrawals = w;
	q->withdrawal_changes++;
	tell_difference(q, w, old, false, who);
	tell_difference(q, old, w, true, who);
	withdrawals_free(old);
	return change;
}

uint64_t set_withdrawals(void *arg, struct withdrawals *w, struct asker who, struct buf *err)
{
	struct qosd *q = arg;

	if (!save_withdrawals(q, w)) {
		buf_puts(err, "cannot store it in the state folder");
		withdrawals_free(w);
		return 0;
	}
	if (who.uid != WITHDRAWN_BY_RULE)	/* a rule would make its change again */
		sm_operator_changed(q->sm);
	return put_withdrawals(q, w, who);
}

void take_withdrawals(struct qosd *q, struct withdrawals *w)
{
	sm_standby_copy_is_old(q->sm);
	if (!save_withdrawals(q, w))
		log_error("withdrawn", "cannot store the master's list in the state folder");
	put_withdrawals(q, w, (struct asker){ -1, NULL });
}

void load_withdrawals(struct qosd *q)
{
	q->withdrawals = withdrawals_new();
	if (!store_load_withdrawn(q->store, withdrawals_line, q->withdrawals)) {
		withdrawals_free(q->withdrawals);	/* the whole list or none of it */
		q->withdrawals = withdrawals_new();
	}
	sm_set_withdrawals(q->sm, q->withdrawals);
}
