/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An event as JSON, for the control socket and for commands. */
#ifndef QOSD_EVENTS_EVENT_JSON_H
#define QOSD_EVENTS_EVENT_JSON_H

#include <jansson.h>

#include "events/event.h"

/*
 * {"id", "boot", "since", "time", "kind", "severity", "text", "data": {members}}; since is
 * what events_since() takes.
 */
json_t *event_json(const struct events *es, const struct event *e);

#endif
