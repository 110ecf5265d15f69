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

/* OpenSM reads the file only if QoS is on. */
static void leave_out(struct converted *c, const struct convert_input *in)
{
	struct cursor at = cursor_of(in);

	while (at.s < at.end) {
		cursor_skip_between(&at);
		if (at.s < at.end)
			verdict(c, NULL, VERDICT_NOT_NEEDED, at.at,
				"qos is FALSE: OpenSM does not read the policy");
		cursor_skip_line(&at);
	}
}

static void read_input(struct converted *c, const struct convert_input *in)
{
	if (refuse_template(c, in))
		return;
	switch (in->format) {
	case FORMAT_QOS_POLICY:
		if (qos_is_off(c))
			leave_out(c, in);
		else
			read_policy(c, in);
		break;
	case FORMAT_OPENSM_CONF: read_options(c, in); break;
	case FORMAT_PARTITIONS: read_partitions(c, in); break;
	case FORMAT_PREFIX_ROUTES: read_prefix_routes(c, in); break;
	case FORMAT_XML: read_xml(c, in); break;
	default:
		say_error(c, ((struct place){ in->name, { 0, 0 } }),
			  "the format is not one that can be converted");
	}
}

/* The options come first, since they say whether OpenSM uses the others. */
static void read_inputs(struct converted *c, const struct convert_input *in, size_t n)
{
	for (int options = 1; options >= 0; options--)
		for (size_t i = 0; i < n; i++)
			if ((in[i].format == FORMAT_OPENSM_CONF) == options && in[i].name)
				read_input(c, &in[i]);
}

/* Guesses formats, and takes away the name of what is one too many. */
static void name_inputs(struct converted *c, struct convert_input *in, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct convert_input *k = &in[i];

		k->text = k->text ? k->text : "";
		if (k->format == FORMAT_UNKNOWN)
			k->format = convert_guess(k->text, k->n);
		if (k->format != FORMAT_UNKNOWN && c->names[k->format]) {
			say_error(c, ((struct place){ k->name, { 0, 0 } }),
				  "a second file of format %s; the first is %s",
				  convert_format_name(k->format), c->names[k->format]);
			k->name = NULL;
		} else {
			c->names[k->format] = k->name;
		}
	}
	if (c->names[FORMAT_QOS_POLICY] && c->names[FORMAT_XML])
		say_error(c, ((struct place){ c->names[FORMAT_XML], { 0, 0 } }),
			  "there can be only one policy; %s is one as well",
			  c->names[FORMAT_QOS_POLICY]);
}

static bool has_sl(const struct out_partition *p)
{
	bool any = p->sl;

	for (size_t i = 0; i < p->groups.n; i++)
		any |= p->groups.v[i].sl != 0;
	return any;
}

/* Says what was assumed about the option `qos`, if anything depends on it. */
static void say_qos(struct converted *c)
{
	const char *name = c->names[FORMAT_QOS_POLICY];

	if (c->has_options && c->qos < 0)
		verdict(c, NULL, c->options.with_qos ? VERDICT_OTHERWISE : VERDICT_SAME,
			(struct place){ c->names[FORMAT_OPENSM_CONF], { 0, 0 } },
			c->options.with_qos ?
			"converted as if it had 'qos TRUE', as --with-qos asks for" :
			"qos is FALSE, as the option is not there: QoS options, policy and SLs of partitions "
			"have no effect");
	if (c->has_options)
		return;
	for (size_t i = 0; !name && i < c->partitions.n; i++)
		if (has_sl(&c->partitions.v[i]))
			name = c->names[FORMAT_PARTITIONS];
	if (name)
		verdict(c, NULL, VERDICT_OTHERWISE, (struct place){ name, { 0, 0 } },
			"converted as if opensm.conf had 'qos TRUE', as it is not among the files; "
			"OpenSM ignores SLs without it");
}

/* Says what becomes of SLs that clients ask for, if OpenSM has no QoS levels. */
static void say_requested_sls(struct converted *c)
{
	const char *name = c->names[FORMAT_OPENSM_CONF] ? c->names[FORMAT_OPENSM_CONF]
							: c->names[FORMAT_PARTITIONS];

	if (!name || c->names[FORMAT_XML] || (c->names[FORMAT_QOS_POLICY] && !qos_is_off(c)))
		return;
	verdict(c, NULL, VERDICT_OTHERWISE, (struct place){ name, { 0, 0 } },
		"a path query that names an SL: OpenSM, which has no QoS levels here, answers with that SL; "
		"qosd answers that there is no path, unless the level has that SL");
}

bool convert_all(const struct convert_input *in, size_t n, const struct convert_options *options,
		 struct conversion *out)
{
	struct convert_input *known = xcalloc(n + 1, sizeof(*known));
	struct converted c;
	bool ok;

	converted_init(&c);
	c.options = *options;
	for (size_t i = 0; i < n; i++)
		known[i] = in[i];
	name_inputs(&c, known, n);
	read_inputs(&c, known, n);
	say_qos(&c);
	say_requested_sls(&c);
	resolve(&c);
	sort_verdicts(&c.found);
	ok = !c.found.count[VERDICT_ERROR];
	if (ok) {
		write_policy(&c, known, n, &out->policy);
		write_settings(&c, known, n, &out->settings);
	}
	out->verdicts = c.found;
	c.found = (struct verdicts){ 0 };
	converted_free(&c);
	free(known);
	return ok;
}

void conversion_free(struct conversion *c)
{
	buf_free(&c->policy);
	buf_free(&c->settings);
	verdicts_free(&c->verdicts);
}
