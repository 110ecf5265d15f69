/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovers the fabric without libibnetdisc; fallback_scan.h has the contracts.
 *
 * Each question is asked once (paced_smps.c repeats lost SMPs), in the order in which questions
 * arose; its index is the lower half of its TransactionID.  answer_guard.c has checked each
 * NodeInfo that arrives here: NodeType, NumPorts and LocalPortNum are possible, and consistent for
 * each node GUID.
 *
 * Invariants: a node with n ports owns the slots port0 .. port0 + n; `far` is symmetric.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>

#include "discovery/stream.h"
#include "discovery/fallback_scan.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/map64.h"

#define NONE UINT32_MAX
#define LINK_UP 5		/* PortPhysicalState (14.2.5.6) */
#define MAD_SIZE 256

struct port_seen {
	bool present, asked;
	uint32_t far;		/* port slot at the other end, or NONE */
	uint64_t guid;
	uint8_t info[64];
};

struct node_seen {
	uint32_t port0;
	uint8_t hops;
	uint8_t route[IB_DR_HOPS_MAX];
	uint8_t info[40], switch_info[20];
	char desc[64];
};

/*
 * One SMP: NodeInfo asks whatever is behind port `out` of node `near`; other attributes ask a known
 * node, by that route.
 */
struct question {
	uint32_t node;		/* NONE: NodeInfo of a device not known yet */
	uint32_t near;		/* NONE: our own device */
	uint8_t out;
	uint8_t num;		/* port that PortInfo is asked of */
	uint16_t attr;
	bool sent;
};

struct walk {
	const struct walk_config *c;
	int fd, agent;
	VEC(struct node_seen) nodes;
	VEC(struct port_seen) ports;
	VEC(struct question) questions;
	uint32_t next, outstanding;	/* index of the next question; number without an answer yet */
	struct map64 by_guid;
	void *umad;
	uint8_t self_num;
};

static unsigned ports_of(const struct node_seen *n)
{
	return n->info[NI_PORTS];
}

static bool is_switch(const struct node_seen *n)
{
	return n->info[NI_TYPE] == IB_NODE_SWITCH_T;
}

/* --- questions --- */

static void ask(struct walk *w, const struct question *q)
{
	*vec_push(&w->questions) = *q;
}

static void ask_port(struct walk *w, const struct question *way, uint32_t node, unsigned num)
{
	struct port_seen *p = &w->ports.v[w->nodes.v[node].port0 + num];

	if (p->asked)
		return;
	p->asked = true;
	ask(w, &(struct question){ .node = node, .near = way->near, .out = way->out,
				   .num = (uint8_t)num, .attr = UMAD_SM_ATTR_PORT_INFO });
}

/* Queues all questions to a new node, along the route of its NodeInfo. */
static void ask_node(struct walk *w, const struct question *way, uint32_t node)
{
	struct question q = { .node = node, .near = way->near, .out = way->out };
	const struct node_seen *n = &w->nodes.v[node];
	unsigned ports = ports_of(n), local = n->info[NI_LOCAL_PORT];

	q.attr = UMAD_SM_ATTR_NODE_DESC;
	ask(w, &q);
	if (!is_switch(n)) {
		ask_port(w, way, node, local);
		return;
	}
	q.attr = UMAD_SM_ATTR_SWITCH_INFO;
	ask(w, &q);
	for (unsigned num = 0; num <= ports; num++)
		ask_port(w, way, node, num);
}

/* Returns false if the port cannot send. */
static bool send_one(struct walk *w, uint32_t i)
{
	struct question *q = &w->questions.v[i];
	struct umad_smp *smp = umad_get_mad(w->umad);

	memset(w->umad, 0, umad_size() + MAD_SIZE);
	smp->base_version = 1;
	smp->mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	smp->class_version = 1;
	smp->method = UMAD_METHOD_GET;
	smp->tid = htobe64(i);
	smp->attr_id = htobe16(q->attr);
	smp->attr_mod = htobe32(q->attr == UMAD_SM_ATTR_PORT_INFO ? q->num : 0);
	smp->mkey = htobe64(w->c->m_key);
	smp->dr_slid = smp->dr_dlid = htobe16(IB_LID_PERMISSIVE);
	if (q->near != NONE) {
		const struct node_seen *near = &w->nodes.v[q->near];

		memcpy(smp->initial_path + 1, near->route, near->hops);
		smp->initial_path[near->hops + 1] = q->out;
		smp->hop_cnt = (uint8_t)(near->hops + 1);
	}
	umad_set_addr(w->umad, IB_LID_PERMISSIVE, 0, 0, 0);
	q->sent = true;
	w->outstanding++;
	return umad_send(w->fd, w->agent, w->umad, MAD_SIZE, (int)w->c->timeout_ms, 0) >= 0;
}

/* --- answers --- */

static uint32_t add_node(struct walk *w, const struct question *q, const uint8_t *info)
{
	uint32_t node = (uint32_t)w->nodes.n;
	struct node_seen *n = vec_push(&w->nodes);

	*n = (struct node_seen){ .port0 = (uint32_t)w->ports.n };
	memcpy(n->info, info, sizeof(n->info));
	if (q->near != NONE) {
		const struct node_seen *near = &w->nodes.v[q->near];

		memcpy(n->route, near->route, near->hops);
		n->route[near->hops] = q->out;
		n->hops = (uint8_t)(near->hops + 1);
	}
	for (unsigned num = 0; num <= ports_of(n); num++)
		*vec_push(&w->ports) = (struct port_seen){
			.far = NONE, .guid = get_be64(info + NI_PORT_GUID),
		};
	map64_put(&w->by_guid, get_be64(info + NI_GUID), node);
	return node;
}

static void part(struct walk *w, uint32_t port)
{
	uint32_t far = w->ports.v[port].far;

	if (far == NONE)
		return;
	w->ports.v[far].far = NONE;
	w->ports.v[port].far = NONE;
}

/*
 * If two answers that the guard let pass contradict each other, the guard believes the later one.
 */
static void link_up(struct walk *w, uint32_t a, uint32_t b)
{
	if (a == b || w->ports.v[a].far == b)
		return;
	part(w, a);
	part(w, b);
	w->ports.v[a].far = b;
	w->ports.v[b].far = a;
}

static void take_node_info(struct walk *w, const struct question *q, const uint8_t *info)
{
	uint32_t node = map64_get(&w->by_guid, get_be64(info + NI_GUID));
	bool is_new = node == MAP64_NONE;
	unsigned local = info[NI_LOCAL_PORT];
	uint32_t to;

	if (is_new)
		node = add_node(w, q, info);
	if (local > ports_of(&w->nodes.v[node]))
		return;		/* the guard refuses such */
	to = w->nodes.v[node].port0 + local;
	if (q->near == NONE)
		w->self_num = (uint8_t)local;
	else
		link_up(w, w->nodes.v[q->near].port0 + q->out, to);
	if (is_new) {
		ask_node(w, q, node);
	} else if (!is_switch(&w->nodes.v[node])) {
		w->ports.v[to].guid = get_be64(info + NI_PORT_GUID);
		ask_port(w, q, node, local);
	}
}

/*
 * True if what is behind the port may be asked: only switches, and our own port, forward a directed
 * route.
 */
static bool leads_on(const struct walk *w, const struct question *q, uint8_t *info)
{
	const struct node_seen *n = &w->nodes.v[q->node];

	if (!q->num || n->hops >= IB_DR_HOPS_MAX ||
	    mad_get_field(info, 0, IB_PORT_PHYS_STATE_F) != LINK_UP)
		return false;
	if (is_switch(n))
		return q->num != mad_get_field(info, 0, IB_PORT_LOCAL_PORT_F) || !q->node;
	return !q->node && q->num == w->self_num;
}

static void take_port_info(struct walk *w, const struct question *q, const uint8_t *data)
{
	struct port_seen *p = &w->ports.v[w->nodes.v[q->node].port0 + q->num];

	memcpy(p->info, data, sizeof(p->info));
	p->present = true;
	if (leads_on(w, q, p->info))
		ask(w, &(struct question){ .node = NONE, .near = q->node, .out = q->num,
					   .attr = UMAD_SM_ATTR_NODE_INFO });
}

static void take_answer(struct walk *w, const struct question *q, const uint8_t *data)
{
	switch (q->attr) {
	case UMAD_SM_ATTR_NODE_INFO:
		take_node_info(w, q, data);
		break;
	case UMAD_SM_ATTR_PORT_INFO:
		take_port_info(w, q, data);
		break;
	case UMAD_SM_ATTR_SWITCH_INFO:
		memcpy(w->nodes.v[q->node].switch_info, data, sizeof(w->nodes.v[0].switch_info));
		break;
	case UMAD_SM_ATTR_NODE_DESC:
		memcpy(w->nodes.v[q->node].desc, data, sizeof(w->nodes.v[0].desc));
		break;
	}
}

static bool receive_one(struct walk *w)
{
	const struct umad_smp *smp = umad_get_mad(w->umad);
	int length = MAD_SIZE;
	struct question q;
	uint32_t i;

	if (umad_recv(w->fd, w->umad, &length, -1) < 0)
		return errno == EINTR;
	i = (uint32_t)be64toh(smp->tid);
	if (i >= w->questions.n || !w->questions.v[i].sent)
		return true;
	w->questions.v[i].sent = false;
	w->outstanding--;
	q = w->questions.v[i];		/* a copy, as take_answer() adds questions */
	if (!umad_status(w->umad) && !(be16toh(smp->status) & 0x7fff))
		take_answer(w, &q, smp->data);
	return true;
}

static bool ask_all(struct walk *w)
{
	ask(w, &(struct question){ .node = NONE, .near = NONE, .attr = UMAD_SM_ATTR_NODE_INFO });
	while (w->outstanding || w->next < w->questions.n) {
		while (w->outstanding < w->c->window && w->next < w->questions.n)
			if (!send_one(w, w->next++))
				return false;
		if (!receive_one(w))
			return false;
	}
	return true;
}

/* --- records --- */

static void put_node(const struct walk *w, uint32_t node, void (*put)(const void *record, size_t n))
{
	const struct node_seen *n = &w->nodes.v[node];
	struct stream_node r = { .type = STREAM_NODE, .is_switch = is_switch(n), .hops = n->hops };

	memcpy(r.node_info, n->info, sizeof(r.node_info));
	memcpy(r.switch_info, n->switch_info, sizeof(r.switch_info));
	memcpy(r.desc, n->desc, sizeof(r.desc));
	memcpy(r.route, n->route, n->hops);
	put(&r, sizeof(r));
	for (unsigned num = is_switch(n) ? 0 : 1; num <= ports_of(n); num++) {
		const struct port_seen *p = &w->ports.v[n->port0 + num];
		struct stream_port s = { .type = STREAM_PORT, .num = (uint8_t)num, .guid = p->guid };

		if (!p->present)
			continue;
		memcpy(s.port_info, p->info, sizeof(s.port_info));
		put(&s, sizeof(s));
	}
}

/*
 * Writes each link once, from its lower end, including links with an end whose PortInfo is missing.
 */
static void put_links(const struct walk *w, void (*put)(const void *record, size_t n))
{
	uint32_t *owner = xcalloc(w->ports.n, sizeof(*owner));

	for (uint32_t i = 0; i < w->nodes.n; i++)
		for (unsigned num = 0; num <= ports_of(&w->nodes.v[i]); num++)
			owner[w->nodes.v[i].port0 + num] = i;
	for (uint32_t a = 0; a < w->ports.n; a++) {
		uint32_t b = w->ports.v[a].far;
		struct stream_link l = { .type = STREAM_LINK };

		if (b == NONE || b < a)
			continue;
		l.node_a = owner[a];
		l.node_b = owner[b];
		l.num_a = (uint8_t)(a - w->nodes.v[l.node_a].port0);
		l.num_b = (uint8_t)(b - w->nodes.v[l.node_b].port0);
		put(&l, sizeof(l));
	}
	free(owner);
}

static bool open_port(struct walk *w)
{
	if (umad_init() < 0 || (w->fd = umad_open_port(w->c->ca, w->c->port)) < 0) {
		fprintf(stderr, "%s port %d cannot be opened: %s\n", w->c->ca, w->c->port,
			strerror(errno));
		return false;
	}
	w->agent = umad_register(w->fd, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, 0, NULL);
	if (w->agent >= 0)
		return true;
	fprintf(stderr, "%s port %d: no agent for directed routes\n", w->c->ca, w->c->port);
	return false;
}

static enum walk_end walk_all(struct walk *w)
{
	if (!open_port(w) || !ask_all(w))
		return WALK_FAILED;
	return w->nodes.n ? WALK_GOOD : WALK_OWN_PORT;
}

enum walk_end walk_fabric(const struct walk_config *c, void (*put)(const void *record, size_t n),
			  uint8_t *self_num, uint32_t *mads)
{
	struct walk w = { .c = c };
	enum walk_end end;

	w.umad = xcalloc(1, umad_size() + MAD_SIZE);
	end = walk_all(&w);	/* the port is left open: the process exits after this */
	*mads = w.next;
	*self_num = w.self_num;
	for (uint32_t i = 0; i < w.nodes.n && end == WALK_GOOD; i++)
		put_node(&w, i, put);
	if (end == WALK_GOOD)
		put_links(&w, put);
	vec_free(&w.nodes);
	vec_free(&w.ports);
	vec_free(&w.questions);
	map64_free(&w.by_guid);
	free(w.umad);
	return end;
}
