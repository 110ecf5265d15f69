/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many SMPs may be outstanding, how long to wait for each, and when to repeat one.
 *
 * VL15 has no flow control: a port without room drops an SMP, and its sender sees silence
 * (IBA 7.6.4).  So the sender finds out by losses what the fabric holds, as TCP does.
 *
 * - The window over the fabric starts small, doubles each round trip until something is lost,
 *   is halved then, once for all SMPs that were on their way, and grows slowly from there.
 *   Where it has failed before it grows more and more slowly.  A
 *   window for each device shrinks and grows with the losses of that device.
 * - The time-out of a device follows from the round trips measured to it (RFC 6298).  Each
 *   try has a TransactionID of its own, so that a sample is always of one try: that serves
 *   where Karn's rule serves TCP.  Until a device has answered it has `timeout_ms`, or
 *   less if another process has measured all devices (smp_window_learn()).  Time-outs double with
 *   each try unless they are to be steady, and the last try waits for what is left of the time that all tries would take
 *   from `timeout_ms`: a device that is away for a while has as long to come back as ever.
 * - Silence of a device that never answered, or that has been silent before, is no loss
 *   until a later try is answered: a dead device does not close the window for others.
 *   An SMP that had no answer twice no longer takes room in the window.
 * - Repeats are few at a time, lest they be lost for the reason that the first try was.
 *
 * No I/O, no clock: time is handed in, in microseconds of any one monotonic clock.
 */
#ifndef QOSD_LIB_IBA_SMP_WINDOW_H
#define QOSD_LIB_IBA_SMP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"

#define SMP_WINDOW_TIMEOUT_MAX_MS 10000u

struct smp_window_bounds {
	unsigned window;	/* SMPs outstanding in all, 1 .. 4096 */
	unsigned window_device;	/* ... and to one device, 1 .. 255 */
	unsigned timeout_ms;	/* first try to a device that has not answered yet, from 1 */
	unsigned tries;		/* of one SMP, from 1 */
	bool steady;		/* time-outs do not double with each try */
};

/* What another process has to know of what one has found out. */
struct smp_window_learned {
	uint16_t window;	/* SMPs outstanding in all, at the end */
	bool lossy;		/* ... and more were lost */
	uint32_t lost;		/* SMPs */
	uint32_t slowest_us;	/* the longest round trip to be expected of any device; 0: unknown */
};

struct smp_window_device {
	uint64_t route;			/* a digest of the route that leads to it */
	uint32_t srtt_us, rttvar_us;	/* smoothed round trip and its variation; both 0: none yet */
	int64_t cut_us;			/* when its window was last halved */
	int64_t silent_us;		/* when the first try since the last answer was sent, if silent */
	uint16_t answered;		/* since its window last grew */
	uint32_t lost;			/* SMPs, since the start; saturates */
	uint8_t window;
	uint8_t silent;			/* tries without an answer since the last answer; saturates */
};

struct smp_window {
	struct smp_window_bounds bounds;
	unsigned least;			/* to which the window was ever cut; 0: it never was */
	unsigned window, threshold;	/* SMPs; above the threshold it grows slowly */
	unsigned answered;		/* since the window last grew, above the threshold */
	unsigned outstanding;		/* that take room in the window */
	unsigned repeats_left;		/* that may go out before repeats_us is over */
	int64_t repeats_us;
	int64_t cut_us, changed_us;	/* when the window was last cut, or changed */
	unsigned cut_from;		/* what it was then; 0: never */
	int64_t grow_us;		/* time between two steps of slow growth */
	uint32_t rttvar_us;		/* variation seen over all devices */
	uint64_t lost;			/* SMPs whose loss was not their device's death */
	uint32_t slowest_us;		/* of struct smp_window_learned, as it was told; 0: unknown */
	struct map64 by_route;
	VEC(struct smp_window_device) devices;
};

/* What is kept with an SMP from its first try to its end. */
struct smp_window_smp {
	uint32_t device;
	uint32_t waited_ms;	/* time-outs of the tries before and of this one */
	uint8_t try, tries;	/* 0: the first; how many there may be */
	bool in_window;		/* takes room there */
	bool brief;		/* the last try is not stretched */
	bool presses;		/* was sent when the window was half full at least */
	bool suspect;		/* a try was silent, which is a loss if a later one is answered */
	int64_t sent_us;	/* this try */
	int64_t lost_us;	/* when the try was sent that is suspected to be lost */
};

void smp_window_init(struct smp_window *p, const struct smp_window_bounds *b);
void smp_window_free(struct smp_window *p);
/*
 * The device at the end of a directed route of `hops` ports and, unless it is 0, last_hop: a
 * number that stays good.  So many are kept; beyond, a route shares what is known of another.
 * `guess` is the number that it may have, which saves looking for it; SMP_WINDOW_NO_DEVICE: none.
 */
#define SMP_WINDOW_DEVICES_MAX 65536u
#define SMP_WINDOW_NO_DEVICE	UINT32_MAX
uint32_t smp_window_device(struct smp_window *p, const uint8_t *route, unsigned hops, unsigned last_hop,
			   uint32_t guess);
/* What is known of the device at the end of a route; NULL: nothing was ever sent there. */
const struct smp_window_device *smp_window_find(const struct smp_window *p, const uint8_t *route, unsigned hops,
						unsigned last_hop);
/* May one more SMP be sent, as far as the fabric is concerned? */
bool smp_window_has_room(const struct smp_window *p);
/* SMPs that may be outstanding to the device, from 1. */
unsigned smp_window_device_window(const struct smp_window *p, uint32_t device);

/*
 * A new SMP goes out: fills x, returns the time-out of this try in ms.  SMP_WINDOW_ONCE: it has a
 * single try, whatever the bounds say; SMP_WINDOW_BRIEF: a few, of which the last is not
 * stretched.  One that is neither is both if the device has answered nothing for as long as all tries
 * take, nor to as many.
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
/* May a repeat be sent now?  If not, ask again after an answer, or when some ms have passed. */
bool smp_window_may_repeat(struct smp_window *p, int64_t now_us);
/* The next try of x goes out: returns its time-out in ms. */
unsigned smp_window_repeat(struct smp_window *p, struct smp_window_smp *x, int64_t now_us);

/* The current try had no answer. */
void smp_window_timed_out(struct smp_window *p, struct smp_window_smp *x, int64_t now_us);
/* The current try was answered. Ends x. */
void smp_window_answered(struct smp_window *p, struct smp_window_smp *x, int64_t now_us);
/* Nobody waits for an answer to x any more. */
void smp_window_given_up(struct smp_window *p, struct smp_window_smp *x);

struct smp_window_learned smp_window_learned(const struct smp_window *p);
/* What another found out, as far as it is not known better here. */
void smp_window_learn(struct smp_window *p, const struct smp_window_learned *l);

#endif
