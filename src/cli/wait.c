/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for a change by polling `status`; wait.h has the contracts. */
#include "wait.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "command_line.h"
#include "connection.h"
#include "members.h"
#include "output.h"

#define WAIT_SECONDS 60u	/* limit for a change to come into force */

bool awaits_change;

enum progress { IN_FORCE, NOT_YET, NEVER };

static enum progress never(const char *why, const char *more)
{
	fprintf(stderr, "qosd-ctl: the change is not in force: %s%s\n", why, more);
	return NEVER;
}

/*
 * What the result of `status` says of a change with this number.  Dynamic partitions, and what is
 * withdrawn, add up, so that a later change of them includes it; a later policy replaces it.
 */
static enum progress progress_of(const json_t *status, const struct ctl_command *c, long long change,
				 const struct before *before)
{
	const json_t *policy = json_object_get(status, "policy");
	const json_t *x = c->withdraws ? json_object_get(status, "withdrawn") :
			  c->request ? json_object_get(policy, "dynamic") : policy;
	bool pending = json_is_true(json_object_get(json_object_get(status, "multicast-trees"), "pending"));
	const char *state = str(status, "state");
	bool up = json_is_true(json_object_get(status, "subnet-up"));

	if (!strcmp(state, "standby") || !strcmp(state, "not-active"))
		return never("the subnet manager is ", state);
	if (!c->withdraws && !c->request && num(x, "change") != change)
		return never("another policy has replaced it", "");
	if (num(x, "change-in-force") < change || (c->withdraws && pending))
		return NOT_YET;
	if (num(status, "failed-sets") || (before->up && !up) ||
	    num(status, "failed-devices") > before->failed_devices)
		return never("devices did not take their settings, see 'qosd-ctl health'", "");
	return IN_FORCE;
}

bool look_before(struct before *before)
{
	json_t *args = json_object(), *answer = ask_once("status", args, NULL);
	const json_t *status = json_object_get(answer, "result");
	bool answered = answer != NULL;

	before->up = json_is_true(json_object_get(status, "subnet-up"));
	before->failed_devices = num(status, "failed-devices");
	json_decref(args);
	json_decref(answer);
	return answered;
}

int wait_in_force(const struct ctl_command *c, const json_t *result, const struct before *before)
{
	enum progress x = NOT_YET;

	for (unsigned i = 0; x == NOT_YET && i < WAIT_SECONDS * 50; i++) {
		json_t *args = json_object(), *answer = ask_once("status", args, NULL);

		if (answer)
			x = progress_of(json_object_get(answer, "result"), c,
					num(result, "change"), before);
		json_decref(args);
		json_decref(answer);
		if (!answer)
			return EXIT_NO_DAEMON;
		if (x == NOT_YET)
			usleep(20000);
	}
	if (x == NOT_YET)
		fprintf(stderr, "qosd-ctl: the change is not in force after %u s\n", WAIT_SECONDS);
	else if (x == IN_FORCE && !options.json)
		printf("it is in force\n");
	return x == IN_FORCE ? EXIT_DONE : EXIT_REFUSED;
}
