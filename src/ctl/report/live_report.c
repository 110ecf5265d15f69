/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the newest data of the report for the daemon's page, and makes it in a thread when somebody asks and it is
 * old.  The thread is busy at most a tenth of the time, however often readers ask.
 */
#include <stdlib.h>

#include "ctl/report/report.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"

#define FRESH_US	5000000		/* data of this age is not made anew */
#define REST		10		/* times as long as making took */

struct live_report {
	struct loop *loop;
	struct report *making;		/* NULL: no thread runs */
	struct work *work;
	int64_t begun_us, next_us;	/* monotonic: when the thread began, and when it may begin again */
	struct buf made, data;		/* being made; the newest */
};

struct live_report *live_report_new(struct loop *l)
{
	struct live_report *x = xcalloc(1, sizeof(*x));

	x->loop = l;
	return x;
}

static void make(void *arg)
{
	struct live_report *x = arg;

	report_make(x->making, &x->made);
}

static void end_making(struct live_report *x)
{
	work_end(x->work);
	x->work = NULL;
	if (x->making)
		report_free(x->making);
	x->making = NULL;
}

static void on_made(void *arg)
{
	struct live_report *x = arg;
	int64_t now = clock_mono_us(), rest = REST * (now - x->begun_us);

	end_making(x);
	buf_free(&x->data);
	x->data = x->made;
	x->made = (struct buf){ 0 };
	x->next_us = now + (rest > FRESH_US ? rest : FRESH_US);
}

static void refresh(struct live_report *x, const struct ctl_call *c)
{
	if (x->making || clock_mono_us() < x->next_us)
		return;
	x->begun_us = clock_mono_us();
	x->making = report_new(c);
	x->work = work_start(x->loop, make, on_made, x);
	if (!x->work)
		end_making(x);
}

bool live_report_data(struct live_report *x, const struct ctl_call *c, struct buf *out)
{
	refresh(x, c);
	buf_add(out, x->data.s ? x->data.s : "", x->data.n);
	return x->data.n > 0;
}

void live_report_free(struct live_report *x)
{
	if (!x)
		return;
	end_making(x);
	buf_free(&x->made);
	buf_free(&x->data);
	free(x);
}
