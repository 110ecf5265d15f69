/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the alias GUIDs of ports to the devices (GUIDInfo, 14.2.5.5).
 *
 * Aliases are no part of the plan: clients change them at any time, and nothing else depends on
 * what a device has been told.  So they have a job of their own, which may run beside sweeps but
 * begins only when none runs.  A block that changed is written at once.  For ports that may have
 * lost theirs (new ones, those that rebooted, all in a full sweep) the blocks with aliases are read
 * first and written if they differ.  Ports without aliases cost nothing.
 *
 * A job copies what it sends when it starts, as its callbacks run in another thread.  A later
 * change is sent after the job.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/backoff.h"
#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "sa/registry/alias.h"
#include "sm/keys/mkey.h"
#include "sm/multicast/multicast_sweeps.h"
#include "sm/sm_internal.h"
#include "sm/write/refused_sets.h"

#define GATHER_US	1000
#define RETRY_US	2000000ll
#define RETRY_MAX_US	60000000ll
#define PI_GUID_CAP	50		/* byte of PortInfo */
#define HOLDERS_MIN	4096u

static struct log_ratelimit refused_log = LOG_RATELIMIT;

struct holder {			/* a port that has or had aliases */
	uint64_t guid;
	uint32_t set, look;	/* bit masks of blocks: to be written, to be read first */
};

enum block_state { BLOCK_TODO, BLOCK_SENT, BLOCK_DONE, BLOCK_LOST };
struct block_item {
	uint8_t block, state;	/* enum block_state */
	bool look;
	uint8_t first, end;	/* range of bytes in use: entries beyond GUIDCap are not */
	uint8_t want[64];
};

struct block_target {		/* a port of a job */
	uint32_t holder, port;
	size_t first, n;	/* its items */
};

struct guidinfo_work {
	struct sm *sm;
	struct timer *soon;
	int64_t retry_us;
	struct smp_job *job;
	struct subnet_state *state;	/* of the running job */
	VEC(struct holder) holders;
	size_t tidy_at;			/* number of holders at which the idle ones are dropped */
	struct map64 by_guid;
	VEC(struct block_target) targets;
	VEC(struct block_item) items;
};

static struct holder *holder_get(struct guidinfo_work *w, uint64_t guid)
{
	uint32_t i = map64_get(&w->by_guid, guid);

	if (i == MAP64_NONE) {
		i = (uint32_t)w->holders.n;
		*vec_push(&w->holders) = (struct holder){ .guid = guid };
		map64_put(&w->by_guid, guid, i);
	}
	return &w->holders.v[i];
}

/* --- the job --- */

static bool next(void *arg, uint32_t device, struct smp *s, uint64_t *cookie)
{
	struct guidinfo_work *w = arg;
	const struct block_target *t = &w->targets.v[device];
	const struct fabric *f = w->state->f;
	const struct fabric_port *p = &f->ports[t->port];

	for (size_t i = t->first; i < t->first + t->n; i++) {
		struct block_item *it = &w->items.v[i];

		if (it->state != BLOCK_TODO || !want_route(f, p->node, p->num, s))
			continue;
		if (mkey_is_mismatched(w->sm, f, p->node)) {
			it->state = BLOCK_LOST;
			continue;
		}
		sweep_fill_smp(w->sm, s, it->look ? SMP_GET : SMP_SET, UMAD_SM_ATTR_GUID_INFO,
			       it->block);
		if (!it->look)
			memcpy(s->data, it->want, sizeof(s->data));
		it->state = BLOCK_SENT;
		*cookie = i;
		return true;
	}
	return false;
}

static void say_refused(const struct guidinfo_work *w, uint32_t device,
			const struct block_item *it, int status)
{
	const struct fabric *f = w->state->f;
	const struct block_target *t = &w->targets.v[device];
	char how[64] = "keeps other GUIDs";

	if (status)
		snprintf(how, sizeof(how), "refuses GUIDs with status 0x%04x", (unsigned)status);
	log_limited(&refused_log, LOG_LEVEL_WARNING, "alias", "%s port %u: %s in block %u",
		    NODE_NAME(f, f->ports[t->port].node),
		    f->ports[t->port].num, how, it->block);
}

/*
 * False: the device refuses the block, perhaps not for good, so the block is tried again.  A
 * refusal for good holds at least until the next full sweep of the device; `health' shows it.
 */
static bool note_answer(const struct guidinfo_work *w, uint32_t device, const struct smp *s,
			const struct block_item *it, int status)
{
	const struct fabric *f = w->state->f;
	const struct fabric_port *p = &f->ports[w->targets.v[device].port];
	uint64_t guid = f->nodes[p->node].guid;
	/* each port of an adapter has blocks of its own */
	uint32_t mod = (uint32_t)p->num << 16 | it->block;

	if (status > 0)
		return refused_for_good(w->sm, guid, s->attr, mod,
					hash_bytes(it->want, sizeof(it->want), 0), (unsigned)status);
	if (!status)
		refused_taken(w->sm, guid, s->attr, mod);
	return true;
}

static void done(void *arg, uint32_t device, const struct smp *s, uint64_t cookie, int status)
{
	struct guidinfo_work *w = arg;
	struct block_item *it = &w->items.v[cookie];
	bool equal = !status && !memcmp(s->data + it->first, it->want + it->first,
					it->end - it->first);

	bool settled = true;

	if (s->method == SMP_SET || equal)
		settled = note_answer(w, device, s, it, status);
	it->state = BLOCK_DONE;
	if (status < 0 || !settled) {
		it->state = BLOCK_LOST;
	} else if (it->look && !equal) {
		it->look = false;
		it->state = BLOCK_TODO;
	} else if (!equal) {
		/* reported once; the next full sweep tries the block again */
		say_refused(w, device, it, status);
	}
}

/* Queues again what the job did not finish; returns the number of blocks. */
static size_t end_job(struct guidinfo_work *w)
{
	size_t left = 0;

	for (const struct block_target *t = w->targets.v; t < vec_end(&w->targets); t++) {
		struct holder *h = &w->holders.v[t->holder];

		for (size_t k = t->first; k < t->first + t->n; k++) {
			const struct block_item *it = &w->items.v[k];

			if (it->state == BLOCK_DONE)
				continue;
			*(it->look ? &h->look : &h->set) |= 1u << it->block;
			left++;
		}
	}
	w->targets.n = w->items.n = 0;
	state_unref(w->state);
	w->state = NULL;
	w->job = NULL;
	return left;
}

static void finished(void *arg)
{
	struct guidinfo_work *w = arg;

	if (!end_job(w)) {
		w->retry_us = 0;
		timer_set(w->soon, GATHER_US, 0);	/* for changes that came meanwhile */
		return;
	}
	w->retry_us = backoff_next(w->retry_us, RETRY_US, RETRY_MAX_US);
	timer_set(w->soon, w->retry_us, 0);
}

static const struct smp_job_ops ops = { next, done, finished };

static void add_item(struct guidinfo_work *w, uint32_t port, unsigned block, bool look)
{
	const struct fabric_port *p = &w->state->f->ports[port];
	unsigned cap = p->info[PI_GUID_CAP], places = cap - block * ALIAS_BLOCK;
	struct block_item it = { .block = (uint8_t)block, .look = look, .first = block ? 0 : 8 };

	if (block * ALIAS_BLOCK >= cap)
		return;		/* its GUIDCap was higher once */
	it.end = (uint8_t)(8 * (places < ALIAS_BLOCK ? places : ALIAS_BLOCK));
	for (unsigned i = 0; 8 * i < it.end; i++) {
		unsigned place = block * ALIAS_BLOCK + i;

		put_be64(it.want + 8 * i, place ? alias_at(w->sm->aliases, p->guid, place) :
						  p->guid);
	}
	*vec_push(&w->items) = it;
}

static void add_target(struct guidinfo_work *w, uint32_t holder)
{
	struct holder *h = &w->holders.v[holder];
	uint32_t port = h->set | h->look ? fabric_find_port(w->state->f, h->guid) : FABRIC_NONE;
	size_t first = w->items.n;

	/* a port that is away is told when it is back */
	if (port == FABRIC_NONE || !port_is_end(w->state->f, port))
		return;
	for (unsigned b = 0; b < ALIAS_PLACES / ALIAS_BLOCK; b++)
		if ((h->set | h->look) >> b & 1)
			add_item(w, port, b, !(h->set >> b & 1));
	h->set = h->look = 0;
	if (w->items.n > first)
		*vec_push(&w->targets) = (struct block_target){ holder, port, first,
								w->items.n - first };
}

/* Drops ports that once had aliases and for which nothing is queued.  No job may be running. */
static void forget_idle(struct guidinfo_work *w)
{
	size_t n = 0;

	if (w->holders.n < w->tidy_at)
		return;
	map64_clear(&w->by_guid);
	for (size_t i = 0; i < w->holders.n; i++)
		if (w->holders.v[i].set | w->holders.v[i].look) {
			map64_put(&w->by_guid, w->holders.v[i].guid, (uint32_t)n);
			w->holders.v[n++] = w->holders.v[i];
		}
	w->holders.n = n;
	w->tidy_at = 2 * n + HOLDERS_MIN;
}

static void on_soon(void *arg)
{
	struct guidinfo_work *w = arg;
	struct sm *sm = w->sm;

	/* a running sweep starts the job at its end: it may yet find another master */
	if (w->job || sm->state != SM_MASTER || !sm->published || sweep_runs(sm))
		return;
	forget_idle(w);
	w->state = state_ref(sm->published);
	for (uint32_t i = 0; i < w->holders.n; i++)
		add_target(w, i);
	if (w->targets.n)
		w->job = smp_job_start(sm->mad, (uint32_t)w->targets.n, &ops, w);
	else
		end_job(w);
}

/* --- what must be done --- */

static struct guidinfo_work *get_work(struct sm *sm)
{
	struct guidinfo_work *w = sm->guidinfo;

	if (w)
		return w;
	w = xcalloc(1, sizeof(*w));
	w->sm = sm;
	w->soon = timer_new(sm->loop, on_soon, w);
	map64_init(&w->by_guid, 16);
	w->tidy_at = HOLDERS_MIN;
	sm->guidinfo = w;
	return w;
}

void sm_set_aliases(struct sm *sm, const struct alias_db *db)
{
	sm->aliases = db;
}

void sm_alias_changed(struct sm *sm, uint64_t port, unsigned place)
{
	struct guidinfo_work *w = get_work(sm);

	holder_get(w, port)->set |= 1u << place / ALIAS_BLOCK;
	timer_set(w->soon, GATHER_US, 0);
}

/* The contents of the device are not known. */
static bool in_doubt(const struct sm *sm, uint32_t port)
{
	const struct node_work *w = &sm->sweep.work[sm->sweep.f->ports[port].node];

	return w->unknown || w->failed || w->doubtful;
}

void guidinfo_observed(struct sm *sm)
{
	unsigned blocks;
	uint64_t guid;

	for (size_t i = 0; alias_port(sm->aliases, i, &guid, &blocks); i++) {
		uint32_t port = fabric_find_port(sm->sweep.f, guid);

		if (port != FABRIC_NONE && in_doubt(sm, port))
			holder_get(get_work(sm), guid)->look |=
				(uint32_t)((1ull << blocks) - 1);
	}
}

void guidinfo_after_sweep(struct sm *sm)
{
	if (sm->guidinfo)
		timer_set(sm->guidinfo->soon, 0, 0);
}

void guidinfo_stop(struct sm *sm)
{
	struct guidinfo_work *w = sm->guidinfo;

	if (!w || !w->job)
		return;
	smp_job_cancel(w->job);
	end_job(w);
}

void guidinfo_free(struct sm *sm)
{
	struct guidinfo_work *w = sm->guidinfo;

	if (!w)
		return;
	guidinfo_stop(sm);
	timer_free(w->soon);
	map64_free(&w->by_guid);
	vec_free(&w->holders);
	vec_free(&w->targets);
	vec_free(&w->items);
	free(w);
	sm->guidinfo = NULL;
}
