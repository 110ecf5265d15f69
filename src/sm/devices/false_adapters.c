/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds switches whose NodeInfo claims another NodeType, as a step of a sweep right after
 * discovery.
 *
 * Discovery does not look behind a channel adapter.  A switch that claims to be one hides
 * everything behind it, which is the whole subnet if it is the switch at our own port.  Only
 * switches answer SwitchInfo (IBA 14.2.5.4), so this step sends SwitchInfo Gets to doubtful
 * adapters: those with more ports than adapters have, the one at our own port, and those that were
 * switches before.  Nearly every subnet has none.
 *
 * A device that answers goes on the list of exclusions.c as EXCLUDED_SWITCH, and discovery is
 * repeated with its NodeInfo corrected, which may show further such devices behind it.
 */
#include <infiniband/umad_sm.h>

#include "fabric/edit.h"
#include "sm/devices/exclusions.h"
#include "sm/sm_internal.h"

#define ADAPTER_PORTS_MAX 2	/* of real adapters; a device with more costs a Get */

static bool is_doubtful(const struct sm *sm, uint32_t node)
{
	const struct fabric *f = sm->sweep.f, *old = sm->published ? sm->published->f : NULL;
	const struct fabric_node *n = &f->nodes[node];
	uint32_t before;

	if (node_is_switch(n) || !n->hops || n->hops == FABRIC_UNREACHED)
		return false;
	if (n->nports > ADAPTER_PORTS_MAX || n->hops == 1)
		return true;
	before = old ? map64_get(&old->node_by_guid, n->guid) : MAP64_NONE;
	return before != MAP64_NONE && node_is_switch(&old->nodes[before]);
}

static bool next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;

	if (sm->sweep.work[node].cursor || !is_doubtful(sm, node) ||
	    !want_route(sm->sweep.f, node, 0, s))
		return false;
	sm->sweep.work[node].cursor = 1;
	sweep_fill_smp(sm, s, SMP_GET, UMAD_SM_ATTR_SWITCH_INFO, 0);
	*cookie = 0;
	return true;
}

static void done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct fabric_switch is = { 0 };

	(void)cookie;
	if (status)
		return;
	fabric_switch_store(&is, s->data);
	/* some adapters answer any attribute with zeros */
	sm->sweep.work[node].false_adapter = is.lft_cap && is.lft_cap <= IB_LID_MCAST_FIRST;
}

static bool put(struct sm *sm, uint32_t node)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[node];
	uint32_t near = sm->sweep.f->ports[n->port0 + n->local_port].peer;
	struct disco_excluded x = { .why = EXCLUDED_SWITCH };

	if (near == FABRIC_NONE)
		return false;
	excluded_describe(&x, n->info);
	x.near_guid = port_node(sm->sweep.f, near)->guid;
	x.near_port = sm->sweep.f->ports[near].num;
	return exclusions_correct(sm, sm->sweep.f, &x);
}

static void finished(void *arg)
{
	struct sm *sm = arg;
	bool any = false;

	sm->sweep.job = NULL;
	for (uint32_t node = 0; node < sm->sweep.f->n_nodes; node++)
		any |= sm->sweep.work[node].false_adapter && put(sm, node);
	sweep_step_done(sm, STEP_ADAPTERS,
			any && exclusions_may_repeat(sm) ? sweep_discover_again(sm) : RESULT_DONE);
}

static const struct smp_job_ops ops = { next, done, finished };

enum step_result false_adapters_start(struct sm *sm)
{
	bool any = false;

	for (uint32_t node = 0; node < sm->sweep.f->n_nodes; node++)
		any |= is_doubtful(sm, node);
	if (!any)
		return RESULT_DONE;
	sm->sweep.job = smp_job_start(sm->mad, sm->sweep.f->n_nodes, &ops, sm);
	return RESULT_WAIT;
}
