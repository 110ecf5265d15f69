/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registers of devices by Mellanox and NVIDIA in MADs; see access_register.h. */
#include "lib/iba/access_register.h"

#include <string.h>

#include "lib/base/bytes.h"

/* the operation TLV */
#define TLV_OPERATION	1u
#define TLV_REGISTER	3u
#define OPERATION_SIZE	16
#define CLASS_REGISTER	1u	/* of the TLV, not of the MAD */
#define METHOD_READ	1u

#define TLV_HEAD(type, bytes) ((type) << 27 | (uint32_t)(bytes) / 4 << 16)
#define TLV_TYPE(word)	((word) >> 27)
#define TLV_BYTES(word)	(((word) >> 16 & 0x7ff) * 4)
#define TLV_STATUS(word) ((word) >> 8 & 0x7f)

#define TLV_BUSY	1u
#define MAD_BUSY	0x0001u

void register_request(uint8_t *data, uint16_t id, const uint8_t *reg, size_t n)
{
	memset(data, 0, REGISTER_TLVS);
	put_be32(data, TLV_HEAD(TLV_OPERATION, OPERATION_SIZE));
	put_be32(data + 4, (uint32_t)id << 16 | METHOD_READ << 8 | CLASS_REGISTER);
	put_be32(data + OPERATION_SIZE, TLV_HEAD(TLV_REGISTER, REGISTER_TLVS - OPERATION_SIZE + n));
	memcpy(data + REGISTER_TLVS, reg, n);
}

enum register_result register_answer(const uint8_t *data, unsigned mad_status, uint16_t id, size_t n)
{
	uint32_t head = get_be32(data), of = get_be32(data + OPERATION_SIZE);

	if (mad_status)
		return mad_status & MAD_BUSY ? REGISTER_BUSY : REGISTER_REFUSED;
	if (TLV_TYPE(head) != TLV_OPERATION || TLV_BYTES(head) != OPERATION_SIZE || get_be16(data + 4) != id)
		return REGISTER_MALFORMED;
	if (TLV_STATUS(head))
		return TLV_STATUS(head) == TLV_BUSY ? REGISTER_BUSY : REGISTER_REFUSED;
	return TLV_TYPE(of) == TLV_REGISTER && TLV_BYTES(of) >= n + REGISTER_TLVS - OPERATION_SIZE ?
	       REGISTER_READ : REGISTER_MALFORMED;
}

/* --- registers --- */

/* Bits 7:0 of a local port are in bits 23:16 of the first word, bits 9:8 in bits 13:12. */
static void put_local_port(uint8_t *reg, unsigned local_port)
{
	put_be32(reg, (local_port & 0xff) << 16 | (local_port >> 8 & 3) << 12);
}

static unsigned get_local_port(const uint8_t *reg)
{
	uint32_t word = get_be32(reg);

	return (word >> 16 & 0xff) | (word >> 12 & 3) << 8;
}

void plib_request(uint8_t reg[PLIB_SIZE], unsigned local_port)
{
	memset(reg, 0, PLIB_SIZE);
	put_local_port(reg, local_port);
}

unsigned plib_answer(const uint8_t reg[PLIB_SIZE], unsigned local_port)
{
	unsigned ib_port = get_be32(reg) & 0x3ff;

	return get_local_port(reg) == local_port && ib_port < 255 ? ib_port : 0;
}

void pmlp_request(uint8_t reg[PMLP_SIZE], unsigned local_port)
{
	memset(reg, 0, PMLP_SIZE);
	put_local_port(reg, local_port);
}

bool pmlp_answer(const uint8_t reg[PMLP_SIZE], unsigned local_port, struct port_lanes *out)
{
	unsigned width = reg[3];

	*out = (struct port_lanes){ 0 };
	if (get_local_port(reg) != local_port || width > 8)
		return false;
	for (unsigned i = 0; i < width; i++) {
		uint32_t lane = get_be32(reg + 4 + 4 * (size_t)i);
		uint8_t module = (uint8_t)lane, slot = lane >> 8 & 0xf;

		if (i && (module != out->module || slot != out->slot))
			return false;
		out->module = module;
		out->slot = slot;
		out->lanes |= (uint8_t)(1u << (lane >> 16 & 7));	/* of 16 that the field has, modules have 8 */
	}
	return true;
}

#define I2C_ADDRESS 0x50u	/* of all modules but SFP's second */

void mcia_request(uint8_t reg[MCIA_SIZE], const struct mcia *m)
{
	memset(reg, 0, MCIA_SIZE);
	put_be32(reg, (uint32_t)m->module << 16 | (uint32_t)m->slot << 12);
	put_be32(reg + 4, I2C_ADDRESS << 24 | (uint32_t)m->page << 16 | m->offset);
	put_be32(reg + 8, (uint32_t)m->bank << 16 | m->size);
}

int mcia_answer(const uint8_t reg[MCIA_SIZE], const struct mcia *m)
{
	uint32_t word = get_be32(reg);

	if ((word >> 16 & 0xff) != m->module || (get_be32(reg + 4) & 0xffffff) != ((uint32_t)m->page << 16 | m->offset))
		return -1;
	if ((word & 0xff) == MCIA_GOOD && get_be16(reg + 10) < m->size)
		return MCIA_I2C_ERROR;
	return (int)(word & 0xff);
}
