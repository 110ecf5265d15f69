/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements subnet.h.  Topologies go through the loader, like a user's. */
#include "subnet.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "unit/load_fabric.h"
#include "unit/temp.h"

static const char small_topology[] =
	"vendid=0x8f1\ndevid=0x5a06\nsysimgguid=0x8f10400410010\n"
	"switchguid=0x8f10400410017(8f10400410017)\n"
	"Switch\t4 \"S-0008f10400410017\"\t\t# \"leaf one\" base port 0 lid 3 lmc 0\n"
	"[1]\t\"H-0002c90300000010\"[1](2c90300000011)\t\t# \"node1 HCA-1\" lid 1 4xQDR\n"
	"[2]\t\"H-0002c90300000020\"[1](2c90300000021)\t\t# \"node2 HCA-1\" lid 4 4xQDR\n"
	"[3]\t\"S-0008f10400420005\"[3]\t\t# \"leaf two\" lid 2 4xQDR\n"
	"[4]\t\"S-0008f10400420005\"[4]\t\t# \"leaf two\" lid 2 4xQDR\n"
	"\n"
	"vendid=0x8f1\ndevid=0x5a06\nsysimgguid=0x8f10400420000\n"
	"switchguid=0x8f10400420005(8f10400420005)\n"
	"Switch\t4 \"S-0008f10400420005\"\t\t# \"leaf two\" base port 0 lid 2 lmc 0\n"
	"[1]\t\"H-0002c90300000036\"[1](2c90300000037)\t\t# \"storage1 HCA-1\" lid 5 4xQDR\n"
	"[3]\t\"S-0008f10400410017\"[3]\t\t# \"leaf one\" lid 3 4xQDR\n"
	"[4]\t\"S-0008f10400410017\"[4]\t\t# \"leaf one\" lid 3 4xQDR\n"
	"\n"
	"vendid=0x2c9\ndevid=0x673c\nsysimgguid=0x2c90300000013\ncaguid=0x2c90300000010\n"
	"Ca\t1 \"H-0002c90300000010\"\t\t# \"node1 HCA-1\"\n"
	"[1](2c90300000011)\t\"S-0008f10400410017\"[1]\t\t# lid 1 lmc 0 \"leaf one\" lid 3 4xQDR\n"
	"\n"
	"vendid=0x2c9\ndevid=0x673c\nsysimgguid=0x2c90300000023\ncaguid=0x2c90300000020\n"
	"Ca\t1 \"H-0002c90300000020\"\t\t# \"node2 HCA-1\"\n"
	"[1](2c90300000021)\t\"S-0008f10400410017\"[2]\t\t# lid 4 lmc 0 \"leaf one\" lid 3 4xQDR\n"
	"\n"
	"vendid=0x2c9\ndevid=0x673c\nsysimgguid=0x2c90300000039\ncaguid=0x2c90300000036\n"
	"Ca\t1 \"H-0002c90300000036\"\t\t# \"storage1 HCA-1\"\n"
	"[1](2c90300000037)\t\"S-0008f10400420005\"[1]\t\t# lid 5 lmc 0 \"leaf two\" lid 2 4xQDR\n";

/* --- the policy --- */

static struct policy_level *add_level(struct policy *p, const char *name, uint8_t sl)
{
	struct policy_level *l;

	p->levels = xrealloc(p->levels, p->n_levels + 1, sizeof(*p->levels));
	l = &p->levels[p->n_levels++];
	*l = (struct policy_level){ .name = xstrdup(name), .sl = sl, .packet_lifetime = -1,
				    .path_bits = -1, .tclass = -1 };
	return l;
}

static struct policy_rule *add_rule(struct policy *p, const char *level, uint32_t line)
{
	struct policy_rule *r;

	p->rules = xrealloc(p->rules, p->n_rules + 1, sizeof(*p->rules));
	r = &p->rules[p->n_rules++];
	*r = (struct policy_rule){ .pos = { line, 5 }, .level = policy_find_level(p, level),
				   .level_name = { xstrdup(level), { line, 5 } } };
	return r;
}

static void add_range(struct u64_ranges *r, uint64_t lo, uint64_t hi)
{
	*vec_push(r) = (struct u64_range){ lo, hi, { 0, 0 } };
}

struct policy *test_policy(void)
{
	struct policy *p = policy_builtin();
	struct policy_rule *r;

	add_level(p, "storage", 2)->mtu_limit = (uint8_t)mtu_code(1024);
	add_level(p, "fast", 3);
	r = add_rule(p, "storage", 10);
	r->description = xstrdup("targets");
	add_range(&r->service_ids, 0x1000, 0x1fff);
	add_range(&add_rule(p, "fast", 11)->qos_classes, 7, 7);
	return p;
}

/* --- states --- */

static void activate(struct fabric *f)
{
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].peer != FABRIC_NONE)
			f->ports[i].state = IB_PORT_ACTIVE_S;
}

struct subnet_state *test_subnet_load(const char *path, bool keep_lids, struct policy *policy)
{
	struct subnet_state *s = xcalloc(1, sizeof(*s));
	struct lid_map known = { 0 };
	struct buf err = { 0 };
	/* settings outlive all states, like the daemon's, which are read once */
	static struct settings *settings;

	if (!settings)
		settings = settings_default();
	map64_init(&known.by_guid, 16);
	map64_init(&known.lmc_by_guid, 16);
	s->refs = 1;
	s->f = fabric_load(path, 0, keep_lids, &err);
	ck_assert_msg(s->f != NULL, "%s", err.s);
	activate(s->f);
	s->policy = shared_policy_new(policy);
	s->plan = plan_compute(s->f, policy, settings, &known, NULL, NULL);
	map64_free(&known.by_guid);
	map64_free(&known.lmc_by_guid);
	return s;
}

static struct subnet_state *load_text(const char *text, struct policy *policy)
{
	char *path = temp_file(text, strlen(text));
	struct subnet_state *s = test_subnet_load(path, true, policy);

	unlink(path);
	free(path);
	return s;
}

struct subnet_state *test_subnet(void)
{
	return load_text(small_topology, test_policy());
}

/* Ports 1 to n - 1 lead to the hosts, n to the switch before, n + 1 to the one after. */
static void put_ring_switch(struct buf *t, unsigned i, unsigned switches, unsigned n)
{
	unsigned before = (i + switches - 1) % switches, after = (i + 1) % switches;

	buf_printf(t, "vendid=0x1\ndevid=0x2\nswitchguid=0xa%05x(a%05x)\n"
		   "Switch\t%u \"S-%016x\"\t\t# \"sw%u\" base port 0 lid 0 lmc 0\n",
		   i, i, n + 1, 0xa00000 + i, i);
	for (unsigned h = 1; h < n; h++)
		buf_printf(t, "[%u]\t\"H-%016x\"[1](%x)\t\t# \"host%u-%u\" lid 0 4xQDR\n", h,
			   0xb00000 + i * 512 + h * 2, 0xb00000 + i * 512 + h * 2 + 1, i, h);
	buf_printf(t, "[%u]\t\"S-%016x\"[%u]\t\t# \"sw%u\" lid 0 4xQDR\n", n,
		   0xa00000 + before, n + 1, before);
	buf_printf(t, "[%u]\t\"S-%016x\"[%u]\t\t# \"sw%u\" lid 0 4xQDR\n\n", n + 1,
		   0xa00000 + after, n, after);
}

static void put_ring_host(struct buf *t, unsigned i, unsigned h)
{
	unsigned guid = 0xb00000 + i * 512 + h * 2;

	buf_printf(t, "vendid=0x1\ndevid=0x3\ncaguid=0x%x\n"
		   "Ca\t1 \"H-%016x\"\t\t# \"host%u-%u\"\n"
		   "[1](%x)\t\"S-%016x\"[%u]\t\t# lid 0 lmc 0 \"sw%u\" lid 0 4xQDR\n\n",
		   guid, guid, i, h, guid + 1, 0xa00000 + i, h, i);
}

struct subnet_state *test_subnet_large(unsigned switches, unsigned n)
{
	struct buf text = { 0 };
	struct subnet_state *s;

	for (unsigned i = 0; i < switches; i++)
		put_ring_switch(&text, i, switches, n);
	for (unsigned i = 0; i < switches; i++)
		for (unsigned h = 1; h < n; h++)
			put_ring_host(&text, i, h);
	s = load_text(text.s, test_policy());
	buf_free(&text);
	return s;
}

void test_subnet_free(struct subnet_state *s)
{
	ck_assert_uint_eq(s->refs, 1);	/* nobody kept one */
	state_unref(s);
}
