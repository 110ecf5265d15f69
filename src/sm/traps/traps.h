/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What traps tell, and what stands in for one that was lost; links that go down again and again.
 */
#ifndef QOSD_SM_TRAPS_TRAPS_H
#define QOSD_SM_TRAPS_TRAPS_H

#include "mad/mad.h"

struct fabric;
struct sm;

struct traps {
	struct trap_gate *gate;		/* how many traps of one source are heard */
	struct timer *timer;		/* the gate has something to do then */
	struct represses *represses;	/* which ports are answered by directed route (repress.c) */
	struct watch *watch;		/* what is asked because a trap may have been lost (flood_watch.c) */
	struct flaps *flaps;		/* links that go down again and again (flapping_links.c) */
	struct timer *flap_timer;
};
void traps_new(struct sm *sm);
void traps_free(struct sm *sm);

/* flood_watch.c */
void watch_new(struct sm *sm);
void watch_free(struct sm *sm);
/* An SMP of others has come: switches are asked for their changes if there are very many. */
void watch_smp(struct sm *sm);
/* The published fabric goes. */
void watch_stop(struct sm *sm);

/* repress.c: the answer to a trap; port: where it came from, of the published fabric, or FABRIC_NONE */
void repress_new(struct sm *sm);
void repress_free(struct sm *sm);
void repress(struct sm *sm, const struct mad_in *in, uint32_t port);

/* flapping_links.c */
void flapping_new(struct sm *sm);
void flapping_free(struct sm *sm);
/* A sweep knows the fabric, and makes its routes next: what went down since the last one. */
void flapping_look(struct sm *sm);
/* A sweep has ended, and knows which links it has left short of Active. */
void flapping_swept(struct sm *sm);

#endif
