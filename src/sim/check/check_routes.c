/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks every pair of ends by walking each LID once.
 *
 * For one LID each switch has one way out, so that the routes from all sources form a tree with the
 * LID at its root, except routes that end early or loop.  The walk visits each switch on the tree
 * once, from the root outwards, and records with which SLs a packet gets from there to the end.
 *
 * By default every pair uses every SL in use, so that the route alone determines which SLs take a
 * hop.  With path_sls, check_pairs.c determines them for each LID.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/check/walk.h"

static bool arrives(const struct walk *w, uint32_t out)
{
	const struct sim_fabric *f = w->r->f;
	uint32_t end = f->ports[out].num == 0 ? out : f->ports[out].peer;

	return w->n->gates[out].sw == GATE_END && port_has_lid(&f->ports[end], w->lid);
}

/* The way on from a switch: 1 if the packet arrives, ON_WALK if there is another switch, or LOST. */
static uint16_t enter(struct walk *w, uint32_t sw)
{
	const struct stage *s = &w->n->stages[sw];
	unsigned num = lft_port(w->r->f, sw, w->lid);
	struct at *a = &w->at[sw];

	a->end = sw;
	if (num > s->nports)
		return LOST;
	a->out = s->port0 + num;
	a->reach = ALL_SLS;
	if (leads_to_switch(&w->n->gates[a->out]))
		return ON_WALK;
	return arrives(w, a->out) ? 1 : LOST;
}

/* Adds the dependencies of the switch's own senders on hop h at the next switch. */
static void senders_depend(struct walk *w, uint32_t sw, const struct gate *out, struct hop *h)
{
	const struct stage *s = &w->n->stages[sw];
	unsigned num = w->r->f->ports[w->at[sw].out].num;

	if (s->n_senders == 0)
		return;
	if (out->uniform) {
		net_depend(w->n, h, out->row, ALL_SLS);
		return;
	}
	for (unsigned in = 0; in <= s->nports; in++)
		if (w->n->gates[s->port0 + in].sender && in != num)
			net_depend(w->n, h, hop_at(w->n, sw, in, num)->row, ALL_SLS);
}

/* Marks hop h at `next` as taken by all SLs in use, and adds its dependencies on the way there. */
static void use_hop(struct walk *w, uint32_t sw, uint32_t next, struct hop *h)
{
	const struct sim_port *ports = w->r->f->ports;
	const struct gate *out = &w->n->gates[w->at[sw].out];
	const struct gate *then = &w->n->gates[w->at[next].out];

	h->sls = ALL_SLS;
	if (!leads_to_switch(then))
		return;
	senders_depend(w, sw, out, h);
	uint32_t last = w->at[then->sw].out;

	if (leads_to_switch(&w->n->gates[last]))
		net_depend(w->n, hop_at(w->n, then->sw, then->in, ports[last].num), h->row,
			   ALL_SLS);
}

/* Extends the way from sw by `next`, whose way arrives. */
static void advance(struct walk *w, uint32_t sw, uint32_t next)
{
	struct at *a = &w->at[sw], *b = &w->at[next];
	struct hop *h = hop_at(w->n, next, w->n->gates[a->out].in, w->r->f->ports[b->out].num);

	a->togo = b->togo + 1;
	a->reach = b->reach & h->pass;
	w->order[w->n_order++] = sw;
	if (!w->r->o->path_sls)
		use_hop(w, sw, next, h);
}

/*
 * Follows the LID from a switch until the outcome is known, and enters it at all switches on the
 * way.
 */
static void follow(struct walk *w, uint32_t sw)
{
	uint32_t depth = 0;

	while (w->at[sw].togo == UNSEEN) {
		w->at[sw].togo = enter(w, sw);
		if (w->at[sw].togo == 1)
			w->order[w->n_order++] = sw;
		if (w->at[sw].togo != ON_WALK)
			break;
		w->stack[depth++] = sw;
		sw = w->n->gates[w->at[sw].out].sw;
	}
	if (w->at[sw].togo == ON_WALK)
		w->at[sw].togo = COMES_BACK;
	while (depth > 0) {
		uint32_t next = sw;

		sw = w->stack[--depth];
		if (w->at[next].togo < LOST) {
			advance(w, sw, next);
		} else {
			w->at[sw].togo = w->at[next].togo;
			w->at[sw].end = w->at[next].end;
		}
	}
}

/* --- outcome for the sources at one switch --- */

/* Without path_sls: counts the SLs with which the sources get through. */
static void count_sls(struct walk *w, uint32_t sw, uint32_t sources)
{
	const struct stage *s = &w->n->stages[sw];
	const struct at *a = &w->at[sw];
	struct gate *out = &w->n->gates[a->out];
	unsigned num = w->r->f->ports[a->out].num;

	out->used = true;
	if (out->uniform) {
		w->by_sls[out->pass & a->reach] += sources;
		return;
	}
	for (unsigned in = 0; in <= s->nports; in++) {
		const struct gate *from = &w->n->gates[s->port0 + in];

		if (from->sender && in != num)
			w->by_sls[from->lets_in & hop_at(w->n, sw, in, num)->pass & a->reach]++;
	}
}

static void count_arrived(struct walk *w, uint32_t sw, uint32_t sources)
{
	unsigned togo = w->at[sw].togo;

	w->arrived += sources;
	w->hops += (uint64_t)sources * togo;
	if (togo > w->r->out->hops_max)
		w->r->out->hops_max = togo;
	if (!w->r->o->path_sls)
		count_sls(w, sw, sources);
}

static void count_sources(struct walk *w, uint32_t sw)
{
	const struct at *a = &w->at[sw];
	uint32_t sources = w->n->stages[sw].n_senders - (sw == w->home);

	w->pairs += sources;
	if (sources == 0)
		return;
	if (a->togo < LOST)
		count_arrived(w, sw, sources);
	else
		w->cut_off[a->end] += sources;
}

static void add_cycle(const struct walk *w, uint32_t sw, struct buf *text)
{
	uint32_t at = sw;

	do {
		buf_printf(text, "%s -> ", port_text(w->r->f, w->at[at].out).s);
		at = w->n->gates[w->at[at].out].sw;
	} while (at != sw);
	buf_printf(text, "%s", port_text(w->r->f, w->at[at].out).s);
}

/* Reports a switch where the LID's way ends or loops. */
static void report_end(struct walk *w, uint32_t sw)
{
	const struct sim_fabric *f = w->r->f;
	bool loop = w->at[sw].togo == COMES_BACK;
	struct buf text = { 0 };

	if (loop)
		add_cycle(w, sw, &text);
	else
		say_dead_end(f, sw, w->lid, &text);
	report(w->r, loop ? AUDIT_LOOP : AUDIT_UNREACHABLE,
	       "LID %u (%s): %s; cut off from %u end port%s", w->lid, port_text(f, w->dst).s,
	       text.s, w->cut_off[sw], w->cut_off[sw] == 1 ? "" : "s");
	buf_free(&text);
}

static void walk_lid(struct walk *w, uint16_t lid)
{
	const struct sim_port *dst = &w->r->f->ports[w->owner[lid]];
	uint32_t n_switches = w->r->f->n_switches;
	uint32_t entry = dst->num == 0 ? w->owner[lid] : dst->peer;

	w->lid = lid;
	w->dst = w->owner[lid];
	w->home = w->n->gates[entry].sender ? node_of(w->r->f, entry)->sw : SIM_NONE;
	w->n_order = 0;
	memset(w->at, 0, n_switches * sizeof(*w->at));
	for (uint32_t sw = 0; sw < n_switches; sw++) {
		if (w->n->stages[sw].n_senders == 0)
			continue;
		follow(w, sw);
		count_sources(w, sw);
	}
	for (uint32_t sw = 0; sw < n_switches; sw++) {
		if (w->cut_off[sw])
			report_end(w, sw);
		w->cut_off[sw] = 0;
	}
	if (w->r->o->path_sls)
		pairs_of_lid(w);
}

/* --- ends that are not attached to a switch --- */

/*
 * Number of LIDs that a lone end reaches: those of the end at the far side of its cable; none if
 * the link carries no data.
 */
static uint32_t reached_directly(const struct walk *w, uint32_t port)
{
	uint32_t peer = w->r->f->ports[port].peer, n = 0;

	if (!link_carries(w->r->f, port) || !is_end(w->r, peer))
		return 0;
	for (unsigned k = 0; k < lid_count(&w->r->f->ports[peer]); k++)
		n += w->owner[w->r->f->ports[peer].lid + k] == peer;
	return n;
}

static void count_lone_end(struct walk *w, uint32_t port)
{
	const struct sim_fabric *f = w->r->f;
	const struct sim_port *p = &f->ports[port];
	uint32_t others = w->n_lids, reached = reached_directly(w, port);

	for (unsigned k = 0; k < lid_count(p); k++)
		others -= w->owner[p->lid + k] == port;
	w->pairs += others;
	if (w->r->o->path_sls) {
		w->arrived += reached;
		pairs_of_lone_end(w, port);
	} else if (reached > 0) {
		uint64_t row = sl2vl_row(f, p->node, 0, p->num);

		w->arrived += reached;
		w->by_sls[row_passes(row, link_vls(f, port))] += reached;
	}
	if (reached < others)
		report(w->r, AUDIT_UNREACHABLE, "%s is %s behind %s: it reaches %u of %u LIDs",
		       port_text(f, port).s, state_text(p->state), port_text(f, p->peer).s,
		       reached, others);
}

static bool is_sender_at_switch(const struct walk *w, uint32_t port)
{
	const struct sim_port *p = &w->r->f->ports[port];

	return w->n->gates[p->num == 0 ? port : p->peer].sender;
}

/* --- whole audit --- */

static void find_owners(struct walk *w)
{
	const struct sim_fabric *f = w->r->f;

	for (uint32_t lid = 0; lid < SIM_LID_MCAST; lid++)
		w->owner[lid] = SIM_NONE;
	for (uint32_t port = 0; port < f->n_ports; port++) {
		if (!is_end(w->r, port))
			continue;
		w->r->out->end_ports++;
		for (unsigned k = 0; k < lid_count(&f->ports[port]); k++) {
			uint32_t *owner = &w->owner[f->ports[port].lid + k];

			w->n_lids += *owner == SIM_NONE;
			if (*owner == SIM_NONE)
				*owner = port;
		}
	}
}

/* The SLs by which the ends reach the subnet manager (MasterSMSL). */
static uint16_t master_sm_sls(const struct run *r)
{
	uint16_t sls = 0;

	for (uint32_t port = 0; port < r->f->n_ports; port++)
		if (is_end(r, port))
			sls |= 1u << (r->f->ports[port].info[PI_MTU_SM_SL] & 15);
	return sls ? sls : 1;
}

/* The SLs that, judging by the tables, are meant to be used. */
static uint16_t sls_in_use(const struct walk *w, const uint64_t connected[16])
{
	uint16_t sls = master_sm_sls(w->r);

	for (unsigned sl = 0; sl < 16; sl++)
		sls |= (unsigned)(connected[sl] > w->arrived / 2) << sl;
	return sls;
}

/* Without path_sls: determines the SLs in use, and what each of them connects. */
static void sum_by_sl(struct walk *w)
{
	struct audit *out = w->r->out;
	uint64_t connected[16] = { 0 };
	uint16_t some = 0;

	for (unsigned mask = 0; mask <= ALL_SLS; mask++)
		for (unsigned sl = 0; sl < 16 && w->by_sls[mask]; sl++)
			if (mask >> sl & 1)
				connected[sl] += w->by_sls[mask];
	for (unsigned sl = 0; sl < 16; sl++) {
		some |= (unsigned)(connected[sl] > 0) << sl;
		out->sls_connected |= (unsigned)(connected[sl] == w->pairs) << sl;
	}
	out->sls = w->r->o->sls ? w->r->o->sls : sls_in_use(w, connected);
	out->sls_mcast = out->sls;
	out->sls_partial = some & ~out->sls;
	out->pairs = w->pairs * (unsigned)__builtin_popcount(out->sls);
	for (unsigned sl = 0; sl < 16; sl++)
		if (out->sls >> sl & 1)
			out->connected += connected[sl];
}

/* With path_sls: determines how many of the pairs that use an SL it connects. */
static void sum_by_pair(struct walk *w)
{
	struct audit *out = w->r->out;

	for (unsigned sl = 0; sl < 16; sl++) {
		out->sls |= (unsigned)(w->sent[sl] > 0) << sl;
		out->sls_connected |= (unsigned)(w->sent[sl] && w->got[sl] == w->sent[sl]) << sl;
		out->pairs += w->sent[sl];
		out->connected += w->got[sl];
	}
	out->by_pair = true;
	out->pairs_without_sl = w->without_sl;
	out->sls_mcast = w->r->o->sls ? w->r->o->sls : out->sls;
}

void check_routes(struct run *r, struct net *n)
{
	const struct sim_fabric *f = r->f;
	struct walk w = { .r = r, .n = n };

	w.owner = xcalloc(SIM_LID_MCAST, sizeof(*w.owner));
	w.at = xcalloc(f->n_switches + 1u, sizeof(*w.at));
	w.stack = xcalloc(f->n_switches + 1u, sizeof(*w.stack));
	w.order = xcalloc(f->n_switches + 1u, sizeof(*w.order));
	w.cut_off = xcalloc(f->n_switches + 1u, sizeof(*w.cut_off));
	w.comes = xcalloc(f->n_ports + 1u, sizeof(*w.comes));
	w.by_sls = xcalloc(ALL_SLS + 1u, sizeof(*w.by_sls));
	find_owners(&w);
	for (uint32_t lid = 1; lid < SIM_LID_MCAST; lid++)
		if (w.owner[lid] != SIM_NONE)
			walk_lid(&w, (uint16_t)lid);
	for (uint32_t port = 0; port < f->n_ports; port++)
		if (is_end(r, port) && !is_sender_at_switch(&w, port))
			count_lone_end(&w, port);
	if (r->o->path_sls)
		sum_by_pair(&w);
	else
		sum_by_sl(&w);
	r->sls = r->out->sls | r->out->sls_mcast;
	r->out->hops_mean = w.arrived ? (double)w.hops / (double)w.arrived : 0;
	free(w.owner);
	free(w.at);
	free(w.stack);
	free(w.order);
	free(w.cut_off);
	free(w.comes);
	free(w.by_sls);
}
