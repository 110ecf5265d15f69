/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers GUIDInfo, P_KeyTable, SLtoVLMappingTable and VLArbitrationTable (14.2.5.5, .7 to .9).
 *
 * Entries of a block beyond the table's end are ignored, and read as 0.
 */
#include "sim/dev/dev_internal.h"

#define GUIDS_PER_BLOCK 8
#define PKEYS_PER_BLOCK 32
#define ARB_PER_BLOCK 32

unsigned sma_guid_info(struct smp *q)
{
	const struct sim_port *p = &q->s->f->ports[q->port];
	uint32_t first = q->mod * GUIDS_PER_BLOCK;

	if (q->mod > UINT8_MAX || first >= p->n_guids)
		return STATUS_BAD_VALUE;
	for (unsigned i = 0; i < GUIDS_PER_BLOCK; i++) {
		uint64_t *guid = first + i < p->n_guids ? &p->guids[first + i] : NULL;
		uint8_t *entry = q->data + 8 * i;

		if (q->set && guid && first + i > 0) {	/* the first GUID is the device's own */
			q->changed |= *guid != get_be64(entry);
			*guid = get_be64(entry);
		}
		put_be64(entry, guid ? *guid : 0);
	}
	return STATUS_OK;
}

unsigned sma_pkey_table(struct smp *q)
{
	uint32_t port = is_switch(q->node) ? smp_port(q, q->mod >> 16) : q->port;
	uint32_t first = (q->mod & 0xffff) * PKEYS_PER_BLOCK;
	const struct sim_port *p;

	if (port == SIM_NONE || first >= q->s->f->ports[port].n_pkeys)
		return STATUS_BAD_VALUE;
	p = &q->s->f->ports[port];
	for (unsigned i = 0; i < PKEYS_PER_BLOCK; i++) {
		uint16_t *pkey = first + i < p->n_pkeys ? &p->pkeys[first + i] : NULL;
		uint8_t *entry = q->data + 2 * i;

		if (q->set && pkey) {
			q->changed |= *pkey != get_be16(entry);
			*pkey = get_be16(entry);
		}
		put_be16(entry, pkey ? *pkey : 0);
	}
	return STATUS_OK;
}

/* --- SLtoVLMappingTable --- */

/* Bits of the modifier for all ports at once, if SwitchInfo announces their support. */
#define MOD_ALL_IN	0x20000
#define MOD_ALL_OUT	0x10000
#define MOD_BITS	0x3ffff

/* In ports and out ports that the modifier denotes. */
struct port_range {
	unsigned in_first, in_last, out_first, out_last;
};

static bool read_range(const struct smp *q, struct port_range *r)
{
	const struct sim_switch *sw = switch_of(q->s->f, q->node);
	unsigned nports = q->node->nports, in = q->mod >> 8 & 0xff, out = q->mod & 0xff;
	unsigned all = q->mod & (MOD_ALL_IN | MOD_ALL_OUT);

	if (q->mod & ~(uint32_t)MOD_BITS)
		return false;
	/* a Get could return only one of the tables */
	if (all && (!q->set || !(sw->info[SI_LIFE_TIME_STATE_OPT] & SI_OPTIMIZED_SL2VL) ||
		    (lies_of(q->node) & LIE_OPTIMIZED)))
		return false;
	*r = (struct port_range) { in, in, out, out };
	if (all & MOD_ALL_IN) {
		r->in_first = 0;
		r->in_last = nports;
	}
	if (all & MOD_ALL_OUT) {
		r->out_first = node_has_enhanced_port0(q->node) ? 0 : 1;
		r->out_last = nports;
	}
	return r->in_last <= nports && r->out_last <= nports;
}

static unsigned switch_sl_to_vl(struct smp *q)
{
	const struct sim_switch *sw = switch_of(q->s->f, q->node);
	unsigned row = q->node->nports + 1u;
	struct port_range r;

	if (!read_range(q, &r))
		return STATUS_BAD_VALUE;
	for (unsigned in = r.in_first; q->set && in <= r.in_last; in++)
		for (unsigned out = r.out_first; out <= r.out_last; out++)
			q->changed |= smp_store(sw->sl2vl + (in * row + out) * SL2VL_SIZE, q->data,
						SL2VL_SIZE);
	return smp_answer(q, sw->sl2vl + (r.in_first * row + r.out_first) * SL2VL_SIZE, SL2VL_SIZE);
}

unsigned sma_sl_to_vl(struct smp *q)
{
	uint8_t *table = q->s->f->ports[q->port].sl2vl;

	if (is_switch(q->node))
		return switch_sl_to_vl(q);
	if (q->set)
		q->changed = smp_store(table, q->data, SL2VL_SIZE);
	return smp_answer(q, table, SL2VL_SIZE);
}

/* --- VLArbitrationTable: blocks 1 and 2 are the low table, 3 and 4 the high one --- */

unsigned sma_vl_arbitration(struct smp *q)
{
	uint32_t port = is_switch(q->node) ? smp_port(q, q->mod & 0xffff) : q->port;
	unsigned part = (q->mod >> 16) - 1, n, cap;
	struct sim_port *p;
	uint8_t *table;

	if (port == SIM_NONE || part > 3)
		return STATUS_BAD_VALUE;
	p = &q->s->f->ports[port];
	cap = p->info[part < 2 ? PI_VLARB_LOW_CAP : PI_VLARB_HIGH_CAP];
	cap = cap > 2 * ARB_PER_BLOCK ? 2 * ARB_PER_BLOCK : cap;
	if (part % 2 * ARB_PER_BLOCK >= cap)
		return STATUS_BAD_VALUE;
	n = cap - part % 2 * ARB_PER_BLOCK;
	n = n > ARB_PER_BLOCK ? ARB_PER_BLOCK : n;
	table = (part < 2 ? p->arb_low : p->arb_high) + part % 2 * ARB_PER_BLOCK * 2;
	for (unsigned i = 0; q->set && i < n; i++)
		q->data[2 * i] &= 0x0f;		/* keeps the VL; the other bits are reserved */
	if (q->set)
		q->changed = smp_store(table, q->data, n * 2);
	return smp_answer(q, table, n * 2);
}
