/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the help of qosd-ctl; help.h has the contracts. */
#include "help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "command_table.h"
#include "lib/base/buf.h"
#include "qosd/ctl.h"

#define NAME_COLUMN 30

static const char *const subjects[N_CTL_SUBJECTS] = {
	[ABOUT_SUBNET] = "The subnet and its manager",
	[ABOUT_PORTS] = "Ports, links and routes",
	[ABOUT_POLICY] = "Quality of service and its policy",
	[ABOUT_PARTITIONS] = "Partitions",
	[ABOUT_SA] = "Subnet administrator",
	[ABOUT_FILES] = "Files",
	[ABOUT_CLIENT] = "This program",
};

/* --- usage --- */

const char *operand_name(const struct ctl_arg *a, char *to, size_t size)
{
	size_t n = 0;

	for (; a->name[n] && n + 1 < size; n++)
		to[n] = (char)toupper((unsigned char)a->name[n]);
	to[n] = '\0';
	return to;
}

static void add_operands(const struct ctl_command *c, struct buf *out)
{
	unsigned optional = 0;
	char name[32];

	for (const struct ctl_arg *a = first_operand(c); a; a = next_operand(a)) {
		buf_printf(out, "%s%s%s", a->required ? " " : " [", operand_name(a, name, sizeof(name)),
			   a->repeats ? " ..." : "");
		optional += !a->required;
	}
	while (optional--)
		buf_puts(out, "]");
}

/* An option, with its letter if wanted, and what it takes. */
static void add_option(const struct ctl_arg *a, bool letter, struct buf *out)
{
	const char *value = a->value ? a->value : "N";

	if (letter && a->letter)
		buf_printf(out, "-%c, ", a->letter);
	buf_printf(out, "--%s", a->name);
	if (a->type != ARG_FLAG)
		buf_printf(out, a->value_optional ? " [%s]" : " %s", value);
}

static void put_synopsis(const struct ctl_command *c, FILE *out)
{
	struct buf text = { 0 };

	buf_puts(&text, c->name);
	add_operands(c, &text);
	for (const struct ctl_arg *a = c->args; a->name; a++)
		if (is_option(a)) {
			buf_puts(&text, " [");
			add_option(a, false, &text);
			buf_puts(&text, "]");
		}
	fprintf(out, "usage: qosd-ctl %s\n", text.s);
	buf_free(&text);
}

void put_usage(const struct ctl_command *c)
{
	put_synopsis(c, stderr);
}

void put_usages(const char *first)
{
	if (!first)
		fprintf(stderr, "usage: qosd-ctl [OPTION ...] COMMAND [ARGUMENT ...]   "
			"(see qosd-ctl --help)\n");
	for (size_t i = 0; first && i < n_ctl_commands; i++)
		if (has_first_word(&ctl_commands[i], first))
			put_synopsis(&ctl_commands[i], stderr);
}

/* --- all commands --- */

/* A name and, from a common column on, what it is. */
static void put_entry(const struct buf *name, const char *help)
{
	if (name->n < NAME_COLUMN)
		printf("  %-*s  %s", NAME_COLUMN, name->s, help);
	else
		printf("  %s\n  %*s  %s", name->s, NAME_COLUMN, "", help);
}

static void put_subject(enum ctl_subject subject)
{
	printf("\n%s:\n", subjects[subject]);
	for (size_t i = 0; i < n_ctl_commands; i++) {
		const struct ctl_command *c = &ctl_commands[i];
		struct buf name = { 0 };

		if (!c->help || c->subject != subject)
			continue;
		buf_puts(&name, c->name);
		add_operands(c, &name);
		put_entry(&name, c->help);
		printf("\n");
		buf_free(&name);
	}
}

/* What can be given for an argument, besides what its help says. */
static void put_values(const struct ctl_arg *a)
{
	if (a->choices)
		printf(" (%s)", a->choices);
	else if ((a->type == ARG_NUMBER || a->type == ARG_SECONDS) && a->max && a->max != UINT64_MAX)
		printf((a->max & 0xff) == 0xff ? "; %llu to 0x%llx" : "; %llu to %llu",
		       (unsigned long long)a->min, (unsigned long long)a->max);
	else if (a->names == NAMES_FILE && a->operand)
		printf("; - is the standard input");
	printf("\n");
}

static void put_argument(const struct ctl_arg *a)
{
	struct buf name = { 0 };
	char text[32];

	if (a->operand)
		buf_puts(&name, operand_name(a, text, sizeof(text)));
	else
		add_option(a, true, &name);
	put_entry(&name, a->help);
	put_values(a);
	buf_free(&name);
}

void put_help(void)
{
	printf("usage: qosd-ctl [OPTION ...] COMMAND [ARGUMENT ...]\n");
	for (int subject = 0; subject < N_CTL_SUBJECTS; subject++)
		put_subject((enum ctl_subject)subject);
	printf("\nOptions, before or after the command:\n");
	for (const struct ctl_arg *a = ctl_options; a->name; a++)
		put_argument(a);
	printf("\nWords of commands and options can be abbreviated.  'qosd-ctl help COMMAND' shows the "
	       "arguments\nof a command, and qosd-ctl(8) describes all of them.\n"
	       "A port is NodeDescription/Pn, a node or host with one end port, a GUID or a LID.\n"
	       "The socket is %s.\n", QOSD_SOCKET);
}

/* --- one command --- */

static void put_help_of_command(const struct ctl_command *c)
{
	bool admin = c->takes == CTL_ADMIN || c->request || c->installs;

	put_synopsis(c, stdout);
	printf("%s\n%s", c->help, c->args[0].name ? "\n" : "");
	for (const struct ctl_arg *a = c->args; a->name; a++)
		if (a->operand || is_option(a))
			put_argument(a);
	printf("\n%sqosd-ctl(8) describes it, at '%s'.\n",
	       admin ? "For administrators: see 'Required rights' in qosd-ctl(8).\n" : "", c->name);
}

bool put_help_of(const char *word, const char *second)
{
	const char *first;
	bool any = false;
	int words;

	if (second) {
		const struct ctl_command *c = find_command(word, second, &words, &first);

		if (c)
			put_help_of_command(c);
		else
			put_usages(first);
		return c != NULL;
	}
	first = find_first_word(word);
	for (size_t i = 0; first && i < n_ctl_commands; i++) {
		const struct ctl_command *c = &ctl_commands[i];

		if (!has_first_word(c, first))
			continue;
		if (any)
			printf("\n");
		put_help_of_command(c);
		any = true;
	}
	return any;
}
