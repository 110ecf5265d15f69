/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What qosd-ctl does on terminals only: colours, a pager for long text, progress, and showing something
 * again and again.
 */
#ifndef QOSD_CLI_TERMINAL_H
#define QOSD_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Decides about colours, by the options, NO_COLOR and standard output.  Call it before the others. */
void terminal_begin(void);
/*
 * Prints a word, left-aligned in width: a severity or verdict, or the state of a port, in its colour
 * where there are colours; any other word as it is.
 */
void put_word(const char *word, int width);

/*
 * Runs run(arg) and returns what it returns.  On a terminal, its output is shown when it is
 * complete, by the pager if it is longer than the screen.
 */
int paged(int (*run)(const void *arg), const void *arg);
/*
 * Runs run(arg) in a process of its own, again and again with pauses of these seconds, until a
 * signal ends the program or the output cannot be written.  On a terminal, each run replaces the
 * output of the one before.
 */
int watched(int (*run)(const void *arg), const void *arg, double seconds);

/*
 * Shows in one line of standard error, if that is a terminal, what is being written, its fraction
 * that is done (negative: unknown) and the bytes so far; several times a second at most.
 */
void put_progress(const char *what, double done, uint64_t bytes);
/*
 * Shows in that line how long an answer takes, in milliseconds; nothing in the first second.
 */
void put_wait(int64_t ms);
/* Removes the line. */
void end_progress(void);

#endif
