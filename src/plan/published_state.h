/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The published state: fabric, policy and plan as they are on the devices.
 * Immutable but for the reference count and the faults, which are for the loop's thread alone: sm/
 * completes them when the sweep ends.  sm/ publishes, sa/ and ctl/ read; whoever needs it past the
 * current event takes a reference.
 */
#ifndef QOSD_PLAN_PUBLISHED_STATE_H
#define QOSD_PLAN_PUBLISHED_STATE_H

#include "plan/plan.h"

enum policy_source { POLICY_BUILTIN, POLICY_FILE, POLICY_CLIENT };

struct shared_policy {		/* a policy with a reference count */
	unsigned refs;
	struct policy *p;
	struct findings findings;	/* of the file alone */
	int64_t loaded_us;		/* realtime */
	uint64_t nth_read;		/* of the configured file; 0: not from there */
	struct buf text;		/* the file as it was read; empty if there is none */
	enum policy_source source;
	int64_t uid;			/* of the user who had it loaded; -1: nobody, the daemon */
	/* NULL, or p is an overlay of that one's, with partitions that were added at run time … */
	struct shared_policy *base;
	uint64_t dynamic_change;	/* … by so many changes (sa/registry/dynamic_partitions.h) */
};

/* A device that did not do as it was told when the state came about. */
struct device_fault {
	uint32_t node;
	/* no answer; errors; other values; an M_Key that we don't know */
	enum { FAULT_SILENT, FAULT_REFUSES, FAULT_KEEPS, FAULT_KEY_MISMATCH } kind;
	uint32_t n;			/* Sets refused, values kept; of the others 0 */
	uint16_t attr, status;		/* of what is refused */
};

struct subnet_state {
	unsigned refs;
	uint64_t generation;
	struct fabric *f;
	struct shared_policy *policy;
	struct plan *plan;
	int64_t published_us;		/* realtime */
	struct device_fault *faults;	/* in order of node and kind */
	uint32_t n_faults;
	/*
	 * Per node of f: 0 says that the node and its ports are as in the state of generation
	 * `since`, but for numbers; NULL: nobody knows.
	 */
	uint8_t *changed;
	uint64_t since;
};

struct subnet_state *state_ref(struct subnet_state *s);
void state_unref(struct subnet_state *s);	/* NULL is fine */
uint16_t state_own_lid(const struct subnet_state *s);	/* the base LID of the SM's port */
struct shared_policy *shared_policy_new(struct policy *p);
/* The same policy, by file, text and user, with an overlay in place of its p; takes that over. */
struct shared_policy *shared_policy_overlay(struct shared_policy *base, struct policy *p);
struct shared_policy *shared_policy_ref(struct shared_policy *p);
void shared_policy_unref(struct shared_policy *p);

#endif
