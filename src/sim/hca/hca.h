/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HCAs of virtual machines: the hardware and firmware of a simulated CA whose driver runs in a real
 * kernel (qosd/sim_hca.h).
 *
 * While a CA has a driver, its queue pairs are the driver's: all packets that arrive there go to the
 * driver, and it sends packets of its own.  Ports, tables, counters, management agents and traps stay
 * those of sim/dev.  The CA has power from the driver's SIMHCA_START to its SIMHCA_STOP, an invalid
 * frame, or the end of the virtual machine.
 *
 * The caller has the memory and both doorbells; nothing here knows how they reach the guest.
 */
#ifndef QOSD_SIM_HCA_HCA_H
#define QOSD_SIM_HCA_HCA_H

#include "sim/net/engine.h"

struct hca;

struct hca_ops {
	/* Rings the driver's doorbell.  Must not call back into sim/hca. */
	void (*ring)(void *arg);
	void *arg;
};

void hcas_start(struct sim *s);
void hcas_stop(struct sim *s);	/* detaches all */

/*
 * Whether the node can get a driver: a CA whose ports hosts see as they are, and that has none.  False
 * with the reason in err.
 */
bool hca_possible(const struct sim *s, uint32_t node, struct buf *err);
/*
 * Gives a node for which hca_possible() holds to a driver, and switches it off until the driver starts
 * it.  memory: SIMHCA_MEMORY bytes, all zero, aligned to a page, which must stay mapped until
 * hca_detach() and are written to at once.  peer: the HCA's number for the driver's doorbell.  client:
 * its number in statistics.  Copies ops.
 */
struct hca *hca_attach(struct sim *s, uint32_t node, void *memory, uint32_t peer, uint32_t client,
		       const struct hca_ops *ops);
/* Ends the driver's hold; the node stays switched off (device_drive()). */
void hca_detach(struct hca *h);

/* The driver has rung: reads its frames.  What it sends moves when sim_run() goes on. */
void hca_doorbell(struct hca *h);
/*
 * At the end of each turn of the simulation: tells drivers what has changed at their ports, and rings
 * where something was written.  Costs nothing for nodes without a driver.
 */
void hcas_end_turn(struct sim *s);

/* A packet for the driver of the port's node.  For sim_hooks.driver. */
void hca_receive(struct sim *s, uint32_t port, const struct packet *p, uint8_t vl);

#endif
