/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells ports at work about the plan when it is published, as the last step of a sweep.
 *
 * Linux asks the SA within a millisecond when its port gets a P_Key or another MasterSMLID, or is
 * asked to have its clients register again, and it takes a refusal as final.  So three things reach
 * an Active port only after the SA answers by the new plan: P_Key tables, our LID as MasterSMLID,
 * and ClientReregister (14.4.11).  Ports that are not Active cannot ask, and have all of it when
 * they become Active.
 *
 * A published fabric does not change.  So the published fabric already shows what these ports are
 * about to hold.  A port that does not answer makes the sweep incomplete, and the next discovery
 * reads it.  If a port keeps other values, the refusals remember that, and its answer replaces the
 * published PortInfo in the copy with which the next sweep begins.
 *
 * Invariant: from announce_prepare() to announce_free(), sm->sweep.announce holds a reference to
 * the published state, so that the fabric stays while a job of this step runs, whoever unpublishes.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "sm/election/election.h"
#include "sm/sm_internal.h"
#include "sm/sweep/announce.h"
#include "sm/write/refused_sets.h"
#include "sm/write/write.h"

#define COOKIE_PORT	(1ull << 32)	/* marks an index into ports; without it the cookie is an item */
#define TRIES		2		/* tries of a Set that is answered with an error */

/* A port that must be told. */
struct told {
	uint32_t port;
	bool reregister;
	bool sent;		/* sent, and need not be sent again */
	uint8_t errors;
};

struct announce {
	struct subnet_state *state;	/* NULL before publishing */
	VEC(struct told) ports;		/* in order of ports, hence of nodes */
	uint32_t *first;		/* per node, plus one: index of its first port in ports */
};

void announce_free(struct sm *sm)
{
	struct announce *a = sm->sweep.announce;

	if (!a)
		return;
	state_unref(a->state);
	vec_free(&a->ports);
	free(a->first);
	free(a);
	sm->sweep.announce = NULL;
}

bool announce_has_begun(const struct sm *sm)
{
	return sm->sweep.announce && sm->sweep.announce->state;
}

/* The end port had a LID from us before this sweep, and carries traffic. */
static bool is_at_work(const struct sm *sm, uint32_t port)
{
	const struct fabric_port *p = &sm->sweep.f->ports[port];

	return port_is_end(sm->sweep.f, port) &&
	       (p->num ? p->state == IB_PORT_ACTIVE_S : !sm->sweep.work[p->node].port0_is_new);
}

bool announce_takes(struct sm *sm, uint32_t node, item_t item)
{
	struct node_work *w = &sm->sweep.work[node];

	if (ITEM_KIND(item) != ITEM_PKEY || item & ITEM_LOOK ||
	    !is_at_work(sm, sm->sweep.f->nodes[node].port0 + ITEM_A(item)))
		return false;
	*vec_push(&w->late) = item;
	return true;
}

void announce_prepare(struct sm *sm)
{
	struct announce *a = sm->sweep.announce = xcalloc(1, sizeof(*a));
	struct want_env env = sweep_env(sm);
	struct announced x;

	a->first = xcalloc(sm->sweep.f->n_nodes + 1u, sizeof(*a->first));
	for (uint32_t node = 0; node < sm->sweep.f->n_nodes; node++) {
		const struct fabric_node *n = &sm->sweep.f->nodes[node];

		/* of a switch, port 0 is the only end port, and others need not know (port_awaits_publishing()) */
		for (unsigned num = 0; num <= (node_is_switch(n) ? 0 : n->nports); num++) {
			uint32_t port = n->port0 + num;

			if (sm->sweep.work[node].failed ||
			    !port_is_announced(&env, store_refusals(sm->store), port, &x))
				continue;
			if (x.changes)
				sweep_store_port(sm, port, x.info);
			*vec_push(&a->ports) = (struct told){ .port = port,
							      .reregister = x.reregister };
		}
		a->first[node + 1] = (uint32_t)a->ports.n;
	}
}

/* --- the Sets --- */

static void fill_port(const struct sm *sm, const struct told *t, struct smp *s)
{
	const struct fabric_port *p = &sm->sweep.f->ports[t->port];
	struct want_env env = sweep_env(sm);

	env.as_found = true;	/* the fabric already shows what the port is about to hold */
	sweep_fill_set(sm, p->node, s, UMAD_SM_ATTR_PORT_INFO,
		       port_info_modifier(sm->sweep.f, p->node, p->num));
	s->once |= sm->sweep.work[p->node].sets_lost;
	want_port_info(&env, t->port, IB_PORT_NOP, s->data);
	mad_set_field(s->data, 0, IB_PORT_CLIENT_REREG_F, t->reregister);
}

static bool next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct announce *a = sm->sweep.announce;
	struct node_work *w = &sm->sweep.work[node];

	if (w->failed || takeover_is_hopeless(sm))
		return false;
	while (w->cursor < w->late.n) {
		*cookie = w->late.v[w->cursor++];
		if (write_item(sm, node, (item_t)*cookie, s))
			return true;
	}
	for (uint32_t i = a->first[node]; i < a->first[node + 1]; i++) {
		struct told *t = &a->ports.v[i];

		if (t->sent || !want_route(sm->sweep.f, node, sm->sweep.f->ports[t->port].num, s))
			continue;
		t->sent = true;
		fill_port(sm, t, s);
		*cookie = COOKIE_PORT | i;
		return true;
	}
	return false;
}

static void note_asked(struct sm *sm, const struct told *t)
{
	if (t->reregister && sm->clients.reregister)
		map64_put(&sm->clients.asked, sm->sweep.f->ports[t->port].guid, 1);
}

static void port_refused(struct sm *sm, const struct told *t, uint64_t want, unsigned status)
{
	const struct fabric_port *p = &sm->sweep.f->ports[t->port];

	refused_note(sm, p->node, UMAD_SM_ATTR_PORT_INFO, p->num, want, status);
	if (refusals_know_status(store_refusals(sm->store), port_node(sm->sweep.f, t->port)->guid,
				 UMAD_SM_ATTR_PORT_INFO, p->num, want))
		note_asked(sm, t);
}

static void note_answer(struct sm *sm, uint32_t port, const uint8_t info[64])
{
	struct port_answer *x = vec_push(&sm->answers);

	x->port = port;
	memcpy(x->info, info, sizeof(x->info));
}

void announce_correct(const struct sm *sm, struct fabric *f)
{
	for (size_t i = 0; i < sm->answers.n; i++)
		fabric_port_store(&f->ports[sm->answers.v[i].port], sm->answers.v[i].info);
}

/*
 * Digest of the port's fields if it took all planned values, including those that it did not take
 * earlier in this sweep.
 */
static uint64_t all_wanted(const struct sm *sm, const struct told *t)
{
	struct want_env env = sweep_env(sm);
	uint8_t info[64];

	memcpy(info, sm->sweep.f->ports[t->port].info, sizeof(info));
	want_port_fields(&env, t->port, info);
	return port_info_digest(&env, t->port, info);
}

static void port_done(struct sm *sm, struct told *t, const struct smp *s, int status)
{
	const struct fabric_port *p = &sm->sweep.f->ports[t->port];
	uint64_t guid = port_node(sm->sweep.f, t->port)->guid;
	struct want_env env = sweep_env(sm);
	uint64_t want = all_wanted(sm, t), got;

	/* an error need not be for good: the device may be busy */
	if (status && ++t->errors < TRIES) {
		t->sent = false;
		return;
	}
	if (status) {
		port_refused(sm, t, port_info_digest(&env, t->port, p->info), (unsigned)status);
		return;
	}
	note_asked(sm, t);	/* the answer does not count: some devices never show the bit */
	got = port_info_digest(&env, t->port, s->data);
	if (got != port_info_digest(&env, t->port, p->info))
		note_answer(sm, t->port, s->data);
	if (want == got)
		refused_taken(sm, guid, UMAD_SM_ATTR_PORT_INFO, p->num);
	else if (!refusals_know_status(store_refusals(sm->store), guid, UMAD_SM_ATTR_PORT_INFO, p->num,
				       want))
		store_refused(sm->store, guid, UMAD_SM_ATTR_PORT_INFO, p->num, want, got);
}

static void done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];
	struct told *t = cookie & COOKIE_PORT ? &sm->sweep.announce->ports.v[(uint32_t)cookie] :
		NULL;

	if (status < 0) {
		if (!sweep_set_lost(sm, node, "announcing the new plan"))
			return;
		if (t)
			t->sent = false;
		else
			*vec_push(&w->late) = (item_t)cookie;
		return;
	}
	w->silent = w->sets_lost = 0;
	if (t)
		port_done(sm, t, s, status);
	else
		write_item_done(sm, node, (item_t)cookie, s, status);
}

enum step_result announce_start(struct sm *sm)
{
	static const struct smp_job_ops ops = { next, done, sweep_job_over };
	bool any = sm->sweep.announce->ports.n;

	sm->sweep.announce->state = state_ref(sm->published);
	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++)
		any |= sm->sweep.work[i].late.n;
	if (!any)
		return RESULT_DONE;
	sm->sweep.job = smp_job_start(sm->mad, sm->sweep.f->n_nodes, &ops, sm);
	return RESULT_WAIT;
}
