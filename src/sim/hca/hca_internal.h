/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of an HCA, and what its files do for each other (private to sim/hca). */
#ifndef QOSD_SIM_HCA_HCA_INTERNAL_H
#define QOSD_SIM_HCA_HCA_INTERNAL_H

#include "lib/base/log.h"
#include "sim/dev/device.h"
#include "sim/hca/hca.h"
#include "sim/hca/rings.h"

/* An answer that waits for room in the ring. */
struct answer {
	struct answer *next;
	uint8_t port;
	uint16_t verdict;		/* enum simhca_answer */
	uint64_t id;
	uint8_t mad[SIMHCA_MAD_SIZE];	/* valid if SIMHCA_REPLY */
};
/*
 * With so many answers waiting, the HCA reads no more frames.  So a guest that asks and does not read
 * cannot make it grow.
 */
#define ANSWERS_MAX 64

/* What a driver knows of a port. */
struct seen {
	uint8_t state, lmc, sm_sl;
	uint16_t lid, sm_lid;
	uint32_t reregisters;
	uint8_t gid_prefix[8];
	uint16_t *pkeys;		/* as many as the port has */
	uint64_t *guids;
	uint16_t due;			/* enum simhca_event bits that the driver has not been told */
};

struct hca {
	struct sim *s;
	uint32_t node;
	uint32_t client;
	struct hca_ops ops;
	struct ring_reader in;
	struct ring_writer out;
	bool broken;			/* by an invalid frame: waits for the next SIMHCA_START */
	bool written;			/* since the doorbell was rung last */
	struct answer *waiting, **last;	/* oldest first */
	unsigned n_waiting;
	struct seen seen[SIMHCA_PORTS_MAX];
	struct frame frame;		/* the one that is being read or written */
};

struct hcas {
	struct hca **by_node;		/* NULL: has no driver */
	VEC(struct hca *) list;
	struct log_ratelimit complaints;
};

static inline struct hcas *hcas_of(const struct sim *s)
{
	return s->hcas;
}

static inline struct sim_node *hca_node(const struct hca *h)
{
	return &h->s->f->nodes[h->node];
}

static inline uint32_t hca_port(const struct hca *h, unsigned num)
{
	return hca_node(h)->port0 + num;
}

/* --- hca.c --- */

/* Resets and powers the HCA, and forgets what was under way to the driver. */
void hca_start(struct hca *h);
void hca_answer(struct hca *h, const struct answer *a);
/* Writes h->frame.  False: there is no room, or the driver's count made no sense. */
bool hca_write(struct hca *h);

/* --- requests.c --- */

/* Does what a frame of the driver's asks.  Returns NULL, or what is wrong with it. */
const char *hca_take(struct hca *h, const struct frame *f);

/* --- events.c --- */

void events_init(struct hca *h);
void events_free(struct hca *h);
/* Takes the ports as they are for known. */
void events_reset(struct hca *h);
/* Finds what has changed, and tells the driver as far as the ring has room. */
void events_tell(struct hca *h);

#endif
