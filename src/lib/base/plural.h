/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Endings and words that depend on a number, for texts: "1 port is", "2 ports are". */
#ifndef QOSD_LIB_BASE_PLURAL_H
#define QOSD_LIB_BASE_PLURAL_H

/* What a regular noun ends in after the number n, of any integer type. */
#define PLURAL_S(n)			((n) == 1 ? "" : "s")
/* One of two words, or endings, by that number. */
#define PLURAL(n, of_one, of_many)	((n) == 1 ? (of_one) : (of_many))

#endif
