// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rctest: reliable connections between two HCAs of this machine, for tests of their driver.
 *
 * Linux's own users of reliable connections make none of the mistakes whose results are to be seen here, and
 * keep most events to themselves.  Loading the module connects port 1 of the first two HCAs, a pair of queue
 * pairs for each case, and logs what both sides hear; the test judges that.  No CM takes part.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#define pr_line(...) pr_info("rctest: " __VA_ARGS__)

#define WITHIN_MS 20000		/* until requests complete; emulated machines are slow */
#define SETTLE_MS 200		/* for an event that must not come */
#define FIRST_PSN 0xfffff0	/* PSNs begin anew within each connection */
#define REQUESTS 8		/* in each queue */
#define READ_PACKETS 65		/* one more than the responder answers without a pause */
#define ROUNDS 20		/* of what depends on how the two HCAs' work meets */
#define MTU IB_MTU_2048		/* so that no ring overflows, which would lose packets */

struct request {
	struct ib_cqe cqe;
	bool done;
	enum ib_wc_status status;
};

struct side {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	u16 lid;
	void *buffer;
	u64 address;		/* of it, to the device */
	atomic_t established;	/* IB_EVENT_COMM_EST, how often */
	struct request sends[REQUESTS], receives[REQUESTS];
	unsigned int n_sends, n_receives;
};

static struct side sides[2];
static struct side *const requester = &sides[0], *const responder = &sides[1];
static u32 buffer_size;

/* --- what they hear --- */

static void on_event(struct ib_event *e, void *context)
{
	struct side *s = context;

	if (e->event == IB_EVENT_COMM_EST && e->element.qp == s->qp)
		atomic_inc(&s->established);
}

static void on_completion(struct ib_cq *cq, struct ib_wc *wc)
{
	struct request *r = container_of(wc->wr_cqe, struct request, cqe);

	r->status = wc->status;
	r->done = true;
}

static bool all_done(struct side *s)
{
	ib_process_cq_direct(s->cq, -1);
	for (unsigned int i = 0; i < s->n_sends; i++)
		if (!s->sends[i].done)
			return false;
	for (unsigned int i = 0; i < s->n_receives; i++)
		if (!s->receives[i].done)
			return false;
	return true;
}

static void wait_for_all(void)
{
	for (int ms = 0; ms < WITHIN_MS; ms += 5) {
		bool done = all_done(requester);

		if (all_done(responder) && done)
			return;
		msleep(5);
	}
}

static const char *status_of(const struct request *r)
{
	return r->done ? ib_wc_status_msg(r->status) : "no completion";
}

/* --- connections --- */

static int make_qp(struct side *s)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .send_cq = s->cq, .recv_cq = s->cq, .sq_sig_type = IB_SIGNAL_ALL_WR,
		.event_handler = on_event, .qp_context = s,
		.cap = { .max_send_wr = REQUESTS, .max_recv_wr = REQUESTS, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	s->qp = ib_create_qp(s->pd, &init);
	if (IS_ERR(s->qp))
		return PTR_ERR(s->qp);
	atomic_set(&s->established, 0);
	memset(s->sends, 0, sizeof(s->sends));
	memset(s->receives, 0, sizeof(s->receives));
	s->n_sends = s->n_receives = 0;
	return 0;
}

static int to_rtr(struct side *s, const struct side *peer)
{
	struct ib_qp_attr a = {
		.qp_state = IB_QPS_INIT, .port_num = 1, .qp_access_flags = IB_ACCESS_REMOTE_READ,
	};
	int r = ib_modify_qp(s->qp, &a, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);

	if (r)
		return r;
	a = (struct ib_qp_attr) {
		.qp_state = IB_QPS_RTR, .path_mtu = MTU, .dest_qp_num = peer->qp->qp_num,
		.rq_psn = FIRST_PSN, .max_dest_rd_atomic = 1, .min_rnr_timer = 1,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};
	rdma_ah_set_port_num(&a.ah_attr, 1);
	rdma_ah_set_dlid(&a.ah_attr, peer->lid);
	return ib_modify_qp(s->qp, &a, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			    IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
}

static int to_rts(struct side *s)
{
	struct ib_qp_attr a = {
		.qp_state = IB_QPS_RTS, .sq_psn = FIRST_PSN, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	return ib_modify_qp(s->qp, &a, IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC);
}

static void end_qp(struct side *s)
{
	if (!IS_ERR_OR_NULL(s->qp))
		ib_destroy_qp(s->qp);
	s->qp = NULL;
}

static void disconnect(void)
{
	end_qp(requester);
	end_qp(responder);
	ib_process_cq_direct(requester->cq, -1);
	ib_process_cq_direct(responder->cq, -1);
}

/* The responder stays in RTR. */
static int connect_both(void)
{
	int r = make_qp(requester);

	if (!r)
		r = make_qp(responder);
	if (!r)
		r = to_rtr(requester, responder);
	if (!r)
		r = to_rtr(responder, requester);
	return r ? r : to_rts(requester);
}

static int post_recv(struct side *s, u32 length, u32 lkey)
{
	struct ib_sge sge = { .addr = s->address, .length = length, .lkey = lkey };
	struct request *r = &s->receives[s->n_receives++];
	struct ib_recv_wr wr = { .wr_cqe = &r->cqe, .sg_list = &sge, .num_sge = 1 };

	r->cqe.done = on_completion;
	return ib_post_recv(s->qp, &wr, NULL);
}

static int post_send(struct side *s, const struct side *from, u32 length)
{
	struct ib_sge sge = { .addr = s->address, .length = length, .lkey = s->pd->local_dma_lkey };
	struct request *r = &s->sends[s->n_sends++];
	struct ib_rdma_wr wr = {
		.wr = { .wr_cqe = &r->cqe, .sg_list = &sge, .num_sge = 1,
			.opcode = from ? IB_WR_RDMA_READ : IB_WR_SEND },
		.remote_addr = from ? from->address : 0, .rkey = from ? from->pd->unsafe_global_rkey : 0,
	};

	r->cqe.done = on_completion;
	return ib_post_send(s->qp, &wr.wr, NULL);
}

/* --- cases; each returns 0 or -errno of what could not be tried --- */

static int send_one(void)
{
	int r = post_recv(responder, 100, responder->pd->local_dma_lkey);

	if (!r)
		r = post_send(requester, NULL, 100);
	if (!r)
		wait_for_all();
	return r;
}

static int try_established(void)
{
	int r = send_one();

	if (!r)
		r = send_one();
	if (!r)
		r = to_rts(responder);
	if (!r)
		r = send_one();
	if (r)
		return r;
	msleep(SETTLE_MS);
	pr_line("established: %d times at the requester, %d times at the responder\n",
		atomic_read(&requester->established), atomic_read(&responder->established));
	return 0;
}

/* A message of several packets for a buffer that is too short, or that has no key; another one follows. */
static int try_bad_buffer(const char *name, u32 buffer, u32 key)
{
	int r = post_recv(responder, buffer, key);

	if (!r)
		r = post_recv(responder, buffer, key);
	if (!r)
		r = post_send(requester, NULL, 10000);
	if (!r)
		r = post_send(requester, NULL, 10);
	if (r)
		return r;
	wait_for_all();
	pr_line("%s: sends: %s, %s; receives: %s, %s\n", name, status_of(&requester->sends[0]),
		status_of(&requester->sends[1]), status_of(&responder->receives[0]),
		status_of(&responder->receives[1]));
	return 0;
}

static int try_short(void)
{
	return try_bad_buffer("short buffer", 5000, responder->pd->local_dma_lkey);
}

static int try_no_key(void)
{
	return try_bad_buffer("no key", 10000, 0xabcdef00);
}

static unsigned int reads_done, sends_refused;

/* The same while an RDMA read is being answered. */
static int try_after_read(void)
{
	int r = post_recv(responder, 10, responder->pd->local_dma_lkey);

	if (!r)
		r = post_send(requester, responder, buffer_size);
	if (!r)
		r = post_send(requester, NULL, 100);
	if (r)
		return r;
	wait_for_all();
	reads_done += requester->sends[0].done && requester->sends[0].status == IB_WC_SUCCESS;
	sends_refused += requester->sends[1].done && requester->sends[1].status == IB_WC_REM_INV_REQ_ERR;
	return 0;
}

static int try_one(int (*one)(void))
{
	int r = connect_both();

	if (!r)
		r = one();
	disconnect();
	return r;
}

static int try_all(void)
{
	int r = try_one(try_established);

	if (!r)
		r = try_one(try_short);
	if (!r)
		r = try_one(try_no_key);
	for (int i = 0; i < ROUNDS && !r; i++)
		r = try_one(try_after_read);
	if (!r)
		pr_line("short buffer after a read: %u reads done, %u sends refused, of %d\n", reads_done,
			sends_refused, ROUNDS);
	return r;
}

/* --- start and end --- */

static void close_side(struct side *s)
{
	if (s->address)
		ib_dma_unmap_single(s->dev, s->address, buffer_size, DMA_BIDIRECTIONAL);
	kfree(s->buffer);
	if (!IS_ERR_OR_NULL(s->cq))
		ib_free_cq(s->cq);
	if (!IS_ERR_OR_NULL(s->pd))
		ib_dealloc_pd(s->pd);
}

static int open_side(struct side *s)
{
	struct ib_port_attr port;
	int r = ib_query_port(s->dev, 1, &port);

	if (r)
		return r;
	s->lid = port.lid;
	buffer_size = READ_PACKETS * ib_mtu_enum_to_int(MTU);
	s->pd = ib_alloc_pd(s->dev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(s->pd))
		return PTR_ERR(s->pd);
	s->cq = ib_alloc_cq(s->dev, s, 2 * REQUESTS, 0, IB_POLL_DIRECT);
	if (IS_ERR(s->cq))
		return PTR_ERR(s->cq);
	s->buffer = kzalloc(buffer_size, GFP_KERNEL);
	if (!s->buffer)
		return -ENOMEM;
	s->address = ib_dma_map_single(s->dev, s->buffer, buffer_size, DMA_BIDIRECTIONAL);
	return ib_dma_mapping_error(s->dev, s->address) ? -ENOMEM : 0;
}

static int add_device(struct ib_device *dev)
{
	for (int i = 0; i < ARRAY_SIZE(sides); i++) {
		if (!sides[i].dev) {
			sides[i].dev = dev;
			return 0;
		}
	}
	return -EOPNOTSUPP;	/* one more than is needed */
}

static void remove_device(struct ib_device *dev, void *data)
{
}

static struct ib_client client = { .name = "rctest", .add = add_device, .remove = remove_device };

static int __init rctest_init(void)
{
	int r = ib_register_client(&client);

	if (r)
		return r;
	r = responder->dev ? open_side(requester) : -ENODEV;
	if (!r)
		r = open_side(responder);
	if (!r)
		r = try_all();
	close_side(requester);
	close_side(responder);
	ib_unregister_client(&client);
	return r;
}

static void __exit rctest_exit(void)
{
}

module_init(rctest_init);
module_exit(rctest_exit);

MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Reliable connections for tests of qosd's simulated HCAs");
