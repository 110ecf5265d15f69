/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets as bytes of the link, from LRH to payload and padding, without CRCs (chapters 7 to 9 of
 * IBA).
 *
 * A datagram of 256 bytes to QP 0 or 1 is a MAD, which the simulator looks into; of other packets it
 * knows the headers, and carries the bytes.
 */
#ifndef QOSD_SIM_HCA_RAW_H
#define QOSD_SIM_HCA_RAW_H

#include <stddef.h>

#include "sim/net/wire.h"

#define RAW_MAX	8184u	/* LRH.PktLen has 11 bits, in units of 4 bytes, and counts the ICRC */
#define RAW_MAD_MAX (8u + 40 + 12 + 8 + SIM_MAD_SIZE)

/*
 * Reads the headers of a packet, and takes over its MAD or bytes.  Returns NULL, or what is wrong with
 * it.  Sets all fields but from, in_port and client; those that a packet of its kind lacks are 0.  The caller
 * ends the use of p->bytes.
 */
const char *raw_read(const uint8_t *raw, size_t n, struct packet *p);
/* The same for the start of a packet: reads the headers, which must be there, and nothing else. */
const char *raw_read_headers(const uint8_t *raw, size_t n, struct packet *p);
/* Whether a packet whose headers could be read is a datagram, and so has a Q_Key and a source QP. */
bool raw_is_datagram(const uint8_t *raw);
/*
 * Writes a packet as it comes over a link on that VL: RAW_MAX bytes at most, to out.  Returns their
 * number.
 */
size_t raw_write(const struct packet *p, uint8_t vl, uint8_t *out);

#endif
