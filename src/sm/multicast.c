/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast forwarding: a tree for each MLID with members, and the MFT blocks
 * that this makes (14.2.5.7).
 *
 * A block is 32 MLIDs of 16 ports of one switch.  What we wrote is remembered
 * per block, so that a change of membership writes only blocks that differ; a
 * block touched for the first time is read first.  Of switches that may have lost
 * or changed theirs (new ones, those in doubt, all in a full sweep) it is
 * forgotten; those that forwarded for somebody before us are read as far as they
 * have entries, so that nothing of his stays.
 *
 * Changes of membership are gathered for a moment: a restart makes all hosts join
 * at once, and one pass serves them all.  A change costs the way from the member to
 * its tree (route/mcast.h), not the tree; after a sweep all trees are made anew, a few
 * at a time, so that the loop goes on.  No table is written before all are made.
 *
 * The order of writing: first bits go, on all switches, then bits come.  In between
 * and at any time what is forwarded is part of the old tree or part of the new one,
 * so that nothing loops and nothing arrives twice, as long as switches do as they
 * say.  What moves is not delivered meanwhile.  Where a switch did not take a
 * removal, nothing is added for the MLIDs concerned until it did: a tree that is not
 * whole is better than a loop.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/log.h"
#include "plan/attributes.h"
#include "registry/mcast.h"
#include "route/mcast.h"
#include "sm/internal.h"

#define MLIDS_MAX	(IB_LID_MCAST_LAST - IB_LID_MCAST_FIRST + 1)
#define GATHER_US	20000
#define SLICE_US	2000	/* making trees, before others have their turn */
#define RETRY_US	2000000ll
#define RETRY_MAX_US	60000000ll

static struct log_ratelimit failed_log = LOG_RATELIMIT, mlids_log = LOG_RATELIMIT,
			    sl_log = LOG_RATELIMIT;

enum pass { PASS_READ, PASS_CLEAR, PASS_SET, PASSES };

struct mft_switch {
	uint64_t guid;
	bool used_before;	/* it forwarded before we came: read all that it has */
	bool doubt;		/* while blocks are forgotten */
	uint32_t target;	/* of the pass, plus 1; 0: none */
};

struct mft_block {
	uint32_t sw;		/* in work.switches */
	uint16_t block;
	uint8_t position;
	bool known;		/* `is` is what the device holds */
	bool answered;		/* … or was when it was asked last */
	bool failed;		/* not to be tried again in this pass over the trees */
	bool silent;		/* … since there was no answer: later */
	bool listed;		/* in work.pending */
	uint8_t is[64], want[64], send[64];
};

struct target {			/* a device of a job */
	uint32_t sw;		/* among the switches of the state */
	VEC(uint32_t) todo;	/* blocks */
};

struct mlid_tree {
	struct mcast_tree *t;
	uint32_t root;		/* switch */
	bool legal;		/* as far as the root could be chosen for it */
	bool reserved;		/* not made yet in this state: root is what it had */
};

struct mcast_work {
	struct sm *sm;
	struct timer *gather, *retry;
	int64_t retry_us;
	struct smp_job *job;
	enum pass pass;
	bool again;

	/* trees, of a published state that is held */
	struct subnet_state *state;
	struct mcast_forest *forest;
	uint32_t *load;			/* [switch]: trees that hang from it */
	struct mlid_tree trees[MLIDS_MAX];
	bool stale_tree[MLIDS_MAX];	/* to be made anew */
	VEC(uint16_t) remake;		/* … those */
	uint32_t sharing_seen;
	uint64_t refused_seen;

	/* tables */
	VEC(struct mft_switch) switches;
	struct map64 switch_by_guid;
	VEC(struct mft_block) blocks;
	struct map64 by_key;
	VEC(uint32_t) pending;		/* blocks that may differ from what is wanted */
	VEC(struct target) targets;
	bool stuck[MLIDS_MAX];		/* a removal was not taken */
	uint32_t mlid_top;
};

/* --- blocks --- */

/* Valid until the next one is made. */
static struct mft_switch *switch_get(struct mcast_work *w, uint64_t guid)
{
	uint32_t i = map64_get(&w->switch_by_guid, guid);
	struct mft_switch *s;

	if (i != MAP64_NONE)
		return &w->switches.v[i];
	map64_put(&w->switch_by_guid, guid, (uint32_t)w->switches.n);
	s = vec_push(&w->switches);
	*s = (struct mft_switch){ .guid = guid };
	return s;
}

static uint64_t block_key(uint64_t guid, unsigned block, unsigned position)
{
	return hash64(guid ^ hash64((uint64_t)block << 8 | position | 1ull << 40));
}

static struct mft_block *block_find(const struct mcast_work *w, uint64_t guid, unsigned block,
				    unsigned position)
{
	uint32_t i = map64_get(&w->by_key, block_key(guid, block, position));

	return i == MAP64_NONE ? NULL : &w->blocks.v[i];
}

static struct mft_block *block_get(struct mcast_work *w, uint64_t guid, unsigned block,
				   unsigned position)
{
	struct mft_block *b = block_find(w, guid, block, position);

	if (b)
		return b;
	map64_put(&w->by_key, block_key(guid, block, position), (uint32_t)w->blocks.n);
	b = vec_push(&w->blocks);
	*b = (struct mft_block){ .sw = (uint32_t)(switch_get(w, guid) - w->switches.v),
				 .block = (uint16_t)block, .position = (uint8_t)position };
	return b;
}

static void block_list(struct mcast_work *w, struct mft_block *b)
{
	if (b->listed)
		return;
	b->listed = true;
	b->failed = b->silent = false;
	*vec_push(&w->pending) = (uint32_t)(b - w->blocks.v);
}

/* The switch that a block is of, among those of the state; FABRIC_NONE: it is not there. */
static uint32_t block_switch(const struct mcast_work *w, const struct mft_block *b)
{
	const struct fabric *f = w->state->f;
	uint32_t node = map64_get(&f->node_by_guid, w->switches.v[b->sw].guid);

	return node == MAP64_NONE ? FABRIC_NONE : f->nodes[node].sw;
}

/* --- from trees to wanted blocks --- */

static void want_entry(struct mcast_work *w, uint32_t sw, uint16_t mlid, const uint64_t ports[4])
{
	const struct fabric_node *n = &w->state->f->nodes[w->state->f->switches[sw].node];
	unsigned index = (unsigned)mlid - IB_LID_MCAST_FIRST;

	for (unsigned pos = 0; pos * PORTS_PER_POSITION <= n->nports; pos++) {
		uint16_t mask = (uint16_t)(ports[pos / 4] >> (pos % 4 * PORTS_PER_POSITION));
		struct mft_block *b = block_find(w, n->guid, index / MLIDS_PER_BLOCK, pos);
		unsigned at = 2 * (index % MLIDS_PER_BLOCK);

		if (!b && !mask)
			continue;
		if (index >= w->state->f->switches[sw].mcast_cap)
			continue;	/* a group from before such a switch came */
		if (!b)
			b = block_get(w, n->guid, index / MLIDS_PER_BLOCK, pos);
		put_be16(b->want + at, mask);
		block_list(w, b);
	}
}

static void take_touched(struct mcast_work *w, uint16_t mlid)
{
	struct mcast_tree *t = w->trees[mlid - IB_LID_MCAST_FIRST].t;
	uint64_t ports[4];

	for (size_t i = 0; i < t->touched.n; i++) {
		mcast_tree_ports(t, t->touched.v[i], ports);
		want_entry(w, t->touched.v[i], mlid, ports);
	}
	t->touched.n = 0;
	if (mlid > w->mlid_top)
		w->mlid_top = mlid;
}

/* --- trees --- */

static unsigned role_of(uint8_t join_state)
{
	return !join_state ? 0 :
	       join_state & (JOIN_FULL | JOIN_NON) ? MCAST_SENDS | MCAST_RECEIVES : MCAST_SENDS;
}

/* Those of all groups with the MLID that are there, each as often as it is named. */
static uint32_t members_of(const struct mcast_work *w, uint16_t mlid,
			   struct mcast_member_port **members)
{
	const struct mcast_group *first = mcast_of_mlid(w->sm->mcast, mlid), *g;
	uint32_t n = 0;
	size_t most = 0;

	for (g = first; g; g = g->sharer)
		most += g->members.n;
	*members = xmalloc((most + 1) * sizeof(**members));
	for (g = first; g; g = g->sharer)
		for (size_t i = 0; i < g->members.n; i++) {
			const struct mcast_member *m = &g->members.v[i];
			uint32_t port = fabric_find_port(w->state->f, m->gid.port);
			uint8_t states = mcast_role(w->sm->mcast, mlid, m->gid.port);

			if (port != FABRIC_NONE)
				(*members)[n++] =
					(struct mcast_member_port){ port, role_of(states) };
		}
	return n;
}

static void drop_tree(struct mcast_work *w, uint16_t mlid)
{
	struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];

	w->load[mt->root] -= mt->reserved;
	mt->reserved = false;
	if (!mt->t)
		return;
	mcast_tree_clear(mt->t);
	take_touched(w, mlid);
	w->load[mt->root]--;
	mcast_tree_free(mt->t);
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

/* The first hop of a switch's part of a tree that drops the group's SL; false: there is none. */
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

/* Packets of a group go by its SL; where the tables drop that, they end. */
static void check_sl(const struct mcast_work *w, uint16_t mlid)
{
	const struct mcast_tree *t = w->trees[mlid - IB_LID_MCAST_FIRST].t;
	const struct mcast_group *g = mcast_of_mlid(w->sm->mcast, mlid);
	char name[FABRIC_NAME_MAX];
	unsigned in, out;

	for (size_t i = 0; w->state->plan->tables->managed && g && i < t->nodes.n; i++) {
		uint32_t sw = mcast_node_switch(t, &t->nodes.v[i]);

		if (!t->nodes.v[i].on || !drops_sl(w, sw, &t->nodes.v[i], g->sl, &in, &out))
			continue;
		log_limited(&sl_log, LOG_LEVEL_WARNING, "multicast",
			    "%s: MLID 0x%04x: SL %u of its groups is dropped from port %u to %u",
			    fabric_node_name(w->state->f, w->state->f->switches[sw].node, name,
					     sizeof(name)), mlid, g->sl, in, out);
		return;
	}
}

static void make_tree(struct mcast_work *w, uint16_t mlid)
{
	struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];
	struct mcast_member_port *members;
	uint32_t n, root;

	drop_tree(w, mlid);
	n = members_of(w, mlid, &members);
	root = mcast_choose_root(w->forest, members, n, w->load, kept_root(w, mlid), &mt->legal);
	if (root != FABRIC_NONE) {
		const struct fabric *f = w->state->f;

		mcast_set_root(w->sm->mcast, mlid, f->nodes[f->switches[root].node].guid);
		mt->root = root;
		mt->t = mcast_tree_new(w->forest, root, mlid);
		w->load[root]++;
		for (uint32_t i = 0; i < n; i++)
			mcast_tree_set(mt->t, members[i].port, members[i].role);
		take_touched(w, mlid);
		check_sl(w, mlid);
	}
	free(members);
}

static void remake_later(struct mcast_work *w, uint16_t mlid)
{
	if (w->stale_tree[mlid - IB_LID_MCAST_FIRST])
		return;
	w->stale_tree[mlid - IB_LID_MCAST_FIRST] = true;
	*vec_push(&w->remake) = mlid;
}

static void remake_all(struct mcast_work *w)
{
	for (uint32_t i = 0; i < MLIDS_MAX; i++) {
		uint16_t mlid = (uint16_t)(IB_LID_MCAST_FIRST + MLIDS_MAX - 1 - i);

		if (w->trees[mlid - IB_LID_MCAST_FIRST].t || mcast_of_mlid(w->sm->mcast, mlid))
			remake_later(w, mlid);
	}
}

/* One port joined or left. */
static void change_member(struct mcast_work *w, uint16_t mlid, uint64_t guid)
{
	struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];
	uint32_t port = fabric_find_port(w->state->f, guid);

	if (port == FABRIC_NONE || w->stale_tree[mlid - IB_LID_MCAST_FIRST])
		return;
	/* a root that others will do better for, as long as any does */
	if (!mt->t || (mcast_tree_set(mt->t, port, role_of(mcast_role(w->sm->mcast, mlid, guid)))
		       == MCAST_SET_ILLEGAL && mt->legal))
		remake_later(w, mlid);
	if (mt->t)
		take_touched(w, mlid);
}

static void take_changes(struct mcast_work *w)
{
	struct mcast_change c;

	while (mcast_next_change(w->sm->mcast, &c)) {
		if (!c.mlid)
			remake_all(w);
		else if (!c.guid)
			remake_later(w, c.mlid);
		else
			change_member(w, c.mlid, c.guid);
	}
}

static void forget_trees(struct mcast_work *w)
{
	for (uint32_t i = 0; i < MLIDS_MAX; i++)
		mcast_tree_free(w->trees[i].t);
	memset(w->trees, 0, sizeof(w->trees));
	mcast_forest_free(w->forest);
	w->forest = NULL;
	free(w->load);
	w->load = NULL;
	state_unref(w->state);
	w->state = NULL;
}

/* Another state is published: trees are made of it from now on. */
static void adopt_state(struct mcast_work *w, struct subnet_state *s)
{
	forget_trees(w);
	w->state = state_ref(s);
	w->forest = mcast_forest_new(s->plan->order);
	w->load = xcalloc(s->f->n_switches + 1u, sizeof(*w->load));
	mcast_sync(w->sm->mcast, s);
	for (size_t i = 0; i < w->blocks.n; i++) {
		memset(w->blocks.v[i].want, 0, sizeof(w->blocks.v[i].want));
		block_list(w, &w->blocks.v[i]);
	}
	for (size_t i = 0; i < mcast_count(w->sm->mcast); i++) {
		uint16_t mlid = mcast_at(w->sm->mcast, i)->mlid;
		struct mlid_tree *mt = &w->trees[mlid - IB_LID_MCAST_FIRST];
		uint32_t root = kept_root(w, mlid);

		/* so that those which look for a root see those which keep theirs */
		if (root == FABRIC_NONE || mt->reserved)
			continue;
		w->load[root]++;
		mt->root = root;
		mt->reserved = true;
	}
	remake_all(w);
}

/* As long as others can wait; false: there is more. */
static bool remake_some(struct mcast_work *w)
{
	int64_t until = clock_mono_us() + SLICE_US;

	while (w->remake.n) {
		uint16_t mlid = w->remake.v[--w->remake.n];

		w->stale_tree[mlid - IB_LID_MCAST_FIRST] = false;
		make_tree(w, mlid);
		if (w->remake.n && clock_mono_us() >= until)
			return false;
	}
	return true;
}

/* --- the jobs: devices are the switches that have anything to do in the pass --- */

/* What a pass has to do with a block; fills b->send. */
static bool pass_wants(struct mcast_work *w, enum pass pass, struct mft_block *b)
{
	bool any = false;

	if (b->failed || b->known != (pass != PASS_READ))
		return false;
	for (unsigned i = 0; i < sizeof(b->is) && pass != PASS_READ; i++) {
		unsigned index = b->block * MLIDS_PER_BLOCK + i / 2u;
		bool only_clear = pass == PASS_CLEAR || (index < MLIDS_MAX && w->stuck[index]);

		b->send[i] = only_clear ? b->is[i] & b->want[i] : b->want[i];
		any |= b->send[i] != b->is[i];
	}
	return pass == PASS_READ || any;
}

static void add_todo(struct mcast_work *w, uint32_t block)
{
	struct mft_switch *s = &w->switches.v[w->blocks.v[block].sw];

	if (!s->target) {
		*vec_push(&w->targets) =
			(struct target){ .sw = block_switch(w, &w->blocks.v[block]) };
		s->target = (uint32_t)w->targets.n;
	}
	*vec_push(&w->targets.v[s->target - 1].todo) = block;
}

static bool next(void *arg, uint32_t target, struct smp *s, uint64_t *cookie)
{
	struct mcast_work *w = arg;
	const struct fabric *f = w->state->f;
	struct target *t = &w->targets.v[target];
	const struct mft_block *b;

	if (!t->todo.n)
		return false;
	*cookie = t->todo.v[--t->todo.n];
	b = &w->blocks.v[*cookie];
	*s = (struct smp){ .method = w->pass == PASS_READ ? SMP_GET : SMP_SET,
			   .attr = UMAD_SM_ATTR_MCAST_FT,
			   .mod = (uint32_t)b->position << 28 | b->block,
			   .m_key = w->sm->settings->m_key };
	if (s->method == SMP_SET)
		memcpy(s->data, b->send, sizeof(s->data));
	return want_route(f, f->switches[t->sw].node, 0, s);
}

static void say_failed(const struct mcast_work *w, uint32_t sw, const struct mft_block *b,
		       const struct smp *s, int status)
{
	char name[FABRIC_NAME_MAX];

	log_limited(&failed_log, LOG_LEVEL_WARNING, "multicast",
		    "%s: MFT block %u of ports %u..: %s failed (%d)",
		    fabric_node_name(w->state->f, w->state->f->switches[sw].node, name,
				     sizeof(name)),
		    b->block, b->position * PORTS_PER_POSITION,
		    s->method == SMP_SET ? "Set" : "Get", status);
}

/* The next block of a switch that somebody used before us, as long as there are entries. */
static void read_on(struct mcast_work *w, uint32_t target, uint32_t block)
{
	static const uint8_t empty[64];
	const struct mft_block b = w->blocks.v[block];
	const struct mft_switch s = w->switches.v[b.sw];
	struct mft_block *then;

	if (!s.used_before || !memcmp(b.is, empty, sizeof(b.is)) ||
	    (b.block + 1u) * MLIDS_PER_BLOCK >=
	    w->state->f->switches[w->targets.v[target].sw].mcast_cap)
		return;
	then = block_get(w, s.guid, b.block + 1u, b.position);
	if (then->known || then->listed)
		return;
	block_list(w, then);
	*vec_push(&w->targets.v[target].todo) = (uint32_t)(then - w->blocks.v);
}

static void done(void *arg, uint32_t target, const struct smp *s, uint64_t cookie, int status)
{
	struct mcast_work *w = arg;
	struct mft_block *b = &w->blocks.v[cookie];

	if (status) {
		b->failed = b->silent = true;
		say_failed(w, w->targets.v[target].sw, b, s, status);
		return;
	}
	memcpy(b->is, s->data, sizeof(b->is));
	/* what it does not take it will not take when asked again */
	b->failed = s->method == SMP_SET && memcmp(b->is, b->send, sizeof(b->is));
	b->known = b->answered = true;
	if (w->pass == PASS_READ)
		read_on(w, target, (uint32_t)cookie);
}

/* MLIDs that a switch still forwards where it must not. */
static void find_stuck(struct mcast_work *w)
{
	for (size_t i = 0; i < w->pending.n; i++) {
		const struct mft_block *b = &w->blocks.v[w->pending.v[i]];

		for (unsigned k = 0; b->known && b->failed && k < sizeof(b->is); k++)
			if (b->is[k] & ~b->want[k])
				w->stuck[b->block * MLIDS_PER_BLOCK + k / 2u] = true;
	}
}

static void free_targets(struct mcast_work *w)
{
	for (size_t i = 0; i < w->targets.n; i++)
		vec_free(&w->targets.v[i].todo);
	w->targets.n = 0;
	for (size_t i = 0; i < w->pending.n; i++)
		w->switches.v[w->blocks.v[w->pending.v[i]].sw].target = 0;
}

static void finished(void *arg);
static const struct smp_job_ops ops = { next, done, finished };

/* All passes are over: what had no answer is tried again later. */
static void passes_ended(struct mcast_work *w)
{
	uint32_t left = 0;

	for (size_t i = 0; i < w->pending.n; i++) {
		struct mft_block *b = &w->blocks.v[w->pending.v[i]];

		b->listed = b->silent;
		if (b->silent)
			w->pending.v[left++] = w->pending.v[i];
	}
	w->pending.n = left;
	if (left) {
		w->retry_us = w->retry_us ? w->retry_us * 2 : RETRY_US;
		if (w->retry_us > RETRY_MAX_US)
			w->retry_us = RETRY_MAX_US;
		timer_set(w->retry, w->retry_us, 0);
	} else {
		w->retry_us = 0;
	}
	if (w->again)
		sm_mcast_changed(w->sm);
}

/* Of blocks of switches that are not there nothing is wanted, and nothing known. */
static void run_passes(struct mcast_work *w)
{
	for (; w->pass < PASSES; w->pass++) {
		if (w->pass == PASS_SET)
			find_stuck(w);
		for (size_t i = 0; i < w->pending.n; i++) {
			struct mft_block *b = &w->blocks.v[w->pending.v[i]];

			if (block_switch(w, b) == FABRIC_NONE)
				b->known = false;
			else if (pass_wants(w, w->pass, b))
				add_todo(w, w->pending.v[i]);
		}
		if (!w->targets.n)
			continue;
		w->job = smp_job_start(w->sm->mad, (uint32_t)w->targets.n, &ops, w);
		return;
	}
	passes_ended(w);
}

static void finished(void *arg)
{
	struct mcast_work *w = arg;

	w->job = NULL;
	free_targets(w);
	w->pass++;
	run_passes(w);
}

/* --- when it is done --- */

static void say_usage(struct mcast_work *w)
{
	struct mcast_usage u = mcast_usage(w->sm->mcast);

	if (u.sharing > w->sharing_seen)
		log_limited(&mlids_log, LOG_LEVEL_WARNING, "multicast",
			    "all %u MLIDs that the switches forward are in use: %u groups share "
			    "one with others, and their members get each other's packets",
			    u.limit, u.sharing);
	if (u.refused > w->refused_seen)
		log_limited(&mlids_log, LOG_LEVEL_WARNING, "multicast",
			    "%" PRIu64 " groups refused: no MLID is free, or none with the same "
			    "P_Key, MTU, rate and SL", u.refused - w->refused_seen);
	w->sharing_seen = u.sharing;
	w->refused_seen = u.refused;
}

static void start(void *arg)
{
	struct mcast_work *w = arg;
	struct sm *sm = w->sm;

	/* a sweep that runs starts it at its end */
	w->again = w->job != NULL;
	if (w->again || !sm->published || sm->kind != SWEEP_NONE)
		return;
	if (w->state != sm->published)
		adopt_state(w, sm->published);
	take_changes(w);
	if (!remake_some(w)) {
		timer_set(w->gather, 0, 0);
		return;
	}
	say_usage(w);
	/* before any device hears of it: after a crash the groups must be the same */
	if (mcast_dirty(sm->mcast) && store_save_groups(sm->store, sm->mcast))
		mcast_clean(sm->mcast);
	memset(w->stuck, 0, sizeof(w->stuck));
	w->pass = PASS_READ;
	run_passes(w);
}

static void retry(void *arg)
{
	struct mcast_work *w = arg;

	for (size_t i = 0; i < w->pending.n && !w->job; i++)
		w->blocks.v[w->pending.v[i]].failed = w->blocks.v[w->pending.v[i]].silent = false;
	sm_mcast_changed(w->sm);
}

/* --- from outside --- */

static struct mcast_work *get_work(struct sm *sm)
{
	struct mcast_work *w = sm->mcast_work;

	if (w)
		return w;
	w = sm->mcast_work = xcalloc(1, sizeof(*w));
	w->sm = sm;
	map64_init(&w->by_key, 64);
	map64_init(&w->switch_by_guid, 64);
	w->gather = timer_new(sm->loop, start, w);
	w->retry = timer_new(sm->loop, retry, w);
	return w;
}

void sm_mcast_changed(struct sm *sm)
{
	struct mcast_work *w = get_work(sm);

	if (!timer_active(w->gather))
		timer_set(w->gather, GATHER_US, 0);
}

void multicast_after_sweep(struct sm *sm)
{
	if (sm->mcast)
		sm_mcast_changed(sm);
}

void multicast_observed(struct sm *sm)
{
	struct mcast_work *w;

	if (!sm->mcast)
		return;
	w = get_work(sm);
	mad_hold(sm->mad);	/* the trees' own job may run between those of the sweep */
	for (uint32_t i = 0; i < sm->f->n_switches; i++) {
		const struct node_work *n = &sm->work[sm->f->switches[i].node];
		struct mft_switch *s = switch_get(w, sm->f->nodes[sm->f->switches[i].node].guid);

		s->doubt = n->mft_unknown;
		s->used_before = n->mft_unknown && n->used_before;
	}
	for (size_t i = 0; i < w->blocks.n; i++)
		if (w->switches.v[w->blocks.v[i].sw].doubt)
			w->blocks.v[i].known = false;
	for (uint32_t i = 0; i < sm->f->n_switches; i++) {
		const struct fabric_node *n = &sm->f->nodes[sm->f->switches[i].node];

		for (unsigned pos = 0; switch_get(w, n->guid)->used_before &&
		     pos * PORTS_PER_POSITION <= n->nports; pos++)
			block_list(w, block_get(w, n->guid, 0, pos));
	}
	mad_release(sm->mad);
}

void multicast_stop(struct sm *sm)
{
	struct mcast_work *w = sm->mcast_work;

	if (!w)
		return;
	if (w->job)
		smp_job_cancel(w->job);
	free_targets(w);
	vec_free(&w->targets);
	forget_trees(w);
	timer_free(w->gather);
	timer_free(w->retry);
	map64_free(&w->by_key);
	map64_free(&w->switch_by_guid);
	vec_free(&w->blocks);
	vec_free(&w->switches);
	vec_free(&w->pending);
	vec_free(&w->remake);
	free(w);
	sm->mcast_work = NULL;
}

/* As the device holds it; between mad_hold() and mad_release(). */
static bool entry_ports(const struct mcast_work *w, const struct fabric_node *n, unsigned index,
			uint64_t ports[4])
{
	bool any = false;

	memset(ports, 0, 4 * sizeof(*ports));
	for (unsigned pos = 0; pos * PORTS_PER_POSITION <= n->nports; pos++) {
		const struct mft_block *b = block_find(w, n->guid, index / MLIDS_PER_BLOCK, pos);
		uint16_t mask = b && b->known ? get_be16(b->is + 2 * (index % MLIDS_PER_BLOCK)) : 0;

		ports[pos / 4] |= (uint64_t)mask << (pos % 4 * PORTS_PER_POSITION);
		any |= mask != 0;
	}
	return any;
}

bool sm_mft_entry(const struct sm *sm, const struct subnet_state *s, uint32_t sw, uint16_t mlid,
		  uint64_t ports[4])
{
	const struct mcast_work *w = sm->mcast_work;
	bool any;

	memset(ports, 0, 4 * sizeof(*ports));
	if (!w || mlid < IB_LID_MCAST_FIRST)
		return false;
	mad_hold(sm->mad);	/* the job writes what the blocks hold */
	any = entry_ports(w, &s->f->nodes[s->f->switches[sw].node], mlid - IB_LID_MCAST_FIRST,
			  ports);
	mad_release(sm->mad);
	return any;
}

bool sm_mft_next(const struct sm *sm, const struct subnet_state *s, uint32_t sw,
		 uint32_t *cursor, uint16_t *mlid, uint64_t ports[4])
{
	const struct mcast_work *w = sm->mcast_work;
	const struct fabric_node *n = &s->f->nodes[s->f->switches[sw].node];
	bool any = false;

	mad_hold(sm->mad);
	for (; w && !any && IB_LID_MCAST_FIRST + *cursor <= w->mlid_top; ++*cursor) {
		any = entry_ports(w, n, *cursor, ports);
		*mlid = (uint16_t)(IB_LID_MCAST_FIRST + *cursor);
	}
	mad_release(sm->mad);
	return any;
}

uint32_t sm_mft_blocks(const struct sm *sm)
{
	const struct mcast_work *w = sm->mcast_work;

	return w && w->mlid_top ? (w->mlid_top - IB_LID_MCAST_FIRST) / MLIDS_PER_BLOCK + 1 : 0;
}

bool sm_mft_block(const struct sm *sm, uint64_t guid, unsigned block, unsigned position,
		  uint8_t entries[64])
{
	const struct mcast_work *w = sm->mcast_work;
	const struct mft_block *b;
	bool answered;

	mad_hold(sm->mad);	/* the job writes what the blocks hold */
	b = w ? block_find(w, guid, block, position) : NULL;
	answered = b && b->answered;
	if (answered)
		memcpy(entries, b->is, sizeof(b->is));
	mad_release(sm->mad);
	return answered;
}
