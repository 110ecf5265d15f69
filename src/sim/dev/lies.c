/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes devices lie (enum sim_lie) and refuse Sets (enum sim_refuses).
 *
 * A device with LIE_STALE_GET remembers the value that each attribute had before its last Set.
 */
#include <stdlib.h>

#include "sim/dev/dev_internal.h"

struct memory {
	struct map64 index;	/* attribute and modifier -> index in rows */
	VEC(struct { uint8_t data[SMP_DATA_SIZE]; }) rows;
};

static uint64_t memory_key(const struct smp *q)
{
	return (uint64_t)q->attr << 32 | q->mod;
}

static struct memory *memory_of(struct smp *q)
{
	struct memory **m = &devices_of(q->s)->memories[q->s->f->ports[q->port].node];

	if (!*m)
		*m = xcalloc(1, sizeof(**m));
	return *m;
}

void lies_forget(struct sim *s, uint32_t node)
{
	struct memory **m = &devices_of(s)->memories[node];

	if (!*m)
		return;
	map64_free(&(*m)->index);
	vec_free(&(*m)->rows);
	free(*m);
	*m = NULL;
}

/* Computes what a Get would return now; leaves q unchanged. */
static unsigned look(const struct smp *q, smp_handler *handler, uint8_t *data)
{
	struct smp get = *q;

	memset(data, 0, SMP_DATA_SIZE);
	get.set = false;
	get.data = data;
	return handler(&get);
}

static void remember(struct smp *q, const uint8_t *data)
{
	struct memory *m = memory_of(q);
	uint32_t i = map64_get(&m->index, memory_key(q));

	if (i == MAP64_NONE) {
		i = (uint32_t)m->rows.n;
		vec_push(&m->rows);
		map64_put(&m->index, memory_key(q), i);
	}
	memcpy(m->rows.v[i].data, data, SMP_DATA_SIZE);
}

static bool recall(struct smp *q)
{
	struct memory *m = memory_of(q);
	uint32_t i = map64_get(&m->index, memory_key(q));

	if (i == MAP64_NONE)
		return false;
	memcpy(q->data, m->rows.v[i].data, SMP_DATA_SIZE);
	return true;
}

static bool is_table(uint16_t attr)
{
	return attr == ATTR_PKEY_TABLE || attr == ATTR_SL_TO_VL || attr == ATTR_VL_ARBITRATION ||
	       attr == ATTR_LINEAR_FORWARDING;
}

/* Performs the Set and answers as if all of it held, but then undoes all except PortState and LID. */
static unsigned keep_port_info(struct smp *q, smp_handler *handler)
{
	uint32_t port = smp_port(q, q->mod & 0xff);
	uint8_t before[SMP_DATA_SIZE], writable[SMP_DATA_SIZE], *info;
	unsigned status;

	if (port == SIM_NONE)
		return handler(q);
	info = q->s->f->ports[port].info;
	portinfo_writable(q->s->f, port, writable);
	memcpy(before, info, sizeof(before));
	set_high4(q->data + PI_PHYS_STATE_DOWN_DEFAULT, SIM_PHYS_NOP);
	status = handler(q);
	for (unsigned i = 0; i < SMP_DATA_SIZE; i++)
		if (i != PI_LID && i != PI_LID + 1)
			copy_bits(&info[i], before[i], writable[i]);
	port_sync(q->s, port);
	return status;
}

static unsigned set_as_told(struct smp *q, smp_handler *handler)
{
	unsigned lies = lies_of(q->node), status;
	uint8_t before[SMP_DATA_SIZE];

	if ((lies & LIE_REFUSES_TABLES) && is_table(q->attr))
		return STATUS_BAD_VALUE;
	if ((lies & LIE_KEEPS_TABLES) && is_table(q->attr))
		return look(q, handler, before);
	if (lies & LIE_STALE_GET)
		look(q, handler, before);
	if ((lies & LIE_KEEPS_PORTINFO) && q->attr == ATTR_PORT_INFO)
		status = keep_port_info(q, handler);
	else
		status = handler(q);
	if ((lies & LIE_STALE_GET) && status == STATUS_OK)
		remember(q, before);
	return status;
}

/* Whether a Set of PortInfo requests another state and, if `mixed`, also changes something else. */
static bool asks_for_state(const struct smp *q, bool mixed)
{
	uint32_t port = smp_port(q, q->mod & 0xff);
	uint8_t now[SMP_DATA_SIZE], set[SMP_DATA_SIZE], writable[SMP_DATA_SIZE];

	if (port == SIM_NONE || (!low4(q->data + PI_SPEED_SUP_STATE) &&
				 !high4(q->data + PI_PHYS_STATE_DOWN_DEFAULT)))
		return false;
	if (!mixed)
		return true;
	portinfo_writable(q->s->f, port, writable);
	memcpy(now, q->s->f->ports[port].info, sizeof(now));
	memcpy(set, q->data, sizeof(set));
	/* these fields have values that mean "no change" */
	now[PI_WIDTH_ENABLED] = set[PI_WIDTH_ENABLED];
	set_low4(set + PI_SPEED_ACTIVE_ENABLED, low4(now + PI_SPEED_ACTIVE_ENABLED));
	now[PI_EXT_ENABLED] = set[PI_EXT_ENABLED];
	for (unsigned i = 0; i < SMP_DATA_SIZE; i++)
		if ((now[i] ^ set[i]) & writable[i])
			return true;
	return false;
}

unsigned refusal_of(const struct smp *q)
{
	static const unsigned by_attribute[] = {
		[ATTR_SWITCH_INFO] = REFUSES_SWITCH_INFO, [ATTR_GUID_INFO] = REFUSES_GUID_INFO,
		[ATTR_PORT_INFO] = REFUSES_PORT_INFO, [ATTR_PKEY_TABLE] = REFUSES_PKEY_TABLE,
		[ATTR_SL_TO_VL] = REFUSES_SL2VL, [ATTR_VL_ARBITRATION] = REFUSES_VLARB,
		[ATTR_LINEAR_FORWARDING] = REFUSES_LFT, [ATTR_MULTICAST_FORWARDING] = REFUSES_MFT,
	};
	unsigned refuses = q->node->refuses | q->node->profile->refuses;
	unsigned status = q->node->refuses_status ? q->node->refuses_status :
			  q->node->profile->refuses_status;
	bool hit;

	if (!q->set || !refuses)
		return STATUS_OK;
	hit = q->attr < ARRAY_SIZE(by_attribute) ? refuses & by_attribute[q->attr] :
	      refuses & REFUSES_ADAPTIVE && (q->attr == ATTR_ADAPTIVE_ROUTING_INFO ||
					     q->attr == ATTR_PRIVATE_LFT_INFO);
	if (q->attr == ATTR_PORT_INFO)
		hit |= (refuses & REFUSES_PORT_STATE && asks_for_state(q, false)) ||
		       (refuses & REFUSES_MIXED_PORT_INFO && asks_for_state(q, true));
	if (q->attr == ATTR_PKEY_TABLE)
		hit |= refuses & REFUSES_PKEY_TABLE_0 && is_switch(q->node) && !(q->mod >> 16);
	if (!hit)
		return STATUS_OK;
	if (q->node->refuses_times && !--q->node->refuses_times)
		q->node->refuses = 0;
	return status ? status : STATUS_BAD_VALUE;
}

bool stays_unanswered(const struct sim *s, uint32_t port, const struct packet *p)
{
	const struct sim_node *n = node_of(s->f, port);
	uint16_t attr = get_be16(p->mad + MAD_ATTR);
	uint32_t mod = get_be32(p->mad + MAD_MOD);

	if (!is_switch(n))
		return false;
	return (lies_of(n) & LIE_SILENT_PORT_0 && attr == ATTR_PORT_INFO && !(mod & 0xff)) ||
	       (lies_of(n) & LIE_SILENT_PKEYS && attr == ATTR_PKEY_TABLE && mod >> 16);
}

unsigned lie_perform(struct smp *q, smp_handler *handler)
{
	unsigned status;

	if (q->set)
		return set_as_told(q, handler);
	if ((lies_of(q->node) & LIE_LOCAL_PORT) && q->attr == ATTR_NODE_INFO) {
		status = handler(q);
		q->data[NI_LOCAL_PORT_VENDOR] = UINT8_MAX - 1;
		return status;
	}
	if ((lies_of(q->node) & LIE_STALE_GET) && recall(q))
		return STATUS_OK;
	return handler(q);
}
