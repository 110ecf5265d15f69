/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Provides the part of libibverbs that srp_daemon needs to start.
 *
 * Devices can be opened, and queried for ports and P_Keys.  Nothing ever arrives on queue pairs,
 * and posting a send fails.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "preload.h"

/* also define functions of these names, for programs built with older headers */
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

struct context {
	struct ibv_context c;		/* first member: the program has a pointer to it */
	struct ibv_device device;
	unsigned ca;
};

static unsigned ca_of(const struct ibv_context *c)
{
	return ((const struct context *)(const void *)c)->ca;
}

/* --- devices --- */

/* The list and the devices that it points to are one block. */
struct ibv_device **ibv_get_device_list(int *num_devices)
{
	char names[SIM_CAS_MAX][UMAD_CA_NAME_LEN];
	int n = umad_get_cas_names(names, SIM_CAS_MAX);
	struct ibv_device **list = calloc(1, (size_t)(n + 1) * sizeof(*list) +
					     (size_t)n * sizeof(**list));
	struct ibv_device *devices = (void *)(list + n + 1);

	if (num_devices)
		*num_devices = list ? n : 0;
	for (int i = 0; list && i < n; i++) {
		list[i] = &devices[i];
		devices[i].node_type = IBV_NODE_CA;
		devices[i].transport_type = IBV_TRANSPORT_IB;
		memcpy(devices[i].name, names[i], sizeof(names[i]));
	}
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

static int nothing_comes(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	(void)cq;
	(void)num_entries;
	(void)wc;
	return 0;
}

static int notify_never(struct ibv_cq *cq, int solicited_only)
{
	(void)cq;
	(void)solicited_only;
	return 0;
}

static int refuse_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	(void)qp;
	*bad_wr = wr;
	return EOPNOTSUPP;
}

static int accept_buffer(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)qp;
	(void)wr;
	(void)bad_wr;
	return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	int ca = ca_by_name(device->name);
	struct context *c = ca < 0 ? NULL : calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->ca = (unsigned)ca;
	c->device = *device;
	c->c.device = &c->device;
	c->c.cmd_fd = c->c.async_fd = -1;
	c->c.ops.poll_cq = nothing_comes;
	c->c.ops.req_notify_cq = notify_never;
	c->c.ops.post_send = refuse_send;
	c->c.ops.post_recv = accept_buffer;
	return &c->c;
}

int ibv_close_device(struct ibv_context *context)
{
	free(context);
	return 0;
}

/* These devices have no events. */
int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	(void)context;
	(void)event;
	pause();
	return -1;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}

/* --- ports --- */

int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *port_attr)
{
	struct ibv_port_attr *p = (void *)port_attr;
	struct sim_answer a;
	int r = ask_port(ca_of(context), port_num, &a);

	if (r)
		return -r;
	p->state = (enum ibv_port_state)a.port.state;
	p->phys_state = (uint8_t)a.port.phys_state;
	p->max_mtu = p->active_mtu = IBV_MTU_2048;
	p->gid_tbl_len = 1;
	p->pkey_tbl_len = (uint16_t)a.port.n_pkeys;
	p->port_cap_flags = a.port.capmask;
	p->lid = (uint16_t)a.port.base_lid;
	p->sm_lid = (uint16_t)a.port.sm_lid;
	p->lmc = (uint8_t)a.port.lmc;
	p->sm_sl = (uint8_t)a.port.sm_sl;
	p->link_layer = IBV_LINK_LAYER_INFINIBAND;
	return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	struct sim_answer a;

	if (index < 0 || ask_port(ca_of(context), port_num, &a) ||
	    (unsigned)index >= a.port.n_pkeys)
		return -1;
	*pkey = htobe16(a.port.pkeys[index]);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	struct sim_answer a;

	if (ask_port(ca_of(context), port_num, &a))
		return -1;
	for (unsigned i = 0; i < a.port.n_pkeys; i++)
		if (a.port.pkeys[i] == be16toh(pkey))
			return (int)i;
	return -1;
}

/* --- objects on a device: only the members that programs look at --- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *c = calloc(1, sizeof(*c));

	if (c) {
		c->context = context;
		c->fd = -1;
	}
	return c;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	(void)channel;
	(void)cq;
	(void)cq_context;
	pause();
	return -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	(void)cq;
	(void)nevents;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	if (pd)
		pd->context = context;
	return pd;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr = calloc(1, sizeof(*mr));

	(void)access;
	if (mr) {
		mr->context = pd->context;
		mr->pd = pd;
		mr->addr = addr;
		mr->length = length;
	}
	return mr;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct ibv_cq *cq = calloc(1, sizeof(*cq));

	(void)comp_vector;
	if (cq) {
		cq->context = context;
		cq->channel = channel;
		cq->cq_context = cq_context;
		cq->cqe = cqe;
	}
	return cq;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = calloc(1, sizeof(*qp));

	if (qp) {
		qp->context = pd->context;
		qp->pd = pd;
		qp->send_cq = attr->send_cq;
		qp->recv_cq = attr->recv_cq;
		qp->qp_type = attr->qp_type;
	}
	return qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	if (attr_mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah = calloc(1, sizeof(*ah));

	(void)attr;
	if (ah) {
		ah->context = pd->context;
		ah->pd = pd;
	}
	return ah;
}

/* Each is one piece of memory. */
#define ENDED_BY(name, type) int name(struct type *object) { free(object); return 0; }
ENDED_BY(ibv_destroy_comp_channel, ibv_comp_channel)
ENDED_BY(ibv_dealloc_pd, ibv_pd)
ENDED_BY(ibv_dereg_mr, ibv_mr)
ENDED_BY(ibv_destroy_cq, ibv_cq)
ENDED_BY(ibv_destroy_qp, ibv_qp)
ENDED_BY(ibv_destroy_ah, ibv_ah)
