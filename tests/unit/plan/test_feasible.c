/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the feasibility report of a policy on small hand-made fabrics: shares are
 * computed by hand, and pairs counted one by one.
 *
 * promise: C1
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "net.h"
#include "plan/feasible/feasible.h"
#include "unit/run.h"

struct scene {
	struct fabric *f;
	struct policy *policy;
	struct settings *settings;
	struct plan *p;
	const struct feasibility *v;
};

/* --- fabrics --- */

static void arbitrate(struct fabric *f, uint8_t entries)
{
	for (uint32_t i = 0; i < f->n_ports; i++)
		f->ports[i].vlarb_high_cap = f->ports[i].vlarb_low_cap = entries;
}

/* Hosts 0x100 to 0x130, two on each of two switches, whose ports 3 and 4 are linked. */
static struct fabric *two_leaves(void)
{
	struct fabric *f = fabric_new();
	uint32_t host[4], sw[2];

	for (unsigned i = 0; i < 4; i++)
		host[i] = net_ca(f, 0x100 + i * 16, 1);
	for (unsigned i = 0; i < 2; i++)
		sw[i] = net_switch(f, 0x1000 + i, 4, true);
	for (unsigned i = 0; i < 4; i++)
		ck_assert(fabric_link(f, host[i], 1, sw[i / 2], 1 + i % 2));
	for (unsigned num = 3; num <= 4; num++)
		ck_assert(fabric_link(f, sw[0], num, sw[1], num));
	net_finish(f);
	arbitrate(f, 8);
	return f;
}

static uint32_t port_of(const struct fabric *f, uint64_t guid, unsigned num)
{
	return f->nodes[map64_get(&f->node_by_guid, guid)].port0 + num;
}

static void set_link(struct fabric *f, uint64_t guid, unsigned num, uint8_t rate, uint8_t vl_cap,
		     uint8_t mtu_cap)
{
	uint32_t a = port_of(f, guid, num), ends[] = { a, f->ports[a].peer };

	for (unsigned i = 0; i < 2; i++) {
		struct fabric_port *p = &f->ports[ends[i]];

		p->rate = rate;
		p->vl_cap = vl_cap;
		p->mtu_cap = mtu_cap;
	}
}

/* --- policies --- */

static struct policy *policy_new(void)
{
	struct policy *p = policy_builtin();

	p->has_fabric_setup = true;
	return p;
}

static struct policy_level *add_level(struct policy *p, const char *name, uint8_t sl)
{
	p->levels = xrealloc(p->levels, p->n_levels + 1, sizeof(*p->levels));
	struct policy_level *l = &p->levels[p->n_levels++];

	*l = (struct policy_level){
		.name = xstrdup(name), .sl = sl, .sl_given = true,
		.packet_lifetime = -1, .path_bits = -1, .tclass = -1,
		.pos = { (uint32_t)p->n_levels + 10, 3 },
	};
	return l;
}

/* Maps SLs 0..n-1 to VLs of the same number and the others to VL 0; drops the SLs in the mask. */
static struct policy_sl2vl *add_map(struct policy *p, const char *group, unsigned n, unsigned drop)
{
	p->sl2vl = xrealloc(p->sl2vl, p->n_sl2vl + 1, sizeof(*p->sl2vl));
	struct policy_sl2vl *s = &p->sl2vl[p->n_sl2vl++];

	*s = (struct policy_sl2vl){
		.group = { .s = xstrdup(group) }, .from = { .all = true }, .to = { .all = true },
	};
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		s->table.vl[sl] = drop >> sl & 1 ? IB_VL_DROP : sl < n ? (uint8_t)sl : 0;
	return s;
}

static struct policy_vlarb *add_arb(struct policy *p, int16_t high_limit)
{
	p->vlarb = xrealloc(p->vlarb, p->n_vlarb + 1, sizeof(*p->vlarb));
	struct policy_vlarb *a = &p->vlarb[p->n_vlarb++];

	*a = (struct policy_vlarb){
		.group = { .s = xstrdup("all") }, .to = { .all = true },
		.has_high = true, .has_low = true, .high_limit = high_limit,
	};
	return a;
}

static void high(struct policy_vlarb *a, uint8_t vl, uint8_t weight)
{
	a->arb.high[a->arb.n_high++] = (struct vlarb_entry){ vl, weight };
}

static void low(struct policy_vlarb *a, uint8_t vl, uint8_t weight)
{
	a->arb.low[a->arb.n_low++] = (struct vlarb_entry){ vl, weight };
}

static void only_port(struct port_list *l, unsigned num)
{
	*l = (struct port_list){ .given = true };
	l->bits[num >> 3] = (uint8_t)(1u << (num & 7));
}

/* Adds a group of the end ports with GUIDs lo..hi. */
static void add_group(struct policy *p, const char *name, uint64_t lo, uint64_t hi)
{
	p->groups = xrealloc(p->groups, p->n_groups + 1, sizeof(*p->groups));
	struct policy_group *g = &p->groups[p->n_groups++];

	*g = (struct policy_group){ .name = xstrdup(name) };
	g->port_guids.v = xcalloc(1, sizeof(*g->port_guids.v));
	g->port_guids.v[0] = (struct u64_range){ .lo = lo, .hi = hi };
	g->port_guids.n = g->port_guids.cap = 1;
}

/* --- judging --- */

static struct scene judge_with(struct fabric *f, struct policy *policy, uint8_t lmc,
			       enum arb_model model)
{
	struct scene s = { .f = f, .policy = policy, .settings = settings_default() };

	s.settings->lmc = lmc;
	s.settings->arbiter_model = model;
	s.p = plan_compute(f, policy, s.settings, NULL, NULL, NULL);
	plan_judge(s.p, NULL);
	s.v = s.p->feasible;
	return s;
}

static struct scene judge_with_lmc(struct fabric *f, struct policy *policy, uint8_t lmc)
{
	return judge_with(f, policy, lmc, ARB_MODEL_IBA);
}

static struct scene judge_by(struct fabric *f, struct policy *policy, enum arb_model model)
{
	return judge_with(f, policy, 0, model);
}

static struct scene judge(struct fabric *f, struct policy *policy)
{
	return judge_with_lmc(f, policy, 0);
}

static void end(struct scene *s)
{
	plan_free(s->p);
	policy_free(s->policy);
	settings_free(s->settings);
	fabric_free(s->f);
}

static const struct link_kind *kind_at(const struct scene *s, uint64_t guid, unsigned num)
{
	return &s->v->kinds[s->v->kind_of_port[port_of(s->f, guid, num)]];
}

/* The first finding with the text, or NULL. */
static const struct finding *found(const struct scene *s, const char *text)
{
	for (size_t i = 0; i < s->v->findings.n; i++)
		if (strstr(s->v->findings.v[i].text, text))
			return &s->v->findings.v[i];
	return NULL;
}

static void expect_finding(const struct scene *s, enum severity severity, uint32_t line,
			   const char *text)
{
	const struct finding *e = found(s, text);

	ck_assert_msg(e != NULL, "nothing says \"%s\"", text);
	ck_assert_int_eq(e->severity, severity);
	ck_assert_uint_eq(e->pos.line, line);
}

/* --- rates --- */

START_TEST(fdr10_has_the_code_of_qdr_and_loses_nothing)
{
	struct fabric *f = two_leaves();

	fabric_set_fdr10(f, port_of(f, 0x1000, 3), true);
	struct scene s = judge(f, policy_builtin());
	const struct link_kind *k = kind_at(&s, 0x1001, 3);

	ck_assert_uint_eq(k->n_ports, 2);
	ck_assert_double_eq_tol(feasible_link_gbps(k), 40, 1e-9);
	ck_assert_double_eq_tol(k->levels[0].ceiling, 40, 1e-9);
	ck_assert_double_eq_tol(kind_at(&s, 0x1001, 4)->levels[0].ceiling, 32, 1e-9);
	end(&s);
}
END_TEST

/* --- shares --- */

/*
 * VL 1 is of high priority with limit 1: after 4096 bytes, two packets of 2048,
 * one low packet may go.  Low VLs 0 and 2 have weights 32 and 96: one packet and
 * three.  A round has 3 packets; of the 12 packets in 4 rounds, VL 1 has 8, VL 0
 * one and VL 2 three.
 */
static struct policy *three_levels(void)
{
	struct policy *p = policy_new();
	struct policy_vlarb *a;

	add_level(p, "fast", 1);
	add_level(p, "bulk", 2);
	add_map(p, "all", 3, 0);
	a = add_arb(p, 1);
	high(a, 1, 64);
	low(a, 0, 32);
	low(a, 2, 96);
	return p;
}

START_TEST(shares_and_waits_by_hand)
{
	struct scene s = judge(two_leaves(), three_levels());
	const struct link_kind *k = kind_at(&s, 0x1000, 3);
	const struct level_link *l = k->levels;

	/* ports of switches and of CAs differ only in their class */
	ck_assert_uint_eq(s.v->n_kinds, 2);
	ck_assert_uint_eq(k->n_ports, 8);
	ck_assert_ptr_eq(k, &s.v->kinds[0]);
	ck_assert_int_eq(k->class, CLASS_SWITCH);
	ck_assert_uint_eq(s.v->kinds[1].n_ports, 4);
	ck_assert_int_eq(s.v->kinds[1].class, CLASS_CA);
	ck_assert_uint_eq(k->vls, 4);
	for (unsigned i = 0; i < 3; i++) {
		static const double share[] = { 1. / 12, 8. / 12, 3. / 12 };

		ck_assert_uint_eq(l[i].vl, i);
		ck_assert_int_eq(l[i].high, i == 1);
		ck_assert_uint_eq(l[i].shared_with, 0);
		ck_assert_double_eq_tol(l[i].share, share[i], 1e-9);
		ck_assert_double_eq_tol(l[i].guaranteed, share[i] * 32, 1e-9);
		ck_assert_double_eq_tol(l[i].ceiling, 32, 1e-9);
	}
	/* fast waits for the packet in transmission: 2048 bytes at 32 Gb/s */
	ck_assert_double_eq_tol(l[1].wait_us, 0.512, 1e-9);
	/* bulk waits for default's packet, and two of fast before and after it */
	ck_assert_double_eq_tol(l[2].wait_us, 5 * 0.512, 1e-9);
	/* default waits for three packets of bulk, and two of fast before, between and after these */
	ck_assert_double_eq_tol(l[0].wait_us, 11 * 0.512, 1e-9);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(s.v->levels[i].worst, 0);
		ck_assert_uint_eq(s.v->levels[i].unreachable, 0);
		ck_assert_uint_eq(s.v->levels[i].pairs, 6 * 5);
	}
	ck_assert_uint_eq(s.v->findings.n, 0);
	end(&s);
}
END_TEST

/* --- SLs that no level has --- */

/* The tables of three_levels(), with the level `default` alone. */
static struct policy *one_of_three(int16_t high_limit)
{
	struct policy *p = policy_new();
	struct policy_vlarb *a;

	add_map(p, "all", 3, 0);
	a = add_arb(p, high_limit);
	high(a, 1, 64);
	low(a, 0, 32);
	low(a, 2, 96);
	return p;
}

/* promise: B8 */
START_TEST(an_sl_without_a_level_has_its_share)
{
	struct scene s = judge(two_leaves(), one_of_three(1));
	const struct link_kind *k = kind_at(&s, 0x1000, 3);

	/* SLs 1 to 15; those from 3 on are on VL 0, with the level */
	ck_assert_uint_eq(s.v->unnamed, 0xfffe);
	ck_assert_double_eq_tol(k->levels[0].share, 1, 1e-9);
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		static const double share[] = { 1. / 12, 8. / 12, 3. / 12 };
		unsigned vl = sl < 3 ? sl : 0;

		ck_assert_uint_eq(k->sls[sl].vl, vl);
		ck_assert_int_eq(k->sls[sl].high, vl == 1);
		ck_assert_double_eq_tol(k->sls[sl].share, share[vl], 1e-9);
		ck_assert(!k->sls[sl].starved && k->sls[sl].served && !k->sls[sl].unknown);
		ck_assert_uint_eq(s.v->sls[sl].pairs, 6 * 5);
		ck_assert_uint_eq(s.v->sls[sl].unreachable, 0);
	}
	/* one line for both SLs, and none for those that share the default level's VL */
	ck_assert_uint_eq(s.v->findings.n, 1);
	expect_finding(&s, SEV_INFO, 0, "SL 1, 2 (no level): they have VLs of their own at 12 ports");
	expect_finding(&s, SEV_INFO, 0, "level default may get only 8.3 % of a link instead of 100.0 %");
	end(&s);
}
END_TEST

/* promise: B8 */
START_TEST(sls_without_a_level_by_the_study)
{
	struct policy *p = policy_new();
	struct policy_vlarb *a;

	/* the study's point (1, 16, 4) */
	add_map(p, "all", 2, 0);
	a = add_arb(p, 1);
	high(a, 1, 16);
	low(a, 0, 4);
	struct scene s = judge_by(two_leaves(), p, ARB_MODEL_MEASURED);
	const struct sl_link *l = kind_at(&s, 0x1000, 3)->sls;

	ck_assert_double_eq_tol(l[1].share, 0.8, 1e-9);
	ck_assert_double_eq_tol(l[1].share_measured, 0.8, 1e-9);
	ck_assert_double_eq_tol(l[1].share_iba, 2. / 3, 1e-9);
	ck_assert_double_eq_tol(l[0].share, 0.2, 1e-9);
	ck_assert_uint_eq(s.v->sls[0].worst, 0);
	end(&s);
}
END_TEST

/* promise: B8 */
START_TEST(sls_without_a_level_starve_and_starve_levels)
{
	struct scene s = judge(two_leaves(), one_of_three(255));
	const struct link_kind *k = kind_at(&s, 0x1000, 3);

	ck_assert(!k->levels[0].starved);
	ck_assert(k->sls[0].starved && k->sls[2].starved && !k->sls[1].starved);
	ck_assert_uint_eq(s.v->findings.n, 2);
	expect_finding(&s, SEV_WARNING, 0, "SL 2 (no level): their VLs may starve at 12 ports");
	expect_finding(&s, SEV_WARNING, s.policy->levels[0].pos.line,
		       "level default: VL 0 of SL 0 may starve at 12 ports");
	expect_finding(&s, SEV_WARNING, s.policy->levels[0].pos.line, "while programs use SL 1 (no level)");
	end(&s);
}
END_TEST

/* promise: B8 */
START_TEST(an_sl_that_gets_next_to_nothing)
{
	struct policy *p = policy_new();
	struct policy_vlarb *a;

	add_map(p, "all", 2, 0);
	a = add_arb(p, 254);
	high(a, 0, 64);
	low(a, 1, 32);
	struct scene s = judge(two_leaves(), p);

	/* 254 * 4096 bytes are 508 packets of 2048, and then one of VL 1 */
	ck_assert_double_eq_tol(kind_at(&s, 0x1000, 3)->sls[1].share, 1. / 509, 1e-9);
	ck_assert(!found(&s, "get at most"));
	end(&s);

	p = policy_new();
	add_map(p, "all", 3, 0);
	a = add_arb(p, 254);
	high(a, 0, 64);
	low(a, 1, 32);
	low(a, 2, 255);
	s = judge(two_leaves(), p);
	/* one of nine low packets is of VL 1 */
	ck_assert_double_eq_tol(kind_at(&s, 0x1000, 3)->sls[1].share, 1. / 509 / 9, 1e-9);
	expect_finding(&s, SEV_INFO, 0, "SL 1 (no level): their VLs get at most 0.022 % of a link");
	end(&s);
}
END_TEST

/* promise: B8 */
START_TEST(an_sl_on_the_vl_of_another_level)
{
	struct policy *p = policy_new();
	struct policy_sl2vl *m;

	add_level(p, "fast", 1);
	m = add_map(p, "all", 2, 0);
	m->table.vl[5] = 1;
	m->table.vl[7] = 1;
	struct scene s = judge(two_leaves(), p);

	ck_assert_uint_eq(s.v->findings.n, 1);
	expect_finding(&s, SEV_INFO, 0, "SL 5, 7 (no level): programs that use them take bandwidth of the levels "
		       "whose VLs they share at 12 ports");
	ck_assert_ptr_nonnull(strstr(s.v->findings.v[0].text, ": fast"));
	end(&s);
}
END_TEST

/* promise: B8 */
START_TEST(an_sl_that_connects_some_pairs_only)
{
	struct policy *p = policy_new();

	add_group(p, "a host", 0x121, 0x121);
	add_map(p, "all", 1, 1u << 4);
	add_map(p, "a host", 1, 1u << 4 | 1u << 2 | 1u << 3);
	struct scene s = judge(two_leaves(), p);

	/* the host 0x120 drops SLs 2 and 3, so five of its pairs are lost; SL 4 is dropped everywhere */
	ck_assert_uint_eq(s.v->sls[2].unreachable, 5);
	ck_assert_uint_eq(s.v->sls[4].unreachable, 30);
	ck_assert_uint_eq(s.v->findings.n, 1);
	expect_finding(&s, SEV_WARNING, 0, "SL 2, 3 (no level): some pairs of ports only are connected; SL 2 does "
		       "not connect 5 of 30: from n120/P1");
	ck_assert_ptr_nonnull(strstr(s.v->findings.v[0].text, "it is dropped by n120"));
	end(&s);
}
END_TEST

/* promise: B8 */
START_TEST(unused_sls_are_nothing_to_tell)
{
	struct policy *p = policy_builtin();

	add_level(p, "fast", 1);
	struct scene s = judge(two_leaves(), p);

	ck_assert_uint_eq(s.v->unnamed, 0xfffc);
	ck_assert_uint_eq(s.v->findings.n, 0);
	end(&s);
	s = judge(two_leaves(), policy_builtin());
	ck_assert_uint_eq(s.v->unnamed, 0);	/* devices keep their tables */
	ck_assert_uint_eq(s.v->findings.n, 0);
	end(&s);
}
END_TEST

/* Q 1, H 16, L 4: measured 4 to 1, where IBA's arbiter gives 2 to 1. */
/* promise: B2 */
START_TEST(both_models_are_told)
{
	for (int by_study = 0; by_study < 2; by_study++) {
		struct policy *p = policy_new();
		struct policy_vlarb *a;
		struct buf text = { 0 };

		add_level(p, "fast", 1);
		add_map(p, "all", 2, 0);
		a = add_arb(p, 1);
		high(a, 1, 16);
		low(a, 0, 4);
		struct scene s = judge_by(two_leaves(), p, by_study ? ARB_MODEL_MEASURED :
							   ARB_MODEL_IBA);
		const struct level_link *l = &s.v->kinds[0].levels[1];
		double gbps = feasible_link_gbps(&s.v->kinds[0]);

		ck_assert_double_eq_tol(l->share_iba, 2. / 3, 1e-9);
		ck_assert_double_eq_tol(l->share_measured, 0.8, 1e-9);
		ck_assert_double_eq_tol(l->share, by_study ? 0.8 : 2. / 3, 1e-9);
		ck_assert_double_eq_tol(l->guaranteed, l->share * gbps, 1e-9);
		expect_finding(&s, SEV_INFO, 12, "level fast: its VL gets 66.7 % of the link by IBA's "
			       "arbiter, but 80.0 % by what a study measured on hardware, at 12 ports");
		feasible_print(s.v, s.p, &text);
		ck_assert_ptr_nonnull(strstr(text.s, "      -   66.7 %    80.0 %  differ\n"));
		ck_assert_ptr_nonnull(strstr(text.s, by_study ?
			"Shares are those measured on hardware, where the study covers the link." :
			"Shares are those of IBA's arbiter."));
		buf_free(&text);
		end(&s);
	}
}
END_TEST

/* promise: B2 */
START_TEST(the_study_covers_one_mtu)
{
	struct fabric *f = two_leaves();

	for (uint32_t i = 0; i < f->n_ports; i++)
		f->ports[i].mtu_cap = (uint8_t)mtu_code(1024);
	struct scene s = judge_by(f, three_levels(), ARB_MODEL_MEASURED);
	const struct level_link *l = &s.v->kinds[0].levels[1];

	ck_assert_double_lt(l->share_measured, 0);
	ck_assert_double_eq_tol(l->share, l->share_iba, 1e-9);
	end(&s);
}
END_TEST

START_TEST(limits_of_a_level_count)
{
	struct policy *p = three_levels();

	p->levels[1].rate_limit = (uint8_t)rate_parse_link("4xSDR");	/* 8 Gb/s of data */
	p->levels[2].mtu_limit = (uint8_t)mtu_code(1024);
	struct scene s = judge(two_leaves(), p);
	const struct level_link *l = kind_at(&s, 0x1000, 3)->levels;

	ck_assert_double_eq_tol(l[1].guaranteed, 8, 1e-9);
	ck_assert_double_eq_tol(l[1].ceiling, 8, 1e-9);
	/* bulk's turn is six packets of 1024; in 7 rounds, fast sends 28672 bytes and default 2048 */
	ck_assert_double_eq_tol(l[0].share, 2048. / (28672 + 2048 + 6144), 1e-9);
	ck_assert_double_eq_tol(l[2].share, 6144. / (28672 + 2048 + 6144), 1e-9);
	end(&s);
}
END_TEST

START_TEST(one_vl_is_shared_and_said_to_be)
{
	struct fabric *f = two_leaves();

	set_link(f, 0x110, 1, 7, 1, 4);		/* the second host has one VL */
	struct policy *p = three_levels();

	p->unsupported_vl = UNSUPPORTED_VL_FOLD;
	struct scene s = judge(f, p);
	const struct link_kind *k = kind_at(&s, 0x110, 1);

	ck_assert_uint_eq(k->vls, 1);
	ck_assert_uint_eq(k->n_ports, 1);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(k->levels[i].vl, 0);
		ck_assert_uint_eq(k->levels[i].shared_with, 7u & ~(1u << i));
		ck_assert_double_eq_tol(k->levels[i].share, 1, 1e-9);
		ck_assert(!k->levels[i].unknown);
		ck_assert_double_lt(k->levels[i].wait_us, 0);
	}
	expect_finding(&s, SEV_INFO, 12, "level fast shares VL 0 with level default at 2 ports");
	expect_finding(&s, SEV_INFO, 13, "level bulk shares VL 0 with level default at 2 ports");
	expect_finding(&s, SEV_WARNING, 0, "has 1 data VL, most links of its kind 8");
	end(&s);
}
END_TEST

/* Adds a class of one level; share in 1/100 per cent. */
static void add_class(struct policy *p, uint32_t level, bool is_high, int32_t share)
{
	p->classes = xrealloc(p->classes, p->n_classes + 1, sizeof(*p->classes));
	struct policy_class *c = &p->classes[p->n_classes];

	*c = (struct policy_class){ .high = is_high, .share = share, .high_limit = -1 };
	c->levels = xmalloc(sizeof(*c->levels));
	c->levels[0] = level;
	c->level_names.v = xcalloc(1, sizeof(*c->level_names.v));
	c->level_names.v[0].s = xstrdup(p->levels[level].name);
	c->level_names.n = 1;
	p->class_of_sl[p->levels[level].sl] = (uint8_t)p->n_classes++;
}

START_TEST(what_classes_ask)
{
	static const double written[] = { 0.25, 0.5, 0.75 }, due[] = { 0.125, 0.5, 0.375 };

	for (int small = 0; small < 2; small++) {
		struct policy *p = policy_builtin();

		add_level(p, "fast", 1);
		add_level(p, "bulk", 2);
		for (uint32_t i = 0; i < 3; i++)
			add_class(p, i, i == 1, (int32_t)(written[i] * CLASSES_SHARE_ALL));
		/* a turn of the low table is one packet: 256 bytes for these, 2048 for fast */
		if (small)
			p->levels[0].mtu_limit = p->levels[2].mtu_limit = (uint8_t)mtu_code(256);
		struct scene s = judge(two_leaves(), p);
		const struct level_link *l = s.v->kinds[0].levels;

		for (unsigned i = 0; i < 3; i++)
			ck_assert_double_eq_tol(l[i].asked, written[i], 1e-9);
		for (unsigned i = 0; i < 3; i++)
			ck_assert_double_eq_tol(l[i].due, due[i], 1e-9);
		/* while high priority is idle, the low ones have what is written */
		ck_assert_double_lt(l[1].share_idle, 0);
		ck_assert_double_eq_tol(l[0].share_idle, 0.25, 1e-9);
		ck_assert_double_eq_tol(l[2].share_idle, 0.75, 1e-9);
		ck_assert_uint_eq(s.p->findings.n, 0);
		struct buf text = { 0 };

		feasible_print(s.v, s.p, &text);
		ck_assert_ptr_nonnull(strstr(text.s, "from    asked    share"));
		ck_assert_ptr_nonnull(strstr(text.s, "high   50.0 %"));
		ck_assert_ptr_nonnull(strstr(text.s, "low    25.0 %"));
		buf_free(&text);
		if (small) {
			ck_assert_double_eq_tol(l[1].share, 8. / 9, 0.01);
			expect_finding(&s, SEV_WARNING, 12, "level fast: with packets as long as "
				       "the mtu-limits of the levels allow, its VL gets 88.9 % of "
				       "the link instead of the 50.0 % of its class at 12 ports");
		} else {
			ck_assert_double_eq_tol(l[1].share, 0.5, 0.02);
			ck_assert_double_eq_tol(l[0].share, 0.125, 0.02);
			/* the tables were made so that both models agree */
			ck_assert_double_eq_tol(l[1].share_measured, 0.5, 0.02);
			ck_assert_uint_eq(s.v->findings.n, 0);
		}
		end(&s);
	}
}
END_TEST

START_TEST(what_is_shared_everywhere_is_meant)
{
	struct policy *p = three_levels();

	add_level(p, "other", 5);	/* SLs 3 and up are on VL 0 */
	add_level(p, "same", 2);
	struct scene s = judge(two_leaves(), p);
	const struct level_link *l = s.v->kinds[0].levels;

	ck_assert_uint_eq(l[0].shared_with, 1u << 5);
	ck_assert_uint_eq(l[3].shared_with, 1u << 0);
	ck_assert_uint_eq(l[2].shared_with, 1u << 2);
	ck_assert_uint_eq(l[4].shared_with, 1u << 2);
	ck_assert_double_eq_tol(l[3].share, 1. / 12, 1e-9);
	ck_assert_uint_eq(s.v->findings.n, 0);
	end(&s);
}
END_TEST

START_TEST(no_tables_nothing_known)
{
	struct fabric *f = two_leaves();

	arbitrate(f, 0);
	struct scene s = judge(f, three_levels());
	const struct link_kind *k = kind_at(&s, 0x1000, 3);

	ck_assert_uint_eq(k->arb, TABLE_NONE);
	ck_assert(k->levels[1].unknown);
	ck_assert_double_eq(k->levels[1].guaranteed, 0);
	ck_assert_uint_eq(s.v->levels[1].worst, UINT32_MAX);
	expect_finding(&s, SEV_WARNING, 0, "several VLs contend at 12 ports");
	end(&s);
}
END_TEST

START_TEST(unmanaged_tables_leave_one_level_alone)
{
	struct scene s = judge(two_leaves(), policy_builtin());
	const struct level_link *l = s.v->kinds[0].levels;

	ck_assert(!s.p->tables->managed);
	ck_assert_uint_eq(l->vl, 0);
	ck_assert_double_eq_tol(l->share, 1, 1e-9);
	ck_assert_uint_eq(s.v->levels[0].unreachable, 0);
	ck_assert_uint_eq(s.v->findings.n, 0);
	end(&s);
}
END_TEST

START_TEST(a_limit_of_255_starves)
{
	struct policy *p = three_levels();

	p->vlarb[0].high_limit = 255;
	struct scene s = judge(two_leaves(), p);
	const struct level_link *l = kind_at(&s, 0x1000, 3)->levels;

	ck_assert_double_eq_tol(l[1].share, 1, 1e-9);
	ck_assert(!l[1].starved);
	ck_assert(l[0].starved && l[2].starved);
	ck_assert_double_eq(l[2].guaranteed, 0);
	ck_assert_double_eq_tol(l[2].ceiling, 32, 1e-9);
	ck_assert_double_lt(l[2].wait_us, 0);
	expect_finding(&s, SEV_WARNING, 13, "level bulk: VL 2 of SL 2 may starve at 12 ports");
	ck_assert_ptr_null(found(&s, "level fast"));
	end(&s);
}
END_TEST

START_TEST(a_vl_in_no_table_gets_nothing)
{
	struct policy *p = three_levels();

	p->vlarb[0].arb.n_low = 1;		/* VL 2 is gone */
	struct scene s = judge(two_leaves(), p);
	const struct level_link *l = kind_at(&s, 0x100, 1)->levels;

	ck_assert(l[2].starved);
	ck_assert_double_eq(l[2].ceiling, 0);
	expect_finding(&s, SEV_WARNING, 13, "level bulk: no arbitration table serves VL 2, "
		       "which SL 2");
	ck_assert_ptr_null(found(&s, "may starve"));
	end(&s);
}
END_TEST

/* --- levels that can send nothing --- */

static void add_rule(struct policy *p, const char *from, const char *to, uint32_t level)
{
	p->rules = xrealloc(p->rules, p->n_rules + 1, sizeof(*p->rules));
	struct policy_rule *r = &p->rules[p->n_rules++];

	*r = (struct policy_rule){ .level = level };
	if (from) {
		r->sources.v = xcalloc(1, sizeof(*r->sources.v));
		r->sources.v[r->sources.n++].s = xstrdup(from);
		r->destinations.v = xcalloc(1, sizeof(*r->destinations.v));
		r->destinations.v[r->destinations.n++].s = xstrdup(to);
	}
}

/* What refuses the policy, in one line; "" if nothing does. */
static const char *refusal(const struct scene *s)
{
	static char text[2048];

	*text = '\0';
	for (size_t i = 0; i < s->v->cut.n; i++) {
		ck_assert_int_eq(s->v->cut.v[i].severity, SEV_ERROR);
		ck_assert_ptr_nonnull(found(s, s->v->cut.v[i].text));
		strncat(text, s->v->cut.v[i].text, sizeof(text) - strlen(text) - 1);
	}
	return text;
}

/* promise: P11 */
START_TEST(a_level_without_a_vl_is_refused)
{
	struct policy *p = three_levels();

	add_map(p, "all", 3, 1u << 2);
	add_rule(p, NULL, NULL, 2);
	struct scene s = judge(two_leaves(), p);

	ck_assert_str_eq(refusal(&s), "level bulk: SL 2 has no VL at 12 ports, so that nothing with it is "
			 "ever sent there: n100/P1 (0x0000000000000101) to n1000/P1 (0x0000000000001000); "
			 "n110/P1 (0x0000000000000111) to n1000/P2 (0x0000000000001000); "
			 "n120/P1 (0x0000000000000121) to n1001/P1 (0x0000000000001001); and 9 more");
	ck_assert_uint_eq(s.v->level_cut[2], 1);
	ck_assert_uint_eq(s.v->level_cut[0] + s.v->level_cut[1], 0);
	end(&s);
}
END_TEST

/* promise: P11 */
START_TEST(a_vl_that_is_not_served_is_refused)
{
	struct policy *p = three_levels();

	p->vlarb[0].arb.n_low = 1;		/* VL 2 is gone */
	add_rule(p, NULL, NULL, 2);
	struct scene s = judge(two_leaves(), p);

	expect_finding(&s, SEV_ERROR, 13, "level bulk: no arbitration table serves VL 2, which SL 2 uses at "
		       "12 ports: its packets are never sent there: n100/P1");
	ck_assert_ptr_nonnull(strstr(refusal(&s), "serves VL 2"));
	ck_assert_uint_eq(s.v->level_cut[2], 1);
	end(&s);
}
END_TEST

/* promise: P11 */
START_TEST(one_vl_needs_no_table)
{
	struct policy *p = policy_new();

	add_map(p, "all", 0, 0);
	high(add_arb(p, 0), 1, 1);		/* no weight for VL 0 */
	struct fabric *f = two_leaves();

	for (unsigned num = 1; num <= 4; num++) {
		set_link(f, 0x1000, num, 2, 1, 4);
		set_link(f, 0x1001, num, 2, 1, 4);
	}
	struct scene s = judge(f, p);

	ck_assert_str_eq(refusal(&s), "");
	end(&s);
}
END_TEST

/* promise: P11 */
START_TEST(a_level_that_nobody_gets_refuses_nothing)
{
	struct policy *p = three_levels();

	add_map(p, "all", 3, 1u << 2);
	struct scene s = judge(two_leaves(), p);

	ck_assert_str_eq(refusal(&s), "");
	end(&s);
}
END_TEST

/* The level of a rule that names both ends is missing at another host; then at one of them. */
/* promise: P11 */
START_TEST(only_ports_that_may_get_the_level_count)
{
	for (unsigned at = 0; at < 2; at++) {
		struct policy *p = three_levels();

		add_group(p, "from", 0x101, 0x101);
		add_group(p, "to", 0x111, 0x111);
		add_group(p, "lacks", at ? 0x101 : 0x121, at ? 0x101 : 0x121);
		add_map(p, "lacks", 3, 1u << 2);
		add_rule(p, "from", "to", 2);
		struct scene s = judge(two_leaves(), p);

		ck_assert_str_eq(refusal(&s), !at ? "" : "level bulk: SL 2 has no VL at 1 port, so that "
				 "nothing with it is ever sent there: n100/P1 (0x0000000000000101) to "
				 "n1000/P1 (0x0000000000001000)");
		end(&s);
	}
}
END_TEST

/* promise: P11 */
START_TEST(one_way_through_a_switch_refuses_nothing)
{
	struct policy *p = three_levels();

	add_group(p, "leaf", 0x1000, 0x1000);
	only_port(&add_map(p, "leaf", 3, 1u << 2)->from, 1);
	add_rule(p, NULL, NULL, 2);
	struct scene s = judge(two_leaves(), p);

	ck_assert_uint_eq(s.v->levels[2].unreachable, 5);
	ck_assert_str_eq(refusal(&s), "");
	end(&s);
}
END_TEST

/* promise: P11 */
START_TEST(sl_0_counts_without_a_level)
{
	struct policy *p = three_levels();

	p->levels[p->default_level].sl = 3;
	add_map(p, "all", 4, 1u << 0);
	low(&p->vlarb[0], 3, 32);
	struct scene s = judge(two_leaves(), p);

	ck_assert_ptr_nonnull(strstr(refusal(&s), "management datagrams: SL 0 has no VL at 12 ports"));
	ck_assert_uint_eq(s.v->cut.n, 1);
	end(&s);
}
END_TEST

/* --- rules that give no path --- */

/* Partition 0x10 with the end ports of the GUIDs lo..hi as its only members. */
static void add_partition(struct policy *p, uint64_t lo, uint64_t hi)
{
	p->partitions = xrealloc(p->partitions, p->n_partitions + 1, sizeof(*p->partitions));
	struct policy_partition *part = &p->partitions[p->n_partitions++];

	*part = (struct policy_partition){
		.name = xstrdup("blue"), .pkey = 0x10, .members = xcalloc(1, sizeof(*part->members)),
		.n_members = 1, .level = { .s = xstrdup("") }, .ipoib_level = { .s = xstrdup("") },
	};
	part->members[0] = (struct policy_member){
		.guids = { .lo = lo, .hi = hi }, .membership = MEMBER_FULL,
	};
}

static void add_pkey(struct u64_ranges *r, uint16_t pkey)
{
	r->v = xcalloc(1, sizeof(*r->v));
	r->v[0] = (struct u64_range){ .lo = pkey, .hi = pkey };
	r->n = r->cap = 1;
}

/* The first host has the SM, which shares the default partition with everybody. */
static struct fabric *leaves_with_pkeys(void)
{
	struct fabric *f = two_leaves();

	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->nodes[i].partition_cap = 8;
	return f;
}

/* A rule between the hosts 0x110 and 0x130; blue has the GUIDs from the former's up to `last`. */
static struct policy *with_partition(uint64_t last, bool default_too)
{
	struct policy *p = three_levels();

	if (!default_too)
		p->partitions[0].members[0].membership = MEMBER_LIMITED;
	add_partition(p, 0x111, last);
	add_group(p, "from", 0x111, 0x111);
	add_group(p, "to", 0x131, 0x131);
	add_rule(p, "from", "to", 2);
	return p;
}

/* promise: P12 */
START_TEST(ends_without_a_shared_partition)
{
	struct policy *p = with_partition(0x111, false);

	p->rules[0].pos = (struct src_pos){ 40, 5 };
	struct scene s = judge(leaves_with_pkeys(), p);

	expect_finding(&s, SEV_WARNING, 40, "this rule gives no path on this fabric: no source shares with a "
		       "destination a partition");
	ck_assert_ptr_null(found(&s, "permits"));
	end(&s);
	s = judge(leaves_with_pkeys(), with_partition(0x131, false));
	ck_assert_ptr_null(found(&s, "gives no path"));
	end(&s);
	s = judge(leaves_with_pkeys(), with_partition(0x111, true));
	ck_assert_ptr_null(found(&s, "gives no path"));
	end(&s);
}
END_TEST

/* promise: P12 */
START_TEST(ends_whose_partition_the_level_excludes)
{
	struct policy *p = with_partition(0x111, true);

	add_pkey(&p->levels[2].pkeys, 0x10);
	struct scene s = judge(leaves_with_pkeys(), p);

	ck_assert_ptr_nonnull(found(&s, "a partition that its level permits"));
	end(&s);
}
END_TEST

/* promise: P12 */
START_TEST(pkeys_of_a_rule)
{
	struct policy *p = with_partition(0x111, true);

	add_pkey(&p->rules[0].pkeys, 0x10);
	struct scene s = judge(leaves_with_pkeys(), p);

	ck_assert_ptr_nonnull(found(&s, "a partition of the rule's P_Keys"));
	end(&s);
	p = with_partition(0x131, true);
	add_pkey(&p->rules[0].pkeys, 0x10);
	s = judge(leaves_with_pkeys(), p);
	ck_assert_ptr_null(found(&s, "gives no path"));
	end(&s);
	p = with_partition(0x131, true);
	add_pkey(&p->rules[0].pkeys, 0x11);
	s = judge(leaves_with_pkeys(), p);
	ck_assert_ptr_nonnull(found(&s, "this rule gives no path: no partition has any of its P_Keys"));
	end(&s);
}
END_TEST

/* --- nodes that no group names --- */

static struct scene judge_names(struct fabric *f, struct policy *policy, bool warn)
{
	struct scene s = { .f = f, .policy = policy, .settings = settings_default() };

	s.settings->warn_unnamed = warn;
	s.p = plan_compute(f, policy, s.settings, NULL, NULL, NULL);
	plan_judge(s.p, NULL);
	s.v = s.p->feasible;
	return s;
}

static void add_named(struct policy *p, const char *group, const char *port)
{
	struct policy_group *g;

	add_group(p, group, 0x1000, 0x1000);		/* a switch */
	g = &p->groups[p->n_groups - 1];
	g->node_types = NT_CA;
	g->port_names.v = xcalloc(1, sizeof(*g->port_names.v));
	g->port_names.v[0].s = xstrdup(port);
	g->port_names.n = g->port_names.cap = 1;
}

static size_t unnamed(const struct scene *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->v->findings.n; i++)
		n += !strncmp(s->v->findings.v[i].text, "no group names", 14);
	return n;
}

/* promise: P15 */
START_TEST(nodes_that_no_group_names)
{
	struct policy *p = policy_builtin();
	struct scene s;

	add_named(p, "types", "n11?/P*");
	add_group(p, "guids", 0x121, 0x125);
	s = judge_names(two_leaves(), p, true);
	ck_assert_uint_eq(unnamed(&s), 2);
	expect_finding(&s, SEV_WARNING, 0, "no group names the ca n100 (0x0000000000000100)");
	expect_finding(&s, SEV_WARNING, 0, "no group names the ca n130 (0x0000000000000130)");
	end(&s);
	s = judge_names(two_leaves(), policy_builtin(), true);
	ck_assert_uint_eq(unnamed(&s), 4);
	end(&s);
	s = judge_names(two_leaves(), policy_builtin(), false);
	ck_assert_uint_eq(unnamed(&s), 0);
	end(&s);
}
END_TEST

/* promise: P15 */
START_TEST(many_nodes_that_no_group_names)
{
	struct fabric *f = fabric_new();
	uint32_t host[30], sw;

	for (unsigned i = 0; i < 30; i++)
		host[i] = net_ca(f, 0x100 + i * 16, 1);
	sw = net_switch(f, 0x1000, 36, true);
	for (unsigned i = 0; i < 30; i++)
		ck_assert(fabric_link(f, host[i], 1, sw, 1 + i));
	net_finish(f);
	struct scene s = judge_names(f, policy_builtin(), true);

	ck_assert_uint_eq(unnamed(&s), 21);
	expect_finding(&s, SEV_WARNING, 0, "no group names 10 more hosts and routers");
	end(&s);
}
END_TEST

/* --- pairs --- */

/* Counts the pairs one by one. */
static void count_pairs(const struct scene *s, unsigned sl, uint64_t *pairs, uint64_t *lost)
{
	const struct plan *p = s->p;

	*pairs = *lost = 0;
	for (uint32_t src = 0; src < s->f->n_ports; src++)
		for (uint32_t dst = 0; dst < s->f->n_ports; dst++) {
			if (src == dst || !p->lid[src] || !p->lid[dst])
				continue;
			struct path_info i = paths_between(p->paths, s->f, p->lfts, p->tables, src,
							   dst, p->lid[dst]);
			*pairs += i.mtu != 0;
			*lost += i.mtu && !(i.sl_mask >> sl & 1);
		}
}

static void expect_counts(const struct scene *s)
{
	for (size_t i = 0; i < s->policy->n_levels; i++) {
		const struct level_verdict *v = &s->v->levels[i];
		uint64_t pairs, lost;

		count_pairs(s, s->policy->levels[i].sl, &pairs, &lost);
		ck_assert_uint_eq(v->pairs, pairs);
		ck_assert_uint_eq(v->unreachable, lost);
		ck_assert_int_eq(lost == 0, v->from == FABRIC_NONE);
		if (!lost)
			continue;
		struct path_info way = paths_between(s->p->paths, s->f, s->p->lfts, s->p->tables,
						     v->from, v->to, s->p->lid[v->to]);
		ck_assert_uint_ne(v->from, v->to);
		ck_assert(way.mtu && !(way.sl_mask >> s->policy->levels[i].sl & 1));
	}
}

START_TEST(sl_dropped_on_one_hop)
{
	struct policy *p = three_levels();

	/* drops SL 2 of packets that enter the first leaf by port 1, where the host 0x100 is */
	add_group(p, "leaf", 0x1000, 0x1000);
	only_port(&add_map(p, "leaf", 3, 1u << 2)->from, 1);
	struct scene s = judge(two_leaves(), p);

	/* most in ports do not drop it, which counts for the kind of link */
	ck_assert_uint_eq(kind_at(&s, 0x1000, 3)->levels[2].vl, 2);
	/* from that host to 3 hosts and 2 switches */
	ck_assert_uint_eq(s.v->levels[2].unreachable, 5);
	ck_assert_uint_eq(s.v->levels[2].from, port_of(s.f, 0x100, 1));
	ck_assert_uint_eq(s.v->levels[0].unreachable + s.v->levels[1].unreachable, 0);
	expect_finding(&s, SEV_WARNING, 13, "level bulk: SL 2 does not connect 5 of 30 pairs");
	expect_finding(&s, SEV_WARNING, 13,
		       "it is dropped in n1000 (0x0000000000001000) from port 1");
	expect_counts(&s);
	end(&s);
}
END_TEST

START_TEST(sl_dropped_from_a_switch_itself)
{
	struct policy *p = three_levels();

	add_group(p, "leaf", 0x1000, 0x1000);
	only_port(&add_map(p, "leaf", 3, 1u << 2)->from, 0);
	struct scene s = judge(two_leaves(), p);

	ck_assert_uint_eq(kind_at(&s, 0x1000, 3)->levels[2].vl, 2);
	ck_assert_uint_eq(s.v->levels[2].unreachable, 5);
	expect_finding(&s, SEV_WARNING, 13, "from n1000/P0 (0x0000000000001000) to n100/P1 "
		       "(0x0000000000000101) it is dropped in n1000 (0x0000000000001000) from port "
		       "0 to port 1");
	expect_counts(&s);
	end(&s);
}
END_TEST

START_TEST(sl_dropped_by_a_host)
{
	struct policy *p = three_levels();

	add_group(p, "host", 0x121, 0x121);
	add_map(p, "host", 3, 1u << 1);
	struct scene s = judge(two_leaves(), p);

	ck_assert_uint_eq(s.v->levels[1].unreachable, 5);
	expect_finding(&s, SEV_WARNING, 12,
		       "it is dropped by n120 (0x0000000000000120) at its port 1");
	expect_counts(&s);
	end(&s);
}
END_TEST

START_TEST(sl_dropped_everywhere_is_an_error)
{
	struct policy *p = three_levels();

	add_map(p, "all", 3, 1u << 2);
	struct scene s = judge(two_leaves(), p);

	ck_assert_uint_eq(s.v->levels[2].unreachable, 30);
	ck_assert_uint_eq(s.v->kinds[0].levels[2].vl, IB_VL_DROP);
	expect_finding(&s, SEV_ERROR, 13, "level bulk: SL 2 does not connect any: 30 of 30 pairs");
	expect_counts(&s);
	end(&s);
}
END_TEST

START_TEST(hosts_without_a_switch)
{
	struct fabric *f = fabric_new();
	uint32_t a = net_ca(f, 0x100, 1), b = net_ca(f, 0x110, 1);

	ck_assert(fabric_link(f, a, 1, b, 1));
	net_finish(f);
	struct policy *p = policy_new();

	add_level(p, "gone", 1);
	add_group(p, "a", 0x101, 0x101);
	add_map(p, "a", 2, 1u << 1);
	struct scene s = judge(f, p);

	ck_assert_uint_eq(s.v->levels[1].pairs, 2);
	ck_assert_uint_eq(s.v->levels[1].unreachable, 1);
	expect_counts(&s);
	end(&s);
}
END_TEST

/* Makes rings of switches with two hosts each and random scopes. */
static void random_scene(uint64_t *seed)
{
	struct fabric *f = fabric_new();
	struct policy *p = policy_new();
	uint32_t sw[6], n = 3 + net_random(seed) % 4;
	uint64_t base;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t host[2] = { net_ca(f, 0x100 + i * 32, 1), net_ca(f, 0x110 + i * 32, 1) };

		sw[i] = net_switch(f, 0x1000 + i, 6, net_random(seed) % 2);
		for (unsigned k = 0; k < 2; k++)
			if (net_random(seed) % 8)
				fabric_link(f, host[k], 1, sw[i], 1 + k);
			else if (i == 0 && k == 0)
				fabric_link(f, host[k], 1, sw[i], 5);
	}
	for (uint32_t i = 0; i < n; i++)
		fabric_link(f, sw[i], 3, sw[(i + 1) % n], 4);
	net_finish(f);
	arbitrate(f, 8);
	for (unsigned i = 1; i < 4; i++)
		add_level(p, "level", (uint8_t)(i * 3));
	for (unsigned i = 0; i < 6; i++) {
		char name[] = { 'g', (char)('0' + i), 0 };

		base = net_random(seed) % 2 ? 0x1000 : 0x100;
		base += net_random(seed) % n * (base == 0x100 ? 32 : 1);
		add_group(p, name, base, base + net_random(seed) % 40);
		struct policy_sl2vl *m = add_map(p, name, 4, net_random(seed) & 0x1248);

		m->kind = net_random(seed) % 3 ? SCOPE_GROUP : SCOPE_ACROSS;
		if (net_random(seed) % 2)
			only_port(&m->from, 1 + net_random(seed) % 4);
		if (net_random(seed) % 2)
			only_port(&m->to, 1 + net_random(seed) % 4);
	}
	struct scene s = judge(f, p);

	expect_counts(&s);
	end(&s);
}

START_TEST(counts_agree_with_pairs_one_by_one)
{
	uint64_t seed = 88172645463325252ULL + (uint64_t)_i;

	for (unsigned i = 0; i < 40; i++)
		random_scene(&seed);
}
END_TEST

/* --- limits --- */

START_TEST(what_a_level_asks_in_vain)
{
	struct policy *p = three_levels();

	p->levels[1].path_bits = 2;
	p->levels[1].rate_limit = (uint8_t)rate_parse_gbps("100");
	p->levels[1].mtu_limit = (uint8_t)mtu_code(4096);
	p->levels[2].pkeys.v = xcalloc(1, sizeof(*p->levels[2].pkeys.v));
	p->levels[2].pkeys.v[0] = (struct u64_range){ .lo = 0x10, .hi = 0x20 };
	p->levels[2].pkeys.n = 1;
	struct scene s = judge(two_leaves(), p);

	expect_finding(&s, SEV_WARNING, 12, "path-bits 2 need more LIDs than the LMC of 0 provides");
	expect_finding(&s, SEV_INFO, 12, "rate-limit 100 Gb/s has no effect: no link runs at "
		       "more than 40 Gb/s");
	expect_finding(&s, SEV_INFO, 12, "mtu-limit 4096 has no effect: no link carries more "
		       "than 2048");
	expect_finding(&s, SEV_ERROR, 13, "level bulk: no partition has any of its P_Keys");
	ck_assert_uint_eq(s.v->findings.n, 4);
	end(&s);

	p = three_levels();
	p->levels[2].pkeys.v = xcalloc(1, sizeof(*p->levels[2].pkeys.v));
	p->levels[2].pkeys.v[0] = (struct u64_range){ .lo = 0x10, .hi = 0x7fff };
	p->levels[2].pkeys.n = 1;
	p->levels[1].path_bits = 3;
	s = judge_with_lmc(two_leaves(), p, 2);
	ck_assert_uint_eq(s.v->findings.n, 0);
	end(&s);
}
END_TEST

START_TEST(who_cannot_join_the_ipoib_group)
{
	struct fabric *f = two_leaves();

	set_link(f, 0x110, 1, (uint8_t)rate_parse_link("1xSDR"), 4, 4);
	struct scene s = judge(f, policy_builtin());

	expect_finding(&s, SEV_WARNING, 0, "1 of its ports cannot join its IPoIB group, which has "
		       "an MTU of 2048 and 10 Gb/s; the first is n110/P1");
	end(&s);

	f = two_leaves();
	struct policy *p = policy_builtin();

	set_link(f, 0x110, 1, (uint8_t)rate_parse_link("1xSDR"), 4, 4);
	p->levels[0].rate_limit = (uint8_t)rate_parse_gbps("56");
	s = judge(f, p);
	expect_finding(&s, SEV_WARNING, 0, "its IPoIB group cannot have the MTU of 2048 and 56 Gb/s "
		       "of level default because of 4 of its ports; the first is n100/P1 "
		       "(0x0000000000000101).  Created while these ports are present, the group has 2048 and 10 Gb/s; created before, they cannot join it");
	expect_finding(&s, SEV_WARNING, 0, "1 of its ports cannot join its IPoIB group, which has "
		       "an MTU of 2048 and 10 Gb/s; the first is n110/P1");
	end(&s);
}
END_TEST

/* --- links that deviate --- */

START_TEST(a_degraded_link_is_named)
{
	struct fabric *f = two_leaves();

	set_link(f, 0x120, 1, (uint8_t)rate_parse_link("1xQDR"), 4, 4);
	struct scene s = judge(f, policy_builtin());

	ck_assert_uint_eq(s.v->n_deviations, 1);
	ck_assert_uint_eq(s.v->deviations[0].port, port_of(s.f, 0x120, 1));
	ck_assert_uint_eq(s.v->deviations[0].rate, rate_parse_link("1xQDR"));
	ck_assert_uint_eq(s.v->deviations[0].usual, rate_parse_link("4xQDR"));
	expect_finding(&s, SEV_WARNING, 0, "link n120/P1 (0x0000000000000121) to n1001/P1 "
		       "(0x0000000000001001): runs at 10 Gb/s, most links between such devices at "
		       "40 Gb/s");
	ck_assert_uint_eq(s.v->levels[0].worst, s.v->kind_of_port[port_of(s.f, 0x120, 1)]);
	end(&s);
}
END_TEST

START_TEST(other_models_have_other_rates)
{
	struct fabric *f = two_leaves();

	/* one of four hosts has another DeviceID and is slower */
	f->nodes[map64_get(&f->node_by_guid, 0x120)].info[31] = 7;
	set_link(f, 0x120, 1, (uint8_t)rate_parse_link("4xSDR"), 4, 4);
	struct scene s = judge(f, policy_builtin());

	ck_assert_uint_eq(s.v->n_deviations, 0);
	end(&s);
}
END_TEST

static void says_it_can(struct fabric *f, uint64_t guid, unsigned num, unsigned width)
{
	uint32_t a = port_of(f, guid, num), ends[] = { a, f->ports[a].peer };

	for (unsigned i = 0; i < 2; i++) {
		uint8_t *info = f->ports[ends[i]].info;

		mad_set_field(info, 0, IB_PORT_LINK_WIDTH_SUPPORTED_F, width);
		mad_set_field(info, 0, IB_PORT_LINK_WIDTH_ENABLED_F, width);
		mad_set_field(info, 0, IB_PORT_LINK_SPEED_SUPPORTED_F, 7);
		mad_set_field(info, 0, IB_PORT_LINK_SPEED_ENABLED_F, 7);
	}
}

START_TEST(below_what_both_ends_can)
{
	struct fabric *f = two_leaves();

	for (unsigned i = 0; i < 4; i++)
		says_it_can(f, 0x100 + i * 16, 1, 3);
	says_it_can(f, 0x1000, 3, 3);
	says_it_can(f, 0x1000, 4, 3);
	/* one of two links between the switches is slower: there is no majority */
	set_link(f, 0x1000, 4, (uint8_t)rate_parse_link("4xDDR"), 4, 4);
	struct scene s = judge(f, policy_builtin());

	ck_assert_uint_eq(s.v->n_deviations, 1);
	expect_finding(&s, SEV_WARNING, 0, "runs at 20 Gb/s, both ends support 40 Gb/s");
	end(&s);

	/* if most ends claim too much, none is believed */
	f = two_leaves();
	for (unsigned i = 0; i < 4; i++)
		says_it_can(f, 0x100 + i * 16, 1, 0x1f);
	says_it_can(f, 0x1000, 3, 0x1f);
	says_it_can(f, 0x1000, 4, 0x1f);
	s = judge(f, policy_builtin());
	ck_assert_uint_eq(s.v->n_deviations, 0);
	end(&s);
}
END_TEST

START_TEST(links_that_deviate_alike_are_one_finding)
{
	struct fabric *f = fabric_new();
	uint32_t sw, host[11];

	for (unsigned i = 0; i < 11; i++)
		host[i] = net_ca(f, 0x100 + i * 16, 1);
	sw = net_switch(f, 0x1000, 11, false);
	for (unsigned i = 0; i < 11; i++)
		ck_assert(fabric_link(f, host[i], 1, sw, 1 + i));
	net_finish(f);
	for (unsigned i = 0; i < 5; i++)
		set_link(f, 0x100 + i * 16, 1, 7, 4, 1);
	set_link(f, 0x1a0, 1, 7, 3, 4);
	struct scene s = judge(f, policy_builtin());

	ck_assert_uint_eq(s.v->n_deviations, 6);
	expect_finding(&s, SEV_WARNING, 0, " and 2 more: carries an MTU of 256, most links of its "
		       "kind 2048");
	expect_finding(&s, SEV_WARNING, 0, "has 4 data VLs, most links of its kind 8");
	ck_assert_ptr_null(found(&s, "runs at"));
	ck_assert_uint_eq(s.v->findings.n, 3);	/* and which ports cannot join the IPoIB group */
	end(&s);
}
END_TEST

/* --- the report --- */

START_TEST(the_report_says_it_all)
{
	struct policy *p = three_levels();
	struct buf text = { 0 }, again = { 0 };

	add_group(p, "leaf", 0x1000, 0x1000);
	only_port(&add_map(p, "leaf", 3, 1u << 2)->from, 1);
	struct fabric *f = two_leaves();

	set_link(f, 0x120, 1, (uint8_t)rate_parse_link("1xQDR"), 4, 4);
	struct scene s = judge(f, p);
	static const char *const parts[] = {
		"switch ports, 40 Gb/s (32 of data), MTU 2048, 4 VLs",
		"  fast      1   1  high   66.7 %      21.33      32.00        0.5        -   66.7 %    66.7 %\n",
		"  bulk      2       2.00          3  5 of 30\n",
		"links that deviate:\n  n120/P1 (0x0000000000000121) to n1001/P1",
	};

	feasible_print(s.v, s.p, &text);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		ck_assert_msg(strstr(text.s, parts[i]) != NULL, "\"%s\" is missing in\n%s",
			      parts[i], text.s);
	feasible_free(s.p->feasible);
	plan_judge(s.p, NULL);
	feasible_print(s.p->feasible, s.p, &again);
	ck_assert_str_eq(text.s, again.s);
	buf_free(&text);
	buf_free(&again);
	end(&s);
}
END_TEST

START_TEST(judged_beside_the_plan)
{
	struct scene s = { two_leaves(), three_levels(), settings_default(), NULL, NULL };

	s.p = plan_begin(s.f, s.policy, s.settings, NULL, NULL, NULL);
	struct fabric *copy = fabric_clone(s.f);
	struct plan *fork = plan_fork(s.p, copy);

	for (uint32_t i = 0; i < s.f->n_ports; i++)	/* this one is not read */
		s.f->ports[i].rate = 0;
	plan_complete(fork, NULL, NULL);
	plan_judge(fork, NULL);
	plan_join(s.p, fork);
	fabric_free(copy);
	s.v = s.p->feasible;
	ck_assert_ptr_eq(s.p->f, s.f);
	ck_assert_double_eq_tol(s.v->kinds[0].levels[1].ceiling, 32, 1e-9);
	ck_assert_uint_ne(s.p->report.pairs, 0);
	expect_counts(&s);
	end(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("feasible");
	TCase *c = tcase_create("feasible");

	tcase_add_test(c, fdr10_has_the_code_of_qdr_and_loses_nothing);
	tcase_add_test(c, shares_and_waits_by_hand);
	tcase_add_test(c, an_sl_without_a_level_has_its_share);
	tcase_add_test(c, sls_without_a_level_by_the_study);
	tcase_add_test(c, sls_without_a_level_starve_and_starve_levels);
	tcase_add_test(c, an_sl_that_gets_next_to_nothing);
	tcase_add_test(c, an_sl_on_the_vl_of_another_level);
	tcase_add_test(c, an_sl_that_connects_some_pairs_only);
	tcase_add_test(c, unused_sls_are_nothing_to_tell);
	tcase_add_test(c, both_models_are_told);
	tcase_add_test(c, the_study_covers_one_mtu);
	tcase_add_test(c, limits_of_a_level_count);
	tcase_add_test(c, one_vl_is_shared_and_said_to_be);
	tcase_add_test(c, what_classes_ask);
	tcase_add_test(c, what_is_shared_everywhere_is_meant);
	tcase_add_test(c, no_tables_nothing_known);
	tcase_add_test(c, unmanaged_tables_leave_one_level_alone);
	tcase_add_test(c, a_limit_of_255_starves);
	tcase_add_test(c, a_vl_in_no_table_gets_nothing);
	tcase_add_test(c, a_level_without_a_vl_is_refused);
	tcase_add_test(c, a_vl_that_is_not_served_is_refused);
	tcase_add_test(c, one_vl_needs_no_table);
	tcase_add_test(c, a_level_that_nobody_gets_refuses_nothing);
	tcase_add_test(c, only_ports_that_may_get_the_level_count);
	tcase_add_test(c, one_way_through_a_switch_refuses_nothing);
	tcase_add_test(c, sl_0_counts_without_a_level);
	tcase_add_test(c, ends_without_a_shared_partition);
	tcase_add_test(c, ends_whose_partition_the_level_excludes);
	tcase_add_test(c, pkeys_of_a_rule);
	tcase_add_test(c, nodes_that_no_group_names);
	tcase_add_test(c, many_nodes_that_no_group_names);
	tcase_add_test(c, sl_dropped_on_one_hop);
	tcase_add_test(c, sl_dropped_from_a_switch_itself);
	tcase_add_test(c, sl_dropped_by_a_host);
	tcase_add_test(c, sl_dropped_everywhere_is_an_error);
	tcase_add_test(c, hosts_without_a_switch);
	tcase_add_loop_test(c, counts_agree_with_pairs_one_by_one, 0, 5);
	tcase_add_test(c, what_a_level_asks_in_vain);
	tcase_add_test(c, who_cannot_join_the_ipoib_group);
	tcase_add_test(c, a_degraded_link_is_named);
	tcase_add_test(c, other_models_have_other_rates);
	tcase_add_test(c, below_what_both_ends_can);
	tcase_add_test(c, links_that_deviate_alike_are_one_finding);
	tcase_add_test(c, the_report_says_it_all);
	tcase_add_test(c, judged_beside_the_plan);
	suite_add_tcase(s, c);
	return run_suite(s);
}
