/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `explain` as text: one query, several ends, or why there is no path. */
#include <string.h>

#include "members.h"
#include "output.h"

static enum { OF_RULES, OF_ANSWERS } rows_are;
static bool any_row;

/* --- rule, level, path --- */

static void put_rule(const json_t *rule)
{
	printf("%lld (line %lld)", num(rule, "rule"), num(rule, "line"));
	if (has(rule, "description"))
		printf(" %s", str(rule, "description"));
}

static void put_level(const json_t *o)
{
	const char *by = str(o, "level-by");

	printf(LABEL, "rule");
	if (has(o, "rule"))
		put_rule(json_object_get(o, "rule"));
	else
		printf("none matches");
	if (has(o, "service-id"))
		printf("\n" LABEL "%s", "Service-ID", str(o, "service-id"));
	printf("\n" LABEL "%s, %s%s\n", "level", str(o, "level"),
	       strcmp(by, "rule") == 0 ? "of the rule" :
	       strcmp(by, "ipoib") == 0 ? "of the IPoIB group of partition " :
	       strcmp(by, "partition") == 0 ? "of partition " : "the default",
	       str(o, "partition"));
}

/* "1024 bytes (limit of level storage)" */
static void put_because(const json_t *why, const char *field)
{
	if (has(why, field))
		printf(" (%s)", str(why, field));
	printf("\n");
}

static void put_fields(const json_t *p)
{
	const json_t *why = json_object_get(p, "why");

	printf(LABEL "%lld to %lld", "LIDs", num(p, "slid"), num(p, "dlid"));
	put_because(why, "lids");
	printf(LABEL "%lld", "SL", num(p, "sl"));
	put_because(why, "sl");
	printf(LABEL "0x%04llx", "P_Key", num(p, "pkey"));
	put_because(why, "pkey");
	printf(LABEL "%lld bytes", "MTU", num(p, "mtu"));
	put_because(why, "mtu");
	printf(LABEL "%g Gb/s", "rate", real(p, "rate"));
	put_because(why, "rate");
	printf(LABEL "%.3g s", "lifetime", real(p, "lifetime"));
	put_because(why, "lifetime");
	printf(LABEL "%lld", "TClass", num(p, "tclass"));
	put_because(why, "tclass");
	printf(LABEL "%s", "reversible",
	       json_is_true(json_object_get(p, "reversible")) ? "yes" : "no");
	put_because(why, "reversible");
}

void put_path(const json_t *p)
{
	printf("SL %lld, MTU %lld, %g Gb/s, lifetime %.3g s, TClass %lld, P_Key 0x%04llx, "
	       "LIDs %lld to %lld%s\n", num(p, "sl"), num(p, "mtu"), real(p, "rate"),
	       real(p, "lifetime"), num(p, "tclass"), num(p, "pkey"), num(p, "slid"),
	       num(p, "dlid"),
	       json_is_true(json_object_get(p, "reversible")) ? "" : ", not reversible");
}

/* --- one query --- */

static void put_others(const json_t *paths)
{
	size_t n = json_array_size(paths);

	if (n < 2)
		return;
	printf("\nall %zu paths, in the order of the answer:\n", n);
	for (size_t i = 0; i < n; i++) {
		printf("  ");
		put_path(json_array_get(paths, i));
	}
}

/* An SL that a program chose itself: where it leads, whatever the policy says. */
static void put_own_sl(const json_t *x)
{
	const json_t *hops = json_object_get(x, "hops"), *levels = json_object_get(x, "levels"), *hop;
	size_t i;

	printf("\na program that chooses SL %lld itself, ", num(x, "sl"));
	if (json_array_size(levels)) {
		printf("the SL of ");
		put_names(levels);
	} else {
		printf("which no level has");
	}
	printf("%s:\n", json_is_true(json_object_get(x, "dropped")) ? ": its packets do not arrive" : "");
	put_hops(hops);
	json_array_foreach(hops, i, hop)
		if (has(hop, "why"))
			printf("%4zu  %s\n", i, str(hop, "why"));
}

static void put_pair(const json_t *e)
{
	const json_t *path = json_object_get(e, "path");

	put_ends(e);
	put_level(e);
	if (has(e, "path")) {
		put_fields(path);
		printf("\n");
		put_hops(json_object_get(path, "hops"));
		put_others(json_object_get(e, "paths"));
	} else {
		printf(LABEL "none: %s\n", "path", str(e, "no-path"));
	}
	if (json_array_size(json_object_get(e, "hops"))) {
		printf("\nthe route, with the VL of the level's SL (15: dropped):\n");
		put_hops(json_object_get(e, "hops"));
	}
	if (has(e, "own-sl"))
		put_own_sl(json_object_get(e, "own-sl"));
}

static bool put_tried(const json_t *rule)
{
	if (!any_row)
		printf("\nrules tried:\n");
	any_row = true;
	printf("  ");
	put_rule(rule);
	if (has(rule, "fails"))
		printf(": %s does not match\n", str(rule, "fails"));
	else
		printf(": matches\n");
	return true;
}

/* --- several ends --- */

static bool put_answer(const json_t *a)
{
	const json_t *path = json_object_get(a, "path");

	if (any_row)
		printf("\n");
	any_row = true;
	put_ends(a);
	put_level(a);
	if (!has(a, "path")) {
		printf(LABEL "none: %s\n", "path", str(a, "no-path"));
		return true;
	}
	printf(LABEL, "path");
	put_path(path);
	put_hops(json_object_get(path, "hops"));
	return true;
}

/* --- why not --- */

static void put_help(const json_t *help)
{
	const json_t *without = json_object_get(help, "without");

	printf("  without");
	for (size_t i = 0; i < json_array_size(without); i++)
		printf("%s --%s", i ? " and" : "",
		       json_string_value(json_array_get(without, i)));
	printf(": level %s, ", str(help, "level"));
	put_path(json_object_get(help, "path"));
}

static void put_why_not(const json_t *e)
{
	const json_t *reasons = json_object_get(e, "reasons");
	const json_t *helps = json_object_get(e, "helps");

	if (has(e, "source") && has(e, "destination"))
		put_ends(e);
	if (has(e, "level"))
		put_level(e);
	if (has(e, "path")) {
		printf(LABEL, "path");
		put_path(json_object_get(e, "path"));
		printf("the query gets a path\n");
		return;
	}
	printf("there is no path:\n");
	for (size_t i = 0; i < json_array_size(reasons); i++)
		printf("  %s\n", str(json_array_get(reasons, i), "text"));
	if (json_array_size(helps) == 0) {
		printf("no query with fewer fields gets a path\n");
		return;
	}
	printf("queries that get a path:\n");
	for (size_t i = 0; i < json_array_size(helps); i++)
		put_help(json_array_get(helps, i));
}

/* --- choice by kind of answer --- */

static void print_explain(const json_t *answer)
{
	const json_t *e = json_object_get(answer, "result");

	if (has(e, "sources"))
		rows_are = OF_ANSWERS;
	else if (has(e, "reasons"))
		put_why_not(e);
	else
		put_pair(e);
}

static bool explain_row(const json_t *row)
{
	return rows_are == OF_ANSWERS ? put_answer(row) : put_tried(row);
}

const struct output text_explain = { .head = print_explain, .row = explain_row };
