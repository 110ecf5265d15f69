/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts references to the published state.
 *
 * The counts belong to the loop's thread and need no atomics: a worker gets its reference before it
 * starts and returns it after it is done, both in that thread.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "plan/published_state.h"

struct subnet_state *state_ref(struct subnet_state *s)
{
	s->refs++;
	return s;
}

void state_unref(struct subnet_state *s)
{
	if (!s || --s->refs)
		return;
	/* the plan points into fabric and policy, so it goes first */
	plan_free(s->plan);
	fabric_free(s->f);
	shared_policy_unref(s->policy);
	free(s->faults);
	free(s->changed);
	free(s);
}

uint16_t state_own_lid(const struct subnet_state *s)
{
	return s->plan->lid[s->f->self];
}

struct shared_policy *shared_policy_new(struct policy *p)
{
	struct shared_policy *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	s->p = p;
	s->uid = -1;
	return s;
}

struct shared_policy *shared_policy_overlay(struct shared_policy *base, struct policy *p)
{
	struct shared_policy *s = shared_policy_new(p);

	s->base = shared_policy_ref(base);
	s->loaded_us = base->loaded_us;
	s->nth_read = base->nth_read;
	s->source = base->source;
	s->uid = base->uid;
	s->behalf = xstrdup_or_null(base->behalf);
	findings_copy(&s->findings, &base->findings);
	return s;
}

struct shared_policy *shared_policy_ref(struct shared_policy *p)
{
	p->refs++;
	return p;
}

void shared_policy_unref(struct shared_policy *p)
{
	if (!p || --p->refs)
		return;
	if (p->base)
		policy_overlay_free(p->p, p->base->p);
	else
		policy_free(p->p);
	shared_policy_unref(p->base);
	findings_free(&p->findings);
	buf_free(&p->text);
	free(p->behalf);
	free(p);
}
