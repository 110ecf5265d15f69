/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The desired state of the subnet: what fabric, policy and settings together
 * mean, as data.  Computing it is pure (plan_compute may run in a worker
 * thread); the difference to what the devices hold, and sending that, are
 * sm/'s.
 */
#ifndef QOSD_PLAN_PLAN_H
#define QOSD_PLAN_PLAN_H

#include "fabric/fabric.h"
#include "lib/base/findings.h"
#include "plan/partitions/pkey_members.h"
#include "plan/paths.h"
#include "plan/settings.h"
#include "qos/groups/port_groups.h"
#include "qos/match/match.h"
#include "qos/policy.h"
#include "qos/sl_plan.h"
#include "qos/tables/qos_tables.h"
#include "routing/layers.h"
#include "routing/route.h"
#include "routing/shape.h"

struct feasibility;	/* plan/feasible/feasible.h */
struct routes_now;	/* plan/routes/base_routes.h */

/* What ports are remembered to have had, in earlier runs too, and those that are absent now. */
struct lid_map {
	struct map64 by_guid;		/* end port GUID -> base LID */
	struct map64 lmc_by_guid;	/* … -> the LMC it was given with */
	struct pkey_places pkeys;
	struct fabric *fabric;		/* all that was known in the run before, or NULL */
};

/*
 * Everything is owned by the plan but f, policy and settings, which must
 * outlive it.
 */
struct plan {
	const struct fabric *f;
	const struct policy *policy;
	const struct settings *settings;
	uint16_t *lid;			/* per port slot: base LID of end ports, else 0 */
	uint8_t *lmc;			/* per port slot: wanted, and forwarded */
	uint8_t *lmc_in_force;		/* per port slot; NULL: devices took what is wanted */
	uint16_t lid_top;		/* highest LID, LMC ranges included */
	uint16_t lid_limit;		/* highest LID that is given while there are lower ones */
	uint32_t short_switches;	/* switches that do not hold all LIDs; see lft_caps.h */
	uint32_t fixed_switches;		/* … and that do not let their entries be changed */
	uint32_t silent_switches;		/* … as they do not answer, which these do not count */
	uint64_t cut_pairs;		/* pairs of the report that are unreachable for these reasons, */
	uint64_t cut_hosts;		/* and those of them to hosts or to the SM */
	uint32_t *port_by_lid;		/* [0 .. 0xbfff]: port index or FABRIC_NONE */
	uint32_t *routers, n_routers;	/* ports of routers that have a LID */
	struct lfts *lfts;
	struct routes_now *now;		/* where they come from */
	const char *engine;		/* the routing engine that did it */
	struct route_layers *layers;	/* of f's switches; NULL: all routes are in one */
	struct group_sets *groups;
	struct partitions *partitions;
	struct matcher *matcher;
	struct sl_plan sls;		/* which SL a level has in which layer */
	struct qos_tables *tables;
	struct paths *paths;
	struct route_report report;
	struct route_proof *proof;	/* of the report, for the plan that comes after */
	struct feasibility *feasible;	/* what feasible_judge() said; NULL: not asked yet */
	struct updn_order *order;
	struct updn_order *tree;	/* that multicast goes by instead (routing/tree.h), or NULL */
	struct route_shape shape;	/* whether that order makes a tree of the switches */
	struct findings findings;	/* of the policy against this fabric, and of routing */
	struct findings fixed;		/* … and of devices that keep other tables */
	struct findings short_findings;	/* … and of switches that do not hold all LIDs */
	struct findings cut_findings;	/* … and of LIDs behind switches that keep their entries */
	/* by `now` */
	int64_t us_lids, us_tables, us_routes, us_verdict, us_paths, us_feasible;
};

/*
 * Assigns LIDs (14.2.5.6): what the plan in force, before (NULL: there is none), gives to a port, then
 * what a port has, is kept when it is valid, aligned, nobody else's and within the bounds that lids.c
 * tells of; then what it had in earlier runs; then the lowest free ones, those of absent ports last.  Fills p->lid,
 * lmc, lid_top, lid_limit, port_by_lid.
 * False if the subnet has more ports than LIDs (a finding says so; ports
 * without a LID stay 0).
 */
bool plan_assign_lids(struct plan *p, const struct lid_map *known, const struct plan *before);

/* The LMC by which a port answers, and to how many LIDs. */
static inline uint8_t plan_lmc(const struct plan *p, uint32_t port)
{
	return p->lmc_in_force ? p->lmc_in_force[port] : p->lmc[port];
}
static inline uint32_t plan_lids_of(const struct plan *p, uint32_t port)
{
	return 1u << plan_lmc(p, port);
}

/*
 * Of a complete plan whose Sets were answered: ports that kept a lower LMC answer to fewer
 * LIDs, and the others lead to nobody (lmc_in_force, port_by_lid).
 */
void plan_follow_lmc(struct plan *p);

/*
 * Whether to tell of lost routes to aggregation nodes and switches (rest), and of those that only switches
 * without hosts use (inner).  If switches that keep their entries are the reason, that is told of them
 * instead.
 */
bool plan_tells_rest(const struct plan *p);
bool plan_tells_inner(const struct plan *p);

/* The SL by which what a level is for goes between two end ports, by the SL of the level. */
static inline uint8_t plan_sl(const struct plan *p, uint8_t level_sl, uint32_t a, uint32_t b)
{
	if (!p->layers)
		return level_sl;
	return p->sls.sl[level_sl][route_layer(p->layers, fabric_switch_of(p->f, a),
					     fabric_switch_of(p->f, b))];
}

/* LinearFDBTop of a switch: the highest LID, or the highest that it holds. */
static inline uint16_t plan_lft_top(const struct plan *p, uint32_t sw)
{
	uint16_t cap = p->f->switches[sw].lft_cap;

	return cap > p->lid_top ? p->lid_top : cap ? (uint16_t)(cap - 1) : 0;
}

/* Entries of a block of a switch's linear forwarding table that count: 0 to LFT_BLOCK. */
static inline unsigned plan_lft_entries(const struct plan *p, uint32_t sw, unsigned block)
{
	uint32_t cap = p->f->switches[sw].lft_cap, first = block * LFT_BLOCK;

	if (first > plan_lft_top(p, sw) || first >= cap)
		return 0;
	return cap - first < LFT_BLOCK ? cap - first : LFT_BLOCK;
}

/*
 * The plan in two parts.  The first has all that devices are told; a fabric
 * that no engine can route gets an error finding and LFTs that drop.  before: the plan
 * that is in force, of a fabric that this one was, or NULL; routes stay as near to its as
 * they can.  The second
 * adds what is told of it: the report on the routes with its findings, and the
 * paths; before, which is complete, or NULL, saves work and changes nothing of it.
 * `now` may be NULL; else it is called for time in microseconds.
 */
struct plan *plan_begin(const struct fabric *f, const struct policy *policy,
			const struct settings *settings, const struct lid_map *known,
			const struct plan *before, int64_t (*now)(void));
void plan_complete(struct plan *p, const struct plan *before, int64_t (*now)(void));
/* Can it be done here?  Fills feasible, of a plan that is complete. */
void plan_judge(struct plan *p, int64_t (*now)(void));
/*
 * Has the paths follow what devices have instead of the tables that were written
 * to them (qos_tables_keep()), of a plan that is complete.
 */
void plan_follow(struct plan *p, const struct fixed_seen *seen, int64_t (*now)(void));
/*
 * For completing and judging a begun plan while its fabric is written to: a
 * plan that refers to f, a clone of that fabric, and to all that p has.
 * plan_join() moves what came of it to p, and ends it.
 */
struct plan *plan_fork(const struct plan *p, const struct fabric *f);
void plan_join(struct plan *p, struct plan *fork);
/* Begins and completes. */
struct plan *plan_compute(const struct fabric *f, const struct policy *policy,
			  const struct settings *settings, const struct lid_map *known,
			  const struct plan *before, int64_t (*now)(void));
void plan_free(struct plan *p);

#endif
