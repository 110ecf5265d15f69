/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chooses the ports that waited most, by PortXmitWait as it was last read; see counters_choice.h. */
#include "ctl/commands/counters_choice.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"

struct waiting {
	uint32_t port;
	uint64_t ticks;		/* in the last minutes */
};

bool counters_can_choose(const struct ctl_env *env)
{
	return env->errors && error_watch_last(env->errors)->when_us;
}

/* Whether the last reading and one before of a counter that goes on tell how long the port waited. */
static bool tells(const struct error_reading *last, const struct error_port *p)
{
	return p && p->read_us >= last->begun_us && p->read_us > p->since_us &&
	       p->known >> ERR_XMIT_WAIT & 1 && !((p->stopped | p->stuck) >> ERR_XMIT_WAIT & 1);
}

static int by_ticks(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks > y->ticks ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

void counters_choose(const struct error_watch *w, const struct subnet_state *s, const uint32_t *ports,
		     uint32_t n, struct counters_choice *c)
{
	struct waiting *v = xcalloc(n + 1u, sizeof(*v));
	int64_t now_us = clock_mono_us();
	uint32_t waited = 0;

	*c = (struct counters_choice){ 0 };
	for (uint32_t i = 0; i < n; i++) {
		const struct error_port *p = error_watch_port(w, s, ports[i]);
		bool told = tells(error_watch_last(w), p);
		uint64_t ticks = told ? error_lately(p, ERR_XMIT_WAIT, now_us) : 0;

		c->unknown += !told;
		if (ticks)
			v[waited++] = (struct waiting){ ports[i], ticks };
	}
	qsort(v, waited, sizeof(*v), by_ticks);
	c->n = waited < COUNTERS_CHOSEN ? waited : COUNTERS_CHOSEN;
	c->ports = xcalloc(c->n + 1u, sizeof(*c->ports));
	for (uint32_t i = 0; i < c->n; i++)
		c->ports[i] = v[i].port;
	free(v);
}
