/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses the XML of the 2006 design into a tree.
 *
 * libxml2 stops understanding a document at its first structural defect, and gives no columns of
 * elements.  So a scan of the tags comes first: it reports defects, repairs them in a copy, and
 * records where each element begins.  libxml2 parses the copy, whose elements in document order are
 * those of the scan.
 *
 * There is no document type: only XML's five predefined entities are expanded, and only the input
 * file is read.  Depth and size are bounded.
 */
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/xmlerror.h>

#include "cli/convert/libxml.h"
#include "cli/convert/policy_tree.h"

#define DEPTH_MAX	32
#define SIZE_MAX_XML	(16u << 20)

struct element {
	const char *name, *key;
	struct place at, content;
};

struct scan {
	struct converted *c;
	struct cursor at;
	struct buf mended;
	struct { struct element *v; size_t n, cap; } elements;	/* in document order */
	struct { size_t element; bool has_children; } open[DEPTH_MAX];
	size_t depth;
	bool stop;
	bool no_comment_end;		/* no further "-->" exists: do not search again */
};

/* --- the scan --- */

static const char *key_of(struct converted *c, const char *name)
{
	char *key = *vec_push(&c->texts) = xstrdup(name);

	for (char *p = key; *p; p++)
		*p = *p == '_' ? '-' : *p >= 'A' && *p <= 'Z' ? (char)(*p | 0x20) : *p;
	return key;
}

static const char *find(const struct cursor *at, const char *what)
{
	return memmem(at->s, (size_t)(at->end - at->s), what, strlen(what));
}

static bool looking_at(const struct cursor *at, const char *what)
{
	size_t n = strlen(what);

	return (size_t)(at->end - at->s) >= n && !memcmp(at->s, what, n);
}

/* Copies text up to `to` or, if !copy, writes blanks for it, so that places stay the same. */
static void take(struct scan *s, const char *to, bool copy)
{
	size_t n = (size_t)(to - s->at.s);

	if (copy)
		buf_add(&s->mended, s->at.s, n);
	for (size_t i = 0; !copy && i < n; i++)
		buf_add(&s->mended, s->at.s[i] == '\n' ? "\n" : " ", 1);
	cursor_skip(&s->at, n);
}

/*
 * Takes text up to and including the next `end`; without one it reports an error and stops the
 * scan.
 */
static void take_to(struct scan *s, const char *end, const char *what, bool copy)
{
	const char *to = find(&s->at, end);

	if (to) {
		take(s, to + strlen(end), copy);
		return;
	}
	say_error(s->c, s->at.at, "this %s has no '%s'", what, end);
	s->stop = true;
}

static const struct element *innermost(const struct scan *s)
{
	return s->depth ? &s->elements.v[s->open[s->depth - 1].element] : NULL;
}

static void close_innermost(struct scan *s)
{
	buf_printf(&s->mended, "</%s>", innermost(s)->name);
	s->depth--;
}

/* Handles "<!" that is not a comment. */
static void scan_declaration(struct scan *s)
{
	size_t n = 2, left = (size_t)(s->at.end - s->at.s);
	const char *end;

	if (looking_at(&s->at, "<!DOCTYPE")) {
		say_error(s->c, s->at.at, "a policy cannot have a document type");
		s->stop = true;
		return;
	}
	for (int chars = 0; chars < 2 && n < left; chars++)
		for (n++; n < left && ((unsigned char)s->at.s[n] & 0xc0) == 0x80; n++)
			;
	say_error(s->c, s->at.at, "a comment begins with '<!--' (two hyphens), not with '%s'",
		  show(&(struct shown){ "" }, s->at.s, n));
	end = s->no_comment_end ? NULL : find(&s->at, "-->");
	s->no_comment_end = !end;
	if (end) {
		take(s, end + 3, false);
		return;
	}
	end = find(&s->at, ">");
	take(s, end ? end + 1 : s->at.end, false);
}

static bool is_name_byte(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       ch == '_' || ch == '-' || ch == '.' || ch == ':' || (unsigned char)ch >= 0x80;
}

static const char *tag_name(struct scan *s, size_t from)
{
	const char *p = s->at.s + from, *start = p;

	while (p < s->at.end && is_name_byte(*p))
		p++;
	return keep(s->c, start, (size_t)(p - start));
}

/* The '>' of the tag at the cursor, or NULL with an error. */
static const char *tag_end(struct scan *s)
{
	char quote = 0;

	for (const char *p = s->at.s + 1; p < s->at.end; p++) {
		if (quote)
			quote = *p == quote ? 0 : quote;
		else if (*p == '"' || *p == '\'')
			quote = *p;
		else if (*p == '>')
			return p;
		else if (*p == '<')
			break;
	}
	say_error(s->c, s->at.at, "this tag has no '>'");
	return NULL;
}

/* Closes open elements that cannot contain this section: they lack an end tag. */
static void close_before_section(struct scan *s, const char *name, const char *key)
{
	const char *parent = section_parent(key);
	size_t depth = s->depth;

	if (!parent)
		return;
	/* first-level sections belong to the policy element itself */
	while (depth > 0 && (*parent ? strcmp(s->elements.v[s->open[depth - 1].element].key, parent)
				     : depth > 1))
		depth--;
	while (depth > 0 && s->depth > depth) {
		say_error(s->c, innermost(s)->at, "<%s> has no end before the <%s> of line %u",
			  SHOW(innermost(s)->name), SHOW(name), s->at.at.pos.line);
		close_innermost(s);
	}
}

static void scan_start_tag(struct scan *s)
{
	const char *name = tag_name(s, 1), *end = tag_end(s);
	const struct element *outer = innermost(s);
	const char *key;
	struct element *e;

	if (!end) {
		take(s, s->at.s + 1 + strlen(name), false);
		return;
	}
	/* no element of a policy contains another of its kind */
	if (outer && !strcmp(outer->name, name) && end[-1] != '/') {
		say_error(s->c, s->at.at, "<%s> within the <%s> of line %u: did you mean its end, "
			  "</%s>?", SHOW(name), SHOW(name), outer->at.pos.line, SHOW(name));
		take(s, end + 1, false);
		close_innermost(s);
		return;
	}
	key = key_of(s->c, name);
	close_before_section(s, name, key);
	if (s->depth == DEPTH_MAX) {
		say_error(s->c, s->at.at, "elements are nested more than %d deep", DEPTH_MAX);
		s->stop = true;
		return;
	}
	e = vec_push(&s->elements);
	*e = (struct element){ .name = name, .key = key, .at = s->at.at };
	if (s->depth)
		s->open[s->depth - 1].has_children = true;
	if (end[-1] != '/') {
		s->open[s->depth].element = s->elements.n - 1;
		s->open[s->depth++].has_children = false;
	}
	take(s, end + 1, true);
	e->content = s->at.at;
}

static bool is_open(const struct scan *s, const char *name)
{
	for (size_t i = 0; i < s->depth; i++)
		if (!strcmp(s->elements.v[s->open[i].element].name, name))
			return true;
	return false;
}

static void scan_end_tag(struct scan *s)
{
	const char *name = tag_name(s, 2), *end = tag_end(s);
	struct place at = s->at.at;

	take(s, end ? end + 1 : s->at.s + 2 + strlen(name), false);
	if (!end)
		return;
	if (!s->depth) {
		say_error(s->c, at, "</%s>, but no element is open", SHOW(name));
		return;
	}
	if (!is_open(s, name)) {
		say_error(s->c, at, "</%s> does not end the <%s> of line %u", SHOW(name),
			  SHOW(innermost(s)->name), innermost(s)->at.pos.line);
		if (!s->open[s->depth - 1].has_children)
			close_innermost(s);
		return;
	}
	while (strcmp(innermost(s)->name, name)) {
		say_error(s->c, innermost(s)->at, "<%s> has no end before the </%s> of line %u",
			  SHOW(innermost(s)->name), SHOW(name), at.pos.line);
		close_innermost(s);
	}
	close_innermost(s);
}

static void scan_markup(struct scan *s)
{
	if (looking_at(&s->at, "<!--"))
		take_to(s, "-->", "comment", true);
	else if (looking_at(&s->at, "<![CDATA["))
		take_to(s, "]]>", "CDATA section", true);
	else if (looking_at(&s->at, "<?"))
		take_to(s, "?>", "processing instruction", true);
	else if (looking_at(&s->at, "<!"))
		scan_declaration(s);
	else if (looking_at(&s->at, "</"))
		scan_end_tag(s);
	else if (s->at.s + 1 < s->at.end && is_name_byte(s->at.s[1])) {
		scan_start_tag(s);
	} else {
		say_error(s->c, s->at.at, "'<' does not begin a tag; write &lt; for the character itself");
		take(s, s->at.s + 1, false);
	}
}

static void scan_document(struct scan *s)
{
	while (s->at.s < s->at.end && !s->stop) {
		const char *markup = memchr(s->at.s, '<', (size_t)(s->at.end - s->at.s));

		take(s, markup ? markup : s->at.end, true);
		if (markup)
			scan_markup(s);
	}
	while (s->depth && !s->stop) {
		say_error(s->c, innermost(s)->at, "<%s> has no end", SHOW(innermost(s)->name));
		close_innermost(s);
	}
}

/* --- libxml2 --- */

/*
 * Reports what libxml2 finds in the repaired copy; lines are right, columns only where nothing was
 * repaired.
 */
static void take_xml_error(void *context, const xmlError *error)
{
	const struct scan *s = ((xmlParserCtxtPtr)context)->_private;
	struct place at = { s->at.at.file, {
		error->line > 0 ? (uint32_t)error->line : 0,
		error->int2 > 0 ? (uint32_t)error->int2 : 0,
	} };
	const char *text = error->message ? error->message : "";

	verdict(s->c, NULL, error->level == XML_ERR_WARNING ? VERDICT_OTHERWISE : VERDICT_ERROR, at, "XML: %.*s",
		(int)strcspn(text, "\n"), text);
}

#if LIBXML_VERSION < 21200
static void take_error(void *context, xmlErrorPtr error)
{
	take_xml_error(context, error);
}
#else
#define take_error take_xml_error
#endif

static xmlDocPtr parse(const struct libxml *xml, struct scan *s)
{
	xmlParserCtxtPtr context = xml->new_context();
	xmlDocPtr doc;

	if (!context)
		abort();	/* out of memory */
	context->_private = s;
	context->sax->serror = take_error;
	doc = xml->read_memory(context, s->mended.s ? s->mended.s : "", (int)s->mended.n,
				s->at.at.file, NULL, XML_PARSE_NONET | XML_PARSE_RECOVER);
	xml->free_context(context);
	return doc;
}

/* --- tree from the document --- */

struct walk {
	struct scan *s;
	size_t next;		/* next element of the scan */
	bool lost;		/* libxml2 saw other elements than the scan */
};

static const char *text_of(struct converted *c, const xmlNode *n)
{
	struct buf b = { 0 };
	const char *text;

	for (const xmlNode *t = n->children; t; t = t->next)
		if ((t->type == XML_TEXT_NODE || t->type == XML_CDATA_SECTION_NODE) && t->content)
			buf_puts(&b, (const char *)t->content);
	text = keep(c, b.s ? b.s : "", b.n);
	buf_free(&b);
	return text;
}

static bool has_elements(const xmlNode *n)
{
	for (const xmlNode *child = n->children; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE)
			return true;
	return false;
}

static void check_no_text(struct converted *c, const struct element *e, const char *text)
{
	size_t n;

	text += strspn(text, " \t\r\n");
	n = strcspn(text, "\n");
	while (n && strchr(" \t\r", text[n - 1]))
		n--;
	if (n)
		say_error(c, e->at, "<%s> has text among its elements: '%s'", SHOW(e->name),
			  show(&(struct shown){ "" }, text, n));
}

static struct tree *walk_element(struct walk *w, struct tree *parent, const xmlNode *n)
{
	struct converted *c = w->s->c;
	const struct element *e = w->next < w->s->elements.n ? &w->s->elements.v[w->next] : NULL;
	struct tree *t;
	const char *text;

	/* the scan treats a prefix as part of the name, and no prefix has a meaning */
	if (!e || strcmp(e->name, (const char *)n->name)) {
		w->lost = true;
		return NULL;
	}
	w->next++;
	t = tree_add(parent, e->key, e->at);
	text = text_of(c, n);
	t->section = section_parent(t->key) || has_elements(n) || !parent;
	if (n->properties)
		verdict(c, NULL, VERDICT_NOT_NEEDED, e->at, "<%s>: attributes have no meaning", SHOW(e->name));
	if (!t->section) {
		struct cursor value = { text, text + strlen(text), e->content, false };

		t->value = cursor_part(value, value.end);
	} else {
		check_no_text(c, e, text);
	}
	for (const xmlNode *child = n->children; child && !w->lost; child = child->next)
		if (child->type == XML_ELEMENT_NODE)
			walk_element(w, t, child);
	return t;
}

static void build(struct scan *s, const xmlNode *top)
{
	struct walk w = { s, 0, false };
	struct tree *root = top ? walk_element(&w, NULL, top) : NULL;

	if (!root || w.lost) {
		if (!s->c->found.count[VERDICT_ERROR])
			say_error(s->c, s->at.at, "this XML is not a policy");
	} else if (strcmp(root->key, "qos-policy")) {
		say_error(s->c, root->at, "the document is <%s>, not <qos-policy>",
			  SHOW(s->elements.v[0].name));
	} else {
		root->key = "";
		build_policy(s->c, root, FORMAT_XML);
	}
	tree_free(root);
}

static void parse_and_build(struct scan *s)
{
	const struct libxml *xml = libxml_load();
	xmlDocPtr doc;

	if (!xml) {
		say_error(s->c, s->at.at, "XML cannot be read without libxml2: %s", libxml_error());
		return;
	}
	doc = parse(xml, s);
	build(s, doc ? xml->root_element(doc) : NULL);
	xml->free_doc(doc);
}

void read_xml(struct converted *c, const struct convert_input *in)
{
	struct scan s = { .c = c, .at = cursor_of(in) };

	if (in->n > SIZE_MAX_XML) {
		say_error(c, s.at.at, "an XML document of more than %u MiB", SIZE_MAX_XML >> 20);
		return;
	}
	s.at.quotes = false;
	scan_document(&s);
	if (!s.stop)
		parse_and_build(&s);
	buf_free(&s.mended);
	vec_free(&s.elements);
	*vec_push(&c->sources) = in->name;
	c->has_xml = true;
}
