/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts the words of both configuration files to values, without side effects. */
#ifndef QOSD_LIB_FORMAT_YAML_VALUE_H
#define QOSD_LIB_FORMAT_YAML_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * All return false, and leave the result alone, if the whole text does not have the form or the
 * value does not fit.
 */
bool value_u64(const char *s, uint64_t *v);	/* 10, 0x1f; no sign, no leading zero */
/* `a` or `a-b`.  The caller must refuse b < a. */
bool value_range(const char *s, uint64_t *a, uint64_t *b);
bool value_iba(const char *s, uint64_t *code);	/* iba:N */
bool value_bytes(const char *s, uint64_t *bytes);	/* 4096B, 40KiB, 1MiB */

/*
 * The one of n words that `word` was most likely meant to be, at most two typing errors away; NULL
 * if there is none.
 */
const char *value_nearest(const char *word, const char *const *words, size_t n);

/* A word as error messages quote it: its beginning, with ? for characters that would forge lines. */
struct excerpt { char text[56]; };
#define EXCERPT(word) excerpt(&(struct excerpt){ "" }, word)
const char *excerpt(struct excerpt *e, const char *word);

#endif
