/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds Notices (13.4.8.2) of the SM and of traps, and matches them with subscriptions. */
#ifndef QOSD_SA_NOTICE_H
#define QOSD_SA_NOTICE_H

#include "lib/iba/sa_records.h"
#include "plan/published_state.h"
#include "sa/registry/subscriptions.h"

/* The Notice of traps 64 to 67: the GID of a port or a group came or went.  Its issuer is the SM's port. */
void notice_of_gid(const struct subnet_state *s, uint16_t trap, const uint8_t gid[16],
		   struct sa_notice *n);
/*
 * The Notice in a trap's SMP from slid, with the issuer filled in.  *port is the end port
 * with that LID.  False: no port has it, so that nobody can be told of the Notice.
 */
bool notice_of_trap(const struct subnet_state *s, const uint8_t smp_data[NOTICE_SMP_LEN],
		    uint16_t slid, struct sa_notice *n, uint32_t *port);
/*
 * Whether only the subnet manager issues such a Notice (traps 64 to 69): one from a port is
 * forged and not reported.
 */
bool notice_is_of_manager(const uint8_t smp_data[NOTICE_SMP_LEN]);
bool notice_matches(const struct sa_notice *n, const struct inform *what);
/* Whether only subscribers with the SM_Key may get it: subnet security, traps 256 to 259. */
bool notice_is_secret(const struct sa_notice *n);

#endif
