// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The requester's side of a reliable connection (9.7.5): requests to packets, acknowledgements to
 * completions, and repetition from the oldest packet that is not acknowledged (go-back-N).
 */
#include "simhca.h"

#define WINDOW 64		/* packets under way */
#define ACK_EACH 16		/* packets after which an acknowledgement is asked for */
#define TIMEOUT_MIN (HZ / 2)	/* emulated machines are slow */
#define RNR_FOREVER 7

static bool is_local(const struct simhca_send *s)
{
	return s->opcode == IB_WR_REG_MR || s->opcode == IB_WR_LOCAL_INV;
}

static bool is_read(const struct simhca_send *s)
{
	return s->opcode == IB_WR_RDMA_READ;
}

static bool is_write(const struct simhca_send *s)
{
	return s->opcode == IB_WR_RDMA_WRITE || s->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static struct simhca_send *send_at(const struct simhca_requester *r, u32 n)
{
	return (struct simhca_send *)(r->queue + (size_t)(n % r->size) * r->stride);
}

/* --- posting --- */

/* The part of a request that depends on its opcode; false: it is not supported. */
static bool take_opcode(struct simhca_send *s, const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_SEND:
		return true;
	case IB_WR_SEND_WITH_IMM:
		s->imm = wr->ex.imm_data;
		return true;
	case IB_WR_SEND_WITH_INV:
		s->imm = cpu_to_be32(wr->ex.invalidate_rkey);
		return true;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		s->imm = wr->ex.imm_data;
		fallthrough;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_READ:
		s->remote = rdma_wr(wr)->remote_addr;
		s->key = rdma_wr(wr)->rkey;
		return true;
	case IB_WR_REG_MR:
		s->mr = to_mr(reg_wr(wr)->mr);
		s->key = reg_wr(wr)->key;
		s->access = reg_wr(wr)->access;
		return true;
	case IB_WR_LOCAL_INV:
		s->key = wr->ex.invalidate_rkey;
		return true;
	default:
		return false;
	}
}

int simhca_rc_post(struct simhca_qp *qp, const struct ib_send_wr *wr)
{
	struct simhca_requester *r = &qp->req;
	struct simhca_send *s = send_at(r, r->head);

	if (r->head - r->tail >= qp->cap.max_send_wr)
		return -ENOMEM;
	if (wr->num_sge < 0 || wr->num_sge > qp->cap.max_send_sge)
		return -EINVAL;
	memset(s, 0, sizeof(*s));
	s->wr_id = wr->wr_id;
	s->opcode = wr->opcode;
	s->flags = wr->send_flags;
	if (!take_opcode(s, wr))
		return -EINVAL;
	s->num_sge = wr->num_sge;
	memcpy(s->sge, wr->sg_list, wr->num_sge * sizeof(*s->sge));
	s->length = simhca_sge_length(s->sge, s->num_sge);
	r->head++;
	return 0;
}

/* --- completing --- */

static enum ib_wc_opcode wc_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
		return IB_WC_RDMA_READ;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	default:
		return IB_WC_SEND;
	}
}

static void complete_oldest(struct simhca_qp *qp, enum ib_wc_status status)
{
	const struct simhca_send *s = send_at(&qp->req, qp->req.tail++);
	struct ib_wc wc = {
		.wr_id = s->wr_id, .status = status, .opcode = wc_opcode(s->opcode),
		.byte_len = s->length, .qp = &qp->ibqp,
	};

	if (status || qp->all_signaled || (s->flags & IB_SEND_SIGNALED))
		simhca_complete(to_cq(qp->ibqp.send_cq), &wc, false);
}

static bool is_done(const struct simhca_requester *r, const struct simhca_send *s)
{
	if (is_local(s))
		return s->started;
	return is_read(s) ? s->done : psn_after(r->acked_psn, s->last_psn) > 0;
}

static void complete_done(struct simhca_qp *qp)
{
	struct simhca_requester *r = &qp->req;

	while (r->tail != r->next && is_done(r, send_at(r, r->tail)))
		complete_oldest(qp, IB_WC_SUCCESS);
}

void simhca_rc_flush(struct simhca_qp *qp, enum ib_wc_status first)
{
	struct simhca_requester *r = &qp->req;

	cancel_delayed_work(&r->timer);
	r->waits = false;
	for (; r->tail != r->head; first = IB_WC_WR_FLUSH_ERR)
		complete_oldest(qp, first);
	r->next = r->tail;
	r->offset = 0;
}

static void fail(struct simhca_qp *qp, enum ib_wc_status status)
{
	simhca_rc_flush(qp, status);
	simhca_qp_error(qp);
}

/* --- time --- */

static unsigned long timeout(const struct simhca_qp *qp)
{
	u64 ns = 4096ull << qp->attr.timeout;	/* 9.7.6.1.3 */

	return max_t(unsigned long, nsecs_to_jiffies(ns), TIMEOUT_MIN);
}

static void arm(struct simhca_qp *qp, unsigned long delay)
{
	qp->req.deadline = jiffies + delay;
	mod_delayed_work(qp->dev->wq, &qp->req.timer, delay);
}

static void set_timer(struct simhca_qp *qp)
{
	struct simhca_requester *r = &qp->req;

	if (r->waits)
		return;
	if (qp->state == IB_QPS_RTS && r->acked_psn != r->sent_psn)
		arm(qp, timeout(qp));
	else
		cancel_delayed_work(&r->timer);
}

static void wait_for_timer(struct simhca_qp *qp, unsigned long delay)
{
	qp->req.waits = true;
	arm(qp, delay);
}

/* --- sending --- */

static unsigned int reads_under_way(const struct simhca_requester *r)
{
	unsigned int n = 0;

	for (u32 i = r->tail; i != r->next; i++)
		n += is_read(send_at(r, i)) && !send_at(r, i)->done;
	return n;
}

/* The first packet of a read's answer that has not come. */
static u32 wanted_psn(const struct simhca_qp *qp, const struct simhca_send *s)
{
	return psn_add(s->first_psn, s->got / simhca_rc_mtu(qp));
}

static void execute(struct simhca_qp *qp, struct simhca_send *s)
{
	if (s->started)
		return;		/* before a repetition */
	s->started = true;
	if (s->opcode == IB_WR_REG_MR)
		simhca_mr_register(s->mr, s->key, s->access);
	else
		simhca_mr_invalidate(qp, s->key);
}

static void write_reth(u8 *out, u64 address, u32 key, u32 length)
{
	put_unaligned_be64(address, out);
	put_unaligned_be32(key, out + 8);
	put_unaligned_be32(length, out + 12);
}

/* A request for what has not come yet of an RDMA read. */
static bool send_read(struct simhca_qp *qp, const struct simhca_send *s)
{
	u8 reth[SIMHCA_RETH_BYTES];

	write_reth(reth, s->remote + s->got, s->key, s->length - s->got);
	return simhca_rc_send(qp, IB_OPCODE_RC_RDMA_READ_REQUEST, wanted_psn(qp, s), true, false, reth,
			      sizeof(reth), NULL, 0);
}

/* Opcodes by place in the message, without those of the last packet's immediate data or IETH. */
static u8 opcode_at(const struct simhca_send *s, bool first, bool last)
{
	if (!last && is_write(s))
		return first ? IB_OPCODE_RC_RDMA_WRITE_FIRST : IB_OPCODE_RC_RDMA_WRITE_MIDDLE;
	if (!last)
		return first ? IB_OPCODE_RC_SEND_FIRST : IB_OPCODE_RC_SEND_MIDDLE;
	switch (s->opcode) {
	case IB_WR_SEND_WITH_IMM:
		return first ? IB_OPCODE_RC_SEND_ONLY_WITH_IMMEDIATE : IB_OPCODE_RC_SEND_LAST_WITH_IMMEDIATE;
	case IB_WR_SEND_WITH_INV:
		return first ? IB_OPCODE_RC_SEND_ONLY_WITH_INVALIDATE :
			       IB_OPCODE_RC_SEND_LAST_WITH_INVALIDATE;
	case IB_WR_RDMA_WRITE:
		return first ? IB_OPCODE_RC_RDMA_WRITE_ONLY : IB_OPCODE_RC_RDMA_WRITE_LAST;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return first ? IB_OPCODE_RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE :
			       IB_OPCODE_RC_RDMA_WRITE_LAST_WITH_IMMEDIATE;
	default:
		return first ? IB_OPCODE_RC_SEND_ONLY : IB_OPCODE_RC_SEND_LAST;
	}
}

static bool has_imm(const struct simhca_send *s)
{
	return s->opcode == IB_WR_SEND_WITH_IMM || s->opcode == IB_WR_SEND_WITH_INV ||
	       s->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

/* The next packet of a SEND or RDMA write; false: no room. */
static bool send_piece(struct simhca_qp *qp, struct simhca_send *s)
{
	struct simhca_requester *r = &qp->req;
	u32 n = min(simhca_rc_mtu(qp), s->length - r->offset), extended = 0;
	bool first = r->offset == 0, last = r->offset + n == s->length;
	u8 headers[SIMHCA_RETH_BYTES + SIMHCA_IMM_BYTES];
	bool ack = last || r->psn % ACK_EACH == 0;

	if (first && is_write(s)) {
		write_reth(headers, s->remote, s->key, s->length);
		extended = SIMHCA_RETH_BYTES;
	}
	if (last && has_imm(s)) {
		memcpy(headers + extended, &s->imm, SIMHCA_IMM_BYTES);
		extended += SIMHCA_IMM_BYTES;
	}
	if (!simhca_gather(qp, s->sge, s->num_sge, r->offset, qp->buffer, n)) {
		fail(qp, IB_WC_LOC_PROT_ERR);
		return false;
	}
	if (!simhca_rc_send(qp, opcode_at(s, first, last), r->psn, ack,
			    last && (s->flags & IB_SEND_SOLICITED), headers, extended, qp->buffer, n)) {
		wait_for_timer(qp, SIMHCA_ROOM_AFTER);
		return false;
	}
	r->offset += n;
	return true;
}

static void number(struct simhca_qp *qp, struct simhca_send *s)
{
	if (s->started)
		return;
	s->started = true;
	s->first_psn = qp->req.psn;
	s->last_psn = psn_add(s->first_psn, simhca_rc_packets(qp, s->length) - 1);
}

static void advance_psn(struct simhca_requester *r, u32 n)
{
	r->psn = psn_add(r->psn, n);
	if (psn_after(r->psn, r->sent_psn) > 0)
		r->sent_psn = r->psn;
}

static void next_request(struct simhca_requester *r)
{
	r->next++;
	r->offset = 0;
}

static bool may_send(const struct simhca_qp *qp, const struct simhca_send *s)
{
	const struct simhca_requester *r = &qp->req;
	unsigned int reads_max = clamp_t(unsigned int, qp->attr.max_rd_atomic, 1, SIMHCA_READS_MAX);

	/* Requests before a fenced invalidation may have to be repeated from the region. */
	if (s->opcode == IB_WR_LOCAL_INV && (s->flags & IB_SEND_FENCE))
		return r->tail == r->next;
	if (psn_after(r->psn, r->acked_psn) >= WINDOW && !is_local(s))
		return false;
	if (!is_read(s) && !(s->flags & IB_SEND_FENCE))
		return true;
	return reads_under_way(r) < ((s->flags & IB_SEND_FENCE) ? 1 : reads_max);
}

/* One packet, or one local operation; false: no more for now. */
static bool step(struct simhca_qp *qp)
{
	struct simhca_requester *r = &qp->req;
	struct simhca_send *s = send_at(r, r->next);

	if (!may_send(qp, s))
		return false;
	if (is_local(s)) {
		execute(qp, s);
		next_request(r);
		return true;
	}
	number(qp, s);
	if (is_read(s)) {
		if (!s->done && !send_read(qp, s)) {
			wait_for_timer(qp, SIMHCA_ROOM_AFTER);
			return false;
		}
		r->psn = s->first_psn;
		advance_psn(r, simhca_rc_packets(qp, s->length));
		next_request(r);
		return true;
	}
	if (!send_piece(qp, s))
		return false;
	advance_psn(r, 1);
	if (r->offset == s->length)
		next_request(r);
	return true;
}

void simhca_rc_transmit(struct simhca_qp *qp)
{
	struct simhca_requester *r = &qp->req;

	while (qp->state == IB_QPS_RTS && !r->waits && r->next != r->head && step(qp))
		;
	complete_done(qp);
	set_timer(qp);
}

/* --- acknowledgements --- */

/* Goes back so that the packet with acked_psn is the next. */
static void go_back(struct simhca_qp *qp)
{
	struct simhca_requester *r = &qp->req;
	u32 psn = r->acked_psn, i;

	for (i = r->tail; i != r->head; i++) {
		const struct simhca_send *s = send_at(r, i);

		if (!s->started || (!is_local(s) && psn_after(s->last_psn, psn) >= 0))
			break;
	}
	r->next = i;
	r->offset = 0;
	r->psn = psn;
	if (i != r->head && send_at(r, i)->started && !is_read(send_at(r, i)))
		r->offset = psn_after(psn, send_at(r, i)->first_psn) * simhca_rc_mtu(qp);
}

/* The oldest read whose answer has not come whole; NULL: none is under way. */
static struct simhca_send *oldest_read(const struct simhca_requester *r)
{
	for (u32 i = r->tail; i != r->head; i++) {
		struct simhca_send *s = send_at(r, i);

		if (is_read(s) && s->started && !s->done)
			return s;
	}
	return NULL;
}

/* Where acknowledging stops: the first packet of a read's answer that has not come. */
static u32 limit_of_reads(const struct simhca_qp *qp, u32 psn)
{
	const struct simhca_send *s = oldest_read(&qp->req);

	if (!s || psn_after(psn, wanted_psn(qp, s)) <= 0)
		return psn;
	return wanted_psn(qp, s);
}

/* Packets before psn have arrived. */
static void acknowledge(struct simhca_qp *qp, u32 psn)
{
	struct simhca_requester *r = &qp->req;

	if (psn_after(psn, r->acked_psn) <= 0)
		return;
	r->acked_psn = psn;
	r->retries = r->rnr_retries = 0;
	if (psn_after(psn, r->psn) > 0)
		go_back(qp);		/* what is about to be repeated has arrived */
	complete_done(qp);
}

/* False: that was one repetition too many. */
static bool repeat(struct simhca_qp *qp)
{
	if (qp->req.retries++ >= qp->attr.retry_cnt) {
		fail(qp, IB_WC_RETRY_EXC_ERR);
		return false;
	}
	go_back(qp);
	return true;
}

/* Repeats, but only once for all that shows the same gap in the answers of reads. */
static void repeat_once(struct simhca_qp *qp)
{
	if (qp->req.repeating)
		return;
	qp->req.repeating = true;
	repeat(qp);
}

/* Milliseconds by RNR NAK timer code (9.7.5.2.8), rounded up. */
static unsigned int rnr_ms(u8 code)
{
	if (code == 0)
		return 656;
	return code < 12 ? 1 : ((code % 2 ? 3u : 2u) << (code - 12) / 2) * 8 / 25 + 1;
}

static void take_rnr_nak(struct simhca_qp *qp, u8 code)
{
	struct simhca_requester *r = &qp->req;

	if (qp->attr.rnr_retry != RNR_FOREVER && r->rnr_retries++ >= qp->attr.rnr_retry) {
		fail(qp, IB_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	go_back(qp);
	wait_for_timer(qp, msecs_to_jiffies(rnr_ms(code)) + 1);
}

static void take_nak(struct simhca_qp *qp, u8 code)
{
	switch (code) {
	case NAK_SEQUENCE:
		repeat(qp);
		break;
	case NAK_REMOTE_ACCESS:
		fail(qp, IB_WC_REM_ACCESS_ERR);
		break;
	case NAK_REMOTE_OPERATION:
		fail(qp, IB_WC_REM_OP_ERR);
		break;
	default:
		fail(qp, IB_WC_REM_INV_REQ_ERR);
	}
}

void simhca_rc_take_ack(struct simhca_qp *qp, const struct simhca_packet *p)
{
	struct simhca_requester *r = &qp->req;
	u32 acked, limit;
	bool fatal;
	u8 syndrome;

	if (p->length < SIMHCA_AETH_BYTES || psn_after(p->psn, r->sent_psn) >= 0 ||
	    psn_after(p->psn, r->acked_psn) < 0)
		return;		/* of a packet that was never sent, or is acknowledged already */
	syndrome = p->data[0];
	acked = syndrome >> 5 == AETH_ACK ? psn_add(p->psn, 1) : p->psn;
	limit = limit_of_reads(qp, acked);
	acknowledge(qp, limit);
	fatal = syndrome >> 5 == AETH_NAK && (syndrome & 0x1f) != NAK_SEQUENCE;
	if (limit != acked && !fatal)
		repeat_once(qp);	/* answers of a read are lost: an ACK overtook them */
	else if (syndrome >> 5 == AETH_RNR_NAK)
		take_rnr_nak(qp, syndrome & 0x1f);
	else if (syndrome >> 5 == AETH_NAK)
		take_nak(qp, syndrome & 0x1f);
	simhca_rc_transmit(qp);
}

static void take_read_data(struct simhca_qp *qp, struct simhca_send *s, const u8 *data, u32 n)
{
	struct simhca_requester *r = &qp->req;

	if (n != min(simhca_rc_mtu(qp), s->length - s->got)) {
		fail(qp, IB_WC_BAD_RESP_ERR);
		return;
	}
	if (!simhca_scatter(qp, s->sge, s->num_sge, s->got, data, n)) {
		fail(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	r->repeating = false;
	s->got += n;
	s->done = s->got == s->length;
	acknowledge(qp, s->done ? psn_add(s->last_psn, 1) : wanted_psn(qp, s));
}

void simhca_rc_take_read_response(struct simhca_qp *qp, const struct simhca_packet *p)
{
	struct simhca_requester *r = &qp->req;
	struct simhca_send *s = oldest_read(r);
	u32 aeth = p->opcode == IB_OPCODE_RC_RDMA_READ_RESPONSE_MIDDLE ? 0 : SIMHCA_AETH_BYTES;
	s32 gap;

	if (!s || p->length < aeth || psn_after(p->psn, r->sent_psn) >= 0)
		return;
	gap = psn_after(p->psn, wanted_psn(qp, s));
	if (gap == 0) {
		acknowledge(qp, p->psn);
		take_read_data(qp, s, p->data + aeth, p->length - aeth);
	} else if (gap > 0) {
		repeat_once(qp);
	}
	simhca_rc_transmit(qp);
}

void simhca_rc_timer(struct work_struct *work)
{
	struct simhca_qp *qp = container_of(work, struct simhca_qp, req.timer.work);
	struct simhca_requester *r = &qp->req;
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	if (time_before(jiffies, r->deadline)) {
		/* an ACK has set the timer anew while this waited for the lock */
	} else if (r->waits) {
		r->waits = false;
		simhca_rc_transmit(qp);
	} else if (qp->state == IB_QPS_RTS && r->acked_psn != r->sent_psn) {
		r->repeating = false;
		if (repeat(qp))
			simhca_rc_transmit(qp);
	}
	spin_unlock_irqrestore(&qp->lock, flags);
}
