/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `withdrawn`, and the commands that change that list, as text. */
#include "text.h"

#include <string.h>

/* "36 hosts (node1 HCA-1/P1 (0x...), ...) have no other way", or what else keeps routes on a place. */
static void put_left(const json_t *o)
{
	const json_t *hosts = json_object_get(o, "first-hosts"), *host;
	long long n = num(o, "hosts");
	size_t i;

	if (strcmp(str(o, "state"), "in-part"))
		return;
	if (!n) {
		printf("; %lld of %lld links stay in use, as there is no other way", num(o, "links-used"),
		       num(o, "links"));
		return;
	}
	printf("; %lld host%s", n, n == 1 ? "" : "s");
	json_array_foreach(hosts, i, host)
		printf("%s%s", i ? ", " : " (", json_string_value(host));
	printf("%s ha%s no other way", n > (long long)json_array_size(hosts) ? ", ...)" : ")",
	       n == 1 ? "s" : "ve");
}

static const char *state_text(const json_t *o)
{
	if (!strcmp(str(o, "state"), "unknown"))
		return "to be drained (being looked at after a takeover)";
	return strcmp(str(o, "state"), "in-part") ? str(o, "state") : "drained in part";
}

/* "; leaf1/P4 (0x...) is init", for each end that the subnet has. */
static void put_cut_ends(const json_t *o)
{
	const json_t *ends = json_object_get(o, "ends"), *end;
	size_t i;

	json_array_foreach(ends, i, end)
		printf("; %s is %s", str(end, "name"), str(end, "state"));
}

static bool place_row(const json_t *o)
{
	printf("%s: %s since %s", str(o, "name"), state_text(o), str(o, "since"));
	if (has(o, "until"))
		printf(" until %s", str(o, "until"));
	put_user(o);
	if (*str(o, "reason"))
		printf(" (%s)", str(o, "reason"));
	if (num(o, "lids") || num(o, "trees"))
		printf("; %lld LIDs and %lld multicast trees are routed over it", num(o, "lids"),
		       num(o, "trees"));
	put_left(o);
	put_cut_ends(o);
	putchar('\n');
	return true;
}

static void put_release(void)
{
	puts("'qosd-ctl release PLACE' takes it into service again");
}

static void put_lossless(const json_t *answer)
{
	if (json_is_false(json_object_get(json_object_get(answer, "result"), "lossless")))
		puts("routes are in layers: packets may be lost for a moment while they change");
}

static void print_drained(const json_t *answer)
{
	const json_t *places = json_object_get(json_object_get(answer, "result"), "places"), *o;
	size_t i;

	json_array_foreach(places, i, o) {
		printf("%s: %s", str(o, "name"), strcmp(str(o, "state"), "in-part") ? "is being drained" :
		       "is being drained in part");
		put_left(o);
		putchar('\n');
	}
	put_release();
	put_lossless(answer);
}

static void print_isolated(const json_t *answer)
{
	const json_t *places = json_object_get(json_object_get(answer, "result"), "places"), *o;
	long long hosts = 0;
	size_t i;

	json_array_foreach(places, i, o) {
		printf("%s: is being isolated\n", str(o, "name"));
		hosts = num(o, "hosts");
	}
	put_release();
	if (hosts)
		printf("this cuts off %lld other host%s\n", hosts, hosts == 1 ? "" : "s");
}

static void print_released(const json_t *answer)
{
	const json_t *places = json_object_get(json_object_get(answer, "result"), "places"), *o;
	size_t i;

	json_array_foreach(places, i, o)
		printf("%s: released%s%s\n", str(o, "name"), has(o, "isolated-by") ?
		       "; its links stay isolated by " : "", str(o, "isolated-by"));
	put_lossless(answer);
}

const struct output text_withdrawn = { .row = place_row };
const struct output text_drain = { .head = print_drained };
const struct output text_isolate = { .head = print_isolated };
const struct output text_release = { .head = print_released };
