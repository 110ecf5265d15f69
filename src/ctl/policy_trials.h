/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps track of the policy in force, earlier ones, and the history of changes, for `qosd-ctl
 * policy`.  Policies arrive here parsed and checked; a hook applies them.
 *
 * A policy loaded on trial is reverted when its time is over, unless it was confirmed.  During a
 * trial no other policy can be loaded; reloading the configured file ends the trial, and that
 * file's policy stays.  A restarted daemon begins with the configured file, whatever was in force
 * before: policies to revert to are kept in memory only.
 *
 * The history is kept in the state folder, and so is the policy that last went into force for good:
 * the last good policy, which a start without a usable file takes.  Everything here belongs to the loop's thread.
 */
#ifndef QOSD_CTL_POLICY_TRIALS_H
#define QOSD_CTL_POLICY_TRIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "events/event.h"
#include "lib/base/findings.h"
#include "lib/loop/loop.h"
#include "plan/published_state.h"

struct store;
struct policies;

#define POLICY_CHANGES_MAX	64	/* entries of the history */
/* Limits of earlier policies to revert to: their number, and the bytes of their files together. */
#define POLICY_STEPS_MAX	8
#define POLICY_STEPS_BYTES	(32u << 20)

enum change_kind { CHANGE_START, CHANGE_RELOAD, CHANGE_LOAD, CHANGE_REVERT, CHANGE_KINDS };
enum change_outcome {
	CHANGE_APPLIED,
	CHANGE_ON_TRIAL,
	CHANGE_CONFIRMED,
	CHANGE_TIMED_OUT,	/* reverted, as nobody confirmed it */
	CHANGE_REVERTED,	/* reverted on request */
	CHANGE_REPLACED,	/* ended its trial: the configured file was reloaded */
	CHANGE_LOST,		/* ended its trial: the daemon stopped */
	CHANGE_REFUSED,
	CHANGE_OUTCOMES
};

/* An entry of the history. */
struct policy_change {
	uint64_t id;		/* 1, 2 … since the daemon's start; 0: from an earlier run */
	int64_t when_us;	/* realtime */
	int64_t uid;		/* user who asked for it; -1: the daemon itself, or a signal */
	char *behalf;		/* whom that user asked for, without control characters; NULL: nobody else */
	uint64_t checksum;	/* of the file; 0: refused */
	enum change_kind kind;
	enum change_outcome outcome;
	uint32_t errors;	/* number of errors of a refused file */
	char *name;		/* file name as given, without control characters */
};

/* "start", "reload", "load", "revert"; "applied", "on-trial", … */
const char *change_kind_name(enum change_kind k);
const char *change_outcome_name(enum change_outcome o);

struct policies_hooks {
	/* Puts the policy in force; takes its own reference. */
	void (*apply)(void *arg, struct shared_policy *p);
	/*
	 * Called for a new entry of the history, or a new outcome; c is valid during the call.  May
	 * be NULL.
	 */
	void (*changed)(void *arg, const struct policy_change *c);
	void *arg;
};

/* Requirements for a file to be put in force, besides being free of errors. */
struct policies_rules {
	bool may_be_none;	/* no policy is required: the file may be empty, or removed */
	bool marker;		/* the file must end with "...", even if the one in force does not */
};

/* Starts with a policy that is in force already.  All arguments must outlive the result. */
struct policies *policies_new(struct loop *l, struct store *store, struct shared_policy *first,
			      const struct policies_rules *rules, const struct policies_hooks *hooks);
void policies_free(struct policies *ps);	/* accepts NULL */

/* --- empty and truncated files --- */

/*
 * Decides whether a policy may replace the one in force; if not, adds an error to out, where the
 * file is called `name`.  It refuses an empty file, a removed one, and one that lacks the final
 * line "..." if the one in force has it: a full disk, an editor or an interrupted copy leaves such
 * files.
 */
bool policies_accept(const struct policies *ps, const struct shared_policy *p, const char *name,
		     struct findings *out);
/* The same under a value of `policy-end-marker` that is to be in force with the policy. */
bool policies_accept_by(const struct policies *ps, bool marker, const struct shared_policy *p,
			const char *name, struct findings *out);
/*
 * Like policies_accept() at the start, when none is in force.  A file may be empty then, unless a
 * last good policy is known (has_good), which it would displace.
 */
bool policies_may_start(const struct policies_rules *rules, const struct shared_policy *p,
			bool has_good, struct findings *out);

/* Whether policies must end with a line "..." from now on. */
void policies_set_marker(struct policies *ps, bool marker);

/* --- changes; those that return a string return NULL when done, else the reason for refusal --- */

/* Applies a policy, for good (trial_s 0) or on trial (trial_s: 1 .. POLICY_TRIAL_MAX seconds). */
const char *policies_load(struct policies *ps, struct shared_policy *p, unsigned trial_s);
/* Applies the configured file's policy after a reload; ends a trial. */
void policies_reload(struct policies *ps, struct shared_policy *p);
/* Records in the history that a file was refused. */
void policies_refused(struct policies *ps, enum change_kind kind, const char *name, struct asker who,
		      size_t errors);
const char *policies_confirm(struct policies *ps);
/* Reverts to the previous policy: ends a trial, or goes one step back. */
const char *policies_revert(struct policies *ps, struct asker who);

/* --- looking --- */

struct shared_policy *policies_in_force(const struct policies *ps);
/* The id of the change that put it in force: each later change has a higher one. */
uint64_t policies_number(const struct policies *ps);
/* The policy that a revert would restore, or NULL. */
const struct shared_policy *policies_before(const struct policies *ps);
/* True if the policy in force is on trial; *left_us: the microseconds left. */
bool policies_on_trial(const struct policies *ps, int64_t *left_us);
/* An entry of the history, 0 being the newest; NULL beyond the oldest. */
const struct policy_change *policies_change(const struct policies *ps, size_t i);

#endif
