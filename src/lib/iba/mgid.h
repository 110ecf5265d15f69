/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Multicast GIDs (4.1.1) and those of IPoIB (RFC 4391, section 4). */
#ifndef QOSD_LIB_IBA_MGID_H
#define QOSD_LIB_IBA_MGID_H

#include <stdbool.h>
#include <stdint.h>

/* Scopes without those that IBA reserves. */
#define SCOPE_LINK_LOCAL 2
#define SCOPE_MIN 1
#define SCOPE_MAX 14

#define IPOIB_QKEY 0x0b1bu	/* of IPoIB groups, in practice */

static inline unsigned mgid_scope(const uint8_t mgid[16])
{
	return mgid[1] & 0xf;
}
void mgid_set_scope(uint8_t mgid[16], unsigned scope);
/* Whether an MGID belongs to IPoIB, by its signature. */
bool mgid_is_ipoib(const uint8_t mgid[16]);
/* The MGID of 255.255.255.255 in a partition; ignores the membership bit. */
void mgid_of_broadcast(uint8_t mgid[16], uint16_t pkey, unsigned scope);

#endif
