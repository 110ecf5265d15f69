/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads OpenSM's partitions.conf.
 *
 * A statement "definition : members ;" may span lines; a line that begins with "mgid=" is a
 * multicast group.  OpenSM accepts any prefix of a keyword ("lim" is limited), and at the first
 * error drops the whole file, so that every port becomes a full member of the default partition.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert/split_text.h"
#include "lib/base/map64.h"
#include "lib/iba/iba.h"
#include "lib/iba/units.h"

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

/* A statement: [definition, colon) and [colon + 1, end). */
struct statement {
	struct cursor head, body;
	struct out_partition *partition;
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

/* --- flags of the broadcast group --- */

struct group_flags {
	int sl, mtu, rate, tclass;	/* -1: not given */
};

static void say_bad_flag(struct reader *r, struct notes *notes, const struct pair *p)
{
	say(r->c, notes, SEV_WARNING, p->at,
	    "%s: OpenSM skips a flag without a valid value", SHOW(p->name));
}

static void read_number_flag(struct reader *r, struct notes *notes, const struct pair *p,
			     uint64_t max, int *out)
{
	uint64_t v;

	if (p->value && parse_number(p->value, &v) && v <= max)
		*out = (int)v;
	else
		say_bad_flag(r, notes, p);
}

static void read_rate_flag(struct reader *r, const struct pair *p, int *out)
{
	uint64_t v;

	if (p->value && parse_number(p->value, &v) && v <= UINT8_MAX && rate_tenths((unsigned)v))
		*out = (int)v;
	else
		say_error(r->c, p->at, "rate=%s is not the code of a rate (2 to 24)",
			  p->value ? SHOW(p->value) : "");
}

static void read_mtu_flag(struct reader *r, const struct pair *p, int *out)
{
	uint64_t v;

	if (p->value && parse_number(p->value, &v) && v <= UINT8_MAX && mtu_bytes((unsigned)v))
		*out = (int)v;
	else
		say_error(r->c, p->at, "mtu=%s is not the code of an MTU (1 to 5)",
			  p->value ? SHOW(p->value) : "");
}

static void say_no_equivalent(struct reader *r, struct notes *notes, const struct pair *p,
			      const char *why)
{
	say(r->c, notes, SEV_WARNING, p->at, "%s=%s has no equivalent: %s", p->name,
	    p->value ? SHOW(p->value) : "", why);
}

/* The order of comparisons is OpenSM's, as it decides what an abbreviation means. */
static bool read_group_flag(struct reader *r, struct notes *notes, const struct pair *p,
			    struct group_flags *flags)
{
	if (begins(p->name, "mtu"))
		read_mtu_flag(r, p, &flags->mtu);
	else if (begins(p->name, "rate"))
		read_rate_flag(r, p, &flags->rate);
	else if (begins(p->name, "scope"))
		say_no_equivalent(r, notes, p, "broadcast groups have link-local scope");
	else if (begins(p->name, "Q_Key"))
		say_no_equivalent(r, notes, p, "broadcast groups have the Q_Key 0x0b1b");
	else if (begins(p->name, "TClass"))
		read_number_flag(r, notes, p, 255, &flags->tclass);
	else if (begins(p->name, "sl"))
		read_number_flag(r, notes, p, 15, &flags->sl);
	else if (begins(p->name, "FlowLabel"))
		say_no_equivalent(r, notes, p, "broadcast groups have the flow label 0");
	else
		return false;
	return true;
}

/* --- the definition --- */

struct definition {
	const char *name;
	struct place at;
	uint16_t pkey;			/* 0: generate one */
	bool ipoib, index0;
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

	if (!*p->name) {
		say(r->c, &s->notes, SEV_WARNING, p->at, "a flag is empty");
	} else if (read_group_flag(r, &s->notes, p, &d->flags)) {
		/* done */
	} else if (begins(p->name, "ipoib")) {
		d->ipoib = true;
	} else if (begins(p->name, "defmember")) {
		if (p->value && parse_membership(p->value, &m))
			s->membership = m;
		else
			say_bad_flag(r, &s->notes, p);
	} else if (!strcmp(p->name, "indx0")) {
		say(r->c, &s->notes, SEV_WARNING, p->at,
		    "indx0 has no equivalent: qosd chooses the indexes of P_Keys itself");
	} else {
		say(r->c, &s->notes, SEV_WARNING, p->at, "'%s' is not a flag; OpenSM ignores it",
		    SHOW(p->name));
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
		.group_sl = 0, .mtu = MTU_DEFAULT, .rate = RATE_DEFAULT, .tclass = -1,
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
			say(r->c, &s->notes, SEV_INFO, d->at,
			    "'%s' has the P_Key of '%s': merged into one partition with the first name",
			    SHOW(d->name), SHOW(p->name));
		return p;
	}
	if (!pkey) {
		pkey = generate_pkey(r);
		if (!pkey) {
			say_error(r->c, d->at, "no P_Key is left to generate");
			return NULL;
		}
		say(r->c, &s->notes, SEV_WARNING, d->at,
		    "P_Key 0x%04x, as OpenSM generates it from the order in the file; there it could "
		    "change with each edit, here it stays", pkey);
	}
	return new_partition(r, d->name, pkey, d->at);
}

static void apply_definition(struct reader *r, struct statement *s, const struct definition *d)
{
	struct out_partition *p = s->partition;

	if (p->pkey == IB_PKEY_DEFAULT)
		r->default_said = true;
	p->sl = d->flags.sl < 0 ? 0 : d->flags.sl;
	if (d->ipoib && !p->ipoib) {
		p->ipoib = true;
		p->group_sl = p->sl;
		p->mtu = d->flags.mtu < 0 ? MTU_DEFAULT : d->flags.mtu;
		p->rate = d->flags.rate < 0 ? RATE_DEFAULT : d->flags.rate;
		p->tclass = d->flags.tclass;
	}
	for (size_t i = 0; i < s->notes.n; i++)
		*vec_push(&p->notes) = s->notes.v[i];
}

static bool read_head(struct reader *r, struct statement *s)
{
	struct definition d = { .name = "", .at = s->head.at, .flags = { -1, -1, -1, -1 } };
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
		const char *word;
		enum out_member_kind kind;
		unsigned type;
	} words[] = {
		{ "ALL", MEMBER_ALL, 0 }, { "ALL_CAS", MEMBER_OF_GROUP, NODE_CA },
		{ "ALL_SWITCHES", MEMBER_OF_GROUP, NODE_SWITCH },
		{ "ALL_ROUTERS", MEMBER_OF_GROUP, NODE_ROUTER }, { "SELF", MEMBER_SELF, 0 },
	};
	struct out_member m = { .at = p->at, .membership = s->membership };
	size_t w = 0;

	if (p->value && !parse_membership(p->value, &m.membership))
		say(r->c, &s->partition->notes, SEV_WARNING, p->at,
		    "'%s' is not a membership; OpenSM treats it as limited", SHOW(p->value));
	if (begins(p->name, "NONE"))
		return;		/* also for an empty name, which is a prefix */
	while (w < ARRAY_SIZE(words) && !begins(p->name, words[w].word))
		w++;
	if (w < ARRAY_SIZE(words)) {
		if (strcmp(p->name, words[w].word))
			say(r->c, &s->partition->notes, SEV_WARNING, p->at,
			    "OpenSM treats '%s' as %s", SHOW(p->name), words[w].word);
		m.kind = words[w].kind;
		m.node_type = words[w].type;
	} else if (parse_number(p->name, &m.guid) && m.guid) {
		m.kind = MEMBER_GUID;
	} else {
		say_error(r->c, p->at, "'%s' is neither a GUID nor one of: ALL, ALL_CAS, "
			  "ALL_SWITCHES, ALL_ROUTERS, SELF, NONE", SHOW(p->name));
		return;
	}
	*vec_push(&s->partition->members) = m;
}

static void say_group(struct reader *r, struct statement *s, struct cursor line)
{
	const char *text = item_text(r->c, line);

	say(r->c, &s->partition->notes, SEV_WARNING, line.at,
	    "%s: a policy has broadcast groups only; this group is created when the first port "
	    "joins", SHOW(text));
}

/* Reads a line of the body: a multicast group, or members. */
static void read_body_line(struct reader *r, struct statement *s, struct cursor line)
{
	struct item i;

	while (next_item(&line, &i)) {
		struct pair p = take_pair(r->c, i.text);

		if (!strcmp(p.name, "mgid")) {
			/* the group takes the rest of the line */
			say_group(r, s, cursor_part(i.text, line.end));
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
	cursor_skip(&s.body, (size_t)(colon + 1 - text.s));
	if (read_head(r, &s))
		read_body(r, &s);
	vec_free(&s.notes);
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
			say(c, NULL, SEV_WARNING, at.at, "this statement does not end with ';'");
		cursor_skip(&at, (size_t)(end - at.s) + 1);
	}
	if (!r.default_said)
		say(c, &c->partitions.v[0].notes, SEV_WARNING,
		    (struct place){ in->name, { 0, 0 } },
		    "no rule for the default partition: OpenSM makes all ports limited members of it, "
		    "which cannot communicate, and gives it no IPoIB group");
	map64_free(&r.by_pkey);
	map64_free(&r.by_name);
	c->has_partitions = true;
}
