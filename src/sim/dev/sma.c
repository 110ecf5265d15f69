/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Accepts, dispatches and refuses requests to the subnet management agent (13.4.7, 14.2.3).
 *
 * It handles only requests to devices: SMInfo, traps and answers are for managers, which run on
 * hosts.
 */
#include "sim/dev/dev_internal.h"

#define WRONG_STATUS_ONE_IN 16	/* one in this many answers of a device with LIE_WRONG_STATUS */

struct attribute {
	uint16_t id;
	smp_handler *handler;
	bool settable;
	uint32_t capability;	/* bit of CapabilityMask that the attribute requires */
	bool for_switches;	/* only switches have it */
	size_t feature;		/* offset of the profile's bool that says so; 0: all have it */
};

#define SETTABLE(h) .handler = (h), .settable = true
#define FEATURE(member) .feature = offsetof(struct sim_profile, member)
/* The first row of a device's counts. */
static const struct attribute attributes[] = {
	{ ATTR_PORT_INFO, SETTABLE(true_scale_port_info), FEATURE(true_scale) },
	{ ATTR_PKEY_TABLE, SETTABLE(true_scale_pkey_table), FEATURE(true_scale) },
	{ ATTR_NOTICE, SETTABLE(sma_notice), .capability = CAP_NOTICE },
	{ ATTR_NODE_DESCRIPTION, SETTABLE(sma_node_description) },
	{ ATTR_NODE_INFO, .handler = sma_node_info },
	{ ATTR_SWITCH_INFO, SETTABLE(sma_switch_info), .for_switches = true },
	{ ATTR_GUID_INFO, SETTABLE(sma_guid_info) },
	{ ATTR_PORT_INFO, SETTABLE(sma_port_info) },
	{ ATTR_PKEY_TABLE, SETTABLE(sma_pkey_table) },
	{ ATTR_SL_TO_VL, SETTABLE(sma_sl_to_vl), .capability = CAP_SL_MAPPING },
	{ ATTR_VL_ARBITRATION, SETTABLE(sma_vl_arbitration) },
	{ ATTR_LINEAR_FORWARDING, SETTABLE(sma_linear_forwarding), .for_switches = true },
	{ ATTR_MULTICAST_FORWARDING, SETTABLE(sma_multicast_forwarding), .for_switches = true },
	{ ATTR_LED_INFO, SETTABLE(sma_led_info), .capability = CAP_LED },
	{ ATTR_CONFIG_SPACE, .handler = sma_config_space, FEATURE(registers) },
	{ ATTR_ACCESS_REGISTER, SETTABLE(sma_access_register), FEATURE(registers) },
	{ ATTR_EXTENDED_PORT_INFO, SETTABLE(sma_extended_port_info), FEATURE(fdr10) },
	{ ATTR_ADAPTIVE_ROUTING_INFO, SETTABLE(sma_adaptive_routing_info), .for_switches = true,
	  FEATURE(adaptive) },
	{ ATTR_PRIVATE_LFT_INFO, SETTABLE(sma_private_lft_info), .for_switches = true,
	  FEATURE(adaptive) },
};

static bool has_attribute(const struct smp *q, const struct attribute *a)
{
	const bool *feature = (const void *)((const char *)q->node->profile + a->feature);

	return (!a->feature || *feature) && (!a->for_switches || is_switch(q->node)) &&
	       (!a->capability || device_can(q->s->f, q->port, a->capability));
}

/* NULL if this device lacks the attribute. */
static const struct attribute *find_attribute(const struct smp *q)
{
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (attributes[i].id == q->attr && has_attribute(q, &attributes[i]))
			return &attributes[i];
	return NULL;
}

static unsigned perform(struct smp *q, bool honest)
{
	const struct attribute *a = find_attribute(q);
	unsigned status;

	if (!a || (q->set && !a->settable))
		return STATUS_BAD_METHOD_ATTR;
	status = honest ? STATUS_OK : refusal_of(q);
	if (status != STATUS_OK)
		return status;
	if (honest || !lies_of(q->node))
		return a->handler(q);
	status = lie_perform(q, a->handler);
	if (status == STATUS_OK && (lies_of(q->node) & LIE_WRONG_STATUS) &&
	    sim_random(q->s, WRONG_STATUS_ONE_IN) == 0)
		return STATUS_BAD_VALUE;
	return status;
}

static struct smp read_smp(struct sim *s, uint32_t port, struct packet *p)
{
	return (struct smp) {
		.s = s, .node = node_of(s->f, port), .port = port,
		.in_num = s->f->ports[p->in_port].num, .by_cable = p->in_port != p->from,
		.attr = get_be16(p->mad + MAD_ATTR), .mod = get_be32(p->mad + MAD_MOD),
		.set = p->mad[MAD_METHOD] == METHOD_SET,
		.mkey = get_be64(p->mad + SMP_MKEY), .data = p->mad + SMP_DATA,
	};
}

bool sma_wants(const struct packet *p)
{
	uint8_t method = p->mad[MAD_METHOD];

	return class_is_smp(p->mad[MAD_CLASS]) && !(method & MAD_METHOD_RESPONSE) && method != METHOD_TRAP &&
	       get_be16(p->mad + MAD_ATTR) != ATTR_SM_INFO;
}

static unsigned serve(struct sim *s, uint32_t port, struct packet *p)
{
	struct smp q = read_smp(s, port, p);
	unsigned status = perform(&q, false);

	if (q.set && status == STATUS_OK && !q.changed)
		stats_idle_set(s->stats, p->client, p->mad);
	return status;
}

bool sma_receive(struct sim *s, uint32_t port, struct packet *p, bool trusted, bool *answer)
{
	uint8_t method = p->mad[MAD_METHOD];

	*answer = true;
	if (!sma_wants(p))
		return false;
	if (p->mad[MAD_BASE_VERSION] != 1 || p->mad[MAD_CLASS_VERSION] != 1) {
		wire_answer(s, port, p, STATUS_BAD_VERSION);
	} else if (!trusted && !mkey_check(s, port, p)) {
		wire_drop(s, port, p, DROP_MKEY);
		*answer = false;
	} else if (stays_unanswered(s, port, p)) {
		wire_drop(s, port, p, DROP_SILENT);
		*answer = false;
	} else if (method == METHOD_GET || method == METHOD_SET) {
		wire_answer(s, port, p, serve(s, port, p));
	} else if (method == METHOD_TRAP_REPRESS) {
		notice_repress(s, port, p->mad + SMP_DATA);
		*answer = false;
	} else {
		wire_answer(s, port, p, STATUS_BAD_METHOD);
	}
	return true;
}

unsigned device_smp(struct sim *s, uint32_t port, uint8_t method, uint16_t attr, uint32_t mod,
		    uint8_t data[64])
{
	uint32_t sma = sma_port(s->f, port);
	struct smp q = {
		.s = s, .node = node_of(s->f, sma), .port = sma, .in_num = s->f->ports[port].num,
		.attr = attr, .mod = mod, .set = method == METHOD_SET, .trusted = true,
		.data = data,
	};

	if (method != METHOD_GET && method != METHOD_SET)
		return STATUS_BAD_METHOD;
	mkey_expire(s, sma);
	return perform(&q, true);
}

uint32_t smp_port(const struct smp *q, unsigned num)
{
	if (!is_switch(q->node) && num == 0)
		return q->port;
	return num <= q->node->nports ? q->node->port0 + num : SIM_NONE;
}

bool smp_store(void *to, const void *from, size_t n)
{
	if (!memcmp(to, from, n))
		return false;
	memcpy(to, from, n);
	return true;
}

unsigned smp_answer(struct smp *q, const void *from, size_t n)
{
	memcpy(q->data, from, n);
	memset(q->data + n, 0, SMP_DATA_SIZE - n);
	return STATUS_OK;
}
