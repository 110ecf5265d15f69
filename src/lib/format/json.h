/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JSON values that both the daemon and the simulator write, on jansson. */
#ifndef QOSD_LIB_FORMAT_JSON_H
#define QOSD_LIB_FORMAT_JSON_H

#include <jansson.h>
#include <stdint.h>

/* What a device says of itself need not be UTF-8: then all bytes beyond ASCII become '?'. */
json_t *json_text(const char *s);
json_t *json_guid(uint64_t guid);	/* "0x%016x" */
json_t *json_time(int64_t realtime_us);		/* ISO 8601, UTC */
json_t *json_time_us(int64_t realtime_us);	/* … with microseconds */

#endif
