/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds credit loops in the channel dependency graph.
 *
 * A channel is a VL of one direction of a link.  A packet that fills the buffers of one channel
 * while it waits for the next makes the first depend on the second.  Where channels depend on each
 * other in a cycle, all of them can block for good (Dally and Seitz).  Each strongly connected
 * component of channels (Tarjan) is a finding, shown by one cycle in it.
 *
 * Only links between switches count: a packet from an end blocks nothing behind it, and an end
 * consumes what arrives.  The graph has every SL in use on every hop of a route in use or, where
 * each pair has SLs of its own, those of the pairs whose routes pass both channels.  It includes
 * SLs that were dropped earlier on the route; where there are AUDIT_VL15 findings, this errs on the
 * safe side.
 */
#include <stdlib.h>

#include "sim/check/check_net.h"

#define VLS 16u

/* Dependencies of a hop, by VL instead of SL. */
struct turns {
	uint16_t to[VLS];	/* [VL in]: set of VLs out */
};

/*
 * Frame of the search's stack.  A channel's number is the port that sends into it, times VLS, plus
 * the VL.
 */
struct frame {
	uint32_t channel;
	uint32_t out;		/* number of the next switch's port to look at */
	uint16_t vls;		/* VLs of that port still to look at */
};

struct search {
	struct run *r;
	const struct net *n;
	bool multicast;
	struct turns *turns;	/* [hop.dep - 1] */
	uint32_t *order;	/* [channel]: order of discovery, from 1 */
	uint32_t *low;		/* [channel]: Tarjan's low-link */
	bool *open;		/* [channel]: not yet assigned to a component */
	uint32_t seen;
	uint32_t *members, n_members;	/* open channels, in order of discovery */
	struct frame *frames;
	uint32_t n_frames;
};

static struct turns turns_of(const struct run *r, const struct hop *h, const struct dep *d,
			     unsigned vls_in)
{
	struct turns t = { { 0 } };
	uint16_t sls = r->sls & h->pass;

	for (unsigned sl = 0; sl < 16; sl++)
		for (unsigned vl = 0; vl < vls_in && (sls >> sl & 1); vl++)
			if (d->came[sl] >> vl & 1)
				t.to[vl] |= 1u << row_vl(h->row, sl);
	return t;
}

static struct turns *make_turns(const struct run *r, const struct net *n)
{
	struct turns *turns = xcalloc(n->deps.n + 1, sizeof(*turns));

	for (uint32_t sw = 0; sw < r->f->n_switches; sw++) {
		const struct stage *s = &n->stages[sw];

		for (unsigned in = 1; in <= s->nports; in++) {
			for (unsigned out = 1; out <= s->nports; out++) {
				const struct hop *h = hop_at(n, sw, in, out);

				if (h->dep)
					turns[h->dep - 1] = turns_of(r, h, &n->deps.v[h->dep - 1],
								     link_vls(r->f, s->port0 + in));
			}
		}
	}
	return turns;
}

/* The next channel that the frame's channel depends on; false at the end. */
static bool next_channel(const struct search *s, struct frame *fr, uint32_t *next)
{
	const struct gate *g = &s->n->gates[fr->channel / VLS];
	const struct stage *st = &s->n->stages[g->sw];

	while (fr->vls == 0) {
		if (fr->out == st->nports)
			return false;
		const struct hop *h = hop_at(s->n, g->sw, g->in, ++fr->out);

		if (h->dep)
			fr->vls = s->turns[h->dep - 1].to[fr->channel % VLS];
	}
	unsigned vl = (unsigned)__builtin_ctz(fr->vls);

	fr->vls &= fr->vls - 1u;
	*next = (st->port0 + fr->out) * VLS + vl;
	return true;
}

/* --- a cycle in a component --- */

static uint32_t next_in_component(const struct search *s, uint32_t channel)
{
	struct frame fr = { .channel = channel };
	uint32_t next;

	while (next_channel(s, &fr, &next))
		if (s->low[next] == s->low[channel] && !s->open[next])
			return next;
	return SIM_NONE;
}

static void add_channel(const struct search *s, uint32_t channel, bool with_vl, struct buf *text)
{
	buf_printf(text, "%s", port_text(s->r->f, channel / VLS).s);
	if (with_vl)
		buf_printf(text, " VL %u", channel % VLS);
}

static void report_cycle(const struct search *s, uint32_t channel, uint32_t size)
{
	struct buf text = { 0 };
	bool one_vl = true;

	if (s->multicast)
		buf_puts(&text, "with multicast: ");

	/* after `size` steps within the component, the walk is surely in a cycle */
	for (uint32_t i = 0; i < size; i++)
		channel = next_in_component(s, channel);
	for (uint32_t c = next_in_component(s, channel); c != channel; c = next_in_component(s, c))
		one_vl &= c % VLS == channel % VLS;
	if (one_vl)
		buf_printf(&text, "VL %u: ", channel % VLS);
	uint32_t at = channel;

	do {
		add_channel(s, at, !one_vl, &text);
		buf_puts(&text, " -> ");
		at = next_in_component(s, at);
	} while (at != channel);
	add_channel(s, at, !one_vl, &text);
	report(s->r, AUDIT_CREDIT_LOOP, "%s", text.s);
	buf_free(&text);
}

/* --- the search --- */

static void open_channel(struct search *s, uint32_t channel)
{
	s->order[channel] = s->low[channel] = ++s->seen;
	s->open[channel] = true;
	s->members[s->n_members++] = channel;
	s->frames[s->n_frames++] = (struct frame){ .channel = channel };
}

static void lower(struct search *s, uint32_t channel, uint32_t to)
{
	if (to < s->low[channel])
		s->low[channel] = to;
}

/* The channel is the first of a component: all channels opened since belong to it. */
static void close_component(struct search *s, uint32_t channel)
{
	uint32_t size = 0, member;

	do {
		member = s->members[--s->n_members];
		s->open[member] = false;
		s->low[member] = s->order[channel];
		size++;
	} while (member != channel);
	if (size > 1 || next_in_component(s, channel) == channel)
		report_cycle(s, channel, size);
}

static void search_from(struct search *s, uint32_t start)
{
	open_channel(s, start);
	while (s->n_frames > 0) {
		struct frame *fr = &s->frames[s->n_frames - 1];
		uint32_t channel = fr->channel, next;

		if (next_channel(s, fr, &next)) {
			if (s->order[next] == 0)
				open_channel(s, next);
			else if (s->open[next])
				lower(s, channel, s->order[next]);
			continue;
		}
		s->n_frames--;
		if (s->n_frames > 0)
			lower(s, s->frames[s->n_frames - 1].channel, s->low[channel]);
		if (s->low[channel] == s->order[channel])
			close_component(s, channel);
	}
}

void check_credit(struct run *r, struct net *n, bool multicast)
{
	size_t channels = (size_t)r->f->n_ports * VLS;
	struct search s = { .r = r, .n = n, .multicast = multicast };

	s.turns = make_turns(r, n);
	s.order = xcalloc(channels + 1, sizeof(*s.order));
	s.low = xcalloc(channels + 1, sizeof(*s.low));
	s.open = xcalloc(channels + 1, sizeof(*s.open));
	s.members = xcalloc(channels + 1, sizeof(*s.members));
	s.frames = xcalloc(channels + 1, sizeof(*s.frames));
	for (uint32_t sw = 0; sw < r->f->n_switches; sw++) {
		const struct stage *st = &n->stages[sw];

		for (uint32_t port = st->port0 + 1; port <= st->port0 + st->nports; port++)
			for (unsigned vl = 0; vl < VLS; vl++)
				if (leads_to_switch(&n->gates[port]) &&
				    (multicast || r->port_vls[port] >> vl & 1) &&
				    s.order[port * VLS + vl] == 0)
					search_from(&s, port * VLS + vl);
	}
	free(s.turns);
	free(s.order);
	free(s.low);
	free(s.open);
	free(s.members);
	free(s.frames);
}
