/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads times as people write them: how long something takes, a date, or how long ago something was. */
#ifndef QOSD_LIB_BASE_TIME_PARSE_H
#define QOSD_LIB_BASE_TIME_PARSE_H

#include <stdbool.h>
#include <stdint.h>

/* For messages. */
#define TIME_UNITS "us, ms, s, m, h, d or w"

/*
 * Reads how long something takes: a number, with a fraction or not, and one of TIME_UNITS or its word, as in
 * 500ms, 1.5s, 10min or "2 hours".  False, with *seconds unchanged: it is none.
 */
bool time_span_parse(const char *text, double *seconds);
/* The same, but a number without a unit is in seconds. */
bool time_seconds_parse(const char *text, double *seconds);

/*
 * Sets *us to the time that text means when it is now_us; both are microseconds since 1970.  Text
 * is one of:
 *
 *   2026-11-01  2026-11-01T08:30  2026-11-01 08:30:15.25  ... with Z or an offset such as +02:00
 *   now  today  yesterday		the latter two mean 00:00
 *   2 hours ago  90s  3days		see time_span_parse(); "ago" may be missing
 *
 * Without Z or an offset it is UTC, as in everything that qosd prints.  False, with *us unchanged:
 * the text is none of these, the date does not exist, or it lies before 1970.
 */
bool time_parse(const char *text, int64_t now_us, int64_t *us);

#endif
