/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes partitions, by `partition change`.
 *
 * What a request of this interface means depends on what there is: a partition may have to be made,
 * the last member takes it along.  So each handler looks at the partition, then asks for the
 * changes, and no other request of the gateway comes in between.  All changes of a request are one
 * request to the daemon, which makes all of them or none.
 */
#include "cli/rest/api/rest_api.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rest/api/pkeys_members.h"
#include "cli/rest/api/rest_ask.h"
#include "cli/rest/api/rest_fields.h"
#include "lib/base/hostlist.h"

#define HOSTS_MAX 8192		/* in one request */
#define QOS_FIELDS "mtu_limit service_level rate_limit"
#define NAME_MAX_LEN 64
#define MADE_PREFIX "api_pkey_"
#define MADE_NAME 24	/* bytes of a name with it */

struct changing {
	const struct rest_call *c;
	struct rest_answer *a;
	struct rest_partition p;
	uint16_t pkey;
	bool begun;
	json_t *changes;	/* of the request to the daemon */
};

/* --- what the daemon cannot do yet --- */

/* The one place that knows which fields the daemon has no counterpart for. */
static bool has_only_possible_fields(const struct rest_call *c, struct rest_answer *a)
{
	static const char *const qos[] = { "mtu_limit", "service_level", "rate_limit" };
	int index0;

	if (!rest_body_flag(c, "index0", 0, &index0, a))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(qos); i++)
		if (json_object_get(c->body, qos[i]))
			return rest_refuse(a, REST_NOT_IMPLEMENTED, "%s: limits of a partition are those of its level "
					   "in the policy", qos[i]);
	if (index0 && !c->choices->ignore_index0)
		return rest_refuse(a, REST_NOT_IMPLEMENTED, "index0: a P_Key gets any free place in the table of a port; "
				   "`index0: ignore' in qosd-rest.yaml takes such requests nevertheless");
	return true;
}

/* --- frame --- */

/* Looks at the partition, with changes by others kept off until finish(). */
static bool begin(struct changing *x, const struct rest_call *c, struct rest_answer *a, uint16_t pkey)
{
	*x = (struct changing){ .c = c, .a = a, .pkey = pkey };
	if (pkey < c->pkeys.lo || pkey > c->pkeys.hi)
		return rest_refuse(a, REST_FORBIDDEN, "pkey: this user may change 0x%x to 0x%x only", c->pkeys.lo,
				   c->pkeys.hi);
	x->changes = json_array();
	x->begun = true;
	c->daemon->begin_change(c->daemon->arg);
	return rest_partition_find(c, pkey, &x->p, a);
}

/* Asks for the changes if everything was good so far, and waits until they are in force. */
static void finish(struct changing *x, bool good)
{
	const struct rest_call *c = x->c;
	json_t *answer = NULL, *args;

	if (good && json_array_size(x->changes)) {
		args = json_pack("{s:s, s:b}", "file", "(REST)", "absent-ok", c->choices->absent_guids);
		answer = rest_ask(c, "partition change", args, json_pack("{s:O}", "changes", x->changes), x->a);
		good = answer != NULL;
	}
	if (x->begun)
		c->daemon->end_change(c->daemon->arg);
	if (answer)
		c->daemon->await(c->daemon->arg, json_integer_value(
			json_object_get(json_object_get(answer, "result"), "change")));
	if (good)
		x->a->body = json_object();
	json_decref(answer);
	json_decref(x->changes);
	rest_partition_free(&x->p);
}

/* --- additions --- */

/* Whether an existing partition's IPoIB is as the body says; a new one gets it unless the body says no. */
static bool put_ipoib(struct changing *x, json_t *change)
{
	int ipoib;

	if (!rest_body_flag(x->c, "ip_over_ib", x->p.name ? x->p.ipoib : true, &ipoib, x->a))
		return false;
	if (!x->p.name)
		json_object_set_new(change, "ipoib", json_boolean(ipoib));
	else if (ipoib != x->p.ipoib)
		return rest_refuse(x->a, REST_CONFLICT, "ip_over_ib: the partition %s exists already, with%s IPoIB", x->p.name,
				   x->p.ipoib ? "" : "out");
	return true;
}

static void made_name(uint16_t pkey, char name[MADE_NAME])
{
	snprintf(name, MADE_NAME, MADE_PREFIX "0x%x", pkey);
}

/* Adds members, an object that this function takes ownership of; the partition is made if it is not there. */
static bool put_addition(struct changing *x, const char *name, json_t *members)
{
	char made[MADE_NAME];
	json_t *change;

	if (x->p.name && name && strcmp(x->p.name, name)) {
		json_decref(members);
		return rest_refuse(x->a, REST_CONFLICT, "partition_name: the P_Key 0x%x is that of the partition %s", x->pkey,
				   x->p.name);
	}
	made_name(x->pkey, made);
	change = json_pack("{s:s, s:i}", "add", x->p.name ? x->p.name : name ? name : made, "pkey", x->pkey);
	json_array_append_new(x->changes, change);
	if (json_object_size(members))
		json_object_set(change, "members", members);
	json_decref(members);
	return put_ipoib(x, change);
}

static bool is_membership(const char *word)
{
	return word && (!strcmp(word, "full") || !strcmp(word, "limited"));
}

static bool read_membership(const struct rest_call *c, const char **word, struct rest_answer *a)
{
	const json_t *v = json_object_get(c->body, "membership");

	*word = v ? json_string_value(v) : "full";
	return is_membership(*word) || rest_refuse(a, REST_BAD, "membership must be \"full\" or \"limited\"");
}

/*
 * The partition's name, NULL if the body has none.  Names that the gateway makes are kept for their
 * P_Keys: a partition with another's would be in the way when that one is made.
 */
static bool read_name(const struct rest_call *c, uint16_t pkey, const char **name, struct rest_answer *a)
{
	const json_t *v = json_object_get(c->body, "partition_name");
	char made[MADE_NAME];

	*name = json_string_value(v);
	if (v && (!*name || !**name || strlen(*name) > NAME_MAX_LEN))
		return rest_refuse(a, REST_BAD, "partition_name must be a string of 1 to %d bytes", NAME_MAX_LEN);
	made_name(pkey, made);
	if (*name && !strncmp(*name, MADE_PREFIX, strlen(MADE_PREFIX)) && strcmp(*name, made))
		return rest_refuse(a, REST_BAD, "partition_name: of the names with " MADE_PREFIX ", the P_Key 0x%x can have "
				   "%s only", pkey, made);
	return true;
}

/* An object from GUIDs to memberships: one for all, or one for each in "memberships". */
static json_t *read_members(const struct rest_call *c, const struct rest_guids *guids, struct rest_answer *a)
{
	const json_t *each = json_object_get(c->body, "memberships");
	json_t *members;
	const char *all;

	if (!read_membership(c, &all, a))
		return NULL;
	if (each && json_array_size(each) != guids->n) {
		rest_refuse(a, REST_BAD, "memberships must be an array with one word for each of guids");
		return NULL;
	}
	members = json_object();
	for (size_t i = 0; i < guids->n; i++) {
		const char *word = each ? json_string_value(json_array_get(each, i)) : all;
		char who[REST_WHO_GUID];

		if (!is_membership(word)) {
			rest_refuse(a, REST_BAD, "memberships: entry %zu must be \"full\" or \"limited\"", i + 1);
			json_decref(members);
			return NULL;
		}
		rest_who(guids->v[i], who);
		json_object_set_new(members, who, json_string(word));
	}
	return members;
}

/* POST and PUT: with `only`, the members are those of the body and no others. */
static void add_guids(const struct rest_call *c, struct rest_answer *a, bool only)
{
	struct rest_guids guids = { 0 };
	struct changing x = { 0 };
	json_t *members = NULL;
	const char *name;
	uint16_t pkey;
	bool good;

	good = rest_only_fields(c, "pkey guids membership memberships index0 ip_over_ib partition_name " QOS_FIELDS, a) &&
	       rest_body_pkey(c, &pkey, a) && read_name(c, pkey, &name, a) && rest_body_guids(c, &guids, a) &&
	       has_only_possible_fields(c, a) && (members = read_members(c, &guids, a));
	if (good) {
		good = begin(&x, c, a, pkey);
		if (good && only && x.p.name)
			rest_put_removal(&x.p, rest_members_but(&x.p, members), false, x.changes);
		good = good && put_addition(&x, name, json_incref(members));
		finish(&x, good);
	}
	json_decref(members);
	vec_free(&guids);
}

void rest_pkeys_add(const struct rest_call *c, struct rest_answer *a)
{
	add_guids(c, a, false);
}

void rest_pkeys_set(const struct rest_call *c, struct rest_answer *a)
{
	add_guids(c, a, true);
}

/* An empty partition. */
void rest_pkeys_new(const struct rest_call *c, struct rest_answer *a)
{
	struct changing x;
	const char *name, *membership;
	uint16_t pkey;
	bool good;

	if (!rest_only_fields(c, "pkey partition_name index0 ip_over_ib membership " QOS_FIELDS, a) ||
	    !rest_body_pkey(c, &pkey, a) || !read_name(c, pkey, &name, a) ||
	    !read_membership(c, &membership, a) || !has_only_possible_fields(c, a))
		return;
	good = begin(&x, c, a, pkey);
	if (good && x.p.name)
		good = rest_refuse(a, REST_CONFLICT, "the P_Key 0x%x is that of the partition %s", pkey, x.p.name);
	finish(&x, good && put_addition(&x, name, json_object()));
}

void rest_pkeys_qos(const struct rest_call *c, struct rest_answer *a)
{
	uint16_t pkey;

	if (rest_only_fields(c, "pkey " QOS_FIELDS, a) && rest_body_pkey(c, &pkey, a) && has_only_possible_fields(c, a))
		rest_refuse(a, REST_BAD, "the body must have some of: " QOS_FIELDS);
}

/* --- hosts --- */

/* A host's name is a plain word: the daemon would take others for patterns, groups or ports. */
static bool read_hosts(const char *text, struct hostlist *hosts, struct rest_answer *a)
{
	struct buf err = { 0 };
	bool good = hostlist_parse(text, HOSTS_MAX, hosts, &err);

	if (!good)
		rest_refuse(a, REST_BAD, "hosts_names: %s", err.s);
	for (size_t i = 0; good && i < hosts->n; i++) {
		const char *s = hosts->v[i];

		while (isalnum((unsigned char)*s) || (*s && strchr("._-", *s)))
			s++;
		if (*s || s == hosts->v[i])
			good = rest_refuse(a, REST_BAD, "hosts_names: \"%.60s\" is no host name", hosts->v[i]);
	}
	buf_free(&err);
	return good;
}

void rest_pkeys_hosts(const struct rest_call *c, struct rest_answer *a)
{
	const char *text = json_string_value(json_object_get(c->body, "hosts_names")), *membership = NULL;
	struct hostlist hosts = { 0 };
	json_t *members = json_object();
	struct changing x;
	uint16_t pkey;
	bool good;

	good = rest_only_fields(c, "pkey hosts_names membership index0 ip_over_ib " QOS_FIELDS, a) &&
	       rest_body_pkey(c, &pkey, a) && read_membership(c, &membership, a) && has_only_possible_fields(c, a) &&
	       (text || rest_refuse(a, REST_BAD, "hosts_names must be a string such as \"node[001-004],node7\"")) &&
	       read_hosts(text, &hosts, a);
	for (size_t i = 0; good && i < hosts.n; i++) {
		char *who = xasprintf("host:%s", hosts.v[i]);

		json_object_set_new(members, who, json_string(membership));
		free(who);
	}
	hostlist_free(&hosts);
	if (good) {
		good = begin(&x, c, a, pkey);
		finish(&x, good && put_addition(&x, NULL, json_incref(members)));
	}
	json_decref(members);
}

/* --- removals --- */

/* Removes members, an array that this function takes ownership of; NULL: the request is refused. */
static void remove_listed(struct changing *x, json_t *whos)
{
	bool good = whos;

	if (good)
		rest_put_removal(&x->p, json_incref(whos), true, x->changes);
	json_decref(whos);
	finish(x, good);
}

static bool must_be_there(struct changing *x)
{
	return x->p.name || rest_refuse(x->a, REST_NOT_FOUND, "there is no partition with the P_Key 0x%x", x->pkey);
}

/* A client that lost the answer repeats this request: then there is nothing to remove, which is no error. */
void rest_pkeys_remove_guids(const struct rest_call *c, struct rest_answer *a)
{
	struct rest_guids guids = { 0 };
	struct changing x;
	uint16_t pkey;
	bool good;

	if (rest_only_fields(c, "pkey guids", a) && rest_body_pkey(c, &pkey, a) && rest_body_guids(c, &guids, a)) {
		good = begin(&x, c, a, pkey);
		remove_listed(&x, good ? rest_members_by_guid(c, &x.p, &guids, a) : NULL);
	}
	vec_free(&guids);
}

void rest_pkeys_delete_guids(const struct rest_call *c, struct rest_answer *a)
{
	struct rest_guids guids = { 0 };
	struct changing x;
	uint16_t pkey;
	bool good;

	if (rest_read_pkey(c->parts[0], &pkey, a) && rest_read_guids(c->parts[1], &guids, a)) {
		good = begin(&x, c, a, pkey) && must_be_there(&x);
		remove_listed(&x, good ? rest_members_by_guid(c, &x.p, &guids, a) : NULL);
	}
	vec_free(&guids);
}

void rest_pkeys_delete_hosts(const struct rest_call *c, struct rest_answer *a)
{
	struct hostlist hosts = { 0 };
	struct changing x;
	uint16_t pkey;
	bool good;

	if (rest_read_pkey(c->parts[0], &pkey, a) && read_hosts(c->parts[1], &hosts, a)) {
		good = begin(&x, c, a, pkey) && must_be_there(&x);
		remove_listed(&x, good ? rest_members_by_host(c, &x.p, &hosts, a) : NULL);
	}
	hostlist_free(&hosts);
}

void rest_pkeys_delete(const struct rest_call *c, struct rest_answer *a)
{
	struct changing x;
	uint16_t pkey;
	bool good;

	if (!rest_read_pkey(c->parts[0], &pkey, a))
		return;
	good = begin(&x, c, a, pkey) && must_be_there(&x);
	if (good && !x.p.whole && !json_array_size(x.p.members))
		good = rest_refuse(a, REST_CONFLICT, "the partition %s is of the policy's file, and nothing was added to it",
				   x.p.name);
	if (good)
		json_array_append_new(x.changes, json_pack("{s:s}", "remove", x.p.name));
	finish(&x, good);
}
