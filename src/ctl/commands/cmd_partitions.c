/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `partition change`, `partition show` and `partitions`.  It turns requests into changes of
 * the dynamic partitions (sa/registry/dynamic_partitions.h), and the registry into JSON.
 *
 * The body of a change is JSON and may be long, so a thread parses it.  The loop's thread applies
 * it to a copy of the registry, which is on disk, and with the standbys if they accept it in time,
 * before the client gets the answer.
 */
#include "ctl/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/member_ports.h"
#include "ctl/foresight.h"
#include "lib/base/alloc.h"
#include "lib/iba/mgid.h"
#include "lib/iba/units.h"
#include "sa/registry/dynamic_partitions.h"
#include "sa/registry/groups.h"
#include "sa/registry/partition_lines.h"
#include "sa/registry/present_members.h"

static const struct src_pos nowhere;

static bool has_registry(const struct ctl_call *c, struct reply *r)
{
	if (!c->env->dynamic || !c->env->policies)
		reply_error(r, NULL, "this daemon has no dynamic partitions");
	return c->env->dynamic && c->env->policies;
}

/* --- change: the body --- */

struct request {
	const struct ctl_env *env;
	uint16_t pkey_lo, pkey_hi;	/* those of env at the begin, for a thread */
	struct kept_asker who;
	char *file;			/* name of the text; NULL: not known */
	struct buf text;
	json_t *body;
	struct findings found;
	VEC(struct dynamic_change) changes;
	struct hostlist names;		/* texts of members that host names stand for */
	bool absent_ok, force;
	size_t absent;			/* members that the fabric does not have and that were refused */
	struct shared_policy *base;	/* in force at the time of the request; a reference */
	struct foresight foresight;
	const char *when;		/* constant: in_force_when(); NULL: unknown, or nothing changed */
	/* outcome of the changes */
	json_t *result;			/* NULL: not applied, and err may say why */
	struct buf err;
	bool waits;			/* for standbys */
	struct ctl_standbys standbys;
	void (*done)(void *job);
	void *job;
};

static void complain(struct request *q, size_t change, const char *fmt, const char *what)
	__attribute__((format(printf, 3, 0)));
static void complain(struct request *q, size_t change, const char *fmt, const char *what)
{
	struct buf text = { 0 };

	buf_printf(&text, "change %zu: ", change);
	buf_printf(&text, fmt, what);
	findings_add(&q->found, SEV_ERROR, NULL, nowhere, "%s", text.s);
	buf_free(&text);
}

static bool read_pkey(const json_t *v, uint16_t *pkey)
{
	const char *s = json_string_value(v);
	json_int_t n = json_integer_value(v);
	char *end;

	if (s && *s >= '0' && *s <= '9') {
		errno = 0;
		n = strtoll(s, &end, 0);
		if (*end || errno)
			return false;
	} else if (!json_is_integer(v)) {
		return false;
	}
	if (n <= 0 || n > UINT16_MAX)
		return false;
	*pkey = (uint16_t)n;
	return true;
}

static void read_ipoib(struct request *q, size_t number, const json_t *v,
		       struct dynamic_change *c)
{
	c->ipoib = json_is_true(v) ? IPOIB_YES : IPOIB_NO;
	if (json_is_boolean(v))
		return;
	c->ipoib = IPOIB_YES;
	c->ipoib_level = json_string_value(json_object_get(v, "level"));
	if (!c->ipoib_level || json_object_size(v) != 1)
		complain(q, number, "%s must be true, false or {\"level\": name}", "ipoib");
}

static void read_members(struct request *q, size_t number, json_t *v, struct dynamic_change *c)
{
	const char *who;
	json_t *x;
	size_t i;

	c->members = xcalloc(json_array_size(v) + json_object_size(v), sizeof(*c->members));
	json_array_foreach(v, i, x)
		c->members[c->n_members++].who = json_string_value(x);
	json_object_foreach(v, who, x) {
		const char *word = json_string_value(x);
		bool index0 = false;
		enum membership m = word ? dynamic_membership(word, &index0) : MEMBER_NONE;

		if (m == MEMBER_NONE)
			complain(q, number, "member \"%.80s\" must be full, limited or both, or one of "
				 "them with @0", who);
		c->members[c->n_members++] = (struct dynamic_who){ who, m, index0 };
	}
	if (!c->n_members)
		complain(q, number, "%s must be an object that maps each member to its membership, or an "
				"array of members",
			 "members");
}

static void read_text(struct request *q, size_t number, const char *key, const json_t *v,
		      const char **text)
{
	*text = json_string_value(v);
	if (!*text)
		complain(q, number, "%s must be a string", key);
}

/* SL, MTU and rate of the partition itself, as numbers or words; null and "none": that of the level. */
static const struct own_key {
	const char *key;
	enum dynamic_own bit;
	const char *(*parse)(struct policy_own *own, const char *word);
} own_keys[] = {
	{ "sl", OWN_SL, dynamic_own_sl },
	{ "mtu", OWN_MTU, dynamic_own_mtu },
	{ "rate", OWN_RATE, dynamic_own_rate },
};

/* False: it is no such key. */
static bool read_own(struct request *q, size_t number, const char *key, const json_t *v,
		     struct dynamic_change *c)
{
	const struct own_key *k = own_keys;
	char word[40] = "";
	const char *why;

	while (k < own_keys + ARRAY_SIZE(own_keys) && strcmp(key, k->key) != 0)
		k++;
	if (k == own_keys + ARRAY_SIZE(own_keys))
		return false;
	c->own_given |= k->bit;
	if (json_is_string(v))
		snprintf(word, sizeof(word), "%s", json_string_value(v));
	else if (json_is_number(v))
		snprintf(word, sizeof(word), "%.10g", json_number_value(v));
	if (json_is_null(v) || !strcmp(word, "none"))
		return true;
	why = k->parse(&c->own, word);
	if (why) {
		struct buf text = { 0 };

		buf_printf(&text, "%s \"%s\" %s", key, word, why);
		complain(q, number, "%s", text.s);
		buf_free(&text);
	}
	return true;
}

static bool is_kind(const char *key)
{
	return !strcmp(key, "add") || !strcmp(key, "remove") || !strcmp(key, "set");
}

/* Keys that only an addition has. */
static bool read_of_addition(struct request *q, size_t number, const char *key, json_t *v,
			     struct dynamic_change *c)
{
	if (!strcmp(key, "ipoib"))
		read_ipoib(q, number, v, c);
	else if (strcmp(key, "pkey") != 0)
		return false;
	else if (!read_pkey(v, &c->pkey))
		complain(q, number, "%s must be a number from 1 to 0x7fff", "pkey");
	return true;
}

static void read_change(struct request *q, size_t number, json_t *v)
{
	struct dynamic_change c = { 0 };
	bool add = json_object_get(v, "add"), remove = json_object_get(v, "remove");
	bool set = json_object_get(v, "set");
	const char *key;
	json_t *x;

	c.kind = remove ? DYNAMIC_REMOVE : set ? DYNAMIC_SET : DYNAMIC_ADD;
	if (add + remove + set != 1)
		complain(q, number, "%s", "it must have one of add, set and remove");
	json_object_foreach(v, key, x) {
		if (is_kind(key))
			read_text(q, number, key, x, &c.name);
		else if (!set && !strcmp(key, "members"))
			read_members(q, number, x, &c);
		else if (remove)
			complain(q, number, "remove has no \"%.80s\"", key);
		else if (!strcmp(key, "level"))
			read_text(q, number, key, x, &c.level);
		else if (set && !strcmp(key, "ipoib-level"))
			read_text(q, number, key, x, &c.ipoib_level);
		else if (!read_own(q, number, key, x, &c) &&
			 !(add && read_of_addition(q, number, key, x, &c)))
			complain(q, number, "unknown key \"%.80s\"", key);
	}
	if (c.kind == DYNAMIC_SET && !c.own_given && !c.level && !c.ipoib_level)
		complain(q, number, "%s", "set needs at least one of sl, mtu, rate, level and ipoib-level");
	*vec_push(&q->changes) = c;
}

/*
 * Judges the partitions as the request makes them.  The loop's thread applies the request anew:
 * other requests may have come in between.
 */
static void foresee_change(struct request *q)
{
	struct dynamic_partitions *next = dynamic_copy(q->foresight.dynamic);
	struct findings found = { 0 };

	if (dynamic_apply(next, q->base->p, q->pkey_lo, q->pkey_hi, q->changes.v,
			  q->changes.n, &found) && !found.count[SEV_ERROR])
		foresight_judge_with(&q->foresight, q->base->p, next);
	findings_free(&found);
	dynamic_free(next);
}

static void change_work(void *arg)
{
	struct request *q = arg;
	json_error_t why;
	json_t *list, *v;
	size_t i;

	q->body = json_loadb(q->text.n ? q->text.s : "", q->text.n, JSON_REJECT_DUPLICATES, &why);
	list = json_object_get(q->body, "changes");
	if (!q->body)
		findings_add(&q->found, SEV_ERROR, q->file,
			     (struct src_pos){ (uint32_t)why.line, (uint32_t)why.column },
			     "it is not JSON: %s", why.text);
	else if (!json_is_array(list) || json_object_size(q->body) != 1)
		findings_add(&q->found, SEV_ERROR, q->file, nowhere,
			     "it must be {\"changes\": [ … ]} and nothing else");
	json_array_foreach(list, i, v)
		read_change(q, i + 1, v);
	q->absent = dynamic_resolve(q->foresight.dynamic, q->base->p, q->foresight.now->f, q->changes.v,
				    q->changes.n, q->absent_ok, &q->names, &q->found);
	if (!q->found.count[SEV_ERROR])
		foresee_change(q);
}

/* --- change: in the loop's thread --- */

/* The P_Key of each partition that was added to or set; the daemon may have assigned it. */
static json_t *json_added(const struct request *q, const struct dynamic_partitions *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < q->changes.n; i++) {
		const char *name = q->changes.v[i].name;
		const struct dynamic_partition *e = dynamic_find(x, name);

		if (e && q->changes.v[i].kind != DYNAMIC_REMOVE)
			json_array_append_new(list, json_pack("{s:o, s:i}", "partition",
							      json_text(name), "pkey", e->pkey));
	}
	return list;
}

static void on_standbys(void *arg, const struct ctl_standbys *s)
{
	struct request *q = arg;

	q->waits = false;
	q->standbys = *s;
	q->done(q->job);
}

/* Number of broadcast groups that partitions need and that are not made yet. */
static uint32_t awaited_broadcasts(const struct mcast_db *db, const struct policy *base,
				   const struct dynamic_partitions *now)
{
	uint32_t n = 0;

	for (size_t i = 0; i < base->n_partitions; i++)
		n += mcast_missing_broadcasts(db, base->partitions[i].pkey,
					      policy_ipoib_scopes(&base->partitions[i]));
	for (size_t i = 0; i < now->v.n; i++)
		if (now->v.v[i].whole && now->v.v[i].ipoib)
			n += mcast_missing_broadcasts(db, now->v.v[i].pkey, 1u << SCOPE_LINK_LOCAL);
	return n;
}

/*
 * A partition with IPoIB is useless without its broadcast group, which takes an MLID of its own: a
 * request for more than are free is an error.
 */
static void check_broadcasts(struct request *q, const struct policy *base,
			     const struct dynamic_partitions *now, const struct dynamic_partitions *next)
{
	const struct mcast_db *db = q->env->sa ? q->env->sa->mcast : NULL;
	struct mcast_usage u = db ? mcast_usage(db) : (struct mcast_usage){ 0 };
	uint32_t awaited = u.limit ? awaited_broadcasts(db, base, now) : 0;
	uint32_t free_mlids = u.limit > u.mlids + awaited ? u.limit - u.mlids - awaited : 0;

	for (size_t i = 0; u.limit && i < q->changes.n; i++) {
		const char *name = q->changes.v[i].name;
		const struct dynamic_partition *e = name ? dynamic_find(next, name) : NULL;

		if (!e || !e->whole || !e->ipoib || dynamic_find(now, name))
			continue;
		if (!free_mlids)
			complain(q, i + 1, "partition \"%.80s\" cannot have its IPoIB broadcast group "
				 "because no multicast LID is free: see qosd-ctl holdings", name);
		else
			free_mlids--;
	}
}

/* Returns false if nothing has changed, with the reason in q. */
static bool apply(struct request *q)
{
	const struct dynamic_partitions *now = q->env->dynamic(q->env->arg);
	const struct shared_policy *base = policies_in_force(q->env->policies);
	struct dynamic_partitions *next = dynamic_copy(now);
	/* even after errors, so that all of them are reported */
	size_t changed = dynamic_apply(next, base->p, q->pkey_lo, q->pkey_hi,
				       q->changes.v, q->changes.n, &q->found);

	check_broadcasts(q, base->p, now, next);
	if (q->found.count[SEV_ERROR]) {
		dynamic_free(next);
		buf_puts(&q->err, "the request was refused; nothing has changed");
		return false;
	}
	if (changed && foresight_refuses(&q->foresight, q->force, &q->found)) {
		dynamic_free(next);
		buf_puts(&q->err, "the request was refused; nothing has changed" FORESIGHT_FORCE);
		return false;
	}
	next->change++;
	q->when = changed ? in_force_when(q->env) : NULL;
	if (!changed) {
		dynamic_free(next);
	} else if (q->env->dynamic_set(q->env->arg, next, asker_kept(&q->who), &q->err)) {
		now = next;
	} else {
		buf_puts(&q->err, "; nothing has changed");
		return false;
	}
	q->result = json_pack("{s:I, s:I, s:o}", "changed", (json_int_t)changed,
			      "change", (json_int_t)now->change, "partitions", json_added(q, now));
	return true;
}

/*
 * A client that gets the answer may rely on the change even if another manager becomes master: so
 * the answer waits for the standbys.  A repeated request without changes waits as well.
 */
static void change_apply(void *arg, void (*done)(void *job), void *job)
{
	struct request *q = arg;
	const struct ctl_env *env = q->env;

	q->done = done;
	q->job = job;
	if (env->sa && !env->sa->state) {
		buf_puts(&q->err, "another subnet manager has become master; nothing has changed");
		done(job);
	} else if (apply(q) && env->dynamic_await) {
		q->waits = true;
		env->dynamic_await(env->arg, on_standbys, q);
	} else {
		done(job);
	}
}

static void change_answer(void *arg, struct reply *r)
{
	struct request *q = arg;
	const struct ctl_standbys *s = &q->standbys;

	if (!q->result) {
		reply_error(r, q->found.n ?
			    json_pack("{s:o, s:I}", "findings", json_findings(&q->found),
				      "absent", (json_int_t)q->absent) : NULL,
			    "%s", q->err.s);
		return;
	}
	if (s->deposed) {
		reply_error(r, NULL, "another subnet manager has become master and may not have the "
			    "change: check there");
		return;
	}
	if (s->without)
		findings_add(&q->found, SEV_WARNING, NULL, nowhere, "the standby 0x%016" PRIx64 " has not "
			     "replicated it yet: until then, a failover would lose it", s->without);
	json_object_set_new(q->result, "standbys", json_integer(s->there));
	json_object_set_new(q->result, "standbys-with-it", json_integer(s->have_it));
	json_object_set_new(q->result, "findings", json_findings(&q->found));
	json_object_set_new(q->result, "fabric-findings", json_foresight(&q->foresight));
	json_object_set_new(q->result, "in-force-when", q->when ? json_string(q->when) : json_null());
	reply_result(r, json_incref(q->result));
}

static void change_release(void *arg)
{
	struct request *q = arg;

	if (q->waits)
		q->env->dynamic_forget(q->env->arg, q);
	for (size_t i = 0; i < q->changes.n; i++)
		free(q->changes.v[i].members);
	vec_free(&q->changes);
	hostlist_free(&q->names);
	json_decref(q->body);
	json_decref(q->result);
	kept_asker_free(&q->who);
	free(q->file);
	buf_free(&q->err);
	buf_free(&q->text);
	findings_free(&q->found);
	foresight_free(&q->foresight);
	shared_policy_unref(q->base);
	free(q);
}

void cmd_partition_change(const struct ctl_call *c, struct reply *r)
{
	static const struct job_ops ops = {
		change_work, change_apply, change_answer, change_release,
	};
	struct request *q;

	if (!has_registry(c, r))
		return;
	q = xcalloc(1, sizeof(*q));
	q->env = c->env;
	q->pkey_lo = c->env->pkey_lo;
	q->pkey_hi = c->env->pkey_hi;
	q->who = asker_keep(c->view->peer.who);
	q->absent_ok = arg_flag(c, "absent-ok");
	q->force = arg_flag(c, "force");
	q->base = shared_policy_ref(policies_in_force(c->env->policies));
	foresight_begin(&q->foresight, c);
	q->file = xstrdup_or_null(arg_text(c, "file"));
	q->text = *c->view->file;
	*c->view->file = (struct buf){ 0 };
	reply_later(r, c->view->jobs, &ops, q);
}

/* --- listing: partitions in force, then requested ones that are not in force --- */

struct listing {
	const struct subnet_state *s;
	bool whole;		/* with members and ports */
	char *name;		/* the only partition to list, or NULL */
	uint16_t pkey;		/* the only P_Key to list, without the membership bit; 0: all */
	uint32_t next;		/* index in the policy in force */
	struct dynamic_partitions *wanted;	/* copy: the registry may change before the last row */
	struct dynamic_troubles troubles;
	size_t next_wanted;
};

static const char *source_of(const struct policy_partition *part)
{
	if (part->dynamic)
		return "dynamic";
	for (size_t i = 0; i < part->n_members; i++)
		if (part->members[i].dynamic)
			return "policy+dynamic";
	return "policy";
}

static json_t *json_who(const struct policy_member *m)
{
	static const char *const types[] = {
		[NT_CA] = "type:ca", [NT_SWITCH] = "type:switch", [NT_ROUTER] = "type:router",
		[NT_AGGREGATION] = "type:aggregation",
	};

	if (m->port_name)
		return json_text(m->port_name);
	if (m->group.s)
		return json_text(m->group.s);
	if (m->node_types)
		return json_string(types[m->node_types]);
	if (m->guids.lo == m->guids.hi)
		return json_guid(m->guids.lo);
	return json_sprintf("0x%016llx-0x%016llx", (unsigned long long)m->guids.lo,
			    (unsigned long long)m->guids.hi);
}

static json_t *json_members(const struct policy_partition *part)
{
	json_t *list = json_array();

	for (size_t i = 0; i < part->n_members; i++) {
		const struct policy_member *m = &part->members[i];

		json_array_append_new(list, json_pack("{s:o, s:s, s:b, s:s}", "who", json_who(m),
			"membership", membership_word(m->membership), "index0", m->index0,
			"source", m->dynamic ? "dynamic" : "policy"));
	}
	return list;
}

/* A port's P_Key table entries for a partition, one or two: index and value. */
static json_t *json_places(const struct pkey_table *t, uint16_t pkey)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < t->n; i++)
		if (t->keys[i] && (t->keys[i] & IB_PKEY_DEFAULT) == pkey)
			json_array_append_new(list, json_pack("{s:i, s:i}", "index", (int)i,
							      "pkey", t->keys[i]));
	return list;
}

static void add_ports(const struct listing *l, uint16_t pkey, json_t *row)
{
	const struct partitions *p = l->s->plan->partitions;
	uint32_t count[4] = { 0 };
	json_t *ports = json_array();

	for (uint32_t port = 0; port < l->s->f->n_ports; port++) {
		enum membership m;

		if (!port_is_end(l->s->f, port))
			continue;
		m = port_membership(p, port, pkey);
		count[m]++;
		if (m != MEMBER_NONE && l->whole)
			json_array_append_new(ports, json_pack("{s:o, s:s, s:o}",
				"port", json_port(l->s, port), "membership", membership_word(m),
				"places", json_places(port_pkeys(p, port), pkey)));
	}
	json_object_set_new(row, "full", json_integer(count[MEMBER_FULL]));
	json_object_set_new(row, "limited", json_integer(count[MEMBER_LIMITED]));
	json_object_set_new(row, "both", json_integer(count[MEMBER_BOTH]));
	if (l->whole)
		json_object_set_new(row, "ports", ports);
	else
		json_decref(ports);
}

static void add_excluded(const struct listing *l, uint32_t number, json_t *row)
{
	const struct partitions *p = l->s->plan->partitions;
	json_t *ports = json_array();
	json_int_t n = 0;

	for (size_t i = 0; i < p->excluded.n; i++) {
		if (p->excluded.v[i].partition != number)
			continue;
		n++;
		if (l->whole)
			json_array_append_new(ports, json_port(l->s, p->excluded.v[i].port));
	}
	json_object_set_new(row, "no-room", json_integer(n));
	if (l->whole)
		json_object_set_new(row, "ports-without-room", ports);
	else
		json_decref(ports);
}

static json_t *json_level(const struct policy *p, uint32_t level)
{
	return json_text(p->levels[level].name);
}

static json_t *json_mtu(unsigned code)
{
	return code ? json_integer(mtu_bytes(code)) : json_null();
}

static json_t *json_rate(unsigned code)
{
	return code ? json_real(rate_tenths(code) / 10.0) : json_null();
}

/* Own values, and those that paths get: of the level, with own values in their place. */
static void add_values(const struct policy_partition *part, const struct policy_level *level, json_t *row)
{
	json_object_set_new(row, "sl", part->own.has_sl ? json_integer(part->own.sl) : json_null());
	json_object_set_new(row, "mtu", json_mtu(part->own.mtu_limit));
	json_object_set_new(row, "rate", json_rate(part->own.rate_limit));
	json_object_set_new(row, "path-sl", json_integer(level->sl));
	json_object_set_new(row, "path-mtu", json_mtu(level->mtu_limit));
	json_object_set_new(row, "path-rate", json_rate(level->rate_limit));
}

static json_t *partition_row(const struct listing *l, uint32_t number)
{
	const struct policy *p = l->s->policy->p;
	const struct policy_partition *part = &p->partitions[number];
	json_t *row = json_pack("{s:o, s:i, s:s, s:b, s:o, s:b, s:o}",
				"partition", json_text(part->name), "pkey", part->pkey,
				"source", source_of(part), "in-force", 1,
				"level", json_level(p, part->level_index), "ipoib", part->ipoib,
				"ipoib-level", part->ipoib ? json_level(p, part->ipoib_level_index) :
							     json_null());

	add_values(part, &p->levels[part->level_index], row);
	if (l->whole)
		json_object_set_new(row, "members", json_members(part));
	add_ports(l, part->pkey, row);
	add_excluded(l, number, row);
	return row;
}

static bool is_asked_for(const struct listing *l, const char *name, uint16_t pkey)
{
	return (!l->name || !strcmp(l->name, name)) && (!l->pkey || l->pkey == pkey);
}

/* What is wrong with an entry; NULL: nothing. */
static json_t *json_troubles(const struct listing *l, size_t entry, bool *out)
{
	json_t *list = NULL;

	for (size_t i = 0; i < l->troubles.n; i++) {
		const struct dynamic_trouble *t = &l->troubles.v[i];

		if (t->entry != entry)
			continue;
		*out |= t->out && t->member == UINT32_MAX;
		if (!list)
			list = json_array();
		json_array_append_new(list, json_text(t->text));
	}
	return list;
}

static json_t *json_wanted_members(const struct dynamic_partition *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < e->members.n; i++)
		json_array_append_new(list, json_pack("{s:o, s:s, s:b, s:s}",
			"who", json_text(e->members.v[i].who),
			"membership", membership_word(e->members.v[i].membership),
			"index0", e->members.v[i].index0,
			"source", "dynamic"));
	return list;
}

/* Rows of registry entries that are not in force, or not as requested. */
static json_t *wanted_row(struct listing *l)
{
	while (l->next_wanted < l->wanted->v.n) {
		size_t i = l->next_wanted++;
		const struct dynamic_partition *e = &l->wanted->v.v[i];
		bool out = false;
		json_t *why, *row;

		if (!is_asked_for(l, e->name, e->pkey))
			continue;
		why = json_troubles(l, i, &out);
		if (!why)
			continue;
		row = json_pack("{s:o, s:i, s:s, s:b, s:o}", "partition", json_text(e->name),
				"pkey", e->pkey, "source", "dynamic", "in-force", 0, "why", why);
		if (!out)
			json_object_set_new(row, "in-force", json_string("in-part"));
		if (l->whole)
			json_object_set_new(row, "members", json_wanted_members(e));
		return row;
	}
	return NULL;
}

static json_t *next_partition(void *rows)
{
	struct listing *l = rows;
	const struct policy *p = l->s->policy->p;

	while (l->next < p->n_partitions) {
		uint32_t i = l->next++;

		if (is_asked_for(l, p->partitions[i].name, p->partitions[i].pkey))
			return partition_row(l, i);
	}
	return l->wanted ? wanted_row(l) : NULL;
}

static void listing_free(void *rows)
{
	struct listing *l = rows;

	dynamic_troubles_free(&l->troubles);
	dynamic_free(l->wanted);
	free(l->name);
	free(l);
}

json_t *json_dynamic(const struct ctl_env *env, const struct shared_policy *in_force)
{
	const struct dynamic_partitions *x = env->dynamic ? env->dynamic(env->arg) : NULL;

	if (!x)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:o}", "entries", (json_int_t)x->v.n,
			 "members", (json_int_t)x->n_members, "change", (json_int_t)x->change,
			 "change-in-force", in_force ?
			 json_integer((json_int_t)in_force->dynamic_change) : json_null());
}

static struct listing *listing_new(const struct ctl_call *c, bool whole, struct reply *r)
{
	struct listing *l = xcalloc(1, sizeof(*l));

	l->s = c->state;
	l->whole = whole;
	if (c->env->dynamic && c->env->policies) {
		const struct policy *base = policies_in_force(c->env->policies)->p;
		struct policy *p;

		l->wanted = dynamic_copy(c->env->dynamic(c->env->arg));
		p = dynamic_merge(l->wanted, base, &l->troubles);
		policy_overlay_free(p, base);
	}
	reply_result(r, json_pack("{s:o}", "dynamic", json_dynamic(c->env, c->view->sm.in_force)));
	return l;
}

void cmd_partitions(const struct ctl_call *c, struct reply *r)
{
	reply_rows(r, "partitions", next_partition, listing_free, listing_new(c, false, r));
}

/* True if such a partition exists, in force or not. */
static bool is_known(const struct ctl_call *c, const char *name)
{
	const struct policy *p = c->state->policy->p;

	for (size_t i = 0; i < p->n_partitions; i++)
		if (!strcmp(p->partitions[i].name, name))
			return true;
	return c->env->dynamic && dynamic_find(c->env->dynamic(c->env->arg), name);
}

/* look: NULL unless the ports of each member are wanted. */
static void put_member(json_t *list, json_t *who, enum membership membership, bool index0, const char *source,
		       const struct policy_member *m, struct member_look *look)
{
	json_t *row = json_pack("{s:o, s:s, s:b, s:s}", "who", who, "membership", membership_word(membership),
				"index0", index0, "source", source);

	if (look)
		json_object_set_new(row, "ports", member_look_ports(look, m));
	json_array_append_new(list, row);
}

/* The member lines of the policy's file, and then those that were added.  Either may be NULL. */
static json_t *json_requested_members(const struct policy_partition *p, const struct dynamic_partition *e,
				      struct member_look *look)
{
	json_t *list = json_array();

	for (size_t i = 0; p && i < p->n_members; i++)
		put_member(list, json_who(&p->members[i]), p->members[i].membership, p->members[i].index0, "policy",
			   &p->members[i], look);
	for (size_t i = 0; e && i < e->members.n; i++) {
		const struct dynamic_member *x = &e->members.v[i];
		struct policy_member m = { 0 };

		if (!dynamic_parse_who(x->who, &m))
			put_member(list, json_text(x->who), x->membership, x->index0, "dynamic", &m, look);
		policy_member_free(&m);
	}
	return list;
}

static void put_requested(json_t *list, const char *name, uint16_t pkey, bool ipoib, const char *source,
			  json_t *members)
{
	json_array_append_new(list, json_pack("{s:o, s:i, s:b, s:s, s:o}", "partition", json_text(name),
					      "pkey", pkey, "ipoib", ipoib, "source", source, "members", members));
}

/*
 * What is loaded and what was added, whether it is in force yet or not, with the member lines: what
 * a client needs to know before it asks for a change.  Ports are looked at only if the client wants
 * those of each line.
 */
static void show_requested(const struct ctl_call *c, const char *name, uint16_t pkey, struct reply *r)
{
	const struct dynamic_partitions *x = c->env->dynamic(c->env->arg);
	const struct policy *base = policies_in_force(c->env->policies)->p;
	const struct listing asked = { .name = (char *)(uintptr_t)name, .pkey = pkey };
	struct member_look *look = arg_flag(c, "member-ports") ? member_look_new(c->state) : NULL;
	json_t *list = json_array();

	for (size_t i = 0; i < base->n_partitions; i++) {
		const struct policy_partition *p = &base->partitions[i];
		const struct dynamic_partition *e;

		if (!is_asked_for(&asked, p->name, p->pkey))
			continue;
		e = dynamic_find(x, p->name);
		put_requested(list, p->name, p->pkey, p->ipoib, e ? "policy+dynamic" : "policy",
			      json_requested_members(p, e, look));
	}
	for (size_t i = 0; i < x->v.n; i++) {
		const struct dynamic_partition *e = &x->v.v[i];

		if (e->whole && is_asked_for(&asked, e->name, e->pkey))
			put_requested(list, e->name, e->pkey, e->ipoib, "dynamic",
				      json_requested_members(NULL, e, look));
	}
	member_look_free(look);
	reply_result(r, json_pack("{s:o}", "partitions", list));
}

void cmd_partition_show(const struct ctl_call *c, struct reply *r)
{
	const char *name = arg_text(c, "name");
	uint64_t pkey = 0;
	struct listing *l;

	if (name && !is_known(c, name)) {
		reply_error(r, NULL, "no such partition: \"%s\"", name);
		return;
	}
	arg_number(c, "pkey", &pkey);
	pkey &= IB_PKEY_DEFAULT;
	if (arg_flag(c, "requested")) {
		if (has_registry(c, r))
			show_requested(c, name, (uint16_t)pkey, r);
		return;
	}
	l = listing_new(c, true, r);
	l->name = xstrdup_or_null(name);
	l->pkey = (uint16_t)pkey;
	reply_rows(r, "partitions", next_partition, listing_free, l);
}
