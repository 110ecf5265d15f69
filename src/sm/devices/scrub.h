/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads devices again, slowly.
 */
#ifndef QOSD_SM_DEVICES_SCRUB_H
#define QOSD_SM_DEVICES_SCRUB_H

#include "sm/sm.h"

struct scrub;
struct sm;

/* scrub.c: reads devices again, slowly; NULL if that is not wished */
struct scrub *scrub_new(struct sm *sm);
/* Of our own port alone, each time that scrub_look() says so. */
struct scrub *scrub_new_own(struct sm *sm);
void scrub_look(struct scrub *s);
void scrub_free(struct scrub *s);	/* NULL is fine */
/* A sweep begins. */
void scrub_give_way(struct scrub *s);
struct sm_scrub scrub_counts(const struct scrub *s);

#endif
