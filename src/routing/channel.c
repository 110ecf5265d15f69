/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Indexes links by switch and port and finds which of them are alive; see channel.h. */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "routing/channel.h"

static void place_links(struct channels *c)
{
	const struct graph *g = c->g;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			const struct trunk *trunk = &g->trunks[t];

			for (uint32_t i = trunk->link0; i < trunk->link0 + trunk->n_links; i++) {
				c->at[c->first[v] + g->links[i]] = (struct channel){ i, trunk->v };
				c->to[i] = trunk->v;
				c->trunk[i] = t;
			}
			c->from[t] = v;
		}
}

static void pair_links(struct channels *c)
{
	const struct graph *g = c->g;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t port = 0; port < c->first[v + 1] - c->first[v]; port++) {
			struct channel ch = c->at[c->first[v] + port];

			if (ch.link == FABRIC_NONE)
				continue;
			uint32_t peer = graph_port(g, v, port)->peer;

			c->back[ch.link] = channel_by_port(c, ch.to, g->f->ports[peer].num).link;
		}
}

struct channels *channels_new(const struct fabric *f, const struct updn_order *o)
{
	struct channels *c = xcalloc(1, sizeof(*c));
	const struct graph *g;

	c->own = o ? NULL : graph_new(f, graph_by_guid(f));
	c->g = o ? o->g : c->own;
	c->vertex = xcalloc(c->g->n, sizeof(*c->vertex));
	c->first = xcalloc(c->g->n + 1u, sizeof(*c->first));
	c->to = xcalloc(c->g->n_links, sizeof(*c->to));
	c->back = xcalloc(c->g->n_links, sizeof(*c->back));
	c->trunk = xcalloc(c->g->n_links, sizeof(*c->trunk));
	c->from = xcalloc(c->g->trunk0[c->g->n], sizeof(*c->from));
	g = c->g;
	c->first[0] = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		const struct fabric_node *node = &g->f->nodes[g->f->switches[g->sw[v]].node];

		c->vertex[g->sw[v]] = v;
		c->first[v + 1] = c->first[v] + node->nports + 1u;
	}
	c->at = xmalloc((c->first[g->n] + 1u) * sizeof(*c->at));
	for (uint32_t i = 0; i < c->first[g->n]; i++)
		c->at[i] = (struct channel){ FABRIC_NONE, FABRIC_NONE };
	place_links(c);
	pair_links(c);
	uint32_t home = f->self == FABRIC_NONE ? FABRIC_NONE : fabric_switch_of(f, f->self);

	c->home = home == FABRIC_NONE ? FABRIC_NONE : c->vertex[home];
	return c;
}

void channels_free(struct channels *c)
{
	if (!c)
		return;
	graph_free(c->own);
	free(c->vertex);
	free(c->first);
	free(c->at);
	free(c->to);
	free(c->back);
	free(c->trunk);
	free(c->from);
	free(c);
}

size_t *channels_number_turns(const struct channels *c, size_t *n_turns)
{
	const struct graph *g = c->g;
	size_t *turn0 = xcalloc(g->trunk0[g->n], sizeof(*turn0));

	*n_turns = 0;
	for (uint32_t in = 0; in < g->trunk0[g->n]; in++) {
		uint32_t v = g->trunks[in].v;

		turn0[in] = *n_turns;
		*n_turns += g->trunk0[v + 1] - g->trunk0[v];
	}
	return turn0;
}

static void find_here(struct living *l, const struct channels *c)
{
	const struct graph *g = c->g;
	uint32_t *queue = xcalloc(g->n, sizeof(*queue)), head = 0, tail = 0;

	if (c->home != FABRIC_NONE) {
		l->here[c->home] = true;
		queue[tail++] = c->home;
	}
	for (uint32_t v = 0; v < g->n && c->home == FABRIC_NONE; v++)
		l->here[v] = true;
	while (head < tail) {
		uint32_t v = queue[head++], end = g->trunk0[v + 1];

		for (uint32_t t = g->trunk0[v]; t < end; t++) {
			const struct trunk *trunk = &g->trunks[t];

			for (uint32_t i = 0; i < trunk->n_links && !l->here[trunk->v]; i++) {
				if (l->dead[trunk->link0 + i])
					continue;
				l->here[trunk->v] = true;
				queue[tail++] = trunk->v;
			}
		}
	}
	free(queue);
}

/* The channel that a link's end sends on; link FABRIC_NONE: the end is none of the graph. */
static struct channel channel_of_end(const struct channels *c, const struct link_end *e)
{
	return e->sw >= c->g->n ? (struct channel){ FABRIC_NONE, FABRIC_NONE } :
				  channel_by_port(c, c->vertex[e->sw], e->port);
}

/* Marks links as dead in both directions, and their ends in `cut`, which may be NULL. */
static void bury(struct living *l, const struct channels *c, const struct link_end *ends, uint32_t n,
		 bool *cut)
{
	for (uint32_t i = 0; i < n; i++) {
		struct channel ch = channel_of_end(c, &ends[i]);

		if (ch.link == FABRIC_NONE || ends[i].away)
			continue;
		l->dead[ch.link] = l->dead[c->back[ch.link]] = true;
		if (!ends[i].open)
			l->gone[ch.link] = l->gone[c->back[ch.link]] = true;
		if (cut)
			cut[c->vertex[ends[i].sw]] = cut[ch.to] = true;
	}
}

void living_init_without(struct living *l, const struct channels *c, const struct link_end *gone,
			 uint32_t n_gone, const struct link_end *ends, uint32_t n)
{
	bool *cut = xcalloc(c->g->n, sizeof(*cut));

	*l = (struct living){ .dead = xcalloc(c->g->n_links, sizeof(*l->dead)),
			      .gone = xcalloc(c->g->n_links, sizeof(*l->gone)),
			      .away = xcalloc(c->g->n_links, sizeof(*l->away)) };
	l->here = xcalloc(c->g->n, sizeof(*l->here));
	l->cut = xcalloc(c->g->n, sizeof(*l->cut));
	bury(l, c, gone, n_gone, NULL);
	bury(l, c, ends, n, cut);
	find_here(l, c);
	for (uint32_t i = 0; i < n; i++) {
		struct channel ch = channel_of_end(c, &ends[i]);

		if (!ends[i].away || ch.link == FABRIC_NONE || l->dead[ch.link])
			continue;
		l->dead[ch.link] = l->away[ch.link] = true;
		cut[c->vertex[ends[i].sw]] = true;
	}
	for (uint32_t v = 0; v < c->g->n; v++)
		if (l->here[v] && cut[v])
			l->cut[l->n_cut++] = v;
	free(cut);
}

void living_init(struct living *l, const struct channels *c, const struct link_end *ends,
		 uint32_t n)
{
	living_init_without(l, c, NULL, 0, ends, n);
}

void living_open(struct living *l, const struct channels *c, uint32_t v, bool open)
{
	for (uint32_t t = c->g->trunk0[v]; t < c->g->trunk0[v + 1]; t++)
		for (uint32_t i = 0; i < c->g->trunks[t].n_links; i++) {
			uint32_t back = c->back[c->g->trunks[t].link0 + i];

			if (l->away[back])
				l->dead[back] = !open;
		}
}

void living_free(struct living *l)
{
	free(l->dead);
	free(l->gone);
	free(l->away);
	free(l->here);
	free(l->cut);
}
