/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a small fabric and sends SMPs into it from CA "a", through the simulated network.
 *
 *   a/P1 - sw1/P1   sw1/P2 - sw2/P1   sw1/P3 - sw2/P3   sw2/P2 - b/P1
 *
 * Switches have four ports; a has two, of which the second has no cable.
 */
#ifndef SMP_TEST_H
#define SMP_TEST_H

#include "sim/dev/dev_internal.h"

extern struct sim *sim;
extern struct sim_fabric *fabric;
extern uint32_t ca_a, ca_b, sw1, sw2;	/* end ports */

/* Makes the fabric with this profile file. The topology has LIDs 7 and 8 for a, 12 for sw2. */
void fabric_setup(const char *profiles, bool keep_lids);
/* If set, fabric_setup() calls it before devices get their profiles and start. */
extern void (*before_start)(void);
void fabric_teardown(void);
/* Makes the fabric with presets that have all features: switch-ib-2 and connectx-5. */
void default_setup(void);

/* The profile of a port, which tests may change for features that no preset has. */
struct sim_profile *profile_of(uint32_t port);
/* PortInfo of a port by name: "sw1/P2". */
uint8_t *info_of(const char *name);
uint32_t port_of(const char *name);

/* Lets us microseconds pass. */
void pass_us(int64_t us);

/* MADs that hosts received: traps, and answers except those to smp(). */
#define HEARD_MAX 128
extern struct packet heard[HEARD_MAX];
extern uint32_t heard_at[HEARD_MAX];
extern unsigned n_heard;
/* Returns how many of these are traps of this number; *last gets the Notice of the last one. */
unsigned traps_heard(unsigned trap, const uint8_t **last);

extern uint64_t smp_key;	/* M_Key of what smp() sends; 0 at the start of each test */
/*
 * Sends a directed route SMP from a along a path ("" is a itself, "1.2" sw2).  Returns the status of
 * the answer, with its data in place, or NO_ANSWER if there is none within a second.
 */
#define NO_ANSWER 0xffffu
unsigned smp(const char *path, uint8_t method, uint16_t attr, uint32_t mod, uint8_t *data);
unsigned smp_get(const char *path, uint16_t attr, uint32_t mod, uint8_t *data);
unsigned smp_set(const char *path, uint16_t attr, uint32_t mod, uint8_t *data);
/* Returns the packet of an SMP, for tests that damage it. */
struct packet smp_packet(const char *path, uint8_t method, uint16_t attr, uint32_t mod,
			 const uint8_t *data);
unsigned smp_send(struct packet *p);	/* p: its answer then */

/* LIDs 1 (a), 2 (b), 11 and 12 (switches), SM at a, all links Active, routes. */
void bring_up(void);
/* Sends Set(PortInfo) with one field changed, as a manager writes back what it read. */
unsigned set_port(const char *path, unsigned num, void (*change)(uint8_t *info, unsigned v),
		  unsigned v);

#endif
