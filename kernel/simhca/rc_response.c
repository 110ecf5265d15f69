// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The responder's side of a reliable connection (9.7.4): requests in the order of their PSNs, executed and
 * acknowledged.
 */
#include "simhca.h"

#define ANSWERS_AT_ONCE 64	/* packets that are made with the lock held */
#define LENGTH_MAX (1u << 30)	/* of a message (max_msg_sz) */

/* --- answers --- */

static bool send_aeth(struct simhca_qp *qp, u32 psn, u8 syndrome)
{
	u8 aeth[SIMHCA_AETH_BYTES];

	put_unaligned_be32((u32)syndrome << 24 | (qp->resp.msn & SIMHCA_PSN_MASK), aeth);
	return simhca_rc_send(qp, IB_OPCODE_RC_ACKNOWLEDGE, psn, false, false, aeth, sizeof(aeth), NULL, 0);
}

static void send_due(struct simhca_qp *qp)
{
	struct simhca_responder *r = &qp->resp;

	if (r->read_head != r->read_tail)
		return;
	r->due = !send_aeth(qp, r->due_psn, r->due_syndrome);
	if (r->due)
		queue_delayed_work(qp->dev->wq, &r->work, SIMHCA_ROOM_AFTER);
	else if (r->refused)
		simhca_qp_error(qp);
}

/*
 * An acknowledgement of either kind.  It must not overtake the answers of reads before it, and must not be
 * lost for lack of room; the last one says all that earlier ones would have said.
 */
static void answer(struct simhca_qp *qp, u32 psn, u8 syndrome)
{
	qp->resp.due = true;
	qp->resp.due_psn = psn;
	qp->resp.due_syndrome = syndrome;
	send_due(qp);
}

/* Everything before resp.psn has arrived. */
static void acknowledge(struct simhca_qp *qp)
{
	answer(qp, psn_add(qp->resp.psn, SIMHCA_PSN_MASK), AETH_ACK << 5 | AETH_NO_CREDITS);
}

/*
 * A request that cannot be executed ends the connection, at both sides (9.9.3): at this one as soon as the NAK
 * is sent.  The requests before it succeed, and the requester could not tell which of them failed if the NAK came
 * before their answers.
 */
static void refuse(struct simhca_qp *qp, u32 psn, u8 code)
{
	qp->resp.refused = true;
	answer(qp, psn, AETH_NAK << 5 | code);
}

/* The same for a fault of the receive request, which ends with a status of its own. */
static void refuse_for(struct simhca_qp *qp, enum ib_wc_status status, u8 code)
{
	qp->resp.recv_status = status;
	refuse(qp, qp->resp.psn, code);
}

/* --- reads --- */

static u8 response_opcode(bool first, bool last)
{
	if (first)
		return last ? IB_OPCODE_RC_RDMA_READ_RESPONSE_ONLY : IB_OPCODE_RC_RDMA_READ_RESPONSE_FIRST;
	return last ? IB_OPCODE_RC_RDMA_READ_RESPONSE_LAST : IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE;
}

/* The next packet of a read's answer; false: no room, or the connection has ended. */
static bool answer_piece(struct simhca_qp *qp, struct simhca_read *r)
{
	u32 mtu = simhca_rc_mtu(qp), n = min(mtu, r->length - r->done);
	u32 psn = psn_add(r->psn, r->done / mtu);
	bool first = r->done == 0, last = r->done + n == r->length;
	u8 aeth[SIMHCA_AETH_BYTES];

	if (n && !simhca_mr_copy(qp, r->key, r->address + r->done, qp->buffer, n, false)) {
		if (r->again) {		/* the requester has got it, and given the region back */
			r->done = r->length;
			return true;
		}
		qp->resp.read_tail = qp->resp.read_head;	/* what follows gets no answer */
		refuse(qp, psn, NAK_REMOTE_ACCESS);
		return false;
	}
	put_unaligned_be32(AETH_NO_CREDITS << 24 | (qp->resp.msn & SIMHCA_PSN_MASK), aeth);
	if (!simhca_rc_send(qp, response_opcode(first, last), psn, false, false, aeth,
			    first || last ? sizeof(aeth) : 0, qp->buffer, n)) {
		queue_delayed_work(qp->dev->wq, &qp->resp.work, SIMHCA_ROOM_AFTER);
		return false;
	}
	r->done += n;
	return true;
}

static void answer_reads(struct simhca_qp *qp)
{
	struct simhca_responder *s = &qp->resp;

	for (int i = 0; i < ANSWERS_AT_ONCE && s->read_tail != s->read_head; i++) {
		struct simhca_read *r = &s->reads[s->read_tail % SIMHCA_READS_MAX];

		if (!answer_piece(qp, r))
			return;
		if (r->done == r->length)
			s->read_tail++;
	}
	if (s->read_tail != s->read_head)
		queue_delayed_work(qp->dev->wq, &s->work, 0);
	else if (s->due)
		send_due(qp);
}

void simhca_rc_answer_reads(struct work_struct *work)
{
	struct simhca_qp *qp = container_of(work, struct simhca_qp, resp.work.work);
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	if (qp->state >= IB_QPS_RTR && qp->state != IB_QPS_ERR)
		answer_reads(qp);
	spin_unlock_irqrestore(&qp->lock, flags);
}

static bool may(struct simhca_qp *qp, const u8 *reth, int access)
{
	u32 length = get_unaligned_be32(reth + 12);

	if (!(qp->attr.qp_access_flags & access) || length > LENGTH_MAX)
		return false;
	return !length || simhca_mr_allows(qp, get_unaligned_be32(reth + 8), get_unaligned_be64(reth),
					   length, access);
}

static bool has_place(const struct simhca_responder *s)
{
	return s->read_head - s->read_tail < SIMHCA_READS_MAX;
}

static void queue_read(struct simhca_responder *s, const struct simhca_packet *p, bool again)
{
	s->reads[s->read_head++ % SIMHCA_READS_MAX] = (struct simhca_read) {
		.psn = p->psn, .address = get_unaligned_be64(p->data), .again = again,
		.key = get_unaligned_be32(p->data + 8), .length = get_unaligned_be32(p->data + 12),
	};
}

static void take_read(struct simhca_qp *qp, const struct simhca_packet *p)
{
	struct simhca_responder *s = &qp->resp;

	if (p->length < SIMHCA_RETH_BYTES || !has_place(s)) {
		refuse(qp, p->psn, NAK_INVALID_REQUEST);
		return;
	}
	if (!may(qp, p->data, IB_ACCESS_REMOTE_READ)) {
		refuse(qp, p->psn, NAK_REMOTE_ACCESS);
		return;
	}
	queue_read(s, p, false);
	s->msn++;
	s->psn = psn_add(s->psn, simhca_rc_packets(qp, get_unaligned_be32(p->data + 12)));
	answer_reads(qp);
}

/* Forgets the answers from this PSN on: a requester that asks for them again asks for all that follow. */
static void forget_reads(struct simhca_qp *qp, u32 psn)
{
	struct simhca_responder *s = &qp->resp;

	while (s->read_head != s->read_tail) {
		const struct simhca_read *r = &s->reads[(s->read_head - 1) % SIMHCA_READS_MAX];

		if (psn_after(psn_add(r->psn, simhca_rc_packets(qp, r->length) - 1), psn) < 0)
			return;
		s->read_head--;
	}
}

/* Answers a read again, or is silent: what was wrong with the first request has had its answer. */
static void repeat_read(struct simhca_qp *qp, const struct simhca_packet *p)
{
	forget_reads(qp, p->psn);
	if (p->length < SIMHCA_RETH_BYTES || !has_place(&qp->resp) || !may(qp, p->data, IB_ACCESS_REMOTE_READ))
		return;
	queue_read(&qp->resp, p, true);
	answer_reads(qp);
}

/* --- SEND and RDMA write --- */

/* What an opcode says of its packet. */
struct shape {
	bool send, write, first, last, imm, invalidate;
};

static bool shape_of(u8 opcode, struct shape *s)
{
	static const struct shape shapes[] = {
		[IB_OPCODE_RC_SEND_FIRST] = { .send = true, .first = true },
		[IB_OPCODE_RC_SEND_MIDDLE] = { .send = true },
		[IB_OPCODE_RC_SEND_LAST] = { .send = true, .last = true },
		[IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE] = { .send = true, .last = true, .imm = true },
		[IB_OPCODE_RC_SEND_ONLY] = { .send = true, .first = true, .last = true },
		[IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE] = {
			.send = true, .first = true, .last = true, .imm = true },
		[IB_OPCODE_RC_RDMA_WRITE_FIRST] = { .write = true, .first = true },
		[IB_OPCODE_RC_RDMA_WRITE_MIDDLE] = { .write = true },
		[IB_OPCODE_RC_RDMA_WRITE_LAST] = { .write = true, .last = true },
		[IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE] = { .write = true, .last = true, .imm = true },
		[IB_OPCODE_RC_RDMA_WRITE_ONLY] = { .write = true, .first = true, .last = true },
		[IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE] = {
			.write = true, .first = true, .last = true, .imm = true },
		[IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE] = { .send = true, .last = true, .invalidate = true },
		[IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE] = {
			.send = true, .first = true, .last = true, .invalidate = true },
	};

	if (opcode >= ARRAY_SIZE(shapes))
		return false;
	*s = shapes[opcode];
	return s->send || s->write;
}

static bool fits(const struct simhca_responder *r, const struct shape *s)
{
	if (s->first)
		return r->message == SIMHCA_BETWEEN;
	return r->message == (s->send ? SIMHCA_IN_SEND : SIMHCA_IN_WRITE);
}

/* A packet's extended headers and payload. */
struct content {
	const u8 *reth, *imm, *payload;
	u32 length;
};

static bool split(const struct simhca_packet *p, const struct shape *s, struct content *c)
{
	u32 reth = s->write && s->first ? SIMHCA_RETH_BYTES : 0;
	u32 imm = s->imm || s->invalidate ? SIMHCA_IMM_BYTES : 0;

	if (p->length < reth + imm)
		return false;
	c->reth = p->data;
	c->imm = p->data + reth;
	c->payload = p->data + reth + imm;
	c->length = p->length - reth - imm;
	return true;
}

/* The end of a message that a receive request hears of. */
static void complete_recv(struct simhca_qp *qp, const struct simhca_packet *p, const struct shape *s,
			  const struct content *c, const struct simhca_recv *recv, u32 length)
{
	struct ib_wc wc = {
		.wr_id = recv->wr_id, .qp = &qp->ibqp, .byte_len = length, .src_qp = qp->attr.dest_qp_num,
		.slid = p->slid, .sl = p->sl, .port_num = qp->port, .pkey_index = qp->pkey_index,
		.opcode = s->write ? IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV,
	};

	if (s->imm) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		memcpy(&wc.ex.imm_data, c->imm, SIMHCA_IMM_BYTES);
	}
	if (s->invalidate) {
		wc.wc_flags |= IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = get_unaligned_be32(c->imm);
		simhca_mr_invalidate(qp, wc.ex.invalidate_rkey);
	}
	simhca_complete(to_cq(qp->ibqp.recv_cq), &wc, p->solicited);
}

/* There is no receive request: the requester is to try again later (9.7.5.2.8). */
static void not_ready(struct simhca_qp *qp)
{
	answer(qp, qp->resp.psn, AETH_RNR_NAK << 5 | qp->attr.min_rnr_timer);
	qp->resp.nak_sent = true;	/* what is under way behind it needs no NAK of its own */
}

/* These return false if the packet was not taken. */

static bool take_send(struct simhca_qp *qp, const struct simhca_packet *p, const struct shape *s,
		      const struct content *c)
{
	struct simhca_responder *r = &qp->resp;

	if (s->first) {
		r->recv = simhca_take_recv(qp);
		r->offset = 0;
		if (!r->recv) {
			not_ready(qp);
			return false;
		}
	}
	if (c->length > simhca_sge_length(r->recv->sge, r->recv->num_sge) - r->offset) {
		refuse_for(qp, IB_WC_LOC_LEN_ERR, NAK_INVALID_REQUEST);
		return false;
	}
	if (!simhca_scatter(qp, r->recv->sge, r->recv->num_sge, r->offset, c->payload, c->length)) {
		refuse_for(qp, IB_WC_LOC_PROT_ERR, NAK_REMOTE_OPERATION);
		return false;
	}
	r->offset += c->length;
	if (!s->last)
		return true;
	complete_recv(qp, p, s, c, r->recv, r->offset);
	r->recv = NULL;
	return true;
}

static bool take_write(struct simhca_qp *qp, const struct simhca_packet *p, const struct shape *s,
		       const struct content *c)
{
	struct simhca_responder *r = &qp->resp;

	if (s->first && !may(qp, c->reth, IB_ACCESS_REMOTE_WRITE)) {
		refuse(qp, r->psn, NAK_REMOTE_ACCESS);
		return false;
	}
	if (s->imm) {
		r->recv = simhca_take_recv(qp);
		if (!r->recv) {
			not_ready(qp);
			return false;
		}
	}
	if (s->first) {
		r->address = get_unaligned_be64(c->reth);
		r->key = get_unaligned_be32(c->reth + 8);
		r->left = r->offset = get_unaligned_be32(c->reth + 12);
	}
	if (c->length > r->left || (s->last && c->length != r->left)) {
		refuse(qp, r->psn, NAK_INVALID_REQUEST);
		return false;
	}
	if (c->length && !simhca_mr_copy(qp, r->key, r->address, (void *)c->payload, c->length, true)) {
		refuse(qp, r->psn, NAK_REMOTE_ACCESS);
		return false;
	}
	r->address += c->length;
	r->left -= c->length;
	if (s->imm)
		complete_recv(qp, p, s, c, r->recv, r->offset);
	r->recv = NULL;
	return true;
}

/* Whether the packet has a length that its place in the message allows (9.7.4.1.6). */
static bool good_length(const struct simhca_qp *qp, const struct shape *s, u32 length)
{
	u32 mtu = simhca_rc_mtu(qp);

	if (!s->last)
		return length == mtu;
	return length <= mtu && (length || s->first);
}

static void take_message(struct simhca_qp *qp, const struct simhca_packet *p)
{
	struct simhca_responder *r = &qp->resp;
	struct content c;
	struct shape s;

	if (!shape_of(p->opcode, &s) || !fits(r, &s) || !split(p, &s, &c) || !good_length(qp, &s, c.length)) {
		refuse(qp, r->psn, NAK_INVALID_REQUEST);
		return;
	}
	if (!(s.send ? take_send(qp, p, &s, &c) : take_write(qp, p, &s, &c)))
		return;
	r->psn = psn_add(r->psn, 1);
	r->message = s.last ? SIMHCA_BETWEEN : s.send ? SIMHCA_IN_SEND : SIMHCA_IN_WRITE;
	r->msn += s.last;
	if (p->ack_req)
		acknowledge(qp);
}

/* --- order --- */

static void take_duplicate(struct simhca_qp *qp, const struct simhca_packet *p)
{
	if (p->opcode == IB_OPCODE_RC_RDMA_READ_REQUEST)
		repeat_read(qp, p);
	else
		acknowledge(qp);
}

/* The first request says that the peer's side is ready, which matters in RTR only (11.6.3.1). */
static bool is_news(struct simhca_qp *qp)
{
	bool news = qp->state == IB_QPS_RTR && !qp->resp.established;

	qp->resp.established = true;
	return news;
}

bool simhca_rc_take_request(struct simhca_qp *qp, const struct simhca_packet *p)
{
	struct simhca_responder *r = &qp->resp;
	s32 ahead = psn_after(p->psn, r->psn);
	bool news;

	if (r->refused)
		return false;	/* the connection ends when the NAK is sent */
	if (ahead > 0) {
		if (!r->nak_sent)
			answer(qp, r->psn, AETH_NAK << 5 | NAK_SEQUENCE);
		r->nak_sent = true;
		return false;
	}
	if (ahead < 0) {
		take_duplicate(qp, p);
		return false;
	}
	r->nak_sent = false;
	news = is_news(qp);
	if (p->opcode == IB_OPCODE_RC_RDMA_READ_REQUEST && r->message == SIMHCA_BETWEEN)
		take_read(qp, p);
	else
		take_message(qp, p);
	return news;
}
