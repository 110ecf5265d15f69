/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `drain`, `isolate`, `release` and `withdrawn` share. */
#ifndef QOSD_CTL_COMMANDS_CMD_WITHDRAWALS_H
#define QOSD_CTL_COMMANDS_CMD_WITHDRAWALS_H

#include "ctl/command.h"
#include "sm/devices/isolations.h"

/* Whether this daemon's list counts: it is the master.  False with an error in the reply. */
bool withdrawals_are_ours(const struct ctl_env *env, const struct sm_status *sm, struct reply *r);
/* A copy of the list to change; NULL with an error in the reply. */
struct withdrawals *withdrawals_begin(const struct ctl_call *c, struct reply *r);
/* Fills kind, user, time and reason of x, as the request has them.  False with an error in the reply. */
bool withdrawal_begin(const struct ctl_call *c, enum withdrawal_kind k, struct withdrawal *x, struct reply *r);
/* Finds the place that a text names: fills guid, port and name of x.  False with an error in the reply. */
bool withdrawal_find_place(const struct ctl_call *c, const char *text, struct withdrawal *x, struct reply *r);
/*
 * Whether the place is isolated, by an entry of w or by a link that is cut (NULL: none), so that draining it would end
 * that; true with an error in the reply.
 */
bool withdrawal_is_isolated(const struct withdrawals *w, const struct isolation_cuts *cuts, const struct withdrawal *x,
			    struct reply *r);
/* Puts x into both lists, of which places may be NULL.  False with an error in the reply. */
bool withdrawals_add(struct withdrawals *w, struct withdrawals *places, const struct withdrawal *x,
		     struct reply *r);
/* Replaces the list by w, and answers with the places in `changed`; takes ownership of both. */
struct withdrawals_change {
	const struct ctl_env *env;
	const struct subnet_state *state;
	struct asker who;
};
void withdrawals_replace(const struct withdrawals_change *x, struct withdrawals *w, json_t *changed, struct reply *r);

/* The members that every entry has. */
json_t *json_withdrawal(const struct withdrawal *x);
/* An isolated place in the fabric f, and the links that are cut (NULL: none known). */
json_t *json_isolated(const struct withdrawal *x, const struct fabric *f, const struct isolation_cuts *cuts,
		      bool in_force);

#endif
