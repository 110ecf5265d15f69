/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes how many layers a policy permits, and the SL of each level in each layer; see sl_plan.h. */
#include "qos/sl_plan.h"

#include "qos/tables/qos_tables_build.h"

/* Bit s: a level uses SL s.  SL 0 is always included, because programs use it without a query. */
static uint16_t level_sls(const struct policy *p)
{
	uint16_t sls = 1;

	for (size_t i = 0; i < p->n_levels; i++)
		sls |= (uint16_t)(1u << p->levels[i].sl);
	return sls;
}

bool sl_plan_has_own_tables(const struct policy *p)
{
	for (unsigned c = 0; c < PORT_CLASS_COUNT; c++)
		if (p->defaults[c].has_sl2vl || p->defaults[c].has_high || p->defaults[c].has_low)
			return true;
	return p->n_sl2vl || p->n_vlarb;
}

/* The fewest usable data VLs on any link between switches; 0: there is no such link. */
static unsigned fewest_vls(const struct policy *p, const struct fabric *f, unsigned max_vls)
{
	unsigned by_class = p->defaults[CLASS_SWITCH].max_vls, fewest = 0;

	if (by_class && by_class < max_vls)
		max_vls = by_class;
	for (uint32_t i = 0; i < f->n_ports; i++) {
		unsigned code = f->ports[i].vl_cap, vls;

		if (!link_joins_switches(f, i))
			continue;
		while (code > 1 && ib_vls_from_code(code) > max_vls)
			code--;
		vls = ib_vls_from_code(code);
		if (!fewest || vls < fewest)
			fewest = vls;
	}
	return fewest;
}

/* The name of a level with the SL; SL 0 may have none. */
static const char *level_of(const struct policy *p, unsigned sl)
{
	for (size_t i = 0; i < p->n_levels; i++)
		if (p->levels[i].sl == sl)
			return p->levels[i].name;
	return "SL 0";
}

/* Finds two SLs of levels that share a VL within a layer, though not on a whole link with `vls` VLs. */
static bool find_shared(uint16_t levels, unsigned vls, unsigned in_layer, unsigned *a, unsigned *b)
{
	for (*b = 1; *b < IB_SL_COUNT; (*b)++)
		for (*a = 0; *a < *b; (*a)++)
			if ((levels >> *a & levels >> *b & 1) &&
			    builtin_vl(*a, in_layer) == builtin_vl(*b, in_layer) &&
			    builtin_vl(*a, vls) != builtin_vl(*b, vls))
				return true;
	return false;
}

/* Whether n layers on links with `vls` VLs keep apart the levels and classes that one layer keeps apart. */
static bool layers_fit(const struct policy *p, unsigned vls, unsigned n)
{
	unsigned in_layer = ib_vls_from_code(vl_code_of_set(ib_vls_to_code(vls), n)), a, b;

	if (vls < n)
		return false;
	return p->n_classes ? in_layer >= p->n_classes :
			      !find_shared(level_sls(p), vls, in_layer, &a, &b);
}

/* Appends the levels that would share a VL with n layers, if that is what rules n layers out. */
static void put_shared(const struct policy *p, unsigned vls, unsigned n, struct buf *why)
{
	unsigned in_layer = ib_vls_from_code(vl_code_of_set(ib_vls_to_code(vls), n)), a, b;

	if (vls < n || layers_fit(p, vls, n))
		return;
	if (p->n_classes)
		buf_printf(why, "; %u layers would have %u VL%s each", n, in_layer,
			   in_layer == 1 ? "" : "s");
	else if (find_shared(level_sls(p), vls, in_layer, &a, &b))
		buf_printf(why, "; in %u layers levels %s and %s would share a VL", n, level_of(p, a),
			   level_of(p, b));
}

unsigned sl_plan_most(const struct policy *p, const struct fabric *f, unsigned max_vls,
		      struct buf *why)
{
	unsigned levels = (unsigned)__builtin_popcount(level_sls(p));
	unsigned by_sls = IB_SL_COUNT / levels, vls = fewest_vls(p, f, max_vls), most = 1;

	if (sl_plan_has_own_tables(p)) {
		buf_puts(why, "the policy's own SL2VL or VL arbitration tables apply to all SLs");
		return 1;
	}
	while (most < SL_LAYERS_MAX && layers_fit(p, vls, most + 1))
		most++;
	buf_printf(why, "%u data VL%s on links between switches, ", vls, vls == 1 ? "" : "s");
	if (p->n_classes)
		buf_printf(why, "%zu traffic class%s", p->n_classes, p->n_classes == 1 ? "" : "es");
	else
		buf_printf(why, "%u SL%s of levels", levels, levels == 1 ? "" : "s");
	if (by_sls < most) {
		most = by_sls;
		buf_printf(why, ", and 16 SLs for %u of levels", levels);
	} else if (most < SL_LAYERS_MAX) {
		put_shared(p, vls, most + 1, why);
	}
	return most;
}

unsigned sl_plan_most_shared(const struct policy *p, const struct fabric *f, unsigned max_vls)
{
	unsigned by_sls = IB_SL_COUNT / (unsigned)__builtin_popcount(level_sls(p));

	if (sl_plan_has_own_tables(p) || !layers_fit(p, fewest_vls(p, f, max_vls), 2))
		return 0;
	return by_sls < SL_LAYERS_MAX ? by_sls : SL_LAYERS_MAX;
}

/* The kind of the link by which a switch sends from a port (routing/layers.h). */
static uint8_t link_of(const struct sl_plan *x, const struct fabric *f, uint32_t port)
{
	if (port == FABRIC_NONE || !link_joins_switches(f, port))
		return ROUTE_LINK_FIRST;
	return route_link(x->layers, port_node(f, port)->sw, f->ports[port].num);
}

unsigned sl_plan_vl_set_kind(const struct sl_plan *x, const struct fabric *f, uint32_t in, uint32_t port)
{
	uint8_t link;

	if (x->n_vl_sets == 1 || !link_joins_switches(f, port))
		return SL_VL_SETS_NONE;
	if (!x->layers || !x->layers->link)
		return SL_VL_SETS_OWN;
	link = link_of(x, f, port);
	if (link == ROUTE_LINK_FIRST)
		return SL_VL_SETS_NONE;
	if (link == ROUTE_LINK_NEAR && link_of(x, f, in) == ROUTE_LINK_FAR)
		return SL_VL_SETS_FIRST;
	return SL_VL_SETS_BIT + (link >= ROUTE_LINK_FAR ? 0u : link & ROUTE_LINK_BITS);
}

bool sl_plan_minds_entry(const struct sl_plan *x, const struct fabric *f, uint32_t port)
{
	return route_vl_sets_by_entry(x->layers) && link_of(x, f, port) == ROUTE_LINK_NEAR;
}

void sl_plan_make(struct sl_plan *x, const struct policy *p, const struct route_layers *y)
{
	uint16_t levels = level_sls(p);
	unsigned next = 0, n_layers = y ? y->n : 1;

	*x = (struct sl_plan){ .n_layers = n_layers, .n_vl_sets = y ? y->n_vl_sets : 1, .layers = y };
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		x->base[sl] = x->sl[sl][0] = (uint8_t)sl;
		for (unsigned layer = 1; layer < SL_LAYERS_MAX; layer++)
			x->sl[sl][layer] = (uint8_t)sl;
	}
	for (unsigned layer = 1; layer < n_layers; layer++)
		for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
			if (!(levels >> sl & 1))
				continue;
			while (levels >> next & 1)
				next++;
			x->sl[sl][layer] = (uint8_t)next;
			x->base[next] = (uint8_t)sl;
			x->layer[next++] = (uint8_t)layer;
		}
}

uint16_t sl_plan_levels(const struct sl_plan *x, uint16_t sls)
{
	uint16_t levels = 0;

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (sls >> sl & 1)
			levels |= (uint16_t)(1u << x->base[sl]);
	return levels;
}

uint16_t sl_plan_unnamed(const struct sl_plan *x, const struct policy *p)
{
	uint16_t named = 0, unnamed = 0;

	for (size_t i = 0; i < p->n_levels; i++)
		named |= (uint16_t)(1u << p->levels[i].sl);
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (!(named >> x->base[sl] & 1))
			unnamed |= (uint16_t)(1u << sl);
	return unnamed;
}
