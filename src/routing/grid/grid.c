/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds coordinates by layers of vertices and checks every link against them; see grid.h.
 *
 * factor.h assigns trunks to dimensions and tells which are parallel.  Vertices have the same coordinate
 * in a dimension if a trunk of another dimension joins them, or if they are on the same side of parallel
 * trunks of this one: they form a layer.  The links between the layers of a dimension show whether it is a
 * path, a ring or a complete graph, and number the layers.
 *
 * Faults can leave a vertex without evidence for one of its coordinates.  Such vertices are placed last,
 * where a place is free and fits their links.  In the end every link has to fit, so a graph that is not a
 * grid is never taken for one.
 */
#include "routing/grid/grid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/disjoint.h"
#include "lib/base/search.h"
#include "routing/grid/factor.h"

#define NONE FABRIC_NONE
#define SMALL_LAYERS_MAX 128

/* The layers of one dimension.  Each is represented by one of its vertices. */
struct layering {
	uint32_t *up;		/* [vertex]: disjoint sets */
	uint32_t *size;		/* [representative]: vertices in the layer */
	uint32_t largest;
	/* Linked layers, each pair in both directions, sorted. */
	struct pair {
		uint32_t a, b;
		uint32_t n;	/* trunks between them */
	} *links;
	uint32_t n_links;
	uint32_t *coordinate;	/* [representative]: NONE if the layer is too small */
	struct grid_dim dim;
};

struct survey {
	const struct graph *g;
	const struct factors *f;
	uint8_t doubt;		/* how to treat trunks of uncertain dimension: see below */
	struct layering of[FACTORS_MAX];
	unsigned order[FACTORS_MAX];	/* [dimension of the grid]: its index in f */
};

/*
 * Treatment of trunks that squares leave more than one dimension for: they are ignored, or keep the
 * dimension that factor.h guessed, or are all assigned to one dimension.  Each treatment is tried; the
 * grid with the fewest faults wins.
 */
#define LEAVE_OUT FACTOR_NONE
#define AS_MERGED (FACTOR_NONE - 1)

static bool is_sure(const struct factors *f, uint32_t t)
{
	return f->may[t] && !(f->may[t] & (f->may[t] - 1));
}

static unsigned dimension_of(const struct survey *s, uint32_t t)
{
	if (is_sure(s->f, t) || s->doubt == AS_MERGED)
		return s->f->of[t];
	if (s->doubt == LEAVE_OUT)
		return FACTOR_NONE;
	return s->f->may[t] >> s->doubt & 1 ? s->doubt : s->f->of[t];
}

/* --- layers --- */

static void unite_by_trunks(const struct survey *s, unsigned d, uint32_t *up)
{
	const struct graph *g = s->g;
	uint32_t *first = xmalloc(s->f->n_sides * sizeof(*first));

	memset(first, 0xff, s->f->n_sides * sizeof(*first));
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			unsigned of = dimension_of(s, t);
			uint32_t *on_side = &first[s->f->side[t]];

			if (of == FACTOR_NONE)
				continue;
			if (of != d)
				disjoint_join(up, v, g->trunks[t].v);
			else if (s->f->triangles[d])
				continue;
			else if (*on_side == NONE)
				*on_side = v;
			else
				disjoint_join(up, v, *on_side);
		}
	free(first);
}

static int by_ends(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return ORDER(x->a, y->a) ?: ORDER(x->b, y->b);
}

/* Recounts vertices and links of layers.  False if a link of the dimension stays within a layer. */
static bool count_layers(const struct survey *s, unsigned d, struct layering *l)
{
	const struct graph *g = s->g;
	uint32_t n = 0;

	memset(l->size, 0, g->n * sizeof(*l->size));
	l->largest = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t layer = disjoint_find(l->up, v);

		if (++l->size[layer] > l->largest)
			l->largest = l->size[layer];
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			uint32_t other = disjoint_find(l->up, g->trunks[t].v);

			if (dimension_of(s, t) != d)
				continue;
			if (other == layer)
				return false;
			l->links[n++] = (struct pair){ layer, other, 1 };
		}
	}
	qsort(l->links, n, sizeof(*l->links), by_ends);
	l->n_links = 0;
	for (uint32_t i = 0; i < n; i++)
		if (l->n_links && !by_ends(&l->links[l->n_links - 1], &l->links[i]))
			l->links[l->n_links - 1].n++;
		else
			l->links[l->n_links++] = l->links[i];
	return true;
}

/* The index of a layer's first link, or of the next layer's if it has none. */
static uint32_t first_link(const struct layering *l, uint32_t layer)
{
	uint32_t lo;

	LOWER_BOUND(lo, 0, l->n_links, l->links[lo].a < layer);
	return lo;
}

/* --- pieces of layers --- */

/* The number of layers that both are linked to; 0 if they are linked to each other. */
static unsigned count_shared(const struct layering *l, uint32_t a, uint32_t b)
{
	uint32_t i = first_link(l, a), j = first_link(l, b);
	unsigned shared = 0;

	while (i < l->n_links && l->links[i].a == a && j < l->n_links && l->links[j].a == b) {
		uint32_t x = l->links[i].b, y = l->links[j].b;

		if (x == b || y == a)
			return 0;
		shared += x == y;
		i += x <= y;
		j += y <= x;
	}
	return shared;
}

static bool same_otherwise(struct survey *s, unsigned d, uint32_t v, uint32_t u)
{
	for (unsigned i = 0; i < s->f->n; i++)
		if (i != d && disjoint_find(s->of[i].up, v) != disjoint_find(s->of[i].up, u))
			return false;
	return true;
}

/* Whether no vertex of one layer agrees with one of the other in all other dimensions. */
static bool are_disjoint(struct survey *s, unsigned d, uint32_t a, uint32_t b)
{
	struct layering *l = &s->of[d];

	for (uint32_t v = 0; v < s->g->n; v++) {
		if (disjoint_find(l->up, v) != a)
			continue;
		for (uint32_t u = 0; u < s->g->n; u++)
			if (disjoint_find(l->up, u) == b && same_otherwise(s, d, v, u))
				return false;
	}
	return true;
}

/*
 * Faults can cut a layer in two, for example a missing switch a line of a mesh.  Unites two pieces that
 * share at least `least` neighbours.  False: there are no such pieces.
 */
static bool unite_pieces(struct survey *s, unsigned d, unsigned least)
{
	struct layering *l = &s->of[d];
	uint32_t small[SMALL_LAYERS_MAX];
	unsigned n = 0;

	for (uint32_t v = 0; v < s->g->n && n < SMALL_LAYERS_MAX; v++)
		if (l->size[v] && l->size[v] < l->largest)
			small[n++] = v;
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = i + 1; j < n; j++) {
			if (l->size[small[i]] + l->size[small[j]] > l->largest ||
			    count_shared(l, small[i], small[j]) < least ||
			    !are_disjoint(s, d, small[i], small[j]))
				continue;
			disjoint_join(l->up, small[i], small[j]);
			return true;
		}
	return false;
}

/* Finds the layers of all dimensions.  False if the evidence contradicts itself. */
static bool find_layers(struct survey *s)
{
	for (unsigned d = 0; d < s->f->n; d++) {
		unite_by_trunks(s, d, s->of[d].up);
		if (!count_layers(s, d, &s->of[d]))
			return false;
	}
	/* Pieces of different layers may share one neighbour, so pieces that share two are united first. */
	for (unsigned least = 2, d = 0; least > 0;) {
		if (d == s->f->n) {
			least--;
			d = 0;
		} else if (!unite_pieces(s, d, least)) {
			d++;
		} else {
			if (!count_layers(s, d, &s->of[d]))
				return false;
			least = 2;
			d = 0;
		}
	}
	return true;
}

/* --- from layers to dimensions --- */

/*
 * Drops layers below half the size of the largest, and links of few trunks.  Numbers the remaining *n
 * layers.
 */
static void drop_small_layers(const struct survey *s, struct layering *l, uint32_t *n)
{
	uint32_t kept = 0, most = 0;

	*n = 0;
	for (uint32_t v = 0; v < s->g->n; v++)
		l->coordinate[v] = l->size[v] && 2 * l->size[v] >= l->largest ? (*n)++ : NONE;
	for (uint32_t i = 0; i < l->n_links; i++)
		if (l->links[i].n > most)
			most = l->links[i].n;
	for (uint32_t i = 0; i < l->n_links; i++)
		if (l->coordinate[l->links[i].a] != NONE && l->coordinate[l->links[i].b] != NONE &&
		    4 * l->links[i].n >= most)
			l->links[kept++] = l->links[i];
	l->n_links = kept;
}

/* Numbers layers along a path or ring.  False if they form neither one. */
static bool walk_line(const struct survey *s, struct layering *l, uint32_t n)
{
	uint32_t start = NONE, before = NONE, at, k = 0;

	for (uint32_t v = 0; v < s->g->n; v++) {
		if (l->coordinate[v] == NONE)
			continue;
		uint32_t i = first_link(l, v), degree = 0;

		while (i + degree < l->n_links && l->links[i + degree].a == v)
			degree++;
		if (degree == 0 || degree > 2)
			return false;
		if (start == NONE || (degree == 1 && l->dim.kind == GRID_RING)) {
			start = v;
			l->dim.kind = degree == 1 ? GRID_PATH : GRID_RING;
		}
	}
	for (at = start; at != NONE;) {
		uint32_t i = first_link(l, at), next = NONE;

		l->coordinate[at] = k++;
		for (; i < l->n_links && l->links[i].a == at; i++)
			if (l->links[i].b != before && next == NONE)
				next = l->links[i].b;
		before = at;
		at = next == start || k > n ? NONE : next;
	}
	return k == n;
}

static bool find_kind(const struct survey *s, struct layering *l)
{
	uint64_t all;
	uint32_t n;

	drop_small_layers(s, l, &n);
	if (n < 2 || n > UINT16_MAX)
		return false;
	all = (uint64_t)n * (n - 1);
	l->dim = (struct grid_dim){ GRID_COMPLETE, n };
	/* In a single dimension, a missing link also means missing links between layers. */
	if (l->n_links == all || (s->f->n == 1 && n > 4 && 10 * l->n_links >= 9 * all))
		return true;
	return walk_line(s, l, n);
}

/* Orders rings before paths before complete graphs, longer ones first. */
static bool precedes(const struct grid_dim *a, const struct grid_dim *b)
{
	static const int rank[] = { [GRID_RING] = 0, [GRID_PATH] = 1, [GRID_COMPLETE] = 2 };

	if (a->kind != b->kind)
		return rank[a->kind] < rank[b->kind];
	return a->length > b->length;
}

/* --- places --- */

/* Sets dimensions and allocates places.  False if there would be far more places than switches. */
static bool make_places(struct survey *s, struct grid *grid)
{
	uint64_t n = 1;

	grid->n_dims = s->f->n;
	for (unsigned i = 0; i < grid->n_dims; i++) {
		grid->dim[i] = s->of[s->order[i]].dim;
		grid->stride[i] = (uint32_t)n;
		n *= grid->dim[i].length;
		if (n > 2 * (uint64_t)s->g->n)
			return false;
	}
	grid->n_places = (uint32_t)n;
	grid->at = xcalloc((size_t)s->g->n * grid->n_dims, sizeof(*grid->at));
	grid->vertex = xmalloc(n * sizeof(*grid->vertex));
	memset(grid->vertex, 0xff, n * sizeof(*grid->vertex));
	return true;
}

/* The place of v by its layers; NONE if one of them was dropped. */
static uint32_t place_by_layers(struct survey *s, const struct grid *grid, uint32_t v)
{
	uint32_t place = 0;

	for (unsigned i = 0; i < grid->n_dims; i++) {
		struct layering *l = &s->of[s->order[i]];
		uint32_t at = l->coordinate[disjoint_find(l->up, v)];

		if (at == NONE)
			return NONE;
		place += at * grid->stride[i];
	}
	return place;
}

static uint32_t coordinate(const struct grid *grid, uint32_t place, unsigned d)
{
	return place / grid->stride[d] % grid->dim[d].length;
}

static bool places_adjacent(const struct grid *grid, uint32_t a, uint32_t b)
{
	unsigned steps = 0;

	for (unsigned i = 0; i < grid->n_dims; i++) {
		uint32_t x = coordinate(grid, a, i), y = coordinate(grid, b, i);

		if (x != y && !grid_adjacent(&grid->dim[i], x, y))
			return false;
		steps += x != y;
	}
	return steps == 1;
}

static bool fits(const struct survey *s, const struct grid *grid, const uint32_t *place,
		 uint32_t v, uint32_t where)
{
	if (grid->vertex[where] != NONE)
		return false;
	for (uint32_t t = s->g->trunk0[v]; t < s->g->trunk0[v + 1]; t++) {
		uint32_t other = place[s->g->trunks[t].v];

		if (other != NONE && !places_adjacent(grid, where, other))
			return false;
	}
	return true;
}

/* The number of adjacent places that are taken. */
static uint32_t taken_beside(const struct grid *grid, uint32_t where)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < grid->n_dims; i++) {
		uint32_t at = coordinate(grid, where, i);

		for (uint32_t x = 0; x < grid->dim[i].length; x++)
			n += grid_adjacent(&grid->dim[i], at, x) &&
			     grid->vertex[where + (x - at) * grid->stride[i]] != NONE;
	}
	return n;
}

/*
 * A free place that fits v's links to vertices already placed; of several, the one that leaves the fewest
 * links missing.  *n: number of such places.
 */
static uint32_t free_place(const struct survey *s, const struct grid *grid, const uint32_t *place,
			   uint32_t v, unsigned *n)
{
	uint32_t t = s->g->trunk0[v], best = NONE, least = NONE;

	*n = 0;
	while (t < s->g->trunk0[v + 1] && place[s->g->trunks[t].v] == NONE)
		t++;
	if (t == s->g->trunk0[v + 1])
		return NONE;
	uint32_t beside = place[s->g->trunks[t].v];

	for (unsigned i = 0; i < grid->n_dims; i++) {
		uint32_t at = coordinate(grid, beside, i);

		for (uint32_t x = 0; x < grid->dim[i].length; x++) {
			uint32_t where = beside + (x - at) * grid->stride[i];

			if (!grid_adjacent(&grid->dim[i], at, x) || !fits(s, grid, place, v, where))
				continue;
			uint32_t taken = taken_beside(grid, where);

			(*n)++;
			if (taken < least || (taken == least && where < best)) {
				least = taken;
				best = where;
			}
		}
	}
	return best;
}

/* Places the remaining vertices, those with a single choice first.  False if one has none. */
static bool place_others(const struct survey *s, struct grid *grid, uint32_t *place)
{
	for (;;) {
		uint32_t v_best = NONE, best = NONE, without = 0;
		unsigned least = UINT32_MAX;

		for (uint32_t v = 0; v < s->g->n && least > 1; v++) {
			if (place[v] != NONE)
				continue;
			unsigned n;
			uint32_t where = free_place(s, grid, place, v, &n);

			without++;
			if (n == 0 || n >= least)
				continue;
			least = n;
			v_best = v;
			best = where;
		}
		if (v_best == NONE)
			return without == 0;
		place[v_best] = best;
		grid->vertex[best] = v_best;
	}
}

static bool place_all(struct survey *s, struct grid *grid)
{
	uint32_t *place = xmalloc(s->g->n * sizeof(*place));
	bool ok;

	for (uint32_t v = 0; v < s->g->n; v++) {
		place[v] = place_by_layers(s, grid, v);
		if (place[v] != NONE && grid->vertex[place[v]] != NONE)
			place[v] = NONE;
		if (place[v] != NONE)
			grid->vertex[place[v]] = v;
	}
	ok = place_others(s, grid, place);
	for (uint32_t v = 0; ok && v < s->g->n; v++)
		for (unsigned i = 0; i < grid->n_dims; i++)
			grid->at[v * grid->n_dims + i] = (uint16_t)coordinate(grid, place[v], i);
	for (uint32_t v = 0; ok && v < s->g->n; v++)
		for (uint32_t t = s->g->up0[v]; ok && t < s->g->trunk0[v + 1]; t++)
			ok = places_adjacent(grid, place[v], place[s->g->trunks[t].v]);
	free(place);
	return ok;
}

/* --- missing parts --- */

/* The number of adjacent switches with a greater coordinate, so that each pair counts once. */
static uint32_t count_beside(const struct grid *grid, uint32_t place)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < grid->n_dims; i++) {
		uint32_t at = coordinate(grid, place, i);

		for (uint32_t x = at + 1; x < grid->dim[i].length; x++)
			if (grid_adjacent(&grid->dim[i], at, x))
				n += grid->vertex[place + (x - at) * grid->stride[i]] != NONE;
	}
	return n;
}

/*
 * Counts missing switches and links.  False if too much is missing for a grid: more than one switch and an
 * eighth of them, or a fifth of the links, which is one in every ring of a torus of length five.
 */
static bool count_missing(const struct graph *g, struct grid *grid)
{
	uint32_t links = 0, there = g->trunk0[g->n] / 2;

	for (uint32_t place = 0; place < grid->n_places; place++)
		if (grid->vertex[place] != NONE)
			links += count_beside(grid, place);
	grid->missing_switches = grid->n_places - g->n;
	grid->missing_links = links - there;
	return (grid->missing_switches <= 1 || 8 * grid->missing_switches <= grid->n_places) &&
	       5 * grid->missing_links <= links;
}

static void set_kind(struct grid *grid)
{
	bool path = false, ring = false, complete = false, longer = false;

	for (unsigned i = 0; i < grid->n_dims; i++) {
		path |= grid->dim[i].kind == GRID_PATH;
		ring |= grid->dim[i].kind == GRID_RING;
		complete |= grid->dim[i].kind == GRID_COMPLETE && grid->dim[i].length > 3;
		longer |= grid->dim[i].length > 2;
	}
	if (path + ring + complete > 1)
		grid->kind = GRID_MIXED;
	else if (path || ring)
		grid->kind = path ? GRID_MESH : GRID_TORUS;
	else
		grid->kind = longer ? GRID_HYPERX : GRID_HYPERCUBE;
}

/* --- all --- */

static void survey_init(struct survey *s, const struct graph *g, const struct factors *f,
			uint8_t doubt)
{
	*s = (struct survey){ .g = g, .f = f, .doubt = doubt };
	for (unsigned d = 0; d < f->n; d++) {
		struct layering *l = &s->of[d];

		l->up = xcalloc(g->n, sizeof(*l->up));
		l->size = xcalloc(g->n, sizeof(*l->size));
		l->coordinate = xcalloc(g->n, sizeof(*l->coordinate));
		l->links = xcalloc(g->trunk0[g->n], sizeof(*l->links));
		for (uint32_t v = 0; v < g->n; v++)
			l->up[v] = v;
	}
}

static bool find_grid(struct survey *s, struct grid *grid)
{
	if (!find_layers(s))
		return false;
	for (unsigned d = 0; d < s->f->n; d++)
		if (!find_kind(s, &s->of[d]))
			return false;
	for (unsigned i = 0; i < s->f->n; i++) {
		unsigned k = i;

		for (; k > 0 && precedes(&s->of[i].dim, &s->of[s->order[k - 1]].dim); k--)
			s->order[k] = s->order[k - 1];
		s->order[k] = i;
	}
	if (!make_places(s, grid) || !place_all(s, grid) || !count_missing(s->g, grid))
		return false;
	set_kind(grid);
	return true;
}

static struct grid *try_grid(const struct graph *g, const struct factors *f, uint8_t doubt)
{
	struct grid *grid = xcalloc(1, sizeof(*grid));
	struct survey s;

	survey_init(&s, g, f, doubt);
	if (!find_grid(&s, grid)) {
		grid_free(grid);
		grid = NULL;
	}
	for (unsigned d = 0; d < s.f->n; d++) {
		free(s.of[d].up);
		free(s.of[d].size);
		free(s.of[d].coordinate);
		free(s.of[d].links);
	}
	return grid;
}

static bool has_doubt(const struct graph *g, const struct factors *f)
{
	for (uint32_t t = 0; t < g->trunk0[g->n]; t++)
		if (!is_sure(f, t))
			return true;
	return false;
}

static uint64_t faults(const struct grid *grid)
{
	return (uint64_t)grid->missing_switches * 2 * grid->n_dims + grid->missing_links;
}

/* Returns the grid with fewer faults and frees the other.  Either may be NULL. */
static struct grid *better(struct grid *a, struct grid *b)
{
	bool first = a && (!b || faults(a) <= faults(b));

	grid_free(first ? b : a);
	return first ? a : b;
}

struct grid *grid_new(const struct graph *g)
{
	struct factors *f = g->n > 2 ? factors_new(g) : NULL;
	struct grid *grid;

	if (!f)
		return NULL;
	grid = try_grid(g, f, LEAVE_OUT);
	if (has_doubt(g, f)) {
		grid = better(grid, try_grid(g, f, AS_MERGED));
		for (unsigned d = 0; d < f->n; d++)
			grid = better(grid, try_grid(g, f, (uint8_t)d));
	}
	factors_free(f);
	return grid;
}

void grid_free(struct grid *grid)
{
	if (!grid)
		return;
	free(grid->at);
	free(grid->vertex);
	free(grid);
}

struct grid *grid_renumbered(const struct grid *grid, uint32_t n_vertices, uint32_t n, const uint32_t *to)
{
	struct grid *x = xmemdup(grid, sizeof(*grid));
	size_t row = grid->n_dims;

	x->at = xmalloc((n * row + 1) * sizeof(*x->at));
	for (size_t i = 0; i < n * row; i++)
		x->at[i] = GRID_NOWHERE;
	for (uint32_t v = 0; v < n_vertices; v++)
		if (to[v] != NONE)
			memcpy(&x->at[to[v] * row], &grid->at[v * row], row * sizeof(*x->at));
	x->vertex = xmalloc((grid->n_places + 1u) * sizeof(*x->vertex));
	for (uint32_t place = 0; place < grid->n_places; place++)
		x->vertex[place] = grid->vertex[place] == NONE ? NONE : to[grid->vertex[place]];
	return x;
}

/* --- text --- */

/* Appends the lengths of all dimensions, falling.  In a torus, two of length 2 are written as a ring of 4. */
static void put_lengths(const struct grid *grid, bool rings, struct buf *out)
{
	uint32_t length[GRID_DIMS_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < grid->n_dims; i++) {
		length[n++] = grid->dim[i].length;
		if (rings && n > 1 && length[n - 1] == 2 && length[n - 2] == 2)
			length[--n - 1] = 4;
	}
	for (unsigned i = 1; i < n; i++)
		for (unsigned k = i; k > 0 && length[k] > length[k - 1]; k--) {
			uint32_t x = length[k];

			length[k] = length[k - 1];
			length[k - 1] = x;
		}
	for (unsigned i = 0; i < n; i++)
		buf_printf(out, "%s%" PRIu32, i ? "x" : "", length[i]);
}

static void put_mixed(const struct grid *grid, struct buf *out)
{
	static const char *const words[] = {
		[GRID_PATH] = "path", [GRID_RING] = "ring", [GRID_COMPLETE] = "complete",
	};

	buf_puts(out, "grid of");
	for (unsigned i = 0; i < grid->n_dims; i++)
		buf_printf(out, "%s %" PRIu32 " (%s)", i ? " x" : "", grid->dim[i].length,
			   words[grid->dim[i].kind]);
}

void grid_text(const struct grid *grid, struct buf *out)
{
	static const char *const words[] = {
		[GRID_MESH] = "mesh ", [GRID_TORUS] = "torus ", [GRID_HYPERX] = "HyperX ",
	};
	static const char *const lines[] = {
		[GRID_MESH] = "line of ", [GRID_TORUS] = "ring of ",
		[GRID_HYPERX] = "complete graph of ",
	};

	if (grid->kind == GRID_HYPERCUBE && grid->n_dims == 2) {
		buf_puts(out, "ring of 4");
	} else if (grid->kind == GRID_HYPERCUBE) {
		buf_printf(out, "hypercube of %u dimensions", grid->n_dims);
		if (grid->n_dims % 2 == 0) {
			buf_puts(out, " (torus ");
			put_lengths(grid, true, out);
			buf_puts(out, ")");
		}
	} else if (grid->kind == GRID_MIXED) {
		put_mixed(grid, out);
	} else {
		buf_puts(out, grid->n_dims == 1 ? lines[grid->kind] : words[grid->kind]);
		put_lengths(grid, grid->kind == GRID_TORUS, out);
	}
	graph_put_missing(grid->missing_links, grid->missing_switches, out);
}
