/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What changed around nodes of which something is suspected (a trap came, SwitchInfo tells
 * of a change): instead of a discovery, as the first step of a local sweep.
 *
 * All ports of a suspected switch are read.  A link that is down is cut; behind one that is
 * up and leads nowhere we know, NodeInfo is asked, and a node that is new is read
 * with all of its ports, and so on.  This goes in rounds, each of which ends before
 * the next begins: nearest nodes first, since a route to a farther one may lead over
 * what a nearer one is about to report; after each, directed routes are made anew.  A
 * switch that lost a link and has said nothing itself may be gone: routes go round
 * it, and all who have a link to it are asked for that port.
 *
 * A node is gone when no link leads to it any more, each of which the port at its near
 * end said to be down; never because it did not answer.
 *
 * PortStateChange is cleared before the ports are read (14.2.5.4), so that a later
 * change is not lost.  Where it can't be, as at a switch with another's M_Key, they are read
 * nevertheless: it stays as it is.
 *
 * The result is a fabric, finished, and which of its nodes are not as they were
 * (sm->touched).  Where things contradict each other all is discovered instead.
 *
 * Who is behind a port is asked with each M_Key of ours in turn, and so is, by the same
 * way, what a discovery found to be silent (probe_hidden()): that asks with one only.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "base/alloc.h"
#include "base/log.h"
#include "fabric/edit.h"
#include "sm/internal.h"

static struct log_ratelimit silent_log = LOG_RATELIMIT;

#define TRIES_MAX	3	/* rounds in which one question is asked */
#define ROUNDS_MAX	1000
#define NODES_MORE	4096	/* beyond twice as many as before: a device makes them up */

/* In the order in which they are asked of one node. */
enum ask_kind { ASK_SWITCH, ASK_CLEAR, ASK_DESC, ASK_PORT, ASK_BEHIND };

struct ask {
	uint32_t node;
	uint8_t num, kind, tries;
	uint8_t key;		/* ASK_BEHIND: how many M_Keys were tried (key_behind()) */
	bool lost;
	uint16_t status;
	uint8_t data[64];	/* the answer */
};

/* The questions to one node, of a round. */
struct batch {
	uint32_t first, n, cursor;
};

struct probe {
	struct sm *sm;
	struct fabric *f;		/* a copy, which is changed */
	VEC(struct ask) asks, later;	/* of this round, and to come */
	VEC(struct batch) batches;
	struct map64 asked;		/* key_of() each question */
	/* per node: see mark(); it answered; it may be gone; it is there and says nothing */
	VEC(uint8_t) touched, heard, shady, silent;
	struct map64 key_of_port;	/* by index: place of the M_Key that its agent answered to */
	struct fabric *found;		/* by a discovery, of which this is the end; else NULL */
	uint32_t n_before;		/* nodes */
	unsigned rounds;
	/* at the end: in a worker, what comes of f, and what is wrong with it */
	struct work *settling;
	struct fabric *settled;
	uint8_t *settled_touched;
	bool misfit;
	bool changed, doubt, cut;
	const char *why;		/* of the doubt */
};

static uint64_t key_of(uint32_t node, unsigned num, enum ask_kind kind)
{
	return (uint64_t)node << 16 | num << 8 | kind;
}

static void ask(struct probe *p, uint32_t node, unsigned num, enum ask_kind kind)
{
	if (map64_put(&p->asked, key_of(node, num, kind), 1) != MAP64_NONE)
		return;
	*vec_push(&p->later) = (struct ask){ .node = node, .num = (uint8_t)num,
					     .kind = (uint8_t)kind };
}

/* Something of the node is not as the last sweep left it. */
static void mark(struct probe *p, uint32_t node)
{
	p->touched.v[node] = 1;
	p->changed = true;
}

static void doubt(struct probe *p, const char *why)
{
	p->doubt = true;
	p->why = why;
}

static void add_flags(struct probe *p)
{
	*vec_push(&p->touched) = 0;
	*vec_push(&p->heard) = 0;
	*vec_push(&p->shady) = 0;
	*vec_push(&p->silent) = 0;
}

/*
 * The place of the key to ask with who is behind a port: that of the near end first, as
 * most have the same.
 */
static unsigned key_behind(const struct probe *p, const struct ask *a)
{
	unsigned n = mkey_count(p->sm), near = 0;

	while (near < n && mkey_nth(p->sm, near) != port_m_key(p->f, a->node, 0))
		near++;
	return (near + a->key) % n;
}

static void ask_ports(struct probe *p, uint32_t node)
{
	const struct fabric_node *n = &p->f->nodes[node];

	for (unsigned num = node_is_switch(n) ? 0 : 1; num <= n->nports; num++)
		if (node_is_switch(n) || num == n->local_port || p->f->ports[n->port0 + num].present)
			ask(p, node, num, ASK_PORT);
}

static void ask_node(struct probe *p, uint32_t node, bool renamed)
{
	const struct fabric_node *n = &p->f->nodes[node];

	if (node_is_switch(n))
		ask(p, node, 0, ASK_SWITCH);	/* its ports are asked then */
	else
		ask_ports(p, node);
	if (renamed)
		ask(p, node, 0, ASK_DESC);
}

/* --- what answers say --- */

/* The switch may be gone: all who have a link to it are asked for that port. */
static void suspect_gone(struct probe *p, uint32_t node)
{
	const struct fabric_node *n = &p->f->nodes[node];

	if (!node_is_switch(n) || p->heard.v[node] || p->shady.v[node])
		return;
	p->shady.v[node] = 1;
	for (unsigned num = 1; num <= n->nports; num++) {
		uint32_t peer = p->f->ports[n->port0 + num].peer;

		if (peer != FABRIC_NONE && node_is_switch(port_node(p->f, peer)))
			ask(p, p->f->ports[peer].node, p->f->ports[peer].num, ASK_PORT);
	}
}

static void set_down(struct fabric_port *p)
{
	uint8_t info[64];

	memcpy(info, p->info, sizeof(info));
	mad_set_field(info, 0, IB_PORT_STATE_F, IB_PORT_DOWN_S);
	fabric_port_store(p, info);
	p->fdr10 = false;
}

/* The link of a port is down, or leads elsewhere now. */
static void cut(struct probe *p, uint32_t port)
{
	uint32_t peer = p->f->ports[port].peer, far;

	if (peer == FABRIC_NONE)
		return;
	far = p->f->ports[peer].node;
	set_down(&p->f->ports[peer]);
	fabric_cut(p->f, port);
	mark(p, p->f->ports[port].node);
	mark(p, far);
	p->cut = true;
	/* if it is to be asked itself, that will tell */
	if (map64_get(&p->asked, key_of(far, 0, ASK_SWITCH)) == MAP64_NONE)
		suspect_gone(p, far);
}

/* All that is decoded from PortInfo. */
static bool same_port(const struct fabric_port *a, const struct fabric_port *b)
{
	return a->capmask == b->capmask && a->lid == b->lid && a->sm_lid == b->sm_lid &&
	       a->lmc == b->lmc && a->state == b->state && a->mtu_cap == b->mtu_cap &&
	       a->neighbor_mtu == b->neighbor_mtu && a->vl_cap == b->vl_cap &&
	       a->op_vls == b->op_vls && a->vlarb_high_cap == b->vlarb_high_cap &&
	       a->vlarb_low_cap == b->vlarb_low_cap && a->rate == b->rate &&
	       !mkey_differs(a->info, b->info);
}

static void port_answered(struct probe *p, const struct ask *a)
{
	uint32_t port = p->f->nodes[a->node].port0 + a->num;
	struct fabric_port *now = &p->f->ports[port], before = *now;
	uint32_t peer = before.peer;

	fabric_port_store(now, a->data);
	if (!before.present || !same_port(&before, now))
		mark(p, a->node);
	if (a->num == 0)
		return;
	if (now->state < IB_PORT_ARMED_S)
		now->fdr10 = false;	/* asked again, if it is of that kind */
	if (now->state < IB_PORT_INIT_S) {
		cut(p, port);
		return;
	}
	if (peer == FABRIC_NONE) {
		ask(p, a->node, a->num, ASK_BEHIND);
		return;
	}
	if (same_port(&before, now))
		return;
	/* it was down for a while: whoever is there now; or what it can do has changed */
	mark(p, p->f->ports[peer].node);
	if (now->state < before.state) {
		ask(p, a->node, a->num, ASK_BEHIND);
		if (node_is_switch(port_node(p->f, peer)))	/* it may have lost its tables */
			ask(p, p->f->ports[peer].node, 0, ASK_SWITCH);
	}
	ask(p, p->f->ports[peer].node, p->f->ports[peer].num, ASK_PORT);
}

static void switch_answered(struct probe *p, const struct ask *a)
{
	struct fabric_switch *s = &p->f->switches[p->f->nodes[a->node].sw], before = *s;

	fabric_switch_store(s, a->data);
	if (before.lft_top != s->lft_top || before.lifetime != s->lifetime ||
	    before.lft_cap != s->lft_cap || before.mcast_cap != s->mcast_cap)
		mark(p, a->node);
	if (s->port_change && a->kind == ASK_SWITCH && !mkey_is_foreign(p->sm, p->f, a->node))
		ask(p, a->node, 0, ASK_CLEAR);
	else
		ask_ports(p, a->node);
}

static void desc_answered(struct probe *p, const struct ask *a)
{
	struct fabric_node *n = &p->f->nodes[a->node];
	char desc[sizeof(n->desc)] = { 0 };

	memcpy(desc, a->data, sizeof(desc) - 1);
	if (!memcmp(desc, n->desc, sizeof(desc)))
		return;
	memcpy(n->desc, desc, sizeof(desc));
	mark(p, a->node);
}

/* A node that was not there; by the port of the switch that leads to it. */
static uint32_t add_node(struct probe *p, const struct ask *a)
{
	static const uint8_t no_switch_info[20];
	const struct fabric_node *from = &p->f->nodes[a->node];
	uint8_t route[IB_DR_HOPS_MAX + 1];
	uint32_t node;

	if (p->f->n_nodes > 2 * p->n_before + NODES_MORE) {
		doubt(p, "there are more nodes than can be");
		return FABRIC_NONE;
	}
	memcpy(route, p->f->routes + from->route, from->hops);
	route[from->hops] = a->num;
	node = fabric_add_node(p->f, a->data, "", no_switch_info, route, from->hops + 1u);
	if (node == FABRIC_NONE)
		return node;
	add_flags(p);
	p->heard.v[node] = 1;
	mark(p, node);
	ask_node(p, node, true);
	return node;
}

/* NodeInfo of whoever is behind a port. */
static void behind_answered(struct probe *p, const struct ask *a)
{
	uint8_t *info = (uint8_t *)(uintptr_t)a->data;		/* libibmad only reads */
	uint64_t guid = mad_get_field64(info, 0, IB_NODE_GUID_F);
	uint64_t port_guid = mad_get_field64(info, 0, IB_NODE_PORT_GUID_F);
	unsigned num = mad_get_field(info, 0, IB_NODE_LOCAL_PORT_F);
	uint32_t node = map64_get(&p->f->node_by_guid, guid);
	uint32_t port = p->f->nodes[a->node].port0 + a->num, peer;

	if (node == MAP64_NONE)
		node = add_node(p, a);
	if (node == FABRIC_NONE || num < 1 || num > p->f->nodes[node].nports)
		return;		/* it says nothing of use: a link without an end */
	map64_put(&p->key_of_port, agent_port(p->f, node, num), key_behind(p, a));
	if (p->f->nodes[node].nports != mad_get_field(info, 0, IB_NODE_NPORTS_F) ||
	    p->f->nodes[node].type != mad_get_field(info, 0, IB_NODE_TYPE_F)) {
		doubt(p, "two nodes have one GUID, or one has become another");
		return;
	}
	p->heard.v[node] = 1;
	peer = p->f->nodes[node].port0 + num;
	if (p->f->ports[port].peer == peer)
		return;
	/* it was moved, and the other end has not said so yet; or somebody lies */
	if (p->f->ports[peer].peer != FABRIC_NONE) {
		doubt(p, "a port is said to be in two places");
		return;
	}
	cut(p, port);
	fabric_link(p->f, a->node, a->num, node, num);
	if (!node_is_switch(&p->f->nodes[node]))
		p->f->ports[peer].guid = port_guid;
	else
		for (unsigned i = 0; i <= p->f->nodes[node].nports; i++)
			p->f->ports[p->f->nodes[node].port0 + i].guid = port_guid;
	mark(p, a->node);
	mark(p, node);
	p->cut = true;		/* there may be a better way now */
	if (node_is_switch(&p->f->nodes[node]))	/* it may have lost its tables */
		ask(p, node, 0, ASK_SWITCH);
	ask(p, node, num, ASK_PORT);
}

/* Nobody answered: perhaps because of the way, which may be another in a later round. */
static void unanswered(struct probe *p, const struct ask *a)
{
	const struct fabric_port *self = &p->f->ports[p->f->self];

	if (a->kind == ASK_BEHIND) {
		/* counted at the end: a link that is up and has no other end */
		if (a->key + 1u < mkey_count(p->sm)) {
			*vec_push(&p->later) = *a;
			p->later.v[p->later.n - 1].key++;
		}
		return;
	}
	if (a->kind == ASK_CLEAR) {
		/* it answered a moment ago, and may have got another's M_Key; if not, it still tells */
		ask_ports(p, a->node);
		return;
	}
	ask(p, self->node, self->num, ASK_PORT);	/* it may be our own link */
	suspect_gone(p, a->node);
	if (a->tries < TRIES_MAX)
		*vec_push(&p->later) = *a;
	else
		p->silent.v[a->node] = 1;
}

static void evaluate(struct probe *p, const struct ask *a)
{
	if (a->lost) {
		unanswered(p, a);
		return;
	}
	p->heard.v[a->node] = 1;
	p->shady.v[a->node] = 0;
	if (a->status) {
		if (a->kind == ASK_SWITCH || a->kind == ASK_CLEAR)
			ask_ports(p, a->node);
		return;
	}
	switch ((enum ask_kind)a->kind) {
	case ASK_SWITCH:
	case ASK_CLEAR:
		switch_answered(p, a);
		break;
	case ASK_DESC:
		desc_answered(p, a);
		break;
	case ASK_PORT:
		port_answered(p, a);
		break;
	case ASK_BEHIND:
		behind_answered(p, a);
		break;
	}
}

/* Until its PortInfo is there, the key that a port answered to. */
static void choose_key(const struct probe *p, const struct ask *a, struct smp *s)
{
	unsigned num = a->kind == ASK_PORT ? a->num : 0;
	uint32_t place = map64_get(&p->key_of_port, agent_port(p->f, a->node, num));

	if (place != MAP64_NONE && !port_m_key(p->f, a->node, num))
		s->m_key = mkey_nth(p->sm, place);
}

/* --- rounds --- */

static bool next(void *arg, uint32_t device, struct smp *s, uint64_t *cookie)
{
	struct probe *p = arg;
	struct batch *b = &p->batches.v[device];

	while (b->cursor < b->n) {
		uint32_t i = b->first + b->cursor++;
		struct ask *a = &p->asks.v[i];
		const struct fabric_node *n = &p->f->nodes[a->node];

		*cookie = i;
		if (!want_route(p->f, a->node, a->kind == ASK_PORT ? a->num : 0, s))
			continue;
		switch ((enum ask_kind)a->kind) {
		case ASK_SWITCH:
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
			sweep_fill_smp(p->sm, s, SMP_GET, UMAD_SM_ATTR_PORT_INFO, a->num);
			break;
		case ASK_BEHIND:
			sweep_fill_smp(p->sm, s, SMP_GET, UMAD_SM_ATTR_NODE_INFO, 0);
			if (s->hops >= IB_DR_HOPS_MAX)
				continue;
			s->last_hop = a->num;
			s->m_key = mkey_nth(p->sm, key_behind(p, a));
			break;
		}
		if (a->kind != ASK_BEHIND)
			choose_key(p, a, s);
		/* a switch that may be gone is not waited for: it is asked again in a later round */
		s->once = p->shady.v[a->node] || a->kind == ASK_BEHIND;
		return true;
	}
	return false;
}

static void done(void *arg, uint32_t device, const struct smp *s, uint64_t cookie, int status)
{
	struct probe *p = arg;
	struct ask *a = &p->asks.v[cookie];

	(void)device;
	a->lost = status < 0;
	a->status = status < 0 ? 0 : (uint16_t)status;
	memcpy(a->data, s->data, sizeof(a->data));
}

static int by_node(const void *va, const void *vb)
{
	const struct ask *a = va, *b = vb;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind - b->kind;
	return a->num - b->num;
}

static void finished(void *arg);
static const struct smp_job_ops probe_ops = { next, done, finished };

/* Of what is to be asked, that of the nearest nodes; the rest waits. */
static void choose(struct probe *p)
{
	unsigned least = UINT8_MAX;
	size_t kept = 0;

	/* who is out of reach now is not asked */
	for (size_t i = 0; i < p->later.n; i++)
		if (p->f->nodes[p->later.v[i].node].hops != FABRIC_UNREACHED)
			p->later.v[kept++] = p->later.v[i];
	p->later.n = kept;
	kept = 0;
	for (size_t i = 0; i < p->later.n; i++)
		if (p->f->nodes[p->later.v[i].node].hops < least)
			least = p->f->nodes[p->later.v[i].node].hops;
	p->asks.n = p->batches.n = 0;
	for (size_t i = 0; i < p->later.n; i++) {
		struct ask *a = &p->later.v[i];

		if (p->f->nodes[a->node].hops != least) {
			p->later.v[kept++] = *a;
			continue;
		}
		a->tries++;
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

static void take_suspects(struct probe *p)
{
	struct sm *sm = p->sm;
	size_t kept = 0;

	for (size_t i = 0; i < sm->suspects.n; i++) {
		const struct suspect *s = &sm->suspects.v[i];
		uint32_t node = map64_get(&p->f->node_by_guid, s->guid);

		if (node == MAP64_NONE)
			continue;
		/* what was asked before it was suspected may have changed since */
		if (p->heard.v[node]) {
			sm->suspects.v[kept++] = *s;
			continue;
		}
		ask_node(p, node, s->renamed);
		if (s->changed)
			mark(p, node);
	}
	sm->suspects.n = kept;
}

static void round_start(struct probe *p)
{
	if (p->cut)
		fabric_reroute(p->f, p->shady.v);
	p->cut = false;
	p->rounds++;
	choose(p);
	p->sm->job = smp_job_start(p->sm->mad, (uint32_t)p->batches.n, &probe_ops, p);
}

/* The nodes of `to`, a settled copy of p->f, that are not as they were. */
static uint8_t *touched_of(const struct probe *p, const struct fabric *to)
{
	uint8_t *touched = xcalloc(to->n_nodes, 1);

	for (uint32_t i = 0; i < to->n_nodes; i++)
		touched[i] = p->touched.v[map64_get(&p->f->node_by_guid, to->nodes[i].guid)];
	return touched;
}

static void note_silent(const struct probe *p)
{
	char name[FABRIC_NAME_MAX];

	for (uint32_t i = 0; i < p->f->n_nodes; i++) {
		/* what is not known of it is read, and if it still says nothing it is missed */
		if (p->silent.v[i] && p->touched.v[i])
			map64_put(&p->sm->doubtful, p->f->nodes[i].guid, 1);
		if (p->silent.v[i] && !p->heard.v[i])
			log_limited(&silent_log, LOG_LEVEL_WARNING, "sweep",
				    "%s: does not answer, but has links that are up",
				    fabric_node_name(p->f, i, name, sizeof(name)));
	}
}

/* What a discovery found, and what was hidden to it. */
static void end_hidden(struct probe *p)
{
	struct sm *sm = p->sm;
	struct buf err = { 0 };
	struct fabric *f = p->changed && !p->doubt ? fabric_settle(p->f, &err) : NULL;

	if (f)
		log_info("m-key", "%u nodes answer to an earlier M_Key only",
			 f->n_nodes > p->n_before ? f->n_nodes - p->n_before : 0);
	if (err.n)
		log_warn("discovery", "%s", err.s);
	if (!f) {
		f = p->found;
		p->found = NULL;
	}
	buf_free(&err);
	probe_free(sm);
	sweep_discovered(sm, f);
}

/* In a worker: of a large fabric it would hold up the loop. */
static void settle(void *arg)
{
	struct probe *p = arg;
	struct buf err = { 0 };

	p->settled = fabric_settle(p->f, &err);
	p->misfit = !p->settled || err.n;
	if (!p->misfit)
		p->settled_touched = touched_of(p, p->settled);
	buf_free(&err);
}

static void end(struct probe *p)
{
	struct sm *sm = p->sm;
	struct fabric *f = NULL;
	uint8_t *touched = NULL;
	bool all;

	if (p->misfit)
		doubt(p, "the parts do not fit together");
	if (p->doubt) {
		log_info("sweep", "all is discovered: %s", p->why);
	} else {
		f = p->settled;
		touched = p->settled_touched;
		p->settled = NULL;
		p->settled_touched = NULL;
	}
	all = p->doubt;
	note_silent(p);
	probe_free(sm);
	sweep_probed(sm, f, touched, all);
}

static void settled(void *arg)
{
	struct probe *p = arg;

	work_end(p->settling);
	p->settling = NULL;
	end(p);
}

static void asked_all(struct probe *p)
{
	if (!p->doubt && p->changed) {
		p->settling = work_start(p->sm->loop, settle, settled, p);
		if (p->settling)
			return;
		settle(p);
	}
	end(p);
}

/* A switch whose link was cut and that has more to tell, and a PortStateChange to clear. */
static void ask_other_ends(struct probe *p)
{
	if (p->cut)
		fabric_reroute(p->f, p->shady.v);
	p->cut = false;
	for (uint32_t i = 0; i < p->f->n_nodes; i++)
		if (p->touched.v[i] && !p->heard.v[i] && node_is_switch(&p->f->nodes[i]) &&
		    p->f->nodes[i].hops != FABRIC_UNREACHED)
			ask_node(p, i, false);
}

static void finished(void *arg)
{
	struct probe *p = arg;

	p->sm->job = NULL;
	for (size_t i = 0; i < p->asks.n && !p->doubt; i++)
		evaluate(p, &p->asks.v[i]);
	if (p->rounds >= ROUNDS_MAX)
		doubt(p, "it changes all the time");
	if (!p->found) {
		take_suspects(p);	/* what came meanwhile */
		if (!p->later.n && !p->doubt)
			ask_other_ends(p);
	}
	if (p->later.n && !p->doubt)
		round_start(p);
	else if (p->found)
		end_hidden(p);
	else
		asked_all(p);
}

/* Of a copy of f. */
static struct probe *probe_new(struct sm *sm, const struct fabric *f)
{
	struct probe *p = xcalloc(1, sizeof(*p));

	p->sm = sm;
	sm->probe = p;
	p->f = fabric_clone(f);
	p->n_before = f->n_nodes;
	map64_init(&p->asked, 256);
	map64_init(&p->key_of_port, 16);
	for (uint32_t i = 0; i < p->f->n_nodes; i++)
		add_flags(p);
	return p;
}

void probe_start(struct sm *sm)
{
	struct probe *p = probe_new(sm, sm->published->f);

	take_suspects(p);
	round_start(p);
}

void probe_hidden(struct sm *sm, struct fabric *f)
{
	struct probe *p = probe_new(sm, f);

	p->found = f;
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].present && f->ports[i].num && f->ports[i].peer == FABRIC_NONE &&
		    f->ports[i].state >= IB_PORT_INIT_S)
			ask(p, f->ports[i].node, f->ports[i].num, ASK_BEHIND);
	round_start(p);
}

void probe_free(struct sm *sm)
{
	struct probe *p = sm->probe;

	if (!p)
		return;
	sm->probe = NULL;
	work_end(p->settling);
	fabric_free(p->settled);
	free(p->settled_touched);
	fabric_free(p->f);
	fabric_free(p->found);
	map64_free(&p->asked);
	map64_free(&p->key_of_port);
	vec_free(&p->asks);
	vec_free(&p->later);
	vec_free(&p->batches);
	vec_free(&p->touched);
	vec_free(&p->heard);
	vec_free(&p->shady);
	vec_free(&p->silent);
	free(p);
}
