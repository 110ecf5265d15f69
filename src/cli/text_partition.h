/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `partition add|remove`: words of the command line to the JSON of a request. */
#ifndef QOSD_CLI_TEXT_PARTITION_H
#define QOSD_CLI_TEXT_PARTITION_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/base/buf.h"

/*
 * `command` is the one or the other; false: the words are wrong.  args gets the name of the file,
 * and "wait".
 */
bool partition_change(const char *command, char **words, json_t *args, struct buf *file);

#endif
