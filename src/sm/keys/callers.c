/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See callers.h. */
#include "sm/keys/callers.h"

#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/bucket.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/iba/iba.h"
#include "sm/election/election.h"
#include "sm/keys/mkey.h"
#include "sm/keys/proof.h"
#include "sm/sm_internal.h"

#define WAITING_MAX	8
#define CONTROLS_MAX	4		/* waiting controls, besides Gets */
#define ASK_BURST	16		/* senders of Gets that are asked in succession, */
#define ASK_EACH_US	10000		/* and the time to earn one more */
#define PLACES		64
#define KNOWN_US	60000000	/* how long a sender that told the key need not tell it again */
#define UNKNOWN_US	1000000		/* how long a sender that did not is not asked again */

/* Offsets in a directed-route SMP (14.2.1.2). */
enum { OFF_HOP_COUNT = 7, OFF_DR_SLID = 32, OFF_DR_DLID = 34, OFF_DATA = 64, OFF_RETURN_PATH = 192 };

struct way {
	uint8_t hops;			/* 0: no way */
	uint8_t ports[UMAD_SMP_MAX_HOPS];
};

/* Result of asking a sender: it told the SM_Key, or did not, or is not who it claimed to be. */
enum known { TELLS_KEY, TELLS_NOTHING, LIES };

struct place {
	struct way way;
	enum known is;
	int64_t until_us;
};

/* A request that waits until its sender has answered. */
struct call {
	struct sm *sm;
	struct mad_in *in;
	caller_fn *fn;
	struct way way;			/* route to the sender, which the SMP refers to */
	uint8_t last_hop;
	uint64_t guid;			/* GUID that the sender claims; 0: any */
	uint64_t nonce;
	struct call *next, **link;
};

struct callers {
	struct place places[PLACES];
	unsigned next;			/* place to be used next */
	struct call *calls;
	unsigned n_calls;
	struct bucket asks;
	uint64_t nonce;
};

/*
 * The route back to the sender, first port first.  False: we are the sender, or the SMP went by LID
 * for a part of its way, where no switch recorded its ports.
 */
static bool way_back(const struct mad_in *in, struct way *w)
{
	unsigned hops = in->mad[OFF_HOP_COUNT];

	if (in->mgmt_class != UMAD_CLASS_SUBN_DIRECTED_ROUTE || in->len < 256 || !hops ||
	    hops >= UMAD_SMP_MAX_HOPS || get_be16(in->mad + OFF_DR_SLID) != IB_LID_PERMISSIVE ||
	    get_be16(in->mad + OFF_DR_DLID) != IB_LID_PERMISSIVE)
		return false;
	w->hops = (uint8_t)hops;
	for (unsigned i = 0; i < hops; i++)
		w->ports[i] = in->mad[OFF_RETURN_PATH + hops - i];
	return true;
}

static const struct place *find(const struct callers *c, const struct way *w)
{
	for (unsigned i = 0; i < PLACES; i++) {
		const struct place *p = &c->places[i];

		if (p->way.hops == w->hops && !memcmp(p->way.ports, w->ports, w->hops))
			return p;
	}
	return NULL;
}

static bool is_remembered(const struct callers *c, const struct way *w, enum known is)
{
	const struct place *p = find(c, w);

	return p && p->is == is && clock_mono_us() < p->until_us;
}

/*
 * The place to use for a way.  Senders that do not tell the key displace each other before one that
 * does.
 */
static struct place *place_for(struct callers *c, const struct way *w)
{
	struct place *p = (struct place *)(uintptr_t)find(c, w);
	int64_t now = clock_mono_us();

	for (unsigned i = 0; !p && i < PLACES; i++) {
		struct place *x = &c->places[c->next++ % PLACES];

		if (!x->way.hops || x->is != TELLS_KEY || now >= x->until_us)
			p = x;
	}
	return p ? p : &c->places[c->next++ % PLACES];
}

static void remember(struct callers *c, const struct way *w, enum known is)
{
	struct place *p = place_for(c, w);

	*p = (struct place){ *w, is, clock_mono_us() + (is == TELLS_KEY ? KNOWN_US : UNKNOWN_US) };
}

bool callers_knows(const struct sm *sm, const struct mad_in *in)
{
	struct way w;

	return way_back(in, &w) && is_remembered(sm->callers, &w, TELLS_KEY);
}

/* --- asking --- */

static struct call *call_new(struct sm *sm, const struct mad_in *in, caller_fn *fn)
{
	struct callers *c = sm->callers;
	struct call *x = xcalloc(1, sizeof(*x));

	x->sm = sm;
	x->in = mad_in_copy(in);
	x->fn = fn;
	x->next = c->calls;
	x->link = &c->calls;
	if (x->next)
		x->next->link = &x->next;
	c->calls = x;
	c->n_calls++;
	return x;
}

static void call_free(struct call *x)
{
	if (x->next)
		x->next->link = x->link;
	*x->link = x->next;
	x->sm->callers->n_calls--;
	free(x->in);
	free(x);
}

static void tell(struct call *x, struct caller *who)
{
	who->route = (struct smp){ .route = x->way.ports, .hops = x->way.hops,
				   .last_hop = x->last_hop, .m_key = mkey_ours(x->sm) };
	x->fn(x->sm, x->in, who);
	call_free(x);
}

static void on_sminfo(void *arg, const struct smp *s, int status)
{
	struct call *x = arg;
	struct sm *sm = x->sm;
	uint64_t key = sm->settings->sm_key;
	struct caller who = { 0 };

	if (!status) {
		sm_info_get(s->data, &who.info);
		who.is_there = !x->guid || who.info.guid == x->guid;
		who.tells_key = who.info.key == key;
		who.proves_key = x->guid && proof_nonce(s->data) == x->nonce &&
				 proof_holds(s->data, key, PROOF_ANSWER, x->guid,
					     mad_info(sm->mad)->guid);
	}
	if (who.tells_key)
		remember(sm->callers, &x->way, TELLS_KEY);
	else if (!x->guid)
		remember(sm->callers, &x->way, TELLS_NOTHING);
	else if (!who.is_there || !who.proves_key)
		remember(sm->callers, &x->way, LIES);
	tell(x, &who);
}

bool callers_ask(struct sm *sm, const struct mad_in *in, uint64_t guid, caller_fn *fn)
{
	struct callers *c = sm->callers;
	/* a control comes only once, whereas a sender that asks for our SMInfo asks again */
	struct smp s = { .method = SMP_GET, .attr = UMAD_SM_ATTR_SM_INFO, .once = !guid,
			 .m_key = mkey_ours(sm) };
	struct call *x;
	struct way w = { 0 };

	if (!way_back(in, &w) || c->n_calls >= WAITING_MAX + (guid ? CONTROLS_MAX : 0) ||
	    is_remembered(c, &w, LIES) || (!guid && is_remembered(c, &w, TELLS_NOTHING)))
		return false;
	if (!guid && !bucket_take(&c->asks, ASK_BURST, ASK_EACH_US, clock_mono_us()))
		return false;
	x = call_new(sm, in, fn);
	x->way = w;
	x->guid = guid;
	x->nonce = ++c->nonce;
	s.route = x->way.ports;
	s.hops = w.hops;
	sm_info_say(sm, s.data);
	if (guid)
		proof_put(s.data, sm->settings->sm_key, PROOF_GET, mad_info(sm->mad)->guid, guid,
			  x->nonce);
	smp_send(sm->mad, &s, on_sminfo, x);
	return true;
}

static void on_port_info(void *arg, const struct smp *s, int status)
{
	struct call *x = arg;
	uint8_t info[64];
	unsigned lid, lmc;
	struct caller who = { 0 };

	memcpy(info, s->data, sizeof(info));
	lid = mad_get_field(info, 0, IB_PORT_LID_F);
	lmc = mad_get_field(info, 0, IB_PORT_LMC_F);
	who.is_there = !status && lid && (unsigned)x->in->slid >> lmc == lid >> lmc;
	tell(x, &who);
}

bool callers_ask_lid(struct sm *sm, const struct mad_in *in, const struct smp *route,
		     caller_fn *fn)
{
	struct smp s = { .method = SMP_GET, .attr = UMAD_SM_ATTR_PORT_INFO,
			 .m_key = route->m_key };
	struct call *x;

	if (in->mgmt_class != UMAD_CLASS_SUBN_LID_ROUTED || !in->slid ||
	    sm->callers->n_calls >= WAITING_MAX + CONTROLS_MAX)
		return false;
	x = call_new(sm, in, fn);
	x->way.hops = route->hops;
	memcpy(x->way.ports, route->route, route->hops);
	x->last_hop = route->last_hop;
	s.route = x->way.ports;
	s.hops = route->hops;
	s.last_hop = route->last_hop;
	smp_send(sm->mad, &s, on_port_info, x);
	return true;
}

/* --- beginning and end --- */

void callers_new(struct sm *sm)
{
	sm->callers = xcalloc(1, sizeof(*sm->callers));
	sm->callers->nonce = (uint64_t)clock_real_us() << 8;	/* none that was used before a restart */
}

void callers_free(struct sm *sm)
{
	while (sm->callers->calls)
		call_free(sm->callers->calls);
	free(sm->callers);
	sm->callers = NULL;
}
