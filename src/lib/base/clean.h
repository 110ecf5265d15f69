/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces control characters in text that devices or clients supply.
 *
 * Such text goes to terminals, logs and programs that read lines, and a device can call itself
 * anything.
 */
#ifndef QOSD_LIB_BASE_CLEAN_H
#define QOSD_LIB_BASE_CLEAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Replaces, in place, each byte of a character that a terminal obeys rather than shows with '?':
 * control characters of ASCII (newline and tab among them) and of Latin-1 (U+0080 to U+009F); line
 * and paragraph separators and direction controls (U+2028 to U+202E, U+2066 to U+2069); and bytes
 * that are not UTF-8, which a terminal with another character set may obey.  Returns whether it
 * replaced any.
 */
bool clean_text(char *s);
/*
 * Decodes the character at s, which must not be the end of the text, and returns its length in
 * bytes; *obeyed tells whether clean_text() replaces it.
 */
size_t clean_next(const char *s, uint32_t *c, bool *obeyed);

#endif
