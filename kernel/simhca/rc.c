// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reliable connections: start, end, and what the requester's and the responder's sides share. */
#include "simhca.h"

#define RC_DATA_MAX (SIMHCA_RETH_BYTES + SIMHCA_IMM_BYTES + SIMHCA_PAYLOAD_MAX)

int simhca_rc_init(struct simhca_qp *qp)
{
	struct simhca_requester *r = &qp->req;

	r->size = roundup_pow_of_two(max(qp->cap.max_send_wr, 1u));	/* counters wrap at 2^32 */
	r->stride = struct_size((struct simhca_send *)0, sge, qp->cap.max_send_sge);
	r->queue = kvcalloc(r->size, r->stride, GFP_KERNEL);
	qp->buffer = kmalloc(SIMHCA_PAYLOAD_MAX, GFP_KERNEL);
	INIT_DELAYED_WORK(&r->timer, simhca_rc_timer);
	INIT_DELAYED_WORK(&qp->resp.work, simhca_rc_answer_reads);
	return r->queue && qp->buffer ? 0 : -ENOMEM;
}

void simhca_rc_free(struct simhca_qp *qp)
{
	if (qp->ibqp.qp_type != IB_QPT_RC)
		return;
	cancel_delayed_work_sync(&qp->req.timer);
	cancel_delayed_work_sync(&qp->resp.work);
	kvfree(qp->req.queue);
	kfree(qp->buffer);
}

void simhca_rc_reset(struct simhca_qp *qp)
{
	struct simhca_requester *r = &qp->req;
	struct simhca_responder *s = &qp->resp;

	cancel_delayed_work(&r->timer);
	r->tail = r->next = r->head;
	r->offset = r->retries = r->rnr_retries = 0;
	r->waits = r->repeating = false;
	s->msn = 0;
	s->established = s->nak_sent = s->due = s->refused = false;
	s->message = SIMHCA_BETWEEN;
	s->recv = NULL;
	s->recv_status = 0;
	s->read_tail = s->read_head;
}

void simhca_rc_modified(struct simhca_qp *qp, int mask)
{
	if (mask & IB_QP_SQ_PSN)
		qp->req.acked_psn = qp->req.psn = qp->req.sent_psn = qp->attr.sq_psn & SIMHCA_PSN_MASK;
	if (mask & IB_QP_RQ_PSN)
		qp->resp.psn = qp->attr.rq_psn & SIMHCA_PSN_MASK;
}

u32 simhca_rc_mtu(const struct simhca_qp *qp)
{
	return ib_mtu_enum_to_int(qp->attr.path_mtu);
}

u32 simhca_rc_packets(const struct simhca_qp *qp, u32 length)
{
	return length ? DIV_ROUND_UP(length, simhca_rc_mtu(qp)) : 1;
}

bool simhca_rc_send(struct simhca_qp *qp, u8 opcode, u32 psn, bool ack_req, bool solicited,
		    const void *extended, u32 n_extended, const void *payload, u32 n)
{
	struct simhca_packet p = {
		.opcode = opcode, .psn = psn, .ack_req = ack_req, .solicited = solicited,
		.qpn = qp->attr.dest_qp_num,
		.pkey = simhca_pkey(port_of(qp->dev, qp->port), qp->pkey_index),
	};
	struct simhca_out out;

	simhca_address(qp->dev, &qp->attr.ah_attr, &p);
	if (!simhca_begin_packet(qp->dev, qp->port, &p, n_extended + n, &out))
		return READ_ONCE(qp->dev->broken);
	simhca_put(&out, extended, n_extended);
	simhca_put(&out, payload, n);
	simhca_end_packet(&out);
	return true;
}

static bool is_ours(const struct simhca_qp *qp, const struct simhca_packet *p)
{
	return qp->state >= IB_QPS_RTR && qp->state != IB_QPS_ERR && p->opcode >> 5 == IB_OPCODE_RC >> 5 &&
	       p->length <= RC_DATA_MAX && p->slid == rdma_ah_get_dlid(&qp->attr.ah_attr) &&
	       simhca_pkeys_match(simhca_pkey(port_of(qp->dev, qp->port), qp->pkey_index), p->pkey);
}

/* True: as simhca_rc_take_request(). */
static bool dispatch(struct simhca_qp *qp, const struct simhca_packet *p)
{
	switch (p->opcode) {
	case IB_OPCODE_RC_ACKNOWLEDGE:
		simhca_rc_take_ack(qp, p);
		return false;
	case IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST:
	case IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE:
	case IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST:
	case IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY:
		simhca_rc_take_read_response(qp, p);
		return false;
	default:
		return simhca_rc_take_request(qp, p);
	}
}

/* Without the lock, because the handler may want something of the queue pair. */
static void tell_established(struct simhca_qp *qp)
{
	struct ib_event e = {
		.device = &qp->dev->ibdev, .event = IB_EVENT_COMM_EST, .element.qp = &qp->ibqp,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&e, qp->ibqp.qp_context);
}

void simhca_rc_receive(struct simhca_qp *qp, const struct simhca_packet *p)
{
	unsigned long flags;
	bool established;

	spin_lock_irqsave(&qp->lock, flags);
	established = is_ours(qp, p) && dispatch(qp, p);
	spin_unlock_irqrestore(&qp->lock, flags);
	if (established)
		tell_established(qp);
}
