/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads and clears error counters in rounds of requests; see error_watch.h.
 *
 * A reading asks each node that did not tell its capabilities yet for them, then reads all ports, then the
 * data of ports whose errors are elsewhere, then resets counters that are nearly full, and reads these ports
 * again; last, it records the loads of links.  A clearing asks for capabilities, too, then resets and reads:
 * of a device with 64-bit counters it resets both attributes, because other tools read either.
 *
 * Ports are in the order of their numbers, so that successive requests go to different devices.
 *
 * The ports are those of the state published when the reading began; each request goes to where its
 * device is by the state published last.
 */
#include "perf/error_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "perf/load_record.h"
#include "perf/perf_internal.h"

#define LOADS_A_TURN	8192		/* ports whose loads are recorded in one turn of the event loop */

enum round {
	ROUND_CAPS,
	ROUND_READ, ROUND_DATA, ROUND_RESET, ROUND_RESET_READ, ROUND_LOADS,	/* a reading */
	ROUND_CLEAR, ROUND_CLEAR_NARROW, ROUND_CLEAR_READ,	/* a clearing */
	ROUND_END
};

struct row {
	uint32_t port;		/* index into the state's fabric */
	struct error_node *node;	/* the port's; stays until the reading is over or outdated */
	uint16_t which;		/* ROUND_RESET: counters to reset */
	bool set;		/* the device has confirmed a reset … */
	bool cleared;		/* … and was read after that */
};

struct asked {
	struct error_watch *watch;
	bool busy;
	uint32_t row;
	uint16_t lid;		/* where the agent was asked */
};

struct error_watch {
	struct mad_port *mad;
	struct error_settings set;
	struct perf_hooks hooks;
	struct timer *go, *periodic;
	struct subnet_state *state;	/* NULL: we are not master */
	struct error_book *book;
	struct error_reading last, now;
	unsigned events;		/* of this reading */
	struct load_record loads;

	struct subnet_state *run;	/* state of what runs; NULL: nothing does */
	bool outdated;			/* we are not master any more */
	enum round round;
	bool clears;			/* a clearing runs, not a reading */
	uint32_t *ports, n_ports;	/* that get rows in the first turn; NULL: they have them */
	VEC(struct row) rows;
	uint32_t row;			/* next to ask */
	unsigned outstanding;
	struct asked asked[PERF_WINDOW];
	void (*fn)(void *arg, uint32_t done);
	void *arg;
};

/* --- events --- */

void error_put_over(const struct error_book *b, const struct error_port *p, int64_t now_us,
		    struct buf *out)
{
	size_t start = out->n;

	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		if (p->over >> e & 1)
			buf_printf(out, "%s%s %" PRIu64 " in the last hour (limit %" PRIu32 ")",
				   out->n > start ? ", " : "", port_error_iba_name(e),
				   error_last_hour(p, e, now_us), error_limit(b, e));
}

/* Names a port and its far end; one that is not in the fabric by its GUID. */
static void tell(struct error_watch *w, const struct subnet_state *s, uint64_t guid, unsigned num,
		 const struct error_port *p, int64_t now_us)
{
	uint32_t node = map64_get(&s->f->node_by_guid, guid);
	uint32_t port = node == MAP64_NONE || num > s->f->nodes[node].nports ?
			FABRIC_NONE : s->f->nodes[node].port0 + num;
	uint32_t peer = port == FABRIC_NONE ? FABRIC_NONE : s->f->ports[port].peer;
	char name[FABRIC_NAME_MAX], far[FABRIC_NAME_MAX] = "";
	struct buf errors = { 0 };
	struct event e;

	if (w->events++ >= ERROR_EVENTS_MAX)
		return;
	if (port == FABRIC_NONE)
		snprintf(name, sizeof(name), "0x%016" PRIx64 "/P%u", guid, num);
	else
		fabric_port_name(s->f, port, name, sizeof(name));
	if (peer != FABRIC_NONE)
		fabric_port_name(s->f, peer, far, sizeof(far));
	error_put_over(w->book, p, now_us, &errors);
	if (p->over)
		event_make(&e, EVENT_LINK_ERRORS, "%s%s%s: %s", name, *far ? " to " : "", far, errors.s);
	else
		event_make(&e, EVENT_LINK_CLEAN, "%s%s%s: no counter of errors is over its limit any more", name,
			   *far ? " to " : "", far);
	event_guid(&e, "node", guid);
	event_number(&e, "port", num);
	event_text(&e, "name", "%s", name);
	event_text(&e, "far-name", "%s", far);
	if (p->over)
		event_text(&e, "errors", "%s", errors.s);
	w->hooks.event(w->hooks.arg, &e);
	buf_free(&errors);
}

/* Reports a port that exceeded a limit, or that no longer does. */
static void compare(struct error_watch *w, const struct subnet_state *s, uint64_t guid, unsigned num,
		    const struct error_port *p, uint16_t before, int64_t now_us)
{
	if (!before != !p->over)
		tell(w, s, guid, num, p, now_us);
}

struct aging {
	struct error_watch *w;
	const struct subnet_state *state;	/* has the names */
	bool all;				/* limits have changed: a port may be over one that was not */
	int64_t now_us;
	uint32_t over;
};

static void age(void *arg, const struct error_node *n, unsigned num, struct error_port *p)
{
	struct aging *a = arg;
	uint16_t before = p->over;

	if (before || a->all)
		error_age(a->w->book, p, a->now_us);
	compare(a->w, a->state, n->guid, num, p, before, a->now_us);
	a->over += p->over != 0;
}

/* --- rounds --- */

static const struct fabric_port *port_of(const struct error_watch *w, uint32_t row)
{
	return &w->run->f->ports[w->rows.v[row].port];
}

static struct error_node *node_of(const struct error_watch *w, uint32_t row)
{
	return w->rows.v[row].node;
}

/* Whether this round has a request for the row, if its device can be reached. */
static bool is_due(const struct error_node *n, const struct row *r, enum round round)
{
	if (n->silent)
		return false;
	switch (round) {
	case ROUND_CAPS:
		return (!n->known || n->guessed) && !n->asked;
	case ROUND_READ:
	case ROUND_CLEAR:
		return n->known;
	case ROUND_DATA:
		return n->known && n->data64 && !n->data_failed;
	case ROUND_RESET:
		return r->which;
	case ROUND_RESET_READ:
	case ROUND_CLEAR_READ:
		return r->set;
	case ROUND_CLEAR_NARROW:
		return n->known && n->of.attr == PMA_TOTAL64;
	case ROUND_LOADS:
	case ROUND_END:
		break;
	}
	return false;
}

static bool wanted(const struct error_watch *w, uint32_t row)
{
	struct mad_address to;

	return is_due(node_of(w, row), &w->rows.v[row], w->round) &&
	       perf_address(w->state, w->run, w->rows.v[row].port, &to);
}

static bool is_set(enum round r)
{
	return r == ROUND_RESET || r == ROUND_CLEAR || r == ROUND_CLEAR_NARROW;
}

static enum pma_attr attr_of(struct error_watch *w, uint32_t row)
{
	if (w->round == ROUND_CAPS)
		return PMA_CAPS;
	if (w->round == ROUND_DATA)
		return PMA_TOTAL64;
	return w->round == ROUND_CLEAR_NARROW ? PMA_TOTAL32 : node_of(w, row)->of.attr;
}

static void make_request(struct error_watch *w, uint32_t row, uint8_t mad[256])
{
	enum pma_attr a = attr_of(w, row);
	unsigned num = port_of(w, row)->num;

	if (!is_set(w->round))
		pma_request(mad, a, (uint8_t)num, false);
	else
		pma_errors_reset(mad, a, (uint8_t)num, w->round == ROUND_RESET ? w->rows.v[row].which :
							node_of(w, row)->of.known);
}

/* A device that is busy, or answers nonsense, has the counters of any device until the next reading. */
static void take_caps(struct error_node *n, const uint8_t *mad, size_t len)
{
	struct pma_values caps;

	pma_answer(mad, len, PMA_CAPS, 0, &caps);
	n->silent = caps.result == PMA_SILENT;
	n->known = !n->silent;
	n->guessed = caps.result == PMA_BAD;
	n->of = pma_errors_of(&caps);
	n->data64 = caps.result == PMA_READ && n->of.attr == PMA_TOTAL32 && pma_has_extended(caps.caps);
}

static void take_data(struct error_port *p, enum pma_attr a, const struct pma_values *v, int64_t now)
{
	port_rate_take(&p->rates, RATE_SENT, v->total[PMA_XMIT_DATA], pma_bits(a), now);
	port_rate_take(&p->rates, RATE_RECEIVED, v->total[PMA_RCV_DATA], pma_bits(a), now);
}

/* The traffic in the answer that has the port's errors. */
static void take_traffic(const struct error_node *n, struct error_port *p, const struct pma_errors *read,
			 const struct pma_values *v, int64_t now)
{
	if (!n->data64)
		take_data(p, n->of.attr, v, now);
	if (read->known >> ERR_XMIT_WAIT & 1)
		port_rate_take(&p->rates, RATE_WAITED, read->n[ERR_XMIT_WAIT],
			       pma_error_bits(n->of.attr, ERR_XMIT_WAIT), now);
}

/*
 * An agent that promised the attribute and says that it lacks it is not asked again; one that is silent or busy
 * is, in the next reading, as counters of 32 bits stop within seconds.
 */
static void take_data64(struct error_node *n, unsigned num, const uint8_t *mad, size_t len)
{
	struct pma_values v;

	pma_answer(mad, len, PMA_TOTAL64, (uint8_t)num, &v);
	n->data64 = v.result != PMA_LACKS;
	n->data_failed = v.result != PMA_READ;
	if (v.result == PMA_READ)
		take_data(error_port(n, num), PMA_TOTAL64, &v, clock_mono_us());
}

static void take_errors(struct error_watch *w, uint32_t row, const struct pma_errors *read,
			const struct pma_values *values)
{
	struct error_node *n = node_of(w, row);
	unsigned num = port_of(w, row)->num;
	struct error_port *p = error_port(n, num);
	int64_t now = clock_mono_us();
	uint16_t before = p->over;

	switch (w->round) {
	case ROUND_READ:
		error_take(w->book, p, n->of, read, now);
		take_traffic(n, p, read, values, now);
		w->now.wide += n->of.attr == PMA_TOTAL64;
		w->rows.v[row].which = w->set.reset ? error_nearly_full(p, n->of) : 0;
		break;
	case ROUND_RESET_READ:
		w->now.resets += error_take_reset(w->book, p, n->of, read, w->rows.v[row].which, now);
		if (w->rows.v[row].which & 1u << ERR_XMIT_WAIT)
			port_rate_restart(&p->rates, RATE_WAITED, read->n[ERR_XMIT_WAIT], now);
		break;
	case ROUND_CLEAR_READ:
		error_was_cleared(p);
		error_take(w->book, p, n->of, read, now);
		port_rate_restart(&p->rates, RATE_WAITED, read->n[ERR_XMIT_WAIT], now);
		w->rows.v[row].cleared = true;
		break;
	default:
		return;
	}
	compare(w, w->run, n->guid, num, p, before, now);
}

static void on_answer(void *arg, const uint8_t *mad, size_t len)
{
	struct asked *a = arg;
	struct error_watch *w = a->watch;
	struct pma_errors_of of;
	struct error_node *n;
	struct pma_values values;
	struct pma_errors read;
	enum pma_result result;

	a->busy = false;
	w->outstanding--;
	timer_set(w->go, 0, 0);
	if (w->outdated || !perf_is_at(w->state, w->run, w->rows.v[a->row].port, a->lid))
		return;			/* the answer may be another device's */
	n = node_of(w, a->row);
	of = (struct pma_errors_of){ attr_of(w, a->row), n->of.known };
	if (w->round == ROUND_CAPS) {
		take_caps(n, mad, len);
		return;
	}
	if (w->round == ROUND_DATA) {
		take_data64(n, port_of(w, a->row)->num, mad, len);
		return;
	}
	result = is_set(w->round) ? pma_set_result(mad, len, of.attr) :
				    pma_errors_answer(mad, len, of, port_of(w, a->row)->num, &read);
	n->silent |= result == PMA_SILENT;
	if (result != PMA_READ)
		return;
	if (is_set(w->round)) {
		w->rows.v[a->row].set |= w->round != ROUND_CLEAR_NARROW;
		return;
	}
	pma_answer(mad, len, of.attr, port_of(w, a->row)->num, &values);
	take_errors(w, a->row, &read, &values);
}

/* False: mad/ has no room for a request now. */
static bool ask(struct error_watch *w, struct asked *a)
{
	struct mad_address to;
	uint8_t mad[256];

	perf_address(w->state, w->run, w->rows.v[w->row].port, &to);
	*a = (struct asked){ .watch = w, .row = w->row, .lid = to.lid };
	make_request(w, w->row, mad);
	a->busy = mad_request(w->mad, &to, mad, w->set.timeout_ms, PERF_TRIES, on_answer, a);
	w->outstanding += a->busy;
	node_of(w, w->row)->asked |= a->busy;
	return a->busy;
}

/* Fills the window.  False: mad/ had no room. */
static bool ask_more(struct error_watch *w)
{
	for (unsigned i = 0; i < PERF_WINDOW; i++) {
		if (w->asked[i].busy)
			continue;
		while (w->row < w->rows.n && !wanted(w, w->row))
			w->row++;
		if (w->row == w->rows.n)
			return true;
		if (!ask(w, &w->asked[i]))
			return false;
		w->row++;
	}
	return true;
}

/* --- the end --- */

static void stop(struct error_watch *w)
{
	state_unref(w->run);
	w->run = NULL;
	free(w->ports);
	w->ports = NULL;
	vec_free(&w->rows);
	w->fn = NULL;
}

static float rate_of(const void *watch, const struct subnet_state *s, uint32_t port, enum port_rate r)
{
	return error_watch_rate(watch, s, port, r);
}

/* Takes some ports' loads into the record of the hour.  False: there are more. */
static bool record_loads(struct error_watch *w)
{
	struct event e;

	if (!load_record_take(&w->loads, w->run, LOADS_A_TURN, rate_of, w))
		return false;
	if (load_record_end(&w->loads, w->run, w->last.when_us, &e))
		w->hooks.event(w->hooks.arg, &e);
	return true;
}

static void finish_reading(struct error_watch *w)
{
	struct aging a = { .w = w, .state = w->run, .now_us = clock_mono_us() };

	for (uint32_t i = 0; i < w->rows.n; i++)
		w->now.silent += node_of(w, i)->silent;
	error_each(w->book, age, &a);
	error_book_prune(w->book, a.now_us);
	w->now.over = a.over;
	w->now.ports = (uint32_t)w->rows.n;
	w->now.when_us = a.now_us;
	w->now.seconds = w->last.when_us ? (float)(w->now.begun_us - w->last.begun_us) * 1e-6f : 0;
	w->now.when_real_us = clock_real_us();
	w->last = w->now;
}

static void finish(struct error_watch *w)
{
	void (*fn)(void *arg, uint32_t done) = w->fn;
	uint32_t cleared = 0;

	for (uint32_t i = 0; i < w->rows.n; i++)
		cleared += w->rows.v[i].cleared;
	stop(w);
	if (fn)
		fn(w->arg, cleared);
}

static enum round after(const struct error_watch *w)
{
	switch (w->round) {
	case ROUND_CAPS:
		return w->clears ? ROUND_CLEAR : ROUND_READ;
	case ROUND_READ:
		return ROUND_DATA;
	case ROUND_DATA:
		return ROUND_RESET;
	case ROUND_RESET:
		return ROUND_RESET_READ;
	case ROUND_RESET_READ:
		return ROUND_LOADS;
	case ROUND_CLEAR:
		return ROUND_CLEAR_NARROW;
	case ROUND_CLEAR_NARROW:
		return ROUND_CLEAR_READ;
	default:
		return ROUND_END;
	}
}

static void add_rows(struct error_watch *w)
{
	const struct fabric *f = w->run->f;
	struct error_node **nodes = xcalloc(f->n_nodes, sizeof(struct error_node *));

	for (uint32_t i = 0; i < w->n_ports; i++) {
		uint32_t at = f->ports[w->ports[i]].node;
		struct error_node *x = nodes[at];

		if (!x) {
			x = nodes[at] = error_node(w->book, f->nodes[at].guid, f->nodes[at].nports);
			x->seen = true;
			x->silent = x->asked = x->data_failed = false;	/* those that were silent have another chance */
		}
		*vec_push(&w->rows) = (struct row){ .port = w->ports[i], .node = x };
	}
	free(nodes);
	free(w->ports);
	w->ports = NULL;
}

static void step(void *arg)
{
	struct error_watch *w = arg;

	if (!w->run)
		return;
	if (w->ports) {		/* some ms on a large fabric, and so is finding the ports */
		add_rows(w);
		timer_set(w->go, 0, 0);
		return;
	}
	if (!w->outdated && w->round == ROUND_LOADS && !record_loads(w)) {
		timer_set(w->go, 0, 0);
		return;
	}
	if (w->outdated || w->round == ROUND_LOADS)
		w->row = (uint32_t)w->rows.n;
	if (!ask_more(w)) {
		timer_set(w->go, PERF_AGAIN_US, 0);
		return;
	}
	if (w->row < w->rows.n || w->outstanding)
		return;
	w->round = w->outdated ? ROUND_END : after(w);
	w->row = 0;
	if (w->round == ROUND_LOADS)
		finish_reading(w);
	if (w->round == ROUND_END)
		finish(w);
	else
		timer_set(w->go, 0, 0);
}

/* --- beginning --- */

static void begin(struct error_watch *w, struct subnet_state *s, const uint32_t *ports, uint32_t n,
		  bool clears)
{
	w->run = state_ref(s);
	w->outdated = !w->state;
	w->clears = clears;
	w->round = ROUND_CAPS;
	load_record_restart(&w->loads);
	w->row = 0;
	w->events = 0;
	w->now = (struct error_reading){ .begun_us = clock_mono_us(), .resets = w->last.resets };
	if (!clears)
		error_book_unmark(w->book);
	w->ports = xmemdup(ports, n * sizeof(*ports));
	w->n_ports = n;
	timer_set(w->go, 0, 0);
}

static void begin_reading(struct error_watch *w)
{
	uint32_t n, *ports = perf_ports(w->state, &n);

	if (n)
		begin(w, w->state, ports, n, false);
	free(ports);
}

static void on_periodic(void *arg)
{
	struct error_watch *w = arg;

	if (w->state && !w->run)
		begin_reading(w);
}

bool error_watch_read(struct error_watch *w, void (*fn)(void *arg, uint32_t none), void *arg, struct buf *err)
{
	if (w->state && !w->run)
		begin_reading(w);
	if (!w->run || w->outdated || w->clears || w->fn) {
		buf_puts(err, w->run ? "the error counters are being read or cleared: try again in a moment" :
				       "there is no port whose error counters can be read");
		return false;
	}
	w->fn = fn;
	w->arg = arg;
	return true;
}

bool error_watch_clear(struct error_watch *w, struct subnet_state *s, const uint32_t *ports, uint32_t n,
		       void (*fn)(void *arg, uint32_t done), void *arg, struct buf *err)
{
	if (w->run) {
		buf_puts(err, "the error counters are being read: try again in a moment");
		return false;
	}
	begin(w, s, ports, n, true);
	w->fn = fn;
	w->arg = arg;
	return true;
}

void error_watch_forget(struct error_watch *w, const void *arg)
{
	if (w->arg == arg)
		w->fn = NULL;
}

static void judge_anew(struct error_watch *w)
{
	struct aging a = { .w = w, .state = w->state, .all = true, .now_us = clock_mono_us() };

	w->events = 0;
	error_each(w->book, age, &a);
	w->last.over = a.over;
}

void error_watch_change(struct error_watch *w, const struct error_settings *s)
{
	bool other_interval = s->interval_us != w->set.interval_us;
	bool other_limits = memcmp(s->limits, w->set.limits, sizeof(s->limits)) != 0;

	w->set = *s;
	error_book_set_limits(w->book, s->limits);
	if (!w->state)
		return;			/* error_watch_published() sets the timer */
	if (other_interval)
		perf_set_periodic(w->periodic, s->interval_us);
	if (other_limits)
		judge_anew(w);
}

void error_watch_published(struct error_watch *w, struct subnet_state *s)
{
	if (s && !w->state)
		perf_set_periodic(w->periodic, w->set.interval_us);
	state_unref(w->state);
	w->state = s ? state_ref(s) : NULL;
	if (s)
		return;
	perf_set_periodic(w->periodic, 0);
	w->outdated = true;
	error_book_clear(w->book);
	w->last = (struct error_reading){ 0 };
	w->loads = (struct load_record){ 0 };
}

struct error_watch *error_watch_new(struct loop *l, struct mad_port *m, const struct error_settings *s,
				    const struct perf_hooks *hooks)
{
	struct error_watch *w = xcalloc(1, sizeof(*w));

	w->mad = m;
	w->set = *s;
	w->hooks = *hooks;
	w->go = timer_new(l, step, w);
	w->periodic = timer_new(l, on_periodic, w);
	w->book = error_book_new(s->limits);
	return w;
}

void error_watch_free(struct error_watch *w)
{
	if (!w)
		return;
	timer_free(w->go);
	timer_free(w->periodic);
	stop(w);
	state_unref(w->state);
	error_book_free(w->book);
	free(w);
}

/* --- looking --- */

const struct error_book *error_watch_book(const struct error_watch *w)
{
	return w->book;
}

const struct error_reading *error_watch_last(const struct error_watch *w)
{
	return &w->last;
}

const struct error_port *error_watch_port(const struct error_watch *w, const struct subnet_state *s,
					  uint32_t port)
{
	const struct fabric_port *p = &s->f->ports[port];

	return error_find(w->book, s->f->nodes[p->node].guid, p->num);
}

float error_watch_rate(const struct error_watch *w, const struct subnet_state *s, uint32_t port, enum port_rate r)
{
	const struct error_port *p = w->last.when_us ? error_watch_port(w, s, port) : NULL;

	return port_rate(p ? &p->rates : NULL, r, w->last.begun_us);
}
