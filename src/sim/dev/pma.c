/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Performance management agent (16.1), which keeps the counters of its node's ports.
 *
 * The model has one 64-bit number for each counter.  An attribute shows it at its own width,
 * saturated; PortCountersExtended shows the number itself.  Other attributes that show the same
 * number must reset independently.  So each has a view, which remembers the part of the number that
 * it no longer shows.
 */
#include "sim/dev/gs.h"

enum {
	PM_SAMPLES_CONTROL = 0x10, PM_SAMPLES_RESULT = 0x11, PM_COUNTERS = 0x12,
	PM_RCV_ERROR_DETAILS = 0x15, PM_XMIT_DISCARD_DETAILS = 0x16,
	PM_VL_OP_PACKETS = 0x19, PM_VL_OP_DATA = 0x1a, PM_VL_XMIT_WAIT = 0x1c,
	PM_COUNTERS_EXTENDED = 0x1d, PM_XMIT_DATA_SL = 0x36, PM_RCV_DATA_SL = 0x37,
};

#define PM_PORT_SELECT 1	/* offset in each attribute except ClassPortInfo */
#define PM_ALL_PORTS 0xff

/* ClassPortInfo.CapabilityMask and CapabilityMask2 (16.1.3.1) */
enum {
	PM_CAP_MASK2 = 1 << 2, PM_CAP_ALL_PORT_SELECT = 1 << 8, PM_CAP_EXT_WIDTH = 1 << 9,
	PM_CAP_XMIT_WAIT = 1 << 12, PM_CAP_QP1_DROPPED = 1 << 15,
};
#define PM_CAP2_ADDITIONAL_EXTENDED 2

#define NO_VIEW UINT8_MAX

struct counter {
	uint8_t select;		/* bit in CounterSelect; CounterSelect2 has the higher bits */
	uint8_t width;		/* in bits */
	uint16_t bit;		/* offset in the attribute, in bits */
	uint16_t member;	/* offset in struct sim_counters */
	uint8_t view;		/* index in sim_counters.taken */
};

#define MEMBER(name) offsetof(struct sim_counters, name)

/* 16.1.3.5; select bit n uses view n */
static const struct counter port_counters_list[] = {
	{ 0, 16, 32, MEMBER(symbol_errors), 0 },
	{ 1, 8, 48, MEMBER(link_recovers), 1 },
	{ 2, 8, 56, MEMBER(link_downed), 2 },
	{ 3, 16, 64, MEMBER(rcv_errors), 3 },
	{ 4, 16, 80, MEMBER(rcv_remote_physical), 4 },
	{ 5, 16, 96, MEMBER(rcv_switch_relay), 5 },
	{ 6, 16, 112, MEMBER(xmit_discards), 6 },
	{ 7, 8, 128, MEMBER(xmit_constraint), 7 },
	{ 8, 8, 136, MEMBER(rcv_constraint), 8 },
	{ 9, 4, 152, MEMBER(local_integrity), 9 },
	{ 10, 4, 156, MEMBER(buffer_overrun), 10 },
	{ 11, 16, 176, MEMBER(vl15_dropped), 11 },
	{ 12, 32, 192, MEMBER(xmit_data), 12 },
	{ 13, 32, 224, MEMBER(rcv_data), 13 },
	{ 14, 32, 256, MEMBER(xmit_pkts), 14 },
	{ 15, 32, 288, MEMBER(rcv_pkts), 15 },
	{ 16, 32, 320, MEMBER(xmit_wait), 16 },
	{ 17, 16, 160, MEMBER(qp1_dropped), 17 },
};

/* 16.1.4.11 */
static const struct counter extended_list[] = {
	{ 0, 64, 64, MEMBER(xmit_data), NO_VIEW },
	{ 1, 64, 128, MEMBER(rcv_data), NO_VIEW },
	{ 2, 64, 192, MEMBER(xmit_pkts), NO_VIEW },
	{ 3, 64, 256, MEMBER(rcv_pkts), NO_VIEW },
	{ 4, 64, 320, MEMBER(ucast_xmit), NO_VIEW },
	{ 5, 64, 384, MEMBER(ucast_rcv), NO_VIEW },
	{ 6, 64, 448, MEMBER(mcast_xmit), NO_VIEW },
	{ 7, 64, 512, MEMBER(mcast_rcv), NO_VIEW },
	{ 16, 64, 576, MEMBER(symbol_errors), NO_VIEW },
	{ 17, 64, 640, MEMBER(link_recovers), NO_VIEW },
	{ 18, 64, 704, MEMBER(link_downed), NO_VIEW },
	{ 19, 64, 768, MEMBER(rcv_errors), NO_VIEW },
	{ 20, 64, 832, MEMBER(rcv_remote_physical), NO_VIEW },
	{ 21, 64, 896, MEMBER(rcv_switch_relay), NO_VIEW },
	{ 22, 64, 960, MEMBER(xmit_discards), NO_VIEW },
	{ 23, 64, 1024, MEMBER(xmit_constraint), NO_VIEW },
	{ 24, 64, 1088, MEMBER(rcv_constraint), NO_VIEW },
	{ 25, 64, 1152, MEMBER(local_integrity), NO_VIEW },
	{ 26, 64, 1216, MEMBER(buffer_overrun), NO_VIEW },
	{ 27, 64, 1280, MEMBER(vl15_dropped), NO_VIEW },
	{ 28, 64, 1344, MEMBER(xmit_wait), NO_VIEW },
	{ 29, 64, 1408, MEMBER(qp1_dropped), NO_VIEW },
};

/* 16.1.4.1: all errors of the model are of the physical layer; it does not distinguish relay errors */
static const struct counter rcv_error_list[] = {
	{ 0, 16, 32, MEMBER(rcv_errors), 18 },
	{ 2, 16, 64, MEMBER(buffer_overrun), 19 },
};

/* 16.1.4.2: the model discards packets only because a link is not Active */
static const struct counter xmit_discard_list[] = {
	{ 0, 16, 32, MEMBER(xmit_discards), 20 },
};

/*
 * 16.1.4.5, 16.1.4.6: packets received by VL.  OpCode is ignored: all packets are management
 * packets, UD SEND Only.
 */
#define BY_VL(width, first, name, vl) \
	{ vl, width, (first) + (vl) * (width), MEMBER(name[vl]), NO_VIEW }
#define BY_ALL_VLS(width, first, name) \
	BY_VL(width, first, name, 0), BY_VL(width, first, name, 1), \
	BY_VL(width, first, name, 2), BY_VL(width, first, name, 3), \
	BY_VL(width, first, name, 4), BY_VL(width, first, name, 5), \
	BY_VL(width, first, name, 6), BY_VL(width, first, name, 7), \
	BY_VL(width, first, name, 8), BY_VL(width, first, name, 9), \
	BY_VL(width, first, name, 10), BY_VL(width, first, name, 11), \
	BY_VL(width, first, name, 12), BY_VL(width, first, name, 13), \
	BY_VL(width, first, name, 14), BY_VL(width, first, name, 15)
static const struct counter vl_packets_list[] = { BY_ALL_VLS(16, 32, vl_rcv_pkts) };
static const struct counter vl_data_list[] = { BY_ALL_VLS(32, 32, vl_rcv_data) };
/* 16.1.4.8: ticks during which the VL had data to send but could not */
static const struct counter vl_wait_list[] = { BY_ALL_VLS(16, 32, vl_xmit_wait) };
/* The same by SL instead of VL. */
static const struct counter xmit_sl_list[] = { BY_ALL_VLS(32, 32, sl_xmit_data) };
static const struct counter rcv_sl_list[] = { BY_ALL_VLS(32, 32, sl_rcv_data) };

struct attribute {
	uint16_t id;
	uint8_t n;
	uint8_t select2_at, select2_size;	/* offset and size of CounterSelect2, bytes */
	const struct counter *list;
};
#define LIST(list) ARRAY_SIZE(list), 0, 0, list
static const struct attribute attributes[] = {
	{ PM_COUNTERS, ARRAY_SIZE(port_counters_list), 18, 1, port_counters_list },
	{ PM_COUNTERS_EXTENDED, ARRAY_SIZE(extended_list), 4, 4, extended_list },
	{ PM_RCV_ERROR_DETAILS, LIST(rcv_error_list) },
	{ PM_XMIT_DISCARD_DETAILS, LIST(xmit_discard_list) },
	{ PM_VL_OP_PACKETS, LIST(vl_packets_list) },
	{ PM_VL_OP_DATA, LIST(vl_data_list) },
	{ PM_VL_XMIT_WAIT, LIST(vl_wait_list) },
	{ PM_XMIT_DATA_SL, LIST(xmit_sl_list) },
	{ PM_RCV_DATA_SL, LIST(rcv_sl_list) },
};

/* --- counters --- */

static uint64_t *number_of(struct sim_counters *c, const struct counter *k)
{
	return (uint64_t *)(void *)((char *)c + k->member);
}

static uint64_t counter_get(struct sim_counters *c, const struct counter *k)
{
	return *number_of(c, k) - (k->view == NO_VIEW ? 0 : c->taken[k->view]);
}

/* Adjusts all views of a number that changes by `delta`, so that they show what they did before. */
static void keep_views(struct sim_counters *c, uint16_t member, uint64_t delta)
{
	for (size_t a = 0; a < ARRAY_SIZE(attributes); a++)
		for (unsigned i = 0; i < attributes[a].n; i++) {
			const struct counter *k = &attributes[a].list[i];

			if (k->member == member && k->view != NO_VIEW)
				c->taken[k->view] += delta;
		}
}

static void counter_set(struct sim_counters *c, const struct counter *k, uint64_t v)
{
	uint64_t *number = number_of(c, k);

	if (k->view != NO_VIEW) {
		c->taken[k->view] = *number - v;
	} else {
		keep_views(c, k->member, v - *number);
		*number = v;
	}
}

/* --- fields of an attribute; those of 8 bits or more are byte-aligned --- */

static uint64_t field_max(unsigned width)
{
	return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static uint64_t field_get(const uint8_t *data, unsigned bit, unsigned width)
{
	uint64_t v = 0;

	if (width == 4)
		return bit % 8 ? low4(data + bit / 8) : high4(data + bit / 8);
	for (unsigned i = 0; i < width / 8; i++)
		v = v << 8 | data[bit / 8 + i];
	return v;
}

static void field_put(uint8_t *data, unsigned bit, unsigned width, uint64_t v)
{
	if (v > field_max(width))
		v = field_max(width);
	if (width == 4) {
		(bit % 8 ? set_low4 : set_high4)(data + bit / 8, (unsigned)v);
		return;
	}
	for (unsigned i = width / 8; i-- > 0; v >>= 8)
		data[bit / 8 + i] = (uint8_t)v;
}

/* --- attributes --- */

struct port_range {
	uint32_t first, last;
};

/* Finds the ports that PortSelect denotes. */
static bool select_ports(const struct sim_fabric *f, uint32_t port, unsigned select,
			 struct port_range *r)
{
	const struct sim_node *n = node_of(f, port);

	if (is_switch(n) && select == PM_ALL_PORTS) {
		*r = (struct port_range){ n->port0, n->port0 + n->nports };
		return true;
	}
	if (is_switch(n) ? select > n->nports : select != f->ports[port].num)
		return false;
	*r = (struct port_range){ n->port0 + select, n->port0 + select };
	return true;
}

/* The sum of a counter over the ports of a range, saturated. */
static uint64_t counter_sum(const struct sim_fabric *f, struct port_range r,
			    const struct counter *k)
{
	uint64_t sum = 0;

	for (uint32_t port = r.first; port <= r.last; port++) {
		struct sim_counters *c = f->ports[port].counters;

		if (c && __builtin_add_overflow(sum, counter_get(c, k), &sum))
			return UINT64_MAX;
	}
	return sum;
}

static void set_counters(struct sim_fabric *f, struct port_range r, const struct attribute *a,
			 const uint8_t *data)
{
	uint64_t select = get_be16(data + 2);

	if (a->select2_size)
		select |= field_get(data, a->select2_at * 8u, a->select2_size * 8u) << 16;
	for (uint32_t port = r.first; port <= r.last; port++)
		for (unsigned i = 0; i < a->n; i++) {
			const struct counter *k = &a->list[i];

			if (select >> k->select & 1)
				counter_set(port_counters(&f->ports[port]), k,
					    field_get(data, k->bit, k->width));
		}
}

static unsigned counters_attribute(struct sim_fabric *f, uint32_t port, const struct attribute *a,
				   bool set, uint8_t *data)
{
	struct port_range r;

	if (!select_ports(f, port, data[PM_PORT_SELECT], &r))
		return STATUS_BAD_VALUE;
	if (set)
		set_counters(f, r, a, data);
	for (unsigned i = 0; i < a->n; i++)
		field_put(data, a->list[i].bit, a->list[i].width, counter_sum(f, r, &a->list[i]));
	return STATUS_OK;
}

static unsigned class_port_info(const struct sim_fabric *f, uint32_t port, bool set, uint8_t *data)
{
	unsigned caps = PM_CAP_MASK2 | PM_CAP_EXT_WIDTH | PM_CAP_XMIT_WAIT | PM_CAP_QP1_DROPPED;
	unsigned caps2 = PM_CAP2_ADDITIONAL_EXTENDED;

	if (set)
		return STATUS_BAD_METHOD_ATTR;
	if (node_of(f, port)->profile->narrow_pma) {
		caps &= ~(unsigned)(PM_CAP_MASK2 | PM_CAP_EXT_WIDTH);
		caps2 = 0;
	}
	if (is_switch(node_of(f, port)))
		caps |= PM_CAP_ALL_PORT_SELECT;
	gs_class_port_info(f, port, (uint16_t)caps, caps2, data);
	return STATUS_OK;
}

/*
 * PortSamplesControl (16.1.3.2): sampling is always complete, and no counter can be chosen for a
 * new one.
 */
static unsigned samples_control(const struct sim_fabric *f, uint32_t port, bool set, uint8_t *data)
{
	uint8_t select = data[PM_PORT_SELECT];
	struct port_range r;

	if (set || !select_ports(f, port, select, &r) || r.first != r.last)
		return STATUS_BAD_VALUE;
	memset(data, 0, GS_DATA_SIZE);
	data[PM_PORT_SELECT] = select;
	return STATUS_OK;
}

/* PortSamplesResult (16.1.3.4) */
static unsigned samples_result(bool set, uint8_t *data)
{
	if (set)
		return STATUS_BAD_METHOD_ATTR;
	memset(data, 0, GS_DATA_SIZE);
	return STATUS_OK;
}

/* Attributes that many devices lack. */
static bool is_by_vl(uint16_t attr)
{
	return attr == PM_VL_OP_PACKETS || attr == PM_VL_OP_DATA || attr == PM_VL_XMIT_WAIT ||
	       attr == PM_XMIT_DATA_SL || attr == PM_RCV_DATA_SL;
}

static unsigned pma_perform(struct sim_fabric *f, uint32_t port, uint16_t attr, uint32_t mod,
			    bool set, uint8_t *data)
{
	(void)mod;
	switch (attr) {
	case ATTR_CLASS_PORT_INFO:
		return class_port_info(f, port, set, data);
	case PM_SAMPLES_CONTROL:
		return samples_control(f, port, set, data);
	case PM_SAMPLES_RESULT:
		return samples_result(set, data);
	}
	if (is_by_vl(attr) && node_of(f, port)->profile->plain_pma)
		return STATUS_BAD_METHOD_ATTR;
	if (attr == PM_COUNTERS_EXTENDED && node_of(f, port)->profile->narrow_pma)
		return STATUS_BAD_METHOD_ATTR;
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (attributes[i].id == attr)
			return counters_attribute(f, port, &attributes[i], set, data);
	return STATUS_BAD_METHOD_ATTR;
}

bool pma_receive(struct sim *s, uint32_t port, struct packet *p)
{
	if (!gs_is_request(p, CLASS_PM))
		return false;
	gs_answer(s, port, p, pma_perform);
	return true;
}
