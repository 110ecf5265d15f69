/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds SL2VL tables (IBA 7.6.6): for each out port, one table per in port, fitted to the link's VLs.
 *
 * Which table applies depends on the out port alone, unless a scope that names it has a `from`, or the
 * VL set of a layer there depends on the in port (sl_plan.h).  No scope names a port to which traffic
 * classes apply.
 */
#include <stdlib.h>

#include "qos/tables/qos_tables_build.h"

/* A table of one origin, fitted to links of one VL code. */
struct fitted {
	bool known;
	uint16_t id;
	uint16_t vls;		/* bit v: the table uses VL v; without VL 15 */
	uint8_t lacking;	/* highest given VL that such a link lacks; 0: none */
};
#define VL_CODES 6

struct map_build {
	struct tables_build *b;
	struct stacks stacks;
	struct intern maps;
	struct fitted *fitted;	/* [(origin * VL_CODES + code) * SL_VL_SET_KINDS + kind of VL sets] */
	struct fitted *by_classes;	/* [fit of the traffic classes * SL_VL_SET_KINDS + kind of VL sets] */
	struct note *notes;	/* [origin]: VLs that ports lack */
};

static const struct sl2vl *given_table(const struct policy *p, uint32_t origin)
{
	if (origin >= ORIGIN_SCOPE(0))
		return &p->sl2vl[origin - ORIGIN_SCOPE(0)].table;
	return &p->defaults[origin - ORIGIN_CLASS(0)].sl2vl;
}

/* Fits a given table to `vls` VLs.  Returns the highest given VL that is not among them, or 0. */
static uint8_t fit_given(struct sl2vl *out, const struct sl2vl *given, unsigned vls, bool fold)
{
	uint8_t lacking = 0;

	*out = *given;
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		uint8_t vl = given->vl[sl];

		if (vl < vls || vl == IB_VL_DROP)
			continue;
		if (vl > lacking)
			lacking = vl;
		out->vl[sl] = fold ? fold_vl(vl, vls) : IB_VL_DROP;
	}
	return lacking;
}

/*
 * Maps the SLs of layers other than 0 to the VL of the level's own SL, shifted by the VL set's offset where
 * there are several VL sets.
 */
static void lay_layers(const struct map_build *m, uint32_t out, unsigned kind, struct sl2vl *map)
{
	const struct sl_plan *sls = m->b->sls;
	struct sl2vl one = *map;

	for (unsigned sl = 0; sl < IB_SL_COUNT && sls->n_layers > 1; sl++) {
		unsigned vl = one.vl[sls->base[sl]];

		map->vl[sl] = (uint8_t)(vl == IB_VL_DROP ? vl : vl_in_layer(m->b, out, kind, vl, sls->layer[sl]));
	}
}

static void number_table(struct map_build *m, struct fitted *t, const struct sl2vl *map)
{
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (map->vl[sl] != IB_VL_DROP)
			t->vls |= (uint16_t)(1u << map->vl[sl]);
	t->id = table_number(m->b, &m->maps, map);
}

static const struct fitted *fit(struct map_build *m, uint32_t origin, uint32_t out, unsigned kind)
{
	unsigned code = m->b->limit[out];
	struct fitted *t = &m->fitted[(origin * VL_CODES + code) * SL_VL_SET_KINDS + kind];
	const struct policy *p = m->b->p;
	struct sl2vl map;

	if (t->known)
		return t;
	t->known = true;
	for (unsigned sl = 0; sl < IB_SL_COUNT && origin == ORIGIN_BUILTIN; sl++)
		map.vl[sl] = (uint8_t)builtin_vl(sl, ib_vls_from_code(code));
	if (origin != ORIGIN_BUILTIN)
		t->lacking = fit_given(&map, given_table(p, origin), ib_vls_from_code(code),
				       p->unsupported_vl == UNSUPPORTED_VL_FOLD);
	lay_layers(m, out, kind, &map);
	number_table(m, t, &map);
	return t;
}

static const struct fitted *table_of_classes(struct map_build *m, uint16_t fit, uint32_t out, unsigned kind)
{
	const struct class_fit *cf = &m->b->t->fits[fit];
	struct fitted *t = &m->by_classes[fit * SL_VL_SET_KINDS + kind];
	struct sl2vl map;

	if (t->known)
		return t;
	t->known = true;
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		map.vl[sl] = cf->vl[m->b->p->class_of_sl[sl]];
	lay_layers(m, out, kind, &map);
	number_table(m, t, &map);
	return t;
}

/* The origin of the table between in and the out port: the last scope with both, else a default. */
static uint32_t origin_of(const struct map_build *m, uint32_t out, unsigned in)
{
	const struct policy *p = m->b->p;
	enum port_class c = port_class_of(m->b->f, out);

	for (uint32_t s = m->stacks.of_port[out]; s != STACK_EMPTY;
	     s = m->stacks.node.v[s].below) {
		uint32_t scope = m->stacks.node.v[s].scope;

		if (port_list_has(&p->sl2vl[scope].from, in))
			return ORIGIN_SCOPE(scope);
	}
	return p->defaults[c].has_sl2vl ? ORIGIN_CLASS(c) : ORIGIN_BUILTIN;
}

static bool depends_on_in(const struct map_build *m, uint32_t out)
{
	uint32_t s = m->stacks.of_port[out];

	return (s != STACK_EMPTY && !m->b->p->sl2vl[m->stacks.node.v[s].scope].from.all) ||
	       sl_plan_minds_entry(m->b->sls, m->b->f, out);
}

/* The table for an out port.  kind: see sl_plan_vl_set_kind(). */
static const struct fitted *table_of(struct map_build *m, uint32_t out, uint32_t origin, unsigned kind)
{
	uint16_t by_classes = m->b->t->fit[out];

	return by_classes != TABLE_NONE ? table_of_classes(m, by_classes, out, kind)
					: fit(m, origin, out, kind);
}

static uint16_t use_table(struct map_build *m, uint32_t out, uint32_t origin, unsigned kind)
{
	const struct fitted *t = table_of(m, out, origin, kind);

	m->b->mapped[out] |= t->vls;
	if (t->vls)
		use_vl(m->b, out, (uint8_t)(31 - __builtin_clz(t->vls)));
	if (t->lacking)
		note_link(m->b, &m->notes[origin], out, t->lacking,
			  ib_vls_from_code(m->b->limit[out]));
	return t->id;
}

/* The last scope that names a CA port wins, whatever its `from`: a CA has no in port. */
static void build_ca_port(struct map_build *m, uint32_t port)
{
	uint32_t s = m->stacks.of_port[port];
	uint32_t origin = s == STACK_EMPTY ? origin_of(m, port, 0)
					   : ORIGIN_SCOPE(m->stacks.node.v[s].scope);

	if (m->b->limit[port] && m->b->f->ports[port].capmask & IB_CAP_SL_MAP)
		m->b->t->ca_map[port] = use_table(m, port, origin, m->b->set_kind[port]);
}

/* Whether one table, *id, serves all out ports and none depends on the in port. */
static bool is_uniform(struct map_build *m, const struct fabric_node *n, uint16_t *id)
{
	*id = TABLE_NONE;
	for (uint32_t port = n->port0; port <= n->port0 + n->nports; port++) {
		if (!m->b->limit[port])
			continue;
		if (depends_on_in(m, port))
			return false;
		uint16_t t = table_of(m, port, origin_of(m, port, 0), m->b->set_kind[port])->id;

		if (*id != TABLE_NONE && *id != t)
			return false;
		*id = t;
	}
	return true;
}

static uint16_t use_table_from(struct map_build *m, const struct fabric_node *n, unsigned in, uint32_t out)
{
	unsigned kind = sl_plan_vl_set_kind(m->b->sls, m->b->f, n->port0 + in, out);

	return use_table(m, out, origin_of(m, out, in), kind);
}

static void fill_column(struct map_build *m, const struct fabric_node *n, unsigned out,
			uint16_t *ids)
{
	uint32_t port = n->port0 + out;
	bool varies = depends_on_in(m, port);
	uint16_t id = varies ? TABLE_NONE : use_table(m, port, origin_of(m, port, 0), m->b->set_kind[port]);

	for (unsigned in = 0; in <= n->nports; in++) {
		/* Can a packet go from in to another port of the switch? */
		if (!(in == 0 || (in != out && m->b->f->ports[n->port0 + in].peer != FABRIC_NONE)))
			continue;
		ids[in * (n->nports + 1u) + out] =
			varies ? use_table_from(m, n, in, port) : id;
	}
}

/* Fills in a table for each pair; uses a uniform one if all turn out to be the same. */
static void build_matrix(struct map_build *m, const struct fabric_node *n, struct switch_maps *s)
{
	size_t size = (n->nports + 1u) * (n->nports + 1u);
	uint16_t *ids = xmalloc(size * sizeof(*ids)), any = TABLE_NONE;
	bool differ = false;

	for (size_t i = 0; i < size; i++)
		ids[i] = TABLE_NONE;
	for (unsigned out = 0; out <= n->nports; out++)
		if (m->b->limit[n->port0 + out])
			fill_column(m, n, out, ids);
	for (size_t i = 0; i < size; i++) {
		if (ids[i] == TABLE_NONE)
			continue;
		differ |= any != TABLE_NONE && any != ids[i];
		any = ids[i];
	}
	s->uniform = differ ? TABLE_NONE : any;
	s->ids = differ ? ids : NULL;
	if (!differ)
		free(ids);
}

static void build_switch(struct map_build *m, uint32_t sw)
{
	const struct fabric *f = m->b->f;
	const struct fabric_node *n = &f->nodes[f->switches[sw].node];
	struct switch_maps *s = &m->b->t->sw[sw];

	/* On a switch, port 0 tells whether there are such tables. */
	if (!(f->ports[n->port0].capmask & IB_CAP_SL_MAP))
		return;
	if (!is_uniform(m, n, &s->uniform)) {
		build_matrix(m, n, s);
		return;
	}
	for (uint32_t port = n->port0; port <= n->port0 + n->nports; port++)
		if (m->b->limit[port])
			use_table(m, port, origin_of(m, port, 0), m->b->set_kind[port]);
}

static void report_lacking_vls(struct map_build *m, uint32_t origin, struct src_pos pos)
{
	const struct policy *p = m->b->p;
	bool fold = p->unsupported_vl == UNSUPPORTED_VL_FOLD;
	const struct note *n = &m->notes[origin];

	if (n->ports)
		findings_add(m->b->out, fold ? SEV_INFO : SEV_WARNING, p->file, pos,
			     "VL %u does not exist on the link of %s, which has %u data VL%s: %s", n->value,
			     NOTE_PORTS(m->b, n), n->limit,
			     n->limit == 1 ? "" : "s",
			     fold ? "its SLs are mapped to these" : "packets of its SLs are dropped "
			     		"(VL15)");
}

static struct src_pos scope_pos(const struct policy *p, uint32_t scope)
{
	return p->sl2vl[scope].pos;
}

static void lay_scopes(struct map_build *m)
{
	const struct policy *p = m->b->p;

	for (uint32_t i = 0; i < p->n_sl2vl; i++) {
		const struct policy_sl2vl *s = &p->sl2vl[i];
		struct scope scope = {
			s->kind, groups_find(m->b->g, p, s->group.s), &s->from, &s->to,
		};

		lay_scope(m->b, &m->stacks, i, s->pos, &s->group, &scope);
	}
	yield_to_classes(m->b, &m->stacks, (uint32_t)p->n_sl2vl, scope_pos);
}

void build_sl2vl(struct tables_build *b)
{
	const struct policy *p = b->p;
	size_t origins = ORIGIN_SCOPE(p->n_sl2vl);
	struct map_build m = {
		.b = b, .maps.size = sizeof(struct sl2vl),
		.fitted = xcalloc(origins * VL_CODES * SL_VL_SET_KINDS, sizeof(*m.fitted)),
		.by_classes = xcalloc((size_t)b->t->n_fits * SL_VL_SET_KINDS, sizeof(*m.by_classes)),
		.notes = xcalloc(origins, sizeof(*m.notes)),
	};

	stacks_init(&m.stacks, b->f);
	lay_scopes(&m);
	for (uint32_t i = 0; i < b->f->n_ports; i++)
		if (!node_is_switch(port_node(b->f, i)))
			build_ca_port(&m, i);
	for (uint32_t i = 0; i < b->f->n_switches; i++)
		build_switch(&m, i);
	for (unsigned c = 0; c < PORT_CLASS_COUNT; c++)
		report_lacking_vls(&m, ORIGIN_CLASS(c), p->defaults[c].sl2vl_pos);
	for (uint32_t i = 0; i < p->n_sl2vl; i++)
		report_lacking_vls(&m, ORIGIN_SCOPE(i), p->sl2vl[i].table_pos);
	b->t->n_maps = (uint32_t)m.maps.n;
	b->t->maps = intern_take(&m.maps);
	stacks_free(&m.stacks);
	free(m.fitted);
	free(m.by_classes);
	free(m.notes);
}
