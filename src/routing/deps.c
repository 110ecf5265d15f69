/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps one topological order per layer and updates it for each new dependency; see deps.h.
 *
 * A layer keeps an order of all channels in which each comes before those that it waits for.  deps_add()
 * adds a dependency along the order at once.  For one against the order it moves channels between the two
 * ends of the dependency, or finds meanwhile that the dependency closes a cycle (Pearce and Kelly, "A
 * dynamic topological sort algorithm for directed acyclic graphs", 2006).
 *
 * Channels are numbered like trunks, with the VL sets of a trunk in a row, so that all channels that lead
 * away from a vertex have consecutive numbers.
 *
 * Dependencies are bits, grouped by the vertex at which a packet turns: the channels that one channel
 * waits for are a few words, and so are those that wait for it.  A search takes a word at a time and masks
 * out the channels that it has met.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/deps.h"
#include "routing/layers.h"

/*
 * One bit per turn from channel `in` to channel `out` at vertex v.  The row of `in` has a bit for each
 * channel that leads away from v, in order of their numbers.
 */
struct layer {
	uint64_t *waits;	/* bit set: in waits for out */
	/* the same relation reversed: in the row of out's reverse channel, the bit of in's reverse channel */
	uint64_t *holds;
	/* bit set: the turn closes a cycle with the dependencies present, and is refused while they stay */
	uint64_t *refused;
	uint64_t *marked;	/* waits, holds and refused, one after another, as deps_mark() saved them */
	uint32_t *order;	/* [channel]: its place in the order */
	uint32_t *at;		/* [place in the order]: the channel */
};

/* State of one of the two searches of put_in_order(). */
struct met {
	uint32_t *queue, n;	/* channels met; in the search against the traffic, their reverse channels */
	uint32_t next;		/* index in the queue where the search goes on */
	uint64_t *seen;		/* rows by vertex: bits of the channels met that lead away from it */
	uint64_t *places;	/* bits: places in the order of the channels in the queue */
};

struct deps {
	const struct channels *c;
	unsigned n_layers;	/* layers with an order of their own */
	struct layer *layers;
	unsigned n_vl_sets;	/* VL sets per trunk that layers share; 1 if they share none */
	uint8_t *link;		/* [trunk]: kind of its links; NULL: layers share no VL sets */
	bool by_entry;		/* route_vl_sets_by_entry() */
	uint32_t n;		/* number of channels */
	uint32_t *first;	/* [vertex]: first channel that leads away from it */
	uint32_t *to;		/* [channel]: vertex that it leads to */
	uint32_t *from;		/* [channel]: vertex that it leads away from */
	size_t *row;		/* [channel]: index of the first word of its row */
	size_t n_words;
	size_t *row_at;		/* [vertex]: index of the first word of its row in `seen` */
	uint32_t *back;		/* [channel]: same VL set of the same links in the other direction */
	/* scratch space for adding a dependency against the order */
	struct met behind, before;
	uint32_t *moved, *slots;
	uint64_t work;
	VEC(struct dep) fresh;	/* dependencies added by the current deps_add() */
};

/* --- beginning and end --- */

static uint32_t add_trunk(const struct deps *d, struct layer *l, uint32_t t, uint32_t n)
{
	for (unsigned set = 0; set < d->n_vl_sets; set++)
		l->at[n++] = t * d->n_vl_sets + set;
	return n;
}

/*
 * Initial order: first channels that lead up, by the vertex that they leave, then channels that lead down,
 * from the greatest vertex on.  No legal turn is against this order.
 */
static void begin_order(const struct deps *d, struct layer *l)
{
	const struct graph *g = d->c->g;
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->up0[v]; t < g->trunk0[v + 1]; t++)
			n = add_trunk(d, l, t, n);
	for (uint32_t v = g->n; v-- > 0;)
		for (uint32_t t = g->trunk0[v]; t < g->up0[v]; t++)
			n = add_trunk(d, l, t, n);
	for (uint32_t i = 0; i < n; i++)
		l->order[l->at[i]] = i;
}

static size_t words_of(const struct deps *d, uint32_t v)
{
	return (d->first[v + 1] - d->first[v] + 63u) / 64;
}

static void met_init(struct met *m, size_t n_channels, size_t n_seen)
{
	m->queue = xcalloc(n_channels, sizeof(*m->queue));
	m->seen = xcalloc(n_seen, sizeof(*m->seen));
	m->places = xcalloc(n_channels / 64 + 1, sizeof(*m->places));
}

static void met_free(struct met *m)
{
	free(m->queue);
	free(m->seen);
	free(m->places);
}

static void find_channels(struct deps *d)
{
	const struct graph *g = d->c->g;

	d->n = g->trunk0[g->n] * d->n_vl_sets;
	d->first = xcalloc(g->n + 1u, sizeof(*d->first));
	d->to = xcalloc(d->n, sizeof(*d->to));
	d->from = xcalloc(d->n, sizeof(*d->from));
	d->back = xcalloc(d->n, sizeof(*d->back));
	for (uint32_t v = 0; v <= g->n; v++)
		d->first[v] = g->trunk0[v] * d->n_vl_sets;
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t t = i / d->n_vl_sets;

		d->to[i] = g->trunks[t].v;
		d->from[i] = d->c->from[t];
		d->back[i] = channels_trunk_back(d->c, t) * d->n_vl_sets + i % d->n_vl_sets;
	}
}

static void find_rows(struct deps *d)
{
	const struct graph *g = d->c->g;
	size_t n_seen = 0;

	d->row = xcalloc(d->n, sizeof(*d->row));
	for (uint32_t i = 0; i < d->n; i++) {
		d->row[i] = d->n_words;
		d->n_words += words_of(d, d->to[i]);
	}
	d->row_at = xcalloc(g->n, sizeof(*d->row_at));
	for (uint32_t v = 0; v < g->n; v++) {
		d->row_at[v] = n_seen;
		n_seen += words_of(d, v);
	}
	met_init(&d->behind, d->n, n_seen);
	met_init(&d->before, d->n, n_seen);
}

/* n_layers, n_vl_sets: as in struct deps. */
static struct deps *make(const struct channels *c, unsigned n_layers, unsigned n_vl_sets)
{
	struct deps *d = xcalloc(1, sizeof(*d));

	*d = (struct deps){ .c = c, .n_layers = n_layers, .n_vl_sets = n_vl_sets };
	find_channels(d);
	find_rows(d);
	d->moved = xcalloc(d->n, sizeof(*d->moved));
	d->slots = xcalloc(d->n, sizeof(*d->slots));
	d->layers = xcalloc(n_layers, sizeof(*d->layers));
	for (unsigned i = 0; i < n_layers; i++) {
		struct layer *l = &d->layers[i];

		l->waits = xcalloc(d->n_words, sizeof(*l->waits));
		l->holds = xcalloc(d->n_words, sizeof(*l->holds));
		l->refused = xcalloc(d->n_words, sizeof(*l->refused));
		l->order = xcalloc(d->n, sizeof(*l->order));
		l->at = xcalloc(d->n, sizeof(*l->at));
		begin_order(d, l);
	}
	return d;
}

struct deps *deps_new(const struct channels *c, unsigned n_layers)
{
	return make(c, n_layers, 1);
}

struct deps *deps_new_sharing(const struct channels *c, const struct route_layers *y)
{
	const struct graph *g = c->g;
	struct deps *d = make(c, 1, y->n_vl_sets);

	d->by_entry = route_vl_sets_by_entry(y);
	d->link = xcalloc(g->trunk0[g->n], sizeof(*d->link));
	for (uint32_t t = 0; t < g->trunk0[g->n]; t++)
		d->link[t] = route_link(y, g->sw[c->from[t]], g->links[g->trunks[t].link0]);
	return d;
}

void deps_free(struct deps *d)
{
	if (!d)
		return;
	for (unsigned i = 0; i < d->n_layers; i++) {
		free(d->layers[i].waits);
		free(d->layers[i].holds);
		free(d->layers[i].refused);
		free(d->layers[i].marked);
		free(d->layers[i].order);
		free(d->layers[i].at);
	}
	free(d->layers);
	free(d->link);
	free(d->first);
	free(d->to);
	free(d->from);
	free(d->row);
	free(d->row_at);
	free(d->back);
	met_free(&d->behind);
	met_free(&d->before);
	free(d->moved);
	free(d->slots);
	vec_free(&d->fresh);
	free(d);
}

void deps_clear_layer(struct deps *d, unsigned layer)
{
	struct layer *l = &d->layers[layer];

	memset(l->waits, 0, d->n_words * sizeof(uint64_t));
	memset(l->holds, 0, d->n_words * sizeof(uint64_t));
	memset(l->refused, 0, d->n_words * sizeof(uint64_t));
}

void deps_clear(struct deps *d)
{
	for (unsigned i = 0; i < d->n_layers; i++)
		deps_clear_layer(d, i);
}

void deps_mark(struct deps *d)
{
	size_t n = d->n_words, size = n * sizeof(uint64_t);

	for (unsigned i = 0; i < d->n_layers; i++) {
		struct layer *l = &d->layers[i];

		if (!l->marked)
			l->marked = xcalloc(3 * n, sizeof(*l->marked));
		memcpy(l->marked, l->waits, size);
		memcpy(l->marked + n, l->holds, size);
		memcpy(l->marked + 2 * n, l->refused, size);
	}
}

/* The order stays valid: removing dependencies violates no order. */
void deps_return(struct deps *d)
{
	size_t n = d->n_words, size = n * sizeof(uint64_t);

	for (unsigned i = 0; i < d->n_layers; i++) {
		struct layer *l = &d->layers[i];

		memcpy(l->waits, l->marked, size);
		memcpy(l->holds, l->marked + n, size);
		memcpy(l->refused, l->marked + 2 * n, size);
	}
}

uint64_t deps_work(const struct deps *d)
{
	return d->work;
}

/* --- one dependency --- */

bool deps_is_far(const struct deps *d, uint32_t trunk)
{
	return d->link && trunk != FABRIC_NONE && d->link[trunk] == ROUTE_LINK_FAR;
}

/* by: kind of the link by which the packet arrived. */
static uint32_t on_vl_set(const struct deps *d, unsigned layer, uint32_t trunk, uint8_t by)
{
	return trunk * d->n_vl_sets + route_vl_set_on(d->link[trunk], by, layer);
}

/* Translates a turn of a layer from trunks to channels. */
static struct dep on_vl_sets(const struct deps *d, unsigned layer, struct dep x)
{
	if (!d->link)
		return x;
	return (struct dep){
		.in = on_vl_set(d, layer, x.in, x.far ? ROUTE_LINK_FAR : ROUTE_LINK_FIRST),
		.out = on_vl_set(d, layer, x.out, d->link[x.in]),
	};
}

/* The layer's own graph, or the one that all layers share. */
static struct layer *layer_of(const struct deps *d, unsigned layer)
{
	return &d->layers[d->link ? 0 : layer];
}

/* The word that holds the bit of a dependency, and the bit. */
static size_t place_of(const struct deps *d, struct dep x, uint64_t *bit)
{
	uint32_t place = x.out - d->first[d->from[x.out]];

	*bit = 1ULL << place % 64;
	return d->row[x.in] + place / 64;
}

/* The turn of packets in the other direction. */
static struct dep reversed(const struct deps *d, struct dep x)
{
	return (struct dep){ .in = d->back[x.out], .out = d->back[x.in] };
}

static bool is_there(const struct deps *d, const struct layer *l, struct dep x)
{
	uint64_t bit;
	size_t word = place_of(d, x, &bit);

	return l->waits[word] & bit;
}

bool deps_has(const struct deps *d, unsigned layer, struct dep x)
{
	return is_there(d, layer_of(d, layer), on_vl_sets(d, layer, x));
}

static void put(const struct deps *d, struct layer *l, struct dep x)
{
	uint64_t bit;
	size_t word = place_of(d, x, &bit);

	l->waits[word] |= bit;
	word = place_of(d, reversed(d, x), &bit);
	l->holds[word] |= bit;
}

static void take(const struct deps *d, struct layer *l, struct dep x)
{
	uint64_t bit;
	size_t word = place_of(d, x, &bit);

	l->waits[word] &= ~bit;
	word = place_of(d, reversed(d, x), &bit);
	l->holds[word] &= ~bit;
}

static uint64_t *seen_word(const struct deps *d, const struct met *m, uint32_t t, uint64_t *bit)
{
	uint32_t v = d->from[t], place = t - d->first[v];

	*bit = 1ULL << place % 64;
	return &m->seen[d->row_at[v] + place / 64];
}

static bool has_met(const struct deps *d, const struct met *m, uint32_t t)
{
	uint64_t bit;
	const uint64_t *word = seen_word(d, m, t, &bit);

	return *word & bit;
}

/* Starts a search at channel t. */
static void begin_search(const struct deps *d, struct met *m, uint32_t t)
{
	uint64_t bit;
	uint64_t *word = seen_word(d, m, t, &bit);

	*word |= bit;
	m->queue[0] = t;
	m->n = 1;
	m->next = 0;
}

static void end_search(const struct deps *d, struct met *m)
{
	uint64_t bit;

	*seen_word(d, m, m->queue[0], &bit) = 0;
	for (uint32_t i = 0; i < m->next; i++) {
		uint32_t v = d->to[m->queue[i]];

		for (size_t w = 0; w < words_of(d, v); w++)
			m->seen[d->row_at[v] + w] = 0;
	}
}

/*
 * Takes the next channel from the queue of a search and visits the channels behind it in `rows` that lie
 * before `to` in the order or, against the traffic, after it.  True: the other search has met one of them.
 */
static inline bool go_on(struct deps *d, const struct layer *l, struct met *m, const struct met *other,
			 uint32_t to, bool against)
{
	const uint64_t *rows = against ? l->holds : l->waits;
	uint32_t t = m->queue[m->next++], v = d->to[t];
	size_t n = words_of(d, v);
	bool meets = false;

	for (size_t w = 0; w < n; w++) {
		uint64_t *seen = &m->seen[d->row_at[v] + w];
		uint64_t fresh = rows[d->row[t] + w] & ~*seen;

		for (*seen |= fresh; fresh; fresh &= fresh - 1) {
			uint32_t next = d->first[v] + (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(fresh);
			uint32_t place = l->order[against ? d->back[next] : next];

			d->work++;
			if (against ? place < to : place > to)
				continue;
			meets |= has_met(d, other, d->back[next]);
			m->queue[m->n++] = next;
		}
	}
	d->work += n;
	return meets;
}

/*
 * Collects the channels reachable from x.out that come before x.in in the order, and the channels that
 * lead to x.in and come after x.out.  The two searches alternate.  False: they meet, so the dependency
 * closes a cycle.
 */
static bool look_between(struct deps *d, const struct layer *l, struct dep x)
{
	uint32_t first = l->order[x.out], last = l->order[x.in];
	struct met *m = &d->behind, *o = &d->before;

	while (m->next < m->n && o->next < o->n)
		if (go_on(d, l, m, o, last, false) || go_on(d, l, o, m, first, true))
			return false;
	/* no cycle: the search that is left only collects the channels to move */
	while (m->next < m->n)
		go_on(d, l, m, o, last, false);
	while (o->next < o->n)
		go_on(d, l, o, m, first, true);
	return true;
}

/*
 * Appends the channels at the marked places, in their order, behind the first n of channels[].  Clears the
 * marks.  Returns their number.
 */
static uint32_t take_marked(const struct layer *l, uint64_t *places, uint32_t first, uint32_t last,
			    uint32_t *channels, uint32_t n)
{
	for (uint32_t w = first / 64; w <= last / 64; w++) {
		for (uint64_t b = places[w]; b; b &= b - 1)
			channels[n++] = l->at[w * 64 + (uint32_t)__builtin_ctzll(b)];
		places[w] = 0;
	}
	return n;
}

static void mark(uint64_t *places, uint32_t place)
{
	places[place / 64] |= 1ULL << place % 64;
}

/*
 * Gives the places of all collected channels first to those in `before`, then to those in `behind`, each
 * in their old order.  first, last: places of the two ends; all others lie between.
 */
static void reorder(struct deps *d, struct layer *l, uint32_t first, uint32_t last)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->behind.n; i++)
		mark(d->behind.places, l->order[d->behind.queue[i]]);
	for (uint32_t i = 0; i < d->before.n; i++)
		mark(d->before.places, l->order[d->back[d->before.queue[i]]]);
	for (uint32_t w = first / 64; w <= last / 64; w++)
		for (uint64_t b = d->behind.places[w] | d->before.places[w]; b; b &= b - 1)
			d->slots[n++] = w * 64 + (uint32_t)__builtin_ctzll(b);
	n = take_marked(l, d->before.places, first, last, d->moved, 0);
	n = take_marked(l, d->behind.places, first, last, d->moved, n);
	for (uint32_t i = 0; i < n; i++) {
		l->order[d->moved[i]] = d->slots[i];
		l->at[d->slots[i]] = d->moved[i];
	}
}

/* Moves channels so that x.in comes before x.out; false: the dependency would close a cycle. */
static bool put_in_order(struct deps *d, struct layer *l, struct dep x)
{
	bool fits;

	begin_search(d, &d->behind, x.out);
	begin_search(d, &d->before, d->back[x.in]);
	fits = look_between(d, l, x);
	if (fits)
		reorder(d, l, l->order[x.out], l->order[x.in]);
	end_search(d, &d->behind);
	end_search(d, &d->before);
	return fits;
}

/* --- bulk insertion --- */

/* The test saves work: most dependencies have been noted before. */
void deps_note(struct deps *d, unsigned layer, struct dep x)
{
	struct layer *l = layer_of(d, layer);
	struct dep turn = on_vl_sets(d, layer, x);

	if (!is_there(d, l, turn))
		put(d, l, turn);
}

/* The number of channels that wait for channel t: the row of its reverse channel has a bit for each. */
static uint32_t count_waiting(const struct deps *d, const struct layer *l, uint32_t t)
{
	uint32_t back = d->back[t], n = 0;

	for (size_t w = 0; w < words_of(d, d->to[back]); w++)
		n += (uint32_t)__builtin_popcountll(l->holds[d->row[back] + w]);
	return n;
}

/* Channel t has its place.  Appends the channels that waited for t alone behind the n in the queue. */
static uint32_t pass_place_on(const struct deps *d, const struct layer *l, uint32_t t, uint32_t *left,
			      uint32_t *queue, uint32_t n)
{
	uint32_t first = d->first[d->to[t]];

	for (size_t w = 0; w < words_of(d, d->to[t]); w++)
		for (uint64_t b = l->waits[d->row[t] + w]; b; b &= b - 1) {
			uint32_t next = first + (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(b);

			if (!--left[next])
				queue[n++] = next;
		}
	return n;
}

/*
 * Sorts topologically: a channel gets its place when all that wait for it have theirs (Kahn, 1962).
 * False: there is a cycle.
 */
static bool settle_layer(struct deps *d, struct layer *l)
{
	uint32_t *left = d->slots, *queue = d->moved, n = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		left[l->at[i]] = count_waiting(d, l, l->at[i]);
		if (!left[l->at[i]])
			queue[n++] = l->at[i];
	}
	for (uint32_t i = 0; i < n; i++)
		n = pass_place_on(d, l, queue[i], left, queue, n);
	if (n < d->n)
		return false;
	memcpy(l->at, queue, n * sizeof(*queue));
	for (uint32_t i = 0; i < n; i++)
		l->order[l->at[i]] = i;
	return true;
}

bool deps_settle(struct deps *d)
{
	for (unsigned i = 0; i < d->n_layers; i++)
		if (!settle_layer(d, &d->layers[i])) {
			deps_clear(d);
			return false;
		}
	return true;
}

/* --- paths --- */

/* A dependency that is refused for good needs no search. */
static bool any_refused(const struct deps *d, const struct layer *l, unsigned layer, const struct dep *x,
			uint32_t n, uint32_t *which)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t bit;
		size_t word = place_of(d, on_vl_sets(d, layer, x[i]), &bit);

		if (l->refused[word] & bit) {
			*which = i;
			return true;
		}
	}
	return false;
}

/*
 * Where the VL set depends on how a packet arrived, VL set 0 must never wait for VL set 1.  A single such turn
 * would close cycles with nearly all minimal paths of a dragonfly.
 */
static bool goes_up(const struct deps *d, struct dep x)
{
	return d->by_entry && x.in % d->n_vl_sets < x.out % d->n_vl_sets;
}

static bool fits(struct deps *d, struct layer *l, struct dep x)
{
	return !goes_up(d, x) && (l->order[x.in] < l->order[x.out] || put_in_order(d, l, x));
}

/* The order stays valid: removing dependencies violates no order. */
static void take_back(struct deps *d, struct layer *l)
{
	for (size_t i = 0; i < d->fresh.n; i++)
		take(d, l, d->fresh.v[i]);
	d->fresh.n = 0;
}

bool deps_add(struct deps *d, unsigned layer, const struct dep *x, uint32_t n, uint32_t *blocked)
{
	struct layer *l = layer_of(d, layer);
	uint32_t unasked = 0, *which = blocked ? blocked : &unasked;

	if (any_refused(d, l, layer, x, n, which))
		return false;
	d->fresh.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct dep turn = on_vl_sets(d, layer, x[i]);
		uint64_t bit;
		size_t word = place_of(d, turn, &bit);
		bool alone = !d->fresh.n;

		if (l->waits[word] & bit)
			continue;
		if (fits(d, l, turn)) {
			put(d, l, turn);
			*vec_push(&d->fresh) = turn;
			continue;
		}
		take_back(d, l);
		if (alone || !fits(d, l, turn))
			l->refused[word] |= bit;
		*which = i;
		return false;
	}
	return true;
}

/* --- turns of multicast --- */

void deps_add_turn(void *arg, struct dep turn)
{
	deps_add(arg, 0, &turn, 1, NULL);
}

void deps_note_turn(void *arg, struct dep turn)
{
	deps_note(arg, 0, turn);
}

void deps_each_legal(const struct channels *c, const struct turns *legal,
		     void (*use)(void *arg, struct dep turn), void *arg)
{
	const struct graph *g = c->g;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			uint32_t in = channels_trunk_back(c, t);

			for (uint32_t out = g->trunk0[v]; out < g->trunk0[v + 1]; out++)
				if (out != t && turns_allowed(legal, in, out))
					use(arg, (struct dep){ .in = in, .out = out });
		}
}

/* The trunk from v to a switch; FABRIC_NONE if there is none. */
static uint32_t trunk_to(const struct channels *c, uint32_t v, uint32_t sw)
{
	return sw == FABRIC_NONE ? FABRIC_NONE : graph_trunk(c->g, v, c->vertex[sw]);
}

void deps_each_on_tree(const struct channels *c, const uint32_t *tree,
		       void (*use)(void *arg, struct dep turn), void *arg)
{
	const struct graph *g = c->g;
	VEC(uint32_t) on_tree = { 0 };	/* trunks from v */

	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t up = trunk_to(c, v, tree[g->sw[v]]);

		on_tree.n = 0;
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++)
			if (t == up || tree[g->sw[g->trunks[t].v]] == g->sw[v])
				*vec_push(&on_tree) = t;
		for (size_t i = 0; i < on_tree.n; i++)
			for (size_t k = 0; k < on_tree.n; k++)
				if (i != k)
					use(arg, (struct dep){ .in = channels_trunk_back(c, on_tree.v[i]),
							       .out = on_tree.v[k] });
	}
	vec_free(&on_tree);
}
