/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Resolves fabric-setup scopes into out ports (T4).
 *
 * `group`: the members themselves; a switch's port 0 stands for all its ports.  `across`: the ports at the
 * other end of the members' links; port 0 again stands for all links of the switch.
 */
#include <stdlib.h>

#include "qos/tables/table_scopes.h"

void stacks_init(struct stacks *s, const struct fabric *f)
{
	*s = (struct stacks){ .f = f };
	*vec_push(&s->node) = (struct stack_node){ UINT32_MAX, STACK_EMPTY };
	s->of_port = xcalloc(f->n_ports, sizeof(*s->of_port));
	s->node_seen = xcalloc(f->n_nodes, sizeof(*s->node_seen));
}

void stacks_free(struct stacks *s)
{
	vec_free(&s->node);
	map64_free(&s->known);
	free(s->of_port);
	free(s->node_seen);
}

static uint32_t stack_push(struct stacks *s, uint32_t scope, uint32_t below)
{
	uint64_t key = (uint64_t)scope << 32 | below;
	uint32_t top = map64_get(&s->known, key);

	if (top == MAP64_NONE) {
		top = (uint32_t)s->node.n;
		*vec_push(&s->node) = (struct stack_node){ scope, below };
		map64_put(&s->known, key, top);
	}
	return top;
}

/* Progress of one scope through the fabric. */
struct walk {
	struct stacks *s;
	const struct scope *scope;
	uint32_t n;
	unsigned from_highest, to_highest;	/* highest port numbers in the lists */
	struct scope_reach reach;
};

static unsigned highest_listed(const struct port_list *l)
{
	unsigned num = IB_PORT_NUM_MAX;

	if (!l || l->all)
		return 0;
	while (num && !port_list_has(l, num))
		num--;
	return num;
}

static void check_list(struct lacking *l, const struct port_list *list, unsigned highest,
		       const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];
	bool lacks_0 = !node_is_switch(n) && !list->all && port_list_has(list, 0);

	if (highest <= n->nports && !lacks_0)
		return;
	if (!l->nodes++) {
		l->node = node;
		l->port = highest > n->nports ? highest : 0;
	}
}

/* Checks the lists against a device that the scope names; once per device. */
static void check_node(struct walk *w, uint32_t node)
{
	const struct fabric *f = w->s->f;

	if (w->s->node_seen[node] == w->n + 1)
		return;
	w->s->node_seen[node] = w->n + 1;
	check_list(&w->reach.to, w->scope->to, w->to_highest, f, node);
	if (w->scope->from && node_is_switch(&f->nodes[node]))
		check_list(&w->reach.from, w->scope->from, w->from_highest, f, node);
}

static void name_port(struct walk *w, uint32_t port)
{
	struct stacks *s = w->s;

	check_node(w, s->f->ports[port].node);
	if (!port_list_has(w->scope->to, s->f->ports[port].num))
		return;
	w->reach.ports++;
	s->of_port[port] = stack_push(s, w->n, s->of_port[port]);
}

static void name_switch(struct walk *w, uint32_t port0)
{
	const struct fabric *f = w->s->f;
	const struct fabric_node *n = port_node(f, port0);

	check_node(w, f->ports[port0].node);
	/* A base port 0 has no tables of its own. */
	if (f->switches[n->sw].enhanced_port0)
		name_port(w, port0);
	for (uint32_t num = 1; num <= n->nports; num++)
		name_port(w, port0 + num);
}

static void name_peer(struct walk *w, uint32_t port)
{
	uint32_t peer = w->s->f->ports[port].peer;

	if (peer != FABRIC_NONE)
		name_port(w, peer);
}

static void name_member(struct walk *w, uint32_t port)
{
	const struct fabric *f = w->s->f;
	bool whole_switch = f->ports[port].num == 0 && node_is_switch(port_node(f, port));

	if (w->scope->kind == SCOPE_GROUP) {
		if (whole_switch)
			name_switch(w, port);
		else
			name_port(w, port);
		return;
	}
	if (!whole_switch)
		name_peer(w, port);
	else
		for (uint32_t num = 1; num <= port_node(f, port)->nports; num++)
			name_peer(w, port + num);
}

struct scope_reach stacks_add(struct stacks *s, const struct group_sets *g,
			      const struct scope *scope, uint32_t n)
{
	struct walk w = {
		.s = s, .scope = scope, .n = n,
		.from_highest = highest_listed(scope->from),
		.to_highest = highest_listed(scope->to),
	};

	if (scope->group == UINT32_MAX)
		return w.reach;
	const uint64_t *set = group_set(g, scope->group);

	for (uint32_t i = 0; i < g->words; i++)
		for (uint64_t m = set[i]; m; m &= m - 1)
			name_member(&w, i * 64 + (uint32_t)__builtin_ctzll(m));
	return w.reach;
}
