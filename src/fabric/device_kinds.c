/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kinds of device; device_kinds.h has the contracts. */
#include "fabric/device_kinds.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/iba/units.h"

#define TYPES (IB_NODE_ROUTER_T + 1)

void device_kinds_free(struct device_kinds *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->kinds.n; i++)
		free(k->kinds.v[i].name);
	for (size_t i = 0; i < k->rules.n; i++) {
		free(k->rules.v[i].name);
		free(k->rules.v[i].guid);
	}
	vec_free(&k->kinds);
	vec_free(&k->rules);
	free(k->file);
	free(k);
}

/* --- which kind a node is of --- */

static bool rule_matches(const struct device_rule *r, uint64_t guid, unsigned type, const char *desc)
{
	char text[20];

	if ((r->type && r->type != type) || (r->guid_is && r->guid_is != guid))
		return false;
	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	return (!r->name || fnmatch(r->name, desc, 0) == 0) &&
	       (!r->guid || fnmatch(r->guid, text, 0) == 0);
}

uint32_t device_kind_of(const struct device_kinds *k, uint64_t node_guid, unsigned type,
			const char *desc)
{
	for (size_t i = k ? k->rules.n : 0; i-- > 0;)
		if (rule_matches(&k->rules.v[i], node_guid, type, desc))
			return k->rules.v[i].kind;
	return UINT32_MAX;
}

void device_kinds_check(const struct device_kinds *k, const struct fabric *f, struct findings *out)
{
	for (size_t i = 0; k && i < k->rules.n; i++) {
		uint32_t n = 0;

		while (n < f->n_nodes && !rule_matches(&k->rules.v[i], f->nodes[n].guid, f->nodes[n].type,
						       f->nodes[n].desc))
			n++;
		if (n == f->n_nodes)
			findings_add(out, SEV_WARNING, k->file, k->rules.v[i].pos,
				     "no node of the topology matches");
	}
}

/* --- values --- */

struct device_values device_values_assumed(unsigned type)
{
	return (struct device_values){
		.vl_cap = 4, .vlarb_high = 8, .vlarb_low = 8, .mtu_cap = 4,
		.pkeys = type == IB_NODE_SWITCH_T ? 8 : 64, .enforce_pkeys = 64,
		.lft = 48 * 1024, .mft = 1024,
	};
}

static void fill(int32_t *v, int32_t other)
{
	if (*v == DEVICE_UNKNOWN)
		*v = other;
}

void device_values_fill(struct device_values *v, const struct device_values *others)
{
	fill(&v->vl_cap, others->vl_cap);
	fill(&v->vlarb_high, others->vlarb_high);
	fill(&v->vlarb_low, others->vlarb_low);
	fill(&v->mtu_cap, others->mtu_cap);
	fill(&v->pkeys, others->pkeys);
	fill(&v->enforce_pkeys, others->enforce_pkeys);
	fill(&v->lft, others->lft);
	fill(&v->mft, others->mft);
}

static uint32_t usual_port(const struct fabric *f, const struct fabric_node *n)
{
	for (unsigned num = 1; num <= n->nports; num++)
		if (f->ports[n->port0 + num].peer != FABRIC_NONE)
			return n->port0 + num;
	return n->port0 + (n->nports != 0);
}

static int32_t within(uint32_t value, uint32_t min, uint32_t max)
{
	return value >= min && value <= max ? (int32_t)value : DEVICE_UNKNOWN;
}

struct device_values device_values_of(const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];
	const struct fabric_port *p = &f->ports[usual_port(f, n)];
	struct device_values v = DEVICE_VALUES_UNKNOWN;

	v.vl_cap = within(p->vl_cap, 1, 5);
	v.vlarb_high = within(p->vlarb_high_cap, 0, 64);
	v.vlarb_low = within(p->vlarb_low_cap, 0, 64);
	v.mtu_cap = within(p->mtu_cap, 1, 5);
	v.pkeys = within(n->partition_cap, 1, UINT16_MAX);
	if (node_is_switch(n) && !f->switches[n->sw].unread) {
		v.enforce_pkeys = f->switches[n->sw].enforce_cap;
		v.lft = within(f->switches[n->sw].lft_cap, 1, 0xc000);
		v.mft = within(f->switches[n->sw].mcast_cap, 1, 0x3fff);
	}
	return v;
}

static void put_key(struct buf *out, const char *key, int32_t value, bool known)
{
	if (known)
		buf_printf(out, "%s%s: %" PRId32, out->s[out->n - 1] == '{' ? "" : ", ", key, value);
}

void device_values_put(const struct device_values *v, struct buf *out)
{
	buf_puts(out, "{");
	put_key(out, "vl-cap", (int32_t)ib_vls_from_code((unsigned)v->vl_cap), v->vl_cap > 0);
	put_key(out, "vlarb-high", v->vlarb_high, v->vlarb_high >= 0);
	put_key(out, "vlarb-low", v->vlarb_low, v->vlarb_low >= 0);
	put_key(out, "mtu", (int32_t)mtu_bytes((unsigned)v->mtu_cap), v->mtu_cap > 0);
	put_key(out, "pkeys", v->pkeys, v->pkeys > 0);
	put_key(out, "enforce-pkeys", v->enforce_pkeys, v->enforce_pkeys >= 0);
	put_key(out, "lft", v->lft, v->lft > 0);
	put_key(out, "mft", v->mft, v->mft > 0);
	buf_puts(out, "}");
}

/* --- the report --- */

static void put_value(struct buf *out, int32_t stated, int32_t assumed, const char *what)
{
	if (stated == DEVICE_UNKNOWN)
		buf_printf(out, "(%" PRId32 ")%s", assumed, what);
	else
		buf_printf(out, "%" PRId32 "%s", stated, what);
}

/* An MTU or a number of VLs from its code; unknown stays so. */
static int32_t decoded(int32_t code, unsigned (*decode)(unsigned code))
{
	return code == DEVICE_UNKNOWN ? code : (int32_t)decode((unsigned)code);
}

static unsigned vls_of(unsigned code)
{
	return ib_vls_from_code(code);
}

static unsigned mtu_of(unsigned code)
{
	return mtu_bytes(code);
}

static void put_kind(const struct device_kinds *k, uint32_t kind, unsigned type, uint32_t n,
		     struct buf *out)
{
	static const char *const types[TYPES] = {
		[IB_NODE_CA_T] = "channel adapter", [IB_NODE_SWITCH_T] = "switch", [IB_NODE_ROUTER_T] = "router",
	};
	struct device_values v = kind == UINT32_MAX ? DEVICE_VALUES_UNKNOWN : k->kinds.v[kind].v;
	struct device_values a = device_values_assumed(type);

	buf_printf(out, "  %" PRIu32 " %s%s", n, types[type],
		   n == 1 ? "" : type == IB_NODE_SWITCH_T ? "es" : "s");
	if (kind != UINT32_MAX)
		buf_printf(out, " of kind %s", k->kinds.v[kind].name);
	buf_puts(out, ": ");
	put_value(out, decoded(v.vl_cap, vls_of), decoded(a.vl_cap, vls_of),
		  v.vl_cap == 1 ? " data VL, MTU " : " data VLs, MTU ");
	put_value(out, decoded(v.mtu_cap, mtu_of), decoded(a.mtu_cap, mtu_of), ", arbitration tables of ");
	put_value(out, v.vlarb_high, a.vlarb_high, " and ");
	put_value(out, v.vlarb_low, a.vlarb_low, " entries, ");
	put_value(out, v.pkeys, a.pkeys, " P_Keys");
	if (type == IB_NODE_SWITCH_T) {
		buf_puts(out, ", ");
		put_value(out, v.enforce_pkeys, a.enforce_pkeys, " enforced, ");
		put_value(out, v.lft, a.lft, " LIDs, ");
		put_value(out, v.mft, a.mft, " multicast LIDs");
	}
	buf_puts(out, "\n");
}

void device_kinds_print(const struct device_kinds *k, const struct fabric *f, struct buf *out)
{
	uint32_t n_kinds = k ? (uint32_t)k->kinds.n : 0;
	/* [type][kind], the last one for nodes of no kind */
	uint32_t *count = xcalloc((size_t)TYPES * (n_kinds + 1), sizeof(*count));

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct fabric_node *n = &f->nodes[i];
		uint32_t kind = device_kind_of(k, n->guid, n->type, n->desc);

		count[n->type * (n_kinds + 1) + (kind < n_kinds ? kind : n_kinds)]++;
	}
	buf_puts(out, "\nDevices; values in parentheses are assumed, --devices states others\n");
	for (unsigned type = IB_NODE_CA_T; type < TYPES; type++)
		for (uint32_t kind = 0; kind <= n_kinds; kind++)
			if (count[type * (n_kinds + 1) + kind])
				put_kind(k, kind < n_kinds ? kind : UINT32_MAX, type,
					 count[type * (n_kinds + 1) + kind], out);
	free(count);
}
