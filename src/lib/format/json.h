/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the JSON values that both the daemon and the simulator write, with jansson. */
#ifndef QOSD_LIB_FORMAT_JSON_H
#define QOSD_LIB_FORMAT_JSON_H

#include <jansson.h>
#include <stdint.h>

/* Text that a device supplies need not be UTF-8; if it is not, '?' replaces each byte beyond ASCII. */
json_t *json_text(const char *s);
json_t *json_guid(uint64_t guid);	/* "0x%016x" */
json_t *json_time(int64_t realtime_us);		/* ISO 8601, UTC */
json_t *json_time_us(int64_t realtime_us);	/* ISO 8601, UTC, with microseconds */

#endif
