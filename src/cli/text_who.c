/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the answer to `who`. */
#include <stdio.h>

#include "text.h"

/* "  heading: a, b, and 3 more"; nothing if the list is empty. */
static void put_list(const char *heading, const json_t *names, long long more)
{
	const json_t *name;
	size_t i;

	if (!json_array_size(names))
		return;
	printf("    %s: ", heading);
	json_array_foreach(names, i, name)
		printf("%s%s", i ? ", " : "", json_string_value(name));
	if (more)
		printf(", and %lld more", more);
	printf("\n");
}

static void put_partitions(const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		printf("    partition %s, P_Key 0x%04llx, %s member, level %s\n", str(row, "name"),
		       num(row, "pkey"), str(row, "membership"), str(row, "level"));
}

static void put_rules(const json_t *rows, long long more)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		printf("    rule %lld (line %lld)%s%s: level %s\n", num(row, "rule"), num(row, "line"),
		       has(row, "description") ? ", " : "", has(row, "description") ? str(row, "description") : "",
		       str(row, "level"));
	if (more)
		printf("    and %lld more rules\n", more);
}

static void put_port(const json_t *p)
{
	printf("  port %lld: %s", num(p, "port"), str(p, "state"));
	if (has(p, "lid"))
		printf(", LID %lld", num(p, "lid"));
	if (has(p, "peer"))
		printf(", %s, MTU %lld, %lld VLs, to %s", str(p, "link"), num(p, "mtu"), num(p, "vls"),
		       str(p, "peer"));
	printf("\n");
	put_partitions(json_object_get(p, "partitions"));
	put_list("groups of the policy", json_object_get(p, "groups"), 0);
	put_rules(json_object_get(p, "rules"), num(p, "more-rules"));
	put_list("multicast groups", json_object_get(p, "multicast"), num(p, "more-multicast"));
}

static void put_node(const json_t *n)
{
	const json_t *row;
	size_t i;

	printf("%s\n  %s %s, %lld hop%s from the subnet manager%s\n", str(n, "description"), str(n, "type"),
	       str(n, "guid"), num(n, "hops"), num(n, "hops") == 1 ? "" : "s",
	       json_is_true(json_object_get(n, "self")) ? ", which runs here" : "");
	json_array_foreach(json_object_get(n, "ports"), i, row)
		put_port(row);
	if (json_array_size(json_object_get(n, "events")))
		printf("  last events:\n");
	json_array_foreach(json_object_get(n, "events"), i, row) {
		printf("    %s %s: %s", str(row, "time"), str(row, "severity"), str(row, "text"));
		fputs(has(json_object_get(row, "data"), "uid") ? ";" : "", stdout);
		put_user(json_object_get(row, "data"));
		printf("\n");
	}
}

/* --- a multicast group --- */

static void put_members(const json_t *members, long long more)
{
	const json_t *m;
	size_t i;

	if (!json_array_size(members))
		printf("  no members\n");
	json_array_foreach(members, i, m) {
		printf("  member %s (", has(m, "port") ? str(m, "port") : str(m, "port-guid"));
		put_names(json_object_get(m, "join-state"));
		printf(")\n");
	}
	if (more)
		printf("  and %lld more members\n", more);
}

static void put_tree(const json_t *tree)
{
	const json_t *t, *port;
	size_t i, k;

	json_array_foreach(tree, i, t) {
		printf("  tree %s: port%s", str(t, "switch"),
		       json_array_size(json_object_get(t, "ports")) == 1 ? "" : "s");
		json_array_foreach(json_object_get(t, "ports"), k, port)
			printf("%s %lld", k ? "," : "", (long long)json_integer_value(port));
		printf("\n");
	}
}

static void put_group(const json_t *g)
{
	printf("multicast group %s\n  MLID %s%s, P_Key %s", str(g, "mgid"), str(g, "mlid"),
	       json_is_true(json_object_get(g, "shares-mlid")) ? " (shared)" : "", str(g, "pkey"));
	if (has(g, "partition"))
		printf(" of partition %s", str(g, "partition"));
	printf(", SL %lld", num(g, "sl"));
	if (json_array_size(json_object_get(g, "levels"))) {
		printf(" of level ");
		put_names(json_object_get(g, "levels"));
	}
	printf(", MTU %lld, %g Gb/s%s\n", num(g, "mtu"), real(g, "rate"),
	       json_is_true(json_object_get(g, "permanent")) ? ", made by the policy" : "");
	put_members(json_object_get(g, "member-ports"), num(g, "more-members"));
	put_tree(json_object_get(g, "tree"));
}

static void print_who(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result"), *nodes = json_object_get(r, "nodes"), *n;
	size_t i;

	json_array_foreach(json_object_get(r, "mcast-groups"), i, n) {
		if (i)
			printf("\n");
		put_group(n);
	}
	if (num(r, "more-groups"))
		printf("\nand %lld more groups; see qosd-ctl mcast\n", num(r, "more-groups"));

	json_array_foreach(nodes, i, n) {
		if (i)
			printf("\n");
		put_node(n);
	}
	if (num(r, "more"))
		printf("\nand %lld more nodes; see qosd-ctl nodes\n", num(r, "more"));
}

const struct output text_who = { .head = print_who };
