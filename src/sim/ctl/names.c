/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts names of management classes, methods and attributes, both ways.
 *
 * The names are those of 13.4.4, 13.4.5, and the tables of attributes in 14.2.5, 15.2.5, 16.1.3 and
 * 16.3.3.
 */
#include "sim/ctl/command.h"

#include <strings.h>

#include "lib/format/yaml_value.h"

struct name {
	unsigned value;
	const char *text;
};

static const struct name classes[] = {
	{ CLASS_SM_LID, "smp" }, { CLASS_SA, "sa" }, { CLASS_PM, "pm" }, { CLASS_BM, "bm" },
	{ CLASS_DM, "dm" }, { CLASS_CM, "cm" }, { CLASS_CC, "cc" }, { 0, NULL },
};

static const struct name methods[] = {
	{ METHOD_GET, "get" }, { METHOD_SET, "set" }, { METHOD_SEND, "send" },
	{ METHOD_TRAP, "trap" }, { METHOD_REPORT, "report" },
	{ METHOD_TRAP_REPRESS, "trap-repress" }, { 0x12, "get-table" }, { 0x13, "get-trace" },
	{ 0x14, "get-multi" }, { 0x15, "delete" }, { METHOD_GET_RESP, "get-resp" },
	{ 0x86, "report-resp" }, { 0x92, "get-table-resp" }, { 0x94, "get-multi-resp" },
	{ 0x95, "delete-resp" }, { 0, NULL },
};

static const struct name common[] = {
	{ 0x01, "ClassPortInfo" }, { 0x02, "Notice" }, { 0x03, "InformInfo" }, { 0, NULL },
};

static const struct name of_smp[] = {
	{ 0x10, "NodeDescription" }, { 0x11, "NodeInfo" }, { 0x12, "SwitchInfo" },
	{ 0x14, "GUIDInfo" }, { 0x15, "PortInfo" }, { 0x16, "P_KeyTable" },
	{ 0x17, "SLtoVLMappingTable" }, { 0x18, "VLArbitrationTable" },
	{ 0x19, "LinearForwardingTable" }, { 0x1a, "RandomForwardingTable" },
	{ 0x1b, "MulticastForwardingTable" }, { 0x1c, "LinkSpeedWidthPairsTable" },
	{ 0x1d, "VendorSpecificMadsTable" }, { 0x1e, "HierarchyInfo" }, { 0x20, "SMInfo" },
	{ 0x30, "VendorDiag" }, { 0x31, "LedInfo" }, { 0xff10, "PrivateLFTInfo" }, { 0xff20, "AdaptiveRoutingInfo" },
	{ 0xff50, "ConfigSpaceAccess" }, { 0xff52, "AccessRegister" },
	{ 0xff90, "ExtendedPortInfo" }, { 0, NULL },
};

static const struct name of_sa[] = {
	{ 0x11, "NodeRecord" }, { 0x12, "PortInfoRecord" }, { 0x13, "SLtoVLMappingTableRecord" },
	{ 0x14, "SwitchInfoRecord" }, { 0x15, "LinearForwardingTableRecord" },
	{ 0x16, "RandomForwardingTableRecord" }, { 0x17, "MulticastForwardingTableRecord" },
	{ 0x18, "SMInfoRecord" }, { 0x20, "LinkRecord" }, { 0x30, "GuidInfoRecord" },
	{ 0x31, "ServiceRecord" }, { 0x33, "P_KeyTableRecord" }, { 0x35, "PathRecord" },
	{ 0x36, "VLArbitrationTableRecord" }, { 0x38, "MCMemberRecord" }, { 0x39, "TraceRecord" },
	{ 0x3a, "MultiPathRecord" }, { 0x3b, "ServiceAssociationRecord" },
	{ 0xf3, "InformInfoRecord" }, { 0, NULL },
};

static const struct name of_pm[] = {
	{ 0x10, "PortSamplesControl" }, { 0x11, "PortSamplesResult" }, { 0x12, "PortCounters" },
	{ 0x15, "PortRcvErrorDetails" }, { 0x16, "PortXmitDiscardDetails" },
	{ 0x17, "PortOpRcvCounters" }, { 0x18, "PortFlowCtlCounters" },
	{ 0x19, "PortVLOpPackets" }, { 0x1a, "PortVLOpData" },
	{ 0x1b, "PortVLXmitFlowCtlUpdateErrors" }, { 0x1c, "PortVLXmitWaitCounters" },
	{ 0x1d, "PortCountersExtended" }, { 0x1e, "PortSamplesResultExtended" },
	{ 0x1f, "PortExtendedSpeedsCounters" }, { 0x30, "SwPortVLCongestion" },
	{ 0x36, "PortXmitDataSL" }, { 0x37, "PortRcvDataSL" }, { 0, NULL },
};

static const struct name of_dm[] = {
	{ 0x10, "IOUnitInfo" }, { 0x11, "IOControllerProfile" }, { 0x12, "ServiceEntries" },
	{ 0x20, "DiagnosticTimeout" }, { 0x21, "PrepareToTest" }, { 0, NULL },
};

static const struct name of_cc[] = {
	{ 0x11, "CongestionInfo" }, { 0x12, "CongestionKeyInfo" }, { 0x13, "CongestionLog" },
	{ 0x14, "SwitchCongestionSetting" }, { 0x15, "SwitchPortCongestionSetting" },
	{ 0x16, "CACongestionSetting" }, { 0x17, "CongestionControlTable" }, { 0x18, "Timestamp" },
	{ 0, NULL },
};

static const struct attributes {
	uint8_t mgmt_class;		/* 0: attributes that several classes have */
	const struct name *names;
} attributes[] = {
	{ CLASS_SM_LID, of_smp }, { CLASS_SA, of_sa }, { CLASS_PM, of_pm }, { CLASS_DM, of_dm },
	{ CLASS_CC, of_cc },
	{ 0, common },
};

static json_t *named(const struct name *names, unsigned value, const char *format)
{
	for (const struct name *n = names; n->text; n++)
		if (n->value == value)
			return json_string(n->text);
	return json_sprintf(format, value);
}

json_t *json_class(uint8_t mgmt_class)
{
	return named(classes, mgmt_class == CLASS_SM_DR ? CLASS_SM_LID : mgmt_class, "0x%02x");
}

json_t *json_method(uint8_t method)
{
	return named(methods, method, "0x%02x");
}

json_t *json_attr(uint8_t mgmt_class, uint16_t attr)
{
	if (mgmt_class == CLASS_SM_DR)
		mgmt_class = CLASS_SM_LID;
	if (attr > 0x03)
		for (const struct attributes *a = attributes; a->mgmt_class; a++)
			if (a->mgmt_class == mgmt_class)
				return named(a->names, attr, "0x%04x");
	return named(common, attr, "0x%04x");
}

/* --- parsing --- */

/*
 * Finds a name's value, or parses a number from 1 to max; false if it is neither.  Adds the names
 * to known.
 */
static bool look_up(const struct name *names, const char *text, unsigned max, unsigned *v,
		    struct words *known)
{
	uint64_t number;

	for (const struct name *n = names; n->text; n++) {
		if (strcasecmp(n->text, text) == 0) {
			*v = n->value;
			return true;
		}
		*vec_push(known) = n->text;
	}
	if (!value_u64(text, &number) || number == 0 || number > max)
		return false;
	*v = (unsigned)number;
	return true;
}

static bool get_byte(struct call *c, const char *what, const struct name *names, const char *text,
		     uint8_t *v)
{
	struct words known = { 0 };
	unsigned value;

	if (!look_up(names, text, 0xff, &value, &known))
		return refuse_word(c, what, text, &known);
	vec_free(&known);
	*v = (uint8_t)value;
	return true;
}

bool get_class(struct call *c, const char *text, uint8_t *mgmt_class)
{
	if (!get_byte(c, "management class", classes, text, mgmt_class))
		return false;
	if (*mgmt_class == CLASS_SM_DR)
		*mgmt_class = CLASS_SM_LID;
	return true;
}

bool get_method(struct call *c, const char *text, uint8_t *method)
{
	return get_byte(c, "method", methods, text, method);
}

bool get_attr(struct call *c, const char *text, uint8_t *mgmt_class, uint16_t *attr)
{
	struct words known = { 0 };
	unsigned value;

	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
		const struct attributes *a = &attributes[i];

		if (*mgmt_class && a->mgmt_class && a->mgmt_class != *mgmt_class)
			continue;
		if (!look_up(a->names, text, 0xffff, &value, &known))
			continue;
		vec_free(&known);
		*attr = (uint16_t)value;
		/* a number does not tell the class */
		if (*mgmt_class == 0 && (*text < '0' || *text > '9'))
			*mgmt_class = a->mgmt_class;
		return true;
	}
	return refuse_word(c, "attribute", text, &known);
}
