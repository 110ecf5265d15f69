/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers which ports are not in use, from `withdrawn` and `ports`, and takes ports out of use and back.
 *
 * A port is unhealthy in the terms of this interface if somebody has withdrawn it or its node, or if
 * no route uses its link because that flaps or does not come up.
 */
#include "cli/rest/api/inventory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rest/api/rest_ask.h"
#include "cli/rest/api/rest_fields.h"

#define PLACES_MAX 1024		/* in one request */

/* What the daemon says of ports, for one request.  All but `withdrawn` and `rows` is borrowed from these two. */
struct look {
	json_t *withdrawn;	/* answer to `withdrawn` */
	const json_t *places;	/* its places */
	json_t *rows;		/* of `ports` */
	/* objects: rows by their names; of nodes, a row with a LID; */
	json_t *by_name, *with_lid;
	/* rows, places, and those of the far ends of isolated links, by "0xGUID/number"; "0xGUID/0" for a whole node */
	json_t *by_port, *by_place, *by_end;
};

static json_int_t number_of(const json_t *row)
{
	return json_integer_value(json_object_get(row, "port"));
}

static void put_key(json_t *object, const json_t *at, json_t *value)
{
	char *key = xasprintf("%s/%lld", rest_str(at, "node"), (long long)number_of(at));

	if (!json_object_get(object, key))
		json_object_set(object, key, value);
	free(key);
}

static const json_t *at_key(const json_t *object, const char *node, json_int_t number)
{
	char *key = xasprintf("%s/%lld", node, (long long)number);
	const json_t *value = json_object_get(object, key);

	free(key);
	return value;
}

static void index_look(struct look *l)
{
	json_t *x, *end;
	size_t i, k;

	json_array_foreach(l->rows, i, x) {
		json_object_set(l->by_name, rest_str(x, "name"), x);
		put_key(l->by_port, x, x);
		if (json_integer_value(json_object_get(x, "lid")))
			json_object_set(l->with_lid, rest_str(x, "node"), x);
	}
	json_array_foreach(l->places, i, x) {
		put_key(l->by_place, x, x);
		json_array_foreach(json_object_get(x, "ends"), k, end)
			put_key(l->by_end, end, x);
	}
}

static bool look_at(const struct rest_call *c, struct look *l, struct rest_answer *a)
{
	*l = (struct look){ .withdrawn = rest_ask(c, "withdrawn", NULL, NULL, a) };
	if (l->withdrawn)
		l->rows = rest_ask_rows(c, "ports", NULL, a);
	if (!l->rows)
		return false;
	l->places = json_object_get(json_object_get(l->withdrawn, "result"), "places");
	l->by_name = json_object();
	l->with_lid = json_object();
	l->by_port = json_object();
	l->by_place = json_object();
	l->by_end = json_object();
	index_look(l);
	return true;
}

static void look_free(struct look *l)
{
	json_decref(l->by_name);
	json_decref(l->with_lid);
	json_decref(l->by_port);
	json_decref(l->by_place);
	json_decref(l->by_end);
	json_decref(l->withdrawn);
	json_decref(l->rows);
}

/* The place that covers a port of a node; NULL: none. */
static const json_t *place_of(const struct look *l, const char *node, json_int_t number)
{
	const json_t *place = at_key(l->by_place, node, number);

	return place ? place : at_key(l->by_place, node, 0);
}

/* The place for which the port is out of use as the far end of an isolated link; NULL: none. */
static const json_t *place_of_end(const struct look *l, const char *node, json_int_t number)
{
	return at_key(l->by_end, node, number);
}

static const json_t *row_of_name(const struct look *l, const char *name)
{
	return json_object_get(l->by_name, name);
}

/* A LID of the node of a port, which for a switch is that of its port 0; 0: none. */
static json_int_t lid_of_node(const struct look *l, const json_t *port)
{
	json_int_t lid = json_integer_value(json_object_get(port, "lid"));
	const json_t *other = lid ? NULL : json_object_get(l->with_lid, rest_str(port, "node"));

	return other ? json_integer_value(json_object_get(other, "lid")) : lid;
}

/* --- the list --- */

static void put_peer(const struct look *l, const json_t *name, json_t *x)
{
	const json_t *far = row_of_name(l, json_is_string(name) ? json_string_value(name) : "");
	json_t *peer, *more;

	if (!far)
		return;
	peer = rest_json_port(far);
	more = json_pack("{s:O, s:O, s:O, s:O, s:o, s:o}", "PeerGUID", json_object_get(peer, "guid"),
			 "PeerPortNumber", json_object_get(peer, "number"),
			 "PeerNode", json_object_get(peer, "system_name"),
			 "PeerPortDname", json_object_get(peer, "dname"),
			 "PeerPort", json_sprintf("%s/%s", rest_str(peer, "system_name"), rest_str(peer, "dname")),
			 "PeerLID", json_sprintf("%lld", (long long)lid_of_node(l, far)));
	json_object_update(x, more);
	json_decref(more);
	json_decref(peer);
}

/* place: NULL if nobody has withdrawn the port. */
static void put_why(const json_t *row, const json_t *place, json_t *x)
{
	bool active = !strcmp(rest_str(row, "state"), "active");
	const char *who = rest_str(place, "on-behalf-of");
	const char *condition = place ? "MANUAL" : active ? "FLAPPING" : "SET_ERR";

	json_object_set_new(x, "State", json_string("Warning"));
	json_object_set_new(x, "Condition", json_string(condition));
	json_object_set_new(x, "StatusTime", json_string(rest_str(place, "since")));
	json_object_set_new(x, "Action", json_string(place ? rest_str(place, "kind") : "held"));
	json_object_set_new(x, "Reason", *who ? json_sprintf("%s (says %s)", rest_str(place, "reason"), who) :
						json_string(rest_str(place, "reason")));
}

/* The place that explains why a port is out of use, of the port or of the far end of its link. */
static const json_t *place_of_row(const struct look *l, const json_t *row)
{
	const json_t *place = place_of(l, rest_str(row, "node"), number_of(row)), *far;

	if (!place)
		place = place_of_end(l, rest_str(row, "node"), number_of(row));
	far = place ? NULL : row_of_name(l, rest_str(row, "peer"));
	return far ? place_of(l, rest_str(far, "node"), number_of(far)) : place;
}

/* Whether the port is out of use: a drained switch keeps the links of its hosts. */
static bool is_unhealthy(const struct look *l, const json_t *row)
{
	const json_t *place = place_of(l, rest_str(row, "node"), number_of(row));

	if (!number_of(row))
		return false;
	if (json_is_true(json_object_get(row, "held")) || place_of_end(l, rest_str(row, "node"), number_of(row)))
		return true;
	return place && (strcmp(rest_str(place, "kind"), "drained") || json_is_integer(json_object_get(place, "port")));
}

static json_t *json_unhealthy(const struct look *l, const json_t *row)
{
	json_t *port = rest_json_port(row);
	json_t *x = json_pack("{s:O, s:O, s:O, s:O, s:O, s:o}", "name", json_object_get(port, "name"),
			      "UnhealthyGUID", json_object_get(port, "guid"),
			      "UnhealthyPortNumber", json_object_get(port, "number"),
			      "UnhealthyNode", json_object_get(port, "system_name"),
			      "UnhealthyPortDname", json_object_get(port, "dname"),
			      "UnhealthyPort",
			      json_sprintf("%s/%s", rest_str(port, "system_name"), rest_str(port, "dname")));

	put_peer(l, json_object_get(row, "peer"), x);
	put_why(row, place_of_row(l, row), x);
	json_decref(port);
	return x;
}

/* The GUID by which clients know a place: that of the port, which stands in its name, or of the node. */
static uint64_t guid_of_place(const json_t *place)
{
	size_t n;
	uint64_t guid = number_of(place) ? rest_port_guid(rest_str(place, "name"), &n) : 0;

	return guid ? guid : strtoull(rest_str(place, "node"), NULL, 16);
}

/* The end of an isolated link that is in the subnet. */
static void put_far_end(const struct look *l, const json_t *place, json_t *x)
{
	const json_t *end;
	size_t i;

	json_array_foreach(json_object_get(place, "ends"), i, end)
		if (strcmp(rest_str(end, "node"), rest_str(place, "node"))) {
			put_peer(l, json_object_get(end, "name"), x);
			return;
		}
}

/* A whole device, as the port 0 of its GUID, or a port that the fabric does not have. */
static json_t *json_place(const struct look *l, const json_t *place)
{
	const char *name = rest_str(place, "name");
	char guid[17];
	json_t *x;

	snprintf(guid, sizeof(guid), "%016" PRIx64, guid_of_place(place));
	x = json_pack("{s:o, s:s, s:I, s:s, s:s}",
		      "name", json_sprintf("%s_%lld", guid, (long long)number_of(place)), "UnhealthyGUID", guid,
		      "UnhealthyPortNumber", number_of(place), "UnhealthyNode", name, "UnhealthyPort", name);
	put_far_end(l, place, x);
	put_why(NULL, place, x);
	return x;
}

/*
 * An array of all unhealthy ports, and of the places that none of them is: with these, all that the array has can be
 * taken into service in one request.
 */
static json_t *unhealthy_ports(const struct look *l)
{
	json_t *list = json_array(), *told = json_object(), *x;
	const json_t *place;
	size_t i;

	json_array_foreach(l->rows, i, x) {
		if (!is_unhealthy(l, x))
			continue;
		json_array_append_new(list, json_unhealthy(l, x));
		place = at_key(l->by_place, rest_str(x, "node"), number_of(x));
		if (place)
			put_key(told, place, x);
	}
	json_array_foreach(l->places, i, x)
		if (!at_key(told, rest_str(x, "node"), number_of(x)))
			json_array_append_new(list, json_place(l, x));
	json_decref(told);
	return list;
}

void rest_unhealthy(const struct rest_call *c, struct rest_answer *a)
{
	struct look l;

	if (look_at(c, &l, a))
		a->body = unhealthy_ports(&l);
	look_free(&l);
}

void rest_unhealthy_one(const struct rest_call *c, struct rest_answer *a)
{
	json_t *list, *x;
	struct look l;
	size_t i;

	if (!look_at(c, &l, a)) {
		look_free(&l);
		return;
	}
	list = unhealthy_ports(&l);
	json_array_foreach(list, i, x)
		if (!a->body && !strcasecmp(rest_str(x, "name"), c->parts[0]))
			a->body = json_incref(x);
	if (!a->body)
		rest_refuse(a, REST_NOT_FOUND, "the port %.60s is not unhealthy, or there is no such port",
			    c->parts[0]);
	json_decref(list);
	look_free(&l);
}

/* --- changes --- */

/* Reads "GUID_n", with 0 for a device as the list has it, or "GUID" if that is a device: number 0. */
static bool read_place(const char *text, bool is_device, uint64_t *guid, unsigned *number)
{
	const char *under = text ? strchr(text, '_') : NULL;
	char *digits = under ? xstrndup(text, (size_t)(under - text)) : xstrdup(text ? text : "");
	size_t n = under ? strspn(under + 1, "0123456789") : 0;
	bool good = rest_parse_guid(digits, guid) && !under == is_device &&
		    (is_device || (n && n <= 3 && !under[1 + n]));

	*number = good && !is_device ? (unsigned)strtoul(under + 1, NULL, 10) : 0;
	free(digits);
	return good && *number < 255;
}

/*
 * The daemon's name of a place, which the caller frees: clients know a port by its own GUID, the
 * daemon by that of its node.  NULL: there is no such port.
 */
static char *name_of(const struct look *l, uint64_t guid, unsigned number)
{
	char *text = xasprintf("0x%016" PRIx64, guid);
	const json_t *row, *place;
	size_t i;

	json_array_foreach(l->rows, i, row) {
		if (number ? number_of(row) != number : strcmp(rest_str(row, "node"), text))
			continue;
		if (strcmp(rest_str(row, "guid"), text) && strcmp(rest_str(row, "node"), text))
			continue;
		free(text);
		return number ? xasprintf("%s/P%u", rest_str(row, "node"), number) : xstrdup(rest_str(row, "node"));
	}
	free(text);
	json_array_foreach(l->places, i, place)
		if (number_of(place) == number && (guid_of_place(place) == guid ||
						   strtoull(rest_str(place, "node"), NULL, 16) == guid))
			return number ? xasprintf("%s/P%u", rest_str(place, "node"), number) :
					xstrdup(rest_str(place, "node"));
	return NULL;
}

static bool append_place(const struct look *l, const char *text, bool is_device, json_t *names, struct rest_answer *a)
{
	unsigned number;
	uint64_t guid;
	char *name;

	if (!read_place(text, is_device, &guid, &number))
		return rest_refuse(a, REST_BAD, "\"%.40s\" is no %s", text ? text : "",
				   is_device ? "GUID of a device" : "port such as \"0002c90300000001_3\"");
	if (json_array_size(names) >= PLACES_MAX)
		return rest_refuse(a, REST_TOO_LARGE, "more than %d ports and devices in one request", PLACES_MAX);
	name = name_of(l, guid, number);
	if (!name)
		return rest_refuse(a, REST_NOT_FOUND, "there is no %s %.40s", is_device ? "device" : "port", text);
	json_array_append_new(names, json_string(name));
	free(name);
	return true;
}

/* Appends the places of a field to names.  A field that is not there has none. */
static bool read_places(const struct rest_call *c, const struct look *l, const char *field, bool is_device,
			json_t *names, struct rest_answer *a)
{
	const json_t *list = json_object_get(c->body, field), *x;
	size_t i;

	if (list && !json_is_array(list))
		return rest_refuse(a, REST_BAD, "%s must be an array", field);
	json_array_foreach(list, i, x)
		if (!append_place(l, json_string_value(x), is_device, names, a))
			return false;
	return true;
}

/* Whether the word of a field is the first of two (1) or the second (0); -1: neither. */
static int choice(const struct rest_call *c, const char *field, const char *first, const char *second)
{
	const char *word = rest_str(c->body, field);

	return !strcasecmp(word, first) ? 1 : !strcasecmp(word, second) ? 0 : -1;
}

/* A refusal by the master is about what the request wants. */
static bool ask_for(const struct rest_call *c, const char *command, json_t *args, struct rest_answer *a)
{
	json_t *answer = rest_ask(c, command, args, NULL, a), *status;
	struct rest_answer of_status = { 0 };

	if (!answer && a->status == REST_NO_DAEMON) {
		status = rest_ask(c, "status", NULL, NULL, &of_status);
		if (!strcmp(rest_str(json_object_get(status, "result"), "state"), "master"))
			a->status = REST_CONFLICT;
		rest_answer_free(&of_status);
		json_decref(status);
	}
	json_decref(answer);
	return answer;
}

/* The place that is why a port or device, as name_of() writes it, is out of use; NULL: none. */
static const json_t *place_of_name(const struct look *l, const char *name)
{
	char *node = xstrndup(name, strcspn(name, "/"));
	json_int_t number = name[strlen(node)] ? strtoll(name + strlen(node) + 2, NULL, 10) : 0;
	const json_t *place = at_key(l->by_place, node, number),
		     *row = place || !number ? NULL : at_key(l->by_port, node, number);

	if (row && is_unhealthy(l, row))
		place = place_of_row(l, row);
	free(node);
	return place;
}

/* How the daemon names it. */
static json_t *json_place_name(const json_t *place)
{
	json_int_t number = number_of(place);

	return number ? json_sprintf("%s/P%lld", rest_str(place, "node"), (long long)number) :
			json_string(rest_str(place, "node"));
}

static bool has_text(const json_t *list, const json_t *text)
{
	const json_t *x;
	size_t i;

	json_array_foreach(list, i, x)
		if (json_equal(x, text))
			return true;
	return false;
}

/*
 * The places to be released for these names, each once: both ends of a link may be named.  A device is
 * not released because of one of its ports.  NULL: refused.
 */
static json_t *places_of_names(const struct look *l, const json_t *names, struct rest_answer *a)
{
	json_t *what = json_array(), *x, *place_name;
	const json_t *place;
	bool good = true;
	size_t i;

	json_array_foreach(names, i, x) {
		place = place_of_name(l, json_string_value(x));
		place_name = place ? json_place_name(place) : NULL;
		if (place && (number_of(place) || json_equal(x, place_name)) && !has_text(what, place_name))
			json_array_append(what, place_name);
		json_decref(place_name);
	}
	json_array_foreach(names, i, x) {
		place = place_of_name(l, json_string_value(x));
		place_name = place ? json_place_name(place) : NULL;
		if (good && place && !has_text(what, place_name))
			good = rest_refuse(a, REST_CONFLICT, "%s is out of use with the device %s",
					   json_string_value(x), json_string_value(place_name));
		json_decref(place_name);
	}
	if (good)
		return what;
	json_decref(what);
	return NULL;
}

/*
 * Takes what is withdrawn into service again, and lets routes use links that flapped.  A port that
 * is in use is not an error.
 */
static bool release(const struct rest_call *c, const struct look *l, const json_t *names, struct rest_answer *a)
{
	json_t *what = places_of_names(l, names, a), *x;
	bool good = what;
	size_t i;

	json_array_foreach(names, i, x)
		if (good && !place_of_name(l, json_string_value(x)))
			good = ask_for(c, "links release", json_pack("{s:O}", "port", x), a);
	if (good && json_array_size(what))
		good = ask_for(c, "release", json_pack("{s:O}", "what", what), a);
	json_decref(what);
	return good;
}

/* The daemon refuses to cut off hosts that are not named, unless the query says force_set=true. */
static bool isolate(const struct rest_call *c, json_t *names, struct rest_answer *a)
{
	json_t *args = json_pack("{s:O, s:b, s:s}", "what", names, "force", rest_query_flag(c, "force_set"),
				 "reason", "unhealthy by REST");

	return ask_for(c, "isolate", args, a);
}

/* The one place that knows what a policy for ports means to the daemon. */
static bool put_policy(const struct rest_call *c, const struct look *l, bool healthy, json_t *names,
		       struct rest_answer *a)
{
	return healthy ? release(c, l, names, a) : isolate(c, names, a);
}

void rest_unhealthy_set(const struct rest_call *c, struct rest_answer *a)
{
	int healthy = choice(c, "ports_policy", "HEALTHY", "UNHEALTHY");
	json_t *names = json_array();
	struct look l = { 0 };
	bool good;

	good = rest_only_fields(c, "ports devices ports_policy action", a) &&
	       (healthy >= 0 ||
		rest_refuse(a, REST_BAD, "ports_policy must be \"HEALTHY\" or \"UNHEALTHY\"")) &&
	       (healthy || !json_object_get(c->body, "action") || choice(c, "action", "isolate", "") == 1 ||
		rest_refuse(a, REST_BAD, "action must be \"isolate\"")) &&
	       look_at(c, &l, a) && read_places(c, &l, "ports", false, names, a) &&
	       read_places(c, &l, "devices", true, names, a);
	if (good && !json_array_size(names))
		good = rest_refuse(a, REST_BAD, "the body must have ports or devices");
	if (good && put_policy(c, &l, healthy, names, a))
		a->body = json_object();
	json_decref(names);
	look_free(&l);
}
