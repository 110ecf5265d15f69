/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Traps of devices, and what becomes of them (libFuzzer's interface): each 66 bytes are
 * the LID that one comes from and the data of its SMP.  Everybody subscribed to everything;
 * who answers its Reports is said by the lowest bit of the LID's first byte.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "sa/reports.h"
#include "subnet.h"

enum { STEP = 2 + NOTICE_SMP_LEN };

static unsigned outstanding[REPORTS_OUTSTANDING], n_outstanding;

static bool take_report(void *arg, const struct report *r)
{
	(void)arg;
	if (r->id >= REPORTS_OUTSTANDING || n_outstanding == REPORTS_OUTSTANDING || !r->lid)
		abort();
	outstanding[n_outstanding++] = r->id;
	return true;
}

static void wake(void *arg)
{
	(void)arg;
}

static void answer_all(struct reports *r, bool answered)
{
	while (n_outstanding)
		reports_answered(r, outstanding[--n_outstanding], answered);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reports_hooks hooks = { .send = take_report, .wake = wake };
	struct sa sa = { .state = subnet_state() };
	struct reports *r;

	log_set_level(LOG_LEVEL_ERROR);
	subnet_register(&sa);
	r = reports_new(sa.subscriptions, &hooks);
	reports_publish(r, sa.state);
	for (; size >= STEP; data += STEP, size -= STEP) {
		/* of its own size, so that a sanitizer sees reads beyond it */
		uint8_t *smp = xmemdup(data + 2, NOTICE_SMP_LEN);

		reports_trap(r, smp, get_be16(data) & 0xff);
		free(smp);
		reports_work(r);
		answer_all(r, data[0] & 1);
	}
	answer_all(r, true);
	reports_free(r);
	subnet_forget(&sa);
	return 0;
}
