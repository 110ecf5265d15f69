/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Our own discovery, for fabrics with a device that libibnetdisc does not survive (private to
 * discovery/).  It runs in the discovery process, sends the same SMPs as the library in the same order,
 * and its answers pass the same guard.  It holds only arrays whose indexes it made itself, so that
 * no answer can crash it.
 *
 * The library stays the first choice, as it has discovered everybody's fabrics so far.
 */
#ifndef QOSD_DISCOVERY_FALLBACK_SCAN_H
#define QOSD_DISCOVERY_FALLBACK_SCAN_H

#include <stddef.h>
#include <stdint.h>

struct walk_config {
	const char *ca;
	int port;
	unsigned window;	/* maximum of outstanding SMPs */
	unsigned timeout_ms;
	uint64_t m_key;
};

enum walk_end {
	WALK_GOOD,
	WALK_FAILED,		/* the port is unusable; standard error says why */
	WALK_OWN_PORT,		/* our own port did not answer */
};

/*
 * Asks all devices, and hands put() a record of stream.h for each node and its ports, then for each
 * link; *self_num: the port of node 0 that sent; *mads: number of SMPs sent.
 */
enum walk_end walk_fabric(const struct walk_config *c, void (*put)(const void *record, size_t n),
			  uint8_t *self_num, uint32_t *mads);

#endif
