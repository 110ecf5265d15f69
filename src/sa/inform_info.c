/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles InformInfo (13.4.8.3), to subscribe and unsubscribe, and InformInfoRecord (15.2.5.12) queries.
 *
 * sa/registry/subscriptions.h stores the subscriptions; sa/reports.c sends the Reports.
 *
 * The subscriber is the QP that the request came from, at the port with its SLID.  So
 * no port can subscribe for another or end another's subscription.
 */
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "sa/handler.h"
#include "sa/registry/subscriptions.h"

/* --- reading and checking a subscription --- */

/* Reads which notices are asked for into the normal form, in which equal selections compare equal. */
static uint16_t read_wish(const struct sa_inform_info *i, struct inform *w)
{
	if (i->subscribe > 1 || i->generic > 1)
		return IB_STATUS_BAD_VALUE;
	*w = (struct inform){
		.lid_first = INFORM_ALL_LIDS, .generic = i->generic, .type = get_be16(i->type),
		.number = get_be16(i->number), .producer = get_be32(i->producer) & 0xffffff,
	};
	memcpy(w->gid, i->gid, sizeof(w->gid));
	if (!sa_gid_is_null(w->gid) || get_be16(i->lid_first) == INFORM_ALL_LIDS)
		return IB_STATUS_OK;
	w->lid_first = get_be16(i->lid_first);
	w->lid_last = get_be16(i->lid_last) ? get_be16(i->lid_last) : w->lid_first;
	/*
	 * No port has LID 0, so that a range of it alone selects no event.  OpenSM takes it, and
	 * clients that fill in no range subscribe and unsubscribe with it.
	 */
	return w->lid_last >= w->lid_first && w->lid_last <= IB_LID_UCAST_MAX ?
	       IB_STATUS_OK : IB_SA_REQ_INVALID;
}

static void put_wish(const struct inform *w, struct sa_inform_info *i)
{
	memcpy(i->gid, w->gid, sizeof(i->gid));
	put_be16(i->lid_first, w->lid_first);
	put_be16(i->lid_last, w->lid_last);
	i->generic = w->generic;
	put_be16(i->type, w->type);
	put_be16(i->number, w->number);
	put_be32(i->producer, w->producer);
}

/*
 * A subscriber must share a partition with the ports it wants to hear of (o13-14.1.1).  reports.c
 * checks this for each event.  A subscription to a GID, or to so few LIDs that the client must have
 * chosen them, is checked at once, too.
 */
#define LIDS_ASKED 64
static uint16_t check_access(const struct sa_msg *m, const struct inform *w)
{
	uint32_t port, last = FABRIC_NONE;
	uint16_t status;

	if (!sa_gid_is_null(w->gid)) {
		if ((status = sa_gid_port(m, w->gid, &port)))
			return status;
		return sa_may_see(m->s, m->requester, port) ? IB_STATUS_OK : IB_SA_REQ_INVALID;
	}
	if (w->lid_first == INFORM_ALL_LIDS || w->lid_last - w->lid_first >= LIDS_ASKED)
		return IB_STATUS_OK;
	for (uint32_t lid = w->lid_first; lid <= w->lid_last; lid++) {
		port = sa_lid_port(m->s, (uint16_t)lid);
		if (port != FABRIC_NONE && port != last && !sa_may_see(m->s, m->requester, port))
			return IB_SA_REQ_INVALID;
		last = port;
	}
	return IB_STATUS_OK;
}

/* Only clients with the SM_Key may hear of subnet security events (C15-0.2-1.16). */
static bool is_secret(const struct inform *w)
{
	return w->generic && w->number >= UMAD_SM_BAD_MKEY_TRAP &&
	       w->number <= UMAD_SM_BAD_SWITCH_PKEY_TRAP;
}

/* --- Set(InformInfo) --- */

/* The P_Key of the request: the subscriber's QP may know no other. */
static uint16_t pkey_of_request(const struct sa_msg *m)
{
	const struct pkey_table *own = port_pkeys(m->s->plan->partitions, m->s->f->self);

	return m->req->pkey_index < own->n ? own->keys[m->req->pkey_index] & IB_PKEY_DEFAULT : 0;
}

static uint16_t subscribe(const struct sa_msg *m, const struct subscription *s)
{
	uint64_t guid = m->s->f->ports[m->requester].guid;
	uint16_t status;

	if (is_secret(&s->what) && !m->trusted)
		return IB_SA_REQ_DENIED;
	if ((status = check_access(m, &s->what)))
		return status;
	return subscriptions_room(m->sa->subscriptions, guid, m->req->qpn, &s->what) &&
	       subscriptions_add(m->sa->subscriptions, guid, m->req->qpn, s) ?
	       IB_STATUS_OK : IB_SA_NO_RESOURCES;
}

/* The request's QPN matters only here; 0 means the QP that the request came from. */
static uint16_t unsubscribe(const struct sa_msg *m, const struct inform *what, uint32_t qpn)
{
	return subscriptions_remove(m->sa->subscriptions, m->s->f->ports[m->requester].guid,
				    qpn ? qpn : m->req->qpn, what) ?
	       IB_STATUS_OK : IB_SA_REQ_INVALID;
}

/* The answer is a copy of the request (o13-12.1.1). */
uint16_t sa_inform_set(struct sa_msg *m)
{
	struct sa_inform_info i;
	struct subscription s = { .number = SUBSCRIPTION_ANY, .trusted = m->trusted,
				  .pkey = pkey_of_request(m) };
	uint16_t status;

	memcpy(&i, m->data, sizeof(i));
	s.resp_time = get_be32(i.qpn_resp_time) & 0x1f;
	if ((status = read_wish(&i, &s.what)))
		return status;
	status = i.subscribe ? subscribe(m, &s) :
		 unsubscribe(m, &s.what, get_be32(i.qpn_resp_time) >> 8);
	if (!status)
		sa_add(m, &i, sizeof(i));
	return status;
}

/* --- InformInfoRecord --- */

static const struct sa_field fields[] = {
	{ 0, false, 0, 128 },		/* SubscriberGID */
	{ 1, false, 128, 16 },		/* SubscriberEnum */
	{ 3, false, 192, 128 },		/* InformInfo.GID */
	{ 4, false, 320, 16 },		/* LIDRangeBegin */
	{ 5, false, 336, 16 },		/* LIDRangeEnd */
	{ 7, false, 368, 8 },		/* IsGeneric */
	{ 8, false, 376, 8 },		/* Subscribe */
	{ 9, false, 384, 16 },		/* Type */
	{ 10, false, 400, 16 },		/* TrapNumber or DeviceID */
	{ 11, false, 416, 24 },		/* QPN */
	{ 13, false, 443, 5 },		/* RespTimeValue */
	{ 15, false, 456, 24 },		/* ProducerType or VendorID */
};

struct inform_rows {
	struct sa_rows rows;
	const struct subscriptions *db;
	const struct subnet_state *s;
	uint32_t requester;
	uint64_t mask;
	struct sa_inform_info_record want;
	bool trusted;
	uint64_t guid;			/* present subscriber, or where to look for the next */
	uint32_t qpn;
	size_t at;			/* index of the subscription */
};

/* Only clients with the SM_Key may see the QP (C15-0.2-1.16). */
static void make_record(const struct inform_rows *x, const struct subscriber *who,
			const struct subscription *s, struct sa_inform_info_record *r)
{
	memset(r, 0, sizeof(*r));
	put_be64(r->gid, x->s->plan->settings->subnet_prefix);
	put_be64(r->gid + 8, who->guid);
	put_be16(r->number, s->number);
	put_wish(&s->what, &r->info);
	r->info.subscribe = 1;
	put_be32(r->info.qpn_resp_time, (x->trusted ? who->qpn << 8 : 0) | s->resp_time);
}

static enum sa_step step(struct sa_rows *rows, void *record)
{
	struct inform_rows *x = (struct inform_rows *)(void *)rows;
	const struct subscriber *who = subscriber_from(x->db, x->guid, x->qpn, false);
	uint32_t port;

	if (!who || (x->mask & 1 && who->guid != get_be64(x->want.gid + 8)))
		return SA_END;
	if (who->guid != x->guid || who->qpn != x->qpn)
		x->at = 0;	/* the scan has reached another subscriber */
	x->guid = who->guid;
	x->qpn = who->qpn;
	port = fabric_find_port(x->s->f, who->guid);
	if (x->at >= who->list.n || port == FABRIC_NONE ||
	    !sa_may_see(x->s, x->requester, port)) {
		x->at = 0;
		if (!++x->qpn)
			x->guid++;
		return SA_SKIP;
	}
	make_record(x, who, &who->list.v[x->at++], record);
	return sa_fields_match(fields, ARRAY_SIZE(fields), x->mask, &x->want, record, false) ?
	       SA_ROW : SA_SKIP;
}

uint16_t sa_inform_record(struct sa_msg *m)
{
	struct inform_rows *x = xcalloc(1, sizeof(*x));

	*x = (struct inform_rows){
		.rows = { .size = sizeof(x->want), .step = step },
		.db = m->sa->subscriptions, .s = m->s, .requester = m->requester,
		.mask = m->mask, .trusted = m->trusted,
	};
	memcpy(&x->want, m->data, sizeof(x->want));
	if (m->mask & 1)
		x->guid = get_be64(x->want.gid + 8);
	m->rows = &x->rows;
	return IB_STATUS_OK;
}
