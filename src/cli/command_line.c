/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the command line of qosd-ctl; command_line.h has the contracts.
 *
 * The words are read twice: first to find the command, when an option that is not qosd-ctl's takes
 * a value if it does for any command; then with the options of that command.
 */
#include "command_line.h"

#include <stdio.h>
#include <string.h>

#include "command_table.h"
#include "help.h"
#include "lib/base/time_parse.h"
#include "qosd/ctl.h"

#define LIMIT_MAX_SECONDS 86400u

struct options options = { .socket = QOSD_SOCKET, .limit_seconds = LIMIT_SECONDS };

/* --- one word after the other --- */

bool is_own_option(const struct ctl_arg *a)
{
	for (const struct ctl_arg *own = ctl_options; own->name; own++)
		if (a == own)
			return true;
	return false;
}

static enum word_kind wrong(const struct word_reader *r, const char *what, const char *dashes,
			    const char *name)
{
	if (!r->silent)
		fprintf(stderr, "qosd-ctl: %s: %s: %s%s\n", r->command->name, what, dashes, name);
	return WORD_WRONG;
}

/* A decimal number of seconds, with or without a fraction. */
static bool is_seconds(const char *text)
{
	size_t n = strspn(text, "0123456789");

	if (text[n] == '.')
		n += 1 + strspn(text + n + 1, "0123456789");
	return n > 0 && text[0] != '.' && !text[n];
}

/* own: the value in the word of the option itself, or NULL. */
static enum word_kind take_value(struct word_reader *r, const char *own, struct given *given)
{
	const struct ctl_arg *a = given->arg;

	given->value = own;
	if (a->type == ARG_FLAG)
		return own ? wrong(r, "the option takes no value", "--", a->name) : WORD_OPTION;
	if (own)
		return WORD_OPTION;
	if (a->value_optional && !(*r->words && is_seconds(*r->words))) {
		given->value = "";
	} else if (*r->words) {
		given->value = *r->words++;
	} else {
		r->without_value = a;
		return wrong(r, "the option needs a value", "--", a->name);
	}
	return WORD_OPTION;
}

/* word: without the dashes */
static enum word_kind long_option(struct word_reader *r, const char *word, struct given *given)
{
	const char *equals = strchr(word, '=');
	char *name = xstrndup(word, equals ? (size_t)(equals - word) : strlen(word));
	enum word_kind kind = WORD_WRONG;

	given->arg = find_option(r->command, name);
	if (given->arg)
		kind = take_value(r, equals ? equals + 1 : NULL, given);
	else if (!r->silent)
		say_no_option(r->command, name);
	free(name);
	return kind;
}

/* Takes the next of the letters in one word. */
static enum word_kind short_option(struct word_reader *r, struct given *given)
{
	char letter[] = { *r->letters++, '\0' };
	const char *rest = *r->letters ? r->letters : NULL;

	given->arg = find_letter(r->command, letter[0]);
	if (!given->arg || given->arg->type != ARG_FLAG || !rest)
		r->letters = NULL;
	if (!given->arg)
		return wrong(r, "no such option", "-", letter);
	return take_value(r, given->arg->type == ARG_FLAG ? NULL : rest, given);
}

enum word_kind next_word(struct word_reader *r, struct given *given)
{
	const char *word;

	*given = (struct given){ NULL, NULL };
	r->without_value = NULL;
	if (r->letters)
		return short_option(r, given);
	word = *r->words;
	if (!word)
		return WORD_NONE;
	r->words++;
	if (!r->operands_only && !strcmp(word, "--")) {
		r->operands_only = true;
		return next_word(r, given);
	}
	if (!r->operands_only && word[0] == '-' && word[1] == '-')
		return long_option(r, word + 2, given);
	if (!r->operands_only && word[0] == '-' && word[1]) {
		r->letters = word + 1;
		return short_option(r, given);
	}
	given->value = word;
	return WORD_OPERAND;
}

/* --- the options of qosd-ctl --- */

static bool set_limit(const char *text)
{
	double seconds;

	if (!time_seconds_parse(text, &seconds) || seconds > LIMIT_MAX_SECONDS ||
	    seconds != (double)(unsigned)seconds) {
		fprintf(stderr, "qosd-ctl: --timeout takes seconds, a whole number from 0 (no limit) to %u, or a time "
			"with a unit (" TIME_UNITS "), not %s\n", LIMIT_MAX_SECONDS, text);
		return false;
	}
	options.limit_seconds = (unsigned)seconds;
	return true;
}

static bool set_watch(const char *text)
{
	options.watch_seconds = WATCH_SECONDS;
	if ((!*text || time_seconds_parse(text, &options.watch_seconds)) && options.watch_seconds >= 0.1 &&
	    options.watch_seconds <= LIMIT_MAX_SECONDS)
		return true;
	fprintf(stderr, "qosd-ctl: --watch takes seconds, 0.1 to %u, or a time with a unit (" TIME_UNITS "), not %s\n",
		LIMIT_MAX_SECONDS, text);
	return false;
}

static bool set_color(const char *when)
{
	options.color_always = !strcmp(when, "always");
	options.color_never = !strcmp(when, "never");
	if (options.color_always || options.color_never || !strcmp(when, "auto"))
		return true;
	fprintf(stderr, "qosd-ctl: --color takes auto, always or never, not %s\n", when);
	return false;
}

bool apply_option(const struct given *given)
{
	const char *name = given->arg->name;

	if (!strcmp(name, "socket"))
		options.socket = given->value;
	else if (!strcmp(name, "timeout"))
		return set_limit(given->value);
	else if (!strcmp(name, "json"))
		options.json = true;
	else if (!strcmp(name, "color"))
		return set_color(given->value);
	else if (!strcmp(name, "no-pager"))
		options.no_pager = true;
	else if (!strcmp(name, "watch"))
		return set_watch(given->value);
	else if (!strcmp(name, "help"))
		options.help = true;
	else if (!strcmp(name, "version"))
		options.version = true;
	return true;
}

/* --- the line --- */

/* Finds the first words, and applies the options of qosd-ctl. */
static bool read_first_words(char **words, struct command_line *line)
{
	struct word_reader r = { .words = words, .silent = true };
	enum word_kind kind;
	struct given given;

	while ((kind = next_word(&r, &given)) != WORD_NONE) {
		if (kind == WORD_OPERAND && !line->first)
			line->first = given.value;
		else if (kind == WORD_OPERAND && !line->second)
			line->second = given.value;
		if (kind == WORD_OPTION && is_own_option(given.arg) && !apply_option(&given))
			return false;
	}
	return true;
}

/* Reads the arguments of the command behind its `skip` words. */
static bool read_arguments(char **words, int skip, struct command_line *line)
{
	struct word_reader r = { .words = words, .command = line->command };
	const struct ctl_arg *operand = first_operand(line->command);
	bool missing = operand && operand->required;
	enum word_kind kind;
	struct given given;
	char name[32];

	while ((kind = next_word(&r, &given)) != WORD_NONE) {
		if (kind == WORD_WRONG)
			return false;
		if (kind == WORD_OPTION && is_own_option(given.arg))
			continue;
		if (kind == WORD_OPERAND && skip-- > 0)
			continue;
		if (kind == WORD_OPERAND && !operand) {
			wrong(&r, "too many arguments", "", given.value);
			return false;
		}
		if (kind == WORD_OPERAND)
			given.arg = operand;
		*vec_push(&line->given) = given;
		if (kind == WORD_OPERAND && operand->repeats)
			missing = false;
		else if (kind == WORD_OPERAND)
			missing = (operand = next_operand(operand)) && operand->required;
	}
	if (missing)
		wrong(&r, "missing", "", operand_name(operand, name, sizeof(name)));
	return !missing;
}

bool command_line_read(char **words, struct command_line *line)
{
	const char *first = NULL;
	int skip;

	if (!read_first_words(words, line))
		return false;
	if (options.help || options.version)
		return true;
	if (!line->first) {
		put_usages(NULL);
		return false;
	}
	line->command = find_command(line->first, line->second, &skip, &first);
	if (!line->command) {
		put_usages(first);
		return false;
	}
	if (read_arguments(words, skip, line))
		return true;
	put_usage(line->command);
	return false;
}

void command_line_free(struct command_line *line)
{
	vec_free(&line->given);
}
