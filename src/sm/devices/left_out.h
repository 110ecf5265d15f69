/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices that discovery goes round (left_out.c), and switches that claim to be adapters (false_adapters.c).
 */
#ifndef QOSD_SM_DEVICES_LEFT_OUT_H
#define QOSD_SM_DEVICES_LEFT_OUT_H

#include "discovery/discovery.h"
#include "lib/base/buf.h"
#include "sm/sweep/steps.h"

struct sm;
struct smp;

struct left_list;
struct left_list *left_out_new(void);
void left_out_free(struct left_list *l);
/* A sweep begins. */
void left_out_sweep(struct sm *sm);
/* What a scan has left out.  True: it is to be repeated, since more is to be left out. */
bool left_out_scanned(struct sm *sm, const struct disco_result *res);
/*
 * Adds a device next to a node of f that the scan itself had no reason to leave out or to correct.
 * False: it is on the list already.
 */
bool left_out_put(struct sm *sm, const struct fabric *f, const struct disco_left *x);
/*
 * Adds a device next to a node of f whose NodeInfo scans are to correct.  True: the scan is to be repeated
 * with that, which a sweep does once for each place: a device that says something else each time is taken
 * for what it says.
 */
bool left_out_correct(struct sm *sm, const struct fabric *f, const struct disco_left *x);
/* Counts a scan that is repeated for their sake; false: there were too many in this sweep. */
bool left_out_may_repeat(struct sm *sm);
/* What the next scan is to leave out, into an array of LEFT_MAX; how many. */
size_t left_out_list(const struct sm *sm, struct disco_left *out);
/* How many ports all nodes together can have; 0: nobody knows. */
unsigned left_out_ports_max(const struct sm *sm);
/* All are tried again. */
void left_out_forget(struct sm *sm);
/* The i-th, in no order; NULL: there are fewer. */
const struct disco_left *left_out_at(const struct sm *sm, size_t i);
/*
 * The device behind the port is left out, so that light sweeps take it back.  They do not find one again that
 * is corrected: it says then what it is known to say.
 */
bool left_out_is_behind(const struct sm *sm, uint64_t near_guid, unsigned near_port);
/* The device behind the port is left out, and stays so with this NodeInfo. */
bool left_out_holds(const struct sm *sm, uint64_t near_guid, unsigned near_port,
		    const uint8_t *node_info);
/*
 * Corrects the NodeInfo that the device behind a port of f answered with: a LEFT_TWIN gets the GUIDs that
 * it is known by, a LEFT_SWITCH the NodeType of a switch.
 */
void left_out_rename(const struct sm *sm, const struct fabric *f, uint32_t port, uint8_t *node_info);
/* "the device at leaf-1/P3 says ...".  f, which may be NULL, has its neighbour. */
void left_out_text(const struct sm *sm, const struct fabric *f, const struct disco_left *x,
		   struct buf *out);
/* The node GUID of the device that is to blame; 0: that cannot be told. */
uint64_t left_out_culprit(const struct sm *sm, const struct disco_left *x);
/*
 * A light sweep asks them: begin() is false if there are none; ask() fills an SMP for each of the
 * left_out_asked(), by routes of f, or is false; end() says what came of it: any is taken back, and
 * suspected; or one that is known by the GUID of another has it no more, and all is to be discovered.
 */
enum left_out_end { LEFT_OUT_SAME, LEFT_OUT_BACK, LEFT_OUT_RENAMED };
bool left_out_begin(struct sm *sm);
size_t left_out_asked(const struct sm *sm);
bool left_out_ask(struct sm *sm, const struct fabric *f, size_t i, struct smp *s);
void left_out_answered(struct sm *sm, size_t i, const struct smp *s, int status);
enum left_out_end left_out_end(struct sm *sm);

/* false_adapters.c: a step of a sweep */
enum step_result false_adapters_start(struct sm *sm);

#endif
