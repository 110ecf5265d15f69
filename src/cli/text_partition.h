/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts the command line of `partition add|remove` to the JSON of a request. */
#ifndef QOSD_CLI_TEXT_PARTITION_H
#define QOSD_CLI_TEXT_PARTITION_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/base/buf.h"

/*
 * Appends the request's body to file, and leaves in args what is an argument of the request, with
 * the name of the file.  `command` is "partition add" or "partition remove".  Returns false with a
 * message if the members are wrong.
 */
bool partition_change(const char *command, json_t *args, struct buf *file);

#endif
