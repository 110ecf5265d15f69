/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does what the driver's frames ask.
 *
 * A frame that no sound driver writes is an error.  A packet that a change of the port has overtaken, or
 * whose destination a program of the host could choose wrongly, is not: it is lost.
 */
#include <endian.h>
#include <string.h>

#include "sim/net/fields.h"
#include "sim/hca/hca_internal.h"
#include "sim/hca/raw.h"

/* --- packets --- */

static bool is_own_lid(const struct sim_port *port, const struct packet *p)
{
	if (p->dqpn == 0 && (p->slid == SIM_LID_PERMISSIVE || p->slid == port->lid))
		return true;		/* before it has a LID, its SLID is 0 */
	return port_has_lid(port, p->slid);
}

/* Hardware takes the P_Key from the table itself. */
static bool is_own_pkey(const struct sim_port *port, uint16_t pkey)
{
	for (unsigned i = 0; i < port->n_pkeys; i++)
		if (port->pkeys[i] == pkey)
			return (pkey & 0x7fff) != 0;
	return false;
}

/*
 * The reason that keeps a packet from leaving its queue pair.  QP0 and QP1 take datagrams only: any other packet
 * would be lost there, and is lost here because the fabric takes all that is for these two for management.
 */
static enum drop_reason blocked(const struct hca *h, const struct packet *p, bool datagram)
{
	const struct sim_port *port = &h->s->f->ports[p->from];

	if (hca_node(h)->off)
		return DROP_NODE_OFF;
	if (p->dqpn <= 1 && !datagram)
		return DROP_QP;
	if (!is_own_lid(port, p))
		return DROP_SLID;
	if (p->dqpn == 0)
		return DROP_NONE;
	if (port->state != SIM_PORT_ACTIVE)
		return DROP_PORT_STATE;
	return is_own_pkey(port, p->pkey) ? DROP_NONE : DROP_PKEY;
}

static const char *take_packet(struct hca *h, const struct frame *f)
{
	uint32_t port = hca_port(h, f->port);
	struct packet p;
	const char *wrong = raw_read(f->data, f->length, &p);
	enum drop_reason why;

	if (wrong)
		return wrong;
	p.from = p.in_port = port;
	p.client = h->client;
	why = blocked(h, &p, raw_is_datagram(f->data));
	if (why)
		wire_drop(h->s, port, &p, why);
	else
		wire_send(h->s, port, &p);
	packet_bytes_free(p.bytes);
	return NULL;
}

static const char *take_bad_qkey(struct hca *h, const struct frame *f)
{
	uint32_t port = hca_port(h, f->port);
	struct packet p;
	const char *wrong = raw_read_headers(f->data, f->length, &p);

	if (!wrong && !raw_is_datagram(f->data))
		wrong = "a packet that has no Q_Key is reported for it";
	if (wrong || !hca_node(h)->started)
		return wrong;
	p.from = p.in_port = port;
	device_bad_qkey(h->s, port, &p);
	wire_drop(h->s, port, &p, DROP_QP);
	return NULL;
}

/* --- MADs for the HCA's agents --- */

/* Whether device_smp() can perform it. */
static bool is_plain_smp(const uint8_t *mad)
{
	return class_is_smp(mad[MAD_CLASS]) && mad[MAD_BASE_VERSION] == 1 && mad[MAD_CLASS_VERSION] == 1 &&
	       get_be16(mad + MAD_ATTR) != ATTR_SM_INFO &&
	       (mad[MAD_METHOD] == METHOD_GET || mad[MAD_METHOD] == METHOD_SET);
}

static enum simhca_answer ask_trusted(struct hca *h, uint32_t port, uint8_t *mad)
{
	const struct sim_node *n = hca_node(h);
	unsigned status;

	if (n->silent || n->profile->silent)
		return SIMHCA_CONSUMED;
	status = device_smp(h->s, port, mad[MAD_METHOD], get_be16(mad + MAD_ATTR),
			    get_be32(mad + MAD_MOD), mad + SMP_DATA);
	if (mad[MAD_CLASS] == CLASS_SM_DR)
		status |= MAD_STATUS_DR_D;
	mad[MAD_METHOD] = METHOD_GET_RESP;
	put_be16(mad + MAD_STATUS, (uint16_t)status);
	return SIMHCA_REPLY;
}

/* The packet that brought the MAD, as far as agents want to know.  The driver has checked its keys. */
static struct packet packet_of(const struct hca *h, uint32_t port, const struct simhca_mad *m)
{
	const struct sim_port *sp = &h->s->f->ports[port];
	struct packet p = {
		.from = m->by_cable && sp->peer != SIM_NONE ? sp->peer : port, .in_port = port,
		.slid = le16toh(m->source_lid), .dlid = sp->lid, .sqpn = le32toh(m->source_qp),
		.dqpn = class_is_smp(m->mad[MAD_CLASS]) ? 0 : 1, .qkey = SIM_GSI_QKEY,
		.pkey = le16toh(m->pkey), .sl = m->sl & 15,
	};

	memcpy(p.mad, m->mad, sizeof(p.mad));
	return p;
}

static enum simhca_answer ask(struct hca *h, uint32_t port, const struct simhca_mad *m, bool trusted,
			      uint8_t *mad)
{
	struct packet p = packet_of(h, port, m);
	enum device_verdict verdict = device_ask(h->s, port, &p, trusted);

	memcpy(mad, p.mad, SIMHCA_MAD_SIZE);
	switch (verdict) {
	case DEVICE_ANSWERED:
		return SIMHCA_REPLY;
	case DEVICE_CONSUMED:
		return SIMHCA_CONSUMED;
	default:
		return SIMHCA_NOT_MINE;
	}
}

static const char *take_mad(struct hca *h, const struct frame *f)
{
	bool trusted = f->flags & SIMHCA_TRUSTED;
	struct answer a = { .port = f->port, .id = f->id, .verdict = SIMHCA_CONSUMED };
	uint32_t port = hca_port(h, f->port);
	struct simhca_mad m;

	if (f->length != sizeof(m))
		return "a MAD has the wrong length";
	memcpy(&m, f->data, sizeof(m));
	memcpy(a.mad, m.mad, sizeof(a.mad));
	if (!hca_node(h)->started)
		a.verdict = SIMHCA_CONSUMED;
	else if (trusted && is_plain_smp(m.mad))
		a.verdict = ask_trusted(h, port, a.mad);
	else
		a.verdict = ask(h, port, &m, trusted, a.mad);
	hca_answer(h, &a);
	return NULL;
}

/* --- what the host says of itself --- */

static const char *take_capabilities(struct hca *h, const struct frame *f)
{
	struct simhca_capabilities c;

	if (f->length != sizeof(c))
		return "a change of capabilities has the wrong length";
	memcpy(&c, f->data, sizeof(c));
	if (hca_node(h)->started)
		device_set_capabilities(h->s, hca_port(h, f->port), le32toh(c.set), le32toh(c.clear));
	return NULL;
}

static const char *take_description(struct hca *h, const struct frame *f)
{
	char desc[sizeof(hca_node(h)->desc)] = "";

	if (f->length != sizeof(desc) - 1)
		return "a NodeDescription has the wrong length";
	memcpy(desc, f->data, f->length);
	if (hca_node(h)->started)
		device_rename(h->s, h->node, desc);
	return NULL;
}

static const char *take_start(struct hca *h, const struct frame *f)
{
	(void)f;
	hca_start(h);
	return NULL;
}

static const char *take_stop(struct hca *h, const struct frame *f)
{
	(void)f;
	device_start(h->s, h->node, false);
	return NULL;
}

static const struct {
	const char *(*take)(struct hca *h, const struct frame *f);
	bool of_port;
} kinds[] = {
	[SIMHCA_PACKET] = { take_packet, true },
	[SIMHCA_START] = { take_start, false },
	[SIMHCA_STOP] = { take_stop, false },
	[SIMHCA_MAD] = { take_mad, true },
	[SIMHCA_CAPABILITIES] = { take_capabilities, true },
	[SIMHCA_DESCRIPTION] = { take_description, false },
	[SIMHCA_BAD_QKEY] = { take_bad_qkey, true },
};

const char *hca_take(struct hca *h, const struct frame *f)
{
	if (f->kind >= ARRAY_SIZE(kinds) || !kinds[f->kind].take)
		return "a frame is of an unknown kind";
	if (kinds[f->kind].of_port ? !f->port || f->port > hca_node(h)->nports : f->port)
		return "a frame names a port that is not there";
	if (h->broken && f->kind != SIMHCA_START)
		return NULL;
	return kinds[f->kind].take(h, f);
}
