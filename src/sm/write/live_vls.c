/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes OperationalVLs and NeighborMTU of links at work, in two steps of a sweep.
 *
 * Each end of a link sends flow control for its VLs (7.9.4) and relies on that of the other end for
 * the same VLs.  It sends packets up to its NeighborMTU and drops longer ones that arrive.  So the
 * two ends of an Active link change in immediate succession, the farther one first, and not when
 * each node has its turn:
 *
 *   - VLs are added, and NeighborMTU is changed, before the tables are written; clients are told of a
 *     greater MTU only when the sweep publishes, so nobody uses it before;
 *   - VLs are taken away after all tables have stopped using them, once packets queued on them are
 *     sent or have been dropped by the head-of-queue lifetime.
 *
 * So no data packet is ever on a VL that only one end has, or longer than one end takes.  When one
 * end keeps its old value, the other end follows it.  Links that are not Active get theirs with the
 * other fields of PortInfo (write.c), and so do links whose OperationalVLs are set to wait for
 * that.
 *
 * The answer to a Set reports what the port has.  Some devices answer with what they were told
 * instead, so one port of each device is read back; if it differs from its answer, all other ports
 * of the device that were set are read back, too.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/iba/units.h"
#include "sm/sm_internal.h"
#include "sm/write/write.h"

#define DRAIN_MAX_US 1000000 /* limit on waiting for queues to drain, whatever the head-of-queue lifetime */
#define TRIES 3			/* tries of each Set */

enum progress {
	TO_SET, SETTING,
	TO_READ, READING,
	OVER
};

enum field { VLS, MTU, N_FIELDS };

/* place: base of the field's modifiers under which refusals of PortInfo are remembered (refused_sets.h). */
static const struct {
	enum MAD_FIELDS mad;
	unsigned place;
} fields[N_FIELDS] = {
	[VLS] = { IB_PORT_OPER_VLS_F, 0x1000 },
	[MTU] = { IB_PORT_NEIGHBOR_MTU_F, 0x2000 },
};

struct link {
	uint32_t end[2];	/* ports, the farther one from us first */
	enum progress is[2];
	bool answered[2];	/* a Set was answered with the planned values, not read back yet */
	uint8_t want[N_FIELDS];	/* planned codes; 0: no change */
	uint8_t tries;
	bool levelled;		/* the ends differed and were set to agree */
};

struct vls_step {
	VEC(struct link) links;
	struct map64 sampled;	/* nodes with a port to read back; value 1: a port was not as answered */
	bool lowers;
	struct timer *drained;	/* fires when packets on the VLs that go are sent */
};

void vls_free(struct sm *sm)
{
	if (sm->sweep.vls) {
		vec_free(&sm->sweep.vls->links);
		map64_free(&sm->sweep.vls->sampled);
		timer_free(sm->sweep.vls->drained);
	}
	free(sm->sweep.vls);
	sm->sweep.vls = NULL;
}

static uint8_t value_of(const struct fabric_port *p, enum field k)
{
	return k == VLS ? p->op_vls : p->neighbor_mtu;
}

static uint64_t digest(unsigned code)
{
	return hash64(code + 1u);
}

bool vls_fixed_digest(uint32_t mod, const uint8_t info[64], uint64_t *out)
{
	struct fabric_port p = { 0 };

	fabric_port_store(&p, info);	/* undefined codes become what remember_kept() stores for them */
	for (enum field k = 0; k < N_FIELDS; k++)
		if ((mod & ~0xffu) == fields[k].place) {
			*out = digest(value_of(&p, k));
			return true;
		}
	return false;
}

static bool keeps(const struct sm *sm, uint32_t port, enum field k, unsigned code)
{
	const struct fabric_port *p = &sm->sweep.f->ports[port];

	return value_of(p, k) != code &&
	       refusals_have(store_refusals(sm->store), port_node(sm->sweep.f, port)->guid,
			     UMAD_SM_ATTR_PORT_INFO, fields[k].place | p->num, digest(code),
			     digest(value_of(p, k)));
}

static uint8_t lesser(const struct fabric *f, enum field k, uint32_t a, uint32_t b)
{
	uint8_t x = value_of(&f->ports[a], k), y = value_of(&f->ports[b], k);

	return x < y ? x : y;
}

/* The planned code for a link at work in this step; 0: no change. */
static uint8_t wanted(const struct sm *sm, uint32_t port, enum field k, bool lowers)
{
	const struct fabric *f = sm->sweep.f;
	uint32_t peer = f->ports[port].peer;
	uint8_t code = k == VLS ? port_new_vls(sm->sweep.plan, port) :
		port_new_mtu(sm->sweep.plan, port);
	uint8_t now = lesser(f, k, port, peer);
	bool differ = value_of(&f->ports[port], k) != value_of(&f->ports[peer], k);

	if (!code)
		return 0;
	if (k == VLS && code < now && !lowers)
		code = now;		/* not yet: VLs are taken away in the second step */
	if (keeps(sm, port, k, code) || keeps(sm, peer, k, code))
		code = now;		/* at least the ends will agree */
	if (!code || (code == now && !differ))
		return 0;
	return keeps(sm, port, k, code) || keeps(sm, peer, k, code) ? 0 : code;
}

static void collect(struct sm *sm, struct vls_step *x)
{
	const struct fabric *f = sm->sweep.f;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		uint32_t peer = f->ports[i].peer;
		uint8_t vls, mtu;

		fabric_fetch_peer(f, i);
		if (peer == FABRIC_NONE || i > peer || f->ports[i].unsure || f->ports[peer].unsure)
			continue;
		vls = wanted(sm, i, VLS, x->lowers);
		mtu = wanted(sm, i, MTU, x->lowers);
		if ((!vls && !mtu) || sm->sweep.work[f->ports[i].node].failed ||
		    sm->sweep.work[f->ports[peer].node].failed)
			continue;
		bool far = port_node(f, i)->hops > port_node(f, peer)->hops;

		*vec_push(&x->links) = (struct link){
			.end = { far ? i : peer, far ? peer : i }, .want = { vls, mtu },
		};
	}
}

static bool is_as_wanted(const struct fabric_port *p, const struct link *l)
{
	return (!l->want[VLS] || p->op_vls == l->want[VLS]) &&
	       (!l->want[MTU] || p->neighbor_mtu == l->want[MTU]);
}

static bool ask(struct sm *sm, struct link *l, unsigned e, struct smp *s)
{
	const struct fabric_port *p = &sm->sweep.f->ports[l->end[e]];
	struct want_env sweep = sweep_env(sm), env = sm->sweep.vls->lowers ? active_env(&sweep) :
		sweep;
	bool set = l->is[e] == TO_SET;

	if ((set && is_as_wanted(p, l)) || sm->sweep.work[p->node].failed ||
	    !want_route(sm->sweep.f, p->node, p->num, s)) {
		l->is[e] = OVER;
		return false;
	}
	l->is[e]++;
	if (!set) {
		sweep_fill_smp(sm, s, SMP_GET, UMAD_SM_ATTR_PORT_INFO,
			       port_info_modifier(sm->sweep.f, p->node, p->num));
		return true;
	}
	sweep_fill_set(sm, p->node, s, UMAD_SM_ATTR_PORT_INFO,
		       port_info_modifier(sm->sweep.f, p->node, p->num));
	want_port_info(&env, l->end[e], IB_PORT_NOP, s->data);
	for (enum field k = 0; k < N_FIELDS; k++)
		if (l->want[k])
			mad_set_field(s->data, 0, fields[k].mad, l->want[k]);
	mad_set_field(s->data, 0, IB_PORT_CLIENT_REREG_F, 0);
	return true;
}

/* Sends both Sets first, then reads back as needed. */
static bool next(void *arg, uint32_t i, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct link *l = &sm->sweep.vls->links.v[i];

	for (enum progress step = TO_SET; step <= TO_READ; step += TO_READ - TO_SET)
		for (unsigned e = 0; e < 2; e++) {
			*cookie = e;
			if (l->is[e] == step && ask(sm, l, e, s))
				return true;
		}
	return false;
}

static void remember_kept(struct sm *sm, uint32_t port, enum field k, unsigned want)
{
	const struct fabric_port *p = &sm->sweep.f->ports[port];
	const char *name = PORT_NAME(sm->sweep.f, port);

	if (k == VLS)
		log_warn("sweep", "%s: keeps OperationalVLs %u instead of %u", name,
			 ib_vls_from_code(p->op_vls), ib_vls_from_code(want));
	else
		log_warn("sweep", "%s: keeps NeighborMTU %u instead of %u", name,
			 mtu_bytes(p->neighbor_mtu), mtu_bytes(want));
	store_refused(sm->store, port_node(sm->sweep.f, port)->guid, UMAD_SM_ATTR_PORT_INFO,
		      fields[k].place | p->num, digest(want), digest(value_of(p, k)));
}

/*
 * The code for both ends when they differ: the lesser, or, if one end keeps VLs that should be
 * taken away, the greater, as no table uses those VLs any more.
 */
static uint8_t common(const struct sm *sm, const struct link *l, enum field k)
{
	uint8_t a = value_of(&sm->sweep.f->ports[l->end[0]], k);
	uint8_t b = value_of(&sm->sweep.f->ports[l->end[1]], k);

	if (k == VLS && sm->sweep.vls->lowers && (a == l->want[k] || b == l->want[k]))
		return a > b ? a : b;
	return a < b ? a : b;
}

/* Both ends have answered and differ: the end that took the change follows the other. */
static void level(const struct sm *sm, struct link *l)
{
	bool differ = false;

	if (l->levelled || l->is[0] != OVER || l->is[1] != OVER)
		return;
	for (enum field k = 0; k < N_FIELDS; k++) {
		uint8_t code = common(sm, l, k);

		if (!l->want[k] || !code || value_of(&sm->sweep.f->ports[l->end[0]], k) ==
					    value_of(&sm->sweep.f->ports[l->end[1]], k))
			continue;
		differ = true;
		l->want[k] = code;
	}
	if (!differ)
		return;
	l->levelled = true;
	l->is[0] = l->is[1] = TO_SET;
}

/* Whether to read back a port: one port of each device, and all of a device that answered falsely. */
static bool is_to_read(struct sm *sm, uint32_t node)
{
	uint32_t is = map64_get(&sm->sweep.vls->sampled, node);

	if (is == MAP64_NONE)
		map64_put(&sm->sweep.vls->sampled, node, 0);
	return is != 0;
}

/* Stores only the fields that this step changes; the rest stands as answered. */
static void store_fields(struct sm *sm, uint32_t port, const struct smp *s)
{
	uint8_t info[64];

	memcpy(info, sm->sweep.f->ports[port].info, sizeof(info));
	for (enum field k = 0; k < N_FIELDS; k++)
		mad_set_field(info, 0, fields[k].mad,
			      mad_get_field((void *)(uintptr_t)s->data, 0, fields[k].mad));
	sweep_store_port(sm, port, info);
}

/*
 * The Set carried all our fields.  If the port keeps another value in some field, remembers that
 * with its present values, so that the next sweep does not try again.
 */
static void remember_others(struct sm *sm, uint32_t port)
{
	const struct fabric_port *p = &sm->sweep.f->ports[port];
	struct want_env env = sweep_env(sm);
	uint8_t data[64];

	memcpy(data, p->info, sizeof(data));
	want_port_fields(&env, port, data);
	if (port_info_differs(&env, store_refusals(sm->store), port, p->info))
		store_refused(sm->store, port_node(sm->sweep.f, port)->guid, UMAD_SM_ATTR_PORT_INFO,
			      p->num, port_info_digest(&env, port, data),
			      port_info_digest(&env, port, p->info));
}

static void answered(struct sm *sm, struct link *l, unsigned e, const struct smp *s, int status)
{
	uint32_t port = l->end[e], node = sm->sweep.f->ports[port].node;
	const struct fabric_port *p = &sm->sweep.f->ports[port];
	bool was_set = l->is[e] == SETTING;

	if (status) {	/* the result of a refused Set must be read */
		l->answered[e] = false;
		l->is[e] = was_set ? TO_READ : OVER;
		return;
	}
	if (was_set)
		sweep_store_port(sm, port, s->data);
	else
		store_fields(sm, port, s);
	remember_others(sm, port);
	if (!was_set && l->answered[e] && !is_as_wanted(p, l))
		map64_put(&sm->sweep.vls->sampled, node, 1);
	l->answered[e] = was_set && is_as_wanted(p, l);
	l->is[e] = l->answered[e] && is_to_read(sm, node) ? TO_READ : OVER;
	for (enum field k = 0; l->is[e] == OVER && k < N_FIELDS; k++)
		if (l->want[k] && value_of(p, k) != l->want[k])
			remember_kept(sm, port, k, l->want[k]);
}

static void done(void *arg, uint32_t i, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct link *l = &sm->sweep.vls->links.v[i];
	enum progress *is = &l->is[cookie];
	uint32_t port = l->end[cookie], node = sm->sweep.f->ports[port].node;

	/* repeating it does no harm */
	if (status < 0 && sweep_smp_lost(sm, node, "changing a link") && ++l->tries < TRIES) {
		--*is;
		return;
	}
	if (status < 0) {
		sweep_port_unsure(sm, port);
		sm->sweep.work[node].doubtful = true;
		*is = OVER;
	} else {
		sweep_heard(sm, node);
		answered(sm, l, (unsigned)cookie, s, status);
	}
	level(sm, l);
}

static void start(void *arg);

/* Queues ports to be read back of devices that turned out to echo Sets; false: there are none. */
static bool reads_more(struct sm *sm)
{
	struct vls_step *x = sm->sweep.vls;
	bool more = false;

	for (size_t i = 0; i < x->links.n; i++)
		for (unsigned e = 0; e < 2; e++) {
			struct link *l = &x->links.v[i];

			if (!l->answered[e] ||
			    map64_get(&x->sampled, sm->sweep.f->ports[l->end[e]].node) != 1)
				continue;
			l->is[e] = TO_READ;
			more = true;
		}
	return more;
}

static void finished(void *arg)
{
	struct sm *sm = arg;

	if (reads_more(sm)) {
		start(sm);
		return;
	}
	vls_free(sm);
	sweep_job_over(sm);
}

static const struct smp_job_ops vls_ops = { next, done, finished };

static void start(void *arg)
{
	struct sm *sm = arg;

	sm->sweep.job = smp_job_start(sm->mad, (uint32_t)sm->sweep.vls->links.n, &vls_ops, sm);
}

/* False: nothing must be changed. */
static bool begin(struct sm *sm, bool lowers)
{
	struct vls_step *x = xcalloc(1, sizeof(*x));

	x->lowers = lowers;
	map64_init(&x->sampled, 64);
	sm->sweep.vls = x;
	collect(sm, x);
	if (!x->links.n)
		vls_free(sm);
	return sm->sweep.vls;
}

enum step_result vls_add(struct sm *sm)
{
	if (!begin(sm, false))
		return RESULT_DONE;
	start(sm);
	return RESULT_WAIT;
}

/* HOQLife as a time (14.2.5.6); from 20 on it is infinite. */
static int64_t drain_us(const struct settings *s)
{
	unsigned exponent = s->hoq_lifetime > s->hoq_lifetime_end ? s->hoq_lifetime :
								    s->hoq_lifetime_end;
	double us = exponent < 20 ? 4.096 * (double)(1u << exponent) : DRAIN_MAX_US;

	return us < DRAIN_MAX_US ? (int64_t)us : DRAIN_MAX_US;
}

/* Not a step of a repair: routes should not wait, and a link with more VLs than it needs works. */
enum step_result vls_take_away(struct sm *sm)
{
	if (!begin(sm, true))
		return RESULT_DONE;
	sm->sweep.vls->drained = timer_new(sm->loop, start, sm);
	timer_set(sm->sweep.vls->drained, drain_us(sm->sweep.plan->settings), 0);
	return RESULT_WAIT;
}
