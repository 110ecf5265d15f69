/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `routes --over PORT`: which destinations have routes over a link, in both directions, counted by
 * the switch where these routes end.
 */
#include <stdlib.h>

#include "ctl/command.h"
#include "lib/base/alloc.h"

#define SWITCHES_SHOWN 20

struct ends_at {
	uint32_t sw, lids;
};

static int by_lids(const void *a, const void *b)
{
	const struct ends_at *x = a, *y = b;

	if (x->lids != y->lids)
		return x->lids > y->lids ? -1 : 1;
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* Whether the owner of a port sends to a LID over it; a CA or router sends everything over its link. */
static bool leads_over(const struct subnet_state *s, uint32_t port, uint16_t lid)
{
	const struct fabric_node *n = port_node(s->f, port);

	if (!node_is_switch(n))
		return s->plan->port_by_lid[lid] != port;
	return lft_get(s->plan->lfts, n->sw, lid) == s->f->ports[port].num;
}

/* Counts the LIDs whose routes leave by a port, by their last switch; returns how many there are. */
static uint32_t count_over(const struct subnet_state *s, uint32_t port, struct ends_at *at)
{
	uint32_t total = 0;

	for (uint32_t sw = 0; sw < s->f->n_switches; sw++)
		at[sw] = (struct ends_at){ .sw = sw };
	for (uint32_t lid = 1; lid <= s->plan->lid_top; lid++) {
		uint32_t dst = s->plan->port_by_lid[lid];
		uint32_t last = dst == FABRIC_NONE ? FABRIC_NONE : fabric_switch_of(s->f, dst);

		if (last == FABRIC_NONE || !leads_over(s, port, (uint16_t)lid))
			continue;
		at[last].lids++;
		total++;
	}
	return total;
}

static json_t *json_direction(const struct subnet_state *s, uint32_t port)
{
	struct ends_at *at = xcalloc(s->f->n_switches + 1u, sizeof(*at));
	uint32_t total = count_over(s, port, at), used = 0;
	json_t *rows = json_array();

	qsort(at, s->f->n_switches, sizeof(*at), by_lids);
	while (used < s->f->n_switches && at[used].lids)
		used++;
	for (uint32_t i = 0; i < used && i < SWITCHES_SHOWN; i++) {
		const struct fabric_node *n = &s->f->nodes[s->f->switches[at[i].sw].node];

		json_array_append_new(rows, json_pack("{s:o, s:i}", "switch", json_text(fabric_node_desc(s->f, n)),
						      "destinations", (int)at[i].lids));
	}
	free(at);
	return json_pack("{s:o, s:o, s:i, s:o, s:i}", "port", json_port(s, port), "peer",
			 json_port(s, s->f->ports[port].peer), "destinations", (int)total, "switches", rows,
			 "more", (int)(used > SWITCHES_SHOWN ? used - SWITCHES_SHOWN : 0));
}

void answer_routes_over(const struct ctl_call *c, struct reply *r)
{
	uint32_t port = arg_port(c, "over", r);

	if (port == FABRIC_NONE)
		return;
	if (!c->state->plan->lfts)
		reply_error(r, NULL, "this daemon has no routes");
	else if (c->state->f->ports[port].peer == FABRIC_NONE)
		reply_error(r, NULL, "%s: the port has no link", arg_text(c, "over"));
	else
		reply_result(r, json_pack("{s:[o, o]}", "over", json_direction(c->state, port),
					  json_direction(c->state, c->state->f->ports[port].peer)));
}
