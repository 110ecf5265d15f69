/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the database of multicast groups and keeps the policy's groups in it.
 *
 * With IPv6 each host has a group of its own, so that a large fabric has more groups than MLIDs.  The
 * cost of an operation on one group must not grow with the number of all groups.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/search.h"
#include "lib/iba/mgid.h"
#include "lib/iba/units.h"
#include "plan/published_state.h"
#include "sa/registry/alias.h"
#include "sa/registry/groups.h"
#include "sa/registry/holdings.h"
#include "sa/registry/mgids.h"
#include "sa/registry/mlids.h"

/* Q_Key and scope of IPoIB broadcast groups (RFC 4391; the same as in other SMs). */

/* One part in so many of the MLIDs is reserved for the policy's groups. */
#define POLICY_PART	8
/*
 * Once half of the MLIDs are in use, a port may have one MLID in PORT_PART, but at least PORT_MIN.
 * Its further groups share MLIDs.
 */
#define PORT_PART	16
#define PORT_MIN	8u

/* Beyond so many changes, a single one says that everything changed. */
#define CHANGES_MAX	(1u << 16)

struct mcast_db {
	struct mgids *groups;
	struct mcast_group *by_mlid[MLIDS];	/* groups of each MLID, linked by `sharer` */
	uint32_t members[MLIDS];	/* total of those groups */
	struct mlids *mlids;		/* free MLIDs, and which to share */
	uint64_t root[MLIDS];
	struct mcast_usage usage;
	struct holdings *holdings;	/* or NULL */
	struct hold_bound most_mlids;	/* MLIDs of clients' groups by the settings; 0: unbounded */
	bool lacks_group;		/* a group of the policy could not be made */
	VEC(struct mcast_change) changes;
	size_t seen;			/* changes that mcast_next_change() returned */
	uint64_t generation;		/* of the state of the last mcast_sync() */
	int64_t policy_loaded_us;	/* load time of the policy of that state */
	bool dirty;
	bool members_misled;		/* see mcast_take_misled() */
	struct mcast_ports changed_ports;	/* see mcast_take_changed(); not sorted */
	bool settle;			/* a policy was loaded: broadcast groups get new limits */
	void (*hold)(void *arg, bool on);	/* during mcast_sync_rest(); may be NULL */
	void *hold_arg;
	void (*changed)(void *arg);
	void *arg;
	void (*watch)(void *arg, const struct mcast_group *g, bool made);
	void *watch_arg;
	void (*keep)(void *arg, const struct mcast_event *e);
	void *keep_arg;
	void (*follow)(void *arg, const struct mcast_event *e);
	void *follow_arg;
};

struct mcast_db *mcast_new(void (*changed)(void *arg), void *arg)
{
	struct mcast_db *db = xcalloc(1, sizeof(*db));

	db->groups = mgids_new();
	db->mlids = mlids_new();
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

void mcast_keep(struct mcast_db *db, void (*fn)(void *arg, const struct mcast_event *e),
		void *arg)
{
	db->keep = fn;
	db->keep_arg = arg;
}

void mcast_follow(struct mcast_db *db, void (*fn)(void *arg, const struct mcast_event *e),
		  void *arg)
{
	db->follow = fn;
	db->follow_arg = arg;
}

static void tell_keeper(struct mcast_db *db, const struct mcast_event *e)
{
	if (db->keep)
		db->keep(db->keep_arg, e);
	if (db->follow)
		db->follow(db->follow_arg, e);
}

static void keep_group(struct mcast_db *db, const struct mcast_group *g)
{
	tell_keeper(db, &(struct mcast_event){ .kind = MCAST_GROUP, .group = g });
}

static void keep_member(struct mcast_db *db, const struct mcast_group *g,
			struct mcast_member m)
{
	tell_keeper(db, &(struct mcast_event){ .kind = MCAST_MEMBER, .group = g, .member = m });
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
	for (size_t i = 0; i < mgids_count(db->groups); i++)
		free_group(mgids_at(db->groups, i));
	mgids_free(db->groups);
	mlids_free(db->mlids);
	vec_free(&db->changed_ports);
	vec_free(&db->changes);
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

static void note_change(struct mcast_db *db, uint16_t mlid, uint64_t guid)
{
	if (db->seen == db->changes.n)
		db->seen = db->changes.n = 0;
	if (db->changes.n >= CHANGES_MAX) {
		db->seen = db->changes.n = 0;
		mlid = 0;
		guid = 0;
	}
	*vec_push(&db->changes) = (struct mcast_change){ mlid, guid };
}

bool mcast_next_change(struct mcast_db *db, struct mcast_change *c)
{
	if (db->seen == db->changes.n)
		return false;
	*c = db->changes.v[db->seen++];
	return true;
}

static void set_dirty(struct mcast_db *db, uint16_t mlid, uint64_t guid)
{
	note_change(db, mlid, guid);
	db->dirty = true;
	if (db->changed)
		db->changed(db->arg);
}

size_t mcast_count(const struct mcast_db *db)
{
	return mgids_count(db->groups);
}

const struct mcast_group *mcast_at(const struct mcast_db *db, size_t i)
{
	return mgids_at(db->groups, i);
}

struct mcast_group *mcast_find(const struct mcast_db *db, const uint8_t mgid[16])
{
	return mgids_find(db->groups, mgid);
}

size_t mcast_place(const struct mcast_db *db, const uint8_t mgid[16])
{
	return mgids_place(db->groups, mgid);
}

static bool same_gid(struct mcast_gid a, struct mcast_gid b)
{
	return a.port == b.port && a.guid == b.guid;
}

static bool gid_before(struct mcast_gid a, struct mcast_gid b)
{
	if (a.port != b.port)
		return a.port < b.port;
	if (a.guid == a.port || b.guid == b.port)
		return a.guid != b.guid && a.guid == a.port;
	return a.guid < b.guid;
}

static size_t member_place(const struct mcast_group *g, struct mcast_gid gid)
{
	size_t lo;

	LOWER_BOUND(lo, 0, g->members.n, gid_before(g->members.v[lo].gid, gid));
	return lo;
}

static bool is_at(const struct mcast_group *g, size_t i, struct mcast_gid gid)
{
	return i < g->members.n && same_gid(g->members.v[i].gid, gid);
}

const struct mcast_member *mcast_member(const struct mcast_group *g, struct mcast_gid gid)
{
	size_t i = member_place(g, gid);

	return is_at(g, i, gid) ? &g->members.v[i] : NULL;
}

const struct mcast_member *mcast_member_after(const struct mcast_group *g, struct mcast_gid gid)
{
	size_t i = member_place(g, gid);

	i += is_at(g, i, gid);
	return i < g->members.n ? &g->members.v[i] : NULL;
}

const struct mcast_member *mcast_members_of_port(const struct mcast_group *g, uint64_t port,
						 size_t *n)
{
	size_t first = member_place(g, mcast_own_gid(port)), end = first;

	while (end < g->members.n && g->members.v[end].gid.port == port)
		end++;
	*n = end - first;
	return *n ? &g->members.v[first] : NULL;
}

/* --- MLIDs --- */

static bool is_mlid(uint16_t mlid)
{
	return mlid >= IB_LID_MCAST_FIRST && mlid <= IB_LID_MCAST_LAST;
}

const struct mcast_group *mcast_of_mlid(const struct mcast_db *db, uint16_t mlid)
{
	return is_mlid(mlid) ? db->by_mlid[mlid - IB_LID_MCAST_FIRST] : NULL;
}

uint8_t mcast_role(const struct mcast_db *db, uint16_t mlid, uint64_t port)
{
	uint8_t states = 0;

	for (const struct mcast_group *g = mcast_of_mlid(db, mlid); g; g = g->sharer) {
		size_t n;
		const struct mcast_member *m = mcast_members_of_port(g, port, &n);

		for (size_t i = 0; i < n; i++)
			states |= m[i].join_state;
	}
	return states;
}

struct mcast_usage mcast_usage(const struct mcast_db *db)
{
	return db->usage;
}

uint64_t mcast_root(const struct mcast_db *db, uint16_t mlid)
{
	return is_mlid(mlid) ? db->root[mlid - IB_LID_MCAST_FIRST] : 0;
}

void mcast_set_root(struct mcast_db *db, uint16_t mlid, uint64_t guid)
{
	if (!is_mlid(mlid) || mcast_root(db, mlid) == guid)
		return;
	db->root[mlid - IB_LID_MCAST_FIRST] = guid;
	db->dirty = true;
	/* without groups there is nothing to keep: the root is forgotten with the last group */
	if (mcast_of_mlid(db, mlid))
		tell_keeper(db, &(struct mcast_event){
			.kind = MCAST_ROOT, .group = mcast_of_mlid(db, mlid), .root = guid });
}

static unsigned mlid_index(const struct mcast_group *g)
{
	return (unsigned)g->mlid - IB_LID_MCAST_FIRST;
}

/* The parameters that must be equal for two groups to share an MLID. */
static uint64_t signature_of(const struct mcast_group *g)
{
	return (uint64_t)g->pkey << 24 | (uint64_t)g->mtu << 16 | (uint64_t)g->rate << 8 | g->sl;
}

/* Updates the load and signature of an MLID, which must have a group. */
static void describe_mlid(struct mcast_db *db, unsigned mlid)
{
	mlids_describe(db->mlids, mlid, signature_of(db->by_mlid[mlid]), db->members[mlid]);
}

void mcast_bound_mlids(struct mcast_db *db, struct hold_bound most)
{
	db->most_mlids = most;
}

/* Bounds the MLIDs of clients' groups by those that the policy's groups have or may yet need. */
static void set_mlid_bound(struct mcast_db *db, unsigned mlids)
{
	uint32_t clients = holdings_total(db->holdings, HOLD_MLIDS);
	uint32_t policy = db->usage.mlids > clients ? db->usage.mlids - clients : 0;
	uint32_t kept = policy > mlids / POLICY_PART ? policy : mlids / POLICY_PART;
	struct hold_bound b = { mlids > kept ? mlids - kept : 0, mlids };

	if (db->usage.mlids >= mlids / 2)
		b.each = mlids / PORT_PART > PORT_MIN ? mlids / PORT_PART : PORT_MIN;
	if (db->most_mlids.max && db->most_mlids.max < b.max)
		b.max = db->most_mlids.max;
	if (db->most_mlids.each && db->most_mlids.each < b.each)
		b.each = db->most_mlids.each;
	holdings_set_bound(db->holdings, HOLD_MLIDS, b);
}

/* Whether a group of the holder (0: of the policy) may have an MLID of its own. */
static bool may_take_mlid(struct mcast_db *db, uint64_t holder, unsigned mlids)
{
	set_mlid_bound(db, mlids);
	return !holder || holdings_room(db->holdings, HOLD_MLIDS, holder);
}

/* The index of the MLID for a group, or MLID_NONE; like->mlid is the one asked for, or 0. */
static unsigned choose_mlid(struct mcast_db *db, const struct mcast_group *like, unsigned mlids)
{
	bool may_take;
	unsigned i;

	if (mlids > MLIDS)
		mlids = MLIDS;
	may_take = may_take_mlid(db, like->holder, mlids);
	if (like->mlid) {
		i = mlid_index(like);
		return is_mlid(like->mlid) && i < mlids && !db->by_mlid[i] && may_take ? i :
											 MLID_NONE;
	}
	i = may_take ? mlids_unused(db->mlids, mlids) : MLID_NONE;
	/* share the one with the fewest members: members get the packets of all its groups */
	return i != MLID_NONE ? i : mlids_to_share(db->mlids, signature_of(like), mlids);
}

/* --- holders of groups and memberships --- */

uint64_t mcast_answers_for(const struct mcast_member *m)
{
	return m->proxy && m->asked_by ? m->asked_by : m->gid.port;
}

static void count_member(struct mcast_db *db, const struct mcast_member *m, int more)
{
	holdings_add(db->holdings, HOLD_MEMBERSHIPS, mcast_answers_for(m), more);
}

static void count_group(struct mcast_db *db, const struct mcast_group *g, int more)
{
	if (!g->holder)
		return;
	holdings_add(db->holdings, HOLD_GROUPS, g->holder, more);
	if (g->has_mlid)
		holdings_add(db->holdings, HOLD_MLIDS, g->holder, more);
}

static void set_holder(struct mcast_db *db, struct mcast_group *g, uint64_t holder)
{
	if (g->holder == holder)
		return;
	count_group(db, g, -1);
	g->holder = holder;
	count_group(db, g, 1);
	keep_group(db, g);
}

/* Counts the MLID for the group's holder: the group is now the oldest with it. */
static void give_mlid(struct mcast_db *db, struct mcast_group *g)
{
	count_group(db, g, -1);
	g->has_mlid = true;
	count_group(db, g, 1);
}

/* Keeps a group's holder while a membership counts for it; else takes that of a full member, or of any. */
static void find_holder(struct mcast_db *db, struct mcast_group *g)
{
	uint64_t holder = 0;
	bool full = false;

	for (const struct mcast_member *m = g->members.v; m < vec_end(&g->members); m++) {
		if (g->holder && mcast_answers_for(m) == g->holder)
			return;
		if (!holder || (!full && m->join_state & JOIN_ANY_FULL))
			holder = mcast_answers_for(m);
		full |= (m->join_state & JOIN_ANY_FULL) != 0;
	}
	if (holder)
		set_holder(db, g, holder);
}

void mcast_hold(struct mcast_db *db, struct holdings *h)
{
	db->holdings = h;
	for (size_t i = 0; i < mgids_count(db->groups); i++) {
		const struct mcast_group *g = mgids_at(db->groups, i);

		count_group(db, g, 1);
		for (size_t k = 0; k < g->members.n; k++)
			count_member(db, &g->members.v[k], 1);
	}
}

bool mcast_room(struct mcast_db *db, uint64_t port)
{
	return holdings_ask(db->holdings, HOLD_MEMBERSHIPS, port);
}

/* --- changes --- */

static struct mcast_group *add_group(struct mcast_db *db, const struct mcast_group *like,
				     unsigned mlid)
{
	struct mcast_group *g = xmemdup(like, sizeof(*g));

	g->mlid = (uint16_t)(IB_LID_MCAST_FIRST + mlid);
	memset(&g->members, 0, sizeof(g->members));
	g->has_mlid = !db->by_mlid[mlid];
	count_group(db, g, 1);
	mgids_add(db->groups, g->mgid, g);
	if (!db->by_mlid[mlid])
		mlids_take(db->mlids, mlid);
	g->sharer = db->by_mlid[mlid];
	db->usage.mlids += !g->sharer;
	db->usage.sharing += g->sharer != NULL;
	db->by_mlid[mlid] = g;
	describe_mlid(db, mlid);
	keep_group(db, g);
	set_dirty(db, g->mlid, 0);
	tell_watch(db, g, true);
	return g;
}

struct mcast_group *mcast_create(struct mcast_db *db, const struct mcast_group *like,
				 unsigned mlids)
{
	unsigned mlid;

	if (mcast_find(db, like->mgid))
		return NULL;
	if (like->holder && !holdings_ask(db->holdings, HOLD_GROUPS, like->holder))
		return NULL;
	mlid = choose_mlid(db, like, mlids);
	if (mlid == MLID_NONE) {
		db->usage.refused++;
		return NULL;
	}
	return add_group(db, like, mlid);
}

struct mcast_group *mcast_restore(struct mcast_db *db, const struct mcast_group *like)
{
	const struct mcast_group *there = mcast_of_mlid(db, like->mlid);

	if (mcast_find(db, like->mgid) || !is_mlid(like->mlid) ||
	    (there && there->pkey != like->pkey))
		return NULL;
	return add_group(db, like, (unsigned)like->mlid - IB_LID_MCAST_FIRST);
}

static void give_mlid_back(struct mcast_db *db, const struct mcast_group *g)
{
	unsigned i = mlid_index(g);
	struct mcast_group **at = &db->by_mlid[i];

	while (*at != g)
		at = &(*at)->sharer;
	*at = g->sharer;
	db->members[i] -= (uint32_t)g->members.n;
	if (db->by_mlid[i]) {
		if (g->has_mlid)
			give_mlid(db, db->by_mlid[i]);
		db->usage.sharing--;
		describe_mlid(db, i);
		return;
	}
	db->usage.mlids--;
	mlids_give_back(db->mlids, i);
	db->root[i] = 0;
}

static void delete_group(struct mcast_db *db, struct mcast_group *g)
{
	tell_watch(db, g, false);
	tell_keeper(db, &(struct mcast_event){ .kind = MCAST_GONE, .group = g });
	mgids_remove(db->groups, g->mgid);
	count_group(db, g, -1);
	for (size_t i = 0; i < g->members.n; i++)
		count_member(db, &g->members.v[i], -1);
	give_mlid_back(db, g);
	free_group(g);
}

static void insert_member(struct mcast_db *db, struct mcast_group *g, size_t i,
			  struct mcast_member m)
{
	vec_push(&g->members);
	memmove(&g->members.v[i + 1], &g->members.v[i],
		(g->members.n - 1 - i) * sizeof(*g->members.v));
	g->members.v[i] = m;
	db->members[mlid_index(g)]++;
	count_member(db, &m, 1);
	describe_mlid(db, mlid_index(g));
}

static void remove_member(struct mcast_db *db, struct mcast_group *g, size_t i)
{
	count_member(db, &g->members.v[i], -1);
	g->members.n--;
	memmove(&g->members.v[i], &g->members.v[i + 1],
		(g->members.n - i) * sizeof(*g->members.v));
	db->members[mlid_index(g)]--;
	describe_mlid(db, mlid_index(g));
}

static void join(struct mcast_db *db, struct mcast_group *g, struct mcast_member m)
{
	size_t i = member_place(g, m.gid);

	if (is_at(g, i, m.gid)) {
		const struct mcast_member was = g->members.v[i];

		m.join_state |= was.join_state;
		count_member(db, &was, -1);
		g->members.v[i] = m;
		count_member(db, &m, 1);
		if (m.proxy != was.proxy || m.join_state != was.join_state ||
		    m.asked_by != was.asked_by)
			keep_member(db, g, m);
		if (mcast_answers_for(&was) == g->holder && mcast_answers_for(&m) != g->holder)
			find_holder(db, g);
		if (m.join_state == was.join_state)
			return;		/* nothing new: e.g. the port reregistered */
	} else {
		insert_member(db, g, i, m);
		keep_member(db, g, m);
	}
	set_dirty(db, g->mlid, m.gid.port);
}

void mcast_join_by(struct mcast_db *db, struct mcast_group *g, struct mcast_gid gid,
		   uint8_t join_state, uint64_t asked_by)
{
	bool proxy = asked_by != gid.port;

	join(db, g, (struct mcast_member){ .gid = gid, .join_state = join_state, .proxy = proxy,
					   .asked_by = proxy ? asked_by : 0 });
}

void mcast_join(struct mcast_db *db, struct mcast_group *g, struct mcast_gid gid,
		uint8_t join_state, bool proxy)
{
	join(db, g, (struct mcast_member){ .gid = gid, .join_state = join_state, .proxy = proxy });
}

static bool has_full_member(const struct mcast_group *g)
{
	for (size_t i = 0; i < g->members.n; i++)
		if (g->members.v[i].join_state & JOIN_ANY_FULL)
			return true;
	return false;
}

uint8_t mcast_leave(struct mcast_db *db, struct mcast_group *g, struct mcast_gid gid,
		    uint8_t join_state)
{
	size_t i = member_place(g, gid);

	if (!is_at(g, i, gid))
		return 0;
	uint8_t left = g->members.v[i].join_state & (uint8_t)~join_state;
	bool of_holder = mcast_answers_for(&g->members.v[i]) == g->holder;

	g->members.v[i].join_state = left;
	keep_member(db, g, g->members.v[i]);
	if (!left)
		remove_member(db, g, i);
	uint16_t mlid = g->mlid;
	bool last = !g->permanent && !has_full_member(g);

	if (last)
		delete_group(db, g);
	else if (!left && of_holder)
		find_holder(db, g);
	set_dirty(db, mlid, last ? 0 : gid.port);
	return left;
}

void mcast_delete(struct mcast_db *db, struct mcast_group *g)
{
	uint16_t mlid = g->mlid;

	delete_group(db, g);
	set_dirty(db, mlid, 0);
}

/* Goes from the last group to the first, as each may be deleted with its last full member. */
void mcast_gid_gone(struct mcast_db *db, struct mcast_gid gid)
{
	for (size_t i = mgids_count(db->groups); i-- > 0;)
		mcast_leave(db, mgids_at(db->groups, i), gid, 0xff);
}

void mcast_check_aliases(struct mcast_db *db, const struct alias_db *aliases)
{
	for (size_t i = mgids_count(db->groups); i-- > 0;) {
		struct mcast_group *g = mgids_at(db->groups, i);
		size_t groups = mgids_count(db->groups);

		for (size_t k = g->members.n; groups == mgids_count(db->groups) && k-- > 0;) {
			struct mcast_gid gid = g->members.v[k].gid;

			if (gid.guid != gid.port && alias_owner(aliases, gid.guid) != gid.port)
				mcast_leave(db, g, gid, 0xff);
		}
	}
}

/* --- replay of events --- */

static bool redo_group(struct mcast_db *db, const struct mcast_group *like)
{
	struct mcast_group *g = mcast_find(db, like->mgid);

	if (!g)
		return mcast_restore(db, like);
	if (g->mlid != like->mlid || g->pkey != like->pkey)
		return false;
	g->qkey = like->qkey;
	g->flow_label = like->flow_label;
	g->mtu = like->mtu;
	g->rate = like->rate;
	g->life = like->life;
	g->sl = like->sl;
	g->tclass = like->tclass;
	g->tclass_asked = like->tclass_asked;
	g->hop_limit = like->hop_limit;
	count_group(db, g, -1);
	g->holder = like->holder;
	count_group(db, g, 1);
	describe_mlid(db, mlid_index(g));
	keep_group(db, g);
	return true;
}

static void redo_member(struct mcast_db *db, struct mcast_group *g, struct mcast_member m)
{
	size_t i = member_place(g, m.gid);
	bool there = is_at(g, i, m.gid);

	if (there && m.join_state) {
		count_member(db, &g->members.v[i], -1);
		g->members.v[i] = m;
		count_member(db, &m, 1);
	} else if (there) {
		remove_member(db, g, i);
	} else if (m.join_state) {
		insert_member(db, g, i, m);
	}
	keep_member(db, g, m);
	set_dirty(db, g->mlid, m.gid.port);
}

bool mcast_redo(struct mcast_db *db, const struct mcast_event *e)
{
	struct mcast_group *g = mcast_find(db, e->group->mgid);

	switch (e->kind) {
	case MCAST_GROUP:
		return redo_group(db, e->group);
	case MCAST_ROOT:
		if (!mcast_of_mlid(db, e->group->mlid))
			return false;
		mcast_set_root(db, e->group->mlid, e->root);
		return true;
	case MCAST_GONE:
		if (g)
			delete_group(db, g);
		return g != NULL;
	case MCAST_MEMBER:
		if (g)
			redo_member(db, g, e->member);
		return g != NULL;
	}
	return false;
}

/* --- the policy's groups --- */

unsigned mcast_mlids(const struct subnet_state *s)
{
	unsigned least = MLIDS;
	bool any = s->f->n_switches == 0;	/* two CAs back to back need no switch */

	for (uint32_t i = 0; i < s->f->n_switches; i++) {
		unsigned cap = fabric_switch_mlids(s->f, i);

		any |= cap != 0;
		if (cap && cap < least)
			least = cap;
	}
	return any ? least : 0;
}

bool mcast_ipoib_broadcast(const uint8_t mgid[16], uint8_t broadcast[16])
{
	if (!mgid_is_ipoib(mgid))
		return false;
	mgid_of_broadcast(broadcast, 0, 0);
	broadcast[1] = mgid[1];
	memcpy(broadcast + 4, mgid + 4, 2);
	return true;
}

const struct policy_level *mcast_level(const struct subnet_state *s, uint16_t pkey)
{
	const struct policy *p = s->policy->p;
	uint32_t i = partition_of_pkey(s->plan->partitions, pkey);

	if (i >= p->n_partitions)
		return &p->levels[p->default_level];
	return &p->levels[p->partitions[i].ipoib ? p->partitions[i].ipoib_level_index :
						   p->partitions[i].level_index];
}

bool mcast_apply_level(const struct subnet_state *s, struct mcast_group *g)
{
	const struct policy_level *l = mcast_level(s, g->pkey);
	uint8_t tclass = l->tclass >= 0 ? (uint8_t)l->tclass : g->tclass_asked;
	bool same = g->sl == l->sl && g->tclass == tclass;

	g->sl = l->sl;
	g->tclass = tclass;
	return !same;
}

/* A group of the policy: a partition's broadcast group of one scope, or one of its `groups`. */
struct policy_group_ref {
	size_t partition;
	unsigned scope;		/* of a broadcast group */
	size_t at;		/* 1 + index in groups; 0: a broadcast group */
};

/* Steps through the policy's groups, in order of partition; begins with { 0 }.  False: there are no more. */
static bool next_policy_group(const struct policy *p, struct policy_group_ref *g)
{
	for (; g->partition < p->n_partitions; *g = (struct policy_group_ref){ .partition = g->partition + 1 }) {
		const struct policy_partition *part = &p->partitions[g->partition];
		uint16_t scopes = policy_ipoib_scopes(part);

		while (!g->at && ++g->scope <= SCOPE_MAX)
			if (scopes >> g->scope & 1)
				return true;
		if (g->at++ < part->n_groups)
			return true;
	}
	return false;
}

/* MTU and rate of a group of `groups`: of its broadcast group (RFC 4391, section 5), else of its level. */
static struct ipoib_limits limits_of_own(const struct mcast_db *db, const struct policy_mcast_group *own,
					 const struct policy_level *l)
{
	uint8_t of[16];
	const struct mcast_group *b = mcast_ipoib_broadcast(own->mgid, of) ? mcast_find(db, of) : NULL;

	return b ? (struct ipoib_limits){ b->mtu, b->rate } : level_ipoib_limits(l);
}

/*
 * The parameters of a group of the policy.  A broadcast group has MTU and rate that suit the hosts in the
 * fabric.
 */
static struct mcast_group policy_group(const struct mcast_db *db, const struct subnet_state *s,
				       const struct policy_group_ref *ref)
{
	const struct policy_partition *part = &s->policy->p->partitions[ref->partition];
	const struct policy_mcast_group *own = ref->at ? &part->groups[ref->at - 1] : NULL;
	const struct policy_level *l = &s->policy->p->levels[own ? own->level_index :
								    part->ipoib_level_index];
	struct ipoib_limits limits = own ? limits_of_own(db, own, l) :
					   s->plan->partitions->ipoib[ref->partition].made;
	bool ip = !own || mgid_is_ipoib(own->mgid);
	uint32_t qkey = own ? own->qkey : part->ipoib_qkey;
	struct mcast_group g = {
		.qkey = qkey || !ip ? qkey : IPOIB_QKEY, .pkey = part->pkey | IB_PKEY_FULL, .sl = l->sl,
		.mtu = limits.mtu, .rate = limits.rate, .life = s->plan->settings->subnet_timeout,
		.flow_label = own ? own->flow_label : part->ipoib_flow_label, .permanent = true,
	};

	if (!own) {
		const struct ipoib_limits *named = &s->plan->partitions->ipoib[ref->partition].named;

		g.named_mtu = named->mtu;
		g.named_rate = named->rate;
	}
	if (own)
		memcpy(g.mgid, own->mgid, sizeof(g.mgid));
	else
		mgid_of_broadcast(g.mgid, part->pkey, ref->scope);
	if (mgid_scope(g.mgid) != SCOPE_LINK_LOCAL)
		g.hop_limit = UINT8_MAX;
	if (l->packet_lifetime >= 0)
		g.life = (uint8_t)l->packet_lifetime;
	if (l->tclass >= 0)
		g.tclass = (uint8_t)l->tclass;
	return g;
}

/* False: nothing changed.  Members learn of new parameters when they join again. */
static bool update_group(struct mcast_group *g, const struct mcast_group *wanted)
{
	bool same = g->qkey == wanted->qkey && g->sl == wanted->sl && g->mtu == wanted->mtu &&
		    g->rate == wanted->rate && g->life == wanted->life &&
		    g->tclass == wanted->tclass && g->tclass_asked == wanted->tclass_asked &&
		    g->flow_label == wanted->flow_label && g->hop_limit == wanted->hop_limit;

	g->qkey = wanted->qkey;
	g->sl = wanted->sl;
	g->mtu = wanted->mtu;
	g->rate = wanted->rate;
	g->life = wanted->life;
	g->tclass = wanted->tclass;
	g->tclass_asked = wanted->tclass_asked;
	g->flow_label = wanted->flow_label;
	g->hop_limit = wanted->hop_limit;
	g->named_mtu = wanted->named_mtu;
	g->named_rate = wanted->named_rate;
	g->permanent = true;
	return !same;
}

static bool all_are_gone(const struct mcast_group *g, const struct fabric *f)
{
	for (size_t i = 0; i < g->members.n; i++)
		if (fabric_find_port(f, g->members.v[i].gid.port) != FABRIC_NONE)
			return false;
	return true;
}

/* Locks (on) or unlocks readers in another thread around a change. */
static void hold(const struct mcast_db *db, bool on)
{
	if (db->hold)
		db->hold(db->hold_arg, on);
}

static void drop_abandoned(struct mcast_db *db, const struct fabric *f)
{
	bool crowded = holdings_total(db->holdings, HOLD_GROUPS) >=
		       holdings_bound(db->holdings, HOLD_GROUPS).max / 4 * 3;

	for (size_t i = mgids_count(db->groups); i-- > 0;) {
		struct mcast_group *g = mgids_at(db->groups, i);
		uint16_t mlid = g->mlid;

		if (g->permanent)
			continue;
		if (has_full_member(g) && !(crowded && all_are_gone(g, f))) {
			if (!g->holder) {	/* was the policy's group, or is from an older state file */
				hold(db, true);
				find_holder(db, g);
				hold(db, false);
			}
			continue;
		}
		hold(db, true);
		delete_group(db, g);
		set_dirty(db, mlid, 0);
		hold(db, false);
	}
}

/* Notes a change of the group's parameters, not of its members. */
static void group_changed(struct mcast_db *db, const struct mcast_group *g)
{
	db->dirty = true;
	describe_mlid(db, mlid_index(g));
	keep_group(db, g);
}

/*
 * Members rely on MTU and rate: both stay while the group has members, unless the policy names less.
 * The caller does not call this after a policy was loaded.
 */
static void keep_limits(const struct mcast_group *g, const struct ipoib_limits *named,
			struct mcast_group *wanted)
{
	if (g->members.n && g->mtu <= named->mtu)
		wanted->mtu = g->mtu;
	if (g->members.n && rate_compare(g->rate, named->rate) <= 0)
		wanted->rate = g->rate;
}

/* Whether a partition in use got another level or other values: not if a policy was loaded. */
static bool is_set_anew(const struct mcast_db *db, const struct mcast_group *g,
			const struct mcast_group *wanted)
{
	return !db->settle && g->named_mtu && (g->sl != wanted->sl || g->tclass != wanted->tclass ||
	       g->named_mtu != wanted->named_mtu || g->named_rate != wanted->named_rate);
}

/* The other groups of an IPoIB subnet have MTU and rate of its broadcast group (RFC 4391, section 5). */
static void follow_limits(struct mcast_db *db, const struct mcast_group *broadcast)
{
	uint8_t of[16];

	for (size_t i = 0; i < mgids_count(db->groups); i++) {
		struct mcast_group *g = mgids_at(db->groups, i);

		if (g == broadcast || !mcast_ipoib_broadcast(g->mgid, of) ||
		    memcmp(of, broadcast->mgid, sizeof(of)) ||
		    (g->mtu == broadcast->mtu && g->rate == broadcast->rate))
			continue;
		hold(db, true);
		g->mtu = broadcast->mtu;
		g->rate = broadcast->rate;
		group_changed(db, g);
		hold(db, false);
	}
}

/* True: MTU or rate of *group changed; if it is a broadcast group, others have to follow. */
static bool update_policy_group(struct mcast_db *db, const struct subnet_state *s,
				const struct policy_group_ref *ref, struct mcast_group **group)
{
	struct mcast_group wanted = policy_group(db, s, ref);
	struct mcast_group *g = mcast_find(db, wanted.mgid);
	bool other_limits, anew;

	if (!g) {
		if (!mcast_create(db, &wanted, db->usage.limit))
			db->lacks_group = true;
		return false;
	}
	*group = g;
	set_holder(db, g, 0);
	anew = !ref->at && is_set_anew(db, g, &wanted);
	if (!db->settle && !ref->at && !anew)
		keep_limits(g, &s->plan->partitions->ipoib[ref->partition].named, &wanted);
	other_limits = g->mtu != wanted.mtu || g->rate != wanted.rate;
	if (update_group(g, &wanted))
		group_changed(db, g);
	for (size_t i = 0; anew && i < g->members.n; i++)
		*vec_push(&db->changed_ports) = g->members.v[i].gid.port;
	if (other_limits && !anew)
		db->members_misled |= g->members.n != 0;
	return other_limits;
}

/* When the loaded policy was loaded; an overlay with dynamic partitions does not count. */
static int64_t loaded_us(const struct shared_policy *p)
{
	return p->base ? p->base->loaded_us : p->loaded_us;
}

bool mcast_sync_begin(struct mcast_db *db, const struct subnet_state *s)
{
	bool first = db->generation == UINT64_MAX;

	if (db->generation == s->generation)
		return false;
	db->settle = !first && db->policy_loaded_us != loaded_us(s->policy);
	db->generation = s->generation;
	db->policy_loaded_us = loaded_us(s->policy);
	return true;
}

static void sync_policy(struct mcast_db *db, const struct subnet_state *s)
{
	const struct policy *p = s->policy->p;

	db->lacks_group = false;
	for (size_t i = 0; i < mgids_count(db->groups); i++)
		((struct mcast_group *)mgids_at(db->groups, i))->permanent = false;
	for (struct policy_group_ref ref = { 0 }; next_policy_group(p, &ref);) {
		struct mcast_group *group;
		bool follow;

		hold(db, true);
		follow = update_policy_group(db, s, &ref, &group);
		hold(db, false);
		if (follow && !ref.at)
			follow_limits(db, group);
	}
}

static void sync_levels(struct mcast_db *db, const struct subnet_state *s)
{
	for (size_t i = 0; i < mgids_count(db->groups); i++) {
		struct mcast_group *g = mgids_at(db->groups, i), as = *g;

		if (g->permanent || !mcast_apply_level(s, &as))
			continue;
		hold(db, true);
		mcast_apply_level(s, g);
		group_changed(db, g);
		hold(db, false);
	}
}

void mcast_sync_rest(struct mcast_db *db, const struct subnet_state *s,
		     void (*around)(void *arg, bool on), void *arg)
{
	db->hold = around;
	db->hold_arg = arg;
	db->usage.limit = mcast_mlids(s);
	sync_policy(db, s);
	sync_levels(db, s);
	drop_abandoned(db, s->f);
	set_mlid_bound(db, db->usage.limit);
	db->hold = NULL;
}

void mcast_sync(struct mcast_db *db, const struct subnet_state *s)
{
	if (mcast_sync_begin(db, s))
		mcast_sync_rest(db, s, NULL, NULL);
}

static const struct mcast_group *find_broadcast(const struct mcast_db *db, uint16_t pkey, unsigned scope)
{
	uint8_t mgid[16];

	mgid_of_broadcast(mgid, pkey, scope);
	return mcast_find(db, mgid);
}

unsigned mcast_missing_broadcasts(const struct mcast_db *db, uint16_t pkey, uint16_t scopes)
{
	unsigned missing = 0;

	for (; scopes; scopes &= (uint16_t)(scopes - 1))
		missing += !find_broadcast(db, pkey, (unsigned)__builtin_ctz(scopes));
	return missing;
}

bool mcast_lacks_broadcast(const struct mcast_db *db, const struct subnet_state *s,
			   size_t partition)
{
	const struct policy_partition *part = &s->policy->p->partitions[partition];

	return mcast_missing_broadcasts(db, part->pkey, policy_ipoib_scopes(part));
}

void mcast_make_missing(struct mcast_db *db, const struct subnet_state *s)
{
	bool lacks = false;

	if (!db->lacks_group || db->usage.mlids >= db->usage.limit)
		return;
	for (struct policy_group_ref ref = { 0 }; next_policy_group(s->policy->p, &ref);) {
		struct mcast_group wanted = policy_group(db, s, &ref);

		if (!mcast_find(db, wanted.mgid))
			lacks |= !mcast_create(db, &wanted, db->usage.limit);
	}
	db->lacks_group = lacks;
}

bool mcast_take_misled(struct mcast_db *db)
{
	bool misled = db->members_misled;

	db->members_misled = false;
	return misled;
}

static int compare_guids(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

void mcast_take_changed(struct mcast_db *db, struct mcast_ports *ports)
{
	size_t n = 0;

	*ports = db->changed_ports;
	db->changed_ports = (struct mcast_ports){ 0 };
	if (ports->n)
		qsort(ports->v, ports->n, sizeof(*ports->v), compare_guids);
	for (size_t i = 0; i < ports->n; i++)
		if (!n || ports->v[n - 1] != ports->v[i])
			ports->v[n++] = ports->v[i];
	ports->n = n;
}

const struct mcast_group *mcast_kept_low(const struct mcast_db *db, const struct subnet_state *s,
					 size_t partition)
{
	const struct policy_partition *part = &s->policy->p->partitions[partition];
	const struct ipoib_limits *made = &s->plan->partitions->ipoib[partition].made;
	uint16_t scopes = policy_ipoib_scopes(part);
	const struct mcast_group *g = scopes ?
		find_broadcast(db, part->pkey, (unsigned)__builtin_ctz(scopes)) : NULL;

	return g && (g->mtu < made->mtu || rate_compare(g->rate, made->rate) < 0) ? g : NULL;
}
