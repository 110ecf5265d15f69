/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of transceivers in ports; see optics_book.h. */
#include "perf/optics_book.h"

#include <stdlib.h>

const char *optics_result_name(enum optics_result r)
{
	static const char *const names[OPTICS_RESULTS] = { "unread", "read", "empty", "unreadable" };

	return names[r];
}

/* --- what is kept --- */

static void node_free(struct optics_node *n)
{
	for (unsigned i = 0; i <= n->nports; i++)
		free(n->ports[i]);
	free(n->ports);
	free(n->local);
	free(n);
}

void optics_book_clear(struct optics_book *b)
{
	for (size_t i = 0; i < b->nodes.n; i++)
		node_free(b->nodes.v[i]);
	vec_free(&b->nodes);
	map64_clear(&b->by_guid);
}

void optics_book_init(struct optics_book *b)
{
	map64_init(&b->by_guid, 16);
}

void optics_book_free(struct optics_book *b)
{
	optics_book_clear(b);
	map64_free(&b->by_guid);
}

struct optics_node *optics_book_find(const struct optics_book *b, uint64_t guid)
{
	uint32_t i = map64_get(&b->by_guid, guid);

	return i == MAP64_NONE ? NULL : b->nodes.v[i];
}

struct optics_node *optics_book_node(struct optics_book *b, const struct fabric_node *from)
{
	struct optics_node *n = optics_book_find(b, from->guid);

	if (n && n->nports == from->nports)
		return n;
	if (n) {
		uint32_t i = map64_get(&b->by_guid, from->guid);

		node_free(n);
		n = b->nodes.v[i] = xcalloc(1, sizeof(*n));
	} else {
		map64_put(&b->by_guid, from->guid, (uint32_t)b->nodes.n);
		n = *vec_push(&b->nodes) = xcalloc(1, sizeof(*n));
	}
	n->guid = from->guid;
	n->nports = from->nports;
	n->local = xcalloc(n->nports + 1u, sizeof(*n->local));
	n->ports = xcalloc(n->nports + 1u, sizeof(struct optics_port *));
	return n;
}

void optics_book_prune(struct optics_book *b, const struct fabric *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->nodes.n; i++) {
		if (map64_get(&f->node_by_guid, b->nodes.v[i]->guid) == MAP64_NONE)
			node_free(b->nodes.v[i]);
		else
			b->nodes.v[kept++] = b->nodes.v[i];
	}
	if (kept == b->nodes.n)
		return;
	b->nodes.n = kept;
	map64_clear(&b->by_guid);
	for (size_t i = 0; i < kept; i++)
		map64_put(&b->by_guid, b->nodes.v[i]->guid, (uint32_t)i);
}

/* A module that was not seen to be taken out may be another now: only what can be asked again is kept. */
void optics_node_ask_again(struct optics_node *n)
{
	n->is = NODE_ASKABLE;
	n->asked_local = 0;
	for (unsigned i = 0; i <= n->nports; i++)
		if (n->ports[i])
			n->ports[i]->located = false;
}

bool optics_node_has_located(const struct optics_node *n)
{
	for (unsigned i = 0; i <= n->nports; i++)
		if (n->ports[i] && n->ports[i]->located)
			return true;
	return false;
}

bool optics_node_has_read(const struct optics_node *n)
{
	for (unsigned i = 0; i <= n->nports; i++)
		if (n->ports[i] && (n->ports[i]->result == OPTICS_READ || n->ports[i]->result == OPTICS_EMPTY))
			return true;
	return false;
}

void optics_book_forgive_gone(struct optics_book *b, const struct fabric *f)
{
	for (size_t i = 0; i < b->nodes.n; i++)
		if (b->nodes.v[i]->is != NODE_ASKABLE &&
		    map64_get(&f->node_by_guid, b->nodes.v[i]->guid) == MAP64_NONE)
			optics_node_ask_again(b->nodes.v[i]);
}

/* --- what is beyond a threshold --- */

bool optics_is_alarmed(const struct optics_port *p)
{
	enum quantity q;

	return p->result == OPTICS_READ && threshold_is_alarm(transceiver_worst(&p->t, &q));
}

bool optics_is_warned(const struct optics_port *p)
{
	enum quantity q;

	return p->result == OPTICS_READ && transceiver_worst(&p->t, &q) < THRESHOLDS;
}

static void put_value(enum quantity q, int32_t value, struct buf *out)
{
	static const char *const units[QUANTITIES] = { "C", "V", "dBm", "dBm", "mA" };
	double v = quantity_real(q, value);

	buf_printf(out, "%.*f %s", q == VOLTAGE ? 3 : 1, q == RX_POWER || q == TX_POWER ? power_dbm(v) : v, units[q]);
}

/* Of the lanes, the value that is furthest out stands for all. */
static void put_one(const struct transceiver *t, enum quantity q, enum threshold h, size_t start, struct buf *out)
{
	bool high = h == HIGH_ALARM || h == HIGH_WARNING;
	unsigned worst = 0, n = 0;

	for (unsigned i = 0; i < TRANSCEIVER_LANES; i++) {
		if (!(t->beyond[q][h] >> i & 1))
			continue;
		if (!n++ || (high ? t->value[q][i] > t->value[q][worst] : t->value[q][i] < t->value[q][worst]))
			worst = i;
	}
	buf_printf(out, "%s%s ", out->n > start ? ", " : "", quantity_name(q));
	put_value(q, t->value[q][worst], out);
	if (quantity_has_lanes(q))
		buf_printf(out, n > 1 ? " in lane %u and %u more" : " in lane %u", worst + 1, n - 1);
	buf_printf(out, " %s the %s %s of ", high ? "above" : "below", high ? "high" : "low",
		   threshold_is_alarm(h) ? "alarm" : "warning");
	put_value(q, t->limit[q][h], out);
}

void optics_put_beyond(const struct optics_port *p, bool warnings, struct buf *out)
{
	size_t start = out->n;

	for (enum quantity q = 0; q < QUANTITIES; q++)
		for (enum threshold h = HIGH_ALARM; h <= LOW_ALARM; h++) {
			/* beyond an alarm, the warning says nothing more */
			enum threshold warning = h == HIGH_ALARM ? HIGH_WARNING : LOW_WARNING;

			if (p->t.beyond[q][h])
				put_one(&p->t, q, h, start, out);
			else if (warnings && p->t.beyond[q][warning])
				put_one(&p->t, q, warning, start, out);
		}
}
