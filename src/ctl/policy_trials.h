/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which policy is in force, which one was before, and how that came about:
 * bookkeeping for `qosd-ctl policy`.  Policies come here parsed and checked;
 * what applying one means is the hook's.
 *
 * A policy that was loaded on trial comes back out by itself when its time is
 * over, unless it was confirmed.  While one is on trial no other is loaded;
 * reading the configured file again ends the trial, and that file's policy
 * stays.  A restart of the daemon starts with the configured file, whatever was
 * in force before: policies to go back to are kept in memory only.
 *
 * The history is kept in the state folder.  All of it belongs to the loop's
 * thread.
 */
#ifndef QOSD_CTL_POLICY_TRIALS_H
#define QOSD_CTL_POLICY_TRIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/findings.h"
#include "lib/loop/loop.h"
#include "plan/published_state.h"

struct store;
struct policies;

#define POLICY_CHANGES_MAX	64	/* entries of the history */
/* Earlier policies to go back to: so many, as long as their files have so many bytes together. */
#define POLICY_STEPS_MAX	8
#define POLICY_STEPS_BYTES	(32u << 20)

enum change_kind { CHANGE_START, CHANGE_RELOAD, CHANGE_LOAD, CHANGE_REVERT, CHANGE_KINDS };
enum change_outcome {
	CHANGE_APPLIED,
	CHANGE_ON_TRIAL,
	CHANGE_CONFIRMED,
	CHANGE_TIMED_OUT,	/* taken back since nobody confirmed it */
	CHANGE_REVERTED,	/* taken back on request */
	CHANGE_REPLACED,	/* on trial when the configured file was read again */
	CHANGE_LOST,		/* on trial when the daemon ended */
	CHANGE_REFUSED,
	CHANGE_OUTCOMES
};

/* An entry of the history. */
struct policy_change {
	uint64_t id;		/* 1, 2 … since the start; 0: from an earlier run */
	int64_t when_us;	/* realtime */
	int64_t uid;		/* who asked for it; -1: the daemon itself, or a signal */
	uint64_t checksum;	/* of the file; 0 if it was refused */
	enum change_kind kind;
	enum change_outcome outcome;
	uint32_t errors;	/* of a refused file */
	char *name;		/* of the file, as given; no control characters */
};

/* "start", "reload", "load", "revert"; "applied", "on-trial", … */
const char *change_kind_name(enum change_kind k);
const char *change_outcome_name(enum change_outcome o);

struct policies_hooks {
	/* The policy is to be in force from now on; takes its own reference. */
	void (*apply)(void *arg, struct shared_policy *p);
	/* An entry of the history is new, or its outcome is; good during the call.  May be NULL. */
	void (*changed)(void *arg, const struct policy_change *c);
	void *arg;
};

/* What a file must be like, beside being free of errors, to be put in force. */
struct policies_rules {
	bool may_be_none;	/* no policy is asked for: a file may be empty, or go away */
	bool marker;		/* it must end with "...", whatever the one in force does */
};

/* With the policy of the start, which is in force already.  Everything outlives it. */
struct policies *policies_new(struct loop *l, struct store *store, struct shared_policy *first,
			      const struct policies_rules *rules, const struct policies_hooks *hooks);
void policies_free(struct policies *ps);	/* NULL is fine */

/* --- files that are not all there --- */

/*
 * Whether a policy may take the place of the one in force; if not, there is an error in out, where
 * the file is called `name`.  An empty file, one that is gone, and one without the line "..." at
 * its end where the one in force has it, are what a full disk, an editor or a copy that was cut
 * short leaves behind.
 */
bool policies_accept(const struct policies *ps, const struct shared_policy *p, const char *name,
		     struct findings *out);
/* The same at the start, when none is in force: a file may be empty then. */
bool policies_may_start(const struct policies_rules *rules, const struct shared_policy *p,
			struct findings *out);

/* --- changes; of those that may be refused NULL means done, else why not --- */

/* Applies a policy, for good or (trial_s: 1 .. POLICY_TRIAL_MAX) on trial. */
const char *policies_load(struct policies *ps, struct shared_policy *p, unsigned trial_s);
/* The configured file was read again: ends a trial. */
void policies_reload(struct policies *ps, struct shared_policy *p);
/* A file was refused: an entry of the history, nothing else. */
void policies_refused(struct policies *ps, enum change_kind kind, const char *name, int64_t uid,
		      size_t errors);
const char *policies_confirm(struct policies *ps);
/* Back to the policy before: the end of a trial, or one step back. */
const char *policies_revert(struct policies *ps, int64_t uid);

/* --- looking --- */

struct shared_policy *policies_in_force(const struct policies *ps);
/* What a revert would bring back, or NULL. */
const struct shared_policy *policies_before(const struct policies *ps);
/* Whether the one in force is on trial; microseconds that are left. */
bool policies_on_trial(const struct policies *ps, int64_t *left_us);
/* The history, 0 being the newest; NULL beyond the oldest. */
const struct policy_change *policies_change(const struct policies *ps, size_t i);

#endif
