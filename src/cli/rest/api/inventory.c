/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers which systems, ports and links there are, from `ports` and `nodes`. */
#include "cli/rest/api/inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rest/api/rest_ask.h"
#include "cli/rest/api/rest_fields.h"

const char *rest_bare_guid(const char *guid)
{
	return strncmp(guid, "0x", 2) ? guid : guid + 2;
}

static bool is_switch(const json_t *row)
{
	return !strcmp(rest_str(row, "type"), "switch");
}

void rest_answer_rows(const struct rest_call *c, const json_t *rows, rest_row *of_row, struct rest_answer *a)
{
	const json_t *row;
	json_t *x;
	size_t i;

	a->body = json_array();
	json_array_foreach(rows, i, row) {
		x = of_row(c, row);
		if (x)
			json_array_append_new(a->body, x);
	}
}

/* Asks for rows and answers with them. */
static void answer_rows_of(const struct rest_call *c, const char *command, rest_row *of_row, struct rest_answer *a)
{
	json_t *rows = rest_ask_rows(c, command, NULL, a);

	if (rows)
		rest_answer_rows(c, rows, of_row, a);
	json_decref(rows);
}

/* x if it is wanted, else NULL; takes ownership of x. */
static json_t *only_if(bool wanted, json_t *x)
{
	if (wanted)
		return x;
	json_decref(x);
	return NULL;
}

/* --- ports --- */

static const char *logical_state(const json_t *row)
{
	static const char *const names[][2] = {
		{ "active", "Active" }, { "armed", "Armed" }, { "init", "Initialize" }, { "down", "Down" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(rest_str(row, "state"), names[i][0]))
			return names[i][1];
	return "Unknown";
}

static bool has_link(const json_t *row)
{
	return json_is_string(json_object_get(row, "peer"));
}

/* "0002c9030060dc20_10": how this interface names a port. */
static json_t *port_name(const char *guid, json_int_t number)
{
	return json_sprintf("%s_%lld", rest_bare_guid(guid), (long long)number);
}

/* Splits "NodeDescription/Pn (0xguid)": the description's length; 0: it has no such form. */
static size_t description_length(const char *name, json_int_t *number)
{
	size_t n = 0;
	const char *slash;

	if (!rest_port_guid(name, &n))
		return 0;
	slash = memrchr(name, '/', n);
	*number = slash && slash[1] == 'P' ? strtoll(slash + 2, NULL, 10) : 0;
	return slash ? (size_t)(slash - name) : 0;
}

/* Host and adapter are words of the description; a switch has only one name. */
static json_t *system_name(const char *name, size_t description, bool of_switch)
{
	size_t word = of_switch ? description : strcspn(name, " /");

	return json_stringn(name, word < description ? word : description);
}

static json_t *display_name(const json_t *row, const char *name, size_t description)
{
	json_int_t number = json_integer_value(json_object_get(row, "port"));
	size_t host = strcspn(name, " ");

	if (is_switch(row) || host >= description)
		return json_sprintf("%lld", (long long)number);
	return json_sprintf("%.*s/%lld", (int)(description - host - 1), name + host + 1, (long long)number);
}

json_t *rest_json_port(const json_t *row)
{
	const char *name = rest_str(row, "name"), *guid = rest_str(row, "guid");
	json_int_t number = 0, lid = json_integer_value(json_object_get(row, "lid"));
	size_t description = description_length(name, &number);
	json_t *p = json_pack("{s:s, s:o, s:I, s:s, s:I, s:o, s:o, s:s, s:s}", "guid", rest_bare_guid(guid),
			      "name", port_name(guid, json_integer_value(json_object_get(row, "port"))),
			      "number", json_integer_value(json_object_get(row, "port")),
			      "systemID", rest_bare_guid(rest_str(row, "node")), "lid", lid,
			      "dname", display_name(row, name, description),
			      "system_name", system_name(name, description, is_switch(row)),
			      "logical_state", logical_state(row),
			      "physical_state", has_link(row) ? "Link Up" : "Polling");

	json_object_set_new(p, "node_description", json_stringn(name, description));
	if (has_link(row)) {
		const char *peer = rest_str(row, "peer");
		size_t n = description_length(peer, &number);

		json_object_set_new(p, "active_speed", json_incref(json_object_get(row, "link")));
		json_object_set_new(p, "mtu", json_incref(json_object_get(row, "mtu")));
		json_object_set_new(p, "peer_node_description", json_stringn(peer, n));
	}
	return p;
}

/* Switch port 0 and ports of other kinds of node are not what clients call a port. */
static bool is_wanted_port(const struct rest_call *c, const json_t *row, const json_t *port)
{
	const char *system = rest_query_text(c, "system"), *guid = rest_query_text(c, "guid");
	const char *kind = rest_query_text(c, "sys_type"), *name = rest_str(port, "system_name");

	if (is_switch(row) && !json_integer_value(json_object_get(row, "port")))
		return false;
	if (system && strcmp(system, name) && strcmp(system, rest_str(port, "systemID")))
		return false;
	if (guid && strcasecmp(rest_bare_guid(guid), rest_str(port, "guid")))
		return false;
	if (kind && strcmp(rest_str(row, "type"), !strcasecmp(kind, "Computer") ? "ca" : !strcasecmp(kind, "Switch") ?
			   "switch" : kind))
		return false;
	return !rest_query_flag(c, "active") || !strcmp(rest_str(row, "state"), "active");
}

static json_t *port_of_row(const struct rest_call *c, const json_t *row)
{
	json_t *port = rest_json_port(row);

	return only_if(is_wanted_port(c, row, port), port);
}

void rest_ports(const struct rest_call *c, struct rest_answer *a)
{
	answer_rows_of(c, "ports", port_of_row, a);
}

/* --- systems --- */

static json_t *json_system(const json_t *node)
{
	const char *description = rest_str(node, "description");
	bool of_switch = is_switch(node);
	json_t *name = system_name(description, strlen(description), of_switch);

	return json_pack("{s:s, s:s, s:o, s:o, s:s, s:s}", "guid", rest_bare_guid(rest_str(node, "guid")),
			 "system_guid", rest_bare_guid(rest_str(node, "guid")), "name", json_incref(name),
			 "system_name", name, "type", of_switch ? "switch" : "host", "description", description);
}

static json_t *system_of_row(const struct rest_call *c, const json_t *row)
{
	const char *type = rest_query_text(c, "type"), *name = rest_query_text(c, "name");
	json_t *system = json_system(row);

	return only_if((!type || !strcasecmp(type, rest_str(system, "type"))) &&
		       (!name || !strcmp(name, rest_str(system, "system_name"))), system);
}

void rest_systems(const struct rest_call *c, struct rest_answer *a)
{
	answer_rows_of(c, "nodes", system_of_row, a);
}

/* --- links --- */

/* Of the two ends of a link, the one with the lesser name tells it, so that each link is told once. */
static bool tells_link(const json_t *row)
{
	return has_link(row) && strcmp(rest_str(row, "name"), rest_str(row, "peer")) < 0;
}

static json_t *json_link(const json_t *row)
{
	const char *peer = rest_str(row, "peer"), *name = rest_str(row, "name");
	json_int_t number = 0, far = 0;
	size_t n = 0, near_length = description_length(name, &number), far_length = description_length(peer, &far);
	char guid[20];

	snprintf(guid, sizeof(guid), "%016llx", (unsigned long long)rest_port_guid(peer, &n));
	return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:O, s:s}",
			 "source_guid", rest_bare_guid(rest_str(row, "guid")),
			 "source_port", json_sprintf("%lld", (long long)number),
			 "destination_guid", guid, "destination_port", json_sprintf("%lld", (long long)far),
			 "source_port_node_description", json_stringn(name, near_length),
			 "destination_port_node_description", json_stringn(peer, far_length),
			 "width", json_object_get(row, "link"), "severity", "Info");
}

/* The far ends of a system's own links are not among its rows. */
static json_t *link_of_row(const struct rest_call *c, const json_t *row)
{
	return (rest_query_text(c, "system") ? has_link(row) : tells_link(row)) ? json_link(row) : NULL;
}

void rest_links(const struct rest_call *c, struct rest_answer *a)
{
	const char *system = rest_query_text(c, "system");
	json_t *rows = rest_ask_ports(c, system, a);

	if (rows)
		rest_answer_rows(c, rows, link_of_row, a);
	json_decref(rows);
}
