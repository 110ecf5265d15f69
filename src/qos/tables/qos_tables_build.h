/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables in the making: what sl2vl.c, vlarb.c and qos_tables.c share.
 *
 * A table has an origin: built in, the default of a class of port, or a scope.
 */
#ifndef QOSD_QOS_TABLES_QOS_TABLES_BUILD_H
#define QOSD_QOS_TABLES_QOS_TABLES_BUILD_H

#include "qos/intern.h"
#include "qos/tables/qos_tables.h"
#include "qos/tables/table_scopes.h"

#define ORIGIN_BUILTIN 0
#define ORIGIN_CLASS(c) (1u + (c))
#define ORIGIN_SCOPE(n) (1u + PORT_CLASS_COUNT + (n))

/* A finding about an origin, which may concern many ports: they are counted. */
struct note {
	uint32_t ports, first, last;
	unsigned value, limit;		/* at the first port: what is given, what it can */
};

struct tables_build {
	const struct policy *p;
	const struct fabric *f;
	const struct group_sets *g;
	struct findings *out;
	struct qos_tables *t;
	unsigned max_vls;	/* of any link */
	const struct sl_plan *sls;
	uint8_t *limit;		/* per port slot: VL code that the link can on a lane; 0: no tables */
	uint8_t *wide;		/* per port slot: … that it can on all lanes, if it has several; else 0 */
	uint8_t *lanes;		/* per port slot: sl_plan_lane_kind() of packets that hosts send into the switch */
	uint8_t *highest;	/* per port slot: the highest VL that its own tables use */
	uint16_t *mapped;	/* per port slot: the VLs that SL2VL sends to; bit v */
	bool *by_classes;	/* per port slot: not excepted from the traffic classes; NULL: none */
};

/* Counts a port once, if its calls come one after the other. */
void note_port(struct note *n, uint32_t port, unsigned value, unsigned limit);
/*
 * The same of what the port's link lacks; not of the link to an aggregation node, which
 * carries nothing that a policy is for.
 */
void note_link(const struct tables_build *b, struct note *n, uint32_t port, unsigned value,
	       unsigned limit);
/* "host1/P1 (0x…) and 3 more ports" */
char *note_ports_text(const struct tables_build *b, const struct note *n, char *out, size_t size);
#define NOTE_TEXT_MAX (FABRIC_NAME_MAX + 32)
/* A number of a list of interned tables, which fits into 16 bits (else an error finding). */
uint16_t table_number(struct tables_build *b, struct intern *tables, const void *table);
/* Warns if the scope names no port; an error for each list with a port that a device lacks. */
void report_reach(struct tables_build *b, struct src_pos pos, const struct policy_name *group,
		  const struct scope *scope, const struct scope_reach *reach);
/*
 * The VL of an SL where the policy has no table; SL 15, for which there never is a VL, shares VL 7 as
 * is customary.
 */
static inline unsigned builtin_vl(unsigned sl, unsigned vls)
{
	return (sl < 15 ? sl : 7) % vls;
}

/* A lane's share of the VLs, as codes. */
static inline uint8_t vl_code_on_lane(unsigned code, unsigned n_lanes)
{
	unsigned vls = ib_vls_from_code(code) / n_lanes;

	while (code > 1 && ib_vls_from_code(code) > vls)
		code--;
	return (uint8_t)code;
}

/* The VL that a layer has on a link for `vl` of lane 0; kind: how its lanes are shared, see sl_plan.h. */
static inline unsigned vl_in_layer(const struct tables_build *b, uint32_t port, unsigned kind, unsigned vl,
				   unsigned layer)
{
	return vl + sl_plan_lane(kind, layer) * ib_vls_from_code(b->limit[port]);
}

static inline void use_vl(struct tables_build *b, uint32_t port, uint8_t vl)
{
	if (vl > b->highest[port])
		b->highest[port] = vl;
}

/* The traffic classes' fit of a port, or NULL. */
static inline const struct class_fit *port_fit(const struct tables_build *b, uint32_t port)
{
	uint16_t fit = b->t->fit[port];

	return fit == TABLE_NONE ? NULL : &b->t->fits[fit];
}

/* Fills fits, n_fits and fit of t, and by_classes. */
void build_fits(struct tables_build *b);
/*
 * Takes the ports that the traffic classes hold for away from all scopes laid
 * on s, numbered from 0, with an error for each scope that loses any.
 */
void yield_to_classes(struct tables_build *b, struct stacks *s, uint32_t n_scopes,
		      struct src_pos (*pos_of)(const struct policy *p, uint32_t scope));

/* Fills ca_map, sw and maps of t, and mapped; raises `highest`. */
void build_sl2vl(struct tables_build *b);

/*
 * VL arbitration in two steps, as the built-in tables serve the VLs of a link
 * that OperationalVLs allows, which depends on all that is given: first what
 * is given (raises `highest`), then, with op_vls set, arb and arbs of t.
 */
struct arb_build;
struct arb_build *arb_choose(struct tables_build *b);
void arb_complete(struct tables_build *b, struct arb_build *a);	/* frees a */

#endif
