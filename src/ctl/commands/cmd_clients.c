/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `services` and `subscriptions`: what clients registered, one row each, in the order of
 * the registries.  These may change while rows are pulled, so each row is found by the key of the
 * previous one.  Answers never show a ServiceKey.
 */
#include "ctl/command.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "sa/registry/services.h"
#include "sa/registry/subscriptions.h"

/* --- values --- */

static json_t *json_gid(const uint8_t gid[16])
{
	char text[INET6_ADDRSTRLEN];

	return json_string(inet_ntop(AF_INET6, gid, text, sizeof(text)));
}

/* The port's name, or its GUID if the port is gone. */
static json_t *json_guid_port(const struct subnet_state *s, uint64_t guid)
{
	uint32_t port = fabric_find_port(s->f, guid);

	return port == FABRIC_NONE ? json_guid(guid) : json_port(s, port);
}

/* Hex without trailing zeros. */
static json_t *json_hex(const uint8_t *bytes, size_t n)
{
	char text[2 * SERVICE_DATA + 1] = "";

	while (n && !bytes[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return json_string(text);
}

/* Null for the value that means all. */
static json_t *json_unless(uint32_t value, uint32_t all)
{
	return value == all ? json_null() : json_integer(value);
}

/* --- services --- */

struct service_cursor {
	const struct services *db;
	const struct subnet_state *s;
	struct service_key at;
	bool begun;
};

static json_t *json_service(const struct subnet_state *s, const struct service *x)
{
	static const uint8_t none[sizeof(x->secret)];
	char name[sizeof(x->name) + 1] = "";

	memcpy(name, x->name, sizeof(x->name));
	return json_pack("{s:o, s:o, s:i, s:o, s:o, s:o, s:b, s:o}", "service-id",
			 json_guid(x->key.id), "gid", json_gid(x->key.gid), "pkey", x->key.pkey,
			 "lease", json_unless(service_lease(x, clock_mono_us()), SERVICE_FOREVER),
			 "name", json_text(name), "data", json_hex(x->data, sizeof(x->data)),
			 "keyed", memcmp(x->secret, none, sizeof(none)) != 0,
			 "registered-by", json_guid_port(s, x->source));
}

static json_t *next_service(void *rows)
{
	struct service_cursor *c = rows;
	const struct service *x = services_from(c->db, &c->at, c->begun);

	if (!x)
		return NULL;
	c->at = x->key;
	c->begun = true;
	return json_service(c->s, x);
}

void cmd_services(const struct ctl_call *c, struct reply *r)
{
	struct service_cursor *cursor = xcalloc(1, sizeof(*cursor));

	cursor->db = c->env->sa ? c->env->sa->services : NULL;
	cursor->s = c->state;
	reply_result(r, NULL);
	reply_rows(r, "", next_service, free, cursor);
}

/* --- subscriptions --- */

struct subscription_cursor {
	const struct subscriptions *db;
	const struct subnet_state *s;
	uint64_t guid;			/* subscriber of the current row, or of the next, */
	uint32_t qpn;
	size_t i;			/* and the index of its subscription */
};

static bool by_gid(const struct inform *w)
{
	static const uint8_t none[sizeof(w->gid)];

	return memcmp(w->gid, none, sizeof(none)) != 0;
}

static json_t *json_subscription(const struct subnet_state *s, const struct subscriber *who,
				 const struct subscription *x)
{
	const struct inform *w = &x->what;
	json_t *row = json_pack("{s:o, s:o, s:i, s:i, s:b, s:i, s:b}", "guid",
				json_guid(who->guid), "port", json_guid_port(s, who->guid),
				"qpn", (int)who->qpn, "enum", x->number, "trusted", x->trusted,
				"unanswered", (int)who->unanswered, "generic", w->generic);

	json_object_set_new(row, w->generic ? "trap" : "device",
			    json_unless(w->number, INFORM_ALL_TRAPS));
	json_object_set_new(row, "type", json_unless(w->type, INFORM_ALL_TYPES));
	json_object_set_new(row, w->generic ? "producer" : "vendor",
			    json_unless(w->producer, INFORM_ALL_PRODUCERS));
	json_object_set_new(row, "gid", by_gid(w) ? json_gid(w->gid) : json_null());
	json_object_set_new(row, "lids", w->lid_first == INFORM_ALL_LIDS ? json_null() :
			    json_pack("[i, i]", w->lid_first, w->lid_last));
	return row;
}

static json_t *next_subscription(void *rows)
{
	struct subscription_cursor *c = rows;
	const struct subscriber *who = subscriber_from(c->db, c->guid, c->qpn, false);

	if (who && who->guid == c->guid && who->qpn == c->qpn && c->i >= who->list.n)
		who = subscriber_from(c->db, c->guid, c->qpn, true);
	if (!who)
		return NULL;
	if (who->guid != c->guid || who->qpn != c->qpn)
		c->i = 0;
	c->guid = who->guid;
	c->qpn = who->qpn;
	return json_subscription(c->s, who, &who->list.v[c->i++]);
}

void cmd_subscriptions(const struct ctl_call *c, struct reply *r)
{
	struct subscription_cursor *cursor = xcalloc(1, sizeof(*cursor));

	cursor->db = c->env->sa ? c->env->sa->subscriptions : NULL;
	cursor->s = c->state;
	reply_result(r, NULL);
	reply_rows(r, "", next_subscription, free, cursor);
}
