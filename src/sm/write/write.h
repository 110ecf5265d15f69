/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The steps of a sweep that write, and what they remember of tables that devices keep.
 */
#ifndef QOSD_SM_WRITE_WRITE_H
#define QOSD_SM_WRITE_WRITE_H

#include "sm/sweep/steps.h"
#include "sm/sweep/want.h"

struct lft_reads;
struct node_work;
struct sm;

/* write.c: three passes, each of which is a step */
enum step_result write_ports(struct sm *sm);
enum step_result write_tables(struct sm *sm);
enum step_result write_active(struct sm *sm);
/* Fills the SMP that writes or reads the item; false: there is nothing to send. */
bool write_item(struct sm *sm, uint32_t node, item_t item, struct smp *s);
/* The SMP was answered. */
void write_item_done(struct sm *sm, uint32_t node, item_t item, const struct smp *s, int status);
/* write_routes.c: NULL if p's routes do not follow from those before; may run in a worker. */
struct reroute *reroute_new(const struct plan *p, const struct plan *before,
			    const struct lft_reads *reads);
void reroute_free(struct reroute *r);
enum step_result reroute_start(struct sm *sm);
/*
 * The device does not take the item.  If that is the P_Key table of a switch's
 * external port, it is nothing to enforce partitions by: that does not begin on
 * this node, and the next sweep looks again.
 */
void write_pkeys_differ(struct sm *sm, uint32_t node, item_t item);

/* live_vls.c: more VLs, and another MTU, for links at work; and fewer VLs: steps of a sweep */
void vls_free(struct sm *sm);
/* What refused_set.got is for a PortInfo, if mod is one of those that live_vls.c remembers; false: it is not. */
bool vls_fixed_digest(uint32_t mod, const uint8_t info[64], uint64_t *out);
enum step_result vls_add(struct sm *sm);
enum step_result vls_take_away(struct sm *sm);

/* slmap.c */
/*
 * The switch did not take such an item, or not as it is: adds its pairs one by
 * one.  False if the item is no such.
 */
bool slmap_split(const struct plan *p, uint32_t node, struct node_work *w, item_t item);

/* fixed_table_log.c */
/* What an answer says of the table of a pair, or of arbitration (others are no matter here). */
void fixed_see(struct sm *sm, uint32_t node, item_t item, const struct item_want *want,
	      const uint8_t *got);
/* A block of arbitration that the policy does not manage was read. */
void fixed_see_arb(struct sm *sm, uint32_t node, item_t item, const uint8_t *data, unsigned len);
/*
 * A pair was read and differs.  True if the device is known to keep it so; then
 * item is the pair if it is to be tried again nonetheless, or 0.
 */
bool fixed_known(struct sm *sm, uint32_t node, item_t *item, const struct item_want *want,
		const uint8_t *got);
/* The device confirmed a Set: it may have to be read back. */
void fixed_confirmed(struct sm *sm, uint32_t node, item_t item);
/* … and an item with ITEM_LOOK was. */
void fixed_looked(struct sm *sm, uint32_t node, item_t item, const struct item_want *want,
		 const uint8_t *got);
/* All tables are written: what was seen, of all nodes, into sm->sweep.fixed. */
void fixed_gather(struct sm *sm);

/* reregister.c: asks the ports that wait for the end of a sweep */
void reregister_after_sweep(struct sm *sm);

#endif
