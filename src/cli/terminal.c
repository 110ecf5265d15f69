/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Colours, pager and repetition; terminal.h has the contracts. */
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "command_line.h"
#include "connection.h"
#include "lib/base/alloc.h"

#define SCREEN_LINES 24		/* if the terminal does not tell */
#define SCREEN_COLUMNS 80
#define PAGER "less -FRX"

static bool in_color;

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

void terminal_begin(void)
{
	const char *term = getenv("TERM");

	in_color = options.color_always ||
		   (!options.color_never && isatty(STDOUT_FILENO) && !is_set("NO_COLOR") && term &&
		    strcmp(term, "dumb") != 0);
}

/* --- colours --- */

void put_word(const char *word, int width)
{
	static const struct { const char *word, *color; } colors[] = {
		{ "error", "31" }, { "warning", "33" }, { "info", "36" },
		{ "ok", "32" }, { "active", "32" }, { "armed", "33" }, { "init", "33" },
		{ "down", "2" },
	};
	const char *color = NULL;

	for (size_t i = 0; in_color && i < ARRAY_SIZE(colors); i++)
		if (!strcmp(word, colors[i].word))
			color = colors[i].color;
	/* the width counts what is seen */
	if (color)
		printf("\033[%sm%s\033[0m%*s", color, word,
		       width > (int)strlen(word) ? width - (int)strlen(word) : 0, "");
	else
		printf("%-*s", width, word);
}

/* --- pager --- */

/* Whether the text in fd takes more lines than the screen has; control sequences count as text. */
static bool is_long(int fd)
{
	struct winsize screen = { 0 };
	unsigned lines = 0, column = 0, most, width;
	char text[4096];
	off_t at = 0;
	ssize_t n;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &screen) != 0)
		screen.ws_row = 0;
	most = screen.ws_row ? screen.ws_row : SCREEN_LINES;
	width = screen.ws_col ? screen.ws_col : SCREEN_COLUMNS;
	while (lines < most && (n = pread(fd, text, sizeof(text), at)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			column = text[i] == '\n' ? 0 : column + 1;
			lines += text[i] == '\n' || column % width == 0;
		}
		at += n;
	}
	return lines >= most;
}

/* Returns false if the pager was not started or cannot be had. */
static bool show_in_pager(int text)
{
	const char *pager = getenv("PAGER");
	int status;
	pid_t pid;

	if (!pager || !*pager)
		pager = PAGER;
	pid = fork();
	if (pid == 0) {
		setenv("LESS", "FRX", 0);
		dup2(text, STDIN_FILENO);
		execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
		_exit(127);
	}
	if (pid < 0)
		return false;
	signal(SIGINT, SIG_IGN);	/* it is the pager's */
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	signal(SIGINT, SIG_DFL);
	return !(WIFEXITED(status) && (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126));
}

static void copy_out(int text)
{
	char part[4096];
	ssize_t n;

	while ((n = read(text, part, sizeof(part))) > 0)
		fwrite(part, 1, (size_t)n, stdout);
	fflush(stdout);
}

int paged(int (*run)(const void *arg), const void *arg)
{
	bool wanted = isatty(STDOUT_FILENO) && !options.no_pager && !options.json;
	int text = wanted ? memfd_create("output", MFD_CLOEXEC) : -1, terminal, status;

	if (text < 0)
		return run(arg);
	fflush(stdout);
	terminal = dup(STDOUT_FILENO);
	dup2(text, STDOUT_FILENO);
	status = run(arg);
	fflush(stdout);
	dup2(terminal, STDOUT_FILENO);
	close(terminal);
	lseek(text, 0, SEEK_SET);
	if (!is_long(text) || !show_in_pager(text)) {
		lseek(text, 0, SEEK_SET);
		copy_out(text);
	}
	close(text);
	return status;
}

/* --- again and again --- */

/* The answer follows in the same piece, so that the screen does not flicker. */
static void begin_screen(double seconds)
{
	char now[32];
	time_t t = time(NULL);
	struct tm tm;

	strftime(now, sizeof(now), "%H:%M:%S", localtime_r(&t, &tm));
	printf("\033[H\033[2J\033[3Jevery %g s, %s; ^C ends\n\n", seconds, now);
}

int watched(int (*run)(const void *arg), const void *arg, double seconds)
{
	struct timespec pause = { .tv_sec = (time_t)seconds,
				  .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) };
	bool terminal = isatty(STDOUT_FILENO);
	int status, written;

	for (;;) {
		/* outputs keep state, so each has a process of its own */
		pid_t pid = fork();

		if (pid == 0) {
			static char all[1 << 16];

			setvbuf(stdout, all, _IOFBF, sizeof(all));
			if (terminal)
				begin_screen(seconds);
			status = run(arg);
			written = fflush(stdout);
			_exit(written != 0 || ferror(stdout) ? 128 : status);
		}
		if (pid < 0)
			return EXIT_REFUSED;
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR)
				return EXIT_REFUSED;
		if (!WIFEXITED(status) || WEXITSTATUS(status) == 128)
			return EXIT_REFUSED;
		nanosleep(&pause, NULL);
	}
}

/* --- progress --- */

#define PROGRESS_MS 200
#define WAIT_SHOWN_MS 1000

static int64_t progress_shown_ms;	/* 0: no line is shown */

void put_progress(const char *what, double done, uint64_t bytes)
{
	if (!isatty(STDERR_FILENO) || (progress_shown_ms && now_ms() - progress_shown_ms < PROGRESS_MS))
		return;
	progress_shown_ms = now_ms();
	fprintf(stderr, "\r\033[K%s", what);
	if (done >= 0)
		fprintf(stderr, ", %.0f%%", done * 100);
	fprintf(stderr, "; %.1f MB in all", (double)bytes / 1e6);
}

void put_wait(int64_t ms)
{
	if (!isatty(STDERR_FILENO) || ms < WAIT_SHOWN_MS)
		return;
	progress_shown_ms = now_ms();
	fprintf(stderr, "\r\033[Kwaiting for the answer: %lld s", (long long)ms / 1000);
}

void end_progress(void)
{
	if (progress_shown_ms)
		fprintf(stderr, "\r\033[K");
	progress_shown_ms = 0;
}
