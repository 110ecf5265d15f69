/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes and reads multicast GIDs; mgid.h has the contracts. */
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/iba/iba.h"
#include "lib/iba/mgid.h"

void mgid_set_scope(uint8_t mgid[16], unsigned scope)
{
	mgid[1] = (uint8_t)((mgid[1] & 0xf0) | scope);
}

bool mgid_is_ipoib(const uint8_t mgid[16])
{
	uint16_t signature = get_be16(mgid + 2);

	return mgid[0] == 0xff && (signature == 0x401b || signature == 0x601b);
}

void mgid_of_broadcast(uint8_t mgid[16], uint16_t pkey, unsigned scope)
{
	static const uint8_t form[16] = {
		0xff, 0x10, 0x40, 0x1b, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	};

	memcpy(mgid, form, 16);
	mgid_set_scope(mgid, scope);
	put_be16(mgid + 4, pkey | IB_PKEY_FULL);
}
