/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the MAD transport on a fake port: windows, retries, late, lost, unrelated and
 * broken answers, and requests from others.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fake_umad.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/iba/iba.h"
#include "mad/mad.h"
#include "unit/run.h"
#include "unit/temp.h"

#define DEVICES 40
#define PER_DEVICE 25

static const uint8_t route[] = { 1, 2, 3 };

static struct {
	struct loop *loop;
	struct mad_port *port;
	struct timer *limit;
	/* the job */
	unsigned left[DEVICES], in_flight[DEVICES], most[DEVICES];
	unsigned all_in_flight, all_most, done, failed, finished;
	int last_status;
	unsigned sent[DEVICES];
	struct smp last;
	/* requests of others */
	unsigned requests, dead;
	uint8_t request[4096];
	size_t request_len;
} t;

static void on_limit(void *arg)
{
	(void)arg;
	ck_abort_msg("the loop did not end in time");
}

static void on_request(void *arg, const struct mad_in *in)
{
	(void)arg;
	t.requests++;
	t.request_len = in->len;
	if (in->len <= sizeof(t.request))
		memcpy(t.request, in->mad, in->len);
	loop_stop(t.loop);
}

static void on_dead(void *arg, const char *why)
{
	(void)arg;
	ck_assert_ptr_nonnull(why);
	t.dead++;
	loop_stop(t.loop);
}

static const struct mad_hooks hooks = { .request = on_request, .dead = on_dead };

static void open_with(const struct mad_settings *s, const struct mad_hooks *h)
{
	struct buf err = { 0 };

	memset(&t, 0, sizeof(t));
	t.loop = loop_new();
	t.port = mad_open(t.loop, s, h, &err);
	ck_assert_msg(t.port != NULL, "%s", err.s ? err.s : "");
	t.limit = timer_new(t.loop, on_limit, NULL);
	timer_set(t.limit, 8000000, 0);
}

/* Settings with these limits of waiting requests, in all and for each sender. */
static struct mad_settings queues(unsigned max, unsigned each)
{
	return (struct mad_settings){ .smp_window = 16, .smp_window_device = 3, .timeout_ms = 1000,
				      .sa_queue_max = max, .sa_queue_each = each };
}

static void open_port(unsigned window, unsigned per_device, unsigned timeout_ms, unsigned retries)
{
	struct mad_settings s = { .smp_window = window, .smp_window_device = per_device,
				  .timeout_ms = timeout_ms, .retries = retries,
				  .sa_queue_max = 100, .sa_queue_each = 100,
				  .sa_transfers_max = 8, .sa_transfers_each = 4,
				  .sa_receives_max = 256, .sa_receives_each = 8 };

	open_with(&s, &hooks);
}

static void close_port(void)
{
	timer_free(t.limit);
	mad_close(t.port);
	loop_free(t.loop);
	fake_on_send = NULL;
}

static void on_pause(void *arg)
{
	(void)arg;
	loop_stop(t.loop);
}

static void run_ms(unsigned ms)
{
	struct timer *pause = timer_new(t.loop, on_pause, NULL);

	timer_set(pause, ms * 1000, 0);
	loop_run(t.loop);
	timer_free(pause);
}

/* --- jobs --- */

static bool next(void *arg, uint32_t d, struct smp *s, uint64_t *cookie)
{
	(void)arg;
	if (!t.left[d])
		return false;
	t.left[d]--;
	*s = (struct smp){ .method = SMP_SET, .attr = UMAD_SM_ATTR_LINEAR_FT, .mod = d,
			   .route = route, .hops = sizeof(route) };
	*cookie = d * 7;
	if (++t.in_flight[d] > t.most[d])
		t.most[d] = t.in_flight[d];
	if (++t.all_in_flight > t.all_most)
		t.all_most = t.all_in_flight;
	return true;
}

static void done(void *arg, uint32_t d, const struct smp *s, uint64_t cookie, int status)
{
	(void)arg;
	ck_assert_uint_eq(cookie, d * 7);
	ck_assert_uint_eq(s->mod, d);
	t.in_flight[d]--;
	t.all_in_flight--;
	t.done++;
	t.failed += status != 0;
	t.last_status = status;
}

static void finished(void *arg)
{
	(void)arg;
	t.finished++;
	loop_stop(t.loop);
}

static const struct smp_job_ops ops = { next, done, finished };

static void run_job(void)
{
	smp_job_start(t.port, DEVICES, &ops, NULL);
	loop_run(t.loop);
}

static void answer_all(const struct ib_user_mad *u, const struct umad_smp *s, int len)
{
	ck_assert_int_eq(len, 256);
	ck_assert_uint_eq(be16toh(u->addr.lid), IB_LID_PERMISSIVE);
	fake_answer(s, 0, NULL);
}

START_TEST(windows_hold)
{
	open_port(16, 3, 100, 2);
	fake_on_send = answer_all;
	for (unsigned d = 0; d < DEVICES; d++)
		t.left[d] = PER_DEVICE;
	run_job();
	ck_assert_uint_eq(t.finished, 1);
	ck_assert_uint_eq(t.done, DEVICES * PER_DEVICE);
	ck_assert_uint_eq(t.failed, 0);
	ck_assert_uint_le(t.all_most, 16);
	ck_assert_uint_gt(t.all_most, 3);
	for (unsigned d = 0; d < DEVICES; d++)
		ck_assert_uint_le(t.most[d], 3);
	ck_assert_uint_eq(mad_counts(t.port)->sets[UMAD_SM_ATTR_LINEAR_FT], DEVICES * PER_DEVICE);
	close_port();
}
END_TEST

/* Device 0 does not answer until all others are done. */
static struct umad_smp held[64];
static unsigned n_held;

static void hold_device_0(const struct ib_user_mad *u, const struct umad_smp *s, int len)
{
	(void)u;
	(void)len;
	if (be32toh(s->attr_mod) == 0 && t.done < (DEVICES - 1) * PER_DEVICE)
		held[n_held++] = *s;
	else
		fake_answer(s, 0, NULL);
	if (n_held && t.done >= (DEVICES - 2) * PER_DEVICE)
		while (n_held)
			fake_answer(&held[--n_held], 0, NULL);
}

START_TEST(slow_device_stalls_nobody)
{
	open_port(16, 4, 2000, 0);
	n_held = 0;
	fake_on_send = hold_device_0;
	for (unsigned d = 0; d < DEVICES; d++)
		t.left[d] = PER_DEVICE;
	run_job();
	ck_assert_uint_eq(t.done, DEVICES * PER_DEVICE);
	ck_assert_uint_eq(t.failed, 0);
	ck_assert_uint_le(t.most[0], 4);
	close_port();
}
END_TEST

/* --- single SMPs --- */

static void single_done(void *arg, const struct smp *s, int status)
{
	(void)arg;
	t.done++;
	t.last_status = status;
	t.last = *s;
	loop_stop(t.loop);
}

static bool tells_busy;

static void send_single(bool once)
{
	struct smp s = { .method = SMP_GET, .attr = UMAD_SM_ATTR_NODE_INFO, .mod = 5,
			 .m_key = 0x1122334455667788ull, .route = route, .hops = sizeof(route),
			 .last_hop = 9, .once = once, .tells_busy = tells_busy };

	smp_send(t.port, &s, single_done, NULL);
	loop_run(t.loop);
}

static unsigned tries;
static uint32_t timeouts_ms[8];
static struct umad_smp seen;

static void lose_all(const struct ib_user_mad *u, const struct umad_smp *s, int len)
{
	(void)len;
	seen = *s;
	timeouts_ms[tries++ & 7] = u->timeout_ms;
	ck_assert_uint_eq(u->retries, 0);
	fake_timeout(s);
}

START_TEST(retries_back_off)
{
	open_port(16, 3, 10, 3);
	tries = 0;
	fake_on_send = lose_all;
	send_single(false);
	ck_assert_int_eq(t.last_status, SMP_TIMEOUT);
	ck_assert_uint_eq(tries, 4);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(timeouts_ms[i], 10u << i);
	ck_assert_uint_eq(mad_counts(t.port)->timeouts, 4);
	tries = 0;
	send_single(true);
	ck_assert_uint_eq(tries, 1);
	close_port();
}
END_TEST

/* --- Sets are held back --- */

static unsigned sets_sent, gets_sent;

static void count_kinds(const struct ib_user_mad *u, const struct umad_smp *s, int len)
{
	(void)u;
	(void)len;
	if (s->method == SMP_SET)
		sets_sent++;
	else
		gets_sent++;
	fake_answer(s, 0, NULL);
}

static void permit_again(void *arg)
{
	(void)arg;
	ck_assert_uint_eq(sets_sent, 0);
	mad_permit_sets(t.port, INT64_MAX);
}

/* promise: M3 */
START_TEST(sets_wait_until_they_may_go)
{
	struct smp set = { .method = SMP_SET, .attr = UMAD_SM_ATTR_PORT_INFO, .route = route,
			   .hops = sizeof(route) };
	struct timer *later;

	open_port(16, 3, 100, 2);
	sets_sent = gets_sent = 0;
	fake_on_send = count_kinds;
	later = timer_new(t.loop, permit_again, NULL);
	mad_permit_sets(t.port, clock_mono_us());
	/* a single Set, a Get after it, and a job of Sets */
	smp_send(t.port, &set, NULL, NULL);
	t.left[3] = 5;
	smp_job_start(t.port, DEVICES, &ops, NULL);
	send_single(false);
	ck_assert_uint_eq(gets_sent, 1);
	ck_assert_uint_eq(sets_sent, 0);
	timer_set(later, 100000, 0);
	loop_run(t.loop);
	ck_assert_uint_eq(t.finished, 1);
	ck_assert_uint_eq(t.failed, 0);
	ck_assert_uint_eq(sets_sent, 6);
	timer_free(later);
	close_port();
}
END_TEST

static void lose_sets(const struct ib_user_mad *u, const struct umad_smp *s, int len)
{
	(void)u;
	(void)len;
	if (s->method == SMP_SET) {
		sets_sent++;
		return;
	}
	gets_sent++;
	fake_answer(s, 0, NULL);
}

/* Gets find out whether Sets may go again, so Gets must not wait for held Sets. */
/* promise: M3 */
START_TEST(gets_go_where_held_sets_fill_the_window)
{
	open_port(4, 2, 30, 1);
	sets_sent = gets_sent = 0;
	fake_on_send = lose_sets;
	t.left[0] = t.left[1] = 2;
	smp_job_start(t.port, DEVICES, &ops, NULL);
	for (unsigned k = 0; k < 100 && sets_sent < 4; k++)
		run_ms(10);
	ck_assert_uint_eq(sets_sent, 4);
	mad_permit_sets(t.port, clock_mono_us());
	run_ms(600);				/* their time is out, more than once */
	ck_assert_uint_eq(t.done, 0);
	send_single(false);
	ck_assert_uint_eq(gets_sent, 1);
	fake_on_send = count_kinds;
	mad_permit_sets(t.port, INT64_MAX);
	loop_run(t.loop);
	ck_assert_uint_eq(t.finished, 1);
	ck_assert_uint_eq(t.failed, 0);
	close_port();
}
END_TEST

START_TEST(smp_as_iba_has_it)
{
	open_port(16, 3, 10, 0);
	fake_on_send = lose_all;
	send_single(true);
	ck_assert_uint_eq(seen.base_version, 1);
	ck_assert_uint_eq(seen.mgmt_class, 0x81);
	ck_assert_uint_eq(seen.class_version, 1);
	ck_assert_uint_eq(seen.hop_ptr, 0);
	ck_assert_uint_eq(seen.hop_cnt, 4);
	ck_assert_uint_eq(seen.initial_path[0], 0);
	ck_assert_uint_eq(seen.initial_path[1], 1);
	ck_assert_uint_eq(seen.initial_path[3], 3);
	ck_assert_uint_eq(seen.initial_path[4], 9);
	ck_assert_uint_eq(be64toh(seen.mkey), 0x1122334455667788ull);
	ck_assert_uint_eq(be32toh(seen.attr_mod), 5);
	ck_assert_uint_eq(be16toh(seen.dr_slid), 0xffff);
	ck_assert_uint_eq(be16toh(seen.dr_dlid), 0xffff);
	close_port();
}
END_TEST

/* Gives neither an answer nor the kernel's time-out. */
static void swallow(const struct ib_user_mad *u, const struct umad_smp *s, int len)
{
	(void)u;
	(void)s;
	(void)len;
	tries++;
}

START_TEST(a_lost_completion_is_guarded)
{
	open_port(16, 3, 10, 1);
	tries = 0;
	fake_on_send = swallow;
	send_single(false);
	ck_assert_int_eq(t.last_status, SMP_TIMEOUT);
	ck_assert_uint_eq(tries, 2);
	close_port();
}
END_TEST

/* MADs that do not answer the request must not be taken for answers. */
static void answer_wrongly(const struct ib_user_mad *u, const struct umad_smp *s, int len)
{
	struct umad_smp a = *s;

	(void)u;
	(void)len;
	a.tid = htobe64(be64toh(s->tid) ^ 0x10000);	/* another generation */
	fake_answer(&a, 0, NULL);
	a = *s;
	a.tid = htobe64(be64toh(s->tid) | 0xffff);	/* no slot of ours */
	fake_answer(&a, 0, NULL);
	a = *s;
	a.method = UMAD_METHOD_GET_RESP;
	fake_receive(&a, 10, 0, 1);			/* cut short */
	fake_receive(&a, 0, 0, 1);
	fake_answer(s, 0x1c, (const uint8_t[64]){ 0xab });
	fake_answer(s, 0, NULL);			/* a duplicate: no request waits for it any more */
}

START_TEST(only_the_answer_counts)
{
	open_port(16, 3, 1000, 0);
	fake_on_send = answer_wrongly;
	send_single(false);
	ck_assert_int_eq(t.last_status, 0x1c);
	ck_assert_uint_eq(t.last.data[0], 0xab);
	ck_assert_uint_eq(t.done, 1);
	send_single(false);
	ck_assert_uint_eq(t.done, 2);
	/* two malformed MADs for each request, which the loop may see after the answer */
	for (unsigned i = 0; i < 200 && mad_counts(t.port)->malformed < 4; i++)
		run_ms(10);
	ck_assert_uint_eq(mad_counts(t.port)->malformed, 4);
	close_port();
}
END_TEST

enum { OTHER_ATTRIBUTE, OTHER_MODIFIER, OTHER_METHOD, CUT_SHORT, N_UNFIT };
static int unfit;

static void answer_unfitly_once(const struct ib_user_mad *u, const struct umad_smp *s, int len)
{
	struct umad_smp a = *s;

	(void)u;
	(void)len;
	a.method = unfit == OTHER_METHOD ? 0x86 : UMAD_METHOD_GET_RESP;
	if (unfit == OTHER_ATTRIBUTE)
		a.attr_id = htobe16(UMAD_SM_ATTR_PORT_INFO);
	if (unfit == OTHER_MODIFIER)
		a.attr_mod = htobe32(6);
	if (tries++)
		fake_answer(s, 0, NULL);
	else
		fake_receive(&a, unfit == CUT_SHORT ? 100 : (int)sizeof(a), 0, 1);
}

/* The kernel passes one answer for each try; after that, waiting is useless. */
/* promise: D126 */
START_TEST(an_unfit_answer_ends_the_try)
{
	int64_t begin = clock_mono_us();

	unfit = _i;
	open_port(16, 3, 2000, 1);
	tries = 0;
	fake_on_send = answer_unfitly_once;
	send_single(false);
	ck_assert_int_eq(t.last_status, 0);
	ck_assert_uint_eq(tries, 2);
	ck_assert_int_lt(clock_mono_us() - begin, 2000000);
	close_port();
}
END_TEST

static uint16_t busy_status;

static void busy_once(const struct ib_user_mad *u, const struct umad_smp *s, int len)
{
	(void)u;
	(void)len;
	/* BUSY counts whatever other bits the status has */
	fake_answer(s, tries++ ? 0 : busy_status, NULL);
}

/* promise: D92 */
START_TEST(busy_is_tried_again)
{
	busy_status = _i ? IB_STATUS_BUSY | IB_STATUS_BAD_VALUE : IB_STATUS_BUSY;
	open_port(16, 3, 10, 2);
	tries = 0;
	fake_on_send = busy_once;
	send_single(false);
	ck_assert_int_eq(t.last_status, 0);
	ck_assert_uint_eq(tries, 2);
	close_port();
}
END_TEST

/* promise: Q6 */
START_TEST(busy_is_told)
{
	busy_status = IB_STATUS_BUSY;
	open_port(16, 3, 10, 2);
	tries = 0;
	tells_busy = true;
	fake_on_send = busy_once;
	send_single(true);
	tells_busy = false;
	ck_assert_int_eq(t.last_status, IB_STATUS_BUSY);
	ck_assert_uint_eq(tries, 1);
	close_port();
}
END_TEST

START_TEST(cancelled_job_is_silent)
{
	struct smp_job *j;

	open_port(16, 3, 1000, 0);
	n_held = 0;
	fake_on_send = swallow;
	for (unsigned d = 0; d < DEVICES; d++)
		t.left[d] = 1;
	j = smp_job_start(t.port, DEVICES, &ops, NULL);
	smp_job_cancel(j);
	fake_on_send = answer_all;
	send_single(false);
	ck_assert_uint_eq(t.done, 1);
	ck_assert_uint_eq(t.finished, 0);
	close_port();
}
END_TEST

/* --- requests --- */

START_TEST(requests_are_handed_on)
{
	uint8_t mad[256] = { 1, 3, 2, 1 };

	open_port(16, 3, 1000, 0);
	fake_receive(mad, sizeof(mad), 0, 3);
	loop_run(t.loop);
	ck_assert_uint_eq(t.requests, 1);
	ck_assert_uint_eq(mad_counts(t.port)->sa_received, 1);

	/* a message of several segments is assembled in any order */
	static const uint8_t segments[] = { 1, 3, 2 };
	for (unsigned i = 0; i < sizeof(segments); i++) {
		uint8_t seg[256] = { 1, 3, 2, 0x14 };

		seg[24] = seg[25] = 1;
		seg[26] = (uint8_t)(1 | (segments[i] == 1 ? 2 : 0) | (segments[i] == 3 ? 4 : 0));
		seg[31] = segments[i];
		put_be32(seg + 32, segments[i] == 3 ? 20 + 8 : 0);
		memset(seg + 56, 0x70 + segments[i], 200);
		fake_receive(seg, sizeof(seg), 0, 3);
		run_ms(20);
	}
	ck_assert_uint_eq(t.requests, 2);
	ck_assert_uint_eq(t.request_len, 56 + 408);
	ck_assert_uint_eq(t.request[56], 0x71);
	ck_assert_uint_eq(t.request[256], 0x72);
	ck_assert_uint_eq(t.request[463], 0x73);
	close_port();
}
END_TEST

/* --- answers by RMPP --- */

/* An answer of several segments: what the transport read, and what it sent. */
static struct {
	struct mad_source source;
	unsigned segments, read, released, later;
	unsigned sent, highest, others;
	uint8_t last_type, last_status, highest_flags;
} a;

static enum mad_read answer_read(struct mad_source *src, uint8_t data[200], size_t *n)
{
	(void)src;
	if (a.later && a.later--)
		return MAD_READ_LATER;
	memset(data, (int)++a.read, 200);
	*n = a.read == a.segments ? 8 : 200;
	return a.read == a.segments ? MAD_READ_LAST : MAD_READ_MORE;
}

static bool answer_head(struct mad_source *src, uint8_t head[56])
{
	(void)src;
	memset(head, 0, 56);
	memcpy(head, t.request, 24);
	head[3] = head[3] == 0x13 ? 0x92 : head[3] | 0x80;	/* GetTableResp to GetTraceTable */
	return true;
}

static void answer_release(struct mad_source *src)
{
	(void)src;
	a.released++;
}

static void on_segment(const struct ib_user_mad *u, const struct umad_smp *smp, int len)
{
	const uint8_t *mad = (const uint8_t *)smp;

	(void)u;
	(void)len;
	if (mad[1] != 3)
		return;
	a.last_type = mad[25];
	a.last_status = mad[27];
	if (mad[25] != 1) {
		a.others++;
		return;
	}
	a.sent++;
	if (get_be32(mad + 28) > a.highest) {
		a.highest = get_be32(mad + 28);
		a.highest_flags = mad[26];
	}
}

static bool accepted;
static void on_stream_request(void *arg, const struct mad_in *in)
{
	bool may = mad_may_stream(t.port, in);

	on_request(arg, in);
	accepted = mad_stream(t.port, in, &a.source);
	ck_assert(may == accepted);
}

static void ask_by(uint8_t method, uint8_t tid, unsigned segments)
{
	uint8_t mad[256] = { 1, 3, 2, method };

	mad[15] = tid;
	a.segments = segments;
	a.source = (struct mad_source){ .read = answer_read, .head = answer_head,
					.release = answer_release };
	unsigned before = t.requests;

	fake_receive(mad, sizeof(mad), 0, 3);
	for (unsigned k = 0; k < 100 && t.requests == before; k++)
		run_ms(20);	/* on a busy machine */
	run_ms(30);
}

static void ask_table(uint8_t tid, unsigned segments)
{
	ask_by(0x12, tid, segments);
}

static void acknowledge(uint8_t tid, uint8_t type, uint8_t status, uint32_t segment, uint32_t window)
{
	uint8_t mad[256] = { 1, 3, 2, 0x12 };

	mad[15] = tid;
	mad[24] = 1;
	mad[25] = type;
	mad[26] = 1;
	mad[27] = status;
	put_be32(mad + 28, segment);
	put_be32(mad + 32, window);
	uint64_t before = mad_counts(t.port)->sa_received;

	fake_receive(mad, sizeof(mad), 0, 3);
	for (unsigned k = 0; k < 100 && mad_counts(t.port)->sa_received == before; k++)
		run_ms(10);
	run_ms(50);
}

/* Counts transfers by holder: there is one holder, which may have most of them. */
#define HOLDER 77u
static struct {
	int most, has[2];
	unsigned refused;
} share;

static uint64_t holder(void *arg, uint16_t lid)
{
	(void)arg;
	(void)lid;
	return HOLDER;
}

static bool may_hold(void *arg, enum mad_under_way what, uint64_t who)
{
	(void)arg;
	ck_assert_uint_eq(who, HOLDER);
	share.refused += share.has[what] >= share.most;
	return share.has[what] < share.most;
}

static void has_more(void *arg, enum mad_under_way what, uint64_t who, int more)
{
	(void)arg;
	ck_assert_uint_eq(who, HOLDER);
	share.has[what] += more;
}

static void open_streams(void)
{
	struct mad_hooks h = { .request = on_stream_request, .dead = on_dead,
			       .holder = share.most ? holder : NULL, .may_hold = share.most ? may_hold : NULL,
			       .has_more = share.most ? has_more : NULL };
	struct mad_settings set = { .smp_window = 16, .smp_window_device = 3, .timeout_ms = 1000,
				    .sa_queue_max = 100, .sa_queue_each = 100,
				    .sa_transfers_max = 3, .sa_transfers_each = 2,
				    .sa_receives_max = 256, .sa_receives_each = 8 };

	open_with(&set, &h);
	memset(&a, 0, sizeof(a));
	fake_on_send = on_segment;
}

START_TEST(an_answer_is_made_while_it_is_sent)
{
	open_streams();
	a.later = 5;			/* a slow search */
	ask_table(1, 100);
	ck_assert(accepted);
	ck_assert_uint_eq(a.sent, 1);
	ck_assert_uint_eq(a.read, 1);
	acknowledge(1, 2, 0, 1, 65);
	ck_assert_uint_eq(a.read, 65);
	ck_assert_uint_eq(a.highest, 65);
	ck_assert_uint_eq(a.released, 0);
	acknowledge(1, 2, 0, 65, 129);
	ck_assert_uint_eq(a.read, 100);
	ck_assert_uint_eq(a.released, 1);
	ck_assert_uint_eq(a.highest_flags & 7, 5);
	acknowledge(1, 2, 0, 100, 164);
	unsigned sent = a.sent;			/* more than 100 if we were slow to acknowledge */

	run_ms(400);
	ck_assert_uint_eq(a.sent, sent);	/* nothing is repeated */
	ck_assert_uint_eq(a.others, 0);
	close_port();
}
END_TEST

/* A repeated request during its answer starts no second answer, even with another method. */
/* promise: S7 */
START_TEST(a_request_that_is_repeated)
{
	static const uint8_t methods[] = { 0x12, 0x13 };

	for (unsigned i = 0; i < sizeof(methods); i++) {
		open_streams();
		ask_by(methods[i], 1, 1000);
		acknowledge(1, 2, 0, 1, 65);
		ck_assert_uint_ge(a.sent, 65);
		ask_by(methods[i], 1, 1000);
		ck_assert(accepted);
		ck_assert_uint_eq(a.released, 1);
		ck_assert_uint_eq(mad_counts(t.port)->rmpp_streams, 1);
		close_port();
	}
}
END_TEST

START_TEST(who_is_silent_is_asked_again_if_somebody_acknowledges)
{
	open_streams();
	ask_table(1, 3);
	run_ms(400);
	ck_assert_uint_eq(a.sent, 1);		/* never on ibsim */
	acknowledge(1, 2, 0, 1, 65);
	ck_assert_uint_eq(a.highest, 3);
	for (unsigned k = 0; k < 50 && a.sent <= 3; k++)
		run_ms(100);			/* three round trips, as it has seen them */
	ck_assert_uint_gt(a.sent, 3);		/* here they do */
	acknowledge(1, 2, 0, 3, 67);
	unsigned before = a.sent;
	run_ms(300);
	ck_assert_uint_eq(a.sent, before);
	close_port();
}
END_TEST

/* Two programs of one host send the first requests of their port at the same time. */
START_TEST(two_that_ask_at_once_are_answered_both)
{
	open_streams();
	ask_table(1, 1000);
	ask_table(2, 1000);
	ck_assert(accepted);
	ck_assert_uint_eq(a.sent, 2);
	ck_assert_uint_eq(a.released, 0);
	acknowledge(1, 2, 0, 1, 65);
	ck_assert_uint_ge(a.sent, 2 + 64);
	acknowledge(2, 2, 0, 1, 65);
	ck_assert_uint_ge(a.sent, 2 + 64 + 64);
	ck_assert_uint_eq(a.released, 0);
	close_port();
}
END_TEST

START_TEST(where_nobody_acknowledges_the_oldest_gives_its_place)
{
	open_streams();
	for (uint8_t i = 1; i <= 5; i++) {	/* two for one port are the limit */
		ask_table(i, 1000);
		ck_assert(accepted);
		ck_assert_uint_eq(a.sent, i);
		ck_assert_uint_eq(a.released, i > 2 ? i - 2 : 0);
	}
	acknowledge(3, 2, 0, 1, 65);		/* that one was dropped */
	ck_assert_uint_eq(a.sent, 5);
	acknowledge(4, 2, 0, 1, 65);
	ck_assert_uint_ge(a.sent, 5 + 64);
	close_port();
}
END_TEST

/* The transport asks the owner of the limits per port before a transfer, and reports its beginning and end. */
/* promise: A75 */
START_TEST(what_is_under_way_counts_for_the_port)
{
	uint8_t segment[256] = { 1, 3, 2, 0x14 };

	share.most = 1;
	open_streams();
	ask_table(1, 1000);
	ck_assert(accepted);
	ck_assert_int_eq(share.has[MAD_ANSWERS], 1);
	acknowledge(1, 2, 0, 1, 65);
	ask_table(2, 1000);
	ck_assert(!accepted);
	ck_assert_uint_eq(share.refused, 2);	/* asked, and tried all the same */
	segment[15] = 9;			/* the first segment of a request */
	segment[24] = segment[25] = 1;
	segment[26] = 3;
	put_be32(segment + 28, 1);
	put_be32(segment + 32, 20 + 400);
	fake_receive(segment, sizeof(segment), 0, 3);
	for (unsigned k = 0; k < 100 && !share.has[MAD_REQUESTS]; k++)
		run_ms(10);
	ck_assert_int_eq(share.has[MAD_REQUESTS], 1);
	mad_end_under_way(t.port, HOLDER + 1);
	ck_assert_int_eq(share.has[MAD_REQUESTS] + share.has[MAD_ANSWERS], 2);
	mad_end_under_way(t.port, HOLDER);
	ck_assert_int_eq(share.has[MAD_REQUESTS], 0);
	ck_assert_int_eq(share.has[MAD_ANSWERS], 0);
	ck_assert_uint_eq(mad_counts(t.port)->rmpp_aborted, 1);
	ask_table(3, 1000);
	ck_assert(accepted);
	close_port();
	ck_assert_int_eq(share.has[MAD_ANSWERS], 0);
	share.most = 0;
}
END_TEST

START_TEST(transfers_end_when_told)
{
	static const struct { uint8_t type, status; uint32_t segment, window; int answer; } ends[] = {
		{ 4, 126, 0, 0, -1 }, { 3, 1, 0, 0, -1 }, { 4, 5, 0, 0, 124 }, { 3, 2, 0, 0, 124 },
		{ 2, 0, 9, 70, 123 }, { 2, 0, 1, 0, 122 }, { 2, 3, 1, 65, 124 }, { 9, 0, 0, 0, 121 },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
		open_streams();
		ask_table(1, 1000);
		acknowledge(1, ends[i].type, ends[i].status, ends[i].segment, ends[i].window);
		ck_assert_uint_eq(a.released, 1);
		ck_assert_uint_eq(a.others, ends[i].answer >= 0);
		if (ends[i].answer >= 0) {
			ck_assert_uint_eq(a.last_type, 4);
			ck_assert_uint_eq(a.last_status, (unsigned)ends[i].answer);
		}
		close_port();
	}
}
END_TEST

/* promise: A91 */
START_TEST(transfers_are_bounded)
{
	open_streams();
	ask_table(9, 3);
	acknowledge(9, 2, 0, 1, 65);
	acknowledge(9, 2, 0, 3, 67);		/* somebody acknowledges */
	for (uint8_t i = 1; i <= 2; i++) {
		ask_table(i, 1000);
		ck_assert(accepted);
	}
	ask_table(3, 1000);
	ck_assert(!accepted);			/* two of one */
	fake_lid = 2;
	ask_table(1, 1000);
	ck_assert(accepted);
	fake_lid = 3;
	ask_table(1, 1000);
	ck_assert(!accepted);			/* three in all */
	fake_lid = 0;
	acknowledge(1, 3, 1, 0, 0);
	ask_table(3, 1000);
	ck_assert(accepted);
	close_port();
}
END_TEST

/* Which RMPP headers are refused with which status (13.6.2.1, tables 108 and 109), and which are accepted. */
/* promise: S6 */
START_TEST(headers_of_rmpp)
{
	static const struct {
		uint8_t version, type, flags, status;
		uint32_t segment, length;
		unsigned back, back_status;	/* RMPPType and -Status of what comes back; 0: nothing */
		size_t handed_on;		/* bytes of the request */
	} cases[] = {
		{ 0, 1, 7, 0, 1, 220, 4, 125, 0 }, { 2, 1, 7, 0, 1, 220, 4, 125, 0 },	/* BadV */
		{ 1, 0, 7, 0, 1, 220, 4, 121, 0 }, { 1, 5, 7, 0, 1, 220, 4, 121, 0 },	/* BadT */
		{ 1, 0xff, 7, 0, 1, 220, 4, 121, 0 },
		{ 1, 1, 7, 1, 1, 220, 4, 124, 0 },					/* IS */
		{ 1, 1, 7, 0, 0, 220, 4, 120, 0 }, { 1, 1, 7, 0, 2, 220, 4, 120, 0 },	/* S1/F */
		{ 1, 1, 5, 0, 1, 220, 4, 120, 0 },
		{ 1, 1, 7, 0, 1, 19, 4, 119, 0 }, { 1, 1, 7, 0, 1, 221, 4, 119, 0 },	/* IL */
		{ 1, 1, 7, 0, 1, UINT32_MAX, 4, 119, 0 }, { 1, 1, 7, 0, 1, 0, 4, 119, 0 },
		{ 1, 1, 5, 0, 2, 220, 0, 0, 0 },	/* of no transfer: its first may come again */
		{ 1, 2, 1, 0, 1, 65, 0, 0, 0 }, { 1, 3, 1, 1, 0, 0, 0, 0, 0 },
		{ 1, 4, 1, 126, 0, 0, 0, 0, 0 }, { 1, 4, 1, 3, 0, 0, 0, 0, 0 },
		{ 1, 1, 3, 0, 1, 0, 2, 0, 0 },		/* the rest is still missing */
		{ 1, 1, 7, 0, 1, 220, 2, 0, 256 }, { 1, 1, 7, 0, 1, 20, 2, 0, 56 },
		{ 1, 1, 0xff, 0, 1, 120, 2, 0, 156 },	/* whatever RRespTime says */
		{ 9, 9, 6, 9, 9, 9, 0, 0, 256 },	/* not active: its fields are ignored */
	};

	open_port(16, 3, 1000, 0);
	fake_on_send = on_segment;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t mad[256] = { 1, 3, 2, 0x14, [15] = (uint8_t)(i + 1), [24] = cases[i].version,
				     cases[i].type, cases[i].flags, cases[i].status };

		memset(&a, 0, sizeof(a));
		t.requests = 0;
		put_be32(mad + 28, cases[i].segment);
		put_be32(mad + 32, cases[i].length);
		fake_receive(mad, sizeof(mad), 0, 3);
		/* wait long enough for an expected answer */
		for (unsigned k = 0; k < 40; k++) {
			run_ms(20);
			if (a.others >= (cases[i].back != 0) && t.requests >= (cases[i].handed_on != 0))
				break;
		}
		ck_assert_msg(a.others == (cases[i].back != 0) &&
			      (!a.others || (a.last_type == cases[i].back &&
					     a.last_status == cases[i].back_status)) &&
			      t.requests == (cases[i].handed_on != 0) &&
			      (!t.requests || t.request_len == cases[i].handed_on),
			      "case %u: %u back, type %u, status %u; %u requests of %zu bytes", i,
			      a.others, a.last_type, a.last_status, t.requests, t.request_len);
	}
	close_port();
}
END_TEST

/* With transfers and requests outstanding, the port may be closed at any time. */
START_TEST(closed_in_the_middle)
{
	uint8_t mad[256] = { 1, 3, 2, 0x14, [24] = 1, 1, 3, 0, [31] = 1 };

	open_streams();
	ask_table(1, 1000);
	ck_assert(accepted);
	acknowledge(1, 2, 0, 1, 65);
	fake_receive(mad, sizeof(mad), 0, 3);	/* the first segment of a request … */
	run_ms(20);
	mad[26] = 0;
	for (unsigned i = 0; i < 300; i++)
		fake_receive(mad, sizeof(mad), 0, 3);	/* … and many that are no longer read */
	close_port();
	ck_assert_uint_eq(a.released, 1);
}
END_TEST

/* --- which requests are accepted --- */

/* All requests that want an answer, except Reports, which another program on this node may want. */
/* promise: S6 */
START_TEST(methods_of_the_class)
{
	open_port(16, 3, 1000, 0);
	for (unsigned method = 0; method < 128; method++) {
		bool heard = fake_sa_methods[method / 64] >> method % 64 & 1;

		ck_assert_msg(heard == !(method == 3 || (method >= 5 && method <= 7)),
			      "method 0x%02x", method);
	}
	close_port();
}
END_TEST

/* If no kernel filters TrapRepresses, any number of them hinders no request. */
START_TEST(trap_represses_do_not_pile_up)
{
	uint8_t mad[256] = { 1, 3, 2, 7 };

	open_port(16, 3, 1000, 0);
	for (unsigned i = 0; i < 2000; i++) {
		mad[3] = 7;
		fake_receive(mad, sizeof(mad), 0, 3);
		if (i % 100 == 99)
			run_ms(20);
	}
	mad[3] = 0x12;
	fake_receive(mad, sizeof(mad), 0, 3);
	for (unsigned k = 0; k < 40 && t.request[3] != 0x12; k++)
		run_ms(20);
	ck_assert_uint_eq(t.request[3], 0x12);
	close_port();
}
END_TEST

/* --- floods --- */

static unsigned heard[8][64];	/* by LID and number of the trap */
static unsigned long busy_us;

static void on_trap(void *arg, const struct mad_in *in)
{
	int64_t end = clock_mono_us() + (int64_t)busy_us;

	(void)arg;
	heard[in->slid % 8][in->mad[69] % 64]++;
	while (clock_mono_us() < end)
		;
}

/* The last trap of each sender arrives, however many came, and memory does not grow. */
/* promise: A20 A21 */
START_TEST(a_flood_of_traps)
{
	uint8_t mad[256] = { 1, 1, 1, 5 };
	struct mad_hooks h = { .request = on_trap, .dead = on_dead };
	struct mad_settings set = queues(10, 10);
	const struct mad_counts *c;
	struct mad_flood flood;
	unsigned n = 0;

	memset(heard, 0, sizeof(heard));
	open_with(&set, &h);
	mad[64] = 0x80;
	for (unsigned i = 0; i < 20000; i++) {	/* nobody takes them out meanwhile */
		fake_lid = i == 19999 ? 2 : 1;
		mad[69] = i < 19990 ? 129 : 128;
		fake_receive(mad, sizeof(mad), 0, 1);
	}
	fake_lid = 0;
	for (unsigned k = 0; k < 100 && !heard[2][0]; k++)
		run_ms(20);
	ck_assert_uint_eq(heard[2][0], 1);	/* 128 from LID 2 */
	ck_assert_uint_ge(heard[1][0], 1);	/* and from the one that floods */
	ck_assert_uint_ge(heard[1][1], 1);
	for (unsigned i = 0; i < 8; i++)
		n += heard[i][0] + heard[i][1];
	c = mad_counts(t.port);
	ck_assert_uint_eq(c->traps, 20000);
	ck_assert_uint_eq(n + c->dropped_smps, 20000);
	ck_assert(mad_flood_tell(t.port, &flood));
	ck_assert_uint_eq(flood.lid, 1);
	close_port();
}
END_TEST

static unsigned traps, traps_before, traps_in_a_turn;

static void on_slow_trap(void *arg, const struct mad_in *in)
{
	traps++;
	on_trap(arg, in);
}

static void on_tick(void *arg)
{
	(void)arg;
	if (traps - traps_before > traps_in_a_turn)
		traps_in_a_turn = traps - traps_before;
	traps_before = traps;
}

/* However many requests wait, a turn of the loop ends, and timers get their turns. */
/* promise: A20 */
START_TEST(many_that_take_long_leave_others_their_turn)
{
	uint8_t mad[256] = { 1, 1, 1, 5 };
	struct mad_hooks h = { .request = on_slow_trap, .dead = on_dead };
	struct mad_settings set = queues(10, 10);
	struct timer *tick;

	busy_us = 2000;
	open_with(&set, &h);
	for (unsigned i = 0; i < 400; i++) {
		fake_lid = (uint16_t)(1 + i);
		fake_receive(mad, sizeof(mad), 0, 1);
	}
	fake_lid = 0;
	traps = traps_before = traps_in_a_turn = 0;
	tick = timer_new(t.loop, on_tick, NULL);
	timer_set(tick, 1000, 1000);
	run_ms(400);		/* half of what they take in all */
	ck_assert_uint_gt(traps, 2);
	ck_assert_uint_le(traps_in_a_turn, 3);
	timer_free(tick);
	busy_us = 0;
	close_port();
}
END_TEST

/* An answer that nothing waits for does not even wake the loop. */
/* promise: A20 */
START_TEST(answers_that_nobody_asked_for)
{
	uint8_t mad[256] = { 1, 3, 2, 0x86, [24] = 1, 1, 1 };

	open_port(16, 3, 1000, 0);
	for (unsigned i = 0; i < 3000; i++) {
		mad[1] = i % 2 ? 3 : 4;
		mad[15] = (uint8_t)i;
		fake_receive(mad, sizeof(mad), 0, 3);
	}
	for (unsigned k = 0; k < 100 && mad_counts(t.port)->unasked < 3000; k++)
		run_ms(20);
	ck_assert_uint_eq(mad_counts(t.port)->unasked, 3000);
	ck_assert_uint_eq(t.requests, 0);
	close_port();
}
END_TEST

/* --- requests that are served at once --- */

static uint16_t order[400];
static unsigned served, told_busy;
static sem_t all_have_come;
static atomic_uint taken;

static bool is_at_once(const uint8_t *mad, size_t len)
{
	return len == 256 && mad[3] == 1;
}

static bool at_once(void *arg, struct mad_port *m, const struct mad_in *in)
{
	(void)arg;
	(void)m;
	if (in->overload) {
		told_busy++;
		taken++;
		return true;
	}
	if (!served)
		sem_wait(&all_have_come);
	if (served < ARRAY_SIZE(order))
		order[served++] = in->slid;
	taken++;
	return true;
}

/* The first request takes until all others have arrived. */
static void open_at_once(void)
{
	struct mad_hooks h = { .request = on_request, .is_at_once = is_at_once,
			       .at_once = at_once, .dead = on_dead };
	struct mad_settings set = queues(200, 100);

	served = told_busy = 0;
	taken = 0;
	sem_init(&all_have_come, 0, 0);
	open_with(&set, &h);
}

/* Returns how many of the served requests are from LID 2; *at gets the position of the last of them. */
static unsigned serve_at_once(unsigned n, unsigned *at)
{
	unsigned others = 0;

	fake_lid = 0;
	fake_qpn = 0;
	sem_post(&all_have_come);
	for (unsigned k = 0; k < 200 && taken < n; k++)
		run_ms(20);
	close_port();		/* nothing that its thread noted is read before */
	ck_assert_uint_eq(served + told_busy, n);
	for (unsigned i = 0; i < served; i++)
		if (order[i] == 2) {
			others++;
			*at = i;
		}
	return others;
}

START_TEST(who_floods_waits_alone)
{
	uint8_t mad[256] = { 1, 3, 2, 1 };
	unsigned at = 0;

	open_at_once();
	for (unsigned i = 0; i < 250; i++) {
		fake_lid = i < 240 ? 1 : 2;
		fake_receive(mad, sizeof(mad), 0, 3);
	}
	ck_assert_uint_eq(serve_at_once(250, &at), 10);
	ck_assert_uint_lt(at, 100);	/* behind hundreds in the order of arrival */
	ck_assert_uint_gt(told_busy, 30);
}
END_TEST

/* Many queue pairs of one port have the share of one sender. */
/* promise: A90 */
START_TEST(many_queue_pairs_are_one_sender)
{
	uint8_t mad[256] = { 1, 3, 2, 1 };
	unsigned at;

	open_at_once();
	for (unsigned i = 0; i < 350; i++) {
		fake_lid = i < 340 ? 1 : 2;
		fake_qpn = i < 340 ? 1 + i : 1;
		fake_receive(mad, sizeof(mad), 0, 3);
	}
	ck_assert_uint_eq(serve_at_once(350, &at), 10);
	ck_assert_uint_ge(told_busy, 340 - 100 - 100);	/* but for those that are served before they wait */
}
END_TEST

/* in_a_row: requests of LID 1 without a pause of REST_SEEN_US */
#define REST_SEEN_US 500
static unsigned greedy_served, others_served, in_a_row, most_in_a_row;
static int64_t greedy_end_us;

static void on_slow_request(void *arg, const struct mad_in *in)
{
	int64_t now = clock_mono_us(), end = now + (int64_t)busy_us;

	(void)arg;
	while (clock_mono_us() < end)
		;
	if (in->slid != 1) {
		others_served++;
		return;
	}
	greedy_served++;
	if (now - greedy_end_us >= REST_SEEN_US)
		in_a_row = 0;
	if (++in_a_row > most_in_a_row)
		most_in_a_row = in_a_row;
	greedy_end_us = clock_mono_us();
}

/* A greedy sender does not take all of the loop's time; others are served meanwhile. */
/* promise: A90 */
START_TEST(the_loop_rests_when_only_greedy_senders_wait)
{
	uint8_t mad[256] = { 1, 3, 2, 2 };
	struct mad_hooks h = { .request = on_slow_request, .dead = on_dead };
	struct mad_settings set = queues(40000, 40000);

	greedy_served = others_served = in_a_row = most_in_a_row = 0;
	busy_us = 20;
	open_with(&set, &h);
	fake_lid = 1;
	for (unsigned i = 0; i < 40000; i++)
		fake_receive(mad, sizeof(mad), 0, 3);
	fake_lid = 2;
	for (unsigned i = 0; i < 40; i++) {
		fake_receive(mad, sizeof(mad), 0, 3);
		run_ms(5);
	}
	fake_lid = 0;
	for (unsigned k = 0; k < 100 && others_served < 40; k++)
		run_ms(10);
	ck_assert_uint_eq(others_served, 40);
	ck_assert_uint_gt(greedy_served, 0);
	ck_assert_uint_le(most_in_a_row, 64);
	busy_us = 0;
	close_port();
}
END_TEST

START_TEST(a_message_too_large_is_not_in_the_way)
{
	uint8_t mad[256] = { 1, 3, 2, 1 };
	uint8_t *huge = xcalloc(1, 3 << 20);

	open_port(16, 3, 1000, 0);
	fake_receive(huge, 3 << 20, 0, 3);
	fake_receive(mad, sizeof(mad), 0, 3);
	loop_run(t.loop);
	ck_assert_uint_eq(t.requests, 1);
	ck_assert_uint_eq(t.request_len, 256);
	free(huge);
	close_port();
}
END_TEST

START_TEST(a_device_that_is_gone_is_noticed)
{
	open_port(16, 3, 1000, 0);
	fake_gone = true;
	loop_run(t.loop);
	fake_gone = false;
	ck_assert_uint_eq(t.dead, 1);
	close_port();
}
END_TEST

START_TEST(refused_registration)
{
	struct mad_settings s = { .smp_window = 4 };
	struct buf err = { 0 };

	t.loop = loop_new();
	fake_refuse_class = 0x81;
	ck_assert_ptr_null(mad_open(t.loop, &s, &hooks, &err));
	fake_refuse_class = -1;
	ck_assert_ptr_nonnull(strstr(err.s, "0x81"));
	ck_assert_int_eq(fake_agents, 0);
	buf_free(&err);
	s.port_guid = 0x999;
	ck_assert_ptr_null(mad_open(t.loop, &s, &hooks, &err));
	ck_assert_ptr_nonnull(strstr(err.s, "0x0000000000000999"));
	buf_free(&err);
	loop_free(t.loop);
}
END_TEST

/* libibumad returns -EIO for every error of open(). */
/* promise: D62 */
START_TEST(a_device_without_permission_is_called_so)
{
	char *dir = temp_directory(), *umad = xasprintf("%s/umad3", dir);
	char *issm = xasprintf("%s/issm3", dir);
	struct mad_settings s = { .smp_window = 4 };
	struct buf err = { 0 };
	bool root = geteuid() == 0;

	t.loop = loop_new();
	fake_open_error = -EIO;
	fake_issm = issm;
	ck_assert_ptr_null(mad_open(t.loop, &s, &hooks, &err));
	ck_assert_msg(strstr(err.s, umad) && strstr(err.s, strerror(ENOENT)), "%s", err.s);
	buf_free(&err);
	close(open(umad, O_CREAT | O_RDWR, 0));
	/* as after dropping privileges: the effective user counts */
	ck_assert(!root || seteuid(65534) == 0);
	ck_assert_ptr_null(mad_open(t.loop, &s, &hooks, &err));
	ck_assert_msg(strstr(err.s, umad) && strstr(err.s, "permission denied"), "%s", err.s);
	ck_assert_ptr_null(strstr(err.s, strerror(EIO)));
	buf_free(&err);
	ck_assert(!root || seteuid(0) == 0);
	/* a user that may open it gets another error */
	chmod(umad, 0666);
	ck_assert_ptr_null(mad_open(t.loop, &s, &hooks, &err));
	ck_assert_msg(strstr(err.s, strerror(EIO)) != NULL, "%s", err.s);
	buf_free(&err);
	fake_open_error = 0;
	fake_issm = NULL;
	loop_free(t.loop);
	free(umad);
	free(issm);
	temp_directory_remove(dir);
}
END_TEST

START_TEST(port_is_chosen)
{
	open_port(16, 3, 1000, 0);
	/* the first port that is not down */
	ck_assert_int_eq(mad_info(t.port)->port, 2);
	ck_assert_uint_eq(mad_info(t.port)->guid, 0x502);
	ck_assert_uint_eq(mad_info(t.port)->lid, 7);
	close_port();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mad");
	TCase *c = tcase_create("transport");

	tcase_set_timeout(c, 20);
	tcase_add_test(c, windows_hold);
	tcase_add_test(c, a_flood_of_traps);
	tcase_add_test(c, many_that_take_long_leave_others_their_turn);
	tcase_add_test(c, answers_that_nobody_asked_for);
	tcase_add_test(c, slow_device_stalls_nobody);
	tcase_add_test(c, retries_back_off);
	tcase_add_test(c, sets_wait_until_they_may_go);
	tcase_add_test(c, gets_go_where_held_sets_fill_the_window);
	tcase_add_test(c, smp_as_iba_has_it);
	tcase_add_test(c, a_lost_completion_is_guarded);
	tcase_add_test(c, only_the_answer_counts);
	tcase_add_loop_test(c, an_unfit_answer_ends_the_try, 0, N_UNFIT);
	tcase_add_loop_test(c, busy_is_tried_again, 0, 2);
	tcase_add_test(c, busy_is_told);
	tcase_add_test(c, cancelled_job_is_silent);
	tcase_add_test(c, requests_are_handed_on);
	tcase_add_test(c, an_answer_is_made_while_it_is_sent);
	tcase_add_test(c, a_request_that_is_repeated);
	tcase_add_test(c, who_is_silent_is_asked_again_if_somebody_acknowledges);
	tcase_add_test(c, two_that_ask_at_once_are_answered_both);
	tcase_add_test(c, where_nobody_acknowledges_the_oldest_gives_its_place);
	tcase_add_test(c, transfers_end_when_told);
	tcase_add_test(c, transfers_are_bounded);
	tcase_add_test(c, headers_of_rmpp);
	tcase_add_test(c, what_is_under_way_counts_for_the_port);
	tcase_add_test(c, closed_in_the_middle);
	tcase_add_test(c, methods_of_the_class);
	tcase_add_test(c, trap_represses_do_not_pile_up);
	tcase_add_test(c, who_floods_waits_alone);
	tcase_add_test(c, many_queue_pairs_are_one_sender);
	tcase_add_test(c, the_loop_rests_when_only_greedy_senders_wait);
	tcase_add_test(c, a_message_too_large_is_not_in_the_way);
	tcase_add_test(c, a_device_that_is_gone_is_noticed);
	tcase_add_test(c, refused_registration);
	tcase_add_test(c, a_device_without_permission_is_called_so);
	tcase_add_test(c, port_is_chosen);
	suite_add_tcase(s, c);
	return run_suite(s);
}
