/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See node_names.h. */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/clean.h"
#include "lib/base/log.h"
#include "sm/devices/implausible.h"
#include "sm/devices/node_names.h"
#include "sm/keys/mkey.h"
#include "sm/sm_internal.h"

/* A place at which a device gave an impossible answer. */
struct doubt {
	uint64_t guid;
	uint8_t num;
	bool behind;
	uint8_t left;		/* light sweeps that still read its name after it has left all lists */
};

struct question {
	uint32_t node;
	bool sent;
	int status;
	char name[65];		/* the answer, NUL-padded */
};

struct names {
	VEC(struct doubt) doubts;	/* at most IMPLAUSIBLE_MAX */
	struct map64 place;		/* key_of() -> index in doubts */
	uint32_t next;			/* node where the next light sweep looks on for bad names */
	struct smp_job *job;
	struct subnet_state *state;	/* the state that the job asks about */
	VEC(struct question) questions;
};

bool name_is_text(const char *name)
{
	bool obeyed = !*name;
	uint32_t c;

	while (*name && !obeyed)
		name += clean_next(name, &c, &obeyed);
	return !obeyed;
}

/* --- doubtful devices --- */

static uint64_t key_of(const struct doubt *d)
{
	return hash64(d->guid ^ hash64((uint64_t)d->num << 1 | d->behind));
}

void names_doubt(struct sm *sm, uint64_t guid, uint8_t num, bool behind)
{
	const struct doubt d = { .guid = guid, .num = num, .behind = behind, .left = NAME_SWEEPS };
	struct names *x = sm->devices.names;
	uint32_t at = map64_get(&x->place, key_of(&d));

	if (at != MAP64_NONE) {
		x->doubts.v[at].left = NAME_SWEEPS;
	} else if (x->doubts.n < IMPLAUSIBLE_MAX) {
		map64_put(&x->place, key_of(&d), (uint32_t)x->doubts.n);
		*vec_push(&x->doubts) = d;
	}
}

/* The device that the doubt is about; FABRIC_NONE: it is not there. */
static uint32_t device_of(const struct fabric *f, const struct doubt *d, uint32_t *port)
{
	uint32_t node = map64_get(&f->node_by_guid, d->guid), peer;

	if (node == MAP64_NONE || d->num > f->nodes[node].nports)
		return FABRIC_NONE;
	*port = f->nodes[node].port0 + d->num;
	if (!d->behind)
		return node;
	peer = f->ports[*port].peer;
	return peer == FABRIC_NONE ? FABRIC_NONE : f->ports[peer].node;
}

static void forget_old_doubts(struct names *x)
{
	size_t kept = 0;

	for (size_t i = 0; i < x->doubts.n; i++)
		if (x->doubts.v[i].left)
			x->doubts.v[kept++] = x->doubts.v[i];
	if (kept == x->doubts.n)
		return;
	x->doubts.n = kept;
	map64_clear(&x->place);
	for (uint32_t i = 0; i < kept; i++)
		map64_put(&x->place, key_of(&x->doubts.v[i]), i);
}

/* --- asking --- */

static void ask(struct names *x, uint32_t node, uint8_t *asked)
{
	if (!asked[node])
		*vec_push(&x->questions) = (struct question){ .node = node, .status = -1 };
	asked[node] = 1;
}

static void ask_doubtful(struct sm *sm, const struct fabric *f, uint8_t *asked)
{
	struct names *x = sm->devices.names;

	for (size_t i = 0; i < x->doubts.n; i++) {
		struct doubt *d = &x->doubts.v[i];
		uint32_t port, node = device_of(f, d, &port);

		if (node == FABRIC_NONE || !implausible_know(sm, f, port, d->behind))
			d->left--;
		if (node != FABRIC_NONE)
			ask(x, node, asked);
	}
	forget_old_doubts(x);
}

static void ask_nameless(struct names *x, const struct fabric *f, uint8_t *asked)
{
	uint32_t n = 0, i = 0;

	for (; i < f->n_nodes && n < ASK_AGAIN_MAX; i++) {
		uint32_t node = (uint32_t)(((uint64_t)x->next + i) % f->n_nodes);

		if (name_is_text(f->nodes[node].desc))
			continue;
		ask(x, node, asked);
		n++;
	}
	x->next = (uint32_t)(((uint64_t)x->next + i) % f->n_nodes);
}

static bool next(void *arg, uint32_t i, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	const struct fabric *f = sm->devices.names->state->f;
	struct question *q = &sm->devices.names->questions.v[i];
	const struct fabric_node *n = &f->nodes[q->node];

	*cookie = i;
	if (q->sent || mkey_is_mismatched(sm, f, q->node))
		return false;
	q->sent = true;
	*s = (struct smp){ .method = SMP_GET, .attr = UMAD_SM_ATTR_NODE_DESC, .once = true };
	return mkey_route(sm, f, q->node, node_is_switch(n) ? 0 : n->local_port, s);
}

static void done(void *arg, uint32_t i, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct question *q = &sm->devices.names->questions.v[i];

	(void)cookie;
	q->status = status;
	memcpy(q->name, s->data, strnlen((const char *)s->data, sizeof(q->name) - 1));
}

static void end(struct names *x)
{
	x->job = NULL;
	state_unref(x->state);
	x->state = NULL;
	x->questions.n = 0;
}

static void finished(void *arg)
{
	struct sm *sm = arg;
	struct names *x = sm->devices.names;
	const struct fabric *f = x->state->f;
	bool any = false;

	for (size_t i = 0; i < x->questions.n; i++) {
		const struct question *q = &x->questions.v[i];

		if (q->status || !name_is_text(q->name) ||
		    !implausible_name_is_news(sm, f, q->node, q->name))
			continue;
		sm_suspect(sm, &(struct suspect){ .guid = f->nodes[q->node].guid, .ends = true,
						  .renamed = true, .unasked = true });
		any = true;
	}
	end(x);
	if (any)
		sm_want_sweep(sm, SWEEP_LOCAL, "a suspect device has another name");
}

static const struct smp_job_ops ops = { next, done, finished };

void names_ask(struct sm *sm)
{
	struct names *x = sm->devices.names;
	const struct fabric *f = sm->published->f;
	uint8_t *asked;

	if (x->job || !f->n_nodes)
		return;
	asked = xcalloc(f->n_nodes, 1);
	ask_doubtful(sm, f, asked);
	ask_nameless(x, f, asked);
	free(asked);
	if (!x->questions.n)
		return;
	x->state = state_ref(sm->published);
	x->job = smp_job_start(sm->mad, (uint32_t)x->questions.n, &ops, sm);
}

/* --- beginning and end --- */

void names_stop(struct sm *sm)
{
	if (sm->devices.names->job)
		smp_job_cancel(sm->devices.names->job);
	end(sm->devices.names);
}

void names_new(struct sm *sm)
{
	sm->devices.names = xcalloc(1, sizeof(*sm->devices.names));
	map64_init(&sm->devices.names->place, 16);
}

void names_free(struct sm *sm)
{
	names_stop(sm);
	vec_free(&sm->devices.names->doubts);
	vec_free(&sm->devices.names->questions);
	map64_free(&sm->devices.names->place);
	free(sm->devices.names);
}
