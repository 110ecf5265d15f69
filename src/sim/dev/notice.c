/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queues the notices of an end port and sends them as traps.
 *
 * A notice is sent to the SM until SubnTrapRepress confirms it (13.4.8 to 13.4.10).
 * SubnGet(Notice) can read it, too, if the device supports that attribute.
 *
 * Traps are sent no faster than PortInfo.SubnetTimeOut allows (14.2.5.6), except the first of an
 * event, since managers rely on hearing of it at once.
 */
#include <stdlib.h>

#include "sim/dev/dev_internal.h"

#define NOTICES_MAX	16
/* Real devices repeat for ever; a simulated fabric without a manager must become quiet. */
#define TRAP_SENDS	30
/* Bounds of the repeat interval, for managers that set SubnetTimeOut to 0 or to hours. */
#define TRAP_INTERVAL_MIN_US 50000
#define TRAP_INTERVAL_MAX_US 5000000

struct notice {
	uint8_t data[SMP_DATA_SIZE];
	unsigned sends_left;
};

struct notices {
	uint64_t timer;
	unsigned n;
	uint16_t toggle;		/* NoticeToggle of the notice that a Get shows */
	struct notice queue[NOTICES_MAX];	/* oldest first */
};

static int64_t trap_interval(const struct sim_port *p)
{
	int64_t us = (4096ll << (p->info[PI_REREG_SUBNET_TIMEOUT] & PI_SUBNET_TIMEOUT)) / 1000;

	if (us < TRAP_INTERVAL_MIN_US)
		return TRAP_INTERVAL_MIN_US;
	return us > TRAP_INTERVAL_MAX_US ? TRAP_INTERVAL_MAX_US : us;
}

static void send_trap(struct sim *s, uint32_t port, struct notice *notice)
{
	const struct sim_port *p = &s->f->ports[port];
	const struct sim_node *n = node_of(s->f, port);
	struct packet trap = { .slid = p->lid, .dlid = p->sm_lid, .pkey = 0xffff };
	uint8_t *mad = trap.mad;

	notice->sends_left--;
	if (!device_can(s->f, port, CAP_TRAP) || !p->lid || !p->sm_lid || n->off || n->silent ||
	    n->profile->silent)
		return;
	trap.sl = (uint8_t)low4(p->info + PI_MTU_SM_SL);
	mad[MAD_BASE_VERSION] = mad[MAD_CLASS_VERSION] = 1;
	mad[MAD_CLASS] = CLASS_SM_LID;
	mad[MAD_METHOD] = METHOD_TRAP;
	put_be64(mad + MAD_TID, ++devices_of(s)->trap_tid);
	put_be16(mad + MAD_ATTR, ATTR_NOTICE);
	put_be16(notice->data + NOTICE_ISSUER_LID, p->lid);
	memcpy(mad + SMP_DATA, notice->data, SMP_DATA_SIZE);
	wire_send(s, port, &trap);
}

static void remove_notice(struct notices *ns, unsigned i)
{
	ns->n--;
	memmove(&ns->queue[i], &ns->queue[i + 1], (ns->n - i) * sizeof(ns->queue[0]));
}

static void repeat(struct sim *s, void *arg);

static void arm(struct sim *s, uint32_t port, struct notices *ns)
{
	ns->timer = sim_after(s, trap_interval(&s->f->ports[port]), repeat, device_port(s, port));
}

static void repeat(struct sim *s, void *arg)
{
	struct device_port *d = arg;
	uint32_t port = device_port_index(s, d);
	struct notices *ns = d->notices;

	ns->timer = 0;
	for (unsigned i = 0; i < ns->n; ) {
		if (ns->queue[i].sends_left)
			send_trap(s, port, &ns->queue[i]);
		if (ns->queue[i].sends_left)
			i++;
		else
			remove_notice(ns, i);
	}
	if (ns->n)
		arm(s, port, ns);
}

/* Whether both report the same event; ignores IssuerLID, toggle and count. */
static bool same_notice(const uint8_t *a, const uint8_t *b)
{
	return !memcmp(a, b, NOTICE_ISSUER_LID) &&
	       !memcmp(a + NOTICE_DETAILS, b + NOTICE_DETAILS, NOTICE_DETAILS_SIZE);
}

static struct notice *find_notice(struct notices *ns, const uint8_t *data)
{
	for (unsigned i = 0; i < ns->n; i++)
		if (same_notice(ns->queue[i].data, data))
			return &ns->queue[i];
	return NULL;
}

/*
 * Drops the oldest security notice, so that a client that guesses keys cannot keep a manager from
 * hearing of link changes.
 */
static void forget_security(struct notices *ns)
{
	for (unsigned i = 0; i < ns->n; i++)
		if (ns->queue[i].data[NOTICE_GENERIC_TYPE] == (NOTICE_GENERIC | NOTICE_SECURITY)) {
			remove_notice(ns, i);
			return;
		}
}

static struct notices *notices_of(struct sim *s, uint32_t port)
{
	struct device_port *d = device_port(s, port);

	if (!d->notices)
		d->notices = xcalloc(1, sizeof(*d->notices));
	return d->notices;
}

void notice_raise(struct sim *s, uint32_t port, unsigned type, unsigned trap,
		  const uint8_t details[NOTICE_DETAILS_SIZE])
{
	struct notices *ns = notices_of(s, port);
	uint8_t data[SMP_DATA_SIZE] = { [NOTICE_GENERIC_TYPE] = (uint8_t)(NOTICE_GENERIC | type) };
	struct notice *notice;
	bool at_once;

	data[NOTICE_PRODUCER + 2] = node_of(s->f, port)->type;
	put_be16(data + NOTICE_TRAP, (uint16_t)trap);
	memcpy(data + NOTICE_DETAILS, details, NOTICE_DETAILS_SIZE);
	notice = find_notice(ns, data);
	at_once = type != NOTICE_SECURITY || !ns->timer;
	if (!notice && ns->n == NOTICES_MAX && type != NOTICE_SECURITY)
		forget_security(ns);
	if (!notice && ns->n < NOTICES_MAX) {
		notice = &ns->queue[ns->n++];
		memcpy(notice->data, data, sizeof(data));
	} else if (!notice || type == NOTICE_SECURITY) {
		return;
	}
	notice->sends_left = node_of(s->f, port)->profile->true_scale ? 1 : TRAP_SENDS;
	if (at_once)
		send_trap(s, port, notice);
	if (!ns->timer)
		arm(s, port, ns);
}

void notice_repress(struct sim *s, uint32_t port, const uint8_t *data)
{
	struct notices *ns = notices_of(s, port);
	struct notice *notice = find_notice(ns, data);

	if (notice)
		remove_notice(ns, (unsigned)(notice - ns->queue));
}

void notices_drop(struct sim *s, uint32_t port)
{
	struct device_port *d = device_port(s, port);

	if (!d->notices)
		return;
	sim_cancel(s, d->notices->timer);
	free(d->notices);
	d->notices = NULL;
}

/* A Get shows the oldest notice; a Set with its toggle removes it. */
unsigned sma_notice(struct smp *q)
{
	struct notices *ns = notices_of(q->s, q->port);

	if (q->set && ns->n && get_be16(q->data + NOTICE_TOGGLE_COUNT) >> 15 == ns->toggle) {
		remove_notice(ns, 0);
		ns->toggle ^= 1;
		q->changed = true;
	}
	memset(q->data, 0, SMP_DATA_SIZE);
	q->data[NOTICE_GENERIC_TYPE] = NOTICE_GENERIC | NOTICE_EMPTY;
	if (ns->n)
		memcpy(q->data, ns->queue[0].data, SMP_DATA_SIZE);
	put_be16(q->data + NOTICE_TOGGLE_COUNT, (uint16_t)(ns->toggle << 15 | ns->n));
	return STATUS_OK;
}
