/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Saves clients' registrations, ends their leases, and sends Reports; see client_leases.h.
 *
 * A change is written SAVE_US after it, or later if writing takes long: saving takes at most a
 * part of the loop's time.
 */
#include "daemon/client_leases.h"

#include <stdlib.h>

#include <infiniband/umad_types.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "sa/registry/services.h"
#include "sa/registry/subscriptions.h"
#include "sa/reports.h"

#define SAVE_US		20000
#define SAVE_SHARE	10		/* saving takes at most one part in this many of the loop's time */
#define SAVE_SUBSCRIPTIONS 1024u	/* lines printed in one turn of the loop, in less than 1 ms */
#define SAVE_SERVICES	512u		/* likewise; these lines are longer */
#define NEXT_LINES_US	1000
#define LEASE_MAX_US	(24ll * 3600 * 1000000)	/* a longer timer is set in steps */

struct clients;

/* A Report that awaits its answer. */
struct awaited {
	struct clients *c;
	unsigned id;
};

struct clients {
	struct store *store;
	struct mad_port *mad;
	struct sa *sa;
	struct reports *reports;
	struct clients_hooks hooks;
	struct timer *save, *lease, *work, *tick;
	int64_t save_wait_us, saved_for_us;
	bool services_dirty, subscriptions_dirty, aliases_dirty;
	struct clients_changes changes;
	bool leases_changed;		/* the lease timer will look at the leases */
	enum printing { NOTHING, SERVICES, SUBSCRIPTIONS } printing;	/* the file being printed; how far: */
	struct service_place services_to;
	struct subscriber_place subscriptions_to;
	struct buf printed;
	struct awaited awaited[REPORTS_OUTSTANDING];
};

/* --- disk --- */

/* Begins to print the next changed file, in the order of enum printing. */
static void begin_next(struct clients *c)
{
	enum printing last = c->printing;

	c->printing = NOTHING;
	if (last < SERVICES && c->services_dirty) {
		c->printing = SERVICES;
		c->services_dirty = false;
		c->services_to = (struct service_place){ 0 };
		store_begin_services(c->sa->services, &c->printed);
	} else if (last < SUBSCRIPTIONS && c->subscriptions_dirty) {
		c->printing = SUBSCRIPTIONS;
		c->subscriptions_dirty = false;
		c->subscriptions_to = (struct subscriber_place){ 0 };
		store_begin_subscriptions(c->sa->subscriptions, &c->printed);
	}
}

static void print_some(struct clients *c)
{
	bool services = c->printing == SERVICES;

	if (services ? store_print_some_services(c->sa->services, &c->services_to, SAVE_SERVICES,
						 &c->printed) :
		       store_print_some_subscriptions(c->sa->subscriptions, &c->subscriptions_to,
						      SAVE_SUBSCRIPTIONS, &c->printed))
		return;
	if (services)
		store_save_printed_services(c->store, &c->printed);
	else
		store_save_printed_subscriptions(c->store, &c->printed);
	begin_next(c);
}

static void save_aliases(struct clients *c)
{
	if (c->aliases_dirty)
		store_save_aliases(c->store, c->sa->alias);
	c->aliases_dirty = false;
}

static void save(void *arg)
{
	struct clients *c = arg;
	int64_t begin = clock_mono_us();

	/* called every millisecond while a file is printed; aliases are printed in one go */
	if (c->printing == NOTHING) {
		save_aliases(c);
		begin_next(c);
	}
	if (c->printing != NOTHING)
		print_some(c);
	c->saved_for_us += clock_mono_us() - begin;
	if (c->printing != NOTHING) {
		timer_set(c->save, NEXT_LINES_US, 0);
		return;
	}
	c->save_wait_us = c->saved_for_us * SAVE_SHARE;
	if (c->save_wait_us < SAVE_US)
		c->save_wait_us = SAVE_US;
	c->saved_for_us = 0;
	/* changes made meanwhile did not set the timer, because it was active */
	if (c->subscriptions_dirty || c->services_dirty || c->aliases_dirty)
		timer_set(c->save, c->save_wait_us, 0);
}

static void save_at_end(struct clients *c)
{
	save_aliases(c);
	if (c->services_dirty || c->printing == SERVICES)
		store_save_services(c->store, c->sa->services);
	if (c->subscriptions_dirty || c->printing == SUBSCRIPTIONS)
		store_save_subscriptions(c->store, c->sa->subscriptions);
	buf_free(&c->printed);
}

static void save_soon(struct clients *c)
{
	if (!timer_active(c->save))
		timer_set(c->save, c->save_wait_us, 0);
}

/* --- leases --- */

static void arm_lease(struct clients *c)
{
	int64_t end = services_next_end(c->sa->services), wait = end - clock_mono_us();

	if (end == SERVICE_NEVER)
		timer_stop(c->lease);
	else
		timer_set(c->lease, wait < 0 ? 0 : wait > LEASE_MAX_US ? LEASE_MAX_US : wait, 0);
}

/*
 * Ends leases; also called after changes, so that the next lease to end is looked up once for
 * many changes.
 */
static void on_lease(void *arg)
{
	struct clients *c = arg;

	services_expire(c->sa->services, clock_mono_us());
	c->leases_changed = false;
	arm_lease(c);
}

static void on_services(void *arg)
{
	struct clients *c = arg;

	c->services_dirty = true;
	c->changes.services++;
	save_soon(c);
	if (!c->leases_changed)
		timer_set(c->lease, SAVE_US, 0);
	c->leases_changed = true;
}

static void on_subscriptions(void *arg)
{
	struct clients *c = arg;

	c->subscriptions_dirty = true;
	c->changes.subscriptions++;
	save_soon(c);
}

/* --- aliases --- */

void clients_alias(struct clients *c, const struct alias_change *x)
{
	c->aliases_dirty = true;
	c->changes.aliases++;
	save_soon(c);
	if (x->from)
		reports_alias(c->reports, x->port, x->from, false);
	if (x->to)
		reports_alias(c->reports, x->port, x->to, true);
}

/* --- Reports --- */

static void on_answer(void *arg, const uint8_t *mad, size_t len)
{
	struct awaited *a = arg;

	(void)len;
	reports_answered(a->c->reports, a->id, mad != NULL);
}

static bool send_report(void *arg, const struct report *r)
{
	struct clients *c = arg;
	struct mad_address to = { .lid = r->lid, .qpn = r->qpn, .pkey_index = r->pkey_index,
				  .sl = r->sl };

	c->awaited[r->id] = (struct awaited){ c, r->id };
	if (!timer_active(c->tick))
		timer_set(c->tick, REPORTS_TICK_US, REPORTS_TICK_US);
	return mad_request(c->mad, &to, r->mad, r->timeout_ms, REPORTS_TRIES, on_answer,
			   &c->awaited[r->id]);
}

static void work_soon(void *arg)
{
	struct clients *c = arg;

	if (!timer_active(c->work))
		timer_set(c->work, 0, 0);
}

static void on_tick(void *arg)
{
	struct clients *c = arg;

	if (!reports_tick(c->reports))
		timer_stop(c->tick);
}

static void on_work(void *arg)
{
	struct clients *c = arg;

	reports_work(c->reports);
}

static void on_group(void *arg, const struct mcast_group *g, bool made)
{
	struct clients *c = arg;

	reports_group(c->reports, g->mgid, g->pkey, made);
}

static void on_dropped(void *arg, uint64_t guid, uint32_t qpn)
{
	const struct clients *c = arg;

	c->hooks.dropped(c->hooks.arg, guid, qpn);
}

const struct clients_changes *clients_changes(const struct clients *c)
{
	return &c->changes;
}

void clients_hold(struct clients *c, struct holdings *h)
{
	reports_hold(c->reports, h);
}

void clients_publish(struct clients *c, struct subnet_state *s)
{
	reports_publish(c->reports, s);
}

void clients_smp(struct clients *c, const struct mad_in *in)
{
	if (in->len >= 256 && in->mad[3] == UMAD_METHOD_TRAP &&
	    get_be16(in->mad + 16) == UMAD_ATTR_NOTICE)
		reports_trap(c->reports, in->mad + 64, in->slid);
}

void clients_request(const struct mad_in *in, struct sa_request *req)
{
	struct mad_address from;

	mad_sender(in, &from);
	req->qpn = from.qpn;
	req->pkey_index = from.pkey_index;
}

/* --- beginning and end --- */

struct clients *clients_new(struct loop *l, struct store *store, struct mad_port *mad,
			    struct sa *sa, const struct clients_hooks *hooks, bool *lost)
{
	struct clients *c = xcalloc(1, sizeof(*c));
	struct reports_hooks rh = { .send = send_report, .wake = work_soon, .dropped = on_dropped,
				    .now_us = clock_real_us, .arg = c };

	c->store = store;
	c->mad = mad;
	c->sa = sa;
	c->hooks = *hooks;
	c->save_wait_us = SAVE_US;
	c->save = timer_new(l, save, c);
	c->lease = timer_new(l, on_lease, c);
	c->work = timer_new(l, on_work, c);
	c->tick = timer_new(l, on_tick, c);
	sa->services = services_new(on_services, c);
	sa->subscriptions = subscriptions_new(on_subscriptions, c);
	c->services_dirty = !store_load_services(store, sa->services);
	c->subscriptions_dirty = !store_load_subscriptions(store, sa->subscriptions);
	c->aliases_dirty = !store_load_aliases(store, sa->alias);
	*lost = c->services_dirty || c->subscriptions_dirty || c->aliases_dirty;
	if (*lost)
		save_soon(c);		/* so that the clients are asked to register only once */
	c->reports = reports_new(sa->subscriptions, &rh);
	mcast_watch(sa->mcast, on_group, c);
	return c;
}

void clients_free(struct clients *c)
{
	if (!c)
		return;
	mcast_watch(c->sa->mcast, NULL, NULL);
	save_at_end(c);
	reports_free(c->reports);
	services_free(c->sa->services);
	subscriptions_free(c->sa->subscriptions);
	c->sa->services = NULL;
	c->sa->subscriptions = NULL;
	timer_free(c->save);
	timer_free(c->lease);
	timer_free(c->work);
	timer_free(c->tick);
	free(c);
}
