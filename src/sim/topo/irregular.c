/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generates random connected fabrics, and a single switch.
 *
 * For the random one it makes a random tree of switches, adds the hosts, and then adds links
 * between switches, some of them parallel, while there are free ports.
 */
#include "sim/topo/generate.h"

#include <stdlib.h>

#define PARALLEL_MAX 16
#define TRIES 64	/* tries to find a new link before giving up */

struct random_net {
	uint32_t switches, hosts, links, parallel;
	unsigned ports;
	uint64_t state;		/* state of the random numbers */
	uint32_t first;		/* index of the first node */
	uint8_t *used;		/* used ports of each switch */
	uint32_t *open;		/* switches with a free port */
	uint32_t n_open;
	struct map64 cables;	/* pair of switches -> cables between them */
	uint32_t n_links;
};

/* Takes a switch's next port; removes the switch at open[at] if that was its last. */
static unsigned take_port(struct random_net *r, uint32_t at)
{
	uint32_t sw = r->open[at];
	unsigned port = ++r->used[sw];

	if (port == r->ports)
		r->open[at] = r->open[--r->n_open];
	return port;
}

static uint64_t pair_key(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static void link_open(struct gen *g, struct random_net *r, uint32_t at_a, uint32_t at_b)
{
	uint32_t a = r->open[at_a], b = r->open[at_b];
	uint32_t before = map64_get(&r->cables, pair_key(a, b));
	/* the later index first: removing it only moves entries after it */
	unsigned port_a = 0, port_b = 0;

	if (at_a > at_b) {
		port_a = take_port(r, at_a);
		port_b = take_port(r, at_b);
	} else {
		port_b = take_port(r, at_b);
		port_a = take_port(r, at_a);
	}
	gen_link(g, r->first + a, port_a, r->first + b, port_b);
	map64_put(&r->cables, pair_key(a, b), before == MAP64_NONE ? 1 : before + 1);
	r->n_links++;
}

static void make_tree(struct gen *g, struct random_net *r)
{
	int width = gen_digits(r->switches + 1, 3);

	r->first = g->f->n_nodes;
	for (uint32_t i = 0; i < r->switches; i++) {
		gen_switch(g, r->ports, "switch-%0*u", width, i + 1);
		r->open[r->n_open++] = i;
		if (i > 0)
			link_open(g, r, gen_chance(&r->state, r->n_open - 1), r->n_open - 1);
	}
}

/* Chooses places for hosts; those of one host at different switches, if a few random tries succeed. */
static void place_hosts(struct gen *g, struct random_net *r)
{
	uint32_t n = r->hosts * g->host_ports;
	struct gen_place *places = xcalloc(n + 1, sizeof(*places));

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = 0, begin = i - i % g->host_ports;
		bool fresh = false;

		for (unsigned try = 0; !fresh && try < TRIES; try++) {
			at = gen_chance(&r->state, r->n_open);
			fresh = true;
			for (uint32_t j = begin; j < i; j++)
				fresh = fresh && places[j].node != r->first + r->open[at];
		}
		places[i].node = r->first + r->open[at];
		places[i].port = (uint8_t)take_port(r, at);
	}
	gen_hosts(g, places, n);
	free(places);
}

/* Picks two different switches with free ports and room for a cable between them. */
static bool pick_pair(struct random_net *r, uint32_t *at_a, uint32_t *at_b)
{
	for (unsigned try = 0; r->n_open >= 2 && try < TRIES; try++) {
		uint32_t n;

		*at_a = gen_chance(&r->state, r->n_open);
		*at_b = gen_chance(&r->state, r->n_open - 1);
		if (*at_b >= *at_a)
			++*at_b;
		n = map64_get(&r->cables, pair_key(r->open[*at_a], r->open[*at_b]));
		if (n == MAP64_NONE || n < r->parallel)
			return true;
	}
	return false;
}

/*
 * Adds cables until there are enough or no room is found; with even chance, a cable doubles the
 * last one.
 */
static void add_links(struct gen *g, struct random_net *r)
{
	uint32_t at_a, at_b;

	while (r->n_links < r->links && pick_pair(r, &at_a, &at_b)) {
		uint32_t a = r->open[at_a], b = r->open[at_b];

		link_open(g, r, at_a, at_b);
		while (r->parallel > 1 && r->n_links < r->links && gen_chance(&r->state, 2) &&
		       at_a < r->n_open && at_b < r->n_open && r->open[at_a] == a &&
		       r->open[at_b] == b &&
		       map64_get(&r->cables, pair_key(a, b)) < r->parallel)
			link_open(g, r, at_a, at_b);
	}
}

static void read_options(struct gen *g, struct random_net *r)
{
	uint64_t tree, all;

	r->switches = gen_number(g, "switches", GEN_NEEDED, 1, TOPO_PORTS_MAX);
	if (g->bad)
		return;
	r->hosts = gen_number(g, "hosts", r->switches, 0, TOPO_PORTS_MAX);
	r->ports = gen_number(g, "ports", 36, 2, SIM_PORTS_MAX);
	r->links = gen_number(g, "links", r->switches * 2, r->switches - 1, TOPO_PORTS_MAX);
	r->parallel = gen_number(g, "parallel", 1, 1, PARALLEL_MAX);
	r->state = gen_number(g, "seed", 1, 0, UINT32_MAX);
	all = (uint64_t)r->switches * r->ports;
	tree = 2 * (uint64_t)(r->switches - 1);
	if (all < tree + (uint64_t)r->hosts * g->host_ports)
		gen_refuse(g, "hosts=%u: %u switches of %u ports have %llu ports left for hosts",
			   r->hosts, r->switches, r->ports,
			   (unsigned long long)(all > tree ? all - tree : 0));
}

void gen_random(struct gen *g)
{
	struct random_net r = { 0 };

	read_options(g, &r);
	if (!gen_ready(g, r.switches, r.ports, (uint64_t)r.hosts * g->host_ports))
		return;
	r.used = xcalloc(r.switches, 1);
	r.open = xcalloc(r.switches, sizeof(*r.open));
	map64_init(&r.cables, r.switches);
	make_tree(g, &r);
	place_hosts(g, &r);
	add_links(g, &r);
	free(r.used);
	free(r.open);
	map64_free(&r.cables);
}

void gen_single_switch(struct gen *g)
{
	unsigned ports = gen_number(g, "", GEN_NEEDED, 1, SIM_PORTS_MAX);
	unsigned hosts = gen_number(g, "hosts", ports, 0, ports);

	if (gen_ready(g, 1, ports, hosts))
		gen_hosts_evenly(g, gen_switch(g, ports, "switch-1"), 1, hosts);
}
