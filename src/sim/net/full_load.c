/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Simulates hosts that always have data to send; see full_load.h.
 *
 * A flow has a queue at each out port on its route; the first queue is never empty.  A packet time
 * has two steps, so that the order of ports does not matter: each out port chooses from what is
 * there, then all chosen packets move one hop.
 */
#include "sim/net/full_load.h"

#include <stdlib.h>

#include "sim/net/fields.h"
#include "sim/net/wire.h"

#define DATA_VLS 15
#define BUFFER 8		/* packets behind a link, per VL */
#define WEIGHT_BYTES 64
#define LIMIT_BYTES 4096
#define LIMIT_UNBOUNDED 255
#define ARB_ENTRIES 64

struct hop {
	uint32_t link;			/* index of the link */
	uint8_t vl;
	uint32_t waiting;		/* waiting packets; not counted at the first hop */
};

struct flow {
	const struct load_flow *is;
	struct hop hop[LOAD_HOPS_MAX];
	unsigned n;
};

/* Position in one of the two arbitration tables. */
struct turn {
	const uint8_t *table;		/* (VL, weight) x 64 */
	unsigned entry;
	int64_t left;			/* bytes left of the entry's weight */
};

/* An out port and its link. */
struct link {
	uint32_t port;
	struct turn high, low;
	int64_t credit;			/* bytes of high priority left until a low packet is due */
	uint8_t limit;
	unsigned last_vl;		/* VL that sent last, for ports without tables */
	unsigned last_flow[DATA_VLS];
	uint32_t buffered[DATA_VLS];	/* packets in the buffers behind the link */
	uint16_t has, may;		/* VLs with packets; VLs that may send, too */
	struct flow *flow;		/* flow that was chosen; NULL: none */
	unsigned hop;
};

struct network {
	struct sim *s;
	const struct load *l;
	struct flow *flows;
	unsigned n_flows;
	struct link *links;
	uint32_t n_links;
};

/* --- arbitration (7.6.9) --- */

static bool table_serves(const struct turn *t, uint16_t vls)
{
	for (unsigned i = 0; i < ARB_ENTRIES; i++)
		if (t->table[2 * i + 1] && vls >> (t->table[2 * i] & 15) & 1)
			return true;
	return false;
}

/* The next of these VLs by the table, which must serve at least one. */
static unsigned table_next(struct turn *t, uint16_t vls, int64_t bytes)
{
	unsigned vl = t->table[2 * t->entry] & 15;

	while (t->left <= 0 || !(vls >> vl & 1)) {
		t->entry = (t->entry + 1) % ARB_ENTRIES;
		t->left = t->table[2 * t->entry + 1] * (int64_t)WEIGHT_BYTES;
		vl = t->table[2 * t->entry] & 15;
	}
	t->left -= bytes;
	return vl;
}

static int64_t full_credit(const struct link *k)
{
	return k->limit ? k->limit * (int64_t)LIMIT_BYTES : 1;
}

static bool has_table(const struct link *k)
{
	return table_serves(&k->high, UINT16_MAX) || table_serves(&k->low, UINT16_MAX);
}

/* The VL that sends; -1 if none does. */
static int arbitrate(struct link *k, int64_t bytes)
{
	bool high = table_serves(&k->high, k->may), low = table_serves(&k->low, k->may);

	if (!k->may)
		return -1;
	if (!has_table(k)) {
		do
			k->last_vl = (k->last_vl + 1) % DATA_VLS;
		while (!(k->may >> k->last_vl & 1));
		return (int)k->last_vl;
	}
	if (high && (k->limit == LIMIT_UNBOUNDED || k->credit > 0 || !low)) {
		k->credit -= bytes;
		return (int)table_next(&k->high, k->may, bytes);
	}
	k->credit = full_credit(k);
	return low ? (int)table_next(&k->low, k->may, bytes) : -1;
}

/* --- counting --- */

static void count(struct network *w, const struct link *k)
{
	struct sim_port *ports = w->s->f->ports;
	const struct sim_traffic t = {
		.packets = w->l->times, .words = (uint64_t)w->l->times * (w->l->bytes / 4),
		.vl = k->flow->hop[k->hop].vl, .sl = k->flow->is->sl,
	};

	port_count(&ports[k->port], true, &t);
	port_count(&ports[ports[k->port].peer], false, &t);
}

static void count_waits(struct network *w, const struct link *k)
{
	uint16_t waits = k->has;

	if (k->flow)
		waits &= (uint16_t)~(1u << k->flow->hop[k->hop].vl);
	if (!k->has)
		return;
	for (unsigned vl = 0; vl < DATA_VLS; vl++)
		if (waits >> vl & 1)
			port_counters(&w->s->f->ports[k->port])->vl_xmit_wait[vl]++;
	if (!k->flow)
		port_counters(&w->s->f->ports[k->port])->xmit_wait++;
}

/* --- a packet time --- */

static bool has_packet(const struct flow *f, unsigned hop)
{
	return hop == 0 || f->hop[hop].waiting;
}

static bool has_room(const struct network *w, const struct flow *f, unsigned hop)
{
	const struct hop *h = &f->hop[hop];

	return hop + 1 == f->n || w->links[h->link].buffered[h->vl] < BUFFER;
}

static void look(struct network *w)
{
	for (uint32_t i = 0; i < w->n_links; i++) {
		w->links[i].has = w->links[i].may = 0;
		w->links[i].flow = NULL;
	}
	for (unsigned i = 0; i < w->n_flows; i++)
		for (unsigned h = 0; h < w->flows[i].n; h++) {
			const struct flow *f = &w->flows[i];
			struct link *k = &w->links[f->hop[h].link];

			if (!has_packet(f, h))
				continue;
			k->has |= (uint16_t)(1u << f->hop[h].vl);
			if (has_room(w, f, h))
				k->may |= (uint16_t)(1u << f->hop[h].vl);
		}
}

/* The hop at which a flow uses the link on that VL; f->n if there is none. */
static unsigned hop_over(const struct flow *f, uint32_t link, unsigned vl)
{
	unsigned h = 0;

	while (h < f->n && (f->hop[h].link != link || f->hop[h].vl != vl))
		h++;
	return h;
}

/* Chooses the next flow of the VL in round-robin order. */
static void choose_flow(struct network *w, uint32_t link, unsigned vl)
{
	struct link *k = &w->links[link];

	for (unsigned i = 1; i <= w->n_flows; i++) {
		unsigned at = (k->last_flow[vl] + i) % w->n_flows;
		struct flow *f = &w->flows[at];
		unsigned h = hop_over(f, link, vl);

		if (h == f->n || !has_packet(f, h) || !has_room(w, f, h))
			continue;
		k->last_flow[vl] = at;
		k->flow = f;
		k->hop = h;
		return;
	}
}

static void move(struct network *w, struct link *k)
{
	struct flow *f = k->flow;
	unsigned h = k->hop;

	if (h) {
		const struct hop *before = &f->hop[h - 1];

		f->hop[h].waiting--;
		w->links[before->link].buffered[before->vl]--;
	}
	if (h + 1 < f->n) {
		f->hop[h + 1].waiting++;
		k->buffered[f->hop[h].vl]++;
	}
}

static void packet_time(struct network *w)
{
	look(w);
	for (uint32_t i = 0; i < w->n_links; i++) {
		int vl = arbitrate(&w->links[i], w->l->bytes);

		if (vl >= 0)
			choose_flow(w, i, (unsigned)vl);
	}
	for (uint32_t i = 0; i < w->n_links; i++) {
		struct link *k = &w->links[i];

		count_waits(w, k);
		if (!k->flow)
			continue;
		count(w, k);
		move(w, k);
	}
}

/* --- routes --- */

static uint32_t link_of(struct network *w, uint32_t port)
{
	const struct sim_port *p = &w->s->f->ports[port];
	struct link *k;

	for (uint32_t i = 0; i < w->n_links; i++)
		if (w->links[i].port == port)
			return i;
	k = &w->links[w->n_links];
	*k = (struct link){
		.port = port, .limit = p->info[PI_VL_HIGH_LIMIT],
		.high = { p->arb_high, ARB_ENTRIES - 1, 0 }, .low = { p->arb_low, ARB_ENTRIES - 1, 0 },
	};
	k->credit = full_credit(k);
	return w->n_links++;
}

static bool find_way(struct network *w, struct flow *f, struct buf *err)
{
	const struct sim_fabric *fab = w->s->f;
	uint32_t in = f->is->from;
	enum drop_reason why = DROP_LOOP;

	while (f->n < LOAD_HOPS_MAX) {
		uint32_t out;
		uint8_t vl;

		why = wire_next_hop(fab, in, f->is->dlid, f->is->sl, &out, &vl);
		/* arrived: at port 0 of a switch, or at a CA */
		if (why || out == node_of(fab, out)->port0)
			break;
		f->hop[f->n++] = (struct hop){ link_of(w, out), vl, 0 };
		in = fab->ports[out].peer;
		if (!is_switch(node_of(fab, in)))
			break;
		why = DROP_LOOP;
	}
	if (!why)
		return true;
	buf_printf(err, "LID %u on SL %u: %s", f->is->dlid, f->is->sl, drop_reason_name(why));
	return false;
}

bool load_run(struct sim *s, const struct load_flow *flows, unsigned n, const struct load *l,
	      struct buf *err)
{
	struct network w = { .s = s, .l = l, .n_flows = n };
	bool good = true;

	w.flows = xcalloc(n + 1, sizeof(*w.flows));
	w.links = xcalloc((size_t)n * LOAD_HOPS_MAX + 1, sizeof(*w.links));
	for (unsigned i = 0; i < n && good; i++) {
		w.flows[i].is = &flows[i];
		good = find_way(&w, &w.flows[i], err);
	}
	for (uint32_t t = 0; t < l->packets && good; t++)
		packet_time(&w);
	free(w.flows);
	free(w.links);
	return good;
}
