/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a fabric of devices in memory, some of which lie about their identity, and scans it with the
 * walk, the guard and the stream reader of discovery/.  A program that scans is linked so that the walk
 * sends to these devices (--wrap, in the Makefile).
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

/* Seeds the order of answers and their random contents; devices_random() returns such a number. */
void devices_seed(uint64_t seed);
uint32_t devices_random(void);

/* Returns the device at the end of a path of port numbers, or -1; *local gets the port where the path ends. */
int devices_follow(const uint8_t *path, unsigned hops, unsigned *local);

/*
 * Makes a scan; out: the devices to exclude.  The caller frees the contents of r.  Returns false if the
 * scan found more than can exist, so that the fabric is unusable.
 */
bool devices_scan(const struct disco_excluded *out, unsigned n_out, const struct fabric *known,
		  struct stream_reader *r);
void devices_free(void);

#endif
