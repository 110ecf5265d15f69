/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends requests and prints answers; answer.h has the contracts. */
#include "answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command_line.h"
#include "connection.h"
#include "members.h"
#include "newfile.h"
#include "qosd/ctl.h"
#include "text.h"

int refused(const json_t *answer)
{
	const char *why = json_string_value(json_object_get(answer, "error"));

	if (options.json) {
		put_json(answer, JSON_INDENT(2));
		printf("\n");
	} else {
		text_findings_of_error(answer);
	}
	fprintf(stderr, "qosd-ctl: %s\n", why ? why : "the daemon refused the request");
	return EXIT_REFUSED;
}

/* Reads the bytes that follow a row; returns false with a message if they do not come. */
static bool read_piece(FILE *daemon, const json_t *row, struct buf *to)
{
	const json_t *size = json_object_get(row, "bytes");
	json_int_t n = json_integer_value(size);

	buf_consume(to, to->n);
	if (json_is_integer(size) && n >= 0 && n <= CTL_BODY_MAX)
		return read_bytes(daemon, (size_t)n, to);
	errno = EBADMSG;
	return complain("the answer");
}

static bool print_row(const json_t *row, const struct buf *bytes, const struct output *out)
{
	if (out->bytes)
		return out->bytes(row, bytes->s, bytes->n);
	return !out->row || out->row(row);
}

static int print_rows(FILE *daemon, const struct output *out)
{
	struct buf bytes = { 0 };
	int status = -1;
	json_t *row;

	while (status < 0 && (row = read_object(daemon))) {
		if (!options.json && !out->raw_rows)
			clean_strings(row);
		if (json_is_true(json_object_get(row, "end")))
			status = EXIT_DONE;
		else if (out->bytes && !read_piece(daemon, row, &bytes))
			status = EXIT_NO_DAEMON;
		else if (!print_row(row, &bytes, out))
			status = EXIT_REFUSED;
		json_decref(row);
	}
	buf_free(&bytes);
	return status < 0 ? EXIT_NO_DAEMON : status;
}

static int print_answer(FILE *daemon, json_t *answer, const struct output *out)
{
	bool ok = json_is_true(json_object_get(answer, "ok"));
	int status = EXIT_DONE;

	if (!options.json && !(ok && out->raw_head))
		clean_strings(answer);
	if (!ok)
		return refused(answer);
	if (out->says)
		puts(out->says);
	if (out->head)
		out->head(answer);
	if (json_object_get(answer, "rows"))
		status = print_rows(daemon, out);
	if (out->end && !out->end(status == EXIT_DONE) && status == EXIT_DONE)
		status = EXIT_REFUSED;
	return status;
}

static int verdict_status(const json_t *answer)
{
	const char *verdict = str(json_object_get(answer, "result"), "verdict");

	return !strcmp(verdict, "ok") ? EXIT_GOOD : !strcmp(verdict, "warning") ? EXIT_SO_SO : EXIT_BAD;
}

int ask(const struct ctl_command *c, json_t *args, const struct buf *file, const struct output *out,
	json_t **result)
{
	bool follows = c->follows || json_is_true(json_object_get(args, "follow"));
	struct connection *daemon = connect_daemon(follows ? PATIENCE_ENDLESS :
						   file ? PATIENCE_FILE_SECONDS : PATIENCE_SECONDS);
	int status = EXIT_NO_DAEMON;
	json_t *answer;

	if (!daemon)
		return status;
	daemon->shows_wait = !c->lines && !out->raw_rows;
	send_request(daemon->fd, c->request ? c->request : c->name, args, file);
	answer = read_object(daemon->in);
	if (answer)
		status = print_answer(daemon->in, answer, out);
	if (c->judges)
		status = verdict_status(answer);
	if (result && status == EXIT_DONE)
		*result = json_incref(json_object_get(answer, "result"));
	json_decref(answer);
	fclose(daemon->in);
	return status;
}
