/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See drained_links.h.  Links are tried in groups, as nearly all of them can be left: a group that
 * cannot is halved.
 */
#include "plan/routes/drained_links.h"

struct search {
	struct drained_links *l;
	drained_try *fits;
	void *arg;
	unsigned tries;
};

static void mark(struct search *s, size_t first, size_t n, bool used)
{
	for (size_t i = first; i < first + n; i++)
		s->l->v.v[i].used = used;
}

/* Leaves as many as possible of n links that are used so far. */
static void leave(struct search *s, size_t first, size_t n)
{
	if (!n || s->tries == DRAINED_TRIES_MAX)
		return;
	mark(s, first, n, false);
	s->tries++;
	if (s->fits(s->arg, s->l))
		return;
	mark(s, first, n, true);
	if (n == 1)
		return;
	leave(s, first, n / 2);
	leave(s, first + n / 2, n - n / 2);
}

bool drained_choose(struct drained_links *l, drained_try *fits, void *arg)
{
	struct search s = { .l = l, .fits = fits, .arg = arg, .tries = 1 };

	mark(&s, 0, l->v.n, true);
	if (!fits(arg, l))
		return false;
	if (l->v.n == 1)	/* it cannot be left, as the caller knows */
		return true;
	leave(&s, 0, l->v.n / 2);
	leave(&s, l->v.n / 2, l->v.n - l->v.n / 2);
	return true;
}
