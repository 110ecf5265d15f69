/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes SLtoVLMappingTableRecords, VLArbitrationTableRecords and P_KeyTableRecords (15.2.5.4 ff.).
 *
 * A record shows what a device is known to hold.  A table that qosd neither writes nor has read
 * has no record: it is as it was at power-on, or as another manager left it.
 */
#include "lib/base/bytes.h"
#include "plan/sm_attributes.h"
#include "sa/scan.h"

/* Sets owner and base LID of a record: those of the port, or of port 0 for a switch port. */
static bool slot_lid(const struct sa_scan *x, uint32_t port, uint8_t lid[2], uint32_t *owner)
{
	*owner = sa_endport(x->s, port);
	put_be16(lid, x->s->plan->lid[*owner]);
	return x->s->f->ports[port].present && x->s->plan->lid[*owner];
}

/* --- SLtoVLMappingTableRecord --- */

/*
 * The record has the policy's table, or the fixed one that the device keeps instead.  The table is
 * unknown where tables are not managed, from a switch port to itself, and for a port without
 * a link: qosd writes none there.  A port without SL mapping in its CapabilityMask has no
 * table.
 */

#define IN_PORTS 256
#define SL(i) { 4 + (i), false, 64 + 4 * (i), 4 }

enum { SL2VL_IN = 1, SL2VL_OUT = 2 };

static const struct sa_field sl2vl_fields[] = {
	{ 0, false, 0, 16 },			/* LID */
	{ SL2VL_IN, false, 16, 8 },		/* InputPortNum */
	{ SL2VL_OUT, false, 24, 8 },		/* OutputPortNum */
	SL(0), SL(1), SL(2), SL(3), SL(4), SL(5), SL(6), SL(7),		/* SL0toVL … */
	SL(8), SL(9), SL(10), SL(11), SL(12), SL(13), SL(14), SL(15),
};

static void range_sl2vl(struct sa_scan *x, uint32_t port)
{
	sa_range_ports(x, port);
	if (!x->s->plan->tables->managed && !x->s->plan->tables->fixed)
		sa_range_none(x, port);
}

static bool make_sl2vl(struct sa_scan *x, uint64_t at, void *record, uint32_t *owner)
{
	const struct sa_sl2vl_record *want = (const void *)x->want;
	const struct qos_tables *t = x->s->plan->tables;
	uint32_t port = (uint32_t)(at / IN_PORTS);
	unsigned in = (unsigned)(at % IN_PORTS);
	const struct fabric_port *p = &x->s->f->ports[port];
	const struct fabric_node *n = &x->s->f->nodes[p->node];
	bool on_switch = node_is_switch(n);
	struct sa_sl2vl_record *r = record;
	uint16_t id;

	if (sa_asks(x, SL2VL_IN) && !sa_seek(x, at, 1, IN_PORTS, want->in))
		return false;
	r->in = (uint8_t)in;
	r->out = on_switch ? p->num : 0;
	if (in > (on_switch ? n->nports : 0u) || (sa_asks(x, SL2VL_OUT) && r->out != want->out) ||
	    !slot_lid(x, port, r->lid, owner))
		return sa_leave_port(x, at);
	id = qos_sl2vl_in_force(t, x->s->f, p->node, in, p->num);
	if (id == TABLE_NONE)
		return false;
	attribute_sl2vl(&t->maps[id], r->table);
	return true;
}

const struct sa_kind sa_sl2vl_kind = {
	.size = sizeof(struct sa_sl2vl_record), SA_FIELDS(sl2vl_fields),
	.each = IN_PORTS, .range = range_sl2vl, .make = make_sl2vl,
};

/* --- VLArbitrationTableRecord --- */

/* Records show tables as written: a port without a table, or with one that qosd does not write, has none. */

enum { VLARB_OUT = 1, VLARB_BLOCKNUM = 2 };

static const struct sa_field vlarb_fields[] = {
	{ 0, false, 0, 16 },			/* LID */
	{ VLARB_OUT, false, 16, 8 },		/* OutputPortNum */
	{ VLARB_BLOCKNUM, false, 24, 8 },	/* BlockNum */
	{ 4, false, 64, 512 },			/* VLArbitrationTable */
};

static void range_vlarb(struct sa_scan *x, uint32_t port)
{
	sa_range_ports(x, port);
	if (!x->s->plan->tables->managed)
		sa_range_none(x, port);
}

static bool make_vlarb(struct sa_scan *x, uint64_t at, void *record, uint32_t *owner)
{
	const struct sa_vlarb_record *want = (const void *)x->want;
	uint32_t port = (uint32_t)(at / VLARB_BLOCKS);
	unsigned block = (unsigned)(at % VLARB_BLOCKS) + 1;
	const struct fabric_port *p = &x->s->f->ports[port];
	struct sa_vlarb_record *r = record;

	if (sa_asks(x, VLARB_BLOCKNUM) && !sa_seek(x, at, 1, VLARB_BLOCKS, want->block - 1u))
		return false;
	if (x->s->plan->tables->arb[port] == TABLE_NONE || !slot_lid(x, port, r->lid, owner))
		return sa_leave_port(x, at);
	r->out = p->num;
	r->block = (uint8_t)block;
	attribute_vlarb(x->s->plan, port, block, r->table);
	return vlarb_block_entries(p, block) != 0;
}

const struct sa_kind sa_vlarb_kind = {
	.size = sizeof(struct sa_vlarb_record), SA_FIELDS(vlarb_fields),
	.each = VLARB_BLOCKS, .range = range_vlarb, .make = make_vlarb,
};

/* --- P_KeyTableRecord --- */

/*
 * "P_KeyTableRecords shall only be provided in response to trusted requests"
 * (15.4.1.2): they would tell an attacker which P_Keys to try.  The request is
 * well-formed, so the status is REQ_DENIED.
 *
 * Only external switch ports that enforce partitions have records: qosd writes no table to
 * the others.
 */

#define PKEY_BLOCKS 2048	/* most blocks: PartitionCap and PartitionEnforcementCap have 16 bits */

enum { PKEY_BLOCK = 1 };

static const struct sa_field pkey_fields[] = {
	{ 0, false, 0, 16 },		/* LID */
	{ PKEY_BLOCK, false, 16, 16 },	/* BlockNum */
	{ 2, false, 32, 8 },		/* PortNum */
	{ 4, false, 64, 512 },		/* P_KeyTable */
};

static bool make_pkeys(struct sa_scan *x, uint64_t at, void *record, uint32_t *owner)
{
	const struct sa_pkey_record *want = (const void *)x->want;
	uint32_t port = (uint32_t)(at / PKEY_BLOCKS);
	unsigned block = (unsigned)(at % PKEY_BLOCKS);
	struct sa_pkey_record *r = record;

	if (sa_asks(x, PKEY_BLOCK) && !sa_seek(x, at, 1, PKEY_BLOCKS, get_be16(want->block)))
		return false;
	if (!(port_is_end(x->s->f, port) || x->s->plan->partitions->enforce[port]) ||
	    !slot_lid(x, port, r->lid, owner) || !pkey_block_entries(x->s->f, port, block))
		return sa_leave_port(x, at);
	put_be16(r->block, (uint16_t)block);
	r->port_num = x->s->f->ports[port].num;
	attribute_pkeys(x->s->plan, port, block, r->table);
	return true;
}

const struct sa_kind sa_pkey_kind = {
	.size = sizeof(struct sa_pkey_record), SA_FIELDS(pkey_fields), .trusted_only = true,
	.each = PKEY_BLOCKS, .range = sa_range_ports, .make = make_pkeys,
};
