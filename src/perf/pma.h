/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of a port as its performance management agent tells them (IBA 16.1): requests,
 * answers, and what a counter grew by between two reads.
 *
 * No counter is ever more than a device's word: it may answer anything.  What an
 * agent does not have is not 0 but not there, and so is what cannot be known: IBA's counters
 * do not wrap, they stop at their greatest value until somebody resets them.
 *
 * Pure.
 */
#ifndef QOSD_PERF_PMA_H
#define QOSD_PERF_PMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Attributes that are asked for. */
enum pma_attr {
	PMA_CAPS,		/* ClassPortInfo: whether there is an XmitWait (16.1.3.1) */
	PMA_TOTAL64,		/* PortCountersExtended (16.1.4.11) */
	PMA_TOTAL32,		/* PortCounters (16.1.3.5) */
	PMA_XMIT_SL,		/* PortXmitDataSL */
	PMA_VL_WAIT,		/* PortVLXmitWaitCounters: 16 bits each */
	PMA_VL_RCV,		/* PortVLOpData (16.1.4.6) of the far end: what it got by VL */
	PMA_ATTRS
};
const char *pma_attr_name(enum pma_attr a);
/* Width of its counters, in bits; 0: it has none. */
unsigned pma_bits(enum pma_attr a);
/* Those that a reset before a measurement takes to 0: of 32 and 16 bits, by SL and by VL. */
bool pma_is_reset(enum pma_attr a);

#define PMA_VLS 16
/* PMA_TOTAL64 and PMA_TOTAL32; data in units of 4 bytes */
enum { PMA_XMIT_DATA, PMA_RCV_DATA, PMA_XMIT_PKTS, PMA_RCV_PKTS, PMA_XMIT_WAIT, PMA_TOTALS };

enum pma_result {
	PMA_UNASKED,
	PMA_READ,
	PMA_LACKS,		/* the agent says that it does not have it */
	PMA_SILENT,		/* no answer */
	PMA_BAD,		/* an answer that is none: another status, port or version */
};

struct pma_values {
	enum pma_result result;
	union {
		uint32_t caps;				/* PMA_CAPS: CapabilityMask */
		uint64_t total[PMA_TOTALS];		/* XMIT_WAIT: of PMA_TOTAL32 only */
		uint32_t by_vl[PMA_VLS];		/* the others, by SL or VL */
	};
};

/* A Get of the port's attribute; with reset a Set that makes all its counters 0. */
void pma_request(uint8_t mad[256], enum pma_attr a, uint8_t port, bool reset);
/* What came back, which may be NULL, or anything of n bytes. */
void pma_answer(const uint8_t *mad, size_t n, enum pma_attr a, uint8_t port,
		struct pma_values *out);

/* CapabilityMask: PortCounters has PortXmitWait. */
bool pma_has_wait(uint32_t caps);

/* What a counter grew by. */
struct pma_growth {
	enum growth {
		GROWTH_KNOWN,
		GROWTH_AT_LEAST,	/* it stopped at its greatest value meanwhile */
		GROWTH_SATURATED,	/* it stood there before: nobody knows */
		GROWTH_RESET,		/* it is less than before: somebody reset it */
		GROWTH_ABSENT,		/* not read, at one of the two moments */
	} is;
	uint64_t n;			/* 0 unless _KNOWN, _AT_LEAST */
};
struct pma_growth pma_growth(uint64_t before, uint64_t after, unsigned bits);
/* Of a total, and of an SL or VL; _ABSENT where one of the two was not read. */
struct pma_growth pma_total_growth(const struct pma_values *before,
				   const struct pma_values *after, enum pma_attr a, unsigned total);
struct pma_growth pma_vl_growth(const struct pma_values *before,
				  const struct pma_values *after, enum pma_attr a, unsigned vl);
/* Both together: what is known of the sum; of what is not known, what is not known of it. */
struct pma_growth pma_sum(struct pma_growth a, struct pma_growth b);

static inline bool growth_is_some(struct pma_growth g)
{
	return g.is == GROWTH_KNOWN || g.is == GROWTH_AT_LEAST;
}

#endif
