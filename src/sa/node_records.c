/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes NodeRecords and PortInfoRecords (15.2.5.2, 15.2.5.3). */
#include "lib/base/bytes.h"
#include "sa/scan.h"

/* --- NodeRecord --- */

#define NI(bits) (32 + (bits))		/* NodeInfo follows LID and 2 reserved bytes */

static const struct sa_field node_fields[] = {
	{ 0, false, 0, 16 },		/* LID */
	{ 2, false, NI(0), 8 },		/* BaseVersion */
	{ 3, false, NI(8), 8 },		/* ClassVersion */
	{ 4, false, NI(16), 8 },	/* NodeType */
	{ 5, false, NI(24), 8 },	/* NumPorts */
	{ 6, false, NI(32), 64 },	/* SystemImageGUID */
	{ 7, false, NI(96), 64 },	/* NodeGUID */
	{ 8, false, NI(160), 64 },	/* PortGUID */
	{ 9, false, NI(224), 16 },	/* PartitionCap */
	{ 10, false, NI(240), 16 },	/* DeviceID */
	{ 11, false, NI(256), 32 },	/* Revision */
	{ 12, false, NI(288), 8 },	/* LocalPortNum */
	{ 13, false, NI(296), 24 },	/* VendorID */
	{ 14, false, NI(320), 512 },	/* NodeDescription */
};

/*
 * Two fields of NodeInfo depend on the port that answers (14.2.5.3).  The record has them as
 * the record's port would answer (port 0 of a switch), not the port by which discovery came.
 */
static bool make_node(struct sa_scan *x, uint64_t at, void *record, uint32_t *owner)
{
	const struct subnet_state *s = x->s;
	uint32_t port = *owner = (uint32_t)at;
	const struct fabric_node *n = port_node(s->f, port);
	struct sa_node_record *r = record;

	if (!s->plan->lid[port])
		return false;
	put_be16(r->lid, s->plan->lid[port]);
	memcpy(r->node_info, n->info, sizeof(r->node_info));
	if (!node_is_switch(n))
		put_be64(r->node_info + 20, s->f->ports[port].guid);
	r->node_info[36] = s->f->ports[port].num;
	memcpy(r->node_desc, n->desc, strnlen(n->desc, sizeof(r->node_desc)));
	return true;
}

const struct sa_kind sa_node_kind = {
	.size = sizeof(struct sa_node_record), SA_FIELDS(node_fields),
	.each = 1, .range = sa_range_ports, .make = make_node,
};

/* --- PortInfoRecord --- */

#define PI(bits) (32 + (bits))		/* PortInfo follows EndportLID, PortNum, Options */

enum { PORTINFO_OPTIONS = 2 };		/* bit of the ComponentMask */
#define OPTION_FULL 0x80		/* link speeds as the device answered them */

static const struct sa_field portinfo_fields[] = {
	{ 0, false, 0, 16 },		/* EndportLID */
	{ 1, false, 16, 8 },		/* PortNum */
	{ 3, false, PI(0), 64 },	/* M_Key */
	{ 4, false, PI(64), 64 },	/* GIDPrefix */
	{ 5, false, PI(128), 16 },	/* LID */
	{ 6, false, PI(144), 16 },	/* MasterSMLID */
	{ 7, true, PI(160), 32 },	/* CapabilityMask */
	{ 8, false, PI(192), 16 },	/* DiagCode */
	{ 9, false, PI(208), 16 },	/* M_KeyLeasePeriod */
	{ 10, false, PI(224), 8 },	/* LocalPortNum */
	{ 11, false, PI(232), 8 },	/* LinkWidthEnabled */
	{ 12, false, PI(240), 8 },	/* LinkWidthSupported */
	{ 13, false, PI(248), 8 },	/* LinkWidthActive */
	{ 14, false, PI(256), 4 },	/* LinkSpeedSupported */
	{ 15, false, PI(260), 4 },	/* PortState */
	{ 16, false, PI(264), 4 },	/* PortPhysicalState */
	{ 17, false, PI(268), 4 },	/* LinkDownDefaultState */
	{ 18, false, PI(272), 2 },	/* M_KeyProtectBits */
	{ 20, false, PI(277), 3 },	/* LMC */
	{ 21, false, PI(280), 4 },	/* LinkSpeedActive */
	{ 22, false, PI(284), 4 },	/* LinkSpeedEnabled */
	{ 23, false, PI(288), 4 },	/* NeighborMTU */
	{ 24, false, PI(292), 4 },	/* MasterSMSL */
	{ 25, false, PI(296), 4 },	/* VLCap */
	{ 26, false, PI(300), 4 },	/* InitType */
	{ 27, false, PI(304), 8 },	/* VLHighLimit */
	{ 28, false, PI(312), 8 },	/* VLArbitrationHighCap */
	{ 29, false, PI(320), 8 },	/* VLArbitrationLowCap */
	{ 30, false, PI(328), 4 },	/* InitTypeReply */
	{ 31, false, PI(332), 4 },	/* MTUCap */
	{ 32, false, PI(336), 3 },	/* VLStallCount */
	{ 33, false, PI(339), 5 },	/* HOQLife */
	{ 34, false, PI(344), 4 },	/* OperationalVLs */
	{ 35, false, PI(348), 1 },	/* PartitionEnforcementInbound */
	{ 36, false, PI(349), 1 },	/* PartitionEnforcementOutbound */
	{ 37, false, PI(350), 1 },	/* FilterRawInbound */
	{ 38, false, PI(351), 1 },	/* FilterRawOutbound */
	{ 39, false, PI(352), 16 },	/* M_KeyViolations */
	{ 40, false, PI(368), 16 },	/* P_KeyViolations */
	{ 41, false, PI(384), 16 },	/* Q_KeyViolations */
	{ 42, false, PI(400), 8 },	/* GUIDCap */
	{ 43, false, PI(408), 1 },	/* ClientReregister */
	{ 45, false, PI(411), 5 },	/* SubnetTimeOut */
	{ 47, false, PI(419), 5 },	/* RespTimeValue */
	{ 48, false, PI(424), 4 },	/* LocalPhyErrors */
	{ 49, false, PI(428), 4 },	/* OverrunErrors */
	{ 50, false, PI(432), 16 },	/* MaxCreditHint */
	{ 52, false, PI(456), 24 },	/* LinkRoundTripLatency */
	{ 53, true, PI(480), 16 },	/* CapabilityMask2 */
	{ 54, false, PI(496), 4 },	/* LinkSpeedExtActive */
	{ 55, false, PI(500), 4 },	/* LinkSpeedExtSupported */
	/*
	 * LinkSpeedExtActive2 and similar fields have no component of their own: no public header
	 * defines any beyond 57.  Records have these fields as the device answered them.
	 */
	{ 57, false, PI(507), 5 },	/* LinkSpeedExtEnabled */
};

/*
 * A client that does not ask for a full record may not know extended speeds: the record of a
 * port that runs at one also shows QDR as supported, active and enabled.
 */
static void fold_speeds(const struct subnet_state *s, uint32_t port, uint8_t *info)
{
	const uint8_t qdr = 4;

	if (!(s->f->ports[sa_endport(s, port)].capmask & IB_CAP_EXT_SPEEDS) || !ib_ext_active(info))
		return;
	info[32] |= (uint8_t)(qdr << 4);		/* LinkSpeedSupported */
	info[35] |= (uint8_t)(qdr << 4 | qdr);		/* LinkSpeedActive, LinkSpeedEnabled */
}

/*
 * Only a requester with a secret SM_Key may see the M_Key.  Options selects the form of the
 * record and is no criterion: the record repeats it.
 */
static bool make_portinfo(struct sa_scan *x, uint64_t at, void *record, uint32_t *owner)
{
	const struct fabric_port *p = &x->s->f->ports[at];
	const struct sa_portinfo_record *want = (const void *)x->want;
	struct sa_portinfo_record *r = record;
	uint16_t lid;

	if (!p->present || !(lid = sa_endport_lid(x->s, (uint32_t)at)))
		return false;
	*owner = sa_endport(x->s, (uint32_t)at);
	put_be16(r->lid, lid);
	r->port_num = p->num;
	memcpy(r->port_info, p->info, sizeof(r->port_info));
	if (!x->privileged)
		memset(r->port_info, 0, 8);
	r->options = sa_asks(x, PORTINFO_OPTIONS) ? want->options : 0;
	if (!(r->options & OPTION_FULL))
		fold_speeds(x->s, (uint32_t)at, r->port_info);
	return true;
}

const struct sa_kind sa_portinfo_kind = {
	.size = sizeof(struct sa_portinfo_record), SA_FIELDS(portinfo_fields),
	.each = 1, .range = sa_range_ports, .make = make_portinfo,
};
