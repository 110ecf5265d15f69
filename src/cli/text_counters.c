/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `counters` as text: a port, what its VLs got, and what could not be read. */
#include <string.h>

#include "text.h"

static void put_share(const json_t *o, const char *key)
{
	if (has(o, key))
		printf(" %5.1f%%", real(o, key) * 100);
	else
		printf(" %6s", "-");
}

/* Prints a number with its doubt: "-saturated" if missing, ">12" if it is a lower bound. */
static void put_count(const json_t *o, const char *key, const char *doubt, int width)
{
	char text[32];

	if (has(o, key))
		snprintf(text, sizeof(text), "%s%lld", has(o, doubt) ? ">=" : "", num(o, key));
	else
		snprintf(text, sizeof(text), "%s", str(o, doubt));
	printf(" %*s", width, text);
}

static const char *verdict_text(const char *verdict)
{
	static const char *const texts[][2] = {
		{ "none", "" }, { "served", "" }, { "content", "needs no more" },
		{ "not-full", "the link is not full" }, { "short", "SHORT: waited for more" },
		{ "unknown", "not known" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!strcmp(texts[i][0], verdict))
			return texts[i][1];
	return verdict;
}

static void put_levels(const json_t *o)
{
	if (json_array_size(json_object_get(o, "levels")))
		put_names(json_object_get(o, "levels"));
	else
		printf("(no level)");
}

static void put_stray(const char *what, const json_t *numbers)
{
	if (!json_array_size(numbers))
		return;
	printf("  data on %s ", what);
	put_numbers(numbers);
	printf(", which no level has: a program chose the SL\n");
}

static void put_vls(const json_t *vls)
{
	const json_t *v;
	size_t i;

	if (json_array_size(vls))
		printf("  VL            bytes         wait    got  promised\n");
	json_array_foreach(vls, i, v) {
		printf("  %2lld", num(v, "vl"));
		put_count(v, "bytes", "bytes-doubt", 16);
		put_count(v, "wait", "wait-doubt", 12);
		put_share(v, "got");
		put_share(v, "promised");
		printf("    ");
		put_levels(v);
		if (*verdict_text(str(v, "verdict")))
			printf(": %s", verdict_text(str(v, "verdict")));
		printf("\n");
	}
}

static void put_sls(const json_t *sls)
{
	const json_t *s;
	size_t i;

	json_array_foreach(sls, i, s) {
		printf("  SL %2lld", num(s, "sl"));
		put_count(s, "bytes", "bytes-doubt", 13);
		printf("  ");
		put_levels(s);
		printf("\n");
	}
}

static void put_missing(json_t *missing)
{
	const char *name;
	json_t *why;

	json_object_foreach(missing, name, why)
		printf("  %s: %s\n", name, json_string_value(why));
}

static bool print_port(const json_t *p)
{
	printf("%s to %s\n ", str(p, "port"), str(p, "peer"));
	if (has(p, "seconds"))
		printf(" %.3g s,", real(p, "seconds"));
	printf(" sent");
	put_count(p, "xmit-bytes", "xmit-doubt", 0);
	printf(", received");
	put_count(p, "rcv-bytes", "rcv-doubt", 0);
	printf(" bytes");
	if (has(p, "full"))
		printf(", %.0f %% of the link", real(p, "full") * 100);
	if (has(p, "by"))
		printf("; by VL from %s", str(p, "by"));
	printf("\n");
	put_vls(json_object_get(p, "vls"));
	put_sls(json_object_get(p, "sls"));
	put_stray("SL", json_object_get(p, "stray-sls"));
	put_stray("VL", json_object_get(p, "stray-vls"));
	put_missing(json_object_get(p, "missing"));
	return true;
}

/* Says which ports of many were measured. */
static void put_choice(const json_t *r)
{
	printf("of %lld: those that waited most to send in the last minutes", num(r, "linked"));
	if (num(r, "unknown"))
		printf(" (of %lld it is not known)", num(r, "unknown"));
	printf("; --all measures all\n");
}

static void print_head(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result");

	printf("%lld port%s%s\n", num(r, "asked"), PLURAL_S(num(r, "asked")),
	       json_is_true(json_object_get(r, "reset")) ? ", reset before" : "");
	if (has(r, "unknown"))
		put_choice(r);
	fflush(stdout);
}

const struct output text_counters = { .head = print_head, .row = print_port };
