/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the values in struct policy and struct settings that the words of the files become.
 *
 * promise: O9
 */
#include <check.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>

#include "conf_test.h"
#include "events/event.h"
#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "unit/run.h"

static void ck_ranges(const struct u64_ranges *r, size_t n, const uint64_t *bounds)
{
	ck_assert_uint_eq(r->n, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(r->v[i].lo, bounds[2 * i]);
		ck_assert_uint_eq(r->v[i].hi, bounds[2 * i + 1]);
	}
}
#define CK_RANGES(r, ...) \
	ck_ranges(r, sizeof((uint64_t[]){ __VA_ARGS__ }) / 16, (uint64_t[]){ __VA_ARGS__ })

START_TEST(without_a_file)
{
	struct policy *p = policy_builtin(), *empty = good_policy("");

	for (int i = 0; i < 2; i++) {
		const struct policy *q = i ? empty : p;

		ck_assert_uint_eq(q->n_levels, 1);
		ck_assert_str_eq(q->levels[q->default_level].name, "default");
		ck_assert_uint_eq(q->levels[q->default_level].sl, 0);
		ck_assert_uint_eq(q->n_partitions, 1);
		ck_assert_uint_eq(q->partitions[0].pkey, 0x7fff);
		ck_assert(q->partitions[0].ipoib);
		ck_assert_uint_eq(q->partitions[0].ipoib_level_index, q->default_level);
		ck_assert(!policy_manages_tables(q));
		ck_assert_int_eq(q->defaults[CLASS_CA].high_limit, -1);
	}
	ck_assert_str_eq(p->file, "(built-in)");
	ck_assert_str_eq(empty->file, "t");
	policy_free(p);
	policy_free(empty);
	policy_free(NULL);
}
END_TEST

START_TEST(tables_are_managed)
{
	static const struct { const char *text; bool managed; } cases[] = {
		{ "qos-levels: {a: {sl: 0}}", false }, { "qos-levels: {a: {sl: 1}}", true },
		{ "fabric-setup: {}", true }, { "match-rules: []", false },
		{ "traffic-classes: {level: default}", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct policy *p = good_policy(cases[i].text);

		ck_assert_msg(policy_manages_tables(p) == cases[i].managed, "%s", cases[i].text);
		policy_free(p);
	}
}
END_TEST

START_TEST(group_members)
{
	struct policy *p = good_policy(
		"port-groups:\n"
		"  a:\n"
		"    port-guids: [5, 0x10-0x1f]\n"
		"    port-names: n1/P1\n"
		"    pkeys: 3\n"
		"    partitions: Default\n"
		"    groups: [b, all]\n"
		"    node-types: [ca, self]\n"
		"  b: {node-types: all}\n");
	const struct policy_group *a = &p->groups[0];

	ck_assert_uint_eq(p->n_groups, 2);
	ck_assert_uint_eq(policy_find_group(p, "b"), 1);
	ck_assert_uint_eq(policy_find_group(p, "c"), UINT32_MAX);
	ck_assert_str_eq(a->name, "a");
	ck_assert_uint_eq(a->pos.line, 2);
	ck_assert_uint_eq(a->pos.col, 3);
	CK_RANGES(&a->port_guids, 5, 5, 0x10, 0x1f);
	ck_assert_uint_eq(a->port_guids.v[1].pos.line, 3);
	ck_assert_uint_eq(a->port_guids.v[1].pos.col, 21);
	ck_assert_uint_eq(a->port_names.n, 1);
	ck_assert_str_eq(a->port_names.v[0].s, "n1/P1");
	CK_RANGES(&a->pkeys, 3, 3);
	ck_assert_uint_eq(a->partitions.n, 1);
	ck_assert_uint_eq(a->groups.n, 2);
	ck_assert_uint_eq(a->node_types, NT_CA | NT_SELF);
	ck_assert_uint_eq(p->groups[1].node_types, NT_ALL);
	policy_free(p);
}
END_TEST

START_TEST(level_values)
{
	struct policy *p = good_policy(
		"qos-levels:\n"
		"  a: {sl: 5, mtu-limit: 2048, rate-limit: 40, packet-lifetime: 18, path-bits: 3,\n"
		"      tclass: 0x20, pkey: [1, 0x7fff]}\n"
		"  b: {sl: 6, mtu-limit: iba:5, rate-limit: 4xEDR, packet-lifetime: 1s}\n"
		"  c: {sl: 7}\n");
	const struct policy_level *a = p->levels, *b = a + 1, *c = a + 2;

	ck_assert_uint_eq(p->default_level, 3);
	ck_assert_uint_eq(policy_find_level(p, "c"), 2);
	ck_assert_uint_eq(policy_find_level(p, "C"), UINT32_MAX);
	ck_assert_uint_eq(a->sl, 5);
	ck_assert_uint_eq(mtu_bytes(a->mtu_limit), 2048);
	ck_assert_uint_eq(rate_tenths(a->rate_limit), 400);
	ck_assert_int_eq(a->packet_lifetime, 18);
	ck_assert_int_eq(a->path_bits, 3);
	ck_assert_int_eq(a->tclass, 0x20);
	CK_RANGES(&a->pkeys, 1, 1, 0x7fff, 0x7fff);
	ck_assert_uint_eq(mtu_bytes(b->mtu_limit), 4096);
	ck_assert_uint_eq(rate_tenths(b->rate_limit), 1000);
	ck_assert_int_eq(b->packet_lifetime, 18);	/* 1.07 s */
	ck_assert_uint_eq(c->mtu_limit, 0);
	ck_assert_uint_eq(c->rate_limit, 0);
	ck_assert_int_eq(c->packet_lifetime, -1);
	ck_assert_int_eq(c->path_bits, -1);
	ck_assert_int_eq(c->tclass, -1);
	ck_assert_uint_eq(c->pkeys.n, 0);
	policy_free(p);
}
END_TEST

/* A time is rounded up to the next exponent of 4.096 us * 2^n. */
START_TEST(lifetimes)
{
	static const struct { const char *word; int code; } cases[] = {
		{ "0us", 0 }, { "4us", 0 }, { "5us", 1 }, { "8us", 1 }, { "9us", 2 },
		{ "500ms", 17 }, { "0.5s", 17 }, { "1s", 18 }, { "1100ms", 19 }, { "8796s", 31 },
		{ "0x1f", 31 }, { "iba:7", 7 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = xasprintf("qos-levels: {a: {sl: 0, packet-lifetime: %s}}",
				       cases[i].word);
		struct policy *p = good_policy(text);

		ck_assert_msg(p->levels[0].packet_lifetime == cases[i].code, "%s is %d",
			      cases[i].word, p->levels[0].packet_lifetime);
		policy_free(p);
		free(text);
	}
}
END_TEST

START_TEST(rule_criteria)
{
	struct policy *p = good_policy(
		"port-groups: {g: {node-types: ca}}\n"
		"qos-levels: {x: {sl: 1}, y: {sl: 2}}\n"
		"match-rules:\n"
		"  - {source: g, destination: [g, all], either: all, service-id: [22, 0x30-0x3f],\n"
		"     qos-class: 7-9, tclass: 4, pkey: 0x7fff, sl: [0, 2],\n"
		"     target-guid: 9, level: y}\n"
		"  - {level: default}\n");
	const struct policy_rule *r = p->rules;

	ck_assert_uint_eq(p->n_rules, 2);
	ck_assert_uint_eq(r->sources.n, 1);
	ck_assert_uint_eq(r->destinations.n, 2);
	ck_assert_str_eq(r->either.v[0].s, "all");
	CK_RANGES(&r->service_ids, 22, 22, 0x30, 0x3f);
	CK_RANGES(&r->qos_classes, 7, 9);
	CK_RANGES(&r->tclasses, 4, 4);
	CK_RANGES(&r->pkeys, 0x7fff, 0x7fff);
	CK_RANGES(&r->sls, 0, 0, 2, 2);
	CK_RANGES(&r->dest_guids, 9, 9);
	ck_assert_int_eq(r->ulp, ULP_NONE);
	ck_assert_uint_eq(r->level, 1);
	ck_assert_uint_eq(r->pos.line, 4);
	ck_assert_uint_eq(r->pos.col, 5);
	ck_assert_uint_eq(r[1].level, p->default_level);
	policy_free(p);
}
END_TEST

/* Service-IDs of the RDMA CM: (port space << 16) + port. */
START_TEST(ulps)
{
	static const struct { const char *rule; uint64_t lo, hi; } cases[] = {
		{ "ulp: sdp", 0x10000, 0x1ffff },
		{ "ulp: sdp, tcp-port: 80", 0x10050, 0x10050 },
		{ "ulp: iser", 0x1060cbc, 0x1060cbc },
		{ "ulp: iser, tcp-port: 3261-3262", 0x1060cbd, 0x1060cbe },
		{ "ulp: nfs-rdma", 0x1064e51, 0x1064e51 },
		{ "ulp: nvme-of", 0x1061144, 0x1061144 },
		{ "ulp: lustre", 0x10603db, 0x10603db },
		{ "ulp: smb-direct", 0x10601bd, 0x10601bd },
		{ "tcp-port: 0-65535", 0x1060000, 0x106ffff },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = xasprintf("match-rules: {%s, level: default}", cases[i].rule);
		struct policy *p = good_policy(text);

		ck_assert_msg(p->rules[0].service_ids.n == 1, "%s", text);
		CK_RANGES(&p->rules[0].service_ids, cases[i].lo, cases[i].hi);
		ck_assert_uint_eq(p->rules[0].pkeys.n, 0);
		policy_free(p);
		free(text);
	}
}
END_TEST

START_TEST(ulps_without_service_id)
{
	struct policy *p = good_policy(
		"match-rules:\n"
		"  - {ulp: ipoib, level: default}\n"
		"  - {ulp: ipoib, pkey: [5, 6], level: default}\n"
		"  - {ulp: srp, target-guid: 0x20-0x2f, level: default}\n");

	CK_RANGES(&p->rules[0].pkeys, 0x7fff, 0x7fff);
	CK_RANGES(&p->rules[1].pkeys, 5, 5, 6, 6);
	CK_RANGES(&p->rules[2].dest_guids, 0x20, 0x2f);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(p->rules[i].service_ids.n, 0);
	policy_free(p);
}
END_TEST

/* RDS over IPv6 has another port. */
START_TEST(ulp_rds)
{
	struct policy *p = good_policy("match-rules: [{ulp: rds, level: default}, "
				       "{ulp: rds, tcp-port: 1, level: default}]");

	CK_RANGES(&p->rules[0].service_ids, 0x10648ca, 0x10648ca, 0x1064001, 0x1064001);
	CK_RANGES(&p->rules[1].service_ids, 0x1060001, 0x1060001);
	policy_free(p);
}
END_TEST

START_TEST(ulp_srp)
{
	struct policy *p = good_policy(
		"match-rules:\n"
		"  - {ulp: srp, service-id: 0x30-0x3f, level: default}\n"
		"  - {ulp: srp, service-id: 7, target-guid: 8, level: default}\n");

	CK_RANGES(&p->rules[0].service_ids, 0x30, 0x3f);
	ck_assert_uint_eq(p->rules[0].dest_guids.n, 0);
	CK_RANGES(&p->rules[1].service_ids, 7, 7);
	CK_RANGES(&p->rules[1].dest_guids, 8, 8);
	policy_free(p);
}
END_TEST

/* The ULP ipoib covers all partitions with IPoIB, wherever in the file they are. */
START_TEST(ulp_ipoib)
{
	struct policy *p = good_policy(
		"match-rules: {ulp: ipoib, level: default}\n"
		"partitions:\n"
		" {a: {pkey: 3, members: all, ipoib: true}, b: {pkey: 4, members: all},\n"
		"  c: {pkey: 5, members: all, ipoib: {level: default}}}\n");

	CK_RANGES(&p->rules[0].pkeys, 3, 3, 5, 5, 0x7fff, 0x7fff);
	policy_free(p);
	p = good_policy("match-rules: {ulp: ipoib, level: default}\n"
			"partitions: {d: {pkey: 0x7fff, ipoib: false},\n"
			"  c: {pkey: 5, members: all, ipoib: true}}\n");
	CK_RANGES(&p->rules[0].pkeys, 5, 5);
	policy_free(p);
	p = good_policy("match-rules: {ulp: ipoib, level: default}\n"
			"partitions: {a: {pkey: 0x7ffe, members: all, ipoib: true},\n"
			"  b: {pkey: 1, members: all, ipoib: true}}\n");
	CK_RANGES(&p->rules[0].pkeys, 1, 1, 0x7ffe, 0x7fff);
	policy_free(p);
}
END_TEST

START_TEST(ulp_names)
{
	for (int u = ULP_NONE + 1; u < ULP_COUNT; u++)
		ck_assert_int_eq(policy_ulp_parse(policy_ulp_name((enum policy_ulp)u)), u);
	ck_assert_int_eq(policy_ulp_parse("none"), ULP_NONE);
	ck_assert_int_eq(policy_ulp_parse(""), ULP_NONE);
}
END_TEST

START_TEST(partition_values)
{
	static const struct { const char *ipoib; bool has; const char *level; } cases[] = {
		{ "{level: a}", true, "a" }, { "true", true, "default" }, { "{}", true, "default" },
		{ "false", false, "default" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = xasprintf("qos-levels: {a: {sl: 3}}\n"
				       "partitions: {P: {pkey: 0x7fff, ipoib: %s}}",
				       cases[i].ipoib);
		struct policy *p = good_policy(text);
		const struct policy_partition *part = p->partitions;

		ck_assert_str_eq(part->name, "P");
		ck_assert_int_eq(part->ipoib, cases[i].has);
		ck_assert_str_eq(p->levels[part->ipoib_level_index].name, cases[i].level);
		policy_free(p);
		free(text);
	}
}
END_TEST

START_TEST(partition_members)
{
	struct policy *p = good_policy(
		"port-groups: {g: {port-guids: 1}}\n"
		"partitions:\n"
		"  a: {description: d, pkey: 0x10, members: {g: both, self: full, 0x2: limited,\n"
		"      0x3-0xFF: full, all: limited}, level: x}\n"
		"  b: {pkey: 0x7fff, members: [g]}\n"
		"  c: {pkey: 0x11, members: self, ipoib: true, level: x}\n"
		"qos-levels: {x: {sl: 4}}\n");
	const struct policy_partition *b = &p->partitions[0], *a = b + 1, *c = b + 2;
	static const struct { const char *group; uint64_t lo, hi; enum membership m; } who[] = {
		{ "g", 0, 0, MEMBER_BOTH }, { "self", 0, 0, MEMBER_FULL },
		{ NULL, 2, 2, MEMBER_LIMITED }, { NULL, 3, 0xff, MEMBER_FULL },
		{ "all", 0, 0, MEMBER_LIMITED },
	};

	ck_assert_uint_eq(p->n_partitions, 3);
	ck_assert_str_eq(a->name, "a");
	ck_assert_str_eq(a->description, "d");
	ck_assert_uint_eq(a->pkey, 0x10);
	ck_assert_uint_eq(a->n_members, ARRAY_SIZE(who));
	for (size_t i = 0; i < ARRAY_SIZE(who); i++) {
		const struct policy_member *m = &a->members[i];

		if (who[i].group)
			ck_assert_str_eq(m->group.s, who[i].group);
		else
			ck_assert_ptr_null(m->group.s);
		ck_assert_uint_eq(m->guids.lo, who[i].lo);
		ck_assert_uint_eq(m->guids.hi, who[i].hi);
		ck_assert_int_eq(m->membership, who[i].m);
		ck_assert_uint_eq(m->pos.line, i < 3 ? 3 : 4);
	}
	ck_assert(!a->ipoib);
	ck_assert_str_eq(p->levels[a->level_index].name, "x");
	ck_assert_uint_eq(b->pkey, 0x7fff);
	ck_assert(b->ipoib);
	ck_assert_uint_eq(b->n_members, 1);
	ck_assert_int_eq(b->members[0].membership, MEMBER_FULL);
	ck_assert_uint_eq(b->level_index, p->default_level);
	/* the partition's level also applies to its IPoIB group */
	ck_assert(c->ipoib);
	ck_assert_str_eq(p->levels[c->ipoib_level_index].name, "x");
	policy_free(p);
}
END_TEST

static const struct policy_level *level_of(const struct policy *p, const char *name)
{
	return &p->levels[policy_find_level(p, name)];
}

START_TEST(traffic_classes)
{
	struct policy *p = good_policy(
		"qos-levels: {a: {sl: 1}, b: {}, default: {}, c: {sl: 0xf}, d: {sl: 9}}\n"
		"traffic-classes:\n"
		"  - {level: [b, a], priority: high, high-limit: 4097B}\n"
		"  - {level: c, share: 12.5%}\n"
		"  - {level: default, share: 60}\n");
	const struct policy_class *c = p->classes;

	ck_assert_uint_eq(p->n_classes, 3);
	ck_assert_uint_eq(p->classes_except.n, 0);
	ck_assert(c[0].high && !c[1].high && !c[2].high);
	ck_assert_int_eq(c[0].share, -1);
	ck_assert_int_eq(c[0].high_limit, 2);
	ck_assert_uint_eq(c[0].level_names.n, 2);
	ck_assert_uint_eq(c[0].levels[0], policy_find_level(p, "b"));
	ck_assert_uint_eq(c[0].levels[1], policy_find_level(p, "a"));
	ck_assert_int_eq(c[1].share, 1250);
	ck_assert_int_eq(c[1].high_limit, -1);
	ck_assert_int_eq(c[2].share, 6000);
	ck_assert_uint_eq(c[2].pos.line, 5);
	/* SL 0 is for the default level, SL 1 is taken */
	ck_assert_uint_eq(level_of(p, "default")->sl, 0);
	ck_assert_uint_eq(level_of(p, "b")->sl, 2);
	ck_assert(!level_of(p, "b")->sl_given && level_of(p, "a")->sl_given);
	ck_assert_uint_eq(p->fallback_class, 2);
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		ck_assert_uint_eq(p->class_of_sl[sl], sl == 1 || sl == 2 ? 0 : sl == 15 ? 1 : 2);
	policy_free(p);
}
END_TEST

/* SLs are assigned in the order of the classes, not of the levels; SL 15 is the last. */
START_TEST(sl_plan)
{
	struct buf b = { 0 };
	struct policy *p;

	buf_puts(&b, "qos-levels:\n");
	for (int i = 0; i < 15; i++)
		buf_printf(&b, "  l%d: {}\n", i);
	buf_puts(&b, "traffic-classes:\n");
	for (int i = 14; i >= 0; i--)
		buf_printf(&b, "  - {level: l%d}\n", i);
	p = good_policy(b.s);
	for (int i = 0; i < 15; i++)
		ck_assert_uint_eq(p->levels[i].sl, 15 - i);
	ck_assert_uint_eq(p->levels[p->default_level].sl, 0);
	policy_free(p);
	buf_free(&b);
}
END_TEST

/* If the level `default` is in no class, the last low class gets the SLs of no class. */
START_TEST(fallback_classes)
{
	static const struct { const char *classes; uint32_t fallback; } cases[] = {
		{ "[{level: a}, {level: b}, {level: c, priority: high}]", 1 },
		{ "[{level: a, priority: high}, {level: b, priority: high}]", 1 },
		{ "[{level: [a, default]}, {level: b}]", 0 },
		{ "[{level: a}, {level: [b, default], priority: high}, {level: c}]", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = xasprintf("qos-levels: {a: {}, b: {}, c: {sl: 7}}\n"
				       "traffic-classes: %s\n", cases[i].classes);
		struct policy *p = good_policy(text);

		ck_assert_uint_eq(p->fallback_class, cases[i].fallback);
		ck_assert_uint_eq(p->class_of_sl[0], cases[i].fallback);
		ck_assert_uint_eq(p->class_of_sl[15], cases[i].fallback);
		policy_free(p);
		free(text);
	}
}
END_TEST

START_TEST(classes_except)
{
	struct policy *p = good_policy("port-groups: {g: {node-types: ca}}\n"
				       "fabric-setup: {vlarb: {group: g, low: \"0:1\"}}\n"
				       "traffic-classes: {except: g, classes: {level: default}}\n");

	ck_assert_uint_eq(p->classes_except.n, 1);
	ck_assert_str_eq(p->classes_except.v[0].s, "g");
	ck_assert_uint_eq(p->n_classes, 1);
	ck_assert_uint_eq(p->n_vlarb, 1);
	policy_free(p);
}
END_TEST

#define TABLE "[15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0]"

START_TEST(scopes)
{
	struct policy *p = good_policy(
		"port-groups: {g: {node-types: ca}}\n"
		"fabric-setup:\n"
		"  sl2vl:\n"
		"    - {group: all, table: " TABLE "}\n"
		"    - {across: g, from: 0, to: [1, 250-254], table: " TABLE "}\n"
		"  vlarb:\n"
		"    - {across: g, to: 3, high: [\"1:2\", \"14:255\"], high-limit: 8193B}\n"
		"    - {group: all, low: []}\n");
	const struct policy_sl2vl *s = p->sl2vl;
	const struct policy_vlarb *v = p->vlarb;

	ck_assert_uint_eq(p->n_sl2vl, 2);
	ck_assert_int_eq(s->kind, SCOPE_GROUP);
	ck_assert(s->from.all && s->to.all && !s->from.given && !s->to.given);
	ck_assert_uint_eq(s->table.vl[0], 15);
	ck_assert_uint_eq(s->table.vl[14], 14);
	ck_assert_int_eq(s[1].kind, SCOPE_ACROSS);
	ck_assert_str_eq(s[1].group.s, "g");
	ck_assert(!s[1].from.all && s[1].from.given);
	ck_assert(port_list_has(&s[1].from, 0) && !port_list_has(&s[1].from, 1));
	ck_assert(port_list_has(&s[1].to, 1) && port_list_has(&s[1].to, 254));
	ck_assert(!port_list_has(&s[1].to, 0) && !port_list_has(&s[1].to, 249));
	ck_assert_uint_eq(p->n_vlarb, 2);
	ck_assert(v->has_high && !v->has_low);
	ck_assert_uint_eq(v->arb.n_high, 2);
	ck_assert_uint_eq(v->arb.high[1].vl, 14);
	ck_assert_uint_eq(v->arb.high[1].weight, 255);
	ck_assert_int_eq(v->high_limit, 3);
	ck_assert_uint_eq(v->arb.high_limit, 3);
	ck_assert(!v[1].has_high && v[1].has_low);
	ck_assert_uint_eq(v[1].arb.n_low, 0);
	ck_assert_int_eq(v[1].high_limit, -1);
	policy_free(p);
}
END_TEST

START_TEST(class_defaults)
{
	struct policy *p = good_policy(
		"fabric-setup:\n"
		"  unsupported-vl: fold\n"
		"  defaults:\n"
		"    ca: {vlarb-low: \"1:1\", max-vls: 2}\n"
		"    all: {sl2vl: " TABLE ", vlarb-low: [\"0:1\", \"2:3\"],\n"
		"          high-limit: 7, max-vls: 8}\n");
	const struct policy_class_default *ca = &p->defaults[CLASS_CA],
					  *sw = &p->defaults[CLASS_SWITCH];

	ck_assert_int_eq(p->unsupported_vl, UNSUPPORTED_VL_FOLD);
	ck_assert(ca->given && sw->given && ca->has_sl2vl && ca->has_low && !ca->has_high);
	ck_assert_uint_eq(ca->arb.n_low, 1);
	ck_assert_uint_eq(ca->arb.low[0].vl, 1);
	ck_assert_uint_eq(ca->max_vls, 2);
	ck_assert_int_eq(ca->high_limit, 7);
	ck_assert_uint_eq(ca->sl2vl.vl[0], 15);
	ck_assert_uint_eq(sw->arb.n_low, 2);
	ck_assert_uint_eq(sw->max_vls, 8);
	policy_free(p);
	p = good_policy("fabric-setup: {defaults: {ca: {max-vls: 1}}}");
	ck_assert(p->defaults[CLASS_CA].given && !p->defaults[CLASS_SWITCH].given);
	ck_assert_int_eq(p->defaults[CLASS_CA].high_limit, -1);
	policy_free(p);
}
END_TEST

START_TEST(setting_values)
{
	struct findings found = { 0 };
	struct settings *s = parse_settings(
		"port-guid: 0x0002c90300080e85\nlmc: 3\nlmc-enhanced-port-0: true\n"
		"packet-lifetime: 1s\nmax-op-vls: 4\nlink-speed: supported\n"
		"partition-enforcement: in\nm-key-lease: 60s\n"
		"poll-interval: 1.5s\nrouting: minhop\nsmp-timeout: 50\nsweep-interval: 0\nscrub-interval: 60s\n"
		"sa-requests-max: 100000\nlog-level: debug\nevent-command: [/bin/a, \"b c\"]\n"
		"event-kinds: [node-moved, sm-seen]\nhistory: /h/db\nhistory-max: 7\nmetrics-listen: 127.0.0.1:9683\n"
		"ctl-read-group: daemon\nctl-admin-group: 0x7d0\nsandbox: off\n", &found);

	ck_assert_ptr_nonnull(s);
	ck_assert_str_eq(s->file, "t");
	ck_assert_uint_eq(s->port_guid, 0x0002c90300080e85);
	ck_assert_uint_eq(s->lmc, 3);
	ck_assert(s->lmc_enhanced_port0);
	ck_assert_uint_eq(s->packet_lifetime, 18);
	ck_assert_uint_eq(s->max_op_vls, 4);
	ck_assert_int_eq(s->link_speed, LINK_SUPPORTED);
	ck_assert_int_eq(s->link_width, LINK_KEEP);
	ck_assert_int_eq(s->partition_enforcement, ENFORCE_IN);
	ck_assert_uint_eq(s->m_key_lease, 60);
	ck_assert_uint_eq(s->poll_interval_ms, 1500);
	ck_assert_str_eq(s->engines[0], "minhop");
	ck_assert_ptr_null(s->engines[1]);
	ck_assert_uint_eq(s->smp_timeout_ms, 50);
	ck_assert_uint_eq(s->sweep_interval_s, 0);
	ck_assert_uint_eq(s->scrub_interval_s, 60);
	ck_assert_uint_eq(s->sa_requests_max, 100000);
	ck_assert_int_eq(s->log_level, LOG_LEVEL_DEBUG);
	ck_assert_uint_eq(s->priority, 0);
	ck_assert_str_eq(s->event_command[0], "/bin/a");
	ck_assert_str_eq(s->event_command[1], "b c");
	ck_assert_ptr_null(s->event_command[2]);
	ck_assert_uint_eq(s->event_kinds, 1ull << EVENT_NODE_MOVED | 1ull << EVENT_SM_SEEN);
	ck_assert_str_eq(s->history, "/h/db");
	ck_assert_uint_eq(s->history_max_mib, 7);
	ck_assert_str_eq(s->metrics_listen, "127.0.0.1:9683");
	ck_assert_str_eq(s->ctl_read_group.name, "daemon");
	ck_assert_uint_eq(s->ctl_read_group.gid, getgrnam("daemon")->gr_gid);
	ck_assert_str_eq(s->ctl_admin_group.name, "0x7d0");
	ck_assert_uint_eq(s->ctl_admin_group.gid, 2000);
	ck_assert(!s->sandbox);
	settings_free(s);
	s = parse_settings("event-command: /bin/a\n", &found);
	ck_assert_str_eq(s->event_command[0], "/bin/a");
	ck_assert_ptr_null(s->event_command[1]);
	ck_assert_uint_eq(s->event_kinds & EVENT_ALL_KINDS, EVENT_ALL_KINDS);
	ck_assert_ptr_null(s->history);
	ck_assert_uint_eq(s->history_max_mib, 64);
	ck_assert_ptr_null(s->metrics_listen);
	ck_assert_ptr_null(s->ctl_read_group.name);
	ck_assert_ptr_null(s->ctl_admin_group.name);
	ck_assert(s->sandbox);
	settings_free(s);
	settings_free(NULL);
}
END_TEST

START_TEST(groups_that_are_not_there)
{
	struct findings found = { 0 };

	ck_assert_ptr_null(parse_settings("lmc: 1\nctl-admin-group: no-such-group\n", &found));
	ck_assert_uint_eq(found.v[0].pos.line, 2);
	ck_assert_str_eq(found.v[0].text, "there is no group 'no-such-group' on this system");
	findings_free(&found);
}
END_TEST

START_TEST(routing_auto)
{
	struct settings *s;
	struct findings found = { 0 };

	s = parse_settings("routing: auto\n", &found);
	ck_assert_str_eq(s->engines[0], SETTINGS_ENGINE_AUTO);
	ck_assert_ptr_null(s->engines[1]);
	settings_free(s);
	ck_assert_ptr_null(parse_settings("routing: [updn, auto]\n", &found));
	ck_assert_str_eq(found.v[0].text, "'auto' must be the only entry: it selects the best of all engines");
	findings_free(&found);
}
END_TEST

/* Files that say the same in different words give equal policies with different checksums. */
START_TEST(spelling_does_not_matter)
{
	struct policy *a = good_policy("qos-levels: {a: {sl: 1, tclass: 0x10}}\n"
				       "match-rules: {sl: 3, level: a}\n");
	struct policy *b = good_policy("# a comment\nmatch-rules:\n- level: \"a\"\n  sl: [\"3\"]\n"
				       "qos-levels:\n  a:\n    tclass: 16\n    sl: 0x1\n");
	struct policy *c = good_policy("qos-levels: {a: {sl: 1, tclass: 0x10}}\n"
				       "match-rules: {sl: 3, level: a}\n");
	struct buf x = { 0 }, y = { 0 };

	conf_print_policy(a, &x);
	conf_print_policy(b, &y);
	ck_assert_str_eq(x.s, y.s);
	ck_assert_uint_eq(a->checksum, c->checksum);
	ck_assert_uint_ne(a->checksum, b->checksum);
	buf_free(&x);
	buf_free(&y);
	policy_free(a);
	policy_free(b);
	policy_free(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("values");
	TCase *t = tcase_create("values");

	tcase_add_test(t, without_a_file);
	tcase_add_test(t, tables_are_managed);
	tcase_add_test(t, group_members);
	tcase_add_test(t, level_values);
	tcase_add_test(t, lifetimes);
	tcase_add_test(t, rule_criteria);
	tcase_add_test(t, ulps);
	tcase_add_test(t, ulps_without_service_id);
	tcase_add_test(t, ulp_rds);
	tcase_add_test(t, ulp_srp);
	tcase_add_test(t, ulp_ipoib);
	tcase_add_test(t, ulp_names);
	tcase_add_test(t, partition_values);
	tcase_add_test(t, partition_members);
	tcase_add_test(t, traffic_classes);
	tcase_add_test(t, sl_plan);
	tcase_add_test(t, routing_auto);
	tcase_add_test(t, fallback_classes);
	tcase_add_test(t, classes_except);
	tcase_add_test(t, scopes);
	tcase_add_test(t, class_defaults);
	tcase_add_test(t, setting_values);
	tcase_add_test(t, groups_that_are_not_there);
	tcase_add_test(t, spelling_does_not_matter);
	suite_add_tcase(s, t);
	return run_suite(s);
}
