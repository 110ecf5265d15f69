/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notices (13.4.8.2): those that the SM itself makes, and who asked for which. */
#ifndef QOSD_SA_NOTICE_H
#define QOSD_SA_NOTICE_H

#include "lib/iba/sa_records.h"
#include "plan/published_state.h"
#include "sa/registry/subscriptions.h"

/* 64 to 67: a GID, of a port or a group, came or went.  The issuer is the SM's port. */
void notice_of_gid(const struct subnet_state *s, uint16_t trap, const uint8_t gid[16],
		   struct sa_notice *n);
/*
 * What is in an SMP from that LID, with the issuer filled in.  False: nobody has the
 * LID, so that nobody can be told of it.  *port is the end port that has it.
 */
bool notice_of_trap(const struct subnet_state *s, const uint8_t smp_data[NOTICE_SMP_LEN],
		    uint16_t slid, struct sa_notice *n, uint32_t *port);
/*
 * Whether it is one that only the subnet manager makes (traps 64 to 69): from a port it is forged,
 * and nobody is told of it.
 */
bool notice_is_of_manager(const uint8_t smp_data[NOTICE_SMP_LEN]);
bool notice_matches(const struct sa_notice *n, const struct inform *what);
/* Of the subnet's security: for those only who have the SM_Key (traps 256 to 259). */
bool notice_is_secret(const struct sa_notice *n);

#endif
