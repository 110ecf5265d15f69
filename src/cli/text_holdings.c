/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `holdings`, and the commands that remove them, as text. */
#include "text.h"

#include <string.h>

/*
 * Names as in JSON, and in the singular; one NULL: not listed when removed, as another kind counts
 * it.
 */
static const struct { const char *name, *one; } kinds[] = {
	{ "groups", "group" }, { "mlids", NULL }, { "memberships", "membership" },
	{ "services", "service" }, { "subscriptions", "subscription" }, { "aliases", "alias" },
	{ "transfers", "transfer" }, { "long-requests", "long request" }, { "reports", "report" },
};
#define N_KINDS (sizeof(kinds) / sizeof(*kinds))

/* Width of a column: that of its name, but at least seven digits. */
static int width(const char *kind)
{
	size_t n = strlen(kind);

	return n < 7 ? 7 : (int)n;
}

static void holdings_head(const json_t *answer)
{
	const json_t *list = json_object_get(json_object_get(answer, "result"), "kinds");
	static const struct { const char *label, *member; } lines[] = {
		{ "all hold", "held" }, { "limit for all", "max" }, { "limit for one", "per-port" },
		{ "refused", "refused" },
	};

	printf("%-13s", "");
	for (size_t i = 0; i < json_array_size(list); i++)
		printf("  %*s", width(str(json_array_get(list, i), "kind")),
		       str(json_array_get(list, i), "kind"));
	putchar('\n');
	for (size_t k = 0; k < sizeof(lines) / sizeof(*lines); k++) {
		printf(LABEL, lines[k].label);
		for (size_t i = 0; i < json_array_size(list); i++)
			printf("  %*lld", width(str(json_array_get(list, i), "kind")),
			       num(json_array_get(list, i), lines[k].member));
		putchar('\n');
	}
	printf("\n%5s", "SHARE");
	for (size_t k = 0; k < N_KINDS; k++)
		printf("  %*s", width(kinds[k].name), kinds[k].name);
	printf("  %8s  %s\n", "GONE FOR", "PORT");
}

static bool holdings_row(const json_t *o)
{
	char gone[24] = "-";

	if (has(o, "gone-for"))
		snprintf(gone, sizeof(gone), "%lld s", num(o, "gone-for"));
	printf("%3.0f %%", real(o, "share") * 100);
	for (size_t k = 0; k < N_KINDS; k++)
		printf("  %*lld", width(kinds[k].name), num(o, kinds[k].name));
	printf("  %8s  %s\n", gone, has(o, "port") ? str(o, "port") : str(o, "guid"));
	return true;
}

/* "taken from node1 HCA-1/P1 (0x...): 2 groups, 1 service": kinds that it had any of. */
static void print_taken(const json_t *answer)
{
	const json_t *o = json_object_get(answer, "result");
	const char *before = "";

	printf("taken from %s: ", has(o, "port") ? str(o, "port") : str(o, "guid"));
	for (size_t k = 0; k < N_KINDS; k++) {
		long long n = num(o, kinds[k].name);

		if (!n || !kinds[k].one)
			continue;
		printf("%s%lld %s", before, n, n == 1 ? kinds[k].one : kinds[k].name);
		before = ", ";
	}
	putchar('\n');
}

const struct output text_holdings = { .head = holdings_head, .row = holdings_row };
const struct output text_holdings_remove = { .head = print_taken };
const struct output text_mcast_remove = { .says = "removed" };
