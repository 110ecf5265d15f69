/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads P_Key tables of end ports that this daemon did not write last, before the plan is made.
 *
 * Queue pairs refer to a P_Key by its index in the table.  A port that another subnet manager
 * configured, or a daemon that lost its state, may have its P_Keys at other indexes than a plan
 * would choose, and a table written in another order breaks every connection that uses it.  So the
 * plan first learns the indexes (pkey_places_found()).
 *
 * This costs no SMPs: observe.c would read the same blocks after planning, and takes what was read
 * here instead.  With the default partition alone there is nothing to learn.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "plan/sm_attributes.h"
#include "sm/sm_internal.h"
#include "sm/sweep/reading.h"

struct pkey_blocks {
	struct pkey_block {
		uint32_t port;
		uint16_t block;
		bool read;
		uint8_t data[64];
	} *v;
	uint32_t n, next;
};

static void list_blocks(struct sm *sm, uint32_t node)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[node];
	struct node_work *w = &sm->sweep.work[node];
	VEC(struct pkey_block) list = { 0 };

	for (uint32_t port = n->port0; port <= n->port0 + n->nports; port++) {
		unsigned cap;

		if (!port_is_end(sm->sweep.f, port) || !sm->sweep.f->ports[port].present)
			continue;
		cap = port_pkey_cap(sm->sweep.f, port);
		for (unsigned b = 0; b * PKEYS_PER_BLOCK < cap && b <= ITEM_ALL; b++)
			*vec_push(&list) = (struct pkey_block){
				.port = port, .block = (uint16_t)b };
	}
	w->pkeys = xcalloc(1, sizeof(*w->pkeys));
	w->pkeys->v = list.v;
	w->pkeys->n = (uint32_t)list.n;
}

static uint32_t modifier(const struct sm *sm, const struct pkey_block *b)
{
	const struct fabric_port *p = &sm->sweep.f->ports[b->port];

	/* only a switch looks at the port number (14.2.5.7) */
	return b->block | (node_is_switch(&sm->sweep.f->nodes[p->node]) ? (uint32_t)p->num << 16 :
			   0);
}

static bool next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];
	uint32_t old_node;

	if (w->failed || !sweep_touches(sm, node))
		return false;
	if (!w->pkeys && !w->cursor++ && !sweep_known_plan(sm, node, &old_node))
		list_blocks(sm, node);
	while (w->pkeys && w->pkeys->next < w->pkeys->n) {
		const struct pkey_block *b = &w->pkeys->v[w->pkeys->next++];

		if (!want_route(sm->sweep.f, node, sm->sweep.f->ports[b->port].num, s))
			continue;
		sweep_fill_smp(sm, s, SMP_GET, UMAD_SM_ATTR_PKEY_TABLE, modifier(sm, b));
		*cookie = w->pkeys->next - 1;
		return true;
	}
	return false;
}

/* A block that cannot be read now is read by observe.c, and shows no indexes. */
static void done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];
	struct pkey_block *b = &w->pkeys->v[cookie];

	if (status < 0) {
		sweep_smp_lost(sm, node, "reading P_Keys");
		return;
	}
	sweep_heard(sm, node);
	b->read = !status;
	memcpy(b->data, s->data, sizeof(b->data));
}

/* The blocks of one port are adjacent in the list; returns the first block of the next port. */
static uint32_t learn_port(struct sm *sm, const struct pkey_blocks *x, uint32_t first)
{
	uint32_t port = x->v[first].port, last = first, n = 0;
	uint16_t *keys;

	while (last < x->n && x->v[last].port == port)
		last++;
	keys = xcalloc((size_t)(last - first) * PKEYS_PER_BLOCK, sizeof(*keys));
	for (uint32_t i = first; i < last; i++)
		for (unsigned k = 0; k < PKEYS_PER_BLOCK; k++, n++)
			keys[n] = x->v[i].read ? get_be16(x->v[i].data + 2 * k) : 0;
	if (n > port_pkey_cap(sm->sweep.f, port))
		n = port_pkey_cap(sm->sweep.f, port);
	store_found_pkeys(sm->store, sm->sweep.f->ports[port].guid, keys, n);
	free(keys);
	return last;
}

static void finished(void *arg)
{
	struct sm *sm = arg;

	for (uint32_t node = 0; node < sm->sweep.f->n_nodes; node++) {
		const struct pkey_blocks *x = sm->sweep.work[node].pkeys;

		for (uint32_t i = 0; x && i < x->n;)
			i = learn_port(sm, x, i);
	}
	sweep_job_over(sm);
}

static const struct smp_job_ops places_ops = { next, done, finished };

enum step_result places_start(struct sm *sm)
{
	if (sm->sweep.policy->p->n_partitions < 2)
		return RESULT_DONE;
	sm->sweep.job = smp_job_start(sm->mad, sm->sweep.f->n_nodes, &places_ops, sm);
	return RESULT_WAIT;
}

const uint8_t *places_read(const struct sm *sm, uint32_t node, item_t item)
{
	const struct pkey_blocks *x = sm->sweep.work[node].pkeys;
	uint32_t port = sm->sweep.f->nodes[node].port0 + ITEM_A(item);

	for (uint32_t i = 0; x && ITEM_KIND(item) == ITEM_PKEY && i < x->n; i++)
		if (x->v[i].port == port && x->v[i].block == ITEM_B(item))
			return x->v[i].read ? x->v[i].data : NULL;
	return NULL;
}

void places_free(struct node_work *w)
{
	if (w->pkeys)
		free(w->pkeys->v);
	free(w->pkeys);
	w->pkeys = NULL;
}
