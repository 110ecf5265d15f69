/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See pkeys_members.h. */
#include "cli/rest/api/pkeys_members.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rest/api/rest_ask.h"
#include "lib/base/map64.h"

static bool is_policys(const json_t *line)
{
	return !strcmp(rest_str(line, "source"), "policy");
}

static void put_row(struct rest_partition *p, const json_t *row)
{
	json_t *line;
	size_t i;

	p->name = xstrdup(rest_str(row, "partition"));
	p->whole = !strcmp(rest_str(row, "source"), "dynamic");
	p->ipoib = json_is_true(json_object_get(row, "ipoib"));
	json_array_foreach(json_object_get(row, "members"), i, line)
		json_array_append(is_policys(line) ? p->fixed : p->members, line);
}

/* with_ports: "ports" of each line are its ports in the fabric. */
static bool find(const struct rest_call *c, uint16_t pkey, bool with_ports, struct rest_partition *p,
		 struct rest_answer *a)
{
	json_t *args = json_pack("{s:i, s:b}", "pkey", pkey, "requested", 1), *answer, *row;

	*p = (struct rest_partition){ .pkey = pkey };
	if (with_ports)
		json_object_set_new(args, "member-ports", json_true());
	answer = rest_ask(c, "partition show", args, NULL, a);
	if (!answer)
		return false;
	p->members = json_array();
	p->fixed = json_array();
	row = json_array_get(json_object_get(json_object_get(answer, "result"), "partitions"), 0);
	if (row)
		put_row(p, row);
	json_decref(answer);
	return true;
}

bool rest_partition_find(const struct rest_call *c, uint16_t pkey, struct rest_partition *p, struct rest_answer *a)
{
	return find(c, pkey, false, p, a);
}

void rest_partition_free(struct rest_partition *p)
{
	free(p->name);
	json_decref(p->members);
	json_decref(p->fixed);
}

void rest_who(uint64_t guid, char text[REST_WHO_GUID])
{
	snprintf(text, REST_WHO_GUID, "0x%016" PRIx64, guid);
}

/* --- which members --- */

/* The ports to be removed, and the lines that are removed for that. */
struct removal {
	const struct rest_call *c;
	struct rest_partition *p;
	struct rest_answer *a;
	struct map64 ports;	/* their GUIDs */
	bool *taken;		/* for each member: a request may mean a member more than once */
};

static bool removal_init(struct removal *r, const struct rest_call *c, struct rest_partition *p, bool with_ports,
			 struct rest_answer *a)
{
	uint16_t pkey = p->pkey;

	*r = (struct removal){ .c = c, .p = p, .a = a };
	map64_init(&r->ports, 16);
	if (with_ports) {
		rest_partition_free(p);
		if (!find(c, pkey, true, p, a))
			return false;
	}
	r->taken = xcalloc(json_array_size(p->members) + 1, sizeof(bool));
	return true;
}

static void append_who(json_t *list, const struct rest_partition *p, size_t i)
{
	json_array_append(list, json_object_get(json_array_get(p->members, i), "who"));
}

/* The chosen ones, each once. */
static json_t *removal_end(struct removal *r, bool good)
{
	json_t *list = good ? json_array() : NULL;

	for (size_t i = 0; good && i < json_array_size(r->p->members); i++)
		if (r->taken[i])
			append_who(list, r->p, i);
	map64_free(&r->ports);
	free(r->taken);
	return list;
}

static const char *who_of(const json_t *line)
{
	return rest_str(line, "who");
}

static bool is_guid(const json_t *line)
{
	uint64_t guid;

	return rest_parse_guid(who_of(line), &guid);
}

/* Whether the text of the line shows that it names ports of one host: a port's name without * and ? in the host's. */
static bool names_host(const json_t *line)
{
	size_t n = strcspn(who_of(line), " /*?");

	return strchr(who_of(line), '/') && (who_of(line)[n] == ' ' || who_of(line)[n] == '/');
}

static bool any_line(const json_t *lines, bool (*is)(const json_t *line))
{
	const json_t *x;
	size_t i;

	json_array_foreach(lines, i, x)
		if (is(x))
			return true;
	return false;
}

static bool is_no_guid(const json_t *line)
{
	return !is_guid(line);
}

static bool names_no_host(const json_t *line)
{
	return !names_host(line);
}

/* A range, a group or a pattern: which ports it names depends on the fabric.  Requests never remove it. */
static bool is_wide(const json_t *line)
{
	return !is_guid(line) && !names_host(line);
}

enum share { SHARE_NONE, SHARE_SOME, SHARE_ALL };

/* How many of the line's ports are to go; *one is one of them. */
static enum share share_of(const struct removal *r, const json_t *line, uint64_t *one)
{
	const json_t *ports = json_object_get(line, "ports"), *x;
	size_t i, n = 0;
	uint64_t guid;

	if (rest_parse_guid(who_of(line), one))
		return map64_get(&r->ports, *one) == MAP64_NONE ? SHARE_NONE : SHARE_ALL;
	json_array_foreach(ports, i, x) {
		guid = strtoull(json_string_value(x) ? json_string_value(x) : "", NULL, 16);
		if (map64_get(&r->ports, guid) != MAP64_NONE) {
			*one = guid;
			n++;
		}
	}
	return !n ? SHARE_NONE : n < json_array_size(ports) ? SHARE_SOME : SHARE_ALL;
}

/*
 * A host that was absent has two lines, for descriptions with one word and with more.  Of these only one
 * names ports once the host is there: the other goes with it.
 */
static void take_twins(struct removal *r, const char *who)
{
	size_t n = strcspn(who, " /");
	const json_t *x;
	size_t k;

	if (strcmp(who + n, " */P*") && strcmp(who + n, "/P*"))
		return;
	json_array_foreach(r->p->members, k, x) {
		const char *w = who_of(x);

		if (!strncmp(w, who, n) && (!strcmp(w + n, " */P*") || !strcmp(w + n, "/P*")) &&
		    !json_array_size(json_object_get(x, "ports")))
			r->taken[k] = true;
	}
}

/* Takes the lines that name ports which are to go, and no others.  A port that stays a member is an error. */
static bool take_lines(struct removal *r)
{
	uint64_t guid = 0;
	const json_t *x;
	size_t k;

	json_array_foreach(r->p->fixed, k, x)
		if (share_of(r, x, &guid) != SHARE_NONE)
			return rest_refuse(r->a, REST_CONFLICT,
					   "0x%016" PRIx64 " is a member by the policy's line \"%.80s\", "
					   "which stays",
					   guid, who_of(x));
	json_array_foreach(r->p->members, k, x) {
		enum share share = r->taken[k] ? SHARE_NONE : share_of(r, x, &guid);

		if (share == SHARE_SOME || (share == SHARE_ALL && is_wide(x)))
			return rest_refuse(r->a, REST_CONFLICT,
					   "0x%016" PRIx64 " is a member by the line \"%.80s\", which "
					   "may name other ports, too, and stays",
					   guid, who_of(x));
		if (share == SHARE_ALL) {
			r->taken[k] = true;
			take_twins(r, who_of(x));
		}
	}
	return true;
}

json_t *rest_members_by_guid(const struct rest_call *c, struct rest_partition *p, const struct rest_guids *guids,
			     struct rest_answer *a)
{
	bool with_ports = any_line(p->members, is_no_guid) || any_line(p->fixed, is_no_guid);
	struct removal r;
	bool good = removal_init(&r, c, p, with_ports, a);

	for (size_t i = 0; good && i < guids->n; i++)
		map64_put(&r.ports, guids->v[i], 1);
	return removal_end(&r, good && take_lines(&r));
}

/* Whether "node001 HCA-1/P1" is a port of the host "node001". */
static bool is_of_host(const char *who, const char *host)
{
	size_t n = strlen(host);

	return strchr(who, '/') && !strncmp(who, host, n) && (who[n] == ' ' || who[n] == '/');
}

/* The ports that a host has now.  The daemon may take the name for something else: a LID, for example. */
static bool add_ports_of(struct removal *r, const char *host)
{
	json_t *rows = rest_ask_ports(r->c, host, r->a);
	const json_t *row;
	size_t i, n;

	json_array_foreach(rows, i, row)
		if (is_of_host(rest_str(row, "name"), host))
			map64_put(&r->ports, rest_port_guid(rest_str(row, "name"), &n), 1);
	json_decref(rows);
	return rows;
}

static bool take_host(struct removal *r, const char *host, bool with_ports)
{
	const json_t *x;
	size_t k;

	json_array_foreach(r->p->fixed, k, x)
		if (is_of_host(who_of(x), host))
			return rest_refuse(r->a, REST_CONFLICT,
					   "%.80s is a member by the policy's line \"%.80s\", which stays",
					   host, who_of(x));
	json_array_foreach(r->p->members, k, x)
		r->taken[k] |= is_of_host(who_of(x), host);
	return !with_ports || add_ports_of(r, host);
}

json_t *rest_members_by_host(const struct rest_call *c, struct rest_partition *p, const struct hostlist *hosts,
			     struct rest_answer *a)
{
	bool wide = any_line(p->members, is_wide) || any_line(p->fixed, is_wide);
	bool with_ports = any_line(p->members, names_no_host) || any_line(p->fixed, names_no_host);
	struct removal r;
	bool good = removal_init(&r, c, p, wide, a);

	for (size_t i = 0; good && i < hosts->n; i++)
		good = take_host(&r, hosts->v[i], with_ports);
	return removal_end(&r, good && take_lines(&r));
}

json_t *rest_members_but(const struct rest_partition *p, const json_t *stay)
{
	json_t *list = json_array();
	const json_t *x;
	size_t i;

	json_array_foreach(p->members, i, x)
		if (!json_object_get(stay, rest_str(x, "who")))
			append_who(list, p, i);
	return list;
}

void rest_put_removal(const struct rest_partition *p, json_t *whos, bool last_ends_it, json_t *changes)
{
	json_t *change;

	if (json_array_size(whos)) {
		change = json_pack("{s:s}", "remove", p->name);
		if (!last_ends_it || !p->whole || json_array_size(whos) < json_array_size(p->members))
			json_object_set(change, "members", whos);
		json_array_append_new(changes, change);
	}
	json_decref(whos);
}
