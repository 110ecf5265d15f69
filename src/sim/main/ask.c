/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clients' end of the socket, for `qosd-sim ctl`, `attach` and `vm`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "program.h"
#include "sim/preload/socket.h"

int dial(const char *socket, enum sim_purpose purpose, const char *nodes, int file)
{
	struct sim_answer a;
	int fd = sock_hello_with(socket, purpose, nodes, 0, 0, file, &a);

	if (fd >= 0)
		return fd;
	if (a.error)
		fprintf(stderr, "qosd-sim: %.*s\n", (int)sizeof(a.text), a.text);
	else if (fd == -ENOENT || fd == -ECONNREFUSED)
		fprintf(stderr, "qosd-sim: %s: no simulator listens on this socket\n", socket);
	else
		fprintf(stderr, "qosd-sim: %s: %s\n", socket, strerror(-fd));
	return -1;
}

/* Option whose file the simulator opens; the simulator may run in another directory. */
static const char file_option[] = "--path-sls";

/* The file name within the word; NULL if there is none. */
static const char *file_in(const struct options *o, int i)
{
	const size_t n = sizeof(file_option) - 1;

	if (i > 0 && !strcmp(o->words[i - 1], file_option))
		return o->words[i];
	return !strncmp(o->words[i], file_option, n) && o->words[i][n] == '=' ?
	       o->words[i] + n + 1 : NULL;
}

static void add_word(struct buf *words, const struct options *o, int i)
{
	const char *word = o->words[i], *file = file_in(o, i);
	char *here = file && *file && *file != '/' ? getcwd(NULL, 0) : NULL;

	if (here)
		buf_printf(words, "%.*s%s/%s", (int)(file - word), word, here, file);
	else
		buf_puts(words, word);
	buf_add(words, "", 1);
	free(here);
}

static bool send_command(int fd, const struct options *o)
{
	struct buf words = { 0 };
	bool ok;

	if (o->json)
		buf_add(&words, "-j", sizeof("-j"));
	for (int i = 0; i < o->n_words; i++)
		add_word(&words, o, i);
	ok = words.n <= SIM_INLINE_MAX && send(fd, words.s, words.n, MSG_NOSIGNAL) >= 0;
	if (!ok)
		fprintf(stderr, "qosd-sim: the command is too long\n");
	buf_free(&words);
	return ok;
}

/* Prints the answer, and returns the exit status at its end. */
static int print_answer(int fd)
{
	char piece[SIM_INLINE_MAX];
	ssize_t n;

	while ((n = recv(fd, piece, sizeof(piece), 0)) > 0) {
		if (piece[0] == 'x' && n == 2)
			return (unsigned char)piece[1];
		fwrite(piece + 1, 1, (size_t)n - 1, stdout);
	}
	fprintf(stderr, "qosd-sim: the simulator has ended, or has closed the connection for a reason that it logs\n");
	return EXIT_FAILED;
}

int ctl(const struct options *o)
{
	char *path = socket_path(o);
	int fd = dial(path, SIM_CTL, "", -1), status = EXIT_FAILED;

	free(path);
	if (fd < 0)
		return EXIT_FAILED;
	if (send_command(fd, o))
		status = print_answer(fd);
	close(fd);
	return fflush(stdout) == 0 ? status : EXIT_FAILED;
}
