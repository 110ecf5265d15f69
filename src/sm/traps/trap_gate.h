/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many traps of one source are heard, so that one that never stops costs no more than a
 * bounded number of looks at it, and is in nobody else's way.  Pure: a table of sources, and
 * time as a parameter.
 *
 * Each source has a bucket, which holds TRAP_BURST looks and gets one back each TRAP_LOOK_US;
 * a conforming port sends one trap in its SubnetTimeOut at most (13.4.9), about a second.
 * What comes beyond is dropped, but not forgotten: as soon as the bucket has room the
 * source is looked at once for all of it, so that the last trap of a flood is served, too.
 *
 * Discoveries are for all sources together: that of one serves the others that ask for one, and they
 * come out of one more bucket, so that many sources cause no more of them than one does.
 *
 * The table is bounded.  Ports that are not of the fabric share one source, 0, and so do
 * those for whom there is no place: when thousands send traps in the same moment one
 * discovery serves them better than as many looks.
 */
#ifndef QOSD_SM_TRAPS_TRAP_GATE_H
#define QOSD_SM_TRAPS_TRAP_GATE_H

#include <stdbool.h>
#include <stdint.h>

#define TRAP_BURST	16
#define TRAP_LOOK_US	500000
#define TRAP_ALL_LOOKS	8		/* what a discovery costs of them */
#define TRAP_ALL_BURST	3		/* discoveries at once, of all sources together, */
#define TRAP_ALL_US	10000000	/* and one more each so often */
#define TRAP_FLOOD	16		/* from so many on that were dropped it is a flood, */
#define TRAP_TELL_US	10000000	/* which is told when it is so old, or over */

/* What a trap asks for; 0: nothing, but it is counted. */
enum {
	TRAP_LOOK = 1 << 0,		/* at the node that it came from */
	TRAP_NAME = 1 << 1,		/* … and its description */
	TRAP_ALL = 1 << 2,		/* at the whole fabric */
};

/* Traps of a source since its bucket was full. */
struct trap_flood {
	uint64_t source;	/* port GUID; 0: the shared one */
	unsigned port;		/* that the last trap that names one is about; 0: none does */
	uint64_t traps, dropped;
	int64_t us;		/* from the first one to the last */
};

struct trap_gate;
struct trap_gate *trap_gate_new(void);
void trap_gate_free(struct trap_gate *g);	/* NULL is fine */

/*
 * A trap came.  source: port GUID, 0 if it is not of the fabric; asks: bits of the above;
 * port: as in struct trap_flood.  False: it is dropped for now.
 */
bool trap_gate_take(struct trap_gate *g, uint64_t source, unsigned asks, unsigned port,
		    int64_t now_us);
/* A source that traps were dropped of and that may be looked at now; false: none. */
bool trap_gate_due(struct trap_gate *g, int64_t now_us, uint64_t *source, unsigned *asks);
/* A flood that is to be told, each of them once; false: none. */
bool trap_gate_tell(struct trap_gate *g, int64_t now_us, struct trap_flood *out);
/* When one of the two has something, if nothing comes before; INT64_MAX: never. */
int64_t trap_gate_next(const struct trap_gate *g, int64_t now_us);
/* The floods that go on, i from 0; false: there are no more. */
bool trap_gate_flood(const struct trap_gate *g, unsigned i, int64_t now_us,
		     struct trap_flood *out);
/* How many were dropped in all. */
uint64_t trap_gate_dropped(const struct trap_gate *g);

#endif
