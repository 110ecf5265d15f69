/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of commands as qosd-ctl has it, and the search for names in it; command_table.h has the
 * contracts.
 */
#include "command_table.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/spelling.h"

const struct ctl_command ctl_commands[] = {
#define COMMAND(id, ...) CTL_COMMAND(__VA_ARGS__),
#define CLIENT_COMMAND COMMAND
#define LOCAL_COMMAND COMMAND
#include "qosd/commands.def"
};
const size_t n_ctl_commands = ARRAY_SIZE(ctl_commands);

const struct ctl_arg ctl_options[] = {
	{ .name = "socket", .letter = 's', .value = "PATH", .names = NAMES_FILE,
	  .help = "the control socket of the daemon" },
	{ .name = "timeout", .letter = 't', .value = "SECONDS",
	  .help = "how long to wait for a daemon that does not respond; 0: for ever" },
	{ .name = "json", .letter = 'j', .type = ARG_FLAG, .help = "print JSON instead of text" },
	{ .name = "color", .value = "WHEN", .choices = "auto always never",
	  .help = "whether to print colours; auto: on terminals" },
	{ .name = "no-pager", .type = ARG_FLAG, .help = "do not page long text on terminals" },
	{ .name = "watch", .type = ARG_NUMBER, .value = "SECONDS", .value_optional = true,
	  .help = "show again every 2 or SECONDS seconds until interrupted" },
	{ .name = "help", .letter = 'h', .type = ARG_FLAG,
	  .help = "all commands, or the arguments of the command" },
	{ .name = "version", .letter = 'V', .type = ARG_FLAG, .help = "print the version" },
	{ .name = NULL },
};

size_t first_word_length(const struct ctl_command *c)
{
	return strcspn(c->name, " ");
}

const char *second_word(const struct ctl_command *c)
{
	const char *space = strchr(c->name, ' ');

	return space ? space + 1 : NULL;
}

bool is_option(const struct ctl_arg *a)
{
	return !a->operand && a->of != ARG_OF_DAEMON;
}

const struct ctl_arg *next_operand(const struct ctl_arg *a)
{
	return a[1].name && a[1].operand ? a + 1 : NULL;
}

const struct ctl_arg *first_operand(const struct ctl_command *c)
{
	return c->args[0].name && c->args[0].operand ? c->args : NULL;
}

/* --- names --- */

const char *find_name(const char *word, const char *const *names, size_t n, name_list *several)
{
	const char *found = NULL;
	size_t n_word = strlen(word), count = 0;

	for (size_t i = 0; n_word && i < n; i++) {
		if (strncmp(names[i], word, n_word) != 0)
			continue;
		if (!names[i][n_word])
			return names[i];
		found = names[i];
		count++;
	}
	for (size_t i = 0; count > 1 && i < n; i++)
		if (strncmp(names[i], word, n_word) == 0)
			*vec_push(several) = names[i];
	return count == 1 ? found : NULL;
}

const char *meant_name(const char *word, const char *const *names, size_t n)
{
	unsigned least = SPELLING_MAX + 1;
	const char *best = NULL;

	for (size_t i = 0; i < n; i++) {
		unsigned mistakes = spelling_mistakes(names[i], word);

		if (mistakes < least) {
			least = mistakes;
			best = names[i];
		}
	}
	return best;
}

/* --- commands --- */

bool has_first_word(const struct ctl_command *c, const char *first)
{
	size_t n = first_word_length(c);

	return c->help && strlen(first) == n && memcmp(c->name, first, n) == 0;
}

bool has_name(const name_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->v[i], name))
			return true;
	return false;
}

const name_list *first_words(void)
{
	static name_list words;

	if (words.n)
		return &words;
	for (size_t i = 0; i < n_ctl_commands; i++) {
		const struct ctl_command *c = &ctl_commands[i];
		char *word;

		if (!c->help)
			continue;
		word = xstrndup(c->name, first_word_length(c));
		if (has_name(&words, word))
			free(word);
		else
			*vec_push(&words) = word;
	}
	return &words;
}

void add_second_words(const char *first, name_list *to)
{
	for (size_t i = 0; i < n_ctl_commands; i++)
		if (has_first_word(&ctl_commands[i], first) && second_word(&ctl_commands[i]))
			*vec_push(to) = second_word(&ctl_commands[i]);
}

const struct ctl_command *command_of_words(const char *first, const char *second)
{
	for (size_t i = 0; i < n_ctl_commands; i++) {
		const char *own = second_word(&ctl_commands[i]);

		if (has_first_word(&ctl_commands[i], first) &&
		    (own && second ? !strcmp(own, second) : own == second))
			return &ctl_commands[i];
	}
	return NULL;
}

/* Says which names a word can stand for; before stands before each of them. */
static void say_several(const char *before, const char *word, const name_list *several)
{
	fprintf(stderr, "%s%s could be", before, word);
	for (size_t i = 0; i < several->n; i++)
		fprintf(stderr, "%s %s%s", i == 0 ? "" : i + 1 < several->n ? "," : " or", before,
			several->v[i]);
	fprintf(stderr, "\n");
}

/* Says that there is no command of these words, and which may be meant: NULL if none. */
static void say_no_command(const char *first, const char *second, const char *meant)
{
	bool both = second && *second;

	fprintf(stderr, "qosd-ctl: no such command: %s%s%s", first, both ? " " : "", both ? second : "");
	if (meant)
		fprintf(stderr, "; did you mean '%s%s%s'?", both ? first : "", both ? " " : "", meant);
	fprintf(stderr, "\n");
}

const char *find_first_word(const char *word)
{
	const name_list *all = first_words();
	name_list several = { 0 };
	const char *first = find_name(word, all->v, all->n, &several);

	if (!first && several.n) {
		fprintf(stderr, "qosd-ctl: ambiguous command: ");
		say_several("", word, &several);
	} else if (!first) {
		say_no_command(word, NULL, meant_name(word, all->v, all->n));
	}
	vec_free(&several);
	return first;
}

/* Says what is wrong with the second word. */
static void say_no_second_word(const char *first, const char *second, const name_list *several)
{
	name_list all = { 0 };

	add_second_words(first, &all);
	if (several->n) {
		fprintf(stderr, "qosd-ctl: %s: ambiguous command: ", first);
		say_several("", second, several);
	} else if (second) {
		say_no_command(first, second, meant_name(second, all.v, all.n));
	} else {
		fprintf(stderr, "qosd-ctl: %s: a second word is missing\n", first);
	}
	vec_free(&all);
}

const struct ctl_command *resolve_command(const char *first, const char *second, int *words,
					  name_list *several)
{
	const struct ctl_command *c = command_of_words(first, NULL);
	bool takes_operand = c && first_operand(c);
	const char *full = NULL;
	name_list all = { 0 };

	*words = 1;
	add_second_words(first, &all);
	/* an operand of the shorter command is no abbreviation of a word */
	if (second && takes_operand)
		full = command_of_words(first, second) ? second : NULL;
	else if (second)
		full = find_name(second, all.v, all.n, several);
	if (full) {
		c = command_of_words(first, full);
		*words = 2;
	} else if (all.n && second && !takes_operand) {
		c = NULL;
	}
	vec_free(&all);
	return c;
}

const struct ctl_command *find_command(const char *word, const char *second, int *words,
				       const char **first)
{
	const struct ctl_command *c;
	name_list several = { 0 };

	*first = NULL;
	*words = 1;
	for (size_t i = 0; i < n_ctl_commands; i++)
		if (!ctl_commands[i].help && !strcmp(ctl_commands[i].name, word))
			return &ctl_commands[i];
	*first = find_first_word(word);
	if (!*first)
		return NULL;
	c = resolve_command(*first, second, words, &several);
	if (!c)
		say_no_second_word(*first, second, &several);
	vec_free(&several);
	return c;
}

/* --- options --- */

void add_options(const struct ctl_command *c, name_list *to)
{
	for (const struct ctl_command *x = c ? c : ctl_commands;
	     x < (c ? c + 1 : ctl_commands + n_ctl_commands); x++)
		for (const struct ctl_arg *a = x->args; a->name; a++)
			if (is_option(a) && !has_name(to, a->name))
				*vec_push(to) = a->name;
	for (const struct ctl_arg *a = ctl_options; a->name; a++)
		*vec_push(to) = a->name;
}

static bool option_is(const struct ctl_arg *a, const char *name, char letter)
{
	return is_option(a) && (name ? !strcmp(a->name, name) : a->letter == letter);
}

/* By name or, if that is NULL, by letter. */
static const struct ctl_arg *get_option(const struct ctl_command *c, const char *name, char letter)
{
	for (const struct ctl_arg *a = ctl_options; a->name; a++)
		if (option_is(a, name, letter))
			return a;
	for (const struct ctl_command *x = c ? c : ctl_commands;
	     x < (c ? c + 1 : ctl_commands + n_ctl_commands); x++)
		for (const struct ctl_arg *a = x->args; a->name; a++)
			if (option_is(a, name, letter))
				return a;
	return NULL;
}

const struct ctl_arg *find_letter(const struct ctl_command *c, char letter)
{
	return get_option(c, NULL, letter);
}

const struct ctl_arg *find_option(const struct ctl_command *c, const char *name)
{
	name_list all = { 0 }, several = { 0 };
	const char *full;

	add_options(c, &all);
	full = find_name(name, all.v, all.n, &several);
	vec_free(&all);
	vec_free(&several);
	return full ? get_option(c, full, 0) : NULL;
}

void say_no_option(const struct ctl_command *c, const char *name)
{
	name_list all = { 0 }, several = { 0 };
	const char *meant;

	add_options(c, &all);
	find_name(name, all.v, all.n, &several);
	meant = meant_name(name, all.v, all.n);
	fprintf(stderr, "qosd-ctl: %s: %s option: ", c->name, several.n ? "ambiguous" : "no such");
	if (several.n)
		say_several("--", name, &several);
	else if (meant)
		fprintf(stderr, "--%s; did you mean '--%s'?\n", name, meant);
	else
		fprintf(stderr, "--%s\n", name);
	vec_free(&several);
	vec_free(&all);
}
