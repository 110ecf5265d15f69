/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses and runs scripts of commands with times.
 *
 *   line     = [time] ["every" seconds] command
 *   time     = seconds from the start | "+" seconds after the line before
 *
 * Without a time a command that repeats first runs `seconds` after the start; any other runs with
 * the line before.  Blanks separate words, quotes of either kind hold one together, and a word that
 * begins with # begins a comment.
 *
 * The words of a command point into its step's copy of the line.  A step is the argument of its own
 * timer, so it must not move or go away while the sim runs.
 */
#include "sim/ctl/command.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"

#define SCRIPT_WORDS_MAX 32

#define EVERY_MIN_US 1000

struct step {
	struct script *script;
	char *text;			/* the line's words, each with its NUL */
	char *word[SCRIPT_WORDS_MAX];
	int n;				/* number of words; the command begins at word[first] */
	int first;
	int line;
	int64_t at_us, every_us;	/* every_us 0: run once */
};

struct script {
	char *path;
	VEC(struct step) steps;
};

/* --- parsing --- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/*
 * Takes a word off *text, in place.  NULL at the end of the line or, with a reason in *why, if a
 * quote is not closed.
 */
static char *next_word(char **text, const char **why)
{
	char *in = *text, *out, *word;

	while (is_blank(*in))
		in++;
	if (*in == '\0' || *in == '#')
		return NULL;
	for (word = out = in; *in && !is_blank(*in); ) {
		char quote = *in;

		if (quote != '"' && quote != '\'') {
			*out++ = *in++;
			continue;
		}
		for (in++; *in && *in != quote; )
			*out++ = *in++;
		if (!*in) {
			*why = "unclosed quote";
			return NULL;
		}
		in++;
	}
	*text = *in ? in + 1 : in;
	*out = '\0';
	return word;
}

static const char *split(struct step *st)
{
	char *rest = st->text, *word;
	const char *why = NULL;

	while ((word = next_word(&rest, &why))) {
		if (st->n == SCRIPT_WORDS_MAX)
			return "too many words";
		st->word[st->n++] = word;
	}
	return why;
}

/* Takes time and repetition off the front.  `previous`: time of the line before. */
static const char *parse_times(struct step *st, int64_t previous)
{
	const char *word = st->word[0];
	bool timed = false;

	st->at_us = previous;
	if (*word == '+' || (*word >= '0' && *word <= '9')) {
		if (!parse_time(word + (*word == '+'), &st->at_us))
			return "the time is not a number of seconds";
		if (*word == '+')
			st->at_us += previous;
		st->first = 1;
		timed = true;
	}
	if (st->first == st->n || strcmp(st->word[st->first], "every") != 0)
		return NULL;
	if (st->first + 1 == st->n || !parse_time(st->word[st->first + 1], &st->every_us) ||
	    st->every_us < EVERY_MIN_US)
		return "'every' takes a number of seconds, at least 0.001";
	if (!timed)
		st->at_us = st->every_us;
	st->first += 2;
	return NULL;
}

/* Checks the command as far as possible without a fabric. */
static bool check_command(struct step *st, struct buf *err)
{
	struct call c = { 0 };
	bool good = call_parse(&c, st->n - st->first, st->word + st->first);

	if (!good)
		buf_puts(err, c.err.s);
	call_free(&c);
	return good;
}

static bool parse_step(struct step *st, int64_t previous, struct buf *why)
{
	const char *text = split(st);

	if (!text && st->n)
		text = parse_times(st, previous);
	if (text) {
		buf_puts(why, text);
		return false;
	}
	return st->n == 0 || check_command(st, why);
}

/* Parses one line of n bytes; a line without words adds no step. */
static bool parse_line(struct script *sc, const char *line, size_t n, int number, struct buf *err)
{
	int64_t previous = sc->steps.n ? sc->steps.v[sc->steps.n - 1].at_us : 0;
	struct step *st = vec_push(&sc->steps);
	struct buf why = { 0 };
	bool good;

	*st = (struct step){ .line = number, .text = xstrndup(line, n) };
	good = parse_step(st, previous, &why);
	if (!good)
		buf_printf(err, "%s:%d: %s\n", sc->path, number, why.s);
	buf_free(&why);
	if (st->n == 0) {
		free(st->text);
		sc->steps.n--;
	}
	return good;
}

struct script *script_parse(const char *path, const char *text, size_t n, struct buf *err)
{
	struct script *sc = xcalloc(1, sizeof(*sc));
	bool good = true;

	sc->path = xstrdup(path);
	for (int number = 1; n; number++) {
		const char *end = memchr(text, '\n', n);
		size_t length = end ? (size_t)(end - text) : n;

		good &= parse_line(sc, text, length, number, err);
		length += end != NULL;
		text += length;
		n -= length;
	}
	if (good)
		return sc;
	script_free(sc);
	return NULL;
}

/* --- running --- */

static void log_lines(const struct step *st, enum log_level level, char *text)
{
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line)
			log_at(level, "script", "%s:%d: %s", st->script->path, st->line, line);
}

static void run_step(struct sim *s, void *arg)
{
	struct step *st = arg;
	struct buf out = { 0 };
	int status;

	if (st->every_us)
		sim_after(s, st->every_us, run_step, st);
	status = ctl_run(s, st->n - st->first, st->word + st->first, false, &out);
	if (out.n)
		log_lines(st, status ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, out.s);
	buf_free(&out);
}

void script_start(struct script *sc, struct sim *s)
{
	for (struct step *st = sc->steps.v; st < vec_end(&sc->steps); st++) {
		int64_t delay = st->at_us - sim_now(s);

		st->script = sc;
		sim_after(s, delay > 0 ? delay : 0, run_step, st);
	}
}

void script_free(struct script *sc)
{
	if (!sc)
		return;
	for (size_t i = 0; i < sc->steps.n; i++)
		free(sc->steps.v[i].text);
	vec_free(&sc->steps);
	free(sc->path);
	free(sc);
}
