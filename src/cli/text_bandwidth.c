/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `bandwidth` as text: kinds of link, a port, or a route. */
#include "text.h"

#define UNMANAGED "the tables are not managed: devices keep their power-on tables, which " \
		  "qosd has not\nread, so the shares are unknown\n"

static bool managed;	/* "managed" of the answer */
static bool differ;	/* a share that was printed has models-differ */

static void put_both(const json_t *o)
{
	printf("  ");
	put_models(o);
	differ = differ || json_is_true(json_object_get(o, "models-differ"));
}

static void put_percent(const json_t *o, const char *key)
{
	if (has(o, key))
		printf("  %5.1f%%", real(o, key) * 100);
	else
		printf("  %6s", "?");
}

static void put_real(const json_t *o, const char *key, int width)
{
	if (has(o, key))
		printf("  %*.4g", width, real(o, key));
	else
		printf("  %*s", width, "-");
}

static void put_share_or_none(const json_t *o, const char *key)
{
	if (has(o, key))
		put_percent(o, key);
	else
		printf("  %6s", "-");
}

static void put_link(const json_t *o)
{
	printf("%g Gb/s (data %.4g), MTU %lld, %lld VLs", real(o, "rate"), real(o, "data-rate"),
	       num(o, "mtu"), num(o, "vls"));
	if (has(o, "high-limit"))
		printf(", high-limit %lld", num(o, "high-limit"));
}

/* --- kinds of link --- */

static void put_level(const json_t *l)
{
	printf("  ");
	put_num(l, "sl", 2);
	printf("  ");
	put_num(l, "vl", 2);
	printf("  %-4s", !has(l, "vl") ? "drop" :
	       json_is_true(json_object_get(l, "high")) ? "high" : "low");
	put_percent(l, "share");
	put_real(l, "gbps", 7);
	put_real(l, "ceiling", 7);
	put_real(l, "wait-us", 8);
	put_share_or_none(l, "asked");
	put_share_or_none(l, "share-idle");
	put_both(l);
	printf("  %s", str(l, "level"));
	if (json_array_size(json_object_get(l, "shared-with"))) {
		printf(" (with ");
		put_names(json_object_get(l, "shared-with"));
		printf(")");
	}
	printf("%s\n", json_is_true(json_object_get(l, "starved")) ? " STARVED" : "");
}

static void put_unnamed(const json_t *u)
{
	bool dropped = !has(u, "vl"), served = json_is_true(json_object_get(u, "served"));

	printf("   -  ");
	put_num(u, "vl", 2);
	printf("  %-4s", dropped ? "drop" : !served ? "-" :
	       json_is_true(json_object_get(u, "high")) ? "high" : "low");
	if (dropped)
		printf("  %6s", "-");
	else
		put_percent(u, "share");
	printf("  %7s  %7s  %8s  %6s  %6s", "-", "-", "-", "-", "-");
	put_both(u);
	printf("  SL ");
	put_numbers(json_object_get(u, "sls"));
	printf(" (no level)%s\n", dropped ? "" : !served ? " NEVER SENT" :
	       json_is_true(json_object_get(u, "starved")) ? " STARVED" : "");
}

static void put_kind(const json_t *k)
{
	const json_t *unnamed = json_object_get(k, "without-level"), *u;
	const json_t *levels = json_object_get(k, "levels");
	size_t n;

	printf("%lld %s port%s, ", num(k, "ports"), str(k, "class"), PLURAL_S(num(k, "ports")));
	put_link(k);
	printf("\n  as %s\n", str(k, "example"));
	printf("  SL  VL  PRIO   SHARE     Gb/s    ALONE   WAIT us   ASKED    IDLE  " SHARES_TITLES "   LEVEL\n");
	for (size_t i = 0; i < json_array_size(levels); i++)
		put_level(json_array_get(levels, i));
	json_array_foreach(unnamed, n, u)
		put_unnamed(u);
	printf("\n");
}

static void put_kinds(const json_t *r)
{
	const json_t *kinds = json_object_get(r, "kinds");
	const json_t *odd = json_object_get(r, "deviations");

	for (size_t i = 0; i < json_array_size(kinds); i++)
		put_kind(json_array_get(kinds, i));
	if (json_array_size(odd))
		printf("links that deviate:\n");
	for (size_t i = 0; i < json_array_size(odd); i++) {
		const json_t *d = json_array_get(odd, i);

		printf("  %s -> %s: %s\n", str(d, "port"), str(d, "peer"), str(d, "why"));
	}
}

/* --- a port --- */

static void put_port(const json_t *p)
{
	const json_t *shares = json_object_get(p, "shares");

	printf(LABEL "%s\n" LABEL "%s\n" LABEL, "port", str(p, "port"), "to", str(p, "peer"),
	       "link");
	put_link(p);
	printf("\n");
	if (json_array_size(shares))
		printf("\n  VL  HIGH   LOW   SHARE     Gb/s   WAIT us    IDLE  " SHARES_TITLES "   LEVELS\n");
	for (size_t i = 0; i < json_array_size(shares); i++) {
		const json_t *v = json_array_get(shares, i);

		printf("  ");
		put_num(v, "vl", 2);
		printf("  ");
		put_num(v, "high-weight", 4);
		printf("  ");
		put_num(v, "low-weight", 4);
		put_percent(v, "share");
		put_real(v, "gbps", 7);
		put_real(v, "wait-us", 8);
		put_share_or_none(v, "share-idle");
		put_both(v);
		printf("  ");
		put_names(json_object_get(v, "levels"));
		if (json_array_size(json_object_get(v, "sls-without-level"))) {
			printf("%sSL ", json_array_size(json_object_get(v, "levels")) ? ", " : "");
			put_numbers(json_object_get(v, "sls-without-level"));
			printf(" (no level)");
		}
		printf("\n");
	}
	if (json_array_size(json_object_get(p, "dropped"))) {
		printf("  dropped here: ");
		put_names(json_object_get(p, "dropped"));
		printf("\n");
	}
	if (json_array_size(json_object_get(p, "sls-never-sent"))) {
		printf("  never sent here: SL ");
		put_numbers(json_object_get(p, "sls-never-sent"));
		printf(" (no level)\n");
	}
}

/* --- a route --- */

static bool put_route(const json_t *r)
{
	printf("\nlevel %s, SL %lld, to LID %lld: ", str(r, "level"), num(r, "sl"),
	       num(r, "dlid"));
	if (!json_is_true(json_object_get(r, "route")))
		printf("there is no route\n");
	else if (has(r, "bottleneck"))
		printf("%.4g Gb/s, by hop %lld\n", real(r, "gbps"), num(r, "bottleneck"));
	else
		printf("not known\n");
	put_hops(json_object_get(r, "hops"));
	return true;
}

static void print_bandwidth(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result");

	if (has(r, "kinds"))
		put_kinds(r);
	else if (has(r, "source"))
		put_ends(r);		/* routes follow as rows */
	else
		put_port(r);
	managed = json_is_true(json_object_get(r, "managed"));
}

static bool end_bandwidth(bool complete)
{
	if (complete && !managed)
		printf(UNMANAGED);
	else if (complete && differ)
		printf(MODELS_DIFFER);
	return true;
}

const struct output text_bandwidth = {
	.head = print_bandwidth, .row = put_route, .end = end_bandwidth,
};
