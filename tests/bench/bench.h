/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What benchmark programs of one file share: a clock, and a subnet made from a dump. */
#ifndef QOSD_TESTS_BENCH_H
#define QOSD_TESTS_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "plan/plan.h"
#include "plan/published_state.h"
#include "qos/policy.h"
#include "unit/load_fabric.h"

/* CPU time of the process. */
static inline double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* As it is published with the built-in policy; a file that can't be read ends the program. */
static inline struct subnet_state *state_of_dump(const char *topology)
{
	struct subnet_state *s = xcalloc(1, sizeof(*s));
	struct buf err = { 0 };

	s->refs = 1;
	s->generation = 1;
	s->f = fabric_load(topology, 0, false, &err);
	if (!s->f) {
		fprintf(stderr, "%s", err.s);
		exit(1);
	}
	s->policy = shared_policy_new(policy_builtin());
	s->plan = plan_compute(s->f, s->policy->p, settings_default(), NULL, NULL, NULL);
	return s;
}

#endif
