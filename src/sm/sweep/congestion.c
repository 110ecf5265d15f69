/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads congestion control (annex A10) that another manager set up.
 *
 * Under congestion control switches mark packets on growing queues, and adapters slow down on the
 * SLs whose packets come back marked.  It is read and reported but never changed: no route or path
 * depends on it, and its values suit the traffic of a site.
 *
 * Each switch, and each Active port of an adapter, is asked once, after the first state that
 * contains it is published; those that reported something are asked again after a full sweep.  A
 * port that refused or did not answer is not asked again while it is in the fabric.  A device is
 * silent if it has no agent for the class, and also if a CC_Key with its protect bit is set; the
 * kind of the device tells which, where it is known.
 *
 * All of it runs in the loop's thread.
 */
#include <infiniband/mad.h>
#include <infiniband/umad_types.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "sm/sm_internal.h"
#include "sm/sweep/congestion.h"
#include "sm/sweep/reading.h"

#define CLASS_VERSION	2
#define WINDOW		8		/* requests outstanding */
#define TIMEOUT_MS	500
#define TRIES		2
#define AGAIN_US	10000		/* retry if mad/ had no room for a request */
#define GSI_QP		1

#define OFF_STATUS	4
#define OFF_ATTR	16
#define OFF_MOD		20
#define OFF_DATA	64		/* CongestionControlManagementData */
/* SwitchCongestionSetting (A10.4.3.6): offset of the threshold, in the high half */
#define THRESHOLD_AT	68
#define ELEMENTS	48 /* per MAD of SwitchPortCongestionSetting: 4 bytes each, 32 or 48 of them */
#define ELEMENT_PORTS	32
#define ENTRIES_AT	4 /* CACongestionSetting (A10.4.3.8): offset of the entries, 8 bytes each */

/* What a port reported, packed in one number for a map. */
enum said { SAID_LACKS = 1, SAID_NOTHING, SAID_SETTINGS };
#define SAID(x)		((x) & 3u)
#define MARKS		(1u << 2)	/* a switch that marks packets at one of its ports */
#define SLS(x)		((uint16_t)((x) >> 16))	/* SLs on which an adapter port slows down */

struct question {
	struct congestion *c;
	bool busy;
	uint32_t port;
	uint16_t attr;
	uint32_t block;
	uint32_t found;		/* result of the earlier questions to the port */
};

struct congestion {
	struct sm *sm;
	struct map64 said;		/* by port GUID: packed report */
	struct subnet_state *state;	/* the state whose ports are asked, or NULL */
	uint32_t next;			/* next port to ask */
	unsigned outstanding;
	uint64_t answers;
	bool again, again_full;		/* another state was published meanwhile; by a full sweep */
	struct timer *go;
	struct question questions[WINDOW];
	struct sm_congestion sum;
	struct sm_congestion logged;
};

static void step(void *arg);

/* --- which ports are asked --- */

/*
 * Kinds of adapters whose firmware answers the class; of switches, those with adaptive routing.
 * ibsim uses their device ids but has no such agent.
 */
static bool is_known_to_have_it(const struct fabric *f, uint32_t port)
{
	static const struct device_range adapters[] = {
		{ 0x1003, 0x1024 }, { 0xa2d2, 0xa2dc },		/* ConnectX-3 to -8, BlueField */
	};
	const struct fabric_node *n = port_node(f, port);

	if (!(f->ports[port].capmask & IB_CAP_SYSTEM_IMAGE))
		return false;
	return node_is_switch(n) ? adaptive_is_known(n) :
	       node_is_one_of(n, adapters, ARRAY_SIZE(adapters));
}

static bool is_there(const struct subnet_state *s, uint32_t port)
{
	const struct fabric_node *n = port_node(s->f, port);

	return port_is_end(s->f, port) && s->plan->lid[port] && n->type != IB_NODE_ROUTER_T &&
	       (node_is_switch(n) || s->f->ports[port].state == IB_PORT_ACTIVE_S);
}

static bool is_to_ask(const struct congestion *c, uint32_t port)
{
	return is_there(c->state, port) &&
	       map64_get(&c->said, c->state->f->ports[port].guid) == MAP64_NONE;
}

/* --- answers --- */

/* The element of a port is valid, sets marking parameters, and has a threshold. */
static bool element_marks(const uint8_t *element)
{
	return (element[0] & 0xc0) == 0x80 && element[0] & 0x0f;
}

static uint16_t slow_sls(const uint8_t *data)
{
	uint16_t sls = 0;

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		const uint8_t *entry = data + ENTRIES_AT + sl * 8;

		/* without CCTI_Increase and CCTI_Min no packet is ever delayed */
		if (entry[2] || entry[4])
			sls |= (uint16_t)(1u << sl);
	}
	return sls;
}

/*
 * ibsim answers requests of any class with what its buffer still holds.  An agent for the class reports
 * its versions in ClassPortInfo (13.4.8.1), and version 0 does not exist.
 */
static bool is_class_port_info(const uint8_t *data)
{
	return data[0] == UMAD_BASE_VERSION && data[1];
}

/* Takes the answer; true: q has become a further question to the same port. */
static bool take(struct question *q, const uint8_t *data)
{
	const struct fabric *f = q->c->state->f;

	switch (q->attr) {
	case UMAD_ATTR_CLASS_PORT_INFO:
		if (!is_class_port_info(data)) {
			q->found = SAID_LACKS;
			return false;
		}
		q->attr = node_is_switch(port_node(f, q->port)) ?
			  IB_CC_ATTR_SWITCH_CONGESTION_SETTING : IB_CC_ATTR_CA_CONGESTION_SETTING;
		return true;
	case IB_CC_ATTR_SWITCH_CONGESTION_SETTING:
		if (data[THRESHOLD_AT] >> 4) {
			q->found |= MARKS;
			return false;
		}
		q->attr = IB_CC_ATTR_SWITCH_PORT_CONGESTION_SETTING;
		return true;
	case IB_CC_ATTR_SWITCH_PORT_CONGESTION_SETTING:
		for (unsigned i = 0; i < ELEMENTS; i++)
			if (element_marks(data + 4 * (size_t)i))
				q->found |= MARKS;
		return !(q->found & MARKS) &&
		       ++q->block <= port_node(f, q->port)->nports / ELEMENT_PORTS;
	case IB_CC_ATTR_CA_CONGESTION_SETTING:
		q->found |= (uint32_t)slow_sls(data) << 16;
		q->attr = IB_CC_ATTR_CONGESTION_CONTROL_TABLE;
		return SLS(q->found);
	default:
		/* CCTI_Limit 0: the table has only its first entry, which is no delay */
		if (!get_be16(data))
			q->found &= 0xffff;
		return false;
	}
}

static bool ask(struct question *q);

static void on_answer(void *arg, const uint8_t *mad, size_t len)
{
	struct question *q = arg;
	struct congestion *c = q->c;
	unsigned status = mad ? get_be16(mad + OFF_STATUS) : 0;
	bool first = !SAID(q->found);

	(void)len;
	q->busy = false;
	c->outstanding--;
	c->answers += mad != NULL;
	if (mad && !status) {
		q->found = (q->found & ~3u) | SAID_SETTINGS;
		if (take(q, mad + OFF_DATA) && ask(q))
			return;
	} else if (first) {
		q->found = mad ? SAID_LACKS : SAID_NOTHING;
	}
	map64_put(&c->said, c->state->f->ports[q->port].guid, q->found);
	timer_set(c->go, 0, 0);
}

/* --- questions --- */

/* False: mad/ has no room now. */
static bool ask(struct question *q)
{
	struct congestion *c = q->c;
	const struct policy *p = c->state->plan->policy;
	struct mad_address to = {
		.lid = c->state->plan->lid[q->port], .qpn = GSI_QP,
		.sl = p->levels[p->default_level].sl,
	};
	uint8_t mad[256] = { UMAD_BASE_VERSION, IB_CC_CLASS, CLASS_VERSION, UMAD_METHOD_GET };

	put_be16(mad + OFF_ATTR, q->attr);
	put_be32(mad + OFF_MOD, q->block);
	q->busy = mad_request(c->sm->mad, &to, mad, TIMEOUT_MS, TRIES, on_answer, q);
	c->outstanding += q->busy;
	return q->busy;
}

/* Fills the window.  False: mad/ had no room. */
static bool ask_more(struct congestion *c)
{
	const struct fabric *f = c->state->f;

	for (unsigned i = 0; i < WINDOW; i++) {
		struct question *q = &c->questions[i];

		if (q->busy)
			continue;
		while (c->next < f->n_ports && !is_to_ask(c, c->next))
			c->next++;
		if (c->next == f->n_ports)
			return true;
		*q = (struct question){
			.c = c, .port = c->next, .attr = UMAD_ATTR_CLASS_PORT_INFO,
		};
		if (!ask(q))
			return false;
		c->next++;
	}
	return true;
}

/* --- evaluation --- */

static struct sm_congestion add_up(const struct congestion *c)
{
	const struct subnet_state *s = c->state;
	struct sm_congestion sum = { .answers = c->answers, .same_sls = UINT16_MAX };

	for (uint32_t port = 0; port < s->f->n_ports; port++) {
		uint32_t said = is_there(s, port) ? map64_get(&c->said, s->f->ports[port].guid) :
				MAP64_NONE;
		bool sw = node_is_switch(port_node(s->f, port));

		if (said == MAP64_NONE)
			continue;
		sum.hidden += SAID(said) == SAID_NOTHING && is_known_to_have_it(s->f, port);
		if (SAID(said) != SAID_SETTINGS)
			continue;
		sum.switches += sw;
		sum.marking += sw && said & MARKS;
		sum.adapters += !sw;
		if (!sw && SLS(said)) {
			sum.slowing++;
			sum.sls |= SLS(said);
			sum.same_sls &= SLS(said);
		}
	}
	sum.same_sls &= sum.sls;
	return sum;
}

static void say(struct congestion *c)
{
	const struct sm_congestion *now = &c->sum, *before = &c->logged;
	struct buf text = { 0 };

	if (now->marking == before->marking && now->slowing == before->slowing &&
	    now->sls == before->sls && now->same_sls == before->same_sls)
		return;
	c->logged = *now;
	if (sm_congestion_text(now, &text))
		log_info("congestion", "%s", text.s);
	else
		log_info("congestion", "congestion control is off on all devices that report it");
	buf_free(&text);
}

/* Forgets ports that are gone; after a full sweep also those that reported something. */
static void prune(struct congestion *c, bool full)
{
	const struct fabric *f = c->state->f;
	struct map64 kept;

	map64_init(&kept, c->said.n);
	for (uint32_t port = 0; port < f->n_ports; port++) {
		uint32_t said = port_is_end(f, port) ? map64_get(&c->said, f->ports[port].guid) :
				MAP64_NONE;

		if (said != MAP64_NONE && !(full && SAID(said) == SAID_SETTINGS))
			map64_put(&kept, f->ports[port].guid, said);
	}
	map64_free(&c->said);
	c->said = kept;
}

static void begin(struct congestion *c, bool full)
{
	c->state = state_ref(c->sm->published);
	c->next = 0;
	c->again = c->again_full = false;
	prune(c, full);
	timer_set(c->go, 0, 0);
}

static void step(void *arg)
{
	struct congestion *c = arg;

	if (!ask_more(c)) {
		timer_set(c->go, AGAIN_US, 0);
		return;
	}
	if (c->outstanding)
		return;
	c->sum = add_up(c);
	say(c);
	state_unref(c->state);
	c->state = NULL;
	if (c->again && c->sm->published)
		begin(c, c->again_full);
}

void congestion_after_sweep(struct sm *sm)
{
	struct congestion *c = sm->congestion;

	/* after a takeover by a copy a full sweep follows */
	if (sweep_is(sm)->by_copy || !mad_can_request(sm->mad, IB_CC_CLASS))
		return;
	if (!c->state) {
		begin(c, sweep_is(sm)->reads_tables);
		return;
	}
	c->again = true;
	c->again_full |= sweep_is(sm)->reads_tables;
}

/* --- for operators --- */

void sm_congestion_sls(unsigned sls, struct buf *out)
{
	const char *before = sls & (sls - 1) ? "SLs " : "SL ";

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (sls >> sl & 1) {
			buf_printf(out, "%s%u", before, sl);
			before = ", ";
		}
}

bool sm_congestion_text(const struct sm_congestion *c, struct buf *out)
{
	if (!c->marking && !c->slowing)
		return false;
	buf_printf(out, "congestion control of another manager is on: %u of %u switches mark packets, %u "
		   "of %u adapter ports slow down", c->marking, c->switches, c->slowing,
		   c->adapters);
	if (c->slowing) {
		buf_puts(out, " what they send on ");
		sm_congestion_sls(c->sls, out);
		if (c->same_sls != c->sls)
			buf_puts(out, ", not all of them on the same");
	}
	return true;
}

struct sm_congestion congestion_sum(const struct sm *sm)
{
	const struct congestion *c = sm->congestion;
	struct sm_congestion sum = c->state ? add_up(c) : c->sum;

	sum.reading = c->state;
	return sum;
}

void congestion_new(struct sm *sm)
{
	struct congestion *c = xcalloc(1, sizeof(*c));

	c->sm = sm;
	map64_init(&c->said, 16);
	c->go = timer_new(sm->loop, step, c);
	sm->congestion = c;
}

void congestion_free(struct sm *sm)
{
	timer_free(sm->congestion->go);
	state_unref(sm->congestion->state);
	map64_free(&sm->congestion->said);
	free(sm->congestion);
}
