/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles traps, makes up for traps that may be lost, and deals with flapping links.
 */
#ifndef QOSD_SM_TRAPS_TRAPS_H
#define QOSD_SM_TRAPS_TRAPS_H

#include "mad/mad.h"

struct fabric;
struct sm;

struct traps {
	struct trap_gate *gate;		/* limits how many traps of one source are heard */
	struct timer *timer;		/* for the next action of the gate */
	struct represses *represses;	/* ports that are answered by directed route (repress.c) */
	struct watch *watch;		/* questions to switches whose traps may be lost (flood_watch.c) */
	struct flaps *flaps;		/* links that go down and up again and again (flapping_links.c) */
	struct timer *flap_timer;
};
void traps_new(struct sm *sm);
void traps_free(struct sm *sm);

/* flood_watch.c */
void watch_new(struct sm *sm);
void watch_free(struct sm *sm);
/* An SMP that is no answer to ours came: if there are very many, switches are asked for changes. */
void watch_smp(struct sm *sm);
/* Called when the published fabric goes. */
void watch_stop(struct sm *sm);

/* repress.c: answers a trap; port: the sender's, in the published fabric, or FABRIC_NONE */
void repress_new(struct sm *sm);
void repress_free(struct sm *sm);
void repress(struct sm *sm, const struct mad_in *in, uint32_t port);

/* flapping_links.c */
void flapping_new(struct sm *sm);
void flapping_free(struct sm *sm);
/*
 * Called when a sweep knows the fabric, before it makes routes: records links that went down since
 * the last sweep.
 */
void flapping_look(struct sm *sm);
/* Called when a sweep has ended: takes the links that it left short of Active. */
void flapping_swept(struct sm *sm);

#endif
