/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text that others made, on its way to a terminal, a log or anybody else who reads lines:
 * a device can call itself anything.
 */
#ifndef QOSD_LIB_BASE_CLEAN_H
#define QOSD_LIB_BASE_CLEAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * In place, '?' instead of each byte of what is obeyed rather than shown: control characters of
 * ASCII, newline and tab among them, and of Latin-1 (U+0080 to U+009F); the line and paragraph
 * separators and what turns the direction of writing (U+2028 to U+202E, U+2066 to U+2069); and of
 * what is not UTF-8, which a terminal of another character set may obey.  Whether
 * there was any.
 */
bool clean_text(char *s);
/* The character at s, which is not the end: its bytes, and whether it is one of those above. */
size_t clean_next(const char *s, uint32_t *c, bool *obeyed);

#endif
