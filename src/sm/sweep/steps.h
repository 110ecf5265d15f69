/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The steps of a sweep, the order in which each kind of sweep takes them, and the one driver.
 *
 * A step's start function does its work, or begins it and returns RESULT_WAIT; it reports the end of
 * that by sweep_step_done(), once.  Steps neither call nor know each other: steps.c has the order.
 */
#ifndef QOSD_SM_SWEEP_STEPS_H
#define QOSD_SM_SWEEP_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sm;

enum sweep_kind {
	SWEEP_NONE,
	SWEEP_STANDBY,		/* by a standby: discovery and plan, nothing is written (takeover.c) */
	SWEEP_TAKEOVER,		/* by its copy: ports hear who is master, no more */
	SWEEP_POLICY,		/* same fabric, new policy: no discovery, nothing is read */
	SWEEP_LOCAL,		/* some nodes are suspected: only what is around them is looked at */
	SWEEP_CHANGE,		/* something changed: what devices hold is known but for new ones */
	SWEEP_FULL,		/* everything is read back */
	SWEEP_KINDS,
};

enum phase {
	PHASE_IDLE, PHASE_PROBING, PHASE_DISCOVERY, PHASE_ELECTION, PHASE_LINKS, PHASE_PLANNING,
	PHASE_READING, PHASE_PORTS, PHASE_TABLES, PHASE_ACTIVATION, PHASE_ROUTES,
	PHASE_ANNOUNCING,
};

enum sweep_step {
	STEP_NONE,		/* ends the steps of a kind */
	STEP_PROBE, STEP_DISCOVER, STEP_HIDDEN, STEP_ACCEPT, STEP_PUBLISHED, STEP_COPY,
	STEP_KEYS, STEP_ADAPTERS, STEP_ELECT, STEP_MASTER, STEP_SPEEDS, STEP_ADAPTIVE, STEP_PLACES,
	STEP_PREPARE, STEP_FIXED_ROUTES, STEP_PLAN, STEP_PATHS_EARLY, STEP_READ, STEP_COMING,
	STEP_OWN_KEYS, STEP_PORTS, STEP_MORE_VLS, STEP_PATHS_BEGIN, STEP_JUDGE, STEP_TABLES,
	STEP_PATHS, STEP_FOLLOW, STEP_ACTIVATE, STEP_FEWER_VLS, STEP_ROUTES, STEP_TURN,
	STEP_PUBLISH, STEP_ANNOUNCE, STEP_SETTLE, STEP_KEEP_COPY,
	SWEEP_STEPS,
};

enum step_result {
	RESULT_DONE,		/* the next step */
	RESULT_WAIT,		/* the step calls sweep_step_done() later, or has called it */
	/*
	 * All is discovered, again or instead of what was probed: the sweep goes on at STEP_DISCOVER,
	 * as one of SWEEP_CHANGE if its kind has no such step.
	 */
	RESULT_DISCOVER,
	RESULT_NOTHING,		/* nothing is to be done: the sweep ends, and all is as it was */
	RESULT_LOST,		/* another is master: the sweep ends without its end */
	RESULT_FAIL,		/* likewise, for the reason that sweep_fails() was told */
	RESULT_OVER,		/* the sweep is over: its last step has ended it */
};

/* What a kind of sweep is like.  SWEEP_NONE is like none of it. */
struct sweep_traits {
	const char *name;
	bool once;		/* each SMP is tried once, and a device that loses one is given up */
	bool brief;		/* SMPs wait briefly, and devices known to be silent are not waited for */
	bool by_copy;	/* nobody has read the fabric: the plan may be an old one */
	bool repairs;		/* routes follow from those in force, and are written before paths are known */
	bool plans_all;		/* the plan's two parts are computed at once */
	bool whole;		/* the ports of all devices are read */
	bool reads_tables;	/* nothing that devices were known to hold is relied on */
	bool writes;		/* devices are told something */
	uint8_t steps[SWEEP_STEPS];	/* enum sweep_step, up to STEP_NONE */
};
extern const struct sweep_traits sweep_kinds[SWEEP_KINDS];

/* How far a sweep has come: what sm_sweep_step() shows. */
struct sweep_progress {
	enum sweep_kind kind;
	enum sweep_step step;		/* that runs; STEP_NONE: none */
	int64_t begun_us;		/* when it began */
	int64_t took_us[SWEEP_STEPS];	/* of steps that are over, all runs of each together */
	uint8_t runs[SWEEP_STEPS];	/* how often each was begun; UINT8_MAX: so often or more */
};

/* Takes the first step of the sweep that sweep_begin() made. */
void sweep_run(struct sm *sm);
/* The step that runs ends with this result.  The sweep may be over on return. */
void sweep_step_done(struct sm *sm, enum step_result result);
/* The time of the step that runs is taken: it is over. */
void sweep_step_over(struct sm *sm);
/* The `finished` of a job that is all that its step does. */
void sweep_job_over(void *arg);
/* RESULT_FAIL, for this reason, which is copied. */
enum step_result sweep_fails(struct sm *sm, const char *why);
/* Ends a sweep at once, wherever it is: another is master. */
void sweep_lost(struct sm *sm);
const char *phase_name(enum phase p);

/* The steps that sweep.c does itself. */
enum step_result sweep_discover(struct sm *sm);
enum step_result sweep_accept(struct sm *sm);
enum step_result sweep_take_published(struct sm *sm);
enum step_result sweep_become_master(struct sm *sm);
enum step_result sweep_prepare(struct sm *sm);
enum step_result sweep_plan(struct sm *sm);
enum step_result sweep_paths_early(struct sm *sm);
enum step_result sweep_coming(struct sm *sm);
enum step_result sweep_paths_begin(struct sm *sm);
enum step_result sweep_judge(struct sm *sm);
enum step_result sweep_paths(struct sm *sm);
enum step_result sweep_follow(struct sm *sm);
enum step_result sweep_turn(struct sm *sm);
enum step_result sweep_publish(struct sm *sm);
enum step_result sweep_settle(struct sm *sm);

#endif
