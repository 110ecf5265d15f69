/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stands between answers of devices and libibnetdisc, which believes them.
 *
 * The library (rdma-core's libibnetdisc, read up to version 56) is safe with what passes here:
 *
 *  - It hands an answer to the function of the request with its TransactionID, and takes the port
 *    from the AttributeModifier of the answer, as an index into an array of NumPorts + 1: the answer
 *    must have the class, method, attribute and modifier of the request, and the length of a MAD.
 *  - It finds a node by NodeGUID, and stores LocalPortNum of any NodeInfo with that GUID into an array
 *    of the NumPorts of the first: type and NumPorts must be those of the first, LocalPortNum at most
 *    NumPorts.
 *  - NumPorts decides how many SMPs follow, and what they cost: what nodes have is summed up.
 *  - An answer to no request ends its scan, which frees the fabric twice: paced_smps.c drops such answers.
 *  - A second arrival at a port takes its link from the first, and one at our own port the link of
 *    the whole scan: a port is at one place only.
 *  - Chassis are made out from vendor, device and description, with tables of 37 entries indexed by
 *    port numbers, and one Voltaire spine that stands alone fails the scan: discovery_process.c hides the
 *    vendor.
 *  - LID and LMC of PortInfo are range checked there; SwitchInfo, NodeDescription and the rest of
 *    PortInfo are copied, and hold no index; a path longer than 63 hops is not asked along.
 *
 * Of two devices that say one and the same of themselves the one that is found later is passed on by
 * another GUID (EXCLUDED_TWIN), once a scan has told of its places.  Which of two a place belongs to is what
 * SMPs show that went through the first one: the others are of the second.
 *
 * Walks are facts, arrivals are claims: the SMP has left by the port that the request says, and
 * whoever got it says which port of which node it is.  A link that both ends walked is confirmed.  Of
 * two claims that contradict each other the later is refused, unless the walk of the port
 * itself confirms it.  What the first of two was worth shows at the end (guard_finish()).
 *
 * No I/O, no clock, one thread.
 */
#ifndef QOSD_DISCOVERY_ANSWER_GUARD_H
#define QOSD_DISCOVERY_ANSWER_GUARD_H

#include "discovery/excluded.h"

/* Ports of all nodes together that a subnet can have, where nothing is known of it. */
#define GUARD_PORTS_MAX (512u * 1024)
#define GUARD_NODES_MAX 49151u

struct guard;

/*
 * out: n_out places, or GUIDs, that are excluded whatever they answer, or as their reasons say (copied).
 * ports_max: the sum.
 */
struct guard *guard_new(const struct disco_excluded *out, unsigned n_out, unsigned ports_max);
void guard_free(struct guard *g);

enum guard_verdict {
	GUARD_FEED,	/* the answer is safe */
	GUARD_REFUSE,	/* it is not: x says where and why */
	GUARD_REPEATED,	/* it is not, for what x was filled with before */
	GUARD_FULL,	/* there is more than there can be; x says behind which place most of it is */
};
/*
 * asked, answer: MADs of 256 bytes; n: how many bytes the answer has.  With GUARD_FEED the answer has
 * the GUIDs that the device is known by, and x has the place that the answer came from: near_guid is
 * 0 where that is our own device.
 */
enum guard_verdict guard_answer(struct guard *g, const uint8_t *asked, uint8_t *answer,
				unsigned n, struct disco_excluded *x);
/*
 * When all is asked: who was believed and should not have been is told to found(), so that
 * the next scan excludes it.
 */
void guard_finish(struct guard *g, void (*found)(void *arg, const struct disco_excluded *x), void *arg);

#endif
