/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What comes in at the port: requests to the SA, answers that are made while they are
 * sent, the state that they are of, and what the SA did in sums.
 *
 * Owns the SA's two faces and their lock.  What they share changes in the loop's thread
 * only, and under the lock; the receiver's thread, which has the quick face, holds it
 * for each request.
 *
 * sm/ and sa/ do not know each other: a new published state goes from the one to the
 * other here, and changes of multicast groups go back.
 */
#include <stdlib.h>

#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "qosd/daemon.h"
#include "registry/alias.h"
#include "registry/mcast.h"

/* An answer of the SA that is made while it is sent. */
#define TRY_STEPS 128		/* of search, at once */
#define READ_STEPS 512		/* in a turn */
struct answer {
	struct mad_source source;	/* first */
	struct sa_job *job;
};

static enum mad_read answer_read(struct mad_source *s, uint8_t data[200], size_t *n)
{
	static const enum mad_read as[] = {
		[SA_READ_MORE] = MAD_READ_MORE, [SA_READ_LAST] = MAD_READ_LAST,
		[SA_READ_LATER] = MAD_READ_LATER,
	};

	return as[sa_job_read(((struct answer *)s)->job, READ_STEPS, data, n)];
}

static bool answer_head(struct mad_source *s, uint8_t head[56])
{
	return sa_job_head(((const struct answer *)s)->job, head);
}

static void answer_release(struct mad_source *s)
{
	sa_job_free(((struct answer *)s)->job);
	free(s);
}

/* True: q->answer has what is to be sent at once. */
static bool answer_later(struct qosd *q, const struct mad_in *in, struct sa_job *job)
{
	struct answer *a;

	if (sa_job_try(job, TRY_STEPS, &q->answer)) {
		sa_job_free(job);
		return true;
	}
	a = xcalloc(1, sizeof(*a));
	a->source = (struct mad_source){
		.read = answer_read, .head = answer_head, .release = answer_release,
		.held = sa_job_held(job), .total = sa_job_total(job),
	};
	a->job = job;
	if (mad_stream(q->mad, in, &a->source))
		return false;
	sa_job_refuse(job, &q->answer);
	answer_release(&a->source);
	return true;
}

void serve_request(void *arg, const struct mad_in *in)
{
	struct qosd *q = arg;
	struct sa_request req = { .mad = in->mad, .len = in->len, .slid = in->slid,
				  .arrived_us = in->arrived_us };
	struct sa_job *job = NULL;
	bool send, writes;

	if (in->mgmt_class != UMAD_CLASS_SUBN_ADM) {
		if (q->sm && !sm_receive(q->sm, in))
			return;
		if (q->clients)
			clients_smp(q->clients, in);
		return;
	}
	clients_request(in, &req);
	writes = in->len > 3 && (in->mad[3] == UMAD_METHOD_SET || in->mad[3] == UMAD_SA_METHOD_DELETE);
	if (writes)
		pthread_mutex_lock(&q->sa_lock);
	send = in->overload ? sa_answer_busy(&q->sa, &req, &q->answer) :
			      sa_begin(&q->sa, &req, &q->answer, &job) == SA_WHOLE;
	if (writes)
		pthread_mutex_unlock(&q->sa_lock);
	if (job)
		send = answer_later(q, in, job);
	if (send)
		mad_reply(q->mad, in, (const uint8_t *)q->answer.s, q->answer.n);
}

void serve_quick_request(void *arg, struct mad_port *m, const struct mad_in *in)
{
	struct qosd *q = arg;
	struct sa_request req = { .mad = in->mad, .len = in->len, .slid = in->slid,
				  .arrived_us = in->arrived_us };
	bool send;

	pthread_mutex_lock(&q->sa_lock);
	send = in->overload ? sa_answer_busy(&q->quick, &req, &q->quick_answer) :
			      sa_answer(&q->quick, &req, &q->quick_answer);
	pthread_mutex_unlock(&q->sa_lock);
	if (send)
		mad_reply(m, in, (const uint8_t *)q->quick_answer.s, q->quick_answer.n);
}

void serve_published(void *arg, struct subnet_state *s)
{
	struct qosd *q = arg;
	struct subnet_state *old = q->sa.state;
	struct leavers leavers = { 0 };

	pthread_mutex_lock(&q->sa_lock);
	q->sa.state = q->quick.state = s ? state_ref(s) : NULL;
	if (s)
		mcast_sync(q->sa.mcast, s);
	pthread_mutex_unlock(&q->sa_lock);
	if (s && q->heir)
		heir_stop(q->heir);
	if (!s)
		standbys_deposed(q->standbys);
	if (s)
		run_time_leavers(q->sa.mcast, s, &leavers);
	if (leavers.n) {
		pthread_mutex_lock(&q->sa_lock);
		run_time_leave(q->sa.mcast, &leavers);
		pthread_mutex_unlock(&q->sa_lock);
	}
	vec_free(&leavers);
	if (q->clients)
		clients_publish(q->clients, s);
	if (q->perf)
		perf_published(q->perf, s);
	life_published(q->life, old, s, mad_counts(q->mad));
	state_unref(old);
}

const struct sa_stats *serve_stats(void *arg)
{
	struct qosd *q = arg;
	int64_t now = clock_mono_us();

	pthread_mutex_lock(&q->sa_lock);
	sa_stats_turn(q->sa.stats, now);
	sa_stats_turn(q->quick.stats, now);
	*q->sa_stats = *q->sa.stats;
	sa_stats_add(q->sa_stats, q->quick.stats);
	pthread_mutex_unlock(&q->sa_lock);
	return q->sa_stats;
}

/* --- what the SA asks the SM for --- */

static bool sa_sm_info(void *arg, uint32_t i, struct sa_sm_info *out)
{
	struct qosd *q = arg;
	struct sm_seen s;

	if (!sm_seen_at(q->sm, i, &s))
		return false;
	*out = (struct sa_sm_info){ s.guid, s.act_count, s.priority, (uint8_t)s.state };
	return true;
}

static uint32_t sa_mft_blocks(void *arg)
{
	struct qosd *q = arg;

	return sm_mft_blocks(q->sm);
}

static bool sa_mft_block(void *arg, uint64_t guid, unsigned block, unsigned position,
			 uint8_t entries[64])
{
	struct qosd *q = arg;

	return sm_mft_block(q->sm, guid, block, position, entries);
}

static void on_mcast_changed(void *arg)
{
	struct qosd *q = arg;

	sm_mcast_changed(q->sm);
}

void serve_init(struct qosd *q)
{
	q->sa.sm_key = q->quick.sm_key = q->settings->sm_key;
	/* not for `quick`: these are for the loop's thread */
	q->sa.sm = (struct sa_sm_hooks){ sa_sm_info, sa_mft_blocks, sa_mft_block, q };
	q->sa.mcast = q->quick.mcast = mcast_new(on_mcast_changed, q);
	q->sa.alias = q->quick.alias = alias_new();
	q->estate = estate_new(q);
	q->standbys = standbys_new(q);
	q->sa.estate = estate_answer;
	q->sa.estate_arg = q->estate;
	q->sa.stats = sa_stats_new();
	q->quick.stats = sa_stats_new();
	q->sa_stats = sa_stats_new();
	q->sa.trace = q->quick.trace = sa_trace_new();
}

void serve_free(struct qosd *q)
{
	state_unref(q->sa.state);
	mcast_free(q->sa.mcast);
	alias_free(q->sa.alias);
	sa_trace_free(q->sa.trace);
	sa_stats_free(q->sa.stats);
	sa_stats_free(q->quick.stats);
	sa_stats_free(q->sa_stats);
	estate_free(q->estate);
	standbys_free(q->standbys);
	buf_free(&q->answer);
	buf_free(&q->quick_answer);
}
