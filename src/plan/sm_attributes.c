/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See sm_attributes.h.  Bytes of an attribute beyond a table's end are 0.
 */
#include "plan/sm_attributes.h"

#include <string.h>

#include "lib/base/bytes.h"

void attribute_sl2vl(const struct sl2vl *map, uint8_t data[8])
{
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl += 2)
		data[sl / 2] = (uint8_t)(map->vl[sl] << 4 | map->vl[sl + 1]);
}

static unsigned in_block(unsigned cap, unsigned first, unsigned size)
{
	return cap <= first ? 0 : cap - first < size ? cap - first : size;
}

static unsigned vlarb_first(unsigned block)
{
	return block == 2 || block == 4 ? VLARB_BLOCK : 0;
}

unsigned vlarb_block_entries(const struct fabric_port *p, unsigned block)
{
	return in_block(block <= 2 ? p->vlarb_low_cap : p->vlarb_high_cap, vlarb_first(block),
			VLARB_BLOCK);
}

void attribute_vlarb(const struct plan *p, uint32_t port, unsigned block, uint8_t data[64])
{
	const struct vlarb *a = &p->tables->arbs[p->tables->arb[port]];
	const struct vlarb_entry *entries = block <= 2 ? a->low : a->high;
	unsigned given = block <= 2 ? a->n_low : a->n_high, first = vlarb_first(block);
	unsigned n = vlarb_block_entries(&p->f->ports[port], block);

	memset(data, 0, 64);
	for (unsigned i = 0; i < n && first + i < given; i++) {
		data[2 * i] = entries[first + i].vl;
		data[2 * i + 1] = entries[first + i].weight;
	}
}

static unsigned vls_of(const struct plan *p, uint32_t port)
{
	unsigned vls = ib_vls_from_code(p->tables->op_vls[port]);

	return vls ? vls : 1;
}

void attribute_default_sl2vl(const struct plan *p, uint32_t port, uint8_t data[8])
{
	unsigned vls = vls_of(p, port);
	struct sl2vl map;

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		map.vl[sl] = (uint8_t)(sl % vls);
	attribute_sl2vl(&map, data);
}

#define DEFAULT_WEIGHT 64

void attribute_default_vlarb(const struct plan *p, uint32_t port, unsigned block, uint8_t data[64])
{
	const struct fabric_port *fp = &p->f->ports[port];
	unsigned n = vlarb_block_entries(fp, block), vl = vlarb_first(block);

	if (block > 2)
		vl += fp->vlarb_low_cap;	/* the low table has the VLs below */
	memset(data, 0, 64);
	for (unsigned i = 0; i < n && vl + i < vls_of(p, port); i++) {
		data[2 * i] = (uint8_t)(vl + i);
		data[2 * i + 1] = DEFAULT_WEIGHT;
	}
}

unsigned pkey_block_entries(const struct fabric *f, uint32_t port, unsigned block)
{
	return in_block(port_pkey_cap(f, port), block * PKEYS_PER_BLOCK, PKEYS_PER_BLOCK);
}

void attribute_pkeys(const struct plan *p, uint32_t port, unsigned block, uint8_t data[64])
{
	const struct pkey_table *t = port_pkeys(p->partitions, port);
	unsigned first = block * PKEYS_PER_BLOCK, n = pkey_block_entries(p->f, port, block);

	memset(data, 0, 64);
	for (unsigned i = 0; i < n && first + i < t->n; i++)
		put_be16(data + 2 * i, t->keys[first + i]);
}
