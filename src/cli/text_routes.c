/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `routes` as text. */
#include "lib/base/alloc.h"
#include "text.h"

static void print_hops(const json_t *g)
{
	printf(LABEL "%.4f times the minimum on average, %.4g times at most; %lld at most\n",
	       "hops", real(g, "hops-ratio"), real(g, "hops-ratio-max"), num(g, "hops-max"));
	if (num(g, "hops-longer-max"))
		printf(LABEL "%lld more than needed from %s to %s\n", "", num(g, "hops-longer-max"),
		       str(g, "longest-detour-from"), str(g, "longest-detour-to"));
}

static void print_traffic(const json_t *g)
{
	printf(LABEL "%lld routes on a cable at most, %.1f on average\n", "balance",
	       num(g, "edge-forwarding-index"), real(g, "routes-mean"));
	if (has(g, "hottest"))
		printf(LABEL "most of them leave %s\n", "", str(g, "hottest"));
	printf(LABEL "the busiest cable carries %.3f times the lower bound for any routing\n",
	       "all to all", real(g, "all-to-all"));
	printf(LABEL "%.4f effective; the worst of %lld random bisections has %.4f\n", "bisection",
	       real(g, "bisection-bandwidth"), num(g, "bisections"),
	       real(g, "bisection-bandwidth-least"));
	printf(LABEL "%.2f flows on the busiest cable on average, %lld at most (shift %lld)", "shifts",
	       real(g, "shift-load"), num(g, "shift-load-max"), num(g, "shift-load-max-by"));
	if (num(g, "shifts") < num(g, "shifts-all"))
		printf("; %lld of %lld shifts were measured", num(g, "shifts"), num(g, "shifts-all"));
	printf("\n");
}

static void print_layers(const json_t *g)
{
	if (!has(g, "layers"))
		printf(LABEL "the number needed to avoid credit loops is unknown\n", "layers");
	else if (num(g, "layers") == 1)
		printf(LABEL "one", "layers");
	else
		printf(LABEL "at most %lld are needed to avoid credit loops", "layers", num(g, "layers"));
	if (!has(g, "layers"))
		return;
	if (has(g, "vls-left") && num(g, "vls-left") < 0)
		printf("; there are %lld data VLs, %lld too few", num(g, "vls"), -num(g, "vls-left"));
	else if (has(g, "vls-left"))
		printf("; of %lld data VLs, %lld are left", num(g, "vls"), num(g, "vls-left"));
	printf("\n");
}

static void print_choices(const json_t *g)
{
	if (has(g, "choices"))
		printf(LABEL "%.2f ports to choose from on average (adaptive routing) without a credit "
				"loop\n",
		       "choices", real(g, "choices"));
}

static double over_mean(const json_t *g)
{
	double mean = real(g, "routes-mean");

	return mean > 0 ? (double)num(g, "edge-forwarding-index") / mean : 1;
}

/* Compares with minhop: what the fabric loses because it is not a tree. */
static void print_plain(const json_t *g, const json_t *plain)
{
	printf(LABEL "bisection %.4f, busiest cable %.1f times the mean; here %.4f and %.1f times\n",
	       "minhop", real(plain, "bisection-bandwidth"), over_mean(plain),
	       real(g, "bisection-bandwidth"), over_mean(g));
}

static void print_gauge(const json_t *g)
{
	printf(LABEL "%lld of %lld, of %lld end ports\n", "connected", num(g, "connected"),
	       num(g, "pairs"), num(g, "end-ports"));
	if (num(g, "connected")) {
		print_hops(g);
		print_traffic(g);
	}
	print_layers(g);
	print_choices(g);
	if (has(g, "plain") && num(g, "connected"))
		print_plain(g, json_object_get(g, "plain"));
}

/* Prints counts of routes that do not arrive, by kinds of ends. */
static void print_lost(const json_t *r)
{
	static const struct {
		const char *name, *text;
	} kinds[] = {
		{ "hosts", "to hosts" },
		{ "aggregation-nodes", "to aggregation nodes" },
		{ "switches", "from hosts to switches themselves" },
		{ "between-switches", "from switches to other switches themselves" },
		{ "switches-and-sm", "between switches and the subnet manager" },
	};
	const json_t *lost = json_object_get(r, "lost");

	for (size_t i = 0; lost && i < ARRAY_SIZE(kinds); i++)
		if (num(lost, kinds[i].name))
			printf(LABEL "%lld %s do not arrive\n", "", num(lost, kinds[i].name),
			       kinds[i].text);
}

/* One direction of the link of --over. */
static void print_over(const json_t *direction)
{
	size_t i;
	const json_t *row;

	printf("%s to %s: routes to %lld LID%s\n", str(direction, "port"), str(direction, "peer"),
	       num(direction, "destinations"), num(direction, "destinations") == 1 ? "" : "s");
	json_array_foreach(json_object_get(direction, "switches"), i, row)
		printf("  %6lld at %s\n", num(row, "destinations"), str(row, "switch"));
	if (num(direction, "more"))
		printf("  and %lld more switch%s\n", num(direction, "more"), num(direction, "more") == 1 ? "" : "es");
}

static void print_routes(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result"), *g = json_object_get(r, "gauge");
	const json_t *direction;
	size_t i;

	if (has(r, "over")) {
		json_array_foreach(json_object_get(r, "over"), i, direction)
			print_over(direction);
		return;
	}
	printf(LABEL "%s\n", "engine", has(r, "engine") ? str(r, "engine") : "none");
	if (has(r, "choice"))
		printf(LABEL "%s\n", "", str(json_object_get(r, "choice"), "text"));
	printf(LABEL "%lld of %lld routes from switches to LIDs arrive, over %lld switch%s at most\n",
	       "ways", num(r, "ways") - num(r, "unreachable-ways"), num(r, "ways"),
	       num(r, "hops-max"), PLURAL(num(r, "hops-max"), "", "es"));
	print_lost(r);
	if (has(r, "credit-loop-channels"))
		printf(LABEL "%s\n", "credit loop", str(r, "credit-loop-channels"));
	else
		printf(LABEL "%s\n", "credit loop",
		       json_is_true(json_object_get(r, "credit-loop")) ? "yes" : "none");
	if (json_object_get(r, "shape"))
		printf(LABEL "%s\n", "shape", str(json_object_get(r, "shape"), "text"));
	if (g)
		print_gauge(g);
}

const struct output text_routes = { .head = print_routes };
