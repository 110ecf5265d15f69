/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A standby takes over what its master has; see estate.h.  One round at a time:
 *
 *   our own PortInfo (where the SA is: MasterSMLID, MasterSMSL) ->
 *   the list of versions -> the text of each part that differs, in a window -> taken over
 *
 * While there is anything that we have not got, clients would have to register again if we
 * became master now (sm_registrations_lost()).  So they would where the master lives and
 * does not answer to the question for the list; one that is gone, or has handed over, left
 * what it had in the round before.
 *
 * What was registered between a round and the master's end is not known here: a round
 * follows each poll, so that this is as much as a poll's interval.  Latest changes of groups that
 * are on their way count as such, too.  Partitions of run time
 * are not lost so: the master tells us to ask, and hears that we have them from the
 * next round, which then follows at once.
 */
#include "qosd/estate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/log.h"
#include "ib/sa.h"
#include "qosd/daemon.h"

#define WINDOW		16
#define TIMEOUT_MS	200
#define TRIES		3
#define AGAIN_US	1000000		/* it does not answer, or not yet */
#define STRANGER_US	10000000	/* it is no qosd, or we can't ask */
#define TEXT_MAX	(256u << 20)	/* as of a state file */

enum { OFF_STATUS = 4, OFF_ATTR = 16, OFF_SM_KEY = 36 };

/* A question that is under way. */
struct asked {
	struct heir *h;
	bool busy;
	uint32_t offset;
};

struct heir {
	struct qosd *q;
	bool complete;			/* all that the master has, as of the last round */
	bool busy;			/* a round is under way */
	bool dropped;			/* … and its answers are of no use */
	bool unanswered;		/* the last one, and the master has not been heard of since */
	bool deaf;			/* our own port did not answer in the last one */
	int64_t next_us;
	struct mad_address master;
	struct {
		uint64_t version;	/* that we have, */
		bool known;		/* … if that is so */
		uint64_t next;		/* that the master has */
		uint32_t total;
		char *text;		/* … and what came of it; NULL: we have it */
		bool foreign;		/* the master has it in a format that we don't read */
	} parts[ESTATE_COUNT];
	bool said_foreign;
	/* of the changes of groups: how many bytes we did again, what comes of them, where a round begins */
	uint32_t changes_done, changes_from;
	uint64_t changes_digest;
	bool only_changes;		/* this round lacks nothing but the latest of them */
	/* the part that comes */
	unsigned part;
	uint32_t sent, came;
	unsigned outstanding;
	struct asked asked[WINDOW];
};

struct heir *heir_new(struct qosd *q)
{
	struct heir *h = xcalloc(1, sizeof(*h));

	h->q = q;
	return h;
}

static void free_texts(struct heir *h)
{
	for (unsigned i = 0; i < ESTATE_COUNT; i++) {
		free(h->parts[i].text);
		h->parts[i].text = NULL;
	}
}

void heir_free(struct heir *h)
{
	if (!h)
		return;
	free_texts(h);
	free(h);
}

void heir_stop(struct heir *h)
{
	h->dropped = h->busy;
	h->complete = h->unanswered = h->said_foreign = false;
	for (unsigned i = 0; i < ESTATE_COUNT; i++)
		h->parts[i].known = false;
}

/* --- the end of a round --- */

static void round_over(struct heir *h, int64_t wait_us)
{
	free_texts(h);
	h->busy = h->dropped = false;
	h->next_us = clock_mono_us() + wait_us;
}

static void lost(struct heir *h)
{
	if (h->complete)
		log_info("heir", "the master's registrations can't be had any more");
	h->complete = false;
	sm_registrations_lost(h->q->sm);
}

/* What we have is not what the master has; it is asked again. */
static void round_failed(struct heir *h, const char *why)
{
	log_debug("heir", "LID %u: %s", h->master.lid, why);
	if (!h->dropped)
		lost(h);
	round_over(h, AGAIN_US);
}

/* … and that does not help as long as this is master. */
static void round_in_vain(struct heir *h, const char *why)
{
	bool dropped = h->dropped;

	round_failed(h, why);
	h->next_us = clock_mono_us() + STRANGER_US;
	if (!dropped)
		sm_registrations_not_to_be_had(h->q->sm);
}

/*
 * A newer master: what we read of it is taken, and kept up to date.  Clients have to register again
 * when we take over.
 */
static void tell_foreign(struct heir *h)
{
	struct buf names = { 0 };

	for (unsigned i = 0; i < ESTATE_COUNT; i++)
		if (h->parts[i].foreign)
			buf_printf(&names, "%s%s", names.n ? ", " : "",
				   estate_name((enum estate_part)i));
	if (!h->said_foreign)
		log_error("heir", "the master is a newer qosd, and this one does not read its %s; "
			  "they are lost if this one takes over: upgrade it", names.s);
	h->said_foreign = true;
	buf_free(&names);
	h->complete = false;
	sm_registrations_not_to_be_had(h->q->sm);
}

static void round_complete(struct heir *h)
{
	char *text[ESTATE_COUNT];
	bool differ = false, foreign = false, is_awaited;

	for (unsigned i = 0; i < ESTATE_COUNT; i++) {
		text[i] = h->parts[i].text;
		differ |= text[i] != NULL;
		foreign |= h->parts[i].foreign;
	}
	if (differ && sm_is_planning(h->q->sm)) {
		round_over(h, 0);	/* the next one takes it */
		return;
	}
	if (text[ESTATE_LIDS])
		sm_picture_is_old(h->q->sm);
	if (differ && !estate_take(h->q, text)) {
		log_error("heir", "the master's registrations make no sense to us");
		h->parts[ESTATE_GROUPS].known = false;	/* all of them the next time */
		round_in_vain(h, "not taken over");
		return;
	}
	for (unsigned i = 0; i < ESTATE_COUNT; i++)
		if (!h->parts[i].foreign) {
			h->parts[i].version = h->parts[i].next;
			h->parts[i].known = true;
		}
	h->changes_done = h->parts[ESTATE_GROUP_CHANGES].total;
	h->changes_digest = h->parts[ESTATE_GROUP_CHANGES].next;
	if (foreign) {
		tell_foreign(h);
	} else {
		if (!h->complete)
			log_info("heir", "the master's registrations are ours, too");
		h->complete = true;
		h->said_foreign = false;
		sm_registrations_held(h->q->sm, h->master.lid);
	}
	is_awaited = text[ESTATE_PARTITIONS];
	round_over(h, 0);
	if (is_awaited)
		heir_ask(h);
}

/* --- asking --- */

static bool ask(struct heir *h, uint32_t part, uint32_t offset, uint64_t version,
		void (*fn)(void *arg, const uint8_t *mad, size_t len), void *arg)
{
	uint8_t mad[MAD_LEN] = {
		UMAD_BASE_VERSION, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, UMAD_METHOD_GET,
	};
	struct sa_estate query = { 0 };

	put_be16(mad + OFF_ATTR, SA_ATTR_ESTATE);
	put_be64(mad + OFF_SM_KEY, h->q->settings->sm_key);
	put_be32(query.part, part);
	put_be32(query.offset, offset);
	put_be64(query.version, version);
	memcpy(mad + SA_HDR_LEN, &query, sizeof(query));
	return mad_request(h->q->mad, &h->master, mad, TIMEOUT_MS, TRIES, fn, arg);
}

static void next_part(struct heir *h);
static void on_piece(void *arg, const uint8_t *mad, size_t len);

/* Changes are asked for by the groups that they are changes of. */
static uint64_t version_asked(const struct heir *h)
{
	return h->parts[h->part == ESTATE_GROUP_CHANGES ? ESTATE_GROUPS : h->part].next;
}

/* Keeps the window full; false: nothing can be sent, and nothing is under way. */
static bool ask_more(struct heir *h)
{
	uint32_t total = h->parts[h->part].total;
	uint64_t version = version_asked(h);

	for (unsigned i = 0; i < WINDOW && h->sent < total && !h->dropped; i++) {
		struct asked *a = &h->asked[i];

		if (a->busy)
			continue;
		*a = (struct asked){ h, true, h->sent };
		if (!ask(h, h->part, h->sent, version, on_piece, a)) {
			a->busy = false;
			break;
		}
		h->sent += SA_ESTATE_DATA;
		h->outstanding++;
	}
	return h->outstanding;
}

/* Puts the piece where it belongs; false: it is not what was asked for. */
static bool put_piece(struct heir *h, const struct asked *a, const uint8_t *mad)
{
	uint32_t total = h->parts[h->part].total, want = total - a->offset, n, from = 0;
	struct sa_estate x;

	memcpy(&x, mad + SA_HDR_LEN, sizeof(x));
	want = want < SA_ESTATE_DATA ? want : SA_ESTATE_DATA;
	n = get_be32(x.n);
	/* there may be more changes by now */
	if (h->part == ESTATE_GROUP_CHANGES) {
		n = n < want ? n : want;
		from = h->changes_from;
	}
	if (get_be16(mad + OFF_STATUS) || get_be32(x.part) != h->part ||
	    get_be32(x.offset) != a->offset || n != want || get_be64(x.version) != version_asked(h))
		return false;
	memcpy(h->parts[h->part].text + (a->offset - from), x.data, want);
	h->came += want;
	return true;
}

static uint64_t digest_of_part(const struct heir *h)
{
	const char *text = h->parts[h->part].text;

	if (h->part != ESTATE_GROUP_CHANGES)
		return estate_digest(text, h->came);
	return estate_changes_digest(text, h->came - h->changes_from, h->changes_from ?
				     h->changes_digest : h->parts[ESTATE_GROUPS].next);
}

static void on_piece(void *arg, const uint8_t *mad, size_t len)
{
	struct asked *a = arg;
	struct heir *h = a->h;

	(void)len;	/* a whole MAD, if any */
	a->busy = false;
	h->outstanding--;
	if (!h->dropped && (!mad || !put_piece(h, a, mad))) {
		/* it went, or has another version by now: from the beginning */
		h->dropped = true;
		if (!mad && h->only_changes) {
			h->unanswered = true;	/* as where the list is not answered */
		} else {
			h->complete = false;
			sm_registrations_lost(h->q->sm);
		}
	}
	if (h->dropped) {
		if (!h->outstanding)
			round_over(h, 0);
		return;
	}
	if (h->came < h->parts[h->part].total) {
		if (!ask_more(h))
			round_failed(h, "nothing can be asked");
		return;
	}
	if (digest_of_part(h) != h->parts[h->part].next) {
		round_failed(h, "the text is not of that digest");
		return;
	}
	h->part++;
	next_part(h);
}

static void next_part(struct heir *h)
{
	while (h->part < ESTATE_COUNT && (!h->parts[h->part].text || !h->parts[h->part].total))
		h->part++;
	if (h->part == ESTATE_COUNT) {
		round_complete(h);
		return;
	}
	h->sent = h->came = h->part == ESTATE_GROUP_CHANGES ? h->changes_from : 0;
	if (!ask_more(h))
		round_failed(h, "nothing can be asked");
}

/* These two are one to the store: both differ if one does, and both are foreign if one is. */
static void pair_lids(struct heir *h)
{
	bool differ = h->parts[ESTATE_LIDS].text || h->parts[ESTATE_PKEYS].text;
	bool foreign = h->parts[ESTATE_LIDS].foreign || h->parts[ESTATE_PKEYS].foreign;

	for (unsigned i = ESTATE_LIDS; i <= ESTATE_PKEYS; i++) {
		h->parts[i].foreign = foreign;
		if (foreign) {
			free(h->parts[i].text);
			h->parts[i].text = NULL;
		} else if (differ && !h->parts[i].text) {
			h->parts[i].text = xcalloc(1, h->parts[i].total + 1);
		}
	}
}

/*
 * Which changes of groups are lacking.  Where those that we have are not the beginning of the
 * master's, all groups are asked for again, which is true.
 */
static bool take_changes_row(struct heir *h)
{
	uint32_t total = h->parts[ESTATE_GROUP_CHANGES].total;
	uint64_t next = h->parts[ESTATE_GROUP_CHANGES].next;
	bool known = h->parts[ESTATE_GROUPS].known, goes_on;

	if (h->parts[ESTATE_GROUPS].foreign)
		return false;
	goes_on = known && !h->parts[ESTATE_GROUPS].text && total >= h->changes_done &&
		  (total > h->changes_done || next == h->changes_digest);
	if (known && !goes_on && !h->parts[ESTATE_GROUPS].text)
		h->parts[ESTATE_GROUPS].text = xcalloc(1, h->parts[ESTATE_GROUPS].total + 1);
	h->changes_from = goes_on ? h->changes_done : 0;
	if (total > h->changes_from)
		h->parts[ESTATE_GROUP_CHANGES].text = xcalloc(1, total - h->changes_from + 1);
	return !goes_on;
}

/*
 * What differs; false: the list makes no sense.  A master that lacks a part has nothing to say of
 * it, and one with more parts is a newer one.
 */
static bool take_list(struct heir *h, const uint8_t *mad, bool *behind)
{
	struct sa_estate x;
	uint32_t n;

	memcpy(&x, mad + SA_HDR_LEN, sizeof(x));
	n = get_be32(x.n);
	if (get_be32(x.part) != SA_ESTATE_LIST || n > sizeof(x.data) ||
	    n % sizeof(struct sa_estate_row) || n <= ESTATE_PKEYS * sizeof(struct sa_estate_row))
		return false;
	*behind = false;
	n /= sizeof(struct sa_estate_row);
	for (unsigned i = 0; i < ESTATE_COUNT; i++) {
		struct sa_estate_row row;
		bool same;

		h->parts[i].foreign = false;
		if (i >= n) {
			h->parts[i].next = h->parts[i].version;
			h->parts[i].total = 0;
			continue;
		}
		memcpy(&row, x.data + i * sizeof(row), sizeof(row));
		h->parts[i].next = get_be64(row.version);
		h->parts[i].total = get_be32(row.total);
		if (h->parts[i].total > TEXT_MAX)
			return false;
		h->parts[i].foreign = get_be32(row.format) > estate_format((enum estate_part)i);
		if (h->parts[i].foreign)
			continue;
		if (i == ESTATE_GROUP_CHANGES) {
			*behind |= take_changes_row(h);
			continue;
		}
		if (!h->parts[i].known)
			h->parts[i].version = estate_version(h->q, (enum estate_part)i);
		same = h->parts[i].version == h->parts[i].next;
		if (!same)
			h->parts[i].text = xcalloc(1, h->parts[i].total + 1);
		*behind |= !same;
	}
	pair_lids(h);
	return true;
}

static void on_list(void *arg, const uint8_t *mad, size_t len)
{
	struct heir *h = arg;
	bool behind;

	(void)len;
	if (h->dropped) {
		round_over(h, 0);
	} else if (mad && get_be16(mad + OFF_STATUS) == IB_STATUS_BAD_METHOD_ATTR) {
		round_in_vain(h, "no such attribute");
	} else if (!mad || get_be16(mad + OFF_STATUS)) {
		h->unanswered = true;	/* or refused, by one that has just handed over */
		round_over(h, AGAIN_US);
	} else if (!take_list(h, mad, &behind)) {
		round_in_vain(h, "a list that makes no sense");
	} else {
		h->only_changes = !behind;
		if (behind)
			sm_registrations_coming(h->q->sm);
		h->part = 0;
		next_part(h);
	}
}

static void on_own_port(void *arg, const struct smp *s, int status)
{
	struct heir *h = arg;
	uint8_t info[64];
	bool was_deaf;

	memcpy(info, s->data, sizeof(info));
	h->master = (struct mad_address){
		.lid = (uint16_t)mad_get_field(info, 0, IB_PORT_SMLID_F), .qpn = 1,
		.sl = (uint8_t)mad_get_field(info, 0, IB_PORT_SMSL_F),
	};
	was_deaf = h->deaf;
	h->deaf = status < 0;
	if (h->dropped || (h->deaf && !was_deaf))
		round_over(h, 0);	/* one may get lost, which says nothing of the master */
	else if (h->deaf)		/* it has another M_Key: each question is a violation */
		round_in_vain(h, "our own port does not answer");
	else if (status || !h->master.lid ||
		 !ask(h, SA_ESTATE_LIST, 0, estate_partitions(h->q->estate), on_list, h))
		round_failed(h, "our own port does not say where the master is");
}

void heir_ask(struct heir *h)
{
	static const uint8_t here[1];
	struct smp s = { .method = SMP_GET, .attr = UMAD_SM_ATTR_PORT_INFO, .route = here,
			 .m_key = sm_own_m_key(h->q->sm), .once = true };

	if (h->unanswered)
		lost(h);
	h->unanswered = false;
	if (h->busy)
		return;
	/* of a new master nothing is known, and it may be about to hand over */
	if (clock_mono_us() < h->next_us && !sm_registrations_unknown(h->q->sm))
		return;
	h->busy = true;
	smp_send(h->q->mad, &s, on_own_port, h);
}
