/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See liars.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "base/alloc.h"
#include "base/log.h"
#include "sm/internal.h"
#include "sm/liars.h"

static struct log_ratelimit liar_log = LOG_RATELIMIT;

/* What a device is asked again, and its answer. */
struct question {
	uint32_t node;
	uint8_t num;			/* of the port to ask by */
	struct refused_set refused;	/* attr 0: NodeInfo, else that value */
	bool sent;
	int status;
	uint8_t data[64];
};

struct liars {
	VEC(struct liar) list;
	struct map64 place;		/* key_of() -> place in list */
	struct map64 confirmed;		/* digests of NodeInfos that were the same twice */
	bool odd;			/* the light sweep is one that asks all nodes with many ports */
	size_t next_refused;		/* of the store's, where the next light sweep goes on */
	struct smp_job *job;
	struct subnet_state *state;	/* what the job is about */
	VEC(struct question) questions;
};

/* --- the list --- */

static uint64_t key_of(uint64_t guid, unsigned num, bool behind)
{
	return hash64(guid ^ hash64((uint64_t)num << 1 | behind));
}

static uint64_t key_at(const struct fabric *f, uint32_t port, bool behind)
{
	return key_of(port_node(f, port)->guid, f->ports[port].num, behind);
}

static struct liar *find(const struct liars *l, uint64_t key)
{
	uint32_t i = map64_get(&l->place, key);

	return i == MAP64_NONE ? NULL : &l->list.v[i];
}

static void forget_those(struct liars *l, bool (*gone)(const struct liar *x, const void *arg),
			 const void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->list.n; i++)
		if (!gone(&l->list.v[i], arg))
			l->list.v[kept++] = l->list.v[i];
	if (kept == l->list.n)
		return;
	l->list.n = kept;
	map64_clear(&l->place);
	for (uint32_t i = 0; i < kept; i++)
		map64_put(&l->place, key_of(l->list.v[i].guid, l->list.v[i].num,
					    l->list.v[i].behind), i);
}

/* True: that is new. */
static bool note(struct sm *sm, const struct fabric *f, uint32_t port, bool behind, bool answer,
		 const char *what)
{
	struct liars *l = sm->liars;
	struct liar *x = find(l, key_at(f, port, behind)), new = {
		.guid = port_node(f, port)->guid, .num = f->ports[port].num, .behind = behind,
		.answer = answer, .found = !answer,
	};
	char name[FABRIC_NAME_MAX];

	if (f->ports[port].num)
		fabric_port_name(f, port, name, sizeof(name));
	else
		fabric_node_name(f, f->ports[port].node, name, sizeof(name));
	snprintf(new.text, sizeof(new.text), "%s%s %s", behind ? "the device behind " : "", name, what);
	if (x && !strcmp(x->text, new.text)) {
		x->found |= new.found;
		return false;
	}
	log_limited(&liar_log, LOG_LEVEL_WARNING, "sweep", "%s", new.text);
	if (x) {
		*x = new;
	} else if (l->list.n < LIARS_MAX) {
		map64_put(&l->place, key_at(f, port, behind), (uint32_t)l->list.n);
		*vec_push(&l->list) = new;
	}
	return true;
}

bool liars_note(struct sm *sm, const struct fabric *f, uint32_t port, bool behind,
		const char *fmt, ...)
{
	char what[sizeof(((struct liar *)0)->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return note(sm, f, port, behind, true, what);
}

static bool is_at(const struct liar *x, const void *arg)
{
	const struct liar *y = arg;

	return x->guid == y->guid && x->num == y->num && x->behind == y->behind;
}

void liars_clear(struct sm *sm, const struct fabric *f, uint32_t port, bool behind)
{
	const struct liar *x = find(sm->liars, key_at(f, port, behind));
	struct liar copy;

	if (!x || !x->answer)
		return;
	copy = *x;
	forget_those(sm->liars, is_at, &copy);
}

bool liars_know(const struct sm *sm, const struct fabric *f, uint32_t port, bool behind)
{
	return sm->liars->list.n && find(sm->liars, key_at(f, port, behind));
}

const struct liar *liars_at(const struct sm *sm, size_t i)
{
	return i < sm->liars->list.n ? &sm->liars->list.v[i] : NULL;
}

/* --- what does not fit in a fabric --- */

static bool is_one_bit(unsigned v)
{
	return v && !(v & (v - 1));
}

#define PHYS_STATE_MAX 7	/* PortPhysicalState: Phy Test (14.2.5.6) */
/* The most of a code that IBA defines for MTUs and numbers of VLs. */
#define CODE_MAX 5

static unsigned field(const struct fabric_port *p, enum MAD_FIELDS which)
{
	return mad_get_field((uint8_t *)(uintptr_t)p->info, 0, which);	/* libibmad only reads */
}

/* PortInfo of a port whose link is up. */
static bool link_is_odd(const struct fabric_port *p, char *what, size_t size)
{
	static const struct {
		enum MAD_FIELDS field;
		const char *name;
	} codes[] = {
		{ IB_PORT_MTU_CAP_F, "MTUCap" }, { IB_PORT_VL_CAP_F, "VLCap" },
		{ IB_PORT_NEIGHBOR_MTU_F, "NeighborMTU" }, { IB_PORT_OPER_VLS_F, "OperationalVLs" },
	};
	unsigned width = field(p, IB_PORT_LINK_WIDTH_ACTIVE_F);
	unsigned speed = field(p, IB_PORT_LINK_SPEED_ACTIVE_F);

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		unsigned v = field(p, codes[i].field);

		/* the last two are to be written first */
		if (v <= CODE_MAX && (v || (i >= 2 && p->state < IB_PORT_ACTIVE_S)))
			continue;
		snprintf(what, size, "says %s %u, which there is not", codes[i].name, v);
		return true;
	}
	if (!is_one_bit(width))
		snprintf(what, size, "says LinkWidthActive %u, which is no width", width);
	else if (speed ? !is_one_bit(speed) : !ib_ext_active(p->info))
		snprintf(what, size, "says LinkSpeedActive %u, which is no speed", speed);
	else
		return false;
	return true;
}

static bool port_is_odd(const struct fabric *f, uint32_t port, char *what, size_t size)
{
	const struct fabric_port *p = &f->ports[port];
	unsigned state = field(p, IB_PORT_STATE_F), phys = field(p, IB_PORT_PHYS_STATE_F);

	if (state < IB_PORT_DOWN_S || state > IB_PORT_ACTIVE_S)
		snprintf(what, size, "says PortState %u, which there is not", state);
	else if (p->num && (!phys || phys > PHYS_STATE_MAX))
		snprintf(what, size, "says PortPhysicalState %u, which there is not", phys);
	else if (p->peer != FABRIC_NONE && p->state < IB_PORT_INIT_S &&
		 f->ports[p->peer].state >= IB_PORT_INIT_S)
		snprintf(what, size, "says that its link is down, and its other end that it is up");
	else if (port_is_end(f, port) && p->state >= IB_PORT_ARMED_S && p->lid > IB_LID_UCAST_MAX)
		snprintf(what, size, "says LID %u, which no port can have", p->lid);
	else
		return p->num && p->peer != FABRIC_NONE && p->state >= IB_PORT_INIT_S &&
		       link_is_odd(p, what, size);
	return true;
}

static bool switch_is_odd(const struct fabric_switch *s, char *what, size_t size)
{
	if (!s->lft_cap || s->lft_cap > IB_LID_MCAST_FIRST)
		snprintf(what, size, "says LinearFDBCap %u, which no switch can have", s->lft_cap);
	else if (s->lft_top >= s->lft_cap)
		snprintf(what, size, "says LinearFDBTop %u and LinearFDBCap %u", s->lft_top, s->lft_cap);
	else
		return false;
	return true;
}

static bool was_not_found(const struct liar *x, const void *arg)
{
	const struct fabric *f = arg;
	uint32_t node = map64_get(&f->node_by_guid, x->guid), port;

	if (!x->answer)
		return !x->found;
	if (node == MAP64_NONE || x->num > f->nodes[node].nports)
		return true;
	port = f->nodes[node].port0 + x->num;
	/* nobody is behind it */
	return x->behind && f->ports[port].state < IB_PORT_INIT_S;
}

/* It has the port GUID of another, and only one of the two can be right. */
static void note_duplicate(struct sm *sm, const struct fabric *f, uint32_t port)
{
	uint32_t first = fabric_find_port(f, f->ports[port].guid), peer = f->ports[port].peer;
	char name[FABRIC_NAME_MAX], what[192];

	if (peer == FABRIC_NONE)
		return;
	if (first == FABRIC_NONE)
		snprintf(what, sizeof(what), "says port GUID 0");
	else
		snprintf(what, sizeof(what), "says the port GUID of %s",
			 fabric_port_name(f, first, name, sizeof(name)));
	note(sm, f, peer, true, false, what);
	if (first != FABRIC_NONE && f->ports[first].peer != FABRIC_NONE && first != f->self)
		note(sm, f, f->ports[first].peer, true, false, "says a port GUID that another says, too");
}

void liars_look(struct sm *sm)
{
	const struct fabric *f = sm->published->f;
	struct liars *l = sm->liars;
	char what[192];

	for (size_t i = 0; i < l->list.n; i++)
		l->list.v[i].found = false;
	for (uint32_t i = 0; i < f->n_ports; i++) {
		if (!f->ports[i].present)
			continue;
		if (port_is_odd(f, i, what, sizeof(what)))
			note(sm, f, i, false, false, what);
		if (f->ports[i].num && port_is_end(f, i) &&
		    fabric_find_port(f, f->ports[i].guid) != i)
			note_duplicate(sm, f, i);
	}
	for (uint32_t i = 0; i < f->n_switches; i++)
		if (switch_is_odd(&f->switches[i], what, sizeof(what)))
			note(sm, f, f->nodes[f->switches[i].node].port0, false, false, what);
	forget_those(l, was_not_found, f);
}

/* --- asking again --- */

/* All of NodeInfo but for LocalPortNum, which is that of the way. */
#define NODE_INFO_SAME	36

static uint64_t node_digest(const struct fabric_node *n)
{
	return hash_bytes(n->info, NODE_INFO_SAME, 0);
}

static void ask_nodes(struct liars *l, const struct fabric *f)
{
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct fabric_node *n = &f->nodes[i];

		if (map64_get(&l->confirmed, node_digest(n)) == MAP64_NONE ||
		    (l->odd && n->nports > 2))
			*vec_push(&l->questions) = (struct question){
				.node = i, .num = node_is_switch(n) ? 0 : n->local_port,
			};
	}
}

/* The port by which a node is asked for that attribute. */
static unsigned port_of(const struct fabric *f, uint32_t node, const struct refused_set *r)
{
	if (node_is_switch(&f->nodes[node]))
		return 0;
	return r->attr == UMAD_SM_ATTR_PORT_INFO ? r->mod & 0xff : f->nodes[node].local_port;
}

static bool can_be_read(uint16_t attr)
{
	return attr == UMAD_SM_ATTR_PORT_INFO || attr == UMAD_SM_ATTR_PKEY_TABLE ||
	       attr == UMAD_SM_ATTR_SLVL_TABLE || attr == UMAD_SM_ATTR_VL_ARB_TABLE ||
	       attr == UMAD_SM_ATTR_LINEAR_FT || attr == UMAD_SM_ATTR_MCAST_FT;
}

static void ask_kept(struct sm *sm, const struct fabric *f)
{
	const struct refusals *all = store_refusals(sm->store);
	struct liars *l = sm->liars;
	const struct refused_set *r;
	unsigned asked = 0;

	mad_hold(sm->mad);	/* a job of multicast or aliases may add to them */
	while (asked < ASK_AGAIN_MAX && (r = refusals_at(all, l->next_refused++))) {
		uint32_t node = map64_get(&f->node_by_guid, r->guid);

		if (node == MAP64_NONE || refusal_by_status(r) || !can_be_read(r->attr))
			continue;
		*vec_push(&l->questions) = (struct question){
			.node = node, .num = (uint8_t)port_of(f, node, r), .refused = *r,
		};
		asked++;
	}
	if (asked < ASK_AGAIN_MAX)
		l->next_refused = 0;
	mad_release(sm->mad);
}

static bool next(void *arg, uint32_t i, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct question *q = &sm->liars->questions.v[i];
	const struct fabric *f = sm->liars->state->f;

	*cookie = i;
	if (q->sent || mkey_is_foreign(sm, f, q->node))
		return false;
	q->sent = true;
	*s = (struct smp){ .method = SMP_GET, .attr = UMAD_SM_ATTR_NODE_INFO };
	if (q->refused.attr) {
		s->attr = q->refused.attr;
		s->mod = s->attr == UMAD_SM_ATTR_PORT_INFO ?
			 port_info_modifier(f, q->node, q->refused.mod & 0xff) : q->refused.mod;
	}
	return mkey_route(sm, f, q->node, q->num, s);
}

static void done(void *arg, uint32_t i, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct question *q = &sm->liars->questions.v[i];

	(void)cookie;
	q->status = status ? status : 1;
	if (!status)
		q->status = 0;
	memcpy(q->data, s->data, sizeof(q->data));
}

static uint64_t digest_of(struct sm *sm, const struct question *q)
{
	const struct subnet_state *st = sm->liars->state;
	uint32_t port = st->f->nodes[q->node].port0 + (q->refused.mod & 0xff);
	struct want_env e = { .plan = st->plan, .sm_lid = state_own_lid(st),
			      .m_key = mkey_ours(sm), .tables_written = true,
			      .refused = store_refusals(sm->store) };

	if (q->refused.attr == UMAD_SM_ATTR_PORT_INFO)
		return port_info_digest(&e, port, q->data);
	return hash_bytes(q->data, q->refused.attr == UMAD_SM_ATTR_SLVL_TABLE ? 8 : 64, 0);
}

/* What a device was said to keep is not what it has. */
static bool take_kept(struct sm *sm, const struct question *q)
{
	const struct fabric *f = sm->liars->state->f;
	uint64_t guid = f->nodes[q->node].guid;

	if (digest_of(sm, q) == q->refused.got)
		return false;
	mad_hold(sm->mad);
	refused_taken(sm, guid, q->refused.attr, q->refused.mod);
	map64_put(&sm->doubtful, guid, 1);
	mad_release(sm->mad);
	sm_suspect(sm, &(struct suspect){ .guid = guid, .changed = true, .unasked = true });
	return true;
}

/* The port that leads to a node, as its directed route has it; FABRIC_NONE: it is our own. */
static uint32_t near_port(const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];

	return n->hops ? f->ports[n->port0 + n->local_port].peer : FABRIC_NONE;
}

static bool take_node(struct sm *sm, const struct question *q)
{
	const struct fabric *f = sm->liars->state->f;
	const struct fabric_node *n = &f->nodes[q->node];
	uint32_t near = near_port(f, q->node);

	if (!memcmp(q->data, n->info, NODE_INFO_SAME)) {
		map64_put(&sm->liars->confirmed, node_digest(n), 1);
		return false;
	}
	if (near == FABRIC_NONE)
		return false;
	liars_note(sm, f, near, true, "does not say the same twice: node GUID 0x%016llx with %u ports, "
		   "then 0x%016llx with %u", (unsigned long long)n->guid, n->nports,
		   (unsigned long long)mad_get_field64((uint8_t *)(uintptr_t)q->data, 0, IB_NODE_GUID_F),
		   mad_get_field((uint8_t *)(uintptr_t)q->data, 0, IB_NODE_NPORTS_F));
	return true;
}

/* The near ends of what is on the list. */
static bool suspect_listed(struct sm *sm)
{
	for (size_t i = 0; i < sm->liars->list.n; i++)
		sm_suspect(sm, &(struct suspect){ .guid = sm->liars->list.v[i].guid, .ends = true,
						  .unasked = true });
	return sm->liars->list.n;
}

static void end(struct liars *l)
{
	l->job = NULL;
	state_unref(l->state);
	l->state = NULL;
	l->questions.n = 0;
}

static void finished(void *arg)
{
	struct sm *sm = arg;
	struct liars *l = sm->liars;
	bool any = false;

	for (size_t i = 0; i < l->questions.n; i++) {
		const struct question *q = &l->questions.v[i];

		if (!q->sent || q->status)
			continue;
		any |= q->refused.attr ? take_kept(sm, q) : take_node(sm, q);
	}
	if (l->confirmed.n > 2 * l->state->f->n_nodes + LIARS_MAX)
		map64_clear(&l->confirmed);
	end(l);
	any |= suspect_listed(sm);
	if (any)
		sm_want_sweep(sm, SWEEP_LOCAL, "devices that said what does not fit");
}

static const struct smp_job_ops ops = { next, done, finished };

void liars_ask(struct sm *sm)
{
	struct liars *l = sm->liars;

	if (l->job)
		return;
	l->state = state_ref(sm->published);
	l->odd = !l->odd;
	ask_nodes(l, l->state->f);
	ask_kept(sm, l->state->f);
	for (size_t i = 0; i < l->questions.n; i++)
		l->questions.v[i].status = 1;	/* until it is answered */
	if (l->questions.n)
		l->job = smp_job_start(sm->mad, (uint32_t)l->questions.n, &ops, sm);
	else
		finished(sm);
}

void liars_stop(struct sm *sm)
{
	struct liars *l = sm->liars;

	if (l->job)
		smp_job_cancel(l->job);
	end(l);
}

void liars_new(struct sm *sm)
{
	sm->liars = xcalloc(1, sizeof(*sm->liars));
	map64_init(&sm->liars->place, 16);
	map64_init(&sm->liars->confirmed, 16);
}

void liars_free(struct sm *sm)
{
	liars_stop(sm);
	vec_free(&sm->liars->list);
	vec_free(&sm->liars->questions);
	map64_free(&sm->liars->place);
	map64_free(&sm->liars->confirmed);
	free(sm->liars);
}
