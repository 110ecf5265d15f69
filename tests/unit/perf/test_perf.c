/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests measurements on a fake port: which requests go to which device, silence and nonsense
 * as answers, and the evaluation of the counters by the plan's tables.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "perf/perf.h"
#include "unit/mad/fake_umad.h"
#include "unit/plan/net.h"
#include "unit/run.h"

#define DATA	64
#define HOSTS	64		/* on a switch: more requests than the window has room for */
#define PORTS	(2 * HOSTS)
#define WORDS	2000000000u	/* in a measurement: more than the link can carry, if fast */
#define A_US	10000

enum { TOTAL64 = 0x1d, XMIT_SL = 0x36, VL_WAIT = 0x1c, VL_RCV = 0x1a };

static struct {
	struct loop *loop;
	struct mad_port *mad;
	struct perf *perf;
	struct timer *limit;
	struct subnet_state *state;
	struct settings *settings;
	uint32_t sw, hosts[HOSTS];		/* nodes */
	/* behavior of the devices */
	uint16_t lacks, silent_lid, silent_attr, nonsense_lid;
	bool short_answers, empty_vls, by_far_end;
	bool odd_sets;			/* the answer to a Set has nonsense for values */
	uint16_t rcv_lid;
	uint8_t rcv_port;
	unsigned asked[0x40], sets, to_silent, outstanding, most;
	double got;			/* by SL 0; … */
	unsigned other;			/* … this SL has the rest */
	unsigned far_vl;		/* the VL besides 0 that the far end tells of; 0: VL 1 */
	unsigned reads, totals, rcvs;	/* of SL counters, … */
	/* results */
	unsigned reports;
	struct perf_port port;		/* the first */
	uint32_t n;
	VEC(struct event) events;
} t;

static void add_class(struct policy *p, uint32_t level, int32_t share)
{
	struct policy_class *c;

	p->classes = xrealloc(p->classes, p->n_classes + 1, sizeof(*p->classes));
	c = &p->classes[p->n_classes];
	*c = (struct policy_class){ .share = share, .high_limit = -1 };
	*vec_push(&c->level_names) = (struct policy_name){ xstrdup(p->levels[level].name), { 0, 0 } };
	c->levels = xcalloc(1, sizeof(*c->levels));
	c->levels[0] = level;
	p->class_of_sl[p->levels[level].sl] = (uint8_t)p->n_classes++;
}

static struct policy *make_policy(void)
{
	struct policy *p = policy_builtin();

	p->levels = xrealloc(p->levels, p->n_levels + 1, sizeof(*p->levels));
	p->levels[p->n_levels++] = (struct policy_level){
		.name = xstrdup("storage"), .sl = 2, .packet_lifetime = -1, .path_bits = -1, .tclass = -1,
	};
	add_class(p, 0, 6000);
	add_class(p, 1, 4000);
	return p;
}

static void make_state(void)
{
	struct fabric *f = fabric_new();
	struct subnet_state *s = xcalloc(1, sizeof(*s));
	struct policy *p = make_policy();

	for (unsigned i = 0; i < HOSTS; i++)
		t.hosts[i] = net_ca(f, 0x100 * (i + 1), 1);
	t.sw = net_switch(f, 0x10000, HOSTS, false);
	for (unsigned i = 0; i < HOSTS; i++)
		ck_assert(fabric_link(f, t.sw, i + 1, t.hosts[i], 1));
	net_finish(f);
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].peer != FABRIC_NONE) {
			f->ports[i].state = IB_PORT_ACTIVE_S;
			f->ports[i].vlarb_low_cap = f->ports[i].vlarb_high_cap = 8;
		}
	s->refs = 1;
	s->f = f;
	s->policy = shared_policy_new(p);
	s->plan = plan_compute(f, p, t.settings, NULL, NULL, NULL);
	t.state = s;
}

static uint32_t switch_port(unsigned num)
{
	return t.state->f->nodes[t.sw].port0 + num;
}

static uint16_t lid_of(uint32_t node)
{
	const struct fabric_node *n = &t.state->f->nodes[node];

	return t.state->plan->lid[n->port0 + (node_is_switch(n) ? 0 : 1)];
}

/* --- devices --- */

/* Answers as if everything since the last read was counted by SL. */
static void put_values(uint8_t *mad, uint16_t attr)
{
	if (attr == TOTAL64) {
		put_be64(mad + DATA + 8, (uint64_t)t.totals++ * WORDS);
	} else if (attr == VL_RCV && t.by_far_end) {
		put_be32(mad + DATA + 4, (uint32_t)(t.rcvs * 0.75 * WORDS));
		put_be32(mad + DATA + 4 + 4 * (t.far_vl ? t.far_vl : 1), (uint32_t)(t.rcvs++ * 0.25 * WORDS));
	} else if (attr == XMIT_SL && t.empty_vls) {
		put_be32(mad + DATA + 4, 0);
	} else if (attr == XMIT_SL) {
		put_be32(mad + DATA + 4, (uint32_t)(t.reads * t.got * WORDS));
		put_be32(mad + DATA + 4 + 4 * t.other, (uint32_t)(t.reads * (1 - t.got) * WORDS));
		t.reads++;
	} else if (attr == VL_WAIT) {
		put_be16(mad + DATA + 4, (uint16_t)((t.reads - 1) * (1 - t.got) * 20000));
		put_be16(mad + DATA + 6, (uint16_t)((t.reads - 1) * t.got * 20000));
	}
}

static void on_send(const struct ib_user_mad *umad, const struct umad_smp *smp, int len)
{
	uint16_t lid = be16toh(umad->addr.lid), attr;
	uint8_t mad[256];
	bool set;

	ck_assert_int_eq(len, 256);
	memcpy(mad, smp, sizeof(mad));
	set = mad[3] == 2;
	attr = get_be16(mad + 16);
	ck_assert_uint_eq(mad[1], 4);
	ck_assert_uint_eq(be32toh(umad->addr.qpn), 1);
	ck_assert_uint_lt(attr, 0x40);
	t.asked[attr]++;
	if (attr == VL_RCV) {
		t.rcv_lid = lid;
		t.rcv_port = mad[DATA + 1];
	}
	t.sets += set;
	t.to_silent += lid == t.silent_lid;
	if (lid == t.silent_lid || attr == t.silent_attr) {
		fake_receive(smp, 24, ETIMEDOUT, 4);
		return;
	}
	mad[3] = 0x81;
	put_be32(mad + 8, 0x12345678);
	if (t.lacks == attr)
		put_be16(mad + 4, 0x000c);
	if (lid == t.nonsense_lid || (set && t.odd_sets))
		memset(mad + 24, 0xee, sizeof(mad) - 24);
	else
		put_values(mad, attr);
	fake_receive(mad, t.short_answers ? 100 : 256, 0, 4);
}

/* --- measuring --- */

static void on_event(void *arg, const struct event *e)
{
	(void)arg;
	*vec_push(&t.events) = *e;
}

static void on_limit(void *arg)
{
	(void)arg;
	ck_abort_msg("the loop did not end in time");
}

static void setup(void)
{
	struct mad_settings s = { .smp_window = 4, .smp_window_device = 4, .timeout_ms = 10,
				  .sa_queue_max = 10 };
	struct mad_hooks hooks = { 0 };
	struct perf_hooks ph = { .event = on_event };
	struct buf err = { 0 };

	memset(&t, 0, sizeof(t));
	t.got = 0.6;
	t.other = 2;
	t.settings = settings_default();
	make_state();
	t.loop = loop_new();
	t.mad = mad_open(t.loop, &s, &hooks, &err);
	ck_assert_ptr_nonnull(t.mad);
	t.perf = perf_new(t.loop, t.mad, 0, false, 10, &ph);
	perf_published(t.perf, t.state);
	t.limit = timer_new(t.loop, on_limit, NULL);
	timer_set(t.limit, 8000000, 0);
	t.lacks = VL_RCV;
	fake_on_send = on_send;
}

static void teardown(void)
{
	perf_free(t.perf);
	timer_free(t.limit);
	mad_close(t.mad);
	loop_free(t.loop);
	fake_on_send = NULL;
	state_unref(t.state);
	settings_free(t.settings);
	vec_free(&t.events);
}

static void on_report(void *arg, const struct perf_report *r)
{
	ck_assert_ptr_eq(arg, &t);
	t.reports++;
	t.port = r->ports[0];
	t.n = r->n;
	loop_stop(t.loop);
}

static bool begin(const uint32_t *ports, uint32_t n, bool reset)
{
	struct buf err = { 0 };
	bool begun = perf_measure(t.perf, t.state, ports, n, A_US, reset, on_report, &t, &err);

	ck_assert(begun == !err.n);
	buf_free(&err);
	return begun;
}

static void measure(uint32_t port)
{
	t.reads = t.totals = t.rcvs = 0;
	ck_assert(begin(&port, 1, false));
	loop_run(t.loop);
}

static void measure_all(bool reset)
{
	uint32_t n, *ports = perf_ports(t.state, &n);

	ck_assert_uint_eq(n, PORTS);
	ck_assert(begin(ports, n, reset));
	free(ports);
	loop_run(t.loop);
}

/* promise: B4 */
START_TEST(by_sl)
{
	measure(switch_port(3));
	ck_assert_uint_eq(t.port.by, PMA_XMIT_SL);
	ck_assert_uint_eq(t.port.before[PMA_VL_RCV].result, PMA_LACKS);
	ck_assert(t.port.promises);
	ck_assert_double_eq_tol(t.port.vls[0].promised, 0.6, 0.01);
	ck_assert_double_eq_tol(t.port.vls[0].got, 0.6, 0.01);
	/* SL 2 is on VL 1 */
	ck_assert_uint_eq(t.port.sls[1], 1 << 2);
	ck_assert_double_eq_tol(t.port.vls[1].got, 0.4, 0.01);
	ck_assert_uint_eq(t.port.sl[2].n, (uint64_t)(0.4 * WORDS));
	ck_assert_uint_eq(t.port.vls[1].verdict, VERDICT_SERVED);
	ck_assert_uint_eq(t.events.n, 0);
	ck_assert_uint_eq(t.asked[XMIT_SL], 2);
	ck_assert_uint_eq(t.asked[VL_RCV], 1);		/* it has none: not asked again */
	ck_assert_uint_eq(t.sets, 0);
}
END_TEST

START_TEST(by_the_far_end)
{
	t.lacks = XMIT_SL;
	t.by_far_end = true;
	measure(switch_port(3));
	ck_assert_uint_eq(t.port.by, PMA_VL_RCV);
	ck_assert_double_eq_tol(t.port.vls[0].got, 0.75, 0.01);
	/* the host is queried about its own port, by its own LID */
	ck_assert_uint_eq(t.rcv_lid, lid_of(t.hosts[2]));
	ck_assert_uint_eq(t.rcv_port, 1);
	t.lacks = 0;
	measure(switch_port(3));	/* its own answer takes precedence */
	ck_assert_uint_eq(t.port.by, PMA_XMIT_SL);
	ck_assert_double_eq_tol(t.port.vls[0].got, 0.6, 0.01);
	t.empty_vls = true;		/* but not zeros if much was sent */
	measure(switch_port(3));
	ck_assert_uint_eq(t.port.by, PMA_VL_RCV);
	t.by_far_end = false;
	measure(switch_port(3));
	ck_assert_uint_eq(t.port.by, PMA_ATTRS);
	ck_assert_uint_eq(t.port.vls[0].verdict, VERDICT_UNKNOWN);
	ck_assert_uint_eq(t.port.vls[0].words.is, GROWTH_ABSENT);
}
END_TEST

/* promise: B4 */
START_TEST(short_and_no_longer)
{
	size_t n;

	t.got = 0.9;
	measure(switch_port(3));
	ck_assert_uint_eq(t.port.vls[1].verdict, VERDICT_SHORT);
	ck_assert_uint_eq(t.events.n, 1);
	ck_assert_uint_eq(t.events.v[0].kind, EVENT_SHARE_MISSED);
	ck_assert_ptr_nonnull(strstr(t.events.v[0].text, "level storage got 10 % of 40 %"));
	ck_assert_uint_eq(perf_findings(t.perf, &n)->vl, 1);
	ck_assert_uint_eq(n, 1);
	measure(switch_port(3));		/* still: nothing new */
	ck_assert_uint_eq(t.events.n, 1);
	t.got = 0.6;
	measure(switch_port(2));		/* another port knows nothing about it */
	ck_assert_uint_eq(t.events.n, 1);
	measure(switch_port(3));
	ck_assert_uint_eq(t.events.n, 2);
	ck_assert_uint_eq(t.events.v[1].kind, EVENT_SHARE_MET);
	perf_findings(t.perf, &n);
	ck_assert_uint_eq(n, 0);
	t.got = 0.9;
	measure(switch_port(3));
	perf_published(t.perf, NULL);		/* no longer ours to report */
	perf_findings(t.perf, &n);
	ck_assert_uint_eq(n, 0);
}
END_TEST

static const struct perf_got *got(unsigned port)
{
	return perf_port_got(t.perf, t.state, switch_port(port));
}

/* promise: W3 */
START_TEST(what_each_port_got_last)
{
	ck_assert_ptr_null(got(3));
	t.got = 0.9;
	measure(switch_port(3));
	ck_assert_double_eq_tol(got(3)->got[0], 0.9, 0.01);
	ck_assert_double_eq_tol(got(3)->got[1], 0.1, 0.01);
	ck_assert_uint_eq(got(3)->verdict[1], VERDICT_SHORT);
	ck_assert(got(3)->full > 0.9f);
	ck_assert_ptr_null(got(2));
	t.got = 0.6;
	measure(switch_port(2));
	ck_assert_double_eq_tol(got(3)->got[0], 0.9, 0.01);	/* as last measured */
	measure(switch_port(3));
	ck_assert_double_eq_tol(got(3)->got[0], 0.6, 0.01);
	t.lacks = XMIT_SL;
	measure(switch_port(3));				/* a port that does not tell now */
	ck_assert_ptr_null(got(3));
	ck_assert_ptr_nonnull(got(2));
	perf_published(t.perf, NULL);
	ck_assert_ptr_null(got(2));
}
END_TEST

static const struct perf_stray *strays(size_t expected)
{
	size_t n;
	const struct perf_stray *x = perf_strays(t.perf, &n);

	ck_assert_uint_eq(n, expected);
	return x;
}

/* promise: B9 */
START_TEST(an_sl_that_no_level_has)
{
	const struct perf_stray *x;

	measure(switch_port(3));
	ck_assert_uint_eq(t.port.stray_sls, 0);
	strays(0);
	t.other = 5;
	measure(switch_port(3));
	ck_assert_uint_eq(t.port.stray_sls, 1 << 5);
	ck_assert_uint_eq(t.port.stray_vls, 0);
	x = strays(1);
	ck_assert(!x->by_vl);
	ck_assert_uint_eq(x->lane, 5);
	ck_assert_uint_eq(x->num, 3);
	ck_assert_uint_eq(x->bytes, (uint64_t)(0.4 * WORDS) * 4);
	measure(switch_port(2));
	x = strays(2);
	ck_assert_uint_eq(x[0].num, 2);
	ck_assert_uint_eq(x[1].num, 3);
	t.other = 7;
	measure(switch_port(2));		/* SL 5 of port 3 stays: it was not measured */
	x = strays(2);
	ck_assert_uint_eq(x[0].lane, 5);
	ck_assert_uint_eq(x[1].lane, 7);
	t.other = 2;
	measure(switch_port(2));
	strays(1);
	perf_published(t.perf, NULL);
	strays(0);
}
END_TEST

/* promise: B9 */
START_TEST(little_data_may_be_management)
{
	t.other = 5;
	t.got = 1 - (PERF_STRAY_WORDS - 1.5) / WORDS;
	measure(switch_port(3));
	ck_assert_uint_lt(t.port.sl[5].n, PERF_STRAY_WORDS);
	ck_assert_uint_gt(t.port.sl[5].n, 0);
	strays(0);
}
END_TEST

/* promise: B9 */
START_TEST(a_vl_that_no_level_uses)
{
	t.lacks = XMIT_SL;
	t.by_far_end = true;
	measure(switch_port(3));
	strays(0);
	t.far_vl = 3;
	measure(switch_port(3));
	ck_assert_uint_eq(t.port.stray_sls, 0);
	ck_assert_uint_eq(t.port.stray_vls, 1 << 3);
	ck_assert(strays(1)->by_vl);
	ck_assert_uint_eq(strays(1)->lane, 3);
	t.silent_attr = VL_RCV;			/* unknown: it stays */
	measure(switch_port(3));
	strays(1);
	t.silent_attr = 0;
	t.far_vl = 1;
	measure(switch_port(3));
	strays(0);
}
END_TEST

/* promise: B9 */
START_TEST(sls_of_all_ports)
{
	t.other = 5;
	t.got = 0.99999;		/* the ports share one counter, of 32 bits */
	measure_all(false);
	strays(PORTS);
	ck_assert_uint_eq(perf_last(t.perf)->stray_sls[5].ports, PORTS);
	ck_assert_uint_gt(perf_last(t.perf)->stray_sls[5].bytes, 0);
	ck_assert_uint_eq(perf_last(t.perf)->stray_sls[2].ports, 0);
	t.other = 2;
	measure_all(false);
	strays(0);
	ck_assert_uint_eq(perf_last(t.perf)->stray_sls[5].ports, 0);
}
END_TEST

/* The policy changes during the measurement: only the report judges by the former shares, not health. */
START_TEST(another_policy_meanwhile)
{
	struct subnet_state other = *t.state;
	uint32_t port = switch_port(3);
	size_t n;

	other.refs = 2;
	other.policy = shared_policy_new(policy_builtin());
	t.got = 0.9;
	ck_assert(begin(&port, 1, false));
	perf_published(t.perf, &other);
	perf_published(t.perf, t.state);	/* and back again: counters are of both */
	loop_run(t.loop);
	ck_assert_uint_eq(t.port.vls[1].verdict, VERDICT_SHORT);
	ck_assert_uint_eq(t.events.n, 0);
	perf_findings(t.perf, &n);
	ck_assert_uint_eq(n, 0);
	t.reads = t.totals = 0;
	shared_policy_unref(other.policy);
	other.policy = t.state->policy;
	ck_assert(begin(&port, 1, false));
	perf_published(t.perf, &other);		/* another fabric only */
	loop_run(t.loop);
	ck_assert_uint_eq(t.events.n, 1);
	perf_published(t.perf, NULL);
}
END_TEST

/* promise: B4 */
START_TEST(silence)
{
	t.silent_lid = lid_of(t.sw);
	measure(switch_port(3));
	ck_assert_uint_eq(t.port.after[PMA_XMIT_SL].result, PMA_SILENT);
	ck_assert_uint_eq(t.port.vls[1].verdict, VERDICT_UNKNOWN);
	ck_assert_uint_eq(t.port.vls[1].words.is, GROWTH_ABSENT);
	/* only requests sent before the silence was known, with three tries each */
	ck_assert_uint_le(t.to_silent, 3 * PMA_ATTRS);
	t.to_silent = 0;
	measure_all(false);
	ck_assert_uint_eq(t.n, PORTS);
	/*
	 * Not five requests for each of its ports and one for each port behind it: a window of
	 * requests, and one more for each of them, sent when it times out and before the attribute
	 * that is asked for is known to be silent.
	 */
	ck_assert_uint_le(t.to_silent, 3 * (2 * PERF_WINDOW));
	ck_assert_uint_eq(perf_last(t.perf)->ports, PORTS);
	ck_assert_uint_eq(perf_last(t.perf)->silent, HOSTS);
}
END_TEST

/* Some devices drop requests for attributes that they lack instead of answering with a status. */
START_TEST(silence_on_one_attribute)
{
	t.silent_attr = 0x1d;
	measure_all(false);
	ck_assert_uint_eq(t.port.after[PMA_TOTAL64].result, PMA_SILENT);
	ck_assert_uint_eq(t.port.after[PMA_XMIT_SL].result, PMA_READ);
	ck_assert_uint_lt(t.asked[0x1d], 3 * PORTS);
	ck_assert_uint_eq(perf_last(t.perf)->silent, 0);
}
END_TEST

/* What an agent lacks for one port, it lacks for all: only requests on their way are too many. */
START_TEST(lacking_one_attribute)
{
	t.lacks = VL_RCV;
	measure_all(false);
	ck_assert_uint_eq(t.port.after[PMA_VL_RCV].result, PMA_LACKS);
	ck_assert_uint_eq(t.port.after[PMA_XMIT_SL].result, PMA_READ);
	ck_assert_uint_eq(t.asked[XMIT_SL], 2 * PORTS);
	ck_assert_uint_lt(t.asked[VL_RCV], PORTS);
}
END_TEST

static void expect_names(uint16_t sls, const char *names)
{
	struct buf text = { 0 };

	perf_level_names(t.state->plan, sls, &text);
	ck_assert_str_eq(text.s ? text.s : "", names);
	buf_free(&text);
}

/* SLs 1 and 3 stand for SLs 0 and 2 in a second layer. */
START_TEST(levels_in_layers)
{
	uint64_t bytes;

	measure_all(false);
	bytes = perf_last(t.perf)->levels.v[1].bytes;
	ck_assert_uint_gt(bytes, 0);
	expect_names(1 << 1 | 1 << 3, "");
	sl_plan_make(&t.state->plan->sls, t.state->plan->policy,
		     &(struct route_layers){ .n = 2, .n_vl_sets = 2 });
	expect_names(1 << 1, "default");
	expect_names(1 << 2 | 1 << 3, "storage");
	expect_names(1 << 3 | 1 << 0, "default, storage");
	t.reads = t.totals = 0;
	t.other = 3;
	measure_all(false);
	ck_assert_uint_eq(perf_last(t.perf)->levels.v[1].bytes, bytes);
}
END_TEST

/* promise: B4 */
START_TEST(nonsense)
{
	t.nonsense_lid = lid_of(t.sw);
	measure(switch_port(3));
	ck_assert_uint_eq(t.port.after[PMA_XMIT_SL].result, PMA_BAD);
	ck_assert_uint_eq(t.port.vls[1].verdict, VERDICT_UNKNOWN);
	t.nonsense_lid = 0;
	t.short_answers = true;
	measure(switch_port(3));
	ck_assert_uint_ne(t.port.after[PMA_XMIT_SL].result, PMA_READ);
	ck_assert_uint_eq(t.events.n, 0);
}
END_TEST

START_TEST(one_at_a_time)
{
	uint32_t port = switch_port(1);

	ck_assert(begin(&port, 1, false));
	ck_assert(!begin(&port, 1, false));
	loop_run(t.loop);
	ck_assert_uint_eq(t.reports, 1);
	measure(port);
	ck_assert_uint_eq(t.reports, 2);
}
END_TEST

static void stop(void *arg)
{
	(void)arg;
	loop_stop(t.loop);
}

START_TEST(who_asked_is_gone)
{
	uint32_t port = switch_port(1);
	struct timer *later = timer_new(t.loop, stop, NULL);

	ck_assert(begin(&port, 1, false));
	perf_forget(t.perf, &t);
	timer_set(later, 20 * A_US, 0);
	loop_run(t.loop);
	timer_free(later);
	ck_assert_uint_eq(t.reports, 0);
	ck_assert(begin(&port, 1, false));
	/* the measurement is freed while requests are outstanding */
}
END_TEST

/* promise: B4 */
START_TEST(reset_on_wish)
{
	t.lacks = 0;
	measure_all(true);
	ck_assert_uint_eq(t.sets, 3 * PORTS);	/* by SL, waits, by VL: and not the totals */
	ck_assert_uint_eq(t.asked[0x12], 2 * PORTS);
	ck_assert_uint_eq(t.asked[0x1d], 2 * PORTS);
	ck_assert_uint_lt(t.asked[0x01], PORTS);	/* once for each device, and those on their way */
}
END_TEST

/* promise: B4 */
START_TEST(values_in_the_answer_to_a_reset)
{
	uint32_t port = switch_port(3);

	t.lacks = VL_RCV;
	t.odd_sets = true;
	ck_assert(begin(&port, 1, true));
	loop_run(t.loop);
	ck_assert_uint_eq(t.sets, 3);
	ck_assert_uint_eq(t.asked[XMIT_SL], 3);		/* reset, read, and read again */
	ck_assert_uint_eq(t.asked[VL_RCV], 1);
	ck_assert_uint_eq(t.port.by, PMA_XMIT_SL);
	ck_assert_double_eq_tol(t.port.vls[0].got, 0.6, 0.01);
	ck_assert_double_eq_tol(t.port.vls[1].got, 0.4, 0.01);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("perf");
	TCase *c = tcase_create("perf");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 20);
	tcase_add_test(c, by_sl);
	tcase_add_test(c, by_the_far_end);
	tcase_add_test(c, short_and_no_longer);
	tcase_add_test(c, what_each_port_got_last);
	tcase_add_test(c, an_sl_that_no_level_has);
	tcase_add_test(c, little_data_may_be_management);
	tcase_add_test(c, a_vl_that_no_level_uses);
	tcase_add_test(c, sls_of_all_ports);
	tcase_add_test(c, another_policy_meanwhile);
	tcase_add_test(c, silence);
	tcase_add_test(c, silence_on_one_attribute);
	tcase_add_test(c, lacking_one_attribute);
	tcase_add_test(c, levels_in_layers);
	tcase_add_test(c, nonsense);
	tcase_add_test(c, one_at_a_time);
	tcase_add_test(c, who_asked_is_gone);
	tcase_add_test(c, reset_on_wish);
	tcase_add_test(c, values_in_the_answer_to_a_reset);
	suite_add_tcase(s, c);
	return run_suite(s);
}
