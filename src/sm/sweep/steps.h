/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists the steps that each kind of sweep takes, in order, and the driver that runs them.
 *
 * A step's start function does its work, or begins it and returns RESULT_WAIT; it then reports the
 * end once, by sweep_step_done().  Steps neither call nor know each other: steps.c has the order.
 */
#ifndef QOSD_SM_SWEEP_STEPS_H
#define QOSD_SM_SWEEP_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sm;

enum sweep_kind {
	SWEEP_NONE,
	SWEEP_STANDBY,		/* by a standby: discovery and plan, no writes (takeover.c) */
	SWEEP_TAKEOVER,		/* by the copy of a standby: ports are told who is master, and no more */
	SWEEP_POLICY,		/* same fabric, new policy: no discovery, no reads */
	SWEEP_LOCAL,		/* some nodes are suspects: only they and their neighbours are looked at */
	SWEEP_CHANGE,		/* something changed: what devices hold is known, except for new devices */
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
	STEP_PATHS, STEP_FOLLOW, STEP_ACTIVATE, STEP_FEWER_VLS, STEP_ROUTES, STEP_ISOLATE,
	STEP_PUBLISH, STEP_ANNOUNCE, STEP_SETTLE, STEP_TELL, STEP_END, STEP_KEEP_COPY,
	SWEEP_STEPS,
};

enum step_result {
	RESULT_DONE,		/* the next step */
	RESULT_WAIT,		/* the step calls sweep_step_done() later, or has called it */
	/*
	 * Everything is discovered, once more or instead of the probe: the sweep goes on at
	 * STEP_DISCOVER, as a SWEEP_CHANGE if its own kind has no such step.
	 */
	RESULT_DISCOVER,
	RESULT_NOTHING,		/* nothing to do: the sweep ends and changes nothing */
	RESULT_LOST,		/* another SM is master: the sweep is abandoned */
	RESULT_FAIL,		/* the sweep is abandoned for the reason given to sweep_fails() */
	RESULT_OVER,		/* the last step has ended the sweep */
};

/* Properties of a kind of sweep; SWEEP_NONE has none of them. */
struct sweep_traits {
	const char *name;
	bool once;		/* each SMP is tried once, and a device that loses one is given up */
	bool brief;		/* SMP timeouts are short, and devices known to be silent are not awaited */
	bool by_copy;	/* the fabric is a copy that was not read again: the plan may be out of date */
	bool repairs;		/* routes are derived from those in force, and written before paths */
	bool plans_all;		/* both parts of the plan are computed at once */
	bool whole;		/* the ports of all devices are read */
	bool reads_tables;	/* nothing that devices were known to hold is relied on */
	bool writes;		/* the sweep writes to devices */
	uint8_t steps[SWEEP_STEPS];	/* enum sweep_step, terminated by STEP_NONE */
};
extern const struct sweep_traits sweep_kinds[SWEEP_KINDS];

/* Progress of a sweep, as sm_sweep_step() shows it. */
struct sweep_progress {
	enum sweep_kind kind;
	enum sweep_step step;		/* the step that runs; STEP_NONE: none */
	bool done;			/* it is done; the next one begins once the event loop has run */
	int64_t begun_us;		/* when that step began */
	int64_t took_us[SWEEP_STEPS];	/* total time of the completed runs of each step */
	uint8_t runs[SWEEP_STEPS];	/* how often each step was begun, at most UINT8_MAX */
};

/* Takes the first step of the sweep that sweep_begin() made. */
void sweep_run(struct sm *sm);
/*
 * Ends a step with a result.  The sweep may be over on return.  The report is ignored, with an
 * error in the log, if another step runs or if this one has reported its end already: the order of
 * writes depends on it.
 */
void sweep_step_done(struct sm *sm, enum sweep_step step, enum step_result result);
/* Whether this step runs and is not done: what it waits for may end it. */
bool sweep_step_waits(const struct sm *sm, enum sweep_step step);
/* Callback of turn_timer: takes the next step once the event loop has run; arg: the struct sm. */
void sweep_turned(void *arg);
/* Records the time of the running step, which is over. */
void sweep_step_over(struct sm *sm);
/* For jobs that are all of their step: the job's `finished` callback. */
void sweep_job_over(void *arg);
/* Returns RESULT_FAIL, and copies the reason. */
enum step_result sweep_fails(struct sm *sm, const char *why);
/* Ends the sweep at once, wherever it is: another SM is master. */
void sweep_lost(struct sm *sm);
const char *phase_name(enum phase p);

/* Steps of sweep.c, discover.c, planning.c and publish.c. */
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
enum step_result sweep_publish(struct sm *sm);
enum step_result sweep_settle(struct sm *sm);
enum step_result sweep_tell(struct sm *sm);
enum step_result sweep_end(struct sm *sm);

#endif
