/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers of devices that cannot be true or that change from one question to the next: the list of
 * them, and asking those devices again.
 *
 * A device that tells the truth again does not announce it.  Each light sweep therefore asks once more:
 *  - each port on the list, or the device behind it, for what it answered then;
 *  - for values that devices keep instead of those they were given (store/refused_values.h), at most
 *    ASK_AGAIN_MAX of them in one light sweep;
 *  - each node whose NodeInfo has been read only once, as discovery asks for it once;
 *  - in every other light sweep each node with more than two ports, for NodeInfo: a device that
 *    conceals some of its ports hides what is behind them, and no other device tells of it.
 *
 * A NodeInfo that is as published but for a LocalPortNum that the node does not have is told of, and no
 * more: the link is there, and the device behind it is the one that it was.
 *
 * A local sweep follows only where an answer is news (again_is_news()).  So a device that is odd for
 * good costs one SMP in each light sweep for each entry, and no sweep.
 *
 * The list also serves `health`; a new entry is logged.  It holds IMPLAUSIBLE_MAX; more are only logged.
 * What may be no more than a change between two answers (`unsure`) is told when a light sweep has had
 * the same answers again.
 */
#ifndef QOSD_SM_DEVICES_IMPLAUSIBLE_H
#define QOSD_SM_DEVICES_IMPLAUSIBLE_H

#include "fabric/fabric.h"

struct sm;

#define IMPLAUSIBLE_MAX	4096
#define ASK_AGAIN_MAX	1024

/* What is known of the answers to a question that every light sweep asks, as digests. */
struct again {
	uint32_t looked;	/* the answer that sweeps know, or that led to one; 0: none is known */
	uint32_t last;		/* the last answer to a light sweep */
	bool same;		/* the last two answers were the same */
	bool unsteady;		/* the answer has changed before */
};

/*
 * Takes an answer.  True: a local sweep is to look at it, as it is another than sweeps know.  Of a
 * device that has changed its answer before, the new answer has to be the same twice; so a device that
 * answers at random does not cause a sweep each time, and one that returns to the truth is looked at
 * after two light sweeps at the latest.
 */
static inline bool again_is_news(struct again *a, uint32_t digest)
{
	digest += !digest;
	a->same = digest == a->last;
	a->last = digest;
	if (digest == a->looked || (a->unsteady && !a->same))
		return false;
	a->unsteady = a->looked;
	a->looked = digest;
	return true;
}

struct implausible_answer {
	uint64_t guid;		/* of the node that has the port */
	uint8_t num;
	bool behind;		/* the device at the other end of the link of that port said it */
	bool answer;		/* it was an answer; the next good answer takes it off the list */
	bool found;		/* if not `answer`: it is in the fabric that was published last */
	bool unsure;		/* two answers differ, read one after the other: not told to anybody yet */
	bool changes;		/* it said this and that: only the same answer twice takes it off the list */
	struct again again;
	char text[384];
};

void implausible_new(struct sm *sm);
void implausible_free(struct sm *sm);
/* Nothing is published any more. */
void implausible_stop(struct sm *sm);

/* What counts of an answer: the rest, as counters of violations, changes by itself.  Never 0. */
uint32_t implausible_digest(uint16_t attr, const uint8_t *data);
/* Of an answer that is an error. */
uint32_t implausible_digest_error(int status);

/*
 * An answer of a port of f, or from behind it, cannot be.  said: its digest; 0: it is not at hand.
 * True: that is not on the list yet.
 */
bool implausible_note(struct sm *sm, const struct fabric *f, uint32_t port, bool behind, uint32_t said,
		      const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* An answer was good. */
void implausible_clear(struct sm *sm, const struct fabric *f, uint32_t port, bool behind);
bool implausible_know(const struct sm *sm, const struct fabric *f, uint32_t port, bool behind);

/*
 * A fabric was published: what does not fit in it comes on the list, and what fits again goes.  Looks
 * at the nodes that have changed since the last call, as far as the published state knows them.
 */
void implausible_look(struct sm *sm);
/*
 * The SwitchInfo that a light sweep has read of a switch of f.  True: what counts of it is not as it was
 * published, and that is news.
 */
bool implausible_switch_is_news(struct sm *sm, const struct fabric *f, uint32_t sw, const uint8_t *data);
/* The same of the NodeDescription of a node. */
bool implausible_name_is_news(struct sm *sm, const struct fabric *f, uint32_t node, const char *said);
/* With a light sweep: asks again. */
void implausible_ask(struct sm *sm);

/* Takes the GUID of a node that said what cannot be, and does not any more; 0: there is no other. */
uint64_t implausible_next_right(struct sm *sm);

/* The list, *n entries; until the next call of a function that may change it. */
const struct implausible_answer *implausible_list(const struct sm *sm, size_t *n);

#endif
