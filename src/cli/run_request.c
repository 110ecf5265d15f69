/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a command that the daemon answers: makes the request of the command line, and sees where the
 * answer goes.  The daemon checks the values of arguments.  qosd-ctl itself reads a file that
 * belongs to a request: the daemon need not have access to it.
 */
#include "run_request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "command_table.h"
#include "listing.h"
#include "members.h"
#include "output.h"
#include "policy_install.h"
#include "qosd/ctl.h"
#include "text_partition.h"
#include "wait.h"

static const struct output *const texts[] = {
#define COMMAND(id, ...) &text_##id,
#define CLIENT_COMMAND COMMAND
#define LOCAL_COMMAND(...) NULL,
#include "qosd/commands.def"
};

/* json_string() refuses text that is not UTF-8. */
static json_t *text_value(const struct ctl_command *c, const char *value)
{
	json_t *text = json_string(value);

	if (!text)
		fprintf(stderr, "qosd-ctl: %s: not UTF-8: %s\n", c->name, value);
	return text;
}

/* Returns NULL with a message if a value is not text. */
static json_t *make_args(const struct command_line *line)
{
	json_t *args = json_object();

	for (size_t i = 0; i < line->given.n; i++) {
		const struct given *g = &line->given.v[i];
		json_t *value = g->value ? text_value(line->command, g->value) : json_true();

		if (!value) {
			json_decref(args);
			return NULL;
		}
		if (g->arg->repeats && !json_object_get(args, g->arg->name))
			json_object_set_new(args, g->arg->name, json_array());
		if (g->arg->repeats)
			json_array_append_new(json_object_get(args, g->arg->name), value);
		else
			json_object_set_new(args, g->arg->name, value);
	}
	return args;
}

/* Replaces "-" by the name that findings show; returns false with a message on errors. */
static bool read_file(json_t *args, struct buf *file)
{
	const char *path = json_string_value(json_object_get(args, "file"));
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	bool done = fd >= 0 && buf_read(file, fd, CTL_BODY_MAX);

	if (!done && errno == EFBIG)
		fprintf(stderr, "qosd-ctl: %s: larger than %u bytes\n", path, CTL_BODY_MAX);
	else if (!done)
		fprintf(stderr, "qosd-ctl: %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (is_stdin)
		json_object_set_new(args, "file", json_string("(standard input)"));
	return done;
}

/*
 * Removes the arguments that say where the output goes, and returns that output; NULL with a
 * message if it cannot be opened.
 */
static const struct output *choose_output(const struct ctl_command *c, json_t *args)
{
	const char *html = json_string_value(json_object_get(args, "html"));
	const char *dir = json_string_value(json_object_get(args, "dir"));
	const char *page = json_string_value(json_object_get(args, "file"));
	const struct output *text = texts[c - ctl_commands];
	bool made;

	if (html) {
		html_output_begin(html);
		json_object_del(args, "html");
		json_object_set_new(args, "links", json_true());
		return &html_output;
	}
	if (page && !c->takes_file && !c->makes_file) {
		page_output_begin(page);
		json_object_del(args, "file");
		return text;
	}
	if (!dir)
		return listing_output(c, args, !options.json ? text : c->lines ? &json_lines_output : &json_output);
	made = file_output_begin(dir);
	json_object_del(args, "dir");
	json_object_set_new(args, "raw", json_true());
	return made ? text : NULL;
}

/* Sends the request, and waits for what it changes if that is wanted. */
static int send_and_wait(const struct ctl_command *c, json_t *args, const struct buf *file)
{
	const struct output *out = choose_output(c, args);
	struct before before = { 0 };
	json_t *result = NULL;
	int status;

	if (!out)
		return EXIT_REFUSED;
	if (awaits_change && !look_before(&before))
		return EXIT_NO_DAEMON;
	status = c->installs ? policy_install(args, file, &result) :
		 ask(c, args, file, out, awaits_change ? &result : NULL);
	if (awaits_change && status == EXIT_DONE) {
		fflush(stdout);		/* what was accepted, before the wait */
		status = wait_in_force(c, result, &before);
	}
	json_decref(result);
	return status;
}

int run_request(const struct command_line *line)
{
	const struct ctl_command *c = line->command;
	json_t *args = make_args(line);
	struct buf file = { 0 };
	int status = c->judges ? EXIT_BAD : EXIT_REFUSED;

	if (args) {
		awaits_change = json_is_true(json_object_get(args, "wait"));
		json_object_del(args, "wait");
		if (!(c->makes_file ? partition_change(c->name, args, &file) :
		      !c->takes_file || read_file(args, &file)))
			status = EXIT_REFUSED;
		else
			status = send_and_wait(c, args, c->makes_file || c->takes_file ? &file : NULL);
	}
	buf_free(&file);
	json_decref(args);
	if (fflush(stdout) != 0 && status == EXIT_DONE)
		status = EXIT_REFUSED;
	return status;
}
