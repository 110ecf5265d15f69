/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric of devices in memory, of which some lie about their identity, and a discovery of it with
 * the walk, the guard and the stream's reader of discovery/.  A program that scans is linked so that the
 * walk sends to these devices (--wrap, in the Makefile).
 */
#ifndef TEST_DISCO_DEVICES_H
#define TEST_DISCO_DEVICES_H

#include "discovery/excluded.h"
#include "discovery/stream_reader.h"

enum { DEVICE_CA = 1, DEVICE_SWITCH = 2 };
#define DEVICE_PORTS	8u	/* of a switch; a CA has one */
#define DEVICES_MAX	128u

enum lie {
	TRUTH,
	NODE_GUID,		/* another device's NodeGUID */
	NODE_GUID_CHOSEN,	/* ... and the PortGUID that is nearest to it */
	NODE_GUID_RANDOM,	/* another one in each answer */
	BOTH_GUIDS_RANDOM,	/* PortGUID, too */
	BOTH_GUIDS_FIT,		/* ... so that the two are of one block */
	PORT_GUID,		/* another device's PortGUID */
	PORT_GUID_RANDOM,
	WHOLE,			/* all of another device's NodeInfo but for LocalPortNum */
	LOCAL_PORT,		/* another port of its own */
	LIES
};

extern const char *const lie_names[LIES];

struct device {
	uint64_t guid, port_guid;
	unsigned type, ports;
	struct { int device; unsigned port; } peer[DEVICE_PORTS + 1];	/* device -1: none */
	enum lie lie;
	unsigned victim;
};

/* Device 0 is the manager's, a CA. */
extern struct device devices[DEVICES_MAX];
extern unsigned n_devices;

struct devices_fabric {
	const char *name;
	void (*make)(void);	/* fills devices: nobody lies */
};

#define DEVICES_FABRICS 4u
extern const struct devices_fabric devices_fabrics[DEVICES_FABRICS];

/* Seeds the order of answers and what is random in them; devices_random(): such a number. */
void devices_seed(uint64_t seed);
uint32_t devices_random(void);

/* The device at the end of a path of port numbers, *local: by which of its ports; -1: none. */
int devices_follow(const uint8_t *path, unsigned hops, unsigned *local);

/*
 * A scan; out: what is excluded.  The caller frees what r has.  False: the scan met more than there
 * can be, and the fabric is of no use.
 */
bool devices_scan(const struct disco_excluded *out, unsigned n_out, const struct fabric *known,
		  struct stream_reader *r);
void devices_free(void);

#endif
