/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the help of qosd-ctl, which is what the table of commands says. */
#ifndef QOSD_CLI_HELP_H
#define QOSD_CLI_HELP_H

#include <stdbool.h>
#include <stddef.h>

#include "qosd/commands.h"

/* Prints all commands by subject, and the options of qosd-ctl. */
void put_help(void);
/*
 * Prints the help of the commands that these words name, in full or abbreviated; second may be
 * NULL, which stands for all second words.  Returns false with a message if there is none.
 */
bool put_help_of(const char *first, const char *second);
/*
 * Prints the usage of a command, or of all with this first word (NULL: of qosd-ctl) to standard
 * error.
 */
void put_usage(const struct ctl_command *c);
void put_usages(const char *first);
/* The name of an operand in usages: in capitals.  Returns to, of size bytes. */
const char *operand_name(const struct ctl_arg *a, char *to, size_t size);

#endif
