/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs `qosd-ctl convert`, which converts other managers' files to a policy.  It needs no daemon:
 * it reads the files, convert/ converts them, and it writes the result.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/convert/convert.h"
#include "cmd_convert.h"
#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "newfile.h"

#define INPUT_MAX	(16u << 20)	/* the maximum that qosd accepts for a policy */

struct inputs {
	struct convert_input *v;
	size_t n, cap;
};

static int usage(void)
{
	fprintf(stderr, "usage: qosd-ctl convert [--from FORMAT] FILE ... [-o FILE]\n"
		"Formats: qos-policy, opensm-conf, partitions, prefix-routes, xml\n");
	return 1;
}

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

/* Returns false if an input cannot be read, or with *wrong set if the command line is wrong. */
static bool read_inputs(int argc, char **argv, struct inputs *in, const char **output, bool *wrong)
{
	static const struct option options[] = {
		{ "from", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	enum convert_format format = FORMAT_UNKNOWN;
	bool ok = true;
	int opt;

	optind = 0;	/* restart getopt after main()'s own options */
	while ((opt = getopt_long(argc, argv, "-o:", options, NULL)) != -1) {
		struct convert_input *i;

		switch (opt) {
		case 'f':
			format = convert_format_parse(optarg);
			if (format == FORMAT_UNKNOWN)
				fprintf(stderr, "qosd-ctl: convert: no such format: %s\n", optarg);
			*wrong |= format == FORMAT_UNKNOWN;
			break;
		case 'o':
			*output = optarg;
			break;
		case 1:
			i = vec_push(in);
			*i = (struct convert_input){ .format = format };
			ok = read_file(optarg, i) && ok;
			format = FORMAT_UNKNOWN;	/* --from applies to one file only */
			break;
		default:
			*wrong = true;
		}
	}
	*wrong |= in->n == 0 || optind < argc;
	return ok && !*wrong;
}

static bool write_output(const char *name, const struct buf *yaml)
{
	struct new_file file = { .f = stdout };
	bool ok;

	if (name && !new_file_open(&file, name))
		return false;
	ok = fwrite(yaml->s ? yaml->s : "", 1, yaml->n, file.f) == yaml->n;
	if (name)
		return new_file_close(&file, ok);
	return (ok && fflush(stdout) == 0) || complain("standard output");
}

static void print_verdicts(const struct verdicts *found)
{
	size_t all = 0;

	for (size_t i = 0; i < found->n; i++) {
		struct buf line = { 0 };

		judged_format(&found->v[i], &line);
		fprintf(stderr, "%s\n", line.s);
		buf_free(&line);
	}
	for (int v = 0; v < VERDICTS; v++)
		all += found->count[v];
	if (all > found->n)
		fprintf(stderr, "... and %zu more\n", all - found->n);
}

int convert_command(int argc, char **argv)
{
	struct inputs in = { 0 };
	struct verdicts found = { 0 };
	struct buf yaml = { 0 };
	const char *output = NULL;
	bool wrong = false;
	bool ok = read_inputs(argc, argv, &in, &output, &wrong);

	if (wrong)
		usage();
	if (ok) {
		ok = convert_to_policy(in.v, in.n, &yaml, &found);
		print_verdicts(&found);
		ok = ok && write_output(output, &yaml);
	}
	for (size_t i = 0; i < in.n; i++)
		free((char *)(uintptr_t)in.v[i].text);
	vec_free(&in);
	verdicts_free(&found);
	buf_free(&yaml);
	return ok ? 0 : 1;
}
