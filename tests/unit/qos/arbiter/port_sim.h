/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Simulates an output port that arbitrates packet by packet, written from IBA 7.6.9.2
 * alone: tables with a pointer and an available weight, the HighPriCounter, queues.
 * It checks qos/arbiter/arbiter.h, with which it shares only the table types of ib.h.
 */
#ifndef TESTS_BANDWIDTH_PORT_SIM_H
#define TESTS_BANDWIDTH_PORT_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/iba/iba.h"

#define SIM_VLS 15
#define SIM_BACKLOG UINT32_MAX	/* as a queue's length: it never empties */

struct sim_table {
	struct vlarb_entry entries[VLARB_ENTRIES_MAX];
	unsigned length, pointer;
	uint32_t available;	/* weight, in bytes */
};

struct port_sim {
	struct sim_table high, low;
	unsigned limit;
	/* HighPriCounter: packets and bytes of high priority since its last reset. */
	uint32_t high_packets, high_bytes;
	uint32_t queue[SIM_VLS];	/* packets that wait */
	uint32_t size[SIM_VLS];		/* bytes of each */
};

/* Empty queues, each table at its first entry. */
void port_sim_init(struct port_sim *p, const struct vlarb *arb, const uint16_t size[SIM_VLS]);

/* Takes the next packet out of its queue.  Returns its VL, -1 if none can be sent. */
int port_sim_send(struct port_sim *p);

/* Whether both behave the same from here on if given the same packets. */
bool port_sim_same_state(const struct port_sim *a, const struct port_sim *b);

#endif
