/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a point in time as people write it: a date, or how long ago. */
#ifndef QOSD_LIB_BASE_TIME_PARSE_H
#define QOSD_LIB_BASE_TIME_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Sets *us to the time that text means when it is now_us; both are microseconds since 1970.  Text
 * is one of:
 *
 *   2026-11-01  2026-11-01T08:30  2026-11-01 08:30:15.25  ... with Z or an offset such as +02:00
 *   now  today  yesterday		the latter two mean 00:00
 *   2 hours ago  90s  3days		s, min, h, d, w and their words; "ago" may be missing
 *
 * Without Z or an offset it is UTC, as in everything that qosd prints.  False, with *us unchanged:
 * the text is none of these, the date does not exist, or it lies before 1970.
 */
bool time_parse(const char *text, int64_t now_us, int64_t *us);

#endif
