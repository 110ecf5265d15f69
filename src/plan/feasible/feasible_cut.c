/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds levels that can send nothing at all at some ports: their SL has no VL there, or the port's
 * arbitration tables never serve its VL.
 *
 * That is an error where a client may get the level: everywhere if it is the level `default` or a
 * rule does not name both ends, else at the members of a partition that has it, the ports of the
 * groups of a rule that has it, and the switch ports that lead to either.  Links between switches
 * carry all of them.  SL 0 counts even without a level, as management datagrams use it.
 *
 * A switch port can send an SL if packets from any linked port of the switch can leave by it with
 * that SL; that some cannot is for feasible_reach.c.  Aggregation nodes are left out, as no level is
 * made for what they send.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "plan/feasible/feasible_parts.h"

#define EXAMPLES 3

/* SLs that cannot be sent at a port. */
struct loss {
	uint16_t no_vl;			/* they map to VL15, or to a VL that the link lacks */
	uint16_t unserved;		/* no arbitration table has weight for their VL */
};

struct cuts {
	struct judge *j;
	uint16_t *uses;			/* per port slot: SLs of levels that its clients may get */
	uint16_t everywhere;		/* SLs that all ports may use */
	uint16_t used;			/* SLs that any port may use */
	bool *given;			/* per level: clients may get it */
	uint32_t *ports, n_ports;	/* ports that lose any SL, */
	struct loss *losses;		/* and what they lose */
};

/* --- which SLs clients may get, and where --- */

static void give_everywhere(struct cuts *c, uint32_t level)
{
	c->given[level] = true;
	c->everywhere |= (uint16_t)(1u << c->j->p->policy->levels[level].sl);
}

static void add_uses(struct cuts *c, const struct policy_names *names, uint16_t sl)
{
	const struct group_sets *g = c->j->p->groups;

	for (size_t i = 0; i < names->n; i++) {
		uint32_t group = groups_find(g, c->j->p->policy, names->v[i].s);

		for (uint32_t w = 0; group != UINT32_MAX && w < g->words; w++)
			for (uint64_t bits = group_set(g, group)[w]; bits; bits &= bits - 1)
				c->uses[w * 64 + (unsigned)__builtin_ctzll(bits)] |= sl;
	}
}

static bool names_both_ends(const struct policy_rule *r)
{
	return r->sources.n && r->destinations.n;
}

static void take_rules(struct cuts *c)
{
	const struct policy *pol = c->j->p->policy;

	for (size_t i = 0; i < pol->n_rules; i++)
		if (!names_both_ends(&pol->rules[i]))
			give_everywhere(c, pol->rules[i].level);
	for (size_t i = 0; i < pol->n_rules; i++) {
		const struct policy_rule *r = &pol->rules[i];
		uint16_t sl = (uint16_t)(1u << pol->levels[r->level].sl);

		c->given[r->level] = true;
		if (c->everywhere & sl)
			continue;
		add_uses(c, &r->sources, sl);
		add_uses(c, &r->destinations, sl);
	}
}

/* By P_Key table, as there are far fewer tables than ports. */
static void take_partitions(struct cuts *c)
{
	const struct policy *pol = c->j->p->policy;
	const struct partitions *parts = c->j->p->partitions;
	uint16_t *by_table = xcalloc(parts->n_tables, sizeof(*by_table));

	for (uint32_t t = 0; t < parts->n_tables; t++)
		for (uint32_t i = 0; i < parts->tables[t].n; i++) {
			uint16_t key = parts->tables[t].keys[i];
			uint32_t k = key ? partition_of_pkey(parts, key) : UINT32_MAX;

			if (k == UINT32_MAX)
				continue;
			const struct policy_partition *part = &pol->partitions[k];

			c->given[part->level_index] = c->given[part->ipoib_level_index] = true;
			by_table[t] |= (uint16_t)(1u << pol->levels[part->level_index].sl |
						  1u << pol->levels[part->ipoib_level_index].sl);
		}
	for (uint32_t port = 0; port < parts->n_ports; port++)
		if (port_is_end(c->j->p->f, port))
			c->uses[port] |= by_table[parts->table[port]];
	free(by_table);
}

static void find_uses(struct cuts *c)
{
	const struct policy *pol = c->j->p->policy;

	c->everywhere = 1;
	give_everywhere(c, pol->default_level);
	take_rules(c);
	take_partitions(c);
	c->used = c->everywhere;
	for (uint32_t i = 0; i < c->j->p->f->n_ports; i++)
		c->used |= c->uses[i];
}

/* The SLs that clients may want to send at a port. */
static uint16_t wanted_at(const struct cuts *c, uint32_t port)
{
	const struct fabric *f = c->j->p->f;

	if (link_joins_switches(f, port))
		return c->used;
	return c->everywhere | c->uses[port_is_host(f, port) ? port : f->ports[port].peer];
}

/* --- which SLs a port can send --- */

static uint16_t vls_served(const struct plan *p, uint32_t port, unsigned n_vls)
{
	if (n_vls == 1 || p->tables->arb[port] == TABLE_NONE)
		return ALL_VLS;
	const struct vlarb *arb = &p->tables->arbs[p->tables->arb[port]];

	return arbiter_high_vls(arb) | arbiter_low_vls(arb);
}

static struct loss loss_of(const struct plan *p, uint32_t port)
{
	uint32_t node = p->f->ports[port].node;
	const struct fabric_node *n = &p->f->nodes[node];
	unsigned out = p->f->ports[port].num, code = p->tables->op_vls[port];
	uint16_t mapped = 0, sent = 0, served = vls_served(p, port, ib_vls_from_code(code));
	uint16_t last = TABLE_NONE;
	bool any = false;

	for (unsigned in = 0; in <= (node_is_switch(n) ? n->nports : 0u); in++) {
		if (node_is_switch(n) && (!in || in == out || p->f->ports[n->port0 + in].peer == FABRIC_NONE))
			continue;
		uint16_t id = qos_sl2vl_id(p->tables, p->f, node, in, out);

		if (id == TABLE_NONE)
			return (struct loss){ 0 };	/* all SLs on VL 0 */
		if (any && id == last)
			continue;
		uint16_t sls = qos_map_sls(&p->tables->maps[id], code);

		any = true;
		last = id;
		mapped |= sls;
		sent |= sls & qos_map_sls_on(&p->tables->maps[id], served);
	}
	if (!any)
		return (struct loss){ 0 };
	return (struct loss){ .no_vl = (uint16_t)~mapped, .unserved = mapped & (uint16_t)~sent };
}

static bool is_judged(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return peer != FABRIC_NONE && !link_is_inner(f, port) && !port_node(f, port)->aggregation &&
	       !port_node(f, peer)->aggregation;
}

static void find_losses(struct cuts *c)
{
	const struct plan *p = c->j->p;
	VEC(uint32_t) ports = { 0 };
	VEC(struct loss) losses = { 0 };

	for (uint32_t i = 0; i < p->f->n_ports; i++) {
		if (!is_judged(p->f, i))
			continue;
		struct loss l = loss_of(p, i);

		if (!((l.no_vl | l.unserved) & (wanted_at(c, i) | c->j->sls)))
			continue;
		*vec_push(&ports) = i;
		*vec_push(&losses) = l;
	}
	c->ports = ports.v;
	c->losses = losses.v;
	c->n_ports = (uint32_t)ports.n;
}

/* --- findings --- */

/* Ports at which an SL is lost in one of the two ways, the first of them with both ends. */
struct places {
	uint32_t n;
	unsigned vl;		/* at the first; IB_VL_DROP: none */
	struct buf text;
};

static unsigned vl_at(const struct plan *p, uint32_t port, unsigned sl)
{
	uint32_t node = p->f->ports[port].node;
	const struct fabric_node *n = &p->f->nodes[node];
	unsigned out = p->f->ports[port].num, code = p->tables->op_vls[port];

	for (unsigned in = 0; in <= (node_is_switch(n) ? n->nports : 0u); in++) {
		uint16_t id = qos_sl2vl_id(p->tables, p->f, node, in, out);

		if (id != TABLE_NONE && qos_map_sls(&p->tables->maps[id], code) >> sl & 1)
			return p->tables->maps[id].vl[sl];
	}
	return IB_VL_DROP;
}

static void add_place(const struct plan *p, struct places *x, uint32_t port, unsigned sl)
{
	if (!x->n++)
		x->vl = vl_at(p, port, sl);
	if (x->n <= EXAMPLES)
		buf_printf(&x->text, "%s%s to %s", x->n > 1 ? "; " : "", PORT_NAME(p->f, port),
			   PORT_NAME(p->f, p->f->ports[port].peer));
}

static void find_places(const struct cuts *c, unsigned sl, bool given, struct places *no_vl,
			struct places *unserved)
{
	for (uint32_t i = 0; i < c->n_ports; i++) {
		if (given && !(wanted_at(c, c->ports[i]) >> sl & 1))
			continue;
		if (c->losses[i].no_vl >> sl & 1)
			add_place(c->j->p, no_vl, c->ports[i], sl);
		else if (c->losses[i].unserved >> sl & 1)
			add_place(c->j->p, unserved, c->ports[i], sl);
	}
}

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

static void add_rest(struct places *x)
{
	if (x->n > EXAMPLES)
		buf_printf(&x->text, "; and %u more", x->n - EXAMPLES);
}

/*
 * who: "level X: " or the like.  A level that nobody gets is no reason to refuse the policy.  Returns the
 * number of errors.
 */
static uint8_t report(struct cuts *c, const char *who, const char *file, struct src_pos pos, unsigned sl,
		      bool given)
{
	struct findings *out = given ? &c->j->v->cut : &c->j->v->findings;
	enum severity severity = given ? SEV_ERROR : SEV_WARNING;
	struct places no_vl = { 0 }, unserved = { 0 };

	find_places(c, sl, given, &no_vl, &unserved);
	add_rest(&no_vl);
	add_rest(&unserved);
	if (no_vl.n && given)	/* else feasible_reach.c says what it does not connect */
		findings_add(out, severity, file, pos, "%sSL %u has no VL at %u port%s, so that "
			     "nothing with it is ever sent there: %s", who, sl, no_vl.n, plural(no_vl.n),
			     no_vl.text.s);
	if (unserved.n)
		findings_add(out, severity, file, pos, "%sno arbitration table serves VL %u, which "
			     "SL %u uses at %u port%s: its packets are never sent there: %s", who,
			     unserved.vl, sl, unserved.n, plural(unserved.n), unserved.text.s);
	buf_free(&no_vl.text);
	buf_free(&unserved.text);
	return given ? (uint8_t)((no_vl.n != 0) + (unserved.n != 0)) : 0;
}

void judge_cuts(struct judge *j)
{
	const struct policy *pol = j->p->policy;
	uint32_t slots = j->p->f->n_ports + 64;		/* group bit sets come in whole words */
	struct cuts c = {
		.j = j, .uses = xcalloc(slots, sizeof(*c.uses)),
		.given = xcalloc(pol->n_levels, sizeof(*c.given)),
	};
	bool has_sl0 = false;

	j->v->level_cut = xcalloc(pol->n_levels, sizeof(*j->v->level_cut));
	if (j->p->tables->managed) {
		find_uses(&c);
		find_losses(&c);
	}
	for (size_t i = 0; i < pol->n_levels && c.n_ports; i++) {
		char who[256];

		snprintf(who, sizeof(who), "level %s: ", pol->levels[i].name);
		has_sl0 |= c.given[i] && !pol->levels[i].sl;
		j->v->level_cut[i] = report(&c, who, policy_level_file(pol, &pol->levels[i]),
					    pol->levels[i].pos, pol->levels[i].sl, c.given[i]);
	}
	if (c.n_ports && !has_sl0)
		report(&c, "management datagrams: ", pol->file, (struct src_pos){ 0, 0 }, 0, true);
	findings_copy(&j->v->findings, &j->v->cut);
	free(c.uses);
	free(c.given);
	free(c.ports);
	free(c.losses);
}
