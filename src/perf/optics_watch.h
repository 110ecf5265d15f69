/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the transceivers and cables in ports, when an operator asks and from time to time, and reports those that
 * raise an alarm.
 *
 * No standard defines how to ask for them; devices by Mellanox and NVIDIA have registers (lib/iba/access_register.h).
 * So only devices are asked whose kind is known to have them, and one that refuses, or is silent, is not asked again
 * until it has left the fabric and come back, or an operator names it.
 *
 * A reading costs little: OPTICS_WINDOW devices are asked at a time, with one request each, because they are slow:
 * they read the module over a bus of 400 kHz.  The first reading of a module takes about ten SMPs and one for its
 * port, and later ones two to six.  Requests are SMPs by directed route with the M_Key, beside any sweep, which never
 * waits for them.
 *
 * A module that is read has its latched flags cleared, for other readers as well; so what is beyond a threshold is
 * judged by the values.
 *
 * For the loop's thread only.
 */
#ifndef QOSD_PERF_OPTICS_WATCH_H
#define QOSD_PERF_OPTICS_WATCH_H

#include "events/event.h"
#include "lib/loop/loop.h"
#include "mad/mad.h"
#include "perf/optics_book.h"
#include "plan/published_state.h"

#define OPTICS_WINDOW		16	/* devices that are asked at a time */
#define OPTICS_EVENTS_MAX	500	/* events of one reading */
#define OPTICS_SILENT_TRIES	2	/* each of the time that all tries of another SMP would take */
#define OPTICS_BUSY_TRIES	5
#define OPTICS_BUSY_US		200000	/* wait before a busy device is asked again */

struct optics_reading {
	int64_t when_us, when_real_us;	/* its end: monotonic, realtime; 0: never */
	uint32_t ports;			/* asked for */
	uint32_t results[OPTICS_RESULTS];
	uint32_t nodes, refusing, silent;	/* asked for, and of these … */
};

struct optics_hooks {
	/* Fills in the route to a port of the fabric and the M_Key there; false: there is none. */
	bool (*route)(void *arg, const struct fabric *f, uint32_t node, unsigned num, struct smp *s);
	void (*event)(void *arg, const struct event *e);
	void *arg;
};

struct optics_watch;
/* interval_us: between readings of all ports; 0: none. */
struct optics_watch *optics_watch_new(struct loop *l, struct mad_port *m, int64_t interval_us,
				      const struct optics_hooks *hooks);
/* A reading that runs ends without calling fn.  Must be called before mad_close(). */
void optics_watch_free(struct optics_watch *w);		/* NULL is fine */
void optics_watch_set_interval(struct optics_watch *w, int64_t interval_us);
/* Sets the state to be watched; NULL: we are not master, and everything is forgotten. */
void optics_watch_published(struct optics_watch *w, struct subnet_state *s);

/* Whether a node's kind is known to have registers. */
bool optics_has_registers(const struct fabric *f, uint32_t node);
/*
 * Reads these ports of the state, by index; the list is copied.  anew: nodes that refused or were silent are
 * asked again, too.  fn is called once, at the end.  False, with the reason in err: another reading is in
 * progress, or none of the ports' devices has registers; fn is not called then.
 */
bool optics_watch_read(struct optics_watch *w, struct subnet_state *s, const uint32_t *ports, uint32_t n, bool anew,
		       void (*fn)(void *arg, const struct optics_reading *r), void *arg, struct buf *err);
/* Cancels the call of fn with this arg. */
void optics_watch_forget(struct optics_watch *w, const void *arg);

/* The last reading of all ports or of some. */
const struct optics_reading *optics_watch_last(const struct optics_watch *w);
/* What is known of a port of the state; NULL: nothing. */
const struct optics_port *optics_watch_port(const struct optics_watch *w, const struct subnet_state *s, uint32_t port);
/* Whether a node was asked and refused, or was silent. */
bool optics_watch_refuses(const struct optics_watch *w, const struct subnet_state *s, uint32_t node, bool *silent);
#endif
