/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies what the master has to this standby; see replication.h.
 *
 * One round at a time:
 *
 *   our own PortInfo (where the SA is: MasterSMLID, MasterSMSL) ->
 *   the list of versions -> the text of each part that differs, in a window -> taken over
 *
 * While anything is missing here, clients would have to register again if this daemon became
 * master (sm_registrations_lost()).
 *
 * A round may fail for two reasons that look alike: the master refuses to tell what it has, or
 * it is gone.  A master may disappear at any time, also during a round, and then the kernel of
 * its host answers in its place that there is no such attribute.  So a round without the
 * master's own answer proves nothing, and the copy of the last complete round still counts.
 * The copy is given up only if the master lives on, as its polls show, and has told nothing for
 * GRACE_US.
 *
 * A master that has never sent a list, and goes on refusing one, is no qosd or has another
 * SM_Key.  Its first refusals prove nothing: MasterSMLID may still be the LID of the previous
 * master, whose host answers; and a qosd does not know our port until it has published the
 * subnet that contains it.
 *
 * Each question proves that we have the SM_Key, and each answer proves the same of the master
 * (sm/keys/proof.h): MasterSMLID, by which the master is found, can be set by others where
 * there is no M_Key.
 *
 * Registrations made between the last complete round and the master's end are unknown here, and
 * no client is asked to register them again.  A round follows each poll, so this gap is a
 * poll's interval and the duration of a round.  If a master answers polls but no questions, as
 * an SA under load may, the gap is GRACE_US, a round without an answer and a poll's interval: 4 s
 * by default.  The latest changes of groups that are still on their way belong to the gap,
 * too.  Dynamic partitions are not lost in this way: the master tells us to ask, and learns that
 * we have them from the next round, which follows at once.
 */
#include "daemon/replication/replication.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>

#include "daemon/daemon.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/iba/sa_records.h"
#include "sm/keys/proof.h"

#define TIMEOUT_MS	200
#define TRIES		3
#define AGAIN_US	1000000		/* delay if the master does not answer, or not yet */
#define STRANGER_US	10000000	/* delay if the master is no qosd, or we cannot ask it */
#define REFUSED_US	5000000		/* a master that refuses for longer is no qosd */
#define GRACE_US	3000000		/* a live master may tell nothing for so long, */
#define FAILED_MIN	2		/* or for so many rounds, if these take longer */
#define DEAF_MAX	3		/* questions in a row that our own port did not answer */
#define TEXT_MAX	(256u << 20)	/* same as for a state file */

enum { OFF_STATUS = 4, OFF_ATTR = 16, OFF_SM_KEY = 36 };

void replica_init(struct qosd *q)
{
	q->replica.q = q;
	q->replica.nonce = (uint64_t)clock_real_us() << 8;	/* higher than any before a restart */
}

void replica_free(struct replica *h)
{
	for (unsigned i = 0; i < PART_COUNT; i++) {
		free(h->parts[i].text);
		h->parts[i].text = NULL;
	}
}

void replica_stop(struct replica *h)
{
	h->dropped = h->busy;
	h->complete = h->said_unreadable = h->log_known = h->met = false;
	h->rest = 0;
	h->copied_us = 0;
	h->master_guid = h->master_policy = 0;	/* the next one followed is a new master */
	for (unsigned i = 0; i < PART_COUNT; i++)
		h->parts[i].known = false;
}

/* --- the end of a round --- */

static void round_over(struct replica *h, int64_t wait_us)
{
	replica_free(h);
	h->busy = h->dropped = h->skipping = false;
	h->next_us = clock_mono_us() + wait_us;
}

static void lost(struct replica *h)
{
	if (h->complete)
		log_info("replication", "the master's registrations can no longer be read");
	h->complete = false;
	sm_registrations_lost(h->q->sm);
}

/* Ends a round: our copy is not what the master has.  Asks again later. */
static void round_failed(struct replica *h, const char *why)
{
	log_debug("replication", "LID %u: %s", h->master.lid, why);
	if (!h->dropped)
		lost(h);
	round_over(h, AGAIN_US);
}

/* Ends a round in which the master told nothing.  It may do so the next time, or be gone. */
static void round_without_answer(struct replica *h, const char *why)
{
	log_debug("replication", "LID %u: %s", h->master.lid, why);
	if (!h->failed++)
		h->failed_us = clock_mono_us();
	round_over(h, h->met ? 0 : AGAIN_US);
}

/* Ends a round: asking is useless as long as this is the master. */
static void round_in_vain(struct replica *h, const char *why)
{
	bool dropped = h->dropped;

	round_failed(h, why);
	h->next_us = clock_mono_us() + STRANGER_US;
	if (!dropped)
		sm_registrations_not_to_be_had(h->q->sm);
}

/*
 * Reports a newer master.  The parts that we can read are still copied and kept up to date, but
 * clients have to register again when we take over.
 */
static void tell_unreadable(struct replica *h)
{
	struct buf names = { 0 };

	for (unsigned i = 0; i < PART_COUNT; i++)
		if (h->parts[i].unreadable)
			buf_printf(&names, "%s%s", names.n ? ", " : "",
				   replica_part_kinds[i].name);
	if (!h->said_unreadable)
		log_error("replication", "the master is a newer qosd, and this one cannot read its %s, "
			  "which a failover would lose: upgrade this one", names.s);
	h->said_unreadable = true;
	buf_free(&names);
	h->complete = false;
	sm_registrations_not_to_be_had(h->q->sm);
}

static void round_complete(struct replica *h)
{
	char *text[PART_COUNT];
	bool differ = false, unreadable = false, is_awaited;

	for (unsigned i = 0; i < PART_COUNT; i++) {
		text[i] = h->parts[i].text;
		differ |= text[i] != NULL;
		unreadable |= h->parts[i].unreadable;
	}
	if (differ && sm_is_planning(h->q->sm)) {
		round_over(h, 0);	/* the next round takes it */
		return;
	}
	if (text[PART_LIDS])
		sm_standby_copy_is_old(h->q->sm);
	if (differ && !replication_take(h->q, text)) {
		log_error("replication", "invalid registrations from the master");
		h->parts[PART_GROUPS].known = h->log_known = false;	/* copy all of them the next time */
		round_in_vain(h, "not taken over");
		return;
	}
	for (unsigned i = 0; i < PART_COUNT; i++)
		if (!h->parts[i].unreadable) {
			h->parts[i].version = h->parts[i].next;
			h->parts[i].known = true;
		}
	h->log = (uint32_t)(h->parts[PART_GROUP_CHANGES].next >> 32);
	h->log_at = h->parts[PART_GROUP_CHANGES].total;
	h->log_known = !h->parts[PART_GROUP_CHANGES].unreadable && !h->parts[PART_GROUPS].unreadable &&
		       h->parts[PART_GROUP_CHANGES].next;
	h->rest = h->rest_next;
	if (unreadable) {
		tell_unreadable(h);
	} else {
		h->copied_us = clock_mono_us();
		if (!h->complete)
			log_info("replication", "replicated the master's registrations");
		h->complete = true;
		h->said_unreadable = false;
		sm_registrations_held(h->q->sm, h->master.lid);
	}
	is_awaited = text[PART_PARTITIONS];
	h->failed = 0;
	round_over(h, 0);
	if (is_awaited)
		replica_ask(h);
}

/* --- asking --- */

/* How old our copy is, as a request states it. */
static uint32_t age_of_copy(const struct replica *h)
{
	int64_t ms = (clock_mono_us() - h->copied_us) / 1000;

	if (!h->copied_us)
		return SA_REPLICA_NEVER;
	return ms < SA_REPLICA_NEVER - 1 ? (uint32_t)ms + 1 : SA_REPLICA_NEVER - 1;
}

static bool ask(struct replica *h, uint32_t part, uint32_t offset, uint64_t version,
		void (*fn)(void *arg, const uint8_t *mad, size_t len), struct replica_question *a)
{
	uint8_t mad[MAD_LEN] = {
		UMAD_BASE_VERSION, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, UMAD_METHOD_GET,
	};
	struct sa_replica query = { 0 };

	a->h = h;
	a->nonce = ++h->nonce;
	put_be16(mad + OFF_ATTR, SA_ATTR_REPLICA);
	put_be32(query.part, part);
	put_be32(query.offset, offset);
	put_be64(query.version, version);
	put_be64(query.nonce, a->nonce);
	if (part == SA_REPLICA_LIST) {
		put_be64(query.data + SA_REPLICA_POLICY, replica_policy(h->q));
		put_be32(query.data + SA_REPLICA_AGE, age_of_copy(h));
	}
	proof_seal(&query, h->q->settings->sm_key, PROOF_REPLICA_GET, mad_info(h->q->mad)->guid,
		   h->master_guid);
	memcpy(mad + SA_HDR_LEN, &query, sizeof(query));
	return mad_request(h->q->mad, &h->master, mad, TIMEOUT_MS, TRIES, fn, a);
}

/* Reads the master's answer to a question; false: there is none, or it is not the master's. */
static bool take_answer(const struct replica *h, const struct replica_question *a, const uint8_t *mad,
			struct sa_replica *x)
{
	if (!mad || get_be16(mad + OFF_STATUS))
		return false;
	memcpy(x, mad + SA_HDR_LEN, sizeof(*x));
	return get_be64(x->nonce) == a->nonce &&
	       proof_seal_holds(x, h->q->settings->sm_key, PROOF_REPLICA_ANSWER, h->master_guid,
				mad_info(h->q->mad)->guid);
}

static void next_part(struct replica *h);
static void on_piece(void *arg, const uint8_t *mad, size_t len);

/* Keeps the window full; false: nothing can be sent, and nothing is outstanding. */
static bool ask_more(struct replica *h)
{
	for (unsigned i = 0; i < REPLICA_WINDOW && h->sent < h->size && !h->dropped; i++) {
		struct replica_question *a = &h->asked[i];

		if (a->busy)
			continue;
		*a = (struct replica_question){ .busy = true, .offset = h->sent };
		if (!ask(h, h->part, h->begin + h->sent, h->parts[h->part].next, on_piece, a)) {
			a->busy = false;
			break;
		}
		h->sent += SA_REPLICA_DATA;
		h->outstanding++;
	}
	return h->outstanding;
}

/* Stores a piece of a part; false: it is of another version, or not the piece asked for. */
static bool put_piece(struct replica *h, const struct replica_question *a, const struct sa_replica *x)
{
	uint32_t want = h->size - a->offset, n = get_be32(x->n);

	want = want < SA_REPLICA_DATA ? want : SA_REPLICA_DATA;
	if (h->part == PART_GROUP_CHANGES && n > want)	/* the log has grown meanwhile */
		n = want;
	if (get_be32(x->part) != h->part || get_be32(x->offset) != h->begin + a->offset || n != want ||
	    get_be64(x->version) != h->parts[h->part].next)
		return false;
	memcpy(h->parts[h->part].text + a->offset, x->data, want);
	h->came += want;
	return true;
}

/* Nothing is copied of the part: the master lacks it, or it comes with the next round. */
static void skip_part(struct replica *h, unsigned part)
{
	free(h->parts[part].text);
	h->parts[part].text = NULL;
	h->parts[part].unreadable = false;
	h->parts[part].next = part == PART_GROUP_CHANGES ? 0 : h->parts[part].version;
	h->parts[part].total = 0;
}

/*
 * The part has another version by now, or the log has lost lines that we lack: copy all of it
 * the next time.  What is no client's registration does not keep the others from being copied.
 */
static void part_is_gone(struct replica *h)
{
	if (h->part >= PART_LISTED) {
		h->skipping = true;
		return;
	}
	h->dropped = true;
	if (h->part == PART_GROUP_CHANGES)
		h->log_known = h->parts[PART_GROUPS].known = false;
	h->complete = h->complete && h->only_changes;
}

/* Goes on with the next part, once no answer about this one is outstanding. */
static void leave_out_part(struct replica *h)
{
	if (h->outstanding)
		return;
	h->skipping = false;
	h->rest_next = 0;		/* the next round asks for the rest of the list again */
	skip_part(h, h->part++);
	next_part(h);
}

static void on_piece(void *arg, const uint8_t *mad, size_t len)
{
	struct replica_question *a = arg;
	struct replica *h = a->h;
	struct sa_replica x;

	(void)len;	/* a whole MAD, if there is one */
	a->busy = false;
	h->outstanding--;
	if (!h->dropped && !h->skipping) {
		h->silent = h->dropped = !take_answer(h, a, mad, &x);
		if (!h->silent && !put_piece(h, a, &x))
			part_is_gone(h);
	}
	if (h->dropped) {
		if (!h->outstanding && h->silent)
			round_without_answer(h, "the master does not continue its answer");
		else if (!h->outstanding)
			round_over(h, 0);
		return;
	}
	if (h->skipping) {
		leave_out_part(h);
		return;
	}
	if (h->came < h->size) {
		if (!ask_more(h))
			round_without_answer(h, "the request cannot be sent");
		return;
	}
	if (h->part != PART_GROUP_CHANGES &&
	    replica_part_digest(h->parts[h->part].text, h->size) != h->parts[h->part].next) {
		if (h->part >= PART_LISTED)
			leave_out_part(h);
		else
			round_failed(h, "the digest does not match");
		return;
	}
	h->part++;
	next_part(h);
}

static bool has_text_to_come(const struct replica *h)
{
	uint32_t from = h->part == PART_GROUP_CHANGES ? h->log_from : 0;

	return h->parts[h->part].text && h->parts[h->part].total != from;
}

static void next_part(struct replica *h)
{
	while (h->part < PART_COUNT && !has_text_to_come(h))
		h->part++;
	if (h->part == PART_COUNT) {
		round_complete(h);
		return;
	}
	h->begin = h->part == PART_GROUP_CHANGES ? h->log_from : 0;
	h->size = h->parts[h->part].total - h->begin;
	h->sent = h->came = 0;
	if (!ask_more(h))
		round_without_answer(h, "the request cannot be sent");
}

/*
 * The store takes LIDs and P_Keys together: if one differs, both are copied; if one is
 * unreadable, both are.
 */
static void pair_lids(struct replica *h)
{
	bool differ = h->parts[PART_LIDS].text || h->parts[PART_PKEYS].text;
	bool unreadable = h->parts[PART_LIDS].unreadable || h->parts[PART_PKEYS].unreadable;

	for (unsigned i = PART_LIDS; i <= PART_PKEYS; i++) {
		h->parts[i].unreadable = unreadable;
		if (unreadable) {
			free(h->parts[i].text);
			h->parts[i].text = NULL;
		} else if (differ && !h->parts[i].text) {
			h->parts[i].text = xcalloc(1, h->parts[i].total + 1);
		}
	}
}

/*
 * Decides which lines of the change log to copy: those after the ones that we have; otherwise
 * those after the text of the groups, which is copied, too, unless ours is the same.  False: the
 * list is invalid.
 */
static bool take_log_row(struct replica *h, bool *goes_on)
{
	uint32_t end = h->parts[PART_GROUP_CHANGES].total;
	uint64_t next = h->parts[PART_GROUP_CHANGES].next;

	if (h->parts[PART_GROUPS].unreadable || h->parts[PART_GROUP_CHANGES].unreadable)
		return true;
	*goes_on = h->log_known && h->parts[PART_GROUPS].known && h->log == next >> 32;
	h->log_from = *goes_on ? h->log_at : (uint32_t)next;
	if (end - h->log_from > TEXT_MAX)
		return false;
	if (end != h->log_from)
		h->parts[PART_GROUP_CHANGES].text = xcalloc(1, end - h->log_from + 1);
	if (!*goes_on && replica_part_version(h->q, PART_GROUPS) != h->parts[PART_GROUPS].next)
		h->parts[PART_GROUPS].text = xcalloc(1, h->parts[PART_GROUPS].total + 1);
	return true;
}

/* The number of rows in an answer; 0: it is invalid. */
static uint32_t count_rows(const struct sa_replica *x, uint32_t part)
{
	uint32_t n = get_be32(x->n);

	if (get_be32(x->part) != part || n > sizeof(x->data) || n % sizeof(struct sa_replica_row))
		return 0;
	return n / sizeof(struct sa_replica_row);
}

/* Decides from its row whether to copy the part; false: the row is invalid. */
static bool take_row(struct replica *h, unsigned part, const uint8_t *data)
{
	struct sa_replica_row row;

	memcpy(&row, data, sizeof(row));
	h->parts[part].next = get_be64(row.version);
	h->parts[part].total = get_be32(row.total);
	h->parts[part].unreadable = get_be32(row.format) > replica_part_kinds[part].format;
	if (part == PART_GROUP_CHANGES)
		return true;
	if (h->parts[part].total > TEXT_MAX)
		return false;
	if (h->parts[part].unreadable || part == PART_GROUPS)
		return true;
	if (!h->parts[part].known)
		h->parts[part].version = replica_part_version(h->q, (enum replica_part)part);
	if (h->parts[part].version != h->parts[part].next)
		h->parts[part].text = xcalloc(1, h->parts[part].total + 1);
	return true;
}

/*
 * Reads the list of versions, and decides which parts to copy; false: the list is invalid.  A
 * part that the master lacks stays as it is here; a master with more parts is newer.
 */
static bool take_list(struct replica *h, const struct sa_replica *x, bool *behind)
{
	uint32_t n = count_rows(x, SA_REPLICA_LIST);
	bool goes_on = false;

	if (n <= PART_PKEYS)
		return false;
	*behind = false;
	for (unsigned i = 0; i < PART_COUNT; i++)
		if (i >= n || i >= PART_LISTED)
			skip_part(h, i);
		else if (!take_row(h, i, x->data + i * sizeof(struct sa_replica_row)))
			return false;
	if (!take_log_row(h, &goes_on))
		return false;
	pair_lids(h);
	/*
	 * changes of groups follow in a moment; departure times are no client's registration
	 */
	for (unsigned i = 0; i < PART_COUNT; i++)
		*behind |= h->parts[i].text && i != PART_GONE && i != PART_GROUP_CHANGES;
	*behind |= h->parts[PART_GROUP_CHANGES].text && !goes_on;
	return true;
}

/*
 * Reads the rest of the list.  None of its parts is a client's registration, so that a format that
 * is too new for us, or an answer without sense, only leaves them as they are.
 */
static void take_rest(struct replica *h, const struct sa_replica *x)
{
	uint32_t n = count_rows(x, SA_REPLICA_MORE);

	for (unsigned i = PART_LISTED; i < PART_COUNT && i - PART_LISTED < n; i++)
		if (!take_row(h, i, x->data + (i - PART_LISTED) * sizeof(struct sa_replica_row)) ||
		    h->parts[i].unreadable)
			skip_part(h, i);
}

static void on_rest(void *arg, const uint8_t *mad, size_t len)
{
	struct replica_question *a = arg;
	struct replica *h = a->h;
	struct sa_replica x;

	(void)len;
	if (h->dropped) {
		round_over(h, 0);
		return;
	}
	if (take_answer(h, a, mad, &x))
		take_rest(h, &x);
	else
		h->rest_next = h->rest;		/* the next round asks again */
	next_part(h);
}

/* Asks for the rest of the list, if the master has another than we do; then come the parts. */
static void ask_rest(struct replica *h, uint64_t rest)
{
	h->part = 0;
	h->rest_next = rest;
	if (!rest || rest == h->rest || !ask(h, SA_REPLICA_MORE, 0, 0, on_rest, &h->list)) {
		h->rest_next = h->rest;
		next_part(h);
	}
}

/* Whether an answer shows that the master will never have anything for us. */
static bool is_of_a_stranger(const struct replica *h, const uint8_t *mad)
{
	uint16_t status;

	if (h->met || !mad || h->failed < FAILED_MIN ||
	    clock_mono_us() - h->followed_us <= REFUSED_US)
		return false;
	status = get_be16(mad + OFF_STATUS);
	return status != IB_STATUS_BUSY && status != IB_SA_NO_RECORDS && status != IB_SA_REQ_INVALID;
}

static void on_list(void *arg, const uint8_t *mad, size_t len)
{
	struct replica_question *a = arg;
	struct replica *h = a->h;
	struct sa_replica x;
	bool behind;

	(void)len;
	if (h->dropped) {
		round_over(h, 0);
	} else if (!take_answer(h, a, mad, &x)) {
		if (is_of_a_stranger(h, mad))
			round_in_vain(h, "the master is not a qosd with our SM_Key");
		else
			round_without_answer(h, "the master does not list its registrations");
	} else if (!take_list(h, &x, &behind)) {
		round_in_vain(h, "the list is invalid");
	} else {
		h->met = true;
		h->master_policy = get_be64(x.data + SA_REPLICA_POLICY);
		h->only_changes = !behind;
		if (behind)
			sm_registrations_coming(h->q->sm);
		ask_rest(h, get_be64(x.data + SA_REPLICA_REST));
	}
}

static void on_own_port(void *arg, const struct smp *s, int status)
{
	struct replica *h = arg;
	uint8_t info[64];

	memcpy(info, s->data, sizeof(info));
	h->master = (struct mad_address){
		.lid = (uint16_t)mad_get_field(info, 0, IB_PORT_SMLID_F), .qpn = 1,
		.sl = (uint8_t)mad_get_field(info, 0, IB_PORT_SMSL_F),
	};
	h->deaf = status < 0 ? h->deaf + 1 : 0;
	if (h->dropped || (h->deaf && h->deaf < DEAF_MAX))
		round_over(h, 0);	/* a MAD may get lost, which proves nothing about the master */
	else if (h->deaf)		/* the port has another M_Key, and each question is a violation */
		round_in_vain(h, "our own port does not answer");
	else if (status || !h->master.lid ||
		 !ask(h, SA_REPLICA_LIST, 0, replica_parts_partitions(h->q), on_list, &h->list))
		round_without_answer(h, "our own port has no SM LID");
}

/*
 * Starts over if the master is another one: the copy and log position of the one before no
 * longer count.
 */
static void follow_master(struct replica *h)
{
	uint64_t guid = sm_master(h->q->sm);

	if (guid == h->master_guid)
		return;
	h->master_guid = guid;
	h->master_policy = 0;
	h->followed_us = clock_mono_us();
	h->dropped = h->busy;
	h->complete = h->log_known = h->met = false;
	h->rest = 0;
	h->copied_us = 0;
	h->failed = 0;
}

void replica_ask(struct replica *h)
{
	static const uint8_t here[1];
	struct smp s = { .method = SMP_GET, .attr = UMAD_SM_ATTR_PORT_INFO, .route = here,
			 .m_key = sm_own_m_key(h->q->sm), .once = true };
	int64_t now = clock_mono_us();

	follow_master(h);
	if (h->complete && h->failed >= FAILED_MIN && now - h->failed_us > GRACE_US)
		lost(h);
	if (h->busy)
		return;
	/* ask a new master at once: it is unknown, and it may be about to hand over */
	if (now < h->next_us && !sm_registrations_unknown(h->q->sm))
		return;
	h->busy = h->only_changes = true;
	h->silent = false;
	smp_send(h->q->mad, &s, on_own_port, h);
}
