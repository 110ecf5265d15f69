/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What multicast costs where each host has a group of its own, as with IPv6 (its solicited-node
 * group): CPU time to make a group and join it, and to leave it, as their number grows beyond that
 * of the MLIDs; and what a local change costs the trees of a fat tree of 1,620 switches.
 *
 *   bench_mcast [GROUPS [MLIDS]]
 *
 * Instructions instead of time, where the machine does not count them:
 *   valgrind --tool=callgrind --toggle-collect=mcast_create bench_mcast
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "routing/multicast/mcast_tree.h"
#include "routing/updn/order.h"
#include "sa/registry/groups.h"
#include "unit/routing/topo.h"

#define STEP 1000

/* --- groups --- */

static uint64_t guid_of(unsigned host)
{
	return 0x0002c90300000000ull + hash64(host) % 0x1000000 * 16;
}

/* ff12:601b:ffff::1:ff00:0 and 24 bits of the interface's address (RFC 4291, RFC 4391). */
static struct mcast_group solicited_node(unsigned host)
{
	struct mcast_group g = { .qkey = 0x0b1b, .pkey = 0xffff, .mtu = 4, .rate = 3 };

	g.mgid[0] = 0xff;
	g.mgid[1] = 0x12;
	put_be16(g.mgid + 2, 0x601b);
	put_be16(g.mgid + 4, 0xffff);
	g.mgid[11] = 1;
	put_be32(g.mgid + 12, 0xff000000u | (uint32_t)(hash64(host) & 0xffffff));
	return g;
}

static void ignore(void *arg)
{
	(void)arg;
}

static void take_changes(struct mcast_db *db)
{
	struct mcast_change c;

	while (mcast_next_change(db, &c))
		;
}

static void bench_groups(unsigned groups, unsigned mlids)
{
	struct mcast_db *db = mcast_new(ignore, NULL);
	double start = 0, worst = 0;

	printf("%u groups on %u MLIDs, each with one member\n", groups, mlids);
	for (unsigned i = 0; i < groups; i++) {
		struct mcast_group like = solicited_node(i), *g;
		double began = cpu_us(), took;

		if (i % STEP == 0)
			start = began;
		g = mcast_create(db, &like, mlids);
		if (g)
			mcast_join(db, g, mcast_own_gid(guid_of(i)), JOIN_FULL, false);
		took = cpu_us() - began;
		worst = took > worst ? took : worst;
		if (i % STEP != STEP - 1)
			continue;
		if (i / STEP % 8 == 0 || i + STEP >= groups)
			printf("  group %6u to %6u: made and joined in %.2f us of CPU each\n",
			       i + 1 - STEP, i, (cpu_us() - start) / STEP);
		take_changes(db);
	}
	printf("  longest %.0f us\n", worst);
	start = cpu_us();
	for (unsigned i = 0; i < groups; i++) {
		struct mcast_group like = solicited_node(i), *g = mcast_find(db, like.mgid);

		if (g)
			mcast_leave(db, g, mcast_own_gid(guid_of(i)), JOIN_FULL);
		if (i % STEP == 0)
			take_changes(db);
	}
	printf("  left and gone in %.2f us of CPU each\n", (cpu_us() - start) / groups);
	mcast_free(db);
}

/* --- trees --- */

struct trees {
	struct mcast_forest *w;
	struct updn_order *o;
	VEC(struct mcast_tree *) v;
};

/* A tree for each MLID: so many hosts of the fabric that share it. */
static void make_trees(struct trees *t, const struct fabric *f, unsigned n, unsigned members)
{
	uint32_t *load = xcalloc(f->n_switches + 1u, sizeof(*load)), end = 0;
	uint32_t *ends = xcalloc(f->n_ports, sizeof(*ends));
	struct mcast_member_port *list = xcalloc(members, sizeof(*list));

	t->o = updn_order_new(f);
	t->w = mcast_forest_new(t->o, NULL);
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (port_is_host(f, p))
			ends[end++] = p;
	for (unsigned k = 0; k < n; k++) {
		bool legal;

		for (unsigned i = 0; i < members; i++)
			list[i] = (struct mcast_member_port){
				ends[hash64(k * 64ull + i) % end], MCAST_SENDS | MCAST_RECEIVES };
		uint32_t root = mcast_choose_root(t->w, list, members, load, FABRIC_NONE, &legal);
		struct mcast_tree *tree = mcast_tree_new(t->w, root, k);

		load[root]++;
		for (unsigned i = 0; i < members; i++)
			mcast_tree_set(tree, list[i].port, list[i].role);
		tree->touched.n = 0;
		*vec_push(&t->v) = tree;
	}
	free(list);
	free(ends);
	free(load);
}

static void free_trees(struct trees *t)
{
	for (size_t i = 0; i < t->v.n; i++)
		mcast_tree_free(t->v.v[i]);
	vec_free(&t->v);
	mcast_forest_free(t->w);
	updn_order_free(t->o);
}

/* Cuts one link, and takes over the trees that stay. */
static void bench_change(const struct trees *t, const struct fabric *f, uint32_t port,
			 const char *what)
{
	struct fabric *g = fabric_clone(f), *h;
	uint64_t ends[2] = { port_node(f, port)->guid, port_node(f, f->ports[port].peer)->guid };
	struct buf err = { 0 };
	uint8_t *changed;
	size_t moved = 0;
	double start;

	fabric_cut(g, port);
	h = fabric_settle(g, &err);
	changed = xcalloc(h->n_nodes, 1);
	for (uint32_t i = 0; i < h->n_nodes; i++)
		changed[i] = h->nodes[i].guid == ends[0] || h->nodes[i].guid == ends[1];
	struct updn_order *o = updn_order_new(h);

	start = cpu_us();
	struct mcast_forest *w = mcast_forest_new(o, NULL);
	struct mcast_move *move = mcast_move_new(t->w, w, changed);

	for (size_t i = 0; i < t->v.n; i++)
		moved += mcast_tree_move(move, t->v.v[i]);
	printf("  %s is gone: %zu trees stay, %zu are to be made anew; found in %.0f ms of CPU\n",
	       what, moved, t->v.n - moved, (cpu_us() - start) * 1e-3);
	mcast_move_free(move);
	for (size_t i = 0; i < t->v.n; i++)
		mcast_tree_free(t->v.v[i]);
	mcast_forest_free(w);
	updn_order_free(o);
	free(changed);
	fabric_free(h);
	fabric_free(g);
	buf_free(&err);
}

static void bench_trees(unsigned n, unsigned members)
{
	struct fat p = { .pods = 36, .leaves = 18, .hosts = 18, .aggs = 18, .width = 1, .spines = 18 };
	static const char *const what[] = { "a host", "a link of a leaf", "a link of the top" };
	struct topo t;

	fat_topo(&t, &p, 0);
	const uint32_t links[] = { t.f->nodes[p.leaf[7]].port0 + 3,
				   t.f->nodes[p.leaf[7]].port0 + 20,
				   t.f->nodes[p.spine[9]].port0 + 4 };

	for (unsigned i = 0; i < ARRAY_SIZE(links); i++) {
		struct trees all = { 0 };
		double start = cpu_us();

		make_trees(&all, t.f, n, members);
		if (i == 0)
			printf("%u trees of %u members on %u switches: made in %.0f ms of CPU\n",
			       n, members, t.f->n_switches, (cpu_us() - start) * 1e-3);
		bench_change(&all, t.f, links[i], what[i]);
		all.v.n = 0;		/* freed with it */
		free_trees(&all);
	}
	topo_free(&t);
	fat_free(&p);
}

int main(int argc, char **argv)
{
	unsigned groups = argc > 1 ? (unsigned)atoi(argv[1]) : 48000;
	unsigned mlids = argc > 2 ? (unsigned)atoi(argv[2]) : 4096;

	bench_groups(groups, mlids);
	bench_trees(mlids, (groups + mlids - 1) / mlids);
	return 0;
}
