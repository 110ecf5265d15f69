/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the list of devices that discovery avoids (exclusions.c) and finds switches that claim to
 * be adapters (false_adapters.c).
 */
#ifndef QOSD_SM_DEVICES_EXCLUSIONS_H
#define QOSD_SM_DEVICES_EXCLUSIONS_H

#include "discovery/discovery.h"
#include "lib/base/buf.h"
#include "sm/sweep/steps.h"

struct sm;
struct smp;

struct exclusions;
struct exclusions *exclusions_new(void);
void exclusions_free(struct exclusions *l);
/* Called when a sweep begins. */
void exclusions_sweep(struct sm *sm);
/* Takes the exclusions that a scan made.  True: the scan must be repeated, since the list has grown. */
bool exclusions_scanned(struct sm *sm, const struct disco_result *res);
/*
 * Adds a device next to a node of f for a reason that the scan itself could not see. False: the
 * device is on the list already.
 */
bool exclusions_put(struct sm *sm, const struct fabric *f, const struct disco_excluded *x);
/*
 * Adds a device next to a node of f whose NodeInfo scans must correct.  True: the scan must be
 * repeated with that correction.  A sweep repeats it once for each place; if the device then says
 * something else again, its word is taken.
 */
bool exclusions_correct(struct sm *sm, const struct fabric *f, const struct disco_excluded *x);
/* Counts a scan that is repeated because of the list.  False: this sweep has repeated too many. */
bool exclusions_may_repeat(struct sm *sm);
/* Fills an array of EXCLUDED_MAX with what the next scan must exclude; returns the number of entries. */
size_t exclusions_list(const struct sm *sm, struct disco_excluded *out);
/* The greatest number of ports that all nodes together can have; 0: unknown. */
unsigned exclusions_ports_max(const struct sm *sm);
/* Clears the list: the next scan tries all devices again. */
void exclusions_forget(struct sm *sm);
/* Entry i, in no particular order; NULL: i is beyond the end. */
const struct disco_excluded *exclusions_at(const struct sm *sm, size_t i);
/*
 * The device behind the port is excluded, and light sweeps check whether it can be taken back.
 * They cannot tell when a device that is corrected mends its NodeInfo: scans see only the corrected
 * one.
 */
bool exclusions_is_behind(const struct sm *sm, uint64_t near_guid, unsigned near_port);
/* The device behind the port is excluded, and stays excluded with this NodeInfo. */
bool exclusions_holds(const struct sm *sm, uint64_t near_guid, unsigned near_port,
		      const uint8_t *node_info);
/*
 * Corrects the NodeInfo that the device behind a port of f answered: an EXCLUDED_TWIN gets the
 * GUIDs that qosd knows it by, an EXCLUDED_SWITCH gets the NodeType of a switch.
 */
void exclusions_rename(const struct sm *sm, const struct fabric *f, uint32_t port, uint8_t *node_info);
/* "the device at leaf-1/P3 says ...".  f (may be NULL) supplies the name of the neighbour. */
void exclusions_text(const struct sm *sm, const struct fabric *f, const struct disco_excluded *x,
		     struct buf *out);
/* The node GUID of the device that is to blame; 0: it cannot be told which one is. */
uint64_t exclusions_culprit(const struct sm *sm, const struct disco_excluded *x);
/*
 * A light sweep asks the devices on the list.  begin(): false if the list is empty.  ask(): fills
 * the SMP for each of the exclusions_asked() by routes of f; false: there is none to send.  end():
 * EXCLUSIONS_BACK: a device was taken back and is suspected; EXCLUSIONS_RENAMED: a device that is
 * known by a substitute GUID does not need it any more, so the whole fabric must be discovered.
 */
enum exclusions_end { EXCLUSIONS_SAME, EXCLUSIONS_BACK, EXCLUSIONS_RENAMED };
bool exclusions_begin(struct sm *sm);
size_t exclusions_asked(const struct sm *sm);
bool exclusions_ask(struct sm *sm, const struct fabric *f, size_t i, struct smp *s);
void exclusions_answered(struct sm *sm, size_t i, const struct smp *s, int status);
enum exclusions_end exclusions_end(struct sm *sm);

/* false_adapters.c: a step of a sweep */
enum step_result false_adapters_start(struct sm *sm);

#endif
