/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See implausible.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/backoff.h"
#include "lib/base/log.h"
#include "plan/sm_attributes.h"
#include "sm/devices/exclusions.h"
#include "sm/devices/implausible.h"
#include "sm/devices/node_names.h"
#include "sm/keys/mkey.h"
#include "sm/sm_internal.h"
#include "sm/write/refused_sets.h"
#include "sm/write/write.h"

static struct log_ratelimit implausible_log = LOG_RATELIMIT;

#define LOOKS_MAX	65536u
#define LOOK_WAIT_MAX	360u	/* light sweeps */

/* A value that light sweeps read and that differed from what sweeps know. */
struct look {
	uint32_t last;		/* digest of the last answer */
	uint16_t wait, left;	/* light sweeps between local sweeps for its sake; those still to come */
};

/* A question that is repeated, and its answer. */
struct question {
	uint32_t node;
	uint8_t num;			/* number of the port to ask by */
	uint8_t behind;			/* port that leads to the device asked; 0: the node itself is asked */
	uint16_t attr;
	uint32_t mod;
	uint64_t listed;		/* key of the list entry that it is for; 0: another reason */
	struct refused_set refused;	/* the kept value that the question is about; attr 0: none */
	bool sent;
	int status;
	uint8_t data[64];
};

struct implausible_answers {
	VEC(struct implausible_answer) list;
	struct map64 place;		/* key_of() -> index in list */
	uint64_t looked;		/* generation of the state that implausible_look() last saw */
	struct map64 confirmed;		/* digests of NodeInfos that came twice */
	struct map64 looked_at;		/* look_key() -> index in looks */
	VEC(struct look) looks;
	VEC(uint64_t) right;		/* nodes that lost entries, for implausible_next_right() */
	bool odd;			/* this light sweep asks all nodes with many ports */
	size_t next_refused;		/* index in the store's refusals where the next light sweep goes on */
	struct smp_job *job;
	struct subnet_state *state;	/* the state that the job asks about */
	VEC(struct question) questions;
};

/* --- digests of answers --- */

static uint32_t fold(uint64_t hash)
{
	uint32_t digest = (uint32_t)(hash >> 32) & INT32_MAX;

	return digest + !digest;
}

static uint64_t hash_fields(const uint8_t *data, const enum MAD_FIELDS *fields, size_t n)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < n; i++)	/* libibmad only reads it */
		hash = hash64(hash ^ mad_get_field((uint8_t *)(uintptr_t)data, 0, fields[i]));
	return hash;
}

uint32_t implausible_digest(uint16_t attr, const uint8_t *data)
{
	static const enum MAD_FIELDS of_port[] = {
		IB_PORT_STATE_F, IB_PORT_PHYS_STATE_F, IB_PORT_LID_F, IB_PORT_MTU_CAP_F,
		IB_PORT_VL_CAP_F, IB_PORT_NEIGHBOR_MTU_F, IB_PORT_OPER_VLS_F,
		IB_PORT_LINK_WIDTH_ACTIVE_F, IB_PORT_LINK_SPEED_ACTIVE_F,
	};
	static const enum MAD_FIELDS of_switch[] = {
		IB_SW_LINEAR_FDB_CAP_F, IB_SW_LINEAR_FDB_TOP_F, IB_SW_MCAST_FDB_CAP_F,
		IB_SW_PARTITION_ENFORCE_CAP_F,
	};

	if (attr == UMAD_SM_ATTR_PORT_INFO)
		return fold(hash_fields(data, of_port, ARRAY_SIZE(of_port)) ^ ib_ext_active(data));
	if (attr == UMAD_SM_ATTR_SWITCH_INFO)
		return fold(hash_fields(data, of_switch, ARRAY_SIZE(of_switch)));
	return fold(hash_bytes(data, 40, 0));		/* NodeInfo with LocalPortNum */
}

uint32_t implausible_digest_error(int status)
{
	return fold(hash64((uint64_t)status));
}

/* Combines the digests of several answers, in order. */
static uint32_t add_digest(uint32_t sum, uint32_t digest)
{
	return sum ? fold(hash64((uint64_t)sum << 32 | digest)) : digest;
}

/* --- the list --- */

static uint64_t key_of(const struct implausible_answer *x)
{
	return hash64(x->guid ^ hash64((uint64_t)x->num << 2 | x->behind << 1 | x->answer));
}

static uint64_t key_at(const struct fabric *f, uint32_t port, bool behind, bool answer)
{
	return key_of(&(struct implausible_answer){ .guid = port_node(f, port)->guid, .num = f->ports[port].num,
				      .behind = behind, .answer = answer });
}

static struct implausible_answer *find(const struct implausible_answers *l, uint64_t key)
{
	uint32_t i = map64_get(&l->place, key);

	return i == MAP64_NONE ? NULL : &l->list.v[i];
}

static void forget_those(struct implausible_answers *l,
			 bool (*gone)(const struct implausible_answer *x, const void *arg),
			 const void *arg)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->list.n; i++) {
		const struct implausible_answer *x = &l->list.v[i];

		if (!gone(x, arg))
			l->list.v[kept++] = *x;
		else if (!x->behind && !x->unsure && l->right.n < IMPLAUSIBLE_MAX)
			*vec_push(&l->right) = x->guid;
	}
	if (kept == l->list.n)
		return;
	l->list.n = kept;
	map64_clear(&l->place);
	for (uint32_t i = 0; i < kept; i++)
		map64_put(&l->place, key_of(&l->list.v[i]), i);
}

/* "leaf 3/P7", "leaf 3", "host 9, behind leaf 3/P7,": the port or device that gave the answer. */
static void name_implausible(const struct fabric *f, uint32_t port, bool behind, struct buf *out)
{
	uint32_t peer = behind ? f->ports[port].peer : FABRIC_NONE;
	char near[FABRIC_NAME_MAX], name[FABRIC_NAME_MAX];

	if (f->ports[port].num)
		fabric_port_name(f, port, near, sizeof(near));
	else
		fabric_node_name(f, f->ports[port].node, near, sizeof(near));
	if (peer != FABRIC_NONE)
		buf_printf(out, "%s, behind %s,",
			   fabric_node_name(f, f->ports[peer].node, name, sizeof(name)), near);
	else
		buf_printf(out, "%s%s", behind ? "the device behind " : "", near);
}

static void tell(const struct implausible_answer *x)
{
	log_limited(&implausible_log, LOG_LEVEL_WARNING, "sweep", "%s", x->text);
}

/*
 * Adds or updates an entry.  as: its behind, answer, changes and unsure, and what sweeps know.
 * True: the entry is new.
 */
static bool note(struct sm *sm, const struct fabric *f, uint32_t port, const struct implausible_answer *as,
		 const char *what)
{
	struct implausible_answers *l = sm->devices.implausible;
	struct implausible_answer *x = find(l, key_at(f, port, as->behind, as->answer)), new = *as;
	struct buf text = { 0 };

	names_doubt(sm, port_node(f, port)->guid, f->ports[port].num, as->behind);
	/* for an entry whose answers change, no answer is news */
	if (x && as->again.looked)
		x->again.looked = as->again.looked;
	if (x && x->changes)
		return false;
	new.guid = port_node(f, port)->guid;
	new.num = f->ports[port].num;
	new.found = !as->answer;
	name_implausible(f, port, as->behind, &text);
	snprintf(new.text, sizeof(new.text), "%s %s", text.s, what);
	buf_free(&text);
	if (x && !strcmp(x->text, new.text)) {
		x->found |= new.found;
		return false;
	}
	if (!new.unsure)
		tell(&new);
	if (x) {
		new.again = x->again;
		*x = new;
	} else if (l->list.n < IMPLAUSIBLE_MAX) {
		map64_put(&l->place, key_of(&new), (uint32_t)l->list.n);
		*vec_push(&l->list) = new;
	}
	return true;
}

bool implausible_note(struct sm *sm, const struct fabric *f, uint32_t port, bool behind, uint32_t said,
		      const char *fmt, ...)
{
	char what[sizeof(((struct implausible_answer *)0)->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return note(sm, f, port, &(struct implausible_answer){ .behind = behind, .answer = true,
						 .again.looked = said }, what);
}

static bool is_at(const struct implausible_answer *x, const void *arg)
{
	const struct implausible_answer *y = arg;

	return x->guid == y->guid && x->num == y->num && x->behind == y->behind &&
	       x->answer == y->answer;
}

void implausible_clear(struct sm *sm, const struct fabric *f, uint32_t port, bool behind)
{
	struct implausible_answers *l = sm->devices.implausible;
	const struct implausible_answer *x = l->list.n ? find(l, key_at(f, port, behind, true)) : NULL;
	struct implausible_answer copy;

	if (!x || x->changes)
		return;
	copy = *x;
	forget_those(sm->devices.implausible, is_at, &copy);
}

bool implausible_know(const struct sm *sm, const struct fabric *f, uint32_t port, bool behind)
{
	return sm->devices.implausible->list.n &&
		(find(sm->devices.implausible, key_at(f, port, behind, true)) ||
				     find(sm->devices.implausible, key_at(f, port, behind, false)));
}

uint64_t implausible_next_right(struct sm *sm)
{
	struct implausible_answers *l = sm->devices.implausible;

	return l->right.n ? l->right.v[--l->right.n] : 0;
}

const struct implausible_answer *implausible_list(const struct sm *sm, size_t *n)
{
	*n = sm->devices.implausible->list.n;
	return sm->devices.implausible->list.v;
}

/* --- implausible values in a fabric --- */

static bool is_one_bit(unsigned v)
{
	return v && !(v & (v - 1));
}

#define PHYS_STATE_MAX 7	/* PortPhysicalState: Phy Test (14.2.5.6) */
/* The greatest code that IBA defines for MTUs and numbers of VLs. */
#define CODE_MAX 5

static unsigned field(const struct fabric_port *p, enum MAD_FIELDS which)
{
	return mad_get_field((uint8_t *)(uintptr_t)p->info, 0, which);	/* libibmad only reads it */
}

/* Checks PortInfo of a port whose link is up. */
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

		/* sweeps write the last two before the link is Active */
		if (v <= CODE_MAX && (v || (i >= 2 && p->state < IB_PORT_ACTIVE_S)))
			continue;
		snprintf(what, size, "reports %s %u, which does not exist", codes[i].name, v);
		return true;
	}
	if (!is_one_bit(width))
		snprintf(what, size, "reports LinkWidthActive %u, which is not a width", width);
	else if (speed ? !is_one_bit(speed) : !ib_ext_active(p->info))
		snprintf(what, size, "reports LinkSpeedActive %u, which is not a speed", speed);
	else
		return false;
	return true;
}

static bool port_is_odd(const struct fabric *f, uint32_t port, char *what, size_t size)
{
	const struct fabric_port *p = &f->ports[port];
	unsigned state = field(p, IB_PORT_STATE_F), phys = field(p, IB_PORT_PHYS_STATE_F);

	if (state < IB_PORT_DOWN_S || state > IB_PORT_ACTIVE_S)
		snprintf(what, size, "reports PortState %u, which does not exist", state);
	else if (p->num && (!phys || phys > PHYS_STATE_MAX))
		snprintf(what, size, "reports PortPhysicalState %u, which does not exist", phys);
	else if (port_is_end(f, port) && p->state >= IB_PORT_ARMED_S && p->lid > IB_LID_UCAST_MAX)
		snprintf(what, size, "reports LID %u, which no port can have", p->lid);
	else
		return p->num && p->peer != FABRIC_NONE && p->state >= IB_PORT_INIT_S &&
		       link_is_odd(p, what, size);
	return true;
}

/*
 * An SMP has crossed the link, which one end or both report down.  That is no contradiction if the
 * link went down or came up while its ends were read.
 */
static bool is_known_link_down(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	return p->peer != FABRIC_NONE && p->state < IB_PORT_INIT_S;
}

static bool switch_is_odd(const struct fabric_switch *s, char *what, size_t size)
{
	if (s->unread)
		return false;
	if (!s->lft_cap || s->lft_cap > IB_LID_MCAST_FIRST)
		snprintf(what, size, "reports LinearFDBCap %u, which no switch can have", s->lft_cap);
	else if (s->lft_top >= s->lft_cap)
		snprintf(what, size, "reports LinearFDBTop %u but LinearFDBCap %u", s->lft_top, s->lft_cap);
	else
		return false;
	return true;
}

/* Notes that the port has another's port GUID; only one of the two can be right. */
static void note_duplicate(struct sm *sm, const struct fabric *f, uint32_t port)
{
	uint32_t first = fabric_find_port(f, f->ports[port].guid), peer = f->ports[port].peer;
	const struct implausible_answer as = { .behind = true };
	char name[FABRIC_NAME_MAX], what[192];

	if (peer == FABRIC_NONE)
		return;
	if (first == FABRIC_NONE)
		snprintf(what, sizeof(what), "reports port GUID 0");
	else
		snprintf(what, sizeof(what), "reports the port GUID of %s",
			 fabric_port_name(f, first, name, sizeof(name)));
	note(sm, f, peer, &as, what);
	if (first != FABRIC_NONE && f->ports[first].peer != FABRIC_NONE && first != f->self)
		note(sm, f, f->ports[first].peer, &as, "reports a port GUID that another device reports as "
				"well");
}

static void look_at_port(struct sm *sm, const struct fabric *f, uint32_t port)
{
	char what[192];

	if (!f->ports[port].present)
		return;
	if (port_is_odd(f, port, what, sizeof(what)))
		note(sm, f, port, &(struct implausible_answer){ 0 }, what);
	else if (is_known_link_down(f, port))
		note(sm, f, port, &(struct implausible_answer){ .unsure = true },
		     f->ports[f->ports[port].peer].state >= IB_PORT_INIT_S ?
		     "reports that its link is down, but the far end reports that it is up" :
		     "reports that its link is down, as does the far end, although SMPs pass through it");
	if (f->ports[port].num && port_is_end(f, port) &&
	    fabric_find_port(f, f->ports[port].guid) != port)
		note_duplicate(sm, f, port);
}

/* Looks at a port of a node that was there before and that may have the same GUID as this port. */
static void look_for_duplicate(struct sm *sm, const struct fabric *f, uint32_t port)
{
	const struct fabric *old = sm->sweep.replaced ? sm->sweep.replaced->f : NULL;
	uint32_t before = old && port_is_end(f, port) ? fabric_find_port(old, f->ports[port].guid) :
			  FABRIC_NONE;
	uint32_t node = before == FABRIC_NONE ? FABRIC_NONE : fabric_same_node(f, port_node(old, before));

	if (node != FABRIC_NONE && node != f->ports[port].node)
		look_at_port(sm, f, f->nodes[node].port0 + old->ports[before].num);
}

static void look_at_node(struct sm *sm, const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];
	char what[192];

	for (uint32_t i = n->port0; i <= n->port0 + n->nports; i++)
		look_at_port(sm, f, i);
	if (!node_is_switch(n))
		return;
	if (switch_is_odd(&f->switches[n->sw], what, sizeof(what)))
		note(sm, f, n->port0, &(struct implausible_answer){ 0 }, what);
	else if (!f->ports[n->port0].guid)
		note(sm, f, n->port0, &(struct implausible_answer){ 0 }, "reports port GUID 0");
}

/* Looks at a node that has changed, and at what its neighbours report of the links to it. */
static void look_around(struct sm *sm, const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];

	look_at_node(sm, f, node);
	for (uint32_t i = n->port0; i <= n->port0 + n->nports; i++) {
		look_for_duplicate(sm, f, i);
		if (f->ports[i].peer != FABRIC_NONE)
			look_at_port(sm, f, f->ports[i].peer);
	}
}

/*
 * Looks at the node of an entry: the node itself, or the device behind its port.  seen: nodes, by
 * index.
 */
static void look_at_entry(struct sm *sm, const struct fabric *f, const struct implausible_answer *x, uint8_t *seen)
{
	uint32_t node = map64_get(&f->node_by_guid, x->guid), peer;

	if (node == MAP64_NONE || x->num > f->nodes[node].nports)
		return;
	peer = f->ports[f->nodes[node].port0 + x->num].peer;
	if (x->behind && peer == FABRIC_NONE)
		return;
	if (x->behind)
		node = f->ports[peer].node;
	if (!seen[node])
		look_at_node(sm, f, node);
	seen[node] = true;
}

static void look_at_changed(struct sm *sm, const struct fabric *f, const uint8_t *changed)
{
	struct implausible_answers *l = sm->devices.implausible;
	size_t before = l->list.n;
	uint8_t *seen = before ? xcalloc(f->n_nodes, 1) : NULL;

	for (size_t i = 0; i < before; i++) {
		struct implausible_answer copy = l->list.v[i];

		if (!copy.answer)
			look_at_entry(sm, f, &copy, seen);
	}
	free(seen);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (changed[i])
			look_around(sm, f, i);
}

/* For a link that is down at one end: either end may be wrong. */
static bool asks_both_ends(const struct fabric *f, const struct implausible_answer *x, uint32_t port)
{
	return !x->answer && x->num && f->ports[port].state < IB_PORT_INIT_S &&
	       f->ports[port].peer != FABRIC_NONE;
}

/* NodeInfo as the port should answer it: an adapter's has the port GUID of the port that is asked. */
static void published_node_info(const struct fabric *f, uint32_t port, uint8_t info[40])
{
	memcpy(info, port_node(f, port)->info, 40);
	mad_set_field(info, 0, IB_NODE_LOCAL_PORT_F, f->ports[port].num);
	if (!node_is_switch(port_node(f, port)))
		mad_set_field64(info, 0, IB_NODE_PORT_GUID_F, f->ports[port].guid);
}

/* The digest of the answers to ask_entry()'s questions if everything is as published. */
static uint32_t published_digest(const struct fabric *f, const struct implausible_answer *x)
{
	const struct fabric_node *n = &f->nodes[map64_get(&f->node_by_guid, x->guid)];
	uint32_t port = n->port0 + x->num, peer = f->ports[port].peer;
	uint8_t info[40];
	uint32_t sum;

	if (x->behind) {
		if (peer == FABRIC_NONE)
			return 0;
		published_node_info(f, peer, info);
		return implausible_digest(UMAD_SM_ATTR_NODE_INFO, info);
	}
	sum = implausible_digest(UMAD_SM_ATTR_PORT_INFO, f->ports[port].info);
	if (!x->num && !x->answer)
		sum = add_digest(sum, implausible_digest(UMAD_SM_ATTR_SWITCH_INFO, f->switches[n->sw].info));
	else if (asks_both_ends(f, x, port))
		sum = add_digest(sum, implausible_digest(UMAD_SM_ATTR_PORT_INFO, f->ports[peer].info));
	return sum;
}

/*
 * A discovery met no device behind the port, whose link is up, so the device of the entry was
 * silent. If it repeats its answer, that is news, and everything is discovered (contradicts()).
 */
static bool was_not_met(const struct sm *sm, const struct implausible_answer *x, const struct fabric_port *p)
{
	return x->behind && sweep_is(sm)->whole && p->peer == FABRIC_NONE &&
	       !exclusions_is_behind(sm, x->guid, x->num);
}

static bool is_no_more(const struct implausible_answer *x, const void *arg)
{
	const struct sm *sm = arg;
	const struct fabric *f = sm->published->f;
	uint32_t node = map64_get(&f->node_by_guid, x->guid), port;

	if (!x->answer)
		return !x->found;
	if (node == MAP64_NONE || x->num > f->nodes[node].nports)
		return true;
	port = f->nodes[node].port0 + x->num;
	/* no device is behind it, or the last answer is published now */
	return (x->behind && f->ports[port].state < IB_PORT_INIT_S) ||
	       (!x->changes && (x->again.looked == published_digest(f, x) ||
				was_not_met(sm, x, &f->ports[port])));
}

void implausible_look(struct sm *sm)
{
	const struct subnet_state *s = sm->published;
	struct implausible_answers *l = sm->devices.implausible;
	bool known = s->changed && s->since == l->looked;

	for (size_t i = 0; i < l->list.n; i++)
		l->list.v[i].found = false;
	if (known)
		look_at_changed(sm, s->f, s->changed);
	for (uint32_t i = 0; i < s->f->n_nodes && !known; i++)
		look_at_node(sm, s->f, i);
	forget_those(l, is_no_more, sm);
	for (size_t i = 0; i < l->list.n; i++)
		if (!l->list.v[i].answer)
			l->list.v[i].again.looked = published_digest(s->f, &l->list.v[i]);
	l->looked = s->generation;
}

/* --- asking again --- */

static uint64_t look_key(uint64_t guid, uint16_t attr, uint32_t mod)
{
	return hash64(guid ^ hash64((uint64_t)attr << 32 | mod));
}

/*
 * Takes the answer that a light sweep had (`said`) for a value that sweeps know as `known`; both
 * are digests.  True: they differ, for the first time or twice in the same way, and a local sweep
 * is due. A device that undoes Sets at once, or shows another value each time, is written to ever
 * more rarely.
 */
static bool value_is_news(struct implausible_answers *l, uint64_t key, uint32_t said, uint32_t known)
{
	uint32_t at = l->looked_at.n ? map64_get(&l->looked_at, key) : MAP64_NONE;
	struct look *k;
	bool same;

	if (at == MAP64_NONE && said == known)
		return false;
	if (at == MAP64_NONE) {
		if (l->looks.n >= LOOKS_MAX) {
			map64_clear(&l->looked_at);
			l->looks.n = 0;
		}
		at = (uint32_t)l->looks.n;
		map64_put(&l->looked_at, key, at);
		*vec_push(&l->looks) = (struct look){ .last = said };
	}
	k = &l->looks.v[at];
	same = k->last == said;
	k->last = said;
	if (said == known) {
		k->wait = k->left = 0;
		return false;
	}
	if (k->left) {
		k->left--;
		return false;
	}
	if (!same)
		return false;
	k->left = k->wait;
	k->wait = (uint16_t)backoff_next(k->wait, 1, LOOK_WAIT_MAX);
	return true;
}

bool implausible_switch_is_news(struct sm *sm, const struct fabric *f, uint32_t sw, const uint8_t *data)
{
	return value_is_news(sm->devices.implausible,
			     look_key(f->nodes[f->switches[sw].node].guid, UMAD_SM_ATTR_SWITCH_INFO, 0),
			     implausible_digest(UMAD_SM_ATTR_SWITCH_INFO, data),
			     implausible_digest(UMAD_SM_ATTR_SWITCH_INFO, f->switches[sw].info));
}

bool implausible_name_is_news(struct sm *sm, const struct fabric *f, uint32_t node, const char *said)
{
	const struct fabric_node *n = &f->nodes[node];

	return value_is_news(sm->devices.implausible, look_key(n->guid, UMAD_SM_ATTR_NODE_DESC, 0),
			     fold(hash_bytes(said, strlen(said), 1)),
			     fold(hash_bytes(n->desc, strlen(n->desc), 1)));
}

/* Bytes of NodeInfo before LocalPortNum and VendorID. */
#define NODE_INFO_SAME	36

static uint64_t node_digest(const struct fabric *f, uint32_t node)
{
	uint8_t info[40];

	published_node_info(f, f->nodes[node].port0 + f->nodes[node].local_port, info);
	return hash_bytes(info, NODE_INFO_SAME, 0);
}

/* The port that leads to a node on its directed route; FABRIC_NONE: it is our own node. */
static uint32_t near_port(const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];

	return n->hops ? f->ports[n->port0 + n->local_port].peer : FABRIC_NONE;
}

/* The device behind the node's link is on the list, and is asked for that reason. */
static bool is_listed(const struct sm *sm, const struct fabric *f, uint32_t node)
{
	uint32_t near = sm->devices.implausible->list.n ? near_port(f, node) : FABRIC_NONE;

	return near != FABRIC_NONE && implausible_know(sm, f, near, true);
}

static void ask_nodes(struct sm *sm, const struct fabric *f)
{
	struct implausible_answers *l = sm->devices.implausible;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct fabric_node *n = &f->nodes[i];

		if ((map64_get(&l->confirmed, node_digest(f, i)) == MAP64_NONE ||
		     (l->odd && (n->nports > 2 || node_is_switch(n)))) && !is_listed(sm, f, i))
			*vec_push(&l->questions) = (struct question){
				.node = i, .num = node_is_switch(n) ? 0 : n->local_port,
				.attr = UMAD_SM_ATTR_NODE_INFO,
			};
	}
}

static void ask_port(struct implausible_answers *l, const struct fabric *f, uint32_t port, uint64_t listed)
{
	const struct fabric_port *p = &f->ports[port];

	*vec_push(&l->questions) = (struct question){
		.node = p->node, .num = node_is_switch(port_node(f, port)) ? 0 : p->num,
		.attr = UMAD_SM_ATTR_PORT_INFO, .mod = port_info_modifier(f, p->node, p->num),
		.listed = listed,
	};
}

/* Adds the questions of one entry, which are adjacent. */
static void ask_entry(struct implausible_answers *l, const struct fabric *f, const struct implausible_answer *x)
{
	uint32_t node = map64_get(&f->node_by_guid, x->guid), port;
	uint64_t key = key_of(x);

	if (node == MAP64_NONE || x->num > f->nodes[node].nports)
		return;
	port = f->nodes[node].port0 + x->num;
	if (x->behind) {
		*vec_push(&l->questions) = (struct question){
			.node = node, .num = node_is_switch(&f->nodes[node]) ? 0 : x->num,
			.behind = x->num, .attr = UMAD_SM_ATTR_NODE_INFO, .listed = key,
		};
		return;
	}
	ask_port(l, f, port, key);
	if (!x->num && !x->answer)
		*vec_push(&l->questions) = (struct question){
			.node = node, .attr = UMAD_SM_ATTR_SWITCH_INFO, .listed = key,
		};
	else if (asks_both_ends(f, x, port))
		ask_port(l, f, f->ports[port].peer, key);
}

static void ask_listed(struct implausible_answers *l, const struct fabric *f)
{
	for (size_t i = 0; i < l->list.n; i++)
		ask_entry(l, f, &l->list.v[i]);
}

/* The number of the port by which a node is asked for the attribute. */
static unsigned port_of(const struct fabric *f, uint32_t node, const struct refused_set *r)
{
	if (node_is_switch(&f->nodes[node]))
		return 0;
	return r->attr == UMAD_SM_ATTR_PORT_INFO ? r->mod & 0xff : f->nodes[node].local_port;
}

/* The node still has the port: it may have fewer than when the value was remembered. */
static bool can_be_read(const struct fabric *f, uint32_t node, const struct refused_set *r)
{
	const struct fabric_node *n = &f->nodes[node];

	switch (r->attr) {
	case UMAD_SM_ATTR_PORT_INFO:
	case UMAD_SM_ATTR_VL_ARB_TABLE:
		return (r->mod & 0xff) <= n->nports;
	case UMAD_SM_ATTR_PKEY_TABLE:
		return r->mod >> 16 <= n->nports;
	case UMAD_SM_ATTR_LINEAR_FT:
		return node_is_switch(n);
	case UMAD_SM_ATTR_SLVL_TABLE:		/* only Sets can be for several ports at once */
		return r->mod <= UINT16_MAX;
	default:
		return false;
	}
}

static void ask_kept(struct sm *sm, const struct fabric *f)
{
	const struct refusals *all = store_refusals(sm->store);
	struct implausible_answers *l = sm->devices.implausible;
	const struct refused_set *r;
	unsigned asked = 0;

	mad_hold(sm->mad);	/* a job of multicast or alias GUIDs may add refusals */
	while (asked < ASK_AGAIN_MAX && (r = refusals_at(all, l->next_refused++))) {
		uint32_t node = map64_get(&f->node_by_guid, r->guid);

		if (node == MAP64_NONE || refusal_by_status(r) || !can_be_read(f, node, r))
			continue;
		*vec_push(&l->questions) = (struct question){
			.node = node, .num = (uint8_t)port_of(f, node, r), .attr = r->attr,
			.mod = r->attr == UMAD_SM_ATTR_PORT_INFO ?
			       port_info_modifier(f, node, r->mod & 0xff) : r->mod, .refused = *r,
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
	struct question *q = &sm->devices.implausible->questions.v[i];
	const struct fabric *f = sm->devices.implausible->state->f;

	*cookie = i;
	if (q->sent || mkey_is_mismatched(sm, f, q->node))
		return false;
	q->sent = true;
	*s = (struct smp){ .method = SMP_GET, .attr = q->attr, .mod = q->mod, .brief = true };
	if (!mkey_route(sm, f, q->node, q->num, s) || (q->behind && s->hops >= IB_DR_HOPS_MAX))
		return false;
	if (q->behind)		/* the route may end at another port of the switch */
		s->last_hop = q->behind;
	return true;
}

static void done(void *arg, uint32_t i, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct question *q = &sm->devices.implausible->questions.v[i];

	(void)cookie;
	q->status = status;
	memcpy(q->data, s->data, sizeof(q->data));
}

/* The port of a table, from the AttributeModifier. */
static unsigned port_of_table(const struct fabric *f, const struct question *q)
{
	unsigned shift = q->attr == UMAD_SM_ATTR_PKEY_TABLE ? 16 : 0;

	return node_is_switch(&f->nodes[q->node]) ? q->mod >> shift & 0xff : q->num;
}

/* Bytes of a table that are in use, as in want_item(). */
static size_t table_size(const struct subnet_state *st, const struct question *q)
{
	const struct fabric_node *n = &st->f->nodes[q->node];
	uint32_t port = n->port0 + port_of_table(st->f, q);

	switch (q->attr) {
	case UMAD_SM_ATTR_SLVL_TABLE:
		return IB_SL_COUNT / 2;
	case UMAD_SM_ATTR_LINEAR_FT:
		return plan_lft_entries(st->plan, n->sw, q->mod);
	case UMAD_SM_ATTR_PKEY_TABLE:
		return 2 * pkey_block_entries(st->f, port, q->mod & 0xffff);
	case UMAD_SM_ATTR_VL_ARB_TABLE:
		return 2 * vlarb_block_entries(&st->f->ports[port], q->mod >> 16);
	default:
		return sizeof(q->data);
	}
}

/* The answer's digest, comparable with refused_set.got. */
static uint64_t digest_of(struct sm *sm, const struct question *q)
{
	const struct subnet_state *st = sm->devices.implausible->state;
	uint32_t port = st->f->nodes[q->node].port0 + (q->refused.mod & 0xff);
	struct want_env e = { .plan = st->plan, .sm_lid = state_own_lid(st),
			      .m_key = mkey_ours(sm), .tables_written = true,
			      .refused = store_refusals(sm->store) };
	uint64_t digest;

	if (q->attr != UMAD_SM_ATTR_PORT_INFO)
		return hash_bytes(q->data, table_size(st, q), 0);
	return vls_fixed_digest(q->refused.mod, q->data, &digest) ? digest :
	       port_info_digest(&e, port, q->data);
}

/*
 * True: the device has another value than the one that it is remembered to keep, and a local sweep
 * is due.
 */
static bool kept_is_news(struct implausible_answers *l, const struct question *q, uint64_t guid, uint64_t digest)
{
	return value_is_news(l, look_key(guid, q->refused.attr, q->refused.mod), fold(digest),
			     fold(q->refused.got));
}

/* Takes the answer about a kept value.  True: the device does not keep that value any more. */
static bool take_kept(struct sm *sm, const struct question *q)
{
	const struct fabric *f = sm->devices.implausible->state->f;
	uint64_t guid = f->nodes[q->node].guid, digest = digest_of(sm, q);

	if (!kept_is_news(sm->devices.implausible, q, guid, digest))
		return false;
	log_debug("sweep", "0x%016" PRIx64 ": attribute 0x%04x modifier 0x%08x differs from the "
			"record", guid,
		  q->refused.attr, q->refused.mod);
	mad_hold(sm->mad);
	refused_taken(sm, guid, q->refused.attr, q->refused.mod);
	map64_put(&sm->known.doubtful, guid, 1);
	mad_release(sm->mad);
	sm_suspect(sm, &(struct suspect){ .guid = guid, .changed = true, .unasked = true });
	return true;
}

static void suspect_ends(struct sm *sm, uint64_t guid)
{
	sm_suspect(sm, &(struct suspect){ .guid = guid, .ends = true, .unasked = true });
}

enum says { SAYS_THE_SAME, SAYS_NO_PORT, SAYS_ANOTHER };

/* Compares a NodeInfo with the published one of the port's node, as far as it identifies the node. */
static enum says compare_node(const struct fabric *f, uint32_t port, const uint8_t *said)
{
	const struct fabric_node *n = port_node(f, port);
	unsigned num = mad_get_field((uint8_t *)(uintptr_t)said, 0, IB_NODE_LOCAL_PORT_F);
	uint8_t info[40];

	published_node_info(f, port, info);
	if (memcmp(said, info, NODE_INFO_SAME))
		return SAYS_ANOTHER;
	/* our own switch is asked by its port 0, and reports that */
	return num > n->nports || (!num && (n->hops || !node_is_switch(n))) ? SAYS_NO_PORT :
	       SAYS_THE_SAME;
}

/*
 * Everything else is as known, and the link stays: so it is reported, and no sweep follows.  A
 * discovery would exclude the node, with everything behind it.
 */
static void note_no_port(struct sm *sm, const struct fabric *f, uint32_t near, const uint8_t *said)
{
	implausible_note(sm, f, near, true, implausible_digest(UMAD_SM_ATTR_NODE_INFO, said),
			 "reports LocalPortNum %u but has %u ports",
			 mad_get_field((uint8_t *)(uintptr_t)said, 0, IB_NODE_LOCAL_PORT_F),
			 mad_get_field((uint8_t *)(uintptr_t)said, 0, IB_NODE_NPORTS_F));
}

static bool take_node(struct sm *sm, const struct question *q)
{
	const struct fabric *f = sm->devices.implausible->state->f;
	const struct fabric_node *n = &f->nodes[q->node];
	uint32_t near = near_port(f, q->node);
	enum says says = compare_node(f, n->port0 + n->local_port, q->data);
	char what[160];

	if (says == SAYS_THE_SAME)
		map64_put(&sm->devices.implausible->confirmed, node_digest(f, q->node), 1);
	if (says == SAYS_NO_PORT && near != FABRIC_NONE)
		note_no_port(sm, f, near, q->data);
	if (says != SAYS_ANOTHER || near == FABRIC_NONE)
		return false;
	snprintf(what, sizeof(what), "contradicts itself: it reported node GUID 0x%016" PRIx64 " with %u "
		 "ports, then 0x%016" PRIx64 " with %u", n->guid, n->nports,
		 mad_get_field64((uint8_t *)(uintptr_t)q->data, 0, IB_NODE_GUID_F),
		 mad_get_field((uint8_t *)(uintptr_t)q->data, 0, IB_NODE_NPORTS_F));
	note(sm, f, near, &(struct implausible_answer){ .behind = true, .answer = true, .changes = true,
					  .again.looked = implausible_digest(q->attr, q->data) }, what);
	suspect_ends(sm, port_node(f, near)->guid);
	return true;
}

/* The same for the device behind a link. */
static enum says compare_behind(const struct fabric *f, const struct question *q)
{
	uint32_t peer = f->ports[f->nodes[q->node].port0 + q->behind].peer;

	return peer == FABRIC_NONE ? SAYS_ANOTHER : compare_node(f, peer, q->data);
}

/*
 * A device whose answers changed has given the same answer twice.  If that equals the published
 * one, its entry is removed; otherwise a local sweep must check the answer as any other.
 */
static bool take_steady(struct sm *sm, struct implausible_answer *x, const struct question *q)
{
	struct implausible_answer copy = *x;

	x->changes = false;
	if (compare_behind(sm->devices.implausible->state->f, q) != SAYS_THE_SAME)
		return true;
	forget_those(sm->devices.implausible, is_at, &copy);
	return false;
}

/* Takes the answers of one entry, questions i to behind - 1.  True: they are news. */
static bool take_listed(struct sm *sm, size_t i, size_t behind)
{
	const struct fabric *f = sm->devices.implausible->state->f;
	const struct question *q = sm->devices.implausible->questions.v;
	struct implausible_answer *x = find(sm->devices.implausible, q[i].listed);
	uint32_t sum = 0;
	bool news;

	if (!x)
		return false;
	for (size_t k = i; k < behind; k++) {
		/* silence tells nothing: a device that is gone is found by other means */
		if (!q[k].sent || q[k].status < 0)
			return false;
		sum = add_digest(sum, q[k].status ? implausible_digest_error(q[k].status) :
					  implausible_digest(q[k].attr, q[k].data));
	}
	news = again_is_news(&x->again, sum);
	if (x->unsure && !news && sum == x->again.looked) {
		x->unsure = false;
		tell(x);
	}
	if (x->changes && x->again.same && !q[i].status)
		news = take_steady(sm, x, &q[i]);
	if (news && q[i].behind && !q[i].status && compare_behind(f, &q[i]) == SAYS_NO_PORT) {
		note_no_port(sm, f, f->nodes[q[i].node].port0 + q[i].behind, q[i].data);
		news = false;
	}
	if (news)
		log_debug("sweep", "an answer changed from a device that: %s", x->text);
	for (size_t k = i; k < behind && news; k++)
		suspect_ends(sm, f->nodes[q[k].node].guid);
	/* its answers about its other ports, such as those said to have no link, are no better */
	if (news && !x->behind)
		sm_suspect(sm, &(struct suspect){ .guid = x->guid, .whole = true, .unasked = true });
	return news;
}

/* Puts in the GUIDs that the device is known by. */
static void rename_answer(const struct sm *sm, struct question *q)
{
	const struct fabric *f = sm->devices.implausible->state->f;
	uint32_t port = q->behind ? f->nodes[q->node].port0 + q->behind : near_port(f, q->node);

	if (q->attr == UMAD_SM_ATTR_NODE_INFO && q->sent && !q->status && port != FABRIC_NONE)
		exclusions_rename(sm, f, port, q->data);
}

static bool take_answers(struct sm *sm)
{
	struct implausible_answers *l = sm->devices.implausible;
	bool any = false;

	for (size_t i = 0; i < l->questions.n; i++)
		rename_answer(sm, &l->questions.v[i]);
	for (size_t i = 0, next; i < l->questions.n; i = next) {
		const struct question *q = &l->questions.v[i];

		for (next = i + 1; q->listed && next < l->questions.n &&
		     l->questions.v[next].listed == q->listed; next++)
			;
		if (q->listed)
			any |= take_listed(sm, i, next);
		else if (q->sent && !q->status)
			any |= q->refused.attr ? take_kept(sm, q) : take_node(sm, q);
	}
	return any;
}

static void end(struct implausible_answers *l)
{
	l->job = NULL;
	state_unref(l->state);
	l->state = NULL;
	l->questions.n = 0;
}

static void finished(void *arg)
{
	struct sm *sm = arg;
	struct implausible_answers *l = sm->devices.implausible;
	bool any = take_answers(sm);

	if (l->confirmed.n > 2 * l->state->f->n_nodes + IMPLAUSIBLE_MAX)
		map64_clear(&l->confirmed);
	end(l);
	if (any)
		sm_want_sweep(sm, SWEEP_LOCAL, "devices gave implausible answers");
}

static const struct smp_job_ops ops = { next, done, finished };

void implausible_ask(struct sm *sm)
{
	struct implausible_answers *l = sm->devices.implausible;

	if (l->job)
		return;
	l->state = state_ref(sm->published);
	l->odd = !l->odd;
	ask_listed(l, l->state->f);
	ask_nodes(sm, l->state->f);
	ask_kept(sm, l->state->f);
	for (size_t i = 0; i < l->questions.n; i++)
		l->questions.v[i].status = -1;	/* until it is answered */
	if (l->questions.n)
		l->job = smp_job_start(sm->mad, (uint32_t)l->questions.n, &ops, sm);
	else
		finished(sm);
}

void implausible_stop(struct sm *sm)
{
	struct implausible_answers *l = sm->devices.implausible;

	if (l->job)
		smp_job_cancel(l->job);
	end(l);
}

void implausible_new(struct sm *sm)
{
	sm->devices.implausible = xcalloc(1, sizeof(*sm->devices.implausible));
	map64_init(&sm->devices.implausible->place, 16);
	map64_init(&sm->devices.implausible->confirmed, 16);
	map64_init(&sm->devices.implausible->looked_at, 16);
}

void implausible_free(struct sm *sm)
{
	implausible_stop(sm);
	vec_free(&sm->devices.implausible->list);
	vec_free(&sm->devices.implausible->right);
	vec_free(&sm->devices.implausible->questions);
	map64_free(&sm->devices.implausible->place);
	map64_free(&sm->devices.implausible->confirmed);
	map64_free(&sm->devices.implausible->looked_at);
	vec_free(&sm->devices.implausible->looks);
	free(sm->devices.implausible);
}
