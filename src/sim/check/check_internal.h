/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State and helpers that the auditor's checks share.
 *
 * They are the run with its findings, texts for names and sets, and simple queries on the tables.
 */
#ifndef QOSD_SIM_CHECK_CHECK_INTERNAL_H
#define QOSD_SIM_CHECK_CHECK_INTERNAL_H

#include "sim/check/check.h"
#include "sim/net/fields.h"
#include "sim/net/wire.h"

#define ALL_SLS 0xffffu

struct run {
	const struct sim_fabric *f;
	const struct audit_options *o;
	struct audit *out;
	uint32_t told[AUDIT_KINDS], told_notes;
	uint16_t sls;		/* SLs in use, including multicast's; valid once the routes were walked */
	uint16_t *sent;		/* [port]: SLs that an end sends with, by path_sls; valid likewise */
	uint16_t *port_vls;	/* [port]: VLs by which routes in use leave there; set by check_vls() */
};

/* --- checks, in the order in which they run --- */

void check_links(struct run *r);
void check_lids(struct run *r);
struct net;
/*
 * Walks all LIDs.  Counts pairs and hops, determines r->sls, and marks in net which SLs take each
 * hop.
 */
void check_routes(struct run *r, struct net *n);
/* Reports SLs that hops in use drop; determines r->port_vls. */
void check_vls(struct run *r, struct net *n);
/*
 * Searches the dependencies in net for cycles.  `multicast`: these include trees; the search of
 * unicast alone found no cycle.
 */
void check_credit(struct run *r, struct net *n, bool multicast);
void check_tables(struct run *r, struct net *n);
void check_mcast(struct run *r);
/* Adds to net the dependencies of packets on multicast trees. */
void mcast_depend(const struct run *r, struct net *n);

void add_finding(struct run *r, enum audit_kind k, bool note, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Report a fault, and a note. */
#define report(r, k, ...) add_finding(r, k, false, __VA_ARGS__)
#define remark(r, k, ...) add_finding(r, k, true, __VA_ARGS__)

/* --- texts for names and sets; the value lives until the end of the full expression --- */

struct port_text {
	char s[SIM_NAME_MAX];
};
struct port_text port_text(const struct sim_fabric *f, uint32_t port);
struct set_text {
	char s[48];
};
/* "0-3,7" */
struct set_text set_text(uint16_t set);
const char *state_text(uint8_t port_state);

/* --- queries --- */

/* Whether data can leave by the port and the far end receives it: a port accepts data from Armed on. */
static inline bool link_carries(const struct sim_fabric *f, uint32_t out)
{
	return link_is_up(f, out) && f->ports[out].state == SIM_PORT_ACTIVE &&
	       f->ports[f->ports[out].peer].state >= SIM_PORT_ARMED;
}

/* Whether an end port is up: port 0 of a switch with power, or a port with a link. */
static inline bool end_port_is_up(const struct sim_fabric *f, uint32_t port)
{
	const struct sim_node *n = node_of(f, port);

	return is_end_port(f, port) && (is_switch(n) ? !n->off : link_is_up(f, port));
}

static inline unsigned lid_count(const struct sim_port *p)
{
	return 1u << (p->lmc & 7);
}

/* Whether the port is an end of paths: up, with unicast LIDs. */
static inline bool is_end(const struct run *r, uint32_t port)
{
	const struct sim_port *p = &r->f->ports[port];

	if (!end_port_is_up(r->f, port) || (is_switch(node_of(r->f, port)) && !r->o->switches))
		return false;
	return p->lid && p->lid + lid_count(p) <= SIM_LID_MCAST;
}

/* The switch's out port for the LID; SIM_LFT_DROP if it has none. */
static inline unsigned lft_port(const struct sim_fabric *f, uint32_t sw, uint32_t lid)
{
	const struct sim_switch *s = &f->switches[sw];

	if (!s->lft || lid > s->lft_top || lid >= f->nodes[s->node].profile->lft_cap)
		return SIM_LFT_DROP;
	return switch_lft(s)[lid];
}

/* Number of data VLs that both ends of the port's link have. */
static inline unsigned link_vls(const struct sim_fabric *f, uint32_t port)
{
	const struct sim_port *p = &f->ports[port];
	unsigned far = p->peer == SIM_NONE ? 0 : f->ports[p->peer].op_vls;
	unsigned vls = p->op_vls < far ? p->op_vls : far;

	return vls < SIM_VL_DROP ? vls : SIM_VL_DROP;
}

/* Says why this switch does not forward a packet to the LID; call it only if its LFT does not. */
void say_dead_end(const struct sim_fabric *f, uint32_t sw, uint32_t lid, struct buf *out);

#endif
