/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes SwitchInfoRecords and records of linear, random and multicast forwarding tables (15.2.5.5 ff.).
 *
 * Records of linear tables have what qosd wrote to the devices, up to LinearFDBTop.  Records
 * of multicast tables have blocks as the devices answered them; a block that qosd has not
 * read, because it did not need it, has no record.
 */
#include "lib/base/bytes.h"
#include "plan/sm_attributes.h"
#include "sa/scan.h"

/* A table is one component, like an attribute without components. */
#define TABLE(bit, offset) { bit, false, offset, 512 }

static const struct fabric_node *node_of(const struct sa_scan *x, uint32_t sw)
{
	return &x->s->f->nodes[x->s->f->switches[sw].node];
}

/* Sets owner and LID of a switch's record: those of port 0; false if that has no LID. */
static bool switch_lid(const struct sa_scan *x, uint32_t sw, uint8_t lid[2], uint32_t *owner)
{
	*owner = node_of(x, sw)->port0;
	put_be16(lid, x->s->plan->lid[*owner]);
	return x->s->plan->lid[*owner] != 0;
}

/* --- SwitchInfoRecord --- */

#define SI(bits) (32 + (bits))		/* SwitchInfo follows LID and 2 reserved bytes */

static const struct sa_field switchinfo_fields[] = {
	{ 0, false, 0, 16 },		/* LID */
	{ 2, false, SI(0), 16 },	/* LinearFDBCap */
	{ 3, false, SI(16), 16 },	/* RandomFDBCap */
	{ 4, false, SI(32), 16 },	/* MulticastFDBCap */
	{ 5, false, SI(48), 16 },	/* LinearFDBTop */
	{ 6, false, SI(64), 8 },	/* DefaultPort */
	{ 7, false, SI(72), 8 },	/* DefaultMulticastPrimaryPort */
	{ 8, false, SI(80), 8 },	/* DefaultMulticastNotPrimaryPort */
	{ 9, false, SI(88), 5 },	/* LifeTimeValue */
	{ 10, false, SI(93), 1 },	/* PortStateChange */
	{ 11, false, SI(94), 2 },	/* OptimizedSLtoVLMappingProgramming */
	{ 12, false, SI(96), 16 },	/* LIDsPerPort */
	{ 13, false, SI(112), 16 },	/* PartitionEnforcementCap */
	{ 14, false, SI(128), 1 },	/* InboundEnforcementCap */
	{ 15, false, SI(129), 1 },	/* OutboundEnforcementCap */
	{ 16, false, SI(130), 1 },	/* FilterRawInboundCap */
	{ 17, false, SI(131), 1 },	/* FilterRawOutboundCap */
	{ 18, false, SI(132), 1 },	/* EnhancedPort0 */
	{ 20, false, SI(144), 16 },	/* MulticastFDBTop; bit 19 is all reserved bits before it */
};

static void range_switches(struct sa_scan *x, uint32_t port)
{
	sa_range_switches(x, port, 1);
}

static bool make_switchinfo(struct sa_scan *x, uint64_t at, void *record, uint32_t *owner)
{
	const struct fabric_switch *s = &x->s->f->switches[at];
	struct sa_switchinfo_record *r = record;

	memcpy(r->switch_info, s->info, sizeof(r->switch_info));
	return switch_lid(x, (uint32_t)at, r->lid, owner);
}

const struct sa_kind sa_switchinfo_kind = {
	.size = sizeof(struct sa_switchinfo_record), SA_FIELDS(switchinfo_fields),
	.range = range_switches, .make = make_switchinfo,
};

/* --- LinearForwardingTableRecord --- */

enum { FT_BLOCK = 1 };		/* bits of the ComponentMask */

static const struct sa_field ft_fields[] = {
	{ 0, false, 0, 16 },		/* LID */
	{ FT_BLOCK, false, 16, 16 },	/* BlockNum */
	TABLE(3, 64),
};

static unsigned lft_blocks(const struct sa_scan *x)
{
	return x->s->plan->lfts->top / LFT_BLOCK + 1u;
}

static void range_lft(struct sa_scan *x, uint32_t port)
{
	sa_range_switches(x, port, lft_blocks(x));
}

static bool make_lft(struct sa_scan *x, uint64_t at, void *record, uint32_t *owner)
{
	const struct sa_ft_record *want = (const void *)x->want;
	unsigned n = lft_blocks(x), block = (unsigned)(at % n);
	uint32_t sw = (uint32_t)(at / n);
	struct sa_ft_record *r = record;

	if (sa_asks(x, FT_BLOCK) && !sa_seek(x, at, 1, n, get_be16(want->block)))
		return false;
	put_be16(r->block, (uint16_t)block);
	memcpy(r->entries, attribute_lft(x->s->plan, sw, block), sizeof(r->entries));
	return switch_lid(x, sw, r->lid, owner);
}

const struct sa_kind sa_lft_kind = {
	.size = sizeof(struct sa_ft_record), SA_FIELDS(ft_fields),
	.range = range_lft, .make = make_lft,
};

/*
 * RandomForwardingTableRecord is a known attribute without records.  A switch with
 * RandomFDBCap has no linear table, and no such switch has ever been made.
 */
static bool make_nothing(struct sa_scan *x, uint64_t at, void *record, uint32_t *owner)
{
	(void)x, (void)at, (void)record, (void)owner;
	return false;
}

const struct sa_kind sa_rft_kind = {
	.size = sizeof(struct sa_ft_record), SA_FIELDS(ft_fields),
	.range = sa_range_none, .make = make_nothing,
};

/* --- MulticastForwardingTableRecord --- */

#define POSITIONS 16

enum { MFT_POSITION = 1, MFT_BLOCK = 3 };

static const struct sa_field mft_fields[] = {
	{ 0, false, 0, 16 },			/* LID */
	{ MFT_POSITION, false, 16, 4 },		/* Position */
	{ MFT_BLOCK, false, 23, 9 },		/* BlockNum */
	TABLE(5, 64),
};

/* n: the number of blocks that may be known when the scan begins. */
static void range_mft(struct sa_scan *x, uint32_t port)
{
	x->n = x->sm->mft_blocks ? x->sm->mft_blocks(x->sm->arg) : 0;
	sa_range_switches(x, port, (uint64_t)x->n * POSITIONS);
}

static bool make_mft(struct sa_scan *x, uint64_t at, void *record, uint32_t *owner)
{
	const struct sa_mft_record *want = (const void *)x->want;
	uint16_t asked = get_be16(want->position_block);
	unsigned position = (unsigned)(at % POSITIONS), block = (unsigned)(at / POSITIONS % x->n);
	uint32_t sw = (uint32_t)(at / POSITIONS / x->n);
	struct sa_mft_record *r = record;

	if (sa_asks(x, MFT_BLOCK) && !sa_seek(x, at, POSITIONS, x->n, asked & 0x1ff))
		return false;
	if (sa_asks(x, MFT_POSITION) && !sa_seek(x, at, 1, POSITIONS, asked >> 12))
		return false;
	if (position * PORTS_PER_POSITION > node_of(x, sw)->nports) {
		x->at = (at / POSITIONS + 1) * POSITIONS;
		return false;
	}
	put_be16(r->position_block, (uint16_t)(position << 12 | block));
	return switch_lid(x, sw, r->lid, owner) &&
	       x->sm->mft_block(x->sm->arg, node_of(x, sw)->guid, block, position, r->entries);
}

const struct sa_kind sa_mft_kind = {
	.size = sizeof(struct sa_mft_record), SA_FIELDS(mft_fields),
	.range = range_mft, .make = make_mft,
};
