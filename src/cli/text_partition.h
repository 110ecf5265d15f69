/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts the command line of `partition add|remove` to the JSON of a request. */
#ifndef QOSD_CLI_TEXT_PARTITION_H
#define QOSD_CLI_TEXT_PARTITION_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/base/buf.h"

/*
 * Appends the request's body to file, and sets the file's name and "wait" in args.  `command` is
 * "partition add" or "partition remove".  Returns false if the words are wrong.
 */
bool partition_change(const char *command, char **words, json_t *args, struct buf *file);

#endif
