/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast forwarding: a tree for each group with members, and the MFT blocks
 * that this makes (14.2.5.7).
 *
 * A block is 32 MLIDs of 16 ports of one switch.  What we wrote is remembered
 * per block, so that a change of membership writes only blocks that differ; a
 * block touched for the first time is read first.  Blocks of switches that may
 * have lost them (new ones, and those in doubt) are forgotten after a sweep.
 *
 * Changes of membership are gathered for a moment: a restart makes all hosts
 * join at once, and one pass over the trees serves them all.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/log.h"
#include "plan/attributes.h"
#include "registry/mcast.h"
#include "sm/internal.h"

#define GATHER_US	20000

static struct log_ratelimit failed_log = LOG_RATELIMIT;

struct mft_block {
	uint64_t guid;		/* of the switch */
	uint16_t block;
	uint8_t position;
	bool known;		/* `is` is what the device holds */
	bool answered;		/* … or was when it was asked last */
	bool failed;
	uint8_t is[64], want[64];
};

struct mcast_work {
	struct sm *sm;
	struct timer *gather;
	struct smp_job *job;
	struct subnet_state *state;	/* held while the job runs */
	bool again;
	VEC(struct mft_block) blocks;
	struct map64 by_key;
	/* per switch of state: the blocks to look at, as indexes */
	VEC(uint32_t) *todo;
	uint32_t mlid_top;
};

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
	*b = (struct mft_block){ .guid = guid, .block = (uint16_t)block,
				 .position = (uint8_t)position };
	return b;
}

/* --- from groups to wanted blocks --- */

static void want_ports(struct mcast_work *w, const struct fabric_node *n, uint16_t mlid,
		       const uint64_t ports[4])
{
	unsigned index = mlid - IB_LID_MCAST_FIRST;

	for (unsigned pos = 0; pos * PORTS_PER_POSITION <= n->nports; pos++) {
		uint16_t mask = (uint16_t)(ports[pos / 4] >> (pos % 4 * PORTS_PER_POSITION));
		struct mft_block *b;
		uint8_t *at;

		if (!mask)
			continue;
		b = block_get(w, n->guid, index / MLIDS_PER_BLOCK, pos);
		at = b->want + 2 * (index % MLIDS_PER_BLOCK);
		put_be16(at, (uint16_t)(get_be16(at) | mask));
	}
}

static void want_group(struct mcast_work *w, const struct mcast_group *g)
{
	const struct fabric *f = w->state->f;
	uint32_t *members = xmalloc(g->members.n * sizeof(*members)), n = 0;
	struct mcast_tree *t;

	for (size_t i = 0; i < g->members.n; i++) {
		uint32_t port = fabric_find_port(f, g->members.v[i].guid);

		if (port != FABRIC_NONE)
			members[n++] = port;
	}
	if (n && g->mlid >= IB_LID_MCAST_FIRST && g->mlid <= IB_LID_MCAST_LAST) {
		t = mcast_tree_build_on(w->state->plan->order, members, n);
		for (uint32_t sw = 0; t && sw < t->n_switches; sw++)
			want_ports(w, &f->nodes[f->switches[sw].node], g->mlid, t->ports[sw]);
		mcast_tree_free(t);
		if (g->mlid > w->mlid_top)
			w->mlid_top = g->mlid;
	}
	free(members);
}

static void want_all(struct mcast_work *w)
{
	for (size_t i = 0; i < w->blocks.n; i++)
		memset(w->blocks.v[i].want, 0, sizeof(w->blocks.v[i].want));
	for (size_t i = 0; i < mcast_count(w->sm->mcast); i++)
		want_group(w, mcast_at(w->sm->mcast, i));
}

/* --- the job: devices are the switches --- */

static bool block_settled(const struct mft_block *b)
{
	return b->failed || (b->known && !memcmp(b->is, b->want, sizeof(b->is)));
}

static bool next(void *arg, uint32_t sw, struct smp *s, uint64_t *cookie)
{
	struct mcast_work *w = arg;
	const struct fabric *f = w->state->f;
	struct mft_block *b;
	uint32_t i;

	do {
		if (!w->todo[sw].n)
			return false;
		i = w->todo[sw].v[--w->todo[sw].n];
		b = &w->blocks.v[i];
	} while (block_settled(b));

	*s = (struct smp){ .method = b->known ? SMP_SET : SMP_GET, .attr = UMAD_SM_ATTR_MCAST_FT,
			   .mod = (uint32_t)b->position << 28 | b->block,
			   .m_key = w->sm->settings->m_key };
	if (b->known)
		memcpy(s->data, b->want, sizeof(s->data));
	*cookie = i;
	return want_route(f, f->switches[sw].node, 0, s);
}

static void done(void *arg, uint32_t sw, const struct smp *s, uint64_t cookie, int status)
{
	struct mcast_work *w = arg;
	struct mft_block *b = &w->blocks.v[cookie];
	char name[FABRIC_NAME_MAX];

	if (status) {
		b->failed = true;
		log_limited(&failed_log, LOG_LEVEL_WARNING, "multicast",
			    "%s: MFT block %u of ports %u..: %s failed (%d)",
			    fabric_node_name(w->state->f, w->state->f->switches[sw].node, name,
					     sizeof(name)),
			    b->block, b->position * PORTS_PER_POSITION,
			    s->method == SMP_SET ? "Set" : "Get", status);
		return;
	}
	memcpy(b->is, s->data, sizeof(b->is));
	if (s->method == SMP_SET && memcmp(b->is, b->want, sizeof(b->is)))
		b->failed = true;	/* it does not take it: asking again changes nothing */
	b->known = b->answered = true;
	if (!block_settled(b))
		*vec_push(&w->todo[sw]) = (uint32_t)cookie;
}

static void job_end(struct mcast_work *w)
{
	for (uint32_t i = 0; w->todo && i < w->state->f->n_switches; i++)
		vec_free(&w->todo[i]);
	free(w->todo);
	w->todo = NULL;
	w->job = NULL;
	state_unref(w->state);
	w->state = NULL;
}

static void finished(void *arg)
{
	struct mcast_work *w = arg;

	job_end(w);
	if (w->again)
		sm_mcast_changed(w->sm);
}

static const struct smp_job_ops ops = { next, done, finished };

static void start(void *arg)
{
	struct mcast_work *w = arg;
	struct sm *sm = w->sm;
	const struct fabric *f;

	/* a sweep that runs starts it at its end */
	w->again = w->job != NULL;
	if (w->again || !sm->published || sm->kind != SWEEP_NONE)
		return;
	w->state = state_ref(sm->published);
	f = w->state->f;
	mcast_sync(sm->mcast, w->state);
	/* before any device hears of it: after a crash the groups must be the same */
	if (mcast_dirty(sm->mcast) && store_save_groups(sm->store, sm->mcast))
		mcast_clean(sm->mcast);
	want_all(w);
	w->todo = xcalloc(f->n_switches, sizeof(*w->todo));
	for (size_t i = 0; i < w->blocks.n; i++) {
		uint32_t node = map64_get(&f->node_by_guid, w->blocks.v[i].guid);

		w->blocks.v[i].failed = false;
		if (node != MAP64_NONE && f->nodes[node].sw != FABRIC_NONE &&
		    !block_settled(&w->blocks.v[i]))
			*vec_push(&w->todo[f->nodes[node].sw]) = (uint32_t)i;
	}
	w->job = smp_job_start(sm->mad, f->n_switches, &ops, w);
}

/* --- from outside --- */

void sm_mcast_changed(struct sm *sm)
{
	if (!sm->mcast_work) {
		sm->mcast_work = xcalloc(1, sizeof(*sm->mcast_work));
		sm->mcast_work->sm = sm;
		map64_init(&sm->mcast_work->by_key, 64);
		sm->mcast_work->gather = timer_new(sm->loop, start, sm->mcast_work);
	}
	if (!timer_active(sm->mcast_work->gather))
		timer_set(sm->mcast_work->gather, GATHER_US, 0);
}

void multicast_after_sweep(struct sm *sm)
{
	struct mcast_work *w = sm->mcast_work;

	if (!sm->mcast)
		return;
	/* what devices hold is known no better than by reading it again */
	for (size_t i = 0; w && i < w->blocks.n; i++)
		w->blocks.v[i].known = false;
	sm_mcast_changed(sm);
}

void multicast_stop(struct sm *sm)
{
	struct mcast_work *w = sm->mcast_work;

	if (!w)
		return;
	if (w->job) {
		smp_job_cancel(w->job);
		job_end(w);
	}
	timer_free(w->gather);
	map64_free(&w->by_key);
	vec_free(&w->blocks);
	free(w);
	sm->mcast_work = NULL;
}

bool sm_mft_next(const struct sm *sm, const struct subnet_state *s, uint32_t sw,
		 uint32_t *cursor, uint16_t *mlid, uint64_t ports[4])
{
	const struct mcast_work *w = sm->mcast_work;
	const struct fabric_node *n = &s->f->nodes[s->f->switches[sw].node];
	bool any = false;

	mad_hold(sm->mad);	/* the job writes what the blocks hold */
	for (; w && !any && IB_LID_MCAST_FIRST + *cursor <= w->mlid_top; ++*cursor) {
		memset(ports, 0, 4 * sizeof(*ports));
		for (unsigned pos = 0; pos * PORTS_PER_POSITION <= n->nports; pos++) {
			const struct mft_block *b = block_find(w, n->guid,
							       *cursor / MLIDS_PER_BLOCK, pos);
			uint16_t mask = b && b->known ?
				get_be16(b->is + 2 * (*cursor % MLIDS_PER_BLOCK)) : 0;

			ports[pos / 4] |= (uint64_t)mask << (pos % 4 * PORTS_PER_POSITION);
			any |= mask != 0;
		}
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
