/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See sl_plan.h. */
#include "qos/sl_plan.h"
#include "qos/tables.h"

/* SLs of levels, SL 0 included, which programs use that ask nobody: bit s. */
static uint16_t level_sls(const struct policy *p)
{
	uint16_t sls = 1;

	for (size_t i = 0; i < p->n_levels; i++)
		sls |= (uint16_t)(1u << p->levels[i].sl);
	return sls;
}

static bool has_own_tables(const struct policy *p)
{
	for (unsigned c = 0; c < PORT_CLASS_COUNT; c++)
		if (p->defaults[c].has_sl2vl || p->defaults[c].has_high || p->defaults[c].has_low)
			return true;
	return p->n_sl2vl || p->n_vlarb;
}

/* The fewest data VLs on any link between switches; 0: there is no such link. */
static unsigned fewest_vls(const struct policy *p, const struct fabric *f, unsigned max_vls)
{
	unsigned by_class = p->defaults[CLASS_SWITCH].max_vls, fewest = 0;

	if (by_class && by_class < max_vls)
		max_vls = by_class;
	for (uint32_t i = 0; i < f->n_ports; i++) {
		unsigned vls;

		if (!link_joins_switches(f, i))
			continue;
		vls = ib_vls_from_code(f->ports[i].vl_cap);
		vls = vls < max_vls ? vls : max_vls;
		if (!fewest || vls < fewest)
			fewest = vls;
	}
	return fewest;
}

unsigned sl_plan_most(const struct policy *p, const struct fabric *f, unsigned max_vls,
		      struct buf *why)
{
	unsigned levels = (unsigned)__builtin_popcount(level_sls(p));
	unsigned apart = p->n_classes ? (unsigned)p->n_classes : levels;
	unsigned by_sls = IB_SL_COUNT / levels, vls = fewest_vls(p, f, max_vls), most;

	if (has_own_tables(p)) {
		buf_puts(why, "the policy's own SL2VL or VL arbitration tables hold for all SLs");
		return 1;
	}
	most = vls / apart < 1 ? 1 : vls / apart;
	buf_printf(why, "%u data VL%s on links between switches, %u %s", vls, vls == 1 ? "" : "s", apart,
		   p->n_classes ? "traffic classes" : "SLs of levels");
	if (by_sls < most) {
		most = by_sls;
		buf_printf(why, ", and 16 SLs for %u of levels", levels);
	}
	return most < SL_LAYERS_MAX ? most : SL_LAYERS_MAX;
}

unsigned sl_plan_most_shared(const struct policy *p, const struct fabric *f, unsigned max_vls)
{
	unsigned levels = (unsigned)__builtin_popcount(level_sls(p)), by_sls = IB_SL_COUNT / levels;

	if (has_own_tables(p) || fewest_vls(p, f, max_vls) < 2 * (p->n_classes ? (unsigned)p->n_classes : levels))
		return 0;
	return by_sls < SL_LAYERS_MAX ? by_sls : SL_LAYERS_MAX;
}

unsigned sl_plan_lane_kind(const struct sl_plan *x, const struct fabric *f, uint32_t port)
{
	const struct route_layers *y = x->layers;
	uint8_t ring;

	if (x->n_lanes == 1 || !link_joins_switches(f, port))
		return SL_LANES_NONE;
	if (!y || !y->ring)
		return SL_LANES_OWN;
	ring = y->ring[(size_t)port_node(f, port)->sw * y->ring_ports + f->ports[port].num];
	return ring == ROUTE_NO_RING ? SL_LANES_NONE : SL_LANES_RING + (ring & ROUTE_RING_BITS);
}

void sl_plan_make(struct sl_plan *x, const struct policy *p, const struct route_layers *y)
{
	uint16_t levels = level_sls(p);
	unsigned next = 0, n_layers = y ? y->n : 1;

	*x = (struct sl_plan){ .n_layers = n_layers, .n_lanes = y ? y->n_lanes : 1, .layers = y };
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
