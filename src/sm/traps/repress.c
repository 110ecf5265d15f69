/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers traps with SubnTrapRepress(), which ends their repetition (13.4.9).
 *
 * The answer goes back by LID, as the trap came.  A device that takes no SMPs by LID (adapters of
 * XDR fabrics need not) repeats the trap.  Then this answer, and all later ones to that port, go by
 * directed route, which every device takes.
 *
 * The answer carries the M_Key, which a device checks in a TrapRepress as in a Set (14.2.4).
 *
 * The table of ports is bounded: when it is full, all of it is forgotten.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_types.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/map64.h"
#include "sm/keys/mkey.h"
#include "sm/sm_internal.h"

#define PORTS_MAX	4096u
/*
 * The same notice again within that time counts as a repetition: devices repeat a notice after one
 * or a few SubnetTimeOuts (about a second).
 */
#define REPEATS_US	30000000
/* Bytes of a Notice.  IssuerLID, NoticeToggle and NoticeCount may differ between repetitions. */
enum { NOTICE_ISSUER = 6, NOTICE_DETAILS = 10, NOTICE_SIZE = 64 };

struct repressed {
	uint64_t digest;	/* of the last notice */
	int64_t at_us;
	bool routed;		/* answers go by directed route */
};

struct represses {
	struct map64 by_guid;	/* port GUID: index into v */
	VEC(struct repressed) v;
};

void repress_new(struct sm *sm)
{
	sm->traps.represses = xcalloc(1, sizeof(*sm->traps.represses));
	map64_init(&sm->traps.represses->by_guid, 16);
}

void repress_free(struct sm *sm)
{
	map64_free(&sm->traps.represses->by_guid);
	vec_free(&sm->traps.represses->v);
	free(sm->traps.represses);
}

static struct repressed *entry_of(struct represses *r, uint64_t guid)
{
	uint32_t i = map64_get(&r->by_guid, guid);

	if (i != MAP64_NONE)
		return &r->v.v[i];
	if (r->v.n >= PORTS_MAX) {
		map64_clear(&r->by_guid);
		r->v.n = 0;
	}
	map64_put(&r->by_guid, guid, (uint32_t)r->v.n);
	*vec_push(&r->v) = (struct repressed){ 0 };
	return &r->v.v[r->v.n - 1];
}

/* The answer to this trap must go by directed route. */
static bool goes_by_route(struct sm *sm, uint64_t guid, const uint8_t *notice)
{
	struct repressed *x = entry_of(sm->traps.represses, guid);
	uint64_t digest = hash_bytes(notice + NOTICE_DETAILS, NOTICE_SIZE - NOTICE_DETAILS,
				     hash_bytes(notice, NOTICE_ISSUER, 0));
	int64_t now = clock_mono_us();

	if (x->at_us && x->digest == digest && now - x->at_us < REPEATS_US)
		x->routed = true;
	x->digest = digest;
	x->at_us = now;
	return x->routed;
}

void repress(struct sm *sm, const struct mad_in *in, uint32_t port)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;
	struct smp route;
	uint8_t mad[256];

	/*
	 * with a wrong key the answer would be a violation, hence another trap; the device repeats
	 * this one
	 */
	if (!mkey_is_certain(sm, port) ||
	    (port != FABRIC_NONE && mkey_is_mismatched(sm, f, f->ports[port].node)))
		return;
	memcpy(mad, in->mad, sizeof(mad));
	mad[3] = UMAD_METHOD_TRAP_REPRESS;
	put_be64(mad + 24, port == FABRIC_NONE ? mkey_ours(sm) : mkey_of_port(sm, port));
	if (port != FABRIC_NONE && port != f->self &&
	    goes_by_route(sm, f->ports[port].guid, in->mad + 64) &&
	    want_route(f, f->ports[port].node, f->ports[port].num, &route))
		mad_send_routed(sm->mad, &route, mad);
	else
		mad_reply(sm->mad, in, mad, sizeof(mad));
}
