/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests devices that take the identity of others, in whole fabrics: each device in turn, with each
 * other device as its victim, at a cold start and in a running subnet, and 40 % of the devices at once.
 * It covers discovery, without its process, and the list of devices that discovery excludes.
 */
#include <check.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "sm/devices/exclusions.h"
#include "sm/devices/node_names.h"
#include "sm/sm_internal.h"
#include "unit/discovery/devices.h"
#include "unit/run.h"

static struct sm sm;
static struct subnet_state now;

/* Scans until the list of excluded devices is stable.  NULL: the last scan found more than can exist. */
static struct fabric *discover(void)
{
	static struct disco_excluded out[EXCLUDED_MAX];
	const struct fabric *known = sm.published ? sm.published->f : NULL;
	struct disco_result res = { 0 };
	struct stream_reader r;
	bool again;

	exclusions_sweep(&sm);
	do {
		fabric_free(res.f);
		if (!devices_scan(out, (unsigned)exclusions_list(&sm, out), known, &r)) {
			fabric_free(r.f);
			r.f = NULL;
		}
		res = (struct disco_result){ .f = r.f, .left = r.left.v, .n_left = r.left.n };
		again = exclusions_scanned(&sm, &res);
		vec_free(&r.left);
	} while (again);
	return res.f;
}

/* --- expectations --- */

static int device_of(const struct fabric *f, uint32_t node)
{
	unsigned local;

	return devices_follow(f->routes + f->nodes[node].route, f->nodes[node].hops, &local);
}

static bool link_is_true(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port], *q = &f->ports[p->peer];
	const struct device *d = &devices[device_of(f, p->node)];

	return d->peer[p->num].device == device_of(f, q->node) && d->peer[p->num].port == q->num;
}

/* Whether routes may use the link: both ends are switch ports that claim that it is up. */
static bool may_be_used(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return f->ports[port].node != f->ports[peer].node &&
	       node_is_switch(port_node(f, port)) && node_is_switch(port_node(f, peer)) &&
	       f->ports[port].state >= IB_PORT_INIT_S && f->ports[peer].state >= IB_PORT_INIT_S;
}

/* Finds the truthful hosts with a path through truthful switches. */
static void find_honest(bool *honest)
{
	unsigned queue[DEVICES_MAX], n = 0;

	memset(honest, 0, n_devices * sizeof(*honest));
	honest[queue[n++] = 0] = true;
	for (unsigned i = 0; i < n; i++) {
		const struct device *d = &devices[queue[i]];

		if (i && d->type != DEVICE_SWITCH)
			continue;
		for (unsigned num = 1; num <= d->ports; num++) {
			int to = d->peer[num].device;

			if (to >= 0 && !honest[to] && !devices[to].lie)
				honest[queue[n++] = (unsigned)to] = true;
		}
	}
}

/* Whether the fabric is wrong; why gets the reason. */
static bool is_wrong(const struct fabric *f, struct buf *why)
{
	bool honest[DEVICES_MAX];
	unsigned nodes[DEVICES_MAX] = { 0 };
	size_t before = why->n;

	find_honest(honest);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		nodes[device_of(f, i)]++;
	for (unsigned i = 0; i < n_devices; i++) {
		if (honest[i] && devices[i].type == DEVICE_CA && !nodes[i])
			buf_printf(why, " host %u is not found;", i);
		if (nodes[i] > 1)
			buf_printf(why, " device %u is found %u times;", i, nodes[i]);
	}
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].peer != FABRIC_NONE && f->ports[i].peer > i && may_be_used(f, i) &&
		    !link_is_true(f, i))
			buf_printf(why, " device %d port %u is not linked with device %d port %u;",
				   device_of(f, f->ports[i].node), f->ports[i].num,
				   device_of(f, f->ports[f->ports[i].peer].node),
				   f->ports[f->ports[i].peer].num);
	return why->n > before;
}

/* Whether the place that discovery excludes leads to the device or from it. */
static bool is_of(const struct disco_excluded *x, unsigned device)
{
	for (unsigned i = 0; i < n_devices; i++)
		if (devices[i].guid == x->near_guid && x->near_port <= devices[i].ports)
			return i == device || devices[i].peer[x->near_port].device == (int)device;
	return false;
}

static bool is_named(unsigned device)
{
	const struct disco_excluded *x;

	for (size_t i = 0; (x = exclusions_at(&sm, i)); i++)
		if (is_of(x, device))
			return true;
	return false;
}

static void begin(const struct devices_fabric *k, uint64_t seed)
{
	log_set_level(LOG_LEVEL_ERROR);
	devices_seed(seed);
	memset(&sm, 0, sizeof(sm));
	sm.devices.exclusions = exclusions_new();
	names_new(&sm);
	now = (struct subnet_state){ .refs = 1 };
	k->make();
}

static void end(void)
{
	fabric_free(now.f);
	names_free(&sm);
	exclusions_free(sm.devices.exclusions);
	vec_free(&sm.wishes.suspects);
	devices_free();
}

/* Makes a sweep that ends in a fabric and publishes it. */
static void sweep(void)
{
	struct fabric *f = discover();

	ck_assert(f != NULL);
	fabric_free(now.f);
	now.f = f;
	sm.published = &now;
}

/* number: of the case. */
static void expect_right(const char *fabric, enum lie lie, const char *when, unsigned number)
{
	struct buf why = { 0 };

	ck_assert_msg(!is_wrong(now.f, &why), "%s, %s, case %u, %s:%s", fabric, lie_names[lie],
		      number, when, why.s);
	buf_free(&why);
}

static bool has_victim(enum lie lie)
{
	return lie == NODE_GUID || lie == NODE_GUID_CHOSEN || lie == PORT_GUID || lie == WHOLE;
}

/* Whether a switch that copies another one entirely can be told from it (see below). */
static bool can_be_told_apart(enum lie lie, unsigned implausible, unsigned victim, bool later)
{
	if (lie == NODE_GUID_CHOSEN)
		return later && devices[victim].type == DEVICE_CA;
	return lie != WHOLE || devices[implausible].type == DEVICE_CA || devices[victim].type == DEVICE_CA;
}

/* When all devices tell the truth, each must be known by its own GUID after one more sweep. */
static void expect_truth(const char *fabric, enum lie lie, const char *when, unsigned number)
{
	for (unsigned i = 0; i < n_devices; i++)
		devices[i].lie = TRUTH;
	sweep();
	for (uint32_t i = 0; i < now.f->n_nodes; i++)
		ck_assert_msg(now.f->nodes[i].guid == devices[device_of(now.f, i)].guid,
			      "%s, %s, case %u, %s: device %d has a false name", fabric, lie_names[lie], number,
			      when, device_of(now.f, i));
}

static bool is_at_our_port(unsigned device)
{
	return devices[0].peer[1].device == (int)device;
}

/*
 * Which of two switches with the same NodeInfo lies is known only in a running subnet; then both are in the
 * fabric.  If one of them is the switch at the manager's port, or is next to the other, that does not always
 * hold.  Two switches that use no port of the same number seem to be one.
 */
/* promise: A88 */
START_TEST(a_switch_that_is_another_one)
{
	static const struct { unsigned cases, wrong[2], unnamed[2]; } known[DEVICES_FABRICS] = {
		{ 72, { 0, 0 }, { 3, 0 } }, { 72, { 0, 2 }, { 0, 0 } },
		{ 20, { 0, 2 }, { 0, 0 } }, { 30, { 1, 0 }, { 2, 0 } },
	};
	const struct devices_fabric *k = &devices_fabrics[_i / 2];
	bool later = _i % 2;
	unsigned n, cases = 0, wrong = 0, unnamed = 0;

	k->make();
	n = n_devices;
	for (unsigned implausible = 1; implausible < n; implausible++)
		for (unsigned victim = 1; victim < n; victim++) {
			struct buf why = { 0 };

			if (implausible == victim || devices[implausible].type == DEVICE_CA ||
			    devices[victim].type == DEVICE_CA)
				continue;
			begin(k, implausible * DEVICES_MAX + victim);
			if (later)
				sweep();
			devices[implausible].lie = WHOLE;
			devices[implausible].victim = victim;
			sweep();
			cases++;
			wrong += is_wrong(now.f, &why);
			unnamed += !is_at_our_port(implausible) && !is_named(implausible) && !is_named(victim);
			expect_truth(k->name, WHOLE, later ? "later" : "from the start",
				     implausible * DEVICES_MAX + victim);
			buf_free(&why);
			end();
		}
	ck_assert_uint_eq(cases, known[_i / 2].cases);
	ck_assert_msg(wrong <= known[_i / 2].wrong[later], "%s, %s: %u cases are wrong, and %u are known to be",
		      k->name, later ? "later" : "from the start", wrong, known[_i / 2].wrong[later]);
	ck_assert_msg(unnamed <= known[_i / 2].unnamed[later], "%s, %s: nobody is named in %u cases, and in %u "
		      "that is known", k->name, later ? "later" : "from the start", unnamed,
		      known[_i / 2].unnamed[later]);
}
END_TEST

/* Discovery names a device that claims a false GUID or port. */
static bool is_to_be_named(enum lie lie, unsigned implausible)
{
	return (lie == NODE_GUID || (lie == LOCAL_PORT && devices[implausible].type == DEVICE_SWITCH)) &&
	       !is_at_our_port(implausible);
}

/*
 * All others are behind the switch at the manager's port, which stays even with another switch's or host's
 * GUID; if it has the manager's GUID, nothing can be reached.
 */
static bool is_to_be_passed(enum lie lie, unsigned victim)
{
	return victim && (lie == PORT_GUID || lie == NODE_GUID ||
			  (lie == NODE_GUID_CHOSEN && devices[victim].type == DEVICE_CA));
}

static void one_implausible(const struct devices_fabric *k, enum lie lie, unsigned implausible, unsigned victim,
			    bool later)
{
	const char *when = later ? "later" : "from the start";

	begin(k, implausible * DEVICES_MAX + victim);
	if (later)
		sweep();
	devices[implausible].lie = lie;
	devices[implausible].victim = victim;
	sweep();
	ck_assert_msg(!is_to_be_passed(lie, victim) || now.f->n_switches > 1,
		      "%s, %s: nothing is left behind device %u, as %u, %s", k->name, lie_names[lie], implausible,
		      victim, when);
	if (can_be_told_apart(lie, implausible, victim, later))
		expect_right(k->name, lie, when, implausible * DEVICES_MAX + victim);
	ck_assert_msg(!is_to_be_named(lie, implausible) || is_named(implausible),
		      "%s, %s: device %u is not named, which claims to be %u, %s", k->name, lie_names[lie],
		      implausible, victim, when);
	if (lie == WHOLE)
		expect_truth(k->name, lie, when, implausible * DEVICES_MAX + victim);
	end();
}

/* promise: A64 */
START_TEST(each_device_alone)
{
	const struct devices_fabric *k = &devices_fabrics[_i / LIES];
	enum lie lie = _i % LIES;
	unsigned n;

	k->make();
	n = n_devices;
	for (unsigned implausible = 1; implausible < n; implausible++)
		for (unsigned victim = 0; victim < (has_victim(lie) ? n : 1); victim++) {
			if (has_victim(lie) && victim == implausible)
				continue;
			one_implausible(k, lie, implausible, victim, false);
			one_implausible(k, lie, implausible, victim, true);
		}
}
END_TEST

/* With these lies, each answer is a new device, so a scan can find more devices than can exist. */
static bool is_new_each_time(enum lie lie)
{
	return lie == BOTH_GUIDS_RANDOM || lie == BOTH_GUIDS_FIT;
}

/* promise: A64 */
START_TEST(two_devices_of_five)
{
	const struct devices_fabric *k = &devices_fabrics[_i / LIES];
	enum lie lie = _i % LIES;

	if (lie == WHOLE || lie == NODE_GUID_CHOSEN || is_new_each_time(lie))
		return;
	for (unsigned seed = 0; seed < 40; seed++) {
		begin(k, seed);
		if (seed % 2)
			sweep();
		for (unsigned i = 1; i < n_devices; i++)
			if (devices_random() % 5 < 2) {
				devices[i].lie = lie;
				devices[i].victim = (i + 1 + i % (n_devices - 1)) % n_devices;
			}
		sweep();
		expect_right(k->name, lie, seed % 2 ? "later" : "from the start", seed);
		sweep();
		expect_right(k->name, lie, "once more", seed);
		end();
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("identity");
	TCase *t = tcase_create("identity");

	tcase_add_loop_test(t, each_device_alone, 0, DEVICES_FABRICS * LIES);
	tcase_add_loop_test(t, a_switch_that_is_another_one, 0, 2 * DEVICES_FABRICS);
	tcase_add_loop_test(t, two_devices_of_five, 0, DEVICES_FABRICS * LIES);
	suite_add_tcase(s, t);
	return run_suite(s);
}
