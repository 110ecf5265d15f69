/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is master (election.c), and taking over by what a standby knew (takeover.c).
 */
#ifndef QOSD_SM_ELECTION_ELECTION_H
#define QOSD_SM_ELECTION_ELECTION_H

#include "mad/mad.h"
#include "sm/sweep/steps.h"

struct sm;

/* election.c */
void election_new(struct sm *sm);
void election_free(struct sm *sm);
enum step_result election_start(struct sm *sm);
/* Master, published: those that say IsSM and did not answer the last election are asked again. */
void election_ask_silent(struct sm *sm);
void election_on_poll(void *arg);
/* How many SMs of another SM_Key there are. */
uint32_t election_other_managers(const struct sm *sm);
/* Not active: take part again, from the beginning.  For who operates this host. */
void election_rejoin(struct sm *sm);
struct sm_info;
void sm_info_get(const uint8_t data[64], struct sm_info *i);
/* Who we are, into the data of an SMInfo, but for the SM_Key. */
void sm_info_say(struct sm *sm, uint8_t data[64]);
void election_receive(struct sm *sm, const struct mad_in *in);

/* takeover.c */
/* Standing by: makes the copy, if it is time. */
void takeover_look(struct sm *sm);
/* The sweep for it is over. */
enum step_result takeover_keep_copy(struct sm *sm);
void takeover_forget(struct sm *sm);
/* A sweep by the copy, from its election on.  False: there is none that is good enough. */
bool takeover_start(struct sm *sm, const char *why);
/* A step of it: the copy becomes what the sweep works on. */
enum step_result takeover_take_copy(struct sm *sm);
/* It is one, and too many do not answer for the rest to be told by it. */
bool takeover_is_hopeless(const struct sm *sm);

#endif
