/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges transceivers; see health_judges.h and health_optics.h. */
#include "ctl/commands/health_optics.h"

#include "ctl/commands/health_judges.h"
#include "lib/base/alloc.h"

#define METRICS_EACH 100	/* ports with samples of their own */

struct raised { VEC(uint32_t) ports; };

/* The ports with a link whose modules raise an alarm, or else a warning. */
static void find_raised(const struct optics_watch *w, const struct subnet_state *s, bool alarm, struct raised *out)
{
	for (uint32_t i = 0; optics_watch_last(w)->when_us && i < s->f->n_ports; i++) {
		const struct optics_port *p;

		if (s->f->ports[i].peer == FABRIC_NONE || !s->f->ports[i].num)
			continue;
		p = optics_watch_port(w, s, i);
		if (p && (alarm ? optics_is_alarmed(p) : optics_is_warned(p) && !optics_is_alarmed(p)))
			*vec_push(&out->ports) = i;
	}
}

static size_t count_raised(const struct optics_watch *w, const struct subnet_state *s, bool alarm)
{
	struct raised found = { 0 };
	size_t n;

	find_raised(w, s, alarm, &found);
	n = found.ports.n;
	vec_free(&found.ports);
	return n;
}

/* --- health --- */

static void put_raised(const struct subnet_state *s, uint32_t port, const struct optics_port *p, bool alarm,
		       struct health *h)
{
	char name[FABRIC_NAME_MAX];
	/* too little light comes from the far end or a dirty connector */
	bool dark = p->t.beyond[RX_POWER][alarm ? LOW_ALARM : LOW_WARNING];
	struct buf text = { 0 };

	buf_printf(&text, "%s: ", fabric_port_name(s->f, port, name, sizeof(name)));
	optics_put_beyond(p, !alarm, &text);
	if (alarm)
		health_take(h, dark ? FOUND_LIGHT_ALARM : FOUND_OPTICS_ALARM, text.s);
	else
		health_take(h, dark ? FOUND_LIGHT_WARNING : FOUND_OPTICS_WARNING, text.s);
}

static void put_all(const struct optics_watch *w, const struct subnet_state *s, bool alarm, struct health *h)
{
	struct raised found = { 0 };

	find_raised(w, s, alarm, &found);
	for (size_t i = 0; i < found.ports.n && i < HEALTH_EACH; i++)
		put_raised(s, found.ports.v[i], optics_watch_port(w, s, found.ports.v[i]), alarm, h);
	health_rest(h, alarm ? FOUND_MORE_OPTICS_ALARMS : FOUND_MORE_OPTICS_WARNINGS, found.ports.n);
	vec_free(&found.ports);
}

void health_optics(const struct health_input *in, struct health *h)
{
	if (!in->optics)
		return;
	put_all(in->optics, in->state, true, h);
	put_all(in->optics, in->state, false, h);
}

/* --- metrics --- */

static void put_ports(struct prom *p, const struct optics_watch *w, const struct subnet_state *s)
{
	char name[FABRIC_NAME_MAX];
	struct raised found = { 0 };
	enum quantity q;

	find_raised(w, s, true, &found);
	prom_metric(p, "qosd_port_optics_alarm", PROM_GAUGE,
		    "1 for each of at most 100 ports whose transceivers raise an alarm.");
	for (size_t i = 0; i < found.ports.n && i < METRICS_EACH; i++)
		prom_sample(p, 1, "port", fabric_port_name(s->f, found.ports.v[i], name, sizeof(name)), "threshold",
			    threshold_name(transceiver_worst(&optics_watch_port(w, s, found.ports.v[i])->t, &q)), NULL);
	vec_free(&found.ports);
}

void metrics_optics(struct prom *p, const struct optics_watch *w, const struct subnet_state *s)
{
	const struct optics_reading *last = optics_watch_last(w);

	if (!last->when_us)
		return;
	prom_single(p, "qosd_optics_read_timestamp_seconds", PROM_GAUGE, "When transceivers were last read.",
		    (double)last->when_real_us * 1e-6);
	prom_metric(p, "qosd_optics_ports", PROM_GAUGE, "Ports of that reading, by result.");
	for (enum optics_result r = 0; r < OPTICS_RESULTS; r++)
		prom_sample(p, last->results[r], "result", optics_result_name(r), NULL);
	prom_metric(p, "qosd_optics_ports_beyond", PROM_GAUGE,
		    "Ports with a link whose transceivers have a value beyond a threshold of theirs.");
	prom_sample(p, (double)count_raised(w, s, true), "threshold", "alarm", NULL);
	prom_sample(p, (double)count_raised(w, s, false), "threshold", "warning", NULL);
	put_ports(p, w, s);
}
