/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Formats an event as JSON, for the control socket and the event command. */
#ifndef QOSD_EVENTS_EVENT_JSON_H
#define QOSD_EVENTS_EVENT_JSON_H

#include <jansson.h>

#include "events/event.h"

/*
 * {"id", "boot", "since", "time", "kind", "severity", "text", "data": {members}};
 * events_since() accepts the value of since.
 */
json_t *event_json(const struct events *es, const struct event *e);

#endif
