/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Carries a packet from place to place: moves, counts, checks and delivers it.
 *
 * lid.c, directed.c and mcast.c decide which way it goes.
 */
#include "lib/base/bytes.h"
#include "sim/net/fault.h"
#include "sim/net/transit.h"

/* Sizes of LRH, BTH, DETH, the MAD and ICRC, and of a GRH, in units of 4 bytes (16.1.3.5). */
#define DATA_WORDS (((8 + 12 + 8) + SIM_MAD_SIZE + 4) / 4)
#define GRH_WORDS (40 / 4)
#define ICRC_WORDS 1

bool transit_drop(struct sim *s, struct transit *t, enum drop_reason why)
{
	wire_drop(s, t->port, &t->p, why);
	transit_free(s->queue, t);
	return false;
}

bool transit_blocked(struct sim *s, struct transit *t, uint32_t out, enum drop_reason why)
{
	if (why == DROP_LINK_DOWN || why == DROP_NODE_OFF || why == DROP_PORT_STATE ||
	    why == DROP_WRONG_LFT)
		t->port = out;
	return transit_drop(s, t, why);
}

/* --- one link --- */

/*
 * PortXmitData and the like count all VLs, VL15 included; they only exclude link packets, which the
 * model does not have (16.1.3.5).
 */
static void count(struct sim_port *port, bool xmit, const struct transit *t)
{
	const struct packet *p = &t->p;
	unsigned words = p->bytes ? p->bytes->n / 4 + ICRC_WORDS :
			 DATA_WORDS + (p->grh ? GRH_WORDS : 0);

	port_count(port, xmit, &(struct sim_traffic){ 1, words, t->vl, p->sl, is_multicast(p) });
}

static bool refuses(const struct sim *s, const struct sim_port *port, bool enforces,
		    const struct packet *p)
{
	return enforces && is_switch(&s->f->nodes[port->node]) && !pkey_matches(port, p->pkey);
}

static bool bad_pkey(struct sim *s, struct transit *t)
{
	if (s->hooks.bad_pkey)
		s->hooks.bad_pkey(s, t->port, &t->p);
	return transit_drop(s, t, DROP_PKEY);
}

/* Loses a packet as it comes in.  This port did not send it, so its counters do not count it. */
static bool not_heard(struct sim *s, struct transit *t, enum drop_reason why)
{
	drop_note(s, t->port, &t->p, why);
	transit_free(s->queue, t);
	return false;
}

/* Receives a data packet at a port. */
static bool data_enters(struct sim *s, struct transit *t)
{
	struct sim_port *in = &s->f->ports[t->port];

	if (in->state < SIM_PORT_ARMED)
		return not_heard(s, t, DROP_PORT_STATE);
	if (in->state == SIM_PORT_ARMED && s->hooks.activate)
		s->hooks.activate(s, t->port);
	if (t->vl >= in->op_vls) {
		port_counters(in)->rcv_errors++;
		return not_heard(s, t, DROP_VL_MISSING);
	}
	count(in, false, t);
	if (refuses(s, in, in->pkey_in, &t->p)) {
		port_counters(in)->rcv_constraint++;
		return bad_pkey(s, t);
	}
	return true;
}

/* NeighborMTU as the number of bytes of payload; the codes begin with 1 for 256. */
static bool exceeds_mtu(const struct sim_port *out, const struct packet *p)
{
	return p->bytes && p->bytes->payload > 128u << out->mtu;
}

static bool data_leaves(struct sim *s, struct transit *t)
{
	struct sim_port *out = &s->f->ports[t->port];

	if (exceeds_mtu(out, &t->p))
		return transit_drop(s, t, DROP_MTU);
	if (refuses(s, out, out->pkey_out, &t->p)) {
		port_counters(out)->xmit_constraint++;
		return bad_pkey(s, t);
	}
	count(out, true, t);
	return true;
}

/*
 * Whether a LID-routed packet at a switch has been there before.  A switch sends one LID one way,
 * so a packet that loops meets any mark set within the loop; the mark moves on at every power of
 * two hops.
 */
static bool loops(const struct sim_fabric *f, struct transit *t)
{
	uint32_t node = f->ports[t->port].node;

	if (t->p.dlid == SIM_LID_PERMISSIVE || !is_switch(&f->nodes[node]))
		return false;
	t->hops++;
	if (is_multicast(&t->p))
		return false;	/* mcast_flood() detects these loops */
	if (node == t->mark)
		return true;
	if ((t->hops & (t->hops - 1)) == 0)
		t->mark = node;
	return false;
}

/* Crosses the link behind the packet's port.  False if the packet is lost. */
static bool cross(struct sim *s, struct transit *t)
{
	bool smp = is_smp(&t->p);
	enum drop_reason why;

	if (smp)
		t->vl = SIM_SMP_VL;
	why = link_blocked(s->f, t->port, smp ? SIM_PORT_INIT : SIM_PORT_ACTIVE);
	if (why)
		return transit_drop(s, t, why);
	if (smp)
		count(&s->f->ports[t->port], true, t);
	else if (!data_leaves(s, t))
		return false;
	transit_move(t, s->f->ports[t->port].peer, PLACE_ENTRY);
	t->p.in_port = t->port;
	if (smp && s->f->ports[t->port].state < SIM_PORT_INIT)
		return not_heard(s, t, DROP_PORT_STATE);
	if (smp)
		count(&s->f->ports[t->port], false, t);
	else if (!data_enters(s, t))
		return false;
	return !loops(s->f, t) || transit_drop(s, t, DROP_LOOP);
}

/* --- one node --- */

/* A node with a driver has the driver's SMI, which has moved the hop pointer, or will do it. */
static enum drop_reason smp_way(const struct sim *s, struct transit *t, struct way *w)
{
	if (t->p.mad[MAD_CLASS] == CLASS_SM_DR && !node_of(s->f, t->port)->driven)
		return way_by_path(s->f, t, w);
	return way_by_lid(s->f, t->port, t->place, t->p.dlid, w);
}

static enum drop_reason data_way(const struct sim *s, struct transit *t, struct way *w)
{
	enum drop_reason why = DROP_NO_ROUTE;

	*w = (struct way){ t->port, PLACE_EXIT };
	if (is_multicast(&t->p)) {	/* at a CA or router */
		w->place = t->place == PLACE_START ? PLACE_EXIT : PLACE_END;
		why = DROP_NONE;
	} else if (t->p.dlid != SIM_LID_PERMISSIVE) {	/* only SMPs may use the permissive LID */
		why = way_by_lid(s->f, t->port, t->place, t->p.dlid, w);
	}
	if (!why && w->place == PLACE_EXIT)
		why = data_blocked(s->f, t->port, w->port, t->p.sl, &t->vl);
	return why;
}

static bool forward(struct sim *s, struct transit *t)
{
	struct way w;
	enum drop_reason why = is_smp(&t->p) ? smp_way(s, t, &w) : data_way(s, t, &w);

	if (why)
		return transit_blocked(s, t, w.port, why);
	transit_move(t, w.port, w.place);
	return true;
}

/* Delivers the packet to the driver of its end port, which has the queue pairs. */
static void arrive_at_driver(struct sim *s, struct transit *t)
{
	if (!is_smp(&t->p) && !pkey_matches(&s->f->ports[t->port], t->p.pkey)) {
		bad_pkey(s, t);
	} else {
		s->hooks.driver(s, t->port, &t->p, t->vl);
		transit_free(s->queue, t);
	}
}

/* Delivers the packet to the agents of its end port. */
static void arrive_at_agents(struct sim *s, struct transit *t)
{
	bool sm_class = class_is_smp(t->p.mad[MAD_CLASS]);

	if (t->p.bytes || t->p.dqpn > 1 || is_smp(&t->p) != sm_class) {
		transit_drop(s, t, DROP_QP);
	} else if (!sm_class && !pkey_matches(&s->f->ports[t->port], t->p.pkey)) {
		bad_pkey(s, t);
	} else {
		s->hooks.arrive(s, t->port, &t->p);
		transit_free(s->queue, t);
	}
}

static bool at_multicasting_switch(const struct sim_fabric *f, const struct transit *t)
{
	return (t->place == PLACE_START || t->place == PLACE_ENTRY) && is_multicast(&t->p) &&
	       is_switch(node_of(f, t->port));
}

bool wire_advance(struct sim *s, struct transit *t)
{
	for (;;) {
		if (s->faults->rules.n && !t->faults_met && !faults_let_pass(s, t))
			return false;
		switch (t->place) {
		case PLACE_START:
		case PLACE_ENTRY:
			if (t->place == PLACE_ENTRY && !t->smi_met && is_smp(&t->p) &&
			    !vl15_let_pass(s, t))
				return false;
			if (at_multicasting_switch(s->f, t))
				return true;
			if (!forward(s, t))
				return false;
			break;
		case PLACE_EXIT:
			if (!cross(s, t))
				return false;
			break;
		case PLACE_END:
			if (node_of(s->f, t->port)->driven)
				arrive_at_driver(s, t);
			else
				arrive_at_agents(s, t);
			return false;
		}
	}
}

void wire_carry(struct sim *s, struct transit *t)
{
	if (node_of(s->f, t->port)->off)
		transit_drop(s, t, DROP_NODE_OFF);
	else if (wire_advance(s, t))
		mcast_flood(s, t);
}

/* --- sending --- */

/* NULL if the packet is lost at once. */
static struct transit *depart(struct sim *s, uint32_t port, const struct packet *p)
{
	struct transit *t = transit_new(s->queue, port, p);

	if (t)
		t->p.from = t->p.in_port = port;
	else
		wire_drop(s, port, p, DROP_QUEUE);
	return t;
}

void wire_send(struct sim *s, uint32_t port, const struct packet *p)
{
	struct transit *t = depart(s, port, p);

	if (!p->bytes)
		stats_sent(s->stats, p->client, p->mad, sim_now(s));
	if (t)
		queue_put(s->queue, t);
}

static void send_now(struct sim *s, void *arg)
{
	struct transit *t = arg;

	stats_sent(s->stats, t->p.client, t->p.mad, sim_now(s));
	queue_put(s->queue, t);
}

void wire_send_after(struct sim *s, uint32_t port, const struct packet *p, int64_t delay_us)
{
	struct transit *t = depart(s, port, p);

	if (t)
		sim_after(s, delay_us, send_now, t);
}

/* The port's own form of the P_Key: the entry that let the packet in may be a limited member. */
static uint16_t own_pkey(const struct sim_port *port, uint16_t pkey)
{
	int i = pkey_find(port, pkey);

	return i < 0 ? pkey : port->pkeys[i];
}

void wire_turn_round(const struct sim *s, uint32_t port, struct packet *p)
{
	uint16_t lid = p->dlid < SIM_LID_MCAST ? p->dlid : s->f->ports[port].lid;
	uint32_t qpn = p->dqpn;
	uint8_t gid[16];

	p->dlid = p->slid;
	p->slid = lid;
	p->dqpn = p->sqpn;
	p->sqpn = qpn;
	memcpy(gid, p->dgid, sizeof(gid));
	memcpy(p->dgid, p->sgid, sizeof(gid));
	memcpy(p->sgid, gid, sizeof(gid));
	p->pkey = own_pkey(&s->f->ports[port], p->pkey);
	p->from = port;
	p->client = 0;
	if (p->mad[MAD_CLASS] == CLASS_SM_DR)
		p->mad[MAD_STATUS] |= MAD_STATUS_DR_D >> 8;
}

void wire_answer(const struct sim *s, uint32_t port, struct packet *p, unsigned status)
{
	wire_turn_round(s, port, p);
	p->mad[MAD_METHOD] = METHOD_GET_RESP;
	if (p->mad[MAD_CLASS] == CLASS_SM_DR)
		status |= MAD_STATUS_DR_D;
	put_be16(p->mad + MAD_STATUS, (uint16_t)status);
}
