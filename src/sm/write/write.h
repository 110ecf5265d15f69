/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes what differs from the plan, in steps of a sweep.  Also remembers tables that devices do
 * not let us change.
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
/* Takes the answer to that SMP. */
void write_item_done(struct sm *sm, uint32_t node, item_t item, const struct smp *s, int status);
/* write_routes.c: NULL if p's routes are not derived from those before; may run in a worker. */
struct reroute *reroute_new(const struct plan *p, const struct plan *before,
			    const struct lft_reads *reads);
void reroute_free(struct reroute *r);
enum step_result reroute_start(struct sm *sm);
/*
 * The device does not take the item.  If the item is the P_Key table of a switch's external port,
 * enforcement does not begin on this node, and the next sweep looks again.
 */
void write_pkeys_differ(struct sm *sm, uint32_t node, item_t item);

/* live_vls.c: steps of a sweep that give links at work more VLs and another MTU, or fewer VLs */
void vls_free(struct sm *sm);
/*
 * The digest of a PortInfo, to compare with refused_set.got; false: mod is none that live_vls.c
 * remembers.
 */
bool vls_fixed_digest(uint32_t mod, const uint8_t info[64], uint64_t *out);
enum step_result vls_add(struct sm *sm);
enum step_result vls_take_away(struct sm *sm);

/* optimized_sl2vl.c */
/*
 * The switch did not take a joined item, or not as sent: adds its pairs one by one. False: the item
 * is not a joined one.
 */
bool optimized_sl2vl_split(const struct plan *p, uint32_t node, struct node_work *w, item_t item);

/* fixed_table_log.c */
/* Records what an answer says of an SL2VL or arbitration table; other items are ignored. */
void fixed_see(struct sm *sm, uint32_t node, item_t item, const struct item_want *want,
	      const uint8_t *got);
/* Records a block of arbitration that the policy does not manage. */
void fixed_see_arb(struct sm *sm, uint32_t node, item_t item, const uint8_t *data, unsigned len);
/*
 * A pair was read and differs from the plan.  True: the device is known to keep it so, and *item
 * becomes the pair if it must be tried again nonetheless, else 0.
 */
bool fixed_known(struct sm *sm, uint32_t node, item_t *item, const struct item_want *want,
		const uint8_t *got);
/* The device confirmed a Set, which may have to be read back. */
void fixed_confirmed(struct sm *sm, uint32_t node, item_t item);
/* An item with ITEM_LOOK was read. */
void fixed_looked(struct sm *sm, uint32_t node, item_t item, const struct item_want *want,
		 const uint8_t *got);
/* After all tables are written: gathers what was seen of all nodes in sm->sweep.fixed. */
void fixed_gather(struct sm *sm);

/* reregister.c: asks the ports that have waited for the end of the sweep */
void reregister_after_sweep(struct sm *sm);

#endif
