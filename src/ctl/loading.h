/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A policy file that a client sent, until it is parsed into a policy (cmd_policy.c). */
#ifndef QOSD_CTL_LOADING_H
#define QOSD_CTL_LOADING_H

#include "ctl/command.h"

struct loading {
	char *name;			/* name of the file as the client gave it */
	struct buf text;
	struct kept_asker who;
	struct findings found;		/* findings on the file */
	struct shared_policy *policy;	/* NULL: not parsed yet, or refused */
};

/* Takes the file from the call; returns false with an error in the reply. */
bool loading_take(struct loading *l, const struct ctl_call *c, struct reply *r);
/* May run in any thread. */
void loading_parse(struct loading *l);
/* Answers a file with errors. */
void loading_refused(const struct loading *l, struct reply *r, const char *then);
void loading_free(struct loading *l);

#endif
