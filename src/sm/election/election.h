/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Elects the master: asks who is there and hands over (election.c), stands by (stand_by.c), answers
 * other SMs (controls.c) and follows what they claim (claims.c); and takes over with the copy that
 * a standby made (takeover.c).
 */
#ifndef QOSD_SM_ELECTION_ELECTION_H
#define QOSD_SM_ELECTION_ELECTION_H

#include "mad/mad.h"
#include "sm/sweep/steps.h"

struct sm;
struct sm_info;

/* election.c */
void election_new(struct sm *sm);
void election_free(struct sm *sm);
enum step_result election_start(struct sm *sm);
/*
 * As master with a published state: asks again ports that say IsSM and did not answer in the last
 * election.
 */
void election_ask_silent(struct sm *sm);
/* The number of SMs that use another SM_Key. */
uint32_t election_other_managers(const struct sm *sm);
/* Our own SMInfo.Priority, 0 to 15: the setting's, or what sm_set_priority() was given last. */
uint8_t election_priority(const struct sm *sm);
/* Leaves NOT-ACTIVE and takes part again from the beginning, on behalf of this host's operator. */
void election_rejoin(struct sm *sm);

/* stand_by.c */
/* Callback of the timer standby.poll; arg: the struct sm. */
void election_on_poll(void *arg);

/* controls.c */
/* Takes a request for SMInfo, or a control, of another SM. */
void election_receive(struct sm *sm, const struct mad_in *in);

/* sm_info.c */
void sm_info_get(const uint8_t data[64], struct sm_info *i);
/* Fills the data of an SMInfo with our own values, except for the SM_Key. */
void sm_info_say(struct sm *sm, uint8_t data[64]);

/* takeover.c */
/* As standby: makes the copy if one is due. */
void takeover_look(struct sm *sm);
/* A step: keeps what the standby's sweep found as the copy. */
enum step_result takeover_keep_copy(struct sm *sm);
void takeover_forget(struct sm *sm);
/* Starts a sweep that uses the copy, from its election on.  False: no copy is good enough. */
bool takeover_start(struct sm *sm, const char *why);
/* A step of that sweep: the sweep works on the copy from here on. */
enum step_result takeover_take_copy(struct sm *sm);
/* The running sweep uses the copy, and so many devices do not answer that the copy is of no use. */
bool takeover_is_hopeless(const struct sm *sm);

#endif
