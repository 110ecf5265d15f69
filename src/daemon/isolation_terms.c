/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long rules isolate links; see isolation_terms.h. */
#include "daemon/isolation_terms.h"

#include <string.h>

static int64_t term_of(const struct isolation_term *x, uint32_t for_s)
{
	return (int64_t)for_s << (x ? x->doublings : 0);
}

static bool has_end(const struct isolation_term *x, uint64_t guid, unsigned num)
{
	return (x->guid[0] == guid && x->num[0] == num) || (x->guid[1] == guid && x->num[1] == num);
}

static struct isolation_term *find(const struct isolation_terms *t, uint64_t guid, unsigned num)
{
	for (size_t i = 0; i < t->v.n; i++)
		if (has_end(&t->v.v[i], guid, num))
			return &t->v.v[i];
	return NULL;
}

static void drop(struct isolation_terms *t, size_t i)
{
	memmove(&t->v.v[i], &t->v.v[i + 1], (--t->v.n - i) * sizeof(*t->v.v));
}

/* The term of the link, which is added if it has none. */
static struct isolation_term *term_for(struct isolation_terms *t, const struct isolation_cut *link)
{
	struct isolation_term *x = find(t, link->guid[0], link->num[0]);

	if (!x)
		x = find(t, link->guid[1], link->num[1]);
	if (x)
		return x;
	if (t->v.n == WITHDRAWALS_MAX)
		drop(t, 0);
	x = vec_push(&t->v);
	*x = (struct isolation_term){ .guid = { link->guid[0], link->guid[1] }, .num = { link->num[0], link->num[1] } };
	return x;
}

void isolation_terms_begin(struct isolation_terms *t, const struct isolation_cut *link, uint32_t for_s, int64_t now_s)
{
	struct isolation_term *x = term_for(t, link);
	bool again = x->back_s && now_s - x->back_s <= term_of(x, for_s);

	if (!again)
		x->doublings = 0;
	else if (x->doublings < ISOLATION_DOUBLINGS)
		x->doublings++;
	x->back_s = 0;
}

void isolation_terms_end(struct isolation_terms *t, const struct isolation_cut *link, int64_t now_s)
{
	term_for(t, link)->back_s = now_s;
}

void isolation_terms_forget(struct isolation_terms *t, const struct withdrawal *x)
{
	struct isolation_term *term = find(t, x->guid, x->port);

	if (term && !term->back_s)
		drop(t, (size_t)(term - t->v.v));
}

int64_t isolation_terms_until(const struct isolation_terms *t, const struct withdrawal *x, uint32_t for_s)
{
	if (!for_s || !withdrawal_isolates(x) || x->uid != WITHDRAWN_BY_RULE)
		return 0;
	return x->since_s + term_of(find(t, x->guid, x->port), for_s);
}

void isolation_terms_free(struct isolation_terms *t)
{
	vec_free(&t->v);
}
