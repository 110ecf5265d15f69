/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses, of the ports that libibumad lists, the one that the subnet manager works through.
 *
 * A port is a pair: the device with its subnet management interface (SMI: QP 0, the issm device)
 * and the device with its general services (GSI: QP 1).  On most adapters one device is both;
 * planarized adapters (ConnectX-8 and later) have a device for each, with the same port GUIDs.
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
	bool infiniband;		/* whether the link layer is InfiniBand */
	bool passed_over;		/* already tried without success */
};
struct seen_ports {
	VEC(struct seen_port) v;
};

/* Lists all ports of all adapters, in libibumad's order. */
void ports_list(struct seen_ports *out);
/*
 * Chooses the first manageable port that has the guid or, if guid is 0, that has a link.  Skips
 * ports that were passed over.  Marks unfit ports that it meets as passed over and, if guid is 0,
 * logs why.  NULL, with the reason in err, if there is none.
 */
struct seen_port *port_choose(struct seen_ports *p, uint64_t guid, struct buf *err);
/* Fills info with the port and its GSI partner, as a newer libibumad reports it, or else by GUID. */
void port_pair(const struct seen_ports *p, const struct seen_port *smi, struct mad_port_info *info);

#endif
