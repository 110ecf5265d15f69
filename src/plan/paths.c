/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes what each route can carry; see paths.h.
 *
 * P(X, d), from switch X to LID d, is the link that X's forwarding table chooses, combined with the
 * next switch's SL2VL between the two ports used there, and with P(next, d).  For one d every
 * switch is computed once, by following next hops down to a switch that is done; a walk that meets
 * itself is a loop, and everything that leads into it has no route.
 *
 * Forwarding tables are stored by switch, the computation goes by LID: blocks of LIDs are
 * transposed first, else every step is a cache miss.
 *
 * If the routes of most LIDs are unchanged (changed_ways.h), their results are taken over: for
 * switches that were there before, the earlier result counts, and P(X, d) is computed only for new
 * switches.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "lib/iba/units.h"
#include "plan/paths.h"
#include "plan/routes/changed_ways.h"

#define ALL_SLS 0xffff
#define RATE_CODES 64		/* PathRecord.Rate has 6 bits */

/* --- what one hop can carry --- */

uint16_t paths_hop_sls(const struct fabric *f, const struct qos_tables *t,
		       uint32_t node, unsigned in, unsigned out)
{
	uint32_t port = f->nodes[node].port0 + out;
	uint16_t id, mask;

	if (!t->managed) {
		id = t->fixed ? qos_sl2vl_in_force(t, f, node, in, out) : TABLE_NONE;
		if (id == TABLE_NONE)	/* SL 0 is on some VL */
			return qos_vls_sending(t, port) == ALL_VLS;
		return qos_map_sls(&t->maps[id], qos_vls_in_force(t, port)) &
		       qos_map_sls_on(&t->maps[id], qos_vls_sending(t, port)) & 1;
	}
	id = qos_sl2vl_id(t, f, node, in, out);

	if (id == TABLE_NONE)
		return ALL_SLS;
	mask = qos_map_sls(&t->maps[id], t->op_vls[port]);
	if (t->fixed) {
		const struct sl2vl *is = &t->maps[qos_sl2vl_in_force(t, f, node, in, out)];

		mask &= qos_map_sls(is, qos_vls_in_force(t, port)) &
			qos_map_sls_on(is, qos_vls_sending(t, port));
	}
	return mask;
}

static unsigned min_mtu(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned min_rate(unsigned a, unsigned b)
{
	return rate_compare(a, b) < 0 ? a : b;
}

/*
 * A link runs at the MTU that both ends support, unless one end keeps a smaller one, and at the
 * rate that both report.  t may be NULL.
 */
static struct path_info link_info(const struct fabric *f, const struct qos_tables *t, uint32_t port)
{
	const struct fabric_port *a = &f->ports[port], *b = &f->ports[a->peer];
	unsigned mtu = min_mtu(a->mtu_cap, b->mtu_cap);

	return (struct path_info){
		.mtu = (uint8_t)(t && t->fixed ? min_mtu(mtu, t->fixed->mtu[port]) : mtu),
		.rate = (uint8_t)min_rate(a->rate, b->rate),
		.sl_mask = ALL_SLS,
	};
}

/* What a port itself carries.  Port 0 of a switch without a stated rate is no limit. */
static struct path_info port_info(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	return (struct path_info){
		.mtu = p->mtu_cap,
		.rate = rate_tenths(p->rate) ? p->rate : (uint8_t)rate_code_at_most(UINT32_MAX),
		.sl_mask = ALL_SLS,
	};
}

static void narrow(struct path_info *a, struct path_info b)
{
	a->mtu = (uint8_t)min_mtu(a->mtu, b.mtu);
	a->rate = (uint8_t)min_rate(a->rate, b.rate);
	a->sl_mask &= b.sl_mask;
}

/* --- all switches, one LID at a time --- */

enum { NOT_DONE, ON_WALK, DONE };

struct ranks {
	uint8_t rank[RATE_CODES], rate[RATE_CODES];
};

/* The result for a row that was taken over. */
struct taken_row {
	uint16_t by_lid;	/* as in struct paths */
	uint16_t *row;
};

/* P(X, d) during the computation. */
struct value {
	uint16_t sl_mask;
	uint8_t mtu;		/* 0: no route */
	uint8_t rate;		/* rank of the rate */
};

struct work {
	const struct fabric *f;
	const struct lfts *l;
	const struct qos_tables *t;
	const uint32_t *port_by_lid;
	struct paths *p;
	const struct hops *hops;
	struct ranks ranks;
	uint8_t *column;		/* [switch * LFT_BLOCK + lid % LFT_BLOCK] */
	uint8_t *progress;		/* [switch]: NOT_DONE, ON_WALK or DONE */
	struct value *value;		/* [switch], when DONE */
	uint32_t *walk;			/* switches on the walk to one that is done */
	uint16_t *row;			/* [switch]: class */
	struct map64 row_by_hash;	/* -> index of p->shared */
	struct map64 class_by_value;
	bool overflow;			/* no number was left for a class */
	/* earlier results to take over; NULL: none */
	const struct paths *was;
	const struct route_changes *changes;
	bool *new;			/* [switch]: the switch is new */
	struct map64 taken;		/* address of a row of was -> index in taken_rows */
	VEC(struct taken_row) taken_rows;
};

static int by_rate(const void *a, const void *b)
{
	return rate_compare(*(const uint8_t *)a, *(const uint8_t *)b);
}

/* Rate codes are not in order of rates; ranks are, and compare in one instruction. */
static void rank_rates(struct ranks *r)
{
	unsigned n = 1;

	*r = (struct ranks){ 0 };
	for (unsigned code = 1; code < RATE_CODES; code++)
		if (rate_tenths(code))
			r->rate[n++] = (uint8_t)code;
	qsort(r->rate + 1, n - 1, 1, by_rate);
	for (unsigned i = 1; i < n; i++)
		r->rank[r->rate[i]] = (uint8_t)i;
}

static bool tables_are_uniform(const struct qos_tables *t, uint32_t sw)
{
	return !t->sw[sw].ids && !(t->fixed && t->fixed->sw[sw]);
}

static void fill_hop(const struct fabric *f, const struct qos_tables *t, const struct ranks *ranks,
		     struct hop *h, uint32_t sw, unsigned num)
{
	uint32_t node = f->switches[sw].node, port = f->nodes[node].port0 + num;
	struct path_info i = num ? (struct path_info){ 0 } : port_info(f, port);

	*h = (struct hop){ .next = FABRIC_NONE, .peer = f->ports[port].peer };
	if (num && h->peer != FABRIC_NONE) {
		i = link_info(f, t, port);
		h->in = f->ports[h->peer].num;
		h->next = port_node(f, h->peer)->sw;
	}
	h->mtu = i.mtu;
	h->rate = ranks->rank[i.rate % RATE_CODES];
	h->one_map = num && (!(t->managed || t->fixed) || tables_are_uniform(t, sw));
	if (h->one_map)
		h->out_mask = paths_hop_sls(f, t, node, 0, num);
	else if (!num)
		h->out_mask = f->switches[sw].enhanced_port0;
}

static struct hops *hops_new(const struct fabric *f, const struct qos_tables *t,
			     const struct ranks *ranks)
{
	struct hops *h = xcalloc(1, sizeof(*h));

	h->n_switches = f->n_switches;
	h->first = xcalloc(f->n_switches, sizeof(*h->first));
	h->nports = xcalloc(f->n_switches, 1);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		h->first[s] = h->n;
		h->nports[s] = f->nodes[f->switches[s].node].nports;
		h->n += h->nports[s] + 1u;
	}
	h->v = xcalloc(h->n, sizeof(*h->v));
	for (uint32_t s = 0; s < f->n_switches; s++)
		for (unsigned num = 0; num <= h->nports[s]; num++)
			fill_hop(f, t, ranks, &h->v[h->first[s] + num], s, num);
	return h;
}

struct hops *paths_hops(const struct fabric *f, const struct qos_tables *t)
{
	struct ranks ranks;

	rank_rates(&ranks);
	return hops_new(f, t, &ranks);
}

static void hops_free(struct hops *h)
{
	if (!h)
		return;
	free(h->v);
	free(h->first);
	free(h->nports);
	free(h);
}

static const struct hop *hop_at(const struct work *w, uint32_t sw, unsigned num)
{
	return &w->hops->v[w->hops->first[sw] + num];
}

static void load_row(struct work *w, uint32_t sw, uint32_t first)
{
	memcpy(w->column + (size_t)sw * LFT_BLOCK,
	       w->l->entries + (size_t)sw * w->l->stride + first, LFT_BLOCK);
}

/* Copies the entries of one block of LIDs, so that they are adjacent in memory. */
static void load_block(struct work *w, uint32_t first)
{
	for (uint32_t s = 0; s < w->l->n_switches; s++)
		load_row(w, s, first);
}

static unsigned out_port(const struct work *w, uint32_t sw, unsigned lid)
{
	return w->column[(size_t)sw * LFT_BLOCK + lid % LFT_BLOCK];
}

/* The SLs that pass switch sw on the route to lid when they enter by port `in`. */
static uint16_t pass_mask(const struct work *w, uint32_t sw, unsigned in, unsigned lid)
{
	unsigned out = out_port(w, sw, lid);
	const struct hop *h = hop_at(w, sw, out);

	return h->one_map ? h->out_mask :
		paths_hop_sls(w->f, w->t, w->f->switches[sw].node, in, out);
}

/*
 * True: sw is the last hop, as it does not forward lid to another switch.  Then v is what the link
 * to the destination carries, or "no route".
 */
static bool last_hop(const struct work *w, uint32_t sw, unsigned lid, uint32_t dst,
		     struct value *v)
{
	unsigned out = out_port(w, sw, lid);

	*v = (struct value){ 0 };
	if (out > w->hops->nports[sw])
		return true;
	const struct hop *h = hop_at(w, sw, out);
	if (h->next != FABRIC_NONE)
		return false;
	uint32_t there = out ? h->peer : w->f->nodes[w->f->switches[sw].node].port0;

	if (there == dst)
		*v = (struct value){ .sl_mask = ALL_SLS, .mtu = h->mtu, .rate = h->rate };
	return true;
}

/* Puts the hop sw -> next in front of next's value. */
static struct value prepend(const struct work *w, uint32_t sw, unsigned lid)
{
	const struct hop *h = hop_at(w, sw, out_port(w, sw, lid));
	struct value v = w->value[h->next];

	if (!v.mtu)
		return v;
	v.sl_mask &= pass_mask(w, h->next, h->in, lid);
	if (h->mtu < v.mtu)
		v.mtu = h->mtu;
	if (h->rate < v.rate)
		v.rate = h->rate;
	return v;
}

/* A switch has no route until its walk ends: a walk that meets itself never does. */
static void compute_switch(struct work *w, uint32_t sw, unsigned lid, uint32_t dst)
{
	uint32_t depth = 0;

	while (w->progress[sw] == NOT_DONE) {
		if (last_hop(w, sw, lid, dst, &w->value[sw])) {
			w->progress[sw] = DONE;
			break;
		}
		w->progress[sw] = ON_WALK;
		w->walk[depth++] = sw;
		sw = hop_at(w, sw, out_port(w, sw, lid))->next;
	}
	while (depth) {
		uint32_t s = w->walk[--depth];

		w->value[s] = prepend(w, s, lid);
		w->progress[s] = DONE;
	}
}

/*
 * The class of a value.  Class 0 is "no route"; it is also what a route gets if there are more
 * distinct values than class numbers: nothing is promised then.
 */
static uint16_t class_of(struct work *w, struct value v)
{
	struct paths *p = w->p;
	uint64_t key = (uint64_t)v.sl_mask << 16 | v.mtu << 8 | v.rate;

	if (!v.mtu)
		return 0;
	uint32_t c = map64_get(&w->class_by_value, key);
	if (c != MAP64_NONE)
		return (uint16_t)c;
	if (p->n_classes == PATH_ROW) {
		w->overflow = true;
		return 0;
	}
	p->classes = xrealloc(p->classes, p->n_classes + 1, sizeof(*p->classes));
	p->classes[p->n_classes] = (struct path_class){
		.mtu = v.mtu, .rate = w->ranks.rate[v.rate], .sl_mask = v.sl_mask,
	};
	map64_put(&w->class_by_value, key, p->n_classes);
	return (uint16_t)p->n_classes++;
}

static bool same_value(struct value a, struct value b)
{
	return a.sl_mask == b.sl_mask && a.mtu == b.mtu && a.rate == b.rate;
}

/* Hosts of one leaf switch mostly have equal rows: each distinct row is stored once. */
static uint16_t *share_row(struct work *w)
{
	struct paths *p = w->p;
	size_t size = p->n_switches * sizeof(*w->row);
	uint64_t h = hash_bytes(w->row, size, 0);
	uint32_t i = map64_get(&w->row_by_hash, h);

	if (i != MAP64_NONE && memcmp(p->shared.v[i], w->row, size) == 0)
		return p->shared.v[i];
	map64_put(&w->row_by_hash, h, (uint32_t)p->shared.n);
	return *vec_push(&p->shared) = xmemdup(w->row, size);
}

static void compute_lid(struct work *w, unsigned lid)
{
	struct paths *p = w->p;
	uint32_t dst = w->port_by_lid[lid];
	bool uniform = true;

	memset(w->progress, NOT_DONE, p->n_switches);
	for (uint32_t s = 0; s < p->n_switches; s++) {
		if (w->progress[s] != DONE)
			compute_switch(w, s, lid, dst);
		if (s && same_value(w->value[s], w->value[s - 1])) {
			w->row[s] = w->row[s - 1];
			continue;
		}
		w->row[s] = class_of(w, w->value[s]);
		uniform = uniform && s == 0;
	}
	if (uniform) {
		p->by_lid[lid] = p->n_switches ? w->row[0] : 0;
		return;
	}
	p->by_lid[lid] = PATH_ROW;
	p->rows[lid] = share_row(w);
}

/* --- results that are taken over --- */

/* with more classes, of which some may be out of use, everything is computed anew */
#define CLASSES_KEPT 4096

/* Keeps the numbers of classes. */
static void take_classes(struct work *w)
{
	struct paths *p = w->p;

	p->n_classes = w->was->n_classes;
	p->classes = xrealloc(p->classes, p->n_classes, sizeof(*p->classes));
	memcpy(p->classes, w->was->classes, p->n_classes * sizeof(*p->classes));
	for (uint32_t c = 1; c < p->n_classes; c++) {
		const struct path_class *x = &p->classes[c];

		map64_put(&w->class_by_value, (uint64_t)x->sl_mask << 16 | x->mtu << 8 |
			  w->ranks.rank[x->rate % RATE_CODES], c);
	}
}

static uint16_t class_before(const struct work *w, uint32_t sw, unsigned lid)
{
	uint16_t c = w->was->by_lid[lid];

	return c == PATH_ROW ? w->was->rows[lid][w->changes->sw_before[sw]] : c;
}

/* Stores the result of a LID from w->row. */
static struct taken_row keep_row(struct work *w)
{
	uint32_t n = w->p->n_switches;

	for (uint32_t s = 1; s < n; s++)
		if (w->row[s] != w->row[0])
			return (struct taken_row){ PATH_ROW, share_row(w) };
	return (struct taken_row){ w->row[0], NULL };
}

static void put_row(struct work *w, unsigned lid, struct taken_row r)
{
	w->p->by_lid[lid] = r.by_lid;
	w->p->rows[lid] = r.row;
}

/*
 * For LIDs when all switches were there before: the result for one row holds for all LIDs with that
 * row.
 */
static void take_lid(struct work *w, unsigned lid)
{
	uint64_t key = (uintptr_t)w->was->rows[lid];
	uint32_t i;

	if (w->was->by_lid[lid] != PATH_ROW) {
		put_row(w, lid, (struct taken_row){ w->was->by_lid[lid], NULL });
		return;
	}
	i = map64_get(&w->taken, key);
	if (i == MAP64_NONE) {
		for (uint32_t s = 0; s < w->p->n_switches; s++)
			w->row[s] = class_before(w, s, lid);
		i = (uint32_t)w->taken_rows.n;
		*vec_push(&w->taken_rows) = keep_row(w);
		map64_put(&w->taken, key, i);
	}
	put_row(w, lid, w->taken_rows.v[i]);
}

static struct value value_of(const struct work *w, uint16_t class)
{
	const struct path_class *c = &w->p->classes[class];

	return (struct value){ c->sl_mask, c->mtu, w->ranks.rank[c->rate % RATE_CODES] };
}

/* Prepares the next hop of a new switch: an old switch contributes its earlier result. */
static void load_next(struct work *w, uint32_t sw, unsigned lid)
{
	unsigned out = out_port(w, sw, lid);
	uint32_t next = out > w->hops->nports[sw] ? FABRIC_NONE : hop_at(w, sw, out)->next;

	if (next != FABRIC_NONE && !w->new[next]) {
		w->value[next] = value_of(w, class_before(w, next, lid));
		w->progress[next] = DONE;
		load_row(w, next, lid / LFT_BLOCK * LFT_BLOCK);
	}
}

/* Keeps the results of old switches and adds those of new ones. */
static void extend_lid(struct work *w, unsigned lid, uint32_t dst)
{
	const struct route_changes *c = w->changes;
	uint16_t all = w->was->by_lid[lid];
	bool same = all != PATH_ROW;

	for (uint32_t i = 0; i < c->n_new; i++)
		w->progress[c->new_switches[i]] = NOT_DONE;
	for (uint32_t i = 0; i < c->n_new; i++)
		load_next(w, c->new_switches[i], lid);
	for (uint32_t i = 0; i < c->n_new; i++) {
		uint32_t sw = c->new_switches[i];

		compute_switch(w, sw, lid, dst);
		w->row[sw] = class_of(w, w->value[sw]);
		same = same && w->row[sw] == all;
	}
	if (same) {
		put_row(w, lid, (struct taken_row){ all, NULL });
		return;
	}
	for (uint32_t s = 0; s < w->p->n_switches; s++)
		if (!w->new[s])
			w->row[s] = class_before(w, s, lid);
	put_row(w, lid, keep_row(w));
}

/* Takes over what did not change, and computes the rest as if nothing were known. */
static void update_lids(struct work *w)
{
	const struct route_changes *c = w->changes;
	uint32_t loaded = UINT32_MAX, rows_of = UINT32_MAX;

	take_classes(w);
	w->new = xcalloc(w->p->n_switches, sizeof(*w->new));
	for (uint32_t i = 0; i < c->n_new; i++)
		w->new[c->new_switches[i]] = true;
	for (uint32_t lid = 0; lid <= w->p->top; lid++) {
		uint32_t block = lid / LFT_BLOCK;

		if (w->port_by_lid[lid] == FABRIC_NONE)
			continue;
		if (route_changed(c, lid)) {
			if (loaded != block)
				load_block(w, block * LFT_BLOCK);
			loaded = rows_of = block;
			compute_lid(w, lid);
			continue;
		}
		if (!c->n_new) {
			take_lid(w, lid);
			continue;
		}
		for (uint32_t i = 0; i < c->n_new && rows_of != block; i++)
			load_row(w, c->new_switches[i], block * LFT_BLOCK);
		rows_of = block;
		extend_lid(w, lid, w->port_by_lid[lid]);
	}
	free(w->new);
	map64_free(&w->taken);
	vec_free(&w->taken_rows);
}

static void compute_lids(struct work *w)
{
	for (uint32_t lid = 0; lid <= w->p->top; lid++) {
		if (lid % LFT_BLOCK == 0)	/* the stride is whole blocks */
			load_block(w, lid);
		if (w->port_by_lid[lid] != FABRIC_NONE)
			compute_lid(w, lid);
	}
}

static void forget_lids(struct paths *p)
{
	for (size_t i = 0; i < p->shared.n; i++)
		free(p->shared.v[i]);
	vec_free(&p->shared);
	free(p->rows);
	free(p->by_lid);
	free(p->classes);
}

/* False: there are too many classes, of which some may be out of use. */
static bool run(struct work *w)
{
	uint32_t n = w->f->n_switches;
	struct paths *p = w->p;

	p->by_lid = xcalloc(p->top + 1u, sizeof(*p->by_lid));
	p->rows = xcalloc(p->top + 1u, sizeof(*p->rows));
	p->classes = xcalloc(1, sizeof(*p->classes));
	p->n_classes = 1;
	w->column = xcalloc(n, LFT_BLOCK);
	w->progress = xcalloc(n, 1);
	w->value = xcalloc(n, sizeof(*w->value));
	w->walk = xcalloc(n, sizeof(*w->walk));
	w->row = xcalloc(n, sizeof(*w->row));
	if (w->was)
		update_lids(w);
	else
		compute_lids(w);
	map64_free(&w->row_by_hash);
	map64_free(&w->class_by_value);
	free(w->column);
	free(w->progress);
	free(w->value);
	free(w->walk);
	free(w->row);
	return !(w->was && w->overflow);
}

struct paths *paths_update(const struct fabric *f, const struct lfts *l, uint16_t top,
			   const uint32_t *port_by_lid, const struct qos_tables *t,
			   struct hops *hops, const struct route_changes *changes,
			   const struct paths *before)
{
	struct paths *p = xcalloc(1, sizeof(*p));
	struct work w = { .f = f, .l = l, .t = t, .port_by_lid = port_by_lid, .p = p };

	p->top = top;
	p->n_switches = f->n_switches;
	p->hops = hops;
	w.hops = hops;
	rank_rates(&w.ranks);
	if (changes && before->n_classes <= CLASSES_KEPT) {
		w.was = before;
		w.changes = changes;
	}
	if (!run(&w)) {
		forget_lids(p);
		w.was = NULL;
		run(&w);
	}
	return p;
}

struct paths *paths_compute(const struct fabric *f, const struct lfts *l, uint16_t top,
			    const uint32_t *port_by_lid, const struct qos_tables *t)
{
	return paths_update(f, l, top, port_by_lid, t, paths_hops(f, t), NULL, NULL);
}

void paths_free(struct paths *p)
{
	if (!p)
		return;
	forget_lids(p);
	hops_free(p->hops);
	free(p);
}

/* --- one pair --- */

struct path_info paths_of_port(const struct fabric *f, uint32_t port)
{
	struct path_info i = port_info(f, port);

	if (f->ports[port].peer != FABRIC_NONE)
		narrow(&i, link_info(f, NULL, port));
	return i;
}

struct path_info paths_between(const struct paths *p, const struct fabric *f,
			       const struct lfts *l, const struct qos_tables *t,
			       uint32_t src, uint32_t dst, uint16_t dlid)
{
	static const struct path_info none;
	const struct fabric_node *n = port_node(f, src);
	struct path_info i = port_info(f, src);
	uint32_t sw_node = f->ports[src].node;
	unsigned in = 0;

	if (!node_is_switch(n)) {
		uint32_t peer = f->ports[src].peer;

		i.sl_mask = paths_hop_sls(f, t, f->ports[src].node, 0, f->ports[src].num);
		if (src == dst)
			return i;
		if (peer == FABRIC_NONE)
			return none;
		narrow(&i, link_info(f, t, src));
		if (peer == dst)
			return i;
		sw_node = f->ports[peer].node;
		in = f->ports[peer].num;
	} else if (src == dst) {
		i.sl_mask = paths_hop_sls(f, t, sw_node, 0, 0);
		return i;
	}
	uint32_t sw = f->nodes[sw_node].sw;

	if (sw == FABRIC_NONE || dlid > p->top)
		return none;
	const struct path_class *c = paths_get(p, sw, dlid);
	if (!c->mtu)
		return none;
	narrow(&i, (struct path_info){ c->mtu, c->rate, c->sl_mask });
	i.sl_mask &= paths_hop_sls(f, t, sw_node, in, lft_get(l, sw, dlid));
	return i;
}

/* --- a route hop by hop --- */

unsigned paths_follow(const struct fabric *f, const struct lfts *l, const struct qos_tables *t,
		      uint32_t src, uint16_t dlid, uint32_t dst, struct path_hop *hops,
		      unsigned max, bool *there)
{
	uint32_t node = f->ports[src].node;
	unsigned in = 0;

	*there = false;
	for (unsigned n = 0; n < max; n++) {
		const struct fabric_node *at = &f->nodes[node];
		unsigned out = f->ports[src].num;
		bool arrived = src == dst;

		if (node_is_switch(at)) {
			if (!arrived)
				out = dlid <= l->top ? lft_get(l, at->sw, dlid) : LFT_DROP;
			arrived = out == 0 && at->port0 == dst;
		} else {
			arrived = arrived || (in && at->port0 + in == dst);
			if (arrived)
				out = 0;
			else if (n > 0)
				out = LFT_DROP;		/* another host's port */
		}
		hops[n] = (struct path_hop){ node, (uint8_t)in, (uint8_t)out, TABLE_NONE };
		if (!arrived && (out == 0 || out > at->nports ||
				 f->ports[at->port0 + out].peer == FABRIC_NONE))
			return n + 1;
		if (!arrived || node_is_switch(at))
			hops[n].map = t->managed || t->fixed
				? qos_sl2vl_in_force(t, f, node, in, out) : TABLE_NONE;
		if (arrived) {
			*there = true;
			return n + 1;
		}
		const struct fabric_port *peer = &f->ports[f->ports[at->port0 + out].peer];

		node = peer->node;
		in = peer->num;
	}
	return max;
}

unsigned paths_walk(const struct fabric *f, const struct lfts *l, const struct qos_tables *t,
		    uint32_t src, uint16_t dlid, uint32_t dst, struct path_hop *hops, unsigned max)
{
	bool there;
	unsigned n = paths_follow(f, l, t, src, dlid, dst, hops, max, &there);

	return there ? n : 0;
}
