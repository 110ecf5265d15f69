/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks that the multicast tables of each MLID form one tree.
 *
 * The tree consists of the links that the switches at both ends forward to.  It must connect all
 * switches with an entry, and each bit must lead somewhere.  Then each packet from a member reaches
 * all other members once, since a switch forwards it to every branch but the one that it came from.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/check/check_net.h"

struct trees {
	struct run *r;
	uint32_t *head;		/* [switch]: another switch of the same part; a part's head points to
				 * itself */
	uint32_t mlid;
};

static unsigned mft_entries(const struct sim_fabric *f, const struct sim_switch *s)
{
	const unsigned max = SIM_LID_PERMISSIVE - SIM_LID_MCAST;
	unsigned cap = s->mft ? f->nodes[s->node].profile->mft_cap : 0;

	return cap < max ? cap : max;
}

/* The entry that the switch's table has for an MLID; NULL if it is empty. */
static const uint64_t *held(const struct sim_fabric *f, uint32_t sw, uint32_t mlid)
{
	static const uint64_t empty[4];
	const struct sim_switch *s = &f->switches[sw];

	if (mlid - SIM_LID_MCAST >= mft_entries(f, s) || f->nodes[s->node].off ||
	    !memcmp(s->mft[mlid - SIM_LID_MCAST], empty, sizeof(empty)))
		return NULL;
	return s->mft[mlid - SIM_LID_MCAST];
}

/*
 * Whether MulticastFDBTop makes the switch drop packets to the MLID, whatever its table says
 * (14.2.5.4).
 */
static bool is_above_top(const struct sim_fabric *f, uint32_t sw, uint32_t mlid)
{
	uint16_t top = get_be16(f->switches[sw].info + SI_MULTICAST_TOP);

	return top && mlid > top;
}

/* The entry that the switch uses for forwarding; NULL if there is none. */
static const uint64_t *entry(const struct sim_fabric *f, uint32_t sw, uint32_t mlid)
{
	return is_above_top(f, sw, mlid) ? NULL : held(f, sw, mlid);
}

static bool has_port(const uint64_t *bits, unsigned num)
{
	return bits && bits[num / 64] >> num % 64 & 1;
}

static uint32_t head_of(struct trees *t, uint32_t sw)
{
	while (t->head[sw] != sw)
		sw = t->head[sw] = t->head[t->head[sw]];
	return sw;
}

static void say_exit(struct trees *t, uint32_t port, const char *what)
{
	report(t->r, AUDIT_MCAST, "MLID 0x%04x: %s %s", t->mlid, port_text(t->r->f, port).s, what);
}

/* Checks a bit whose link leads to another switch. */
static void check_branch(struct trees *t, uint32_t port)
{
	const struct sim_fabric *f = t->r->f;
	uint32_t peer = f->ports[port].peer;
	uint32_t a = node_of(f, port)->sw, b = node_of(f, peer)->sw;
	bool back = has_port(entry(f, b, t->mlid), f->ports[peer].num);

	if (!back)
		say_exit(t, port, "leads to a switch that does not forward back");
	else if (port > peer)
		return;		/* handled from the other end */
	a = head_of(t, a);
	b = head_of(t, b);
	if (a == b && back)
		say_exit(t, port, "closes a loop");
	t->head[b] = a;
}

static void check_exit(struct trees *t, uint32_t port)
{
	const struct sim_fabric *f = t->r->f;

	if (!link_carries(f, port))
		say_exit(t, port, link_is_up(f, port) ? "is not Active" : "has no link");
	else if (is_switch(node_of(f, f->ports[port].peer)))
		check_branch(t, port);
	else
		t->r->out->mcast_members++;
}

static void check_switch(struct trees *t, uint32_t sw, const uint64_t *bits)
{
	const struct sim_node *n = &t->r->f->nodes[t->r->f->switches[sw].node];

	t->r->out->mcast_members += has_port(bits, 0);
	for (unsigned num = 1; num <= SIM_PORTS_MAX + 1; num++) {
		if (!has_port(bits, num))
			continue;
		if (num <= n->nports)
			check_exit(t, n->port0 + num);
		else
			report(t->r, AUDIT_MCAST, "MLID 0x%04x: %s forwards to port %u of %u",
			       t->mlid, port_text(t->r->f, n->port0).s, num, n->nports);
	}
}

/* Reports each part except the first. */
static void check_connected(struct trees *t)
{
	const struct sim_fabric *f = t->r->f;
	uint32_t first = SIM_NONE;

	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		if (!entry(f, sw, t->mlid) || head_of(t, sw) != sw)
			continue;
		if (first == SIM_NONE) {
			first = sw;
			continue;
		}
		report(t->r, AUDIT_MCAST, "MLID 0x%04x: the tree at %s is not connected with %s's",
		       t->mlid, port_text(f, f->nodes[f->switches[sw].node].port0).s,
		       port_text(f, f->nodes[f->switches[first].node].port0).s);
	}
}

static void check_group(struct trees *t)
{
	const struct sim_fabric *f = t->r->f;

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		t->head[sw] = sw;
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		const uint64_t *bits = entry(f, sw, t->mlid);

		if (!bits && held(f, sw, t->mlid))
			say_exit(t, f->nodes[f->switches[sw].node].port0,
				 "drops it: it is above MulticastFDBTop");
		if (bits)
			check_switch(t, sw, bits);
	}
	check_connected(t);
}

void check_mcast(struct run *r)
{
	const struct sim_fabric *f = r->f;
	const uint32_t n = SIM_LID_PERMISSIVE - SIM_LID_MCAST;
	bool *present = xcalloc(n, sizeof(*present));
	struct trees t = { .r = r };

	/* switches in the outer loop, since their tables are long and nearly empty */
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		for (unsigned i = 0; i < mft_entries(f, &f->switches[sw]); i++)
			present[i] |= held(f, sw, SIM_LID_MCAST + i) != NULL;
	t.head = xcalloc(f->n_switches + 1u, sizeof(*t.head));
	for (uint32_t i = 0; i < n; i++) {
		if (!present[i])
			continue;
		r->out->mcast_groups++;
		t.mlid = SIM_LID_MCAST + i;
		check_group(&t);
	}
	free(t.head);
	free(present);
}

/* --- dependencies of packets on trees --- */

static bool leads_on(const struct net *n, uint32_t sw, unsigned num)
{
	return num > 0 && num <= n->stages[sw].nports &&
	       leads_to_switch(&n->gates[n->stages[sw].port0 + num]);
}

/*
 * A packet that came into `sw` by any port and leaves by `out` depends on all exits of the next
 * switch.
 */
static void depend_next(struct net *n, uint32_t sw, unsigned out, uint32_t mlid, uint16_t sls)
{
	const struct stage *s = &n->stages[sw];
	const struct gate *g = &n->gates[s->port0 + out];
	const uint64_t *then = entry(n->f, g->sw, mlid);

	for (unsigned to = 1; then && to <= n->stages[g->sw].nports; to++) {
		if (to == g->in || !has_port(then, to) || !leads_on(n, g->sw, to))
			continue;
		for (unsigned in = 0; in <= s->nports; in++)
			if (in != out)
				net_depend(n, hop_at(n, g->sw, g->in, to),
					   hop_at(n, sw, in, out)->row, sls);
	}
}

void mcast_depend(const struct run *r, struct net *n)
{
	const struct sim_fabric *f = r->f;
	/* SLs that are not in use do no harm, and net_depend() is fastest with ALL_SLS */
	uint16_t sls = r->out->sls_mcast == r->sls ? ALL_SLS : r->out->sls_mcast;

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		for (unsigned i = 0; i < mft_entries(f, &f->switches[sw]); i++) {
			const uint64_t *bits = entry(f, sw, SIM_LID_MCAST + i);

			for (unsigned out = 1; bits && out <= n->stages[sw].nports; out++)
				if (has_port(bits, out) && leads_on(n, sw, out))
					depend_next(n, sw, out, SIM_LID_MCAST + i, sls);
		}
}
