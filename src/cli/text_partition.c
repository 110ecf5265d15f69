/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes requests of `partition add|set|remove`, and prints their answers; text_partition.h has the
 * contracts.
 */
#include "text_partition.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* --- requests --- */

/* Splits "WHO=membership" if the latter is a membership; otherwise all of the word is WHO. */
static bool set_member(json_t *members, const char *word, bool with_membership)
{
	static const char *const kinds[] = { "full", "limited", "both", "full@0", "limited@0", "both@0" };
	const char *equals = with_membership ? strrchr(word, '=') : NULL, *kind = "full";
	size_t n = strlen(word);
	char *who;
	int failed;

	for (size_t i = 0; equals && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(equals + 1, kinds[i])) {
			kind = kinds[i];
			n = (size_t)(equals - word);
		}
	if (!with_membership)
		return json_array_append_new(members, json_string(word)) == 0;
	who = strndup(word, n);
	failed = json_object_get(members, who) ? -1 :
		 json_object_set_new(members, who, json_string(kind));
	free(who);
	return !failed;
}

static void copy(json_t *change, const json_t *args, const char *name)
{
	if (has(args, name))
		json_object_set(change, name, json_object_get(args, name));
}

bool partition_change(const char *command, json_t *args, struct buf *file)
{
	/* what the body says is no argument of the request */
	static const char *const in_body[] = { "name", "member", "pkey", "level", "ipoib", "ipoib-level",
					       "sl", "mtu", "rate" };
	const char *kind = strchr(command, ' ') + 1;	/* add, set or remove */
	bool add = !strcmp(kind, "add"), set = !strcmp(kind, "set"), good = true;
	const json_t *words = json_object_get(args, "member"), *word;
	json_t *members = add ? json_object() : json_array(), *body;
	json_t *change = json_pack("{s:O}", kind, json_object_get(args, "name"));
	char *text;
	size_t i;

	json_array_foreach(words, i, word) {
		if (good && !set_member(members, json_string_value(word), add)) {
			fprintf(stderr, "qosd-ctl: %s: a member twice: %s\n", command,
				json_string_value(word));
			good = false;
		}
	}
	if (json_array_size(words))
		json_object_set(change, "members", members);
	if (set)
		copy(change, args, "ipoib-level");
	else if (has(args, "ipoib-level"))
		json_object_set_new(change, "ipoib", json_pack("{s:O}", "level",
							       json_object_get(args, "ipoib-level")));
	else
		copy(change, args, "ipoib");
	copy(change, args, "pkey");
	copy(change, args, "level");
	copy(change, args, "sl");
	copy(change, args, "mtu");
	copy(change, args, "rate");
	body = json_pack("{s:[o]}", "changes", change);
	text = json_dumps(body, JSON_COMPACT);
	buf_puts(file, text);
	free(text);
	json_decref(body);
	json_decref(members);
	for (i = 0; i < sizeof(in_body) / sizeof(in_body[0]); i++)
		json_object_del(args, in_body[i]);
	json_object_set_new(args, "file", json_string("(command line)"));
	return good;
}

/* --- answers --- */

static void print_change(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result"), *list = json_object_get(r, "partitions");
	const json_t *p;
	size_t i;

	put_accepted(r);
	json_array_foreach(list, i, p)
		printf("%s has P_Key 0x%04llx\n", str(p, "partition"), num(p, "pkey"));
	if (num(r, "changed"))
		printf("accepted: %lld change%s\n", num(r, "changed"), PLURAL_S(num(r, "changed")));
	else
		printf("nothing to change\n");
	put_in_force_when(r);
}

static void print_pending(const json_t *answer)
{
	const json_t *x = json_object_get(json_object_get(answer, "result"), "dynamic");

	if (has(x, "change") && num(x, "change") != num(x, "change-in-force"))
		printf("the last change is not in force yet\n");
}

static const char *state_of(const json_t *p)
{
	const json_t *x = json_object_get(p, "in-force");

	return json_is_true(x) ? "" : json_is_string(x) ? "in part" : "not in force";
}

static void print_head(const json_t *answer)
{
	print_pending(answer);
	printf("%-6s  %-15s  %6s  %7s  %6s  %7s  %-12s  %-12s  %s\n", "P_KEY", "SOURCE", "FULL",
	       "LIMITED", "BOTH", "NO-ROOM", "LEVEL", "IPOIB", "NAME");
}

static void put_reasons(const json_t *p)
{
	const json_t *why = json_object_get(p, "why"), *x;
	size_t i;

	json_array_foreach(why, i, x)
		printf("  %s\n", json_string_value(x));
}

static bool print_row(const json_t *p)
{
	if (has(p, "why")) {
		printf("0x%04llx  %-15s  %s: %s\n", num(p, "pkey"), str(p, "source"), state_of(p),
		       str(p, "partition"));
		put_reasons(p);
		return true;
	}
	printf("0x%04llx  %-15s  ", num(p, "pkey"), str(p, "source"));
	put_num(p, "full", 6);
	printf("  ");
	put_num(p, "limited", 7);
	printf("  ");
	put_num(p, "both", 6);
	printf("  ");
	put_num(p, "no-room", 7);
	printf("  %-12s  %-12s  %s\n", str(p, "level"),
	       has(p, "ipoib-level") ? str(p, "ipoib-level") : "-", str(p, "partition"));
	return true;
}

static void put_ports(const json_t *p)
{
	const json_t *ports = json_object_get(p, "ports"), *x, *place;
	size_t i, k;

	json_array_foreach(ports, i, x) {
		printf("  port    %-8s ", str(x, "membership"));
		json_array_foreach(json_object_get(x, "places"), k, place)
			printf(" [%lld] 0x%04llx", num(place, "index"), num(place, "pkey"));
		printf("  %s\n", str(x, "port"));
	}
	json_array_foreach(json_object_get(p, "ports-without-room"), i, x)
		printf("  no room          %s\n", json_string_value(x));
}

static bool print_whole(const json_t *p)
{
	const json_t *members = json_object_get(p, "members"), *m;
	size_t i;

	printf("%s: P_Key 0x%04llx, %s%s%s", str(p, "partition"), num(p, "pkey"), str(p, "source"),
	       *state_of(p) ? ", " : "", state_of(p));
	if (has(p, "level"))
		printf(", level %s", str(p, "level"));
	if (has(p, "ipoib-level"))
		printf(", IPoIB by level %s", str(p, "ipoib-level"));
	printf("\n");
	put_reasons(p);
	json_array_foreach(members, i, m)
		printf("  member  %-8s  %-8s  %s%s\n", str(m, "membership"), str(m, "source"),
		       str(m, "who"), json_is_true(json_object_get(m, "index0")) ? ", at index 0" : "");
	put_ports(p);
	return true;
}

const struct output text_partition_change = { .head = print_change };
const struct output text_partitions = { .head = print_head, .row = print_row };
const struct output text_partition_show = { .head = print_pending, .row = print_whole };
