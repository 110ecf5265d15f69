// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Headers of packets (IBA chapters 7 to 9): LRH, GRH, BTH.  Their CRCs are left out on the simulated link. */
#include "simhca.h"

#define ICRC_BYTES 4		/* PktLen counts the ICRC */
#define SMI_VL 15
#define LNH_LOCAL 2
#define LNH_GLOBAL 3
#define NEXT_HEADER_BTH 0x1b

void simhca_address(struct simhca_dev *d, const struct rdma_ah_attr *ah, struct simhca_packet *p)
{
	const struct simhca_port *port = port_of(d, rdma_ah_get_port_num(ah));
	const struct ib_global_route *g = rdma_ah_read_grh(ah);

	p->sl = rdma_ah_get_sl(ah);
	p->dlid = rdma_ah_get_dlid(ah);
	p->slid = port->lid | (rdma_ah_get_path_bits(ah) & ((1u << port->lmc) - 1));
	p->grh = rdma_ah_get_ah_flags(ah) & IB_AH_GRH;
	if (!p->grh)
		return;
	p->traffic_class = g->traffic_class;
	p->flow_label = g->flow_label;
	p->hop_limit = g->hop_limit;
	p->dgid = g->dgid;
	p->sgid.global.subnet_prefix = cpu_to_be64(port->gid_prefix);
	p->sgid.global.interface_id = g->sgid_index < port->n_guids ? port->guids[g->sgid_index] : 0;
}

static u8 *write_grh(const struct simhca_packet *p, u32 length, u8 *out)
{
	put_unaligned_be32(6u << 28 | p->traffic_class << 20 | (p->flow_label & 0xfffff), out);
	put_unaligned_be16(length, out + 4);
	out[6] = NEXT_HEADER_BTH;
	out[7] = p->hop_limit;
	memcpy(out + 8, &p->sgid, 16);
	memcpy(out + 24, &p->dgid, 16);
	return out + IB_GRH_BYTES;
}

u32 simhca_write_headers(const struct simhca_packet *p, u32 length, bool smi, u8 *out)
{
	u32 behind_grh = IB_BTH_BYTES + length + p->pad + ICRC_BYTES;
	u32 total = IB_LRH_BYTES + (p->grh ? IB_GRH_BYTES : 0) + behind_grh;
	u8 *at = out + IB_LRH_BYTES;

	out[0] = smi ? SMI_VL << 4 : 0;	/* the HCA chooses the VL by SL */
	out[1] = p->sl << 4 | (p->grh ? LNH_GLOBAL : LNH_LOCAL);
	put_unaligned_be16(p->dlid, out + 2);
	put_unaligned_be16(total / 4, out + 4);
	put_unaligned_be16(p->slid, out + 6);
	if (p->grh)
		at = write_grh(p, behind_grh, at);
	at[0] = p->opcode;
	at[1] = p->solicited << 7 | 1 << 6 | p->pad << 4;	/* MigReq: migrated (17.2.8) */
	put_unaligned_be16(p->pkey, at + 2);
	put_unaligned_be32(p->qpn, at + 4);
	put_unaligned_be32((u32)p->ack_req << 31 | (p->psn & SIMHCA_PSN_MASK), at + 8);
	return at + IB_BTH_BYTES - out;
}

bool simhca_begin_packet(struct simhca_dev *d, u32 port, struct simhca_packet *p, u32 length,
			 struct simhca_out *out)
{
	struct simhca_frame f = { .kind = SIMHCA_PACKET, .port = port };
	u8 headers[SIMHCA_HEADERS_MAX];
	u32 n;

	p->pad = -length & 3;
	n = simhca_write_headers(p, length, p->qpn == 0, headers);
	f.length = n + length + p->pad;
	if (!simhca_begin(d, out, &f))
		return false;
	simhca_put(out, headers, n);
	return true;
}

void simhca_end_packet(struct simhca_out *out)
{
	static const u8 zero[8];

	simhca_put(out, zero, out->end - out->at);	/* the packet's padding, and the frame's */
	simhca_end(out);
}

/* --- received packets --- */

static const u8 *read_grh(const u8 *at, struct simhca_packet *p)
{
	u32 first = get_unaligned_be32(at);

	p->grh = true;
	p->grh_bytes = at;
	p->traffic_class = first >> 20;
	p->flow_label = first & 0xfffff;
	p->hop_limit = at[7];
	memcpy(&p->sgid, at + 8, 16);
	memcpy(&p->dgid, at + 24, 16);
	return at + IB_GRH_BYTES;
}

bool simhca_read_packet(const u8 *raw, u32 length, struct simhca_packet *p)
{
	const u8 *at = raw + IB_LRH_BYTES, *end = raw + length;

	memset(p, 0, sizeof(*p));
	if (length < IB_LRH_BYTES + IB_BTH_BYTES)
		return false;
	p->raw = raw;
	p->raw_length = length;
	p->sl = raw[1] >> 4;
	p->dlid = get_unaligned_be16(raw + 2);
	p->slid = get_unaligned_be16(raw + 6);
	if ((raw[1] & 3) == LNH_GLOBAL) {
		if (length < IB_LRH_BYTES + IB_GRH_BYTES + IB_BTH_BYTES)
			return false;
		at = read_grh(at, p);
	} else if ((raw[1] & 3) != LNH_LOCAL) {
		return false;
	}
	p->opcode = at[0];
	p->solicited = at[1] >> 7;
	p->pad = at[1] >> 4 & 3;
	p->pkey = get_unaligned_be16(at + 2);
	p->qpn = get_unaligned_be32(at + 4) & 0xffffff;
	p->ack_req = at[8] >> 7;
	p->psn = get_unaligned_be32(at + 8) & SIMHCA_PSN_MASK;
	p->data = at + IB_BTH_BYTES;
	if (end - p->data < p->pad)
		return false;
	p->length = end - p->data - p->pad;
	return true;
}

void simhca_take_packet(struct simhca_dev *d, u32 port, const u8 *raw, u32 length)
{
	struct simhca_packet p;
	struct simhca_qp *qp;

	if (!simhca_read_packet(raw, length, &p))
		return;
	if (simhca_is_multicast(&p)) {
		if (p.grh && p.qpn == SIMHCA_QPN_MULTICAST)
			simhca_to_group(d, port, &p, 0);
		return;
	}
	qp = simhca_find_qp(d, port, p.qpn);
	if (!qp)
		return;
	if (qp->ibqp.qp_type == IB_QPT_RC)
		simhca_rc_receive(qp, &p);
	else
		simhca_ud_receive(qp, &p);
}
