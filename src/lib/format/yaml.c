/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds a tree of nodes from libyaml's events; the only file that includes <yaml.h>. */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "lib/format/yaml.h"
#include "lib/format/yaml_value.h"

struct builder {
	yaml_parser_t parser;
	yaml_event_t event;	/* the current one */
	const char *file, *text;
	struct findings *out;
	size_t n;		/* bytes of text */
	uint32_t n_nodes;
	bool failed;		/* nothing more can be read */
};

#define error_at(b, pos, ...) findings_add((b)->out, SEV_ERROR, (b)->file, pos, __VA_ARGS__)

static struct src_pos pos_of(yaml_mark_t m)
{
	return (struct src_pos){ (uint32_t)m.line + 1, (uint32_t)m.column + 1 };
}

static struct src_pos pos_of_offset(const char *text, size_t offset)
{
	struct src_pos pos = { 1, 1 };

	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n')
			pos = (struct src_pos){ pos.line + 1, 1 };
		else if (((unsigned char)text[i] & 0xc0) != 0x80)
			pos.col++;	/* columns count characters, as in libyaml */
	}
	return pos;
}

/* Whether there is a tab at mark m, whose index counts characters. */
static bool is_tab(const char *text, size_t n, yaml_mark_t m)
{
	size_t i = 0;

	for (size_t chars = 0; i < n; i++)
		if (((unsigned char)text[i] & 0xc0) != 0x80 && chars++ == m.index)
			break;
	return i < n && text[i] == '\t';
}

static void report_syntax(struct builder *b)
{
	const yaml_parser_t *p = &b->parser;
	const char *problem = p->problem ? p->problem : "cannot be read";

	if (p->error == YAML_READER_ERROR)
		error_at(b, pos_of_offset(b->text, p->problem_offset),
			 "not UTF-8 text: %s", problem);
	else if (p->context && strstr(p->context, "alias"))
		error_at(b, pos_of(p->context_mark),
			 "not valid YAML: a text that begins with * must be in quotes");
	else if (is_tab(b->text, b->n, p->problem_mark))
		error_at(b, pos_of(p->problem_mark),
			 "not valid YAML: a tab; only spaces may indent");
	else if (p->context)
		error_at(b, pos_of(p->problem_mark), "not valid YAML: %s (%s at line %zu)",
			 problem, p->context, p->context_mark.line + 1);
	else
		error_at(b, pos_of(p->problem_mark), "not valid YAML: %s", problem);
}

static bool next_event(struct builder *b)
{
	if (b->failed)
		return false;
	yaml_event_delete(&b->event);
	if (!yaml_parser_parse(&b->parser, &b->event)) {
		report_syntax(b);
		b->failed = true;
	}
	return !b->failed;
}

static void refuse_properties(struct builder *b, struct node *n, const yaml_char_t *anchor,
			      const yaml_char_t *tag)
{
	if (anchor)
		error_at(b, n->pos, "anchors (&%s) are not supported", EXCERPT((const char *)anchor));
	if (tag)
		error_at(b, n->pos, "tags (%s) are not supported", EXCERPT((const char *)tag));
	if (anchor || tag)
		n->kind = NODE_BAD;
}

static void build_scalar(struct builder *b, struct node *n)
{
	const char *text = (const char *)b->event.data.scalar.value;
	size_t len = b->event.data.scalar.length;

	n->text = xstrndup(text, len);
	n->null = b->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		  (len == 0 || !strcmp(n->text, "~") || !strcmp(n->text, "null"));
	if (strlen(n->text) != len) {
		error_at(b, n->pos, "the text contains a NUL character");
		n->kind = NODE_BAD;
	}
	refuse_properties(b, n, b->event.data.scalar.anchor, b->event.data.scalar.tag);
}

static struct node *build(struct builder *b, unsigned depth);

static void build_list(struct builder *b, struct node *n, unsigned depth)
{
	struct node **tail = &n->child;

	n->kind = NODE_LIST;
	refuse_properties(b, n, b->event.data.sequence_start.anchor, b->event.data.sequence_start.tag);
	while (next_event(b) && b->event.type != YAML_SEQUENCE_END_EVENT) {
		*tail = build(b, depth + 1);
		tail = &(*tail)->next;
		n->n++;
	}
}

static int compare_keys(const void *pa, const void *pb)
{
	const struct node *const *a = pa, *const *b = pb;

	return strcmp((*a)->text, (*b)->text) ?: ORDER((*a)->pos.line, (*b)->pos.line) ?:
	       ORDER((*a)->pos.col, (*b)->pos.col);
}

/* Keeps the first of several equal keys. */
static void refuse_duplicates(struct builder *b, struct node *map)
{
	struct node **keys = xcalloc(map->n, sizeof(struct node *));
	size_t n = 0;

	for (struct node *k = map->child; k; k = k->next)
		keys[n++] = k;
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 1, first = 0; i < n; i++) {
		if (strcmp(keys[i]->text, keys[first]->text)) {
			first = i;
			continue;
		}
		error_at(b, keys[i]->pos, "duplicate key '%s' (first at line %u)",
			 EXCERPT(keys[i]->text), keys[first]->pos.line);
		keys[i]->kind = NODE_BAD;
	}
	free(keys);
	for (struct node **link = &map->child, *k; (k = *link) != NULL; ) {
		if (k->kind != NODE_BAD) {
			link = &k->next;
			continue;
		}
		*link = k->next;
		k->next = NULL;
		yaml_tree_free(k);
		map->n--;
	}
}

static void build_map(struct builder *b, struct node *n, unsigned depth)
{
	struct node **tail = &n->child;

	n->kind = NODE_MAP;
	refuse_properties(b, n, b->event.data.mapping_start.anchor, b->event.data.mapping_start.tag);
	while (next_event(b) && b->event.type != YAML_MAPPING_END_EVENT) {
		struct node *key = build(b, depth + 1);

		if (next_event(b)) {
			key->value = build(b, depth + 1);
			/* an empty value has no token of its own */
			if (key->value->null && !*key->value->text)
				key->value->pos = key->pos;
		}
		if (b->failed || key->kind != NODE_SCALAR) {
			if (!b->failed && key->kind != NODE_BAD)
				error_at(b, key->pos, "a key must be a word");
			yaml_tree_free(key);
			continue;
		}
		*tail = key;
		tail = &key->next;
		n->n++;
	}
	if (!b->failed)
		refuse_duplicates(b, n);
}

static void fail(struct builder *b, struct node *n, const char *why)
{
	error_at(b, n->pos, "%s", why);
	n->kind = NODE_BAD;
	b->failed = true;
}

/* Builds the node that begins with the current event; on return its last event is current. */
static struct node *build(struct builder *b, unsigned depth)
{
	struct node *n = xcalloc(1, sizeof(*n));

	n->pos = pos_of(b->event.start_mark);
	if (depth > YAML_DEPTH_MAX)
		fail(b, n, "nested too deeply");
	else if (++b->n_nodes > YAML_NODES_MAX)
		fail(b, n, "too many values in one file");
	else if (b->event.type == YAML_SCALAR_EVENT)
		build_scalar(b, n);
	else if (b->event.type == YAML_SEQUENCE_START_EVENT)
		build_list(b, n, depth);
	else if (b->event.type == YAML_MAPPING_START_EVENT)
		build_map(b, n, depth);
	else {
		error_at(b, n->pos, "aliases (*%s) are not supported; "
			 "write a text that begins with * in quotes",
			 EXCERPT((const char *)b->event.data.alias.anchor));
		n->kind = NODE_BAD;
	}
	return n;
}

static void build_document(struct builder *b, struct node **root, bool *ended)
{
	/* the stream starts, then the document starts or the stream ends */
	if (!next_event(b) || !next_event(b) || b->event.type == YAML_STREAM_END_EVENT)
		return;
	if (!next_event(b))
		return;
	*root = build(b, 1);
	if (next_event(b) && b->event.type == YAML_DOCUMENT_END_EVENT && ended)
		*ended = !b->event.data.document_end.implicit;
	/* refuse anything after the document */
	if (!b->failed && next_event(b) && b->event.type != YAML_STREAM_END_EVENT) {
		error_at(b, pos_of(b->event.start_mark),
			 "a second document in the file: only one is allowed");
		b->failed = true;
	}
}

bool yaml_tree_parse(const char *file, const char *text, size_t n, struct node **root, bool *ended,
		     struct findings *out)
{
	struct builder b = { .file = file, .out = out };

	*root = NULL;
	if (ended)
		*ended = false;
	/* libyaml would count a byte order mark as a column */
	if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		n -= 3;
	}
	b.text = text;
	b.n = n;
	if (!yaml_parser_initialize(&b.parser)) {
		error_at(&b, ((struct src_pos){ 0, 0 }), "libyaml cannot be initialised");
		return false;
	}
	yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, n);
	build_document(&b, root, ended);
	yaml_event_delete(&b.event);
	yaml_parser_delete(&b.parser);
	if (b.failed) {
		yaml_tree_free(*root);
		*root = NULL;
	}
	return !b.failed;
}

/* Recursion is as deep as the tree: at most YAML_DEPTH_MAX levels. */
void yaml_tree_free(struct node *n)
{
	while (n) {
		struct node *next = n->next;

		yaml_tree_free(n->child);
		yaml_tree_free(n->value);
		free(n->text);
		free(n);
		n = next;
	}
}
