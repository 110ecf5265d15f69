/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers what partitions there are and who is in them, from `partition show`. */
#include "cli/rest/api/rest_api.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/rest/api/pkeys_qos.h"
#include "cli/rest/api/rest_ask.h"
#include "cli/rest/api/rest_fields.h"
#include "lib/base/map64.h"

#define PKEY_DEFAULT 0x7fff

static const char *membership_of(const json_t *row)
{
	return !strcmp(rest_str(row, "membership"), "limited") ? "limited" : "full";
}

static bool is_at_index_0(const json_t *port)
{
	const json_t *place;
	size_t i;

	json_array_foreach(json_object_get(port, "places"), i, place)
		if (json_integer_value(json_object_get(place, "index")) == 0)
			return true;
	return false;
}

static void put_guid(json_t *list, uint64_t guid, const char *membership, bool index0)
{
	char text[17];

	snprintf(text, sizeof(text), "%016" PRIx64, guid);
	json_array_append_new(list, json_pack("{s:s, s:s, s:b}", "guid", text, "membership", membership,
					      "index0", index0));
}

static bool is_default(const json_t *row)
{
	return json_integer_value(json_object_get(row, "pkey")) == PKEY_DEFAULT;
}

/*
 * The ports that are members, and members by GUID that the fabric does not have, or not yet.  Every
 * port is in the default partition, but clients believe that somebody added each port which is
 * listed: so only GUIDs that a member line names are listed there.
 */
static void put_guids(const json_t *row, json_t *list)
{
	struct map64 seen;
	const json_t *x;
	uint64_t guid;
	size_t i, n;

	map64_init(&seen, 16);
	json_array_foreach(json_object_get(row, "ports"), i, x) {
		guid = rest_port_guid(rest_str(x, "port"), &n);
		if (!guid || is_default(row))
			continue;
		map64_put(&seen, guid, 1);
		put_guid(list, guid, membership_of(x), is_at_index_0(x));
	}
	json_array_foreach(json_object_get(row, "members"), i, x)
		if (rest_parse_guid(rest_str(x, "who"), &guid) && map64_get(&seen, guid) == MAP64_NONE)
			put_guid(list, guid, membership_of(x), json_is_true(json_object_get(x, "index0")));
	map64_free(&seen);
}

/* The membership of ports that no member line names: that of the line for all, if there is one. */
static const char *default_membership(const json_t *row)
{
	const json_t *x;
	size_t i;

	json_array_foreach(json_object_get(row, "members"), i, x)
		if (!strcmp(rest_str(x, "who"), "all"))
			return membership_of(x);
	return "limited";
}

static json_t *partition_of(const struct rest_call *c, const json_t *row)
{
	json_t *p = json_pack("{s:s, s:b}", "partition", rest_str(row, "partition"),
			      "ip_over_ib", json_is_true(json_object_get(row, "ipoib")));
	json_t *guids, *qos = rest_query_flag(c, "qos_conf") ? rest_qos_of(row) : NULL;

	if (qos)
		json_object_set_new(p, "qos_conf", qos);
	if (!rest_query_flag(c, "guids_data"))
		return p;
	guids = json_array();
	put_guids(row, guids);
	json_object_set_new(p, "guids", guids);
	if (is_default(row))
		json_object_set_new(p, "membership", json_string(default_membership(row)));
	return p;
}

/* An object from P_Keys to partitions.  A partition that is not in force as asked for has two rows. */
static json_t *ask_partitions(const struct rest_call *c, const char *command, json_t *args,
			      struct rest_answer *a)
{
	json_t *answer = rest_ask(c, command, args, NULL, a), *all;
	const json_t *row;
	size_t i;

	if (!answer)
		return NULL;
	all = json_object();
	json_array_foreach(json_object_get(json_object_get(answer, "result"), "partitions"), i, row) {
		char pkey[16];

		snprintf(pkey, sizeof(pkey), "0x%x", (unsigned)json_integer_value(json_object_get(row, "pkey")));
		if (!json_object_get(all, pkey))
			json_object_set_new(all, pkey, partition_of(c, row));
	}
	json_decref(answer);
	return all;
}

void rest_pkeys_list(const struct rest_call *c, struct rest_answer *a)
{
	a->body = ask_partitions(c, rest_query_flag(c, "guids_data") ? "partition show" : "partitions", NULL, a);
}

/* A partition that does not exist is an empty object: clients rely on that. */
void rest_pkeys_one(const struct rest_call *c, struct rest_answer *a)
{
	json_t *all, *one;
	const char *key;
	uint16_t pkey;

	if (!rest_read_pkey(c->parts[0], &pkey, a))
		return;
	all = ask_partitions(c, "partition show", json_pack("{s:i}", "pkey", pkey), a);
	if (!all)
		return;
	json_object_foreach(all, key, one)
		a->body = json_incref(one);
	if (!a->body)
		a->body = json_object();
	json_decref(all);
}
