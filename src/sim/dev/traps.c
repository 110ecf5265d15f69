/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds the notices of the events that devices report (14.2.5.1). */
#include "sim/dev/dev_internal.h"

/* Details of traps that begin with two reserved bytes and a LID. */
enum { DETAIL_LID = 2, DETAIL_LID2 = 4 };
/* DataValid of trap 259 */
enum { VALID_LIDS_PKEY_SL_QPS = 0x3f, VALID_GIDS = 0xc0 };

void trap_link_state(struct sim *s, uint32_t node)
{
	uint32_t port0 = s->f->nodes[node].port0;
	uint8_t details[NOTICE_DETAILS_SIZE] = { 0 };

	put_be16(details, s->f->ports[port0].lid);
	notice_raise(s, port0, NOTICE_URGENT, 128, details);
}

bool device_threshold(struct sim *s, uint32_t port, unsigned trap)
{
	struct sim_counters *c = port_counters(&s->f->ports[port]);
	uint32_t sma = sma_port(s->f, port);
	uint8_t details[NOTICE_DETAILS_SIZE] = { 0 };

	if (trap < 129 || trap > 131)
		return false;
	if (trap == 129)
		c->local_integrity++;
	else if (trap == 130)
		c->buffer_overrun++;
	put_be16(details + DETAIL_LID, s->f->ports[sma].lid);
	details[4] = s->f->ports[port].num;
	notice_raise(s, sma, NOTICE_URGENT, trap, details);
	return true;
}

void trap_local_change(struct sim *s, uint32_t port, unsigned change_flags)
{
	const struct sim_port *p = &s->f->ports[port];
	uint8_t details[NOTICE_DETAILS_SIZE] = { 0 };

	if (!device_can(s->f, port, change_flags ? CAP_LOCAL_CHANGES : CAP_MASK_NOTICE))
		return;
	put_be16(details + DETAIL_LID, p->lid);
	details[5] = change_flags != 0;		/* OtherLocalChanges */
	memcpy(details + 6, p->info + PI_CAPMASK, 4);
	put_be16(details + 10, (uint16_t)change_flags);
	memcpy(details + 12, p->info + PI_CAPMASK2, 2);
	notice_raise(s, port, NOTICE_INFORMATIONAL, 144, details);
}

static void trap_system_guid(struct sim *s, uint32_t port)
{
	uint8_t details[NOTICE_DETAILS_SIZE] = { 0 };

	if (!device_can(s->f, port, CAP_SYSTEM_GUID))
		return;
	put_be16(details + DETAIL_LID, s->f->ports[port].lid);
	put_be64(details + 6, node_of(s->f, port)->sysimg_guid);
	notice_raise(s, port, NOTICE_INFORMATIONAL, 145, details);
}

void device_set_system_guid(struct sim *s, uint32_t node, uint64_t guid)
{
	struct sim_node *n = &s->f->nodes[node];

	n->sysimg_guid = guid;
	put_be64(n->info + NI_SYSTEM_GUID, guid);
	for (uint32_t port = n->port0; port <= n->port0 + n->nports; port++)
		if (is_end_port(s->f, port))
			trap_system_guid(s, port);
}

/* Adds the return path of a directed route, cut to the available room. */
static void add_directed_route(const struct packet *p, uint8_t *details)
{
	const unsigned room = NOTICE_DETAILS_SIZE - 24;
	unsigned hops = p->mad[MAD_DR_HOP_CNT];
	bool truncated = hops > room;

	if (truncated)
		hops = room;
	memcpy(details + 4, p->mad + SMP_DR_SLID, 2);
	details[23] = (uint8_t)(0x80 | truncated << 6 | hops);
	memcpy(details + 24, p->mad + SMP_RET_PATH + 1, hops);
}

void trap_bad_mkey(struct sim *s, uint32_t port, const struct packet *p)
{
	uint8_t details[NOTICE_DETAILS_SIZE] = { 0 };

	put_be16(details + DETAIL_LID, p->slid);
	details[6] = p->mad[MAD_METHOD];
	memcpy(details + 8, p->mad + MAD_ATTR, 2);
	memcpy(details + 10, p->mad + MAD_MOD, 4);
	memcpy(details + 14, p->mad + SMP_MKEY, 8);
	if (p->mad[MAD_CLASS] == CLASS_SM_DR)
		add_directed_route(p, details);
	notice_raise(s, port, NOTICE_SECURITY, 256, details);
}

/* Adds LIDs, SL, QPs and GIDs of the packet; their offsets depend on the trap. */
static void add_packet(const struct packet *p, uint8_t *details, unsigned sl_qp, unsigned gids)
{
	put_be16(details + DETAIL_LID, p->slid);
	put_be16(details + DETAIL_LID2, p->dlid);
	put_be32(details + sl_qp, (uint32_t)p->sl << 28 | (p->sqpn & 0xffffff));
	put_be32(details + sl_qp + 4, p->dqpn & 0xffffff);
	if (p->grh) {
		memcpy(details + gids, p->sgid, 16);
		memcpy(details + gids + 16, p->dgid, 16);
	}
}

static void trap_bad_key(struct sim *s, uint32_t port, unsigned trap, uint32_t key,
			 const struct packet *p)
{
	uint8_t details[NOTICE_DETAILS_SIZE] = { 0 };

	add_packet(p, details, 10, 18);
	put_be32(details + 6, key);
	notice_raise(s, port, NOTICE_SECURITY, trap, details);
}

static void trap_bad_pkey_at_switch(struct sim *s, uint32_t port, const struct packet *p)
{
	uint32_t port0 = sma_port(s->f, port);
	uint8_t details[NOTICE_DETAILS_SIZE] = { 0 };

	if (!device_can(s->f, port, CAP_PKEY_SWITCH_TRAP))
		return;
	add_packet(p, details, 8, 16);
	put_be16(details, p->grh ? VALID_LIDS_PKEY_SL_QPS | VALID_GIDS : VALID_LIDS_PKEY_SL_QPS);
	put_be16(details + 6, p->pkey);
	put_be16(details + 48, s->f->ports[port0].lid);
	details[50] = s->f->ports[port].num;
	notice_raise(s, port0, NOTICE_SECURITY, 259, details);
}

static void count_violation(struct sim *s, uint32_t port, unsigned offset)
{
	uint8_t *counter = s->f->ports[port].info + offset;

	if (get_be16(counter) < UINT16_MAX)
		put_be16(counter, get_be16(counter) + 1);
	s->f->ports[port].pkey_violations = get_be16(s->f->ports[port].info + PI_PKEY_VIOLATIONS);
	s->f->ports[port].qkey_violations = get_be16(s->f->ports[port].info + PI_QKEY_VIOLATIONS);
}

void device_bad_pkey(struct sim *s, uint32_t port, const struct packet *p)
{
	count_violation(s, port, PI_PKEY_VIOLATIONS);
	if (is_end_port(s->f, port))
		trap_bad_key(s, port, 257, p->pkey, p);
	else
		trap_bad_pkey_at_switch(s, port, p);
}

void device_bad_qkey(struct sim *s, uint32_t port, const struct packet *p)
{
	count_violation(s, port, PI_QKEY_VIOLATIONS);
	trap_bad_key(s, port, 258, p->qkey, p);
}
