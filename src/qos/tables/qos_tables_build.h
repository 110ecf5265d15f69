/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declares what sl2vl.c, vlarb.c, class_fits.c and qos_tables.c share while they build tables.
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

/* A finding about an origin; it counts the ports concerned. */
struct note {
	uint32_t ports, first, last;
	unsigned value, limit;		/* at the first port: the given value, and the port's limit */
};

struct tables_build {
	const struct policy *p;
	const struct fabric *f;
	const struct group_sets *g;
	struct findings *out;
	struct qos_tables *t;
	unsigned max_vls;	/* limit for any link */
	const struct sl_plan *sls;
	uint8_t *limit;		/* [port slot]: VL code of what the link has for one VL set; 0: no tables */
	/* [port slot]: VL code of what the link supports on all VL sets, if it has several; else 0 */
	uint8_t *wide;
	uint8_t *set_kind;	/* [port slot]: sl_plan_vl_set_kind() for packets that arrive from hosts */
	uint8_t *highest;	/* [port slot]: highest VL that its own tables use */
	uint16_t *mapped;	/* [port slot]: bit v: SL2VL sends to VL v */
	bool *by_classes;	/* [port slot]: the traffic classes apply; NULL: no classes */
};

/* Counts a port in a note; consecutive calls for the same port count once. */
void note_port(struct note *n, uint32_t port, unsigned value, unsigned limit);
/*
 * As note_port(), for a limit of the port's link.  Links to aggregation nodes do not count: a policy does
 * not concern their traffic.
 */
void note_link(const struct tables_build *b, struct note *n, uint32_t port, unsigned value,
	       unsigned limit);
/* "host1/P1 (0x…) and 3 more ports" */
char *note_ports_text(const struct tables_build *b, const struct note *n, char *out, size_t size);
#define NOTE_TEXT_MAX (FABRIC_NAME_MAX + 32)
/* The same, in memory of the block in which the expression stands. */
#define NOTE_PORTS(b, n) note_ports_text(b, n, (char[NOTE_TEXT_MAX]){ "" }, NOTE_TEXT_MAX)
/*
 * The number of a table in the list of interned tables.  It must fit into 16 bits; otherwise adds an error
 * finding.
 */
uint16_t table_number(struct tables_build *b, struct intern *tables, const void *table);
/*
 * Adds scope n to the stacks of the ports that it names: a warning if it names none, an error for each
 * list with a port that a device lacks.
 */
void lay_scope(struct tables_build *b, struct stacks *s, uint32_t n, struct src_pos pos,
	       const struct policy_name *group, const struct scope *scope);
/*
 * The VL of an SL where the policy has no table.  SL 15 never has a VL of its own; it shares VL 7 as is
 * customary.
 */
static inline unsigned builtin_vl(unsigned sl, unsigned vls)
{
	return (sl < 15 ? sl : 7) % vls;
}

/* The VL that stands for VL `vl` on a link of `vls` data VLs, with `unsupported-vl: fold`. */
static inline uint8_t fold_vl(unsigned vl, unsigned vls)
{
	return (uint8_t)(vl % vls);
}

/* The VL code of one VL set's share of the VLs. */
static inline uint8_t vl_code_of_set(unsigned code, unsigned n_vl_sets)
{
	unsigned vls = ib_vls_from_code(code) / n_vl_sets;

	while (code > 1 && ib_vls_from_code(code) > vls)
		code--;
	return (uint8_t)code;
}

/* The VL that a layer uses on a link in place of VL `vl` of VL set 0; kind: see sl_plan_vl_set_kind(). */
static inline unsigned vl_in_layer(const struct tables_build *b, uint32_t port, unsigned kind, unsigned vl,
				   unsigned layer)
{
	return vl + sl_plan_vl_set(kind, layer) * ib_vls_from_code(b->limit[port]);
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
 * Removes the ports that the traffic classes apply to from all scopes laid on s, numbered from 0.  Adds an
 * error for each scope that loses any.
 */
void yield_to_classes(struct tables_build *b, struct stacks *s, uint32_t n_scopes,
		      struct src_pos (*pos_of)(const struct policy *p, uint32_t scope));

/* Fills ca_map, sw and maps of t, and mapped; raises `highest`. */
void build_sl2vl(struct tables_build *b);

/*
 * Builds VL arbitration in two steps, because the built-in tables serve the VLs that OperationalVLs
 * allows, which depends on all given tables.  arb_choose() collects the given tables and raises `highest`;
 * then, with op_vls set, arb_complete() fills arb and arbs of t.
 */
struct arb_build;
struct arb_build *arb_choose(struct tables_build *b);
void arb_complete(struct tables_build *b, struct arb_build *a);	/* frees a */

#endif
