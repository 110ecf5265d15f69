/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the agents of the general services share (gs.c). */
#ifndef QOSD_SIM_DEV_GS_H
#define QOSD_SIM_DEV_GS_H

#include "sim/dev/dev_internal.h"

/* Data of performance and device management MADs (16.1.2, 16.3.2). */
#define GS_DATA 64
#define GS_DATA_SIZE 192

#define ATTR_CLASS_PORT_INFO 0x01

/*
 * Whether the packet is a request of the class to the port's GSI with a matching Q_Key (10.2.4).  The
 * host refuses other requests.  The wire has checked the P_Key.
 */
bool gs_is_request(const struct packet *p, uint8_t mgmt_class);

/* Performs a request.  Returns the MAD status; data: GS_DATA_SIZE bytes, in and out. */
typedef unsigned gs_handler(struct sim_fabric *f, uint32_t port, uint16_t attr, uint32_t mod,
			    bool set, uint8_t *data);
/* Turns the packet into its answer.  The handler performs it if it is a Get or Set of version 1. */
void gs_answer(struct sim *s, uint32_t port, struct packet *p, gs_handler *handler);

/* Fills in ClassPortInfo (13.4.8.1) without redirection and traps. */
void gs_class_port_info(const struct sim_fabric *f, uint32_t port, uint16_t capmask,
			uint32_t capmask2, uint8_t *data);

#endif
