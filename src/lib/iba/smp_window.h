/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Controls how many SMPs may be outstanding, their time-outs, and their retries.
 *
 * VL15 has no flow control: a port without room drops an SMP, and its sender sees silence (IBA
 * 7.6.4).  So the sender has to learn from losses how much the fabric holds, as TCP does.
 *
 * - The window over the fabric starts small and doubles each round trip until an SMP is lost.
 *   A loss halves it once for all SMPs in flight; then it grows slowly, and ever more slowly
 *   at a size that failed before.  A window for each device shrinks and grows with the losses
 *   of that device.
 * - The time-out of a device follows from its measured round trips (RFC 6298).  Each try has
 *   a TransactionID of its own, so that a sample always belongs to one try: this replaces
 *   Karn's rule of TCP.  The time-out of a device that has not answered yet is `timeout_ms`, or
 *   less if another process has measured all devices (smp_window_learn()).  Time-outs double with each
 *   try unless they are to be steady.  The last try waits for the rest of the time that all
 *   tries would take with `timeout_ms`, so that a short time-out does not shorten the time
 *   that a device has to come back.
 * - Silence counts as a loss only if a later try is answered, when the device has never
 *   answered or has been silent before: a dead device does not close the window for others.
 *   An SMP that had no answer twice no longer takes room in the window.
 * - Only a few repeats go out at a time, so that congestion that lost the first try does not
 *   lose them, too.
 *
 * The code does no I/O and reads no clock: callers pass the time in microseconds of one monotonic
 * clock.
 */
#ifndef QOSD_LIB_IBA_SMP_WINDOW_H
#define QOSD_LIB_IBA_SMP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"

#define SMP_WINDOW_TIMEOUT_MAX_MS 10000u

struct smp_window_bounds {
	unsigned window;	/* limit of SMPs outstanding in all, 1 .. 4096 */
	unsigned window_device;	/* limit of SMPs outstanding to one device, 1 .. 255 */
	unsigned timeout_ms;	/* time-out of the first try to a device that has not answered yet, from 1 */
	unsigned tries;		/* tries per SMP, from 1 */
	bool steady;		/* time-outs do not double with each try */
};

/* The results that one process hands to another. */
struct smp_window_learned {
	uint16_t window;	/* final window: SMPs outstanding in all */
	bool lossy;		/* some SMPs were lost */
	uint32_t lost;		/* number of SMPs lost */
	uint32_t slowest_us;	/* longest round trip to expect of any device; 0: unknown */
};

struct smp_window_device {
	uint64_t route;			/* digest of the route to the device */
	uint32_t srtt_us, rttvar_us;	/* smoothed round trip and its variation; both 0: not measured yet */
	int64_t cut_us;			/* when its window was last halved */
	int64_t silent_us;		/* if silent: when the first try since the last answer was sent */
	uint16_t answered;		/* answers since its window last grew */
	uint32_t lost;			/* SMPs lost since the start; saturates */
	uint8_t window;
	uint8_t silent;			/* unanswered tries since the last answer; saturates */
};

struct smp_window {
	struct smp_window_bounds bounds;
	unsigned least;			/* smallest window after a cut; 0: never cut */
	unsigned window, threshold;	/* SMPs; above the threshold the window grows slowly */
	unsigned answered;		/* answers since the window last grew, above the threshold */
	unsigned outstanding;		/* SMPs that take room in the window */
	unsigned repeats_left;		/* repeats allowed before repeats_us */
	int64_t repeats_us;
	int64_t cut_us, changed_us;	/* when the window was last cut, and last changed */
	unsigned cut_from;		/* window before the last cut; 0: never cut */
	int64_t grow_us;		/* least time between two steps of slow growth */
	uint32_t rttvar_us;		/* variation of the round trip over all devices */
	uint64_t lost;			/* SMPs lost by devices that were alive */
	uint32_t slowest_us;		/* as handed to smp_window_learn(); 0: unknown */
	struct map64 by_route;
	VEC(struct smp_window_device) devices;
};

/* State of an SMP from its first try to its end. */
struct smp_window_smp {
	uint32_t device;
	uint32_t waited_ms;	/* sum of the time-outs of the tries so far, this one included */
	uint8_t try, tries;	/* number of the current try, from 0; number of tries allowed */
	bool in_window;		/* takes room in the window */
	bool brief;		/* the last try is not stretched to the full time */
	bool presses;		/* the window was at least half full when it was sent */
	bool suspect;		/* a try had no answer; a loss if a later try is answered */
	int64_t sent_us;	/* when the current try was sent */
	int64_t lost_us;	/* when the try that may be lost was sent */
};

void smp_window_init(struct smp_window *p, const struct smp_window_bounds *b);
void smp_window_free(struct smp_window *p);
/*
 * The number of the device at the end of a directed route: `hops` ports and, unless it is 0,
 * last_hop.  The number stays valid.  At most SMP_WINDOW_DEVICES_MAX devices are kept; beyond that,
 * routes share entries.  `guess` is a number to try first, which saves a search; SMP_WINDOW_NO_DEVICE: no
 * guess.
 */
#define SMP_WINDOW_DEVICES_MAX 65536u
#define SMP_WINDOW_NO_DEVICE	UINT32_MAX
uint32_t smp_window_device(struct smp_window *p, const uint8_t *route, unsigned hops, unsigned last_hop,
		     uint32_t guess);
/* State of the device at the end of a route; NULL if nothing was ever sent there. */
const struct smp_window_device *smp_window_find(const struct smp_window *p, const uint8_t *route, unsigned hops,
				    unsigned last_hop);
/* Whether the window over the fabric has room for one more SMP. */
bool smp_window_has_room(const struct smp_window *p);
/* Number of SMPs that may be outstanding to the device, from 1. */
unsigned smp_window_device_window(const struct smp_window *p, uint32_t device);

/*
 * Begins a new SMP: fills x and returns the time-out of the first try in ms.  With SMP_WINDOW_ONCE it has
 * a single try, whatever the bounds say; with SMP_WINDOW_BRIEF it has a few, and the last is not
 * stretched.  An SMP with neither flag is treated as both if the device has been silent for all the
 * tries and all the time that the bounds give.
 */
#define SMP_WINDOW_ONCE	1u
#define SMP_WINDOW_BRIEF	2u
unsigned smp_window_begin(struct smp_window *p, struct smp_window_smp *x, uint32_t device, unsigned how,
			  int64_t now_us);
/* Whether x may be tried again. */
static inline bool smp_window_has_tries(const struct smp_window_smp *x)
{
	return x->try + 1u < x->tries;
}
/* Whether a repeat may be sent now.  If not, ask again after an answer or a few ms later. */
bool smp_window_may_repeat(struct smp_window *p, int64_t now_us);
/* Begins the next try of x and returns its time-out in ms. */
unsigned smp_window_repeat(struct smp_window *p, struct smp_window_smp *x, int64_t now_us);

/* Records that the current try timed out. */
void smp_window_timed_out(struct smp_window *p, struct smp_window_smp *x, int64_t now_us);
/* Records that the current try was answered, and ends x. */
void smp_window_answered(struct smp_window *p, struct smp_window_smp *x, int64_t now_us);
/* Ends x without an answer: nobody waits for it any more. */
void smp_window_given_up(struct smp_window *p, struct smp_window_smp *x);

struct smp_window_learned smp_window_learned(const struct smp_window *p);
/* Takes over another process's results where this process has not measured better ones. */
void smp_window_learn(struct smp_window *p, const struct smp_window_learned *l);

#endif
