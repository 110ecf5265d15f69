/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks each answer of a device before libibnetdisc, which believes all of them, sees it.
 *
 * The library (rdma-core's libibnetdisc, read up to version 56) is safe with the answers that pass:
 *
 *  - It hands an answer to the callback of the request with its TransactionID, and uses the
 *    answer's AttributeModifier as the port, an index into an array of NumPorts + 1: the answer
 *    must have the class, method, attribute and modifier of the request, and the length of a MAD.
 *  - It finds a node by NodeGUID, and uses LocalPortNum of any NodeInfo with that GUID as an index
 *    into an array sized by the first NodeInfo's NumPorts: type and NumPorts must be those of the
 *    first, LocalPortNum at most NumPorts.
 *  - NumPorts decides how many SMPs follow, and what they cost: the guard limits the sum over all
 *    nodes.
 *  - An unsolicited answer makes it end the scan and free the fabric twice: paced_smps.c drops such
 *    answers.
 *  - A second arrival at a port takes over the first one's link, and at our own port the link of
 *    the whole scan: a port must be at one place only.
 *  - It groups nodes into chassis by vendor, device and description, with tables of 37 entries
 *    indexed by port numbers, and a single Voltaire spine outside a chassis fails the scan:
 *    discovery_process.c hides the vendor.
 *  - It checks the range of LID and LMC in PortInfo; it copies SwitchInfo, NodeDescription and the
 *    rest of PortInfo, which hold no index; it sends nothing along a path longer than 63 hops.
 *
 * If two devices send identical NodeInfo, the guard gives the one found later a stand-in GUID
 * (EXCLUDED_TWIN), once a scan has reported its places.  SMPs that passed through the first device
 * show which places are the first one's; the others are the second's.
 *
 * Walks are facts, arrivals are claims: the SMP left by the port that the request names, and the
 * device that got it says which port of which node it is.  A link that both ends walked is
 * confirmed.  If two claims contradict each other, the guard refuses the later one, unless a walk of
 * the port itself confirms it.  Whether the first was true shows at the end (guard_finish()).
 *
 * No I/O, no clock, one thread.
 */
#ifndef QOSD_DISCOVERY_ANSWER_GUARD_H
#define QOSD_DISCOVERY_ANSWER_GUARD_H

#include "discovery/excluded.h"

/* Limit of all nodes' ports together when nothing is known of the subnet. */
#define GUARD_PORTS_MAX (512u * 1024)
#define GUARD_NODES_MAX 49151u

struct guard;

/*
 * out: n_out places or GUIDs to exclude, unconditionally or as their reasons say (copied).
 * ports_max: limit of all nodes' ports together.
 */
struct guard *guard_new(const struct disco_excluded *out, unsigned n_out, unsigned ports_max);
void guard_free(struct guard *g);

enum guard_verdict {
	GUARD_FEED,	/* the answer is safe */
	GUARD_REFUSE,	/* the answer is not safe; x says where and why */
	GUARD_REPEATED,	/* not safe, for a reason that x has reported before */
	/* more nodes or ports than the limit; x names the place behind which most of them are */
	GUARD_FULL,
};
/*
 * Judges an answer.  asked, answer: MADs of 256 bytes; n: length of the answer in bytes.  With
 * GUARD_FEED the answer holds the GUIDs that the device is known by, and x the place that the
 * answer came from: near_guid is 0 for our own device.
 */
enum guard_verdict guard_answer(struct guard *g, const uint8_t *asked, uint8_t *answer,
				unsigned n, struct disco_excluded *x);
/*
 * Ends a scan: reports to found() each device that was believed wrongly, so that the next scan
 * excludes it.
 */
void guard_finish(struct guard *g, void (*found)(void *arg, const struct disco_excluded *x), void *arg);

#endif
