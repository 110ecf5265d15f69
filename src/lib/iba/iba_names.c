/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See iba_names.h. */
#include <stddef.h>

#include "lib/iba/iba.h"
#include "lib/iba/iba_names.h"

const char *ib_attr_name(unsigned attr)
{
	static const char *const names[0x40] = {
		[0x01] = "ClassPortInfo", [0x02] = "Notice", [0x10] = "NodeDescription",
		[0x11] = "NodeInfo", [0x12] = "SwitchInfo", [0x14] = "GUIDInfo",
		[0x15] = "PortInfo", [0x16] = "P_KeyTable", [0x17] = "SLtoVLMappingTable",
		[0x18] = "VLArbitrationTable", [0x19] = "LinearForwardingTable",
		[0x1a] = "RandomForwardingTable", [0x1b] = "MulticastForwardingTable",
		[0x20] = "SMInfo",
	};

	if (attr == IB_ATTR_PRIVATE_LFT)
		return "PrivateLFTInfo";
	if (attr == IB_ATTR_ADAPTIVE_ROUTING)
		return "AdaptiveRoutingInfo";
	return attr < sizeof(names) / sizeof(*names) ? names[attr] : NULL;
}

const char *ib_status_text(unsigned status)
{
	static const char *const codes[8] = {
		NULL, "class version not supported", "method not supported",
		"attribute not supported with that method", "reserved status", "reserved status",
		"reserved status", "invalid value",
	};

	if (!status)
		return "success, but the value stays unchanged";
	if (codes[status >> 2 & 7])
		return codes[status >> 2 & 7];
	return status & 1 ? "busy" : status & 2 ? "redirection" : "class-specific error";
}
