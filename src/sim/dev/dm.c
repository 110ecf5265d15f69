/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Device management agent (16.3) of devices whose profile is an SRP target.
 *
 * It presents an I/O unit with one controller in slot 1, which offers one service.  No server is
 * behind the service: clients can only discover it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "sim/dev/gs.h"

enum { DM_IO_UNIT_INFO = 0x10, DM_CONTROLLER_PROFILE = 0x11, DM_SERVICE_ENTRIES = 0x12 };

#define DM_STATUS_NO_CONTROLLER 0x0100	/* 16.3.2.2: nothing in the slot */
#define SLOTS 1
#define SERVICES 1

/* IOUnitInfo (16.3.3.3) */
enum { IOU_CHANGE_ID = 0, IOU_MAX_CONTROLLERS = 2, IOU_CONTROLLERS = 4 };
#define IOU_PRESENT_IN_FIRST 0x10

/* IOControllerProfile (16.3.3.4) */
enum {
	IOC_GUID = 0, IOC_VENDOR_ID = 8, IOC_DEVICE_ID = 12, IOC_SUBSYSTEM_VENDOR_ID = 20,
	IOC_SUBSYSTEM_ID = 24, IOC_CLASS = 28, IOC_SUBCLASS = 30, IOC_PROTOCOL = 32,
	IOC_PROTOCOL_VERSION = 34, IOC_SEND_DEPTH = 40, IOC_RDMA_READ_DEPTH = 43,
	IOC_SEND_SIZE = 44, IOC_RDMA_SIZE = 48, IOC_OPERATIONS = 52, IOC_SERVICES = 54,
	IOC_ID = 64, IOC_ID_SIZE = 64,
};
/* SRP revision 16a (annex B) */
#define SRP_IO_CLASS 0x0100
#define SRP_IO_SUBCLASS 0x609e
#define SRP_PROTOCOL 0x0108
#define SRP_PROTOCOL_VERSION 1
#define SRP_OPERATIONS 0x2b	/* sends to and from the controller, RDMA reads and writes by the
				 * controller */

/* ServiceEntries (16.3.3.5): up to four of a name and a service id */
enum { SERVICE_NAME_SIZE = 40, SERVICE_ID = 40 };

static unsigned io_unit_info(uint8_t *data)
{
	put_be16(data + IOU_CHANGE_ID, 1);
	data[IOU_MAX_CONTROLLERS] = SLOTS;
	data[IOU_CONTROLLERS] = IOU_PRESENT_IN_FIRST;
	return STATUS_OK;
}

static unsigned slot_status(uint32_t slot)
{
	return slot == 0 ? STATUS_BAD_VALUE : slot > SLOTS ? DM_STATUS_NO_CONTROLLER : STATUS_OK;
}

static unsigned controller_profile(const struct sim_node *n, uint32_t slot, uint8_t *data)
{
	unsigned status = slot_status(slot);

	if (status != STATUS_OK)
		return status;
	put_be64(data + IOC_GUID, n->guid);
	put_be32(data + IOC_VENDOR_ID, n->vendor_id << 8);
	put_be32(data + IOC_DEVICE_ID, n->device_id);
	put_be32(data + IOC_SUBSYSTEM_VENDOR_ID, n->vendor_id << 8);
	put_be32(data + IOC_SUBSYSTEM_ID, n->device_id);
	put_be16(data + IOC_CLASS, SRP_IO_CLASS);
	put_be16(data + IOC_SUBCLASS, SRP_IO_SUBCLASS);
	put_be16(data + IOC_PROTOCOL, SRP_PROTOCOL);
	put_be16(data + IOC_PROTOCOL_VERSION, SRP_PROTOCOL_VERSION);
	put_be16(data + IOC_SEND_DEPTH, 64);
	data[IOC_RDMA_READ_DEPTH] = 4;
	put_be32(data + IOC_SEND_SIZE, 8192);
	put_be32(data + IOC_RDMA_SIZE, 1u << 20);
	data[IOC_OPERATIONS] = SRP_OPERATIONS;
	data[IOC_SERVICES] = SERVICES;
	snprintf((char *)data + IOC_ID, IOC_ID_SIZE, "%.*s", IOC_ID_SIZE - 1, n->desc);
	return STATUS_OK;
}

/* The modifier holds the slot, and the last and first entry requested. */
static unsigned service_entries(const struct sim_node *n, uint32_t mod, uint8_t *data)
{
	unsigned status = slot_status(mod >> 16), last = mod >> 8 & 0xff, first = mod & 0xff;

	if (status != STATUS_OK)
		return status;
	if (first > last || last >= SERVICES)
		return STATUS_BAD_VALUE;
	snprintf((char *)data, SERVICE_NAME_SIZE, "SRP.T10:%016" PRIx64, n->guid);
	put_be64(data + SERVICE_ID, n->guid);
	return STATUS_OK;
}

static unsigned dm_perform(struct sim_fabric *f, uint32_t port, uint16_t attr, uint32_t mod,
			   bool set, uint8_t *data)
{
	const struct sim_node *n = node_of(f, port);

	if (set)
		return STATUS_BAD_METHOD_ATTR;
	memset(data, 0, GS_DATA_SIZE);
	switch (attr) {
	case ATTR_CLASS_PORT_INFO:
		gs_class_port_info(f, port, 0, 0, data);
		return STATUS_OK;
	case DM_IO_UNIT_INFO:
		return io_unit_info(data);
	case DM_CONTROLLER_PROFILE:
		return controller_profile(n, mod, data);
	case DM_SERVICE_ENTRIES:
		return service_entries(n, mod, data);
	}
	return STATUS_BAD_METHOD_ATTR;
}

bool dm_receive(struct sim *s, uint32_t port, struct packet *p)
{
	if (!node_of(s->f, port)->profile->srp_target || !gs_is_request(p, CLASS_DM))
		return false;
	gs_answer(s, port, p, dm_perform);
	return true;
}
