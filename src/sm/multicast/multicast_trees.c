/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a multicast tree for each MLID with members, for the state published last (to which it has
 * a reference).
 *
 * A change of membership changes the route from the member to its tree
 * (routing/multicast/mcast_tree.h), not the whole tree.  If a sweep knows which nodes changed, only
 * trees that cross them, or that go another way because of them, are made anew; after any other
 * sweep all are.  Trees are made a few at a time, so that the loop goes on.  A tree keeps its root
 * over sweeps and restarts as long as the root is there.  Changes of a tree go to
 * multicast_tables.c at once.
 *
 * A switch may forward some MLIDs and not others: its table may be smaller than those of the
 * switches that were there when a group got its MLID.  Trees of MLIDs beyond its table avoid it,
 * and members there are excluded.  A switch that refuses a block of its table keeps its old
 * entries: a tree uses them as far as they are right, and else avoids the switch.  Such trees grow
 * in forests of their own, one for each set of avoided switches.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "plan/sm_attributes.h"
#include "sm/multicast/multicast.h"

#define SLICE_US	2000	/* time for making trees before others have their turn */
#define FORESTS_MAX	64	/* sets of switches to avoid */

static struct log_ratelimit sl_log = LOG_RATELIMIT;

static unsigned role_of(uint8_t join_state)
{
	return !join_state ? 0 :
	       join_state & (JOIN_FULL | JOIN_NON) ? MCAST_SENDS | MCAST_RECEIVES : MCAST_SENDS;
}

/*
 * The members of all groups with the MLID that are in the fabric; one that is in several groups is
 * listed several times.
 */
static uint32_t members_of(const struct mcast_work *w, uint16_t mlid,
			   struct mcast_member_port **members, bool *absent)
{
	const struct mcast_group *first = mcast_of_mlid(w->sm->mcast, mlid), *g;
	uint32_t n = 0;
	size_t most = 0;

	for (g = first; g; g = g->sharer)
		most += g->members.n;
	*members = xmalloc((most + 1) * sizeof(**members));
	*absent = false;
	for (g = first; g; g = g->sharer)
		for (const struct mcast_member *m = g->members.v; m < vec_end(&g->members); m++) {
			uint32_t port = fabric_find_port(w->state->f, m->gid.port);
			uint8_t states = mcast_role(w->sm->mcast, mlid, m->gid.port);

			*absent |= port == FABRIC_NONE;
			if (port != FABRIC_NONE)
				(*members)[n++] =
					(struct mcast_member_port){ port, role_of(states) };
		}
	return n;
}

static void drop_tree(struct mcast_work *w, uint16_t mlid)
{
	struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];

	if (mt->reserved || (mt->t && !mt->before))
		w->load[mt->root]--;
	mt->reserved = false;
	if (!mt->t)
		return;
	mcast_tree_clear(mt->t);
	tables_take_tree(w, mlid);
	mcast_tree_free(mt->t);
	w->n_trees--;
	*mt = (struct mlid_tree){ 0 };
}

static uint32_t kept_root(const struct mcast_work *w, uint16_t mlid)
{
	uint64_t guid = mcast_root(w->sm->mcast, mlid);
	uint32_t node = guid ? map64_get(&w->state->f->node_by_guid, guid) : MAP64_NONE;

	return node == MAP64_NONE ? FABRIC_NONE : w->state->f->nodes[node].sw;
}

static bool has_bit(const uint64_t bits[4], unsigned i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* Finds a hop within a switch's part of a tree that drops the group's SL; false: there is none. */
static bool drops_sl(const struct mcast_work *w, uint32_t sw, const struct mcast_node *n,
		     unsigned sl, unsigned *in, unsigned *out)
{
	const struct fabric *f = w->state->f;
	const struct qos_tables *t = w->state->plan->tables;
	uint32_t node = f->switches[sw].node;

	for (*out = 1; *out <= f->nodes[node].nports; ++*out)
		for (*in = 1; has_bit(n->links, *out) && *in <= f->nodes[node].nports; ++*in)
			if (*in != *out && (has_bit(n->links, *in) || has_bit(n->senders, *in)) &&
			    !(paths_hop_sls(f, t, node, *in, *out) >> sl & 1))
				return true;
	return false;
}

/*
 * Warns if packets of the groups, which keep their SL, are dropped where the tables do not pass
 * that SL.
 */
static void check_sl(const struct mcast_work *w, uint16_t mlid)
{
	const struct mcast_tree *t = w->trees[mlid - IB_LID_MCAST_FIRST].t;
	const struct mcast_group *g = mcast_of_mlid(w->sm->mcast, mlid);
	unsigned in, out;

	for (size_t i = 0; w->state->plan->tables->managed && g && i < t->nodes.n; i++) {
		uint32_t sw = mcast_node_switch(t, &t->nodes.v[i]);

		if (!t->nodes.v[i].on || !drops_sl(w, sw, &t->nodes.v[i], g->sl, &in, &out))
			continue;
		log_limited(&sl_log, LOG_LEVEL_WARNING, "multicast",
			    "%s: MLID 0x%04x: SL %u of its groups is dropped from port %u to %u",
			    NODE_NAME(w->state->f, w->state->f->switches[sw].node), mlid, g->sl,
			    in, out);
		return;
	}
}

/* --- forests --- */

/* The switch refuses its block that has the MLID. */
static bool is_frozen(const struct mcast_work *w, uint32_t sw, unsigned index)
{
	for (size_t i = 0; i < w->frozen.n; i++)
		if (w->frozen.v[i].sw == sw && w->frozen.v[i].block == index / MLIDS_PER_BLOCK)
			return true;
	return false;
}

/* Some switch that forwards multicast cannot get a new entry for the MLID. */
static bool is_special(const struct mcast_work *w, uint16_t mlid)
{
	unsigned index = (unsigned)mlid - IB_LID_MCAST_FIRST;

	for (size_t i = 0; i < w->frozen.n; i++)
		if (w->frozen.v[i].block == index / MLIDS_PER_BLOCK)
			return true;
	return index >= w->mlids_least;
}

/* [switch]: its table does not reach up to the MLID. */
static bool *closed_for(const struct mcast_work *w, uint16_t mlid)
{
	uint32_t n = w->state->f->n_switches;
	bool *closed = xcalloc(n + 1u, sizeof(*closed));

	for (uint32_t sw = 0; sw < n; sw++)
		closed[sw] = (unsigned)mlid - IB_LID_MCAST_FIRST >= fabric_switch_mlids(w->state->f, sw);
	return closed;
}

/* The forest that avoids the closed switches; the open forest if there are too many such sets. */
static struct mcast_forest *forest_round(struct mcast_work *w, const bool *closed)
{
	uint32_t n = w->state->f->n_switches;
	struct closed_forest *other;
	bool any = false;

	for (uint32_t sw = 0; sw < n; sw++)
		any |= closed[sw] && fabric_switch_mlids(w->state->f, sw);
	for (size_t i = 0; i < w->forests.others.n && any; i++)
		if (!memcmp(w->forests.others.v[i].closed, closed, n * sizeof(*closed)))
			return w->forests.others.v[i].forest;
	if (!any || w->forests.others.n == FORESTS_MAX)
		return w->forests.open;
	other = vec_push(&w->forests.others);
	*other = (struct closed_forest){ xmemdup(closed, (n + 1u) * sizeof(*closed)),
					 mcast_forest_new(w->state->plan->order, closed) };
	return other->forest;
}

static void forests_free(struct forests *f)
{
	for (size_t i = 0; i < f->others.n; i++) {
		mcast_forest_free(f->others.v[i].forest);
		free(f->others.v[i].closed);
	}
	vec_free(&f->others);
	mcast_forest_free(f->open);
	*f = (struct forests){ 0 };
}

/* Lists the blocks that switches are remembered to refuse. */
static void find_frozen(struct mcast_work *w)
{
	const struct refusals *all = store_refusals(w->sm->store);
	const struct fabric *f = w->state->f;
	const struct refused_set *r;

	w->frozen.n = 0;
	mad_hold(w->sm->mad);	/* a job of a sweep may add refusals */
	for (size_t i = 0; (r = refusals_at(all, i)); i++) {
		uint32_t node = r->attr == UMAD_SM_ATTR_MCAST_FT && refusal_by_status(r) ?
				map64_get(&f->node_by_guid, r->guid) : MAP64_NONE;

		if (node != MAP64_NONE && f->nodes[node].sw != FABRIC_NONE)
			*vec_push(&w->frozen) = (struct frozen_block){
				f->nodes[node].sw, (uint16_t)(r->mod & MFT_BLOCK_MASK) };
	}
	mad_release(w->sm->mad);
}

/* --- switches that refuse blocks: they forward as before --- */

static bool is_set(const uint64_t bits[4], unsigned i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* The member's switch does not deliver to it, and cannot be made to. */
static bool is_excluded(const struct mcast_work *w, uint16_t mlid,
			const struct mcast_member_port *m)
{
	const struct fabric *f = w->state->f;
	uint32_t sw = fabric_switch_of(f, m->port);
	unsigned index = (unsigned)mlid - IB_LID_MCAST_FIRST, num;
	uint64_t held[4], fixed[4];

	if (sw == FABRIC_NONE || !(m->role & MCAST_RECEIVES) || !is_frozen(w, sw, index))
		return false;
	tables_held(w, &f->nodes[f->switches[sw].node], index, held, fixed);
	num = node_is_switch(port_node(f, m->port)) ? 0 : f->ports[f->ports[m->port].peer].num;
	return is_set(fixed, num) && !is_set(held, num);
}

/*
 * The switch forwards as the tree needs.  Delivery to hosts that left is harmless; packets to other
 * switches outside the tree might come back.
 */
static bool serves(const struct mcast_work *w, const struct mcast_tree *t, uint32_t sw,
		   unsigned index)
{
	const struct fabric *f = w->state->f;
	const struct fabric_node *n = &f->nodes[f->switches[sw].node];
	uint64_t want[4], held[4], fixed[4];

	tables_held(w, n, index, held, fixed);
	if (!mcast_tree_ports(t, sw, want))
		return true;
	for (unsigned num = 0; num <= n->nports; num++) {
		uint32_t peer = f->ports[n->port0 + num].peer;
		bool to_switch = num && peer != FABRIC_NONE && node_is_switch(port_node(f, peer));

		if (is_set(fixed, num) && is_set(want, num) != is_set(held, num) &&
		    (is_set(want, num) || to_switch))
			return false;
	}
	return true;
}

/* A switch that refuses the MLID's block and does not serve the tree, or FABRIC_NONE. */
static uint32_t find_useless(const struct mcast_work *w, const struct mcast_tree *t, uint16_t mlid,
			     const bool *closed)
{
	unsigned index = (unsigned)mlid - IB_LID_MCAST_FIRST;

	for (size_t i = 0; i < w->frozen.n; i++)
		if (w->frozen.v[i].block == index / MLIDS_PER_BLOCK &&
		    !closed[w->frozen.v[i].sw] && !serves(w, t, w->frozen.v[i].sw, index))
			return w->frozen.v[i].sw;
	return FABRIC_NONE;
}

/* Makes a tree of members in a forest; false: no member is on a switch that forwards. */
static bool grow_tree(struct mcast_work *w, struct mcast_forest *forest, uint16_t mlid,
		      const struct mcast_member_port *members, uint32_t n)
{
	struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];
	uint32_t root = mcast_choose_root(forest, members, n, w->load, kept_root(w, mlid), &mt->legal);

	if (root == FABRIC_NONE)
		return false;
	mt->root = root;
	mt->t = mcast_tree_new(forest, root, mlid);
	for (uint32_t i = 0; i < n; i++)
		mt->absent |= mcast_tree_set(mt->t, members[i].port, members[i].role) ==
			      MCAST_SET_NO_WAY;
	return true;
}

/* Makes a tree that avoids switches with too small tables and those whose old entries it cannot use. */
static bool grow_round(struct mcast_work *w, uint16_t mlid, struct mcast_member_port *members,
		       uint32_t n)
{
	struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];
	bool *closed = closed_for(w, mlid), grown;
	uint32_t left = 0, sw = FABRIC_NONE;

	for (uint32_t i = 0; i < n; i++)
		if (!is_excluded(w, mlid, &members[i]))
			members[left++] = members[i];
	mt->absent |= left < n;
	do {
		if (sw != FABRIC_NONE) {
			closed[sw] = true;
			mcast_tree_free(mt->t);
			mt->t = NULL;
		}
		grown = grow_tree(w, forest_round(w, closed), mlid, members, left);
		sw = grown ? find_useless(w, mt->t, mlid, closed) : FABRIC_NONE;
	} while (sw != FABRIC_NONE);
	free(closed);
	return grown;
}

static void make_tree(struct mcast_work *w, uint16_t mlid)
{
	struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];
	const struct fabric *f = w->state->f;
	struct mcast_member_port *members;
	uint32_t n;

	drop_tree(w, mlid);
	n = members_of(w, mlid, &members, &mt->absent);
	if (is_special(w, mlid) ? grow_round(w, mlid, members, n) :
				  grow_tree(w, w->forests.open, mlid, members, n)) {
		mcast_set_root(w->sm->mcast, mlid, f->nodes[f->switches[mt->root].node].guid);
		w->load[mt->root]++;
		w->n_trees++;
		w->trees_made++;
		w->all_made++;
		tables_take_tree(w, mlid);
		check_sl(w, mlid);
	}
	free(members);
}

static void look_at_later(struct mcast_work *w, uint16_t mlid)
{
	if (w->stale_tree[mlid - IB_LID_MCAST_FIRST])
		return;
	w->stale_tree[mlid - IB_LID_MCAST_FIRST] = true;
	*vec_push(&w->remake) = mlid;
}

static void remake_later(struct mcast_work *w, uint16_t mlid)
{
	w->trees[mlid - IB_LID_MCAST_FIRST].outdated = true;
	look_at_later(w, mlid);
}

/* Calls fn for all MLIDs with a tree or members, in falling order. */
static void each_mlid(struct mcast_work *w, void (*fn)(struct mcast_work *w, uint16_t mlid))
{
	for (uint32_t i = 0; i < MLIDS_MAX; i++) {
		uint16_t mlid = (uint16_t)(IB_LID_MCAST_FIRST + MLIDS_MAX - 1 - i);

		if (w->trees[mlid - IB_LID_MCAST_FIRST].t || mcast_of_mlid(w->sm->mcast, mlid))
			fn(w, mlid);
	}
}

/* Updates the tree after one port has joined or left. */
static void change_member(struct mcast_work *w, uint16_t mlid, uint64_t guid)
{
	struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];
	uint32_t port = fabric_find_port(w->state->f, guid);
	enum mcast_set set = MCAST_SET_OK;

	mt->absent |= port == FABRIC_NONE;
	mt->outdated |= w->stale_tree[mlid - IB_LID_MCAST_FIRST];
	if (port == FABRIC_NONE || w->stale_tree[mlid - IB_LID_MCAST_FIRST])
		return;
	if (is_special(w, mlid)) {
		remake_later(w, mlid);
		return;
	}
	if (mt->t)
		set = mcast_tree_set(mt->t, port, role_of(mcast_role(w->sm->mcast, mlid, guid)));
	mt->absent |= set == MCAST_SET_NO_WAY;
	/* another root will do better, as long as there is a legal one */
	if (!mt->t || (set == MCAST_SET_ILLEGAL && mt->legal))
		remake_later(w, mlid);
	if (mt->t)
		tables_take_tree(w, mlid);
}

void trees_take_changes(struct mcast_work *w)
{
	struct mcast_change c;

	while (mcast_next_change(w->sm->mcast, &c)) {
		if (!c.mlid)
			each_mlid(w, remake_later);
		else if (!c.guid)
			remake_later(w, c.mlid);
		else
			change_member(w, c.mlid, c.guid);
	}
}

/* Queues the MLID's tree if refused blocks may change it. */
static void look_at_frozen(struct mcast_work *w, uint16_t mlid)
{
	const struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];

	if (is_special(w, mlid) || !mt->t || mcast_tree_forest(mt->t) != w->forests.open || mt->absent)
		remake_later(w, mlid);
}

void trees_refused(struct mcast_work *w)
{
	find_frozen(w);
	each_mlid(w, look_at_frozen);
}

static void forget_state(struct mcast_work *w)
{
	forests_free(&w->forests);
	free(w->load);
	w->load = NULL;
	state_unref(w->state);
	w->state = NULL;
}

static void forget_trees(struct mcast_work *w)
{
	for (uint32_t i = 0; i < MLIDS_MAX; i++)
		mcast_tree_free(w->trees[i].t);
	memset(w->trees, 0, sizeof(w->trees));
	w->n_trees = 0;
}

/* Drops the previous state once its trees are taken over, made anew or not needed any more. */
static void forget_before(struct mcast_work *w)
{
	for (uint32_t i = 0; w->before && i < MLIDS_MAX; i++)
		if (w->trees[i].before)
			drop_tree(w, (uint16_t)(IB_LID_MCAST_FIRST + i));
	mcast_move_free(w->move);
	w->move = NULL;
	forests_free(&w->forests_before);
	state_unref(w->before);
	w->before = NULL;
}

/*
 * Marks nodes of the next state that differ from the state of the trees; NULL: unknown.  NULL also
 * under another policy: groups may have other SLs, which are checked when trees are made.
 */
static const uint8_t *changed_nodes(const struct mcast_work *w, const struct subnet_state *next)
{
	return w->state && next->since == w->state->generation && next->policy == w->state->policy ?
	       next->changed : NULL;
}

/* Prepares to take the trees of this state over into the next one, whose forest is `next`. */
static void keep_before(struct mcast_work *w, struct mcast_forest *next, const uint8_t *changed)
{
	w->move = mcast_move_new(w->forests.open, next, changed);
	w->forests_before = w->forests;
	w->before = w->state;
	w->forests = (struct forests){ 0 };
	w->state = NULL;
	for (uint32_t i = 0; i < MLIDS_MAX; i++) {
		w->trees[i].before = w->trees[i].t != NULL;
		w->trees[i].reserved = false;
	}
}

/* Counts a root that is kept, so that trees which choose a root see it. */
static void reserve_root(struct mcast_work *w, uint16_t mlid)
{
	struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];
	uint32_t root = kept_root(w, mlid);

	if (root == FABRIC_NONE)
		return;
	w->load[root]++;
	mt->root = root;
	mt->reserved = true;
}

/*
 * The order by which all trees are routed.  The plan's own tree covers every switch, so it can be
 * used only if every switch forwards multicast.
 */
static const struct updn_order *order_of(const struct subnet_state *s)
{
	for (uint32_t sw = 0; s->plan->tree && sw < s->f->n_switches; sw++)
		if (!fabric_switch_mlids(s->f, sw))
			return s->plan->order;
	return s->plan->tree ? s->plan->tree : s->plan->order;
}

void trees_adopt_state(struct mcast_work *w, struct subnet_state *s)
{
	struct mcast_forest *forest = mcast_forest_new(order_of(s), NULL);
	const uint8_t *changed = changed_nodes(w, s);
	struct mcast_ports changed_ports;

	forget_before(w);
	if (changed)
		keep_before(w, forest, changed);
	else
		forget_trees(w);
	forget_state(w);
	w->state = state_ref(s);
	w->forests.open = forest;
	w->mlids_least = mcast_mlids(s);
	find_frozen(w);
	w->load = xcalloc(s->f->n_switches + 1u, sizeof(*w->load));
	w->trees_made = w->trees_moved = 0;
	w->adopting = true;
	mcast_sync(w->sm->mcast, s);
	if (mcast_take_misled(w->sm->mcast)) {
		sm_registrations_lost(w->sm);
		sm_want_sweep(w->sm, SWEEP_POLICY, "asking members of IPoIB groups to join again");
	}
	mcast_take_changed(w->sm->mcast, &changed_ports);
	for (size_t i = 0; i < changed_ports.n; i++)
		sm_have_register(w->sm, changed_ports.v[i]);
	vec_free(&changed_ports);
	if (changed)
		tables_keep_wanted(w);
	else
		tables_want_nothing(w);
	each_mlid(w, reserve_root);
	each_mlid(w, look_at_later);
}

/* Takes the previous state's tree over if it is a good tree in this state. */
static bool take_over(struct mcast_work *w, uint16_t mlid)
{
	struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];

	if (!mt->before || mt->outdated || !mt->legal || mt->absent ||
	    mcast_tree_forest(mt->t) != w->forests_before.open ||
	    is_special(w, mlid) || !mcast_tree_move(w->move, mt->t))
		return false;
	if (!mt->reserved)
		w->load[mcast_tree_root(mt->t)]++;
	mt->reserved = mt->before = false;
	mt->root = mcast_tree_root(mt->t);
	w->trees_moved++;
	return true;
}

bool trees_remake_some(struct mcast_work *w)
{
	int64_t until = clock_mono_us() + SLICE_US;

	while (w->remake.n) {
		uint16_t mlid = w->remake.v[--w->remake.n];
		struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];

		w->stale_tree[mlid - IB_LID_MCAST_FIRST] = false;
		if (!take_over(w, mlid))
			make_tree(w, mlid);
		mt->outdated = false;
		if (w->remake.n && clock_mono_us() >= until)
			return false;
	}
	forget_before(w);
	if (w->adopting) {
		w->sweep_made = w->trees_made;
		w->sweep_moved = w->trees_moved;
	}
	w->adopting = false;
	if (w->trees_made || w->trees_moved)
		log_debug("multicast", "%u trees computed, %u unchanged",
			  w->trees_made, w->trees_moved);
	w->trees_made = w->trees_moved = 0;
	return true;
}

void trees_free(struct mcast_work *w)
{
	forget_trees(w);
	forget_before(w);
	forget_state(w);
	vec_free(&w->remake);
	vec_free(&w->frozen);
}
