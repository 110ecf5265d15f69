/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests dynamic partitions: requests, the lines in which they are stored, their
 * combination with a policy, and multicast memberships that end.
 *
 * promise: N2
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sa/registry/dynamic_partitions.h"
#include "sa/registry/groups.h"
#include "unit/plan/net.h"
#include "unit/run.h"

static struct policy *p;
static struct dynamic_partitions *x;
static struct findings found;
static struct dynamic_troubles troubles;
static struct policy *merged;

static void add_group(const char *name)
{
	p->groups = xrealloc(p->groups, p->n_groups + 1, sizeof(*p->groups));
	p->groups[p->n_groups++] = (struct policy_group){ .name = xstrdup(name) };
}

static struct policy_partition *add_partition(const char *name, uint16_t pkey)
{
	struct policy_partition *part;

	p->partitions = xrealloc(p->partitions, p->n_partitions + 1, sizeof(*part));
	part = &p->partitions[p->n_partitions++];
	*part = (struct policy_partition){
		.name = xstrdup(name), .pkey = pkey, .level.s = xstrdup(""),
		.ipoib_level.s = xstrdup(""),
	};
	return part;
}

static void add_level(const char *name)
{
	p->levels = xrealloc(p->levels, p->n_levels + 1, sizeof(*p->levels));
	p->levels[p->n_levels++] = (struct policy_level){
		.name = xstrdup(name), .packet_lifetime = -1, .path_bits = -1, .tclass = -1,
	};
}

static void add_member(struct policy_partition *part, const struct policy_member *m)
{
	part->members = xrealloc(part->members, part->n_members + 1, sizeof(*part->members));
	part->members[part->n_members++] = *m;
}

static void setup(void)
{
	p = policy_builtin();
	add_group("g");
	add_group("a/b");
	add_group("x");
	*vec_push(&p->groups[2].pkeys) = (struct u64_range){ .lo = 0x30, .hi = 0x3f };
	add_partition("own", 0x10);
	add_member(&p->partitions[1], &(struct policy_member){
		.group.s = xstrdup("g"), .membership = MEMBER_FULL });
	add_level("fast");
	x = dynamic_new();
}

static void forget(void)
{
	if (merged)
		policy_overlay_free(merged, p);
	merged = NULL;
	dynamic_troubles_free(&troubles);
	findings_free(&found);
}

static void teardown(void)
{
	forget();
	dynamic_free(x);
	policy_free(p);
}

static void merge(void)
{
	if (merged)
		policy_overlay_free(merged, p);
	dynamic_troubles_free(&troubles);
	merged = dynamic_merge(x, p, &troubles);
}

#define MANY 8

/* "sl3", "mtu2048", "rate100"; "sl", "mtu" or "rate" alone: none */
static void read_own(struct dynamic_change *c, const char *word)
{
	size_t n = strcspn(word, "0123456789");
	const char *value = word + n;

	if (!strncmp(word, "sl", n)) {
		c->own_given |= OWN_SL;
		ck_assert(!*value || !dynamic_own_sl(&c->own, value));
	} else if (!strncmp(word, "mtu", n)) {
		c->own_given |= OWN_MTU;
		ck_assert(!*value || !dynamic_own_mtu(&c->own, value));
	} else {
		c->own_given |= OWN_RATE;
		ck_assert(!*value || !dynamic_own_rate(&c->own, value));
	}
}

/* "+name pkey who who=limited @sl3 …", "=name @mtu …" or "-name who …"; pkey 0: to be chosen. */
static size_t ask(const char *text)
{
	struct dynamic_change c[MANY] = { 0 };
	struct dynamic_who who[MANY][MANY] = { 0 };
	char *copy = xstrdup(text), *save, *save2, *line, *word;
	size_t n = 0, changed;

	findings_free(&found);
	for (line = strtok_r(copy, ";", &save); line; line = strtok_r(NULL, ";", &save), n++) {
		line += strspn(line, " ");
		c[n].kind = *line == '-' ? DYNAMIC_REMOVE : *line == '=' ? DYNAMIC_SET : DYNAMIC_ADD;
		c[n].name = strtok_r(line + 1, " ", &save2);
		if (c[n].kind == DYNAMIC_ADD)
			c[n].pkey = (uint16_t)strtoul(strtok_r(NULL, " ", &save2), NULL, 16);
		c[n].members = who[n];
		while ((word = strtok_r(NULL, " ", &save2))) {
			struct dynamic_who *w = &who[n][c[n].n_members];
			char *kind = strchr(word, '=');

			if (kind)
				*kind = '\0';
			if (!strcmp(word, "@fast"))
				c[n].level = "fast";
			else if (!strcmp(word, "@slow"))
				c[n].level = "slow";
			else if (!strcmp(word, "@ipoib"))
				c[n].ipoib = IPOIB_YES;
			else if (*word == '@')
				read_own(&c[n], word + 1);
			else {
				w->who = word;
				w->membership = kind ? dynamic_membership(kind + 1, &w->index0) :
						MEMBER_NONE;
				c[n].n_members++;
			}
		}
	}
	changed = dynamic_apply(x, p, 0x40, 0x42, c, n, &found);
	free(copy);
	return changed;
}

static bool says(const char *text)
{
	for (size_t i = 0; i < found.n; i++)
		if (strstr(found.v[i].text, text))
			return true;
	for (size_t i = 0; i < troubles.n; i++)
		if (strstr(troubles.v[i].text, text))
			return true;
	return false;
}

static const char *registry(void)
{
	static char out[1024];
	struct buf b = { 0 };

	dynamic_print(x, &b);
	snprintf(out, sizeof(out), "%s", b.n ? b.s : "");
	buf_free(&b);
	return out;
}

START_TEST(added_again_and_removed)
{
	ck_assert_uint_eq(ask("+a 20 0x1 node1/P1=limited @fast"), 3);
	ck_assert_str_eq(registry(), "partition\twhole\t0x0020\t-\ta\tfast\t\n"
			 "member\tfull\t0x0000000000000001\nmember\tlimited\tnode1/P1\n");
	ck_assert_uint_eq(ask("+a 20 0x01 node1/P1=limited @fast"), 0);
	ck_assert_uint_eq(ask("+a 0 0x1"), 0);
	ck_assert_uint_eq(ask("+a 8020 0x1=both"), 1);
	ck_assert_uint_eq(found.n, 0);
	ck_assert_uint_eq(ask("-a 0x1 0x7; -nobody; -a group:g"), 1);
	ck_assert_uint_eq(found.count[SEV_INFO], 3);
	ck_assert_uint_eq(found.count[SEV_ERROR], 0);
	ck_assert_str_eq(registry(), "partition\twhole\t0x0020\t-\ta\tfast\t\nmember\tlimited\tnode1/P1\n");
	ck_assert_uint_eq(x->n_members, 1);
	ck_assert_uint_eq(ask("-a"), 1);
	ck_assert_str_eq(registry(), "");
	ck_assert_uint_eq(x->n_members, 0);
}
END_TEST

START_TEST(pkeys_are_chosen)
{
	/* not a P_Key that the same request names later */
	ck_assert_uint_eq(ask("+a 0; +b 40; +c 0"), 3);
	ck_assert_uint_eq(dynamic_find(x, "a")->pkey, 0x41);
	ck_assert_uint_eq(dynamic_find(x, "c")->pkey, 0x42);
	ask("+d 0");
	ck_assert(says("no free P_Key in 0x0040-0x0042"));
	dynamic_free(x);
	x = dynamic_new();
	ask("+a 0; +b 0; +c 0");
	ask("-b; +d 0");
	ck_assert_uint_eq(found.n, 0);
	ck_assert_uint_eq(dynamic_find(x, "d")->pkey, 0x41);
}
END_TEST

START_TEST(members_of_the_policys)
{
	ck_assert_uint_eq(ask("+own 0 0x5; +Default 7fff 0x6=limited"), 2);
	ck_assert_str_eq(registry(), "partition\tmembers\t0x0010\t-\town\t\t\n"
			 "member\tfull\t0x0000000000000005\npartition\tmembers\t0x7fff\t-\tDefault\t\t\n"
			 "member\tlimited\t0x0000000000000006\n");
	merge();
	ck_assert_uint_eq(troubles.n, 0);
	ck_assert_uint_eq(merged->n_partitions, 2);
	ck_assert_uint_eq(merged->partitions[1].n_members, 2);
	ck_assert(merged->partitions[1].members[1].dynamic);
	ck_assert(!merged->partitions[1].members[0].dynamic);
	ck_assert_uint_eq(p->partitions[1].n_members, 1);
	/* entries of the policy stay */
	ask("-own g");
	ck_assert(says("the policy makes \"g\" a member"));
	ck_assert_uint_eq(ask("-own"), 1);
	ck_assert_uint_eq(found.count[SEV_ERROR], 0);
	ask("-own");
	ck_assert(says("the partition is part of the policy"));
}
END_TEST

/* Requests that must be refused, and the reasons. */
static const struct {
	const char *request, *why;
} wrong[] = {
	{ "+a 10", "the partition \"own\" already has the P_Key 0x0010" },
	{ "+a 7fff", "the partition \"Default\" already has the P_Key 0x7fff" },
	{ "+a 8000", "0x8000 is not a valid P_Key" },
	{ "+own 11", "has P_Key 0x0010, not 0x0011" },
	{ "+own 10 @fast", "the existing partition has level \"default\", not \"fast\"" },
	{ "+own 10 @ipoib", "the partition exists already, without IPoIB" },
	{ "+a 20; +b 20", "change 2, partition \"b\": the partition \"a\" already has the P_Key 0x0020" },
	{ "+a 20; +a 21", "the existing partition has P_Key 0x0020" },
	{ "+a 20 @slow", "the policy has no level \"slow\"" },
	{ "+a 20 nobody", "the policy has no group \"nobody\"" },
	{ "+a 20 0xg", "is not a port GUID" },
	{ "+a 20 0x5-0x4", "is neither a port GUID nor a range" },
	{ "+a 20 0x5-", "is not a range" },
	{ "+a 20 0x11111111111111111", "is not a port GUID" },
	{ "+a 20 type:cat", "is not one of type:ca" },
	{ "+a 20 a\tb/P1", "contains control characters" },
	{ "+a\t 20", "the name of a partition contains control characters" },
	{ "+a 30 x", "the group \"x\", a dynamic member, contains the partition" },
	{ "+own 0 @sl3", "the partition is part of the policy, and has SL, MTU and rate of its level" },
	{ "=own @sl3", "the partition is part of the policy: change the policy instead" },
	{ "=nobody @sl3", "no such partition" },
	{ "+a 20; =a @slow", "the policy has no level \"slow\"" },
	{ "+a 20 @sl3; +a 0 @sl4", "the existing partition has another SL, MTU or rate" },
	{ "+a 20; +a 0 @mtu2048", "the existing partition has another SL, MTU or rate" },
	{ "+a 30 g; +own 0 x", "the group \"x\", a dynamic member, contains the partition" },
};

START_TEST(wrong_requests)
{
	/* indirectly: own has x, which has the partition 0x30, which has y, which has own */
	if (strstr(wrong[_i].request, "; +own 0 x")) {
		*vec_push(&p->groups[0].partitions) = (struct policy_name){ .s = xstrdup("own") };
		free(p->partitions[1].members[0].group.s);
		p->partitions[1].n_members = 0;
	}
	ask(wrong[_i].request);
	ck_assert_uint_ge(found.count[SEV_ERROR], 1);
	ck_assert_msg(says(wrong[_i].why), "\"%s\": %s", wrong[_i].request, found.v[0].text);
}
END_TEST

START_TEST(all_errors_are_named)
{
	ask("+a 10; +b 20 nobody 0xg; +c 20; -own g");
	ck_assert_uint_eq(found.count[SEV_ERROR], 5);
}
END_TEST

/* promise: N21 */
START_TEST(values_of_their_own)
{
	uint32_t a, b;

	ck_assert_uint_eq(ask("+a 20 @fast @sl3 @mtu2048; +b 21 @fast @mtu2048 @sl3 @ipoib; +c 22 @rate2.5"), 3);
	ck_assert_str_eq(registry(), "partition\twhole\t0x0020\t-\ta\tfast\t\t3\t2048\t-\n"
			 "partition\twhole\t0x0021\tipoib\tb\tfast\t\t3\t2048\t-\n"
			 "partition\twhole\t0x0022\t-\tc\t\t\t-\t-\t2.5\n");
	ck_assert_uint_eq(dynamic_format(x), 2);
	merge();
	ck_assert_uint_eq(troubles.n, 0);
	/* equal values share a level, which is like the one that the partition names */
	ck_assert_uint_eq(p->n_levels, 2);
	ck_assert_uint_eq(merged->n_levels, 4);
	a = merged->partitions[2].level_index;
	b = merged->partitions[3].level_index;
	ck_assert_uint_eq(a, b);
	ck_assert_uint_eq(merged->partitions[3].ipoib_level_index, b);
	ck_assert_str_eq(merged->levels[a].name, "fast,sl=3,mtu=2048");
	ck_assert_uint_eq(merged->levels[a].sl, 3);
	ck_assert_uint_eq(merged->levels[a].mtu_limit, 4);
	ck_assert_uint_eq(merged->levels[a].rate_limit, 0);
	ck_assert_int_eq(merged->levels[a].tclass, -1);
	ck_assert_str_eq(merged->levels[merged->partitions[4].level_index].name, "default,rate=2.5");
	ck_assert_str_eq(merged->partitions[2].level.s, "fast");
	/* repeated, and changed while in use */
	ck_assert_uint_eq(ask("+a 20 @fast @sl3 @mtu2048"), 0);
	ck_assert_uint_eq(ask("+a 20"), 0);
	ck_assert_uint_eq(ask("=a @sl5"), 1);
	ck_assert_uint_eq(ask("=a @sl5 @mtu2048"), 0);
	merge();
	ck_assert_str_eq(merged->levels[merged->partitions[2].level_index].name, "fast,sl=5,mtu=2048");
	ck_assert_uint_eq(ask("=a @sl @mtu; =b @sl @mtu; =c @rate"), 3);
	ck_assert_uint_eq(found.n, 0);
	ck_assert_uint_eq(dynamic_format(x), 1);
	merge();
	ck_assert_uint_eq(merged->n_levels, 2);
	ck_assert_str_eq(merged->levels[merged->partitions[2].level_index].name, "fast");
}
END_TEST

/* promise: N23 */
START_TEST(members_at_index_0)
{
	bool index0;

	ck_assert_int_eq(dynamic_membership("full@0", &index0), MEMBER_FULL);
	ck_assert(index0);
	ck_assert_int_eq(dynamic_membership("both", &index0), MEMBER_BOTH);
	ck_assert(!index0);
	ck_assert_int_eq(dynamic_membership("full@1", &index0), MEMBER_NONE);
	ck_assert_int_eq(dynamic_membership("@0", &index0), MEMBER_NONE);
	ck_assert_int_eq(dynamic_membership("full@0full@0full@0full@0", &index0), MEMBER_NONE);
	ck_assert_uint_eq(ask("+a 20 0x1=full@0 0x2=limited"), 3);
	ck_assert_str_eq(registry(), "partition\twhole\t0x0020\t-\ta\t\t\n"
			 "member\tfull\t0x0000000000000001\tindex0\n"
			 "member\tlimited\t0x0000000000000002\n");
	ck_assert_uint_eq(dynamic_format(x), 2);
	ck_assert_uint_eq(ask("+a 20 0x1=full@0"), 0);
	merge();
	ck_assert(merged->partitions[2].members[0].index0);
	ck_assert(!merged->partitions[2].members[1].index0);
	/* the last request decides */
	ck_assert_uint_eq(ask("+a 20 0x1=full 0x2=limited@0"), 2);
	ck_assert_uint_eq(ask("+a 20 0x2=limited"), 1);
	ck_assert_uint_eq(dynamic_format(x), 1);
}
END_TEST

START_TEST(what_differs)
{
	struct dynamic_partitions *before;
	struct buf b = { 0 };

	ask("+a 20 0x1; +b 21 0x1; +c 22; +d 23; +e 24");
	before = dynamic_copy(x);
	ck_assert_uint_eq(dynamic_differences(before, x, 2, &b), 0);
	ck_assert_uint_eq(b.n, 0);
	ask("=a @sl3; +b 21 0x1=full@0; -d; +f 25");
	ck_assert_uint_eq(dynamic_differences(before, x, 2, &b), 4);
	ck_assert_str_eq(b.s, "a, b and 2 more");
	b.n = 0;
	dynamic_differences(before, x, 4, &b);
	ck_assert_str_eq(b.s, "a, b, f, d");
	buf_free(&b);
	dynamic_free(before);
}
END_TEST

/* promise: N21 */
START_TEST(too_many_different_values)
{
	static const unsigned mtus[] = { 256, 512, 1024, 2048, 4096 };
	static const char *const rates[] = { "2.5", "5", "10", "20" };
	char text[64];
	unsigned n = 0;

	for (unsigned sl = 0; sl < 16; sl++)
		for (unsigned m = 0; m < 5; m++)
			for (unsigned r = 0; r < 4; r++, n++) {
				snprintf(text, sizeof(text), "+p%u %x @sl%u @mtu%u @rate%s", n, 0x100 + n, sl,
					 mtus[m], rates[r]);
				ask(text);
				ck_assert_uint_eq(found.count[SEV_ERROR], n >= POLICY_OWN_LEVELS);
				if (n >= POLICY_OWN_LEVELS) {
					ck_assert(says("have 256 different combinations, the limit"));
					return;		/* the caller throws the registry away */
				}
			}
	ck_abort_msg("no limit");
}
END_TEST

START_TEST(lines_are_read_again)
{
	char *before;
	struct dynamic_partitions *again = dynamic_new();
	char *copy, *save;

	ask("+o 21 @rate2.5 @sl0; +a 20 @fast @ipoib @mtu4096 0x1-0x5=both@0 node?/P1 type:ca=limited; +own 0 group:a/b self all");
	before = xstrdup(registry());
	copy = xstrdup(before);
	for (char *l = strtok_r(copy, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		ck_assert_msg(dynamic_line(again, l), "%s", l);
	dynamic_free(x);
	x = again;
	ck_assert_str_eq(registry(), before);
	ck_assert_uint_eq(x->n_members, 6);
	free(copy);
	free(before);
}
END_TEST

static const char *const bad_lines[] = {
	"", "member\tfull\t0x1", "partition", "partition\twhole\t0x0\t-\ta\t\t",
	"partition\twhole\t0x8000\t-\ta\t\t", "partition\thalf\t0x20\t-\ta\t\t",
	"partition\twhole\t0x20\t-\t\t\t", "partition\twhole\t0x20\t-\ta\t\t\tmore",
	"partition\twhole\t0x20 \t-\ta\t\t", "\t\t\t\t\t\t\t\t\t\t",
	"partition\twhole\t0x20\t-\ta\t\t\t-\t-\t-", "partition\twhole\t0x20\t-\ta\t\t\t16\t-\t-",
	"partition\twhole\t0x20\t-\ta\t\t\t1\t2000\t-", "partition\twhole\t0x20\t-\ta\t\t\t1\t-\t7",
	"partition\twhole\t0x20\t-\ta\t\t\t1\t-",
	"partition\tmembers\t0x20\t-\ta\t\t\t1\t-\t-",
};

START_TEST(lines_that_make_no_sense)
{
	ck_assert(!dynamic_line(x, bad_lines[_i]));
}
END_TEST

START_TEST(members_that_make_no_sense)
{
	ck_assert(dynamic_line(x, "partition\twhole\t0x20\t-\ta\t\t"));
	ck_assert(!dynamic_line(x, "partition\twhole\t0x21\t-\ta\t\t"));
	ck_assert(dynamic_line(x, "member\tfull\t0x1"));
	ck_assert(!dynamic_line(x, "member\tfull\t0x1"));
	ck_assert(!dynamic_line(x, "member\tnone\t0x2"));
	ck_assert(!dynamic_line(x, "member\tfull\t0xzz"));
	ck_assert(!dynamic_line(x, "member\tfull\t0x3\tindex1"));
}
END_TEST

/* --- against another policy --- */

static void lines(const char *name, const char *pkey)
{
	char *l = xasprintf("partition\twhole\t%s\tipoib\t%s\tfast\t", pkey, name);

	ck_assert(dynamic_line(x, l));
	ck_assert(dynamic_line(x, "member\tfull\t0x5"));
	free(l);
}

START_TEST(conflicts_with_a_policy)
{
	lines("own", "0x11");
	lines("mine", "0x10");
	lines("other", "0x20");
	ck_assert(dynamic_line(x, "partition\tmembers\t0x33\t-\tgone\t\t"));
	ck_assert(dynamic_line(x, "member\tfull\t0x6"));
	merge();
	ck_assert_uint_eq(merged->n_partitions, 3);
	ck_assert_str_eq(merged->partitions[2].name, "other");
	ck_assert_uint_eq(merged->partitions[1].n_members, 1);
	ck_assert(says("\"own\" with P_Key 0x0011 is not in force: the policy's "
		       "partition \"own\" has P_Key 0x0010"));
	ck_assert(says("\"mine\" is not in force: the partition \"own\" has its P_Key 0x0010"));
	ck_assert(says("dynamic members of the partition \"gone\" (0x0033) are not in force"));
	ck_assert_uint_eq(troubles.n, 3);
	/* the partition has become the policy's: members are added, and the policy's level applies */
	add_partition("other", 0x20);
	merge();
	ck_assert_uint_eq(merged->n_partitions, 3);
	ck_assert(!merged->partitions[2].dynamic);
	ck_assert_uint_eq(merged->partitions[2].n_members, 1);
	ck_assert(!merged->partitions[2].ipoib);
	ck_assert(says("whose IPoIB and level apply"));
}
END_TEST

START_TEST(a_level_and_a_group_that_are_gone)
{
	ask("+a 20 @fast @ipoib g 0x5");
	merge();
	ck_assert_uint_eq(merged->partitions[2].level_index, 1);
	ck_assert_uint_eq(troubles.n, 0);
	free(p->levels[1].name);
	p->levels[1].name = xstrdup("faster");
	free(p->groups[0].name);
	p->groups[0].name = xstrdup("h");
	merge();
	ck_assert_uint_eq(merged->partitions[2].level_index, 0);
	ck_assert_uint_eq(merged->partitions[2].ipoib_level_index, 0);
	ck_assert_uint_eq(merged->partitions[2].n_members, 1);
	ck_assert(says("the policy has no level \"fast\""));
	ck_assert(says("the policy has no group \"g\", which is a dynamic member"));
}
END_TEST

START_TEST(a_policy_that_makes_a_cycle)
{
	ask("+a 20 g");
	ck_assert_uint_eq(found.count[SEV_ERROR], 0);
	*vec_push(&p->groups[0].groups) = (struct policy_name){ .s = xstrdup("x") };
	p->groups[2].pkeys.v[0] = (struct u64_range){ .lo = 0x20, .hi = 0x20 };
	merge();
	ck_assert(says("the group \"g\", a dynamic member, contains the partition"));
	ck_assert_uint_eq(merged->partitions[2].n_members, 0);
}
END_TEST

START_TEST(rules_for_ipoib_follow)
{
	p->rules = xcalloc(2, sizeof(*p->rules));
	p->n_rules = 2;
	for (int i = 0; i < 2; i++)
		*vec_push(&p->rules[i].pkeys) = (struct u64_range){ .lo = 0x7fff, .hi = 0x7fff };
	p->rules[1].all_ipoib = true;
	ask("+a 20 @ipoib; +b 21");
	merge();
	ck_assert_uint_eq(merged->rules[0].pkeys.n, 1);
	ck_assert_uint_eq(merged->rules[1].pkeys.n, 2);
	ck_assert_uint_eq(merged->rules[1].pkeys.v[0].lo, 0x20);
	ck_assert_uint_eq(merged->rules[1].pkeys.v[1].lo, 0x7fff);
	ck_assert_uint_eq(p->rules[1].pkeys.n, 1);
}
END_TEST

/* --- multicast --- */

static size_t leave(struct mcast_db *db, const struct subnet_state *s)
{
	struct leavers list = { 0 };
	size_t n;

	dynamic_leavers(db, s, &list);
	dynamic_leave(db, &list);
	n = list.n;
	vec_free(&list);
	return n;
}

START_TEST(who_is_out_leaves_its_groups)
{
	struct settings *settings = settings_default();
	struct mcast_db *db = mcast_new(NULL, NULL);
	struct fabric *f = fabric_new();
	struct subnet_state s = { .refs = 1, .f = f };
	struct mcast_group g = { .mgid = { 0xff, 1 }, .pkey = 0x8020 }, *made;

	net_ca(f, 0x10, 1);
	net_ca(f, 0x20, 1);
	net_switch(f, 0x100, 4, false);
	fabric_link(f, 0, 1, 2, 1);
	fabric_link(f, 1, 1, 2, 2);
	net_finish(f);
	f->nodes[0].partition_cap = f->nodes[1].partition_cap = 8;
	ask("+a 20 0x11=both");
	merge();
	s.plan = plan_compute(f, merged, settings, NULL, NULL, NULL);
	made = mcast_create(db, &g, 8);
	mcast_join(db, made, mcast_own_gid(0x11), JOIN_FULL, false);
	mcast_join(db, made, mcast_own_gid(0x21), JOIN_FULL | JOIN_SEND_ONLY_NON, false);
	mcast_join(db, made, mcast_own_gid(0x99), JOIN_FULL, false);	/* not there now */
	/* by aliases, too; one that another port has as its own means that port */
	mcast_join(db, made, (struct mcast_gid){ 0x11, 0xa1 }, JOIN_FULL, false);
	mcast_join(db, made, (struct mcast_gid){ 0x11, 0x21 }, JOIN_FULL, false);
	mcast_join(db, made, (struct mcast_gid){ 0x21, 0xa2 }, JOIN_FULL, false);
	ck_assert_uint_eq(leave(db, &s), 3);
	ck_assert_ptr_nonnull(mcast_member(made, (struct mcast_gid){ 0x11, 0xa1 }));
	ck_assert_ptr_null(mcast_member(made, (struct mcast_gid){ 0x11, 0x21 }));
	ck_assert_ptr_null(mcast_member(made, (struct mcast_gid){ 0x21, 0xa2 }));
	ck_assert_ptr_nonnull(mcast_member(made, mcast_own_gid(0x11)));
	ck_assert_ptr_null(mcast_member(made, mcast_own_gid(0x21)));
	ck_assert_ptr_nonnull(mcast_member(made, mcast_own_gid(0x99)));
	ck_assert_uint_eq(leave(db, &s), 0);
	plan_free(s.plan);
	/* the partition is gone, and with its last full member the group */
	mcast_leave(db, made, mcast_own_gid(0x99), JOIN_FULL);
	s.plan = plan_compute(f, p, settings, NULL, NULL, NULL);
	ck_assert_uint_eq(leave(db, &s), 2);
	ck_assert_uint_eq(mcast_count(db), 0);
	plan_free(s.plan);
	fabric_free(f);
	mcast_free(db);
	settings_free(settings);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("partitions at run time");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, added_again_and_removed);
	tcase_add_test(t, pkeys_are_chosen);
	tcase_add_test(t, members_of_the_policys);
	tcase_add_loop_test(t, wrong_requests, 0, ARRAY_SIZE(wrong));
	tcase_add_test(t, all_errors_are_named);
	tcase_add_test(t, values_of_their_own);
	tcase_add_test(t, too_many_different_values);
	tcase_add_test(t, members_at_index_0);
	tcase_add_test(t, what_differs);
	tcase_add_test(t, lines_are_read_again);
	tcase_add_loop_test(t, lines_that_make_no_sense, 0, ARRAY_SIZE(bad_lines));
	tcase_add_test(t, members_that_make_no_sense);
	tcase_add_test(t, conflicts_with_a_policy);
	tcase_add_test(t, a_level_and_a_group_that_are_gone);
	tcase_add_test(t, a_policy_that_makes_a_cycle);
	tcase_add_test(t, rules_for_ipoib_follow);
	tcase_add_test(t, who_is_out_leaves_its_groups);
	suite_add_tcase(s, t);
	return run_suite(s);
}
