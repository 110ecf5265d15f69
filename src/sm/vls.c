/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OperationalVLs of links at work, as two steps of a sweep.
 *
 * Each end of a link sends flow control for the VLs that it has (7.9.4), and counts on
 * that of the other end for the same ones.  So the two ends of an Active link change one
 * right after the other, the farther one first, and not each when its node's turn comes:
 *
 *   - VLs are added before the tables that use them are written;
 *   - VLs are taken away after all tables have stopped to use them, when what was queued
 *     on them is sent or has been dropped by the head-of-queue lifetime.
 *
 * So no data packet is ever on a VL that only one end has.  When one end keeps what it had,
 * the other one follows it: it is never left with more.  Links that are not Active get
 * theirs with the other fields of PortInfo (write.c), and so do those whose setting is to
 * wait for that.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "base/alloc.h"
#include "base/log.h"
#include "sm/internal.h"

#define DRAIN_MAX_US 1000000	/* of queues, at most, whatever the head-of-queue lifetime is */
#define TRIES 3			/* of each Set */

enum progress {
	TO_SET, SETTING,
	TO_READ, READING,	/* some devices answer with what they were told, and not what they have */
	OVER
};

struct link {
	uint32_t end[2];	/* ports, the farther one from us first */
	enum progress is[2];
	uint8_t want;		/* code */
	uint8_t tries;
	bool levelled;		/* the ends did not come to the same: they are brought there */
};

struct vls_step {
	VEC(struct link) links;
	void (*next)(struct sm *sm);
	bool lowers;
};

void vls_free(struct sm *sm)
{
	if (sm->vls)
		vec_free(&sm->vls->links);
	free(sm->vls);
	sm->vls = NULL;
	timer_stop(sm->vls_timer);
}

static uint64_t vls_digest(unsigned code)
{
	return hash64(code + 1u);
}

/* A modifier of its own among those that are remembered for PortInfo (refusals.h). */
static unsigned vls_place(unsigned num)
{
	return 0x1000 | num;
}

static bool keeps(const struct sm *sm, uint32_t port, unsigned code)
{
	const struct fabric_port *p = &sm->f->ports[port];

	return p->op_vls != code &&
	       refusals_have(store_refusals(sm->store), port_node(sm->f, port)->guid,
			     UMAD_SM_ATTR_PORT_INFO, vls_place(p->num), vls_digest(code),
			     vls_digest(p->op_vls));
}

static uint8_t lesser(const struct fabric *f, uint32_t a, uint32_t b)
{
	return f->ports[a].op_vls < f->ports[b].op_vls ? f->ports[a].op_vls : f->ports[b].op_vls;
}

/* What a link at work is to have in this step, or 0 for no change. */
static uint8_t wanted(const struct sm *sm, uint32_t port, bool lowers)
{
	const struct fabric *f = sm->f;
	uint32_t peer = f->ports[port].peer;
	uint8_t code = port_new_vls(sm->plan, port), now = lesser(f, port, peer);
	bool differ = f->ports[port].op_vls != f->ports[peer].op_vls;

	if (!code)
		return 0;
	if (code < now && !lowers)
		code = now;		/* not yet */
	if (keeps(sm, port, code) || keeps(sm, peer, code))
		code = now;		/* at least they agree */
	if (!code || (code == now && !differ))
		return 0;
	return keeps(sm, port, code) || keeps(sm, peer, code) ? 0 : code;
}

static void collect(struct sm *sm, struct vls_step *x)
{
	const struct fabric *f = sm->f;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		uint32_t peer = f->ports[i].peer;
		uint8_t code;

		if (peer == FABRIC_NONE || i > peer || f->ports[i].unsure || f->ports[peer].unsure ||
		    sm->work[f->ports[i].node].failed || sm->work[f->ports[peer].node].failed)
			continue;
		code = wanted(sm, i, x->lowers);
		if (!code)
			continue;
		bool far = port_node(f, i)->hops > port_node(f, peer)->hops;

		*vec_push(&x->links) = (struct link){
			.end = { far ? i : peer, far ? peer : i }, .want = code,
		};
	}
}

static bool ask(struct sm *sm, struct link *l, unsigned e, struct smp *s)
{
	const struct fabric_port *p = &sm->f->ports[l->end[e]];
	struct want_env sweep = sweep_env(sm), env = sm->vls->lowers ? active_env(&sweep) : sweep;
	bool set = l->is[e] == TO_SET;

	if ((set && p->op_vls == l->want) || sm->work[p->node].failed ||
	    !want_route(sm->f, p->node, p->num, s)) {
		l->is[e] = OVER;
		return false;
	}
	l->is[e]++;
	sweep_fill_smp(sm, s, set ? SMP_SET : SMP_GET, UMAD_SM_ATTR_PORT_INFO,
		       port_info_modifier(sm->f, p->node, p->num));
	if (set) {
		want_port_info(&env, l->end[e], IB_PORT_NOP, s->data);
		mad_set_field(s->data, 0, IB_PORT_OPER_VLS_F, l->want);
		mad_set_field(s->data, 0, IB_PORT_CLIENT_REREG_F, 0);
	}
	return true;
}

/* Both Sets, and then what came of them. */
static bool next(void *arg, uint32_t i, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct link *l = &sm->vls->links.v[i];

	for (enum progress step = TO_SET; step <= TO_READ; step += TO_READ - TO_SET)
		for (unsigned e = 0; e < 2; e++) {
			*cookie = e;
			if (l->is[e] == step && ask(sm, l, e, s))
				return true;
		}
	return false;
}

static void remember_kept(struct sm *sm, uint32_t port, unsigned want)
{
	const struct fabric_port *p = &sm->f->ports[port];
	char name[FABRIC_NAME_MAX];

	log_warn("sweep", "%s: keeps OperationalVLs %u, and not %u",
		 fabric_port_name(sm->f, port, name, sizeof(name)), ib_vls_from_code(p->op_vls),
		 ib_vls_from_code(want));
	store_refused(sm->store, port_node(sm->f, port)->guid, UMAD_SM_ATTR_PORT_INFO,
		      vls_place(p->num), vls_digest(want), vls_digest(p->op_vls));
}

/* Both ends have answered, and are not alike: the one that has more follows the other. */
static void level(const struct sm *sm, struct link *l)
{
	uint8_t least = lesser(sm->f, l->end[0], l->end[1]);

	if (l->levelled || !least || sm->f->ports[l->end[0]].op_vls == sm->f->ports[l->end[1]].op_vls)
		return;
	l->levelled = true;
	l->want = least;
	l->is[0] = l->is[1] = TO_SET;
}

static void done(void *arg, uint32_t i, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct link *l = &sm->vls->links.v[i];
	enum progress *is = &l->is[cookie];
	uint32_t port = l->end[cookie], node = sm->f->ports[port].node;

	/* the same once more does no harm */
	if (status < 0 && sweep_smp_lost(sm, node, "changing OperationalVLs") && ++l->tries < TRIES) {
		--*is;
		return;
	}
	if (status < 0) {
		sweep_port_unsure(sm, port);
		sm->work[node].doubtful = true;
		*is = OVER;
	} else if (*is == SETTING) {
		sm->work[node].silent = 0;
		*is = TO_READ;
	} else {
		sm->work[node].silent = 0;
		*is = OVER;
		if (!status)
			sweep_store_port(sm, port, s->data);
		if (!status && sm->f->ports[port].op_vls != l->want)
			remember_kept(sm, port, l->want);
	}
	if (l->is[0] == OVER && l->is[1] == OVER)
		level(sm, l);
}

static void finished(void *arg)
{
	struct sm *sm = arg;
	void (*go_on)(struct sm *sm) = sm->vls->next;

	sm->job = NULL;
	vls_free(sm);
	go_on(sm);
}

static const struct smp_job_ops vls_ops = { next, done, finished };

static void start(void *arg)
{
	struct sm *sm = arg;

	sm->job = smp_job_start(sm->mad, (uint32_t)sm->vls->links.n, &vls_ops, sm);
}

static void begin(struct sm *sm, bool lowers, void (*go_on)(struct sm *sm))
{
	struct vls_step *x = xcalloc(1, sizeof(*x));

	x->lowers = lowers;
	x->next = go_on;
	sm->vls = x;
	collect(sm, x);
	if (!x->links.n) {
		vls_free(sm);
		go_on(sm);
	}
}

void vls_add(struct sm *sm, void (*go_on)(struct sm *sm))
{
	begin(sm, false, go_on);
	if (sm->vls)
		start(sm);
}

/* HOQLife as a time (14.2.5.6): from 20 on it is without end. */
static int64_t drain_us(const struct settings *s)
{
	unsigned exponent = s->hoq_lifetime > s->hoq_lifetime_end ? s->hoq_lifetime :
								    s->hoq_lifetime_end;
	double us = exponent < 20 ? 4.096 * (double)(1u << exponent) : DRAIN_MAX_US;

	return us < DRAIN_MAX_US ? (int64_t)us : DRAIN_MAX_US;
}

void vls_take_away(struct sm *sm, void (*go_on)(struct sm *sm))
{
	/* routes are not kept waiting: a link with more VLs than it needs works */
	if (sm->kind == SWEEP_LOCAL) {
		go_on(sm);
		return;
	}
	begin(sm, true, go_on);
	if (sm->vls)
		timer_set(sm->vls_timer, drain_us(sm->settings), 0);
}

void vls_new(struct sm *sm)
{
	sm->vls_timer = timer_new(sm->loop, start, sm);
}
