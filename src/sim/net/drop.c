/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Records losses by reason, in a list of the last ones, and in the counters of ports (16.1.3.5). */
#include "lib/base/bytes.h"
#include "sim/net/transit.h"

const char *drop_reason_name(enum drop_reason r)
{
#define NAME(constant, name) [constant] = (name),
	static const char *const names[DROP_REASONS] = { "none", DROP_REASON_TABLE(NAME) };

	return (unsigned)r < DROP_REASONS ? names[r] : "unknown";
}

void drop_note(struct sim *s, uint32_t port, const struct packet *p, enum drop_reason why)
{
	struct sim_drops *d = s->drops;

	d->by_reason[why]++;
	d->last[d->n++ % DROPS_KEPT] = (struct drop){
		.when_us = sim_now(s),
		.port = port,
		.reason = why,
		.from = p->from,
		.slid = p->slid,
		.dlid = p->dlid,
		.sl = p->sl,
		.mgmt_class = p->mad[MAD_CLASS],
		.method = p->mad[MAD_METHOD],
		.attr = get_be16(p->mad + MAD_ATTR),
		.mod = get_be32(p->mad + MAD_MOD),
	};
}

static void count_at_port(struct sim *s, uint32_t port, const struct packet *p,
			  enum drop_reason why)
{
	struct sim_counters *c = port_counters(&s->f->ports[port]);

	switch (why) {
	case DROP_LINK_DOWN:
	case DROP_NODE_OFF:
	case DROP_PORT_STATE:
	case DROP_MTU:
		c->xmit_discards++;
		break;
	case DROP_NO_ROUTE:
	case DROP_LOOP:
	case DROP_VL15:
	case DROP_VL_MISSING:
	case DROP_NO_CREDIT:
	case DROP_MCAST:
		if (is_switch(node_of(s->f, port)))
			c->rcv_switch_relay++;
		else
			c->xmit_discards++;
		break;
	case DROP_VL15_FULL:
		c->vl15_dropped++;
		break;
	case DROP_QUEUE:
		if (is_smp(p))
			c->vl15_dropped++;
		else if (p->dqpn == 1)
			c->qp1_dropped++;
		break;
	default:
		break;
	}
}

void wire_drop(struct sim *s, uint32_t port, const struct packet *p, enum drop_reason why)
{
	drop_note(s, port, p, why);
	count_at_port(s, port, p, why);
}
