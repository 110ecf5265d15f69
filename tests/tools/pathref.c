/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pathref: a slow and independent reference for the answers to PathRecord and MultiPathRecord
 * queries, compared with the SA's answers.
 *
 *   pathref policy SEED           a made-up policy for the fabric that it is run on
 *   pathref ask SEED N [FIRST]    N queries; a line for each answer that is another
 *   pathref live SEED             orders on standard input while the fabric changes
 *
 * The fabric is taken from the devices: nodes and links by libibnetdisc; LIDs, forwarding tables,
 * SL2VL tables and P_Keys as they hold them, after the SM is done.  The policy is a restricted one
 * that is made again from the same seed.  Each answer is found by trying everything; the only code
 * shared with the daemon is the names of the records' fields and of rates.
 *
 * The fabric's SM must run with `prefix-routes: [{prefix: 0xfec0000000000001,
 * router: any}]` and defaults otherwise, but for lmc.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>
#include <infiniband/umad_sa_mcm.h>

#include "chance.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/map64.h"
#include "lib/iba/iba.h"
#include "lib/iba/units.h"
#include "port.h"

#define ELSEWHERE 0xfec0000000000001ULL
#define TIMEOUT_MS 5000
#define ANSWER_MAX (16u << 20)
#define NONE UINT32_MAX
#define LIFE 18			/* of a path whose level has none: the subnet timeout's default */

/* --- the fabric, as the devices have it --- */

enum { N_GROUPS = 4, N_LEVELS = 6, N_OF_POLICY = 3, N_PARTITIONS = 4, RULES_MAX = 14 };
/* No level has the last one, which exists while `partition add` has made it. */
static const unsigned partition_keys[N_PARTITIONS] = { 0x7fff, 0x0001, 0x1234, 0x2222 };

struct policy {
	bool *group[N_GROUPS];		/* by number of the end */
	struct level {
		unsigned sl, mtu, rate;		/* 0: no limit */
		int life, bits, tclass;		/* -1: none */
		unsigned pkey;			/* 0: any */
	} levels[N_LEVELS];
	unsigned own_level[N_OF_POLICY];
	struct rule {
		int src, dst;			/* groups, -1: any */
		bool by_id, by_class, by_tclass, by_pkey, by_sl;
		uint64_t id[2];
		unsigned class[2], tclass[2], pkey, sl[2];
		unsigned level;
	} rules[RULES_MAX];
	unsigned n_rules;
};

struct carries {
	unsigned mtu, rate, sls;
};

enum { PARTS_MAX = 160 };
struct parts {			/* numbers of links and switches that a path needs */
	uint32_t v[PARTS_MAX];
	unsigned n;
};

struct route {			/* the tables' route to a LID, followed once */
	struct carries carries;
	bool arrives;
	unsigned n;
	size_t parts;		/* in the pool */
};

struct end {			/* an end port */
	uint64_t guid;
	uint32_t number;	/* in the first view */
	ibnd_port_t *port;
	uint16_t lid;
	unsigned lmc;
	VEC(uint16_t) pkeys;
};

/* The fabric and the policy at one moment. */
static struct view {
	ibnd_fabric_t *f;
	VEC(struct end) ends;	/* in order of GUID */
	struct map64 by_guid;
	uint32_t lid_owner[0x10000];
	VEC(ibnd_node_t *) switches;
	struct map64 switch_numbers;
	uint8_t **lfts;		/* per switch */
	unsigned top_lid;
	uint32_t requester;
	struct map64 sl_masks;	/* switch or end, in, out -> mask */
	struct map64 part_numbers;
	struct map64 route_numbers;
	VEC(struct route) routes;
	VEC(uint32_t) pool;
	struct policy policy;
	uint8_t group_tclass;	/* of the groups that were joined */
} *fab;
static struct map64 first_numbers;	/* GUID -> number */
static VEC(uint64_t) all_guids;

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
		*vec_push(&fab->switches) = n;
		*vec_push(&fab->ends) = (struct end){ .guid = n->guid, .port = n->ports[0] };
		return;
	}
	for (int i = 1; i <= n->numports; i++)
		if (n->ports[i] && n->ports[i]->remoteport)
			*vec_push(&fab->ends) = (struct end){ .guid = n->ports[i]->guid,
							 .port = n->ports[i] };
}

static void discover(void)
{
	struct ibnd_config cfg = { .max_hops = 0 };

	fab->f = ibnd_discover_fabric(NULL, 0, NULL, &cfg);
	if (!fab->f)
		die("no fabric");
	ibnd_iter_nodes(fab->f, add_node, NULL);
	qsort(fab->ends.v, fab->ends.n, sizeof(*fab->ends.v), by_guid);
	map64_init(&fab->by_guid, (uint32_t)fab->ends.n);
	for (uint32_t i = 0; i < fab->ends.n; i++) {
		struct end *e = &fab->ends.v[i];

		map64_put(&fab->by_guid, e->guid, i);
		e->number = map64_get(&first_numbers, e->guid);
		if (e->number == MAP64_NONE && all_guids.n == fab->ends.n)
			die("an end port that was not there at first");
	}
	if (all_guids.n)
		return;
	map64_init(&first_numbers, (uint32_t)fab->ends.n);
	for (uint32_t i = 0; i < fab->ends.n; i++) {
		map64_put(&first_numbers, fab->ends.v[i].guid, i);
		fab->ends.v[i].number = i;
		*vec_push(&all_guids) = fab->ends.v[i].guid;
	}
}

/* --- reading tables: many SMPs at a time --- */

struct read {
	uint16_t lid, attr;
	uint32_t mod;
	uint8_t data[64];
	unsigned tries;
	bool done;
};
static VEC(struct read) reads;

static size_t want(const ibnd_port_t *p, unsigned attr, unsigned mod)
{
	const ibnd_node_t *n = p->node;
	const ibnd_port_t *end = n->type == IB_NODE_SWITCH_T ? n->ports[0] : p;

	*vec_push(&reads) = (struct read){ .lid = (uint16_t)info(end, IB_PORT_LID_F),
					   .attr = (uint16_t)attr, .mod = mod };
	return reads.n - 1;
}

static void send_read(int fd, int agent, void *umad, size_t i)
{
	uint8_t *mad = umad_get_mad(umad);
	struct read *r = &reads.v[i];

	if (++r->tries > 20)
		die("a device does not answer");
	memset(umad, 0, umad_size() + MAD_LEN);
	mad[0] = UMAD_BASE_VERSION;
	mad[1] = UMAD_CLASS_SUBN_LID_ROUTED;
	mad[2] = 1;
	mad[3] = UMAD_METHOD_GET;
	put_be64(mad + 8, i + 1);
	put_be16(mad + 16, r->attr);
	put_be32(mad + 20, r->mod);
	umad_set_addr(umad, r->lid, 0, 0, 0);
	if (umad_send(fd, agent, umad, MAD_LEN, 1000, 0) < 0)
		die("can't send an SMP");
}

static void read_all(void)
{
	static struct own_port smi = { .fd = -1 };
	static int agent;
	void *umad = xcalloc(1, umad_size() + MAD_LEN);
	size_t next = 0, out = 0;

	if (smi.fd < 0) {
		own_port_open(&smi);
		agent = own_port_register(&smi, UMAD_CLASS_SUBN_LID_ROUTED, 0, 0);
	}
	while (next < reads.n || out) {
		int length = MAD_LEN;
		const uint8_t *mad = umad_get_mad(umad);
		size_t i;

		if (next < reads.n && out < 64) {
			send_read(smi.fd, agent, umad, next++);
			out++;
			continue;
		}
		if (umad_recv(smi.fd, umad, &length, 10 * TIMEOUT_MS) < 0)
			die("no answer to an SMP");
		i = (size_t)(get_be64(mad + 8) & UINT32_MAX) - 1;
		if (i >= reads.n || reads.v[i].done)
			continue;
		if (umad_status(umad)) {
			send_read(smi.fd, agent, umad, i);
			continue;
		}
		if (get_be16(mad + 4) & 0x7fff)
			die("a device refuses to tell a table");
		memcpy(reads.v[i].data, mad + 64, 64);
		reads.v[i].done = true;
		out--;
	}
	free(umad);
}

static unsigned pkey_blocks(const struct end *e)
{
	return (mad_get_field(e->port->node->info, 0, IB_NODE_PARTITION_CAP_F) + 31) / 32;
}

static bool has_sl2vl(ibnd_node_t *n, unsigned out)
{
	/* port 0 of a switch speaks for all of its ports */
	ibnd_port_t *port = n->ports[out];
	ibnd_port_t *caps = n->type == IB_NODE_SWITCH_T ? n->ports[0] : port;

	return info(caps, IB_PORT_CAPMASK_F) & IB_CAP_SL_MAP && info(port, IB_PORT_VL_CAP_F) > 1;
}

static bool linked(ibnd_node_t *n, int port)
{
	return n->ports[port] && (port == 0 || n->ports[port]->remoteport);
}

static uint64_t sl_key(const ibnd_node_t *n, unsigned in, unsigned out)
{
	return hash64(n->guid) ^ ((uint64_t)in << 8 | out);
}

/* To read: all pairs of ports that a packet can pass.  read: what they say. */
static void sl2vl_tables(ibnd_node_t *n, bool read, size_t *at)
{
	bool sw = n->type == IB_NODE_SWITCH_T;

	for (int to = sw ? 0 : 1; to <= n->numports; to++)
		for (int from = 0; from <= (sw ? n->numports : 0); from++) {
			unsigned mask = 0xffff;

			if (!linked(n, to) || (sw && (!linked(n, from) || (from && from == to))))
				continue;
			if (has_sl2vl(n, (unsigned)to)) {
				unsigned vls = ib_vls_from_code(info(n->ports[to],
								     IB_PORT_OPER_VLS_F));
				const uint8_t *data;

				if (!read) {
					want(n->ports[to], IB_ATTR_SLVL_TABLE,
					     (unsigned)(from << 8 | to));
					continue;
				}
				data = reads.v[(*at)++].data;
				mask = 0;
				for (unsigned sl = 0; sl < 16; sl++)
					mask |= (data[sl / 2] >> (sl % 2 ? 0 : 4) & 0xfu) < vls ? 1u << sl : 0;
			}
			if (read)
				map64_put(&fab->sl_masks,
					  sl_key(n, (unsigned)from, (unsigned)to), mask);
		}
}

static void read_tables(void)
{
	size_t at = 0;
	unsigned blocks;

	memset(fab->lid_owner, 0xff, sizeof(fab->lid_owner));
	reads.n = 0;
	for (size_t i = 0; i < fab->ends.n; i++) {
		struct end *e = &fab->ends.v[i];

		e->lid = (uint16_t)info(e->port, IB_PORT_LID_F);
		e->lmc = info(e->port, IB_PORT_LMC_F);
		for (unsigned k = 0; k < 1u << e->lmc; k++)
			fab->lid_owner[e->lid + k] = (uint32_t)i;
		if (e->lid + (1u << e->lmc) - 1 > fab->top_lid)
			fab->top_lid = e->lid + (1u << e->lmc) - 1;
		for (unsigned b = 0; b < pkey_blocks(e); b++)
			want(e->port, IB_ATTR_PKEY_TBL, (unsigned)e->port->portnum << 16 | b);
	}
	blocks = fab->top_lid / 64 + 1u;
	map64_init(&fab->sl_masks, 1024);
	map64_init(&fab->switch_numbers, 64);
	for (size_t s = 0; s < fab->switches.n; s++) {
		map64_put(&fab->switch_numbers, (uintptr_t)fab->switches.v[s], (uint32_t)s);
		for (unsigned b = 0; b < blocks; b++)
			want(fab->switches.v[s]->ports[0], IB_ATTR_LINEARFORWTBL, b);
		sl2vl_tables(fab->switches.v[s], false, NULL);
	}
	for (size_t i = 0; i < fab->ends.n; i++)
		if (fab->ends.v[i].port->node->type != IB_NODE_SWITCH_T)
			sl2vl_tables(fab->ends.v[i].port->node, false, NULL);
	read_all();
	for (size_t i = 0; i < fab->ends.n; i++) {
		struct end *e = &fab->ends.v[i];

		for (unsigned b = 0; b < pkey_blocks(e); b++, at++)
			for (unsigned k = 0; k < 32; k++)
				if (get_be16(reads.v[at].data + 2 * k))
					*vec_push(&e->pkeys) = get_be16(reads.v[at].data + 2 * k);
	}
	fab->lfts = xcalloc(fab->switches.n, sizeof(*fab->lfts));
	for (size_t s = 0; s < fab->switches.n; s++) {
		fab->lfts[s] = xcalloc(blocks, 64);
		for (unsigned b = 0; b < blocks; b++)
			memcpy(fab->lfts[s] + (size_t)b * 64, reads.v[at++].data, 64);
		sl2vl_tables(fab->switches.v[s], true, &at);
	}
	for (size_t i = 0; i < fab->ends.n; i++)
		if (fab->ends.v[i].port->node->type != IB_NODE_SWITCH_T)
			sl2vl_tables(fab->ends.v[i].port->node, true, &at);
	map64_init(&fab->part_numbers, 1024);
	map64_init(&fab->route_numbers, 1024);
}

static uint32_t switch_number(const ibnd_node_t *n)
{
	return map64_get(&fab->switch_numbers, (uintptr_t)n);
}

/* The SLs that get a data VL from one port of a node to another. */
static unsigned sls(ibnd_node_t *n, unsigned in, unsigned out)
{
	uint32_t mask = map64_get(&fab->sl_masks, sl_key(n, in, out));

	return mask == MAP64_NONE ? 0 : mask;	/* a packet does not turn back */
}

/* --- the policy --- */

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

		fab->policy.group[g] = xcalloc(all_guids.n, 1);
		say("  g%u: {port-guids: [", g);
		for (size_t i = 0; i < all_guids.n; i++) {
			fab->policy.group[g][i] = chance(g < 2 ? 40 : 75) || i == g;
			if (fab->policy.group[g][i]) {
				say("%s0x%" PRIx64, gap, all_guids.v[i]);
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
	for (unsigned p = 1; p < N_OF_POLICY; p++) {
		fab->policy.own_level[p] = (unsigned)rnd(N_LEVELS);
		say("  p%u: {pkey: 0x%04x, members: {g%u: %s, g%u: %s}, level: l%u}\n", p,
		    partition_keys[p], p, chance(50) ? "full" : "limited", p + 1,
		    chance(70) ? "full" : "limited", fab->policy.own_level[p]);
	}
}

static void make_levels(void)
{
	static const unsigned rates[] = { 2, 3, 6, 7, 10 };
	static const char *const gbps[] = { "2.5", "10", "20", "40", "120" };

	say("qos-levels:\n  default: {sl: 0}\n");
	for (unsigned i = 0; i < N_LEVELS; i++) {
		struct level *l = &fab->policy.levels[i];
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
			l->pkey = partition_keys[rnd(N_OF_POLICY)];
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
	fab->policy.n_rules = 4 + (unsigned)rnd(RULES_MAX - 4);
	say("match-rules:\n");
	for (unsigned i = 0; i < fab->policy.n_rules; i++) {
		struct rule *r = &fab->policy.rules[i];

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
			say(", pkey: 0x%04x", r->pkey = partition_keys[rnd(N_OF_POLICY)]);
		if ((r->by_sl = chance(15) || (r->src < 0 && r->dst < 0 && !r->by_id &&
						 !r->by_class && !r->by_tclass && !r->by_pkey)))
			make_range("sl", (unsigned)rnd(8), 1, r->sl);
		say("}\n");
	}
}

/*
 * SLs go to VLs that all devices have; of 1 to 7 some are dropped everywhere, and
 * some at some ports only.
 */
static void make_tables(void)
{
	bool dead[16] = { [15] = true };

	say("fabric-setup:\n  sl2vl:\n");
	for (unsigned row = 0; row < 2; row++) {
		say(row ? "    - {across: g0, to: 1, from: \"*\", table: [" :
			  "    - {group: all, from: \"*\", to: \"*\", table: [");
		for (unsigned sl = 0; sl < 16; sl++) {
			if (sl > 0 && sl < 8 && chance(15))
				dead[sl] = true;
			say("%s%u", sl ? ", " : "", dead[sl] ? 15 : sl < 8 ? sl % 4 : 0);
		}
		say("]}\n");
	}
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
	return (r->src < 0 || fab->policy.group[r->src][fab->ends.v[src].number]) &&
	       (r->dst < 0 || fab->policy.group[r->dst][fab->ends.v[dst].number]) &&
	       (!r->by_id || (given(q, 3) && q->id >= r->id[0] && q->id <= r->id[1])) &&
	       (!r->by_class || (given(q, PR_QOS_CLASS) && in(q->class, r->class))) &&
	       (!r->by_tclass || (given(q, PR_TCLASS) && in(q->tclass, r->tclass))) &&
	       (!r->by_pkey || (given(q, PR_PKEY) && (q->pkey & 0x7fff) == r->pkey)) &&
	       (!r->by_sl || (given(q, PR_SL) && in(q->sl, r->sl)));
}

/* a's P_Key, if the two can communicate with it. */
static unsigned common_key(uint32_t a, uint32_t b, unsigned base)
{
	for (size_t i = 0; i < fab->ends.v[a].pkeys.n; i++)
		for (size_t k = 0; k < fab->ends.v[b].pkeys.n; k++) {
			unsigned x = fab->ends.v[a].pkeys.v[i], y = fab->ends.v[b].pkeys.v[k];

			if ((x & 0x7fff) == base && (y & 0x7fff) == base && (x | y) & 0x8000)
				return x;
		}
	return 0;
}

/*
 * The first P_Key in the policy's order; level: only those of the level, own: only partitions' own
 * levels.
 */
static const struct level builtin = { .life = -1, .bits = -1, .tclass = -1 };

static const struct level *level_of(unsigned partition)
{
	return partition < N_OF_POLICY ?
	       &fab->policy.levels[fab->policy.own_level[partition]] : &builtin;
}

static unsigned first_key(uint32_t a, uint32_t b, const struct level *level, bool own)
{
	for (unsigned p = 0; p < N_PARTITIONS; p++) {
		const struct level *l = own ? level_of(p) : level;
		unsigned key = common_key(a, b, partition_keys[p]);

		if (key && (!l || !l->pkey || l->pkey == partition_keys[p]))
			return key;
	}
	return 0;
}

static const struct level *find_level(const struct ask *q, uint32_t src, uint32_t dst, bool *ruled)
{
	unsigned key;

	*ruled = true;
	for (unsigned i = 0; i < fab->policy.n_rules; i++)
		if (rule_matches(&fab->policy.rules[i], q, src, dst))
			return &fab->policy.levels[fab->policy.rules[i].level];
	*ruled = false;
	key = given(q, PR_PKEY) ? q->pkey : first_key(src, dst, NULL, true);
	for (unsigned p = 0; p < N_PARTITIONS; p++)
		if ((key & 0x7fff) == partition_keys[p] && !(given(q, PR_RAW) && q->raw))
			return level_of(p);
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

static void need_number(struct parts *parts, uint32_t part)
{
	for (unsigned i = 0; i < parts->n; i++)
		if (parts->v[i] == part)
			return;
	if (parts->n == PARTS_MAX)
		die("too long a route");
	parts->v[parts->n++] = part;
}

static void need(struct parts *parts, const void *part)
{
	uint32_t n = map64_get(&fab->part_numbers, (uintptr_t)part);

	if (n == MAP64_NONE)
		map64_put(&fab->part_numbers, (uintptr_t)part, n = fab->part_numbers.n);
	need_number(parts, n);
}

/* Follows the tables to a LID; false if it does not get there. */
static bool follow_tables(uint32_t src, uint32_t dst, uint16_t dlid, struct carries *c,
			  struct parts *parts)
{
	ibnd_port_t *at = fab->ends.v[src].port, *goal = fab->ends.v[dst].port;
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
			unsigned to = fab->lfts[switch_number(n)][dlid];

			need(parts, n);
			if (to > (unsigned)n->numports)
				return false;
			leave = n->ports[to];
			if (!linked(n, (int)to))
				return false;
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

/* The same, done once for each LID, as the tables of a view do not change. */
static bool follow(uint32_t src, uint32_t dst, uint16_t dlid, struct carries *c,
		   struct parts *parts)
{
	uint64_t key = (uint64_t)src << 16 | dlid;
	uint32_t n = map64_get(&fab->route_numbers, key);
	const struct route *r;

	if (n == MAP64_NONE) {
		struct parts own = { .n = 0 };
		struct route made = { .parts = fab->pool.n };

		made.arrives = follow_tables(src, dst, dlid, &made.carries, &own);
		made.n = own.n;
		for (unsigned i = 0; i < own.n; i++)
			*vec_push(&fab->pool) = own.v[i];
		map64_put(&fab->route_numbers, key, n = (uint32_t)fab->routes.n);
		*vec_push(&fab->routes) = made;
	}
	r = &fab->routes.v[n];
	*c = r->carries;
	for (unsigned i = 0; i < r->n; i++)
		need_number(parts, fab->pool.v[r->parts + i]);
	return r->arrives;
}

/* --- selectors --- */

static int compare(unsigned scale, unsigned a, unsigned b)
{
	return scale == 1 ? rate_compare(a, b) : (int)a - (int)b;
}

/* The available value, lowered to the requested one; false: not available. */
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
	const struct end *v = fab->ends.v;

	while (rate && !(knows_rate(v[src].port, rate) && knows_rate(v[dst].port, rate)))
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
	const struct end *a = &fab->ends.v[src], *b = &fab->ends.v[dst];
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

static bool sees(uint32_t end)
{
	return end == fab->requester || first_key(fab->requester, end, NULL, false);
}

/* Pairs of LIDs: round after round with the destination's bits shifted by one more. */
static void pair_paths(const struct ask *q, uint32_t src, uint32_t dst, unsigned max,
		       found_list *list)
{
	bool ruled;
	const struct level *l = find_level(q, src, dst, &ruled);
	const struct end *a = &fab->ends.v[src], *b = &fab->ends.v[dst];
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

static struct own_port sa_port;

static uint16_t own_lid(void)
{
	umad_port_t port;
	uint16_t lid;

	if (umad_get_port(NULL, 0, &port) < 0)
		die("no port");
	lid = (uint16_t)port.base_lid;
	umad_release_port(&port);
	return lid;
}

/* How an end is given: bits of GID and LID; and whether they name one and the same port. */
struct given_end {
	bool gid, lid;
	uint32_t by_gid, by_lid;	/* NONE: nobody's; of the view that is looked at */
	bool elsewhere;			/* the GID is another subnet's */
	uint64_t guid;
	uint16_t the_lid;
};

struct query {
	uint64_t nr;
	bool multi, one, selector;
	int group;			/* the destination; -1: none */
	unsigned n[2];			/* of a MultiPathRecord: sources, destinations */
	struct given_end g[6];
	struct ask q;
	uint8_t method;
	uint16_t attr;
	uint64_t mask;
	uint8_t data[SA_DATA_LEN];
	uint8_t *answer;		/* a MAD */
	size_t len;
	unsigned tries;
};
typedef void answered_fn(struct query *);	/* takes the query */

enum { WINDOW = 24, TRIES_MAX = 60 };
static struct query *outstanding[WINDOW];
static unsigned n_outstanding;
static uint64_t asked_again;

static void send_query(struct query *q, unsigned slot)
{
	static uint32_t turn;
	struct sa_mad m;

	if (++q->tries > TRIES_MAX)
		die("no answer");
	asked_again += q->tries > 1;
	/* a new one for each try: a late answer to an earlier try is dropped */
	q->nr = (q->nr & ~(0xffffffULL << 40)) | (uint64_t)(++turn & 0xffffff) << 40;
	sa_fill(&m, q->method, q->attr, (turn & 0xffffff) * (uint64_t)WINDOW + slot);
	m.sa.rmpp_hdr.rmpp_version = UMAD_RMPP_VERSION;
	m.sa.comp_mask = htobe64(q->mask);
	memcpy(m.sa.data, q->data, SA_DATA_LEN);
	outstanding[slot] = q;
	sa_send(&sa_port, &m, 500, 0);
}

static uint64_t number_of(const struct query *q)
{
	return q->nr & ((1ULL << 40) - 1);
}

static void post(struct query *q)
{
	for (unsigned i = 0; i < WINDOW; i++)
		if (!outstanding[i]) {
			n_outstanding++;
			send_query(q, i);
			return;
		}
	die("no place in the window");
}

/* Takes one answer, or repeats requests without an answer or with BUSY. */
static void take_answer(answered_fn *done)
{
	static uint8_t *umad;
	int length = ANSWER_MAX;
	const uint8_t *mad;
	uint32_t tid;
	struct query *q;

	if (!umad)
		umad = xmalloc(umad_size() + ANSWER_MAX);
	if (umad_recv(sa_port.fd, umad, &length, 10 * TIMEOUT_MS) < 0)
		die("nothing comes any more");
	mad = umad_get_mad(umad);
	tid = get_be32(mad + 12);
	q = outstanding[tid % WINDOW];
	if (!q || q->nr >> 40 != tid / WINDOW)
		return;
	if (umad_status(umad) || get_be16(mad + 4) == 1) {
		send_query(q, tid % WINDOW);
		return;
	}
	outstanding[tid % WINDOW] = NULL;
	n_outstanding--;
	q->answer = xmemdup(mad, (size_t)length + 1);
	q->len = (size_t)length;
	done(q);
}

static void free_query(struct query *q)
{
	free(q->answer);
	free(q);
}

/* --- multicast groups: the port's own --- */

enum { N_GROUPS_JOINED = 3 };
static struct umad_sa_mcmember_record joined[N_GROUPS_JOINED];
static unsigned n_joined;

static void take_join(struct query *q)
{
	if (get_be16(q->answer + 4))
		die("a join is refused");
	memcpy(&joined[n_joined++], q->answer + SA_HDR_LEN, sizeof(joined[0]));
	free_query(q);
}

/* From then on, paths to the group must have the values of this answer. */
static void join(unsigned group)
{
	static const uint8_t mgid[12] = { 0xff, 0x12, 0xa0, 0x1c };
	struct umad_sa_mcmember_record r = { .scope_state = 0x21 };
	struct query *q = xcalloc(1, sizeof(*q));

	memcpy(r.mgid, mgid, sizeof(mgid));
	put_be32(r.mgid + 12, (uint32_t)(fab->ends.v[fab->requester].number << 8 | group));
	put_be64(r.portgid, IB_DEFAULT_PREFIX);
	put_be64(r.portgid + 8, fab->ends.v[fab->requester].guid);
	put_be32((uint8_t *)&r.qkey, 0xb1b);
	put_be16((uint8_t *)&r.pkey, 0xffff);
	put_be32((uint8_t *)&r.sl_flow_hop, group * 77 << 8 | group * 3);
	q->method = UMAD_METHOD_SET;
	q->attr = UMAD_SA_ATTR_MCMEMBER_REC;
	/* MGID, PortGID, Q_Key, TClass, P_Key, SL, FlowLabel, HopLimit, JoinState */
	q->mask = 0x3 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 16;
	memcpy(q->data, &r, sizeof(r));
	post(q);
	while (n_outstanding)
		take_answer(take_join);
}

/* --- queries --- */

static uint64_t differ, answered, errors, empty, records;

static struct query *now;	/* that is judged */
static bool silent;		/* one view alone does not decide */
static bool differs;
static char *told;
static size_t told_len;
static FILE *tell;

static uint32_t some_end(void)
{
	return (uint32_t)rnd(fab->ends.n);
}

static uint16_t lid_of(uint32_t end)
{
	return (uint16_t)(fab->ends.v[end].lid + rnd(1u << fab->ends.v[end].lmc));
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
	fprintf(tell, "  %s: %zu\n", what, n);
	for (size_t i = 0; i < n && i < 6; i++) {
		fprintf(tell, "   ");
		for (size_t k = 0; k < 60; k++)
			fprintf(tell, "%s%02x", k % 4 ? "" : " ", ((const uint8_t *)&r[i])[k]);
		fprintf(tell, "\n");
	}
}

/* Sorted or as they come; a Get has one. */
static void compare_answer(const char *text, unsigned status, const found_list *want, bool one,
			   bool sorted)
{
	const uint8_t *mad = now->answer;
	size_t size = get_be16(mad + 44) * 8u, n = 0;
	unsigned got = get_be16(mad + 4);
	struct sa_path_record *a = xcalloc(want->n + 1, sizeof(*a)), *b = NULL;

	if (!got && size == sizeof(*b))
		n = one ? 1 : (now->len - SA_HDR_LEN) / size;
	b = xmemdup(mad + SA_HDR_LEN, n * sizeof(*b) + 1);
	for (size_t i = 0; i < want->n; i++)
		a[i] = want->v[i].r;
	if (sorted) {
		qsort(a, want->n, sizeof(*a), by_bytes);
		qsort(b, n, sizeof(*b), by_bytes);
	}
	differs = got != status || n != want->n || memcmp(a, b, n * sizeof(*a)) != 0;
	if (differs) {
		fprintf(tell, "%" PRIu64 " %s: status 0x%04x, should be 0x%04x\n",
			number_of(now), text, got, status);
		print_records("got", b, n);
		print_records("should be", a, want->n);
	}
	if (!silent) {
		errors += got != 0;
		empty += !got && !n;
		records += n;
		answered++;
	}
	free(a);
	free(b);
}

/* --- PathRecord --- */

static struct given_end make_end(bool source, bool may_be_open)
{
	struct given_end g = { .by_gid = some_end() };
	unsigned how = (unsigned)rnd(100);

	g.gid = how < 60;
	g.lid = how >= 50 && (how < 95 || !may_be_open);
	g.by_lid = g.gid && chance(90) ? g.by_gid : some_end();
	/* now and then one that may be down */
	g.guid = chance(2) ? all_guids.v[rnd(all_guids.n)] : fab->ends.v[g.by_gid].guid;
	g.the_lid = lid_of(g.by_lid);
	if (chance(1)) {
		g.guid = 0xdead0000 + rnd(100);
	}
	if (chance(1)) {
		g.the_lid = (uint16_t)(fab->top_lid + 1 + rnd(100));
	}
	if (chance(source ? 1 : 8)) {
		g.elsewhere = true;
		g.guid = rnd(1000) + 1;
	}
	return g;
}

/* The owners of the GID and the LID in this view. */
static void look_up(struct given_end *g)
{
	g->by_gid = map64_get(&fab->by_guid, g->guid);
	g->by_lid = fab->lid_owner[g->the_lid];
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
	uint16_t lid = q->dlid ? q->dlid : fab->ends.v[router].lid;

	return fab->ends.v[router].port->node->type == IB_NODE_ROUTER_T &&
	       fab->lid_owner[lid] == router &&
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
		uint32_t router = fab->lid_owner[get_be16(r->dlid)];

		if (fab->lid_owner[get_be16(r->slid)] == src &&
		    get_be64(r->dgid) == q->dst_prefix &&
		    get_be64(r->dgid + 8) == q->dst_guid &&
		    router != NONE && router_serves(q, src, router)) {
			pair_paths(q, src, router, max, list);
			return;
		}
	}
	guessed = true;
	for (uint32_t router = 0; router < fab->ends.n; router++) {
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

static void make_path_query(struct query *x)
{
	bool one = chance(65);
	/* queries with both ends open give many records: rare, and never a million */
	bool open = !one && chance(10);
	struct given_end from = make_end(true, one || open);
	struct given_end to = make_end(false, one || (open && fab->ends.n < 300 && chance(3)));
	struct ask q = { .has = 0 };
	struct sa_path_record r = { .preference = (uint8_t)rnd(256) };

	if (!from.gid && !from.lid && !to.gid && !to.lid && (!chance(2) || fab->ends.n > 300))
		to.gid = true;
	x->group = n_joined && chance(2) ? (int)rnd(n_joined) : -1;
	if (x->group >= 0) {
		to.gid = true;
		to.elsewhere = false;
		to.lid = chance(20);
		if (to.lid && chance(70))
			to.the_lid = get_be16((uint8_t *)&joined[x->group].mlid);
		if (chance(60)) {
			from.elsewhere = false;
			from.guid = fab->ends.v[fab->requester].guid;
			from.the_lid = lid_of(fab->requester);
		}
	}
	make_criteria(&q);
	q.slid = from.lid ? from.the_lid : 0;
	q.dlid = to.lid ? to.the_lid : 0;
	q.has |= (from.gid ? PR_SGID : 0u) | (from.lid ? PR_SLID : 0u) |
		 (to.gid ? PR_DGID : 0u) | (to.lid ? PR_DLID : 0u);
	put_gid(r.sgid, &from);
	put_gid(r.dgid, &to);
	if (x->group >= 0)
		memcpy(r.dgid, joined[x->group].mgid, 16);
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
	x->one = one;
	x->g[0] = from;
	x->g[1] = to;
	x->q = q;
	x->method = one ? UMAD_METHOD_GET : UMAD_SA_METHOD_GET_TABLE;
	x->attr = UMAD_SA_ATTR_PATH_REC;
	x->mask = q.has | 1 << 7 | 1ull << 40;
	memcpy(x->data, &r, sizeof(r));
}

static bool meets(unsigned scale, unsigned sel, unsigned asked, unsigned code)
{
	int c = compare(scale, code, asked);

	return sel == 0 ? c > 0 : sel == 1 ? c < 0 : sel == 2 ? c == 0 : true;
}

/* The paths of a member, which is this port alone, to a group: as the join promised. */
static void group_paths(const struct ask *q, const struct umad_sa_mcmember_record *m,
			found_list *list)
{
	uint32_t sl_flow_hop = get_be32((const uint8_t *)&m->sl_flow_hop);
	unsigned codes[3] = { m->mtu & 63u, m->rate & 63u, m->pkt_life & 63u };
	unsigned pkey = get_be16((const uint8_t *)&m->pkey), sl = sl_flow_hop >> 28;
	unsigned flow = sl_flow_hop >> 8 & 0xfffff, hop = sl_flow_hop & 0xff;
	unsigned mlid = get_be16((const uint8_t *)&m->mlid);
	const struct end *e = &fab->ends.v[fab->requester];
	struct sa_path_record *r;

	if ((given(q, PR_PKEY) && (q->pkey ^ pkey) & 0x7fff) || (q->dlid && q->dlid != mlid) ||
	    (given(q, PR_RAW) && q->raw) || (given(q, PR_FLOW) && q->flow != flow) ||
	    (given(q, PR_HOP) && q->hop != hop) ||
	    (given(q, PR_TCLASS) && q->tclass != fab->group_tclass) ||
	    (given(q, PR_SL) && q->sl != sl))
		return;
	for (unsigned i = 0; i < 3; i++)
		if (given(q, selector_bits[i]) && !meets(i, q->sel[i], q->code[i], codes[i]))
			return;
	memset(vec_push(list), 0, sizeof(*list->v));
	r = &list->v[list->n - 1].r;
	if (given(q, 3))
		put_be64(r->service_id, q->id);
	memcpy(r->dgid, m->mgid, 16);
	put_be64(r->sgid, IB_DEFAULT_PREFIX);
	put_be64(r->sgid + 8, e->guid);
	put_be16(r->slid, q->slid ? q->slid : e->lid);
	put_be16(r->dlid, (uint16_t)mlid);
	put_be32(r->hop_flow_raw, flow << 8 | hop);
	r->tclass = fab->group_tclass;
	r->num_path = (uint8_t)((given(q, PR_REVERSIBLE) && q->reversible) << 7 | 1);
	put_be16(r->pkey, (uint16_t)(given(q, PR_PKEY) ? q->pkey : pkey));
	put_be16(r->qos_class_sl, (uint16_t)((given(q, PR_QOS_CLASS) ? q->class << 4 : 0) | sl));
	r->mtu = (uint8_t)(0x80 | codes[0]);
	r->rate = (uint8_t)(0x80 | codes[1]);
	r->life = (uint8_t)(0x80 | codes[2]);
}

static void judge_path(struct query *x)
{
	struct given_end from = x->g[0], to = x->g[1];
	struct ask q = x->q;
	bool one = x->one;
	found_list want = { 0 };
	uint32_t src = NONE, dst = NONE;
	unsigned status, max;
	char text[160];

	look_up(&from);
	look_up(&to);
	status = check(&q);
	if (!status)
		status = end_status(&from, &src);
	if (!status && one && src == NONE)
		status = IB_SA_INSUFFICIENT_COMPONENTS;
	if (status || x->group >= 0) {
		if (!status && (src == NONE || src == fab->requester) &&
		    (one || !given(&q, PR_NUMB_PATH) || q.num))
			group_paths(&q, &joined[x->group], &want);
	} else if (to.gid && to.elsewhere) {
		q.dst_prefix = ELSEWHERE;
		q.dst_guid = to.guid;
		status = to.lid && to.by_lid == NONE ? IB_SA_NO_RECORDS : 0;
	} else {
		status = end_status(&to, &dst);
	}
	if (!status && x->group < 0 && one && dst == NONE && !q.dst_prefix)
		status = IB_SA_INSUFFICIENT_COMPONENTS;
	max = one ? 1 : given(&q, PR_NUMB_PATH) ? q.num : UINT32_MAX;
	for (uint32_t i = 0; !status && x->group < 0 && max && i < fab->ends.n; i++) {
		if (src != NONE && src != i)
			continue;
		if (q.dst_prefix)
			router_paths(&q, i, max, x->answer, x->len, one, &want);
		for (uint32_t k = 0; !q.dst_prefix && k < fab->ends.n; k++)
			if (dst == NONE || dst == k)
				pair_paths(&q, i, k, max, &want);
	}
	if (!status && one && !want.n)
		status = IB_SA_NO_RECORDS;
	if (status == IB_SA_NO_RECORDS && !one)
		status = 0;
	snprintf(text, sizeof(text), "%s src %d dst %d group %d mask 0x%" PRIx64,
		 one ? "get" : "table", (int)src, (int)dst, x->group, q.has);
	compare_answer(text, status, &want, one, !one);
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

	for (uint32_t end = 0; end < fab->ends.n; end++)
		n += (a->src == end || a->dst == end) && (b->src == end || b->dst == end);
	return 1000u * n + shared(&a->parts, &b->parts);
}

/* Notes all; how many were there. */
static unsigned add_parts(struct map64 *all, const struct parts *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n; i++)
		n += map64_put(all, p->v[i], 1) != MAP64_NONE;
	return n;
}

/* The same paths in another order: those with the least in common first, with their Preference. */
static const char *judge_independence(const uint8_t *mad, size_t len, const found_list *all,
				      unsigned max, struct map64 *used)
{
	size_t n = (len - SA_HDR_LEN) / sizeof(struct sa_path_record);
	const struct found *two[2] = { NULL, NULL };
	unsigned least = UINT32_MAX;

	if (!silent)
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
		unsigned preference = add_parts(used, &f->parts);

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

static void make_multi_query(struct query *x)
{
	union {
		struct sa_multipath_record r;
		uint8_t bytes[SA_DATA_LEN];
	} m;
	unsigned n[2] = { 1 + (unsigned)rnd(3), 1 + (unsigned)rnd(3) };
	bool apm_shape = chance(25), selector = chance(40);
	struct given_end g[6];
	struct ask q = { .has = 0 };

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
	x->multi = true;
	x->selector = selector;
	x->group = -1;
	memcpy(x->n, n, sizeof(n));
	memcpy(x->g, g, (n[0] + n[1]) * sizeof(*g));
	x->q = q;
	x->method = UMAD_SA_METHOD_GET_MULTI;
	x->attr = UMAD_SA_ATTR_MULTI_PATH_REC;
	x->mask = multi_mask(q.has) | MPR_SGID_COUNT | MPR_DGID_COUNT | MPR_INDEPENDENCE;
	memcpy(x->data, &m, sizeof(m));
}

static void judge_multi(struct query *x)
{
	const uint8_t *mad = x->answer;
	size_t len = x->len, left[2] = { 0, 0 };
	const unsigned *n = x->n;
	struct given_end *g = x->g, distinct[2][3];
	struct ask q = x->q;
	bool independent;
	found_list want = { 0 };
	unsigned status, max;

	for (unsigned i = 0; i < n[0] + n[1]; i++)
		look_up(&g[i]);
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
	independent = max > 1 && (x->selector || (given(&q, PR_NUMB_PATH) && q.num == 2 &&
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
		struct map64 used;
		const char *wrong;

		map64_init(&used, 64);
		wrong = judge_independence(mad, len, &want, max, &used);
		map64_free(&used);
		if (!silent)
			answered++;
		differs = wrong;
		if (wrong)
			fprintf(tell, "%" PRIu64 " multi, independent, %zu of %zu: %s\n",
				number_of(x), (len - SA_HDR_LEN) / 64, want.n, wrong);
	} else {
		compare_answer("multi", status, &want, false, false);
	}
	vec_free(&want);
}

/* --- one view, and what happens between two --- */

static uint64_t seed, next_number;
static bool talks;		/* a sample of Gets' answers goes to standard output */

static struct query *make_query(void)
{
	struct query *x = xcalloc(1, sizeof(*x));

	x->nr = next_number++;
	state = seed << 32 ^ hash64(x->nr + 1);
	if (chance(70))
		make_path_query(x);
	else
		make_multi_query(x);
	return x;
}

/* Judges by the present view; false: a wrong answer. */
static bool agrees(struct query *x, bool last)
{
	now = x;
	silent = !last;
	differs = false;
	rewind(tell);
	if (x->multi)
		judge_multi(x);
	else
		judge_path(x);
	fflush(tell);
	return !differs;
}

static void show_walk(const struct query *x)
{
	const struct sa_path_record *r = (const void *)(x->answer + SA_HDR_LEN);

	if (talks && x->one && !x->multi && x->group < 0 && !get_be16(x->answer + 4) &&
	    get_be64(r->dgid) == IB_DEFAULT_PREFIX && number_of(x) % 64 < 3)
		printf("walk 0x%016" PRIx64 " 0x%016" PRIx64 " %u\n", get_be64(r->sgid + 8),
		       get_be64(r->dgid + 8), get_be16(r->qos_class_sl) & 0xfu);
}

static void judge_now(struct query *x)
{
	if (!agrees(x, true)) {
		differ++;
		printf("%.*s", (int)ftell(tell), told);
	}
	show_walk(x);
	free_query(x);
}

static VEC(struct query *) kept;

static void keep(struct query *x)
{
	*vec_push(&kept) = x;
}

static void ask_some(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		post(make_query());
		while (n_outstanding == WINDOW)
			take_answer(judge_now);
	}
	while (n_outstanding)
		take_answer(judge_now);
}

/* Goes on until there is input on standard input. */
static void ask_meanwhile(uint64_t max)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };

	for (uint64_t i = 0; i < max && !poll(&in, 1, 0); i++) {
		post(make_query());
		while (n_outstanding == WINDOW)
			take_answer(keep);
	}
	while (n_outstanding)
		take_answer(keep);
}

static void free_view(struct view *p)
{
	for (size_t i = 0; i < p->ends.n; i++)
		vec_free(&p->ends.v[i].pkeys);
	for (size_t s = 0; s < p->switches.n; s++)
		free(p->lfts[s]);
	for (unsigned g = 0; g < N_GROUPS; g++)
		free(p->policy.group[g]);
	free(p->lfts);
	vec_free(&p->ends);
	vec_free(&p->switches);
	vec_free(&p->routes);
	vec_free(&p->pool);
	map64_free(&p->by_guid);
	map64_free(&p->switch_numbers);
	map64_free(&p->sl_masks);
	map64_free(&p->part_numbers);
	map64_free(&p->route_numbers);
	ibnd_destroy_fabric(p->f);
	free(p);
}

/* The answers of meanwhile: of the view before or of this one, each as a whole. */
static uint64_t of_before, of_after, of_both, forgotten;

static void take_view(uint64_t policy_seed)
{
	struct view *before = fab, *after = xcalloc(1, sizeof(*after));

	fab = after;
	discover();
	make_policy(policy_seed);
	read_tables();
	fab->requester = fab->lid_owner[own_lid()];
	if (fab->requester == NONE)
		die("this port was not found");
	/* a group goes by its partition's level, or by its maker, who asked for 0 */
	fab->group_tclass = fab->policy.levels[0].tclass >= 0 ?
			    (uint8_t)fab->policy.levels[0].tclass : 0;
	for (size_t i = 0; i < kept.n; i++) {
		struct query *x = kept.v[i];
		bool old, new;

		fab = before;
		old = agrees(x, true);
		if (!old)
			fprintf(tell, "  by the view before; by the one after:\n");
		fflush(tell);
		char *was = xstrndup(told, (size_t)ftell(tell));
		fab = after;
		new = agrees(x, false);
		of_before += old && !new;
		of_after += new && !old;
		of_both += new && old;
		if (!old && !new) {
			differ++;
			printf("%s%.*s", was, (int)ftell(tell), told);
		}
		free(was);
		free_query(x);
	}
	kept.n = 0;
	fab = after;
	if (before)
		free_view(before);
}

/* Other states may have been published between the two views: not judged. */
static void forget(void)
{
	for (size_t i = 0; i < kept.n; i++)
		free_query(kept.v[i]);
	forgotten += kept.n;
	kept.n = 0;
}

/*
 * Orders on standard input, each answered with "done": view SEED; ask N;
 * meanwhile N (queries until the next order, at most N, judged with the next
 * view); forget 0 (those of meanwhile); end.
 */
static void live(void)
{
	char word[32];
	uint64_t n;

	/* poll() and scanf() see the same then */
	setvbuf(stdin, NULL, _IONBF, 0);
	talks = true;
	while (scanf("%31s %" SCNu64, word, &n) == 2) {
		if (strcmp(word, "view") == 0) {
			take_view(n);
			while (n_joined < N_GROUPS_JOINED)
				join(n_joined);
		} else if (strcmp(word, "ask") == 0) {
			ask_some(n);
		} else if (strcmp(word, "forget") == 0) {
			forget();
		} else if (strcmp(word, "meanwhile") == 0) {
			while (getchar() != '\n')
				;
			printf("asking\n");
			fflush(stdout);
			ask_meanwhile(n);
		} else {
			break;
		}
		printf("done\n");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	uint64_t n;

	if (argc < 3)
		die("usage: pathref policy SEED | ask SEED N [FIRST] | live SEED");
	seed = strtoull(argv[2], NULL, 0);
	if (umad_init() < 0)
		die("no library");
	tell = open_memstream(&told, &told_len);
	if (strcmp(argv[1], "policy") == 0) {
		fab = xcalloc(1, sizeof(*fab));
		discover();
		if (fab->ends.n < N_GROUPS)
			die("too small a fabric");
		out = stdout;
		make_policy(seed);
		return 0;
	}
	n = argc > 3 ? strtoull(argv[3], NULL, 0) : 1000;
	next_number = argc > 4 ? strtoull(argv[4], NULL, 0) : 0;
	own_port_open_sa(&sa_port, UMAD_RMPP_VERSION);
	if (strcmp(argv[1], "live") == 0) {
		live();
	} else {
		take_view(seed);
		ask_some(n);
	}
	printf("%" PRIu64 " answers with %" PRIu64 " records, %" PRIu64 " empty, %" PRIu64
	       " refused; %" PRIu64 " differ\n", answered, records, empty, errors, differ);
	if (strcmp(argv[1], "live") == 0)
		printf("during changes: %" PRIu64 " as before, %" PRIu64 " as after, %" PRIu64
		       " as both, %" PRIu64 " not judged; %" PRIu64 " asked again\n",
		       of_before, of_after, of_both, forgotten, asked_again);
	return differ != 0;
}
