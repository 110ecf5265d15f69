/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Formats and parses MADs with the error counters of a port; see pma_errors.h. */
#include "perf/pma_errors.h"

#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_types.h>

#include "lib/base/bytes.h"

#define MAD_BYTES	256
#define ALL		((1u << PORT_ERRORS) - 1)
/* CapabilityMask and CapabilityMask2 of ClassPortInfo (16.1.3.1) */
#define CAP_QP1_DROPPED	(1u << 15)
#define CAP2_ERRORS64	(1u << 1)
/* libibmad 44 has VL15Dropped instead of QP1Dropped, which is before it. */
#define OFF_QP1_DROPPED	20
#define IN_SELECT2	ERR_XMIT_WAIT	/* the first counter with a bit in PortCounters.CounterSelect2 */

static const struct {
	enum MAD_FIELDS narrow, wide;
	uint8_t bits;			/* of the narrow one */
} fields[PORT_ERRORS] = {
	[ERR_SYMBOL] = { IB_PC_ERR_SYM_F, IB_PC_EXT_ERR_SYM_F, 16 },
	[ERR_LINK_RECOVERY] = { IB_PC_LINK_RECOVERS_F, IB_PC_EXT_LINK_RECOVERS_F, 8 },
	[ERR_LINK_DOWNED] = { IB_PC_LINK_DOWNED_F, IB_PC_EXT_LINK_DOWNED_F, 8 },
	[ERR_RCV] = { IB_PC_ERR_RCV_F, IB_PC_EXT_ERR_RCV_F, 16 },
	[ERR_RCV_REMOTE_PHYSICAL] = { IB_PC_ERR_PHYSRCV_F, IB_PC_EXT_ERR_PHYSRCV_F, 16 },
	[ERR_RCV_SWITCH_RELAY] = { IB_PC_ERR_SWITCH_REL_F, IB_PC_EXT_ERR_SWITCH_REL_F, 16 },
	[ERR_XMIT_DISCARD] = { IB_PC_XMT_DISCARDS_F, IB_PC_EXT_XMT_DISCARDS_F, 16 },
	[ERR_XMIT_CONSTRAINT] = { IB_PC_ERR_XMTCONSTR_F, IB_PC_EXT_ERR_XMTCONSTR_F, 8 },
	[ERR_RCV_CONSTRAINT] = { IB_PC_ERR_RCVCONSTR_F, IB_PC_EXT_ERR_RCVCONSTR_F, 8 },
	[ERR_LOCAL_INTEGRITY] = { IB_PC_ERR_LOCALINTEG_F, IB_PC_EXT_ERR_LOCALINTEG_F, 4 },
	[ERR_BUFFER_OVERRUN] = { IB_PC_ERR_EXCESS_OVR_F, IB_PC_EXT_ERR_EXCESS_OVR_F, 4 },
	[ERR_VL15_DROPPED] = { IB_PC_VL15_DROPPED_F, IB_PC_EXT_VL15_DROPPED_F, 16 },
	[ERR_XMIT_WAIT] = { IB_PC_XMT_WAIT_F, IB_PC_EXT_XMT_WAIT_F, 32 },
	[ERR_QP1_DROPPED] = { IB_NO_FIELD, IB_PC_EXT_QP1_DROP_F, 16 },
};

struct pma_errors_of pma_errors_of(const struct pma_values *caps)
{
	struct pma_errors_of of = { PMA_TOTAL32, ALL };

	if (caps->result == PMA_READ && caps->caps2 & CAP2_ERRORS64)
		return (struct pma_errors_of){ PMA_TOTAL64, ALL };
	if (caps->result != PMA_READ || !pma_has_wait(caps->caps))
		of.known &= (uint16_t)~(1u << ERR_XMIT_WAIT);
	if (caps->result != PMA_READ || !(caps->caps & CAP_QP1_DROPPED))
		of.known &= (uint16_t)~(1u << ERR_QP1_DROPPED);
	return of;
}

unsigned pma_error_bits(enum pma_attr a, enum port_error e)
{
	return a == PMA_TOTAL64 ? 64 : fields[e].bits;
}

void pma_errors_reset(uint8_t mad[256], enum pma_attr a, uint8_t port, uint16_t which)
{
	uint8_t *data = mad + IB_PC_DATA_OFFS;

	pma_request(mad, a, port, true);
	if (a == PMA_TOTAL64) {
		mad_set_field(data, 0, IB_PC_EXT_COUNTER_SELECT_F, 0);
		mad_set_field(data, 0, IB_PC_EXT_COUNTER_SELECT2_F, which);
		return;
	}
	mad_set_field(data, 0, IB_PC_COUNTER_SELECT_F, which & ((1u << IN_SELECT2) - 1));
	mad_set_field(data, 0, IB_PC_COUNTER_SELECT2_F, (uint32_t)which >> IN_SELECT2);
}

static uint64_t get_error(uint8_t *data, enum pma_attr a, enum port_error e)
{
	if (a == PMA_TOTAL64)
		return mad_get_field64(data, 0, fields[e].wide);
	if (e == ERR_QP1_DROPPED)
		return get_be16(data + OFF_QP1_DROPPED);
	return mad_get_field(data, 0, fields[e].narrow);
}

enum pma_result pma_errors_answer(const uint8_t *mad, size_t n, struct pma_errors_of of, uint8_t port,
				  struct pma_errors *out)
{
	enum pma_result result = pma_result_of(mad, n, of.attr, port);
	uint8_t data[MAD_BYTES - IB_PC_DATA_OFFS];

	*out = (struct pma_errors){ .known = result == PMA_READ ? of.known : 0 };
	if (result != PMA_READ)
		return result;
	memcpy(data, mad + IB_PC_DATA_OFFS, sizeof(data));
	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		if (of.known >> e & 1)
			out->n[e] = get_error(data, of.attr, e);
	return PMA_READ;
}
