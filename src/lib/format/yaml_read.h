/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Table-driven reading of a node tree into C structs.
 *
 * A map of the file is described by an array of keys; each says how its value
 * is read and into which field.  Every error is reported with the place of the
 * offending word and reading goes on, so that one run shows them all.  A value
 * that was refused leaves its field as it was.
 */
#ifndef QOSD_LIB_FORMAT_YAML_READ_H
#define QOSD_LIB_FORMAT_YAML_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/findings.h"
#include "lib/format/yaml.h"
#include "lib/format/yaml_value.h"

struct reader {
	const char *file;
	struct findings *out;
};

#define read_error(r, pos, ...) findings_add((r)->out, SEV_ERROR, (r)->file, pos, __VA_ARGS__)

struct key;
/* Reads node n into the field `at`. */
typedef void read_fn(struct reader *r, const struct node *n, const struct key *k, void *at);

struct key {
	const char *name;
	read_fn *read;
	size_t offset, size;	/* of the field: FIELD() */
	uint64_t min, max;	/* of numbers and times */
	double unit;		/* read_time: seconds in 1 of the field */
	const char *const *words;	/* read_choice: NULL-terminated */
	bool required;
};

#define FIELD(type, member) \
	.offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
/* For a read_fn that wants the whole object. */
#define WHOLE .offset = 0

/* All keys of map n into obj.  False, with an error, if n is no map. */
bool read_map(struct reader *r, const struct node *n, const struct key *keys, size_t n_keys,
	      void *obj);
/* Whether n is a map, for those whose keys are names; an empty value counts as an empty map. */
bool read_is_map(struct reader *r, const struct node *n);
/* The value of a key, NULL if the map has no such key (or is no map). */
const struct node *node_get(const struct node *map, const char *name);
/*
 * The first of a list's items (go on with ->next), or the single value that
 * stands for a list of one.  NULL, and *count 0, for an empty list or value.
 */
const struct node *node_items(const struct node *n, size_t *count);
/*
 * The same where an empty list is an error: one that names what to apply to
 * would apply to nothing, unseen.
 */
const struct node *read_items(struct reader *r, const struct node *n, const char *what);

/* The word of a scalar; NULL, with an error that `what` was expected, if it is none. */
const char *read_word(struct reader *r, const struct node *n, const char *what);
/* A number min..max, or false with an error. */
bool read_number(struct reader *r, const struct node *n, uint64_t min, uint64_t max, uint64_t *v);
/* A number, or a range a-b with a <= b, within min..max, or false with an error. */
bool read_range(struct reader *r, const struct node *n, uint64_t min, uint64_t max,
		uint64_t *lo, uint64_t *hi);
/* Into an integer of 1, 2, 4 or 8 bytes, as a key describes its field. */
void read_store(void *at, size_t size, uint64_t v);
/* Whether a word may be a name; if not, an error was reported. */
bool read_name_ok(struct reader *r, const struct node *n);

/* For an error's end: ": did you mean 'x'?" or "". */
struct hint { char text[96]; };
#define HINT(word, words, n) hint(&(struct hint){ "" }, word, words, n)
const char *hint(struct hint *h, const char *word, const char *const *words, size_t n);

/* --- readers for `struct key` --- */

read_fn read_uint;	/* number min..max */
read_fn read_bool;	/* true, false */
read_fn read_choice;	/* index of the word in k->words */
read_fn read_time;	/* number, or time with unit, in multiples of k->unit seconds */
read_fn read_text;	/* char *: free text */

#endif
