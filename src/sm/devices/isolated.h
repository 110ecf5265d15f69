/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes sweeps follow what is isolated (isolations.h): cuts it out of their fabric, and takes its links down. */
#ifndef QOSD_SM_DEVICES_ISOLATED_H
#define QOSD_SM_DEVICES_ISOLATED_H

#include "sm/devices/isolated_tables.h"
#include "sm/devices/isolations.h"
#include "sm/sweep/steps.h"

struct take_down;
struct down_batch;

struct isolated {
	struct isolation_cuts cuts;	/* as of the last sweep that looked */
	/* links that carried packets when they were cut, by the routes of then */
	VEC(struct take_down) downs;
	bool cuts_now;			/* this sweep has cut links that carried packets before */
	struct isolated_tables tables;	/* of switches that went with the links */
	struct isolated_digests leaving;	/* of those that this sweep takes out, made beside its plan */
	VEC(uint16_t) lids;		/* of ports that went with the links, and nobody's since; in rising order */
	/*
	 * STEP_ISOLATE sets what is equally far at the same time: devices of that job, and the first of downs
	 * after it
	 */
	VEC(struct down_batch) batches;
	size_t next;
};

/* A sweep begins with a fabric in which nothing new is cut yet. */
void isolated_begin(struct isolated *x);
/*
 * Cuts out of f, the fabric of a sweep, what is isolated, and remembers the links to be taken down.  fn
 * and the result are as for isolations_cut().
 */
uint32_t isolated_cut(struct sm *sm, struct fabric *f, void (*fn)(void *arg, uint32_t port), void *arg);
/*
 * The device behind a port of f, which says that it is node `guid` by its port `num`.  True: that link is
 * isolated, so that the port gets no far end; this is noted.  A link that is not isolated any more is forgotten.
 */
bool isolated_forbids(struct sm *sm, struct fabric *f, uint32_t port, uint64_t guid, unsigned num);
/* STEP_ISOLATE: takes links down that are isolated and may still carry packets. */
enum step_result isolated_take_down(struct sm *sm);
/*
 * The port's link was taken down a moment ago.  It is no news then that the switch reports a change, nor that the port
 * is Down or in Init: that it is in Init is in the fabric already.
 */
bool isolated_settles(const struct sm *sm, const struct fabric *f, uint32_t port);
/* The state of a sweep is about to be published. */
void isolated_publish(struct sm *sm);
/* A port had the LID that isolation has taken out of the fabric, or takes out of it with the running sweep. */
bool isolated_had_lid(const struct sm *sm, uint16_t lid);
void isolated_free(struct isolated *x);

#endif
