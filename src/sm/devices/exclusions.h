/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices that discovery goes round (exclusions.c), and switches that claim to be adapters
 * (false_adapters.c).
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
/* A sweep begins. */
void exclusions_sweep(struct sm *sm);
/* What a scan has excluded.  True: it is to be repeated, since more is to be excluded. */
bool exclusions_scanned(struct sm *sm, const struct disco_result *res);
/*
 * Adds a device next to a node of f that the scan itself had no reason to exclude or to correct.
 * False: it is on the list already.
 */
bool exclusions_put(struct sm *sm, const struct fabric *f, const struct disco_excluded *x);
/*
 * Adds a device next to a node of f whose NodeInfo scans are to correct.  True: the scan is to be repeated
 * with that, which a sweep does once for each place: a device that says something else each time is taken
 * for what it says.
 */
bool exclusions_correct(struct sm *sm, const struct fabric *f, const struct disco_excluded *x);
/* Counts a scan that is repeated for their sake; false: there were too many in this sweep. */
bool exclusions_may_repeat(struct sm *sm);
/* What the next scan is to exclude, into an array of EXCLUDED_MAX; how many. */
size_t exclusions_list(const struct sm *sm, struct disco_excluded *out);
/* How many ports all nodes together can have; 0: nobody knows. */
unsigned exclusions_ports_max(const struct sm *sm);
/* All are tried again. */
void exclusions_forget(struct sm *sm);
/* The i-th, in no order; NULL: there are fewer. */
const struct disco_excluded *exclusions_at(const struct sm *sm, size_t i);
/*
 * The device behind the port is excluded, so that light sweeps take it back.  They do not find one again that
 * is corrected: it says then what it is known to say.
 */
bool exclusions_is_behind(const struct sm *sm, uint64_t near_guid, unsigned near_port);
/* The device behind the port is excluded, and stays so with this NodeInfo. */
bool exclusions_holds(const struct sm *sm, uint64_t near_guid, unsigned near_port,
		      const uint8_t *node_info);
/*
 * Corrects the NodeInfo that the device behind a port of f answered with: a EXCLUDED_TWIN gets the GUIDs that
 * it is known by, a EXCLUDED_SWITCH the NodeType of a switch.
 */
void exclusions_rename(const struct sm *sm, const struct fabric *f, uint32_t port, uint8_t *node_info);
/* "the device at leaf-1/P3 says ...".  f, which may be NULL, has its neighbour. */
void exclusions_text(const struct sm *sm, const struct fabric *f, const struct disco_excluded *x,
		     struct buf *out);
/* The node GUID of the device that is to blame; 0: that cannot be told. */
uint64_t exclusions_culprit(const struct sm *sm, const struct disco_excluded *x);
/*
 * A light sweep asks them: begin() is false if there are none; ask() fills an SMP for each of the
 * exclusions_asked(), by routes of f, or is false; end() says what came of it: any is taken back, and
 * suspected; or one that is known by the GUID of another has it no more, and all is to be discovered.
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
