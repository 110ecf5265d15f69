/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs `qosd-ctl convert`, which converts other managers' files to a policy and settings.  It needs
 * no daemon: it reads the files, convert/ converts them, and it writes the result.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/convert/convert.h"
#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/clean.h"
#include "local_commands.h"
#include "newfile.h"
#include "output.h"

#define INPUT_MAX	(16u << 20)	/* the maximum that qosd accepts for a policy */

struct inputs {
	struct convert_input *v;
	size_t n, cap;
};

struct request {
	struct inputs in;
	struct convert_options options;
	const char *output;		/* NULL: the standard output */
	bool all, json;			/* print all verdicts; as JSON */
};

static bool read_file(const char *name, struct convert_input *in)
{
	bool standard = !strcmp(name, "-");
	int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	struct buf text = { 0 };
	bool ok = fd >= 0 && buf_read(&text, fd, INPUT_MAX);

	if (!ok)
		fprintf(stderr, "%s: error: %s\n", name, strerror(errno));
	if (fd >= 0 && !standard)
		close(fd);
	in->name = standard ? "(standard input)" : name;
	in->text = text.s;
	in->n = text.n;
	return ok;
}

/* Returns false with a message if the command line is wrong or an input cannot be read. */
static bool read_request(const struct command_line *line, struct request *r)
{
	enum convert_format format = FORMAT_UNKNOWN;
	bool ok = true;

	for (size_t i = 0; i < line->given.n; i++) {
		const struct given *g = &line->given.v[i];
		struct convert_input *input;

		if (!strcmp(g->arg->name, "output")) {
			r->output = g->value;
		} else if (!strcmp(g->arg->name, "from")) {
			format = convert_format_parse(g->value);
			if (format == FORMAT_UNKNOWN)
				fprintf(stderr,
					"qosd-ctl: convert: no such format: %s (qos-policy, opensm-conf, "
					"partitions, prefix-routes, xml)\n",
					g->value);
			ok = ok && format != FORMAT_UNKNOWN;
		} else if (!strcmp(g->arg->name, "with-qos")) {
			r->options.with_qos = true;
		} else if (!strcmp(g->arg->name, "verdicts")) {
			r->all = true;
		} else {
			input = vec_push(&r->in);
			*input = (struct convert_input){ .format = format };
			ok = read_file(g->value, input) && ok;
			format = FORMAT_UNKNOWN;	/* --from applies to one file only */
		}
	}
	if (r->json && !r->output) {
		fprintf(stderr, "qosd-ctl: convert: -j needs -o, as the policy and the verdicts would both "
			"go to the standard output\n");
		ok = false;
	}
	return ok;
}

/* --- output --- */

static bool is_folder(const char *name)
{
	struct stat st;
	size_t n = strlen(name);

	return (n && name[n - 1] == '/') || (stat(name, &st) == 0 && S_ISDIR(st.st_mode));
}

static bool put(struct new_file *file, const struct buf *text)
{
	return fwrite(text->s ? text->s : "", 1, text->n, file->f) == text->n && fflush(file->f) == 0;
}

static bool write_output(const char *name, const struct buf *yaml)
{
	struct new_file file = { .f = stdout };

	if (!name)
		return put(&file, yaml) || complain("standard output");
	return new_file_open(&file, name) && new_file_close(&file, put(&file, yaml));
}

/* Neither file is put in place before both are complete. */
static bool write_folder(const char *folder, const struct conversion *c)
{
	char *names[] = {
		xasprintf("%s/policy.yaml", folder), xasprintf("%s/qosd.yaml", folder),
	};
	struct new_file policy = { .f = NULL }, settings = { .f = NULL };
	bool ok = mkdir(folder, 0777) == 0 || errno == EEXIST || complain(folder);

	if (ok && new_file_open(&policy, names[0])) {
		ok = new_file_open(&settings, names[1]);
		if (ok) {
			ok = put(&policy, &c->policy);
			ok = new_file_close(&settings, put(&settings, &c->settings) && ok) && ok;
		}
		ok = new_file_close(&policy, ok) && ok;
	} else {
		ok = false;
	}
	free(names[0]);
	free(names[1]);
	return ok;
}

/* --- verdicts --- */

static void print_verdicts(const struct verdicts *found, bool all)
{
	size_t left = 0;

	for (int v = 0; v < VERDICTS; v++)
		left += found->count[v];
	left -= found->n;
	for (size_t i = 0; i < found->n; i++) {
		struct buf line = { 0 };

		if (found->v[i].verdict == VERDICT_SAME && !all)
			continue;
		judged_format(&found->v[i], &line);
		fprintf(stderr, "%s\n", line.s);
		buf_free(&line);
	}
	if (left)
		fprintf(stderr, "... and %zu more\n", left);
	for (enum verdict v = VERDICT_SAME; v < VERDICT_ERROR; v++)
		fprintf(stderr, "%s%s: %zu", v ? ", " : "", verdict_name(v), found->count[v]);
	fprintf(stderr, "%s\n", found->count[VERDICT_SAME] && !all ? " (--verdicts prints all)" : "");
}

static json_t *clean_string(const char *text)
{
	char *copy = xstrdup(text);
	json_t *string;

	clean_text(copy);
	string = json_string(copy);
	free(copy);
	return string;
}

static void print_json(const struct verdicts *found)
{
	json_t *rows = json_array(), *object;

	for (size_t i = 0; i < found->n; i++) {
		const struct judged *j = &found->v[i];

		json_array_append_new(rows, json_pack("{s:o, s:i, s:i, s:s, s:o}",
			"file", clean_string(j->file), "line", (int)j->pos.line,
			"column", (int)j->pos.col, "verdict", verdict_name(j->verdict),
			"text", clean_string(j->text)));
	}
	object = json_pack("{s:o}", "verdicts", rows);
	put_json(object, JSON_INDENT(2));
	json_decref(object);
}

int local_convert(const struct command_line *line)
{
	struct request r = { .json = options.json };
	struct conversion c = { .policy = { 0 } };
	bool ok = read_request(line, &r);

	if (ok) {
		bool folder = r.output && is_folder(r.output);

		r.options.settings_apart = folder;
		ok = convert_all(r.in.v, r.in.n, &r.options, &c);
		if (r.json)
			print_json(&c.verdicts);
		else
			print_verdicts(&c.verdicts, r.all);
		ok = ok && (folder ? write_folder(r.output, &c) : write_output(r.output, &c.policy));
	}
	for (size_t i = 0; i < r.in.n; i++)
		free((char *)(uintptr_t)r.in.v[i].text);
	vec_free(&r.in);
	conversion_free(&c);
	return ok ? 0 : 1;
}
