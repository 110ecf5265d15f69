/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which port the subnet manager works through, of those that libibumad lists.
 *
 * A port is a pair: the device with its subnet management interface (SMI: QP 0, the issm device)
 * and the one with its general services (GSI: QP 1).  Mostly both are one; planarized
 * adapters (ConnectX-8 and later) have a device for each, with the same port GUIDs.
 */
#ifndef QOSD_MAD_CHOOSE_PORT_H
#define QOSD_MAD_CHOOSE_PORT_H

#include "mad/mad.h"

#define CA_NAME_SIZE 32

/* A port as sysfs shows it. */
struct seen_port {
	char ca[CA_NAME_SIZE];
	int num;
	uint64_t guid;
	uint16_t lid, sm_lid;
	unsigned state;			/* PortState */
	uint32_t capmask;		/* CapabilityMask */
	bool infiniband;		/* link layer */
	bool passed_over;		/* it was tried in vain */
};
struct seen_ports {
	VEC(struct seen_port) v;
};

/* All ports of all adapters, in libibumad's order. */
void ports_list(struct seen_ports *out);
/*
 * The first one that can be managed, with the guid, or if that is 0 the first that has a link;
 * those that were passed over are left out.  NULL, with the reason in err, if there is none.  Up
 * ports that are unfit are marked passed over, and logged with the reason.
 */
struct seen_port *port_choose(struct seen_ports *p, uint64_t guid, struct buf *err);
/* The port and its pair, as the newer libibumad tells it, or else by GUID. */
void port_pair(const struct seen_ports *p, const struct seen_port *smi, struct mad_port_info *info);

#endif
