/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a policy comes to on the published fabric, before it is applied: its plan, and the findings of
 * `qosd --check --topology`.
 *
 * A thread computes it from data that is immutable or its own, as that takes a second on a large
 * fabric.
 */
#ifndef QOSD_CTL_FORESIGHT_H
#define QOSD_CTL_FORESIGHT_H

#include "ctl/command.h"
#include "sa/registry/dynamic_partitions.h"

/*
 * The plan of a policy for the published fabric.  LIDs, places of P_Keys and routes are those in
 * force, as far as the policy allows.  now, settings and policy must outlive the plan, which the caller frees.
 * Any thread may call it.
 */
struct plan *foresee_plan(const struct subnet_state *now, const struct settings *settings, const struct policy *policy);
/* Appends the findings of a plan that plan_judge() has judged: on its tables, and on what it can keep. */
void foresee_findings(const struct plan *plan, struct findings *out);

struct foresight {
	struct subnet_state *now;		/* a reference; NULL: no subnet is published */
	struct dynamic_partitions *dynamic;	/* a copy, laid over the policy; NULL: there are none */
	struct settings *settings;		/* what a reload brings; NULL: the settings stay those of `now` */
	bool judged;
	struct findings found;			/* on the policy in this fabric; empty unless judged */
	struct findings refuses;		/* errors among them that refuse a policy which is not forced */
};

/*
 * Takes what is in force at the time of the request, with dynamic partitions, or NULL.  For the loop's
 * thread, as is freeing it.
 */
void foresight_take(struct foresight *x, struct subnet_state *now,
		    const struct dynamic_partitions *dynamic);
void foresight_begin(struct foresight *x, const struct ctl_call *c);
/*
 * A copy of the settings of the published plan, for a reload to put the values in that it brings: they are what is
 * judged by.  NULL without a subnet.  Any thread may call it, before it judges.
 */
struct settings *foresight_settings(struct foresight *x);
/* Judges a policy without dynamic partitions; any thread may call it.  No effect without a subnet. */
void foresight_judge(struct foresight *x, const struct policy *policy);
/*
 * Judges the policy in force with other dynamic partitions than x->dynamic.  Levels that cannot send
 * under the dynamic partitions in force, either, do not refuse the others.
 */
void foresight_judge_with(struct foresight *x, const struct policy *policy,
			  const struct dynamic_partitions *dynamic);
/*
 * True if the policy must not be applied, unless forced: the reasons are appended to out.  False without
 * a subnet, as nothing is known.
 */
bool foresight_refuses(const struct foresight *x, bool forced, struct findings *out);
/* For the end of an error message after such a refusal. */
#define FORESIGHT_FORCE "; --force applies it nevertheless"
/* The findings as JSON; null: not judged. */
json_t *json_foresight(const struct foresight *x);
void foresight_free(struct foresight *x);

/*
 * When a change that is requested now will be in force on the devices: "sweep" (when the sweep
 * that it starts has ended), "next-sweep" (when the sweep after the running one has ended),
 * "subnet-up" (when the subnet has been brought up) or "master" (when this daemon is the master).
 * NULL: there is no subnet manager.  Call it before the change is made, in the loop's thread.
 */
const char *in_force_when(const struct ctl_env *env);

#endif
