/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declares the steps of a sweep that read what devices hold.
 */
#ifndef QOSD_SM_SWEEP_READING_H
#define QOSD_SM_SWEEP_READING_H

#include "sm/sweep/steps.h"
#include "sm/sweep/sweep.h"

/* speeds.c: a step of a sweep */
enum step_result speeds_start(struct sm *sm);

/* pkey_places.c: a step of a sweep */
enum step_result places_start(struct sm *sm);
/* The block of an item if places_start() read it, else NULL. */
const uint8_t *places_read(const struct sm *sm, uint32_t node, item_t item);
void places_free(struct node_work *w);

/* observe.c: a step of a sweep */
enum step_result observe_start(struct sm *sm);
/* The plan that the node is certain to hold, and the node's index in it; or NULL. */
const struct plan *sweep_known_plan(const struct sm *sm, uint32_t node, uint32_t *old_node);
/* Reduces items to those that must be written. */
void observe_settle(struct node_work *w);
/* Appends an item. */
void observe_add(struct node_work *w, item_t item);

/* inherited.c: queues reads of those tables of a node that the policy does not manage, as needed. */
void inherited_collect(struct sm *sm, uint32_t node);
/* Takes the answer to such a read; returns the item that must be written, or 0. */
item_t inherited_take(struct sm *sm, uint32_t node, item_t item, const uint8_t *data, int status);
/* Another manager may have set up the device since we last did, judging by what discovery saw. */
bool inherited_is_possible(const struct sm *sm, uint32_t node);
/* The VLs that SL 0 uses when it leaves by a port, as far as this sweep has read. */
uint16_t inherited_uses(const struct sm *sm, uint32_t node, unsigned num);
/* Logs what was replaced. */
void inherited_tell(struct sm *sm);

/*
 * adaptive.c: a step of a sweep that asks switches whether adaptive routing or private linear
 * tables are on.  Where one is, adaptive_next() fills an SMP that must be answered before any table
 * is written; false: there is none.
 */
enum step_result adaptive_start(struct sm *sm);
bool adaptive_next(struct sm *sm, uint32_t node, struct smp *s);
/*
 * The same after the linear table was written, for a switch that refused the SMP: whether the table
 * has ended the override.
 */
bool adaptive_again(struct sm *sm, uint32_t node, struct smp *s);
/* At least one override is in that state. */
bool adaptive_is(const struct node_work *w, enum override_state state);
void adaptive_done(struct sm *sm, uint32_t node, const struct smp *s, int status);
/* A range of Mellanox DeviceIDs. */
struct device_range {
	uint16_t first, last;
};
bool node_is_one_of(const struct fabric_node *n, const struct device_range *ranges, size_t count);
/* The switch is of a kind that is known to have adaptive routing. */
bool adaptive_is_known(const struct fabric_node *n);

#endif
