/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `sls` as text: SLs on links, who gets them, and settings of programs that choose one. */
#include <string.h>

#include "text.h"

static bool differ;	/* a share that was printed has models-differ */

static bool is(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

/* Whether two SLs without a level are on the same VL, and so make one row. */
static bool one_row(const json_t *a, const json_t *b)
{
	return !json_array_size(json_object_get(a, "levels")) && !json_array_size(json_object_get(b, "levels")) &&
	       has(a, "vl") == has(b, "vl") && num(a, "vl") == num(b, "vl");
}

/* Prints the SLs of a row: that of row `first` and those after it that belong to the same row. */
static void put_sls_of(const json_t *sls, size_t first)
{
	json_t *numbers = json_array();

	for (size_t i = first; i < json_array_size(sls); i++)
		if (i == first || one_row(json_array_get(sls, first), json_array_get(sls, i)))
			json_array_append(numbers, json_object_get(json_array_get(sls, i), "sl"));
	put_numbers(numbers);
	json_decref(numbers);
}

static bool was_put(const json_t *sls, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (one_row(json_array_get(sls, k), json_array_get(sls, i)))
			return true;
	return false;
}

static void put_row(const json_t *sls, size_t i)
{
	const json_t *x = json_array_get(sls, i), *levels = json_object_get(x, "levels");

	printf("  ");
	put_num(x, "vl", 2);
	printf("  %-4s", !has(x, "vl") ? "drop" : !is(x, "served") ? "-" :
	       is(x, "high") ? "high" : "low");
	if (has(x, "share"))
		printf("  %5.*f%%  ", real(x, "share") < 0.01 ? 3 : 1, real(x, "share") * 100);
	else
		printf("  %6s  ", has(x, "vl") ? "?" : "-");
	put_models(x);
	differ = differ || is(x, "models-differ");
	printf("  SL ");
	put_sls_of(sls, i);
	if (json_array_size(levels)) {
		printf(": ");
		put_names(levels);
	} else {
		printf(" (no level)");
	}
	if (has(x, "vl") && !is(x, "served"))
		printf(" NEVER SENT");
	else if (is(x, "starved"))
		printf(" STARVED");
	printf("\n");
}

/* The plural of a type of node. */
static const char *nodes_of(const char *type)
{
	static const char *const words[][2] = {
		{ "ca", "hosts" }, { "switch", "switches" }, { "router", "routers" },
		{ "aggregation", "aggregation nodes" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i][0], type))
			return words[i][1];
	return type;
}

static void put_links(const json_t *g)
{
	const json_t *sls = json_object_get(g, "sls");

	printf("%s -> %s: %lld port%s, %lld VL%s, MTU %lld", nodes_of(str(g, "from")), nodes_of(str(g, "to")),
	       num(g, "ports"), PLURAL_S(num(g, "ports")), num(g, "vls"), PLURAL_S(num(g, "vls")), num(g, "mtu"));
	if (has(g, "high-limit"))
		printf(", high-limit %lld", num(g, "high-limit"));
	printf("\n  as %s\n  VL  PRIO   SHARE  " SHARES_TITLES "   SLS\n", str(g, "example"));
	for (size_t i = 0; i < json_array_size(sls); i++)
		if (!was_put(sls, i))
			put_row(sls, i);
	printf("\n");
}

/* --- who gets it --- */

static void put_groups(const char *what, const json_t *rule, const char *key)
{
	const json_t *names = json_object_get(rule, key);

	if (!json_array_size(names))
		return;
	printf(" %s ", what);
	put_names(names);
}

static void put_rules(const json_t *x)
{
	const json_t *rules = json_object_get(x, "rules"), *rule;
	size_t i;

	json_array_foreach(rules, i, rule) {
		printf("         rule %lld (line %lld)", num(rule, "rule"), num(rule, "line"));
		put_groups("from", rule, "sources");
		put_groups("to", rule, "destinations");
		put_groups("from or to", rule, "either");
		printf("\n");
	}
	if (num(x, "rules-total") > (long long)json_array_size(rules))
		printf("         and %lld more rules\n", num(x, "rules-total") - (long long)json_array_size(rules));
}

static void put_given(const json_t *x)
{
	const json_t *partitions = json_object_get(x, "partitions");

	if (!json_array_size(json_object_get(x, "levels")))
		return;
	printf("  SL %2lld  ", num(x, "sl"));
	put_names(json_object_get(x, "levels"));
	if (num(x, "layer"))
		printf(", in layer %lld of the routes", num(x, "layer"));
	if (is(x, "default"))
		printf(": the default");
	if (json_array_size(partitions)) {
		printf("%spartitions ", is(x, "default") ? "; " : ": ");
		put_names(partitions);
	}
	if (num(x, "unreachable"))
		printf("; does not connect %lld of %lld pairs", num(x, "unreachable"), num(x, "pairs"));
	printf("\n");
	put_rules(x);
}

/* SLs without a level that connect some pairs of ports only. */
static void put_partial(const json_t *x)
{
	if (!json_array_size(json_object_get(x, "levels")) && num(x, "unreachable") &&
	    num(x, "unreachable") < num(x, "pairs"))
		printf("  SL %2lld  (no level): does not connect %lld of %lld pairs\n", num(x, "sl"),
		       num(x, "unreachable"), num(x, "pairs"));
}

static void print_sls(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result"), *x;
	size_t i;

	if (!is(r, "managed"))
		printf("the tables are not managed: devices keep their power-on tables, and qosd offers only SL "
		       "0\n\n");
	json_array_foreach(json_object_get(r, "links"), i, x)
		put_links(x);
	if (differ)
		printf(MODELS_DIFFER "\n");
	printf("the subnet administrator gives:\n");
	json_array_foreach(json_object_get(r, "sls"), i, x) {
		put_given(x);
		put_partial(x);
	}
	x = json_array_get(json_object_get(r, "sls"), 0);
	printf("\nany program may use any SL without asking; ");
	if (json_array_size(json_object_get(r, "sls")) == 1)
		printf("for SL %lld:\n", num(x, "sl"));
	else
		printf("for SL N:\n");
	json_array_foreach(json_object_get(r, "settings"), i, x)
		printf("  %-28s  %s\n", str(x, "program"), str(x, "setting"));
	printf("  programs of the RDMA connection manager ask: rules of the policy decide\n");
}

const struct output text_sls = { .head = print_sls };
