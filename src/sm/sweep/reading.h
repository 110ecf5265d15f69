/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The steps of a sweep that read what devices hold.
 */
#ifndef QOSD_SM_SWEEP_READING_H
#define QOSD_SM_SWEEP_READING_H

#include "sm/sweep/steps.h"
#include "sm/sweep/sweep.h"

/* speeds.c: a step of a sweep */
enum step_result speeds_start(struct sm *sm);

/* pkey_places.c: a step of a sweep */
enum step_result places_start(struct sm *sm);
/* The block that an item stands for, if that step read it, or NULL. */
const uint8_t *places_read(const struct sm *sm, uint32_t node, item_t item);
void places_free(struct node_work *w);

/* observe.c: a step of a sweep */
enum step_result observe_start(struct sm *sm);
/* The plan that is surely on the node, and the node's index there, or NULL. */
const struct plan *sweep_known_plan(const struct sm *sm, uint32_t node, uint32_t *old_node);
/* Leaves in items what is to be written. */
void observe_settle(struct node_work *w);
/* Adds an item behind the others. */
void observe_add(struct node_work *w, item_t item);

/* inherited.c: asks for tables of a node that the policy does not manage, as far as is needed. */
void inherited_collect(struct sm *sm, uint32_t node);
/* What came of it; the item that is to be written, or 0. */
item_t inherited_take(struct sm *sm, uint32_t node, item_t item, const uint8_t *data, int status);
/* Another manager may have been at work on the device since it was ours, by what discovery saw. */
bool inherited_is_possible(const struct sm *sm, uint32_t node);
/* The VLs that SL 0 is on when it leaves by a port, as far as that was read in this sweep. */
uint16_t inherited_uses(const struct sm *sm, uint32_t node, unsigned num);
/* Says in the log what was replaced. */
void inherited_tell(struct sm *sm);

/*
 * adaptive.c: a step of a sweep, which asks switches for it.  Then, where it is on, an SMP that
 * is to be answered before any table is written: adaptive_next() fills it, or returns false.
 */
enum step_result adaptive_start(struct sm *sm);
bool adaptive_next(struct sm *sm, uint32_t node, struct smp *s);
/* Behind the linear table, the same for a switch that refused it: was it ended by the table? */
bool adaptive_again(struct sm *sm, uint32_t node, struct smp *s);
/* Any of the two is in that state. */
bool adaptive_is(const struct node_work *w, enum override_state state);
void adaptive_done(struct sm *sm, uint32_t node, const struct smp *s, int status);
/* DeviceIDs of Mellanox. */
struct device_range {
	uint16_t first, last;
};
bool node_is_one_of(const struct fabric_node *n, const struct device_range *ranges, size_t count);
/* A switch of a kind that is known to have it. */
bool adaptive_is_known(const struct fabric_node *n);

#endif
