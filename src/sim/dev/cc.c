/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Congestion control agent (annex A10) of devices whose profile has one.
 *
 * It stores settings and returns them.  They have no effect, since no data packets compete here.
 *
 * Nothing is allocated before the first Set that a device accepts.  Until then all values are 0,
 * which means that congestion control is off.
 *
 * CC_Key (A10.4.2): 0 protects nothing.  With another key, the agent drops a Set without it, and
 * also drops a Get while the protect bit is set; while the bit is clear, it answers a Get without
 * disclosing the key.  The first violation starts the lease, and the end of the lease clears the
 * bit.  The agent sends no traps.
 *
 * Blocks of SwitchPortCongestionSetting have 32 ports, as in the vendor's tools; ibccquery assumes
 * 48.
 */
#include <stdlib.h>

#include "sim/dev/gs.h"

enum {
	CC_INFO = 0x11, CC_KEY_INFO = 0x12, CC_LOG = 0x13, CC_SWITCH = 0x14, CC_SWITCH_PORTS = 0x15,
	CC_CA = 0x16, CC_TABLE = 0x17, CC_TIMESTAMP = 0x18,
};

#define CC_VERSION	2
#define CC_KEY_AT	24	/* offset in the MAD; the log follows, or the data of other attributes */
#define CC_LOG_AT	32
#define CC_LOG_SIZE	(SIM_MAD_SIZE - CC_LOG_AT)

#define TABLE_BLOCKS	2	/* CongestionInfo.ControlTableCap */
#define BLOCK_ENTRIES	64
#define BLOCK_PORTS	32
#define ELEMENT_SIZE	4
#define CA_ENTRY_SIZE	8
#define SLS		16
#define US_PER_S	1000000

/* components of SwitchCongestionSetting, each with its bit in Control_Map */
static const struct component {
	uint8_t bit, at, size;
} switch_components[] = {
	{ 0, 4, 32 },	/* Victim_Mask */
	{ 1, 36, 32 },	/* Credit_Mask */
	{ 2, 68, 2 },	/* Threshold, Packet_Size */
	{ 3, 70, 1 },	/* CS_Threshold */
	{ 3, 72, 2 },	/* CS_ReturnDelay */
	{ 4, 74, 2 },	/* Marking_Rate */
};
#define SWITCH_SIZE	76
#define CA_SIZE		(4 + SLS * CA_ENTRY_SIZE)

struct congestion {
	uint64_t key;
	int64_t lease_end;		/* in sim_now()'s time; 0: no lease runs */
	uint16_t lease, violations;
	bool protect;
	uint8_t setting[CA_SIZE];	/* SwitchCongestionSetting or CACongestionSetting */
	union {
		uint8_t ports[256][ELEMENT_SIZE];
		struct {
			uint16_t limit;
			uint8_t entries[TABLE_BLOCKS][BLOCK_ENTRIES * 2];
		} table;
	};
};

static const struct congestion off;

/* The settings in force, for reading only. */
static const struct congestion *congestion_at(const struct sim *s, uint32_t port)
{
	const struct congestion *c = device_port(s, port)->congestion;

	return c ? c : &off;
}

static struct congestion *congestion_to_set(const struct sim *s, uint32_t port)
{
	struct device_port *d = device_port(s, port);

	if (!d->congestion)
		d->congestion = xcalloc(1, sizeof(*d->congestion));
	return d->congestion;
}

void congestion_forget(struct sim *s, uint32_t port)
{
	struct device_port *d = device_port(s, port);

	free(d->congestion);
	d->congestion = NULL;
}

/* --- the key --- */

static void expire(const struct sim *s, uint32_t port)
{
	struct congestion *c = device_port(s, port)->congestion;

	if (!c || !c->lease_end || sim_now(s) < c->lease_end)
		return;
	c->lease_end = 0;
	c->protect = false;
}

static bool key_is_good(const struct sim *s, uint32_t port, const struct packet *p)
{
	uint64_t key = congestion_at(s, port)->key;

	return !key || get_be64(p->mad + CC_KEY_AT) == key;
}

static bool may_pass(const struct sim *s, uint32_t port, const struct packet *p)
{
	struct congestion *c;

	expire(s, port);
	if (key_is_good(s, port, p))
		return true;
	if (p->mad[MAD_METHOD] == METHOD_GET && !congestion_at(s, port)->protect)
		return true;
	c = congestion_to_set(s, port);
	c->violations += c->violations < UINT16_MAX;
	if (c->lease && !c->lease_end)
		c->lease_end = sim_now(s) + (int64_t)c->lease * US_PER_S;
	return false;
}

static unsigned key_info(const struct sim *s, uint32_t port, bool set, bool knows, uint8_t *data)
{
	const struct congestion *now;

	if (set) {
		struct congestion *c = congestion_to_set(s, port);

		c->key = get_be64(data);
		c->protect = data[8] & 0x80;
		c->lease = get_be16(data + 10);
		c->lease_end = 0;
		if (!get_be16(data + 12))
			c->violations = 0;
		knows = true;
	}
	now = congestion_at(s, port);
	memset(data, 0, GS_DATA_SIZE);
	put_be64(data, knows ? now->key : 0);
	data[8] = now->protect ? 0x80 : 0;
	put_be16(data + 10, now->lease);
	put_be16(data + 12, now->violations);
	return STATUS_OK;
}

/* --- settings --- */

static unsigned switch_setting(const struct sim *s, uint32_t port, bool set, uint8_t *data)
{
	uint32_t map = get_be32(data);

	for (size_t i = 0; set && i < ARRAY_SIZE(switch_components); i++) {
		const struct component *k = &switch_components[i];

		if (map >> k->bit & 1)
			memcpy(congestion_to_set(s, port)->setting + k->at, data + k->at, k->size);
	}
	if (set)
		put_be32(congestion_to_set(s, port)->setting, map);
	memset(data, 0, GS_DATA_SIZE);
	memcpy(data, congestion_at(s, port)->setting, SWITCH_SIZE);
	return STATUS_OK;
}

static unsigned switch_ports(const struct sim *s, uint32_t port, uint32_t block, bool set,
			     uint8_t *data)
{
	const struct sim_node *n = node_of(s->f, port);
	size_t size = (size_t)BLOCK_PORTS * ELEMENT_SIZE;

	if (block > n->nports / BLOCK_PORTS)
		return STATUS_BAD_VALUE;
	if (set)
		memcpy(congestion_to_set(s, port)->ports[block * BLOCK_PORTS], data, size);
	memset(data, 0, GS_DATA_SIZE);
	memcpy(data, congestion_at(s, port)->ports[block * BLOCK_PORTS], size);
	return STATUS_OK;
}

static unsigned ca_setting(const struct sim *s, uint32_t port, bool set, uint8_t *data)
{
	unsigned map = get_be16(data + 2);

	if (set) {
		struct congestion *c = congestion_to_set(s, port);

		memcpy(c->setting, data, 4);
		for (unsigned sl = 0; sl < SLS; sl++) {
			size_t at = 4 + sl * (size_t)CA_ENTRY_SIZE;

			if (map >> sl & 1)
				memcpy(c->setting + at, data + at, CA_ENTRY_SIZE);
		}
	}
	memset(data, 0, GS_DATA_SIZE);
	memcpy(data, congestion_at(s, port)->setting, CA_SIZE);
	return STATUS_OK;
}

static unsigned table(const struct sim *s, uint32_t port, uint32_t block, bool set, uint8_t *data)
{
	const struct congestion *now;

	if (block >= TABLE_BLOCKS || (set && get_be16(data) >= TABLE_BLOCKS * BLOCK_ENTRIES))
		return STATUS_BAD_VALUE;
	if (set) {
		struct congestion *c = congestion_to_set(s, port);

		c->table.limit = get_be16(data);
		memcpy(c->table.entries[block], data + 4, sizeof(c->table.entries[block]));
	}
	now = congestion_at(s, port);
	memset(data, 0, GS_DATA_SIZE);
	put_be16(data, now->table.limit);
	memcpy(data + 4, now->table.entries[block], sizeof(now->table.entries[block]));
	return STATUS_OK;
}

/* --- requests --- */

static unsigned perform_by_type(const struct sim *s, uint32_t port, const uint8_t *mad, bool set,
				uint8_t *data)
{
	uint32_t mod = get_be32(mad + MAD_MOD);

	switch (get_be16(mad + MAD_ATTR) | (is_switch(node_of(s->f, port)) ? 0x10000u : 0)) {
	case 0x10000 | CC_SWITCH:
		return switch_setting(s, port, set, data);
	case 0x10000 | CC_SWITCH_PORTS:
		return switch_ports(s, port, mod, set, data);
	case CC_CA:
		return ca_setting(s, port, set, data);
	case CC_TABLE:
		return table(s, port, mod, set, data);
	}
	return STATUS_BAD_METHOD_ATTR;
}

static unsigned get_only(const struct sim *s, uint32_t port, unsigned attr, uint8_t *mad)
{
	uint8_t *data = mad + GS_DATA;

	memset(data, 0, GS_DATA_SIZE);
	switch (attr) {
	case ATTR_CLASS_PORT_INFO:
		gs_class_port_info(s->f, port, 0, 0, data);
		data[1] = CC_VERSION;
		break;
	case CC_INFO:
		data[2] = is_switch(node_of(s->f, port)) ? 0 : TABLE_BLOCKS;
		break;
	case CC_LOG:		/* the log is always empty */
		memset(mad + CC_LOG_AT, 0, CC_LOG_SIZE);
		mad[CC_LOG_AT] = is_switch(node_of(s->f, port)) ? 1 : 2;
		break;
	case CC_TIMESTAMP:
		put_be32(data, (uint32_t)sim_now(s));
		break;
	}
	return STATUS_OK;
}

static unsigned perform(const struct sim *s, uint32_t port, struct packet *p)
{
	uint8_t *mad = p->mad;
	unsigned attr = get_be16(mad + MAD_ATTR);
	bool set = mad[MAD_METHOD] == METHOD_SET;

	if (mad[MAD_CLASS_VERSION] != CC_VERSION)
		return STATUS_BAD_VERSION;
	if (mad[MAD_METHOD] != METHOD_GET && !set)
		return STATUS_BAD_METHOD;
	switch (attr) {
	case ATTR_CLASS_PORT_INFO:
	case CC_INFO:
	case CC_LOG:
	case CC_TIMESTAMP:
		return set ? STATUS_BAD_METHOD_ATTR : get_only(s, port, attr, mad);
	case CC_KEY_INFO:
		return key_info(s, port, set, key_is_good(s, port, p), mad + GS_DATA);
	}
	return perform_by_type(s, port, mad, set, mad + GS_DATA);
}

bool cc_receive(struct sim *s, uint32_t port, struct packet *p, bool *answer)
{
	if (!node_of(s->f, port)->profile->congestion_control ||
	    !gs_is_request(p, CLASS_CC))
		return false;
	*answer = may_pass(s, port, p);
	if (!*answer) {
		wire_drop(s, port, p, DROP_MKEY);
		return true;
	}
	wire_answer(s, port, p, perform(s, port, p));
	return true;
}
