/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Delivers packets that no agent in the device took to the umad client that they are for.
 *
 * It builds the message that read() of a umad device would return.
 */
#include "sim/host/parts.h"

#define SA_WELL_KNOWN_GUID UINT64_C(0x0200000000000002)
#define BM_RESPONSE 1			/* bit of a BM AttributeModifier (16.3.2) */

bool mad_is_answer(const uint8_t *mad)
{
	return mad[MAD_METHOD] & MAD_METHOD_RESPONSE || mad[MAD_METHOD] == METHOD_TRAP_REPRESS ||
	       (mad[MAD_CLASS] == CLASS_BM && get_be32(mad + MAD_MOD) & BM_RESPONSE);
}

/* Index of the GID in the port's table; -1 if it is not there. */
static int gid_index(const struct sim_port *port, const uint8_t gid[16])
{
	uint64_t guid = get_be64(gid + 8);

	if (guid == SA_WELL_KNOWN_GUID)
		return 0;
	for (unsigned i = 0; i < port->n_guids; i++)
		if (port->guids[i] == guid)
			return (int)i;
	return -1;
}

/* The index was valid when the (first) packet came; 0 if the table has changed since. */
static unsigned index_or_0(int i)
{
	return i < 0 ? 0 : (unsigned)i;
}

static void umad_head(const struct host_agent *a, const struct packet *p, size_t length,
	       struct ib_user_mad *head)
{
	const struct sim_port *port = sim_port_of(a->file);

	memset(head, 0, UMAD_HEAD);
	head->agent_id = a->id;
	head->length = (uint32_t)(UMAD_HEAD + length);
	head->addr.qpn = htobe32(p->sqpn);
	head->addr.lid = htobe16(p->slid);
	head->addr.sl = p->sl;
	if (p->dlid != SIM_LID_PERMISSIVE)	/* the permissive LID has no path bits, although its low
						 * bits are 1 */
		head->addr.path_bits = p->dlid & ((1u << port->lmc) - 1);
	if (a->qp == 1)
		head->addr.pkey_index = (uint16_t)index_or_0(pkey_find(port, p->pkey));
	if (!p->grh)
		return;
	/* for the way back: the kernel's own hop limit, not what is left of the packet's */
	head->addr.grh_present = 1;
	head->addr.gid_index = (uint8_t)index_or_0(gid_index(port, p->dgid));
	head->addr.hop_limit = 0xff;
	head->addr.traffic_class = p->traffic_class;
	memcpy(head->addr.gid, p->sgid, 16);
	head->addr.flow_label = htobe32(p->flow_label);
}

void agent_deliver(struct host_agent *a, const struct packet *p, const void *umad, size_t n)
{
	struct host_file *h = a->file;

	if (!h->ops.deliver(h->ops.arg, umad, n))
		wire_drop(h->hosts->s, h->port->port, p, DROP_QUEUE);
}

void agent_complete(struct host_agent *a, const struct packet *p, uint8_t *umad, size_t length)
{
	struct txn *t = mad_is_answer(p->mad) ? txn_find(a, p) : NULL;
	struct ib_user_mad head;

	if (t) {
		txn_free(t);
	} else if (mad_is_answer(p->mad) && (a->rmpp || !rmpp_is_active(p->mad))) {
		/*
		 * too late, or unsolicited; of raw RMPP segments, only the first ends the
		 * transaction
		 */
		wire_drop(a->file->hosts->s, a->file->port->port, p, DROP_NO_AGENT);
		return;
	}
	umad_head(a, p, length, &head);
	memcpy(umad, &head, UMAD_HEAD);
	agent_deliver(a, p, umad, UMAD_HEAD + length);
}

/*
 * The kernel's checks before the look-up of the agent.  The wire has checked the QP of the class
 * and QP1's P_Key.
 */
static enum drop_reason check(const struct sim_port *port, const struct packet *p)
{
	if (p->mad[MAD_BASE_VERSION] != 1)
		return DROP_NO_AGENT;
	if (p->grh && gid_index(port, p->dgid) < 0)
		return DROP_QP;
	return DROP_NONE;
}

/* No agent registered for the packet: a Get or Set is answered with an error. */
static void unmatched(struct sim *s, uint32_t port, struct packet *p)
{
	const struct sim_node *n = node_of(s->f, port);
	uint8_t method = p->mad[MAD_METHOD];

	if (n->silent || n->profile->silent) {
		wire_drop(s, port, p, DROP_SILENT);
		return;
	}
	if (method != METHOD_GET && method != METHOD_SET) {
		wire_drop(s, port, p, DROP_NO_AGENT);
		return;
	}
	wire_answer(s, port, p, STATUS_BAD_METHOD_ATTR);
	wire_send(s, port, p);
}

static void bad_qkey(struct sim *s, uint32_t port, const struct packet *p)
{
	if (s->hooks.bad_qkey)
		s->hooks.bad_qkey(s, port, p);
	wire_drop(s, port, p, DROP_QP);
}

void hosts_receive(struct sim *s, uint32_t port, struct packet *p)
{
	enum drop_reason why = check(&s->f->ports[port], p);

	if (p->dqpn == 1 && p->qkey != SIM_GSI_QKEY) {
		bad_qkey(s, port, p);
		return;
	}
	if (why != DROP_NONE) {
		wire_drop(s, port, p, why);
		return;
	}
	struct host_agent *a = agent_for(hosts_of(s), port, p->mad);
	if (!a) {
		unmatched(s, port, p);
	} else if (a->rmpp && rmpp_is_active(p->mad)) {
		rmpp_packet(a, p);
	} else {
		uint8_t umad[UMAD_HEAD + SIM_MAD_SIZE];

		memcpy(umad + UMAD_HEAD, p->mad, SIM_MAD_SIZE);
		agent_complete(a, p, umad, SIM_MAD_SIZE);
	}
}
