/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stream of the discovery process (libFuzzer's interface).  The input is a program of short
 * commands, each of which appends a record that is almost right or changes bytes of the last one, so
 * that few mutations lead to a whole stream.  Behind an end a second stream begins, which is read
 * with the fabric of the first as what was known.
 *
 * Whatever the stream is, it fails, or the fabric keeps the invariants of fabric.h and a plan
 * can be made of it.
 */
#include <stdlib.h>
#include <string.h>

#include "discovery/stream_reader.h"
#include "fuzz.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "subnet.h"

enum { NODE, PORTS, PORT, LINK, LEFT, END, CHANGE, RAW, COMMANDS };
enum { PORTS_MAX = 4096 };

struct input {
	const uint8_t *p;
	size_t n;
};

static struct buf stream;
static size_t last;		/* where its last record begins */
static uint8_t last_ports;	/* of its last node */
static bool last_is_switch;

/* The next byte; 0: there is none. */
static uint8_t take(struct input *in)
{
	if (!in->n)
		return 0;
	in->n--;
	return *in->p++;
}

static void put(const void *record, size_t n)
{
	last = stream.n;
	buf_add(&stream, record, n);
}

static void put_port(unsigned num, uint64_t guid)
{
	struct stream_port p = { .type = STREAM_PORT, .num = (uint8_t)num, .guid = guid };

	p.port_info[32] = 4;	/* PortState Active */
	put(&p, sizeof(p));
}

static void put_node(struct input *in)
{
	struct stream_node n = { .type = STREAM_NODE };
	uint8_t what = take(in);

	n.is_switch = what & 1;
	n.hops = what >> 1 & 7;
	n.node_info[NI_TYPE] = what & 0x80 ? 3 : n.is_switch ? 2 : 1;
	n.node_info[NI_PORTS] = last_ports = take(in);
	n.node_info[NI_LOCAL_PORT] = take(in);
	put_be64(n.node_info + NI_GUID, take(in));
	for (unsigned i = 0; i < n.hops; i++)
		n.route[i] = take(in);
	last_is_switch = n.is_switch;
	put(&n, sizeof(n));
}

static void put_ports(struct input *in)
{
	uint8_t guid = take(in);

	for (unsigned num = last_is_switch ? 0 : 1; num <= last_ports; num++)
		put_port(num, last_is_switch ? guid : guid + num);
}

static void put_link(struct input *in)
{
	struct stream_link l = { .type = STREAM_LINK };

	l.node_a = take(in);
	l.num_a = take(in);
	l.node_b = take(in);
	l.num_b = take(in);
	put(&l, sizeof(l));
}

static void put_left(struct input *in)
{
	struct stream_left l = { .type = STREAM_LEFT };

	l.left.near_guid = take(in);
	l.left.why = take(in);
	put(&l, sizeof(l));
}

static void put_end(struct input *in)
{
	struct stream_end e = { .type = STREAM_END, .self_num = take(in) };

	put(&e, sizeof(e));
}

/* Bytes of the last record, which may be its type. */
static void change(struct input *in)
{
	size_t at = last + take(in), n = take(in) & 15;

	for (; n && in->n && at < stream.n; n--)
		stream.s[at++] = (char)take(in);
}

static void put_raw(struct input *in)
{
	size_t n = take(in);

	n = n < in->n ? n : in->n;
	put(in->p, n);
	in->p += n;
	in->n -= n;
}

/* Up to an end that nothing changes any more, or to the end of the input. */
static void make_stream(struct input *in)
{
	bool ended = false;
	uint8_t num;

	stream.n = last = 0;
	while (in->n && !ended) {
		switch (take(in) % COMMANDS) {
		case NODE: put_node(in); break;
		case PORTS: put_ports(in); break;
		case PORT:
			num = take(in);
			put_port(num, take(in));
			break;
		case LINK: put_link(in); break;
		case LEFT: put_left(in); break;
		case END:
			put_end(in);
			ended = !(take(in) & 1);
			break;
		case CHANGE: change(in); break;
		default: put_raw(in); break;
		}
	}
}

static void require(bool fact)
{
	if (!fact)
		abort();
}

static void check_ports(const struct fabric *f)
{
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct fabric_port *p = &f->ports[i];

		require(p->node < f->n_nodes && f->nodes[p->node].port0 + p->num == i);
		if (p->peer == FABRIC_NONE)
			continue;
		require(p->peer < f->n_ports && p->peer != i && p->num && p->present);
		require(f->ports[p->peer].peer == i && f->ports[p->peer].present);
	}
}

static void check_nodes(const struct fabric *f)
{
	uint32_t ports = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct fabric_node *n = &f->nodes[i];

		require(n->port0 == ports && n->local_port <= n->nports);
		require(map64_get(&f->node_by_guid, n->guid) == i);
		require((n->sw != FABRIC_NONE) == node_is_switch(n));
		require(n->sw == FABRIC_NONE ||
			(n->sw < f->n_switches && f->switches[n->sw].node == i));
		require(n->hops <= IB_DR_HOPS_MAX && n->route + n->hops <= f->n_routes);
		require((i == 0) == !n->hops);
		ports += n->nports + 1u;
	}
	require(ports == f->n_ports && ports <= PORTS_MAX);
}

static void check(const struct fabric *f)
{
	require(f->self < f->n_ports && f->ports[f->self].node == 0 && port_is_end(f, f->self));
	check_nodes(f);
	check_ports(f);
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (port_is_end(f, i) && f->ports[i].guid)
			require(fabric_find_port(f, f->ports[i].guid) != FABRIC_NONE);
}

/* In pieces of that size, as a pipe may have them. */
static void feed(struct stream_reader *r, size_t piece)
{
	size_t from = 0, to = 0;

	while (to < stream.n && !r->broken) {
		to = stream.n - to < piece ? stream.n : to + piece;
		from += reader_take(r, stream.s + from, to - from);
		require(from <= to);
	}
	/* as disco.c has it: what is behind the end, or stops in a record, is no scan */
	r->broken |= from < stream.n;
}

/* The fabric, which is the caller's; NULL: the scan failed. */
static struct fabric *read_one(struct input *in, const struct fabric *known)
{
	struct stream_reader r;
	struct fabric *f = NULL;
	size_t piece = 1 + take(in);

	make_stream(in);
	reader_start(&r);
	r.known = known;
	r.ports_max = PORTS_MAX;
	feed(&r, piece);
	for (size_t i = 0; i < r.left.n; i++)
		require(r.left.v[i].why && r.left.v[i].why < EXCLUDED_WHYS && r.left.v[i].near_guid);
	if (r.whole && !r.broken) {
		check(r.f);
		f = r.f;
		r.f = NULL;
	}
	reader_free(&r);
	return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct fabric *known, *f;
	bool plan_too = take(&in) % 16 == 0;	/* which takes a hundred times as long */

	log_set_level(LOG_LEVEL_ERROR);
	known = read_one(&in, NULL);
	if (known && plan_too)
		check_plan(known, 0);
	if (known && in.n) {
		f = read_one(&in, known);
		if (f) {
			fabric_keep_owners(f, known);
			check(f);
			if (plan_too)
				check_plan(f, 0);
		}
		fabric_free(f);
	}
	fabric_free(known);
	buf_free(&stream);
	return 0;
}
