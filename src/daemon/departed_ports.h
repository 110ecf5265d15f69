/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bounds what ports register, and removes the registrations of departed ports.
 *
 * It owns the holdings (sa/registry/holdings.h), with the bounds of the settings.  A port that
 * was absent from the fabric for `forget-after` loses everything it registered; an
 * administrator may remove any port's registrations at once.  Both happen piece by piece between
 * other work of the loop.
 *
 * Departure times are kept on disk and sent to standbys.  Time counts while
 * a master runs, and between two runs without a reboot.
 */
#ifndef QOSD_DAEMON_DEPARTED_PORTS_H
#define QOSD_DAEMON_DEPARTED_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "events/event.h"
#include "lib/base/buf.h"
#include "mad/mad.h"

struct qosd;
struct subnet_state;
struct departed_ports;

/* To be called after the registries are loaded: counts their entries. */
struct departed_ports *departed_new(struct qosd *q);
/* Limits or `forget-after` of the settings have changed; what ports hold beyond a limit stays. */
void departed_settings_changed(struct departed_ports *x);
void departed_free(struct departed_ports *x);	/* NULL is fine; call before the registries are freed */
/* Sets the published state; NULL: this daemon is not master. */
void departed_publish(struct departed_ports *x, const struct subnet_state *s);

/*
 * --- for replication: one line per departed port, with its GUID and the seconds since it
 * departed ---
 */

/* A number that changes whenever a port departs or returns. */
uint64_t departed_changes(const struct departed_ports *x);
void departed_print(const struct departed_ports *x, struct buf *b);
/*
 * Takes the master's text, and modifies it; used when this daemon becomes master.  False: it is
 * invalid and ignored.
 */
bool departed_inherit(struct departed_ports *x, char *text);

/* --- hooks of mad/ for work in progress; arg is the struct qosd --- */

/* sa_lid_holder() in the published state. */
uint64_t departed_holder(void *arg, uint16_t lid);
bool departed_may_hold(void *arg, enum mad_under_way what, uint64_t holder);
void departed_has_more(void *arg, enum mad_under_way what, uint64_t holder, int more);

/* For the control socket; arg is the struct qosd, who asks. */

/* Removes everything that the port registered, soon.  False: it holds nothing. */
bool departed_remove_port(void *arg, uint64_t guid, struct asker who);
/*
 * Deletes the group with all members.  False: there is no such group, or it is the policy's; see
 * err.
 */
bool departed_remove_group(void *arg, const uint8_t mgid[16], struct asker who, struct buf *err);

#endif
