/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements smps.h. */
#include <check.h>
#include <string.h>

#include "smps.h"

#define DEVICES_MAX 1024
#define SINGLES_MAX 64

static struct {
	const struct smp_job_ops *ops;
	void *arg;
	uint32_t n;
} job;

static struct {
	struct smp s;
	void (*fn)(void *arg, const struct smp *s, int status);
	void *arg;
} singles[SINGLES_MAX];
static unsigned n_singles;

struct smps smps;

void smps_reset(smps_answer *answer)
{
	smps = (struct smps){ .answer = answer };
	job.ops = NULL;
	n_singles = 0;
}

struct smp_job *__wrap_smp_job_start(struct mad_port *m, uint32_t n, const struct smp_job_ops *ops, void *arg);
void __wrap_smp_job_cancel(struct smp_job *j);
void __wrap_smp_send(struct mad_port *m, const struct smp *s,
		     void (*fn)(void *arg, const struct smp *s, int status), void *arg);
void __wrap_mad_hold(struct mad_port *m);
void __wrap_mad_release(struct mad_port *m);
void __wrap_sm_want_sweep(struct sm *sm, enum sweep_kind kind, const char *reason);

struct smp_job *__wrap_smp_job_start(struct mad_port *m, uint32_t n, const struct smp_job_ops *ops, void *arg)
{
	(void)m;
	ck_assert_ptr_null(job.ops);
	ck_assert_uint_le(n, DEVICES_MAX);
	job.ops = ops;
	job.arg = arg;
	job.n = n;
	smps.jobs++;
	return (struct smp_job *)&job;
}

void __wrap_smp_job_cancel(struct smp_job *j)
{
	(void)j;
	job.ops = NULL;
}

void __wrap_smp_send(struct mad_port *m, const struct smp *s,
		     void (*fn)(void *arg, const struct smp *s, int status), void *arg)
{
	(void)m;
	ck_assert_uint_lt(n_singles, SINGLES_MAX);
	singles[n_singles].s = *s;
	singles[n_singles].fn = fn;
	singles[n_singles++].arg = arg;
}

void __wrap_mad_hold(struct mad_port *m)
{
	(void)m;
}

void __wrap_mad_release(struct mad_port *m)
{
	(void)m;
}

void __wrap_sm_want_sweep(struct sm *sm, enum sweep_kind kind, const char *reason)
{
	(void)sm;
	(void)reason;
	smps.sweeps++;
	smps.kind = kind;
}

static int answer(struct smp *s)
{
	smps.gets += s->method == SMP_GET;
	smps.sets += s->method == SMP_SET;
	return smps.answer(s);
}

/* Sends one SMP to each device in turn, like a window of one. */
static void run_job(void)
{
	const struct smp_job_ops *ops = job.ops;
	bool any = true;

	while (any) {
		any = false;
		for (uint32_t d = 0; d < job.n; d++) {
			struct smp s = { 0 };
			uint64_t cookie = 0;

			if (!ops->next(job.arg, d, &s, &cookie))
				continue;
			any = true;
			ops->done(job.arg, d, &s, cookie, answer(&s));
		}
	}
	job.ops = NULL;
	ops->finished(job.arg);
}

void smps_run(void)
{
	while (n_singles || job.ops) {
		if (n_singles) {
			struct smp s = singles[0].s;
			void (*fn)(void *arg, const struct smp *s, int status) = singles[0].fn;
			void *arg = singles[0].arg;

			memmove(singles, singles + 1, --n_singles * sizeof(*singles));
			fn(arg, &s, answer(&s));
		} else {
			run_job();
		}
	}
}
