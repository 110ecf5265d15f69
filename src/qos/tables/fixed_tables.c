/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records the tables that devices keep instead of those written to them.
 *
 * The wanted tables stay unchanged; struct fixed_tables holds those in force.  Of arbitration tables it
 * only holds which VLs they let send: it promises no shares there.
 *
 * A table in force has a number in t->maps, too.  What a device claims is untrusted: if the numbers do not
 * suffice, a table that drops everything stands for the rest, so that nothing is promised there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "qos/intern.h"
#include "qos/tables/qos_tables.h"

struct keeping {
	struct qos_tables *t;
	const struct fabric *f;
	struct intern maps;	/* t->maps, followed by new ones */
	uint16_t drops_all;	/* number of the table that maps every SL to VL 15 */
	struct findings *out;
};

/* What a device's tables lose. */
struct loss {
	uint32_t pairs, ports;	/* pairs with another SL2VL table; ports with fewer VLs */
	uint32_t starved;	/* ports with a VL that never sends */
	uint32_t short_ports;	/* ports with a smaller MTU */
	uint16_t sls;		/* SLs that should pass somewhere and do not */
};

/* --- VLs --- */

/* The VL code that both ends of the link have, because a packet must be on such a VL; 0: unknown. */
static uint8_t vls_of(const struct qos_tables *t, const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];
	uint8_t code = t->op_vls[port];

	if (p->op_vls && p->op_vls < code)
		code = p->op_vls;
	if (p->peer != FABRIC_NONE && f->ports[p->peer].op_vls && f->ports[p->peer].op_vls < code)
		code = f->ports[p->peer].op_vls;
	return code;
}

/* The MTU code in force; 0: unknown. */
static uint8_t mtu_of(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];
	uint8_t mtu = port_link_mtu(f, port);

	if (p->peer == FABRIC_NONE || p->state < IB_PORT_ARMED_S ||
	    f->ports[p->peer].state < IB_PORT_ARMED_S)
		return mtu;
	if (p->neighbor_mtu && p->neighbor_mtu < mtu)
		mtu = p->neighbor_mtu;
	if (f->ports[p->peer].neighbor_mtu && f->ports[p->peer].neighbor_mtu < mtu)
		mtu = f->ports[p->peer].neighbor_mtu;
	return mtu;
}

static bool end_lacks(const struct qos_tables *t, const struct fabric *f, uint32_t port)
{
	return (t->managed && vls_of(t, f, port) < t->op_vls[port]) || mtu_of(f, port) < port_link_mtu(f, port);
}

/*
 * What a link lacks is what one of its ends has less of than the most that any plan has of it.  Mostly none has, and
 * far ends, in no order in memory, need not be looked at.
 */
bool qos_links_lack(const struct qos_tables *t, const struct fabric *f)
{
	uint8_t most = 0;

	for (uint32_t i = 0; t->managed && i < f->n_ports; i++)
		most = t->op_vls[i] > most ? t->op_vls[i] : most;
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct fabric_port *p = &f->ports[i];

		if (!(p->op_vls && p->op_vls < most) && !(p->neighbor_mtu && p->neighbor_mtu < p->mtu_cap))
			continue;
		if (end_lacks(t, f, i) || (p->peer != FABRIC_NONE && end_lacks(t, f, p->peer)))
			return true;
	}
	return false;
}

/* --- maps --- */

static uint16_t number_of(struct keeping *k, const struct sl2vl *map)
{
	uint32_t n = intern_put(&k->maps, map);

	return n < TABLE_NONE ? (uint16_t)n : k->drops_all;
}

/* Copies the wanted ids of a switch, one for each pair. */
static uint16_t *copy_ids(const struct keeping *k, uint32_t node)
{
	unsigned ports = k->f->nodes[node].nports + 1u;
	uint16_t *ids = xcalloc((size_t)ports * ports, sizeof(*ids));

	for (unsigned in = 0; in < ports; in++)
		for (unsigned out = 0; out < ports; out++)
			ids[in * ports + out] = qos_sl2vl_id(k->t, k->f, node, in, out);
	return ids;
}

static void keep_map(struct keeping *k, const struct fixed_map *m)
{
	const struct fabric_node *n = &k->f->nodes[m->node];
	struct fixed_tables *fixed = k->t->fixed;
	uint16_t id;

	/* If tables are not managed, no pair has a wanted table; one that was seen counts nevertheless. */
	if (k->t->managed && qos_sl2vl_id(k->t, k->f, m->node, m->in, m->out) == TABLE_NONE)
		return;
	id = number_of(k, &m->map);
	if (!node_is_switch(n)) {
		fixed->ca_map[n->port0 + m->out] = id;
		return;
	}
	if (!fixed->sw[n->sw])
		fixed->sw[n->sw] = copy_ids(k, m->node);
	fixed->sw[n->sw][m->in * (n->nports + 1u) + m->out] = id;
}

/* --- losses --- */

static void count_pair(const struct keeping *k, uint32_t node, unsigned in, unsigned out,
		       struct loss *loss)
{
	const struct qos_tables *t = k->t;
	uint16_t wanted = qos_sl2vl_id(t, k->f, node, in, out);
	uint32_t port = k->f->nodes[node].port0 + out;

	uint16_t is = qos_sl2vl_in_force(t, k->f, node, in, out), passes;

	if (is == TABLE_NONE)
		return;
	passes = qos_map_sls(&t->maps[is], t->fixed->op_vls[port]) &
		 qos_map_sls_on(&t->maps[is], qos_vls_sending(t, port));
	if (wanted == TABLE_NONE) {	/* only SL 0 is offered */
		loss->pairs++;
		loss->sls |= 1 & ~passes;
		return;
	}
	loss->pairs += is != wanted;
	loss->sls |= qos_map_sls(&t->maps[wanted], t->op_vls[port]) & (uint16_t)~passes;
}

static struct loss loss_of(const struct keeping *k, uint32_t node)
{
	const struct fabric_node *n = &k->f->nodes[node];
	struct loss loss = { 0 };

	for (unsigned out = 0; out <= n->nports; out++) {
		bool starved = qos_vls_sending(k->t, n->port0 + out) != ALL_VLS;

		loss.starved += starved;
		loss.sls |= starved && !k->t->managed;	/* SL 0 */
		loss.short_ports += k->t->fixed->mtu[n->port0 + out] < port_link_mtu(k->f, n->port0 + out);
		loss.ports += k->t->fixed->op_vls[n->port0 + out] < k->t->op_vls[n->port0 + out];
		for (unsigned in = 0; in <= (node_is_switch(n) ? n->nports : 0u); in++)
			count_pair(k, node, in, out, &loss);
	}
	return loss;
}

static void list_sls(uint16_t sls, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (unsigned sl = 0; sl < IB_SL_COUNT && n < size; sl++)
		if (sls >> sl & 1)
			n += (size_t)snprintf(out + n, size - n, "%s%u", n ? ", " : "", sl);
}

static void report(const struct keeping *k, uint32_t node)
{
	const struct src_pos nowhere = { 0, 0 };
	struct loss loss = loss_of(k, node);
	char sls[64], what[160] = "";
	size_t n = 0;

	if (loss.pairs)
		n = (size_t)snprintf(what, sizeof(what),
				     "keeps another SL2VL table for %u pair%s of ports",
				     loss.pairs, loss.pairs > 1 ? "s" : "");
	if (loss.ports)
		n += (size_t)snprintf(what + n, sizeof(what) - n, "%shas too few VLs on %u link%s",
				      n ? ", " : "", loss.ports, loss.ports > 1 ? "s" : "");
	if (loss.starved)
		snprintf(what + n, sizeof(what) - n,
			 "%skeeps arbitration tables that never let a VL send on %u port%s",
			 n ? ", " : "", loss.starved, loss.starved > 1 ? "s" : "");
	if (loss.short_ports)
		findings_add(k->out, SEV_WARNING, "", nowhere, "%s: NeighborMTU of %u link%s is smaller "
			     "than both ends support, as is the MTU of paths",
			     NODE_NAME(k->f, node), loss.short_ports,
			     loss.short_ports > 1 ? "s" : "");
	if (!loss.pairs && !loss.ports && !loss.starved)
		return;
	list_sls(loss.sls, sls, sizeof(sls));
	findings_add(k->out, SEV_WARNING, "", nowhere, "%s: %s; %s%s", NODE_NAME(k->f, node), what,
		     loss.sls ? "these SLs are dropped there and not offered: " :
				"no SL is dropped because of this", sls);
}

/* --- build --- */

static struct fixed_tables *fixed_new(const struct qos_tables *t, const struct fabric *f)
{
	struct fixed_tables *k = xcalloc(1, sizeof(*k));

	k->sw = xcalloc(t->n_switches, sizeof(*k->sw));
	k->ca_map = xcalloc(f->n_ports, sizeof(*k->ca_map));
	k->op_vls = xcalloc(f->n_ports, 1);
	k->sends = xmalloc(f->n_ports * sizeof(*k->sends));
	memset(k->sends, 0xff, f->n_ports * sizeof(*k->sends));
	k->mtu = xcalloc(f->n_ports, 1);
	for (uint32_t i = 0; i < f->n_ports; i++) {
		k->ca_map[i] = t->ca_map[i];
		k->op_vls[i] = vls_of(t, f, i);
		k->mtu[i] = mtu_of(f, i);
	}
	return k;
}

void qos_tables_keep(struct qos_tables *t, const struct fabric *f, const struct fixed_seen *seen,
		     struct findings *out)
{
	struct keeping k = { .t = t, .f = f, .out = out };
	struct sl2vl drop;

	t->fixed = fixed_new(t, f);
	memset(drop.vl, IB_VL_DROP, sizeof(drop.vl));
	k.maps.size = sizeof(struct sl2vl);
	for (uint32_t i = 0; i < k.t->n_maps; i++)
		intern_put(&k.maps, &k.t->maps[i]);
	k.drops_all = number_of(&k, &drop);
	for (size_t i = 0; i < seen->n_maps; i++)
		keep_map(&k, &seen->maps[i]);
	for (size_t i = 0; i < seen->n_arbs; i++)
		t->fixed->sends[f->nodes[seen->arbs[i].node].port0 + seen->arbs[i].num] =
			seen->arbs[i].sends;
	t->n_maps = k.maps.n < TABLE_NONE ? (uint32_t)k.maps.n : TABLE_NONE;
	free(t->maps);
	t->maps = intern_take(&k.maps);
	for (uint32_t node = 0; node < f->n_nodes; node++)
		report(&k, node);
}

void qos_fixed_free(struct fixed_tables *k, uint32_t n_switches)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < n_switches; i++)
		free(k->sw[i]);
	free(k->sw);
	free(k->ca_map);
	free(k->op_vls);
	free(k->sends);
	free(k->mtu);
	free(k);
}
