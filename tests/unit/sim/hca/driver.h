/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plays drivers of HCAs, on the fabric of sim/dev/smp_test.h with two more CAs: c at sw1/P4 and d at
 * sw2/P4.
 */
#ifndef HCA_DRIVER_H
#define HCA_DRIVER_H

#include "sim/hca/hca.h"
#include "sim/hca/rings.h"
#include "unit/sim/dev/smp_test.h"

#define PEER 7			/* the HCA's number as a peer */
#define GSI_QKEY 0x80010000u

extern uint32_t ca_c, ca_d;	/* end ports */

/* LIDs by bring_up(), and by vm_bring_up() for c and d. */
enum { LID_A = 1, LID_B = 2, LID_C = 3, LID_D = 4 };

void vm_setup(void);		/* fixtures of each test */
void vm_teardown(void);
/* bring_up(), and the same for c and d; then a's P_Keys and the others' are those after a reset. */
void vm_bring_up(void);

struct driver {
	struct hca *h;
	uint32_t node, port;	/* port: the first of the node */
	void *memory;
	unsigned rung;		/* how often its doorbell was rung */
	uint32_t written, read;
};

/* Attaches a driver to the node of an end port, and starts the HCA. */
void driver_attach(struct driver *d, uint32_t port);
void driver_start(struct driver *d, uint32_t port);	/* the same, and lets the link train */
void driver_detach(struct driver *d);
struct simhca_ring *to_hca(const struct driver *d);
struct simhca_ring *to_driver(const struct driver *d);
const struct simhca_header *driver_header(const struct driver *d);

/* Writes a frame, and lets the HCA alone. */
void driver_write(struct driver *d, uint8_t kind, uint8_t port, uint16_t flags, uint64_t id,
		  const void *data, uint32_t n);
/* Rings the HCA's doorbell, and runs a turn of the simulation. */
void driver_ring(struct driver *d);
/* Both. */
void driver_send(struct driver *d, uint8_t kind, uint8_t port, const void *data, uint32_t n);
/* Reads the next frame; false: there is none. */
bool driver_read(struct driver *d, struct frame *f);
/* Reads until the next frame of the kind; false: there is none. */
bool driver_find(struct driver *d, uint8_t kind, struct frame *f);
void driver_forget(struct driver *d);	/* reads and ignores all frames */

/* Lets us microseconds pass, and ends the turn. */
void turn_us(int64_t us);

/* Asks the agents of port 1.  Returns an enum simhca_answer; mad is then the answer. */
unsigned driver_ask(struct driver *d, uint16_t flags, bool by_cable, uint8_t *mad);
/* Makes a MAD of 256 bytes. */
void make_mad(uint8_t *mad, uint8_t mgmt_class, uint8_t method, uint16_t attr, uint32_t mod);

/* A packet as bytes: a datagram, unless opcode says otherwise. */
struct raw_spec {
	uint16_t slid, dlid;
	uint8_t sl, opcode;	/* 0: UD SEND only */
	uint16_t pkey;		/* 0: 0xffff */
	uint32_t dqpn, sqpn, qkey;
	bool grh;
	unsigned n;		/* bytes of payload, a multiple of 4 */
	const void *payload;	/* NULL: bytes that count up */
};
/* Writes it to raw; returns its length. */
unsigned make_raw(const struct raw_spec *r, uint8_t *raw);
/* Sends it from port 1. */
void driver_send_raw(struct driver *d, const struct raw_spec *r);

#endif
