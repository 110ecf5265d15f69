/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes, reads and writes the blocks of multicast forwarding tables (MFT, 14.2.5.7) that the
 * trees need.
 *
 * A block is 32 MLIDs of 16 ports of one switch.  What we wrote is remembered per block, so a
 * change of membership writes only blocks that differ.  A block is read first when it is touched
 * for the first time, and when its Set had no answer, as the switch may have performed the Set.
 * The memory is dropped for switches that may have lost or changed their blocks (new ones, doubtful
 * ones, all in a full sweep). Of switches that forwarded for another manager before, all blocks
 * with entries are read, so that none of its entries stays.
 *
 * Order of writing: first bits are cleared, on all switches, then bits are set.  So at any time the
 * forwarding is a part of the old tree or a part of the new one; nothing loops and nothing arrives
 * twice, as long as switches do as they say.  Meanwhile the parts that change are not served.  If a
 * switch did not take a removal, nothing is added for its MLIDs until it does: an incomplete tree
 * is better than a loop.  Blocks held back in this way stay pending.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "plan/sm_attributes.h"
#include "sm/keys/mkey.h"
#include "sm/multicast/multicast.h"
#include "sm/multicast/multicast_sweeps.h"
#include "sm/write/refused_sets.h"

#define GONE_MAX 256		/* switches that are gone, before they are forgotten */

static struct log_ratelimit failed_log = LOG_RATELIMIT;

/* --- blocks --- */

/* The entry of a switch, created if needed.  Valid until the next entry is created. */
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

static uint32_t block_modifier(const struct mft_block *b)
{
	return (uint32_t)b->position << 28 | b->block;
}

/* The switch refuses Sets of the block for good. */
static bool is_refused(const struct mcast_work *w, const struct mft_block *b)
{
	const struct refused_set *r = refusals_find(store_refusals(w->sm->store),
						    w->switches.v[b->sw].guid,
						    UMAD_SM_ATTR_MCAST_FT, block_modifier(b));

	return r && refusal_by_status(r);
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
	b->frozen = is_refused(w, b);
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

/* The index of a block's switch among the switches of the state; FABRIC_NONE: the switch is gone. */
static uint32_t block_switch(const struct mcast_work *w, const struct mft_block *b)
{
	const struct fabric *f = w->state->f;
	uint32_t node = map64_get(&f->node_by_guid, w->switches.v[b->sw].guid);

	return node == MAP64_NONE ? FABRIC_NONE : f->nodes[node].sw;
}

/* --- from trees to planned blocks --- */

static void want_entry(struct mcast_work *w, const struct fabric *f, uint32_t sw, uint16_t mlid,
		       const uint64_t ports[4])
{
	const struct fabric_node *n = &f->nodes[f->switches[sw].node];
	unsigned index = (unsigned)mlid - IB_LID_MCAST_FIRST;

	for (unsigned pos = 0; pos * PORTS_PER_POSITION <= n->nports; pos++) {
		uint16_t mask = (uint16_t)(ports[pos / 4] >> (pos % 4 * PORTS_PER_POSITION));
		struct mft_block *b = block_find(w, n->guid, index / MLIDS_PER_BLOCK, pos);
		unsigned at = 2 * (index % MLIDS_PER_BLOCK);

		if (!b && !mask)
			continue;
		if (index >= fabric_switch_mlids(f, sw))
			continue;	/* the group is older than this switch with a smaller table */
		if (!b)
			b = block_get(w, n->guid, index / MLIDS_PER_BLOCK, pos);
		put_be16(b->want + at, mask);
		block_list(w, b);
	}
}

void tables_take_tree(struct mcast_work *w, uint16_t mlid)
{
	struct mcast_tree *t = w->trees[mlid - IB_LID_MCAST_FIRST].t;
	uint64_t ports[4];

	for (size_t i = 0; i < t->touched.n; i++) {
		mcast_tree_ports(t, t->touched.v[i], ports);
		want_entry(w, mcast_tree_fabric(t), t->touched.v[i], mlid, ports);
	}
	t->touched.n = 0;
	if (mlid > w->mlid_top)
		w->mlid_top = mlid;
}

static bool switch_is_there(const struct mcast_work *w, const struct mft_switch *s)
{
	return map64_get(&w->state->f->node_by_guid, s->guid) != MAP64_NONE;
}

/* Re-enters a block that was known before forget_gone() rebuilt the list. */
static void keep_block(struct mcast_work *w, const struct mft_switch *sw,
		       const struct mft_block *was)
{
	struct mft_block *b = block_get(w, sw->guid, was->block, was->position);
	uint32_t place = b->sw;

	*b = *was;
	b->sw = place;
	if (b->listed)
		*vec_push(&w->pending) = (uint32_t)(b - w->blocks.v);
}

/* Forgets switches that are gone, once there are many of them.  No job may be running. */
static void forget_gone(struct mcast_work *w)
{
	struct mft_switch *switches = w->switches.v;
	struct mft_block *blocks = w->blocks.v;
	size_t n_switches = w->switches.n, n_blocks = w->blocks.n, gone = 0;

	for (size_t i = 0; i < n_switches; i++)
		gone += !switch_is_there(w, &switches[i]);
	if (gone < GONE_MAX)
		return;
	memset(&w->switches, 0, sizeof(w->switches));
	memset(&w->blocks, 0, sizeof(w->blocks));
	map64_clear(&w->switch_by_guid);
	map64_clear(&w->by_key);
	w->pending.n = 0;
	for (size_t i = 0; i < n_switches; i++)
		if (switch_is_there(w, &switches[i]))
			*switch_get(w, switches[i].guid) = switches[i];
	for (size_t i = 0; i < n_blocks; i++)
		if (switch_is_there(w, &switches[blocks[i].sw]))
			keep_block(w, &switches[blocks[i].sw], &blocks[i]);
	free(switches);
	free(blocks);
}

void tables_want_nothing(struct mcast_work *w)
{
	forget_gone(w);
	for (size_t i = 0; i < w->blocks.n; i++) {
		memset(w->blocks.v[i].want, 0, sizeof(w->blocks.v[i].want));
		block_list(w, &w->blocks.v[i]);
	}
}

void tables_keep_wanted(struct mcast_work *w)
{
	forget_gone(w);
	for (size_t i = 0; i < w->blocks.n; i++)
		if (!w->blocks.v[i].known)
			block_list(w, &w->blocks.v[i]);
}

/* --- the jobs: their devices are the switches with work in the pass --- */

/* The pass must read or write the block; fills b->send. */
static bool pass_wants(struct mcast_work *w, enum pass pass, struct mft_block *b)
{
	bool any = false;

	if (b->failed || b->known != (pass != PASS_READ))
		return false;
	if (b->frozen && pass != PASS_READ) {
		memcpy(b->send, b->is, sizeof(b->send));
		return b->probe && pass == PASS_SET;
	}
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

	/* a device with an unknown M_Key would drop the SMP: its blocks are read when the key is ours */
	while (t->todo.n && mkey_is_mismatched(w->sm, f, f->switches[t->sw].node))
		w->blocks.v[t->todo.v[--t->todo.n]].failed = true;
	if (!t->todo.n)
		return false;
	*cookie = t->todo.v[--t->todo.n];
	b = &w->blocks.v[*cookie];
	*s = (struct smp){ .method = w->pass == PASS_READ ? SMP_GET : SMP_SET,
			   .attr = UMAD_SM_ATTR_MCAST_FT,
			   .mod = block_modifier(b) };
	if (s->method == SMP_SET)
		memcpy(s->data, b->send, sizeof(s->data));
	return mkey_route(w->sm, f, f->switches[t->sw].node, 0, s);
}

static void say_failed(const struct mcast_work *w, uint32_t sw, const struct mft_block *b,
		       const struct smp *s, int status)
{
	log_limited(&failed_log, LOG_LEVEL_WARNING, "multicast",
		    "%s: MFT block %u of ports %u..: %s failed (%d)",
		    NODE_NAME(w->state->f, w->state->f->switches[sw].node),
		    b->block, b->position * PORTS_PER_POSITION,
		    s->method == SMP_SET ? "Set" : "Get", status);
}

/* Goes on to the next block of a switch that was in use before us, until a block is empty. */
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

/*
 * A refused block is tried again with back-off until the refusal is for good.  Then trees use what
 * the block holds, or avoid its switch.
 */
static void note_answer(struct mcast_work *w, struct mft_block *b, const struct smp *s, int status)
{
	uint64_t guid = w->switches.v[b->sw].guid;
	bool frozen = b->frozen;

	b->probe = false;
	if (status > 0)
		b->frozen |= refused_for_good(w->sm, guid, s->attr, s->mod,
					      hash_bytes(b->send, sizeof(b->send), 0), (unsigned)status);
	else if (!status)
		refused_taken(w->sm, guid, s->attr, s->mod);
	if (!status)
		b->frozen = false;
	w->frozen_changed |= b->frozen != frozen;
}

static void done(void *arg, uint32_t target, const struct smp *s, uint64_t cookie, int status)
{
	struct mcast_work *w = arg;
	struct mft_block *b = &w->blocks.v[cookie];

	if (s->method == SMP_SET)
		note_answer(w, b, s, status);
	if (status) {
		b->failed = true;
		b->silent = !b->frozen;
		if (b->frozen && status > 0)
			return;		/* health shows it, and its contents have not changed */
		if (w->pass != PASS_READ) {
			b->unsure = true;
			b->known = false;
		}
		say_failed(w, w->targets.v[target].sw, b, s, status);
		return;
	}
	if (b->frozen && (!b->answered || memcmp(b->is, s->data, sizeof(b->is))))
		w->frozen_changed = true;
	memcpy(b->is, s->data, sizeof(b->is));
	/* a value that the device ignored is ignored again at a second Set */
	b->failed = s->method == SMP_SET && memcmp(b->is, b->send, sizeof(b->is));
	b->known = b->answered = true;
	b->unsure = false;
	if (w->pass == PASS_READ)
		read_on(w, target, (uint32_t)cookie);
}

/* Marks MLIDs that a switch still forwards where it must not. */
static void find_stuck(struct mcast_work *w)
{
	for (size_t i = 0; i < w->pending.n; i++) {
		const struct mft_block *b = &w->blocks.v[w->pending.v[i]];

		/* trees allow for what it holds, so nothing loops there */
		if (!b->failed || b->frozen || (!b->known && !b->unsure))
			continue;
		for (unsigned k = 0; k < sizeof(b->is); k++) {
			unsigned index = b->block * MLIDS_PER_BLOCK + k / 2u;
			uint8_t may_be = b->unsure ? b->is[k] | b->send[k] : b->is[k];

			/* the last block has an entry for the permissive LID, which is no MLID */
			if (index < MLIDS_MAX && may_be & ~b->want[k])
				w->stuck[index] = true;
		}
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

/* The block could be written, were it not for MLIDs that are stuck elsewhere. */
static bool is_held_back(const struct mft_block *b)
{
	return b->known && !b->failed && !b->frozen && memcmp(b->is, b->want, sizeof(b->is));
}

/* After the last pass: keeps blocks that had no answer or are held back, to be tried again. */
static void passes_ended(struct mcast_work *w)
{
	uint32_t left = 0;

	for (size_t i = 0; i < w->pending.n; i++) {
		struct mft_block *b = &w->blocks.v[w->pending.v[i]];

		b->listed = b->silent || is_held_back(b);
		if (b->listed)
			w->pending.v[left++] = w->pending.v[i];
	}
	w->pending.n = left;
	multicast_written(w, !left);
}

/* Runs the passes.  Blocks of switches that are gone are forgotten. */
static void run_passes(struct mcast_work *w)
{
	for (; w->pass < PASSES; w->pass++) {
		if (w->pass == PASS_SET)
			find_stuck(w);
		for (size_t i = 0; i < w->pending.n; i++) {
			struct mft_block *b = &w->blocks.v[w->pending.v[i]];

			if (block_switch(w, b) == FABRIC_NONE)
				b->known = b->unsure = false;
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
	if (w->reading_frozen) {
		w->reading_frozen = false;
		w->again = false;
		sm_mcast_changed(w->sm);
		return;
	}
	w->pass++;
	run_passes(w);
}

/*
 * The block that r describes as refused by status; NULL: r is about something else, or the switch
 * is gone.
 */
static struct mft_block *refused_block(struct mcast_work *w, const struct fabric *f,
				       const struct refused_set *r)
{
	uint32_t node = r->attr == UMAD_SM_ATTR_MCAST_FT && refusal_by_status(r) ?
			map64_get(&f->node_by_guid, r->guid) : MAP64_NONE;

	if (node == MAP64_NONE || f->nodes[node].sw == FABRIC_NONE)
		return NULL;
	return block_get(w, r->guid, r->mod & MFT_BLOCK_MASK, r->mod >> 28);
}

bool tables_read_frozen(struct mcast_work *w)
{
	const struct refusals *all = store_refusals(w->sm->store);
	const struct fabric *f = w->state->f;
	const struct refused_set *r;

	mad_hold(w->sm->mad);	/* a job of a sweep may add refusals */
	for (size_t i = 0; (r = refusals_at(all, i)); i++) {
		struct mft_block *b = refused_block(w, f, r);

		if (!b || b->answered || b->asked)
			continue;
		b->asked = true;
		b->failed = false;
		block_list(w, b);
		add_todo(w, (uint32_t)(b - w->blocks.v));
	}
	mad_release(w->sm->mad);
	if (!w->targets.n)
		return false;
	w->pass = PASS_READ;
	w->reading_frozen = true;
	w->job = smp_job_start(w->sm->mad, (uint32_t)w->targets.n, &ops, w);
	return true;
}

void tables_held(const struct mcast_work *w, const struct fabric_node *n, unsigned index,
		 uint64_t held[4], uint64_t fixed[4])
{
	memset(held, 0, 4 * sizeof(*held));
	memset(fixed, 0, 4 * sizeof(*fixed));
	for (unsigned pos = 0; pos * PORTS_PER_POSITION <= n->nports; pos++) {
		const struct mft_block *b = block_find(w, n->guid, index / MLIDS_PER_BLOCK, pos);
		unsigned at = pos % 4 * PORTS_PER_POSITION;

		if (!b || !b->frozen)
			continue;
		fixed[pos / 4] |= 0xffffull << at;
		if (b->answered)
			held[pos / 4] |= (uint64_t)get_be16(b->is + 2 * (index % MLIDS_PER_BLOCK)) << at;
	}
}

static void try_again(struct mcast_work *w)
{
	w->try_again = false;
	for (size_t i = 0; i < w->pending.n; i++)
		w->blocks.v[w->pending.v[i]].failed = w->blocks.v[w->pending.v[i]].silent = false;
}

void tables_write(struct mcast_work *w)
{
	if (w->try_again)
		try_again(w);
	memset(w->stuck, 0, sizeof(w->stuck));
	w->pass = PASS_READ;
	run_passes(w);
}

/* --- from outside --- */

void tables_init(struct mcast_work *w)
{
	map64_init(&w->by_key, 64);
	map64_init(&w->switch_by_guid, 64);
}

/* In a full sweep: queues one Set for each refused block, to see whether it is still refused. */
static void try_frozen(struct mcast_work *w)
{
	const struct refusals *all = store_refusals(w->sm->store);
	const struct fabric *f = w->sm->sweep.f;
	const struct refused_set *r;

	if (!sweep_is(w->sm)->reads_tables)
		return;
	for (size_t i = 0; (r = refusals_at(all, i)); i++) {
		struct mft_block *b = refused_block(w, f, r);

		if (!b)
			continue;
		b->probe = true;
		block_list(w, b);
	}
}

void tables_observed(struct mcast_work *w)
{
	const struct sm *sm = w->sm;

	mad_hold(sm->mad);	/* the job of the trees may run between jobs of the sweep */
	for (uint32_t i = 0; i < sm->sweep.f->n_switches; i++) {
		const struct node_work *n = &sm->sweep.work[sm->sweep.f->switches[i].node];
		struct mft_switch *s =
			switch_get(w, sm->sweep.f->nodes[sm->sweep.f->switches[i].node].guid);

		s->doubt = n->mft_unknown;
		s->back = n->mft_unknown && !n->failed;
		/* a later sweep may end before all blocks have been read */
		if (n->mft_unknown)
			s->used_before = n->used_before;
	}
	try_frozen(w);
	for (size_t i = 0; i < w->blocks.n; i++)
		if (w->switches.v[w->blocks.v[i].sw].doubt) {
			w->blocks.v[i].frozen = is_refused(w, &w->blocks.v[i]);
			w->blocks.v[i].known = w->blocks.v[i].unsure = false;
			w->try_again |= w->blocks.v[i].silent &&
					w->switches.v[w->blocks.v[i].sw].back;
		}
	for (uint32_t i = 0; i < sm->sweep.f->n_switches; i++) {
		const struct fabric_node *n = &sm->sweep.f->nodes[sm->sweep.f->switches[i].node];
		const struct mft_switch s = *switch_get(w, n->guid);

		for (unsigned pos = 0; s.doubt && s.used_before &&
		     pos * PORTS_PER_POSITION <= n->nports; pos++)
			block_list(w, block_get(w, n->guid, 0, pos));
	}
	mad_release(sm->mad);
}

void tables_free(struct mcast_work *w)
{
	if (w->job)
		smp_job_cancel(w->job);
	free_targets(w);
	vec_free(&w->targets);
	map64_free(&w->by_key);
	map64_free(&w->switch_by_guid);
	vec_free(&w->blocks);
	vec_free(&w->switches);
	vec_free(&w->pending);
}

bool multicast_block_is(const struct sm *sm, uint64_t guid, unsigned block, unsigned position,
			uint8_t entries[64])
{
	const struct mcast_work *w = sm->mcast_work;
	const struct mft_block *b;
	bool settled;

	mad_hold(sm->mad);
	b = w ? block_find(w, guid, block, position) : NULL;
	settled = b && b->known && !b->listed;
	if (settled)
		memcpy(entries, b->is, sizeof(b->is));
	mad_release(sm->mad);
	return settled;
}

/* The entry as the device holds it, as far as known; call between mad_hold() and mad_release(). */
static bool entry_ports(const struct mcast_work *w, const struct fabric_node *n, unsigned index,
			uint64_t ports[4])
{
	bool any = false;

	memset(ports, 0, 4 * sizeof(*ports));
	for (unsigned pos = 0; pos * PORTS_PER_POSITION <= n->nports; pos++) {
		const struct mft_block *b = block_find(w, n->guid, index / MLIDS_PER_BLOCK, pos);
		uint16_t mask = 0;

		if (b && (b->known || b->unsure))
			mask = get_be16(b->is + 2 * (index % MLIDS_PER_BLOCK));
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
	mad_hold(sm->mad);	/* the job writes the contents of blocks */
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

uint32_t sm_mft_trees(const struct sm *sm, const struct subnet_state *s, uint32_t sw, unsigned port)
{
	const struct mcast_work *w = sm->mcast_work;
	uint64_t guid = s->f->nodes[s->f->switches[sw].node].guid;
	uint32_t n = 0;

	mad_hold(sm->mad);
	for (uint32_t i = 0; i < sm_mft_blocks(sm); i++) {
		const struct mft_block *b = block_find(w, guid, i, port / PORTS_PER_POSITION);
		uint32_t left = w->mlid_top - IB_LID_MCAST_FIRST + 1 - i * MLIDS_PER_BLOCK;

		if (!b || !(b->known || b->unsure))
			continue;
		for (unsigned k = 0; k < MLIDS_PER_BLOCK && k < left; k++)
			n += get_be16(b->is + 2 * k) >> port % PORTS_PER_POSITION & 1;
	}
	mad_release(sm->mad);
	return n;
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

	mad_hold(sm->mad);	/* the job writes the contents of blocks */
	b = w ? block_find(w, guid, block, position) : NULL;
	answered = b && b->answered;
	if (answered)
		memcpy(entries, b->is, sizeof(b->is));
	mad_release(sm->mad);
	return answered;
}
