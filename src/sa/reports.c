/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends Reports to subscribers in rounds (reports.h).
 *
 * When it is a subscriber's turn, the state published then decides whether it may hear of an event.
 * The port or group that the event is about may be gone by then, so the event contains its
 * P_Keys (o13-17.1.1).
 *
 * A round looks at all subscribers.  It skips one whose answer is outstanding, which gets its
 * turn when the answer comes.  It also skips one for which the window has no place; another
 * round follows when a place may be free.  Rounds end after one that began after the last event.
 */
#include "sa/reports.h"

#include <inttypes.h>
#include <stdlib.h>

#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "sa/handler.h"
#include "sa/notice.h"

#define LOOKS		8192	/* most subscriptions and subscribers that one call looks at */
#define TIMEOUT_MIN_MS	500	/* subscribers that ask for 4 us need more */
#define TIMEOUT_MAX_MS	5000

struct event {
	struct sa_notice notice;
	uint32_t n_keys;
	uint16_t keys[];	/* P_Keys of the port or group, with membership bit */
};

/* One place for an outstanding Report. */
struct flight {
	bool busy;
	bool late;		/* it has left the window */
	bool silent;		/* the subscriber did not answer its last Report */
	unsigned ticks;
	uint64_t guid;		/* port GUID of the subscriber */
	uint32_t qpn;
};

/* Numbers of outstanding Reports, in all and in the window. */
struct outstanding {
	unsigned all, window;
};

struct reports {
	struct subscriptions *db;
	struct reports_hooks hooks;
	struct holdings *holdings;	/* or NULL */
	struct subnet_state *state;	/* NULL: nothing is sent */
	struct event *ring[REPORTS_EVENTS];	/* index: number of the event, modulo */
	struct flight flights[REPORTS_OUTSTANDING];
	struct outstanding n, n_silent;
	bool turned_away, silent_turned_away;	/* subscribers had no place in the window */
	/* the present round */
	bool idle;			/* no round is needed until there is an event */
	bool again;			/* another round must follow this one */
	uint64_t round;			/* number of the last event when the round began */
	uint64_t guid;			/* port GUID of the last subscriber that the round looked at */
	uint32_t qpn;
	bool begun;			/* the round has looked at a subscriber */
	struct reports_counts counts;
};

static struct log_ratelimit lost_log = LOG_RATELIMIT, dead_log = LOG_RATELIMIT;

struct reports *reports_new(struct subscriptions *db, const struct reports_hooks *hooks)
{
	struct reports *r = xcalloc(1, sizeof(*r));

	r->db = db;
	r->hooks = *hooks;
	r->idle = true;
	return r;
}

void reports_hold(struct reports *r, struct holdings *h)
{
	r->holdings = h;
	for (unsigned i = 0; i < REPORTS_OUTSTANDING; i++)
		if (r->flights[i].busy)
			holdings_add(h, HOLD_REPORTS, r->flights[i].guid, 1);
}

void reports_free(struct reports *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < REPORTS_EVENTS; i++)
		free(r->ring[i]);
	state_unref(r->state);
	free(r);
}

const struct reports_counts *reports_counts(const struct reports *r)
{
	return &r->counts;
}

static void wake(struct reports *r)
{
	r->idle = false;
	r->hooks.wake(r->hooks.arg);
}

/* --- events --- */

static void add_event(struct reports *r, const struct sa_notice *notice, const uint16_t *keys,
		      uint32_t n_keys)
{
	struct event *e = xcalloc(1, sizeof(*e) + n_keys * sizeof(*keys));
	struct event **place = &r->ring[subscriptions_event(r->db) % REPORTS_EVENTS];

	e->notice = *notice;
	e->n_keys = n_keys;
	if (n_keys)
		memcpy(e->keys, keys, n_keys * sizeof(*keys));
	free(*place);
	*place = e;
	r->counts.events++;
	wake(r);
}

static void add_port_event(struct reports *r, const struct sa_notice *n,
			   const struct subnet_state *s, uint32_t port)
{
	const struct pkey_table *t = port_pkeys(s->plan->partitions, port);

	add_event(r, n, t->keys, t->n);
}

static bool is_there(const struct subnet_state *s, uint32_t port)
{
	return port != FABRIC_NONE && s->plan->lid[port] && port_is_end(s->f, port);
}

/* Adds an event for each end port of s that t lacks. */
static void compare(struct reports *r, const struct subnet_state *s, const struct subnet_state *t,
		    uint16_t trap)
{
	const struct subnet_state *now = r->state;
	struct sa_notice n;
	uint8_t gid[16];

	put_be64(gid, now->plan->settings->subnet_prefix);
	for (uint32_t port = 0; port < s->f->n_ports; port++) {
		uint64_t guid = s->f->ports[port].guid;

		if (!is_there(s, port) || is_there(t, fabric_find_port(t->f, guid)))
			continue;
		put_be64(gid + 8, guid);
		notice_of_gid(now, trap, gid, &n);
		add_port_event(r, &n, s, port);
	}
}

void reports_publish(struct reports *r, struct subnet_state *s)
{
	struct subnet_state *old = r->state;

	r->state = s ? state_ref(s) : NULL;
	if (s && old && s->f != old->f && subscriptions_count(r->db)) {
		compare(r, old, s, UMAD_SM_GID_OUT_OF_SERVICE_TRAP);
		compare(r, s, old, UMAD_SM_GID_IN_SERVICE_TRAP);
	}
	if (s)
		wake(r);
	state_unref(old);
}

void reports_group(struct reports *r, const uint8_t mgid[16], uint16_t pkey, bool created)
{
	uint16_t key = pkey | IB_PKEY_FULL;	/* limited members may be in groups, too */
	struct sa_notice n;

	if (!r->state || !subscriptions_count(r->db))
		return;
	notice_of_gid(r->state, created ? UMAD_SM_MGID_CREATED_TRAP : UMAD_SM_MGID_DESTROYED_TRAP,
		      mgid, &n);
	add_event(r, &n, &key, 1);
}

void reports_alias(struct reports *r, uint64_t port_guid, uint64_t alias, bool came)
{
	struct sa_notice n;
	uint8_t gid[16];
	uint32_t port;

	if (!r->state || !subscriptions_count(r->db))
		return;
	port = fabric_find_port(r->state->f, port_guid);
	if (!is_there(r->state, port))
		return;
	put_be64(gid, r->state->plan->settings->subnet_prefix);
	put_be64(gid + 8, alias);
	notice_of_gid(r->state, came ? UMAD_SM_GID_IN_SERVICE_TRAP :
				UMAD_SM_GID_OUT_OF_SERVICE_TRAP, gid, &n);
	add_port_event(r, &n, r->state, port);
}

void reports_trap(struct reports *r, const uint8_t smp_data[NOTICE_SMP_LEN], uint16_t slid)
{
	struct sa_notice n;
	uint32_t port;

	if (!r->state || !subscriptions_count(r->db))
		return;
	if (notice_is_of_manager(smp_data) || !notice_of_trap(r->state, smp_data, slid, &n, &port))
		r->counts.dropped_traps++;
	else
		add_port_event(r, &n, r->state, port);
}

/* --- which subscribers get an event --- */

static bool may_hear(const struct reports *r, const struct event *e, uint32_t port)
{
	for (uint32_t i = 0; i < e->n_keys; i++) {
		enum membership m = port_membership(r->state->plan->partitions, port, e->keys[i]);

		if (m != MEMBER_NONE && (e->keys[i] & IB_PKEY_FULL || m != MEMBER_LIMITED))
			return true;
	}
	return false;
}

/* The subscription by which the subscriber (at port) gets the event, or NULL. */
static const struct subscription *wanted(const struct reports *r, const struct subscriber *who,
					 uint32_t port, const struct event *e)
{
	for (const struct subscription *s = who->list.v; s < vec_end(&who->list); s++)
		if (notice_matches(&e->notice, &s->what) &&
		    (s->trusted || !notice_is_secret(&e->notice)))
			return may_hear(r, e, port) ? s : NULL;
	return NULL;
}

/* --- addressing and sending a Report --- */

/* The index of a P_Key in our own P_Key table; false: it is not there. */
static bool find_pkey(const struct subnet_state *s, uint16_t pkey, uint16_t *index)
{
	const struct pkey_table *own = port_pkeys(s->plan->partitions, s->f->self);

	for (uint32_t i = 0; i < own->n; i++)
		if (!((own->keys[i] ^ pkey) & IB_PKEY_DEFAULT)) {
			*index = (uint16_t)i;
			return true;
		}
	return false;
}

/* Sets LID, SL and P_Key index of a Report.  False: we share no usable P_Key with the port. */
static bool find_way(const struct subnet_state *s, const struct subscription *by, uint32_t port,
		     struct report *out)
{
	const struct plan *p = s->plan;
	struct path_query q = {
		.has = PR_PKEY, .src = s->f->self, .dst = port,
		.slid = state_own_lid(s), .dlid = p->lid[port],
		.pkey = shared_pkey(p->partitions, s->f->self, port, by->pkey),
	};
	struct path_answer a;

	if (!q.pkey)	/* the P_Key of the subscription is no longer shared */
		q.pkey = shared_pkey(p->partitions, s->f->self, port, 0);
	if (!q.pkey || !find_pkey(s, q.pkey, &out->pkey_index))
		return false;
	out->lid = q.dlid;
	out->sl = path_resolve(s, &q, &a) ? 0 : a.sl;
	return true;
}

/* The timeout in ms: the subscriber's response time plus the time of the way there and back. */
static unsigned answer_time(const struct subnet_state *s, uint8_t resp_time)
{
	uint64_t way = 2ull << s->plan->settings->subnet_timeout;
	uint64_t ms = ((1ull << resp_time) + way) * 4096 / 1000000;

	return ms < TIMEOUT_MIN_MS ? TIMEOUT_MIN_MS : ms > TIMEOUT_MAX_MS ? TIMEOUT_MAX_MS :
	       (unsigned)ms;
}

static void put_report(const struct event *e, uint8_t mad[MAD_LEN])
{
	struct umad_sa_packet p = {
		.mad_hdr = {
			.base_version = UMAD_BASE_VERSION, .mgmt_class = UMAD_CLASS_SUBN_ADM,
			.class_version = UMAD_SA_CLASS_VERSION, .method = UMAD_METHOD_REPORT,
			.attr_id = htobe16(UMAD_ATTR_NOTICE),
		},
		.attr_offset = htobe16(sizeof(struct sa_notice) / 8),
	};

	memcpy(p.data, &e->notice, sizeof(e->notice));
	memcpy(mad, &p, MAD_LEN);
}

static void no_answer(struct reports *r, struct subscriber *who)
{
	r->counts.unanswered++;
	if (!who->unanswered && r->hooks.now_us)
		who->silent_us = r->hooks.now_us();
	if (++who->unanswered < REPORTS_UNANSWERED)
		return;
	log_limited(&dead_log, LOG_LEVEL_WARNING, "sa",
		    "0x%016" PRIx64 " QP %" PRIu32 " does not answer Reports: unsubscribed", who->guid, who->qpn);
	r->counts.dropped_subscribers++;
	if (r->hooks.dropped)
		r->hooks.dropped(r->hooks.arg, who->guid, who->qpn);
	subscriptions_drop_silent(r->db, who->guid, who->qpn);
}

static struct outstanding of_port(const struct reports *r, uint64_t guid)
{
	struct outstanding n = { 0 };

	for (unsigned i = 0; i < REPORTS_OUTSTANDING; i++)
		if (r->flights[i].busy && r->flights[i].guid == guid) {
			n.all++;
			n.window += !r->flights[i].late;
		}
	return n;
}

static bool has_room(const struct outstanding *n, unsigned all, unsigned window)
{
	return n->all < all && n->window < window;
}

/* False: the subscriber has to wait until a Report leaves the window or is answered. */
static bool has_place(struct reports *r, const struct subscriber *who)
{
	struct outstanding port = of_port(r, who->guid);

	if (who->unanswered && !has_room(&r->n_silent, REPORTS_SILENT, REPORTS_WINDOW_SILENT)) {
		r->silent_turned_away = true;
		return false;
	}
	if (!has_room(&r->n, REPORTS_OUTSTANDING, REPORTS_WINDOW) ||
	    port.window >= REPORTS_WINDOW_PORT || !holdings_room(r->holdings, HOLD_REPORTS, who->guid)) {
		r->turned_away = true;
		return false;
	}
	return true;
}

static void take_off(struct reports *r, unsigned id, const struct subscriber *who)
{
	bool silent = who->unanswered;

	r->flights[id] = (struct flight){ .busy = true, .silent = silent, .guid = who->guid,
					  .qpn = who->qpn };
	holdings_add(r->holdings, HOLD_REPORTS, who->guid, 1);
	r->n.all++;
	r->n.window++;
	r->n_silent.all += silent;
	r->n_silent.window += silent;
}

static void leave_window(struct reports *r, struct flight *f)
{
	if (f->late)
		return;
	f->late = true;
	r->n.window--;
	r->n_silent.window -= f->silent;
}

static void land(struct reports *r, unsigned id)
{
	struct flight *f = &r->flights[id];

	leave_window(r, f);
	f->busy = false;
	holdings_add(r->holdings, HOLD_REPORTS, f->guid, -1);
	r->n.all--;
	r->n_silent.all -= f->silent;
}

/* Starts another round if subscribers had no place and one may be free now. */
static void invite(struct reports *r, bool silent)
{
	if (!r->turned_away && !(silent && r->silent_turned_away))
		return;
	r->turned_away = false;
	r->silent_turned_away = silent ? false : r->silent_turned_away;
	r->again = true;
	r->idle = false;
}

/* False: sending failed, and the subscriber may be dropped: do not use `who` any more. */
static bool send_report(struct reports *r, struct subscriber *who,
			const struct subscription *by, uint32_t port, const struct event *e)
{
	struct report out = { .qpn = who->qpn,
			      .timeout_ms = answer_time(r->state, by->resp_time) };
	unsigned id = 0;

	if (!find_way(r->state, by, port, &out))
		return true;		/* it cannot be reached: not counted as silent */
	while (r->flights[id].busy)
		id++;
	out.id = id;
	put_report(e, out.mad);
	take_off(r, id, who);
	r->counts.sent++;
	who->waiting = id + 1;
	if (r->hooks.send(r->hooks.arg, &out))
		return true;
	land(r, id);
	who->waiting = 0;
	no_answer(r, who);
	return false;
}

/* --- turns --- */

/* Skips and counts events that are no longer in the ring. */
static void catch_up(struct reports *r, struct subscriber *who, uint64_t last)
{
	uint64_t lost = last - who->seen > REPORTS_EVENTS ? last - who->seen - REPORTS_EVENTS : 0;

	if (!lost)
		return;
	who->seen += lost;
	r->counts.lost += lost;
	log_limited(&lost_log, LOG_LEVEL_WARNING, "sa",
		    "0x%016" PRIx64 " QP %" PRIu32 " is too slow: it lost %" PRIu64 " events",
		    who->guid, who->qpn, lost);
}

/*
 * Sends the subscriber's next Report, unless one is outstanding.
 * False: the looks are used up before its events are.
 */
static bool give_turn(struct reports *r, struct subscriber *who, unsigned *looks)
{
	uint64_t last = subscriptions_events(r->db);
	uint32_t port = fabric_find_port(r->state->f, who->guid);

	if (who->waiting)
		return true;
	if (!is_there(r->state, port)) {
		who->seen = last;	/* departed: skip its events; it may subscribe again later */
		return true;
	}
	catch_up(r, who, last);
	if (who->seen < last && !has_place(r, who))
		return true;
	while (who->seen < last) {
		const struct event *e = r->ring[(who->seen + 1) % REPORTS_EVENTS];
		const struct subscription *by = wanted(r, who, port, e);
		unsigned cost = 1 + (unsigned)who->list.n;

		who->seen++;
		*looks -= cost < *looks ? cost : *looks;
		if (by && (!send_report(r, who, by, port, e) || who->waiting))
			return true;
		if (!*looks)
			return false;
	}
	return true;
}

/* The next subscriber of the round; NULL: the round is over. */
static struct subscriber *next_of_round(struct reports *r)
{
	struct subscriber *who;

	if (!r->begun) {
		r->round = subscriptions_events(r->db);
		r->again = false;
		who = subscriber_from(r->db, 0, 0, false);
	} else {
		who = subscriber_from(r->db, r->guid, r->qpn, true);
	}
	r->begun = who != NULL;
	if (who) {
		r->guid = who->guid;
		r->qpn = who->qpn;
	}
	return who;
}

void reports_work(struct reports *r)
{
	unsigned looks = LOOKS;

	while (r->state && !r->idle && has_room(&r->n, REPORTS_OUTSTANDING, REPORTS_WINDOW)) {
		struct subscriber *who = next_of_round(r);

		if (!who) {
			r->idle = !r->again && r->round == subscriptions_events(r->db);
			continue;
		}
		if (!give_turn(r, who, &looks))
			r->again = true;
		if (!looks || !--looks) {
			r->hooks.wake(r->hooks.arg);
			return;
		}
	}
}

bool reports_tick(struct reports *r)
{
	unsigned window = r->n.window, silent = r->n_silent.window;

	for (unsigned i = 0; r->n.window && i < REPORTS_OUTSTANDING; i++)
		if (r->flights[i].busy && ++r->flights[i].ticks > 1)
			leave_window(r, &r->flights[i]);
	if (r->n.window < window)
		invite(r, r->n_silent.window < silent);
	if (!r->idle)
		r->hooks.wake(r->hooks.arg);
	return r->n.all;
}

void reports_answered(struct reports *r, unsigned id, bool answered)
{
	struct flight f = r->flights[id];
	struct subscriber *who = subscriber_find(r->db, f.guid, f.qpn);
	unsigned looks = LOOKS;

	land(r, id);
	invite(r, f.silent);
	if (answered)
		r->counts.answered++;
	if (who && who->waiting == id + 1) {
		who->waiting = 0;
		if (answered)
			who->unanswered = 0;
		else
			no_answer(r, who);
		who = subscriber_find(r->db, f.guid, f.qpn);
		if (who && r->state && !give_turn(r, who, &looks)) {
			r->again = true;
			r->idle = false;
		}
	}
	if (!r->idle)
		r->hooks.wake(r->hooks.arg);
}
