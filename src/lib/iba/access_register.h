/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Encodes and decodes requests for registers of devices by Mellanox and NVIDIA, which the vendor's attribute
 * AccessRegister carries in band.
 *
 * No standard has the attribute.  Source: the vendor's public mstflint (mtcr_ul: mtcr_ib_ofed.c, mtcr_ul_com.c,
 * packets_layout.c; tools_layouts: register_access_table.adb), and of the registers also Linux (drivers/net/ethernet/
 * mellanox: mlx5/core/port.c, mlxsw/reg.h).  They show:
 *
 *  - Attribute 0xFF52, AttributeModifier 0.  The method of the MAD is always Set, also of a request that reads: the
 *    operation TLV says which of the two is meant.  So a device checks the M_Key of each.
 *  - The data are an operation TLV of 16 bytes, then a register TLV: 4 bytes of head, and the register itself.  A TLV's
 *    length is in units of 4 bytes and includes its head.  The answer has the same layout, in place.
 *  - An SMP, LID-routed or by directed route, has room for 44 bytes of a register, of which 28 are a module's in MCIA.
 *  - A device that lacks the attribute answers with status 0x0c (IBA 13.4.7).  One that lacks the register, or does not
 *    take its length or values, has a status in the operation TLV, and 0 in the MAD's.
 *
 * A device may deny the first 44 bytes of a longer register, of which no public source tells anything: it is one whose
 * modules cannot be read then.
 *
 * Pure.  Answers are hostile until they were checked here.
 */
#ifndef QOSD_LIB_IBA_ACCESS_REGISTER_H
#define QOSD_LIB_IBA_ACCESS_REGISTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ATTR_ACCESS_REGISTER	0xff52

#define REGISTER_TLVS		20	/* bytes before the register */
#define REGISTER_SMP_ROOM	44	/* bytes of a register in an SMP */

enum { REGISTER_PMLP = 0x5002, REGISTER_PLIB = 0x500a, REGISTER_MCIA = 0x9014 };

enum register_result {
	REGISTER_READ,
	REGISTER_BUSY,		/* it may be asked again soon */
	REGISTER_REFUSED,	/* the device lacks the register, or denies it this length or these values */
	REGISTER_MALFORMED,	/* not the answer to this request */
};

/*
 * Writes the TLVs of a request that reads a register whose first n bytes, a multiple of 4, are `reg`: its indexes,
 * and zeros.  data has REGISTER_TLVS + n bytes; the caller has zeroed what follows.
 */
void register_request(uint8_t *data, uint16_t id, const uint8_t *reg, size_t n);
/*
 * Checks the TLVs of an answer with room for n bytes of the register, which follow at data + REGISTER_TLVS if the
 * result is REGISTER_READ.  mad_status: of the MAD, 0 if it is good.
 */
enum register_result register_answer(const uint8_t *data, unsigned mad_status, uint16_t id, size_t n);

/* --- PLIB: which IB port a local port is --- */

#define PLIB_SIZE 16
void plib_request(uint8_t reg[PLIB_SIZE], unsigned local_port);
/* The IB port, 1..254, or 0 if the answer is about another local port or has none. */
unsigned plib_answer(const uint8_t reg[PLIB_SIZE], unsigned local_port);

/* --- PMLP: which module and lanes a local port uses --- */

#define PMLP_SIZE REGISTER_SMP_ROOM	/* of 64, of which the first 36 have fields */
struct port_lanes {
	uint8_t module, slot;
	uint8_t lanes;		/* bit n: lane n of the module; 0: the port has no module */
};
void pmlp_request(uint8_t reg[PMLP_SIZE], unsigned local_port);
/* False if the answer is about another port, or has lanes of several modules. */
bool pmlp_answer(const uint8_t reg[PMLP_SIZE], unsigned local_port, struct port_lanes *out);

/* --- MCIA: bytes of a module's memory --- */

#define MCIA_HEAD 16
#define MCIA_SIZE REGISTER_SMP_ROOM	/* of 148 */
#define MCIA_BYTES (MCIA_SIZE - MCIA_HEAD)	/* of the module's memory */

enum mcia_status {
	MCIA_GOOD = 0x00, MCIA_NO_EEPROM = 0x01, MCIA_NOT_SUPPORTED = 0x02, MCIA_NOT_CONNECTED = 0x03,
	MCIA_I2C_ERROR = 0x09, MCIA_DISABLED = 0x10, MCIA_NO_PAGE = 0x11,
};
struct mcia {
	uint8_t module, slot;
	uint8_t bank, page;
	uint8_t offset;		/* in the module's 256 addressable bytes: from 128 on those of the page */
	uint8_t size;		/* at most MCIA_BYTES */
};
void mcia_request(uint8_t reg[MCIA_SIZE], const struct mcia *m);
/*
 * The status of the answer; if it is MCIA_GOOD, the bytes begin at reg + MCIA_HEAD.  Negative if the answer is about
 * other bytes.
 */
int mcia_answer(const uint8_t reg[MCIA_SIZE], const struct mcia *m);

#endif
