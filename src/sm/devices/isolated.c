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
 * before, the farthest first.
 */
#include "sm/devices/isolated.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "fabric/edit.h"
#include "lib/base/log.h"
#include "sm/sm_internal.h"

#define LINK_DOWN_DEFAULT_POLLING 2
#define DOWNS_MAX 65536		/* more links than a subnet of 49,151 LIDs needs to be cut at once */

/* One end of an isolated link, and the Set that takes it down. */
struct take_down {
	uint64_t guid, m_key;
	uint32_t mod;
	uint8_t num, hops;
	uint8_t route[IB_DR_HOPS_MAX + 1];
	uint8_t data[64];
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
	x->downs.n = 0;
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

static bool still_isolated(const struct sm *sm, uint64_t guid, unsigned num)
{
	const struct isolation_cut *x = isolation_cuts_find(&sm->withdrawn.isolated.cuts, guid, num);

	return x && isolation_covers_cut(sm->withdrawn.list, x);
}

static int farthest_first(const void *va, const void *vb)
{
	const struct take_down *a = va, *b = vb;

	if (a->hops != b->hops)
		return (int)b->hops - (int)a->hops;
	return a->guid < b->guid ? -1 : a->guid > b->guid;	/* see skip_node() */
}

/* Keeps of what was remembered the ends that this fabric has not, and adds those that it has. */
static void choose_ends(struct sm *sm)
{
	struct isolated *x = &sm->withdrawn.isolated;
	const struct fabric *f = sm->sweep.f;
	size_t kept = 0;

	for (size_t i = 0; i < x->downs.n; i++) {
		const struct take_down *d = &x->downs.v[i];

		if (map64_get(&f->node_by_guid, d->guid) == MAP64_NONE && still_isolated(sm, d->guid, d->num))
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
	if (x->downs.n)
		qsort(x->downs.v, x->downs.n, sizeof(*x->downs.v), farthest_first);
}

static bool down_next(void *arg, uint32_t device, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct isolated *x = &sm->withdrawn.isolated;
	const struct take_down *d = &x->downs.v[x->next];

	(void)device;
	(void)cookie;
	if (x->waits || x->next == x->downs.n)
		return false;
	*s = (struct smp){ .route = d->route, .hops = d->hops, .m_key = d->m_key };
	sweep_fill_smp(sm, s, SMP_SET, UMAD_SM_ATTR_PORT_INFO, d->mod);
	memcpy(s->data, d->data, sizeof(d->data));
	x->waits = true;
	return true;
}

/* Nobody waits again and again for a device that does not answer: it may be isolated because of that. */
static void skip_node(struct isolated *x, uint64_t guid)
{
	while (x->next < x->downs.n && x->downs.v[x->next].guid == guid)
		x->next++;
}

static void down_done(void *arg, uint32_t device, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct isolated *x = &sm->withdrawn.isolated;
	const struct take_down *d = &x->downs.v[x->next++];
	uint32_t node = map64_get(&sm->sweep.f->node_by_guid, d->guid);

	(void)device;
	(void)cookie;
	x->waits = false;
	if (!status && node != MAP64_NONE) {
		sweep_store_port(sm, sm->sweep.f->nodes[node].port0 + d->num, s->data);
	} else if (status) {
		/* what is out of the fabric was set for good measure, and no sweep can try it again */
		sm->last.sets_failed += node != MAP64_NONE;
		log_warn("sm", "port %u of the node 0x%016" PRIx64 " is isolated, but cannot be taken down: it %s",
			 d->num, d->guid, status < 0 ? "does not answer" : "refuses it");
	}
	if (status < 0)
		skip_node(x, d->guid);
}

static void down_over(void *arg)
{
	struct sm *sm = arg;

	sm->withdrawn.isolated.downs.n = 0;
	sweep_job_over(sm);
}

enum step_result isolated_take_down(struct sm *sm)
{
	static const struct smp_job_ops ops = { down_next, down_done, down_over };
	struct isolated *x = &sm->withdrawn.isolated;

	choose_ends(sm);
	if (!x->downs.n)
		return RESULT_DONE;
	x->next = 0;
	x->waits = false;
	log_info("sm", "taking down %zu link%s, as isolated", x->downs.n, x->downs.n == 1 ? "" : "s");
	sm->sweep.job = smp_job_start(sm->mad, 1, &ops, sm);
	return RESULT_WAIT;
}

void isolated_publish(struct sm *sm)
{
	struct isolated *x = &sm->withdrawn.isolated;

	if (x->cuts_now && sm->published)
		isolated_tables_note(&x->tables, sm->published, sm->sweep.f, &sm->known.doubtful,
				     store_refusals(sm->store));
	isolated_tables_forget(&x->tables, sm->sweep.f);
}

void isolated_free(struct isolated *x)
{
	isolated_tables_free(&x->tables);
	isolation_cuts_free(&x->cuts);
	vec_free(&x->downs);
}
