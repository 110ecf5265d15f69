/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The database of multicast groups: sorted arrays, because look-ups are many,
 * changes are few, and the order must not depend on who came first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "ib/units.h"
#include "registry/mcast.h"
#include "plan/state.h"

#define MLIDS_MAX (IB_LID_MCAST_LAST - IB_LID_MCAST_FIRST + 1)

/* Of an IPoIB broadcast group whose level says nothing (RFC 4391; as other SMs do). */
#define IPOIB_QKEY	0x0b1b
#define SCOPE_LINK_LOCAL 2

struct mcast_db {
	VEC(struct mcast_group *) groups;	/* in order of MGIDs */
	uint8_t used[MLIDS_MAX / 8 + 1];	/* MLIDs */
	uint64_t generation;		/* of the state that mcast_sync() saw last */
	bool dirty;
	void (*changed)(void *arg);
	void *arg;
	void (*watch)(void *arg, const struct mcast_group *g, bool made);
	void *watch_arg;
};

struct mcast_db *mcast_new(void (*changed)(void *arg), void *arg)
{
	struct mcast_db *db = xcalloc(1, sizeof(*db));

	db->generation = UINT64_MAX;
	db->changed = changed;
	db->arg = arg;
	return db;
}

void mcast_watch(struct mcast_db *db, void (*fn)(void *arg, const struct mcast_group *g, bool made),
		 void *arg)
{
	db->watch = fn;
	db->watch_arg = arg;
}

static void tell_watch(const struct mcast_db *db, const struct mcast_group *g, bool made)
{
	if (db->watch)
		db->watch(db->watch_arg, g, made);
}

static void free_group(struct mcast_group *g)
{
	vec_free(&g->members);
	free(g);
}

void mcast_free(struct mcast_db *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < db->groups.n; i++)
		free_group(db->groups.v[i]);
	vec_free(&db->groups);
	free(db);
}

bool mcast_dirty(const struct mcast_db *db)
{
	return db->dirty;
}

void mcast_clean(struct mcast_db *db)
{
	db->dirty = false;
}

static void set_dirty(struct mcast_db *db)
{
	db->dirty = true;
	if (db->changed)
		db->changed(db->arg);
}

size_t mcast_count(const struct mcast_db *db)
{
	return db->groups.n;
}

const struct mcast_group *mcast_at(const struct mcast_db *db, size_t i)
{
	return db->groups.v[i];
}

/* Where the group is, or belongs. */
static size_t group_place(const struct mcast_db *db, const uint8_t mgid[16])
{
	size_t lo = 0, hi = db->groups.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (memcmp(db->groups.v[mid]->mgid, mgid, 16) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct mcast_group *mcast_find(const struct mcast_db *db, const uint8_t mgid[16])
{
	size_t i = group_place(db, mgid);

	return i < db->groups.n && !memcmp(db->groups.v[i]->mgid, mgid, 16) ?
		db->groups.v[i] : NULL;
}

static size_t member_place(const struct mcast_group *g, uint64_t guid)
{
	size_t lo = 0, hi = g->members.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (g->members.v[mid].guid < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct mcast_member *mcast_member(const struct mcast_group *g, uint64_t guid)
{
	size_t i = member_place(g, guid);

	return i < g->members.n && g->members.v[i].guid == guid ? &g->members.v[i] : NULL;
}

/* --- MLIDs --- */

static bool mlid_used(const struct mcast_db *db, unsigned i)
{
	return db->used[i >> 3] >> (i & 7) & 1;
}

/* 0 if there is none, or `wanted` is not to be had. */
static uint16_t take_mlid(struct mcast_db *db, uint16_t wanted, unsigned mlids)
{
	unsigned i = 0;

	if (mlids > MLIDS_MAX)
		mlids = MLIDS_MAX;
	if (wanted) {
		i = (unsigned)wanted - IB_LID_MCAST_FIRST;
		if (wanted < IB_LID_MCAST_FIRST || i >= mlids || mlid_used(db, i))
			return 0;
	}
	while (i < mlids && mlid_used(db, i))
		i++;
	if (i >= mlids)
		return 0;
	db->used[i >> 3] |= (uint8_t)(1u << (i & 7));
	return (uint16_t)(IB_LID_MCAST_FIRST + i);
}

static void give_mlid_back(struct mcast_db *db, uint16_t mlid)
{
	unsigned i = (unsigned)mlid - IB_LID_MCAST_FIRST;

	db->used[i >> 3] &= (uint8_t)~(1u << (i & 7));
}

/* --- changes --- */

struct mcast_group *mcast_create(struct mcast_db *db, const struct mcast_group *like,
				 unsigned mlids)
{
	size_t place = group_place(db, like->mgid);
	uint16_t mlid;

	if (mcast_find(db, like->mgid) || !(mlid = take_mlid(db, like->mlid, mlids)))
		return NULL;
	struct mcast_group *g = xmemdup(like, sizeof(*g));

	g->mlid = mlid;
	memset(&g->members, 0, sizeof(g->members));
	vec_push(&db->groups);
	memmove(&db->groups.v[place + 1], &db->groups.v[place],
		(db->groups.n - 1 - place) * sizeof(*db->groups.v));
	db->groups.v[place] = g;
	tell_watch(db, g, true);
	set_dirty(db);
	return g;
}

static void delete_group(struct mcast_db *db, struct mcast_group *g)
{
	size_t place = group_place(db, g->mgid);

	tell_watch(db, g, false);
	db->groups.n--;
	memmove(&db->groups.v[place], &db->groups.v[place + 1],
		(db->groups.n - place) * sizeof(*db->groups.v));
	give_mlid_back(db, g->mlid);
	free_group(g);
}

void mcast_join(struct mcast_db *db, struct mcast_group *g, uint64_t guid,
		uint8_t join_state, bool proxy)
{
	size_t i = member_place(g, guid);

	if (i < g->members.n && g->members.v[i].guid == guid) {
		struct mcast_member *m = &g->members.v[i];

		m->proxy = proxy;
		if ((m->join_state | join_state) == m->join_state)
			return;		/* joined again, as after a reregistration */
		m->join_state |= join_state;
	} else {
		vec_push(&g->members);
		memmove(&g->members.v[i + 1], &g->members.v[i],
			(g->members.n - 1 - i) * sizeof(*g->members.v));
		g->members.v[i] = (struct mcast_member){ guid, join_state, proxy };
	}
	set_dirty(db);
}

static bool has_full_member(const struct mcast_group *g)
{
	for (size_t i = 0; i < g->members.n; i++)
		if (g->members.v[i].join_state & JOIN_ANY_FULL)
			return true;
	return false;
}

uint8_t mcast_leave(struct mcast_db *db, struct mcast_group *g, uint64_t guid,
		    uint8_t join_state)
{
	size_t i = member_place(g, guid);

	if (i == g->members.n || g->members.v[i].guid != guid)
		return 0;
	uint8_t left = g->members.v[i].join_state & (uint8_t)~join_state;

	g->members.v[i].join_state = left;
	if (!left) {
		g->members.n--;
		memmove(&g->members.v[i], &g->members.v[i + 1],
			(g->members.n - i) * sizeof(*g->members.v));
	}
	if (!g->permanent && !has_full_member(g))
		delete_group(db, g);
	set_dirty(db);
	return left;
}

/* --- the policy's groups --- */

unsigned mcast_mlids(const struct subnet_state *s)
{
	unsigned least = MLIDS_MAX;

	for (uint32_t i = 0; i < s->f->n_switches; i++)
		if (s->f->switches[i].mcast_cap < least)
			least = s->f->switches[i].mcast_cap;
	return least;
}

/* The broadcast address 255.255.255.255 in the partition (RFC 4391, section 4). */
static void broadcast_mgid(uint8_t mgid[16], uint16_t pkey)
{
	static const uint8_t form[16] = {
		0xff, 0x10 | SCOPE_LINK_LOCAL, 0x40, 0x1b, 0, 0, 0, 0,
		0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	};

	memcpy(mgid, form, 16);
	put_be16(mgid + 4, pkey);
}

static struct mcast_group broadcast_group(const struct subnet_state *s,
					  const struct policy_partition *part)
{
	const struct policy_level *l = &s->policy->p->levels[part->ipoib_level_index];
	struct ipoib_limits limits = level_ipoib_limits(l);
	struct mcast_group g = {
		.qkey = IPOIB_QKEY, .pkey = part->pkey | IB_PKEY_FULL, .sl = l->sl,
		.mtu = limits.mtu, .rate = limits.rate,
		.life = s->plan->settings->subnet_timeout, .permanent = true,
	};

	broadcast_mgid(g.mgid, g.pkey);
	if (l->packet_lifetime >= 0)
		g.life = (uint8_t)l->packet_lifetime;
	if (l->tclass >= 0)
		g.tclass = (uint8_t)l->tclass;
	return g;
}

/* Members learn of new parameters when they join again. */
static void update_group(struct mcast_group *g, const struct mcast_group *wanted)
{
	g->qkey = wanted->qkey;
	g->sl = wanted->sl;
	g->mtu = wanted->mtu;
	g->rate = wanted->rate;
	g->life = wanted->life;
	g->tclass = wanted->tclass;
	g->permanent = true;
}

static void drop_abandoned(struct mcast_db *db)
{
	for (size_t i = db->groups.n; i-- > 0;)
		if (!db->groups.v[i]->permanent && !has_full_member(db->groups.v[i])) {
			delete_group(db, db->groups.v[i]);
			set_dirty(db);
		}
}

void mcast_sync(struct mcast_db *db, const struct subnet_state *s)
{
	const struct policy *p = s->policy->p;

	if (db->generation == s->generation)
		return;
	db->generation = s->generation;
	for (size_t i = 0; i < db->groups.n; i++)
		db->groups.v[i]->permanent = false;
	for (size_t i = 0; i < p->n_partitions; i++) {
		if (!p->partitions[i].ipoib)
			continue;
		struct mcast_group wanted = broadcast_group(s, &p->partitions[i]);
		struct mcast_group *g = mcast_find(db, wanted.mgid);

		if (g)
			update_group(g, &wanted);
		else
			mcast_create(db, &wanted, mcast_mlids(s));
	}
	drop_abandoned(db);
}
