/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to discovery/: a discovery of our own, in the discovery process, for a fabric with a device
 * that libibnetdisc does not survive.  It asks what the library asks, in the same order, and its
 * answers pass the same guard; but it holds no more than arrays whose indexes it made itself, so that
 * there is nothing in an answer that it could die of.
 *
 * The library stays the first choice, since it is what everybody's fabrics have been discovered with.
 */
#ifndef QOSD_DISCOVERY_FALLBACK_SCAN_H
#define QOSD_DISCOVERY_FALLBACK_SCAN_H

#include <stddef.h>
#include <stdint.h>

struct walk_config {
	const char *ca;
	int port;
	unsigned window;	/* SMPs outstanding at most */
	unsigned timeout_ms;
	uint64_t m_key;
};

enum walk_end {
	WALK_GOOD,
	WALK_FAILED,		/* the port can't be used: standard error says why */
	WALK_OWN_PORT,		/* our own port does not answer */
};

/*
 * Asks all devices, and hands over a record of stream.h for each node, each of its ports, and then
 * each link; *self_num: the port of node 0 that asked; *mads: how many SMPs it took.
 */
enum walk_end walk_fabric(const struct walk_config *c, void (*put)(const void *record, size_t n),
			  uint8_t *self_num, uint32_t *mads);

#endif
