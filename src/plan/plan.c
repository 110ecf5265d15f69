/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See plan.h.  Puts the plan together from its parts.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "plan/feasible/feasible.h"
#include "plan/plan.h"
#include "plan/routes/base_routes.h"
#include "plan/routes/changed_ways.h"

static const struct src_pos nowhere;

bool plan_tells_rest(const struct plan *p)
{
	const struct route_report *v = &p->report;

	return v->unreachable - v->to_hosts.n > p->cut_pairs - p->cut_hosts;
}

bool plan_tells_inner(const struct plan *p)
{
	return !p->short_switches && !p->fixed_switches && !p->silent_switches;
}

/* what: as in "4 routes to aggregation nodes" */
static void tell_lost(struct plan *p, enum severity severity, const struct route_lost *l,
		      uint64_t loops, const char *what)
{
	struct buf text = { 0 };

	if (!l->n)
		return;
	if (loops)
		buf_printf(&text, " (%" PRIu64 " of all lost routes loop)", loops);
	findings_add(&p->findings, severity, "", nowhere,
		     "routing (%s): %" PRIu64 " route%s %s lead%s nowhere%s; for example from %s to %s",
		     p->engine, l->n, l->n == 1 ? "" : "s", what, l->n == 1 ? "s" : "",
		     text.n ? text.s : "", PORT_NAME(p->f, l->src), PORT_NAME(p->f, l->dst));
	buf_free(&text);
}

static void tell_layers(struct plan *p)
{
	struct buf why = { 0 };
	unsigned most;

	if (!p->layers || p->layers->n == 1)
		return;
	if (p->layers->link) {
		findings_add(&p->findings, SEV_INFO, "", nowhere,
			     "routing (%s): %u SLs for each level, on %u VL sets; programs that choose an "
			     "SL themselves instead of querying the path's may deadlock with others",
			     p->engine, p->layers->n, p->layers->n_vl_sets);
		return;
	}
	most = sl_plan_most(p->policy, p->f, p->settings->max_op_vls, &why);
	findings_add(&p->findings, SEV_INFO, "", nowhere,
		     "routing (%s): %u layers of at most %u (%s); programs that choose an SL themselves "
		     "instead of querying the path's send everything in layer 0 and may deadlock with "
		     "others", p->engine, p->layers->n, most, why.s);
	buf_free(&why);
}

static void judge_routes(struct plan *p, const struct route_request *r,
			 const struct route_changes *changes, const struct plan *before)
{
	const struct route_report *v = &p->report;
	struct route_lost any;

	route_verify_next(r, p->lfts, changes, changes ? before->proof : NULL, &p->report,
			  &p->proof);
	any = (struct route_lost){ v->unreachable, v->unreachable_src, v->unreachable_dst };
	if (v->to_hosts.n || !v->loops)
		tell_lost(p, SEV_ERROR, &v->to_hosts, v->loops, "to hosts");
	else
		tell_lost(p, SEV_ERROR, &any, v->loops, "from hosts");
	if (plan_tells_inner(p))
		tell_lost(p, SEV_ERROR, &v->of_sm, 0, "between switches and the subnet manager");
	if (plan_tells_rest(p)) {
		tell_lost(p, SEV_WARNING, &v->to_aggregation, 0, "from hosts to aggregation nodes");
		tell_lost(p, SEV_INFO, &v->to_switches, 0, "from hosts to switches themselves");
	}
	if (plan_tells_inner(p))
		tell_lost(p, SEV_INFO, &v->inner, 0, "from switches to other switches themselves");
	tell_layers(p);
	if (v->credit_loop)
		findings_add(&p->findings, SEV_WARNING, "", nowhere,
			     "routing (%s): credit loop, traffic may deadlock: %s", p->engine,
			     v->credit_loop_text.n ? v->credit_loop_text.s : "");
}

static struct route_request request_of(const struct plan *p)
{
	return (struct route_request){
		.f = p->f, .lid = p->lid, .lmc = p->lmc, .lid_top = p->lid_top, .order = p->order,
		.layers = p->layers,
	};
}

static void list_routers(struct plan *p)
{
	VEC(uint32_t) ports = { 0 };

	for (uint32_t port = 0; port < p->f->n_ports; port++)
		if (p->lid[port] && port_node(p->f, port)->type == IB_NODE_ROUTER_T)
			*vec_push(&ports) = port;
	p->routers = ports.v;
	p->n_routers = (uint32_t)ports.n;
}

static int64_t no_clock(void)
{
	return 0;
}

struct plan *plan_begin(const struct fabric *f, const struct policy *policy,
			const struct settings *settings, const struct lid_map *known,
			const struct plan *before, int64_t (*now)(void))
{
	struct plan *p = xcalloc(1, sizeof(*p));
	int64_t t[5];

	if (!now)
		now = no_clock;
	p->f = f;
	p->policy = policy;
	p->settings = settings;
	t[0] = now();
	plan_assign_lids(p, known, before);
	list_routers(p);
	t[1] = now();
	p->groups = groups_resolve(policy, f, &p->findings);
	p->partitions = partitions_build(policy, f, p->groups, known ? &known->pkeys : NULL,
					 settings->partition_enforcement, &p->findings);
	p->matcher = matcher_build(policy, f, p->groups);
	t[2] = now();
	routes_make(p, before, known);
	t[3] = now();
	sl_plan_make(&p->sls, policy, p->layers);
	p->tables = qos_tables_build(policy, f, p->groups, settings->max_op_vls, &p->sls, &p->findings);
	t[4] = now();
	p->us_lids = t[1] - t[0];
	p->us_tables = t[2] - t[1] + (t[4] - t[3]);
	p->us_routes = t[3] - t[2];
	return p;
}

struct plan *plan_begin_drained(struct fabric *f, const struct policy *policy,
				const struct settings *settings, const struct lid_map *known,
				const struct plan *before, int64_t (*now)(void))
{
	struct plan *p = plan_begin(f, policy, settings, known, before, now);

	/* ends, as each time fewer links are drained */
	while (routes_give_back_drained(p, f)) {
		plan_free(p);
		p = plan_begin(f, policy, settings, known, before, now);
	}
	return p;
}

void plan_complete(struct plan *p, const struct plan *before, int64_t (*now)(void))
{
	struct route_request r = request_of(p);
	struct route_changes *changes;
	struct hops *hops;
	int64_t t[3];

	if (!now)
		now = no_clock;
	t[0] = now();
	hops = paths_hops(p->f, p->tables);
	changes = changes_find(p, hops, before);
	judge_routes(p, &r, changes, before);
	t[1] = now();
	p->paths = paths_update(p->f, p->lfts, p->lid_top, p->port_by_lid, p->tables, hops, changes,
				changes ? before->paths : NULL);
	t[2] = now();
	route_changes_free(changes);
	p->us_verdict = t[1] - t[0];
	p->us_paths = t[2] - t[1];
}

void plan_follow(struct plan *p, const struct fixed_seen *seen, int64_t (*now)(void))
{
	int64_t start;

	if (!now)
		now = no_clock;
	start = now();
	qos_tables_keep(p->tables, p->f, seen, &p->fixed);
	paths_free(p->paths);
	p->paths = paths_compute(p->f, p->lfts, p->lid_top, p->port_by_lid, p->tables);
	p->us_paths += now() - start;
}

void plan_follow_lmc(struct plan *p)
{
	for (uint32_t i = 0; i < p->f->n_ports; i++) {
		uint8_t has = p->f->ports[i].lmc;

		if (!p->lid[i] || has >= p->lmc[i])
			continue;
		if (!p->lmc_in_force)
			p->lmc_in_force = xmemdup(p->lmc, p->f->n_ports * sizeof(*p->lmc));
		p->lmc_in_force[i] = has;
		for (uint32_t k = 1u << has; k < 1u << p->lmc[i]; k++)
			p->port_by_lid[p->lid[i] + k] = FABRIC_NONE;
	}
}

void plan_judge(struct plan *p, int64_t (*now)(void))
{
	int64_t start;

	if (!now)
		now = no_clock;
	start = now();
	p->feasible = feasible_judge(p);
	p->us_feasible = now() - start;
}

struct plan *plan_fork(const struct plan *p, const struct fabric *f)
{
	struct plan *fork = xmemdup(p, sizeof(*p));

	fork->f = f;
	fork->findings = (struct findings){ .max = p->findings.max };
	return fork;
}

void plan_join(struct plan *p, struct plan *fork)
{
	findings_move(&p->findings, &fork->findings);
	p->report = fork->report;
	p->proof = fork->proof;
	p->paths = fork->paths;
	p->feasible = fork->feasible;
	p->us_verdict = fork->us_verdict;
	p->us_paths = fork->us_paths;
	p->us_feasible = fork->us_feasible;
	free(fork);
}

struct plan *plan_compute(const struct fabric *f, const struct policy *policy,
			  const struct settings *settings, const struct lid_map *known,
			  const struct plan *before, int64_t (*now)(void))
{
	struct plan *p = plan_begin(f, policy, settings, known, before, now);

	plan_complete(p, before, now);
	return p;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	feasible_free(p->feasible);
	paths_free(p->paths);
	lfts_free(p->lfts);
	route_layers_free(p->layers);
	routes_free(p);
	route_report_free(&p->report);
	route_proof_free(p->proof);
	updn_order_free(p->order);
	updn_order_free(p->tree);
	matcher_free(p->matcher);
	qos_tables_free(p->tables);
	partitions_free(p->partitions);
	groups_free(p->groups);
	findings_free(&p->findings);
	findings_free(&p->fixed);
	findings_free(&p->short_findings);
	findings_free(&p->cut_findings);
	free(p->own_settings);
	free(p->lid);
	free(p->lmc);
	free(p->lmc_in_force);
	free(p->port_by_lid);
	free(p->routers);
	free(p);
}
