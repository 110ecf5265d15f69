/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads again, slowly and between sweeps, what devices hold.
 */
#ifndef QOSD_SM_DEVICES_SCRUB_H
#define QOSD_SM_DEVICES_SCRUB_H

#include "sm/sm.h"

struct scrub;
struct sm;

/* Idle while the settings turn the scrub off. */
struct scrub *scrub_new(struct sm *sm);
/* A scrub of our own port only, which runs each time scrub_look() is called. */
struct scrub *scrub_new_own(struct sm *sm);
void scrub_look(struct scrub *s);
void scrub_free(struct scrub *s);	/* NULL is fine */
/* Gives way to a sweep that begins. */
void scrub_give_way(struct scrub *s);
struct sm_scrub scrub_counts(const struct scrub *s);

#endif
