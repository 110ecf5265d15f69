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
#ifndef QOSD_DAEMON_LEFTOVERS_H
#define QOSD_DAEMON_LEFTOVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "mad/mad.h"

struct qosd;
struct subnet_state;
struct leftovers;

/* When the registries are loaded: counts what they have. */
struct leftovers *leftovers_new(struct qosd *q);
void leftovers_free(struct leftovers *x);	/* NULL is fine; before the registries */
/* The published state, or NULL: this daemon is not master. */
void leftovers_publish(struct leftovers *x, const struct subnet_state *s);

/* --- for replication: ports that are gone, a line each with its GUID and for how many seconds --- */

/* Changes whenever a port is gone, or back. */
uint64_t leftovers_changes(const struct leftovers *x);
void leftovers_print(const struct leftovers *x, struct buf *b);
/*
 * The master's text, which is cut up: it counts when this daemon takes over.  False: it makes no
 * sense, and nothing is taken.
 */
bool leftovers_inherit(struct leftovers *x, char *text);

/* --- mad's hooks of what is under way; arg is the struct qosd --- */

/* sa_lid_holder(), of the state that is published. */
uint64_t leftovers_holder(void *arg, uint16_t lid);
bool leftovers_may_hold(void *arg, enum mad_under_way what, uint64_t holder);
void leftovers_has_more(void *arg, enum mad_under_way what, uint64_t holder, int more);

/* For the control socket; arg is the struct qosd, uid who asks. */

/* All that the port registered goes, soon.  False: it holds nothing. */
bool leftovers_remove_port(void *arg, uint64_t guid, int64_t uid);
/* The group goes, with all members.  False: there is none such, or it is the policy's; err says so. */
bool leftovers_remove_group(void *arg, const uint8_t mgid[16], int64_t uid, struct buf *err);

#endif
