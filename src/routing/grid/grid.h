/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recognizes fabrics whose switches form a grid, and finds their coordinates (internal to routing/).
 *
 * A grid is a product of paths, rings and complete graphs, one for each dimension: meshes, tori, HyperX
 * (Hamming graphs), hypercubes and mixtures of them.  Recognition uses only the links, not GUIDs, port
 * numbers or hosts; several links between two switches count as one.  Some links and switches may be
 * missing, but there must be no link that the grid lacks.
 *
 * A ring of four is the same graph as two dimensions of length 2 and is represented as these, which need
 * no second VL set.  Dimensions of length 2 and 3 are complete graphs.
 *
 * A path is also a tree, and two leaves below two spines are also a ring of four: callers to whom that
 * matters ask shape.h first.
 *
 * Pure: a value, and its text.
 */
#ifndef QOSD_ROUTING_GRID_GRID_H
#define QOSD_ROUTING_GRID_GRID_H

#include "routing/graph.h"

#define GRID_DIMS_MAX 12

enum grid_kind {
	/* Each kind may also have complete graphs of 2 and 3. */
	GRID_MESH,	/* paths */
	GRID_TORUS,	/* rings */
	GRID_HYPERX,	/* complete graphs only, not all of length 2 */
	GRID_HYPERCUBE,	/* all lengths are 2 */
	GRID_MIXED,	/* more than one of: paths, rings, complete graphs of more than three */
};

struct grid_dim {
	/* Smallest lengths: path 3, ring 5, complete graph 2. */
	enum { GRID_PATH, GRID_RING, GRID_COMPLETE } kind;
	uint32_t length;
};

/* The coordinates of a vertex without a place. */
#define GRID_NOWHERE UINT16_MAX

struct grid {
	enum grid_kind kind;
	unsigned n_dims;
	struct grid_dim dim[GRID_DIMS_MAX];	/* rings, paths, complete; longest first */
	uint16_t *at;		/* [vertex * n_dims + dimension]: coordinates, from 0 */
	/* The number of a place is the sum of its coordinates, each times its stride. */
	uint32_t stride[GRID_DIMS_MAX];
	uint32_t n_places;
	uint32_t *vertex;	/* [place]: FABRIC_NONE if it is empty */
	/* Empty places, and adjacent switches without a link. */
	uint32_t missing_switches, missing_links;
};

/* NULL if the graph is not a grid, or has fewer than three switches. */
struct grid *grid_new(const struct graph *g);
void grid_free(struct grid *grid);	/* NULL is fine */
/* The same grid for renumbered vertices: v becomes to[v] < n, or is left out (FABRIC_NONE). */
struct grid *grid_renumbered(const struct grid *grid, uint32_t n_vertices, uint32_t n, const uint32_t *to);
/* Appends "torus 6x6x4, 2 links and 1 switch missing", without a newline. */
void grid_text(const struct grid *grid, struct buf *out);

static inline uint16_t grid_at(const struct grid *grid, uint32_t v, unsigned d)
{
	return grid->at[v * grid->n_dims + d];
}

/* Whether switches that differ only in this dimension, by coordinates a and b, should be linked. */
static inline bool grid_adjacent(const struct grid_dim *d, uint32_t a, uint32_t b)
{
	if (d->kind == GRID_COMPLETE)
		return a != b;
	return a + 1 == b || b + 1 == a ||
	       (d->kind == GRID_RING && (a + d->length - 1 == b || b + d->length - 1 == a));
}

/* The dimension in which two neighbours differ. */
static inline unsigned grid_dimension(const struct grid *grid, uint32_t a, uint32_t b)
{
	unsigned d = 0;

	while (d + 1 < grid->n_dims && grid_at(grid, a, d) == grid_at(grid, b, d))
		d++;
	return d;
}

#endif
