/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pathref: a slow and independent say on what PathRecord and MultiPathRecord
 * queries are to be answered, and a comparison with what the SA answers.
 *
 *   pathref policy SEED           a made-up policy for the fabric that it is run on
 *   pathref ask SEED N [FIRST]    N queries; a line for each answer that is another
 *
 * The fabric is taken from the devices: nodes and links by libibnetdisc; LIDs,
 * forwarding tables, SL2VL tables and P_Keys as they hold them, after the SM is
 * done.  The policy is a restricted one that is made again from the same seed.
 * Each answer is found by trying everything; nothing is shared with the daemon
 * but the names of the records' fields and of rates.
 *
 * The fabric's SM must run with `prefix-routes: [{prefix: 0xfec0000000000001,
 * router: any}]` and defaults otherwise, but for lmc.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/map64.h"
#include "ib/ib.h"
#include "ib/sa.h"
#include "ib/units.h"

#define ELSEWHERE 0xfec0000000000001ULL
#define TIMEOUT_MS 5000
#define ANSWER_MAX (16u << 20)
#define NONE UINT32_MAX
#define LIFE 18			/* of a path whose level has none: the subnet timeout's default */

static uint64_t state;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "pathref: %s\n", what);
	exit(2);
}

static uint64_t rnd(uint64_t below)
{
	state += 0x9e3779b97f4a7c15ULL;
	return hash64(state) % below;
}

static bool chance(unsigned percent)
{
	return rnd(100) < percent;
}

/* --- the fabric, as the devices have it --- */

struct end {			/* an end port */
	uint64_t guid;
	ibnd_port_t *port;
	uint16_t lid;
	unsigned lmc;
	VEC(uint16_t) pkeys;
};
static VEC(struct end) ends;	/* in order of GUID */
static uint32_t by_lid[0x10000];
static VEC(ibnd_node_t *) switches;
static uint8_t **lfts;		/* per switch */
static unsigned top_lid;
static struct ibmad_port *smp;
static struct map64 sl_masks;	/* switch or end, in, out -> mask */

static unsigned info(const ibnd_port_t *p, enum MAD_FIELDS field)
{
	return mad_get_field((void *)(uintptr_t)p->info, 0, field);
}

static int by_guid(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static void add_node(ibnd_node_t *n, void *arg)
{
	(void)arg;
	if (n->type == IB_NODE_SWITCH_T) {
		*vec_push(&switches) = n;
		*vec_push(&ends) = (struct end){ .guid = n->guid, .port = n->ports[0] };
		return;
	}
	for (int i = 1; i <= n->numports; i++)
		if (n->ports[i] && n->ports[i]->remoteport)
			*vec_push(&ends) = (struct end){ .guid = n->ports[i]->guid,
							 .port = n->ports[i] };
}

static void discover(void)
{
	struct ibnd_config cfg = { .max_hops = 0 };
	int classes[] = { IB_SMI_CLASS, IB_SMI_DIRECT_CLASS };
	ibnd_fabric_t *f = ibnd_discover_fabric(NULL, 0, NULL, &cfg);

	if (!f)
		die("no fabric");
	ibnd_iter_nodes(f, add_node, NULL);
	qsort(ends.v, ends.n, sizeof(*ends.v), by_guid);
	smp = mad_rpc_open_port(NULL, 0, classes, 2);
	if (!smp)
		die("can't open a port for SMPs");
}

/* From a port: those of a CA have tables of their own, which only they tell. */
static bool get(const ibnd_port_t *p, unsigned attr, unsigned mod, uint8_t data[64])
{
	ib_portid_t to = p->node->path_portid;
	int status = 0;

	memset(data, 0, 64);
	if (p->node->type != IB_NODE_SWITCH_T)
		ib_portid_set(&to, (int)info(p, IB_PORT_LID_F), 0, 0);
	return smp_query_status_via(data, &to, attr, mod, TIMEOUT_MS, &status, smp) &&
	       !status;
}

static void read_pkeys(struct end *e)
{
	ibnd_node_t *n = e->port->node;
	unsigned cap = mad_get_field(n->info, 0, IB_NODE_PARTITION_CAP_F);
	uint8_t data[64];

	for (unsigned i = 0; i < cap; i += 32) {
		if (!get(e->port, IB_ATTR_PKEY_TBL, (unsigned)e->port->portnum << 16 | i / 32,
			 data))
			die("no P_Key table");
		for (unsigned k = 0; k < 32; k++)
			if (get_be16(data + 2 * k))
				*vec_push(&e->pkeys) = get_be16(data + 2 * k);
	}
}

static void read_tables(void)
{
	uint8_t data[64];

	memset(by_lid, 0xff, sizeof(by_lid));
	for (size_t i = 0; i < ends.n; i++) {
		struct end *e = &ends.v[i];

		e->lid = (uint16_t)info(e->port, IB_PORT_LID_F);
		e->lmc = info(e->port, IB_PORT_LMC_F);
		for (unsigned k = 0; k < 1u << e->lmc; k++)
			by_lid[e->lid + k] = (uint32_t)i;
		if (e->lid + (1u << e->lmc) - 1 > top_lid)
			top_lid = e->lid + (1u << e->lmc) - 1;
		read_pkeys(e);
	}
	lfts = xcalloc(switches.n, sizeof(*lfts));
	for (size_t s = 0; s < switches.n; s++) {
		lfts[s] = xcalloc(top_lid / 64 + 1u, 64);
		for (unsigned b = 0; b <= top_lid / 64; b++) {
			if (!get(switches.v[s]->ports[0], IB_ATTR_LINEARFORWTBL, b, data))
				die("no forwarding table");
			memcpy(lfts[s] + (size_t)b * 64, data, 64);
		}
	}
	map64_init(&sl_masks, 1024);
}

static size_t switch_number(const ibnd_node_t *n)
{
	for (size_t s = 0; s < switches.n; s++)
		if (switches.v[s] == n)
			return s;
	die("a switch that was not found");
}

/* The SLs that get a data VL from one port of a node to another. */
static unsigned sls(ibnd_node_t *n, unsigned in, unsigned out)
{
	uint64_t key = hash64(n->guid) ^ ((uint64_t)in << 8 | out);
	uint32_t mask = map64_get(&sl_masks, key);
	ibnd_port_t *port = n->ports[out];
	/* port 0 of a switch speaks for all of its ports */
	ibnd_port_t *caps = n->type == IB_NODE_SWITCH_T ? n->ports[0] : port;
	uint8_t data[64];

	if (mask != MAP64_NONE)
		return mask;
	mask = 0xffff;
	if (info(caps, IB_PORT_CAPMASK_F) & IB_CAP_SL_MAP && info(port, IB_PORT_VL_CAP_F) > 1 &&
	    get(port, IB_ATTR_SLVL_TABLE, in << 8 | out, data)) {
		unsigned vls = ib_vls_from_code(info(port, IB_PORT_OPER_VLS_F));

		mask = 0;
		for (unsigned sl = 0; sl < 16; sl++)
			if ((unsigned)(data[sl / 2] >> (sl % 2 ? 0 : 4) & 0xf) < vls)
				mask |= 1u << sl;
	}
	map64_put(&sl_masks, key, mask);
	return mask;
}

/* --- the policy --- */

enum { N_GROUPS = 4, N_LEVELS = 6, N_PARTITIONS = 3, RULES_MAX = 14 };
static const unsigned partition_keys[N_PARTITIONS] = { 0x7fff, 0x0001, 0x1234 };

static struct {
	bool *group[N_GROUPS];		/* by end */
	struct level {
		unsigned sl, mtu, rate;		/* 0: no limit */
		int life, bits, tclass;		/* -1: none */
		unsigned pkey;			/* 0: any */
	} levels[N_LEVELS];
	unsigned own_level[N_PARTITIONS];
	struct rule {
		int src, dst;			/* groups, -1: any */
		bool by_id, by_class, by_tclass, by_pkey, by_sl;
		uint64_t id[2];
		unsigned class[2], tclass[2], pkey, sl[2];
		unsigned level;
	} rules[RULES_MAX];
	unsigned n_rules;
} policy;

static FILE *out;

__attribute__((format(printf, 1, 2)))
static void say(const char *fmt, ...)
{
	va_list ap;

	if (!out)
		return;
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
}

static void make_groups(void)
{
	say("port-groups:\n");
	for (unsigned g = 0; g < N_GROUPS; g++) {
		const char *gap = "";

		policy.group[g] = xcalloc(ends.n, 1);
		say("  g%u: {port-guids: [", g);
		for (size_t i = 0; i < ends.n; i++) {
			policy.group[g][i] = chance(g < 2 ? 40 : 75) || i == g;
			if (policy.group[g][i]) {
				say("%s0x%" PRIx64, gap, ends.v[i].guid);
				gap = ", ";
			}
		}
		say("]}\n");
	}
}

static void make_partitions(void)
{
	bool open = chance(60);

	say("partitions:\n  Default: {pkey: 0x7fff, members: {all: %s}, level: l0}\n",
	    open ? "full" : "limited");
	for (unsigned p = 1; p < N_PARTITIONS; p++) {
		policy.own_level[p] = (unsigned)rnd(N_LEVELS);
		say("  p%u: {pkey: 0x%04x, members: {g%u: %s, g%u: %s}, level: l%u}\n", p,
		    partition_keys[p], p, chance(50) ? "full" : "limited", p + 1,
		    chance(70) ? "full" : "limited", policy.own_level[p]);
	}
}

static void make_levels(void)
{
	static const unsigned rates[] = { 2, 3, 6, 7, 10 };
	static const char *const gbps[] = { "2.5", "10", "20", "40", "120" };

	say("qos-levels:\n  default: {sl: 0}\n");
	for (unsigned i = 0; i < N_LEVELS; i++) {
		struct level *l = &policy.levels[i];
		unsigned rate = (unsigned)rnd(5);

		*l = (struct level){
			.sl = i ? (unsigned)rnd(8) : 0, .life = -1, .bits = -1, .tclass = -1,
		};
		say("  l%u: {sl: %u", i, l->sl);
		if (chance(30)) {
			l->mtu = 1 + (unsigned)rnd(5);
			say(", mtu-limit: %u", mtu_bytes(l->mtu));
		}
		if (chance(30)) {
			l->rate = rates[rate];
			say(", rate-limit: %s", gbps[rate]);
		}
		if (chance(30)) {
			l->life = (int)rnd(21);
			say(", packet-lifetime: iba:%d", l->life);
		}
		if (i && chance(25)) {
			l->bits = (int)rnd(4);
			say(", path-bits: %d", l->bits);
		}
		if (chance(30)) {
			l->tclass = (int)rnd(256);
			say(", tclass: %d", l->tclass);
		}
		if (i > 1 && chance(20)) {
			l->pkey = partition_keys[rnd(N_PARTITIONS)];
			say(", pkey: 0x%04x", l->pkey);
		}
		say("}\n");
	}
}

static void make_range(const char *name, unsigned lo, unsigned more, unsigned r[2])
{
	r[0] = lo;
	r[1] = lo + (chance(50) ? more : 0);
	say(r[1] > r[0] ? ", %s: %u-%u" : ", %s: %u", name, r[0], r[1]);
}

static void make_rules(void)
{
	policy.n_rules = 4 + (unsigned)rnd(RULES_MAX - 4);
	say("match-rules:\n");
	for (unsigned i = 0; i < policy.n_rules; i++) {
		struct rule *r = &policy.rules[i];

		*r = (struct rule){ .src = -1, .dst = -1, .level = (unsigned)rnd(N_LEVELS) };
		say("  - {level: l%u", r->level);
		if (chance(30))
			say(", source: g%d", r->src = (int)rnd(N_GROUPS));
		if (chance(30))
			say(", destination: g%d", r->dst = (int)rnd(N_GROUPS));
		if ((r->by_id = chance(30))) {
			r->id[0] = 0x1060000 + rnd(8);
			r->id[1] = r->id[0] + rnd(4);
			say(", service-id: 0x%" PRIx64 "-0x%" PRIx64, r->id[0], r->id[1]);
		}
		if ((r->by_class = chance(30)))
			make_range("qos-class", (unsigned)rnd(8), 2, r->class);
		if ((r->by_tclass = chance(20)))
			make_range("tclass", (unsigned)rnd(8), 3, r->tclass);
		if ((r->by_pkey = chance(20)))
			say(", pkey: 0x%04x", r->pkey = partition_keys[rnd(N_PARTITIONS)]);
		if ((r->by_sl = chance(15) || (r->src < 0 && r->dst < 0 && !r->by_id &&
						 !r->by_class && !r->by_tclass && !r->by_pkey)))
			make_range("sl", (unsigned)rnd(8), 1, r->sl);
		say("}\n");
	}
}

/* SLs go to lanes that all devices have; one SL is dropped at some ports, another everywhere. */
static void make_tables(void)
{
	say("fabric-setup:\n  sl2vl:\n"
	    "    - {group: all, from: \"*\", to: \"*\", "
	    "table: [0, 1, 2, 3, 0, 1, 15, 3, 0, 0, 0, 0, 0, 0, 0, 15]}\n"
	    "    - {across: g0, to: 1, from: \"*\", "
	    "table: [0, 15, 2, 3, 0, 1, 15, 3, 0, 0, 0, 0, 0, 0, 0, 15]}\n");
}

static void make_policy(uint64_t seed)
{
	state = seed << 32;
	make_groups();
	make_partitions();
	make_levels();
	make_rules();
	make_tables();
}

/* --- what there is between two ports --- */

struct ask {		/* a query in host terms; has: bits of PathRecord's mask */
	uint64_t has, id, src_guid, dst_guid, dst_prefix;
	unsigned class, tclass, pkey, sl, num, sel[3], code[3], hop, flow;
	bool raw, reversible;
	uint16_t slid, dlid;
};

static bool given(const struct ask *q, uint64_t bits)
{
	return (q->has & bits) == bits;
}

static bool in(unsigned v, const unsigned r[2])
{
	return v >= r[0] && v <= r[1];
}

static bool rule_matches(const struct rule *r, const struct ask *q, uint32_t src, uint32_t dst)
{
	return (r->src < 0 || policy.group[r->src][src]) &&
	       (r->dst < 0 || policy.group[r->dst][dst]) &&
	       (!r->by_id || (given(q, 3) && q->id >= r->id[0] && q->id <= r->id[1])) &&
	       (!r->by_class || (given(q, PR_QOS_CLASS) && in(q->class, r->class))) &&
	       (!r->by_tclass || (given(q, PR_TCLASS) && in(q->tclass, r->tclass))) &&
	       (!r->by_pkey || (given(q, PR_PKEY) && (q->pkey & 0x7fff) == r->pkey)) &&
	       (!r->by_sl || (given(q, PR_SL) && in(q->sl, r->sl)));
}

/* a's key, if the two talk by it. */
static unsigned common_key(uint32_t a, uint32_t b, unsigned base)
{
	for (size_t i = 0; i < ends.v[a].pkeys.n; i++)
		for (size_t k = 0; k < ends.v[b].pkeys.n; k++) {
			unsigned x = ends.v[a].pkeys.v[i], y = ends.v[b].pkeys.v[k];

			if ((x & 0x7fff) == base && (y & 0x7fff) == base && (x | y) & 0x8000)
				return x;
		}
	return 0;
}

/* The first by the policy's order; level: of those that it is for, own: that their own are. */
static unsigned first_key(uint32_t a, uint32_t b, const struct level *level, bool own)
{
	for (unsigned p = 0; p < N_PARTITIONS; p++) {
		const struct level *l = own ? &policy.levels[policy.own_level[p]] : level;
		unsigned key = common_key(a, b, partition_keys[p]);

		if (key && (!l || !l->pkey || l->pkey == partition_keys[p]))
			return key;
	}
	return 0;
}

static const struct level builtin = { .life = -1, .bits = -1, .tclass = -1 };

static const struct level *find_level(const struct ask *q, uint32_t src, uint32_t dst, bool *ruled)
{
	unsigned key;

	*ruled = true;
	for (unsigned i = 0; i < policy.n_rules; i++)
		if (rule_matches(&policy.rules[i], q, src, dst))
			return &policy.levels[policy.rules[i].level];
	*ruled = false;
	key = given(q, PR_PKEY) ? q->pkey : first_key(src, dst, NULL, true);
	for (unsigned p = 0; p < N_PARTITIONS; p++)
		if ((key & 0x7fff) == partition_keys[p] && !(given(q, PR_RAW) && q->raw))
			return &policy.levels[policy.own_level[p]];
	return &builtin;
}

/* 0 if there is none, 0x10000 for a raw path, which has none and needs none. */
static unsigned find_key(const struct ask *q, uint32_t src, uint32_t dst, const struct level *l,
			 bool ruled)
{
	if (given(q, PR_RAW) && q->raw)
		return 0x10000;
	if (given(q, PR_PKEY)) {
		unsigned base = q->pkey & 0x7fff;

		return base && common_key(src, dst, base) && (!l->pkey || l->pkey == base) ?
		       q->pkey : 0;
	}
	return first_key(src, dst, l, !ruled);
}

struct carries {
	unsigned mtu, rate, sls;
};

static void pass(struct carries *c, const ibnd_port_t *p)
{
	unsigned mtu = info(p, IB_PORT_MTU_CAP_F);
	unsigned rate = rate_from_link(info(p, IB_PORT_LINK_WIDTH_ACTIVE_F),
				       info(p, IB_PORT_LINK_SPEED_ACTIVE_F),
				       info(p, IB_PORT_LINK_SPEED_EXT_ACTIVE_F), false);

	if (mtu < c->mtu)
		c->mtu = mtu;
	if (rate && (!c->rate || rate_compare(rate, c->rate) < 0))
		c->rate = rate;
}

enum { PARTS_MAX = 300 };
struct parts {			/* links and switches that a path needs */
	const void *v[PARTS_MAX];
	unsigned n;
};

static void need(struct parts *parts, const void *part)
{
	for (unsigned i = 0; i < parts->n; i++)
		if (parts->v[i] == part)
			return;
	if (parts->n == PARTS_MAX)
		die("too long a route");
	parts->v[parts->n++] = part;
}

/* Follows the tables to a LID; false if it does not get there. */
static bool follow(uint32_t src, uint32_t dst, uint16_t dlid, struct carries *c,
		   struct parts *parts)
{
	ibnd_port_t *at = ends.v[src].port, *goal = ends.v[dst].port;
	unsigned in_port = 0;

	*c = (struct carries){ 5, 0, 0xffff };
	pass(c, at);
	if (at->node->type != IB_NODE_SWITCH_T)
		c->sls &= sls(at->node, 0, (unsigned)at->portnum);
	else if (src == dst) {
		c->sls &= sls(at->node, 0, 0);
		need(parts, at->node);
	}
	for (int hops = 0; src != dst && hops < 64; hops++) {
		ibnd_node_t *n = at->node;
		ibnd_port_t *leave = at;

		if (n->type == IB_NODE_SWITCH_T) {
			unsigned to = lfts[switch_number(n)][dlid];

			need(parts, n);
			if (to > (unsigned)n->numports)
				return false;
			leave = n->ports[to];
			c->sls &= sls(n, in_port, to);
			if (to == 0) {
				pass(c, leave);
				return leave == goal;
			}
		} else if (hops) {
			return false;
		}
		if (!leave || !leave->remoteport)
			return false;
		at = leave->remoteport;
		need(parts, leave < at ? leave : at);
		pass(c, leave);
		pass(c, at);
		if (at == goal)
			return true;
		in_port = (unsigned)at->portnum;
	}
	return src == dst;
}

/* --- selectors --- */

static int compare(unsigned scale, unsigned a, unsigned b)
{
	return scale == 1 ? rate_compare(a, b) : (int)a - (int)b;
}

/* What there is, lowered to what is wanted; false: not to be had. */
static bool selects(unsigned scale, unsigned sel, unsigned want, unsigned *code)
{
	if (sel == 0)
		return compare(scale, *code, want) > 0;
	if (sel == 1 && compare(scale, *code, want) >= 0) {
		if (scale == 1)
			return (*code = rate_slower(want)) != 0;
		if (want <= (scale == 0 ? 1 : 0))
			return false;
		*code = want - 1;
	}
	if (sel == 2) {
		if (compare(scale, *code, want) < 0)
			return false;
		*code = want;
	}
	return true;
}

static bool knows_rate(const ibnd_port_t *p, unsigned rate)
{
	const ibnd_port_t *caps = p->node->type == IB_NODE_SWITCH_T ? p->node->ports[0] : p;
	unsigned mask = info(caps, IB_PORT_CAPMASK_F);
	unsigned more = mask & IB_CAP_MASK2 ? info(caps, IB_PORT_CAPMASK2_F) : 0;

	return rate <= 10 || !mask || (rate <= 18 ? mask & IB_CAP_EXT_SPEEDS :
	       more & (rate <= 20 ? IB_CAP2_2X : rate <= 22 ? IB_CAP2_HDR : IB_CAP2_NDR));
}

static unsigned known(uint32_t src, uint32_t dst, unsigned rate)
{
	while (rate && !(knows_rate(ends.v[src].port, rate) && knows_rate(ends.v[dst].port, rate)))
		rate = rate_slower(rate);
	return rate;
}

/* --- one pair of LIDs --- */

static const uint64_t selector_bits[3] = {
	PR_MTU_SEL | PR_MTU, PR_RATE_SEL | PR_RATE, PR_LIFE_SEL | PR_LIFE,
};

static bool path(const struct ask *q, uint32_t src, uint32_t dst, uint16_t slid, uint16_t dlid,
		 struct sa_path_record *r, struct parts *parts)
{
	bool ruled, raw = given(q, PR_RAW) && q->raw, back;
	const struct level *l = find_level(q, src, dst, &ruled);
	unsigned key = find_key(q, src, dst, l, ruled), v[3];
	const struct end *a = &ends.v[src], *b = &ends.v[dst];
	struct carries way, home;
	struct parts there = { .n = 0 }, both;

	if (!key || (given(q, PR_SL) && q->sl != l->sl))
		return false;
	if (l->bits >= 0 && (slid != a->lid + ((unsigned)l->bits & ((1u << a->lmc) - 1)) ||
			     dlid != b->lid + ((unsigned)l->bits & ((1u << b->lmc) - 1))))
		return false;
	if (q->dst_prefix && given(q, PR_HOP) && q->hop < 2)
		return false;
	if (!follow(src, dst, dlid, &way, &there) || !(way.sls >> l->sl & 1))
		return false;
	both = there;
	back = follow(dst, src, slid, &home, &both) && home.sls >> l->sl & 1;
	*parts = back ? both : there;
	if (given(q, PR_REVERSIBLE) && q->reversible && !back)
		return false;
	v[0] = l->mtu && l->mtu < way.mtu ? l->mtu : way.mtu;
	v[1] = l->rate && rate_compare(l->rate, way.rate) < 0 ? l->rate : way.rate;
	v[1] = known(src, dst, v[1]);
	v[2] = src == dst ? 0 : l->life >= 0 ? (unsigned)l->life : LIFE;
	for (unsigned i = 0; i < 3; i++)
		if (given(q, selector_bits[i]) && !selects(i, q->sel[i], q->code[i], &v[i]))
			return false;
	v[1] = given(q, selector_bits[1]) && q->sel[1] == 2 ? v[1] : known(src, dst, v[1]);

	memset(r, 0, sizeof(*r));
	if (given(q, 3))
		put_be64(r->service_id, q->id);
	put_be64(r->dgid, q->dst_prefix ? q->dst_prefix : IB_DEFAULT_PREFIX);
	put_be64(r->dgid + 8, q->dst_guid ? q->dst_guid : b->guid);
	put_be64(r->sgid, IB_DEFAULT_PREFIX);
	put_be64(r->sgid + 8, a->guid);
	put_be16(r->slid, slid);
	put_be16(r->dlid, dlid);
	put_be32(r->hop_flow_raw, (uint32_t)raw << 31 | (given(q, PR_FLOW) ? q->flow << 8 : 0) |
		 (given(q, PR_HOP) ? q->hop : q->dst_prefix ? 255 : 0));
	r->tclass = (uint8_t)(l->tclass >= 0 ? (unsigned)l->tclass :
			      given(q, PR_TCLASS) ? q->tclass : 0);
	r->num_path = (uint8_t)((unsigned)back << 7 | (given(q, PR_NUMB_PATH) ? q->num : 0));
	put_be16(r->pkey, (uint16_t)key);
	put_be16(r->qos_class_sl,
		 (uint16_t)((given(q, PR_QOS_CLASS) ? q->class << 4 : 0) | l->sl));
	r->mtu = (uint8_t)(0x80 | v[0]);
	r->rate = (uint8_t)(0x80 | v[1]);
	r->life = (uint8_t)(0x80 | v[2]);
	return true;
}

/* --- the paths of a query, in order --- */

struct found {
	struct sa_path_record r;
	struct parts parts;
	uint32_t src, dst;
};
typedef VEC(struct found) found_list;

static uint32_t requester;

static bool sees(uint32_t end)
{
	return end == requester || first_key(requester, end, NULL, false);
}

/* Pairs of LIDs: round after round with the destination's bits shifted by one more. */
static void pair_paths(const struct ask *q, uint32_t src, uint32_t dst, unsigned max,
		       found_list *list)
{
	bool ruled;
	const struct level *l = find_level(q, src, dst, &ruled);
	const struct end *a = &ends.v[src], *b = &ends.v[dst];
	unsigned na = 1u << a->lmc, nb = 1u << b->lmc, from = a->lid, to = b->lid, n = 0;

	if (!sees(src) || !sees(dst))
		return;
	if (q->slid || l->bits >= 0) {
		from = q->slid ? q->slid : from + ((unsigned)l->bits & (na - 1));
		na = 1;
	}
	if (q->dlid || l->bits >= 0) {
		to = q->dlid ? q->dlid : to + ((unsigned)l->bits & (nb - 1));
		nb = 1;
	}
	unsigned longer = na > nb ? na : nb, shorter = na > nb ? nb : na;

	for (unsigned round = 0; round < shorter; round++)
		for (unsigned k = 0; k < longer && n < max; k++) {
			struct found f = { .src = src, .dst = dst };

			if (!path(q, src, dst, (uint16_t)(from + k % na),
				  (uint16_t)(to + (k + round) % nb), &f.r, &f.parts))
				continue;
			f.r.preference = (uint8_t)round;
			*vec_push(list) = f;
			n++;
		}
}

/* --- asking --- */

static struct {
	int fd, agent;
	uint16_t sm_lid;
} sa;

static void open_port(void)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0 ||
	    (sa.fd = umad_open_port(NULL, 0)) < 0 ||
	    (sa.agent = umad_register(sa.fd, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION,
				      UMAD_RMPP_VERSION, NULL)) < 0)
		die("can't open a port");
	sa.sm_lid = (uint16_t)port.sm_lid;
	requester = by_lid[port.base_lid];
	umad_release_port(&port);
	if (requester == NONE)
		die("this port was not found");
}

/* The answer's MAD, in a buffer of our own. */
static const uint8_t *ask(uint8_t method, uint16_t attr, uint64_t mask, const void *data, size_t n,
			  size_t *len)
{
	static uint8_t *umad;
	static uint64_t tid;
	uint8_t *mad;

	if (!umad)
		umad = xmalloc(umad_size() + ANSWER_MAX);
	memset(umad, 0, umad_size() + MAD_LEN);
	mad = umad_get_mad(umad);
	mad[0] = UMAD_BASE_VERSION;
	mad[1] = UMAD_CLASS_SUBN_ADM;
	mad[2] = UMAD_SA_CLASS_VERSION;
	mad[3] = method;
	put_be64(mad + 8, ++tid);
	put_be16(mad + 16, attr);
	mad[24] = 1;
	put_be64(mad + 48, mask);
	memcpy(mad + SA_HDR_LEN, data, n);
	umad_set_addr(umad, sa.sm_lid, 1, 0, UMAD_QKEY);
	if (umad_send(sa.fd, sa.agent, umad, MAD_LEN, TIMEOUT_MS, 3) < 0)
		die("can't send");
	int length = ANSWER_MAX;
	if (umad_recv(sa.fd, umad, &length, 10 * TIMEOUT_MS) < 0 || umad_status(umad))
		die("no answer");
	*len = (size_t)length;
	return umad_get_mad(umad);
}

/* --- queries --- */

static uint64_t differ, answered, errors, empty, records;

static uint32_t some_end(void)
{
	return (uint32_t)rnd(ends.n);
}

static uint16_t lid_of(uint32_t end)
{
	return (uint16_t)(ends.v[end].lid + rnd(1u << ends.v[end].lmc));
}

static void select_code(struct ask *q, unsigned i, unsigned least, unsigned most)
{
	if (!chance(20))
		return;
	q->sel[i] = (unsigned)rnd(4);
	q->code[i] = chance(3) ? 63 : least + (unsigned)rnd(most - least + 1);
	/* one without the other is no criterion */
	q->has |= chance(10) ? selector_bits[i] & -selector_bits[i] :
		  chance(10) ? selector_bits[i] & (selector_bits[i] - 1) : selector_bits[i];
}

/* All but the ends. */
static void make_criteria(struct ask *q)
{
	if (chance(35)) {
		q->has |= chance(4) ? 1 + rnd(2) : 3;
		q->id = 0x1060000 + rnd(12);
	}
	if (chance(30)) {
		q->has |= PR_QOS_CLASS;
		q->class = (unsigned)rnd(chance(90) ? 10 : 4096);
	}
	if (chance(20)) {
		q->has |= PR_TCLASS;
		q->tclass = (unsigned)rnd(chance(80) ? 10 : 256);
	}
	if (chance(40)) {
		q->has |= PR_PKEY;
		q->pkey = chance(95) ? partition_keys[rnd(N_PARTITIONS)] : (unsigned)rnd(0x8000);
		q->pkey |= chance(50) ? 0x8000 : 0;
	}
	if (chance(12)) {
		q->has |= PR_SL;
		q->sl = (unsigned)rnd(8);
	}
	if (chance(30)) {
		q->has |= PR_REVERSIBLE;
		q->reversible = chance(80);
	}
	if (chance(8)) {
		q->has |= PR_RAW;
		q->raw = chance(70);
	}
	if (chance(15)) {
		q->has |= PR_FLOW;
		q->flow = (unsigned)rnd(1 << 20);
	}
	if (chance(15)) {
		q->has |= PR_HOP;
		q->hop = (unsigned)rnd(chance(50) ? 3 : 256);
	}
	if (chance(50)) {
		q->has |= PR_NUMB_PATH;
		q->num = (unsigned)rnd(chance(80) ? 4 : 128);
	}
	select_code(q, 0, 1, 5);
	select_code(q, 1, 2, 10);
	select_code(q, 2, 0, 31);
}

static uint8_t selected(const struct ask *q, unsigned i)
{
	return (uint8_t)(q->sel[i] << 6 | q->code[i]);
}

/* Statuses that both kinds of query have. */
static unsigned check(const struct ask *q)
{
	if (q->has & 3 && !given(q, 3))
		return IB_SA_INSUFFICIENT_COMPONENTS;
	for (unsigned i = 0; i < 3; i++)
		if (given(q, selector_bits[i]) && q->sel[i] != 3 && q->code[i] == 63)
			return IB_SA_REQ_INVALID;
	return 0;
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct sa_path_record));
}

static void print_records(const char *what, const struct sa_path_record *r, size_t n)
{
	printf("  %s: %zu\n", what, n);
	for (size_t i = 0; i < n && i < 6; i++) {
		printf("   ");
		for (size_t k = 24; k < 58; k++)
			printf("%s%02x", k % 4 ? "" : " ", ((const uint8_t *)&r[i])[k]);
		printf("\n");
	}
}

/* Sorted or as they come; a Get has one. */
static void compare_answer(uint64_t nr, const char *text, const uint8_t *mad, size_t len,
			   unsigned status, const found_list *want, bool one, bool sorted)
{
	size_t size = get_be16(mad + 44) * 8u, n = 0;
	unsigned got = get_be16(mad + 4);
	struct sa_path_record *a = xcalloc(want->n + 1, sizeof(*a)), *b = NULL;

	if (!got && size == sizeof(*b))
		n = one ? 1 : (len - SA_HDR_LEN) / size;
	b = xmemdup(mad + SA_HDR_LEN, n * sizeof(*b) + 1);
	for (size_t i = 0; i < want->n; i++)
		a[i] = want->v[i].r;
	if (sorted) {
		qsort(a, want->n, sizeof(*a), by_bytes);
		qsort(b, n, sizeof(*b), by_bytes);
	}
	if (got != status || n != want->n || memcmp(a, b, n * sizeof(*a))) {
		differ++;
		printf("%" PRIu64 " %s: status 0x%04x, should be 0x%04x\n", nr, text, got, status);
		print_records("got", b, n);
		print_records("should be", a, want->n);
	}
	errors += got != 0;
	empty += !got && !n;
	records += n;
	answered++;
	free(a);
	free(b);
}

/* --- PathRecord --- */

/* How an end is given: bits of GID and LID; and whether they name one and the same port. */
struct given_end {
	bool gid, lid;
	uint32_t by_gid, by_lid;	/* NONE: nobody's */
	bool elsewhere;			/* the GID is another subnet's */
	uint64_t guid;
	uint16_t the_lid;
};

static struct given_end make_end(bool source, bool may_be_open)
{
	struct given_end g = { .by_gid = some_end() };
	unsigned how = (unsigned)rnd(100);

	g.gid = how < 60;
	g.lid = how >= 50 && (how < 95 || !may_be_open);
	g.by_lid = g.gid && chance(90) ? g.by_gid : some_end();
	g.guid = ends.v[g.by_gid].guid;
	g.the_lid = lid_of(g.by_lid);
	if (chance(1)) {
		g.by_gid = NONE;
		g.guid = 0xdead0000 + rnd(100);
	}
	if (chance(1)) {
		g.by_lid = NONE;
		g.the_lid = (uint16_t)(top_lid + 1 + rnd(100));
	}
	if (chance(source ? 1 : 8)) {
		g.elsewhere = true;
		g.guid = rnd(1000) + 1;
	}
	return g;
}

static unsigned end_status(const struct given_end *g, uint32_t *end)
{
	*end = g->lid ? g->by_lid : NONE;
	if (g->gid) {
		if (g->elsewhere || g->by_gid == NONE)
			return IB_SA_INVALID_GID;
		*end = g->by_gid;
	}
	if (g->lid && g->by_lid == NONE)
		return IB_SA_NO_RECORDS;
	return g->lid && g->by_lid != *end ? IB_SA_REQ_INVALID : 0;
}

static bool router_serves(const struct ask *q, uint32_t src, uint32_t router)
{
	struct carries c;
	struct parts parts = { .n = 0 };
	uint16_t lid = q->dlid ? q->dlid : ends.v[router].lid;

	return ends.v[router].port->node->type == IB_NODE_ROUTER_T && by_lid[lid] == router &&
	       (given(q, PR_PKEY) && q->pkey ? common_key(src, router, q->pkey & 0x7fff) :
		first_key(src, router, NULL, false)) && follow(src, router, lid, &c, &parts);
}

/*
 * Which of several routers it is, the SA may choose.  The answer's own records say
 * whom it took; where there is none, any will do that gives none.
 */
static bool guessed;	/* a router, since the answer does not say */

static void router_paths(const struct ask *q, uint32_t src, unsigned max, const uint8_t *mad,
			 size_t len, bool one, found_list *list)
{
	size_t n = get_be16(mad + 4) || !get_be16(mad + 44) ? 0 : one ? 1 :
		   (len - SA_HDR_LEN) / sizeof(struct sa_path_record);
	uint32_t least = NONE;
	size_t least_n = SIZE_MAX, before = list->n;

	for (size_t i = 0; i < n; i++) {
		const struct sa_path_record *r = (const void *)(mad + SA_HDR_LEN + i * sizeof(*r));
		uint32_t router = by_lid[get_be16(r->dlid)];

		if (by_lid[get_be16(r->slid)] == src && get_be64(r->dgid) == q->dst_prefix &&
		    get_be64(r->dgid + 8) == q->dst_guid &&
		    router != NONE && router_serves(q, src, router)) {
			pair_paths(q, src, router, max, list);
			return;
		}
	}
	guessed = true;
	for (uint32_t router = 0; router < ends.n; router++) {
		if (!router_serves(q, src, router))
			continue;
		pair_paths(q, src, router, max, list);
		if (list->n - before < least_n) {
			least_n = list->n - before;
			least = router;
		}
		list->n = before;
	}
	if (least != NONE)
		pair_paths(q, src, least, max, list);
}

static void put_gid(uint8_t gid[16], const struct given_end *g)
{
	put_be64(gid, g->elsewhere ? ELSEWHERE : IB_DEFAULT_PREFIX);
	put_be64(gid + 8, g->guid);
}

static void path_query(uint64_t nr)
{
	bool one = chance(65);
	/* both ends open are many records: seldom */
	bool open = !one && chance(10);
	struct given_end from = make_end(true, one || open);
	struct given_end to = make_end(false, one || (open && chance(3)));
	struct ask q = { .has = 0 };
	struct sa_path_record r = { .preference = (uint8_t)rnd(256) };
	found_list want = { 0 };
	uint32_t src, dst = NONE;
	unsigned status, max;
	char text[160];
	size_t len;

	if (!from.gid && !from.lid && !to.gid && !to.lid && !chance(2))
		to.gid = true;
	make_criteria(&q);
	q.slid = from.lid ? from.the_lid : 0;
	q.dlid = to.lid ? to.the_lid : 0;
	q.has |= (from.gid ? PR_SGID : 0u) | (from.lid ? PR_SLID : 0u) |
		 (to.gid ? PR_DGID : 0u) | (to.lid ? PR_DLID : 0u);
	put_gid(r.sgid, &from);
	put_gid(r.dgid, &to);
	put_be16(r.slid, from.the_lid);
	put_be16(r.dlid, to.the_lid);
	put_be64(r.service_id, q.id);
	put_be32(r.hop_flow_raw,
		 (uint32_t)q.raw << 31 | (uint32_t)rnd(8) << 28 | q.flow << 8 | q.hop);
	r.tclass = (uint8_t)q.tclass;
	r.num_path = (uint8_t)(q.reversible << 7 | q.num);
	put_be16(r.pkey, (uint16_t)q.pkey);
	put_be16(r.qos_class_sl, (uint16_t)(q.class << 4 | q.sl));
	r.mtu = selected(&q, 0);
	r.rate = selected(&q, 1);
	r.life = selected(&q, 2);
	memset(r.reserved, (int)rnd(256), sizeof(r.reserved));

	const uint8_t *mad = ask(one ? UMAD_METHOD_GET : UMAD_SA_METHOD_GET_TABLE,
				 UMAD_SA_ATTR_PATH_REC, q.has | 1 << 7 | 1ull << 40, &r, sizeof(r),
				 &len);

	status = check(&q);
	if (!status)
		status = end_status(&from, &src);
	if (!status && one && src == NONE)
		status = IB_SA_INSUFFICIENT_COMPONENTS;
	if (!status && to.gid && to.elsewhere) {
		q.dst_prefix = ELSEWHERE;
		q.dst_guid = to.guid;
		status = to.lid && to.by_lid == NONE ? IB_SA_NO_RECORDS : 0;
	} else if (!status) {
		status = end_status(&to, &dst);
	}
	if (!status && one && dst == NONE && !q.dst_prefix)
		status = IB_SA_INSUFFICIENT_COMPONENTS;
	max = one ? 1 : given(&q, PR_NUMB_PATH) ? q.num : UINT32_MAX;
	for (uint32_t i = 0; !status && max && i < ends.n; i++) {
		if (src != NONE && src != i)
			continue;
		if (q.dst_prefix)
			router_paths(&q, i, max, mad, len, one, &want);
		for (uint32_t k = 0; !q.dst_prefix && k < ends.n; k++)
			if (dst == NONE || dst == k)
				pair_paths(&q, i, k, max, &want);
	}
	if (!status && one && !want.n)
		status = IB_SA_NO_RECORDS;
	if (status == IB_SA_NO_RECORDS && !one)
		status = 0;
	snprintf(text, sizeof(text), "%s src %d dst %d mask 0x%" PRIx64, one ? "get" : "table",
		 (int)src, (int)dst, q.has);
	compare_answer(nr, text, mad, len, status, &want, one, !one);
	vec_free(&want);
}

/* --- MultiPathRecord --- */

static uint64_t multi_mask(uint64_t mask)
{
	static const uint64_t same[][2] = {
		{ PR_RAW, MPR_RAW }, { PR_FLOW, MPR_FLOW }, { PR_HOP, MPR_HOP },
		{ PR_TCLASS, MPR_TCLASS }, { PR_REVERSIBLE, MPR_REVERSIBLE },
		{ PR_NUMB_PATH, MPR_NUMB_PATH }, { PR_PKEY, MPR_PKEY },
		{ PR_QOS_CLASS, MPR_QOS_CLASS }, { PR_SL, MPR_SL }, { PR_MTU_SEL, MPR_MTU_SEL },
		{ PR_MTU, MPR_MTU }, { PR_RATE_SEL, MPR_RATE_SEL }, { PR_RATE, MPR_RATE },
		{ PR_LIFE_SEL, MPR_LIFE_SEL }, { PR_LIFE, MPR_LIFE },
		{ PR_SERVICE_ID_MSB, MPR_SERVICE_ID_MSB },
		{ PR_SERVICE_ID_LSB, MPR_SERVICE_ID_LSB },
	};
	uint64_t all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		all |= mask & same[i][0] ? same[i][1] : 0;
	return all;
}

static unsigned shared(const struct parts *a, const struct parts *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->n; i++)
		for (unsigned k = 0; k < b->n; k++)
			n += a->v[i] == b->v[k];
	return n;
}

static unsigned in_common(const struct found *a, const struct found *b)
{
	unsigned n = 0;

	for (uint32_t end = 0; end < ends.n; end++)
		n += (a->src == end || a->dst == end) && (b->src == end || b->dst == end);
	return 1000u * n + shared(&a->parts, &b->parts);
}

static unsigned add_parts(struct parts *all, const struct parts *p)
{
	unsigned before = all->n;

	for (unsigned i = 0; i < p->n; i++)
		need(all, p->v[i]);
	return p->n - (all->n - before);	/* those that were there */
}

/* Of the same paths another order, with the least in common first and Preference as it is. */
static const char *judge_independence(const uint8_t *mad, size_t len, const found_list *all,
				      unsigned max)
{
	static struct parts used;
	size_t n = (len - SA_HDR_LEN) / sizeof(struct sa_path_record);
	const struct found *two[2] = { NULL, NULL };
	unsigned least = UINT32_MAX;

	used.n = 0;
	records += n;
	if (get_be16(mad + 4))
		return "an error";
	if (n != (all->n < max ? all->n : max))
		return "another number of paths";
	for (size_t i = 0; i < n; i++) {
		struct sa_path_record r;
		const struct found *f = NULL;

		memcpy(&r, mad + SA_HDR_LEN + i * sizeof(r), sizeof(r));
		for (size_t k = 0; k < all->n && !f; k++)
			if (!memcmp(r.slid, all->v[k].r.slid, 2) &&
			    !memcmp(r.dlid, all->v[k].r.dlid, 2) &&
			    !memcmp(r.dgid, all->v[k].r.dgid, 16))
				f = &all->v[k];
		if (!f)
			return "a path that is none";
		unsigned preference = add_parts(&used, &f->parts);

		if (r.preference != (preference > 255 ? 255 : preference))
			return "a Preference that is not true";
		r.preference = f->r.preference;
		if (memcmp(&r, &f->r, sizeof(r)))
			return "a record that differs";
		for (size_t k = 0; k < i; k++)
			if (!memcmp(mad + SA_HDR_LEN + k * sizeof(r) + 8,
				    mad + SA_HDR_LEN + i * sizeof(r) + 8, 36))
				return "the same path twice";
		if (i < 2)
			two[i] = f;
	}
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = i + 1; k < all->n; k++)
			if (in_common(&all->v[i], &all->v[k]) < least)
				least = in_common(&all->v[i], &all->v[k]);
	if (!guessed && two[1] && in_common(two[0], two[1]) != least)
		return "paths that have more in common than others";
	return NULL;
}

static void multi_query(uint64_t nr)
{
	union {
		struct sa_multipath_record r;
		uint8_t bytes[SA_DATA_LEN];
	} m;
	unsigned n[2] = { 1 + (unsigned)rnd(3), 1 + (unsigned)rnd(3) }, max, status;
	bool apm_shape = chance(25), selector = chance(40), independent;
	struct given_end g[6];
	struct ask q = { .has = 0 };
	found_list want = { 0 };
	size_t len, left[2] = { 0, 0 };
	struct given_end distinct[2][3];

	memset(&m, 0, sizeof(m));
	make_criteria(&q);
	if (apm_shape) {
		n[0] = n[1] = 2;
		q.has |= PR_NUMB_PATH;
		q.num = 2;
	}
	for (unsigned i = 0; i < n[0] + n[1]; i++) {
		g[i] = make_end(i < n[0], false);
		if (i && chance(8))
			g[i] = g[i - 1];
		put_gid(m.r.gids[i], &g[i]);
	}
	put_be32(m.r.hop_flow_raw, (uint32_t)q.raw << 31 | q.flow << 8 | q.hop);
	m.r.tclass = (uint8_t)q.tclass;
	m.r.num_path = (uint8_t)(q.reversible << 7 | q.num);
	put_be16(m.r.pkey, (uint16_t)q.pkey);
	put_be16(m.r.qos_class_sl, (uint16_t)(q.class << 4 | q.sl));
	m.r.mtu = selected(&q, 0);
	m.r.rate = selected(&q, 1);
	m.r.life = selected(&q, 2);
	m.r.service_id_msb = (uint8_t)(q.id >> 56);
	for (unsigned i = 0; i < 7; i++)
		m.r.service_id_lsb[i] = (uint8_t)(q.id >> (48 - 8 * i));
	m.r.independence = selector ? INDEPENDENT << 6 : (uint8_t)rnd(128);
	m.r.sgid_count = (uint8_t)n[0];
	m.r.dgid_count = (uint8_t)n[1];
	const uint8_t *mad = ask(UMAD_SA_METHOD_GET_MULTI, UMAD_SA_ATTR_MULTI_PATH_REC,
				 multi_mask(q.has) | MPR_SGID_COUNT | MPR_DGID_COUNT |
				 MPR_INDEPENDENCE,
				 &m, sizeof(m), &len);

	status = check(&q);
	for (unsigned i = 0; !status && i < n[0] + n[1]; i++) {
		unsigned to = i >= n[0];
		bool twice = false;

		if (to && g[i].elsewhere)
			;
		else if (g[i].elsewhere || g[i].by_gid == NONE)
			status = IB_SA_INVALID_GID;
		for (size_t k = 0; k < left[to]; k++)
			twice = twice || (distinct[to][k].guid == g[i].guid &&
					  distinct[to][k].elsewhere == g[i].elsewhere);
		if (!twice)
			distinct[to][left[to]++] = g[i];
	}
	max = given(&q, PR_NUMB_PATH) ? q.num : 127;
	guessed = false;
	independent = max > 1 && (selector || (given(&q, PR_NUMB_PATH) && q.num == 2 &&
					       left[0] == 2 && left[1] == 2));
	for (size_t i = 0; !status && i < left[0]; i++)
		for (size_t k = 0; k < left[1]; k++) {
			struct ask p = q;
			unsigned some = independent ? UINT32_MAX : max - (unsigned)want.n;

			p.dst_guid = distinct[1][k].guid;
			if (!some)
				continue;
			if (distinct[1][k].elsewhere) {
				p.dst_prefix = ELSEWHERE;
				router_paths(&p, distinct[0][i].by_gid, some, mad, len, false,
					     &want);
			} else {
				pair_paths(&p, distinct[0][i].by_gid, distinct[1][k].by_gid, some,
					   &want);
			}
		}
	if (!status && independent) {
		const char *wrong = judge_independence(mad, len, &want, max);

		answered++;
		if (wrong) {
			differ++;
			printf("%" PRIu64 " multi, independent, %zu of %zu: %s\n", nr,
			       (len - SA_HDR_LEN) / 64, want.n, wrong);
		}
	} else {
		compare_answer(nr, "multi", mad, len, status, &want, false, false);
	}
	vec_free(&want);
}

int main(int argc, char **argv)
{
	uint64_t seed, n, first;

	if (argc < 3)
		die("usage: pathref policy SEED | pathref ask SEED N [FIRST]");
	seed = strtoull(argv[2], NULL, 0);
	discover();
	if (ends.n < N_GROUPS)
		die("too small a fabric");
	if (strcmp(argv[1], "policy") == 0) {
		out = stdout;
		make_policy(seed);
		return 0;
	}
	n = argc > 3 ? strtoull(argv[3], NULL, 0) : 1000;
	first = argc > 4 ? strtoull(argv[4], NULL, 0) : 0;
	make_policy(seed);
	read_tables();
	open_port();
	for (uint64_t i = first; i < first + n; i++) {
		state = seed << 32 ^ hash64(i + 1);
		if (chance(70))
			path_query(i);
		else
			multi_query(i);
	}
	printf("%" PRIu64 " answers with %" PRIu64 " records, %" PRIu64 " empty, %" PRIu64
	       " refused; %" PRIu64 " differ\n", answered, records, empty, errors, differ);
	return differ != 0;
}
