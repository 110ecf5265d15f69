/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints the parts that the primary replicates, and answers its standbys; see replication.h.
 *
 * A part is printed when a standby asks and the part has changed since, but only so often that
 * printing takes at most a part of the loop's time.
 *
 * The change log of groups consists of lines.  Each byte has a position, counted from the first
 * byte ever, modulo 2^32; old lines are dropped when the log gets too long.  The text of the
 * groups belongs to one position.  A standby that has the log up to a position asks for what
 * follows; only a standby that has nothing, or lacks dropped lines, asks for the text.  The log
 * has a number: if the number differs, it is another log, and positions do not compare.
 */
#include "daemon/replication/replication.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/map64.h"
#include "lib/iba/sa_records.h"
#include "sa/registry/alias.h"
#include "sa/registry/groups.h"
#include "sa/registry/services.h"
#include "sa/registry/subscriptions.h"
#include "sm/keys/proof.h"

#define PRINT_SHARE	10		/* printing takes at most one part in this many of the loop's time */
#define LEASES_US	60000000	/* interval for printing leases, which run on */
#define GONE_US		600000000	/* interval for printing departure times, which run on, too */
/*
 * The change log is at most CHANGES_TIMES as long as the groups' text, within these bounds in
 * bytes.
 */
#define CHANGES_TIMES	4
#define CHANGES_MIN	(1u << 20)
#define CHANGES_MAX	(32u << 20)

_Static_assert(PART_LISTED * sizeof(struct sa_replica_row) <= SA_REPLICA_REST, "a list has room");
_Static_assert((PART_COUNT - PART_LISTED) * sizeof(struct sa_replica_row) <= SA_REPLICA_DATA,
	       "so has its rest");

static void on_group_change(void *arg, const struct mcast_event *change);

/* Begins a new log, with a number that no log had before, in this run or the last. */
static void new_log(struct replica_parts *e)
{
	int64_t now = clock_real_us();

	e->log += 1 + (uint32_t)hash_bytes(&now, sizeof(now), 0);
	e->parts[PART_GROUP_CHANGES].text.n = 0;
	e->parts[PART_GROUPS].printed = false;
}

void replica_parts_init(struct qosd *q)
{
	q->replica_parts.q = q;
	new_log(&q->replica_parts);
	mcast_follow(q->sa.mcast, on_group_change, &q->replica_parts);
}

void replica_parts_free(struct qosd *q)
{
	for (unsigned i = 0; i < PART_COUNT; i++)
		buf_free(&q->replica_parts.parts[i].text);
}

uint64_t replica_part_digest(const char *text, size_t n)
{
	return hash_bytes(text, n, 0);
}

/* --- our own parts --- */

const struct replica_part_kind replica_part_kinds[PART_COUNT] = {
	[PART_LIDS] = { "LIDs", STORE_LIDS_FORMAT },
	[PART_PKEYS] = { "P_Key indices", STORE_PKEYS_FORMAT },
	[PART_PARTITIONS] = { "dynamic partitions", STORE_PARTITIONS_FORMAT },
	[PART_GROUPS] = { "multicast groups", STORE_GROUPS_FORMAT },
	[PART_SERVICES] = { "services", STORE_SERVICES_FORMAT },
	[PART_SUBSCRIPTIONS] = { "subscriptions", STORE_SUBSCRIPTIONS_FORMAT },
	[PART_ALIASES] = { "alias GUIDs", STORE_ALIASES_FORMAT },
	[PART_GROUP_CHANGES] = { "changes of multicast groups", STORE_GROUPS_FORMAT },
	[PART_GONE] = { "departed ports", 1 },
	[PART_MISSING] = { "what is missing", STORE_MISSING_FORMAT },
	[PART_WITHDRAWN] = { "what is withdrawn", STORE_WITHDRAWN_FORMAT },
	[PART_ACCEPTED] = { "the accepted topology", STORE_ACCEPTED_FORMAT },
};

/* A number that changes whenever the part does. */
static uint64_t change_of(const struct qosd *q, enum replica_part part)
{
	switch (part) {
	case PART_LIDS:
	case PART_PKEYS:
		return q->sa.state ? q->sa.state->generation : 0;
	case PART_PARTITIONS:
		return q->dynamic_changes;
	case PART_SERVICES:
		return clients_changes(q->clients)->services;
	case PART_SUBSCRIPTIONS:
		return clients_changes(q->clients)->subscriptions;
	case PART_ALIASES:
		return clients_changes(q->clients)->aliases;
	case PART_GONE:
		return departed_changes(q->departed);
	case PART_MISSING:
		return missing_state_changes(q->missing);
	case PART_WITHDRAWN:
		return q->withdrawal_changes;
	case PART_ACCEPTED:
		return expected_topology_changes(q->topology);
	case PART_GROUPS:
	case PART_GROUP_CHANGES:
	case PART_COUNT:
		break;
	}
	return 0;
}

static void print_part(const struct qosd *q, enum replica_part part, struct buf *b)
{
	switch (part) {
	case PART_LIDS:
		store_print_lids(q->store, b);
		break;
	case PART_PKEYS:
		store_print_pkeys(q->store, b);
		break;
	case PART_PARTITIONS:
		dynamic_print(q->dynamic, b);
		break;
	case PART_GROUPS:
		store_print_groups(q->sa.mcast, b);
		break;
	case PART_SERVICES:
		store_print_services(q->sa.services, b);
		break;
	case PART_SUBSCRIPTIONS:
		store_print_subscriptions(q->sa.subscriptions, b);
		break;
	case PART_ALIASES:
		store_print_aliases(q->sa.alias, b);
		break;
	case PART_GONE:
		departed_print(q->departed, b);
		break;
	case PART_MISSING:
		missing_state_print(q->missing, b);
		break;
	case PART_WITHDRAWN:
		withdrawals_print(q->withdrawals, b);
		break;
	case PART_ACCEPTED:
		expected_topology_print(q->topology, b);
		break;
	case PART_GROUP_CHANGES:
	case PART_COUNT:
		break;
	}
}

/* Whether the planner's thread is using the data of the part. */
static bool is_out(const struct replica_parts *e, enum replica_part part)
{
	return (part == PART_LIDS || part == PART_PKEYS) && sm_is_planning(e->q->sm);
}

static bool is_old(const struct replica_parts *e, enum replica_part part, int64_t now)
{
	const struct replica_text *p = &e->parts[part];

	if (is_out(e, part) || part == PART_GROUP_CHANGES)
		return false;
	if (!p->printed)
		return true;
	if (part == PART_GROUPS)	/* print again if the log no longer has the lines since then */
		return (int32_t)(e->printed_at - e->log_begin) < 0 && now >= p->next_us;
	/* a client waits for this change, which had to be printed for the disk anyway */
	if (now < p->next_us && part != PART_PARTITIONS)
		return false;
	return p->change != change_of(e->q, part) ||
	       (part == PART_SERVICES && now - p->printed_us > LEASES_US &&
		services_next_end(e->q->sa.services) != SERVICE_NEVER) ||
	       (part == PART_GONE && now - p->printed_us > GONE_US && p->text.n);
}

static uint32_t end_of_log(const struct replica_parts *e)
{
	return e->log_begin + (uint32_t)e->parts[PART_GROUP_CHANGES].text.n;
}

/* Drops the older half of the log, in whole lines. */
static void cut_log(struct replica_parts *e)
{
	struct buf *text = &e->parts[PART_GROUP_CHANGES].text;
	const char *nl = memchr(text->s + text->n / 2, '\n', text->n - text->n / 2);
	size_t n = nl ? (size_t)(nl + 1 - text->s) : text->n;

	memmove(text->s, text->s + n, text->n - n);
	text->n -= n;
	e->log_begin += (uint32_t)n;
}

static void on_group_change(void *arg, const struct mcast_event *change)
{
	struct replica_parts *e = arg;
	struct buf *text = &e->parts[PART_GROUP_CHANGES].text;
	const struct replica_text *groups = &e->parts[PART_GROUPS];

	if (!groups->printed)
		return;
	if (text->n > CHANGES_MAX || (text->n > CHANGES_MIN && text->n > CHANGES_TIMES * groups->text.n))
		cut_log(e);
	store_print_group_change(change, text);
}

static void refresh(struct replica_parts *e, enum replica_part part)
{
	struct replica_text *p = &e->parts[part];
	int64_t now = clock_mono_us();

	if (!is_old(e, part, now))
		return;
	p->change = change_of(e->q, part);
	p->text.n = 0;
	buf_puts(&p->text, "");
	print_part(e->q, part, &p->text);
	p->version = replica_part_digest(p->text.s, p->text.n);
	p->printed = true;
	p->printed_us = now;
	if (part == PART_GROUPS)
		e->printed_at = end_of_log(e);
	p->next_us = now + (clock_mono_us() - now) * PRINT_SHARE;
}

uint64_t replica_part_version(const struct qosd *q, enum replica_part part)
{
	struct buf b = { 0 };
	uint64_t version;

	buf_puts(&b, "");
	print_part(q, part, &b);
	version = replica_part_digest(b.s, b.n);
	buf_free(&b);
	return version;
}

uint64_t replica_parts_partitions(struct qosd *q)
{
	refresh(&q->replica_parts, PART_PARTITIONS);
	return q->replica_parts.parts[PART_PARTITIONS].version;
}

uint64_t replica_policy(const struct qosd *q)
{
	const struct shared_policy *p = policies_in_force(q->policies);

	return p->source == POLICY_BUILTIN ? CTL_POLICY_BUILTIN : p->p->checksum;
}

/* The format of a part's text, as low as possible, so that a standby of an older version can read it. */
static uint32_t format_of(const struct replica_parts *e, enum replica_part part)
{
	switch (part) {
	case PART_PARTITIONS:
		return dynamic_format(e->q->dynamic);
	case PART_MISSING:
		return missing_state_format(e->q->missing);
	default:
		return replica_part_kinds[part].format;
	}
}

/* Puts the rows of parts, from the first to before `end`; returns their length in bytes. */
static uint32_t put_rows(struct replica_parts *e, unsigned first, unsigned end, uint8_t *data)
{
	struct sa_replica_row row = { 0 };

	for (unsigned i = first; i < end; i++) {
		refresh(e, (enum replica_part)i);
		put_be64(row.version, e->parts[i].version);
		put_be32(row.total, (uint32_t)e->parts[i].text.n);
		if (i == PART_GROUP_CHANGES) {
			put_be64(row.version, (uint64_t)e->log << 32 | e->printed_at);
			put_be32(row.total, end_of_log(e));
		}
		put_be32(row.format, format_of(e, (enum replica_part)i));
		memcpy(data + (i - first) * sizeof(row), &row, sizeof(row));
	}
	return (uint32_t)((end - first) * sizeof(row));
}

static void list(struct replica_parts *e, struct sa_replica *answer)
{
	uint8_t rest[SA_REPLICA_DATA];

	put_be64(answer->data + SA_REPLICA_POLICY, replica_policy(e->q));
	put_be32(answer->n, put_rows(e, 0, PART_LISTED, answer->data));
	put_be64(answer->data + SA_REPLICA_REST,
		 hash_bytes(rest, put_rows(e, PART_LISTED, PART_COUNT, rest), 1));
}

/* Copies a piece of a part's text; n stays 0 if the part has another version by now. */
static void put_piece(const struct replica_parts *e, const struct sa_replica *query,
		      struct sa_replica *answer)
{
	uint32_t part = get_be32(query->part), offset = get_be32(query->offset), n;
	const struct replica_text *p = &e->parts[part];
	uint64_t version = p->version, asked = get_be64(query->version);

	if (part == PART_GROUP_CHANGES) {
		asked >>= 32;
		version = e->log;
		offset -= e->log_begin;
	}
	put_be32(answer->total, (uint32_t)p->text.n);
	if (asked != version || offset >= p->text.n)
		return;
	memcpy(answer->version, query->version, sizeof(answer->version));
	n = (uint32_t)p->text.n - offset;
	n = n < SA_REPLICA_DATA ? n : SA_REPLICA_DATA;
	put_be32(answer->n, n);
	memcpy(answer->data, p->text.s + offset, n);
}

/*
 * The question must prove that the standby has the SM_Key.  If the SM_Key is a well-known one, a
 * subnet manager must have answered at the port, too.
 */
static uint16_t may_copy(const struct qosd *q, uint64_t from, const struct sa_replica *query)
{
	uint64_t key = q->settings->sm_key;

	if (!proof_seal_holds(query, key, PROOF_REPLICA_GET, from, mad_info(q->mad)->guid))
		return IB_STATUS_BAD_METHOD_ATTR;
	if ((key == 0 || key == SM_KEY_KNOWN) && !sm_is_manager(q->sm, from))
		return IB_STATUS_BUSY;
	return IB_STATUS_OK;
}

static uint16_t answer_question(struct replica_parts *e, uint64_t from, const struct sa_replica *query,
				struct sa_replica *answer)
{
	const struct replica_text *partitions = &e->parts[PART_PARTITIONS];
	uint32_t part = get_be32(query->part);

	if (part == SA_REPLICA_MORE) {
		put_be32(answer->n, put_rows(e, PART_LISTED, PART_COUNT, answer->data));
		return IB_STATUS_OK;
	}
	if (part != SA_REPLICA_LIST && part >= PART_COUNT)
		return IB_SA_NO_RECORDS;
	if (part != SA_REPLICA_LIST) {
		put_piece(e, query, answer);
		return IB_STATUS_OK;
	}
	/* LIDs or P_Keys are in use and were never printed: nothing to tell yet */
	for (unsigned i = 0; i < PART_COUNT; i++)
		if (is_out(e, (enum replica_part)i) && !e->parts[i].printed)
			return IB_SA_NO_RECORDS;
	list(e, answer);
	/* the question states which partitions and which policy the standby has */
	standbys_heard(&e->q->standbys, &(struct standby){
		.guid = from, .has = get_be64(query->version) == partitions->version,
		.change = partitions->change, .policy = get_be64(query->data + SA_REPLICA_POLICY),
		.age = get_be32(query->data + SA_REPLICA_AGE),
	});
	return IB_STATUS_OK;
}

uint16_t replica_parts_answer(void *arg, uint64_t from, const struct sa_replica *query,
		       struct sa_replica *answer)
{
	struct qosd *q = arg;
	uint16_t status = may_copy(q, from, query);

	if (status)
		return status;
	memset(answer, 0, sizeof(*answer));
	memcpy(answer->part, query->part, sizeof(answer->part));
	memcpy(answer->offset, query->offset, sizeof(answer->offset));
	memcpy(answer->nonce, query->nonce, sizeof(answer->nonce));
	status = answer_question(&q->replica_parts, from, query, answer);
	proof_seal(answer, q->settings->sm_key, PROOF_REPLICA_ANSWER, mad_info(q->mad)->guid, from);
	return status;
}

/* --- another daemon's parts in place of ours --- */

static bool take_groups(struct qosd *q, char *text, char *again)
{
	struct mcast_db *try = mcast_new(NULL, NULL);
	bool good = store_take_groups(try, text);

	mcast_free(try);
	if (!good)
		return false;
	prilock_patient(&q->sa_lock);
	while (mcast_count(q->sa.mcast)) {
		struct mcast_event gone = { .kind = MCAST_GONE, .group = mcast_at(q->sa.mcast, 0) };

		mcast_redo(q->sa.mcast, &gone);
	}
	store_take_groups(q->sa.mcast, again);
	prilock_release(&q->sa_lock);
	store_save_groups(q->store, q->sa.mcast);
	mcast_clean(q->sa.mcast);
	return true;
}

static bool take_group_changes(struct qosd *q, char *text, char *again)
{
	bool good = true;

	(void)again;
	prilock_patient(&q->sa_lock);
	for (char *line = strtok(text, "\n"); line && good; line = strtok(NULL, "\n"))
		good = store_take_group_change(q->sa.mcast, line);
	prilock_release(&q->sa_lock);
	store_save_groups(q->store, q->sa.mcast);
	mcast_clean(q->sa.mcast);
	return good;
}

static bool take_services(struct qosd *q, char *text, char *again)
{
	struct services *try = services_new(NULL, NULL), *db = q->sa.services;
	struct service_key first = { 0 };
	const struct service *x;
	bool good = store_take_services(try, text);

	services_free(try);
	if (!good)
		return false;
	while ((x = services_from(db, &first, false))) {
		struct service_key key = x->key;

		services_remove(db, &key);
	}
	return store_take_services(db, again);
}

static bool take_subscriptions(struct qosd *q, char *text, char *again)
{
	struct subscriptions *try = subscriptions_new(NULL, NULL), *db = q->sa.subscriptions;
	const struct subscriber *who;
	bool good = store_take_subscriptions(try, text);

	subscriptions_free(try);
	if (!good)
		return false;
	while ((who = subscriber_from(db, 0, 0, false)))
		subscriptions_drop(db, who->guid, who->qpn);
	return store_take_subscriptions(db, again);
}

/*
 * Changes only aliases that differ, because each change is written to a device when we are
 * master.
 */
static bool take_aliases(struct qosd *q, char *text, char *again)
{
	struct alias_db *try = alias_new(), *db = q->sa.alias;
	bool good = store_take_aliases(try, text);
	unsigned blocks;
	uint64_t port;

	if (good) {
		prilock_patient(&q->sa_lock);
		for (size_t i = 0; alias_port(db, i, &port, &blocks); i++)
			for (unsigned k = 1; k < blocks * ALIAS_BLOCK; k++)
				if (alias_at(db, port, k) != alias_at(try, port, k))
					alias_put(db, port, k, 0);
		store_take_aliases(db, again);
		prilock_release(&q->sa_lock);
	}
	alias_free(try);
	return good;
}

static bool take_gone(struct qosd *q, char *text, char *again)
{
	(void)again;
	return departed_inherit(q->departed, text);
}

static bool take_missing(struct qosd *q, char *text, char *again)
{
	(void)again;
	return missing_state_inherit(q->missing, text);
}

static bool take_withdrawn(struct qosd *q, char *text, char *again)
{
	struct withdrawals *w = withdrawals_new();

	(void)again;
	if (!store_each_line(text, withdrawals_line, w)) {
		withdrawals_free(w);
		return false;
	}
	take_withdrawals(q, w);
	return true;
}

static bool take_accepted(struct qosd *q, char *text, char *again)
{
	(void)again;
	return expected_topology_inherit(q->topology, text);
}

static bool take_partitions(struct qosd *q, char *text)
{
	struct dynamic_partitions *x = dynamic_new();

	if (!store_each_line(text, dynamic_line, x)) {
		dynamic_free(x);
		return false;
	}
	take_dynamic(q, x);
	return true;
}

bool replication_take(struct qosd *q, char *text[PART_COUNT])
{
	static bool (*const take[PART_COUNT])(struct qosd *q, char *text, char *again) = {
		[PART_GROUPS] = take_groups, [PART_SERVICES] = take_services,
		[PART_SUBSCRIPTIONS] = take_subscriptions, [PART_ALIASES] = take_aliases,
		[PART_GROUP_CHANGES] = take_group_changes, [PART_GONE] = take_gone,
		[PART_MISSING] = take_missing, [PART_WITHDRAWN] = take_withdrawn,
		[PART_ACCEPTED] = take_accepted,
	};
	bool good = true;

	/* changes copied as a standby do not belong to the log that we keep as master */
	if (text[PART_GROUPS] || text[PART_GROUP_CHANGES])
		new_log(&q->replica_parts);

	if (text[PART_LIDS] && text[PART_PKEYS])
		good = store_take_lids(q->store, text[PART_LIDS], text[PART_PKEYS]);
	if (text[PART_PARTITIONS])
		good = take_partitions(q, text[PART_PARTITIONS]) && good;
	for (unsigned i = 0; i < PART_COUNT; i++) {
		char *again;

		if (!text[i] || !take[i])
			continue;
		again = xstrdup(text[i]);	/* reading modifies the text */
		good = (take[i](q, text[i], again) || i >= PART_LISTED) && good;	/* see take_rest() */
		free(again);
	}
	return good;
}
