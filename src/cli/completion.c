/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completes command lines for shells: what can stand in the place of the last word.  It comes from
 * the table of commands; the names of ports, partitions, levels and groups come from the daemon,
 * which is asked for them alone, and for a second at most.
 *
 * The output is a candidate on each line, as a whole word, with a tab and what it is; or ":files"
 * or ":dirs", for what the shell completes itself.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "command_line.h"
#include "command_table.h"
#include "connection.h"
#include "lib/base/buf.h"
#include "local_commands.h"
#include "members.h"
#include "output.h"

#define ASK_SECONDS 1
#define NAMES_MAX 10000		/* more are of no use to anybody */

/* Where the last word stands. */
struct place {
	const struct ctl_command *command;	/* NULL: its words are not complete */
	const char *first;			/* the first word in full, or NULL */
	const char *topic;			/* the last operand before it, or NULL */
	const struct ctl_arg *arg;		/* whose value it is; NULL: none that is known */
	bool option_allowed, words_allowed;	/* an option or a word of a command can stand there */
	const char *before;			/* "--option=" in front of the value, or "" */
	const char *word;			/* the part to complete */
};

/* --- candidates --- */

static void put_candidate(const struct place *p, const char *name, const char *help)
{
	if (strncmp(name, p->word, strlen(p->word)) == 0)
		printf("%s%s\t%s\n", p->before, name, help ? help : "");
}

static void put_choices(const struct place *p, const char *choices)
{
	while (*choices) {
		size_t n = strcspn(choices, " ");
		char *name = xstrndup(choices, n);

		put_candidate(p, name, NULL);
		free(name);
		choices += n + strspn(choices + n, " ");
	}
}

/* --- names that the daemon knows --- */

struct names {
	name_list list;
	const char *key;
};

/* Prints all texts of this key, once each. */
static void put_known_in(const struct place *p, struct names *names, json_t *value, bool unique)
{
	const char *key;
	json_t *v;
	size_t i;

	json_array_foreach(value, i, v)
		put_known_in(p, names, v, unique);
	json_object_foreach(value, key, v) {
		const char *name = json_string_value(v);

		if (!name || strcmp(key, names->key) != 0) {
			put_known_in(p, names, v, unique);
		} else if (names->list.n < NAMES_MAX && (unique || !has_name(&names->list, name))) {
			/* a port's name has its GUID behind it, which is no part of what is asked for */
			const char *guid = strstr(name, " (0x");

			*vec_push(&names->list) = xstrndup(name, guid ? (size_t)(guid - name) :
								strlen(name));
			put_candidate(p, names->list.v[names->list.n - 1], guid ? guid + 1 : NULL);
		}
	}
}

static void too_late(int signal)
{
	(void)signal;
	_exit(EXIT_DONE);
}

/* unique: the daemon sends each name once */
static void put_known(const struct place *p, const char *command, const char *key, bool unique)
{
	struct connection *daemon;
	json_t *args, *answer;
	struct names names = { .key = key };

	fflush(stdout);
	/* no daemon is no reason for a message in the middle of a command line */
	if (!freopen("/dev/null", "w", stderr))
		return;
	signal(SIGALRM, too_late);
	alarm(ASK_SECONDS);
	daemon = connect_daemon(ASK_SECONDS);
	if (!daemon)
		return;
	args = json_object();
	send_request(daemon->fd, command, args, NULL);
	while ((answer = read_object(daemon->in)) && !json_is_true(json_object_get(answer, "end"))) {
		bool more = !has(answer, "ok") || has(answer, "rows");

		clean_strings(answer);
		put_known_in(p, &names, answer, unique);
		json_decref(answer);
		answer = NULL;
		if (!more)
			break;
	}
	alarm(0);
	json_decref(answer);
	json_decref(args);
	fclose(daemon->in);
	for (size_t i = 0; i < names.list.n; i++)
		free((char *)(uintptr_t)names.list.v[i]);
	vec_free(&names.list);
}

/* --- what can stand there --- */

static void put_first_words(const struct place *p)
{
	const name_list *all = first_words();

	for (size_t i = 0; i < all->n; i++) {
		const struct ctl_command *c = command_of_words(all->v[i], NULL);
		struct buf help = { 0 };
		name_list second = { 0 };

		if (c)
			buf_puts(&help, c->help);
		else
			add_second_words(all->v[i], &second);
		for (size_t k = 0; k < second.n; k++)
			buf_printf(&help, "%s%s", k ? ", " : "", second.v[k]);
		put_candidate(p, all->v[i], help.s);
		buf_free(&help);
		vec_free(&second);
	}
}

static void put_second_words(const struct place *p)
{
	name_list all = { 0 };

	add_second_words(p->first, &all);
	for (size_t i = 0; i < all.n; i++)
		put_candidate(p, all.v[i], command_of_words(p->first, all.v[i])->help);
	vec_free(&all);
}

static void put_options(const struct place *p)
{
	name_list all = { 0 };

	add_options(p->command, &all);
	for (size_t i = 0; p->command && i < all.n; i++) {
		char *name = xasprintf("--%s", all.v[i]);

		put_candidate(p, name, find_option(p->command, all.v[i])->help);
		free(name);
	}
	for (const struct ctl_arg *a = ctl_options; !p->command && a->name; a++) {
		char *name = xasprintf("--%s", a->name);

		put_candidate(p, name, a->help);
		free(name);
	}
	vec_free(&all);
}

/* The words of a command that `help` is asked about. */
static void put_topics(const struct place *p, bool second)
{
	struct place of_topic = *p;
	name_list several = { 0 };

	if (second)
		of_topic.first = find_name(p->topic, first_words()->v, first_words()->n, &several);
	if (!second)
		put_first_words(p);
	else if (of_topic.first)
		put_second_words(&of_topic);
	vec_free(&several);
}

static void put_values(const struct place *p)
{
	const struct ctl_arg *a = p->arg;

	if (a->choices)
		put_choices(p, a->choices);
	switch (a->names) {
	case NAMES_NOTHING:
		break;
	case NAMES_FILE:
	case NAMES_OUTPUT:
		puts(":files");
		break;
	case NAMES_DIR:
		puts(":dirs");
		break;
	case NAMES_PORT:
		put_known(p, "ports", "name", true);
		break;
	case NAMES_PARTITION:
		put_known(p, "partitions", "partition", true);
		break;
	case NAMES_LEVEL:
		put_known(p, "bandwidth", "level", false);
		break;
	case NAMES_GROUP:
		put_known(p, "mcast", "mgid", true);
		break;
	case NAMES_COMMAND:
		put_topics(p, !strcmp(a->name, "word"));
		break;
	}
}

/*
 * Finds the command in the words before the last one.  Returns how many of them are its name; -1 if
 * they name no command, and 0 if there are none.
 */
static int find_place_of_command(char **words, struct place *p)
{
	struct word_reader r = { .words = words, .silent = true };
	const char *first = NULL, *second = NULL;
	const name_list *all = first_words();
	name_list several = { 0 };
	enum word_kind kind;
	struct given given;
	int used = 0;

	while ((kind = next_word(&r, &given)) != WORD_NONE) {
		if (kind == WORD_OPTION && is_own_option(given.arg) &&
		    !strcmp(given.arg->name, "socket"))
			apply_option(&given);
		if (kind == WORD_OPERAND && !first)
			first = given.value;
		else if (kind == WORD_OPERAND && !second)
			second = given.value;
	}
	if (!first)
		return 0;
	p->first = find_name(first, all->v, all->n, &several);
	if (p->first)
		p->command = resolve_command(p->first, second, &used, &several);
	vec_free(&several);
	return p->first && (p->command || !second) ? used : -1;
}

/* Finds what the last word is, behind the command's words, of which there are `skip`. */
static void find_place(char **words, int skip, struct place *p)
{
	struct word_reader r = { .words = words, .silent = true, .command = p->command };
	const struct ctl_arg *operand = p->command ? first_operand(p->command) : NULL;
	const struct ctl_arg *without_value = NULL;
	int operands = 0;
	enum word_kind kind;
	struct given given;

	while ((kind = next_word(&r, &given)) != WORD_NONE) {
		without_value = r.without_value;
		if (kind == WORD_OPERAND)
			p->topic = given.value;
		if (kind == WORD_OPERAND && operands++ >= skip && operand && !operand->repeats)
			operand = next_operand(operand);
	}
	p->option_allowed = !without_value && !r.operands_only;
	p->arg = without_value ? without_value : operand;
	p->words_allowed = !without_value && operands < 2 && operands == (p->first ? 1 : 0);
}

/* If the last word is --option=value, makes the value the word.  The caller frees *before. */
static void split_option(struct place *p, char **before)
{
	const char *equals = strchr(p->word, '=');
	char *name;

	if (!p->option_allowed || strncmp(p->word, "--", 2) != 0 || !equals)
		return;
	name = xstrndup(p->word + 2, (size_t)(equals - p->word - 2));
	p->arg = find_option(p->command, name);
	free(name);
	*before = xstrndup(p->word, (size_t)(equals + 1 - p->word));
	p->before = *before;
	p->word = equals + 1;
	p->option_allowed = p->words_allowed = false;
}

int local_complete(const struct command_line *line)
{
	size_t n = line->given.n;
	char **words = xcalloc(n + 1, sizeof(*words)), *before = NULL;
	struct place p = { .before = "", .word = n ? line->given.v[n - 1].value : "" };
	int skip;

	for (size_t i = 0; i + 1 < n; i++)
		words[i] = (char *)(uintptr_t)line->given.v[i].value;
	skip = find_place_of_command(words, &p);
	if (skip >= 0) {
		find_place(words, skip, &p);
		split_option(&p, &before);
		if (p.option_allowed && p.word[0] == '-')
			put_options(&p);
		else if (p.words_allowed && !p.first)
			put_first_words(&p);
		else if (p.words_allowed)
			put_second_words(&p);
		if (p.arg && !(p.option_allowed && p.word[0] == '-'))
			put_values(&p);
	}
	free(before);
	free(words);
	return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}
