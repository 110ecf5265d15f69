/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults that packets meet: rules by class, attribute and place, each with a
 * chance and an effect.  (Faults of links and nodes are states in the model.)
 * Rules live until removed or their count is used up; the first that matches
 * and whose chance comes true decides.
 *
 * A rule without a place is asked once for each packet, as it is sent; one with
 * a node when the packet is sent there or comes in; one with a port when the
 * packet passes that port.  A rule for a share of the nodes is asked as these send.
 */
#ifndef QOSD_SIM_NET_FAULT_H
#define QOSD_SIM_NET_FAULT_H

#include "sim/net/wire.h"

enum fault_effect {
	FAULT_DROP, FAULT_DELAY, FAULT_DUPLICATE, FAULT_REORDER, FAULT_CORRUPT,
	/* an answer of a subnet management agent tells something else; of no packet that passes */
	FAULT_FALSIFY,
};

struct fault_rule {
	uint32_t id;			/* given by fault_add() */
	enum fault_effect effect;
	double chance;			/* 0.0 .. 1.0 */
	uint32_t left;			/* how many more packets; UINT32_MAX: no end */
	/*
	 * FAULT_DELAY.  FAULT_REORDER: held back so long at most, by chance; 0: behind
	 * what is under way just now.
	 */
	int64_t delay_us;
	/* What it holds for; 0: any. */
	uint8_t mgmt_class;		/* 0x01 stands for 0x81, too */
	uint8_t method;
	uint16_t attr;
	uint32_t node, port;		/* where the packet passes, starts or ends; SIM_NONE: any */
	uint64_t among, below;		/* nodes with fault_rank(among, GUID) < below; 0: all */
	uint32_t spared;		/* … but for this one; SIM_NONE: none */
	unsigned falsehood;		/* FAULT_FALSIFY: which, as the hook knows it */
	uint64_t hits;
};

struct sim_faults {
	VEC(struct fault_rule) rules;
	uint32_t next_id;
};

/* Places of nodes in a random order, which is that of the seed `among`. */
static inline uint64_t fault_rank(uint64_t among, uint64_t guid)
{
	return hash64(hash64(among) ^ guid);
}
/*
 * Has the rule hold for a share of the nodes, at least one, chosen by the seed; node `spared`
 * (SIM_NONE: none) is not among them.
 */
void fault_share(const struct sim_fabric *f, struct fault_rule *r, double share, uint64_t seed,
		 uint32_t spared);
/* The rule holds for what that node sends, as far as shares go. */
bool fault_is_of(const struct sim_fabric *f, const struct fault_rule *r, uint32_t node);

/* Returns the rule's id (from 1). */
uint32_t fault_add(struct sim *s, const struct fault_rule *r);
bool fault_remove(struct sim *s, uint32_t id);	/* 0: all; false if there is none */

#endif
