/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Manages our M_Key (number 0) and earlier keys that devices may still have.
 */
#ifndef QOSD_SM_KEYS_MKEY_H
#define QOSD_SM_KEYS_MKEY_H

#include "mad/mad.h"
#include "sm/sweep/steps.h"

struct fabric;
struct sm;

void mkey_new(struct sm *sm);
void mkey_stop(struct sm *sm);
void mkey_free(struct sm *sm);
/* Before a sweep: adopts the key of the settings, if the previous key is on disk. */
void mkey_settle(struct sm *sm);
/* The key before is not on disk yet: mkey_settle() must be called again. */
bool mkey_is_late(const struct sm *sm);
uint64_t mkey_ours(const struct sm *sm);
unsigned mkey_count(const struct sm *sm);
uint64_t mkey_nth(const struct sm *sm, unsigned i);
bool mkey_is_known(const struct sm *sm, uint64_t key);
/* The key that discovery uses; after our own port did not answer, the next key. */
uint64_t mkey_of_discovery(const struct sm *sm);
void mkey_scan_failed(struct sm *sm);
void mkey_scan_given_up(struct sm *sm);		/* our own port answered none of the keys */
/* The key for an SMP with a route of want_route(); for any thread that may read f. */
uint64_t mkey_of(const struct sm *sm, const struct fabric *f, uint32_t node, unsigned num);
/* want_route() with the key, for callers that do not use sweep_fill_smp(). */
bool mkey_route(const struct sm *sm, const struct fabric *f, uint32_t node, unsigned num,
		struct smp *s);
/* The key for an SMP to a port of the published fabric. */
uint64_t mkey_of_port(const struct sm *sm, uint32_t port);
/* Two PortInfos differ in key, protection or lease. */
bool mkey_differs(const uint8_t *a, const uint8_t *b);
/* Steps of a sweep: finds out which keys ports have, and gives ours to ports that have another. */
enum step_result mkey_identify(struct sm *sm);
enum step_result mkey_change(struct sm *sm);
/* Called when a sweep has written everything. */
void mkey_swept(struct sm *sm);
/* Devices with an unknown M_Key, as of the last sweep: their number, and whether a node is one. */
uint32_t mkey_mismatches(const struct sm *sm);
bool mkey_is_mismatched(const struct sm *sm, const struct fabric *f, uint32_t node);
/*
 * The key that a port of the published fabric (or FABRIC_NONE) has right now is known for certain.
 * It is not if earlier keys are in use and the port is unknown, or if a sweep is changing keys.
 */
bool mkey_is_certain(const struct sm *sm, uint32_t port);
/* Trap 256 came from a port of the published fabric, or FABRIC_NONE. */
void mkey_violated(struct sm *sm, uint32_t port, uint16_t lid, const uint8_t *notice);
uint64_t mkey_violations(const struct sm *sm);

#endif
