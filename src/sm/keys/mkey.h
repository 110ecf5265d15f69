/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The M_Keys that devices may have: 0 is ours, then those of before.
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
/* Before a sweep: our key is that of the settings, if the one of before is on disk. */
void mkey_settle(struct sm *sm);
/* It is not: to be tried again. */
bool mkey_is_late(const struct sm *sm);
uint64_t mkey_ours(const struct sm *sm);
unsigned mkey_count(const struct sm *sm);
uint64_t mkey_nth(const struct sm *sm, unsigned i);
bool mkey_is_known(const struct sm *sm, uint64_t key);
/* The one that discovery asks with; when our own port did not answer it is the next. */
uint64_t mkey_of_discovery(const struct sm *sm);
void mkey_scan_failed(struct sm *sm);
void mkey_scan_given_up(struct sm *sm);		/* with any of them */
/* What an SMP carries whose way is want_route()'s; from any thread that may read f. */
uint64_t mkey_of(const struct sm *sm, const struct fabric *f, uint32_t node, unsigned num);
/* want_route() for who does not use sweep_fill_smp(). */
bool mkey_route(const struct sm *sm, const struct fabric *f, uint32_t node, unsigned num,
		struct smp *s);
/* … to a port of the published fabric. */
uint64_t mkey_of_port(const struct sm *sm, uint32_t port);
/* Two PortInfos have another key, protection or lease. */
bool mkey_differs(const uint8_t *a, const uint8_t *b);
/* Steps of a sweep: which keys ports have; ours for those that have another. */
enum step_result mkey_identify(struct sm *sm);
enum step_result mkey_change(struct sm *sm);
/* All is written. */
void mkey_swept(struct sm *sm);
/* Devices with another's key, and whether a node is one, by the last sweep. */
uint32_t mkey_mismatches(const struct sm *sm);
bool mkey_is_mismatched(const struct sm *sm, const struct fabric *f, uint32_t node);
/*
 * Whether the key that a port of the published fabric (or FABRIC_NONE) has right now is known.  It
 * is not if earlier keys are in use and the port is unknown, or a sweep is changing keys.
 */
bool mkey_is_certain(const struct sm *sm, uint32_t port);
/* Trap 256 came from a port of the published fabric, or FABRIC_NONE. */
void mkey_violated(struct sm *sm, uint32_t port, uint16_t lid, const uint8_t *notice);
uint64_t mkey_violations(const struct sm *sm);

#endif
