/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tells which end ports a member line of a partition names in the present fabric. */
#ifndef QOSD_CTL_MEMBER_PORTS_H
#define QOSD_CTL_MEMBER_PORTS_H

#include <jansson.h>

#include "plan/published_state.h"

/* A look at many lines; it must not outlive the state. */
struct member_look;
struct member_look *member_look_new(const struct subnet_state *s);
void member_look_free(struct member_look *l);	/* NULL is fine */

/*
 * The GUIDs of the end ports that the line names, in an array that the caller frees.  Groups are
 * those of the policy in force: one that it does not have has no ports.
 */
json_t *member_look_ports(struct member_look *l, const struct policy_member *m);

#endif
