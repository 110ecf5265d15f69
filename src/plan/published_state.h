/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines the published state, which is fabric, policy and plan as they are on the devices.
 *
 * It is immutable except for the reference count and the faults, which only the loop's thread uses:
 * sm/ completes the faults when the sweep ends.  sm/ publishes, sa/ and ctl/ read; a reader that
 * needs the state past the current event takes a reference.
 */
#ifndef QOSD_PLAN_PUBLISHED_STATE_H
#define QOSD_PLAN_PUBLISHED_STATE_H

#include "plan/plan.h"

enum policy_source {
	POLICY_BUILTIN, POLICY_FILE, POLICY_CLIENT,
	POLICY_KEPT,		/* the last good one, at a start without a usable file */
};

struct shared_policy {		/* a policy with a reference count */
	unsigned refs;
	struct policy *p;
	struct findings findings;	/* on the file alone */
	int64_t loaded_us;		/* realtime */
	uint64_t nth_read;		/* count of reads of the configured file; 0: not from there */
	struct buf text;		/* the file as read; empty if there is none */
	enum policy_source source;
	int64_t uid;			/* user who loaded it; -1: the daemon did */
	char *behalf;			/* whom that user loaded it for; NULL: nobody else */
	/* NULL; or p is an overlay on the policy of base, with dynamic partitions */
	struct shared_policy *base;
	/* number of the last change that put it in force (ctl/policy_trials.h); of base, if there is one */
	uint64_t change;
	uint64_t dynamic_change;	/* number of changes in it (sa/registry/dynamic_partitions.h) */
};

/* A device that did not do as it was told when the state was made. */
struct device_fault {
	uint32_t node;
	/* no answer; error status; kept other values; unknown M_Key */
	enum { FAULT_SILENT, FAULT_REFUSES, FAULT_KEEPS, FAULT_KEY_MISMATCH } kind;
	uint32_t n;			/* Sets refused or values kept; otherwise 0 */
	uint16_t attr, status;		/* of the refused Set */
};

struct subnet_state {
	unsigned refs;
	uint64_t generation;
	struct fabric *f;
	struct shared_policy *policy;
	struct plan *plan;
	struct device_fault *faults;	/* in order of node and kind */
	uint32_t n_faults;
	/*
	 * Per node of f: 0: the node and its ports are as in the state of generation `since`,
	 * except for index numbers; NULL: unknown.
	 */
	uint8_t *changed;
	uint64_t since;
};

struct subnet_state *state_ref(struct subnet_state *s);
void state_unref(struct subnet_state *s);	/* NULL is fine */
uint16_t state_own_lid(const struct subnet_state *s);	/* the base LID of the SM's port */
struct shared_policy *shared_policy_new(struct policy *p);
/*
 * A policy with base's file, text and user, and an overlay p in place of its policy; takes
 * ownership of p.
 */
struct shared_policy *shared_policy_overlay(struct shared_policy *base, struct policy *p);
struct shared_policy *shared_policy_ref(struct shared_policy *p);
void shared_policy_unref(struct shared_policy *p);

#endif
