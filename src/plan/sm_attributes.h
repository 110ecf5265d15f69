/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Encodes tables of the plan as SM attributes (14.2.5).
 *
 * sm/ writes them to devices and sa/ reports them, byte for byte the same.
 */
#ifndef QOSD_PLAN_SM_ATTRIBUTES_H
#define QOSD_PLAN_SM_ATTRIBUTES_H

#include "plan/plan.h"

#define PKEYS_PER_BLOCK	32
#define MLIDS_PER_BLOCK	32		/* per block of a MulticastForwardingTable attribute */
#define PORTS_PER_POSITION 16		/* per position of that attribute */
#define VLARB_BLOCKS	4		/* 1 and 2 of the low table, 3 and 4 of the high one */

/* SLtoVLMappingTable: 16 times 4 bits. */
void attribute_sl2vl(const struct sl2vl *map, uint8_t data[8]);

/* Entries of block 1..4 of a port's VLArbitrationTable; 0: the port has no such block. */
unsigned vlarb_block_entries(const struct fabric_port *p, unsigned block);
/* Fills that many entries from the port's planned table; tables->arb must not be TABLE_NONE. */
void attribute_vlarb(const struct plan *p, uint32_t port, unsigned block, uint8_t data[64]);

/* P_Keys in a block of a port's table; 0: no such block. */
unsigned pkey_block_entries(const struct fabric *f, uint32_t port, unsigned block);
void attribute_pkeys(const struct plan *p, uint32_t port, unsigned block, uint8_t data[64]);

/* A block of LFT_BLOCK entries. */
static inline const uint8_t *attribute_lft(const struct plan *p, uint32_t sw, unsigned block)
{
	return p->lfts->entries + (size_t)sw * p->lfts->stride + block * LFT_BLOCK;
}

/*
 * Built-in tables, used where the policy manages none (sm/sweep/inherited.c).  SL i maps to VL i,
 * folded into the VLs of the out port; each VL of a port has the same weight, in the low table as
 * far as that has entries, else in the high one.
 */
void attribute_default_sl2vl(const struct plan *p, uint32_t port, uint8_t data[8]);
void attribute_default_vlarb(const struct plan *p, uint32_t port, unsigned block, uint8_t data[64]);

#endif
