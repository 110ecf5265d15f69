/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See intake.h. */
#include "mad/intake.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/bucket.h"
#include "lib/base/clock.h"
#include "mad/flood.h"
#include "mad/umad_port.h"

#define SPARE_MAX 1024u		/* unused items to keep; further ones are freed */
#define BATCH 8u		/* items that the loop's thread takes, or gives back, each time it locks */

/* A list of items, oldest first. */
struct batch {
	struct fair_item *first, **end;
	unsigned n;
};

struct intake {
	/* used by the loop's thread only */
	struct batch taken[INTAKE_CLASSES], done;
	/* shared by all threads, under the lock */
	pthread_mutex_t lock;
	struct fair *queue[INTAKE_CLASSES];
	struct fair_item *spare;
	unsigned n_spare;
	struct flood_table *floods;
	struct bucket busy;
};

struct intake *intake_new(unsigned requests, unsigned requests_each)
{
	struct intake *in = xcalloc(1, sizeof(*in));

	for (unsigned c = 0; c < INTAKE_CLASSES; c++)
		in->taken[c].end = &in->taken[c].first;
	in->done.end = &in->done.first;
	pthread_mutex_init(&in->lock, NULL);
	in->queue[INTAKE_ANSWER] = fair_new(INTAKE_ANSWERS, INTAKE_ANSWERS);
	in->queue[INTAKE_SMP] = fair_new(INTAKE_SMPS, INTAKE_SMPS_EACH);
	in->queue[INTAKE_RMPP] = fair_new(INTAKE_RMPP_MAX, INTAKE_RMPP_EACH);
	in->queue[INTAKE_REQUEST] = fair_new(requests, requests_each);
	in->floods = flood_table_new();
	return in;
}

static void batch_add(struct batch *b, struct fair_item *i)
{
	i->next = NULL;
	*b->end = i;
	b->end = &i->next;
	b->n++;
}

static struct fair_item *batch_take(struct batch *b)
{
	struct fair_item *i = b->first;

	if (!i)
		return NULL;
	b->first = i->next;
	if (!b->first)
		b->end = &b->first;
	b->n--;
	return i;
}

void intake_free(struct intake *in)
{
	struct fair_item *i;

	if (!in)
		return;
	for (unsigned c = 0; c < INTAKE_CLASSES; c++) {
		while ((i = batch_take(&in->taken[c])) || (i = fair_pop(in->queue[c])))
			free(i);
		fair_free(in->queue[c]);
	}
	while ((i = batch_take(&in->done)))
		free(i);
	while ((i = in->spare)) {
		in->spare = i->next;
		free(i);
	}
	flood_table_free(in->floods);
	pthread_mutex_destroy(&in->lock);
	free(in);
}

static struct rx_item *of(struct fair_item *i)
{
	return (struct rx_item *)(void *)i;	/* `item` is the first member */
}

struct rx_item *intake_item(struct intake *in)
{
	struct fair_item *i;

	pthread_mutex_lock(&in->lock);
	i = in->spare;
	if (i) {
		in->spare = i->next;
		in->n_spare--;
	}
	pthread_mutex_unlock(&in->lock);
	return i ? of(i) : xmalloc(sizeof(struct rx_item));
}

/* Call with the lock held.  False: there are enough spare items. */
static bool keep_spare(struct intake *in, struct fair_item *i)
{
	if (in->n_spare >= SPARE_MAX)
		return false;
	i->next = in->spare;
	in->spare = i;
	in->n_spare++;
	return true;
}

void intake_give_back(struct intake *in, struct rx_item *i)
{
	bool kept;

	pthread_mutex_lock(&in->lock);
	kept = keep_spare(in, &i->item);
	pthread_mutex_unlock(&in->lock);
	if (!kept)
		free(i);
}

void intake_done(struct intake *in, struct rx_item *i)
{
	struct fair_item *done;

	batch_add(&in->done, &i->item);
	if (in->done.n < BATCH)
		return;
	pthread_mutex_lock(&in->lock);
	while (in->n_spare < SPARE_MAX && (done = batch_take(&in->done)))
		keep_spare(in, done);
	pthread_mutex_unlock(&in->lock);
	while ((done = batch_take(&in->done)))
		free(done);
}

struct rx_item *intake_put(struct intake *in, enum intake_class c, uint64_t source,
			   struct rx_item *i)
{
	struct fair_item *out, *latest;

	pthread_mutex_lock(&in->lock);
	if (!fair_push_out(in->queue[c], source, &i->item, &out)) {
		latest = c == INTAKE_SMP ? fair_latest(in->queue[c], source) : NULL;
		if (latest)
			of(latest)->slot = i->slot;
		out = &i->item;
	}
	pthread_mutex_unlock(&in->lock);
	return out ? of(out) : NULL;
}

struct rx_item *intake_take(struct intake *in, enum intake_class c, bool few)
{
	struct batch *b = &in->taken[c];
	struct fair_item *i = batch_take(b);

	if (i)
		return of(i);
	pthread_mutex_lock(&in->lock);
	while (b->n < BATCH && (i = few ? fair_pop_few(in->queue[c]) : fair_pop(in->queue[c])))
		batch_add(b, i);
	pthread_mutex_unlock(&in->lock);
	i = batch_take(b);
	return i ? of(i) : NULL;
}

bool intake_any(struct intake *in, enum intake_class c, bool few)
{
	bool any;

	if (in->taken[c].n)
		return true;
	pthread_mutex_lock(&in->lock);
	any = few ? fair_any_few(in->queue[c]) : fair_count(in->queue[c]) > 0;
	pthread_mutex_unlock(&in->lock);
	return any;
}

void intake_note(struct intake *in, uint64_t source, uint16_t lid, enum mad_kind kind,
		 bool dropped, int64_t now_us)
{
	pthread_mutex_lock(&in->lock);
	flood_note(in->floods, source, lid, kind, dropped, now_us);
	pthread_mutex_unlock(&in->lock);
}

bool intake_turned_away(struct intake *in, uint64_t source, uint16_t lid, int64_t now_us)
{
	bool answer;

	pthread_mutex_lock(&in->lock);
	flood_note(in->floods, source, lid, MAD_KIND_SA, true, now_us);
	answer = bucket_take(&in->busy, INTAKE_BUSY_BURST, INTAKE_BUSY_EACH_US, now_us);
	pthread_mutex_unlock(&in->lock);
	return answer;
}

bool mad_flood_tell(struct mad_port *m, struct mad_flood *out)
{
	struct intake *in = m->intake;
	bool any;

	pthread_mutex_lock(&in->lock);
	any = flood_tell(in->floods, clock_mono_us(), out);
	pthread_mutex_unlock(&in->lock);
	return any;
}

bool mad_flood_at(struct mad_port *m, unsigned i, struct mad_flood *out)
{
	struct intake *in = m->intake;
	bool any;

	pthread_mutex_lock(&in->lock);
	any = flood_at(in->floods, i, clock_mono_us(), out);
	pthread_mutex_unlock(&in->lock);
	return any;
}
