/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the group database: order, MLIDs, joining and leaving, the policy's groups. */
#include <check.h>
#include <stdlib.h>

#include "lib/base/bytes.h"
#include "lib/iba/mgid.h"
#include "plan/published_state.h"
#include "sa/registry/alias.h"
#include "sa/registry/groups.h"
#include "sa/registry/holdings.h"
#include "unit/plan/net.h"
#include "unit/run.h"

static const uint8_t broadcast[16] = {
	0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
};

static struct settings *settings;
static unsigned changes;

static void count_change(void *arg)
{
	ck_assert_ptr_eq(arg, &changes);
	changes++;
}

static struct mcast_db *new_db(void)
{
	changes = 0;
	return mcast_new(count_change, &changes);
}

static struct mcast_group *make_like(struct mcast_db *db, unsigned last_byte, struct mcast_group g)
{
	g.mgid[0] = 0xff;
	g.mgid[1] = 0x12;
	g.mgid[15] = (uint8_t)last_byte;
	return mcast_create(db, &g, 8);
}

static struct mcast_group *make(struct mcast_db *db, unsigned last_byte, uint16_t mlid)
{
	return make_like(db, last_byte, (struct mcast_group){ .mlid = mlid });
}

/* Capabilities of the CA of make_state() and its link, and the load time of the policy. */
static uint8_t host_mtu, host_rate;
static int64_t loaded_us;

static struct subnet_state *make_state(struct policy *p, uint64_t generation)
{
	struct subnet_state *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	s->generation = generation;
	s->f = fabric_new();
	uint32_t ca = net_ca(s->f, 0x10, 1), sw = net_switch(s->f, 0x100, 4, false);
	fabric_link(s->f, ca, 1, sw, 1);
	net_finish(s->f);
	for (uint32_t i = 0; i < s->f->n_ports && host_mtu; i++) {
		s->f->ports[i].mtu_cap = s->f->ports[i].neighbor_mtu = host_mtu;
		s->f->ports[i].rate = host_rate;
	}
	s->policy = shared_policy_new(p);
	s->policy->loaded_us = loaded_us;
	s->plan = plan_compute(s->f, p, settings, NULL, NULL, NULL);
	return s;
}

START_TEST(groups_are_in_order_and_found)
{
	static const uint8_t bytes[] = { 7, 3, 9, 1, 200, 4 };
	struct mcast_db *db = new_db();

	for (unsigned i = 0; i < sizeof(bytes); i++)
		ck_assert_uint_eq(make(db, bytes[i], 0)->mlid, 0xc000 + i);
	ck_assert_uint_eq(mcast_count(db), sizeof(bytes));
	for (size_t i = 1; i < mcast_count(db); i++)
		ck_assert_int_lt(mcast_at(db, i - 1)->mgid[15], mcast_at(db, i)->mgid[15]);
	for (size_t i = 0; i < mcast_count(db); i++)
		ck_assert_ptr_eq(mcast_find(db, mcast_at(db, i)->mgid), mcast_at(db, i));
	ck_assert_ptr_null(mcast_find(db, broadcast));
	ck_assert_ptr_null(make(db, 7, 0));	/* there already */
	mcast_free(db);
}
END_TEST

START_TEST(mlids_run_out_and_come_back)
{
	struct mcast_db *db = new_db();
	static const struct mcast_group other = { .pkey = 0x8001 };

	for (unsigned i = 0; i < 8; i++)
		ck_assert_ptr_nonnull(make(db, i, 0));
	ck_assert_uint_eq(mcast_usage(db).refused, 0);
	ck_assert_ptr_null(make_like(db, 8, other));
	ck_assert_uint_eq(mcast_usage(db).refused, 1);
	struct mcast_group *g = mcast_find(db, mcast_at(db, 3)->mgid);
	mcast_join(db, g, mcast_own_gid(1), JOIN_FULL, false);
	mcast_leave(db, g, mcast_own_gid(1), JOIN_FULL);
	ck_assert_uint_eq(make_like(db, 8, other)->mlid, 0xc003);
	mcast_free(db);
}
END_TEST

/* Only what leaves packets alike on the wire; with the fewest members of those. */
START_TEST(mlids_are_shared_when_they_run_out)
{
	static const struct mcast_group base = {
		.pkey = 0xffff, .mtu = 4, .rate = 3, .sl = 1, .qkey = 7, .tclass = 1,
	};
	struct mcast_group unlike[4] = { base, base, base, base }, like = base;
	struct mcast_db *db = new_db();

	for (unsigned i = 0; i < 8; i++)
		mcast_join(db, make_like(db, i, base), mcast_own_gid(10), JOIN_FULL, false);
	for (unsigned i = 0; i < 8; i++)
		if (i != 5)
			mcast_join(db, mcast_find(db, mcast_at(db, i)->mgid),
				   mcast_own_gid(11), JOIN_FULL, false);
	unlike[0].pkey = 0x8001;
	unlike[1].mtu = 3;
	unlike[2].rate = 2;
	unlike[3].sl = 0;
	for (unsigned i = 0; i < 4; i++)
		ck_assert_ptr_null(make_like(db, 100 + i, unlike[i]));
	like.qkey = 8;
	like.tclass = 2;
	struct mcast_group *g = make_like(db, 100, like);
	ck_assert_ptr_nonnull(g);
	ck_assert_uint_eq(g->mlid, 0xc005);
	ck_assert_uint_eq(mcast_usage(db).sharing, 1);
	ck_assert_uint_eq(mcast_usage(db).mlids, 8);
	like.mlid = 0xc006;			/* a requested MLID is not shared */
	ck_assert_ptr_null(make_like(db, 101, like));
	/* members of either are members of the MLID */
	mcast_join(db, g, mcast_own_gid(20), JOIN_FULL, false);
	mcast_join(db, g, mcast_own_gid(10), JOIN_SEND_ONLY_NON, false);
	ck_assert_uint_eq(mcast_role(db, 0xc005, 20), JOIN_FULL);
	ck_assert_uint_eq(mcast_role(db, 0xc005, 10), JOIN_FULL | JOIN_SEND_ONLY_NON);
	ck_assert_uint_eq(mcast_role(db, 0xc005, 30), 0);
	/* one group ends, and the other keeps the MLID */
	mcast_leave(db, g, mcast_own_gid(20), JOIN_FULL);
	ck_assert_uint_eq(mcast_usage(db).sharing, 0);
	ck_assert_uint_eq(mcast_role(db, 0xc005, 10), JOIN_FULL);
	ck_assert_ptr_null(mcast_of_mlid(db, 0xc005)->sharer);
	mcast_free(db);
}
END_TEST

START_TEST(freed_mlids_are_used_again_late)
{
	struct mcast_db *db = new_db();
	uint16_t last = 0;

	make(db, 200, 0);
	for (unsigned i = 0; i < 7; i++) {
		struct mcast_group *g = make(db, 100, 0);

		ck_assert_uint_eq(g->mlid, 0xc001 + i);
		last = g->mlid;
		mcast_set_root(db, last, 0x55);
		mcast_join(db, g, mcast_own_gid(1), JOIN_FULL, false);
		mcast_leave(db, g, mcast_own_gid(1), JOIN_FULL);
	}
	ck_assert_uint_eq(mcast_root(db, last), 0);	/* the next group with the MLID starts afresh */
	ck_assert_uint_eq(make(db, 100, 0)->mlid, 0xc001);	/* released first, so used first */
	mcast_free(db);
}
END_TEST

START_TEST(changes_are_told_once)
{
	struct mcast_db *db = new_db();
	struct mcast_group *g = make(db, 1, 0);
	struct mcast_change c;

	mcast_join(db, g, mcast_own_gid(5), JOIN_FULL, false);
	mcast_join(db, g, mcast_own_gid(5), JOIN_FULL, false);		/* nothing new */
	ck_assert(mcast_next_change(db, &c));
	ck_assert_uint_eq(c.mlid, 0xc000);
	ck_assert_uint_eq(c.guid, 0);
	ck_assert(mcast_next_change(db, &c));
	ck_assert_uint_eq(c.guid, 5);
	ck_assert(!mcast_next_change(db, &c));
	/* too many changes count as one change of everything */
	for (uint32_t i = 0; i <= 1u << 16; i++)
		mcast_join(db, g, mcast_own_gid(100 + i), JOIN_FULL, false);
	ck_assert(mcast_next_change(db, &c));
	ck_assert_uint_eq(c.mlid, 0);
	ck_assert(!mcast_next_change(db, &c));
	mcast_free(db);
}
END_TEST

static struct mcast_gid alias_of(uint64_t port, uint64_t alias)
{
	return (struct mcast_gid){ port, alias };
}

/* GIDs of one port join and leave independently; the port's membership is their union. */
START_TEST(gids_of_a_port_are_members)
{
	static const struct mcast_gid order[] = {
		{ 20, 20 }, { 20, 7 }, { 20, 99 }, { 30, 2 }, { 40, 40 },
	};
	struct mcast_db *db = new_db();
	struct mcast_group *g = make(db, 1, 0);
	struct mcast_change c;
	struct mcast_gid at = { 0 };
	const struct mcast_member *m;
	size_t n;

	mcast_join(db, g, alias_of(20, 99), JOIN_FULL, false);
	mcast_join(db, g, mcast_own_gid(40), JOIN_FULL, false);
	mcast_join(db, g, alias_of(20, 7), JOIN_SEND_ONLY_NON, true);
	mcast_join(db, g, alias_of(30, 2), JOIN_NON, false);
	mcast_join(db, g, mcast_own_gid(20), JOIN_NON, false);
	ck_assert_uint_eq(g->members.n, ARRAY_SIZE(order));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		m = mcast_member_after(g, at);
		ck_assert_ptr_eq(m, &g->members.v[i]);
		ck_assert_uint_eq(m->gid.port, order[i].port);
		ck_assert_uint_eq(m->gid.guid, order[i].guid);
		ck_assert_ptr_eq(mcast_member(g, order[i]), m);
		at = m->gid;
	}
	ck_assert_ptr_null(mcast_member_after(g, at));
	ck_assert_uint_eq(mcast_member_after(g, alias_of(20, 50))->gid.guid, 99);
	ck_assert_ptr_null(mcast_member(g, alias_of(30, 99)));
	ck_assert_ptr_null(mcast_member(g, mcast_own_gid(30)));
	ck_assert_ptr_eq(mcast_members_of_port(g, 20, &n), &g->members.v[0]);
	ck_assert_uint_eq(n, 3);
	ck_assert_ptr_eq(mcast_members_of_port(g, 30, &n), &g->members.v[3]);
	ck_assert_uint_eq(n, 1);
	ck_assert_ptr_null(mcast_members_of_port(g, 35, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_uint_eq(mcast_role(db, g->mlid, 20), JOIN_FULL | JOIN_NON | JOIN_SEND_ONLY_NON);
	ck_assert_uint_eq(mcast_role(db, g->mlid, 99), 0);

	while (mcast_next_change(db, &c))
		;
	ck_assert_uint_eq(mcast_leave(db, g, alias_of(20, 99), JOIN_FULL), 0);
	ck_assert_ptr_null(mcast_member(g, alias_of(20, 99)));
	ck_assert_uint_eq(mcast_role(db, g->mlid, 20), JOIN_NON | JOIN_SEND_ONLY_NON);
	ck_assert(mcast_member(g, alias_of(20, 7))->proxy);
	ck_assert(!mcast_member(g, mcast_own_gid(20))->proxy);
	/* it is the port that trees are made for */
	ck_assert(mcast_next_change(db, &c));
	ck_assert_uint_eq(c.guid, 20);
	ck_assert(!mcast_next_change(db, &c));
	mcast_free(db);
}
END_TEST

START_TEST(an_alias_goes)
{
	struct mcast_db *db = new_db();
	struct alias_db *aliases = alias_new();
	struct mcast_group *g[4];

	for (unsigned i = 0; i < ARRAY_SIZE(g); i++) {
		g[i] = make(db, i + 1, 0);
		mcast_join(db, g[i], alias_of(20, 7), JOIN_FULL | JOIN_NON, false);
	}
	mcast_join(db, g[1], mcast_own_gid(20), JOIN_FULL, false);
	mcast_join(db, g[2], alias_of(20, 8), JOIN_FULL, false);
	mcast_gid_gone(db, alias_of(30, 7));		/* not that port's */
	ck_assert_uint_eq(mcast_count(db), 4);
	mcast_gid_gone(db, alias_of(20, 7));
	ck_assert_uint_eq(mcast_count(db), 2);		/* two had no other full member */
	ck_assert_uint_eq(g[1]->members.n, 1);
	ck_assert_ptr_nonnull(mcast_member(g[1], mcast_own_gid(20)));
	ck_assert_uint_eq(g[2]->members.n, 1);

	/* read from disk: GUID 8 now belongs to another port, 9 still to this one, 6 to none */
	mcast_join(db, g[2], alias_of(20, 9), JOIN_NON, false);
	g[0] = make(db, 9, 0);
	mcast_join(db, g[0], alias_of(20, 8), JOIN_FULL, false);
	mcast_join(db, g[0], alias_of(20, 6), JOIN_NON, false);	/* goes with the group */
	mcast_join(db, g[1], alias_of(20, 6), JOIN_FULL, false);
	alias_put(aliases, 30, 1, 8);
	alias_put(aliases, 20, 1, 9);
	mcast_join(db, g[2], mcast_own_gid(40), JOIN_FULL, false);
	mcast_check_aliases(db, aliases);
	ck_assert_uint_eq(mcast_count(db), 2);
	ck_assert_uint_eq(g[1]->members.n, 1);
	ck_assert_uint_eq(g[2]->members.n, 2);
	ck_assert_ptr_nonnull(mcast_member(g[2], alias_of(20, 9)));
	mcast_check_aliases(db, NULL);
	ck_assert_uint_eq(g[2]->members.n, 1);
	alias_free(aliases);
	mcast_free(db);
}
END_TEST

/* A group that a client made has the SL of its partition's level, also of a new policy. */
START_TEST(clients_groups_follow_the_policy)
{
	struct mcast_db *db = new_db();
	struct policy *p = policy_builtin();
	struct mcast_group *g = make_like(db, 1, (struct mcast_group){
		.pkey = 0xffff, .sl = 3, .tclass = 6, .tclass_asked = 5, .mtu = 2 });

	mcast_join(db, g, mcast_own_gid(0x11), JOIN_FULL, false);
	p->levels[0].sl = 2;
	struct subnet_state *s = make_state(p, 1);
	mcast_sync(db, s);
	ck_assert_uint_eq(g->sl, 2);
	ck_assert_uint_eq(g->tclass, 5);	/* the level has none: as the creator requested */
	ck_assert_uint_eq(g->mtu, 2);
	state_unref(s);
	p = policy_builtin();
	p->levels[0].tclass = 9;
	mcast_clean(db);
	s = make_state(p, 2);
	mcast_sync(db, s);
	ck_assert_uint_eq(g->sl, 0);
	ck_assert_uint_eq(g->tclass, 9);
	ck_assert(mcast_dirty(db));
	state_unref(s);
	/* what the policy said is gone with it */
	mcast_clean(db);
	s = make_state(policy_builtin(), 3);
	mcast_sync(db, s);
	ck_assert_uint_eq(g->tclass, 5);
	ck_assert(mcast_dirty(db));
	state_unref(s);
	mcast_free(db);
}
END_TEST

/* A client's group that the policy has, too, is the policy's from then on. */
START_TEST(a_group_becomes_the_policys)
{
	struct mcast_db *db = new_db();
	struct mcast_group like = { .pkey = 0xffff, .tclass = 5, .tclass_asked = 5 }, *g;
	struct subnet_state *s = make_state(policy_builtin(), 1);
	struct policy *p = policy_builtin();

	memcpy(like.mgid, broadcast, sizeof(like.mgid));
	g = mcast_create(db, &like, 8);
	mcast_join(db, g, mcast_own_gid(0x11), JOIN_FULL, false);
	mcast_sync(db, s);
	ck_assert(g->permanent);
	ck_assert_uint_eq(g->tclass, 0);
	state_unref(s);
	p->partitions[0].ipoib = false;
	s = make_state(p, 2);
	mcast_sync(db, s);
	ck_assert(!g->permanent);
	ck_assert_uint_eq(g->tclass, 0);
	state_unref(s);
	mcast_free(db);
}
END_TEST

/* As a journal tells it: the same group with other parameters. */
START_TEST(parameters_are_done_again)
{
	struct mcast_db *db = new_db();
	struct mcast_group *g = make(db, 1, 0), like = *g;

	like.qkey = 1;
	like.sl = 2;
	like.tclass = 3;
	like.tclass_asked = 4;
	ck_assert(mcast_redo(db, &(struct mcast_event){ .kind = MCAST_GROUP, .group = &like }));
	ck_assert_uint_eq(g->qkey, 1);
	ck_assert_uint_eq(g->sl, 2);
	ck_assert_uint_eq(g->tclass, 3);
	ck_assert_uint_eq(g->tclass_asked, 4);
	like.pkey = 5;			/* decides with which groups it shares an MLID */
	ck_assert(!mcast_redo(db, &(struct mcast_event){ .kind = MCAST_GROUP, .group = &like }));
	mcast_free(db);
}
END_TEST

START_TEST(switches_that_do_no_multicast)
{
	struct subnet_state *s = make_state(policy_builtin(), 1);
	struct mcast_db *db = new_db();

	s->f->switches[0].mcast_cap = 0;
	ck_assert_uint_eq(mcast_mlids(s), 0);
	mcast_sync(db, s);
	ck_assert_uint_eq(mcast_count(db), 0);
	ck_assert_uint_eq(mcast_usage(db).limit, 0);
	state_unref(s);
	mcast_free(db);
}
END_TEST

START_TEST(an_mlid_may_be_asked_for)
{
	struct mcast_db *db = new_db();

	ck_assert_uint_eq(make(db, 1, 0xc005)->mlid, 0xc005);
	ck_assert_ptr_null(make(db, 2, 0xc005));
	ck_assert_ptr_null(make(db, 2, 0xc008));	/* beyond what the switches have */
	ck_assert_ptr_null(make(db, 2, 0xbfff));
	ck_assert_ptr_null(make(db, 2, 0xffff));
	ck_assert_uint_eq(make(db, 2, 0)->mlid, 0xc000);
	mcast_free(db);
}
END_TEST

START_TEST(members_add_up_and_go)
{
	struct mcast_db *db = new_db();
	struct mcast_group *g = make(db, 1, 0);

	mcast_clean(db);
	mcast_join(db, g, mcast_own_gid(50), JOIN_NON, false);
	mcast_join(db, g, mcast_own_gid(20), JOIN_FULL, true);
	mcast_join(db, g, mcast_own_gid(50), JOIN_FULL, false);
	ck_assert(mcast_dirty(db));
	ck_assert_uint_eq(changes, 4);			/* the group itself is one */
	ck_assert_uint_eq(g->members.n, 2);
	ck_assert_uint_eq(g->members.v[0].gid.port, 20);
	ck_assert_uint_eq(mcast_member(g, mcast_own_gid(50))->join_state, JOIN_FULL | JOIN_NON);
	ck_assert(mcast_member(g, mcast_own_gid(20))->proxy);
	ck_assert_ptr_null(mcast_member(g, mcast_own_gid(30)));
	/* joined again, as after a reregistration: no new routes */
	mcast_clean(db);
	mcast_join(db, g, mcast_own_gid(50), JOIN_FULL, false);
	ck_assert(!mcast_dirty(db));
	ck_assert_uint_eq(mcast_leave(db, g, mcast_own_gid(50), JOIN_FULL), JOIN_NON);
	ck_assert_uint_eq(mcast_leave(db, g, mcast_own_gid(30), JOIN_FULL), 0);
	ck_assert_uint_eq(mcast_count(db), 1);
	/* the last full member takes the group along */
	mcast_leave(db, g, mcast_own_gid(20), JOIN_FULL);
	ck_assert_uint_eq(mcast_count(db), 0);
	mcast_free(db);
}
END_TEST

START_TEST(broadcast_group_of_the_default_partition)
{
	struct mcast_db *db = new_db();
	struct subnet_state *s = make_state(policy_builtin(), 0);

	ck_assert_uint_eq(mcast_mlids(s), 1024);
	mcast_sync(db, s);
	ck_assert_uint_eq(mcast_count(db), 1);
	const struct mcast_group *g = mcast_find(db, broadcast);
	ck_assert_ptr_nonnull(g);
	ck_assert_uint_eq(g->mlid, 0xc000);
	ck_assert_uint_eq(g->qkey, 0x0b1b);
	ck_assert_uint_eq(g->pkey, 0xffff);
	ck_assert_uint_eq(g->mtu, 4);
	ck_assert_uint_eq(g->rate, 3);
	ck_assert_uint_eq(g->sl, 0);
	ck_assert_uint_eq(g->life, 18);
	ck_assert_uint_eq(g->hop_limit, 0);
	/* it stays when everybody has left */
	mcast_join(db, mcast_find(db, broadcast), mcast_own_gid(0x11), JOIN_FULL, false);
	mcast_leave(db, mcast_find(db, broadcast), mcast_own_gid(0x11), JOIN_FULL);
	ck_assert_uint_eq(mcast_count(db), 1);
	state_unref(s);
	mcast_free(db);
}
END_TEST

START_TEST(broadcast_group_follows_its_level)
{
	struct mcast_db *db = new_db();
	struct subnet_state *s = make_state(policy_builtin(), 1);
	struct policy *p = policy_builtin();

	mcast_sync(db, s);
	mcast_join(db, mcast_find(db, broadcast), mcast_own_gid(0x11), JOIN_FULL, false);
	state_unref(s);

	struct policy_level *l = &p->levels[p->partitions[0].ipoib_level_index];
	l->sl = 5;
	l->mtu_limit = 3;
	l->rate_limit = 7;
	l->packet_lifetime = 14;
	l->tclass = 9;
	loaded_us = 2;
	s = make_state(p, 2);
	mcast_sync(db, s);
	const struct mcast_group *g = mcast_find(db, broadcast);
	ck_assert_uint_eq(g->sl, 5);
	ck_assert_uint_eq(g->mtu, 3);
	ck_assert_uint_eq(g->rate, 7);
	ck_assert_uint_eq(g->life, 14);
	ck_assert_uint_eq(g->tclass, 9);
	ck_assert_ptr_nonnull(mcast_member(g, mcast_own_gid(0x11)));	/* survives the new fabric */
	state_unref(s);

	/* a policy without it: the group lives on by its members only */
	p = policy_builtin();
	p->partitions[0].ipoib = false;
	s = make_state(p, 3);
	mcast_sync(db, s);
	ck_assert_uint_eq(mcast_count(db), 1);
	ck_assert_uint_eq(g->tclass, 0);
	mcast_leave(db, mcast_find(db, broadcast), mcast_own_gid(0x11), JOIN_FULL);
	ck_assert_uint_eq(mcast_count(db), 0);
	state_unref(s);
	mcast_free(db);
}
END_TEST

/* Broadcast groups of two scopes, an IPv6 group and one that is no IPoIB group. */
static struct policy *policy_with_groups(void)
{
	static const uint8_t ipv6[16] = { 0xff, 0x15, 0x60, 0x1b, 0xff, 0xff, [15] = 1 };
	static const uint8_t other[16] = { 0xff, 0x12, 0xa, [15] = 7 };
	struct policy *p = policy_builtin();
	struct policy_partition *part = &p->partitions[0];

	p->levels = xrealloc(p->levels, p->n_levels + 1, sizeof(*p->levels));
	p->levels[p->n_levels] = (struct policy_level){
		.name = xstrdup("fast"), .sl_given = true, .sl = 3, .mtu_limit = 5, .rate_limit = 7,
		.packet_lifetime = 14, .path_bits = -1, .tclass = 9,
	};
	part->ipoib_scopes = 1u << 2 | 1u << 5;
	part->ipoib_qkey = 0x1234;
	part->ipoib_flow_label = 0x56789;
	part->n_groups = 2;
	part->groups = xcalloc(part->n_groups, sizeof(*part->groups));
	memcpy(part->groups[0].mgid, ipv6, 16);
	memcpy(part->groups[1].mgid, other, 16);
	part->groups[1].level_index = (uint32_t)p->n_levels++;
	part->groups[1].flow_label = 4;
	return p;
}

START_TEST(groups_that_the_policy_lists)
{
	struct mcast_db *db = new_db();
	struct subnet_state *s = make_state(policy_with_groups(), 0);
	uint8_t site[16];

	mcast_sync(db, s);
	ck_assert_uint_eq(mcast_count(db), 4);
	ck_assert(!mcast_lacks_broadcast(db, s, 0));
	mgid_of_broadcast(site, IB_PKEY_DEFAULT, 5);
	const struct mcast_group *g = mcast_find(db, broadcast);
	ck_assert_uint_eq(g->qkey, 0x1234);
	ck_assert_uint_eq(g->flow_label, 0x56789);
	ck_assert_uint_eq(g->hop_limit, 0);
	g = mcast_find(db, site);
	ck_assert_uint_eq(g->qkey, 0x1234);
	ck_assert_uint_eq(g->hop_limit, 255);
	/* an IPoIB group without a Q_Key of its own, with MTU and rate of its broadcast group */
	g = mcast_find(db, s->policy->p->partitions[0].groups[0].mgid);
	ck_assert_uint_eq(g->qkey, 0x0b1b);
	ck_assert_uint_eq(g->mtu, mcast_find(db, site)->mtu);
	ck_assert_uint_eq(g->pkey, 0xffff);
	g = mcast_find(db, s->policy->p->partitions[0].groups[1].mgid);
	ck_assert_uint_eq(g->qkey, 0);
	ck_assert_uint_eq(g->sl, 3);
	ck_assert_uint_eq(g->mtu, 5);
	ck_assert_uint_eq(g->rate, 7);
	ck_assert_uint_eq(g->life, 14);
	ck_assert_uint_eq(g->tclass, 9);
	ck_assert_uint_eq(g->flow_label, 4);
	/* it stays without members, until a policy lacks it */
	mcast_join(db, mcast_find(db, g->mgid), mcast_own_gid(0x11), JOIN_FULL, false);
	mcast_leave(db, mcast_find(db, g->mgid), mcast_own_gid(0x11), JOIN_FULL);
	ck_assert_uint_eq(mcast_count(db), 4);
	state_unref(s);
	s = make_state(policy_builtin(), 1);
	mcast_sync(db, s);
	ck_assert_uint_eq(mcast_count(db), 1);
	ck_assert_uint_eq(mcast_find(db, broadcast)->flow_label, 0);
	state_unref(s);
	mcast_free(db);
}
END_TEST

/* A policy whose IPoIB group has these limits. */
static struct policy *ipoib_policy(uint8_t mtu, uint8_t rate)
{
	struct policy *p = policy_builtin();
	struct policy_level *l = &p->levels[p->partitions[0].ipoib_level_index];

	l->mtu_limit = mtu;
	l->rate_limit = rate;
	return p;
}

enum { MTU_1024 = 3, MTU_2048, MTU_4096, RATE_10 = 3, RATE_40 = 7, RATE_100 = 16 };

/* The broadcast group in the next state, with a host that can so much, has that. */
static void expect_limits(struct mcast_db *db, struct policy *p, uint8_t can_mtu,
			  uint8_t can_rate, uint8_t mtu, uint8_t rate)
{
	static uint64_t generation;
	struct subnet_state *s;

	host_mtu = can_mtu;
	host_rate = can_rate;
	s = make_state(p, ++generation);
	mcast_sync(db, s);
	ck_assert_uint_eq(mcast_find(db, broadcast)->mtu, mtu);
	ck_assert_uint_eq(mcast_find(db, broadcast)->rate, rate);
	state_unref(s);
	host_mtu = 0;
}

/* As much as the present hosts support, but at least 2048 and 10 Gb/s. */
/* promise: D41 */
START_TEST(limits_of_the_level_and_the_hosts)
{
	static const struct {
		uint8_t level_mtu, level_rate, host_mtu, host_rate, mtu, rate;
	} t[] = {
		{ MTU_4096, RATE_100, MTU_4096, RATE_100, MTU_4096, RATE_100 },
		{ MTU_4096, 0, MTU_4096, RATE_100, MTU_4096, RATE_10 },
		{ 0, RATE_40, MTU_4096, RATE_100, MTU_2048, RATE_40 },
		{ 0, 0, MTU_4096, RATE_100, MTU_2048, RATE_10 },
		{ MTU_4096, RATE_100, MTU_2048, RATE_40, MTU_2048, RATE_40 },
		{ MTU_4096, RATE_100, MTU_1024, 2, MTU_2048, RATE_10 },
		{ MTU_1024, 2, MTU_4096, RATE_100, MTU_1024, 2 },
		{ MTU_1024, 2, MTU_1024, 2, MTU_1024, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct mcast_db *db = new_db();

		expect_limits(db, ipoib_policy(t[i].level_mtu, t[i].level_rate), t[i].host_mtu,
			      t[i].host_rate, t[i].mtu, t[i].rate);
		ck_assert(!mcast_take_misled(db));
		mcast_free(db);
	}
}
END_TEST

static const uint8_t all_ipv6[16] = {
	0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
};

/* promise: D41 */
START_TEST(limits_stay_while_there_are_members)
{
	struct mcast_group like = { .pkey = 0xffff, .mtu = MTU_4096, .rate = RATE_100 };
	struct mcast_db *db = new_db();
	struct mcast_group *g;

	loaded_us = 1;
	expect_limits(db, ipoib_policy(MTU_4096, RATE_100), MTU_4096, RATE_100, MTU_4096, RATE_100);
	g = mcast_find(db, broadcast);
	/* without members it follows the hosts */
	expect_limits(db, ipoib_policy(MTU_4096, RATE_100), MTU_2048, RATE_40, MTU_2048, RATE_40);
	expect_limits(db, ipoib_policy(MTU_4096, RATE_100), MTU_4096, RATE_100, MTU_4096, RATE_100);
	mcast_join(db, g, mcast_own_gid(0x11), JOIN_FULL, false);
	memcpy(like.mgid, all_ipv6, 16);
	mcast_join(db, mcast_create(db, &like, 8), mcast_own_gid(0x11), JOIN_FULL, false);
	/* a slower host comes: it can't join, nobody else is disturbed */
	expect_limits(db, ipoib_policy(MTU_4096, RATE_100), MTU_2048, RATE_40, MTU_4096, RATE_100);
	ck_assert(!mcast_take_misled(db));
	/* a policy is loaded: the group is computed anew, as are the groups that depend on it */
	loaded_us = 2;
	expect_limits(db, ipoib_policy(MTU_4096, RATE_100), MTU_2048, RATE_40, MTU_2048, RATE_40);
	ck_assert_uint_eq(mcast_find(db, all_ipv6)->mtu, MTU_2048);
	ck_assert_uint_eq(mcast_find(db, all_ipv6)->rate, RATE_40);
	ck_assert(mcast_take_misled(db));
	ck_assert(!mcast_take_misled(db));
	/* a limit below the present values applies at once */
	loaded_us = 3;
	expect_limits(db, ipoib_policy(MTU_1024, RATE_10), MTU_4096, RATE_100, MTU_1024, RATE_10);
	ck_assert(mcast_take_misled(db));
	mcast_free(db);
}
END_TEST

/* How many ports have to join again; *first is one of them. */
static size_t changed_ports(struct mcast_db *db, uint64_t *first)
{
	struct mcast_ports ports;
	size_t n;

	mcast_take_changed(db, &ports);
	n = ports.n;
	*first = n ? ports.v[0] : 0;
	vec_free(&ports);
	return n;
}

/* promise: N22 */
START_TEST(a_partition_in_use_gets_other_values)
{
	struct mcast_db *db = new_db();
	struct policy *p;
	uint64_t first;

	loaded_us = 1;
	expect_limits(db, ipoib_policy(MTU_2048, RATE_10), MTU_4096, RATE_100, MTU_2048, RATE_10);
	mcast_join(db, mcast_find(db, broadcast), mcast_own_gid(0x11), JOIN_FULL, false);
	mcast_join(db, mcast_find(db, broadcast), (struct mcast_gid){ 0x11, 0xa1 }, JOIN_FULL, false);
	expect_limits(db, ipoib_policy(MTU_2048, RATE_10), MTU_4096, RATE_100, MTU_2048, RATE_10);
	ck_assert_uint_eq(changed_ports(db, &first), 0);
	/* higher limits apply at once, and only the members join again */
	expect_limits(db, ipoib_policy(MTU_4096, RATE_40), MTU_4096, RATE_100, MTU_4096, RATE_40);
	ck_assert(!mcast_take_misled(db));
	ck_assert_uint_eq(changed_ports(db, &first), 1);
	ck_assert_uint_eq(first, 0x11);
	ck_assert_uint_eq(changed_ports(db, &first), 0);
	p = ipoib_policy(MTU_4096, RATE_40);
	p->levels[0].sl = 2;
	expect_limits(db, p, MTU_4096, RATE_100, MTU_4096, RATE_40);
	ck_assert_uint_eq(mcast_find(db, broadcast)->sl, 2);
	ck_assert_uint_eq(changed_ports(db, &first), 1);
	/* limits that nobody set stay for the members' sake */
	p = ipoib_policy(MTU_4096, RATE_40);
	p->levels[0].sl = 2;
	expect_limits(db, p, MTU_2048, RATE_10, MTU_4096, RATE_40);
	ck_assert_uint_eq(changed_ports(db, &first), 0);
	mcast_free(db);
}
END_TEST

/* promise: D41 */
START_TEST(limits_stay_over_a_restart)
{
	struct mcast_group was = { .pkey = 0xffff, .mtu = MTU_2048, .rate = RATE_10, .mlid = 0xc000 };
	struct mcast_db *db = new_db();

	memcpy(was.mgid, broadcast, 16);
	mcast_join(db, mcast_restore(db, &was), mcast_own_gid(0x11), JOIN_FULL, false);
	loaded_us = 7;
	expect_limits(db, ipoib_policy(MTU_4096, RATE_100), MTU_4096, RATE_100, MTU_2048, RATE_10);
	ck_assert(!mcast_take_misled(db));
	loaded_us = 8;
	expect_limits(db, ipoib_policy(MTU_4096, RATE_100), MTU_4096, RATE_100, MTU_4096, RATE_100);
	ck_assert(mcast_take_misled(db));
	mcast_free(db);
}
END_TEST

/* A group of many, with one member. */
static struct mcast_group *make_nth(struct mcast_db *db, uint32_t n, uint64_t port)
{
	struct mcast_group like = { .pkey = 0xffff, .mtu = 4, .rate = 3 }, *g;

	memcpy(like.mgid, all_ipv6, 16);
	put_be32(like.mgid + 12, n + 2);
	g = mcast_create(db, &like, 16);
	if (g)
		mcast_join(db, g, mcast_own_gid(port), JOIN_FULL, false);
	return g;
}

/* promise: D42 */
START_TEST(groups_of_ports_that_are_gone_make_room)
{
	struct mcast_db *db = new_db();
	struct holdings *h = holdings_new();
	struct subnet_state *s = make_state(policy_builtin(), 1);

	holdings_set_bound(h, HOLD_GROUPS, (struct hold_bound){ 4000, 4000 });
	mcast_hold(db, h);
	for (uint32_t i = 0; i < 3000; i++)
		ck_assert_ptr_nonnull(make_nth(db, i, i % 1000 ? 0x77 : 0x11));
	for (size_t i = 0; i < mcast_count(db); i++)
		ck_assert_uint_eq(mcast_at(db, i)->holder, 0);
	mcast_sync(db, s);
	ck_assert_uint_eq(holdings_total(h, HOLD_GROUPS), 3000);
	s->generation++;
	mcast_sync(db, s);
	ck_assert_uint_eq(mcast_count(db), 3 + 1);	/* one is the policy's */
	ck_assert_uint_eq(holdings_total(h, HOLD_GROUPS), 3);
	ck_assert_uint_eq(holdings_of(h, HOLD_MEMBERSHIPS, 0x11), 3);
	state_unref(s);
	mcast_free(db);
	holdings_free(h);
}
END_TEST

/* The n-th group of a port, which joins it; NULL: it may not have it. */
static struct mcast_group *make_for(struct mcast_db *db, uint32_t n, uint64_t port, unsigned mlids,
				    uint8_t rate)
{
	struct mcast_group like = { .pkey = 0xffff, .mtu = 4, .rate = rate, .holder = port }, *g;

	memcpy(like.mgid, all_ipv6, 16);
	put_be32(like.mgid + 12, n + 2);
	g = mcast_create(db, &like, mlids);
	if (g)
		mcast_join_by(db, g, mcast_own_gid(port), JOIN_FULL, port);
	return g;
}

/* promise: A30 */
START_TEST(a_port_cannot_take_all_mlids)
{
	struct mcast_db *db = new_db();
	struct holdings *h = holdings_new();
	struct mcast_group of_policy = { .pkey = 0x8001, .mtu = 4, .rate = 3, .mgid = { 0xff, 1 } };
	uint32_t n = 0;

	holdings_set_bound(h, HOLD_GROUPS, (struct hold_bound){ 100000, 600 });
	mcast_hold(db, h);
	/* all of one kind: beyond the port's part of the MLIDs, its groups share them */
	for (; n < 600; n++)
		ck_assert_ptr_nonnull(make_for(db, n, 0x11, 1024, 3));
	ck_assert_uint_eq(holdings_of(h, HOLD_MLIDS, 0x11), 512);
	ck_assert_ptr_null(make_for(db, n, 0x11, 1024, 3));
	ck_assert_uint_eq(holdings_refused(h, HOLD_GROUPS), 1);
	/* greedy ports together leave room for newcomers, and for the policy */
	for (uint64_t port = 0x100; port < 0x110; port++)
		for (unsigned i = 0; i < 600; i++, n++)
			make_for(db, n, port, 1024, (uint8_t)(2 + i % 7));
	for (uint64_t port = 0x200; port < 0x210; port++, n++) {
		uint32_t before = mcast_usage(db).mlids;

		ck_assert_ptr_nonnull(make_for(db, n, port, 1024, 15));
		ck_assert_uint_eq(mcast_usage(db).mlids, before + 1);
	}
	while (make_for(db, n, 0x1000 + n, 1024, 20 + n % 2))
		n++;
	ck_assert_uint_eq(mcast_usage(db).mlids, 1024 - 1024 / 8);
	for (n = 0; n < 128; n++) {
		put_be32(of_policy.mgid + 12, n);
		ck_assert_ptr_nonnull(mcast_create(db, &of_policy, 1024));
	}
	ck_assert_uint_eq(mcast_usage(db).mlids, 1024);
	mcast_free(db);
	holdings_free(h);
}
END_TEST

/* promise: A30 */
START_TEST(the_port_that_asks_answers_for_it)
{
	struct mcast_db *db = new_db();
	struct holdings *h = holdings_new();
	struct mcast_group *g;

	mcast_hold(db, h);
	g = make_for(db, 0, 0x11, 16, 3);
	mcast_join_by(db, g, mcast_own_gid(0x22), JOIN_FULL, 0x11);
	ck_assert_uint_eq(holdings_of(h, HOLD_MEMBERSHIPS, 0x11), 2);
	ck_assert_uint_eq(holdings_of(h, HOLD_MEMBERSHIPS, 0x22), 0);
	mcast_join_by(db, g, mcast_own_gid(0x33), JOIN_NON, 0x33);
	mcast_join_by(db, g, mcast_own_gid(0x44), JOIN_FULL, 0x44);
	ck_assert(mcast_member(g, mcast_own_gid(0x22))->proxy);
	/* the holder is still a member by what it asked for */
	mcast_leave(db, g, mcast_own_gid(0x11), 0xff);
	ck_assert_uint_eq(g->holder, 0x11);
	/* that port joins by itself: its membership is its own, and another full member holds the group */
	mcast_join_by(db, g, mcast_own_gid(0x22), JOIN_FULL, 0x22);
	ck_assert_uint_eq(holdings_of(h, HOLD_MEMBERSHIPS, 0x11), 0);
	ck_assert_uint_eq(holdings_of(h, HOLD_MEMBERSHIPS, 0x22), 1);
	mcast_leave(db, g, mcast_own_gid(0x22), 0xff);
	mcast_join_by(db, g, mcast_own_gid(0x55), JOIN_FULL, 0x55);
	ck_assert_uint_eq(g->holder, 0x44);
	ck_assert_uint_eq(holdings_of(h, HOLD_GROUPS, 0x44), 1);
	ck_assert_uint_eq(holdings_of(h, HOLD_MLIDS, 0x44), 1);
	ck_assert_uint_eq(holdings_of(h, HOLD_GROUPS, 0x11), 0);
	mcast_delete(db, g);
	for (unsigned k = 0; k < HOLD_KINDS; k++)
		ck_assert_uint_eq(holdings_total(h, k), 0);
	mcast_free(db);
	holdings_free(h);
}
END_TEST

/* promise: A31 */
START_TEST(a_group_that_the_policy_lacks_is_made_later)
{
	struct mcast_db *db = new_db();
	struct subnet_state *s = make_state(policy_builtin(), 1);
	unsigned limit = mcast_mlids(s);
	struct mcast_group like = { .pkey = 0x8123, .mtu = 4, .rate = 3, .mgid = { 0xff, 0x12 } };

	for (unsigned n = 0; n < limit; n++) {
		put_be32(like.mgid + 12, n);
		mcast_join(db, mcast_create(db, &like, limit), mcast_own_gid(0x11), JOIN_FULL, false);
	}
	mcast_sync(db, s);
	ck_assert(mcast_lacks_broadcast(db, s, 0));
	mcast_make_missing(db, s);
	ck_assert(mcast_lacks_broadcast(db, s, 0));
	mcast_delete(db, mcast_find(db, like.mgid));
	mcast_make_missing(db, s);
	ck_assert(!mcast_lacks_broadcast(db, s, 0));
	state_unref(s);
	mcast_free(db);
}
END_TEST

/* Measures how long a thread that reads the groups would have to wait. */
static struct {
	bool on;
	unsigned times, events, most;	/* holds; changes during this one, and during any */
	bool outside;
} held;

static void hold(void *arg, bool on)
{
	(void)arg;
	ck_assert(on != held.on);
	held.on = on;
	held.times += on;
	held.events = 0;
}

static void note_event(void *arg, const struct mcast_event *e)
{
	(void)arg;
	(void)e;
	held.outside |= !held.on;
	if (++held.events > held.most)
		held.most = held.events;
}

static void sync_held(struct mcast_db *db, struct subnet_state *s)
{
	memset(&held, 0, sizeof(held));
	ck_assert(mcast_sync_begin(db, s));
	ck_assert(!mcast_sync_begin(db, s));
	mcast_sync_rest(db, s, hold, NULL);
	ck_assert(!held.on);
	ck_assert(!held.outside);
	state_unref(s);
}

/* promise: D110 */
START_TEST(a_new_state_holds_up_readers_for_one_group_at_a_time)
{
	struct mcast_db *db = new_db();
	struct policy *p = policy_builtin();

	for (unsigned i = 1; i <= 200; i++)
		mcast_join(db, make_like(db, i, (struct mcast_group){ .pkey = 0xffff, .mtu = 4,
			   .rate = 3 }), mcast_own_gid(0x11), JOIN_FULL, false);
	mcast_keep(db, note_event, NULL);
	sync_held(db, make_state(policy_builtin(), 1));
	/* nothing changes: only for the policy's own group */
	sync_held(db, make_state(policy_builtin(), 2));
	ck_assert_uint_eq(held.times, 1);
	ck_assert_uint_eq(held.most, 0);
	/* all of them change: each for itself */
	p->levels[0].sl = 2;
	sync_held(db, make_state(p, 3));
	ck_assert_uint_ge(held.times, 200);
	ck_assert_uint_eq(held.most, 1);
	mcast_keep(db, NULL, NULL);
	mcast_free(db);
}
END_TEST

START_TEST(a_group_for_each_partition)
{
	struct mcast_db *db = new_db();
	struct policy *p = policy_builtin();
	uint8_t mgid[16];

	p->levels = xrealloc(p->levels, 2, sizeof(*p->levels));
	p->levels[p->n_levels++] = (struct policy_level){
		.name = xstrdup("gold"), .sl = 3, .mtu_limit = 3, .rate_limit = 6,
		.packet_lifetime = 12, .path_bits = -1, .tclass = 40,
	};
	p->partitions = xrealloc(p->partitions, 4, sizeof(*p->partitions));
	for (uint16_t k = 1; k < 4; k++)
		p->partitions[p->n_partitions++] = (struct policy_partition){
			.name = xasprintf("p%u", k), .pkey = k, .ipoib = k != 2,
			.ipoib_level_index = k == 3 ? 1 : 0,
		};
	struct subnet_state *s = make_state(p, 1);

	mcast_sync(db, s);
	ck_assert_uint_eq(mcast_count(db), 3);
	for (uint16_t k = 1; k < 4; k++) {
		memcpy(mgid, broadcast, 16);
		put_be16(mgid + 4, k | IB_PKEY_FULL);
		const struct mcast_group *g = mcast_find(db, mgid);

		ck_assert((g != NULL) == (k != 2));
		if (!g)
			continue;
		ck_assert_uint_eq(g->pkey, k | IB_PKEY_FULL);
		ck_assert_uint_eq(g->sl, k == 3 ? 3 : 0);
		ck_assert_uint_eq(g->mtu, k == 3 ? 3 : 4);
		ck_assert_uint_eq(g->rate, k == 3 ? 6 : 3);
		ck_assert_uint_eq(g->life, k == 3 ? 12 : 18);
		ck_assert_uint_eq(g->tclass, k == 3 ? 40 : 0);
	}
	state_unref(s);
	mcast_free(db);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mcast");
	TCase *c = tcase_create("mcast");
	int failed;

	settings = settings_default();
	tcase_add_test(c, groups_are_in_order_and_found);
	tcase_add_test(c, mlids_run_out_and_come_back);
	tcase_add_test(c, mlids_are_shared_when_they_run_out);
	tcase_add_test(c, freed_mlids_are_used_again_late);
	tcase_add_test(c, changes_are_told_once);
	tcase_add_test(c, gids_of_a_port_are_members);
	tcase_add_test(c, an_alias_goes);
	tcase_add_test(c, clients_groups_follow_the_policy);
	tcase_add_test(c, a_group_becomes_the_policys);
	tcase_add_test(c, parameters_are_done_again);
	tcase_add_test(c, switches_that_do_no_multicast);
	tcase_add_test(c, an_mlid_may_be_asked_for);
	tcase_add_test(c, members_add_up_and_go);
	tcase_add_test(c, broadcast_group_of_the_default_partition);
	tcase_add_test(c, broadcast_group_follows_its_level);
	tcase_add_test(c, groups_that_the_policy_lists);
	tcase_add_test(c, groups_of_ports_that_are_gone_make_room);
	tcase_add_test(c, limits_of_the_level_and_the_hosts);
	tcase_add_test(c, limits_stay_while_there_are_members);
	tcase_add_test(c, limits_stay_over_a_restart);
	tcase_add_test(c, a_partition_in_use_gets_other_values);
	tcase_add_test(c, a_new_state_holds_up_readers_for_one_group_at_a_time);
	tcase_add_test(c, a_group_for_each_partition);
	tcase_add_test(c, a_port_cannot_take_all_mlids);
	tcase_add_test(c, the_port_that_asks_answers_for_it);
	tcase_add_test(c, a_group_that_the_policy_lacks_is_made_later);
	suite_add_tcase(s, c);
	failed = run_suite(s);
	settings_free(settings);
	return failed;
}
