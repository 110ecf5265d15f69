/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands of qosd-ctl, its own options, and how the words of a command line name both: in full,
 * or by as many of their first letters as no other name has.
 */
#ifndef QOSD_CLI_COMMAND_TABLE_H
#define QOSD_CLI_COMMAND_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/alloc.h"
#include "qosd/commands.h"

extern const struct ctl_command ctl_commands[];
extern const size_t n_ctl_commands;
/* Options that every command takes, up to the one without a name; each has ARG_OF_CLIENT. */
extern const struct ctl_arg ctl_options[];

typedef VEC(const char *) name_list;

/* The length of the command's first word. */
size_t first_word_length(const struct ctl_command *c);
/* The command's second word, or NULL. */
const char *second_word(const struct ctl_command *c);
/* True if people may use the argument on the command line as an option. */
bool is_option(const struct ctl_arg *a);
/* The first operand, or the one after a; NULL: there is none. */
const struct ctl_arg *first_operand(const struct ctl_command *c);
const struct ctl_arg *next_operand(const struct ctl_arg *a);

/* True if the command is for people and has this first word. */
bool has_first_word(const struct ctl_command *c, const char *first);

bool has_name(const name_list *list, const char *name);
/*
 * Finds a name among n: the equal one, or else the only one that begins with word, which then must
 * not be empty.  NULL: there is
 * none, or several, which are then in *several, of which the caller frees v.
 */
const char *find_name(const char *word, const char *const *names, size_t n, name_list *several);
/* The name among n that may be meant by a mistyped word, or NULL. */
const char *meant_name(const char *word, const char *const *names, size_t n);

/* The first word of each command for people. */
const name_list *first_words(void);
/* Adds the second words of commands for people that begin with this first one. */
void add_second_words(const char *first, name_list *to);
/* Adds the names of the options of a command (NULL: of all commands) and of qosd-ctl itself. */
void add_options(const struct ctl_command *c, name_list *to);
/* The command for people of exactly these words, of which second may be NULL; or NULL. */
const struct ctl_command *command_of_words(const char *first, const char *second);

/*
 * Finds the command by its first words, of which second may be NULL.  *words: how many are its
 * name.  Returns NULL with a message on standard error that names the candidates, or the command
 * that may be meant; *first: the first word in full if there are such commands, whose usage the
 * caller shows, else NULL.
 */
const struct ctl_command *find_command(const char *word, const char *second, int *words,
				       const char **first);
/*
 * The same without a message, by a full first word; *several has the candidates if the second word
 * is ambiguous.
 */
const struct ctl_command *resolve_command(const char *first, const char *second, int *words,
					  name_list *several);
/* The full form of a first word, or NULL with such a message. */
const char *find_first_word(const char *word);

/* Finds an option of the command (NULL: of any), or of qosd-ctl itself; NULL: none, or several. */
const struct ctl_arg *find_option(const struct ctl_command *c, const char *name);
const struct ctl_arg *find_letter(const struct ctl_command *c, char letter);
/* Says why there is no option of this name, and which may be meant. */
void say_no_option(const struct ctl_command *c, const char *name);

#endif
