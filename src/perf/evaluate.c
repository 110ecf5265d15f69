/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes words sent, promises and verdicts by VL from two reads of a port's counters.
 *
 * Words by VL follow from the words that the port sent by SL, mapped with the SL to VL tables
 * for the in ports of its packets.  If these do not tell, the far end may: it counts words
 * received by VL, provided that all packets have the operation that it was told to count
 * (16.1.4.6).  A device without these counters may answer with zeros nevertheless, so a sum
 * that is not nearly the total that the port sent is discarded.
 *
 * Data on SLs and VLs that no level has is noted: it takes from what levels are promised.
 */
#include "perf/perf_internal.h"

#define MUCH		1000000		/* words; more than management sends */
#define NEARLY		0.9
#define VL_SEVERAL 0xff		/* VL depends on the in port */

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

		/* skip ports without a link, and the way back through the same port */
		if (node_is_switch(n) && in && (in == p->num ||
						s->f->ports[n->port0 + in].peer == FABRIC_NONE))
			continue;
		if (found != VL_SEVERAL && vl != found)
			return VL_SEVERAL;
		found = vl;
	}
	return found;
}

/*
 * Sets words by VL.  If an SL cannot be assigned to one VL, all are unknown, because shares
 * refer to the sum.
 */
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

/* Total words sent; 0: not known. */
static uint64_t sent_in_all(const struct perf_port *x)
{
	enum pma_attr a = was_read(x, PMA_TOTAL64) ? PMA_TOTAL64 : PMA_TOTAL32;

	return pma_total_growth(&x->before[a], &x->after[a], a, PMA_XMIT_DATA).n;
}

/* Clears words by VL whose sum cannot be all.  False: they were cleared. */
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
	/* neither source: keep the reason */
	x->by = PMA_ATTRS;
	if (was_read(x, PMA_XMIT_SL))
		words_by_sl(s, x);
	if (all_known(x))
		tells_all(x);
}

static bool is_much(struct pma_growth words)
{
	return growth_is_some(words) && words.n >= PERF_STRAY_WORDS;
}

/* VLs count only if the port tells nothing by SL. */
static void find_strays(const struct subnet_state *s, struct perf_port *x, bool known)
{
	uint16_t unnamed = sl_plan_unnamed(&s->plan->sls, s->plan->policy);
	bool told = false;

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		told |= x->sl[sl].n > 0;
		if (unnamed >> sl & 1 && is_much(x->sl[sl]))
			x->stray_sls |= (uint16_t)(1u << sl);
	}
	if (told || !known || x->by != PMA_VL_RCV)
		return;
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		if (!x->sls[vl] && is_much(x->vls[vl].words))
			x->stray_vls |= (uint16_t)(1u << vl);
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
	find_strays(s, x, shares.known);
}
