/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes partitions, by `partition change`.
 *
 * What a request of this interface means depends on the partitions that exist: it may have to
 * create one, and the last member that it removes ends one.  So each handler looks at the
 * partition, then asks for the changes, and no other request of the gateway comes in between.  All
 * changes of a request are one request to the daemon, which makes all of them or none.
 */
#include "cli/rest/api/rest_api.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rest/api/pkeys_members.h"
#include "cli/rest/api/pkeys_qos.h"
#include "cli/rest/api/rest_ask.h"
#include "cli/rest/api/rest_fields.h"
#include "lib/base/hostlist.h"

#define HOSTS_MAX 8192		/* in one request */
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

/* --- index 0 --- */

/* Whether the members get the P_Key at index 0 of their tables, as the body and the settings say. */
static bool read_index0(const struct rest_call *c, bool *at_0, struct rest_answer *a)
{
	int index0;

	if (!rest_body_flag(c, "index0", 0, &index0, a))
		return false;
	if (index0 && c->choices->index0 == REST_INDEX0_REFUSE)
		return rest_refuse(a, REST_FORBIDDEN,
				   "index0: `index0: refuse' in qosd-rest.yaml leaves the default partition's "
				   "P_Key there");
	*at_0 = index0 && c->choices->index0 == REST_INDEX0_SET;
	return true;
}

/* The daemon's word for a membership. */
static json_t *json_membership(const char *word, bool at_0)
{
	return json_sprintf("%s%s", word, at_0 ? "@0" : "");
}

/* --- frame --- */

/* Looks at the partition, with changes by others kept off until finish(). */
static bool begin(struct changing *x, const struct rest_call *c, struct rest_answer *a, uint16_t pkey)
{
	*x = (struct changing){ .c = c, .a = a, .pkey = pkey };
	if (pkey < c->pkeys.lo || pkey > c->pkeys.hi)
		return rest_refuse(a, REST_FORBIDDEN, "pkey: this user may change 0x%x to 0x%x only", c->pkeys.lo,
				   c->pkeys.hi);
	x->begun = c->daemon->begin_change(c->daemon->arg);
	if (!x->begun)
		return rest_refuse(a, REST_NO_DAEMON,
				   "other changes of partitions take too long; nothing of this one was done");
	x->changes = json_array();
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

static bool must_be_there(struct changing *x)
{
	return x->p.name || rest_refuse(x->a, REST_NOT_FOUND, "there is no partition with the P_Key 0x%x", x->pkey);
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
		return rest_refuse(x->a, REST_CONFLICT,
				   "ip_over_ib: the partition %s exists already, with%s IPoIB", x->p.name,
				   x->p.ipoib ? "" : "out");
	return true;
}

static void made_name(uint16_t pkey, char name[MADE_NAME])
{
	snprintf(name, MADE_NAME, MADE_PREFIX "0x%x", pkey);
}

/* Removes values that the client has only read, as GET tells them.  False: refused. */
static bool drop_told(struct changing *x, json_t *own)
{
	json_t *answer = rest_ask(x->c, "partition show", json_pack("{s:i}", "pkey", x->pkey), NULL, x->a), *told;

	told = rest_qos_of(json_array_get(json_object_get(json_object_get(answer, "result"), "partitions"), 0));
	rest_drop_told(own, told);
	json_decref(told);
	json_decref(answer);
	return answer;
}

/* Gives a partition that is there the values of rest_read_qos(). */
static bool put_qos(struct changing *x, json_t *own)
{
	json_t *change;

	if (json_object_get(own, "mtu") && json_object_get(own, "rate") && !drop_told(x, own))
		return false;
	if (!json_object_size(own))
		return true;
	if (!x->p.whole)
		return rest_refuse(x->a, REST_CONFLICT,
				   "the policy file defines the partition %s, and its level determines SL, "
				   "MTU and rate: change the policy instead",
				   x->p.name);
	change = json_pack("{s:s}", "set", x->p.name);
	json_object_update(change, own);
	json_array_append_new(x->changes, change);
	return true;
}

/* What a request adds. */
struct addition {
	const char *name;	/* of the partition; NULL: none is given */
	json_t *members;	/* object of memberships, perhaps empty */
	json_t *own;		/* of rest_read_qos() */
};

/* The partition is made if it is not there. */
static bool put_addition(struct changing *x, const struct addition *add)
{
	const char *is = x->p.name, *name = add->name;
	char made[MADE_NAME];
	json_t *change;

	if (is && name && strcmp(is, name))
		return rest_refuse(x->a, REST_CONFLICT,
				   "partition_name: the P_Key 0x%x is that of the partition %s", x->pkey, is);
	if (is && json_object_size(add->own) && !put_qos(x, add->own))
		return false;
	made_name(x->pkey, made);
	change = json_pack("{s:s, s:i}", "add", is ? is : name ? name : made, "pkey", x->pkey);
	json_array_append_new(x->changes, change);
	if (!is)
		json_object_update(change, add->own);
	if (json_object_size(add->members))
		json_object_set(change, "members", add->members);
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
		return rest_refuse(a, REST_BAD,
				   "partition_name: of the names with " MADE_PREFIX ", the P_Key 0x%x can have "
				   "%s only",
				   pkey, made);
	return true;
}

/* An object from GUIDs to memberships: one for all, or one for each in "memberships". */
static json_t *read_members(const struct rest_call *c, const struct rest_guids *guids, struct rest_answer *a)
{
	const json_t *each = json_object_get(c->body, "memberships");
	json_t *members;
	const char *all;
	bool at_0;

	if (!read_membership(c, &all, a) || !read_index0(c, &at_0, a))
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
		json_object_set_new(members, who, json_membership(word, at_0));
	}
	return members;
}

/* POST and PUT: with `only`, the members are those of the body and no others. */
static void add_guids(const struct rest_call *c, struct rest_answer *a, bool only)
{
	struct rest_guids guids = { 0 };
	struct addition add = { 0 };
	struct changing x;
	uint16_t pkey;
	bool good;

	good = rest_only_fields(
		       c, "pkey guids membership memberships index0 ip_over_ib partition_name " REST_QOS_FIELDS,
		       a) &&
	       rest_body_pkey(c, &pkey, a) && read_name(c, pkey, &add.name, a) &&
	       rest_body_guids(c, &guids, a) && (add.own = rest_read_qos(c, a)) &&
	       (add.members = read_members(c, &guids, a));
	if (good) {
		good = begin(&x, c, a, pkey);
		if (good && only && x.p.name)
			rest_put_removal(&x.p, rest_members_but(&x.p, add.members), false, x.changes);
		finish(&x, good && put_addition(&x, &add));
	}
	json_decref(add.members);
	json_decref(add.own);
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

/* An empty partition.  It has no members, so index0 has no effect: each addition states it again. */
void rest_pkeys_new(const struct rest_call *c, struct rest_answer *a)
{
	struct addition add = { 0 };
	const char *membership;
	struct changing x;
	uint16_t pkey;
	bool good, at_0;

	if (!rest_only_fields(c, "pkey partition_name index0 ip_over_ib membership " REST_QOS_FIELDS, a) ||
	    !rest_body_pkey(c, &pkey, a) || !read_name(c, pkey, &add.name, a) ||
	    !read_membership(c, &membership, a) || !read_index0(c, &at_0, a) || !(add.own = rest_read_qos(c, a)))
		return;
	good = begin(&x, c, a, pkey);
	if (good && x.p.name)
		good = rest_refuse(a, REST_CONFLICT, "the P_Key 0x%x is that of the partition %s", pkey, x.p.name);
	finish(&x, good && put_addition(&x, &add));
	json_decref(add.own);
}

/* Values that are not given stay. */
void rest_pkeys_qos(const struct rest_call *c, struct rest_answer *a)
{
	struct changing x = { 0 };
	uint16_t pkey;
	json_t *own;

	if (!rest_only_fields(c, "pkey " REST_QOS_FIELDS, a) || !rest_body_pkey(c, &pkey, a) ||
	    !(own = rest_read_qos(c, a)))
		return;
	if (json_object_size(own))
		finish(&x, begin(&x, c, a, pkey) && must_be_there(&x) && put_qos(&x, own));
	else
		rest_refuse(a, REST_BAD, "the body must have some of: " REST_QOS_FIELDS);
	json_decref(own);
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
			good = rest_refuse(a, REST_BAD, "hosts_names: \"%.60s\" is not a host name", hosts->v[i]);
	}
	buf_free(&err);
	return good;
}

/* An object from hosts to memberships; NULL: the body is wrong. */
static json_t *read_host_members(const struct rest_call *c, struct rest_answer *a)
{
	const char *text = json_string_value(json_object_get(c->body, "hosts_names")), *membership;
	struct hostlist hosts = { 0 };
	json_t *members = NULL;
	bool at_0;

	if (!read_membership(c, &membership, a) || !read_index0(c, &at_0, a))
		return NULL;
	if (!text) {
		rest_refuse(a, REST_BAD, "hosts_names must be a string such as \"node[001-004],node7\"");
		return NULL;
	}
	if (read_hosts(text, &hosts, a))
		members = json_object();
	for (size_t i = 0; members && i < hosts.n; i++) {
		char *who = xasprintf("host:%s", hosts.v[i]);

		json_object_set_new(members, who, json_membership(membership, at_0));
		free(who);
	}
	hostlist_free(&hosts);
	return members;
}

void rest_pkeys_hosts(const struct rest_call *c, struct rest_answer *a)
{
	struct addition add = { 0 };
	struct changing x = { 0 };
	uint16_t pkey;

	if (rest_only_fields(c, "pkey hosts_names membership index0 ip_over_ib " REST_QOS_FIELDS, a) &&
	    rest_body_pkey(c, &pkey, a) && (add.own = rest_read_qos(c, a)) && (add.members = read_host_members(c, a)))
		finish(&x, begin(&x, c, a, pkey) && put_addition(&x, &add));
	json_decref(add.members);
	json_decref(add.own);
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

/* A client that lost the answer repeats this request: then there is nothing to remove, which is not an error. */
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
		good = rest_refuse(a, REST_CONFLICT,
				   "the policy file defines the partition %s, and nothing was added to it",
				   x.p.name);
	if (good)
		json_array_append_new(x.changes, json_pack("{s:s}", "remove", x.p.name));
	finish(&x, good);
}
