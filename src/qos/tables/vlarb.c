/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds VL arbitration tables (IBA 7.6.9) and the high limit of each out port.
 *
 * Each of the three (high table, low table, limit) comes from the last scope that gives it, so a scope may
 * change one and leave the others.  Where traffic classes apply, they provide all three.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/iba/units.h"
#include "qos/tables/qos_tables_build.h"

/* Weight in built-in tables: 4096 bytes, the largest packet. */
#define BUILTIN_WEIGHT 64

enum table { HIGH, LOW };

/* Given tables for ports with the same stack, class, link and table sizes. */
struct choice {
	struct vlarb arb;
	uint8_t vls;			/* VLs of the link */
	uint16_t mtu;			/* of the link, in bytes */
	uint8_t cap[2];			/* table sizes in entries, by enum table */
	bool given[2];
	uint8_t highest;		/* highest VL with a weight */
	uint32_t origin[2];
	struct {
		/* highest given VL with a weight that is not on the link: of omitted, of folded entries */
		uint8_t lacking, folded;
		uint8_t too_long;	/* number of entries that do not fit */
		uint64_t broken;	/* bit i: the weight of given entry i is no whole number of packets */
	} fault[2];
};

struct arb_build {
	struct stacks stacks;
	VEC(struct choice) choices;
	struct map64 known;		/* inputs of a choice -> index in choices */
	uint32_t *choice;		/* [port slot]: index in choices; UINT32_MAX: no arbitration there */
	struct note *lacking[2], *folded[2], *too_long[2];	/* by enum table, per origin */
	struct note *broken[2];		/* by enum table, per origin and entry */
	struct note *unserved;	/* [origin]: bits of VLs that SL2VL sends to and no table serves */
};

/* --- given tables --- */

struct given {
	const struct vlarb *arb;
	bool table[2];
	int high_limit;		/* -1: not given */
	struct src_pos pos[2];
};

static struct given given_by(const struct policy *p, uint32_t origin)
{
	if (origin >= ORIGIN_SCOPE(0)) {
		const struct policy_vlarb *s = &p->vlarb[origin - ORIGIN_SCOPE(0)];

		return (struct given){ &s->arb, { s->has_high, s->has_low }, s->high_limit,
				       { s->high_pos, s->low_pos } };
	}
	const struct policy_class_default *d = &p->defaults[origin - ORIGIN_CLASS(0)];

	if (!d->given)
		return (struct given){ .high_limit = -1 };
	return (struct given){ &d->arb, { d->has_high, d->has_low }, d->high_limit,
			       { d->high_pos, d->low_pos } };
}

/* Drops the entries of a bit mask; returns the length. */
static uint8_t squeeze(struct vlarb_entry *e, uint8_t n, uint64_t drop)
{
	uint8_t kept = 0;

	for (uint8_t i = 0; i < n; i++)
		if (!(drop >> i & 1))
			e[kept++] = e[i];
	memset(&e[kept], 0, (n - kept) * sizeof(*e));
	return kept;
}

/* The highest `more` bits of a mask that has as many. */
static uint64_t last_bits(uint64_t mask, int more)
{
	uint64_t last = 0;

	for (; more > 0 && mask & ~last; more--)
		last |= UINT64_C(1) << (63 - __builtin_clzll(mask & ~last));
	return last;
}

/*
 * The entries to drop from a table that is too long: of those that are folded, the last, as other subnet
 * managers cut a table off; then those without weight.
 */
static uint64_t to_drop(const struct vlarb_entry *e, uint8_t n, uint8_t cap, uint64_t folded)
{
	uint64_t drop = last_bits(folded, n - cap);

	for (uint8_t i = 0; i < n && n - __builtin_popcountll(drop) > cap; i++)
		if (!e[i].weight)
			drop |= UINT64_C(1) << i;
	return drop;
}

/* The highest VL with a weight among the entries of a bit mask, or 0. */
static uint8_t highest_of(const struct vlarb_entry *e, uint64_t entries)
{
	uint8_t highest = 0;

	for (; entries; entries &= entries - 1) {
		const struct vlarb_entry *i = &e[__builtin_ctzll(entries)];

		if (i->weight && i->vl > highest)
			highest = i->vl;
	}
	return highest;
}

/* The entries whose VL is not on a link of `vls` VLs. */
static uint64_t lacking_of(const struct vlarb_entry *e, uint8_t n, uint8_t vls)
{
	uint64_t lacking = 0;

	for (uint8_t i = 0; i < n; i++)
		if (e[i].vl >= vls)
			lacking |= UINT64_C(1) << i;
	return lacking;
}

/*
 * With fold, an entry whose VL is not on the link counts for the VL that SL2VL folds that one into, so that
 * its SLs keep their priority.  A VL may then have several entries, which IBA allows (7.6.9.2).
 */
static void take_table(struct choice *c, enum table t, const struct vlarb *from, bool fold)
{
	const struct vlarb_entry *given = t == HIGH ? from->high : from->low;
	struct vlarb_entry *e = t == HIGH ? c->arb.high : c->arb.low;
	uint8_t n = t == HIGH ? from->n_high : from->n_low;
	uint64_t lacking = lacking_of(given, n, c->vls), drop;

	for (uint8_t i = 0; i < n; i++) {
		e[i] = given[i];
		if (lacking >> i & 1)
			e[i] = fold ? (struct vlarb_entry){ fold_vl(e[i].vl, c->vls), e[i].weight }
				    : (struct vlarb_entry){ 0, 0 };
	}
	drop = to_drop(e, n, c->cap[t], fold ? lacking : 0);
	c->fault[t].lacking = highest_of(given, lacking & (fold ? drop : UINT64_MAX));
	c->fault[t].folded = highest_of(given, fold ? lacking & ~drop : 0);
	for (uint8_t i = 0; i < n; i++) {
		if (drop >> i & 1)
			continue;
		if (c->mtu && e[i].weight * ARB_WEIGHT_UNIT % c->mtu)
			c->fault[t].broken |= UINT64_C(1) << i;
		if (e[i].weight && e[i].vl > c->highest)
			c->highest = e[i].vl;
	}
	n = squeeze(e, n, drop);
	*(t == HIGH ? &c->arb.n_high : &c->arb.n_low) = n;
	if (n > c->cap[t])
		c->fault[t].too_long = n;
}

/* Takes what an origin gives, unless an origin above it gave the same. */
static void take(struct choice *c, const struct policy *p, uint32_t origin, bool *has_limit)
{
	struct given g = given_by(p, origin);

	for (enum table t = HIGH; t <= LOW; t++) {
		if (!g.table[t] || c->given[t])
			continue;
		c->given[t] = true;
		c->origin[t] = origin;
		take_table(c, t, g.arb, p->unsupported_vl == UNSUPPORTED_VL_FOLD);
	}
	if (g.high_limit >= 0 && !*has_limit) {
		*has_limit = true;
		c->arb.high_limit = (uint8_t)g.high_limit;
	}
}

/* A port that cannot hold the given tables keeps the built-in arbitration for all three. */
static void drop_if_too_long(struct choice *c)
{
	if (!c->fault[HIGH].too_long && !c->fault[LOW].too_long)
		return;
	c->arb = (struct vlarb){ 0 };
	c->given[HIGH] = c->given[LOW] = false;
	c->fault[HIGH].lacking = c->fault[LOW].lacking = 0;
	c->fault[HIGH].folded = c->fault[LOW].folded = 0;
	c->fault[HIGH].broken = c->fault[LOW].broken = 0;
	c->highest = 0;
}

static struct choice choose(const struct arb_build *a, const struct policy *p, uint32_t stack,
			    enum port_class class, const struct choice *port)
{
	struct choice c = *port;
	bool has_limit = false;

	for (uint32_t s = stack; s != STACK_EMPTY; s = a->stacks.node.v[s].below)
		take(&c, p, ORIGIN_SCOPE(a->stacks.node.v[s].scope), &has_limit);
	take(&c, p, ORIGIN_CLASS(class), &has_limit);
	drop_if_too_long(&c);
	return c;
}

/* On a link with one VL the classes leave arbitration to the built-in tables. */
static struct choice choose_by_classes(const struct class_fit *fit, const struct choice *port)
{
	struct choice c = *port;

	c.arb = fit->arb;
	c.given[HIGH] = c.given[LOW] = fit->arb.n_high || fit->arb.n_low;
	c.highest = (uint8_t)(fit->vls_used - 1);
	return c;
}

/* A port with one data VL, or without tables, has nothing to arbitrate. */
static bool arbitrates(const struct tables_build *b, uint32_t port)
{
	const struct fabric_port *p = &b->f->ports[port];

	return b->limit[port] && ib_vls_from_code(p->vl_cap) > 1 &&
	       (p->vlarb_high_cap || p->vlarb_low_cap);
}

#define BY_CLASSES 0x80000000u

static uint32_t choice_of(struct tables_build *b, struct arb_build *a, uint32_t port)
{
	const struct fabric_port *p = &b->f->ports[port];
	enum port_class class = port_class_of(b->f, port);
	const struct class_fit *fit = port_fit(b, port);
	/* No stack and no fit has so high a number. */
	uint32_t from = fit ? BY_CLASSES | b->t->fit[port] : a->stacks.of_port[port];
	uint8_t mtu = port_link_mtu(b->f, port);
	uint64_t key = (uint64_t)from << 32 | (uint64_t)mtu << 28 | (uint64_t)class << 24 |
		       (uint64_t)b->limit[port] << 16 | (uint64_t)p->vlarb_high_cap << 8 |
		       p->vlarb_low_cap;
	uint32_t i = map64_get(&a->known, key);

	if (i == MAP64_NONE) {
		struct choice c = {
			.vls = (uint8_t)ib_vls_from_code(b->limit[port]),
			.cap = { p->vlarb_high_cap, p->vlarb_low_cap },
			.mtu = (uint16_t)mtu_bytes(mtu),
		};

		i = (uint32_t)a->choices.n;
		*vec_push(&a->choices) = fit ? choose_by_classes(fit, &c)
						: choose(a, b->p, from, class, &c);
		map64_put(&a->known, key, i);
	}
	return i;
}

static void note_faults(const struct tables_build *b, struct arb_build *a,
			const struct choice *c, uint32_t port)
{
	for (enum table t = HIGH; t <= LOW; t++) {
		if (c->fault[t].lacking)
			note_link(b, &a->lacking[t][c->origin[t]], port, c->fault[t].lacking,
				  c->vls);
		if (c->fault[t].folded)
			note_link(b, &a->folded[t][c->origin[t]], port, c->fault[t].folded, c->vls);
		if (c->fault[t].too_long)
			note_link(b, &a->too_long[t][c->origin[t]], port, c->fault[t].too_long,
				  c->cap[t]);
		for (uint64_t left = c->fault[t].broken; left; left &= left - 1)
			note_link(b, &a->broken[t][c->origin[t] * VLARB_ENTRIES_MAX +
						   (unsigned)__builtin_ctzll(left)], port, 0, c->mtu);
	}
}

static const char *const table_names[] = { "high", "low" };

/*
 * An entry sends a whole packet for the last part of its weight.  So a weight below a packet counts as one
 * packet by IBA's arbiter, and hardware was measured that takes it for what it is: what the entry gets is
 * uncertain.  By entry, as the administrator has to change each.
 */
static void report_broken(struct tables_build *b, const struct arb_build *a, uint32_t origin, enum table t)
{
	struct given g = given_by(b->p, origin);

	for (unsigned i = 0; i < VLARB_ENTRIES_MAX; i++) {
		const struct note *n = &a->broken[t][origin * VLARB_ENTRIES_MAX + i];

		if (!n->ports)
			continue;

		struct vlarb_entry e = t == HIGH ? g.arb->high[i] : g.arb->low[i];
		unsigned bytes = e.weight * ARB_WEIGHT_UNIT, packet = n->limit / ARB_WEIGHT_UNIT;

		if (bytes < n->limit)
			findings_add(b->out, SEV_WARNING, b->p->file, g.pos[t],
				     "entry %u of the %s table, \"%u:%u\": a weight of %u is %u bytes, less than "
				     "a packet of the MTU, %u bytes, on the link of %s; the least is %u", i + 1,
				     table_names[t], e.vl, e.weight, e.weight, bytes, n->limit,
				     NOTE_PORTS(b, n), packet);
		else
			findings_add(b->out, SEV_INFO, b->p->file, g.pos[t],
				     "entry %u of the %s table, \"%u:%u\": a weight of %u is no multiple of %u, "
				     "a packet of the MTU of %u bytes, on the link of %s: the last packet of "
				     "its turn exceeds it", i + 1, table_names[t], e.vl, e.weight, e.weight,
				     packet, n->limit, NOTE_PORTS(b, n));
	}
}

/* Reports the ports of a note on entries whose VL a link lacks. */
static void report_lacking(struct tables_build *b, const struct note *n, struct src_pos pos, enum table t,
			   enum severity severity, const char *effect)
{
	if (n->ports)
		findings_add(b->out, severity, b->p->file, pos,
			     "VL %u in the %s table does not exist on the link of %s, which has %u data "
			     "VL%s: %s", n->value, table_names[t],
			     NOTE_PORTS(b, n), n->limit,
			     n->limit == 1 ? "" : "s", effect);
}

static void report_faults(struct tables_build *b, struct arb_build *a, uint32_t origin)
{
	bool fold = b->p->unsupported_vl == UNSUPPORTED_VL_FOLD;
	struct given g = given_by(b->p, origin);

	for (enum table t = HIGH; t <= LOW; t++) {
		const struct note *n = &a->too_long[t][origin];

		if (n->ports)
			findings_add(b->out, SEV_ERROR, b->p->file, g.pos[t],
				     "the %s table has %u entries, but %s supports %u: it gets built-in "
				     "arbitration", table_names[t], n->value,
				     NOTE_PORTS(b, n), n->limit);
		report_lacking(b, &a->lacking[t][origin], g.pos[t], t, fold ? SEV_INFO : SEV_WARNING,
			       fold ? "the entry is omitted, as the port's table has no room for it"
				    : "the entry is omitted");
		report_lacking(b, &a->folded[t][origin], g.pos[t], t, SEV_INFO,
			       "the entry counts for the VL that it is folded into");
		report_broken(b, a, origin, t);
	}
}

static struct src_pos scope_pos(const struct policy *p, uint32_t scope)
{
	return p->vlarb[scope].pos;
}

static void lay_scopes(struct tables_build *b, struct arb_build *a)
{
	for (uint32_t i = 0; i < b->p->n_vlarb; i++) {
		const struct policy_vlarb *s = &b->p->vlarb[i];
		struct scope scope = {
			s->kind, groups_find(b->g, b->p, s->group.s), NULL, &s->to,
		};

		lay_scope(b, &a->stacks, i, s->pos, &s->group, &scope);
	}
	yield_to_classes(b, &a->stacks, (uint32_t)b->p->n_vlarb, scope_pos);
}

struct arb_build *arb_choose(struct tables_build *b)
{
	struct arb_build *a = xcalloc(1, sizeof(*a));
	uint32_t origins = ORIGIN_SCOPE((uint32_t)b->p->n_vlarb);

	for (enum table t = HIGH; t <= LOW; t++) {
		a->lacking[t] = xcalloc(origins, sizeof(struct note));
		a->folded[t] = xcalloc(origins, sizeof(struct note));
		a->too_long[t] = xcalloc(origins, sizeof(struct note));
		a->broken[t] = xcalloc(origins * VLARB_ENTRIES_MAX, sizeof(struct note));
	}
	a->unserved = xcalloc(origins, sizeof(struct note));
	stacks_init(&a->stacks, b->f);
	lay_scopes(b, a);
	a->choice = xcalloc(b->f->n_ports, sizeof(*a->choice));
	for (uint32_t port = 0; port < b->f->n_ports; port++) {
		a->choice[port] = UINT32_MAX;
		if (!arbitrates(b, port))
			continue;
		a->choice[port] = choice_of(b, a, port);
		const struct choice *c = &a->choices.v[a->choice[port]];

		use_vl(b, port, c->highest);
		note_faults(b, a, c, port);
	}
	for (uint32_t origin = ORIGIN_CLASS(0); origin < origins; origin++)
		report_faults(b, a, origin);
	return a;
}

/* --- the built-in tables --- */

/*
 * Adds every VL once to the low table, with equal weights, if no low table is given.  If a device's low
 * table is too short, the remaining VLs go into the high one: a VL in neither would never be served.
 */
static struct vlarb complete(const struct choice *c, unsigned vls)
{
	struct vlarb arb = c->arb;

	if (c->given[LOW])
		return arb;
	for (unsigned vl = 0; vl < vls; vl++) {
		struct vlarb_entry e = { (uint8_t)vl, BUILTIN_WEIGHT };

		if (arb.n_low < c->cap[LOW])
			arb.low[arb.n_low++] = e;
		else if (!c->given[HIGH] && arb.n_high < c->cap[HIGH])
			arb.high[arb.n_high++] = e;
	}
	return arb;
}

/* Repeats the entries of a table once for each VL set, if there is room; returns the length, or 0. */
static uint8_t repeat(struct vlarb_entry *e, uint8_t n, uint8_t cap, unsigned vls, unsigned sets)
{
	if (n * sets > cap)
		return 0;
	for (unsigned set = 1; set < sets; set++)
		for (uint8_t i = 0; i < n; i++)
			e[set * n + i] = (struct vlarb_entry){ (uint8_t)(e[i].vl + set * vls),
								 e[i].weight };
	return (uint8_t)(n * sets);
}

/*
 * Gives each VL set, of `vls` VLs, the same weights.  If the tables are too short, all VLs get equal
 * weights, as without given tables.
 */
static struct vlarb complete_on_sets(const struct choice *c, unsigned vls, unsigned sets)
{
	struct vlarb arb = complete(c, vls);
	struct choice none = { .cap = { c->cap[HIGH], c->cap[LOW] } };
	uint8_t high = repeat(arb.high, arb.n_high, c->cap[HIGH], vls, sets);
	uint8_t low = repeat(arb.low, arb.n_low, c->cap[LOW], vls, sets);

	if ((arb.n_high && !high) || (arb.n_low && !low))
		return complete(&none, vls * sets);
	arb.n_high = high;
	arb.n_low = low;
	return arb;
}

/* The origin to report for VLs that no table serves. */
static uint32_t arb_origin(const struct choice *c)
{
	return c->given[LOW] ? c->origin[LOW] : c->given[HIGH] ? c->origin[HIGH] : ORIGIN_BUILTIN;
}

static void add_bits(struct buf *out, const char *what, unsigned mask)
{
	const char *between = " ";

	buf_puts(out, what);
	for (; mask; mask &= mask - 1) {
		buf_printf(out, "%s%d", between, __builtin_ctz(mask));
		between = ", ";
	}
}

/* The SLs mapped to any of some VLs of a port, from any in port. */
static unsigned sls_on(const struct tables_build *b, uint32_t port, unsigned vls)
{
	const struct fabric_node *n = port_node(b->f, port);
	unsigned sls = 0;

	for (unsigned in = 0; in <= n->nports; in++) {
		uint16_t id = qos_sl2vl_id(b->t, b->f, b->f->ports[port].node, in,
					   b->f->ports[port].num);

		for (unsigned sl = 0; id != TABLE_NONE && sl < IB_SL_COUNT; sl++)
			sls |= (vls >> b->t->maps[id].vl[sl] & 1) << sl;
	}
	return sls;
}

static void report_unserved(struct tables_build *b, const struct arb_build *a, uint32_t origin)
{
	const struct note *n = &a->unserved[origin];
	struct src_pos pos = { 0, 0 };
	struct buf text = { 0 };

	if (!n->ports)
		return;
	if (origin != ORIGIN_BUILTIN) {
		struct given g = given_by(b->p, origin);

		pos = g.pos[g.table[LOW] ? LOW : HIGH];
	}
	add_bits(&text, "no arbitration table serves VL", n->value);
	add_bits(&text, ", where SL2VL puts SL", sls_on(b, n->first, n->value));
	findings_add(b->out, SEV_WARNING, b->p->file, pos, "%s, on %s", text.s,
		     NOTE_PORTS(b, n));
	buf_free(&text);
}

/*
 * The VLs in use on a port.  Port 0 of a switch has no link and so no OperationalVLs: there, its own
 * tables count.
 */
static unsigned vls_in_use(const struct tables_build *b, uint32_t port)
{
	unsigned code = b->t->op_vls[port];

	return ib_vls_from_code(code ? code : ib_vls_to_code(b->highest[port] + 1u));
}

struct made {
	uint16_t id, served;	/* bit v: VL v has a weight */
};

struct completion {
	struct intern arbs;
	VEC(struct made) made;
	struct map64 known;	/* choice, VL sets and VLs -> index in made */
};

static struct made make_arb(struct tables_build *b, struct completion *done,
			    const struct arb_build *a, uint32_t choice, unsigned vls,
			    unsigned sets)
{
	uint64_t key = (uint64_t)choice << 16 | (uint64_t)sets << 8 | vls;
	uint32_t i = map64_get(&done->known, key);

	if (i == MAP64_NONE) {
		struct vlarb arb = sets > 1 ? complete_on_sets(&a->choices.v[choice], vls, sets)
					      : complete(&a->choices.v[choice], vls);

		i = (uint32_t)done->made.n;
		*vec_push(&done->made) = (struct made){
			table_number(b, &done->arbs, &arb),
			arbiter_high_vls(&arb) | arbiter_low_vls(&arb),
		};
		map64_put(&done->known, key, i);
	}
	return done->made.v[i];
}

void arb_complete(struct tables_build *b, struct arb_build *a)
{
	struct completion done = { .arbs.size = sizeof(struct vlarb) };

	for (uint32_t port = 0; port < b->f->n_ports; port++) {
		if (a->choice[port] == UINT32_MAX)
			continue;
		unsigned vls = vls_in_use(b, port);
		bool wide = b->wide[port];
		struct made m = make_arb(b, &done, a, a->choice[port],
					 wide ? ib_vls_from_code(b->limit[port]) : vls,
					 wide ? b->sls->n_vl_sets : 1);
		unsigned unserved = b->mapped[port] & ~m.served;

		b->t->arb[port] = m.id;
		if (vls > 1 && unserved)
			note_link(b, &a->unserved[arb_origin(&a->choices.v[a->choice[port]])],
				  port, unserved, 0);
	}
	for (uint32_t origin = 0; origin < ORIGIN_SCOPE((uint32_t)b->p->n_vlarb); origin++)
		report_unserved(b, a, origin);
	b->t->n_arbs = (uint32_t)done.arbs.n;
	b->t->arbs = intern_take(&done.arbs);
	vec_free(&done.made);
	map64_free(&done.known);
	stacks_free(&a->stacks);
	map64_free(&a->known);
	vec_free(&a->choices);
	free(a->choice);
	for (enum table t = HIGH; t <= LOW; t++) {
		free(a->lacking[t]);
		free(a->folded[t]);
		free(a->too_long[t]);
		free(a->broken[t]);
	}
	free(a->unserved);
	free(a);
}
