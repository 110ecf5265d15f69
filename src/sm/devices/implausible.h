/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists answers of devices that cannot be true or that keep changing, and asks those devices again.
 *
 * A device that returns to the truth does not announce it.  Each light sweep therefore asks again:
 *  - each port on the list, or the device behind it, for the attribute that was wrong;
 *  - for values that devices keep instead of those written (store/refused_values.h), at most
 *    ASK_AGAIN_MAX of them in one light sweep;
 *  - each node whose NodeInfo discovery has read only once;
 *  - in every other light sweep each node with more than two ports, for NodeInfo: a device that
 *    conceals some of its ports hides what is behind them, and no other device reports that.
 *
 * A NodeInfo that equals the published one except for a LocalPortNum that the node does not have is
 * only reported: the link is there, and the device behind it has not changed.
 *
 * A local sweep follows only where an answer is news (again_is_news()).  So a device that is wrong
 * for good costs one SMP in each light sweep for each entry, and no sweep.
 *
 * `health` reads the list, and each new entry is logged.  The list holds IMPLAUSIBLE_MAX entries;
 * further ones are only logged.  Two answers that differ may just be a change between them: such an
 * entry is `unsure`, and it is reported once a light sweep has had the same answers again.
 */
#ifndef QOSD_SM_DEVICES_IMPLAUSIBLE_H
#define QOSD_SM_DEVICES_IMPLAUSIBLE_H

#include "fabric/fabric.h"

struct sm;

#define IMPLAUSIBLE_MAX	4096
#define ASK_AGAIN_MAX	1024

/* Digests of the answers to a question that every light sweep asks. */
struct again {
	uint32_t looked;	/* the answer that sweeps know, or that caused one; 0: none */
	uint32_t last;		/* the answer to the last light sweep */
	bool same;		/* the last two answers were the same */
	bool unsteady;		/* the answer has changed before */
};

/*
 * Takes an answer.  True: it differs from the one that sweeps know, so a local sweep must look at
 * it. If the device has changed its answer before, the new answer must come twice.  So a device
 * that answers at random does not cause a sweep each time, and one that returns to the truth is
 * looked at after two light sweeps at the latest.
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
	uint64_t guid;		/* GUID of the node that has the port */
	uint8_t num;
	bool behind;		/* the answer came from the device at the other end of the port's link */
	bool answer;		/* an answer was wrong; the next good answer removes the entry */
	bool found;		/* if not `answer`: the fault is in the fabric published last */
	bool unsure;		/* two answers read in succession differ: not reported to anybody yet */
	bool changes;		/* its answers change: only the same answer twice removes the entry */
	struct again again;
	char text[384];
};

void implausible_new(struct sm *sm);
void implausible_free(struct sm *sm);
/* Called when nothing is published any more. */
void implausible_stop(struct sm *sm);

/*
 * A digest of an answer without the parts that change by themselves, such as counters of
 * violations.  Never 0.
 */
uint32_t implausible_digest(uint16_t attr, const uint8_t *data);
/* The digest of an answer that carries an error status. */
uint32_t implausible_digest_error(int status);

/*
 * A port of f, or the device behind it (`behind`), gave an impossible answer.  said: the digest of
 * the answer; 0: not at hand.  True: the entry is new.
 */
bool implausible_note(struct sm *sm, const struct fabric *f, uint32_t port, bool behind, uint32_t said,
		      const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Removes the entry: the answer was good. */
void implausible_clear(struct sm *sm, const struct fabric *f, uint32_t port, bool behind);
bool implausible_know(const struct sm *sm, const struct fabric *f, uint32_t port, bool behind);

/*
 * Called when a fabric was published: adds what does not fit in it, and removes what fits again.
 * Looks at nodes that have changed since the last call, as far as the published state knows them.
 */
void implausible_look(struct sm *sm);
/*
 * Compares the SwitchInfo that a light sweep read of a switch of f with the published one.  True:
 * it differs in a part that counts, and that is news.
 */
bool implausible_switch_is_news(struct sm *sm, const struct fabric *f, uint32_t sw, const uint8_t *data);
/* The same for the NodeDescription of a node. */
bool implausible_name_is_news(struct sm *sm, const struct fabric *f, uint32_t node, const char *said);
/* Asks again, as part of a light sweep. */
void implausible_ask(struct sm *sm);

/* Takes the GUID of a node that gave an impossible answer and does not any more; 0: no more such nodes. */
uint64_t implausible_next_right(struct sm *sm);

/* The list of *n entries, valid until the next call of a function that may change it. */
const struct implausible_answer *implausible_list(const struct sm *sm, size_t *n);

#endif
