/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Performs write() of a umad device.
 *
 * It checks the client's data, makes a packet with the port's own addresses, and sends it.
 */
#include <errno.h>

#include "sim/host/parts.h"
#include "sim/net/fields.h"

/* The reason that keeps a packet from leaving QP1. */
static enum drop_reason blocked(const struct host_file *h, const struct packet *p)
{
	if (p->sqpn == 0)
		return DROP_NONE;
	if (!(p->pkey & 0x7fff))
		return DROP_PKEY;
	if (!is_switch(node_of(h->hosts->s->f, p->from)) &&
	    sim_port_of(h)->state != SIM_PORT_ACTIVE)
		return DROP_PORT_STATE;
	return DROP_NONE;
}

void file_send(struct host_file *h, const struct packet *p)
{
	struct sim *s = h->hosts->s;
	enum drop_reason why = blocked(h, p);

	if (why)
		wire_drop(s, p->from, p, why);
	else
		wire_send(s, p->from, p);
}

static void fill_gids(const struct sim_port *port, const struct ib_user_mad *head,
		      struct packet *p)
{
	p->grh = true;
	memcpy(p->sgid, port->info + PI_GID_PREFIX, 8);
	put_be64(p->sgid + 8, port->guids[head->addr.gid_index]);
	memcpy(p->dgid, head->addr.gid, 16);
	p->hop_limit = head->addr.hop_limit;
	p->traffic_class = head->addr.traffic_class;
	p->flow_label = be32toh(head->addr.flow_label);
}

/* Fills in all but the MAD.  A P_Key index without an entry gives P_Key 0, which never passes. */
static void fill_headers(const struct host_agent *a, const struct ib_user_mad *head,
			 struct packet *p)
{
	const struct sim_port *port = sim_port_of(a->file);
	unsigned bits = head->addr.path_bits & ((1u << port->lmc) - 1);

	*p = (struct packet){
		.from = a->file->port->port,
		.client = a->file->client,
		.dlid = be16toh(head->addr.lid),
		.sqpn = a->qp,
		.dqpn = be32toh(head->addr.qpn),
		.sl = head->addr.sl & 0xf,
	};
	p->slid = p->dlid == SIM_LID_PERMISSIVE ? SIM_LID_PERMISSIVE :
						  (uint16_t)(port->lid | bits);
	if (a->qp == 1) {
		p->qkey = SIM_GSI_QKEY;
		p->pkey = head->addr.pkey_index < port->n_pkeys ?
				  port->pkeys[head->addr.pkey_index] : 0;
	}
	if (head->addr.grh_present)
		fill_gids(port, head, p);
}

/* Whether a directed route cannot begin at this port; the kernel refuses it then (14.2.2.2). */
static bool route_is_wrong(const struct host_file *h, const uint8_t *smp)
{
	unsigned hops = smp[MAD_DR_HOP_CNT];

	if (hops > SIM_HOPS_MAX)
		return true;
	if (get_be16(smp + MAD_STATUS) & MAD_STATUS_DR_D || hops == 0 || smp[MAD_DR_HOP_PTR] != 0)
		return false;
	return get_be16(smp + SMP_DR_SLID) == SIM_LID_PERMISSIVE &&
	       !is_switch(node_of(h->hosts->s->f, h->port->port)) &&
	       smp[SMP_INIT_PATH + 1] != sim_port_of(h)->num;
}

/* Checks the client's data; n is at least RMPP_HEAD. */
static int check(const struct host_agent *a, const struct ib_user_mad *head, const uint8_t *mad,
		 size_t n)
{
	uint8_t mgmt_class = mad[MAD_CLASS];

	if (head->addr.grh_present && head->addr.gid_index >= sim_port_of(a->file)->n_guids)
		return -EINVAL;
	if (a->rmpp && !class_has_rmpp(mgmt_class))
		return -EINVAL;
	if (a->rmpp && rmpp_is_active(mad)) {
		if (n < class_data_offset(mgmt_class))
			return -EINVAL;
		return n > HOST_MESSAGE_MAX ? -ENOMEM : 0;
	}
	return n > SIM_MAD_SIZE ? -EINVAL : 0;
}

static int send_message(struct host_agent *a, const struct ib_user_mad *head,
			const struct packet *p, const uint8_t *mad, size_t n)
{
	struct txn *t = txn_new(a, head, p);

	if (!t)
		return -ENOMEM;
	int err = rmpp_send_start(t, mad, n);
	if (err)
		txn_free(t);
	return err;
}

static int send_mad(struct host_agent *a, const struct ib_user_mad *head, const struct packet *p)
{
	if (head->timeout_ms == 0) {
		file_send(a->file, p);
		return 0;
	}
	struct txn *t = txn_new(a, head, p);

	if (!t)
		return -ENOMEM;
	txn_start(t);
	return 0;
}

int host_write(struct host_file *h, const void *umad, size_t n)
{
	const uint8_t *mad = (const uint8_t *)umad + UMAD_HEAD;
	struct ib_user_mad head;
	struct packet p;

	if (n < UMAD_HEAD + RMPP_HEAD)
		return -EINVAL;
	n -= UMAD_HEAD;
	memcpy(&head, umad, UMAD_HEAD);
	if (head.agent_id >= HOST_AGENTS_MAX)
		return -EINVAL;
	struct host_agent *a = h->agents[head.agent_id];
	if (!a)
		return -EIO;
	int err = check(a, &head, mad, n);
	if (err)
		return err;

	bool active = rmpp_is_active(mad), message = a->rmpp && active;

	fill_headers(a, &head, &p);
	memcpy(p.mad, mad, message ? class_data_offset(mad[MAD_CLASS]) : n);
	if (!mad_is_answer(mad))
		put_be32(p.mad + MAD_TID, a->hi_tid);
	if (p.mad[MAD_CLASS] == CLASS_SM_DR && route_is_wrong(h, p.mad))
		return -EINVAL;
	/* segments that a client makes itself share one transaction id */
	if ((message || !active) && txn_duplicate(a, &p))
		return -EINVAL;
	return message ? send_message(a, &head, &p, mad, n) : send_mad(a, &head, &p);
}
