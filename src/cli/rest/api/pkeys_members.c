/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See pkeys_members.h. */
#include "cli/rest/api/pkeys_members.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rest/api/rest_ask.h"
#include "lib/base/map64.h"

bool rest_partition_find(const struct rest_call *c, uint16_t pkey, struct rest_partition *p, struct rest_answer *a)
{
	json_t *answer = rest_ask(c, "partition show", json_pack("{s:i, s:b}", "pkey", pkey, "requested", 1), NULL, a);
	json_t *row;

	memset(p, 0, sizeof(*p));
	if (!answer)
		return false;
	row = json_array_get(json_object_get(json_object_get(answer, "result"), "partitions"), 0);
	if (row) {
		p->name = xstrdup(rest_str(row, "partition"));
		p->whole = !strcmp(rest_str(row, "source"), "dynamic");
		p->ipoib = json_is_true(json_object_get(row, "ipoib"));
		p->members = json_incref(json_object_get(row, "members"));
	}
	json_decref(answer);
	return true;
}

void rest_partition_free(struct rest_partition *p)
{
	free(p->name);
	json_decref(p->members);
}

void rest_who(uint64_t guid, char text[REST_WHO_GUID])
{
	snprintf(text, REST_WHO_GUID, "0x%016" PRIx64, guid);
}

/* --- which members --- */

/* Members by GUID, whether there are others, which name ports, and which were chosen. */
struct members {
	const struct rest_partition *p;
	struct map64 by_guid;	/* index in the array */
	bool names;
	bool *taken;		/* for each index: a request may mean a member more than once */
};

static void members_init(struct members *m, const struct rest_partition *p)
{
	const json_t *x;
	uint64_t guid;
	size_t i;

	*m = (struct members){ .p = p, .taken = xcalloc(json_array_size(p->members) + 1, sizeof(bool)) };
	map64_init(&m->by_guid, (uint32_t)json_array_size(p->members));
	json_array_foreach(p->members, i, x) {
		if (rest_parse_guid(rest_str(x, "who"), &guid))
			map64_put(&m->by_guid, guid, (uint32_t)i);
		else
			m->names = true;
	}
}

static void append_who(json_t *list, const struct rest_partition *p, size_t i)
{
	json_array_append(list, json_object_get(json_array_get(p->members, i), "who"));
}

/* The chosen ones, each once. */
static json_t *members_end(struct members *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < json_array_size(m->p->members); i++)
		if (m->taken[i])
			append_who(list, m->p, i);
	map64_free(&m->by_guid);
	free(m->taken);
	return list;
}

/* The ports of a node that a text names, as rows of `ports`; an empty array if there is none. */
static json_t *ports_of(const struct rest_call *c, const char *node)
{
	struct rest_answer ignored = { 0 };
	json_t *rows = rest_ask_rows(c, "ports", json_pack("{s:s}", "node", node), &ignored);

	rest_answer_free(&ignored);
	return rows ? rows : json_array();
}

/* A member that names the port with this GUID. */
static void take_by_name(const struct rest_call *c, struct members *m, uint64_t guid)
{
	char text[REST_WHO_GUID];
	const json_t *row, *x;
	json_t *rows;
	size_t i, k, n;

	rest_who(guid, text);
	rows = ports_of(c, text);
	json_array_foreach(rows, i, row) {
		const char *name = rest_str(row, "name");

		if (rest_port_guid(name, &n) != guid)
			continue;
		json_array_foreach(m->p->members, k, x)
			if (strlen(rest_str(x, "who")) == n && !memcmp(rest_str(x, "who"), name, n))
				m->taken[k] = true;
	}
	json_decref(rows);
}

json_t *rest_members_by_guid(const struct rest_call *c, const struct rest_partition *p, const struct rest_guids *guids)
{
	struct members m;

	members_init(&m, p);
	for (size_t i = 0; i < guids->n; i++) {
		uint32_t at = map64_get(&m.by_guid, guids->v[i]);

		if (at != MAP64_NONE)
			m.taken[at] = true;
		else if (m.names)
			take_by_name(c, &m, guids->v[i]);
	}
	return members_end(&m);
}

/* Whether "node001 HCA-1/P1" is a port of the host "node001". */
static bool is_of_host(const char *who, const char *host)
{
	size_t n = strlen(host);

	return strchr(who, '/') && !strncmp(who, host, n) && (who[n] == ' ' || who[n] == '/');
}

static void take_host(const struct rest_call *c, struct members *m, const char *host)
{
	bool named = false;
	const json_t *x;
	json_t *rows;
	size_t k, n;

	json_array_foreach(m->p->members, k, x)
		if (is_of_host(rest_str(x, "who"), host))
			named = m->taken[k] = true;
	if (named || !m->by_guid.n)
		return;
	rows = ports_of(c, host);
	json_array_foreach(rows, k, x) {
		uint32_t at = map64_get(&m->by_guid, rest_port_guid(rest_str(x, "name"), &n));

		if (at != MAP64_NONE)
			m->taken[at] = true;
	}
	json_decref(rows);
}

json_t *rest_members_by_host(const struct rest_call *c, const struct rest_partition *p, const struct hostlist *hosts)
{
	struct members m;

	members_init(&m, p);
	for (size_t i = 0; i < hosts->n; i++)
		take_host(c, &m, hosts->v[i]);
	return members_end(&m);
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
