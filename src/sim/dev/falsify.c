/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Falsifies answers of devices, for the effect FAULT_FALSIFY.
 *
 * One table lists all kinds.  The device itself is unchanged, and does what Sets tell it.  Most
 * kinds put a value into a field; the others need to know more than the answer.
 */
#include <string.h>

#include "sim/dev/dev_internal.h"

/* An answer that is about to be changed. */
struct answer {
	struct sim *s;
	uint32_t port;		/* port whose agent answers */
	uint8_t *mad, *data;	/* data: the 64 bytes of data in mad */
};

struct kind {
	const char *name;
	uint16_t attr;		/* 0: any */
	/*
	 * The field: its offset in the data, and its size (at most 8 bytes) or the bits of its one
	 * byte.
	 */
	uint8_t at, size, bits;
	uint64_t value;
	void (*tell)(struct answer *a, const struct kind *k);
};

static uint64_t random64(struct sim *s)
{
	return (uint64_t)sim_random(s, UINT32_MAX) << 32 | sim_random(s, UINT32_MAX);
}

static void put_field(uint8_t *at, const struct kind *k, uint64_t value)
{
	if (k->bits)
		*at = (uint8_t)((*at & ~k->bits) | (value & k->bits));
	for (unsigned i = 0; !k->bits && i < k->size; i++)
		at[i] = (uint8_t)(value >> 8 * (k->size - 1 - i));
}

static void tell_value(struct answer *a, const struct kind *k)
{
	put_field(a->data + k->at, k, k->value);
}

/* Writes a different value into each answer. */
static void tell_random(struct answer *a, const struct kind *k)
{
	put_field(a->data + k->at, k, random64(a->s) | 1);
}

/* --- values of other devices --- */

/* Another node; the same one for each answer of this device. */
static const struct sim_node *somebody_else(const struct answer *a)
{
	const struct sim_fabric *f = a->s->f;
	uint32_t n = f->n_nodes, self = f->ports[a->port].node;

	return &f->nodes[n > 1 ? (self + 1 + self % (n - 1)) % n : self];
}

/* A port on which a subnet manager runs; NULL if there is none. */
static const struct sim_port *managers_port(const struct sim_fabric *f)
{
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (is_end_port(f, i) && get_be32(f->ports[i].info + PI_CAPMASK) & CAP_IS_SM)
			return &f->ports[i];
	return NULL;
}

static void tell_others_guid(struct answer *a, const struct kind *k)
{
	const struct sim_node *other = somebody_else(a);

	put_be64(a->data + k->at,
		 k->at == NI_PORT_GUID ? a->s->f->ports[first_port(other)].guid : other->guid);
}

static void tell_managers_guid(struct answer *a, const struct kind *k)
{
	const struct sim_port *p = managers_port(a->s->f);

	if (p)
		put_be64(a->data + k->at,
			 k->at == NI_PORT_GUID ? p->guid : a->s->f->nodes[p->node].guid);
}

static void tell_others_lid(struct answer *a, const struct kind *k)
{
	put_be16(a->data + k->at, a->s->f->ports[first_port(somebody_else(a))].lid);
}

/* Answers as if another device were at the end of the cable. */
static void tell_other_node(struct answer *a, const struct kind *k)
{
	const struct sim_node *other = somebody_else(a);

	(void)k;
	memcpy(a->data, other->info, sizeof(other->info));
	put_be64(a->data + NI_PORT_GUID, a->s->f->ports[first_port(other)].guid);
	a->data[NI_LOCAL_PORT_VENDOR] = (uint8_t)(1 + a->port % other->nports);
}

static void tell_other_type(struct answer *a, const struct kind *k)
{
	a->data[k->at] = a->data[k->at] == SIM_SWITCH ? SIM_CA : SIM_SWITCH;
}

static void tell_fewer(struct answer *a, const struct kind *k)
{
	a->data[k->at] = (uint8_t)((a->data[k->at] + 1) / 2);
}

static void tell_more(struct answer *a, const struct kind *k)
{
	a->data[k->at] = (uint8_t)(a->data[k->at] < 127 ? 2 * a->data[k->at] : 254);
}

/* Puts the number of another port of the device into the field. */
static void tell_other_port(struct answer *a, const struct kind *k)
{
	const struct sim_node *n = node_of(a->s->f, a->port);

	a->data[k->at] = (uint8_t)(1 + a->data[k->at] % n->nports);
}

/* --- whole answers --- */

static void tell_garbage(struct answer *a, const struct kind *k)
{
	(void)k;
	for (unsigned i = 0; i < SMP_DATA_SIZE; i++)
		a->data[i] = (uint8_t)sim_random(a->s, 256);
}

static void tell_beginning(struct answer *a, const struct kind *k)
{
	unsigned n = sim_random(a->s, SMP_DATA_SIZE);

	(void)k;
	memset(a->data + n, 0, SMP_DATA_SIZE - n);
}

static void tell_zeros(struct answer *a, const struct kind *k)
{
	(void)k;
	memset(a->data, 0, SMP_DATA_SIZE);
}

/* Changes a field of the header; `at` counts from the beginning of the MAD. */
static void tell_in_header(struct answer *a, const struct kind *k)
{
	put_field(a->mad + k->at, k, random64(a->s) | 1);
}

static void tell_status(struct answer *a, const struct kind *k)
{
	uint16_t direction = get_be16(a->mad + k->at) & MAD_STATUS_DR_D;

	put_be16(a->mad + k->at, (uint16_t)(direction | (1 + sim_random(a->s, 0x1f))));
}

static void tell_other_attribute(struct answer *a, const struct kind *k)
{
	put_be16(a->mad + k->at, get_be16(a->mad + k->at) == ATTR_PORT_INFO ? ATTR_NODE_INFO :
				 ATTR_PORT_INFO);
}

#define NODE_INFO(name, ...) { name, ATTR_NODE_INFO, __VA_ARGS__ }
#define PORT_INFO(name, ...) { name, ATTR_PORT_INFO, __VA_ARGS__ }
#define SWITCH_INFO(name, ...) { name, ATTR_SWITCH_INFO, __VA_ARGS__ }
#define TABLE(name, attr) { name, attr, 0, 0, 0, 0, tell_garbage }
#define VALUE(at, size, value) at, size, 0, value, tell_value
#define BITS(at, bits, value) at, 1, bits, value, tell_value
#define FIELD(at, size, tell) at, size, 0, 0, tell

static const struct kind kinds[] = {
	NODE_INFO("node-type-0", VALUE(NI_TYPE, 1, 0)),
	NODE_INFO("node-type-other", FIELD(NI_TYPE, 1, tell_other_type)),
	NODE_INFO("ports-0", VALUE(NI_PORTS, 1, 0)),
	NODE_INFO("ports-255", VALUE(NI_PORTS, 1, 255)),
	NODE_INFO("ports-fewer", FIELD(NI_PORTS, 1, tell_fewer)),
	NODE_INFO("ports-more", FIELD(NI_PORTS, 1, tell_more)),
	NODE_INFO("local-port-254", VALUE(NI_LOCAL_PORT_VENDOR, 1, 254)),
	NODE_INFO("local-port-other", FIELD(NI_LOCAL_PORT_VENDOR, 1, tell_other_port)),
	NODE_INFO("node-guid-0", VALUE(NI_GUID, 8, 0)),
	NODE_INFO("node-guid-random", FIELD(NI_GUID, 8, tell_random)),
	NODE_INFO("node-guid-other", FIELD(NI_GUID, 8, tell_others_guid)),
	NODE_INFO("node-guid-sm", FIELD(NI_GUID, 8, tell_managers_guid)),
	NODE_INFO("port-guid-0", VALUE(NI_PORT_GUID, 8, 0)),
	NODE_INFO("port-guid-random", FIELD(NI_PORT_GUID, 8, tell_random)),
	NODE_INFO("port-guid-other", FIELD(NI_PORT_GUID, 8, tell_others_guid)),
	NODE_INFO("port-guid-sm", FIELD(NI_PORT_GUID, 8, tell_managers_guid)),
	NODE_INFO("system-guid-0", VALUE(NI_SYSTEM_GUID, 8, 0)),
	NODE_INFO("system-guid-random", FIELD(NI_SYSTEM_GUID, 8, tell_random)),
	NODE_INFO("partition-cap-0", VALUE(NI_PARTITION_CAP, 2, 0)),
	NODE_INFO("partition-cap-max", VALUE(NI_PARTITION_CAP, 2, 0xffff)),
	NODE_INFO("other-node", FIELD(0, 0, tell_other_node)),
	PORT_INFO("lid-0", VALUE(PI_LID, 2, 0)),
	PORT_INFO("lid-multicast", VALUE(PI_LID, 2, SIM_LID_MCAST)),
	PORT_INFO("lid-other", FIELD(PI_LID, 2, tell_others_lid)),
	PORT_INFO("lid-random", FIELD(PI_LID, 2, tell_random)),
	PORT_INFO("sm-lid-random", FIELD(PI_SM_LID, 2, tell_random)),
	PORT_INFO("lmc-7", BITS(PI_MKEY_PROTECT_LMC, 0x07, 7)),
	PORT_INFO("mtu-cap-0", BITS(PI_INIT_REPLY_MTU_CAP, 0x0f, 0)),
	PORT_INFO("mtu-cap-15", BITS(PI_INIT_REPLY_MTU_CAP, 0x0f, 0x0f)),
	PORT_INFO("neighbor-mtu-256", BITS(PI_MTU_SM_SL, 0xf0, 0x10)),
	PORT_INFO("neighbor-mtu-15", BITS(PI_MTU_SM_SL, 0xf0, 0xf0)),
	PORT_INFO("width-unknown", VALUE(PI_WIDTH_ENABLED, 3, 0xffffff)),
	PORT_INFO("speed-unknown", BITS(PI_SPEED_ACTIVE_ENABLED, 0xf0, 0xb0)),
	PORT_INFO("vl-cap-0", BITS(PI_VL_CAP_INIT_TYPE, 0xf0, 0)),
	PORT_INFO("vl-cap-15", BITS(PI_VL_CAP_INIT_TYPE, 0xf0, 0xf0)),
	PORT_INFO("operational-vls-0", BITS(PI_OP_VLS_ENFORCE, 0xf0, 0)),
	PORT_INFO("vlarb-cap-255", VALUE(PI_VLARB_HIGH_CAP, 2, 0xffff)),
	PORT_INFO("port-state-0", BITS(PI_SPEED_SUP_STATE, 0x0f, 0)),
	PORT_INFO("port-state-1", BITS(PI_SPEED_SUP_STATE, 0x0f, 1)),
	PORT_INFO("port-state-15", BITS(PI_SPEED_SUP_STATE, 0x0f, 0x0f)),
	PORT_INFO("phys-state-15", BITS(PI_PHYS_STATE_DOWN_DEFAULT, 0xf0, 0xf0)),
	PORT_INFO("guid-cap-0", VALUE(PI_GUID_CAP, 1, 0)),
	PORT_INFO("guid-cap-255", VALUE(PI_GUID_CAP, 1, 255)),
	PORT_INFO("m-key-random", FIELD(PI_MKEY, 8, tell_random)),
	PORT_INFO("m-key-lease-random", FIELD(PI_MKEY_LEASE, 2, tell_random)),
	PORT_INFO("is-sm", BITS(PI_CAPMASK + 3, CAP_IS_SM, CAP_IS_SM)),
	SWITCH_INFO("linear-cap-0", VALUE(SI_LINEAR_CAP, 2, 0)),
	SWITCH_INFO("linear-cap-max", VALUE(SI_LINEAR_CAP, 2, 0xffff)),
	SWITCH_INFO("linear-top-max", VALUE(SI_LINEAR_TOP, 2, 0xffff)),
	SWITCH_INFO("multicast-cap-0", VALUE(SI_MULTICAST_CAP, 2, 0)),
	SWITCH_INFO("multicast-cap-max", VALUE(SI_MULTICAST_CAP, 2, 0xffff)),
	SWITCH_INFO("enforce-cap-max", VALUE(SI_ENFORCE_CAP, 2, 0xffff)),
	SWITCH_INFO("state-change", BITS(SI_LIFE_TIME_STATE_OPT, SI_STATE_CHANGE, SI_STATE_CHANGE)),
	TABLE("description", ATTR_NODE_DESCRIPTION),
	TABLE("guid-table", ATTR_GUID_INFO),
	TABLE("pkey-table", ATTR_PKEY_TABLE),
	TABLE("sl2vl-table", ATTR_SL_TO_VL),
	TABLE("vlarb-table", ATTR_VL_ARBITRATION),
	TABLE("linear-table", ATTR_LINEAR_FORWARDING),
	TABLE("multicast-table", ATTR_MULTICAST_FORWARDING),
	TABLE("sm-info", ATTR_SM_INFO),
	{ "garbage", 0, 0, 0, 0, 0, tell_garbage },
	{ "cut-off", 0, 0, 0, 0, 0, tell_beginning },
	{ "zeros", 0, 0, 0, 0, 0, tell_zeros },
	{ "status", 0, FIELD(MAD_STATUS, 2, tell_status) },
	{ "attribute", 0, FIELD(MAD_ATTR, 2, tell_other_attribute) },
	{ "modifier", 0, FIELD(MAD_MOD, 4, tell_in_header) },
	{ "transaction", 0, FIELD(MAD_TID, 8, tell_in_header) },
	{ "version", 0, FIELD(MAD_BASE_VERSION, 1, tell_in_header) },
	{ "method", 0, FIELD(MAD_METHOD, 1, tell_in_header) },
	{ "hop-pointer", 0, FIELD(MAD_DR_HOP_PTR, 1, tell_in_header) },
	{ "hop-count", 0, FIELD(MAD_DR_HOP_CNT, 1, tell_in_header) },
};

const char *falsehood_name(unsigned i)
{
	return i < ARRAY_SIZE(kinds) ? kinds[i].name : NULL;
}

uint16_t falsehood_attr(unsigned i)
{
	return kinds[i].attr;
}

void device_falsify(struct sim *s, uint32_t port, unsigned falsehood, struct packet *p)
{
	struct answer a = { s, port, p->mad, p->mad + SMP_DATA };

	kinds[falsehood].tell(&a, &kinds[falsehood]);
}
