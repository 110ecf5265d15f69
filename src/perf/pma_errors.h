/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Error counters of a port in MADs of its performance management agent.
 *
 * PortCounters has them in 4 to 32 bits, where they stop at their greatest value.
 * PortCountersExtended has all of them in 64 bits on devices that say so (CapabilityMask2 of
 * ClassPortInfo, IsAdditionalPortCountersExtendedSupported).
 *
 * The functions have no side effects.
 */
#ifndef QOSD_PERF_PMA_ERRORS_H
#define QOSD_PERF_PMA_ERRORS_H

#include "lib/iba/port_errors.h"
#include "perf/pma.h"

/* The values of a port's counters; those that it lacks are not known. */
struct pma_errors {
	uint64_t n[PORT_ERRORS];
	uint16_t known;			/* bit by enum port_error */
};

/* How a device tells of errors, by its ClassPortInfo. */
struct pma_errors_of {
	enum pma_attr attr;		/* PMA_TOTAL64 or PMA_TOTAL32 */
	uint16_t known;			/* the counters that it has */
};
/* The answer to PMA_CAPS; that of a device without a valid one has PortCounters only. */
struct pma_errors_of pma_errors_of(const struct pma_values *caps);

/* Width in bits of a counter in the attribute, which is PMA_TOTAL64 or PMA_TOTAL32. */
unsigned pma_error_bits(enum pma_attr a, enum port_error e);
/* Makes a Set that makes those counters 0 whose bits are in `which`, and leaves all others. */
void pma_errors_reset(uint8_t mad[256], enum pma_attr a, uint8_t port, uint16_t which);
/* Parses an answer to a Get of the attribute, as pma_answer() does. */
enum pma_result pma_errors_answer(const uint8_t *mad, size_t n, struct pma_errors_of of, uint8_t port,
				  struct pma_errors *out);

#endif
