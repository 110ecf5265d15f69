/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Command `traffic`, which has hosts send at full load, so that counters show what each flow gets. */

#include "sim/ctl/command.h"
#include "sim/net/full_load.h"

_Static_assert(WORDS_MAX >= 3 * LOAD_FLOWS_MAX, "all flows can be given");

#define PACKETS_MAX	100000
#define TIMES_MAX	1000000000
#define SIZE_MAX_BYTES	4224	/* bytes: MTU 4096 and headers */

struct flows {
	struct load_flow v[LOAD_FLOWS_MAX];
	unsigned n;
};

/* Adds a flow for each SL of the list. */
static bool add_flows(struct call *c, struct flows *x, uint32_t from, uint16_t dlid,
		      const char *sls)
{
	char word[16];

	while (next_element(&sls, word, sizeof(word))) {
		uint64_t sl = 0;

		if (!get_number(c, "SL", word, 0, 15, &sl))
			return false;
		if (x->n == LOAD_FLOWS_MAX)
			return refuse(c, "more than %d flows", LOAD_FLOWS_MAX);
		x->v[x->n++] = (struct load_flow){ from, dlid, (uint8_t)sl };
	}
	return true;
}

static bool get_flows(struct call *c, struct flows *x)
{
	const struct sim_fabric *f = c->f;

	if (c->n % 3)
		return refuse(c, "a flow is SRC, DST and SLs");
	for (unsigned i = 0; i < c->n; i += 3) {
		uint32_t from, to;

		if (!get_port(c, c->word[i], &from) || !get_port(c, c->word[i + 1], &to))
			return false;
		if (!is_end_port(f, from) || is_switch(node_of(f, from)))
			return refuse(c, "'%s' is not a port of a host", c->word[i]);
		if (from == to)
			return refuse(c, "'%s' sends to itself", c->word[i]);
		if (!is_end_port(f, to) || !f->ports[to].lid)
			return refuse(c, "'%s' is not an end port with a LID", c->word[i + 1]);
		if (!add_flows(c, x, from, f->ports[to].lid, c->word[i + 2]))
			return false;
	}
	return true;
}

bool cmd_traffic(struct call *c)
{
	uint64_t packets = 10000, size = 2048, times = 1;
	struct flows x = { .n = 0 };
	struct buf why = { 0 };

	if (!get_number(c, "--packets", option(c, "--packets"), 1, PACKETS_MAX, &packets) ||
	    !get_number(c, "--size", option(c, "--size"), 4, SIZE_MAX_BYTES, &size) ||
	    !get_number(c, "--times", option(c, "--times"), 1, TIMES_MAX, &times) ||
	    !get_flows(c, &x))
		return false;
	if (load_run(c->s, x.v, x.n, &(struct load){ (uint32_t)packets, (uint32_t)size,
						     (uint32_t)times }, &why))
		return true;
	return refuse_for(c, &why);
}
