/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads OpenSM's partitions.conf.
 *
 * A statement "definition : members ;" may span lines; a line that begins with "mgid=" is a
 * multicast group.  OpenSM accepts any prefix of a keyword ("lim" is limited), and at the first
 * error drops the whole file, so that every port becomes a full member of the default partition.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert/split_text.h"
#include "lib/base/bytes.h"
#include "lib/base/map64.h"
#include "lib/iba/iba.h"
#include "lib/iba/mgid.h"
#include "lib/iba/units.h"

#define SCOPE_RESERVED	15

/* osm_base.h: defaults of broadcast groups */
#define RATE_DEFAULT	3	/* 10 Gb/s */
#define MTU_DEFAULT	4	/* 2048 */

struct reader {
	struct converted *c;
	struct map64 by_pkey, by_name;	/* indexes into c->partitions */
	const char *file;
	uint16_t last_generated;
	bool default_said;		/* the file has a statement for the default partition */
};

/* Flags of multicast groups. */
struct group_flags {
	bool own;			/* of a line mgid=, not of the partition */
	int sl, mtu, rate;
	uint32_t qkey, flow_label;
	uint8_t tclass;
	uint16_t scopes;		/* bit n: scope n; 0: none given */
};

/* A statement: [definition, colon) and [colon + 1, end). */
struct statement {
	struct cursor head, body;
	struct out_partition *partition;
	struct group_flags flags;	/* groups in the body have these unless they say otherwise */
	enum out_membership membership;	/* of members that give none */
	struct notes notes;		/* until the partition is known */
};

/* "name[=value]", both without surrounding blanks. */
struct pair {
	const char *name, *value;	/* value NULL: no '=' */
	struct place at;
};

static struct pair take_pair(struct converted *c, struct cursor item)
{
	const char *text = item_text(c, item), *equals = strchr(text, '=');
	struct pair p = { .at = item.at, .name = text };
	size_t n;

	if (!equals)
		return p;
	for (n = (size_t)(equals - text); n && strchr(" \t", text[n - 1]); n--)
		;
	p.name = keep(c, text, n);
	p.value = equals + 1 + strspn(equals + 1, " \t");
	return p;
}

/* Compares as OpenSM does: true if `word` is a prefix of `whole`. */
static bool begins(const char *word, const char *whole)
{
	return !strncmp(word, whole, strlen(word));
}

/* --- verdicts on single words --- */

static void say_as(struct reader *r, struct notes *notes, enum verdict v, const struct pair *p,
		   const char *what)
{
	verdict(r->c, notes, v, p->at, "%s%s%s: %s", SHOW(p->name), p->value ? "=" : "",
		p->value ? SHOW(p->value) : "", what);
}

/* OpenSM takes an abbreviation for the first keyword that it compares with. */
static void say_same(struct reader *r, struct notes *notes, const struct pair *p, const char *keyword,
		     const char *what)
{
	bool whole = !strcmp(p->name, keyword);

	say_as(r, notes, VERDICT_SAME, p,
	       whole ? what : keepf(r->c, "OpenSM reads it as %s: %s", keyword, what));
}

static void say_bad_flag(struct reader *r, struct notes *notes, const struct pair *p)
{
	say_as(r, notes, VERDICT_NOT_NEEDED, p, "OpenSM skips a flag without a valid value");
}

/* --- flags of multicast groups --- */

static bool flag_number(const struct pair *p, uint64_t max, uint64_t *v)
{
	return p->value && parse_number(p->value, v) && *v <= max;
}

static void read_rate_flag(struct reader *r, struct notes *notes, const struct pair *p, int *out)
{
	uint64_t v;
	char text[16];

	if (!flag_number(p, UINT8_MAX, &v) || !rate_tenths((unsigned)v)) {
		say_error(r->c, p->at, "rate=%s is not the code of a rate (2 to 24)",
			  p->value ? SHOW(p->value) : "");
		return;
	}
	*out = (int)v;
	say_same(r, notes, p, "rate", rate_text((unsigned)v, text, sizeof(text)));
}

static void read_mtu_flag(struct reader *r, struct notes *notes, const struct pair *p, int *out)
{
	uint64_t v;

	if (!flag_number(p, UINT8_MAX, &v) || !mtu_bytes((unsigned)v)) {
		say_error(r->c, p->at, "mtu=%s is not the code of an MTU (1 to 5)",
			  p->value ? SHOW(p->value) : "");
		return;
	}
	*out = (int)v;
	say_same(r, notes, p, "mtu", keepf(r->c, "%u bytes", mtu_bytes((unsigned)v)));
}

static void read_scope_flag(struct reader *r, struct notes *notes, const struct pair *p, uint16_t *out)
{
	uint64_t v;

	if (!flag_number(p, SCOPE_RESERVED, &v) || !v) {
		say_bad_flag(r, notes, p);
	} else if (v == SCOPE_RESERVED) {
		say_as(r, notes, VERDICT_NOT_POSSIBLE, p, "IBA reserves this scope, and qosd makes no "
		       "group of it");
		/* OpenSM has the group of another scope only if another flag says so */
		*out |= 1u << SCOPE_RESERVED;
	} else {
		*out |= (uint16_t)(1u << v);
		say_same(r, notes, p, "scope", "the groups have this scope");
	}
}

static void read_tclass_flag(struct reader *r, struct notes *notes, const struct pair *p, uint8_t *out)
{
	uint64_t v;

	if (!flag_number(p, UINT32_MAX, &v)) {
		say_bad_flag(r, notes, p);
		return;
	}
	*out = (uint8_t)v;
	if (v > UINT8_MAX)
		say_as(r, notes, VERDICT_SAME, p, keepf(r->c, "OpenSM takes it modulo 256, %u", *out));
	else
		say_same(r, notes, p, "TClass", "the TClass of the groups");
}

static void read_wide_flag(struct reader *r, struct notes *notes, const struct pair *p, uint64_t max,
			   uint32_t *out, const char *keyword, const char *what)
{
	uint64_t v;

	if (!flag_number(p, max, &v)) {
		say_bad_flag(r, notes, p);
		return;
	}
	*out = (uint32_t)v;
	say_same(r, notes, p, keyword, what);
}

static void read_sl_flag(struct reader *r, struct notes *notes, const struct pair *p,
			 struct group_flags *flags)
{
	uint64_t v;

	if (!flag_number(p, 15, &v)) {
		say_bad_flag(r, notes, p);
		return;
	}
	flags->sl = (int)v;
	if (v && !flags->own && qos_is_off(r->c))
		say_as(r, notes, VERDICT_NOT_NEEDED, p, "qos is FALSE: OpenSM gives the partition SL 0");
	else
		say_same(r, notes, p, "sl", "the SL");
}

/* The order of comparisons is OpenSM's, as it decides what an abbreviation means. */
static bool read_group_flag(struct reader *r, struct notes *notes, const struct pair *p,
			    struct group_flags *flags)
{
	if (begins(p->name, "mtu"))
		read_mtu_flag(r, notes, p, &flags->mtu);
	else if (begins(p->name, "rate"))
		read_rate_flag(r, notes, p, &flags->rate);
	else if (begins(p->name, "scope"))
		read_scope_flag(r, notes, p, &flags->scopes);
	else if (begins(p->name, "Q_Key"))
		read_wide_flag(r, notes, p, UINT32_MAX, &flags->qkey, "Q_Key", "the Q_Key of the groups");
	else if (begins(p->name, "TClass"))
		read_tclass_flag(r, notes, p, &flags->tclass);
	else if (begins(p->name, "sl"))
		read_sl_flag(r, notes, p, flags);
	else if (begins(p->name, "FlowLabel"))
		read_wide_flag(r, notes, p, 0xfffff, &flags->flow_label, "FlowLabel",
			       "the FlowLabel of the groups");
	else
		return false;
	return true;
}

/* --- multicast groups --- */

static const struct out_mgroup *find_mgid(const struct reader *r, const uint8_t mgid[16])
{
	for (size_t i = 0; i < r->c->partitions.n; i++) {
		const struct out_mgroups *groups = &r->c->partitions.v[i].groups;

		for (size_t k = 0; k < groups->n; k++)
			if (!memcmp(groups->v[k].mgid, mgid, 16))
				return &groups->v[k];
	}
	return NULL;
}

/*
 * Whether OpenSM makes an IPoIB group: it wants the broadcast group of the same P_Key and scope, with the
 * same MTU and rate.
 */
static bool has_broadcast(const struct reader *r, const struct out_mgroup *g)
{
	const struct out_mgroup *b;
	uint8_t mgid[16];

	if (!mgid_is_ipoib(g->mgid))
		return true;
	mgid_of_broadcast(mgid, get_be16(g->mgid + 4), mgid_scope(g->mgid));
	if (!memcmp(mgid, g->mgid, 16))
		return true;
	b = find_mgid(r, mgid);
	return b && b->mtu == g->mtu && b->rate == g->rate;
}

static void add_of_scope(struct reader *r, struct out_partition *part, const struct out_mgroup *like,
			 unsigned scope)
{
	struct out_mgroup g = *like;
	char text[INET6_ADDRSTRLEN];

	mgid_set_scope(g.mgid, scope);
	inet_ntop(AF_INET6, g.mgid, text, sizeof(text));
	if (find_mgid(r, g.mgid))
		verdict(r->c, &part->notes, VERDICT_NOT_NEEDED, g.at,
			"%s: a group with this MGID exists already, so OpenSM leaves it as it is", text);
	else if (!has_broadcast(r, &g))
		verdict(r->c, &part->notes, VERDICT_NOT_NEEDED, g.at,
			"%s: OpenSM does not make this group, as there is no broadcast group of its P_Key and "
			"scope with its MTU and rate", text);
	else if (g.mgid[1] >> 4 > 1)
		verdict(r->c, &part->notes, mgid_is_ipoib(g.mgid) ? VERDICT_NOT_POSSIBLE
									 : VERDICT_NOT_NEEDED, g.at,
			"%s: the flags of this MGID are reserved, and %s does not make this group", text,
			mgid_is_ipoib(g.mgid) ? "qosd" : "OpenSM");
	else
		*vec_push(&part->groups) = g;
}

/* Adds a group of each scope; without any, OpenSM sets that of the MGID to link-local. */
static void add_mgroups(struct reader *r, struct out_partition *part, const struct out_mgroup *like,
			uint16_t scopes)
{
	if (!scopes)
		scopes = 1u << SCOPE_LINK_LOCAL;
	for (unsigned scope = 0; scope <= SCOPE_MAX; scope++)
		if (scopes >> scope & 1)
			add_of_scope(r, part, like, scope);
}

static struct out_mgroup mgroup_of(const struct group_flags *f, struct place at)
{
	return (struct out_mgroup){
		.at = at, .sl = f->sl, .mtu = f->mtu, .rate = f->rate, .qkey = f->qkey,
		.tclass = f->tclass ? f->tclass : -1, .flow_label = f->flow_label,
	};
}

static void add_broadcast(struct reader *r, struct out_partition *part, const struct group_flags *f,
			  struct place at)
{
	struct out_mgroup g = mgroup_of(f, at);

	if (!g.qkey)
		g.qkey = IPOIB_QKEY;
	mgid_of_broadcast(g.mgid, part->pkey, SCOPE_LINK_LOCAL);
	/* OpenSM forgets the scopes here: they are for groups by MGID only */
	add_mgroups(r, part, &g, 0);
	if (f->scopes & ~(1u << SCOPE_LINK_LOCAL))
		verdict(r->c, &part->notes, VERDICT_SAME, at,
			"scope: OpenSM's broadcast group is link-local whatever the flag says, and so is this; "
			"'ipoib: {scope: ...}' would make groups of other scopes");
}

/* --- the definition --- */

struct definition {
	const char *name;
	struct place at;
	uint16_t pkey;			/* 0: generate one */
	bool ipoib;
	struct group_flags flags;
};

static bool parse_membership(const char *word, enum out_membership *out)
{
	*out = begins(word, "full") ? OUT_FULL : begins(word, "both") ? OUT_BOTH : OUT_LIMITED;
	return *out != OUT_LIMITED || begins(word, "limited");
}

static void read_flag(struct reader *r, struct statement *s, const struct pair *p,
		      struct definition *d)
{
	enum out_membership m;

	if (!*p->name && !p->value) {
		verdict(r->c, &s->notes, VERDICT_NOT_NEEDED, p->at, "a flag is empty");
	} else if (read_group_flag(r, &s->notes, p, &d->flags)) {
		/* done */
	} else if (begins(p->name, "ipoib")) {
		d->ipoib = true;
		say_same(r, &s->notes, p, "ipoib", "the partition has a broadcast group");
	} else if (begins(p->name, "defmember")) {
		if (!p->value || !parse_membership(p->value, &m)) {
			say_bad_flag(r, &s->notes, p);
			return;
		}
		s->membership = m;
		say_same(r, &s->notes, p, "defmember", "the membership of members that give none");
	} else if (!strcmp(p->name, "indx0")) {
		say_as(r, &s->notes, VERDICT_NOT_POSSIBLE, p,
		       "ports keep the P_Key at index 0 that OpenSM put there, but a port that comes new has "
		       "the default partition at index 0");
	} else {
		say_as(r, &s->notes, VERDICT_NOT_NEEDED, p, "no flag; OpenSM ignores it");
	}
}

/* Reads "[name][=P_Key]"; a number alone is a P_Key.  Returns false if it is malformed. */
static bool read_name(struct reader *r, const struct pair *p, struct definition *d)
{
	const char *pkey = p->value;
	uint64_t v;

	d->name = p->name;
	d->at = p->at;
	if (!pkey && *p->name >= '0' && *p->name <= '9') {
		pkey = p->name;
		d->name = "";
	}
	if (!pkey)
		return true;
	if (!parse_number(pkey, &v) || v > UINT16_MAX) {
		say_error(r->c, p->at, "'%s' is not a P_Key", SHOW(pkey));
		return false;
	}
	d->pkey = v & 0x7fff;
	return true;
}

static struct out_partition *at_index(struct reader *r, uint32_t i)
{
	return i == MAP64_NONE ? NULL : &r->c->partitions.v[i];
}

static struct out_partition *find_pkey(struct reader *r, uint16_t pkey)
{
	return at_index(r, map64_get(&r->by_pkey, pkey));
}

static struct out_partition *find_name(struct reader *r, const char *name)
{
	struct out_partition *p = at_index(r, map64_get(&r->by_name,
							hash_bytes(name, strlen(name), 0)));

	return p && *name && !strcmp(p->name, name) ? p : NULL;
}

static struct out_partition *new_partition(struct reader *r, const char *name, uint16_t pkey,
					   struct place at)
{
	uint32_t index = (uint32_t)r->c->partitions.n;
	struct out_partition *p = vec_push(&r->c->partitions);

	map64_put(&r->by_pkey, pkey, index);
	if (!find_name(r, name))
		map64_put(&r->by_name, hash_bytes(name, strlen(name), 0), index);

	*p = (struct out_partition){
		.at = at, .name = name, .pkey = pkey, .sl = 0,
	};
	return p;
}

static uint16_t generate_pkey(struct reader *r)
{
	while (r->last_generated < IB_PKEY_DEFAULT - 1)
		if (!find_pkey(r, ++r->last_generated))
			return r->last_generated;
	return 0;
}

/* Finds or makes the partition of the definition; NULL: no P_Key is left. */
static struct out_partition *find_partition(struct reader *r, struct statement *s,
					    const struct definition *d)
{
	uint16_t pkey = d->pkey;
	struct out_partition *p = pkey ? find_pkey(r, pkey) : find_name(r, d->name);

	if (p) {
		if (pkey && *d->name && strcmp(p->name, d->name))
			verdict(r->c, &s->notes, VERDICT_SAME, d->at,
			    "'%s' has the P_Key of '%s': merged into one partition with the first name",
			    SHOW(d->name), SHOW(p->name));
		else
			verdict(r->c, NULL, VERDICT_SAME, d->at, "more of the partition '%s'", SHOW(p->name));
		return p;
	}
	if (!pkey) {
		pkey = generate_pkey(r);
		if (!pkey) {
			say_error(r->c, d->at, "no P_Key is left to generate");
			return NULL;
		}
		verdict(r->c, &s->notes, VERDICT_OTHERWISE, d->at,
			"P_Key 0x%04x, as OpenSM generates it from the order in the file; there it could "
			"change with each edit, here it stays", pkey);
	} else {
		verdict(r->c, &s->notes, VERDICT_SAME, d->at, "the partition with the P_Key 0x%04x", pkey);
	}
	return new_partition(r, d->name, pkey, d->at);
}

static void apply_definition(struct reader *r, struct statement *s, const struct definition *d)
{
	struct out_partition *p = s->partition;

	if (p->pkey == IB_PKEY_DEFAULT)
		r->default_said = true;
	p->sl = d->flags.sl;
	if (d->ipoib)
		add_broadcast(r, p, &d->flags, d->at);
	s->flags = d->flags;
	for (size_t i = 0; i < s->notes.n; i++)
		*vec_push(&p->notes) = s->notes.v[i];
}

static bool read_head(struct reader *r, struct statement *s)
{
	struct definition d = {
		.name = "", .at = s->head.at, .flags = { .mtu = MTU_DEFAULT, .rate = RATE_DEFAULT },
	};
	struct item i;
	bool ok = true, first = true;

	for (struct cursor l = s->head; next_item(&l, &i); first = false) {
		struct pair p = take_pair(r->c, i.text);

		if (first)
			ok = read_name(r, &p, &d);
		else
			read_flag(r, s, &p, &d);
	}
	s->partition = ok ? find_partition(r, s, &d) : NULL;
	if (s->partition)
		apply_definition(r, s, &d);
	return s->partition;
}

/* --- members --- */

static void add_member(struct reader *r, struct statement *s, const struct pair *p)
{
	static const struct {
		const char *word, *means;
		enum out_member_kind kind;
		unsigned type;
	} words[] = {
		{ "ALL", "all end ports", MEMBER_ALL, 0 },
		{ "ALL_CAS", "all ports of CAs", MEMBER_OF_GROUP, NODE_CA },
		{ "ALL_SWITCHES", "port 0 of all switches", MEMBER_OF_GROUP, NODE_SWITCH },
		{ "ALL_ROUTERS", "all ports of routers", MEMBER_OF_GROUP, NODE_ROUTER },
		{ "SELF", "the port of the subnet manager", MEMBER_SELF, 0 },
	};
	struct out_member m = { .at = p->at, .membership = s->membership };
	size_t w = 0;

	if (begins(p->name, "NONE")) {	/* also an empty name */
		if (*p->name)
			say_as(r, NULL, VERDICT_SAME, p, "nobody");
		return;
	}
	if (p->value && !parse_membership(p->value, &m.membership))
		verdict(r->c, &s->partition->notes, VERDICT_SAME, p->at,
			"'%s' is not a membership; OpenSM treats it as limited", SHOW(p->value));
	while (w < ARRAY_SIZE(words) && !begins(p->name, words[w].word))
		w++;
	if (w < ARRAY_SIZE(words)) {
		say_same(r, &s->partition->notes, p, words[w].word, words[w].means);
		m.kind = words[w].kind;
		m.node_type = words[w].type;
	} else if (parse_number(p->name, &m.guid) && m.guid) {
		m.kind = MEMBER_GUID;
		say_as(r, NULL, VERDICT_SAME, p, "a port");
	} else {
		say_error(r->c, p->at, "'%s' is neither a GUID nor one of: ALL, ALL_CAS, "
			  "ALL_SWITCHES, ALL_ROUTERS, SELF, NONE", SHOW(p->name));
		return;
	}
	*vec_push(&s->partition->members) = m;
}

/* OpenSM's conditions on the MGID of an IPoIB group; it puts the partition's P_Key there. */
static bool fit_ipoib(struct reader *r, struct statement *s, struct out_mgroup *g, const char *text)
{
	uint16_t pkey = s->partition->pkey | IB_PKEY_FULL, named = get_be16(g->mgid + 4);
	uint8_t any[16];

	mgid_of_broadcast(any, IB_PKEY_DEFAULT, SCOPE_LINK_LOCAL);
	if (named && named != pkey && memcmp(any, g->mgid, 16))
		verdict(r->c, &s->partition->notes, VERDICT_NOT_NEEDED, g->at,
			"%s: OpenSM does not make this group, as its P_Key is not the partition's", text);
	else if (g->mtu != s->flags.mtu || g->rate != s->flags.rate)
		verdict(r->c, &s->partition->notes, VERDICT_NOT_NEEDED, g->at,
			"%s: OpenSM does not make this group, as its MTU and rate are not the partition's", text);
	else {
		put_be16(g->mgid + 4, pkey);
		if (!g->qkey)
			g->qkey = IPOIB_QKEY;
		return true;
	}
	return false;
}

/* Reads the flags that follow "mgid=…" on its line. */
static void read_mgroup(struct reader *r, struct statement *s, const struct pair *mgid, struct cursor rest)
{
	struct notes *notes = &s->partition->notes;
	struct group_flags flags = s->flags;
	struct out_mgroup g;
	struct item i;
	uint8_t raw[16];
	unsigned scope;
	bool bare = true, own_sl;

	if (!mgid->value || inet_pton(AF_INET6, mgid->value, raw) != 1 || raw[0] != 0xff) {
		say_as(r, notes, VERDICT_NOT_NEEDED, mgid, "not an MGID; OpenSM makes no group");
		return;
	}
	flags.tclass = 0;	/* OpenSM does not hand it on */
	flags.sl = -1;
	flags.own = true;
	while (next_item(&rest, &i)) {
		struct pair p = take_pair(r->c, i.text);

		bare = false;
		if (!*p.name && !p.value)
			continue;
		if (!read_group_flag(r, notes, &p, &flags))
			say_as(r, notes, VERDICT_NOT_NEEDED, &p, "no flag of a group; OpenSM ignores it");
	}
	own_sl = flags.sl >= 0;
	if (!own_sl)
		flags.sl = s->flags.sl;
	g = mgroup_of(&flags, mgid->at);
	g.own_sl = own_sl;
	memcpy(g.mgid, raw, sizeof(raw));
	if (mgid_is_ipoib(raw) && !fit_ipoib(r, s, &g, mgid->value))
		return;
	if (find_mgid(r, g.mgid)) {	/* compared before the scope is set */
		say_as(r, notes, VERDICT_NOT_NEEDED, mgid, "a group with this MGID exists already");
		return;
	}
	scope = mgid_scope(raw);
	if (bare)
		say_as(r, notes, VERDICT_OTHERWISE, mgid, "without flags, OpenSM takes for flags what is behind it "
		       "in memory: a comment, the next statement or the rest of an earlier line; here, the group "
		       "is as the file says");
	else if (flags.scopes ? !(flags.scopes >> scope & 1) : scope != SCOPE_LINK_LOCAL)
		say_as(r, notes, VERDICT_SAME, mgid, "OpenSM sets the scope by the flag, or to 2, whatever the "
		       "MGID has");
	else
		say_as(r, notes, VERDICT_SAME, mgid, "a group that exists without members");
	add_mgroups(r, s->partition, &g, flags.scopes);
}

/* Reads a line of the body: a multicast group, or members. */
static void read_body_line(struct reader *r, struct statement *s, struct cursor line)
{
	struct item i;

	while (next_item(&line, &i)) {
		struct pair p = take_pair(r->c, i.text);

		if (!strcmp(p.name, "mgid")) {
			/* the group takes the rest of the line */
			read_mgroup(r, s, &p, line);
			return;
		}
		add_member(r, s, &p);
	}
}

static void read_body(struct reader *r, struct statement *s)
{
	struct cursor at = s->body;

	while (at.s < at.end) {
		const char *eol = memchr(at.s, '\n', (size_t)(at.end - at.s));
		struct cursor line = cursor_part(at, eol ? eol : at.end);

		read_body_line(r, s, line);
		cursor_skip_line(&at);
	}
}

/* --- the file --- */

/* The first `what` outside comments, or the end. */
static const char *find_outside(const struct cursor *at, char what)
{
	bool comment = false;

	for (const char *p = at->s; p < at->end; p++) {
		if (*p == '\n')
			comment = false;
		else if (*p == '#')
			comment = true;
		else if (*p == what && !comment)
			return p;
	}
	return at->end;
}

static void read_statement(struct reader *r, struct cursor text)
{
	struct statement s = { .head = text, .body = text };
	const char *colon = find_outside(&text, ':');

	if (colon == text.end) {
		say_error(r->c, text.at, "expected 'name = P_Key, flags : members ;', found "
			  "no ':'");
		return;
	}
	s.head = cursor_part(text, colon);
	if (memchr(s.head.s, '\n', (size_t)(s.head.end - s.head.s)))
		say_error(r->c, text.at, "OpenSM wants 'name = P_Key, flags :' on one line, and drops the whole "
			  "file otherwise");
	cursor_skip(&s.body, (size_t)(colon + 1 - text.s));
	if (read_head(r, &s))
		read_body(r, &s);
	vec_free(&s.notes);
}

/* OpenSM removes partitions without members again, and their groups with them. */
static void drop_groups_of_nobody(struct converted *c)
{
	for (size_t i = 0; i < c->partitions.n; i++) {
		struct out_partition *p = &c->partitions.v[i];

		if (p->members.n || !p->groups.n)
			continue;
		p->groups.n = 0;
		verdict(c, &p->notes, VERDICT_NOT_NEEDED, p->at,
			"OpenSM removes a partition without members, and its multicast groups");
	}
}

/* Adds what OpenSM adds to any file. */
static void add_default(struct reader *r)
{
	struct out_partition *p = new_partition(r, "Default", IB_PKEY_DEFAULT,
						(struct place){ r->file, { 0, 0 } });

	*vec_push(&p->members) = (struct out_member){
		.at = p->at, .kind = MEMBER_ALL, .membership = OUT_LIMITED,
	};
	*vec_push(&p->members) = (struct out_member){
		.at = p->at, .kind = MEMBER_SELF, .membership = OUT_FULL,
	};
	remark(r->c, &p->notes, "OpenSM adds to any file: ALL=limited, SELF=full");
}

void read_partitions(struct converted *c, const struct convert_input *in)
{
	struct reader r = { .c = c, .file = in->name };
	struct cursor at = cursor_of(in);

	map64_init(&r.by_pkey, 16);
	map64_init(&r.by_name, 16);
	add_default(&r);
	for (cursor_skip_between(&at); at.s < at.end; cursor_skip_between(&at)) {
		const char *end = find_outside(&at, ';');

		read_statement(&r, cursor_part(at, end));
		if (end == at.end)
			verdict(c, NULL, VERDICT_SAME, at.at, "this statement does not end with ';', which "
				"OpenSM accepts for the last one");
		cursor_skip(&at, (size_t)(end - at.s) + 1);
	}
	if (!r.default_said)
		verdict(c, &c->partitions.v[0].notes, VERDICT_SAME,
		    (struct place){ in->name, { 0, 0 } },
		    "no rule for the default partition: OpenSM makes all ports limited members of it, "
		    "which cannot communicate, and gives it no IPoIB group");
	drop_groups_of_nobody(c);
	map64_free(&r.by_pkey);
	map64_free(&r.by_name);
	c->has_partitions = true;
}
