/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Models the subnet management agent of True Scale adapters (QLogic, later Intel).
 *
 * It covers the differences from sma_port.c and sma_tables.c.  The adapter has no firmware agent:
 * the host's driver answers SMPs, and the model follows its source (Linux,
 * drivers/infiniband/hw/qib/qib_mad.c).
 *
 *  - PortInfo's whole AttributeModifier is the port number, so that a request with
 *    SMSupportExtendedSpeeds names a port that the adapter lacks, and is refused.
 *  - A Set of PortInfo is performed field by field.  If one value is invalid, the status says so,
 *    but all other fields are set.
 *  - A Set to a PortState that the link cannot take is answered with success.
 *  - The answer never shows ClientReregister.
 *  - The table holds a P_Key once, as a full or as a limited member: the agent silently clears
 *    a second entry with the same 15 bits.
 *  - A trap is sent once.
 */
#include <string.h>

#include "sim/dev/dev_internal.h"

#define PKEY_BASE 0x7fff	/* the bits that identify the partition */

/* Fields that the driver checks one by one: offset, number of bytes, and the bits of each byte. */
static const struct {
	uint8_t at, n, mask;
} fields[] = {
	{ PI_MKEY, 16, 0xff },			/* M_Key and GidPrefix */
	{ PI_MKEY_LEASE, 2, 0xff },
	{ PI_LID, 2, 0xff },			/* and LMC */
	{ PI_SM_LID, 2, 0xff },
	{ PI_MTU_SM_SL, 1, 0x0f },
	{ PI_WIDTH_ENABLED, 1, 0xff },
	{ PI_SPEED_ACTIVE_ENABLED, 1, 0x0f },
	{ PI_PHYS_STATE_DOWN_DEFAULT, 1, 0x0f },
	{ PI_MKEY_PROTECT_LMC, 1, 0xc0 },
	{ PI_VL_HIGH_LIMIT, 1, 0xff },
	{ PI_MTU_SM_SL, 1, 0xf0 },
	{ PI_OP_VLS_ENFORCE, 1, 0xf0 },
	{ PI_MKEY_VIOLATIONS, 6, 0xff },
	{ PI_PHY_OVERRUN_ERRORS, 1, 0xff },
	{ PI_REREG_SUBNET_TIMEOUT, 1, PI_SUBNET_TIMEOUT },
	{ PI_SPEED_SUP_STATE, 1, 0x0f },	/* PortState, after all other fields */
	{ PI_PHYS_STATE_DOWN_DEFAULT, 1, 0xf0 },
	{ PI_REREG_SUBNET_TIMEOUT, 1, PI_CLIENT_REREGISTER },
};

/* Fills in the data of a Set that changes nothing. */
static void no_change(const struct smp *q, uint8_t data[SMP_DATA_SIZE])
{
	memcpy(data, q->s->f->ports[q->port].info, SMP_DATA_SIZE);
	set_low4(data + PI_SPEED_SUP_STATE, SIM_PORT_NOP);
	set_high4(data + PI_PHYS_STATE_DOWN_DEFAULT, SIM_PHYS_NOP);
	data[PI_REREG_SUBNET_TIMEOUT] &= PI_SUBNET_TIMEOUT;
}

/* Sets each field on its own.  Returns the resulting status. */
static unsigned set_by_field(struct smp *q)
{
	uint8_t data[SMP_DATA_SIZE];
	unsigned status = STATUS_OK;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		struct smp one = *q;

		no_change(q, data);
		for (unsigned at = fields[i].at; at < fields[i].at + fields[i].n; at++)
			copy_bits(&data[at], q->data[at], fields[i].mask);
		if (fields[i].at == PI_LID)
			copy_bits(&data[PI_MKEY_PROTECT_LMC], q->data[PI_MKEY_PROTECT_LMC], 7);
		one.data = data;
		if (sma_port_info(&one) != STATUS_OK)
			status = STATUS_BAD_VALUE;
		q->changed |= one.changed;
	}
	return status;
}

unsigned true_scale_port_info(struct smp *q)
{
	uint32_t num = q->s->f->ports[q->port].num;
	struct smp get = *q;
	unsigned status = STATUS_OK;

	if (q->mod > q->node->nports)
		return STATUS_BAD_VALUE;
	get.set = false;
	if (q->set && (q->mod == 0 || q->mod == num)) {
		if (!port_state_allowed(&q->s->f->ports[q->port], low4(q->data + PI_SPEED_SUP_STATE)))
			set_low4(q->data + PI_SPEED_SUP_STATE, SIM_PORT_NOP);
		status = set_by_field(q);
	}
	sma_port_info(&get);		/* writes the answer into q->data */
	return status;
}

/* Whether another entry has the same partition, with the other membership bit. */
static bool is_twice(const struct sim_port *p, unsigned at, uint16_t pkey)
{
	for (unsigned i = 0; i < p->n_pkeys; i++)
		if (i != at && p->pkeys[i] != pkey && !((p->pkeys[i] ^ pkey) & PKEY_BASE))
			return true;
	return false;
}

unsigned true_scale_pkey_table(struct smp *q)
{
	struct sim_port *p = &q->s->f->ports[q->port];
	struct smp get = *q;

	if (q->mod & 0xffff)
		return STATUS_BAD_VALUE;
	for (unsigned i = 0; q->set && i < p->n_pkeys; i++) {
		uint16_t pkey = get_be16(q->data + 2 * i);

		if (p->pkeys[i] == pkey)
			continue;
		p->pkeys[i] = 0;
		/* the default partition has no place in the adapter's filter, hence no check */
		if ((pkey & PKEY_BASE) && (pkey & PKEY_BASE) != PKEY_BASE && is_twice(p, i, pkey))
			pkey = 0;
		p->pkeys[i] = pkey;
		q->changed = true;
	}
	get.set = false;
	return sma_pkey_table(&get);
}
