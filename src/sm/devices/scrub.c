/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads again, slowly and between sweeps, what devices hold, and reports what another manager has
 * overwritten.
 *
 * One pass over the fabric takes as long as the setting says, however large the fabric is: the
 * number of reads in a pass is estimated, by what the pass before has shown of the estimate, and they
 * are spread evenly.  No pass begins before its time.  Nodes take turns; at most BATCH questions are
 * under way, all to one node.  The scrub gives way to everything else:
 * while a sweep, a light sweep or multicast writes run, it asks nothing, and the node begins anew
 * afterwards.
 *
 * The scrub writes nothing.  An attribute that differs is read once more, as a write may have come
 * in between.  If it still differs, the node becomes doubtful (sm->known.doubtful), and a local
 * sweep reads and writes it like any unknown node, in the safe order.  A node that is doubtful
 * already, or has an unknown M_Key, is skipped: its contents may not be ours yet, and the next
 * sweep reads it.  If a port has another MasterSMLID, another SM has written more than that:
 * everything is read at once.
 *
 * A second scrub is for the manager's own port only: with each light sweep it reads that port's
 * PortInfo and P_Key table, without delay.  Without an M_Key any host can overwrite them, no trap
 * reports it, and without them the manager can serve nobody.
 *
 * Invariant: state is a reference to the published state that the turn is about, or NULL.  While
 * the job runs only its callbacks write answers into questions (in the receiver's thread); they are
 * judged after its end.  While no job runs the timer is set, except for the scrub of our own port
 * while it is not due, and while the settings turn the scrub off.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "plan/routes/base_routes.h"
#include "plan/sm_attributes.h"
#include "sm/devices/scrub.h"
#include "sm/keys/mkey.h"
#include "sm/multicast/multicast_sweeps.h"
#include "sm/sm_internal.h"

#define BATCH		4
#define TRIES		4		/* tries of a node that falls silent after something was found */
#define NOT_ASKED	0x10000		/* in place of a status */
#define TICK_US		5000		/* questions due within it are asked together */
#define SPACING_MIN_US	1000
#define BUSY_US		200000		/* delay before checking again whether others are done */
#define FIRST_MAX_US	60000000ll	/* longest delay of the first question after a start */

enum table {
	TABLE_SWITCH_INFO, TABLE_PORT_INFO, TABLE_LFT, TABLE_MFT, TABLE_PKEY, TABLE_SL2VL,
	TABLE_VLARB, TABLE_DESC, TABLES
};

static const char *const table_names[TABLES] = {
	"SwitchInfo", "PortInfo", "forwarding table", "multicast forwarding table", "P_Key table",
	"SL2VL table", "VL arbitration table", "NodeDescription",
};

/* One attribute of the node. */
struct look {
	enum table table;
	uint8_t num;		/* number of its port; 0: of the node */
	item_t item;		/* for tables that are items */
	uint32_t mod;		/* AttributeModifier of the others */
	bool again;		/* read again, as it differed */
};

struct found {
	uint32_t n;		/* attributes of one table that differ */
	uint8_t num;		/* first port with such an attribute */
};

struct question {
	struct look look;
	int status;
	uint8_t data[64];	/* the answer */
};

struct scrub {
	struct sm *sm;
	struct timer *timer;
	bool own, due;			/* for our own port; which must be read now */
	struct subnet_state *state;
	uint32_t node;			/* the node whose turn it is */
	VEC(struct look) looks;		/* attributes of the node; those from `next` on are to be asked */
	size_t next;
	struct smp_job *job;
	struct question questions[BATCH];
	unsigned n_questions, asked;
	bool collected;			/* looks is filled */
	uint64_t held[IB_LID_MCAST_FIRST / LFT_BLOCK / 64];	/* bit n: LFT block n is not written yet */
	bool silent, changed;		/* it did not answer; it has changed */
	unsigned tries;			/* tries of the node that were cut short */
	bool claimed;			/* a port has another SM as its master */
	bool renamed;			/* its NodeDescription has changed, which is no table of ours */
	struct found found[TABLES];
	int64_t next_us, spacing_us;
	int64_t pass_us;		/* when this pass began; 0: no pass has */
	uint64_t estimated, collected_n;	/* reads of this pass: estimated, and collected so far */
	uint64_t last_estimated, last_n;	/* the same of the last pass; 0: there was none */
	struct sm_scrub counts;
};

/* --- attributes of a node --- */

static void add(struct scrub *s, enum table table, unsigned num, uint32_t mod)
{
	*vec_push(&s->looks) = (struct look){ .table = table, .num = (uint8_t)num, .mod = mod };
}

/*
 * Marks blocks of this switch that wait to be written (sm/write/write_routes.c): a difference there is
 * nobody's fault.
 */
static void note_held(struct scrub *s)
{
	const struct routes_now *x = s->state->plan->now;
	uint32_t sw = s->state->f->nodes[s->node].sw;

	memset(s->held, 0, sizeof(s->held));
	for (size_t i = 0; sw != FABRIC_NONE && i < x->stale.n; i++)
		if (x->switches[x->stale.v[i].sw] == sw)
			s->held[x->stale.v[i].block / 64] |= 1ull << x->stale.v[i].block % 64;
}

static bool is_held(const struct scrub *s, item_t item)
{
	return ITEM_KIND(item) == ITEM_LFT && s->held[ITEM_B(item) / 64] >> ITEM_B(item) % 64 & 1;
}

static void add_item(void *arg, item_t item)
{
	static const enum table tables[] = {
		[ITEM_LFT] = TABLE_LFT, [ITEM_PKEY] = TABLE_PKEY, [ITEM_SL2VL] = TABLE_SL2VL,
		[ITEM_VLARB] = TABLE_VLARB,
	};
	struct scrub *s = arg;

	if (is_held(s, item))
		return;
	*vec_push(&s->looks) = (struct look){ .table = tables[ITEM_KIND(item)], .item = item,
					      .num = (uint8_t)item_port(item) };
}

static void add_pkeys(void *arg, item_t item)
{
	if (ITEM_KIND(item) == ITEM_PKEY)
		add_item(arg, item);
}

static uint32_t mft_modifier(unsigned block, unsigned position)
{
	return position << 28 | block;
}

static void collect(struct scrub *s)
{
	const struct plan *p = s->state->plan;
	const struct fabric_node *n = &p->f->nodes[s->node];
	bool on_switch = node_is_switch(n);

	s->looks.n = s->next = 0;
	s->collected = true;
	if (map64_get(&s->sm->known.doubtful, n->guid) != MAP64_NONE ||
	    mkey_is_mismatched(s->sm, p->f, s->node))
		return;
	if (s->own) {
		unsigned num = p->f->ports[p->f->self].num;

		add(s, TABLE_PORT_INFO, num, port_info_modifier(p->f, s->node, num));
		want_items(p, s->node, add_pkeys, s);
		return;
	}
	note_held(s);
	add(s, TABLE_DESC, 0, 0);	/* not every device sends trap 144 */
	if (on_switch)
		add(s, TABLE_SWITCH_INFO, 0, 0);
	for (unsigned num = 0; num <= n->nports; num++)
		if (port_is_managed(p->f, n->port0 + num))
			add(s, TABLE_PORT_INFO, num, port_info_modifier(p->f, s->node, num));
	want_items(p, s->node, add_item, s);
	for (uint32_t b = 0; on_switch && b < sm_mft_blocks(s->sm); b++)
		for (unsigned pos = 0; pos * PORTS_PER_POSITION <= n->nports; pos++)
			add(s, TABLE_MFT, 0, mft_modifier(b, pos));
	s->collected_n += s->looks.n;
}

/* About the number of attributes that collect() adds. */
static uint64_t estimate(const struct plan *p, uint32_t node)
{
	const struct fabric_node *n = &p->f->nodes[node];
	uint64_t ports = n->nports;

	if (!node_is_switch(n))
		return 1 + ports * (p->tables->managed ? 7 : 2);
	return 1 + p->lid_top / LFT_BLOCK + ports + (p->tables->managed ? ports * (ports + 4) : 0);
}

/* --- a question and its answer --- */

static bool ask_for(const struct scrub *s, const struct look *l, struct smp *q)
{
	static const uint16_t attributes[] = {
		[TABLE_SWITCH_INFO] = UMAD_SM_ATTR_SWITCH_INFO,
		[TABLE_PORT_INFO] = UMAD_SM_ATTR_PORT_INFO, [TABLE_MFT] = UMAD_SM_ATTR_MCAST_FT,
		[TABLE_DESC] = UMAD_SM_ATTR_NODE_DESC,
	};
	struct item_want want;

	memset(q, 0, sizeof(*q));
	if (!want_route(s->state->f, s->node, l->num, q))
		return false;
	if (l->item) {
		want_item(s->state->plan, s->node, l->item, &want);
		sweep_fill_smp(s->sm, q, SMP_GET, want.attr, want.mod);
	} else {
		sweep_fill_smp(s->sm, q, SMP_GET, attributes[l->table], l->mod);
	}
	q->brief = true;	/* a sweep may be waiting */
	return true;
}

static bool switch_differs(const struct scrub *s, const uint8_t *got)
{
	const struct plan *p = s->state->plan;
	uint32_t sw = p->f->nodes[s->node].sw;
	struct fabric_switch is = p->f->switches[sw];

	fabric_switch_store(&is, got);
	return switch_info_differs(p, store_refusals(s->sm->store), sw, &is);
}

/* Compares a port.  If its PortState differs, the port has changed, and is looked at as after a trap. */
static bool port_differs(struct scrub *s, unsigned num, const uint8_t *got)
{
	const struct plan *p = s->state->plan;
	uint32_t port = p->f->nodes[s->node].port0 + num;
	struct want_env e = { .plan = p, .sm_lid = state_own_lid(s->state),
			      .m_key = mkey_ours(s->sm), .tables_written = true,
			      .refused = store_refusals(s->sm->store) };
	uint8_t before[64], info[64];

	memcpy(before, p->f->ports[port].info, sizeof(before));
	memcpy(info, got, sizeof(info));
	if (mad_get_field(info, 0, IB_PORT_STATE_F) != p->f->ports[port].state) {
		s->changed = true;
		return false;
	}
	s->claimed |= port_is_end(p->f, port) &&
		      state_was_claimed(s->state, p->f->ports[port].sm_lid,
					(uint16_t)mad_get_field(info, 0, IB_PORT_SMLID_F));
	/* where we do not manage the limit it may be anything */
	if (!p->tables->managed || p->tables->arb[port] == TABLE_NONE)
		mad_set_field(info, 0, IB_PORT_VL_HIGH_LIMIT_F,
			      mad_get_field(before, 0, IB_PORT_VL_HIGH_LIMIT_F));
	return port_info_differs(&e, store_refusals(s->sm->store), port, info);
}

static bool differs(struct scrub *s, const struct look *l, const uint8_t *got)
{
	const struct plan *p = s->state->plan;
	struct item_want want;
	uint8_t entries[64];

	switch (l->table) {
	case TABLE_SWITCH_INFO:
		return switch_differs(s, got);
	case TABLE_PORT_INFO:
		return port_differs(s, l->num, got);
	case TABLE_DESC:
		s->renamed |= memcmp(p->f->nodes[s->node].desc, got,
				     sizeof(p->f->nodes[s->node].desc) - 1);
		return false;
	case TABLE_MFT:
		return multicast_block_is(s->sm, p->f->nodes[s->node].guid, l->mod & 0x1ff,
					  l->mod >> 28, entries) &&
		       memcmp(entries, got, sizeof(entries));
	default:
		want_item(p, s->node, l->item, &want);
		return item_differs(p, store_refusals(s->sm->store), s->node, l->item, &want, got);
	}
}

static void take_answer(struct scrub *s, const struct question *q)
{
	struct look l = q->look;
	struct found *f = &s->found[l.table];

	s->counts.reads += q->status != NOT_ASKED;
	s->silent |= q->status < 0;
	if (q->status || !differs(s, &l, q->data))
		return;
	if (!l.again) {
		l.again = true;
		*vec_push(&s->looks) = l;
		return;
	}
	if (!f->n++)
		f->num = l.num;
}

/* --- the turn of a node --- */

static void drop(struct scrub *s)
{
	if (s->job) {
		smp_job_cancel(s->job);
		timer_set(s->timer, BUSY_US, 0);	/* the timer may have fired meanwhile */
	}
	s->job = NULL;
	state_unref(s->state);
	s->state = NULL;
	s->collected = s->silent = s->changed = s->claimed = s->renamed = false;
	memset(s->found, 0, sizeof(s->found));
}

void scrub_give_way(struct scrub *s)
{
	if (s)
		drop(s);
}

static void tell(const struct scrub *s, enum table table)
{
	const struct fabric *f = s->state->f;
	const struct fabric_node *n = &f->nodes[s->node];
	const struct found *x = &s->found[table];
	char name[FABRIC_NAME_MAX], more[48] = "";
	struct event e;

	if (x->num)
		fabric_port_name(f, n->port0 + x->num, name, sizeof(name));
	else
		fabric_node_name(f, s->node, name, sizeof(name));
	if (x->n > 1)
		snprintf(more, sizeof(more), " (and %u more of this kind)", x->n - 1);
	event_make(&e, EVENT_TABLE_OVERWRITTEN, "%s: another program overwrote the %s; repairing it%s",
		   name, table_names[table], more);
	event_guid(&e, "node", n->guid);
	event_number(&e, "port", x->num);
	event_text(&e, "name", "%s", name);
	event_text(&e, "table", "%s", table_names[table]);
	event_number(&e, "attributes", x->n);
	log_warn("scrub", "%s", e.text);
	sm_tell(s->sm, &e);
}

static bool found_any(const struct scrub *s)
{
	for (unsigned t = 0; t < TABLES; t++)
		if (s->found[t].n)
			return true;
	return false;
}

/*
 * A node that was not read to its end because an answer was lost begins anew: the sweep that
 * repairs the differences found so far would repair the others as well, unreported.
 */
static bool begins_anew(struct scrub *s)
{
	if (!s->silent || !found_any(s) || ++s->tries >= TRIES)
		return false;
	s->collected = s->silent = s->changed = s->claimed = s->renamed = false;
	memset(s->found, 0, sizeof(s->found));
	return true;
}

static int64_t interval_us(const struct scrub *s)
{
	return s->sm->settings->scrub_interval_s * 1000000ll;
}

/* Sets the time between questions for a pass over this state. */
static void set_pace(struct scrub *s)
{
	uint64_t total = 1;

	if (s->own)
		return;
	for (uint32_t i = 0; i < s->state->f->n_nodes; i++)
		total += estimate(s->state->plan, i);
	s->estimated = total;
	if (s->last_n)
		total = total * s->last_n / s->last_estimated + 1;
	s->spacing_us = interval_us(s) / (int64_t)total;
	if (s->spacing_us < SPACING_MIN_US)
		s->spacing_us = SPACING_MIN_US;
}

/* The next pass begins when the time of this one is over. */
static void end_pass(struct scrub *s)
{
	s->node = 0;
	s->counts.passes++;
	s->last_n = s->collected_n;
	s->last_estimated = s->estimated;
	s->collected_n = 0;
	if (s->next_us < s->pass_us + interval_us(s))
		s->next_us = s->pass_us + interval_us(s);
	s->pass_us = s->next_us;
	set_pace(s);
}

/* Evaluates a node that was read completely, or does not answer. */
static void conclude(struct scrub *s)
{
	struct sm *sm = s->sm;
	struct suspect suspect = { .guid = s->state->f->nodes[s->node].guid };
	bool claimed = s->claimed;

	if (begins_anew(s))
		return;
	s->tries = 0;
	for (unsigned t = 0; t < TABLES; t++) {
		if (!s->found[t].n)
			continue;
		tell(s, (enum table)t);
		s->counts.repaired += s->found[t].n;
		suspect.changed = true;
	}
	if (suspect.changed)
		map64_put(&sm->known.doubtful, suspect.guid, 1);
	suspect.whole = s->changed;
	suspect.renamed = s->renamed;
	s->changed |= suspect.changed || suspect.renamed;
	s->due = false;
	if (!s->own && ++s->node >= s->state->f->n_nodes)
		end_pass(s);
	s->collected = s->silent = s->claimed = s->renamed = false;
	memset(s->found, 0, sizeof(s->found));
	if (!s->changed)
		return;
	drop(s);
	/* any host can set it at our own port again and again */
	if (claimed && suspect.changed && !s->own) {
		sm_want_sweep(sm, SWEEP_FULL, "another subnet manager was active");
		return;
	}
	sm_suspect(sm, &suspect);
	sm_want_sweep(sm, SWEEP_LOCAL, suspect.changed ? "tables were overwritten" :
				       suspect.whole ? "a port has changed" :
						       "a node has another name");
}

static bool others_are_busy(const struct sm *sm)
{
	return sm->state != SM_MASTER || !sm->published || sweep_runs(sm) ||
	       sm->light.job || timer_active(sm->wishes.soon) || multicast_is_busy(sm);
}

static bool has_next(struct scrub *s)
{
	if (!s->collected)
		collect(s);
	return s->next < s->looks.n && !s->silent;
}

static bool next(void *arg, uint32_t device, struct smp *q, uint64_t *cookie)
{
	struct scrub *s = arg;

	(void)device;
	while (s->asked < s->n_questions) {
		*cookie = s->asked++;
		if (!ask_for(s, &s->questions[*cookie].look, q))
			continue;
		return true;
	}
	return false;
}

static void done(void *arg, uint32_t device, const struct smp *q, uint64_t cookie, int status)
{
	struct scrub *s = arg;

	(void)device;
	s->questions[cookie].status = status;
	memcpy(s->questions[cookie].data, q->data, sizeof(s->questions[cookie].data));
}

static void work(struct scrub *s);

static void finished(void *arg)
{
	struct scrub *s = arg;

	s->job = NULL;
	if (others_are_busy(s->sm) || s->state != s->sm->published)
		drop(s);
	for (unsigned i = 0; s->state && i < s->n_questions; i++)
		take_answer(s, &s->questions[i]);
	work(s);
}

static const struct smp_job_ops scrub_ops = { next, done, finished };

static void adopt(struct scrub *s)
{
	if (s->state == s->sm->published)
		return;
	drop(s);
	s->state = state_ref(s->sm->published);
	if (s->own)
		s->node = s->state->f->ports[s->state->f->self].node;
	else if (s->node >= s->state->f->n_nodes)
		s->node = 0;
	if (!s->pass_us)
		s->pass_us = clock_mono_us();
	set_pace(s);
}

/* Gathers the questions that are due. */
static void gather(struct scrub *s, int64_t now)
{
	s->n_questions = s->asked = 0;
	/* questions that could not be asked in time are not made up for */
	if (s->next_us < now - TICK_US)
		s->next_us = now - TICK_US;
	while (s->n_questions < BATCH && s->next_us <= now && has_next(s)) {
		s->questions[s->n_questions++] = (struct question){ .look = s->looks.v[s->next++],
								    .status = NOT_ASKED };
		s->next_us += s->spacing_us;
	}
}

/* Asks the questions that are due, and sets the timer for the rest. */
static void work(struct scrub *s)
{
	int64_t now = clock_mono_us();

	if (s->own && s->sm->state != SM_MASTER)
		s->due = false;
	if (s->job || (s->own && !s->due))
		return;
	if (others_are_busy(s->sm)) {
		drop(s);
		timer_set(s->timer, BUSY_US, 0);
		return;
	}
	adopt(s);
	gather(s, now);
	if (s->n_questions)
		s->job = smp_job_start(s->sm->mad, 1, &scrub_ops, s);
	else if (!has_next(s))
		conclude(s);
	if (!s->own || s->due)
		timer_set(s->timer, s->next_us - now < TICK_US ? TICK_US : s->next_us - now, 0);
}

static void on_timer(void *arg)
{
	work(arg);
}

struct sm_scrub scrub_counts(const struct scrub *s)
{
	return s ? s->counts : (struct sm_scrub){ 0 };
}

struct scrub *scrub_new(struct sm *sm)
{
	int64_t first = sm->settings->scrub_interval_s * 1000000ll / 4;
	struct scrub *s = xcalloc(1, sizeof(*s));

	s->sm = sm;
	s->timer = timer_new(sm->loop, on_timer, s);
	if (first)
		timer_set(s->timer, first < FIRST_MAX_US ? first : FIRST_MAX_US, 0);
	return s;
}

/* A pass goes on at the new pace; a wait for the next one is over. */
void sm_scrub_interval_changed(struct sm *sm)
{
	struct scrub *s = sm->devices.scrub;
	int64_t now = clock_mono_us();

	if (!interval_us(s)) {
		drop(s);
		timer_stop(s->timer);
		return;
	}
	s->next_us = now;
	if (s->pass_us > now)
		s->pass_us = now;
	if (s->state)
		set_pace(s);
	timer_set(s->timer, 0, 0);
}

struct scrub *scrub_new_own(struct sm *sm)
{
	struct scrub *s = xcalloc(1, sizeof(*s));

	s->sm = sm;
	s->own = true;
	s->timer = timer_new(sm->loop, on_timer, s);
	return s;
}

void scrub_look(struct scrub *s)
{
	s->due = true;
	timer_set(s->timer, 0, 0);
}

void scrub_free(struct scrub *s)
{
	if (!s)
		return;
	drop(s);
	timer_free(s->timer);
	vec_free(&s->looks);
	free(s);
}
