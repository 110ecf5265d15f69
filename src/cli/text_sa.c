/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `sa-stats` and `sa-trace` as text. */
#include <inttypes.h>
#include <string.h>

#include "text.h"

/* --- sa-stats --- */

static void put_attr(const json_t *a)
{
	const json_t *us = json_object_get(a, "us"), *statuses = json_object_get(a, "statuses");
	const char *name;
	json_t *n;

	printf("%-28s %10lld", str(a, "attribute"), num(a, "answered"));
	if (json_is_object(us))
		printf(" %8lld %8lld %8lld", num(us, "p50"), num(us, "p99"), num(us, "max"));
	else
		printf(" %8s %8s %8s", "-", "-", "-");
	json_object_foreach((json_t *)(uintptr_t)statuses, name, n)
		if (strcmp(name, "ok") != 0)
			printf("  %s %" JSON_INTEGER_FORMAT, name, json_integer_value(n));
	printf("\n");
}

static void print_stats(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result"), *clients, *x;
	size_t i;

	printf("%lld requests: %lld answered, of them %lld with BUSY, %lld dropped, %lld abandoned; %lld "
	       "sa-trace clients\n", num(r, "requests"), num(r, "answered"), num(r, "busy"),
	       num(r, "dropped"), num(r, "abandoned"), num(r, "watchers"));
	printf("%-28s %10s %8s %8s %8s  errors\n", "attribute", "answered", "p50 us", "p99", "max");
	json_array_foreach(json_object_get(r, "attributes"), i, x)
		put_attr(x);
	clients = json_object_get(r, "clients");
	if (json_array_size(clients))
		printf("busiest clients, by requests in %lld s:\n", num(r, "seconds"));
	json_array_foreach(clients, i, x)
		printf("%10lld  LID %-5lld %s\n", num(x, "requests"), num(x, "lid"),
		       has(x, "client") ? str(x, "client") : "");
}

/* --- sa-trace: a line for each request --- */

static void put_member(const char *name, const json_t *value)
{
	if (json_is_integer(value))
		printf(" %s=%" JSON_INTEGER_FORMAT, name, json_integer_value(value));
	else if (json_is_string(value))
		printf(" %s=%s", name, json_string_value(value));
}

static void put_members(const json_t *o)
{
	const char *name;
	json_t *value;

	/* json_object_foreach() does not change the object */
	json_object_foreach((json_t *)(uintptr_t)o, name, value)
		put_member(name, value);
}

static void put_outcome(const json_t *row)
{
	if (json_is_true(json_object_get(row, "dropped")))
		printf(": dropped");
	else if (num(row, "status"))
		printf(": status 0x%04llx", num(row, "status"));
	else if (has(row, "answered"))
		put_members(json_object_get(row, "answered"));
	if (num(row, "records") != 1 && !num(row, "status"))
		printf(" (%lld records)", num(row, "records"));
	if (has(row, "us"))
		printf(", %lld us", num(row, "us"));
}

static bool put_event(const json_t *row)
{
	if (has(row, "lost-before"))
		printf("(%lld more)\n", num(row, "lost-before"));
	printf("%s ", str(row, "time"));
	if (has(row, "client"))
		printf("%s ", str(row, "client"));
	printf("LID %lld: %s %s", num(row, "lid"), str(row, "method"), str(row, "attribute"));
	if (has(row, "asked"))
		put_members(json_object_get(row, "asked"));
	else
		printf(" mask=%s", str(row, "mask"));
	printf(" ->");
	put_outcome(row);
	printf("\n");
	return fflush(stdout) == 0;
}

const struct output text_sa_stats = { .head = print_stats };
const struct output text_sa_trace = { .row = put_event };
