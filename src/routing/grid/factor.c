/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Groups trunks by squares and triangles, then merges the groups into dimensions; see factor.h.
 *
 * Disjoint sets hold only one direction of each trunk, the one from the lesser vertex: classes of parallel
 * trunks, and groups of trunks that share a dimension.
 */
#include "routing/grid/factor.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/disjoint.h"
#include "lib/base/map64.h"
#include "lib/base/search.h"


/* How trunks of two groups meet at vertices. */
struct meeting {
	uint32_t a, b;		/* group numbers, a < b */
	bool square;		/* at least once the two are sides of a square */
	uint32_t open;		/* number of times without a square */
};

/* The vertices two steps away from one vertex. */
struct survey {
	uint32_t *count;	/* [vertex]: number of common neighbours */
	/* [vertex][i]: the trunk to the i-th common neighbour, and the trunk on from there. */
	uint32_t (*way)[2][2];
	uint32_t *seen, n_seen;
	uint32_t *direct;	/* [vertex]: trunk that leads to it directly, or FABRIC_NONE */
};

struct work {
	const struct graph *g;
	struct factors *out;
	uint32_t *from;		/* [trunk]: vertex that it leaves from */
	struct survey s;
	/* [trunk]: disjoint sets. */
	uint32_t *class;
	bool *turned;		/* [trunk]: it leads the opposite way from class[trunk] */
	uint32_t *group;
	bool *triangle;		/* [trunk]: part of a triangle */
	/* [trunk]: number of its group, once squares and triangles have been evaluated. */
	uint32_t *number;
	uint32_t n_groups;
	struct map64 index;	/* a << 32 | b -> index in meetings */
	VEC(struct meeting) meetings;
	/* [group]: the group it was merged into, or itself. */
	uint32_t *into;
	/* [group]: bit sets: its members, and the groups that squares separate it from. */
	uint32_t words;		/* of each set */
	uint64_t *members, *apart;
	uint64_t *first_apart;	/* `apart` before groups were merged */
};

/* --- trunks --- */

static uint32_t one_of(const struct work *w, uint32_t t)
{
	return w->from[t] < w->g->trunks[t].v ? t : w->out->back[t];
}

static void find_ends(struct work *w)
{
	const struct graph *g = w->g;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			w->from[t] = v;
			w->out->back[t] = graph_trunk(g, g->trunks[t].v, v);
		}
}

/* --- disjoint sets --- */

static void same_group(struct work *w, uint32_t t, uint32_t u)
{
	disjoint_join(w->group, one_of(w, t), one_of(w, u));
}

/* The representative of t's class; *turned: whether t leads the opposite way. */
static uint32_t find_class(struct work *w, uint32_t t, bool *turned)
{
	uint32_t root = t;
	bool turn = false;

	for (; w->class[root] != root; root = w->class[root])
		turn ^= w->turned[root];
	*turned = turn;
	while (t != root) {
		uint32_t next = w->class[t];
		bool step = w->turned[t];

		w->class[t] = root;
		w->turned[t] = turn;
		turn ^= step;
		t = next;
	}
	return root;
}

/* Notes that trunks t and u are parallel and lead the same way. */
static void same_class(struct work *w, uint32_t t, uint32_t u)
{
	bool turned_t, turned_u, turn = (one_of(w, t) == t) != (one_of(w, u) == u);
	uint32_t a = find_class(w, one_of(w, t), &turned_t);
	uint32_t b = find_class(w, one_of(w, u), &turned_u);

	if (a == b)
		return;
	w->class[b] = a;
	w->turned[b] = turn ^ turned_t ^ turned_u;
	same_group(w, t, u);
}

/* --- squares --- */

static void survey(struct work *w, uint32_t v)
{
	const struct graph *g = w->g;
	struct survey *s = &w->s;

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
		uint32_t u = g->trunks[t].v;

		s->direct[u] = t;
		for (uint32_t on = g->trunk0[u]; on < g->trunk0[u + 1]; on++) {
			uint32_t x = g->trunks[on].v;

			if (x == v)
				continue;
			if (s->count[x] == 0)
				s->seen[s->n_seen++] = x;
			if (s->count[x] < 2) {
				s->way[x][s->count[x]][0] = t;
				s->way[x][s->count[x]][1] = on;
			}
			s->count[x]++;
		}
	}
}

static void survey_end(struct work *w, uint32_t v)
{
	struct survey *s = &w->s;

	for (uint32_t t = w->g->trunk0[v]; t < w->g->trunk0[v + 1]; t++)
		s->direct[w->g->trunks[t].v] = FABRIC_NONE;
	for (uint32_t i = 0; i < s->n_seen; i++)
		s->count[s->seen[i]] = 0;
	s->n_seen = 0;
}

/* Whether the vertex under survey and x are opposite corners of a square. */
static bool is_square(const struct work *w, uint32_t x)
{
	const struct graph *g = w->g;
	const struct survey *s = &w->s;

	if (s->count[x] != 2 || s->direct[x] != FABRIC_NONE)
		return false;
	uint32_t a = g->trunks[s->way[x][0][0]].v, b = g->trunks[s->way[x][1][0]].v;

	return graph_trunk(g, a, b) == FABRIC_NONE && graph_common(g, a, b, 3) == 2;
}

static bool in_one_class(struct work *w, uint32_t t, uint32_t u)
{
	bool turned;

	return find_class(w, one_of(w, t), &turned) == find_class(w, one_of(w, u), &turned);
}

/* Verifies the square only if it would add evidence. */
static void unite_by_square(struct work *w, uint32_t x)
{
	uint32_t (*way)[2] = w->s.way[x];

	if (w->s.count[x] != 2 || (in_one_class(w, way[0][0], way[1][1]) &&
				   in_one_class(w, way[1][0], way[0][1])) || !is_square(w, x))
		return;
	same_class(w, way[0][0], way[1][1]);
	same_class(w, way[1][0], way[0][1]);
}

/* Joins the trunks of triangles that t is part of.  t leaves from the vertex under survey. */
static void unite_by_triangles(struct work *w, uint32_t t)
{
	const struct graph *g = w->g;
	uint32_t u = g->trunks[t].v;

	for (uint32_t on = g->trunk0[u]; on < g->trunk0[u + 1]; on++)
		if (w->s.direct[g->trunks[on].v] != FABRIC_NONE) {
			same_group(w, t, on);
			w->triangle[t] = true;
		}
}

static void find_classes(struct work *w)
{
	const struct graph *g = w->g;

	for (uint32_t v = 0; v < g->n; v++) {
		survey(w, v);
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++)
			if (w->s.count[g->trunks[t].v])
				unite_by_triangles(w, t);
		for (uint32_t i = 0; i < w->s.n_seen; i++)
			if (w->s.seen[i] > v)
				unite_by_square(w, w->s.seen[i]);
		survey_end(w, v);
	}
}

/* --- which groups meet --- */

static void number_groups(struct work *w)
{
	uint32_t n = w->g->trunk0[w->g->n];

	for (uint32_t t = 0; t < n; t++)
		if (one_of(w, t) == t && w->group[t] == t)
			w->number[t] = w->n_groups++;
	for (uint32_t t = 0; t < n; t++)
		w->number[t] = w->number[disjoint_find(w->group, one_of(w, t))];
}

/* The meeting of the groups of t and u, created if new.  NULL if both trunks belong to the same group. */
static struct meeting *meeting_of(struct work *w, uint32_t t, uint32_t u)
{
	uint32_t a = w->number[t], b = w->number[u];
	uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	uint32_t at;

	if (a == b)
		return NULL;
	at = map64_get(&w->index, key);
	if (at == MAP64_NONE) {
		at = (uint32_t)w->meetings.n;
		*vec_push(&w->meetings) = (struct meeting){
			.a = (uint32_t)(key >> 32), .b = (uint32_t)key,
		};
		map64_put(&w->index, key, at);
	}
	return &w->meetings.v[at];
}

/*
 * Counts how trunks of different groups meet.  Neighbours of one vertex that belong to the same path or
 * ring have no other common neighbour.  Two or more common neighbours without a square occur in complete
 * graphs that lack a link, and prove nothing.
 */
static void find_meetings(struct work *w)
{
	const struct graph *g = w->g;
	const struct survey *s = &w->s;

	for (uint32_t v = 0; v < g->n; v++) {
		survey(w, v);
		for (uint32_t i = 0; i < s->n_seen; i++) {
			if (s->seen[i] > v && s->direct[s->seen[i]] == FABRIC_NONE) {
				uint32_t x = s->seen[i];
				uint32_t (*way)[2] = w->s.way[x];
				struct meeting *m;

				if (w->s.count[x] == 1) {
					m = meeting_of(w, way[0][0], way[0][1]);
					if (m)
						m->open++;
				} else if (w->s.count[x] == 2) {
					m = meeting_of(w, way[0][0], way[1][0]);
					if (m && !m->square)
						m->square = is_square(w, x);
				}
			}
		}
		survey_end(w, v);
	}
}

/* --- merging groups --- */

static void set_bit(uint64_t *set, uint32_t i)
{
	set[i / 64] |= 1ULL << i % 64;
}

static uint64_t *members_of(const struct work *w, uint32_t group)
{
	return w->members + (size_t)group * w->words;
}

static bool overlap(const struct work *w, const uint64_t *a, const uint64_t *b)
{
	for (uint32_t i = 0; i < w->words; i++)
		if (a[i] & b[i])
			return true;
	return false;
}

static bool told_apart(const struct work *w, uint32_t a, uint32_t b)
{
	return overlap(w, w->apart + (size_t)a * w->words, members_of(w, b));
}

static uint32_t merged(struct work *w, uint32_t group)
{
	while (w->into[group] != group)
		group = w->into[group] = w->into[w->into[group]];
	return group;
}

static void merge(struct work *w, uint32_t a, uint32_t b)
{
	uint64_t *members = members_of(w, a), *apart = w->apart + (size_t)a * w->words;

	for (uint32_t i = 0; i < w->words; i++) {
		members[i] |= members_of(w, b)[i];
		apart[i] |= w->apart[(size_t)b * w->words + i];
	}
	w->into[b] = a;
}

static int clearest_first(const void *a, const void *b)
{
	const struct meeting *x = a, *y = b;

	return ORDER(y->open, x->open) ?: ORDER(x->a, y->a) ?: ORDER(x->b, y->b);
}

static void merge_groups(struct work *w)
{
	w->words = (w->n_groups + 63) / 64;
	w->members = xcalloc((size_t)w->n_groups * w->words, sizeof(*w->members));
	w->apart = xcalloc((size_t)w->n_groups * w->words, sizeof(*w->apart));
	w->into = xcalloc(w->n_groups, sizeof(*w->into));
	for (uint32_t i = 0; i < w->n_groups; i++) {
		w->into[i] = i;
		set_bit(members_of(w, i), i);
	}
	for (const struct meeting *m = w->meetings.v; m < vec_end(&w->meetings); m++) {
		if (!m->square)
			continue;
		set_bit(w->apart + (size_t)m->a * w->words, m->b);
		set_bit(w->apart + (size_t)m->b * w->words, m->a);
	}
	w->first_apart = xmemdup(w->apart, (size_t)w->n_groups * w->words * sizeof(*w->apart));
	if (w->meetings.n)
		qsort(w->meetings.v, w->meetings.n, sizeof(*w->meetings.v), clearest_first);
	for (size_t i = 0; i < w->meetings.n && w->meetings.v[i].open; i++) {
		uint32_t a = merged(w, w->meetings.v[i].a), b = merged(w, w->meetings.v[i].b);

		if (a != b && !told_apart(w, a, b))
			merge(w, a, b);
	}
}

/* --- pieces of groups --- */

struct sized {
	uint32_t group, size;
};

static int largest_first(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	return ORDER(y->size, x->size) ?: ORDER(x->group, y->group);
}

/* Lists the remaining groups, largest first; returns their number. */
static uint32_t list_groups(struct work *w, struct sized *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_groups; i++)
		list[i] = (struct sized){ i, 0 };
	for (uint32_t t = 0; t < w->g->trunk0[w->g->n]; t++)
		list[merged(w, w->number[t])].size++;
	for (uint32_t i = 0; i < w->n_groups; i++)
		if (list[i].size)
			list[n++] = list[i];
	qsort(list, n, sizeof(*list), largest_first);
	return n;
}

/*
 * Any two dimensions of a grid share squares.  So a group that squares separate from all larger
 * groups but one is a piece of that one, cut off by faults.
 */
static void merge_pieces(struct work *w)
{
	struct sized *list = xcalloc(w->n_groups, sizeof(*list));
	uint32_t n = list_groups(w, list), kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t same = 0, with = 0;

		for (uint32_t k = 0; k < kept && same < 2; k++)
			if (!told_apart(w, list[k].group, list[i].group)) {
				with = k;
				same++;
			}
		if (same == 1)
			merge(w, list[with].group, list[i].group);
		else
			list[kept++] = list[i];
	}
	free(list);
}

/* --- the result --- */

/*
 * Numbers the dimensions.  Each vertex has at least one trunk of each dimension.  A group with half as
 * many trunks is a dimension; smaller ones are debris of faults.  False if there are no dimensions, or too
 * many.
 */
static bool number_dimensions(struct work *w, uint8_t *dim)
{
	uint32_t n = w->g->trunk0[w->g->n], *size = xcalloc(w->n_groups, sizeof(*size));

	for (uint32_t t = 0; t < n; t++)
		size[merged(w, w->number[t])]++;
	for (uint32_t i = 0; i < w->n_groups; i++) {
		dim[i] = FACTOR_NONE;
		if (2 * size[i] < w->g->n)
			continue;
		if (w->out->n < FACTORS_MAX)
			dim[i] = (uint8_t)w->out->n;
		w->out->n++;
	}
	free(size);
	return w->out->n && w->out->n <= FACTORS_MAX;
}

/*
 * Small groups, which faults have cut off, may have been merged wrongly and are no evidence about others:
 * keeps only groups of at least a quarter of the largest as members of dimensions.
 */
static void keep_large_members(struct work *w)
{
	uint32_t *size = xcalloc(w->n_groups, sizeof(*size));
	uint32_t *largest = xcalloc(w->n_groups, sizeof(*largest));

	for (uint32_t t = 0; t < w->g->trunk0[w->g->n]; t++)
		size[w->number[t]]++;
	for (uint32_t i = 0; i < w->n_groups; i++)
		if (size[i] > largest[merged(w, i)])
			largest[merged(w, i)] = size[i];
	for (uint32_t i = 0; i < w->n_groups; i++)
		if (4 * size[i] < largest[merged(w, i)])
			members_of(w, merged(w, i))[i / 64] &= ~(1ULL << i % 64);
	free(size);
	free(largest);
}

/* The dimensions that squares leave for a group as it was before merging. */
static uint16_t possible_dimensions(const struct work *w, uint32_t group, const uint8_t *dim)
{
	const uint64_t *apart = w->first_apart + (size_t)group * w->words;
	unsigned left = 0;

	for (uint32_t i = 0; i < w->n_groups; i++)
		if (dim[i] != FACTOR_NONE && !overlap(w, apart, members_of(w, i)))
			left |= 1u << dim[i];
	return (uint16_t)left;
}

/* Takes the dimension that squares leave, if it is a single one, else that of the merged group. */
static void set_dimensions(struct work *w, const uint8_t *dim)
{
	uint16_t *may = xcalloc(w->n_groups, sizeof(*may));

	for (uint32_t i = 0; i < w->n_groups; i++)
		may[i] = possible_dimensions(w, i, dim);
	for (uint32_t t = 0; t < w->g->trunk0[w->g->n]; t++) {
		uint16_t left = may[w->number[t]];

		w->out->may[t] = left;
		w->out->of[t] = dim[merged(w, w->number[t])];
		if (left && !(left & (left - 1)))
			w->out->of[t] = (uint8_t)__builtin_ctz(left);
		if (w->triangle[t] && w->out->of[t] != FACTOR_NONE)
			w->out->triangles[w->out->of[t]] = true;
	}
	free(may);
}

static void set_sides(struct work *w)
{
	uint32_t n = w->g->trunk0[w->g->n], *class = xmalloc(n * sizeof(*class));

	for (uint32_t t = 0; t < n; t++)
		if (one_of(w, t) == t && w->class[t] == t) {
			class[t] = w->out->n_sides;
			w->out->n_sides += 2;
		}
	for (uint32_t t = 0; t < n; t++) {
		bool turned;
		uint32_t root = find_class(w, one_of(w, t), &turned);

		w->out->side[t] = class[root] + (turned != (one_of(w, t) != t));
	}
	free(class);
}

static void work_init(struct work *w, const struct graph *g)
{
	uint32_t n = g->trunk0[g->n];

	*w = (struct work){ .g = g, .out = xcalloc(1, sizeof(*w->out)) };
	w->out->of = xcalloc(n, sizeof(*w->out->of));
	w->out->may = xcalloc(n, sizeof(*w->out->may));
	w->out->side = xcalloc(n, sizeof(*w->out->side));
	w->out->back = xcalloc(n, sizeof(*w->out->back));
	w->from = xcalloc(n, sizeof(*w->from));
	w->class = xcalloc(n, sizeof(*w->class));
	w->turned = xcalloc(n, sizeof(*w->turned));
	w->group = xcalloc(n, sizeof(*w->group));
	w->triangle = xcalloc(n, sizeof(*w->triangle));
	w->number = xcalloc(n, sizeof(*w->number));
	w->s.count = xcalloc(g->n, sizeof(*w->s.count));
	w->s.way = xcalloc(g->n, sizeof(*w->s.way));
	w->s.seen = xcalloc(g->n, sizeof(*w->s.seen));
	w->s.direct = xmalloc(g->n * sizeof(*w->s.direct));
	memset(w->s.direct, 0xff, g->n * sizeof(*w->s.direct));
	for (uint32_t t = 0; t < n; t++)
		w->class[t] = w->group[t] = t;
	map64_init(&w->index, 64);
}

static void work_free(struct work *w)
{
	free(w->from);
	free(w->class);
	free(w->turned);
	free(w->group);
	free(w->triangle);
	free(w->number);
	free(w->s.count);
	free(w->s.way);
	free(w->s.seen);
	free(w->s.direct);
	map64_free(&w->index);
	vec_free(&w->meetings);
	free(w->into);
	free(w->members);
	free(w->apart);
	free(w->first_apart);
}

static bool find_factors(struct work *w)
{
	uint8_t *dim;
	bool ok;

	find_ends(w);
	find_classes(w);
	number_groups(w);
	/* A grid has at most as many groups as switches, unless faults have split some. */
	if (w->n_groups == 0 || w->n_groups > w->g->n + w->g->n / 8)
		return false;
	find_meetings(w);
	merge_groups(w);
	merge_pieces(w);
	dim = xcalloc(w->n_groups, sizeof(*dim));
	ok = number_dimensions(w, dim);
	if (ok) {
		keep_large_members(w);
		set_dimensions(w, dim);
		set_sides(w);
	}
	free(dim);
	return ok;
}

struct factors *factors_new(const struct graph *g)
{
	struct work w;

	if (!g->n)
		return NULL;
	work_init(&w, g);
	if (!find_factors(&w)) {
		factors_free(w.out);
		w.out = NULL;
	}
	work_free(&w);
	return w.out;
}

void factors_free(struct factors *f)
{
	if (!f)
		return;
	free(f->of);
	free(f->may);
	free(f->side);
	free(f->back);
	free(f);
}
