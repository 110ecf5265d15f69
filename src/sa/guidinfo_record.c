/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists the GUIDs of end ports, and gives ports aliases or removes them, by GuidInfoRecord (15.2.5.18).
 *
 * A Set gives a port aliases, a Delete removes them.  sa/registry/alias.h stores them; its owner
 * writes them to the device and the disk.
 *
 * The first GUID of a port is its own and cannot be changed.  Only the port itself, or a
 * requester with a secret SM_Key, may change its aliases: any other could divert the port's
 * packets or make the port answer to a GUID it does not want.  OpenSM allows it to every port that
 * shares a partition with the port.
 *
 * Removing or replacing an alias ends its multicast memberships: no port could leave with the
 * alias any more, and the port that gets it next has not joined.  OpenSM refuses to remove
 * an alias with memberships, so that an alias cannot be moved from a host that did not clean
 * up.
 */
#include "lib/base/bytes.h"
#include "sa/registry/alias.h"
#include "sa/registry/groups.h"
#include "sa/scan.h"

#define GUID_BLOCKS (ALIAS_PLACES / ALIAS_BLOCK)
#define PI_GUID_CAP 50		/* byte offset in PortInfo */
#define GUID(i) { GUID_FIRST + (i), false, 64 + 64 * (i), 64 }

enum { GUID_LID, GUID_BLOCK, GUID_FIRST = 4 };	/* bits of the mask */

static const struct sa_field guidinfo_fields[] = {
	{ GUID_LID, false, 0, 16 },	/* LID */
	{ GUID_BLOCK, false, 16, 8 },	/* BlockNum */
	GUID(0), GUID(1), GUID(2), GUID(3), GUID(4), GUID(5), GUID(6), GUID(7),
};

/* The number of GUIDs of a port: GUIDCap, but at least 1. */
static unsigned places_of(const struct subnet_state *s, uint32_t port)
{
	unsigned cap = s->f->ports[port].info[PI_GUID_CAP];

	return cap ? cap : 1;
}

static void fill(const struct subnet_state *s, const struct alias_db *db, uint32_t port,
		 unsigned block, struct sa_guidinfo_record *r)
{
	uint64_t guid = s->f->ports[port].guid;

	put_be16(r->lid, s->plan->lid[port]);
	r->block = (uint8_t)block;
	for (unsigned i = 0; i < ALIAS_BLOCK; i++) {
		unsigned place = block * ALIAS_BLOCK + i;

		if (place < places_of(s, port))
			put_be64(r->guids[i], place ? alias_at(db, guid, place) : guid);
	}
}

/* --- Get, GetTable --- */

static bool make_guids(struct sa_scan *x, uint64_t at, void *record, uint32_t *owner)
{
	const struct sa_guidinfo_record *want = (const void *)x->want;
	uint32_t port = (uint32_t)(at / GUID_BLOCKS);
	unsigned block = (unsigned)(at % GUID_BLOCKS);

	if (sa_asks(x, GUID_BLOCK) && !sa_seek(x, at, 1, GUID_BLOCKS, want->block))
		return false;
	if (!port_is_end(x->s->f, port) || !x->s->f->ports[port].present ||
	    !x->s->plan->lid[port] || block * ALIAS_BLOCK >= places_of(x->s, port))
		return sa_leave_port(x, at);
	*owner = port;
	fill(x->s, x->alias, port, block, record);
	return true;
}

const struct sa_kind sa_guidinfo_kind = {
	.size = sizeof(struct sa_guidinfo_record), SA_FIELDS(guidinfo_fields),
	.each = GUID_BLOCKS, .range = sa_range_ports, .make = make_guids,
};

/* --- Set, Delete --- */

struct request {
	struct sa_guidinfo_record r;
	uint32_t port;
	uint64_t guid;			/* GUID of the port */
	uint8_t chosen;			/* bits: which GUIDs of the block */
};

/* Reads the port and block for a Set or Delete, and checks whether the requester may change them. */
static uint16_t read_request(const struct sa_msg *m, struct request *q)
{
	uint64_t needed = 1u << GUID_LID | 1u << GUID_BLOCK;

	if (!m->sa->alias)
		return IB_STATUS_BAD_METHOD_ATTR;
	if ((m->mask & needed) != needed)
		return IB_SA_INSUFFICIENT_COMPONENTS;
	memcpy(&q->r, m->data, sizeof(q->r));
	q->port = sa_lid_port(m->s, get_be16(q->r.lid));
	if (q->port == FABRIC_NONE)
		return IB_SA_NO_RECORDS;
	if (!sa_may_see(m->s, m->requester, q->port))
		return IB_SA_REQ_INVALID;	/* OpenSM does not answer */
	if (q->r.block * ALIAS_BLOCK >= places_of(m->s, q->port))
		return IB_SA_NO_RECORDS;
	q->chosen = (uint8_t)(m->mask >> GUID_FIRST);
	if (!q->r.block && q->chosen & 1)
		return IB_SA_REQ_INVALID;
	if (m->requester != q->port && !m->privileged)
		return IB_SA_REQ_DENIED;
	q->guid = m->s->f->ports[q->port].guid;
	return IB_STATUS_OK;
}

/*
 * The alias for a place: the one in the request, else the present one, else a newly assigned
 * one.  0: a port has it as its own GUID, or all were assigned.
 */
static uint64_t choose(const struct sa_msg *m, uint64_t asked, uint64_t have)
{
	uint64_t guid = asked ? asked : have ? have : alias_assign(m->sa->alias);

	/* a port may have a GUID of the range that we assign from */
	while (!asked && guid && fabric_find_port(m->s->f, guid) != FABRIC_NONE)
		guid = alias_assign(m->sa->alias);
	return fabric_find_port(m->s->f, guid) == FABRIC_NONE ? guid : 0;
}

/* Like alias_put(), and removes the previous alias from its multicast groups. */
static bool put(const struct sa_msg *m, uint64_t port, unsigned place, uint64_t alias)
{
	uint64_t was = alias_at(m->sa->alias, port, place);

	if (!alias_put(m->sa->alias, port, place, alias))
		return false;
	if (was && was != alias)
		mcast_gid_gone(m->sa->mcast, (struct mcast_gid){ port, was });
	return true;
}

/* The answer has the whole block as it is now, with 0 for each GUID that was refused. */
uint16_t sa_guidinfo_set(struct sa_msg *m)
{
	struct sa_guidinfo_record r = { 0 };
	struct request q = { 0 };
	uint8_t refused = 0;
	uint16_t status = read_request(m, &q);

	if (status)
		return status;
	for (unsigned i = 0; i < ALIAS_BLOCK; i++) {
		unsigned place = q.r.block * ALIAS_BLOCK + i;
		uint64_t guid;

		if (!(q.chosen >> i & 1))
			continue;
		guid = place < places_of(m->s, q.port) && alias_room(m->sa->alias, q.guid, place) ?
		       choose(m, get_be64(q.r.guids[i]), alias_at(m->sa->alias, q.guid, place)) : 0;
		if (!guid || !put(m, q.guid, place, guid))
			refused |= (uint8_t)(1u << i);
	}
	fill(m->s, m->sa->alias, q.port, q.r.block, &r);
	for (unsigned i = 0; i < ALIAS_BLOCK; i++)
		if (refused >> i & 1)
			put_be64(r.guids[i], 0);
	sa_add(m, &r, sizeof(r));
	return IB_STATUS_OK;
}

/* The answer has the block as it is now. */
uint16_t sa_guidinfo_delete(struct sa_msg *m)
{
	struct sa_guidinfo_record r = { 0 };
	struct request q = { 0 };
	uint16_t status = read_request(m, &q);

	if (status)
		return status;
	for (unsigned i = 0; i < ALIAS_BLOCK; i++)
		if (q.chosen >> i & 1)
			put(m, q.guid, q.r.block * ALIAS_BLOCK + i, 0);
	fill(m->s, m->sa->alias, q.port, q.r.block, &r);
	sa_add(m, &r, sizeof(r));
	return IB_STATUS_OK;
}
