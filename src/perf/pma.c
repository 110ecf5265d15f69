/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Formats requests to performance management agents, and parses their answers; see pma.h. */
#include "perf/pma.h"

#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_types.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/iba/iba.h"

#define MAD_BYTES	256
#define ALL_COUNTERS	0xffff		/* CounterSelect */
#define CAP_XMIT_WAIT	(1u << 12)	/* PortCountersXmitWaitSupported */
#define CAP_EXTENDED	(3u << 9)	/* IsExtendedWidthSupported, and the same without counters by cast */
#define CAP2_SHIFT	5		/* CapabilityMask2 and RespTimeValue share a word */

enum { OFF_METHOD = 3, OFF_STATUS = 4, OFF_ATTR = 16, OFF_DATA = IB_PC_DATA_OFFS };

static const struct {
	const char *name;
	uint16_t id;
	uint8_t bits;
	bool reset;
	enum MAD_FIELDS first;		/* first of 16 fields by SL or VL; or IB_NO_FIELD */
} attrs[PMA_ATTRS] = {
	[PMA_CAPS] = { "ClassPortInfo", CLASS_PORT_INFO, 0, false, IB_NO_FIELD },
	[PMA_TOTAL64] = { "PortCountersExtended", IB_GSI_PORT_COUNTERS_EXT, 64, false,
			  IB_NO_FIELD },
	[PMA_TOTAL32] = { "PortCounters", IB_GSI_PORT_COUNTERS, 32, false, IB_NO_FIELD },
	[PMA_XMIT_SL] = { "PortXmitDataSL", IB_GSI_PORT_XMIT_DATA_SL, 32, true,
			  IB_PC_XMT_DATA_SL_FIRST_F },
	[PMA_VL_WAIT] = { "PortVLXmitWaitCounters", IB_GSI_PORT_PORT_VL_XMIT_WAIT_COUNTERS,
			  16, true, IB_PC_PORT_VL_XMIT_WAIT_COUNTERS_FIRST_F },
	[PMA_VL_RCV] = { "PortVLOpData", IB_GSI_PORT_PORT_VL_OP_DATA, 32, true,
			 IB_PC_PORT_VL_OP_DATA_FIRST_F },
};

const char *pma_attr_name(enum pma_attr a)
{
	return attrs[a].name;
}

unsigned pma_bits(enum pma_attr a)
{
	return attrs[a].bits;
}

bool pma_is_reset(enum pma_attr a)
{
	return attrs[a].reset;
}

bool pma_has_wait(uint32_t caps)
{
	return caps & CAP_XMIT_WAIT;
}

bool pma_has_extended(uint32_t caps)
{
	return caps & CAP_EXTENDED;
}

/* --- MADs --- */

void pma_request(uint8_t mad[256], enum pma_attr a, uint8_t port, bool reset)
{
	memset(mad, 0, MAD_BYTES);
	mad[0] = UMAD_BASE_VERSION;
	mad[1] = UMAD_CLASS_PERF_MGMT;
	mad[2] = 1;
	mad[OFF_METHOD] = reset ? UMAD_METHOD_SET : UMAD_METHOD_GET;
	put_be16(mad + OFF_ATTR, attrs[a].id);
	if (a == PMA_CAPS)
		return;
	mad_set_field(mad + OFF_DATA, 0, IB_PC_PORT_SELECT_F, port);
	if (reset)
		mad_set_field(mad + OFF_DATA, 0, IB_PC_COUNTER_SELECT_F, ALL_COUNTERS);
}

static void get_totals(void *data, enum pma_attr a, uint64_t total[PMA_TOTALS])
{
	static const enum MAD_FIELDS wide[] = {
		IB_PC_EXT_XMT_BYTES_F, IB_PC_EXT_RCV_BYTES_F, IB_PC_EXT_XMT_PKTS_F,
		IB_PC_EXT_RCV_PKTS_F,
	};
	static const enum MAD_FIELDS narrow[] = {
		IB_PC_XMT_BYTES_F, IB_PC_RCV_BYTES_F, IB_PC_XMT_PKTS_F, IB_PC_RCV_PKTS_F,
		IB_PC_XMT_WAIT_F,
	};

	if (a == PMA_TOTAL64)
		for (size_t i = 0; i < ARRAY_SIZE(wide); i++)
			total[i] = mad_get_field64(data, 0, wide[i]);
	else
		for (size_t i = 0; i < ARRAY_SIZE(narrow); i++)
			total[i] = mad_get_field(data, 0, narrow[i]);
}

enum pma_result pma_set_result(const uint8_t *mad, size_t n, enum pma_attr a)
{
	unsigned status;

	if (!mad)
		return PMA_SILENT;
	if (n < MAD_BYTES || mad[1] != UMAD_CLASS_PERF_MGMT ||
	    get_be16(mad + OFF_ATTR) != attrs[a].id)
		return PMA_BAD;
	status = get_be16(mad + OFF_STATUS);
	if (status == IB_STATUS_BAD_METHOD || status == IB_STATUS_BAD_METHOD_ATTR)
		return PMA_LACKS;
	return status ? PMA_BAD : PMA_READ;
}

enum pma_result pma_result_of(const uint8_t *mad, size_t n, enum pma_attr a, uint8_t port)
{
	enum pma_result r = pma_set_result(mad, n, a);

	return r == PMA_READ && a != PMA_CAPS && mad[OFF_DATA + 1] != port ? PMA_BAD : r;
}

void pma_answer(const uint8_t *mad, size_t n, enum pma_attr a, uint8_t port,
		struct pma_values *out)
{
	uint8_t data[MAD_BYTES - OFF_DATA];

	memset(out, 0, sizeof(*out));
	out->result = pma_result_of(mad, n, a, port);
	if (out->result != PMA_READ)
		return;
	memcpy(data, mad + OFF_DATA, sizeof(data));
	if (a == PMA_CAPS) {
		out->caps = get_be16(data + 2);
		out->caps2 = get_be32(data + 4) >> CAP2_SHIFT;
	} else if (attrs[a].first) {
		for (unsigned i = 0; i < PMA_VLS; i++)
			out->by_vl[i] = mad_get_field(data, 0, attrs[a].first + i);
	} else {
		get_totals(data, a, out->total);
	}
}

/* --- growth --- */

struct pma_growth pma_growth(uint64_t before, uint64_t after, unsigned bits)
{
	uint64_t most = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

	if (after < before)
		return (struct pma_growth){ GROWTH_RESET, 0 };
	if (before >= most)
		return (struct pma_growth){ GROWTH_SATURATED, 0 };
	return (struct pma_growth){ after < most ? GROWTH_KNOWN : GROWTH_AT_LEAST,
				    after - before };
}

static bool both_read(const struct pma_values *before, const struct pma_values *after)
{
	return before->result == PMA_READ && after->result == PMA_READ;
}

struct pma_growth pma_total_growth(const struct pma_values *before,
				   const struct pma_values *after, enum pma_attr a, unsigned total)
{
	if (!both_read(before, after))
		return (struct pma_growth){ GROWTH_ABSENT, 0 };
	return pma_growth(before->total[total], after->total[total], pma_bits(a));
}

struct pma_growth pma_vl_growth(const struct pma_values *before,
				  const struct pma_values *after, enum pma_attr a, unsigned vl)
{
	if (!both_read(before, after))
		return (struct pma_growth){ GROWTH_ABSENT, 0 };
	return pma_growth(before->by_vl[vl], after->by_vl[vl], pma_bits(a));
}

struct pma_growth pma_sum(struct pma_growth a, struct pma_growth b)
{
	struct pma_growth sum = { a.is > b.is ? a.is : b.is, 0 };

	if (growth_is_some(sum))
		sum.n = a.n + b.n;
	return sum;
}
