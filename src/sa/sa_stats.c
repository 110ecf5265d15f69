/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts requests and answers of the SA (sa_stats.h). */
#include "sa/sa_stats.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/iba/iba.h"
#include "lib/iba/sa_records.h"

#define SECOND_US 1000000

static const uint16_t statuses[SA_STATUS_SLOTS] = {
	IB_STATUS_OK, IB_STATUS_BUSY, IB_STATUS_BAD_VERSION, IB_STATUS_BAD_METHOD,
	IB_STATUS_BAD_METHOD_ATTR, IB_STATUS_BAD_VALUE, IB_SA_NO_RESOURCES, IB_SA_REQ_INVALID,
	IB_SA_NO_RECORDS, IB_SA_TOO_MANY_RECORDS, IB_SA_INVALID_GID,
	IB_SA_INSUFFICIENT_COMPONENTS, IB_SA_REQ_DENIED, IB_SA_PRIORITY_SUGGESTED,
};

uint16_t sa_attr_of_slot(unsigned slot)
{
	return slot == SA_ATTR_SLOT_REPLICA ? SA_ATTR_REPLICA : (uint16_t)slot;
}

static unsigned status_slot(uint16_t status)
{
	for (unsigned i = 0; i < SA_STATUS_SLOTS; i++)
		if (statuses[i] == status)
			return i;
	return 0;	/* the SA uses no other status */
}

/* Times 0 to 3 have slots of their own; above, the top bit and the two bits after it select the slot. */
static unsigned time_slot(uint64_t us)
{
	unsigned log2, slot;

	if (us < 4)
		return (unsigned)us;
	log2 = 63u - (unsigned)__builtin_clzll(us);
	slot = 4 * (log2 - 1) + (unsigned)(us >> (log2 - 2) & 3);
	return slot < SA_TIME_SLOTS ? slot : SA_TIME_SLOTS - 1;
}

uint64_t sa_time_slot_end(unsigned slot)
{
	unsigned log2 = slot / 4 + 1;

	return slot < 4 ? slot : ((uint64_t)(4 + slot % 4 + 1) << (log2 - 2)) - 1;
}

uint64_t sa_time_percentile(const struct sa_attr_stats *a, double percent)
{
	double want = (double)a->timed * percent / 100;
	uint64_t sum = 0;
	unsigned slot = 0;

	if (!a->timed)
		return 0;
	while (slot < SA_TIME_SLOTS - 1 && (double)(sum += a->time[slot]) < want)
		slot++;
	return sa_time_slot_end(slot);
}

struct sa_stats *sa_stats_new(void)
{
	return xcalloc(1, sizeof(struct sa_stats));
}

void sa_stats_free(struct sa_stats *st)
{
	free(st);
}

void sa_stats_turn(struct sa_stats *st, int64_t now_us)
{
	int64_t window = now_us / ((int64_t)SA_CLIENTS_SECONDS * SECOND_US);
	int64_t over = window - st->window;

	if (!over)
		return;
	st->window = window;
	st->now = !st->now;
	memset(st->clients[st->now], 0, sizeof(st->clients[0]));
	if (over > 1)	/* nothing was counted in the window before this one */
		memset(st->clients[!st->now], 0, sizeof(st->clients[0]));
}

void sa_stats_request(struct sa_stats *st, uint16_t slid, int64_t now_us)
{
	st->requests++;
	if (now_us)
		sa_stats_turn(st, now_us);
	if (slid < SA_LIDS)
		st->clients[st->now][slid]++;
}

void sa_stats_busy(struct sa_stats *st)
{
	st->busy++;
	st->busy_window = st->window;
}

void sa_stats_answer(struct sa_stats *st, uint16_t attr, uint16_t status, int64_t us)
{
	struct sa_attr_stats *a = &st->by_attr[attr == SA_ATTR_REPLICA ? SA_ATTR_SLOT_REPLICA :
					       attr < SA_ATTR_SLOT_REPLICA ? attr : 0];

	st->answered++;
	a->requests++;
	a->status[status_slot(status)]++;
	if (us < 0)
		return;
	a->timed++;
	a->total_us += (uint64_t)us;
	a->time[time_slot((uint64_t)us)]++;
}

static void add_attr(struct sa_attr_stats *a, const struct sa_attr_stats *b)
{
	a->requests += b->requests;
	a->timed += b->timed;
	a->total_us += b->total_us;
	for (unsigned i = 0; i < SA_STATUS_SLOTS; i++)
		a->status[i] += b->status[i];
	for (unsigned i = 0; i < SA_TIME_SLOTS; i++)
		a->time[i] += b->time[i];
}

void sa_stats_add(struct sa_stats *a, const struct sa_stats *b)
{
	a->requests += b->requests;
	a->answered += b->answered;
	a->dropped += b->dropped;
	a->abandoned += b->abandoned;
	a->busy += b->busy;
	if (b->busy_window > a->busy_window)
		a->busy_window = b->busy_window;
	for (unsigned i = 0; i < SA_ATTR_SLOTS; i++)
		if (b->by_attr[i].requests)
			add_attr(&a->by_attr[i], &b->by_attr[i]);
	for (unsigned lid = 0; lid < SA_LIDS; lid++) {
		a->clients[a->now][lid] += b->clients[b->now][lid];
		a->clients[!a->now][lid] += b->clients[!b->now][lid];
	}
}
