/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files that elect the master share: the state of the election, the questions under way
 * and who may be asked.
 *
 * All GUIDs are port GUIDs in host byte order.
 */
#ifndef QOSD_SM_ELECTION_ELECTION_INTERNAL_H
#define QOSD_SM_ELECTION_ELECTION_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/bucket.h"
#include "sm/election/election_table.h"
#include "sm/sm_internal.h"

/*
 * Offsets in the data of an SMInfo, beyond its fields: 1 is a nudge; 1 is `changed` of struct sm_info.
 */
enum { SM_INFO_NUDGE = 32, SM_INFO_CHANGED = 33 };

#define CLAIMS		32	/* ports with a remembered time of the last question */
#define SHOWN		16	/* managers with a remembered time at which they showed the SM_Key */

/* Another SM, and the directed route to it. */
struct peer {
	struct sm_info info;
	uint8_t route[UMAD_SMP_MAX_HOPS];
	uint8_t hops, last_hop;
	uint64_t m_key;			/* M_Key of its port, so that it tells us its SM_Key */
	bool tells_key;			/* it tells the SM_Key itself, so it learns nothing from ours */
};

struct election {
	uint32_t act_count;		/* SMInfo.ActCount */
	uint8_t priority;		/* the priority set last */

	VEC(struct peer) peers;		/* of the last election */
	VEC(struct peer) heard;		/* of the running election */
	uint32_t round;			/* number of the election: answers to earlier ones are ignored */
	uint32_t to_ask;		/* outstanding answers */
	/* GUIDs that did not answer in the last and in this election: asked once only */
	VEC(uint64_t) silent, silent_now;
	uint32_t other_managers;		/* SMs with another SM_Key, at the last election */
	uint64_t nonce;			/* of the last proof that we sent */

	/* standing by */
	struct peer master;		/* guid 0: none */
	unsigned unanswered;		/* consecutive polls without an answer */
	int64_t idle_since_us;		/* since when it answers without being master; 0: it is master */
	int64_t busy_since_us;		/* since when it hands over while we are not ready; 0: not so */
	unsigned judging;		/* senders of controls that are being asked */
	uint64_t silent_master;	/* GUID of a master that did not answer, until we are elected */

	/* master */
	bool changed;			/* operators have changed something since we became master */
	struct peer successor;		/* the SM to which we are handing over */
	uint64_t refused_by;		/* GUID of an SM that refused a handover */
	unsigned refusals;
	int64_t next_handover_us;
	uint64_t awaited;		/* GUID of a lesser master that should hand over */
	int64_t await_until_us;
	int64_t followed_us;		/* since when we follow the master */
	int64_t nudged_us;		/* time of the last nudge that was acted on */
	int64_t alive_us;		/* when the loop last turned */
	uint32_t checks;		/* outstanding answers after a pause */
	/* Claims of others in requests for our SMInfo, and what they began. */
	struct {
		uint64_t guid;
		int64_t asked_us;
	} claims[CLAIMS];
	struct bucket ask, ask_sm, news, strangers, controls;
	struct {
		uint64_t guid;
		int64_t when_us;
	} shown[SHOWN];			/* managers that showed the SM_Key at their place */
	uint64_t introduced;		/* GUID of a standby that we looked for after it had polled us */
	struct timer *alive, *again;
	struct question *questions;	/* unanswered; freed by us, also at the end */
};

/* A Get(SMInfo) under way. */
struct question {
	struct sm *sm;
	struct peer peer;		/* its guid: the SM that is expected there */
	uint64_t asked, nonce;		/* that GUID, and the nonce that the proof in the answer must have */
	uint32_t node;
	uint32_t round;
	struct question *next, **link;	/* in the list of unanswered questions */
};

/* sm_info.c */
/* Called with the question as arg, which it frees; s: the answer; status: 0, or as smp_send() says. */
typedef void question_done(void *arg, const struct smp *s, int status);
struct sm_info sm_info_ours(const struct sm *sm);
/* Adds the SM_Key, for SMs that may see it: without it OpenSM regards us as a stranger (14.4.7). */
void sm_info_put_key(const struct sm *sm, uint8_t *data);
/*
 * Takes the answer of the SM that is expected at a port into q->peer.  An SM that proves to have
 * the SM_Key counts as one that tells it.  False: the answer has another GUID, so nothing of it is
 * believed.
 */
bool question_take_answer(const struct sm *sm, struct question *q, const struct smp *s);
/* Sends s, whose data is filled, to the peer, and proves there that we have the SM_Key. */
void question_send(struct sm *sm, const struct peer *p, struct smp s, question_done *fn);
/* Sends our SMInfo: a Get, or a Set of the control mod; once: without a repetition. */
void question_send_to(struct sm *sm, const struct peer *p, uint8_t method, uint32_t mod, bool once,
		      question_done *fn);
/* Asks the fabric's port for SMInfo.  False: no route leads there. */
bool question_ask_port(struct sm *sm, const struct fabric *f, uint32_t port, question_done *fn);
void question_free(struct question *q);
/* The fabric's port belongs to an adapter or router, not to us, and says IsSM. */
bool port_says_sm(const struct fabric *f, uint32_t port);

/* election.c */
/* A step of the state machine.  False: the input is not legal in this state, and nothing happens. */
bool election_step(struct sm *sm, enum sm_input input, const char *why);
/* Follows another master: clients belong to it, unless we learn what they registered there. */
void election_follow(struct sm *sm, const struct peer *p);
/* Another master, which has shown the SM_Key, has all that we have, and operators changed it since. */
bool election_is_newer(const struct sm *sm, const struct sm_info *i);
/*
 * Stands by for such a master, which we follow already, although we rank above it: it hands over to
 * us when we have copied what it has.
 */
void election_yield(struct sm *sm, const struct sm_info *i);
/* The SM at the port with that GUID was there at the last election. */
bool election_knows(const struct election *e, uint64_t guid);
/* Updates a known SM's state; an election takes care of the rest. */
void election_update_peer(struct sm *sm, const struct sm_info *i);

/* stand_by.c */
/* Callback of a timer that a master runs each 100 ms; arg: the struct sm. */
void election_on_alive(void *arg);

/* claims.c */
/* Takes the sender's own SMInfo from the data of its request for ours; it has shown a key. */
void claims_take_hint(struct sm *sm, const uint8_t *data);

#endif
