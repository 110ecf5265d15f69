/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers NodeDescription, NodeInfo (14.2.5.2, .3) and LedInfo (14.2.5.15). */
#include "sim/dev/dev_internal.h"

#define LED_ON 0x80

/* A Set needs the bit in CapabilityMask2. */
unsigned sma_node_description(struct smp *q)
{
	struct sim_node *n = q->node;

	if (q->set) {
		unsigned capmask2 = get_be16(q->s->f->ports[q->port].info + PI_CAPMASK2);

		if (!(capmask2 & CAP2_SET_NODE_DESCRIPTION))
			return STATUS_BAD_METHOD_ATTR;
		q->changed = smp_store(n->desc, q->data, SMP_DATA_SIZE);
	}
	return smp_answer(q, n->desc, SMP_DATA_SIZE);
}

unsigned sma_node_info(struct smp *q)
{
	smp_answer(q, q->node->info, sizeof(q->node->info));
	put_be64(q->data + NI_PORT_GUID, q->s->f->ports[q->port].guid);
	q->data[NI_LOCAL_PORT_VENDOR] = q->in_num;
	return STATUS_OK;
}

unsigned sma_led_info(struct smp *q)
{
	struct device_port *d = device_port(q->s, q->port);

	if (q->set) {
		uint8_t led = q->data[0] & LED_ON;

		q->changed = smp_store(&d->led, &led, 1);
	}
	return smp_answer(q, &d->led, 1);
}
