/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes LinkRecords (15.2.5.13) and SMInfoRecords (15.2.5.9).
 *
 * Each link has two LinkRecords, one from each of its ends.
 */
#include "lib/base/bytes.h"
#include "sa/scan.h"

/* --- LinkRecord --- */

enum { LINK_TO_LID = 3 };

static const struct sa_field link_fields[] = {
	{ 0, false, 0, 16 },		/* FromLID */
	{ 1, false, 16, 8 },		/* FromPort */
	{ 2, false, 24, 8 },		/* ToPort */
	{ LINK_TO_LID, false, 32, 16 },	/* ToLID */
};

/* n is 1 if the candidates are the far ends, because the query has only ToLID. */
static void range_links(struct sa_scan *x, uint32_t port)
{
	x->n = port == FABRIC_NONE && x->to != FABRIC_NONE;
	sa_range_ports(x, x->n ? x->to : port);
}

/* A switch has one LID for all its ports; each port of a CA has its own. */
static bool make_link(struct sa_scan *x, uint64_t at, void *record, uint32_t owner[2])
{
	const struct fabric *f = x->s->f;
	uint32_t near = (uint32_t)at, far = f->ports[near].peer, from, to;
	struct sa_link_record *r = record;

	if (far == FABRIC_NONE)
		return false;
	from = x->n ? far : near;
	to = x->n ? near : far;
	for (unsigned i = 0; i < 2; i++)
		owner[i] = sa_endport(x->s, i ? to : from);
	put_be16(r->from_lid, sa_endport_lid(x->s, from));
	put_be16(r->to_lid, sa_endport_lid(x->s, to));
	r->from_port = f->ports[from].num;
	r->to_port = f->ports[to].num;
	return sa_endport_lid(x->s, from) && sa_endport_lid(x->s, to);
}

const struct sa_kind sa_link_kind = {
	.size = sizeof(struct sa_link_record), SA_FIELDS(link_fields), .to_bit = LINK_TO_LID,
	.to_offset = offsetof(struct sa_link_record, to_lid), .each = 1, .range = range_links,
	.make = make_link,
};

/* --- SMInfoRecord --- */

#define SM(bits) (32 + (bits))		/* SMInfo follows LID and 2 reserved bytes */

static const struct sa_field sminfo_fields[] = {
	{ 0, false, 0, 16 },		/* LID */
	{ 2, false, SM(0), 64 },	/* GUID */
	{ 3, false, SM(64), 64 },	/* SM_Key */
	{ 4, false, SM(128), 32 },	/* ActCount */
	{ 5, false, SM(160), 4 },	/* Priority */
	{ 6, false, SM(164), 4 },	/* SMState */
};

/* The number of SMs is unknown: the scan ends when sm_info() has no more. */
static void range_sms(struct sa_scan *x, uint32_t port)
{
	(void)port;
	x->at = 0;
	x->end = x->sm->sm_info ? UINT32_MAX : 0;
}

/*
 * The SM_Key is 0 in all records, also for the comparison with the query: no requester can
 * read it or verify a guess.
 */
static bool make_sm(struct sa_scan *x, uint64_t at, void *record, uint32_t *owner)
{
	struct sa_sminfo_record *r = record;
	struct sa_sm_info i;

	if (!x->sm->sm_info(x->sm->arg, (uint32_t)at, &i)) {
		x->at = x->end;
		return false;
	}
	*owner = fabric_find_port(x->s->f, i.guid);
	if (*owner == FABRIC_NONE || !x->s->plan->lid[*owner])
		return false;
	put_be16(r->lid, x->s->plan->lid[*owner]);
	put_be64(r->guid, i.guid);
	put_be32(r->act_count, i.act_count);
	r->priority_state = (uint8_t)(i.priority << 4 | i.state);
	return true;
}

const struct sa_kind sa_sminfo_kind = {
	.size = sizeof(struct sa_sminfo_record), SA_FIELDS(sminfo_fields),
	.range = range_sms, .make = make_sm,
};
