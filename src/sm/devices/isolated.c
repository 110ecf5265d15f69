/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes sweeps follow what is isolated; see isolated.h.
 *
 * An isolated link that is Armed or Active is taken down at one end (PortState Down, 14.2.5.6, the only
 * way back from Active), with LinkDownDefaultState Polling, so that both ends train and wait in Init,
 * which nobody ends.  In Init a port passes SMPs only (7.2.7): no host reaches another over the link,
 * whatever the tables at its far side say, while a manager still sees the device and its state.  This is
 * why the port is not disabled: a disabled port shows neither a new cable nor a new device, and only a Set
 * at that port brings it back, which a manager that forgot its list would never send.
 *
 * Links are taken down after the tables of this sweep are written, so that packets that have another way
 * take it by then.  The links of an isolated switch to its own hosts go down, too, as these would still
 * reach each other.  Such a switch is not in the fabric by then: its links are set by the routes that led to it
 * before, the farthest first.  Routes to what is in the fabric cross no isolated link, so the rest is set last, all of
 * it at once.
 */
#include "sm/devices/isolated.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "fabric/edit.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/search.h"
#include "sm/sm_internal.h"

#define LINK_DOWN_DEFAULT_POLLING 2
#define SETTLE_US 2000000	/* so long after the Set an end may be Down, or train */
#define DOWNS_MAX 65536		/* more links than a subnet of 49,151 LIDs needs to be cut at once */

/* One end of an isolated link, and the Set that takes it down. */
struct take_down {
	uint64_t guid, m_key;
	uint32_t mod;
	uint8_t num, hops;
	bool here;		/* its node is in the fabric of the sweep */
	bool done;		/* the Set was accepted */
	uint8_t route[IB_DR_HOPS_MAX + 1];
	uint8_t data[64];
};

/* The ends of one node that are set in a stage: downs[first] and so on. */
struct down_batch {
	size_t first;
	uint32_t n, cursor;
	bool silent;
};

static bool is_at_work(const struct fabric_port *p)
{
	return p->state >= IB_PORT_ARMED_S;
}

static void remember(struct isolated *x, const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];
	struct take_down *d;
	struct smp s;

	if (x->downs.n == DOWNS_MAX || !node_is_switch(port_node(f, port)) || !want_route(f, p->node, p->num, &s))
		return;
	d = vec_push(&x->downs);
	*d = (struct take_down){ .guid = port_node(f, port)->guid, .m_key = s.m_key, .num = p->num,
				 .mod = port_info_modifier(f, p->node, p->num), .hops = s.hops };
	memcpy(d->route, s.route, s.hops);
	want_port_state(p, IB_PORT_DOWN_S, d->data);
	mad_set_field(d->data, 0, IB_PORT_LINK_DOWN_DEF_F, LINK_DOWN_DEFAULT_POLLING);
}

struct cutting {
	struct isolated *x;
	const struct fabric *f;
	void (*fn)(void *arg, uint32_t port);
	void *arg;
};

static void cut_one(void *arg, uint32_t port)
{
	const struct cutting *c = arg;

	if (is_at_work(&c->f->ports[port]) || is_at_work(&c->f->ports[c->f->ports[port].peer]))
		remember(c->x, c->f, link_near_end(c->f, port));
	if (c->fn)
		c->fn(c->arg, port);
}

void isolated_begin(struct isolated *x)
{
	x->downs.n = x->leaving.n = 0;
	x->cuts_now = false;
}

uint32_t isolated_cut(struct sm *sm, struct fabric *f, void (*fn)(void *arg, uint32_t port), void *arg)
{
	struct withdrawn *w = &sm->withdrawn;
	struct cutting c = { &w->isolated, f, fn, arg };
	uint32_t cut;

	w->looked = w->change;
	cut = isolations_cut(w->list, f, &w->isolated.cuts, cut_one, &c);
	w->isolated.cuts_now |= cut > 0;
	return cut;
}

bool isolated_forbids(struct sm *sm, struct fabric *f, uint32_t port, uint64_t guid, unsigned num)
{
	struct isolation_cuts *cuts = &sm->withdrawn.isolated.cuts;
	const struct isolation_cut x = { .guid = { port_node(f, port)->guid, guid },
					 .num = { f->ports[port].num, (uint8_t)num } };
	bool forbidden = isolation_forbids(sm->withdrawn.list, f, port, guid, num);

	if (forbidden) {
		isolation_cuts_put(cuts, &x);
	} else {
		isolation_cuts_drop(cuts, x.guid[0], x.num[0]);
		isolation_cuts_drop(cuts, x.guid[1], x.num[1]);
	}
	f->ports[port].isolated = forbidden;
	return forbidden;
}

/* --- the step --- */

/* The port of f that a cut link ends at; FABRIC_NONE: f does not have it, or it passes no packets. */
static uint32_t end_at_work(const struct fabric *f, uint64_t guid, unsigned num)
{
	uint32_t node = map64_get(&f->node_by_guid, guid);

	return node == MAP64_NONE || num > f->nodes[node].nports || !is_at_work(fabric_port(f, node, num)) ?
	       FABRIC_NONE : f->nodes[node].port0 + num;
}

/*
 * The link with this end, whose node is not in the fabric, is still isolated, and the fabric has no end to set
 * instead.
 */
static bool must_be_set_there(const struct sm *sm, uint64_t guid, unsigned num)
{
	const struct isolation_cut *x = isolation_cuts_find(&sm->withdrawn.isolated.cuts, guid, num);

	return x && isolation_covers_cut(sm->withdrawn.list, x) &&
	       end_at_work(sm->sweep.f, x->guid[0], x->num[0]) == FABRIC_NONE &&
	       end_at_work(sm->sweep.f, x->guid[1], x->num[1]) == FABRIC_NONE;
}

static int farthest_first(const void *va, const void *vb)
{
	const struct take_down *a = va, *b = vb;

	return ORDER(a->here, b->here) ?: (a->here ? 0 : ORDER(b->hops, a->hops)) ?: ORDER(a->guid, b->guid) ?:
	       ORDER(a->num, b->num);
}

/* Keeps of what was remembered the ends that this fabric has not, and adds those that it has. */
static void choose_ends(struct sm *sm)
{
	struct isolated *x = &sm->withdrawn.isolated;
	const struct fabric *f = sm->sweep.f;
	size_t kept = 0;

	for (size_t i = 0; i < x->downs.n; i++) {
		const struct take_down *d = &x->downs.v[i];

		if (map64_get(&f->node_by_guid, d->guid) == MAP64_NONE && must_be_set_there(sm, d->guid, d->num))
			x->downs.v[kept++] = *d;
	}
	x->downs.n = kept;
	for (size_t i = 0; i < x->cuts.v.n; i++) {
		const struct isolation_cut *c = &x->cuts.v.v[i];
		uint32_t a = end_at_work(f, c->guid[0], c->num[0]), b = end_at_work(f, c->guid[1], c->num[1]);

		if (a == FABRIC_NONE || (b != FABRIC_NONE && port_node(f, b)->hops < port_node(f, a)->hops))
			a = b;
		if (a != FABRIC_NONE && isolation_covers_cut(sm->withdrawn.list, c))
			remember(x, f, a);
	}
	for (size_t i = kept; i < x->downs.n; i++)
		x->downs.v[i].here = true;
	if (x->downs.n)
		qsort(x->downs.v, x->downs.n, sizeof(*x->downs.v), farthest_first);
}

static bool down_next(void *arg, uint32_t device, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct isolated *x = &sm->withdrawn.isolated;
	struct down_batch *b = &x->batches.v[device];
	const struct take_down *d;

	/* nobody waits again and again for a device that does not answer: it may be isolated because of that */
	if (b->silent || b->cursor == b->n)
		return false;
	*cookie = b->first + b->cursor++;
	d = &x->downs.v[*cookie];
	*s = (struct smp){ .route = d->route, .hops = d->hops, .m_key = d->m_key };
	sweep_fill_smp(sm, s, SMP_SET, UMAD_SM_ATTR_PORT_INFO, d->mod);
	memcpy(s->data, d->data, sizeof(d->data));
	return true;
}

/* Stores what a port is as one that will be in Init soon, which its switch reports. */
static void expect_init(struct sm *sm, uint32_t port, const uint8_t was[64])
{
	uint8_t info[64];

	memcpy(info, was, sizeof(info));
	mad_set_field(info, 0, IB_PORT_STATE_F, IB_PORT_INIT_S);
	mad_set_field(info, 0, IB_PORT_PHYS_STATE_F, IB_PHYS_LINK_UP);
	sweep_store_port(sm, port, info);
}

static void down_done(void *arg, uint32_t device, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct down_batch *b = &sm->withdrawn.isolated.batches.v[device];
	struct take_down *d = &sm->withdrawn.isolated.downs.v[cookie];
	uint32_t node = map64_get(&sm->sweep.f->node_by_guid, d->guid), port;
	uint8_t info[64];

	memcpy(info, s->data, sizeof(info));
	/* some devices answer as if they had done it, but say what they are */
	d->done = !status && mad_get_field(info, 0, IB_PORT_STATE_F) <= IB_PORT_INIT_S;
	if (!status && node != MAP64_NONE) {
		port = sm->sweep.f->nodes[node].port0 + d->num;
		if (d->done)
			expect_init(sm, port, info);
		else
			sweep_store_port(sm, port, info);
	} else if (status) {
		/* what is out of the fabric was set for good measure, and no sweep can try it again */
		sm->last.sets_failed += node != MAP64_NONE;
		if (!b->silent)
			log_warn("sm", "port %u of the node 0x%016" PRIx64 " is isolated, but cannot be taken "
				 "down: it %s", d->num, d->guid, status < 0 ? "does not answer" : "refuses it");
	}
	b->silent |= status < 0;
}

static bool same_stage(const struct take_down *a, const struct take_down *b)
{
	return a->here == b->here && (a->here || a->hops == b->hops);
}

static void next_stage(void *arg);

static void start_stage(struct sm *sm)
{
	static const struct smp_job_ops ops = { down_next, down_done, next_stage };
	struct isolated *x = &sm->withdrawn.isolated;
	const struct take_down *first = &x->downs.v[x->next];

	x->batches.n = 0;
	for (; x->next < x->downs.n && same_stage(first, &x->downs.v[x->next]); x->next++) {
		if (!x->batches.n || x->downs.v[x->next].guid != x->downs.v[x->next - 1].guid)
			*vec_push(&x->batches) = (struct down_batch){ .first = x->next };
		x->batches.v[x->batches.n - 1].n++;
	}
	sm->sweep.job = smp_job_start(sm->mad, (uint32_t)x->batches.n, &ops, sm);
}

/* The far end is at work in the fabric of the sweep, if that has it. */
static void note_down(struct sm *sm, const struct take_down *d)
{
	struct isolation_cuts *cuts = &sm->withdrawn.isolated.cuts;
	const struct isolation_cut *x = isolation_cuts_find(cuts, d->guid, d->num);

	if (!x)
		return;
	for (unsigned end = 0; end < 2; end++) {
		uint32_t port = end_at_work(sm->sweep.f, x->guid[end], x->num[end]);

		if (port != FABRIC_NONE)
			expect_init(sm, port, sm->sweep.f->ports[port].info);
	}
	isolation_cuts_taken_down(cuts, d->guid, d->num, clock_mono_us());
}

bool isolated_settles(const struct sm *sm, const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];
	const struct isolation_cut *x = p->isolated && p->peer == FABRIC_NONE ?
		isolation_cuts_find(&sm->withdrawn.isolated.cuts, port_node(f, port)->guid, p->num) : NULL;

	return x && x->down_us && clock_mono_us() - x->down_us < SETTLE_US;
}

static void next_stage(void *arg)
{
	struct sm *sm = arg;
	struct isolated *x = &sm->withdrawn.isolated;

	for (const struct down_batch *b = x->batches.v; b < vec_end(&x->batches); b++)
		for (size_t i = b->first; i < b->first + b->n; i++)
			if (x->downs.v[i].done)
				note_down(sm, &x->downs.v[i]);
	if (x->next < x->downs.n) {
		start_stage(sm);
		return;
	}
	x->downs.n = 0;
	vec_free(&x->batches);
	sweep_job_over(sm);
}

/* --- LIDs of what is out of the fabric --- */

static bool has_lid(const struct plan *p, unsigned lid)
{
	return lid < IB_LID_MCAST_FIRST && p->port_by_lid[lid] != FABRIC_NONE;
}

static void note_lids(struct sm *sm)
{
	struct isolated *x = &sm->withdrawn.isolated;
	const struct plan *before = x->cuts_now && sm->published ? sm->published->plan : NULL;
	VEC(uint16_t) lids = { 0 };
	size_t i = 0;

	for (unsigned lid = 1; lid < IB_LID_MCAST_FIRST && x->cuts.v.n && (x->lids.n || before); lid++) {
		bool known = i < x->lids.n && x->lids.v[i] == lid;

		i += known;
		if (!has_lid(sm->sweep.plan, lid) && (known || (before && has_lid(before, lid))))
			*vec_push(&lids) = (uint16_t)lid;
	}
	vec_free(&x->lids);
	x->lids.v = lids.v;
	x->lids.n = lids.n;
	x->lids.cap = lids.cap;
}

bool isolated_had_lid(const struct sm *sm, uint16_t lid)
{
	const struct isolated *x = &sm->withdrawn.isolated;
	size_t i;

	LOWER_BOUND(i, 0, x->lids.n, x->lids.v[i] < lid);
	return i < x->lids.n && x->lids.v[i] == lid;
}

enum step_result isolated_take_down(struct sm *sm)
{
	struct isolated *x = &sm->withdrawn.isolated;

	note_lids(sm);		/* links that go down cause traps at once */
	choose_ends(sm);
	if (!x->downs.n)
		return RESULT_DONE;
	x->next = 0;
	log_info("sm", "taking down %zu link%s, as isolated", x->downs.n, x->downs.n == 1 ? "" : "s");
	start_stage(sm);
	return RESULT_WAIT;
}

void isolated_publish(struct sm *sm)
{
	struct isolated *x = &sm->withdrawn.isolated;

	note_lids(sm);
	if (x->cuts_now && sm->published)
		isolated_tables_note(&x->tables, &x->leaving, sm->published, &sm->known.doubtful,
				     store_refusals(sm->store));
	vec_free(&x->leaving);
	isolated_tables_forget(&x->tables, sm->sweep.f);
}

void isolated_free(struct isolated *x)
{
	isolated_tables_free(&x->tables);
	isolation_cuts_free(&x->cuts);
	vec_free(&x->downs);
	vec_free(&x->batches);
	vec_free(&x->lids);
	vec_free(&x->leaving);
}
