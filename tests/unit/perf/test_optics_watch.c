/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* promise: Q6 */
/*
 * Tests readings of transceivers on devices that answer SMPs in this file: who is asked for what and how many at a time,
 * devices that refuse, fall silent, leave or talk nonsense, and the loss of the subnet meanwhile.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "perf/optics_watch.h"
#include "unit/plan/net.h"
#include "unit/run.h"

#define HOSTS	24		/* on a switch */
#define PORTS	(2 * HOSTS)
#define KEY	0x1122334455667788ull
#define LIMIT_US 10000000

struct sent {
	struct smp s;
	uint64_t guid;		/* of the node that it goes to */
	void (*fn)(void *arg, const struct smp *s, int status);
	void *arg;
};

static struct {
	struct loop *loop;
	struct optics_watch *watch;
	struct timer *deliver, *limit;
	struct settings *settings;
	struct subnet_state *state;
	uint64_t routed;			/* node of the last route */
	VEC(struct sent) sent;			/* not answered yet */
	unsigned smps, most, to_guid;		/* to_guid: to watched_guid */
	uint64_t watched_guid;
	/* behavior of the devices */
	uint64_t refusing, silent;		/* GUIDs */
	unsigned lost;				/* SMPs to the silent one; 0: all */
	int refusal;				/* status of the MAD; 0: one in the TLV */
	bool short_mcia;			/* the refusing one denies only MCIA */
	unsigned busy;				/* the next answers */
	unsigned seed;				/* bytes of answers are damaged; 0: none */
	bool swaps;				/* each serial number is another one */
	unsigned serials;
	uint8_t lower[128], upper[4][128];
	unsigned lose_at;			/* number of the SMP at which the subnet is lost */
	uint32_t ends;
	struct optics_reading end;
	VEC(struct event) events;
} t;

static uint64_t guid_of(unsigned host)
{
	return 0x100 * (host + 1);
}

/* without: a host that is not there; HOSTS: all are. */
static struct subnet_state *make_state(unsigned without)
{
	struct fabric *f = fabric_new();
	struct subnet_state *s = xcalloc(1, sizeof(*s));
	uint32_t hosts[HOSTS], sw;

	for (unsigned i = 0; i < HOSTS; i++)
		if (i != without)
			hosts[i] = net_ca(f, guid_of(i), 1);
	sw = net_switch(f, 0x10000, HOSTS, false);
	for (unsigned i = 0; i < HOSTS; i++)
		if (i != without)
			ck_assert(fabric_link(f, sw, i + 1, hosts[i], 1));
	net_finish(f);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		put_be16(f->nodes[i].info + 30, i == sw ? 0xd2f0 : 0x101b);
		put_be32(f->nodes[i].info + 36, 0x0002c9);
	}
	s->refs = 1;
	s->f = f;
	s->policy = shared_policy_new(policy_builtin());
	s->plan = plan_compute(f, s->policy->p, t.settings, NULL, NULL, NULL);
	return s;
}

static uint32_t port_of(uint64_t guid, unsigned num)
{
	return t.state->f->nodes[map64_get(&t.state->f->node_by_guid, guid)].port0 + num;
}

/* --- devices --- */

static bool route(void *arg, const struct fabric *f, uint32_t node, unsigned num, struct smp *s)
{
	ck_assert_ptr_null(arg);
	ck_assert_uint_eq(num, node_is_switch(&f->nodes[node]) ? 0 : 1);
	t.routed = f->nodes[node].guid;
	s->m_key = KEY;
	return true;
}

/* What mad/ does, without a port. */
void smp_send(struct mad_port *m, const struct smp *s, void (*fn)(void *arg, const struct smp *s, int status),
	      void *arg)
{
	ck_assert_ptr_null(m);
	ck_assert_uint_eq(s->m_key, KEY);
	ck_assert_uint_eq(s->method, SMP_SET);
	ck_assert_uint_eq(s->attr, 0xff52);
	ck_assert_uint_eq(s->mod, 0);
	ck_assert(s->once && s->tells_busy);
	for (size_t i = 0; i < t.sent.n; i++)
		ck_assert_uint_ne(t.sent.v[i].guid, t.routed);	/* one for each device */
	*vec_push(&t.sent) = (struct sent){ *s, t.routed, fn, arg };
	t.smps++;
	t.to_guid += t.routed == t.watched_guid;
	if (t.sent.n > t.most)
		t.most = (unsigned)t.sent.n;
	timer_set(t.deliver, 0, 0);
}

/* Local ports of the switch are its ports, counted from the other end. */
static unsigned exchanged(const struct sent *x, unsigned number)
{
	return x->guid == 0x10000 ? HOSTS + 1 - number : number;
}

static void answer_memory(uint8_t *reg)
{
	unsigned page = reg[5], offset = get_be16(reg + 6), size = get_be16(reg + 10);

	ck_assert_uint_le(size, 28);
	ck_assert_uint_eq(reg[4], 0x50);
	if (t.swaps && page == 0 && offset == 196)
		t.upper[0][196 - 128] = (uint8_t)('A' + t.serials++ % 26);
	memcpy(reg + 16, offset < 128 ? t.lower + offset : t.upper[page] + offset - 128, size);
}

static int answer(struct sent *x)
{
	uint8_t *data = x->s.data, *reg = data + 20;
	unsigned id = get_be16(data + 4), local = reg[1];
	bool refuses = x->guid == t.refusing && (!t.short_mcia || id == 0x9014);

	if (x->guid == t.silent) {
		if (t.lost && !--t.lost)
			t.silent = 0;
		return SMP_TIMEOUT;
	}
	if (refuses && t.refusal)
		return t.refusal;
	if (!refuses && t.busy % 2) {
		t.busy--;
		return 1;			/* by the status of the MAD, now and then */
	}
	if (refuses || t.busy) {
		data[2] = refuses ? 4 : 1;
		t.busy -= !refuses;
	} else if (id == 0x500a) {
		reg[3] = (uint8_t)exchanged(x, local);
	} else if (id == 0x5002) {
		reg[3] = 4;
		for (unsigned i = 0; i < 4; i++)
			put_be32(reg + 4 + 4 * (size_t)i, i << 16 | local);
	} else {
		ck_assert_uint_eq(id, 0x9014);
		answer_memory(reg);
	}
	for (unsigned i = 0; t.seed && i < 3; i++)
		data[rand() % 64] = (uint8_t)rand();
	return 0;
}

static void on_deliver(void *arg)
{
	struct sent x;

	(void)arg;
	if (!t.sent.n)
		return;
	x = t.sent.v[0];
	memmove(t.sent.v, t.sent.v + 1, --t.sent.n * sizeof(x));
	if (t.lose_at && t.smps >= t.lose_at)
		optics_watch_published(t.watch, NULL);
	x.fn(x.arg, &x.s, answer(&x));
	if (t.sent.n)
		timer_set(t.deliver, 0, 0);
}

/* --- readings --- */

static void on_event(void *arg, const struct event *e)
{
	(void)arg;
	*vec_push(&t.events) = *e;
}

static void on_limit(void *arg)
{
	(void)arg;
	ck_abort_msg("the reading does not end");
}

static void on_end(void *arg, const struct optics_reading *r)
{
	ck_assert_ptr_eq(arg, &t);
	t.ends++;
	t.end = *r;
	loop_stop(t.loop);
}

static void make_module(void)
{
	t.lower[0] = t.upper[0][0] = 0x11;
	put_be16(t.lower + 22, 40 << 8);
	put_be16(t.lower + 26, 33000);
	memcpy(t.upper[0] + 148 - 128, "VENDOR", 6);
	memcpy(t.upper[0] + 196 - 128, "SERIAL", 6);
	t.upper[0][220 - 128] = 0x3c;
	put_be16(t.upper[3], 75 << 8);
	put_be16(t.upper[3] + 4, 70 << 8);
}

static void setup(void)
{
	const struct optics_hooks hooks = { .route = route, .event = on_event };

	memset(&t, 0, sizeof(t));
	t.loop = loop_new();
	ck_assert_ptr_nonnull(t.loop);
	t.deliver = timer_new(t.loop, on_deliver, NULL);
	t.limit = timer_new(t.loop, on_limit, NULL);
	t.settings = settings_default();
	t.state = make_state(HOSTS);
	t.watch = optics_watch_new(t.loop, NULL, 0, &hooks);
	optics_watch_published(t.watch, t.state);
	make_module();
}

static void teardown(void)
{
	optics_watch_free(t.watch);
	state_unref(t.state);
	settings_free(t.settings);
	timer_free(t.deliver);
	timer_free(t.limit);
	loop_free(t.loop);
	vec_free(&t.sent);
	vec_free(&t.events);
}

/* Reads some ports; returns the number of SMPs. */
static unsigned read_ports(const uint32_t *ports, uint32_t n, bool anew)
{
	struct buf err = { 0 };
	unsigned before = t.smps;

	ck_assert_msg(optics_watch_read(t.watch, t.state, ports, n, anew, on_end, &t, &err), "%s", err.s);
	ck_assert(!optics_watch_read(t.watch, t.state, ports, n, anew, on_end, &t, &err));
	ck_assert_ptr_nonnull(strstr(err.s, "being read"));
	buf_free(&err);
	timer_set(t.limit, LIMIT_US, 0);
	loop_run(t.loop);
	timer_stop(t.limit);
	return t.smps - before;
}

static unsigned read_all(void)
{
	uint32_t *ports = xcalloc(t.state->f->n_ports, sizeof(*ports)), n = 0;
	unsigned smps;

	for (uint32_t i = 0; i < t.state->f->n_ports; i++)
		ports[n++] = i;
	smps = read_ports(ports, n, false);
	free(ports);
	return smps;
}

static unsigned read_host(unsigned host, bool anew)
{
	uint32_t port = port_of(guid_of(host), 1);

	return read_ports(&port, 1, anew);
}

static void publish(unsigned without)
{
	struct subnet_state *s = make_state(without);

	optics_watch_published(t.watch, s);
	state_unref(t.state);
	t.state = s;
}

#define FIRST 9		/* SMPs for the first reading of a port: where it is, and eight ranges */
#define LATER 3

START_TEST(everybody)
{
	ck_assert_uint_eq(read_all(), HOSTS + PORTS * FIRST);
	ck_assert_uint_eq(t.most, OPTICS_WINDOW);
	ck_assert_uint_eq(t.end.ports, PORTS);
	ck_assert_uint_eq(t.end.results[OPTICS_READ], PORTS);
	ck_assert_uint_eq(t.end.nodes, HOSTS + 1);
	ck_assert_uint_eq(read_all(), PORTS * LATER);
	ck_assert_uint_eq(t.ends, 2);
	/* local port 24 is port 1, whose module is number 24 */
	ck_assert_uint_eq(optics_watch_port(t.watch, t.state, port_of(0x10000, 1))->at.module, HOSTS);
	ck_assert_str_eq(optics_watch_port(t.watch, t.state, port_of(0x10000, 1))->t.vendor, "VENDOR");
	ck_assert_uint_eq(t.events.n, 0);
}
END_TEST

START_TEST(alarms)
{
	struct buf text = { 0 };

	put_be16(t.lower + 22, 76 << 8);
	read_host(3, false);
	ck_assert_uint_eq(t.events.n, 1);
	ck_assert_int_eq(t.events.v[0].kind, EVENT_OPTICS_ALARM);
	optics_put_beyond(optics_watch_port(t.watch, t.state, port_of(guid_of(3), 1)), true, &text);
	ck_assert_str_eq(text.s, "temperature 76.0 C above the high alarm of 75.0 C");
	buf_free(&text);
	read_host(3, false);
	ck_assert_uint_eq(t.events.n, 1);
	put_be16(t.lower + 22, 72 << 8);	/* only the warning is left */
	read_host(3, false);
	ck_assert_uint_eq(t.events.n, 2);
	ck_assert_int_eq(t.events.v[1].kind, EVENT_OPTICS_CLEAR);
	ck_assert(optics_is_warned(optics_watch_port(t.watch, t.state, port_of(guid_of(3), 1))));
}
END_TEST

START_TEST(refusals)
{
	bool silent;

	t.refusing = t.watched_guid = guid_of(3);
	t.refusal = 0x0c;
	read_all();
	ck_assert_uint_eq(t.to_guid, 1);
	ck_assert_uint_eq(t.end.refusing, 1);
	ck_assert(optics_watch_refuses(t.watch, t.state, map64_get(&t.state->f->node_by_guid, guid_of(3)), &silent));
	ck_assert(!silent);
	read_all();
	ck_assert_uint_eq(t.to_guid, 1);
	t.refusal = 0;				/* now by the TLV's status */
	ck_assert_uint_eq(read_host(3, true), 1);
	ck_assert_uint_eq(t.end.refusing, 1);
	ck_assert_uint_eq(read_host(3, false), 0);
	t.short_mcia = true;			/* now only the memory of modules */
	ck_assert_uint_eq(read_host(3, true), 2);
	ck_assert_uint_eq(t.end.refusing, 1);
	/* it went and came back with other firmware */
	publish(3);
	t.refusing = 0;
	publish(HOSTS);
	ck_assert_uint_eq(read_host(3, false), FIRST);
	ck_assert_uint_eq(t.end.results[OPTICS_READ], 1);
}
END_TEST

START_TEST(silence)
{
	bool silent;

	t.silent = t.watched_guid = 0x10000;
	ck_assert_uint_eq(read_all(), OPTICS_SILENT_TRIES + HOSTS * FIRST);
	ck_assert_uint_eq(t.end.silent, 1);
	ck_assert_uint_eq(t.end.results[OPTICS_UNREAD], HOSTS);
	ck_assert(optics_watch_refuses(t.watch, t.state, map64_get(&t.state->f->node_by_guid, 0x10000), &silent));
	ck_assert(silent);
	ck_assert_uint_eq(read_all(), HOSTS * LATER);
	/* one SMP that was lost is no silence */
	publish(HOSTS);
	t.silent = guid_of(3);
	t.lost = 1;
	ck_assert_uint_eq(read_host(3, true), 1 + LATER);
	ck_assert_uint_eq(t.end.silent, 0);
}
END_TEST

START_TEST(busy)
{
	t.busy = OPTICS_BUSY_TRIES - 1;
	ck_assert_uint_eq(read_host(3, false), OPTICS_BUSY_TRIES - 1 + FIRST);
	ck_assert_uint_eq(t.end.results[OPTICS_READ], 1);
	/* one that stays busy is left alone, and keeps what it had */
	t.busy = 1000;
	ck_assert_uint_eq(read_host(3, false), OPTICS_BUSY_TRIES);
	ck_assert_uint_eq(t.end.results[OPTICS_UNREAD], 1);
	ck_assert_int_eq(optics_watch_port(t.watch, t.state, port_of(guid_of(3), 1))->result, OPTICS_READ);
	t.busy = 0;
	ck_assert_uint_eq(read_host(3, false), LATER);
}
END_TEST

/* A module whose serial number is another each time is read no more than twice. */
START_TEST(changing_modules)
{
	read_host(3, false);
	t.swaps = true;
	ck_assert_uint_le(read_host(3, false), 2 + FIRST);
	ck_assert_uint_eq(t.end.results[OPTICS_READ], 1);
	ck_assert_uint_le(read_host(3, false), 2 + FIRST);
}
END_TEST

/* Whatever devices answer, a reading ends, and takes no more than so many SMPs. */
START_TEST(nonsense)
{
	for (unsigned seed = 1; seed <= (unsigned)cases(200); seed++) {
		srand(seed);
		t.seed = seed;
		ck_assert_uint_le(read_all(), HOSTS + PORTS * 64);
	}
	t.seed = 0;
	publish(3);
	publish(HOSTS);
	read_host(3, true);
	ck_assert_uint_eq(t.end.results[OPTICS_READ], 1);
}
END_TEST

START_TEST(lost_subnet)
{
	t.lose_at = 100;
	read_all();
	ck_assert_uint_eq(t.ends, 1);
	ck_assert_uint_lt(t.smps, 100 + 2 * OPTICS_WINDOW);
	ck_assert_int_eq(optics_watch_last(t.watch)->when_us, 0);
	ck_assert_ptr_null(optics_watch_port(t.watch, t.state, port_of(0x10000, 1)));
	t.lose_at = 0;
	publish(HOSTS);
	ck_assert_uint_eq(read_all(), HOSTS + PORTS * FIRST);
}
END_TEST

START_TEST(nobody_to_ask)
{
	uint32_t port = port_of(guid_of(3), 1);
	struct buf err = { 0 };

	put_be16(t.state->f->nodes[t.state->f->ports[port].node].info + 30, 0x1003);
	ck_assert(!optics_watch_read(t.watch, t.state, &port, 1, true, on_end, &t, &err));
	ck_assert_ptr_nonnull(strstr(err.s, "no such port"));
	buf_free(&err);
	optics_watch_published(t.watch, NULL);
	ck_assert(!optics_watch_read(t.watch, t.state, &port, 1, true, on_end, &t, &err));
	buf_free(&err);
	ck_assert_uint_eq(t.ends, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("optics");
	TCase *tc = tcase_create("optics");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, everybody);
	tcase_add_test(tc, alarms);
	tcase_add_test(tc, refusals);
	tcase_add_test(tc, silence);
	tcase_add_test(tc, busy);
	tcase_add_test(tc, changing_modules);
	tcase_add_test(tc, nonsense);
	tcase_add_test(tc, lost_subnet);
	tcase_add_test(tc, nobody_to_ask);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
