/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `plan` and `policy` as text. */
#include <stdint.h>
#include <string.h>

#include "text.h"

#define EXAMPLE_INDENT "      "

/* --- a policy, in force or planned --- */

static void put_trial(const json_t *trial)
{
	printf(LABEL "%s is on trial: in %lld s it is reverted to %s unless confirmed\n", "",
	       str(trial, "file"), num(trial, "seconds-left"),
	       str(json_object_get(trial, "back-to"), "file"));
}

static void put_origin(const json_t *p)
{
	printf("%s", str(p, "file"));
	if (has(p, "loaded"))
		printf(", loaded %s", str(p, "loaded"));
	if (strcmp(str(p, "source"), "client") == 0)
		printf(" from a client");
	if (strcmp(str(p, "source"), "last-good") == 0)
		printf(" at an earlier time: the last good policy");
	put_user(p);
	printf("\n");
}

void put_policy(const json_t *p)
{
	printf(LABEL, "policy");
	put_origin(p);
	if (has(p, "trial"))
		put_trial(json_object_get(p, "trial"));
}

/* --- load, confirm, revert --- */

void put_in_force_when(const json_t *r)
{
	static const struct { const char *word, *text; } whens[] = {
		{ "sweep", "it is being written to the devices, and is in force when the sweep that has "
			   "begun ends" },
		{ "next-sweep", "it is in force when the sweep after the running one ends" },
		{ "subnet-up", "it is in force when the subnet has been brought up" },
		{ "master", "it is in force when this daemon becomes the master" },
	};

	for (size_t i = 0; i < sizeof(whens) / sizeof(whens[0]); i++)
		if (!awaits_change && !strcmp(str(r, "in-force-when"), whens[i].word))
			printf("%s (--wait waits for that)\n", whens[i].text);
}

void put_accepted(const json_t *r)
{
	put_findings(json_object_get(r, "findings"), SIZE_MAX, "", stdout);
	put_findings(json_object_get(r, "fabric-findings"), SIZE_MAX, "", stdout);
}

static void print_load(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result"), *trial = json_object_get(r, "trial");

	put_accepted(r);
	if (has(r, "trial"))
		printf("the policy was accepted on trial: it is reverted in %lld s unless confirmed by "
		       "\"qosd-ctl policy confirm\"\n", num(trial, "seconds-left"));
	else
		printf("the policy was accepted\n");
	put_in_force_when(r);
	printf("it is not stored in a file: a restart or reload of the daemon returns to the configured "
	       "policy\n");
}

static void print_confirm(const json_t *answer)
{
	const json_t *p = json_object_get(json_object_get(answer, "result"), "policy");

	printf("confirmed: %s stays\n", str(p, "file"));
}

static void print_revert(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result");

	printf("back to ");
	put_origin(json_object_get(r, "policy"));
	put_in_force_when(r);
}

/* --- show: unchanged, for a file --- */

static bool show_line(const json_t *row)
{
	printf("%s\n", str(row, "line"));
	return true;
}

/* --- history --- */

static void put_change(const json_t *c)
{
	printf("%-20s  %-6s  %-9s  ", str(c, "time"), str(c, "change"), str(c, "outcome"));
	if (has(c, "uid"))
		printf("%6lld  ", num(c, "uid"));
	else
		printf("%6s  ", "-");
	printf("%-16s  %s", has(c, "checksum") ? str(c, "checksum") : "-", str(c, "file"));
	if (has(c, "errors"))
		printf(": %lld error%s", num(c, "errors"), PLURAL_S(num(c, "errors")));
	if (has(c, "on-behalf-of"))
		printf("; on behalf of %s", str(c, "on-behalf-of"));
	printf("\n");
}

static void print_history(const json_t *answer)
{
	const json_t *list = json_object_get(json_object_get(answer, "result"), "history"), *c;
	size_t i;

	printf("%-20s  %-6s  %-9s  %6s  %-16s  %s\n", "TIME", "CHANGE", "OUTCOME", "USER",
	       "CHECKSUM", "FILE");
	json_array_foreach(list, i, c)
		put_change(c);
}

/* --- plan: tables and Sets --- */

static void put_tables(json_t *tables)
{
	const char *class;
	json_t *t;

	printf("%-14s  %8s  %8s  %8s  %8s  %10s\n", "TABLES", "SL2VL", "VLARB", "P_KEY", "VLS",
	       "HIGH-LIMIT");
	json_object_foreach(tables, class, t)
		printf("%-14s  %8lld  %8lld  %8lld  %8lld  %10lld\n", class, num(t, "sl2vl"),
		       num(t, "vlarb"), num(t, "pkey"), num(t, "operational-vls"),
		       num(t, "high-limit"));
}

static void put_sets(const json_t *sets)
{
	const json_t *least = json_object_get(sets, "least"), *most = json_object_get(sets, "most");
	const json_t *few = json_object_get(least, "by-attribute");
	const char *attr;
	json_t *n;

	if (num(least, "total") == num(most, "total"))
		printf("\nSets: %lld\n", num(most, "total"));
	else
		printf("\nSets: %lld to %lld, after reading unknown tables\n",
		       num(least, "total"), num(most, "total"));
	json_object_foreach(json_object_get(most, "by-attribute"), attr, n) {
		long long all = (long long)json_integer_value(n);

		if (num(few, attr) == all)
			printf("  %-28s %9lld\n", attr, all);
		else
			printf("  %-28s %9lld to %lld\n", attr, num(few, attr), all);
	}
}

/* --- plan: answers --- */

static void put_side(const json_t *side)
{
	const json_t *rule = json_object_get(side, "rule");

	if (json_is_object(rule))
		printf("rule %lld (line %lld)%s%s, level %s", num(rule, "rule"), num(rule, "line"),
		       has(rule, "description") ? " " : "", str(rule, "description"),
		       str(side, "level"));
	else
		printf("no rule, level %s", str(side, "level"));
}

static void put_query(json_t *query)
{
	const char *field;
	json_t *v;

	if (json_object_size(query) == 0)
		printf(", no further fields");
	json_object_foreach(query, field, v) {
		if (json_is_string(v))
			printf(", %s %s", field, json_string_value(v));
		else if (!strcmp(field, "pkey"))
			printf(", %s 0x%04llx", field, (long long)json_integer_value(v));
		else
			printf(", %s %lld", field, (long long)json_integer_value(v));
	}
}

static void put_answer(const char *label, const json_t *a)
{
	printf(EXAMPLE_INDENT "  %s ", label);
	if (has(a, "no-path"))
		printf("no path: %s\n", str(a, "no-path"));
	else
		put_path(a);
}

static void put_example(const json_t *e)
{
	printf(EXAMPLE_INDENT "from %s to %s", str(e, "source"), str(e, "destination"));
	put_query(json_object_get(e, "query"));
	printf("\n");
	put_answer("now", json_object_get(e, "old"));
	put_answer("then", json_object_get(e, "new"));
}

static void put_answer_change(const json_t *c)
{
	const json_t *examples = json_object_get(c, "examples"), *e;
	size_t i;

	printf("  ");
	put_side(json_object_get(c, "old"));
	printf("\n    -> ");
	put_side(json_object_get(c, "new"));
	printf(": %lld pair%s, %lld kind%s of query\n", num(c, "pairs"), PLURAL_S(num(c, "pairs")), num(c, "queries"),
	       PLURAL_S(num(c, "queries")));
	json_array_foreach(examples, i, e)
		put_example(e);
}

static void put_answers(const json_t *a)
{
	const json_t *changes = json_object_get(a, "changes"), *c;
	bool sample = json_is_true(json_object_get(a, "sample"));
	size_t i;

	printf("\nAnswers change for %s%lld of %lld pairs of ports (%lld kind%s of port, "
	       "%lld kind%s of query)\n", sample ? "at least " : "", num(a, "pairs-changed"),
	       num(a, "pairs"), num(a, "port-kinds"), PLURAL_S(num(a, "port-kinds")), num(a, "queries"),
	       PLURAL_S(num(a, "queries")));
	if (sample)
		printf("  there are too many kinds to try all of them: this is a sample\n");
	json_array_foreach(changes, i, c)
		put_answer_change(c);
	if (num(a, "more"))
		printf("  … and %lld more kind%s of change\n", num(a, "more"), PLURAL_S(num(a, "more")));
}

/* A level's share on the kind of link where it gets least. */
static void put_least(const json_t *side)
{
	if (!json_is_object(side)) {
		printf("  %8s  %6s  %8s ", "-", "-", "-");
		return;
	}
	printf("  %8.4g  ", real(side, "gbps"));
	put_models(side);
}

static void put_shares(const json_t *rows)
{
	const json_t *row;
	bool differ = false;
	size_t i;

	printf("\nLevels, on the kind of link where each gets least\n"
	       "  NOW: Gb/s  " SHARES_TITLES "    THEN: Gb/s  " SHARES_TITLES "    LEVEL\n");
	json_array_foreach(rows, i, row) {
		printf("  ");
		put_least(json_object_get(row, "old"));
		printf("    ");
		put_least(json_object_get(row, "new"));
		printf("   %s\n", str(row, "level"));
		differ |= json_is_true(json_object_get(json_object_get(row, "old"), "models-differ")) ||
			  json_is_true(json_object_get(json_object_get(row, "new"), "models-differ"));
	}
	if (differ)
		printf(MODELS_DIFFER);
}

static void print_plan(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result");

	put_findings(json_object_get(r, "findings"), SIZE_MAX, "", stdout);
	put_findings(json_object_get(r, "fabric-findings"), SIZE_MAX, "", stdout);
	put_tables(json_object_get(r, "tables"));
	put_sets(json_object_get(r, "sets"));
	put_shares(json_object_get(r, "shares"));
	put_answers(json_object_get(r, "answers"));
}

const struct output text_plan = { .head = print_plan };
const struct output text_policy_load = { .head = print_load };
const struct output text_policy_confirm = { .head = print_confirm };
const struct output text_policy_revert = { .head = print_revert };
const struct output text_policy_show = { .row = show_line, .raw_rows = true };
const struct output text_policy_history = { .head = print_history };
