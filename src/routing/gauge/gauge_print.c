/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the gauge's figures for people. */
#include <inttypes.h>

#include "routing/gauge/gauge.h"

static void print_detours(const struct gauge *g, const struct fabric *f, struct buf *out)
{
	buf_printf(out, "  hops: %.4f times the minimum on average, %.4g times at most; %u switch%s on the "
		   "longest route\n", g->ratio_mean, g->ratio_most, g->hops_most,
		   g->hops_most == 1 ? "" : "es");
	if (!g->longer_most)
		return;
	buf_printf(out, "    the longest detour, %u more than needed: from %s", g->longer_most,
		   PORT_NAME(f, g->longer_from));
	buf_printf(out, " to %s\n", PORT_NAME(f, g->longer_to));
}

static void print_balance(const struct gauge *g, const struct fabric *f, struct buf *out)
{
	if (!g->cables) {
		buf_puts(out, "  no cables between switches\n");
		return;
	}
	buf_printf(out, "  routes on a cable: %" PRIu64 " at most, %.1f on average (%u directions of "
		   "cables)\n", g->efi, g->efi_mean, g->cables);
	if (g->hottest != FABRIC_NONE)
		buf_printf(out, "    most of them leave %s\n", PORT_NAME(f, g->hottest));
}

static void print_traffic(const struct gauge *g, struct buf *out)
{
	if (g->all_to_all > 0)
		buf_printf(out, "  all to all: the busiest cable carries %.3f times the lower bound for "
			   "any routing\n", g->all_to_all);
	if (g->bisections)
		buf_printf(out, "  effective bisection bandwidth: %.4f; the worst of %u random bisections "
			   "has %.4f\n", g->ebb, g->bisections, g->ebb_least);
	if (!g->shifts)
		return;
	buf_printf(out, "  shifts: %.2f flows on the busiest cable on average, %u at most (shift %u)",
		   g->shift_mean, g->shift_worst, g->shift_worst_k);
	if (g->shifts < g->shifts_all)
		buf_printf(out, "; %u of %u shifts were measured", g->shifts, g->shifts_all);
	buf_puts(out, "\n");
}

static void print_layers(const struct gauge *g, struct buf *out)
{
	if (!g->credit_loop)
		buf_puts(out, "  no credit loop: one layer suffices");
	else if (g->layers)
		buf_printf(out, "  credit loop: at most %u layers are needed to avoid credit "
				"loops", g->layers);
	else
		buf_puts(out, "  credit loop: the number of layers needed to avoid credit loops is "
				"unknown");
	if (g->vls && g->layers && g->vls_left < 0)
		buf_printf(out, "; there are %u data VLs, %d too few", g->vls, -g->vls_left);
	else if (g->vls && g->layers)
		buf_printf(out, "; of %u data VLs, %d are left", g->vls, g->vls_left);
	buf_puts(out, "\n");
}

void gauge_print(const struct gauge *g, const struct fabric *f, struct buf *out)
{
	buf_printf(out, "%u end port%s; %" PRIu64 " of %" PRIu64 " pairs connected\n", g->ends,
		   g->ends == 1 ? "" : "s", g->connected, g->pairs);
	if (g->connected) {
		print_detours(g, f, out);
		print_balance(g, f, out);
		print_traffic(g, out);
	}
	print_layers(g, out);
	if (g->choices > 0)
		buf_printf(out, "  adaptive routing could choose from %.2f ports on average without a "
				"credit loop\n",
			   g->choices);
}

static double over_mean(const struct gauge *g)
{
	return g->efi_mean > 0 ? (double)g->efi / g->efi_mean : 1;
}

void gauge_print_cost(const struct gauge *g, const struct gauge *plain, struct buf *out)
{
	buf_printf(out, "routes are %.3f times as long as the shortest on average, effective bisection "
		   "bandwidth is %.3f, and the busiest cable carries %.1f times the mean; shortest paths, "
		   "which may deadlock (minhop), would have %.3f and %.1f times", g->ratio_mean, g->ebb, over_mean(g),
		   plain->ebb, over_mean(plain));
}
