/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MultiPathRecord (15.2.5.20): paths from any of some ports to any of others.
 * The answer is made of PathRecords.
 *
 * IndependenceSelector is a wish that IBA lets an SA ignore; equal path bits
 * first, as path_search_try() has it, is what is done for it.
 */
#include "base/bytes.h"
#include "sa/handler.h"

/* The bits of the query's mask as those that the same components have in PathRecord. */
static uint64_t path_mask(uint64_t mask)
{
	static const struct { uint64_t multi, path; } same[] = {
		{ MPR_RAW, PR_RAW }, { MPR_FLOW, PR_FLOW }, { MPR_HOP, PR_HOP },
		{ MPR_TCLASS, PR_TCLASS }, { MPR_REVERSIBLE, PR_REVERSIBLE },
		{ MPR_NUMB_PATH, PR_NUMB_PATH }, { MPR_PKEY, PR_PKEY },
		{ MPR_QOS_CLASS, PR_QOS_CLASS }, { MPR_SL, PR_SL },
		{ MPR_MTU_SEL, PR_MTU_SEL }, { MPR_MTU, PR_MTU },
		{ MPR_RATE_SEL, PR_RATE_SEL }, { MPR_RATE, PR_RATE },
		{ MPR_LIFE_SEL, PR_LIFE_SEL }, { MPR_LIFE, PR_LIFE },
		{ MPR_SERVICE_ID_MSB, PR_SERVICE_ID_MSB },
		{ MPR_SERVICE_ID_LSB, PR_SERVICE_ID_LSB },
	};
	uint64_t out = 0;

	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		if (mask & same[i].multi)
			out |= same[i].path;
	return out;
}

static uint64_t service_id(const struct sa_multipath_record *r)
{
	uint8_t id[8];

	id[0] = r->service_id_msb;
	memcpy(id + 1, r->service_id_lsb, 7);
	return get_be64(id);
}

static void query_from_record(const struct sa_multipath_record *r, uint64_t mask,
			      struct path_query *q)
{
	uint32_t hop_flow_raw = get_be32(r->hop_flow_raw);
	uint16_t qos_class_sl = get_be16(r->qos_class_sl);

	*q = (struct path_query){
		.has = path_mask(mask),
		.service_id = service_id(r),
		.qos_class = qos_class_sl >> 4, .sl = qos_class_sl & 0xf,
		.pkey = get_be16(r->pkey), .tclass = r->tclass,
		.num_path = r->num_path & 0x7f, .reversible = r->num_path >> 7,
		.mtu_sel = r->mtu >> 6, .mtu = r->mtu & 0x3f,
		.rate_sel = r->rate >> 6, .rate = r->rate & 0x3f,
		.life_sel = r->life >> 6, .life = r->life & 0x3f,
		.raw = hop_flow_raw >> 31, .flow_label = hop_flow_raw >> 8 & 0xfffff,
		.hop_limit = hop_flow_raw & 0xff,
	};
}

/* All GIDs must be known before any path is looked for: one bad one spoils the query. */
static uint16_t find_ports(const struct subnet_state *s, const struct sa_multipath_record *r,
			   uint32_t *ports)
{
	unsigned n = r->sgid_count + r->dgid_count;
	uint16_t status = IB_STATUS_OK;

	for (unsigned i = 0; i < n && !status; i++)
		status = sa_gid_port(s, r->gids[i], &ports[i]);
	return status;
}

uint16_t sa_multipath_record(struct sa_msg *m)
{
	const struct sa_multipath_record *r = (const void *)m->data;
	uint64_t counts = MPR_SGID_COUNT | MPR_DGID_COUNT;
	uint32_t ports[2 * UINT8_MAX];	/* sources, then destinations */
	struct path_query q;
	uint16_t status;

	if ((m->mask & counts) != counts)
		return IB_SA_INSUFFICIENT_COMPONENTS;
	if (!r->sgid_count || !r->dgid_count ||
	    m->n < sizeof(*r) + (r->sgid_count + (size_t)r->dgid_count) * sizeof(r->gids[0]))
		return IB_SA_REQ_INVALID;
	query_from_record(r, m->mask, &q);
	if ((status = sa_query_check(&q)) || (status = find_ports(m->s, r, ports)))
		return status;

	sa_add_paths(m, &q, ports, r->sgid_count, ports + r->sgid_count, r->dgid_count,
		     q.has & PR_NUMB_PATH ? q.num_path : PATHS_PER_PAIR);
	return IB_STATUS_OK;
}
