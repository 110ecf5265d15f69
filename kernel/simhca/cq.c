// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Completion queues. */
#include <linux/bottom_half.h>
#include <linux/version.h>

#include "simhca.h"

/* Completion handlers may start NAPI (IPoIB), which wants bottom halves off. */
static void notify(struct work_struct *work)
{
	struct simhca_cq *cq = container_of(work, struct simhca_cq, work);

	local_bh_disable();
	cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	local_bh_enable();
}

void simhca_complete(struct simhca_cq *cq, const struct ib_wc *wc, bool solicited)
{
	unsigned long flags;
	bool wake;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->head - cq->tail < cq->size)
		cq->wc[cq->head++ % cq->size] = *wc;
	else
		dev_err_ratelimited(&cq->dev->pdev->dev, "a completion queue overran\n");
	wake = cq->armed || (cq->armed_solicited && (solicited || wc->status));
	if (wake)
		cq->armed = cq->armed_solicited = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (wake)
		queue_work(cq->dev->wq, &cq->work);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *a, struct uverbs_attr_bundle *u)
#else
static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *a, struct ib_udata *u)
#endif
{
	struct simhca_cq *cq = to_cq(ibcq);

	if (a->flags || a->cqe < 1)
		return -EOPNOTSUPP;
	cq->dev = to_dev(ibcq->device);
	cq->size = roundup_pow_of_two(a->cqe);	/* counters wrap at 2^32 */
	cq->wc = kvcalloc(cq->size, sizeof(*cq->wc), GFP_KERNEL);
	if (!cq->wc)
		return -ENOMEM;
	spin_lock_init(&cq->lock);
	INIT_WORK(&cq->work, notify);
	ibcq->cqe = a->cqe;
	return 0;
}

static int destroy_cq(struct ib_cq *ibcq, struct ib_udata *u)
{
	struct simhca_cq *cq = to_cq(ibcq);

	cancel_work_sync(&cq->work);
	/* ib_free_cq() has done that before, but our work may have queued its work again meanwhile */
	if (ibcq->poll_ctx == IB_POLL_WORKQUEUE || ibcq->poll_ctx == IB_POLL_UNBOUND_WORKQUEUE)
		cancel_work_sync(&ibcq->work);
	kvfree(cq->wc);
	return 0;
}

static int poll_cq(struct ib_cq *ibcq, int max, struct ib_wc *wc)
{
	struct simhca_cq *cq = to_cq(ibcq);
	unsigned long flags;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < max && cq->tail != cq->head)
		wc[n++] = cq->wc[cq->tail++ % cq->size];
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

static int req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct simhca_cq *cq = to_cq(ibcq);
	unsigned long irq;
	bool missed;

	spin_lock_irqsave(&cq->lock, irq);
	if ((flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED)
		cq->armed_solicited = true;
	else
		cq->armed = true;
	missed = cq->head != cq->tail;
	spin_unlock_irqrestore(&cq->lock, irq);
	return (flags & IB_CQ_REPORT_MISSED_EVENTS) && missed;
}

const struct ib_device_ops simhca_cq_ops = {
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.poll_cq = poll_cq,
	.req_notify_cq = req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, simhca_cq, ibcq),
};
