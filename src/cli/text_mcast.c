/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `mcast` as text: groups, or one group with its tree and members. */
#include <string.h>

#include "text.h"

static void put_groups_head(void)
{
	printf("%-6s  %-6s  %4s  %5s  %2s  %7s  %s\n", "MLID", "P_KEY", "MTU", "RATE", "SL",
	       "MEMBERS", "MGID");
}

static void put_group(const json_t *g)
{
	printf("%-6s  %-6s  %4lld  %5g  %2lld  %7lld  %s%s%s\n", str(g, "mlid"), str(g, "pkey"),
	       num(g, "mtu"), real(g, "rate"), num(g, "sl"), num(g, "members"), str(g, "mgid"),
	       json_is_true(json_object_get(g, "permanent")) ? " (policy)" : "",
	       json_is_true(json_object_get(g, "shares-mlid")) ? " (shares its MLID)" : "");
}

static void put_tree(const json_t *tree)
{
	printf("\n%-48s  %s\n", "SWITCH", "FORWARDS TO PORTS");
	for (size_t i = 0; i < json_array_size(tree); i++) {
		const json_t *t = json_array_get(tree, i), *ports = json_object_get(t, "ports");

		printf("%-48s ", str(t, "switch"));
		for (size_t k = 0; k < json_array_size(ports); k++)
			printf(" %lld", (long long)json_integer_value(json_array_get(ports, k)));
		printf("\n");
	}
	printf("\n%-30s  %-5s  %s\n", "JOIN STATE", "PROXY", "MEMBER");
}

static void mcast_head(const json_t *answer)
{
	const json_t *o = json_object_get(answer, "result"), *groups = json_object_get(o, "groups");

	if (!has(o, "mlid")) {
		printf("%lld of %lld MLIDs in use", num(o, "mlids"), num(o, "mlids-limit"));
		if (num(o, "groups-sharing"))
			printf("; %lld group%s the MLID of another group", num(o, "groups-sharing"),
			       PLURAL(num(o, "groups-sharing"), " shares", "s share"));
		if (num(o, "groups-refused"))
			printf("; %lld group%s refused", num(o, "groups-refused"),
			       PLURAL(num(o, "groups-refused"), " was", "s were"));
		printf("\n\n");
	}
	put_groups_head();
	if (!has(o, "mlid"))
		return;
	for (size_t i = 0; i < json_array_size(groups); i++)
		put_group(json_array_get(groups, i));
	put_tree(json_object_get(o, "tree"));
}

static void put_member(const json_t *m)
{
	const json_t *state = json_object_get(m, "join-state");
	char text[64] = "";

	for (size_t i = 0; i < json_array_size(state); i++) {
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, "%s%s", i ? "," : "",
			 json_string_value(json_array_get(state, i)));
	}
	printf("%-30s  %-5s  %s", text, json_is_true(json_object_get(m, "proxy")) ? "yes" : "no",
	       has(m, "port") ? str(m, "port") : str(m, "port-guid"));
	if (strcmp(str(m, "guid"), str(m, "port-guid")) != 0)
		printf(" (alias %s)", str(m, "guid"));
	putchar('\n');
}

static bool mcast_row(const json_t *row)
{
	if (has(row, "guid"))
		put_member(row);
	else
		put_group(row);
	return true;
}

const struct output text_mcast = { .head = mcast_head, .row = mcast_row };
