/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a master leaves to the qosd that takes over: LIDs and places of P_Keys,
 * partitions of run time, and what clients registered, each part as the text that is also
 * kept on disk.  A part's version is a digest of its text, so that two daemons
 * with the same version of a part have the same.
 *
 * estate.c prints the parts of this daemon, and puts those of another in their place.
 * heir.c, while we stand by, asks the master for the versions after each poll, and for
 * the text of what differs.  Groups change all the time where hosts come and go, and their text is
 * long: that part stays as it was printed, and another is a log of the changes, of which a
 * standby asks for what it lacks.  All goes in single MADs of the SA class (SA_ATTR_ESTATE).
 * Either side proves to the other that it has the SM_Key, by a keyed hash of each MAD, and tells
 * it to nobody.  The key that everybody knows proves nothing: with it a master answers only ports
 * at which a subnet manager has answered as one (sm_is_manager()).  A master of another version may
 * have parts, and formats of parts, that we do not know: the others are taken.  With the question for the versions the master
 * hears which partitions of run time we have: who asked it for them waits for that
 * (standbys.c).
 */
#ifndef QOSD_DAEMON_REPLICATION_ESTATE_H
#define QOSD_DAEMON_REPLICATION_ESTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qosd;
struct sa_estate;

enum estate_part {
	ESTATE_LIDS, ESTATE_PKEYS, ESTATE_PARTITIONS, ESTATE_GROUPS, ESTATE_SERVICES,
	ESTATE_SUBSCRIPTIONS, ESTATE_ALIASES, ESTATE_GROUP_CHANGES, ESTATE_GONE, ESTATE_COUNT,
};

/* --- estate.c --- */

struct estate *estate_new(struct qosd *q);
void estate_free(struct estate *e);	/* NULL is fine */
/* The SA's hook; arg is the struct estate. */
uint16_t estate_answer(void *arg, uint64_t from, const struct sa_estate *query,
		       struct sa_estate *answer);
/* The format of a part's text (store/store.h): the one that we print, and the last that we read. */
uint32_t estate_format(enum estate_part part);
const char *estate_name(enum estate_part part);
/* Of a part as we have it now. */
uint64_t estate_version(const struct qosd *q, enum estate_part part);
/* The same of the partitions, which costs nothing where nothing has changed. */
uint64_t estate_partitions(struct estate *e);
uint64_t estate_digest(const char *text, size_t n);
/*
 * Puts these texts, one for each part, which are cut up, in place of what we have: NULL
 * stays as it is; LIDs and P_Keys come together.  False: some are no good, and of those
 * nothing is taken.
 */
bool estate_take(struct qosd *q, char *text[ESTATE_COUNT]);

/* --- heir.c --- */

struct heir *heir_new(struct qosd *q);
void heir_free(struct heir *h);		/* NULL is fine; after mad_close() */
/* Standing by, and the master is well: asks it, if nothing is under way. */
void heir_ask(struct heir *h);
/* We are master: what was under way is dropped, and what we had of another counts no more. */
void heir_stop(struct heir *h);

#endif
