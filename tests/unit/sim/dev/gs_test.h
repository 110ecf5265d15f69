/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes a switch and two CAs, and sends requests to their agents of general services. */
#ifndef GS_TEST_H
#define GS_TEST_H

#include "sim/dev/dev_internal.h"

#define GS_TEST_DATA 64

extern struct sim *gs_sim;
extern struct sim_fabric *gs_fabric;
extern uint32_t gs_switch, gs_ca;	/* end ports: port 0 of 4, port 2 of 2 */

/* Makes the fabric with this profile file. */
void gs_setup(const char *profiles);
void gs_teardown(void);

/* Returns a correct request as it arrives at an end port. */
struct packet gs_request(uint8_t mgmt_class, uint8_t method, uint16_t attr, uint32_t mod);
/* Returns the status of the answer; fails if the agent ignores the request or the answer's header is wrong. */
unsigned gs_ask(bool (*agent)(struct sim *, uint32_t, struct packet *), uint32_t port,
		struct packet *p);

#endif
