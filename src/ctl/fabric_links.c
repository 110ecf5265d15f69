/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists the fabric's links by switch, equal ones counted together; see rows_of_links(). */
#include <stdlib.h>

#include "ctl/commands/cmd_explain.h"
#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "plan/feasible/feasible.h"

#define RANK_NONE UINT8_MAX

struct links {
	const struct subnet_state *s;
	const struct feasibility *v;
	struct feasibility *own;	/* v if this owns it; NULL if v is the plan's */
	uint32_t next;			/* index of the next switch */
	uint8_t *rank;			/* [switch] */
	uint32_t *deviation;		/* [port]: 1 + index into v's deviations, 0: none */
};

/* --- ranks: breadth first from the switches that have hosts --- */

static bool has_hosts(const struct fabric *f, const struct fabric_node *n)
{
	for (unsigned i = 1; i <= n->nports; i++) {
		uint32_t peer = f->ports[n->port0 + i].peer;

		if (peer != FABRIC_NONE && port_is_host(f, peer))
			return true;
	}
	return false;
}

static void rank_neighbours(const struct fabric *f, const struct fabric_node *n, uint8_t *rank,
			    uint32_t *queue, uint32_t *n_queue)
{
	uint8_t next = rank[n->sw] == RANK_NONE - 1 ? rank[n->sw] : rank[n->sw] + 1;

	for (unsigned i = 1; i <= n->nports; i++) {
		uint32_t peer = f->ports[n->port0 + i].peer;
		uint32_t sw = peer == FABRIC_NONE ? FABRIC_NONE : port_node(f, peer)->sw;

		if (sw == FABRIC_NONE || rank[sw] != RANK_NONE)
			continue;
		rank[sw] = next;
		queue[(*n_queue)++] = sw;
	}
}

static uint8_t *rank_switches(const struct fabric *f)
{
	uint8_t *rank = xcalloc(f->n_switches + 1, sizeof(*rank));
	uint32_t *queue = xcalloc(f->n_switches + 1, sizeof(*queue)), n = 0;

	for (uint32_t i = 0; i < f->n_switches; i++) {
		rank[i] = RANK_NONE;
		if (!has_hosts(f, &f->nodes[f->switches[i].node]))
			continue;
		rank[i] = 0;
		queue[n++] = i;
	}
	for (uint32_t i = 0; i < n; i++)
		rank_neighbours(f, &f->nodes[f->switches[queue[i]].node], rank, queue, &n);
	free(queue);
	return rank;
}

/* --- a row --- */

/* Links reported together: same destination, speed and deviation. */
struct bundle {
	uint32_t to;			/* index of a switch, or FABRIC_NONE: hosts */
	uint8_t rate, vls;
	uint32_t deviation;
	unsigned n;
	uint32_t example;		/* port index */
};

/*
 * What is below the usual value; "other": the link could do more, but links like it usually do not.
 */
static const char *bundle_below(const struct deviation *d)
{
	return rate_compare(d->rate, d->usual) < 0 ? "rate" :
	       d->vls < d->usual_vls ? "vls" : "other";
}

static json_t *bundle_object(const struct links *l, const struct bundle *b)
{
	const struct deviation *d = b->deviation ? &l->v->deviations[b->deviation - 1] : NULL;
	json_t *o = json_pack("{s:o, s:i, s:i, s:o, s:o, s:o}",
			      "to", b->to == FABRIC_NONE ? json_null() : json_integer(b->to),
			      "links", (int)b->n, "vls", b->vls,
			      "why", d ? json_text(d->why) : json_null(),
			      "below", d ? json_string(bundle_below(d)) : json_null(),
			      "example", json_port(l->s, b->example));

	json_object_set_new(o, "rate", json_real(rate_tenths(b->rate) / 10.0));
	return o;
}

static uint32_t deviation_of(const struct links *l, uint32_t port)
{
	uint32_t peer = l->s->f->ports[port].peer;

	return l->deviation[port] ? l->deviation[port] : l->deviation[peer];
}

struct bundles {
	struct bundle v[IB_PORT_NUM_MAX];
	unsigned n;
};

static void add_to_bundle(struct bundles *all, const struct bundle *b)
{
	for (unsigned i = 0; i < all->n; i++) {
		struct bundle *x = &all->v[i];

		if (x->to == b->to && x->rate == b->rate && x->vls == b->vls &&
		    x->deviation == b->deviation) {
			x->n++;
			return;
		}
	}
	all->v[all->n++] = *b;
}

/* The switch with the lower index reports a link between switches. */
static void collect_bundles(const struct links *l, uint32_t sw, struct bundles *all)
{
	const struct fabric *f = l->s->f;
	const struct fabric_node *n = &f->nodes[f->switches[sw].node];

	all->n = 0;
	for (unsigned i = 1; i <= n->nports; i++) {
		uint32_t port = n->port0 + i, peer = f->ports[port].peer;
		uint32_t to = peer == FABRIC_NONE ? FABRIC_NONE : port_node(f, peer)->sw;

		if (peer == FABRIC_NONE || link_is_inner(f, port) ||
		    (to != FABRIC_NONE && to < sw))
			continue;
		add_to_bundle(all, &(struct bundle){
			.to = to, .rate = paths_of_port(f, port).rate,
			.vls = (uint8_t)ib_vls_from_code(l->s->plan->tables->op_vls[port]),
			.deviation = deviation_of(l, port), .n = 1, .example = port,
		});
	}
}

static json_t *next_switch(void *rows)
{
	struct links *l = rows;
	const struct fabric *f = l->s->f;
	json_t *hosts = json_array(), *links = json_array();
	struct bundles all;
	uint32_t sw = l->next;
	unsigned n_hosts = 0;

	if (sw == f->n_switches) {
		json_decref(hosts);
		json_decref(links);
		return NULL;
	}
	l->next++;
	collect_bundles(l, sw, &all);
	for (unsigned i = 0; i < all.n; i++) {
		bool to_hosts = all.v[i].to == FABRIC_NONE;

		n_hosts += to_hosts ? all.v[i].n : 0;
		json_array_append_new(to_hosts ? hosts : links, bundle_object(l, &all.v[i]));
	}
	return json_pack("{s:i, s:o, s:o, s:o, s:i, s:o, s:o}", "switch", (int)sw,
			 "name", json_text(fabric_node_desc(f, &f->nodes[f->switches[sw].node])),
			 "guid", json_guid(f->nodes[f->switches[sw].node].guid),
			 "rank", l->rank[sw] == RANK_NONE ? json_null() : json_integer(l->rank[sw]),
			 "hosts", (int)n_hosts, "host-links", hosts, "links", links);
}

static void free_links(void *rows)
{
	struct links *l = rows;

	feasible_free(l->own);
	free(l->rank);
	free(l->deviation);
	free(l);
}

void rows_of_links(struct reply *r, const struct subnet_state *s, const struct feasibility *v,
		   struct feasibility *own)
{
	struct links *l = xcalloc(1, sizeof(*l));

	*l = (struct links){ .s = s, .v = v, .own = own, .rank = rank_switches(s->f) };
	l->deviation = xcalloc(s->f->n_ports + 1u, sizeof(*l->deviation));
	for (uint32_t i = 0; i < v->n_deviations; i++)
		l->deviation[v->deviations[i].port] = i + 1;
	reply_rows(r, "switches", next_switch, free_links, l);
}
