/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Entry point of `qosd-ctl convert`, which needs no daemon (cmd_convert.c). */
#ifndef QOSD_CLI_CMD_CONVERT_H
#define QOSD_CLI_CMD_CONVERT_H

#include <stdbool.h>

/* argv[0] is `convert`; json is the option -j.  Returns the exit status. */
int convert_command(int argc, char **argv, bool json);

#endif
