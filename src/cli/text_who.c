/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the answer to `who`. */
#include <stdio.h>

#include "text.h"
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
		put_user(json_object_get(row, "data"));
		printf("\n");
	}
}

static void print_who(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result"), *nodes = json_object_get(r, "nodes"), *n;
	size_t i;

	json_array_foreach(nodes, i, n) {
		if (i)
			printf("\n");
		put_node(n);
	}
	if (num(r, "more"))
		printf("\nand %lld more nodes; see qosd-ctl nodes\n", num(r, "more"));
}

const struct output text_who = { .head = print_who };
