/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares names as people mistype them, for messages that ask "did you mean". */
#ifndef QOSD_LIB_BASE_SPELLING_H
#define QOSD_LIB_BASE_SPELLING_H

#define SPELLING_MAX 2	/* mistakes in a name that may be meant */

/*
 * The number of characters to insert, remove, replace or exchange with the next one that make a
 * name of the other, without regard to case; SPELLING_MAX + 1: more than SPELLING_MAX, or more than
 * a third of the name, or only digits of the same number of digits differ.  node12 is no mistake for
 * node13: it is another host.
 */
unsigned spelling_mistakes(const char *a, const char *b);

#endif
