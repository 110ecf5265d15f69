/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records that the discovery process writes to its pipe (private to discovery/).  Both ends are
 * the same executable, so records use host byte order and struct layout.  Order: each node followed
 * by its ports; then the links; then the end.  Records of excluded devices may come between any of
 * these.
 */
#ifndef QOSD_DISCOVERY_STREAM_H
#define QOSD_DISCOVERY_STREAM_H

#include <stdint.h>

#include "discovery/excluded.h"
#include "lib/iba/iba.h"
#include "lib/iba/smp_window.h"

#define DISCO_KEY_VAR "QOSD_DISCOVERY_M_KEY"	/* environment: the M_Key, in hex */

#define STREAM_NODE 'N'
#define STREAM_PORT 'P'
#define STREAM_LINK 'L'
#define STREAM_LEFT 'O'
#define STREAM_END  'E'

struct stream_node {
	uint8_t type;		/* STREAM_NODE */
	uint8_t is_switch, hops;
	uint8_t node_info[40], switch_info[20];
	char desc[64];
	uint8_t route[IB_DR_HOPS_MAX];
};

struct stream_port {
	uint8_t type;		/* STREAM_PORT; belongs to the preceding node */
	uint8_t num;
	uint8_t port_info[64];
	uint64_t guid;
};

struct stream_link {		/* nodes are numbered from 0 in the order of their records */
	uint8_t type;		/* STREAM_LINK */
	uint8_t num_a, num_b;
	uint32_t node_a, node_b;
};

struct stream_left {
	uint8_t type;		/* STREAM_LEFT */
	struct disco_excluded left;
};

struct stream_end {
	uint8_t type;		/* STREAM_END */
	uint8_t self_num;
	uint32_t self_node, mads;
	struct smp_window_learned learned;
};

#endif
