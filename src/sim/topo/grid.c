/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generates tori, meshes, rings, hypercubes and HyperX fabrics.
 *
 * A grid has any number of dimensions, and each switch has links to its neighbours.  A ring is a
 * torus of one dimension, and a hypercube a mesh of size 2 in all.  In a HyperX, all switches along
 * a dimension are neighbours.
 *
 * Ports of a switch: 1 .. hosts to hosts, then for each dimension those to the next switch, and
 * those to the previous one.  If a dimension has only two switches, next and previous are the same,
 * and so are the ports.  In a HyperX, each dimension has the ports to the other switches, by their
 * position in it.
 */
#include "sim/topo/generate.h"

#include <stdlib.h>

#define DIMENSIONS_MAX 20

struct grid {
	unsigned dimensions;
	uint32_t size[DIMENSIONS_MAX];
	bool wraps;
	bool full;			/* a HyperX */
	unsigned hosts, parallel;
	const char *name, *between;	/* for a switch's name: name-1-2-3 */
	uint32_t first;			/* index of the first node */
};

static uint64_t grid_switches(const struct grid *gr)
{
	uint64_t n = 1;

	for (unsigned d = 0; d < gr->dimensions; d++)
		n = n > TOPO_PORTS_MAX ? n : n * gr->size[d];
	return n;
}

static unsigned directions(const struct grid *gr, unsigned d)
{
	return gr->full ? gr->size[d] - 1 : gr->size[d] == 2 ? 1 : 2;
}

/* Number of ports before those of dimension d; with d = dimensions, all ports of a switch. */
static unsigned ports_before(const struct grid *gr, unsigned d)
{
	unsigned n = gr->hosts;

	while (d-- > 0)
		n += directions(gr, d) * gr->parallel;
	return n;
}

static void make_switch(struct gen *g, const struct grid *gr, uint32_t i)
{
	struct buf name = { 0 };

	buf_puts(&name, gr->name);
	for (unsigned d = 0; d < gr->dimensions; d++) {
		buf_printf(&name, "%s%0*u", d ? gr->between : "-", gen_digits(gr->size[d], 1),
			   i % gr->size[d]);
		i /= gr->size[d];
	}
	gen_switch(g, ports_before(gr, gr->dimensions), "%s", name.s);
	buf_free(&name);
}

/* Links switch i to the next one in dimension d; `stride` is the difference of their numbers. */
static void link_next(struct gen *g, const struct grid *gr, uint32_t i, unsigned d, uint32_t stride)
{
	uint32_t at = i / stride % gr->size[d];
	bool last = at == gr->size[d] - 1;
	uint32_t next = last ? i - at * stride : i + stride;
	unsigned port = ports_before(gr, d) + 1;
	unsigned back = directions(gr, d) == 2 ? port + gr->parallel : port;

	if (last && (!gr->wraps || gr->size[d] == 2))
		return;
	for (unsigned j = 0; j < gr->parallel; j++)
		gen_link(g, gr->first + i, port + j, gr->first + next, back + j);
}

/* Links switch i to all later switches in dimension d. */
static void link_others(struct gen *g, const struct grid *gr, uint32_t i, unsigned d, uint32_t stride)
{
	uint32_t at = i / stride % gr->size[d];
	unsigned first = ports_before(gr, d) + 1;

	for (uint32_t other = at + 1; other < gr->size[d]; other++)
		for (unsigned j = 0; j < gr->parallel; j++)
			gen_link(g, gr->first + i, first + (other - 1) * gr->parallel + j,
				 gr->first + i + (other - at) * stride, first + at * gr->parallel + j);
}

static void make_grid(struct gen *g, struct grid *gr)
{
	uint64_t n = grid_switches(gr);
	unsigned ports;

	gr->parallel = gen_number(g, "parallel", 1, 1, SIM_PORTS_MAX);
	gr->hosts = gen_number(g, "hosts", 1, 0, SIM_PORTS_MAX);
	gr->first = g->f->n_nodes;
	ports = ports_before(gr, gr->dimensions);
	if (!gen_ready(g, n, ports, n * gr->hosts))
		return;
	for (uint32_t i = 0; i < n; i++)
		make_switch(g, gr, i);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t stride = 1;

		for (unsigned d = 0; d < gr->dimensions; stride *= gr->size[d++])
			(gr->full ? link_others : link_next)(g, gr, i, d, stride);
	}
	gen_hosts_evenly(g, gr->first, (uint32_t)n, gr->hosts);
}

/* Makes a grid whose sizes are given as "4x4x8". */
static void make_sized(struct gen *g, struct grid *gr)
{
	const char *text = gen_text(g, ""), *p = text;

	while (p && gr->dimensions < DIMENSIONS_MAX) {
		char *end;
		unsigned long size = *p >= '0' && *p <= '9' ? strtoul(p, &end, 10) : 0;

		if (size < 2 || size > TOPO_PORTS_MAX)
			break;
		gr->size[gr->dimensions++] = (uint32_t)size;
		if (!*end) {
			make_grid(g, gr);
			return;
		}
		if (*end != 'x')
			break;
		p = end + 1;
	}
	gen_refuse(g, "%s: expected the sizes of 1 to %u dimensions, each 2 or more, such as 4x4x8",
		   text ? text : "nothing", DIMENSIONS_MAX);
	make_grid(g, gr);	/* reports what is wrong with other options */
}

void gen_torus(struct gen *g)
{
	make_sized(g, &(struct grid){ .wraps = true, .name = "torus", .between = "-" });
}

void gen_mesh(struct gen *g)
{
	make_sized(g, &(struct grid){ .name = "mesh", .between = "-" });
}

void gen_hyperx(struct gen *g)
{
	make_sized(g, &(struct grid){ .full = true, .name = "hyperx", .between = "-" });
}

void gen_ring(struct gen *g)
{
	struct grid gr = { .wraps = true, .dimensions = 1, .name = "ring", .between = "" };

	gr.size[0] = gen_number(g, "", GEN_NEEDED, 2, TOPO_PORTS_MAX);
	make_grid(g, &gr);
}

void gen_hypercube(struct gen *g)
{
	struct grid gr = { .name = "cube", .between = "" };

	gr.dimensions = gen_number(g, "d", GEN_NEEDED, 1, DIMENSIONS_MAX);
	for (unsigned d = 0; d < gr.dimensions; d++)
		gr.size[d] = 2;
	make_grid(g, &gr);
}
