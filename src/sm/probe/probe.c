/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probes the neighbourhood of suspects to find what changed: the first step of a local sweep,
 * instead of a discovery.
 *
 * A node becomes a suspect when a trap or its SwitchInfo reports a change.  The probe reads all
 * ports of a suspected switch.  It cuts links that are down.  Behind a link that is up and leads to
 * no known node it asks for NodeInfo; it reads a new node with all of its ports, and so on.
 *
 * The probe goes in rounds, each of which ends before the next begins: nearest switches first,
 * since a route to a farther one may cross what a nearer one is about to report, and end nodes
 * last. After each round directed routes are made anew.  A switch that lost a link and has reported
 * nothing itself may be gone: routes avoid it, and all nodes linked to it are asked for the port of
 * that link.
 *
 * A node is gone when no link leads to it any more, each of them reported down by the port at its
 * near end; silence never means that a node is gone.
 *
 * PortStateChange is cleared before the ports are read (14.2.5.4), so that a later change is not
 * lost.  Where it cannot be cleared, as at a switch with an unknown M_Key, the ports are read
 * nevertheless.
 *
 * probe_spare.c decides which ports need not be read, probe_answer.c evaluates answers, and
 * probe_wait.c decides how long a round waits; this file has the questions of each round, the
 * beginning and the end.
 *
 * Work that grows with the fabric is done in a worker: copying the published fabric for the probe
 * to change, and settling the copy at the end.
 *
 * The result is a finished fabric and the marks of its changed nodes (sm->sweep.touched).  If
 * answers contradict each other, everything is discovered instead.
 *
 * The device behind a port is asked with each of our M_Keys in turn.  So are, by the same code,
 * devices that were silent in a discovery (probe_hidden()), which asks with one key only.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/search.h"
#include "sm/devices/implausible.h"
#include "sm/devices/silent.h"
#include "sm/keys/mkey.h"
#include "sm/probe/probe.h"
#include "sm/probe/probe_steps.h"
#include "sm/sweep/announce.h"

static struct log_ratelimit silent_log = LOG_RATELIMIT;

#define ROUNDS_MAX	1000

/* --- questions --- */

static uint64_t key_of(uint32_t node, unsigned num, enum ask_kind kind)
{
	return (uint64_t)node << 16 | num << 8 | kind;
}

void probe_ask(struct probe *p, uint32_t node, unsigned num, enum ask_kind kind)
{
	if (map64_put(&p->asked, key_of(node, num, kind), 1) == 1)
		return;
	*vec_push(&p->later) = (struct ask){ .node = node, .num = (uint8_t)num,
					     .kind = (uint8_t)kind };
}

bool probe_was_asked(const struct probe *p, uint32_t node, unsigned num, enum ask_kind kind)
{
	return map64_get(&p->asked, key_of(node, num, kind)) == 1;
}

void probe_unask(struct probe *p, const struct ask *a)
{
	map64_put(&p->asked, key_of(a->node, a->num, a->kind), 0);
}

void probe_ask_last(struct probe *p, const struct ask *a)
{
	struct ask *last = vec_push(&p->moved);

	*last = *a;
	last->tries = 0;
}

void probe_mark(struct probe *p, uint32_t node)
{
	p->touched.v[node] = 1;
	p->spare.v[node] &= (uint8_t)~SPARE_CUT;
	p->changed = true;
}

void probe_doubt(struct probe *p, const char *why)
{
	p->doubt = true;
	p->why = why;
}

void probe_add_flags(struct probe *p)
{
	*vec_push(&p->touched) = 0;
	*vec_push(&p->heard) = 0;
	*vec_push(&p->avoided) = 0;
	*vec_push(&p->silent) = 0;
	*vec_push(&p->complained) = 0;
	*vec_push(&p->spare) = 0;
}

unsigned probe_key_behind(const struct probe *p, const struct ask *a)
{
	unsigned n = mkey_count(p->sm), near = 0;

	while (near < n && mkey_nth(p->sm, near) != port_m_key(p->f, a->node, 0))
		near++;
	return (near + a->key) % n;
}

void probe_ask_ports(struct probe *p, uint32_t node)
{
	const struct fabric_node *n = &p->f->nodes[node];

	for (unsigned num = node_is_switch(n) ? 0 : 1; num <= n->nports; num++)
		if (node_is_switch(n) || num == n->local_port || p->f->ports[n->port0 + num].present)
			probe_ask(p, node, num, ASK_PORT);
}

void probe_ask_node(struct probe *p, uint32_t node, bool renamed)
{
	const struct fabric_node *n = &p->f->nodes[node];

	if (node_is_switch(n))
		probe_ask(p, node, 0, ASK_SWITCH);	/* its ports are asked for when it answers */
	else
		probe_ask_ports(p, node);
	if (renamed)
		probe_ask(p, node, 0, ASK_DESC);
}

/* --- rounds --- */

/* Until a port's PortInfo is known, uses the key that it has answered to. */
static void choose_key(const struct probe *p, const struct ask *a, struct smp *s)
{
	unsigned num = a->kind == ASK_PORT ? a->num : 0;
	uint32_t place = map64_get(&p->key_of_port, agent_port(p->f, a->node, num));

	if (place != MAP64_NONE && !port_m_key(p->f, a->node, num))
		s->m_key = mkey_nth(p->sm, place);
}

/*
 * The question is to a switch that is no suspect, for the sake of another switch, which would wait
 * for the answer.
 */
static bool is_aside(const struct probe *p, const struct ask *a)
{
	return node_is_switch(&p->f->nodes[a->node]) && !p->heard.v[a->node] &&
	       (a->kind == ASK_OTHER_END || a->kind == ASK_PORT);
}

static bool next(void *arg, uint32_t device, struct smp *s, uint64_t *cookie)
{
	struct probe *p = arg;
	struct batch *b = &p->batches.v[device];

	/*
	 * asking a silent node port by port would take half a minute; the next round may know
	 * another route
	 */
	while (b->cursor < b->n && !b->silent) {
		uint32_t i = b->first + b->cursor++;
		struct ask *a = &p->asks.v[i];
		const struct fabric_node *n = &p->f->nodes[a->node];

		*cookie = i;
		if (!want_route(p->f, a->node, a->kind == ASK_PORT ? a->num : 0, s))
			continue;
		switch ((enum ask_kind)a->kind) {
		case ASK_SWITCH:
		case ASK_OTHER_END:
			sweep_fill_smp(p->sm, s, SMP_GET, UMAD_SM_ATTR_SWITCH_INFO, 0);
			break;
		case ASK_CLEAR:
			sweep_fill_smp(p->sm, s, SMP_SET, UMAD_SM_ATTR_SWITCH_INFO, 0);
			memcpy(s->data, p->f->switches[n->sw].info, sizeof(p->f->switches[n->sw].info));
			mad_set_field(s->data, 0, IB_SW_STATE_CHANGE_F, 1);
			break;
		case ASK_DESC:
			sweep_fill_smp(p->sm, s, SMP_GET, UMAD_SM_ATTR_NODE_DESC, 0);
			break;
		case ASK_PORT:
			sweep_fill_smp(p->sm, s, SMP_GET, UMAD_SM_ATTR_PORT_INFO,
				       port_info_modifier(p->f, a->node, a->num));
			a->plain = s->mod == a->num;
			break;
		case ASK_BEHIND:
			sweep_fill_smp(p->sm, s, SMP_GET, UMAD_SM_ATTR_NODE_INFO, 0);
			if (s->hops >= IB_DR_HOPS_MAX)
				continue;
			s->last_hop = a->num;
			s->m_key = mkey_nth(p->sm, probe_key_behind(p, a));
			break;
		}
		if (a->kind != ASK_BEHIND)
			choose_key(p, a, s);
		/* a switch that may be gone is not awaited: it is asked again in a later round */
		s->once = p->avoided.v[a->node] || a->kind == ASK_BEHIND || is_aside(p, a);
		a->sent = true;
		return true;
	}
	return false;
}

static void done(void *arg, uint32_t device, const struct smp *s, uint64_t cookie, int status)
{
	struct probe *p = arg;
	struct ask *a = &p->asks.v[cookie];

	a->done = true;
	a->lost = status < 0;
	if (a->lost && a->kind != ASK_BEHIND)
		p->batches.v[device].silent = true;
	a->status = status < 0 ? 0 : (uint16_t)status;
	memcpy(a->data, s->data, sizeof(a->data));
}

static int by_node(const void *va, const void *vb)
{
	const struct ask *a = va, *b = vb;

	return ORDER(a->node, b->node) ?: ORDER(a->kind, b->kind) ?: ORDER(a->num, b->num);
}

static void finished(void *arg);
static const struct smp_job_ops probe_ops = { next, done, finished };

/*
 * Chooses the questions of this round: those to the nearest switches, and to end nodes last; the
 * others wait.
 */
static void choose(struct probe *p)
{
	unsigned least = UINT_MAX;
	size_t kept = 0;

	/* drops questions to nodes that are out of reach or silent */
	for (size_t i = 0; i < p->later.n; i++)
		if (p->f->nodes[p->later.v[i].node].hops != FABRIC_UNREACHED &&
		    !p->f->nodes[p->later.v[i].node].silent)
			p->later.v[kept++] = p->later.v[i];
	p->later.n = kept;
	kept = 0;
	for (size_t i = 0; i < p->later.n; i++)
		if (probe_turn(p, &p->later.v[i]) < least)
			least = probe_turn(p, &p->later.v[i]);
	p->asks.n = p->batches.n = 0;
	for (struct ask *a = p->later.v; a < vec_end(&p->later); a++) {
		if (probe_turn(p, a) != least) {
			p->later.v[kept++] = *a;
			continue;
		}
		a->tries++;
		a->sent = a->done = false;
		a->lost = true;		/* until it is answered */
		*vec_push(&p->asks) = *a;
	}
	p->later.n = kept;
	if (p->asks.n)
		qsort(p->asks.v, p->asks.n, sizeof(*p->asks.v), by_node);
	for (size_t i = 0; i < p->asks.n; i++) {
		if (!i || p->asks.v[i].node != p->asks.v[i - 1].node)
			*vec_push(&p->batches) = (struct batch){ .first = (uint32_t)i };
		p->batches.v[p->batches.n - 1].n++;
	}
}

/*
 * Asks behind those ports of the node that have a link (dark: or had none when they were read) and no far
 * end: first the port, then the device there.  Also asks again for everything of the node that is known to
 * be implausible.
 */
static void ask_ends(struct probe *p, uint32_t node, bool renamed, bool dark)
{
	const struct fabric_node *n = &p->f->nodes[node];

	if (renamed)
		probe_ask(p, node, 0, ASK_DESC);
	if (implausible_know(p->sm, p->f, n->port0, false))
		probe_ask(p, node, 0, node_is_switch(n) ? ASK_SWITCH : ASK_PORT);
	for (unsigned num = 1; num <= n->nports; num++) {
		const struct fabric_port *x = &p->f->ports[n->port0 + num];

		if (implausible_know(p->sm, p->f, n->port0 + num, true))
			probe_ask(p, node, num, ASK_BEHIND);
		if (implausible_know(p->sm, p->f, n->port0 + num, false))
			probe_ask(p, node, num, ASK_PORT);
		if (!x->present ? node_is_switch(n) :
		    (x->state >= IB_PORT_INIT_S || dark) && x->peer == FABRIC_NONE)
			probe_ask(p, node, num, ASK_PORT);
	}
}

static void mark_cut(struct probe *p, uint32_t node)
{
	bool else_touched = p->touched.v[node] && !(p->spare.v[node] & SPARE_CUT);

	probe_mark(p, node);
	if (!else_touched)
		p->spare.v[node] |= SPARE_CUT;
}

static void mark_isolated(void *arg, uint32_t port)
{
	struct probe *p = arg;

	mark_cut(p, p->f->ports[port].node);
	mark_cut(p, p->f->ports[p->f->ports[port].peer].node);
}

static void cut_isolated(struct probe *p)
{
	p->cut |= isolated_cut(p->sm, p->f, mark_isolated, p) > 0;
}

static void take_suspects(struct probe *p)
{
	struct sm *sm = p->sm;
	size_t kept = 0;

	if (sm->withdrawn.looked != sm->withdrawn.change)	/* the list has changed meanwhile */
		cut_isolated(p);
	for (size_t i = 0; i < sm->wishes.suspects.n; i++) {
		const struct suspect *s = &sm->wishes.suspects.v[i];
		uint32_t node = map64_get(&p->f->node_by_guid, s->guid);

		if (node == MAP64_NONE)
			continue;
		/*
		 * earlier answers may have changed since, and a silent node was not asked: left to
		 * the next sweep
		 */
		if (p->heard.v[node] || (p->f->nodes[node].silent && silent_has_answered(sm, s->guid))) {
			sm->wishes.suspects.v[kept++] = *s;
			continue;
		}
		p->told |= !s->unasked;
		p->complained.v[node] |= !s->unasked;
		sm->sweep.unasked = !p->told;
		if (!s->ends)
			probe_ask_node(p, node, s->renamed);
		else
			ask_ends(p, node, s->renamed, s->dark);
		if (s->renamed || s->changed || s->whole)
			p->spare.v[node] |= SPARE_NOT;
		if (s->changed)
			probe_mark(p, node);
	}
	sm->wishes.suspects.n = kept;
}

static void round_start(struct probe *p)
{
	if (p->cut)
		fabric_reroute(p->f, p->avoided.v);
	p->cut = false;
	p->rounds++;
	choose(p);
	probe_wait_begin(p);
	p->sm->sweep.job = smp_job_start(p->sm->mad, (uint32_t)p->batches.n, &probe_ops, p);
}

/* The marks of changed nodes for `to`, a settled copy of p->f. */
static uint8_t *touched_of(const struct probe *p, const struct fabric *to)
{
	uint8_t *touched = xcalloc(to->n_nodes, 1);

	for (uint32_t i = 0; i < to->n_nodes; i++)
		touched[i] = p->touched.v[map64_get(&p->f->node_by_guid, to->nodes[i].guid)];
	return touched;
}

/*
 * Marks the node's contents as doubtful, so that they are read.  If the node then stays silent, the
 * sweep is incomplete.
 */
static void doubt_node(struct probe *p, uint32_t node)
{
	const struct fabric_node *n = &p->f->nodes[node];

	map64_put(&p->sm->known.doubtful, n->guid, 1);
	for (uint32_t i = n->port0; i <= n->port0 + n->nports; i++)
		p->f->ports[i].unsure |= p->f->ports[i].present;
}

static bool has_link(const struct fabric *f, uint32_t node)
{
	for (unsigned num = 0; num <= f->nodes[node].nports; num++)
		if (f->ports[f->nodes[node].port0 + num].peer != FABRIC_NONE)
			return true;
	return false;
}

/*
 * Records the node as silent.  If that is new, the fabric counts as changed, as routes must avoid
 * the node.
 */
static void note_silent_device(struct probe *p, uint32_t node)
{
	struct fabric_node *n = &p->f->nodes[node];

	if (p->found || n->silent || n->hops == FABRIC_UNREACHED || !has_link(p->f, node) ||
	    !silent_found(p->sm, p->f, node))
		return;
	n->silent = p->changed = true;
}

static void note_silent(struct probe *p)
{
	for (uint32_t i = 0; i < p->f->n_nodes; i++) {
		if (p->silent.v[i] && !p->heard.v[i])
			note_silent_device(p, i);	/* before its table is put in doubt */
		if (p->silent.v[i] && !p->heard.v[i] && p->complained.v[i])
			silent_told(p->sm, p->f->nodes[i].guid);
	}
	for (uint32_t i = 0; i < p->f->n_nodes; i++) {
		if (p->silent.v[i] && !p->heard.v[i] && !p->found)
			probe_forget_states(p, i);
		if (p->silent.v[i] && p->touched.v[i])
			doubt_node(p, i);
		if (p->silent.v[i])
			map64_put(&p->sm->known.blind, p->f->nodes[i].guid, 1);
		if (p->silent.v[i] && !p->heard.v[i])
			log_limited(&silent_log, LOG_LEVEL_WARNING, "sweep",
				    "%s: does not answer, although it has links that are up",
				    NODE_NAME(p->f, i));
	}
}

/* Adds what the discovery did not see to the fabric that it found. */
static void end_hidden(struct probe *p)
{
	struct sm *sm = p->sm;
	struct buf err = { 0 };
	struct fabric *f = p->changed && !p->doubt ? fabric_settle(p->f, &err) : NULL;

	if (f && f->n_nodes > p->n_before)
		log_info("discovery", "%u more nodes answer when each is queried alone%s",
			 f->n_nodes - p->n_before,
			 mkey_count(sm) > 1 ? ", or with an earlier M_Key" : "");
	if (err.n)
		log_warn("discovery", "%s", err.s);
	if (!f) {
		f = p->found;
		p->found = NULL;
	}
	buf_free(&err);
	probe_free(sm);
	sm->sweep.found = f;
	sweep_step_done(sm, STEP_HIDDEN, RESULT_DONE);
}

/* Runs in a worker: for a large fabric it would hold up the loop. */
static void settle(void *arg)
{
	struct probe *p = arg;
	struct buf err = { 0 };

	p->settled = fabric_settle(p->f, &err);
	/* a device that already has another's port GUID is no reason to discover everything */
	p->misfit = !p->settled || p->settled->n_nameless > p->f->n_nameless;
	if (!p->misfit) {
		p->settled_touched = touched_of(p, p->settled);
		p->settled->unanswered = sweep_count_unanswered(p->settled);
		p->settled_work = sweep_new_work(p->settled);
	}
	buf_free(&err);
}

static void end(struct probe *p)
{
	struct sm *sm = p->sm;
	struct fabric *f = NULL;
	uint8_t *touched = NULL;
	struct node_work *work = NULL;
	bool all;

	if (p->misfit)
		probe_doubt(p, "the changed parts do not fit together");
	if (p->doubt) {
		log_info("sweep", "discovering the whole fabric: %s", p->why);
	} else {
		f = p->settled;
		touched = p->settled_touched;
		work = p->settled_work;
		p->settled = NULL;
		p->settled_touched = NULL;
		p->settled_work = NULL;
	}
	all = p->doubt;
	sm->sweep.unasked |= p->settles;
	for (uint32_t i = 0; i < p->f->n_nodes; i++)
		if (p->spare.v[i] & SPARE_ASKED)
			map64_put(&sm->known.spared, p->f->nodes[i].guid, 1);
	probe_free(sm);
	sweep_step_done(sm, STEP_PROBE, sweep_probed(sm, f, touched, work, all));
}

static void settled(void *arg)
{
	struct probe *p = arg;

	work_end(p->work);
	p->work = NULL;
	end(p);
}

static void asked_all(struct probe *p)
{
	note_silent(p);		/* before f is settled, so that the copy has it */
	if (!p->doubt && p->changed) {
		p->work = work_start(p->sm->loop, settle, settled, p);
		if (p->work)
			return;
		settle(p);
	}
	end(p);
}

/*
 * Asks ports that are down only according to the far end.  If that is false, the port has no change
 * to report, now or later, and nobody would ask it again, nor the device behind it.
 */
static void ask_hearsay(struct probe *p)
{
	const struct map64 *m = &p->hearsay;

	for (uint32_t i = 0; m->n && i <= m->mask; i++) {
		if (m->slots[i].value != HEARSAY)	/* or the slot is empty */
			continue;

		const struct fabric_port *x = &p->f->ports[m->slots[i].key];
		struct ask a = { .node = x->node, .num = x->num, .kind = ASK_PORT };

		if (x->peer != FABRIC_NONE || !p->heard.v[x->node] ||
		    p->f->nodes[x->node].hops == FABRIC_UNREACHED)
			continue;
		m->slots[i].value = HEARSAY_ASKED;
		probe_unask(p, &a);	/* its earlier answer is out of date */
		probe_ask(p, a.node, a.num, ASK_PORT);
	}
}

/* Asks switches that lost a link: they may have more to report, and a PortStateChange to clear. */
static void ask_other_ends(struct probe *p)
{
	if (p->cut)
		fabric_reroute(p->f, p->avoided.v);
	p->cut = false;
	for (uint32_t i = 0; i < p->f->n_nodes; i++)
		if (p->touched.v[i] && !(p->spare.v[i] & SPARE_CUT) && !p->heard.v[i] &&
		    node_is_switch(&p->f->nodes[i]) && p->f->nodes[i].hops != FABRIC_UNREACHED)
			probe_ask_node(p, i, false);
}

static void ask_last(struct probe *p)
{
	for (size_t i = 0; i < p->moved.n; i++)
		*vec_push(&p->later) = p->moved.v[i];
	p->moved.n = 0;
}

void probe_round_over(struct probe *p)
{
	p->sm->sweep.job = NULL;
	probe_wait_over(p);
	for (size_t i = 0; i < p->asks.n && !p->doubt; i++)
		if (p->asks.v[i].done || !p->cut_short)
			probe_evaluate(p, &p->asks.v[i]);
	if (p->rounds >= ROUNDS_MAX)
		probe_doubt(p, "the fabric keeps changing");
	if (!p->found) {
		take_suspects(p);	/* those that came meanwhile */
		while (probe_has_slow_only(p) && !p->doubt && probe_ask_spared(p))
			;
		if (probe_has_slow_only(p) && !p->doubt)
			ask_other_ends(p);
	}
	if (probe_has_slow_only(p) && !p->doubt)
		ask_hearsay(p);
	if (!p->later.n && !p->doubt)
		ask_last(p);
	if (p->later.n && !p->doubt) {
		round_start(p);
	} else {
		probe_judge_claims(p);
		if (p->found)
			end_hidden(p);
		else
			asked_all(p);
	}
}

static void finished(void *arg)
{
	probe_round_over(arg);
}

static struct probe *probe_new(struct sm *sm)
{
	struct probe *p = xcalloc(1, sizeof(*p));

	p->sm = sm;
	sm->sweep.probe = p;
	map64_init(&p->asked, 256);
	map64_init(&p->key_of_port, 16);
	map64_init(&p->claims, 16);
	map64_init(&p->hearsay, 16);
	map64_init(&p->said, 16);
	return p;
}

/* Adopts f, a copy. */
static void take_copy(struct probe *p, struct fabric *f)
{
	p->f = f;
	p->n_before = f->n_nodes;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		probe_add_flags(p);
	if (p->found)
		return;
	p->cut = silent_mark(p->sm, f);
	p->changed = p->sm->wishes.replan || p->cut;
	isolated_begin(&p->sm->withdrawn.isolated);
	cut_isolated(p);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		p->silent.v[i] = f->nodes[i].silent;
}

/* Runs in a worker, as it takes long for a large fabric. */
static void copy(void *arg)
{
	struct probe *p = arg;

	p->f = fabric_clone(p->of->f);
}

static void copied(void *arg)
{
	struct probe *p = arg;

	work_end(p->work);
	p->work = NULL;
	state_unref(p->of);
	p->of = NULL;
	announce_correct(p->sm, p->f);
	take_copy(p, p->f);
	take_suspects(p);
	round_start(p);
}

enum step_result probe_start(struct sm *sm)
{
	struct probe *p = probe_new(sm);

	sm->sweep.unasked = false;
	p->of = state_ref(sm->published);
	p->work = work_start(sm->loop, copy, copied, p);
	if (!p->work) {
		copy(p);
		copied(p);
	}
	return RESULT_WAIT;
}

enum step_result probe_hidden(struct sm *sm)
{
	struct fabric *f = sm->sweep.found;
	struct probe *p;

	if (mkey_count(sm) < 2 || !sweep_count_unanswered(f))
		return RESULT_DONE;
	p = probe_new(sm);
	p->found = f;
	sm->sweep.found = NULL;
	take_copy(p, fabric_clone(f));
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].present && f->ports[i].num && f->ports[i].peer == FABRIC_NONE &&
		    f->ports[i].state >= IB_PORT_INIT_S)
			probe_ask(p, f->ports[i].node, f->ports[i].num, ASK_BEHIND);
	round_start(p);
	return RESULT_WAIT;
}

void probe_free(struct sm *sm)
{
	struct probe *p = sm->sweep.probe;

	if (!p)
		return;
	sm->sweep.probe = NULL;
	work_end(p->work);
	probe_wait_free(p);
	state_unref(p->of);
	fabric_free(p->settled);
	free(p->settled_touched);
	free(p->settled_work);
	fabric_free(p->f);
	fabric_free(p->found);
	map64_free(&p->asked);
	map64_free(&p->key_of_port);
	map64_free(&p->claims);
	map64_free(&p->hearsay);
	map64_free(&p->said);
	vec_free(&p->asks);
	vec_free(&p->later);
	vec_free(&p->moved);
	vec_free(&p->batches);
	vec_free(&p->touched);
	vec_free(&p->heard);
	vec_free(&p->avoided);
	vec_free(&p->silent);
	vec_free(&p->complained);
	vec_free(&p->spare);
	free(p);
}
