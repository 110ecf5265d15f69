/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text of an input, taken apart without losing the place: lines and columns
 * count from 1, columns in characters of UTF-8.
 */
#ifndef QOSD_CLI_CONVERT_SPLIT_TEXT_H
#define QOSD_CLI_CONVERT_SPLIT_TEXT_H

#include "cli/convert/model.h"

/* What is left of a text, and where it begins. */
struct cursor {
	const char *s, *end;
	struct place at;
	bool quotes;		/* "…" keeps a comma, a '#' and blanks; '#' begins a comment */
};

struct cursor cursor_of(const struct convert_input *in);
/* Moves by n bytes, which must be there. */
void cursor_skip(struct cursor *c, size_t n);
void cursor_skip_blanks(struct cursor *c);	/* not line ends */
void cursor_skip_between(struct cursor *c);	/* blanks, line ends and comments */
void cursor_skip_line(struct cursor *c);	/* to behind the line end */
/* The word at the cursor up to a blank, a line end or one of `ends`; may be empty. */
const char *peek_word(struct converted *c, const struct cursor *at, const char *ends);
/* The same, with the cursor moved behind it and blanks. */
const char *take_word(struct converted *c, struct cursor *at, const char *ends);
/* The rest of c up to `to`, without blanks at its ends. */
struct cursor cursor_part(struct cursor c, const char *to);

/* An item of a list: [s, end) without blanks around it. */
struct item {
	struct cursor text;
	bool quoted;		/* some of it was in quotes */
};
/* The next item of a list separated by commas; false at the end. */
bool next_item(struct cursor *list, struct item *out);
/*
 * The text of an item: quotes and comments are left out, a line end becomes a
 * blank, blanks at the ends go.
 */
const char *item_text(struct converted *c, struct cursor item);

/* Decimal, 0x hexadecimal, 0 octal; the whole of s, blanks around it allowed. */
bool parse_number(const char *s, uint64_t *v);

/* Lists with errors said; what is out of range is left out. */
struct limits {
	uint64_t max;
	const char *what;	/* "a P_Key" */
};
bool read_ranges(struct converted *c, struct notes *notes, struct cursor list,
		 const struct limits *limits, struct ranges *out);
bool read_number(struct converted *c, struct cursor text, uint64_t min, uint64_t max,
		 const char *what, uint64_t *out);
/*
 * Adds s as text that YAML takes: UTF-8 (other bytes are taken for Latin-1), and
 * '?' for each control character.  True if that changed nothing.
 */
bool add_clean(struct buf *b, const char *s);

/* P_Keys lose their membership bit. */
void mask_pkeys(struct ranges *r);

#endif
