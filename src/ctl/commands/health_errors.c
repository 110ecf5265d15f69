/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges error counters of links; see health_judges.h and health_errors.h. */
#include "ctl/commands/health_errors.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ctl/commands/health_judges.h"

#define METRICS_EACH 100	/* ports with samples of their own */

struct bad_port {
	uint32_t port;
	const struct error_port *p;
	double excess;
};
struct bad_ports { VEC(struct bad_port) list; };

static int by_excess(const void *a, const void *b)
{
	const struct bad_port *x = a, *y = b;

	if (x->excess != y->excess)
		return x->excess > y->excess ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

/* The ports with a link that were over a limit when they were last read, worst first. */
static void find_bad(const struct error_watch *w, const struct subnet_state *s, int64_t now_us,
		     struct bad_ports *bad)
{
	for (uint32_t i = 0; error_watch_last(w)->over && i < s->f->n_ports; i++) {
		const struct error_port *p;

		if (s->f->ports[i].peer == FABRIC_NONE || !s->f->ports[i].num)
			continue;
		p = error_watch_port(w, s, i);
		if (p && p->over)
			*vec_push(&bad->list) = (struct bad_port){
				i, p, error_excess(error_watch_book(w), p, now_us),
			};
	}
	if (bad->list.n)
		qsort(bad->list.v, bad->list.n, sizeof(*bad->list.v), by_excess);
}

/* --- health --- */

/* What a counter over its limit points to; the first one that is over decides. */
static enum health_finding finding_of(uint16_t over)
{
	uint16_t wire = 1 << ERR_SYMBOL | 1 << ERR_LINK_RECOVERY | 1 << ERR_LINK_DOWNED | 1 << ERR_RCV |
			1 << ERR_LOCAL_INTEGRITY;

	if (over & wire)
		return FOUND_CABLE_ERRORS;
	if (over & 1 << ERR_RCV_REMOTE_PHYSICAL)
		return FOUND_DISTANT_ERRORS;
	if (over & (1 << ERR_XMIT_CONSTRAINT | 1 << ERR_RCV_CONSTRAINT))
		return FOUND_PKEY_ERRORS;
	if (over & (1 << ERR_VL15_DROPPED | 1 << ERR_QP1_DROPPED))
		return FOUND_MAD_ERRORS;
	return FOUND_DROP_ERRORS;
}

static int64_t oldest(const struct error_port *p, int64_t now_us)
{
	int64_t since = now_us;

	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		if (p->over >> e & 1 && p->history[e]->over_since_us < since)
			since = p->history[e]->over_since_us;
	return since;
}

static void put_bad(const struct error_watch *w, const struct subnet_state *s, const struct bad_port *b,
		    int64_t now_us, struct health *h)
{
	char here[FABRIC_NAME_MAX], there[FABRIC_NAME_MAX];
	struct buf text = { 0 };

	buf_printf(&text, "%s, linked to %s: ", fabric_port_name(s->f, b->port, here, sizeof(here)),
		   fabric_port_name(s->f, s->f->ports[b->port].peer, there, sizeof(there)));
	error_put_over(error_watch_book(w), b->p, now_us, &text);
	buf_printf(&text, ", for %" PRId64 " s", (now_us - oldest(b->p, now_us)) / 1000000);
	health_take(h, finding_of(b->p->over), text.s);
}

void health_errors(const struct health_input *in, struct health *h)
{
	struct bad_ports bad = { 0 };

	if (!in->errors)
		return;
	find_bad(in->errors, in->state, in->now_mono_us, &bad);
	for (size_t i = 0; i < bad.list.n && i < HEALTH_EACH; i++)
		put_bad(in->errors, in->state, &bad.list.v[i], in->now_mono_us, h);
	health_rest(h, FOUND_MORE_ERRORS, bad.list.n);
	vec_free(&bad.list);
}

/* --- metrics --- */

static void put_ports(struct prom *p, const struct subnet_state *s, const struct bad_ports *bad,
		      int64_t now_us)
{
	char here[FABRIC_NAME_MAX], there[FABRIC_NAME_MAX];

	prom_metric(p, "qosd_port_errors_last_hour", PROM_GAUGE,
		    "Errors of the last hour that are over the limit, of at most 100 ports.");
	for (size_t i = 0; i < bad->list.n && i < METRICS_EACH; i++) {
		const struct bad_port *b = &bad->list.v[i];

		fabric_port_name(s->f, b->port, here, sizeof(here));
		fabric_port_name(s->f, s->f->ports[b->port].peer, there, sizeof(there));
		for (enum port_error e = 0; e < PORT_ERRORS; e++)
			if (b->p->over >> e & 1)
				prom_sample(p, (double)error_last_hour(b->p, e, now_us), "counter",
					    port_error_name(e), "port", here, "peer", there, NULL);
	}
}

void metrics_errors(struct prom *p, const struct error_watch *w, const struct subnet_state *s,
		    int64_t now_us)
{
	const struct error_reading *last = error_watch_last(w);
	unsigned over[PORT_ERRORS] = { 0 };
	struct bad_ports bad = { 0 };

	if (!last->when_us)
		return;
	find_bad(w, s, now_us, &bad);
	for (size_t i = 0; i < bad.list.n; i++)
		for (enum port_error e = 0; e < PORT_ERRORS; e++)
			over[e] += bad.list.v[i].p->over >> e & 1;
	prom_single(p, "qosd_errors_read_timestamp_seconds", PROM_GAUGE,
		    "When the error counters of all ports were last read.",
		    (double)last->when_real_us * 1e-6);
	prom_metric(p, "qosd_errors_ports", PROM_GAUGE, "Ports of that reading, by result.");
	prom_sample(p, last->ports - last->silent, "result", "read", NULL);
	prom_sample(p, last->silent, "result", "silent", NULL);
	prom_metric(p, "qosd_port_errors_total", PROM_COUNTER,
		    "Errors that all ports counted while they were watched.");
	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		prom_sample(p, (double)error_sum(error_watch_book(w), e), "counter", port_error_name(e), NULL);
	prom_metric(p, "qosd_errors_ports_over_limit", PROM_GAUGE,
		    "Ports with a link whose errors in the last hour are over the counter's limit.");
	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		prom_sample(p, over[e], "counter", port_error_name(e), NULL);
	put_ports(p, s, &bad, now_us);
	vec_free(&bad.list);
}
