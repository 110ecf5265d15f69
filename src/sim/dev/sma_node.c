/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers NodeDescription, NodeInfo, SwitchInfo, LedInfo and forwarding tables (14.2.5.2 to .4, .10 to
 * .12, .15).
 */
#include "sim/dev/dev_internal.h"

#define LED_ON 0x80
#define LFT_BLOCK 64
#define MFT_BLOCK 32		/* MLIDs in a block */
#define MFT_PORTS 16		/* ports in an entry of a block */
#define MFT_TOP_NONE (SIM_LID_MCAST - 1)

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

/* --- switches --- */

/* Whether the value is a port of the switch, or none. */
static bool is_default_port(const struct smp *q, uint8_t num)
{
	return num <= q->node->nports || num == SIM_LFT_DROP;
}

/* 0 sets no limit: it is the value after a reset, and OpenSM writes it in its first sweep as master. */
static bool is_multicast_top(unsigned top, unsigned cap)
{
	return top == 0 || (top >= MFT_TOP_NONE && top < SIM_LID_MCAST + cap);
}

static bool switch_info_is_good(const struct smp *q, const uint8_t *new)
{
	const uint8_t *now = switch_of(q->s->f, q->node)->info;
	unsigned top = get_be16(new + SI_LINEAR_TOP), mtop = get_be16(new + SI_MULTICAST_TOP);

	if (top >= get_be16(now + SI_LINEAR_CAP))
		return false;
	if (mtop != get_be16(now + SI_MULTICAST_TOP) &&
	    !is_multicast_top(mtop, get_be16(now + SI_MULTICAST_CAP)))
		return false;
	return is_default_port(q, new[SI_DEFAULT_PORT]) &&
	       is_default_port(q, new[SI_DEFAULT_MCAST_PRIMARY]) &&
	       is_default_port(q, new[SI_DEFAULT_MCAST_NOT_PRIMARY]);
}

static unsigned switch_info_set(struct smp *q, struct sim_switch *sw)
{
	uint8_t new[SI_SIZE];
	uint8_t *life = new + SI_LIFE_TIME_STATE_OPT, want = q->data[SI_LIFE_TIME_STATE_OPT];

	memcpy(new, sw->info, SI_SIZE);
	memcpy(new + SI_LINEAR_TOP, q->data + SI_LINEAR_TOP, 2);
	memcpy(new + SI_DEFAULT_PORT, q->data + SI_DEFAULT_PORT, 3);
	copy_bits(life, want, SI_LIFE_TIME);
	*life &= (uint8_t)~(want & SI_STATE_CHANGE);	/* writing 1 clears it */
	if (device_can(q->s->f, q->port, CAP_MCAST_FDB_TOP) &&
	    !(lies_of(q->node) & LIE_KEEPS_MCAST_TOP))
		memcpy(new + SI_MULTICAST_TOP, q->data + SI_MULTICAST_TOP, 2);
	if (!switch_info_is_good(q, new) ||
	    ((lies_of(q->node) & LIE_REFUSES_MCAST_TOP) &&
	     memcmp(new + SI_MULTICAST_TOP, sw->info + SI_MULTICAST_TOP, 2)))
		return STATUS_BAD_VALUE;
	q->changed = smp_store(sw->info, new, SI_SIZE);
	sw->lft_top = get_be16(new + SI_LINEAR_TOP);
	return STATUS_OK;
}

unsigned sma_switch_info(struct smp *q)
{
	struct sim_switch *sw = switch_of(q->s->f, q->node);

	if (q->set) {
		unsigned status = switch_info_set(q, sw);

		if (status != STATUS_OK)
			return status;
	}
	return smp_answer(q, sw->info, SI_SIZE);
}

unsigned sma_linear_forwarding(struct smp *q)
{
	struct sim_switch *sw = switch_of(q->s->f, q->node);
	unsigned cap = q->node->profile->lft_cap;
	unsigned first = q->mod * LFT_BLOCK, n;
	uint8_t *block;

	if (q->mod >= (cap + LFT_BLOCK - 1) / LFT_BLOCK)
		return STATUS_BAD_VALUE;
	block = sw->lft + first;
	/* of the last block, only the part within the table exists */
	n = cap - first < LFT_BLOCK ? cap - first : LFT_BLOCK;
	if (q->set && sw->adaptive_lft) {
		if (sw->no_fallback)
			return STATUS_BAD_VALUE;
		adaptive_end(sw);
	}
	if (q->set)
		q->changed = smp_store(block, q->data, n);
	return smp_answer(q, block, LFT_BLOCK);
}

/* Position of an MFT block: MLIDs from `first`; its ports are in one word of each entry, shifted. */
struct mft_block {
	unsigned first, n;
	unsigned word, shift;
};

static bool find_mft_block(const struct smp *q, struct mft_block *b)
{
	unsigned block = q->mod & 0x0fffffff, position = q->mod >> 28;
	unsigned cap = q->node->profile->mft_cap;

	if (block * MFT_BLOCK >= cap || position * MFT_PORTS > q->node->nports)
		return false;
	b->first = block * MFT_BLOCK;
	b->n = cap - b->first < MFT_BLOCK ? cap - b->first : MFT_BLOCK;
	b->word = position / 4;
	b->shift = position % 4 * MFT_PORTS;
	return true;
}

/* Most of a table stays empty, so empty blocks cause no allocation. */
static void mft_set(struct smp *q, struct sim_switch *sw, const struct mft_block *b)
{
	static const uint8_t empty[SMP_DATA_SIZE];

	if (!sw->mft && !memcmp(q->data, empty, sizeof(empty)))
		return;
	if (!sw->mft)
		sw->mft = xcalloc(q->node->profile->mft_cap, sizeof(*sw->mft));
	for (unsigned i = 0; i < b->n; i++) {
		uint64_t *word = &sw->mft[b->first + i][b->word];
		uint64_t ports = (uint64_t)get_be16(q->data + 2 * i) << b->shift;
		uint64_t new = (*word & ~((uint64_t)0xffff << b->shift)) | ports;

		if (new == *word)
			continue;
		*word = new;
		q->changed = true;
	}
}

unsigned sma_multicast_forwarding(struct smp *q)
{
	struct sim_switch *sw = switch_of(q->s->f, q->node);
	struct mft_block b;

	if (!find_mft_block(q, &b))
		return STATUS_BAD_VALUE;
	if (q->set)
		mft_set(q, sw, &b);
	memset(q->data, 0, SMP_DATA_SIZE);
	if (!sw->mft)
		return STATUS_OK;
	for (unsigned i = 0; i < b.n; i++)
		put_be16(q->data + 2 * i, (uint16_t)(sw->mft[b.first + i][b.word] >> b.shift));
	return STATUS_OK;
}
