/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames in the memory that an HCA shares with its driver (qosd/sim_hca.h).
 *
 * The guest can write any byte of that memory at any time.  So each count and header is read once, and
 * only the copy is checked and used; the HCA's own counts are kept outside the shared memory.
 */
#ifndef QOSD_SIM_HCA_RINGS_H
#define QOSD_SIM_HCA_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "qosd/sim_hca.h"

/* The longest frame, in bytes after its header: as much as LRH.PktLen can say. */
#define FRAME_MAX	8192u

/* A frame in host byte order. */
struct frame {
	uint32_t length;
	uint8_t kind, port;
	uint16_t flags;
	uint64_t id;
	uint8_t data[FRAME_MAX];
};

/* The end of a ring that the HCA reads. */
struct ring_reader {
	struct simhca_ring *ring;
	uint32_t read;
	uint32_t end;			/* frames up to here are read before the next ring_reader_look() */
};

/* The end of a ring that the HCA writes. */
struct ring_writer {
	struct simhca_ring *ring;
	uint32_t written;
};

/* Opens the two rings in memory of SIMHCA_MEMORY bytes, all zero. */
void rings_open(void *memory, struct ring_reader *r, struct ring_writer *w);

/*
 * Looks how far the driver has written.  Returns the bytes to be read; 0 if there are none, or if the
 * count makes no sense: *wrong is then what is wrong with it, else NULL.
 */
uint32_t ring_look(struct ring_reader *r, const char **wrong);
/*
 * Copies the next frame, and makes room for others.  False: there is none before r->end, or it is
 * invalid: *wrong as above.  The caller checks kind and port.
 */
bool ring_take(struct ring_reader *r, struct frame *f, const char **wrong);
/* Skips all that has been written. */
void ring_skip(struct ring_reader *r);

enum ring_put { RING_PUT, RING_FULL, RING_WRONG };
/* Writes a frame.  RING_WRONG: the driver's count makes no sense. */
enum ring_put ring_put(struct ring_writer *w, const struct frame *f);

#endif
