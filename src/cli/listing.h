/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selects, sorts and counts the rows of an answer, for the commands whose arguments in commands.def have LIST_ARGS:
 * any such command, by any member of its rows that it names there.
 */
#ifndef QOSD_CLI_LISTING_H
#define QOSD_CLI_LISTING_H

#include <jansson.h>

#include "output.h"
#include "qosd/commands.h"

/*
 * Takes what says so out of the arguments, and returns the output to use in place of `under`: itself if nothing does;
 * NULL, with a message, if the command's rows have no such member.
 */
const struct output *listing_output(const struct ctl_command *c, json_t *args, const struct output *under);

#endif
