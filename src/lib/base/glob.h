/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Patterns of names, in which * stands for any number of characters and a question mark for one. */
#ifndef QOSD_LIB_BASE_GLOB_H
#define QOSD_LIB_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the pattern of n characters matches all of s.  Takes at most n times the length of s. */
bool glob_match(const char *pattern, size_t n, const char *s);
/* Whether a text is a pattern rather than a name. */
bool glob_is_pattern(const char *text);

#endif
