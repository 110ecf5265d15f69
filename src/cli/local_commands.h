/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands that need no daemon: each takes its command line and returns the exit status. */
#ifndef QOSD_CLI_LOCAL_COMMANDS_H
#define QOSD_CLI_LOCAL_COMMANDS_H

#include "command_line.h"

#define COMMAND(...)
#define LOCAL_COMMAND(id, ...) int local_##id(const struct command_line *line);
#include "qosd/commands.def"

#endif
