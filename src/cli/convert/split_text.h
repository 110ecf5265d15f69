/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Splits the text of an input and keeps track of places.  Lines and columns count from 1, columns
 * in UTF-8 characters.
 */
#ifndef QOSD_CLI_CONVERT_SPLIT_TEXT_H
#define QOSD_CLI_CONVERT_SPLIT_TEXT_H

#include "cli/convert/model.h"

/* The rest of a text, and the place where it begins. */
struct cursor {
	const char *s, *end;
	struct place at;
	bool quotes;		/* "…" may contain commas, '#' and blanks; '#' begins a comment */
};

struct cursor cursor_of(const struct convert_input *in);
/* Moves by n bytes, which must exist. */
void cursor_skip(struct cursor *c, size_t n);
void cursor_skip_blanks(struct cursor *c);	/* not line ends */
void cursor_skip_between(struct cursor *c);	/* blanks, line ends and comments */
void cursor_skip_line(struct cursor *c);	/* to the start of the next line */
/* The word at the cursor, up to a blank, a line end or one of `ends`; may be empty. */
const char *peek_word(struct converted *c, const struct cursor *at, const char *ends);
/* Like peek_word(), but moves the cursor past the word and blanks after it. */
const char *take_word(struct converted *c, struct cursor *at, const char *ends);
/* The rest of c up to `to`, without surrounding blanks. */
struct cursor cursor_part(struct cursor c, const char *to);

/* An item of a list, [s, end), without surrounding blanks. */
struct item {
	struct cursor text;
	bool quoted;		/* contains quoted text */
};
/* Takes the next item of a comma-separated list; false at the end. */
bool next_item(struct cursor *list, struct item *out);
/*
 * The text of an item: without quotes, comments and surrounding blanks; a line end becomes a blank.
 */
const char *item_text(struct converted *c, struct cursor item);

/* Parses decimal, 0x hexadecimal or 0 octal; all of s, with blanks around it allowed. */
bool parse_number(const char *s, uint64_t *v);

/* Parse numbers; report errors, and leave out values that are out of range. */
struct limits {
	uint64_t max;
	const char *what;	/* "a P_Key" */
};
bool read_ranges(struct converted *c, struct notes *notes, struct cursor list,
		 const struct limits *limits, struct ranges *out);
bool read_number(struct converted *c, struct cursor text, uint64_t min, uint64_t max,
		 const char *what, uint64_t *out);
/*
 * Appends s as text that YAML accepts: UTF-8 (other bytes are read as Latin-1), with '?' for each
 * control character.  Returns true if that changed nothing.
 */
bool add_clean(struct buf *b, const char *s);

/*
 * Whether the text is a template that was not rendered: it has a place holder of a template language outside
 * comments.  Then adds the one error of this input.
 */
bool refuse_template(struct converted *c, const struct convert_input *in);

/* Clears the membership bit of P_Keys. */
void mask_pkeys(struct ranges *r);

#endif
