/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a tree of YAML nodes into C structs, driven by tables of keys.
 *
 * An array of keys describes a map of the file: how to read each value, and into which field.  A
 * reader reports every error with the place of the offending word and goes on, so that one run
 * shows all errors.  A refused value leaves its field unchanged.
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
	size_t offset, size;	/* offset and size of the field: use FIELD() */
	uint64_t min, max;	/* bounds of numbers and times */
	double unit;		/* read_time: seconds per unit of the field */
	const char *const *words;	/* read_choice: accepted words, NULL-terminated */
	bool required;
	bool live;		/* for the owner of the table: the value may change while the program runs */
};

#define FIELD(type, member) \
	.offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
/* For a read_fn that needs the whole object, not one field. */
#define WHOLE .offset = 0

/* Reads all keys of map n into obj.  False, with an error, if n is not a map. */
bool read_map(struct reader *r, const struct node *n, const struct key *keys, size_t n_keys,
	      void *obj);
/* Whether n is a map; for maps whose keys are free names.  An empty value counts as an empty map. */
bool read_is_map(struct reader *r, const struct node *n);
/* The value of a key, NULL if the map has no such key (or is no map). */
const struct node *node_get(const struct node *map, const char *name);
/*
 * The first item of a list (follow ->next for the others), or the single value that stands for a
 * list of one.  NULL, and *count 0, for an empty list or value.
 */
const struct node *node_items(const struct node *n, size_t *count);
/*
 * Like node_items(), but an empty list is an error: a list of things to apply to must not silently
 * match nothing.
 */
const struct node *read_items(struct reader *r, const struct node *n, const char *what);

/* The text of a scalar.  If n is not a scalar: NULL, with an error that `what` was expected. */
const char *read_word(struct reader *r, const struct node *n, const char *what);
/* Reads a number min..max; false with an error. */
bool read_number(struct reader *r, const struct node *n, uint64_t min, uint64_t max, uint64_t *v);
/* Reads a number, or a range a-b with a <= b, within min..max; false with an error. */
bool read_range(struct reader *r, const struct node *n, uint64_t min, uint64_t max,
		uint64_t *lo, uint64_t *hi);
/* Stores v in an integer field of 1, 2, 4 or 8 bytes. */
void read_store(void *at, size_t size, uint64_t v);
/* Whether a word may be a name; reports an error if not. */
bool read_name_ok(struct reader *r, const struct node *n);

/* Text for the end of an error message: ": did you mean 'x'?" or "". */
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
