/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits how many traps of one source are heard.  A source that never stops then costs a bounded
 * number of looks at it, and delays nobody else.
 *
 * Pure: a table of sources, and time as a parameter.
 *
 * Each source has a bucket of TRAP_BURST looks and gets one back every TRAP_LOOK_US; a conforming
 * port sends at most one trap per SubnetTimeOut (13.4.9), about a second.  Traps beyond that are
 * dropped but not forgotten: as soon as the bucket has room, the source is looked at once for all
 * of them, so that the last trap of a flood is served, too.
 *
 * Discoveries have one more bucket that all sources share: a discovery for one source serves the
 * others that ask for one, so many sources cause no more discoveries than one does.
 *
 * The table is bounded.  Ports outside the fabric share one source, 0, with ports for which the
 * table has no room: when thousands send traps at the same moment, one discovery serves them better
 * than as many looks.
 */
#ifndef QOSD_SM_TRAPS_TRAP_GATE_H
#define QOSD_SM_TRAPS_TRAP_GATE_H

#include <stdbool.h>
#include <stdint.h>

#define TRAP_BURST	16
#define TRAP_LOOK_US	500000
#define TRAP_ALL_LOOKS	8		/* looks that a discovery costs */
#define TRAP_ALL_BURST	3		/* discoveries in succession, of all sources together, */
#define TRAP_ALL_US	10000000	/* and the time to earn one more */
#define TRAP_FLOOD	16		/* dropped traps that make a flood, */
#define TRAP_TELL_US	10000000	/* which is reported at this age, or when it is over */

/* What a trap asks for; 0: nothing, but the trap is counted. */
enum {
	TRAP_LOOK = 1 << 0,		/* a look at the node that sent it */
	TRAP_NAME = 1 << 1,		/* a look at that node's description */
	TRAP_ALL = 1 << 2,		/* a look at the whole fabric */
};

/* Traps of a source since its bucket was last full. */
struct trap_flood {
	uint64_t source;	/* port GUID; 0: the shared one */
	unsigned port;		/* port named by the last trap that names one; 0: none does */
	uint64_t traps, dropped;
	int64_t us;		/* from the first one to the last */
};

struct trap_gate;
struct trap_gate *trap_gate_new(void);
void trap_gate_free(struct trap_gate *g);	/* NULL is fine */

/*
 * Takes a trap.  source: port GUID, 0: not of the fabric; asks: bits of the above; port: as in
 * struct trap_flood.  False: the trap is dropped for now.
 */
bool trap_gate_take(struct trap_gate *g, uint64_t source, unsigned asks, unsigned port,
		    int64_t now_us);
/* The next source with dropped traps that may be looked at now; false: none. */
bool trap_gate_due(struct trap_gate *g, int64_t now_us, uint64_t *source, unsigned *asks);
/* The next flood that must be reported, each of them once; false: none. */
bool trap_gate_tell(struct trap_gate *g, int64_t now_us, struct trap_flood *out);
/* When one of those two will have something if no trap comes before; INT64_MAX: never. */
int64_t trap_gate_next(const struct trap_gate *g, int64_t now_us);
/* The floods in progress, i from 0; false: i is beyond the end. */
bool trap_gate_flood(const struct trap_gate *g, unsigned i, int64_t now_us,
		     struct trap_flood *out);
/* Total number of dropped traps. */
uint64_t trap_gate_dropped(const struct trap_gate *g);

#endif
