/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `hosts` and `matrix` as text: pairs of hosts and their levels. */
#include <string.h>

#include "text.h"

/* --- hosts --- */

static void put_direction(const json_t *d)
{
	const json_t *level;
	size_t i;

	printf("%s to %s: %lld route%s from %lld host%s to %lld\n", str(d, "port"), str(d, "peer"), num(d, "routes"),
	       num(d, "routes") == 1 ? "" : "s", num(d, "sources"), num(d, "sources") == 1 ? "" : "s",
	       num(d, "destinations"));
	json_array_foreach(json_object_get(d, "levels"), i, level)
		printf("%8lld  SL %2lld  %s\n", num(level, "routes"), num(level, "sl"), str(level, "level"));
	if (num(d, "no-path"))
		printf("%8lld  have no path\n", num(d, "no-path"));
}

static char titled[256];	/* the rows below the last title */

static void hosts_head(const json_t *answer)
{
	const json_t *d;
	size_t i;

	*titled = '\0';
	json_array_foreach(json_object_get(json_object_get(answer, "result"), "links"), i, d)
		put_direction(d);
}

static bool hosts_row(const json_t *o)
{
	char title[sizeof(titled)];

	snprintf(title, sizeof(title), "%ss of %s", str(o, "as"), str(o, "over"));
	if (strcmp(title, titled) != 0)
		printf("\n  ROUTES  %s\n", title);
	memcpy(titled, title, sizeof(titled));
	printf("%8lld  %s\n", num(o, "routes"), str(o, "port"));
	return true;
}

const struct output text_hosts = { .head = hosts_head, .row = hosts_row };

/* --- matrix --- */

static void matrix_head(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result");

	if (num(r, "more"))
		printf("%lld more port groups: see --from and --to\n", num(r, "more"));
	if (json_is_true(json_object_get(r, "sampled")))
		printf("Some hosts stand for all: there are too many kinds of them.\n");
	if (json_object_get(answer, "rows"))
		printf("      PAIRS  SL  LEVEL                     FROM -> TO\n");
	else
		printf("%lld\n", num(r, "count"));
}

static bool matrix_row(const json_t *o)
{
	const char *from = str(o, "from"), *to = str(o, "to");
	const json_t *level;
	size_t i;

	json_array_foreach(json_object_get(o, "levels"), i, level)
		printf("%11lld  %2lld  %-24s  %s -> %s\n", num(level, "pairs"), num(level, "sl"),
		       str(level, "level"), from, to);
	if (num(o, "no-path"))
		printf("%11lld   -  %-24s  %s -> %s\n", num(o, "no-path"), "(no path)", from, to);
	return true;
}

const struct output text_matrix = { .head = matrix_head, .row = matrix_row };
