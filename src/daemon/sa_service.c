/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Passes requests from the port to the SA, streams long answers, and sums up statistics.
 *
 * It owns the SA's two struct sa and their lock.  Only the loop's thread changes what they
 * share, under the lock.  The receiver's thread, which has the quick one, holds the lock for
 * each request.  The loop's thread holds it for one request or one change at a time, and lets
 * the receiver's thread go first, so that a path query waits for one join at most.
 *
 * sm/ and sa/ do not know each other: here sa/ gets each newly published state of sm/, and sm/
 * learns of changes of multicast groups.
 */
#include <stdlib.h>

#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>

#include "daemon/daemon.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "sa/registry/alias.h"
#include "sa/registry/groups.h"

/* An answer of the SA that is made while it is sent. */
#define TRY_STEPS 128		/* search steps at once */
#define READ_STEPS 512		/* search steps per turn of the loop */
struct answer {
	struct mad_source source;	/* must be the first member */
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

/* True: q->answer has the answer to send. */
static bool refuse(struct qosd *q, const struct mad_in *in, struct sa_job *job)
{
	bool busy = mad_turn_away(q->mad, in);

	sa_job_refuse(job, busy ? &q->answer : NULL);
	sa_job_free(job);
	return busy;
}

/* True: q->answer has the answer to send at once. */
static bool answer_later(struct qosd *q, const struct mad_in *in, struct sa_job *job)
{
	bool room = mad_may_stream(q->mad, in);
	struct answer *a;

	if (sa_job_try(job, TRY_STEPS, room, &q->answer)) {
		sa_job_free(job);
		return true;
	}
	if (!room)
		return refuse(q, in, job);
	a = xcalloc(1, sizeof(*a));
	a->source = (struct mad_source){
		.read = answer_read, .head = answer_head, .release = answer_release,
		.held = sa_job_held(job), .total = sa_job_total(job),
	};
	a->job = job;
	if (mad_stream(q->mad, in, &a->source))
		return false;
	free(a);
	return refuse(q, in, job);
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
		prilock_patient(&q->sa_lock);
	send = in->overload ? sa_answer_busy(&q->sa, &req, &q->answer) :
			      sa_begin(&q->sa, &req, &q->answer, &job) == SA_WHOLE;
	if (writes)
		prilock_release(&q->sa_lock);
	if (job)
		send = answer_later(q, in, job);
	if (send)
		mad_reply(q->mad, in, (const uint8_t *)q->answer.s, q->answer.n);
}

/* Takes no lock: only the loop's thread calls this, and only that thread changes the data. */
bool serve_holds(void *arg, const struct mad_in *in)
{
	const struct qosd *q = arg;
	struct sa_request req = { .mad = in->mad, .len = in->len, .slid = in->slid };

	return in->mgmt_class == UMAD_CLASS_SUBN_ADM && sa_waits(&q->sa, &req);
}

bool serve_quick_request(void *arg, struct mad_port *m, const struct mad_in *in)
{
	struct qosd *q = arg;
	struct sa_request req = { .mad = in->mad, .len = in->len, .slid = in->slid,
				  .arrived_us = in->arrived_us };
	bool send = false, waits;

	prilock_urgent(&q->sa_lock);
	waits = !in->overload && sa_waits(&q->quick, &req);
	if (!waits)
		send = in->overload ? sa_answer_busy(&q->quick, &req, &q->quick_answer) :
				       sa_answer(&q->quick, &req, &q->quick_answer);
	prilock_release(&q->sa_lock);
	if (send)
		mad_reply(m, in, (const uint8_t *)q->quick_answer.s, q->quick_answer.n);
	return !waits;
}

static void hold_sa(void *arg, bool on)
{
	struct qosd *q = arg;

	if (on)
		prilock_patient(&q->sa_lock);
	else
		prilock_release(&q->sa_lock);
}

void serve_published(void *arg, struct subnet_state *s)
{
	struct qosd *q = arg;
	struct subnet_state *old = q->sa.state;
	struct leavers leavers = { 0 };
	bool sync;

	hold_sa(q, true);
	q->sa.state = q->quick.state = s ? state_ref(s) : NULL;
	sync = s && mcast_sync_begin(q->sa.mcast, s);
	hold_sa(q, false);
	if (sync)
		mcast_sync_rest(q->sa.mcast, s, hold_sa, q);
	if (s)
		replica_stop(&q->replica);
	if (!s)
		standbys_deposed(&q->standbys);
	if (s)
		dynamic_leavers(q->sa.mcast, s, &leavers);
	for (size_t i = 0; i < leavers.n; i++) {	/* singly: no query waits for all of them */
		const struct leavers one = { .v = leavers.v + i, .n = 1 };

		hold_sa(q, true);
		dynamic_leave(q->sa.mcast, &one);
		hold_sa(q, false);
	}
	vec_free(&leavers);
	departed_publish(q->departed, s);
	if (q->clients)
		clients_publish(q->clients, s);
	if (q->perf)
		perf_published(q->perf, s);
	if (!s && q->topology)
		expected_topology_settled(q->topology, NULL);
	if (q->errors)
		error_watch_published(q->errors, s);
	if (q->optics)
		optics_watch_published(q->optics, s);
	if (!s)
		operator_events_published(q->operator_events, old, NULL, mad_counts(q->mad), NULL);
	state_unref(old);
	if (s)
		mad_serve_held(q->mad);
}

void serve_settled(void *arg, const struct subnet_state *before, const struct subnet_state *now)
{
	const struct qosd *q = arg;

	missing_state_settled(q->missing, before, now);
	operator_events_published(q->operator_events, before, now, mad_counts(q->mad),
				  missing_state_table(q->missing));
	expected_topology_settled(q->topology, q->sa.state);
}

static void set_bit(uint64_t *bits, unsigned i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool has_key(const struct pkey_table *t, uint16_t key)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->keys[i] == key)
			return true;
	return false;
}

/* Adds a P_Key that a known port is getting. */
static void add_member(struct sa_coming *c, const struct plan *p, uint32_t port, uint16_t key)
{
	set_bit(c->pkeys, key & 0x7fff);
	for (unsigned i = 0; i < 1u << p->lmc[port]; i++)
		set_bit(c->members, (uint16_t)(p->lid[port] + i));
}

/* Adds the P_Keys that known end ports are getting; for a new port its LID suffices. */
static void add_coming_pkeys(struct sa_coming *c, const struct plan *p,
			     const struct subnet_state *old)
{
	const struct pkey_table *same = NULL, *same_before = NULL;

	for (uint32_t port = 0; port < p->f->n_ports; port++) {
		const struct pkey_table *now = port_pkeys(p->partitions, port), *was;
		uint32_t before;
		bool changed;

		if (!port_is_end(p->f, port))
			continue;
		before = fabric_find_port(old->f, p->f->ports[port].guid);
		if (before == FABRIC_NONE)
			continue;
		was = port_pkeys(old->plan->partitions, before);
		if (now == same && was == same_before)		/* most ports share one table */
			continue;
		changed = false;
		for (uint32_t i = 0; i < now->n; i++)
			if (now->keys[i] && !has_key(was, now->keys[i])) {
				add_member(c, p, port, now->keys[i]);
				changed = true;
			}
		if (!changed) {
			same = now;
			same_before = was;
		}
	}
}

void serve_coming(void *arg, const struct plan *p)
{
	struct qosd *q = arg;
	const struct subnet_state *old = q->sa.state;
	struct sa_coming *c = NULL, *before = q->coming;

	if (p && old) {
		c = xcalloc(1, sizeof(*c));
		for (unsigned lid = 1; lid < IB_LID_MCAST_FIRST; lid++) {
			uint32_t now = p->port_by_lid[lid], was = old->plan->port_by_lid[lid];

			if (now != FABRIC_NONE && (was == FABRIC_NONE ||
			    p->f->ports[now].guid != old->f->ports[was].guid))
				set_bit(c->lids, lid);
		}
		add_coming_pkeys(c, p, old);
	}
	prilock_patient(&q->sa_lock);
	q->coming = c;
	q->sa.coming = q->quick.coming = c;
	prilock_release(&q->sa_lock);
	free(before);
	if (!p)
		mad_serve_held(q->mad);
}

const struct sa_stats *serve_stats(void *arg)
{
	struct qosd *q = arg;
	int64_t now = clock_mono_us();

	prilock_patient(&q->sa_lock);
	sa_stats_turn(q->sa.stats, now);
	sa_stats_turn(q->quick.stats, now);
	*q->sa_stats = *q->sa.stats;
	sa_stats_add(q->sa_stats, q->quick.stats);
	prilock_release(&q->sa_lock);
	return q->sa_stats;
}

/* --- what the SA asks of the SM --- */

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
	/* members of both; the rest is for the loop's thread */
	q->quick = q->sa = (struct sa){
		.sm_key = q->settings->sm_key, .mcast = mcast_new(on_mcast_changed, q),
		.alias = alias_new(), .trace = sa_trace_new(),
	};
	q->quick.stats = sa_stats_new();
	q->sa.stats = sa_stats_new();
	q->sa.sm = (struct sa_sm_hooks){ sa_sm_info, sa_mft_blocks, sa_mft_block, q };
	q->sa.replicate = replica_parts_answer;
	q->sa.replicate_arg = q;
	q->sa_stats = sa_stats_new();
	replica_parts_init(q);
	standbys_init(q);
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
	free(q->coming);
	replica_parts_free(q);
	standbys_free(&q->standbys);
	buf_free(&q->answer);
	buf_free(&q->quick_answer);
}
