/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs a command that the daemon answers. */
#ifndef QOSD_CLI_RUN_REQUEST_H
#define QOSD_CLI_RUN_REQUEST_H

#include "command_line.h"

/* Makes the request of the command line, and returns the exit status. */
int run_request(const struct command_line *line);

#endif
