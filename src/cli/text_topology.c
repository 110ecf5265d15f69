/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `topology` and `accept` as text. */
#include "text.h"

static void topology_head(const json_t *answer)
{
	const json_t *result = json_object_get(answer, "result");

	if (has(result, "count"))
		printf("%lld\n", num(result, "count"));
}

static bool topology_row(const json_t *o)
{
	printf("%-13s %s\n", str(o, "kind"), str(o, "text"));
	return true;
}

const struct output text_topology = { .head = topology_head, .row = topology_row };
const struct output text_accept = { .says = "done; 'qosd-ctl status' shows which topology is expected" };
