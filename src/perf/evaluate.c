/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two reads of a port's counters to what its VLs got: words by VL, promises by
 * VL, verdicts.
 *
 * What was sent by VL is what the port sent by SL, through the tables by which packets
 * come to it.  Where that does not say, the far end may: it counts what it received by VL, if
 * only packets of the operation that it was told to count (16.1.4.6).  Devices that have neither
 * may answer with zeros nevertheless.  So what is not nearly all that the port sent tells
 * nothing.
 */
#include "perf/perf_internal.h"

#define MUCH		1000000		/* words: more than management sends */
#define NEARLY		0.9
#define VL_SEVERAL 0xff		/* by in ports */

/* The VL of an SL at an out port: IB_VL_DROP, or VL_SEVERAL if tables differ. */
static unsigned vl_of_sl(const struct subnet_state *s, uint32_t port, unsigned sl)
{
	const struct qos_tables *t = s->plan->tables;
	const struct fabric_port *p = &s->f->ports[port];
	const struct fabric_node *n = &s->f->nodes[p->node];
	unsigned last = node_is_switch(n) ? n->nports : 0, found = VL_SEVERAL;

	if (!t->managed)
		return VL_SEVERAL;
	for (unsigned in = 0; in <= last; in++) {
		uint16_t map = qos_sl2vl_in_force(t, s->f, p->node, in, p->num);
		unsigned vl = map == TABLE_NONE ? 0 : t->maps[map].vl[sl];

		/* ports where nothing comes in, and what would go back, say nothing */
		if (node_is_switch(n) && in && (in == p->num ||
						s->f->ports[n->port0 + in].peer == FABRIC_NONE))
			continue;
		if (found != VL_SEVERAL && vl != found)
			return VL_SEVERAL;
		found = vl;
	}
	return found;
}

/* What can't be told apart makes all of them unknown: shares are of the sum. */
static void words_by_sl(const struct subnet_state *s, struct perf_port *x)
{
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		x->vls[vl].words = (struct pma_growth){ GROWTH_KNOWN, 0 };
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		unsigned vl = vl_of_sl(s, x->port, sl);

		if (x->sl[sl].is == GROWTH_KNOWN && x->sl[sl].n == 0)
			continue;
		if (vl < ARB_VLS)
			x->vls[vl].words = pma_sum(x->vls[vl].words, x->sl[sl]);
		else
			x->vls[0].words = (struct pma_growth){ GROWTH_ABSENT, 0 };
	}
}

static bool all_known(const struct perf_port *x)
{
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		if (x->vls[vl].words.is != GROWTH_KNOWN)
			return false;
	return true;
}

static bool was_read(const struct perf_port *x, enum pma_attr a)
{
	return x->before[a].result == PMA_READ && x->after[a].result == PMA_READ;
}

/* In words; 0: not known. */
static uint64_t sent_in_all(const struct perf_port *x)
{
	enum pma_attr a = was_read(x, PMA_TOTAL64) ? PMA_TOTAL64 : PMA_TOTAL32;

	return pma_total_growth(&x->before[a], &x->after[a], a, PMA_XMIT_DATA).n;
}

/* Takes back what can't be all. */
static bool tells_all(struct perf_port *x)
{
	uint64_t all = sent_in_all(x);
	double sum = 0;

	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		sum += (double)x->vls[vl].words.n;
	if (all < MUCH || sum >= NEARLY * (double)all)
		return true;
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		x->vls[vl].words = (struct pma_growth){ GROWTH_ABSENT, 0 };
	return false;
}

static void find_words(const struct subnet_state *s, struct perf_port *x)
{
	x->by = PMA_XMIT_SL;
	words_by_sl(s, x);
	if (was_read(x, PMA_XMIT_SL) && all_known(x) && tells_all(x))
		return;
	x->by = PMA_VL_RCV;
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		x->vls[vl].words = pma_vl_growth(&x->before[PMA_VL_RCV], &x->after[PMA_VL_RCV],
						     PMA_VL_RCV, vl);
	if (was_read(x, PMA_VL_RCV) && all_known(x) && tells_all(x))
		return;
	/* neither: why is what there is to say */
	x->by = PMA_ATTRS;
	if (was_read(x, PMA_XMIT_SL))
		words_by_sl(s, x);
	if (all_known(x))
		tells_all(x);
}

void perf_evaluate(const struct subnet_state *s, struct perf_port *x)
{
	struct port_shares shares;

	port_shares(s, x->port, &shares);
	x->promises = shares.known;
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		x->sl[sl] = pma_vl_growth(&x->before[PMA_XMIT_SL], &x->after[PMA_XMIT_SL],
					    PMA_XMIT_SL, sl);
	find_words(s, x);
	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		x->sls[vl] = shares.sls[vl];
		x->vls[vl].wait = pma_vl_growth(&x->before[PMA_VL_WAIT], &x->after[PMA_VL_WAIT],
						    PMA_VL_WAIT, vl);
		x->vls[vl].promised = shares.known ? vl_share(&shares, vl) : 0;
	}
	x->full = judge_vls(x->vls, shares.gbps, x->us);
}
