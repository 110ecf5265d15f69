/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fault rules that drop, delay, duplicate, reorder, corrupt, damage or falsify packets.
 *
 * (Faults of links and nodes are states in the model.) A rule lives until it is removed or its
 * count is used up.  The first rule that matches, and whose chance comes up, takes effect.
 *
 * A rule without a place applies once to each packet, when it is sent.  A rule with a node applies
 * when the packet is sent or received there, and a rule with a port when the packet passes that
 * port.  A rule for a share of the nodes applies when one of these sends.  A rule that damages
 * packets applies only where a packet comes in by a cable.
 */
#ifndef QOSD_SIM_NET_FAULT_H
#define QOSD_SIM_NET_FAULT_H

#include "sim/net/wire.h"

enum fault_effect {
	FAULT_DROP, FAULT_DELAY, FAULT_DUPLICATE, FAULT_REORDER, FAULT_CORRUPT,
	/* as a bad cable does it: the port where the packet comes in counts the error and drops it */
	FAULT_DAMAGE,
	/* falsifies answers of a subnet management agent; has no effect on passing packets */
	FAULT_FALSIFY,
};

struct fault_rule {
	uint32_t id;			/* assigned by fault_add() */
	enum fault_effect effect;
	double chance;			/* 0.0 .. 1.0 */
	uint32_t left;			/* packets left; UINT32_MAX: no limit */
	/*
	 * FAULT_DELAY: the delay.  FAULT_REORDER: longest random delay; 0: behind the packets that
	 * are under way now.
	 */
	int64_t delay_us;
	/* criteria; 0: any */
	uint8_t mgmt_class;		/* 0x01 includes 0x81 */
	uint8_t method;
	uint16_t attr;
	uint32_t node, port;		/* place where the packet passes, starts or ends; SIM_NONE: any */
	uint64_t among, below;		/* applies to nodes with fault_rank(among, GUID) < below; 0: all */
	uint32_t spared;		/* node exempt from the share; SIM_NONE: none */
	unsigned falsehood;		/* FAULT_FALSIFY: number of the falsehood, as the hook knows it */
	uint64_t hits;
};

struct sim_faults {
	VEC(struct fault_rule) rules;
	uint32_t next_id;
};

/* Ranks nodes in a random order given by the seed `among`. */
static inline uint64_t fault_rank(uint64_t among, uint64_t guid)
{
	return hash64(hash64(among) ^ guid);
}
/*
 * Restricts the rule to a share of the nodes, at least one, chosen by the seed.  Node `spared`
 * (SIM_NONE: none) is never among them.
 */
void fault_share(const struct sim_fabric *f, struct fault_rule *r, double share, uint64_t seed,
		 uint32_t spared);
/* Whether the rule's share includes packets from that node. */
bool fault_is_of(const struct sim_fabric *f, const struct fault_rule *r, uint32_t node);

/* Returns the rule's id (from 1). */
uint32_t fault_add(struct sim *s, const struct fault_rule *r);
bool fault_remove(struct sim *s, uint32_t id);	/* 0: removes all; false if there is none */

#endif
