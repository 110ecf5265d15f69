// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Queue pairs: creation, states, receive queues, multicast groups. */
#include <rdma/ib_cache.h>

#include "simhca.h"

#define FIRST_QPN 0x40
#define LAST_QPN 0xfffffe

struct member {			/* a queue pair in a multicast group */
	struct list_head list;
	union ib_gid gid;
	struct simhca_qp *qp;
};

static bool is_special(enum ib_qp_type type)
{
	return type == IB_QPT_SMI || type == IB_QPT_GSI;
}

static bool is_rc(const struct simhca_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_RC;
}

struct simhca_qp *simhca_find_qp(struct simhca_dev *d, u32 port, u32 qpn)
{
	struct simhca_qp *qp;

	if (qpn < 2)
		return READ_ONCE(port_of(d, port)->special[qpn]);
	qp = xa_load(&d->qps, qpn);
	return qp && qp->port == port ? qp : NULL;
}

/* --- receive queue --- */

static struct simhca_recv *recv_at(const struct simhca_qp *qp, u32 n)
{
	return (struct simhca_recv *)(qp->recv_queue + (size_t)(n % qp->recv_size) * qp->recv_stride);
}

struct simhca_recv *simhca_take_recv(struct simhca_qp *qp)
{
	return qp->recv_tail == qp->recv_head ? NULL : recv_at(qp, qp->recv_tail++);
}

static void complete_recv(struct simhca_qp *qp, u64 wr_id, enum ib_wc_status status)
{
	struct ib_wc wc = {
		.wr_id = wr_id, .qp = &qp->ibqp, .opcode = IB_WC_RECV, .status = status,
	};

	simhca_complete(to_cq(qp->ibqp.recv_cq), &wc, true);
}

static void flush_recv(struct simhca_qp *qp)
{
	struct simhca_recv *r;

	while ((r = simhca_take_recv(qp)))
		complete_recv(qp, r->wr_id, IB_WC_WR_FLUSH_ERR);
}

static int post_one_recv(struct simhca_qp *qp, const struct ib_recv_wr *wr)
{
	struct simhca_recv *r;

	if (qp->recv_head - qp->recv_tail >= qp->cap.max_recv_wr)
		return -ENOMEM;
	if (wr->num_sge < 0 || wr->num_sge > qp->cap.max_recv_sge)
		return -EINVAL;
	r = recv_at(qp, qp->recv_head++);
	r->wr_id = wr->wr_id;
	r->num_sge = wr->num_sge;
	memcpy(r->sge, wr->sg_list, wr->num_sge * sizeof(*r->sge));
	return 0;
}

static int post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct simhca_qp *qp = to_qp(ibqp);
	unsigned long flags;
	int r = 0;

	spin_lock_irqsave(&qp->lock, flags);
	for (; wr && !r; wr = wr->next) {
		r = post_one_recv(qp, wr);
		if (r)
			*bad = wr;
	}
	if (qp->state == IB_QPS_ERR)
		flush_recv(qp);
	spin_unlock_irqrestore(&qp->lock, flags);
	return r;
}

/* --- send queue --- */

static int post_datagrams(struct simhca_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	int r = 0;

	for (; wr && !r; wr = wr->next) {
		r = wr->num_sge > qp->cap.max_send_sge ? -EINVAL : simhca_ud_send(qp, wr);
		if (r)
			*bad = wr;
	}
	return r;
}

static int post_connected(struct simhca_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	unsigned long flags;
	int r = 0;

	spin_lock_irqsave(&qp->lock, flags);
	for (; wr && !r; wr = wr->next) {
		r = simhca_rc_post(qp, wr);
		if (r)
			*bad = wr;
	}
	if (qp->state == IB_QPS_ERR)
		simhca_rc_flush(qp, IB_WC_WR_FLUSH_ERR);
	else
		simhca_rc_transmit(qp);
	spin_unlock_irqrestore(&qp->lock, flags);
	return r;
}

static int post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct simhca_qp *qp = to_qp(ibqp);

	if (qp->state < IB_QPS_RTS) {
		*bad = wr;
		return -EINVAL;
	}
	return is_rc(qp) ? post_connected(qp, wr, bad) : post_datagrams(qp, wr, bad);
}

/* --- creation and end --- */

static int number_qp(struct simhca_qp *qp, const struct ib_qp_init_attr *a)
{
	struct simhca_dev *d = qp->dev;
	u32 qpn;
	int r;

	if (is_special(a->qp_type)) {
		qp->ibqp.qp_num = a->qp_type == IB_QPT_GSI;
		qp->port = a->port_num;
		WRITE_ONCE(port_of(d, qp->port)->special[qp->ibqp.qp_num], qp);
		return 0;
	}
	/* first without the queue pair, which packets must not find before it has its number */
	r = xa_alloc_cyclic(&d->qps, &qpn, NULL, XA_LIMIT(FIRST_QPN, LAST_QPN), &d->next_qpn, GFP_KERNEL);
	if (r < 0)
		return r;
	qp->ibqp.qp_num = qpn;
	xa_store(&d->qps, qpn, qp, GFP_KERNEL);
	return 0;
}

static bool can_create(struct simhca_dev *d, const struct ib_qp_init_attr *a)
{
	if (a->create_flags & ~(IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | IB_QP_CREATE_NETDEV_USE))
		return false;
	if (is_special(a->qp_type))
		return a->port_num >= 1 && a->port_num <= d->n_ports;
	return (a->qp_type == IB_QPT_UD || a->qp_type == IB_QPT_RC) && !a->srq;
}

static int create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *a, struct ib_udata *u)
{
	struct simhca_qp *qp = to_qp(ibqp);
	int r;

	qp->dev = to_dev(ibqp->device);
	if (!can_create(qp->dev, a))
		return -EOPNOTSUPP;
	if (a->cap.max_send_sge > SIMHCA_SGE_MAX || a->cap.max_recv_sge > SIMHCA_SGE_MAX ||
	    a->cap.max_send_wr > SIMHCA_WR_MAX || a->cap.max_recv_wr > SIMHCA_WR_MAX)
		return -EINVAL;
	a->cap.max_inline_data = 0;
	spin_lock_init(&qp->lock);
	qp->cap = a->cap;
	qp->all_signaled = a->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->no_loopback = a->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	qp->recv_size = roundup_pow_of_two(a->cap.max_recv_wr + 1);	/* counters wrap at 2^32 */
	qp->recv_stride = struct_size((struct simhca_recv *)0, sge, a->cap.max_recv_sge);
	qp->recv_queue = kvcalloc(qp->recv_size, qp->recv_stride, GFP_KERNEL);
	if (!qp->recv_queue)
		return -ENOMEM;
	r = a->qp_type == IB_QPT_RC ? simhca_rc_init(qp) : 0;
	if (!r)
		r = number_qp(qp, a);
	if (r) {
		simhca_rc_free(qp);
		kvfree(qp->recv_queue);
	}
	return r;
}

static void leave_groups(struct simhca_qp *qp)
{
	struct simhca_dev *d = qp->dev;
	struct member *m, *next;

	spin_lock_irq(&d->mcast_lock);
	list_for_each_entry_safe(m, next, &d->mcast, list) {
		if (m->qp == qp) {
			list_del(&m->list);
			kfree(m);
		}
	}
	spin_unlock_irq(&d->mcast_lock);
}

static int destroy_qp(struct ib_qp *ibqp, struct ib_udata *u)
{
	struct simhca_qp *qp = to_qp(ibqp);

	leave_groups(qp);
	if (is_special(ibqp->qp_type))
		WRITE_ONCE(port_of(qp->dev, qp->port)->special[ibqp->qp_num], NULL);
	else
		xa_erase(&qp->dev->qps, ibqp->qp_num);
	flush_work(&qp->dev->receive_work);	/* nobody who found it is still at it */
	simhca_rc_free(qp);
	kvfree(qp->recv_queue);
	return 0;
}

/* --- states --- */

void simhca_qp_error(struct simhca_qp *qp)
{
	qp->state = IB_QPS_ERR;
	if (is_rc(qp)) {
		if (qp->resp.recv)
			complete_recv(qp, qp->resp.recv->wr_id, qp->resp.recv_status ?: IB_WC_WR_FLUSH_ERR);
		qp->resp.recv = NULL;
		simhca_rc_flush(qp, IB_WC_WR_FLUSH_ERR);
	}
	flush_recv(qp);
}

static void reset(struct simhca_qp *qp)
{
	qp->recv_tail = qp->recv_head;
	if (is_rc(qp))
		simhca_rc_reset(qp);
}

static void take_attributes(struct simhca_qp *qp, const struct ib_qp_attr *a, int mask)
{
	if (mask & IB_QP_QKEY)
		qp->qkey = a->qkey;
	if (mask & IB_QP_PKEY_INDEX)
		qp->pkey_index = a->pkey_index;
	if (mask & IB_QP_PORT)
		qp->port = a->port_num;
	if (mask & IB_QP_SQ_PSN)
		qp->psn = qp->attr.sq_psn = a->sq_psn;
	if (mask & IB_QP_RQ_PSN)
		qp->attr.rq_psn = a->rq_psn;
	if (mask & IB_QP_AV) {
		qp->attr.ah_attr = a->ah_attr;
		qp->attr.ah_attr.grh.sgid_attr = NULL;	/* the caller's reference */
	}
	if (mask & IB_QP_PATH_MTU)
		qp->attr.path_mtu = a->path_mtu;
	if (mask & IB_QP_DEST_QPN)
		qp->attr.dest_qp_num = a->dest_qp_num;
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->attr.qp_access_flags = a->qp_access_flags;
	if (mask & IB_QP_TIMEOUT)
		qp->attr.timeout = a->timeout;
	if (mask & IB_QP_RETRY_CNT)
		qp->attr.retry_cnt = a->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		qp->attr.rnr_retry = a->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		qp->attr.min_rnr_timer = a->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		qp->attr.max_rd_atomic = a->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		qp->attr.max_dest_rd_atomic = a->max_dest_rd_atomic;
}

static bool valid(const struct simhca_qp *qp, const struct ib_qp_attr *a, int mask)
{
	const struct simhca_dev *d = qp->dev;

	if ((mask & IB_QP_PORT) && (a->port_num < 1 || a->port_num > d->n_ports))
		return false;
	if ((mask & IB_QP_PKEY_INDEX) && a->pkey_index >= d->pkey_cap)
		return false;
	if ((mask & IB_QP_AV) && rdma_ah_get_port_num(&a->ah_attr) != qp->port)
		return false;
	if ((mask & IB_QP_CUR_STATE) && a->cur_qp_state != qp->state)
		return false;
	/* it comes from the peer; QP0 and QP1 take datagrams only */
	if ((mask & IB_QP_DEST_QPN) && (a->dest_qp_num < 2 || a->dest_qp_num > LAST_QPN))
		return false;
	if ((mask & IB_QP_PATH_MTU) && (a->path_mtu < IB_MTU_256 || a->path_mtu > IB_MTU_4096))
		return false;
	return !(mask & (IB_QP_ALT_PATH | IB_QP_RATE_LIMIT));
}

static int modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *a, int mask, struct ib_udata *u)
{
	struct simhca_qp *qp = to_qp(ibqp);
	enum ib_qp_state from, to;
	unsigned long flags;
	int r = -EINVAL;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&qp->lock, flags);
	from = mask & IB_QP_CUR_STATE ? a->cur_qp_state : qp->state;
	to = mask & IB_QP_STATE ? a->qp_state : from;
	if (ib_modify_qp_is_ok(from, to, ibqp->qp_type, mask) && valid(qp, a, mask)) {
		take_attributes(qp, a, mask);
		qp->state = to;
		if (is_rc(qp))
			simhca_rc_modified(qp, mask);
		if (to == IB_QPS_ERR)
			simhca_qp_error(qp);
		else if (to == IB_QPS_RESET)
			reset(qp);
		else if (is_rc(qp))
			simhca_rc_transmit(qp);
		r = 0;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	return r;
}

static int query_qp(struct ib_qp *ibqp, struct ib_qp_attr *a, int mask, struct ib_qp_init_attr *init)
{
	struct simhca_qp *qp = to_qp(ibqp);

	*a = qp->attr;
	a->qp_state = a->cur_qp_state = qp->state;
	a->qkey = qp->qkey;
	a->pkey_index = qp->pkey_index;
	a->port_num = qp->port;
	a->cap = init->cap = qp->cap;
	a->path_mig_state = IB_MIG_MIGRATED;
	init->qp_type = ibqp->qp_type;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->sq_sig_type = qp->all_signaled ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	return 0;
}

/* --- multicast --- */

static struct member *find_member(struct simhca_dev *d, const struct simhca_qp *qp, const union ib_gid *gid)
{
	struct member *m;

	list_for_each_entry(m, &d->mcast, list)
		if (m->qp == qp && !memcmp(&m->gid, gid, sizeof(*gid)))
			return m;
	return NULL;
}

static int attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct simhca_dev *d = to_dev(ibqp->device);
	struct member *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return -ENOMEM;
	m->gid = *gid;
	m->qp = to_qp(ibqp);
	spin_lock_irq(&d->mcast_lock);
	if (!find_member(d, m->qp, gid)) {
		list_add_tail(&m->list, &d->mcast);
		m = NULL;
	}
	spin_unlock_irq(&d->mcast_lock);
	kfree(m);
	return 0;
}

static int detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct simhca_dev *d = to_dev(ibqp->device);
	struct member *m;

	spin_lock_irq(&d->mcast_lock);
	m = find_member(d, to_qp(ibqp), gid);
	if (m)
		list_del(&m->list);
	spin_unlock_irq(&d->mcast_lock);
	kfree(m);
	return m ? 0 : -EINVAL;
}

void simhca_to_group(struct simhca_dev *d, u32 port, const struct simhca_packet *p, u32 but_qpn)
{
	unsigned long flags;
	struct member *m;

	spin_lock_irqsave(&d->mcast_lock, flags);
	list_for_each_entry(m, &d->mcast, list)
		if (m->qp->port == port && m->qp->ibqp.qp_num != but_qpn &&
		    !memcmp(&m->gid, &p->dgid, sizeof(m->gid)))
			simhca_ud_receive(m->qp, p);
	spin_unlock_irqrestore(&d->mcast_lock, flags);
}

const struct ib_device_ops simhca_qp_ops = {
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.query_qp = query_qp,
	.destroy_qp = destroy_qp,
	.post_send = post_send,
	.post_recv = post_recv,
	.attach_mcast = attach_mcast,
	.detach_mcast = detach_mcast,

	INIT_RDMA_OBJ_SIZE(ib_qp, simhca_qp, ibqp),
};
