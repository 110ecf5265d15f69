/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends a request of qosd-ctl, prints the answer, and tells the exit status. */
#ifndef QOSD_CLI_ANSWER_H
#define QOSD_CLI_ANSWER_H

#include <jansson.h>

#include "lib/base/buf.h"
#include "output.h"
#include "qosd/commands.h"

enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_NO_DAEMON = 2 };
/* Exit statuses of commands that judge; EXIT_BAD also if nobody could judge. */
enum { EXIT_GOOD = 0, EXIT_SO_SO = 1, EXIT_BAD = 2 };

/*
 * Asks, and prints the answer by out.  file: NULL if the request has none.  result, if not NULL:
 * gets a reference to the result of a request that was done.  Returns the exit status.
 */
int ask(const struct ctl_command *c, json_t *args, const struct buf *file, const struct output *out,
	json_t **result);
/* Prints a refusal, with its findings; returns EXIT_REFUSED. */
int refused(const json_t *answer);

#endif
