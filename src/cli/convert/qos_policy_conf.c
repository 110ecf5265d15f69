/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses OpenSM's qos-policy.conf into a tree.
 *
 * OpenSM stops at the first error and drops the whole file.  This reader recovers at the next
 * keyword that opens or closes a section, so that one run reports all errors.
 */
#include <string.h>

#include "cli/convert/policy_tree.h"

#define WORD_ENDS ":,#\""

struct reader {
	struct converted *c;
	struct cursor at;
	struct tree *top;		/* the innermost open section */
};

static bool is_open(const struct tree *top, const char *key)
{
	for (; top; top = top->parent)
		if (!strcmp(top->key, key))
			return true;
	return false;
}

/* Closes sections that lack an end, until `key` is the innermost one. */
static void close_down_to(struct reader *r, const char *key, const char *before)
{
	while (strcmp(r->top->key, key)) {
		say_error(r->c, r->top->at, "'%s' has no 'end-%s' before %s", r->top->key,
			  r->top->key, before);
		r->top = r->top->parent;
	}
}

static void open_section(struct reader *r, const char *key, struct place at)
{
	const char *parent = section_parent(key);

	if (is_open(r->top, parent)) {
		close_down_to(r, parent, keepf(r->c, "'%s' in line %u", key, at.pos.line));
	} else {
		say_error(r->c, at, "'%s' outside of '%s'", key, parent);
		while (r->top->parent)		/* limits the depth of the tree */
			r->top = r->top->parent;
	}
	r->top = tree_add(r->top, key, at);
	r->top->section = true;
}

static void close_section(struct reader *r, const char *key, struct place at)
{
	if (!is_open(r->top, key)) {
		say_error(r->c, at, "'end-%s', but no '%s' is open", key, key);
		return;
	}
	close_down_to(r, key, keepf(r->c, "'end-%s' in line %u", key, at.pos.line));
	r->top = r->top->parent;
}

/* True for a keyword that opens or closes a section: "x" or "end-x". */
static bool is_section_word(const char *word)
{
	return section_parent(word) || (!strncmp(word, "end-", 4) && section_parent(word + 4));
}

/* True if the first word after line ends is a keyword: "0:4" does not begin an item. */
static bool keyword_follows(struct converted *c, struct cursor at)
{
	const char *word;

	cursor_skip_between(&at);
	word = take_word(c, &at, WORD_ENDS);
	return is_section_word(word) || at.s == at.end ||
	       (*at.s == ':' && !(*word >= '0' && *word <= '9'));
}

/*
 * Moves to the line end that ends a value.  A line that ends in a comma continues on the next line
 * with content, unless that begins with a keyword.
 */
static const char *value_end(struct converted *c, struct cursor *at)
{
	bool comma = false;

	while (at->s < at->end) {
		size_t left = (size_t)(at->end - at->s);
		const char *close = *at->s == '"' ? memchr(at->s + 1, '"', left - 1) : NULL;

		if (*at->s == '\n' && (!comma || keyword_follows(c, *at)))
			break;
		if (*at->s == '\n') {
			cursor_skip_between(at);
			continue;
		}
		if (*at->s == '#') {
			const char *eol = memchr(at->s, '\n', left);

			cursor_skip(at, eol ? (size_t)(eol - at->s) : left);
			continue;
		}
		if (!strchr(" \t\r", *at->s))
			comma = *at->s == ',';
		cursor_skip(at, close ? (size_t)(close - at->s) + 1 : 1);
	}
	return at->s;
}

/* Reads "key: value" to the end of the line. */
static void read_item(struct reader *r, const char *key)
{
	struct place at = r->at.at;
	struct cursor start;
	struct tree *t;

	cursor_skip(&r->at, strlen(key));
	cursor_skip_blanks(&r->at);
	if (!*key || r->at.s == r->at.end || *r->at.s != ':') {
		say_error(r->c, at, *key ? "'%s' is not a keyword of qos-policy.conf"
					 : "expected a keyword%s", SHOW(key));
		cursor_skip_line(&r->at);
		return;
	}
	cursor_skip(&r->at, 1);
	start = r->at;
	t = tree_add(r->top, key, at);
	t->value = cursor_part(start, value_end(r->c, &r->at));
}

static void read_ulp_line(struct reader *r)
{
	struct cursor start = r->at;

	build_ulp(r->c, cursor_part(start, value_end(r->c, &r->at)));
}

static void read_line(struct reader *r)
{
	const char *word = peek_word(r->c, &r->at, WORD_ENDS);
	struct place at = r->at.at;

	if (is_section_word(word)) {
		cursor_skip(&r->at, strlen(word));
		if (section_parent(word))
			open_section(r, word, at);
		else
			close_section(r, word + 4, at);
	} else if (!strcmp(r->top->key, "qos-ulps")) {
		read_ulp_line(r);
	} else {
		read_item(r, word);
	}
}

void read_policy(struct converted *c, const struct convert_input *in)
{
	struct reader r = { .c = c, .at = cursor_of(in) };
	struct tree *root = tree_add(NULL, "", r.at.at);

	root->section = true;
	r.top = root;
	while (r.at.s < r.at.end) {
		cursor_skip_blanks(&r.at);
		if (r.at.s < r.at.end && (*r.at.s == '\n' || *r.at.s == '#'))
			cursor_skip_line(&r.at);
		else if (r.at.s < r.at.end)
			read_line(&r);
	}
	close_down_to(&r, "", "the end of the file");
	build_policy(c, root, FORMAT_QOS_POLICY);
	tree_free(root);
	*vec_push(&c->sources) = in->name;
	c->has_policy = true;
}
