/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the counters of a measurement in two rounds over its ports; see perf.h.
 *
 * All attributes of one port are requested in a row, so that its counters are of one moment.
 * Ports are in the order of their numbers, so that successive ports belong to different
 * devices.  The second round does not ask for attributes that the first one did not get.
 *
 * Where counters are reset, the first round reads them after the device has confirmed that: what
 * the answer to a Set has for values is not defined.
 */
#include "perf/perf_internal.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"

#define SECOND_US	1000000
#define GSI_QP		1
#define SLICE		64		/* ports judged in one turn of the loop */

struct perf;

struct asked {
	struct perf *perf;
	bool busy;
	bool set;			/* a reset */
	bool again;			/* it was done: read the attribute next */
	uint32_t row;
	enum pma_attr attr;
	uint16_t lid;			/* where the agent was asked */
};

/* What the answers of a device's agent say of all its ports; bits by attribute. */
struct agent {
	uint8_t silent, lacks;
	bool has_caps;
	uint32_t caps;			/* the answer to PMA_CAPS */
};

struct measurement {
	struct subnet_state *state;	/* NULL: none is in progress */
	struct perf_report report;
	int64_t us;
	bool all;			/* all ports of the fabric */
	bool outdated;			/* the policy changed meanwhile, or we are not master */
	int64_t *read_us;		/* [n]: monotonic time of the first round's read */
	struct agent *agents;		/* [nodes] */
	bool second;
	uint32_t row;			/* next port to ask */
	unsigned attr;			/* next attribute to ask it for */
	unsigned outstanding;
	uint32_t judged;		/* number of ports judged */
	void (*fn)(void *arg, const struct perf_report *r);
	void *arg;
};

struct perf {
	struct mad_port *mad;
	struct subnet_state *state;	/* NULL: we are not master */
	struct timer *go;		/* runs the next step of a measurement */
	struct timer *periodic;
	bool reset;
	unsigned timeout_ms;
	struct measurement now;
	struct asked asked[PERF_WINDOW];
	struct perf_book *book;
};

/* --- ports and agents --- */

bool perf_can_measure(const struct subnet_state *s, uint32_t port)
{
	const struct fabric_port *p = &s->f->ports[port];

	return p->present && p->num && p->peer != FABRIC_NONE && p->state >= IB_PORT_ACTIVE_S;
}

/* The port whose counters an attribute describes: that of the row, or its peer. */
static uint32_t asked_port(const struct subnet_state *s, uint32_t port, enum pma_attr a)
{
	return a == PMA_VL_RCV ? s->f->ports[port].peer : port;
}

/* The LID of the agent that has the counters of a port of the state `of`; 0: none. */
static uint16_t agent_lid(const struct subnet_state *now, const struct subnet_state *of, uint32_t port)
{
	const struct fabric_port *p = &of->f->ports[port];
	uint32_t node = now == of ? p->node : map64_get(&now->f->node_by_guid, of->f->nodes[p->node].guid);
	const struct fabric_node *n;

	if (node == MAP64_NONE)
		return 0;
	n = &now->f->nodes[node];
	if (p->num > n->nports)
		return 0;
	return now->plan->lid[n->port0 + (node_is_switch(n) ? 0 : p->num)];
}

bool perf_address(const struct subnet_state *now, const struct subnet_state *of, uint32_t port,
		  struct mad_address *to)
{
	const struct policy *p = now->plan->policy;

	*to = (struct mad_address){ .lid = agent_lid(now, of, port), .qpn = GSI_QP,
				    .sl = p->levels[p->default_level].sl };
	return to->lid;
}

bool perf_is_at(const struct subnet_state *now, const struct subnet_state *of, uint32_t port, uint16_t lid)
{
	return agent_lid(now, of, port) == lid;
}

/* --- asking --- */

static void step(void *arg);

/* Where agents are: the state published last, unless we are not master any more. */
static const struct subnet_state *where(const struct perf *p)
{
	return p->state ? p->state : p->now.state;
}

static struct pma_values *values_of(struct measurement *m, uint32_t row, enum pma_attr a)
{
	struct perf_port *x = &m->report.ports[row];

	return m->second ? &x->after[a] : &x->before[a];
}

static struct agent *agent_of(const struct measurement *m, uint32_t port)
{
	return &m->agents[m->state->f->ports[port].node];
}

/* Whether an attribute is to be requested; if not, stores the reason or the known answer in its values. */
static bool wanted(struct perf *p, uint32_t row, enum pma_attr a)
{
	struct measurement *m = &p->now;
	const struct perf_port *x = &m->report.ports[row];
	uint32_t port = asked_port(m->state, x->port, a);
	const struct agent *agent;
	struct mad_address to;

	if (m->second && (a == PMA_CAPS || x->before[a].result != PMA_READ)) {
		*values_of(m, row, a) = x->before[a];
		return false;
	}
	agent = agent_of(m, port);
	if (!perf_address(where(p), m->state, port, &to) || agent->silent >> a & 1)
		values_of(m, row, a)->result = PMA_SILENT;
	else if (agent->lacks >> a & 1)
		values_of(m, row, a)->result = PMA_LACKS;
	else if (a == PMA_CAPS && agent->has_caps)
		*values_of(m, row, a) = (struct pma_values){ .result = PMA_READ, .caps = agent->caps };
	else
		return true;
	return false;
}

/*
 * Notes what is true of the device's other ports, too.  By attribute, because some agents do not
 * answer requests for attributes they lack.
 */
static void learn(struct agent *agent, enum pma_attr a, const struct pma_values *v)
{
	if (v->result == PMA_SILENT)
		agent->silent |= (uint8_t)(1u << a);
	if (v->result == PMA_LACKS)
		agent->lacks |= (uint8_t)(1u << a);
	if (v->result == PMA_READ && a == PMA_CAPS) {
		agent->has_caps = true;
		agent->caps = v->caps;
	}
}

static void on_answer(void *arg, const uint8_t *mad, size_t len)
{
	struct asked *a = arg;
	struct perf *p = a->perf;
	struct measurement *m = &p->now;
	uint32_t port = asked_port(m->state, m->report.ports[a->row].port, a->attr);
	struct pma_values *v = values_of(m, a->row, a->attr);

	a->busy = false;
	m->outstanding--;
	timer_set(p->go, 0, 0);
	if (!perf_is_at(where(p), m->state, port, a->lid)) {
		v->result = PMA_BAD;	/* perhaps another device's */
		return;
	}
	if (a->set) {
		*v = (struct pma_values){ .result = pma_set_result(mad, len, a->attr) };
		a->again = v->result == PMA_READ;
	} else {
		pma_answer(mad, len, a->attr, m->state->f->ports[port].num, v);
	}
	m->report.silent += v->result == PMA_SILENT;
	learn(agent_of(m, port), a->attr, v);
	/* the attributes that shares are judged by */
	if (v->result == PMA_READ && !a->set && (a->attr == PMA_XMIT_SL || a->attr == PMA_VL_RCV)) {
		int64_t now = clock_mono_us();

		if (m->second)
			m->report.ports[a->row].us = now - m->read_us[a->row];
		else
			m->read_us[a->row] = now;
	}
}

/* False: mad/ has no room for a request now. */
static bool send(struct asked *a)
{
	struct perf *p = a->perf;
	struct measurement *m = &p->now;
	uint32_t port = asked_port(m->state, m->report.ports[a->row].port, a->attr);
	struct mad_address to;
	uint8_t mad[256];

	perf_address(where(p), m->state, port, &to);
	a->lid = to.lid;
	pma_request(mad, a->attr, m->state->f->ports[port].num, a->set);
	a->busy = mad_request(p->mad, &to, mad, p->timeout_ms, PERF_TRIES, on_answer, a);
	m->outstanding += a->busy;
	m->report.asked += a->busy;
	return a->busy;
}

static bool ask(struct perf *p, struct asked *a)
{
	const struct measurement *m = &p->now;

	*a = (struct asked){ .perf = p, .row = m->row, .attr = (enum pma_attr)m->attr };
	a->set = m->report.reset && !m->second && pma_is_reset(a->attr);
	return send(a);
}

/* Reads what was reset, unless the device is gone meanwhile.  False: no room. */
static bool ask_again(struct asked *a)
{
	struct measurement *m = &a->perf->now;

	if (wanted(a->perf, a->row, a->attr)) {
		a->set = false;
		a->again = !send(a);
		return a->busy;
	}
	a->again = false;
	values_of(m, a->row, a->attr)->result = PMA_SILENT;
	return true;
}

static void advance(struct measurement *m)
{
	if (++m->attr < PMA_ATTRS)
		return;
	m->attr = 0;
	m->row++;
}

/* Fills the window.  False: mad/ had no room. */
static bool ask_more(struct perf *p)
{
	struct measurement *m = &p->now;

	for (unsigned i = 0; i < PERF_WINDOW; i++)
		if (p->asked[i].again && !ask_again(&p->asked[i]))
			return false;
	for (unsigned i = 0; i < PERF_WINDOW; i++) {
		if (p->asked[i].busy)
			continue;
		while (m->row < m->report.n && !wanted(p, m->row, (enum pma_attr)m->attr))
			advance(m);
		if (m->row == m->report.n)
			return true;
		if (!ask(p, &p->asked[i]))
			return false;
		advance(m);
	}
	return true;
}

/* --- the end --- */

static void drop_measurement(struct perf *p)
{
	struct measurement *m = &p->now;

	state_unref(m->state);
	free(m->report.ports);
	free(m->read_us);
	free(m->agents);
	*m = (struct measurement){ 0 };
}

/* Judges some more of the ports; true: all are judged. */
static bool judge_some(struct perf *p)
{
	struct measurement *m = &p->now;

	if (!m->judged)
		book_begin(p->book);
	for (unsigned i = 0; i < SLICE && m->judged < m->report.n; i++) {
		struct perf_port *x = &m->report.ports[m->judged++];

		perf_evaluate(m->state, x);
		if (!m->outdated)
			book_take(p->book, m->state, x);
	}
	return m->judged == m->report.n;
}

static void finish(struct perf *p)
{
	struct measurement *m = &p->now;

	if (!m->outdated)
		book_end(p->book, &m->report, m->all);
	if (m->fn)
		m->fn(m->arg, &m->report);
	drop_measurement(p);
}

static void step(void *arg)
{
	struct perf *p = arg;
	struct measurement *m = &p->now;

	if (!ask_more(p)) {
		timer_set(p->go, PERF_AGAIN_US, 0);
		return;
	}
	if (m->row < m->report.n || m->outstanding)
		return;
	if (m->second) {
		if (judge_some(p))
			finish(p);
		else
			timer_set(p->go, 0, 0);
		return;
	}
	m->second = true;
	m->row = 0;
	m->attr = 0;
	timer_set(p->go, m->us, 0);
}

/* --- beginning --- */

/* Notes when the policy changes: a measurement is judged by the promises of its own state. */
static void look_if_outdated(struct perf *p)
{
	struct measurement *m = &p->now;

	m->outdated |= m->state && (!p->state || p->state->policy != m->state->policy);
}

bool perf_measure(struct perf *p, struct subnet_state *s, const uint32_t *ports, uint32_t n,
		  int64_t us, bool reset,
		  void (*fn)(void *arg, const struct perf_report *r), void *arg, struct buf *err)
{
	struct measurement *m = &p->now;
	uint32_t all = 0;

	if (m->state) {
		buf_puts(err, "another measurement is in progress: try again in a moment");
		return false;
	}
	for (uint32_t i = 0; i < s->f->n_ports; i++)
		all += perf_can_measure(s, i);
	*m = (struct measurement){ .state = state_ref(s), .us = us, .all = n == all, .fn = fn,
				   .arg = arg };
	m->report = (struct perf_report){ .state = s, .reset = reset, .n = n };
	m->report.ports = xcalloc(n, sizeof(*m->report.ports));
	m->read_us = xcalloc(n, sizeof(*m->read_us));
	m->agents = xcalloc(s->f->n_nodes, sizeof(*m->agents));
	for (uint32_t i = 0; i < n; i++)
		m->report.ports[i].port = ports[i];
	look_if_outdated(p);
	timer_set(p->go, 0, 0);
	return true;
}

void perf_forget(struct perf *p, const void *arg)
{
	if (p->now.arg == arg)
		p->now.fn = NULL;
}

uint32_t *perf_ports(const struct subnet_state *s, uint32_t *n)
{
	VEC(uint32_t) v = { 0 };
	uint32_t *nodes = xcalloc(s->f->n_nodes + 1u, sizeof(*nodes)), left = s->f->n_nodes;

	for (uint32_t i = 0; i < left; i++)
		nodes[i] = i;
	for (unsigned num = 1; left; num++) {
		uint32_t larger = 0;		/* nodes that have a port of that number */

		for (uint32_t i = 0; i < left; i++) {
			const struct fabric_node *x = &s->f->nodes[nodes[i]];

			if (num > x->nports)
				continue;
			nodes[larger++] = nodes[i];
			if (perf_can_measure(s, x->port0 + num))
				*vec_push(&v) = x->port0 + num;
		}
		left = larger;
	}
	free(nodes);
	*n = (uint32_t)v.n;
	return v.v;
}

static void on_periodic(void *arg)
{
	struct perf *p = arg;
	struct buf busy = { 0 };
	uint32_t *ports, n;

	if (!p->state || p->now.state)
		return;			/* an operator's measurement is in progress: measure next time */
	ports = perf_ports(p->state, &n);
	if (n)
		perf_measure(p, p->state, ports, n, PERF_US_DEFAULT, p->reset, NULL, NULL, &busy);
	buf_free(&busy);
	free(ports);
}

void perf_published(struct perf *p, struct subnet_state *s)
{
	state_unref(p->state);
	p->state = s ? state_ref(s) : NULL;
	look_if_outdated(p);
	if (!s)
		book_clear(p->book);
}

struct perf *perf_new(struct loop *l, struct mad_port *m, uint32_t interval_s, bool reset,
		      unsigned timeout_ms, const struct perf_hooks *hooks)
{
	struct perf *p = xcalloc(1, sizeof(*p));

	p->mad = m;
	p->timeout_ms = timeout_ms;
	p->go = timer_new(l, step, p);
	p->periodic = timer_new(l, on_periodic, p);
	p->book = book_new(hooks);
	perf_set_interval(p, interval_s, reset);
	return p;
}

void perf_set_interval(struct perf *p, uint32_t interval_s, bool reset)
{
	int64_t interval_us = (int64_t)interval_s * SECOND_US;

	p->reset = reset;
	if (interval_us)
		timer_set(p->periodic, interval_us, interval_us);
	else
		timer_stop(p->periodic);
}

void perf_free(struct perf *p)
{
	if (!p)
		return;
	timer_free(p->go);
	timer_free(p->periodic);
	drop_measurement(p);
	state_unref(p->state);
	book_free(p->book);
	free(p);
}

const struct perf_finding *perf_findings(const struct perf *p, size_t *n)
{
	return book_findings(p->book, n);
}

const struct perf_stray *perf_strays(const struct perf *p, size_t *n)
{
	return book_strays(p->book, n);
}

const struct perf_summary *perf_last(const struct perf *p)
{
	return book_last(p->book);
}

const struct perf_got *perf_port_got(const struct perf *p, const struct subnet_state *s, uint32_t port)
{
	const struct fabric_port *at = &s->f->ports[port];

	return book_got(p->book, s->f->nodes[at->node].guid, at->num);
}
