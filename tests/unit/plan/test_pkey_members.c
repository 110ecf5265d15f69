/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests partitions on a fabric: which ports hold which P_Keys, which pairs share one,
 * what switches enforce, and the findings.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "net.h"
#include "plan/partitions/pkey_members.h"
#include "unit/run.h"

enum { SM, A, B, C, N_HOSTS };		/* CAs on ports 1 to 4 of switch 0x100 */
#define GUID(host) (0x11u + 0x10u * (unsigned)(host))

static struct fabric *f;
static struct policy *p;
static struct group_sets *g;
static struct partitions *parts;
static struct findings findings;
static const struct pkey_places *known;
static enum partition_enforcement enforcement;
static uint32_t sw;

static uint32_t host(unsigned h)
{
	return fabric_find_port(f, GUID(h));
}

static uint32_t switch_port(unsigned num)
{
	return f->nodes[sw].port0 + num;
}

static void setup(void)
{
	f = fabric_new();
	for (unsigned h = 0; h < N_HOSTS; h++)
		net_ca(f, 0x10 + 0x10 * h, 1);
	sw = net_switch(f, 0x100, 8, false);
	uint32_t other = net_switch(f, 0x200, 2, false);

	for (unsigned h = 0; h < N_HOSTS; h++)
		ck_assert(fabric_link(f, h, 1, sw, h + 1));
	ck_assert(fabric_link(f, sw, 5, other, 1));
	net_finish(f);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->nodes[i].partition_cap = 8;
	for (uint32_t i = 0; i < f->n_switches; i++) {
		f->switches[i].enforce_cap = 8;
		f->switches[i].enforces_in = f->switches[i].enforces_out = true;
	}
	p = policy_builtin();
	enforcement = ENFORCE_BOTH;
}

static void teardown(void)
{
	partitions_free(parts);
	parts = NULL;
	groups_free(g);
	g = NULL;
	policy_free(p);
	fabric_free(f);
	findings_free(&findings);
}

static void build(void)
{
	partitions_free(parts);
	groups_free(g);
	findings_free(&findings);
	g = groups_resolve(p, f, &findings);
	parts = partitions_build(p, f, g, known, enforcement, &findings);
}

static void clear_members(struct policy_partition *part)
{
	for (size_t i = 0; i < part->n_members; i++)
		free(part->members[i].group.s);
	part->n_members = 0;
}

static struct policy_partition *partition(uint16_t pkey)
{
	struct policy_partition *part;

	p->partitions = xrealloc(p->partitions, p->n_partitions + 1, sizeof(*part));
	part = &p->partitions[p->n_partitions++];
	*part = (struct policy_partition){
		.name = xasprintf("p%u", pkey), .pkey = pkey, .pos = { pkey, 1 },
	};
	return part;
}

/* Adds a member: "all", "self", a host by its letter, or an unknown GUID by "?". */
static void member(struct policy_partition *part, const char *who, enum membership m)
{
	struct policy_member *x;
	bool word = strlen(who) > 1;
	unsigned h = *who == 'S' ? SM : *who == '?' ? 1000 : (unsigned)(*who - 'A') + A;

	part->members = xrealloc(part->members, part->n_members + 1, sizeof(*x));
	x = &part->members[part->n_members++];
	*x = (struct policy_member){
		.pos = { part->pkey, (uint32_t)part->n_members }, .membership = m,
		.group.s = word ? xstrdup(who) : NULL,
		.guids = { GUID(h), GUID(h), { part->pkey, 9 } },
	};
}

/* Adds partitions, "pkey: who=full who=limited who=full@0 …; pkey: …"; 7fff replaces the default one's members. */
static void members(const char *text)
{
	char *copy = xstrdup(text), *save, *save2, *line, *word;

	for (line = strtok_r(copy, ";", &save); line; line = strtok_r(NULL, ";", &save)) {
		struct policy_partition *part;
		char *colon = strchr(line, ':');
		unsigned pkey = (unsigned)strtoul(line, NULL, 16);

		if (pkey == IB_PKEY_DEFAULT)
			clear_members(part = &p->partitions[0]);
		else
			part = partition((uint16_t)pkey);
		for (word = strtok_r(colon + 1, " ", &save2); word;
		     word = strtok_r(NULL, " ", &save2)) {
			char *kind = strchr(word, '=') + 1;

			kind[-1] = '\0';
			member(part, word, *kind == 'f' ? MEMBER_FULL :
			       *kind == 'l' ? MEMBER_LIMITED : MEMBER_BOTH);
			part->members[part->n_members - 1].index0 = strchr(kind, '0');
		}
	}
	free(copy);
}

static const char *keys_of(uint32_t port)
{
	const struct pkey_table *t = port_pkeys(parts, port);
	static char out[512];
	int n = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < t->n; i++)
		n += snprintf(out + n, sizeof(out) - (size_t)n, "%s%04x", i ? " " : "", t->keys[i]);
	return out;
}

static const struct finding *finds(enum severity severity, const char *text)
{
	for (size_t i = 0; i < findings.n; i++)
		if (findings.v[i].severity == severity && strstr(findings.v[i].text, text))
			return &findings.v[i];
	return NULL;
}

START_TEST(one_partition_is_as_ever)
{
	build();
	for (unsigned h = 0; h < N_HOSTS; h++)
		ck_assert_str_eq(keys_of(host(h)), "ffff");
	ck_assert_str_eq(keys_of(switch_port(0)), "ffff");
	for (uint32_t i = 0; i < f->n_ports; i++)
		ck_assert(!parts->enforce[i]);
	for (unsigned num = 1; num <= 8; num++)
		ck_assert_str_eq(keys_of(switch_port(num)), "");
	ck_assert_uint_eq(parts->n_tables, 2);
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

/* The P_Keys of each host and of A's switch port; the switch's port 0 is in `all`. */
static const struct {
	const char *members, *keys[N_HOSTS], *port0, *port_of_a;
} tables[] = {
	{ "1: A=full B=full", { "ffff", "ffff 8001", "ffff 8001", "ffff" }, "ffff", "ffff 8001" },
	/* full, limited, and both: the full P_Key comes first; the switch has one entry */
	{ "1: A=both B=limited C=full", { "ffff", "ffff 8001 0001", "ffff 0001", "ffff 8001" },
	  "ffff", "ffff 8001" },
	{ "7fff: all=limited; 1: A=limited C=full", { "ffff", "7fff 0001", "7fff", "7fff 8001" },
	  "7fff", "ffff 8001" },
	/* the last item that names a port counts */
	{ "1: all=limited A=full B=full B=limited self=both",
	  { "ffff 8001 0001", "ffff 8001", "ffff 0001", "ffff 0001" }, "ffff 0001", "ffff 8001" },
	{ "1: A=full all=limited", { "ffff 0001", "ffff 0001", "ffff 0001", "ffff 0001" },
	  "ffff 0001", "ffff 8001" },
	/* P_Keys are in the order of the policy */
	{ "3: A=full; 1: A=full; 2: A=full", { "ffff", "ffff 8003 8001 8002", "ffff", "ffff" },
	  "ffff", "ffff 8003 8001 8002" },
	/* hosts are not in the default partition; the SM is */
	{ "7fff: B=limited; 1: A=full C=full S=limited",
	  { "ffff 0001", "8001", "7fff", "8001" }, "", "8001" },
	{ "7fff: S=limited; 1: C=full", { "ffff", "", "", "8001" }, "", "" },
	{ "7ffe: A=full B=limited", { "ffff", "ffff fffe", "ffff 7ffe", "ffff" }, "ffff", "ffff fffe" },
};

START_TEST(who_holds_what)
{
	members(tables[_i].members);
	build();
	for (unsigned h = 0; h < N_HOSTS; h++)
		ck_assert_str_eq(keys_of(host(h)), tables[_i].keys[h]);
	ck_assert_str_eq(keys_of(switch_port(0)), tables[_i].port0);
	ck_assert(parts->enforce[switch_port(A + 1)]);
	ck_assert_str_eq(keys_of(switch_port(A + 1)), tables[_i].port_of_a);
	ck_assert(!parts->enforce[switch_port(5)]);	/* to the other switch */
	ck_assert(!parts->enforce[switch_port(6)]);	/* no link */
	ck_assert(!parts->enforce[switch_port(0)]);
	ck_assert_str_eq(keys_of(switch_port(5)), "");
}
END_TEST

START_TEST(nothing_to_enforce)
{
	members("1: all=full; 2: all=full");
	build();
	ck_assert_str_eq(keys_of(host(B)), "ffff 8001 8002");
	for (uint32_t i = 0; i < f->n_ports; i++)
		ck_assert(!parts->enforce[i]);
	ck_assert_uint_eq(findings.n, 0);
	members("3: all=limited");
	build();
	ck_assert(parts->enforce[switch_port(1)]);
}
END_TEST

static const struct {
	unsigned a, b;
	uint16_t asked, key;
} pairs[] = {
	{ A, B, 0, 0x8001 }, { B, A, 0, 0x0001 }, { A, C, 0, 0x8001 }, { B, C, 0, 0 },
	{ A, A, 0, 0x8001 }, { B, B, 0, 0 },
	{ A, SM, 0, 0x7fff }, { SM, A, 0, 0xffff }, { SM, SM, 0, 0xffff },
	{ A, B, 0x0001, 0x8001 }, { A, B, 0x8001, 0x8001 }, { B, A, 0x8001, 0x0001 },
	{ B, C, 0x8001, 0 }, { B, C, 0x0002, 0 }, { C, A, 0x8002, 0x8002 }, { A, C, 2, 0x0002 },
	{ A, C, 0x0003, 0x8003 }, { C, A, 3, 3 },
	{ A, B, 0x7fff, 0 }, { A, B, 0x0004, 0 }, { A, B, 0x8000, 0 },
};

START_TEST(who_talks_to_whom)
{
	members("7fff: all=limited; 1: A=full B=limited C=limited; 2: C=full A=limited; "
		"3: A=both C=limited");
	build();
	ck_assert_uint_eq(shared_pkey(parts, host(pairs[_i].a), host(pairs[_i].b), pairs[_i].asked),
			  pairs[_i].key);
}
END_TEST

START_TEST(memberships)
{
	members("1: A=full B=limited C=both");
	build();
	ck_assert_int_eq(port_membership(parts, host(A), 0x8001), MEMBER_FULL);
	ck_assert_int_eq(port_membership(parts, host(B), 0x8001), MEMBER_LIMITED);
	ck_assert_int_eq(port_membership(parts, host(C), 0x0001), MEMBER_BOTH);
	ck_assert_int_eq(port_membership(parts, host(SM), 0x0001), MEMBER_NONE);
	ck_assert_int_eq(port_membership(parts, host(SM), 0x7fff), MEMBER_FULL);
	ck_assert_int_eq(port_membership(parts, host(A), 0x0002), MEMBER_NONE);
	ck_assert_int_eq(port_membership(parts, host(A), 0), MEMBER_NONE);
	ck_assert_uint_eq(policy_find_partition(p, 0x8001), 1);
	ck_assert_uint_eq(policy_find_partition(p, 0x7fff), 0);
	ck_assert_uint_eq(policy_find_partition(p, 2), UINT32_MAX);
	ck_assert_uint_eq(partition_of_pkey(parts, 0x8001), 1);
	ck_assert_uint_eq(partition_of_pkey(parts, 2), UINT32_MAX);
}
END_TEST

/* --- places --- */

static struct pkey_places places;

static void forget_partitions(void)
{
	for (size_t i = 1; i < p->n_partitions; i++) {
		clear_members(&p->partitions[i]);
		free(p->partitions[i].members);
		free(p->partitions[i].name);
	}
	p->n_partitions = 1;
}

/* Applies another policy to ports that have P_Keys of the one before. */
static void then(const char *text)
{
	forget_partitions();
	members(text);
	build();
	pkey_places_learn(&places, f, parts);
}

/* promise: D120 */
START_TEST(keys_keep_their_places)
{
	known = &places;
	then("1: A=full B=limited; 2: A=both; 3: A=full B=full");
	ck_assert_str_eq(keys_of(host(A)), "ffff 8001 8002 0002 8003");
	/* a removed P_Key leaves a hole, also at the switch, unless it is the last one */
	then("1: B=limited; 2: A=both; 3: A=full");
	ck_assert_str_eq(keys_of(host(A)), "ffff 0000 8002 0002 8003");
	ck_assert_str_eq(keys_of(switch_port(A + 1)), "ffff 0000 8002 8003");
	ck_assert_str_eq(keys_of(host(B)), "ffff 0001");
	/* another order of the policy moves nothing; a new P_Key fills the hole, the next goes to the end */
	then("3: A=full; 5: A=limited B=full; 6: A=full; 2: A=both");
	ck_assert_str_eq(keys_of(host(A)), "ffff 0005 8002 0002 8003 8006");
	/* not at the index of a P_Key that is removed now: queue pairs may still use that index */
	ck_assert_str_eq(keys_of(host(B)), "ffff 0000 8005");
	ck_assert_uint_eq(shared_pkey(parts, host(A), host(B), 0), 0xffff);
	ck_assert_uint_eq(shared_pkey(parts, host(A), host(B), 5), 0x0005);
	/* another membership keeps the index; of two entries, the remaining one keeps its own */
	then("5: A=full; 2: A=limited; 3: A=limited");
	ck_assert_str_eq(keys_of(host(A)), "ffff 8005 0000 0002 0003");
	ck_assert_str_eq(keys_of(switch_port(A + 1)), "ffff 8005 0000 8002 8003");
	/* a port leaves the default partition and returns: that P_Key is the first again */
	then("7fff: B=full; 5: A=full; 3: A=limited");
	ck_assert_str_eq(keys_of(host(A)), "0000 8005 0000 0000 0003");
	then("7fff: B=full; 5: A=full; 3: A=limited; 7: A=full");
	ck_assert_str_eq(keys_of(host(A)), "8007 8005 0000 0000 0003");
	then("7fff: all=full; 5: A=full; 3: A=limited; 7: A=full");
	ck_assert_str_eq(keys_of(host(A)), "ffff 8005 8007 0000 0003");
	then("7fff: S=full");
	ck_assert_str_eq(keys_of(host(A)), "");
	pkey_places_free(&places);
	known = NULL;
}
END_TEST

/* promise: N23 */
START_TEST(index_0_for_a_partition)
{
	known = &places;
	then("1: A=full; 2: A=full B=limited S=full");
	ck_assert_str_eq(keys_of(host(A)), "ffff 8001 8002");
	/* the default partition's P_Key moves, not to the place that the other leaves */
	then("1: A=full; 2: A=full@0 B=limited@0 S=full@0");
	ck_assert_str_eq(keys_of(host(A)), "8002 8001 0000 ffff");
	ck_assert_str_eq(keys_of(switch_port(A + 1)), "8002 8001 0000 ffff");
	ck_assert_str_eq(keys_of(host(B)), "0002 0000 ffff");
	/* not at the SM's own port */
	ck_assert_str_eq(keys_of(host(SM)), "ffff 8002");
	ck_assert_uint_eq(parts->conflicts.n, 0);
	then("1: A=full; 2: A=both@0 B=limited@0 S=full@0");
	ck_assert_str_eq(keys_of(host(A)), "8002 8001 0002 ffff");
	/* without the wish nothing moves */
	then("1: A=full; 2: A=full B=limited");
	ck_assert_str_eq(keys_of(host(A)), "8002 8001 0000 ffff");
	/* the first partition of two keeps it */
	then("1: A=full@0 B=full@0; 2: A=full@0 B=full@0; 3: A=limited@0");
	ck_assert_str_eq(keys_of(host(A)), "8001 0000 8002 ffff 0003");
	ck_assert_uint_eq(parts->conflicts.n, 2);
	ck_assert_ptr_nonnull(finds(SEV_ERROR, "partitions \"p1\" and \"p2\" both want index 0 of the P_Key "
				    "table of 2 ports, for example "));
	ck_assert_ptr_nonnull(finds(SEV_ERROR, "partitions \"p1\" and \"p3\" both want index 0"));
	/* when it is gone, the default partition's comes first again */
	then("2: B=full");
	ck_assert_str_eq(keys_of(host(A)), "ffff");
	/* a member of the partition alone */
	then("7fff: S=full; 2: A=full@0");
	ck_assert_str_eq(keys_of(host(A)), "8002");
	pkey_places_free(&places);
	known = NULL;
}
END_TEST

/* A limited member becomes a full member as well: adapters with one entry keep the first. */
/* promise: D1 */
START_TEST(full_entry_comes_first)
{
	known = &places;
	then("1: A=limited; 2: A=full; 3: A=limited");
	ck_assert_str_eq(keys_of(host(A)), "ffff 0001 8002 0003");
	then("1: A=both; 2: A=full; 3: A=both");
	ck_assert_str_eq(keys_of(host(A)), "ffff 8001 8002 8003 0001 0003");
	then("1: A=both; 2: A=full; 3: A=both");
	ck_assert_str_eq(keys_of(host(A)), "ffff 8001 8002 8003 0001 0003");
	pkey_places_free(&places);
	known = NULL;
}
END_TEST

static void found(uint32_t port, const char *text)
{
	uint16_t keys[8];
	uint32_t n = 0;
	char *end;

	for (unsigned long k = strtoul(text, &end, 16); end != text; k = strtoul(text, &end, 16)) {
		keys[n++] = (uint16_t)k;
		text = end;
	}
	pkey_places_found(&places, f->ports[port].guid, keys, n);
}

/* The ports have P_Keys from another subnet manager, or from a daemon whose state was lost. */
/* promise: D120 */
START_TEST(keys_stay_where_devices_have_them)
{
	known = &places;
	f->self = host(B);
	found(host(A), "7fff 8003 8000 8009 0002 8002 0");
	found(host(B), "8003 ffff");
	then("1: A=full; 2: A=both; 3: A=limited B=full");
	/* P_Key 9 is not in the policy and is removed; 8000 is invalid */
	ck_assert_str_eq(keys_of(host(A)), "ffff 0003 8001 0000 0002 8002");
	/* the manager's port sends with the P_Key at index 0 */
	ck_assert_str_eq(keys_of(host(B)), "ffff 0000 8003");
	/* a reset table does not count; a device's present P_Keys outweigh former ones; the rest stays */
	found(host(A), "ffff");
	found(host(B), "");
	then("1: A=full; 2: A=both; 3: A=limited B=full");
	ck_assert_str_eq(keys_of(host(A)), "ffff 0003 8001 0000 0002 8002");
	ck_assert_str_eq(keys_of(host(B)), "ffff 0000 8003");
	found(host(A), "ffff 8001");
	then("1: A=full; 2: A=both; 3: A=limited B=full");
	ck_assert_str_eq(keys_of(host(A)), "ffff 8001 0003 0000 0002 8002");
	pkey_places_free(&places);
	/* another P_Key at index 0, because the policy wants it */
	f->self = host(SM);
	found(host(A), "8003 7fff 8001");
	then("1: A=full; 3: A=full; 7: A=full");
	ck_assert_str_eq(keys_of(host(A)), "8003 ffff 8001 8007");
	then("7fff: S=full; 3: A=full; 7: A=full");
	ck_assert_str_eq(keys_of(host(A)), "8003 0000 0000 8007");
	pkey_places_free(&places);
	known = NULL;
}
END_TEST

START_TEST(places_of_a_short_table)
{
	known = &places;
	f->switches[0].enforce_cap = 3;
	then("1: A=full; 2: A=full; 3: A=full; 4: A=full");
	ck_assert(!parts->enforce[switch_port(A + 1)]);
	/* the table is too short for the hole, but not for the P_Keys */
	then("3: A=full; 4: A=full");
	ck_assert_str_eq(keys_of(host(A)), "ffff 0000 0000 8003 8004");
	ck_assert(parts->enforce[switch_port(A + 1)]);
	ck_assert_str_eq(keys_of(switch_port(A + 1)), "ffff 8003 8004");
	/* of a table that was longer before, only the remaining indexes count */
	f->nodes[A].partition_cap = 4;
	then("9: A=full; 3: A=full; 4: A=full; 5: A=full B=full");
	ck_assert_str_eq(keys_of(host(A)), "ffff 8009 8004 8003");
	ck_assert_uint_eq(parts->excluded.n, 1);
	ck_assert_uint_eq(parts->excluded.v[0].partition, 4);
	ck_assert_uint_eq(parts->excluded.v[0].port, host(A));
	pkey_places_free(&places);
	known = NULL;
}
END_TEST

/* If all ports have the same P_Keys, there is nothing to enforce, whatever their order. */
START_TEST(places_keep_nobody_apart)
{
	known = &places;
	then("1: all=full; 2: all=full");
	ck_assert(!pkey_places_learn(&places, f, parts));
	then("2: all=full");
	then("2: all=full; 3: A=full");
	then("2: all=full; 4: all=full; 3: A=full");
	then("2: all=full; 3: all=full; 4: all=full");
	ck_assert_str_eq(keys_of(host(A)), "ffff 8003 8002 8004");
	ck_assert_str_eq(keys_of(host(B)), "ffff 8004 8002 8003");
	for (uint32_t i = 0; i < f->n_ports; i++)
		ck_assert(!parts->enforce[i]);
	pkey_places_free(&places);
	known = NULL;
}
END_TEST

static void add_member(struct policy_partition *part, const struct policy_member *m)
{
	part->members = xrealloc(part->members, part->n_members + 1, sizeof(*part->members));
	part->members[part->n_members++] = *m;
}

START_TEST(members_by_name_and_type)
{
	struct policy_partition *part = partition(1);

	add_member(part, &(struct policy_member){
		.port_name = xstrdup("n2?/P1"), .membership = MEMBER_FULL, .dynamic = true });
	add_member(part, &(struct policy_member){
		.node_types = NT_SWITCH, .membership = MEMBER_LIMITED, .dynamic = true });
	add_member(part, &(struct policy_member){
		.port_name = xstrdup("nobody/*"), .membership = MEMBER_FULL, .dynamic = true });
	build();
	ck_assert_str_eq(keys_of(host(A)), "ffff 8001");
	ck_assert_str_eq(keys_of(host(B)), "ffff");
	ck_assert_str_eq(keys_of(switch_port(0)), "ffff 0001");
	const struct finding *e = finds(SEV_WARNING, "no port in the fabric matches \"nobody/*\"");
	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->file, POLICY_DYNAMIC);
}
END_TEST

/* --- levels --- */

static uint32_t add_level(uint64_t lo, uint64_t hi)
{
	char name[16];

	snprintf(name, sizeof(name), "l%zu", p->n_levels);
	p->levels = xrealloc(p->levels, p->n_levels + 1, sizeof(*p->levels));
	p->levels[p->n_levels] = (struct policy_level){
		.name = xstrdup(name), .packet_lifetime = -1, .path_bits = -1, .tclass = -1,
	};
	if (hi)
		*vec_push(&p->levels[p->n_levels].pkeys) = (struct u64_range){ .lo = lo, .hi = hi };
	return (uint32_t)p->n_levels++;
}

START_TEST(levels_for_some_pkeys)
{
	uint32_t any = add_level(0, 0), second = add_level(2, 0x10), none = add_level(0x20, 0x30);

	members("1: A=full B=full; 2: A=full B=limited C=full");
	p->partitions[0].level_index = none;	/* for another P_Key than its own partition's */
	p->partitions[1].level_index = any;
	p->partitions[2].level_index = second;
	build();
	ck_assert_uint_eq(shared_pkey_of_level(parts, any, host(A), host(B), 0), 0xffff);
	ck_assert_uint_eq(shared_pkey_of_level(parts, second, host(A), host(B), 0), 0x8002);
	ck_assert_uint_eq(shared_pkey_of_level(parts, second, host(B), host(A), 0), 0x0002);
	ck_assert_uint_eq(shared_pkey_of_level(parts, second, host(A), host(B), 2), 0x8002);
	ck_assert_uint_eq(shared_pkey_of_level(parts, second, host(A), host(B), 1), 0);
	ck_assert_uint_eq(shared_pkey_of_level(parts, none, host(A), host(B), 0), 0);
	ck_assert_uint_eq(shared_pkey_of_own_level(parts, host(A), host(B)), 0x8001);
	ck_assert_uint_eq(shared_pkey_of_own_level(parts, host(A), host(C)), 0x8002);
	ck_assert_uint_eq(shared_pkey_of_own_level(parts, host(A), host(SM)), 0);
}
END_TEST

/* --- findings --- */

START_TEST(no_room)
{
	f->nodes[A].partition_cap = 2;
	f->nodes[B].partition_cap = 3;
	members("1: A=full; 2: A=full B=both; 3: A=limited; 4: A=full B=full");
	build();
	ck_assert_str_eq(keys_of(host(A)), "ffff 8001");
	ck_assert_str_eq(keys_of(host(B)), "ffff 8002 0002");
	ck_assert_uint_eq(shared_pkey(parts, host(A), host(B), 2), 0);
	ck_assert_int_eq(port_membership(parts, host(A), 2), MEMBER_NONE);
	ck_assert_ptr_nonnull(finds(SEV_ERROR, "partition \"p2\": 1 port has no room for its P_Key, "
				    "for example n20/P1 (0x0000000000000021) with room for 2"));
	const struct finding *e = finds(SEV_ERROR, "partition \"p4\": 2 ports have no room");
	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->pos.line, 4);
	ck_assert_uint_eq(findings.count[SEV_ERROR], 3);
	f->nodes[B].partition_cap = 2;		/* room for one of two P_Keys is not enough */
	build();
	ck_assert_str_eq(keys_of(host(B)), "ffff 8004");
	/* a node that claims to have no entry has the one that every port has */
	f->nodes[C].partition_cap = 0;
	build();
	ck_assert_str_eq(keys_of(host(C)), "ffff");
}
END_TEST

START_TEST(absent_members)
{
	members("1: A=full ?=full; 2: ?=full");
	p->partitions[2].members[0].guids.hi += 0x100;
	build();
	const struct finding *e = finds(SEV_WARNING, "port GUID 0x0000000000003e91 is not in");

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->pos.line, 1);
	ck_assert_uint_eq(e->pos.col, 2);
	ck_assert_ptr_nonnull(finds(SEV_WARNING, "has a GUID in 0x0000000000003e91-0x"));
	ck_assert_ptr_nonnull(finds(SEV_WARNING, "partition \"p2\" has no member in this fabric"));
	ck_assert_uint_eq(findings.n, 3);
}
END_TEST

START_TEST(cut_off_from_the_sa)
{
	members("7fff: B=limited; 1: A=full C=full S=limited");
	build();	/* the two switches' port 0 */
	ck_assert_ptr_nonnull(finds(SEV_WARNING, "2 ports share no partition with the subnet manager"));
	ck_assert_uint_eq(findings.n, 1);
	clear_members(&p->partitions[1]);
	member(&p->partitions[1], "A", MEMBER_LIMITED);	/* not even with each other */
	member(&p->partitions[1], "S", MEMBER_LIMITED);
	build();
	ck_assert_ptr_nonnull(finds(SEV_WARNING, "4 ports share no partition"));
}
END_TEST

START_TEST(switches_that_cannot)
{
	members("1: A=full; 2: A=both; 3: A=full; 4: B=limited");
	f->switches[0].enforce_cap = 3;
	build();
	ck_assert(!parts->enforce[switch_port(A + 1)]);
	ck_assert_str_eq(keys_of(switch_port(A + 1)), "");
	ck_assert(parts->enforce[switch_port(B + 1)]);
	ck_assert_ptr_nonnull(finds(SEV_WARNING, "not enforced at 1 port whose P_Key table is too short, "
				    "for example n100/P2"));
	ck_assert_uint_eq(findings.n, 1);
	f->switches[0].enforce_cap = 4;		/* limited and full are one entry there */
	build();
	ck_assert(parts->enforce[switch_port(A + 1)]);
	ck_assert_uint_eq(findings.n, 0);

	f->switches[0].enforces_in = false;
	build();
	ck_assert(parts->enforce[switch_port(B + 1)]);
	f->switches[0].enforces_out = false;
	build();
	for (uint32_t i = 0; i < f->n_ports; i++)
		ck_assert(!parts->enforce[i]);
	ck_assert_ptr_nonnull(finds(SEV_WARNING, "not enforced at 4 ports whose switch does not support it"));
	f->switches[0].enforces_out = true;
	f->switches[0].enforce_cap = 0;
	build();
	ck_assert_ptr_nonnull(finds(SEV_WARNING, "whose switch does not support it"));
}
END_TEST

START_TEST(one_direction)
{
	members("1: A=full");
	enforcement = ENFORCE_IN;
	build();
	ck_assert(parts->enforce[switch_port(A + 1)]);
	f->switches[0].enforces_in = false;
	build();
	ck_assert(!parts->enforce[switch_port(A + 1)]);
	ck_assert_ptr_nonnull(finds(SEV_WARNING, "whose switch does not support it"));
	enforcement = ENFORCE_OUT;
	build();
	ck_assert(parts->enforce[switch_port(A + 1)]);
	enforcement = ENFORCE_OFF;
	build();
	ck_assert(!parts->enforce[switch_port(A + 1)]);
	ck_assert_str_eq(keys_of(switch_port(A + 1)), "");
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

/* --- against the slow way --- */

#define MANY 1000

static uint16_t slowly_shared(uint32_t a, uint32_t b, uint16_t lo, uint16_t hi)
{
	const struct pkey_table *x = port_pkeys(parts, a), *y = port_pkeys(parts, b);

	for (uint32_t i = 0; i < x->n; i++)
		for (uint32_t k = 0; k < y->n; k++)
			if (((x->keys[i] ^ y->keys[k]) & 0x7fff) == 0 &&
			    ((x->keys[i] | y->keys[k]) & 0x8000) &&
			    lo <= (x->keys[i] & 0x7fff) && (x->keys[i] & 0x7fff) <= hi)
				return x->keys[i];
	return 0;
}

START_TEST(many_partitions)
{
	static const char *const names[] = { "S", "A", "B", "C" };
	uint64_t seed = (uint64_t)_i + 1;
	uint32_t level = add_level(0x4000, 0x6fff);

	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->nodes[i].partition_cap = 100;
	clear_members(&p->partitions[0]);
	for (unsigned k = 1; k <= MANY; k++) {
		struct policy_partition *part = partition((uint16_t)(k * 31 % 0x7ffe + 1));

		for (unsigned h = 0; h < N_HOSTS; h++)
			if (net_random(&seed) % 16 == 0)
				member(part, names[h], 1 + net_random(&seed) % 3);
	}
	build();
	for (unsigned a = 0; a < N_HOSTS; a++) {
		const struct pkey_table *t = port_pkeys(parts, host(a));

		ck_assert_uint_gt(t->n, 50);
		for (unsigned b = 0; b < N_HOSTS; b++) {
			ck_assert_uint_eq(shared_pkey(parts, host(a), host(b), 0),
					  slowly_shared(host(a), host(b), 0, 0x7fff));
			ck_assert_uint_eq(shared_pkey_of_level(parts, level, host(a), host(b), 0),
					  slowly_shared(host(a), host(b), 0x4000, 0x6fff));
		}
		for (uint32_t i = 0; i < t->n; i++)
			ck_assert_int_ne(port_membership(parts, host(a), t->keys[i]), MEMBER_NONE);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("partitions");
	TCase *t = tcase_create("partitions");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, one_partition_is_as_ever);
	tcase_add_loop_test(t, who_holds_what, 0, ARRAY_SIZE(tables));
	tcase_add_test(t, nothing_to_enforce);
	tcase_add_test(t, one_direction);
	tcase_add_loop_test(t, who_talks_to_whom, 0, ARRAY_SIZE(pairs));
	tcase_add_test(t, memberships);
	tcase_add_test(t, keys_keep_their_places);
	tcase_add_test(t, full_entry_comes_first);
	tcase_add_test(t, index_0_for_a_partition);
	tcase_add_test(t, keys_stay_where_devices_have_them);
	tcase_add_test(t, places_of_a_short_table);
	tcase_add_test(t, places_keep_nobody_apart);
	tcase_add_test(t, members_by_name_and_type);
	tcase_add_test(t, levels_for_some_pkeys);
	tcase_add_test(t, no_room);
	tcase_add_test(t, absent_members);
	tcase_add_test(t, cut_off_from_the_sa);
	tcase_add_test(t, switches_that_cannot);
	tcase_add_loop_test(t, many_partitions, 0, 10);
	suite_add_tcase(s, t);
	return run_suite(s);
}
