/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Resolves the members of requests for dynamic partitions; present_members.h has the contracts. */
#include "sa/registry/present_members.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/host_names.h"
#include "qos/groups/port_groups.h"
#include "sa/registry/partition_lines.h"

static const struct src_pos nowhere;

struct resolving {
	const struct dynamic_partitions *x;
	const struct policy *base;
	const struct fabric *f;
	bool absent_ok;
	struct hostlist *names;
	struct findings *out;
	struct fabric_hosts hosts;
	struct port_names *ports;
	uint64_t *set;			/* scratch: a bit for each port slot */
	/* the present change */
	const struct dynamic_change *c;
	size_t number;
	struct dynamic_partition *entry;	/* a copy's: look-ups make its index; NULL: none */
	bool index0;			/* of the present member */
	VEC(struct dynamic_who) members;
	size_t taken, absent;		/* of all changes */
};

static void say(struct resolving *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct resolving *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	dynamic_say(r->out, SEV_ERROR, r->c, r->number, fmt, ap);
	va_end(ap);
}

/* A host may have many ports, and a short list many hosts: so their sum is bounded here. */
static void put(struct resolving *r, const char *who, enum membership m)
{
	if (r->taken++ < DYNAMIC_MEMBERS_MAX)
		*vec_push(&r->members) = (struct dynamic_who){ who, m, r->index0 };
	else if (r->taken == DYNAMIC_MEMBERS_MAX + 1)
		say(r, "the request has more than %d members, the limit", DYNAMIC_MEMBERS_MAX);
}

/* Takes ownership of a new text. */
static void put_new(struct resolving *r, char *who, enum membership m)
{
	if (r->taken < DYNAMIC_MEMBERS_MAX) {
		*vec_push(r->names) = who;
		put(r, who, m);
	} else {
		put(r, NULL, m);
		free(who);
	}
}

/* --- what the fabric has --- */

static bool has_guid(const struct fabric *f, uint64_t lo, uint64_t hi)
{
	if (lo == hi)
		return fabric_find_port(f, lo) != FABRIC_NONE;
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (port_is_end(f, i) && f->ports[i].guid >= lo && f->ports[i].guid <= hi)
			return true;
	return false;
}

static bool is_present(const struct resolving *r, const struct policy_member *m)
{
	if (m->port_name)
		return port_names_add(r->ports, m->port_name, r->set);
	return m->guids.hi == 0 || has_guid(r->f, m->guids.lo, m->guids.hi);
}

/* Refuses a member that the fabric does not have; what: "the fabric has no port", for example. */
static void refuse_absent(struct resolving *r, const char *what, const char *who)
{
	uint32_t node = map64_get(&r->f->node_by_guid, strtoull(who, NULL, 16));
	struct buf hint = { 0 }, meant = { 0 };

	if (++r->absent > ABSENT_TOLD)
		return;
	if (!strncasecmp(who, "0x", 2) && node != MAP64_NONE && !strchr(who, '-'))
		buf_printf(&hint, " (it is the GUID of the node %s, not of a port)",
			   NODE_NAME(r->f, node));
	else if (!strpbrk(who, "*?") && fabric_put_meant(r->f, who, &meant))
		buf_printf(&hint, " (did you mean \"%s\"?)", meant.s);
	say(r, "%s \"%.80s\"%s: --absent-ok adds it nevertheless", what, who, hint.n ? hint.s : "");
	buf_free(&hint);
	buf_free(&meant);
}

/* --- members --- */

/* True if the entry has that member already: repeating a request is never refused. */
static bool is_member(struct resolving *r, const struct policy_member *m, const char *who)
{
	char *normal = dynamic_normal_who(m, who);
	bool known = r->entry && dynamic_find_member(r->entry, normal);

	free(normal);
	return known;
}

static void take_who(struct resolving *r, const char *who, enum membership membership)
{
	struct policy_member m;

	put(r, who, membership);
	if (r->c->kind == DYNAMIC_REMOVE || r->absent_ok || dynamic_parse_who(who, &m))
		return;
	if (!is_present(r, &m) && !is_member(r, &m, who))
		refuse_absent(r, m.port_name ? "the fabric has no port" : m.guids.lo == m.guids.hi ?
			      "the fabric has no port with the GUID" :
			      "the fabric has no port with a GUID of", who);
	policy_member_free(&m);
}

static void remove_host(struct resolving *r, const char *host)
{
	size_t n = strlen(host), before = r->members.n;

	for (size_t i = 0; r->entry && i < r->entry->members.n; i++) {
		const char *who = r->entry->members.v[i].who;

		if (strchr(who, '/') && fabric_host_length(who) == n && !memcmp(who, host, n))
			put_new(r, xstrdup(who), MEMBER_NONE);
	}
	if (r->members.n == before)
		put(r, host, MEMBER_NONE);	/* to be told that it is none */
}

/* Adds the ports that a host has now; false: it has none. */
static bool add_ports(struct resolving *r, const char *host, enum membership m)
{
	size_t before = r->members.n;

	for (uint32_t i = fabric_hosts_next(&r->hosts, host, FABRIC_NONE); i != FABRIC_NONE;
	     i = fabric_hosts_next(&r->hosts, host, i)) {
		const struct fabric_node *n = &r->f->nodes[i];

		for (uint32_t port = n->port0; port <= n->port0 + n->nports; port++)
			if (port_is_end(r->f, port))
				put_new(r, xasprintf("%s/P%u", n->desc, r->f->ports[port].num), m);
	}
	return r->members.n > before;
}

/* True if a member of the entry names a port of the host. */
static bool is_known_host(const struct resolving *r, const char *host)
{
	size_t n = strlen(host);

	for (size_t i = 0; r->entry && i < r->entry->members.n; i++) {
		const char *who = r->entry->members.v[i].who;

		if (strchr(who, '/') && fabric_host_length(who) == n && !memcmp(who, host, n))
			return true;
	}
	return false;
}

static void take_host(struct resolving *r, const char *host, enum membership m)
{
	if (r->c->kind == DYNAMIC_REMOVE) {
		remove_host(r, host);
	} else if (!add_ports(r, host, m)) {
		if (!r->absent_ok && !is_known_host(r, host))
			refuse_absent(r, "the fabric has no host and the policy no group", host);
		put_new(r, xasprintf("%s/P*", host), m);
		put_new(r, xasprintf("%s */P*", host), m);
	}
}

static bool is_other_form(const struct resolving *r, const char *who)
{
	return !strncasecmp(who, "0x", 2) || !strncmp(who, "type:", 5) ||
	       !strncmp(who, "group:", 6) || !strcmp(who, "all") || !strcmp(who, "self") ||
	       policy_find_group(r->base, who) != UINT32_MAX;
}

#define GUID_DIGITS 16

/*
 * A GUID as orchestrators write it, 16 hexadecimal digits without 0x, perhaps with colons: "0x" and the
 * digits, which the caller frees.  NULL: it is none.
 */
static char *bare_guid(const char *who)
{
	char text[2 + GUID_DIGITS + 1] = "0x";
	size_t n = 2;

	for (; *who; who++) {
		if (*who == ':')
			continue;
		if (!isxdigit((unsigned char)*who) || n == sizeof(text) - 1)
			return NULL;
		text[n++] = *who;
	}
	return n == sizeof(text) - 1 ? xstrdup(text) : NULL;
}

static bool is_host(const struct resolving *r, const char *host)
{
	return fabric_hosts_next(&r->hosts, host, FABRIC_NONE) != FABRIC_NONE || is_known_host(r, host);
}

static void take_word(struct resolving *r, const char *who, enum membership m)
{
	char *guid;

	if (!strncmp(who, HOST_PREFIX, strlen(HOST_PREFIX)) && !strchr(who, '/')) {
		take_host(r, who + strlen(HOST_PREFIX), m);
	} else if (strchr(who, '/') || is_other_form(r, who)) {
		take_who(r, who, m);
	} else if (!is_host(r, who) && (guid = bare_guid(who))) {
		*vec_push(r->names) = guid;
		take_who(r, guid, m);
	} else {
		take_host(r, who, m);
	}
}

static void take_list(struct resolving *r, const char *text, enum membership m)
{
	size_t first = r->names->n, n;
	size_t most = DYNAMIC_MEMBERS_MAX + 1;
	struct buf err = { 0 };

	/* the limit is that of all lists of a request: one is short, what it stands for is not */
	if (!hostlist_parse(text, most, r->names, &err))
		say(r, "the host list \"%.80s\" is invalid: %s", text, err.s);
	n = r->names->n;
	for (size_t i = first; !err.n && i < n; i++)
		take_word(r, r->names->v[i], m);
	buf_free(&err);
}

static void take_member(struct resolving *r, const struct dynamic_who *w)
{
	const char *who = w->who;
	struct policy_member m = { 0 };
	bool known, literal;

	r->index0 = w->index0;
	if (!who || dynamic_parse_who(who, &m)) {
		put(r, who, w->membership);	/* dynamic_apply() says what is wrong */
		return;
	}
	/* a name may have these characters: then it is in the fabric, or a member */
	known = is_member(r, &m, who);
	literal = !hostlist_is_list(who) || is_other_form(r, who) ||
		  (m.port_name && (!strpbrk(who, "[]") || is_present(r, &m)));
	policy_member_free(&m);
	if (known)
		put(r, who, w->membership);
	else if (literal)
		take_word(r, who, w->membership);
	else
		take_list(r, who, w->membership);
}

static void resolve_change(struct resolving *r, struct dynamic_change *c)
{
	size_t had = c->n_members;

	r->members.n = 0;
	for (size_t i = 0; i < had; i++)
		take_member(r, &c->members[i]);
	if (!had)
		return;
	/* never none where there were some: a removal without members removes the whole entry */
	free(c->members);
	c->members = xcalloc(r->members.n + 1, sizeof(*c->members));
	if (r->members.n)
		memcpy(c->members, r->members.v, r->members.n * sizeof(*c->members));
	c->n_members = r->members.n;
}

size_t dynamic_resolve(const struct dynamic_partitions *x, const struct policy *base,
		       const struct fabric *f, struct dynamic_change *changes, size_t n, bool absent_ok,
		       struct hostlist *names, struct findings *out)
{
	struct dynamic_partitions *copy = dynamic_copy(x);
	struct resolving r = {
		.x = x, .base = base, .f = f, .absent_ok = absent_ok, .names = names, .out = out,
		.ports = port_names_new(f), .set = xcalloc(f->n_ports / 64 + 1, sizeof(uint64_t)),
	};

	fabric_hosts_init(&r.hosts, f);
	for (size_t i = 0; i < n; i++) {
		uint32_t entry = changes[i].name ? dynamic_find_entry(copy, changes[i].name) :
						   MAP64_NONE;

		r.c = &changes[i];
		r.number = i + 1;
		r.entry = entry == MAP64_NONE ? NULL : &copy->v.v[entry];
		resolve_change(&r, &changes[i]);
	}
	if (r.absent > ABSENT_TOLD)
		findings_add(out, SEV_ERROR, NULL, nowhere, "%zu more members are not in the fabric",
			     r.absent - ABSENT_TOLD);
	vec_free(&r.members);
	fabric_hosts_free(&r.hosts);
	port_names_free(r.ports);
	free(r.set);
	dynamic_free(copy);
	return r.absent;
}
