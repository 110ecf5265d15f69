/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `health` and `metrics` as text. */
#include <string.h>

#include "terminal.h"
#include "text.h"

static void print_health(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result"), *problems = json_object_get(r, "problems"), *x;
	size_t i;

	put_word(str(r, "verdict"), 0);
	if (strcmp(str(r, "verdict"), "ok") == 0)
		printf(": %s\n", str(r, "state"));
	else	/* not as if the state were what is wrong */
		printf(": this subnet manager is %s; there are problems\n", str(r, "state"));
	json_array_foreach(problems, i, x) {
		put_word(str(x, "severity"), 7);
		printf(" %s: %s\n        -> %s\n", str(x, "kind"), str(x, "text"), str(x, "action"));
	}
}

/* Unchanged: the lines are for programs. */
static void print_metrics(const json_t *answer)
{
	fputs(str(json_object_get(answer, "result"), "text"), stdout);
}

const struct output text_health = { .head = print_health };
const struct output text_metrics = { .head = print_metrics, .raw_head = true };
