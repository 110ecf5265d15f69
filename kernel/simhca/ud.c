// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Datagrams: sends and receives of UD queue pairs, QP0 and QP1.
 *
 * A packet that finds no room in the ring is lost, as on a link; its send completes all the same.
 */
#include "simhca.h"

#define DEFAULT_PKEY 0xffff

static bool is_smi(const struct simhca_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_SMI;
}

/* The part behind the BTH: DETH, immediate data. */
static u32 write_deth(const struct simhca_qp *qp, const struct ib_ud_wr *ud, u8 *out)
{
	u32 qkey = ud->remote_qkey & IB_QP_SET_QKEY ? qp->qkey : ud->remote_qkey;

	put_unaligned_be32(qkey, out);	/* the high bit means our own (10.2.5) */
	put_unaligned_be32(qp->ibqp.qp_num, out + 4);
	if (ud->wr.opcode != IB_WR_SEND_WITH_IMM)
		return IB_DETH_BYTES;
	memcpy(out + IB_DETH_BYTES, &ud->wr.ex.imm_data, SIMHCA_IMM_BYTES);
	return IB_DETH_BYTES + SIMHCA_IMM_BYTES;
}

static u32 next_psn(struct simhca_qp *qp)
{
	unsigned long flags;
	u32 psn;

	spin_lock_irqsave(&qp->lock, flags);
	psn = qp->psn++;
	spin_unlock_irqrestore(&qp->lock, flags);
	return psn;
}

static void address(struct simhca_qp *qp, const struct ib_ud_wr *ud, struct simhca_packet *p)
{
	const struct rdma_ah_attr *ah = &to_ah(ud->ah)->attr;
	const struct simhca_port *port = port_of(qp->dev, qp->port);

	simhca_address(qp->dev, ah, p);
	if (is_smi(qp) && p->dlid == SIMHCA_LID_PERMISSIVE)
		p->slid = SIMHCA_LID_PERMISSIVE;	/* a directed route from end to end */
	p->opcode = ud->wr.opcode == IB_WR_SEND_WITH_IMM ? IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE :
							  IB_OPCODE_UD_SEND_ONLY;
	p->solicited = ud->wr.send_flags & IB_SEND_SOLICITED;
	p->pkey = is_smi(qp) ? DEFAULT_PKEY :
		  simhca_pkey(port, qp->ibqp.qp_type == IB_QPT_GSI ? ud->pkey_index : qp->pkey_index);
	p->qpn = ud->remote_qpn;
	p->psn = next_psn(qp);
}

/* The kernel's own users of datagrams all name memory by local_dma_lkey. */
static void put_data(struct simhca_out *out, const struct ib_send_wr *wr)
{
	for (int i = 0; i < wr->num_sge; i++)
		simhca_put(out, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
}

/* Other members of the group at this port hear it, too: the HCA does not send it back (10.5.2.2). */
static void loop_back(struct simhca_qp *qp, struct simhca_packet *p, const u8 *deth, u32 n_deth,
		      const struct ib_send_wr *wr)
{
	u32 length = n_deth + simhca_sge_length(wr->sg_list, wr->num_sge);
	u8 *raw = kzalloc(SIMHCA_FRAME_MAX, GFP_ATOMIC), *at;
	struct simhca_packet copy;

	if (!raw)
		return;
	at = raw + simhca_write_headers(p, length, false, raw);
	memcpy(at, deth, n_deth);
	simhca_gather(qp, wr->sg_list, wr->num_sge, 0, at + n_deth, length - n_deth);
	if (simhca_read_packet(raw, at - raw + length + p->pad, &copy))
		simhca_to_group(qp->dev, qp->port, &copy, qp->no_loopback ? qp->ibqp.qp_num : 0);
	kfree(raw);
}

static void send(struct simhca_qp *qp, const struct ib_ud_wr *ud, u32 length)
{
	u8 deth[IB_DETH_BYTES + SIMHCA_IMM_BYTES];
	struct simhca_packet p = { 0 };
	struct simhca_out out;
	u32 n;

	address(qp, ud, &p);
	n = write_deth(qp, ud, deth);
	if (!simhca_begin_packet(qp->dev, qp->port, &p, n + length, &out))
		return;
	simhca_put(&out, deth, n);
	put_data(&out, &ud->wr);
	simhca_end_packet(&out);
	if (simhca_is_multicast(&p) && p.grh)
		loop_back(qp, &p, deth, n, &ud->wr);
}

int simhca_ud_send(struct simhca_qp *qp, const struct ib_send_wr *wr)
{
	u32 length = simhca_sge_length(wr->sg_list, wr->num_sge);
	struct ib_wc wc = { .wr_id = wr->wr_id, .qp = &qp->ibqp, .opcode = IB_WC_SEND };

	if (qp->state == IB_QPS_ERR)	/* whatever it is: draining posts others, too */
		wc.status = IB_WC_WR_FLUSH_ERR;
	else if (wr->opcode != IB_WR_SEND && wr->opcode != IB_WR_SEND_WITH_IMM)
		return -EINVAL;
	else if (length > SIMHCA_PAYLOAD_MAX)
		wc.status = IB_WC_LOC_LEN_ERR;
	else
		send(qp, ud_wr(wr), length);
	if (qp->all_signaled || (wr->send_flags & IB_SEND_SIGNALED) || wc.status)
		simhca_complete(to_cq(qp->ibqp.send_cq), &wc, false);
	return 0;
}

/* --- receiving --- */

/* DETH and immediate data, taken off the packet's data; false: it is no such datagram. */
static bool read_deth(const struct simhca_packet *p, u32 *qkey, struct ib_wc *wc)
{
	bool imm = p->opcode == IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE;
	u32 header = IB_DETH_BYTES + (imm ? SIMHCA_IMM_BYTES : 0);

	if ((!imm && p->opcode != IB_OPCODE_UD_SEND_ONLY) || p->length < header)
		return false;
	*qkey = get_unaligned_be32(p->data);
	wc->src_qp = get_unaligned_be32(p->data + 4) & 0xffffff;
	if (imm) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		memcpy(&wc->ex.imm_data, p->data + IB_DETH_BYTES, SIMHCA_IMM_BYTES);
	}
	return true;
}

static void report_qkey(struct simhca_qp *qp, const struct simhca_packet *p)
{
	struct simhca_frame f = { .kind = SIMHCA_BAD_QKEY, .port = qp->port, .length = p->raw_length };

	simhca_send_frame(qp->dev, &f, p->raw);
}

static bool accepts(struct simhca_qp *qp, const struct simhca_packet *p, u32 qkey)
{
	const struct simhca_port *port = port_of(qp->dev, qp->port);

	if (qp->state < IB_QPS_RTR || qp->state == IB_QPS_ERR)
		return false;
	if (qp->ibqp.qp_type != IB_QPT_UD && p->length != IB_DETH_BYTES + IB_MGMT_MAD_SIZE)
		return false;
	if (is_smi(qp))
		return true;
	if (qp->ibqp.qp_type == IB_QPT_UD && !simhca_pkeys_match(simhca_pkey(port, qp->pkey_index), p->pkey))
		return false;
	if (qkey == qp->qkey)
		return true;
	report_qkey(qp, p);
	return false;
}

static void describe(struct simhca_qp *qp, const struct simhca_packet *p, u32 length, struct ib_wc *wc)
{
	const struct simhca_port *port = port_of(qp->dev, qp->port);

	wc->qp = &qp->ibqp;
	wc->opcode = IB_WC_RECV;
	wc->byte_len = IB_GRH_BYTES + length;
	wc->slid = p->slid;
	wc->sl = p->sl;
	wc->port_num = qp->port;
	if (p->dlid < SIMHCA_LID_MULTICAST)
		wc->dlid_path_bits = p->dlid & ((1u << port->lmc) - 1);
	wc->pkey_index = is_smi(qp) ? 0 : simhca_pkey_index(port, p->pkey);
	if (p->grh)
		wc->wc_flags |= IB_WC_GRH;
}

/* A buffer begins with 40 bytes for the GRH, whether or not there is one (11.4.2.1). */
static bool fill(struct simhca_qp *qp, const struct simhca_recv *r, const struct simhca_packet *p,
		 const u8 *data, u32 length)
{
	if (p->grh && !simhca_scatter(qp, r->sge, r->num_sge, 0, p->grh_bytes, IB_GRH_BYTES))
		return false;
	return simhca_scatter(qp, r->sge, r->num_sge, IB_GRH_BYTES, data, length);
}

void simhca_ud_receive(struct simhca_qp *qp, const struct simhca_packet *p)
{
	struct ib_wc wc = { 0 };
	struct simhca_recv *r;
	unsigned long flags;
	u32 qkey, header;

	if (!read_deth(p, &qkey, &wc))
		return;
	header = IB_DETH_BYTES + (wc.wc_flags & IB_WC_WITH_IMM ? SIMHCA_IMM_BYTES : 0);
	spin_lock_irqsave(&qp->lock, flags);
	r = accepts(qp, p, qkey) ? simhca_take_recv(qp) : NULL;
	if (r) {
		describe(qp, p, p->length - header, &wc);
		wc.wr_id = r->wr_id;
		if (!fill(qp, r, p, p->data + header, p->length - header))
			wc.status = IB_WC_LOC_LEN_ERR;
		simhca_complete(to_cq(qp->ibqp.recv_cq), &wc, p->solicited);
	}
	spin_unlock_irqrestore(&qp->lock, flags);
}
