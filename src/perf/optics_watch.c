/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads transceivers in rounds of SMPs; see optics_watch.h.
 *
 * A worker has one node, and asks it for one thing after the other: the local ports of a switch once, then for each
 * port where its module is, once, and what its memory has.  Answers are matched with the state that the reading
 * began with; requests take the route of the state published last.
 */
#include "perf/optics_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/iba/iba.h"
#include "perf/perf_internal.h"

#define STATUS_BAD_FIELD 0x1c

struct worker {
	struct optics_watch *w;
	struct timer *busy;		/* until a busy device is asked again */
	uint32_t node;			/* of run->f */
	struct optics_node *book;
	uint32_t next, end;		/* ports that are left, in w->ports */
	/* what is asked for now */
	enum { ASK_LOCAL, ASK_LANES, ASK_MEMORY } asks;
	unsigned range;			/* see transceiver_next() */
	struct transceiver_range at;
	struct transceiver t;		/* of the port, as far as it is read */
	unsigned tries;			/* of what it asks for now, or of this port's memory */
};

struct optics_watch {
	struct mad_port *mad;
	struct optics_hooks hooks;
	int64_t interval_us;
	struct timer *periodic;
	struct subnet_state *state;	/* NULL: we are not master */
	struct optics_book book;
	struct optics_reading last, now;
	unsigned events;		/* of this reading */

	struct subnet_state *run;	/* state of the reading; NULL: none runs */
	VEC(uint32_t) ports;		/* in order of nodes */
	uint32_t port;			/* the first that no worker has */
	bool anew;
	unsigned working;
	struct worker workers[OPTICS_WINDOW];
	void (*fn)(void *arg, const struct optics_reading *r);
	void *arg;
};

/* --- which devices --- */

#define VENDOR_MELLANOX	0x0002c9
#define VENDOR_BULL	0x00119f

/*
 * Devices of which mstflint has the registers: Connect-IB to ConnectX-9, BlueField; Switch-IB to Quantum-3, and
 * Bull's names of some.  Earlier ones have registers of their own, or none.
 */
static const struct {
	uint32_t vendor;
	uint16_t first, last;
} kinds[] = {
	{ VENDOR_MELLANOX, 0x1011, 0x10ff }, { VENDOR_MELLANOX, 0xa2d2, 0xa2ff },
	{ VENDOR_MELLANOX, 0xcb20, 0xcb20 }, { VENDOR_MELLANOX, 0xcf08, 0xcf09 },
	{ VENDOR_MELLANOX, 0xd2f0, 0xd2ff },
	{ VENDOR_BULL, 0x1b60, 0x1bff },
};

bool optics_has_registers(const struct fabric *f, uint32_t node)
{
	const uint8_t *info = f->nodes[node].info;
	uint32_t vendor = get_be32(info + 36) & 0xffffff;
	uint16_t device = get_be16(info + 30);

	if (f->nodes[node].aggregation)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].vendor == vendor && device >= kinds[i].first && device <= kinds[i].last)
			return true;
	return false;
}

/* --- events --- */

/* Reports a port whose module raises an alarm, or no longer does. */
static void tell(struct optics_watch *w, uint32_t port, const struct optics_port *p)
{
	const struct fabric *f = w->run->f;
	char name[FABRIC_NAME_MAX];
	struct buf text = { 0 };
	struct event e;

	if (w->events++ >= OPTICS_EVENTS_MAX)
		return;
	fabric_port_name(f, port, name, sizeof(name));
	optics_put_beyond(p, false, &text);
	if (text.n)
		event_make(&e, EVENT_OPTICS_ALARM, "%s: %s", name, text.s);
	else
		event_make(&e, EVENT_OPTICS_CLEAR, "%s: the module raises no alarm any more", name);
	event_guid(&e, "node", f->nodes[f->ports[port].node].guid);
	event_number(&e, "port", f->ports[port].num);
	event_text(&e, "name", "%s", name);
	if (text.n)
		event_text(&e, "optics", "%s", text.s);
	w->hooks.event(w->hooks.arg, &e);
	buf_free(&text);
}

/* --- one port --- */

static uint32_t port_of(const struct worker *x)
{
	return x->w->ports.v[x->next];
}

static struct optics_port *kept_port(const struct worker *x)
{
	struct optics_port **p = &x->book->ports[x->w->run->f->ports[port_of(x)].num];

	if (!*p)
		*p = xcalloc(1, sizeof(**p));
	return *p;
}

static void begin_port(struct worker *x)
{
	const struct optics_port *p = kept_port(x);

	x->range = x->tries = 0;
	x->t = p->result == OPTICS_READ ? p->t : (struct transceiver){ 0 };
}

static void next_port(struct worker *x)
{
	if (++x->next < x->end)
		begin_port(x);
}

static void end_port(struct worker *x, enum optics_result result, unsigned mcia_status)
{
	struct optics_port *p = kept_port(x);
	bool alarmed = optics_is_alarmed(p);

	p->result = result;
	p->mcia_status = (uint8_t)mcia_status;
	p->read_us = clock_mono_us();
	if (result == OPTICS_READ)
		p->t = x->t;
	if (optics_is_alarmed(p) != alarmed && result != OPTICS_UNREADABLE)
		tell(x->w, port_of(x), p);
	next_port(x);
}

static void end_memory(struct worker *x)
{
	transceiver_end(&x->t, kept_port(x)->at.lanes);
	end_port(x, x->t.identified ? OPTICS_READ : OPTICS_UNREADABLE, MCIA_NOT_SUPPORTED);
}

/* --- requests --- */

static void on_answer(void *arg, const struct smp *s, int status);

static const struct {
	uint16_t id;
	uint8_t size;
} registers[] = {
	[ASK_LOCAL] = { REGISTER_PLIB, PLIB_SIZE }, [ASK_LANES] = { REGISTER_PMLP, PMLP_SIZE },
	[ASK_MEMORY] = { REGISTER_MCIA, MCIA_SIZE },
};

static unsigned local_of(const struct worker *x)
{
	return x->book->local[x->w->run->f->ports[port_of(x)].num];
}

/* The part of the module's memory that is asked for. */
static struct mcia memory_of(const struct worker *x)
{
	const struct port_lanes *at = &kept_port(x)->at;

	return (struct mcia){ .module = at->module, .slot = at->slot, .page = x->at.page,
			      .offset = x->at.offset, .size = x->at.size };
}

/* False: there is no route to the node. */
static bool send(struct worker *x)
{
	const struct fabric *now = x->w->state->f;
	const struct fabric_port *p = &x->w->run->f->ports[port_of(x)];
	uint32_t node = map64_get(&now->node_by_guid, x->book->guid);
	/*
	 * A device takes milliseconds to ask a module, far longer than for other SMPs, whose round trips the time-outs
	 * of further tries would follow: the first answer would be too late, and its flags would be lost.
	 */
	struct smp s = { .method = SMP_SET, .attr = ATTR_ACCESS_REGISTER, .once = true, .tells_busy = true };
	uint8_t reg[REGISTER_SMP_ROOM] = { 0 };
	struct mcia memory;

	if (node == MAP64_NONE || now->nodes[node].nports != x->book->nports || now->nodes[node].silent ||
	    !x->w->hooks.route(x->w->hooks.arg, now, node, node_is_switch(&now->nodes[node]) ? 0 : p->num, &s))
		return false;
	switch (x->asks) {
	case ASK_LOCAL:
		plib_request(reg, x->book->asked_local + 1u);
		break;
	case ASK_LANES:
		pmlp_request(reg, local_of(x));
		break;
	case ASK_MEMORY:
		memory = memory_of(x);
		mcia_request(reg, &memory);
		break;
	}
	register_request(s.data, registers[x->asks].id, reg, registers[x->asks].size);
	smp_send(x->w->mad, &s, on_answer, x);
	return true;
}

/* Chooses what to ask the node for.  False: nothing is left. */
static bool choose(struct worker *x)
{
	const struct fabric *f = x->w->run->f;

	while (x->w->state && x->book->is == NODE_ASKABLE && x->next < x->end) {
		const struct optics_port *p = kept_port(x);

		if (!node_is_switch(&f->nodes[x->node]))
			x->book->local[f->ports[port_of(x)].num] = f->ports[port_of(x)].num;
		else if (x->book->asked_local < x->book->nports) {
			x->asks = ASK_LOCAL;
			return true;
		}
		if (!local_of(x)) {
			end_port(x, OPTICS_UNREADABLE, MCIA_NOT_SUPPORTED);
		} else if (!p->located) {
			x->asks = ASK_LANES;
			return true;
		} else if (!p->at.lanes) {
			end_port(x, OPTICS_EMPTY, 0);
		} else if (transceiver_next(&x->t, &x->range, &x->at)) {
			x->asks = ASK_MEMORY;
			return true;
		} else {
			end_memory(x);
		}
	}
	return false;
}

/* Gives the worker the next node that may be asked.  False: there is none. */
static bool take_node(struct worker *x)
{
	struct optics_watch *w = x->w;
	const struct fabric *f = w->run->f;

	while (w->state && w->port < w->ports.n) {
		x->node = f->ports[w->ports.v[w->port]].node;
		x->next = w->port;
		while (w->port < w->ports.n && f->ports[w->ports.v[w->port]].node == x->node)
			w->port++;
		x->end = w->port;
		x->book = optics_book_node(&w->book, &f->nodes[x->node]);
		if (w->anew && x->book->is != NODE_ASKABLE)
			optics_node_ask_again(x->book);
		w->now.nodes++;
		begin_port(x);
		if (x->book->is == NODE_ASKABLE)
			return true;
	}
	return false;
}

static void finish(struct optics_watch *w);

/* Asks for the next thing, of this node or of the next one. */
static void go_on(struct worker *x)
{
	for (;;) {
		if (x->book && choose(x) && send(x))
			return;
		x->book = NULL;
		if (!take_node(x))
			break;
	}
	if (--x->w->working == 0)
		finish(x->w);
}

/* --- answers --- */

static void on_busy(void *arg)
{
	struct worker *x = arg;

	if (x->book && x->w->state && send(x))
		return;
	x->book = NULL;
	go_on(x);
}

/* The device may have the answer later.  False: it had its chances. */
static bool ask_later(struct worker *x)
{
	if (++x->tries >= OPTICS_BUSY_TRIES)
		return false;
	timer_set(x->busy, OPTICS_BUSY_US, 0);
	return true;
}

/*
 * A device that denies a register, of which it has given nothing so far, lacks it; else it is something about this
 * port.
 */
static void take_refusal(struct worker *x, int status)
{
	bool lacks = status || (x->asks == ASK_LOCAL ? !x->book->asked_local :
				x->asks == ASK_LANES ? !optics_node_has_located(x->book) :
						       !optics_node_has_read(x->book));

	if (lacks)
		x->book->is = NODE_REFUSES;
	else if (x->asks == ASK_LOCAL)
		x->book->asked_local++;		/* there is no such local port */
	else
		end_port(x, OPTICS_UNREADABLE, MCIA_NOT_SUPPORTED);
}

static void take_local(struct worker *x, const uint8_t *reg)
{
	unsigned local = ++x->book->asked_local, port = plib_answer(reg, local);

	x->tries = 0;
	if (port && port <= x->book->nports)
		x->book->local[port] = (uint8_t)local;
}

static void take_lanes(struct worker *x, const uint8_t *reg)
{
	struct optics_port *p = kept_port(x);

	x->tries = 0;
	p->located = pmlp_answer(reg, local_of(x), &p->at);
	if (!p->located)
		end_port(x, OPTICS_UNREADABLE, MCIA_NOT_SUPPORTED);
}

static void take_bytes(struct worker *x, const uint8_t *bytes)
{
	x->tries = 0;
	if (transceiver_take(&x->t, &x->at, bytes))
		x->range = 0;			/* another module, which this reading shows as it is first seen */
}

/* False: it is asked again later. */
static bool take_memory(struct worker *x, const uint8_t *reg)
{
	const struct mcia m = memory_of(x);
	int status = mcia_answer(reg, &m);

	if (status == MCIA_GOOD)
		take_bytes(x, reg + MCIA_HEAD);
	else if (status == MCIA_NOT_CONNECTED)
		end_port(x, OPTICS_EMPTY, 0);
	else if (status == MCIA_I2C_ERROR && ask_later(x))
		return false;
	else if (status > 0 && x->at.page)
		take_bytes(x, NULL);		/* a page that the module lacks */
	else
		end_port(x, OPTICS_UNREADABLE, status < 0 ? MCIA_I2C_ERROR : (unsigned)status);
	return true;
}

static bool take_register(struct worker *x, const uint8_t *reg)
{
	switch (x->asks) {
	case ASK_LOCAL:
		take_local(x, reg);
		break;
	case ASK_LANES:
		take_lanes(x, reg);
		break;
	case ASK_MEMORY:
		return take_memory(x, reg);
	}
	return true;
}

static void on_answer(void *arg, const struct smp *s, int status)
{
	struct worker *x = arg;

	if (status < 0) {
		if (++x->tries < OPTICS_SILENT_TRIES && x->w->state && send(x))
			return;			/* it may have been lost */
		x->book->is = NODE_SILENT;
		go_on(x);
		return;
	}
	switch (register_answer(s->data, (unsigned)status, registers[x->asks].id, registers[x->asks].size)) {
	case REGISTER_READ:
		if (!take_register(x, s->data + REGISTER_TLVS))
			return;
		break;
	case REGISTER_BUSY:
		if (ask_later(x))
			return;
		x->book = NULL;			/* what was read before stays */
		break;
	case REGISTER_REFUSED:
	case REGISTER_MALFORMED:
		take_refusal(x, status);
		break;
	}
	go_on(x);
}

/* --- readings --- */

static void stop(struct optics_watch *w)
{
	state_unref(w->run);
	w->run = NULL;
	vec_free(&w->ports);
	w->fn = NULL;
}

static void count_results(struct optics_watch *w, int64_t begun_us)
{
	const struct fabric *f = w->run->f;
	const struct optics_node *before = NULL;

	for (size_t i = 0; i < w->ports.n; i++) {
		const struct fabric_port *p = &f->ports[w->ports.v[i]];
		const struct optics_node *n = optics_book_find(&w->book, f->nodes[p->node].guid);
		const struct optics_port *o = n && p->num <= n->nports ? n->ports[p->num] : NULL;

		w->now.results[o && o->read_us >= begun_us ? o->result : OPTICS_UNREAD]++;
		if (n && n != before) {
			w->now.refusing += n->is == NODE_REFUSES;
			w->now.silent += n->is == NODE_SILENT;
		}
		before = n;
	}
}

static void finish(struct optics_watch *w)
{
	void (*fn)(void *arg, const struct optics_reading *r) = w->fn;
	void *arg = w->arg;

	if (w->state) {
		count_results(w, w->now.when_us);
		w->now.when_us = clock_mono_us();
		w->now.when_real_us = clock_real_us();
		w->last = w->now;
	}
	stop(w);
	if (!w->state)
		optics_book_clear(&w->book);
	if (fn)
		fn(arg, &w->last);
}

/* Ports are in the order of their nodes, as their indexes are. */
static void begin(struct optics_watch *w, struct subnet_state *s, const uint32_t *ports, uint32_t n, bool anew)
{
	w->run = state_ref(s);
	w->anew = anew;
	w->port = 0;
	w->events = 0;
	w->now = (struct optics_reading){ .when_us = clock_mono_us(), .ports = n };
	optics_book_prune(&w->book, w->state->f);
	for (uint32_t i = 0; i < n; i++)
		*vec_push(&w->ports) = ports[i];
	for (unsigned i = 0; i < OPTICS_WINDOW; i++) {
		struct worker *x = &w->workers[i];

		x->book = NULL;
		w->working++;
		timer_set(x->busy, 0, 0);	/* the caller gets no answer before it has returned */
	}
}

/* A port with a link, of a device that is known to have registers. */
static bool is_readable(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	return p->present && p->num && p->peer != FABRIC_NONE && optics_has_registers(f, p->node);
}

static void on_periodic(void *arg)
{
	struct optics_watch *w = arg;
	VEC(uint32_t) ports = { 0 };

	if (!w->state || w->run)
		return;
	for (uint32_t i = 0; i < w->state->f->n_ports; i++)
		if (is_readable(w->state->f, i))
			*vec_push(&ports) = i;
	if (ports.n)
		begin(w, w->state, ports.v, (uint32_t)ports.n, false);
	vec_free(&ports);
}

bool optics_watch_read(struct optics_watch *w, struct subnet_state *s, const uint32_t *ports, uint32_t n, bool anew,
		       void (*fn)(void *arg, const struct optics_reading *r), void *arg, struct buf *err)
{
	VEC(uint32_t) readable = { 0 };

	for (uint32_t i = 0; i < n; i++)
		if (is_readable(s->f, ports[i]))
			*vec_push(&readable) = ports[i];
	if (w->run || !w->state)
		buf_puts(err, w->run ? "transceivers are being read: try again in a moment" : "this is not the master");
	else if (!readable.n)
		buf_puts(err, "no such port with a link is of a device that is known to tell of its transceivers");
	if (!err->n) {
		begin(w, s, readable.v, (uint32_t)readable.n, anew);
		w->fn = fn;
		w->arg = arg;
	}
	vec_free(&readable);
	return !err->n;
}

void optics_watch_forget(struct optics_watch *w, const void *arg)
{
	if (w->arg == arg)
		w->fn = NULL;
}

void optics_watch_set_interval(struct optics_watch *w, int64_t interval_us)
{
	if (interval_us == w->interval_us)
		return;
	w->interval_us = interval_us;
	perf_set_periodic(w->periodic, w->state ? interval_us : 0);
}

void optics_watch_published(struct optics_watch *w, struct subnet_state *s)
{
	bool first = s && !w->state;

	state_unref(w->state);
	w->state = s ? state_ref(s) : NULL;
	if (first || !s)
		perf_set_periodic(w->periodic, s ? w->interval_us : 0);
	if (s) {
		optics_book_forgive_gone(&w->book, s->f);
		return;
	}
	w->last = (struct optics_reading){ 0 };
	if (!w->run)
		optics_book_clear(&w->book);
}

struct optics_watch *optics_watch_new(struct loop *l, struct mad_port *m, int64_t interval_us,
				      const struct optics_hooks *hooks)
{
	struct optics_watch *w = xcalloc(1, sizeof(*w));

	w->mad = m;
	w->hooks = *hooks;
	w->interval_us = interval_us;
	w->periodic = timer_new(l, on_periodic, w);
	for (unsigned i = 0; i < OPTICS_WINDOW; i++) {
		w->workers[i].w = w;
		w->workers[i].busy = timer_new(l, on_busy, &w->workers[i]);
	}
	optics_book_init(&w->book);
	return w;
}

void optics_watch_free(struct optics_watch *w)
{
	if (!w)
		return;
	timer_free(w->periodic);
	for (unsigned i = 0; i < OPTICS_WINDOW; i++)
		timer_free(w->workers[i].busy);
	stop(w);
	state_unref(w->state);
	optics_book_free(&w->book);
	free(w);
}

/* --- looking --- */

const struct optics_reading *optics_watch_last(const struct optics_watch *w)
{
	return &w->last;
}

const struct optics_port *optics_watch_port(const struct optics_watch *w, const struct subnet_state *s, uint32_t port)
{
	const struct fabric_port *p = &s->f->ports[port];
	const struct optics_node *n = optics_book_find(&w->book, s->f->nodes[p->node].guid);
	const struct optics_port *o = n && p->num <= n->nports ? n->ports[p->num] : NULL;

	return o && o->result != OPTICS_UNREAD ? o : NULL;
}

bool optics_watch_refuses(const struct optics_watch *w, const struct subnet_state *s, uint32_t node, bool *silent)
{
	const struct optics_node *n = optics_book_find(&w->book, s->f->nodes[node].guid);

	*silent = n && n->is == NODE_SILENT;
	return n && n->is != NODE_ASKABLE;
}
