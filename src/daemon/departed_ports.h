/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What ports hold of the registries, and what becomes of it when they are gone.
 *
 * Owns the holdings (sa/registry/holdings.h), whose bounds are the settings'.  A port that was not in
 * the fabric for as long as `forget-after` says loses all that it registered; an administrator may
 * take it from any port at once.  Either happens piece by piece between other work of the loop.
 *
 * Since when ports are gone is kept on disk, and goes to standbys.  Time counts while a master runs,
 * and from one run to the next in the same run of the machine.
 */
#ifndef QOSD_DAEMON_DEPARTED_PORTS_H
#define QOSD_DAEMON_DEPARTED_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "mad/mad.h"

struct qosd;
struct subnet_state;
struct departed_ports;

/* When the registries are loaded: counts what they have. */
struct departed_ports *departed_new(struct qosd *q);
void departed_free(struct departed_ports *x);	/* NULL is fine; before the registries */
/* The published state, or NULL: this daemon is not master. */
void departed_publish(struct departed_ports *x, const struct subnet_state *s);

/* --- for replication: ports that are gone, a line each with its GUID and for how many seconds --- */

/* Changes whenever a port is gone, or back. */
uint64_t departed_changes(const struct departed_ports *x);
void departed_print(const struct departed_ports *x, struct buf *b);
/*
 * The master's text, which is cut up: it counts when this daemon takes over.  False: it makes no
 * sense, and nothing is taken.
 */
bool departed_inherit(struct departed_ports *x, char *text);

/* --- mad's hooks of what is under way; arg is the struct qosd --- */

/* sa_lid_holder(), of the state that is published. */
uint64_t departed_holder(void *arg, uint16_t lid);
bool departed_may_hold(void *arg, enum mad_under_way what, uint64_t holder);
void departed_has_more(void *arg, enum mad_under_way what, uint64_t holder, int more);

/* For the control socket; arg is the struct qosd, uid who asks. */

/* All that the port registered goes, soon.  False: it holds nothing. */
bool departed_remove_port(void *arg, uint64_t guid, int64_t uid);
/* The group goes, with all members.  False: there is none such, or it is the policy's; err says so. */
bool departed_remove_group(void *arg, const uint8_t mgid[16], int64_t uid, struct buf *err);

#endif
