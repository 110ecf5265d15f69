/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums up an hour's readings of loads; see load_record.h. */
#include "perf/load_record.h"

#include <stdio.h>

#include "lib/base/alloc.h"
#include "lib/iba/units.h"

static void note_peak(struct load_record *x, const struct load_peak *p)
{
	unsigned at = LOAD_WORST - 1;

	for (unsigned i = 0; i < LOAD_WORST; i++)
		if (x->worst[i].load > 0 && x->worst[i].guid == p->guid && x->worst[i].num == p->num)
			at = i;		/* it takes its own place, or one above */
	if (x->worst[at].load >= p->load)
		return;
	for (; at > 0 && x->worst[at - 1].load < p->load; at--)
		x->worst[at] = x->worst[at - 1];
	x->worst[at] = *p;
}

/* Names a port; one that is not in the fabric by its GUID. */
static void put_peak(struct event *e, const char *member, const struct load_peak *p, const struct subnet_state *s)
{
	uint32_t node = map64_get(&s->f->node_by_guid, p->guid);
	char name[FABRIC_NAME_MAX];

	if (!(p->load > 0))
		return;
	if (node == MAP64_NONE || p->num > s->f->nodes[node].nports)
		snprintf(name, sizeof(name), "0x%016llx/P%u", (unsigned long long)p->guid, p->num);
	else
		fabric_port_name(s->f, s->f->nodes[node].port0 + p->num, name, sizeof(name));
	if (p->waits >= 0)
		event_text(e, member, "%.1f %% at %s, waiting %.0f ticks/s", p->load * 100, name, (double)p->waits);
	else
		event_text(e, member, "%.1f %% at %s", p->load * 100, name);
}

static void make_record(const struct load_record *x, const struct subnet_state *s, int64_t now_us, struct event *e)
{
	static const char *const members[LOAD_WORST] = { "worst", "second", "third" };
	double mean = x->sum / x->readings;

	event_make(e, EVENT_LOADS,
		   "measured loads of %u ends of links in %u readings: %.1f %% on average, at most %.1f %%",
		   x->ends, x->readings, mean * 100, x->worst[0].load * 100);
	event_number(e, "ends", x->ends);
	event_number(e, "readings", x->readings);
	event_number(e, "milliseconds", (now_us - x->begun_us + 500) / 1000);
	event_number(e, "mean-permille", (int64_t)(mean * 1000 + 0.5));
	for (unsigned i = 0; i < LOAD_WORST; i++)
		put_peak(e, members[i], &x->worst[i], s);
}

/* Takes one port, unless it is no end of a link or its load is not known. */
static void take(struct load_record *x, const struct subnet_state *s, uint32_t port,
		 float (*rate)(const void *arg, const struct subnet_state *s, uint32_t port, enum port_rate r),
		 const void *arg)
{
	const struct fabric_port *at = &s->f->ports[port];
	float sent = at->peer == FABRIC_NONE ? RATE_UNKNOWN : rate(arg, s, port, RATE_SENT);
	double gbps = sent < 0 ? 0 : link_data_gbps(paths_of_port(s->f, port).rate, at->fdr10);
	struct load_peak p;

	if (gbps <= 0)
		return;
	p = (struct load_peak){ .guid = s->f->nodes[at->node].guid, .num = at->num,
				.load = (double)sent * 8e-9 / gbps, .waits = rate(arg, s, port, RATE_WAITED) };
	x->found++;
	x->found_sum += p.load;
	note_peak(x, &p);
}

bool load_record_take(struct load_record *x, const struct subnet_state *s, uint32_t n,
		      float (*rate)(const void *arg, const struct subnet_state *s, uint32_t port, enum port_rate r),
		      const void *arg)
{
	for (; n && x->next < s->f->n_ports; n--)
		take(x, s, x->next++, rate, arg);
	return x->next >= s->f->n_ports;
}

void load_record_restart(struct load_record *x)
{
	x->next = x->found = 0;
	x->found_sum = 0;
}

bool load_record_end(struct load_record *x, const struct subnet_state *s, int64_t now_us, struct event *e)
{
	bool tells;

	if (!x->begun_us)
		x->begun_us = now_us;
	if (x->found) {
		x->ends = x->found;
		x->readings++;
		x->sum += x->found_sum / x->found;
	}
	load_record_restart(x);
	if (now_us - x->begun_us < LOAD_RECORD_US)
		return false;
	tells = x->readings > 0;
	if (tells)
		make_record(x, s, now_us, e);
	*x = (struct load_record){ .begun_us = now_us };
	return tells;
}
