/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of a port as its performance management agent reports them (IBA 16.1).
 *
 * It makes requests, parses answers, and computes the growth of a counter between two reads.
 *
 * A device may answer anything, so a counter is only what the device says.  A counter that an
 * agent lacks is absent, not 0, and so is one that cannot be known: IBA's counters do not wrap;
 * they stop at their greatest value until somebody resets them.
 *
 * The functions have no side effects.
 */
#ifndef QOSD_PERF_PMA_H
#define QOSD_PERF_PMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Attributes that are requested. */
enum pma_attr {
	PMA_CAPS,		/* ClassPortInfo: whether PortCounters has XmitWait (16.1.3.1) */
	PMA_TOTAL64,		/* PortCountersExtended (16.1.4.11) */
	PMA_TOTAL32,		/* PortCounters (16.1.3.5) */
	PMA_XMIT_SL,		/* PortXmitDataSL */
	PMA_VL_WAIT,		/* PortVLXmitWaitCounters: 16 bits each */
	PMA_VL_RCV,		/* PortVLOpData (16.1.4.6) of the far end: data received by VL */
	PMA_ATTRS
};
const char *pma_attr_name(enum pma_attr a);
/* Width of the attribute's counters, in bits; 0: it has none. */
unsigned pma_bits(enum pma_attr a);
/*
 * Whether a reset before a measurement sets the attribute's counters to 0: those of 32 and 16
 * bits, by SL and VL.
 */
bool pma_is_reset(enum pma_attr a);

#define PMA_VLS 16
/* indexes of PMA_TOTAL64 and PMA_TOTAL32; data in units of 4 bytes */
enum { PMA_XMIT_DATA, PMA_RCV_DATA, PMA_XMIT_PKTS, PMA_RCV_PKTS, PMA_XMIT_WAIT, PMA_TOTALS };

enum pma_result {
	PMA_UNASKED,
	PMA_READ,
	PMA_LACKS,		/* the agent says that it lacks the attribute */
	PMA_SILENT,		/* no answer */
	PMA_BAD,		/* an invalid answer: another status, port or version */
};

struct pma_values {
	enum pma_result result;
	union {
		struct {
			uint32_t caps, caps2;		/* PMA_CAPS: CapabilityMask, CapabilityMask2 */
		};
		uint64_t total[PMA_TOTALS];		/* XMIT_WAIT: PMA_TOTAL32 only */
		uint32_t by_vl[PMA_VLS];		/* all other attributes, by SL or VL */
	};
};

/* Makes a Get of the port's attribute; with reset, a Set that makes all its counters 0. */
void pma_request(uint8_t mad[256], enum pma_attr a, uint8_t port, bool reset);
/* What an answer of n bytes is worth; see pma_answer(). */
enum pma_result pma_result_of(const uint8_t *mad, size_t n, enum pma_attr a, uint8_t port);
/* The same of the answer to a Set, whose values mean nothing; PMA_READ: the device has done it. */
enum pma_result pma_set_result(const uint8_t *mad, size_t n, enum pma_attr a);
/* Parses an answer of n bytes, which may contain anything; mad NULL: there was none. */
void pma_answer(const uint8_t *mad, size_t n, enum pma_attr a, uint8_t port,
		struct pma_values *out);

/* Whether PortCounters has PortXmitWait, by CapabilityMask. */
bool pma_has_wait(uint32_t caps);
/* Whether there is PortCountersExtended with at least the totals, by CapabilityMask. */
bool pma_has_extended(uint32_t caps);

/* The growth of a counter between two reads. */
struct pma_growth {
	enum growth {
		GROWTH_KNOWN,
		GROWTH_AT_LEAST,	/* it stopped at its greatest value in between */
		GROWTH_SATURATED,	/* it was at its greatest value before: unknown */
		GROWTH_RESET,		/* it is less than before: somebody reset it */
		GROWTH_ABSENT,		/* one of the two reads is missing */
	} is;
	uint64_t n;			/* 0 unless _KNOWN or _AT_LEAST */
};
struct pma_growth pma_growth(uint64_t before, uint64_t after, unsigned bits);
/* The growth of a total, and of an SL or VL; _ABSENT if one of the two was not read. */
struct pma_growth pma_total_growth(const struct pma_values *before,
				   const struct pma_values *after, enum pma_attr a, unsigned total);
struct pma_growth pma_vl_growth(const struct pma_values *before,
				  const struct pma_values *after, enum pma_attr a, unsigned vl);
/* The sum of two growths; as uncertain as the less certain of the two. */
struct pma_growth pma_sum(struct pma_growth a, struct pma_growth b);

static inline bool growth_is_some(struct pma_growth g)
{
	return g.is == GROWTH_KNOWN || g.is == GROWTH_AT_LEAST;
}

#endif
