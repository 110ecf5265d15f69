/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines the desired state of the subnet: what fabric, policy and settings together mean, as data.
 *
 * Computing it is pure (plan_compute may run in a worker thread).  sm/ finds and sends the
 * difference to what devices hold.
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

/* What is remembered of ports, from earlier runs too, including absent ports. */
struct lid_map {
	struct map64 by_guid;		/* end port GUID -> base LID */
	struct map64 lmc_by_guid;	/* end port GUID -> LMC that the LID was given with */
	struct pkey_places pkeys;
	struct fabric *fabric;		/* everything known in the previous run, or NULL */
};

/* The plan owns all of it except f, policy and settings, which must outlive the plan; but see own_settings. */
struct plan {
	const struct fabric *f;
	const struct policy *policy;
	const struct settings *settings;
	struct settings *own_settings;	/* settings_for_plan() that is freed with the plan; NULL: none */
	uint16_t *lid;			/* per port slot: base LID of end ports, else 0 */
	uint8_t *lmc;			/* per port slot: the planned LMC, which the tables forward */
	uint8_t *lmc_in_force;		/* per port slot; NULL: devices took the planned LMC */
	uint16_t lid_top;		/* highest LID, LMC ranges included */
	uint16_t lid_limit;		/* highest LID to give out while lower ones are free */
	uint32_t short_switches;	/* switches that do not hold all LIDs; see lft_caps.h */
	uint32_t fixed_switches;		/* switches that do not let their entries be changed */
	/* switches whose entries stay as they do not answer; not in fixed_switches */
	uint32_t silent_switches;
	uint64_t cut_pairs;		/* pairs of the report unreachable because of such switches, */
	uint64_t cut_hosts;		/* and those of them to hosts or to the SM */
	uint32_t *port_by_lid;		/* [0 .. 0xbfff]: port index or FABRIC_NONE */
	uint32_t *routers, n_routers;	/* ports of routers that have a LID */
	struct lfts *lfts;
	struct routes_now *now;		/* how lfts was made */
	const char *engine;		/* name of the routing engine that made the routes */
	struct route_layers *layers;	/* for f's switches; NULL: all routes are in one layer */
	struct group_sets *groups;
	struct partitions *partitions;
	struct matcher *matcher;
	struct sl_plan sls;		/* the SL of each level in each layer */
	struct qos_tables *tables;
	struct paths *paths;
	struct route_report report;
	struct route_proof *proof;	/* of the report, for the next plan */
	struct feasibility *feasible;	/* result of feasible_judge(); NULL: not computed yet */
	struct updn_order *order;
	struct updn_order *tree;	/* the order for multicast instead (routing/tree.h), or NULL */
	struct route_shape shape;	/* whether `order` makes a tree of the switches */
	struct findings findings;	/* on the policy in this fabric, and on routing */
	struct findings fixed;		/* those on devices that keep other tables */
	struct findings short_findings;	/* those on switches that do not hold all LIDs */
	struct findings cut_findings;	/* those on LIDs behind switches that keep their entries */
	/* Times, measured by `now`. */
	int64_t us_lids, us_tables, us_routes, us_verdict, us_paths, us_feasible;
};

/*
 * Assigns LIDs (14.2.5.6).  A port keeps the LID that the plan in force, before (NULL: none), gives
 * it, else the LID that it has, if that is valid, aligned, nobody else's and within the bounds
 * described in lids.c; else it gets the LID that it had in earlier runs; else the lowest free one,
 * those of absent ports last.  Fills p->lid, lmc, lid_top, lid_limit, port_by_lid.  False: the
 * subnet has more ports than LIDs (a finding says so; ports without a LID stay 0).
 */
bool plan_assign_lids(struct plan *p, const struct lid_map *known, const struct plan *before);

/* The LMC with which a port answers, and its number of LIDs. */
static inline uint8_t plan_lmc(const struct plan *p, uint32_t port)
{
	return p->lmc_in_force ? p->lmc_in_force[port] : p->lmc[port];
}
static inline uint32_t plan_lids_of(const struct plan *p, uint32_t port)
{
	return 1u << plan_lmc(p, port);
}

/*
 * For a complete plan whose Sets were answered.  Ports that kept a lower LMC answer to fewer LIDs;
 * the remaining LIDs belong to nobody (lmc_in_force, port_by_lid).
 */
void plan_follow_lmc(struct plan *p);

/*
 * Whether to report lost routes to aggregation nodes and switches (rest), and those that only
 * switches without hosts use (inner).  If switches that keep their entries are the reason, findings
 * about those switches are added instead.
 */
bool plan_tells_rest(const struct plan *p);
bool plan_tells_inner(const struct plan *p);

/* The SL of a level's traffic between two end ports, from the SL of the level. */
static inline uint8_t plan_sl(const struct plan *p, uint8_t level_sl, uint32_t a, uint32_t b)
{
	if (!p->layers)
		return level_sl;
	return p->sls.sl[level_sl][route_layer(p->layers, fabric_switch_of(p->f, a),
					     fabric_switch_of(p->f, b))];
}

/* LinearFDBTop of a switch: the highest LID, or the highest that the switch holds. */
static inline uint16_t plan_lft_top(const struct plan *p, uint32_t sw)
{
	uint16_t cap = p->f->switches[sw].lft_cap;

	return cap > p->lid_top ? p->lid_top : cap ? (uint16_t)(cap - 1) : 0;
}

/* Entries in use in a block of a switch's linear forwarding table: 0 to LFT_BLOCK. */
static inline unsigned plan_lft_entries(const struct plan *p, uint32_t sw, unsigned block)
{
	uint32_t cap = p->f->switches[sw].lft_cap, first = block * LFT_BLOCK;

	if (first > plan_lft_top(p, sw) || first >= cap)
		return 0;
	return cap - first < LFT_BLOCK ? cap - first : LFT_BLOCK;
}

/*
 * The plan in two parts.  The first has everything that devices are told; a fabric that no engine
 * can route gets an error finding and LFTs that drop.  before: the plan in force, of an earlier
 * state of this fabric, or NULL; routes stay as near to its routes as they can.
 *
 * The second adds what clients and operators are told: the report on the routes with its findings,
 * and the paths.  Here before must be complete, or NULL; it saves work and does not change the
 * result.
 *
 * now: a clock in microseconds, or NULL.
 */
struct plan *plan_begin(const struct fabric *f, const struct policy *policy,
			const struct settings *settings, const struct lid_map *known,
			const struct plan *before, int64_t (*now)(void));
/*
 * plan_begin() for a fabric with drained links, of which routes may need some: marks these as neither
 * held nor drained, and begins again, until the plan uses none that is drained.  Only the last
 * plan is returned, which is made and checked like any other.
 */
struct plan *plan_begin_drained(struct fabric *f, const struct policy *policy,
				const struct settings *settings, const struct lid_map *known,
				const struct plan *before, int64_t (*now)(void));
void plan_complete(struct plan *p, const struct plan *before, int64_t (*now)(void));
/* Judges whether this fabric can do what the policy asks: fills feasible of a complete plan. */
void plan_judge(struct plan *p, int64_t (*now)(void));
/*
 * For a complete plan: makes the paths follow tables that devices hold instead of the written ones
 * (qos_tables_keep()).
 */
void plan_follow(struct plan *p, const struct fixed_seen *seen, int64_t (*now)(void));
/*
 * Makes a plan for completing and judging a begun plan while its fabric is written to: it refers to
 * f, a clone of that fabric, and to all that p has.  plan_join() moves its results to p and frees
 * it.
 */
struct plan *plan_fork(const struct plan *p, const struct fabric *f);
void plan_join(struct plan *p, struct plan *fork);
/* plan_begin() and plan_complete(). */
struct plan *plan_compute(const struct fabric *f, const struct policy *policy,
			  const struct settings *settings, const struct lid_map *known,
			  const struct plan *before, int64_t (*now)(void));
void plan_free(struct plan *p);

#endif
