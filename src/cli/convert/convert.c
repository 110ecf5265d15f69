/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts inputs to a policy, and guesses the format of an input; convert.h has the contracts. */
#include <stdlib.h>
#include <string.h>

#include "cli/convert/split_text.h"

static const char *const format_names[] = {
	[FORMAT_UNKNOWN] = "unknown", [FORMAT_QOS_POLICY] = "qos-policy",
	[FORMAT_OPENSM_CONF] = "opensm-conf", [FORMAT_PARTITIONS] = "partitions",
	[FORMAT_PREFIX_ROUTES] = "prefix-routes", [FORMAT_XML] = "xml",
};

const char *convert_format_name(enum convert_format f)
{
	return format_names[f];
}

enum convert_format convert_format_parse(const char *word)
{
	for (unsigned f = FORMAT_UNKNOWN + 1; f < ARRAY_SIZE(format_names); f++)
		if (!strcmp(format_names[f], word))
			return (enum convert_format)f;
	return FORMAT_UNKNOWN;
}

/* --- verdicts --- */

const char *verdict_name(enum verdict v)
{
	static const char *const names[VERDICTS] = {
		"same", "otherwise", "not needed", "not possible", "error",
	};

	return names[v];
}

void judged_format(const struct judged *j, struct buf *out)
{
	if (*j->file)
		buf_printf(out, "%s:", j->file);
	if (j->pos.line)
		buf_printf(out, "%u:%u:", j->pos.line, j->pos.col);
	buf_printf(out, "%s%s: %s", *j->file || j->pos.line ? " " : "", verdict_name(j->verdict),
		   j->text);
}

void verdicts_free(struct verdicts *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->v[i].file);
		free(v->v[i].text);
	}
	free(v->v);
	*v = (struct verdicts){ 0 };
}

struct numbered { struct judged j; size_t index; };

/* By place; verdicts on one place stay in their order. */
static int compare_places(const void *pa, const void *pb)
{
	const struct numbered *a = pa, *b = pb;
	int c = strcmp(a->j.file, b->j.file);

	if (c)
		return c;
	if (a->j.pos.line != b->j.pos.line)
		return a->j.pos.line < b->j.pos.line ? -1 : 1;
	if (a->j.pos.col != b->j.pos.col)
		return a->j.pos.col < b->j.pos.col ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

static void sort_verdicts(struct verdicts *v)
{
	struct numbered *all = xcalloc(v->n + 1, sizeof(*all));

	for (size_t i = 0; i < v->n; i++)
		all[i] = (struct numbered){ v->v[i], i };
	qsort(all, v->n, sizeof(*all), compare_places);
	for (size_t i = 0; i < v->n; i++)
		v->v[i] = all[i].j;
	free(all);
}

/* --- guessing, by the first line that is neither blank nor a comment --- */

static bool begins_with(const struct cursor *at, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(at->end - at->s) >= n && !memcmp(at->s, word, n);
}

static bool is_policy_word(const struct cursor *line)
{
	static const char *const words[] = {
		"qos-ulps", "port-groups", "qos-setup", "qos-levels", "qos-match-rules",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (begins_with(line, words[i]))
			return true;
	return false;
}

/* Matches "prefix guid". */
static bool is_route(const struct cursor *line)
{
	size_t words = 0;
	bool in_word = false;

	for (const char *p = line->s; p < line->end && *p != '#'; p++) {
		bool blank = strchr(" \t\r", *p) && *p;

		if (!blank && !strchr("0123456789abcdefABCDEFxX*", *p))
			return false;
		words += !blank && !in_word;
		in_word = !blank;
	}
	return words == 2;
}

/*
 * Matches "name value": lower-case letters, digits and '_', then blanks and no delimiter of
 * partitions.conf.
 */
static bool is_option(const struct cursor *line)
{
	const char *p = line->s, *start = p;

	while (p < line->end && ((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_'))
		p++;
	if (p == start || p == line->end || (*p != ' ' && *p != '\t'))
		return false;
	while (p < line->end && (*p == ' ' || *p == '\t'))
		p++;
	return p < line->end && !strchr("=:,;", *p);
}

enum convert_format convert_guess(const char *text, size_t n)
{
	const struct convert_input in = { .name = "", .text = text ? text : "", .n = n };
	struct cursor line = cursor_of(&in);
	const char *eol;

	cursor_skip_between(&line);
	if (line.s == line.end)
		return FORMAT_UNKNOWN;
	eol = memchr(line.s, '\n', (size_t)(line.end - line.s));
	if (eol)
		line.end = eol;
	if (*line.s == '<')
		return FORMAT_XML;
	if (is_policy_word(&line))
		return FORMAT_QOS_POLICY;
	if (is_route(&line))
		return FORMAT_PREFIX_ROUTES;
	if (is_option(&line))
		return FORMAT_OPENSM_CONF;
	if (memchr(line.s, ':', (size_t)(line.end - line.s)) ||
	    memchr(line.s, '=', (size_t)(line.end - line.s)))
		return FORMAT_PARTITIONS;
	return FORMAT_UNKNOWN;
}

/* --- the conversion --- */

static void read_input(struct converted *c, const struct convert_input *in)
{
	switch (in->format) {
	case FORMAT_QOS_POLICY: read_policy(c, in); break;
	case FORMAT_OPENSM_CONF: read_options(c, in); break;
	case FORMAT_PARTITIONS: read_partitions(c, in); break;
	case FORMAT_PREFIX_ROUTES: read_prefix_routes(c, in); break;
	case FORMAT_XML: read_xml(c, in); break;
	case FORMAT_UNKNOWN:
		say_error(c, ((struct place){ in->name, { 0, 0 } }),
			  "the format is not one that can be converted");
		break;
	}
}

bool convert_to_policy(const struct convert_input *in, size_t n, struct buf *yaml,
		       struct verdicts *out)
{
	struct convert_input *known = xcalloc(n + 1, sizeof(*known));
	const char *seen[ARRAY_SIZE(format_names)] = { NULL };
	struct converted c;
	bool ok;

	converted_init(&c);
	for (size_t i = 0; i < n; i++) {
		struct convert_input *k = &known[i];

		*k = in[i];
		k->text = k->text ? k->text : "";
		if (k->format == FORMAT_UNKNOWN)
			k->format = convert_guess(k->text, k->n);
		if (k->format != FORMAT_UNKNOWN && seen[k->format])
			say_error(&c, ((struct place){ k->name, { 0, 0 } }),
				  "a second file of format %s; the first is %s",
				  convert_format_name(k->format), seen[k->format]);
		else
			read_input(&c, k);
		seen[k->format] = k->name;
	}
	if (c.has_policy && c.has_xml)
		say_error(&c, ((struct place){ seen[FORMAT_XML], { 0, 0 } }),
			  "there can be only one policy; %s is one as well", seen[FORMAT_QOS_POLICY]);
	resolve(&c);
	sort_verdicts(&c.found);
	ok = !c.found.count[VERDICT_ERROR];
	if (ok)
		write_policy(&c, known, n, yaml);
	*out = c.found;
	c.found = (struct verdicts){ 0 };
	converted_free(&c);
	free(known);
	return ok;
}
