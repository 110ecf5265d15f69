/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges what clients of the SA have registered, and who sends too many MADs; see health_judges.h. */
#include "ctl/commands/health_judges.h"

#include <inttypes.h>
#include <stdio.h>

#include "sa/registry/holdings.h"
#include "sa/registry/subscriptions.h"

#define SILENT_TOLD_US	(3600 * 1000000ll)	/* how long dropped subscribers are reported */

/* Appends the bounds that a port has reached; returns false if there are none. */
static bool is_at_bound(const struct holdings *all, const struct holding *h, struct buf *text)
{
	for (unsigned k = 0; k < HOLD_KINDS; k++) {
		struct hold_bound b = holdings_bound(all, k);

		/* a port beyond its MLIDs shares some, and requests under way end soon */
		if (k != HOLD_MLIDS && !hold_is_under_way(k) && h->n[k] && h->n[k] >= b.each)
			buf_printf(text, "%s%" PRIu32 " %s", text->n ? " and " : "", h->n[k],
				   hold_kind_text(k));
	}
	return text->n;
}

static void judge_holders(const struct health_input *in, const struct holdings *all,
			  struct health *h)
{
	struct health_list full = { h, FOUND_PORT_AT_BOUND, 0 };
	struct buf text = { 0 };
	char name[FABRIC_NAME_MAX];

	for (size_t i = 0; i < holdings_count(all); i++) {
		const struct holding *x = holdings_at(all, i);
		uint32_t port = in->state ? fabric_find_port(in->state->f, x->port) : FABRIC_NONE;

		text.n = 0;
		if (!is_at_bound(all, x, &text))
			continue;
		snprintf(name, sizeof(name), "0x%016" PRIx64, x->port);
		health_list_add(&full, "%s holds %s, the limit for one port: further ones are refused", port
				== FABRIC_NONE ? name : fabric_port_name(in->state->f, port, name,
				sizeof(name)), text.s);
	}
	health_list_end(&full);
	buf_free(&text);
}

/*
 * Reports nearly full registries: their bounds keep clients from filling the memory, and requests
 * beyond are refused.
 */
void health_registries(const struct health_input *in, struct health *h)
{
	const struct holdings *all = in->registered ? in->registered->holdings : NULL;

	for (unsigned k = 0; all && k < HOLD_KINDS; k++) {
		struct hold_bound b = holdings_bound(all, k);
		uint32_t n = holdings_total(all, k);

		/* large subnets always use up their MLIDs: groups share them then */
		if (k == HOLD_MLIDS || !b.max || n < b.max - b.max / 5)
			continue;
		if (n >= b.max)
			health_add(h, FOUND_REGISTRY_FULL, "ports hold %" PRIu32 " %s, the limit for all "
				   "ports: further ones are refused", n, hold_kind_text(k));
		else
			health_add(h, FOUND_REGISTRY_FILLING, "ports hold %" PRIu32 " %s; the limit for all "
				   "ports is %" PRIu32, n, hold_kind_text(k), b.max);
	}
	if (all)
		judge_holders(in, all, h);
}

void health_subscribers(const struct health_input *in, struct health *h)
{
	struct health_list silent = { h, FOUND_SUBSCRIBER_SILENT, 0 };
	struct silent_subscriber x;
	char name[FABRIC_NAME_MAX];

	for (size_t i = 0; in->registered &&
			   subscriptions_silent_at(in->registered->subscriptions, &i, &x);) {
		uint32_t port = in->state ? fabric_find_port(in->state->f, x.guid) : FABRIC_NONE;
		int64_t us = in->now_us - x.since_us;

		if (x.dropped && us > SILENT_TOLD_US)
			continue;
		snprintf(name, sizeof(name), "0x%016" PRIx64, x.guid);
		health_list_add(&silent, "%s QP %" PRIu32 " has not answered Reports for %" PRId64 " s%s",
				port == FABRIC_NONE ? name : fabric_port_name(in->state->f, port, name,
				sizeof(name)), x.qpn, us > 0 ? us / 1000000 : 0, x.dropped ? ", and was "
				"unsubscribed" : "");
	}
	health_list_end(&silent);
}

void health_flood_text(const struct subnet_state *s, const struct mad_flood *flood,
		       struct buf *out)
{
	uint32_t port = s && flood->lid && flood->lid < IB_LID_MCAST_FIRST ?
			s->plan->port_by_lid[flood->lid] : FABRIC_NONE;
	double seconds = (double)(flood->last_us - flood->since_us) * 1e-6;
	char name[FABRIC_NAME_MAX];

	if (port != FABRIC_NONE)
		buf_printf(out, "%s (LID %u)", fabric_port_name(s->f, port, name, sizeof(name)),
			   flood->lid);
	else if (flood->lid == IB_LID_PERMISSIVE)
		buf_puts(out, "an unidentified port that uses directed routes");
	else
		buf_printf(out, "LID %u, which no port of the fabric has", flood->lid);
	buf_printf(out, " sends too many %s: %" PRIu64 " in %.0f s", mad_kind_name(flood->kind),
		   flood->received, seconds < 1 ? 1 : seconds);
	if (flood->dropped)
		buf_printf(out, ", of which %" PRIu64 " were dropped", flood->dropped);
}

void health_mad_floods(const struct health_input *in, struct health *h)
{
	struct health_list floods = { h, FOUND_MAD_FLOOD, 0 };

	for (size_t i = 0; i < in->n_mad_floods; i++) {
		struct buf text = { 0 };

		health_flood_text(in->state, &in->mad_floods[i], &text);
		health_list_take(&floods, text.s);
	}
	health_list_end(&floods);
}
