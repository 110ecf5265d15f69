/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges NodeInfo, corrects it, and describes excluded devices; excluded.h has the contracts. */
#include <inttypes.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "discovery/excluded.h"
#include "lib/base/bytes.h"
#include "lib/iba/iba.h"

enum excluded_why excluded_judge(const uint8_t *node_info)
{
	if (node_info[NI_TYPE] < IB_NODE_CA_T || node_info[NI_TYPE] > IB_NODE_ROUTER_T)
		return EXCLUDED_TYPE;
	if (!node_info[NI_PORTS] || node_info[NI_PORTS] > IB_PORT_NUM_MAX)
		return EXCLUDED_PORTS;
	if (!node_info[NI_LOCAL_PORT] || node_info[NI_LOCAL_PORT] > node_info[NI_PORTS])
		return EXCLUDED_LOCAL_PORT;
	if (!get_be64(node_info + NI_GUID))
		return EXCLUDED_NO_GUID;
	return EXCLUDED_NOT;
}

void excluded_describe(struct disco_excluded *x, const uint8_t *node_info)
{
	x->attr = UMAD_SM_ATTR_NODE_INFO;
	x->mod = 0;
	x->guid = get_be64(node_info + NI_GUID);
	x->a = node_info[NI_LOCAL_PORT];
	x->b = node_info[NI_PORTS];
	memset(x->data, 0, sizeof(x->data));
	memcpy(x->data, node_info, 40);
}

bool excluded_says_the_same(const struct disco_excluded *x, const uint8_t *node_info)
{
	return !memcmp(x->data + NI_GUID, node_info + NI_GUID, 16);	/* the port GUID follows */
}

void excluded_rename(uint64_t known_as, uint8_t *node_info)
{
	bool is_switch = node_info[NI_TYPE] == IB_NODE_SWITCH_T;

	put_be64(node_info + NI_GUID, known_as);
	put_be64(node_info + NI_PORT_GUID, known_as + (is_switch ? 0 : node_info[NI_LOCAL_PORT]));
}

bool excluded_put_type(const struct disco_excluded *x, uint8_t *node_info)
{
	if (get_be64(node_info + NI_GUID) != x->guid || node_info[NI_TYPE] == IB_NODE_SWITCH_T ||
	    node_info[NI_PORTS] != x->b)
		return false;
	node_info[NI_TYPE] = IB_NODE_SWITCH_T;
	memcpy(node_info + NI_PORT_GUID, x->data + NI_PORT_GUID, 8);
	return true;
}

void excluded_text(const struct disco_excluded *x, struct buf *out)
{
	switch ((enum excluded_why)x->why) {
	case EXCLUDED_TYPE:
		buf_printf(out, "reports NodeType %u", x->data[NI_TYPE]);
		break;
	case EXCLUDED_PORTS:
		buf_printf(out, "reports NumPorts %u", x->b);
		break;
	case EXCLUDED_LOCAL_PORT:
		buf_printf(out, "reports LocalPortNum %u but has %u ports", x->a, x->b);
		break;
	case EXCLUDED_NO_GUID:
		buf_puts(out, "reports NodeGUID 0");
		break;
	case EXCLUDED_FALSE_PORT:
		buf_printf(out, "reports LocalPortNum %u but answers by port %u", x->a, x->b);
		break;
	case EXCLUDED_TWO_KINDS:
		if (!x->other_guid) {
			buf_puts(out, "reports the node GUID of our own device");
			break;
		}
		buf_printf(out, "has node GUID 0x%016" PRIx64 ", as does another device, at port %u of "
			   "0x%016" PRIx64, x->guid, x->other_port, x->other_guid);
		break;
	case EXCLUDED_TWO_PLACES:
		buf_printf(out, "claims to be port %u of node GUID 0x%016" PRIx64 ", which is linked with "
			   "port %u of 0x%016" PRIx64, x->a, x->guid, x->other_port,
			   x->other_guid);
		break;
	case EXCLUDED_PORT_GUID:
		buf_printf(out, "reports node GUID 0x%016" PRIx64 " but port GUID 0x%016" PRIx64 ", which "
			   "is that of the switch at port %u of 0x%016" PRIx64, x->guid,
			   get_be64(x->data + NI_PORT_GUID), x->other_port, x->other_guid);
		break;
	case EXCLUDED_OUR_PORT:
		buf_puts(out, "claims to be our own port");
		break;
	case EXCLUDED_ANSWER:
		buf_printf(out, "answers attribute 0x%x with another one", x->attr);
		break;
	case EXCLUDED_GUID_CHANGES:
		buf_puts(out, "reports another node GUID each time");
		break;
	case EXCLUDED_IMPOSTOR:
	case EXCLUDED_CLAIMS:
		buf_printf(out, "reports node GUID 0x%016" PRIx64 ", which is that of a device ", x->guid);
		if (x->other_guid)
			buf_printf(out, "at port %u of 0x%016" PRIx64, x->other_port, x->other_guid);
		else
			buf_puts(out, "elsewhere");
		break;
	case EXCLUDED_NO_ADAPTER:
		buf_printf(out, "claims to be the adapter with node GUID 0x%016" PRIx64 " at port %u of "
			   "0x%016" PRIx64 ", but answers by port %u", x->guid, x->other_port,
			   x->other_guid, x->b);
		break;
	case EXCLUDED_TWIN:
		buf_printf(out, "reports node GUID 0x%016" PRIx64 ", as does another device, at port %u of "
			   "0x%016" PRIx64 "; it gets the substitute GUID 0x%016" PRIx64, x->guid, x->other_port,
			   x->other_guid, x->known_as);
		break;
	case EXCLUDED_SWITCH:
		buf_printf(out, "reports NodeType %u with %u ports but answers SwitchInfo: it is treated "
				"as a switch",
			   x->data[NI_TYPE], x->b);
		break;
	case EXCLUDED_TOO_MANY:
		buf_puts(out, "has more devices behind it than a subnet can have");
		break;
	case EXCLUDED_KILLS:
		buf_printf(out, "crashes the discovery process with its answer to attribute 0x%x", x->attr);
		break;
	case EXCLUDED_HANGS:
		buf_printf(out, "keeps the discovery process from ending with its answer to attribute "
				"0x%x", x->attr);
		break;
	case EXCLUDED_NOT:
	case EXCLUDED_WHYS:
		break;
	}
}
