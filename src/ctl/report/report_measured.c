/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was measured on the links of a report: how much each end sent and how long it waited, by the last reading of
 * error counters (perf/error_watch.h), and what VLs got, by measurements of counters (perf/perf.h).
 *
 * What was not measured is absent, never 0, and the data says why.
 */
#include <stdlib.h>

#include "ctl/report/report.h"
#include "ctl/report/report_columns.h"
#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "perf/error_watch.h"

struct end_got {
	uint32_t port;
	bool is_short;			/* a VL is */
	struct perf_got got;
};

struct report_measured {
	struct error_reading reading;
	bool read, measured;		/* counters of that kind are read at all */
	float (*rates)[PORT_RATES];	/* [ports]; NULL: none is known */
	VEC(struct end_got) gots;
	json_t *levels;
	int64_t got_us;			/* realtime, of the newest of gots; 0: there are none */
};

/* --- collecting --- */

static void take_rates(struct report_measured *m, const struct subnet_state *s, const struct error_watch *w)
{
	bool some = false;

	m->reading = *error_watch_last(w);
	if (!m->reading.when_us)
		return;
	m->rates = xcalloc(s->f->n_ports + 1u, sizeof(*m->rates));
	for (uint32_t port = 0; port < s->f->n_ports; port++)
		for (enum port_rate r = 0; r < PORT_RATES; r++) {
			m->rates[port][r] = s->f->ports[port].peer == FABRIC_NONE ? RATE_UNKNOWN :
					    error_watch_rate(w, s, port, r);
			some |= m->rates[port][r] >= 0;
		}
	if (some)
		return;
	free(m->rates);
	m->rates = NULL;
}

static bool is_any_short(const struct perf_got *g)
{
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		if (g->verdict[vl] == VERDICT_SHORT)
			return true;
	return false;
}

/* An idle link's few packets are management, whose shares say nothing. */
static bool is_of_interest(const struct perf_got *g)
{
	return g->full < 0 || g->full >= REPORT_BUSY || is_any_short(g);
}

static void take_gots(struct report_measured *m, const struct subnet_state *s, const struct perf *p)
{
	for (uint32_t port = 0; port < s->f->n_ports; port++) {
		const struct perf_got *g = s->f->ports[port].peer == FABRIC_NONE ? NULL : perf_port_got(p, s, port);
		struct end_got *x;

		if (!g || !is_of_interest(g))
			continue;
		x = vec_push(&m->gots);
		*x = (struct end_got){ .port = port, .is_short = is_any_short(g), .got = *g };
		m->got_us = g->when_us > m->got_us ? g->when_us : m->got_us;
	}
}

static json_t *json_levels_got(const struct perf_summary *sum)
{
	json_t *levels = json_array();

	for (size_t i = 0; i < sum->levels.n; i++) {
		const struct perf_level *l = &sum->levels.v[i];

		json_array_append_new(levels, json_pack("{s:s, s:f, s:i, s:i, s:f, s:f}", "level", l->name, "bytes",
							(double)l->bytes, "judged", (int)l->judged, "short",
							(int)l->short_of, "got", l->got, "promised", l->promised));
	}
	return levels;
}

struct report_measured *report_measured_new(const struct ctl_call *c)
{
	struct report_measured *m = xcalloc(1, sizeof(*m));
	const struct subnet_state *s = c->view->state;

	m->read = c->env->errors != NULL;
	m->measured = c->env->perf != NULL;
	if (m->read)
		take_rates(m, s, c->env->errors);
	if (m->measured) {
		take_gots(m, s, c->env->perf);
		m->levels = json_levels_got(perf_last(c->env->perf));
	}
	return m;
}

void report_measured_free(struct report_measured *m)
{
	free(m->rates);
	vec_free(&m->gots);
	json_decref(m->levels);
	free(m);
}

/* --- loads and waits --- */

/* What the end sent in thousandths of the link's data rate, or else what the other end received; -1: not known. */
static json_int_t load_of(const struct report_measured *m, const struct subnet_state *s, uint32_t port)
{
	uint32_t peer = s->f->ports[port].peer;
	double gbps = link_data_gbps(paths_of_port(s->f, port).rate, s->f->ports[port].fdr10);
	float sent = m->rates[port][RATE_SENT];

	if (sent < 0)
		sent = m->rates[peer][RATE_RECEIVED];
	return sent < 0 || gbps <= 0 ? -1 : (json_int_t)((double)sent * 8e-6 / gbps + 0.5);
}

static json_int_t waits_of(const struct report_measured *m, uint32_t port)
{
	float waits = m->rates[port][RATE_WAITED];

	return waits < 0 ? -1 : (json_int_t)(waits + 0.5f);
}

static void put_rates(json_t *links, const struct report_measured *m, const struct subnet_state *s)
{
	const struct column c[] = { column("load-a"), column("load-b"), column("waits-a"), column("waits-b") };

	for (uint32_t port = 0; port < s->f->n_ports; port++) {
		uint32_t peer = s->f->ports[port].peer;

		if (!is_end_a(s->f, port))
			continue;
		put(&c[0], load_of(m, s, port));
		put(&c[1], load_of(m, s, peer));
		put(&c[2], waits_of(m, port));
		put(&c[3], waits_of(m, peer));
	}
	set_columns(links, c, ARRAY_SIZE(c));
}

static json_t *why_no_rates(const struct report_measured *m)
{
	if (m->rates)
		return json_null();
	if (!m->read)
		return json_string("this manager does not read error counters");
	if (!m->reading.when_us)
		return json_string("error counters were not read yet (errors-interval of qosd.yaml)");
	return json_string("error counters were read once; loads need two readings (errors-interval of qosd.yaml)");
}

static json_int_t seconds_of(const struct report_measured *m)
{
	return m->rates ? (json_int_t)(m->reading.seconds + 0.5) : 0;
}

/* --- what VLs got --- */

/* Those with a VL that is short first, then the fullest. */
static int by_need(const void *a, const void *b)
{
	const struct end_got *x = a, *y = b;

	if (x->is_short != y->is_short)
		return x->is_short ? -1 : 1;
	if (x->got.full > y->got.full || x->got.full < y->got.full)
		return x->got.full > y->got.full ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

enum { LINK, END, FULL, VL, SHARE, SHORT };

static void put_got(const struct column *c, const struct end_got *x, uint32_t link, unsigned end)
{
	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		bool is_short = x->got.verdict[vl] == VERDICT_SHORT;

		if (!is_short && !(x->got.got[vl] > 0))
			continue;
		put(&c[LINK], link);
		put(&c[END], end);
		put(&c[FULL], x->got.full < 0 ? -1 : (json_int_t)(x->got.full * 1000 + 0.5f));
		put(&c[VL], vl);
		put(&c[SHARE], (json_int_t)(x->got.got[vl] * 1000 + 0.5f));
		put(&c[SHORT], is_short);
	}
}

static json_t *json_gots(struct report_measured *m, const struct subnet_state *s)
{
	const struct column c[] = {
		[LINK] = column("link"), [END] = column("end"), [FULL] = column("full"), [VL] = column("vl"),
		[SHARE] = column("share"), [SHORT] = column("short"),
	};
	uint32_t *link_of_port = xcalloc(s->f->n_ports + 1u, sizeof(*link_of_port)), n = 0;
	json_t *o = json_object();

	for (uint32_t port = 0; port < s->f->n_ports; port++)
		if (is_end_a(s->f, port))
			link_of_port[port] = link_of_port[s->f->ports[port].peer] = n++;
	if (m->gots.n)
		qsort(m->gots.v, m->gots.n, sizeof(*m->gots.v), by_need);
	for (size_t i = 0; i < m->gots.n && i < REPORT_GOTS; i++) {
		uint32_t port = m->gots.v[i].port;

		put_got(c, &m->gots.v[i], link_of_port[port], !is_end_a(s->f, port));
	}
	set_columns(o, c, ARRAY_SIZE(c));
	free(link_of_port);
	return o;
}

static json_t *why_no_gots(const struct report_measured *m)
{
	if (m->gots.n)
		return json_null();
	if (m->measured)
		return json_string("no counters by VL of a busy link were read (counters-interval of qosd.yaml, or "
				   "the command counters)");
	return json_string("this manager does not read counters");
}

void report_measured(json_t *out, struct report_measured *m, const struct subnet_state *s)
{
	json_t *o = json_pack("{s:o, s:I, s:o, s:I, s:I}", "time",
			      m->reading.when_us ? json_time(m->reading.when_real_us) : json_null(), "seconds",
			      seconds_of(m), "why-not", why_no_rates(m), "ports", (json_int_t)m->reading.ports,
			      "silent", (json_int_t)m->reading.silent);

	if (m->rates)
		put_rates(json_object_get(out, "links"), m, s);
	json_object_set_new(o, "got-time", m->got_us ? json_time(m->got_us) : json_null());
	json_object_set_new(o, "got-why-not", why_no_gots(m));
	json_object_set_new(o, "got-ends", json_integer((json_int_t)m->gots.n));
	json_object_set_new(o, "got", json_gots(m, s));
	json_object_set(o, "levels", m->levels ? m->levels : json_null());
	json_object_set_new(out, "measured", o);
}
