/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A switch and two CAs, and requests to the agents of their general services. */
#ifndef GS_TEST_H
#define GS_TEST_H

#include "sim/dev/dev_internal.h"

#define GS_TEST_DATA 64

extern struct sim *gs_sim;
extern struct sim_fabric *gs_fabric;
extern uint32_t gs_switch, gs_ca;	/* end ports: port 0 of 4, port 2 of 2 */

/* With this profile file. */
void gs_setup(const char *profiles);
void gs_teardown(void);

/* A request as it arrives at an end port, all in order. */
struct packet gs_request(uint8_t mgmt_class, uint8_t method, uint16_t attr, uint32_t mod);
/* Its answer's status; fails if it is not taken, or the answer's header is wrong. */
unsigned gs_ask(bool (*agent)(struct sim *, uint32_t, struct packet *), uint32_t port,
		struct packet *p);

#endif
