/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fits traffic classes to the links of a fabric and reports the results as findings.
 *
 * It computes one fit per kind of link.  The classes make the tables of a port in none of the groups of
 * `except` if the port has a link and SL2VL tables at all; fabric-setup then does not apply to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/iba/units.h"
#include "qos/tables/qos_tables_build.h"

/* --- ports by classes --- */

static void find_excepted(struct tables_build *b)
{
	const struct policy *p = b->p;
	struct port_list every = { .all = true };
	struct stacks s;

	stacks_init(&s, b->f);
	for (uint32_t i = 0; i < p->classes_except.n; i++) {
		struct scope scope = {
			SCOPE_GROUP, groups_find(b->g, p, p->classes_except.v[i].s), NULL, &every,
		};

		stacks_add(&s, b->g, &scope, i);
	}
	b->by_classes = xcalloc(b->f->n_ports, sizeof(*b->by_classes));
	for (uint32_t port = 0; port < b->f->n_ports; port++)
		b->by_classes[port] = s.of_port[port] == STACK_EMPTY;
	stacks_free(&s);
}

/* On a switch, port 0 tells whether there are such tables. */
static bool has_sl2vl(const struct fabric *f, uint32_t port)
{
	const struct fabric_node *n = port_node(f, port);

	return f->ports[node_is_switch(n) ? n->port0 : port].capmask & IB_CAP_SL_MAP;
}

/* --- a fit per kind of link --- */

static struct class_link link_of(const struct tables_build *b, uint32_t port)
{
	const struct fabric_port *p = &b->f->ports[port];
	struct class_link l = {
		.vls = (uint8_t)ib_vls_from_code(b->limit[port]), .mtu = port_link_mtu(b->f, port),
	};

	unsigned sets = b->wide[port] ? b->sls->n_vl_sets : 1;

	/* With one VL the tables do not matter, so they do not distinguish kinds of link. */
	if (l.vls > 1) {
		l.high_cap = (uint8_t)(p->vlarb_high_cap / sets);
		l.low_cap = (uint8_t)(p->vlarb_low_cap / sets);
	}
	return l;
}

struct fit_build {
	struct tables_build *b;
	struct traffic_class c[CLASSES_MAX];
	unsigned n;
	VEC(struct class_fit) fits;
	VEC(struct note) ports;		/* [fit]: ports of that kind; without links to aggregation nodes */
	struct map64 known;		/* link -> fit */
	struct note no_sl2vl;
};

static uint16_t fit_of(struct fit_build *fb, uint32_t port)
{
	struct class_link l = link_of(fb->b, port);
	uint64_t key = (uint64_t)l.vls << 24 | (uint64_t)l.high_cap << 16 |
		       (uint64_t)l.low_cap << 8 | l.mtu;
	uint32_t i = map64_get(&fb->known, key);

	if (i == MAP64_NONE) {
		if (fb->fits.n == TABLE_NONE)
			return TABLE_NONE;	/* more tables than numbers; table_number() reports that */
		i = (uint32_t)fb->fits.n;
		classes_fit(fb->c, fb->n, &l, vec_push(&fb->fits));
		*vec_push(&fb->ports) = (struct note){ 0 };
		map64_put(&fb->known, key, i);
	}
	note_link(fb->b, &fb->ports.v[i], port, 0, 0);
	return (uint16_t)i;
}

static void fit_ports(struct fit_build *fb)
{
	struct tables_build *b = fb->b;

	for (uint32_t port = 0; port < b->f->n_ports; port++) {
		if (!b->by_classes[port] || !b->limit[port])
			continue;
		if (has_sl2vl(b->f, port))
			b->t->fit[port] = fit_of(fb, port);
		else
			note_link(b, &fb->no_sl2vl, port, 0, 0);
	}
}

/* --- findings --- */

static void add_names(const struct policy_class *c, struct buf *out)
{
	for (size_t i = 0; i < c->level_names.n; i++)
		buf_printf(out, "%s\"%s\"", i ? " and " : "", c->level_names.v[i].s);
}

/* `"a", "b" on VL 0; "c", "d" on VL 2` */
static void add_sharing(const struct fit_build *fb, const struct class_fit *fit, struct buf *out)
{
	for (unsigned vl = 0; vl < fit->vls_used; vl++) {
		struct buf names = { 0 };
		unsigned n = 0;

		for (unsigned i = 0; i < fit->n; i++) {
			if (fit->vl[i] != vl)
				continue;
			if (n++)
				buf_puts(&names, ", ");
			add_names(&fb->b->p->classes[i], &names);
		}
		if (n > 1)
			buf_printf(out, "%s%s on VL %u", out->n ? "; " : "", names.s, vl);
		buf_free(&names);
	}
}

static bool share_alike(const struct class_fit *a, const struct class_fit *b)
{
	return a->link.vls == b->link.vls && !memcmp(a->vl, b->vl, a->n);
}

/* Reports once for all links with equally many VLs where the same classes share them. */
static void report_sharing(const struct fit_build *fb, uint32_t i)
{
	const struct class_fit *fit = &fb->fits.v[i];
	struct tables_build *b = fb->b;
	struct note ports = fb->ports.v[i];
	struct buf sharing = { 0 };

	if (!fit->merged || !ports.ports)
		return;
	for (uint32_t j = 0; j < fb->fits.n; j++) {
		if (j == i || !fb->ports.v[j].ports || !share_alike(&fb->fits.v[j], fit))
			continue;
		if (j < i)
			return;
		ports.ports += fb->ports.v[j].ports;
	}
	add_sharing(fb, fit, &sharing);
	findings_add(b->out, fit->vls_used == 1 ? SEV_WARNING : SEV_INFO, b->p->file,
		     b->p->classes[__builtin_ctz(fit->merged)].pos,
		     "%u data VL%s for %u traffic classes on the link of %s: %s%s",
		     fit->vls_used, fit->vls_used == 1 ? "" : "s", fit->n,
		     NOTE_PORTS(b, &ports), sharing.s,
		     fit->vls_used == 1 ? ", with neither shares nor priority" : "");
	buf_free(&sharing);
}

struct miss {
	unsigned class;
	int32_t asked, achieved;
	bool of_low;
};

static void consider(struct miss *m, unsigned class, int32_t asked, int32_t achieved, bool of_low)
{
	if (asked >= 0 && abs(asked - achieved) > abs(m->asked - m->achieved))
		*m = (struct miss){ class, asked, achieved, of_low };
}

/* The class whose share is missed most. */
static struct miss worst_miss(const struct class_fit *fit)
{
	struct miss m = { 0 };

	for (unsigned i = 0; i < fit->n; i++) {
		consider(&m, i, fit->asked[i], fit->achieved[i], false);
		consider(&m, i, fit->asked_low[i], fit->achieved_low[i], true);
	}
	return m;
}

/* The class of high priority that exceeds what it asks most; fit->least_high is not -1. */
static struct miss worst_excess(const struct class_fit *fit, const struct policy *p)
{
	struct miss m = { 0 };

	for (unsigned i = 0; i < fit->n; i++)
		if (p->classes[i].high)
			consider(&m, i, fit->asked[i], fit->achieved[i], false);
	return m;
}

/* Says how little of a link high priority can be held to, where the policy asks for less. */
static void report_least(const struct fit_build *fb, uint32_t i)
{
	const struct class_fit *fit = &fb->fits.v[i];
	struct tables_build *b = fb->b;
	struct miss m = worst_excess(fit, b->p);
	const struct policy_class *c = &b->p->classes[m.class];
	bool given = false;
	struct buf names = { 0 };

	for (size_t k = 0; k < b->p->n_classes; k++)
		given = given || b->p->classes[k].high_limit >= 0;
	add_names(c, &names);
	findings_add(b->out, SEV_WARNING, b->p->file, c->pos,
		     "%s gets %d.%02d %% of the link instead of %d.%02d %%: high priority cannot be held "
		     "below %d.%02d %% of a link%s, because the arbiter sends it %s for each packet of "
		     "low priority; ask for that much, or take low priority, on %s",
		     names.s, m.achieved / 100, m.achieved % 100, c->share / 100, c->share % 100,
		     fit->least_high / 100, fit->least_high % 100,
		     given ? " with this limit" : "",
		     given ? "as many packets as the limit allows" : "at least one packet",
		     NOTE_PORTS(b, &fb->ports.v[i]));
	buf_free(&names);
}

static void report_miss(const struct fit_build *fb, uint32_t i)
{
	const struct class_fit *fit = &fb->fits.v[i];
	struct tables_build *b = fb->b;
	struct miss m = worst_miss(fit);
	int32_t share = b->p->classes[m.class].share;
	char written[48] = "";
	struct buf names = { 0 };

	if (!fit->inexact || !fb->ports.v[i].ports)
		return;
	if (fit->least_high >= 0) {
		report_least(fb, i);
		return;
	}
	if (share >= 0 && share != m.asked)
		snprintf(written, sizeof(written), ", from a share of %d.%02d %%", share / 100, share % 100);
	add_names(&b->p->classes[m.class], &names);
	findings_add(b->out, SEV_WARNING, b->p->file, b->p->classes[m.class].pos,
		     "%s gets %d.%02d %% of %s instead of %d.%02d %%%s: the closest that %u entries of high "
		     "and %u of low priority can provide with an MTU of %u, on %s",
		     names.s, m.achieved / 100, m.achieved % 100,
		     m.of_low ? "what high priority leaves" : "the link",
		     m.asked / 100, m.asked % 100, written, fit->link.high_cap, fit->link.low_cap,
		     mtu_bytes(fit->link.mtu),
		     NOTE_PORTS(b, &fb->ports.v[i]));
	buf_free(&names);
}

static void report_fits(const struct fit_build *fb)
{
	struct tables_build *b = fb->b;

	for (uint32_t i = 0; i < fb->fits.n; i++) {
		report_sharing(fb, i);
		report_miss(fb, i);
	}
	if (fb->no_sl2vl.ports)
		findings_add(b->out, SEV_WARNING, b->p->file, b->p->classes[0].pos,
			     "%s: no SL2VL tables, so all traffic classes are on VL 0 there",
			     NOTE_PORTS(b, &fb->no_sl2vl));
}

/* --- build --- */

/* Converts the classes for qos/arbiter/; false, with an error, if they are inconsistent. */
static bool read_classes(struct fit_build *fb)
{
	const struct policy *p = fb->b->p;
	const char *why;
	unsigned at = CLASSES_MAX;

	if (p->n_classes > CLASSES_MAX) {
		findings_add(fb->b->out, SEV_ERROR, p->file, p->classes[at].pos,
			     "more than %u traffic classes", CLASSES_MAX);
		return false;
	}
	for (size_t i = 0; i < p->n_classes; i++)
		fb->c[fb->n++] = (struct traffic_class){
			p->classes[i].high, p->classes[i].share, p->classes[i].high_limit,
		};
	why = classes_check(fb->c, fb->n, &at);
	if (why)
		findings_add(fb->b->out, SEV_ERROR, p->file, p->classes[at].pos, "%s", why);
	return !why;
}

void build_fits(struct tables_build *b)
{
	struct fit_build fb = { .b = b };

	if (!b->p->n_classes || !read_classes(&fb))
		return;
	find_excepted(b);
	fit_ports(&fb);
	report_fits(&fb);
	b->t->fits = fb.fits.v;
	b->t->n_fits = (uint32_t)fb.fits.n;
	vec_free(&fb.ports);
	map64_free(&fb.known);
}

/* Adds an error for each scope that names ports of the classes; the scope loses them. */
void yield_to_classes(struct tables_build *b, struct stacks *s, uint32_t n_scopes,
		      struct src_pos (*pos_of)(const struct policy *p, uint32_t scope))
{
	struct note *notes;

	if (!b->by_classes || !n_scopes)
		return;
	notes = xcalloc(n_scopes, sizeof(*notes));
	for (uint32_t port = 0; port < b->f->n_ports; port++) {
		if (!b->by_classes[port])
			continue;
		for (uint32_t t = s->of_port[port]; t != STACK_EMPTY; t = s->node.v[t].below)
			note_port(&notes[s->node.v[t].scope], port, 0, 0);
		s->of_port[port] = STACK_EMPTY;
	}
	for (uint32_t i = 0; i < n_scopes; i++)
		if (notes[i].ports)
			findings_add(b->out, SEV_ERROR, b->p->file, pos_of(b->p, i),
				     "the traffic classes apply to %s and override this setting unless "
				     "\"except\" names a group with such ports",
				     NOTE_PORTS(b, &notes[i]));
	free(notes);
}
