/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces libibumad for the tests of mad/: a port on which the test sees what is
 * sent, and decides what comes back and when.
 */
#ifndef TEST_MAD_FAKE_UMAD_H
#define TEST_MAD_FAKE_UMAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>

/* What to do with a MAD that was sent; called in the sender's thread. */
extern void (*fake_on_send)(const struct ib_user_mad *umad, const struct umad_smp *smp, int len);

/* Queues a MAD for umad_recv(): len bytes of mad, with the given umad status. */
void fake_receive(const void *mad, int len, uint32_t status, uint32_t agent);
/* Queues the answer to smp with status and, if not NULL, data. */
void fake_answer(const struct umad_smp *smp, uint16_t status, const uint8_t *data);
/* Queues the kernel's timeout for a request. */
void fake_timeout(const struct umad_smp *smp);
/* Number of registered agents. */
extern int fake_agents;
/* Registered methods of the SA class, a bit each. */
extern uint64_t fake_sa_methods[2];
/* Set when the device is removed: nothing can be received. */
extern atomic_bool fake_gone;
/* The class for which the next umad_register() fails. */
extern int fake_refuse_class;
/* What umad_open_port() returns, if it is not 0; and the path of the issm device, or NULL. */
extern int fake_open_error;
extern const char *fake_issm;
/* LID and queue pair that the next received MADs come from. */
extern uint16_t fake_lid;
extern uint32_t fake_qpn;

#endif
