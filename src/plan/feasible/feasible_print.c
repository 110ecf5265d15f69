/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints the judgement as a table for people.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/iba/units.h"
#include "plan/feasible/feasible.h"

#define KINDS_SHOWN 24

static int name_width(const struct policy *pol)
{
	size_t width = strlen("level");

	for (size_t i = 0; i < pol->n_levels; i++)
		if (strlen(pol->levels[i].name) > width)
			width = strlen(pol->levels[i].name);
	return width < 40 ? (int)width : 40;
}

static void print_share(const struct level_link *l, bool classes, struct buf *out)
{
	if (classes && l->asked < 0)
		buf_printf(out, "  %7s", "-");
	else if (classes)
		buf_printf(out, "  %5.1f %%", l->asked * 100);
	if (l->unknown)
		buf_printf(out, "  %7s %10s", "?", "?");
	else
		buf_printf(out, "  %5.1f %% %10.2f", l->share * 100, l->guaranteed);
	buf_printf(out, " %10.2f", l->ceiling);
	if (l->wait_us < 0)
		buf_printf(out, " %10s", "-");
	else
		buf_printf(out, " %10.1f", l->wait_us);
}

/* The share while high priority is idle; by each model otherwise, and whether they differ. */
static void print_other_shares(const struct level_link *l, struct buf *out)
{
	if (l->share_idle < 0)
		buf_printf(out, "  %7s", l->unknown ? "?" : "-");
	else
		buf_printf(out, "  %5.1f %%", l->share_idle * 100);
	if (l->unknown)
		buf_printf(out, "  %7s", "?");
	else
		buf_printf(out, "  %5.1f %%", l->share_iba * 100);
	if (l->share_measured < 0)
		buf_printf(out, "  %8s", l->unknown ? "?" : "-");
	else
		buf_printf(out, "   %5.1f %%", l->share_measured * 100);
	if (l->share_measured >= 0 && arbiter_shares_differ(l->share_iba, l->share_measured))
		buf_puts(out, "  differ");
}

static void print_level(const struct link_kind *k, const struct policy *pol, size_t i, int width,
			struct buf *out)
{
	const struct level_link *l = &k->levels[i];
	const char *before;

	buf_printf(out, "  %-*s %3u", width, pol->levels[i].name, pol->levels[i].sl);
	if (l->vl == IB_VL_DROP) {
		buf_puts(out, "   -  dropped\n");
		return;
	}
	buf_printf(out, " %3u  %-4s", l->vl, k->arb == TABLE_NONE ? "-" : l->high ? "high" : "low");
	print_share(l, pol->n_classes, out);
	print_other_shares(l, out);
	before = "  with SL ";
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (l->shared_with >> sl & 1) {
			buf_printf(out, "%s%u", before, sl);
			before = ", ";
		}
	if (l->starved)
		buf_puts(out, "  starves");
	buf_puts(out, "\n");
}

/* SLs that no level has, by VL: those on VLs without a level, and those that are dropped. */
static void print_unnamed(const struct feasibility *v, const struct plan *p, const struct link_kind *k,
			  struct buf *out)
{
	uint16_t levels = 0;

	for (size_t i = 0; i < p->policy->n_levels; i++)
		levels |= (uint16_t)(1u << p->policy->levels[i].sl);
	for (unsigned vl = 0; vl <= IB_VL_DROP; vl++) {
		uint16_t sls = kind_sls_on(k, v->unnamed, vl);

		if (!sls || (vl != IB_VL_DROP && kind_sls_on(k, levels, vl)))
			continue;
		const struct sl_link *l = &k->sls[__builtin_ctz(sls)];

		buf_puts(out, "  SL ");
		buf_put_bits(out, sls);
		buf_puts(out, " (no level)");
		if (vl == IB_VL_DROP)
			buf_puts(out, ": dropped\n");
		else if (l->unknown)
			buf_printf(out, ": VL %u, share unknown\n", vl);
		else if (!l->served)
			buf_printf(out, ": VL %u, which no table serves: never sent\n", vl);
		else
			buf_printf(out, ": VL %u, %s, %.*f %% while programs use all SLs%s\n", vl,
				   l->high ? "high" : "low", l->share < 0.01 ? 3 : 1, l->share * 100,
				   l->starved ? "  starves" : "");
	}
}

static void print_kind(const struct feasibility *v, const struct plan *p, uint32_t n, int width,
		       struct buf *out)
{
	const struct link_kind *k = &v->kinds[n];
	char rate[24];

	buf_printf(out, "\nkind %u: %u %s port%s, %s%s (%.4g of data), MTU %u, %u VL%s\n", n + 1,
		   k->n_ports, policy_class_name(k->class), k->n_ports == 1 ? "" : "s",
		   rate_text(k->rate, rate, sizeof(rate)), k->fdr10 ? " FDR10" : "",
		   feasible_link_gbps(k), mtu_bytes(k->mtu), k->vls, k->vls == 1 ? "" : "s");
	buf_printf(out, "  %s %s\n", k->n_ports == 1 ? "it is" : "for example",
		   PORT_NAME(p->f, k->example));
	buf_printf(out, "  %-*s  SL  VL  from%s    share guaranteed    at most    waits us     idle      IBA  "
		   "measured\n", width, "level", p->policy->n_classes ? "    asked" : "");
	for (size_t i = 0; i < p->policy->n_levels; i++)
		print_level(k, p->policy, i, width, out);
	print_unnamed(v, p, k, out);
}

void feasible_print(const struct feasibility *v, const struct plan *p, struct buf *out)
{
	int width = name_width(p->policy);
	uint32_t shown = v->n_kinds < KINDS_SHOWN ? v->n_kinds : KINDS_SHOWN;

	buf_printf(out, "Share of each level on each kind of link, in Gb/s: under full load, when the VLs "
		   "of all levels always\nhave packets waiting, and when no other level sends.  Shares are "
		   "those %s.%s\n",
		   p->settings->arbiter_model == ARB_MODEL_MEASURED ?
		   "measured on hardware, where the study covers the link" : "of IBA's arbiter",
		   p->tables->managed ? "" : "  The tables are not managed: only SL 0 is offered.");
	for (uint32_t k = 0; k < shown; k++)
		print_kind(v, p, k, width, out);
	if (shown < v->n_kinds)
		buf_printf(out, "\nand %u more kinds\n", v->n_kinds - shown);
	buf_printf(out, "\nminimum of each level over the whole fabric, and pairs of ports that its SL "
		   "does not connect:\n  %-*s  SL guaranteed    on kind  pairs\n", width,
		   "level");
	for (size_t i = 0; i < p->policy->n_levels; i++) {
		const struct policy_level *l = &p->policy->levels[i];
		const struct level_verdict *e = &v->levels[i];

		buf_printf(out, "  %-*s %3u", width, l->name, l->sl);
		if (e->worst == UINT32_MAX)
			buf_printf(out, " %10s %10s", "-", "-");
		else
			buf_printf(out, " %10.2f %10u", v->kinds[e->worst].levels[i].guaranteed,
				   e->worst + 1);
		buf_printf(out, "  %" PRIu64 " of %" PRIu64 "\n", e->unreachable, e->pairs);
	}
	if (!v->n_deviations)
		return;
	buf_puts(out, "\nlinks that deviate:\n");
	for (uint32_t i = 0; i < v->n_deviations; i++) {
		const struct deviation *d = &v->deviations[i];

		buf_printf(out, "  %s to ", PORT_NAME(p->f, d->port));
		buf_printf(out, "%s: %s\n", PORT_NAME(p->f, p->f->ports[d->port].peer), d->why);
	}
}
